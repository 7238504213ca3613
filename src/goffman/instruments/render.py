"""An instrument → its prompts: item × wording × condition, or sentence pair × adjectives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from goffman.errors import InputError, did_you_mean
from goffman.instruments.controls import control_prompts
from goffman.instruments.coreference import (
    draw,
    generate_pairs,
    prompts_of,
)
from goffman.instruments.sentences import parse_adjective_placement, parse_setting
from goffman.instruments.templates import put_in, slot_text
from goffman.instruments.winobias import Reading, read_winobias
from goffman.records import (
    BASELINE,
    Condition,
    Fault,
    Form,
    Instrument,
    Prompt,
    Questionnaire,
    SentencePairs,
    Setting,
)

FOR_SENTENCE_PAIRS = {
    "adjectives": "--adjectives",
    "placement": "--adjective-placement",
    "winobias": "--winobias",
    "drop_faulty": "--drop-faulty",
    "pairs": "--sentence-pairs",
    "seed": "--seed",
}
"""The options that mean something for sentence pairs alone."""


@dataclass(frozen=True, kw_only=True)
class PromptOptions:
    """What to ask of an instrument, where it leaves a choice; None: as the instrument says."""

    wordings: Sequence[str] | None = None
    """Questionnaires: ids of wordings, or "all"; None: those on by default."""
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


def render(instrument: Instrument, options: PromptOptions | None = None) -> Rendered:
    """Every prompt of an instrument, and of its controls."""
    options = options or PromptOptions()
    content = instrument.content
    if isinstance(content, Questionnaire):
        _refuse(instrument, options, FOR_SENTENCE_PAIRS, because="it has no sentence pairs")
        wordings = chosen_wordings(instrument, content, options.wordings)
        return Rendered(
            prompts=tuple(_questionnaire_prompts(instrument, content, wordings)),
            controls=control_prompts(instrument, wordings),
        )
    _refuse(instrument, options, {"wordings": "--wording"}, because="it has no wordings")
    settings = chosen_settings(content, options.adjectives)
    own = str(instrument.settings["placement"])
    placement = parse_adjective_placement(own if options.placement is None else options.placement)
    reading = _pairs(instrument, content, options)
    prompts = prompts_of(instrument, content, reading.pairs, settings=settings, placement=placement)
    return Rendered(
        prompts=tuple(prompts),
        controls=control_prompts(instrument),
        left_out=reading.left_out,
        remarks=tuple(fault for _, fault in reading.remarks),
    )


def _refuse(
    instrument: Instrument, options: PromptOptions, meaningless: Mapping[str, str], *, because: str
) -> None:
    """An error where an option is given that means nothing for this instrument."""
    for name, option in meaningless.items():
        if getattr(options, name) is not None:
            raise InputError(f"{option} cannot be used with {instrument.id}, because {because}.")


def chosen_wordings(
    instrument: Instrument, content: Questionnaire, names: Sequence[str] | None
) -> list[str]:
    """The ids of the wordings to ask: those named, all of them for "all", else the default ones."""
    known = [wording.id for wording in content.wordings]
    for name in names or ():
        if name not in known and name != "all":
            one = f"'{known[0]}' (its one wording) or 'all'"
            several = ", ".join(f"'{each}'" for each in [*known, "all"])
            raise InputError(
                f"{instrument.id} has no wording '{name}'. Allowed: "
                f"{one if len(known) == 1 else several}.{did_you_mean(name, known)}"
            )
    if names and "all" in names:
        return known
    return list(names or ()) or [wording.id for wording in content.wordings if wording.default]


def chosen_settings(content: SentencePairs, given: Sequence[str] | None) -> list[Setting]:
    """The baseline, and the settings given: all of the instrument's for "all" or None."""
    chosen: dict[str, Setting] = {BASELINE: Setting()}
    for text in given or ("all",):
        if text == "all":
            chosen |= {setting.id: setting for setting in content.settings}
        elif text != "none":
            setting = parse_setting(text)
            chosen[setting.id] = setting
    return list(chosen.values())


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
            "--seed chooses which pairs are drawn. With --winobias, it works only if you also give "
            "--sentence-pairs."
        )
    return reading


def _questionnaire_prompts(
    instrument: Instrument, content: Questionnaire, wordings: Sequence[str]
) -> Iterator[Prompt]:
    """The baseline's prompts first, then condition by condition."""
    sentences = [
        (item, wording)
        for wording in content.wordings
        if wording.id in wordings
        for item in content.items
        if item.wording in {"", wording.id}
    ]
    for condition, form, stands_there in _stand_ins(content):
        values = {**content.fields, content.slot.name: stands_there}
        for item, wording in sentences:
            # Left out, a condition may take more of the sentence with it than its slot.
            text = item.text if condition else item.baseline or item.text
            yield Prompt(
                instrument=instrument.id,
                item=item.id,
                wording=wording.id,
                dimension=item.dimension or None,
                keyed=item.keyed,
                condition=condition.id if condition else BASELINE,
                form=form.text if form else None,
                group=condition.group if condition else BASELINE,
                category=condition.category if condition else None,
                text=put_in(wording.frame.replace("{item}", text), values),
            )


def _stand_ins(content: Questionnaire) -> Iterator[tuple[Condition | None, Form | None, str]]:
    """Everything that may stand in the slot: nothing (the baseline), then each form."""
    if content.slot.empty is not None or any(item.baseline for item in content.items):
        yield None, None, content.slot.empty or ""
    for condition in content.conditions:
        for form in condition.forms:
            yield condition, form, slot_text(content.slot, form)
