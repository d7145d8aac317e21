"""Matchers of records, as tables that a reader can check; and the choice among them."""

from __future__ import annotations

import pytest

from textveil.core import BadInput
from textveil.pii.annotate.annotator import Annotator
from textveil.pii.annotate.dates import DateForm, mentions, parse_date
from textveil.pii.annotate.fields import Kind, parse_rules, rule_of
from textveil.pii.annotate.infobox_html import record_of_html
from textveil.pii.annotate.infobox_wikitext import record_of_wikitext
from textveil.pii.annotate.names import form_of, parse_name
from textveil.pii.annotate.organisations import organisation_form, parse_organisation
from textveil.pii.annotate.phrases import Phrases
from textveil.pii.annotate.repair import repaired
from textveil.pii.spans import Span

SUBJECT = frozenset({"karl", "otto", "berg"})
NAMES = [  # value of the record, text, words found, form
    ("Anna Meyer", "he met Anna Meyer there", "Anna Meyer", "full"),
    ("Meyer, Anna", "he met Anna Meyer there", "Anna Meyer", "full"),
    ("Anna Meyer", "he met A. Meyer there", "A. Meyer", "full"),
    ("Anna Meyer", "he met Anna Sophie Meyer there", "Anna Sophie Meyer", "full"),
    ("Dr. Anna Meyer (1901–1980)", "he met Dr. Anna Meyer there", "Anna Meyer", "full"),
    ("Anna Meyer", "he met Ánna Mëyer there", "Ánna Mëyer", "full"),
    ("Robert Meyer", "he met Bob Meyer there", "Bob Meyer", "full"),
    ("Ludwig van Beethoven", "he met Ludwig van Beethoven there", "Ludwig van Beethoven", "full"),
    ("Anna Wittgenstein", "he met Anna Wittgensteyn there", "Anna Wittgensteyn", "full"),
    ("Anna Meyer", "he married Anna Berg there", "Anna Berg", "family"),
    ("Tom", "his son Thomas Berg", None, None),
    ("Eva", "his daughter Eva Berg", "Eva Berg", "full"),
    ('Edward "Teddy" Berg', "his son Teddy", "Teddy", "nickname"),
    ("Tad", 'his son Thomas "Tad" Berg', 'Thomas "Tad" Berg', "full"),
    ("Anna Meyer", "then Meyer left", "Meyer", "surname"),
    ("Anna Meyer", "then Anna left", "Anna", "given"),
    ("Anna Meyer", "he met Anna Lang there", "Anna Lang", "other"),
    ("Anna Meyer", "he met Eva Meyer there", None, None),
    ("Eva Berg", "the city of Berg", None, None),
    ("John Adam Meyer", "he met John Brian Meyer", "John Brian Meyer", "other"),
]


@pytest.mark.parametrize(("value", "text", "words", "form"), NAMES)
def test_names(value: str, text: str, words: str | None, form: str | None) -> None:
    name, phrases = parse_name(value), Phrases(text)
    found = [(text[r.start : r.end], form_of(name, r, SUBJECT)) for r in phrases.person_runs]
    assert [(w, str(f)) for w, f in found if f is not None] == ([] if words is None else [(words, form)])


DATES = [
    ("3 April 1885", "born on April 3, 1885 in", "April 3, 1885", DateForm.WHOLE),
    ("1885-04-03", "born 3rd of April 1885", "3rd of April 1885", DateForm.WHOLE),
    ("3 April 1885", "born 1885-04-03.", "1885-04-03", DateForm.WHOLE),
    ("3 April 1885", "born 03/04/1885.", "03/04/1885", DateForm.WHOLE),
    ("3 April 1885", "born Apr. 3, 1885.", "Apr. 3, 1885", DateForm.WHOLE),
    ("5 September 1946", "(5 September 194624 November 1991)", "5 September 1946", DateForm.WHOLE),
    ("3 April 1885", "in April 1885 he", "April 1885", DateForm.MONTH),
    ("3 April 1885", "in 1885 he", "1885", DateForm.YEAR),
    ("384 BC", "(384–322 BC)", "384", DateForm.WHOLE),
    ("3 April 1885", "5 April 1885", "April 1885", DateForm.MONTH),
    ("3 April 1885", "page 18850", None, None),
]


@pytest.mark.parametrize(("value", "text", "words", "form"), DATES)
def test_dates(value: str, text: str, words: str | None, form: DateForm | None) -> None:
    date = parse_date(value)
    assert date is not None
    found = [(text[a:b], f) for a, b, f in mentions(date, text)]
    assert found == ([] if words is None else [(words, form)])


ORGANISATIONS = [
    ("Southern Methodist University", "at Southern Methodist University in", "Southern Methodist University", "full"),
    (
        "University of Texas, Austin",
        "at the University of Texas School of Law",
        "University of Texas School of Law",
        "full",
    ),
    ("Texas A&M", "at Texas A&M University", "Texas A&M University", "full"),
    ("Acme Widgets Ltd", "at Acme Widgets", "Acme Widgets", "full"),
    ("St. Peter's Boys School", "at St. Peter's School", "St. Peter's School", "full"),
    ("Eton College", "at Eton", "Eton", "part"),
    ("Southern Methodist University", "at SMU", "SMU", "short"),
    ("Columbia University", "at Howard University", None, None),
    ("New York University", "in the New York Times", None, None),
]


@pytest.mark.parametrize(("value", "text", "words", "form"), ORGANISATIONS)
def test_organisations(value: str, text: str, words: str | None, form: str | None) -> None:
    name, phrases = parse_organisation(value), Phrases(text)
    assert name is not None
    found = [(text[r.start : r.end], organisation_form(name, r)) for r in phrases.organisation_runs]
    assert [(w, str(f)) for w, f in found if f is not None] == ([] if words is None else [(words, form)])


def marked(text: str, *people: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(span.of(text), span.label) for span in Annotator().annotate(text, list(people))]


def test_troy_the_city_is_not_the_child() -> None:
    text = "Karl Berg has a son, Troy, and lives in Troy, New York. Troy was born in 1990."
    person = {"name": ["Karl Berg"], "children": ["Troy"]}
    assert marked(text, person) == [("Troy", "CH"), ("Troy", "CH")]
    assert [s.start for s in Annotator().annotate(text, [person])] == [21, 56]


def test_a_bare_name_is_who_was_last_called_so_in_full() -> None:
    text = "Karl Berg married Mary Todd. Later Mary Owens came. Mary was a friend. Mary Todd stayed. Mary sang."
    found = Annotator().annotate(text, [{"name": ["Karl Berg"], "spouse": ["Mary Todd"]}])
    assert [(s.of(text), s.start) for s in found] == [("Mary Todd", 18), ("Mary Todd", 71), ("Mary", 89)]


def test_a_school_where_somebody_teaches_is_less_sure_than_one_attended() -> None:
    text = "Karl Berg studied at Eton College. He later taught at Eton."
    studied, *rest = Annotator().annotate(text, [{"name": ["Karl Berg"], "education": ["Eton College"]}])
    assert studied.of(text) == "Eton College"
    assert all(span.score < studied.score for span in rest)


def test_two_people_with_one_name_are_marked_once_and_doubtfully() -> None:
    text = "Karl Berg wrote to Anna Lang."
    (span,) = Annotator().annotate(text, [{"name": ["Karl Berg"], "mother": ["Anna Lang"]}, {"spouse": ["Anna Lang"]}])
    assert (span.label, span.score, span.rule) == ("PR", 0.5, "record:mother:full?")


def test_every_span_names_its_rule_and_field() -> None:
    text = "Karl Berg, ID 555-0199, born 3 April 1885 in Ulm, works at Acme Widgets."
    record = {
        "name": ["Karl Berg"],
        "phone": ["555 0199"],
        "born": ["1885-04-03"],
        "town": ["Ulm"],
        "employer": ["Acme Widgets Ltd"],
    }
    found = {s.label: (s.of(text), s.rule) for s in Annotator().annotate(text, [record])}
    assert found == {
        "PHONE": ("555-0199", "record:phone:exact"),
        "BD": ("3 April 1885", "record:born:whole"),
        "TOWN": ("Ulm", "record:town:exact"),
        "EMPLOYER": ("Acme Widgets", "record:employer:full"),
    }


def test_rules_of_fields() -> None:
    assert rule_of("Father's name").label == "PR"
    assert rule_of("nickname").kind is Kind.PERSON
    rules = parse_rules(["nickname=ALIAS:value"])
    assert rule_of("nickname", rules).label == "ALIAS"
    for wrong in ("nickname", "nickname=ALIAS", "nickname=:value", "nickname=A B:value", "nickname=ALIAS:colour"):
        with pytest.raises(BadInput, match="FIELD=LABEL:KIND"):
            parse_rules([wrong])


HTML = """
<table class="infobox vcard"><tbody><tr><th colspan="2" class="infobox-above">Karl Berg</th></tr>
<tr><th scope="row">Born</th><td><div>Karl Otto Berg</div>
<span style="display:none">(<span class="bday">1885-04-03</span>)</span>
April 3, 1885<br>Ulm, Germany</td></tr>
<tr><th>Spouse(s)</th><td><div>Anna Meyer<sup>[1]</sup> (m. 1910)</div><div>Eva Lang</div></td></tr>
<tr><th>Alma mater</th><td><ul><li>University of Jena (PhD, 1913)</li><li>Eton College</li></ul></td></tr>
<tr><th>Children</th><td>3, including Tom and Ida</td></tr><tr><th>Height</th><td>1.80 m</td></tr></tbody></table>
<table class="infobox"><tr><th>Spouse</th><td>Somebody Else</td></tr></table>
"""


def test_a_rendered_infobox_becomes_a_record() -> None:
    assert record_of_html(HTML) == {
        "name": ["Karl Berg"],
        "birth_date": ["1885-04-03"],
        "spouse": ["Anna Meyer", "Eva Lang"],
        "education": ["University of Jena", "Eton College"],
        "children": ["Tom", "Ida"],
    }
    assert record_of_html("<p>no box</p>") == {}


WIKITEXT = """{{Infobox person
| name = Karl Berg <!-- not Carl -->
| birth_date = {{birth date|df=yes|1885|4|3}}<ref>a book</ref>
| birth_place = [[Ulm]]
| spouse = {{plainlist|
* {{marriage|[[Anna Meyer (singer)|Anna Meyer]]|1910|1919}}
* [[Eva Lang]] (m. 1920)
}}
| children = [[Thomas Berg|Tom]] & Ida
| alma_mater = [[University of Jena]] {{small|([[Doctor of Philosophy|PhD]])}}<br />[[Eton College]]
}} '''Karl Berg''' was a ..."""


def test_a_template_becomes_a_record_and_links_give_further_names() -> None:
    pytest.importorskip("mwparserfromhell")
    assert record_of_wikitext(WIKITEXT) == {
        "name": ["Karl Berg"],
        "birth_date": ["3 April 1885"],
        "spouse": ["Anna Meyer", "Eva Lang"],
        "children": ["Tom", "Ida", "Thomas Berg"],
        "education": ["University of Jena", "Eton College"],
    }
    assert record_of_wikitext("no template") == {}


def test_repair_puts_marks_on_whole_phrases() -> None:
    text = "He was born 20 July 1966 and is married to Anna Sophie Meyer since 1991, said General Grant."
    spans = [Span(15, 19, "BD"), Span(43, 47, "SP"), Span(67, 71, "SP")]
    kept, lost = repaired(text, spans)
    assert [(s.of(text), s.label) for s in kept] == [("20 July 1966", "BD"), ("Anna Sophie Meyer", "SP")]
    assert lost
    assert repaired(text, spans[:2])[1] is False


def test_a_word_before_a_full_name_does_not_make_it_another_person():
    text = "Dear Anna Meyer. Yesterday Karl Berg came."
    spans = Annotator().annotate(text, [{"name": ["Anna Meyer"], "spouse": ["Karl Berg"]}])
    assert [(span.of(text), span.label) for span in spans] == [("Karl Berg", "SP")]
