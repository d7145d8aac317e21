"""Attack a folder of released counts. What was dealt out to words is summed back into its groups first: that is all it tells.

Without the original file the attacks run on made-up worlds (the passage that is easiest to find: N copies of one word). With
it (`truth`) they use its documents: passages cut from them, the released rows linked to them, unique phrases looked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from textveil.attacks.count_channel import CountChannel
from textveil.attacks.evidence import Evidence
from textveil.attacks.exposure import Exposure
from textveil.core import BadInput, read_manifest, registry
from textveil.core.payload import read_payload
from textveil.counts.mechanism import membership
from textveil.noise import Source, secure
from textveil.recipes.audit import record_evidence
from textveil.recipes.count_tables import is_matrix_file
from textveil.recipes.counts import GROUPS, VOCABULARY, CountsJob, read_table
from textveil.recipes.veil import Bar

LINKED, PHRASES = 500, 500


def audit_counts(
    folder: Path,
    attack_names: list[str],
    *,
    bar: Bar,
    truth: Path | None = None,
    text_field: str | None = None,
    parameters: dict[str, Any] | None = None,
) -> list[Evidence]:
    """Run attacks on a folder of counts and record their evidence."""
    manifest = read_manifest(folder)
    attacks = [registry.make("attack", name, **(parameters or {})) for name in attack_names]
    view = View(folder, manifest)
    documents = None if truth is None else _true_counts(folder, truth, text_field, bar)
    if documents is not None:
        view.check(documents)
    found = [attack.run(view.exposure(attack.name, documents, secure()), rng=secure()) for attack in attacks]
    record_evidence(folder, manifest, found)
    return found


class View:
    """The released table as the noise left it: one column per noised cell."""

    def __init__(self, folder: Path, manifest: dict[str, Any]):
        facts = manifest.get("facts", {}).get("counts", {})
        if "scale" not in facts:
            raise BadInput(f"holds no counts (mechanism {manifest['mechanism']})", where=folder)
        self.rate = 1 / float(facts["scale"])
        self.precision = int(manifest["parameters"]["precision"])
        self.clamp = bool(manifest["parameters"]["clamp"])
        self._groups = self._read_groups(folder)
        table = read_payload(folder, manifest["data"])
        grouped = self._groups is not None and bool(manifest["parameters"]["decompress"])
        self.released = np.asarray(_dense(self.fold(table) if grouped else table))

    @staticmethod
    def _read_groups(folder: Path) -> np.ndarray | None:
        if not (folder / GROUPS).exists():
            return None
        with np.load(folder / GROUPS, allow_pickle=False) as stored:
            return stored["groups"]

    def fold(self, counts: Any) -> Any:
        """Counts per noised cell: of words, or of groups."""
        if self._groups is None:
            return counts
        return sparse.csr_array(counts) @ membership(self._groups, int(self._groups.max()) + 1)

    def check(self, documents: Any) -> None:
        """Whether these can be the documents of the release."""
        words = self.released.shape[1] if self._groups is None else len(self._groups)
        if documents.shape != (len(self.released), words):
            raise BadInput(
                f"the release has {len(self.released)} documents and {words} words, the original has "
                f"{documents.shape[0]} and {documents.shape[1]}"
            )

    def exposure(self, attack: str, documents: Any, rng: Source) -> Exposure:
        """What the adversary of this attack holds; `documents` are true counts of words."""
        if attack == "counts.passage":
            return Exposure(channel=self._channel(self._worlds(documents, rng)))
        if documents is None:
            raise BadInput(f"the attack {attack} needs the original file", possible="--truth IN")
        if attack == "counts.linkage":
            rows = np.sort(rng.permutation(len(self.released))[:LINKED])
            return Exposure(
                observed=rows, truth=np.arange(len(rows)), channel=self._channel(documents[rows], released=True)
            )
        owners, phrases = unique_phrases(_dense(documents), self.precision, PHRASES, rng)
        return Exposure(observed=np.arange(len(owners)), truth=owners, channel=self._channel(phrases, released=True))

    def _channel(self, candidates: Any, released: bool = False) -> CountChannel:
        """Candidates as counts per noised cell, beside the released rows where an attack may see them."""
        folded = _dense(self.fold(candidates))
        cells = np.zeros((len(folded), self.released.shape[1]), np.int64)
        cells[:, : folded.shape[1]] = folded
        return CountChannel(self.rate, cells, self.clamp, self.released.astype(np.int64) if released else None)

    def _worlds(self, documents: Any, rng: Source) -> np.ndarray:
        """A document without and with N of its words; an empty one and N copies of a word when no document is known."""
        if documents is None:
            worlds = np.zeros((2, self.released.shape[1] if self._groups is None else len(self._groups)), np.int64)
            worlds[1, 0] = self.precision
            return worlds
        long_enough = np.flatnonzero(np.asarray(documents.sum(axis=1)).ravel() >= self.precision)
        if len(long_enough) == 0:
            raise BadInput(f"no document has a passage of {self.precision} words")
        document = _dense(documents[[int(long_enough[rng.below(len(long_enough), 1)[0]])]])[0]
        return np.stack([document - draw_passage(document, self.precision, rng), document])


def draw_passage(document: np.ndarray, size: int, rng: Source) -> np.ndarray:
    """`size` of the document's tokens, drawn without replacement, as counts."""
    tokens = np.repeat(np.arange(len(document)), document)
    return np.bincount(tokens[rng.permutation(len(tokens))[:size]], minlength=len(document))


def unique_phrases(documents: np.ndarray, size: int, most: int, rng: Source) -> tuple[np.ndarray, np.ndarray]:
    """Bags of `size` tokens that only one document holds, with the number of that document."""
    owners, phrases = [], []
    for number in rng.permutation(len(documents)):
        if documents[number].sum() < size or len(owners) == most:
            continue
        phrase = draw_passage(documents[number], size, rng)
        if np.count_nonzero((documents >= phrase).all(axis=1)) == 1:
            owners.append(number)
            phrases.append(phrase)
    if not owners:
        raise BadInput(f"no document has a bag of {size} words that no other document has")
    return np.array(owners, np.int64), np.array(phrases)


def _true_counts(folder: Path, truth: Path, text_field: str | None, bar: Bar) -> Any:
    vocabulary = folder / VOCABULARY
    named = str(vocabulary) if vocabulary.exists() and not is_matrix_file(truth) else None
    job = CountsJob(truth, folder, {}, vocabulary=named, text_field=text_field)
    return sparse.csr_array(read_table(job, bytes(32), bar).counts)


def _dense(table: Any) -> np.ndarray:
    return table.toarray() if sparse.issparse(table) else np.asarray(table)
