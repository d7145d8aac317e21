"""Files as people have them: each either comes back with only its texts changed, or is refused in a sentence.

The table is the test: a name, the bytes, what is said about the file, and what becomes of it.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textveil.core.errors import BadInput
from textveil.text.documents import replace
from textveil.text.readers import data_file_name, open_reader
from textveil.text.writers import concat_parts, open_writer

SECRET = "Zebedee"
BOM = b"\xef\xbb\xbf"


class Taken(NamedTuple):
    """A file that is read: how it is said to be read, and its texts."""

    name: str
    content: bytes
    read_as: str
    texts: list[str]
    options: dict[str, Any] = {}  # noqa: RUF012


ACCENTS = "id;text;ort\r\n1;Grüße aus Köln – très bien;Zürich\r\n2;alles gut;Genf\r\n"
TEXTS = ["Grüße aus Köln – très bien", "alles gut"]

READ = {
    "csv": Taken("a.csv", b"id,text\n1,one\n2,two\n", "", ["one", "two"]),
    "csv, no last line end": Taken("a.csv", b"id,text\n1,one\n2,two", "", ["one", "two"]),
    "csv, CRLF": Taken("a.csv", b"id,text\r\n1,one\r\n2,two\r\n", "", ["one", "two"]),
    "csv, CR": Taken("a.csv", b"id,text\r1,one\r2,two\r", "csv, line ends CR", ["one", "two"]),
    "csv, CR, LF in quotes": Taken("a.csv", b'id,text\r1,"a\nb"\r', "csv, line ends CR", ["a\nb"]),
    "csv, all quoted": Taken("a.csv", b'"id","text"\n"1","one ""x"""\n', "", ['one "x"']),
    "csv, quoted newline": Taken("a.csv", b'id,text\n1,"a\nb, c"\n', "", ["a\nb, c"]),
    "csv, UTF-8 mark": Taken("a.csv", BOM + "id,text\n1,é\n".encode(), "", ["é"]),
    "csv, semicolons": Taken("a.csv", b"id;text\n1;a, b\n2;c\n", "csv, delimiter ';'", ["a, b", "c"]),
    "csv, semicolons, field": Taken(
        "a.csv", b"nr;Nachricht\n1;a\n2;c\n", "csv, delimiter ';'", ["a", "c"], {"text_field": "Nachricht"}
    ),
    "csv, semicolons, no header": Taken(
        "a.csv", b"1;a b\n2;c\n", "csv, delimiter ';'", ["a b", "c"], {"header": False, "text_field": "2"}
    ),
    "csv, semicolons, decimal commas": Taken(
        "a.csv", b"text;x;y\na;1,5;2,5\nb;1,7;2,7\n", "csv, delimiter ';'", ["a", "b"]
    ),
    "csv, semicolons said": Taken("a.csv", b"text;x\na;1\n", "csv, delimiter ';'", ["a"], {"delimiter": "semicolon"}),
    "csv, semicolons in the only column": Taken("a.csv", b"text\na; b\nc; d\n", "", ["a; b", "c; d"]),
    "csv, commas said": Taken("a.csv", b"a;b\nc;d\n", "", ["a;b", "c;d"], {"delimiter": ",", "header": False}),
    "csv, bars": Taken("a.csv", b"id|text\n1|one\n", "csv, delimiter '|'", ["one"]),
    "csv, tabs": Taken("a.csv", b"id\ttext\n1\tone\n", "csv, delimiter tab", ["one"]),
    "csv, another sign": Taken("a.csv", b"id~text\n1~a,b\n", "csv, delimiter '~'", ["a,b"], {"delimiter": "~"}),
    "csv, sep line": Taken("a.csv", b"sep=;\r\nid;text\r\n1;one\r\n", "csv, delimiter ';'", ["one"]),
    "csv, sep comma": Taken("a.csv", b'"sep=,"\nid,text\n1,one\n', "", ["one"]),
    "csv, Excel": Taken("a.csv", ACCENTS.encode("cp1252"), "csv, delimiter ';', encoding cp1252", TEXTS),
    "csv, umlauts side by side": Taken("a.csv", "text\nGrüße\n".encode("cp1252"), "csv, encoding cp1252", ["Grüße"]),
    "csv, Excel Unicode": Taken(
        "a.csv", ACCENTS.replace(";", "\t").encode("utf-16"), "csv, delimiter tab, encoding utf-16-le", TEXTS
    ),
    "csv, UTF-16 big": Taken(
        "a.csv", b"\xfe\xff" + ACCENTS.encode("utf-16-be"), "csv, delimiter ';', encoding utf-16-be", TEXTS
    ),
    "csv, UTF-16 without mark, said": Taken(
        "a.csv", ACCENTS.encode("utf-16-le"), "csv, delimiter ';', encoding utf-16-le", TEXTS, {"encoding": "utf-16-le"}
    ),
    "csv, UTF-32": Taken("a.csv", ACCENTS.encode("utf-32"), "csv, delimiter ';', encoding utf-32-le", TEXTS),
    "csv, cp1251 said": Taken(
        "a.csv", "id,text\n1,Привет\n".encode("cp1251"), "csv, encoding cp1251", ["Привет"], {"encoding": "cp1251"}
    ),
    "csv, Shift-JIS said": Taken(
        "a.csv", "id,text\n1,表示\n".encode("shift_jis"), "csv, encoding shift-jis", ["表示"], {"encoding": "shift_jis"}
    ),
    "csv, backslashes": Taken(
        "a.csv", b'id,text\n1,"say \\"hi, you\\" now"\n', "csv, backslashes before quotes", ['say "hi, you" now']
    ),
    "csv, backslashes said": Taken(
        "a.csv", b"id,text\n1,a\\,b\n2,\\N\n", "csv, backslashes before quotes", ["a,b", ""], {"quotes": "backslash"}
    ),
    "csv, a path in quotes": Taken("a.csv", b'id,text\n1,"C:\\dir\\"\n2,"b"\n', "", ["C:\\dir\\", "b"]),
    "csv, no quotes said": Taken("a.csv", b'id,text\n1,5" pipe\n', "csv, no quotes", ['5" pipe'], {"quotes": "none"}),
    "csv, gzip": Taken("a.csv.gz", gzip.compress(b"id,text\n1,one\n"), "", ["one"]),
    "csv, bzip2": Taken("a.csv.bz2", bz2.compress(b"id,text\n1,one\n"), "", ["one"]),
    "csv, xz": Taken("a.csv.xz", lzma.compress(b"id,text\n1,one\n"), "", ["one"]),
    "csv, Excel in bzip2": Taken(
        "a.csv.bz2", bz2.compress(ACCENTS.encode("cp1252")), "csv, delimiter ';', encoding cp1252", TEXTS
    ),
    "tsv": Taken("a.tsv", b'id\ttext\n1\t"one\n2\t\n', "", ['"one', ""]),
    "tsv, quotes mean themselves": Taken("a.tsv", b'id\ttext\n1\t"one"\n2\ta "b"\n', "", ['"one"', 'a "b"']),
    "tsv, quoted newline": Taken("a.tsv", b'id\ttext\n1\t"a\nb"\n2\tc\n', "tsv, fields in quotes", ["a\nb", "c"]),
    "tsv, quoted": Taken("a.tsv", b'"id"\t"text"\n"1"\t"a ""b"""\n', "tsv, fields in quotes", ['a "b"']),
    "tsv, doubled": Taken("a.tsv", b'id\ttext\n1\t"a ""b"" c"\n', "tsv, fields in quotes", ['a "b" c']),
    "tsv, commas": Taken("a.tsv", b"id,text\n1,one\n", "tsv, delimiter ','", ["one"]),
    "txt, cp1252": Taken("a.txt", "naïve\nplain\n".encode("cp1252"), "txt, encoding cp1252", ["naïve", "plain"]),
    "txt, UTF-16": Taken("a.txt", "Ċa\nb".encode("utf-16"), "txt, encoding utf-16-le", ["Ċa", "b"]),
    "txt, CR": Taken("a.txt", b"a\rb\rc", "txt, line ends CR", ["a", "b", "c"]),
    "txt, xz": Taken("a.txt.xz", lzma.compress(b"a\nb\n"), "", ["a", "b"]),
    "jsonl, UTF-16": Taken("a.jsonl", '{"text": "é"}\n'.encode("utf-16"), "jsonl, encoding utf-16-le", ["é"]),
    "jsonl, cp1252 said": Taken(
        "a.jsonl", '{"text": "é"}\n'.encode("cp1252"), "jsonl, encoding cp1252", ["é"], {"encoding": "cp1252"}
    ),
    "jsonl, bzip2": Taken("a.jsonl.bz2", bz2.compress(b'{"n":1e2,"text": "a"}\n'), "", ["a"]),
    "json": Taken(
        "a.json", b'[{"id": 1.50, "text": "one"},\n {"text": "two", "n": [1, {"text": "x"}]}]\n', "", ["one", "two"]
    ),
    "json, pretty": Taken("a.json", b'\n[\r\n  {\n    "text" : "a\\n",\n    "x": 1E400\n  }\r\n]\n', "", ["a\n"]),
    "json, compact": Taken("a.json", b'[{"text":"a"},{"text":"b"},{"text":null}]', "", ["a", "b", ""]),
    "json, strings": Taken("a.json", b'["one",\n "two", null, "\\u00e9"]', "", ["one", "two", "", "\u00e9"]),
    "json, marked": Taken("a.json", BOM + b'[{"text":"a"}]', "", ["a"]),
    "json, UTF-16": Taken("a.json", '[{"text": "é"}]'.encode("utf-16"), "json, encoding utf-16-le", ["é"]),
    "json, cp1252 said": Taken(
        "a.json", '[{"text": "é"}]'.encode("cp1252"), "json, encoding cp1252", ["é"], {"encoding": "cp1252"}
    ),
    "json, bzip2": Taken("a.json.bz2", bz2.compress(b'[{"text":"a"}]'), "", ["a"]),
    "json, large": Taken(
        "a.json",
        ("[" + ",\n".join(f'{{"text": "{i} {"x" * 40_000}"}}' for i in range(30)) + "]").encode(),
        "",
        [f"{i} {'x' * 40_000}" for i in range(30)],
    ),
    "conll, latin-1 said": Taken(
        "a.conll", "Größe O\nb O\n".encode("latin-1"), "conll, encoding iso8859-1", ["Größe b"], {"encoding": "latin-1"}
    ),
    "conll, bzip2": Taken("a.conll.bz2", bz2.compress(b"Ann B\n\nb O\n"), "", ["Ann", "b"]),
    "iob": Taken("a.iob", b"I|PRP|O like|VBP|O\nTea|NN|O .|.|O\n", "", ["I like", "Tea ."]),
    "parallel, xz": Taken("a.parallel.tsv.xz", lzma.compress(b"a\tb\n"), "", ["a\nb"]),
}


def write(folder: Path, taken: Taken) -> Path:
    (folder / taken.name).write_bytes(taken.content)
    return folder / taken.name


UNPACK = {"gz": gzip.decompress, "bz2": bz2.decompress, "xz": lzma.decompress, "": bytes}


@pytest.mark.parametrize("case", READ)
def test_what_is_read_and_how_it_is_said(tmp_path: Path, case: str) -> None:
    taken = READ[case]
    reader = open_reader(write(tmp_path, taken), **taken.options)
    assert [record.text for record in reader] == taken.texts
    assert reader.read_as == taken.read_as


@pytest.mark.parametrize("case", READ)
def test_what_is_not_the_text_comes_back_byte_for_byte(tmp_path: Path, case: str) -> None:
    """Untouched records give the same bytes; parts of one record each, put together, do so too."""
    taken = READ[case]
    reader = open_reader(write(tmp_path, taken), **taken.options)
    whole, parts = tmp_path / data_file_name(reader), []
    with open_writer(whole, reader) as writer:
        for number, record in enumerate(reader):
            writer.write(record)
            parts.append(tmp_path / f"part-{number}")
            with open_writer(parts[-1], reader, part=True) as part:
                part.write(record)
    unpack = UNPACK[reader.packing]
    assert unpack(whole.read_bytes()) == unpack(taken.content)
    concat_parts(parts, tmp_path / "joined", reader)
    assert unpack((tmp_path / "joined").read_bytes()) == unpack(taken.content)


@pytest.mark.parametrize("case", READ)
def test_new_texts_are_read_back_in_the_same_dialect(tmp_path: Path, case: str) -> None:
    taken = READ[case]
    reader = open_reader(write(tmp_path, taken), **taken.options)
    out = tmp_path / data_file_name(reader)
    out = out.with_name(f"new-{out.name}")
    with open_writer(out, reader) as writer:
        for record in reader:
            writer.write(replace(record, record.text.upper()))
    again = open_reader(out, **{**taken.options, **_remembered(reader)})
    assert [record.text for record in again] == [text.upper() for text in taken.texts]
    assert again.dialect() == reader.dialect()


def _remembered(reader: Any) -> dict[str, Any]:
    dialect = reader.dialect()
    header = {"header": dialect["header"] == "yes"} if "header" in dialect else {}
    return {**{name: dialect[name] for name in ("delimiter", "quotes", "encoding") if name in dialect}, **header}


REFUSED: dict[str, tuple[str, bytes, str, dict[str, Any]]] = {
    "Excel workbook": ("a.csv", b"PK\x03\x04" + SECRET.encode(), "an Excel or other Office file.*save it as CSV", {}),
    "old Excel workbook": ("a.csv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "save it as CSV UTF-8", {}),
    "PDF": ("a.txt", b"%PDF-1.7 Zebedee", "is a PDF, not text", {}),
    "parquet by another name": ("a.csv", b"PAR1....", "is a parquet file", {}),
    "gzip by another name": ("a.csv", gzip.compress(b"id,text\n1,a\n"), "--format with it, e.g. csv.gz", {}),
    "bzip2 by another name": ("a.csv", bz2.compress(b"id,text\n1,a\n"), "--format with it, e.g. csv.bz2", {}),
    "not bzip2": ("a.csv.bz2", b"id,text\n1,a\n", "is not a complete bzip2 file", {}),
    "cut xz": ("a.csv.xz", lzma.compress(b"id,text\n1,a\n" * 99)[:-9], "is not a complete xz file", {}),
    "greek": ("a.csv", "id,text\n1,Καλημέρα σε όλους\n".encode("cp1253"), "neither UTF-8 nor.*--encoding", {}),
    "chinese": ("a.csv", "id,text\n1,你好世界\n".encode("gbk"), "neither UTF-8 nor.*--encoding", {}),
    "cyrillic": ("a.csv", "id,text\n1,Привет мир\n".encode("cp1251"), "neither UTF-8 nor.*--encoding", {}),
    "not cp1252": ("a.csv", b"id,text\n1,a\x81b\n", "neither UTF-8 nor.*--encoding", {}),
    "cp1252 far down": (
        "a.csv",
        b"id,text\n" + b"1,abcdefgh\n" * 100_000 + b"2,Zebedee\xe9\n",
        "line 100002: is not UTF-8; possible: --encoding",
        {},
    ),
    "UTF-16 without mark": ("a.csv", "id,text\n1,a\n".encode("utf-16-be"), "--encoding utf-16-be", {}),
    "UTF-16 said, no mark": ("a.csv", b"id,text\n1,a\n", "--encoding utf-16-le", {"encoding": "utf-16"}),
    "no such encoding": ("a.csv", b"id,text\n1,a\n", "there is no encoding 'utf-9'", {"encoding": "utf-9"}),
    "EBCDIC": ("a.csv", b"id,text\n1,a\n", "the encoding 'cp037' is not read", {"encoding": "cp037"}),
    "no text codec": ("a.csv", b"id,text\n1,a\n", "is not read|there is no encoding", {"encoding": "base64"}),
    "UTF-7": ("a.csv", b"id,text\n1,a\n", "the encoding 'utf-7' is not read", {"encoding": "utf-7"}),
    "encoding of parquet": ("a.parquet", b"x", "leave --encoding out", {"encoding": "utf-8"}),
    "delimiter of jsonl": ("a.jsonl", b'{"text": ""}', "only csv and tsv have --delimiter", {"delimiter": ";"}),
    "quotes of txt": ("a.txt", b"a\n", "only csv and tsv have --quotes", {"quotes": "none"}),
    "long delimiter": ("a.csv", b"text;x\na;b\n", "the delimiter must be one sign", {"delimiter": ";;"}),
    "letter as delimiter": ("a.csv", b"text;x\na;b\n", "the delimiter must be one sign", {"delimiter": "x"}),
    "json object": ("a.json", b'{"text": "Zebedee"}\n{"text": "b"}\n', "is an object, where .* --format jsonl", {}),
    "json number": ("a.json", b'[{"text": "a"}, 17]', "a record is neither an object nor a string", {}),
    "json list": ("a.json", b'[["Zebedee"]]', "a record is neither an object nor a string", {}),
    "json mixed": ("a.json", b'["a",\n {"text": "Zebedee"}]', "line 2: is an object among strings", {}),
    "json mixed the other way": ("a.json", b'[{"text": "a"},\n "Zebedee"]', "line 2: is a string, not an object", {}),
    "json cut": ("a.json", b'[{"text": "Zebedee"},\n{"text": "a', "line 2: is not valid JSON", {}),
    "json no end": ("a.json", b'[{"text": "Zebedee"}\n', "line 1: is not valid JSON", {}),
    "json trailing": ("a.json", b'[{"text": "a"}] Zebedee', "something follows the end of the array", {}),
    "json empty": ("a.json", b" [ ] ", "holds no records", {}),
    "json not UTF-8": ("a.json", b'[{"text": "Zebedee\xe9"}]', "what is not UTF-8; possible: --encoding", {}),
    "json strings with a field": ("a.json", b'["a"]', "an array of strings has no fields", {"text_field": "text"}),
    "json in jsonl": ("a.jsonl", b'[{"text": "Zebedee"}]', "is a list, not an object; possible: --format json", {}),
    "quotes in doubt": ("a.csv", b'id,text\n1,"a \\","b \\"\n2,"a","b"\n', "must be said|columns where", {}),
    "backslashes unsaid": ("a.csv", b'id,text\n1,"a\\"b"\n2,x,y\n', "text after a closing quote.*--quotes", {}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_says_the_fix(tmp_path: Path, case: str) -> None:
    name, content, message, options = REFUSED[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=message) as caught:
        for _ in open_reader(tmp_path / name, **options):
            pass
    assert SECRET not in str(caught.value) and "\n" not in str(caught.value)


def test_the_table_is_long_enough() -> None:
    assert len(READ) + len(REFUSED) >= 40


def test_an_encoding_taken_from_the_bytes_of_texts_is_named_among_what_passes(tmp_path: Path) -> None:
    """Whether a file is UTF-8 may hang on one letter of one word: where nobody said so beforehand, it passes by name."""
    path = write(tmp_path, READ["csv, Excel"])
    assert any("not UTF-8" in name for name in open_reader(path).passes)
    assert not any("not UTF-8" in name for name in open_reader(path, encoding="cp1252").passes)


def test_words_that_an_encoding_lacks_are_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    reader = open_reader(write(tmp_path, READ["csv, Excel"]))
    reader.check_words("tea Café")
    with pytest.raises(BadInput, match="is cp1252, which cannot write every word of the vocabulary"):
        reader.check_words("tea Čaj")
    bare = open_reader(write(tmp_path, READ["tsv"]))
    with pytest.raises(BadInput, match="the vocabulary has a tab or a line break"):
        bare.check_words("tea\tpot")


def test_a_new_text_that_the_encoding_lacks_leaves_nothing(tmp_path: Path) -> None:
    reader = open_reader(write(tmp_path, READ["csv, Excel"]))
    with (
        pytest.raises(BadInput, match="a new text has a character that cp1252 does not have"),
        open_writer(tmp_path / "out.csv", reader) as writer,
    ):
        for record in reader:
            writer.write(replace(record, "Čaj"))
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]


def test_a_missing_value_of_mysql_stays_missing(tmp_path: Path) -> None:
    path = write(tmp_path, READ["csv, backslashes said"])
    reader = open_reader(path, quotes="backslash")
    with open_writer(tmp_path / "out.csv", reader) as writer:
        for record in reader:
            writer.write(replace(record, record.text.upper()))
    assert (tmp_path / "out.csv").read_bytes() == b'id,text\n1,"A,B"\n2,\\N\n'
    assert reader.passes[-1] == "which texts are missing (null)"
    with pytest.raises(BadInput, match="line 3, field 'text': is null"):
        list(open_reader(path, quotes="backslash", nulls="refuse"))


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
def test_strings_of_parquet_keep_their_type(tmp_path: Path, kind: str) -> None:
    types = {"dictionary": pa.dictionary(pa.int32(), pa.string())}
    wanted = types.get(kind) or getattr(pa, kind)()
    texts = pa.array([f"t{i}" if i % 7 else None for i in range(3000)], pa.string()).cast(wanted)
    pq.write_table(pa.table({"n": range(3000), "text": texts}), tmp_path / "a.parquet")
    before = pq.read_table(tmp_path / "a.parquet")
    reader = open_reader(tmp_path / "a.parquet", text_field="text")
    with open_writer(tmp_path / "b.parquet", reader) as writer:
        for record in reader:
            writer.write(replace(record, record.text.upper()))
    after = pq.read_table(tmp_path / "b.parquet")
    assert after.schema.equals(before.schema, check_metadata=True)
    assert after["text"].to_pylist() == [f"T{i}" if i % 7 else None for i in range(3000)]
    assert after["n"].equals(before["n"])
