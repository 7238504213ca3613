"""What texts, numbers and values of records can be: said once, for commands, Python and files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from goffman.errors import InputError

LONGEST = 4096
"""Characters of one value: no path is longer."""

LARGEST = 2**63 - 1
"""A whole number that every table can hold."""

Limits = tuple[type, float | None, float | None]
"""int or float, the least and the most that it may be; None: no limit."""


def allowed_numbers(limits: Limits) -> str:
    """What a number may be, in words."""
    kind, least, most = limits
    what = "a whole number" if kind is int else "a number"
    if most is not None:
        return f"{what} from {least:,} to {most:,}"
    return what if least is None else f"{what}, {least:,} or more"


def check_number(option: str, value: object, limits: Limits) -> None:
    """Nothing, or InputError where an option's value is no such number; None is not given."""
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
    """Nothing, or InputError where a number is none that can be calculated with."""
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{name} is {value}. It must be a finite number.")
    if isinstance(value, int) and abs(value) > LARGEST:
        raise InputError(f"{name} is {value}. Allowed: up to {LARGEST:,}.")


def check_text(name: str, text: str) -> None:
    """Nothing, or InputError where a text can be the value of no option."""
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
    """Whether a text can be written as UTF-8: it has no half of a character (a lone surrogate)."""
    return text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text)


def check_types(record: Any) -> None:
    """Nothing, or ValueError where a field of a dataclass has a value that its type does not allow.

    Whole numbers must fit in 64 bits, other numbers be finite, and texts be writable.
    """
    for name, kind in _types(record.__class__).items():
        value = getattr(record, name)
        if not fits(value, kind):
            shown = ascii(value)
            shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
            raise ValueError(f"{name} is {shown}")


_SHOWN = 60
"""Characters of a wrong value that are shown."""


@cache
def _types(record: type) -> dict[str, Any]:
    """The types of its fields alone: others may be known to type checkers only."""
    told = {one.name: one.type for one in fields(record)}
    named = type(record.__name__, (), {"__annotations__": told, "__module__": record.__module__})
    return get_type_hints(named)


def fits(value: object, kind: Any) -> bool:
    """Whether a value is one of those that a type allows; types of fields of records only."""
    origin, within = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(fits(value, one) for one in within)
    if origin is Literal:
        return value in within
    if origin in (tuple, Sequence):
        if not isinstance(value, list | tuple):
            return False
        kinds = within[:1] * len(value) if origin is Sequence or within[-1] is ... else within
        return len(value) == len(kinds) and all(map(fits, value, kinds))
    if origin is Mapping:
        return isinstance(value, Mapping) and all(
            fits(name, within[0]) and fits(one, within[1]) for name, one in value.items()
        )
    return _is_one(value, origin or kind)


def _is_one(value: object, kind: Any) -> bool:
    """The same of a type without others in it; of one that is not known here, any value is."""
    if kind is Any or not isinstance(kind, type):
        return True
    if isinstance(value, bool) or kind is bool:
        return isinstance(value, bool) and kind is bool
    if kind in (int, float):
        # What is not a number is not less than any.
        return isinstance(value, int if kind is int else int | float) and abs(value) <= LARGEST
    return isinstance(value, kind) and (not isinstance(value, str) or is_whole(value))
