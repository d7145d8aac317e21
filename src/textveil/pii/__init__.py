"""Personal data in text: found from records and by recognisers, scored, reviewed, masked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textveil.core.lazy import lazy_names

if TYPE_CHECKING:
    from .mask import Mask as Mask
    from .patterns import PatternRecogniser as PatternRecogniser
    from .recognisers import (
        Recognisers as Recognisers,
        load as load,
    )
    from .tagger.tagger import Tagger as Tagger
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "mask": "Mask",
            "patterns": "PatternRecogniser",
            "recognisers": "Recognisers load",
            "tagger.tagger": "Tagger",
        },
    )
