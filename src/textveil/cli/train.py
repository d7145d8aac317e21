"""`textveil train`: models of private text, their vocabulary, and what a plan would cost. One file per group of verbs."""

from __future__ import annotations

from textveil.cli import train_apply, train_canaries, train_head, train_models, train_price, train_vocab
from textveil.cli.verbs import Verbs

app = Verbs("Train under differential privacy: vocabulary, tagger, classifier, language model.")

for _verb in (
    train_models.tagger,
    train_models.classifier,
    train_models.lm,
    train_apply.apply,
    train_head.head,
    train_vocab.vocab,
    train_canaries.canaries,
    train_price.price,
):
    app.command()(_verb)
