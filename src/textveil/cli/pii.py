"""`textveil pii`: personal data in text; each verb stands in a file of its own."""

from __future__ import annotations

from textveil.cli import pii_annotate, pii_find, pii_mask, pii_review, pii_score, pii_train
from textveil.cli.verbs import Verbs

app = Verbs("Personal data: find it, review what was found, score it, mask it.")
app.command("annotate")(pii_annotate.annotate)
app.command("infobox")(pii_annotate.infobox)
app.command("find")(pii_find.find)
app.command("mask")(pii_mask.mask)
app.command("policy")(pii_find.policy)
app.command("review")(pii_review.review)
app.command("train")(pii_train.train)
app.command("unmask")(pii_mask.unmask)
app.command("score")(pii_score.score)
