"""Text: tokens that join back, files in many formats, vocabularies, vectors and binary codes, bundled data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textveil.core.lazy import lazy_names

if TYPE_CHECKING:
    from . import (
        binarise as binarise,
        codes as codes,
        documents as documents,
        examples as examples,
        readers as readers,
        sample as sample,
        spans as spans,
        tokens as tokens,
        vectors as vectors,
        writers as writers,
    )
    from .codes import Codes as Codes
    from .documents import Record as Record
    from .readers import open_reader as open_reader
    from .spans import Span as Span
    from .vectors import Vectors as Vectors
    from .writers import open_writer as open_writer
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "": "binarise codes documents examples readers sample spans tokens vectors writers",
            "codes": "Codes",
            "documents": "Record",
            "readers": "open_reader",
            "spans": "Span",
            "vectors": "Vectors",
            "writers": "open_writer",
        },
    )
