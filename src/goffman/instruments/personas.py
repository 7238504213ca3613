"""Personas: system prompts as data, each with an id; from the user's file, or shipped."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from goffman.errors import FaultsError, InputError, did_you_mean
from goffman.instruments.files import Faults, TomlFile, read_toml
from goffman.instruments.subsample import SUBSAMPLED_KINDS
from goffman.instruments.types import Instrument, Prompt

SHIPPED = Path(__file__).with_name("personas.toml")

LONGEST = 4_000
"""The most characters of a persona's text."""


@dataclass(frozen=True, kw_only=True)
class Persona:
    """A person that a model is told to be."""

    id: str
    """Lower-case letters, digits and hyphens."""
    text: str
    """The system prompt."""


def persona(given: str) -> Persona:
    """Return the persona of a name or file; raise InputError if there is none, or several.

    ``given``: the id of a shipped persona, a TOML file with one persona, or FILE:ID.
    """
    shipped = read_personas(SHIPPED)
    by_name = {entry.id: entry for entry in shipped}
    if given in by_name:
        return by_name[given]
    file, colon, name = given.rpartition(":")
    # os.path.isfile, which says no to names that no system allows, where Path.is_file fails.
    if os.path.isfile(given):  # noqa: PTH113
        return _chosen(Path(given), None)
    if colon and os.path.isfile(file):  # noqa: PTH113
        return _chosen(Path(file), name)
    shortened = given if len(given) <= 200 else f"{given[:200]}…"
    missing = ", but there is no such file" if ".toml" in given else ""
    raise InputError(
        f"--persona is '{shortened}'{missing}.{did_you_mean(given, [*by_name])} Allowed: "
        f"{', '.join(by_name)}, or a TOML file of personas."
    )


def _chosen(path: Path, name: str | None) -> Persona:
    """Return the only persona of a file, or the one of a name."""
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
        toml.top().take({"personas": list})
        tables = toml.tables("personas")
        for table in tables:
            table.require(["id", "text"])
            values = table.take({"id": str, "text": str})
            if {"id", "text"} <= {*values}:
                personas.append(Persona(id=values["id"], text=values["text"].strip()))
        _check(toml, personas)
        if not tables and not faults.found:
            toml.note("[[personas]] is missing.")
    if faults.found:
        raise FaultsError(str(path), faults.found)
    return personas


def _check(toml: TomlFile, personas: Sequence[Persona]) -> None:
    """Note every fault of ids and texts."""
    for position, persona in enumerate(personas):
        toml.faults.check_id(toml.name, None, what="id", given=persona.id)
        if persona.id in {earlier.id for earlier in personas[:position]}:
            toml.note(f"the id '{persona.id}' appears twice.")
        if len(persona.text) > LONGEST:
            length = f"{len(persona.text):,} characters"
            toml.note(f"the text of '{persona.id}' has {length}. Allowed: up to {LONGEST:,}.")


def is_told(instrument: Instrument) -> bool:
    """Return whether chat or causal models are asked it, which can have a system prompt."""
    return instrument.kind in (*SUBSAMPLED_KINDS, "choose")


def with_system(
    prompts: Sequence[Prompt], instrument: Instrument, system: str | None
) -> Sequence[Prompt]:
    """Return the prompts with a system prompt, if a chat or causal model is asked them."""
    if system is None or not is_told(instrument):
        return prompts
    return tuple(replace(prompt, system=system) for prompt in prompts)
