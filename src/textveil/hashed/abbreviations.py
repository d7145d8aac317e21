"""Public lists for the sentence splitter: words whose full stop does not end a sentence, in contracts and elsewhere."""

from __future__ import annotations

ABBREVIATIONS = frozenset(
    "inc corp ltd co cos llc lp llp plc gmbh s.a n.v b.v bros assn assoc dept div univ mfg intl natl "
    "mr mrs ms dr prof hon rev gen col sen rep gov jr sr esq messrs st mt ft ave blvd rd ste apt bldg hwy "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun "
    "e.g i.e etc cf al viz vs v approx est incl excl ex exh attn re tel fax ext min max avg "
    "u.s u.k u.s.a e.u d.c u.s.c c.f.r a.m p.m ph.d m.d b.a m.a art arts sec secs par para cl ch vol fig p pp ed eds".split()
)
BEFORE_NUMBER = frozenset("no nos art arts sec secs section par para cl ch vol fig p pp exh ex app item".split())
HEADING_WORDS = frozenset("section article clause item part schedule exhibit appendix annex chapter paragraph".split())
# After an abbreviation only such a word (as written, capital and all) begins a sentence: "Acme Inc. The parties".
STARTERS = frozenset(
    "The This These Those That Each Every Any All No Neither Either If In It Its For Upon Unless Until When Where While "
    "Such There They He She We You Notwithstanding Subject Except Without Nothing However Moreover Furthermore "
    "Accordingly Licensee Licensor Buyer Seller Supplier Distributor Customer Consultant Company".split()
)
