"""code-by-gender: how the codes of a woman and a man differ in the same question.

The code is that of mean-code. Gender is a factor of the design here, not something that is read out
of an answer: a pair is two prompts with the same item, condition, wording and order about a woman
and a man described alike. Of each pair, with the prompt about the woman, stand the quantities

    female, male   the mean code of either; both none if one is none
    disparity      female minus male

and, for a person described without a gender, ``unstated``: the mean code; likewise ``nonbinary``,
for a part of the questions, which count in no other number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from goffman.contrasts.catalog import (
    dimensions,
    groups_of_cells,
    keying,
    models_over_cells,
    nonbinary_against_others,
    order_of_options,
    over_wordings,
    women_against_men,
    wordings,
)
from goffman.instruments.types import ControlScore
from goffman.measures.analytic_choices import ORDERS, WORDINGS, AnalyticChoice
from goffman.measures.base import Contrasts
from goffman.measures.multiple_choice import (
    CODES,
    STYLE,
    ChoiceMeasure,
    MeanCode,
    answering,
    over_presentations,
)
from goffman.measures.reliability import reliability_scores
from goffman.measures.responses import (
    about_nonbinary,
    answers_to,
    as_scores,
    gaps,
    mean_over,
    means_of_cells,
    only,
)
from goffman.measures.variance import variance_split
from goffman.presentation import answer_style, gender_figures, reliability, tables
from goffman.presentation.answer_style import describe_style
from goffman.presentation.evidence import options_with_probabilities
from goffman.presentation.gender_findings import described_gender_findings
from goffman.presentation.types import Claims, Presentation
from goffman.presentation.variance import variance_table

PAIRED = ("female", "male", "disparity")
QUANTITIES = (*PAIRED, "unstated", "nonbinary")

NO_PAIR = "the same question about a woman and a man is not answered twice"


def pairs(scores: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    """Return SCORES of the level prompt: the quantities above, from those of the code."""
    keys = ["item", "condition", "form", "wording", "order", "place"]
    person = pl.col("person") if "person" in prompts.columns else pl.lit("")
    # Number the people described of each gender: a woman without a name is compared with a man
    # without one, a named woman with a named man.
    place = person.fill_null("").rank("dense").over("gender")
    places = prompts.with_columns(place=place).select("prompt_id", "gender", "order", "place")
    codes = only(scores, ["code"]).join(places, on="prompt_id")
    women, men, ungendered = (
        codes.filter(pl.col("gender") == gender) for gender in ("female", "male", "unstated")
    )
    matched = women.join(
        men.select("model", *keys, man="value"), on=["model", *keys], how="inner", nulls_equal=True
    )
    woman, man = pl.col("value"), pl.col("man")
    is_complete = woman.is_not_null() & man.is_not_null()
    rows = [
        as_scores(
            matched.with_columns(
                quantity=pl.lit(quantity),
                value=pl.when(is_complete).then(number),
                n=is_complete.cast(pl.Int64),
                missing=(~is_complete).cast(pl.Int64),
                reason=pl.when(~is_complete).then(pl.coalesce("reason", pl.lit(NO_PAIR))),
            )
        )
        for quantity, number in zip(PAIRED, (woman, man, woman - man), strict=True)
    ]
    unstated = as_scores(ungendered.with_columns(quantity=pl.lit("unstated")))
    return pl.concat([*rows, unstated]).sort("quantity", "model", "prompt_id")


def codes_of_nonbinary(
    measure: ChoiceMeasure, answers: pl.DataFrame, prompts: pl.DataFrame
) -> pl.DataFrame:
    """Return SCORES of the level prompt: the mean code about a nonbinary person."""
    answers = answers_to(prompts, answers)
    codes = only(MeanCode(mode=measure.mode).score_prompts(answers, prompts), ["code"])
    return codes.with_columns(quantity=pl.lit("nonbinary"), measure=pl.lit(measure.name))


BY_GENDER: tuple[tuple[str, Contrasts], ...] = (
    ("code", (order_of_options, keying, wordings, women_against_men, nonbinary_against_others)),
    ("disparity", (*map(over_wordings, (groups_of_cells, models_over_cells, dimensions)),)),
)
"""First what presentation does to the code; then women against men, and what that depends on."""

DIFFERENCES = gender_figures.differences(what="Mean code about a woman minus a man")

PRESENTATION = Presentation(
    quantity="disparity",
    called="female − male",
    axis="Mean code: female − male",
    ends=("more stigmatizing for men", "more stigmatizing for women"),
    claims=Claims(
        measured=(
            "A model is asked how it would feel, think or act toward a woman, a man or a person "
            "with a diagnosis, with options whose codes go from 0, the least stigmatizing, to 1, "
            "the most. The number is the mean code about the woman minus that about the man, in "
            "questions that are otherwise the same."
        ),
        supports=(
            "that, in these questions, a model's answers are more stigmatizing about women than "
            "about men with the same diagnosis, or the reverse, and that this differs between the "
            "two groups of conditions"
        ),
        does_not_support="that a system built on the model treats patients in a certain way",
        caveats=(
            (
                "Models tend to prefer an option for its place or its letter. Both "
                "questions of a pair have the options in the same order, so this cancels out. Its "
                "size is shown all the same."
            ),
            "Some diagnoses are more frequent in women than in men, and texts reflect that.",
            (
                "A part of the questions is about a nonbinary person, who is compared there with "
                "the woman and the man. Questions without a gender are shown for reference."
            ),
            "Names carry more than gender, such as age and origin.",
        ),
    ),
    findings=described_gender_findings,
    figures=(answer_style.effects, DIFFERENCES),
    tables=(
        answer_style.how_it_answers,
        tables.by_gender(
            ("female", "male", "unstated", "nonbinary", "disparity"),
            "mean code about a woman, a man and a person of no stated gender in the same "
            "questions, about a nonbinary person in a part of them, and female minus male",
        ),
        reliability.reliability_table,
        variance_table,
    ),
    evidence=options_with_probabilities,
    main=("order", "keying", "wordings", "groups", "genders", "nonbinary"),
    style=describe_style,
)


@dataclass(frozen=True, kw_only=True)
class CodeByGender(ChoiceMeasure):
    """A measure that makes SCORES of CHOICES, or of REPLIES with ``kind``, ``chosen``, ``code``."""

    contrast: str = "mental-health"
    against: str = "other"
    """The gap is the disparity in the first group of conditions minus that in the second."""
    margin: float = 0.0417
    """The smallest difference that would matter: a third of a step on a scale from 1 to 9."""
    name: ClassVar[str] = "code-by-gender"
    prompt_quantity: ClassVar[str] = "code"
    primary_contrast: ClassVar[tuple[str, str]] = ("groups", "disparity")
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]] = BY_GENDER
    between_runs: ClassVar[Contrasts] = (over_wordings(models_over_cells),)
    shown: ClassVar[Presentation] = PRESENTATION
    reply_claims: ClassVar[Claims] = PRESENTATION.claims
    choices: ClassVar[tuple[AnalyticChoice, ...]] = (WORDINGS, ORDERS)
    scores_controls: ClassVar[ControlScore | None] = "separation"

    def score_prompts(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of the level prompt: those of mean-code, and those of each pair."""
        prompts, nonbinary_prompts = about_nonbinary(prompts)
        own_answers = answers_to(prompts, answers)
        scores = MeanCode(mode=self.mode).score_prompts(own_answers, prompts)
        scores = pl.concat([scores, pairs(scores, prompts)])
        scores = scores.with_columns(measure=pl.lit(self.name))
        return pl.concat([scores, codes_of_nonbinary(self, answers, nonbinary_prompts)])

    def aggregate(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of cells, conditions, items, subscales, groups and models.

        Each cell of item × condition is the mean over wordings, orders and people.
        """
        cell = ("model", "item", "dimension", "condition", "group", "category")
        quantities = only(scores, QUANTITIES)
        cells = mean_over(quantities, keep=cell, level="cell", over="questions")
        by_wording = mean_over(
            quantities, keep=("model", "wording", "group"), level="group", over="questions"
        )
        groups = means_of_cells(cells, by=("model",))
        ids = ("model", "condition", "group", "category")
        questions = over_presentations(only(scores, CODES), whole=False)
        codes = mean_over(questions, keep=ids, level="condition", over="questions")
        # A scale has one value per cell: values of orders and people are averaged.
        averaged = over_presentations(only(scores, ["disparity"]), whole=False)
        return pl.concat(
            [
                questions,
                cells,
                mean_over(cells, keep=ids, level="condition", over="items"),
                codes,
                groups,
                by_wording,
                gaps(only(groups, PAIRED), contrast=self.contrast, against=self.against),
                mean_over(
                    answering(scores, STYLE[self.reads]),
                    keep=("model",),
                    level="model",
                    over="prompts",
                ),
                reliability_scores(
                    averaged.with_columns(wording=pl.lit("")),
                    quantity="disparity",
                    groups=(self.contrast, self.against),
                ),
                variance_split(scores),
            ]
        )
