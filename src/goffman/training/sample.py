"""A fixed sample of instruments, asked of one model in memory as often as needed.

The prompts are those of ``goffman audit --limit N``, and they are measured as in an audit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from goffman.api.results import Estimate
from goffman.contrasts.designs import Contrast, clusters_of
from goffman.contrasts.engine import MeasuredInstrument, judged
from goffman.errors import InputError, ModelError
from goffman.formatting import number
from goffman.gate.names import named_by
from goffman.instruments.types import (
    CONTROL,
    AnswerTable,
    InstrumentKind,
    Prompt,
    is_control,
    passes,
)
from goffman.languages import check_languages, lexicon_uses
from goffman.measures.base import Measure
from goffman.measures.controls import HIGH, control_score
from goffman.models.registry import ModelKind, model_kinds
from goffman.models.resolve import Description, describe_in_memory, in_memory, set_aside, unwrapped
from goffman.models.tokenizer import has_case
from goffman.options import AskOptions, Listener, MeasureOptions
from goffman.planning import PromptSet, Question, every_way, questions_of
from goffman.runs.batch_plan import BatchLimits, limits_for, prefetched, with_one_mask
from goffman.runs.mode_adapters import ModeAdapter, mode_adapter
from goffman.runs.recursive_masking import Node
from goffman.schemas import prompt_table
from goffman.scoring import load_words
from goffman.sensitivity.variations import Headline


def questions_in_training(
    what: Description,
    instruments: Sequence[str],
    *,
    options: AskOptions,
    listener: Listener,
) -> list[Question]:
    """Return the prompts of each instrument, as an audit of the saved model would ask them.

    Raise ModelError if nothing of an instrument can be asked of the model.
    """
    if what.kind not in model_kinds():
        raise ModelError(f"{what} It cannot be asked while it is trained.")
    row, prompt_sets = model_kinds()[what.kind], every_way(instruments, options)
    usable = [
        prompt_set
        for prompt_set in prompt_sets
        if table_in_training(row, prompt_set.instrument.kind) is not None
    ]
    for name in dict.fromkeys(prompt_set.instrument.base for prompt_set in prompt_sets):
        if not any(prompt_set.instrument.base == name for prompt_set in usable):
            of_name = [
                prompt_set for prompt_set in prompt_sets if prompt_set.instrument.base == name
            ]
            raise ModelError(_nothing(what, row, of_name))
    tables: dict[str, set[AnswerTable]] = {}
    for prompt_set in usable:
        if table := table_in_training(row, prompt_set.instrument.kind):
            tables[prompt_set.instrument.id] = {table}
    questions = questions_of(usable, options, listener, slowly=(), tables=tables)
    return [questions[prompt_set.instrument.id] for prompt_set in usable]


def table_in_training(row: ModelKind, kind: InstrumentKind) -> AnswerTable | None:
    """Return the table that holds the answers; None if there is none, or it needs replies."""
    table = row.table_for(kind)
    return None if table == "replies" else table


def _nothing(what: Description, row: ModelKind, prompt_sets: Sequence[PromptSet]) -> str:
    """Return the message that a model cannot be asked an instrument, and why."""
    name = prompt_sets[0].instrument.base
    modes = " or ".join(dict.fromkeys(prompt_set.instrument.mode for prompt_set in prompt_sets))
    if any(row.table_for(prompt_set.instrument.kind) for prompt_set in prompt_sets):
        return (
            f"{what} A model in training is asked for probabilities, not for replies, and "
            f"'{name}' in the mode {modes} needs replies. Audit its checkpoints instead."
        )
    needs = [
        entry.needed
        for entry in model_kinds().values()
        if any(table_in_training(entry, prompt_set.instrument.kind) for prompt_set in prompt_sets)
    ]
    requirement = f"needs {', or '.join(needs)}" if needs else "needs a model that replies in text"
    return f"{what} The instrument '{name}' in the mode {modes} {requirement}."


def answers_in_memory(
    adapter: ModeAdapter, prompts: Sequence[Prompt], limits: BatchLimits
) -> pl.DataFrame:
    """Return every row of the answers, as a run would have them on disk."""
    nodes = adapter.nodes(prompts)
    frames = [_step(adapter, nodes, limits, step=1)]
    for step in range(2, adapter.steps + 1):
        branches = adapter.children(nodes, frames[-1])
        nodes = [child for branch in branches.values() for child in branch]
        frames.append(_step(adapter, nodes, limits, step=step))
    return pl.concat(frames)


def _step(
    adapter: ModeAdapter, nodes: Sequence[Node], limits: BatchLimits, *, step: int
) -> pl.DataFrame:
    """Return the rows of one step, part by part as they would be written."""
    rows = []
    for block in prefetched(adapter, nodes, limits):
        for part in block.parts:
            answers = [
                adapter.checked(adapter.call.of(adapter.model, batch), batch)
                for batch in part.batches
            ]
            rows.append(adapter.rows(answers, part.refs(), step=step))
    return pl.concat(rows)


@dataclass(frozen=True, kw_only=True)
class SampleOptions:
    """What is asked of a model in training, and what its answers are measured with."""

    instruments: tuple[str, ...]
    asking: AskOptions
    measuring: MeasureOptions
    labels: Mapping[str, str] | None = None
    """What a classifier's own labels mean."""


class Sample:
    """A fixed set of prompts for one model, and the measures of its answers."""

    def __init__(self, model: Any, tokenizer: Any, *, name: str, options: SampleOptions) -> None:
        self._model = unwrapped(model)
        self._options = options
        description = describe_in_memory(self._model, tokenizer, name=name)
        self.notes: list[str] = []
        """What the user should know about the prompts."""
        listener = Listener(note=self.notes.append)
        questions = questions_in_training(
            description, options.instruments, options=options.asking, listener=listener
        )
        self._questions = [
            _Question(question, question.measure)
            for question in questions
            if question.measure is not None
        ]
        if not self._questions:
            names = ", ".join(options.instruments)
            raise InputError(
                f"{names} names no measure in [settings], so there is nothing to follow."
            )
        uses = lexicon_uses([entry.question for entry in self._questions], None)
        shipped = check_languages(uses, options.measuring)
        measuring = options.measuring
        self._words = load_words(measuring.ratings, measuring.gender_words, shipped=shipped)
        with set_aside(self._model):
            self._asked = in_memory(self._model, tokenizer, description, labels=options.labels)
        self._cased = description.kind in {"causal", "chat"} or (
            description.kind == "masked" and has_case(self._asked.tokens)
        )

    def measured(self) -> tuple[list[Estimate], dict[str, float | None]]:
        """Return the present main results, and by instrument the score on the control items."""
        estimates: list[Estimate] = []
        controls: dict[str, float | None] = {}
        for entry in self._questions:
            with set_aside(self._model):
                answers = self._answers(entry.question)
            results, control = entry.measured(
                answers, self._words, self._asked.identity.name, cased=self._cased
            )
            estimates += results
            if entry.controls.height:
                controls[entry.question.instrument.id] = control
        return estimates, controls

    @property
    def instruments(self) -> list[str]:
        """Return the ids of what is asked, in each of its modes."""
        return [entry.question.instrument.id for entry in self._questions]

    def _answers(self, question: Question) -> pl.DataFrame:
        prompts, kind = question.prompts, question.instrument.kind
        adapter = mode_adapter(self._asked, kind, prompts, question.settings)
        device, batch_size = self._asked.identity.device, self._options.asking.batch_size
        limits = limits_for(device, batch_size=batch_size)
        asked = with_one_mask(prompts) if kind == "prefer" else prompts
        return answers_in_memory(adapter, asked, limits)


class _Question:
    """One instrument in one mode, and the contrast that its heading is about."""

    def __init__(self, question: Question, measure: Measure) -> None:
        self.question, self.measure = question, measure
        self.asked, self.controls = (
            prompt_table(
                [prompt for prompt in question.prompts if is_control(prompt) is as_control]
            )
            for as_control in (False, True)
        )
        self._known: Headline | None = None

    def measured(
        self, answers: pl.DataFrame, words: Any, model: str, *, cased: bool
    ) -> tuple[list[Estimate], float | None]:
        """Return the main result and the control items' score; answers are as a run has them."""
        instrument, measure = self.question.instrument, self.measure

        def coded(prompts: pl.DataFrame) -> pl.DataFrame:
            selected = answers.filter(pl.col("prompt_id").is_in(prompts["prompt_id"].implode()))
            return measure.code_responses(selected, prompts, words, cased=cased)

        scores = measure.score_prompts(coded(self.asked), self.asked)
        control, failing = None, frozenset[str]()
        if self.controls.height and instrument.controls:
            scored = control_score(measure, coded(self.controls), self.controls, model=model)
            values = dict(scored.select("quantity", "value").rows())
            control, high = values[CONTROL], values[HIGH]
            if not passes(control, instrument.controls.floor, high):
                failing = frozenset({model})
        table = judged(
            self._headline(scores),
            {instrument.id: measure},
            unmeasurable={instrument.id: failing},
        )
        doubt = None
        if failing:
            doubt = f"control items {number(control)}" if control is not None else "no answers"
        results = named_by(table, {instrument.id: measure})
        return [
            Estimate(**{**vars(result), "not_measurable": doubt}) for result in results
        ], control

    def _headline(self, each: pl.DataFrame) -> list[tuple[Contrast, Any]]:
        """Return the contrast that headings are about; once it is known, compute nothing else."""
        if self._known is not None:
            estimate = self._known.recompute(self._known.select_scores(each))
            return [] if estimate is None else [(Contrast(**self._known.row), estimate)]
        scores = pl.concat([each, self.measure.aggregate(each)])
        shared: dict[str, Any] = {
            "measure": self.measure,
            "wordings": self.asked["wording"].unique(maintain_order=True).to_list(),
            "sharing": clusters_of(self.asked),
        }
        headline = MeasuredInstrument(id=self.question.instrument.id, **shared).headline(scores)
        if headline is not None:
            self._known = Headline(row=asdict(headline[0]), **shared)
        return [headline] if headline else []
