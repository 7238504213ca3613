"""Every contrast that measures name, as data: which sides are compared, for whom, by which test.

Briegel & Chen (2023) count trials, which show whether a difference repeats on the same sentences.
Sentence pairs, clustered by the frame and the two occupations, show whether it does on others.

The order of the options, the keying and the wording each move an answer. The effect of each is a
contrast of its own, over the same items and conditions; contrasts of conditions use the means over
both orders.

The prompts that name no condition are a poor reference for a single condition: they lack the
relative clause as well as the condition. The other group's prompts have both, so their mean is the
reference, taken as given. Conditions also differ for reasons other than stigma: those of the other
group are compared with the same mean, and show how many would differ from it anyway.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goffman.contrasts.correlations import IN_MAIN_VARIANT
from goffman.contrasts.designs import (
    GAP_OF,
    INTERACTION,
    NESTED,
    Clusters,
    Contrast,
    ScoreTable,
    Side,
    adjusted,
    clustered,
    cube,
    descriptions,
    in_order,
    merging_nested_wordings,
    of_study,
    over_baseline,
    over_cells_alone,
    over_conditions,
    over_sentences,
    over_shared_cells,
    three_way,
    two_presentations,
    two_way,
)
from goffman.contrasts.engine import (
    ContrastSpec,
    MeasuredInstrument,
    Pairs,
    Sides,
    Stratum,
    groups,
    judged,
    models,
    named_groups,
    quantities,
    scored_sides,
    settings,
    wordings_against_first,
)
from goffman.contrasts.engine import dimensions as subscales
from goffman.instruments.types import ADJECTIVE_GROUPS, BASELINE, THEY
from goffman.stats.two_samples import independent_t

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.contrasts.designs import Estimates
    from goffman.measures.base import Measure
    from goffman.stats.intervals import Estimate


# Conditions × items × wordings.

groups_of_conditions = ContrastSpec(
    kind="groups", pairs=groups, by=("model or all",), test=three_way
)
"""The conditions of one group against those of the other; everything that was asked is a sample."""

groups_as_asked = ContrastSpec(
    kind="groups-as-asked",
    level="condition",
    pairs=groups,
    by=("model or all",),
    test=over_conditions,
    views=(of_study,),
)
"""The same as the study tests it: only conditions are a sample, and the sentences are fixed."""


def _groups_of_phrases(stratum: Stratum) -> Sides:
    if stratum.scored.sharing.phrases:
        yield from groups(stratum)


groups_adjusted = ContrastSpec(kind="groups-adjusted", pairs=_groups_of_phrases, test=adjusted)
"""The same as if the conditions' phrases were alike in the model's likelihood, length and verb."""

models_over_conditions = ContrastSpec(kind="models", pairs=models, by=("group",), test=three_way)
"""Within each group every two models, on the same conditions, items and wordings."""

wordings_over_conditions = ContrastSpec(kind="wordings", pairs=wordings_against_first, test=two_way)
"""Within each model every other wording against the first, on the same items and conditions."""


def over_wordings(spec: ContrastSpec) -> ContrastSpec:
    """Return the contrast with all wordings instead of the first, taken as sampled, too."""
    test = three_way if spec.test is two_way else spec.test
    return replace(spec, first_wording=False, test=test).on(merging_nested_wordings)


# Items × conditions, in the first wording.

_over_cells = partial(ContrastSpec, first_wording=True, test=two_way)

genders = _over_cells(
    kind="genders",
    pairs=quantities("female", "male"),
    by=("model", "variant", "group", "dimension"),
    quantity="probability",
)
"""Female against male, in the same sentences."""

groups_of_cells = _over_cells(kind="groups", pairs=groups, by=("model", "variant", "dimension"))
"""The disparity in one group of conditions against the other."""

models_over_cells = _over_cells(kind="models", pairs=models, by=("variant", "group"))
"""Within each group every two models, in the same sentences."""

dimensions = _over_cells(kind="dimensions", pairs=subscales, by=("model", "variant", "group"))
"""The disparity in every two subscales, for the same conditions."""


def _models_of_dimension(stratum: Stratum) -> Sides:
    if stratum.dimension:
        yield from models(stratum)


def _main_variant(scored: ScoreTable) -> ScoreTable:
    return replace(scored, scores=scored.scores.filter(IN_MAIN_VARIANT))


models_by_dimension = replace(
    models_over_cells,
    pairs=_models_of_dimension,
    by=("variant", "group", "dimension"),
    views=(_main_variant,),
)
"""Within each group and subscale every two models, in the same sentences; names count."""


def _as_the_study_asked(scored: ScoreTable) -> ScoreTable:
    """Return the scores with only the study's own wordings, or with all if none of it was asked."""
    added = {wording for _, wording in scored.sharing.own}
    wordings = [wording for wording in scored.wordings if wording not in added]
    return replace(scored, wordings=wordings or scored.wordings)


genders_as_asked = replace(
    genders, kind="genders-as-asked", test=over_cells_alone, views=(_as_the_study_asked,)
)
"""Female against male as the study tests it: by a paired t, prompt by prompt.

In the study's own sentences if they were asked."""

wordings_over_cells = replace(wordings_over_conditions, by=("model", "variant", "group"))
"""Within each group every other wording against the first, item by item."""

OVER_BASELINE = "over-baseline"


def _group_and_baseline(stratum: Stratum) -> Sides:
    names = str(stratum.group), BASELINE
    rows = pl.concat([stratum.rows(group=group) for group in names])
    yield from scored_sides(stratum, "group", [names], rows)


disparity_over_baseline = replace(
    dimensions, kind=OVER_BASELINE, pairs=_group_and_baseline, test=over_baseline
)
"""The number with a diagnosis minus that in the same sentences without one, item by item.

More women than men in sentences about a diagnosis says little if the same sentences without one
have as many."""

# Women and men who are described alike, and descriptions.

women_against_men = over_wordings(replace(genders, quantity="code"))
"""The code of a woman against that of a man, over all wordings; orders are averaged."""


def _contrast_group(scored: ScoreTable) -> ScoreTable:
    # Numbers with a variant are about women or men alone; those of pairs have none.
    own_rows = (pl.col("group") == scored.contrast) & pl.col("variant").is_null()
    scores = scored.scores.filter(own_rows)
    return replace(scored, scores=scores.with_columns(dimension=pl.lit(None, dtype=pl.String)))


women_against_men_in_group = women_against_men.on(_contrast_group)
"""The same in the descriptions of the first group, over all items."""


def _nonbinary(stratum: Stratum) -> Sides:
    for gender in ("female", "male"):
        yield from quantities("nonbinary", gender)(stratum)


nonbinary_against_others = replace(
    women_against_men,
    kind="nonbinary",
    pairs=_nonbinary,
    by=("model", "group"),
    test=over_shared_cells,
)
"""The code of a nonbinary person against that of a woman and of a man, in the cells they share."""

nonbinary_in_group = nonbinary_against_others.on(_contrast_group)

group_against_compared = ContrastSpec(kind="groups", pairs=groups, test=descriptions)
"""The descriptions of one group against those of the other, item by item."""

# Effects of presentation.

DIRECTIONS = ("stigma-first", "stigma-last")
"""The place of the option with the highest code in the list."""

KEYINGS = ("plain-keyed", "reversed-keyed")
"""Whether agreeing means more of the construct, or less."""

order_of_options = ContrastSpec(kind="order", pairs=quantities(*DIRECTIONS), test=two_presentations)
"""The most stigmatizing option listed first against listed last."""

keying = ContrastSpec(kind="keying", pairs=quantities(*KEYINGS), test=two_presentations)
"""Agreeing means more of the construct against less of it, item by item."""


def _comparable_wordings(stratum: Stratum) -> Sides:
    for first, second, first_side, second_side in wordings_against_first(stratum):
        # If no item was asked in both wordings, their effect cannot be told from the items'.
        if first_side.rows["item"].is_in(second_side.rows["item"].implode()).any():
            yield first, second, first_side, second_side


wordings = ContrastSpec(
    kind="wordings", level="presentation", pairs=_comparable_wordings, test=two_presentations
)
"""Every other wording against the first, averaged over orders."""

# Single conditions, in items × wordings.

REFERENCE, OWN_GROUP, BY_CONDITION = "reference", "own-reference", "conditions"
LEVEL_OF_CONDITION = "condition-level"

NOTHING = "0"
"""The second side of a contrast of a level: 0."""


def _against_baseline(stratum: Stratum) -> Sides:
    tables = {name: table for group in _tables(stratum).values() for name, table in group.items()}
    if BASELINE in tables:
        for condition in sorted(set(tables) - {BASELINE}):
            yield condition, BASELINE, tables[condition], tables[BASELINE]


def _against_zero(stratum: Stratum) -> Sides:
    tables, scored = _tables(stratum), stratum.scored
    for group in (scored.contrast, scored.against):
        for condition, table in sorted(tables.get(group, {}).items()):
            yield condition, NOTHING, table, np.zeros_like(table)


def _against_mean(group: str) -> Pairs:
    """Return a function that yields each condition of a group and the compared group's mean.

    If the group is the compared group itself, the mean includes the condition. Against the mean of
    the other conditions the difference would be larger by n/(n − 1), and so would its error: t and
    p are the same.
    """

    def pairs(stratum: Stratum) -> Sides:
        tables, against = _tables(stratum), stratum.scored.against
        second, first = tables.get(against, {}), tables.get(getattr(stratum.scored, group), {})
        if not second or (group == "against" and len(second) < 2):
            return
        mean = _mean_of_conditions(np.array([second[condition] for condition in sorted(second)]))
        for condition in sorted(first):
            yield condition, against, first[condition], mean

    return pairs


def _tables(stratum: Stratum) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Return tables of items × wordings by group and condition.

    The result is empty if each condition has items of its own: its effect cannot then be told from
    that of its items.
    """
    cells = stratum.scored.cells(stratum.rows())
    tables, ids = _by_condition(cells, "group")
    return {} if ids["item"] == [NESTED] else tables


def _by_condition(
    cells: pl.DataFrame, column: str
) -> tuple[dict[str, dict[str, NDArray[np.float64]]], dict[str, list[str]]]:
    """Return tables by a column's value and condition, and the ids of their items and wordings."""
    ids = {factor: in_order(cells, factor) for factor in ("item", "wording")}
    tables_by_value = {}
    for (name,), rows in cells.partition_by(column, as_dict=True).items():
        conditions = in_order(rows, "condition")
        condition_tables = cube(rows, {"condition": conditions, **ids})
        tables_by_value[str(name)] = dict(zip(conditions, condition_tables, strict=True))
    return tables_by_value, ids


def _mean_of_conditions(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over conditions; NaN in a cell in which half of them or more have no value.

    One missing value among many hardly moves a mean, and a cell without a mean would be missing in
    every contrast.
    """
    counts = (~np.isnan(tables)).sum(axis=0)
    sums = np.nansum(tables, axis=0)
    enough = 2 * counts > len(tables)
    return np.where(enough, sums / np.maximum(counts, 1), np.nan)


_single = partial(ContrastSpec, test=over_sentences)

conditions_against_baseline = _single(kind="baseline", pairs=_against_baseline)
conditions_against_reference = _single(kind=REFERENCE, pairs=_against_mean("contrast"))
conditions_against_own_group = _single(kind=OWN_GROUP, pairs=_against_mean("against"))

conditions_one_by_one = tuple(
    replace(spec, first_wording=True, by=("model", "variant"))
    for spec in (
        _single(kind=LEVEL_OF_CONDITION, pairs=_against_zero),
        conditions_against_reference,
        conditions_against_own_group,
    )
)
"""The disparity of every condition against 0, and against the mean of the other group's."""


def models_by_condition(scored: ScoreTable) -> Estimates:
    """Yield for every two models the contrast of each condition between them.

    ``first`` is the condition, ``second`` the other model. Items and wordings are taken as sampled,
    so that a contrast holds for other sentences about the condition.
    """
    scored = scored.seen(merging_nested_wordings)
    rows = scored.cells(scored.rows("prompt").filter(pl.col("condition") != BASELINE))
    tables, levels = _by_condition(rows, "model")
    condition_rows = rows.group_by("condition").agg(
        pl.col("group", "variant").first(), pl.col("item", "wording").unique()
    )
    # Each condition has its own items and wordings, since items may be nested in conditions.
    condition_parts = {
        str(row["condition"]): (
            {column: row[column] for column in ("group", "variant")},
            np.ix_(*(np.isin(ids, row[column]) for column, ids in levels.items())),
        )
        for row in condition_rows.sort("condition").iter_rows(named=True)
    }
    for first_model, second_model in itertools.combinations(scored.models, 2):
        for condition, (columns, cells) in condition_parts.items():
            if all(condition in tables.get(model, {}) for model in (first_model, second_model)):
                sides = [tables[model][condition][cells] for model in (first_model, second_model)]
                contrast = scored.contrast_of(
                    BY_CONDITION, first=condition, second=second_model, **columns
                )
                yield contrast, over_sentences(scored, contrast, *sides)


# Sentence pairs.


POSITION = "position"


def _in_pairs(scored: ScoreTable) -> ScoreTable:
    """Return the scores with rows of the level pair: the preference, or the bias over trials."""
    if scored.quantity != "bias":
        pairs = scored.rows("prompt")
    else:
        rows = scored.rows("prompt", "correct")
        keys = ["model", "item", "condition", "group", "trial"]
        pro, anti = (rows.filter(wording=side) for side in ("pro", "anti"))
        trials = pro.join(anti.select(*keys, anti="value"), on=keys, nulls_equal=True)
        pairs = trials.group_by("model", "item", "condition", "group").agg(
            (pl.col("value") - pl.col("anti")).mean().alias("value")
        )
    pairs = pairs.with_columns(level=pl.lit("pair"), quantity=pl.lit(scored.quantity))
    return replace(scored, scores=pl.concat([scored.scores, pairs], how="diagonal"))


def _sentence_pairs(
    scored: ScoreTable, compared: Contrast, first: Side, second: Side | float
) -> Estimate:
    """Return the estimate for the same sentence pairs on both sides, or against a constant."""
    pairs = first.rows.select("item", first="value")
    if isinstance(second, float):
        return _clustered(scored, compared, pairs.with_columns(second=second))
    second_scores = second.rows.select("item", second="value")
    return _clustered(scored, compared, pairs.join(second_scores, on="item"))


def _means_of_settings(
    scored: ScoreTable, compared: Contrast, first: Side, second: Side
) -> Estimate:
    """Return the estimate over sentence pairs, each by its mean over the settings, which are fixed.

    A pair that lacks a setting is left out, since its means would be over other adjectives.
    """
    sides = first.rows, second.rows
    counts = [rows["condition"].n_unique() for rows in sides]
    if first.differ == "model":
        counts = [pl.concat(sides)["condition"].n_unique()] * 2
    first_means, second_means = (
        rows.sort("item", "condition")
        .group_by("item", maintain_order=True)
        .agg(pl.when(pl.col("value").count() == count).then(pl.col("value").mean()).alias(name))
        for rows, count, name in zip(sides, counts, ("first", "second"), strict=True)
    )
    return _clustered(
        scored, compared, first_means.join(second_means, on="item", how="full", coalesce=True)
    )


def _clustered(scored: ScoreTable, compared: Contrast, pairs: pl.DataFrame) -> Estimate:
    """Return the estimate for the columns first and second, clustered by what pairs share."""
    pairs = pairs.sort("item")
    items = pairs["item"].to_list()
    # In a preference, the more frequent pronoun would count as a stereotype, so signs are needed.
    # The two sentences of its pair differ only in the pronoun.
    has_sign = scored.quantity == "preference"
    unit = "sentences" if has_sign or scored.quantity == THEY_PREFERENCE else "sentence pairs"
    return clustered(
        compared,
        pairs["first"].to_list(),
        pairs["second"].to_list(),
        scored.sharing.clusters(items),
        called=("sentence frames", "occupations"),
        over=f"{unit}, clustered by frame and by occupation in either role",
        unit=unit,
        signs=scored.sharing.sides(items) if has_sign else None,
    )


def _against_nothing(take: Callable[[pl.DataFrame], pl.DataFrame], called: str = NOTHING) -> Pairs:
    """Return a function that yields each condition against 0, which is named ``called``.

    ``take`` is a function that chooses the rows.
    """

    def pairs(stratum: Stratum) -> Sides:
        rows = take(stratum.rows())
        for condition in in_order(rows, "condition"):
            condition_rows = rows.filter(condition=condition)
            yield condition, called, Side(condition_rows, stratum.scored, "quantity"), 0.0

    return pairs


def _position(stratum: Stratum) -> Sides:
    rows = stratum.rows("first-listed", condition=BASELINE).sort("item", "wording")
    means = rows.group_by("item", maintain_order=True).agg(pl.col("value").mean())
    if means.height:
        yield "first-listed", "half", Side(means, stratum.scored, "quantity"), 0.5


levels = ContrastSpec(
    kind="level",
    level="pair",
    pairs=_against_nothing(lambda rows: rows.filter(condition=BASELINE)),
    test=_sentence_pairs,
    views=(_in_pairs,),
)
"""The number without adjectives against 0."""

settings_by_pairs = replace(levels, kind="baseline", pairs=settings)
"""Every adjective setting against the baseline, over sentence pairs."""

pairs_against_singles = replace(
    levels, kind="groups", pairs=named_groups(*ADJECTIVE_GROUPS), test=_means_of_settings
)
"""Settings with two adjectives against settings with one."""

models_over_pairs = replace(
    levels,
    kind="models",
    pairs=models,
    by=("group",),
    groups=(BASELINE, *ADJECTIVE_GROUPS),
    test=_means_of_settings,
)
"""Without adjectives, with two and with one: every two models."""

OF_PAIRS = (levels, settings_by_pairs, pairs_against_singles, models_over_pairs)

models_in_each_setting = replace(levels, kind="models", pairs=models, by=("setting",))
"""Within each adjective setting every two models."""

position = ContrastSpec(
    kind=POSITION,
    level="presentation",
    pairs=_position,
    quantity="first-listed",
    test=_sentence_pairs,
)
"""The share of the option listed first against one half, without adjectives."""


# Effects of adjectives by themselves.


def _halves(rows: pl.DataFrame, *, sign: int) -> pl.DataFrame:
    """Return half the sum of each setting and its swapped version, or half their difference."""
    swapped = rows.filter(group="swapped").select(
        "item", pl.col("condition").str.strip_suffix(",swapped"), swapped="value"
    )
    half = (pl.col("value") + sign * pl.col("swapped")) / 2
    return rows.join(swapped, on=["item", "condition"]).with_columns(value=half)


own_effect = replace(levels, kind="adjectives", pairs=_against_nothing(partial(_halves, sign=-1)))
"""The effect of adjectives whichever occupation has them: (as the study has it − swapped) / 2."""

occupations_effect = replace(
    levels, kind="occupations", pairs=_against_nothing(partial(_halves, sign=1))
)
"""The effect of occupations whichever adjective they have: (as the study has it + swapped) / 2."""

neutral_effect = replace(
    levels, kind="neutral", pairs=_against_nothing(lambda rows: rows.filter(group="neutral"))
)
"""Whether the model means the referent whose adjective is of the pronoun's gender, if jobs are
neutral."""

ADJECTIVES_ALONE = (own_effect, occupations_effect, neutral_effect)

# Singular “they”.

THEY_PREFERENCE = "they-preference"
"""log P(they) − log P(he or she), of a prompt."""


def _by_pronoun(scored: ScoreTable) -> ScoreTable:
    """Return the accuracy of each pair without adjectives, with the pronoun as its condition."""
    rows = scored.rows("prompt", "correct").filter(pl.col("condition").is_in([BASELINE, THEY]))
    fits = pl.col("wording") == "pro"
    men = pl.Series(scored.sharing.sides(rows["item"]) > 0, dtype=pl.Boolean)
    pronoun = pl.when(fits == men).then(pl.lit("he")).otherwise(pl.lit("she"))
    condition = pl.when(pl.col("condition") == THEY).then(pl.lit(THEY)).otherwise(pronoun)
    return _with_pair_means(scored, rows.with_columns(condition=condition), "accuracy")


def _with_pair_means(scored: ScoreTable, rows: pl.DataFrame, quantity: str) -> ScoreTable:
    """Return the scores of sides and pairs under the name ``quantity``: the means of the rows."""
    keys = ["model", "item", "condition", "group", "wording"]
    means = rows.drop_nulls("value").sort(*keys, "trial").group_by(keys, maintain_order=True)
    sides = means.agg(pl.col("value").mean(), level=pl.lit("side"), quantity=pl.lit(quantity))
    pairs = sides.group_by(*keys[:-1], "quantity", maintain_order=True).agg(pl.col("value").mean())
    frames = [scored.scores.clear(), sides, pairs.with_columns(level=pl.lit("pair"))]
    return replace(scored, scores=pl.concat(frames, how="diagonal"), quantity=quantity)


def _they(stratum: Stratum) -> Sides:
    pronoun_pairs = [(THEY, "he"), (THEY, "she")]
    yield from scored_sides(stratum, "condition", pronoun_pairs, stratum.rows())


they_accuracy = replace(levels, kind="they", pairs=_they, views=(_by_pronoun,))
"""Accuracy with singular “they” against “he”, and against “she”, in the same sentences."""

they_preference = replace(
    levels,
    kind="they",
    level="prompt",
    pairs=_against_nothing(lambda rows: rows.filter(condition=THEY), "he or she"),
    views=(),
)
"""How much more probable “they” is than “he” and “she” together."""

# Replies that name nobody.


def _unanswered(scored: ScoreTable) -> ScoreTable:
    """Return the share of answers that name neither person: of pairs, and of their sides."""
    options = scored.rows("prompt", "right").height
    right, wrong = ("right", "wrong") if options else ("correct", "incorrect")
    keys = ["model", "item", "condition", "group", "wording", "trial"]
    wrong_scores = scored.rows("prompt", wrong).select(*keys, wrong="value")
    rows = scored.rows("prompt", right).join(wrong_scores, on=keys, nulls_equal=True)
    shares = rows.with_columns(value=1 - pl.col("value") - pl.col("wrong"))
    return _with_pair_means(scored, shares, "no-answer")


def _sides(stratum: Stratum) -> Sides:
    yield from scored_sides(stratum, "wording", [("anti", "pro")], stratum.rows())


unanswered = replace(settings_by_pairs, kind="no-answer", views=(_unanswered,))
"""The share of answers that name neither person: every adjective setting against the baseline."""

unanswered_sides = replace(
    levels,
    kind="no-answer-sides",
    level="side",
    by=("model", "setting"),
    pairs=_sides,
    views=(_unanswered,),
)
"""The same share within each setting: sentences against the stereotype minus those that fit it."""

BESIDE_BIAS = (*ADJECTIVES_ALONE, they_accuracy, unanswered, unanswered_sides)


def _by_trials(_: ScoreTable, compared: Contrast, first: Side, second: Side) -> Estimate:
    values = [side.rows.sort("trial")["value"].to_list() for side in (first, second)]
    # Each value is the mean of many replies, so that t holds with two trials too.
    estimate = independent_t(*values, contrast=compared.text)
    over = None if estimate.low is None else "trials"
    return replace(estimate, unit="trials", interval_over=over)


settings_by_trials = ContrastSpec(kind="trials", level="trial", pairs=settings, test=_by_trials)
"""Every adjective setting against the baseline, over trials, as in the study."""


_CELL = (
    *("model", "instrument", "mode", "measure", "quantity", "level", "item", "wording"),
    *("dimension", "condition", "form", "group", "category", "trial"),
)
"""The columns in which scores about people of different identities are matched."""


VERSUS = " vs "


def identities_of(variant: str) -> tuple[str, str]:
    """Return the identity that an interaction is about, and the reference identity."""
    identity, _, reference = variant.rpartition(VERSUS)
    return identity, reference


def each_identity(scored: ScoreTable) -> ScoreTable:
    """Return the scores of the main variant, with the identity in the column ``variant``."""
    scores = scored.scores.filter(IN_MAIN_VARIANT).with_columns(variant="identity")
    return replace(scored, scores=scores.drop("identity"))


def minus_reference(scored: ScoreTable, *, reference: str) -> ScoreTable:
    """Return each identity's values minus the reference's; null where either is missing."""
    cells = (
        each_identity(scored)
        .scores.group_by(*_CELL, "variant", maintain_order=True)
        .agg(pl.col("value").mean())
    )
    is_reference = pl.col("variant") == reference
    joined = cells.filter(~is_reference).join(
        cells.filter(is_reference).select(*_CELL, second="value"),
        on=_CELL,
        how="left",
        nulls_equal=True,
    )
    variant = pl.format(f"{{}}{VERSUS}{{}}", "variant", pl.lit(reference))
    scores = joined.select(*_CELL, value=pl.col("value") - pl.col("second"), variant=variant)
    return replace(scored, scores=pl.concat([scored.scores.clear(), scores], how="diagonal"))


def identity_estimates(
    scores: pl.DataFrame,
    levels: Mapping[str, Sequence[str]],
    measures: Mapping[str, Measure],
    *,
    wordings: Mapping[str, Sequence[str]],
    sharing: Mapping[str, Clusters],
    unmeasurable: Mapping[str, Collection[str]] | None = None,
) -> pl.DataFrame:
    """Return estimates of the gap in each identity, and of its difference from the reference's.

    ``scores``: IDENTITY_SCORES; ``levels``: the identities of each instrument, the reference first.
    """
    estimates: list[tuple[Contrast, Estimate]] = []
    for instrument, (reference, *_) in levels.items():
        spec = _gap_between_groups(measures[instrument])
        if spec is not None and instrument in wordings:
            measure, shared = measures[instrument], sharing.get(instrument, Clusters())
            measured = MeasuredInstrument(
                id=instrument, measure=measure, wordings=wordings[instrument], sharing=shared
            )
            quantity = measure.primary_contrast[1]
            rows = measured.own_scores(scores).filter(quantity=quantity)
            table = measured.score_table(rows, quantity)
            estimates += [
                estimate for make in _by_identity(spec, reference) for estimate in make(table)
            ]
    return judged(estimates, measures, unmeasurable=unmeasurable)


def _gap_between_groups(measure: Measure) -> ContrastSpec | None:
    """Return the measure's contrast between groups of conditions, or None if it has none."""
    for quantity, specs in measure.contrasts:
        for spec in specs:
            if (spec.kind, spec.quantity or quantity) == ("groups", measure.primary_contrast[1]):
                return spec
    return None


def _by_identity(spec: ContrastSpec, reference: str) -> Iterator[ContrastSpec]:
    """Yield two contrasts: in each identity, and of each identity minus the reference."""
    spec = replace(spec, by=("model", "variant"))
    yield replace(spec, kind=GAP_OF).on(each_identity)
    yield replace(spec, kind=INTERACTION).on(partial(minus_reference, reference=reference))
