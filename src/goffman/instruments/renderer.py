"""Render an instrument as prompts: item × wording × condition, or sentence pair × adjectives."""

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
from goffman.instruments.multiple_choice import presented, presented_controls, presented_pairs
from goffman.instruments.paraphrases import ON_REQUEST, OWN_PAIRS, on_request, texts_in
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
"""By kind: how a sentence with a mask is changed for models that cannot fill it."""


@dataclass(frozen=True, kw_only=True)
class PromptOptions:
    """The user's choices of what an instrument asks; None: the instrument's own."""

    wordings: Sequence[str] | None = None
    """Ids of wordings, "all", or "paraphrases" for those that are asked only on request; None:
    those on by default."""
    adjectives: Sequence[str] | None = None
    """Sentence pairs: "male,female" each, "all" or "none"; the baseline is always included."""
    placement: str | None = None
    """Sentence pairs: by-stereotype, by-position or both."""
    neutral_pairs: int | None = None
    """Sentence pairs: how many of neutral occupations are drawn in addition; None: none."""
    they: bool | None = None
    """Sentence pairs: whether singular “they” is asked in addition."""
    winobias: Path | None = None
    """Sentence pairs: WinoBias's files instead of our own frames."""
    drop_faulty: bool | None = None
    """Sentence pairs: leave out WinoBias pairs that are not minimal pairs."""
    pairs: int | None = None
    """Sentence pairs: how many are drawn; None: as the instrument says, or all of WinoBias's."""
    seed: int | None = None
    """Sentence pairs: the seed that decides which of them are drawn."""
    file: Path | None = None
    """Descriptions, decisions: another study's questions, asked unchanged; see external.py."""
    no_answer: bool | None = None
    """Choices: whether not to answer is an option; None: yes."""
    sample: Sample = "all"
    """How many of the prompts: see subsample.py."""


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """The prompts of an instrument, with notes about them."""

    prompts: tuple[Prompt, ...]
    """Always in the same order."""
    controls: tuple[Prompt, ...] = ()
    """The prompts of the control items."""
    left_out: tuple[Fault, ...] = ()
    """The sentence pairs that were left out on request, and why."""
    remarks: tuple[Fault, ...] = ()
    """Faults of sentence pairs that were kept."""
    every: tuple[int, int] | None = None
    """How many prompts and control prompts there are, if this is a part of them."""
    parts: Mapping[Sample, frozenset[str]] = field(default_factory=dict)
    """The ids of the smaller samples in this one, the smallest first; see subsample.py."""


def render(instrument: Instrument, options: PromptOptions | None = None) -> Rendered:
    """Return every prompt of an instrument and of its controls, or a sample of them."""
    options = options or PromptOptions()
    settings = setting_names(instrument)
    # Wordings can be printed for any instrument.
    for name in INSTRUMENT_SETTINGS.keys() - {"wordings"}:
        if name not in settings and getattr(options, name.replace("-", "_")) is not None:
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
    external = external_prompts(instrument, instrument.content, options)
    if instrument.kind in (*CHOICES, *PASSAGES):
        prompts, controls = _choices(instrument, instrument.content, options)
    else:
        wordings = chosen_wordings(instrument, options.wordings)
        prompts = tuple(_questionnaire_prompts(instrument, instrument.content, wordings))
        controls = control_prompts(instrument, wordings)
    if as_asked := _OTHERWISE.get(instrument.kind):
        prompts, controls = (
            tuple(as_asked(instrument, prompt) for prompt in group) for group in (prompts, controls)
        )
    part = part_of(instrument)
    sample, control_sample = subsample(prompts, part), subsample(controls, part)
    samples: dict[Sample, tuple[tuple[Prompt, ...], tuple[Prompt, ...]]] = {
        "quick": (first_look(sample), control_sample),
        "balanced": (sample, control_sample),
        "all": (prompts, controls),
    }
    if instrument.kind not in SUBSAMPLED_KINDS:
        samples |= {"quick": (first_look(sample), controls), "balanced": samples["all"]}
    if external is not None:
        # If a user brings questions, every sample has all of them.
        samples = {name: (external, group) for name, (_, group) in samples.items()}
    return _sampled(instrument, options.sample, samples)


def _sampled(
    instrument: Instrument,
    wanted: Sample,
    samples: Mapping[Sample, tuple[tuple[Prompt, ...], tuple[Prompt, ...]]],
) -> Rendered:
    """Return the prompts and controls of the sample ``wanted``.

    ``samples``: prompts and controls by sample; each contains the one before it.
    """
    if wanted == "balanced" and instrument.kind not in SUBSAMPLED_KINDS:
        wanted = "all"
    parts: dict[Sample, frozenset[str]] = {}
    for name, (prompts, controls) in samples.items():
        if name == wanted:
            counts = tuple(map(len, samples["all"]))
            every = None if wanted == "all" else (counts[0], counts[1])
            return Rendered(prompts=prompts, controls=controls, every=every, parts=parts)
        parts[name] = frozenset(prompt.id for prompt in (*prompts, *controls))
    raise InputError(f"There is no sample '{wanted}'.{did_you_mean(wanted, [*samples])}")


def render_crossed(
    instrument: Instrument, factor: Identities, options: PromptOptions | None = None
) -> Rendered:
    """Return the prompts about people of each identity, with conditions of the two groups or none.

    The control items are about nobody, so they are left out. Raise InputError if the instrument's
    sentences cannot show an identity.
    """
    if not can_cross(instrument, factor):
        raise cannot_cross([instrument.base], factor)
    groups = {BASELINE, *(instrument.settings.get(key) for key in ("contrast", "against"))}
    prompts: list[Prompt] = []
    parts: dict[Sample, set[str]] = {}
    for identity in factor.levels:
        rendered = render(about_identity(instrument, identity), options)
        for prompt in rendered.prompts:
            if prompt.group in groups and prompt.condition not in factor.without:
                # The phrase is left out: the prompts without an identity already have it.
                identity_prompt = replace(prompt, identity=identity.name, phrase=None)
                prompts.append(identity_prompt)
                for name, ids in rendered.parts.items():
                    parts.setdefault(name, set()).update(
                        {identity_prompt.id} if prompt.id in ids else ()
                    )
    ids_of = {name: frozenset(ids) for name, ids in parts.items()}
    return Rendered(prompts=tuple(prompts), parts=ids_of)


def cannot_cross(names: Sequence[str], factor: Identities) -> InputError:
    """Return an error that these instruments cannot show the identity; it names those that can."""
    able_ids = [name for name in builtin_names() if can_cross(load_instrument(name), factor)]
    return InputError(
        f"--cross {factor.id} cannot be used with {' or '.join(names)}, because the sentences "
        f"cannot name it. Allowed: {', '.join(able_ids)}."
    )


def setting_names(instrument: Instrument) -> tuple[str, ...]:
    """Return the settings of an instrument that a user may change: see config.py."""
    if isinstance(instrument.content, SentencePairs):
        pair_settings = ("neutral-pairs", "they")
        return ("pairs", "adjectives", "placement", *pair_settings, "winobias", "drop-faulty")
    on_request = [wording for wording in _wordings(instrument) if not wording.default]
    wordings = ("wordings",) if any(wording.source == "study" for wording in on_request) else ()
    return ("file",) if instrument.settings.get("instead") in READERS else wordings


def _choices(
    instrument: Instrument, content: Questionnaire, options: PromptOptions
) -> tuple[tuple[Prompt, ...], tuple[Prompt, ...]]:
    """Return the prompts of a questionnaire with options, and those of its controls."""
    form = _form_of(instrument)
    stems = _chosen_stems(instrument, options.wordings)
    no_answer = options.no_answer is not False
    stand_ins = _stand_ins(instrument, content)
    prompts = presented(content, form, stand_ins, stems=stems, no_answer=no_answer)
    default_stems = [stem for stem in stems if stem.default]
    controls = presented_controls(
        instrument, content, form, stems=default_stems, no_answer=no_answer
    )
    return tuple(prompts), tuple(controls)


def _chosen_stems(instrument: Instrument, names: Sequence[str] | None) -> list[Stem]:
    ids = chosen_wordings(instrument, names)
    stems = (*_form_of(instrument).stems, *instrument.paraphrases.stems)
    return [stem for stem in stems if stem.id in ids]


def _form_of(instrument: Instrument) -> MultipleChoice:
    if instrument.choice is None:
        raise InputError(
            f"{instrument.id} has no choice.toml, so it has no answers to choose from."
        )
    return instrument.choice


def _of_pairs(instrument: Instrument, content: SentencePairs, options: PromptOptions) -> Rendered:
    """Return the prompts of sentence pairs: all, or a sample with fewer pairs or adjectives."""
    if options.wordings is not None and not has_paraphrases(instrument):
        raise InputError(
            f"--wording cannot be used with {instrument.base}, because it has no wordings."
        )
    part = options
    # If a user brings sentences or says how many, every sample has all of them.
    user_pairs = options.pairs is not None or options.winobias is not None
    if instrument.kind in SUBSAMPLED_KINDS and not user_pairs:
        part = replace(part, pairs=min(SIZED_PAIRS, int(instrument.settings["pairs"])))
    # If a user chooses adjectives, every sample has them.
    adjectives_asked = options.adjectives or options.neutral_pairs or options.placement == "both"
    plain = part if adjectives_asked else replace(part, adjectives=["none"])
    chosen: dict[Sample, PromptOptions] = {
        "quick": plain,
        "balanced": plain if instrument.kind in CHOICES else part,
        "all": options,
    }
    rendered_by_name: dict[Sample, Rendered] = {}
    for name, part_options in chosen.items():
        equal = next(
            (
                rendered_by_name[known_name]
                for known_name in rendered_by_name
                if chosen[known_name] == part_options
            ),
            None,
        )
        rendered_by_name[name] = equal or _all_of_pairs(instrument, content, part_options)
    samples = {
        name: (rendered.prompts, rendered.controls) for name, rendered in rendered_by_name.items()
    }
    sampled, rendered = (
        _sampled(instrument, options.sample, samples),
        rendered_by_name[options.sample],
    )
    return replace(sampled, left_out=rendered.left_out, remarks=rendered.remarks)


def _all_of_pairs(
    instrument: Instrument, content: SentencePairs, options: PromptOptions
) -> Rendered:
    # The baseline is always asked; without adjectives of the user's, all of the instrument's are.
    settings: dict[str, Setting] = {BASELINE: Setting()}
    for text in options.adjectives or ("all",):
        if text == "all":
            settings |= {setting.id: setting for setting in content.settings}
        elif text != "none":
            setting = parse_setting(text)
            settings[setting.id] = setting
    reading = _pairs(instrument, content, options)
    parts = [*_parts_of_pairs(instrument, content, reading.pairs, options, [*settings.values()])]

    def ask(wording: Wording | None = None) -> list[Prompt]:
        return [prompt for part in parts for prompt in part(wording=wording)]

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
        paraphrases = {wording.id: wording for wording in instrument.paraphrases.wordings}
        for name in chosen_wordings(instrument, options.wordings):
            prompts += ask(wording=paraphrases.get(name))
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
    """Yield functions for prompts of the pairs, of neutral occupations, and of singular “they”."""
    ask = partial(prompts_of, instrument, content)
    own_placement = str(instrument.settings["placement"])
    placement = parse_adjective_placement(
        own_placement if options.placement is None else options.placement
    )
    count, seed = options.neutral_pairs, options.seed or 0
    if options.winobias is not None and (options.they or count is not None):
        raise InputError("The settings neutral-pairs and they do not work together with winobias.")
    adjectives = [setting for setting in settings if setting.id != BASELINE]
    swapped = [replace(setting, kind="swapped") for setting in adjectives if placement == "both"]
    yield partial(ask, pairs, settings=[*settings, *swapped], placement=placement)
    if count is not None:
        neutral_pairs = generate_pairs(content, count=count, seed=seed, neutral=True)
        neutral_settings = [replace(setting, kind="neutral") for setting in adjectives]
        yield partial(ask, neutral_pairs, settings=neutral_settings, placement="by-stereotype")
    if options.they:
        yield partial(ask, pairs, settings=[Setting()], placement=placement, sides=[THEY])


def wordings_known(instrument: Instrument) -> dict[str, bool]:
    """Return an instrument's wordings in its mode: id → whether it is asked by default."""
    paraphrases = instrument.paraphrases
    wordings: Sequence[Stem | Wording]
    if instrument.kind in (*CHOICES, *PASSAGES):
        wordings = (*_form_of(instrument).stems, *paraphrases.stems)
    elif isinstance(instrument.content, SentencePairs):
        wordings = (Wording(id=OWN_PAIRS), *paraphrases.wordings)
    else:
        wordings = (*instrument.content.wordings, *paraphrases.wordings)
    return {wording.id: wording.default for wording in wordings}


def has_paraphrases(instrument: Instrument) -> bool:
    """Return whether the instrument, in its mode, has wordings that are asked only on request."""
    return not all(wordings_known(instrument).values())


def chosen_wordings(instrument: Instrument, names: Sequence[str] | None) -> list[str]:
    """Return the ids of the wordings to ask: those named, all for "all", else the default ones.

    For "paraphrases", return those asked only on request, except a study's own.
    """
    default_by_id = wordings_known(instrument)
    default_ids = [name for name, is_default in default_by_id.items() if is_default]
    study_ids = {wording.id for wording in _wordings(instrument) if wording.source == "study"}
    further_ids = [name for name in default_by_id if name not in {*default_ids, *study_ids}]
    groups = {"all": list(default_by_id), ON_REQUEST: further_ids}
    chosen: set[str] = set()
    for name in names or ():
        allowed_names = [*default_by_id, *(group for group, members in groups.items() if members)]
        if name not in allowed_names:
            listing = ", ".join(f"'{allowed_name}'" for allowed_name in allowed_names)
            if len(default_by_id) == 1:
                listing = f"'{allowed_names[0]}' (its one wording) or 'all'"
            raise InputError(
                f"{instrument.id} has no wording '{name}'. Allowed: "
                f"{listing}.{did_you_mean(name, list(default_by_id))}"
            )
        chosen |= {*groups.get(name, [name])}
    return [name for name in default_by_id if name in chosen] or default_ids


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
    """Yield the prompts of a questionnaire in these wordings, first those of the baseline."""
    content = on_request(content, instrument.paraphrases)
    sentences = [
        (item, wording)
        for wording in content.wordings
        if wording.id in wordings
        for item in texts_in(content, wording)
    ]
    for condition_prompt, slot_value in _stand_ins(instrument, content):
        values = {**content.fields, content.slot.name: slot_value}
        for item, wording in sentences:
            # Without a condition, more of the sentence may change than its slot.
            text = item.text if condition_prompt.form is not None else item.baseline or item.text
            yield replace(
                condition_prompt,
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
    """Return a form's words in the slot, or None if the form is a whole text."""
    content = instrument.content
    if isinstance(content, SentencePairs) or "{vignette}" in content.slot.filled:
        return None
    return phrase_text(content.slot, form)[1]


def _source(item: Item, wording: Wording) -> Source | None:
    """Return the origin of a sentence: "own" if its item or wording is goffman's own, or None."""
    sources = {item.source, wording.source}
    return next((source for source in ("own", "study") if source in sources), None)


def carried_phrases(
    instrument: Instrument, prompts: Sequence[Prompt], *, parts: Collection[Collection[str]] = ()
) -> list[CarriedPhrase]:
    """Return each form's phrase in a sentence such as "There is someone who …", with a prompt's id.

    ``parts``: the ids of smaller samples; ids from them are preferred, so that a run can grow.
    """
    content = instrument.content
    if isinstance(content, SentencePairs):
        return []
    in_order = sorted(
        prompts, key=lambda prompt: (sum(prompt.id in part for part in parts), prompt.id)
    )
    by_form = {(prompt.condition, prompt.form): prompt for prompt in in_order if prompt.phrase}
    is_plural = "{plural_verb}" in content.slot.filled or "{plural}" in content.slot.filled
    phrases = []
    for condition in content.conditions:
        for form in condition.forms:
            if prompt := by_form.get((condition.id, form.text)):
                before, phrase, after = phrase_text(content.slot, form)
                start = f"There {'are' if is_plural else 'is'} {before}"
                phrases.append(CarriedPhrase(prompt.id, start, phrase, f"{after}."))
    return phrases


def _stand_ins(instrument: Instrument, content: Questionnaire) -> Iterator[tuple[Prompt, str]]:
    """Yield, for the baseline and then each form of a condition, a prompt and a text for the slot.

    The prompt has only the fields about the condition.
    """
    make_prompt = partial(
        Prompt, instrument=instrument.base, mode=instrument.mode, item="", wording="", text=""
    )
    if content.slot.empty is not None or any(item.baseline for item in content.items):
        yield make_prompt(condition=BASELINE, group=BASELINE), content.slot.empty or ""
    for condition in content.conditions:
        for form in condition.forms:
            condition_prompt = make_prompt(
                condition=condition.id,
                form=form.text,
                group=condition.group,
                category=condition.category,
                phrase=_phrase(instrument, form),
            )
            yield condition_prompt, slot_text(content.slot, form)
