"""Sentences about who is named, or whom more stigma falls on: women and men, by diagnosis.

The main result is female minus male in the first group of conditions minus the same in the second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.contrasts.catalog import LEVEL_OF_CONDITION, REFERENCE
from goffman.contrasts.correlations import IN_MAIN_VARIANT, MAIN_VARIANT
from goffman.formatting import (
    describe_difference,
    describe_variant,
    ends,
    humanize,
    join_words,
    number,
)
from goffman.instruments.types import BASELINE
from goffman.presentation.answer_style import describe_answering
from goffman.presentation.condition_findings import (
    above_and_below,
    above_reference,
    confound,
    in_turn,
    presented_first,
    shortened,
)
from goffman.presentation.findings import (
    describe_tested,
    finding,
    heading,
    how_many_clear,
    of_model,
    verdict_first,
)
from goffman.presentation.reliability import reliability
from goffman.presentation.section import UNSEEN_END, not_counted
from goffman.presentation.variance import describe_variance
from goffman.stats.crossed import LEAST

if TYPE_CHECKING:
    from goffman.presentation.section import Section
    from goffman.presentation.types import Finding

    Row = Mapping[str, Any]

KINDS = ("female", "male", "both", "neither", "nonbinary")

MOST_APART = 0.1
"""If the shares counted differ by more than this, two sets of sentences are hardly comparable."""


def _contrasts(section: Section, kind: str, model: str) -> pl.DataFrame:
    """Return a model's contrasts of this kind over all subscales, the main variant first."""
    rows = of_model(section.contrasts(kind), model).filter(pl.col("dimension").is_null())
    if kind == "groups":
        rows = rows.filter(pl.col("quantity") == "disparity")
    return rows.sort(pl.col("variant").fill_null(MAIN_VARIANT), maintain_order=True)


@dataclass(frozen=True, kw_only=True)
class GenderWords:
    """The words for women and men in answers of one kind."""

    leans: str
    """The words before "more toward women", such as "Stigma leans"."""
    whether: str
    """The words after "cannot tell whether", such as "stigma leans"."""
    alone: Callable[[Section, Row], str]
    """Returns the numbers of women and men in the first group, in sentences."""
    details: Callable[[Section, str], Iterator[str]]
    """Yields the further sentences about a model."""
    style: bool = False
    """Whether a style of answering stands before the finding."""

    def __call__(self, section: Section) -> Iterator[Finding]:
        """Yield for each model whether female minus male differs between the two groups."""
        for model in section.models():
            groups = _contrasts(section, "groups", model).to_dicts()
            genders = _contrasts(section, "genders", model)
            alone = genders.filter(pl.col("group") == section.contrast).to_dicts()
            if not groups and not alone:
                continue
            result = (
                self._compared(section, groups, alone) if groups else self._single(section, alone)
            )
            yield presented_first(section, result) if self.style else result

    def _compared(self, section: Section, rows: Sequence[Row], alone: Sequence[Row]) -> Finding:
        main, *others = rows
        first, second = humanize(main["first"]), humanize(main["second"])
        pair = f"for {first} than for {second} {section.noun.many}"
        head = heading(
            main,
            more=f"{self.leans} more toward women {pair}",
            less=f"{self.leans} more toward men {pair}",
            between=f"between {first} and {second} {section.noun.many}",
            whether=f"{self.whether} toward women for {first}",
        )
        text = (
            f"Female minus male is {number(main['mean_first'])} for {first} and "
            f"{number(main['mean_second'])} for {second} {section.noun.many}: "
            f"{describe_difference(main)}."
        )
        sentences = [self.alone(section, row) for row in alone[:1]]
        sentences += [_without_names(main, row) for row in others]
        return finding(main, head, text, self._more(section, main), rest=" ".join(sentences))

    def _single(self, section: Section, rows: Sequence[Row]) -> Finding:
        """Return the finding if only one group was asked: women against men in it."""
        main, *others = rows
        about = f"for {humanize(main['group'])} {section.noun.many}"
        head = heading(
            main,
            more=f"{self.leans} toward women {about}",
            less=f"{self.leans} toward men {about}",
            between=f"between women and men {about}",
            whether=f"{self.whether} toward women or men {about}",
        )
        sentences = " ".join(_without_names(main, row) for row in others)
        return finding(
            main, head, self.alone(section, main), self._more(section, main), rest=sentences
        )

    def _more(self, section: Section, main: Row) -> Iterator[str]:
        yield f"{describe_tested(main, many=section.noun.many)}."
        yield from self.details(section, main["model"])
        yield from reliability(section, main["model"])
        parts = of_model(section.contrasts("genders"), main["model"])
        parts = parts.filter(pl.col("dimension").is_not_null(), IN_MAIN_VARIANT)
        names = parts["dimension"].unique(maintain_order=True).to_list()
        if len(names) > 1:
            what = f"combinations of subscale ({join_words(names)}) and group"
            yield how_many_clear(parts, "women and men clearly differ in {}", what=what)
        yield from _one_by_one(section, main["model"])


def _one_by_one(section: Section, model: str) -> Iterator[str]:
    """Yield for how many diagnoses women and men clearly differ, and how many lie apart."""
    kinds = (LEVEL_OF_CONDITION, REFERENCE)
    levels, others = (
        of_model(section.contrasts(kind), model).filter(IN_MAIN_VARIANT) for kind in kinds
    )
    if not levels.height:
        return
    above, below = (rows.height or "none" for rows in above_and_below(levels))
    sentence = (
        f"One by one, female minus male is clearly above 0 for {above} of {levels.height} "
        f"{section.noun.many} and clearly below 0 for {below}"
    )
    if others.height:
        above, below = (rows.height or "none" for rows in above_and_below(others))
        sentence += (
            f"; compared with the {humanize(section.against)} mean, {above} of {others.height} "
            f"{humanize(section.contrast)} ones clearly above and {below} below"
        )
    yield f"{sentence}."


def _without_names(main: Row, other: Row) -> str:
    names = ("difference", "low", "high")
    if [number(main[name]) for name in names] == [number(other[name]) for name in names]:
        return "Not counting first names, it is the same."
    text = describe_difference(other).replace("difference", "difference is", 1)
    return f"Not counting first names, the {text}."


# Words and phrases that fill a blank.


def _counted_words(section: Section, row: Row) -> str:
    counted = section.presentation.counted
    about = {"model": row["model"], "group": row["group"], "variant": row["variant"] or ""}
    share = not_counted(section, **about)
    uncounted = f" Another {number(share)} belongs to {section.presentation.uncounted}."
    return (
        f"For {humanize(row['group'])} {section.noun.many}, female {counted} have a total "
        f"probability of {number(row['mean_first'])}, male {counted} {number(row['mean_second'])}: "
        f"{verdict_first(row)}{describe_difference(row)}.{_nonbinary(section, row)}"
        f"{uncounted if share else ''}"
    )


LEAST_SHOWN = 0.005
"""The smallest probability that is not written as none."""


def _nonbinary(section: Section, row: Row) -> str:
    """Return the probability of nonbinary words in the same sentences; empty if not known."""
    first = pl.col("wording").is_in(section.wordings[:1]) & (pl.col("group") == row["group"])
    rows = of_model(section.rows("group", "nonbinary"), row["model"]).filter(IN_MAIN_VARIANT, first)
    texts = (
        "practically none" if value < LEAST_SHOWN else number(value) for value in rows["value"]
    )
    return "".join(f" Nonbinary {section.presentation.counted} have {text}." for text in texts)


def _fill_details(section: Section, model: str) -> Iterator[str]:
    rows = _contrasts(section, "genders", model).filter(pl.col("group") == section.contrast)
    for row in rows.head(1).iter_rows(named=True):
        yield from uncounted(section, row)
    yield from over_baseline(section, model)


def uncounted(section: Section, row: Row) -> Iterator[str]:
    """Yield how far female minus male of one group could move with what is not counted."""
    about = {"model": row["model"], "group": row["group"], "variant": row["variant"] or ""}
    share = not_counted(section, **about)
    if not share:
        return
    men, women = (number(row["difference"] + sign * share) for sign in (-1, 1))
    yield (
        f"For {humanize(row['group'])} {section.noun.many}, {number(share)} of the probability "
        f"belongs to {section.presentation.uncounted}. If they all named men, female minus male "
        f"would be {men}; if they all named women, {women}."
    )
    unseen = not_counted(section, **about, quantities=(UNSEEN_END,))
    if section.presentation.phrases and unseen is not None:
        yield (
            f"{number(share - unseen)} of this belongs to phrases that end in a word without a "
            "gender, such as “person”."
        )


def over_baseline(section: Section, model: str) -> Iterator[str]:
    """Yield how female minus male differs from that without a condition, and its caveat."""
    rows = of_model(section.contrasts("over-baseline"), model).filter(IN_MAIN_VARIANT)
    for row in rows.iter_rows(named=True):
        change = verdict_first(row) + describe_difference(row).replace("difference", "change", 1)
        yield (
            f"In {shortened(section)}, female minus male is {number(row['mean_second'])}; with "
            f"{humanize(row['group'])} {section.noun.many}, {number(row['mean_first'])} ({change})."
        )
    if rows.height:
        baseline, contrast = (
            not_counted(section, model=model, group=group, variant=MAIN_VARIANT)
            for group in (BASELINE, section.contrast)
        )
        if baseline is not None and contrast is not None and abs(baseline - contrast) > MOST_APART:
            yield (
                f"In the shortened sentences, {number(1 - baseline)} of the probability counts, in "
                f"the others {number(1 - contrast)}, so the two are hardly comparable."
            )
        yield confound(section)


gender_findings = GenderWords(
    leans="Leans", whether="it leans", alone=_counted_words, details=_fill_details
)

# Codes for women and men with the same description.


def _codes(section: Section, row: Row) -> str:
    rows = of_model(section.rows("group", "unstated"), row["model"]).filter(
        pl.col("wording").is_null(), pl.col("group") == row["group"]
    )
    unstated = [f", about a person of no stated gender {number(value)}" for value in rows["value"]]
    return (
        f"For {humanize(row['group'])} {section.noun.many}, the mean code is "
        f"{number(row['mean_first'])} about a woman and {number(row['mean_second'])} about a man"
        f"{''.join(unstated)}: {verdict_first(row)}{describe_difference(row)}."
    )


def _nonbinary_people(section: Section, model: str) -> Iterator[str]:
    """Yield how the code about a nonbinary person differs from those about a woman and a man."""
    rows = of_model(section.contrasts("nonbinary"), model)
    for group in rows["group"].unique(maintain_order=True):
        tests = rows.filter(pl.col("group") == group).to_dicts()
        comparisons = [
            f"{number(row['mean_second'])} about a {person} "
            f"({verdict_first(row)}{describe_difference(row)})"
            for person, row in zip(("woman", "man"), tests, strict=True)
        ]
        yield (
            f"In the questions about {humanize(group)} {section.noun.many} that were also asked "
            f"about a nonbinary person, the mean code is {number(tests[0]['mean_first'])} about "
            f"that person, {' and '.join(comparisons)}."
        )


described_gender_findings = GenderWords(
    leans="Stigma leans",
    whether="stigma leans",
    alone=_codes,
    details=in_turn(describe_answering, describe_variance, _nonbinary_people),
    style=True,
)

# Sentences that the model writes.


def _shares(section: Section, row: Row) -> str:
    return (
        f"For {humanize(row['group'])} {section.noun.many}, {number(row['mean_first'])} of the "
        f"sentences are about a woman, {number(row['mean_second'])} about a man: "
        f"{verdict_first(row)}{describe_difference(row)}."
    )


def _written_details(section: Section, model: str) -> Iterator[str]:
    """Yield the shares of each group's sentences about a woman, a man, both, and so on."""
    phrases = {
        kind: "about someone nonbinary" if kind == "nonbinary" else f"about {kind}"
        for kind in KINDS
    } | {"female": "about a woman", "male": "about a man"}
    rows = of_model(section.rows("group", KINDS), model).filter(pl.col("group") != BASELINE)
    order = ("variant", "group")
    for frame in rows.sort(*order).partition_by(*order, maintain_order=True):
        share = dict(frame.select("quantity", "value").rows())
        parts = [f"{number(share[kind])} {phrases[kind]}" for kind in KINDS if kind in share]
        yield (
            f"Sentences about {humanize(frame['group'][0])} {section.noun.many}, "
            f"{describe_variant(frame['variant'][0])}: {', '.join(parts)}."
        )
    yield from over_baseline(section, model)


written_gender_findings = GenderWords(
    leans="Sentences lean", whether="sentences lean", alone=_shares, details=_written_details
)

# Descriptions of people.


def vignette_findings(section: Section) -> Iterator[Finding]:
    """Yield whether descriptions of the first group draw more stigma than those of the second."""
    for row in section.contrasts("groups").iter_rows(named=True):
        first, second = (_described(section, row, side) for side in ("first", "second"))
        head = heading(
            row,
            more=f"More stigma in {first} than in {second}",
            less=f"More stigma in {second} than in {first}",
            between=f"between {first} and {second}",
            whether=f"there is more stigma in {first} than in {second}",
        )
        model = row["model"]
        text = (
            f"The mean code of the questions about distance and violence to others is "
            f"{number(row['mean_first'])} in {first} and {number(row['mean_second'])} in {second}: "
            f"{describe_difference(row)}.{_compared_with(section, row)}"
        )
        sentences = [_vignettes_counted(section, row), *_by_gender(section, model)]
        tested = f"{describe_tested(row, many=section.noun.many)}."
        more = [tested, *describe_answering(section, model), *reliability(section, model)]
        more += _nonbinary_people(section, model)
        result = finding(row, head, text, iter(more), rest=" ".join(filter(None, sentences)))
        yield presented_first(section, result)


def _vignettes_counted(section: Section, row: Row) -> str:
    """Return how many descriptions are above the others' mean; what that does not allow for."""
    sentence = above_reference(section, row["model"])
    if not sentence or len(_means(section, row, "second")) < LEAST:
        return sentence
    return (
        f"{sentence} These counts take the {section.noun.many} as they are; the verdict above also "
        "allows for others."
    )


def _described(section: Section, row: Row, side: str) -> str:
    """Return the name of the descriptions of a side, or of its only one."""
    if len(_means(section, row, side)) == 1:
        return f"the one {humanize(row[side])} {section.noun.one}"
    return f"{humanize(row[side])} {section.noun.many}"


def _means(section: Section, row: Row, side: str) -> list[float]:
    """Return the mean code of each description of a side."""
    rows = of_model(section.rows("condition", "code"), row["model"])
    return rows.filter(pl.col("group") == row[side])["value"].drop_nulls().to_list()


def _compared_with(section: Section, row: Row) -> str:
    """Return the range over the texts compared with, or that interval and p ignore other texts."""
    means, many = _means(section, row, "second"), section.noun.many
    which = f"{humanize(row['second'])} {section.noun.one if len(means) == 1 else many}"
    if len(means) < LEAST:
        count = "is only one" if len(means) == 1 else f"are only {len(means)}"
        text = "that text" if len(means) == 1 else "these texts"
        return (
            f" There {count} {which}, so interval and p say nothing about others: part of the "
            f"difference may be due to {text}."
        )
    first = fmean(_means(section, row, "first"))
    low, high = first - max(means), first - min(means)
    span = number(low) if number(low) == number(high) else ends(low, high)
    return f" Compared with each of the {len(means)} {which} alone, the difference would be {span}."


def _by_gender(section: Section, model: str) -> Iterator[str]:
    """Yield whether a woman or a man with the same description draws more stigma."""
    for row in of_model(section.contrasts("genders"), model).iter_rows(named=True):
        yield (
            f"With the same {humanize(row['group'])} {section.noun.one}, the mean code is "
            f"{number(row['mean_first'])} about a woman and {number(row['mean_second'])} about a "
            f"man ({verdict_first(row)}{describe_difference(row)})."
        )
