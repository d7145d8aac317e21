"""Readers: every format's texts, and one clear sentence for everything that can be wrong with a file."""

from __future__ import annotations

import gzip
import json
import os
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textveil.core.errors import BadInput, BadParameter, UnknownName
from textveil.text.documents import sides
from textveil.text.readers import DEFAULT_MAX_LINE, FORMATS, data_file_name, open_reader

SECRET = "Zebedee"  # stands for private text: no message may hold it


def put(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


@pytest.mark.parametrize(
    ("name", "content", "texts"),
    [
        ("a.txt", b"one\n\ntwo", ["one", "", "two"]),
        ("a.txt.gz", b"one\r\ntwo\r\n", ["one", "two"]),
        ("a.txt", b"\xef\xbb\xbfone\n", ["one"]),
        ("a.txt", "a\u2028b\x0bc\x85d\re\n".encode(), ["a\u2028b\x0bc\x85d\re"]),  # only \n ends a line
        ("a.jsonl", b'{"id": 1, "text": "one"}\n\n{"text": "\\u00e9\\ud800"}\n', ["one", "é\ud800"]),
        ("a.jsonl", b' { "body" : "one" , "n" : [1, {"text": "no"}] } \r\n', ["one"]),
        ("a.ndjson.gz", b'\xef\xbb\xbf{"text": ""}', [""]),
        ("a.csv", b"id,text\n1,one\n2,two\n", ["one", "two"]),
        ("a.csv", b'id,text\r\n1,"a, ""b""\r\nc"\r\n2,5" pipe\r\n', ['a, "b"\r\nc', '5" pipe']),
        ("a.csv", b'"text",id\n"",1\n,2\n"x\n""\ny","2\n"\n', ["", "", 'x\n"\ny']),
        ("a.csv", b"text\none\n\ntwo\n", ["one", "", "two"]),
        ("a.csv", b"id,text\n1,one\n\n", ["one"]),
        ("a.tsv", b'id\ttext\n1\t"one\n2\t\n', ['"one', ""]),
        ("a.conll", b"-DOCSTART- O\n\nAnn B-PER\nsings O\n\n\nYes O", ["Ann sings", "Yes"]),
        ("a.conll", b"New York\tB-LOC\nwins\tO\n", ["New York wins"]),
        ("a.conll", b"-DOCSTART- O\n-DOCSTART-x O\n", ["-DOCSTART-x"]),
        ("a.parallel.tsv", b"good\tgut\n\tleer\n", ["good\ngut", "\nleer"]),
    ],
)
def test_texts_of_each_format(tmp_path: Path, name: str, content: bytes, texts: list[str]) -> None:
    path = put(tmp_path, name, content)
    reader = open_reader(path)
    assert [record.text for record in reader] == texts
    assert [record.text for record in reader] == texts, "a reader can be gone through again"
    assert reader.bytes_read == reader.size == path.stat().st_size
    assert reader.lines_read == content.count(b"\n") + (not content.endswith(b"\n"))


def test_parquet(tmp_path: Path) -> None:
    for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())):
        table = pa.table({"n": range(3000), "text": pa.array([f"t{i}" for i in range(3000)], pa.string()).cast(kind)})
        pq.write_table(table, tmp_path / "a.parquet")
        reader = open_reader(tmp_path / "a.parquet")
        assert [r.text for r in reader] == [f"t{i}" for i in range(3000)]
        assert (reader.lines_read, reader.bytes_read) == (3000, reader.size)


def test_a_pair_of_files_by_two_names_or_one(tmp_path: Path) -> None:
    put(tmp_path, "a.en", b"good\nday\n")
    put(tmp_path, "a.de", b"gut\nTag\n")
    for given in ((tmp_path / "a.en", tmp_path / "a.de"), tmp_path / "a.en+de", str(tmp_path / "a.en+de")):
        reader = open_reader(given)
        assert [sides(r.text) for r in reader] == [("good", "gut"), ("day", "Tag")]
        assert (reader.format, data_file_name(reader), reader.bytes_read) == ("parallel", "data.en+de", reader.size)


def test_conll_takes_the_column_asked_for(tmp_path: Path) -> None:
    path = put(tmp_path, "a.conll", b"1 Ann\n2 sings\n")
    assert [r.text for r in open_reader(path, text_field="2")] == ["Ann sings"]


@pytest.mark.parametrize(
    ("name", "format", "expected"),
    [
        ("a.jsonl.gz", None, "data.jsonl.gz"),
        ("A.NDJSON", None, "data.jsonl"),
        ("notes.log", "txt", "data.txt"),
        ("notes", "txt.gz", "data.txt.gz"),
        ("a.tsv", "parallel", "data.parallel.tsv"),
        ("a.parallel.tsv.gz", None, "data.parallel.tsv.gz"),
    ],
)
def test_the_name_of_the_data_file_tells_its_format(
    tmp_path: Path, name: str, format: str | None, expected: str
) -> None:
    content = b'{"text": "a\\tb"}' if "json" in name.lower() else b"a\tb\n"
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if expected.endswith(".gz") else content)
    reader = open_reader(path, format=format)
    assert data_file_name(reader) == expected
    path.rename(tmp_path / expected)
    assert open_reader(tmp_path / expected).format == reader.format


GZIPPED = gzip.compress(b'{"text": "%s"}\n' % SECRET.encode() * 100_000)

BAD = {  # file name, content, what the message says besides the file, options
    "empty": ("a.jsonl", b"", "is empty", {}),
    "empty inside gzip": ("a.txt.gz", gzip.compress(b""), "holds no records", {}),
    "only a byte order mark": ("a.txt", b"\xef\xbb\xbf", "holds no records", {}),
    "blank lines only": ("a.jsonl", b"\n\n", "holds no records", {}),
    "only a header": ("a.csv", b"id,text\n", "holds no records", {}),
    "no ending": ("a", b"x", "has no ending that names a format; possible: .*jsonl.*--format", {}),
    "unknown ending": ("a.docx", b"x", "has no ending that names a format; possible: .*jsonl.*--format", {}),
    "unknown format": ("a.txt", b"x", "unknown format 'jsonnl'; there are: jsonl, ", {"format": "jsonnl"}),
    "latin-1": (
        "a.jsonl",
        b'{"text": ""}\n{"text": "Zebedee\xe9"}\n',
        "line 2: is not UTF-8; possible: --encoding",
        {},
    ),
    "utf-16": ("a.txt", "Zebedee".encode("utf-16-le"), "UTF-16 without .* mark; possible: --encoding utf-16-le", {}),
    "field of a file without": ("a.txt", b"x\n", "a txt file has no fields", {"text_field": "text"}),
    "bad json": ("a.jsonl", b'{"text": ""}\n{"text": "Zebedee}\n', r"line 2: is not valid JSON \(column \d+\)", {}),
    "no key": ("a.jsonl", b"{1: 2}\n", r"line 1: is not valid JSON \(column 2\)", {}),
    "no colon": ("a.jsonl", b'{"a" 2}\n', r"line 1: is not valid JSON \(column 6\)", {}),
    "no value": ("a.jsonl", b'{"a": }\n', r"line 1: is not valid JSON \(column 7\)", {}),
    "no comma": ("a.jsonl", b'{"a": 1 "b": 2}\n', r"line 1: is not valid JSON \(column 9\)", {}),
    "no end": ("a.jsonl", b'{"a": 1', r"line 1: is not valid JSON \(column 8\)", {}),
    "opened only": ("a.jsonl", b"{", r"line 1: is not valid JSON \(column 2\)", {}),
    "comma at the end": ("a.jsonl", b'{"a": 1,}', r"line 1: is not valid JSON \(column 9\)", {}),
    "two values": ("a.jsonl", b'{"text": "a"} {"text": "b"}\n', r"line 1: is not valid JSON \(column 15\)", {}),
    "words": ("a.jsonl", b"Zebedee was here\n", r"line 1: is not valid JSON \(column 1\)", {}),
    "raw tab in string": ("a.jsonl", b'{"text": "a\tb"}\n', "line 1: is not valid JSON", {}),
    "deep nesting": ("a.jsonl", b'{"a": ' + b"[" * 100_000, "line 1: is nested too deeply", {}),
    "deep list": ("a.jsonl", b"[" * 100_000, "line 1: is nested too deeply", {}),
    "row is a number": ("a.jsonl", b'{"text": ""}\n17\n', "line 2: is a number, not an object", {}),
    "row is a huge number": ("a.jsonl", b"1" * 5000, "line 1: is a number, not an object", {}),
    "row is a string": ("a.jsonl", b'"Zebedee"\n', "line 1: is a string, not an object", {}),
    "row is a list": ("a.jsonl", b'["Zebedee"]\n', "line 1: is a list, not an object", {}),
    "row is null": ("a.jsonl", b"null\n", "line 1: is null, not an object", {}),
    "no fields": ("a.jsonl", b"{}\n", "line 1: which field holds the text must be said", {}),
    "no string field": ("a.jsonl", b'{"a": 1}\n', r"line 1: which field .* \(--text-field\); possible: a$", {}),
    "two string fields": ("a.jsonl", b'{"a": "", "b": ""}\n', "which field holds the text .* possible: a, b$", {}),
    "field not there": (
        "a.jsonl",
        b'{"a": ""}\n',
        "line 1, field 'b': there is no such field; possible: a$",
        {"text_field": "b"},
    ),
    "field missing later": ("a.jsonl", b'{"text": ""}\n{"txt": ""}\n', "line 2, field 'text': is missing", {}),
    "field twice": (
        "a.jsonl",
        b'{"text": "", "text": "Zebedee"}',
        "line 1, field 'text': stands twice in one object",
        {},
    ),
    "field null": ("a.jsonl", b'{"text": null}\n', "line 1, field 'text': is null, not a string", {"nulls": "refuse"}),
    "field number": ("a.jsonl", b'{"text": -4}\n', "line 1, field 'text': is a number, not a string", {}),
    "field boolean": ("a.jsonl", b'{"text": true}\n', "line 1, field 'text': is a boolean, not a string", {}),
    "field object": ("a.jsonl", b'{"text": {}}\n', "line 1, field 'text': is an object, not a string", {}),
    "too long": (
        "a.txt",
        b"x\n" + b"y" * 2**21,
        r"line 2: is longer than 1 MiB.*\(--max-line-mb\)",
        {"max_line_bytes": 2**20},
    ),
    "gzip cut off": (
        "a.jsonl",
        GZIPPED[:-20],
        "is not a complete gzip file: it is cut off or damaged",
        {"format": "jsonl.gz"},
    ),
    "gzip damaged": ("a.jsonl", GZIPPED[:-6] + bytes(6), "is not a complete gzip file", {"format": "jsonl.gz"}),
    "not gzip": ("a.jsonl", b'{"text": ""}', "is not a complete gzip file", {"format": "jsonl.gz"}),
    "too few columns": ("a.csv", b"id,text\n1,a\n2\n", "line 3: has 1 column where the header has 2", {}),
    "too many columns": ("a.csv", b"id,text\n1,Zebedee,b\n", "line 2: has 3 columns where the header has 2", {}),
    "tsv columns": ("a.tsv", b"id\ttext\n1,Zebedee\n", "line 2: has 1 column where the header has 2", {}),
    "open quote": ("a.csv", b'id,text\n1,"a\nb"\n2,"Zebedee\n\n', "line 4: a quote is opened and never closed", {}),
    "after the quote": ("a.csv", b'id,text\n1,"a" Zebedee\n', "line 2: has text after a closing quote", {}),
    "endless quote": (
        "a.csv",
        b'text\n"\n' + b"Zebedee\n" * 9999,
        "line 2: a row with an open quote is longer",
        {"max_line_bytes": 999},
    ),
    "csv field": (
        "a.csv",
        b"id,body\n1,a\n",
        "field 'text': there is no such field; possible: id, body",
        {"text_field": "text"},
    ),
    "csv fields": ("a.csv", b"id,body\n1,a\n", "which field holds the text .* possible: id, body", {}),
    "header twice": ("a.csv", b"text,text\n1,a\n", "line 1, field 'text': stands twice in the header", {}),
    "not parquet": ("a.parquet", b"Zebedee", "is not a parquet file", {}),
    "parquet magic only": ("a.parquet", b"PAR1Zebedee....PAR1", "is not a parquet file", {}),
    "parquet in gzip": ("a.parquet.gz", b"Zebedee", "parquet compresses by itself", {}),
    "no tokens": ("a.conll", b"\n\n-DOCSTART- -X- O O\n\n", "holds no tokens", {}),
    "conll columns": ("a.conll", b"Ann O\nb O\n\nZebedee\n", "line 4: has 1 column where the first token has 2", {}),
    "conll comment": (
        "a.conll",
        b"# text = Zebedee\nZebedee NNP O O\n",
        "line 1: is a comment, which may repeat the text",
        {},
    ),
    "conll column": ("a.conll", b"Ann O\n", "field '3': there is no such column, only 2", {"text_field": "3"}),
    "conll field name": ("a.conll", b"Ann O\n", "field 'text': is not the number of a column", {"text_field": "text"}),
    "long sentence": ("a.conll", b"Zebedee\n" * 99, "line 63: a sentence is longer", {"max_line_bytes": 500}),
    "one column": ("a.parallel.tsv", b"a\tb\nZebedee\n", "line 2: has 1 column, not two divided by a tab", {}),
    "no limit": ("a.txt", b"x", "max_line_bytes must be at least 1, not 0", {"max_line_bytes": 0}),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_with_its_place_and_no_content(tmp_path: Path, case: str) -> None:
    name, content, message, options = BAD[case]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadInput, match=message) as caught:
        for _ in open_reader(path, **options):
            pass
    text = str(caught.value)
    assert SECRET not in text and "\n" not in text
    assert caught.value.exit_code == 2
    if not isinstance(caught.value, UnknownName | BadParameter):
        assert text.startswith(str(path))


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.jsonl: does not exist"):
        open_reader(tmp_path / "none.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(BadInput, match=r"folder\.jsonl: is a folder, not a file"):
        open_reader(tmp_path / "folder.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(BadInput, match=r"pipe\.jsonl: is not a regular file"):
        open_reader(tmp_path / "pipe.jsonl")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", b"x").chmod(0)
    with pytest.raises(BadInput, match="cannot be read: permission denied"):
        open_reader(tmp_path / "a.txt")


def test_pairs_of_unequal_length(tmp_path: Path) -> None:
    put(tmp_path, "a.en", b"a\nb\nZebedee\n")
    put(tmp_path, "a.de", b"a\nb\n")
    with pytest.raises(BadInput, match=r"a\.en, line 3: has no line beside this one in .*a\.de"):
        list(open_reader(tmp_path / "a.en+de"))
    with pytest.raises(BadInput, match=r"a\.en, line 3: has no line beside this one in .*a\.de"):
        list(open_reader((tmp_path / "a.de", tmp_path / "a.en")))
    with pytest.raises(BadInput, match=r"a\.fr: does not exist"):
        open_reader(tmp_path / "a.en+fr")
    with pytest.raises(BadInput, match="two files are read as parallel text, not as csv"):
        open_reader(tmp_path / "a.en+de", format="csv")


def test_parquet_columns_and_nulls(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": [1, 2], "text": ["a", None]}), path)
    with pytest.raises(BadInput, match="line 2, field 'text': is null, not a string"):
        list(open_reader(path, nulls="refuse"))
    with pytest.raises(BadInput, match="field 'n': is not a column of strings"):
        open_reader(path, text_field="n")
    with pytest.raises(BadInput, match="field 'body': there is no such field; possible: n, text"):
        open_reader(path, text_field="body")
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), path)
    with pytest.raises(BadInput, match="holds no records"):
        open_reader(path)


def test_damaged_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [f"{i} {SECRET}" for i in range(5000)]}), path, use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[4:2000] = b"\xff" * 1996
    path.write_bytes(content)
    with pytest.raises(BadInput, match="the file is damaged") as caught:
        list(open_reader(path))
    assert SECRET not in str(caught.value)


def test_bad_json_far_down_is_named_by_its_line(tmp_path: Path) -> None:
    path = put(tmp_path, "a.jsonl", b'{"text":""}\n' * 123_456 + b"{]\n")
    with pytest.raises(BadInput, match=r"line 123457: is not valid JSON"):
        for _ in open_reader(path):
            pass


def test_a_50_mb_line_is_refused_by_default_before_it_is_in_memory(tmp_path: Path) -> None:
    assert DEFAULT_MAX_LINE == 16 * 2**20
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.write(b'{"text": "')
        file.truncate(50_000_000)  # a hole of zeros
    tracemalloc.start()
    try:
        with pytest.raises(
            BadInput, match=r"line 1: is longer than 16 MiB, the longest allowed line \(--max-line-mb\)"
        ):
            open_reader(path)
        assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()


def test_memory_stays_flat(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    row = (json.dumps({"id": 7, "text": "tea " * 250}) + "\n").encode()
    with path.open("wb") as file:
        for _ in range(20_000):  # 20 MB
            file.write(row)
    tracemalloc.start()
    try:
        assert sum(1 for _ in open_reader(path)) == 20_000
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_all_formats_are_offered() -> None:
    assert set(FORMATS) == {"txt", "csv", "tsv", "json", "jsonl", "parquet", "conll", "parallel"}
