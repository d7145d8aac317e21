"""Build the bundled English vectors, `src/textveil/text/default/english.tvv`, from the published GloVe 6B vectors.

    python scripts/build_default.py --glove glove.6B.100d.100k.f16.npz

takes about 5 s on one core. GLOVE is any file that `textveil.text.vectors.load` reads with at least 40,000 words of
GloVe 6B in 100 dimensions, most frequent first. One thread is used, so that a second run on the same machine and
library versions gives the same bytes; other linear-algebra libraries may flip single bits of the codes.

Steps:
1. keep the words that the tokenizer can produce (no punctuation, hyphens or dots inside), most frequent first;
2. add the common words that the source lacks: single letters, clitics, numbers, years, ordinals, decades. Each gets the
   weighted mean of the vectors of related words, plus a quarter of a direction of its own (from its hash), stretched to
   the weighted mean of their lengths (a mean of unlike vectors is short, and short vectors attract noise). The recipes
   are the table and the rules below;
3. round to int8 with a scale a row. The rounded values are the vectors from here on;
4. train 256-bit codes on them; the prior is Zipf-Mandelbrot by rank;
5. refuse the result if two words share a vector or a code.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import time
from pathlib import Path

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # read by numpy's import

import numpy as np

from textveil.text.binarise import binarise, fidelity
from textveil.text.store import dequantise, quantise, write_vectors
from textveil.text.tokens import fold, words
from textveil.text.vectors import DEFAULT, Vectors, from_arrays, load, zipf_prior

COUNT = 30_000
BITS = 256
OWN = 0.25  # GloVe hardly tells six from seven: without a direction of their own 1936 and 1937 would share a code

Recipe = dict[str, float]  # word of the source -> weight

# word: (place in the order of frequency, what its vector is made of)
COMMON: dict[str, tuple[int, Recipe]] = {
    "a": (5, {"an": 4, "the": 2, "one": 1, "some": 1, "another": 1}),
    "i": (30, {"me": 2, "my": 2, "you": 1, "we": 2, "myself": 1}),
    "'s": (7, {"is": 2, "has": 1, "its": 2, "his": 1, "'": 1}),
    "n't": (60, {"not": 4, "never": 1, "cannot": 1, "did": 1, "do": 1}),
    "'re": (150, {"are": 3, "you": 1, "they": 1, "we": 1, "were": 1}),
    "'ve": (160, {"have": 3, "we": 1, "you": 1, "been": 1}),
    "'ll": (170, {"will": 3, "we": 1, "you": 1, "going": 1}),
    "'d": (180, {"would": 3, "had": 1, "could": 1, "she": 1}),
    "'m": (190, {"am": 3, "me": 1, "my": 1, "feel": 1}),
}
PAIRS = {"u": "uv", "y": "xy"}
ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
ONES = [*ONES.split(), "eighteen", "nineteen"]
TENS = ["zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth"
ORDINALS = [*ORDINALS.split(), "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth"]


def letter(name: str) -> Recipe:
    """Initials and list marks: "letter", "initials", and the doubled letter, or a pair with it where that is no word."""
    return {"letter": 1, "initials": 1, PAIRS.get(name, name + name): 2}


def number(value: int) -> Recipe:
    """0 to 100: the number word or words, and 'number'."""
    if value < 20:
        return {ONES[value]: 4, "number": 1}
    if value == 100:
        return {"hundred": 4, "number": 1}
    tens, ones = divmod(value, 10)
    return {TENS[tens]: 3, "number": 1} | ({ONES[ones]: 2} if ones else {})


def large(value: int) -> Recipe:
    """200 to 900, 1000, 10000."""
    if value < 1000:
        return {"hundred": 3, ONES[value // 100]: 2, "number": 1}
    return {"thousand": 4, "number": 1} | ({"ten": 2} if value == 10_000 else {})


def year(value: int) -> Recipe:
    """1900 to 2030: what stands near dates, then century, tens and ones by their number words."""
    tens, ones = divmod(value % 100, 10)
    recipe: Recipe = {"year": 3, "since": 2, "late": 1, "nineteen" if value < 2000 else "thousand": 1}
    for word, weight in ((TENS[tens], 1.5), (ONES[ones], 1)):
        recipe[word] = recipe.get(word, 0) + weight
    return recipe


def decade(value: int) -> Recipe:
    """1900s to 2020s."""
    return {"decade": 2, "decades": 2, "nineteen" if value < 2000 else "thousand": 1, TENS[value % 100 // 10]: 1.5}


def ordinal(value: int) -> Recipe:
    """1st to 31st."""
    if value <= 20:
        return {ORDINALS[value - 1]: 4, "number": 1}
    return {"twentieth" if value < 30 else "thirty": 2, "number": 1} | (
        {ORDINALS[value % 10 - 1]: 2} if value % 10 else {}
    )


def ordinal_name(value: int) -> str:
    """
    >>> [ordinal_name(n) for n in (1, 2, 3, 11, 22)]
    ['1st', '2nd', '3rd', '11th', '22nd']
    """
    ending = "th" if value % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return f"{value}{ending}"


def recipes() -> dict[str, tuple[int, Recipe]]:
    """Every added word: its place and its recipe. The places are estimates; they only shape the public prior."""
    table = dict(COMMON)
    table |= {str(n): (100, number(n)) for n in range(11)}
    table |= {str(n): (500, number(n)) for n in range(11, 32)}
    table |= {str(n): (600, year(n)) for n in range(1995, 2031)}
    table |= {c: (1000, letter(c)) for c in "bcdefghjklmnopqrstuvwxyz"}
    table |= {str(n): (1500, number(n)) for n in range(32, 101)}
    table |= {str(n): (2000, large(n)) for n in [*range(200, 1000, 100), 1000, 10_000]}
    table |= {ordinal_name(n): (2500, ordinal(n)) for n in range(1, 32)}
    table |= {str(n): (3000, year(n)) for n in range(1900, 1995)}
    table |= {f"{n}s": (4000, decade(n)) for n in range(1900, 2030, 10)}
    return table


def mix(source: Vectors, word: str, recipe: Recipe) -> np.ndarray:
    """Weighted mean of the parts, turned a little towards the word's own direction, stretched to the parts' length."""
    missing = [part for part in recipe if part not in source.words]
    if missing:
        raise SystemExit(f"the source has no vector for {', '.join(missing)}")
    weights = np.array(list(recipe.values()), dtype=np.float64) / sum(recipe.values())
    parts = np.stack([source.vector(part) for part in recipe]).astype(np.float64)
    mean = weights @ parts
    turned = mean / np.linalg.norm(mean) + OWN * own_direction(word, len(mean))
    return (turned / np.linalg.norm(turned) * (weights @ np.linalg.norm(parts, axis=1))).astype(np.float32)


def own_direction(word: str, dimensions: int) -> np.ndarray:
    """A unit vector of equal coordinates whose signs are the bits of the word's hash."""
    digest = np.frombuffer(hashlib.blake2b(word.encode()).digest(), dtype=np.uint8)
    return (2.0 * np.unpackbits(digest)[:dimensions] - 1) / np.sqrt(dimensions)


def assemble(source: Vectors) -> tuple[list[str], np.ndarray]:
    """The vocabulary in its order of frequency, and the matrix before rounding."""
    added = {word: entry for word, entry in recipes().items() if word not in source.words}
    usable = [word for word in source.words if words(word) == [word] and fold(word) == word]
    order = usable[: COUNT - len(added)]
    by_place = sorted(added, key=lambda word: added[word][0])
    for word in by_place[::-1]:
        order.insert(added[word][0], word)  # the rearmost first: what comes before its place does not move
    rows = [mix(source, word, added[word][1]) if word in added else source.vector(word) for word in order]
    return order, np.stack(rows)


def build(glove: Path) -> Vectors:
    """The vectors as shipped."""
    order, matrix = assemble(load(glove))
    rounded = dequantise(*quantise(matrix))
    vectors = from_arrays(order, rounded, prior=zipf_prior(len(order)), name="english")
    vectors = vectors.with_codes(binarise(vectors, BITS))
    if len(np.unique(vectors.matrix, axis=0)) < len(vectors) or vectors.codes.collisions():
        raise SystemExit("two words share a vector or a code")
    return vectors


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the bundled English vectors from GloVe 6B.")
    parser.add_argument("--glove", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=DEFAULT)
    options = parser.parse_args()
    started = time.perf_counter()
    vectors = build(options.glove)
    write_vectors(options.out, vectors, "int8")
    print(f"{vectors}, {options.out.stat().st_size / 1e6:.2f} MB, {time.perf_counter() - started:.1f} s")
    print(fidelity(vectors, vectors.codes))


if __name__ == "__main__":
    main()
