"""scikit-learn's manners without scikit-learn: parameters are the constructor's arguments, `fit` learns `name_` values.

`clone`, `Pipeline` and grid search work, since all they ask for is `get_params`, `set_params` and tags. Tags are built
only when scikit-learn asks, so that a light installation (numpy alone) can still use the mechanisms.
"""

from __future__ import annotations

import inspect
from typing import Any, Self

from .errors import UnknownName


class Estimator:
    """Base of everything with `fit`.

    >>> class Scale(Estimator):
    ...     def __init__(self, factor=2):
    ...         self.factor = factor
    >>> Scale(factor=3).set_params(factor=4)
    Scale(factor=4)
    """

    @classmethod
    def _parameter_names(cls) -> list[str]:
        found = inspect.signature(cls.__init__).parameters.values()
        return [p.name for p in found if p.name != "self" and p.kind is not p.VAR_KEYWORD]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._parameter_names()}

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
