"""Attack a release folder with nothing but what it holds; the truth, where given, only scores.

The adversary knows everything public: the mechanism, its parameters, the vectors, the prior over words. The recipe rebuilds
the channel from `release.json` and shows it to the attack.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textveil.attacks.exposure import OriginalWords, TwoWorlds
from textveil.attacks.words.seen import WordsSeen
from textveil.core import BadInput, Guarantee, Metric, registry
from textveil.noise import Source
from textveil.recipes.audit import AuditJob, AuditRoom, Filling
from textveil.recipes.read_again import open_original, open_released, read_as
from textveil.recipes.words.channel import WordChannel
from textveil.text import readers, sample, tokens
from textveil.text.documents import Record
from textveil.words.mechanism import WordMechanism

SCORED_WORDS = 200_000
PUBLIC_WORDS = 5_000_000


@dataclass(frozen=True)
class VeiledFolder:
    """A folder of veiled text, opened: its mechanism made again, and the files that the audit was given."""

    job: AuditJob
    manifest: dict[str, Any]
    mechanism: WordMechanism

    def words_seen(self, rng: Source) -> WordsSeen:
        """What an adversary of a veiled file has; with the original, the released words and what they were."""
        mechanism, job = self.mechanism, self.job
        prior = np.asarray(mechanism.vectors_.prior)
        aligned = None
        if job.truth is not None:
            aligned = aligned_rows(mechanism, self._pairs(job.truth), job.truth)
        return WordsSeen(
            list(mechanism.vectors_.words),
            prior,
            WordChannel(mechanism, prior),
            observed=None if aligned is None else aligned.observed,
            documents=None if aligned is None else aligned.documents,
            public=public_rows(mechanism, job.public, self._scored_texts(aligned), self._public_field()),
            passing=kept_rows(mechanism),
            truth=None if aligned is None else OriginalWords(aligned.truth),
        )

    def two_worlds(self, rng: Source) -> TwoWorlds:
        """The public mechanism alone."""
        channel = WordChannel(self.mechanism, np.asarray(self.mechanism.vectors_.prior))
        return TwoWorlds(channel, list(self.mechanism.vectors_.words))

    def _public_field(self) -> str | None:
        if self.job.public is None:
            return None
        return read_as(self.manifest, self.job.public, text_field=self.job.text_field)["text_field"]

    def _original(self, truth: Path) -> Iterator[Record]:
        return iter(open_original(self.manifest, truth, self.job))

    def _released(self) -> Iterator[Record]:
        """The released records; the text may stand in another column than in the original, and the folder says in which."""
        return iter(open_released(self.manifest, self.job.folder / self.manifest["data"], self.job))

    def _pairs(self, truth: Path) -> Iterator[tuple[str, str]]:
        """Released and original texts side by side."""
        if "mask" in self.manifest["parameters"]:
            raise BadInput(
                "was masked before it was veiled, so its words cannot be lined up with the original",
                where=self.job.folder,
                possible="an audit without --truth",
            )
        original = self._original(truth)
        for out in self._released():
            match = next(original, None)
            if match is None:
                raise BadInput("has fewer records than the release", where=truth)
            yield out.text, match.text
        if next(original, None) is not None:
            raise BadInput("has more records than the release", where=truth)

    def _scored_texts(self, aligned: Aligned | None) -> set[str]:
        if self.job.truth is None or aligned is None:
            return set()
        return {r.text for r in islice(self._original(self.job.truth), int(aligned.documents[-1]) + 1)}


def open_veiled(job: AuditJob, manifest: dict[str, Any]) -> VeiledFolder:
    """The folder as its adversary sees it."""
    return VeiledFolder(job, manifest, rebuild(manifest, job.vectors))


def rebuild(manifest: dict[str, Any], vectors: str | None = None) -> WordMechanism:
    """The mechanism of a release, made again from its public parameters."""
    parameters = {name: value for name, value in manifest["parameters"].items() if name != "mask"}
    parameters["vectors"] = vectors or parameters.get("vectors")
    parameters["seed"] = None  # the adversary draws with randomness of its own
    mechanism = registry.make("mechanism", manifest["mechanism"], **parameters)
    if not isinstance(mechanism, WordMechanism):
        raise BadInput(f"has no word attacks (mechanism {manifest['mechanism']})")
    mechanism.fit()
    promised = manifest.get("facts", {}).get("vectors", {}).get("fingerprint")
    metric = Guarantee.from_json(manifest["guarantee"]).loss
    same_metric = not isinstance(metric, Metric) or metric.metric_id in ("", mechanism.space()[1])
    if (promised and promised != mechanism.vectors_.fingerprint) or not same_metric:
        which = "vectors" if same_metric else "distances between words (vectors, or codes made from them)"
        raise BadInput(
            f"the {which} are not those of the release", where=vectors, possible="--vectors with the right file"
        )
    return mechanism


class Aligned(NamedTuple):
    """Rows of released and original words, word by word, and the number of the record that each belongs to."""

    observed: np.ndarray
    truth: np.ndarray
    documents: np.ndarray


def aligned_rows(mechanism: WordMechanism, pairs: Iterable[tuple[str, str]], truth: Path) -> Aligned:
    """Released and original words side by side; -1 for originals outside the vocabulary.

    A record whose words cannot be counted off one by one is left out (rare: an apostrophe before a drawn letter).
    """
    seen: list[int] = []
    true: list[int] = []
    documents: list[int] = []
    rows = vocabulary_rows(mechanism)
    for number, (out, original) in enumerate(pairs):
        a, b = ([tokens.fold(w) for w in tokens.words(t)] for t in (out, original))
        if len(a) != len(b):
            continue
        of_a_kind = mechanism.places_of_kinds(original)
        for place, (shown, word) in enumerate(zip(a, b, strict=True)):
            if place in of_a_kind:
                continue  # numbers, dates and codes are drawn by laws of their own
            if shown not in rows or (word in mechanism.kept_ and word not in rows):
                continue  # fixed tokens are not drawn, and kept words outside the vocabulary say nothing here
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
    find = vocabulary_rows(mechanism).get
    records = readers.open_reader(public or sample.path(), text_field=text_field if public else "text")
    texts: list[np.ndarray] = []
    words = 0
    for record in records:
        if record.text not in private:
            texts.append(np.array([find(tokens.fold(w), -1) for w in tokens.words(record.text)], dtype=np.int64))
            words += len(texts[-1])
        if words >= PUBLIC_WORDS:
            break
    return texts


def vocabulary_rows(mechanism: WordMechanism) -> dict[str, int]:
    """The row of each word of the vocabulary, kept words among them: any of them may be drawn."""
    return {word: row for row, word in enumerate(mechanism.vectors_.words)}


def kept_rows(mechanism: WordMechanism) -> np.ndarray | None:
    """The rows of kept words: they pass, so that nobody has to guess them."""
    rows = vocabulary_rows(mechanism)
    kept = sorted(rows[word] for word in mechanism.kept_ if word in rows)
    return np.array(kept, dtype=np.int64) if kept else None


ROOM = AuditRoom(
    open_veiled,
    (
        Filling(WordsSeen, VeiledFolder.words_seen, gives=("public",)),
        Filling(WordsSeen, VeiledFolder.words_seen, gives=("public", "observed", "documents"), asks=("truth",)),
        Filling(TwoWorlds, VeiledFolder.two_worlds),
    ),
)
