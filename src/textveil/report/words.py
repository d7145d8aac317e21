"""Words for numbers: labels, losses and verdicts as the pages print them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..attacks.evidence import Evidence
from ..core import (
    ZCDP,
    Approx,
    CannotAdd,
    Cryptographic,
    Guarantee,
    LimitedPrecision,
    Loss,
    Measured,
    Metric,
    Renyi,
    TextveilError,
)
from .html import number

LABELS = {
    "guarantee": ("Guarantee", "A theorem covers what was done."),
    "measured": ("Measured", "A number that describes this data; no theorem stands behind it."),
    "cryptographic": ("Cryptographic", "Secure within a stated model of who trusts whom."),
    "heuristic": ("Heuristic", "It may help, but nothing is promised."),
    "broken": ("Broken", "A known attack defeats this; it protects nobody."),
    "seeded": ("Seeded draft", "Made with a seed for trying out; it protects nobody."),
}


def headline(loss: Loss) -> tuple[str, str]:
    """The formal line: a figure and what it counts.

    >>> headline(Metric(0.5, "hamming", "ab12", 256))
    ('ε 0.5', 'per step of hamming distance between two words or inputs')
    """
    match loss:
        case Metric():
            return f"ε {number(loss.epsilon)}", f"per step of {loss.metric} distance between two words or inputs"
        case LimitedPrecision():
            slack = f", δ {loss.delta:.2g}" if loss.delta else ""
            return f"ε {number(loss.epsilon)}", f"for documents whose counts differ by at most {loss.n} in total{slack}"
        case Approx():
            return f"ε {number(loss.epsilon)}", f"with δ {loss.delta:.2g}" if loss.delta else "in every case (δ 0)"
        case Renyi():
            return f"ε {number(loss.epsilon)}", f"Renyi divergence of order {loss.alpha:g}"
        case ZCDP():
            return f"ρ {number(loss.rho)}", "zero-concentrated privacy loss"
        case Measured():
            return f"ε {number(loss.epsilon)}", "measured on this data, not promised"
        case Cryptographic():
            return "protocol", "security rests on the model of trust below, not on noise"
    return "none", "no bound on the loss is promised"


@dataclass(frozen=True)
class Finding:
    """One piece of evidence, judged against the promise it stands beside."""

    evidence: Evidence
    verdict: str
    refuted: bool
    allowed: float | None

    @property
    def tries(self) -> str:
        return "exact" if self.evidence.exact else f"{self.evidence.hits:,} of {self.evidence.tries:,}"


def judge(shown: dict[str, Any], promise: Guarantee) -> Finding:
    """Judge evidence afresh; what a file says about its own verdict is not believed."""
    evidence = Evidence.from_json(shown)
    try:
        return Finding(
            evidence, evidence.verdict(promise), evidence.refutes(promise), evidence.allowed_success(promise)
        )
    except CannotAdd:
        note = f"about each {evidence.unit}, while the promise is about each {promise.unit}: not compared"
        return Finding(evidence, note, False, None)


def findings(manifest: dict[str, Any], promise: Guarantee) -> tuple[list[Finding], int]:
    """All readable evidence of a release, and how many pieces could not be read."""
    good, bad = [], 0
    for shown in manifest.get("evidence") or []:
        try:
            good.append(judge(shown, promise))
        except (TextveilError, TypeError, ValueError, AttributeError):
            bad += 1
    return good, bad
