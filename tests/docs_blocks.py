"""The fenced blocks of README and docs: which of them are commands, and how a command is run.

    ```sh         one command a line (a backslash at the end goes on); every one must end with code 0
    ```console    lines that begin with "$ " are commands; what follows is their output, "..." standing for anything

    | table |       in the pages of `WITH_TABLES`: `textveil ...` in a cell of a table is a command as well

`# exit 1` behind a command says that it is meant to fail, and how. A `python` block with >>> is a doctest, which pytest
runs by itself (pyproject.toml). Any other python block, and any command that is not Textveil's, has to stand in
`docs_not_run.py` with a reason. Blocks of other languages (text, json, toml) are there to be read.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```(\S*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\|.*\|$", re.MULTILINE)
IN_A_CELL = re.compile(r"`(textveil [^`]+)`")
WITH_TABLES = ("README.md", "docs/choosing.md")  # their tables say what to run
SHELL = {"sh", "console"}
READ_ONLY = {"text", "json", "toml", "csv"}
EXIT = re.compile(r"#.*\bexit (\d)")
TORCH = (
    "train tagger",
    "train classifier",
    "train lm",
    "train head",
    "train apply",
    "train canaries",
    "federate simulate",
)


@dataclass(frozen=True)
class Block:
    """One fenced block: its page (as seen from the repository), the line it begins at, its language and its text."""

    page: str
    line: int
    language: str
    text: str

    @property
    def is_doctest(self) -> bool:
        return self.language == "python" and ">>> " in self.text

    @property
    def place(self) -> str:
        return f"{self.page}, line {self.line}"


@dataclass(frozen=True)
class Command:
    """One command, the code that it must end with, and its output where the page shows it."""

    block: Block
    line: str
    code: int = 0
    output: str | None = None

    @property
    def words(self) -> list[str]:
        return shlex.split(self.line, comments=True)

    @property
    def is_textveil(self) -> bool:
        return self.words[:1] == ["textveil"]

    @property
    def needs_shell(self) -> bool:
        return bool({"|", "<", ">", "&&"} & set(self.words))

    @property
    def needs_torch(self) -> bool:
        return " ".join(self.words[1:3]) in TORCH


def pages() -> list[str]:
    """All pages that people read, as seen from the repository."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def blocks(page: str) -> list[Block]:
    text = (ROOT / page).read_text(encoding="utf-8")
    fenced = [(match.start(), match.group(1), match.group(2)) for match in FENCE.finditer(text)]
    listed = [*fenced, *(_table_rows(text) if page in WITH_TABLES else ())]
    return [Block(page, text.count("\n", 0, start) + 1, kind, block) for start, kind, block in sorted(listed)]


def _table_rows(text: str) -> Iterator[tuple[int, str, str]]:
    """The commands of each row of a table, as a block."""
    for row in ROW.finditer(text):
        if lines := IN_A_CELL.findall(row.group()):
            yield row.start(), "sh", "\n".join(lines) + "\n"


def commands(block: Block) -> list[Command]:
    """The commands of a block, with the output that it shows."""
    if block.language not in SHELL:
        return []
    if block.language == "sh":
        lines = block.text.replace("\\\n", " ").splitlines()
        return [_command(block, line) for line in lines if line.strip() and not line.startswith("#")]
    rows: list[Command] = []
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, output = re.sub(r"\\\n", " ", part).partition("\n")
        rows.append(_command(block, line, output if output.strip() else None))
    return rows


def _command(block: Block, line: str, output: str | None = None) -> Command:
    code = EXIT.search(line)
    return Command(block, line.strip(), int(code.group(1)) if code else 0, output)
