"""Every journey that ends in a release, as a command on small invented data with a planted secret.

A journey is listed here by the function that opens the way out (`publish`) or charges by itself; `test_law.py` finds all such
functions in the source, and one that is missing here fails. `write(folder, variant)` makes the input: variant 0 is the data,
variant 1 another data set. The command is run in the folder; `{out}` stands for the place of the release.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from textveil.text import vectors

SECRET = "zyxwqprivate"  # a word that no vocabulary holds; one for the plain input, in every journey
SEED = 918_273_645  # found nowhere on disk
LEDGER = "l.ledger"
WORDS = "the fee is due law of state may rent bank letter year good bad fine poor".split()


@dataclass(frozen=True)
class Journey:
    """A command and its input."""

    function: str  # module.function that publishes or charges
    command: tuple[str, ...]
    write: Callable[[Path, int], None]
    columns: tuple[str, ...] = ()  # further columns of the input that leave
    needs_torch: bool = False
    labels: tuple[str, ...] = ("guarantee",)  # what an unseeded run may be labelled
    seedable: bool = True
    before: tuple[tuple[str, ...], ...] = field(default=())  # commands that make its input, on the same ledger
    charges: int = (
        1  # of a run that nobody stops; more than one: round by round, and a round done again is charged again
    )
    kills: int | None = None  # at so many places at most, where a run takes long
    takes_data: bool = True  # reads data of its own, so that other data can be told

    def arguments(self, out: str = "out", *more: object, ledger: str = LEDGER) -> list[str]:
        return [str(a).format(out=out) for a in (*self.command, "--ledger", ledger, *more)]


def rows(variant: int, count: int = 30) -> list[dict[str, object]]:
    rng = np.random.default_rng(100 + variant)
    made: list[dict[str, object]] = []
    for n in range(count):
        words = [str(w) for w in rng.choice(WORDS, 9)]
        if n == 3:
            words[4] = SECRET
        text = " ".join(words)
        made.append({"id": f"n{n}", "text": text, "label": "praise" if n % 2 else "blame", "user": f"u{n % 5}"})
    return made


def write_public(folder: Path) -> None:
    """A small public vocabulary with vectors, so that a run takes moments."""
    rng = np.random.default_rng(7)
    vectors.from_arrays(WORDS, rng.normal(size=(len(WORDS), 8))).save(folder / "small.npz")
    (folder / "words.txt").write_text("\n".join(WORDS) + "\n")


def write_jsonl(folder: Path, variant: int) -> None:
    write_public(folder)
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(variant)))


def write_csv(folder: Path, variant: int) -> None:
    write_public(folder)
    lines = ["id,text,label"] + [f"{row['id']},{row['text']},{row['label']}" for row in rows(variant)]
    (folder / "in.csv").write_text("\n".join(lines) + "\n")


def write_conll(folder: Path, variant: int) -> None:
    blocks = ["".join(f"{w} {'B-X' if w == 'bank' else 'O'}\n" for w in str(r["text"]).split()) for r in rows(variant)]
    (folder / "in.conll").write_text("\n".join(blocks))


def write_marked(folder: Path, variant: int) -> None:
    documents, spans = [], []
    for row in rows(variant):
        clause = "This paper is governed by the law of Ohio alone."
        text = f"{row['text']}.\n{clause}\n"
        start = text.index(clause)
        documents.append({"id": row["id"], "text": text})
        spans.append({"id": row["id"], "start": start, "end": start + len(clause), "label": "LAW"})
    for name, made in (("in.jsonl", documents), ("spans.jsonl", spans)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in made))


def write_letters(folder: Path, variant: int) -> None:
    """Texts with addresses, of which the secret is a part: every mask hides it."""
    made = []
    for row in rows(variant):
        text = str(row["text"]).replace(SECRET, f"{SECRET}@example.org")
        made.append({**row, "text": f"{text}, write to n{row['id']}@example.org or call +49 30 {variant}234567"})
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))


def write_masked_letters(folder: Path, variant: int) -> None:
    write_public(folder)
    write_letters(folder, variant)


def write_pairs(folder: Path, variant: int) -> None:
    """Sentences and their word-by-word translation; the secret is one of them, so rare that no frequent phrase has it."""
    pairs = [(str(row["text"]), " ".join(w[::-1] for w in str(row["text"]).split())) for row in rows(variant)]
    lines = "".join(json.dumps({"de": s, "en": t}) + "\n" for s, t in pairs)
    (folder / "in.jsonl").write_text(lines)
    public = "".join(json.dumps({"de": w, "en": w[::-1]}) + "\n" for w in WORDS)
    (folder / "public.jsonl").write_text(public)


def write_translator(folder: Path, variant: int) -> None:
    """Sentence pairs, and a translation model of one narrow layer that knows the public words."""
    from textveil.nets.translation import tiny_seq2seq

    write_pairs(folder, variant)
    tiny = tiny_seq2seq([*WORDS, *(word[::-1] for word in WORDS)])
    tiny.model.save_pretrained(folder / "tiny")
    tiny.tokenizer.save_pretrained(folder / "tiny")


def write_encoder(folder: Path, variant: int) -> None:
    """Texts, and a BERT of one narrow layer, so that a run takes moments."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    write_jsonl(folder, variant)
    (folder / "bert").mkdir(exist_ok=True)
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "bert" / "vocab.txt").write_text("\n".join(pieces))
    BertTokenizerFast(str(folder / "bert" / "vocab.txt")).save_pretrained(folder / "bert")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    torch.manual_seed(0)
    BertModel(BertConfig(vocab_size=len(pieces), **sizes), add_pooling_layer=False).save_pretrained(folder / "bert")


_PAIRS = ("in.jsonl", "-o", "{out}", "--source-field", "de", "--target-field", "en")
_MARKED = ("in.jsonl", "--spans", "spans.jsonl")
_TRAIN = ("--epsilon", "20", "--delta", "1e-3", "--batch", "1000", "--epochs", "3")
_PLAIN = ("--bits", "10", "--clusters", "none", "--families", "word,bigram")
_OPEN = ("hashed", "train", *_MARKED, *_PLAIN, "-o", "model", "--ledger", LEDGER)
_SEALED = ("hashed", "seal", "model", "-o", "sealed", "--ledger", LEDGER)

JOURNEYS = {
    "veil": Journey(
        "recipes.words.veil.veil_file",
        ("veil", "in.jsonl", "-o", "{out}", "--mechanism", "words.laplace", "--epsilon", "2", "--vectors", "small.npz",
         "--text-field", "text"),
        write_jsonl,
        columns=("id", "label", "user"),
    ),
    "veil csv": Journey(
        "recipes.words.veil.veil_file",
        ("veil", "in.csv", "-o", "{out}", "--mechanism", "words.exponential", "--epsilon", "2", "--vectors", "small.npz",
         "--text-field", "text", "--columns", "label"),
        write_csv,
        columns=("label",),
    ),
    "veil once": Journey(
        "recipes.words.veil.veil_file",
        ("veil", "in.jsonl", "-o", "{out}", "--mechanism", "words.brr", "--epsilon", "0.5", "--vectors", "small.npz",
         "--text-field", "text", "--once", "--keep", "function-words", "--columns", "label,user"),
        write_jsonl,
        columns=("label", "user"),
    ),
    "veil kinds": Journey(
        "recipes.words.veil.veil_file",
        ("veil", "in.csv", "-o", "{out}", "--mechanism", "words.tem", "--epsilon", "2", "--vectors", "small.npz",
         "--text-field", "text", "--kinds", "--kinds-epsilon", "0.5", "--only-text"),
        write_csv,
    ),
    "veil mask": Journey(
        "recipes.words.veil.veil_file",
        ("veil", "in.jsonl", "-o", "{out}", "--mechanism", "words.laplace", "--epsilon", "2", "--vectors", "small.npz",
         "--text-field", "text", "--mask", "patterns"),
        write_masked_letters,
        columns=("id", "label", "user"),
    ),
    "counts": Journey(
        "recipes.counts.release.count_file",
        ("counts", "in.jsonl", "-o", "{out}", "--epsilon", "1", "--text-field", "text", "--vocabulary", "words.txt"),
        write_jsonl,
    ),
    "counts with labels": Journey(
        "recipes.counts.release.count_file",
        ("counts", "in.jsonl", "-o", "{out}", "--epsilon", "1", "--text-field", "text", "--vocabulary", "words.txt",
         "--id-field", "id", "--label-field", "label"),
        write_jsonl,
        columns=("id", "label"),
    ),
    "hashed train": Journey(
        "recipes.hashed.train.train_model",
        ("hashed", "train", *_MARKED, *_PLAIN, "-o", "{out}"),
        write_marked,
        labels=("heuristic",),
    ),
    "hashed sound": Journey(
        "recipes.hashed.sound.train_sound",
        ("hashed", "train", *_MARKED, *_PLAIN, "-o", "{out}", "--epsilon", "2", "--delta", "1e-6",
         "--unit", "paragraph"),
        write_marked,
    ),
    "hashed seal": Journey(
        "recipes.hashed.seal.seal_model",
        ("hashed", "seal", "model", "-o", "{out}"),
        write_marked,
        labels=("measured",),
        before=(_OPEN,),
        takes_data=False,
    ),
    "hashed update": Journey(
        "recipes.hashed.seal.update_model",
        ("hashed", "update", "sealed", *_MARKED, "-o", "{out}"),
        write_marked,
        labels=("measured",),
        before=(_OPEN, _SEALED),
    ),
    "fragments make": Journey(
        "recipes.fragments.make.make_fragments",
        ("fragments", "make", *_PAIRS, "--align-on", "public.jsonl", "--epsilon", "8", "--delta", "1e-6"),
        write_pairs,
    ),
    "fragments adapt": Journey(
        "recipes.fragments.adapt_private.adapt_privately",
        ("fragments", "adapt", *_PAIRS, "--model", "tiny", "--epsilon", "8", "--delta", "1e-3", "--epochs", "2",
         "--batch", "15"),
        write_translator,
        needs_torch=True,
        kills=6,
    ),
    "classify ask": Journey(
        "recipes.mpc.ask.ask_file",
        ("classify", "ask", "in.jsonl", "-o", "{out}", "--keys", "keys", "--dealer", "localhost:1", "--text-field", "text",
         "--id-field", "id"),
        write_jsonl,
        labels=("cryptographic",),
        columns=("id",),
        seedable=False,
    ),
    "pii mask": Journey(
        "recipes.pii.mask.mask_file",
        ("pii", "mask", "in.jsonl", "-o", "{out}", "--how", "hash", "--text-field", "text"),
        write_letters,
        columns=("id", "label", "user"),
        labels=("heuristic",),
    ),
    "pii train": Journey(
        "recipes.pii.train.train_tagger",
        ("pii", "train", *_MARKED, "-o", "{out}", "--bits", "10", "--epochs", "2"),
        write_marked,
        labels=("heuristic",),
    ),
    "federate simulate": Journey(
        "recipes.federated.simulate.simulate",
        ("federate", "simulate", "in.jsonl", "-o", "{out}", "--strategy", "dp-fedavg", "--noise", "2", "--delta", "1e-2",
         "--rounds", "2", "--sampling", "fixed", "--users-per-round", "5", "--user-field", "user", "--text-field", "text",
         "--words", "words.txt",
         "--hidden", "4", "--workers", "0"),
        write_jsonl,
        needs_torch=True,
        charges=2,
    ),
    "federate sites": Journey(
        "recipes.federated.simulate.simulate",
        ("federate", "simulate", "in.jsonl", "-o", "{out}", "--local", "dp-sgd", "--noise", "2", "--delta", "1e-2",
         "--rounds", "2", "--sites", "2", "--batch", "1000", "--text-field", "text", "--words", "words.txt", "--hidden", "4",
         "--workers", "0"),
        write_jsonl,
        needs_torch=True,
        kills=6,
    ),
    "federate trees": Journey(
        "recipes.federated.simulate.simulate",
        ("federate", "simulate", "in.jsonl", "-o", "{out}", "--strategy", "dp-ftrl", "--noise", "4", "--delta", "1e-2",
         "--rounds", "3", "--users-per-round", "2", "--user-field", "user", "--text-field", "text", "--words", "words.txt",
         "--hidden", "4", "--workers", "0"),
        write_jsonl,
        needs_torch=True,
        charges=2,
        kills=6,
    ),
    "federate texthide": Journey(
        "recipes.texthide.train.train_texthide",
        ("federate", "simulate", "in.jsonl", "-o", "{out}", "--local", "texthide", "--encoder", "bert", "--masks", "2",
         "--sites", "2", "--rounds", "2", "--batch", "4", "--text-field", "text"),
        write_encoder,
        needs_torch=True,
        labels=("broken",),
    ),
    "train vocab": Journey(
        "recipes.training.vocab.make_vocabulary",
        ("train", "vocab", "in.jsonl", "-o", "{out}", "--epsilon", "1", "--delta", "1e-6", "--text-field", "text",
         "--size", "300"),
        write_jsonl,
        needs_torch=True,
    ),
    "train tagger": Journey(
        "recipes.training.models.train_model",
        ("train", "tagger", "in.conll", "-o", "{out}", *_TRAIN, "--hidden", "4"),
        write_conll,
        needs_torch=True,
    ),
    "train classifier": Journey(
        "recipes.training.models.train_model",
        ("train", "classifier", "in.jsonl", "-o", "{out}", *_TRAIN, "--text-field", "text"),
        write_jsonl,
        needs_torch=True,
    ),
    "train lm with words": Journey(
        "recipes.training.models.train_model",
        ("train", "lm", "in.jsonl", "-o", "{out}", "--epsilon", "200", "--delta", "1e-2", "--batch", "1000", "--epochs", "2",
         "--vocab-epsilon", "150", "--private-vocabulary", "--text-field", "text"),
        write_jsonl,
        needs_torch=True,
    ),
}  # fmt: skip

# Charges by `Ledger.release`, which the tests of the ledger and of the account cover.
IN_PYTHON = {"recipes.words.tune.charged_prior"}
# A server and its sites are several processes: tests/journeys/test_federated_deployment.py kills them and counts charges,
# tests/unit/recipes/test_federated_on_grid.py loses a round within one process.
SERVED = {"recipes.federated.on_grid.train_on_grid"}
