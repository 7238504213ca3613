"""The texts and tables of a comparison of runs, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goffman.analysis.summary import (
    MainResult,
    describe_counts,
    interval_shown,
    screen,
    strength,
    value_shown,
)
from goffman.comparison.runs import refused
from goffman.comparison.sentences import (
    change_sentences,
    conditions_of,
    contrast_of,
    describe_marks,
    items_differ,
    labels_of,
    who,
)
from goffman.contrasts.verdict import GLYPHS, direction
from goffman.formatting import VERDICTS_SAID, ends, number, short_names, verdict_shown
from goffman.presentation.findings import findings_of
from goffman.presentation.table_formats import ColumnSpec, Table, as_table, grid, markdown
from goffman.presentation.types import Caveat, Finding
from goffman.schemas import CONTRASTS, ESTIMATES, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goffman.comparison.runs import Comparison
    from goffman.stats.interaction import Interaction

VISIBLE, TOP = 5, 10
"""How many rows are seen at once; how many conditions that changed are listed at all."""

ITEMS_DIFFER = Caveat(
    id="items-differ",
    short="the change differs from item to item",
    text="The change of the gap differs from item to item, so its size depends on the items.",
)

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
    """Return every row of every comparison, for files."""
    rows = [
        {
            "reference": str(comparison.reference),
            "run": str(comparison.run),
            "reference_model": comparison.models[0],
            "run_model": comparison.models[1],
            "marks": "; ".join([*comparison.unmeasurable, *comparison.verdict.marks]) or None,
            "caveats": " ".join(caveat.id for caveat in change_result(comparison).finding.caveats),
            **row,
        }
        for comparison in found
        for row in comparison.estimates.iter_rows(named=True)
    ]
    caption = (
        "Each later run compared with the first one (the reference), prompt by prompt. Rows of the "
        "kind “runs”: the later run's number minus the first run's, “conditions”: the same of one "
        "condition. Other rows: how much the contrast changed. "
        f"{VERDICTS_SAID}"
    )
    names = [column.name for column in (*CONTRASTS, *ESTIMATES, *VERDICTS)]
    columns = tuple(rows[0]) if rows else (*_WHO, "marks", "caveats", *names)
    return as_table("comparison", caption, rows, shown=_SHOWN, columns=columns)


def change_result(one: Comparison, model: str = "") -> MainResult:
    """Return the change of a main result, in the shape of the result itself."""
    row = one.headline or {}
    names = ("difference", "low", "high", "margin", "verdict")
    numbers: dict[str, Any] = {name: row.get(name) for name in names}
    of_run = findings_of(one.section) if one.section else []
    unit = of_run[0].unit if of_run else ""
    head, why = "The main difference could not be compared", ""
    if one.unmeasurable:
        head, numbers = "Not measurable", {}
        why = f"This difference means nothing: {'; '.join(one.unmeasurable)}"
    elif one.same:
        head = "No change: every answer has the same score"
    elif row:
        sides = (
            value_shown(Finding(model="", head="", text="", difference=side, unit=unit))
            for side in one.sides
        )
        what = contrast_of(row)
        head = f"{what[:1].upper()}{what[1:]}: {' → '.join(sides)}"
    return MainResult(
        instrument=one.instrument,
        model=model,
        finding=Finding(
            model=model,
            head=head,
            short=why or head,
            text="",
            unit=unit,
            shown=verdict_shown(row) if numbers.get("verdict") else "",
            caveats=(ITEMS_DIFFER,) if items_differ(one) and numbers else (),
            **numbers,
        ),
    )


def change_results(found: Sequence[Comparison]) -> list[MainResult]:
    """Return the change of every main result that could be compared, model by model."""
    labels = labels_of(found)
    results = [
        change_result(comparison, model_of(comparison, labels))
        for comparison in found
        if not comparison.verdict.refusals
    ]
    order = list(dict.fromkeys(result.model for result in results))
    return sorted(results, key=lambda result: order.index(result.model))


def model_of(one: Comparison, labels: Mapping[str, str]) -> str:
    """Return whose answers are compared, and the runs too if there are more than two."""
    if len(labels) > 2:
        return who(one, labels)
    return " → ".join(dict.fromkeys(short_names(one.models).values()))


def as_json(found: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Return one object for each instrument and pair of models."""
    return [
        {
            "reference": str(comparison.reference),
            "run": str(comparison.run),
            "instrument": comparison.instrument,
            "reference_model": comparison.models[0],
            "run_model": comparison.models[1],
            "compared": not comparison.verdict.refusals,
            "refusals": list(comparison.verdict.refusals),
            "marks": list(comparison.verdict.marks),
            "not_measurable": list(comparison.unmeasurable),
            "one_sided_prompts": comparison.one_sided,
            "before": comparison.sides[0],
            "after": comparison.sides[1],
            "verdict": None if comparison.verdict.refusals else change_result(comparison).verdict,
            "caveats": [caveat.id for caveat in change_result(comparison).finding.caveats],
            "model_item_group": comparison.by_item and _interaction_entry(comparison.by_item),
            "said": None if comparison.verdict.refusals else change_sentences(comparison).entry(),
            "estimates": comparison.estimates.to_dicts(),
        }
        for comparison in found
    ]


def _interaction_entry(found: Interaction) -> dict[str, Any]:
    """Return, for programs, whether the gap changed alike in every item."""
    return {"sd": found.sd, "F": found.statistic, "p": found.p, "changes": dict(found.changes)}


def screen_of(found: Sequence[Comparison]) -> list[str]:
    """Return the lines of one screen: a row for each main result, then what changed most."""
    lines = [" → ".join(labels_of(found).values()), "", *screen(change_results(found))]
    most = top_of(found, most=VISIBLE)
    if most:
        lines += ["", "Changed most"]
    for row in most:
        name = f"{row['condition']} ({row['instrument']})"
        lines.append(f"  {row['verdict'][:1]} {name:<52.52} {row['before']} → {row['after']}")
    return lines


def as_markdown(found: Sequence[Comparison]) -> str:
    """Return a text for a pull request: the strongest changes, and the rest folded."""
    results = sorted(change_results(found), key=strength)
    labels, rows = labels_of(found), [_row(result) for result in results]
    heads = ("verdict", "instrument", "model", "before → after", "change (95% interval)", "caveats")
    notes = [*dict.fromkeys([*describe_marks(found), *refused(found)])]
    sentences = [
        f"**{markdown(f'{comparison.instrument}, {who(comparison, labels)}')}**: "
        f"{markdown(' '.join(change_sentences(comparison).lines))}"
        for comparison in found
        if not comparison.verdict.refusals
    ]
    more = [grid(heads, rows[VISIBLE:])] if rows[VISIBLE:] else []
    parts = [
        f"### goffman: {markdown(' → '.join(labels.values()))}",
        f"{describe_counts(results)}.",
        *(f"> {markdown(note)}" for note in notes),
        grid(heads, rows[:VISIBLE]),
        *_folded(f"{len(rows)} results in words", [*more, *sentences]),
    ]
    if top := top_of(found):
        table = grid(list(top[0]), [list(row.values()) for row in top])
        parts += _folded(f"The {len(top)} conditions that changed most", [table])
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _folded(summary: str, parts: Sequence[str]) -> list[str]:
    return [f"<details><summary>{summary}</summary>", *parts, "</details>"]


def _row(one: MainResult) -> tuple[str, ...]:
    finding = one.finding
    sides = finding.short.rpartition(": ")[2]
    interval = (
        f"{value_shown(finding)} ({interval_shown(finding)})" if interval_shown(finding) else "–"
    )
    return (
        f"{one.glyph} {one.verdict}",
        one.instrument,
        one.model,
        sides if "→" in sides else finding.short,
        interval,
        ", ".join(caveat.id for caveat in finding.caveats),
    )


def top_of(found: Sequence[Comparison], *, most: int = TOP) -> list[dict[str, str]]:
    """Return the conditions that changed most: clear ones first, each in units of its Δ."""
    compared = [comparison for comparison in found if not comparison.verdict.refusals]
    rows = [
        (comparison, row)
        for comparison in compared
        for row in conditions_of(comparison)
        if row["difference"]
    ]
    rows.sort(
        key=lambda pair: (
            not direction(pair[1]),
            -abs(pair[1]["difference"]) / (pair[1]["margin"] or 1.0),
        )
    )
    several = len({(comparison.run, comparison.models) for comparison in compared}) > 1
    labels = labels_of(found)
    return [
        {
            "verdict": f"{GLYPHS.get(row['verdict'], '–')} {verdict_shown(row) or 'not tested'}",
            "condition": comparison.section.called(row["condition"])
            if comparison.section
            else row["condition"],
            "instrument": comparison.instrument,
            **({"model": model_of(comparison, labels)} if several else {}),
            "before": number(row["mean_second"]),
            "after": number(row["mean_first"]),
            "change": f"{number(row['difference'])} ({ends(row['low'], row['high'])})",
        }
        for comparison, row in rows[:most]
    ]
