"""The journey of fragments: read and align, charge, cut, drop, shuffle, release.

    read      the whole text once: bad input costs nothing; words become numbers in the folder of unfinished work
    align     rounds of EM over these numbers, on the private text itself or on public text (`align_on`); or links of
    a file charge    an unpriced line, or with epsilon what the threshold costs cut       the text again, batch by
    batch; what is kept goes to files in a random order release   the rows in a uniform order

Memory holds a batch, the vocabulary and a lexicon of fixed size. A run that is stopped is begun anew by the same
command, and not charged again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from textveil.accounting import check_delta
from textveil.core import BadInput, Shape
from textveil.core.facts import Facts
from textveil.core.mechanism import passes_of
from textveil.core.params import choice, needs
from textveil.fragments.cutter import Aligns, Cutter, batches
from textveil.fragments.decoys import decoys_of
from textveil.fragments.frequent import PhraseCounts, rows_of
from textveil.fragments.mechanism import Fragments, drawn_key, tagged
from textveil.fragments.sentences import LONGEST, TOKENS
from textveil.fragments.shuffle import Shuffle
from textveil.recipes.fragments.audit import reading_of
from textveil.recipes.fragments.card import fragment_facts, making_lines
from textveil.recipes.fragments.linking import ALIGNERS, LinkSource, open_links
from textveil.recipes.fragments.name_filter import name_marks, read_glossary
from textveil.recipes.pii.recogniser_choice import RecogniserChoice
from textveil.recipes.progress import Bar
from textveil.recipes.publish import Publication, publish_job
from textveil.text.pairs import PairFile

DATA = "data.jsonl"
FIELDS = ("source", "target", "count")


@dataclass(frozen=True)
class FragmentsJob:
    """One parallel text to cut. `fragments` has the settings; its aligner is chosen here."""

    file: PairFile
    out: Path
    fragments: Fragments
    symmetry: str = "union"
    alignment: Path | None = None  # Pharaoh: links of each sentence pair
    align_on: PairFile | None = None  # public text that the aligner learns from
    aligner: str = "built-in"  # one of ALIGNERS
    names: RecogniserChoice | None = None
    glossary: Path | None = None
    allow_large_delta: bool = False
    seed: int | None = None
    ledger: Path | None = None
    other_data: bool = False
    unpriced: bool = False

    def check(self) -> None:
        """Refuse what cannot be done, before anything is read."""
        self.fragments.check()
        if self.alignment is not None and self.align_on is not None:
            raise BadInput("--alignment and --align-on exclude each other", possible="one of them")
        if choice("aligner", self.aligner, ALIGNERS) == "eflomal" and (self.alignment or self.align_on):
            raise BadInput("eflomal aligns the text itself", possible="no --alignment and no --align-on")
        if self.aligner == "hmm" and self.alignment:
            raise BadInput("--alignment gives the links, so --aligner hmm has none to find", possible="one of them")
        if self.fragments.epsilon is not None and self.alignment is None and self.align_on is None:
            raise BadInput(
                "with --epsilon the aligner must not learn from the private text, since each sentence pair would then "
                "change the phrases of all others",
                possible="--align-on with public parallel text, or --alignment with links made without the private text",
            )


@dataclass
class Read:
    """What the first pass tells."""

    pairs: int = 0
    empty: int = 0  # sentence pairs with an empty side
    glued: int = 0  # words that end in punctuation, where words are divided at blanks
    words: int = 0
    notices: list[str] = field(default_factory=list)


def make_fragments(job: FragmentsJob, *, bar: Bar) -> dict[str, Any]:
    """Cut a parallel text into a release folder and return what to print."""
    needs("fragments", "numba")
    job.check()
    mechanism = job.fragments
    glossary = read_glossary(job.glossary)
    recogniser = None if job.names is None else job.names.open()
    with publish_job(job, f"fragments make {job.file.path.name}", seed=job.seed) as publication:
        reader, fingerprint, seen = job.file.open(), publication.account.fingerprint(), Read()
        links = open_links(job, publication.work("align"))
        with bar("reading", None, "pairs") as advance:
            for sources, targets in batches(_pairs(job, reader, fingerprint, seen)):
                links.learn(sources, targets)
                advance(len(sources))
        links.check_read()
        if mechanism.epsilon is not None:
            check_delta(mechanism.delta, seen.pairs, allow=job.allow_large_delta)
        parameters = {**mechanism.public_params(), **_public_facts(job)}
        paid = publication.account.charge(
            mechanism.event(Shape()),
            data=fingerprint.hexdigest(),
            binding=publication.bound(source=reader.binding(), parameters=parameters),
        )
        align = links.ready(bar)
        noise = paid.noise()
        marks = None if recogniser is None else name_marks(recogniser)
        cutter = Cutter(mechanism.policy(), align, drawn_key(noise), mechanism.tokens, marks, glossary)
        rows = _cut(job, publication, cutter, noise, seen, links, bar)
        links.remove()
        release = publication.finish(
            paid,
            mechanism.name,
            parameters,
            DATA,
            delta=None if mechanism.epsilon is None else mechanism.delta,
            passes=passes_of(mechanism),
            facts=fragment_facts(
                publication.data_facts(job.file.path, reading=reading_of(job.file)),
                mechanism,
                rows,
                making_lines(job, cutter),
            ),
        )
    result = publication.result(release)
    return {
        **result,
        "notices": [*result["notices"], *_notices(job, seen, cutter)],
        "pairs": seen.pairs,
        "phrases": cutter.counts["phrases"],
        "with_names": cutter.counts["with names"],
        "released": rows,
        "private_report": {"pairs": seen.pairs, "phrases": cutter.counts["phrases"], "empty": seen.empty},
    }


def _facts(job: FragmentsJob, publication: Publication, rows: int, cutter: Cutter) -> Facts:
    data = publication.data_facts(job.file.path, reading=reading_of(job.file))
    return fragment_facts(data, job.fragments, rows, making_lines(job, cutter))


def _public_facts(job: FragmentsJob) -> dict[str, Any]:
    return {
        "symmetry": job.symmetry,
        "aligner": "links of a file" if job.alignment else job.aligner,
        "aligned_on": "links of a file" if job.alignment else "public text" if job.align_on else "the text itself",
        "names": None if job.names is None else list(job.names.models),
        "glossary": job.glossary is not None,
    }


def _pairs(job: FragmentsJob, reader: Any, fingerprint: Any, seen: Read) -> Iterator[tuple[str, str]]:
    """The sentence pairs of the first pass, counted and fingerprinted; repeated ones are left out where that is asked."""
    for pair in unique_pairs(reader, job.fragments.unique):
        fingerprint.update(pair.source).update(pair.target)
        seen.pairs += 1
        words = pair.source.split()
        seen.empty += not words or not pair.target.strip()
        seen.words += len(words)
        seen.glued += sum(len(w) > 1 and w[-1] in ".,;:!?" and w[-2].isalpha() for w in words)
        yield pair.source, pair.target
    if seen.empty == seen.pairs:
        raise BadInput("holds no sentence pair with words on both sides", where=job.file.path)


def unique_pairs(reader: Any, unique: bool) -> Iterator[Any]:
    """Sentence pairs as they come, or each once: remembered by 16 bytes."""
    if not unique:
        yield from reader
        return
    known = set[bytes]()
    for pair in reader:
        mark = hashlib.blake2b(f"{pair.source}\0{pair.target}".encode(), digest_size=16).digest()
        if mark not in known:
            known.add(mark)
            yield pair


def _notices(job: FragmentsJob, seen: Read, cutter: Cutter) -> Iterator[str]:
    if seen.empty:
        yield f"{seen.empty:,} sentence pairs have an empty side and give no phrase"
    if cutter.counts["overlong"]:
        overlong = cutter.counts["overlong"]
        yield f"{overlong:,} sentence pairs have a side of more than {LONGEST} words; our aligner leaves them out"
    if job.fragments.tokens == TOKENS[0] and seen.glued > 0.03 * max(seen.words, 1):
        yield "many words end in punctuation: this text is not tokenised (--tokens words cuts punctuation off)"


def _cut(
    job: FragmentsJob, publication: Publication, cutter: Cutter, noise: Any, seen: Read, links: LinkSource, bar: Bar
) -> int:
    """Write what leaves, and return the number of rows."""
    if job.fragments.epsilon is not None:
        return _write(publication, job, iter(_frequent(job, publication, cutter, noise, seen, links, bar)))
    order = Shuffle(publication.work("rows"), noise)
    for sources, targets in _again(job, seen, "cutting", links, bar):
        cut = cutter.kept(cutter.cut(sources, targets), noise)
        order.add([*zip(cut.source, cut.target, strict=True)])
    return _write(publication, job, _with_decoys(job, order, noise))


def _with_decoys(job: FragmentsJob, order: Shuffle, noise: Any) -> Iterator[list[Any]]:
    own = job.fragments
    for rows in order.groups():
        extra = decoys_of(rows, round(own.decoys * len(rows)), own.longest, own.longest_target or own.longest, noise)
        every = [*rows, *extra]
        yield from (every[i] for i in noise.permutation(len(every))) if extra else rows


def _frequent(
    job: FragmentsJob, publication: Publication, cutter: Cutter, noise: Any, seen: Read, links: LinkSource, bar: Bar
) -> list[list[Any]]:
    """Count types, draw, and cut a second time to spell those that are shown."""
    counts, number = PhraseCounts(job.fragments.noising(), noise, publication.work("types.u64")), 0
    for sources, targets in _again(job, seen, "counting", links, bar):
        cut = cutter.cut(sources, targets)
        counts.add(cut.pairs.astype(np.uint64) + np.uint64(number), cutter.digests(cut))
        number += len(sources)
    shown, rows = counts.shown(), list[list[Any]]()
    cutter.counts.update(dict.fromkeys(cutter.counts, 0))
    for sources, targets in _again(job, seen, "writing", links, bar):
        cut = cutter.cut(sources, targets)
        rows += rows_of(cut, cutter.digests(cut), shown)
    return sorted(rows)


def _again(
    job: FragmentsJob, seen: Read, title: str, links: LinkSource, bar: Bar
) -> Iterator[tuple[list[str], list[str]]]:
    """The text from its beginning, with the links of a file beside it."""
    links.rewind()
    count = 0
    pairs = unique_pairs(job.file.open(), job.fragments.unique)
    with bar(title, seen.pairs, "pairs") as advance:
        for sources, targets in batches((pair.source, pair.target) for pair in pairs):
            count += len(sources)
            yield sources, targets
            advance(len(sources))
    if count != seen.pairs:
        raise BadInput("changed while it was read", where=job.file.path)


def _write(publication: Publication, job: FragmentsJob, rows: Iterator[list[Any]]) -> int:
    count = 0
    with open(publication.file(DATA), "w", encoding="utf-8") as out:
        for row in rows:
            count += 1
            shown = tagged(row) if job.fragments.tags else row
            out.write(json.dumps(dict(zip(FIELDS, shown, strict=False)), ensure_ascii=False) + "\n")
    return count


__all__ = ["Aligns", "FragmentsJob", "make_fragments", "unique_pairs"]
