"""The bundled vectors: small, complete, usable, and what the build script says they are."""

import gzip
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from textveil.text.codes import hamming
from textveil.text.tokens import fold, words
from textveil.text.vectors import DEFAULT, from_arrays, load, zipf_prior

SCRIPT = Path(__file__).parents[3] / "scripts" / "build_default.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("build_default", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def english():
    return load("default")


def test_size(english):
    assert len(english) >= 20_000
    assert len(gzip.compress(DEFAULT.read_bytes())) <= 6_000_000
    assert english.matrix.shape == (len(english), 100)
    assert english.codes.bits == 256
    np.testing.assert_array_equal(english.prior, zipf_prior(len(english)))


def test_loaded_once():
    assert load("default") is load()


def test_needs_only_numpy():
    """What a small device imports to use codes: no scipy, no torch, nothing of the other rooms."""
    program = (
        "import sys, textveil.text.vectors as v; c = v.load('default').codes; c.fingerprint\n"
        "heavy = {'scipy', 'torch', 'pyarrow', 'opendp', 'cryptography', 'numba', 'rich', 'typer'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_word_is_one_that_the_tokenizer_makes(english):
    assert [w for w in english.words if words(w) != [w] or fold(w) != w] == []


def test_common_words_are_known(english):
    text = (
        "I don't think a 7 is what they'd call it's 3rd 1990s in 2024; we've said I'm, you're and he'll: Mr. J. Smith"
    )
    assert [w for w in map(fold, words(text)) if w not in english.words] == []


def test_no_two_words_are_the_same(english):
    assert len(np.unique(english.matrix, axis=0)) == len(english)
    assert english.codes.collisions() == 0


def test_fallback_is_the_documented_one(english):
    again = from_arrays(english.words, english.matrix)
    np.testing.assert_allclose(again.fallback, english.fallback, rtol=1e-6)
    middle = (2 * english.codes.unpacked().sum(axis=0, dtype=int) > len(english)).astype(np.uint8)
    assert int(hamming(english.codes.fallback, type(english.codes).from_bits(["x"], middle[None]).words64[0])) == 0


@pytest.mark.parametrize(
    ("word", "neighbour"), [("a", "an"), ("i", "me"), ("n't", "not"), ("'ll", "will"), ("7", "seven"), ("3rd", "third")]
)
def test_added_words_stand_near_their_kin(english, word, neighbour):
    row, kin = english.index(word), english.index(neighbour)
    distances = np.linalg.norm(english.matrix - english.matrix[row], axis=1)
    assert (distances < distances[kin]).sum() <= 10
    bits = hamming(english.codes.words64, english.codes.words64[row])
    assert (bits < bits[kin]).sum() <= 20


def test_every_recipe_is_in(script, english):
    assert set(script.recipes()) <= set(english.words)
    assert script.own_direction("a", 100) @ script.own_direction("a", 100) == pytest.approx(1)


def test_mix_keeps_the_length(script):
    source = from_arrays(["x", "y"], [[2.0, 0.0], [0.0, 4.0]])
    mixed = script.mix(source, "z", {"x": 1, "y": 3})
    assert np.linalg.norm(mixed) == pytest.approx(3.5)
    with pytest.raises(SystemExit, match="no vector for q"):
        script.mix(source, "z", {"q": 1})


@pytest.mark.data
def test_the_script_makes_the_file(script, english, data_dir):
    """Words, vectors and prior exactly; the codes up to edge bits that another linear-algebra library may flip."""
    built = script.build(data_dir / "glove-100d" / "glove.6B.100d.100k.f16.npz")
    assert built.fingerprint == english.fingerprint
    assert hamming(built.codes.words64, english.codes.words64).mean() < 0.05 * 256
