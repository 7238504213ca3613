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
from goffman.presentation.table_formats import ColumnSpec, N, Table, as_table, numbers, texts
from goffman.schemas import PAIR_KINDS, REPLY_KINDS, SENTIMENTS

_AGAINST_BASELINE = ("difference", "low", "high", "effect", "p", "p_adjusted", "family_size")


_TESTED = (
    *numbers("difference", drop="empty", difference="minus baseline"),
    ColumnSpec(
        header="95% interval",
        keys=("interval_low", "interval_high"),
        form="interval",
        drop="empty",
    ),
    ColumnSpec(header="p, corrected", keys=("p_adjusted",), form="p", drop="empty"),
)


def _level(scores: pl.DataFrame, level: str, quantity: str) -> pl.DataFrame:
    return scores.filter(pl.col("level") == level, pl.col("quantity") == quantity)


def _named(rows: pl.DataFrame, *names: str) -> pl.DataFrame:
    """Return the rows with null in these columns written as what it means: over all."""
    return rows.with_columns(pl.col(name).fill_null(EVERY[name]) for name in names)


def _spread(over: str) -> str:
    return f"sd, minimum and maximum are taken over {over}"


_MEAN = {"value": "mean", "low": "minimum", "high": "maximum"}


def groups_of_conditions(section: Section) -> Iterator[Table]:
    """Yield a table of groups × models × wordings, and one of the gaps between the groups."""
    instrument, scores = section.instrument, section.scores
    quantity, names = section.presentation.quantity, ("model", "wording", "group")
    rows = _named(_level(scores, "group", quantity), "model", "wording").sort(*names)
    kept = rows.select(*names, "n", "missing", "value", "sd", "low", "high", "reason").rename(_MEAN)
    if kept.height:
        caption = (
            f"{instrument}: {section.presentation.called} by model, wording and group of "
            f"{section.noun.many}. n counts {section.noun.many}; {_spread('them')}."
        )
        shown = (*texts(*names), N, *numbers("mean", "sd", "minimum", "maximum"))
        yield as_table(f"{instrument}-groups", caption, kept.to_dicts(), shown=shown)
    gaps = _named(_level(scores, "model", f"{quantity}-gap"), "model", "wording")
    gaps = gaps.sort("model", "wording").select("model", "wording", "n", "value", "reason")
    if gaps.height:
        caption = f"{instrument}: the gap between the groups, by model and wording."
        shown = (*texts("model", "wording"), N, *numbers("value", value="gap"))
        yield as_table(f"{instrument}-gaps", caption, gaps.to_dicts(), shown=shown)


def gaps_by_item(section: Section) -> Iterator[Table]:
    """Yield a table of each item's mean in both groups and the gap, over all wordings."""
    sides = (section.contrast, section.against)
    means = _level(section.scores, "item", section.presentation.quantity)
    means = means.filter(pl.col("group").is_in(sides), pl.col("wording").is_null())
    rows = means.pivot("group", index=["model", "item"], values="value")
    if {*sides} <= {*rows.columns}:
        rows = _named(rows.with_columns(gap=pl.col(sides[0]) - pl.col(sides[1])), "model")
        caption = f"{section.instrument}: {section.presentation.called} by item, and the gap."
        shown = (*texts("model", "item"), *numbers(*sides, "gap"))
        yield as_table(f"{section.instrument}-items", caption, rows.to_dicts(), shown=shown)


def words_counted(section: Section) -> Iterator[Table]:
    """Yield a table of what the shares of negative words rest on: mass, and share rated."""
    instrument, scores = section.instrument, section.scores
    quantities = ["mass", "rated-share", "last-probability", "rated-mass", "irrelevant"]
    rows = scores.filter(pl.col("level") == "model", pl.col("quantity").is_in(quantities))
    kept = rows.sort("model", "quantity").select(
        "model", "quantity", "n", "missing", "value", "sd", "low", "high", "reason"
    )
    if kept.height:
        caption = (
            f"{instrument}: probability of the counted words (mass), the share of it that is "
            "rated, and the probability of the last counted word; in begun replies also that of "
            "words rated positive, negative or neutral (rated-mass), and of irrelevant words; "
            f"{_spread('prompts')}."
        )
        shown = (*texts("model", "quantity"), N, *numbers("mean", "sd", "minimum", "maximum"))
        yield as_table(f"{instrument}-words", caption, kept.rename(_MEAN).to_dicts(), shown=shown)


def ranked_conditions(section: Section) -> Iterator[Table]:
    """Yield a table of all conditions, highest first, with their distance from the baseline."""
    instrument, scores, noun = section.instrument, section.scores, section.noun.one
    rows = _level(scores, "condition", section.presentation.quantity).select(
        "model", "condition", "group", "category", "n", "missing", "value", "sd", "low", "high",
        "over", "reason",
    )  # fmt: skip
    rows = rows.filter(pl.col("condition") != BASELINE)
    if not rows.height:
        return
    rows = with_reference(_with_baseline(rows.rename(_MEAN), section.estimates), section)
    # All models together come first, then each model.
    rows = _named(
        rows.sort(
            "model",
            "mean",
            "condition",
            descending=[False, True, False],
            nulls_last=[False, True, True],
        ).with_columns(
            rank=pl.col("mean").rank("min", descending=True).over("model").cast(pl.Int64)
        ),
        "model",
    )
    about = f"{instrument}: every {noun}, highest first. n is the number of values in its mean."
    caption = f"{about} {_beside(rows, section)}".rstrip()
    columns = ("model", "rank", *(name for name in rows.columns if name not in {"model", "rank"}))
    shown = (
        *texts("model"),
        ColumnSpec(header="rank", keys=("rank",), form="count"),
        *texts("condition", "group", condition=noun),
        N,
        *numbers("mean", "sd"),
        *REFERENCE,
        *_TESTED,
    )
    ranked = rows.select(columns).to_dicts()
    yield as_table(f"{instrument}-conditions", caption, ranked, shown=shown)


COUNTS = {
    "above_half": (pl.col("value") > 0.5, "above .5"),
    "three_quarters": (pl.col("value") >= 0.75, ".75 or more"),
    "all_of_it": (pl.col("value") == 1, "1"),
}
"""The counts of conditions: which values are counted, and the heading of the count."""


def _of_conditions(section: Section) -> pl.DataFrame:
    """Return the number of each condition that has one, for each model and all together."""
    rows = _level(section.scores, "condition", section.presentation.quantity)
    return rows.filter(pl.col("value").is_not_null(), pl.col("condition") != BASELINE)


def counted_conditions(section: Section) -> Iterator[Table]:
    """Yield a table of how many conditions of each group have a high number."""
    counts = [above.sum().cast(pl.Int64).alias(name) for name, (above, _) in COUNTS.items()]
    rows = _of_conditions(section).group_by("model", "group").agg(pl.len().alias("n"), *counts)
    if rows.height:
        many = section.noun.many
        caption = (
            f"{section.instrument}: how many {many} have a {section.presentation.called} above .5, "
            f"of at least .75, and of 1. n is the number of {many}."
        )
        shown = (
            *texts("model", "group"),
            N,
            *(
                ColumnSpec(header=header, keys=(name,), form="count")
                for name, (_, header) in COUNTS.items()
            ),
        )
        table_rows = _named(
            rows.sort("model", "group", descending=[False, True]), "model"
        ).to_dicts()
        yield as_table(f"{section.instrument}-counts", caption, table_rows, shown=shown)


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
    if means.height:
        many = section.noun.many
        caption = (
            f"{section.instrument}: mean {section.presentation.called} by category, in the study's "
            f"categories. n counts {many}; {_spread('them')}."
        )
        order = means.sort(*names[:2], "mean", "category", descending=[False, True, True, False])
        shown = (*texts(*names), N, *numbers("mean", "sd", "minimum", "maximum"))
        table_rows = _named(order, "model").to_dicts()
        yield as_table(f"{section.instrument}-categories", caption, table_rows, shown=shown)


def _beside(rows: pl.DataFrame, section: Section) -> str:
    """Return what the columns beside a condition's mean say, and how good the baseline is."""
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
            f"next to "
            "it is corrected by Benjamini–Hochberg."
        )
    if rows["difference"].count():
        sentences += [
            f"The last interval and p columns are about the {noun.one}'s mean minus the baseline.",
            confound(section),
        ]
    return " ".join(part for part in sentences if part)


def _with_baseline(rows: pl.DataFrame, estimates: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with the contrast of each condition or setting with the baseline, if any."""
    tested = estimates.filter(pl.col("kind") == "baseline").select(
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
    """Return one row for each value of ``index``, with each quantity's mean and perhaps spread.

    ``counted``: the quantity that n is of; None: the one with the most values.
    """
    ends = ("", "_sd") if spread else ("",)
    empty = {f"{quantity}{end}": None for quantity in quantities for end in ends}
    wide: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows.filter(pl.col("quantity").is_in(list(quantities))).iter_rows(named=True):
        key = tuple(row[name] for name in index)
        record = wide.setdefault(key, {**dict(zip(index, key, strict=True)), "n": 0, **empty})
        # A quantity that a model cannot have has no values; the others' count is the row's.
        if counted in (None, row["quantity"]):
            record["n"] = max(record["n"], row["n"])
        record[row["quantity"]] = row["value"]
        if spread:
            record[f"{row['quantity']}_sd"] = row["sd"]
    return list(wide.values())


def sentiment(section: Section) -> Iterator[Table]:
    """Yield tables of the shares of labels by classifier and group, and also by template."""
    instrument, scores = section.instrument, section.scores
    for level, names, suffix, what in (
        ("group", ("model", "group"), "groups", "classifier and group"),
        ("item", ("model", "item", "group"), "templates", "classifier, template and group"),
    ):
        rows = _named(scores.filter(pl.col("level") == level), "model").sort(*names)
        table_rows = _wide(rows, SENTIMENTS, index=names)
        if table_rows:
            caption = (
                f"{instrument}: share of each label by {what}. n is the number of labels. A "
                "label's share is averaged only over classifiers that have this label."
            )
            shown = (
                *texts(*names, model="classifier", item="template"),
                N,
                *numbers(*SENTIMENTS),
            )
            yield as_table(f"{instrument}-{suffix}", caption, table_rows, shown=shown)


_GENDERS = ("female", "male", "nonbinary", "unspecified", "disparity")

_ONE_BY_ONE = (
    ColumnSpec(header="95% interval", keys=("level_low", "level_high"), form="interval"),
    ColumnSpec(header="p, corrected", keys=("level_p_adjusted",), form="p"),
    *REFERENCE[2:],
)
"""Columns beside a diagnosis's disparity: its tests against 0 and the mean of the other group."""


def _one_by_one(section: Section, made: list[dict[str, Any]]) -> tuple[ColumnSpec, ...]:
    """Add the tests of disparity to the rows of conditions; return the columns to show."""
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


def genders(section: Section) -> Iterator[Table]:
    """Yield tables of each gender's probability by subscale and group, item, and condition."""
    instrument, scores = section.instrument, section.scores
    keyed = "keyed-disparity" in scores["quantity"]
    quantities = (*_GENDERS, *(("keyed-disparity",) if keyed else ()))
    for levels, names, suffix, what in _of_scale(section, "model", "wording", "variant"):
        rows = scores.filter(pl.col("level").is_in(levels), pl.col("group").is_not_null())
        rows = rows.sort(*names, nulls_last=False)
        if suffix == "genders":
            rows = _named(rows, "dimension")
        table_rows = _wide(rows, quantities, index=names, spread=True)
        if not table_rows:
            continue
        tested = _one_by_one(section, table_rows) if suffix == "conditions" else ()
        caption = (
            f"{instrument}: probability of words for women, for men, for nonbinary people and for "
            "none of them, and female minus male. n is the number of "
            f"{what}; means and SDs are taken over them."
        )
        shown = (
            *texts(*names, variant="words", dimension="subscale", condition=section.noun.one),
            N,
            *(
                ColumnSpec(header=f"{name} (sd)", keys=(name, f"{name}_sd"), form="mean")
                for name in quantities
            ),
            *tested,
        )
        yield as_table(f"{instrument}-{suffix}", caption, table_rows, shown=shown)


def _of_scale(section: Section, *whose: str) -> Iterator[tuple[list[str], list[str], str, str]]:
    """Yield for each table of a scale its levels, columns, end of the name, and what n counts."""
    many = section.noun.many
    yield ["group", "dimension"], [*whose, "group", "dimension"], "genders", f"items × {many}"
    yield ["item"], [*whose, "dimension", "item", "group"], "items", many
    yield ["condition"], [*whose, "group", "condition"], "conditions", "items"


def settings(section: Section) -> Iterator[Table]:
    """Yield a table of each adjective setting's score, and its difference from the baseline."""
    instrument, scores = section.instrument, section.scores
    quantity = section.presentation.quantity
    rows = _level(scores, "condition", quantity).select(
        "model", "condition", "group", "n", "missing", "value", "sd", "over", "reason"
    )
    if rows.height:
        rows = _with_baseline(rows.rename({"value": quantity}), section.estimates)
        # Numbers that could put a bias in doubt, if replies were asked for.
        rows = with_values(rows, scores, {name: pl.col("quantity") == name for name in BESIDE})
        caption = (
            f"{instrument}: {quantity} for every adjective setting, and its difference from the "
            f"sentences without adjectives. n is the number of {rows['over'][0]}."
        )
        if quantity == ADJUSTED:
            caption += (
                " The differences are adjusted for the general preference for “he” or “she”, and "
                "the means are not, so they do not add up exactly."
            )
        if rows["bias-lowest"].count():
            caption += (
                " Some replies name nobody; the bounds are the lowest and the highest bias that "
                "they allow. “Among answered” leaves these replies out."
            )
        shown = (
            *texts("model", "condition", "group", condition="setting"),
            N,
            *numbers(quantity, "sd"),
            *_UNANSWERED,
            *_TESTED[:2],
            ColumnSpec(header="p", keys=("p",), form="p"),
            _TESTED[2],
        )
        table_rows = rows.sort("model", "group", "condition").to_dicts()
        yield as_table(f"{instrument}-settings", caption, table_rows, shown=shown)


_UNANSWERED = (
    ColumnSpec(
        header="bounds", keys=("bias-lowest", "bias-highest"), form="interval", drop="empty"
    ),
    *(
        ColumnSpec(header=header, keys=(name,), form="number", drop="empty")
        for header, name in (
            ("among answered", "bias-answered"),
            ("right, pro", "accuracy-pro"),
            ("right, anti", "accuracy-anti"),
            ("above chance", "above-chance"),
            ("first named − ½", "first-mentioned-above-half"),
            ("log-odds", "log-odds"),
        )
    ),
)


def answer_kinds(section: Section) -> Iterator[Table]:
    """Yield tables of reply kinds by setting and side, and of which pair sentences were right."""
    instrument, scores = section.instrument, section.scores
    names = ("model", "condition", "wording")
    kinds = scores.filter(pl.col("level") == "side", pl.col("quantity").is_in(REPLY_KINDS))
    # A side's row is of one trial; the table has the mean over trials.
    means = (
        kinds.group_by(*names, "quantity")
        .agg(pl.col("value").mean(), pl.col("n").sum(), pl.col("value").std().alias("sd"))
        .sort(*names, "quantity")
    )
    table_rows = _wide(means, REPLY_KINDS, index=names)
    if table_rows:
        caption = f"{instrument}: share of each kind of reply. n is the number of replies."
        shown = (
            *texts(*names, condition="setting", wording="side"),
            N,
            *numbers(*REPLY_KINDS),
        )
        yield as_table(f"{instrument}-answers", caption, table_rows, shown=shown)
    keys = ("model", "condition")
    pair_rows = scores.filter(pl.col("level") == "condition").sort(*keys)
    table_rows = _wide(pair_rows, PAIR_KINDS, index=keys)
    if table_rows:
        caption = (
            f"{instrument}: share of sentence pairs in which the model is right only in the pro "
            "sentence, only in the anti sentence, in both, or in neither. n is the number of "
            "trials."
        )
        shown = (*texts(*keys, condition="setting"), N, *numbers(*PAIR_KINDS))
        yield as_table(f"{instrument}-pairs", caption, table_rows, shown=shown)


def by_gender(quantities: tuple[str, ...], said: str) -> TableFn:
    """Return a function for tables by group and subscale, by item, and by condition.

    ``said``: what the numbers are.
    """

    def made(section: Section) -> Iterator[Table]:
        for levels, names, suffix, over in _of_scale(section, "model", "variant"):
            rows = section.scores.filter(
                pl.col("level").is_in(levels),
                pl.col("quantity").is_in(quantities),
                pl.col("group").is_not_null(),
            )
            # Means over all wordings if there are any, or else of the first wording.
            selected = rows.filter(pl.col("wording").is_null())
            if not selected.height:
                selected = rows.filter(pl.col("wording").is_in(section.wordings[:1]))
            rows = _named(selected.sort(*names, "quantity", nulls_last=False), "dimension")
            wide = _wide(rows, quantities, index=names, counted="disparity")
            if wide:
                tested = _one_by_one(section, wide) if suffix == "conditions" else ()
                caption = f"{section.instrument}: {said}; n counts {over}."
                noun = section.noun.one
                shown = (
                    *texts(*names, variant="words", dimension="subscale", condition=noun),
                    N,
                    *numbers(*quantities, drop="empty"),
                    *tested,
                )
                yield as_table(f"{section.instrument}-{suffix}", caption, wide, shown=shown)

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
    wide = _wide(rows, [*BY.values()], index=names, counted="both")
    if wide:
        caption = (
            f"{section.instrument}: the share of the answers that are definitely or probably "
            "unwilling, or very or somewhat likely; n counts prompts."
        )
        shown = (
            *texts(*names, dimension="subscale", condition=section.noun.one),
            N,
            *numbers(*BY.values(), drop="empty"),
        )
        yield as_table(f"{section.instrument}-endorsed", caption, wide, shown=shown)
