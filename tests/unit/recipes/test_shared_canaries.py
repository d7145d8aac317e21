"""`federate canaries`: what it writes, and what it refuses."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from textveil.attacks.federated.sharers import SharedCanaries
from textveil.core import BadInput
from textveil.recipes.federated.canaries import SharedCanaryJob, plant_shared


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    path = tmp_path / "letters.jsonl"
    rows = [{"who": f"user {u}", "text": f"letter {u} {i}"} for u in range(30) for i in range(5)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def job(letters: Path, **more) -> SharedCanaryJob:
    few = {"user_field": "who", "sharers": (1, 2), "each": 2, "text_field": "text"}
    return SharedCanaryJob(letters, letters.parent / "out", **{**few, **more})


def test_every_canary_stands_as_often_as_the_file_says(letters):
    result = plant_shared(job(letters, canary_users=8, seed=1))
    rows = [json.loads(line) for line in Path(result["data"]).read_text().splitlines()]
    counts = Counter(row["text"] for row in rows)
    made = SharedCanaries.load(Path(result["canaries"]))
    assert [counts[c.text] for c in made.canaries] == [c.occurrences for c in made.canaries]
    assert len({row["who"] for row in rows}) == 30 + sum(c.inserted for c in made.users) == result["users"]
    assert len(rows) == 150 + 5 * sum(c.inserted for c in made.users)


def test_words_of_a_model_are_used(letters, tmp_path):
    (tmp_path / "words.txt").write_text("alpha\nbeta\n,\nx")
    made = SharedCanaries.load(Path(plant_shared(job(letters, words=tmp_path / "words.txt"))["canaries"]))
    assert {word for c in made.canaries for word in c.words} <= {"alpha", "beta"}


@pytest.mark.parametrize(
    "more, sentence",
    [
        ({"each": 9}, "users would share canaries, and there are 30"),
        ({"user_field": "nobody"}, "nobody"),
        ({"shares": (0.0,)}, "above 0"),
        ({"words": Path("missing.txt")}, "list of words"),
    ],
)
def test_bad_input_leaves_nothing(letters, more, sentence):
    with pytest.raises(BadInput, match=sentence):
        plant_shared(job(letters, **more))
    assert not (letters.parent / "out").exists()
