"""`textveil train`: models of private text, their vocabulary, and what a plan would cost. One file per group of verbs."""

from __future__ import annotations

import typer

from textveil.cli import train_canaries, train_models, train_price, train_vocab

app = typer.Typer(
    help="Train under differential privacy: vocabulary, tagger, classifier, language model.", no_args_is_help=True
)
app.command("tagger")(train_models.tagger)
app.command("classifier")(train_models.classifier)
app.command("lm")(train_models.lm)
app.command("head")(train_models.head)
app.command("vocab")(train_vocab.vocab)
app.command("canaries")(train_canaries.canaries)
app.command("price")(train_price.price)
