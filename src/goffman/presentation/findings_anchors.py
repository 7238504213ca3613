"""What is said of a model beside what people said: only what its numbers carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goffman.estimates.clear import CLEAR, points
from goffman.estimates.sharing import FEMALE
from goffman.presentation.findings_shares import shares_said
from goffman.presentation.numbers import corrected_said, ends, number, p_said
from goffman.presentation.shown import in_list, plain

if TYPE_CHECKING:
    from goffman.presentation.anchored import AnchoredModel

MOST_NAMED = 5
"""Conditions that are named one by one."""

NEGATIVE = {"negative", "negative-probability", "code"}
"""Numbers whose higher values are more negative."""


@dataclass(frozen=True, kw_only=True)
class AnchorSaid:
    """What is said of one model, instrument and anchor."""

    instrument: str
    model: str
    """As it is shown."""
    anchor: str
    """Its id."""
    head: str
    """In a few words: the strongest relation, or that there is no clear one."""
    text: str = ""
    """Its numbers."""
    more: tuple[str, ...] = ()


def anchor_said(one: AnchoredModel) -> AnchorSaid:
    """The sentences for one model; of one that cannot do the task, only that."""
    if failing := one.unmeasurable:
        return _saying(one, f"Not stated: {failing.model} is {failing.mark}", "")
    if one.about.compare == "difference":
        return _saying(one, *shares_said(one))
    rows = one.rows("anchor")
    if not rows:
        reasons = one.estimates["reason"].drop_nulls().unique(maintain_order=True).to_list()
        why = reasons[0] if reasons else "there are too few values"
        return _saying(one, f"Nothing could be correlated: {why}", "")
    return _saying(one, *_head(one, rows), *_more(one, rows))


def _saying(one: AnchoredModel, head: str, text: str, *more: str) -> AnchorSaid:
    return AnchorSaid(
        instrument=one.section.instrument,
        model=one.shown,
        anchor=one.anchor,
        head=head,
        text=text,
        more=more,
    )


def _numbers(row: Mapping[str, Any], sign: str = "r") -> str:
    interval = ""
    if row["effect_low"] is not None:
        interval = f", {row['level']:.0%} interval {ends(row['effect_low'], row['effect_high'])}"
    return f"{sign} = {number(row['effect'])}{interval}, {corrected_said(row)}"


def _head(one: AnchoredModel, rows: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """The strongest clear relation, or that there is none; and its numbers."""
    best = next((row for row in rows if points(row)), rows[0])
    whole = f" of {best['n'] + best['left_out']}" if best["left_out"] else ""
    across, its = f"Across {best['n']}{whole} {one.many}", f"Its {one.quantity}"
    meant = one.explained(best["dimension"])
    if points(best):
        moves = "rises" if best["effect"] > 0 else "falls"
        return f"{its} {moves} as {meant} rises", f"{across}: {_numbers(best)}."
    if len(rows) == 1:
        return f"{its} has no clear relation with {meant}", f"{across}: {_numbers(best)}."
    others = [one.item(name) for name in one.about.items if name != best["dimension"]]
    text = (
        f"{across}, the strongest correlation is with {meant}: {_numbers(best)}. The other "
        f"dimensions are {in_list(others)}."
    )
    return f"{its} has no clear relation with any of {len(others) + 1} dimensions", text


def _more(one: AnchoredModel, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    best = next((row for row in rows if points(row)), rows[0])
    item = best["dimension"]
    others = [row for row in rows if points(row) and row is not best]
    if others:
        listed = "; ".join(f"{one.item(row['dimension'])} ({_numbers(row)})" for row in others)
        yield f"The relation is also clear for {listed}."
    ranks = one.row("anchor-rank", item)
    if ranks is not None:
        yield f"By ranks, for {one.item(item)}: {_numbers(ranks, 'ρ')}."
    partial = one.row("anchor-partial", item)
    if partial is not None:
        what = f"Comparing {one.many} only within their category"
        if one.about.point != "condition":
            what = "Comparing women's occupations only with each other, and men's likewise"
        yield f"{what} ({partial['n']} {one.many}): {_numbers(partial)}."
    for row in one.rows("anchor-within"):
        if row["dimension"] == item:
            yield f"Among the {row['n']} {_of_group(one, row['group'])} alone: {_numbers(row)}."
    yield from _true_scores(best)
    yield from _standing_out(one)
    over = best["interval_over"]
    if over is not None:
        yield (
            f"The intervals cover other {over.replace('conditions', one.many)} of the same kind. "
            "They do not correct for error of measurement, unless this is said."
        )


def _of_group(one: AnchoredModel, group: str) -> str:
    """The points of a group, in the plural; occupations are grouped by whose they mostly are."""
    if one.about.point == "condition":
        return f"{plain(group)} {one.many}"
    return f"{'women' if group == FEMALE else 'men'}'s {one.many}"


def _true_scores(row: Mapping[str, Any]) -> Iterator[str]:
    """What the correlation would be without error of measurement, where that is another."""
    value = row["second_effect"]
    if value is None or number(value) == number(row["effect"]):
        return
    both = "model's side" not in (row["second_effect_name"] or "")
    whose = "either side’s" if both else "the model’s own"
    interval = ends(row["second_effect_low"], row["second_effect_high"])
    yield (
        f"Without {whose} error of measurement, r would be {number(value)} "
        f"({row['level']:.0%} interval {interval})."
    )


def _standing_out(one: AnchoredModel) -> Iterator[str]:
    """The points that lie clearly off what all items together predict, each by its own test."""
    rows = one.residuals()
    if rows.is_empty():
        return
    clear = [row for row in rows.iter_rows(named=True) if row["p_adjusted"] < CLEAR]
    items = list(one.about.items)
    what = f"all {len(items)} dimensions together" if len(items) > 1 else one.item(items[0])
    if not clear:
        yield (
            f"Predicted from {what} (R² = {number(rows['explained'][0])}), no {one.one} is clearly "
            "higher or lower than expected."
        )
        return
    for row in clear[:MOST_NAMED]:
        yield _stands_out(one, row, what)
    if len(clear) > MOST_NAMED:
        yield f"{len(clear) - MOST_NAMED} more are in tables/."


def _stands_out(one: AnchoredModel, row: Mapping[str, Any], what: str) -> str:
    above = row["residual"] > 0
    if row["quantity"] in NEGATIVE:
        way = "more negative" if above else "less negative"
        said = f"It is far {way} about “{one.called(row['condition'])}” than predicted from {what}"
    else:
        way = "higher" if above else "lower"
        said = f"For “{one.called(row['condition'])}”, it is far {way} than predicted from {what}"
    numbers = f"{number(row['value'])}, predicted {number(row['predicted'])}"
    return f"{said}: {numbers} (corrected {p_said(row['p_adjusted'])})."


def anchors_said(found: Sequence[AnchoredModel]) -> list[str]:
    """A line for each instrument, model and anchor, for the terminal.

    What is not measurable is said there already.
    """
    every = [anchor_said(one) for one in found if one.unmeasurable is None]
    return [
        f"{one.instrument}, {one.model} ({one.anchor}): {one.head}.{one.text and f' {one.text}'}"
        for one in every
    ]
