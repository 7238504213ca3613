"""Questions with options to choose from: what they are made of, and one as it is presented."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from goffman.control_items import Controls

ChoiceLabels = Literal["letters", "numbers"]
"""What stands before the options: A, B, C … or 1, 2, 3 …"""

CHOICE_LABELS: tuple[ChoiceLabels, ...] = ("letters", "numbers")


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option of a question, as it is presented."""

    label: str
    """What a model is to answer: A, B, 1, 2 …"""
    text: str
    """What it says; empty: the label says all, as on a scale from 1 to 9."""
    code: float | None
    """0 to 1, more stigma up; of sentence pairs 1 for the right person, 0 for the other one. None:
    the way out, which is no answer."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The options of a question, in the order forward."""

    id: str
    texts: tuple[str, ...]
    """Without the way out. Of numbers mostly empty but for the two ends."""
    codes: tuple[float, ...]
    """0 to 1, as the instrument's authors mean them before any keying."""
    labels: ChoiceLabels = "letters"


@dataclass(frozen=True, kw_only=True)
class Stem:
    """One way of putting every question: a wording."""

    id: str
    """Lower-case letters, digits and hyphens."""
    text: str
    """With {item}, or {your_item}: the item as it is said to somebody; of sentence pairs also with
    {pronoun}. Of an instrument that has nothing but choices also with {question}, and with the slot
    where the items have none."""
    scale: str
    """The id of its scale; empty: the options are the two people of a sentence pair."""
    keyed: Literal["plain", "reversed"] = "plain"
    """reversed: agreeing means less of the construct, so that the codes are turned round."""
    asks: str = ""
    """It puts the items that ask for this; empty: all. A wording is all stems of an id."""
    default: bool = True
    """False: asked only on request."""


@dataclass(frozen=True, kw_only=True)
class Described:
    """A person who is described: gender as a factor of the design.

    In place of ``<mask>``, or by name in a vignette with {name}, {he} …
    """

    id: str
    """Lower-case letters, digits and hyphens."""
    gender: Literal["female", "male", "unstated"]
    texts: tuple[str, ...]
    """Nouns that may stand after "a": woman, man named James, person; for vignettes first names. Of
    several, each item and condition gets one, in turn: the same place of the list for every person
    described."""


@dataclass(frozen=True, kw_only=True)
class ServerPart:
    """What of the questions is asked by default of a model that takes long: see sized.py."""

    items: int | None = None
    """So many of each form of a condition, in turn; None: all. The baseline is asked all."""
    orders: Literal["both", "one"] | None = None
    """of the options, for each question asked. None: both, and one where people are described. By
    probabilities, which take no request, both are asked where "one" is said here."""
    wording: str | None = None
    """The one that every question is asked in, such as the one that people were asked in too. None:
    the wordings go in turn."""
    brief: tuple[str, ...] = ()
    """Conditions that are asked less: only the items of a dimension, and each of these about one of
    the people, in turn."""
    brief_dimension: str | None = None
    """Of their items; None: all."""


@dataclass(frozen=True, kw_only=True)
class ChoiceForm:
    """How an instrument is asked as a choice: the content of choice.toml."""

    title: str
    """One line."""
    stems: tuple[Stem, ...]
    scales: tuple[Scale, ...]
    request: str
    """What follows the options: how to answer. {labels} stands for letter or number."""
    way_out: str
    """The last option: "I don't know, or prefer not to say"."""
    orders: Literal["two", "all"] = "two"
    """two: forward and reversed; all: every permutation of the options."""
    people: tuple[Described, ...] = ()
    """None: the items have no person to describe."""
    smallest: float = 0.05
    """The smallest difference of codes that counts as relevant."""
    controls: Controls | None = None
    """Control items of its own; None: those of the instrument, where they can be asked so."""
    server: ServerPart = ServerPart()
    """The part of it that a server is asked by default."""


def options_json(options: tuple[Option, ...]) -> str | None:
    """The options of a prompt as they stand in a table; None where there are none."""
    if not options:
        return None
    return json.dumps([[one.label, one.text, one.code] for one in options], ensure_ascii=False)


def options_from(text: str | None) -> tuple[Option, ...]:
    """The options of a prompt's row."""
    rows = json.loads(text) if text else []
    return tuple(Option(label=label, text=words, code=code) for label, words, code in rows)
