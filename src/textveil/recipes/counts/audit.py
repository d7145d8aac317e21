"""Attack a folder of released counts. What was dealt out to words is summed back into its groups first: that is all it tells.

Without the original file the attacks run on made-up worlds (the passage that is easiest to find: N copies of one word). With
it (`truth`) they use its documents: passages cut from them, the released rows linked to them, unique phrases looked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from textveil.attacks.counts.channel import CountChannel
from textveil.attacks.counts.seen import CountsSeen
from textveil.attacks.exposure import Owners, TwoWorlds
from textveil.core import BadInput
from textveil.core.fingerprint import Fingerprint
from textveil.core.payload import read_payload
from textveil.counts.grouping import membership
from textveil.noise import Source
from textveil.recipes.audit import AuditJob, AuditRoom, Filling
from textveil.recipes.counts.release import GROUPS, VOCABULARY, CountsJob, read_table
from textveil.recipes.progress import no_bar
from textveil.recipes.read_again import only_reading, read_as
from textveil.text.count_tables import is_matrix_file

LINKED, PHRASES = 500, 500


class CountsFolder:
    """The released table as the noise left it: one column per noised cell; and the original's counts, where given."""

    def __init__(self, job: AuditJob, manifest: dict[str, Any]):
        folder = job.folder
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
        self.documents: Any = None if job.truth is None else _true_counts(folder, job.truth, job, manifest)
        if self.documents is not None:
            self.check_documents(self.documents)

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

    def check_documents(self, documents: Any) -> None:
        """Refuse what cannot be the documents of the release."""
        words = self.released.shape[1] if self._groups is None else len(self._groups)
        if documents.shape != (len(self.released), words):
            raise BadInput(
                f"the release has {len(self.released)} documents and {words} words, the original has "
                f"{documents.shape[0]} and {documents.shape[1]}"
            )

    def two_worlds(self, rng: Source) -> TwoWorlds:
        """A document with and without a passage; made up where the original is not at hand."""
        return TwoWorlds(self._channel(self._worlds(self.documents, rng)))

    def rows_seen(self, rng: Source) -> CountsSeen:
        """Released rows, and the documents that they may have come from."""
        rows = np.sort(rng.permutation(len(self.released))[:LINKED])
        channel = self._channel(self.documents[rows], released=True)
        return CountsSeen(channel, rows=rows, truth=Owners(np.arange(len(rows))))

    def phrases_seen(self, rng: Source) -> CountsSeen:
        """The released table, and bags of words that one document each holds."""
        owners, phrases = unique_phrases(_dense(self.documents), self.precision, PHRASES, rng)
        channel = self._channel(phrases, released=True)
        return CountsSeen(channel, phrases=channel.documents, truth=Owners(owners))

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
    owners: list[int] = []
    phrases: list[np.ndarray] = []
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


def _true_counts(folder: Path, truth: Path, audit: AuditJob, manifest: dict[str, Any]) -> Any:
    vocabulary = folder / VOCABULARY
    named = str(vocabulary) if vocabulary.exists() and not is_matrix_file(truth) else None
    reading = only_reading(read_as(manifest, truth, **audit.reading()))
    job = CountsJob(truth, folder, {}, vocabulary=named, **reading)
    return sparse.csr_array(read_table(job, Fingerprint(bytes(32)), no_bar).counts)


def _dense(table: Any) -> np.ndarray:
    return table.toarray() if sparse.issparse(table) else np.asarray(table)


ROOM = AuditRoom(
    CountsFolder,
    (
        Filling(TwoWorlds, CountsFolder.two_worlds),
        Filling(CountsSeen, CountsFolder.rows_seen, gives=("rows",), asks=("truth",)),
        Filling(CountsSeen, CountsFolder.phrases_seen, gives=("phrases",), asks=("truth",)),
    ),
)
