"""An instrument → its prompts: item × wording × condition, or sentence pair × adjectives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from goffman.config import INSTRUMENT_SETTINGS, Sample
from goffman.errors import Fault, InputError, did_you_mean
from goffman.instruments.completion import completed, written
from goffman.instruments.controls import control_prompts
from goffman.instruments.external import READERS, external_prompts
from goffman.instruments.identities import about_identity, can_cross
from goffman.instruments.loader import builtin_names, load_instrument
from goffman.instruments.paraphrases import ON_REQUEST, OWN_PAIRS, on_request, texts_in
from goffman.instruments.presentation import presented, presented_controls, presented_pairs
from goffman.instruments.sentence_pairs import (
    Pair,
    draw,
    generate_pairs,
    parse_adjective_placement,
    parse_setting,
    prompts_of,
)
from goffman.instruments.subsample import (
    SIZED_PAIRS,
    SUBSAMPLED_KINDS,
    first_look,
    part_of,
    subsample,
)
from goffman.instruments.text import phrase_text, put_in, slot_text
from goffman.instruments.types import (
    BASELINE,
    PASSAGES,
    THEY,
    CarriedPhrase,
    Form,
    Identities,
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
    """Sentence pairs: by-stereotype, by-position or both."""
    neutral_pairs: int | None = None
    """Sentence pairs: how many of neutral occupations are drawn besides; None: none."""
    they: bool | None = None
    """Sentence pairs: whether singular “they” is asked besides."""
    winobias: Path | None = None
    """Sentence pairs: WinoBias's files instead of our own frames."""
    drop_faulty: bool | None = None
    """Sentence pairs: leave out WinoBias pairs that are no minimal pairs."""
    pairs: int | None = None
    """Sentence pairs: how many are drawn; None: as the instrument says, or all of WinoBias's."""
    seed: int | None = None
    """Sentence pairs: which of them are drawn."""
    file: Path | None = None
    """Descriptions, decisions: another study's questions, asked as they are; see external.py."""
    no_answer: bool | None = None
    """Choices: whether not to answer is an option; None: yes."""
    sample: Sample = "all"
    """How many of the prompts: see subsample.py."""


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
    parts: Mapping[Sample, frozenset[str]] = field(default_factory=dict)
    """The ids of the smaller samples in this one, the smallest first; see subsample.py."""


def render(instrument: Instrument, options: PromptOptions | None = None) -> Rendered:
    """Every prompt of an instrument, and of its controls; or a sample of them."""
    options = options or PromptOptions()
    has = setting_names(instrument)
    # Wordings can be printed of any instrument.
    for name in INSTRUMENT_SETTINGS.keys() - {"wordings"}:
        if name not in has and getattr(options, name.replace("-", "_")) is not None:
            raise InputError(f"{instrument.base} has no setting '{name}'.")
    if options.no_answer is not None and instrument.kind not in CHOICES:
        raise InputError("--forced-choice works only with --mode choice or --mode reply.")
    if isinstance(instrument.content, SentencePairs):
        return _of_pairs(instrument, instrument.content, options)
    if options.seed is not None:
        raise InputError(
            f"--seed cannot be used with {instrument.base}, because only sentence pairs "
            "(coreference) are drawn at random."
        )
    others = external_prompts(instrument, instrument.content, options)
    if instrument.kind in (*CHOICES, *PASSAGES):
        prompts, controls = _choices(instrument, instrument.content, options)
    else:
        wordings = chosen_wordings(instrument, options.wordings)
        prompts = tuple(_questionnaire_prompts(instrument, instrument.content, wordings))
        controls = control_prompts(instrument, wordings)
    if as_asked := _OTHERWISE.get(instrument.kind):
        prompts, controls = (
            tuple(as_asked(instrument, prompt) for prompt in some) for some in (prompts, controls)
        )
    part = part_of(instrument)
    few, few_controls = subsample(prompts, part), subsample(controls, part)
    samples: dict[Sample, tuple[tuple[Prompt, ...], tuple[Prompt, ...]]] = {
        "quick": (first_look(few), few_controls),
        "balanced": (few, few_controls),
        "all": (prompts, controls),
    }
    if instrument.kind not in SUBSAMPLED_KINDS:
        samples |= {"quick": (first_look(few), controls), "balanced": samples["all"]}
    if others is not None:
        # Who brings questions wants these, and all of them.
        samples = {name: (others, some) for name, (_, some) in samples.items()}
    return _sampled(instrument, options.sample, samples)


def _sampled(
    instrument: Instrument,
    wanted: Sample,
    samples: Mapping[Sample, tuple[tuple[Prompt, ...], tuple[Prompt, ...]]],
) -> Rendered:
    """The prompts and controls of a sample; ``samples``: each contains the one before it."""
    if wanted == "balanced" and instrument.kind not in SUBSAMPLED_KINDS:
        wanted = "all"
    parts: dict[Sample, frozenset[str]] = {}
    for name, (prompts, controls) in samples.items():
        if name == wanted:
            whole = tuple(map(len, samples["all"]))
            every = None if wanted == "all" else (whole[0], whole[1])
            return Rendered(prompts=prompts, controls=controls, every=every, parts=parts)
        parts[name] = frozenset(prompt.id for prompt in (*prompts, *controls))
    raise InputError(f"There is no sample '{wanted}'.{did_you_mean(wanted, [*samples])}")


def render_crossed(
    instrument: Instrument, factor: Identities, options: PromptOptions | None = None
) -> Rendered:
    """Return the prompts about people of each identity: of the two groups compared, and of none.

    The control items are about nobody, and are not asked again. InputError where the instrument's
    sentences cannot show an identity.
    """
    if not can_cross(instrument, factor):
        raise cannot_cross([instrument.base], factor)
    compared = {BASELINE, *(instrument.settings.get(key) for key in ("contrast", "against"))}
    prompts: list[Prompt] = []
    parts: dict[Sample, set[str]] = {}
    for identity in factor.levels:
        rendered = render(about_identity(instrument, identity), options)
        for prompt in rendered.prompts:
            if prompt.group in compared and prompt.condition not in factor.without:
                # What is known of a condition's phrase is known without an identity.
                named = replace(prompt, identity=identity.name, phrase=None)
                prompts.append(named)
                for name, ids in rendered.parts.items():
                    parts.setdefault(name, set()).update({named.id} if prompt.id in ids else ())
    ids_of = {name: frozenset(ids) for name, ids in parts.items()}
    return Rendered(prompts=tuple(prompts), parts=ids_of)


def cannot_cross(names: Sequence[str], factor: Identities) -> InputError:
    """Return the error that these instruments cannot show an identity, with those that can."""
    known = [name for name in builtin_names() if can_cross(load_instrument(name), factor)]
    return InputError(
        f"--cross {factor.id} cannot be used with {' or '.join(names)}, because the sentences "
        f"cannot name it. Allowed: {', '.join(known)}."
    )


def setting_names(instrument: Instrument) -> tuple[str, ...]:
    """The settings of an instrument that a user may change: see config.py."""
    if isinstance(instrument.content, SentencePairs):
        own = ("neutral-pairs", "they")
        return ("pairs", "adjectives", "placement", *own, "winobias", "drop-faulty")
    on_request = [one for one in _wordings(instrument) if not one.default]
    wordings = ("wordings",) if any(one.source == "study" for one in on_request) else ()
    return ("file",) if instrument.settings.get("instead") in READERS else wordings


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
    if options.wordings is not None and not has_paraphrases(instrument):
        raise InputError(
            f"--wording cannot be used with {instrument.base}, because it has no wordings."
        )
    few = options
    # Who brings sentences, or says how many, wants these.
    given = options.pairs is not None or options.winobias is not None
    if instrument.kind in SUBSAMPLED_KINDS and not given:
        few = replace(few, pairs=min(SIZED_PAIRS, int(instrument.settings["pairs"])))
    # Who asks what adjectives do by themselves wants them.
    alone = options.adjectives or options.neutral_pairs or options.placement == "both"
    plain = few if alone else replace(few, adjectives=["none"])
    chosen: dict[Sample, PromptOptions] = {
        "quick": plain,
        "balanced": plain if instrument.kind in CHOICES else few,
        "all": options,
    }
    found: dict[Sample, Rendered] = {}
    for name, one in chosen.items():
        there = next((found[other] for other in found if chosen[other] == one), None)
        found[name] = there or _all_of_pairs(instrument, content, one)
    samples = {name: (one.prompts, one.controls) for name, one in found.items()}
    sampled, read = _sampled(instrument, options.sample, samples), found[options.sample]
    return replace(sampled, left_out=read.left_out, remarks=read.remarks)


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
    reading = _pairs(instrument, content, options)
    asked = [*_parts_of_pairs(instrument, content, reading.pairs, options, [*chosen.values()])]

    def ask(wording: Wording | None = None) -> list[Prompt]:
        return [prompt for part in asked for prompt in part(wording=wording)]

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


def _parts_of_pairs(
    instrument: Instrument,
    content: SentencePairs,
    pairs: Sequence[Pair],
    options: PromptOptions,
    settings: Sequence[Setting],
) -> Iterator[Callable[..., list[Prompt]]]:
    """What asks the pairs, then those of neutral occupations, then singular “they”."""
    ask = partial(prompts_of, instrument, content)
    own = str(instrument.settings["placement"])
    placement = parse_adjective_placement(own if options.placement is None else options.placement)
    count, seed = options.neutral_pairs, options.seed or 0
    if options.winobias is not None and (options.they or count is not None):
        raise InputError("The settings neutral-pairs and they do not work together with winobias.")
    adjectives = [setting for setting in settings if setting.id != BASELINE]
    swapped = [replace(one, kind="swapped") for one in adjectives if placement == "both"]
    yield partial(ask, pairs, settings=[*settings, *swapped], placement=placement)
    if count is not None:
        others = generate_pairs(content, count=count, seed=seed, neutral=True)
        neutral = [replace(one, kind="neutral") for one in adjectives]
        yield partial(ask, others, settings=neutral, placement="by-stereotype")
    if options.they:
        yield partial(ask, pairs, settings=[Setting()], placement=placement, sides=[THEY])


def wordings_known(instrument: Instrument) -> dict[str, bool]:
    """By id: the wordings of an instrument in its form, and whether each is on by default."""
    further = instrument.paraphrases
    every: Sequence[Stem | Wording]
    if instrument.kind in (*CHOICES, *PASSAGES):
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

    For "paraphrases" those that are off by default, without a study's own.
    """
    known = wordings_known(instrument)
    default = [name for name, on in known.items() if on]
    of_study = {one.id for one in _wordings(instrument) if one.source == "study"}
    further = [name for name in known if name not in {*default, *of_study}]
    groups = {"all": list(known), ON_REQUEST: further}
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


def _wordings(instrument: Instrument) -> Sequence[Wording]:
    content = instrument.content
    return () if isinstance(content, SentencePairs) else content.wordings


def _pairs(instrument: Instrument, content: SentencePairs, options: PromptOptions) -> Reading:
    seed = options.seed or 0
    if options.winobias is None:
        if options.drop_faulty:
            raise InputError("The setting drop-faulty works only together with winobias.")
        count = int(instrument.settings["pairs"]) if options.pairs is None else options.pairs
        return Reading(pairs=tuple(generate_pairs(content, count=count, seed=seed)))
    reading = read_winobias(
        options.winobias, content.occupations, drop_faulty=bool(options.drop_faulty)
    )
    if options.pairs is not None:
        return reading.only(draw(reading.pairs, count=options.pairs, seed=seed))
    if options.seed is not None:
        raise InputError(
            "With winobias, --seed works only together with the setting pairs: it decides which "
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
    instrument: Instrument, prompts: Sequence[Prompt], *, parts: Collection[Collection[str]] = ()
) -> list[CarriedPhrase]:
    """Each form's phrase in a sentence that says that there is such a person, by a prompt of it.

    ``parts``: ids of prompts that a run with a sample has too, so that its phrases stay.
    """
    content = instrument.content
    if isinstance(content, SentencePairs):
        return []
    in_order = sorted(
        prompts, key=lambda prompt: (sum(prompt.id in part for part in parts), prompt.id)
    )
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
