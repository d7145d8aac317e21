"""The three kinds of tables, and what each of them can be used for.

    open     as trained: it holds a trace of every word. Can be sealed; what sealing would cost can be measured
    sealed   every slot was filled (measured). Can be updated; says what its releases have cost
    sound    trained under a guarantee. Is complete as it is: nothing to seal, to update or to measure

All three are applied and probed alike. What is not possible is refused in one sentence that names what is.
"""

from __future__ import annotations

from enum import StrEnum

from textveil.core.errors import BadInput


class TableKind(StrEnum):
    """How a table came to be, and so what may be done with it."""

    OPEN = "open"
    SEALED = "sealed"
    SOUND = "sound"


_NOT_POSSIBLE: dict[tuple[TableKind, str], tuple[str, str]] = {
    (TableKind.SEALED, "seal"): (
        "the model is sealed already",
        "share it as it is, or train it on with `textveil hashed update`",
    ),
    (TableKind.SOUND, "seal"): (
        "the model was trained under a guarantee, so there is nothing to seal",
        "share it as it is, or seal one that was trained without --epsilon",
    ),
    (TableKind.OPEN, "update"): (
        "the model is not a sealed model, and only those are updated",
        "`textveil hashed seal` first, or train it anew on all documents",
    ),
    (TableKind.SOUND, "update"): (
        "the model was trained under a guarantee, which covers that one training",
        "`textveil hashed train --epsilon` on all documents, charged to the same ledger",
    ),
    (TableKind.SOUND, "cost"): (
        "the model was trained under a guarantee: it costs what its card promises, and there is nothing to measure",
        "read its card.html, or measure a model that was trained without --epsilon",
    ),
}


def check_possible(kind: TableKind, verb: str, where: object = None) -> None:
    """Refuse what cannot be done with this kind of table: `verb` is seal, update or cost.

    >>> check_possible(TableKind.OPEN, "seal")
    """
    if (kind, verb) in _NOT_POSSIBLE:
        sentence, possible = _NOT_POSSIBLE[kind, verb]
        raise BadInput(sentence, where=where, possible=possible)
