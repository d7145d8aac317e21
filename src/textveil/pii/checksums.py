"""Check digits of published numbering schemes: whether a number could be one at all.

Each function takes the number without separators, letters in capitals, and answers; none raises. A random number of the
right length passes with the chance in brackets, which is what a checksum is worth as evidence.

luhn            cards, IMEI, Canadian SIN, Swedish personal number (1 in 10); ISO/IEC 7812
iban            mod 97 over letters as numbers, and the length of the country (1 in 97); ISO 13616
nhs             weights 10..2, mod 11 (1 in 11)
de_tax_id       ISO 7064 mod 11,10, and one digit that stands two or three times (well below 1 in 10)
verhoeff        Aadhaar (1 in 10)
aba_routing     weights 3 7 1, mod 10 (1 in 10)
and the others in the table at the end.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable

Check = Callable[[str], bool]

IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28, "CH": 21,
    "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18, "FR": 27,
    "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26,
    "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27,
    "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25,
    "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "ST": 25, "SV": 28,
    "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}  # fmt: skip
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_VERHOEFF_STEP = tuple(
    tuple(int(d) for d in row)
    for row in (
        "0123456789", "1234067895", "2340178956", "3401289567", "4012395678",
        "5987604321", "6598710432", "7659821043", "8765932104", "9876543210",
    )
)  # fmt: skip
_VERHOEFF_TURN = tuple(
    tuple(int(d) for d in row)
    for row in (
        "0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901", "2793806415", "7046913258",
    )
)  # fmt: skip


def luhn(number: str) -> bool:
    """
    >>> luhn("4111111111111111"), luhn("4111111111111112")
    (True, False)
    """
    if not number.isdigit():
        return False
    total = 0
    for place, sign in enumerate(reversed(number)):
        digit = int(sign)
        if place & 1:
            digit = 2 * digit - 9 if digit > 4 else 2 * digit
        total += digit
    return total % 10 == 0


def iban(number: str) -> bool:
    """
    >>> iban("GB82WEST12345698765432"), iban("GB82WEST12345698765433"), iban("XX82WEST12345698765432")
    (True, False, False)
    """
    if IBAN_LENGTHS.get(number[:2]) != len(number) or not (number.isascii() and number.isalnum()):
        return False
    return int("".join(str(int(sign, 36)) for sign in number[4:] + number[:4])) % 97 == 1


def weighted(weights: tuple[int, ...], modulus: int, remainder: int = 0) -> Check:
    """The check that the weighted sum of all digits leaves this remainder.

    >>> weighted((3, 7, 1, 3, 7, 1, 3, 7, 1), 10)("021000021")
    True
    """

    def check(number: str) -> bool:
        if not number.isdigit() or len(number) != len(weights):
            return False
        return sum(w * int(d) for w, d in zip(weights, number, strict=True)) % modulus == remainder

    return check


aba_routing = weighted((3, 7, 1, 3, 7, 1, 3, 7, 1), 10)
au_tax = weighted((1, 4, 3, 7, 5, 8, 6, 9, 10), 11)
pesel = weighted((1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1), 10)
swiss_ahv = weighted((1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1), 10)
dutch_bsn = weighted((9, 8, 7, 6, 5, 4, 3, 2, -1), 11)
_nhs_sum = weighted((10, 9, 8, 7, 6, 5, 4, 3, 2, 1), 11)
_abn_sum = weighted((10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19), 89)


def nhs(number: str) -> bool:
    """
    >>> nhs("9434765919"), nhs("9434765918"), nhs("0000000000")
    (True, False, False)
    """
    return _nhs_sum(number) and len(set(number)) > 1


def au_business(number: str) -> bool:
    """
    >>> au_business("51824753556")
    True
    """
    return (
        number.isdigit() and len(number) == 11 and number[0] != "0" and _abn_sum(str(int(number[0]) - 1) + number[1:])
    )


def de_tax_id(number: str) -> bool:
    """
    >>> de_tax_id("86095742719"), de_tax_id("86095742718")
    (True, False)
    """
    if not number.isdigit() or len(number) != 11 or number[0] == "0":
        return False
    most = Counter(number[:10]).most_common()
    if most[0][1] not in (2, 3) or (len(most) > 1 and most[1][1] > 1):
        return False
    product = 10
    for sign in number[:10]:
        total = (int(sign) + product) % 10 or 10
        product = 2 * total % 11
    return (11 - product) % 10 == int(number[10])


def verhoeff(number: str) -> bool:
    """
    >>> verhoeff("2363"), verhoeff("2364")
    (True, False)
    """
    if not number.isdigit():
        return False
    state = 0
    for place, sign in enumerate(reversed(number)):
        state = _VERHOEFF_STEP[state][_VERHOEFF_TURN[place % 8][int(sign)]]
    return state == 0


def aadhaar(number: str) -> bool:
    """Twelve digits, not a palindrome, the first 2 to 9, with Verhoeff's check digit."""
    return len(number) == 12 and number[0] in "23456789" and number != number[::-1] and verhoeff(number)


def us_ssn(number: str) -> bool:
    """No check digit; areas, groups and serials that are never given out are refused.

    >>> us_ssn("219099998"), us_ssn("000123456"), us_ssn("666123456"), us_ssn("123004567")
    (True, False, False, False)
    """
    if not number.isdigit() or len(number) != 9 or len(set(number)) == 1:
        return False
    return number[:3] not in ("000", "666") and number[3:5] != "00" and number[5:] != "0000" and number != "123456789"


def brazil_cpf(number: str) -> bool:
    """
    >>> brazil_cpf("52998224725"), brazil_cpf("11111111111")
    (True, False)
    """
    if not number.isdigit() or len(number) != 11 or len(set(number)) == 1:
        return False
    digits = [int(d) for d in number]
    for last in (9, 10):
        rest = sum((last + 1 - k) * digits[k] for k in range(last)) * 10 % 11 % 10
        if rest != digits[last]:
            return False
    return True


def spanish_nif(number: str) -> bool:
    """
    >>> spanish_nif("12345678Z"), spanish_nif("X1234567L"), spanish_nif("12345678A")
    (True, True, False)
    """
    head = {"X": "0", "Y": "1", "Z": "2"}.get(number[:1], number[:1]) + number[1:-1]
    return head.isdigit() and len(head) == 8 and number[-1] == "TRWAGMYFPDXBNJZSQVHLCKE"[int(head) % 23]


def finnish_code(number: str) -> bool:
    """Birth date, century sign and serial, mod 31.

    >>> finnish_code("131052-308T"), finnish_code("131052-308U")
    (True, False)
    """
    digits = number[:6] + number[7:10]
    return (
        len(number) == 11
        and digits.isdigit()
        and number[10].upper() == "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(digits) % 31]
        and is_day_and_month(number[:2], number[2:4])
    )


def french_nir(number: str) -> bool:
    """Thirteen signs and a key, 97 less the rest mod 97; Corsica's letters count as 19 and 18.

    >>> french_nir("255081416802538")
    True
    """
    plain = number.replace("2A", "19").replace("2B", "18")
    return plain.isdigit() and len(plain) == 15 and 97 - int(plain[:13]) % 97 == int(plain[13:])


def swedish_number(number: str) -> bool:
    """Luhn over ten digits that begin with a day; a coordination number adds 60 to it."""
    short = number[-10:]
    day = int(short[4:6]) if short.isdigit() and len(short) == 10 else 0
    return luhn(short) and is_day_and_month(f"{day - 60 if day > 60 else day:02d}", short[2:4])


def italian_code(number: str) -> bool:
    """
    >>> italian_code("RSSMRA85T10A562S"), italian_code("RSSMRA85T10A562T")
    (True, False)
    """
    odd = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
    if len(number) != 16 or not (number.isascii() and number.isalnum()) or not number[-1].isalpha():
        return False
    places = [int(s) if s.isdigit() else ord(s) - 65 for s in number[:15]]
    total = sum(odd[p] if k % 2 == 0 else p for k, p in enumerate(places))
    return chr(65 + total % 26) == number[-1]


def npi(number: str) -> bool:
    """US provider number: Luhn with the prefix 80840.

    >>> npi("1234567893")
    True
    """
    return len(number) == 10 and number[:1] in "12" and luhn("80840" + number)


def dea(number: str) -> bool:
    """US prescriber number: two letters, seven digits.

    >>> dea("AB1234563")
    True
    """
    digits = number[2:]
    if len(number) != 9 or not digits.isdigit():
        return False
    d = [int(s) for s in digits]
    return (d[0] + d[2] + d[4] + 2 * (d[1] + d[3] + d[5])) % 10 == d[6]


def vin(number: str) -> bool:
    """
    >>> vin("1M8GDM9AXKP042788"), vin("1M8GDM9AXKP042789")
    (True, False)
    """
    values = dict(
        zip(
            "ABCDEFGHJKLMNPRSTUVWXYZ",
            (1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 7, 9, 2, 3, 4, 5, 6, 7, 8, 9),
            strict=True,
        )
    )
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    if len(number) != 17 or any(not s.isdigit() and s not in values for s in number):
        return False
    rest = sum(w * (int(s) if s.isdigit() else values[s]) for w, s in zip(weights, number, strict=True)) % 11
    return number[8] == ("X" if rest == 10 else str(rest))


def bitcoin(address: str) -> bool:
    """Base58 with the first four bytes of a double SHA-256 at the end.

    >>> bitcoin("1BoatSLRHtKNngkdXEeobR76b53LETtpyT"), bitcoin("1BoatSLRHtKNngkdXEeobR76b53LETtpyU")
    (True, False)
    """
    number = 0
    for sign in address:
        value = _BASE58.find(sign)
        if value < 0:
            return False
        number = 58 * number + value
    if number >= 1 << 200:
        return False
    raw = number.to_bytes(25, "big")
    return hashlib.sha256(hashlib.sha256(raw[:21]).digest()).digest()[:4] == raw[21:]


def card(number: str) -> bool:
    """Luhn, and a first digit that card networks use.

    >>> card("4111111111111111"), card("0000000000000000")
    (True, False)
    """
    return 12 <= len(number) <= 19 and number[0] in "123456" and len(set(number)) > 1 and luhn(number)


def ipv4(address: str) -> bool:
    """
    >>> ipv4("192.168.0.1"), ipv4("256.1.1.1"), ipv4("1.2.3")
    (True, False, False)
    """
    parts = address.split(".")
    return len(parts) == 4 and all(p.isdigit() and len(p) <= 3 and int(p) < 256 for p in parts)


def is_day_and_month(day: str, month: str) -> bool:
    """Whether two pairs of digits could be a day and a month.

    >>> is_day_and_month("31", "12"), is_day_and_month("32", "01")
    (True, False)
    """
    return day.isdigit() and month.isdigit() and 1 <= int(day) <= 31 and 1 <= int(month) <= 12


__all__ = [
    "IBAN_LENGTHS", "Check", "aadhaar", "aba_routing", "au_business", "au_tax", "bitcoin", "brazil_cpf", "card", "de_tax_id",
    "dea", "dutch_bsn", "finnish_code", "french_nir", "iban", "ipv4", "is_day_and_month", "italian_code", "luhn", "nhs",
    "npi",    "pesel", "spanish_nif", "swedish_number", "swiss_ahv", "us_ssn", "verhoeff", "vin", "weighted",
]  # fmt: skip
