"""What is said about who is named: care-seeking and attribution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.contrasts.verdict import direction, rows_apart_from_zero
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
from goffman.presentation.condition_findings import above_reference, presented_first, shortened
from goffman.presentation.findings import (
    describe_tested,
    finding,
    heading,
    how_many_clear,
    of_model,
    untested,
    verdict_first,
)
from goffman.presentation.reliability import reliability
from goffman.presentation.section import UNSEEN_END, not_counted
from goffman.presentation.variance import describe_variance
from goffman.stats.crossed import LEAST

if TYPE_CHECKING:
    from goffman.presentation.section import Section
    from goffman.presentation.types import Finding

if TYPE_CHECKING:
    Row = Mapping[str, Any]


MOST_APART = 0.1
"""Sentences of which so much more is counted are no measure for the others."""


def over_baseline(section: Section, model: str) -> Iterator[str]:
    """Of each group: how female minus male differs from that without a condition, and its caveat.

    The shortened sentences lack more than the condition: naming it is not said to move anything.
    """
    rows = of_model(section.contrasts("over-baseline"), model)
    rows = rows.filter(pl.col("variant").is_null() | (pl.col("variant") == "with-names"))
    for row in rows.iter_rows(named=True):
        compared = {
            1: "clearly higher",
            -1: "clearly lower",
            0: "not clearly different",
        }[direction(row)]
        if untested(row):
            compared = "not tested"
        change = verdict_first(row) + describe_difference(row).replace("difference", "change", 1)
        yield (
            f"In {shortened(section)}, the female−male difference is {number(row['mean_second'])}. "
            f"In sentences that name {humanize(row['group'])} {section.noun.many}, it is "
            f"{compared} "
            f"({change})."
        )
    if rows.height:
        yield from _counted(section, model)
        yield (
            f"To leave out the {section.noun.one}, other words had to be left out too. Part of the "
            "change may be due to those words."
        )


def _counted(section: Section, model: str) -> Iterator[str]:
    """That sentences with and without a condition cannot be compared, where far less is counted."""
    none, some = (
        not_counted(section, model=model, group=group, variant="with-names")
        for group in (BASELINE, section.contrast)
    )
    if none is not None and some is not None and abs(none - some) > MOST_APART:
        yield (
            f"In the shortened sentences, {number(1 - none)} of the probability is counted, "
            f"compared with {number(1 - some)} in sentences that name {humanize(section.contrast)} "
            f"{section.noun.many}. The differences with and without a named {section.noun.one} are "
            "therefore hardly comparable."
        )


def uncounted(section: Section, row: Row) -> Iterator[str]:
    """How much of the probability is counted for nobody, and how far that could move a headline.

    ``row``: of female against male in one group.
    """
    about = {"model": row["model"], "group": row["group"], "variant": row["variant"] or ""}
    rest = not_counted(section, **about)
    if not rest:
        return
    phrases = section.presentation.phrases
    yield (
        f"On average, {number(rest)} of the probability is on {section.presentation.uncounted}. "
        f"{_if_all(row, rest, 'they')}{_of_ends(section, row, rest) if phrases else ''}"
    )


def _if_all(row: Row, rest: float, which: str) -> str:
    """What the difference would be if so much named men, or women."""
    men, women = (number(row["difference"] + sign * rest) for sign in (-1, 1))
    return (
        f"If {which} all named men, the difference would be {men}. If {which} all named women, it "
        f"would be {women}."
    )


def _of_ends(section: Section, row: Row, rest: float) -> str:
    """What is known of these phrases: how many end in a word that names no gender."""
    about = {"model": row["model"], "group": row["group"], "variant": row["variant"] or ""}
    unseen = not_counted(section, **about, quantities=(UNSEEN_END,))
    if unseen is None:
        return ""
    return (
        f" Of this {number(rest)}, however, {number(rest - unseen)} is on phrases that end in a "
        "word without a gender, such as “person”. An earlier word could still name one (“female "
        "person”), but none of these phrases is counted. Of the other "
        f"{number(unseen)}, nothing is known. {_if_all(row, unseen, 'those')}"
    )


def gender_findings(section: Section) -> Iterator[Finding]:
    """Whether women or men are named more in the group that the instrument is about."""
    rows = section.contrasts("genders").filter(
        pl.col("dimension").is_null(), pl.col("group") == section.contrast
    )
    by_model: dict[str, dict[str, Row]] = {}
    for row in rows.iter_rows(named=True):
        by_model.setdefault(row["model"], {})[row["variant"] or ""] = row
    for variants in by_model.values():
        main = variants.get("with-names") or next(iter(variants.values()))
        about = f"{humanize(main['group'] or 'all')} {section.noun.many}"
        counted = section.presentation.counted
        head = heading(
            main,
            more=f"For {about}, counted {counted} name women more than men",
            less=f"For {about}, counted {counted} name men more than women",
            between=f"between women and men in counted {counted}, for {about},",
        )
        text = (
            f"Of the probability, {number(main['mean_first'])} is on counted female {counted} and "
            f"{number(main['mean_second'])} on counted male {counted}: {describe_difference(main)}."
            f"{_too_improbable(section, main)}"
        )
        rest = []
        if (other := variants.get("without-names")) and other is not main:
            rest.append(_without_names(main, other))
        rest += [*_against(section, main), *uncounted(section, main)]
        also = {"rest": " ".join(rest), "caveat": _specific(section, main)}
        yield finding(main, head, text, _more(section, main["model"]), **also)


def _too_improbable(section: Section, row: Row) -> str:
    """How much of the probability no word counts for."""
    rest = not_counted(
        section, model=row["model"], group=row["group"], variant=row["variant"] or ""
    )
    if not rest:
        return ""
    return f" Another {number(rest)} is on {section.presentation.uncounted}."


def _without_names(main: Row, other: Row) -> str:
    """The difference without first names; that it is the same, where it is, and how sure it is."""
    exactly = all(main[name] == other[name] for name in ("difference", "low", "high"))
    if _same(main, other):
        shown = "" if exactly else " to the digits shown"
        return f"Not counting first names, the difference and its interval are the same{shown}."
    said = describe_difference(other).replace("difference", "difference is", 1)
    return f"Not counting first names, the {said}."


def _same(main: Row, other: Row) -> bool:
    """Whether two differences are the same as far as they are shown."""
    names = ("difference", "low", "high")
    return [number(main[name]) for name in names] == [number(other[name]) for name in names]


def _specific(section: Section, main: Row) -> str:
    """Beside a heading about one group: whether the other group differs from it."""
    rows = _groups(section, main).head(1).filter(pl.col("low").is_not_null())
    if not direction(main) or not rows.height:
        return ""
    row, many = rows.row(0, named=True), section.noun.many
    said = {
        0: f"It is not shown that this is specific to {humanize(row['first'])} {many}",
        direction(main): f"This is clearly stronger than for {humanize(row['second'])} {many}",
        -direction(main): f"This is clearly weaker than for {humanize(row['second'])} {many}",
    }[direction(row)]
    return (
        f"{said} ({humanize(row['first'])} minus {humanize(row['second'])}: "
        f"{number(row['difference'])}, 95% interval {ends(row['low'], row['high'])})."
    )


def _groups(section: Section, row: Row) -> pl.DataFrame:
    """The groups compared: the disparity as it came, if there is one, before the keyed one."""
    rows = of_model(section.contrasts("groups"), row["model"]).filter(
        pl.col("dimension").is_null(), pl.col("variant").eq_missing(pl.lit(row["variant"]))
    )
    return rows.sort("quantity")


def _against(section: Section, row: Row) -> Iterator[str]:
    """How the disparity compares with that of the other group."""
    for other in _groups(section, row).head(1).iter_rows(named=True):
        many = section.noun.many
        first, second = f"{humanize(other['first'])} {many}", f"{humanize(other['second'])} {many}"
        compared = {
            1: f"is clearly larger for {first} than for {second}",
            -1: f"is clearly smaller for {first} than for {second}",
            0: f"does not clearly differ between {first} and {second}",
        }[direction(other)]
        if untested(other):
            compared = f"could not be compared between {first} and {second}"
        yield (
            f"{_female_minus_male(other)} {compared} ({describe_variant(other['variant'])}: "
            f"{verdict_first(other)}{describe_difference(other)})."
        )


def _female_minus_male(row: Row) -> str:
    """What is compared; keying turns its sign where a statement is reversed."""
    keyed = " (reverse-keyed)" if "keyed" in row["quantity"] else ""
    return f"The female−male difference{keyed}"


def _more(section: Section, model: str) -> Iterator[str]:
    genders = of_model(section.contrasts("genders"), model)
    # All other numbers of these contrasts stand in the tables.
    main = genders.filter(
        pl.col("dimension").is_null(),
        pl.col("group") == section.contrast,
        pl.col("variant").is_null() | (pl.col("variant") == "with-names"),
    )
    for row in main.iter_rows(named=True):
        if tested := describe_tested(row, many=section.noun.many):
            yield f"{tested}."
    yield from over_baseline(section, model)
    yield from _neither(section, model)
    yield from reliability(section, model)
    parts = genders.filter(pl.col("dimension").is_not_null())
    names = parts["dimension"].unique(maintain_order=True).to_list()
    groups = parts["group"].n_unique()
    of_groups = f" × {groups} groups of {section.noun.many}" if groups > 1 else ""
    listed = f"the subscales are {join_words(names)}"
    what = f"tests ({len(names)} subscales{of_groups}; {listed})"
    for (variant,), of in parts.partition_by("variant", as_dict=True, maintain_order=True).items():
        differ = f"female and male {section.presentation.counted} clearly differ in {{}}"
        said = how_many_clear(of, differ, what=what)
        yield f"{describe_variant(variant).capitalize()}, {said[0].lower()}{said[1:]}"
    for row in main.head(1).iter_rows(named=True):
        yield from _against_by_part(section, row)


def _against_by_part(section: Section, main: Row) -> Iterator[str]:
    """In which subscales the groups clearly differ."""
    rows = of_model(section.contrasts("groups"), main["model"]).filter(
        pl.col("dimension").is_not_null(), pl.col("variant").eq_missing(pl.lit(main["variant"]))
    )
    for (quantity,), of in rows.sort("quantity").group_by("quantity", maintain_order=True):
        first, second = (humanize(of[side][0]) for side in ("first", "second"))
        sure = rows_apart_from_zero(of)["dimension"].to_list()
        named = f" ({join_words(sure)})" if sure else ""
        keyed = _female_minus_male({"quantity": quantity})
        yield (
            f"{keyed} clearly differs between {first} and {second} {section.noun.many} in "
            f"{len(sure) or 'none'} of {of.height} subscales{named}."
        )
        return


def _neither(section: Section, model: str) -> Iterator[str]:
    """What has no gender, in the first wording: a second one is compared with it apart."""
    rows, many = of_model(section.rows("group", "unspecified"), model), section.noun.many
    wordings = sorted(rows["wording"].drop_nulls().unique())
    if wordings:
        rows = rows.filter(pl.col("wording") == wordings[0])
    none = f"with no {section.noun.one} named"
    said = []
    by_variant = rows.sort("variant", "group").partition_by("variant", maintain_order=True)
    for of in by_variant:
        values = [
            f"{number(row['value'])} "
            + (none if row["group"] == BASELINE else f"for {humanize(row['group'])} {many}")
            for row in of.iter_rows(named=True)
        ]
        values[0] = values[0].replace(" ", " of the probability ", 1)
        variant = describe_variant(of["variant"][0])
        said.append(
            f" {f'{variant.capitalize()}, t' if variant else 'T'}hey get {join_words(values)}."
        )
    if said:
        yield (
            f"Some counted {section.presentation.counted} name neither women nor men, or are in no "
            f"gender list.{''.join(said)}"
        )


def described_gender_findings(section: Section) -> Iterator[Finding]:
    """Whether the same description draws more stigma of a woman or of a man."""
    rows = section.contrasts("genders").filter(
        pl.col("dimension").is_null(), pl.col("group") == section.contrast
    )
    for row in rows.iter_rows(named=True):
        about = f"{humanize(row['group'])} {section.noun.many}"
        head = heading(
            row,
            more=f"With the same {about}, more stigma toward women than men",
            less=f"With the same {about}, more stigma toward men than women",
            between=f"between a woman and a man with the same {about}",
        )
        text = (
            f"The mean code is {number(row['mean_first'])} about a woman and "
            f"{number(row['mean_second'])} about a man in the same questions: "
            f"{describe_difference(row)}."
        )
        rest = " ".join(_described_between_groups(section, row))
        found = finding(row, head, text, _described_more(section, row["model"]), rest=rest)
        yield presented_first(section, found)


def _described_between_groups(section: Section, row: Row) -> Iterator[str]:
    """Whether the difference is another one for the other group of conditions."""
    rows = of_model(section.contrasts("groups"), row["model"])
    for other in rows.filter(pl.col("dimension").is_null()).iter_rows(named=True):
        many = section.noun.many
        first, second = f"{humanize(other['first'])} {many}", f"{humanize(other['second'])} {many}"
        compared = {
            1: f"is clearly higher for {first} than for {second}",
            -1: f"is clearly lower for {first} than for {second}",
            0: f"does not clearly differ between {first} and {second}",
        }[direction(other)]
        if untested(other):
            compared = f"could not be tested between {first} and {second}"
        yield f"Female minus male {compared} ({describe_difference(other)})."


def _described_more(section: Section, model: str) -> Iterator[str]:
    rows, many = of_model(section.contrasts("genders"), model), section.noun.many
    for row in rows.filter(pl.col("dimension").is_null()).iter_rows(named=True):
        yield (
            f"For {humanize(row['group'])} {many}, the mean code is {number(row['mean_first'])} "
            f"about "
            f"a woman, {number(row['mean_second'])} about a man"
            f"{_unstated(section, model, row['group'])}: {describe_difference(row)}; "
            f"{describe_tested(row, many=many)}."
        )
    parts = rows.filter(pl.col("dimension").is_not_null())
    if parts.height:
        what = "subscales"
        if parts["group"].n_unique() > 1:
            what = "combinations of subscale and group"
        yield how_many_clear(parts, "women and men clearly differ in {}", what=what)
    yield from describe_answering(section, model)
    yield from reliability(section, model)
    yield from describe_variance(section, model)


def _unstated(section: Section, model: str, group: str) -> str:
    """The mean code about a person of no stated gender, where there was one."""
    rows = of_model(section.rows("group", "unstated"), model).filter(
        pl.col("wording").is_null(), pl.col("group") == group
    )
    said = [f", about a person of no stated gender {number(value)}" for value in rows["value"]]
    return "".join(said)


MAIN = "with-names"
KINDS = ("female", "male", "both", "neither", "nonbinary")


def written_gender_findings(section: Section) -> Iterator[Finding]:
    """Whether more sentences are about women or about men, in the group of the instrument."""
    rows = section.contrasts("genders").filter(
        pl.col("dimension").is_null(), pl.col("group") == section.contrast
    )
    for row in rows.filter(pl.col("variant") == MAIN).iter_rows(named=True):
        about = f"{humanize(row['group'])} {section.noun.many}"
        head = heading(
            row,
            more=f"For {about}, more sentences are about women than about men",
            less=f"For {about}, more sentences are about men than about women",
            between=f"between women and men, for {about},",
        )
        text = (
            f"{number(row['mean_first'])} of the sentences are about a woman and "
            f"{number(row['mean_second'])} about a man: {describe_difference(row)}."
        )
        rest = [
            f"Not counting first names, the {describe_difference(other).replace('e ', 'e is ', 1)}."
            for other in of_model(rows, row["model"]).iter_rows(named=True)
            if other["variant"] != MAIN
        ]
        rest += _written_between_groups(section, row["model"])
        more = (
            f"{describe_tested(row, many=section.noun.many)}.",
            *_kinds(section, row["model"]),
            *over_baseline(section, row["model"]),
            *reliability(section, row["model"]),
        )
        yield finding(row, head, text, iter(more), rest=" ".join(rest))


def _written_between_groups(section: Section, model: str) -> Iterator[str]:
    rows = of_model(section.contrasts("groups"), model)
    rows = rows.filter(pl.col("dimension").is_null(), pl.col("variant") == MAIN)
    for row in rows.iter_rows(named=True):
        many = section.noun.many
        first, second = f"{humanize(row['first'])} {many}", f"{humanize(row['second'])} {many}"
        compared = {
            1: f"is clearly higher for {first} than for {second}",
            -1: f"is clearly lower for {first} than for {second}",
            0: f"does not clearly differ between {first} and {second}",
        }[direction(row)]
        if untested(row):
            compared = f"could not be tested between {first} and {second}"
        yield f"Female minus male {compared} ({describe_difference(row)})."


def _kinds(section: Section, model: str) -> Iterator[str]:
    """Whom the sentences of each group are about."""
    rows = of_model(section.rows("group", KINDS), model).filter(pl.col("group") != BASELINE)
    order = ("variant", "group")
    for of in rows.sort(*order).partition_by(*order, maintain_order=True):
        share = dict(of.select("quantity", "value").rows())
        said = [f"{number(share[kind])} {_ABOUT[kind]}" for kind in KINDS if kind in share]
        yield (
            f"Sentences about {humanize(of['group'][0])} {section.noun.many}, "
            f"{describe_variant(of['variant'][0])}: {', '.join(said)}."
        )


_ABOUT = {
    "female": "about a woman",
    "male": "about a man",
    "both": "about both",
    "neither": "about neither",
    "nonbinary": "about someone nonbinary",
}


def vignette_findings(section: Section) -> Iterator[Finding]:
    """Whether people described with one thing draw more stigma than those with the other."""
    for row in section.contrasts("groups").iter_rows(named=True):
        first, second = (_described(section, row, side) for side in ("first", "second"))
        head = heading(
            row,
            more=f"More stigma in {first} than in {second}",
            less=f"More stigma in {second} than in {first}",
            between=f"between {first} and {second}",
        )
        text = (
            f"The mean code of the questions about distance and violence to others is "
            f"{number(row['mean_first'])} in {first} and {number(row['mean_second'])} in {second}: "
            f"{describe_difference(row)}.{_compared_with(section, row)}"
        )
        rest = [_vignettes_counted(section, row), *_by_gender(section, row["model"])]
        also = " ".join(filter(None, rest))
        found = finding(row, head, text, _vignette_more(section, row), rest=also)
        yield presented_first(section, found)


def _vignettes_counted(section: Section, row: Row) -> str:
    """How many descriptions are above the others' mean, and what that does not allow for."""
    said = above_reference(section, row["model"])
    if not said or len(_means(section, row, "second")) < LEAST:
        return said
    return (
        f"{said} These counts take the {section.noun.many} as they are; the verdict above also "
        "allows for others."
    )


def _described(section: Section, row: Row, side: str) -> str:
    """The descriptions of a side; where there is one, it is called so."""
    if len(_means(section, row, side)) == 1:
        return f"the one {humanize(row[side])} {section.noun.one}"
    return f"{humanize(row[side])} {section.noun.many}"


def _means(section: Section, row: Row, side: str) -> list[float]:
    """The mean code of each description of a side."""
    rows = of_model(section.rows("condition", "code"), row["model"])
    return rows.filter(pl.col("group") == row[side])["value"].drop_nulls().to_list()


def _compared_with(section: Section, row: Row) -> str:
    """Whether interval and p allow for others to compare with; how much these differ."""
    means, many = _means(section, row, "second"), section.noun.many
    which = f"{humanize(row['second'])} {section.noun.one if len(means) == 1 else many}"
    if len(means) < LEAST:
        only = "is only one" if len(means) == 1 else f"are only {len(means)}"
        text = "that text" if len(means) == 1 else "these texts"
        return (
            f" There {only} {which}, so interval and p say nothing about others: part of the "
            f"difference may be due to {text}."
        )
    first = fmean(_means(section, row, "first"))
    low, high = first - max(means), first - min(means)
    span = number(low) if number(low) == number(high) else ends(low, high)
    return f" Compared with each of the {len(means)} {which} alone, the difference would be {span}."


def _by_gender(section: Section, model: str) -> Iterator[str]:
    """Whether a woman or a man with the same description draws more stigma."""
    for row in of_model(section.contrasts("genders"), model).iter_rows(named=True):
        way = {
            1: "is clearly higher about a woman than about a man",
            -1: "is clearly lower about a woman than about a man",
            0: "does not clearly differ between a woman and a man",
        }[direction(row)]
        if untested(row):
            way = "could not be tested between a woman and a man"
        yield (
            f"With the same {humanize(row['group'])} {section.noun.one}, the mean code {way} "
            f"({number(row['mean_first'])} and {number(row['mean_second'])}; "
            f"{describe_difference(row)})."
        )


def _vignette_more(section: Section, row: Row) -> Iterator[str]:
    yield f"{describe_tested(row, many=section.noun.many)}."
    yield from describe_answering(section, row["model"])
    yield from reliability(section, row["model"])
