"""Sentences that findings share: what was lost to correction, which test, how many are clear."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.estimates.clear import clear, points, side_of_zero
from goffman.presentation.base import Finding
from goffman.presentation.numbers import number, p_said
from goffman.presentation.ratings import ratings_said

if TYPE_CHECKING:
    from goffman.presentation.section import Section

    Row = Mapping[str, Any]


def finding(row: Row, head: str, text: str, more: Iterator[str]) -> Finding:
    """A finding about one estimate, which a bar is drawn for."""
    drawn = {name: row[name] for name in ("difference", "low", "high")}
    return Finding(model=row["model"], head=head, text=text, more=tuple(more), **drawn)


def of_model(rows: pl.DataFrame, model: str) -> pl.DataFrame:
    """The rows of a model, by the name that is shown."""
    return rows.filter(pl.col("model") == model)


def lost(row: Row) -> str:
    """What must be said where the interval alone would have looked clear."""
    if points(row) or not side_of_zero(row):
        return ""
    if row["p_adjusted"] is None:
        return " The interval leaves out 0, but there is no p-value, so it is not called clear."
    if (row["family_size"] or 1) > 1:
        return " The interval alone leaves out 0, but not by enough for this many tests."
    return " The interval leaves out 0, but the test does not call it clear."


def tested_said(row: Row) -> str:
    """The effect size, the test and its correction, and the checks that disagree with it."""
    said = []
    if row["effect"] is not None:
        name, _, how = row["effect_name"].partition(", ")
        said.append(f"{name} = {number(row['effect'])}" + (f" ({how})" if how else ""))
    if row["p"] is not None:
        said.append(_test(row))
    said += _disagreeing(row)
    if row["reason"]:
        said.append(row["reason"])
    return "; ".join(said)


def _test(row: Row) -> str:
    size = row["family_size"] or 1
    if size == 1:
        return f"{row['test']}, one test"
    return f"{row['test']}, {row['correction'].capitalize()}'s correction for {size} tests"


def _disagreeing(row: Row) -> Iterator[str]:
    """The checks that do not say the same as the test, before any correction."""
    for name, p in ((row["check"], row["check_p"]), ("a permutation test", row["permutation_p"])):
        if None not in (p, row["p"]) and (p < 0.05) != (row["p"] < 0.05):
            yield (
                f"{name} over {row['check_over']} disagrees ({p_said(p)} against "
                f"{p_said(row['p'])}, neither corrected)"
            )


def how_many_clear(estimates: pl.DataFrame, what: str) -> str:
    """How many of the contrasts are clear, and how many could not be tested: 3 of 15 settings."""
    count = clear(estimates).height
    said = f"{count or 'none'} of {estimates.height} {what}"
    without = estimates.filter(pl.col("p_adjusted").is_null())
    if not without.height:
        return said
    reasons = without["reason"].drop_nulls().unique(maintain_order=True).to_list()
    why = f": {'; '.join(reasons)}" if reasons else ""
    return f"{said} ({without.height} could not be tested{why})"


def findings_of(section: Section) -> list[Finding]:
    """What stands out about each model, in the order in which they were asked; none is left out."""
    found = list(section.presentation.findings(section))
    silent = [name for name in section.models() if name not in {one.model for one in found}]
    found += [_nothing(section, model) for model in silent]
    order = section.models()
    return [
        replace(one, more=(*one.more, *ratings_said(section, one.model)))
        for one in sorted(found, key=lambda one: order.index(one.model))
    ]


def _nothing(section: Section, model: str) -> Finding:
    """That there is no contrast, and why."""
    rows = of_model(section.shown(section.estimates), model)
    reasons = rows.filter(pl.col("difference").is_null())["reason"].drop_nulls()
    why = "; ".join(reasons.unique(maintain_order=True).head(3)) or "too little was asked"
    return Finding(model=model, head="No difference can be stated", text=f"Why: {why}.")
