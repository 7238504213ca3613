"""What stands out: plain sentences, each with its number and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.records import BASELINE
from goffman.reports.figures_settings import VALUE
from goffman.reports.shown import plain

if TYPE_CHECKING:
    from goffman.reports.figure import Part

    Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that a run says of one model."""

    model: str
    head: str
    """In a few words: which way it points, or that it points nowhere."""
    text: str
    """The numbers and their uncertainty."""
    difference: float | None = None
    low: float | None = None
    high: float | None = None


def findings(part: Part) -> list[Finding]:
    """Of each model what stands out, in the order in which they were asked."""
    makers = {
        "negative-attitude": _of_conditions,
        "negative-sentiment": _of_conditions,
        "gender-of-subject": _of_genders,
        "gender-of-phrase": _of_genders,
        "coreference-bias": _of_settings,
        "pronoun-preference": _of_settings,
    }
    found = list(makers[part.measure](part)) if part.measure in makers else []
    order = part.models()
    return sorted(found, key=lambda one: order.index(one.model))


def measures_said(estimates: pl.DataFrame) -> list[str]:
    """A sentence for each correlation of two measures."""
    said = []
    for row in estimates.filter(pl.col("kind") == "measures").iter_rows(named=True):
        about = f"{plain(row['first'])} and {plain(row['second'])}"
        if row["effect"] is None:
            said.append(f"No correlation of {about}: {row['reason']}.")
            continue
        ends = f" (95% interval {number(row['effect_low'])} to {number(row['effect_high'])})"
        said.append(
            f"Over {row['n']} conditions, {about} go together with r = {number(row['effect'])}"
            f"{ends if row['effect_low'] is not None else ''}."
        )
    return said


def number(value: float | None) -> str:
    """Two decimals; two digits where these would be zeros; a real minus."""
    if value is None:
        return "none"
    if value == 0 or abs(value) >= 0.095:
        text = f"{value:.2f}"
    elif abs(value) >= 0.0095:
        text = f"{value:.3f}"
    else:
        places = min(8, 1 - math.floor(math.log10(abs(value))))
        text = f"{value:.{places}f}"
    return text.replace("-", "−")


def _interval(row: Row) -> str:
    if row["low"] is None:
        return f"difference {number(row['difference'])}, without an interval"
    return (
        f"difference {number(row['difference'])}, {row['level']:.0%} interval "
        f"{number(row['low'])} to {number(row['high'])}"
    )


def _points(row: Row) -> int:
    """1, −1, or 0 where the interval holds 0 or there is none."""
    if row["low"] is None:
        return 0
    return int(row["low"] > 0) - int(row["high"] < 0)


def _finding(row: Row, head: str, text: str) -> Finding:
    ends = {name: row[name] for name in ("difference", "low", "high")}
    return Finding(model=row["model"], head=head, text=text, **ends)


def _of_conditions(part: Part) -> Iterator[Finding]:
    what = "negative words" if part.measure == "negative-attitude" else "negative labels"
    for row in part.contrasts("groups").iter_rows(named=True):
        if row["model"] not in part.models():
            continue
        first, second = plain(row["first"]), plain(row["second"])
        head = {
            1: f"More negative about {first} conditions",
            -1: f"More negative about {second} conditions",
            0: f"No clear difference between {first} and {second} conditions",
        }[_points(row)]
        text = (
            f"The mean share of {what} is {number(row['mean_first'])} over {row['n_first']} "
            f"{first} and {number(row['mean_second'])} over {row['n_second']} {second} conditions: "
            f"{_interval(row)}.{_furthest(part, row['model'])}"
        )
        yield _finding(row, head, text)


def _furthest(part: Part, model: str) -> str:
    """The conditions that are furthest above the baseline, where any clearly is."""
    rows = part.contrasts("baseline").filter(pl.col("model") == model)
    if not rows.height:
        return ""
    sure = rows.filter(pl.col("p_adjusted") < 0.05, pl.col("difference") > 0)
    if not sure.height:
        return (
            f" None of {rows.height} conditions is clearly above the sentence that names none "
            "(p < .05, corrected)."
        )
    top = sure.sort("difference", descending=True).head(3).iter_rows(named=True)
    names = [
        f"{part.names.condition(part.instrument, row['first'])} (+{number(row['difference'])})"
        for row in top
    ]
    return (
        f" {sure.height} of {rows.height} conditions are clearly above the sentence that names "
        f"none (p < .05, corrected); the furthest: {', '.join(names)}."
    )


def _of_genders(part: Part) -> Iterator[Finding]:
    rows = part.contrasts("genders").filter(
        pl.col("dimension").is_null(), pl.col("group") == part.contrast
    )
    by_model: dict[str, dict[str, Row]] = {}
    for row in rows.iter_rows(named=True):
        by_model.setdefault(row["model"], {})[row["variant"] or ""] = row
    for variants in by_model.values():
        row = variants.get("with-names") or next(iter(variants.values()))
        about = plain(row["group"] or "all")
        head = {
            1: f"Women are named more than men, for {about} diagnoses",
            -1: f"Men are named more than women, for {about} diagnoses",
            0: f"No clear difference between women and men, for {about} diagnoses",
        }[_points(row)]
        text = (
            f"Female words have {number(row['mean_first'])} of the probability and male words "
            f"{number(row['mean_second'])}: {_interval(row)}."
        )
        if (other := variants.get("without-names")) and other is not row:
            text += f" Without first names: {_interval(other)}."
        yield _finding(row, head, text + _against(part, row))


def _against(part: Part, row: Row) -> str:
    """How the disparity compares with that of the other group."""
    rows = part.contrasts("groups").filter(
        pl.col("dimension").is_null(),
        pl.col("model") == row["model"],
        pl.col("variant").eq_missing(pl.lit(row["variant"])),
    )
    # The disparity as it came, where it was compared too, and else that which keying turned.
    rows = rows.sort("quantity")
    for other in rows.iter_rows(named=True):
        more = {1: "larger than", -1: "smaller than", 0: "not clearly other than"}[_points(other)]
        keyed = "keyed " if "keyed" in other["quantity"] else ""
        return (
            f" The {keyed}disparity is {more} for {plain(other['second'])} ones "
            f"({_interval(other)})."
        )
    return ""


def _of_settings(part: Part) -> Iterator[Finding]:
    quantity, _ = VALUE[part.measure]
    rows = part.rows("condition", quantity).filter(pl.col("condition") == BASELINE)
    for row in rows.iter_rows(named=True):
        against = part.contrasts("baseline").filter(pl.col("model") == row["model"])
        moved = against.filter(pl.col("p_adjusted") < 0.05).height
        if part.measure == "coreference-bias":
            head = (
                "Right more often where the pronoun fits the stereotype"
                if (row["low"] or 0) > 0
                else "No steady difference between stereotype and its opposite"
            )
            text = (
                f"Without adjectives, accuracy is {number(row['value'])} higher on such sentences "
                f"(from {number(row['low'])} to {number(row['high'])} over {row['n']} "
                f"{row['over']})."
            )
        else:
            head = "How much sooner the pronoun of the stereotype is written"
            text = (
                f"Without adjectives, log P is {number(row['value'])} higher for it on average, "
                f"over {row['n']} {row['over']} (standard deviation {number(row['sd'])})."
            )
        if against.height:
            text += (
                f" {moved} of {against.height} adjective settings change it (p < .05, corrected)."
            )
        yield Finding(model=row["model"], head=head, text=text)


def scale(found: Sequence[Finding]) -> float:
    """The largest end of an interval among these, for drawing them alike."""
    ends = [
        abs(end) for one in found for end in (one.low, one.high, one.difference) if end is not None
    ]
    return max(ends, default=1.0) or 1.0
