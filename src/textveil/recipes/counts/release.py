"""The journey of counts: read or count, check, charge, draw, write.

The folder holds data.npz (documents x words), vocabulary.txt (the words of its columns) and, after compression, groups.npz
(the group of each word and its public or noisy weight): what anyone needs to fit topics. Where ids or labels are asked for,
documents.jsonl has them, a line for each row of the table: they leave as they are, and `passes` names them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from textveil.core import BadInput, Shape
from textveil.core.facts import CountsFacts, Facts
from textveil.core.fingerprint import Fingerprint
from textveil.core.losses import upward
from textveil.counts.mechanism import LimitedPrecision, Released
from textveil.recipes.progress import Bar
from textveil.recipes.publish import Publication, publish_job
from textveil.recipes.read_again import said_of
from textveil.text import readers, tokens
from textveil.text.count_tables import Table, count_texts, is_matrix_file, read_matrix, read_words
from textveil.text.documents import Record
from textveil.text.formats.piped import source_name
from textveil.text.vectors import load

VOCABULARY, GROUPS, DATA, DOCUMENTS = "vocabulary.txt", "groups.npz", "data.npz", "documents.jsonl"
ROWS_PASS = "the number and the order of the documents"
FUNCTION_WORDS = "function-words"  # the name of a public list


@dataclass(frozen=True)
class CountsJob(readers.FileOptions):
    """One file of texts or of counts, and how it is to be released."""

    source: Path
    out: Path
    parameters: dict[str, Any]
    vocabulary: str | None = None  # None: the words of the vectors (for text), no names (for a matrix)
    vocabulary_size: int | None = None
    vectors: str = "default"
    without: str | None = None  # words that are not counted: 'function-words', or a file
    id_field: str | None = None  # these two leave with the counts, unprotected
    label_field: str | None = None
    ledger: Path | None = None
    other_data: bool = False
    unpriced: bool = False

    @property
    def passing_fields(self) -> dict[str, str]:
        """What leaves with each row, and the field that holds it."""
        known = {"id": self.id_field, "label": self.label_field}
        return {name: field for name, field in known.items() if field is not None}


def count_file(job: CountsJob, *, bar: Bar) -> dict[str, Any]:
    """Release the counts of a file into a folder and return what to print."""
    with publish_job(job, f"counts {job.source.name}", seed=job.parameters.get("seed")) as publication:
        documents: list[dict[str, Any]] = []
        table = read_table(job, publication.account.fingerprint(), bar, documents)
        mechanism = _mechanism(job, table)
        shape = Shape(vocabulary=mechanism.n_features_in_)
        mechanism.check_data(table.counts, shape)
        parameters = public_parameters(mechanism, job)
        paid = publication.account.charge(
            mechanism.event(shape),
            data=table.fingerprint,
            binding=publication.bound(
                source=source_name(job.source), parameters=parameters, field=job.text_field,
                passing=job.passing_fields,
            ),
        )  # fmt: skip
        with bar("drawing", None, "documents"):
            released = mechanism.release(table.counts, noise=paid.noise())
        names = None if table.words is None else [table.words[j] for j in released.columns]
        write_tables(publication, released, names)
        write_documents(publication, documents)
        release = publication.finish(
            paid,
            mechanism.name,
            parameters,
            DATA,
            passes=[ROWS_PASS] + [f"column '{field}'" for field in job.passing_fields.values()],
            facts=_facts(publication, job, mechanism, released),
        )
    spending = mechanism.spending()
    return {
        **publication.result(release),
        "documents": table.counts.shape[0],
        "words": len(released.columns),
        "columns": released.counts.shape[1],
        "sparse": bool(sparse.issparse(released.counts)),
        "asked_epsilon": float(mechanism.epsilon),
        "true_epsilon": spending.total,
        "delta": 0.0,
        "spending": {"counts": spending.noise, "corpus_counts": spending.corpus},
    }


def read_table(
    job: CountsJob, fingerprint: Fingerprint, bar: Bar, documents: list[dict[str, Any]] | None = None
) -> Table:
    """Counts from a matrix file, or counted from texts; with the fingerprint that binds the ledger to this data.

    What leaves with each row (its id, its label) is added to `documents`.
    """
    words = _vocabulary(job)
    if is_matrix_file(job.source):
        for name in job.passing_fields:
            raise BadInput("a matrix has no fields", where=job.source, possible=f"texts, or no --{name}-field")
        counts = read_matrix(job.source)
        if words is not None and len(words) != counts.shape[1]:
            raise BadInput(
                f"has {counts.shape[1]} columns, but the vocabulary has {len(words)} words",
                where=job.source,
                possible="the vocabulary that the counts were made with",
            )
        fingerprint.update_value(counts)
        return Table(counts, words, fingerprint.hexdigest())
    assert words is not None
    reader = readers.open_reader(job.source, fields=job.passing_fields.values(), columns=(), **job.reading())

    def note_fields(record: Record) -> None:
        if documents is not None:
            documents.append(_passing(job, record, reader.record_line))

    with bar("counting", reader.size, "bytes") as advance:
        table = count_texts(reader, words, fingerprint, advance, note_fields if job.passing_fields else None)
    if documents is not None:
        _check_passing(job, documents)
    return table


def _check_passing(job: CountsJob, documents: Sequence[dict[str, Any]]) -> None:
    """Refuse a field that no record has: its name was misspelt."""
    for name, field in job.passing_fields.items():
        if all(values[name] is None for values in documents):
            raise BadInput("is in no record", where=job.source, field=field)


def _passing(job: CountsJob, record: Record, line: int) -> dict[str, Any]:
    """The id and label of a record: strings, numbers, or nothing at all."""
    values = {name: record.fields.get(field) for name, field in job.passing_fields.items()}
    for name, value in values.items():
        if not isinstance(value, str | int | float | None):
            field = job.passing_fields[name]
            raise BadInput("is neither a string nor a number", where=job.source, line=line, field=field)
    return values


def _vocabulary(job: CountsJob) -> Sequence[str] | None:
    if job.vocabulary is not None and job.vocabulary != "default":
        words: Sequence[str] = read_words(Path(job.vocabulary))
    elif job.vocabulary is None and is_matrix_file(job.source):
        if job.vocabulary_size is not None:
            raise BadInput("a matrix has the columns it has: leave --vocabulary-size out")
        if job.without is not None:
            raise BadInput("the words of the columns are not known", possible="--vocabulary FILE, or no --without")
        return None
    else:
        words = list(load(job.vectors).words)
    if job.without is not None:
        words = _without(words, job)
    size = job.vocabulary_size
    if size is not None and not 1 <= size <= len(words):
        raise BadInput(f"vocabulary-size must be from 1 to {len(words)}, not {size}")
    return words if size is None else words[:size]


def _without(words: Sequence[str], job: CountsJob) -> list[str]:
    """The vocabulary without the words that say nothing about topics: a public list, so that this costs nothing."""
    if is_matrix_file(job.source):
        raise BadInput("a matrix has the columns it has: leave --without out")
    assert job.without is not None
    left_out = {tokens.fold(word) for word in stop_words(job.without)}
    kept = [word for word in words if word not in left_out]
    if not kept:
        raise BadInput("holds every word of the vocabulary, so nothing would be counted", where=job.without)
    return kept


def stop_words(named: str) -> Sequence[str]:
    """The words of a public list by its name, or of a file, one a line."""
    if named == FUNCTION_WORDS:
        from textveil.words.function_words import function_words

        return function_words()
    return read_words(Path(named))


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


def write_tables(publication: Publication, released: Released, names: Sequence[str] | None) -> None:
    """data.npz, and what says which word each column is. Dense tables take the narrowest whole numbers that hold them."""
    if sparse.issparse(released.counts):
        sparse.save_npz(publication.file(DATA), sparse.csr_matrix(released.counts))
    else:
        np.savez(publication.file(DATA), value=_narrow(released.counts))
    if names is not None:
        publication.file(VOCABULARY).write_text("\n".join(names) + "\n", encoding="utf-8")
    if released.groups is not None:
        weights = np.ones(len(released.groups)) if released.weights is None else released.weights
        np.savez_compressed(publication.file(GROUPS), groups=released.groups, weights=weights)


def write_documents(publication: Publication, documents: Sequence[dict[str, Any]]) -> None:
    """documents.jsonl: the id and the label of each row, where they were asked for."""
    if documents:
        lines = (json.dumps({"row": row, **values}, ensure_ascii=False) for row, values in enumerate(documents))
        publication.file(DOCUMENTS).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _narrow(counts: np.ndarray) -> np.ndarray:
    low, high = (int(counts.min()), int(counts.max())) if counts.size else (0, 0)
    kinds = (t for t in (np.int8, np.int16) if np.iinfo(t).min <= low and high <= np.iinfo(t).max)
    return counts.astype(next(kinds, np.int32), copy=False)


def public_parameters(mechanism: LimitedPrecision, job: CountsJob) -> dict[str, Any]:
    """The mechanism's own, with vectors and prior by the names they were asked for; the words stand in vocabulary.txt."""
    shown = mechanism.public_params()
    shown.pop("words", None)
    more = {} if job.without is None else {"without": Path(job.without).name}
    return {**shown, "vectors": job.vectors, "prior": job.parameters.get("prior", "noisy"), **more}


def _facts(publication: Publication, job: CountsJob, mechanism: LimitedPrecision, released: Released) -> Facts:
    """Public facts for the card: all of them are parameters, or follow from what was released."""
    spending, counts = mechanism.spending(), released.counts
    cells = counts.shape[0] * counts.shape[1]
    filled = counts.nnz if sparse.issparse(counts) else int(np.count_nonzero(counts))
    scale = mechanism.precision / spending.noise
    making = (
        f"noise of scale {scale:.4g} in each of {_noised_cells(mechanism, released)} cells per document, drawn exactly: "
        "delta 0",
        f"epsilon {upward(spending.total)} in total: {upward(spending.noise)} for the counts, "
        f"{upward(spending.corpus)} for corpus counts",
    )
    asked = f"the paper's budget rule asked for {mechanism.epsilon:g}; its true total is {upward(spending.total)}"
    return Facts(
        data=publication.data_facts(
            job.source, text_field=job.text_field, records=counts.shape[0], reading=_memory(job)
        ),
        counts=CountsFacts(
            scale,
            counts.shape[0],
            counts.shape[1],
            filled / cells if cells else 0.0,
            float(counts.sum()) / max(1, counts.shape[0]),
        ),
        making=making,
        beware=(asked,) if mechanism.budget == "paper" else (),
    )


def _memory(job: CountsJob) -> dict[str, str]:
    """How the texts were read, for whoever reads them again."""
    if is_matrix_file(job.source):
        return {}
    kind = readers.format_of(job.source, job.format)[0]
    return said_of(job, format=kind, label_field=job.label_field)


def _noised_cells(mechanism: LimitedPrecision, released: Released) -> int:
    return len(released.columns) if mechanism.compress is None else int(mechanism.compress)
