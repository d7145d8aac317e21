"""The laws, asked of everything that is registered: each name has a small example, and a name without one fails.

from textveil.core import registry
from textveil.testing import check_registered
for name in registry.names("mechanism"):
    print(check_registered("mechanism", name))
"""

from __future__ import annotations

from typing import Any

from ..core import registry
from ..core.example import AttackExample, Example
from .attacks import check_attack
from .laws import BrokenLaw, Checked
from .mechanisms import check_mechanism

EXAMPLE = "it has an example"


def check_registered(kind: str, name: str) -> Checked | None:
    """Check a registered mechanism or attack on its own example; raises `BrokenLaw`."""
    example = example_of(kind, name)
    subject = example.mechanism if isinstance(example, Example) else example.attack
    if getattr(subject, "name", None) != name:
        raise BrokenLaw(name, EXAMPLE, f"its example is one of '{getattr(subject, 'name', None)}'")
    if isinstance(example, AttackExample):
        check_attack(example.attack, example.exposure)
        return None
    return check_mechanism(
        example.mechanism,
        example.sample,
        shape=example.shape,
        worlds=example.worlds,
        see=example.see,
        tries=example.tries,
        repeatable=example.repeatable,
        exempt=example.exempt,
    )


def example_of(kind: str, name: str) -> Any:
    """The example that a class brings by its classmethod `example`."""
    maker = getattr(registry.find(kind, name), "example", None)
    example = maker() if callable(maker) else None
    wanted = {"mechanism": Example, "attack": AttackExample}[kind]
    if not isinstance(example, wanted):
        raise BrokenLaw(name, EXAMPLE, f"its class has no classmethod `example` that returns a {wanted.__name__}")
    return example
