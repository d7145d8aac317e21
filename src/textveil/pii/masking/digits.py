"""Numbers of the same form: digits become digits, letters letters, signs stay; under a key, and one to one.

A Feistel network over the signs of the number (the construction of FF1, NIST SP 800-38G, with HMAC-SHA256 as its round
function; it is not FF1 itself). The signs are cut into two halves; in each of ten rounds one half is added, sign by sign, to
a keyed hash of the other, modulo 10 or 26. Each round can be undone, so different numbers stay different.

Check digits. The last sign (of IBANs the two check digits) is chosen afterwards: so that the checksum fails, by default,
and the number cannot be anybody's, or so that it holds. The other signs alone are one to one, so this loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from textveil.pii import checksums as c
from textveil.pii.masking.keys import MaskKey

ROUNDS = 10
FEWEST = 3  # digits and letters that are worth it
_DIGITS, _LETTERS = "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CHECKS: dict[str, Callable[[str], bool]] = {
    "CREDIT_CARD": c.card, "IBAN_CODE": c.iban, "UK_NHS": c.nhs, "DE_TAX_ID": c.de_tax_id, "US_ABA_ROUTING": c.aba_routing,
    "PL_PESEL": c.pesel, "NL_BSN": c.dutch_bsn, "ES_NIF": c.spanish_nif, "ES_NIE": c.spanish_nif, "CA_SIN": c.luhn,
    "BR_CPF": c.brazil_cpf, "IN_AADHAAR": c.aadhaar, "AU_ABN": c.au_business, "AU_TFN": c.au_tax, "CH_AHV": c.swiss_ahv,
    "US_NPI": c.npi, "MEDICAL_LICENSE": c.dea, "DEVICE_ID": c.luhn, "VEHICLE_ID": c.vin, "IT_FISCAL_CODE": c.italian_code,
}  # fmt: skip


def same_form(value: str, key: MaskKey, label: str, *, valid: bool = False) -> str | None:
    """Another number of the same form, or None for one with too few signs.

    >>> key = MaskKey(bytes(32))
    >>> other = same_form("4111-1111 1111 1111", key, "CREDIT_CARD")
    >>> [sign for sign in other if not sign.isdigit()], c.card(other.replace("-", "").replace(" ", ""))
    (['-', ' ', ' '], False)
    """
    places = [k for k, sign in enumerate(value) if sign.isascii() and sign.isalnum()]
    check = CHECKS.get(label)
    fixed = places[:2] if label == "IBAN_CODE" else []
    chosen = places[2:4] if label == "IBAN_CODE" else places[-1:] if check is not None else []
    free = [k for k in places if k not in fixed and k not in chosen]
    if len(free) < FEWEST:
        return None
    signs = list(value)
    shuffled = _permuted([value[k] for k in free], key.derived(f"digits {label}"))
    for place, sign in zip(free, shuffled, strict=True):
        signs[place] = sign
    if check is not None:
        _set_check(signs, places, chosen, check, valid, key.number("check", "".join(shuffled)))
    return "".join(signs)


def _permuted(signs: list[str], key: bytes) -> list[str]:
    import hmac

    sizes = [10 if sign.isdigit() else 26 for sign in signs]
    values = [int(sign) if sign.isdigit() else ord(sign.upper()) - 65 for sign in signs]
    half = len(signs) // 2
    for number in range(ROUNDS):
        mine, other = (range(half), range(half, len(signs))) if number % 2 else (range(half, len(signs)), range(half))
        seen = ",".join(str(values[k]) for k in other)
        for k in mine:
            stream = hmac.digest(key, f"{number}|{k}|{''.join(map(str, sizes))}|{seen}".encode(), "sha256")
            values[k] = (values[k] + int.from_bytes(stream[:16], "big")) % sizes[k]
    return [_shown(value, size, sign) for value, size, sign in zip(values, sizes, signs, strict=True)]


def _shown(value: int, size: int, like: str) -> str:
    sign = _DIGITS[value] if size == 10 else _LETTERS[value]
    return sign.lower() if like.islower() else sign


def _set_check(
    signs: list[str], places: list[int], chosen: list[int], check: Callable[[str], bool], valid: bool, start: int
) -> None:
    """Choose the check signs so that the checksum holds, or so that it does not."""
    options = [_DIGITS if signs[k].isdigit() else _LETTERS for k in chosen]
    total = 1
    for option in options:
        total *= len(option)
    for step in range(total):
        number = (start + step) % total
        for place, option in zip(chosen, options, strict=True):
            sign = option[number % len(option)]
            signs[place] = sign.lower() if signs[place].islower() else sign
            number //= len(option)
        if check("".join(signs[k] for k in places).upper()) is valid:
            return


__all__ = ["CHECKS", "FEWEST", "same_form"]
