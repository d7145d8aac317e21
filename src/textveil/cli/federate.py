"""`textveil federate`: users or sites train one model without pooling their text. One file per verb."""

from __future__ import annotations

from textveil.cli import federate_canaries, federate_simulate
from textveil.cli.verbs import Verbs

app = Verbs("Train together: users or sites learn one model without pooling their text.")

for _verb in (federate_simulate.simulate, federate_canaries.canaries):
    app.command()(_verb)
