"""A measure of one's own, in one file: how much of the probability lies on the word "likely".

Put into goffman through the door goffman.measures; see test_plugins.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from goffman.contrasts.catalog import groups_of_conditions, models_over_conditions
from goffman.contrasts.verdict import direction
from goffman.formatting import describe_difference
from goffman.measures.base import Measure
from goffman.measures.responses import gaps, mean_over, prompt_scores
from goffman.presentation import conditions, tables
from goffman.presentation.evidence import EVIDENCE
from goffman.presentation.findings import describe_tested, finding
from goffman.presentation.section import Claims, Presentation


def found(section):
    for row in section.contrasts("groups").iter_rows(named=True):
        if row["model"] in section.models():
            way = {1: "more", -1: "less", 0: "about as"}[direction(row)]
            head = f"The toy is {way} likely for {row['first']}"
            yield finding(
                row, head, f"Toy: {describe_difference(row)}.", iter([describe_tested(row)])
            )


def evidence(given, _section, _words, most):
    first = given.frame.filter(pl.col("step") == 1, pl.col("rank") <= most)
    label = pl.when(pl.col("word") == "likely").then(pl.lit("toy")).otherwise(pl.lit("other"))
    return first.with_columns(label=label).select(EVIDENCE.names()).cast(EVIDENCE)


@dataclass(frozen=True, kw_only=True)
class Toy(Measure):
    """Fills → SCORES."""

    contrast: str = "stigmatized"
    against: str = "non-stigmatized"
    name: ClassVar = "toy-likely"
    reads: ClassVar = "fills"
    contrasts: ClassVar = (("likely", (groups_of_conditions, models_over_conditions)),)
    between_runs: ClassVar = (models_over_conditions,)
    presentation: ClassVar = Presentation(
        quantity="likely",
        called="P(toy)",
        axis="Probability of the toy word",
        claims=Claims(
            measured="The probability of one toy word.",
            supports="that a toy is a toy",
            does_not_support="about anything else",
            caveats=("It is a toy.",),
        ),
        findings=found,
        figures=(conditions.ranked,),
        tables=(tables.groups_of_conditions, tables.ranked_conditions),
        evidence=evidence,
    )

    def score_prompts(self, answers, prompts):
        likely = pl.col("probability").cast(pl.Float64).filter(pl.col("word") == "likely").sum()
        values = answers.group_by("model", "prompt_id").agg(likely=likely)
        return prompt_scores(values, prompts, measure=self.name, reasons={"likely": "no words"})

    def aggregate(self, scores):
        who = ("condition", "group", "category")
        conditions = mean_over(scores, keep=("model", *who), level="condition", over="prompts")
        groups = mean_over(conditions, keep=("model", "group"), level="group", over="conditions")
        return pl.concat(
            [conditions, groups, gaps(groups, contrast=self.contrast, against=self.against)]
        )
