"""values.csv of an anchor: what people said, row by row, read and checked."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

from goffman.anchors.anchor import EVERYONE, GENDERS, AnchorValue
from goffman.instruments.files import Faults, Row, read_table

REQUIRED = ("condition", "value")
OPTIONAL = ("item", "gender", "year", "n", "n_effective", "low", "high", "named", "set_apart")

LONGEST_CONDITION = 200
FIRST_YEAR, LAST_YEAR = 1800, 2200
MOST_PEOPLE = 10**10

_NUMBER = re.compile(r"-?\d{1,12}(\.\d{1,15})?")
"""As a table has it: 0.35. No exponent and no thousands separator, which are mostly slips."""


def read_values(
    path: Path, *, items: Sequence[str], bounds: tuple[float, float], faults: Faults
) -> tuple[AnchorValue, ...]:
    """Every row that has no fault; ``items``: the ids that anchor.toml declares."""
    rows = read_table(path, required=REQUIRED, optional=OPTIONAL, faults=faults)
    found: dict[tuple[object, ...], int] = {}
    values = []
    for row in rows:
        before = len(faults.found)
        value = _value(row, items, bounds, faults)
        if value is None or len(faults.found) > before:
            continue
        key = (value.item, value.condition, value.gender, value.year)
        if key in found:
            said = ", ".join(str(part) for part in key if part is not None)
            faults.add(row.file, row.number, f"{said} is in line {found[key]} already.")
        found.setdefault(key, row.number)
        values.append(value)
    if rows and not faults.found:
        for item in items:
            if not any(value.item == item for value in values):
                faults.add(path.name, None, f"there is no row of the item '{item}'.")
    return tuple(values)


def _value(
    row: Row, items: Sequence[str], bounds: tuple[float, float], faults: Faults
) -> AnchorValue | None:
    item = _item(row, items, faults)
    gender = row["gender"] or EVERYONE
    known = faults.check_one_of(row.file, row.number, what="gender", given=gender, allowed=GENDERS)
    if len(row["condition"]) > LONGEST_CONDITION:
        message = f"condition has more than {LONGEST_CONDITION} characters."
        faults.add(row.file, row.number, message)
    value = _number(row, "value", faults, at_least=bounds[0], at_most=bounds[1])
    n = _number(row, "n", faults, at_least=1, at_most=MOST_PEOPLE, whole=True)
    effective = _number(row, "n_effective", faults, at_least=1, at_most=MOST_PEOPLE)
    year = _number(row, "year", faults, at_least=FIRST_YEAR, at_most=LAST_YEAR, whole=True)
    low = _number(row, "low", faults, at_least=bounds[0], at_most=bounds[1])
    high = _number(row, "high", faults, at_least=bounds[0], at_most=bounds[1])
    apart = row["set_apart"]
    if apart not in {"", "yes"}:
        faults.add(row.file, row.number, f"set_apart is '{apart[:40]}'. Allowed: yes, or nothing.")
    if (low is None) != (high is None):
        faults.add(row.file, row.number, "low and high go together: give both or none.")
    if value is None or item is None or known is None:
        return None
    if low is not None and high is not None and not low <= value <= high:
        message = f"value is {value:g}. It must lie between low ({low:g}) and high ({high:g})."
        faults.add(row.file, row.number, message)
    return AnchorValue(
        item=item,
        condition=row["condition"],
        gender=known,
        year=None if year is None else int(year),
        value=value,
        n=None if n is None else int(n),
        n_effective=effective,
        low=low,
        high=high,
        named=row["named"] or None,
        set_apart=apart == "yes",
    )


def _item(row: Row, items: Sequence[str], faults: Faults) -> str | None:
    """The item of a row; where there is one only, it goes without saying."""
    given = row["item"]
    if not given and len(items) == 1:
        return items[0]
    if not given:
        message = f"item is empty. Allowed: {', '.join(items) or 'none is declared'}."
        faults.add(row.file, row.number, message)
        return None
    return faults.check_one_of(row.file, row.number, what="item", given=given, allowed=items)


def _number(
    row: Row,
    column: str,
    faults: Faults,
    *,
    at_least: float,
    at_most: float,
    whole: bool = False,
) -> float | None:
    """The number in a cell; None where it is empty, or with a fault noted."""
    text = row[column]
    if not text:
        return None
    if not _NUMBER.fullmatch(text) or (whole and "." in text):
        kind = "a whole number" if whole else "a number such as 0.35"
        faults.add(row.file, row.number, f"{column} is '{text[:40]}'. It must be {kind}.")
        return None
    value = float(text)
    if not at_least <= value <= at_most:
        faults.add(row.file, row.number, f"{column} is {text}. {_allowed(at_least, at_most)}")
        return None
    return value


def _allowed(least: float, most: float) -> str:
    if math.isinf(most):
        return f"Allowed: {least:g} or more."
    if math.isinf(least):
        return f"Allowed: up to {most:g}."
    return f"Allowed: {least:g} to {most:g}."
