"""A BERT of two narrow layers with values at random, as a Hugging Face folder: an encoder that tests can afford."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def write_tiny_bert(path: Path, texts: Iterable[str]) -> Path:
    """Write the folder; its vocabulary are the words of the texts."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    path.mkdir(parents=True, exist_ok=True)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted({word for text in texts for word in text.split()})]
    (path / "vocab.txt").write_text("\n".join(words))
    BertTokenizerFast(str(path / "vocab.txt")).save_pretrained(path)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=16,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        BertModel(config, add_pooling_layer=False).save_pretrained(path)
    return path
