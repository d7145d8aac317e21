"""The journey of a vocabulary: read, check, charge, draw, merge, write.

The folder holds `model/` (a Hugging Face tokenizer), `words.tsv` (the released words with their noisy counts),
release.json and card.html. How well it fits the private texts, beside a vocabulary made without privacy, is computed
from the private texts: it is printed for whoever holds them and is no part of the release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil.accounting import check_delta
from textveil.core import BadInput, Event
from textveil.core.facts import Facts
from textveil.core.fingerprint import Fingerprint
from textveil.core.params import needs
from textveil.recipes.progress import Bar
from textveil.recipes.publish import Publication, publish_job
from textveil.recipes.read_again import said_of
from textveil.text import readers
from textveil.text.examples import name_of
from textveil.text.formats.piped import source_name
from textveil.training import vocabulary_wordpiece as pieces
from textveil.training.vocabulary import Noising, Vocabulary, facts
from textveil.training.vocabulary_public import filled, public_frequencies
from textveil.training.vocabulary_words import Words

WORDS = "words.tsv"
_PER_STEP = 500


@dataclass(frozen=True)
class VocabJob(readers.FileOptions):
    """One file of texts and the vocabulary that is wanted."""

    source: Path
    out: Path
    vocabulary: Vocabulary
    size: int = 8000
    public_words: str = "default"
    user_field: str | None = None
    ledger: Path | None = None
    other_data: bool = False
    unpriced: bool = False
    allow_large_delta: bool = False
    seed: int | None = None
    compare: bool = True


def make_vocabulary(job: VocabJob, *, bar: Bar) -> dict[str, Any]:
    """Release a vocabulary into a folder and return what to print."""
    needs("training", "tokenizers")
    _check(job)
    public = public_frequencies(job.public_words)
    with publish_job(job, f"train vocab {job.source.name}", seed=job.seed) as publication:
        fingerprint = publication.account.fingerprint()
        units = read_units(job, fingerprint, bar)
        own, event, parameters = job.vocabulary.noising(), job.vocabulary.event(), _parameters(job)
        check_delta(job.vocabulary.delta, len(units), allow=job.allow_large_delta)
        paid = publication.account.charge(
            event,
            data=fingerprint.hexdigest(),
            binding=publication.bound(
                source=source_name(job.source), parameters=parameters, fields=[job.text_field, job.user_field]
            ),
        )
        with bar("counting and merging", None, ""):
            counts = job.vocabulary.apply(units, noise=paid.noise())
            tokenizer = tokenizer_from(counts, own, size=job.size, public=public)
        write_files(publication, counts, tokenizer)
        release = publication.finish(
            paid,
            job.vocabulary.name,
            parameters,
            "model",
            delta=job.vocabulary.delta,
            facts=Facts(
                data=publication.data_facts(job.source, text_field=job.text_field, reading=said_of(job)),
                making=tuple(_making(own, len(counts), tokenizer.get_vocab_size())),
            ),
        )
    result = {
        **publication.result(release),
        "words": len(counts),
        "pieces": tokenizer.get_vocab_size(),
        "noise": facts(own),
        "protects": protects(event),
    }
    if job.compare:
        result["private_report"] = compare(tokenizer, units, job.size)
    return result


def tokenizer_from(counts: dict[str, float], own: Noising, *, size: int, public: dict[str, float]) -> Any:
    """The tokenizer of released counts, free pieces filled with public words: post-processing."""
    return pieces.wordpiece(filled(counts, public, own.threshold()), size)


def protects(event: Event) -> str:
    """What the promise is about, in one sentence.

    >>> protects(Vocabulary(method="paper").event())
    'one occurrence of one word; an example of 256 words has a loss of up to 256 times epsilon'
    """
    if event.mechanism == "training.vocab" and str(event.unit) == "word":
        return "one occurrence of one word; an example of 256 words has a loss of up to 256 times epsilon"
    return event.unit.phrase


def _check(job: VocabJob) -> None:
    if job.size < pieces.smallest_size():
        raise BadInput(f"size must be {pieces.smallest_size()} or more (public alphabet), not {job.size}")
    if job.vocabulary.unit == "user" and job.user_field is None:
        raise BadInput("the unit 'user' needs the field that names the user", possible="--user-field FIELD")
    if job.vocabulary.unit == "user" and job.vocabulary.method == "paper":
        raise BadInput("the paper's rule protects one word, not a user", possible="--method gaussian or policy")
    job.vocabulary.noising()


def read_units(job: VocabJob, fingerprint: Fingerprint, bar: Bar) -> list[list[str]]:
    """The words of each unit; the fingerprint is fed with the texts."""
    users = () if job.vocabulary.unit == "example" else (str(job.user_field),)
    reader = readers.open_reader(job.source, fields=users, columns=(), **job.reading())
    split = Words()
    units: dict[str, list[str]] = {}
    with bar("reading", reader.size, "bytes") as advance:
        seen = 0
        for number, record in enumerate(reader, start=1):
            fingerprint.update(record.text)
            whose = str(number)
            if users:
                whose = name_of(record.fields[users[0]], job.source, reader.record_line, users[0])
            units.setdefault(whose, []).extend(split(record.text))
            if number % _PER_STEP == 0:
                advance(reader.bytes_read - seen)
                seen = reader.bytes_read
    if not units:
        raise BadInput("holds no text", where=job.source)
    return list(units.values())


def write_files(publication: Publication, counts: dict[str, float], tokenizer: Any) -> None:
    pieces.save_folder(tokenizer, publication.file("model"))
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    lines = "".join(f"{word}\t{count:.6g}\n" for word, count in ranked)
    publication.file(WORDS).write_text(lines, encoding="utf-8")


def _parameters(job: VocabJob) -> dict[str, Any]:
    own = job.vocabulary.noising()
    shown = {**job.vocabulary.public_params(), "method": own.method, "distinct": own.distinct, "size": job.size}
    return {**shown, "public_words": "file" if _is_file(job.public_words) else job.public_words}


def _is_file(named: str) -> bool:
    return named not in ("default", "none")


def _making(own: Noising, words: int, size: int) -> Iterator[str]:
    yield f"{words:,} words shown, {size:,} pieces"
    yield f"a word is shown from a noisy count of {own.threshold():.4g} on (delta {own.threshold_delta:.3g} of the promise)"
    if own.method == "paper":
        yield "the paper's rule: protects one occurrence of one word, not an example and not a person"
    else:
        yield f"each unit counts at most {own.distinct} different words, each once"


def compare(made: Any, units: Sequence[Sequence[str]], size: int) -> dict[str, float]:
    """Fit on the private texts beside a vocabulary made without privacy. Private: for the holder of the texts only."""
    counted = Counter(word for unit in units for word in unit)
    ours, plain = (pieces.fit_of_counts(t, counted) for t in (made, pieces.wordpiece(counted, size)))
    return {
        "words": ours.words,
        "tokens_per_word": ours.tokens_per_word,
        "tokens_per_word_without_privacy": plain.tokens_per_word,
        "ratio": ours.tokens_per_word / plain.tokens_per_word,
        "unknown": ours.unknown_share,
        "unknown_without_privacy": plain.unknown_share,
        "coverage": ours.coverage,
        "coverage_without_privacy": plain.coverage,
    }


__all__ = ["VocabJob", "compare", "make_vocabulary", "protects", "read_units", "tokenizer_from"]
