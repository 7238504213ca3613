"""An instrument → its prompts: item × wording × condition, or sentence pair × adjectives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from goffman.errors import Fault, InputError, did_you_mean
from goffman.instruments.completion import completed, written
from goffman.instruments.controls import control_prompts
from goffman.instruments.external import OPTIONS as BROUGHT
from goffman.instruments.external import external_prompts
from goffman.instruments.paraphrases import ON_REQUEST, OWN_PAIRS, on_request, texts_in
from goffman.instruments.presentation import presented, presented_controls, presented_pairs
from goffman.instruments.sentence_pairs import (
    draw,
    generate_pairs,
    parse_adjective_placement,
    parse_setting,
    prompts_of,
)
from goffman.instruments.subsample import SIZED_PAIRS, SUBSAMPLED_KINDS, part_of, subsample
from goffman.instruments.text import phrase_text, put_in, slot_text
from goffman.instruments.types import (
    BASELINE,
    CarriedPhrase,
    Form,
    Instrument,
    InstrumentKind,
    Item,
    MultipleChoice,
    Prompt,
    Questionnaire,
    SentencePairs,
    Setting,
    Source,
    Stem,
    Wording,
)
from goffman.instruments.winobias import Reading, read_winobias

FOR_SENTENCE_PAIRS = {
    "adjectives": "--adjectives",
    "placement": "--adjective-placement",
    "winobias": "--winobias",
    "drop_faulty": "--drop-faulty",
    "pairs": "--sentence-pairs",
    "seed": "--seed",
}
"""The options that mean something for sentence pairs alone."""

CHOICES: tuple[InstrumentKind, ...] = ("choose", "say")
"""The kinds that have options to choose from."""

_OTHERWISE: Mapping[InstrumentKind, Callable[[Instrument, Prompt], Prompt]] = {
    "complete": completed,
    "write": written,
}
"""By kind: sentences with a mask as models are asked them that cannot fill one."""


@dataclass(frozen=True, kw_only=True)
class PromptOptions:
    """What to ask of an instrument, where it leaves a choice; None: as the instrument says."""

    wordings: Sequence[str] | None = None
    """Ids of wordings, "all", or "paraphrases" for those that are asked only on request; None:
    those on by default."""
    adjectives: Sequence[str] | None = None
    """Sentence pairs: "male,female" each, "all" or "none"; the baseline always stands beside."""
    placement: str | None = None
    """Sentence pairs: by-stereotype or by-position."""
    winobias: Path | None = None
    """Sentence pairs: WinoBias's files instead of our own frames."""
    drop_faulty: bool | None = None
    """Sentence pairs: leave out WinoBias pairs that are no minimal pairs."""
    pairs: int | None = None
    """Sentence pairs: how many are drawn; None: as the instrument says, or all of WinoBias's."""
    seed: int | None = None
    """Sentence pairs: which of them are drawn."""
    vignettes: Path | None = None
    """Descriptions: another study's file, asked as it is; see external.py."""
    questions: Path | None = None
    """Decisions: another study's file, asked as it is; see external.py."""
    no_answer: bool | None = None
    """Choices: whether not to answer is an option; None: yes."""
    thorough: bool = True
    """False: the balanced part that is asked through a server by default; see subsample.py."""


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """The prompts of an instrument, and what is to be said of them."""

    prompts: tuple[Prompt, ...]
    """Always in the same order."""
    controls: tuple[Prompt, ...] = ()
    """Those of the control items."""
    left_out: tuple[Fault, ...] = ()
    """Sentence pairs that were left out on request, and why."""
    remarks: tuple[Fault, ...] = ()
    """Faults of sentence pairs that were kept."""
    every: tuple[int, int] | None = None
    """How many prompts and prompts of controls there are, where this is a part of them."""
    balanced: frozenset[str] = frozenset()
    """The ids of the balanced part, where there is one and this is all; see subsample.py."""


def render(instrument: Instrument, options: PromptOptions | None = None) -> Rendered:
    """Every prompt of an instrument, and of its controls; or the part that is not thorough."""
    options = options or PromptOptions()
    if options.no_answer is not None and instrument.kind not in CHOICES:
        raise InputError("--forced-choice works only with --mode choice or --mode reply.")
    if isinstance(instrument.content, SentencePairs):
        _refuse(instrument, options, BROUGHT, because="that instrument consists of sentence pairs")
        return _of_pairs(instrument, instrument.content, options)
    _refuse(
        instrument,
        options,
        FOR_SENTENCE_PAIRS,
        because="only coreference has the sentence pairs that this option is about",
    )
    others = external_prompts(instrument, instrument.content, options)
    if instrument.kind in CHOICES:
        prompts, controls = _choices(instrument, instrument.content, options)
    else:
        wordings = chosen_wordings(instrument, options.wordings)
        prompts = tuple(_questionnaire_prompts(instrument, instrument.content, wordings))
        controls = control_prompts(instrument, wordings)
    if as_asked := _OTHERWISE.get(instrument.kind):
        prompts, controls = (
            tuple(as_asked(instrument, prompt) for prompt in some) for some in (prompts, controls)
        )
    if instrument.kind not in SUBSAMPLED_KINDS:
        return Rendered(prompts=prompts if others is None else others, controls=controls)
    part = part_of(instrument)
    few, few_controls = subsample(prompts, part), subsample(controls, part)
    # Who brings questions wants these, and all of them.
    if others is not None:
        prompts = few = others
    if options.thorough:
        balanced = frozenset(prompt.id for prompt in (*few, *few_controls))
        return Rendered(prompts=prompts, controls=controls, balanced=balanced)
    every = (len(prompts), len(controls))
    return Rendered(prompts=few, controls=few_controls, every=every)


def _choices(
    instrument: Instrument, content: Questionnaire, options: PromptOptions
) -> tuple[tuple[Prompt, ...], tuple[Prompt, ...]]:
    """The presentations of a questionnaire with options to choose from, and of its controls."""
    form = _form_of(instrument)
    stems = _chosen_stems(instrument, options.wordings)
    no_answer = options.no_answer is not False
    bases = _stand_ins(instrument, content)
    prompts = presented(content, form, bases, stems=stems, no_answer=no_answer)
    own = [stem for stem in stems if stem.default]
    controls = presented_controls(instrument, content, form, stems=own, no_answer=no_answer)
    return tuple(prompts), tuple(controls)


def _chosen_stems(instrument: Instrument, names: Sequence[str] | None) -> list[Stem]:
    chosen = chosen_wordings(instrument, names)
    every = (*_form_of(instrument).stems, *instrument.paraphrases.stems)
    return [stem for stem in every if stem.id in chosen]


def _form_of(instrument: Instrument) -> MultipleChoice:
    if instrument.choice is None:
        raise InputError(
            f"{instrument.id} has no choice.toml, so it has no answers to choose from."
        )
    return instrument.choice


def _of_pairs(instrument: Instrument, content: SentencePairs, options: PromptOptions) -> Rendered:
    """The prompts of sentence pairs; a part has fewer pairs, and as a choice no adjectives."""
    if not has_paraphrases(instrument):
        _refuse(instrument, options, {"wordings": "--wording"}, because="it has no wordings")
    whole = _all_of_pairs(instrument, content, options)
    if instrument.kind not in SUBSAMPLED_KINDS:
        return whole
    few = options
    # Who brings sentences, or says how many, wants these.
    if options.pairs is None and options.winobias is None:
        few = replace(few, pairs=min(SIZED_PAIRS, int(instrument.settings["pairs"])))
    if instrument.kind in CHOICES and options.adjectives is None:
        few = replace(few, adjectives=["none"])
    part = whole if few == options else _all_of_pairs(instrument, content, few)
    if options.thorough:
        ids = frozenset(prompt.id for prompt in (*part.prompts, *part.controls))
        return replace(whole, balanced=ids)
    return replace(part, every=(len(whole.prompts), len(whole.controls)))


def _all_of_pairs(
    instrument: Instrument, content: SentencePairs, options: PromptOptions
) -> Rendered:
    """Every prompt of these sentence pairs."""
    # The baseline, and the settings given: all of the instrument's where none is.
    chosen: dict[str, Setting] = {BASELINE: Setting()}
    for text in options.adjectives or ("all",):
        if text == "all":
            chosen |= {setting.id: setting for setting in content.settings}
        elif text != "none":
            setting = parse_setting(text)
            chosen[setting.id] = setting
    own = str(instrument.settings["placement"])
    placement = parse_adjective_placement(own if options.placement is None else options.placement)
    reading = _pairs(instrument, content, options)
    ask = partial(
        prompts_of,
        instrument,
        content,
        reading.pairs,
        settings=list(chosen.values()),
        placement=placement,
    )
    prompts: list[Prompt] = []
    controls: list[Prompt] = []
    if instrument.kind in CHOICES:
        form, no_answer = _form_of(instrument), options.no_answer is not False
        for stem in _chosen_stems(instrument, options.wordings):
            prompts += presented_pairs(form, stem, ask(), no_answer=no_answer)
            if stem.default:
                controls += presented_pairs(
                    form, stem, control_prompts(instrument), no_answer=no_answer
                )
    else:
        further = {one.id: one for one in instrument.paraphrases.wordings}
        for name in chosen_wordings(instrument, options.wordings):
            prompts += ask(wording=further.get(name))
            controls += control_prompts(instrument) if name == OWN_PAIRS else ()
    return Rendered(
        prompts=tuple(prompts),
        controls=tuple(controls),
        left_out=reading.left_out,
        remarks=tuple(fault for _, fault in reading.remarks),
    )


def _refuse(
    instrument: Instrument, options: PromptOptions, meaningless: Mapping[str, str], *, because: str
) -> None:
    """An error where an option is given that means nothing for this instrument."""
    for name, option in meaningless.items():
        if getattr(options, name) is not None:
            raise InputError(f"{option} cannot be used with {instrument.base}, because {because}.")


def wordings_known(instrument: Instrument) -> dict[str, bool]:
    """By id: the wordings of an instrument in its form, and whether each is on by default."""
    further = instrument.paraphrases
    every: Sequence[Stem | Wording]
    if instrument.kind in CHOICES:
        every = (*_form_of(instrument).stems, *further.stems)
    elif isinstance(instrument.content, SentencePairs):
        every = (Wording(id=OWN_PAIRS), *further.wordings)
    else:
        every = (*instrument.content.wordings, *further.wordings)
    return {one.id: one.default for one in every}


def has_paraphrases(instrument: Instrument) -> bool:
    """Whether the instrument, in its form, has wordings that are asked only on request."""
    return not all(wordings_known(instrument).values())


def chosen_wordings(instrument: Instrument, names: Sequence[str] | None) -> list[str]:
    """The ids of the wordings to ask: those named, all of them for "all", else the default ones.

    For "paraphrases" those that are off by default.
    """
    known = wordings_known(instrument)
    default = [name for name, on in known.items() if on]
    groups = {"all": list(known), ON_REQUEST: [name for name in known if name not in default]}
    chosen: set[str] = set()
    for name in names or ():
        allowed = [*known, *(group for group, members in groups.items() if members)]
        if name not in allowed:
            shown = ", ".join(f"'{one}'" for one in allowed)
            if len(known) == 1:
                shown = f"'{allowed[0]}' (its one wording) or 'all'"
            raise InputError(
                f"{instrument.id} has no wording '{name}'. Allowed: "
                f"{shown}.{did_you_mean(name, list(known))}"
            )
        chosen |= {*groups.get(name, [name])}
    return [name for name in known if name in chosen] or default


def _pairs(instrument: Instrument, content: SentencePairs, options: PromptOptions) -> Reading:
    seed = options.seed or 0
    if options.winobias is None:
        if options.drop_faulty:
            raise InputError("--drop-faulty works only with --winobias.")
        count = int(instrument.settings["pairs"]) if options.pairs is None else options.pairs
        return Reading(pairs=tuple(generate_pairs(content, count=count, seed=seed)))
    reading = read_winobias(
        options.winobias, content.occupations, drop_faulty=bool(options.drop_faulty)
    )
    if options.pairs is not None:
        return reading.only(draw(reading.pairs, count=options.pairs, seed=seed))
    if options.seed is not None:
        raise InputError(
            "With --winobias, --seed works only together with --sentence-pairs: it decides which "
            "pairs are drawn."
        )
    return reading


def _questionnaire_prompts(
    instrument: Instrument, content: Questionnaire, wordings: Sequence[str]
) -> Iterator[Prompt]:
    """The baseline's prompts first, then condition by condition."""
    content = on_request(content, instrument.paraphrases)
    sentences = [
        (item, wording)
        for wording in content.wordings
        if wording.id in wordings
        for item in texts_in(content, wording)
    ]
    for base, stands_there in _stand_ins(instrument, content):
        values = {**content.fields, content.slot.name: stands_there}
        for item, wording in sentences:
            # Left out, a condition may take more of the sentence with it than its slot.
            text = item.text if base.form is not None else item.baseline or item.text
            yield replace(
                base,
                item=item.id,
                wording=wording.id,
                dimension=item.dimension or None,
                keyed=item.keyed,
                text=put_in(wording.frame.replace("{item}", text), values),
                paraphrase=None if wording.default else wording.id,
                family=wording.family or None,
                source=_source(item, wording),
            )


def _phrase(instrument: Instrument, form: Form) -> str | None:
    """What a form says in its slot; None where that is a whole text."""
    content = instrument.content
    if isinstance(content, SentencePairs) or "{vignette}" in content.slot.filled:
        return None
    return phrase_text(content.slot, form)[1]


def _source(item: Item, wording: Wording) -> Source | None:
    """Whose sentence it is: our own where its item or its wording is."""
    of_both = {item.source, wording.source}
    return next((one for one in ("own", "study") if one in of_both), None)


def carried_phrases(
    instrument: Instrument, prompts: Sequence[Prompt], *, balanced: Collection[str] = ()
) -> list[CarriedPhrase]:
    """Each form's phrase in a sentence that says that there is such a person, by a prompt of it.

    ``balanced``: ids of prompts that a run with a part has too, so that its phrases stay.
    """
    content = instrument.content
    if isinstance(content, SentencePairs):
        return []
    in_order = sorted(prompts, key=lambda prompt: (prompt.id in balanced, prompt.id))
    by_form = {(prompt.condition, prompt.form): prompt for prompt in in_order if prompt.phrase}
    several = "{plural_verb}" in content.slot.filled or "{plural}" in content.slot.filled
    found = []
    for condition in content.conditions:
        for form in condition.forms:
            if prompt := by_form.get((condition.id, form.text)):
                before, phrase, after = phrase_text(content.slot, form)
                start = f"There {'are' if several else 'is'} {before}"
                found.append(CarriedPhrase(prompt.id, start, phrase, f"{after}."))
    return found


def _stand_ins(instrument: Instrument, content: Questionnaire) -> Iterator[tuple[Prompt, str]]:
    """Everything that may stand in the slot: nothing (the baseline), then each form.

    Each with what all prompts about it share.
    """
    shared = partial(
        Prompt, instrument=instrument.base, mode=instrument.mode, item="", wording="", text=""
    )
    if content.slot.empty is not None or any(item.baseline for item in content.items):
        yield shared(condition=BASELINE, group=BASELINE), content.slot.empty or ""
    for condition in content.conditions:
        for form in condition.forms:
            base = shared(
                condition=condition.id,
                form=form.text,
                group=condition.group,
                category=condition.category,
                phrase=_phrase(instrument, form),
            )
            yield base, slot_text(content.slot, form)
