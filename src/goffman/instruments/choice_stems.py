"""[[stems]] of choice.toml → how questions are put, checked; and whether they fit the items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from goffman.choice_items import Scale, Stem
from goffman.control_items import Controls
from goffman.errors import did_you_mean
from goffman.instruments.files import Faults, TomlFile, TomlTable
from goffman.instruments.templates import places, stray_braces
from goffman.records import MASK, Questionnaire

_KEYED: tuple[Literal["plain", "reversed"], ...] = ("plain", "reversed")
_ITEMS = ("item", "your_item")
"""The places of a stem in which an item stands."""


def read_stems(
    toml: TomlFile,
    scales: Sequence[Scale],
    faults: Faults,
    *,
    of_pairs: bool,
    slot: str | None,
    further: bool = False,
) -> tuple[Stem, ...]:
    """The stems of the file; faults are noted.

    ``slot``: its name, where the instrument has nothing but choices: a stem may hold it there.
    ``further``: these are paraphrases, of which sentence pairs may have several.
    """
    stems: list[Stem] = []
    tables = toml.tables("stems", faults)
    if not tables:
        faults.add(toml.name, None, "[[stems]] is missing. It says how a question is asked.")
    if of_pairs and len(tables) > 1 and not further:
        message = "there are several [[stems]], but sentence pairs need exactly one."
        faults.add(toml.name, tables[1].lines.get("id"), message)
    for table in tables:
        given = _taken(table, scales, faults, of_pairs=of_pairs, alone=slot is not None)
        row = table.lines.get("id")
        name = given.get("id", "")
        asks = given.get("asks", "")
        if name:
            faults.check_id(toml.name, row, what="id in [stems]", given=name)
        if name and (name, asks) in {(stem.id, stem.asks) for stem in stems}:
            faults.add(toml.name, row, f"the stem '{name}' appears twice.")
        if name == "all":
            faults.add(toml.name, row, "'all' cannot be the id of a stem: it means all of them.")
        key = {"what": "keyed", "given": given.get("keyed", "plain")}
        keyed = faults.check_one_of(toml.name, table.lines.get("keyed"), **key, allowed=_KEYED)
        stem = Stem(
            id=name,
            text=given.get("text", ""),
            scale=given.get("scale", ""),
            keyed=keyed or "plain",
            asks=asks,
        )
        if "text" in given:
            slots = ("question", slot) if slot is not None else ()
            allowed = ("item", "pronoun") if of_pairs else (*_ITEMS, *slots)
            _check_stem(toml.name, table.lines.get("text"), stem, allowed, faults)
        stems.append(stem)
    return tuple(stems)


def _taken(
    table: TomlTable, scales: Sequence[Scale], faults: Faults, *, of_pairs: bool, alone: bool
) -> dict[str, str]:
    """What one table says; faults of its keys and its scale are noted."""
    table.require(["id", "text"] if of_pairs else ["id", "text", "scale"], faults)
    keys = {"id": str, "text": str}
    keys |= {} if of_pairs else {"scale": str, "keyed": str}
    keys |= {"asks": str} if alone else {}
    given: dict[str, str] = table.take(keys, faults)
    known = [scale.id for scale in scales]
    if "scale" in given and known:
        row = table.lines.get("scale")
        faults.check_one_of(table.file, row, what="scale", given=given["scale"], allowed=known)
    return given


def _check_stem(
    file: str, row: int | None, stem: Stem, allowed: Sequence[str], faults: Faults
) -> None:
    what, named = f"the text of stem '{stem.id}'", places(stem.text)
    for place in named:
        if place not in allowed:
            shown = ", ".join(f"{{{name}}}" for name in allowed)
            near = did_you_mean(place, allowed)
            faults.add(file, row, f"{what} has '{{{place}}}'. Allowed: {shown}.{near}")
    if sum(place in _ITEMS for place in named) != 1:
        faults.add(file, row, f"{what} must contain {{item}} exactly once.")
    if "pronoun" in allowed and named.count("pronoun") != 1:
        faults.add(file, row, f"{what} must contain {{pronoun}} exactly once.")
    if named.count("question") > 1:
        faults.add(file, row, f"{what} has {{question}} more than once.")
    if stray_braces(stem.text):
        faults.add(file, row, f"{what} has a stray brace: '{stem.text}'.")
    if MASK in stem.text:
        faults.add(file, row, f"{what} has {MASK}, but a choice has no blank to fill in.")


def check_items(
    toml: TomlFile, content: Questionnaire, stems: Sequence[Stem], faults: Faults
) -> None:
    """Note a fault where a wording has no stem for an item, or the two do not fit together."""
    wordings = list(dict.fromkeys(stem.id for stem in stems))
    slot = content.slot.name
    for item in content.items:
        for wording in wordings:
            mine = [s for s in stems if s.id == wording and s.asks in {"", item.asks}]
            where = f"the item '{item.id}' in the wording '{wording}'"
            if len(mine) != 1:
                many = "no stem" if not mine else "several stems"
                faults.add(toml.name, None, f"{where} has {many}: asks is '{item.asks}'.")
                return
            named = places(mine[0].text)
            if (named + places(item.text)).count(slot) != 1:
                faults.add(toml.name, None, f"{where} must have {{{slot}}} once.")
                return
            if ("question" in named) is not bool(item.question):
                lacks = "no {question} for it" if item.question else "{question}, and it has none"
                faults.add(toml.name, None, f"{where} has a stem with {lacks}.")
                return


def check_controls(
    toml: TomlFile, controls: Controls, stems: Sequence[Stem], faults: Faults
) -> None:
    """Note a fault where a wording has no stem for a control, or it lacks what the stem needs."""
    wordings = set(dict.fromkeys(stem.id for stem in stems))
    for control in controls.items:
        mine = [stem for stem in stems if stem.asks in {"", control.asks}]
        if {stem.id for stem in mine} != wordings:
            message = f"the control '{control.id}' has no stem in some wording: its asks is "
            faults.add(toml.name, None, f"{message}'{control.asks}'.")
        elif any(("question" in places(stem.text)) is not bool(control.question) for stem in mine):
            message = f"the control '{control.id}' and the stems must both have a question, or none"
            faults.add(toml.name, None, f"{message}.")
