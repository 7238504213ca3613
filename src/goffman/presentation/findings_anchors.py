"""What is said of a model beside what people said: only what its numbers carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.estimates.clear import CLEAR, points
from goffman.presentation.findings_shares import shares_said
from goffman.presentation.numbers import corrected_said, ends, number, p_said
from goffman.presentation.shown import plain
from goffman.stats.profile import FIXED, at_once

if TYPE_CHECKING:
    from goffman.presentation.anchored import AnchoredModel

Row = Mapping[str, Any]

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


def _numbers(row: Row, sign: str = "r") -> str:
    interval = ""
    if row["effect_low"] is not None:
        interval = f", {row['level']:.0%} interval {ends(row['effect_low'], row['effect_high'])}"
    return f"{sign} = {number(row['effect'])}{interval}, {corrected_said(row)}"


def _head(one: AnchoredModel, rows: Sequence[Row]) -> tuple[str, str]:
    """The strongest clear relation, or that there is none; and its numbers.

    Said plainly is only what ranks and conditions of the same category say too.
    """
    best = _best(rows)
    whole = f" of {best['n'] + best['left_out']}" if best["left_out"] else ""
    every, its = f"{best['n']}{whole} {one.many}", f"Its {one.quantity}"
    item, way = one.item(best["dimension"]), points(best)
    across = f"Across {every}: {_numbers(best)}."
    if way:
        doubted = _doubted(one, best)
        moves = f"{'rises' if way > 0 else 'falls'} with {item}"
        if not doubted:
            return f"{its} {moves}", across
        head = f"Over all {every}, its {one.quantity} {moves}; {_unclear(doubted)}"
        return head, " ".join([across, *_checks(one, best)])
    within = one.row("anchor-partial", best["dimension"])
    if len(rows) == 1:
        head = f"{its} has no clear relation with {item}"
        if within is not None and points(within):
            turns = "rises" if points(within) > 0 else "falls"
            head = (
                f"Over all {every}, its {one.quantity} has no clear relation with {item}; among "
                f"{one.many} of the same {_stratum(one)}, it {turns} with it"
            )
        return head, " ".join([across, *_checks(one, best), *_sides(one)])
    names = [one.item(name) for name in one.about.items]
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    return (
        f"{its} has no clear relation with any of {len(names)} dimensions",
        f"Across {every}, the strongest of {listed} is {item}: {_numbers(best)}.",
    )


def _best(rows: Sequence[Row]) -> Row:
    """The strongest clear one, or the strongest; ``rows``: the strongest first."""
    return next((row for row in rows if points(row)), rows[0])


def _stratum(one: AnchoredModel) -> str:
    return "category" if one.about.point == "condition" else "side of the stereotype"


def _doubted(one: AnchoredModel, row: Row) -> list[str]:
    """The checks that do not clearly say the same as the correlation."""
    checks = (
        ("anchor-rank", "by ranks"),
        ("anchor-partial", f"among {one.many} of the same {_stratum(one)}"),
        ("anchor-without", f"without {one.about.set_apart}"),
    )
    found = ((one.row(kind, row["dimension"]), name) for kind, name in checks)
    return [name for check, name in found if check is not None and points(check) != points(row)]


def _unclear(doubted: Sequence[str]) -> str:
    listed = ", ".join(doubted[:-1])
    return f"{f'{listed} and ' if listed else ''}{doubted[-1]}, this is not clear"


def _checks(one: AnchoredModel, row: Row) -> Iterator[str]:
    """The same by ranks, with the category held constant, and without what is set apart."""
    ranks = one.row("anchor-rank", row["dimension"])
    if ranks is not None:
        yield f"By ranks: {_numbers(ranks, 'ρ')}."
    partial = one.row("anchor-partial", row["dimension"])
    if partial is not None:
        yield (
            f"Among {one.many} of the same {_stratum(one)} ({partial['n']} can be compared): "
            f"{_numbers(partial)}."
        )
    without = one.row("anchor-without", row["dimension"])
    if without is not None:
        yield f"Without the {without['left_out']} {one.about.set_apart}: {_numbers(without)}."


def _sides(one: AnchoredModel) -> Iterator[str]:
    """Of occupations the means of both sides, where opposite patterns can cancel out."""
    groups = one.points.filter(pl.col("item").is_not_null(), pl.col("group").is_not_null())
    means = groups.group_by("group").agg(pl.col("value", "people").mean()).sort("group").rows()
    if one.about.point == "condition" or len(means) < 2:
        return
    item = one.item(next(iter(one.about.items)))
    listed = " and ".join(
        f"{number(value)} for {plain(group)}s ({item}: {number(people)})"
        for group, value, people in means
    )
    yield f"Means: {listed}. Each side has sentences of its own, so compare them with care."


def _more(one: AnchoredModel, rows: Sequence[Row]) -> Iterator[str]:
    best = _best(rows)
    item = best["dimension"]
    others = [row for row in rows if points(row) and row is not best]
    if others:
        listed = "; ".join(
            f"{one.item(row['dimension'])} ({_numbers(row)}"
            f"{f'; {_unclear(doubted)}' if (doubted := _doubted(one, row)) else ''})"
            for row in others
        )
        yield f"Also clear over all {one.many}: {listed}."
    yield from _selected(one, best, len(rows))
    if not _in_head(one, rows):
        yield from _checks(one, best)
    for row in one.rows("anchor-within"):
        if row["dimension"] == item:
            yield f"Within {plain(row['group'])} alone ({row['n']}): {_numbers(row)}."
    yield from _true_scores(best)
    yield from _standing_out(one)
    yield from _covers(one, best["interval_over"])


def _in_head(one: AnchoredModel, rows: Sequence[Row]) -> bool:
    """Whether the checks stand beside the first sentence already."""
    best = _best(rows)
    return bool(_doubted(one, best)) if points(best) else len(rows) == 1


def _selected(one: AnchoredModel, best: Row, tests: int) -> Iterator[str]:
    """That the strongest of several was picked, and the interval that knows of it."""
    wide = at_once(best, tests) if tests > 1 else None
    if wide is not None:
        yield (
            f"{one.item(best['dimension']).capitalize()} is the strongest of {tests}, and the "
            f"strongest tends to come out too strong. p is corrected for that; an interval that "
            f"holds for all {tests} at once is {ends(*wide)}."
        )


def _covers(one: AnchoredModel, over: str | None) -> Iterator[str]:
    """What the intervals are over, and what they say nothing about."""
    if over is None:
        return
    sampled, _, fixed = over.replace("conditions", one.many).partition(FIXED)
    said = f"The intervals cover other {sampled} of the same kind."
    missing = [name for name in ("items", "wordings") if name not in sampled]
    if fixed:
        said += f" Only {fixed} were asked: they say nothing about other {_both(missing)}."
    elif missing:
        said += f" They say nothing about other {_both(missing)}."
    yield f"{said} They are for the numbers as measured."


def _both(names: Sequence[str]) -> str:
    return " or ".join(names)


def _true_scores(row: Row) -> Iterator[str]:
    """What the correlation would be without error of measurement, where that is another."""
    value = row["second_effect"]
    if value is None or number(value) == number(row["effect"]):
        return
    both = "model's side" not in (row["second_effect_name"] or "")
    whose = "either side’s" if both else "the model’s own"
    interval = ends(row["second_effect_low"], row["second_effect_high"])
    rest = "" if both else " The other side’s error is unknown and stays in."
    yield (
        f"Without {whose} error of measurement, r would be {number(value)} "
        f"({row['level']:.0%} interval {interval}).{rest}"
    )


def _standing_out(one: AnchoredModel) -> Iterator[str]:
    """The points that lie clearly off what all items together predict, each by its own test."""
    rows = one.residuals()
    if rows.is_empty():
        return
    clear = [row for row in rows.iter_rows(named=True) if row["p_adjusted"] < CLEAR]
    several = len(one.about.items) > 1
    what = "these together predict" if several else "this predicts"
    if not clear:
        explained = f"R² = {number(rows['explained'][0])}"
        yield f"No {one.one} lies clearly off what {what} ({explained})."
        return
    for row in clear[:MOST_NAMED]:
        yield _stands_out(one, row, what)
    if len(clear) > MOST_NAMED:
        yield f"{len(clear) - MOST_NAMED} more are in tables/."


def _stands_out(one: AnchoredModel, row: Row, what: str) -> str:
    above = row["residual"] > 0
    if row["quantity"] in NEGATIVE:
        way = "more negative" if above else "less negative"
        said = f"It is far {way} about “{one.called(row['condition'])}” than {what}"
    else:
        way = "higher" if above else "lower"
        said = f"For “{one.called(row['condition'])}” it is far {way} than {what}"
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
