"""The files of Mei, Fereidooni & Caliskan (2023) → prompts with fills, and with labels."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import cast

import polars as pl

from goffman.errors import PublishedError
from goffman.instruments.loader import load_instrument
from goffman.instruments.text import put_in
from goffman.instruments.types import Prompt, Questionnaire
from goffman.lexicons.attitude import PEOPLE, load_attitudes
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.measures.responses import wide
from goffman.measures.sentiment import NegativeSentiment
from goffman.replicate.files import files_in, read_csv
from goffman.replicate.published_run import PublishedAnswers
from goffman.replicate.rows import Result, lacking
from goffman.schemas import FILLS, LABELS, schema
from goffman.stats.profile import pearson

STIGMATIZED, OTHERS = "stigmatized", "non-stigmatized"

SENTIMENTS = {"neg": "negative", "neu": "neutral", "pos": "positive"}
"""The first letters of the published labels, which are spelled in four ways."""

_DROPPED = "We are people"
"""The start of a third sentence, which has labels, but which the authors' analysis drops."""
_SENTIMENT_FILE = re.compile(r"(?P<model>.+)_(?:non)?stigma_sentiment\.csv")
_FILLS_FILE = re.compile(
    r"(?P<model>.+?)[-_]+(?:(?:non)?stigma|result|social).*\.csv", re.IGNORECASE
)
_ASKED = ("text", "condition", "pachankis_conditions")
"""The columns that identify what was asked, with the sentence under the name text."""
_AS_SPELLED_ELSEWHERE = {"Illteracy": "Illiteracy", "Ethinicity": "Ethnicity"}


def read_labels(folder: Path) -> PublishedAnswers:
    """Return the classifiers' labels, without the sentences that the study dropped.

    Only the probability of the label itself was published. Of two classes, the other has the rest;
    of three, each other one is NaN. Null still means that there is no such class.
    """
    columns = ("prompts", "sentiment", "sentiment_score")
    everything = _read_tables(
        folder, "sentiment/*.csv", _SENTIMENT_FILE, "CLASSIFIER_stigma_sentiment.csv", columns
    ).filter(~pl.col("text").str.starts_with(_DROPPED))
    label = everything["sentiment"].str.to_lowercase().str.slice(0, 3)
    everything = everything.with_columns(
        label=label.replace_strict(SENTIMENTS, default=None, return_dtype=pl.String)
    )
    for row in everything.filter(pl.col("label").is_null()).head(1).iter_rows(named=True):
        raise PublishedError(
            f"{row['file']} has the label {row['sentiment']!r}, which is not a sentiment."
        )
    prompts, ids = _prompts(everything, folder, _people_sentences())
    classes = everything.group_by("model").agg(
        has=pl.col("label").unique(),
        # The label of two classes has at least half of the probability.
        two=(pl.col("label").n_unique() == 2) & (pl.col("sentiment_score").min() >= 0.5),
    )
    answers = (
        everything.join(classes, on="model", how="left", maintain_order="left")
        .with_columns(prompt_id=pl.Series(ids))
        .with_columns(
            pl.when(pl.col("label") == name)
            .then("sentiment_score")
            .when(pl.col("has").list.contains(pl.lit(name)))
            .then(pl.when("two").then(1 - pl.col("sentiment_score")).otherwise(float("nan")))
            .cast(pl.Float32)
            .alias(name)
            for name in SENTIMENTS.values()
        )
        .select(list(schema(LABELS)))
    )
    return PublishedAnswers(
        instrument="people-sentiment",
        table="labels",
        asked=prompts,
        answers=answers,
        files=_files(everything),
        missing=["Of a classifier with three classes only its label's probability was published."],
    )


def read_fills(folder: Path) -> PublishedAnswers:
    """Return the masked models' fills, from files of either form."""
    columns = ("prompt", "predicted_word", "probs")
    everything = _read_tables(
        folder, "fills/*.csv", _FILLS_FILE, "MODEL-Nonstigma--….csv", columns
    ).with_columns(pl.col("text").str.replace("[MASK]", "<mask>", literal=True))
    prompts, ids = _prompts(everything, folder, _distance_sentences())
    answers = everything.with_columns(
        prompt_id=pl.Series(ids),
        # XLNet may fill in a token that is read as empty.
        token=pl.col("predicted_word").fill_null(""),
        step=pl.lit(1, dtype=pl.Int64),
        parent=pl.lit(""),
        probability=pl.col("probs").cast(pl.Float32),
    ).with_columns(
        rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("model", "prompt_id"),
        word=pl.col("token").str.strip_chars(),
    )
    groups = {prompt.group for prompt in prompts}
    return PublishedAnswers(
        instrument="social-distance",
        table="fills",
        asked=prompts,
        answers=answers.select(list(schema(FILLS))),
        files=_files(everything),
        missing=[
            f"The files have no fills for {group} conditions, so the groups are not compared."
            for group in (STIGMATIZED, OTHERS)
            if group not in groups
        ],
    )


def _read_tables(
    folder: Path, pattern: str, named: re.Pattern[str], example: str, columns: tuple[str, str, str]
) -> pl.DataFrame:
    """Return the rows of all files that match the pattern, with the columns model and file.

    ``named``, ``example``: how files are named; ``columns``: a sentence, an answer to it, and the
    answer's probability.
    """
    frames = []
    for path in files_in(folder, pattern):
        match = named.fullmatch(path.name)
        if not match:
            raise PublishedError(f"{path} is not named like '{example}'.")
        frame = read_csv(path, (*columns, *_ASKED[1:]), numbers=columns[2:])
        frames.append(frame.with_columns(model=pl.lit(match["model"]), file=pl.lit(str(path))))
    return pl.concat(frames).rename({columns[0]: "text"})


def _files(rows: pl.DataFrame) -> dict[str, list[Path]]:
    files = rows.group_by("model").agg(pl.col("file").unique().sort()).sort("model")
    return {model: [*map(Path, names)] for model, names in files.iter_rows()}


def published_answers(folder: Path) -> Iterator[PublishedAnswers]:
    """Yield the fills, if there are any, and the labels."""
    labels = read_labels(folder)
    if not any(folder.glob("fills/*.csv")):
        sentence = "The files have no fills, so there is no P(negative)."
        yield replace(labels, missing=[*labels.missing, sentence])
        return
    fills = read_fills(folder)
    yield fills
    # A masked model and the classifier made from it may have files of one name.
    new_names = {name: f"{name} (classifier)" for name in labels.files if name in fills.files}
    models = labels.answers["model"].replace(new_names)
    yield replace(
        labels,
        answers=labels.answers.with_columns(models),
        files={new_names.get(name, name): files for name, files in labels.files.items()},
    )


def _prompts(
    rows: pl.DataFrame, folder: Path, sentences: Sequence[_Sentence]
) -> tuple[Sequence[Prompt], list[str]]:
    """Return the prompts of the rows, and the prompt id of each row."""
    names = _names(folder)
    files = rows.group_by("model", *_ASKED).agg(pl.col("file").unique().sort())
    duplicates = files.filter(pl.col("file").list.len() > 1)
    if duplicates.height:
        first, second, *_ = duplicates.sort("text")["file"][0]
        raise PublishedError(
            f"{first} and {second} answer the same prompts. One of them is enough."
        )
    ids: dict[tuple[str, str, str], str] = {}
    prompts: dict[str, Prompt] = {}
    asked = rows.select(*_ASKED, "file").unique(maintain_order=True)
    for text, form, stigma, file in asked.iter_rows():
        sentence = next((entry for pattern, entry in sentences if pattern.fullmatch(text)), None)
        if sentence is None:
            raise PublishedError(f"{file} has a sentence that the study does not have: {text!r}")
        is_other = stigma.strip() == "Base"
        condition = names.get(tidy(form)) if is_other else tidy(stigma)
        if condition is None:
            raise PublishedError(
                f"{file} has the condition {form!r}, which is not in non_stigma_conditions.csv."
            )
        instrument, item, wording = sentence
        prompt = Prompt(
            instrument=instrument,
            item=item,
            wording=wording,
            condition=condition,
            form=tidy(form),
            group=OTHERS if is_other else STIGMATIZED,
            text=text,
        )
        ids[text, form, stigma] = prompt.id
        prompts[prompt.id] = prompt
    return [*prompts.values()], [ids[key] for key in rows.select(_ASKED).iter_rows()]


def _names(folder: Path) -> dict[str, str]:
    """Return each form of a non-stigmatized condition → its standard name."""
    path = folder / "non_stigma_conditions.csv"
    table = read_csv(path, ("Condition", "Condition_StandardNaming"))
    return {tidy(form): tidy(name) for form, name in table.iter_rows()}


def read_categories(folder: Path) -> dict[str, str]:
    """Return stigmatized condition → category in lower case; empty without the authors' table."""
    path = folder / "stigma_conditions.csv"
    if not path.is_file():
        return {}
    table = read_csv(path, ("Pachankis_condition", "Final_Category")).drop_nulls()
    return {tidy(name): tidy(category).lower() for name, category in table.iter_rows()}


def tidy(name: str) -> str:
    """Return a name with regular spaces, and spelled as the authors corrected it elsewhere."""
    regular = " ".join(name.split())
    return _AS_SPELLED_ELSEWHERE.get(regular, regular)


_Sentence = tuple[re.Pattern[str], tuple[str, str, str]]
"""A pattern of a published sentence, and our ids of its instrument, item and wording."""


def _people_sentences() -> list[_Sentence]:
    return [
        (re.compile(f"{start}.*", re.DOTALL), ("people-sentiment", item, "default"))
        for item, start in (("they", "They are people"), ("these", "These are people"))
    ]


def _distance_sentences() -> list[_Sentence]:
    """Return each sentence of the scale as a pattern, with any person in it."""
    content = cast("Questionnaire", load_instrument("social-distance").content)
    sentences = []
    for wording in (wording for wording in content.wordings if wording.source == "study"):
        for item in content.items:
            frame = wording.frame.replace("{item}", item.text)
            text = put_in(frame, {**content.fields, "someone": "\0"})
            pattern = (
                re.escape(text).replace("\0", "someone who .+").replace("\\\0", "someone who .+")
            )
            sentences.append((re.compile(pattern), ("social-distance", item.id, wording.id)))
    return sentences


MODELS = 6
"""Masked models of the study."""

NAMED = ("unemployed", "unattractive", "less than a high school education", "illiteracy",
         "deaf completely")  # fmt: skip
"""Conditions that the paper names as negative to all classifiers: four among its 27, and one in the
discussion, as the authors' table begins their names."""

STUDY = "with the study's own ratings"

HIGHEST = 4
"""Categories that the paper names as those with high values."""


def results(folder: Path, *, ratings: Path | None = None) -> list[Result]:
    """Return every number of the study, recomputed; ``ratings`` replaces the study's own."""
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
        *_probability_of_fills(fills, attitude),
        *_attitudes(attitude, categories, whose),
        *_correlation(attitude, sentiment, whose),
    ]


def _shares(scores: pl.DataFrame) -> Iterator[Result]:
    """Yield each label's share by classifier and group, and how many classifiers have a gap."""
    of_models = scores.filter(pl.col("model").is_not_null())
    shares = of_models.filter(
        pl.col("value").is_not_null(), pl.col("quantity").is_in(SENTIMENTS.values()), level="group"
    ).sort("model", "group", "quantity", descending=(False, True, False))
    for row in shares.iter_rows(named=True):
        yield Result(f"share {row['quantity']}, {row['model']}, {row['group']}", row["value"])
    gaps = of_models.filter(quantity="negative-gap", level="model")
    count_text = f"{(gaps['value'] > 0).sum()} of {gaps.height}"
    yield Result("classifiers that call stigmatized conditions negative more often", count_text)


def _negative_conditions(scores: pl.DataFrame, folder: Path) -> Iterator[Result]:
    """Yield how many conditions are negative in all outcomes, and in three quarters of them."""
    for group in (STIGMATIZED, OTHERS):
        shares = _of_conditions(scores, group).values()
        for label, least in (("all outcomes", 1.0), ("at least 75% of outcomes", 0.75)):
            count = sum(share >= least for share in shares)
            yield Result(f"{label} negative, {group} conditions", count)
    for name in NAMED:
        for condition, share in _of_conditions(scores, STIGMATIZED).items():
            if _letters(condition).startswith(_letters(name)):
                value = "all" if share == 1 else f"{share:.0%}"
                yield Result(f"outcomes negative, {name}", value)
    path = folder / "aggregated_negative_percentage_classification_results.csv"
    column = "Negative_Sentiment_Percentage"
    table = read_csv(path, ("Condition", column), numbers=(column,))
    published = {_letters(name): share for name, share in table.iter_rows()}
    equal = sum(
        abs(published.get(_letters(name), -1.0) - share) < 1e-9
        for group in (STIGMATIZED, OTHERS)
        for name, share in _of_conditions(scores, group).items()
    )
    yield Result("conditions with the share negative of the authors' own table", equal)


def _several_forms(prompts: pl.DataFrame) -> Result:
    conditions = prompts.filter(group=STIGMATIZED).group_by("condition")
    forms = conditions.agg(pl.col("form").n_unique())["form"]
    return Result("stigmatized conditions with several forms", int((forms > 1).sum()))


def _of_conditions(scores: pl.DataFrame, group: str) -> dict[str, float]:
    """Return condition → share negative, or negative attitude, over all models, highest first."""
    conditions = scores.filter(
        pl.col("model").is_null(),
        pl.col("value").is_not_null(),
        level="condition",
        quantity="negative",
        group=group,
    ).sort("value", descending=True, maintain_order=True)
    return dict(conditions.select("condition", "value").iter_rows())


def _negative_categories(scores: pl.DataFrame, categories: Mapping[str, str]) -> Iterator[Result]:
    if means := category_means(_of_conditions(scores, STIGMATIZED), categories):
        name = f"categories with the {HIGHEST} highest shares negative"
        yield Result(name, _highest(means), note=_in_order(means))


def category_means(values: Mapping[str, float], categories: Mapping[str, str]) -> dict[str, float]:
    """Return category → mean of its conditions' values, the highest first.

    Only categories with two conditions or more count: in the authors' table 23 conditions have a
    category of their own, which says no more than the condition does.
    """
    by_category: dict[str, list[float]] = defaultdict(list)
    for condition, value in values.items():
        if condition in categories:
            by_category[categories[condition]].append(value)
    means = {name: fmean(numbers) for name, numbers in by_category.items() if len(numbers) > 1}
    return dict(sorted(means.items(), key=lambda item: -item[1]))


def _highest(means: Mapping[str, float]) -> str:
    return ", ".join(sorted([*means][:HIGHEST]))


def _in_order(means: Mapping[str, float]) -> str:
    text = ", ".join(f"{name} {mean:.2f}" for name, mean in means.items())
    return f"of categories with two conditions or more: {text}"


def _letters(name: str) -> str:
    """Return the letters of a condition's name: the authors' tables differ in spaces and case."""
    return re.sub(r"\W", "", tidy(name)).casefold()


def _probability_of_fills(fills: PublishedAnswers, scores: pl.DataFrame) -> Iterator[Result]:
    """Yield how probable the 50 words at each mask are, and how many different words there are."""
    note = f"of the {fills.answers.select('model', 'prompt_id').n_unique():,} prompts × models here"
    prompts = scores.filter(level="prompt")
    mass, last = (
        prompts.filter(quantity=quantity)["value"].drop_nulls().to_list()
        for quantity in ("mass", "last-probability")
    )
    count = sum(value >= 0.5 for value in mass)
    yield Result(
        "prompts whose 50 words have a probability of at least .5",
        "all" if count == len(mass) else f"{count:,} of {len(mass):,}",
        note=f"the smallest is {min(mass):.3f}, {note}",
        firm=False,
    )
    yield Result("mean probability of the 50 words", fmean(mass), note=note, firm=False)
    for extreme, value in (("largest", max(last)), ("smallest", min(last))):
        name = f"{extreme} probability of the 50th word"
        yield Result(name, value, note=note, digits=6, firm=False)
    words = fills.answers["word"].str.to_lowercase().n_unique()
    yield Result("different words", words, note=note, firm=False)


def _attitudes(scores: pl.DataFrame, categories: Mapping[str, str], whose: str) -> Iterator[Result]:
    """Yield the negative attitude of every file, each model's gap, and the conditions above .5."""
    values = scores.filter(pl.col("value").is_not_null())
    files = values.filter(pl.col("wording").is_not_null(), level="group")
    means: dict[str, dict[str, dict[str, float]]] = {}
    columns = ("negative", "lowest", "highest")
    for row in wide(files, columns).sort("model", "wording", "group").iter_rows(named=True):
        model, wording, group = (row[name] for name in ("model", "wording", "group"))
        means.setdefault(model, {}).setdefault(group, {})[wording] = row["negative"]
        ends = f"{row['lowest']:.3f} to {row['highest']:.3f}"
        note = f"{whose}, {ends} whatever unrated and unseen words say"
        yield Result(f"negative attitude, {model}, {wording}, {group}", row["negative"], note=note)
    gaps = [row for model, groups in means.items() for row in _gaps(model, groups, whose)]
    yield from gaps
    exact = [
        row.value
        for row in gaps
        if row.name.startswith("gap before rounding") and isinstance(row.value, float)
    ]
    if exact:
        note = f"{whose}, over {len(exact)} of the {MODELS} models"
        yield Result("gap before rounding, all models", fmean(exact), note=note, firm=False)
    note = f"{whose}, over {len(means)} of the {MODELS} models"
    complete = len(means) == MODELS and whose == STUDY
    conditions = _of_conditions(scores, STIGMATIZED)
    yield from _above_half(STIGMATIZED, conditions, note, firm=complete)
    yield from _categories(category_means(conditions, categories), note)
    yield from _above_half(OTHERS, _of_conditions(scores, OTHERS), note, firm=complete)


def _categories(means: Mapping[str, float], note: str) -> Iterator[Result]:
    """Yield which categories of stigmatized conditions have the highest and lowest values."""
    names = f"categories with the {HIGHEST} highest values", "category with the lowest value"
    if means:
        note = f"{note}, {_in_order(means)}"
        for name, value in zip(names, (_highest(means), [*means][-1]), strict=True):
            yield Result(name, value, note=note, firm=False)
        return
    for name in names:
        yield lacking(name, "no category has fills of two stigmatized conditions")


def _gaps(model: str, groups: Mapping[str, Mapping[str, float]], whose: str) -> Iterator[Result]:
    """Yield the groups' mean difference over wordings, of means with two decimals and unrounded."""
    for group in (STIGMATIZED, OTHERS):
        if group not in groups:
            reason = f"the fills of its {group} conditions are not among them"
            yield lacking(f"gap, {model}", reason)
            return
    first, second = groups[STIGMATIZED], groups[OTHERS]
    wordings = first.keys() & second.keys()
    rounded = fmean(round(first[wording], 2) - round(second[wording], 2) for wording in wordings)
    note = f"{whose}, group means rounded as the study did"
    yield Result(f"gap, {model}", rounded, note=note, firm=False)
    exact = fmean(first[wording] - second[wording] for wording in wordings)
    yield Result(f"gap before rounding, {model}", exact, note=whose, firm=False)


def _above_half(
    group: str, conditions: Mapping[str, float], note: str, *, firm: bool
) -> Iterator[Result]:
    """Yield how many values are above .5, and the highest; ``conditions``: highest first."""
    name = f"{group} conditions above .5"
    if not conditions:
        yield lacking(name, f"fills of {group} conditions are not among them")
        return
    above = sum(value > 0.5 for value in conditions.values())
    yield Result(name, above, note=note, firm=firm)
    if group == STIGMATIZED:
        three = ", ".join(sorted(condition.lower() for condition in [*conditions][:3]))
        label = f"{group} conditions with the three highest values"
        yield Result(label, three, note=note, firm=firm)
    else:
        condition, value = next(iter(conditions.items()))
        label = f"{group} condition with the highest value"
        yield Result(label, condition, note=f"{value:.3f}, {note}", firm=firm)


def _correlation(attitude: pl.DataFrame, sentiment: pl.DataFrame, whose: str) -> Iterator[Result]:
    """Yield Pearson's r of the two measures over both groups' conditions, its interval and t."""
    what = "correlation of both measures"
    name = f"{what} over conditions, Pearson's r"
    pairs: dict[str, list[tuple[float, float]]] = {}
    for group in (STIGMATIZED, OTHERS):
        labels = {_letters(key): value for key, value in _of_conditions(sentiment, group).items()}
        pairs[group] = [
            (value, labels[_letters(condition)])
            for condition, value in _of_conditions(attitude, group).items()
            if _letters(condition) in labels
        ]
    if not all(pairs.values()):
        yield lacking(name, "it needs the fills of both groups")
        return
    estimate = pearson(*zip(*itertools.chain(*pairs.values()), strict=True))
    n = sum(map(len, pairs.values()))
    for label, value, digits in (
        (name, estimate.effect, 3),
        (f"{what}, its lower end", estimate.effect_low, 3),
        (f"{what}, its upper end", estimate.effect_high, 3),
        (f"{what}, its t, with {n - 2} degrees of freedom", estimate.statistic, 2),
    ):
        note = f"over {n} conditions, {whose}"
        yield Result(label, value, note=note, digits=digits, firm=False)
