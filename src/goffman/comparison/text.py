"""A comparison of runs as people and programs read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.comparison.runs import OF_RUNS
from goffman.comparison.sentences import (
    change_sentences,
    conditions_of,
    describe_marks,
    labels_of,
    who,
)
from goffman.contrasts.catalog import BY_CONDITION
from goffman.contrasts.verdict import direction
from goffman.formatting import VERDICTS_SAID, ends, number, p_value, verdict_shown
from goffman.presentation.table_formats import ColumnSpec, Table, as_table, markdown_text
from goffman.presentation.table_formats import markdown as cell
from goffman.schemas import CONTRASTS, ESTIMATES, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goffman.comparison.runs import Comparison
    from goffman.stats.interaction import Interaction

TOP = 10
"""So many rows a screen shows of all that are compared."""

_WHO = ("reference", "run", "reference_model", "run_model")

_SHOWN = (
    ColumnSpec(header="run", keys=("run",)),
    ColumnSpec(header="model", keys=("run_model",)),
    ColumnSpec(header="reference", keys=("reference",)),
    ColumnSpec(header="its model", keys=("reference_model",)),
    ColumnSpec(header="instrument", keys=("instrument",)),
    ColumnSpec(header="kind", keys=("kind",)),
    ColumnSpec(header="number", keys=("quantity",)),
    ColumnSpec(header="words", keys=("variant",), drop="empty"),
    ColumnSpec(header="group", keys=("group",), drop="empty"),
    ColumnSpec(header="subscale", keys=("dimension",), drop="empty"),
    ColumnSpec(header="contrast", keys=("first", "second"), form="pair"),
    ColumnSpec(header="n", keys=("n",), form="count"),
    ColumnSpec(header="difference", keys=("difference",), form="number"),
    ColumnSpec(header="interval", keys=("low", "high"), form="interval"),
    ColumnSpec(header="p", keys=("p",), form="p"),
    ColumnSpec(header="p, corrected", keys=("p_adjusted",), form="p"),
    ColumnSpec(header="smallest relevant", keys=("margin",), form="number", drop="empty"),
    ColumnSpec(header="detectable", keys=("detectable",), form="number", drop="empty"),
    ColumnSpec(header="verdict", keys=("verdict",), drop="empty"),
)


def comparison_table(found: Sequence[Comparison]) -> Table:
    """Every row of every comparison: for files."""
    rows = [
        {
            "reference": str(one.reference),
            "run": str(one.run),
            "reference_model": one.models[0],
            "run_model": one.models[1],
            "marks": "; ".join([*one.unmeasurable, *one.verdict.marks]) or None,
            **row,
        }
        for one in found
        for row in one.estimates.iter_rows(named=True)
    ]
    caption = (
        "Each later run compared with the first one (the reference), prompt by prompt. Rows of the "
        "kind “runs”: the later run's number minus the first run's, “conditions”: the same of one "
        "condition. Other rows: how much the contrast changed. "
        f"{VERDICTS_SAID}"
    )
    names = [column.name for column in (*CONTRASTS, *ESTIMATES, *VERDICTS)]
    columns = tuple(rows[0]) if rows else (*_WHO, "marks", *names)
    return as_table("comparison", caption, rows, shown=_SHOWN, columns=columns)


def as_json(found: Sequence[Comparison]) -> list[dict[str, Any]]:
    """One object for each instrument and pair of models."""
    return [
        {
            "reference": str(one.reference),
            "run": str(one.run),
            "instrument": one.instrument,
            "reference_model": one.models[0],
            "run_model": one.models[1],
            "compared": not one.verdict.refusals,
            "refusals": list(one.verdict.refusals),
            "marks": list(one.verdict.marks),
            "not_measurable": list(one.unmeasurable),
            "one_sided_prompts": one.one_sided,
            "before": one.sides[0],
            "after": one.sides[1],
            "model_item_group": one.by_item and _interaction_entry(one.by_item),
            "said": None if one.verdict.refusals else change_sentences(one).entry(),
            "estimates": one.estimates.to_dicts(),
        }
        for one in found
    ]


def _interaction_entry(found: Interaction) -> dict[str, Any]:
    """Return whether the gap changed alike in every item, for programs."""
    return {"sd": found.sd, "F": found.statistic, "p": found.p, "changes": dict(found.changes)}


def as_markdown(found: Sequence[Comparison]) -> str:
    """For a pull request: what is said, then every row."""
    labels = labels_of(found)
    parts = ["# Runs compared", *(f"> {cell(mark)}" for mark in describe_marks(found))]
    for one in found:
        parts.append(f"## {cell(one.instrument)}: {cell(who(one, labels))}")
        if one.verdict.refusals:
            parts += [f"Not compared: {cell(reason)}." for reason in one.verdict.refusals]
            continue
        head, *rest = change_sentences(one).lines
        parts += [f"**{cell(head)}** {cell(' '.join(rest))}"]
    return "\n\n".join([*parts, markdown_text(comparison_table(found))])


@dataclass(frozen=True, kw_only=True)
class Top:
    """The rows in which two runs differ most, and how many others there are."""

    rows: tuple[Mapping[str, str], ...]
    left: int


def top_of(found: Sequence[Comparison], *, most: int = TOP) -> Top:
    """The conditions that changed most: what is clear first, each by its own smallest difference.

    Instruments have different units; that which would matter is what they have in common.
    """
    compared = [one for one in found if not one.verdict.refusals]
    rows = [(one, row) for one in compared for row in conditions_of(one)]
    rows.sort(
        key=lambda both: (
            not direction(both[1]),
            -abs(both[1]["difference"]) / (both[1]["margin"] or 1.0),
        )
    )
    several = len({(one.run, one.models) for one in compared}) > 1
    labels = labels_of(found)
    shown = tuple(
        {
            "instrument": one.instrument,
            **({"of": who(one, labels)} if several else {}),
            "what": one.section.called(row["condition"]) if one.section else row["condition"],
            "before": number(row["mean_second"]),
            "after": number(row["mean_first"]),
            "change": number(row["difference"]),
            "interval": ends(row["low"], row["high"]),
            "corrected p": "none" if row["p_adjusted"] is None else p_value(row["p_adjusted"]),
            "verdict": verdict_shown(row) or "none",
        }
        for one, row in rows[:most]
        if row["difference"]
    )
    every = sum(one.estimates.height for one in found)
    return Top(rows=shown, left=every - len(shown))


@dataclass(frozen=True, kw_only=True)
class Screen:
    """A comparison as a screen shows it."""

    heading: str
    rows: tuple[Mapping[str, str], ...]
    """Under each number's own row those of its groups, and of the change between them."""
    notes: tuple[str, ...]
    """The tests, and why values are missing, by the numbers that rows have."""


def screen_of(one: Comparison) -> Screen:
    """Every row of a comparison, for a screen."""
    heading = f"{one.instrument}: {one.models[1]} in {one.run} − {one.models[0]} in {one.reference}"
    if one.one_sided:
        heading += f" (left out: {one.one_sided:,} values that only one of the runs has)"
    if one.unmeasurable:
        heading += f". These differences mean nothing: {'; '.join(one.unmeasurable)}"
    levels = {
        (row["quantity"], row["variant"], row["group"]): (row["mean_first"], row["mean_second"])
        for row in one.estimates.filter(pl.col("kind") == "runs").iter_rows(named=True)
    }
    found = one.estimates.to_dicts()
    reasons = dict.fromkeys(row["reason"] for row in found if row["reason"])
    numbers = {reason: str(place) for place, reason in enumerate(reasons, start=1)}
    rows: list[dict[str, str]] = []
    for number_of in dict.fromkeys((row["quantity"], row["variant"]) for row in found):
        of = [row for row in found if (row["quantity"], row["variant"]) == number_of]
        lines = [_line(row, levels, numbers) for row in of]
        what = ", ".join(part for part in number_of if part)
        rows += [dict.fromkeys(lines[0], "") | {"what": what}, *lines]
    if not reasons:
        rows = [{name: row[name] for name in row if name != "note"} for row in rows]
    notes = [f"{place}: {reason}." for reason, place in numbers.items()]
    return Screen(heading=heading, rows=tuple(rows), notes=(*_tests(found), *notes))


def _tests(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The tests used for the changes in a number, and for those between groups."""
    for kinds, what in (
        (True, "Test in rows of one group or condition"),
        (False, "Test in rows “A − B”"),
    ):
        of = [row["test"] for row in rows if (row["kind"] in OF_RUNS) is kinds and row["test"]]
        if of:
            yield f"{what}: {', '.join(dict.fromkeys(of))}."


Levels = dict[tuple[str, str | None, str | None], tuple[float | None, float | None]]


def _line(row: Mapping[str, Any], levels: Levels, notes: Mapping[str, str]) -> dict[str, str]:
    run, reference = _sides(row, levels)
    return {
        "what": f"  {_what(row)}",
        "later run": "" if run is None else number(run),
        "first run": "" if reference is None else number(reference),
        "difference": number(row["difference"]),
        "interval": ends(row["low"], row["high"]),
        "corrected p": "none" if row["p_adjusted"] is None else p_value(row["p_adjusted"]),
        "verdict": verdict_shown(row) or "none",
        "n": f"{row['n']:,}",
        "note": notes.get(row["reason"], ""),
    }


def _sides(row: Mapping[str, Any], levels: Levels) -> tuple[float | None, float | None]:
    """The number, or the gap of two groups' numbers, in the run and in the reference."""
    if row["kind"] in OF_RUNS:
        return row["mean_first"], row["mean_second"]
    first, second = (
        levels.get((row["quantity"], row["variant"], row[side])) for side in ("first", "second")
    )
    if row["kind"] != "groups" or row["dimension"] or first is None or second is None:
        return None, None
    one, other = (
        None if a is None or b is None else a - b for a, b in zip(first, second, strict=True)
    )
    return one, other


def _what(row: Mapping[str, Any]) -> str:
    """Which group a number is of, or between what a contrast is."""
    if row["kind"] == BY_CONDITION:
        return str(row["first"])
    said = row["group"] or "all" if row["kind"] == "runs" else f"{row['first']} − {row['second']}"
    about = [row["dimension"], row["group"] if row["kind"] != "runs" else None]
    where = ", ".join(part for part in about if part)
    return f"{where}: {said}" if where else said
