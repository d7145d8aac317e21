"""The journey of a vocabulary: read, check, charge, draw, merge, write.

The folder holds `model/` (a Hugging Face tokenizer), `words.tsv` (the released words with their noisy counts),
release.json and card.html. How well it fits the private texts, beside a vocabulary made without privacy, is computed
from the private texts: it is printed for whoever holds them and is no part of the release.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil.accounting import guarantee_of
from textveil.core import BadInput, Event, Guarantee, NoPromise, Payload, Release, Stamp
from textveil.core.fingerprint import Fingerprint
from textveil.core.params import needs
from textveil.core.release import check_free, new_folder, write_manifest
from textveil.noise import source_for
from textveil.recipes.charging import charge, ledger_key
from textveil.recipes.veil import Bar, check_writable
from textveil.text import readers
from textveil.text.documents import Record
from textveil.training import vocabulary_wordpiece as pieces
from textveil.training.vocabulary import Noising, Vocabulary, facts
from textveil.training.vocabulary_public import filled, public_frequencies
from textveil.training.vocabulary_words import Words

WORDS = "words.tsv"
_PER_STEP = 500


@dataclass(frozen=True)
class VocabJob:
    """One file of texts and the vocabulary that is wanted."""

    source: Path
    out: Path
    vocabulary: Vocabulary
    size: int = 8000
    public_words: str = "default"
    text_field: str | None = None
    user_field: str | None = None
    format: str | None = None
    ledger: Path | None = None
    other_data: bool = False
    seed: int | None = None
    compare: bool = True


def make_vocabulary(job: VocabJob, *, bar: Bar) -> dict[str, Any]:
    """Release a vocabulary into a folder and return what to print."""
    needs("training", "tokenizers")
    _check(job)
    key = ledger_key(job.ledger)
    public = public_frequencies(job.public_words)
    units, fingerprint = read_units(job, key, bar)
    own, event = job.vocabulary.noising(), job.vocabulary.event()
    with new_folder(job.out) as hidden:
        entry = charge(
            job.ledger,
            key,
            event,
            f"train vocab {job.source.name}",
            fingerprint=fingerprint,
            other_data=job.other_data,
        )
        with bar("counting and merging", None, ""):
            counts = job.vocabulary.apply(units, noise=source_for(job.seed))
            made = tokenizer_from(counts, own, size=job.size, public=public)
        write_files(hidden, counts, made)
        release = _release(job, event, entry, own, len(counts), made.get_vocab_size(), hidden)
        write_manifest(hidden, release.manifest("model"))
    result = {
        "out": str(job.out),
        "words": len(counts),
        "pieces": made.get_vocab_size(),
        "entry": entry,
        "draft": job.seed is not None,
        "noise": facts(own),
        "promise": release.guarantee.loss.sentence(),
        "protects": protects(event),
        "guarantee": release.guarantee.to_json(),
    }
    if job.compare:
        result["private_report"] = compare(made, units, job.size)
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
    check_free(job.out)
    check_writable(job.out)
    if job.size < pieces.smallest_size():
        raise BadInput(f"size must be {pieces.smallest_size()} or more (public alphabet), not {job.size}")
    if job.vocabulary.unit == "user" and job.user_field is None:
        raise BadInput("the unit 'user' needs the field that names the user", possible="--user-field FIELD")
    if job.vocabulary.unit == "user" and job.vocabulary.method == "paper":
        raise BadInput("the paper's rule protects one word, not a user", possible="--method gaussian or policy")
    job.vocabulary.noising()


def read_units(job: VocabJob, key: bytes, bar: Bar) -> tuple[list[list[str]], str]:
    """The words of each unit, and the fingerprint that binds a ledger to this data."""
    reader = readers.open_reader(job.source, format=job.format, text_field=job.text_field)
    split, mark = Words(), Fingerprint(key)
    units: dict[str, list[str]] = {}
    with bar("reading", reader.size, "bytes") as advance:
        seen = 0
        for number, record in enumerate(reader, start=1):
            mark.update(record.text)
            whose = (
                str(number) if job.vocabulary.unit == "example" else user_of(record, job.user_field or "", job, number)
            )
            units.setdefault(whose, []).extend(split(record.text))
            if number % _PER_STEP == 0:
                advance(reader.bytes_read - seen)
                seen = reader.bytes_read
    if not units:
        raise BadInput("holds no text", where=job.source)
    return list(units.values()), mark.hexdigest()


def user_of(record: Record, field: str, job: VocabJob, number: int) -> str:
    """The user of a jsonl record."""
    try:
        value = json.loads(record.row[0])[field]
    except (TypeError, ValueError, IndexError):
        raise BadInput("--user-field is read from jsonl files only", where=job.source) from None
    except KeyError:
        raise BadInput("is missing", where=job.source, line=number, field=field) from None
    if not isinstance(value, (str, int)):
        raise BadInput("is neither a string nor a whole number", where=job.source, line=number, field=field)
    return str(value)


def write_files(folder: Path, counts: dict[str, float], made: Any) -> None:
    pieces.save_folder(made, folder / "model")
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    (folder / WORDS).write_text("".join(f"{word}\t{count:.6g}\n" for word, count in ranked), encoding="utf-8")


def _release(
    job: VocabJob, event: Event, entry: str | None, own: Noising, words: int, size: int, hidden: Path
) -> Release:
    guarantee = guarantee_of(event, delta=job.vocabulary.delta)
    if job.seed is not None:
        why = NoPromise("drawn with a seed", "seeded")
        guarantee = Guarantee(why, event.unit, event.adjacency, event.assumes, event.source)
    v = job.vocabulary
    parameters = {
        "epsilon": v.epsilon,
        "delta": v.delta,
        "unit": v.unit,
        "method": own.method,
        "distinct": own.distinct,
    }
    parameters |= {"size": job.size, "public_words": "file" if _is_file(job.public_words) else job.public_words}
    stamp = Stamp.now(
        v.name, parameters, draft=job.seed is not None, facts={"policies": list(_policies(own, words, size))}
    )
    return Release(Payload(hidden / "model", "model"), event, guarantee, entry, stamp)


def _is_file(named: str) -> bool:
    return named not in ("default", "none")


def _policies(own: Noising, words: int, size: int) -> Iterator[str]:
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


__all__ = ["VocabJob", "compare", "make_vocabulary", "protects", "read_units", "tokenizer_from", "user_of"]
