"""How far a main result depends on its wording, and on a part left out or a parameter changed.

A heading is flagged only if the difference changes its sign or falls below half.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.console import printable
from goffman.contrasts.verdict import PRESENT_WORDS
from goffman.formatting import ends, humanize, join_words, number
from goffman.schemas import PARAMETER, PARAPHRASE_ALONE, WITH_PARAPHRASES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goffman.presentation.section import Section
    from goffman.presentation.types import Finding

    Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Spread:
    """One headline over its wordings, each taken alone."""

    wordings: int
    paraphrases: int
    """The number of wordings that are asked only on request."""
    levels: tuple[float, float]
    """The lowest and highest number of the first group; for a level: of the number itself."""
    gaps: tuple[float, float]
    """The lowest and highest difference."""
    gap: float
    """The headline's difference, over its own wordings together."""

    @property
    def moves_more(self) -> bool:
        """Return whether the wording moves the number more than the group does."""
        return self.levels[1] - self.levels[0] > abs(self.gap)


def spread_of(rows: pl.DataFrame, gap: float) -> Spread | None:
    """Return the spread of one headline's rows by wording; None if only one wording has a number.

    Rows with the paraphrases are over several wordings, and are not counted here.
    """
    single = rows.filter(
        pl.col("variation") != WITH_PARAPHRASES, pl.col("mean_first").is_not_null()
    )
    if single.height < 2:
        return None
    return Spread(
        wordings=single.height,
        paraphrases=single.filter(pl.col("variation") == PARAPHRASE_ALONE).height,
        levels=_ends(single["mean_first"].to_list()),
        gaps=_ends(single["difference"].to_list()),
        gap=gap,
    )


def _ends(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


ONE_WORDING = "Only one wording was asked, so the effect of wording is unknown."
IN_TURN = (
    "Each question was asked in one wording, so the effect of wording on the same question is "
    "unknown."
)

SENTENCES_VARY = (
    "Each sentence is worded in its own way, and the interval covers other such sentences."
)

_CALLED = {"female": "women", "male": "men"}


def with_wordings(finding: Finding, section: Section) -> Finding:
    """Return the finding with its range over wordings; unchanged if there is one wording."""
    if finding.wording == ONE_WORDING and _worded_by_item(section):
        covered = finding.low is not None
        finding = replace(finding, wording=SENTENCES_VARY if covered else "")
    rows = section.shown(section.by_wording).filter(pl.col("model") == finding.model)
    if finding.difference is None:
        return finding
    if not rows.height:
        in_turn = finding.wording == ONE_WORDING and asked_in_turn(section, finding.model)
        return replace(finding, wording=IN_TURN) if in_turn else finding
    together = [*_together(rows)]
    spread = spread_of(rows, finding.difference)
    if spread is None:
        turning = len(section.wordings) > 1 and rows["variation"].eq(WITH_PARAPHRASES).all()
        sentences = [IN_TURN if turning else finding.wording, *together]
        return replace(finding, wording=" ".join(filter(None, sentences)))
    about = rows.row(0, named=True)
    # Few sentence templates remain a limit of the main result.
    limits = [finding.wording] if finding.asked else []
    sentences = [*limits, *_ranges(spread, about, section, mean=finding.styled), *together]
    finding = replace(finding, wording=" ".join(sentences))
    if not spread.moves_more or finding.styled:
        return finding
    return replace(finding, moved=_moved(spread, about, section))


def _worded_by_item(section: Section) -> bool:
    """Return whether an item is a wording: sentence pairs, or items without wordings or subscales.

    Items of a subscale differ in what they ask, and not only in how.
    """
    return section.unit == "setting" or ([*section.wordings] == ["only"] and not section.dimensions)


def asked_in_turn(section: Section, model: str) -> bool:
    """Return whether there are several wordings, and each question was asked in only one."""
    rows = section.rows("prompt", section.presentation.quantity)
    rows = rows.filter(pl.col("model") == model, pl.col("wording").is_not_null())
    if rows["wording"].n_unique() < 2:
        return False
    cells = rows.group_by("item", "condition", "form").agg(pl.col("wording").n_unique())
    return bool((cells["wording"] == 1).all())


def _ranges(found: Spread, about: Row, section: Section, *, mean: bool) -> Iterator[str]:
    """Yield the range of the difference, and of the number itself, over the wordings.

    ``mean``: yield the latter also if wording moves it more than the group, as said elsewhere.
    """
    beside = ""
    if found.paraphrases:
        beside = f" ({found.paraphrases} of them asked only as a check)"
    across = f"Across {found.wordings} wordings{beside}, the"
    if about["kind"] == "level":
        yield f"{across} number ranges {_from_to(found.levels)}."
        return
    yield f"{across} difference ranges {_from_to(found.gaps)}."
    if mean or not found.moves_more:
        yield f"The mean for {_first(about, section)} ranges {_from_to(found.levels)}."


def _moved(found: Spread, about: Row, section: Section) -> str:
    """Return, in one sentence, that the wording moves the number more than the group does."""
    span, gap = ends(*found.levels), number(abs(found.gap))
    if about["kind"] == "level":
        return f"The number changes more with the wording ({span}) than it differs from 0 ({gap})."
    factor = "gender" if about["kind"] == "genders" else "group"
    return (
        f"The mean changes more with the wording ({span} for {_first(about, section)}) than with "
        f"the {factor} (a difference of {gap})."
    )


def _first(about: Row, section: Section) -> str:
    """Return the words for the group or gender that the mean is of."""
    first = str(about["first"])
    return _CALLED.get(first) or f"{humanize(first)} {section.noun.many}"


def _together(rows: pl.DataFrame) -> Iterator[str]:
    """Yield the main result with the paraphrases; or why they are not counted."""
    for row in rows.filter(pl.col("variation") == WITH_PARAPHRASES).iter_rows(named=True):
        if row["difference"] is None:
            yield f"The paraphrases are not counted, because {row['reason']}."
            continue
        kind = "number" if row["kind"] == "level" else "difference"
        interval = "" if row["low"] is None else f" (95% interval {ends(row['low'], row['high'])})"
        verdict = f"; verdict: {row['verdict']}" if row["verdict"] else ""
        yield (
            f"With the paraphrases, the {kind} is {number(row['difference'])}{interval}{verdict}."
        )


def _from_to(span: tuple[float, float]) -> str:
    return f"from {number(span[0])} to {number(span[1])}"


HALF = 0.5
"""The share of the difference below which a variation is flagged."""


def with_robustness(finding: Finding, section: Section) -> Finding:
    """Return the finding with the range of its difference; unchanged if none was computed."""
    rows = section.shown(section.robustness)
    rows = rows.filter("main", pl.col("model") == finding.model, pl.col("difference").is_not_null())
    if finding.verdict is None or not finding.difference or not rows.height:
        return finding
    parameters = rows.filter(pl.col("variation") == PARAMETER)
    sentences = [
        *_left_out(rows, section),
        *(
            f"{row['what'][0].upper()}{row['what'][1:]}, it is {number(row['difference'])}."
            for row in parameters.iter_rows(named=True)
        ),
    ]
    # The sign of a difference that may be 0 means nothing.
    is_present = finding.verdict in PRESENT_WORDS
    depends = " ".join(_flags(rows, section, finding.difference)) if is_present else ""
    return replace(finding, robust=" ".join(sentences), depends=depends)


def _left_out(rows: pl.DataFrame, section: Section) -> Iterator[str]:
    """Yield the range with any one part left out, and which part lies at either end."""
    rows = rows.filter(pl.col("variation") != PARAMETER).sort("difference")
    if not rows.height:
        return
    ways = rows["variation"].unique(maintain_order=True).sort().to_list()
    any_one = join_words([part_called(way, section) for way in ways], "or")
    low, high = (
        f"{number(row['difference'])} ({_without(row, section)})"
        for row in (rows.row(0, named=True), rows.row(-1, named=True))
    )
    yield f"With any one {any_one} left out, the difference is {low} to {high}."


def _flags(rows: pl.DataFrame, section: Section, difference: float) -> Iterator[str]:
    """Yield what changes the sign of the difference, or takes half of it."""
    share = pl.col("difference") / difference
    for limit, above, what in ((0.0, None, "changes sign"), (HALF, 0.0, "falls below half")):
        lost = rows.filter(share < limit if above is None else (share < limit) & (share >= above))
        if not lost.height:
            continue
        first = _without(lost.sort(share.abs()).row(0, named=True), section)
        more = f", and {lost.height - 1} more" if lost.height > 1 else ""
        yield f"The difference {what} {first}{more}."


def _without(row: Row, section: Section) -> str:
    """Return which part was left out, or which parameter was set to another value."""
    if row["variation"] == PARAMETER:
        return str(row["what"])
    return f"without the {part_called(row['variation'], section)} {_named(row, section)}"


def part_called(way: str, section: Section, *, many: bool = False) -> str:
    """Return the word for the part that was left out."""
    if way == "condition":
        return section.noun.many if many else section.noun.one
    word = {"frame": "sentence frame"}.get(way, way)
    if many:
        return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return word


def _named(row: Row, section: Section) -> str:
    """Return the name of the part, quoted, because a name may hold a comma."""
    if row["variation"] == "condition":
        return f"“{section.called(row['what'])}”"
    if row["variation"] == "item":
        return f"“{section.names.item(section.instrument, row['what'])}”"
    return f"“{printable(row['what'])}”"
