"""Private classification between two owners: a text that nobody else sees, a model that nobody else sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textveil.core.lazy import lazy_names

if TYPE_CHECKING:
    from .client import ClassifyClient as ClassifyClient
    from .mechanism import PrivateClassifier as PrivateClassifier
    from .model_folder import (
        Classifier as Classifier,
        load_classifier as load_classifier,
        save_classifier as save_classifier,
    )
    from .networks import NetworkShape as NetworkShape
    from .server import ClassifyServer as ClassifyServer
    from .train import (
        from_layers as from_layers,
        train_network as train_network,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "client": "ClassifyClient",
            "mechanism": "PrivateClassifier",
            "model_folder": "Classifier load_classifier save_classifier",
            "networks": "NetworkShape",
            "server": "ClassifyServer",
            "train": "from_layers train_network",
        },
    )
