"""What no text and no number that a user gives can be: said once, for commands and for Python."""

from __future__ import annotations

import math

from goffman.errors import InputError

LONGEST = 4096
"""Characters of one value: no path is longer."""

LARGEST = 2**63 - 1
"""A whole number that every table can hold."""

Limits = tuple[type, float | None, float | None]
"""int or float, the least and the most that it may be; None: no limit."""

NUMBERS: dict[str, Limits] = {
    "--limit": (int, 1, None),
    "--top-k": (int, 1, None),
    "--trials": (int, 1, None),
    "--temperature": (float, 0, None),
    "--top-p": (float, 0, 1),
    "--max-tokens": (int, 1, None),
    "--concurrency": (int, 1, 1000),
    "--max-requests-per-minute": (int, 1, None),
    "--timeout": (float, 1, None),
    "--price-in": (float, 0, None),
    "--price-out": (float, 0, None),
    "--sentence-pairs": (int, None, None),
    "--seed": (int, 0, None),
}
"""The options of an audit that are numbers; a test holds the command line to the same limits."""


def allowed_numbers(limits: Limits) -> str:
    """What a number may be, in words."""
    kind, least, most = limits
    what = "a whole number" if kind is int else "a number"
    if most is not None:
        return f"{what} from {least:,} to {most:,}"
    return what if least is None else f"{what}, {least:,} or more"


def check_number(option: str, value: object) -> None:
    """Nothing, or InputError where an option of NUMBERS is no such number; None is not given."""
    kind, least, most = NUMBERS[option]
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
    raise InputError(f"{option} is {shown}. Allowed: {allowed_numbers(NUMBERS[option])}.")


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
    if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise InputError(
            f"{name} is '{text}', with a NUL character or bytes that are not UTF-8 in it. Rename "
            "the file or folder."
        )
