"""Sentences about a comparison: the same sentences in the terminal, on the page and in files."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.comparison.runs import labels_of, refused
from goffman.contrasts.catalog import BY_CONDITION
from goffman.contrasts.verdict import direction, glyph_of
from goffman.formatting import (
    VERDICTS_SAID,
    confidence,
    describe_corrected,
    describe_p,
    ends,
    humanize,
    join_words,
    number,
    short_names,
    verdict_shown,
)
from goffman.presentation.findings import describe_verdict, findings_of, heading, with_verdict
from goffman.presentation.section import Caveat, Finding
from goffman.presentation.table_formats import ColumnSpec, Table, as_table, grid, markdown
from goffman.report.summary import MainResult, by_model, describe_counts, screen, strength
from goffman.schemas import CONTRASTS, ESTIMATES, VERDICTS
from goffman.stats.multiple_testing import FALSE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goffman.comparison.runs import Comparison
    from goffman.stats.crossed import Interaction

    Row = Mapping[str, Any]


SAME_ANSWERS = "No change: every answer has the same score in both runs"

MAIN_VARIANTS = (None, "with-names")


@dataclass(frozen=True, kw_only=True)
class ChangeSentences:
    """The sentences about one comparison."""

    head: str
    """In a few words: what changed, or that nothing did; without a final period."""
    text: str = ""
    """From what to what, and how sure that is."""
    why: str = ""
    """Why the change has its verdict."""
    groups: str = ""
    """Which group moved."""
    items: str = ""
    """Whether the change of the gap differs between items, and what follows."""
    conditions: str = ""
    """How many conditions changed, and which most."""
    doubts: tuple[str, ...] = ()
    """What readers must know before all of it."""

    @property
    def lines(self) -> tuple[str, ...]:
        """Return all of the sentences, the heading first."""
        parts = (*self.doubts, self.text, self.why, self.groups, self.items)
        return (f"{self.head}.", *(part for part in (*parts, self.conditions) if part))


def change_sentences(comparison: Comparison) -> ChangeSentences:
    """Return the sentences on a comparison that was not refused."""
    row, doubts = comparison.headline, []
    if comparison.unmeasurable:
        doubts.append(f"These differences mean nothing: {'; '.join(comparison.unmeasurable)}.")
    if comparison.one_sided:
        doubts.append(f"Left out: {comparison.one_sided:,} values that only one of the runs has.")
    if comparison.same:
        return ChangeSentences(head=SAME_ANSWERS, doubts=tuple(doubts))
    shared: dict[str, Any] = {
        "doubts": tuple(doubts),
        "groups": _groups(comparison),
        "items": _items(comparison),
        "conditions": _conditions(comparison),
    }
    if row is None or row["difference"] is None:
        return ChangeSentences(
            head="The main difference of this instrument could not be compared", **shared
        )
    what = what_of(comparison, row)
    plain = heading(
        row,
        more=f"{what[:1].upper()}{what[1:]} rose",
        less=f"{what[:1].upper()}{what[1:]} fell",
        between=f"between the runs in {what}",
    )
    head = with_verdict(row, plain)
    if comparison.unmeasurable:
        head = "Not measurable: a model that cannot do the task shows no change"
    elif items_differ(comparison):
        head += ". But the change differs from item to item"
    before, after = comparison.sides
    interval = "no interval"
    if row["low"] is not None:
        interval = f"{confidence(row['level'])} interval {ends(row['low'], row['high'])}"
    text = (
        f"{what[:1].upper()}{what[1:]} went from {number(before)} to {number(after)}: "
        f"change {number(row['difference'])}, {interval}, {describe_corrected(row)}."
    )
    return ChangeSentences(head=head, text=text, why=describe_verdict(row), **shared)


def what_of(comparison: Comparison, row: Row) -> str:
    """Return a phrase for the contrast that headings are about."""
    measured = f" in {comparison.section.presentation.called}" if comparison.section else ""
    return f"the {contrast_of(row)}{measured if row['kind'] == 'groups' else ''}"


def contrast_of(row: Row) -> str:
    """Return a phrase for the contrast, without its quantity and without an article."""
    first, second = humanize(row["first"]), humanize(row["second"])
    if row["kind"] == "level":
        return f"{humanize(row['quantity'])} without adjectives"
    if row["kind"] == "groups":
        return f"gap between {first} and {second}"
    group = f" for {humanize(row['group'])}" if row["group"] else ""
    return f"difference {first} − {second}{group}"


def levels_of(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the measured number of each group in both runs, of its main variant."""
    rows = comparison.estimates.filter(pl.col("dimension").is_null(), kind="runs")
    if comparison.section is None or comparison.section.unit != "condition" or not rows.height:
        return []
    wanted = [comparison.section.presentation.quantity, *rows["quantity"]]
    quantity = next(name for name in wanted if name in {*rows["quantity"]})
    levels = rows.filter(pl.col("difference").is_not_null(), quantity=quantity)
    return [row for row in levels.to_dicts() if row["variant"] in MAIN_VARIANTS]


def _groups(comparison: Comparison) -> str:
    clauses = [
        f"{humanize(row['group'])} from {number(row['mean_second'])} to "
        f"{number(row['mean_first'])} "
        f"({verdict_shown(row) or ('not tested' if row['difference'] else 'no change')})"
        for row in levels_of(comparison)
        if row["group"]
    ]
    if not clauses or comparison.section is None:
        return ""
    return f"By group, {comparison.section.presentation.called} went: {'; '.join(clauses)}."


def items_differ(comparison: Comparison) -> bool | None:
    """Return whether the change of the gap differs between items; None: not tested."""
    p = None if comparison.by_item is None else comparison.by_item.p
    return None if p is None else p < FALSE


def _items(comparison: Comparison) -> str:
    """Return whether the change of the gap differs between items (side × item × group)."""
    by_item, differ = comparison.by_item, items_differ(comparison)
    if by_item is None or by_item.p is None:
        return ""
    spread = f"σ = {number(by_item.sd)}, {describe_p(by_item.p)}"
    if not differ:
        return f"That the gap changed more in some items than in others is not shown ({spread})."
    low, *_, high = sorted(by_item.changes, key=by_item.changes.__getitem__)
    return (
        f"The change of the gap differs from item to item ({spread}): from "
        f"{number(by_item.changes[low])} (“{humanize(low)}”) to {number(by_item.changes[high])} "
        f"(“{humanize(high)}”). So it cannot be read as more, or less, of the same thing: its size "
        "depends on which items were asked. Compare the items one by one."
    )


def conditions_of(comparison: Comparison) -> list[dict[str, Any]]:
    """Return every condition, or setting, in both runs: the largest rise first."""
    kind = (
        BY_CONDITION
        if comparison.section is None or comparison.section.unit == "condition"
        else "runs"
    )
    rows = comparison.estimates.filter(pl.col("difference").is_not_null(), kind=kind)
    name = "first" if kind == BY_CONDITION else "group"
    conditions = [row | {"condition": row[name]} for row in rows.to_dicts()]
    return sorted(conditions, key=lambda row: (-row["difference"], row["condition"]))


def _conditions(comparison: Comparison) -> str:
    """Return how many conditions clearly changed, and which changed most."""
    rows = conditions_of(comparison)
    if not rows or comparison.section is None:
        return ""
    noun = comparison.section.noun.many
    tested = [row for row in rows if row["p_adjusted"] is not None]
    extremes = (
        f"The largest rise is “{comparison.section.called(rows[0]['condition'])}” "
        f"({number(rows[0]['difference'])}), the largest fall "
        f"“{comparison.section.called(rows[-1]['condition'])}” ({number(rows[-1]['difference'])})."
    )
    if rows[-1]["difference"] >= 0 or rows[0]["difference"] <= 0:
        most = max(rows, key=lambda row: abs(row["difference"]))
        extremes = (
            f"The largest change is “{comparison.section.called(most['condition'])}” "
            f"({number(most['difference'])})."
        )
    if not tested:
        return f"None of the {len(rows)} {noun} was asked about often enough for a test. {extremes}"
    ways = [direction(row) for row in tested]
    up, down = ways.count(1), ways.count(-1)
    if not up and not down:
        return f"None of the {len(tested)} {noun} clearly changed by itself. {extremes}"
    return f"Of {len(tested)} {noun}, {up} clearly rose and {down} clearly fell. {extremes}"


def who(comparison: Comparison, labels: Mapping[str, str]) -> str:
    """Return whose answers are compared, from which run to which."""
    first, second = labels[str(comparison.reference)], labels[str(comparison.run)]
    models = comparison.models
    if models[0] == models[1]:
        return f"{short_names([models[0]])[models[0]]}, {first} → {second}"
    names = short_names(models)
    return f"{names[models[0]]} in {first} → {names[models[1]]} in {second}"


def comparison_marks(comparisons: Sequence[Comparison]) -> list[str]:
    """Return what else than the models may explain a difference, each once, with instruments."""
    by_mark: dict[str, list[str]] = {}
    for comparison in comparisons:
        for mark in comparison.verdict.marks:
            by_mark.setdefault(mark, []).append(comparison.instrument)
    return [f"{join_words([*dict.fromkeys(names)])}: {mark}." for mark, names in by_mark.items()]


VISIBLE, TOP = 5, 10
"""How many rows are seen at once; how many conditions that changed are listed at all."""

ITEMS_DIFFER = Caveat(
    id="items-differ",
    short="the change differs from item to item",
    text="The change of the gap differs from item to item, so its size depends on the items.",
)

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


def _models_of(comparison: Comparison) -> dict[str, str]:
    return {
        "reference": str(comparison.reference),
        "run": str(comparison.run),
        "reference_model": comparison.models[0],
        "run_model": comparison.models[1],
    }


def comparison_table(comparisons: Sequence[Comparison]) -> Table:
    """Return every row of every comparison, for files."""
    rows = [
        {
            **_models_of(comparison),
            "marks": "; ".join([*comparison.unmeasurable, *comparison.verdict.marks]) or None,
            "caveats": " ".join(change_result(comparison).caveats),
            **row,
        }
        for comparison in comparisons
        for row in comparison.estimates.iter_rows(named=True)
    ]
    caption = (
        "Each later run compared with the first one (the reference), prompt by prompt. Rows of the "
        "kind “runs”: the later run's number minus the first run's, “conditions”: the same of one "
        "condition. Other rows: how much the contrast changed. "
        f"{VERDICTS_SAID}"
    )
    names = [column.name for column in (*CONTRASTS, *ESTIMATES, *VERDICTS)]
    columns = ("reference", "run", "reference_model", "run_model", "marks", "caveats", *names)
    return as_table("comparison", caption, rows, shown=_SHOWN, columns=columns)


def change_result(comparison: Comparison, model: str = "") -> MainResult:
    """Return the change of a main result, in the shape of the result itself."""
    row = comparison.headline or {}
    names = ("difference", "low", "high", "margin", "verdict")
    numbers: dict[str, Any] = {name: row.get(name) for name in names}
    of_run = findings_of(comparison.section) if comparison.section else []
    unit = of_run[0].unit if of_run else ""
    head, why = "The main difference could not be compared", ""
    if comparison.unmeasurable:
        head, numbers = "Not measurable", {}
        why = f"This difference means nothing: {'; '.join(comparison.unmeasurable)}"
    elif comparison.same:
        head = "No change: every answer has the same score"
    elif row:
        sides = (
            Finding(model="", head="", text="", difference=side, unit=unit).value
            for side in comparison.sides
        )
        what = contrast_of(row)
        head = f"{what[:1].upper()}{what[1:]}: {' → '.join(sides)}"
    return MainResult(
        instrument=comparison.instrument,
        finding=Finding(
            model=model,
            head=head,
            short=why or head,
            text="",
            unit=unit,
            shown=verdict_shown(row) if numbers.get("verdict") else "",
            caveats=(ITEMS_DIFFER,) if items_differ(comparison) and numbers else (),
            **numbers,
        ),
    )


def change_results(comparisons: Sequence[Comparison]) -> list[MainResult]:
    """Return the change of every main result that could be compared, model by model."""
    labels = labels_of(comparisons)
    results = [
        change_result(comparison, model_of(comparison, labels))
        for comparison in comparisons
        if not comparison.verdict.refusals
    ]
    return by_model(results)


def model_of(comparison: Comparison, labels: Mapping[str, str]) -> str:
    """Return whose answers are compared, and the runs too if there are more than two."""
    if len(labels) > 2:
        return who(comparison, labels)
    return " → ".join(dict.fromkeys(short_names(comparison.models).values()))


def as_json(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Return one object for each instrument and pair of models."""
    return [
        {
            **_models_of(comparison),
            "instrument": comparison.instrument,
            "compared": not comparison.verdict.refusals,
            "refusals": list(comparison.verdict.refusals),
            "marks": list(comparison.verdict.marks),
            "not_measurable": list(comparison.unmeasurable),
            "one_sided_prompts": comparison.one_sided,
            "before": comparison.sides[0],
            "after": comparison.sides[1],
            "verdict": None if comparison.verdict.refusals else change_result(comparison).verdict,
            "caveats": change_result(comparison).caveats,
            "model_item_group": comparison.by_item and _interaction_entry(comparison.by_item),
            "said": None if comparison.verdict.refusals else asdict(change_sentences(comparison)),
            "estimates": comparison.estimates.to_dicts(),
        }
        for comparison in comparisons
    ]


def _interaction_entry(by_item: Interaction) -> dict[str, Any]:
    """Return, for programs, whether the gap changed alike in every item."""
    return {
        "sd": by_item.sd,
        "F": by_item.statistic,
        "p": by_item.p,
        "changes": dict(by_item.changes),
    }


def screen_of(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the lines of one screen: a row for each main result, then what changed most."""
    lines = [" → ".join(labels_of(comparisons).values()), "", *screen(change_results(comparisons))]
    most = top_of(comparisons, most=VISIBLE)
    if most:
        lines += ["", "Changed most"]
    for row in most:
        name = f"{row['condition']} ({row['instrument']})"
        lines.append(f"  {row['verdict'][:1]} {name:<52.52} {row['before']} → {row['after']}")
    return lines


def as_markdown(comparisons: Sequence[Comparison]) -> str:
    """Return a text for a pull request: the strongest changes, and the rest folded."""
    results = sorted(change_results(comparisons), key=strength)
    labels, rows = labels_of(comparisons), [_row(result) for result in results]
    heads = ("verdict", "instrument", "model", "before → after", "change (95% interval)", "caveats")
    notes = [*dict.fromkeys([*comparison_marks(comparisons), *refused(comparisons)])]
    sentences = [
        f"**{markdown(f'{comparison.instrument}, {who(comparison, labels)}')}**: "
        f"{markdown(' '.join(change_sentences(comparison).lines))}"
        for comparison in comparisons
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
    if top := top_of(comparisons):
        table = grid(list(top[0]), [list(row.values()) for row in top])
        parts += _folded(f"The {len(top)} conditions that changed most", [table])
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _folded(summary: str, parts: Sequence[str]) -> list[str]:
    return [f"<details><summary>{summary}</summary>", *parts, "</details>"]


def _row(result: MainResult) -> tuple[str, ...]:
    verdict, instrument, model, finding, size, _, caveats = result.cells().values()
    sides = finding.rpartition(": ")[2]
    return (
        verdict,
        instrument,
        model,
        sides if "→" in sides else finding,
        size or "–",
        caveats,
    )


def top_of(comparisons: Sequence[Comparison], *, most: int = TOP) -> list[dict[str, str]]:
    """Return the conditions that changed most: clear ones first, each in units of its Δ."""
    compared = [comparison for comparison in comparisons if not comparison.verdict.refusals]
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
    labels = labels_of(comparisons)
    return [
        {
            "verdict": f"{glyph_of(row['verdict'])} {verdict_shown(row) or 'not tested'}",
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
