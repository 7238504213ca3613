"""Every name that a rule of the gate can use, with its numbers: as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from goffman.presentation.numbers import NONE, number, p_value
from goffman.reports.names import FIELDS
from goffman.terminal import printable

if TYPE_CHECKING:
    from goffman.reports.check import Checkable
    from goffman.reports.names import Named


def names_text(found: Checkable) -> str:
    """A line a name, which stands last because it may be long and must not be broken."""
    lines = [f"{'value':>9} {'low':>9} {'high':>9} {'p_adjusted':>10} {'verdict':>16}  name"]
    for name, one in _every(found):
        value, low, high = (number(one.value(field)) for field in ("value", "low", "high"))
        p = one.value("p_adjusted")
        tested = NONE if p is None else p_value(p)
        word = one.verdict or NONE
        lines.append(f"{value:>9} {low:>9} {high:>9} {tested:>10} {word:>16}  {printable(name)}")
    fields = ", ".join(f".{name}" for name in FIELDS if name != "value")
    return "\n".join(lines) + (
        "\n\nA name alone means the value. Before 'is', it means the verdict. For another number, "
        f"add one of these to the name: {fields}. A name without brackets covers all models and "
        "variants. A name without the instrument covers all instruments. In a name, * stands for "
        "any text, but heading, mean and controls must be written out: *.heading\n\n"
        f"{_legend([one for _, one in _every(found)])}"
    )


def _every(found: Checkable) -> Iterator[tuple[str, Named]]:
    """Everything that can be named, with its name."""
    for suffix, names in (("", found.known), (".change", found.changes or ())):
        for one in names:
            yield f"{one.name}{suffix}", one


_MEANINGS = {
    "heading": "the main result: the one that the report's heading states",
    "gap": "one group of conditions minus the other",
    "gap-as-asked": "the same gap, tested as in the original study",
    "level": "the value without adjectives, compared with 0",
    "disparity": "female minus male",
    "over-baseline": "female minus male with a diagnosis, minus female minus male without one",
    "above-baseline": "one condition minus the same sentences without a condition",
    "above-baseline-over-trials": "the same, tested over trials",
    "above-reference": "one condition minus the mean of the other group",
    "models": "one model minus another",
    "subscales": "one subscale minus another",
    "wordings": "one wording minus another",
    "correlation": "between two measures, over all conditions",
    "correlation-within": "between two measures, over the conditions of one group",
    "mean": "the value itself, of a group, subscale or condition",
    "controls": "the score on the control items",
}
"""What the second part of a name means."""


def _legend(names: Sequence[Named]) -> str:
    """A line for each kind of contrast that the names have."""
    paths = (one.name.partition("[")[0].split(".") for one in names)
    there = {part.split("-of-")[0] for path in paths for part in path}
    said = "".join(
        f"{what:>26}: {meaning}\n" for what, meaning in _MEANINGS.items() if what in there
    )
    gaps = {one.row["instrument"]: one.row["quantity"] for one in names if ".gap[" in one.name}
    keyed = [instrument for instrument, quantity in gaps.items() if "keyed" in quantity]
    if keyed:
        said += (
            f"\nIn {' and '.join(keyed)}, gap is reverse-keyed: the sign is changed for statements "
            "in which agreeing means less stigma.\n"
        )
    return said


def names_json(found: Checkable) -> str:
    """A row a name, with all of its numbers."""
    rows = [
        {
            "name": name,
            **{field: one.value(field) for field in FIELDS},
            "verdict": one.verdict,
            "not_measurable": one.not_measurable,
        }
        for name, one in _every(found)
    ]
    return json.dumps(rows, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
