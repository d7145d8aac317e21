"""What leaves beside the text: named where it does, really gone where it may not; fields read in the same pass."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textveil.core.errors import BadInput, BadParameter
from textveil.text.documents import replace
from textveil.text.readers import data_file_name, open_reader
from textveil.text.writers import concat_parts, open_writer

SECRET = "Zebedee"


def put(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    return path


def veiled(path: Path, **options) -> tuple[bytes, tuple[str, ...]]:
    """What a writer makes of the records with every word hidden, in one go and in parts, and what the reader names."""
    reader = open_reader(path, **options)
    records = [replace(record, " ".join("x" if word else "" for word in record.text.split(" "))) for record in reader]
    whole, parted = (
        path.with_name(f"whole-{data_file_name(reader)}"),
        path.with_name(f"parted-{data_file_name(reader)}"),
    )
    with open_writer(whole, reader) as writer:
        for record in records:
            writer.write(record)
    parts = []
    for number, record in enumerate(records):
        parts.append(path.with_name(f"part-{number}"))
        with open_writer(parts[-1], reader, part=True) as writer:
            writer.write(record)
    concat_parts(parts, parted, reader)
    if reader.format == "parquet":
        assert pq.read_table(whole).equals(pq.read_table(parted), check_metadata=True)
    elif not reader.packing:
        assert whole.read_bytes() == parted.read_bytes()
    return whole.read_bytes(), reader.passes


FILES = {
    "a.csv": f"customer,text,city\n{SECRET},hello there,Bern\n{SECRET},bye,\n",
    "a.tsv": f"customer\ttext\tcity\n{SECRET}\thello there\tBern\n{SECRET}\tbye\t\n",
    "a.jsonl": f'{{"customer": "{SECRET}", "text": "hello there", "city": 1e3}}\n{{"text": "bye", "late": "{SECRET}"}}\n',
    "a.conll": f"-DOCSTART- {SECRET} -X-\n\nhello {SECRET} O\nthere x O\n\nbye x O\n",
}


@pytest.mark.parametrize(
    ("name", "passes"),
    [
        ("a.csv", ("column 'customer'", "column 'city'")),
        ("a.tsv", ("column 'customer'", "column 'city'")),
        ("a.jsonl", ("column 'customer'", "column 'city'", "column 'late'")),
        ("a.conll", ("column 2", "column 3", "marks between documents (-DOCSTART-)")),
    ],
)
def test_every_copied_column_is_named(tmp_path: Path, name: str, passes: tuple[str, ...]) -> None:
    written, named = veiled(put(tmp_path, name, FILES[name]))
    assert named == passes
    assert SECRET.encode() in written


@pytest.mark.parametrize("name", FILES)
def test_only_the_text_leaves(tmp_path: Path, name: str) -> None:
    written, named = veiled(put(tmp_path, name, FILES[name]), columns=())
    assert named == ()
    expected = {
        "a.csv": b"text\nx x\nx\n",
        "a.tsv": b"text\nx x\nx\n",
        "a.jsonl": b'{"text": "x x"}\n{"text": "x"}\n',
        "a.conll": b"x\nx\n\nx\n\n",
    }
    assert written == expected[name]


@pytest.mark.parametrize(
    ("name", "column", "passes", "written"),
    [
        ("a.csv", "city", ("column 'city'",), b"text,city\nx x,Bern\nx,\n"),
        ("a.tsv", "city", ("column 'city'",), b"text\tcity\nx x\tBern\nx\t\n"),
        ("a.jsonl", "city", ("column 'city'",), b'{"text": "x x", "city": 1e3}\n{"text": "x"}\n'),
        ("a.conll", "3", ("column 3",), b"x O\nx O\n\nx O\n\n"),
    ],
)
def test_some_columns_leave(tmp_path: Path, name: str, column: str, passes: tuple[str, ...], written: bytes) -> None:
    assert veiled(put(tmp_path, name, FILES[name]), columns=(column,)) == (written, passes)


def test_a_text_between_two_columns_is_found_again(tmp_path: Path) -> None:
    path = put(tmp_path, "a.csv", 'id,city,"text",x\n1,"a, b","say ""hi""",2\n')
    written, _ = veiled(path, columns=("city", "x"))
    assert written == b'city,"text",x\n"a, b","x x",2\n'
    assert [r.text for r in open_reader(path, columns=("city",))] == ['say "hi"']


@pytest.mark.parametrize(("columns", "missing"), [(("customer", "nobody"), "nobody"), (("nobody",), "nobody")])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_a_column_that_is_not_there_is_named(tmp_path: Path, name: str, columns: tuple, missing: str) -> None:
    with pytest.raises(BadInput, match=f"field '{missing}': there is no such field; possible: customer, text, city"):
        open_reader(put(tmp_path, name, FILES[name]), columns=columns)


def test_names_come_as_a_list() -> None:
    with pytest.raises(BadParameter, match="columns must be a list of names"):
        open_reader("a.csv", columns="city")


def parquet(folder: Path) -> Path:
    schema = pa.schema(
        [
            pa.field("customer", pa.string()),
            pa.field("text", pa.string(), metadata={"note": SECRET}),
            pa.field("city", pa.string()),
        ],
        metadata={"pandas": f'{{"made by": "{SECRET}"}}', "origin": SECRET},
    )
    rows = [[SECRET] * 3, ["hello there", None, "bye"], ["Bern", "Rome", None]]
    pq.write_table(pa.table([pa.array(c, pa.string()) for c in rows], schema=schema), folder / "a.parquet")
    return folder / "a.parquet"


def test_parquet_names_columns_and_metadata(tmp_path: Path) -> None:
    _, named = veiled(parquet(tmp_path))
    assert named == (
        "column 'customer'",
        "column 'city'",
        "metadata 'pandas'",
        "metadata 'origin'",
        "metadata 'note' of column 'text'",
        "which texts are missing (null)",
    )


def test_parquet_without_columns_has_no_metadata(tmp_path: Path) -> None:
    written, named = veiled(parquet(tmp_path), columns=())
    assert named == ("which texts are missing (null)",)
    assert SECRET.encode() not in written
    table = pq.read_table(tmp_path / "whole-data.parquet")
    assert table.to_pydict() == {"text": ["x x", None, "x"]}
    written, named = veiled(parquet(tmp_path), columns=("city",))
    assert SECRET.encode() not in written
    assert named == ("column 'city'", "which texts are missing (null)")


@pytest.mark.parametrize("spelling", ["null", '""'])
def test_missing_texts_stay_missing(tmp_path: Path, spelling: str) -> None:
    path = put(tmp_path, "a.jsonl", f'{{"text": "hello"}}\n{{"text": {spelling}, "n": 1}}\n')
    assert [r.text for r in open_reader(path)] == ["hello", ""]
    reader = open_reader(path)
    with open_writer(tmp_path / "b.jsonl", reader) as writer:
        for record in reader:
            writer.write(replace(record, record.text.upper()))
    assert (tmp_path / "b.jsonl").read_text() == f'{{"text": "HELLO"}}\n{{"text": {spelling}, "n": 1}}\n'
    assert ("which texts are missing (null)" in reader.passes) == (spelling == "null")


def test_a_first_text_that_is_missing(tmp_path: Path) -> None:
    path = put(tmp_path, "a.jsonl", '{"text": null}\n{"text": "x"}\n')
    assert [r.text for r in open_reader(path)] == ["", "x"]


@pytest.mark.parametrize(
    ("name", "content", "same"),
    [
        ("a.jsonl", '{"text": "caf\\u00e9"}\n', '{"text": "café"}\n'),
        ("a.csv", 'id,text\n1,5" pipe\n', 'id,text\n1,"5"" pipe"\n'),
    ],
)
def test_the_spelling_does_not_tell_that_a_text_stayed(tmp_path: Path, name: str, content: str, same: str) -> None:
    """A text that was drawn again as it was is written like one that became it."""
    path = put(tmp_path, name, content)
    reader = open_reader(path)
    with open_writer(tmp_path / "out", reader) as writer:
        for record in reader:
            writer.write(replace(record, record.text))
    assert (tmp_path / "out").read_text() == same


# ---- fields ------------------------------------------------------------------------------------------------------


def test_fields_come_with_the_text(tmp_path: Path) -> None:
    rows = '{"text": "a", "label": true, "user": 7, "spans": [[0, 1]]}\n{"text": "b", "user": "ann"}\n'
    reader = open_reader(put(tmp_path, "a.jsonl", rows), fields=("label", "user", "spans"), columns=())
    assert [r.fields for r in reader] == [
        {"label": True, "user": 7, "spans": [[0, 1]]},
        {"label": None, "user": "ann", "spans": None},
    ]
    for name in ("a.csv", "a.tsv"):
        records = open_reader(put(tmp_path, name, FILES[name]), fields=("city", "customer"))
        assert [r.fields for r in records] == [{"city": "Bern", "customer": SECRET}, {"city": "", "customer": SECRET}]
    columns = open_reader(put(tmp_path, "a.conll", FILES["a.conll"]), fields=("1", "-1"), columns=())
    assert [r.fields for r in columns] == [{"1": ["hello", "there"], "-1": ["O", "O"]}, {"1": ["bye"], "-1": ["O"]}]
    table = open_reader(parquet(tmp_path), fields=("city",), columns=())
    assert [r.fields["city"] for r in table] == ["Bern", "Rome", None]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", '{"text": "a", "user": 1, "user": 2}\n', "line 1, field 'user': stands twice in one object"),
        ("a.csv", "user,text,user\n1,a,2\n", "line 1, field 'user': stands twice in the header"),
        ("a.csv", "id,text\n1,a\n", "field 'user': there is no such field; possible: id, text"),
        ("a.txt", "a\n", "field 'user': a txt file has no fields"),
        ("a.conll", "a O\n", "field 'user': there is no such column; possible: 1 to 2"),
    ],
)
def test_fields_that_cannot_be_had(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        list(open_reader(put(tmp_path, name, content), fields=("user",)))


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.conll"])
def test_a_pass_opens_the_file_once(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fields = {"a.jsonl": ("customer",), "a.csv": ("customer", "city"), "a.conll": ("2",)}[name]
    reader = open_reader(put(tmp_path, name, FILES[name]), fields=fields)
    opened, parsed = [], []
    real = Path.open
    monkeypatch.setattr(Path, "open", lambda self, *a, **k: opened.append(self) or real(self, *a, **k))
    monkeypatch.setattr(json, "loads", lambda *a, **k: parsed.append(a) or {})
    list(reader)
    assert len(opened) == 1
    assert not parsed


# ---- what a resumed run compares ---------------------------------------------------------------------------------


def test_a_reader_says_what_it_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "a.csv", FILES["a.csv"])
    monkeypatch.chdir(tmp_path)
    reader = open_reader("a.csv")
    assert reader.sources == (path.resolve(),)
    assert reader.binding() == open_reader(path).binding()
    put(tmp_path, "b.csv", FILES["a.csv"])
    others = [
        open_reader("b.csv"),
        open_reader("a.csv", text_field="city"),
        open_reader("a.csv", columns=()),
        open_reader("a.csv", header=False, text_field="2"),
    ]
    bindings = [json.dumps(r.binding(), sort_keys=True) for r in (reader, *others)]
    assert len(set(bindings)) == len(bindings)
