"""What the patterns find and leave, as a table that anybody can review. All numbers are test numbers or invented."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.pii.patterns import PatternRecogniser
from textveil.pii.recognisers import load
from textveil.text.spans import Span

RECOGNISER = PatternRecogniser()

FOUND = [
    ("EMAIL_ADDRESS", "anna.o'neil+x@mail.example.org", "write to {} please"),
    ("URL", "https://www.example.org/a?b=c", "see {}."),
    ("URL", "www.example.org", "see {}, or not"),
    ("IP_ADDRESS", "192.168.17.4", "from {} today"),
    ("IP_ADDRESS", "2001:db8::ff00:42:8329", "from {} today"),
    ("MAC_ADDRESS", "00:1B:44:11:3A:B7", "device {}"),
    ("CREDIT_CARD", "4111-1111-1111-1111", "{}"),
    ("CREDIT_CARD", "378282246310005", "my card {}"),
    ("IBAN_CODE", "GB82 WEST 1234 5698 7654 32", "pay to {} soon"),
    ("IBAN_CODE", "de89370400440532013000", "pay to {}"),
    ("US_SSN", "219-09-9998", "SSN {}"),
    ("UK_NHS", "943 476 5919", "NHS number {}"),
    ("UK_NINO", "AB 12 34 56 C", "insurance {}"),
    ("DE_TAX_ID", "86 095 742 719", "Steuer {}"),
    ("PL_PESEL", "44051401359", "PESEL {}"),
    ("NL_BSN", "111222333", "BSN {}"),
    ("ES_NIF", "12345678Z", "DNI {}"),
    ("IT_FISCAL_CODE", "RSSMRA85T10A562S", "codice {}"),
    ("FI_PERSONAL_CODE", "131052-308T", "hetu {}"),
    ("BR_CPF", "529.982.247-25", "CPF {}"),
    ("CH_AHV", "756.9217.0769.85", "AHV {}"),
    ("US_ABA_ROUTING", "021000021", "routing number {}"),
    ("US_NPI", "1234567893", "NPI {}"),
    ("VEHICLE_ID", "1M8GDM9AXKP042788", "VIN {}"),
    ("CRYPTO", "1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "send to {}"),
    ("PHONE_NUMBER", "+49 30 1234567", "reach {} now"),
    ("PHONE_NUMBER", "(212) 555-0123", "reach {} now"),
    ("PHONE_NUMBER", "212-555-0123 x12", "{}"),
    ("DATE_TIME", "2007-01-17 23:08:55", "on {}"),
    ("DATE_TIME", "3 March 1999", "on {}"),
    ("DATE_TIME", "Feb. 3rd, 1999", "on {}"),
    ("DATE_TIME", "23/12/1999", "on {}"),
    ("AGE", "45", "she is {} years old"),
    ("ZIP_CODE", "94107-1234", "{}"),
    ("ZIP_CODE", "SW1A 1AA", "postcode {}"),
    ("STREET_ADDRESS", "12 Old Mill Road", "lives at {}, today"),
    ("PERSON", "Karola Winter", "Dr. {} came"),
    ("MEDICAL_RECORD", "00482913", "MRN {}"),
]
LEFT = [
    "card 4111 1111 1111 1112",  # Luhn fails
    "pay to GB82 WEST 1234 5698 7654 33",
    "in 1999 12 people came, 3.14 times",
    "version 1.2.3 of chapter 4.5",
    "000-12-3456",
    "256.300.1.1",
    "ISBN 978-3-16",
    "the year 2020 and 45 apples",
]


@pytest.mark.parametrize(("label", "value", "frame"), FOUND, ids=[f"{f[0]} {f[1]}" for f in FOUND])
def test_found(label, value, frame):
    text = frame.format(value)
    assert [(s.label, s.of(text)) for s in RECOGNISER.find_one(text)] == [(label, value)]


@pytest.mark.parametrize("text", LEFT)
def test_left(text):
    assert RECOGNISER.find_one(text) == []


def test_a_finding_explains_itself():
    (span,) = RECOGNISER.find_one("My SSN: 219-09-9998")
    assert (span.rule, span.context, span.score) == ("us ssn", ("ssn",), 0.99)
    (doubted,) = [s for s in RECOGNISER.candidates("version 1.2.3.4") if s.rule == "ipv4"]
    assert doubted.context == ("not:version",) and doubted.score < 0.5


def test_thresholds_by_label():
    text = "call me, 555-01-23 45, or +49 30 1234567"
    least = PatternRecogniser(thresholds={"PHONE_NUMBER": 0.96}).find_one(text)
    assert [s.of(text) for s in least] == ["+49 30 1234567"]


def test_of_overlapping_findings_the_surest_then_the_longest_stays():
    class Fixed:
        labels, name = ("A", "B"), "fixed"

        def find(self, texts):
            return [[Span(0, 4, "A", 0.5), Span(2, 9, "B", 0.5), Span(3, 5, "A", 0.4)] for _ in texts]

    assert [s.label for s in load(Fixed()).find(["0123456789"])[0]] == ["B"]


@given(st.text(alphabet="0123456789 .-/()+@:abAB\n", max_size=80))
def test_spans_lie_inside_in_order_and_apart(text):
    spans = RECOGNISER.find_one(text)
    assert all(0 <= s.start < s.end <= len(text) and 0 < s.score <= 1 for s in spans)
    assert all(a.end <= b.start for a, b in itertools.pairwise(spans))
