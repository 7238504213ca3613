"""Options of several commands, spelled and explained once, and values that no option can have."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer._click.exceptions import NoSuchOption
from typer.core import TyperCommand, TyperGroup

from goffman.config import INSTRUMENT_SETTINGS, audit_options, flag_of
from goffman.errors import InputError, did_you_mean
from goffman.validation import allowed_numbers, check_size, check_text

VALUES = {int: "N", float: "NUMBER", Path: "FILE", str: "NAME"}
"""What stands for a value in the help, by the value's type; not Python's names of types."""

MEANT = {"--format": "--to"}
"""Names of options in other commands → their names in commands that do not know those."""

Json = Annotated[bool, typer.Option("--json"), "Print JSON instead of text."]
RunFolder = Annotated[
    Path, typer.Argument(metavar="RUN"), "A run: the folder that goffman audit wrote."
]


def with_help(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command; the text that ends a parameter's annotation becomes its help."""
    for name, hint in get_type_hints(command, include_extras=True).items():
        match get_args(hint):
            case (kind, *facts, str(text)):
                flag = [f"--{name.replace('_', '-')}"] if kind is bool else []
                (info,) = facts or [typer.Option(*flag)]
                info.help = text
                command.__annotations__[name] = Annotated[kind, info]
    return command


def option(name: str) -> Any:
    """Return an option of an audit as typer declares it."""
    audit_option = audit_options()[name]
    return typer.Option(
        flag_of(name),
        help=audit_option.help,
        metavar=audit_option.metavar,
        min=audit_option.minimum,
        max=audit_option.maximum,
        rich_help_panel=audit_option.panel,
    )


_WHOLE = "\ue000"
"""Stands for a hyphen while lines are broken, so that they are not broken there."""


class Command(TyperCommand):
    """A command that, before it does anything, rejects values that no option can have."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the usage line, such as [OPTIONS] RUN."""
        pieces = ["[OPTIONS]"]
        for param in self.get_params(ctx):
            if not _is_option(param):
                name = _name_in_full(param)
                pieces.append(name if param.required else f"[{name}]")
        return pieces

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write options under their headings, in the order of their declaration."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.shown(ctx):
            heading = getattr(param, "rich_help_panel", None) or "Options"
            heading = heading if _is_option(param) else "Arguments"
            spelled, help_text = help_row(param)
            groups.setdefault(heading, []).append((spelled, help_text.replace("-", _WHOLE)))
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def shown(self, ctx: Any) -> list[Any]:
        """Return the options and arguments that the help shows."""
        return list(self.get_params(ctx))

    def get_help(self, ctx: Any) -> str:
        """Return the help; names such as social-distance.gap stay on one line, to be copied."""
        return str(super().get_help(ctx)).replace(_WHOLE, "-")

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the remaining arguments, like typer; raise InputError for a bad value."""
        if ctx.resilient_parsing:
            # A line that is still being typed, which a shell completes.
            unfinished: list[str] = super().parse_args(ctx, args)
            return unfinished
        args = list(args)
        # Texts as they were given: an empty path becomes the current folder once it is converted.
        texts_given = self._given(ctx, args)
        for param in self.params:
            raw = texts_given.get(param.name)
            for text in raw if isinstance(raw, list | tuple) else [raw]:
                if isinstance(text, str):
                    check_text(_name(param), text)
        try:
            remaining: list[str] = super().parse_args(ctx, args)
        except typer.BadParameter as error:
            wrong: Any = error.param
            if wrong is not None and not _is_option(wrong) and not texts_given.get(wrong.name):
                raise InputError(_missing(ctx, wrong)) from error
            allowed, text = _allowed(wrong), texts_given.get(wrong.name)
            # Without a text the parameter is missing, not wrong.
            if allowed is None or not isinstance(text, str):
                raise
            shown = text if _is_number(text) else f"'{text}'"
            near = did_you_mean(text, allowed.split(", "))
            raise InputError(f"{_name(wrong)} is {shown}. Allowed: {allowed}.{near}") from error
        for param in self.params:
            check_size(_name(param), ctx.params.get(param.name))
        return remaining

    def _given(self, ctx: Any, args: Sequence[str]) -> dict[str, Any]:
        """Return what was given for each parameter, as text."""
        try:
            return dict(self.make_parser(ctx).parse_args(args=list(args))[0])
        except NoSuchOption as error:
            meant = MEANT.get(error.option_name)
            if not any(meant in param.opts for param in self.params):
                raise
            raise InputError(
                f"{error.option_name} is not an option here. Did you mean {meant}?"
            ) from error


class CommandGroup(TyperGroup):
    """The commands under their headings."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - typer's own
        """Write the name and first sentence of each command."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            # Names are padded to one length, so that all groups have the same columns.
            row = (f"{name:<9}", command.get_short_help_str(limit=80))
            groups.setdefault(getattr(command, "rich_help_panel", ""), []).append(row)
        for heading, rows in groups.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


class AuditCommand(Command):
    """The audit command, whose help shows the usual options; --help-all shows all."""

    def shown(self, ctx: Any) -> list[Any]:
        """Return the options that are shown first, or all."""
        rare = {name for name, option in audit_options().items() if not option.first}
        hidden = set() if ctx.meta.get(ALL) else {"as_json", *rare}
        return [param for param in super().shown(ctx) if param.name not in hidden]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, and the settings of instruments if all options are shown."""
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
    """Return the settings of instruments, and what the help says about them."""
    return [
        (f"{instrument}.{name}={setting.metavar or '|'.join(setting.kind)}", setting.help)
        for name, setting in INSTRUMENT_SETTINGS.items()
        for instrument in setting.panel.split(", ")
    ]


def _missing(ctx: Any, param: Any) -> str:
    """Return the message for a missing argument; for a run, it lists the runs in the folder."""
    name = _name(param)
    message = (
        f"goffman {ctx.info_name} needs {name}: goffman {ctx.info_name} {_name_in_full(param)}"
    )
    if name != "RUN":
        return message
    runs = sorted(Path("runs").glob("*/manifest.json"), key=lambda file: -file.stat().st_mtime)
    if not runs:
        return f"{message}. There are no runs in the folder runs; goffman audit writes them."
    shown = ", ".join(str(file.parent) for file in runs[:8])
    more = f" and {len(runs) - 8} more" if len(runs) > 8 else ""
    return f"{message}. Runs here, newest first: {shown}{more}."


def settings_given(texts: Sequence[str] | None) -> dict[str, list[str]]:
    """Return the values of --set by their names; raise InputError if one has no value."""
    values: dict[str, list[str]] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(
                f"--set is '{text}'. Write INSTRUMENT.NAME=VALUE, such as coreference.pairs=50."
            )
        values.setdefault(name.strip(), []).append(value)
    return values


def help_row(param: Any) -> tuple[str, str]:
    """Return an option or argument with its placeholder (--output FILE), and its help text."""
    default = getattr(param.default, "value", param.default)
    help_text = str(param.help or "")
    if default is not None and not getattr(param, "is_flag", False) and "Default:" not in help_text:
        help_text += (
            f" Default: {default:g}." if isinstance(default, float) else f" Default: {default}."
        )
    if param.required and _is_option(param):
        help_text += " Required."
    return _name_in_full(param), help_text


def _name_in_full(param: Any) -> str:
    """Return the full spelling in the help: -h, --help; --output FILE; RUN."""
    if not _is_option(param):
        return str(param.metavar or param.name.upper())
    spelled = ", ".join(sorted(param.opts, key=len))
    return spelled if param.is_flag else f"{spelled} {param.metavar or _value_of(param)}"


def _kind(param: Any) -> Any:
    """Return the type that a parameter has in the signature of its command."""
    return getattr(getattr(param, "type_descriptor", None), "annotation", None)


def _choices(param: Any) -> list[str]:
    """Return the texts that a parameter may be; empty if it is not a choice."""
    kind = _kind(param)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [str(member.value) for member in kind]
    return list(get_args(kind)) if get_origin(kind) is Literal else []


def _value_of(param: Any) -> str:
    """Return the placeholder of an option's value: its choices, or a word for its type."""
    if choices := _choices(param):
        return "|".join(choices)
    kind = _kind(param)
    # For an option that may be repeated, the type of each value.
    return VALUES.get(next(iter(get_args(kind)), kind), "VALUE")


def _is_option(param: Any) -> bool:
    return str(param.opts[0]).startswith("-")


def _name(param: Any) -> str:
    """Return --output, or RUN if the parameter is an argument."""
    option = str(param.opts[0])
    shown = str(param.metavar or option.upper())
    return option if option.startswith("-") else shown.split(maxsplit=1)[0]


def _allowed(param: Any) -> str | None:
    """Return the allowed values of a number or choice in words; None for other parameters."""
    if choices := _choices(param):
        return ", ".join(choices)
    kind = _kind(param)
    return allowed_numbers((kind, param.min, param.max)) if kind in (int, float) else None


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
