"""People, dates, numbers and the map: what masking puts in a value's place."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textveil.core.errors import BadInput
from textveil.pii import checksums
from textveil.pii.mask import Mask
from textveil.pii.masking.dates import shift_date
from textveil.pii.masking.digits import CHECKS, same_form
from textveil.pii.masking.keys import MaskKey, require_key
from textveil.pii.masking.operators import Place, tag
from textveil.pii.masking.people import People
from textveil.pii.masking.texts import mask_text, unmask_text
from textveil.pii.masking.vault import MapWriter, people_of, read_map
from textveil.text.spans import Span

KEY = MaskKey(bytes(range(32)))


# ---- people


def people(*names: str) -> People:
    known = People(KEY)
    known.note(names)
    return known


def test_forms_of_a_name_are_one_person():
    known = people("Anna Maria Meyer", "Bo Lind")
    forms = [
        "Anna Meyer",
        "Dr. Meyer",
        "A. Meyer",
        "Anna M.",
        "Meyer, Anna",
        "ANNA MEYER",
        "Mrs Anna Maria Meyer",
        "Anna",
    ]
    assert len({id(known.resolve(form, [])) for form in forms}) == 1
    assert known.resolve("Bo Lind", []) is not known.resolve("Anna Meyer", [])


def test_a_short_form_is_the_person_of_its_document():
    known = people("Anna Meyer", "Carl Meyer")
    here = []
    carl = known.resolve("Carl Meyer", here)
    assert known.resolve("Dr Meyer", here) is carl
    assert known.resolve("Dr Meyer", []) not in (carl, known.resolve("Anna Meyer", []))  # two fit: a person of its own


def test_two_people_with_one_name_share_a_pseudonym_unless_a_field_tells_them_apart():
    known = People(KEY)
    assert known.resolve("Anna Meyer", []) is known.resolve("Anna Meyer", [])
    one, other = known.resolve("Anna Meyer", [], "p1"), known.resolve("Anna Meyer", [], "p2")
    assert (one.given, one.family) != (other.given, other.family)


def test_middle_names_that_contradict_are_two_people():
    known = people("Anna Maria Meyer", "Anna Lena Meyer")
    assert known.resolve("Anna Maria Meyer", []) is not known.resolve("Anna Lena Meyer", [])
    assert known.resolve("Anna L. Meyer", []) is known.resolve("Anna Lena Meyer", [])


def test_no_two_people_share_a_pseudonym():
    known = People(KEY)
    made = [known.resolve(f"Given{n} Family{n}", []) for n in range(6000)]
    assert len({(p.given, p.family) for p in made}) == 6000


def test_one_pseudonym_per_person_over_ten_thousand_documents():
    forms = (
        "Mr Karl{n} Winter{n} came.",
        "Dr. Winter{n} wrote.",
        "Dear Karl{n} Winter{n}, hello.",
        "Mr Karl{n} W. left.",
    )
    texts = [forms[k].format(n=chr(97 + n // 26 % 26) + chr(97 + n % 26)) for n in range(2500) for k in range(4)]
    masked = Mask(how="pseudonym").transform(texts)
    pairs = {}
    for text, shown in zip(texts, masked, strict=True):
        if " came" in text:
            pairs.setdefault(text, set()).add(shown)
    assert len(texts) == 10_000 and all(len(shown) == 1 for shown in pairs.values())
    assert len({next(iter(shown)) for shown in pairs.values()}) == len(pairs) == 676
    for start in range(0, len(texts), 4):
        first, short, dear, initial = masked[start : start + 4]
        given_name, family = first.split()[1:3]
        assert (short, dear) == (f"Dr. {family} wrote.", f"Dear {given_name} {family}, hello.")
        assert initial == f"Mr {given_name} {family[0]}. left."


# ---- dates


@given(
    st.dates(date(1900, 1, 1), date(2090, 1, 1)), st.dates(date(1900, 1, 1), date(2090, 1, 1)), st.integers(-365, 365)
)
def test_days_between_dates_are_kept(one, other, days):
    for form in ("%Y-%m-%d", "%d.%m.%Y", "%d %B %Y", "%B %d, %Y"):
        moved = [shift_date(d.strftime(form), days) for d in (one, other)]
        read = [_read(m, form) for m in moved]
        assert read[1] - read[0] == other - one and read[0] - one == type(one - other)(days)


def _read(text, form):
    from datetime import datetime

    return datetime.strptime(text, form).date()


def test_no_date_stays_where_it_was():
    from textveil.pii.masking.pseudonyms import Pseudonyms

    made = Pseudonyms(KEY, People(KEY))
    shifts = [made.shift_of(Place(n)) for n in range(2000)]
    assert 0 not in shifts and min(shifts) >= -365 and max(shifts) <= 365 and len(set(shifts)) > 500
    assert made.shift_of(Place(1, "p")) == made.shift_of(Place(2, "p"))


# ---- numbers


@given(st.lists(st.sampled_from("0123456789"), min_size=6, max_size=12, unique=False), st.integers(0, 5))
def test_numbers_keep_their_form(digits, cut):
    value = "".join(digits[:cut]) + "-" + "".join(digits[cut:])
    other = same_form(value, KEY, "PHONE_NUMBER")
    assert [s if not s.isdigit() else "0" for s in other] == [s if not s.isdigit() else "0" for s in value]


def test_numbers_stay_different():
    """All numbers of four digits: a permutation of them."""
    made = {same_form(f"{n:04d}", KEY, "PHONE_NUMBER") for n in range(10_000)}
    assert len(made) == 10_000


SAMPLES = {
    "CREDIT_CARD": "4111 1111 1111 1111", "IBAN_CODE": "GB82 WEST 1234 5698 7654 32", "UK_NHS": "943 476 5919",
    "DE_TAX_ID": "86095742719", "ES_NIF": "12345678Z", "IT_FISCAL_CODE": "RSSMRA85T10A562S", "BR_CPF": "529.982.247-25",
}  # fmt: skip


@pytest.mark.parametrize("label", sorted(SAMPLES))
def test_checksums_of_invented_numbers_fail_unless_asked_otherwise(label):
    for n in range(30):
        shown = same_form(SAMPLES[label], MaskKey(bytes([n]) * 32), label)
        plain = "".join(s for s in shown if s.isalnum())
        assert not CHECKS[label](plain)
    valid = same_form(SAMPLES["CREDIT_CARD"], KEY, "CREDIT_CARD", valid=True)
    assert checksums.luhn(valid.replace(" ", ""))


# ---- the map


def test_the_map_brings_everything_back_and_only_with_its_key(tmp_path):
    text, spans = "Anna called Bo.", [Span(0, 4, "PERSON"), Span(12, 14, "PERSON")]
    masked = mask_text(text, spans, tag, Place(0))
    writer, known = MapWriter(tmp_path / "m", KEY, "r1"), People(KEY)
    known.resolve("Anna Meyer", [])
    for _ in range(1200):
        writer.add(masked)
    writer.finish(known)
    raw = (tmp_path / "m").read_bytes()
    assert b"Anna" not in raw and b"meyer" not in raw and (tmp_path / "m").stat().st_mode & 0o777 == 0o600
    rows = [row for c in read_map(tmp_path / "m", KEY) if c["kind"] == "log" for row in c["rows"]]
    assert len(rows) == 1200 and unmask_text(masked.text, rows[-1][1]) == text
    again = people_of(read_map(tmp_path / "m", KEY), KEY)
    assert again.resolve("Anna Meyer", []).family == known.resolve("Anna Meyer", []).family
    with pytest.raises(BadInput, match="another key"):
        list(read_map(tmp_path / "m", MaskKey(bytes(32))))
    for broken in (raw[:-40], raw[:-1] + bytes([raw[-1] ^ 1]), raw + b"x"):
        (tmp_path / "m").write_bytes(broken)
        with pytest.raises(BadInput, match="altered or cut short"):
            list(read_map(tmp_path / "m", KEY))


def test_a_key_file_is_made_once_for_its_owner(tmp_path):
    key, made = require_key(tmp_path / "k", make=True)
    again, made_again = require_key(tmp_path / "k", make=True)
    assert key == again and (made, made_again) == (True, False)
    (tmp_path / "bad").write_text("no key")
    (tmp_path / "bad").chmod(0o600)
    with pytest.raises(BadInput, match="is no key file"):
        require_key(tmp_path / "bad")


@given(st.text(max_size=60), st.sets(st.integers(0, 60), max_size=8))
def test_masks_can_be_undone(text, cuts):
    bounds = sorted(c for c in cuts if c <= len(text))
    spans = [Span(a, b, "X") for a, b in zip(bounds[::2], bounds[1::2], strict=False)]
    masked = mask_text(text, spans, tag, Place(0))
    assert unmask_text(masked.text, masked.replaced) == text
