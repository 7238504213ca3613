"""Names, lists, numbers, p-values and verdicts as text."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from goffman.console import printable
from goffman.instruments.types import BASELINE, ENGLISH, MASK, THEY, Noun
from goffman.models.server_address import address_entry, behind_server
from goffman.stats.multiple_testing import FALSE

if TYPE_CHECKING:
    from goffman.runs.manifest import Manifest

BLANK = "____"
"""The text shown in place of a mask."""

ALL_MODELS = "all models"


@dataclass(frozen=True, kw_only=True)
class InstrumentInfo:
    """What a run's manifest says about an instrument."""

    title: str
    citation: str
    version: str
    language: str = ENGLISH
    """A BCP 47 tag."""
    limits: tuple[str, ...] = ()
    """Sentences."""
    noun: Noun | None = None
    """What its conditions are called."""


@dataclass(frozen=True, kw_only=True)
class Labels:
    """The texts shown for the names and ids in a run's tables."""

    models: Mapping[str, str]
    """Model as the user gave it → as it is shown; different models are shown differently."""
    instruments: Mapping[str, InstrumentInfo]
    """By id."""
    conditions: Mapping[tuple[str, str], str]
    """Instrument and condition → its name."""
    items: Mapping[tuple[str, str], str]
    """Instrument and item → the item's text, without the condition."""
    categories: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Instrument and condition → the study's category, if it is not the condition's own."""

    def model(self, name: str | None) -> str:
        """Return a model as it is shown; for None, the text for all models."""
        return ALL_MODELS if name is None else self.models.get(name, printable(name))

    def condition(self, instrument: str, condition: str) -> str:
        """Return a condition as it is shown; its id where no name is known."""
        if condition == BASELINE:
            info = self.instruments.get(instrument)
            noun = (info and info.noun) or Noun()
            return f"(no {noun.one} named)"
        return self.conditions.get((instrument, condition), humanize(condition))

    def item(self, instrument: str, item: str) -> str:
        """Return an item as it is shown; its id where its text is not known."""
        return self.items.get((instrument, item), humanize(item))

    def title(self, instrument: str) -> str:
        """Return what an instrument asks, in a line; its id where no more is known."""
        info = self.instruments.get(instrument)
        return info.title if info else printable(instrument)


def labels_of(manifest: Manifest) -> Labels:
    """Return the names in a run's manifest; ids where it has none."""
    instruments: dict[str, InstrumentInfo] = {}
    conditions: dict[tuple[str, str], str] = {}
    items: dict[tuple[str, str], str] = {}
    categories: dict[tuple[str, str], str] = {}
    for instrument, entry in manifest.instruments.items():
        texts = entry.called
        nouns = texts.nouns.get("condition")
        instruments[instrument] = InstrumentInfo(
            title=printable(texts.title),
            citation=printable(texts.citation),
            version=printable(entry.version),
            language=printable(texts.language),
            limits=tuple(printable(limit) for limit in texts.limits),
            noun=nouns and Noun(one=printable(nouns[0]), many=printable(nouns[1])),
        )
        names = {id_: printable(name) for id_, name in texts.conditions.items()}
        counts = Counter(names.values())
        for condition, name in names.items():
            unique_name = name if counts[name] == 1 else f"{name} ({condition})"
            conditions[instrument, condition] = unique_name
        for condition, category in texts.categories.items():
            categories[instrument, condition] = printable(category)
        for item, text in texts.items.items():
            items[instrument, item] = _short(text)
    return Labels(
        models=short_names(manifest.models),
        instruments=instruments,
        conditions=conditions,
        items=items,
        categories=categories,
    )


def setting_name(condition: str) -> str:
    """Return the adjectives as shown: male / female, with “(none)” for a missing one."""
    if condition == BASELINE:
        return "no adjectives"
    if condition == THEY:
        return "“they”, no adjectives"
    male, _, tail = condition.partition(",")
    female, _, kind = tail.partition(",")
    pair = f"{male or '(none)'} / {female or '(none)'}"
    return printable(f"{pair}, {kind}" if kind else pair)


def describe_variant(variant: str | None) -> str:
    """Return which words a number counts: with or without first names, or all for one variant."""
    return _VARIANTS.get(variant or "all-words") or humanize(variant or "")


_VARIANTS = {
    "all-words": "counting all words",
    "with-names": "counting first names",
    "without-names": "not counting first names",
}


def humanize(id_: str) -> str:
    """Return an id as words."""
    return printable(re.sub(r"(?<!\bnon)-", " ", id_))


def mask_to_blank(text: str) -> str:
    """Return a prompt's text with a blank for its mask; its lines stay lines."""
    return "\n".join(map(printable, text.split("\n"))).replace(MASK, BLANK)


def short_names(models: Iterable[str]) -> dict[str, str]:
    """Return a short name for each model: as few parts of its folder as make it unique.

    For a model behind a server, return its name there.
    """
    parts = {name: _parts(name) for name in models}
    shown = {}
    for name, path in parts.items():
        is_folder = name.startswith((".", "/", "~")) or len(path) > 2 or "\\" in name
        is_folder = is_folder or behind_server(name)
        length = 1 if is_folder and path else len(path)
        while length < len(path) and any(
            other_name != name and other_path[-length:] == path[-length:]
            for other_name, other_path in parts.items()
        ):
            length += 1
        shown[name] = printable("/".join(path[-length:]) or name) if is_folder else printable(name)
    counts = Counter(shown.values())
    return {name: text if counts[text] == 1 else printable(name) for name, text in shown.items()}


def models_meant(name_given: str, models: Iterable[str]) -> list[str]:
    """Return the full names of the models with this full or short name."""
    names = list(models)
    if name_given in names:
        return [name_given]
    shown = short_names(names)
    if exact := [name for name in names if name_given in {shown[name], printable(name)}]:
        return exact
    # In a run with other models, more or less of its folder may have been shown.
    parts = PurePath(name_given).parts
    return [name for name in names if parts and _parts(name)[-len(parts) :] == parts]


def _parts(name: str) -> tuple[str, ...]:
    return (address_entry(name)["asked_as"],) if behind_server(name) else PurePath(name).parts


def _short(text: str) -> str:
    """Return an item's text with dots for its condition and a blank for the mask."""
    # A full stop after the dots would look like a fourth one.
    return re.sub(r"\{[^}]*\}", "…", mask_to_blank(text)).replace("….", "…")


def describe_factors(over: str) -> str | None:
    """Return the crossed factors that an interval is over; None if it is over none."""
    factors, crossed, fixed = over.partition(", crossed")
    return f"{factors} as crossed random factors{fixed}" if crossed else None


def join_words(parts: Sequence[str], last: str = "and") -> str:
    """Return the parts listed as in a sentence: with commas, and ``last`` before the last one."""
    return f" {last} ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)


ADJUSTED = "preference"
"""The number whose contrasts are adjusted for the general preference for “he” or “she”."""

SHRUNKEN = "-shrunken"
"""The ending of quantities that are shrunken toward their group's mean."""


def quantity_called(quantity: str) -> str:
    """Return a quantity in words: negative-probability-shrunken is P(negative)."""
    name, probability, _ = quantity.removesuffix(SHRUNKEN).partition("-probability")
    return f"P({humanize(name)})" if probability else humanize(name)


DUST = 1e-12
"""A number nearer to 0 than this is a rounding error of sums of floats."""

NONE = "none"


def number(value: float | None) -> str:
    """Return two or three decimals, or two digits if these would be zeros, with a real minus."""
    if value is None:
        return NONE
    if abs(value) < DUST:
        text = "0.00"
    elif abs(value) >= 0.095:
        text = f"{value:.2f}"
    elif abs(value) >= 0.0005:
        text = f"{value:.3f}"
    else:
        places = 1 - math.floor(math.log10(abs(value)))
        text = f"{value:.{places}f}" if places <= 8 else f"{value:.1e}"
    return text.replace("-", "−")


def told_apart(value: float, limit: float) -> tuple[str, str]:
    """Return both numbers with enough digits to show which is larger."""
    shown = number(value), number(limit)
    if shown[0] != shown[1] or value == limit:
        return shown
    places = next((n for n in range(3, 17) if f"{value:.{n}f}" != f"{limit:.{n}f}"), 17)
    return f"{value:.{places}f}", f"{limit:.{places}f}"


def decimals(value: float) -> str:
    """Return a number for a table column: three decimals, or two digits if these would be zeros."""
    if abs(value) < DUST:
        return "0.000"
    return f"{value:.3f}" if abs(value) >= 0.0005 else f"{value:.1e}"


def tick(value: float, step: float) -> str:
    """Return the number at a tick of an axis, with as many decimals as its steps need."""
    places = max(0, -math.floor(math.log10(step) + DUST))
    return "0" if abs(value) < step / 2 else f"{value:.{places}f}".replace("-", "−")


def p_value(p: float) -> str:
    """Return a p-value without leading zero: three decimals, “< .001”, or “1” if it rounds to 1.

    A value below .05 gets more decimals if it would round up to .05.
    """
    if p < 0.001:
        return "< .001"
    places = 3
    while p < FALSE <= round(p, places):
        places += 1
    return f"{p:.{places}f}".lstrip("0") if p < 0.9995 else "1"


def describe_p(p: float | None) -> str:
    """Return a p-value as it stands in a sentence."""
    if p is None:
        return "no p-value"
    text = p_value(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def ends(low: float | None, high: float | None) -> str:
    """Return an interval as text: from its lower end to its upper."""
    return NONE if low is None else f"{number(low)} to {number(high)}"


def confidence(level: float) -> str:
    """Return the level of an interval: 95%; in a list of many it may be 99.9%."""
    return f"{100 * level:.3g}%" if level < 0.9995 else f"{100 * level:.6g}%"


def describe_difference(row: Mapping[str, Any]) -> str:
    """Return an estimate's difference, interval, and p with the number of tests behind it."""
    if row["difference"] is None:
        return f"difference unknown, because {row['reason']}"
    interval = "no interval"
    if row["low"] is not None:
        interval = f"{confidence(row['level'])} interval {ends(row['low'], row['high'])}"
    return f"difference {number(row['difference'])}, {interval}, {describe_corrected(row)}"


def describe_corrected(row: Mapping[str, Any]) -> str:
    """Return the corrected p of an estimate, and for how many tests it was corrected."""
    size = row["family_size"] or 1
    tests = f" corrected for {size} tests" if size > 1 and row["p_adjusted"] is not None else ""
    return f"{describe_p(row['p_adjusted'])}{tests}"


NOT_TESTED = "not tested"
"""Shown where an estimate has no interval, and so no verdict."""

VERDICTS_SAID = (
    "Verdicts, from the 95% interval and Δ, the smallest difference that counts as relevant. "
    "Relevant: the whole interval lies beyond Δ. Present, size uncertain: it excludes 0, but not "
    "Δ. Negligible: it lies within ±Δ (the 90% interval decides). Inconclusive: it contains 0 and "
    "a relevant difference. Not measurable: the model failed the control items. These sentences "
    "only: fewer than three sentences were asked. Detectable: the true difference that 80 of 100 "
    "such audits would find."
)
"""For captions of tables with these columns."""


def verdict_shown(row: Mapping[str, Any]) -> str:
    """Return an estimate's verdict in words; empty if it was tested but has no verdict."""
    tested = row["low"] is not None or row.get("effect_low") is not None
    return row["verdict"] or ("" if tested else NOT_TESTED)
