"""The card: well-formed, self-contained, small, escaped, and loud where it must be."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from textveil.attacks.evidence import NOT_REFUTED, Evidence
from textveil.core import (
    ZCDP,
    Adjacency,
    Approx,
    Cryptographic,
    Guarantee,
    LimitedPrecision,
    Measured,
    Metric,
    NoPromise,
    Pure,
    Renyi,
    Unit,
)
from textveil.core.facts import (
    DataFacts,
    DocumentLine,
    Facts,
    ModelScores,
    SamplePair,
    SealFacts,
    Substitution,
    TrainingRun,
    VectorsUsed,
)
from textveil.report import write_card
from textveil.report.first_screen import badge_of

VOID = {"meta", "br", "link", "img", "hr", "input"}
METRIC = Guarantee(
    Metric(0.5, "hamming", "ab12", 256.0), Unit.WORD, Adjacency.METRIC, ("vectors are public",), "Theorem 3"
)
WEAK = Evidence("words.bayes", "success", 0.31, 0.01, 310, 1000)


class Balanced(HTMLParser):
    """Every element is closed, in order; collects text and attributes."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.text, self.attributes, self.names = [], [], [], []

    def handle_starttag(self, name, attributes):
        self.names.append(name)
        self.attributes += attributes
        if name not in VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.names.append(name)
        self.attributes += attributes

    def handle_endtag(self, name):
        assert self.open and self.open.pop() == name

    def handle_data(self, text):
        if self.open and self.open[-1] not in ("style", "script"):
            self.text.append(text)


def read(page: str) -> Balanced:
    parser = Balanced()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser


def text_of(page: str) -> str:
    return " ".join(" ".join(read(page).text).split())


def manifest(promise=METRIC, evidence=(), **more) -> dict:
    shown = {
        "textveil": "0.1.0",
        "mechanism": "words.brr",
        "parameters": {"epsilon": 0.5, "bits": 256, "keep": []},
        "guarantee": promise.to_json(),
        "entry": "line-7",
        "draft": False,
        "created": "2026-01-01T00:00:00+00:00",
        "versions": {"numpy": "2.0"},
        "facts": {},
        "data": "data.jsonl",
        "evidence": [e.to_json() if isinstance(e, Evidence) else e for e in evidence],
    }
    return {**shown, **more}


FULL = manifest(
    evidence=[WEAK],
    passes=["the column 'customer'", "letter case"],
    facts=Facts(
        data=DataFacts("letters.jsonl", "2026-01-31", "text"),
        document=DocumentLine(128.0, 200),
        vectors=VectorsUsed("default", 20_000, "c0ffee"),
        substitution=Substitution(0.27, (3.0, 2.0, 1.0)),
        sample=(SamplePair("the old text", "an ancient note"),),
        making=("12 updates",),
        not_protected=("words outside the vocabulary", "vectors are public"),
        beware=("the true total is 34",),
    ).to_json(),
)


def test_the_whole_card_is_well_formed_and_says_everything():
    text = text_of(write_card(FULL))
    for expected in (
        "words.brr", "Guarantee for near words", "One occurrence of a word", "Not protected", "The length of the text",
        "Words outside the vocabulary", "200 × 128 = 25,600", "0.5 × 256", "entry line-7", "31.0 %", "28.1 % to 34.0 %",
        "1.0 %", "310 of 1,000", NOT_REFUTED, "Vectors are public", "Theorem 3", "numpy 2.0", "default, 20,000 words",
        "27.0 %", "the old text", "an ancient note", "How to read this card", "12 updates", "letters.jsonl",
        "Leaves unprotected", "The column 'customer'", "Letter case", "the true total is 34",
    ):  # fmt: skip
        assert expected in text, expected
    assert text.lower().count("vectors are public") == 1


def section_of(page: str, title: str) -> str:
    """The text of one section."""
    inner = re.search(rf"<section><h2>{re.escape(title)}</h2>(.*?)</section>", page, re.DOTALL)
    assert inner, f"there is no section '{title}'"
    return text_of(inner.group(1))


def test_how_it_was_made_does_not_stand_under_not_protected():
    page = write_card(FULL)
    assert "12 updates" in section_of(page, "How it was made")
    assert "12 updates" not in section_of(page, "What is protected, and what is not")


def test_a_release_of_format_1_still_has_a_card():
    facts = {
        "document": {"max_words": 200, "epsilon_per_word_worst": 128.0, "loss": 25600.0},
        "policies": ["not hidden: ordinary words", "12 updates"],
        "vectors": {"name": "default", "words": 20000, "fingerprint": "c0ffee"},
        "sample": {"pairs": [{"before": "the old text", "after": "an ancient note"}]},
    }
    page = write_card(manifest(evidence=[WEAK], facts=facts))
    assert "200 × 128 = 25,600" in text_of(page)
    assert "Not hidden: ordinary words" in section_of(page, "What is protected, and what is not")
    assert "12 updates" in section_of(page, "How it was made")
    assert "is not known" in section_of(page, "Leaves unprotected")


def test_what_passed_is_listed_whole_or_said_to_be_nothing():
    page = write_card(manifest(passes=[f"the column 'c{i}'" for i in range(30)]))
    listed = section_of(page, "Leaves unprotected")
    assert all(f"The column 'c{i}'" in listed for i in range(30))
    assert "Nothing of the input left" in section_of(write_card(manifest(passes=[])), "Leaves unprotected")


WORD, DOCUMENT = (Unit.WORD, Adjacency.METRIC), (Unit.DOCUMENT, Adjacency.ADD_REMOVE)
BADGES = [
    (Guarantee(Pure(1.0), *DOCUMENT), "Guarantee", "guarantee"),
    (Guarantee(Pure(2.94), *DOCUMENT), "Guarantee", "guarantee"),  # an even guess is right 94.98 % of the time
    (Guarantee(Pure(2.95), *DOCUMENT), "Weak guarantee", "near"),
    (Guarantee(Approx(2.9, 0.2), *DOCUMENT), "Weak guarantee", "near"),
    (Guarantee(Metric(0.5, "hamming", "a", 256.0), *WORD), "Guarantee for near words", "near"),
    (Guarantee(Metric(0.5, "hamming", "a", 5.0), *WORD), "Guarantee", "guarantee"),
    (Guarantee(Metric(0.5, "hamming", "a"), *WORD), "Guarantee for near words", "near"),
    (Guarantee(LimitedPrecision(1.0, 10), *DOCUMENT), "Guarantee", "guarantee"),
    (Guarantee(LimitedPrecision(5.0, 10), *DOCUMENT), "Weak guarantee", "near"),
    (Guarantee(Measured(0.1, 0.0, "a law"), *DOCUMENT), "Measured", "measured"),
]


@pytest.mark.parametrize(("promise", "name", "tone"), BADGES)
def test_a_badge_is_green_only_where_the_worst_neighbours_stay_alike(promise, name, tone):
    badge = badge_of(promise)
    assert (badge.name, badge.tone) == (name, tone)
    assert f'<body class="label-{tone}">' in write_card(manifest(promise))


def test_no_refuted_or_drafted_promise_is_green():
    green = Guarantee(Pure(1.0), *DOCUMENT)
    assert badge_of(green, refuted=True).tone == "broken"
    assert badge_of(green, draft=True).tone == "seeded"


def first_screen(page: str) -> str:
    return text_of(page[page.index("<header>") : page.index("</header>") + len("</header>")])


def test_the_first_screen_says_whom_how_sure_and_what_was_measured():
    counts = Guarantee(LimitedPrecision(1.0, 10), Unit.DOCUMENT, Adjacency.METRIC)
    found = Evidence("counts.passage", "success", 0.52, 0.5, 520, 1000, unit=Unit.DOCUMENT)
    text = first_screen(write_card(manifest(counts, [found])))
    assert "cannot be right more than 73.2 % of the time" in text
    assert "if they differ in at most 10 counts" in text
    assert "counts.passage) was right 52.0 % of the time, by chance 50.0 %" in text
    assert "one whole document" not in text
    near = first_screen(write_card(manifest()))
    assert "which of two near words (at most 5.88 apart in hamming distance)" in near
    assert "no attack stands on this card yet" in near


@pytest.mark.parametrize("promise", [promise for promise, _, _ in BADGES])
def test_nothing_under_protected_describes_a_lack(promise):
    page = write_card(manifest(promise))
    panel = re.search(r'<div class="panel"><h3>Protected.*?</div>', page, re.DOTALL)
    if panel is not None:
        assert "practically always" not in text_of(panel.group())
        assert "worst loss" not in text_of(panel.group())


def test_below_1_is_not_called_strong_beside_an_epsilon_per_step():
    assert "Below 1 is strong" not in text_of(write_card(manifest()))
    assert "Below 1 is strong" in text_of(write_card(manifest(Guarantee(Pure(1.0), *DOCUMENT))))


def test_evidence_scored_with_the_private_text_is_marked():
    mark = "scored with the private text"
    assert mark not in text_of(write_card(manifest(evidence=[WEAK])))
    assert mark in text_of(write_card(manifest(evidence=[{**WEAK.to_json(), "published": True}])))


def test_a_ceiling_names_the_words_it_is_about():
    ceiling = Evidence("words.bayes", "success", 0.2, 0.01, 200, 1000, upper=0.248)
    assert "for words drawn from the public prior" in text_of(write_card(manifest(evidence=[ceiling])))


def test_the_strongest_attack_is_the_one_that_gains_most_over_chance():
    lookup = Evidence("hashed.lookup", "success", 0.5, 0.5, 500, 1000)
    assert "words.bayes" in first_screen(write_card(manifest(evidence=[lookup, WEAK])))


def test_the_dearest_term_stands_beside_a_lenient_headline():
    facts = Facts(seal=SealFacts("quiet", "kernel", 3, 0.1, 0.5, costs={"1": 998.7, "100": 2.8})).to_json()
    promise = Guarantee(Measured(2.8, 1e-5, "a law"), Unit.TERM, Adjacency.ADD_REMOVE)
    page = write_card(manifest(promise, facts=facts))
    assert "998.7" in first_screen(page)
    assert "documents that keep a row 3" in section_of(page, "How it was made")


def test_printed_losses_are_rounded_up():
    assert "ε 0.3607" in text_of(write_card(manifest(Guarantee(Pure(0.36062), *DOCUMENT))))
    assert "with δ 1.3e-06" in text_of(write_card(manifest(Guarantee(Approx(1.0, 1.21e-6), *DOCUMENT))))


def test_a_ceiling_is_rounded_up():
    ceiling = Evidence("words.bayes", "success", 0.2, 0.01, 200, 1000, upper=0.24812)
    assert "more often than 24.9 %" in text_of(write_card(manifest(evidence=[ceiling])))


@pytest.mark.parametrize("shown", [FULL, manifest()])
def test_nothing_is_loaded_from_outside(shown):
    page = write_card(shown)
    parsed = read(page)
    assert not {"script", "link", "img", "iframe", "object"} & set(parsed.names)
    assert not [v for k, v in parsed.attributes if k in ("src", "href", "xlink:href", "srcset", "action")]
    assert not re.search(r"https?:|url\(|@import|//[a-z]", page)


def test_a_card_stays_small_whatever_the_sample():
    facts = {"sample": [{"before": "x" * 10**6, "after": "&" * 10**6}] * 50}
    many = {"keep": [f"word{i}" for i in range(100_000)]}
    passes = [f"kept words: {' '.join(many['keep'])}"]
    page = write_card(manifest(facts=facts, parameters=many, evidence=[WEAK] * 20, passes=passes))
    assert len(page.encode()) < 300_000


def test_everything_is_escaped():
    evil = '<script>alert("x")</script>&\'"'
    promise = Guarantee(Metric(0.5, evil, evil, 9.0), Unit.WORD, Adjacency.METRIC, (evil,), evil)
    evidence = Evidence(evil, evil, 0.5, 0.1, 5, 10, notes=(evil,))
    facts = Facts(
        data=DataFacts(evil, evil, evil),
        vectors=VectorsUsed(evil, 3, evil),
        scores=ModelScores((evil,), {}, evil),
        training=TrainingRun(((1.0, 1, 1),), 1, sampling=evil),
        seal=SealFacts(evil, evil, costs={evil: 1.0}, how_counted=evil),
        sample=(SamplePair(evil, evil),),
        making=(evil,),
        not_protected=(evil,),
        beware=(evil,),
    ).to_json()
    page = write_card(
        manifest(
            promise,
            [evidence],
            facts=facts,
            mechanism=evil,
            entry=evil,
            created=evil,
            versions={evil: evil},
            parameters={evil: evil},
            textveil=evil,
            passes=[evil],
        )
    )
    assert "<script" not in page
    assert "script" not in read(page).names
    assert text_of(page).count(evil) >= 25


def test_no_text_of_the_release_without_the_bundled_sample():
    assert "Before and after" not in write_card(manifest())
    assert "Before and after" in write_card(FULL)


@pytest.mark.parametrize(
    "promise", [METRIC, Guarantee(NoPromise("drawn with a seed", "seeded"), Unit.WORD, Adjacency.METRIC)]
)
def test_a_draft_cannot_be_missed(promise):
    page = write_card(manifest(promise, draft=True))
    assert "DRAFT: DO NOT PUBLISH" in text_of(page)
    assert page.index("DRAFT") < page.index("<h1>")
    assert "DRAFT" not in text_of(write_card(manifest()))


def test_refuted_evidence_is_shown_first_and_in_the_table():
    promise = Guarantee(Pure(0.5), Unit.WORD, Adjacency.REPLACE)
    page = write_card(manifest(promise, [WEAK]))
    text = text_of(page)
    assert "THE PROMISE IS REFUTED" in text
    assert "refuted: the promise does not hold" in text
    assert page.index("THE PROMISE IS REFUTED") < page.index("<h1>")
    assert "Claimed, and not kept" in text
    assert "A theorem covers" not in text.split("How to read this card")[0]
    assert "REFUTED" not in text_of(write_card(FULL))


def test_a_verdict_in_the_file_is_not_believed():
    lie = {**WEAK.to_json(), "verdict": "all is well", "refuted": False, "interval": [0, 0.001]}
    text = text_of(write_card(manifest(Guarantee(Pure(0.5), Unit.WORD, Adjacency.REPLACE), [lie])))
    assert "THE PROMISE IS REFUTED" in text
    assert "all is well" not in text


def test_evidence_about_another_unit_is_not_compared():
    other = Evidence("canary", "success", 1.0, 0.5, 1000, 1000, unit=Unit.USER)
    text = text_of(write_card(manifest(evidence=[other])))
    assert "not compared" in text
    assert "REFUTED" not in text


def test_unreadable_evidence_is_counted_and_missing_evidence_said():
    assert "1 entries of evidence could not be read" in text_of(write_card(manifest(evidence=[{"attack": "x"}])))
    assert "No attack on this release stands on its card yet" in text_of(write_card(manifest()))


LOSSES = [
    (Pure(1.0), "Guarantee", "ε 1"),
    (Approx(1.0, 1e-6), "Guarantee", "with δ 1e-06"),
    (Metric(0.5, "euclidean"), "Guarantee for near inputs", "how far two of them can be is not known"),
    (LimitedPrecision(1.0, 10), "Guarantee", "at most 10 in total"),
    (Renyi(2.0, 0.5), "Guarantee", "order 2"),
    (ZCDP(0.5), "Guarantee", "ρ 0.5"),
    (Measured(float("inf"), 0.0, "fitted laws"), "Measured", "measured on this data, not promised"),
    (Cryptographic("two honest servers"), "Cryptographic", "two honest servers"),
    (NoPromise("it only looks safe", "heuristic"), "Heuristic", "it only looks safe"),
    (NoPromise("masks are reused", "broken"), "Broken", "it protects nobody"),
    (NoPromise("a seed", "seeded"), "Seeded draft", "DRAFT"),
]


@pytest.mark.parametrize(("loss", "badge", "said"), LOSSES)
def test_every_kind_of_loss_has_its_label_and_words(loss, badge, said):
    page = write_card(manifest(Guarantee(loss, Unit.USER, Adjacency.ADD_REMOVE), [WEAK]))
    assert f'<span class="badge">{badge}</span>' in page
    tone = "near" if "near" in badge else loss.label
    assert f'<body class="label-{tone}">' in page
    assert said in text_of(page)


def test_only_a_guarantee_has_a_document_line():
    facts = {"document": {"max_words": 200, "epsilon_per_word_worst": 128.0, "loss": 25600.0}}
    draft = Guarantee(NoPromise("a seed", "seeded"), Unit.WORD, Adjacency.METRIC)
    assert "25,600" not in text_of(write_card(manifest(draft, draft=True, facts=facts)))
    no_cap = {"document": {"epsilon_per_word_worst": 128.0}}
    assert "No cap on the words of a document" in text_of(write_card(manifest(facts=no_cap)))


def test_no_ledger_is_said():
    assert "not recorded in a ledger" in text_of(write_card(manifest(entry=None)))


def test_a_promise_about_near_words_says_how_many_words_are_near():
    facts = {"vectors": {"name": "english", "words": 30_000, "fingerprint": "c0", "nearest": 42.0, "near_share": 0.004}}
    page = write_card(manifest(facts=facts))
    assert "as hardly any two words are" in text_of(page)
    panel = section_of(page, "What is protected, and what is not")
    assert "99.6 % of words" in panel
    assert "42 or more away from every other word, where the loss may be 21" in panel
    common = {"vectors": {**facts["vectors"], "near_share": 0.9}}
    assert "hardly any" not in text_of(write_card(manifest(facts=common)))


def test_a_hopeless_bound_stands_under_no_heading_that_says_protected():
    weak = Guarantee(LimitedPrecision(20.0, 10), Unit.DOCUMENT, Adjacency.METRIC)
    page = write_card(manifest(weak, mechanism="counts.limited_precision"))
    assert "Hardly protected" in text_of(page)
    assert "practically always afterwards, not more" not in text_of(page)
    assert "more often if they differ in more" not in text_of(page)


def test_no_gain_over_chance_is_no_headline():
    sealed = Guarantee(Measured(8.3, 1e-5, "how"), Unit.TERM, Adjacency.ADD_REMOVE)
    trivial = Evidence("hashed.lookup", "auc", 0.5, 0.5, 0, 300, unit=Unit.TERM, effective=150.0)
    text = text_of(write_card(manifest(sealed, [trivial], mechanism="hashed.seal")))
    assert "none of the attacks tried did better than chance" in text
    assert "as sure as 150 tries" in text
    assert "0 of 300" not in text
    better = Evidence("hashed.retrain", "auc", 0.85, 0.5, 0, 300, unit=Unit.TERM, effective=150.0)
    text = text_of(write_card(manifest(sealed, [trivial, better], mechanism="hashed.seal")))
    assert "(hashed.retrain) picked the right one of two 85.0 % of the time, by chance 50.0 %" in text


def test_a_note_of_several_attacks_stands_once():
    one = Evidence("words.bayes", "success", 0.3, 0.1, 30, 100, notes=("scored on the true words", "its own"))
    other = Evidence("words.nearest", "success", 0.3, 0.1, 30, 100, notes=("scored on the true words",))
    text = text_of(write_card(manifest(evidence=[one, other])))
    assert text.count("cored on the true words") == 1
    assert "words.bayes: its own" in text


def test_parameters_are_named_and_nothing_stands_twice():
    facts = Facts(seal=SealFacts("quiet", "kernel", 3, 0.1, 0.5, costs={"1": 8.3})).to_json()
    sealed = Guarantee(Measured(8.3, 1e-5, "how"), Unit.TERM, Adjacency.ADD_REMOVE)
    parameters = {
        "plan": {"bits": 14, "families": ["word"]},
        "seal": {"mode": "quiet"},
        "widen": "sentence",
        "also": [],
    }
    made = section_of(
        write_card(manifest(sealed, mechanism="hashed.seal", parameters=parameters, facts=facts)), "How it was made"
    )
    for part in ("kinds of features word", "names and rare terms are forgotten", "finds become whole sentences"):
        assert part in made, part
    assert made.count("quiet") == 1
    assert "also" not in made
