"""Tables that measures choose from, made of scores and estimates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from goffman.contrasts.catalog import LEVEL_OF_CONDITION
from goffman.contrasts.catalog import REFERENCE as REFERENCE_KIND
from goffman.formatting import ADJUSTED, SHRUNKEN, humanize, join_words, quantity_called
from goffman.instruments.types import BASELINE
from goffman.presentation.conditions import confound
from goffman.presentation.coreference import BESIDE
from goffman.presentation.reliability import ENOUGH_ITEMS, REFERENCE, with_reference, with_values
from goffman.presentation.section import EVERY, Section, TableFn
from goffman.presentation.table_formats import (
    ColumnSpec,
    N,
    Table,
    counts,
    interval,
    numbers,
    p_column,
    section_table,
    texts,
)
from goffman.schemas import PAIR_KINDS, REPLY_KINDS, SENTIMENTS

_AGAINST_BASELINE = ("difference", "low", "high", "effect", "p", "p_adjusted", "family_size")

_TESTED = (
    *numbers("difference", drop="empty", difference="minus baseline"),
    interval("interval_low", "interval_high", drop="empty"),
    p_column(drop="empty"),
)

_MEAN = {"value": "mean", "low": "minimum", "high": "maximum"}
_MEAN_COLUMNS = (N, *numbers("mean", "sd", "minimum", "maximum"))
_SPREAD = "sd, minimum and maximum are taken over"


def _means(rows: pl.DataFrame, *names: str) -> pl.DataFrame:
    """Return the rows sorted by these names, with the columns of a table of means."""
    columns = (*names, "n", "missing", "value", "sd", "low", "high", "reason")
    return rows.sort(*names).select(columns).rename(_MEAN)


def _named(rows: pl.DataFrame, *names: str) -> pl.DataFrame:
    """Return the rows with null in these columns replaced by "all models" and the like."""
    return rows.with_columns(pl.col(name).fill_null(EVERY[name]) for name in names)


def groups_of_conditions(section: Section) -> Iterator[Table]:
    """Yield a table of groups × models × wordings, and one of the gaps between the groups."""
    scores, quantity, many = section.scores, section.presentation.quantity, section.noun.many
    names = ("model", "wording", "group")
    rows = _means(
        _named(scores.filter(level="group", quantity=quantity), "model", "wording"), *names
    )
    caption = (
        f"{section.presentation.called} by model, wording and group of {many}. n counts {many}; "
        f"{_SPREAD} them."
    )
    shown = (*texts(*names), *_MEAN_COLUMNS)
    yield from section_table(section, "groups", caption, rows, shown)
    gaps = _named(scores.filter(level="model", quantity=f"{quantity}-gap"), "model", "wording")
    rows = gaps.sort("model", "wording").select("model", "wording", "n", "value", "reason")
    caption = "the gap between the groups, by model and wording."
    shown = (*texts("model", "wording"), N, *numbers("value", value="gap"))
    yield from section_table(section, "gaps", caption, rows, shown)


def gaps_by_item(section: Section) -> Iterator[Table]:
    """Yield a table of each item's mean in both groups and the gap, over all wordings."""
    sides = (section.contrast, section.against)
    means = section.scores.filter(level="item", quantity=section.presentation.quantity)
    means = means.filter(pl.col("group").is_in(sides), pl.col("wording").is_null())
    rows = means.pivot("group", index=["model", "item"], values="value")
    if {*sides} <= {*rows.columns}:
        caption = f"{section.presentation.called} by item, and the gap."
        rows = _named(rows.with_columns(gap=pl.col(sides[0]) - pl.col(sides[1])), "model")
        shown = (*texts("model", "item"), *numbers(*sides, "gap"))
        yield from section_table(section, "items", caption, rows, shown)


def words_counted(section: Section) -> Iterator[Table]:
    """Yield a table of the probability of the words counted, and of how much of it is rated."""
    quantities = ["mass", "rated-share", "last-probability", "rated-mass", "irrelevant"]
    rows = section.scores.filter(pl.col("quantity").is_in(quantities), level="model")
    rows = _means(rows, "model", "quantity")
    caption = (
        "probability of the counted words (mass), the share of it that is "
        "rated, and the probability of the last counted word; in begun replies also that of "
        "words rated positive, negative or neutral (rated-mass), and of irrelevant words; "
        f"{_SPREAD} prompts."
    )
    shown = (*texts("model", "quantity"), *_MEAN_COLUMNS)
    yield from section_table(section, "words", caption, rows, shown)


def ranked_conditions(section: Section) -> Iterator[Table]:
    """Yield a table of all conditions, highest first, with their distance from the baseline."""
    noun = section.noun.one
    rows = section.scores.filter(level="condition", quantity=section.presentation.quantity).select(
        "model", "condition", "group", "category", "n", "missing", "value", "sd", "low", "high",
        "over", "reason",
    )  # fmt: skip
    rows = rows.filter(pl.col("condition") != BASELINE)
    if not rows.height:
        return
    rows = with_reference(_with_baseline(rows.rename(_MEAN), section.estimates), section)
    # All models together come first, then each model.
    order, last = [False, True, False], [False, True, True]
    rows = rows.sort("model", "mean", "condition", descending=order, nulls_last=last)
    rank = pl.col("mean").rank("min", descending=True).over("model").cast(pl.Int64)
    rows = _named(rows.with_columns(rank=rank), "model")
    rows = rows.select("model", "rank", pl.exclude("model", "rank"))
    about = f"every {noun}, highest first. n is the number of values in its mean."
    caption = f"{about} {_beside(rows, section)}".rstrip()
    shown = (
        *texts("model"),
        *counts("rank"),
        *texts("condition", "group", condition=noun),
        N,
        *numbers("mean", "sd"),
        *REFERENCE,
        *_TESTED,
    )
    yield from section_table(section, "conditions", caption, rows, shown)


COUNTS = {
    "above_half": (pl.col("value") > 0.5, "above .5"),
    "three_quarters": (pl.col("value") >= 0.75, ".75 or more"),
    "all_of_it": (pl.col("value") == 1, "1"),
}
"""The counts of conditions: which values are counted, and the heading of the count."""


def _of_conditions(section: Section) -> pl.DataFrame:
    """Return the number of each condition that has one, for each model and all together."""
    rows = section.scores.filter(level="condition", quantity=section.presentation.quantity)
    return rows.filter(pl.col("value").is_not_null(), pl.col("condition") != BASELINE)


def counted_conditions(section: Section) -> Iterator[Table]:
    """Yield a table of how many conditions of each group have a high number."""
    above = [test.sum().cast(pl.Int64).alias(name) for name, (test, _) in COUNTS.items()]
    rows = _of_conditions(section).group_by("model", "group").agg(pl.len().alias("n"), *above)
    many = section.noun.many
    caption = (
        f"how many {many} have a {section.presentation.called} above .5, of at least .75, and of "
        f"1. n is the number of {many}."
    )
    rows = _named(rows.sort("model", "group", descending=[False, True]), "model")
    headers = {name: header for name, (_, header) in COUNTS.items()}
    shown = (*texts("model", "group"), N, *counts(*COUNTS, **headers))
    yield from section_table(section, "counts", caption, rows, shown)


def describe_counts(section: Section) -> str:
    """Return how many conditions of each group have a high number, over all models."""
    # Means over all models include those that cannot do the task.
    if counted_conditions not in section.presentation.tables or section.unmeasurable():
        return ""
    for table in counted_conditions(section):
        rows = [row for row in table.rows if row["model"] == EVERY["model"]]
        above, three_quarters, all_of_it = (
            join_words([f"{row[name]} of {row['n']} {humanize(row['group'])}" for row in rows])
            for name in COUNTS
        )
        prefix = "All models together: " if len(section.models()) > 1 else ""
        return (
            f"{prefix}{section.presentation.called} above .5 for {above} {section.noun.many}; at "
            f"least .75 for {three_quarters} ones; 1 for {all_of_it} ones."
        )
    return ""


def categories(section: Section) -> Iterator[Table]:
    """Yield a table of the mean of the conditions in each of the study's categories."""
    rows = section.in_categories(_of_conditions(section)).drop_nulls("category")
    value, names = pl.col("value"), ("model", "group", "category")
    means = rows.group_by(names).agg(
        n=pl.len(), mean=value.mean(), sd=value.std(), minimum=value.min(), maximum=value.max()
    )
    order = means.sort(*names[:2], "mean", "category", descending=[False, True, True, False])
    rows = _named(order, "model")
    caption = (
        f"mean {section.presentation.called} by category, in the study's categories. n counts "
        f"{section.noun.many}; {_SPREAD} them."
    )
    shown = (*texts(*names), *_MEAN_COLUMNS)
    yield from section_table(section, "categories", caption, rows, shown)


def _beside(rows: pl.DataFrame, section: Section) -> str:
    """Return sentences that explain the columns after a condition's mean, for the caption."""
    noun = section.noun
    sentences = []
    if rows["shrunken"].count():
        sentences.append(
            "The shrunken mean is pulled toward its group's mean. The less reliable the scale, the "
            "stronger the pull. The ranks are a 95% range: where the "
            f"{noun.one} would rank with other items and wordings."
        )
        if len(section.items) < ENOUGH_ITEMS:
            sentences.append(f"With {len(section.items)} items, they show only how these differ.")
        quantity = section.presentation.quantity
        quantities = section.scores.filter(pl.col("quantity").str.ends_with(SHRUNKEN))["quantity"]
        if quantities[0] != f"{quantity}{SHRUNKEN}":
            sentences.append(
                f"The mean and the rank are of the {section.presentation.called}; the shrunken "
                f"mean and the range of ranks are of {quantity_called(quantities[0])}."
            )
    if rows["reference_difference"].count():
        sentences.append(
            f"The reference is the mean of the {humanize(section.against)} {noun.many}. The p "
            "next to it is corrected by Benjamini–Hochberg."
        )
    if rows["difference"].count():
        sentences += [
            f"The last interval and p columns are about the {noun.one}'s mean minus the baseline.",
            confound(section),
        ]
    return " ".join(sentences)


def _with_baseline(rows: pl.DataFrame, estimates: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with the contrast of each condition or setting with the baseline, if any."""
    tested = estimates.filter(kind="baseline").select(
        "model", pl.col("first").alias("condition"), *_AGAINST_BASELINE
    )
    ends = {"low": "interval_low", "high": "interval_high"}
    return rows.join(tested.rename(ends), on=["model", "condition"], how="left", nulls_equal=True)


def _wide(
    rows: pl.DataFrame,
    quantities: Sequence[str],
    *,
    index: Sequence[str],
    spread: bool = False,
    counted: str | None = None,
) -> list[dict[str, Any]]:
    """Return a row for each value of ``index``, with each quantity's mean, and sd if ``spread``.

    ``counted``: the quantity that n is of; None: the one with the most values.
    """
    ends = ("", "_sd") if spread else ("",)
    empty = {f"{quantity}{end}": None for quantity in quantities for end in ends}
    wide: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows.filter(pl.col("quantity").is_in(list(quantities))).iter_rows(named=True):
        key = tuple(row[name] for name in index)
        record = wide.setdefault(key, {**dict(zip(index, key, strict=True)), "n": 0, **empty})
        # A quantity may lack values for some models, so n is the largest of all counts.
        if counted in (None, row["quantity"]):
            record["n"] = max(record["n"], row["n"])
        record[row["quantity"]] = row["value"]
        if spread:
            record[f"{row['quantity']}_sd"] = row["sd"]
    return list(wide.values())


def sentiment(section: Section) -> Iterator[Table]:
    """Yield tables of the shares of labels by classifier and group, and also by template."""
    for level, names, suffix, what in (
        ("group", ("model", "group"), "groups", "classifier and group"),
        ("item", ("model", "item", "group"), "templates", "classifier, template and group"),
    ):
        rows = _named(section.scores.filter(level=level), "model").sort(*names)
        caption = (
            f"share of each label by {what}. n is the number of labels. A label's share is "
            "averaged only over classifiers that have this label."
        )
        shown = (*texts(*names, model="classifier", item="template"), N, *numbers(*SENTIMENTS))
        wide = _wide(rows, SENTIMENTS, index=names)
        yield from section_table(section, suffix, caption, wide, shown)


_GENDERS = ("female", "male", "nonbinary", "unspecified", "disparity")

_ONE_BY_ONE = (
    interval("level_low", "level_high"),
    p_column("level_p_adjusted"),
    *REFERENCE[2:],
)
"""Columns after a diagnosis's disparity: its tests against 0 and the mean of the other group."""


def _one_by_one(section: Section, made: list[dict[str, Any]]) -> tuple[ColumnSpec, ...]:
    """Add the tests of disparity to the rows, in place, and return the columns that show them."""
    names = ("difference", "low", "high", "p", "p_adjusted", "family_size")
    columns = {LEVEL_OF_CONDITION: "level", REFERENCE_KIND: "reference"}
    tested: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in section.estimates.filter(pl.col("kind").is_in([*columns])).iter_rows(named=True):
        tests = {f"{columns[row['kind']]}_{name}": row[name] for name in names}
        tested.setdefault((row["model"], row["variant"], row["first"]), {}).update(tests)
    # Without these tests, the reference contrasts are about another number.
    if LEVEL_OF_CONDITION not in section.estimates["kind"]:
        return ()
    empty = {f"{column}_{name}": None for column in columns.values() for name in names}
    for row in made:
        row.update(empty)
        # Contrasts are of the first wording.
        if row.get("wording") in {None, *section.wordings[:1]}:
            row.update(tested.get((row["model"], row["variant"], row["condition"]), {}))
    return _ONE_BY_ONE


def _of_scale(
    section: Section,
    scores: pl.DataFrame,
    quantities: Sequence[str],
    *,
    whose: Sequence[str],
    caption: str,
    shown: Sequence[ColumnSpec],
    **wide: Any,
) -> Iterator[Table]:
    """Yield tables by group and subscale, by item, and by condition.

    ``caption`` has {} for what n counts; ``whose``: the columns before; ``wide``: see ``_wide``.
    """
    many, noun = section.noun.many, section.noun.one
    for levels, keys, suffix, over in (
        (["group", "dimension"], ["group", "dimension"], "genders", f"items × {many}"),
        (["item"], ["dimension", "item", "group"], "items", many),
        (["condition"], ["group", "condition"], "conditions", "items"),
    ):
        names = [*whose, *keys]
        rows = scores.filter(pl.col("level").is_in(levels), pl.col("group").is_not_null())
        rows = rows.sort(*names, nulls_last=False)
        if suffix == "genders":
            rows = _named(rows, "dimension")
        records = _wide(rows, quantities, index=names, **wide)
        tested = _one_by_one(section, records) if suffix == "conditions" else ()
        first = texts(*names, variant="words", dimension="subscale", condition=noun)
        columns = (*first, N, *shown, *tested)
        yield from section_table(section, suffix, caption.format(over), records, columns)


def genders(section: Section) -> Iterator[Table]:
    """Yield tables of each gender's probability by subscale and group, item, and condition."""
    keyed = "keyed-disparity" in section.scores["quantity"]
    quantities = (*_GENDERS, *(("keyed-disparity",) if keyed else ()))
    yield from _of_scale(
        section,
        section.scores,
        quantities,
        whose=("model", "wording", "variant"),
        caption="probability of words for women, for men, for nonbinary people and for none of "
        "them, and female minus male. n is the number of {}; means and SDs are taken over them.",
        shown=[
            ColumnSpec(header=f"{name} (sd)", keys=(name, f"{name}_sd"), form="mean")
            for name in quantities
        ],
        spread=True,
    )


def settings(section: Section) -> Iterator[Table]:
    """Yield a table of each adjective setting's score, and its difference from the baseline."""
    scores, quantity = section.scores, section.presentation.quantity
    rows = scores.filter(level="condition", quantity=quantity).select(
        "model", "condition", "group", "n", "missing", "value", "sd", "over", "reason"
    )
    if not rows.height:
        return
    rows = _with_baseline(rows.rename({"value": quantity}), section.estimates)
    # Numbers that could put a bias in doubt, if replies were asked for.
    rows = with_values(rows, scores, {name: pl.col("quantity") == name for name in BESIDE})
    caption = (
        f"{quantity} for every adjective setting, and its difference from the sentences without "
        f"adjectives. n is the number of {rows['over'][0]}."
    )
    if quantity == ADJUSTED:
        caption += (
            " The differences are adjusted for the general preference for “he” or “she”, and the "
            "means are not, so they do not add up exactly."
        )
    if rows["bias-lowest"].count():
        caption += (
            " Some replies name nobody; the bounds are the lowest and the highest bias that they "
            "allow. “Among answered” leaves these replies out."
        )
    rows = rows.sort("model", "group", "condition")
    shown = (
        *texts("model", "condition", "group", condition="setting"),
        N,
        *numbers(quantity, "sd"),
        *_UNANSWERED,
        *_TESTED[:2],
        p_column("p", header="p"),
        _TESTED[2],
    )
    yield from section_table(section, "settings", caption, rows, shown)


_IN_DOUBT = {
    "bias-answered": "among answered",
    "accuracy-pro": "right, pro",
    "accuracy-anti": "right, anti",
    "above-chance": "above chance",
    "first-mentioned-above-half": "first named − ½",
    "log-odds": "log-odds",
}
_UNANSWERED = (
    interval("bias-lowest", "bias-highest", header="bounds", drop="empty"),
    *numbers(*_IN_DOUBT, drop="empty", **_IN_DOUBT),
)


def answer_kinds(section: Section) -> Iterator[Table]:
    """Yield tables of reply kinds by setting and side, and of which pair sentences were right."""
    scores, names = section.scores, ("model", "condition", "wording")
    kinds = scores.filter(pl.col("quantity").is_in(REPLY_KINDS), level="side")
    # A side's row is of one trial; the table has the mean over trials.
    means = kinds.group_by(*names, "quantity").agg(
        pl.col("value").mean(), pl.col("n").sum(), pl.col("value").std().alias("sd")
    )
    caption = "share of each kind of reply. n is the number of replies."
    wide = _wide(means.sort(*names, "quantity"), REPLY_KINDS, index=names)
    shown = (*texts(*names, condition="setting", wording="side"), N, *numbers(*REPLY_KINDS))
    yield from section_table(section, "answers", caption, wide, shown)
    keys = names[:2]
    pairs = scores.filter(level="condition").sort(*keys)
    wide = _wide(pairs, PAIR_KINDS, index=keys)
    caption = (
        "share of sentence pairs in which the model is right only in the pro sentence, only in the "
        "anti sentence, in both, or in neither. n is the number of trials."
    )
    shown = (*texts(*keys, condition="setting"), N, *numbers(*PAIR_KINDS))
    yield from section_table(section, "pairs", caption, wide, shown)


def by_gender(quantities: tuple[str, ...], meaning: str) -> TableFn:
    """Return a function for tables by group and subscale, by item, and by condition.

    ``meaning``: what the numbers are.
    """

    def made(section: Section) -> Iterator[Table]:
        wording = pl.col("wording")
        rows = section.scores.filter(pl.col("quantity").is_in(quantities))
        # Means over all wordings if there are any, or else of the first wording.
        whole, is_first = wording.is_null(), wording.is_in(section.wordings[:1])
        yield from _of_scale(
            section,
            rows.filter(pl.when(whole.any().over("level")).then(whole).otherwise(is_first)),
            quantities,
            whose=("model", "variant"),
            caption=f"{meaning}; n counts {{}}.",
            shown=numbers(*quantities, drop="empty"),
            counted="disparity",
        )

    return made


QUANTITY = "share-endorsing"
BY = {"both": "both", "female": "about a woman", "male": "about a man"}
"""Gender of the person described → heading of the column."""


def endorsed(section: Section) -> Iterator[Table]:
    """Yield a table with a row for each model, item and condition: both genders, women and men."""
    names = ("model", "dimension", "item", "condition")
    rows = section.named(section.rows("cell", QUANTITY)).sort(*names)
    gender = pl.col("variant").fill_null("both").replace_strict(BY, return_dtype=pl.String)
    rows = rows.with_columns(condition="name", quantity=gender)
    caption = (
        "the share of the answers that are definitely or probably unwilling, or very or somewhat "
        "likely; n counts prompts."
    )
    about = texts(*names, dimension="subscale", condition=section.noun.one)
    shown = (*about, N, *numbers(*BY.values(), drop="empty"))
    wide = _wide(rows, [*BY.values()], index=names, counted="both")
    yield from section_table(section, "endorsed", caption, wide, shown)
