"""Numbers that somebody gave out: cards, accounts, national ids, devices. Sources of the check digits: checksums.py."""

from __future__ import annotations

from textveil.pii import checksums as c
from textveil.pii.rules import Rule

_CARD = "card cards credit debit visa mastercard amex maestro cc discover jcb diners number expires cvv"
_TAX = "tax steuer steuernummer steueridentifikationsnummer idnr tin taxpayer"
_ID = "id identity national number no nr ssn insurance"

RULES = (
    # ---- money
    Rule("card", "CREDIT_CARD", r"\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{1,7}|\d{4}[ -]\d{6}[ -]\d{4,5}", 0.95, (4, 4), check=c.card),
    Rule("card", "CREDIT_CARD", r"\d{13,19}", 0.85, (13, 19), check=c.card, context=_CARD, with_context=0.98,
         against="imei isbn order tracking"),
    Rule("card 12", "CREDIT_CARD", r"\d{12}", 0.3, (12, 12), check=c.card, context=_CARD, with_context=0.95),
    Rule("iban", "IBAN_CODE", r"[a-z]{2}\d{2}(?:[ -]?[a-z0-9]{4}){2,7}(?:[ -]?[a-z0-9]{1,4})?", 0.99, (4, 34),
         letters=True, check=c.iban),
    Rule("aba routing", "US_ABA_ROUTING", r"\d{9}", 0.2, (9, 9), check=c.aba_routing,
         context="aba routing bank transit rtn", with_context=0.9),
    Rule("bank account", "US_BANK_NUMBER", r"\d{8,17}", 0.1, (8, 17), context="account acct bank checking savings",
         with_context=0.6, against="card"),
    Rule("bitcoin", "CRYPTO", r"[13][1-9A-HJ-NP-Za-km-z]{25,34}", 0.99, (26, 35), check=c.bitcoin, plain=False),
    Rule("ethereum", "CRYPTO", r"0x[0-9a-f]{40}", 0.99, (42, 42)),
    # ---- United States
    Rule("us ssn", "US_SSN", r"\d{3}([- .])\d{2}\1\d{4}", 0.85, (3, 3), check=c.us_ssn,
         context="ssn ssns social security", with_context=0.99),
    Rule("us ssn bare", "US_SSN", r"\d{9}", 0.1, (9, 9), check=c.us_ssn, context="ssn ssns social security", with_context=0.85),
    Rule("us itin", "US_ITIN", r"9\d{2}([- ]?)[5-9]\d\1\d{4}", 0.3, (3, 9), context="itin taxpayer tax individual",
         with_context=0.9),
    Rule("us passport", "US_PASSPORT", r"\d{9}", 0.05, (9, 9), context="passport", with_context=0.8),
    Rule("us passport", "US_PASSPORT", r"[a-z]\d{8}", 0.2, (9, 9), letters=True, context="passport", with_context=0.85),
    Rule("us driver licence", "US_DRIVER_LICENSE", r"[a-z]{1,2}\d{3,14}[a-z]?", 0.15, (5, 16), letters=True,
         context="driver drivers driving licence license permit dl dmv", with_context=0.85, against="plate"),
    Rule("us driver licence", "US_DRIVER_LICENSE", r"\d{4}-\d{2}-\d{4}|\d{7,13}", 0.05, (4, 13),
         context="driver drivers driving licence license permit dl dmv", with_context=0.8, against="phone card ssn"),
    Rule("us npi", "US_NPI", r"[12]\d{9}", 0.2, (10, 10), check=c.npi, context="npi provider", with_context=0.95),
    Rule("us dea", "MEDICAL_LICENSE", r"[a-z]{2}\d{7}", 0.6, (9, 9), letters=True, check=c.dea,
         context="dea prescriber medical certificate", with_context=0.97),
    # ---- Europe
    Rule("uk nhs", "UK_NHS", r"\d{3}[- ]\d{3}[- ]\d{4}", 0.55, (3, 3), check=c.nhs,
         context="nhs national health service", with_context=0.97, against="phone call tel fax mobile"),
    Rule("uk nhs", "UK_NHS", r"\d{10}", 0.3, (10, 10), check=c.nhs, context="nhs national health service", with_context=0.95,
         against="phone call tel fax mobile"),
    Rule("uk insurance", "UK_NINO", r"(?!bg|gb|nk|kn|tn|nt|zz)[a-ceghj-prstw-z][a-ceghj-npr-tw-z] ?\d{2} ?\d{2} ?\d{2} ?[a-d]",
         0.85, (4, 9), letters=True, context="insurance nino ni", with_context=0.98),
    Rule("uk insurance", "UK_NINO", r"\d{2} \d{2} \d{2} ?[a-d]", 0.85, (2, 2),
         before=r"\b(?P<lead>(?!bg|gb|nk|kn|tn|nt|zz)[a-ceghj-prstw-z][a-ceghj-npr-tw-z] )", context="insurance nino ni",
         with_context=0.98),
    Rule("german tax id", "DE_TAX_ID", r"\d{2} ?\d{3} ?\d{3} ?\d{3}", 0.45, (2, 11), check=c.de_tax_id, context=_TAX,
         with_context=0.97, against="phone tel"),
    Rule("polish pesel", "PL_PESEL", r"\d{11}", 0.3, (11, 11), check=c.pesel, context="pesel", with_context=0.98),
    Rule("dutch bsn", "NL_BSN", r"\d{9}", 0.15, (9, 9), check=c.dutch_bsn, context="bsn burgerservicenummer sofinummer",
         with_context=0.97),
    Rule("french nir", "FR_NIR", r"[1278] ?\d{2} ?\d{2} ?(?:\d{2}|2[ab]) ?\d{3} ?\d{3} ?\d{2}", 0.9, (1, 15),
         check=c.french_nir, context="sécurité sociale nir insee", with_context=0.98),
    Rule("spanish nif", "ES_NIF", r"\d{8}[- ]?[a-z]", 0.7, (8, 9), check=c.spanish_nif, context="nif dni nie", with_context=0.97),
    Rule("spanish nie", "ES_NIE", r"[xyz]-?\d{7}-?[a-z]", 0.9, (8, 9), letters=True, check=c.spanish_nif),
    Rule("italian code", "IT_FISCAL_CODE", r"[a-z]{6}[0-9lmnp-v]{2}[a-ehlmprst][0-9lmnp-v]{2}[a-z][0-9lmnp-v]{3}[a-z]", 0.98,
         (16, 16), letters=True, check=c.italian_code),
    Rule("finnish code", "FI_PERSONAL_CODE", r"\d{6}[-+a-fu-y]\d{3}[0-9a-y]", 0.9, (6, 11), check=c.finnish_code, plain=False),
    Rule("swedish number", "SE_PERSONAL_NUMBER", r"(?:\d{2})?\d{6}[-+]\d{4}", 0.8, (6, 8), check=c.swedish_number,
         context="personnummer", with_context=0.98),
    Rule("swiss ahv", "CH_AHV", r"756\.?\d{4}\.?\d{4}\.?\d{2}", 0.98, (3, 13), check=c.swiss_ahv),
    # ---- elsewhere
    Rule("canadian sin", "CA_SIN", r"\d{3}([- ])\d{3}\1\d{3}", 0.6, (3, 3), check=c.luhn, context="sin social insurance",
         with_context=0.97, against="phone call tel fax"),
    Rule("brazilian cpf", "BR_CPF", r"\d{3}\.\d{3}\.\d{3}-\d{2}", 0.97, (3, 3), check=c.brazil_cpf),
    Rule("brazilian cpf bare", "BR_CPF", r"\d{11}", 0.2, (11, 11), check=c.brazil_cpf, context="cpf", with_context=0.95),
    Rule("indian aadhaar", "IN_AADHAAR", r"[2-9]\d{3}([ -]?)\d{4}\1\d{4}", 0.45, (4, 12), check=c.aadhaar,
         context="aadhaar aadhar uidai", with_context=0.97),
    Rule("indian pan", "IN_PAN", r"[a-z]{3}[abcfghjlpt][a-z]\d{4}[a-z]", 0.7, (10, 10), letters=True,
         context="pan permanent", with_context=0.97),
    Rule("australian abn", "AU_ABN", r"\d{2} ?\d{3} ?\d{3} ?\d{3}", 0.3, (2, 11), check=c.au_business,
         context="abn business", with_context=0.97),
    Rule("australian tfn", "AU_TFN", r"\d{3} ?\d{3} ?\d{3}", 0.15, (3, 9), check=c.au_tax, context="tfn file", with_context=0.9),
    # ---- devices and vehicles
    Rule("imei", "DEVICE_ID", r"\d{15}", 0.2, (15, 15), check=c.luhn, context="imei device serial", with_context=0.97,
         against="card"),
    Rule("vin", "VEHICLE_ID", r"[a-hj-npr-z0-9]{17}", 0.8, (17, 17), letters=True, check=c.vin, context="vin vehicle chassis car",
         with_context=0.97),
    Rule("vin", "VEHICLE_ID", r"(?=[\d]*[a-z])[a-hj-npr-z0-9]{17}", 0.8, (17, 17), check=c.vin, context="vin vehicle chassis car",
         with_context=0.97),
    # ---- records
    Rule("record number", "MEDICAL_RECORD", r"[a-z]{0,4}-?\d{5,12}", 0.02, (5, 16), letters=False,
         context="mrn record chart patient", with_context=0.55, against="phone card account zip"),
    Rule("record number", "MEDICAL_RECORD", r"[a-z]{1,4}\d{5,12}", 0.02, (6, 16), letters=True,
         context="mrn record chart patient", with_context=0.6),
    Rule("account number", "ACCOUNT_NUMBER", r"[a-z]{0,4}\d{5,14}", 0.02, (5, 18), letters=True,
         context="account customer member policy beneficiary certificate contract", with_context=0.6),
)  # fmt: skip

__all__ = ["RULES"]
