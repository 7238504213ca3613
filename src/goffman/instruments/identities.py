"""Personas: system prompts as data, each with an id; from the user's file, or shipped."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from goffman.errors import FaultsError, InputError, did_you_mean
from goffman.instruments.fields import OWN_ID, TABLE, TABLES, TEXT, UNIQUE_ID, Field, Fields, texts
from goffman.instruments.files import Faults, TomlFile, TomlTable, digest_of, read_toml
from goffman.instruments.subsample import SUBSAMPLED_KINDS
from goffman.instruments.text import places, put_before
from goffman.instruments.types import (
    MASK,
    Crossing,
    Identities,
    Identity,
    Instrument,
    Prompt,
    Questionnaire,
)

SHIPPED_PERSONAS = Path(__file__).with_name("personas.toml")

LONGEST = 4_000
"""The most characters of a persona's text."""


@dataclass(frozen=True, kw_only=True)
class Persona:
    """A person that a model is told to be."""

    id: str
    """Lower-case letters, digits and hyphens."""
    text: str
    """The system prompt."""


def persona(name_or_file: str) -> Persona:
    """Return the persona of a name or file; raise InputError if there is none, or several.

    ``name_or_file``: the id of a shipped persona, a TOML file with one persona, or FILE:ID.
    """
    shipped = read_personas(SHIPPED_PERSONAS)
    by_name = {entry.id: entry for entry in shipped}
    if name_or_file in by_name:
        return by_name[name_or_file]
    file, colon, name = name_or_file.rpartition(":")
    # os.path.isfile is false for names that no system allows; Path.is_file raises.
    if os.path.isfile(name_or_file):  # noqa: PTH113
        return _chosen(Path(name_or_file), None)
    if colon and os.path.isfile(file):  # noqa: PTH113
        return _chosen(Path(file), name)
    shortened = name_or_file if len(name_or_file) <= 200 else f"{name_or_file[:200]}…"
    missing = ", but there is no such file" if ".toml" in name_or_file else ""
    raise InputError(
        f"--persona is '{shortened}'{missing}.{did_you_mean(name_or_file, [*by_name])} Allowed: "
        f"{', '.join(by_name)}, or a TOML file of personas."
    )


def _chosen(path: Path, name: str | None) -> Persona:
    """Return the only persona of a file, or the one with this name; else raise InputError."""
    personas = {entry.id: entry for entry in read_personas(path)}
    first_id, ids = next(iter(personas)), ", ".join(personas)
    if name is None and len(personas) > 1:
        raise InputError(
            f"{path} has {len(personas)} personas: {ids}. Give one of them: --persona "
            f"{path}:{first_id}"
        )
    if name is not None and name not in personas:
        near = did_you_mean(name, [*personas])
        raise InputError(f"{path} has no persona '{name}'. It has: {ids}.{near}")
    return personas[first_id if name is None else name]


def read_personas(path: Path) -> list[Persona]:
    """Return the personas of a file; raise FaultsError if it has a fault."""
    faults = Faults()
    personas: list[Persona] = []
    toml = read_toml(path, faults)
    if toml is not None:
        toml.top().take({"personas": TABLES})
        tables = toml.tables("personas")
        for table in tables:
            values = table.take({"id": UNIQUE_ID, "text": Field(required=True, longest=LONGEST)})
            if {"id", "text"} <= {*values}:
                personas.append(Persona(id=values["id"], text=values["text"]))
        if not tables and not faults.found:
            toml.note("[[personas]] is missing.")
    if faults.found:
        raise FaultsError(str(path), faults.found)
    return personas


def is_told(instrument: Instrument) -> bool:
    """Return whether the instrument is asked of chat or causal models, as system prompts need."""
    return instrument.kind in (*SUBSAMPLED_KINDS, "choose")


def with_system(
    prompts: Sequence[Prompt], instrument: Instrument, system: str | None
) -> Sequence[Prompt]:
    """Return the prompts with a system prompt, if a chat or causal model is asked them."""
    if system is None or not is_told(instrument):
        return prompts
    return tuple(replace(prompt, system=system) for prompt in prompts)


SHIPPED = Path(__file__).parent / "data" / "identities"

GENDERS = ("female", "male")

_PLACES = ("attribute", "predicate")

_WITH_IDENTITY = Field(
    test=lambda text: sum(name in _PLACES for name in places(text)) == 1,
    says="a text with either {attribute} or {predicate}, once",
)
_FACTOR: Fields = {
    "id": OWN_ID,
    **dict.fromkeys(("title", "source", "licence"), TEXT),
    "without": texts('a list of conditions, such as ["jewish"]'),
    "instruments": texts('a list of instruments, such as ["decisions"]'),
    "levels": TABLES,
}
_LEVEL: Fields = {
    "name": Field(required=True, plain=True, unique=True),
    **dict.fromkeys(_PLACES, Field(plain=True)),
    **dict.fromkeys(GENDERS, texts('a list of first names, such as ["Ann", "Eve"]')),
}


def identities(name_or_file: str) -> Identities:
    """Return the identities of a shipped name or a file; raise InputError if there is none."""
    shipped = sorted(path.stem for path in SHIPPED.glob("*.toml"))
    if name_or_file in shipped:
        return _read_identities(SHIPPED / f"{name_or_file}.toml")
    # os.path.isfile is false for names that no system allows; Path.is_file raises.
    if os.path.isfile(name_or_file):  # noqa: PTH113
        return _read_identities(Path(name_or_file))
    raise InputError(
        f"--cross is '{name_or_file[:200]}'.{did_you_mean(name_or_file, shipped)} Allowed: "
        f"{', '.join(shipped)}, or a TOML file of identities."
    )


def _read_identities(path: Path) -> Identities:
    faults = Faults()
    toml = read_toml(path, faults)
    header: Mapping[str, Any] = {}
    levels: list[Identity] = []
    if toml is not None:
        top = toml.top()
        header = top.take(_FACTOR)
        levels = [_read_level(table) for table in toml.tables("levels")]
        _check_levels(toml, levels)
    if faults.found:
        raise FaultsError(str(path), faults.found)
    return Identities(
        id=header["id"],
        levels=tuple(levels),
        without=frozenset(header.get("without", ())),
        instruments=frozenset(header.get("instruments", ())),
        digest=digest_of([path]),
    )


def _read_level(table: TomlTable) -> Identity:
    values = table.take(_LEVEL)
    names = {key: tuple(values[key]) for key in GENDERS if values.get(key)}
    name = values.get("name", "")
    attribute = values.get("attribute", "" if names else name)
    if names and (attribute or len(names) < len(GENDERS)):
        table.note("name", f"'{name}' must have female and male names, and no attribute, or none.")
    predicate = values.get("predicate", attribute)
    return Identity(name=name, attribute=attribute, predicate=predicate, names=names)


def _check_levels(toml: TomlFile, levels: Sequence[Identity]) -> None:
    if len(levels) < 2:
        toml.note("there must be two [[levels]] or more; the first is the reference.")
    if len({bool(level.names) for level in levels}) > 1:
        toml.note("some levels have first names and others a word: then they differ in that, too.")


def read_crossing(folder: Path, faults: Faults) -> Crossing:
    """Return how an instrument shows a second identity; it is empty without a cross.toml."""
    path = folder / "cross.toml"
    toml = read_toml(path, faults) if path.exists() else None
    if toml is None:
        return Crossing()
    values = toml.top().take({"texts": TABLE, "names": Field(kind=bool)})
    table = toml.table("texts")
    shown = table.take(dict.fromkeys(table.values, _WITH_IDENTITY))
    return Crossing(texts=shown, names=bool(values.get("names")))


def can_cross(instrument: Instrument, factor: Identities) -> bool:
    """Return whether the instrument's sentences can show the identity of a person."""
    if factor.instruments and instrument.base not in factor.instruments:
        return False
    if factor.by_names:
        return instrument.crossing.names and instrument.choice is not None
    return bool(instrument.crossing.texts)


def about_identity(instrument: Instrument, identity: Identity) -> Instrument:
    """Return the instrument about people of this identity."""
    content, choice = instrument.content, instrument.choice
    assert isinstance(content, Questionnaire)  # noqa: S101 - see can_cross
    if not identity.attribute and choice:
        people = [
            replace(person, texts=identity.names[person.gender])
            for person in choice.people
            if person.gender in identity.names
        ]
        return replace(instrument, choice=replace(choice, people=tuple(people)))

    def named(text: str) -> str:
        for old, new in instrument.crossing.texts.items():
            if old in text:
                return text.replace(old, _with_words(new, identity), 1)
        return text

    def of_item(text: str) -> str:
        # In a request to write, Instrument.someone replaces the mask and shows the identity.
        return named(text) if MASK in text and instrument.kind != "write" else text

    slot = content.slot
    conditions = [
        replace(
            condition,
            forms=tuple(replace(form, vignette=named(form.vignette)) for form in condition.forms),
        )
        for condition in content.conditions
    ]
    items = [
        replace(item, text=of_item(item.text), baseline=of_item(item.baseline))
        for item in content.items
    ]
    content = replace(
        content,
        slot=replace(slot, filled=named(slot.filled), empty=slot.empty and named(slot.empty)),
        conditions=tuple(conditions),
        items=tuple(items),
    )
    return replace(instrument, content=content, someone=named(instrument.someone))


def _with_words(template: str, identity: Identity) -> str:
    """Return the template with the words for an identity; an article before them agrees."""
    template = template.replace("{predicate}", identity.predicate)
    before, place, after = template.partition("{attribute} ")
    return put_before(before + after, len(before), identity.attribute) if place else template
