"""BRR on a device: a file of codes, and nothing but numpy to import."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import textveil
from textveil.core import BadInput
from textveil.text.codes import Codes
from textveil.text.vectors import load
from textveil.words import BRR, Laplace
from textveil.words.certify import certify, first_words
from textveil.words.codes_only import CodesOnly

SCRIPT = """
import json, sys
sys.path[:0] = {paths!r}
import textveil as tv
m = tv.words.BRR(epsilon=40, vectors={codes!r}).fit()
noisy = tv.words.BRR(epsilon=0.5, vectors={codes!r}).transform(["The bank sent me a letter, Zebulon."] * 20)
third_party = sorted({{n.partition(".")[0] for n, module in sys.modules.items()
                      if getattr(module, "__file__", None) and {site!r} in module.__file__}})
print(json.dumps({{"same": m.transform(["The bank sent me a letter."]), "noisy": noisy, "third_party": third_party,
                  "promise": m.event().noise.metric, "entropy": repr(tv.noise.secure())}}))
"""


@pytest.fixture(scope="module")
def codes_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("device") / "codes.tvc"
    load("default", limit=2000).codes.save(path)
    return path


@pytest.fixture
def bare(tmp_path) -> Path:
    """A folder to import from that holds numpy and textveil, and nothing else."""
    site = tmp_path / "site"
    site.mkdir()
    installed = Path(np.__file__).parent
    for folder in (installed, installed.with_name("numpy.libs"), Path(textveil.__file__).parent):
        if folder.exists():
            (site / folder.name).symlink_to(folder)
    return site


def run_bare(code: str, site: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, cwd=site)


def test_with_numpy_alone(bare, codes_file):
    done = run_bare(SCRIPT.format(paths=[str(bare)], codes=str(codes_file), site=str(bare)), bare)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown["third_party"] == ["numpy", "textveil"]
    assert shown["same"] == ["The bank sent me a letter."] and shown["promise"] == "hamming"
    assert not any("Zebulon" in text for text in shown["noisy"])
    assert len(set(shown["noisy"])) > 1


@pytest.mark.parametrize("package", ["scipy", "cryptography", "pyarrow", "typer", "numba"])
def test_the_bare_folder_has_nothing_else(bare, package):
    done = run_bare(f"import sys; sys.path[:0] = [{str(bare)!r}]; import {package}", bare)
    assert "ModuleNotFoundError" in done.stderr


def test_codes_promise_what_the_vectors_with_these_codes_promise(codes_file):
    vectors = load("default", limit=2000)
    ways = [BRR().fit(vectors), BRR(vectors=str(codes_file)).fit(), BRR().fit(Codes.load(codes_file))]
    assert len({m.event() for m in ways}) == 1
    assert ways[1].guarantee_ == ways[0].guarantee_
    assert BRR(seed=4).fit(vectors).transform(["a cold letter"]) == BRR(seed=4, vectors=codes_file).transform(
        ["a cold letter"]
    )


def test_codes_have_their_own_length_and_no_vectors(codes_file):
    assert BRR(bits=256, vectors=codes_file).fit().codes_.bits == 256
    with pytest.raises(BadInput, match="256 bits"):
        BRR(bits=128, vectors=codes_file).fit()
    with pytest.raises(BadInput, match="holds binary codes only"):
        Laplace(vectors=codes_file).fit()
    space = CodesOnly.load(codes_file)
    assert space.prior.sum() == pytest.approx(1) and space.index("the") == load("default").index("the")


def test_codes_are_certified_on_their_first_words():
    codes = Codes.from_bits(["w0", "w1", "w2", "w3"], np.array([[0, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 0]]))
    small = first_words(BRR(epsilon=1.0).fit(codes), 3)
    assert list(small.vectors_.words) == ["w0", "w1", "w2"]
    assert certify(small).verdict == "certified"
