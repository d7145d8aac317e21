"""Paper 09: a plan without gaps, marks that are offsets only, and its cells on made-up data."""

from __future__ import annotations

import gzip
import json
from importlib.resources import files

import pytest

from textveil.pii.spans import check_apart, check_inside
from textveil.reproduce import study_of
from textveil.reproduce.cells import Cell
from textveil.reproduce.claims import gaps, judge_all, load_claims
from textveil.reproduce.paper09 import cells, recognisers
from textveil.reproduce.paper09.data import automatic, documents, first_sentences, manual
from textveil.reproduce.paper09.nets import net_recogniser
from textveil.reproduce.paper09.presidio import patterns
from textveil.reproduce.paper09.synthetic import rewritten, synthetic_documents
from textveil.reproduce.study import Results

STUDY = study_of("09")
MARKS = [f"infobox_articles_{name}.jsonl" for name in cells.PASSES]


def write(path, rows):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def tagged(text, **spans):
    """Tokens and tags of a text; each keyword is a label and the words it marks."""
    tokens = text.split()
    bio = ["O"] * len(tokens)
    for label, words in spans.items():
        own = words.split()
        first = next(i for i in range(len(tokens)) if tokens[i : i + len(own)] == own)
        bio[first : first + len(own)] = [f"B-{label}"] + [f"I-{label}"] * (len(own) - 1)
    return tokens, bio


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "wikipii"
    folder.mkdir()
    automatic_rows, gold, first = [], [], []
    for n in range(60):
        text = f"Anna Berg ( born {n % 27 + 1} May 19{n:02} ) married Boris Lang ."
        tokens, bio = tagged(text, BD="May", SP="Boris Lang")
        spans = [{"type": "NAME", "text": "Anna Berg", "start": 0, "end": 9}]
        automatic_rows.append(
            {"id": f"w{n}", "sentence_index": 0, "text": text, "tokens": tokens, "bio": bio, "spans": spans}
        )
    tokens, bio = tagged(
        "Eva Fox ( born 3 June 1950 ) married Karl Moor . She died in 1990 .", BD="3 June 1950", SP="Karl Moor"
    )
    for n in range(4):
        row = {
            "id": f"g{n}",
            "title": "Eva Fox",
            "subject_is_person": n < 3,
            "tokens": tokens,
            "sentence_starts": [0, 11],
        }
        gold.append({**row, "relations": [], "bio_subject": bio, "bio_any": bio})
    first.append(
        {"title": "ida lang", "birth_year": 1901, "text": "ida lang ( 4 may 1901 -- 3 june 1980 ) was a painter."}
    )
    for name, rows in (("auto_annotations", automatic_rows), ("gold_redocred", gold), ("wikibio_mini", first)):
        write(folder / f"{name}.jsonl.gz", rows)
    box = "{{Infobox person | name = Anna Berg | spouse = [[Boris Lang]] | birth_date = {{birth date|1901|5|4}} }}"
    article = {
        "id": "wib-004",
        "title": "Anna Berg",
        "paragraphs": ["Anna Berg married Boris Lang."],
        "wikitext_infobox": box,
    }
    write(folder / "infobox_articles.jsonl.gz", [article])
    presidio = folder.parent / "pii_presidio"
    presidio.mkdir()
    mail = {"id": 1, "text": "Mail a.b@example.org", "spans": [{"start": 5, "end": 20, "type": "EMAIL_ADDRESS"}]}
    write(presidio / "synth_v2.jsonl.gz", [mail])
    return folder.parent


def test_every_claim_has_its_cells():
    assert gaps(load_claims("09"), STUDY) == []


@pytest.mark.parametrize("name", MARKS)
def test_marks_are_offsets_and_labels_and_nothing_else(name):
    text = (files("textveil.reproduce.paper09") / "marks" / name).read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    assert {tuple(row) for row in rows} == {("id", "start", "end", "label")}
    assert {row["label"] for row in rows} == {"BD", "PR", "SP", "CH", "ED"}
    for pass_name in cells.PASSES:
        for document, spans in cells.marks(pass_name).items():
            check_apart(spans, where=name, name=document)


@pytest.mark.data
def test_marks_fit_the_articles(data_dir):
    texts, _ = cells.articles(data_dir)
    for pass_name in cells.PASSES:
        for document, spans in cells.marks(pass_name).items():
            check_inside(spans, len(texts[document]), where=pass_name, name=document)
            assert all(span.of(texts[document]).strip() == span.of(texts[document]) for span in spans)


def test_exact_cells():
    assert cells.table_1(None)["share"] == 1.0
    assert cells.table_3(None)["paper"]["type"] == {"strict": 0.0, "exact": 1.0, "type": 0.0, "partial": 0.5}
    assert cells.agreement(None)["strict"]["value"] > 0.9


def test_labels_are_repaired_and_first_sentences_get_their_date(data):
    train, test = automatic(data, repair=True)
    assert len(train) + len(test) == 60
    marked = [word for word, tag in zip(train[0].words, train[0].tags, strict=True) if tag.endswith("BD")]
    assert len(marked) == 3
    assert train[0].title == ("Anna", "Berg")
    (sentence,) = first_sentences(data, 5)
    assert [w for w, t in zip(sentence.words, sentence.tags, strict=True) if t != "O"] == ["4", "May", "1901"]


def test_a_recogniser_learns_from_automatic_labels(data):
    pytest.importorskip("pycrfsuite")
    setting = {"epochs": 30, "batch": 1, "rate": 1.0, "pieces": 50, "seed": 0}
    result = recognisers.recogniser(data, model="crf", setting="ours", **setting)
    assert result["manual"]["strict"]["value"] > 0.5
    assert result["everything"]["documents"] == 4
    cell = Cell.of("recogniser", model="crf", setting="ours", **setting)
    judged = judge_all(load_claims("09"), STUDY, Results({cell: result}), set())
    words = {j.claim.id: j.verdict.word for j in judged}
    assert words["crf-ours"] in ("confirmed", "undecided")
    assert words["table-1"] == "not run"


def test_tagging_once_gives_what_tagging_for_each_test_gives(data):
    pytest.importorskip("pycrfsuite")
    setting = {"setting": "printed", "epochs": 10, "batch": 1, "rate": 1.0, "pieces": 50, "seed": 0}
    assert net_recogniser(data, model="crf", **setting) == recognisers.recogniser(data, model="crf", **setting)


def test_perfect_tags_score_one_and_cluster_by_document(data):
    sentences = manual(data)
    compared = documents(sentences, [list(s.tags) for s in sentences])
    assert len(compared) == 4
    assert all(d.gold == d.found and len(d.gold) == 2 for d in compared)


def test_counts_matcher_synthetic_and_patterns(data):
    pytest.importorskip("mwparserfromhell")
    assert cells.counts(data)["test_manual"]["pages"] == 4
    assert cells.matcher(data, marked="first")["errors"]
    assert cells.synthetic(data)["strict"]["value"] == 1.0
    assert len(synthetic_documents(data)) == 3
    assert patterns(data)["labels"]["EMAIL_ADDRESS"]["strict"]["value"] == 1.0


def test_the_rewriting_changes_what_it_can():
    assert rewritten("CH", "Eva", 0) == "Eva"
    assert {rewritten("BD", "3 June 1950", turn) for turn in range(3)} == {"1950-06-03", "3 June 1950", "June 3, 1950"}
    assert rewritten("BD", "1950", 0) == "1950"
