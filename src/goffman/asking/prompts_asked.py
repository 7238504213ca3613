"""Which prompts of each instrument are asked, how often, and how its masks are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goffman.instruments.brought import OPTIONS as BROUGHT
from goffman.instruments.paraphrases import ON_REQUEST
from goffman.instruments.personas import with_system
from goffman.instruments.render import CHOICES, PromptOptions, has_paraphrases, render
from goffman.instruments.sized import SIZED_KINDS, sized_trials
from goffman.measures.catalogue import measure_of
from goffman.measures.controls import scores_controls
from goffman.models.kinds import answers_to
from goffman.records import AnswerTable, Instrument, Prompt, Questionnaire, is_control
from goffman.runs.plan import Settings, settings_of
from goffman.runs.pronouns import pronoun_forms, with_one_mask

if TYPE_CHECKING:
    from goffman.instruments.render import Rendered
    from goffman.measures.base import Measure
    from goffman.options import AskOptions, Listener


@dataclass(frozen=True, kw_only=True)
class Askable:
    """An instrument in one of the ways in which it can be asked."""

    instrument: Instrument
    of: str
    """The id of the instrument that the user knows."""
    form: str
    """What this way of asking it is called: see instruments/forms.py."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """An instrument as it is asked."""

    instrument: Instrument
    prompts: Sequence[Prompt]
    """Those of its controls last."""
    settings: Settings | None
    """How its masks are asked; None where there are none."""
    measure: Measure | None
    """What its answers are measured by; None: it names nothing."""
    trials: int = 1
    """So often each prompt is asked, in a fresh chat each time."""
    every: int | None = None
    """How often a thorough audit would ask, all prompts and trials; None: this is all."""
    in_all: int | None = None
    """How many prompts the instrument has, without those of controls, where these are a balanced
    part; None: these are all, or those that the user chose."""
    balanced: frozenset[str] = frozenset()
    """The ids of those prompts that a run with the balanced part has; they are asked first, so that
    such a run can be continued with all."""

    @property
    def part(self) -> list[Prompt]:
        """The balanced part, where this is more."""
        return [prompt for prompt in self.prompts if prompt.id in self.balanced]


def questions_of(
    ways: Sequence[Askable],
    options: AskOptions,
    listener: Listener,
    *,
    slowly: Collection[str],
    tables: Mapping[str, Collection[AnswerTable]],
) -> dict[str, Question]:
    """By id: the instruments as they are asked; ``slowly``: those that some model is slow with.

    ``tables``: where answers to them go; an option that none of these heeds is as if not given, so
    that a run does not remember it.
    """
    found: dict[str, Question] = {}
    told: set[str] = set()
    for way in ways:
        instrument = way.instrument
        chosen = _chosen_prompts(instrument, options, slowly=instrument.id in slowly)
        rendered = render(instrument, chosen)
        if way.of not in told:
            # Said once, also where sentence pairs are asked in two ways.
            told.add(way.of)
            for what, faults in _faults_of(rendered):
                listener.note(f"{way.of}: {what}: {faults}.")
        measure = measure_of(instrument)
        # A few prompts need their controls as much as all of them do.
        scored = options.controls and scores_controls(measure)
        controls = rendered.controls if scored else ()
        asked = (*_first(rendered.prompts, options.limit), *controls)
        prompts = with_system(asked, instrument, options.system)
        found[instrument.id] = Question(
            instrument=instrument,
            prompts=prompts,
            settings=_settings(instrument, prompts, options, tables.get(instrument.id, set())),
            measure=measure,
            trials=_trials(instrument, options)
            if "replies" in tables.get(instrument.id, set())
            else 1,
            every=_every(rendered, instrument, options, controls=bool(controls)),
            in_all=rendered.every[0] if rendered.every and options.limit is None else None,
            balanced=_balanced(asked, prompts, rendered.balanced)
            if options.limit is None
            else frozenset(),
        )
    return found


def _balanced(
    rendered: Sequence[Prompt], asked: Sequence[Prompt], ids: Collection[str]
) -> frozenset[str]:
    """The ids of the balanced part as they are asked; a system prompt changes them."""
    pairs = zip(rendered, asked, strict=True)
    return frozenset(after.id for before, after in pairs if before.id in ids)


def paraphrased(asked: Question, options: AskOptions) -> Question | None:
    """The same questions in the wordings that are asked only on request; None: there are none.

    Of the same items and conditions, so that wordings can be compared; without control items.
    """
    instrument = asked.instrument
    chosen = _chosen_prompts(instrument, options, slowly=asked.every is not None)
    others = any(getattr(chosen, name) is not None for name in ("vignettes", "questions"))
    if others or not has_paraphrases(instrument):
        return None
    if not isinstance(instrument.content, Questionnaire):
        # Adjectives are no part of the main result, and would be sixteen times as many prompts.
        chosen = replace(chosen, adjectives=["none"])
    rendered = render(instrument, replace(chosen, wordings=[ON_REQUEST]))
    cells = {_cell(prompt) for prompt in asked.prompts}
    of_part = {_cell(prompt) for prompt in asked.part}
    prompts = [prompt for prompt in rendered.prompts if _cell(prompt) in cells]
    few = {one.id for one in prompts if one.id in rendered.balanced and _cell(one) in of_part}
    told = with_system(prompts, instrument, options.system)
    every = None
    if rendered.every is not None:
        every = rendered.every[0] * _trials(instrument, replace(options, thorough=True))
    return replace(
        asked,
        instrument=replace(instrument, digest=instrument.digest + instrument.paraphrases.digest),
        prompts=told,
        every=every,
        balanced=_balanced(prompts, told, few),
    )


def _cell(prompt: Prompt) -> tuple[str, str, str | None]:
    """What a prompt asks about, whatever its wording."""
    return prompt.item, prompt.condition, prompt.form


def _first(prompts: Sequence[Prompt], limit: int | None) -> Sequence[Prompt]:
    """So many prompts: whole conditions, one of each group in turn, so that groups are compared."""
    return prompts if limit is None or limit >= len(prompts) else in_turn(prompts)[:limit]


def in_turn(prompts: Sequence[Prompt]) -> list[Prompt]:
    """The prompts condition by condition, one of each group in turn."""
    places: dict[str, dict[str, int]] = {}
    for prompt in prompts:
        of_group = places.setdefault(prompt.group, {})
        of_group.setdefault(prompt.condition, len(of_group))
    groups = list(places)
    return sorted(
        prompts, key=lambda each: (places[each.group][each.condition], groups.index(each.group))
    )


def _every(
    rendered: Rendered, instrument: Instrument, options: AskOptions, *, controls: bool
) -> int | None:
    """How often a thorough audit would ask the instrument; None: this one is."""
    if rendered.every is None:
        return None
    prompts, of_controls = rendered.every
    if options.limit is not None:
        prompts = min(prompts, options.limit)
    return (prompts + (of_controls if controls else 0)) * _trials(
        instrument, replace(options, thorough=True)
    )


def _trials(instrument: Instrument, options: AskOptions) -> int:
    """How often each prompt is asked: as the user says, else as the instrument does."""
    if options.chats.trials is None and not options.thorough and instrument.kind in SIZED_KINDS:
        return sized_trials(instrument)
    return options.chats.trials_of(instrument)


def _settings(
    instrument: Instrument,
    prompts: Sequence[Prompt],
    options: AskOptions,
    tables: Collection[AnswerTable],
) -> Settings | None:
    """How masks are asked; of two forms the probability is kept wherever they rank."""
    if answers_to(instrument.kind) != "fills":
        return None
    heeded = "fills" in tables
    targets = set(options.targets) if heeded else set()
    if instrument.kind == "prefer":
        targets |= {form for forms in pronoun_forms(prompts).values() for form in forms}
    return settings_of(instrument, top_k=options.top_k if heeded else None, targets=targets)


def _chosen_prompts(instrument: Instrument, options: AskOptions, *, slowly: bool) -> PromptOptions:
    """What is asked of an instrument, of the choices that it leaves.

    Of what some model would take too long for, or the user is in a hurry with, a balanced part.
    """
    thorough = options.thorough or not slowly
    given = options.sentences or PromptOptions()
    way_out = given.way_out if instrument.kind in CHOICES else None
    if isinstance(instrument.content, Questionnaire):
        own = PromptOptions(thorough=thorough, way_out=way_out)
        instead = str(instrument.settings.get("instead", ""))
        if path := getattr(given, instead, None) if instead in BROUGHT else None:
            return replace(own, **{instead: path})
        return own
    given = replace(given, vignettes=None, questions=None, way_out=way_out)
    drawn = given.winobias is None or given.pairs is not None
    return replace(given, seed=options.seed if drawn else None, thorough=thorough)


def asked_prompts(question: Question, note: Callable[[str], None]) -> Sequence[Prompt]:
    """The prompts that are asked of a model on this machine; what is left out, the user is told."""
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
    """How many prompts these are, and how many of them are controls'."""
    controls = sum(map(is_control, prompts))
    beside = f" and {controls:,} control prompts" if controls else ""
    return f"{len(prompts) - controls:,} prompts{beside}"


def _faults_of(rendered: Rendered | None) -> Iterator[tuple[str, str]]:
    """What was done with faulty sentence pairs, and which they are; at most three are named."""
    if rendered is None:
        return
    done = (("left out", rendered.left_out), ("kept, but please check", rendered.remarks))
    for what, faults in done:
        if faults:
            more = f"; and {len(faults) - 3:,} more" if len(faults) > 3 else ""
            yield what, "; ".join(str(fault).rstrip(".") for fault in faults[:3]) + more
