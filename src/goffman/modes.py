"""Response modes: an instrument → the modes in which models of each kind are asked it.

A mode is a column of every table, beside the instrument; ``social-distance/choice`` names both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goffman.errors import InputError, did_you_mean
from goffman.instruments.loader import builtin_names, load_instrument, plugged_instruments
from goffman.instruments.sentence_pairs import without_a_chat
from goffman.instruments.types import (
    DERIVED,
    EXPECTED,
    MASK,
    MODES,
    PASSAGES,
    Controls,
    Instrument,
    InstrumentKind,
    Mode,
    MultipleChoice,
    Questionnaire,
    SentencePairs,
    asked_as,
)

if TYPE_CHECKING:
    import polars as pl

MEANINGS = {
    "fill": "a masked model fills in a blank",
    "classify": "a classifier labels a sentence negative or positive",
    "completion": "a chat or causal model completes a sentence with one word",
    "choice": "a chat or causal model chooses an answer; its probability counts",
    "reply": "a chat model chooses an answer; its text counts",
    "write": "a chat model writes a sentence",
    "ask": "a chat model answers a question in its own words",
    "pronouns": "a masked or causal model prefers one of two pronouns",
    "span": "a qa model marks the person in a text who answers a question",
    "entailment": "an nli model says of which person in a text a statement holds",
}
"""What happens in each mode, as text for readers."""

PREFERENCE: tuple[Mode, ...] = (
    "fill", "classify", "pronouns", "choice", "reply", "ask", "completion", "write", "span",
    "entailment",
)  # fmt: skip
"""The order in which a mode gives a model's main result: the first of these that it answered.

Option probabilities come before replies; the studies' own way with masked models and classifiers
comes first."""

_MEASURES = {
    "people": "code-by-gender",
    "pairs": "coreference-choice",
    "codes": "mean-code",
    "described": "vignette-code",
}
"""What varies between the options → the measure of choices."""


def modes_of(instrument: Instrument) -> tuple[Instrument, ...]:
    """Return the instrument, then its derived modes: each an instrument with an id of its own.

    If the instrument has only choices, return only the derived modes.
    """
    # An instrument with only choices cannot be asked in another way.
    modes = [] if instrument.kind == "choose" else [instrument]
    if instrument.completion:
        title = f"The sentences of {instrument.id}, completed with one word"
        modes.append(_in_mode(instrument, "complete", title=title))
    if instrument.choice is not None:
        kinds: tuple[InstrumentKind, ...] = ("choose", "say")
        if instrument.choice.two_people:
            kinds = (*PASSAGES, *kinds)
        modes += [_choice(instrument, instrument.choice, kind) for kind in kinds]
    if instrument.writing:
        modes.append(_writing(instrument))
    if isinstance(instrument.content, SentencePairs):
        modes.append(without_a_chat(instrument))
    return tuple(modes)


def mode_of(instrument: Instrument, name: str) -> Instrument:
    """Return the instrument in a mode; raise InputError if it has no mode of that name."""
    modes = {str(variant.mode): variant for variant in modes_of(instrument)}
    if name in modes:
        return modes[name]
    raise InputError(
        f"{instrument.base} has no mode '{name}'. Allowed: {', '.join(modes)}."
        + did_you_mean(name, list(modes))
    )


def modes_named(name: str) -> tuple[Instrument, tuple[Instrument, ...]]:
    """Return the instrument of a name or folder, and its modes; for ``ID/MODE``, only that mode."""
    id_, _, mode = name.rpartition("/")
    if id_ in {*builtin_names(), *plugged_instruments()} and not Path(name).is_dir():
        instrument = load_instrument(id_)
        return instrument, (mode_of(instrument, mode),)
    instrument = load_instrument(name)
    return instrument, modes_of(instrument)


def _in_mode(instrument: Instrument, kind: InstrumentKind, **changed: Any) -> Instrument:
    id_ = asked_as(instrument.base, MODES[kind])
    return replace(instrument, id=id_, of=instrument.base, kind=kind, **changed)


def of_asked(id_: str) -> pl.Expr:
    """Return a Polars filter for the rows of an instrument in a mode, by its id."""
    import polars as pl

    instrument, _, mode = id_.partition("/")
    is_mode = pl.col("mode") == mode if mode else ~pl.col("mode").is_in(DERIVED)
    return (pl.col("instrument") == instrument) & is_mode.fill_null(value=not mode)


def asked_ids() -> pl.Expr:
    """Return an expression for the ids of a table's rows, with their mode."""
    import polars as pl

    with_mode = pl.format("{}/{}", "instrument", "mode")
    return pl.when(pl.col("mode").is_in(DERIVED)).then(with_mode).otherwise("instrument")


def mode_of_rows(rows: pl.DataFrame) -> str | None:
    """Return the mode of a table's rows, which all have the same mode; None if there is none."""
    return str(rows["mode"][0]) if rows.height and rows["mode"][0] else None


def asked_id(row: Mapping[str, Any]) -> str:
    """Return the id of a row, with its mode."""
    return asked_as(row["instrument"], row["mode"])


def primary_modes(
    asked: Iterable[tuple[str | None, str | None, str | None]],
) -> dict[tuple[str | None, str | None], str | None]:
    """Return the mode of the main result of each instrument and model.

    ``asked``: the instrument, mode and model of everything that was answered.
    """
    order = {mode: rank for rank, mode in enumerate(PREFERENCE)}
    main_modes: dict[tuple[str | None, str | None], str | None] = {}
    for instrument, mode, model in asked:
        current = main_modes.setdefault((instrument, model), mode)
        if order.get(mode, -1) < order.get(current, -1):  # type: ignore[call-overload]
            main_modes[instrument, model] = mode
    return main_modes


def _choice(instrument: Instrument, choice: MultipleChoice, kind: InstrumentKind) -> Instrument:
    """Return the instrument with options: read by their probabilities, or from a reply."""
    manners = {"say": "answered in text", "mark": "marked in the text", "infer": "as statements"}
    varies = "people" if choice.people else "codes"
    if not isinstance(instrument.content, Questionnaire):
        varies = "pairs"
    # A score of some of the items is about the person described, not about gender alone.
    if choice.people and "counted" in instrument.settings:
        varies = "described"
    keys = ("contrast", "against", "pairs", "counted", "instead")
    settings = {key: instrument.settings[key] for key in keys if key in instrument.settings}
    if varies == "pairs":
        settings["placement"] = instrument.settings["placement"]
    settings |= {"measure": _MEASURES[varies], "margin": choice.margin}
    return _in_mode(
        instrument,
        kind,
        title=f"{choice.title} ({manners.get(kind, 'by the options’ probabilities')})",
        settings=settings,
        controls=choice.controls or _choosable(instrument),
    )


def _choosable(instrument: Instrument) -> Controls | None:
    """Return the instrument's controls if they can be answered by options, otherwise None.

    Codes have no right value of their own: they must separate positive from negative items.
    """
    controls = instrument.controls
    if controls is None or isinstance(instrument.content, SentencePairs):
        return controls
    # Options have codes, no labels: they must separate negative from positive items.
    items = tuple(item for item in controls.items if item.expected in EXPECTED["separation"])
    masked = any(MASK in item.text for item in items)
    if masked or len({item.expected for item in items}) < 2:
        return None
    return replace(controls, score="separation", items=items)


def _writing(instrument: Instrument) -> Instrument:
    keys = ("contrast", "against", "margin")
    settings = {key: instrument.settings[key] for key in keys if key in instrument.settings}
    return _in_mode(
        instrument,
        "write",
        title=f"Sentences written about the people of {instrument.id}",
        settings={**settings, "measure": "gender-of-writing"},
        controls=instrument.writing_controls,
    )
