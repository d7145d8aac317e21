"""Words for numbers: labels, losses and verdicts as the pages print them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..attacks.evidence import Evidence
from ..core import (
    ZCDP,
    Approx,
    Cryptographic,
    Guarantee,
    LimitedPrecision,
    Loss,
    Measured,
    Metric,
    Renyi,
    TextveilError,
)
from ..core.losses import upward
from .html import bound, percent

LABELS = {
    "guarantee": ("Guarantee", "A theorem covers what was done, and it bounds what anybody can learn."),
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
            return f"ε {bound(loss.epsilon)}", f"per step of {loss.metric} distance between two words or inputs"
        case LimitedPrecision():
            slack = f", δ {upward(loss.delta, 2)}" if loss.delta else ""
            return f"ε {bound(loss.epsilon)}", f"for documents whose counts differ by at most {loss.n} in total{slack}"
        case Approx():
            return (
                f"ε {bound(loss.epsilon)}",
                f"with δ {upward(loss.delta, 2)}" if loss.delta else "in every case (δ 0)",
            )
        case Renyi():
            return f"ε {bound(loss.epsilon)}", f"Renyi divergence of order {loss.alpha:g}"
        case ZCDP():
            return f"ρ {bound(loss.rho)}", "zero-concentrated privacy loss"
        case Measured():
            return f"ε {bound(loss.epsilon)}", "measured on this data, not promised"
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
    with_truth: bool = False  # scored with the private text, and published by its owner's choice

    @property
    def asked(self) -> str:
        """What was measured, in plain words.

        >>> Finding(Evidence("hashed.api", "auc (spans)", 0.6, 0.5, 0, 9), "", False, None).asked
        'picks the right one of two (spans)'
        """
        if self.is_area:
            return "picks the right one of two" + self.evidence.metric.removeprefix("auc")
        return self.evidence.metric

    @property
    def is_area(self) -> bool:
        """Whether the figure is an area under a curve: how often the right one of two gets the higher score."""
        return self.evidence.metric.startswith("auc")

    @property
    def achieved(self) -> str:
        """What the attack reached, as the end of a sentence that begins with the attack."""
        e = self.evidence
        if self.is_area:
            return f"picked the right one of two {percent(e.value)} of the time, by chance {percent(e.chance)}"
        if e.two_worlds:
            return f"recognised one of two inputs {percent(e.value)} of the time, wrongly so {percent(e.chance)}"
        what = e.metric.removeprefix("success").strip()
        where = f" {what}" if what.startswith("on ") else f" ({what})" if what else ""
        return f"was right {percent(e.value)} of the time{where}, by chance {percent(e.chance)}"

    @property
    def gain(self) -> float:
        """What it won of what there was to win over chance."""
        e = self.evidence
        return (e.value - e.chance) / (1 - e.chance) if e.chance < 1 else 0.0

    @property
    def tries(self) -> str:
        """What the figure rests on. An area under a curve is no share of its tries."""
        e = self.evidence
        if e.exact:
            return "exact"
        if not self.is_area and (e.hits or e.value == 0):
            return f"{e.hits:,} of {e.tries:,}"
        return f"as sure as {round(e.effective or e.tries):,} tries"


def judge(shown: dict[str, Any], promise: Guarantee) -> Finding:
    """Judge evidence afresh; what a file says about its own verdict is not believed."""
    evidence, with_truth = Evidence.from_json(shown), bool(shown.get("published"))
    return Finding(evidence, *evidence.judge(promise), with_truth)


def strongest(found: list[Finding]) -> Finding | None:
    """The attack that gained most over chance; None where none gained anything: such a figure says nothing by itself."""
    best = max(found, key=lambda finding: finding.gain, default=None)
    return best if best is not None and best.gain > 0 else None


def findings(manifest: dict[str, Any], promise: Guarantee) -> tuple[list[Finding], int]:
    """All readable evidence of a release, and how many pieces could not be read."""
    good, bad = [], 0
    for shown in manifest.get("evidence") or []:
        try:
            good.append(judge(shown, promise))
        except (TextveilError, TypeError, ValueError, AttributeError):
            bad += 1
    return good, bad
