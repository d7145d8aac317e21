"""Phones, addresses, dates and ages that begin with a number; and internet addresses that do."""

from __future__ import annotations

from textveil.pii import checksums as c
from textveil.pii.rules import Rule

MONTHS = (
    "jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|"
    "sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?"
)
_PHONE = (
    "phone phones telephone tel call called calling cell cellphone mobile fax contact reach ring answering whatsapp "
    "registered office home line hotline telefon handy text messages sms voicemail extension"
)
_NO_PHONE = "card iban account isbn invoice order version vat zip license licence driver passport"
_FIRST = r"(?<!\d[ .\-])"  # a number is not cut in its middle
_STREETS = (
    "street|str|st|avenue|ave|av|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|square|sq|place|pl|terrace|way|"
    "highway|hwy|parkway|pkwy|circle|cir|close|crescent|row|alley"
)
_TIME = r"(?:[ t]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[ap]m|z|[+-]\d{2}:?\d{2})?)?"
_EXT = r"(?: ?(?:x|ext\.? ?)\d{1,6})?"
_DATE_WORDS = "born birth dob birthday date dated since until deceased died admitted discharged on"


def _digits(low: int, high: int) -> c.Check:
    return lambda number: low <= sum(map(str.isdigit, number)) <= high


def _is_date(number: str) -> bool:
    """Three numbers of which two can be day and month, in either order."""
    parts = [p for p in "".join(s if s.isdigit() else " " for s in number).split() if p][:3]
    if len(parts[0]) == 4:
        return c.is_day_and_month(parts[2], parts[1])
    return c.is_day_and_month(parts[0], parts[1]) or c.is_day_and_month(parts[1], parts[0])


RULES = (
    # ---- phones: the surest forms first
    Rule("phone +", "PHONE_NUMBER", r"\d{1,3}(?:[ .\-/]?\(?\d{1,5}\)?){1,6}" + _EXT, 0.9, (1, 15), before=r"(?P<lead>\(?\+)",
         check=_digits(8, 20), context=_PHONE, with_context=0.97),
    Rule("phone 00", "PHONE_NUMBER", r"00\d{0,3}(?:[ .\-/]?\(?\d{1,5}\)?){2,6}" + _EXT, 0.6, (2, 15), check=_digits(10, 18),
         context=_PHONE, with_context=0.95, against=_NO_PHONE),
    Rule("phone area", "PHONE_NUMBER", r"\d{2,5}\) ?\d{2,5}(?:[ .\-/]?\d{2,5}){0,4}" + _EXT, 0.85, (2, 5), before=r"(?P<lead>(?:\+\d{1,3} ?)?\()",
         check=_digits(7, 20), context=_PHONE, with_context=0.97),
    Rule("phone us", "PHONE_NUMBER", _FIRST + r"(?:1[ .\-])?[2-9]\d{2}[ .\-]\d{3}[ .\-]\d{4}" + _EXT, 0.75, (1, 3), context=_PHONE,
         with_context=0.97, against=_NO_PHONE),
    Rule("phone us", "PHONE_NUMBER", _FIRST + r"(?:1[ .\-])?\d{3}[ .\-]\d{3}[ .\-]\d{4}" + _EXT, 0.5, (1, 3), context=_PHONE,
         with_context=0.9, against=_NO_PHONE),
    Rule("phone national", "PHONE_NUMBER", _FIRST + r"0[1-9]\d{0,3}(?:[ .\-/]\d{2,8}){1,5}" + _EXT, 0.55, (2, 5), check=_digits(8, 12),
         context=_PHONE, with_context=0.95, against=_NO_PHONE),
    Rule("phone groups", "PHONE_NUMBER", _FIRST + r"\d{2,4}(?:[ .\-]\d{2,6}){1,5}" + _EXT, 0.2, (2, 4), check=_digits(7, 12),
         context=_PHONE, with_context=0.8, against=_NO_PHONE),
    Rule("phone bare", "PHONE_NUMBER", r"\d{7,12}" + _EXT, 0.1, (7, 17), context=_PHONE, with_context=0.6,
         against=_NO_PHONE),
    # ---- internet
    Rule("ipv4", "IP_ADDRESS", r"\d{1,3}(?:\.\d{1,3}){3}(?![.]\d)", 0.9, (1, 3), check=c.ipv4, plain=False,
         context="ip host server address client network", with_context=0.98, against="version release chapter section"),
    Rule("mac", "MAC_ADDRESS", r"[0-9a-f]{2}([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2}){4}", 0.98, (2, 2), plain=False),
    # ---- dates
    Rule("date iso", "DATE_TIME", r"(?:1[6-9]|20)\d{2}[-/.]\d{1,2}[-/.]\d{1,2}" + _TIME, 0.9, (4, 4), check=_is_date,
         plain=False, context=_DATE_WORDS, with_context=0.97),
    Rule("date numbers", "DATE_TIME", r"\d{1,2}([/.\-])\d{1,2}\1(?:1[6-9]|20)\d{2}" + _TIME, 0.9, (1, 2), check=_is_date,
         plain=False, context=_DATE_WORDS, with_context=0.97),
    Rule("date short year", "DATE_TIME", r"\d{1,2}([/.\-])\d{1,2}\1\d{2}", 0.55, (1, 2), check=_is_date, plain=False,
         context=_DATE_WORDS, with_context=0.9, against="version release section phone call"),
    Rule("date day month", "DATE_TIME",
         rf"\d{{1,2}}(?:st|nd|rd|th|\.)?(?: of)?[ -](?:{MONTHS})\.?(?:,?[ -](?:(?:1[6-9]|20)\d{{2}}|\d{{2}}(?!\d)))?" + _TIME, 0.9,
         (1, 4)),
    Rule("time", "DATE_TIME", r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?: ?[ap]\.?m\.?)?", 0.4, (1, 2), context="at time o'clock uhr",
         with_context=0.5),
    Rule("year", "DATE_TIME", r"(?:1[89]|20)\d{2}", 0.2, (4, 4), context="born birth founded deceased died", with_context=0.55),
    # ---- ages
    Rule("age", "AGE", r"\d{1,3}(?=[ -](?:years?|yrs?)[ -](?:old|of age)|[ -]?(?:y/?o|yrs)\b|-year-old)", 0.9, (1, 3)),
    Rule("age", "AGE", r"\d{1,3}", 0.85, (1, 3), before=r"\b(?:aged?|when s?he (?:was|is)|turn(?:ed|s)?|i'?m turning|at the age of)[ :]+"),
    Rule("age", "AGE", r"\d{1,3}(?![\d%$€£:./-])(?! ?(?:km|kg|miles|percent|minutes|hours|days|weeks|months|points|euros?|dollars))",
         0.4, (1, 3), before=r"\b(?:i'?m|i am|(?:s?he)(?:'s| is| was))[ ]+", context="old age birthday years", with_context=0.6),
    # ---- addresses
    Rule("street", "STREET_ADDRESS",
         rf"\d{{1,5}}[a-z]?(?: [nsew]\.?)?(?: [^\W\d_][\w'.-]*){{1,4}}? (?:{_STREETS})\b\.?"
         rf"(?:,? (?:apt|apartment|suite|unit|no)\.? ?\w{{1,6}})?", 0.75, (1, 6), context="address live lives located at",
         with_context=0.9),
    Rule("box", "STREET_ADDRESS", r"\d{1,6}", 0.85, (1, 6), before=r"\bp\.? ?o\.? ?box "),
    Rule("us zip+4", "ZIP_CODE", r"\d{5}-\d{4}", 0.75, (5, 5), context="zip postal code address", with_context=0.97),
    Rule("us state zip", "ZIP_CODE", r"\d{5}", 0.7, (5, 5),
         before=r"\b(?-i:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY])"
         r",? "),
    Rule("postcode", "ZIP_CODE", r"(?<![\d]-)(?:\d{5}-\d{3}|\d{2}-\d{3}|\d{3} \d{2}|\d{4} [a-z]{2}|\d{3,6})", 0.1, (2, 6), context="zip postcode postal plz postleitzahl", with_context=0.8),
    Rule("uk postcode", "ZIP_CODE", r"[a-z]{1,2}\d[a-z\d]? ?\d[abd-hjlnp-uw-z]{2}", 0.6, (2, 7), letters=True,
         context="postcode postal address", with_context=0.95),
)  # fmt: skip

__all__ = ["MONTHS", "RULES"]
