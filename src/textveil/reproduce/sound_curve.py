"""The figures of docs/hashed-sound.md: `python -m textveil.reproduce.sound_curve --data DATA --part test -o curve.json`.

Parts: `validate` scores settings on contracts held out of the training four fifths (four folds; this is what
constants were chosen by), `test` scores the shipped constants on the other fifth, beside the unsealed model of the
same contracts, `document` is the curve of the document unit over epsilon and the number of contracts (the paragraph
unit at epsilon 2 beside it), `slots` scores sizes of the table by validation. Every mean is over the five clause
types; its interval is Student's over clause types of the mean over draws.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from textveil.hashed.plan import FeaturePlan
from textveil.hashed.sound import BITS
from textveil.hashed.sound_features import RowPlan
from textveil.reproduce.figures import Figure, Panel, Series, svg
from textveil.reproduce.paper01_data import FIVE, split
from textveil.reproduce.sound_contracts import Sentences, Setting, scored, sentences, trained

FOLDS = 4
EPSILONS, SIZES = (2.0, 8.0, 32.0), (90, 180, 360)


def folds(training: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Validation: each quarter of the training contracts asked of a model of the other three."""
    number = np.random.default_rng(5).permutation(len(training)) % FOLDS
    for fold in range(FOLDS):
        yield training[number != fold], training[number == fold]


def measured(
    held: Sentences, setting: Setting, bits: int, parts: list[tuple[np.ndarray, np.ndarray]], draws: int
) -> dict:
    """Scores of one setting: by clause, and the mean."""
    by_clause = {}
    for clause in FIVE:
        found = []
        for fold, (training, asked) in enumerate(parts):
            for draw in range(1 if setting.epsilon is None else draws):
                seed = 1000 * fold + draw
                weights, sound = trained(held, clause, training, setting, FeaturePlan(bits=bits), seed)
                found.append(scored(held, clause, asked, weights, sound))
        by_clause[clause] = {name: float(np.mean([f[name] for f in found])) for name in found[0]}
        by_clause[clause]["spread"] = float(np.std([f["f"] for f in found]))
    return {**setting._asdict(), "bits": bits, "contracts": len(parts[0][0]), "draws": draws, **summary(by_clause)}


def summary(by_clause: dict[str, dict[str, float]]) -> dict[str, Any]:
    from scipy.stats import t

    values = np.array([by_clause[c]["f"] for c in FIVE])
    reach = float(t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    return {
        "f": float(values.mean()),
        "f_low": float(values.mean()) - reach,
        "f_high": float(values.mean()) + reach,
        "span_f": float(np.mean([by_clause[c]["span_f"] for c in FIVE])),
        "clauses": by_clause,
    }


def unsealed(data: Path, training: np.ndarray, asked: np.ndarray) -> dict[str, Any]:
    """The model without a promise, as it is shipped."""
    from textveil.reproduce.paper01_models import found, span_score, token_score, train, truth

    by_clause = {}
    for clause in FIVE:
        model = train(data, clause, training.tolist())
        pairs = [(found(data, model, place), truth(data, clause, place)) for place in asked.tolist()]
        token = token_score(pairs)
        by_clause[clause] = {"p": token.p, "r": token.r, "f": token.f, "span_f": span_score(pairs).f}
    return {"method": "unsealed", "contracts": len(training), **summary(by_clause)}


def rows_of_part(part: str, data: Path, draws: int) -> Iterator[dict[str, Any]]:
    training, asked = split(450)
    if part == "slots":
        for bits in (10, 12, 14, 16, 18, 20):
            held = sentences(data, FeaturePlan(bits=bits), RowPlan())
            yield measured(held, Setting(2.0), bits, list(folds(training)), draws)
        return
    held = sentences(data, FeaturePlan(bits=BITS), RowPlan())
    if part == "document":
        # A smaller corpus is every second or fourth contract, so that all sizes are alike but for their size.
        for size in SIZES:
            fewer = [(training[:: len(training) // size], asked)]
            for epsilon in (*EPSILONS, None):
                yield measured(held, Setting(epsilon, "document"), BITS, fewer, draws)
            yield measured(held, Setting(EPSILONS[0]), BITS, fewer, draws)
        return
    parts = [(training, asked)] if part == "test" else list(folds(training))
    for method in ("descent", "output"):
        for epsilon in (2.0, None):
            yield measured(held, Setting(epsilon, "paragraph", method), BITS, parts, draws)
    yield measured(held, Setting(2.0, "document"), BITS, parts, draws)
    if part == "test":
        yield unsealed(data, training, asked)


def picture(rows: list[dict[str, Any]]) -> str:
    """The rows of the part `document` as an SVG: F1 over the number of contracts, and over epsilon."""
    noisy = [r for r in rows if r["epsilon"] is not None]
    arms = [("document", epsilon) for epsilon in EPSILONS] + [("paragraph", EPSILONS[0])]
    by_size = [
        _line(
            f"{unit}, epsilon {epsilon:g}",
            [(r["contracts"], r["f"]) for r in noisy if (r["unit"], r["epsilon"]) == (unit, epsilon)],
        )
        for unit, epsilon in arms
    ]
    by_epsilon = [
        _line(
            f"{size} contracts",
            [(r["epsilon"], r["f"]) for r in noisy if (r["unit"], r["contracts"]) == ("document", size)],
        )
        for size in SIZES
    ]
    panels = [
        Panel("by the number of contracts", "contracts", "token F1", by_size, y_range=(0.0, 1.0)),
        Panel("one document protected", "epsilon", "token F1", by_epsilon, log_x=True, y_range=(0.0, 1.0)),
    ]
    return svg(Figure("hashed-sound", "Mean token F1 over five clause types, delta 1e-6", panels))


def _line(name: str, points: list[tuple[float, float]]) -> Series:
    x, y = zip(*sorted(points), strict=True) if points else ((), ())
    return Series(name, x, y)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--data", type=Path, required=True)
    asked.add_argument("--part", choices=("validate", "test", "document", "slots"), default="test")
    asked.add_argument("--draws", type=int, default=5)
    asked.add_argument("-o", "--out", type=Path, required=True)
    asked.add_argument("--picture", type=Path, help="with --part document: also draw the curve (SVG)")
    given = asked.parse_args()
    rows = []
    for row in rows_of_part(given.part, given.data, given.draws):
        rows.append(row)
        shown = {k: v for k, v in row.items() if k != "clauses"}
        print(
            json.dumps({k: round(v, 4) if isinstance(v, float) and v > 1e-3 else v for k, v in shown.items()}),
            flush=True,
        )
        given.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if given.picture is not None and given.part == "document":
        given.picture.write_text(picture(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
