"""Whether a verdict holds: said of each headline with one thing left out, or a parameter changed.

Where it does not, a few words of it stand beside the heading.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.console import printable
from goffman.contrasts.correlations import MAIN_VARIANT
from goffman.contrasts.engine import GIVEN_SENTENCES
from goffman.contrasts.verdict import (
    FRAGILE,
    UNDECIDED,
    by_interval,
    is_fragile,
    lost,
)
from goffman.formatting import (
    describe_p,
    ends,
    join_words,
    number,
)
from goffman.schemas import PARAMETER

if TYPE_CHECKING:
    from goffman.presentation.section import Section
    from goffman.presentation.types import Finding

if TYPE_CHECKING:
    Row = Mapping[str, Any]


def with_robustness(finding: Finding, section: Section) -> Finding:
    """The finding with what is said of its verdict; as it is where nothing was computed."""
    rows = section.shown(section.robustness)
    rows = rows.filter("main", pl.col("model") == finding.model, pl.col("verdict").is_not_null())
    if finding.verdict is None or finding.difference is None or not rows.height:
        return finding
    if fragile := _fragile(rows, finding):
        head = f"Fragile: {finding.head[0].lower()}{finding.head[1:]}"
        finding = replace(finding, head=head, shown=FRAGILE, fragile=fragile)
    said = [*_parameters(rows, finding), *_left_out(rows, section, finding)]
    said += _permuted(section, finding) if fragile else ()
    return replace(finding, robust=" ".join(said), depends=_in_short(rows, section, finding))


def _fragile(rows: pl.DataFrame, finding: Finding) -> str:
    """In how many variations a clear difference is not clear; empty: in too few to call it so."""
    if not is_fragile(finding.verdict, rows):
        return ""
    other = pl.col("variation") == PARAMETER
    counts = [
        f"not in {lost(of).height} of {of.height} analyses {what}"
        for of, what in (
            (rows.filter(~other), "that leave out one thing"),
            (rows.filter(other), "with another parameter"),
        )
        if lost(of).height
    ]
    return f"clear, but {' and '.join(counts)}"


def _permuted(section: Section, finding: Finding) -> Iterator[str]:
    """The permutation test of a fragile difference: a check that is no matter of formulas."""
    main = section.shown(section.estimates).filter(
        pl.col("model") == finding.model,
        pl.col("difference") == finding.difference,
        pl.col("p_adjusted") == finding.p_adjusted,
        pl.col("permutation_p").is_not_null(),
    )
    for row in main.head(1).iter_rows(named=True):
        over, means, _ = (row["check_over"] or "conditions").partition(", means over")
        over = GIVEN_SENTENCES.replace("conditions", over) if means else over
        over = over.replace("conditions", section.noun.many)
        p = describe_p(row["permutation_p"])
        comma = "," if "," in over else ""
        yield f"A permutation test over {over}{comma} gives {p} (not corrected)."


def _parameters(rows: pl.DataFrame, finding: Finding) -> Iterator[str]:
    """Each setting of a parameter that changes the verdict; in one sentence those that do not."""
    rows = rows.filter(pl.col("variation") == PARAMETER)
    for row in rows.filter(pl.col("verdict") != finding.verdict).iter_rows(named=True):
        yield (
            f"{row['what'][0].upper()}{row['what'][1:]}, the difference is "
            f"{number(row['difference'])} ({_numbers(row)}), which is {_quoted(row['verdict'])}"
            f"{' only because of the corrected p' if _by_p_alone(row) else ''}."
        )
    same = rows.filter(pl.col("verdict") == finding.verdict)["what"].to_list()
    if same:
        yield f"The verdict would be the same {' or '.join(same)}."


def _left_out(rows: pl.DataFrame, section: Section, finding: Finding) -> Iterator[str]:
    """Which single thing moves the difference most, and how many change the verdict."""
    rows = rows.filter(pl.col("variation") != PARAMETER)
    if not rows.height:
        return
    span = _span(rows.sort("difference"), section)
    changed = rows.filter(pl.col("verdict") != finding.verdict)
    ways = rows["variation"].unique(maintain_order=True).to_list()
    any_one = join_words([part_called(way, section) for way in ways], "or")
    if not changed.height:
        yield (f"Leaving out any one {any_one} does not change the verdict. {span}")
        return
    counts = [
        f"{changed.filter(pl.col('variation') == way).height} of "
        f"{rows.filter(pl.col('variation') == way).height} analyses without one "
        f"{part_called(way, section)}"
        for way in changed["variation"].unique(maintain_order=True)
    ]
    yield (
        f"With one {any_one} left out at a time, the verdict changes in {' and '.join(counts)}."
        f"{describe_p_alone(changed)} {span}"
    )


def _span(rows: pl.DataFrame, section: Section) -> str:
    """The smallest and the largest difference with one thing left out, and which thing."""
    low, high = (
        f"{number(row['difference'])} (without the {part_called(row['variation'], section)} "
        f"{_named(row, section)})"
        for row in (rows.row(0, named=True), rows.row(-1, named=True))
    )
    return f"The difference then ranges from {low} to {high}.{describe_occupations(rows)}"


def describe_occupations(rows: pl.DataFrame) -> str:
    """What it means that an occupation is left out, as a further sentence; empty: none was."""
    if "occupation" not in rows["variation"]:
        return ""
    return (
        " Without an occupation means without the sentences whose pronoun refers to it; it stays "
        "as the other person of the pair."
    )


def _in_short(rows: pl.DataFrame, section: Section, finding: Finding) -> str:
    """Where the verdict is another, in sentences; verdict by verdict."""
    changed = rows.filter(pl.col("verdict") != finding.verdict)
    said = [
        sentence
        for (verdict,), of in changed.group_by("verdict", maintain_order=True)
        for sentence in _where(_quoted(str(verdict)), of, rows, section)
    ]
    return f"{' '.join(said)}{describe_p_alone(changed)}"


def describe_p_alone(rows: pl.DataFrame) -> str:
    """In how many undecided analyses the interval leaves out 0, as a further sentence."""
    undecided = rows.filter(pl.col("verdict") == UNDECIDED)
    count = sum(_by_p_alone(row) for row in undecided.iter_rows(named=True))
    if not count:
        return ""
    every = "both" if count == 2 else f"all {count}"
    which = every if count == undecided.height else f"{count} of these {undecided.height}"
    where = "There" if undecided.height == 1 else f"In {which} undecided analyses"
    return f" {where}, the interval excludes 0 and only the corrected p is above .05."


def _by_p_alone(row: Row) -> bool:
    """Whether an analysis is undecided although its interval leaves out 0; few units have none."""
    if row["verdict"] != UNDECIDED or row["low"] is None:
        return False
    return bool(row["low"] > 0 or row["high"] < 0)


def clear_in_others(section: Section, row: Row) -> str:
    """In how many other analyses a contrast beside the headline is clear; empty: none was made."""
    others = section.robustness.filter(
        pl.col("contrast") == row["contrast"], pl.col("verdict").is_not_null()
    )
    if not others.height:
        return ""
    kept = others.height - lost(others).height
    only = "only " if is_fragile(by_interval(row), others) else ""
    return f"clear in {only}{kept} of {others.height} analyses that leave out or change one thing"


def _quoted(verdict: str) -> str:
    """The verdict so that a comma in it does not end it."""
    return f"“{verdict}”" if "," in verdict else verdict


def _where(
    verdict: str, changed: pl.DataFrame, rows: pl.DataFrame, section: Section
) -> Iterator[str]:
    """With which parameters, and without what, a verdict comes out."""
    parameters = changed.filter(pl.col("variation") == PARAMETER)["what"].to_list()
    if parameters:
        # Without them, another value may leave the verdict as it is.
        named = section.scores["variant"].is_in([MAIN_VARIANT]).any()
        begins = "Counting first names, the" if named else "The"
        yield f"{begins} verdict becomes {verdict} {join_words(parameters, 'or')}."
    others = changed.filter(pl.col("variation") != PARAMETER)
    makes = f"makes the verdict {verdict}"
    for (way,), of in others.group_by("variation", maintain_order=True):
        one = part_called(str(way), section)
        if of.height == 1:
            yield f"Leaving out the {one} {_named(of.row(0, named=True), section)} {makes}."
            continue
        every = rows.filter(pl.col("variation") == way).height
        yield (
            f"The verdict becomes {verdict} in {of.height} of the {every} analyses that each leave "
            f"out one {one}."
        )


def _numbers(row: Row) -> str:
    return f"95% interval {ends(row['low'], row['high'])}, {describe_p(row['p_adjusted'])}"


def part_called(way: str, section: Section, *, many: bool = False) -> str:
    """What was left out, as a word."""
    if way == "condition":
        return section.noun.many if many else section.noun.one
    called = {"frame": "sentence frame"}.get(way, way)
    return f"{called}s" if many else called


def _named(row: Row, section: Section) -> str:
    """Which one, quoted: a name may hold a comma."""
    if row["variation"] == "condition":
        return f"“{section.called(row['what'])}”"
    if row["variation"] == "item":
        return f"“{section.names.item(section.instrument, row['what'])}”"
    return f"“{printable(row['what'])}”"
