"""Every block of README and docs does what it says: commands run on small invented files, figures name their command."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys

import docs_not_run
import pytest
from docs_blocks import READ_ONLY, ROOT, SHELL, Block, Command, blocks, commands, pages
from docs_files import FILES, write_files

from textveil.cli import run

ALL = [block for page in pages() for block in blocks(page)]
COMMANDS = [command for block in ALL for command in commands(block)]
TOLD = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def reason_not_to_run(command: Command) -> str | None:
    return next((why for start, why in docs_not_run.COMMANDS.items() if command.line.startswith(start)), None)


def to_run(page: str) -> list[Command]:
    """What a page needs first, then its commands, without those that are listed."""
    before = Block(page, 0, "sh", "\n".join(docs_not_run.BEFORE.get(page, [])))
    listed = [*commands(before), *(command for command in COMMANDS if command.block.page == page)]
    return [command for command in listed if reason_not_to_run(command) is None]


WITH_COMMANDS = sorted({command.block.page for command in COMMANDS if to_run(command.block.page)})
WITH_TORCH = [page for page in WITH_COMMANDS if any(command.needs_torch for command in to_run(page))]


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_the_commands_of_a_page_run(page, scratch, capsys):
    """In the order of the page, in one folder. Those that need torch are left to the next test."""
    for command in (c for c in to_run(page) if page not in WITH_TORCH or not c.needs_torch):
        if not _needs_a_model(command, page):
            check(command, capsys)


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("page", WITH_TORCH)
def test_the_commands_of_a_page_run_with_torch(page, scratch, capsys):
    for command in to_run(page):
        check(command, capsys)


def _needs_a_model(command: Command, page: str) -> bool:
    """Whether it uses what a command with torch makes."""
    made = [c.words[c.words.index("-o") + 1] for c in to_run(page) if c.needs_torch and "-o" in c.words]
    return any(word in made or word.startswith(tuple(f"{name}/" for name in made)) for word in command.words)


@pytest.fixture
def scratch(tmp_path, monkeypatch, request):
    """A folder with the invented files that the page names."""
    page = request.node.callspec.params["page"]
    write_files([word for command in to_run(page) for word in command.words], tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


def check(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    place = f"{command.block.place}: {command.line}"
    assert command.is_textveil or command.needs_shell, f"{place}: run it, or list it in tests/docs_not_run.py"
    code, shown = (in_a_shell if command.needs_shell else in_this_process)(command, capsys)
    assert code == command.code, f"{place}: ended with {code}\n{shown}"
    if command.output is not None:
        same = doctest.OutputChecker().check_output(command.output, shown, TOLD)
        assert same, f"{place}: the page shows\n{command.output}\nand it says\n{shown}"


def in_this_process(command: Command, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    code = run(command.words[1:])
    out, err = capsys.readouterr()
    return code, err + out


def in_a_shell(command: Command, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """A command with a pipe or a file to write to: `textveil` is a function of the shell then."""
    script = f'textveil() {{ "{sys.executable}" -m textveil "$@"; }}\n{command.line}'
    source = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        ["sh", "-c", script], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": source}
    )
    return done.returncode, done.stderr + done.stdout


# ---- nothing is passed over -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", ALL, ids=lambda block: block.place)
def test_a_block_is_run_listed_or_there_to_be_read(block):
    if block.language in SHELL | READ_ONLY or block.is_doctest:
        return
    assert block.language == "python", f"{block.place}: say sh, console, python, text, json, toml or csv"
    assert (block.page, block.text.splitlines()[0]) in docs_not_run.PYTHON, f"{block.place}: a doctest, or list it"


def test_what_is_not_run_is_still_there():
    unused = [start for start in docs_not_run.COMMANDS if not any(c.line.startswith(start) for c in COMMANDS)]
    assert unused == []
    first_lines = {(block.page, block.text.splitlines()[0]) for block in ALL if block.text}
    assert set(docs_not_run.PYTHON) <= first_lines


def test_every_invented_file_is_used():
    words = {word for page in WITH_COMMANDS for command in to_run(page) for word in command.words}
    assert set(FILES) <= words


def test_a_block_that_does_not_run_fails(scratch_page, capsys):
    with pytest.raises(AssertionError, match="ended with 2"):
        check(commands(Block("a.md", 1, "sh", "textveil veil nothing.csv -o out --epsilon 1\n"))[0], capsys)
    with pytest.raises(AssertionError, match="the page shows"):
        check(commands(Block("a.md", 1, "console", "$ textveil --version\ntextveil 9.9\n"))[0], capsys)


@pytest.fixture
def scratch_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


# ---- every figure has its command -----------------------------------------------------------------------------------

MEASURED = re.compile(r"(?<![\w.])(?:0?\.\d{2,}|\d+(?:\.\d+)? (?:%|s|ms|GB|MB)(?!\w))")  # .758, 0.31, 93.9 %, 2.3 s
COMMAND = re.compile(r"`(?:textveil|python bench/|make )[^`]*`|^(?:\$ )?textveil ", re.MULTILINE)
WITHOUT = ("docs/decisions/", "CHANGELOG.md")  # a decision tells what was known then


def sections(page: str) -> list[str]:
    """The parts of a page between headings of the first two levels: a table may lean on the text around it."""
    return re.split(r"^##? ", (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.mark.parametrize("page", [page for page in pages() if not page.startswith(WITHOUT)])
def test_a_table_of_figures_names_the_command_that_makes_it(page):
    for part in sections(page):
        rows = [line for line in part.splitlines() if line.startswith("|")]
        if any(MEASURED.search(row) for row in rows):
            assert COMMAND.search(part), (
                f"{page}: under '{part.splitlines()[0]}' nobody can find how the figures are made"
            )
