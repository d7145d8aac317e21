"""Examples for training: texts with labels and users from every format, in one pass over the file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textveil.core.errors import BadInput
from textveil.text.examples import read_tagged, read_texts
from textveil.text.marked import Marked, MarkedFiles

ROWS = {
    "a.jsonl": '{"text": "hello", "label": 1, "user": "ann"}\n\n{"text": "bye", "label": 0, "user": "bob"}\n',
    "a.csv": "user,text,label\nann,hello,1\nbob,bye,0\n",
    "a.tsv": "user\ttext\tlabel\nann\thello\t1\nbob\tbye\t0\n",
}


@pytest.mark.parametrize("name", [*ROWS, "a.parquet"])
def test_labels_and_users_stand_beside_their_texts(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "a.parquet":
        pq.write_table(pa.table({"text": ["hello", "bye"], "label": [1, 0], "user": ["ann", "bob"]}), path)
    else:
        path.write_text(ROWS[name])
    examples = read_texts(path, label_field="label", user_field="user")
    assert (examples.inputs, examples.targets, examples.users) == (["hello", "bye"], ["1", "0"], ["ann", "bob"])
    assert read_texts(path, label_field="label", user_field="label").users == ["1", "0"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"text": "Zebedee"}', "line 2, field 'label': is missing"),
        ('{"text": "Zebedee", "label": null}', "line 2, field 'label': is missing"),
        ('{"text": "Zebedee", "label": 1.5}', "line 2, field 'label': is neither a string nor a whole number"),
    ],
)
def test_a_label_that_is_none(tmp_path: Path, row: str, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "label": "x"}\n' + row + "\n")
    with pytest.raises(BadInput, match=message):
        read_texts(path, label_field="label")


def test_lists_of_tokens_and_tags(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"tokens": ["Ann", "sings"], "tags": ["B-PER", "O"], "user": 7}\n')
    examples = read_tagged(path, user_field="user")
    assert (examples.inputs, examples.targets, examples.users) == ([["Ann", "sings"]], [["B-PER", "O"]], ["7"])
    with pytest.raises(BadInput, match="a csv file holds no tags"):
        read_tagged(tmp_path / "a.csv")


def test_marked_documents_are_opened_once_a_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "pay the rent", "spans": [[0, 3, "LAW"]], "n": 1e400}\n')
    reader = MarkedFiles(path).open()
    opened: list[Path] = []
    real = Path.open
    monkeypatch.setattr(Path, "open", lambda self, *a, **k: opened.append(self) or real(self, *a, **k))
    assert list(reader.documents()) == [Marked("pay the rent", [(0, 3)])]
    assert opened == [path]
