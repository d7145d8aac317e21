"""What an attack asks of the owner of a release beside the folder, so that a card can say which ones were not run, and why.

A card is drawn without importing an attack, so this stands here as a table; a test compares it with what the audit rooms
really ask for (`recipes/audit.py`). An attack that is not in it belongs to another package: nothing is known about it.
"""

from __future__ import annotations

from . import registry

ASKED = {
    "truth": "--truth IN, the original file",
    "canaries": "--truth canaries.json",
    "other": "--other FOLDER, another masked release about the same people",
    "records": "--records FILE, records of the people",
    "public": "--public FILE, texts of the same source that were not trained on",
}

NEEDS: dict[str, tuple[str, ...]] = {
    "counts.linkage": ("truth",),
    "counts.passage": (),
    "counts.phrase": ("truth",),
    "federated.beam_search": ("canaries",),
    "federated.one_run": ("canaries",),
    "federated.secret_sharer": ("canaries",),
    "fragments.greedy": ("truth",),
    "fragments.reassembly": ("truth",),
    "hashed.api": ("truth",),
    "hashed.lookup": ("truth",),
    "hashed.membership": ("truth",),
    "hashed.probing": ("truth",),
    "hashed.redacted": ("truth",),
    "hashed.retrain": ("truth",),
    "mpc.extraction": ("truth",),
    "mpc.view": (),
    "pii.pseudonyms": ("other",),
    "pii.quasi": ("records", "truth"),
    "pii.recognised": ("truth",),
    "pii.refound": ("truth",),
    "texthide.absolute": (),
    "texthide.masks": (),
    "texthide.order": (),
    "texthide.rows": (),
    "texthide.rss": (),
    "texthide.span": (),
    "texthide.unmix": (),
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

# What each of them tries to find out, for a reader who knows no attack by its name.
ASKS = {
    "counts.linkage": "Which document does a released row belong to?",
    "counts.passage": "Did a passage stand in a document?",
    "counts.phrase": "Which document holds a phrase that no other one has?",
    "federated.beam_search": "Which planted sentences does the model write out after their first word?",
    "federated.one_run": "Which planted users took part? Gives a lower limit on the true loss of a user.",
    "federated.secret_sharer": "Which planted sentences does the model find likelier than all random ones?",
    "fragments.greedy": "Which sentences were cut? One language, the longest overlap first: the simplest attack.",
    "fragments.reassembly": "Which sentences were cut? Fragments are put together by what they share, in both languages.",
    "hashed.api": "Was a term in the documents? Asked of the model's answers alone.",
    "hashed.lookup": "Was a term in the documents? Are its places in the table filled?",
    "hashed.membership": "Was a term in the documents? Read off the weights in the table.",
    "hashed.probing": "Which terms does the model find in made-up sentences?",
    "hashed.redacted": "Which name was blacked out in a document that is known otherwise?",
    "hashed.retrain": "Was a term in the documents? The attacker trains a model of his own and compares.",
    "mpc.extraction": "How good a copy of the model do these labels make?",
    "mpc.view": "Does what a party sees while it computes depend on the other one's input?",
    "pii.pseudonyms": "Which invented names of two files stand for the same person?",
    "pii.quasi": "Who is meant? Facts that were not masked are looked up in public records.",
    "pii.recognised": "Which names and dates does a second recogniser find, and whom do they name?",
    "pii.refound": "Which names were missed, and stand there still?",
    "texthide.absolute": "Which sentences are mixed in an encoding? Signs are ignored, so no mask helps.",
    "texthide.masks": "Which encodings were hidden by the same secret mask?",
    "texthide.order": "Which token of a client's text stands where? Read off its gradient.",
    "texthide.rows": "Which tokens stand in a client's batch? Read off the gradient of the embeddings.",
    "texthide.rss": "Which sentence is most alike to a hidden encoding? The test of the paper itself.",
    "texthide.span": "Which tokens stand in a client's batch? Found in the span of the first layer's gradient.",
    "texthide.unmix": "Which sentences are mixed in an encoding? Masks are found and taken off first.",
    "training.exposure": "Which of many secrets was planted in the data?",
    "training.lira": "Was an example trained on? Compared with models that the attacker trained.",
    "training.membership": "Was an example trained on? Judged by how well the model knows it.",
    "training.one_run": "Which planted examples were trained on? Gives a lower limit on the true loss.",
    "words.bayes": "Which word stood here? Guessed from the released word alone, in the best way.",
    "words.context": "Which word stood here? Guessed with the words around it too.",
    "words.nearest": "Which word stood here? The simplest guess: the released one.",
    "words.repeated": "Which word is it that stands in several places?",
    "words.two_worlds": "Does the mechanism keep its promise for two near words?",
}

WITHOUT_ATTACK = {"pii.tagger", "training.vocab"}  # taggers: attacks of training; a list of words


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
