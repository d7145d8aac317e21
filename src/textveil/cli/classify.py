"""`textveil classify`: classify a text that nobody else sees, with a model that nobody else sees."""

from __future__ import annotations

from textveil.cli import classify_ask, classify_serve, classify_train
from textveil.cli.verbs import Verbs

app = Verbs("Private classification between two owners: of a text, and of a model.")
app.command("train")(classify_train.train)
app.command("keys")(classify_serve.keys)
app.command("serve")(classify_serve.serve)
app.command("dealer")(classify_serve.dealer)
app.command("node")(classify_serve.node)
app.command("ask")(classify_ask.ask)
