"""What is said of a model beside what people said: only what its numbers carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.estimates.clear import CLEAR, points
from goffman.estimates.sharing import FEMALE
from goffman.presentation.findings_shares import shares_said
from goffman.presentation.numbers import corrected_said, ends, number, p_said
from goffman.presentation.shown import in_list, plain
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
    not_covered: str = ""
    """What its intervals say nothing about; a part of ``more`` as well."""


def anchor_said(one: AnchoredModel) -> AnchorSaid:
    """The sentences for one model; of one that cannot do the task, only that."""
    if failing := one.unmeasurable:
        return _saying(one, f"Not stated: {failing.model} is {failing.mark}", "")
    if one.about.compare == "difference":
        return _with_style(one, _saying(one, *shares_said(one)))
    rows = one.rows("anchor")
    if not rows:
        reasons = one.estimates["reason"].drop_nulls().unique(maintain_order=True).to_list()
        why = reasons[0] if reasons else "there are too few values"
        return _saying(one, f"Nothing could be correlated: {why}", "")
    said = _saying(one, *_head(one, rows), *_more(one, rows))
    return _with_style(one, replace(said, not_covered=_not_covered(one, _best(rows))))


def _with_style(one: AnchoredModel, said: AnchorSaid) -> AnchorSaid:
    """What is said; a way of answering that heeds no question is said in its place, and it after.

    What such a model has in common with people, or not, is no attitude.
    """
    style = one.section.presentation.style
    head = style(one.section, one.shown) if style else ""
    if not head:
        return said
    text = f"So what it answers says little, also beside people. {said.head}. {said.text}"
    return replace(said, head=head, text=text.strip())


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
    item, way = one.explained(best["dimension"]), points(best)
    across = f"Across {every}: {_numbers(best)}."
    if way:
        doubted = doubted_by(one, best)
        moves = f"{'rises' if way > 0 else 'falls'} as {item} rises"
        also = [*_also(one, rows, best)]
        if not doubted:
            return f"{its} {moves}{_others(rows)}", " ".join([across, *also])
        moves = f"{moves}; this is {_not_clear(doubted)}"
        head = f"Over all {every}, its {one.quantity} {moves}{_others(rows)}"
        return head, " ".join([across, *_checks(one, best), *also])
    within = one.row("anchor-partial", best["dimension"])
    if len(rows) == 1:
        head = f"{its} has no clear relation with {item}"
        if within is not None and points(within):
            turns = "rises" if points(within) > 0 else "falls"
            head = (
                f"Over all {every}, its {one.quantity} has no clear relation with {item}; in a "
                f"second look, {_alike(one)}, it {turns} as {one.item(best['dimension'])} rises"
                f"{_in_one_group(one, within)}"
            )
        alone = _within(one, best["dimension"])
        return head, " ".join([across, *_checks(one, best), *alone, *_sides(one)])
    others = [one.item(name) for name in one.about.items if name != best["dimension"]]
    text = (
        f"Across {every}, the strongest correlation is with {item}: {_numbers(best)}. The other "
        f"dimensions are {in_list(others)}."
    )
    text = " ".join([text, *_strongest_without(one, best)])
    return f"{its} has no clear relation with any of {len(others) + 1} dimensions", text


def _others(rows: Sequence[Row]) -> str:
    """That the strongest relation is not the only clear one, at the end of the heading."""
    count = sum(1 for row in rows if points(row)) - 1
    if not count:
        return ""
    return f"; r is also clear for {count} other dimension{'s' if count > 1 else ''}"


def _in_one_group(one: AnchoredModel, within: Row) -> str:
    """In which groups alone a relation is clear, where it is not in all."""
    rows = [row for row in one.rows("anchor-within") if row["dimension"] == within["dimension"]]
    clear = [_of_group(one, row["group"]) for row in rows if points(row) == points(within)]
    if not clear or len(clear) == len(rows):
        return ""
    others = [_of_group(one, row["group"]) for row in rows if points(row) != points(within)]
    return f" (alone, clearly among {in_list(clear)}, not clearly among {in_list(others)})"


def _best(rows: Sequence[Row]) -> Row:
    """The strongest clear one, or the strongest; ``rows``: the strongest first."""
    return next((row for row in rows if points(row)), rows[0])


def _alike(one: AnchoredModel) -> str:
    """How points are compared where only those of the same kind are."""
    if one.about.point == "condition":
        return f"among {one.many} of the same category"
    return f"with the difference between women's and men's {one.many} taken out"


def doubted_by(one: AnchoredModel, row: Row) -> list[str]:
    """The checks that do not clearly say the same as the correlation."""
    checks = (
        ("anchor-rank", "by rank correlation"),
        ("anchor-partial", _alike(one)),
        ("anchor-without", f"without {one.about.set_apart}"),
    )
    found = ((one.row(kind, row["dimension"]), name) for kind, name in checks)
    return [name for check, name in found if check is not None and points(check) != points(row)]


def _not_clear(checks: Sequence[str]) -> str:
    """That none of the checks is clear; “and” could mean only all of them together."""
    if len(checks) == 1:
        return f"not clear {checks[0]}"
    return f"clear neither {' nor '.join(checks)}"


def _checks(one: AnchoredModel, row: Row) -> Iterator[str]:
    """The same by ranks, with the category held constant, and without what is set apart."""
    ranks = one.row("anchor-rank", row["dimension"])
    if ranks is not None:
        yield f"By ranks: {_numbers(ranks, 'ρ')}."
    partial = one.row("anchor-partial", row["dimension"])
    if partial is not None:
        alike = _alike(one)
        count = f"{partial['n']} {one.many} can be compared"
        if one.about.point != "condition":
            count = f"{partial['n']} {one.many} in all"
        yield f"{alike[0].upper()}{alike[1:]}, {count}: {_numbers(partial)}."
    without = one.row("anchor-without", row["dimension"])
    if without is not None:
        yield f"Without the {without['left_out']} {one.about.set_apart}: {_numbers(without)}."
        if points(row) and points(one.rows("anchor-without")[0]):
            yield from _strongest_without(one, row, "The strongest is then")


def _strongest_without(one: AnchoredModel, row: Row, begins: str = "") -> Iterator[str]:
    """Without what is set apart another relation may be the strongest."""
    found = one.rows("anchor-without")
    if found and (strongest := found[0])["dimension"] != row["dimension"]:
        apart = f"Without the {strongest['left_out']} {one.about.set_apart}, the strongest is"
        yield f"{begins or apart} {one.item(strongest['dimension'])}: {_numbers(strongest)}."


def _within(one: AnchoredModel, item: str) -> Iterator[str]:
    """The correlation within each group alone."""
    for row in one.rows("anchor-within"):
        if row["dimension"] == item:
            yield f"Among the {row['n']} {_of_group(one, row['group'])} alone: {_numbers(row)}."


def _sides(one: AnchoredModel) -> Iterator[str]:
    """Of occupations the means of both sides, where opposite patterns can cancel out."""
    groups = one.points.filter(pl.col("item").is_not_null(), pl.col("group").is_not_null())
    means = groups.group_by("group").agg(pl.col("value", "people").mean()).sort("group").rows()
    if one.about.point == "condition" or len(means) < 2:
        return
    item = one.item(next(iter(one.about.items)))
    listed = " and ".join(
        f"{number(value)} for {_of_group(one, group)} ({item}: {number(people)})"
        for group, value, people in means
    )
    tested = "Their difference was not tested."
    if "preference" in one.quantity:
        tested = (
            "Half of their difference, computed by sentence instead of by occupation, is the main "
            f"result of {one.section.instrument}."
        )
    yield (
        f"The mean {one.quantity}{one.unit} is {listed}; each occupation counts once. {tested} "
        "Each sentence names two occupations, one from each group, so these means do not show "
        "whether the model knows which of the two the pronoun refers to."
    )


def _also(one: AnchoredModel, rows: Sequence[Row], best: Row) -> Iterator[str]:
    """The other relations that are clear: the strongest must not read as the only one."""
    others = [row for row in rows if points(row) and row is not best]
    if others:
        listed = in_list(
            [
                f"{one.item(row['dimension'])} ({_numbers(row)}"
                f"{f'; {_not_clear(doubted)}' if (doubted := doubted_by(one, row)) else ''})"
                for row in others
            ]
        )
        yield f"Over all {one.many}, r is also clear for {listed}."


def _more(one: AnchoredModel, rows: Sequence[Row]) -> Iterator[str]:
    best = _best(rows)
    item = best["dimension"]
    yield from _selected(one, best, len(rows))
    if not _in_head(one, rows):
        yield from _checks(one, best)
    if len(rows) > 1:
        yield from _within(one, item)
    yield from _true_scores(one, best)
    yield from _standing_out(one)
    yield from _covers(one, best)


def _in_head(one: AnchoredModel, rows: Sequence[Row]) -> bool:
    """Whether the checks stand beside the first sentence already."""
    best = _best(rows)
    return bool(doubted_by(one, best)) if points(best) else len(rows) == 1


def _selected(one: AnchoredModel, best: Row, tests: int) -> Iterator[str]:
    """That the strongest of several was picked, and the interval that knows of it."""
    wide = at_once(best, tests) if tests > 1 else None
    if wide is not None:
        yield (
            f"The correlation with {one.item(best['dimension'])} is the strongest of {tests}, and "
            "the strongest tends to be overestimated. Its p is corrected for that. Widened to "
            f"allow for all {tests} correlations, its interval is {ends(*wide)}."
        )


def _covers(one: AnchoredModel, best: Row) -> Iterator[str]:
    """How the intervals were made, what they are over, and what they say nothing about."""
    over = best["interval_over"]
    if over is None:
        return
    sampled = over.replace("conditions", one.many).partition(FIXED)[0]
    by = " (jackknife, on Fisher’s z)" if "jackknife" in (best["method"] or "") else ""
    said = [f"The intervals{by} cover other {sampled} of the same kind."]
    said += filter(None, [_not_covered(one, best)])
    yield " ".join([*said, "They do not correct for error of measurement, unless this is said."])


def _not_covered(one: AnchoredModel, best: Row) -> str:
    """What the intervals say nothing about, and why; empty: they cover all, or there are none."""
    if best["interval_over"] is None:
        return ""
    sampled, _, fixed = best["interval_over"].replace("conditions", one.many).partition(FIXED)
    missing = [name for name in ("items", "wordings") if name not in sampled]
    if not missing:
        return ""
    others = "sentences" if len(missing) == 2 else missing[0]
    why = f"Only {fixed} were asked, so the" if fixed else "The"
    return f"{why} intervals say nothing about other {others}."


def _of_group(one: AnchoredModel, group: str) -> str:
    """The points of a group, in the plural; occupations are grouped by whose they mostly are."""
    if one.about.point == "condition":
        return f"{plain(group)} {one.many}"
    return f"{'women' if group == FEMALE else 'men'}'s {one.many}"


def _true_scores(one: AnchoredModel, row: Row) -> Iterator[str]:
    """What the correlation would be without error of measurement, where that is another."""
    value = row["second_effect"]
    if value is None or number(value) == number(row["effect"]):
        return
    both = "model's side" not in (row["second_effect_name"] or "")
    whose = "either side’s" if both else "the model’s own"
    interval = ends(row["second_effect_low"], row["second_effect_high"])
    theirs = f" The error of measurement in the data about {one.about.whose} is unknown."
    rest = "" if both else theirs
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


def _stands_out(one: AnchoredModel, row: Row, what: str) -> str:
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
        " ".join(
            filter(
                None,
                [
                    f"{one.instrument}, {one.model} ({one.anchor}): {one.head}.",
                    one.text,
                    one.not_covered,
                ],
            )
        )
        for one in every
    ]
