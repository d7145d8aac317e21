"""Write docs/api/ and the types of the verbs (src/textveil/verbs.pyi) from docstrings and signatures.

    python scripts/api_reference.py            write what is out of date
    python scripts/api_reference.py --check    say what is out of date; exit code 1 if anything is

A page per room: every public name with its signature, what it is, its parameters, and its methods in a sentence each.
Examples stay in the docstrings, where the tests run them.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any, get_args, get_origin

import textveil
from textveil import verbs
from textveil.cli.calls import AS_JSON, NAMES, PARAMETERS, PROGRESS, kinds_of
from textveil.cli.options import spread
from textveil.core.estimator import Estimator
from textveil.core.explained import parameters_of

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "api"
STUB = ROOT / "src" / "textveil" / "verbs.pyi"
ROOMS = {
    "words": "Word mechanisms.",
    "counts": "Noisy counts of words.",
    "hashed": "Extractors in a hash table.",
    "training": "Models under differential privacy.",
    "federated": "Training together.",
    "pii": "Personal data: finding and masking it.",
    "attacks": "Attacks, what each of them sees, and evidence.",
    "text": "Files, tokens, vectors.",
    "accounting": "Ledgers, prices and calibration.",
    "core": "Promises, events, releases and errors.",
    "noise": "Sources of randomness.",
    "testing": "Checks for mechanisms and attacks of your own.",
    "recipes": "From file to release, in Python.",
}
MADE = "<!-- made by scripts/api_reference.py: change the docstrings, then run it again -->\n"
SECTION = re.compile(r"^(\w[\w ]*)\n-+\n", re.MULTILINE)
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def pages() -> dict[Path, Callable[[], str]]:
    """Every file that is made, and how."""
    rooms = {PAGES / f"{room}.md": (lambda room=room: room_page(room)) for room in ROOMS}
    return {STUB: stub, PAGES / "README.md": index_page, PAGES / "verbs.md": verbs_page, **rooms}


# ---- pages -----------------------------------------------------------------------------------------------------------


def index_page() -> str:
    rows = [f"- [`tv.{room}`]({room}.md): {what}" for room, what in ROOMS.items()]
    return (
        f"{MADE}# The API\n\n`import textveil as tv`. Verbs take a file to a release; rooms have the mechanisms. "
        "`help(tv.veil)` shows what stands here.\n\n"
        "- [Verbs](verbs.md): `tv.veil`, `tv.count`, `tv.audit` and the others, one for each verb of the command line.\n"
        + "\n".join(rows)
        + "\n"
    )


def verbs_page() -> str:
    head = (
        f"{MADE}# Verbs in Python\n\n"
        "Each is a verb of the command line, with the same parameters, which are given by name. Those that make a release "
        "folder return a `tv.ReleaseFolder`; the others return what `--json` prints. Notices become warnings. "
        "Paths are strings or `Path`s.\n\n"
        "```python\n>>> import tempfile, pathlib, textveil as tv\n"
        ">>> folder = pathlib.Path(tempfile.mkdtemp())\n"
        '>>> release = tv.veil(tv.text.sample.path(), folder / "out", epsilon=0.5, only_text=True)\n'
        '>>> release.result["records"], release.guarantee.unit, release.card.name\n'
        "(110, <Unit.WORD: 'word'>, 'card.html')\n"
        '>>> [row["attack"] for row in tv.audit(release.folder, attack="words.bayes")["evidence"]][0]\n'
        "'words.bayes'\n\n```\n\n"
    )
    return head + "\n".join("\n".join(entry(f"tv.{name}", getattr(verbs, name))) for name in sorted(verbs.VERBS))


def room_page(room: str) -> str:
    package = getattr(textveil, room)
    said = prose(inspect.getdoc(package) or "")
    things = [(name, getattr(package, name)) for name in package.__all__]
    parts = ["\n".join(entry(f"tv.{room}.{name}", thing)) for name, thing in things]
    return f"{MADE}# tv.{room}\n\n{said}\n\n" + "\n".join(parts)


def entry(name: str, thing: Any) -> Iterator[str]:
    """One public name."""
    yield f"## {name}\n"
    if inspect.ismodule(thing):
        yield prose(inspect.getdoc(thing) or "") + "\n"
        return
    doc = inspect.getdoc(thing) or ""
    if (shown := signature_text(name.rpartition(".")[2], thing)) is not None:
        yield f"```text\n{shown}\n```\n"
    yield prose(doc) + "\n"
    yield from parameter_lines(doc)
    if inspect.isclass(thing):
        yield from method_lines(thing)


def parameter_lines(doc: str) -> Iterator[str]:
    explained = parameters_of(doc)
    for name, text in explained.items():
        yield f"- **{name}**: {text}"
    if explained:
        yield ""


def method_lines(cls: type) -> Iterator[str]:
    """Public methods and properties that Textveil wrote, each with its first sentence."""
    if issubclass(cls, Enum):
        yield f"Values: {', '.join(f'`{member.value}`' for member in cls)}.\n"
        return
    rows = []
    for name in sorted(n for n in dir(cls) if not n.startswith("_") and n not in vars(Estimator)):
        value = inspect.getattr_static(cls, name)
        home = next(base for base in cls.__mro__ if name in vars(base))
        function = getattr(value, "__func__", getattr(value, "fget", None) or getattr(value, "func", None) or value)
        doc = inspect.getdoc(function) if inspect.isfunction(function) else None
        if doc and home.__module__.startswith("textveil"):
            brackets = "" if not inspect.isfunction(getattr(value, "__func__", value)) else "()"
            rows.append(f"- `{name}{brackets}`: {first_sentence(doc)}")
    if rows:
        yield "\n".join(rows) + "\n"


def prose(doc: str) -> str:
    """A docstring without its sections and examples: indented lines become blocks to read."""
    text = doc[: match.start()] if (match := SECTION.search(doc)) else doc
    text = re.split(r"^>>> ", text, maxsplit=1, flags=re.MULTILINE)[0].rstrip()
    lines: list[str] = []
    for block in re.split(r"\n\n+", text):
        if block.startswith("    ") or "  " in block.strip().replace(". ", "."):
            lines.append(f"```text\n{block}\n```")
        else:
            lines.append(block)
    return escaped("\n\n".join(lines))


def escaped(text: str) -> str:
    """Angle brackets as people wrote them, outside of blocks."""
    parts = re.split(r"(```.*?```|`[^`]*`)", text, flags=re.DOTALL)
    return "".join(part if part.startswith("`") else part.replace("<", "&lt;") for part in parts)


def first_sentence(doc: str) -> str:
    flat = " ".join(re.split(r"\n\n|\n>>> ", doc)[0].split())
    return escaped(re.split(r"(?<=[.!?]) (?=[A-Z`])", flat)[0])


def signature_text(name: str, thing: Any) -> str | None:
    """The call, without types: names and defaults are what one types."""
    if inspect.isclass(thing) and (issubclass(thing, (Enum, BaseException)) or getattr(thing, "_is_protocol", False)):
        return None
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return None
    star, texts = False, list[str]()
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and not star:
            star, _ = True, texts.append("*")
        star = star or p.kind is p.VAR_POSITIONAL
        mark = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        texts.append(f"{mark}{p.name}" + ("" if p.default is p.empty else f"={default_text(p.default)}"))
    lines, line = list[str](), f"{name}("
    for i, text in enumerate(texts):
        piece = text + (")" if i == len(texts) - 1 else ", ")
        if len(line) + len(piece) > 116:
            lines.append(line.rstrip())
            line = "    "
        line += piece
    return "\n".join([*lines, line if texts else f"{name}()"])


def default_text(value: Any) -> str:
    if type(value).__repr__ is object.__repr__ or callable(value):
        return "..."
    text = ADDRESS.sub("", repr(value.value if isinstance(value, Enum) else value))
    return "..." if len(text) > 60 or text.startswith("<") else text


# ---- the stub --------------------------------------------------------------------------------------------------------


def stub() -> str:
    """Types of the verbs, for editors and type checkers."""
    head = [
        '"""Types of the verbs. Made by scripts/api_reference.py: do not edit."""',
        "",
        "from collections.abc import Mapping, Sequence",
        "from os import PathLike",
        "from typing import Any, Literal",
        "",
        "from textveil.core.release import ReleaseFolder",
        "",
        "VERBS: dict[str, str]",
        "",
    ]
    names = sorted(verbs.VERBS)
    functions = [line for name in names for line in stub_lines(name)]
    return "\n".join([*head, *functions, "", f"__all__ = {names!r}".replace("'", '"'), ""])


def stub_lines(name: str) -> Iterator[str]:
    module, _, verb = verbs.VERBS[name].partition(":")
    function = getattr(__import__(f"textveil.cli.{module}", fromlist=[verb]), verb)
    options = [p for p in inspect.signature(spread(function)).parameters.values() if p.name != AS_JSON]
    first = [p for p in options if p.default is p.empty]
    rest = [p for p in options if p.default is not p.empty]
    yield f"def {name}("
    yield from (f"    {p.name}: {type_text(p)}," for p in first)
    yield "    *,"
    yield from (f"    {p.name}: {type_text(p)} = {stub_default(p.default)}," for p in rest)
    yield f"    {PROGRESS}: bool = False,"
    yield f") -> {'ReleaseFolder' if makes_release(function) else 'Any'}: ..."


def makes_release(function: Callable[..., Any]) -> bool:
    """Whether a verb prints a release: it, or what it calls in its own file, ends in `print_release`."""
    own = inspect.getsource(function)
    if "print_release(" in own:
        return True
    helpers = re.findall(r"^    (?:return )?(_\w+)\(", own, flags=re.MULTILINE)
    return any("print_release(" in inspect.getsource(function.__globals__[name]) for name in helpers)


def type_text(parameter: inspect.Parameter) -> str:
    if parameter.name == PARAMETERS:
        return "Mapping[str, Any] | None"
    texts = [_type(kind) for kind in kinds_of(parameter.annotation)]
    if parameter.name in NAMES:
        texts.insert(1, "Sequence[str]")
    return " | ".join(texts)


def _type(kind: Any) -> str:
    if kind is type(None):
        return "None"
    if kind is Path:
        return "str | PathLike[str]"
    if get_origin(kind) is list:
        inner = _type(get_args(kind)[0])
        return f"{inner} | Sequence[{inner}]"
    if inspect.isclass(kind) and issubclass(kind, StrEnum):
        return "Literal[" + ", ".join(f'"{member.value}"' for member in kind) + "]"
    return str(kind.__name__)


def stub_default(value: Any) -> str:
    if isinstance(value, StrEnum):
        return f'"{value.value}"'
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    return f'"{value}"' if isinstance(value, (str, Path)) else "..."


# ---- the command -----------------------------------------------------------------------------------------------------


def stale() -> dict[Path, str]:
    """What is out of date, with what it should be."""
    texts = {path: make() for path, make in pages().items()}
    return {
        path: text for path, text in texts.items() if not path.is_file() or path.read_text(encoding="utf-8") != text
    }


def main() -> int:
    late = stale()
    for path, text in late.items():
        print(path.relative_to(ROOT))
        if "--check" not in sys.argv:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return 1 if late and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
