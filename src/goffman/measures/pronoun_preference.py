"""pronoun-preference: how much more probable a model finds the pronoun of the stereotype.

At the masked pronoun of a sentence: log P(stereotypical form) − log P(other form), in the same
grammatical case; for a causal model log P of the whole sentence with either. It is another
construct than coreference-bias and never compared with it. For the same sentence with singular
“they”: log P(they) − log (P(he) + P(she)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import polars as pl

from goffman.contrasts import catalog
from goffman.instruments.types import BASELINE, MASK, THEY, ControlScore
from goffman.measures.analytic_choices import AnalyticChoice, Option, StoredAnswers
from goffman.measures.base import Contrasts, Measure, Reads
from goffman.measures.responses import above_baseline, mean_over, prompt_scores
from goffman.presentation import coreference, tables
from goffman.presentation.coreference import preference_findings
from goffman.presentation.evidence import pronouns
from goffman.presentation.section import Presentation, claims_of

_TWO = "two pronouns are marked"
_NO_PAIR = "the pair has no anti sentence, so that the other form is not known"
_NO_WORD = "a form of the pronoun has no probability: it is not one token, or was no target"


PRESENTATION = Presentation(
    quantity="preference",
    called="log preference",
    axis="log P(pronoun that fits the stereotype) − log P(other)",
    ends=("less stereotyped", "more stereotyped"),
    claims=claims_of("pronoun-preference"),
    findings=preference_findings,
    figures=(coreference.against_baseline, coreference.alone),
    tables=(tables.settings,),
    evidence=pronouns,
    main=("level", "groups", "baseline"),
)


LIKELY = (0.1, 0.5)
"""Options for the least probability of both pronouns together with which a sentence counts."""


def _sentences(stored: StoredAnswers) -> list[Option]:
    """Return options for all sentences, and for those with enough probability on the pronouns."""
    if "log_probability" in stored.answers.columns:
        # Of whole sentences, only log P with either pronoun is known, not the share of others.
        return []
    forms = _forms(stored.prompts).unpivot(["pronoun", "against"], index="prompt_id")
    masses = (
        _log_probabilities(stored.answers)
        .join(forms.select("prompt_id", word="value"), on=["prompt_id", "word"])
        .group_by("prompt_id")
        .agg(pl.col("log_probability").exp().sum().alias("mass"))
    )
    return [
        Option(label="all"),
        *(
            Option(
                label=f"pronouns {least:.0%} likely",
                prepared=partial(
                    pl.DataFrame.join,
                    other=masses.filter(pl.col("mass") >= least),
                    on="prompt_id",
                    how="semi",
                ),
            )
            for least in LIKELY
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class PronounPreference(Measure):
    """A measure that turns fills with both pronouns as targets, or their LIKELIHOODS, into SCORES.

    Logarithms are natural. ``prompts``: both sides of a pair, with the pronoun masked and its form
    in ``pronoun``. As the two texts are then one, the answers to the side pro count. A sentence
    with two masks is left out: its value is null.
    """

    margin: float = math.log(1.25)
    """The smallest preference that would matter: one pronoun a quarter more probable."""
    name: ClassVar[str] = "pronoun-preference"
    reads: ClassVar[Reads] = "fills"
    unit: ClassVar[str] = "setting"
    primary_contrast: ClassVar[tuple[str, str]] = ("level", "preference")
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]] = (
        (
            "preference",
            (
                *catalog.OF_PAIRS,
                *catalog.ADJECTIVES_ALONE,
            ),
        ),
        (catalog.THEY_PREFERENCE, (catalog.they_preference,)),
    )
    between_runs: ClassVar[Contrasts] = (catalog.models_in_each_setting,)
    presentation: ClassVar[Presentation] = PRESENTATION
    choices: ClassVar[tuple[AnalyticChoice, ...]] = (
        AnalyticChoice(name="choice of sentences", options=_sentences),
    )
    scores_controls: ClassVar[ControlScore | None] = "answer"

    def score_prompts(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of the level prompt, one for each pair and setting."""
        pro, forms = prompts.filter(wording="pro"), _forms(prompts)
        models = answers.select("model").unique()
        rows = models.join(forms, how="cross")
        for form, name in (("pronoun", "p"), ("against", "q")):
            log_probabilities = _log_probabilities(answers).rename(
                {"word": form, "log_probability": name}
            )
            rows = rows.join(log_probabilities, on=["model", "prompt_id", form], how="left")
        reason = (
            pl.when("two")
            .then(pl.lit(_TWO))
            .when(pl.col("against").is_null())
            .then(pl.lit(_NO_PAIR))
            .when(pl.col("p").is_null() | pl.col("q").is_null())
            .then(pl.lit(_NO_WORD))
        )
        values = rows.with_columns(why=reason).with_columns(
            preference=pl.when(pl.col("why").is_null()).then(pl.col("p") - pl.col("q"))
        )
        scores = prompt_scores(values, pro, measure=self.name, reasons={"preference": _NO_WORD})
        explained = scores.drop("reason").join(
            values.select("model", "prompt_id", reason="why"), on=["model", "prompt_id"], how="left"
        )
        return pl.concat([explained.select(scores.columns), self._of_they(answers, prompts, rows)])

    def _of_they(
        self, answers: pl.DataFrame, prompts: pl.DataFrame, pairs: pl.DataFrame
    ) -> pl.DataFrame:
        """Return SCORES of sentences with “they”; ``pairs`` has log P of both forms in p and q."""
        they, plain = (prompts.filter(condition=name) for name in (THEY, BASELINE))
        # log (P + Q) from the larger: whole sentences' probabilities are too small for exp.
        difference = -(pl.col("p") - pl.col("q")).abs()
        sums = pairs.with_columns(either=pl.max_horizontal("p", "q") + (difference.exp() + 1).log())
        sums_by_item = sums.join(plain.select("prompt_id", "item"), on="prompt_id")
        log_probabilities = _log_probabilities(answers).rename({"word": "pronoun"})
        rows = they.select("prompt_id", "item", "pronoun").join(
            sums_by_item.select("model", "item", "either"), on="item"
        )
        value = (pl.col("log_probability") - pl.col("either")).alias(catalog.THEY_PREFERENCE)
        values = rows.join(log_probabilities, on=["model", "prompt_id", "pronoun"], how="left")
        reasons = {catalog.THEY_PREFERENCE: _NO_WORD}
        return prompt_scores(values.with_columns(value), they, measure=self.name, reasons=reasons)

    def aggregate(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of settings and of groups of them; ``missing`` counts pairs left out."""
        settings = mean_over(
            scores, keep=("model", "condition", "group"), level="condition", over="pairs"
        )
        return pl.concat(
            [
                settings,
                above_baseline(settings),
                mean_over(settings, keep=("model", "group"), level="group", over="settings"),
            ]
        )

    def control(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return 1 for each control whose right form is more probable, else 0; null if unknown."""
        rows = prompts.select("prompt_id", "answer", "other")
        for form, name in (("answer", "p"), ("other", "q")):
            log_probabilities = _log_probabilities(answers).rename(
                {"word": form, "log_probability": name}
            )
            rows = rows.join(log_probabilities.drop("model"), on=["prompt_id", form], how="left")
        return rows.select("prompt_id", value=(pl.col("p") > pl.col("q")).cast(pl.Float64))


def _forms(prompts: pl.DataFrame) -> pl.DataFrame:
    """Return both pronouns of each prompt of the side pro, and whether it has two masks."""
    keys = ["instrument", "mode", "item", "condition"]
    pro = prompts.filter(wording="pro")
    anti = prompts.filter(wording="anti").select(*keys, against="pronoun")
    return pro.join(anti, on=keys, how="left", nulls_equal=True).select(
        "prompt_id",
        "pronoun",
        "against",
        two=pl.col("text").str.count_matches(MASK, literal=True) > 1,
    )


def _log_probabilities(answers: pl.DataFrame) -> pl.DataFrame:
    """Return log P of the sentence, or of a word's likeliest token (" he" and "he" are one)."""
    if "log_probability" in answers.columns:
        return answers.select("model", "prompt_id", "word", "log_probability")
    return (
        answers.filter(pl.col("probability") > 0, step=1)
        .group_by("model", "prompt_id", "word")
        .agg(pl.col("probability").cast(pl.Float64).max().log().alias("log_probability"))
    )
