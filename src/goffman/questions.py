"""Who is asked what, known before anyone is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goffman.chats import check_sentences, chosen_prompts, faults_of
from goffman.errors import InputError, ModelError
from goffman.instruments.coreference import without_a_chat
from goffman.instruments.load import builtin_names, load_instrument
from goffman.instruments.render import render
from goffman.measures.catalogue import measure_of
from goffman.models.spec import describe
from goffman.records import Instrument, Prompt, SentencePairs
from goffman.runs.plan import Settings, settings_of
from goffman.runs.pronouns import forms_of

if TYPE_CHECKING:
    from goffman.measures.base import Measure
    from goffman.models.base import LoadOptions
    from goffman.models.spec import Description, Kind
    from goffman.options import AskOptions, Listener

USES = {
    "masked": ("fill", "prefer"),
    "classifier": ("classify",),
    "chat": ("ask",),
    "causal": ("prefer",),
}
"""The kinds of instrument that each kind of model can answer."""

NEEDS = {
    "fill": "a masked model, such as roberta-base",
    "classify": "a classifier, such as siebert/sentiment-roberta-large-english",
    "ask": "a chat model, such as openai:NAME or http://HOST/v1#NAME; a masked or causal one can "
    "be asked for its pronouns",
}
"""Who can answer each kind of instrument."""

MOST = {"--limit": 10**9, "--batch-size": 10**6, "--trials": 10**4}
"""No one means more, and lists of so many would fill the memory."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """An instrument as it is asked."""

    instrument: Instrument
    prompts: Sequence[Prompt]
    settings: Settings | None
    """How its masks are asked; None where there are none."""
    measure: Measure | None
    """What its answers are measured by; None: it names nothing."""
    trials: int = 1
    """So often each prompt is asked, in a fresh chat each time."""


@dataclass(frozen=True, kw_only=True)
class Asking:
    """Who is asked what."""

    model: str
    kind: Kind
    """Of the model."""
    questions: Sequence[Question]


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way in which an instrument can be asked."""

    instrument: Instrument
    of: str
    """The id of the instrument that the user knows; sentence pairs are asked in two ways."""


def who_is_asked(
    models: Sequence[str],
    instruments: Sequence[str],
    *,
    loading: LoadOptions,
    options: AskOptions,
    listener: Listener,
) -> list[Asking]:
    """Who is asked what, known before anyone is asked.

    What a model cannot answer is left out for it, with a note. A model without any question is
    refused, and an instrument that the user named and no model can answer.
    """
    ways = _ways(instruments, options)
    described = {model: describe(model, loading) for model in dict.fromkeys(models)}
    chosen = {
        model: [way for way in ways if way.instrument.kind in USES.get(what.kind, ())]
        for model, what in described.items()
    }
    _check(ways, described, chosen, listener=listener, named=bool(instruments))
    # What no one is asked is not rendered: coreference has 12,640 prompts.
    questions = _questions(
        [way for way in ways if any(way in of_model for of_model in chosen.values())],
        options,
        listener,
    )
    return [
        Asking(
            model=model,
            kind=what.kind,
            questions=[questions[way.instrument.id] for way in chosen[model]],
        )
        for model, what in described.items()
    ]


def _ways(instruments: Sequence[str], options: AskOptions) -> list[Way]:
    """The ways in which the instruments can be asked; each id once."""
    given = (options.limit, options.batch_size, options.chats.trials)
    for (option, most), value in zip(MOST.items(), given, strict=True):
        if value is not None and not 1 <= value <= most:
            raise InputError(f"{option} is {value}; it is a whole number from 1 to {most:,}.")
    ways: list[Way] = []
    for name in dict.fromkeys(instruments or builtin_names()):
        instrument = load_instrument(name)
        several = [instrument]
        if isinstance(instrument.content, SentencePairs):
            several.append(without_a_chat(instrument))
        for one in several:
            if any(one.id == way.instrument.id for way in ways):
                raise InputError(f"Two instruments have the id '{one.id}': give one of them.")
            ways.append(Way(instrument=one, of=instrument.id))
    check_sentences(options.sentences, [way.instrument for way in ways])
    return ways


def _check(
    ways: Sequence[Way],
    described: Mapping[str, Description],
    chosen: Mapping[str, Sequence[Way]],
    *,
    listener: Listener,
    named: bool,
) -> None:
    """Nothing, or ModelError where someone, or something that was named, has no counterpart."""
    kinds: dict[str, str] = {}
    for way in ways:
        kinds.setdefault(way.of, way.instrument.kind)
    unasked = dict(kinds)
    for model, what in described.items():
        of_model = {way.of for way in chosen[model]}
        for name in kinds:
            if name in of_model:
                unasked.pop(name, None)
            elif of_model:
                listener.note(f"{name} is left out for {model}: it needs {NEEDS[kinds[name]]}.")
        if not of_model:
            needed = " ".join(f"{name} needs {NEEDS[kind]}." for name, kind in unasked.items())
            raise ModelError(f"{what} {needed if named else 'No instrument can be asked of it.'}")
    if named and unasked:
        needed = " ".join(f"{name} needs {NEEDS[kind]}." for name, kind in unasked.items())
        raise ModelError(f"None of the models can answer what was named: {needed}")


def _questions(ways: Sequence[Way], options: AskOptions, listener: Listener) -> dict[str, Question]:
    """By id: the instruments as they are asked."""
    found: dict[str, Question] = {}
    told: set[str] = set()
    for way in ways:
        instrument = way.instrument
        chosen = chosen_prompts(
            instrument, options.sentences, seed=options.seed, everything=options.all_wordings
        )
        rendered = render(instrument, chosen)
        if way.of not in told:
            # Said once, also where sentence pairs are asked in two ways.
            told.add(way.of)
            for what, faults in faults_of(rendered):
                listener.note(f"{way.of}: {what}: {faults}.")
        prompts = rendered.prompts[: options.limit]
        found[instrument.id] = Question(
            instrument=instrument,
            prompts=prompts,
            settings=_settings(instrument, prompts, options),
            measure=measure_of(instrument),
            trials=options.chats.trials_of(instrument),
        )
    return found


def _settings(
    instrument: Instrument, prompts: Sequence[Prompt], options: AskOptions
) -> Settings | None:
    """How masks are asked; of two forms the probability is kept wherever they rank."""
    if instrument.kind not in USES["masked"]:
        return None
    targets = set(options.targets)
    if instrument.kind == "prefer":
        targets |= {form for forms in forms_of(prompts).values() for form in forms}
    return settings_of(instrument, top_k=options.top_k, targets=targets)
