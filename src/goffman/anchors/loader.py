"""What an anchor is: people's numbers, to compare those of models with."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from goffman.errors import AnchorError, InputError, did_you_mean
from goffman.instruments.fields import ID, OWN_ID, TEXT, UNIQUE_ID, Field, Fields, number, texts
from goffman.instruments.files import Faults, Row, TomlFile, digest_of, read_table, read_toml
from goffman.instruments.loader import LIMITS, read_limits
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
    """The condition's id in the instruments; or an occupation, as sentences name it."""
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
    """Conditions for which models read a text of our own, not a paraphrase of people's."""
    design_effect: float = 1.0
    """By what factor people's intervals understate the variance of a share, because they leave out,
    for example, that places were drawn first."""
    whose: str = "people"
    """The owner of the numbers, in headings: people, labor statistics."""
    set_apart: str | None = None
    """A plural name for the conditions that a second analysis leaves out, since they might make a
    relation by themselves; None: there are none."""
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


LONGEST_CONDITION = 200

_NUMBER = re.compile(r"-?\d{1,12}(\.\d{1,15})?")
"""A number as a table has it: 0.35. No exponent and no thousands separator, which are mostly
slips."""


def _cell(least: float, most: float, *, whole: bool = False, required: bool = False) -> Field:
    """Return the field of a cell with a number from ``least`` to ``most``."""
    says = "a whole number" if whole else "a number such as 0.35"
    says += f", at least {least:.12g}" if math.isfinite(least) else ""
    says += f", at most {most:.12g}" if math.isfinite(most) else ""

    def passes(text: str) -> bool:
        is_number = bool(_NUMBER.fullmatch(text)) and not (whole and "." in text)
        return is_number and least <= float(text) <= most

    return Field(required=required, test=passes, says=says)


def read_values(
    path: Path, *, items: Sequence[str], bounds: tuple[float, float], faults: Faults
) -> tuple[AnchorValue, ...]:
    """Return every row that has no fault; ``items``: the ids that anchor.toml declares."""
    columns: Fields = {
        "condition": Field(required=True, longest=LONGEST_CONDITION),
        "value": _cell(*bounds, required=True),
        "item": Field(required=len(items) > 1, allowed=items or None),
        "gender": Field(allowed=GENDERS),
        "year": _cell(1800, 2200, whole=True),
        "n": _cell(1, 10**10, whole=True),
        "n_effective": _cell(1, 10**10),
        "low": _cell(*bounds),
        "high": _cell(*bounds),
        "named": TEXT,
        "set_apart": Field(allowed=["yes"]),
    }
    n_faults = len(faults.found)
    rows = read_table(path, columns, faults)
    if len(faults.found) > n_faults or not items:
        return ()
    lines: dict[tuple[object, ...], int] = {}
    values = []
    for row in rows:
        value = _value(row, items)
        low, high = value.low, value.high
        if (low is None) != (high is None):
            row.note("low and high go together: give both or none.")
        elif low is not None and high is not None and not low <= value.value <= high:
            between = f"between low ({low:g}) and high ({high:g})"
            row.note(f"value is {value.value:g}. It must lie {between}.")
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


def _value(row: Row, items: Sequence[str]) -> AnchorValue:
    numbers: dict[str, Any] = {
        column: (int if column in ("n", "year") else float)(row[column])
        for column in ("n", "n_effective", "year", "low", "high")
        if row[column]
    }
    return AnchorValue(
        item=row["item"] or items[0],
        condition=row["condition"],
        gender=row["gender"] or EVERYONE,
        value=float(row["value"]),
        named=row["named"] or None,
        set_apart=row["set_apart"] == "yes",
        **numbers,
    )


ANCHOR_FILE = "anchor.toml"
VALUES_FILE = "values.csv"

LONGEST_TEXT = 1_000
LONGEST_NAME = 60
"""The limit for an item's name: it is printed in menus and in the middle of sentences."""
MOST_ITEMS = 100
MOST_INSTRUMENTS = 100
MOST_DESIGN_EFFECT = 10


def _ids(example: str, *, required: bool = False) -> Field:
    """Return the field of a list of ids, such as the instruments that it fits."""
    says = f'a list of 1 to {MOST_INSTRUMENTS} ids, such as ["{example}"]'
    return texts(says, least=1, most=MOST_INSTRUMENTS, required=required)


_TEXT = Field(required=True, longest=LONGEST_TEXT)
_SHORT = Field(longest=LONGEST_NAME)
"""What may be left out; it is printed in the middle of sentences."""
_BOUND = number("a number, such as 0.0", lambda _: True)
_HEADER: Fields = {
    "id": OWN_ID,
    **dict.fromkeys(("version", "title", "citation", "terms", "country", "year"), _TEXT),
    **dict.fromkeys(("population", "unit"), _TEXT),
    "compare": Field(required=True, allowed=COMPARES),
    "of": Field(required=True, allowed=OFS),
    "whose": _SHORT,
    "set_apart": _SHORT,
    "lowest": _BOUND,
    "highest": _BOUND,
    "design_effect": number(
        f"a number from 1 to {MOST_DESIGN_EFFECT}, such as 1.5",
        lambda effect: 1 <= effect <= MOST_DESIGN_EFFECT,
    ),
    "instruments": _ids("vignettes", required=True),
    "limits": replace(LIMITS, required=True),
    "items": Field(kind=list, required=True),
    "wordings": _ids("scale"),
    "own_texts": _ids("depression"),
}
_ITEM: Fields = {
    "id": UNIQUE_ID,
    "name": Field(required=True, unique=True, longest=LONGEST_NAME),
    "meaning": _TEXT,
}


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


def is_anchor(name_or_path: str) -> bool:
    """Return whether the text is an anchor's name, or the folder of an anchor."""
    # A path is not looked up, so that no other package's code runs for it.
    if ID.fullmatch(name_or_path) and name_or_path in anchor_names():
        return True
    # os.path, which says no to names that no system allows, where Path fails.
    return os.path.lexists(os.path.join(name_or_path, ANCHOR_FILE))  # noqa: PTH118


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
    header = _read_header(toml)
    items = _read_items(toml)
    bounds = (header.get("lowest", -math.inf), header.get("highest", math.inf))
    # With a wrong bound or item, faults of the values may only follow from it.
    item_ids = [item.id for item in items]
    values = read_values(folder / VALUES_FILE, items=item_ids, bounds=bounds, faults=faults)
    if values and any(value.set_apart for value in values) != ("set_apart" in header):
        message = "set_apart says what those conditions are that have yes in set_apart: give both."
        faults.add(ANCHOR_FILE, None, message)
    if faults.found:
        raise AnchorError(str(folder), faults.found)
    digest = digest_of([folder / ANCHOR_FILE, folder / VALUES_FILE])
    return Anchor(**header, items=items, values=values, digest=digest)


_load_built_in = cache(_load_folder)


def _read_header(toml: TomlFile) -> dict[str, Any]:
    """Return the fields of Anchor that anchor.toml sets, but for the items; note their faults."""
    top = toml.top()
    header = top.take(_HEADER)
    header.pop("items", None)
    numbers = ("lowest", "highest", "design_effect")
    header |= {key: float(header[key]) for key in numbers if key in header}
    header["limits"] = read_limits(top)
    for key in ("instruments", "wordings", "own_texts"):
        header[key] = tuple(header.get(key, ()))
        for id_ in header[key]:
            top.check(key, id_, OWN_ID, what=f"an id in {key}")
    _check_bounds(toml, header)
    return header


def _check_bounds(toml: TomlFile, header: Mapping[str, Any]) -> None:
    """Note bounds that contradict each other or ``compare``, and keys that only shares may have."""
    top, has_shares = toml.top(), header.get("compare") == "difference"
    lowest, highest = (header.get(key) for key in ("lowest", "highest"))
    if lowest is not None and highest is not None and lowest >= highest:
        top.note("highest", "highest must be above lowest.")
    if has_shares and (lowest, highest) != (0, 1):
        message = 'compare is "difference", so the values are shares: lowest = 0.0, highest = 1.0.'
        top.note("compare", message)
    for key in ("design_effect", "wordings", "own_texts"):
        if header.get(key) and not has_shares:
            top.note(key, f'{key} is allowed with compare = "difference" only.')


def _read_items(toml: TomlFile) -> tuple[AnchorItem, ...]:
    """Return what people were asked; at least one item."""
    tables = toml.tables("items")
    if "items" in toml.values and not 0 < len(tables) <= MOST_ITEMS:
        toml.top().note("items", f"there must be 1 to {MOST_ITEMS} tables [[items]].")
        return ()
    values = [dict.fromkeys(_ITEM, "") | table.take(_ITEM) for table in tables]
    return tuple({item["id"]: AnchorItem(**item) for item in values}.values())
