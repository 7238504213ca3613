"""gender-of-phrase: the probability that a phrase for a person names a woman, or a man.

Lin et al. (2022), question 2, by recursive masking: a gendered word at the mask ends its branch
with p1; otherwise the word is put back and one more is asked before it: a gendered one ends with
p1·p2; otherwise a third, with p1·p2·p3. The whole tree was asked, and branches end only here, so
any lexicon can score the stored answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from goffman.contrasts.catalog import (
    conditions_one_by_one,
    dimensions,
    disparity_over_baseline,
    genders,
    genders_as_asked,
    groups_of_cells,
    models_by_dimension,
    models_over_cells,
    wordings_over_cells,
)
from goffman.errors import InputError
from goffman.instruments.types import ControlScore
from goffman.measures.analytic_choices import (
    FIRST_NAMES,
    ONE_WORDING,
    AnalyticChoice,
    Option,
    StoredAnswers,
)
from goffman.measures.base import Contrasts, Reads
from goffman.measures.responses import prompt_scores, refuse_more
from goffman.measures.subject_gender import COMPARED, FIGURES, VARIANTS, GenderMeasure, persons
from goffman.presentation import reliability, tables
from goffman.presentation.evidence import phrases_with_gender
from goffman.presentation.gender import gender_findings
from goffman.presentation.section import UNSEEN_END, Claims, Presentation

_NODE = ("model", "prompt_id", "parent")
_REASON = "the words have no probability"

_OF_DISPARITY: Contrasts = (groups_of_cells, models_over_cells, dimensions, wordings_over_cells)

PRESENTATION = Presentation(
    # Without keying, which is for the means of a scale.
    quantity="disparity",
    called="female − male",
    axis="Female − male",
    ends=("more often men", "more often women"),
    claims=Claims(
        measured=(
            "The person is masked in statements of the Attribution Questionnaire, such as “I would "
            "feel angry at a ____ with …”. If the word names no gender, the model adds a word "
            "before it, up to three words in all (“young white man”). The numbers are the "
            "probabilities of phrases that name a woman or a man."
        ),
        supports=(
            "that, over all these statements together, a model names women more than men, or the "
            "reverse (for a claim about one dimension, its own result must be clear)"
        ),
        does_not_support="that the model itself fears, pities or blames anyone",
        caveats=(
            (
                "In numbers called reverse-keyed, the sign of the statements that the instrument "
                "marks as reversed is flipped (in attribution, the three on avoidance). In all "
                "other numbers it is not."
            ),
            "Phrases that name no gender are shown as unspecified, nonbinary ones by themselves.",
            (
                "At each place, only the most probable words are counted and extended (ten, unless "
                "set otherwise); there is no minimum probability. “goffman stress” shows the "
                "result with half as many. More would need a new audit."
            ),
            "Some of these conditions are diagnosed more often in women, others more often in men.",
        ),
    ),
    findings=gender_findings,
    figures=FIGURES,
    tables=(tables.genders, reliability.reliability_table),
    evidence=phrases_with_gender,
    main=("groups", "genders", "genders-as-asked"),
    phrases=True,
    keyed=True,
)


def _widths(stored: StoredAnswers) -> list[Option]:
    """Return options for all words that were put back at each mask, and for half of them."""
    width = _put_back(stored.answers)
    half = Option(said=f"{width // 2} words", parameters={"top_k": width // 2})
    return [Option(said=f"{width} words"), *([half] if width > 1 else [])]


def _depths(stored: StoredAnswers) -> list[Option]:
    """Return options for phrases as long as they were asked, and for shorter ones."""
    longest = _largest(stored.answers["step"])
    return [
        Option(said=f"up to {depth}", parameters={"depth": depth} if depth < longest else {})
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
    """Whether only branches that ended in such a word are stored, as in published files: of the
    others nothing is known."""
    name: ClassVar[str] = "gender-of-phrase"
    reads: ClassVar[Reads] = "fills"
    quantity: ClassVar[str] = "keyed-disparity"
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]] = (
        ("keyed-disparity", _OF_DISPARITY),
        (
            "disparity",
            (
                genders,
                genders_as_asked,
                *_OF_DISPARITY,
                disparity_over_baseline,
                models_by_dimension,
                *conditions_one_by_one,
            ),
        ),
    )
    compared: ClassVar[tuple[str, ...]] = (*COMPARED, "keyed-disparity")
    presentation: ClassVar[Presentation] = PRESENTATION
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

    @property
    def counted_words(self) -> int | None:
        """Return how many of the stored words count at each mask, or None if all do."""
        return self.top_k

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
        reasons = dict.fromkeys(names, _REASON)
        if self.ended_only:
            unknown = ("unspecified", "outside", UNSEEN_END)
            values = values.with_columns(pl.lit(None, pl.Float64).alias(name) for name in unknown)
            reasons |= dict.fromkeys(unknown, "only branches that ended were stored")
        return prompt_scores(values, prompts, measure=self.name, reasons=reasons)

    def control(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """Return the probability of phrases whose last word, at the mask, is the right person."""
        return persons(self._counted(answers).filter(pl.col("step") == 1), prompts)

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
        """Return the probability in which branches end, by prompt, model and gender group."""
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
        # A prompt's branches are then in one order, and so is their sum; prompts need not be.
        branches = pl.concat([*endings, reached]).sort("path")
        p, ends = pl.col("p"), pl.col("ends")
        sums = branches.group_by(_NODE[:2], maintain_order=True).agg(
            *(p.filter(ends & (group == name)).sum().alias(name) for name in self.ends),
            p.filter(~ends).sum().alias("unspecified"),
            (1 - p.sum()).alias("outside"),
        )
        return sums.join(unseen_ends, on=_NODE[:2], how="left", maintain_order="left")


def _put_back(fills: pl.DataFrame) -> int:
    """Return how many words were put back at each mask, or are stored, if none was put back."""
    parents = fills.filter(pl.col("step") > 1, pl.col("rank").is_not_null())["parent"]
    if not parents.len():
        return _largest(fills["rank"].drop_nulls())
    return _largest(parents.unique().str.split("/").list.last().cast(pl.Int64))


def _largest(numbers: pl.Series) -> int:
    return int(numbers.to_numpy().max(initial=1))
