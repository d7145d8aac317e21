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
from textveil.reproduce.paper09.data import Sentence, automatic, documents, manual
from textveil.reproduce.paper09.presidio import patterns
from textveil.reproduce.paper09.said import said_sentences, said_spans
from textveil.reproduce.paper09.spread import spread
from textveil.reproduce.paper09.synthetic import rewritten, synthetic_documents
from textveil.reproduce.paper09.unseen import sentences, unseen
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
    first.append({"person": "Ida Lang", "text": "Ida Lang (born 4 May 1901) was a painter. Her husband was Otto Moor."})
    for name, rows in (("auto_annotations", automatic_rows), ("gold_redocred", gold), ("db_bio_train", first)):
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


def test_labels_are_repaired_and_rows_fall_into_three_parts(data):
    parts = automatic(data, repair=True)
    assert sum(map(len, parts)) == 60
    assert not {s.document for s in parts.train} & {s.document for s in (*parts.development, *parts.test)}
    marked = [word for word, tag in zip(parts.train[0].words, parts.train[0].tags, strict=True) if tag.endswith("BD")]
    assert len(marked) == 3
    assert parts.train[0].title == ("Anna", "Berg")


SAID = {
    "His wife, Anna Lee, sang.": [("Anna Lee", "SP")],
    "Bo's mother Ida May sang.": [("Ida May", "PR")],
    "He was born on 3 May 1900 to Carl Day and Ida May.": [("3 May 1900", "BD"), ("Carl Day", "PR"), ("Ida May", "PR")],
    "He married Anna Lee, the daughter of Otto Lee.": [("Anna Lee", "SP")],
    "They had two sons, Otto and Emil.": [("Otto", "CH"), ("Emil", "CH")],
    "His brother Otto sang in London.": [],
    "He died on 3 May 1900.": [],
}


@pytest.mark.parametrize("text", SAID)
def test_phrases_mark_what_is_said_of_the_subject(text):
    assert [(span.of(text), span.label) for span in said_spans(text, ("Bo", "Day-Moor"))] == SAID[text]


def test_biographies_without_records_get_labels(data):
    first, second = said_sentences(data, 5)
    assert [w for w, t in zip(first.words, first.tags, strict=True) if t != "O"] == ["4", "May", "1901"]
    assert [w for w, t in zip(second.words, second.tags, strict=True) if t != "O"] == ["Otto", "Moor"]


def test_other_mentions_of_a_name_get_its_label():
    text = ["Mary Todd sang .".split(), "Mary Lincoln and Todd left Mary Smith .".split(), "Lincoln left .".split()]
    tags = [["B-SP", "I-SP", "O", "O"], ["O"] * 8, ["O"] * 3]
    wide = spread(text, tags, ["Abraham", "Lincoln"])
    assert wide[1] == ["B-SP", "I-SP", "O", "B-SP", "O", "O", "O", "O"]
    assert wide[2] == ["O"] * 3
    two = [["B-SP", "I-SP", "O", "O"], ["O"] * 8, ["B-CH", "O", "O"]]
    assert spread([*text[:2], ["Mary", "left", "."]], two, ["Abraham"])[1][:2] == ["O", "O"]  # of two people


SETTING = {"biographies": 5, "epochs": 30, "batch": 1, "rate": 1.0, "pieces": 50, "seed": 0}


def test_a_recogniser_learns_from_automatic_labels(data):
    pytest.importorskip("pycrfsuite")
    result = recognisers.recogniser(data, model="crf", labels="said", **SETTING)
    assert result["bare"]["manual"]["strict"]["value"] > 0.5
    assert result["phrases"]["everything"]["documents"] == 4
    cell = Cell.of("recogniser", model="crf", labels="said", **SETTING)
    judged = judge_all(load_claims("09"), STUDY, Results({cell: result}), set())
    words = {j.claim.id: j.verdict.word for j in judged}
    assert words["crf-ours"] in ("confirmed", "undecided")
    assert words["table-1"] == "not run"


def test_a_reading_with_phrases_puts_them_before_the_model():
    sentence = Sentence("d", 1, tuple("His wife Anna sang with Otto .".split()), ("O",) * 7, ("Bo",))
    read = recognisers.readings([sentence], lambda inputs: [["O"] * 4 + ["B-CH"] + ["O"] * 4])
    assert read["bare"]["d", 1][2] == "B-CH"
    assert read["phrases"]["d", 1][2] == "B-SP"


def test_perfect_tags_score_one_and_cluster_by_document(data):
    sentences = manual(data)
    compared = documents(sentences, [list(s.tags) for s in sentences])
    assert len(compared) == 4
    assert all(d.gold == d.found and len(d.gold) == 2 for d in compared)


def test_sentences_of_wikibio_are_matched_with_their_infobox(data):
    box = {"article_title": "ida lang", "birth_date": "4 may 1901", "spouse": "otto moor", "position": "pitcher"}
    row = {"id": "wbi-train-016", "infobox": box, "first_sentence": "ida lang -lrb- born may 4 , 1901 -rrb- sang ."}
    write(data / "wikipii" / "wikibio_infobox_sample.jsonl.gz", [row, {**row, "id": "x", "infobox": {"name": "a"}}])
    texts, records = sentences(data)
    assert list(texts) == ["wbi-train-016"]
    assert records["wbi-train-016"][0] == {"name": ["ida lang"], "birth_date": ["4 may 1901"], "spouse": ["otto moor"]}
    assert unseen(data)["marks"] == {"BD": 45, "PR": 0, "SP": 1, "CH": 0, "ED": 2}


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
