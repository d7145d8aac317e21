"""`textveil federate`: users or sites train one model without pooling their text. One file per verb."""

from __future__ import annotations

from textveil.cli import federate_canaries, federate_serve, federate_simulate
from textveil.cli.verbs import Verbs

app = Verbs("Train together: users or sites learn one model without pooling their text.")

_DEPLOYED = (federate_serve.keys, federate_serve.serve, federate_serve.join, federate_serve.app)
for _verb in (federate_simulate.simulate, *_DEPLOYED, federate_canaries.canaries):
    app.command()(_verb)
