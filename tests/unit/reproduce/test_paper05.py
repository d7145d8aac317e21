"""Paper 05 on made-up data of a few hundred users: every kind of cell runs, and a population has the noise priced."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from textveil.reproduce.cells import Cell
from textveil.reproduce.paper05.arms import Noise, round_plan
from textveil.reproduce.paper05.cells import arm, searched, start
from textveil.reproduce.paper05.data import CANARY_USERS, dealt, planted, users
from textveil.reproduce.paper05.measures import over
from textveil.reproduce.study import Results

WORDS = [f"{a}{b}" for a in "bdfgklmn" for b in ("an", "el", "ip", "os", "um")]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(0)

    def sentence() -> str:
        return " ".join(rng.choice(WORDS, 6)) + "."

    rows = {
        "user-blogs/users": [{"user": i, "sentences": [sentence() for _ in range(3)]} for i in range(450)],
        "imdb/train": [{"text": " ".join(sentence() for _ in range(4))} for _ in range(20)],
        "newsgroups20/train": [{"text": sentence()} for _ in range(80)],
    }
    for name, lines in rows.items():
        path = folder / f"{name}.jsonl.gz"
        path.parent.mkdir()
        with gzip.open(path, "wt") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    return folder


def test_kept_users_are_never_trained_on_and_iid_keeps_every_sentence(data):
    train, test, development = users(data, 3)
    assert len(train) == 435 and [len(own) for own in test] == [3] * 8 and len(development) == 7
    seen, tested, chosen = ({text for own in some for text in own} for some in (train.values(), test, development))
    assert not seen & tested and not seen & chosen and not tested & chosen
    texts, canaries = planted(data, WORDS, 3, 0, iid=False)
    mixed, same = planted(data, WORDS, 3, 0, iid=True)
    assert same == canaries and len(canaries.users) == CANARY_USERS
    assert sorted(t for own in mixed.values() for t in own) == sorted(t for own in texts.values() for t in own)
    assert [len(own) for own in mixed.values()] == [len(own) for own in texts.values()]
    assert dealt(texts, 1) != mixed


def test_a_population_has_the_noise_of_its_own_round():
    own, z = round_plan(2000, 200, 1.0, 0.2, "poisson", Noise(8.0, 1e-5))
    larger, same = round_plan(2000, 200, 1.0, 0.2, "poisson", Noise(8.0, 1e-5, 20_000))
    assert same == pytest.approx(z, rel=2e-3) and larger.noise == pytest.approx(own.noise / 10, rel=2e-3)
    assert own.price(1e-5) <= 8.0
    plain, none = round_plan(2000, 200, 1.0, None, "fixed", Noise())
    assert none == 0 and not plain.is_private and plain.rounds == 10


def test_every_kind_of_cell_gives_counts_and_scores(data):
    shared = {"size": "test", "seed": 0}
    common = {"optimiser": "sgd", "rate": 0.1, **shared}
    noisy = {"clip": 0.1, "epsilon": 8.0, "delta": 1e-4, "sampling": "poisson", "frozen": ["vectors"]}
    models = [
        start(data, **shared),
        arm(data, unit="records", split="iid", batch=64, epochs=0.5, **common),
        arm(data, unit="users", split="users", batch=40, epochs=0.2, **common),
        arm(
            data, unit="users", split="users", batch=40, epochs=0.2, server="adam", server_rate=0.01, **common, **noisy
        ),
    ]
    for model in json.loads(json.dumps(models, allow_nan=False)):
        assert len(model["rs_hits"]) == len(model["bs_hits"]) == len(model["exposures"]) == 90
        assert model["rs"] == sum(model["rs_hits"]) and model["perplexity"] > 1 and 0 <= model["accuracy"] <= 1
        assert model["coins_guessed"] == 24 and len(model["user_losses"]) == 8
    assert models[3]["multiplier"] > 0 and models[3]["epsilon"] == 8.0 and models[2]["epsilon"] is None
    tried = searched(data, unit="records", split="iid", batch=64, epochs=0.5, **common)
    assert len(tried["user_losses"]) == 7 and "rs" not in tried  # the development users, and no canary


def test_a_ratio_of_perplexities_has_an_interval_over_the_users_of_the_test():
    cells = {
        Cell.of("headline", seed=0, clip=0.0): {"user_losses": [4.0, 4.2, 3.9]},
        Cell.of("private", seed=0, clip=0.1): {"user_losses": [4.1, 4.3, 4.05]},
    }
    (found,) = over(Results(cells), first={"clip": 0.1}, second={"clip": 0.0}, label="x")
    assert found.value == pytest.approx(np.exp((0.1 + 0.1 + 0.15) / 3)) and found.low < found.value < found.high
    assert found.low > 1 and found.n == 3
