"""Whether a verdict holds: said of each headline with one thing left out, or a parameter changed.

Where it does not, a few words of it stand beside the heading.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.presentation.numbers import ends, number, p_said
from goffman.terminal import printable

if TYPE_CHECKING:
    from goffman.presentation.base import Finding
    from goffman.presentation.section import Section

    Row = Mapping[str, Any]

PARAMETER = "parameter"
"""The way of a row that is no leaving out."""


def with_robustness(finding: Finding, section: Section) -> Finding:
    """The finding with what is said of its verdict; as it is where nothing was computed."""
    rows = section.shown(section.robustness)
    rows = rows.filter(pl.col("model") == finding.model, pl.col("verdict").is_not_null())
    if finding.verdict is None or finding.difference is None or not rows.height:
        return finding
    changed = rows.filter(pl.col("verdict") != finding.verdict)
    said = [*_parameters(rows, finding), *_left_out(rows, section, finding)]
    return replace(finding, robust=" ".join(said), depends="; ".join(_in_short(changed, section)))


def _parameters(rows: pl.DataFrame, finding: Finding) -> Iterator[str]:
    """Each setting of a parameter that changes the verdict; in one sentence those that do not."""
    rows = rows.filter(pl.col("way") == PARAMETER)
    for row in rows.filter(pl.col("verdict") != finding.verdict).iter_rows(named=True):
        yield (
            f"{row['what'][0].upper()}{row['what'][1:]}, the difference would be "
            f"{number(row['difference'])} ({_numbers(row)}): {_clear(row, finding)}."
        )
    same = rows.filter(pl.col("verdict") == finding.verdict)["what"].to_list()
    if same:
        yield f"The verdict would be the same {' or '.join(same)}."


def _left_out(rows: pl.DataFrame, section: Section, finding: Finding) -> Iterator[str]:
    """Which single thing moves the difference most, and how many change the verdict."""
    rows = rows.filter(pl.col("way") != PARAMETER)
    if not rows.height:
        return
    most = rows.with_columns(far=(pl.col("difference") - finding.difference).abs()).sort(
        "far", descending=True
    )
    largest = most.row(0, named=True)
    what = f"leaving out the {_called(largest['way'], section)} {_named(largest, section)}"
    changed = rows.filter(pl.col("verdict") != finding.verdict)
    ways = rows["way"].unique(maintain_order=True).to_list()
    any_one = _either([_called(way, section) for way in ways])
    if not changed.height:
        yield (
            f"Leaving out any one {any_one} does not change the verdict. At most, the difference "
            f"becomes {number(largest['difference'])}, by {what}."
        )
        return
    counts = [
        f"{changed.filter(pl.col('way') == way).height} of "
        f"{rows.filter(pl.col('way') == way).height} {_called(way, section, many=True)}"
        for way in changed["way"].unique(maintain_order=True)
    ]
    yield (
        f"Leaving out one {any_one} changes the verdict for {' and '.join(counts)}. At most, the "
        f"difference becomes {number(largest['difference'])} ({largest['verdict']}), by {what}."
    )


def _in_short(changed: pl.DataFrame, section: Section) -> Iterator[str]:
    """Where the verdict is another, in a few words."""
    for row in changed.filter(pl.col("way") == PARAMETER).iter_rows(named=True):
        yield f"{row['verdict']} {row['what']}"
    for (way,), of in changed.filter(pl.col("way") != PARAMETER).group_by(
        "way", maintain_order=True
    ):
        verdicts = " or ".join(of["verdict"].unique(maintain_order=True))
        if of.height == 1:
            only = of.row(0, named=True)
            yield f"{verdicts} without the {_called(str(way), section)} {_named(only, section)}"
        else:
            many = _called(str(way), section, many=True)
            yield f"{verdicts} without any one of {of.height} {many}"


def _clear(row: Row, finding: Finding) -> str:
    """What has become of the verdict."""
    was, now = (one in ("relevant", "small") for one in (finding.verdict, row["verdict"]))
    if was and not now:
        return f"not clear ({row['verdict']})"
    return f"clear ({row['verdict']})" if now and not was else str(row["verdict"])


def _numbers(row: Row) -> str:
    return f"95% interval {ends(row['low'], row['high'])}, {p_said(row['p_adjusted'])}"


def _called(way: str, section: Section, *, many: bool = False) -> str:
    """What was left out, as a word."""
    if way == "condition":
        return section.noun.many if many else section.noun.one
    return f"{way}s" if many else way


def _named(row: Row, section: Section) -> str:
    """Which one, quoted: a name may hold a comma."""
    if row["way"] == "condition":
        return f"“{section.called(row['what'])}”"
    if row["way"] == "item":
        return f"“{section.names.item(section.instrument, row['what'])}”"
    return f"“{printable(row['what'])}”"


def _either(names: Sequence[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
