"""What scores and estimates say, in sentences: numbers with their uncertainty, no one score."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.records import BASELINE

if TYPE_CHECKING:
    Row = dict[str, Any]


def summary(scores: pl.DataFrame, estimates: pl.DataFrame) -> list[str]:
    """Lines: of each instrument and model a heading and sentences, then what two measures share."""
    lines: list[str] = []
    asked = scores.filter(pl.col("model").is_not_null()).select("instrument", "measure", "model")
    for instrument, measure, model in asked.unique().sort("instrument", "model").rows():
        sayings = SAYINGS.get(measure)
        if sayings is None:
            continue
        of_model = scores.filter(pl.col("instrument") == instrument, pl.col("model") == model)
        found = estimates.filter(pl.col("instrument") == instrument, pl.col("model") == model)
        lines.append(f"{instrument}, {model}")
        lines += [f"  {saying}" for saying in sayings(of_model, found)]
    for row in _kind(estimates, "measures"):
        about = f"{row['first']} with {row['second']}, over {row['n']} conditions"
        lines += [about, f"  {_r(row)}."]
    return lines


def _of_conditions(scores: pl.DataFrame, estimates: pl.DataFrame) -> Iterator[str]:
    what = "negative words" if scores["measure"][0] == "negative-attitude" else "negative outcomes"
    for row in _kind(estimates, "groups"):
        first, second = (_number(row[f"mean_{side}"]) for side in ("first", "second"))
        yield (
            f"The mean share of {what} is {first} over {row['first']} conditions and {second} over "
            f"{row['second']} ones; {_difference(row)}."
        )
    yield from _of_outcomes(scores)
    conditions = scores.filter(pl.col("level") == "condition", pl.col("quantity") == "negative")
    of_groups = [
        f"{of.filter(pl.col('value') > 0.5).height} of {of.height} {group}"
        for (group,), of in conditions.partition_by("group", as_dict=True).items()
        if group != BASELINE
    ]
    if of_groups:
        yield f"Above one half are {' and '.join(of_groups)} conditions."
    of_wordings = scores.filter(
        pl.col("quantity") == "negative-gap",
        pl.col("wording").is_not_null(),
        pl.col("value").is_not_null(),
    )
    gaps = sorted(of_wordings["value"])
    if len(gaps) > 1:
        ends = f"{_number(gaps[0])} to {_number(gaps[-1])}"
        yield f"Over {len(gaps)} wordings the difference is {ends}."
    yield from _of_words(scores)


def _of_outcomes(scores: pl.DataFrame) -> Iterator[str]:
    """The study's share, of a classifier: there each sentence counts once, not each condition."""
    outcomes = scores.filter(
        pl.col("measure") == "negative-sentiment",
        pl.col("level") == "group",
        pl.col("quantity") == "negative",
        pl.col("group") != BASELINE,
        pl.col("value").is_not_null(),
    ).sort("group", descending=True)
    said = [
        f"{_number(row['value'])} of {row['n']:,} {row['group']}"
        for row in outcomes.iter_rows(named=True)
    ]
    if said:
        yield (
            f"Counted by sentence, so that a condition with more forms counts more, "
            f"{' and '.join(said)} outcomes are negative."
        )


def _of_words(scores: pl.DataFrame) -> Iterator[str]:
    """How much of the probability the numbers rest on."""
    about = {
        row["quantity"]: row
        for row in scores.filter(pl.col("level") == "model").iter_rows(named=True)
    }
    if "mass" in about and about["mass"]["value"] is not None:
        mass, rated = about["mass"], about["rated-share"]
        yield (
            f"The words counted have {_number(mass['value'])} of the probability (at least "
            f"{_number(mass['low'])}), and {_number(rated['value'])} of that is rated (at least "
            f"{_number(rated['low'])})."
        )
    bounds = scores.filter(
        pl.col("level") == "group",
        pl.col("wording").is_null(),
        pl.col("quantity").is_in(["lowest", "highest"]),
        pl.col("group") != BASELINE,
    ).sort("quantity", descending=True)
    said = [
        f"{' to '.join(_number(end) for end in of['value'])} for {group}"
        for (group,), of in bounds.partition_by("group", as_dict=True).items()
    ]
    if said:
        yield f"Were every unrated word positive, or negative: {', '.join(said)} conditions."


def _of_genders(scores: pl.DataFrame, estimates: pl.DataFrame) -> Iterator[str]:
    whole = estimates.filter(pl.col("dimension").is_null())
    for row in _kind(whole, "genders"):
        female, male = (_number(row[f"mean_{side}"]) for side in ("first", "second"))
        about = f"{row['group'].capitalize()}, {_plain(row['variant'])}"
        yield f"{about}: female {female}, male {male}; {_difference(row)}."
    for row in _kind(whole, "groups"):
        turned = ", the sign turned for reversed items" if "keyed" in row["quantity"] else ""
        yield (
            f"{row['quantity'].capitalize().replace('-', ' ')} (female − male{turned}), "
            f"{_plain(row['variant'])}: {_number(row['mean_first'])} for {row['first']} and "
            f"{_number(row['mean_second'])} for {row['second']}; {_difference(row)}."
        )
    neither = scores.filter(pl.col("level") == "group", pl.col("quantity") == "unspecified")
    wordings = sorted(neither["wording"].drop_nulls().unique())
    if wordings:
        # As the estimates: of the first wording; a second one is compared with it apart.
        neither = neither.filter(pl.col("wording") == wordings[0])
    if neither.height:
        said = [
            f"{_number(row['value'])} ({row['group']}, {_plain(row['variant'])})"
            for row in neither.sort("group", "variant").iter_rows(named=True)
        ]
        yield f"Words or phrases that name neither have {', '.join(said)}."
    parts = estimates.filter(pl.col("kind") == "genders", pl.col("dimension").is_not_null())
    for (variant,), of in parts.partition_by("variant", as_dict=True, maintain_order=True).items():
        yield (
            f"{str(_plain(variant)).capitalize()}, female and male differ in {_differing(of)} of "
            f"{of.height} subscales × groups ({_corrected(of)}){_untested(of)}."
        )


def _of_settings(scores: pl.DataFrame, estimates: pl.DataFrame) -> Iterator[str]:
    plain = scores.filter(
        pl.col("level") == "condition",
        pl.col("condition") == BASELINE,
        pl.col("quantity").is_in(["bias", "preference"]),
    )
    for row in plain.iter_rows(named=True):
        # Smallest and largest are said to be so: as bare numbers they would pass for an interval.
        spread = f"the smallest {_number(row['low'])}, the largest {_number(row['high'])}"
        over = (
            f"1 {row['over'].removesuffix('s')}" if row["n"] == 1 else f"{row['n']} {row['over']}"
        )
        of = over if row["n"] < 2 else f"mean of {over}, {spread}"
        yield f"The {row['quantity']} without adjectives is {_number(row['value'])} ({of})."
    yield from _of_replies(scores)
    for kind in ("baseline", "pairs"):
        against = estimates.filter(pl.col("kind") == kind)
        if against.height:
            over = OVER[against["unit"][0]]
            yield (
                f"{_differing(against)} of {against.height} settings differ from it, over {over} "
                f"({_corrected(against)}){_untested(against)}."
            )
    moved = estimates.filter(pl.col("kind") == "baseline", pl.col("difference").is_not_null())
    moved = moved.sort("difference")
    if moved.height > 1:
        ends = [f"{_number(moved['difference'][at])} ({moved['first'][at]})" for at in (0, -1)]
        yield f"The settings move it by {' to '.join(ends)}."


def _of_replies(scores: pl.DataFrame) -> Iterator[str]:
    """What a bias rests on: of replies that no one can read there is none either."""
    replies = scores.filter(
        pl.col("level") == "prompt",
        pl.col("quantity").is_in(list(KINDS)),
        pl.col("value").is_not_null(),
    )
    shares = dict(replies.group_by("quantity").agg(pl.col("value").mean()).rows())
    if shares:
        said = [f"{_number(shares.get(kind, 0.0))} {KINDS[kind]}" for kind in KINDS]
        count = replies.filter(pl.col("quantity") == "correct").height
        yield f"Of {count:,} replies {', '.join(said[:-1])} and {said[-1]}."


KINDS = {
    "correct": "name the right person",
    "incorrect": "name the other one",
    "unsure": "are unsure",
    "other": "say something else",
    "refusal": "refuse",
}
"""Kinds of replies, in words."""

SAYINGS = {
    "negative-attitude": _of_conditions,
    "negative-sentiment": _of_conditions,
    "gender-of-subject": _of_genders,
    "gender-of-phrase": _of_genders,
    "coreference-bias": _of_settings,
    "pronoun-preference": _of_settings,
}
"""Measure → its sentences."""


OVER = {"trials": "repeated trials of these sentences", "sentence pairs": "sentence pairs"}
"""What a contrast of settings counts, in words."""


def _kind(estimates: pl.DataFrame, kind: str) -> Iterator[Row]:
    return estimates.filter(pl.col("kind") == kind).iter_rows(named=True)


def _differing(estimates: pl.DataFrame) -> int:
    return estimates.filter(pl.col("p_adjusted") < 0.05).height


def _untested(estimates: pl.DataFrame) -> str:
    """How many of the contrasts have no p, and why: they do not count as alike."""
    without = estimates.filter(pl.col("p_adjusted").is_null())
    if not without.height:
        return ""
    reasons = without["reason"].drop_nulls().unique(maintain_order=True).to_list()
    why = f" ({'; '.join(reasons)})" if reasons else ""
    return f"; {without.height} of them could not be tested{why}"


def _corrected(estimates: pl.DataFrame) -> str:
    """How the p-values of a count were corrected."""
    names = sorted(estimates["correction"].drop_nulls().unique())
    return f"p < .05 after {' and '.join(name.capitalize() for name in names) or 'no correction'}"


def _difference(row: Row) -> str:
    """The difference with interval, effect size and p, or why there is none."""
    if row["difference"] is None:
        return f"no difference: {row['reason']}"
    parts = [f"difference {_number(row['difference'])}"]
    if row["low"] is not None:
        ends = f"{_number(row['low'])} to {_number(row['high'])}"
        parts.append(f"{row['level']:.0%} interval of this contrast alone {ends}")
    if row["effect"] is not None:
        parts.append(f"{row['effect_name']}: {row['effect']:.2f}")
    parts += [_p(row), *_checks(row)]
    if row["reason"]:
        parts.append(row["reason"])
    return "; ".join(parts)


def _r(row: Row) -> str:
    if row["effect"] is None:
        return f"No correlation: {row['reason']}"
    ends = ""
    if row["effect_low"] is not None:
        ends = f", {row['level']:.0%} interval {row['effect_low']:.2f} to {row['effect_high']:.2f}"
    return f"{row['effect_name']} {row['effect']:.2f}{ends}, {_p(row)}"


def _p(row: Row) -> str:
    p = row["p_adjusted"]
    if p is None:
        return "no p"
    size = row["family_size"]
    tests = "1 test" if size == 1 else f"{row['correction'].capitalize()} over {size} tests"
    return f"{'p < .001' if p < 0.001 else f'p = {p:.3f}'} ({row['test']}, {tests})"


def _checks(row: Row) -> Iterator[str]:
    """The checks that do not say the same as the test, before any correction."""
    for name, p in ((row["check"], row["check_p"]), ("a permutation", row["permutation_p"])):
        if None not in (p, row["p"]) and (p < 0.05) != (row["p"] < 0.05):
            yield (
                f"not so by {name} over {row['check_over']} (p = {p:.3f} against {row['p']:.3f}, "
                "neither corrected)"
            )


def _plain(variant: str | None) -> str:
    return (variant or "all words").replace("-", " ")


def _number(value: float | None) -> str:
    """Three decimals; two digits where these would be zeros."""
    if value is None:
        return "none"
    if abs(value) < 1e-12:
        # What sums of floats leave of 0.
        return "0.000"
    return f"{value:.3f}" if abs(value) >= 0.0005 else f"{value:.2g}"
