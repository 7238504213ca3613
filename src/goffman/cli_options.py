"""Options that several commands have, spelled and explained once, and what no option can be."""

from __future__ import annotations

import math
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from goffman.errors import InputError
from goffman.terminal import say

LONGEST = 4096
"""Characters of one value: no path is longer."""

LARGEST = 2**63 - 1
"""A whole number that every table can hold."""

RENAMED = {
    "--pair": "--correlate",
    "--pairs": "--sentence-pairs",
    "--placement": "--adjective-placement",
}
"""Options that had a name that was easily mixed up with another's."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ASKED = "What to ask"
SENTENCES = "Sentence pairs (coreference)"

BROUGHT = "Questions of other studies"

Vignettes = Annotated[
    Path | None,
    typer.Option(
        help="vignettes only: ask the descriptions and questions in this file of Moore et al. "
        "(2025), prompts.jsonl, as they are.",
        rich_help_panel=BROUGHT,
    ),
]
Questions = Annotated[
    Path | None,
    typer.Option(
        help="decisions only: ask the questions in this CSV file of SocialStigmaQA, as they are.",
        rich_help_panel=BROUGHT,
    ),
]
WinoBias = Annotated[
    Path | None,
    typer.Option(
        help="Use the WinoBias sentences in this file or folder.", rich_help_panel=SENTENCES
    ),
]
DropFaulty = Annotated[
    bool,
    typer.Option(
        "--drop-faulty", help="Leave out faulty WinoBias pairs.", rich_help_panel=SENTENCES
    ),
]
Adjectives = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MALE,FEMALE",
        help="The adjective associated with men and the one associated with women, to put before "
        "the two occupations of each sentence. 'all': the study's 15 settings. 'none': no "
        "adjectives. May be repeated.",
        rich_help_panel=SENTENCES,
    ),
]
AdjectivePlacement = Annotated[
    str | None,
    typer.Option(
        "--adjective-placement",
        help="by-stereotype: the adjective associated with men goes before the occupation "
        "associated with men. by-position: it goes before the occupation mentioned first. Default: "
        "by-stereotype.",
        rich_help_panel=SENTENCES,
    ),
]
Pairs = Annotated[
    int | None,
    typer.Option(
        "--sentence-pairs", help="How many sentence pairs to draw.", rich_help_panel=SENTENCES
    ),
]


class Command(TyperCommand):
    """A command that refuses, before it does anything, what can be the value of no option."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Options under the headings that they were given, in the order of their declaration."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if record := param.get_help_record(ctx):
                is_option = str(param.opts[0]).startswith("-")
                heading = getattr(param, "rich_help_panel", None) or "Options"
                groups.setdefault(heading if is_option else "Arguments", []).append(record)
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What is left of the arguments, as typer has it; InputError names the option."""
        args = [_renamed(argument) for argument in args]
        # As it was given: an empty path is the current folder once it is converted.
        given, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        for param in self.params:
            raw = given.get(param.name)
            for text in raw if isinstance(raw, list | tuple) else [raw]:
                if isinstance(text, str):
                    _check_text(_name(param), text)
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
            _check_number(_name(param), ctx.params.get(param.name))
        return rest


def _renamed(argument: str) -> str:
    """The argument by the name that its option has now; the user is told."""
    option, sign, value = argument.partition("=")
    if option not in RENAMED:
        return argument
    say(f"{option} is now called {RENAMED[option]}.")
    return f"{RENAMED[option]}{sign}{value}"


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
    least, most = param.min, param.max
    what = "a whole number" if kind is int else "a number"
    if most is not None:
        return f"{what} from {least:,} to {most:,}"
    return what if least is None else f"{what}, {least:,} or more"


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _check_text(name: str, text: str) -> None:
    if not text.strip():
        instead = ", or leave the option out" if name.startswith("-") else ""
        raise InputError(f"{name} is empty. Give a value{instead}.")
    if len(text) > LONGEST:
        raise InputError(f"{name} has {len(text):,} characters. Allowed: up to {LONGEST:,}.")
    # What is not UTF-8 on the command line comes as lone surrogates.
    if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise InputError(
            f"{name} is '{text}'. It contains a NUL character or bytes that are not UTF-8. Rename "
            "the file or folder."
        )


def _check_number(name: str, value: object) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{name} is {value}. It must be a finite number.")
    if isinstance(value, int) and abs(value) > LARGEST:
        raise InputError(f"{name} is {value}. Allowed: up to {LARGEST:,}.")
