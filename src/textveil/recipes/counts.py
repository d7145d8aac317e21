"""The journey of counts: read or count, check, charge, draw, write, card.

Nothing is charged before the whole input has been read and checked, and nothing is drawn before the charge is on disk. The
folder holds data.npz (documents x words), vocabulary.txt (the words of its columns) and, after compression, groups.npz
(the group of each word and its public or noisy weight): what anyone needs to fit topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from textveil.accounting import guarantee_of
from textveil.core import BadInput, Event, Payload, Release, Shape, Stamp
from textveil.core.fingerprint import Fingerprint, fingerprint_of
from textveil.core.release import check_free, new_folder, write_manifest
from textveil.counts import matrix
from textveil.counts.mechanism import LimitedPrecision, Released
from textveil.noise import source_for
from textveil.recipes.charging import charge, ledger_key
from textveil.recipes.count_tables import Table, count_texts, is_matrix_file, read_matrix, read_words
from textveil.recipes.veil import Bar, check_writable
from textveil.text import readers
from textveil.text.vectors import load

VOCABULARY, GROUPS, DATA = "vocabulary.txt", "groups.npz", "data.npz"


@dataclass(frozen=True)
class CountsJob:
    """One file of texts or of counts, and how it is to be released."""

    source: Path
    out: Path
    parameters: dict[str, Any]
    vocabulary: str | None = None  # None: the words of the vectors (for text), no names (for a matrix)
    vocabulary_size: int | None = None
    vectors: str = "default"
    text_field: str | None = None
    format: str | None = None
    ledger: Path | None = None
    other_data: bool = False


def count_file(job: CountsJob, *, bar: Bar) -> dict[str, Any]:
    """Release the counts of a file into a folder and return what to print."""
    check_free(job.out)
    check_writable(job.out)
    key = ledger_key(job.ledger)
    table = read_table(job, key, bar)
    mechanism = _mechanism(job, table)
    matrix.checked(table.counts, columns=mechanism.n_features_in_, empty=mechanism.empty)
    event = mechanism.event(Shape(vocabulary=mechanism.n_features_in_))
    with new_folder(job.out) as hidden:
        entry = charge(
            job.ledger,
            key,
            event,
            f"counts {job.source.name}",
            fingerprint=table.fingerprint,
            other_data=job.other_data,
        )
        with bar("drawing", None, "documents"):
            released = mechanism.release(table.counts, noise=source_for(mechanism.seed))
        names = None if table.words is None else [table.words[j] for j in released.columns]
        write_tables(hidden, released, names)
        release = _release(job, mechanism, event, entry, released, hidden)
        write_manifest(hidden, release.manifest(DATA))
    parts = mechanism.spending()
    return {
        "out": str(job.out),
        "documents": table.counts.shape[0],
        "words": len(released.columns),
        "columns": released.counts.shape[1],
        "sparse": bool(sparse.issparse(released.counts)),
        "entry": entry,
        "draft": release.stamp.draft,
        "asked_epsilon": float(mechanism.epsilon),
        "true_epsilon": parts.total,
        "delta": 0.0,
        "spending": {"counts": parts.noise, "corpus_counts": parts.corpus},
        "promise": release.guarantee.loss.sentence(),
        "guarantee": release.guarantee.to_json(),
    }


def read_table(job: CountsJob, key: bytes, bar: Bar) -> Table:
    """Counts from a matrix file, or counted from texts; with the fingerprint that binds the ledger to this data."""
    words = _vocabulary(job)
    if is_matrix_file(job.source):
        counts = read_matrix(job.source)
        if words is not None and len(words) != counts.shape[1]:
            raise BadInput(
                f"has {counts.shape[1]} columns, but the vocabulary has {len(words)} words",
                where=job.source,
                possible="the vocabulary that the counts were made with",
            )
        return Table(counts, words, fingerprint_of(counts, key) or "")
    assert words is not None
    reader = readers.open_reader(job.source, format=job.format, text_field=job.text_field)
    with bar("counting", reader.size, "bytes") as advance:
        return count_texts(reader, words, Fingerprint(key), advance)


def _vocabulary(job: CountsJob) -> Sequence[str] | None:
    if job.vocabulary is not None and job.vocabulary != "default":
        words: Sequence[str] = read_words(Path(job.vocabulary))
    elif job.vocabulary is None and is_matrix_file(job.source):
        if job.vocabulary_size is not None:
            raise BadInput("a matrix has the columns it has: leave --vocabulary-size out")
        return None
    else:
        words = list(load(job.vectors).words)
    size = job.vocabulary_size
    if size is not None and not 1 <= size <= len(words):
        raise BadInput(f"vocabulary-size must be from 1 to {len(words)}, not {size}")
    return words if size is None else words[:size]


def _mechanism(job: CountsJob, table: Table) -> LimitedPrecision:
    parameters = dict(job.parameters)
    if parameters.get("prior") == "vectors":
        parameters["prior"] = _public_prior(job, table)
    vectors = None if job.vectors == "default" else job.vectors
    return LimitedPrecision(**parameters, words=table.words, vectors=vectors).fit(table.counts)


def _public_prior(job: CountsJob, table: Table) -> np.ndarray:
    """The public law over words that comes with the vectors; words it lacks get its smallest chance."""
    if table.words is None:
        raise BadInput("the prior of the vectors needs the words of the columns", possible="--vocabulary FILE")
    vectors = load(job.vectors)
    rows = [vectors.index(word) for word in table.words]
    least = float(vectors.prior.min())
    return np.array([least if row is None else float(vectors.prior[row]) for row in rows])


def write_tables(folder: Path, released: Released, names: Sequence[str] | None) -> None:
    """data.npz, and what says which word each column is. Dense tables take the narrowest whole numbers that hold them."""
    if sparse.issparse(released.counts):
        sparse.save_npz(folder / DATA, sparse.csr_matrix(released.counts))
    else:
        np.savez(folder / DATA, value=_narrow(released.counts))
    if names is not None:
        (folder / VOCABULARY).write_text("\n".join(names) + "\n", encoding="utf-8")
    if released.groups is not None:
        weights = np.ones(len(released.groups)) if released.weights is None else released.weights
        np.savez_compressed(folder / GROUPS, groups=released.groups, weights=weights)


def _narrow(counts: np.ndarray) -> np.ndarray:
    low, high = (int(counts.min()), int(counts.max())) if counts.size else (0, 0)
    kinds = (t for t in (np.int8, np.int16) if np.iinfo(t).min <= low and high <= np.iinfo(t).max)
    return counts.astype(next(kinds, np.int32), copy=False)


def _release(
    job: CountsJob, mechanism: LimitedPrecision, event: Event, entry: str | None, released: Released, hidden: Path
) -> Release:
    stamp = Stamp.now(
        mechanism.name,
        public_parameters(mechanism, job),
        draft=mechanism.seed is not None,
        facts=_facts(mechanism, released),
    )
    return Release(Payload(hidden / DATA, DATA), event, guarantee_of(event), entry, stamp)


def public_parameters(mechanism: LimitedPrecision, job: CountsJob) -> dict[str, Any]:
    """Constructor arguments as JSON values; the words stand in vocabulary.txt."""
    shown = mechanism.get_params()
    del shown["words"]
    shown["vectors"] = job.vectors
    shown["prior"] = job.parameters.get("prior", "noisy")
    shown["seed"] = None  # never written down: with it anyone could undo the noise of a draft
    return shown


def _facts(mechanism: LimitedPrecision, released: Released) -> dict[str, Any]:
    """Public facts for the card: all of them are parameters, or follow from what was released."""
    parts, counts = mechanism.spending(), released.counts
    cells = counts.shape[0] * counts.shape[1]
    filled = counts.nnz if sparse.issparse(counts) else int(np.count_nonzero(counts))
    scale = mechanism.precision / parts.noise
    cells_each = _noised_cells(mechanism, released)
    policies = [
        f"noise of scale {scale:.4g} in each of {cells_each} cells per document, drawn exactly: delta 0",
        f"epsilon {parts.total:.4g} in total: {parts.noise:.4g} for the counts, {parts.corpus:.4g} for corpus counts",
    ]
    if mechanism.budget == "paper":
        policies.append(f"the paper's budget rule asked for {mechanism.epsilon:g}; its true total is {parts.total:.4g}")
    return {
        "policies": policies,
        "counts": {
            "scale": scale,
            "documents": counts.shape[0],
            "columns": counts.shape[1],
            "filled": filled / cells if cells else 0.0,
            "mean_length": float(counts.sum()) / max(1, counts.shape[0]),
        },
    }


def _noised_cells(mechanism: LimitedPrecision, released: Released) -> int:
    return len(released.columns) if mechanism.compress is None else int(mechanism.compress)
