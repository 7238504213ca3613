"""The files of Mei, Fereidooni & Caliskan (2023) → prompts with fills, and with labels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, cast

from goffman.errors import PublishedError
from goffman.instruments.loader import load_instrument
from goffman.instruments.text import put_in
from goffman.instruments.types import Prompt, Questionnaire
from goffman.replicate.files import files_in, read_csv
from goffman.replicate.published_run import PublishedAnswers
from goffman.schemas import FILLS, LABELS, schema

if TYPE_CHECKING:
    import polars as pl

STIGMATIZED, OTHERS = "stigmatized", "non-stigmatized"

SENTIMENTS = {"neg": "negative", "neu": "neutral", "pos": "positive"}
"""The first letters of the published labels, which are spelled in four ways."""

_DROPPED = "We are people"
"""The start of a third sentence, which has labels, but which the authors' analysis drops."""
_SENTIMENT_FILE = re.compile(r"(?P<classifier>.+)_(?:non)?stigma_sentiment\.csv")
_FILLS_FILE = re.compile(
    r"(?P<model>.+?)[-_]+(?:(?:non)?stigma|result|social).*\.csv", re.IGNORECASE
)
_AS_SPELLED_ELSEWHERE = {"Illteracy": "Illiteracy", "Ethinicity": "Ethnicity"}


def read_labels(folder: Path) -> PublishedAnswers:
    """Return the classifiers' labels, without the sentences that the study dropped.

    Only the probability of the label itself was published. Of two classes, the other has the rest;
    of three, each other one is NaN. Null still means that there is no such class.
    """
    import polars as pl

    names = _names(folder)
    frames = []
    for path in files_in(folder, "sentiment/*.csv"):
        match = _SENTIMENT_FILE.fullmatch(path.name)
        if not match:
            raise PublishedError(f"{path} is not named like 'CLASSIFIER_stigma_sentiment.csv'.")
        columns = ("prompts", "sentiment", "sentiment_score", "condition", "pachankis_conditions")
        frame = read_csv(path, columns, numbers=("sentiment_score",))
        label = frame["sentiment"].str.to_lowercase().str.slice(0, 3)
        frame = frame.with_columns(
            label=label.replace_strict(SENTIMENTS, default=None, return_dtype=pl.String),
            model=pl.lit(match["classifier"]),
            file=pl.lit(str(path)),
        ).filter(~pl.col("prompts").str.starts_with(_DROPPED))
        if frame["label"].null_count():
            sentiment = frame.filter(pl.col("label").is_null())["sentiment"][0]
            raise PublishedError(f"{path} has the label {sentiment!r}, which is not a sentiment.")
        frames.append(frame)
    everything = pl.concat(frames)
    prompts, ids = _asked(everything.rename({"prompts": "text"}), names, _people_sentences())
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
    import polars as pl

    names = _names(folder)
    frames = []
    for path in files_in(folder, "fills/*.csv"):
        match = _FILLS_FILE.fullmatch(path.name)
        if not match:
            raise PublishedError(f"{path} is not named like 'MODEL-Nonstigma--….csv'.")
        columns = ("prompt", "predicted_word", "probs", "condition", "pachankis_conditions")
        frame = read_csv(path, columns, numbers=("probs",))
        frames.append(frame.with_columns(model=pl.lit(match["model"]), file=pl.lit(str(path))))
    everything = pl.concat(frames).rename({"prompt": "text"})
    everything = everything.with_columns(
        pl.col("text").str.replace("[MASK]", "<mask>", literal=True)
    )
    prompts, ids = _asked(everything, names, _distance_sentences())
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


def _files(rows: pl.DataFrame) -> dict[str, list[Path]]:
    """Return model → its files."""
    pairs = rows.select("model", "file").unique().sort("model", "file").iter_rows()
    return {
        name: [Path(file) for _, file in group] for name, group in groupby(pairs, itemgetter(0))
    }


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


def _asked(
    rows: pl.DataFrame, names: dict[str, str], sentences: Sequence[_Sentence]
) -> tuple[Sequence[Prompt], list[str]]:
    """Return the prompts of the rows, and the prompt id of each row.

    The rows have the columns model, text, condition, pachankis_conditions and file.
    """
    import polars as pl

    columns = ("text", "condition", "pachankis_conditions", "file")
    files = rows.group_by("model", *columns[:3]).agg(pl.col("file").unique().sort())
    duplicates = files.filter(pl.col("file").list.len() > 1)
    if duplicates.height:
        first, second, *_ = duplicates.sort("text")["file"][0]
        raise PublishedError(
            f"{first} and {second} answer the same prompts. One of them is enough."
        )
    ids: dict[tuple[str, str, str], str] = {}
    prompts: dict[str, Prompt] = {}
    for text, form, stigma, file in rows.select(columns).unique(maintain_order=True).iter_rows():
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
    keys = rows.select(columns[:3]).iter_rows()
    return [*prompts.values()], [ids[key] for key in keys]


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
