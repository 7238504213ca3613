"""What an anchor is: people's numbers, to compare those of models with."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from goffman.errors import AnchorError, InputError, did_you_mean
from goffman.instruments.files import (
    ID,
    Faults,
    Row,
    TomlFile,
    TomlTable,
    digest_of,
    is_number,
    read_table,
    read_toml,
)
from goffman.instruments.loader import read_limits
from goffman.plugins import plugged_folders
from goffman.stats.intervals import Z, share_interval

Compare = Literal["profile", "difference"]
"""profile: over conditions, a model's numbers are correlated with people's, whatever their units.
difference: both are shares of the same answer, and one is subtracted from the other."""

Of = Literal["condition", "occupation"]
"""What the rows are about."""

Gender = Literal["all", "female", "male"]

COMPARES: tuple[Compare, ...] = get_args(Compare)
OFS: tuple[Of, ...] = get_args(Of)
GENDERS: tuple[Gender, ...] = get_args(Gender)

EVERYONE: Gender = "all"


@dataclass(frozen=True, kw_only=True)
class AnchorItem:
    """One thing that people were asked, or that was counted."""

    id: str
    name: str
    """The name in a sentence: “peril”, “the share of women”."""
    meaning: str
    """What a higher value means: completes “higher: …”."""


@dataclass(frozen=True, kw_only=True)
class AnchorValue:
    """One number of people."""

    item: str
    condition: str
    """The condition's id in the instruments; or an occupation, as it stands in sentences."""
    gender: Gender = EVERYONE
    """The gender of the person described to people."""
    year: int | None = None
    value: float
    n: int | None = None
    """The number of people."""
    n_effective: float | None = None
    """The number of people who, drawn one by one with equal weights, would give the same
    precision."""
    low: float | None = None
    """Lower end of the value's 95% interval."""
    high: float | None = None
    named: str | None = None
    """The source's name for the condition, if it is not its name here."""
    set_apart: bool = False
    """Whether the condition is left out in a check: see Anchor.set_apart."""


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """People's answers: about what, of how many people, and from which source."""

    id: str
    version: str
    title: str
    citation: str
    terms: str
    """The terms on which it may be passed on."""
    country: str
    year: str
    population: str
    """The people who answered."""
    unit: str
    """What a value is: mean rating, share of respondents."""
    lowest: float | None = None
    """The lowest value that the unit allows."""
    highest: float | None = None
    compare: Compare
    of: Of
    instruments: tuple[str, ...]
    """The ids of the instruments that ask about the same; their forms belong to them."""
    wordings: tuple[str, ...] = ()
    """The ids of the wordings that ask people's question, if shares are compared; empty: all."""
    own_texts: tuple[str, ...] = ()
    """Conditions that models are told of in a text that is not people's in other words."""
    design_effect: float = 1.0
    """How much larger the variance of a share is than if people had been drawn one by one, because
    of what their intervals leave out, such as that places were drawn first."""
    whose: str = "people"
    """The owner of the numbers, in headings: people, labor statistics."""
    set_apart: str | None = None
    """The name, in the plural, of conditions without which everything is computed once more, since
    they might make a relation by themselves; None: there are none."""
    limits: tuple[str, ...]
    items: tuple[AnchorItem, ...]
    values: tuple[AnchorValue, ...]
    digest: str
    """sha256 of its files."""

    def conditions(self) -> tuple[str, ...]:
        """Return the conditions that have values, in the order of its file."""
        return tuple(dict.fromkeys(value.condition for value in self.values))

    def years(self) -> tuple[int, ...]:
        """Return the years of its values, the earliest first."""
        return tuple(sorted({value.year for value in self.values if value.year is not None}))

    def latest(self) -> tuple[AnchorValue, ...]:
        """Return the latest year's value of each item, condition and gender."""
        latest_values: dict[tuple[str, str, str], AnchorValue] = {}
        for value in self.values:
            key = (value.item, value.condition, value.gender)
            latest = latest_values.setdefault(key, value)
            latest_values[key] = max(latest, value, key=lambda row: row.year or 0)
        return tuple(latest_values.values())


def interval_of(value: AnchorValue, anchor: Anchor) -> tuple[float, float] | None:
    """Return the 95% interval of people's number, Wilson's for a share; None if unknown."""
    if value.low is not None and value.high is not None:
        return value.low, value.high
    n = value.n_effective or value.n
    if not n or (anchor.lowest, anchor.highest) != (0.0, 1.0):
        return None
    return share_interval(value.value, n)


def error_of(value: AnchorValue, anchor: Anchor) -> float | None:
    """Return the standard error of people's number; None if unknown."""
    low, high = interval_of(value, anchor) or (None, None)
    return None if low is None or high is None else (high - low) / (2 * Z)


REQUIRED = ("condition", "value")
OPTIONAL = ("item", "gender", "year", "n", "n_effective", "low", "high", "named", "set_apart")

LONGEST_CONDITION = 200
_LIMITS = {"n": (1, 10**10), "n_effective": (1, 10**10), "year": (1800, 2200)}
_WHOLE = ("n", "year")

_NUMBER = re.compile(r"-?\d{1,12}(\.\d{1,15})?")
"""A number as a table has it: 0.35. No exponent and no thousands separator, which are mostly
slips."""


def read_values(
    path: Path, *, items: Sequence[str], bounds: tuple[float, float], faults: Faults
) -> tuple[AnchorValue, ...]:
    """Return every row that has no fault; ``items``: the ids that anchor.toml declares."""
    rows = read_table(path, required=REQUIRED, optional=OPTIONAL, faults=faults)
    lines: dict[tuple[object, ...], int] = {}
    values = []
    for row in rows:
        n_faults = len(faults.found)
        value = _value(row, items, bounds)
        if value is None or len(faults.found) > n_faults:
            continue
        key = (value.item, value.condition, value.gender, value.year)
        if key in lines:
            description = ", ".join(str(part) for part in key if part is not None)
            row.note(f"{description} is in line {lines[key]} already.")
        lines.setdefault(key, row.number)
        values.append(value)
    if rows and not faults.found:
        for item in items:
            if not any(value.item == item for value in values):
                faults.add(path.name, None, f"there is no row of the item '{item}'.")
    return tuple(values)


def _value(row: Row, items: Sequence[str], bounds: tuple[float, float]) -> AnchorValue | None:
    item: str | None = items[0] if len(items) == 1 else None
    if row["item"]:
        item = row.check_one_of("item", items)
    elif item is None:
        row.note(f"item is empty. Allowed: {', '.join(items) or 'none is declared'}.")
    gender = row.check_one_of("gender", GENDERS) if row["gender"] else EVERYONE
    if len(row["condition"]) > LONGEST_CONDITION:
        row.note(f"condition has more than {LONGEST_CONDITION} characters.")
    columns = ("value", "n", "n_effective", "year", "low", "high")
    numbers: dict[str, Any] = {
        column: _number(row, column, _LIMITS.get(column, bounds)) for column in columns
    }
    value, low, high = numbers["value"], numbers["low"], numbers["high"]
    if row["set_apart"] not in {"", "yes"}:
        row.note(f"set_apart is '{row['set_apart'][:40]}'. Allowed: yes, or nothing.")
    if (low is None) != (high is None):
        row.note("low and high go together: give both or none.")
    if value is None or item is None or gender is None:
        return None
    if low is not None and high is not None and not low <= value <= high:
        row.note(f"value is {value:g}. It must lie between low ({low:g}) and high ({high:g}).")
    return AnchorValue(
        item=item,
        condition=row["condition"],
        gender=gender,
        named=row["named"] or None,
        set_apart=row["set_apart"] == "yes",
        **numbers,
    )


def _number(row: Row, column: str, limits: tuple[float, float]) -> float | int | None:
    """Return the number in a cell; None if it is empty, or with a fault noted."""
    text, (least, most) = row[column], limits
    if not text:
        return None
    is_whole = column in _WHOLE
    if not _NUMBER.fullmatch(text) or (is_whole and "." in text):
        kind = "a whole number" if is_whole else "a number such as 0.35"
        row.note(f"{column} is '{text[:40]}'. It must be {kind}.")
        return None
    if least <= float(text) <= most:
        return int(text) if is_whole else float(text)
    allowed = f"{least:g} to {most:g}"
    if math.isinf(most):
        allowed = f"{least:g} or more"
    elif math.isinf(least):
        allowed = f"up to {most:g}"
    row.note(f"{column} is {text}. Allowed: {allowed}.")
    return None


ANCHOR_FILE = "anchor.toml"
VALUES_FILE = "values.csv"

_TEXTS = (
    *("id", "version", "title", "citation", "terms", "country", "year", "population", "unit"),
    *("compare", "of"),
)
_NUMBERS = ("lowest", "highest", "design_effect")
_LISTS = ("instruments", "limits", "items", "wordings", "own_texts")
_SHORT = ("whose", "set_apart")
"""Texts that may be left out; they are printed in the middle of sentences."""

LONGEST_TEXT = 1_000
LONGEST_NAME = 60
"""The limit for an item's name: it is printed in menus and in the middle of sentences."""
MOST_ITEMS = 100
MOST_INSTRUMENTS = 100
MOST_DESIGN_EFFECT = 10


def builtin_anchors() -> tuple[str, ...]:
    """Return the anchors that come with the package."""
    return ("pachankis2018", "gss-vignettes", "bls-occupations")


@cache
def plugged_anchors() -> Mapping[str, Anchor]:
    """Return by name the anchors that other packages bring."""
    return plugged_folders(
        "goffman.anchors", what="anchor", known=builtin_anchors(), read=_load_folder
    )


def every_anchor() -> tuple[Anchor, ...]:
    """Return the built-in anchors, then those of other packages."""
    return (*(load_anchor(name) for name in builtin_anchors()), *plugged_anchors().values())


def anchors_with(paths: Sequence[Path]) -> tuple[Anchor, ...]:
    """Return every known anchor and those of the folders; raise InputError if two share an id."""
    anchors = {anchor.id: anchor for anchor in every_anchor()}
    for path in paths:
        if not os.path.isdir(path):  # noqa: PTH112
            raise InputError(
                f"--anchor is '{path}', but there is no such folder. Give the folder of your own "
                "anchor. goffman's own anchors are always used."
            )
        anchor = load_anchor(path)
        existing = anchors.get(anchor.id)
        if existing is not None and existing.digest != anchor.digest:
            raise InputError(
                f"{path} has the id '{anchor.id}', which another anchor already has. Change id in "
                f"{ANCHOR_FILE}."
            )
        anchors[anchor.id] = anchor
    return tuple(anchors.values())


def anchor_names() -> tuple[str, ...]:
    """Return the names of the built-in anchors, then of those of other packages."""
    return (*builtin_anchors(), *plugged_anchors())


def is_anchor(given: str) -> bool:
    """Return whether the text is an anchor's name, or the folder of an anchor."""
    # A path is not looked up, so that no other package's code runs for it.
    if ID.fullmatch(given) and given in anchor_names():
        return True
    # os.path, which says no to names that no system allows, where Path fails.
    return os.path.lexists(os.path.join(given, ANCHOR_FILE))  # noqa: PTH118


def load_anchor(name_or_path: str | Path) -> Anchor:
    """Return the anchor of a name or of a folder; raise AnchorError with every fault of it."""
    text = str(name_or_path)
    if text in builtin_anchors():
        return _load_built_in(Path(__file__).parent / "data" / text)
    # A path is not looked up, so that no other package's code runs for it.
    if ID.fullmatch(text) and text in plugged_anchors():
        return plugged_anchors()[text]
    if text and os.path.isdir(text):  # noqa: PTH112
        return _load_folder(Path(text))
    shown = text if len(text) <= 200 else f"{text[:200]}…"
    names = anchor_names()
    raise InputError(
        f"There is no anchor '{shown}'. Give a folder, or one of these: "
        f"{', '.join(names)}.{did_you_mean(text, names)}"
    )


def _load_folder(folder: Path) -> Anchor:
    faults = Faults()
    toml = read_toml(folder / ANCHOR_FILE, faults)
    if toml is None:
        raise AnchorError(str(folder), faults.found)
    header = _read_header(toml, faults)
    items = _read_items(toml, faults)
    values = read_values(
        folder / VALUES_FILE,
        items=[item.id for item in items],
        bounds=(header.get("lowest", -math.inf), header.get("highest", math.inf)),
        faults=faults,
    )
    if any(value.set_apart for value in values) != ("set_apart" in header):
        message = "set_apart says what those conditions are that have yes in set_apart: give both."
        faults.add(ANCHOR_FILE, None, message)
    if faults.found:
        raise AnchorError(str(folder), faults.found)
    digest = digest_of([folder / ANCHOR_FILE, folder / VALUES_FILE])
    return Anchor(**header, items=items, values=values, digest=digest)


_load_built_in = cache(_load_folder)


def _read_header(toml: TomlFile, faults: Faults) -> dict[str, Any]:
    top = toml.top()
    top.require((*_TEXTS, "instruments", "limits", "items"))
    other_keys: dict[str, type] = dict.fromkeys((*_NUMBERS, *_LISTS), object)
    fields = top.take({**dict.fromkeys((*_TEXTS, *_SHORT), str), **other_keys})
    has_shares = fields.get("compare") == "difference"
    top.check_id(fields.get("id", ""))
    header = {key: fields[key] for key in (*_TEXTS, *_SHORT) if key in fields}
    for key, text in header.items():
        _check_length(top, key, key, text, LONGEST_NAME if key in _SHORT else LONGEST_TEXT)
    for key, allowed in (("compare", COMPARES), ("of", OFS)):
        if key in fields:
            top.check_one_of(key, fields[key], allowed)
    header |= _bounds(top, fields, has_shares=has_shares)
    if "design_effect" in fields:
        effect = fields["design_effect"]
        if _is_number(effect) and 1 <= effect <= MOST_DESIGN_EFFECT:
            header["design_effect"] = float(effect)
        else:
            allowed_effect = f"a number from 1 to {MOST_DESIGN_EFFECT}, such as 1.5"
            top.note("design_effect", f"design_effect must be {allowed_effect}.")
    lists = (("instruments", "vignettes"), ("wordings", "scale"), ("own_texts", "depression"))
    header |= {key: _ids(top, key, example, faults) for key, example in lists}
    for key in ("design_effect", "wordings", "own_texts"):
        if header.get(key) and not has_shares:
            top.note(key, f'{key} is allowed with compare = "difference" only.')
    header["limits"] = read_limits(top)
    return header


def _check_length(table: TomlTable, key: str, what: str, text: str, most: int) -> None:
    if len(text) > most:
        table.note(key, f"{what} has {len(text):,} characters. Allowed: up to {most:,}.")


def _bounds(top: TomlTable, fields: Mapping[str, Any], *, has_shares: bool) -> dict[str, float]:
    """Return the lowest and the highest value that the unit allows, as far as they are given."""
    bounds: dict[str, float] = {}
    for key in ("lowest", "highest"):
        if _is_number(fields.get(key)):
            bounds[key] = float(fields[key])
        elif key in fields:
            top.note(key, f"{key} must be a number, such as 0.0.")
    if len(bounds) == 2 and bounds["lowest"] >= bounds["highest"]:
        top.note("highest", "highest must be above lowest.")
    if has_shares and bounds != {"lowest": 0.0, "highest": 1.0}:
        message = 'compare is "difference", so the values are shares: lowest = 0.0, highest = 1.0.'
        top.note("compare", message)
    return bounds


def _is_number(value: object) -> bool:
    """Return whether the value is a number that can be computed with: a whole one may be longer."""
    return is_number(value) and abs(value) <= sys.float_info.max


def _ids(top: TomlTable, key: str, example: str, faults: Faults) -> tuple[str, ...]:
    """Return the ids of a list, such as the instruments that it fits; they need not exist here."""
    if key not in top.values:
        return ()
    ids = top.values[key]
    if (
        not isinstance(ids, list)
        or not 0 < len(ids) <= MOST_INSTRUMENTS
        or not all(isinstance(id_, str) for id_ in ids)
    ):
        top.note(
            key, f'{key} must be a list of 1 to {MOST_INSTRUMENTS} ids, such as ["{example}"].'
        )
        return ()
    for id_ in ids:
        faults.check_id(top.file, top.lines.get(key), what=f"an id in {key}", given=id_)
    return tuple(ids)


def _read_items(toml: TomlFile, faults: Faults) -> tuple[AnchorItem, ...]:
    """Return what people were asked; at least one item."""
    keys = ("id", "name", "meaning")
    items: dict[str, AnchorItem] = {}
    tables = toml.tables("items")
    if "items" in toml.values and not 0 < len(tables) <= MOST_ITEMS:
        toml.top().note("items", f"there must be 1 to {MOST_ITEMS} tables [[items]].")
        return ()
    for table in tables:
        table.require(keys)
        fields = table.take(dict.fromkeys(keys, str))
        if len(fields) < len(keys):
            continue
        row = table.lines.get("id")
        faults.check_id(toml.name, row, what="id in [[items]]", given=fields["id"])
        if fields["id"] in items:
            table.note("id", f"the item '{fields['id']}' appears twice.")
        for key, most in (("name", LONGEST_NAME), ("meaning", LONGEST_TEXT)):
            _check_length(table, key, f"{key} in [[items]]", fields[key], most)
        if fields["name"] in {item.name for item in items.values()}:
            table.note("name", f"the name '{fields['name']}' appears twice.")
        items[fields["id"]] = AnchorItem(**fields)
    return tuple(items.values())
