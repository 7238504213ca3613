"""Caveats of a main result as data: an id, at most twelve words, and the whole sentence.

Terminal, page, notebook, card and JSON show the same ids, in the short form where room is scarce.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.contrasts.catalog import identities_of
from goffman.contrasts.designs import GAP_OF, INTERACTION
from goffman.contrasts.verdict import (
    INCONCLUSIVE,
    NEGLIGIBLE,
    NOT_MEASURABLE,
    VERDICT_FACTS,
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
from goffman.presentation.competence import NO_CONTROLS, not_measurable
from goffman.presentation.section import Caveat, Finding, not_counted
from goffman.presentation.sensitivity import (
    IN_TURN,
    MOST_BY_MODELS,
    ONE_WORDING,
    by_models,
    describe_changes,
    with_robustness,
    with_wordings,
)

if TYPE_CHECKING:
    from goffman.presentation.section import Section

    Row = Mapping[str, Any]


FIRST_LOOK = "first-look"
"""The id of the caveat of a quick sample."""

CAVEATS = {
    FIRST_LOOK: "a first look: only a few conditions of each group were asked",
    "depends-on-one-part": "depends on one part: without it, the sign changes or half is gone",
    "answer-style": "answers much the same whatever it is asked",
    "few-sentences": "too few sentences to speak for others",
    "low-power": "this design often misses so small a difference",
    "wording-moves-more": "the wording matters more than the group",
    "one-wording": "asked in one wording only",
    "mostly-uncounted": "most of what it would say is not counted",
    "no-controls": "no control items were asked",
    "controls-unsure": "unclear whether the model can do its task",
    "words-rated-by-user": "the words were rated in files that were given",
    "words-rated-by-models": "language models, not people, rated the words that count",
}
"""Each caveat's id and short form, the weightiest first."""

QUICK = (
    "This is a first look (--sample quick): only a few conditions of each group were asked. The "
    "same command with --sample all asks the rest."
)

LOW_POWER = (
    "The interval reaches further than the smallest difference that matters: an audit like this "
    "one finds a difference of that size less than half the time. More sentences or conditions "
    "would help."
)

MOST = 0.5
"""The share above which most of the probability is not counted."""


def caveats_of(finding: Finding, section: Section) -> Iterator[Caveat]:
    """Yield the caveats of a finding, the weightiest first."""
    # Half the width of the 95% interval is a true difference found half the time.
    half = ((finding.high or 0.0) - (finding.low or 0.0)) / 2
    weak = finding.verdict == INCONCLUSIVE and half > (finding.margin or 0.0)
    uncounted = (not_counted(section, model=finding.model) or 0.0) > MOST
    if_named = next((line for line in finding.more if "If they all named" in line), "")
    control = section.control(finding.model)
    by_user = section.ratings.startswith("The words were rated in")
    rated = bool(section.ratings) and not by_user
    by_model = rated and by_models(section, finding.model) > MOST_BY_MODELS
    in_one = finding.wording.startswith((ONE_WORDING, IN_TURN))
    conditions = {
        FIRST_LOOK: (section.sample == "quick", QUICK),
        "depends-on-one-part": (finding.depends, finding.depends),
        "answer-style": (finding.styled, f"{finding.head}."),
        "few-sentences": (finding.asked, finding.wording),
        "low-power": (weak, LOW_POWER),
        "wording-moves-more": (finding.moved, finding.moved),
        "one-wording": (in_one, finding.wording),
        "mostly-uncounted": (uncounted, if_named),
        "no-controls": (control is None, NO_CONTROLS),
        "controls-unsure": (control and control.unsure, control.sentence if control else ""),
        "words-rated-by-user": (by_user, section.ratings),
        "words-rated-by-models": (by_model, section.ratings),
    }
    for id_, short in CAVEATS.items():
        holds, text = conditions[id_]
        if holds:
            yield Caveat(id=id_, short=short, text=text)


def finding(row: Row, head: str, text: str, more: Iterator[str], **also: Any) -> Finding:
    """Return the finding about one estimate, drawn as a bar; ``also``: its other fields."""
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


def heading(
    row: Row, *, more: str, less: str, between: str, whether: str = "", none: str = ""
) -> str:
    """Return an estimate's result in a few words, without its verdict.

    ``more``, ``less``: texts for a difference above or below 0; ``between``: completes "a
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
    """Return the heading, followed by its verdict."""
    if untested(row):
        return head
    heading_with = VERDICT_FACTS[row["verdict"]].heading if row["verdict"] else "{}"
    ends_with_verdict = heading_with.startswith("{}")
    return heading_with.format(head if ends_with_verdict else f"{head[0].lower()}{head[1:]}")


def describe_verdict(row: Row) -> str:
    """Return why an estimate has its verdict, as sentences."""
    if untested(row):
        return f"This could not be tested{because([row['reason']])}."
    if row["verdict"] is None:
        return ""
    least = f"{number(row['margin'])}, the smallest difference that counts as relevant here"
    beyond = "above " if (row["low"] or 0.0) > 0 else "below −"
    detectable = ""
    if row["detectable"] is not None:
        detectable = (
            f" An audit like this finds a true difference of {number(row['detectable'])} in 80 of "
            "100 cases."
        )
    return VERDICT_FACTS[row["verdict"]].reason.format(
        least=least,
        beyond=beyond,
        inner=ends(row["low_90"], row["high_90"]),
        detectable=detectable,
    )


def untested(row: Row) -> bool:
    """Return whether an estimate has no interval, so that it has no verdict."""
    return row["low"] is None


def verdict_first(row: Row) -> str:
    """Return the verdict, to precede numbers, if it is "negligible" or "inconclusive"; else ""."""
    return f"{row['verdict']}; " if row["verdict"] in (NEGLIGIBLE, INCONCLUSIVE) else ""


def because(reasons: Iterable[str | None]) -> str:
    """Return the reasons, each once, as the end of a sentence; "" if there are none."""
    texts = [reason for reason in dict.fromkeys(reasons) if reason]
    return f", because {', and because '.join(texts)}" if texts else ""


def describe_tested(row: Row, *, many: str = "conditions") -> str:
    """Return what the interval is over, or why there is none; ``many``: the noun for conditions."""
    if untested(row):
        return f"Not tested{because([row['reason']])}"
    over = (row["interval_over"] or "").replace("conditions", many)
    factors = describe_factors(over) or over
    return "; ".join(filter(None, [f"The interval is over {factors}", row["reason"]]))


def how_many_clear(estimates: pl.DataFrame, sentence: str, *, what: str) -> str:
    """Return how many of the contrasts exclude 0, and how many could not be tested.

    ``sentence`` has {} for the number, such as "3 of 15 settings"; ``what``: these settings.
    """
    count, total = rows_apart_from_zero(estimates).height, estimates.height
    no_interval = estimates.filter(pl.col("low").is_null())
    reason = because(no_interval["reason"])
    if total and no_interval.height == total:
        return f"None of {total} {what} could be tested{reason}."
    text = sentence.format(f"{count or 'none'} of {total} {what}")
    text = f"{text[0].upper()}{text[1:]}."
    return (
        f"{text} {no_interval.height} of them could not be tested{reason}."
        if no_interval.height
        else text
    )


def findings_of(section: Section) -> list[Finding]:
    """Return the findings about each model, in the order in which the models were asked."""
    # Made once, because the summary, the page and the main results in other modes show them.
    if "findings" not in section.kept:
        section.kept["findings"] = _findings(section)
    return section.kept["findings"]


def _findings(section: Section) -> list[Finding]:
    results = list(section.presentation.findings(section))
    # Findings about models that cannot do the task are removed here, for all measures.
    failures = [_with_style(section, result) for result in not_measurable(section)]
    results = [
        result for result in results if result.model not in {failure.model for failure in failures}
    ] + failures
    silent = [name for name in section.models() if name not in {result.model for result in results}]
    results += [_with_style(section, _nothing(section, model)) for model in silent]
    order = section.models()
    rated = [section.ratings] if section.ratings else []
    results = [
        replace(
            result,
            more=(
                *(*result.more, *describe_identities(section, result.model), *rated),
                *describe_changes(section, result.model),
            ),
        )
        for result in results
    ]
    results = [with_robustness(with_wordings(result, section), section) for result in results]
    return [
        replace(result, caveats=tuple(caveats_of(result, section)))
        for result in sorted(results, key=lambda result: order.index(result.model))
    ]


def describe_identities(section: Section, model: str) -> Iterator[str]:
    """Yield for each identity whether its gap differs from that of the reference."""
    gaps = dict(section.contrasts(GAP_OF, model).select("variant", "difference").rows())
    rows = section.contrasts(INTERACTION, model)
    for row in rows.filter(pl.col("verdict").ne_missing(NOT_MEASURABLE)).iter_rows(named=True):
        pair = identities_of(row["variant"])
        text = heading(
            row,
            more="The gap is larger for {} than for {}".format(*pair),
            less="The gap is smaller for {} than for {}".format(*pair),
            between="between the gaps for {} and {}".format(*pair),
        )
        values = [number(gaps[identity]) for identity in pair if gaps.get(identity) is not None]
        shown = f" ({' and '.join(values)})" if len(values) == len(pair) else ""
        yield f"{text}{shown}: {describe_difference(row)}."


def _with_style(section: Section, result: Finding) -> Finding:
    """Return the finding, introduced by the style of answering that may explain it."""
    style = section.presentation.style
    sentence = style(section, result.model) if style else ""
    return replace(result, text=f"{sentence}. {result.text}") if sentence else result


def _nothing(section: Section, model: str) -> Finding:
    """Return a finding that says why there is no contrast."""
    groups, noun = section.groups(), section.noun
    if section.against and section.against not in groups and len(groups) == 1:
        text = f"Only {humanize(groups[0])} {noun.many} were asked, so no groups are compared."
        # These two means are over the wordings that were also asked without a condition.
        rows = section.rows("prompt", section.presentation.quantity, model)
        without = rows.filter(condition=BASELINE)
        worded = pl.col("wording").is_in(without["wording"].unique().to_list())
        named = rows.filter(pl.col("condition") != BASELINE, worded)
        if without.height and named.height:
            means = [number(float(frame["value"].to_numpy().mean())) for frame in (named, without)]
            text += (
                f" The {section.presentation.called} is {means[0]} with a {noun.one} named and "
                f"{means[1]} with none. This difference was not tested."
            )
        return Finding(model=model, head="There is no other group to compare with", text=text)
    rows = section.shown(section.estimates, model)
    reasons = rows.filter(pl.col("difference").is_null())["reason"].drop_nulls()
    reason = because(reasons.unique(maintain_order=True).head(3))
    text = f"There is no difference to report{reason}." if reason else "Too few prompts were asked."
    return Finding(model=model, head="Nothing could be compared", text=text)
