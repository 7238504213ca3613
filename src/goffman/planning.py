"""Which model is asked which prompts, in which modes, known before anyone is asked.

So is whether answers are read in the language that they were asked in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
from goffman.instruments.identities import can_cross
from goffman.instruments.loader import builtin_names
from goffman.instruments.paraphrases import ON_REQUEST
from goffman.instruments.personas import with_system
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
    ENGLISH,
    AnswerTable,
    Identities,
    Instrument,
    InstrumentKind,
    Prompt,
    Questionnaire,
    SentencePairs,
    is_control,
    primary_language,
    slug_of,
)
from goffman.lexicons.attitude import BUILT_IN
from goffman.measures.registry import measure_of
from goffman.models.base import LoadOptions
from goffman.models.registry import answers_to, model_kinds
from goffman.models.resolve import describe
from goffman.models.server_address import behind_server
from goffman.modes import modes_named
from goffman.options import Listener
from goffman.parsers.registry import OWN
from goffman.runs.batch_plan import Settings, pronoun_forms, settings_of, with_one_mask
from goffman.runs.run import IDENTITIES, PARAPHRASES
from goffman.scoring import measures_of

if TYPE_CHECKING:
    from goffman.instruments.renderer import Rendered
    from goffman.measures.base import Meaning, Measure
    from goffman.models.base import Fills
    from goffman.models.resolve import Description
    from goffman.options import AskOptions, MeasureOptions
    from goffman.runs.manifest import Manifest


@dataclass(frozen=True, kw_only=True)
class PromptSet:
    """An instrument in one of the ways in which it can be asked."""

    instrument: Instrument
    of: str
    """The id of the instrument that the user knows."""
    mode: str
    """How models respond: see modes.py."""
    settings: PromptOptions = field(default_factory=PromptOptions)
    """The instrument's settings that the user changed."""


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
    chosen: PromptOptions = field(default_factory=PromptOptions)
    """What was chosen of the instrument; its sample is the one that these prompts are."""
    every: int | None = None
    """How often all prompts and trials would be asked; None: this is all."""
    in_all: int | None = None
    """How many prompts the instrument has, without those of controls, where these are a sample;
    None: these are all, or those that the user chose."""
    parts: Mapping[Sample, frozenset[str]] = field(default_factory=dict)
    """The ids of the smaller samples, the smallest first; they are asked first, so that a run with
    one of them can be continued."""
    identities: Identities | None = None
    """The factor whose levels the prompts have; None: they are about nobody's second identity."""

    @property
    def expected(self) -> int:
        """About how many sentences or requests it takes a model."""
        if answers_to(self.instrument.kind) == "replies":
            return len(self.prompts) * self.trials
        depth, width = (self.settings.depth, self.settings.width) if self.settings else (1, 1)
        texts = len({prompt.asked for prompt in self.prompts})
        return int(texts * sum(width**step for step in range(depth)))

    def part(self, sample: Sample) -> list[Prompt]:
        """The prompts of a smaller sample."""
        ids = self.parts.get(sample, frozenset())
        return [prompt for prompt in self.prompts if prompt.id in ids]


def questions_of(
    ways: Sequence[PromptSet],
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
    questions: dict[str, Question] = {}
    told: set[str] = set()
    limit = options.limit
    for way in ways:
        instrument, of_instrument = way.instrument, tables.get(way.instrument.id, set())
        chosen = _chosen_prompts(way, options, slowly=instrument.id in slowly)
        rendered = render(instrument, chosen)
        if way.of not in told:
            # Said once, also where sentence pairs are asked in two ways.
            told.add(way.of)
            for what, faults in _faults_of(rendered):
                listener.note(f"{way.of}: {what}: {faults}.")
        measure = measure_of(instrument)
        # A few prompts need their controls as much as all of them do.
        scored = options.controls and measure and measure.scores_controls
        controls = rendered.controls if scored else ()
        others: Sequence[Prompt] = rendered.prompts
        if limit is not None and limit < len(others):
            # Whole conditions, one of each group in turn, so that groups are compared.
            others = interleaved(others)[:limit]
        asked = (*others, *controls)
        prompts = with_system(asked, instrument, options.system)
        questions[instrument.id] = Question(
            instrument=instrument,
            prompts=prompts,
            settings=_settings(instrument, prompts, options, of_instrument),
            measure=measure,
            chosen=chosen,
            trials=_trials(instrument, options) if "replies" in of_instrument else 1,
            every=_every(rendered, instrument, options, controls=bool(controls)),
            in_all=rendered.every[0] if rendered.every and limit is None else None,
            parts=_parts(asked, prompts, rendered.parts if limit is None else {}),
        )
    return questions


def _parts(
    rendered: Sequence[Prompt], asked: Sequence[Prompt], parts: Mapping[Sample, Collection[str]]
) -> dict[Sample, frozenset[str]]:
    """The ids of smaller samples as they are asked; a system prompt changes them."""
    pairs = list(zip(rendered, asked, strict=True))
    return {
        name: frozenset(after.id for before, after in pairs if before.id in ids)
        for name, ids in parts.items()
    }


def paraphrased_questions(asked: Question, options: AskOptions) -> Question | None:
    """The same items and conditions in the wordings that are asked on request; None: no others."""
    instrument, chosen = asked.instrument, asked.chosen
    if chosen.file is not None or not has_paraphrases(instrument):
        return None
    if not isinstance(instrument.content, Questionnaire):
        # Adjectives are no part of the main result, and would be sixteen times as many prompts.
        chosen = replace(chosen, adjectives=["none"])
    rendered = render(instrument, replace(chosen, wordings=[ON_REQUEST]))
    cells = {_cell(prompt) for prompt in asked.prompts}
    prompts = [prompt for prompt in rendered.prompts if _cell(prompt) in cells]
    parts: dict[Sample, set[str]] = {}
    for name, ids in rendered.parts.items():
        of_part = {_cell(prompt) for prompt in asked.part(name)}
        parts[name] = {one.id for one in prompts if one.id in ids and _cell(one) in of_part}
    told = with_system(prompts, instrument, options.system)
    return replace(
        asked,
        instrument=replace(instrument, digest=instrument.digest + instrument.paraphrases.digest),
        prompts=told,
        every=_every(rendered, instrument, replace(options, limit=None), controls=False),
        parts=_parts(prompts, told, parts),
    )


def crossed_questions(asked: Question, options: AskOptions) -> Question | None:
    """Return the same questions about people of each identity; None: they cannot show one."""
    instrument, chosen, factor = asked.instrument, asked.chosen, options.cross
    if factor is None or chosen.file is not None or not can_cross(instrument, factor):
        return None
    rendered = render_crossed(instrument, factor, chosen)
    cells = {(prompt.wording, *_cell(prompt)) for prompt in asked.prompts}
    prompts = [one for one in rendered.prompts if (one.wording, *_cell(one)) in cells]
    told = with_system(prompts, instrument, options.system)
    return replace(
        asked,
        instrument=replace(instrument, digest=instrument.digest + factor.digest),
        prompts=told,
        every=None,
        in_all=None,
        parts=_parts(prompts, told, rendered.parts if options.limit is None else {}),
        identities=factor,
    )


def _cell(prompt: Prompt) -> tuple[str, str, str | None]:
    """What a prompt asks about, whatever its wording."""
    return prompt.item, prompt.condition, prompt.form


def interleaved(prompts: Sequence[Prompt]) -> list[Prompt]:
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
    """How often all of the instrument would be asked; None: it is."""
    if rendered.every is None:
        return None
    prompts, of_controls = rendered.every
    if options.limit is not None:
        prompts = min(prompts, options.limit)
    trials = _trials(instrument, replace(options, sample="all"))
    return (prompts + (of_controls if controls else 0)) * trials


def _trials(instrument: Instrument, options: AskOptions) -> int:
    """How often each prompt is asked: as the user says, else as the instrument does."""
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
    """How masks are asked; of two forms the probability is kept wherever they rank."""
    if answers_to(instrument.kind) != "fills":
        return None
    heeded = "fills" in tables
    targets = set(options.targets) if heeded else set()
    if instrument.kind == "prefer":
        targets |= {form for forms in pronoun_forms(prompts).values() for form in forms}
    return settings_of(instrument, top_k=options.top_k if heeded else None, targets=targets)


def _chosen_prompts(way: PromptSet, options: AskOptions, *, slowly: bool) -> PromptOptions:
    """What is asked of an instrument; by default a balanced sample if it takes some model long."""
    instrument, given = way.instrument, way.settings
    no_answer = options.no_answer if instrument.kind in CHOICES else None
    sample = options.sample or ("balanced" if slowly else "all")
    pairs = isinstance(instrument.content, SentencePairs)
    drawn = pairs and (given.winobias is None or given.pairs is not None)
    seed = options.seed if drawn else None
    return replace(given, no_answer=no_answer, sample=sample, seed=seed)


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


def _faults_of(rendered: Rendered) -> Iterator[tuple[str, str]]:
    """What was done with faulty sentence pairs, and which they are; at most three are named."""
    done = (("left out", rendered.left_out), ("kept, but please check", rendered.remarks))
    for what, faults in done:
        if faults:
            more = f"; and {len(faults) - 3:,} more" if len(faults) > 3 else ""
            yield what, "; ".join(str(fault).rstrip(".") for fault in faults[:3]) + more


MOST = {"--limit": 10**9, "--batch-size": 10**6, "--trials": 10**4}
"""No one means more, and lists of so many would fill the memory."""


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """Who is asked what."""

    model: str
    kind: str
    """Of the model: see models/registry.py."""
    questions: Sequence[Question]
    beside: Mapping[str, Question] = field(default_factory=dict)
    """By the id of a question that is answered in text: the same one for the options'
    probabilities, which a server may give with its replies."""


def assign(
    models: Sequence[str],
    instruments: Sequence[str],
    *,
    loading: LoadOptions,
    options: AskOptions,
    listener: Listener,
) -> list[Assignment]:
    """Who is asked what, known before anyone is asked.

    What a model cannot answer is left out for it, with a note. A model without any question is
    refused, and an instrument that the user named and no model can answer.
    """
    ways = every_way(instruments, options)
    described = {model: describe(model, loading) for model in dict.fromkeys(models)}
    chosen = _chosen(ways, described, named=bool(instruments))
    used = {way.of for of_model in chosen.values() for way in of_model}
    for name in options.settings:
        if (instrument := name.rpartition(".")[0]) not in used:
            listener.note(
                f"--set {name} has no effect, because none of these models can be asked "
                f"{instrument}."
            )
    for model, what in described.items():
        if options.modes and not chosen[model]:
            raise ModelError(
                f"{what} It cannot be asked in the mode {' or '.join(options.modes)}. Leave out "
                "--mode to ask it in every mode that it can answer."
            )
    _check(ways, described, chosen, listener=listener, named=bool(instruments))
    beside = {model: _beside(model, chosen[model], ways) for model in chosen}
    slowly = {
        way.instrument.id
        for model in chosen
        for way in chosen[model]
        if answers_to(way.instrument.kind) == "replies"
        or (way.instrument.kind in SUBSAMPLED_KINDS and behind_server(model))
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
        Assignment(
            model=model,
            kind=what.kind,
            questions=[questions[way.instrument.id] for way in chosen[model]],
            beside={said: questions[way.instrument.id] for said, way in beside[model].items()},
        )
        for model, what in described.items()
    ]


def _tables(
    chosen: Mapping[str, Sequence[PromptSet]], described: Mapping[str, Description]
) -> dict[str, set[AnswerTable]]:
    """By instrument's id: where the answers of the models that are asked it will go."""
    tables: dict[str, set[AnswerTable]] = {}
    for model, ways in chosen.items():
        for way in ways:
            if table := table_of(model, described[model].kind, way.instrument):
                tables.setdefault(way.instrument.id, set()).add(table)
    return tables


def table_of(model: str, kind: str, instrument: Instrument) -> AnswerTable | None:
    """Where a model's answers to an instrument go; None: it cannot be asked it."""
    return model_kinds()[kind].table_for(instrument.kind, served=behind_server(model))


def _beside(
    model: str, chosen: Sequence[PromptSet], ways: Sequence[PromptSet]
) -> dict[str, PromptSet]:
    """By the id of what a server answers in text: the same with the options' probabilities."""
    if not behind_server(model):
        return {}
    by_probability = {way.of: way for way in ways if way.instrument.kind == "choose"}
    return {
        way.instrument.id: by_probability[way.of]
        for way in chosen
        if way.instrument.kind == "say" and way.of in by_probability
    }


def who_can_answer(models: Sequence[str], instruments: Sequence[str]) -> list[str]:
    """Those of the models that can be asked at least one of the instruments."""
    ways = [way for name in dict.fromkeys(instruments or builtin_names()) for way in _ways_of(name)]
    described = {model: describe(model) for model in models}
    chosen = _chosen(ways, described, named=bool(instruments))
    return [model for model in models if chosen[model]]


def _chosen(
    ways: Sequence[PromptSet], described: Mapping[str, Description], *, named: bool
) -> dict[str, list[PromptSet]]:
    """Of each model what it can be asked; ``named``: the user named the instruments."""

    def fits(model: str, kind: str, instrument: Instrument) -> bool:
        # A request less: whom a sentence is about is read off what a server writes.
        if instrument.kind == "complete" and instrument.writing and behind_server(model):
            return False
        if not (named or _is_asked(kind, instrument)):
            return False
        return kind in model_kinds() and table_of(model, kind, instrument) is not None

    return {
        model: [way for way in ways if fits(model, what.kind, way.instrument)]
        for model, what in described.items()
    }


def _is_asked(kind: str, instrument: Instrument) -> bool:
    """Whether a kind of model is asked the instrument where nobody names it."""
    return not instrument.by_default or kind in instrument.by_default


def _ways_of(name: str) -> list[PromptSet]:
    """The ways in which one instrument can be asked."""
    instrument, forms = modes_named(name)
    return [PromptSet(instrument=one, of=instrument.id, mode=one.mode) for one in forms]


def every_way(instruments: Sequence[str], options: AskOptions) -> list[PromptSet]:
    """The ways in which the instruments can be asked; each id once."""
    numbers = (options.limit, options.batch_size, options.chats.trials)
    for (option, most), value in zip(MOST.items(), numbers, strict=True):
        if value is not None and not 1 <= value <= most:
            raise InputError(f"{option} is {value}. Allowed: a whole number from 1 to {most:,}.")
    ways: list[PromptSet] = []
    for name in dict.fromkeys(instruments or builtin_names()):
        for one in _ways_of(name):
            given = one.instrument.id
            if any(slug_of(given) == slug_of(way.instrument.id) for way in ways):
                raise InputError(f"Two instruments have the id '{given}'. Give only one of them.")
            ways.append(one)
    known = list(dict.fromkeys(way.mode for way in ways))
    for mode in options.modes:
        if mode not in known:
            raise InputError(
                f"--mode is '{mode}'. Allowed here: {', '.join(known)}.{did_you_mean(mode, known)}"
            )
    ways = [way for way in ways if not options.modes or way.mode in options.modes]
    having = {way.of: setting_names(way.instrument) for way in ways}
    chosen = settings_by_instrument(options.settings, having)
    return [replace(way, settings=PromptOptions(**chosen.get(way.of, {}))) for way in ways]


def _check(
    ways: Sequence[PromptSet],
    described: Mapping[str, Description],
    chosen: Mapping[str, Sequence[PromptSet]],
    *,
    listener: Listener,
    named: bool,
) -> None:
    """Nothing, or ModelError where someone, or something that was named, has no counterpart."""
    asked: dict[str, list[InstrumentKind]] = {}
    silent = {way.of: way.instrument for way in ways if not named}
    for way in ways:
        asked.setdefault(way.of, []).append(way.instrument.kind)
    unasked = dict(asked)
    for model, what in described.items():
        of_model = {way.of for way in chosen[model]}
        skipped: dict[str, list[str]] = {}
        for name, forms in asked.items():
            if name in of_model:
                unasked.pop(name, None)
            elif name not in silent or _is_asked(what.kind, silent[name]):
                kinds = [
                    row.name for row in model_kinds().values() if any(map(row.table_for, forms))
                ]
                skipped.setdefault(join_words(kinds, "or"), []).append(name)
        if of_model and skipped:
            why = "; ".join(
                f"{', '.join(names)} (need{'s' if len(names) == 1 else ''} a {kinds} model)"
                for kinds, names in skipped.items()
            ).replace("classifier model", "classifier")
            listener.note(f"Skipped for {model}: {why}.")
        if not of_model:
            raise ModelError(f"{what} {_needs(asked) if named else 'No instrument fits it.'}")
    if named and unasked:
        raise ModelError(f"None of the models can be asked these questions. {_needs(unasked)}")


def _needs(asked: Mapping[str, Sequence[InstrumentKind]]) -> str:
    """A sentence for each instrument that says who can answer it, by the kinds of its forms."""
    return " ".join(
        f"The instrument '{name}' needs {', or '.join(_able(forms))}."
        for name, forms in asked.items()
    )


def _able(forms: Sequence[InstrumentKind]) -> list[str]:
    """Who can answer an instrument in one of its forms."""
    return [
        row.needed
        for row in model_kinds().values()
        if any(row.table_for(kind) is not None for kind in forms)
    ]


@dataclass(frozen=True, kw_only=True)
class Further:
    """What is asked besides, on request, in a run within the run."""

    name: str
    """Of its folder, and after the instrument's in what people read."""
    pairs: Sequence[Assignment]
    cost: str
    """What its prompts are: in other wordings (--paraphrases)."""

    def called(self, instrument: str) -> str:
        """Return an instrument as it is called while these are asked."""
        return f"{instrument}, {self.name}"

    def describe(self) -> Iterator[str]:
        """Yield a sentence for each model: what it costs."""
        for pair in self.pairs:
            count = sum(len(one.prompts) * one.trials for one in pair.questions)
            yield f"{pair.model} is asked another {count:,} prompts {self.cost}."

    def listener(self, listener: Listener) -> Listener:
        """Return who is told while these are asked, so that it is seen that it is these."""
        # What is to be said of a model itself was said when it was asked the rest.
        of_models = tuple(f"{pair.model}: " for pair in self.pairs)

        def note(text: str) -> None:
            if not text.startswith(of_models):
                listener.note(f"{self.name.capitalize()}: {text}")

        return replace(
            listener,
            progress=lambda one: listener.progress(
                replace(one, instrument=self.called(one.instrument))
            ),
            note=note,
            detail=lambda _: None,
        )


def assign_further(
    pairs: Sequence[Assignment], options: AskOptions, *, listener: Listener
) -> list[Further]:
    """Return what is asked besides: paraphrases, second identities; by default neither.

    InputError where identities were wanted and none of the instruments can show one.
    """
    found = []
    if options.paraphrases:
        asked = _assign_again(pairs, lambda one: paraphrased_questions(one, options))
        cost = "in other wordings (--paraphrases)"
        found.append(Further(name=PARAPHRASES, pairs=asked, cost=cost))
    if factor := options.cross:
        asked = _assign_again(pairs, lambda one: crossed_questions(one, options))
        _check_crossed(pairs, asked, factor, listener)
        cost = f"about people with a second identity (--cross {factor.id})"
        found.append(Further(name=IDENTITIES, pairs=asked, cost=cost))
    return [further for further in found if further.pairs]


def _check_crossed(
    pairs: Sequence[Assignment],
    crossed: Sequence[Assignment],
    factor: Identities,
    listener: Listener,
) -> None:
    """Raise InputError where no instrument can show an identity; say which ones cannot."""
    every, able = (
        list(dict.fromkeys(one.instrument.base for pair in of for one in pair.questions))
        for of in (pairs, crossed)
    )
    others = [name for name in every if name not in able]
    if not able:
        raise cannot_cross(others, factor)
    if others:
        listener.note(f"--cross {factor.id} has no effect on {join_words(others)}.")


def _assign_again(
    pairs: Sequence[Assignment], make: Callable[[Question], Question | None]
) -> list[Assignment]:
    """Return who is asked what is made of each question; None: nothing is."""
    known: dict[str, Question | None] = {}
    for pair in pairs:
        for one in (*pair.questions, *pair.beside.values()):
            if one.instrument.id not in known:
                known[one.instrument.id] = make(one)
    found = [
        replace(
            pair,
            questions=[new for one in pair.questions if (new := known[one.instrument.id])],
            beside={
                said: new
                for said, one in pair.beside.items()
                if (new := known[one.instrument.id]) and known[said]
            },
        )
        for pair in pairs
    ]
    return [pair for pair in found if pair.questions]


NAMES = {
    "ar": "Arabic",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "hi": "Hindi",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ru": "Russian",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "zh": "Chinese",
}
"""Languages that messages call by their names; of others they show the tag."""

SHIPPED: dict[Meaning, tuple[str, str]] = {
    "attitudes": ("--ratings", "goffman's ratings are"),
    "gender": ("--gender-words", "goffman's gender words are"),
    "parser": ("--parser", "goffman's rules for reading replies are"),
}
"""What reads answers → the option that gives another, and the subject of a sentence about it."""


@dataclass(frozen=True, kw_only=True)
class LexiconUse:
    """An instrument whose answers are read with what words mean."""

    instrument: str
    language: str
    """A BCP 47 tag."""
    words: Meaning | None


def lexicon_uses(questions: Iterable[Question], manifest: Manifest | None) -> Iterator[LexiconUse]:
    """How all that is asked now, and all that a run has, is read."""
    for question in questions:
        asked, words = question.instrument, question.measure.words if question.measure else None
        yield LexiconUse(instrument=asked.id, language=asked.language, words=words)
    if manifest is None:
        return
    for name, measure in measures_of(manifest).items():
        language = manifest.instruments[name].language
        yield LexiconUse(instrument=name, language=language, words=measure.words)


def check_languages(found: Iterable[LexiconUse], measuring: MeasureOptions) -> bool:
    """Whether the shipped ratings count; InputError where words would be read in another language.

    They do not count for another language, whose words may look like English ones.
    """
    given: dict[Meaning, bool] = {
        "attitudes": bool(measuring.ratings)
        and BUILT_IN.keys().isdisjoint(map(str, measuring.ratings)),
        "gender": measuring.gender_words is not None,
        "parser": measuring.parser is not None and measuring.parser not in OWN,
    }
    by_language: dict[Meaning, dict[str, LexiconUse]] = {meaning: {} for meaning in given}
    for one in found:
        if one.words is not None:
            by_language[one.words].setdefault(primary_language(one.language), one)
    for meaning, languages in by_language.items():
        option, what = SHIPPED[meaning]
        if given[meaning] and len(languages) > 1:
            said = " and ".join(
                f"{one.instrument} is in {_name(one)}" for one in languages.values()
            )
            raise InputError(
                f"{option} works for one language at a time, but {said}. Audit them separately, "
                "each with its own --output."
            )
        for language, one in languages.items():
            if language != ENGLISH and not given[meaning]:
                raise InputError(
                    f"{one.instrument} is in {_name(one)}, but {what} English (en). Give your own "
                    f"with {option}, or leave out {one.instrument}."
                )
    return all(language == ENGLISH for language in by_language["attitudes"])


def _name(one: LexiconUse) -> str:
    name = NAMES.get(primary_language(one.language))
    return f"{name} ({one.language})" if name else f"'{one.language}'"


LONGEST_PART = 255
"""Bytes between two slashes: no file's name has more."""


def check_names(models: Sequence[str]) -> None:
    """Nothing, or ModelError where a name is longer than that of any folder or model."""
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
    """Nothing, or InputError where labels or pairs are of none of the models, by their kinds."""
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


def options_without_effect(pairs: Sequence[Assignment], options: AskOptions) -> Iterator[str]:
    """A sentence for each option that none of the models heeds."""
    asked = [question.instrument for pair in pairs for question in pair.questions]
    tables = {
        table_of(pair.model, pair.kind, question.instrument)
        for pair in pairs
        for question in pair.questions
    }
    served = {behind_server(pair.model) for pair in pairs}
    heeded = {
        FILLS: "fills" in tables,
        REPLIES: "replies" in tables,
        GENERATES: any(one.kind in (*SUBSAMPLED_KINDS, "choose") for one in asked),
        SERVED: True in served,
        HERE: False in served,
    }
    known = audit_options()
    for who in HEEDED_BY:
        for name in options.given:
            if known[name].heeded_by == who and not heeded[who]:
                yield f"{flag_of(name)} has no effect, because this audit has no {who}."


def check_top_k(model: Fills, pair: Assignment) -> None:
    """Nothing, or InputError, before the run knows of it: a slip must not bind the folder."""
    for question in pair.questions:
        if question.settings and question.settings.top_k > len(model.tokens):
            raise InputError(
                f"--top-k is {question.settings.top_k} for {question.instrument.id}, but "
                f"'{pair.model}' knows only {len(model.tokens)} words. Allowed: 1 to "
                f"{len(model.tokens)}."
            )
