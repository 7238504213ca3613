"""How things are called in what people read: short, one name for one thing, no tricks in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from goffman.errors import GoffmanError
from goffman.instruments.load import builtin_names, load_instrument
from goffman.records import MASK, Questionnaire
from goffman.terminal import printable

if TYPE_CHECKING:
    from goffman.records import Instrument
    from goffman.runs.manifest import Manifest

BLANK = "____"
"""How a mask is shown to people."""

ALL_MODELS = "all models"


@dataclass(frozen=True, kw_only=True)
class Names:
    """What is shown for the names and ids in a run's tables."""

    models: Mapping[str, str]
    """As the user gave it → as it is shown; different for different models."""
    instruments: Mapping[str, Instrument]
    """By id: those of the run whose files are here as they were when they were asked."""
    conditions: Mapping[tuple[str, str], str]
    """Instrument and condition → its name."""
    items: Mapping[tuple[str, str], str]
    """Instrument and item → what it says, without the condition."""

    def model(self, name: str | None) -> str:
        """A model as it is shown; over all models where there is no name."""
        return ALL_MODELS if name is None else self.models.get(name, printable(name))

    def condition(self, instrument: str, condition: str) -> str:
        """A condition as it is shown; its id where no name is known."""
        return self.conditions.get((instrument, condition), plain(condition))

    def item(self, instrument: str, item: str) -> str:
        """An item as it is shown; its id where its text is not known."""
        return self.items.get((instrument, item), plain(item))

    def title(self, instrument: str) -> str:
        """What an instrument asks, in a line; its id where no more is known."""
        known = self.instruments.get(instrument)
        return printable(known.title if known else instrument)


def names_of(manifest: Manifest) -> Names:
    """The names of a run; ids where an instrument's files are not here as they were."""
    instruments = dict(_known(manifest))
    conditions: dict[tuple[str, str], str] = {}
    items: dict[tuple[str, str], str] = {}
    for instrument in instruments.values():
        if not isinstance(instrument.content, Questionnaire):
            continue
        said = {one.id: printable(one.name) for one in instrument.content.conditions}
        counts = Counter(said.values())
        for condition, name in said.items():
            own = name if counts[name] == 1 else f"{name} ({condition})"
            conditions[instrument.id, condition] = own
        for item in instrument.content.items:
            # The first wording speaks for the item.
            items.setdefault((instrument.id, item.id), _short(item.text))
    return Names(
        models=short_names(manifest.models),
        instruments=instruments,
        conditions=conditions,
        items=items,
    )


def plain(id_: str) -> str:
    """An id as words."""
    return printable(re.sub(r"(?<!\bnon)-", " ", id_))


def blanked(text: str) -> str:
    """A prompt's text with a blank for its mask."""
    return printable(text).replace(MASK, BLANK)


def short_names(models: Iterable[str]) -> dict[str, str]:
    """Of each model the last part of its folder, or as much as tells it from the others."""
    parts = {name: PurePath(name).parts for name in models}
    shown = {}
    for name, path in parts.items():
        is_folder = name.startswith((".", "/", "~")) or len(path) > 2 or "\\" in name
        length = 1 if is_folder and path else len(path)
        while length < len(path) and any(
            other != name and theirs[-length:] == path[-length:] for other, theirs in parts.items()
        ):
            length += 1
        shown[name] = printable("/".join(path[-length:]) or name) if is_folder else printable(name)
    counts = Counter(shown.values())
    return {name: text if counts[text] == 1 else printable(name) for name, text in shown.items()}


def _known(manifest: Manifest) -> Iterable[tuple[str, Instrument]]:
    """The built-in instruments that are still as the run asked them."""
    for name, entry in manifest.instruments.items():
        if name not in builtin_names():
            continue
        try:
            instrument = load_instrument(name)
        except GoffmanError:
            continue
        if instrument.digest == entry.get("digest"):
            yield name, instrument


def _short(text: str) -> str:
    """An item's text with dots for its condition and a blank for the mask."""
    return re.sub(r"\{[^}]*\}", "…", blanked(text))
