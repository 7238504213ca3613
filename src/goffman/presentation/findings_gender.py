"""What is said about who is named: care-seeking and attribution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.estimates.clear import clear, points
from goffman.presentation.findings import (
    finding,
    heading,
    how_many_clear,
    of_model,
    tested_said,
    untested,
    verdict_first,
)
from goffman.presentation.findings_over_baseline import over_baseline, uncounted
from goffman.presentation.findings_reliability import reliability
from goffman.presentation.findings_robustness import clear_in_others
from goffman.presentation.numbers import beside_said, difference_said, ends, number
from goffman.presentation.section import not_counted
from goffman.presentation.shown import in_list, plain, variant_said
from goffman.records import BASELINE

if TYPE_CHECKING:
    from goffman.presentation.base import Finding
    from goffman.presentation.section import Section

    Row = Mapping[str, Any]


def women_and_men(section: Section) -> Iterator[Finding]:
    """Whether women or men are named more in the group that the instrument is about."""
    rows = section.contrasts("genders").filter(
        pl.col("dimension").is_null(), pl.col("group") == section.contrast
    )
    by_model: dict[str, dict[str, Row]] = {}
    for row in rows.iter_rows(named=True):
        by_model.setdefault(row["model"], {})[row["variant"] or ""] = row
    for variants in by_model.values():
        main = variants.get("with-names") or next(iter(variants.values()))
        about = f"{plain(main['group'] or 'all')} {section.noun.many}"
        counted = section.presentation.counted
        head = heading(
            main,
            more=f"For {about}, counted {counted} name women more than men",
            less=f"For {about}, counted {counted} name men more than women",
            between=f"between women and men in counted {counted}, for {about},",
        )
        text = (
            f"Of the probability, {number(main['mean_first'])} is on counted female {counted} and "
            f"{number(main['mean_second'])} on counted male {counted}: {difference_said(main)}."
            f"{_too_improbable(section, main)}"
        )
        rest = []
        if (other := variants.get("without-names")) and other is not main:
            rest.append(_without_names(section, main, other))
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


def _without_names(section: Section, main: Row, other: Row) -> str:
    """The difference without first names; that it is the same, where it is, and how sure it is."""
    exactly = all(main[name] == other[name] for name in ("difference", "low", "high"))
    checked = _checked(section, other)
    if _same(main, other):
        shown = "" if exactly else " to the digits shown"
        same = f"the difference and its interval are the same{shown}"
        return f"Not counting first names, {same}.{checked}"
    said = difference_said(other).replace("difference", "difference is", 1)
    return f"Not counting first names, the {said}.{checked}"


def _checked(section: Section, row: Row) -> str:
    """In how many other analyses a clear difference beside the headline is clear, a sentence."""
    kept = clear_in_others(section, row)
    if not kept:
        return ""
    tests = row["family_size"] or 1
    corrected = f"Corrected for {tests} tests" if tests > 1 else "Not corrected (a single test)"
    return f" {corrected}, it is {kept}."


def _same(main: Row, other: Row) -> bool:
    """Whether two differences are the same as far as they are shown."""
    names = ("difference", "low", "high")
    return [number(main[name]) for name in names] == [number(other[name]) for name in names]


def _specific(section: Section, main: Row) -> str:
    """Beside a heading about one group: whether the other group differs from it."""
    rows = _groups(section, main).head(1).filter(pl.col("p_adjusted").is_not_null())
    if not points(main) or not rows.height:
        return ""
    row, many = rows.row(0, named=True), section.noun.many
    said = {
        0: f"It is not shown that this is specific to {plain(row['first'])} {many}",
        points(main): f"This is clearly stronger than for {plain(row['second'])} {many}",
        -points(main): f"This is clearly weaker than for {plain(row['second'])} {many}",
    }[points(row)]
    kept = clear_in_others(section, row)
    single = (row["family_size"] or 1) == 1
    others = f"; {'without correction, ' if single else ''}{kept}" if kept else ""
    return (
        f"{said} ({plain(row['first'])} minus {plain(row['second'])}: {number(row['difference'])}, "
        f"95% interval {ends(row['low'], row['high'])}, {beside_said(row)}{others})."
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
        first, second = f"{plain(other['first'])} {many}", f"{plain(other['second'])} {many}"
        compared = {
            1: f"is clearly larger for {first} than for {second}",
            -1: f"is clearly smaller for {first} than for {second}",
            0: f"does not clearly differ between {first} and {second}",
        }[points(other)]
        if untested(other):
            compared = f"could not be compared between {first} and {second}"
        yield (
            f"{_female_minus_male(other)} {compared} ({variant_said(other['variant'])}: "
            f"{verdict_first(other)}{difference_said(other)})."
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
        if tested := tested_said(row, many=section.noun.many):
            yield f"Effect size and test of the main difference: {tested}."
    yield from over_baseline(section, model)
    yield from _neither(section, model)
    yield from reliability(section, model)
    parts = genders.filter(pl.col("dimension").is_not_null())
    names = parts["dimension"].unique(maintain_order=True).to_list()
    groups = parts["group"].n_unique()
    of_groups = f" × {groups} groups of {section.noun.many}" if groups > 1 else ""
    listed = f"the subscales are {in_list(names)}"
    what = f"tests ({len(names)} subscales{of_groups}; {listed})"
    for (variant,), of in parts.partition_by("variant", as_dict=True, maintain_order=True).items():
        differ = f"female and male {section.presentation.counted} clearly differ in {{}}"
        said = how_many_clear(of, differ, what=what)
        yield f"{variant_said(variant).capitalize()}, {said[0].lower()}{said[1:]}"
    for row in main.head(1).iter_rows(named=True):
        yield from _against_by_part(section, row)


def _against_by_part(section: Section, main: Row) -> Iterator[str]:
    """In which subscales the groups clearly differ."""
    rows = of_model(section.contrasts("groups"), main["model"]).filter(
        pl.col("dimension").is_not_null(), pl.col("variant").eq_missing(pl.lit(main["variant"]))
    )
    for (quantity,), of in rows.sort("quantity").group_by("quantity", maintain_order=True):
        first, second = (plain(of[side][0]) for side in ("first", "second"))
        sure = clear(of)["dimension"].to_list()
        named = f" ({in_list(sure)})" if sure else ""
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
            + (none if row["group"] == BASELINE else f"for {plain(row['group'])} {many}")
            for row in of.iter_rows(named=True)
        ]
        values[0] = values[0].replace(" ", " of the probability ", 1)
        variant = variant_said(of["variant"][0])
        said.append(
            f" {f'{variant.capitalize()}, t' if variant else 'T'}hey get {in_list(values)}."
        )
    if said:
        yield (
            f"Some counted {section.presentation.counted} name neither women nor men, or are in no "
            f"gender list.{''.join(said)}"
        )
