"""Blocks and commands of README and docs that the tests do not run, each with its reason; and what a page takes for granted.

A command is named by how it begins, a python block by its page and its first line. A name that no page has any more fails
the tests, so that this list stays short.
"""

from __future__ import annotations

_EXAMPLE = "needs the package of examples/; tests/journeys/test_plug_ins.py runs it"
_EXAMPLE_CODE = "stands in examples/; tests/journeys/test_plug_ins.py runs it"
COMMANDS = {
    "textveil veil notes.csv -o out --mechanism example.response": _EXAMPLE,
    "textveil audit out --truth notes.csv --attack words.": _EXAMPLE,
    "textveil words info doctor --mechanism example.response": _EXAMPLE,
    "textveil reproduce example": _EXAMPLE,
    "textveil mentions": _EXAMPLE,
    "pip install": "installs packages; `make wheel-check` installs the built package",
    "textveil reproduce 06": "needs evaluation data and minutes; tests/unit/reproduce runs the study on made-up data",
    "textveil frontier reviews.jsonl -o frontier --label-field label": "takes minutes at its defaults; docs/use.md runs one "
    "of fewer points",
    "textveil federate simulate letters.jsonl -o hidden --local texthide": "takes half a minute; "
    "tests/unit/recipes/test_texthide.py runs the same",
    "textveil audit hidden --truth letters.jsonl": "attacks the folder of the command before it; "
    "tests/unit/recipes/test_texthide.py runs the same",
    "textveil report .": "the folder of the test holds more than releases; tests/journeys/test_veil_journey.py reports",
    "textveil fragments adapt": "needs a translation model; "
    "tests/journeys/test_fragments_adapt_journey.py makes a tiny one and adapts it",
    "textveil classify dealer": "serves until it is stopped; tests/journeys/test_mpc_journey.py runs it",
    "textveil classify serve": "serves until it is stopped; tests/journeys/test_mpc_journey.py runs it",
    "textveil classify node": "serves until it is stopped; tests/journeys/test_mpc_journey.py runs it",
    "textveil classify ask": "needs a server; tests/journeys/test_mpc_journey.py asks one",
    "textveil audit labels": "needs a server and minutes of the engine; tests/unit/mpc/test_views.py records views",
    "make engine": "installs an environment",
    "make demo": "installs an environment; tests/journeys/test_veil_journey.py runs the demo",
    "make test": "runs the tests themselves",
    "make quick": "runs the tests themselves",
    "make lint": "CI runs it",
    "make api": "writes files of the tree; tests/docs/test_api_reference.py checks them",
    "make wheel-check": "installs packages; tests/journeys/test_wheel.py builds the wheel",
    'python -c "from transformers import AutoTokenizer': "loads a tokenizer of another library; "
    "tests/journeys/test_train_vocab_journey.py does the same",
    "cd tagger/model && python -c": "changes the folder; tests/journeys/test_train_journey.py loads an exported model "
    "without Textveil",
    "textveil pii review": "serves a page until it is stopped; tests/browser and tests/journeys/test_pii_review_journey.py "
    "review and export",
    "textveil train lm notes.jsonl -o model --epsilon 4 --delta 1e-6 --private-vocabulary": "needs thousands of texts for a "
    "word to be frequent enough; tests/journeys/test_train_journey.py trains under one budget",
    "textveil veil reviews.jsonl -o out --epsilon 0.5 --text-field text --engine ray": "starts Ray; "
    "tests/journeys/test_engines_journey.py runs it",
    "textveil federate serve": "waits for its sites; tests/journeys/test_federated_deployment.py serves",
    "textveil federate join": "needs a server; tests/journeys/test_federated_deployment.py joins",
    "flwr run": "needs a Flower deployment of one's own; tests/unit/recipes/test_federated_app.py reads the app folder",
}

PYTHON = {
    (
        "docs/write-a-mechanism.md",
        '"""example.response: keep a word by a coin, else draw any word, all alike.',
    ): _EXAMPLE_CODE,
    ("docs/write-an-attack.md", '"""words.stays: guess that every word is what it was."""'): _EXAMPLE_CODE,
    (
        "docs/write-a-paper.md",
        '"""A study of one claim: randomized response tells the truth with chance e^epsilon / (1 + e^epsilon)."""',
    ): _EXAMPLE_CODE,
    (
        "docs/write-a-verb.md",
        '"""textveil mentions: which notes mention a word, by randomized response."""',
    ): _EXAMPLE_CODE,
    (
        "docs/on-device.md",
        "import textveil as tv",
    ): "its first command needs a file of codes; tests/unit/words/test_on_device.py runs it",
    ("docs/training-engine.md", "class Net(torch.nn.Module):"): "the shape of a net of one's own, without a body",
    ("docs/training.md", "trainer = tv.training.Trainer("): "names that are the reader's: model, args, rows, collator; "
    "tests/unit/training/test_models.py runs the same call",
}

_TRAIN = (
    'textveil hashed train contracts.jsonl --spans marked.jsonl --label "Governing Law" -o model --ledger firm.ledger'
)
BEFORE = {
    "docs/hashed-seal.md": [_TRAIN],
    "docs/hashed-attacks.md": [_TRAIN, "textveil hashed seal model -o sealed"],
}
