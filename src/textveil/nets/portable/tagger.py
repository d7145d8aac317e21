"""A bidirectional LSTM that gives each word of a sentence a tag. Needs torch and numpy only; load(folder) reads a saved one.

    tagger = load("model")
    tagger.tag([["Anna", "lives", "in", "Bern"]])   # [["B-PER", "O", "O", "B-LOC"]]
    tagger.tag(["Anna lives in Bern"])              # the same: a string is cut into words_of(string)

A word is its public vector, a few marks of its spelling, and fixed random signs for its first and last letters (a sketch:
equal endings give equal signs). None of these is learnt; the LSTM and what follows is.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

PADDING, UNKNOWN, FIRST = 0, 1, 2
MARKS = 14
NEVER = -1e4  # the score of a forbidden step
AFFIXES = ((0, 2), (0, 3), (-2, None), (-3, None))
_CLITIC = r"(?:s|re|ve|ll|d|m)(?!\w)"
_TOKEN = re.compile(  # the usual tokens of tagged text: do|n't, it|'s, U.S., Dr., 20.50, well-known, each mark by itself
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://\S+"
    r"|(?:[^\W\d_]\.){2,}|(?!I\.)\b[A-Z]\.(?=\s+[^\W\d_])|\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Inc|Corp|Ltd|Co)\.(?!\w)"
    r"|\w+?(?=n['’]t(?!\w))|n['’]t(?!\w)|['’]"
    + _CLITIC
    + r"|\w+(?:[-/&]\w+|['’](?!"
    + _CLITIC
    + r")\w+|(?<=\d)[.,:](?=\d)\w+)*"
    r"|\.{2,}|-{2,}|[^\w\s]"
)
_STOPS, _CLOSING = frozenset(".!?"), frozenset("\"')]}”’»")


def places_of(text: str) -> list[tuple[int, int]]:
    """Where each word or mark of a text starts and ends; only white space lies between them."""
    return [match.span() for match in _TOKEN.finditer(text)]


def words_of(text: str) -> list[str]:
    """The words and marks of a text, as taggers count them."""
    return _TOKEN.findall(text)


def sentences_of(text: str) -> Iterator[list[str]]:
    """The words of each sentence. A sentence ends at a blank line, and at a stop before a word that is not lower-case."""
    words: list[str] = []
    is_over, places = False, places_of(text)
    for (start, end), (after, _) in zip(places, [*places[1:], (len(text), 0)], strict=False):
        words.append(text[start:end])
        is_over = words[-1][0] in _STOPS or (is_over and words[-1] in _CLOSING)
        gap = text[end:after]
        if gap.count("\n") > 1 or (is_over and gap and not text[after : after + 1].islower()):
            yield words
            words = []
    if words:
        yield words


def by_sentence(
    texts: Sequence[Any], answer: Callable[[list[Sequence[str]]], Iterable[Sequence[Any]]]
) -> list[list[Any]]:
    """What `answer` says about every word of each text. A string is cut into sentences; a list of words is one sentence."""
    if isinstance(texts, str):
        raise ValueError("a list of sentences is needed, not one string: [text]")
    cut = [list(sentences_of(text)) if isinstance(text, str) else [text] for text in texts]
    answers = iter(answer([sentence for own in cut for sentence in own]))
    return [[one for _ in own for one in next(answers)] for own in cut]


def marks(word: str) -> list[float]:
    """What the spelling shows: letter case, digits, punctuation, length."""
    letters = [c for c in word if c.isalpha()]
    upper = [c.isupper() for c in letters]
    digits = sum(c.isdigit() for c in word)
    seen = [
        bool(upper) and upper[0],
        bool(upper) and all(upper),
        bool(upper) and not any(upper),
        bool(upper) and upper[0] and not any(upper[1:]),
        any(upper[1:]) and not all(upper),
        digits > 0,
        digits == len(word),
        not letters and not digits,
        "-" in word,
        "." in word,
        "'" in word,
        len(word) == 1,
        len(word) <= 3,
        len(word) >= 8,
    ]
    return [0.5 if s else -0.5 for s in seen]


def signs(word: str, width: int) -> np.ndarray:
    """Fixed random signs for the first and last two and three letters, `width` each; case counts for nothing."""
    parts = []
    for begin, end in AFFIXES:
        key = f"{begin}:{word.lower()[begin:end]}".encode()
        bits = np.unpackbits(np.frombuffer(hashlib.blake2b(key, digest_size=-(-width // 8)).digest(), np.uint8))
        parts.append(bits[:width].astype(np.float32) - 0.5)
    return np.concatenate(parts)


class Words:
    """From words to rows of the vectors and to features; every distinct word is worked out once."""

    def __init__(self, words: Iterable[str], affix: int, spelling: bool = True):
        self.row = {word: number for number, word in enumerate(words, start=FIRST)}
        self.affix, self.spelling = affix, spelling
        self._kept: dict[str, tuple[int, np.ndarray]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles leave out the words that were looked up: they are those of the texts, which may be private."""
        return {**self.__dict__, "_kept": {}}

    @property
    def width(self) -> int:
        return self.spelling * (MARKS + 1) + len(AFFIXES) * self.affix

    def of(self, word: str) -> tuple[int, np.ndarray]:
        found = self._kept.get(word)
        if found is None:
            row = self.row.get(word) or self.row.get(word.lower()) or UNKNOWN
            parts = [np.array([*marks(word), 0.5 if row != UNKNOWN else -0.5])] if self.spelling else []
            parts += [signs(word, self.affix)] if self.affix else []
            found = row, np.concatenate([*parts, np.empty(0)]).astype(np.float32)
            if len(self._kept) < 1_000_000:
                self._kept[word] = found
        return found

    def batch(self, sentences: Sequence[Sequence[str]]) -> dict[str, Tensor]:
        """Padded rows and features, and the lengths. An empty sentence counts as one unknown word."""
        lengths = [max(1, len(s)) for s in sentences]
        rows = np.zeros((len(sentences), max(lengths, default=1)), dtype=np.int64)
        features = np.zeros((*rows.shape, self.width), dtype=np.float32)
        for number, sentence in enumerate(sentences):
            for place, word in enumerate(sentence):
                rows[number, place], features[number, place] = self.of(word)
            if not len(sentence):
                rows[number, 0] = UNKNOWN
        found = {"rows": torch.from_numpy(rows), "features": torch.from_numpy(features)}
        return {**found, "lengths": torch.tensor(lengths)}


class Tagger(nn.Module):
    """Vectors and features, a (bi)directional LSTM of one or more layers, one score for each tag; steps for a CRF."""

    def __init__(self, config: dict[str, Any], words: Sequence[str]):
        super().__init__()
        self.config, self.tags = config, list(config["tags"])
        self.words = Words(words, config["affix"], config["spelling"])
        self.vectors = nn.Embedding(len(words) + FIRST, config["dimensions"], padding_idx=PADDING)
        self.vectors.weight.requires_grad_(False)
        width = config["dimensions"] + self.words.width
        self.lstm = self._recurrent(width, config["hidden"], config["layers"])
        self.out = nn.Linear(2 * config["hidden"], len(self.tags))
        self._output()

    def _recurrent(self, width: int, hidden: int, layers: int) -> nn.Module:
        return nn.LSTM(width, hidden, layers, batch_first=True, bidirectional=True)

    def _output(self) -> None:
        if self.config["output"] == "crf":
            self.steps = nn.Parameter(torch.zeros(len(self.tags) + 2, len(self.tags)))

    def read(self, batch: dict[str, Tensor]) -> Tensor:
        """States of the LSTM, (B, T, 2 hidden)."""
        packed = nn.utils.rnn.pack_padded_sequence(
            self.inputs(batch), batch["lengths"], batch_first=True, enforce_sorted=False
        )
        return nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0]

    def inputs(self, batch: dict[str, Tensor]) -> Tensor:
        return torch.cat([self.vectors(batch["rows"]).float(), batch["features"]], dim=2)

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        """Scores of the tags, (B, T, tags)."""
        return self.out(self.read(batch))

    def step_scores(self) -> Tensor | None:
        return self.steps if self.config["output"] == "crf" else None

    def tag(self, sentences: Sequence[Any], batch_size: int = 256) -> list[list[str]]:
        """The likeliest tags of each sentence that the tagging scheme allows; of a string, those of its `words_of`."""
        return by_sentence(sentences, lambda flat: self._decoded(flat, batch_size, self._best))

    @torch.no_grad()
    def _decoded(
        self,
        sentences: Sequence[Sequence[str]],
        batch_size: int,
        decode: Callable[[Tensor, Tensor], Sequence[Sequence[Any]]],
    ) -> list[list[Any]]:
        """What `decode` says of scores and lengths, in the order of the sentences; like lengths share a batch."""
        order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
        answers: list[list[Any]] = [[] for _ in sentences]
        for start in range(0, len(order), batch_size):
            some = order[start : start + batch_size]
            batch = self.words.batch([sentences[i] for i in some])
            for i, row in zip(some, decode(self(batch), batch["lengths"]), strict=True):
                answers[i] = list(row[: len(sentences[i])])
        return answers

    def _best(self, scores: Tensor, lengths: Tensor) -> list[list[str]]:
        return [[self.tags[t] for t in path] for path in best_paths(scores, self.step_table(), lengths)]

    def step_table(self) -> Tensor:
        """The score of each step, learnt ones and those that the tagging scheme forbids."""
        return step_table(self.step_scores(), len(self.tags), forbidden(self.tags))


def step_table(steps: Tensor | None, tags: int, never: Sequence[tuple[int, int]] = ()) -> Tensor:
    """Scores of steps in which some are forbidden; without `steps` each place stands for itself."""
    table = torch.zeros(tags + 2, tags) if steps is None else steps.detach().clone()
    for before, after in never:
        table[before, after] = NEVER
    return table


def forbidden(tags: Sequence[str]) -> list[tuple[int, int]]:
    """Steps that BIO does not know: to I-X from anything but B-X and I-X. Row len(tags) stands for the start.

    None where I- tags may start entities, that is where some type has no B- tag of its own.
    """
    names = set(tags)
    if any(t.startswith("I-") and f"B-{t[2:]}" not in names for t in tags):
        return []
    found = []
    for after, name in enumerate(tags):
        if name.startswith("I-"):
            allowed = (f"B-{name[2:]}", name)
            found += [(b, after) for b, other in enumerate(tags) if other not in allowed] + [(len(tags), after)]
    return found


def best_paths(scores: Tensor, table: Tensor, lengths: Tensor) -> list[list[int]]:
    """Viterbi: the sequence of tags with the highest score, steps included."""
    count, time, tags = scores.shape
    best = scores[:, 0] + table[tags]
    back = []
    for t in range(1, time):
        reached, whence = (best.unsqueeze(2) + table[:tags]).max(1)
        live = (t < lengths).unsqueeze(1)
        best = torch.where(live, reached + scores[:, t], best)
        back.append(torch.where(live, whence, torch.arange(tags).expand(count, tags)))
    now = (best + table[tags + 1]).argmax(1)
    path = [now]
    for whence in reversed(back):
        now = whence.gather(1, now.unsqueeze(1)).squeeze(1)
        path.append(now)
    whole = torch.stack(path[::-1], 1).tolist()
    return [row[:n] for row, n in zip(whole, lengths.tolist(), strict=True)]


def load(folder: str | Path) -> Tagger:
    """The tagger that a model folder holds."""
    folder = Path(folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    words = (folder / "words.txt").read_text(encoding="utf-8").split("\n")
    net = Tagger(config, words)
    net.load_state_dict({k: v.float() for k, v in torch.load(folder / "weights.pt", weights_only=True).items()})
    return net.eval()
