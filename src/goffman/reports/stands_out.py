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
    from goffman.reports.shown import Names

    Row = dict[str, Any]


CLEAR = 0.05
"""A corrected p below this is called clear, where the interval says so too."""


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


def correlations(estimates: pl.DataFrame) -> list[Row]:
    """The correlations of two measures, each once.

    Where one model answered each of the two, "over all models" says the same as the pair of them.
    """
    rows = estimates.filter(pl.col("kind") == "measures").to_dicts()
    pairs = {(row["n"], row["effect"]) for row in rows if _OF in row["first"]}
    return [
        row
        for row in rows
        if _OF in row["first"] or row["effect"] is None or (row["n"], row["effect"]) not in pairs
    ]


def measures_said(estimates: pl.DataFrame, names: Names) -> list[str]:
    """A sentence for each correlation of two measures."""
    said = []
    for row in correlations(estimates):
        first, second = (_side(row[name], names) for name in ("first", "second"))
        if row["effect"] is None:
            said.append(f"No correlation of {first} and {second}: {row['reason']}.")
            continue
        sure = row | {"low": row["effect_low"], "high": row["effect_high"]}
        head = {
            1: f"the higher the {first}, the higher the {second}",
            -1: f"the higher the {first}, the lower the {second}",
            0: f"{first} and {second} show no clear relation",
        }[points(sure)]
        ends = ""
        if row["effect_low"] is not None:
            low, high = number(row["effect_low"]), number(row["effect_high"])
            ends = f", {row['level']:.0%} interval {low} to {high}"
        said.append(
            f"Over {row['n']} conditions, {head}: r = {number(row['effect'])}{ends}{_p(row)}."
        )
    return said


DUST = 1e-12
"""What is nearer to 0 is what sums of floats leave of it."""

_OF = " of "


def _side(text: str, names: Names) -> str:
    """One side of a correlation: a measure, and of which model as it is shown."""
    measure, of, model = text.partition(_OF)
    return f"{plain(measure)}{of}{names.model(model)}" if of else plain(measure)


def number(value: float | None) -> str:
    """Two decimals; two digits where these would be zeros; a real minus."""
    if value is None:
        return "none"
    if abs(value) < DUST:
        text = "0.00"
    elif abs(value) >= 0.095:
        text = f"{value:.2f}"
    elif abs(value) >= 0.0095:
        text = f"{value:.3f}"
    else:
        places = 1 - math.floor(math.log10(abs(value)))
        text = f"{value:.{places}f}" if places <= 8 else f"{value:.1e}"
    return text.replace("-", "−")


def _interval(row: Row) -> str:
    """The difference, its interval, and its p-value with the number of tests behind it."""
    if row["low"] is None:
        return f"difference {number(row['difference'])}, without an interval{_p(row)}"
    return (
        f"difference {number(row['difference'])}, {row['level']:.0%} interval "
        f"{number(row['low'])} to {number(row['high'])}{_p(row)}"
    )


def _p(row: Row) -> str:
    if row["p_adjusted"] is None:
        return ", no p-value"
    size = row["family_size"] or 1
    tests = f" corrected for {size} tests" if size > 1 else ""
    return f", {p_said(row['p_adjusted'])}{tests}"


def p_said(p: float) -> str:
    """A p-value as it stands in a sentence."""
    if p < 0.001:
        return "p < .001"
    places = 2 if p >= 0.1 else 3
    # What is below .05 must not be rounded up to it.
    while p < CLEAR <= round(p, places):
        places += 1
    return "p = " + (f"{p:.{places}f}".lstrip("0") if p < 0.995 else "1")


def points(row: Row) -> int:
    """1 or −1: which way a contrast clearly points; 0: it does not.

    Clear is what both say: the interval lies on one side of 0, and the corrected p is below .05.
    """
    side = _side_of_zero(row)
    return 0 if (row["p_adjusted"] or 0) >= CLEAR else side


def _side_of_zero(row: Row) -> int:
    """1 or −1: on which side of 0 the interval lies; 0: it holds 0, or there is none."""
    if row["low"] is None:
        return 0
    return int(row["low"] > 0) - int(row["high"] < 0)


def _lost(row: Row) -> str:
    """What is to be said where an interval alone would have looked clear."""
    if points(row) or not _side_of_zero(row):
        return ""
    if (row["family_size"] or 1) > 1:
        return " The interval alone leaves 0 out, but not by enough for the number of tests."
    return " The interval leaves 0 out, but the test does not call it clear."


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
        }[points(row)]
        text = (
            f"The mean share of {what} is {number(row['mean_first'])} over {row['n_first']} "
            f"{first} and {number(row['mean_second'])} over {row['n_second']} {second} conditions: "
            f"{_interval(row)}.{_lost(row)}{_furthest(part, row['model'])}"
        )
        yield _finding(row, head, text)


def _furthest(part: Part, model: str) -> str:
    """How many conditions are above the baseline, how many clearly, and the furthest of these."""
    rows = part.contrasts("baseline").filter(pl.col("model") == model)
    if not rows.height:
        return ""
    tested = rows.filter(pl.col("p_adjusted").is_not_null())
    above = rows.filter(pl.col("difference") > 0)
    sure = tested.filter(pl.col("p_adjusted") < CLEAR, pl.col("difference") > 0)
    said = (
        f" {above.height} of {rows.height} conditions are above the sentence that names none, "
        f"{sure.height or 'none'} of them clearly"
    )
    if above.height == 0:
        return f" None of {rows.height} conditions is above the sentence that names none."
    if tested.height < rows.height:
        # Two sentences that are labelled alike say nothing of how labels vary.
        said += f"; only {tested.height} could be tested, as the others' answers do not vary"
    names = [
        f"{part.called(row['first'])} (+{number(row['difference'])})"
        for row in sure.sort("difference", descending=True).head(3).iter_rows(named=True)
    ]
    return f"{said}; the furthest: {', '.join(names)}." if names else f"{said}."


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
        }[points(row)]
        text = (
            f"Female words have {number(row['mean_first'])} of the probability and male words "
            f"{number(row['mean_second'])}: {_interval(row)}.{_lost(row)}"
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
        more = {1: "larger than", -1: "smaller than", 0: "not clearly other than"}[points(other)]
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
        head, text = _SETTINGS[part.measure](row)
        text += _moved(against)
        ends = {}
        if part.measure == "pronoun-preference":
            ends = dict(zip(("difference", "low", "high"), _mean_interval(row), strict=True))
        yield Finding(model=row["model"], head=head, text=text, **ends)


def _moved(against: pl.DataFrame) -> str:
    """How many adjective settings clearly move the number."""
    if not against.height:
        return ""
    moved = against.filter(pl.col("p_adjusted") < CLEAR).height
    changed = "None" if not moved else str(moved)
    verb = "change" if moved > 1 else "changes"
    return f" {changed} of {against.height} adjective settings clearly {verb} it."


def _bias(row: Row) -> tuple[str, str]:
    head = "No steady difference between stereotype and its opposite"
    if row["low"] is not None and row["low"] > 0:
        head = "Right more often where the pronoun fits the stereotype"
    if row["high"] is not None and row["high"] < 0:
        head = "Right more often where the pronoun goes against the stereotype"
    return head, (
        f"Without adjectives, accuracy on sentences that fit the stereotype minus accuracy on "
        f"those that do not is {number(row['value'])} (from {number(row['low'])} to "
        f"{number(row['high'])} over {row['n']} {row['over']})."
    )


def _preference(row: Row) -> tuple[str, str]:
    value, low, high = _mean_interval(row)
    head = "No clear preference for the pronoun of the stereotype, or against it"
    if low is not None and low > 0:
        head = "The pronoun of the stereotype is preferred"
    if high is not None and high < 0:
        head = "The pronoun that goes against the stereotype is preferred"
    ends = "" if low is None else f" (95% interval {number(low)} to {number(high)})"
    return head, (
        f"Without adjectives, log P of the pronoun of the stereotype minus log P of the other is "
        f"{number(value)} on average{ends}, over {row['n']} {row['over']}: typically it is "
        f"{math.exp(value):.2f} times as probable as the other."
    )


def _mean_interval(row: Row) -> tuple[float, float | None, float | None]:
    """The mean of a row of scores with its 95% interval by Student's t, over what it counts."""
    value = float(row["value"])
    if row["sd"] is None or row["n"] < 2:
        return value, None, None
    # The quantile alone: scipy.stats takes seconds to load.
    from scipy.special import stdtrit

    half = float(stdtrit(row["n"] - 1, 0.975)) * row["sd"] / math.sqrt(row["n"])
    return value, value - half, value + half


_SETTINGS = {"coreference-bias": _bias, "pronoun-preference": _preference}


def scale(found: Sequence[Finding]) -> float:
    """The largest end of an interval among these, for drawing them alike."""
    ends = [
        abs(end) for one in found for end in (one.low, one.high, one.difference) if end is not None
    ]
    return max(ends, default=1.0) or 1.0
