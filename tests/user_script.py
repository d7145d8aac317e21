"""What a user writes in a dozen lines: `mypy --strict` passes on it (tests/rooms/test_typed.py)."""

from pathlib import Path

import numpy as np

import textveil as tv


def main(folder: Path) -> float:
    mechanism = tv.words.BRR(epsilon=0.5, seed=1).fit()
    veiled: list[str] = mechanism.transform(["The bank owes me a letter."])
    ledger = tv.Ledger(folder / "notes.ledger")
    release: tv.Release = ledger.release(mechanism, veiled, tv.Shape())
    counts = tv.counts.LimitedPrecision(epsilon=1.0, precision=10)
    made = tv.veil(folder / "notes.csv", folder / "out", epsilon=0.5, case="drop", ledger=folder / "notes.ledger")
    promise: tv.Guarantee = made.guarantee
    print(release.guarantee.explain(), counts.guarantee_.unit is tv.Unit.DOCUMENT, made.card, made.result["records"])
    classifier = tv.training.Classifier(epsilon=2.0, batch=8).fit(np.array(veiled * 2), np.array([0, 1]))
    print(classifier.predict(np.array(veiled)).tolist(), tv.train_tagger.__name__)
    return tv.training.load(made.folder).score([], []) if promise.is_bounding else 0.0


if __name__ == "__main__":
    main(Path("."))
