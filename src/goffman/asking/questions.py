"""Who is asked what, known before anyone is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goffman.asking.prompts_asked import Askable, Question, questions_of
from goffman.errors import InputError, ModelError, did_you_mean
from goffman.instruments.brought import OPTIONS as BROUGHT
from goffman.instruments.forms import form_name, forms_named
from goffman.instruments.load import builtin_names
from goffman.instruments.render import FOR_SENTENCE_PAIRS, PromptOptions
from goffman.instruments.sized import SIZED_KINDS
from goffman.models.address import behind_server
from goffman.models.kinds import ModelKind, answers_to, kinds
from goffman.models.spec import describe
from goffman.records import AnswerTable, Instrument, InstrumentKind, Questionnaire

if TYPE_CHECKING:
    from goffman.models.base import LoadOptions
    from goffman.models.spec import Description
    from goffman.options import AskOptions, Listener

SUCH = {"vignettes": "vignettes", "questions": "decisions"}
"""By what the user's own file has: goffman's instrument of that kind."""

MOST = {"--limit": 10**9, "--batch-size": 10**6, "--trials": 10**4}
"""No one means more, and lists of so many would fill the memory."""


@dataclass(frozen=True, kw_only=True)
class Asking:
    """Who is asked what."""

    model: str
    kind: str
    """Of the model: see models/kinds.py."""
    questions: Sequence[Question]
    beside: Mapping[str, Question] = field(default_factory=dict)
    """By the id of a question that is answered in text: the same one for the options'
    probabilities, which a server may give with its replies."""


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
    ways = every_way(instruments, options)
    described = {model: describe(model, loading) for model in dict.fromkeys(models)}
    chosen = _chosen(ways, described)
    _note_unused(options.sentences, chosen, listener)
    _check_forms(options.forms, described, chosen)
    _check(ways, described, chosen, listener=listener, named=bool(instruments))
    beside = {model: _beside(model, chosen[model], ways) for model in chosen}
    slowly = {
        way.instrument.id
        for model in chosen
        for way in chosen[model]
        if answers_to(way.instrument.kind) == "replies"
        or (way.instrument.kind in SIZED_KINDS and (options.balanced or behind_server(model)))
    } | {way.instrument.id for of_model in beside.values() for way in of_model.values()}
    # What no one is asked is not rendered: coreference has 12,640 prompts.
    asked = {model: [*of_model, *beside[model].values()] for model, of_model in chosen.items()}
    questions = questions_of(
        [way for way in ways if any(way in of_model for of_model in asked.values())],
        options,
        listener,
        slowly=slowly,
        tables=_tables(asked, described),
    )
    return [
        Asking(
            model=model,
            kind=what.kind,
            questions=[questions[way.instrument.id] for way in chosen[model]],
            beside={said: questions[way.instrument.id] for said, way in beside[model].items()},
        )
        for model, what in described.items()
    ]


def _tables(
    chosen: Mapping[str, Sequence[Askable]], described: Mapping[str, Description]
) -> dict[str, set[AnswerTable]]:
    """By instrument's id: where the answers of the models that are asked it will go."""
    tables: dict[str, set[AnswerTable]] = {}
    for model, ways in chosen.items():
        row, served = kinds()[described[model].kind], behind_server(model)
        for way in ways:
            if table := row.table_for(way.instrument.kind, served=served):
                tables.setdefault(way.instrument.id, set()).add(table)
    return tables


def _beside(model: str, chosen: Sequence[Askable], ways: Sequence[Askable]) -> dict[str, Askable]:
    """By the id of what a server answers in text: the same with the options' probabilities."""
    if not behind_server(model):
        return {}
    by_probability = {way.of: way for way in ways if way.instrument.kind == "choose"}
    return {
        way.instrument.id: by_probability[way.of]
        for way in chosen
        if way.instrument.kind == "say" and way.of in by_probability
    }


def _can_be_asked(row: ModelKind, model: str, instrument: Instrument) -> bool:
    """Whether a model of this kind can be asked the instrument in this form."""
    served = behind_server(model)
    # A request less: whom a sentence is about is read off what a server writes.
    if served and instrument.kind == "complete" and instrument.writing:
        return False
    return row.table_for(instrument.kind, served=served) is not None


def who_can_answer(models: Sequence[str], instruments: Sequence[str]) -> list[str]:
    """Those of the models that can be asked at least one of the instruments."""
    ways = [way for name in dict.fromkeys(instruments or builtin_names()) for way in _ways_of(name)]
    chosen = _chosen(ways, {model: describe(model) for model in models})
    return [model for model in models if chosen[model]]


def _chosen(
    ways: Sequence[Askable], described: Mapping[str, Description]
) -> dict[str, list[Askable]]:
    """Of each model what it can be asked."""
    known = kinds()
    return {
        model: [
            way
            for way in ways
            if what.kind in known and _can_be_asked(known[what.kind], model, way.instrument)
        ]
        for model, what in described.items()
    }


def _ways_of(name: str) -> list[Askable]:
    """The ways in which one instrument can be asked."""
    instrument, forms = forms_named(name)
    return [
        Askable(instrument=one, of=instrument.id, form=form_name(one, instrument)) for one in forms
    ]


def every_way(instruments: Sequence[str], options: AskOptions) -> list[Askable]:
    """The ways in which the instruments can be asked; each id once."""
    numbers = (options.limit, options.batch_size, options.chats.trials)
    for (option, most), value in zip(MOST.items(), numbers, strict=True):
        if value is not None and not 1 <= value <= most:
            raise InputError(f"{option} is {value}. Allowed: a whole number from 1 to {most:,}.")
    if options.thorough and options.balanced:
        raise InputError(
            "--thorough asks every prompt, --balanced only a sample. Give one of them, not both."
        )
    ways: list[Askable] = []
    for name in dict.fromkeys(instruments or builtin_names()):
        for one in _ways_of(name):
            given = one.instrument.id
            if any(given == way.instrument.id for way in ways):
                raise InputError(f"Two instruments have the id '{given}'. Give only one of them.")
            ways.append(one)
    ways = _of_forms(ways, options.forms)
    _check_sentences(options.sentences, ways)
    return ways


def _of_forms(ways: Sequence[Askable], forms: Sequence[str]) -> list[Askable]:
    """Those ways that are of the forms that the user named; none named: all."""
    known = list(dict.fromkeys(way.form for way in ways))
    for form in forms:
        if form not in known:
            raise InputError(
                f"--form is '{form}'. Allowed here: {', '.join(known)}.{did_you_mean(form, known)}"
            )
    return [way for way in ways if not forms or way.form in forms]


def _check_forms(
    forms: Sequence[str],
    described: Mapping[str, Description],
    chosen: Mapping[str, Sequence[Askable]],
) -> None:
    """Nothing, or ModelError where a model can answer in none of the forms that were named."""
    for model, what in described.items():
        if forms and not chosen[model]:
            raise ModelError(
                f"{what} It cannot be asked in the form {' or '.join(forms)}. Leave out --form to "
                "ask it in every form that it can answer."
            )


def _check(
    ways: Sequence[Askable],
    described: Mapping[str, Description],
    chosen: Mapping[str, Sequence[Askable]],
    *,
    listener: Listener,
    named: bool,
) -> None:
    """Nothing, or ModelError where someone, or something that was named, has no counterpart."""
    asked: dict[str, list[InstrumentKind]] = {}
    for way in ways:
        asked.setdefault(way.of, []).append(way.instrument.kind)
    unasked = dict(asked)
    for model, what in described.items():
        of_model = {way.of for way in chosen[model]}
        for name, forms in asked.items():
            if name in of_model:
                unasked.pop(name, None)
            elif of_model:
                needed = ", or ".join(_short(one) for one in _able(forms))
                listener.note(f"{model} is not asked {name}, which needs {needed}.")
        if not of_model:
            raise ModelError(_nothing_to_ask(what, asked if named else {}))
    if named and unasked:
        needed = " ".join(_needs(name, forms) for name, forms in unasked.items())
        raise ModelError(f"None of the models can be asked these questions. {needed}")


def _nothing_to_ask(what: Description, named: Mapping[str, Sequence[InstrumentKind]]) -> str:
    """The sentences for a model that can answer none of the instruments, and what to do."""
    if not named:
        return f"{what} No instrument fits it."
    needed = " ".join(_needs(name, forms) for name, forms in named.items())
    return f"{what} {needed}"


def _needs(name: str, forms: Sequence[InstrumentKind]) -> str:
    """The sentence that says who can answer an instrument."""
    return f"The instrument '{name}' needs {', or '.join(_able(forms))}."


def _able(forms: Sequence[InstrumentKind]) -> list[str]:
    """Who can answer an instrument in one of its forms."""
    return [
        row.needed
        for row in kinds().values()
        if any(row.table_for(kind) is not None for kind in forms)
    ]


def _short(needed: str) -> str:
    """The same without examples: a note is for each model and instrument."""
    return re.split(r", such as | \(", needed)[0]


def _note_unused(
    given: PromptOptions | None,
    chosen: Mapping[str, Sequence[Askable]],
    listener: Listener,
) -> None:
    """A note for each file of the user's own that no model is asked."""
    asked = {way.instrument.settings.get("instead") for ways in chosen.values() for way in ways}
    for name, option in BROUGHT.items():
        if getattr(given, name, None) is not None and name not in asked:
            listener.note(
                f"{option} has no effect: none of these models can be asked {SUCH[name]}. The file "
                "is not read."
            )


def _check_sentences(given: PromptOptions | None, ways: Sequence[Askable]) -> None:
    """Nothing, or InputError where options about some instruments meet none of these."""
    for name, option in BROUGHT.items():
        fits = any(way.instrument.settings.get("instead") == name for way in ways)
        if getattr(given, name, None) is not None and not fits:
            named = " or ".join(dict.fromkeys(way.of for way in ways))
            raise InputError(
                f"{option} works only with instruments such as {SUCH[name]}, not with {named}."
            )
    if all(isinstance(way.instrument.content, Questionnaire) for way in ways):
        for name, option in FOR_SENTENCE_PAIRS.items():
            if getattr(given, name, None) is not None:
                named = " or ".join(dict.fromkeys(way.of for way in ways))
                raise InputError(
                    f"{option} works only with sentence pairs (coreference), not with {named}."
                )
