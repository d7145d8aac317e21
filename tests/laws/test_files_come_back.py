"""Whatever a file holds and however it is spelt: only its texts change, and a file is never read in another way than meant.

Files are written here by other means than ours (plain joins, `json`, pyarrow) and read again by `csv`, `json` and pyarrow.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from textveil.core.errors import BadInput
from textveil.text.documents import replace
from textveil.text.readers import Reader, open_reader
from textveil.text.writers import open_writer

NAMES = ["id", "text", "note"]
SIGNS = "aB é,;\t|\"'\\\n\r#=.0"  # what gives trouble, and letters that cp1252 has too
cells = st.text(st.sampled_from(SIGNS), max_size=9)
laws = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def changed(reader: Reader, path: Path, new: dict[str, str] | None) -> bytes:
    """What a writer makes of the records: untouched, or with other texts."""
    with open_writer(path, reader) as writer:
        for record in reader:
            writer.write(record if new is None else replace(record, new[record.text]))
    return path.read_bytes()


# ---- csv and tsv ----------------------------------------------------------------------------------------------------


class Form(NamedTuple):
    """How a table is written."""

    divider: str
    quotes: str
    encoding: str
    mark: bool
    line_end: str
    quote_all: bool
    last_end: bool


forms = st.builds(
    Form,
    st.sampled_from(",;\t|"),
    st.sampled_from(["doubled", "backslash"]),
    st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "cp1252"]),
    st.booleans(),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.booleans(),
)
tables = st.lists(st.tuples(st.integers(0, 99).map(str), cells, cells), min_size=1, max_size=5)


def spelt(cell: str, form: Form) -> str:
    if form.quotes == "backslash":
        inner = cell.replace("\\", "\\\\").replace('"', '\\"')
    else:
        inner = cell.replace('"', '""')
    bare = not form.quote_all and not any(sign in cell for sign in form.divider + '"\\\r\n')
    return cell if bare and cell != "\\N" else f'"{inner}"'


def written(rows: list[tuple[str, ...]], form: Form) -> bytes:
    lines = [form.divider.join(spelt(cell, form) for cell in row) for row in [tuple(NAMES), *rows]]
    text = form.line_end.join(lines) + (form.line_end if form.last_end else "")
    mark = "\ufeff" if form.mark and form.encoding != "cp1252" else ""
    return (mark + text).encode(form.encoding)


def read_by_others(data: bytes, form: Form) -> list[list[str]]:
    text = data.decode(form.encoding).removeprefix("\ufeff")
    escape = {"doublequote": False, "escapechar": "\\"} if form.quotes == "backslash" else {}
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=form.divider, **escape))


def options(form: Form) -> dict[str, Any]:
    return {"delimiter": form.divider, "quotes": form.quotes, "encoding": form.encoding, "header": True}


@laws
@given(tables, forms)
def test_only_the_text_of_a_table_changes(tmp_path: Path, rows: list[tuple[str, ...]], form: Form) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(data := written(rows, form))
    if form.line_end == "\r":  # beside old line ends, others are told apart only in plain quotes: else it is refused
        plain = form.quotes == "doubled"
        assume(_outside_quotes_is_free_of("\n", data.decode(form.encoding)) if plain else b"\n" not in data)
    reader = open_reader(path, text_field="text", **options(form))
    assert [record.text for record in reader] == [row[1] for row in rows]
    assert changed(reader, tmp_path / "same.csv", None) == data
    new = {row[1]: row[1][::-1] + 'x", y' for row in rows}
    after = read_by_others(changed(reader, tmp_path / "new.csv", new), form)
    assert after == [NAMES, *([row[0], new[row[1]], row[2]] for row in rows)]


def _outside_quotes_is_free_of(sign: str, text: str) -> bool:
    return sign not in "".join(text.split('"')[::2])


@laws
@given(tables, forms)
def test_what_is_read_off_a_table_is_what_was_meant_or_is_asked(
    tmp_path: Path, rows: list[tuple[str, ...]], form: Form
) -> None:
    """Without any option: the same texts, or a sentence that asks. (An encoding that other bytes share cannot be told.)"""
    form = form._replace(quotes="doubled", mark=form.encoding.startswith("utf-16") or form.mark)
    path = tmp_path / "a.csv"
    path.write_bytes(data := written(rows, form))
    assume(form.encoding != "cp1252" or data.isascii() or not _is_utf8(data))
    try:
        reader = open_reader(path)
        texts = [record.text for record in reader]
    except BadInput as error:
        assert "\n" not in str(error)
        return
    assert texts == [row[1] for row in rows]
    assert changed(reader, tmp_path / "same.csv", None) == data


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@laws
@given(st.lists(st.text(st.sampled_from('aé "\\,;\r'), max_size=9), min_size=1, max_size=5), st.booleans())
def test_bare_fields_mean_themselves(tmp_path: Path, texts: list[str], with_header: bool) -> None:
    assume(with_header or "\r" not in texts[0])  # in a first row they look like line ends, and it is asked
    path = tmp_path / "a.tsv"
    rows = [f"{number}\t{text}\t{number}" for number, text in enumerate(texts)]
    path.write_bytes(data := "\n".join([*(["id\ttext\tnote"] if with_header else []), *rows, ""]).encode())
    reader = open_reader(
        path, delimiter="tab", quotes="none", header=with_header, text_field="text" if with_header else "2"
    )
    assert [record.text for record in reader] == texts
    assert changed(reader, tmp_path / "same.tsv", None) == data
    new = changed(reader, tmp_path / "new.tsv", {text: text + '"x' for text in texts}).decode().split("\n")
    kept = [line.split("\t") for line in new[with_header:-1]]
    assert kept == [[str(n), text + '"x', str(n)] for n, text in enumerate(texts)]


# ---- json -----------------------------------------------------------------------------------------------------------

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
unicode_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
objects = st.lists(
    st.builds(
        lambda text, more: {**more, "text": text},
        unicode_texts | st.none(),
        st.dictionaries(st.text(max_size=4).filter(lambda key: key != "text"), values, max_size=3),
    ),
    min_size=1,
    max_size=4,
)


@laws
@given(objects, st.booleans(), st.sampled_from([None, 0, 2]), st.sampled_from(["utf-8", "utf-16"]))
def test_only_the_text_of_an_array_changes(
    tmp_path: Path, rows: list[dict[str, Any]], escaped: bool, indent: int | None, encoding: str
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(data := json.dumps(rows, ensure_ascii=escaped, indent=indent).encode(encoding, "surrogatepass"))
    assume(_is_encodable(json.dumps(rows, ensure_ascii=escaped)))
    reader = open_reader(path, text_field="text")
    _check_objects(tmp_path, reader, rows, data, lambda text: json.loads(text), encoding)


@laws
@given(objects, st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_only_the_text_of_json_lines_changes(
    tmp_path: Path, rows: list[dict[str, Any]], escaped: bool, line_end: str
) -> None:
    lines = [json.dumps(row, ensure_ascii=escaped) for row in rows]
    assume(_is_encodable("".join(lines)))
    path = tmp_path / "a.jsonl"
    path.write_bytes(data := "".join(line + line_end for line in lines).encode())
    reader = open_reader(path, text_field="text")

    def read(text: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in text.split("\n") if line.strip("\r")]

    _check_objects(tmp_path, reader, rows, data, read, "utf-8")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_objects(folder: Path, reader: Reader, rows: list[dict], data: bytes, read: Any, encoding: str) -> None:
    assert [record.text for record in reader] == [row["text"] or "" for row in rows]
    assert changed(reader, folder / "same", None) == data
    new = {row["text"] or "": "" if row["text"] is None else row["text"] + '"\\é' for row in rows}
    assume(all((row["text"] is None) == (new[row["text"] or ""] == "") for row in rows))
    after = read(changed(reader, folder / "new", new).decode(encoding))
    assert after == [{**row, "text": None if row["text"] is None else new[row["text"]]} for row in rows]


# ---- others ---------------------------------------------------------------------------------------------------------


@laws
@given(
    st.lists(st.text(st.sampled_from("aé\"' ,.#\t"), max_size=9), min_size=1, max_size=6),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["utf-8", "utf-16", "cp1252"]),
)
def test_only_the_lines_of_a_text_change(tmp_path: Path, lines: list[str], line_end: str, encoding: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(data := "".join(line + line_end for line in lines).encode(encoding))
    reader = open_reader(path, encoding=encoding)
    assert [record.text for record in reader] == lines
    assert changed(reader, tmp_path / "same", None) == data
    new = {line: line + "x" for line in lines}
    assert changed(reader, tmp_path / "new", new) == "".join(line + "x" + line_end for line in lines).encode(encoding)


tokens = st.text(st.sampled_from("abé.,#-"), min_size=1, max_size=5).filter(lambda token: not token.startswith("#"))


@laws
@given(st.lists(st.lists(tokens, min_size=1, max_size=4), min_size=1, max_size=4), st.sampled_from(["\n", "\r\n"]))
def test_only_the_tokens_of_sentences_change(tmp_path: Path, sentences: list[list[str]], line_end: str) -> None:
    path = tmp_path / "a.conll"
    lines = [[f"{token}\tT{n}" for n, token in enumerate(sentence)] for sentence in sentences]
    path.write_bytes(data := "".join("".join(x + line_end for x in part) + line_end for part in lines).encode())
    reader = open_reader(path, text_field="1")
    assert [record.text.split(" ") for record in reader] == sentences
    assert changed(reader, tmp_path / "same", None) == data
    new = {" ".join(s): " ".join(token + "x" for token in s) for s in sentences}
    assert changed(reader, tmp_path / "new", new).decode().replace("x\t", "\t").encode() == data


KINDS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int16(), pa.string())]


@laws
@given(
    st.lists(st.tuples(unicode_texts | st.none(), st.integers(-9, 9) | st.none(), cells), min_size=1, max_size=6),
    st.sampled_from(KINDS),
    st.sampled_from(["snappy", "zstd", "none"]),
)
def test_only_the_texts_of_parquet_change(tmp_path: Path, rows: list[tuple], kind: pa.DataType, codec: str) -> None:
    columns = list(zip(*rows, strict=True))
    texts = pa.array(columns[0], pa.string()).cast(kind)
    table = pa.table({"n": pa.array(columns[1], pa.int8()), "text": texts, "note": pa.array(columns[2], pa.string())})
    pq.write_table(table, tmp_path / "a.parquet", compression=codec)
    before, reader = pq.read_table(tmp_path / "a.parquet"), open_reader(tmp_path / "a.parquet", text_field="text")
    new = {text or "": "" if text is None else text + "x" for text in columns[0]}
    assume(all((text is None) == (new[text or ""] == "") for text in columns[0]))
    changed(reader, tmp_path / "new.parquet", new)
    after = pq.read_table(tmp_path / "new.parquet")
    assert after.schema.equals(before.schema, check_metadata=True)
    assert after.drop(["text"]).equals(before.drop(["text"]))
    assert after["text"].to_pylist() == [None if text is None else text + "x" for text in columns[0]]


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.jsonl", "a.txt"])
@laws
@given(data=st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(tmp_path: Path, name: str, data: bytes) -> None:
    """No other error than a sentence, and what is read comes back as it was."""
    (tmp_path / name).write_bytes(data)
    try:
        reader = open_reader(tmp_path / name)
        list(reader)
    except BadInput as error:
        assert "\n" not in str(error)
        return
    assert changed(reader, tmp_path / f"same-{name}", None) == data
