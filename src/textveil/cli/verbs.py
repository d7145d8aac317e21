"""Verbs and their help as plain text: options under the title of their group, whole at any width, with a sentence each.

typer's own boxes cut long options at 80 columns and, with today's click, drop the sentences of arguments.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import click
import typer
import typer.main
from typer.core import TyperCommand, TyperGroup
from typer.models import ArgumentInfo

from textveil.cli.options import spread
from textveil.core import registry

OPTIONS = "Options"
WIDEST_NAME = 26  # a longer one has its sentence on the next line


class Verbs(typer.Typer):
    """A family of verbs. A verb may take groups of options (options.py) as keyword arguments."""

    def __init__(self, help: str, **more: Any) -> None:
        settings = {"cls": Family, "no_args_is_help": True, "rich_markup_mode": None, "add_completion": False, **more}
        super().__init__(help=help, **settings)

    def command(self, name: str | None = None, **more: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:  # type: ignore[override]
        """Add a verb; its Python function stays as it was written."""

        def add(verb: Callable[..., None]) -> Callable[..., None]:
            super(Verbs, self).command(name, cls=Verb, **more)(spread(verb))
            return verb

        return add


class Family(TyperGroup):
    """Verbs listed with the whole first sentence of their help. The first family takes verbs of other packages too."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        own = super().get_command(ctx, cmd_name)
        return plugged_in_verb(cmd_name) if own is None and ctx.parent is None else own

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, rows in help_rows(self, ctx).items():
            with formatter.section(title):
                formatter.write_dl(rows, col_max=WIDEST_NAME)
        commands = [(name, self.commands[name]) for name in self.list_commands(ctx)]
        with formatter.section("Verbs"):
            formatter.write_dl([(name, first_sentence(command.help or "")) for name, command in commands])
        others = registry.plugged_in("verb") if ctx.parent is None else {}
        if others:
            with formatter.section("Verbs of other packages"):
                formatter.write_dl([(n, f"from {registry.package_of(m[0])}") for n, m in sorted(others.items())])


def plugged_in_verb(name: str) -> click.Command | None:
    """A verb that another package registers: a function with options like ours, or a family of verbs."""
    if name not in registry.plugged_in("verb"):
        return None
    verb = registry.find("verb", name)
    if not isinstance(verb, typer.Typer):
        alone = Verbs("")
        alone.command(name)(verb)
        verb = alone
    command = typer.main.get_command(verb)
    command.name = name
    return command


def first_sentence(text: str) -> str:
    """
    >>> first_sentence("Veil a file. Makes a folder.")
    'Veil a file.'
    """
    head, dot, _ = " ".join(text.split("\n\n")[0].split()).partition(". ")
    return head + dot.strip()


class Verb(TyperCommand):
    """A verb with grouped help."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, rows in help_rows(self, ctx).items():
            with formatter.section(title):
                formatter.write_dl(rows, col_max=WIDEST_NAME)


def help_rows(command: click.Command, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
    """(name, sentence) of all arguments and options, by group; the verb's own options first, --help last."""
    helps = argument_helps(command)
    groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], OPTIONS: []}
    for parameter in command.get_params(ctx):
        if getattr(parameter, "hidden", False):
            continue
        if isinstance(parameter, click.Argument):
            groups["Arguments"].append((parameter.make_metavar(ctx), helps.get(parameter.name or "", "")))
        else:
            title = getattr(parameter, "rich_help_panel", None) or OPTIONS
            groups.setdefault(title, []).append((_names(parameter, ctx), _sentence(parameter)))
    own_help = [row for row in groups[OPTIONS] if "--help" in row[0]]
    groups[OPTIONS] = [row for row in groups[OPTIONS] if row not in own_help]
    list(groups.values())[-1].extend(own_help)
    return {title: rows for title, rows in groups.items() if rows}


def argument_helps(command: click.Command) -> dict[str, str]:
    """The sentences of arguments, from the function: click 8.5 drops those that typer hands it."""
    if command.callback is None:
        return {}
    infos = {
        p.name: next((m for m in getattr(p.annotation, "__metadata__", ()) if isinstance(m, ArgumentInfo)), None)
        for p in inspect.signature(command.callback, eval_str=True).parameters.values()
    }
    return {name: info.help for name, info in infos.items() if info is not None and info.help}


def _names(parameter: click.Parameter, ctx: click.Context) -> str:
    first = ", ".join(sorted(parameter.opts, key=len))
    names = " / ".join([first, *parameter.secondary_opts])
    if getattr(parameter, "is_flag", False):
        return names
    return f"{names} {parameter.make_metavar(ctx)}"


def _sentence(parameter: Any) -> str:
    extra = []
    default = parameter.default
    if isinstance(default, (list, tuple)):
        default = ", ".join(map(str, default))
    if default is not None and parameter.show_default and (not isinstance(default, bool) or parameter.secondary_opts):
        if isinstance(default, bool):
            default = (parameter.opts if default else parameter.secondary_opts)[0]
        extra.append(f"default: {default:g}" if isinstance(default, float) else f"default: {default}")
    if parameter.required:
        extra.append("required")
    sentence = parameter.help or ""
    return f"{sentence}  [{'; '.join(extra)}]" if extra else sentence
