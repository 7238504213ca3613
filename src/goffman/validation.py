"""Which texts, numbers and field values are allowed: for commands, Python and files alike."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from goffman.errors import InputError

LONGEST = 4096
"""The most characters of one value: no path is longer."""

LARGEST = 2**63 - 1
"""The largest whole number that every table can hold."""

Limits = tuple[type, float | None, float | None]
"""int or float, the least and the most that it may be; None: no limit."""


def allowed_numbers(limits: Limits) -> str:
    """Return in words what a number may be."""
    kind, least, most = limits
    what = "a whole number" if kind is int else "a number"
    if most is not None:
        return f"{what} from {least:,} to {most:,}"
    return what if least is None else f"{what}, {least:,} or more"


def check_number(option: str, value: object, limits: Limits) -> None:
    """Raise InputError if an option's value is outside its limits or no number; allow None."""
    kind, least, most = limits
    if value is None:
        return
    # True is a whole number to Python, and never what somebody means by one.
    if isinstance(value, bool) or not isinstance(value, int if kind is int else int | float):
        shown = f"'{value}'"
    else:
        if (least is None or value >= least) and (most is None or value <= most):
            check_size(option, value)
            return
        shown = str(value) if math.isfinite(value) else f"'{value}'"
    raise InputError(f"{option} is {shown}. Allowed: {allowed_numbers(limits)}.")


def check_size(name: str, value: object) -> None:
    """Raise InputError if a number is not finite or is too large."""
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{name} is {value}. It must be a finite number.")
    if isinstance(value, int) and abs(value) > LARGEST:
        raise InputError(f"{name} is {value}. Allowed: up to {LARGEST:,}.")


def check_text(name: str, text: str) -> None:
    """Raise InputError if a text cannot be the value of any option."""
    if not text.strip():
        instead = ", or leave the option out" if name.startswith("-") else ""
        raise InputError(f"{name} is empty. Give a value{instead}.")
    if len(text) > LONGEST:
        raise InputError(f"{name} has {len(text):,} characters. Allowed: up to {LONGEST:,}.")
    # What is not UTF-8 on the command line comes as lone surrogates.
    if "\0" in text or not is_whole(text):
        raise InputError(
            f"{name} is '{text}', with a NUL character or bytes that are not UTF-8 in it. Rename "
            "the file or folder."
        )


def is_whole(text: str) -> bool:
    """Return whether a text can be written as UTF-8: it has no lone surrogate, a half character."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def check_types(record: Any) -> None:
    """Raise ValueError if a field of a dataclass has a value that its type does not allow.

    Whole numbers must fit in 64 bits, other numbers be finite, and texts be writable.
    """
    for name, kind in field_types(record.__class__).items():
        value = getattr(record, name)
        if not fits(value, kind):
            shown = ascii(value)
            shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
            raise ValueError(f"{name} is {shown}")


_SHOWN = 60
"""Characters of a wrong value that are shown."""


@cache
def field_types(record: type) -> dict[str, Any]:
    """Return the types of a dataclass's fields by name."""
    type_of = {field.name: field.type for field in fields(record)}
    stand_in = type(
        record.__name__, (), {"__annotations__": type_of, "__module__": record.__module__}
    )
    return get_type_hints(stand_in)


def fits(value: object, kind: Any) -> bool:
    """Return whether a type allows a value; only for types that fields of records have."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(fits(value, alternative) for alternative in arguments)
    if origin is Literal:
        return value in arguments
    if origin in (tuple, Sequence):
        if not isinstance(value, list | tuple):
            return False
        kinds = (
            arguments[:1] * len(value) if origin is Sequence or arguments[-1] is ... else arguments
        )
        return len(value) == len(kinds) and all(map(fits, value, kinds))
    if origin is Mapping:
        return isinstance(value, Mapping) and all(
            fits(name, arguments[0]) and fits(entry, arguments[1]) for name, entry in value.items()
        )
    return _is_one(value, origin or kind)


def _is_one(value: object, kind: Any) -> bool:
    """Return whether a type without type arguments allows a value; an unknown type allows any."""
    if kind is Any or not isinstance(kind, type):
        return True
    if isinstance(value, bool) or kind is bool:
        return isinstance(value, bool) and kind is bool
    if kind in (int, float):
        # NaN is not less than or equal to any number.
        return isinstance(value, int if kind is int else int | float) and abs(value) <= LARGEST
    return isinstance(value, kind) and (not isinstance(value, str) or is_whole(value))
