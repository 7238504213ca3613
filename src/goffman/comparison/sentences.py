"""What is said of a comparison: the same sentences in the terminal, on the page and in files."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.contrasts.catalog import BY_CONDITION
from goffman.contrasts.verdict import direction
from goffman.formatting import (
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
from goffman.presentation.findings import describe_verdict, heading, with_verdict
from goffman.stats.multiple_testing import FALSE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goffman.comparison.runs import Comparison

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

    def entry(self) -> dict[str, Any]:
        """Return the sentences for JSON."""
        return asdict(self)


def change_sentences(one: Comparison) -> ChangeSentences:
    """Return the sentences on a comparison that was not refused."""
    row, doubts = one.headline, []
    if one.unmeasurable:
        doubts.append(f"These differences mean nothing: {'; '.join(one.unmeasurable)}.")
    if one.one_sided:
        doubts.append(f"Left out: {one.one_sided:,} values that only one of the runs has.")
    if one.same:
        return ChangeSentences(head=SAME_ANSWERS, doubts=tuple(doubts))
    shared: dict[str, Any] = {
        "doubts": tuple(doubts),
        "groups": _groups(one),
        "items": _items(one),
        "conditions": _conditions(one),
    }
    if row is None or row["difference"] is None:
        return ChangeSentences(
            head="The main difference of this instrument could not be compared", **shared
        )
    what = what_of(one, row)
    plain = heading(
        row,
        more=f"{what[:1].upper()}{what[1:]} rose",
        less=f"{what[:1].upper()}{what[1:]} fell",
        between=f"between the runs in {what}",
    )
    head = with_verdict(row, plain)
    if one.unmeasurable:
        head = "Not measurable: a model that cannot do the task shows no change"
    elif items_differ(one):
        head += ". But the change differs from item to item"
    before, after = one.sides
    interval = "no interval"
    if row["low"] is not None:
        interval = f"{confidence(row['level'])} interval {ends(row['low'], row['high'])}"
    text = (
        f"{what[:1].upper()}{what[1:]} went from {number(before)} to {number(after)}: "
        f"change {number(row['difference'])}, {interval}, {describe_corrected(row)}."
    )
    return ChangeSentences(head=head, text=text, why=describe_verdict(row), **shared)


def what_of(one: Comparison, row: Row) -> str:
    """Return the contrast that headings are about, in words."""
    measured = f" in {one.section.presentation.called}" if one.section else ""
    return f"the {contrast_of(row)}{measured if row['kind'] == 'groups' else ''}"


def contrast_of(row: Row) -> str:
    """Return the contrast in words, without its number and article."""
    first, second = humanize(row["first"]), humanize(row["second"])
    if row["kind"] == "level":
        return f"{humanize(row['quantity'])} without adjectives"
    if row["kind"] == "groups":
        return f"gap between {first} and {second}"
    group = f" for {humanize(row['group'])}" if row["group"] else ""
    return f"difference {first} − {second}{group}"


def levels_of(one: Comparison) -> list[dict[str, Any]]:
    """Return the measured number of each group in both runs, of its main variant."""
    rows = one.estimates.filter(pl.col("kind") == "runs", pl.col("dimension").is_null())
    if one.section is None or one.section.unit != "condition" or not rows.height:
        return []
    wanted = [one.section.presentation.quantity, *rows["quantity"]]
    quantity = next(name for name in wanted if name in {*rows["quantity"]})
    levels = rows.filter(pl.col("quantity") == quantity, pl.col("difference").is_not_null())
    return [row for row in levels.to_dicts() if row["variant"] in MAIN_VARIANTS]


def _groups(one: Comparison) -> str:
    """Return from which value to which the number of each group went."""
    clauses = [
        f"{humanize(row['group'])} from {number(row['mean_second'])} to "
        f"{number(row['mean_first'])} "
        f"({verdict_shown(row) or ('not tested' if row['difference'] else 'no change')})"
        for row in levels_of(one)
        if row["group"]
    ]
    if not clauses or one.section is None:
        return ""
    return f"By group, {one.section.presentation.called} went: {'; '.join(clauses)}."


def items_differ(one: Comparison) -> bool | None:
    """Return whether the change of the gap differs between items; None: not tested."""
    p = None if one.by_item is None else one.by_item.p
    return None if p is None else p < FALSE


def _items(one: Comparison) -> str:
    """Return whether the change of the gap differs between items (side × item × group)."""
    by_item, differ = one.by_item, items_differ(one)
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


def conditions_of(one: Comparison) -> list[dict[str, Any]]:
    """Return every condition, or setting, in both runs: the largest rise first."""
    kind = BY_CONDITION if one.section is None or one.section.unit == "condition" else "runs"
    rows = one.estimates.filter(pl.col("kind") == kind, pl.col("difference").is_not_null())
    name = "first" if kind == BY_CONDITION else "group"
    conditions = [row | {"condition": row[name]} for row in rows.to_dicts()]
    return sorted(conditions, key=lambda row: (-row["difference"], row["condition"]))


def _conditions(one: Comparison) -> str:
    """Return how many conditions clearly changed, and which changed most."""
    rows = conditions_of(one)
    if not rows or one.section is None:
        return ""
    noun = one.section.noun.many
    tested = [row for row in rows if row["p_adjusted"] is not None]
    extremes = (
        f"The largest rise is “{one.section.called(rows[0]['condition'])}” "
        f"({number(rows[0]['difference'])}), the largest fall "
        f"“{one.section.called(rows[-1]['condition'])}” ({number(rows[-1]['difference'])})."
    )
    if rows[-1]["difference"] >= 0 or rows[0]["difference"] <= 0:
        most = max(rows, key=lambda row: abs(row["difference"]))
        extremes = (
            f"The largest change is “{one.section.called(most['condition'])}” "
            f"({number(most['difference'])})."
        )
    if not tested:
        return f"None of the {len(rows)} {noun} was asked about often enough for a test. {extremes}"
    ways = [direction(row) for row in tested]
    up, down = ways.count(1), ways.count(-1)
    if not up and not down:
        return f"None of the {len(tested)} {noun} clearly changed by itself. {extremes}"
    return f"Of {len(tested)} {noun}, {up} clearly rose and {down} clearly fell. {extremes}"


def labels_of(found: Sequence[Comparison]) -> dict[str, str]:
    """Return by a run's folder its label, in the order in which the runs were given."""
    folders = dict.fromkeys(
        str(folder) for comparison in found for folder in (comparison.reference, comparison.run)
    )
    return short_names(folders)


def who(one: Comparison, labels: Mapping[str, str]) -> str:
    """Return whose answers are compared, from which run to which."""
    first, second = labels[str(one.reference)], labels[str(one.run)]
    models = one.models
    if models[0] == models[1]:
        return f"{short_names([models[0]])[models[0]]}, {first} → {second}"
    names = short_names(models)
    return f"{names[models[0]]} in {first} → {names[models[1]]} in {second}"


def describe_marks(found: Sequence[Comparison]) -> list[str]:
    """Return what, beside the models, may explain a difference: each once, with its instruments."""
    by_mark: dict[str, list[str]] = {}
    for comparison in found:
        for mark in comparison.verdict.marks:
            by_mark.setdefault(mark, []).append(comparison.instrument)
    return [f"{join_words([*dict.fromkeys(names)])}: {mark}." for mark, names in by_mark.items()]
