"""One runner for measures of use: what it does, what it says of the rest, and where figures about private text go."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from textveil.accounting.ledger import Ledger
from textveil.core import BadInput
from textveil.core.errors import UnknownName
from textveil.core.utility import Utility
from textveil.recipes.measure import ROOMS, MeasureJob, measure_release, room_of
from textveil.recipes.progress import no_bar
from textveil.recipes.words.veil import VeilJob, veil_file
from textveil.text.vectors import from_arrays
from textveil.words import Laplace

WORDS = "tea cup kettle leaf rain cloud storm puddle the of".split()


@pytest.fixture
def release(tmp_path) -> Path:
    """Forty short texts of two kinds, veiled at an epsilon at which most words stay."""
    from_arrays(WORDS, [[float(i // 4 * 9), float(i + 1)] for i in range(10)]).save(tmp_path / "words.npz")
    rows = [{"text": "The tea and cup." if n % 2 else "Rain of cloud.", "kind": "ab"[n % 2], "n": n} for n in range(40)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    mechanism = Laplace(epsilon=9.0, vectors=str(tmp_path / "words.npz"))
    job = VeilJob(tmp_path / "in.jsonl", tmp_path / "out", mechanism, text_field="text", ledger=tmp_path / "l.ledger")
    veil_file(job, bar=no_bar)
    return tmp_path / "out"


def job(folder: Path, **more) -> MeasureJob:
    return MeasureJob(folder, folder.with_name("in.jsonl"), **more)


def content(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def test_figures_about_private_text_are_for_their_owner_alone(release):
    before = content(release)
    measure_release(job(release, tasks=("stay",)))
    result = measure_release(job(release, label_field="kind"))
    assert content(release) == before
    assert result.written == release.with_name("out.private") / "utility.json"
    assert stat.S_IMODE(result.written.stat().st_mode) == 0o600
    assert stat.S_IMODE(result.written.parent.stat().st_mode) == 0o700
    kept = json.loads(result.written.read_text())["utility"]
    in_file = [Utility.from_json(row) for row in kept]
    assert len(in_file) == len(result.uses) and all(use in in_file for use in result.uses)
    assert len({row["task"] for row in kept if row["task"].startswith("words that stayed")}) == 3  # once each
    first = result.uses[0]
    assert (first.task, first.metric, first.original, first.chance) == ("classify by kind", "accuracy", 1.0, 0.5)
    assert first.value > 0.8


def test_publishing_is_said_on_the_card_and_in_the_ledger(release):
    with pytest.raises(BadInput, match="utility about private text is published under the ledger"):
        measure_release(job(release, publish=True))
    ledger = release.with_name("l.ledger")
    measure_release(job(release, label_field="kind", tasks=("classify",), publish=True, ledger=ledger))
    rows = json.loads((release / "release.json").read_text())["utility"]
    assert len(rows) == 2 and all(row["published"] for row in rows)
    card = (release / "card.html").read_text()
    assert "classify by kind" in card and "its owner published them" in card
    (line,) = Ledger(ledger).unpriced()
    assert "measure --publish: classify by kind" in str(line.to_json())
    assert "a task was done with the private text" in str(line.to_json())


def test_what_cannot_be_done_is_named_with_the_reason(release):
    result = measure_release(job(release))
    assert result.not_run["classify"] == "needs --label-field F, the field with the label"
    assert "300 records or more" in result.not_run["topics"]
    with pytest.raises(BadInput, match="the task classify needs --label-field"):
        measure_release(job(release, tasks=("classify",)))
    with pytest.raises(UnknownName, match="there are"):
        measure_release(job(release, tasks=("sing",)))


def test_files_that_do_not_fit_are_refused(release):
    with pytest.raises(BadInput, match="field 'n': holds no labels to learn"):
        measure_release(job(release, label_field="n"))
    shorter = release.with_name("shorter.jsonl")
    shorter.write_text('{"text": "tea", "kind": "a"}\n')
    with pytest.raises(BadInput, match="has 1 records, the release has 40"):
        measure_release(MeasureJob(release, shorter))
    other = release.with_name("test.jsonl")
    other.write_text('{"text": "tea", "kind": "z"}\n')
    with pytest.raises(BadInput, match="no record with a label of the original"):
        measure_release(job(release, label_field="kind", test=other))


def test_a_test_file_is_what_is_tested_on(release):
    other = release.with_name("test.jsonl")
    other.write_text('{"text": "A cup of tea.", "kind": "b"}\n' * 3)
    uses = measure_release(job(release, label_field="kind", test=other, tasks=("classify",))).uses
    assert [use.sizes["test"] for use in uses] == [3, 3]


def test_every_room_has_its_row():
    for name in ROOMS:
        assert room_of(f"{name}.any").tasks
    with pytest.raises(BadInput, match="textveil hashed score"):
        room_of("hashed.sealed")
