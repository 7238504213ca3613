"""Mei, Fereidooni & Caliskan (2023): the authors' fills and sentiment labels, measured again.

Numbers that rest on ratings of words, ours or a file's, need not be the study's.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from goffman.replicate.files import read_csv
from goffman.replicate.mei2023_import import (
    OTHERS,
    SENTIMENTS,
    STIGMATIZED,
    read_categories,
    read_fills,
    read_labels,
    tidy,
)
from goffman.replicate.rows import NOT_HERE, Result

if TYPE_CHECKING:
    import polars as pl

    from goffman.replicate.published_run import PublishedAnswers

MODELS = 6
"""Masked models of the study."""

NAMED = ("unemployed", "unattractive", "less than a high school education", "illiteracy",
         "deaf completely")  # fmt: skip
"""Conditions that the paper names as negative to all classifiers: four among its 27, and one in the
discussion, as the authors' table begins their names."""

STUDY = "with the study's own ratings"

HIGHEST = 4
"""Categories that the paper names as those with high values."""

_FILE = ("model", "wording", "group")
"""The columns that identify a file of fills."""


def results(folder: Path, *, ratings: Path | None = None) -> list[Result]:
    """Return every number of the study, recomputed; ``ratings`` replaces the study's own."""
    from goffman.lexicons.attitude import PEOPLE, load_attitudes
    from goffman.measures.negative_attitude import NegativeAttitude
    from goffman.measures.sentiment import NegativeSentiment

    labels = read_labels(folder)
    sentiment = NegativeSentiment()(labels.answers, labels.prompts)
    categories = read_categories(folder)
    of_labels = [
        _several_forms(labels.prompts),
        *_shares(sentiment),
        *_negative_conditions(sentiment, folder),
        *_negative_categories(sentiment, categories),
    ]
    if not any(folder.glob("fills/*.csv")):
        return of_labels
    fills = read_fills(folder)
    attitudes = load_attitudes([ratings or Path(PEOPLE)], shipped=False)
    attitude = NegativeAttitude()(attitudes.label(fills.answers, fills.prompts), fills.prompts)
    whose = f"with the ratings in {ratings.name}" if ratings else STUDY
    return [
        *of_labels,
        *_about_fills(fills, attitude),
        *_attitudes(attitude, categories, whose),
        *_correlation(attitude, sentiment, whose),
    ]


def _shares(scores: pl.DataFrame) -> Iterator[Result]:
    """Yield the share of each label, by classifier and group."""
    import polars as pl

    shares = scores.filter(pl.col("level") == "group", pl.col("model").is_not_null())
    rows = shares.filter(
        pl.col("value").is_not_null(), pl.col("quantity").is_in(SENTIMENTS.values())
    )
    rows = rows.sort("model", "group", "quantity", descending=(False, True, False))
    for model, group, label, value in rows.select(
        "model", "group", "quantity", "value"
    ).iter_rows():
        yield Result(name=f"share {label}, {model}, {group}", value=value)
    gaps = scores.filter(pl.col("quantity") == "negative-gap", pl.col("level") == "model")
    gaps = gaps.filter(pl.col("model").is_not_null())
    count_text = f"{(gaps['value'] > 0).sum()} of {gaps.height}"
    yield Result(
        name="classifiers that call stigmatized conditions negative more often", value=count_text
    )


def _negative_conditions(scores: pl.DataFrame, folder: Path) -> Iterator[Result]:
    """Yield how many conditions are negative in all outcomes, and in three quarters of them."""
    import polars as pl

    conditions = _of_conditions(scores)
    for group in (STIGMATIZED, OTHERS):
        shares = conditions.filter(pl.col("group") == group)["value"]
        for label, least in (("all outcomes", 1.0), ("at least 75% of outcomes", 0.75)):
            count = int((shares >= least).sum())
            yield Result(name=f"{label} negative, {group} conditions", value=count)
    outcomes = conditions.filter(pl.col("group") == STIGMATIZED).select("condition", "value")
    for name in NAMED:
        for condition, share in outcomes.iter_rows():
            if _letters(condition).startswith(_letters(name)):
                value = "all" if share == 1 else f"{share:.0%}"
                yield Result(name=f"outcomes negative, {name}", value=value)
    path = folder / "aggregated_negative_percentage_classification_results.csv"
    column = "Negative_Sentiment_Percentage"
    table = read_csv(path, ("Condition", column), numbers=(column,))
    published = {_letters(name): share for name, share in table.iter_rows()}
    computed = conditions.select("condition", "value").iter_rows()
    equal = sum(abs(published.get(_letters(name), -1.0) - share) < 1e-9 for name, share in computed)
    yield Result(name="conditions with the share negative of the authors' own table", value=equal)


def _several_forms(prompts: pl.DataFrame) -> Result:
    """Return how many stigmatized conditions are asked about in several forms."""
    import polars as pl

    conditions = prompts.filter(pl.col("group") == STIGMATIZED).group_by("condition")
    forms = conditions.agg(pl.col("form").n_unique())["form"]
    return Result(name="stigmatized conditions with several forms", value=int((forms > 1).sum()))


def _of_conditions(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the share negative, or the negative attitude, of each condition over all models."""
    import polars as pl

    return scores.filter(
        pl.col("level") == "condition",
        pl.col("quantity") == "negative",
        pl.col("model").is_null(),
        pl.col("value").is_not_null(),
    )


def _negative_categories(scores: pl.DataFrame, categories: Mapping[str, str]) -> Iterator[Result]:
    """Yield which categories of stigmatized conditions the classifiers call negative most often."""
    import polars as pl

    conditions = _of_conditions(scores).filter(pl.col("group") == STIGMATIZED)
    means = category_means(dict(conditions.select("condition", "value").iter_rows()), categories)
    if means:
        yield Result(
            name=f"categories with the {HIGHEST} highest shares negative",
            value=", ".join(sorted(list(means)[:HIGHEST])),
            note=_in_order(means),
        )


def category_means(values: Mapping[str, float], categories: Mapping[str, str]) -> dict[str, float]:
    """Return category → mean of its conditions' values, the highest first.

    Only categories with two conditions or more count: in the authors' table 23 conditions have a
    category of their own, which says no more than the condition does.
    """
    by_category: dict[str, list[float]] = defaultdict(list)
    for condition, value in values.items():
        if condition in categories:
            by_category[categories[condition]].append(value)
    means = {
        name: sum(numbers) / len(numbers)
        for name, numbers in by_category.items()
        if len(numbers) > 1
    }
    return dict(sorted(means.items(), key=lambda item: -item[1]))


def _in_order(means: Mapping[str, float]) -> str:
    text = ", ".join(f"{name} {mean:.2f}" for name, mean in means.items())
    return f"of categories with two conditions or more: {text}"


def _letters(name: str) -> str:
    """Return the letters of a condition's name: the authors' tables differ in spaces and case."""
    return re.sub(r"\W", "", tidy(name)).casefold()


def _about_fills(fills: PublishedAnswers, scores: pl.DataFrame) -> Iterator[Result]:
    """Yield the figures about the 50 words at each mask."""
    import polars as pl

    note = f"of the {fills.answers.select('model', 'prompt_id').n_unique():,} prompts × models here"
    prompts = scores.filter(pl.col("level") == "prompt")
    mass, last = (
        prompts.filter(pl.col("quantity") == quantity)["value"].drop_nulls().to_list()
        for quantity in ("mass", "last-probability")
    )
    count = sum(value >= 0.5 for value in mass)
    yield Result(
        name="prompts whose 50 words have a probability of at least .5",
        value="all" if count == len(mass) else f"{count:,} of {len(mass):,}",
        note=f"the smallest is {min(mass):.3f}, {note}",
        firm=False,
    )
    share = sum(mass) / len(mass)
    yield Result(name="mean probability of the 50 words", value=share, note=note, firm=False)
    for extreme, value in (("largest", max(last)), ("smallest", min(last))):
        name = f"{extreme} probability of the 50th word"
        yield Result(name=name, value=value, note=note, digits=6, firm=False)
    words = fills.answers["word"].str.to_lowercase().n_unique()
    yield Result(name="different words", value=words, note=note, firm=False)


def _attitudes(scores: pl.DataFrame, categories: Mapping[str, str], whose: str) -> Iterator[Result]:
    """Yield the negative attitude of every file, each model's gap, and the conditions above .5."""
    import polars as pl

    from goffman.measures.responses import wide

    values = scores.filter(pl.col("value").is_not_null())
    files = values.filter(pl.col("level") == "group", pl.col("wording").is_not_null())
    means: dict[str, dict[str, dict[str, float]]] = {}
    columns = ("negative", "lowest", "highest")
    for row in wide(files, columns).sort("model", "wording", "group").iter_rows(named=True):
        model, wording, group, value = (row[name] for name in (*_FILE, "negative"))
        means.setdefault(model, {}).setdefault(group, {})[wording] = value
        ends = f"{row['lowest']:.3f} to {row['highest']:.3f}"
        bounds = f"{ends} whatever unrated and unseen words say"
        name = f"negative attitude, {model}, {wording}, {group}"
        yield Result(name=name, value=value, note=f"{whose}, {bounds}")
    gaps = [row for model, groups in means.items() for row in _gaps(model, groups, whose)]
    yield from gaps
    exact = [row.value for row in gaps if row.name.startswith("gap before rounding")]
    if exact:
        mean = sum(value for value in exact if isinstance(value, float)) / len(exact)
        note = f"{whose}, over {len(exact)} of the {MODELS} models"
        yield Result(name="gap before rounding, all models", value=mean, note=note, firm=False)
    models = f"{whose}, over {len(means)} of the {MODELS} models"
    complete = len(means) == MODELS and whose == STUDY
    conditions = _of_conditions(scores).sort("value", descending=True)
    for group in (STIGMATIZED, OTHERS):
        ranked = conditions.filter(pl.col("group") == group).select("condition", "value").rows()
        yield from _above_half(group, ranked, models, firm=complete)
        if group == STIGMATIZED:
            yield from _categories(category_means(dict(ranked), categories), models)


def _categories(means: Mapping[str, float], note: str) -> Iterator[Result]:
    """Yield which categories of stigmatized conditions have the highest and lowest values."""
    lacking = f"{NOT_HERE}: no category has fills of two stigmatized conditions"
    note = f"{note}, {_in_order(means)}" if means else lacking
    names = list(means)
    for name, value in (
        (f"categories with the {HIGHEST} highest values", ", ".join(sorted(names[:HIGHEST]))),
        ("category with the lowest value", names[-1] if names else ""),
    ):
        yield Result(name=name, value=value or None, note=note, firm=False)


def _gaps(model: str, groups: dict[str, dict[str, float]], whose: str) -> Iterator[Result]:
    """Yield the groups' mean difference over wordings, of means with two decimals and unrounded."""
    name = f"gap, {model}"
    if not groups.keys() >= {STIGMATIZED, OTHERS}:
        missing = STIGMATIZED if STIGMATIZED not in groups else OTHERS
        note = f"{NOT_HERE}: the fills of its {missing} conditions are not among them"
        yield Result(name=name, value=None, note=note)
        return
    first, second = groups[STIGMATIZED], groups[OTHERS]
    wordings = first.keys() & second.keys()
    rounded = [round(first[wording], 2) - round(second[wording], 2) for wording in wordings]
    exact = [first[wording] - second[wording] for wording in wordings]
    note = f"{whose}, group means rounded as the study did"
    yield Result(name=name, value=sum(rounded) / len(rounded), note=note, firm=False)
    value = sum(exact) / len(exact)
    yield Result(name=f"gap before rounding, {model}", value=value, note=whose, firm=False)


def _above_half(
    group: str, ranked: list[tuple[str, float]], note: str, *, firm: bool
) -> Iterator[Result]:
    """Yield how many conditions have a negative attitude above .5, and which are the highest."""
    above = [condition for condition, value in ranked if value > 0.5]
    if not ranked:
        note = f"{NOT_HERE}: fills of {group} conditions are not among them"
        yield Result(name=f"{group} conditions above .5", value=None, note=note)
        return
    yield Result(name=f"{group} conditions above .5", value=len(above), note=note, firm=firm)
    if group == STIGMATIZED:
        highest = ", ".join(sorted(condition.lower() for condition, _ in ranked[:3]))
        name = f"{group} conditions with the three highest values"
        yield Result(name=name, value=highest, note=note, firm=firm)
    else:
        condition, value = ranked[0]
        name = f"{group} condition with the highest value"
        yield Result(name=name, value=condition, note=f"{value:.3f}, {note}", firm=firm)


def _correlation(attitude: pl.DataFrame, sentiment: pl.DataFrame, whose: str) -> Iterator[Result]:
    """Yield Pearson's r of the two measures over both groups' conditions, its interval and t."""
    import polars as pl

    from goffman.stats.profile import pearson

    name = "correlation of both measures over conditions, Pearson's r"
    first, second = (
        _of_conditions(scores).select(
            "group", key=pl.col("condition").map_elements(_letters, pl.String), value="value"
        )
        for scores in (attitude, sentiment)
    )
    joined = first.join(second, on=["group", "key"], how="inner", maintain_order="left")
    if joined["group"].n_unique() < 2:
        note = f"{NOT_HERE}: it needs the fills of both groups"
        yield Result(name=name, value=None, note=note)
        return
    estimate = pearson(joined["value"].to_list(), joined["value_right"].to_list())
    note, both_measures = (
        f"over {joined.height} conditions, {whose}",
        "correlation of both measures",
    )
    t = f"{both_measures}, its t, with {joined.height - 2} degrees of freedom"
    for label, value, digits in (
        (name, estimate.effect, 3),
        (f"{both_measures}, its lower end", estimate.effect_low, 3),
        (f"{both_measures}, its upper end", estimate.effect_high, 3),
        (t, estimate.statistic, 2),
    ):
        yield Result(name=label, value=value, note=note, digits=digits, firm=False)
