"""A comparison of runs as people and programs read it."""

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
"""So many rows are seen at once; so many conditions that changed are listed at all."""

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
    """Every row of every comparison: for files."""
    rows = [
        {
            "reference": str(one.reference),
            "run": str(one.run),
            "reference_model": one.models[0],
            "run_model": one.models[1],
            "marks": "; ".join([*one.unmeasurable, *one.verdict.marks]) or None,
            "caveats": " ".join(caveat.id for caveat in change_result(one).finding.caveats),
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
    columns = tuple(rows[0]) if rows else (*_WHO, "marks", "caveats", *names)
    return as_table("comparison", caption, rows, shown=_SHOWN, columns=columns)


def change_result(one: Comparison, model: str = "") -> MainResult:
    """Return the change of a main result, in the shape of the result itself."""
    row = one.headline or {}
    names = ("difference", "low", "high", "margin", "verdict")
    found: dict[str, Any] = {name: row.get(name) for name in names}
    of_run = findings_of(one.section) if one.section else []
    unit = of_run[0].unit if of_run else ""
    head, why = "The main difference could not be compared", ""
    if one.unmeasurable:
        head, found = "Not measurable", {}
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
            shown=verdict_shown(row) if found.get("verdict") else "",
            caveats=(ITEMS_DIFFER,) if items_differ(one) and found else (),
            **found,
        ),
    )


def change_results(found: Sequence[Comparison]) -> list[MainResult]:
    """Return the change of every main result that could be compared, model by model."""
    labels = labels_of(found)
    made = [change_result(one, model_of(one, labels)) for one in found if not one.verdict.refusals]
    order = list(dict.fromkeys(one.model for one in made))
    return sorted(made, key=lambda one: order.index(one.model))


def model_of(one: Comparison, labels: Mapping[str, str]) -> str:
    """Return whose answers are compared; the runs too where there are more than two."""
    if len(labels) > 2:
        return who(one, labels)
    return " → ".join(dict.fromkeys(short_names(one.models).values()))


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
            "verdict": None if one.verdict.refusals else change_result(one).verdict,
            "caveats": [caveat.id for caveat in change_result(one).finding.caveats],
            "model_item_group": one.by_item and _interaction_entry(one.by_item),
            "said": None if one.verdict.refusals else change_sentences(one).entry(),
            "estimates": one.estimates.to_dicts(),
        }
        for one in found
    ]


def _interaction_entry(found: Interaction) -> dict[str, Any]:
    """Return whether the gap changed alike in every item, for programs."""
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
    labels, rows = labels_of(found), [_row(one) for one in results]
    heads = ("verdict", "instrument", "model", "before → after", "change (95% interval)", "caveats")
    notes = [*dict.fromkeys([*describe_marks(found), *refused(found)])]
    said = [
        f"**{markdown(f'{one.instrument}, {who(one, labels)}')}**: "
        f"{markdown(' '.join(change_sentences(one).lines))}"
        for one in found
        if not one.verdict.refusals
    ]
    more = [grid(heads, rows[VISIBLE:])] if rows[VISIBLE:] else []
    parts = [
        f"### goffman: {markdown(' → '.join(labels.values()))}",
        f"{describe_counts(results)}.",
        *(f"> {markdown(note)}" for note in notes),
        grid(heads, rows[:VISIBLE]),
        *_folded(f"{len(rows)} results in words", [*more, *said]),
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
    """Return the conditions that changed most: what is clear first, each in units of its Δ."""
    compared = [one for one in found if not one.verdict.refusals]
    rows = [(one, row) for one in compared for row in conditions_of(one) if row["difference"]]
    rows.sort(
        key=lambda both: (
            not direction(both[1]),
            -abs(both[1]["difference"]) / (both[1]["margin"] or 1.0),
        )
    )
    several = len({(one.run, one.models) for one in compared}) > 1
    labels = labels_of(found)
    return [
        {
            "verdict": f"{GLYPHS.get(row['verdict'], '–')} {verdict_shown(row) or 'not tested'}",
            "condition": one.section.called(row["condition"]) if one.section else row["condition"],
            "instrument": one.instrument,
            **({"model": model_of(one, labels)} if several else {}),
            "before": number(row["mean_second"]),
            "after": number(row["mean_first"]),
            "change": f"{number(row['difference'])} ({ends(row['low'], row['high'])})",
        }
        for one, row in rows[:most]
    ]
