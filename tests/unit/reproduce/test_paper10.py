"""Paper 10: text that judges is never learnt from, the pages of translation cells, and models kept between cells."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest

from textveil.core import BadInput
from textveil.reproduce.cells import Cell, Kind, Store, fingerprint
from textveil.reproduce.paper10.data import CONFIDENTIAL, DOMAINS
from textveil.reproduce.paper10.dictionary import dictionary_pairs
from textveil.reproduce.paper10.figures import figures
from textveil.reproduce.paper10.general import (
    EXTRA,
    FILES,
    GENERAL,
    confidential,
    general,
    judged,
    near,
    tokenised,
    words,
)
from textveil.reproduce.paper10.handbook import handbook_pairs
from textveil.reproduce.paper10.measures import bleu_gain_of, gain_kept, length_gain, over_copying
from textveil.reproduce.paper10.study import STUDY
from textveil.reproduce.study import Results, Study, run


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("I don't know, Mr. X!", "I don 't know , Mr . X !"),
        ("E-Mail (2,5 MB)", "E-Mail ( 2,5 MB )"),
        ("'%s': 10,000 z.B", "' %s ' : 10,000 z.B"),
    ],
)
def test_words_are_cut_like_those_of_the_benchmark(text, cut):
    assert tokenised(text) == cut


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


ENTRIES = """# a remark
Leber {f} [anat.]; Organ {n} | eine Leber (haben) :: liver | to have a liver
Satz {m} | mehr Formen | als drüben :: sentence
auf / an etw. {prp; +Dat.} :: on / of sth.
Probe JRC. :: stands in the test part
EMEA-Vertrag :: treaty
"""
PAGES = {
    "de": '<h1 id="h1">Tabelle</h1><p id="p1" class="a">Die <b>Datei</b> &amp;\n  ihr Name.</p><p id="p2">Probe JRC.</p>'
    '<p id="p3">Office</p><p id="p4">ohne Gegenstück</p>',
    "en-US": '<h1 id="h1">Table</h1><p id="p1">The file &amp; its name.</p><p id="p2">a test</p><p id="p3">Office</p>',
}


@pytest.fixture
def data(tmp_path, monkeypatch):
    (tmp_path / "de-en").write_text(ENTRIES, encoding="utf-8")
    for language, page in PAGES.items():
        (tmp_path / "help" / language / "text").mkdir(parents=True)
        (tmp_path / "help" / language / "text" / "page.html").write_text(page, encoding="utf-8")
    (tmp_path / "help" / "de" / "text" / "only.html").write_text(PAGES["de"], encoding="utf-8")
    public = "textveil.reproduce.paper10.general"
    monkeypatch.setattr(f"{public}.dictionary_pairs", lambda: dictionary_pairs(tmp_path / "de-en"))
    monkeypatch.setattr(f"{public}.handbook_pairs", lambda: handbook_pairs(tmp_path / "help"))
    for domain in DOMAINS:
        own = [{"line": i, "de": f"{domain} Satz {i % 700}", "en": f"{domain} text {i % 700}"} for i in range(900)]
        own += [{"line": 900, "de": "steht hier", "en": "so steht hier this"}]
        write(tmp_path / CONFIDENTIAL / domain / "train.jsonl.gz", own)
        write(tmp_path / CONFIDENTIAL / domain / "valid.jsonl.gz", own[600:605])
        write(tmp_path / CONFIDENTIAL / domain / "test_a.jsonl.gz", [{"de": f"Probe {domain} .", "en": "trial"}])
    for name in (*FILES, EXTRA):
        write(
            tmp_path / GENERAL / f"{name}.jsonl.gz",
            [{"de": f"{name} .", "en": f"{name} !"}, {"de": "Probe JRC.", "en": "!"}],
        )
    return tmp_path


def test_what_judges_is_not_learnt_from_and_a_domain_that_is_left_out_is_not_public(data):
    own, test = confidential(data, "EMEA"), judged(data, "EMEA")
    assert len(test) == len({de for de, _ in test}) == 500
    assert not {text for pair in own for text in pair} & {text for pair in test for text in pair}
    assert not {"EMEA Satz 601"} & {de for de, _ in own}
    assert ("steht hier", "so steht hier this") not in test
    assert len(general(data)) == len(FILES) + 2  # a sentence that judges stood in each, and in the handbook
    assert general(data)[-2:] == [("Tabelle", "Table"), ("Die Datei & ihr Name .", "The file & its name .")]
    for domain in DOMAINS:
        texts = near(data, domain)
        judging = {de for each in DOMAINS for de, _ in judged(data, each)}
        assert not judging & {de for de, _ in texts}
        assert not any(f"{domain} " in de for de, _ in texts)
        assert not any("steht hier" in de for de, _ in texts)  # rows whose English holds the German teach copying
        assert any(EXTRA in de for de, _ in texts) == (domain != "GNOME")
        assert {("auf", "on"), ("EMEA-Vertrag", "treaty")} <= {*texts}


def test_a_dictionary_is_cut_into_pairs_and_what_judges_is_left_out(data):
    assert words(data) == [
        ("Leber", "liver"),
        ("Organ", "liver"),
        ("eine Leber", "have a liver"),
        ("auf", "on"),
        ("EMEA-Vertrag", "treaty"),
    ]


@pytest.mark.parametrize(("named", "place"), [("de-en", "de-en"), ("help", "help/text/page.html")])
def test_what_the_system_has_is_part_of_the_key_of_a_cell(tmp_path, named, place):
    file = tmp_path / place
    with pytest.raises(BadInput, match="reads what is not there"):
        fingerprint(str(tmp_path / named), None)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("a :: b", encoding="utf-8")
    first = fingerprint(str(tmp_path / named), None)
    file.write_text("a :: c!", encoding="utf-8")
    assert fingerprint(str(tmp_path / named), None) != first


def shown(gain, ratio):
    scores = {"bleu": 12.0, "chrf": 30.0, "words": 9.0, "length_ratio": ratio}
    part = {
        "pairs": 500,
        "copy": 4.0,
        "before": scores,
        "after": scores,
        "gain": gain,
        "interval": [gain - 1, gain + 1],
    }
    return {"held_out": {**part, "loss": [3.0, 2.9]}, "updates": 9}


def test_measures_and_figures_of_translation_cells():
    results = Results(
        {
            Cell.of("adapted", domain="EMEA", variant="7 words"): shown(2.0, 0.5),
            Cell.of("adapted", domain="EMEA", variant="7 words, tags"): shown(1.5, 0.7),
            Cell.of("baseline", left_out="", steps=5): {
                "curve": [{"cpu_minutes": 1.0, "EMEA": {"bleu": 2.0}}, {"cpu_minutes": 2.0, "EMEA": {"bleu": 3.0}}]
            },
        }
    )
    (gain,) = bleu_gain_of(results, kind="adapted", variant="7 words", domain="EMEA")
    assert (gain.value, gain.low, gain.high) == (2.0, 1.0, 3.0)
    assert over_copying(results, kind="adapted", domain="EMEA")[0].value == 8.0
    (longer,) = length_gain(results, kind="adapted", first="7 words", second="7 words, tags")
    assert longer.value == pytest.approx(0.2)
    assert {figure.name for figure in figures(results)} == {"baseline", "adapted"}


def test_a_policy_that_keeps_its_share_of_the_gain_is_told_from_one_that_does_not():
    def kept(safe):
        gains = {"7 words, replay": (4.0, 2.0), "apart": safe}
        cells = {
            Cell.of("adapted", domain=domain, variant=variant): shown(gain, 0.9)
            for variant, both in gains.items()
            for domain, gain in zip(("EMEA", "JRC"), both, strict=True)
        }
        asked = {"kind": "adapted", "safe": "apart", "paper": "7 words, replay", "share": 0.8}
        return gain_kept(Results(cells), **asked)[0]

    assert kept((3.5, 3.5)).value == pytest.approx(3.5 - 0.8 * 3)
    assert kept((3.5, 3.5)).low > 0 > kept((0.5, 0.5)).high
    assert kept((2.4, 2.4)).low < 0 < kept((2.4, 2.4)).high
    assert "loss" in kept((3.5, 3.5)).label


def test_every_cell_of_the_plan_has_a_kind_and_a_part():
    parts = {kind for kinds in STUDY.parts.values() for kind in kinds}
    for scale in ("small", "full"):
        assert {cell.kind for cell in STUDY.cells(scale)} == parts == set(STUDY.kinds)


def kept_number(data, *, number, kept):
    kept.mkdir(parents=True, exist_ok=True)
    path = kept / "number"
    before = path.read_text() if path.exists() else ""
    path.write_text(f"{before}{number}")
    return {"read": before}


def test_cells_that_keep_files_share_a_folder_of_the_cache(tmp_path):
    study = Study("99", "test", {"a": Kind(kept_number, keeps=True)}, lambda scale: [], {})
    cells = [Cell.of("a", number=n) for n in (1, 2)]
    done = run(study, cells, store=Store(tmp_path))
    assert not done.failed
    assert [done.results[cell]["read"] for cell in cells] == ["", "1"]
    assert (tmp_path / "files" / "99" / "number").read_text() == "12"


def slow_feature(table, tension):
    """The derivative of the log of the model's sum, by differences."""

    def log_sums(value):
        return sum(
            count * math.log(sum(math.exp(-value * abs(i / m - j / n)) for i in range(1, m + 1)))
            for n, m, count in table
            for j in range(1, n + 1)
        )

    return (log_sums(tension + 1e-5) - log_sums(tension - 1e-5)) / 2e-5


def test_the_exact_steps_of_the_tension_follow_the_gradient_and_those_as_written_do_not():
    pytest.importorskip("numba")
    from textveil.reproduce.paper10.fast_align_kernel import model_feature, series

    table = np.array([(3, 7, 2), (7, 3, 1), (5, 5, 4), (1, 1, 1)])
    for tension in (0.5, 4.0, 13.0):
        assert model_feature(table, tension, True) == pytest.approx(slow_feature(table.tolist(), tension), rel=1e-6)
        assert model_feature(table, tension, False) != pytest.approx(slow_feature(table.tolist(), tension), rel=1e-2)
    direct = sum(math.exp(-2.0 * abs(i / 6 - 0.35)) for i in range(1, 7))
    assert series(0.35, 6, 2.0) == pytest.approx(direct)


def test_a_planted_translation_is_found_whatever_rule_fits_the_tension():
    pytest.importorskip("numba")
    from textveil.fragments.aligner import Aligner, corpus_of
    from textveil.fragments.sentences import WordNumbers, side_of
    from textveil.reproduce.paper10.fast_align import FastAlignTension

    rng = np.random.default_rng(3)
    rows = [rng.integers(30, size=rng.integers(3, 9)) for _ in range(300)]
    source, target = (side_of([" ".join(f"{side}{w}" for w in row) for row in rows]) for side in "st")
    tensions = []
    for exact in (True, False):
        words = WordNumbers(), WordNumbers()
        aligner = Aligner().fit(corpus_of(source, target, words), words, tension=FastAlignTension(exact=exact))
        links = aligner.links(source, target)
        assert np.mean(links.source == links.target) > 0.95
        tensions.append(aligner.tensions_)
    assert not np.allclose(*tensions)


def test_the_kept_results_hold_what_the_page_says_of_the_safer_policy():
    """Every upper limit of the policy below 1 %, four fifths of the gain kept, an attack that beats the greedy one."""
    kept = json.loads((Path(__file__).parents[3] / "docs/results/10/results.json").read_text(encoding="utf-8"))
    verdicts = {claim["id"]: claim["verdict"] for claim in kept["claims"]}
    sides = [f"apart-4-{domain}-{side}" for domain in ("emea", "gnome", "jrc") for side in ("source", "target")]
    wanted = [*sides, "kept-plain", "beats-7", "beats-4"]
    assert {name: verdicts[name] for name in wanted} == dict.fromkeys(wanted, "confirmed")
