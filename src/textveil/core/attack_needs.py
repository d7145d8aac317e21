"""What an attack asks of the owner of a release beside the folder, so that a card can say which ones were not run, and why.

A card is drawn without importing an attack, so this stands here as a table; a test compares it with what the audit rooms
really ask for (`recipes/audit.py`). An attack that is not in it belongs to another package: nothing is known about it.
"""

from __future__ import annotations

from . import registry

ASKED = {
    "truth": "--truth IN, the original file",
    "canaries": "--truth canaries.json",
    "public": "--public FILE, texts of the same source that were not trained on",
}

NEEDS: dict[str, tuple[str, ...]] = {
    "counts.linkage": ("truth",),
    "counts.passage": (),
    "counts.phrase": ("truth",),
    "hashed.api": ("truth",),
    "hashed.lookup": ("truth",),
    "hashed.membership": ("truth",),
    "hashed.probing": ("truth",),
    "hashed.redacted": ("truth",),
    "hashed.retrain": ("truth",),
    "training.exposure": ("canaries",),
    "training.lira": ("truth", "public"),
    "training.membership": ("truth", "public"),
    "training.one_run": ("canaries",),
    "words.bayes": (),
    "words.context": (),
    "words.nearest": (),
    "words.repeated": (),
    "words.two_worlds": (),
}

WITHOUT_ATTACK = {"pii.mask", "training.vocab"}  # attacks to come; a list of words and no model


def attacks_on(mechanism: str) -> list[str]:
    """The attacks that ship for releases of this mechanism.

    >>> attacks_on("counts.limited_precision")
    ['counts.linkage', 'counts.passage', 'counts.phrase']
    """
    room = mechanism.partition(".")[0]
    return [] if mechanism in WITHOUT_ATTACK else [n for n in registry.names("attack") if n.startswith(f"{room}.")]


def needs_of(attack: str) -> str:
    """What has to be given to run it, in words.

    >>> needs_of("training.lira")
    'needs --truth IN, the original file, and --public FILE, texts of the same source that were not trained on'
    """
    if attack not in NEEDS:
        return "comes from another package; its own pages say what it needs"
    asked = [ASKED[name] for name in NEEDS[attack]]
    return f"needs {', and '.join(asked)}" if asked else "needs nothing but the folder"
