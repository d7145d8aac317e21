"""`textveil fragments`: parallel text in pieces; each verb stands in a file of its own."""

from __future__ import annotations

from textveil.cli import fragments_adapt, fragments_make, fragments_risk
from textveil.cli.verbs import Verbs

app = Verbs("Parallel text in pieces: cut it, measure what can be put together again, adapt a model to it.")
app.command("make")(fragments_make.make)
app.command("risk")(fragments_risk.risk)
app.command("adapt")(fragments_adapt.adapt)
