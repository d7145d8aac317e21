"""Make one release of every kind from small invented data, and pictures of every card: what to look at after a change.

    python scripts/make_cards.py -o /tmp/cards                        the folders, and an index of their cards
    python scripts/make_cards.py -o /tmp/cards --pictures             also PNGs: wide, narrow and as printed
    python scripts/make_cards.py -o /tmp/cards --only brr --only lm   some of them

takes two minutes on two cores, mostly for the models. Every release is made by the command that a user would give; each line
is printed. The people, contracts and letters are invented. `refuted` is the one exception: its promise is altered by hand
after it was made, since nothing that ships can be refuted. Pictures need chromium, printed ones pdftoppm (poppler-utils).
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from textveil.cli import run
from textveil.core import read_manifest
from textveil.core.release import write_manifest
from textveil.core.utility import Utility
from textveil.text import sample

PEOPLE = ("Anna", "Boris", "Clara", "David", "Emil", "Frieda")
TOWNS = ("Bern", "Oslo", "Paris", "Rome", "Madrid", "Vienna")
TOPICS = {
    "loan": "The bank refused my loan because the monthly rate was too high for my income.",
    "card": "My credit card was charged twice at the hotel and nobody answers the phone.",
    "account": "The account was closed without a letter and my money is gone since Monday.",
}
STATES = ("Ohio", "Texas", "Utah", "Maine", "Nevada", "Kansas")
FILLERS = (
    "The fee of {days} dollars is due within {days} days of the invoice.",
    "Either party may end this paper with {days} days of notice.",
    "Acme keeps the goods in {state} until they are paid.",
    "No waiver is valid unless it is signed by both parties.",
)

# name: commands, run one after the other in the folder of the input files
KINDS: dict[str, tuple[str, ...]] = {
    "brr": (
        "ledger new complaints.ledger --unit word --metric hamming --epsilon 0.8",
        "veil complaints.csv -o {out} --epsilon 0.5 --text-field text --columns label --ledger complaints.ledger",
    ),
    "laplace": (
        "veil complaints.csv -o {out} --mechanism words.laplace --epsilon 10 --text-field text --only-text "
        "--max-words 40 --ledger laplace.ledger",
    ),
    "once": (
        "veil letters.jsonl -o {out} --epsilon 0.5 --once --keep function-words --text-field text --ledger once.ledger",
    ),
    "masked": ("pii mask letters.jsonl -o {out} --model patterns --text-field text",),
    "paper-mode": (
        "veil letters.jsonl -o {out} --mechanism words.vickrey --epsilon 10 --paper-mode --text-field text --case keep",
    ),
    "draft": ("veil letters.jsonl -o {out} --epsilon 0.5 --seed 7 --text-field text",),
    "small-epsilon": ("veil letters.jsonl -o {out} --epsilon 0.01 --text-field text --ledger letters.ledger",),
    "counts": (
        "counts complaints.csv -o {out} --epsilon 1 --precision 10 --compress 50 --vocabulary-size 2000 --text-field text "
        "--ledger counts.ledger",
    ),
    "counts-paper": (
        "counts complaints.csv -o {out} --epsilon 0.5 --precision 10 --compress 50 --vocabulary-size 2000 --budget paper "
        "--text-field text",
    ),
    "open": ("hashed train contracts.jsonl --spans marked.jsonl -o {out} --bits 14 --ledger firm.ledger",),
    "sealed": (
        "hashed train contracts.jsonl --spans marked.jsonl -o to-seal --bits 14 --ledger seal.ledger",
        "hashed seal to-seal -o {out} --ledger seal.ledger",
    ),
    "sound": (
        "hashed train contracts.jsonl --spans marked.jsonl -o {out} --bits 14 --epsilon 2 --delta 1e-6 --unit paragraph "
        "--ledger sound.ledger",
    ),
    "tagger": (
        "train tagger notes.conll -o {out} --epsilon 3 --delta 1e-4 --epochs 12 --batch 256 --test public.conll "
        "--ledger notes.ledger",
    ),
    "classifier": (
        "train classifier complaints.jsonl -o {out} --epsilon 8 --delta 1e-4 --text-field text --label-field label "
        "--test public.jsonl --classes loan,card,account --ledger classes.ledger",
    ),
    "lm": (
        "train lm complaints.jsonl -o {out} --epsilon 4 --delta 1e-4 --epochs 4 --text-field text --test public.jsonl "
        "--unit user --user-field customer --examples 300",
    ),
    "vocab": (
        "train vocab complaints.jsonl -o {out} --epsilon 1 --delta 1e-6 --text-field text --size 300 --ledger words.ledger",
    ),
    "attacked": ("veil letters.jsonl -o {out} --epsilon 0.5 --text-field text --case keep", "audit {out}"),
    "published": (
        "veil letters.jsonl -o {out} --epsilon 0.5 --text-field text --ledger published.ledger",
        "audit {out} --truth letters.jsonl --publish --ledger published.ledger",
    ),
    "counts-attacked": (
        "counts complaints.csv -o {out} --epsilon 1 --vocabulary-size 500 --text-field text",
        "audit {out} --truth complaints.csv --publish",
    ),
    "sealed-attacked": (
        "hashed train contracts.jsonl --spans marked.jsonl -o to-attack --bits 14",
        "hashed seal to-attack -o {out}",
        "audit {out} --truth contracts.jsonl --spans marked.jsonl --publish",
    ),
    "useful": (
        "veil letters.jsonl -o {out} --epsilon 0.5 --text-field text",
        "audit {out} --attack words.bayes",
    ),
    "refuted": (
        "veil letters.jsonl -o {out} --mechanism words.laplace --epsilon 40 --text-field text",
        "alter {out}",
        "audit {out} --attack words.two_worlds",
    ),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--only", action="append", choices=list(KINDS))
    parser.add_argument("--pictures", action="store_true")
    asked = parser.parse_args()
    out = asked.out.absolute()
    made = make_cards(out, asked.only or list(KINDS))
    write_index(out, made)
    if asked.pictures:
        take_pictures([out / name / "card.html" for name in made], out / "pictures")
    print(f"look at {out / 'index.html'}")


def make_cards(out: Path, names: Iterable[str]) -> list[str]:
    """Run the commands of each kind; the names of those that came to a release."""
    inputs = out / "input"
    inputs.mkdir(parents=True, exist_ok=True)
    write_inputs(inputs)
    os.chdir(inputs)
    made = []
    for name in names:
        folder = out / name
        shutil.rmtree(folder, ignore_errors=True)
        for ledger in _ledgers(KINDS[name]):
            Path(ledger).unlink(missing_ok=True)
        if all(_is_done(command.format(out=folder)) for command in KINDS[name]):
            made.append(name)
            if name == "useful":
                add_utility(folder)
    return made


def _ledgers(commands: Iterable[str]) -> set[str]:
    """The ledgers that a kind charges: each run of it begins with new ones."""
    words = [word for command in commands for word in shlex.split(command)]
    return {word for word in words if word.endswith(".ledger")}


def _is_done(command: str) -> bool:
    print(f"$ textveil {command}", flush=True)
    arguments = shlex.split(command)
    if arguments[0] == "alter":
        claim_too_much(Path(arguments[1]))
        return True
    for place, argument in enumerate(arguments[:-1]):
        if argument == "-o":  # made again by every run
            shutil.rmtree(arguments[place + 1], ignore_errors=True)
    code = run(arguments)
    if code:
        print(f"exit code {code}", file=sys.stderr)
    return code == 0


def claim_too_much(folder: Path) -> None:
    """Write a hundredth of the true epsilon into the promise: an attack must then refute it."""
    manifest = read_manifest(folder)
    manifest["guarantee"]["loss"]["epsilon"] /= 100
    write_manifest(folder, manifest)


def add_utility(folder: Path) -> None:
    """Rows of utility as `textveil measure --publish` writes them; invented, to see how they look."""
    uses = [
        Utility(
            "classify by topic", "accuracy", 0.711, 0.768, 0.279, (0.69, 0.73), {"train": 4000, "test": 1000},
            "TF-IDF and logistic regression", True,
        ),
        Utility("find the nearest letter", "recall at 10", 0.32, 0.81, 0.1, (0.28, 0.36), {"queries": 500}, "", True),
        Utility("words that stayed", "share", 0.27, 1.0, None, notes=("common words stay more often than rare ones",)),
    ]  # fmt: skip
    write_manifest(folder, {**read_manifest(folder), "utility": [use.to_json() for use in uses]})


# ---- input ----------------------------------------------------------------------------------------------------------


def write_inputs(folder: Path) -> None:
    """All invented files."""
    rows = [_complaint(n) for n in range(600)]
    _jsonl(folder / "complaints.jsonl", rows)
    _jsonl(folder / "public.jsonl", [_complaint(n) for n in range(600, 690)])
    lines = [",".join(rows[0])] + [",".join(f'"{value}"' for value in row.values()) for row in rows[:120]]
    (folder / "complaints.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "letters.jsonl").write_bytes(sample.path().read_bytes())
    for name, first, last in (("notes.conll", 0, 1200), ("public.conll", 1200, 1300)):
        (folder / name).write_text("\n".join(map(_sentence, range(first, last))), encoding="utf-8")
    contracts = [_contract(n) for n in range(40)]
    _jsonl(folder / "contracts.jsonl", [{"id": c["id"], "text": c["text"]} for c in contracts])
    _jsonl(folder / "marked.jsonl", [{"id": c["id"], **c["span"]} for c in contracts])


def _complaint(n: int) -> dict[str, Any]:
    label = list(TOPICS)[n * 7 % 3]
    name, town = PEOPLE[n % 6], TOWNS[n * 5 % 6]
    text = f"{TOPICS[label]} I live in {town} since {_year(n, 600)}. {name} told me to write."
    return {"id": str(n), "text": text, "city": town, "customer": f"{name} {n % 50}", "label": label}


def _sentence(n: int) -> str:
    return f"{PEOPLE[n % 6]} B-PER\nlives O\nin O\n{TOWNS[n * 5 % 6]} B-LOC\nsince O\n{_year(n, 1200)} O\n"


def _year(n: int, private: int) -> int:
    """Public texts, the later ones, name other years: none of them is a private one."""
    return 1950 + n % 70 if n < private else 2020 + n % 6


def _contract(n: int) -> dict[str, Any]:
    words = {"days": 10 + n, "state": STATES[n * 5 % 6]}
    law = f"This paper is governed by the laws of the State of {words['state']}."
    parts = [f"{1 + k}. " + FILLERS[(n + k) % 4].format(**words) for k in range(4)]
    parts.insert(n % 4, f"9. Governing Law. {law}")
    text = f"AGREEMENT number {n}\n\n" + "\n\n".join(parts)
    start = text.index(law)
    return {"id": str(n), "text": text, "span": {"start": start, "end": start + len(law), "label": "Governing Law"}}


def _jsonl(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


# ---- pictures -------------------------------------------------------------------------------------------------------


def write_index(out: Path, names: Iterable[str]) -> None:
    """A page of links to all cards."""
    links = "".join(f'<li><a href="{name}/card.html">{name}</a></li>' for name in names)
    (out / "index.html").write_text(f"<!doctype html><title>Cards</title><ul>{links}</ul>", encoding="utf-8")


def take_pictures(cards: Iterable[Path], folder: Path) -> None:
    """NAME-wide.png, NAME-narrow.png, and NAME-print-1.png and so on."""
    folder.mkdir(parents=True, exist_ok=True)
    for card in cards:
        name = card.parent.name
        for kind, width in (("wide", 1200), ("narrow", 390)):
            _browse(card, f"--screenshot={folder / f'{name}-{kind}.png'}", f"--window-size={width},{_height(kind)}")
        printed = folder / f"{name}.pdf"
        _browse(card, f"--print-to-pdf={printed}", "--no-pdf-header-footer")
        if shutil.which("pdftoppm"):
            _quietly(["pdftoppm", "-r", "60", "-png", str(printed), str(folder / f"{name}-print")])


def _height(kind: str) -> int:
    return 4200 if kind == "wide" else 7600


def _browse(card: Path, *options: str) -> None:
    with tempfile.TemporaryDirectory() as profile:
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        _quietly([*command, "--hide-scrollbars", f"--user-data-dir={profile}", *options, card.as_uri()])


def _quietly(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    main()
