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
"""How a mask is shown to people."""

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
    """What is shown for the names and ids in a run's tables."""

    models: Mapping[str, str]
    """As the user gave it → as it is shown; different for different models."""
    instruments: Mapping[str, InstrumentInfo]
    """By id."""
    conditions: Mapping[tuple[str, str], str]
    """Instrument and condition → its name."""
    items: Mapping[tuple[str, str], str]
    """Instrument and item → what it says, without the condition."""
    categories: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Instrument and condition → where the study puts it, if that is not its category."""

    def model(self, name: str | None) -> str:
        """A model as it is shown; over all models where there is no name."""
        return ALL_MODELS if name is None else self.models.get(name, printable(name))

    def condition(self, instrument: str, condition: str) -> str:
        """A condition as it is shown; its id where no name is known."""
        if condition == BASELINE:
            known = self.instruments.get(instrument)
            noun = (known and known.noun) or Noun()
            return f"(no {noun.one} named)"
        return self.conditions.get((instrument, condition), humanize(condition))

    def item(self, instrument: str, item: str) -> str:
        """An item as it is shown; its id where its text is not known."""
        return self.items.get((instrument, item), humanize(item))

    def title(self, instrument: str) -> str:
        """What an instrument asks, in a line; its id where no more is known."""
        known = self.instruments.get(instrument)
        return known.title if known else printable(instrument)


def labels_of(manifest: Manifest) -> Labels:
    """The names of a run, as its manifest has them; ids where it has none."""
    instruments: dict[str, InstrumentInfo] = {}
    conditions: dict[tuple[str, str], str] = {}
    items: dict[tuple[str, str], str] = {}
    categories: dict[tuple[str, str], str] = {}
    for instrument, entry in manifest.instruments.items():
        called = entry.called
        if called is None:
            continue
        nouns = called.nouns.get("condition")
        instruments[instrument] = InstrumentInfo(
            title=printable(called.title),
            citation=printable(called.citation),
            version=printable(entry.version),
            language=printable(called.language),
            limits=tuple(printable(limit) for limit in called.limits),
            noun=nouns and Noun(one=printable(nouns[0]), many=printable(nouns[1])),
        )
        said = {one: printable(name) for one, name in called.conditions.items()}
        counts = Counter(said.values())
        for condition, name in said.items():
            own = name if counts[name] == 1 else f"{name} ({condition})"
            conditions[instrument, condition] = own
        for condition, category in called.categories.items():
            categories[instrument, condition] = printable(category)
        for item, text in called.items.items():
            items[instrument, item] = _short(text)
    return Labels(
        models=short_names(manifest.models),
        instruments=instruments,
        conditions=conditions,
        items=items,
        categories=categories,
    )


def setting_name(condition: str) -> str:
    """Adjectives as they are shown: male / female, and “(none)” where there is none."""
    if condition == BASELINE:
        return "no adjectives"
    if condition == THEY:
        return "“they”, no adjectives"
    male, _, rest = condition.partition(",")
    female, _, kind = rest.partition(",")
    both = f"{male or '(none)'} / {female or '(none)'}"
    return printable(f"{both}, {kind}" if kind else both)


def describe_variant(variant: str | None) -> str:
    """Which words a number counts: with or without first names, or all where it has one variant."""
    return _VARIANTS.get(variant or "all-words") or humanize(variant or "")


_VARIANTS = {
    "all-words": "counting all words",
    "with-names": "counting first names",
    "without-names": "not counting first names",
}


def humanize(id_: str) -> str:
    """An id as words."""
    return printable(re.sub(r"(?<!\bnon)-", " ", id_))


def mask_to_blank(text: str) -> str:
    """A prompt's text with a blank for its mask; its lines stay lines."""
    return "\n".join(map(printable, text.split("\n"))).replace(MASK, BLANK)


def short_names(models: Iterable[str]) -> dict[str, str]:
    """Of each model the last part of its folder, or as much as tells it from the others.

    Of one behind a server its name there.
    """
    parts = {name: _parts(name) for name in models}
    shown = {}
    for name, path in parts.items():
        is_folder = name.startswith((".", "/", "~")) or len(path) > 2 or "\\" in name
        is_folder = is_folder or behind_server(name)
        length = 1 if is_folder and path else len(path)
        while length < len(path) and any(
            other != name and theirs[-length:] == path[-length:] for other, theirs in parts.items()
        ):
            length += 1
        shown[name] = printable("/".join(path[-length:]) or name) if is_folder else printable(name)
    counts = Counter(shown.values())
    return {name: text if counts[text] == 1 else printable(name) for name, text in shown.items()}


def models_meant(given: str, models: Iterable[str]) -> list[str]:
    """The models that are called so, in full or as people are shown it, by their full names."""
    known = list(models)
    if given in known:
        return [given]
    shown = short_names(known)
    if exact := [name for name in known if given in {shown[name], printable(name)}]:
        return exact
    # Where other models were beside it, more or less of its folder was shown.
    ends = PurePath(given).parts
    return [name for name in known if ends and _parts(name)[-len(ends) :] == ends]


def _parts(name: str) -> tuple[str, ...]:
    return (address_entry(name)["asked_as"],) if behind_server(name) else PurePath(name).parts


def _short(text: str) -> str:
    """An item's text with dots for its condition and a blank for the mask."""
    # A full stop after the dots would look like a fourth one.
    return re.sub(r"\{[^}]*\}", "…", mask_to_blank(text)).replace("….", "…")


def describe_factors(over: str) -> str | None:
    """What an interval is over, where that is crossed factors; None: it is not."""
    what, crossed, fixed = over.partition(", crossed")
    return f"{what} as crossed random factors{fixed}" if crossed else None


def join_words(parts: Sequence[str], last: str = "and") -> str:
    """The parts as a sentence lists them: with commas, and a word before the last one."""
    return f" {last} ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)


ADJUSTED = "preference"
"""The number whose contrasts are adjusted for the general preference for “he” or “she”."""

SHRUNKEN = "-shrunken"
"""How quantities end that are drawn towards their group's mean."""


def quantity_called(quantity: str) -> str:
    """A quantity in words: negative-probability-shrunken is P(negative)."""
    name, probability, _ = quantity.removesuffix(SHRUNKEN).partition("-probability")
    return f"P({humanize(name)})" if probability else humanize(name)


DUST = 1e-12
"""What is nearer to 0 is what sums of floats leave of it."""

NONE = "none"


def number(value: float | None) -> str:
    """Return two or three decimals, or two digits where these would be zeros; a real minus."""
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
    """Both numbers, with as many digits as show on which side of the limit the value lies."""
    shown = number(value), number(limit)
    if shown[0] != shown[1] or value == limit:
        return shown
    places = next((n for n in range(3, 17) if f"{value:.{n}f}" != f"{limit:.{n}f}"), 17)
    return f"{value:.{places}f}", f"{limit:.{places}f}"


def decimals(value: float) -> str:
    """For columns of tables: three decimals, or two digits where these would be zeros."""
    if abs(value) < DUST:
        return "0.000"
    return f"{value:.3f}" if abs(value) >= 0.0005 else f"{value:.1e}"


def tick(value: float, step: float) -> str:
    """The number at a tick of an axis, with as many decimals as its steps need."""
    places = max(0, -math.floor(math.log10(step) + DUST))
    return "0" if abs(value) < step / 2 else f"{value:.{places}f}".replace("-", "−")


def p_value(p: float) -> str:
    """Three decimals without the leading zero, or that it is below them.

    What is below .05 is never rounded up to it.
    """
    if p < 0.001:
        return "< .001"
    places = 3
    while p < FALSE <= round(p, places):
        places += 1
    return f"{p:.{places}f}".lstrip("0") if p < 0.9995 else "1"


def describe_p(p: float | None) -> str:
    """A p-value as it stands in a sentence."""
    if p is None:
        return "no p-value"
    text = p_value(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def ends(low: float | None, high: float | None) -> str:
    """An interval: from its lower end to its upper."""
    return NONE if low is None else f"{number(low)} to {number(high)}"


def confidence(level: float) -> str:
    """Return the level of an interval: 95%; in a list of many it may be 99.9%."""
    return f"{100 * level:.3g}%" if level < 0.9995 else f"{100 * level:.6g}%"


def describe_difference(row: Mapping[str, Any]) -> str:
    """An estimate: the difference, its interval, and its p with the number of tests behind it."""
    if row["difference"] is None:
        return f"difference unknown, because {row['reason']}"
    interval = "no interval"
    if row["low"] is not None:
        interval = f"{confidence(row['level'])} interval {ends(row['low'], row['high'])}"
    return f"difference {number(row['difference'])}, {interval}, {describe_corrected(row)}"


def describe_corrected(row: Mapping[str, Any]) -> str:
    """The corrected p of an estimate, and for how many tests it was corrected."""
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
    """The verdict of an estimate as people read it; empty: tested, but of no size that counts."""
    tested = row["low"] is not None or row.get("effect_low") is not None
    return row["verdict"] or ("" if tested else NOT_TESTED)
