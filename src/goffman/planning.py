"""Decide which model is asked which prompts, in which modes, before any model is asked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from goffman.config import (
    FILLS,
    GENERATES,
    HEEDED_BY,
    HERE,
    REPLIES,
    SERVED,
    Sample,
    audit_options,
    flag_of,
    settings_by_instrument,
)
from goffman.errors import InputError, ModelError, did_you_mean
from goffman.formatting import join_words
from goffman.instruments.identities import can_cross, with_system
from goffman.instruments.loader import builtin_names
from goffman.instruments.paraphrases import ON_REQUEST
from goffman.instruments.renderer import (
    CHOICES,
    PromptOptions,
    cannot_cross,
    has_paraphrases,
    render,
    render_crossed,
    setting_names,
)
from goffman.instruments.subsample import SUBSAMPLED_KINDS
from goffman.instruments.types import (
    AnswerTable,
    Identities,
    Instrument,
    InstrumentKind,
    Prompt,
    Questionnaire,
    SentencePairs,
    is_control,
    slug_of,
)
from goffman.measures.registry import measure_of
from goffman.models.base import LoadOptions
from goffman.models.registry import answers_to, model_kinds
from goffman.models.resolve import describe
from goffman.models.server_address import behind_server
from goffman.modes import modes_named
from goffman.options import AskOptions, Listener
from goffman.runs.batch_plan import settings_of, with_one_mask
from goffman.runs.mode_adapters import pronoun_forms
from goffman.runs.recursive_masking import Settings
from goffman.runs.run import IDENTITIES, PARAPHRASES

if TYPE_CHECKING:
    from goffman.instruments.renderer import Rendered
    from goffman.measures.base import Measure
    from goffman.models.base import Fills
    from goffman.models.registry import ModelKind
    from goffman.models.resolve import Description


@dataclass(frozen=True, kw_only=True)
class PromptSet:
    """An instrument in one of the modes in which it can be asked."""

    instrument: Instrument
    settings: PromptOptions = field(default_factory=PromptOptions)
    """The settings of the instrument that the user changed."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """An instrument with the prompts and settings with which it is asked."""

    instrument: Instrument
    prompts: Sequence[Prompt]
    """The prompts; those of the instrument's controls come last."""
    settings: Settings | None
    """How its masks are asked; None if it has no masks."""
    measure: Measure | None
    """The measure of its answers; None if the instrument names none."""
    trials: int = 1
    """How often each prompt is asked, in a fresh chat each time."""
    chosen: PromptOptions = field(default_factory=PromptOptions)
    """The options that these prompts were rendered with, their sample among them."""
    every: int | None = None
    """How often all prompts and trials would be asked; None if these are all."""
    in_all: int | None = None
    """How many prompts the instrument has, without those of controls, if these are a sample;
    None if these are all, or those that the user chose."""
    parts: Mapping[Sample, frozenset[str]] = field(default_factory=dict)
    """The prompt ids of the smaller samples, the smallest first; they are asked first, so that a
    run with one of them can be continued."""
    identities: Identities | None = None
    """The factor whose levels the prompts show; None if they show no second identity."""

    @property
    def expected(self) -> int:
        """Return about how many sentences or requests the question takes a model."""
        if answers_to(self.instrument.kind) == "replies":
            return len(self.prompts) * self.trials
        depth, width = (self.settings.depth, self.settings.width) if self.settings else (1, 1)
        texts = len({prompt.asked for prompt in self.prompts})
        return int(texts * sum(width**step for step in range(depth)))

    def part(self, sample: Sample) -> list[Prompt]:
        """Return the prompts of a smaller sample."""
        ids = self.parts.get(sample, frozenset())
        return [prompt for prompt in self.prompts if prompt.id in ids]


def questions_of(
    prompt_sets: Sequence[PromptSet],
    options: AskOptions,
    listener: Listener,
    *,
    slowly: Collection[str],
    tables: Mapping[str, Collection[AnswerTable]],
) -> dict[str, Question]:
    """Return, by instrument id, the questions with their prompts and settings.

    ``slowly``: the ids of the instruments that some model is slow with. ``tables``: the tables that
    the answers go to; an option that none of them heeds is treated as not given, so that a run does
    not remember it.
    """
    questions: dict[str, Question] = {}
    noted_ids: set[str] = set()
    limit = options.limit
    for prompt_set in prompt_sets:
        instrument = prompt_set.instrument
        answer_tables = tables.get(instrument.id, set())
        chosen = _chosen_prompts(prompt_set, options, slowly=instrument.id in slowly)
        rendered = render(instrument, chosen)
        if instrument.base not in noted_ids:
            # Noted once, even if sentence pairs are asked in two modes.
            noted_ids.add(instrument.base)
            for action, faults in _faults_of(rendered):
                listener.note(f"{instrument.base}: {action}: {faults}.")
        measure = measure_of(instrument)
        # A few prompts need their controls as much as all prompts do.
        scored = options.controls and measure and measure.scores_controls
        controls = rendered.controls if scored else ()
        main_prompts: Sequence[Prompt] = rendered.prompts
        if limit is not None and limit < len(main_prompts):
            # Whole conditions, one of each group in turn, so that groups can be compared.
            main_prompts = interleaved(main_prompts)[:limit]
        all_prompts = (*main_prompts, *controls)
        all_parts = rendered.parts if limit is None else {}
        prompts, parts = _as_asked(all_prompts, all_parts, instrument, options)
        questions[instrument.id] = Question(
            instrument=instrument,
            prompts=prompts,
            settings=_settings(instrument, prompts, options, answer_tables),
            measure=measure,
            chosen=chosen,
            trials=_trials(instrument, options) if "replies" in answer_tables else 1,
            every=_every(rendered, instrument, options, controls=bool(controls)),
            in_all=rendered.every[0] if rendered.every and limit is None else None,
            parts=parts,
        )
    return questions


def _as_asked(
    prompts: Sequence[Prompt],
    parts: Mapping[Sample, Collection[str]],
    instrument: Instrument,
    options: AskOptions,
) -> tuple[Sequence[Prompt], dict[Sample, frozenset[str]]]:
    """Return prompts and the ids of smaller samples, with the system prompt added."""
    asked = with_system(prompts, instrument, options.system)
    pairs = list(zip(prompts, asked, strict=True))
    return asked, {
        name: frozenset(after.id for before, after in pairs if before.id in ids)
        for name, ids in parts.items()
    }


def paraphrased_questions(asked: Question, options: AskOptions) -> Question | None:
    """Return the question in the wordings asked on request; None if there are no such wordings."""
    instrument, chosen = asked.instrument, asked.chosen
    if chosen.file is not None or not has_paraphrases(instrument):
        return None
    if not isinstance(instrument.content, Questionnaire):
        # Adjectives are no part of the main result, and would make sixteen times as many prompts.
        chosen = replace(chosen, adjectives=["none"])
    rendered = render(instrument, replace(chosen, wordings=[ON_REQUEST]))
    cells = set(map(_cell, asked.prompts))
    parts = {name: set(map(_cell, asked.part(name))) for name in rendered.parts}
    part_ids = {
        name: ids & {prompt.id for prompt in rendered.prompts if _cell(prompt) in parts[name]}
        for name, ids in rendered.parts.items()
    }
    prompts = [prompt for prompt in rendered.prompts if _cell(prompt) in cells]
    every = _every(rendered, instrument, replace(options, limit=None), controls=False)
    digest = instrument.paraphrases.digest
    return replace(_again(asked, options, prompts, part_ids, digest), every=every)


def crossed_questions(asked: Question, options: AskOptions) -> Question | None:
    """Return the question about people of each identity; None if the prompts cannot show one."""
    instrument, chosen, factor = asked.instrument, asked.chosen, options.cross
    if factor is None or chosen.file is not None or not can_cross(instrument, factor):
        return None
    rendered = render_crossed(instrument, factor, chosen)
    cells = {(prompt.wording, *_cell(prompt)) for prompt in asked.prompts}
    prompts = [prompt for prompt in rendered.prompts if (prompt.wording, *_cell(prompt)) in cells]
    parts = rendered.parts if options.limit is None else {}
    again = _again(asked, options, prompts, parts, factor.digest)
    return replace(again, every=None, in_all=None, identities=factor)


def _again(
    asked: Question,
    options: AskOptions,
    prompts: Sequence[Prompt],
    parts: Mapping[Sample, Collection[str]],
    digest: str,
) -> Question:
    """Return the question with other prompts, which come from a file of this digest."""
    instrument = asked.instrument
    final_prompts, final_parts = _as_asked(prompts, parts, instrument, options)
    renamed = replace(instrument, digest=instrument.digest + digest)
    return replace(asked, instrument=renamed, prompts=final_prompts, parts=final_parts)


def _cell(prompt: Prompt) -> tuple[str, str, str | None]:
    """Return item, condition and form of a prompt, which its wordings share."""
    return prompt.item, prompt.condition, prompt.form


def interleaved(prompts: Sequence[Prompt]) -> list[Prompt]:
    """Return the prompts sorted by condition, with one condition of each group in turn."""
    places: dict[str, dict[str, int]] = {}
    for prompt in prompts:
        group_places = places.setdefault(prompt.group, {})
        group_places.setdefault(prompt.condition, len(group_places))
    groups = list(places)
    return sorted(
        prompts,
        key=lambda prompt: (places[prompt.group][prompt.condition], groups.index(prompt.group)),
    )


def _every(
    rendered: Rendered, instrument: Instrument, options: AskOptions, *, controls: bool
) -> int | None:
    """Return how often the whole instrument would be asked; None if all of it is asked."""
    if rendered.every is None:
        return None
    prompt_count, control_count = rendered.every
    if options.limit is not None:
        prompt_count = min(prompt_count, options.limit)
    trials = _trials(instrument, replace(options, sample="all"))
    return (prompt_count + (control_count if controls else 0)) * trials


def _trials(instrument: Instrument, options: AskOptions) -> int:
    """Return how often each prompt is asked: as the user says, else as the instrument does."""
    if options.chats.trials is not None:
        return options.chats.trials
    if options.sample != "all" and instrument.kind in SUBSAMPLED_KINDS:
        return 1
    return int(instrument.settings.get("trials", 1))


def _settings(
    instrument: Instrument,
    prompts: Sequence[Prompt],
    options: AskOptions,
    tables: Collection[AnswerTable],
) -> Settings | None:
    """Return the settings for masks; at a pronoun, both forms are target words."""
    if answers_to(instrument.kind) != "fills":
        return None
    heeded = "fills" in tables
    targets = set(options.targets) if heeded else set()
    if instrument.kind == "prefer":
        targets |= {form for forms in pronoun_forms(prompts).values() for form in forms}
    return settings_of(instrument, top_k=options.top_k if heeded else None, targets=targets)


def _chosen_prompts(prompt_set: PromptSet, options: AskOptions, *, slowly: bool) -> PromptOptions:
    """Return the options to render; the sample is balanced by default if some model takes long."""
    instrument, settings = prompt_set.instrument, prompt_set.settings
    no_answer = options.no_answer if instrument.kind in CHOICES else None
    sample = options.sample or ("balanced" if slowly else "all")
    has_pairs = isinstance(instrument.content, SentencePairs)
    is_drawn = has_pairs and (settings.winobias is None or settings.pairs is not None)
    seed = options.seed if is_drawn else None
    return replace(settings, no_answer=no_answer, sample=sample, seed=seed)


def asked_prompts(question: Question, note: Callable[[str], None]) -> Sequence[Prompt]:
    """Return the prompts asked of a model on this machine; note how many sentences are left out."""
    if question.instrument.kind != "prefer":
        return question.prompts
    prompts = with_one_mask(question.prompts)
    if left_out := len(question.prompts) - len(prompts):
        note(
            f"{question.instrument.id}: {left_out:,} sentences are left out, because more than one "
            "pronoun is marked in them."
        )
    return prompts


def counted(prompts: Sequence[Prompt]) -> str:
    """Return the number of prompts, and of control prompts, as text."""
    controls = sum(map(is_control, prompts))
    control_text = f" and {controls:,} control prompts" if controls else ""
    return f"{len(prompts) - controls:,} prompts{control_text}"


def _faults_of(rendered: Rendered) -> Iterator[tuple[str, str]]:
    """Yield messages about faulty sentence pairs, each with up to three of them."""
    actions = (("left out", rendered.left_out), ("kept, but please check", rendered.remarks))
    for action, faults in actions:
        if faults:
            more = f"; and {len(faults) - 3:,} more" if len(faults) > 3 else ""
            yield action, "; ".join(str(fault).rstrip(".") for fault in faults[:3]) + more


MOST = {"--limit": 10**9, "--batch-size": 10**6, "--trials": 10**4}
"""The largest values allowed: lists of more would fill the memory."""


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """A model and the questions that it is asked."""

    model: str
    kind: str
    """The kind of the model: see models/registry.py."""
    questions: Sequence[Question]
    beside: Mapping[str, Question] = field(default_factory=dict)
    """By the id of a question answered in text: the same question for the options' probabilities,
    which a server may give with its replies."""

    @property
    def in_text(self) -> list[Question]:
        """Return the questions that a chat model answers in text."""
        return [
            question
            for question in self.questions
            if table_of(self.model, self.kind, question.instrument) == "replies"
        ]


def assign(
    models: Sequence[str],
    instruments: Sequence[str],
    *,
    loading: LoadOptions,
    options: AskOptions,
    listener: Listener,
) -> list[Assignment]:
    """Return the assignment of questions to each model.

    Instruments that a model cannot answer are left out for it, with a note. Raise ModelError for a
    model without any question, and for an instrument that the user named and no model can answer.
    """
    prompt_sets = every_way(instruments, options)
    named = bool(instruments)
    descriptions = [describe(model, loading) for model in dict.fromkeys(models)]
    chosen = [_chosen(prompt_sets, description, named=named) for description in descriptions]
    used_ids = {prompt_set.instrument.base for model in chosen for prompt_set in model.prompt_sets}
    for name in options.settings:
        if (instrument := name.rpartition(".")[0]) not in used_ids:
            listener.note(
                f"--set {name} has no effect, because none of these models can be asked "
                f"{instrument}."
            )
    for model in chosen:
        if options.modes and not model.prompt_sets:
            raise ModelError(
                f"{model.description} It cannot be asked in the mode {' or '.join(options.modes)}. "
                "Leave out --mode to ask it in every mode that it can answer."
            )
    _check(prompt_sets, chosen, listener=listener, named=named)
    slow_ids: set[str] = set()
    tables: dict[str, set[AnswerTable]] = {}
    for model in chosen:
        slow_ids |= {prompt_set.instrument.id for prompt_set in model.beside.values()}
        for prompt_set in (*model.prompt_sets, *model.beside.values()):
            id_, kind = prompt_set.instrument.id, prompt_set.instrument.kind
            table = table_of(model.name, model.description.kind, prompt_set.instrument)
            tables.setdefault(id_, set()).update({table} if table else ())
            if answers_to(kind) == "replies" or (
                kind in SUBSAMPLED_KINDS and behind_server(model.name)
            ):
                slow_ids.add(id_)
    # Prompts that no model is asked are not rendered: coreference has 12,640 prompts.
    asked_sets = [prompt_set for prompt_set in prompt_sets if prompt_set.instrument.id in tables]
    questions = questions_of(asked_sets, options, listener, slowly=slow_ids, tables=tables)
    return [
        Assignment(
            model=model.name,
            kind=model.description.kind,
            questions=[questions[prompt_set.instrument.id] for prompt_set in model.prompt_sets],
            beside={
                id_: questions[prompt_set.instrument.id] for id_, prompt_set in model.beside.items()
            },
        )
        for model in chosen
    ]


@dataclass(frozen=True, kw_only=True)
class _Chosen:
    """A model, and the modes of instruments in which it is asked."""

    description: Description
    prompt_sets: Sequence[PromptSet]
    beside: Mapping[str, PromptSet]
    """See Assignment."""

    @property
    def name(self) -> str:
        """Return the model's name, as the user gave it."""
        return self.description.name


def table_of(model: str, kind: str, instrument: Instrument) -> AnswerTable | None:
    """Return the table for a model's answers to an instrument; None if it gives none."""
    return model_kinds()[kind].table_for(instrument.kind, served=behind_server(model))


def who_can_answer(models: Sequence[str], instruments: Sequence[str]) -> list[str]:
    """Return the models that can be asked at least one of the instruments."""
    prompt_sets = every_way(instruments, AskOptions())
    return [
        model
        for model in models
        if _chosen(prompt_sets, describe(model), named=bool(instruments)).prompt_sets
    ]


def _chosen(prompt_sets: Sequence[PromptSet], description: Description, *, named: bool) -> _Chosen:
    """Return in which modes a model can be asked; ``named``: the user named the instruments."""
    model, kind = description.name, description.kind
    served = behind_server(model)

    def fits(instrument: Instrument) -> bool:
        # Saves a request: the gender of the person is read in what a server writes.
        if instrument.kind == "complete" and instrument.writing and served:
            return False
        if not (named or _is_asked(kind, instrument)):
            return False
        return kind in model_kinds() and table_of(model, kind, instrument) is not None

    fitting = [prompt_set for prompt_set in prompt_sets if fits(prompt_set.instrument)]
    by_probability = {
        prompt_set.instrument.base: prompt_set
        for prompt_set in prompt_sets
        if served and prompt_set.instrument.kind == "choose"
    }
    beside = {
        prompt_set.instrument.id: by_probability[prompt_set.instrument.base]
        for prompt_set in fitting
        if prompt_set.instrument.kind == "say" and prompt_set.instrument.base in by_probability
    }
    return _Chosen(description=description, prompt_sets=fitting, beside=beside)


def _is_asked(kind: str, instrument: Instrument) -> bool:
    """Return whether a kind of model is asked the instrument if the user names no instrument."""
    return not instrument.by_default or kind in instrument.by_default


def every_way(instruments: Sequence[str], options: AskOptions) -> list[PromptSet]:
    """Return the modes in which the instruments can be asked; each id once."""
    numbers = (options.limit, options.batch_size, options.chats.trials)
    for (option, most), value in zip(MOST.items(), numbers, strict=True):
        if value is not None and not 1 <= value <= most:
            raise InputError(f"{option} is {value}. Allowed: a whole number from 1 to {most:,}.")
    all_modes: list[Instrument] = []
    for name in dict.fromkeys(instruments or builtin_names()):
        for new in modes_named(name)[1]:
            if any(slug_of(new.id) == slug_of(instrument.id) for instrument in all_modes):
                raise InputError(f"Two instruments have the id '{new.id}'. Give only one of them.")
            all_modes.append(new)
    modes = list(dict.fromkeys(instrument.mode for instrument in all_modes))
    for mode in options.modes:
        if mode not in modes:
            raise InputError(
                f"--mode is '{mode}'. Allowed here: {', '.join(modes)}.{did_you_mean(mode, modes)}"
            )
    chosen = [
        instrument
        for instrument in all_modes
        if not options.modes or instrument.mode in options.modes
    ]
    names = {instrument.base: setting_names(instrument) for instrument in chosen}
    settings = settings_by_instrument(options.settings, names)
    return [
        PromptSet(
            instrument=instrument, settings=PromptOptions(**settings.get(instrument.base, {}))
        )
        for instrument in chosen
    ]


def _check(
    prompt_sets: Sequence[PromptSet], chosen: Sequence[_Chosen], *, listener: Listener, named: bool
) -> None:
    """Raise ModelError for a model without any question, or a named instrument without a model."""
    kinds_by_id: dict[str, list[InstrumentKind]] = {}
    unnamed = {
        prompt_set.instrument.base: prompt_set.instrument for prompt_set in prompt_sets if not named
    }
    for prompt_set in prompt_sets:
        kinds_by_id.setdefault(prompt_set.instrument.base, []).append(prompt_set.instrument.kind)
    unasked = dict(kinds_by_id)
    for model in chosen:
        model_ids = {prompt_set.instrument.base for prompt_set in model.prompt_sets}
        skipped: dict[str, list[str]] = {}
        for name, kinds in kinds_by_id.items():
            if name in model_ids:
                unasked.pop(name, None)
            elif name not in unnamed or _is_asked(model.description.kind, unnamed[name]):
                able = join_words([row.name for row in _able(kinds)], "or")
                skipped.setdefault(able, []).append(name)
        if model_ids and skipped:
            reasons = "; ".join(
                f"{', '.join(names)} (need{'s' if len(names) == 1 else ''} a {able} model)"
                for able, names in skipped.items()
            ).replace("classifier model", "classifier")
            listener.note(f"Skipped for {model.name}: {reasons}.")
        if not model_ids:
            reason = _needs(kinds_by_id) if named else "No instrument fits it."
            raise ModelError(f"{model.description} {reason}")
    if named and unasked:
        raise ModelError(f"None of the models can be asked these questions. {_needs(unasked)}")


def _needs(asked: Mapping[str, Sequence[InstrumentKind]]) -> str:
    """Return a sentence for each instrument that says which models can answer it, by its modes."""
    return " ".join(
        f"The instrument '{name}' needs {', or '.join(row.needed for row in _able(kinds))}."
        for name, kinds in asked.items()
    )


def _able(kinds: Sequence[InstrumentKind]) -> list[ModelKind]:
    """Return the kinds of models that can answer an instrument in one of its modes."""
    return [row for row in model_kinds().values() if any(map(row.table_for, kinds))]


@dataclass(frozen=True, kw_only=True)
class Further:
    """A run within the run: paraphrases or second identities, which the user requested."""

    name: str
    """The name of its folder; readers see it after the name of the instrument."""
    assignments: Sequence[Assignment]
    cost: str
    """What its prompts are, for a sentence: in other wordings (--paraphrases)."""

    def called(self, instrument: str) -> str:
        """Return the name of an instrument in messages about this run."""
        return f"{instrument}, {self.name}"

    def describe(self) -> Iterator[str]:
        """Yield a sentence for each model: how many more prompts it is asked."""
        for assignment in self.assignments:
            count = sum(
                len(question.prompts) * question.trials for question in assignment.questions
            )
            yield f"{assignment.model} is asked another {count:,} prompts {self.cost}."

    def listener(self, listener: Listener) -> Listener:
        """Return a listener whose messages name this further run."""
        # Notes about a model itself were given with the main prompts.
        of_models = tuple(f"{assignment.model}: " for assignment in self.assignments)

        def note(text: str) -> None:
            if not text.startswith(of_models):
                listener.note(f"{self.name.capitalize()}: {text}")

        return replace(
            listener,
            progress=lambda update: listener.progress(
                replace(update, instrument=self.called(update.instrument))
            ),
            note=note,
            detail=lambda _: None,
        )


def assign_further(
    assignments: Sequence[Assignment], options: AskOptions, *, listener: Listener
) -> list[Further]:
    """Return the runs for paraphrases and for second identities that were requested.

    Raise InputError if identities were requested and no instrument can show one.
    """
    runs = []
    if options.paraphrases:
        further_assignments = _assign_again(
            assignments, lambda question: paraphrased_questions(question, options)
        )
        cost = "in other wordings (--paraphrases)"
        runs.append(Further(name=PARAPHRASES, assignments=further_assignments, cost=cost))
    if factor := options.cross:
        further_assignments = _assign_again(
            assignments, lambda question: crossed_questions(question, options)
        )
        _check_crossed(assignments, further_assignments, factor, listener)
        cost = f"about people with a second identity (--cross {factor.id})"
        runs.append(Further(name=IDENTITIES, assignments=further_assignments, cost=cost))
    return [further for further in runs if further.assignments]


def _check_crossed(
    assignments: Sequence[Assignment],
    crossed: Sequence[Assignment],
    factor: Identities,
    listener: Listener,
) -> None:
    """Raise InputError if no instrument can show an identity; note the instruments that cannot."""
    all_ids, able_ids = (
        list(
            dict.fromkeys(
                question.instrument.base
                for assignment in group
                for question in assignment.questions
            )
        )
        for group in (assignments, crossed)
    )
    unable_ids = [id_ for id_ in all_ids if id_ not in able_ids]
    if not able_ids:
        raise cannot_cross(unable_ids, factor)
    if unable_ids:
        listener.note(f"--cross {factor.id} has no effect on {join_words(unable_ids)}.")


def _assign_again(
    assignments: Sequence[Assignment], make: Callable[[Question], Question | None]
) -> list[Assignment]:
    """Return the assignments with the questions that ``make`` returns in place of their own.

    A question for which it returns None is left out.
    """
    questions = {
        question.instrument.id: question
        for assignment in assignments
        for question in (*assignment.questions, *assignment.beside.values())
    }
    remade = {id_: again for id_, question in questions.items() if (again := make(question))}
    remade_assignments = [
        replace(
            assignment,
            questions=[
                remade[question.instrument.id]
                for question in assignment.questions
                if question.instrument.id in remade
            ],
            beside={
                id_: remade[question.instrument.id]
                for id_, question in assignment.beside.items()
                if remade.keys() >= {id_, question.instrument.id}
            },
        )
        for assignment in assignments
    ]
    return [assignment for assignment in remade_assignments if assignment.questions]


LONGEST_PART = 255
"""Bytes between two slashes: no file name has more."""


def check_names(models: Sequence[str]) -> None:
    """Raise ModelError if a name is longer than that of any folder or model."""
    for model in models:
        longest = max(len(part.encode()) for part in model.split("/"))
        if longest > LONGEST_PART:
            raise ModelError(
                f"The model's name '{model[:60]}…' is too long. Each part between slashes can "
                f"have up to {LONGEST_PART} bytes, but one has {longest:,}."
            )


def check_options(
    kinds: Mapping[str, str], *, labels: Mapping[str, str] | None, pairs: Sequence[tuple[str, str]]
) -> None:
    """Raise InputError if labels or pairs fit none of the models, by their kinds."""
    if labels is not None and "classifier" not in kinds.values():
        raise InputError(
            f"--labels is only for classifiers, and you gave none ({', '.join(kinds)}). Add a "
            "classifier, or leave out --labels."
        )
    for pair in pairs:
        for name, answers in zip(pair, ("fills", "labels"), strict=True):
            if name not in kinds:
                raise InputError(
                    f"--correlate names '{name}', which this audit does not "
                    f"ask.{did_you_mean(name, kinds)} Add it as a model: goffman audit "
                    f"{' '.join([*kinds, name])} --correlate {'='.join(pair)}"
                )
            if model_kinds()[kinds[name]].answers != answers:
                raise InputError(
                    f"--correlate is {'='.join(pair)}, but '{name}' is a {kinds[name]} model. "
                    "Write BASE=CLASSIFIER: a masked model, and a classifier that was fine-tuned "
                    "from it."
                )


def options_without_effect(assignments: Sequence[Assignment], options: AskOptions) -> Iterator[str]:
    """Yield a sentence for each option that none of the models heeds."""
    instruments = [
        question.instrument for assignment in assignments for question in assignment.questions
    ]
    tables = {
        table_of(assignment.model, assignment.kind, question.instrument)
        for assignment in assignments
        for question in assignment.questions
    }
    served = {behind_server(assignment.model) for assignment in assignments}
    heeded = {
        FILLS: "fills" in tables,
        REPLIES: "replies" in tables,
        GENERATES: any(
            instrument.kind in (*SUBSAMPLED_KINDS, "choose") for instrument in instruments
        ),
        SERVED: True in served,
        HERE: False in served,
    }
    options_by_name = audit_options()
    for requirement in HEEDED_BY:
        for name in options.given:
            if options_by_name[name].heeded_by == requirement and not heeded[requirement]:
                yield f"{flag_of(name)} has no effect, because this audit has no {requirement}."


def check_top_k(model: Fills, assignment: Assignment) -> None:
    """Raise InputError for a --top-k above the vocabulary, before the run stores it."""
    for question in assignment.questions:
        if question.settings and question.settings.top_k > len(model.tokens):
            raise InputError(
                f"--top-k is {question.settings.top_k} for {question.instrument.id}, but "
                f"'{assignment.model}' knows only {len(model.tokens)} words. Allowed: 1 to "
                f"{len(model.tokens)}."
            )
