"""Writers: what is not the text comes out byte for byte, and a file is there completely or not at all."""

from __future__ import annotations

import errno
import gzip
import json
import os
import resource
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textveil.core.errors import BadInput
from textveil.text.documents import Record, replace
from textveil.text.readers import data_file_name, open_reader
from textveil.text.writers import concat_parts, open_writer

EXACT = [  # name, content; reading and writing gives the same bytes
    ("a.txt", b"one\n\ntwo"),
    ("a.txt", b"\xef\xbb\xbfone\r\ntwo\r\nthree\n"),
    ("a.txt", "a\u2028b\x0bc\re\n".encode()),
    (
        "a.jsonl",
        b'{"id": 1.50, "text":"\\u00e9 one\\/"}\n{"text": "t", "n": 123456789012345678901234567890, "n": 1E+400}\r\n',
    ),
    ("a.jsonl", b'\xef\xbb\xbf { "text" : "\\ud800" , "x": [1,  2] } '),
    ("a.csv", b'id,"text",x\r\n1,"one",2\r\n\'2\',two,"3"\r\n3,"a, ""b""\r\nc",'),
    ("a.csv", b'\xef\xbb\xbftext\n"a"\n\nb\n'),
    ("a.tsv", b'id\ttext\n1\t"one\n2\t\n'),
    ("a.conll", b"-DOCSTART- -X- O\n\nAnn   NNP I-PER \nsings VBZ  O\n\n\n-DOCSTART- -X- O\n\nYes UH O\n\n"),
    ("a.conll", b"New York\tB-LOC\r\nwins\tO\r\n"),
    ("a.parallel.tsv", b"good\tgut\r\n\tleer"),
]


def copy(source: Path, target: Path, change: Callable[[str], str] | None = None, **options) -> None:
    reader = open_reader(source, **options)
    with open_writer(target, reader) as writer:
        for record in reader:
            writer.write(replace(record, change(record.text)) if change else record)


def leftovers(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


@pytest.mark.parametrize(("name", "content"), EXACT)
def test_untouched_records_are_the_same_bytes(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    copy(tmp_path / name, tmp_path / f"out-{name}")
    assert (tmp_path / f"out-{name}").read_bytes() == content


@pytest.mark.parametrize(("name", "content"), EXACT)
def test_the_same_in_gzip(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content))
    for out in ("one.gz", "two.gz"):
        copy(tmp_path / f"{name}.gz", tmp_path / out)
    written = (tmp_path / "one.gz").read_bytes()
    assert gzip.decompress(written) == content
    assert written == (tmp_path / "two.gz").read_bytes(), "no time or name inside"


@pytest.mark.parametrize(("name", "content"), EXACT)
def test_there_and_back_through_other_texts(tmp_path: Path, name: str, content: bytes) -> None:
    """A changed text can be read again, and the rest of the row is untouched: changing it back restores all fields."""
    (tmp_path / name).write_bytes(content)
    suffix = name.removeprefix("a")
    copy(tmp_path / name, tmp_path / f"b{suffix}", change=str.swapcase)
    before = [r.text for r in open_reader(tmp_path / name)]
    assert [r.text for r in open_reader(tmp_path / f"b{suffix}")] == [text.swapcase() for text in before]
    copy(tmp_path / f"b{suffix}", tmp_path / f"c{suffix}", change=str.swapcase)
    restored = (tmp_path / f"c{suffix}").read_bytes()
    escapes = name == "a.jsonl" and b"\\u00e9" in content  # spelt as letters once the text has changed
    assert (restored.replace("é".encode(), b"\\u00e9").replace(b"one/", b"one\\/") if escapes else restored) == content


@pytest.mark.parametrize(
    ("name", "content", "new", "expected"),
    [
        (
            "a.jsonl",
            b'{"n": 1.0, "text": "x", "m":1e5}\r\n',
            'a"\n\\é🙂',
            '{"n": 1.0, "text": "a\\"\\n\\\\é🙂", "m":1e5}\r\n',
        ),
        ("a.jsonl", b'{"text": "x"}', "\ud800é", '{"text": "\\ud800\\u00e9"}'),
        ("a.csv", b"id,text\n1,x\n", 'a, "b"', 'id,text\n1,"a, ""b"""\n'),
        ("a.csv", b"id,text\n1,x\n", "a\nb", 'id,text\n1,"a\nb"\n'),
        ("a.csv", b'id,text\n1,"x",\n'.replace(b",\n", b"\n"), "plain", 'id,text\n1,"plain"\n'),
        ("a.tsv", b"text\tid\nx\t1\n", '"a, b', 'text\tid\n"a, b\t1\n'),
        ("a.conll", b"Ann  O\nsings O\n", "Eve naps", "Eve  O\nnaps O\n"),
        ("a.conll", b"New York\tO\nwins\tO\n", "Old Rome naps", "Old Rome\tO\nnaps\tO\n"),
        ("a.parallel.tsv", b"x\ty\n", "a b\nc", "a b\tc\n"),
        ("a.txt", b"x", "new", "new"),
    ],
)
def test_a_new_text_takes_the_place_of_the_old(
    tmp_path: Path, name: str, content: bytes, new: str, expected: str
) -> None:
    (tmp_path / name).write_bytes(content)
    copy(tmp_path / name, tmp_path / f"out-{name}", change=lambda _: new)
    assert (tmp_path / f"out-{name}").read_bytes().decode() == expected


@pytest.mark.parametrize(
    ("name", "content", "new", "message"),
    [
        ("a.txt", b"x\n", "a\nb", "a new text has more than one line, so it cannot be written as txt"),
        ("a.txt", b"x\n", "\ud800", "a new text has half a surrogate pair"),
        ("a.tsv", b"text\nx\n", "a\tb", "has a tab or a line break"),
        ("a.conll", b"a O\nb O\n", "a", "has fewer tokens than its sentence"),
        ("a.conll", b"a O\nb O\n", "a b c", "has more tokens than its sentence"),
        ("a.conll", b"a O\nb O\n", "a ", "has an empty token"),
        ("a.parallel.tsv", b"a\tb\n", "ab", "does not have two sides"),
    ],
)
def test_a_text_that_does_not_fit_is_refused(tmp_path: Path, name: str, content: bytes, new: str, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=message):
        copy(tmp_path / name, tmp_path / "out", change=lambda _: new)
    assert leftovers(tmp_path) == [name]


def table(rows: int) -> pa.Table:
    columns = {
        "id": pa.array(range(rows), pa.int64()),
        "text": pa.array([f"row {i}" for i in range(rows)]),
        "kind": pa.array(["x", None] * (rows // 2)).dictionary_encode(),
        "nested": pa.array([{"a": [i]} for i in range(rows)]),
    }
    return pa.table(columns).replace_schema_metadata({"made": "by hand"})


def test_parquet_keeps_all_but_the_texts(tmp_path: Path) -> None:
    pq.write_table(table(5000), tmp_path / "a.parquet", compression="zstd")
    copy(tmp_path / "a.parquet", tmp_path / "b.parquet", change=str.upper)
    written, expected = pq.read_table(tmp_path / "b.parquet"), pq.read_table(tmp_path / "a.parquet")
    assert written.schema.equals(expected.schema, check_metadata=True)
    assert written.drop(["text"]).equals(expected.drop(["text"]))
    assert written["text"].to_pylist() == [f"ROW {i}" for i in range(5000)]
    assert pq.ParquetFile(tmp_path / "b.parquet").metadata.row_group(0).column(0).compression == "ZSTD"


def test_parquet_rows_may_be_left_out_or_reordered(tmp_path: Path) -> None:
    pq.write_table(table(3000), tmp_path / "a.parquet")
    reader = open_reader(tmp_path / "a.parquet")
    with open_writer(tmp_path / "b.parquet", reader) as writer:
        for record in reversed(list(reader)[::7]):
            writer.write(record)
    written = pq.read_table(tmp_path / "b.parquet")
    assert written["id"].to_pylist() == list(range(0, 3000, 7))[::-1]
    assert written["text"].to_pylist() == [f"row {i}" for i in written["id"].to_pylist()]


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_pairs(tmp_path: Path, ending: str) -> None:
    pack = gzip.compress if ending else bytes
    unpack = gzip.decompress if ending else bytes
    (tmp_path / f"a.en{ending}").write_bytes(pack(b"\xef\xbb\xbfgood\nday"))
    (tmp_path / f"a.de{ending}").write_bytes(pack(b"gut\r\nTag\n"))
    reader = open_reader(tmp_path / f"a.en+de{ending}")
    out = tmp_path / data_file_name(reader)
    assert out.name == f"data.en+de{ending}"
    copy(tmp_path / f"a.en+de{ending}", out, change=str.upper)
    assert unpack((tmp_path / f"data.en{ending}").read_bytes()) == b"\xef\xbb\xbfGOOD\nDAY"
    assert unpack((tmp_path / f"data.de{ending}").read_bytes()) == b"GUT\r\nTAG\n"
    assert [r.text for r in open_reader(out)] == ["GOOD\nGUT", "DAY\nTAG"]
    with pytest.raises(BadInput, match=r"does not name two files; possible: a name such as data\.en\+de"):
        open_writer(tmp_path / "data.txt", reader)


def test_a_last_line_without_end_gets_one_when_it_is_not_the_last_any_more(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\ntwo")
    reader = open_reader(tmp_path / "a.txt")
    with open_writer(tmp_path / "b.txt", reader) as writer:
        for record in reversed(list(reader)):
            writer.write(record)
        assert writer.records_written == 2
    assert (tmp_path / "b.txt").read_bytes() == b"two\none\n"


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize(("name", "content"), EXACT)
def test_parts_together_are_the_whole(tmp_path: Path, name: str, content: bytes, ending: str) -> None:
    (tmp_path / (name + ending)).write_bytes(gzip.compress(content) if ending else content)
    reader = open_reader(tmp_path / (name + ending))
    parts = []
    for i, record in enumerate(reader):
        parts.append(tmp_path / f"part-{i:05d}")
        with open_writer(parts[-1], reader, part=True) as writer:
            writer.write(record)
    concat_parts(parts, tmp_path / "whole", reader)
    whole = (tmp_path / "whole").read_bytes()
    assert (gzip.decompress(whole) if ending else whole) == content


def test_parts_of_parquet_and_pairs(tmp_path: Path) -> None:
    pq.write_table(table(3000), tmp_path / "a.parquet")
    (tmp_path / "a.en").write_bytes(b"a\nb\nc\n")
    (tmp_path / "a.de").write_bytes(b"d\ne\nf")
    for name, out in (("a.parquet", "data.parquet"), ("a.en+de", "data.en+de")):
        reader = open_reader(tmp_path / name)
        records = list(reader)
        half = len(records) // 2
        parts = [tmp_path / f"part-{i}{out.removeprefix('data')}" for i in range(2)]
        for part, chosen in zip(parts, (records[:half], records[half:]), strict=True):
            with open_writer(part, reader, part=True) as writer:
                for record in chosen:
                    writer.write(record)
        concat_parts(parts, tmp_path / out, reader)
    assert pq.read_table(tmp_path / "data.parquet").equals(pq.read_table(tmp_path / "a.parquet"))
    assert (tmp_path / "data.en").read_bytes() == b"a\nb\nc\n"
    assert (tmp_path / "data.de").read_bytes() == b"d\ne\nf"


def test_a_missing_part_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\n")
    with pytest.raises(BadInput, match="no such file"):
        concat_parts([tmp_path / "part-0"], tmp_path / "whole.txt", open_reader(tmp_path / "a.txt"))
    assert leftovers(tmp_path) == ["a.txt"]


FORMATS = ["a.txt", "a.jsonl.gz", "a.parquet"]


def make(folder: Path, name: str, rows: int = 5000) -> Path:
    noise = [os.urandom(64).hex() for _ in range(rows)]  # does not compress away
    if name == "a.parquet":
        pq.write_table(pa.table({"text": noise}), folder / name, compression="none", use_dictionary=False)
    elif name == "a.jsonl.gz":
        (folder / name).write_bytes(gzip.compress("".join(json.dumps({"text": t}) + "\n" for t in noise).encode()))
    else:
        (folder / name).write_text("\n".join(noise))
    return folder / name


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("trouble", [RuntimeError, KeyboardInterrupt])
def test_an_error_midway_leaves_nothing(tmp_path: Path, name: str, trouble: type[BaseException]) -> None:
    reader = open_reader(make(tmp_path, name))
    old = tmp_path / "old"
    old.write_bytes(b"old")
    with pytest.raises(trouble), open_writer(old, reader) as writer:
        for i, record in enumerate(reader):
            writer.write(record)
            if i == 4000:
                [hidden] = [p for p in tmp_path.iterdir() if p.name.startswith(".old.")]
                assert hidden.stat().st_mode & 0o777 == 0o600
                raise trouble
    assert leftovers(tmp_path) == sorted([name, "old"])
    assert old.read_bytes() == b"old"


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_that_outgrows_its_limit_leaves_nothing(tmp_path: Path, name: str) -> None:
    source = make(tmp_path, name)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(BadInput, match="out: cannot be written: file too large"):
            copy(source, tmp_path / "out", str.upper)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert leftovers(tmp_path) == [name]


@pytest.mark.parametrize("name", FORMATS)
def test_a_full_disk_leaves_nothing(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    source = make(tmp_path, name)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadInput, match="out: cannot be written: no space left on device"):
        copy(source, tmp_path / "out")
    assert leftovers(tmp_path) == [name]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("name", FORMATS)
def test_a_device_without_space(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def on_full_device(prefix: str, suffix: str, dir: Path) -> tuple[int, str]:
        hidden = Path(dir) / f"{prefix}x{suffix}"
        hidden.touch()
        return os.open("/dev/full", os.O_WRONLY), str(hidden)

    source = make(tmp_path, name)
    monkeypatch.setattr("tempfile.mkstemp", on_full_device)
    with pytest.raises(BadInput, match="out: cannot be written: no space left on device"):
        copy(source, tmp_path / "out")
    assert leftovers(tmp_path) == [name]


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    reader = open_reader(make(tmp_path, "a.txt"))
    with pytest.raises(BadInput, match=r"b\.txt: cannot be written: no such file or directory"):
        open_writer(tmp_path / "none" / "b.txt", reader)
    with pytest.raises(BadInput, match="is a folder, not a file"):
        open_writer(tmp_path, reader)
    with pytest.raises(BadInput, match="cannot be written: not a directory"):
        open_writer(tmp_path / "a.txt" / "b.txt", reader)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    reader = open_reader(make(tmp_path, "a.txt"))
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    with pytest.raises(BadInput, match="cannot be written: permission denied"):
        open_writer(closed / "b.txt", reader)


def test_the_finished_file_has_the_usual_rights(tmp_path: Path) -> None:
    make(tmp_path, "a.txt")
    before = os.umask(0o027)
    try:
        copy(tmp_path / "a.txt", tmp_path / "b.txt")
    finally:
        os.umask(before)
    assert (tmp_path / "b.txt").stat().st_mode & 0o777 == 0o640


def test_a_file_may_replace_its_own_source(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\n")
    copy(tmp_path / "a.txt", tmp_path / "a.txt", change=str.upper)
    assert (tmp_path / "a.txt").read_bytes() == b"ONE\nTWO\n"


def test_replace_makes_a_new_record() -> None:
    record = Record("a", ("row",))
    assert replace(record, "b") == Record("b", ("row",), is_new=True)
    assert record.text == "a"
