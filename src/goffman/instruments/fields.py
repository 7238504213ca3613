"""Declarations of what a key of a TOML table or a column of a CSV file may hold, and checks."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from goffman.errors import did_you_mean
from goffman.instruments.text import places, stray_braces
from goffman.instruments.types import MASK

ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""Ids are used in file names, column values and commands."""

LONGEST_ID = 64

_TYPE_NAMES = {
    str: "text in quotes",
    bool: "true or false",
    dict: "a table such as [slot]",
    list: "a list of tables such as [[wordings]]",
}

_SHOWN = 60
"""Characters of a wrong value that are shown."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """What a key or a column may hold; a cell of a column is always text."""

    kind: type = str
    """str, bool, dict (a table), list (of tables), or object: anything that passes the test."""
    required: bool = False
    is_id: bool = False
    unique: bool = False
    """Whether no other table of the name, or row, may have the same."""
    allowed: Sequence[str] | None = None
    """The only texts; None: any."""
    longest: int | None = None
    """The most characters."""
    plain: bool = False
    """Whether placeholders and masks are forbidden, because it is put into other texts."""
    places: Sequence[str] | None = None
    """The placeholders that it must have once each, and no others; None: any."""
    test: Callable[[Any], object] | None = None
    """A function that returns something true for a right value."""
    says: str = ""
    """What passes the test: "a number above 0, up to 1"."""


Fields = Mapping[str, Field]

TEXT = Field()
REQUIRED = Field(required=True)
ANYTHING = Field(kind=object)
TABLE = Field(kind=dict)
TABLES = Field(kind=list)
OWN_ID = Field(required=True, is_id=True)
UNIQUE_ID = Field(required=True, is_id=True, unique=True)


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value of a TOML file is a finite number; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max


def number(
    says: str, test: Callable[[Any], object], *, whole: bool = False, required: bool = False
) -> Field:
    """Return the field of a number; a whole one may not be written with a point."""

    def passes(value: object) -> bool:
        return is_number(value) and (not whole or isinstance(value, int)) and bool(test(value))

    return Field(kind=object, test=passes, says=says, required=required)


def texts(says: str, *, least: int = 0, most: int | None = None, required: bool = False) -> Field:
    """Return the field of a list of texts."""

    def passes(value: object) -> bool:
        return (
            isinstance(value, list)
            and all(isinstance(text, str) for text in value)
            and least <= len(value) <= (len(value) if most is None else most)
        )

    return Field(kind=object, test=passes, says=says, required=required)


def faults_of(value: Any, field: Field, what: str) -> Iterator[str]:
    """Yield what is wrong with a value; ``what`` names it at the start of a message."""
    if not isinstance(value, field.kind):
        kind = "a list" if isinstance(value, list) else repr(value)
        given = "a table" if isinstance(value, dict) else kind
        yield f"{what} is {given}. It must be {_TYPE_NAMES[field.kind]}."
        return
    if isinstance(value, str) and not value.strip():
        allowed = f" Allowed: {', '.join(field.allowed)}." if field.allowed else ""
        yield f"{what} is empty.{allowed}"
        return
    if field.test and not field.test(value):
        if isinstance(value, list | dict):
            yield f"{what} must be {field.says}."
        else:
            given = str(value).lower() if isinstance(value, bool) else repr(value)
            given = given if len(given) <= _SHOWN else f"{given[:_SHOWN]}…"
            yield f"{what} is {given}. Allowed: {field.says}."
    if isinstance(value, str) and field.kind is str:
        yield from _faults_of_text(value, field, what)
    if isinstance(value, str) and field.longest is not None and len(value) > field.longest:
        yield f"{what} has {len(value):,} characters. Allowed: up to {field.longest:,}."


def _faults_of_text(text: str, field: Field, what: str) -> Iterator[str]:
    """Yield what is wrong with a text, beyond the test of its field."""
    if text != text.strip() or "  " in text:
        request = "Remove the extra space at the start, at the end or in the middle"
        yield f"{what} is '{text}'. {request}."
    elif not text.isprintable():
        yield f"{what} contains a line break, a special space or another invisible character."
    if field.is_id and (not ID.fullmatch(text) or len(text) > LONGEST_ID):
        shortened = text if len(text) <= LONGEST_ID else f"{text[:LONGEST_ID]}…"
        allowed = f"up to {LONGEST_ID} lower-case letters, digits and single hyphens"
        yield f"{what} is '{shortened}'. Allowed: {allowed}, such as 'social-distance'."
    if field.allowed is not None and text not in field.allowed:
        listed = ", ".join(field.allowed)
        yield f"{what} is '{text}'. Allowed: {listed}.{did_you_mean(text, field.allowed)}"
    yield from _faults_of_places(text, field, what)


def _faults_of_places(text: str, field: Field, what: str) -> Iterator[str]:
    """Yield which placeholders a text lacks, and which it must not have."""
    if field.plain:
        for sign in ("{", "}", MASK):
            if sign in text:
                yield f"{what} is '{text}'. It must not contain '{sign}'."
    if field.places is not None:
        if sorted(places(text)) != sorted(field.places):
            needed = " and ".join(f"{{{place}}}" for place in field.places)
            yield f"{what} must contain {needed} exactly once, and no other placeholder."
        elif stray_braces(text) or MASK in text:
            yield f"{what} cannot have a stray brace or {MASK}: '{text}'."
