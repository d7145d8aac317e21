"""Attack a release folder with nothing but what it holds; the truth, where given, only scores.

The adversary knows everything public: the mechanism, its parameters, the vectors, the prior over words. The recipe rebuilds
the channel from `release.json` and hands it to the attack as an Exposure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import Exposure
from textveil.attacks.words_two_worlds import Pairs
from textveil.core import BadInput, CannotAdd, Guarantee, read_manifest, registry
from textveil.core.release import write_manifest
from textveil.noise import Source, secure
from textveil.recipes.word_pairs import word_pairs
from textveil.text import readers, sample, tokens
from textveil.words.mechanism import WordMechanism

SCORED_WORDS = 200_000
PUBLIC_WORDS = 5_000_000


@dataclass(frozen=True)
class WordChannel:
    """The mechanism as the adversary can run it: public input row in, drawn row out."""

    mechanism: WordMechanism
    prior: np.ndarray

    def sample(self, rows: np.ndarray, source: Source) -> np.ndarray:
        return self.mechanism.draw(rows, source)

    @property
    def stated(self) -> float:
        """The loss per unit of distance that the mechanism states, with or without a promise."""
        return float(self.mechanism.epsilon)

    @property
    def excludes_input(self) -> bool:
        """Whether the algorithm never returns its input: Vickrey as printed."""
        return bool(getattr(self.mechanism, "paper_mode", False))

    def pairs(self, count: int, source: Source) -> Pairs:
        """Words that may be told apart, near ones above all: there a promise allows little."""
        return word_pairs(self.mechanism, count, source)

    def posterior_bound(self, rows: np.ndarray, source: Source) -> np.ndarray:
        """The largest posterior of any word given the noised point: more than any adversary of the output can reach."""
        return self.mechanism.posterior_peak(rows, self.prior, source)


def audit_folder(
    folder: Path,
    attack_names: list[str],
    *,
    truth: Path | None = None,
    public: Path | None = None,
    vectors: str | None = None,
    text_field: str | None = None,
    parameters: dict[str, Any] | None = None,
    progress: Callable[[str], None] = lambda title: None,
) -> list[Evidence]:
    """Run attacks on a folder, add their evidence to `release.json` and to the card."""
    manifest = read_manifest(folder)
    attacks = [registry.make("attack", name, **(parameters or {})) for name in attack_names]
    exposure = word_exposure(folder, manifest, truth=truth, public=public, vectors=vectors, text_field=text_field)
    found = []
    for attack in attacks:
        progress(attack.name)
        found.append(attack.run(exposure, rng=secure()))
    record_evidence(folder, manifest, found)
    return found


def verdict_of(evidence: Evidence, promise: Guarantee) -> str:
    """What the evidence says about the promise; about another unit it says nothing."""
    try:
        return evidence.verdict(promise)
    except CannotAdd as error:
        return str(error)


def _refuted(evidence: Evidence, promise: Guarantee) -> bool:
    return evidence.unit == promise.unit and evidence.refutes(promise)


def record_evidence(folder: Path, manifest: dict[str, Any], found: list[Evidence]) -> None:
    """Newer evidence of the same attack on the same question takes the place of the older."""
    promise = Guarantee.from_json(manifest["guarantee"])
    fresh = [{**e.to_json(), "verdict": verdict_of(e, promise), "refuted": _refuted(e, promise)} for e in found]
    asked = {(e["attack"], e["metric"]) for e in fresh}
    kept = [e for e in manifest.get("evidence", []) if (e["attack"], e["metric"]) not in asked]
    write_manifest(folder, {**manifest, "evidence": kept + fresh})


def word_exposure(
    folder: Path,
    manifest: dict[str, Any],
    *,
    truth: Path | None = None,
    public: Path | None = None,
    vectors: str | None = None,
    text_field: str | None = None,
) -> Exposure:
    """What an adversary of a veiled file has."""
    mechanism = rebuild(manifest, vectors)
    prior = np.asarray(mechanism.vectors_.prior)
    aligned = None
    if truth is not None:
        aligned = aligned_rows(mechanism, folder / manifest["data"], truth, text_field)
    return Exposure(
        observed=None if aligned is None else aligned.observed,
        documents=None if aligned is None else aligned.documents,
        vocabulary=list(mechanism.vectors_.words),
        prior=prior,
        channel=WordChannel(mechanism, prior),
        public=public_rows(mechanism, public, _scored_texts(truth, aligned, text_field), text_field),
        truth=None if aligned is None else aligned.truth,
        release=folder,
    )


def rebuild(manifest: dict[str, Any], vectors: str | None = None) -> WordMechanism:
    """The mechanism of a release, made again from its public parameters."""
    parameters = dict(manifest["parameters"])
    parameters["vectors"] = vectors or parameters.get("vectors")
    parameters["seed"] = None  # the adversary draws with randomness of its own
    mechanism = registry.make("mechanism", manifest["mechanism"], **parameters)
    if not isinstance(mechanism, WordMechanism):
        raise BadInput(f"has no word attacks (mechanism {manifest['mechanism']})")
    mechanism.fit()
    promised = manifest.get("facts", {}).get("vectors", {}).get("fingerprint")
    if promised and promised != mechanism.vectors_.fingerprint:
        raise BadInput(
            "the vectors are not those of the release", where=vectors, possible="--vectors with the right file"
        )
    return mechanism


class Aligned(NamedTuple):
    """Rows of released and original words, word by word, and the number of the record that each belongs to."""

    observed: np.ndarray
    truth: np.ndarray
    documents: np.ndarray


def aligned_rows(mechanism: WordMechanism, data: Path, truth: Path, text_field: str | None) -> Aligned:
    """Released and original words side by side; -1 for originals outside the vocabulary.

    A record whose words cannot be counted off one by one is left out (rare: an apostrophe before a drawn letter).
    """
    seen: list[int] = []
    true: list[int] = []
    documents: list[int] = []
    rows = mechanism.rows_
    for number, (out, original) in enumerate(_pairs(data, truth, text_field)):
        a, b = ([tokens.fold(w) for w in tokens.words(t)] for t in (out, original))
        if len(a) != len(b):
            continue
        for shown, word in zip(a, b, strict=True):
            if word in mechanism.kept_ or shown not in rows:
                continue  # kept words and fixed tokens are not drawn: nothing to guess
            seen.append(rows[shown])
            true.append(rows.get(word, -1))
            documents.append(number)
        if len(seen) >= SCORED_WORDS:
            break
    if not seen:
        raise BadInput("no words could be aligned with the release", where=truth)
    return Aligned(*(np.array(part, dtype=np.int64) for part in (seen, true, documents)))


def public_rows(
    mechanism: WordMechanism, public: Path | None, private: set[str], text_field: str | None
) -> list[np.ndarray]:
    """Public texts that the adversary can learn a language from, as rows; the bundled letters where no file is given.

    A text that is also among the private ones is no public knowledge: it is left out.
    """
    records = readers.open_reader(public or sample.path(), text_field=text_field if public else "text")
    texts: list[np.ndarray] = []
    words = 0
    for record in records:
        if record.text not in private:
            find = mechanism.rows_.get
            texts.append(np.array([find(tokens.fold(w), -1) for w in tokens.words(record.text)], dtype=np.int64))
            words += len(texts[-1])
        if words >= PUBLIC_WORDS:
            break
    return texts


def _scored_texts(truth: Path | None, aligned: Aligned | None, text_field: str | None) -> set[str]:
    if truth is None or aligned is None:
        return set()
    return {r.text for r in islice(readers.open_reader(truth, text_field=text_field), int(aligned.documents[-1]) + 1)}


def _pairs(data: Path, truth: Path, text_field: str | None) -> Iterator[tuple[str, str]]:
    released = iter(readers.open_reader(data, text_field=text_field))
    original = iter(readers.open_reader(truth, text_field=text_field))
    for out in released:
        match = next(original, None)
        if match is None:
            raise BadInput("has fewer records than the release", where=truth)
        yield out.text, match.text
    if next(original, None) is not None:
        raise BadInput("has more records than the release", where=truth)
