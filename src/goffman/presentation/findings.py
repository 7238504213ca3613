"""Sentences that findings share: what was lost to correction, which test, how many are clear."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.contrasts.verdict import (
    CLEAR,
    SIZE_OPEN,
    by_interval,
    direction,
    side_of_zero,
    significant_rows,
)
from goffman.formatting import (
    describe_factors,
    ends,
    how_far,
    humanize,
    join_words,
    number,
    p_value,
    verdict_shown,
)
from goffman.instruments.types import BASELINE
from goffman.presentation.competence import not_measurable
from goffman.presentation.robustness_findings import with_robustness
from goffman.presentation.types import Finding
from goffman.presentation.user_ratings import describe_ratings
from goffman.presentation.wording_findings import ONE_WORDING, with_wordings

if TYPE_CHECKING:
    from goffman.presentation.section import Section

if TYPE_CHECKING:
    Row = Mapping[str, Any]


def finding(row: Row, head: str, text: str, more: Iterator[str], **also: Any) -> Finding:
    """A finding about one estimate, which a bar is drawn for; ``also``: its other fields."""
    drawn = {name: row[name] for name in ("difference", "low", "high", "p_adjusted", "margin")}
    also = {"wording": ONE_WORDING} | also
    return Finding(
        model=row["model"],
        head=head,
        text=text,
        why=describe_verdict(row),
        alone="" if untested(row) else by_others(row),
        more=tuple(more),
        verdict=by_interval(row),
        shown=verdict_shown(row),
        **drawn,
        **also,
    )


def of_model(rows: pl.DataFrame, model: str) -> pl.DataFrame:
    """The rows of a model, by the name that is shown."""
    return rows.filter(pl.col("model") == model)


def heading(row: Row, *, more: str, less: str, between: str) -> str:
    """What an estimate comes to, in a few words, as its verdict has it.

    ``more``, ``less``: what it says where it is clear; ``between``: completes "a difference …".
    """
    if untested(row):
        return f"Not tested: a difference {between.rstrip(',')}"
    if row["verdict"] == "equivalent":
        return f"No relevant difference {between.rstrip(',')}"
    if not direction(row):
        return f"Undecided: a difference {between} is neither shown nor ruled out"
    said = more if direction(row) > 0 else less
    word = by_interval(row)
    if word not in {"small", SIZE_OPEN}:
        return said
    return f"{said}, but {'only' if word == 'small' else 'perhaps only'} slightly"


def describe_verdict(row: Row, *, within: str = "run") -> str:
    """Why an estimate has its verdict, as sentences; ``within``: what its family is over."""
    if untested(row):
        return f"This could not be tested{because([row['reason']])}."
    word = by_interval(row)
    if word is None:
        return ""
    least = f"{number(row['margin'])}, the smallest difference that counts as relevant here"
    if word == "relevant":
        beyond = "above " if row["low"] > 0 else "below −"
        said = f"The whole interval lies {beyond}{least}. {by_others(row, within)}"
        return said.rstrip()
    if word in {"small", SIZE_OPEN}:
        but = "it is" if word == "small" else "the interval includes differences"
        said = f"The difference is clear, but {but} smaller than {least}. {by_others(row, within)}"
        return said.rstrip()
    if word == "equivalent":
        inner = ends(row["low_90"], row["high_90"])
        return f"The 90% interval ({inner}) rules out a difference of {least}."
    more = how_far(number(row["margin"]), row["margin"], low=row["low"], high=row["high"])
    open_ = (
        f"The true difference could be 0, and it could be {more}. The smallest difference that "
        f"counts as relevant here is {number(row['margin'])}."
    )
    return f"{_lost(row)}{open_}{_needed(row)}"


def by_others(row: Row, within: str = "run") -> str:
    """That the correction leaves it clear only because other differences of the run are."""
    alone = row["p"] * (row["family_size"] or 1)
    if not direction(row) or alone < CLEAR:
        return ""
    return (
        f"If none of the other main results in this {within} were clear, Holm's correction would "
        f"give p up to {p_value(min(alone, 1.0))}, and this difference would not be clear."
    )


def _needed(row: Row) -> str:
    """What the audit could have seen, and what it would take to see the smallest difference."""
    if row["detectable"] is None:
        return ""
    said = (
        f" If the true difference were {number(row['detectable'])}, an audit like this would find "
        "it 80% of the time, before correction for other tests."
    )
    if row["items"] is None or row["detectable"] <= row["margin"]:
        return said
    if row["items_needed"] is None:
        return (
            f"{said} More items alone would not be enough to find {number(row['margin'])} that "
            "often."
        )
    return (
        f"{said} To find {number(row['margin'])} that often, about {row['items_needed']:,} items "
        f"would be needed; this audit had {row['items']}."
    )


def _lost(row: Row) -> str:
    """What must be said where the interval alone would have looked clear."""
    if not side_of_zero(row):
        return ""
    if (row["family_size"] or 1) > 1:
        return "The interval excludes 0, but the corrected p is not below .05. "
    return "The interval excludes 0, but p is not below .05. "


def untested(row: Row) -> bool:
    """Whether an estimate has no p-value, so that nothing can be said to be clear or not clear."""
    return row["p_adjusted"] is None


def verdict_first(row: Row) -> str:
    """The verdict before the numbers of a contrast that is not clear: there are two of these."""
    return f"{row['verdict']}; " if row["verdict"] in ("equivalent", "undecided") else ""


def because(reasons: Iterable[str | None]) -> str:
    """The reasons, each once, as the end of a sentence; nothing where none is known."""
    known = [reason for reason in dict.fromkeys(reasons) if reason]
    return f", because {', and because '.join(known)}" if known else ""


def describe_tested(row: Row, **called: str) -> str:
    """The effect size, the test, what it is over, and its correction.

    ``many``: what the conditions are called.
    """
    said = []
    if row["effect"] is not None:
        name, _, how = row["effect_name"].partition(", ")
        said.append(
            f"{name} = {number(row['effect'])}"
            + (f" ({how}{_whose(row, **called)})" if how else "")
        )
    if row["p"] is not None:
        said.append(_test(row, **called))
    if untested(row):
        said.append(f"not tested{because([row['reason']])}")
    elif row["reason"]:
        said.append(row["reason"])
    return "; ".join(said)


def _whose(row: Row, many: str = "conditions") -> str:
    """What the SD of an effect is of: values of another kind have another one."""
    return f" of {row['unit'].replace('conditions', many)}" if row["unit"] else ""


def _test(row: Row, many: str = "conditions") -> str:
    """The test and its correction; for how many tests is said beside p."""
    over = (row["interval_over"] or "").replace("conditions", many)
    factors = describe_factors(over)
    if factors:
        said = f"t test with {factors}"
    else:
        # The test of conditions alone says so in its name.
        test = str(row["test"]).replace("t over conditions", "t test")
        said = f"{test} over {over}" if over else test
    if (row["family_size"] or 1) == 1:
        return f"{said}, not corrected (a single test)"
    return f"{said}, {row['correction'].capitalize()}'s correction"


def how_many_clear(estimates: pl.DataFrame, sentence: str, *, what: str) -> str:
    """How many of the contrasts are clear, and how many could not be tested.

    ``sentence`` has {} for the number, such as "3 of 15 settings"; ``what``: these settings.
    """
    count, every = significant_rows(estimates).height, estimates.height
    without = estimates.filter(pl.col("p_adjusted").is_null())
    why = because(without["reason"])
    if every and without.height == every:
        return f"None of {every} {what} could be tested{why}."
    said = sentence.format(f"{count or 'none'} of {every} {what}")
    said = f"{said[0].upper()}{said[1:]}."
    counts = {
        word: estimates.filter(pl.col("verdict") == word).height
        for word in ("undecided", "equivalent")
    }
    others = [f"{of} {_are(of)} {word}" for word, of in counts.items() if of]
    if not count and every in counts.values() and every > 1:
        word = next(word for word, of in counts.items() if of)
        said += f" The verdict is “{word}” for all {every}."
    elif others:
        said += f" Of the {'others' if count else every}, {join_words(others)}."
    return f"{said} {without.height} of them could not be tested{why}." if without.height else said


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


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
    found = [replace(one, more=(*one.more, *describe_ratings(section, one.model))) for one in found]
    return [
        with_robustness(with_wordings(one, section), section)
        for one in sorted(found, key=lambda one: order.index(one.model))
    ]


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
    few = reasons.unique(maintain_order=True).head(3)
    why = because(few)
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
