"""Paper 07: claims have cells, measures read what cells give. The study itself is run by `textveil reproduce 07`."""

from __future__ import annotations

import pytest

from textveil.reproduce import study_of
from textveil.reproduce.cells import Cell
from textveil.reproduce.claims import gaps, load_claims
from textveil.reproduce.figures import svg
from textveil.reproduce.paper07 import measures
from textveil.reproduce.study import Results


def test_every_claim_has_cells_a_measure_and_a_rule():
    assert gaps(load_claims("07"), study_of("07")) == []


def point(f1: list[float], epsilon: float, **more: float) -> dict:
    return {"f1": f1, "epsilon": epsilon, **more}


RESULTS = Results(
    {
        Cell.of("table", seed=0): {
            "f1": {
                task: {
                    arm: [0.1 * i + 0.01, 0.1 * i + 0.02]
                    for i, arm in enumerate(("none", "plain", "biomedical", "eps 3.2", "eps 1"))
                }
                for task in measures.TASKS
            },
            "private": {"eps 1": {"epsilon": 0.99}},
        },
        Cell.of("figure1", seed=0): {
            axis: [point([0.2, 0.3], 3.0, **{axis: 1.0}), point([0.1, 0.2], 2.0, **{axis: 2.0})]
            for axis in ("noise", "epochs", "batch", "clip")
        },
        Cell.of("figure2", seed=0): {
            "cap": 10.0,
            "rows": [
                {"arm": arm, "form": form, "copies": k, "exposure": e * k**0.5, "line": 9.0 if k == 1 else None}
                for arm, e in (("plain", 1.0), ("eps 0.58", 0.1))
                for form in ("HS", "HSH", "HHSHH")
                for k in (1, 100)
            ],
        },
    }
)


def test_differences_are_taken_within_folds():
    (gap,) = measures.table_difference(RESULTS, first="plain", second="none")
    assert gap.value == pytest.approx(10) and gap.high - gap.low < 1e-9
    assert measures.f1_rise(RESULTS, axis="noise")[0].value == pytest.approx(-10)
    assert [m.value for m in measures.epsilon_steps(RESULTS, axis="noise")] == [-1]


def test_exposure_measures():
    assert measures.exposure_gap(RESULTS, least=100)[0].value == pytest.approx(9)
    assert measures.below_cap(RESULTS, least=100)[0].value == pytest.approx(0)
    assert [m.value for m in measures.over_line(RESULTS)] == pytest.approx([-8.9] * 3)
    assert measures.exposure_growth(RESULTS, arm="plain")[0].value == pytest.approx(9)


def test_figures_are_drawn():
    drawn = study_of("07").figures(RESULTS)
    assert [f.name for f in drawn] == ["table-1", "figure-1", "figure-2"]
    assert all("<svg" in svg(f) for f in drawn)


@pytest.mark.data
def test_texts_of_the_study(data_dir):
    from textveil.reproduce.paper07.data import CHEMICALS, tagged

    rows = tagged(data_dir, CHEMICALS, 20, 0)
    assert len(rows) == 20 and all(len(words) == len(tags) for words, tags in rows)
