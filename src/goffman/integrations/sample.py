"""A fixed sample of instruments, asked of one model in memory as often as somebody wants.

The prompts are those of ``goffman audit --limit N``, and they are measured as an audit measures
them: by the same measure, and the same contrast with its test and interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.analysis.estimate import corrected, is_primary, scored_by
from goffman.analysis.robustness import Headline
from goffman.analysis.score import load_words
from goffman.api.results import Estimate
from goffman.asking.in_training import questions_in_training
from goffman.asking.languages import check_languages, readings
from goffman.control_items import CONTROL, passes
from goffman.errors import InputError
from goffman.estimates.contrast import Comparing, Contrast
from goffman.estimates.sharing import sharing_of
from goffman.measures.controls import control_score
from goffman.models.in_memory import describe_in_memory, in_memory, set_aside, unwrapped
from goffman.models.tokens import has_case
from goffman.options import Listener
from goffman.presentation.numbers import number
from goffman.records import is_control
from goffman.reports.names import named_by
from goffman.runs.in_memory import answers_in_memory
from goffman.runs.plan import limits_for
from goffman.runs.pronouns import pronoun_forms, with_one_mask
from goffman.runs.recursion import roots, with_forms
from goffman.runs.voices import Choosing, Completing, Filling, Labelling, Scoring, Voice
from goffman.tables import prompt_table

if TYPE_CHECKING:
    from goffman.asking.prompts_asked import Question
    from goffman.measures.base import Measure
    from goffman.models.spec import Description
    from goffman.options import AskOptions, MeasureOptions


@dataclass(frozen=True, kw_only=True)
class Told:
    """What is asked of a model in training, and what its answers are measured with."""

    instruments: tuple[str, ...]
    asking: AskOptions
    measuring: MeasureOptions
    labels: Mapping[str, str] | None = None
    """What a classifier's own labels mean."""


class Sample:
    """The prompts, the model that is asked them, and how its answers are measured."""

    def __init__(self, model: Any, tokenizer: Any, *, name: str, told: Told) -> None:
        self._model = unwrapped(model)
        self._told = told
        what = describe_in_memory(self._model, tokenizer, name=name)
        self.notes: list[str] = []
        """What the user should know of the prompts."""
        self._questions = _questions(what, told, notes=self.notes)
        found = readings([one.question for one in self._questions], None)
        shipped = check_languages(found, told.measuring)
        measuring = told.measuring
        self._words = load_words(measuring.ratings, measuring.gender_words, shipped=shipped)
        with set_aside(self._model):
            self._asked = in_memory(self._model, tokenizer, what, labels=told.labels)
        self._cased = what.kind in {"causal", "chat"} or (
            what.kind == "masked" and has_case(self._asked.tokens)
        )

    def measured(self) -> tuple[list[Estimate], dict[str, float | None]]:
        """The main results as they are now, and by instrument the score on the control items."""
        estimates: list[Estimate] = []
        controls: dict[str, float | None] = {}
        for one in self._questions:
            with set_aside(self._model):
                answers = self._answers(one.question)
            found, control = one.measured(answers, self._words, self._asked.identity.name, self)
            estimates += found
            if one.controls.height:
                controls[one.question.instrument.id] = control
        return estimates, controls

    @property
    def instruments(self) -> list[str]:
        """What is asked, in each of its forms."""
        return [one.question.instrument.id for one in self._questions]

    @property
    def cased(self) -> bool:
        """Whether the model's words have case."""
        return self._cased

    @property
    def seed(self) -> int:
        """What every draw begins at."""
        return self._told.asking.seed

    def _answers(self, question: Question) -> pl.DataFrame:
        prompts = question.prompts
        if question.instrument.kind == "prefer":
            prompts = with_one_mask(prompts)
        voice = self._voice(question)
        nodes = roots(prompts)
        if isinstance(voice, Scoring):
            nodes = with_forms(nodes, pronoun_forms(prompts))
        limits = limits_for(self._asked.identity.device, batch_size=self._told.asking.batch_size)
        return answers_in_memory(voice, nodes, limits, question.settings)

    def _voice(self, question: Question) -> Voice:
        kind, settings, model = question.instrument.kind, question.settings, self._asked
        if kind == "complete" and settings:
            return Completing(model, settings)
        if kind == "choose":
            return Choosing(model, {one.id: one.options for one in question.prompts})
        if self._asked.identity.kind == "masked" and settings:
            return Filling(model, settings)
        return Labelling(model) if kind == "classify" else Scoring(model)


class _Question:
    """One instrument in one form, and the contrast that its heading is about."""

    def __init__(self, question: Question, measure: Measure) -> None:
        self.question, self.measure = question, measure
        self.asked, self.controls = (
            prompt_table([one for one in question.prompts if is_control(one) is wanted])
            for wanted in (False, True)
        )
        self._wordings = self.asked["wording"].unique(maintain_order=True).to_list()
        self._sharing = sharing_of(self.asked)
        self._known: Headline | None = None
        self._made: tuple[str, Any] | None = None

    def measured(
        self, answers: pl.DataFrame, words: Any, model: str, sample: Sample
    ) -> tuple[list[Estimate], float | None]:
        """The main result, and the score on the control items; answers as a run has them."""
        instrument, measure = self.question.instrument, self.measure
        said = _to(self.asked, answers)
        each = measure.each(
            measure.prepare(said, self.asked, words, cased=sample.cased), self.asked
        )
        control, failing = None, frozenset[str]()
        if self.controls.height and instrument.controls:
            said = measure.prepare(
                _to(self.controls, answers), self.controls, words, cased=sample.cased
            )
            scored = control_score(measure, said, self.controls, model=model)
            control = scored.filter(pl.col("quantity") == CONTROL)["value"].item()
            if not passes(control, instrument.controls.floor):
                failing = frozenset({model})
        table = corrected(
            self._headline(each, Comparing(seed=sample.seed)),
            {instrument.id: measure},
            unmeasurable={instrument.id: failing},
        )
        doubt = None
        if failing:
            doubt = f"control items {number(control)}" if control is not None else "no answers"
        named = named_by(table, {instrument.id: measure})
        return [Estimate(named=replace(one, not_measurable=doubt)) for one in named], control

    def _headline(self, each: pl.DataFrame, compare: Comparing) -> list[tuple[Contrast, Any]]:
        """The contrast that headings are about; once it is known, nothing else is calculated."""
        if self._known is not None and self._made is not None:
            quantity, make = self._made
            return list(self._primary(self._known.mine(each), quantity, make, compare))
        scores = pl.concat([each, self.measure.means(each)])
        for quantity, makes in self.measure.contrasts:
            for make in makes:
                if found := list(self._primary(scores, quantity, make, compare)):
                    self._made = quantity, make
                    self._known = Headline(
                        row=asdict(found[0][0]),
                        primary=pl.DataFrame(),
                        measure=self.measure,
                        wordings=self._wordings,
                        sharing=self._sharing,
                    )
                    return found
        return []

    def _primary(
        self, scores: pl.DataFrame, quantity: str, make: Any, compare: Comparing
    ) -> Iterator[tuple[Contrast, Any]]:
        """Of what one function makes, the contrast that headings are about."""
        name = self.question.instrument.id
        scored = scored_by(
            scores,
            name,
            self.measure,
            quantity,
            wordings=self._wordings,
            sharing=self._sharing,
            compare=compare,
        )
        return (one for one in make(scored) if is_primary(one[0], {name: self.measure}))


def _to(prompts: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    return answers.filter(pl.col("prompt_id").is_in(prompts["prompt_id"].implode()))


def _questions(what: Description, told: Told, *, notes: list[str]) -> list[_Question]:
    """What is asked; InputError where nothing of it has a number."""
    asked = questions_in_training(
        what,
        told.instruments,
        options=told.asking,
        listener=Listener(note=notes.append),
    )
    found = [_Question(one, one.measure) for one in asked if one.measure is not None]
    if not found:
        names = ", ".join(told.instruments)
        raise InputError(f"{names} names no measure in [settings], so there is nothing to follow.")
    return found
