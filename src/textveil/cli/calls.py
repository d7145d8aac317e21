"""A verb called from Python: values are checked as the command line checks words, and what it would print is returned."""

from __future__ import annotations

import inspect
import json
import os
import re
import textwrap
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from typer.models import ArgumentInfo, OptionInfo

from textveil.cli.options import spread
from textveil.cli.output import collected
from textveil.core.errors import BadInput, BadParameter, UnknownName
from textveil.core.release import ReleaseFolder

AS_JSON, PROGRESS = "as_json", "progress"
PARAMETERS = "parameters"  # NAME=VALUE on the command line; a dict in Python
NAMES = ("columns", "tags", "classes", "families")  # divided by commas on the command line; a list of them in Python
SHOWN_WHILE = "Show how far it is, and how fast."
WANTED = {int: "a whole number", float: "a number", bool: "True or False", str: "a string", Path: "a path"}


def function_of(verb: Callable[..., None], name: str) -> Callable[..., Any]:
    """The function behind `tv.NAME`."""
    run = spread(verb)
    options = {p.name: p for p in inspect.signature(run).parameters.values() if p.name != AS_JSON}
    takes_json = AS_JSON in inspect.signature(run).parameters
    signature = signature_of(options.values())

    def call(*positional: Any, **named: Any) -> Any:
        given = _bound(signature, name, positional, named)
        progress = bool(given.pop(PROGRESS, False))
        values = {key: value_for(options[key], value) for key, value in given.items()}
        whole = {key: p.default for key, p in options.items() if p.default is not p.empty} | values
        with collected(progress=progress) as printed:
            run(**whole, **({AS_JSON: True} if takes_json else {}))
        for notice in printed.notices:
            warnings.warn(notice, UserWarning, stacklevel=2)
        if printed.folder is None:
            return printed.result
        return ReleaseFolder.read(printed.folder, printed.result)

    call.__signature__, call.__wrapped__ = signature, verb  # type: ignore[attr-defined]
    call.__name__ = call.__qualname__ = name
    call.__module__ = "textveil.verbs"
    call.__doc__ = doc_of(verb, options.values())
    return call


def signature_of(options: Any) -> inspect.Signature:
    """What must be given comes first and by place; the rest by name, `progress` last."""
    listed = list(options)
    first = [p.replace(kind=p.POSITIONAL_OR_KEYWORD) for p in listed if p.default is p.empty]
    rest = [p.replace(kind=p.KEYWORD_ONLY, default=_plain(p.default)) for p in listed if p.default is not p.empty]
    shown = [inspect.Parameter(PROGRESS, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=bool)]
    return inspect.Signature([p.replace(annotation=python_type(p)) for p in (*first, *rest)] + shown)


def python_type(parameter: inspect.Parameter) -> Any:
    """What may be given from Python: strings for paths and choices, lists of names."""
    kinds: list[Any] = [str] if parameter.name in NAMES else []
    if parameter.name == PARAMETERS:
        return dict[str, Any] | None
    for kind in kinds_of(parameter.annotation):
        if kind is Path:
            kinds += [str, os.PathLike]
        elif inspect.isclass(kind) and issubclass(kind, StrEnum):
            kinds.append(Literal[tuple(member.value for member in kind)])
        else:
            kinds.append(kind)
    return Union[tuple(kinds)]  # noqa: UP007


def bare(annotation: Any) -> Any:
    """A type without what the command line knows about it."""
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def kinds_of(annotation: Any) -> tuple[Any, ...]:
    """The types that an option may have, None among them.

    >>> kinds_of(int | None) == (int, type(None))
    True
    """
    plain = bare(annotation)
    return get_args(plain) if get_origin(plain) in (Union, types.UnionType) else (plain,)


def value_for(parameter: inspect.Parameter, value: Any) -> Any:
    """A value as the verb takes it: paths from strings, choices from their names, lists from one value."""
    kinds = kinds_of(parameter.annotation)
    if value is None and type(None) in kinds:
        return None
    kind = next(k for k in kinds if k is not type(None))
    if isinstance(value, Mapping) and parameter.name == PARAMETERS:
        return [f"{name}={json.dumps(own)}" for name, own in value.items()]
    if get_origin(kind) is list:
        inner = get_args(kind)[0]
        single = isinstance(value, str) or not isinstance(value, Sequence)
        return [_one(parameter.name, inner, v) for v in ([value] if single else value)]
    if parameter.name in NAMES and isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(_one(parameter.name, str, v) for v in value)
    return _one(parameter.name, kind, value)


def _one(name: str, kind: Any, value: Any) -> Any:
    if inspect.isclass(kind) and issubclass(kind, StrEnum):
        if value not in tuple(kind):
            raise BadParameter(name, value, "one of " + ", ".join(repr(member.value) for member in kind))
        return kind(value)
    if kind is Path and isinstance(value, (str, os.PathLike)):
        return Path(value)
    if kind is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    is_whole = kind is int and hasattr(value, "__index__") and not isinstance(value, bool)
    if is_whole or (isinstance(value, kind) and not (kind is int and isinstance(value, bool))):
        return int(value) if is_whole else value
    raise BadParameter(name, value, WANTED.get(kind, getattr(kind, "__name__", str(kind))))


def _bound(signature: inspect.Signature, name: str, positional: Any, named: dict[str, Any]) -> dict[str, Any]:
    for key in named:
        if key not in signature.parameters:
            raise UnknownName(f"parameter of tv.{name}", key, signature.parameters)
    try:
        return dict(signature.bind(*positional, **named).arguments)
    except TypeError as error:
        needed = [p.name for p in signature.parameters.values() if p.default is p.empty]
        raise BadInput(f"tv.{name}: {error}", possible=f"{', '.join(needed)}, and the rest by name") from None


def doc_of(verb: Callable[..., None], options: Any) -> str:
    """The verb's own help, and its options as parameters."""
    listed = list(options)
    lines = [inspect.getdoc(verb) or "", "", "Parameters", "----------"]
    for parameter in [p for p in listed if p.default is p.empty] + [p for p in listed if p.default is not p.empty]:
        lines += [parameter.name, *_filled(_as_python(help_of(parameter.annotation), listed))]
    return "\n".join([*lines, PROGRESS, *_filled(SHOWN_WHILE)])


def _as_python(sentence: str, options: Sequence[inspect.Parameter]) -> str:
    """A sentence about options, with the names that they have in Python."""
    for parameter in options:
        for flag in (f"--{parameter.name.replace('_', '-')}", *_flags(parameter.annotation)):
            sentence = re.sub(rf"{re.escape(flag)}(?![\w-])", f"`{parameter.name}`", sentence)
    return sentence


def _flags(annotation: Any) -> tuple[str, ...]:
    infos = [m for m in getattr(annotation, "__metadata__", ()) if isinstance(m, OptionInfo)]
    return tuple(name for info in infos for name in info.param_decls or () if name.startswith("--"))


def help_of(annotation: Any) -> str:
    """The sentence of an option."""
    infos = [m for m in getattr(annotation, "__metadata__", ()) if isinstance(m, (OptionInfo, ArgumentInfo))]
    return str(infos[0].help or "") if infos else ""


def _plain(default: Any) -> Any:
    if isinstance(default, Path):
        return str(default)
    return default.value if isinstance(default, StrEnum) else default


def _filled(text: str) -> list[str]:
    return textwrap.wrap(text, 110, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


__all__ = ["function_of"]
