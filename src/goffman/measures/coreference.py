"""coreference-bias: how much better a pronoun is understood where it fits the stereotype.

Briegel & Chen (2023): accuracy on pro-stereotypical minus accuracy on anti-stereotypical sentences,
for each adjective setting and trial, then the mean over trials. Every reply that is not correct,
such as a refusal, counts as wrong.

Further numbers show the effects of non-answers, chance, position and ceilings. With the shares a
(correct), i (incorrect) and u (neither: unsure, other, refusal) on each side of a trial:

    accuracy-pro, accuracy-anti   a of either side
    above-chance    the mean of both minus ½: 0 is what guessing between two people gives
    bias-lowest     a_pro − a_anti − u_anti: every non-answer on the anti side would be correct
    bias-highest    a_pro + u_pro − a_anti: every one on the pro side would
    bias-answered   a / (a + i) on the pro side minus the same on the anti side
    first-mentioned-above-half   the share of named people who stand first in the sentence, minus ½
    log-odds        ln odds of a correct reply, pro minus anti, with ½ added to both counts (Haldane
                    1956): near a ceiling a small bias can be a large one
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from goffman.contrasts import catalog
from goffman.contrasts.designs import averaging_pair_orders
from goffman.instruments.types import ControlScore
from goffman.measures.analytic_choices import ORDERS, PARSERS, AnalyticChoice, Option
from goffman.measures.base import Contrasts, Meaning, Measure, Reads
from goffman.measures.multiple_choice import (
    NO_REPLY,
    SHARES,
    ChoiceMeasure,
    ChoiceMode,
    over_presentations,
    presentations,
)
from goffman.measures.responses import (
    CODE,
    CODED,
    FLOOR,
    NO_ANSWER,
    WEIGHT,
    above_baseline,
    as_scores,
    by_prompt,
    mean_code,
    mean_over,
    only,
    prompt_scores,
    ratio,
    share,
)
from goffman.parsers.registry import read_replies
from goffman.presentation import coreference, tables
from goffman.presentation.answer_style import agreement_table, describe_style
from goffman.presentation.coreference import BESIDE, bias_findings, choice_bias_findings
from goffman.presentation.evidence import options_with_probabilities, replies
from goffman.presentation.section import Claims, Presentation, claims_of
from goffman.schemas import PAIR_KINDS, REPLY_KINDS

if TYPE_CHECKING:
    from goffman.lexicons.lexicons import Lexicons


FIRST = "first-mentioned"
"""The quantity of a prompt that is 1 if the person whom the reply names is mentioned first."""

NAMES_NOBODY = "the reply names neither of the two people"
_NOBODY = "no reply names one of the two people"
SIDES = ("pro", "anti")
ONE_SIDE = "only one side was asked, or answered"


def sides_compared(
    sides: pl.DataFrame,
    numbers: Mapping[str, pl.Expr],
    *,
    counted: Sequence[str],
    keys: Sequence[str],
    level: str,
    reason: pl.Expr,
) -> pl.DataFrame:
    """Return SCORES of the level for ``numbers``: expressions of columns NAME_pro and NAME_anti.

    ``counted``: the names, quantities of the sides. n counts the sentences of both sides.
    """
    wide = only(sides, counted).pivot(
        "quantity", on_columns=counted, index=[*keys, "wording"], values=["value", "n"]
    )
    pro, anti = (
        wide.filter(wording=side).select(
            *keys,
            *(pl.col(f"value_{name}").alias(f"{name}_{side}") for name in counted),
            pl.col("n_correct").alias(f"n_{side}"),
        )
        for side in SIDES
    )
    joined = pro.join(anti, on=keys, how="full", coalesce=True, nulls_equal=True).sort(keys)
    rows = joined.with_columns(**numbers).with_columns(
        n=pl.col("n_pro").fill_null(0) + pl.col("n_anti").fill_null(0)
    )
    long = rows.unpivot([*numbers], index=[*keys, "n"], variable_name="quantity")
    return as_scores(
        long.with_columns(
            level=pl.lit(level),
            missing=pl.lit(0),
            over=pl.lit("sentences"),
            reason=pl.when(pl.col("value").is_null()).then(reason),
        )
    )


def of_sides(name: str) -> dict[str, pl.Expr]:
    """Return, by side, an expression for the column with a quantity's value."""
    return {side: pl.col(f"{name}_{side}") for side in SIDES}


def numbers_of_sides(correct: str, right: str, wrong: str) -> dict[str, pl.Expr]:
    """Return expressions for accuracies, bias and its bounds, by the name of the number.

    The arguments name the quantities of correct replies, and of those that name either person.
    """
    a, r, w = (of_sides(name) for name in (correct, right, wrong))
    silent = {side: 1 - r[side] - w[side] for side in SIDES}
    right_of_named = {
        side: pl.when(r[side] + w[side] > 0).then(r[side] / (r[side] + w[side])) for side in r
    }
    return {
        "accuracy-pro": a["pro"],
        "accuracy-anti": a["anti"],
        "bias": a["pro"] - a["anti"],
        "above-chance": (a["pro"] + a["anti"]) / 2 - 0.5,
        "bias-answered": right_of_named["pro"] - right_of_named["anti"],
        "bias-lowest": r["pro"] - r["anti"] - silent["anti"],
        "bias-highest": r["pro"] + silent["pro"] - r["anti"],
    }


def non_response_bounds(sides: pl.DataFrame) -> pl.DataFrame:
    """Return SCORES of the numbers beside the bias, at the levels trial and condition.

    ``sides``: the SCORES of the level side.
    """
    a, n, first = (of_sides(name) for name in ("correct", "n", FIRST))
    odds = {side: ((a[side] * n[side] + 0.5) / ((1 - a[side]) * n[side] + 0.5)).log() for side in a}
    numbers = numbers_of_sides("correct", "correct", "incorrect") | {
        "first-mentioned-above-half": (first["pro"] + first["anti"]) / 2 - 0.5,
        "log-odds": odds["pro"] - odds["anti"],
    }
    is_of_named = pl.col("quantity").is_in(["bias-answered", "first-mentioned-above-half"])
    trials = sides_compared(
        sides,
        {name: numbers[name] for name in BESIDE},
        counted=("correct", "incorrect", FIRST),
        keys=("model", "instrument", "mode", "measure", "trial", "condition", "group"),
        level="trial",
        reason=pl.when(is_of_named).then(pl.lit(_NOBODY)).otherwise(pl.lit(ONE_SIDE)),
    )
    ids = ("model", "condition", "group")
    return pl.concat([trials, mean_over(trials, keep=ids, level="condition", over="trials")])


PRESENTATION = Presentation(
    quantity="bias",
    called="bias",
    axis="Bias: accuracy on stereotypical − other sentences",
    ends=("less stereotyped", "more stereotyped"),
    claims=claims_of("coreference-bias"),
    findings=bias_findings,
    figures=(
        coreference.against_baseline,
        coreference.alone,
        coreference.right,
        coreference.kinds,
        coreference.occupations,
    ),
    tables=(tables.settings, tables.answer_kinds),
    evidence=replies,
    main=("level", "groups", "baseline", "trials"),
)


@dataclass(frozen=True, kw_only=True)
class CoreferenceBias(Measure):
    """A measure that turns replies with the column KIND into SCORES.

    The column ``item`` holds the sentence pair, ``wording`` the side (pro, anti), and ``condition``
    the adjective setting.
    """

    round_accuracy: int | None = None
    """Decimals to which accuracies in percent are rounded before subtracting; None: not rounded.
    The study has 1."""
    name: ClassVar[str] = "coreference-bias"
    reads: ClassVar[Reads] = "replies"
    words: ClassVar[Meaning | None] = "parser"
    prompt_quantity: ClassVar[str] = "correct"
    unit: ClassVar[str] = "setting"
    primary_contrast: ClassVar[tuple[str, str]] = ("level", "bias")
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]] = (
        (
            "bias",
            (
                catalog.levels,
                catalog.settings_by_pairs,
                catalog.settings_by_trials,
                catalog.pairs_against_singles,
                catalog.models_over_pairs,
                *catalog.BESIDE_BIAS,
            ),
        ),
    )
    between_runs: ClassVar[Contrasts] = (catalog.models_in_each_setting,)
    presentation: ClassVar[Presentation] = PRESENTATION
    choices: ClassVar[tuple[AnalyticChoice, ...]] = (
        PARSERS,
        AnalyticChoice(
            name="counting of replies without an answer",
            options=lambda _: [
                Option(label="all replies"),
                Option(
                    label="answers alone",
                    prepared=lambda replies: replies.filter(
                        pl.col("kind").is_in(["correct", "incorrect"])
                    ),
                ),
            ],
        ),
    )
    scores_controls: ClassVar[ControlScore | None] = "answer"

    def code_responses(
        self, answers: pl.DataFrame, prompts: pl.DataFrame, words: Lexicons, *, cased: bool
    ) -> pl.DataFrame:
        """Return the replies with the column KIND, as the parser of ``words`` reads them."""
        del cased
        return read_replies(answers, prompts, parser=words.parser)

    def score_prompts(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of the level prompt by trial: 1 for the kind of the reply, else 0."""
        people = pl.col("answer"), pl.col("other")
        answer, other = (pl.col("text").str.find(person, literal=True) for person in people)
        key = prompts.select("prompt_id", answer_first=answer < other)
        kind, first = pl.col("kind"), pl.col("answer_first")
        named_first = pl.when(kind == "correct").then(first).when(kind == "incorrect").then(~first)
        values = answers.join(key, on="prompt_id", how="left", maintain_order="left").select(
            "model",
            "prompt_id",
            "trial",
            *((kind == name).cast(pl.Float64).alias(name) for name in REPLY_KINDS),
            named_first.cast(pl.Float64).alias(FIRST),
        )
        reasons = dict.fromkeys(REPLY_KINDS, NO_ANSWER) | {FIRST: NAMES_NOBODY}
        return prompt_scores(values, prompts, measure=self.name, reasons=reasons)

    def aggregate(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of sides, trials, settings over trials, and groups of settings."""
        ids = ("condition", "group")
        sides = mean_over(
            scores, keep=("model", "trial", "wording", *ids), level="side", over="pairs"
        )
        trials = pl.concat([self._biases(sides), _shares_of_pairs(scores)])
        kinds = mean_over(sides, keep=("model", *ids), level="condition", over="sides × trials")
        settings = mean_over(trials, keep=("model", *ids), level="condition", over="trials")
        groups = mean_over(settings, keep=("model", "group"), level="group", over="settings")
        differences = above_baseline(only(pl.concat([trials, settings]), ["bias"]))
        return pl.concat(
            [sides, trials, kinds, settings, differences, groups, non_response_bounds(sides)]
        )

    def control(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return 1 for each reply to a control that is correct, else 0, trial by trial."""
        del prompts
        right = (pl.col("kind") == "correct").cast(pl.Float64)
        return answers.select("prompt_id", value=right)

    def _biases(self, sides: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of the level trial: accuracy on pro minus accuracy on anti."""
        accuracy = only(sides, ["correct"])
        if self.round_accuracy is not None:
            percent = (pl.col("value") * 100).round(self.round_accuracy)
            accuracy = accuracy.with_columns(value=percent / 100)
        keys = ["model", "instrument", "mode", "trial", "condition", "group"]
        pro, anti = (accuracy.filter(wording=side) for side in SIDES)
        joined = pro.join(
            anti.select(*keys, second="value", second_reason="reason", more="n", gone="missing"),
            on=keys,
            how="left",
            nulls_equal=True,
        )
        rows = joined.drop("sd", "low", "high", "wording").with_columns(
            pl.col("n") + pl.col("more").fill_null(0),
            pl.col("missing") + pl.col("gone").fill_null(0),
            quantity=pl.lit("bias"),
            level=pl.lit("trial"),
            over=pl.lit("sentences"),
            value=pl.col("value") - pl.col("second"),
            reason=pl.coalesce(
                "reason",
                pl.when(pl.col("second").is_null()).then(
                    pl.coalesce("second_reason", pl.lit("no anti sentence was asked"))
                ),
            ),
        )
        return as_scores(rows)


def _shares_of_pairs(scores: pl.DataFrame) -> pl.DataFrame:
    """Return SCORES of the level trial: shares of pairs, by the sides with a correct reply."""
    correct = only(scores, ["correct"])
    keys = ["model", "instrument", "mode", "measure", "trial", "condition", "group", "item"]
    pro, anti = (
        correct.filter(wording=side).select(*keys, pl.col("value").alias(side)) for side in SIDES
    )
    right, wrong = pl.col("pro") == 1, pl.col("anti") == 1
    is_complete = pl.col("pro").is_not_null() & pl.col("anti").is_not_null()
    kinds = {
        "only-pro": right & ~wrong,
        "only-anti": ~right & wrong,
        "both": right & wrong,
        "neither": ~right & ~wrong,
    }
    pairs = (
        pro.join(anti, on=keys, how="left", nulls_equal=True)
        .with_columns(
            pl.when(is_complete).then(kind.cast(pl.Float64)).alias(name)
            for name, kind in kinds.items()
        )
        .unpivot(list(PAIR_KINDS), index=keys, variable_name="quantity", value_name="value")
        .with_columns(
            reason=pl.when(pl.col("value").is_null()).then(
                pl.lit("a sentence of the pair has no answer")
            ),
            level=pl.lit("pair"),
            n=pl.lit(1),
            missing=pl.lit(0),
        )
    )
    keep = ("model", "trial", "condition", "group")
    return mean_over(as_scores(pairs), keep=keep, level="trial", over="pairs")


OF_SENTENCES = ("correct", "right", "wrong", "first-listed")


_TOO_LITTLE = f"the two people have less than {FLOOR} of the probability"
_REASONS: Mapping[ChoiceMode, Mapping[str, str]] = {
    "choice": {
        **dict.fromkeys((*OF_SENTENCES, "elsewhere"), _TOO_LITTLE),
        "no-answer": "not to answer was no option",
    },
    "reply": {
        **dict.fromkeys(("correct", "right", "wrong", *SHARES), NO_REPLY),
        "first-listed": "no reply names one of the two people",
    },
}
_STYLE: Mapping[ChoiceMode, tuple[str, ...]] = {
    "choice": ("no-answer", "elsewhere", "first-listed"),
    "reply": (*SHARES, "first-listed"),
}

CHOICE_PRESENTATION = Presentation(
    quantity="bias",
    called="bias",
    axis="Bias: accuracy on pro − accuracy on anti sentences",
    ends=("less stereotyped", "more stereotyped"),
    claims=claims_of("coreference-choice"),
    findings=choice_bias_findings,
    figures=(
        coreference.against_baseline,
        coreference.alone,
        coreference.right,
        coreference.occupations,
    ),
    tables=(tables.settings, agreement_table),
    evidence=options_with_probabilities,
    main=("position", "level", "groups", "baseline"),
    style=describe_style,
)


@dataclass(frozen=True, kw_only=True)
class CoreferenceChoice(ChoiceMeasure):
    """A measure that turns CHOICES, or REPLIES with ``kind``, ``chosen`` and ``code``, into SCORES.

    The column ``item`` holds the sentence pair, ``wording`` the side (pro, anti), and ``condition``
    the adjective setting.
    """

    name: ClassVar[str] = "coreference-choice"
    prompt_quantity: ClassVar[str] = "correct"
    unit: ClassVar[str] = "setting"
    primary_contrast: ClassVar[tuple[str, str]] = ("level", "bias")
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]] = (
        (
            "bias",
            (
                catalog.position,
                *(
                    contrast.on(averaging_pair_orders)
                    for contrast in (*catalog.OF_PAIRS, *catalog.BESIDE_BIAS)
                ),
            ),
        ),
    )
    between_runs: ClassVar[Contrasts] = (catalog.models_in_each_setting.on(averaging_pair_orders),)
    shown: ClassVar[Presentation] = CHOICE_PRESENTATION
    reply_claims: ClassVar[Claims] = claims_of("coreference-choice/reply")
    choices: ClassVar[tuple[AnalyticChoice, ...]] = (ORDERS,)
    scores_controls: ClassVar[ControlScore | None] = "answer"

    def score_prompts(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of the level prompt: the accuracy, and the shares of everything else."""
        coded = self.coded(answers)
        listed = presentations(prompts).select("prompt_id", "first")
        first = WEIGHT.filter(CODED & (pl.col("answer") == pl.col("first")))
        values = by_prompt(
            coded.join(listed, on="prompt_id"),
            *self.non_answers(coded),
            ratio(first, among=CODED).alias("first-listed"),
            correct=mean_code() if self.mode == "choice" else share(CODE == 1),
            right=share(CODE == 1),
            wrong=share(CODE == 0),
        )
        return prompt_scores(values, prompts, measure=self.name, reasons=_REASONS[self.mode])

    def aggregate(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of sentences over both orders, of sides, settings and their groups."""
        sentences = over_presentations(only(scores, OF_SENTENCES), whole=False)
        ids = ("condition", "group")
        sides = mean_over(sentences, keep=("model", "wording", *ids), level="side", over="pairs")
        first = of_sides("first-listed")
        settings = sides_compared(
            sides,
            numbers_of_sides("correct", "right", "wrong")
            | {"first-listed-above-half": (first["pro"] + first["anti"]) / 2 - 0.5},
            counted=OF_SENTENCES,
            keys=("model", "instrument", "mode", "measure", *ids),
            level="condition",
            reason=pl.lit(ONE_SIDE),
        )
        style = only(scores, _STYLE[self.mode])
        return pl.concat(
            [
                sentences,
                sides,
                settings,
                above_baseline(only(settings, ["bias"])),
                mean_over(settings, keep=("model", "group"), level="group", over="settings"),
                mean_over(style, keep=("model",), level="model", over="prompts"),
            ]
        )

    def control(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return each control's accuracy.

        From probabilities it is 1 if the right person is more probable, else 0; from replies it is
        the share that name the right person.
        """
        value = pl.col("value")
        if self.mode == "choice":
            value = ((value - 0.5).sign() + 1) / 2
        rows = only(self.score_prompts(answers, prompts), ["correct"])
        return rows.select("prompt_id", value=value)
