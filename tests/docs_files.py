"""Small invented files of the names that the pages use. Nobody in them exists."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from conftest import make_contracts

from textveil.text import sample

PEOPLE = ("Anna", "Boris", "Clara", "David", "Emil", "Frieda")
TOWNS = ("Bern", "Oslo", "Paris", "Rome", "Madrid", "Vienna")
TOPICS = {
    "loan": "The bank refused my loan because the monthly rate was too high for my income.",
    "card": "My credit card was charged twice at the hotel and nobody answers the phone.",
    "account": "The account was closed without a letter and my money is gone since Monday.",
}
WARDS = (
    "The patient from {town} has had a strong cough and fever for {n} days.",
    "Doctor {name} saw a child with a broken arm in {town} after a fall at school.",
    "Blood pressure is high again, {name} was told to rest and to come back in {n} weeks.",
)


def _texts(count: int) -> Iterable[dict[str, Any]]:
    for n in range(count):
        label = list(TOPICS)[n % 3]
        name, town = PEOPLE[n % 6], TOWNS[n * 5 % 6]
        text = f"{TOPICS[label]} I live in {town}. {name} told me to write to you."
        yield {"id": str(n), "text": text, "city": town, "customer": name, "label": label}


def _notes(count: int) -> Iterable[dict[str, Any]]:
    for n in range(count):
        text = WARDS[n % 3].format(name=PEOPLE[n % 6], town=TOWNS[n * 5 % 6], n=n % 9 + 1)
        yield {"id": str(n), "text": text, "label": ("cough", "arm", "pressure")[n % 3], "author": PEOPLE[n % 6]}


def _jsonl(rows: Iterable[dict[str, Any]], path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _csv(rows: Iterable[dict[str, Any]], path: Path) -> None:
    listed = list(rows)
    lines = [",".join(listed[0])] + [",".join(f'"{value}"' for value in row.values()) for row in listed]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _excel(path: Path) -> None:
    """As Excel saves it in German: semicolons, cp1252, Windows line ends."""
    rows = [("Nr", "Nachricht", "Ort"), *((row["id"], f"{row['text']} Grüße!", row["city"]) for row in _texts(20))]
    path.write_bytes("".join(";".join(row) + "\r\n" for row in rows).encode("cp1252"))


def _conll(count: int, path: Path, verb: str = "lives") -> None:
    sentences = (f"{PEOPLE[n % 6]} B-PER\n{verb} O\nin O\n{TOWNS[n * 5 % 6]} B-LOC\n" for n in range(count))
    path.write_text("\n".join(sentences), encoding="utf-8")


def _contracts(path: Path, *, marked: bool, first: int = 0, last: int = 30) -> None:
    rows: list[dict[str, Any]] = []
    for n, (text, spans) in enumerate(make_contracts(last)):
        if n < first:
            continue
        if marked:
            rows += [{"id": str(n), "start": a, "end": b, "label": "Governing Law"} for a, b in spans]
        else:
            rows.append({"id": str(n), "text": text})
    _jsonl(rows, path)


def _vectors(path: Path) -> None:
    words = sorted({w.lower() for row in _texts(18) for w in row["text"].replace(".", "").split()})
    path.write_text(
        "".join(f"{w} {' '.join(str((i * k) % 7 - 3.0) for k in range(1, 9))}\n" for i, w in enumerate(words))
    )


def _biographies(count: int) -> Iterable[dict[str, Any]]:
    for n in range(count):
        name, other, town = PEOPLE[n % 6], PEOPLE[(n + 1) % 6], TOWNS[n % 6]
        yield {
            "id": str(n),
            "text": f"{name} Berg (born {n + 1} May 1950) lives in {town}. {name} married {other} Lang.",
        }


def _people(count: int) -> Iterable[dict[str, Any]]:
    for n in range(count):
        name, other = PEOPLE[n % 6], PEOPLE[(n + 1) % 6]
        yield {"id": str(n), "name": f"{name} Berg", "born": f"1950-05-{n + 1:02}", "spouse": [f"{other} Lang"]}


def _checked(count: int) -> Iterable[dict[str, Any]]:
    for row, person in zip(_biographies(count), _people(count), strict=True):
        for label, words in (("BD", f"{int(row['id']) + 1} May 1950"), ("SP", person["spouse"][0])):
            start = row["text"].index(words)
            yield {"id": row["id"], "start": start, "end": start + len(words), "label": label}


def _pages(count: int) -> Iterable[dict[str, Any]]:
    for person in _people(count):
        cell = f"<tr><th>Spouse(s)</th><td>{person['spouse'][0]}<sup>[1]</sup></td></tr>"
        yield {"id": person["id"], "text": f'<table class="infobox">{cell}</table>'}


LETTERS_IN_GERMAN = ("Ich habe der Bank einen Brief geschrieben.", "Für die Gebühr zahlen Müller und Straße über Bern.")


def _german_vectors(path: Path) -> None:
    words = sorted({w.lower().strip(".") for letter in LETTERS_IN_GERMAN for w in letter.split()})
    rows = (f"{w} {' '.join(str((i * k) % 7 - 3.0) for k in range(1, 9))}" for i, w in enumerate(words, start=1))
    path.write_text("\n".join([f"{len(words)} 8", *rows]) + "\n", encoding="utf-8")


FILES: dict[str, Callable[[Path], object]] = {
    "biographies.jsonl": lambda path: _jsonl(_biographies(12), path),
    "people.jsonl": lambda path: _jsonl(_people(12), path),
    "checked.jsonl": lambda path: _jsonl(_checked(12), path),
    "pages.jsonl": lambda path: _jsonl(_pages(12), path),
    "complaints.csv": lambda path: _csv(_texts(60), path),
    "complaints.jsonl": lambda path: _jsonl(_texts(60), path),
    "messages.jsonl": lambda path: _jsonl(_texts(40), path),
    "letters.jsonl": lambda path: path.write_bytes(sample.path().read_bytes()),
    "reviews.jsonl": lambda path: _jsonl(_texts(60), path),
    "posts.jsonl": lambda path: _jsonl(({**row, "user": f"u{n % 30}"} for n, row in enumerate(_texts(90))), path),
    "notes.jsonl": lambda path: _jsonl(_notes(120), path),
    "notes.conll": lambda path: _conll(120, path),
    "public.conll": lambda path: _conll(24, path, "works"),
    "contracts.jsonl": lambda path: _contracts(path, marked=False),
    "marked.jsonl": lambda path: _contracts(path, marked=True),
    "new.jsonl": lambda path: _contracts(path, marked=False, first=30, last=36),
    "new-marked.jsonl": lambda path: _contracts(path, marked=True, first=30, last=36),
    "export.csv": _excel,
    "unclear.csv": lambda path: path.write_text("1;a letter\n2;a card\n"),
    "states.txt": lambda path: path.write_text("Delaware\nNevada\nOhio\nTexas\nUtah\nMaine\nIdaho\nKansas\n"),
    "glove.6B.100d.txt": _vectors,
    "keep.txt": lambda path: path.write_text("Bern\nOslo\n"),
    "wiki.de.vec": _german_vectors,
    "briefe.txt": lambda path: path.write_text("\n".join(LETTERS_IN_GERMAN) + "\n", encoding="utf-8"),
}


def write_files(names: Iterable[str], folder: Path) -> None:
    """Those of the invented files that are named."""
    for name in set(names) & set(FILES):
        FILES[name](folder / name)
