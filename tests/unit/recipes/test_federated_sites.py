"""Sites under DP-SGD: each pays by its own number of examples; and who the units of a file are."""

from __future__ import annotations

import json
from itertools import chain

import pytest

from textveil.core import BadInput, Unit
from textveil.recipes.federated.local_dp import SitePlans
from textveil.recipes.federated.units import UnitSource, read_units

PAPER = {"rounds": 1, "epochs": 10, "clip": 1.0, "delta": 1e-5, "noise": 1.0}


def test_twenty_sites_do_not_cost_what_one_costs():
    """Paper 08 prints one epsilon for every number of clients; a client of 20 holds a twentieth of the examples."""
    one, twenty = SitePlans((14_041,), batch=32, **PAPER), SitePlans((702,) * 20, batch=32, **PAPER)
    assert one.epsilons() == pytest.approx([0.762], abs=0.01)
    assert len(set(twenty.epsilons())) == 1 and twenty.epsilons()[0] > 4 * one.epsilons()[0]
    assert twenty.event() == twenty.site_event(702)  # all alike: the exact event is charged


def test_unlike_sites_are_charged_by_the_worst():
    plans = SitePlans((40, 2_000), batch=20, rounds=2, epochs=1, clip=0.2, delta=1e-3, noise=2.0)
    assert plans.event().noise.epsilon == max(plans.epsilons()) == plans.epsilons()[0]


def test_a_site_finds_its_own_noise_for_an_epsilon():
    plans = SitePlans((60,), batch=60, rounds=2, epochs=1, clip=0.2, delta=1e-3, target=3.0)
    assert 2.9 < plans.epsilons()[0] <= 3.0


def test_a_site_with_one_example_is_refused():
    with pytest.raises(BadInput, match="single example"):
        SitePlans((1, 50), batch=10, **PAPER)


@pytest.fixture
def source(tmp_path):
    rows = [{"user": f"u{n % 4}", "text": f"text {n}", "label": "ab"[n % 2]} for n in range(12)]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return lambda **more: UnitSource((path,), "classifier", text_field="text", **more)


def test_users_of_a_field_are_the_units(source):
    data = read_units(source(user_field="user"))
    assert data.unit is Unit.USER and data.sizes == [3] * 4 and data.examples[1][0] == ("text 1", "b")


def test_an_iid_split_keeps_sizes_and_examples_and_is_no_user_any_more(source):
    natural, iid = (read_units(source(user_field="user", split=split)) for split in ("natural", "iid"))
    assert iid.sizes == natural.sizes and iid.unit is Unit.CLIENT and iid.examples != natural.examples
    assert sorted(chain(*iid.examples)) == sorted(chain(*natural.examples))


@pytest.mark.parametrize("split", ["iid", "blocks", "labels"])
def test_sites_share_a_file_out(source, split):
    data = read_units(source(sites=5, split=split))
    assert sum(data.sizes) == 12 and max(data.sizes) - min(data.sizes) <= 1
    if split == "labels":
        assert len({label for _, label in data.examples[0]}) == 1


def test_a_declared_label_set_binds_every_site(source):
    with pytest.raises(BadInput, match="unknown"):
        read_units(source(user_field="user", labels=("a", "c")))
