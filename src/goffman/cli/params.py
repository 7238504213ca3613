"""Options that several commands have, spelled and explained once, and what no option can be."""

from __future__ import annotations

import math
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperCommand

from goffman.config import audit_options, flag_of
from goffman.console import say
from goffman.errors import InputError
from goffman.validation import allowed_numbers, check_size, check_text

RENAMED = {
    "--as": "--to",
    "--pair": "--correlate",
    "--pairs": "--sentence-pairs",
    "--placement": "--adjective-placement",
}
"""Options that had a name that was easily mixed up with another's."""

VALUES = {int: "N", float: "NUMBER", Path: "FILE", str: "NAME"}
"""What stands for a value in the help, by its type; not what Python calls it."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
RUN_HELP = "A run: the folder that goffman audit wrote."


def option(name: str) -> Any:
    """Return an option of an audit as typer declares it."""
    one = audit_options()[name]
    return typer.Option(
        flag_of(name),
        help=one.help,
        metavar=one.metavar,
        min=one.minimum,
        max=one.maximum,
        rich_help_panel=one.panel,
    )


_WHOLE = "\ue000"
"""Stands for a hyphen while lines are broken, which would break there."""


class Command(TyperCommand):
    """A command that refuses, before it does anything, what can be the value of no option."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """[OPTIONS] RUN, as a person writes it."""
        arguments = [one for one in self.get_params(ctx) if not _is_option(one)]
        pieces = [_name_in_full(one) for one in arguments]
        optional = [
            piece if one.required else f"[{piece}]"
            for one, piece in zip(arguments, pieces, strict=True)
        ]
        return ["[OPTIONS]", *optional]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Options under the headings that they were given, in the order of their declaration."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            heading = getattr(param, "rich_help_panel", None) or "Options"
            heading = heading if _is_option(param) else "Arguments"
            spelled, about = help_row(param)
            groups.setdefault(heading, []).append((spelled, about.replace("-", _WHOLE)))
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def get_help(self, ctx: Any) -> str:
        """The help, with names such as social-distance.gap each on one line, to be copied."""
        return str(super().get_help(ctx)).replace(_WHOLE, "-")

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What is left of the arguments, as typer has it; InputError names the option."""
        if ctx.resilient_parsing:
            # A line that is still being typed, for a shell to complete.
            unfinished: list[str] = super().parse_args(ctx, args)
            return unfinished
        args = list(args)
        for place, argument in enumerate(args):
            name, *value = argument.split("=", 1)
            if name in RENAMED:
                say(f"{name} is now called {RENAMED[name]}.")
                args[place] = "=".join([RENAMED[name], *value])
        # As it was given: an empty path is the current folder once it is converted.
        given, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        for param in self.params:
            raw = given.get(param.name)
            for text in raw if isinstance(raw, list | tuple) else [raw]:
                if isinstance(text, str):
                    check_text(_name(param), text)
        try:
            rest: list[str] = super().parse_args(ctx, args)
        except typer.BadParameter as error:
            wrong: Any = error.param
            allowed, text = _allowed(wrong), given.get(wrong.name)
            # Without a text the parameter is missing, not wrong.
            if allowed is None or not isinstance(text, str):
                raise
            shown = text if _is_number(text) else f"'{text}'"
            raise InputError(f"{_name(wrong)} is {shown}. Allowed: {allowed}.") from error
        for param in self.params:
            check_size(_name(param), ctx.params.get(param.name))
        return rest


def help_row(param: Any) -> tuple[str, str]:
    """An option or argument with what stands for its value, and what the help says about it."""
    default = getattr(param.default, "value", param.default)
    about = str(param.help or "")
    if default is not None and not getattr(param, "is_flag", False) and "Default:" not in about:
        about += (
            f" Default: {default:g}." if isinstance(default, float) else f" Default: {default}."
        )
    if param.required and _is_option(param):
        about += " Required."
    return _name_in_full(param), about


def _name_in_full(param: Any) -> str:
    """-h, --help; --output FILE; RUN."""
    if not _is_option(param):
        return str(param.metavar or param.name.upper())
    spelled = ", ".join(sorted(param.opts, key=len))
    return spelled if param.is_flag else f"{spelled} {param.metavar or _value_of(param)}"


def _value_of(param: Any) -> str:
    """What stands for the value of an option: its choices, or a word by its type."""
    kind: Any = getattr(getattr(param, "type_descriptor", None), "annotation", None)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "|".join(str(one.value) for one in kind)
    # Of an option that may be repeated, the type of each value.
    kind = next(iter(get_args(kind)), kind)
    return VALUES.get(kind, "VALUE")


def _is_option(param: Any) -> bool:
    return str(param.opts[0]).startswith("-")


def _name(param: Any) -> str:
    """--output, or RUN where it has no option's name."""
    option = str(param.opts[0])
    shown = str(param.metavar or option.upper())
    return option if option.startswith("-") else shown.split(maxsplit=1)[0]


def _allowed(param: Any) -> str | None:
    """What a number or a choice may be, in words; None: the parameter is something else."""
    kind = getattr(getattr(param, "type_descriptor", None), "annotation", None)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return ", ".join(str(one.value) for one in kind)
    if kind not in (int, float):
        return None
    return allowed_numbers((kind, param.min, param.max))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
