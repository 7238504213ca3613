"""Sentences about who is named, or whom more stigma falls on: women and men, by diagnosis.

The main result is female minus male in the first group of conditions minus the same in the second.
"""

from __future__ import annotations

import math
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
from goffman.presentation.conditions import (
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
    verdict_first,
)
from goffman.presentation.reliability import describe_variance, reliability
from goffman.presentation.section import UNSEEN_END, FigureFn, Section, not_counted
from goffman.presentation.tables import QUANTITY
from goffman.presentation.vega import (
    ESTIMATE,
    LINE,
    Choice,
    Figure,
    Spec,
    axis_x,
    axis_y,
    choice,
    chosen,
    coloured,
    data,
    describe_marks,
    estimate_layers,
    estimate_tip,
    interval,
    plot,
    tip,
    with_clear,
    wrapped,
)
from goffman.stats.crossed import LEAST

if TYPE_CHECKING:
    from goffman.presentation.section import Finding

    Row = Mapping[str, Any]


KINDS = ("female", "male", "both", "neither", "nonbinary")

MOST_APART = 0.1
"""If the shares counted differ by more than this, two sets of sentences are hardly comparable."""


def _contrasts(section: Section, kind: str, model: str) -> pl.DataFrame:
    """Return a model's contrasts of this kind over all subscales, the main variant first."""
    rows = section.contrasts(kind, model).filter(pl.col("dimension").is_null())
    if kind == "groups":
        rows = rows.filter(quantity="disparity")
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
    """Whether a style of answering introduces the finding."""

    def __call__(self, section: Section) -> Iterator[Finding]:
        """Yield for each model whether female minus male differs between the two groups."""
        for model in section.models():
            groups = _contrasts(section, "groups", model).to_dicts()
            genders = _contrasts(section, "genders", model)
            alone = genders.filter(group=section.contrast).to_dicts()
            if groups or alone:
                result = self._finding(section, groups, alone)
                yield presented_first(section, result) if self.style else result

    def _finding(self, section: Section, groups: Sequence[Row], alone: Sequence[Row]) -> Finding:
        """Return the two groups compared, or women and men in the only group that was asked."""
        main, *others = groups or alone
        many, rest = section.noun.many, [_without_names(main, row) for row in others]
        if groups:
            first, second = humanize(main["first"]), humanize(main["second"])
            leans, about = f"{self.leans} more", f"for {first} than for {second} {many}"
            between, whether = f"between {first} and {second} {many}", f"women for {first}"
            text = (
                f"Female minus male is {number(main['mean_first'])} for {first} and "
                f"{number(main['mean_second'])} for {second} {many}: {describe_difference(main)}."
            )
            rest = [*(self.alone(section, row) for row in alone[:1]), *rest]
        else:
            leans, about = self.leans, f"for {humanize(main['group'])} {many}"
            between, whether = f"between women and men {about}", f"women or men {about}"
            text = self.alone(section, main)
        head = heading(
            main,
            more=f"{leans} toward women {about}",
            less=f"{leans} toward men {about}",
            between=between,
            whether=f"{self.whether} toward {whether}",
        )
        return finding(main, head, text, self._more(section, main), rest=" ".join(rest))

    def _more(self, section: Section, main: Row) -> Iterator[str]:
        model, many = main["model"], section.noun.many
        yield f"{describe_tested(main, many=many)}."
        yield from self.details(section, model)
        yield from reliability(section, model)
        parts = section.contrasts("genders", model)
        parts = parts.filter(pl.col("dimension").is_not_null(), IN_MAIN_VARIANT)
        names = parts["dimension"].unique(maintain_order=True).to_list()
        if len(names) > 1:
            what = f"combinations of subscale ({join_words(names)}) and group"
            yield how_many_clear(parts, "women and men clearly differ in {}", what=what)
        levels, others = (
            section.contrasts(kind, model).filter(IN_MAIN_VARIANT)
            for kind in (LEVEL_OF_CONDITION, REFERENCE)
        )
        if not levels.height:
            return
        above, below = (rows.height or "none" for rows in above_and_below(levels))
        sentence = (
            f"One by one, female minus male is clearly above 0 for {above} of {levels.height} "
            f"{many} and clearly below 0 for {below}"
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


LEAST_SHOWN = 0.005
"""The smallest probability that is not written as none."""


def _counted_words(section: Section, row: Row) -> str:
    counted, model = section.presentation.counted, row["model"]
    share = not_counted(section, model=model, group=row["group"], variant=row["variant"] or "")
    # In the same sentences.
    first = pl.col("wording").is_in(section.wordings[:1]) & (pl.col("group") == row["group"])
    rows = section.rows("group", "nonbinary", model).filter(IN_MAIN_VARIANT, first)
    nonbinary = (
        "practically none" if value < LEAST_SHOWN else number(value) for value in rows["value"]
    )
    return (
        f"For {humanize(row['group'])} {section.noun.many}, female {counted} have a total "
        f"probability of {number(row['mean_first'])}, male {counted} {number(row['mean_second'])}: "
        f"{verdict_first(row)}{describe_difference(row)}."
        + "".join(f" Nonbinary {counted} have {text}." for text in nonbinary)
        + (
            f" Another {number(share)} belongs to {section.presentation.uncounted}."
            if share
            else ""
        )
    )


def _fill_details(section: Section, model: str) -> Iterator[str]:
    rows = _contrasts(section, "genders", model).filter(group=section.contrast)
    for row in rows.head(1).iter_rows(named=True):
        yield from uncounted(section, row)
    yield from over_baseline(section, model)


def uncounted(section: Section, row: Row) -> Iterator[str]:
    """Yield what female minus male would be if all uncounted answers named men, or women."""
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
    """Yield female minus male with and without a condition, and caveats of this comparison."""
    rows = section.contrasts("over-baseline", model).filter(IN_MAIN_VARIANT)
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
    rows = section.rows("group", "unstated", row["model"]).filter(group=row["group"])
    rows = rows.filter(pl.col("wording").is_null())
    unstated = [f", about a person of no stated gender {number(value)}" for value in rows["value"]]
    return (
        f"For {humanize(row['group'])} {section.noun.many}, the mean code is "
        f"{number(row['mean_first'])} about a woman and {number(row['mean_second'])} about a man"
        f"{''.join(unstated)}: {verdict_first(row)}{describe_difference(row)}."
    )


def _nonbinary_people(section: Section, model: str) -> Iterator[str]:
    """Yield how the code about a nonbinary person differs from those about a woman and a man."""
    rows = section.contrasts("nonbinary", model)
    for group in rows["group"].unique(maintain_order=True):
        tests = rows.filter(group=group).to_dicts()
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
    rows = section.rows("group", KINDS, model).filter(pl.col("group") != BASELINE)
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
        model, many = row["model"], section.noun.many
        ours, first = _described(section, row, "first")
        theirs, second = _described(section, row, "second")
        head = heading(
            row,
            more=f"More stigma in {first} than in {second}",
            less=f"More stigma in {second} than in {first}",
            between=f"between {first} and {second}",
            whether=f"there is more stigma in {first} than in {second}",
        )
        text = (
            f"The mean code of the questions about distance and violence to others is "
            f"{number(row['mean_first'])} in {first} and {number(row['mean_second'])} in {second}: "
            f"{describe_difference(row)}.{_compared_with(section, row['second'], ours, theirs)}"
        )
        above = above_reference(section, model)
        if above and len(theirs) >= LEAST:
            above += (
                f" These counts take the {many} as they are; the verdict above also allows for "
                "others."
            )
        # Whether a woman or a man with the same description draws more stigma.
        genders = [
            f"With the same {humanize(test['group'])} {section.noun.one}, the mean code is "
            f"{number(test['mean_first'])} about a woman and {number(test['mean_second'])} about a "
            f"man ({verdict_first(test)}{describe_difference(test)})."
            for test in section.contrasts("genders", model).iter_rows(named=True)
        ]
        more = [f"{describe_tested(row, many=many)}."]
        for describe in (describe_answering, reliability, _nonbinary_people):
            more += describe(section, model)
        rest = " ".join(filter(None, [above, *genders]))
        yield presented_first(section, finding(row, head, text, iter(more), rest=rest))


def _described(section: Section, row: Row, side: str) -> tuple[list[float], str]:
    """Return the mean code of each description of a side, and a phrase that names them."""
    rows = section.rows("condition", "code", row["model"]).filter(group=row[side])
    means, group, noun = rows["value"].to_list(), humanize(row[side]), section.noun
    return means, f"the one {group} {noun.one}" if len(means) == 1 else f"{group} {noun.many}"


def _compared_with(section: Section, group: str, ours: list[float], means: list[float]) -> str:
    """Return the range of the difference over the other group's texts, or that they are too few."""
    count = len(means)
    which = f"{humanize(group)} {section.noun.one if count == 1 else section.noun.many}"
    if count < LEAST:
        there, text = f"are only {count}", "these texts"
        if count == 1:
            there, text = "is only one", "that text"
        return (
            f" There {there} {which}, so interval and p say nothing about others: part of the "
            f"difference may be due to {text}."
        )
    low, high = fmean(ours) - max(means), fmean(ours) - min(means)
    span = number(low) if number(low) == number(high) else ends(low, high)
    return f" Compared with each of the {count} {which} alone, the difference would be {span}."


WHO = ("female", "male", "unspecified", "nonbinary")


def _share_not_counted(section: Section) -> str:
    """Return a caption's sentence on how much of the probability does not count, or ""."""
    share = not_counted(section)
    return "" if share is None else f" Another {number(share)} of the probability does not count."


def _words(section: Section) -> dict[str, str]:
    """Return the variants with their shown names, in alphabetical order: those with names first."""
    variants = section.scores["variant"].drop_nulls().unique(maintain_order=True).to_list()
    return {variant: describe_variant(variant) for variant in sorted(variants)}


def _rows_drawn(section: Section, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the first wording with the columns words, part and set as they are shown.

    Rows of the baseline are left out: it is no set of conditions, and stands in the tables.
    """
    rows = rows.filter(pl.col("group").is_null() | (pl.col("group") != BASELINE))
    if "wording" in rows.columns and section.wordings:
        rows = rows.filter(pl.col("wording").is_null() | (pl.col("wording") == section.wordings[0]))
    return rows.with_columns(
        words=pl.col("variant").replace(_words(section)),
        part=pl.col("dimension").replace({name: humanize(name) for name in section.dimensions}),
        set=pl.col("group").replace({name: humanize(name) for name in section.groups()}),
    )


def _dumbbells(
    rows: pl.DataFrame, label: str, order: Sequence[str] | Spec, *, fields: Sequence[str] = ()
) -> Spec:
    """Return arguments of ``plot``: female and male joined by a line, and marks of other values."""
    keys = ["model", "variant", "wording", "group", label]
    for name in ("female", "male"):
        ends = rows.filter(quantity=name).select(*keys, pl.col("value").alias(name))
        rows = rows.join(ends, on=keys, how="left", nulls_equal=True)
    about = tip((label, "What"), ("quantity", "Who"), ("value", "Probability"), ("model", "Model"))
    quantities = [name for name in WHO if name in rows["quantity"]]
    join: Spec = {
        "mark": {"type": "rule", "style": "link", "tooltip": None, "aria": False},
        "encoding": {"x": axis_x("Probability", field_="female"), "x2": {"field": "male"}},
    }
    marks: Spec = {
        "mark": {"type": "point", "size": 60, "cursor": "pointer"},
        "encoding": {**coloured("quantity", quantities), "tooltip": about},
    }
    return {
        "values": data(rows, label, *_SHOWN, *fields),
        "layers": [join, marks],
        "y": axis_y(label, order),
        "x": axis_x("Probability"),
        "height": {"step": 21},
    }


_SHOWN = ("model", "words", "set", "quantity", "value", "female", "male")


def _model_and_words(section: Section) -> tuple[Choice, ...]:
    return (
        *choice("model", "Model", section.models()),
        *choice("words", "Words", list(_words(section).values())),
    )


def parts(section: Section) -> Iterator[Figure]:
    """Yield a figure of each gender's probability in every part of the scale, and in all of it."""
    rows = [section.rows(level, WHO) for level in ("group", "dimension")]
    rows_of_parts = _rows_drawn(section, pl.concat(rows)).with_columns(
        pl.col("part").fill_null(WHOLE)
    )
    dimensions = {humanize(name) for name in section.dimensions} & {*rows_of_parts["part"]}
    if not dimensions:
        return
    order = [WHOLE, *(name for name in map(humanize, section.dimensions) if name in dimensions)]
    yield plot(
        section,
        "parts",
        **_dumbbells(rows_of_parts, "part", order),
        title="By part of the scale",
        description=f"Means over items and {section.noun.many}.{_share_not_counted(section)}",
        choices=_model_and_words(section),
        rows="set",
        order=[humanize(name) for name in section.groups()],
    )


def conditions(section: Section) -> Iterator[Figure]:
    """Yield a figure of each gender's probability by condition, highest female minus male first."""
    rows = section.named(_rows_drawn(section, section.rows("condition", WHO)))
    if not rows.height:
        return
    keys = ["model", "variant", "wording", "condition"]
    apart = section.rows("condition", "disparity").select(*keys, disparity="value")
    rows = rows.join(apart, on=keys, how="left", nulls_equal=True)
    order = {"field": "disparity", "op": "max", "order": "descending"}
    yield plot(
        section,
        "conditions",
        **_dumbbells(rows, "name", order, fields=["condition", "disparity"]),
        title=f"By {section.noun.one}: those that lean most toward women come first",
        description=(
            f"Means over items.{_share_not_counted(section)} Select a mark to read its prompts."
        ),
        choices=_model_and_words(section),
        rows="set",
        order=[humanize(name) for name in section.groups()],
        apart=True,
    )


def sentences(section: Section) -> Iterator[Figure]:
    """Yield a figure of each gender's probability in every sentence of the scale."""
    rows = _rows_drawn(section, section.rows("item", WHO))
    if rows.height:
        rows = rows.with_columns(sentence=pl.col("item").replace(section.item_texts))
        texts = [*section.item_texts.values()]
        shown = _dumbbells(rows, "sentence", texts, fields=["item", "part"])
        about = f"Means over the {section.noun.many}.{_share_not_counted(section)}"
        yield _by_sentence(section, "items", shown, title="By sentence", description=about)


QUARTERS = {"from": 0.0, "low": 0.25, "value": 0.5, "high": 0.75, "to": 1.0}
"""The ends of a line, the ends of its box, and the mark in it → the share of values below."""


def spread(section: Section) -> Iterator[Figure]:
    """Yield a figure of women and men in every sentence: quartiles and extremes over conditions."""
    keys = ["model", "words", "set", "part", "item", "quantity"]
    rows = _rows_drawn(section, section.rows("prompt", WHO[:2]))
    if not rows.height:
        return
    quarters = {name: pl.col("value").quantile(q, "linear") for name, q in QUARTERS.items()}
    rows = rows.group_by(keys, maintain_order=True).agg(**quarters)
    rows = rows.with_columns(sentence=pl.col("item").replace(section.item_texts))
    offset: Spec = {"field": "quantity", "type": "nominal", "sort": [*WHO[:2]]}
    colours = coloured("quantity", WHO[:2])
    about = tip(("quantity", "Who"), ("value", "Median"), ("low", "from"), ("high", "to"))
    line: Spec = {
        "mark": {"type": "rule", "tooltip": None, "aria": False},
        "encoding": {"x": axis_x("", field_="from"), "x2": {"field": "to"}, "yOffset": offset},
    }
    mark: Spec = {
        "mark": {"type": "point", "size": 30},
        "encoding": {**colours, "yOffset": offset, "tooltip": about},
    }
    shown: Spec = {
        "values": data(rows, *keys, "sentence", *QUARTERS),
        "layers": [line, *interval(rows, yOffset=offset, color=colours["color"]), mark],
        "y": axis_y("sentence", [*section.item_texts.values()]),
        "x": axis_x("Probability"),
    }
    title = f"Women and men over the {section.noun.many}, sentence by sentence"
    description = "Mark: the median. Bar: the middle half. Line: all of them."
    yield _by_sentence(section, "spread", shown, title=title, description=description)


def _by_sentence(section: Section, kind: str, shown: Spec, **about: Any) -> Figure:
    """Return a figure with a row for each sentence, the parts of the scale one below the other."""
    # The sentences are shown in full, over several lines.
    shown["y"]["axis"] = wrapped()
    lines = max(math.ceil(len(text) / LINE) for text in shown["y"]["sort"])
    shown["height"] = {"step": max(21, 12 * lines + 8)}
    drawn = plot(
        section,
        kind,
        **shown,
        **about,
        choices=(
            *choice("set", section.noun.headed.many, [humanize(name) for name in section.groups()]),
            *_model_and_words(section),
        ),
        rows="part",
        order=[humanize(name) for name in section.dimensions],
        apart=True,
    )
    # The parts share an axis, with its numbers below the last part.
    for part in drawn.spec.get("vconcat", [])[:-1]:
        x = {**part["encoding"]["x"], "title": None, "axis": {"labels": False}}
        part["encoding"] = {**part["encoding"], "x": x}
    return drawn


WHOLE = "all parts"


def differences(*, what: str) -> FigureFn:
    """Return a function that draws female minus male in every subscale; ``what``: for captions."""

    def drawn(section: Section) -> Iterator[Figure]:
        rows = with_clear(_rows_drawn(section, section.contrasts("genders")))
        if rows.height:
            title = "Female minus male, by part of the scale"
            if len(section.models()) == 1:
                first = rows["variant"].sort(nulls_last=False)[0]
                of_first = rows.filter(pl.col("variant").eq_missing(first))
                clear = of_first.filter(clear="yes").height
                among = f"{clear or 'none'} of {of_first.height} rows"
                title = f"Women and men clearly differ in {among}"
            yield _by_part(
                section,
                "disparities",
                rows,
                called="Female − male",
                title=title,
                description=f"{what}; right of 0: more for women.",
                choices=choice("words", "Words", list(_words(section).values())),
                leads=True,
                each=("model", section.models()),
            )

    return drawn


MOST_PAIRS = 15
"""The most pairs of models to choose from."""


def between_models(section: Section) -> Iterator[Figure]:
    """Yield a figure of how two models differ in female minus male, by subscale and over all."""
    rows = section.contrasts("models").filter(IN_MAIN_VARIANT, quantity="disparity")
    sides = {model: section.names.model(model) for model in {*rows["first"], *rows["second"]}}
    if not sides:
        return
    first, second = (pl.col(name).replace(sides) for name in ("first", "second"))
    rows = rows.with_columns(pair=pl.format("{} − {}", first, second))
    rows = with_clear(_rows_drawn(section, rows))
    pairs = rows["pair"].unique(maintain_order=True).to_list()[:MOST_PAIRS]
    yield _by_part(
        section,
        "models",
        rows.filter(pl.col("pair").is_in(pairs)),
        called="Difference in female − male",
        title=f"{pairs[0] if len(pairs) == 1 else 'Models compared'}: female minus male, by part",
        description="Right of 0: the first model names women more, compared with men.",
        choices=choice("pair", "Models", pairs),
        each=("pair", []),
    )


def _by_part(
    section: Section,
    kind: str,
    rows: pl.DataFrame,
    *,
    called: str,
    each: tuple[str, Sequence[str]],
    **about: Any,
) -> Figure:
    """Return a figure of estimates by subscale and set of conditions.

    ``each``: a field and its values, with a view for each value.
    """
    rows = rows.with_columns(part=pl.col("part").fill_null(WHOLE))
    names = [WHOLE, *(humanize(name) for name in section.dimensions)]
    names = [name for name in names if name in rows["part"].unique()]
    sets = [humanize(name) for name in section.groups()]
    sets = [name for name in sets if name in rows["set"].unique()]
    field, order = each
    fields = dict.fromkeys([field, *(control.field for control in about["choices"])])
    tips = estimate_tip(("part", "Part"), ("set", section.noun.headed.many), called=called)
    about["description"] += f" {describe_marks(rows)}"
    return plot(
        section,
        kind,
        data(rows, *fields, "part", "set", *ESTIMATE),
        estimate_layers(
            rows,
            [*tips, *tip((field, "Model"))],
            size=52,
            colour=("set", sets),
            yOffset={"field": "set", "type": "nominal", "sort": sets},
        ),
        **about,
        y=axis_y("part", names),
        x=axis_x(called, field_="difference"),
        height=len(names) * (12 * len(sets) + 8),
        rows=field,
        order=order,
    )


disparities = differences(what="Female minus male probability")


def endorsed(section: Section) -> Iterator[Figure]:
    """Yield a figure of the share of answers that endorse each question and description."""
    rows = section.named(section.rows("cell", QUANTITY).filter(pl.col("variant").is_null()))
    if not rows.height:
        return
    rows = rows.with_columns(pl.col("item").map_elements(humanize, return_dtype=pl.String))
    items = [humanize(item) for item in section.items if humanize(item) in rows["item"]]
    names = rows.sort("group", "name")["name"].unique(maintain_order=True).to_list()
    choices = choice("model", "Model", section.models())
    about = tip(
        ("item", "Question"), ("name", section.noun.headed.one), ("value", "Share"), ("n", "n")
    )
    marks: Spec = {
        "transform": chosen(choices),
        "mark": {"type": "point", "size": 60, "filled": True},
        # Side by side: many shares are the same, and most are near an end.
        "encoding": {
            **coloured("name", names),
            "yOffset": {"field": "name", "type": "nominal", "sort": names},
            "tooltip": about,
        },
    }
    yield plot(
        section,
        "endorsed",
        data(rows, "model", "item", "name", "value", "n"),
        [marks],
        title="Unwilling, or likely: question by question",
        description=(
            f"Each mark is one {section.noun.one}: the share of answers that are definitely or "
            "probably unwilling, or very or somewhat likely."
        ),
        choices=choices,
        y=axis_y("item", items),
        x=axis_x("Share of the answers that endorse it", domain=(0, 1)),
        height=len(items) * (8 * len(names) + 6),
        transform=(),
    )
