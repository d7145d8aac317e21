"""Parallel text in the formats of translation tools, piece by piece."""

from __future__ import annotations

import gzip

import pytest

from textveil.core import BadInput
from textveil.text.pairs import PharaohReader, open_pairs


def pairs_of(*arguments, **options):
    return [(pair.source, pair.target) for pair in open_pairs(*arguments, **options)]


TMX = """<?xml version="1.0"?><tmx version="1.4"><header srclang="{srclang}"/><body>
<tu><tuv xml:lang="en"><seg>Press <bpt i="1">&lt;b&gt;</bpt>Start<ept i="1">&lt;/b&gt;</ept> now.</seg></tuv>
<tuv xml:lang="de-CH"><seg>Jetzt <hi>Start</hi> drücken.</seg></tuv><tuv lang="fr"><seg>Appuyez.</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>Only one.</seg></tuv></tu></body></tmx>"""


def test_tmx_takes_the_languages_that_are_asked_for_and_leaves_codes_out(tmp_path):
    path = tmp_path / "m.tmx"
    path.write_text(TMX.format(srclang="de"), encoding="utf-8")
    assert pairs_of(path) == [("Jetzt Start drücken.", "Press Start now.")]
    assert pairs_of(path, source_language="en", target_language="fr") == [("Press Start now.", "Appuyez.")]
    path.write_text(TMX.format(srclang="*all*"), encoding="utf-8")
    assert pairs_of(path) == [("Press Start now.", "Jetzt Start drücken.")]


def test_xliff_of_both_versions_and_compressed(tmp_path):
    old = tmp_path / "a.xlf.gz"
    unit = '<trans-unit id="1"><source>A<x id="1"/>B</source><target>C <g id="2">D</g></target></trans-unit>'
    open_unit = '<trans-unit id="2"><source>E</source></trans-unit>'
    text = f'<xliff xmlns="urn:x" version="1.2"><file><body>{unit}{open_unit}</body></file></xliff>'
    old.write_bytes(gzip.compress(text.encode()))
    assert pairs_of(old) == [("A B", "C D")]
    new = tmp_path / "b.xliff"
    new.write_text(
        '<xliff version="2.0"><file><unit><segment><source>A</source><target>B</target></segment>'
        "<segment><source>C</source><target>D</target></segment></unit></file></xliff>"
    )
    assert pairs_of(new) == [("A", "B"), ("C", "D")]


def test_a_unit_of_many_entities_is_refused_or_bounded(tmp_path):
    """Entities that blow up are stopped by the parser, in one sentence."""
    path = tmp_path / "bomb.tmx"
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "ha"}">' for n in range(10))
    path.write_text(
        f'<!DOCTYPE tmx [{levels}]><tmx><body><tu><tuv xml:lang="a"><seg>&e9;</seg></tuv></tu></body></tmx>'
    )
    with pytest.raises(BadInput, match=r"bomb\.tmx"):
        pairs_of(path)


def test_nulls_are_empty_and_line_ends_are_blanks(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text('{"a": "x\\ny", "b": null}\n{"a": "z", "b": "w"}\n')
    assert pairs_of(path, source_field="a", target_field="b") == [("x y", ""), ("z", "w")]
    path.write_text('{"a": "x", "b": 7}\n')
    with pytest.raises(BadInput, match="field 'b': is not a string"):
        pairs_of(path, source_field="a", target_field="b")


def test_links_are_read_and_held_against_the_words(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("0-0 1-2\n\n2-1\n")
    reader = PharaohReader(path)
    assert list(reader) == [[(0, 0), (1, 2)], [], [(2, 1)]]
    with pytest.raises(BadInput, match="has 2 and 2 words"):
        reader.check_fits([(2, 1)], 2, 2)
