"""A measure of one's own, in one file: how much of the probability lies on the word "likely".

Put into goffman through the door goffman.measures; see test_plugins.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from goffman.estimates.clear import points
from goffman.estimates.conditions import groups_of_conditions, models_over_conditions
from goffman.measures.rows import gaps, mean_over, prompt_scores
from goffman.presentation import figures_conditions, figures_ranked, tables
from goffman.presentation.base import Claims, Presentation
from goffman.presentation.evidence import EVIDENCE
from goffman.presentation.findings import finding, tested_said
from goffman.presentation.numbers import difference_said


def found(section):
    for row in section.contrasts("groups").iter_rows(named=True):
        if row["model"] in section.models():
            way = {1: "more", -1: "less", 0: "about as"}[points(row)]
            head = f"The toy is {way} likely for {row['first']}"
            yield finding(row, head, f"Toy: {difference_said(row)}.", iter([tested_said(row)]))


def evidence(given, _section, _words, most):
    first = given.frame.filter(pl.col("step") == 1, pl.col("rank") <= most)
    label = pl.when(pl.col("word") == "likely").then(pl.lit("toy")).otherwise(pl.lit("other"))
    return first.with_columns(label=label).select(EVIDENCE.names()).cast(EVIDENCE)


@dataclass(frozen=True, kw_only=True)
class Toy:
    """Fills → SCORES."""

    contrast: str = "stigmatized"
    against: str = "non-stigmatized"
    smallest: float = 0.05
    name: ClassVar = "toy-likely"
    reads: ClassVar = "fills"
    words: ClassVar = None
    quantity: ClassVar = "likely"
    of_prompts: ClassVar = "likely"
    unit: ClassVar = "condition"
    beside: ClassVar = None
    headline: ClassVar = ("groups", "likely")
    contrasts: ClassVar = (("likely", (groups_of_conditions, models_over_conditions)),)
    between_runs: ClassVar = (models_over_conditions,)
    presentation: ClassVar = Presentation(
        quantity="likely",
        called="P(toy)",
        axis="Probability of the toy word",
        claims=Claims(
            measured="The probability of one toy word.",
            may="that a toy is a toy",
            may_not="about anything else",
            beware=("It is a toy.",),
        ),
        findings=found,
        figures=(figures_conditions.gaps, figures_ranked.ranked),
        tables=(tables.groups_of_conditions, tables.ranked_conditions),
        evidence=evidence,
    )

    def prepare(self, answers, prompts, words, *, cased):
        return answers

    def each(self, answers, prompts):
        likely = pl.col("probability").cast(pl.Float64).filter(pl.col("word") == "likely").sum()
        values = answers.group_by("model", "prompt_id").agg(likely=likely)
        return prompt_scores(values, prompts, measure=self.name, reasons={"likely": "no words"})

    def means(self, scores):
        who = ("condition", "group", "category")
        conditions = mean_over(scores, keep=("model", *who), level="condition", over="prompts")
        groups = mean_over(conditions, keep=("model", "group"), level="group", over="conditions")
        return pl.concat(
            [conditions, groups, gaps(groups, contrast=self.contrast, against=self.against)]
        )

    def __call__(self, answers, prompts):
        scores = self.each(answers, prompts)
        return pl.concat([scores, self.means(scores)])
