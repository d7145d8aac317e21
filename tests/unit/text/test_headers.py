"""The first row of csv and tsv: a header where the file makes it plain, else asked about; its cells are not printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from textveil.core.errors import BadInput
from textveil.text.documents import replace
from textveil.text.formats.names import looks_like_header
from textveil.text.readers import open_reader
from textveil.text.writers import open_writer

SECRET = "Zebedee"


def put(folder: Path, name: str, content: str) -> Path:
    (folder / name).write_bytes(content.encode())
    return folder / name


@pytest.mark.parametrize(
    ("name", "content", "options", "texts"),
    [
        ("a.csv", "id,text\n1,a\n", {}, ["a"]),
        ("a.csv", "text\na\n", {}, ["a"]),
        ("a.csv", "Ann B.,note\nx,a\n", {"text_field": "note"}, ["a"]),
        ("a.csv", "my review\na\n", {"text_field": "my review"}, ["a"]),
        ("a.csv", "review\na\n", {"header": True}, ["a"]),
        ("a.csv", "review\na\n", {"header": False}, ["review", "a"]),
        ("a.csv", "1,hello\n2,bye\n", {"header": False, "text_field": "2"}, ["hello", "bye"]),
        ("a.tsv", "1\thello\n2\tbye\n", {"header": False, "text_field": "2"}, ["hello", "bye"]),
    ],
)
def test_headers_that_are_plain_or_said(tmp_path: Path, name: str, content: str, options: dict, texts: list) -> None:
    assert [r.text for r in open_reader(put(tmp_path, name, content), **options)] == texts


ASKED = {
    "one column": ("a.csv", f"{SECRET} was here\nand here\n", {}, "--header, or --no-header"),
    "one word": ("a.csv", f"{SECRET}\nAnn\n", {}, "--header, or --no-header"),
    "one header word": ("a.csv", "review\nAnn\n", {}, "--header, or --no-header"),
    "no header": ("a.csv", f"1,{SECRET} was here\n2,b\n", {}, "--header, or --no-header"),
    "names as cells": ("a.csv", f"{SECRET},Bern\nAnn,Rome\n", {}, "--header, or --no-header"),
    "no header, field": ("a.csv", f"1,{SECRET}\n2,b\n", {"text_field": "note"}, "--header, or --no-header"),
    "semicolons, cells": ("a.csv", f"1;{SECRET}\n2;b\n", {"text_field": "text"}, "--delimiter with ';' or ','"),
    "semicolons, no header": ("a.csv", f"1;{SECRET}\n2;b\n", {"header": False}, "--delimiter with ';' or ','$"),
    "semicolons, header": ("a.csv", f"1;{SECRET}\n2;b\n", {"header": True}, "--delimiter with ';' or ','$"),
    "semicolons, first": ("a.csv", "1;b\n2;b\n", {"header": False, "text_field": "1"}, "--delimiter with ';' or ','$"),
    "semicolons, ragged": ("a.csv", f"id;text\n1;{SECRET};x\n", {}, "--delimiter with ';' or ','"),
    "two signs": ("a.csv", f"id,b;id\n1,{SECRET};2\n", {"text_field": "id"}, "--delimiter with ',' or ';'"),
    "tsv with commas": ("a.tsv", f"1,{SECRET}|x\n2,b\n", {}, "--delimiter with ',' or '|' or tab"),
    "CR and LF": ("a.csv", f"id,text\r1,{SECRET}\r2,b\n", {}, "line ends of Unix"),
    "CR and LF, field": ("a.csv", f"id,note\r1,{SECRET}\r2,b\n", {"text_field": "note"}, "line ends of Unix"),
    "said, but wrong": ("a.csv", f"1,{SECRET}\n2,b\n", {"header": True}, "which is not shown"),
    "said, but wrong, field": (
        "a.csv",
        f"1,{SECRET}\n2,b\n",
        {"header": True, "text_field": "x"},
        "which is not shown",
    ),
    "numbers": ("a.csv", f"1,{SECRET}\n2,b\n", {"header": False}, "possible: 1 to 2"),
    "short texts": ("a.csv", f"Bern,sent to {SECRET}\nOslo,b\n", {"text_field": "2"}, "header must be said"),
    "numbers, no such": ("a.csv", f"1,{SECRET}\n2,b\n", {"header": False, "text_field": "3"}, "possible: 1 to 2"),
    "keys": ("a.jsonl", f'{{"Dear {SECRET}, I write to you today": ""}}\n', {"text_field": "x"}, "no such field$"),
}


@pytest.mark.parametrize("case", ASKED)
def test_what_is_in_doubt_is_asked_and_not_shown(tmp_path: Path, case: str) -> None:
    name, content, options, message = ASKED[case]
    with pytest.raises(BadInput, match=message) as caught:
        list(open_reader(put(tmp_path, name, content), **options))
    assert SECRET not in str(caught.value)
    assert "Bern" not in str(caught.value)


@pytest.mark.parametrize(("name", "content"), [("a.txt", "a\n"), ("a.jsonl", '{"text": ""}\n'), ("a.conll", "a O\n")])
def test_other_formats_have_no_header(tmp_path: Path, name: str, content: str) -> None:
    with pytest.raises(BadInput, match="has no header line; only csv and tsv have one"):
        open_reader(put(tmp_path, name, content), header=True)


def test_a_file_without_a_header_is_written_without_one(tmp_path: Path) -> None:
    path = put(tmp_path, "a.csv", "1,hello,x\n2,bye,y\n")
    for columns, expected, field in ((None, "1,HELLO,x\n2,BYE,y\n", "2"), ((), "HELLO\nBYE\n", "1")):
        reader = open_reader(path, header=False, text_field="2", columns=columns)
        with open_writer(tmp_path / "out.csv", reader) as writer:
            for record in reader:
                writer.write(replace(record, record.text.upper()))
        assert (tmp_path / "out.csv").read_text() == expected
        assert reader.written_text_field == field
        assert reader.passes == (("column 1", "column 3") if columns is None else ())
        again = open_reader(tmp_path / "out.csv", header=False, text_field=field)
        assert [r.text for r in again] == ["HELLO", "BYE"]


@pytest.mark.parametrize(
    ("cells", "is_header"),
    [
        (["id", "text"], True),
        (["user_id", "Review Text", "stars"], True),
        (["Datum", "label"], True),
        (["Ann", "Bern"], False),
        (["id", "id"], False),
        (["id", ""], False),
        (["1", "name"], False),
        (["my name is Ann and I write", "note"], False),
        (["ann@example.org", "note"], False),
        (["Bern", "the cat sat"], False),  # a short text may hold a word that headers use
        (["Bern", "sent to Ann"], False),
        (["Bern", "full name"], False),
        (["customer name", "review_of_stay"], True),
        ([], False),
    ],
)
def test_what_a_header_looks_like(cells: list[str], is_header: bool) -> None:
    assert looks_like_header(cells) == is_header
