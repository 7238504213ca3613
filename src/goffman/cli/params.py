"""Options that several commands have, spelled and explained once, and what no option can be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from typer._click.exceptions import NoSuchOption
from typer.core import TyperCommand, TyperGroup

from goffman.config import INSTRUMENT_SETTINGS, audit_options, flag_of
from goffman.errors import InputError, did_you_mean
from goffman.validation import allowed_numbers, check_size, check_text

VALUES = {int: "N", float: "NUMBER", Path: "FILE", str: "NAME"}
"""What stands for a value in the help, by its type; not what Python calls it."""

MEANT = {"--format": "--to"}
"""What other commands call an option, and what it is called where they do not know it."""

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
        for param in self.shown(ctx):
            heading = getattr(param, "rich_help_panel", None) or "Options"
            heading = heading if _is_option(param) else "Arguments"
            spelled, about = help_row(param)
            groups.setdefault(heading, []).append((spelled, about.replace("-", _WHOLE)))
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def shown(self, ctx: Any) -> list[Any]:
        """The options and arguments that the help shows."""
        return list(self.get_params(ctx))

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
        # As it was given: an empty path is the current folder once it is converted.
        given = self._given(ctx, args)
        for param in self.params:
            raw = given.get(param.name)
            for text in raw if isinstance(raw, list | tuple) else [raw]:
                if isinstance(text, str):
                    check_text(_name(param), text)
        try:
            rest: list[str] = super().parse_args(ctx, args)
        except typer.BadParameter as error:
            wrong: Any = error.param
            if wrong is not None and not _is_option(wrong) and not given.get(wrong.name):
                raise InputError(_missing(ctx, wrong)) from error
            allowed, text = _allowed(wrong), given.get(wrong.name)
            # Without a text the parameter is missing, not wrong.
            if allowed is None or not isinstance(text, str):
                raise
            shown = text if _is_number(text) else f"'{text}'"
            near = did_you_mean(text, allowed.split(", "))
            raise InputError(f"{_name(wrong)} is {shown}. Allowed: {allowed}.{near}") from error
        for param in self.params:
            check_size(_name(param), ctx.params.get(param.name))
        return rest

    def _given(self, ctx: Any, args: Sequence[str]) -> dict[str, Any]:
        """What was given for each parameter, as text."""
        try:
            return dict(self.make_parser(ctx).parse_args(args=list(args))[0])
        except NoSuchOption as error:
            other = MEANT.get(error.option_name)
            if not any(other in param.opts for param in self.params):
                raise
            raise InputError(
                f"{error.option_name} is not an option here. Did you mean {other}?"
            ) from error


class CommandGroup(TyperGroup):
    """The commands under the headings that they were given."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - typer's own
        """Name and first sentence of each command."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            # Of one length, so that all groups have the same columns.
            row = (f"{name:<9}", command.get_short_help_str(limit=80))
            groups.setdefault(getattr(command, "rich_help_panel", ""), []).append(row)
        for heading, rows in groups.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


class AuditCommand(Command):
    """The command whose help shows the usual options; --help-all shows all."""

    def shown(self, ctx: Any) -> list[Any]:
        """The options that are shown first, or all."""
        rare = {"as_json", *(name for name, one in audit_options().items() if not one.first)}
        every = super().shown(ctx)
        return every if ctx.meta.get(ALL) else [one for one in every if one.name not in rare]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The options; with all of them, the settings of instruments, too."""
        super().format_options(ctx, formatter)
        if ctx.meta.get(ALL):
            with formatter.section("Settings of instruments (--set INSTRUMENT.NAME=VALUE)"):
                formatter.write_dl(setting_rows())


ALL = "goffman.all"
"""Marks a context whose help shows every option."""


def show_all(ctx: typer.Context, value: bool) -> None:
    """Print the help with every option."""
    if value:
        ctx.meta[ALL] = True
        print(ctx.get_help())
        raise typer.Exit


def setting_rows() -> list[tuple[str, str]]:
    """The settings of instruments, and what the help says about them."""
    return [
        (f"{instrument}.{name}={setting.metavar}", setting.help)
        for name, setting in INSTRUMENT_SETTINGS.items()
        for instrument in setting.panel.split(", ")
    ]


def _missing(ctx: Any, param: Any) -> str:
    """What is missing; of a run, which there are."""
    name = _name(param)
    said = f"goffman {ctx.info_name} needs {name}: goffman {ctx.info_name} {_name_in_full(param)}"
    if name != "RUN":
        return said
    runs = sorted(Path("runs").glob("*/manifest.json"), key=lambda file: -file.stat().st_mtime)
    if not runs:
        return f"{said}. There are no runs in the folder runs; goffman audit writes them."
    shown = ", ".join(str(file.parent) for file in runs[:8])
    more = f" and {len(runs) - 8} more" if len(runs) > 8 else ""
    return f"{said}. Runs here, newest first: {shown}{more}."


def settings_given(texts: Sequence[str] | None) -> dict[str, list[str]]:
    """The values of --set by their names; InputError where one has no value."""
    found: dict[str, list[str]] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(
                f"--set is '{text}'. Write INSTRUMENT.NAME=VALUE, such as coreference.pairs=50."
            )
        found.setdefault(name.strip(), []).append(value)
    return found


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


def _choices(param: Any) -> list[str]:
    """The texts that a parameter may be; none: it is no choice."""
    kind: Any = getattr(getattr(param, "type_descriptor", None), "annotation", None)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [str(one.value) for one in kind]
    return list(get_args(kind)) if get_origin(kind) is Literal else []


def _value_of(param: Any) -> str:
    """What stands for the value of an option: its choices, or a word by its type."""
    if choices := _choices(param):
        return "|".join(choices)
    kind: Any = getattr(getattr(param, "type_descriptor", None), "annotation", None)
    # Of an option that may be repeated, the type of each value.
    return VALUES.get(next(iter(get_args(kind)), kind), "VALUE")


def _is_option(param: Any) -> bool:
    return str(param.opts[0]).startswith("-")


def _name(param: Any) -> str:
    """--output, or RUN where it has no option's name."""
    option = str(param.opts[0])
    shown = str(param.metavar or option.upper())
    return option if option.startswith("-") else shown.split(maxsplit=1)[0]


def _allowed(param: Any) -> str | None:
    """What a number or a choice may be, in words; None: the parameter is something else."""
    if choices := _choices(param):
        return ", ".join(choices)
    kind = getattr(getattr(param, "type_descriptor", None), "annotation", None)
    if kind not in (int, float):
        return None
    return allowed_numbers((kind, param.min, param.max))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
