"""Model folders: config.json, weights.pt (a plain state dict), words.txt, and net.py, a copy of the portable network.

Inside such a folder `python -c "import net; net.load('.')"` needs torch and numpy, and nothing of Textveil. `load_net`
gives the network as it was trained, with `collate` and `losses`: what an audit of single examples needs. Encoders are
Hugging Face folders; `head.json` says which of our heads they carry, and without it their own files do.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from ..core import BadInput, UnknownName

CONFIG, WEIGHTS, WORDS, NET, HEAD = "config.json", "weights.pt", "words.txt", "net.py", "head.json"


def save_folder(
    folder: Path, config: dict[str, Any], weights: dict[str, Tensor], module: ModuleType, words: Iterable[str]
) -> None:
    """Write a model folder; numbers that half precision holds exactly are kept in it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CONFIG).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / WORDS).write_text("\n".join(words), encoding="utf-8")
    torch.save({name: _narrow(value.detach().contiguous()) for name, value in weights.items()}, folder / WEIGHTS)
    assert module.__file__ is not None
    shutil.copyfile(module.__file__, folder / NET)


def _narrow(value: Tensor) -> Tensor:
    half = value.half()
    return half if value.is_floating_point() and torch.equal(half.to(value.dtype), value) else value.clone()


def read_folder(folder: Path) -> tuple[dict[str, Any], list[str], dict[str, Tensor]]:
    """Config, words and weights of a model folder."""
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        words = (folder / WORDS).read_text(encoding="utf-8").split("\n")
        weights = torch.load(folder / WEIGHTS, weights_only=True)
    except (OSError, ValueError, RuntimeError):
        raise BadInput(f"is not a model folder ({CONFIG}, {WORDS}, {WEIGHTS})", where=folder) from None
    return (
        config,
        words,
        {name: value.float() if value.is_floating_point() else value for name, value in weights.items()},
    )


def model_folder(folder: str | Path) -> Path:
    """The folder itself, or that of the model inside a release folder."""
    folder = Path(folder)
    return folder / "model" if (folder / "model").is_dir() else folder


def load_net(folder: str | Path) -> Any:
    """The network of a model folder (or of a release folder that holds one), as it was trained."""
    folder = model_folder(folder)
    if (folder / HEAD).is_file() or _is_hugging_face(folder):
        from .encoder import load_encoder

        return load_encoder(folder)
    config, words, weights = read_folder(folder)
    kind = config.get("kind", "")
    if kind == "tagger":
        from .tagger import BiLSTMTagger as Net
    elif kind == "text_cnn":
        from .text_cnn import TextCNN as Net  # type: ignore[assignment]
    elif kind == "language_model":
        from .language_model import CIFGLanguageModel as Net  # type: ignore[assignment]
    else:
        raise UnknownName("kind of network", str(kind), ("tagger", "text_cnn", "language_model"))
    net = Net(config, words)
    net.take(weights)
    return net.eval()


def _is_hugging_face(folder: Path) -> bool:
    try:
        return "architectures" in json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return False


def example_losses(net: Any, examples: list[Any], batch_size: int = 256) -> Tensor:
    """The loss of each example, in the order given: what membership tests compare."""
    order = sorted(range(len(examples)), key=lambda i: _length(examples[i]))
    found = torch.zeros(len(examples))
    net.eval()
    with torch.no_grad():
        for start in range(0, len(order), batch_size):
            some = order[start : start + batch_size]
            found[some] = net.losses(net.collate([examples[i] for i in some])).float()
    return found


def _length(example: Any) -> int:
    first = example[0] if isinstance(example, tuple) else example
    return len(first)
