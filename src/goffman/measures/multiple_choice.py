"""mean-code: which options a model finds probable, or names; from 0 to 1, more stigma up.

Each option has a code. A prompt's coded responses (responses.py) are the probabilities of its
options, or the options that replies name. Their numbers are

    code      the mean code of the options that count; none if they have less than .01 together
    lowest, highest   the same if every non-answer were the least, or the most, stigmatizing one
    first-listed, last-listed   of the options that count, the share of the one listed first or last
    says-LABEL   of the options that count, the share of the label that the model gives most

and of non-answers, by probabilities

    no-answer the probability of "don't know, or prefer not to say"
    elsewhere the probability on no option
    unseen    the part of elsewhere on tokens that a server did not name; null without a server

or by replies

    dont-know, refusal, several, other   the share of the replies that are each of these
    trial-variance, trial-error   the variance of the code over trials, and that of its mean

Every question is presented in several orders of its options; its code is the mean over these. The
presentation affects answers, too. So the code of each prompt is repeated under names for how it was
presented:

    stigma-first, stigma-last   the option with the higher code is listed first, or last; this is
                 not the same as forward and reversed, since keying reverses codes but not options
    plain-keyed, reversed-keyed   agreeing means more, or less, of the construct; only where an item
                 is asked with the same options in both keyings
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import polars as pl

from goffman.contrasts import catalog
from goffman.contrasts.designs import averaging_orders, items_by_place, wordings_merged
from goffman.instruments.types import ControlScore, options_from
from goffman.measures.analytic_choices import ORDERS, WORDINGS, AnalyticChoice
from goffman.measures.base import Contrasts, Measure, Reads
from goffman.measures.reliability import (
    TRIAL_ERROR,
    TRIAL_VARIANCE,
    reliability_scores,
    variance_split,
)
from goffman.measures.responses import (
    CATEGORY,
    CODE,
    CODED,
    FLOOR,
    IDS,
    WEIGHT,
    about_nonbinary,
    answers_to,
    as_scores,
    bound,
    by_prompt,
    coded_choices,
    coded_replies,
    gaps,
    mean_code,
    mean_over,
    means_by_form,
    means_of_cells,
    only,
    prompt_scores,
    ratio,
    share,
    shares,
)
from goffman.parsers.options import DEFAULT_CHOICE_PARSER, read_choices
from goffman.presentation import answer_style, conditions, gender, reliability, tables
from goffman.presentation.answer_style import SAYS, describe_style
from goffman.presentation.conditions import choice_findings
from goffman.presentation.evidence import options_with_probabilities, replies_as_read
from goffman.presentation.gender import described_gender_findings
from goffman.presentation.reliability import variance_table
from goffman.presentation.section import Answers, Claims, Presentation, claims_of
from goffman.schemas import CHOICE_KINDS

if TYPE_CHECKING:
    from goffman.lexicons.lexicons import Lexicons
    from goffman.presentation.section import Section


ChoiceMode = Literal["choice", "reply", "span", "entailment"]
"""Whether options are weighed by the replies that name them, or by their probability: as answers,
as parts of a passage, or as statements about it."""

CODES = ("code", "lowest", "highest")
"""The mean code, and that if every non-answer were the least, or the most, stigmatizing answer."""

_ONE_IS_MISSING = "in one of its presentations there is no value"


def presentations(prompts: pl.DataFrame) -> pl.DataFrame:
    """Return ``first``, ``last``, ``direction`` and ``keying`` of each prompt with options.

    The first two are the labels of the options that count and are listed first and last; the other
    two are the names above, or null.
    """
    rows = []
    with_options = prompts.filter(pl.col("options").is_not_null())
    table = with_options.select("prompt_id", "item", "keyed", "options", "mode")
    for prompt, item, keyed, text, mode in table.rows():
        coded_options = [option for option in options_from(text) if option.code is not None]
        first, last = (option.code or 0.0 for option in (coded_options[0], coded_options[-1]))
        labels = coded_options[0].label, coded_options[-1].label
        direction = None if first == last else catalog.DIRECTIONS[first < last]
        # The texts of statements contain the question, so that they do not identify the scale.
        scale = "\n".join(sorted(option.text for option in coded_options if mode != "entailment"))
        rows.append((prompt, item, keyed, *labels, direction, scale))
    columns = ("prompt_id", "item", "keyed", "first", "last", "direction", "scale")
    frame = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
    has_both_keyings = pl.col("keyed").n_unique().over("item", "scale") == 2
    keying = pl.format("{}-keyed", "keyed")
    return frame.with_columns(keying=pl.when(has_both_keyings).then(keying)).drop(
        "item", "keyed", "scale"
    )


def by_presentation(scores: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    """Return the code's SCORES of the level prompt again, under the names of its presentation."""
    codes = only(scores, ["code"]).join(presentations(prompts), on="prompt_id")
    codes = codes.sort("model", "prompt_id", "trial")
    return pl.concat(
        [
            as_scores(codes.filter(pl.col(name).is_not_null()).with_columns(quantity=name))
            for name in ("direction", "keying")
        ]
    )


def over_presentations(scores: pl.DataFrame, *, whole: bool) -> pl.DataFrame:
    """Return SCORES of the level presentation: means over the orders that a question was asked in.

    ``whole``: a mean is null if one of the orders has no value, since order affects answers.
    """
    keep = ("model", *IDS)
    means = mean_over(scores, keep=keep, level="presentation", over="presentations")
    if not whole:
        return means
    gap = (pl.col("missing") > 0) & (pl.col("n") > 0)
    reason = pl.when(gap).then(pl.lit(_ONE_IS_MISSING)).otherwise("reason")
    return means.with_columns(value=pl.when(~gap).then("value"), reason=reason)


def answering(scores: pl.DataFrame, about: Sequence[str]) -> pl.DataFrame:
    """Return the rows of these quantities, and of the labels that models give most often."""
    quantity = pl.col("quantity")
    return scores.filter(quantity.is_in(list(about)) | quantity.str.starts_with(SAYS))


def labels_given_most(answered: pl.DataFrame) -> list[str]:
    """Return the labels that are the letter or the number with the greatest weight in some model.

    ``answered``: model, label, weight.
    """
    keys = ["model", "numbers"]
    sums = answered.group_by("model", "label").agg(pl.col("weight").sum())
    ordered = sums.with_columns(numbers=is_number(pl.col("label"))).sort(
        *keys, -pl.col("weight"), "label"
    )
    first = ordered.group_by(keys, maintain_order=True).agg(pl.col("label").first())
    return sorted(first["label"].unique())


def is_number(label: pl.Expr) -> pl.Expr:
    """Return an expression for whether labels are numbers, not letters."""
    return label.str.contains(r"^\d+$")


NO_OPTION = "no reply names one option"
NO_REPLY = "no reply came"
SHARES = tuple(kind for kind in CHOICE_KINDS if kind != "option")
_TOO_LITTLE = f"the options that count have less than {FLOOR} of the probability"

STYLE: Mapping[Reads, tuple[str, ...]] = {
    "choices": ("no-answer", "elsewhere", "unseen", "first-listed", "last-listed"),
    "replies": (*SHARES, "first-listed", "last-listed"),
}
"""The quantities that say how a model answers, whatever it is asked."""

_REASONS: Mapping[Reads, Mapping[str, str]] = {
    "choices": {
        **dict.fromkeys((*CODES, "elsewhere", "first-listed", "last-listed"), _TOO_LITTLE),
        "no-answer": "not to answer was no option",
        "unseen": "every token was seen",
    },
    "replies": {
        **dict.fromkeys(("code", "first-listed", "last-listed"), NO_OPTION),
        **dict.fromkeys(("lowest", "highest", *SHARES), NO_REPLY),
        **dict.fromkeys((TRIAL_VARIANCE, TRIAL_ERROR), "fewer than two replies name one option"),
    },
}
"""Why a number of an answered prompt is null."""

_NO_SUCH_LABEL: Mapping[Reads, str] = {
    "choices": f"{_TOO_LITTLE}, or other labels",
    "replies": "no reply names an option with a letter, or a number",
}

CODE_CONTRASTS: Contrasts = (
    *(catalog.order_of_options, catalog.keying, catalog.wordings, catalog.groups_as_asked),
    # Of what is asked, made from the means over orders.
    *(
        contrast.on(averaging_orders)
        for contrast in (
            catalog.groups_of_conditions,
            catalog.models_over_conditions,
            catalog.conditions_against_reference,
            catalog.conditions_against_own_group,
            catalog.conditions_against_baseline,
        )
    ),
)

PRESENTATION = Presentation(
    quantity="code",
    called="mean code",
    axis="Mean code: 0 least, 1 most stigmatizing",
    ends=("less stigmatizing", "more stigmatizing"),
    claims=claims_of("mean-code"),
    findings=choice_findings,
    figures=(
        answer_style.effects,
        conditions.boxes,
        conditions.categories,
        conditions.ranked,
    ),
    tables=(
        answer_style.how_it_answers,
        tables.groups_of_conditions,
        tables.ranked_conditions,
        reliability.reliability_table,
        variance_table,
    ),
    evidence=options_with_probabilities,
    main=("order", "keying", "wordings", "groups", "groups-as-asked"),
    style=describe_style,
)


@dataclass(frozen=True, kw_only=True)
class ChoiceMeasure(Measure):
    """The base of measures of options: they read probabilities, or the option a reply names."""

    mode: ChoiceMode = "choice"
    parser: str = DEFAULT_CHOICE_PARSER
    """The parser of replies: see parsers/options.py."""
    shown: ClassVar[Presentation]
    reply_claims: ClassVar[Claims]

    @property
    def reads(self) -> Reads:
        """Return the name of the table of answers that it takes."""
        return "replies" if self.mode == "reply" else "choices"

    @property
    def presentation(self) -> Presentation:
        """Return how it is presented to people."""
        if self.mode == "choice":
            return self.shown
        if self.mode != "reply":
            return replace(self.shown, claims=claims_of("mean-code/two-people"))

        def evidence(
            answers: Answers, section: Section, words: Lexicons | None, most: int
        ) -> pl.DataFrame:
            frame = read_choices(answers.frame, section.prompts, parser=self.parser)
            return replies_as_read(replace(answers, frame=frame), section, words, most)

        return replace(self.shown, claims=self.reply_claims, evidence=evidence)

    def code_responses(
        self, answers: pl.DataFrame, prompts: pl.DataFrame, words: Lexicons, *, cased: bool
    ) -> pl.DataFrame:
        """Return replies with the option that each names; return probabilities unchanged."""
        del words, cased
        if self.mode != "reply":
            return answers
        return read_choices(answers, prompts, parser=self.parser)

    def coded(self, answers: pl.DataFrame) -> pl.DataFrame:
        """Return the answers as coded responses, as defined in responses.py."""
        return (coded_replies if self.mode == "reply" else coded_choices)(answers)

    def non_answers(self, coded: pl.DataFrame) -> list[pl.Expr]:
        """Return expressions for the share of each kind of non-answer."""
        if self.mode == "reply":
            return shares(SHARES)
        no_answer = CATEGORY == "no-answer"
        unseen = CATEGORY == "unseen"
        has_unseen = coded.select(unseen.any()).item()
        return [
            pl.when(no_answer.any()).then(share(no_answer)).alias("no-answer"),
            share((CATEGORY == "elsewhere") | unseen).alias("elsewhere"),
            *([pl.when(unseen.any()).then(share(unseen)).alias("unseen")] if has_unseen else []),
        ]

    def control(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return the mean code of each control, in each order of its options."""
        return only(self.score_prompts(answers, prompts), ["code"]).select("prompt_id", "value")


@dataclass(frozen=True, kw_only=True)
class MeanCode(ChoiceMeasure):
    """A measure that makes SCORES of CHOICES, or of REPLIES with ``kind``, ``chosen``, ``code``."""

    contrast: str = "stigmatized"
    against: str = "non-stigmatized"
    name: ClassVar[str] = "mean-code"
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]] = (("code", CODE_CONTRASTS),)
    between_runs: ClassVar[Contrasts] = (catalog.models_over_conditions.on(averaging_orders),)
    shown: ClassVar[Presentation] = PRESENTATION
    reply_claims: ClassVar[Claims] = claims_of("mean-code/reply")
    choices: ClassVar[tuple[AnalyticChoice, ...]] = (WORDINGS, ORDERS)
    scores_controls: ClassVar[ControlScore | None] = "separation"

    def score_prompts(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of the level prompt: the mean code, its bounds, and shares of responses."""
        values = self._values(self.coded(answers), prompts)
        texts = _REASONS[self.reads]
        reasons = {
            name: texts.get(name, _NO_SUCH_LABEL[self.reads])
            for name in values.columns
            if name in texts or name.startswith(SAYS)
        }
        scores = prompt_scores(values, prompts, measure=self.name, reasons=reasons)
        return pl.concat([scores, by_presentation(scores, prompts)])

    def _values(self, coded: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return the numbers of each model and prompt; null if a number has no meaning."""
        answer, variance = pl.col("answer"), CODE.var()
        listed = presentations(prompts).select("prompt_id", "first", "last")
        over_trials = (
            variance.alias(TRIAL_VARIANCE),
            (variance / CODE.count()).alias(TRIAL_ERROR),
        )
        return by_prompt(
            coded.join(listed, on="prompt_id"),
            mean_code().alias("code"),
            bound(0.0).alias("lowest"),
            bound(1.0).alias("highest"),
            *self.non_answers(coded),
            *(
                ratio(WEIGHT.filter(CODED & (answer == pl.col(place))), among=CODED).alias(
                    f"{place}-listed"
                )
                for place in ("first", "last")
            ),
            *(
                ratio(
                    WEIGHT.filter(CODED & (answer == label)),
                    among=CODED & (is_number(answer) == label.isdigit()),
                ).alias(f"{SAYS}{label}")
                for label in labels_given_most(
                    coded.filter(CODED).select("model", "weight", label="answer")
                )
            ),
            *(over_trials if coded["trial"].n_unique() > 1 else ()),
        )

    def aggregate(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of questions, forms, wordings, conditions, groups, items and models.

        If replies are read, a question that was answered in only one order counts by that order:
        otherwise a model that refuses now and then would have no numbers at all.
        """
        cells = over_presentations(only(scores, CODES), whole=self.mode != "reply")
        # If each question was asked in only one wording, all wordings count as one.
        balanced = wordings_merged(cells)
        about = (*STYLE[self.reads], *catalog.DIRECTIONS, *catalog.KEYINGS)
        return pl.concat(
            [
                cells,
                means_by_form(
                    cells,
                    balanced,
                    compared=("code",),
                    contrast=self.contrast,
                    against=self.against,
                    over="questions",
                ),
                mean_over(answering(scores, about), keep=("model",), level="model", over="prompts"),
                reliability_scores(
                    items_by_place(balanced),
                    quantity="code",
                    groups=(self.contrast, self.against),
                ),
                variance_split(scores),
            ]
        )


PAIRED = ("female", "male", "disparity")
QUANTITIES = (*PAIRED, "unstated", "nonbinary")

NO_PAIR = "the same question about a woman and a man is not answered twice"


def pairs(scores: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    """Return SCORES of the level prompt: PAIRED for each pair, and codes of unstated gender.

    A pair is the same question about a woman and a man. ``scores``: those of the code.
    """
    keys = ["item", "condition", "form", "wording", "order", "place"]
    person = pl.col("person") if "person" in prompts.columns else pl.lit("")
    # Number the people described of each gender: a woman without a name is compared with a man
    # without one, a named woman with a named man.
    place = person.fill_null("").rank("dense").over("gender")
    places = prompts.with_columns(place=place).select("prompt_id", "gender", "order", "place")
    codes = only(scores, ["code"]).join(places, on="prompt_id")
    women, men, ungendered = (
        codes.filter(gender=gender) for gender in ("female", "male", "unstated")
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
    (
        "code",
        (
            catalog.order_of_options,
            catalog.keying,
            catalog.wordings,
            catalog.women_against_men,
            catalog.nonbinary_against_others,
        ),
    ),
    (
        "disparity",
        tuple(
            catalog.over_wordings(contrast)
            for contrast in (
                catalog.groups_of_cells,
                catalog.models_over_cells,
                catalog.dimensions,
            )
        ),
    ),
)
"""First what presentation does to the code; then women against men, and what that depends on."""

GENDER_PRESENTATION = Presentation(
    quantity="disparity",
    called="female − male",
    axis="Mean code: female − male",
    ends=("more stigmatizing for men", "more stigmatizing for women"),
    claims=claims_of("code-by-gender"),
    findings=described_gender_findings,
    figures=(
        answer_style.effects,
        gender.differences(what="Mean code about a woman minus a man"),
    ),
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
    between_runs: ClassVar[Contrasts] = (catalog.over_wordings(catalog.models_over_cells),)
    shown: ClassVar[Presentation] = GENDER_PRESENTATION
    reply_claims: ClassVar[Claims] = GENDER_PRESENTATION.claims
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
