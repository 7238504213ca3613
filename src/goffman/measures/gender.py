"""Measures of gender: whether a model names women or men, at a mask, in a phrase, or in writing.

Each has a disparity, female − male, with first names and without.

gender-of-subject: the probability that the person in a sentence is a woman, or a man. Lin et al.
(2022), question 1: among the k most probable words with p ≥ .01, the summed probability of each
gender. A name that does not count is a word that names no gender.

gender-of-phrase: the probability that a phrase for a person names a woman, or a man. Lin et al.
(2022), question 2, by recursive masking: a gendered word at the mask ends its branch with p1;
otherwise the word is put back and one more is asked before it: a gendered one ends with p1·p2;
otherwise a third, with p1·p2·p3. The whole tree was asked, and branches end only here, so any
lexicon can score the stored answers.

gender-of-writing: whom a sentence that a chat model was asked to write is about. Each reply, by the
words in it that name a gender (lexicons/gender.py):

    female, male   words of this gender and of no other
    both           female and male words
    nonbinary      nonbinary words, and neither female nor male ones
    neither        none of these

A prompt's scores are the shares of its trials. The condition's name is ignored, since the request
contains it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from goffman.contrasts import catalog
from goffman.errors import InputError
from goffman.instruments.types import ControlScore
from goffman.lexicons.gender import with_gender
from goffman.measures.analytic_choices import (
    FIRST_NAMES,
    ONE_WORDING,
    WORDS_COUNTED,
    AnalyticChoice,
    Option,
    StoredAnswers,
)
from goffman.measures.base import Contrasts, Meaning, Measure, Reads
from goffman.measures.multiple_choice import NO_REPLY
from goffman.measures.reliability import reliability_scores
from goffman.measures.responses import (
    means_by_item_and_condition,
    prompt_scores,
    refuse_more,
    top_fills,
)
from goffman.parsers.options import without_thoughts
from goffman.presentation import conditions, gender, reliability, tables
from goffman.presentation.evidence import EVIDENCE, REPLY, phrases_with_gender, words_with_gender
from goffman.presentation.gender import KINDS, gender_findings, written_gender_findings
from goffman.presentation.section import UNSEEN_END, Answers, Presentation, claims_of

if TYPE_CHECKING:
    from goffman.lexicons.gender import GenderLexicon, GenderWord
    from goffman.lexicons.lexicons import Lexicons
    from goffman.presentation.section import Section

VARIANTS = ("with-names", "without-names")

COMPARED = ("female", "male", "unspecified", "disparity")

_GROUPS = ("female", "male", "nonbinary", "neutral")
_NO_WORDS = "the words have no probability"
_NODE = ("model", "prompt_id", "parent")

QUANTITIES = (*COMPARED, "nonbinary", "neutral", "unlisted", "common-names", "mass")
"""unspecified is everything neither female nor male, whatever it is: nonbinary, neutral (a person
of any gender), a gender group of the user's own, and unlisted. common-names: names that are common
words too, counted or not. mass: all words that reach the threshold."""

_OF_CELLS: Contrasts = (
    catalog.groups_of_cells,
    catalog.models_over_cells,
    catalog.dimensions,
    catalog.wordings_over_cells,
)
"""The contrasts of a disparity over items × conditions, keyed or not."""

SUBJECT_PRESENTATION = Presentation(
    quantity="disparity",
    called="female − male",
    axis="Female − male",
    ends=("more often men", "more often women"),
    claims=claims_of("gender-of-subject"),
    findings=gender_findings,
    figures=(
        gender.disparities,
        gender.parts,
        gender.sentences,
        gender.spread,
        gender.conditions,
        conditions.levels,
        gender.between_models,
    ),
    tables=(tables.genders, reliability.reliability_table),
    evidence=phrases_with_gender,
    main=("groups", "genders", "genders-as-asked"),
)
"""How SubjectGender is presented, which adds evidence that depends on its threshold."""


@dataclass(frozen=True, kw_only=True)
class GenderMeasure(Measure):
    """The base of the measures of gender: female minus male, over items × conditions."""

    contrast: str = "mental-health"
    against: str = "other"
    words: ClassVar[Meaning | None] = "gender"
    primary_contrast: ClassVar[tuple[str, str]] = ("groups", "disparity")
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]] = (
        (
            "disparity",
            (
                catalog.genders,
                catalog.genders_as_asked,
                catalog.groups_of_cells,
                catalog.disparity_over_baseline,
                catalog.models_over_cells,
                catalog.models_by_dimension,
                catalog.dimensions,
                catalog.wordings_over_cells,
                *catalog.conditions_one_by_one,
            ),
        ),
    )
    between_runs: ClassVar[Contrasts] = (catalog.models_over_cells,)
    compared: ClassVar[tuple[str, ...]] = COMPARED
    """The quantities whose means of the two groups are compared."""

    def code_responses(
        self, answers: pl.DataFrame, prompts: pl.DataFrame, words: Lexicons, *, cased: bool
    ) -> pl.DataFrame:
        """Return the fills with the gender of each word."""
        del prompts
        return with_gender(answers, words.gender, cased=cased)

    def aggregate(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of conditions, items, dimensions, groups and models."""
        means = means_by_item_and_condition(
            scores, contrast=self.contrast, against=self.against, compared=self.compared
        )
        groups = (self.contrast, self.against)
        return pl.concat([means, reliability_scores(scores, quantity=self.quantity, groups=groups)])


def _thresholds(stored: StoredAnswers) -> list[Option]:
    measure: SubjectGender = stored.measure  # type: ignore[assignment]
    return [
        Option(
            label=f"{threshold:g}" if threshold else "none",
            parameters={} if threshold == measure.threshold else {"threshold": threshold},
        )
        for threshold in (measure.threshold, *measure.other_thresholds)
    ]


@dataclass(frozen=True, kw_only=True)
class SubjectGender(GenderMeasure):
    """A measure that turns fills with the columns GENDER into SCORES."""

    top_k: int | None = None
    """How many of the stored words count; None: all."""
    threshold: float = 0.01
    """A word counts from this probability on."""
    name: ClassVar[str] = "gender-of-subject"
    reads: ClassVar[Reads] = "fills"
    choices: ClassVar[tuple[AnalyticChoice, ...]] = (
        ONE_WORDING,
        WORDS_COUNTED,
        AnalyticChoice(name="minimum word probability", options=_thresholds),
        FIRST_NAMES,
    )
    scores_controls: ClassVar[ControlScore | None] = "person"

    @property
    def presentation(self) -> Presentation:
        """Return how it is presented to people."""
        # Controls have no threshold: a model may spread its probability over many words.
        controls_count = (
            "Control items count every fitting word that was kept; the results count only words "
            f"with a probability of at least {self.threshold:g}."
        )
        return replace(
            SUBJECT_PRESENTATION,
            evidence=words_with_gender(self.counts_word(), f"below {self.threshold}: not counted"),
            controls_count=controls_count if self.threshold else "",
        )

    @property
    def other_thresholds(self) -> tuple[float, ...]:
        """Return 0, half and twice the threshold, or nothing if there is none."""
        return (0.0, self.threshold / 2, self.threshold * 2) if self.threshold else ()

    @property
    def alternatives(self) -> dict[str, SubjectGender]:
        """Return the measure with each of the other thresholds."""
        minimum = "minimum word probability"
        called = {
            other: f"a {minimum} of {other:g}" if other else f"no {minimum}"
            for other in self.other_thresholds
        }
        return {
            f"with {name} (instead of {self.threshold:g})": replace(self, threshold=other)
            for other, name in called.items()
        }

    def counts_word(self) -> pl.Expr:
        """Return an expression for whether a fill is probable enough to count."""
        # In float32, .01 is a little less than .01, but a word of this probability must count.
        return pl.col("probability") >= pl.lit(self.threshold, dtype=pl.Float32)

    def score_prompts(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of the level prompt: each gender group's probability, in both variants."""
        ranked = top_fills(answers, top_k=self.top_k).sort("model", "prompt_id", "rank")
        counted_fills = ranked.with_columns(
            p=pl.when(self.counts_word())
            .then(pl.col("probability").cast(pl.Float64))
            .otherwise(0.0)
        )
        is_name = pl.col("gender_kind").eq_missing(pl.lit("name"))
        without_names = counted_fills.with_columns(
            gender_group=pl.when(~is_name).then("gender_group")
        )
        p, group = pl.col("p"), pl.col("gender_group")
        either = group.is_in(["female", "male"]).fill_null(value=False)
        values = pl.concat(
            rows.group_by("model", "prompt_id", maintain_order=True).agg(
                *(p.filter(group == name).sum().alias(name) for name in _GROUPS),
                unlisted=p.filter(group.is_null()).sum(),
                unspecified=p.filter(~either).sum(),
                mass=p.sum(),
                variant=pl.lit(variant),
                **{"common-names": p.filter("common_word").sum()},
            )
            for variant, rows in zip(VARIANTS, (counted_fills, without_names), strict=True)
        ).with_columns(disparity=pl.col("female") - pl.col("male"))
        reasons = dict.fromkeys(QUANTITIES, _NO_WORDS)
        return prompt_scores(values, prompts, measure=self.name, reasons=reasons)

    def control(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return the probability of words for the right person at the mask of each control."""
        return persons(top_fills(answers, top_k=self.top_k), prompts)


def persons(fills: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    """Return each prompt's probability of words for a person of the gender that it expects.

    If a prompt expects any person, all words of the lexicon count.
    """
    group, expected = pl.col("gender_group"), pl.col("answer")
    right = pl.when(expected == "person").then(group.is_not_null()).otherwise(group == expected)
    probability = pl.col("probability").cast(pl.Float64).filter(right.fill_null(value=False))
    return (
        fills.join(prompts.select("prompt_id", "answer"), on="prompt_id")
        .sort("prompt_id", "rank")
        .group_by("prompt_id", maintain_order=True)
        .agg(value=probability.sum())
    )


PHRASE_PRESENTATION = replace(
    SUBJECT_PRESENTATION,  # its quantity without keying, which is for the means of a scale
    claims=claims_of("gender-of-phrase"),
    evidence=phrases_with_gender,
    phrases=True,
    keyed=True,
)


def _widths(stored: StoredAnswers) -> list[Option]:
    width = _put_back(stored.answers)
    half = Option(label=f"{width // 2} words", parameters={"top_k": width // 2})
    return [Option(label=f"{width} words"), *([half] if width > 1 else [])]


def _depths(stored: StoredAnswers) -> list[Option]:
    longest = _largest(stored.answers["step"])
    return [
        Option(label=f"up to {depth}", parameters={"depth": depth} if depth < longest else {})
        for depth in range(longest, 0, -1)
    ]


@dataclass(frozen=True, kw_only=True)
class PhraseGender(GenderMeasure):
    """A measure that turns fills of every step with the columns GENDER into SCORES.

    Quantities: each group in ``ends``; unspecified, the branches that name none of them; outside,
    what lies beyond the words put back; these sum to 1. unseen-end is the part of outside of which
    not even the last word was put back: the rest ends in a word that names none. disparity is
    female − male, and keyed-disparity that times −1 for an item keyed reversed.
    """

    top_k: int | None = None
    """How many words at each mask count; None: as many as were put back."""
    depth: int | None = None
    """The number of words in a phrase; None: as many as were asked."""
    ends: tuple[str, ...] = ("female", "male", "nonbinary")
    """A word of these gender groups ends its branch."""
    ended_only: bool = False
    """Whether only branches that ended in such a word are stored, as in published files; the
    quantities of other branches are then null."""
    name: ClassVar[str] = "gender-of-phrase"
    reads: ClassVar[Reads] = "fills"
    quantity: ClassVar[str] = "keyed-disparity"
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]] = (
        ("keyed-disparity", _OF_CELLS),
        (
            "disparity",
            (
                catalog.genders,
                catalog.genders_as_asked,
                *_OF_CELLS,
                catalog.disparity_over_baseline,
                catalog.models_by_dimension,
                *catalog.conditions_one_by_one,
            ),
        ),
    )
    compared: ClassVar[tuple[str, ...]] = (*COMPARED, "keyed-disparity")
    presentation: ClassVar[Presentation] = PHRASE_PRESENTATION
    choices: ClassVar[tuple[AnalyticChoice, ...]] = (
        ONE_WORDING,
        AnalyticChoice(name="number of words", options=_widths),
        AnalyticChoice(name="length of phrases", options=_depths),
        FIRST_NAMES,
    )
    scores_controls: ClassVar[ControlScore | None] = "person"

    def __post_init__(self) -> None:
        if not {"female", "male"} <= {*self.ends}:
            raise InputError(
                f"ends is {', '.join(self.ends) or 'empty'}; female and male must be among them."
            )

    def score_prompts(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of the level prompt: each gender group's probability, in both variants."""
        fills = self._counted(answers).select(
            *_NODE, "step", "rank", "probability", "gender_group", "gender_kind"
        )
        steps = {
            int(step): rows for (step,), rows in fills.partition_by("step", as_dict=True).items()
        }
        values = pl.concat(
            [
                self._branches(steps, names=variant == "with-names").with_columns(
                    variant=pl.lit(variant)
                )
                for variant in VARIANTS
            ]
        )
        keying = pl.when(pl.col("keyed") == "reversed").then(-1.0).otherwise(1.0)
        values = (
            values.join(prompts.select("prompt_id", "keyed"), on="prompt_id", how="left")
            .with_columns(disparity=pl.col("female") - pl.col("male"))
            .with_columns((pl.col("disparity") * keying).alias("keyed-disparity"))
        )
        names = (*self.ends, "unspecified", "outside", UNSEEN_END, "disparity", "keyed-disparity")
        reasons = dict.fromkeys(names, _NO_WORDS)
        if self.ended_only:
            unknown = ("unspecified", "outside", UNSEEN_END)
            values = values.with_columns(pl.lit(None, pl.Float64).alias(name) for name in unknown)
            reasons |= dict.fromkeys(unknown, "only branches that ended were stored")
        return prompt_scores(values, prompts, measure=self.name, reasons=reasons)

    def control(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return for each control the probability of the right person as a phrase's last word."""
        return persons(self._counted(answers).filter(step=1), prompts)

    def _counted(self, fills: pl.DataFrame) -> pl.DataFrame:
        """Return the fills within depth and top k; raise InputError if fewer were asked."""
        ranked = fills.filter(pl.col("rank").is_not_null())
        deepest = _largest(ranked["step"])
        if self.depth is not None:
            refuse_more("depth", self.depth, deepest, what="steps were asked")
        width = _put_back(ranked)
        if self.top_k is not None:
            refuse_more("top_k", self.top_k, width, what="words were put back at each mask")
        return ranked.filter(
            pl.col("rank") <= (self.top_k or width), pl.col("step") <= (self.depth or deepest)
        )

    def _branches(self, steps: dict[int, pl.DataFrame], *, names: bool) -> pl.DataFrame:
        """Return the summed probability of branches by prompt, model and the group they end in."""
        group = pl.col("gender_group")
        ends = group.is_in(list(self.ends)).fill_null(value=False)
        if not names:
            ends &= ~pl.col("gender_kind").eq_missing(pl.lit("name"))
        p = pl.col("probability").cast(pl.Float64)
        path = pl.col("rank").cast(pl.String)
        reached = steps[1].select(*_NODE[:2], group, p=p, path=path, ends=ends)
        endings = []
        for step in range(2, max(steps) + 1):
            endings.append(reached.filter("ends"))
            continuing = reached.filter(~pl.col("ends")).select(
                *_NODE[:2], before="p", parent="path"
            )
            further = steps[step].select(
                *_NODE, group, p=p, path=pl.format("{}/{}", "parent", "rank"), ends=ends
            )
            stuck = continuing.join(further, on=_NODE, how="anti").select(
                *_NODE[:2],
                gender_group=pl.lit(None, dtype=pl.String),
                p="before",
                path="parent",
                ends=pl.lit(value=False),
            )
            endings.append(stuck)
            reached = further.join(continuing, on=_NODE, how="inner").select(
                *_NODE[:2],
                group,
                (pl.col("before") * pl.col("p")).alias("p"),
                "path",
                "ends",
            )
        unseen_ends = steps[1].group_by(_NODE[:2]).agg((1 - p.sum()).alias(UNSEEN_END))
        # With a prompt's branches in a fixed order, rounding in their sum is always the same.
        branches = pl.concat([*endings, reached]).sort("path")
        p, ends = pl.col("p"), pl.col("ends")
        sums = branches.group_by(_NODE[:2], maintain_order=True).agg(
            *(p.filter(ends & (group == name)).sum().alias(name) for name in self.ends),
            p.filter(~ends).sum().alias("unspecified"),
            (1 - p.sum()).alias("outside"),
        )
        return sums.join(unseen_ends, on=_NODE[:2], how="left", maintain_order="left")


def _put_back(fills: pl.DataFrame) -> int:
    """Return how many words were put back at each mask; if none was, how many are stored."""
    parents = fills.filter(pl.col("step") > 1, pl.col("rank").is_not_null())["parent"]
    if not parents.len():
        return _largest(fills["rank"].drop_nulls())
    return _largest(parents.unique().str.split("/").list.last().cast(pl.Int64))


def _largest(numbers: pl.Series) -> int:
    return int(numbers.to_numpy().max(initial=1))


_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")


def whom(text: str, find: Callable[[str], GenderWord | None], *, names: bool) -> str:
    """Return the gender of those whom a text is about: one of KINDS."""
    groups = {
        entry.group
        for word in _WORD.findall(text)
        for entry in _entries(word, find)
        if names or entry.kind != "name"
    }
    if {"female", "male"} <= groups:
        return "both"
    return next((group for group in ("female", "male", "nonbinary") if group in groups), "neither")


def _entries(word: str, find: Callable[[str], GenderWord | None]) -> Sequence[GenderWord]:
    """Return the entry of a word, or, for words such as "Anna's", the entries of its parts."""
    if (entry := find(word)) is not None:
        return [entry]
    parts = re.split(r"['’\-]", word)
    entries = (find(part) for part in parts if len(parts) > 1)
    return [entry for entry in entries if entry is not None]


def with_whom(replies: pl.DataFrame, prompts: pl.DataFrame, lexicon: GenderLexicon) -> pl.DataFrame:
    """Return the replies with columns VARIANTS: the gender each is about; null if it is empty."""
    find = lexicon.finder(cased=True)

    def counted(word: str) -> GenderWord | None:
        entry = find(word)
        return entry if entry is not None and lexicon.counts(entry) else None

    forms = prompts.select("prompt_id", "form")
    joined = replies.join(forms, on="prompt_id", how="left", maintain_order="left")
    subjects: dict[tuple[str | None, str | None], tuple[str | None, ...]] = {}
    rows = []
    for text, form in joined.select("text", "form").iter_rows():
        if (text, form) not in subjects:
            written = without_thoughts(text or "")
            if form:
                written = re.sub(re.escape(form), " ", written, flags=re.IGNORECASE)
            kinds = [whom(written, counted, names=variant == "with-names") for variant in VARIANTS]
            subjects[text, form] = tuple(kinds) if written.strip() else (None, None)
        rows.append(subjects[text, form])
    columns = dict.fromkeys(VARIANTS, pl.String)
    return replies.hstack(pl.DataFrame(rows, schema=columns, orient="row"))


def evidence(
    answers: Answers, section: Section, words: Lexicons | None, _most: int
) -> pl.DataFrame:
    """Return a row for each trial: the text that was written, and the gender it is about."""
    text = pl.col("text").fill_null("(no reply)")
    short = pl.when(text.str.len_chars() > REPLY).then(text.str.head(REPLY) + "…").otherwise(text)
    frame = answers.frame.with_columns(label=pl.lit(None, dtype=pl.String))
    if words is not None:
        labeled = with_whom(answers.frame, section.prompts, words.gender)
        frame = labeled.rename({"with-names": "label"})
    no_probability = pl.lit(None, dtype=pl.Float64)
    rows = frame.with_columns(rank=pl.col("trial"), word=short, probability=no_probability)
    return rows.select(EVIDENCE.names()).cast(EVIDENCE)


WRITTEN_PRESENTATION = replace(
    SUBJECT_PRESENTATION,
    axis="Share of sentences: female − male",
    claims=claims_of("gender-of-writing"),
    findings=written_gender_findings,
    figures=(gender.differences(what="Share of sentences about a woman minus a man"),),
    tables=(
        tables.by_gender(
            (*KINDS, "disparity"),
            "shares of written sentences about a woman, a man, both, neither and someone "
            "nonbinary, and female minus male",
        ),
        reliability.reliability_table,
    ),
    evidence=evidence,
)


@dataclass(frozen=True, kw_only=True)
class WrittenGender(GenderMeasure):
    """A measure that turns REPLIES with a column for each of VARIANTS into SCORES."""

    name: ClassVar[str] = "gender-of-writing"
    reads: ClassVar[Reads] = "replies"
    presentation: ClassVar[Presentation] = WRITTEN_PRESENTATION
    choices: ClassVar[tuple[AnalyticChoice, ...]] = (ONE_WORDING, FIRST_NAMES)
    scores_controls: ClassVar[ControlScore | None] = "gender"

    def code_responses(
        self, answers: pl.DataFrame, prompts: pl.DataFrame, words: Lexicons, *, cased: bool
    ) -> pl.DataFrame:
        """Return the replies with the gender that each is about."""
        del cased  # a chat model's text has case
        return with_whom(answers, prompts, words.gender)

    def score_prompts(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return SCORES of the level prompt: the share of each kind of trial, in both variants."""
        ids = ["model", "prompt_id", "trial"]
        long = answers.unpivot(VARIANTS, index=ids, variable_name="variant", value_name="whom")
        shares = (
            long.sort("model", "prompt_id", "variant", "trial")
            .group_by("model", "prompt_id", "variant", maintain_order=True)
            .agg((pl.col("whom") == kind).mean().alias(kind) for kind in KINDS)
        )
        values = shares.with_columns(
            disparity=pl.col("female") - pl.col("male"),
            unspecified=1 - pl.col("female") - pl.col("male"),
        )
        reasons = dict.fromkeys((*KINDS, "unspecified", "disparity"), NO_REPLY)
        return prompt_scores(values, prompts, measure=self.name, reasons=reasons)

    def control(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return the share of each control's sentences that are about the gender it names."""
        is_right = pl.col("with-names").fill_null("") == pl.col("answer")
        return (
            answers.join(prompts.select("prompt_id", "answer"), on="prompt_id")
            .group_by("prompt_id", maintain_order=True)
            .agg(value=is_right.mean())
        )
