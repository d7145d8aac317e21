"""Sentences as a lawyer would cut them, and tokens that stand where they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textveil.hashed.segments import tokenize

# The bar marks where a sentence must begin; where none stands, none may.
CASES = [
    "Acme Inc. sells tea.|It sells milk.",
    "Acme Inc. and Bolt Corp. v. Crane Ltd. went on.|They lost.",
    "The buyer is Acme Inc.|The seller is unknown.",
    "See Exhibit No. 5 and Nos. 7 to 9.|Then sign.",
    "The answer is no.|Nobody paid.",
    "Pursuant to Section 5.2.|The parties agree.",
    "Section 5.2. Governing Law.|This paper rules.",
    "5.2. Governing Law.|This paper rules.",
    "2. FEES.|2.1 General.|The fee is due.",
    "The title goes to AT&T.|Vendor pays R&D.|Buyer owns it.",
    "IV. TERM.|It ends.",
    "ARTICLE IV. TERM.|It ends.",
    "A. Fees.|They are due.",
    "It ends on day 5.|Then all is paid.",
    "(a) The fee.|(b) The date.",
    "Made in the U.S. on Jan. 5, 2020.|Signed by J. R. Smith.",
    "It costs $1,000.50 per day.|Pay now!|Why?|Because.",
    'He said "stop."|Then he left.',
    "Some fees (e.g. tax, i.e. duty, etc.) apply.|Others do not.",
    "It ends at 5 p.m. each day.|All days count.",
    "Rent.com is a site.|It has v.2.1 of it.",
    "Wait... what is due?|Nothing.",
]


@pytest.mark.parametrize("marked", CASES)
def test_sentences(marked):
    text, starts = "", [0]
    for part in marked.split("|"):
        text += part + " "
        starts.append(len(text))
    found = tokenize(text.strip())
    assert [int(found.starts[b]) for b in found.sentences[:-1]] == starts[:-1]


def test_paragraphs_end_at_blank_lines_and_at_broken_lines_after_a_sentence():
    found = tokenize("A heading\n\nThis line is\nwrapped here.\nA new one:\n (a) first;\n (b) last")
    opened = [found.words[b] for b in found.paragraphs[:-1]]
    assert opened == ["A", "This", "A", "(", "("]
    assert set(found.paragraphs) <= set(found.sentences)


@pytest.mark.parametrize("text", ["", "   \n\n \t"])
def test_nothing(text):
    found = tokenize(text)
    assert found.words == [] and found.sentences.tolist() == [0] and found.paragraphs.tolist() == [0]


def test_numbers_apostrophes_and_runs_are_single_tokens():
    assert tokenize("Buyer's 1,000.5 10th ____ *** -- a_b").words == [
        "Buyer's", "1,000.5", "10th", "____", "***", "--", "a", "_", "b",
    ]  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("aB5.,'’ \n!?()“\"_é漢İ\U0001d54f"), max_size=80))
def test_tokens_stand_where_they_say_and_bounds_nest(text):
    found = tokenize(text)
    assert found.words == [text[a:b] for a, b in zip(found.starts, found.ends, strict=True)]
    assert "".join(found.words) == "".join(text.split()), "no character is lost but white space"
    for bounds in (found.sentences, found.paragraphs):
        assert bounds[0] == 0 and bounds[-1] == len(found.words) and (np.diff(bounds) > 0).all()
    assert set(found.paragraphs.tolist()) <= set(found.sentences.tolist())
