"""Personas: system prompts as data, each with an id; a file of them, or one that is shipped."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from goffman.errors import FaultsError, InputError, did_you_mean
from goffman.instruments.files import Faults, read_toml
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
    found = {one.id: one for one in read_personas(path)}
    if name is None and len(found) == 1:
        return next(iter(found.values()))
    if name in found:
        return found[name]
    ids = ", ".join(found)
    if name is None:
        raise InputError(
            f"{path} has {len(found)} personas: {ids}. Give one of them: --persona "
            f"{path}:{next(iter(found))}"
        )
    raise InputError(
        f"{path} has no persona '{name}'. It has: {ids}.{did_you_mean(name, [*found])}"
    )


def read_personas(path: Path) -> list[Persona]:
    """The personas of a file; FaultsError where it has a fault."""
    faults = Faults()
    found: list[Persona] = []
    toml = read_toml(path, faults)
    if toml is not None:
        toml.top().take({"personas": list}, faults)
        tables = toml.tables("personas", faults)
        for table in tables:
            table.require(["id", "text"], faults)
            given = table.take({"id": str, "text": str}, faults)
            if {"id", "text"} <= {*given}:
                found.append(Persona(id=given["id"], text=given["text"].strip()))
        _check(path.name, found, faults)
        if not tables and not faults.found:
            faults.add(path.name, None, "[[personas]] is missing.")
    if faults.found:
        raise FaultsError(str(path), faults.found)
    return found


def _check(file: str, personas: Sequence[Persona], faults: Faults) -> None:
    """Every fault of ids and texts is noted."""
    for place, one in enumerate(personas):
        faults.check_id(file, None, what="id", given=one.id)
        if one.id in {other.id for other in personas[:place]}:
            faults.add(file, None, f"the id '{one.id}' appears twice.")
        if len(one.text) > LONGEST:
            length = f"has {len(one.text):,} characters"
            faults.add(file, None, f"the text of '{one.id}' {length}. Allowed: up to {LONGEST:,}.")


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
