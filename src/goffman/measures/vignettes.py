"""vignette-code: which options fit a person who is described.

Items of the instrument's dimension ``counted`` count: willingness to be near the person, and
expected violence to others. The code of other items, about what the person has and why, is called
``belief``, since it is no stigma by itself. Each prompt has

    code       for an item that counts: the mean code, with its bounds and the quantities of
               presentation, as in mean-code
    belief     the mean code of another item, where 1 is the firmest belief
    female, male, disparity, nonbinary   for items that count: see CodeByGender
    share-endorsing   the share of answers with a code above one half: definitely or probably
               unwilling, very or somewhat likely. ``variant`` is the gender of the person; null
               over both. Surveys report this share of people.

and ``share-endorsing`` once more at the level cell, of each item, condition and gender, over the
wordings and orders that were asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import polars as pl

from goffman.contrasts import catalog
from goffman.contrasts.designs import averaging_orders, within_categories
from goffman.measures import multiple_choice
from goffman.measures.analytic_choices import ORDERS, WORDINGS, AnalyticChoice
from goffman.measures.base import Contrasts
from goffman.measures.multiple_choice import CODES, PAIRED, MeanCode, codes_of_nonbinary, pairs
from goffman.measures.responses import (
    CODE,
    CODED,
    WEIGHT,
    about_nonbinary,
    answers_to,
    as_scores,
    by_prompt,
    gaps,
    mean_over,
    only,
    ratio,
)
from goffman.presentation import answer_style, conditions, gender, reliability, tables
from goffman.presentation.gender import vignette_findings
from goffman.presentation.section import Claims, Presentation, claims_of

ENDORSING = "share-endorsing"
HALF = 0.5
CELL = ("model", "item", "dimension", "condition", "group", "category")


def counts(dimension: str) -> pl.Expr:
    """Return an expression for whether an item counts: one of this dimension, or of none."""
    return pl.col("dimension").is_null() | (pl.col("dimension") == dimension)


OF_VIGNETTES: tuple[tuple[str, Contrasts], ...] = (
    (
        "code",
        (
            catalog.order_of_options.on(within_categories),
            catalog.keying.on(within_categories),
            catalog.wordings.on(within_categories),
            catalog.over_wordings(catalog.group_against_compared),
            catalog.over_wordings(catalog.conditions_against_reference),
            catalog.women_against_men_in_group.on(within_categories),
            catalog.nonbinary_in_group.on(within_categories),
            catalog.models_over_conditions.on(averaging_orders, within_categories),
        ),
    ),
)
"""First effects of presentation; then the descriptions against those of daily troubles, together
and one by one; then women against men described alike. Categories of descriptions, the disorders,
are taken as given, and the descriptions as sampled."""


PRESENTATION = replace(
    multiple_choice.PRESENTATION,
    claims=claims_of("vignette-code"),
    findings=vignette_findings,
    figures=(
        answer_style.effects,
        conditions.ranked,
        gender.endorsed,
        gender.differences(what="Mean code about a woman minus a man described alike"),
    ),
    tables=(
        answer_style.how_it_answers,
        tables.groups_of_conditions,
        tables.endorsed,
        tables.by_gender(
            ("female", "male", "nonbinary", "disparity"),
            "mean code about a woman and a man described alike, about a nonbinary person in a part "
            "of the questions, and female minus male",
        ),
        reliability.reliability_table,
    ),
    main=multiple_choice.GENDER_PRESENTATION.main,
)


@dataclass(frozen=True, kw_only=True)
class VignetteCode(MeanCode):
    """A measure that adds to mean-code's SCORES beliefs, kept apart, and the share who endorse."""

    contrast: str = "disorder"
    against: str = "daily-troubles"
    counted: str = "stigma"
    """The dimension whose items make the stigma score."""
    name: ClassVar[str] = "vignette-code"
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]] = OF_VIGNETTES
    shown: ClassVar[Presentation] = PRESENTATION
    reply_claims: ClassVar[Claims] = claims_of("vignette-code/reply")
    # There is no choice of conditions alone: it would compare four with three.
    choices: ClassVar[tuple[AnalyticChoice, ...]] = (WORDINGS, ORDERS)

    def score_prompts(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of the level prompt: the quantities above."""
        prompts, nonbinary_prompts = about_nonbinary(prompts)
        own_answers = answers_to(prompts, answers)
        scores = super().score_prompts(own_answers, prompts)
        shares = self._endorsing(own_answers)
        endorsing = (
            only(scores, ["code"])
            .drop("variant", "value")
            .join(shares, on=["model", "prompt_id"], how="left")
            .with_columns(n=pl.col("replies").fill_null(0) if "replies" in shares.columns else "n")
            .join(prompts.select("prompt_id", variant=pl.col("gender")), on="prompt_id")
            .with_columns(quantity=pl.lit(ENDORSING), value=pl.col("share"))
        )
        # Beliefs have no most stigmatizing option, so only the score has effects of presentation.
        of_codes = pl.col("quantity").is_in([*CODES, *catalog.DIRECTIONS, *catalog.KEYINGS])
        is_code, is_counted = pl.col("quantity") == "code", counts(self.counted)
        return pl.concat(
            [
                scores.filter(is_counted | ~of_codes),
                scores.filter(~is_counted, is_code).with_columns(quantity=pl.lit("belief")),
                pairs(scores.filter(is_counted), prompts),
                as_scores(endorsing).sort("model", "prompt_id"),
                codes_of_nonbinary(self, answers, nonbinary_prompts.filter(is_counted)),
            ]
        )

    def control_side(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return each control's share of answers on its obvious side, for every order."""
        share = pl.col("share")
        value = pl.when(pl.col("answer") == "negative").then(share).otherwise(1 - share)
        sides = prompts.select("prompt_id", "answer")
        shares = self._endorsing(answers)
        return sides.join(shares, on="prompt_id", how="left").select("prompt_id", value=value)

    def aggregate(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of all levels above prompt: codes, women and men, beliefs and shares."""
        ids = ("model", "condition", "group", "category")
        # The same means over cells as for codes.
        item_ids = ("model", "item", "dimension", "group")
        genders, beliefs, by_gender, pooled = (
            mean_over(rows, keep=CELL, level="cell", over="questions")
            for rows in (
                only(scores, (*PAIRED, "nonbinary")),
                only(scores, ["belief"]),
                only(scores, [ENDORSING]).filter(pl.col("variant").is_not_null()),
                only(scores, [ENDORSING]).with_columns(variant=pl.lit(None, dtype=pl.String)),
            )
        )
        groups = mean_over(
            genders, keep=("model", "group"), level="group", over="items × conditions"
        )
        return pl.concat(
            [
                super().aggregate(scores),
                genders,
                mean_over(genders, keep=ids, level="condition", over="items"),
                groups,
                mean_over(genders, keep=item_ids, level="item", over="conditions"),
                gaps(only(groups, PAIRED), contrast=self.contrast, against=self.against),
                beliefs,
                mean_over(beliefs, keep=item_ids, level="item", over="conditions"),
                by_gender,
                pooled,
            ]
        )

    def _endorsing(self, answers: pl.DataFrame) -> pl.DataFrame:
        """Return each prompt's share of answers with a code above one half.

        For replies, ``replies`` is the number of replies in the share.
        """
        above = ratio(WEIGHT.filter(CODE > HALF), among=CODED)
        replies = [CODE.count().alias("replies")] if self.mode == "reply" else []
        return by_prompt(self.coded(answers), *replies, share=above)
