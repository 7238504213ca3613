"""How things are called in what people read: short, one name for one thing, no tricks in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from goffman.models.address import address_entry, behind_server
from goffman.records import BASELINE, ENGLISH, MASK, Noun
from goffman.terminal import printable

if TYPE_CHECKING:
    from goffman.runs.manifest import Manifest

BLANK = "____"
"""How a mask is shown to people."""

ALL_MODELS = "all models"


@dataclass(frozen=True, kw_only=True)
class About:
    """What a run's manifest says about an instrument."""

    title: str
    citation: str
    version: str
    language: str = ENGLISH
    """A BCP 47 tag."""
    limits: tuple[str, ...] = ()
    """Sentences; none where an earlier goffman did not keep them."""
    noun: Noun | None = None
    """What its conditions are called; None: an earlier goffman did not keep it."""


@dataclass(frozen=True, kw_only=True)
class Names:
    """What is shown for the names and ids in a run's tables."""

    models: Mapping[str, str]
    """As the user gave it → as it is shown; different for different models."""
    instruments: Mapping[str, About]
    """By id."""
    conditions: Mapping[tuple[str, str], str]
    """Instrument and condition → its name."""
    items: Mapping[tuple[str, str], str]
    """Instrument and item → what it says, without the condition."""

    def model(self, name: str | None) -> str:
        """A model as it is shown; over all models where there is no name."""
        return ALL_MODELS if name is None else self.models.get(name, printable(name))

    def condition(self, instrument: str, condition: str) -> str:
        """A condition as it is shown; its id where no name is known."""
        if condition == BASELINE:
            known = self.instruments.get(instrument)
            noun = (known and known.noun) or Noun()
            return f"(no {noun.one} named)"
        return self.conditions.get((instrument, condition), plain(condition))

    def item(self, instrument: str, item: str) -> str:
        """An item as it is shown; its id where its text is not known."""
        return self.items.get((instrument, item), plain(item))

    def title(self, instrument: str) -> str:
        """What an instrument asks, in a line; its id where no more is known."""
        known = self.instruments.get(instrument)
        return known.title if known else printable(instrument)


def names_of(manifest: Manifest) -> Names:
    """The names of a run, as its manifest has them; ids where it has none."""
    instruments: dict[str, About] = {}
    conditions: dict[tuple[str, str], str] = {}
    items: dict[tuple[str, str], str] = {}
    for instrument, entry in manifest.instruments.items():
        called = entry.called
        if called is None:
            continue
        instruments[instrument] = About(
            title=printable(called.title),
            citation=printable(called.citation),
            version=printable(entry.version),
            language=printable(called.language),
            limits=tuple(printable(limit) for limit in called.limits),
            noun=_noun(called.nouns),
        )
        said = {one: printable(name) for one, name in called.conditions.items()}
        counts = Counter(said.values())
        for condition, name in said.items():
            own = name if counts[name] == 1 else f"{name} ({condition})"
            conditions[instrument, condition] = own
        for item, text in called.items.items():
            items[instrument, item] = _short(text)
    return Names(
        models=short_names(manifest.models),
        instruments=instruments,
        conditions=conditions,
        items=items,
    )


def _noun(nouns: Mapping[str, Sequence[str]]) -> Noun | None:
    if "condition" not in nouns:
        return None
    one, many = nouns["condition"]
    return Noun(one=printable(one), many=printable(many))


def setting_name(condition: str) -> str:
    """Adjectives as they are shown: male / female, and “(none)” where there is none."""
    if condition == BASELINE:
        return "no adjectives"
    male, _, female = condition.partition(",")
    return printable(f"{male or '(none)'} / {female or '(none)'}")


def variant_said(variant: str | None) -> str:
    """Which words a number counts: with or without first names, or all where it has one variant."""
    return _VARIANTS.get(variant or "all-words") or plain(variant or "")


_VARIANTS = {
    "all-words": "counting all words",
    "with-names": "counting first names",
    "without-names": "not counting first names",
}


def plain(id_: str) -> str:
    """An id as words."""
    return printable(re.sub(r"(?<!\bnon)-", " ", id_))


def blanked(text: str) -> str:
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


def _parts(name: str) -> tuple[str, ...]:
    return (address_entry(name)["asked_as"],) if behind_server(name) else PurePath(name).parts


def _short(text: str) -> str:
    """An item's text with dots for its condition and a blank for the mask."""
    # A full stop after the dots would look like a fourth one.
    return re.sub(r"\{[^}]*\}", "…", blanked(text)).replace("….", "…")


def factors_said(over: str) -> str | None:
    """What an interval is over, where that is crossed factors; None: it is not."""
    what, crossed, fixed = over.partition(", crossed")
    return f"{what} as crossed random factors{fixed}" if crossed else None


def in_list(parts: Sequence[str], last: str = "and") -> str:
    """The parts as a sentence lists them: with commas, and a word before the last one."""
    return f" {last} ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)


ADJUSTED = "preference"
"""The number whose contrasts are adjusted for the general preference for “he” or “she”."""

SHRUNKEN = "-shrunken"
"""How quantities end that are drawn towards their group's mean."""


def quantity_called(quantity: str) -> str:
    """A quantity in words: negative-probability-shrunken is P(negative)."""
    name, probability, _ = quantity.removesuffix(SHRUNKEN).partition("-probability")
    return f"P({plain(name)})" if probability else plain(name)
