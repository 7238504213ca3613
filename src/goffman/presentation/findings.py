"""Sentences that findings share: what was lost to correction, which test, how many are clear."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.contrasts.designs import GAP_OF, INTERACTION
from goffman.contrasts.identities import identities_of
from goffman.contrasts.verdict import (
    INCONCLUSIVE,
    NEGLIGIBLE,
    NOT_MEASURABLE,
    PRESENT,
    RELEVANT,
    SENTENCES_ONLY,
    rows_apart_from_zero,
)
from goffman.formatting import (
    describe_difference,
    describe_factors,
    ends,
    humanize,
    number,
    verdict_shown,
)
from goffman.instruments.types import BASELINE
from goffman.presentation.caveats import caveats_of
from goffman.presentation.competence import not_measurable
from goffman.presentation.sensitivity_findings import ONE_WORDING, with_robustness, with_wordings
from goffman.presentation.types import Finding
from goffman.presentation.user_ratings import describe_changes

if TYPE_CHECKING:
    from goffman.presentation.section import Section

    Row = Mapping[str, Any]


def finding(row: Row, head: str, text: str, more: Iterator[str], **also: Any) -> Finding:
    """A finding about one estimate, which a bar is drawn for; ``also``: its other fields."""
    drawn = {name: row[name] for name in ("difference", "low", "high", "p_adjusted", "margin")}
    also = {"wording": ONE_WORDING, "short": head} | also
    return Finding(
        model=row["model"],
        head=with_verdict(row, head),
        text=text,
        why=describe_verdict(row),
        more=tuple(more),
        verdict=row["verdict"],
        shown=verdict_shown(row),
        **drawn,
        **also,
    )


def of_model(rows: pl.DataFrame, model: str) -> pl.DataFrame:
    """The rows of a model, by the name that is shown."""
    return rows.filter(pl.col("model") == model)


def heading(
    row: Row, *, more: str, less: str, between: str, whether: str = "", none: str = ""
) -> str:
    """Return what an estimate comes to, in a few words without its verdict.

    ``more``, ``less``: what it says where there is a difference; ``between``: completes "a
    difference …"; ``whether``: completes "cannot tell whether …"; ``none``: in place of "no
    relevant difference between …".
    """
    whether = whether or f"there is a difference {between}"
    if untested(row):
        return f"Not tested whether {whether}"
    if row["verdict"] == NEGLIGIBLE:
        return none or f"No relevant difference {between}"
    if row["verdict"] == INCONCLUSIVE:
        return f"Cannot tell whether {whether}"
    return more if (row["difference"] or 0.0) > 0 else less


def with_verdict(row: Row, head: str) -> str:
    """Return the heading with its verdict, for a place where none stands before it."""
    if untested(row):
        return head
    decapitalized = f"{head[0].lower()}{head[1:]}"
    return {
        INCONCLUSIVE: f"Inconclusive: {decapitalized}",
        SENTENCES_ONLY: f"In these sentences only: {decapitalized}",
        PRESENT: f"{head}, by an uncertain amount",
    }.get(row["verdict"], head)


def describe_verdict(row: Row) -> str:
    """Return why an estimate has its verdict, as sentences."""
    if untested(row):
        return f"This could not be tested{because([row['reason']])}."
    least = f"{number(row['margin'])}, the smallest difference that counts as relevant here"
    beyond = "above " if (row["low"] or 0.0) > 0 else "below −"
    detectable = ""
    if row["detectable"] is not None:
        detectable = (
            f" An audit like this finds a true difference of {number(row['detectable'])} in 80 of "
            "100 cases."
        )
    why = {
        RELEVANT: f"The whole interval lies {beyond}{least}.",
        PRESENT: f"The interval excludes 0, but holds differences smaller than {least}.",
        NEGLIGIBLE: (
            f"The 90% interval ({ends(row['low_90'], row['high_90'])}) lies within {least}."
        ),
        INCONCLUSIVE: f"The interval holds 0, and differences larger than {least}.{detectable}",
        SENTENCES_ONLY: "Fewer than three sentences were asked, which say nothing about others.",
    }
    return why.get(row["verdict"], "")


def untested(row: Row) -> bool:
    """Return whether an estimate has no interval, so that it has no verdict."""
    return row["low"] is None


def verdict_first(row: Row) -> str:
    """Return the verdict before the numbers of a contrast, where it says that none is shown."""
    return f"{row['verdict']}; " if row["verdict"] in (NEGLIGIBLE, INCONCLUSIVE) else ""


def because(reasons: Iterable[str | None]) -> str:
    """The reasons, each once, as the end of a sentence; nothing where none is known."""
    known = [reason for reason in dict.fromkeys(reasons) if reason]
    return f", because {', and because '.join(known)}" if known else ""


def describe_tested(row: Row, *, many: str = "conditions") -> str:
    """Return what the interval is over; ``many``: what the conditions are called."""
    if untested(row):
        return f"Not tested{because([row['reason']])}"
    over = (row["interval_over"] or "").replace("conditions", many)
    factors = describe_factors(over) or over
    return "; ".join(filter(None, [f"The interval is over {factors}", row["reason"]]))


def how_many_clear(estimates: pl.DataFrame, sentence: str, *, what: str) -> str:
    """Return how many of the contrasts exclude 0, and how many could not be tested.

    ``sentence`` has {} for the number, such as "3 of 15 settings"; ``what``: these settings.
    """
    count, every = rows_apart_from_zero(estimates).height, estimates.height
    without = estimates.filter(pl.col("low").is_null())
    why = because(without["reason"])
    if every and without.height == every:
        return f"None of {every} {what} could be tested{why}."
    said = sentence.format(f"{count or 'none'} of {every} {what}")
    said = f"{said[0].upper()}{said[1:]}."
    return f"{said} {without.height} of them could not be tested{why}." if without.height else said


def findings_of(section: Section) -> list[Finding]:
    """Return what stands out about each model, in the order in which they were asked."""
    # Made once: the summary, the page and each other mode's main result show them.
    if "findings" not in section.kept:
        section.kept["findings"] = _findings(section)
    return section.kept["findings"]


def _findings(section: Section) -> list[Finding]:
    found = list(section.presentation.findings(section))
    # Here and nowhere else: whatever is found of a model that cannot do the task is not said.
    instead = [_with_style(section, one) for one in not_measurable(section)]
    found = [one for one in found if one.model not in {other.model for other in instead}] + instead
    silent = [name for name in section.models() if name not in {one.model for one in found}]
    found += [_with_style(section, _nothing(section, model)) for model in silent]
    order = section.models()
    rated = [section.ratings] if section.ratings else []
    found = [
        replace(
            one,
            more=(
                *(*one.more, *describe_identities(section, one.model), *rated),
                *describe_changes(section, one.model),
            ),
        )
        for one in found
    ]
    found = [with_robustness(with_wordings(one, section), section) for one in found]
    return [
        replace(one, caveats=tuple(caveats_of(one, section)))
        for one in sorted(found, key=lambda one: order.index(one.model))
    ]


def describe_identities(section: Section, model: str) -> Iterator[str]:
    """Yield for each identity whether the gap is another one than for the reference."""
    gaps = dict(of_model(section.contrasts(GAP_OF), model).select("variant", "difference").rows())
    rows = of_model(section.contrasts(INTERACTION), model)
    for row in rows.filter(pl.col("verdict").ne_missing(NOT_MEASURABLE)).iter_rows(named=True):
        pair = identities_of(row["variant"])
        said = heading(
            row,
            more="The gap is larger for {} than for {}".format(*pair),
            less="The gap is smaller for {} than for {}".format(*pair),
            between="between the gaps for {} and {}".format(*pair),
        )
        known = [number(gaps[one]) for one in pair if gaps.get(one) is not None]
        shown = f" ({' and '.join(known)})" if len(known) == len(pair) else ""
        yield f"{said}{shown}: {describe_difference(row)}."


def _with_style(section: Section, found: Finding) -> Finding:
    """What could not be measured, and first the style of answering that may be why."""
    style = section.presentation.style
    said = style(section, found.model) if style else ""
    return replace(found, text=f"{said}. {found.text}") if said else found


def _nothing(section: Section, model: str) -> Finding:
    """That there is no contrast, and why."""
    groups = section.groups()
    if section.against and section.against not in groups and len(groups) == 1:
        said = (
            f"Only {humanize(groups[0])} {section.noun.many} were asked, so no groups are compared."
        )
        text = " ".join([said, *_beside_none(section, model)])
        return Finding(model=model, head="There is no other group to compare with", text=text)
    rows = of_model(section.shown(section.estimates), model)
    reasons = rows.filter(pl.col("difference").is_null())["reason"].drop_nulls()
    why = because(reasons.unique(maintain_order=True).head(3))
    text = f"There is no difference to report{why}." if why else "Too few prompts were asked."
    return Finding(model=model, head="Nothing could be compared", text=text)


def _beside_none(section: Section, model: str) -> Iterator[str]:
    """The mean with a condition and without one, in the wordings that have both; not tested."""
    rows = of_model(section.rows("prompt", section.presentation.quantity), model)
    none = rows.filter(pl.col("condition") == BASELINE)
    named = rows.filter(pl.col("condition") != BASELINE)
    named = named.filter(pl.col("wording").is_in(none["wording"].unique().to_list()))
    if none.height and named.height:
        values = [float(one["value"].to_numpy().mean()) for one in (named, none)]
        yield (
            f"The {section.presentation.called} is {number(values[0])} with a {section.noun.one} "
            f"named and {number(values[1])} with none. This difference was not tested."
        )
