"""An instrument → its forms: the ways in which models of other kinds are asked it."""

from __future__ import annotations

from dataclasses import replace

from goffman.choice_items import ChoiceForm
from goffman.control_items import EXPECTED, Controls
from goffman.errors import InputError, did_you_mean
from goffman.instruments.coreference import without_a_chat
from goffman.instruments.files import ID
from goffman.instruments.load import builtin_names, load_instrument, plugged_instruments
from goffman.records import MASK, Instrument, InstrumentKind, Questionnaire, SentencePairs

_ENDINGS: dict[InstrumentKind, str] = {
    "complete": "completion",
    "choose": "choice",
    "say": "said",
    "write": "written",
    "prefer": "pronouns",
}
"""What stands after an instrument's id in that of its form, and names the form."""

MEANINGS = {
    "fill": "a masked model fills in a blank",
    "classify": "a classifier labels a sentence negative or positive",
    "completion": "a chat or causal model completes a sentence with one word",
    "choice": "a chat or causal model chooses an answer; its probability counts",
    "said": "a chat model chooses an answer; its text counts",
    "written": "a chat model writes a sentence",
    "ask": "a chat model answers a question in its own words",
    "pronouns": "a masked or causal model prefers one of two pronouns",
}
"""What happens in each form, for people."""

_MEASURES: dict[str, tuple[str, str]] = {
    "people": ("code-by-gender", "said-code-by-gender"),
    "pairs": ("coreference-choice", "coreference-said"),
    "codes": ("mean-code", "said-code"),
    "described": ("vignette-code", "said-vignette-code"),
}
"""By what varies: the measure of the options' probabilities, and that of replies."""


def forms_of(instrument: Instrument) -> tuple[Instrument, ...]:
    """The instrument, then its derived forms: each an instrument with an id of its own.

    Of an instrument that has nothing but choices only the derived ones.
    """
    # One that has nothing but choices cannot be asked in another way.
    forms = [] if instrument.kind == "choose" else [instrument]
    if instrument.completion:
        forms.append(_completion(instrument))
    if instrument.choice is not None:
        forms += [_choice(instrument, instrument.choice, kind) for kind in ("choose", "say")]
    if instrument.writing:
        forms.append(_writing(instrument))
    if isinstance(instrument.content, SentencePairs):
        forms.append(without_a_chat(instrument))
    return tuple(forms)


def form_name(form: Instrument, instrument: Instrument) -> str:
    """What a form of an instrument is called: its ending, or its kind where it is the first."""
    return form.kind if form.id == instrument.id else _ENDINGS[form.kind]


def known_as(form: Instrument) -> str:
    """The id of the instrument that a form is of, or that is asked as it is."""
    return form.id.removesuffix(f"-{_ENDINGS.get(form.kind, '')}")


def form_of(instrument: Instrument, name: str) -> Instrument:
    """The form of a name, or of an id; InputError where there is none."""
    forms = {form_name(form, instrument): form for form in forms_of(instrument)}
    by_id = {form.id: form for form in forms.values()}
    if name in forms:
        return forms[name]
    if name in by_id:
        return by_id[name]
    raise InputError(
        f"{instrument.id} has no form '{name}'. Allowed: {', '.join(forms)}."
        + did_you_mean(name, list(forms))
    )


def forms_named(name: str) -> tuple[Instrument, tuple[Instrument, ...]]:
    """The instrument of a name or folder, and its forms; of the name of a form, that form alone.

    Reports call forms by names of their own, such as coreference-pronouns.
    """
    known = (*builtin_names(), *plugged_instruments()) if ID.fullmatch(name) else ()
    for ending in _ENDINGS.values():
        of = name.removesuffix(f"-{ending}")
        if name not in known and of != name and of in known:
            instrument = load_instrument(of)
            return instrument, (form_of(instrument, ending),)
    instrument = load_instrument(name)
    return instrument, forms_of(instrument)


def _completion(instrument: Instrument) -> Instrument:
    return replace(
        instrument,
        id=f"{instrument.id}-{_ENDINGS['complete']}",
        kind="complete",
        title=f"The sentences of {instrument.id}, completed with one word",
    )


def _choice(instrument: Instrument, choice: ChoiceForm, kind: InstrumentKind) -> Instrument:
    """With options to choose from: their probabilities, or one of them named in a reply."""
    said = kind == "say"
    varies = "people" if choice.people else "codes"
    if not isinstance(instrument.content, Questionnaire):
        varies = "pairs"
    # A score of some of the items is of who is described, and not of their gender alone.
    if choice.people and "counted" in instrument.settings:
        varies = "described"
    kept = ("contrast", "against", "pairs", "counted", "instead")
    settings = {key: instrument.settings[key] for key in kept if key in instrument.settings}
    if varies == "pairs":
        settings["placement"] = instrument.settings["placement"]
    settings |= {"measure": _MEASURES[varies][said], "smallest": choice.smallest}
    return replace(
        instrument,
        id=f"{instrument.id}-{_ENDINGS[kind]}",
        kind=kind,
        title=f"{choice.title} ({'answered in text' if said else 'by the options’ probabilities'})",
        settings=settings,
        controls=choice.controls or _choosable(instrument),
    )


def _choosable(instrument: Instrument) -> Controls | None:
    """The instrument's own controls, where an option can answer them: nothing is to be filled.

    Codes have no right value of their own: they are to separate positive from negative.
    """
    controls = instrument.controls
    if controls is None or isinstance(instrument.content, SentencePairs):
        return controls
    # Options have codes, no labels: they must tell what is negative from what is positive.
    ends = tuple(one for one in controls.items if one.expected in EXPECTED["separation"])
    masked = any(MASK in control.text for control in ends)
    if masked or len({control.expected for control in ends}) < 2:
        return None
    return replace(controls, score="separation", items=ends)


def _writing(instrument: Instrument) -> Instrument:
    kept = ("contrast", "against", "smallest")
    settings = {key: instrument.settings[key] for key in kept if key in instrument.settings}
    return replace(
        instrument,
        id=f"{instrument.id}-{_ENDINGS['write']}",
        kind="write",
        title=f"Sentences written about the people of {instrument.id}",
        settings={**settings, "measure": "gender-of-writing"},
        controls=instrument.writing_controls,
    )
