"""The study of TextHide on made-up sentences, with word counts in the place of the encoder."""

from __future__ import annotations

import gzip
import json
import zlib

import numpy as np
import pytest

from textveil.federated.texthide import HidingPlan
from textveil.reproduce import study_of
from textveil.reproduce.cells import Cell
from textveil.reproduce.claims import claims_of, gaps, judge_all
from textveil.reproduce.paper04 import attacks, breaks, cells, data, heads, replacement
from textveil.reproduce.paper04.likeness import Likeness
from textveil.reproduce.study import Results

WORDS = [f"word{n}" for n in range(60)]


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """Sentences in which one of two words decides the class, in the shape of GLUE and of the public corpora."""
    folder, dice = tmp_path_factory.mktemp("data"), np.random.default_rng(0)

    def sentence(label):
        return " ".join([*dice.choice(WORDS, 4), *[("bad", "good")[label]] * 4])

    def write(path, rows):
        path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(path, "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)

    for name in data.TASKS:
        for part, count in (("train", 240), ("dev", 60)):
            labels = dice.integers(0, 2, count).tolist()
            rows = [{"label": y, "sentence": sentence(y), "score": 5.0 * y} for y in labels]
            if name in data.PAIRS:
                rows = [
                    {**row, "sentence": None, "sentence1": row["sentence"], "sentence2": "good good"} for row in rows
                ]
            write(folder / data.GLUE / name / f"{part}.jsonl.gz", rows)
    for corpus in (data.IMDB, data.NEWS, data.TWEETS):
        write(folder / corpus / "train.jsonl.gz", [{"text": sentence(n % 2) + "."} for n in range(500)])
    return folder


@pytest.fixture(autouse=True)
def counted(monkeypatch):
    """Encodings: the sum of a fixed random vector for each word, off zero."""

    def vector(word):
        return np.random.default_rng(zlib.crc32(word.strip(".").encode())).normal(0.6, 1.0, 48)

    def encode(texts):
        return np.stack([sum(vector(word) for word in text.split()) for text in texts]).astype(np.float32) / 3

    monkeypatch.setattr(data, "encode", encode)
    for cached in (data.task, data.public_encodings):
        cached.cache_clear()


def test_every_claim_has_cells_measures_and_rules():
    study = study_of("04")
    assert gaps(claims_of(study), study) == []


@pytest.mark.parametrize("name", ["SST-2", "MRPC", "STS-B"])
def test_an_arm_learns_and_is_scored(corpora, name):
    for arm in ("baseline", "inter"):
        result = cells.glue(corpora, name=name, arm=arm, seeds=2, most=240, epochs=[8], public=50)
        assert result["epochs"] == 8 and len(result["scores"]) == 2
        assert arm == "inter" or min(result["scores"]) > 60


def test_epochs_are_chosen_on_a_part_of_train(corpora, monkeypatch):
    monkeypatch.setattr(cells, "trained", lambda part, plan, epochs, *more: (len(part.x), epochs))
    monkeypatch.setattr(cells, "score_under", lambda name, net, part, *more: -abs(net[1] - 5) + len(part.x) / 1000)
    result = cells.glue(corpora, name="SST-2", arm="intra", seeds=2, most=240, epochs=[1, 5, 9], public=50)
    assert result == {"scores": [0.06, 0.06], "epochs": 5}


def test_a_point_of_the_grid_and_a_corpus_give_scores(corpora):
    plain = cells.grid_cell(corpora, name="SST-2", m=0, k=1, seed=0, most=240, epochs=8)["score"]
    fresh = cells.grid_cell(corpora, name="SST-2", m=-1, k=8, seed=0, most=240, epochs=2)["score"]
    assert plain > 80 and 0 <= fresh <= 100
    assert cells.corpora(corpora, corpus=data.NEWS, seed=0, most=240, epochs=1, public=50)["score"] >= 0


def test_the_search_of_the_paper_finds_plain_sentences_and_no_hidden_ones(corpora):
    plain = attacks.rss(corpora, name="SST-2", scheme="baseline", seed=0, most=240, queries=60)
    hidden = attacks.rss(corpora, name="SST-2", scheme="TextHide", seed=0, most=240, queries=60)
    assert np.mean(plain["rss"]["identity"]) == 1.0
    assert np.mean(hidden["rss"]["identity"]) < 0.2 < hidden["absolute"]["hits"] / 60


def test_masks_and_mixtures_come_apart(corpora):
    result = breaks.breaks(corpora, name="SST-2", m=4, k=2, seed=0, most=240, epochs=1, queries=20)
    assert result["mask_share"] == 1.0  # four masks, sixty encodings each, all far from zero
    # A mixture without a rest names its sentences: two of 240 vectors in 48 dimensions sum to one point only once.
    assert result["mixed_hits"] / result["mixed_tries"] >= result["exact"] > 0.9


def test_one_class_of_public_text_is_not_enough_for_the_masks(corpora, monkeypatch):
    """The law must know every direction in which encodings differ: else signs stay wrong, and mixtures whole."""
    both = data.public_encodings(corpora, data.IMDB, 500)
    monkeypatch.setattr(breaks, "public_encodings", lambda *given, **more: both[::2])
    result = breaks.breaks(corpora, name="SST-2", m=4, k=2, seed=0, most=240, epochs=1, queries=20)
    assert result["exact"] == 0.0


def test_gradient_matching_succeeds_without_texthide_and_one_text_can_be_read_off():
    bare = attacks.matching(None, d=0, k=1, attacks=2, outer=5)
    assert bare["hits"] == 2 and "success" in bare["curves"]
    mixed = attacks.matching(None, d=16, k=2, attacks=1, outer=3)
    assert mixed["hits"] == 0 and attacks.matching(None, d=64, k=1, attacks=1, outer=1)["read_off"] == 1


def test_the_replacement_keeps_its_promise_and_learns(corpora):
    settings = {"delta": 1e-3, "seed": 0, "most": 240, "epochs": 10, "batch": 120, "rate": 0.05}
    result = replacement.replacement(corpora, name="SST-2", epsilon=8.0, **settings)
    assert result["epsilon"] <= 8.0 and result["private"] > result["majority"]


@pytest.mark.parametrize(("units", "count"), [("sites", 2), ("users", 24)])
def test_a_head_is_learnt_together_under_a_promise(corpora, units, count):
    settings = {"epsilon": 30.0, "delta": 1e-3, "rounds": 4, "seed": 0, "most": 240}
    result = replacement.federated_head(corpora, name="SST-2", units=units, count=count, **settings)
    assert result["epsilon"] <= 30.0 and result["private"] > 70 and result["examples"] == 240 // count


def test_likeness_by_hand():
    likeness = Likeness(["aa bb cc", "bb cc dd", "aa bb cc"], np.array([1, 0, 1]), np.eye(3))
    shown = likeness.of(np.array([0, 0]), np.array([2, 1]))
    assert shown["identity"] == [1.0, 0.0] and shown["jaccard"] == [1.0, 0.5] and shown["label"] == [1.0, 0.0]
    assert shown["sentence"] == [0.0, 0.0]


def test_scores_by_hand():
    said, truth = np.eye(2)[[0, 1, 1, 0]], np.eye(2)[[0, 1, 0, 1]]
    assert heads.score_of("SST-2", said, truth) == 0.5
    assert heads.score_of("CoLA", said, truth) == 0.0
    assert heads.score_of("STS-B", np.array([[1.0], [2.0]]), np.array([[0.0], [1.0]])) == pytest.approx(1.0)


def test_a_drop_is_paired_by_task_and_seed():
    study = study_of("04")
    made = {
        Cell.of("glue", name=name, arm=arm): {
            "scores": [80.0 + seed - 2 * (arm != "baseline") - (arm == "inter") for seed in range(3)]
        }
        for name in data.TASKS
        for arm in ("baseline", "intra", "inter")
    }
    verdicts = {j.claim.id: j for j in judge_all(claims_of(study), study, Results(made), set())}
    assert verdicts["t1-drop-intra"].measures[0].value == pytest.approx(2.0)
    assert verdicts["t1-drop-intra"].verdict.word == "confirmed"
    assert verdicts["t1-inter-below-intra"].verdict.word == "confirmed"
    assert verdicts["t5-roberta"].verdict.word == "not comparable"


def test_a_fall_of_shares_and_a_promise_are_judged_by_their_intervals():
    study = study_of("04")
    made = {Cell.of("matching", d=d, k=1): {"hits": hits, "tries": 12} for d, hits in ((4, 11), (1024, 1))}
    tokens = {"noisy_hits": 2, "tries": 200, "noisy_wrong": 30, "others": 30_000, "epsilon": 3.0, "delta": 1e-5}
    made[Cell.of("private_tokens", seed=0)] = tokens
    fall = study.measures["share_fall"](Results(made), first=4, second=1024)[0]
    assert fall.value == pytest.approx(10 / 12) and 0.3 < fall.low < fall.value < fall.high
    assert study.measures["beyond_promise"](Results(made))[0].value < 0
    made[Cell.of("private_tokens", seed=0)] = {**tokens, "noisy_hits": 20}  # a tenth, where e^3 / 1000 is allowed
    assert study.measures["beyond_promise"](Results(made))[0].value > 0


def test_a_model_that_learnt_under_masks_is_asked_under_masks(corpora):
    """Two masks, 20 epochs: the model is right behind a mask of the pool."""
    train = data.task(corpora, "SST-2", "train", 240)
    plan = HidingPlan(2, 1)
    net = cells.trained(train, plan, 20, 0)
    assert cells.score_under("SST-2", net, train, plan, 0) > 90
