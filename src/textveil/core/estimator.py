"""scikit-learn's manners without scikit-learn: parameters are the constructor's arguments, `fit` learns `name_` values.

`clone`, `Pipeline` and grid search work, since all they ask for is `get_params`, `set_params` and tags. Tags are built
only when scikit-learn asks, so that a light installation (numpy alone) can still use the mechanisms.
"""

from __future__ import annotations

import inspect
import math
from typing import Any, Self

from .errors import UnknownName
from .explained import with_all_parameters


class Estimator:
    """Base of everything with `fit`.

    >>> class Scale(Estimator):
    ...     def __init__(self, factor=2):
    ...         self.factor = factor
    >>> Scale(factor=3).set_params(factor=4)
    Scale(factor=4)
    """

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        names = cls._parameter_names()
        if vars(cls).get("__doc__") and names:  # a base without a constructor explains for those that have one
            cls.__doc__ = with_all_parameters(cls, names)

    @classmethod
    def _parameter_names(cls) -> list[str]:
        parameters = inspect.signature(cls.__init__).parameters.values()
        return [p.name for p in parameters if p.name != "self" and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._parameter_names()}

    def public_params(self) -> dict[str, Any]:
        """What a release may say of its parameters: JSON values, and never the seed, which would undo a draft.

        >>> class Scale(Estimator):
        ...     def __init__(self, factor=2, seed=None):
        ...         self.factor, self.seed = factor, seed
        >>> Scale(factor=3, seed=7).public_params()
        {'factor': 3}
        """
        return {name: _shown(value) for name, value in self.get_params().items() if name != "seed"}

    def set_params(self, **values: Any) -> Self:
        known = self._parameter_names()
        for name, value in values.items():
            if name not in known:
                raise UnknownName(f"parameter of {type(self).__name__}", name, known)
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        shown = [f"{k}={v!r}" for k, v in self.get_params().items() if v is not defaults[k].default]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(string=True, two_d_array=False),
        )


def public_params_of(mechanism: Any) -> dict[str, Any]:
    """`public_params` of anything that has it, else its parameters without the seed; a mechanism without any has none."""
    if callable(chosen := getattr(mechanism, "public_params", None)):
        return dict(chosen())
    ask = getattr(mechanism, "get_params", None)
    return {n: _shown(v) for n, v in ask().items() if n != "seed"} if callable(ask) else {}


def _shown(value: Any) -> Any:
    """A value as JSON holds it; an object by the name it has, else by its type: never by its content."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):  # numpy's doubles are floats too, and print otherwise
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_shown(v) for v in (sorted(value) if isinstance(value, (set, frozenset)) else value)]
    if isinstance(value, dict):
        return {str(k): _shown(v) for k, v in value.items()}
    if callable(ask := getattr(value, "to_json", None)):
        return ask()
    if isinstance(name := getattr(value, "name", None), str):
        return name
    item = getattr(value, "item", None)
    return _shown(item()) if callable(item) and getattr(value, "ndim", 1) == 0 else type(value).__name__
