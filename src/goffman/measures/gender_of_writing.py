"""gender-of-writing: whom a sentence is about that a chat model was asked to write.

Each reply, by the words in it that name a gender (lexicons/gender.py):

    female, male   words of this gender and of no other
    both           female and male words
    nonbinary      nonbinary words, and neither female nor male ones
    neither        none of these

Of a prompt these are shares of its trials; the disparity is female − male. Always with and without
first names. The name of the condition counts for nothing: it stands in the request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from goffman.control_items import ControlScore
from goffman.estimates.cells import models_over_cells
from goffman.measures.base import Contrasts, Meaning, Reads
from goffman.measures.choices import FIRST_NAMES, ONE_WORDING, TEST_OF_GENDERS, Choice
from goffman.measures.choices_parsed import without_thoughts
from goffman.measures.gender_of_subject import DISPARITIES, VARIANTS
from goffman.measures.rows import means_by_item_and_condition, prompt_scores
from goffman.measures.said_code import NO_REPLY
from goffman.measures.scale import scale
from goffman.presentation import figures_described, tables_described, tables_reliability
from goffman.presentation.base import Answers, Claims, Presentation
from goffman.presentation.evidence import EVIDENCE, REPLY
from goffman.presentation.findings_written import KINDS, written_about

if TYPE_CHECKING:
    from goffman.lexicons.gender import GenderLexicon, GenderWord
    from goffman.lexicons.words import Words
    from goffman.presentation.section import Section

QUANTITIES = (*KINDS, "unspecified", "disparity")
"""unspecified: everything but female and male."""

COMPARED = ("female", "male", "unspecified", "disparity")

_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")


def whom(text: str, find: Callable[[str], GenderWord | None], *, names: bool) -> str:
    """Whom a text is about: one of KINDS."""
    found = {
        entry.group
        for word in _WORD.findall(text)
        for entry in _entries(word, find)
        if names or entry.kind != "name"
    }
    if {"female", "male"} <= found:
        return "both"
    return next((one for one in ("female", "male", "nonbinary") if one in found), "neither")


def _entries(word: str, find: Callable[[str], GenderWord | None]) -> Sequence[GenderWord]:
    """What is known of a word; of "Anna's" and of "ex-wife" what is known of its parts."""
    if (entry := find(word)) is not None:
        return [entry]
    parts = re.split(r"['’\-]", word)
    known = (find(part) for part in parts if len(parts) > 1)
    return [entry for entry in known if entry is not None]


def with_whom(replies: pl.DataFrame, prompts: pl.DataFrame, lexicon: GenderLexicon) -> pl.DataFrame:
    """The replies with a column for each of VARIANTS: whom each is about; null: no reply came."""
    find = lexicon.finder(cased=True)

    def counted(word: str) -> GenderWord | None:
        entry = find(word)
        return entry if entry is not None and lexicon.counts(entry) else None

    forms = prompts.select("prompt_id", "form")
    known = replies.join(forms, on="prompt_id", how="left", maintain_order="left")
    found: dict[tuple[str | None, str | None], tuple[str | None, ...]] = {}
    rows = []
    for text, form in known.select("text", "form").iter_rows():
        if (text, form) not in found:
            own = without_thoughts(text or "")
            if form:
                own = re.sub(re.escape(form), " ", own, flags=re.IGNORECASE)
            read = [whom(own, counted, names=one == "with-names") for one in VARIANTS]
            found[text, form] = tuple(read) if own.strip() else (None, None)
        rows.append(found[text, form])
    columns = dict.fromkeys(VARIANTS, pl.String)
    return replies.hstack(pl.DataFrame(rows, schema=columns, orient="row"))


def evidence(given: Answers, section: Section, words: Words | None, _most: int) -> pl.DataFrame:
    """A row for each trial: what was written, and whom it is about."""
    text = pl.col("text").fill_null("(no reply)")
    short = pl.when(text.str.len_chars() > REPLY).then(text.str.head(REPLY) + "…").otherwise(text)
    frame = given.frame.with_columns(label=pl.lit(None, dtype=pl.String))
    if words is not None:
        read = with_whom(given.frame, section.prompts, words.gender)
        frame = read.rename({"with-names": "label"})
    none = pl.lit(None, dtype=pl.Float64)
    rows = frame.with_columns(rank=pl.col("trial"), word=short, probability=none)
    return rows.select(EVIDENCE.names()).cast(EVIDENCE)


PRESENTATION = Presentation(
    quantity="disparity",
    called="female − male",
    axis="Share of sentences: female − male",
    claims=Claims(
        measured=(
            "A chat model is asked to write one sentence about someone who, for example, looks for "
            "treatment. The numbers are the shares of sentences with words for women only, for men "
            "only, for both and for neither."
        ),
        may=(
            "that a model writes about women more often than about men, or the reverse, and that "
            "this differs between the two groups of conditions"
        ),
        may_not="that a system built on the model treats patients in a certain way",
        beware=(
            (
                "Some of these conditions are diagnosed more often in women than in men. A gap is "
                "an association in text, which is not always an error."
            ),
            "A sentence about a woman that mentions her husband counts as about both.",
            "A refusal is a sentence about neither.",
            "Only two genders are compared; sentences about nonbinary people are shown separately.",
        ),
    ),
    findings=written_about,
    figures=(
        figures_described.differences(
            title="Sentences about women minus sentences about men",
            what="The share of sentences about a woman minus that of sentences about a man",
            right="more sentences are about women",
        ),
    ),
    tables=(
        tables_described.by_gender(
            (*KINDS, "disparity"),
            "shares of written sentences about a woman, a man, both, neither and someone "
            "nonbinary, and female minus male",
        ),
        tables_reliability.reliability,
    ),
    evidence=evidence,
    main=("groups", "genders"),
)


@dataclass(frozen=True, kw_only=True)
class GenderOfWriting:
    """REPLIES with a column for each of VARIANTS → SCORES."""

    contrast: str = "mental-health"
    against: str = "other"
    """The gap is the mean of the first group of conditions minus that of the second."""
    smallest: float = 0.05
    """The smallest difference that would matter, as a share of sentences."""
    name: ClassVar[str] = "gender-of-writing"
    reads: ClassVar[Reads] = "replies"
    words: ClassVar[Meaning | None] = "gender"
    quantity: ClassVar[str] = "disparity"
    of_prompts: ClassVar[str] = "disparity"
    unit: ClassVar[str] = "condition"
    beside: ClassVar[str | None] = None
    headline: ClassVar[tuple[str, str]] = ("genders", "probability")
    contrasts: ClassVar[tuple[tuple[str, Contrasts], ...]] = DISPARITIES
    between_runs: ClassVar[Contrasts] = (models_over_cells,)
    presentation: ClassVar[Presentation] = PRESENTATION
    choices: ClassVar[tuple[Choice, ...]] = (ONE_WORDING, FIRST_NAMES, TEST_OF_GENDERS)
    scores_controls: ClassVar[ControlScore] = "gender"

    def prepare(
        self, answers: pl.DataFrame, prompts: pl.DataFrame, words: Words, *, cased: bool
    ) -> pl.DataFrame:
        """The replies with whom each is about."""
        del cased  # a chat model's text has case
        return with_whom(answers, prompts, words.gender)

    def each(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """SCORES of the level prompt: over its trials the share of each kind, both variants."""
        long = answers.unpivot(
            list(VARIANTS), index=["model", "prompt_id", "trial"], variable_name="variant",
            value_name="whom",
        )  # fmt: skip
        of = pl.col("whom")
        shares = (
            long.sort("model", "prompt_id", "variant", "trial")
            .group_by("model", "prompt_id", "variant", maintain_order=True)
            .agg((of == kind).mean().alias(kind) for kind in KINDS)
        )
        values = shares.with_columns(
            disparity=pl.col("female") - pl.col("male"),
            unspecified=1 - pl.col("female") - pl.col("male"),
        )
        reasons = dict.fromkeys(QUANTITIES, NO_REPLY)
        return prompt_scores(values, prompts, measure=self.name, reasons=reasons)

    def means(self, scores: pl.DataFrame) -> pl.DataFrame:
        """SCORES of conditions, items, dimensions, groups and models."""
        means = means_by_item_and_condition(
            scores, contrast=self.contrast, against=self.against, compared=COMPARED
        )
        groups = (self.contrast, self.against)
        return pl.concat([means, scale(scores, quantity="disparity", groups=groups)])

    def control(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """The share of the sentences of each control that are about the gender it names."""
        whom = pl.col("with-names").fill_null("") == pl.col("answer")
        return (
            answers.join(prompts.select("prompt_id", "answer"), on="prompt_id")
            .group_by("prompt_id", maintain_order=True)
            .agg(value=whom.mean())
        )

    def __call__(self, answers: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
        """SCORES of every level."""
        scores = self.each(answers, prompts)
        return pl.concat([scores, self.means(scores)])
