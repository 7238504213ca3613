"""Personas: system prompts as data, each with an id; a file of them, or one that is shipped."""

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
"""Characters of a persona's text."""


@dataclass(frozen=True, kw_only=True)
class Persona:
    """Who a model is told to be."""

    id: str
    """Lower-case letters, digits and hyphens."""
    text: str
    """The system prompt."""


def persona(given: str) -> Persona:
    """The persona of a name, or of a file; InputError where there is none, or several.

    ``given``: the id of a shipped one, a TOML file with one, or FILE:ID.
    """
    shipped = read_personas(SHIPPED)
    by_name = {one.id: one for one in shipped}
    if given in by_name:
        return by_name[given]
    file, colon, name = given.rpartition(":")
    # os.path.isfile, which says no to names that no system allows, where Path.is_file fails.
    if os.path.isfile(given):  # noqa: PTH113
        return _chosen(Path(given), None)
    if colon and os.path.isfile(file):  # noqa: PTH113
        return _chosen(Path(file), name)
    shown = given if len(given) <= 200 else f"{given[:200]}…"
    missing = ", but there is no such file" if ".toml" in given else ""
    raise InputError(
        f"--persona is '{shown}'{missing}.{did_you_mean(given, [*by_name])} Allowed: "
        f"{', '.join(by_name)}, or a TOML file of personas."
    )


def _chosen(path: Path, name: str | None) -> Persona:
    """The one persona of a file, or that of a name."""
    personas = {one.id: one for one in read_personas(path)}
    first, ids = next(iter(personas)), ", ".join(personas)
    if name is None and len(personas) > 1:
        raise InputError(
            f"{path} has {len(personas)} personas: {ids}. Give one of them: --persona "
            f"{path}:{first}"
        )
    if name is not None and name not in personas:
        near = did_you_mean(name, [*personas])
        raise InputError(f"{path} has no persona '{name}'. It has: {ids}.{near}")
    return personas[first if name is None else name]


def read_personas(path: Path) -> list[Persona]:
    """The personas of a file; FaultsError where it has a fault."""
    faults = Faults()
    personas: list[Persona] = []
    toml = read_toml(path, faults)
    if toml is not None:
        toml.top().take({"personas": list})
        tables = toml.tables("personas")
        for table in tables:
            table.require(["id", "text"])
            given = table.take({"id": str, "text": str})
            if {"id", "text"} <= {*given}:
                personas.append(Persona(id=given["id"], text=given["text"].strip()))
        _check(toml, personas)
        if not tables and not faults.found:
            toml.note("[[personas]] is missing.")
    if faults.found:
        raise FaultsError(str(path), faults.found)
    return personas


def _check(toml: TomlFile, personas: Sequence[Persona]) -> None:
    """Every fault of ids and texts is noted."""
    for place, persona in enumerate(personas):
        toml.faults.check_id(toml.name, None, what="id", given=persona.id)
        if persona.id in {other.id for other in personas[:place]}:
            toml.note(f"the id '{persona.id}' appears twice.")
        if len(persona.text) > LONGEST:
            length = f"{len(persona.text):,} characters"
            toml.note(f"the text of '{persona.id}' has {length}. Allowed: up to {LONGEST:,}.")


def is_told(instrument: Instrument) -> bool:
    """Whether those who are asked it can be told something before: chat and causal models."""
    return instrument.kind in (*SUBSAMPLED_KINDS, "choose")


def with_system(
    prompts: Sequence[Prompt], instrument: Instrument, system: str | None
) -> Sequence[Prompt]:
    """The prompts with a system prompt, where a chat or causal model is asked them."""
    if system is None or not is_told(instrument):
        return prompts
    return tuple(replace(prompt, system=system) for prompt in prompts)
