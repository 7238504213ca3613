"""What an instrument says of itself: its language, its limits, and what its conditions are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from goffman.instruments.files import Faults, TomlFile, TomlTable
from goffman.records import ENGLISH, Noun, primary_language

ABOUT: Mapping[str, type] = {"language": str, "limits": object, "nouns": dict}
"""The keys at the top of the file. A list has a check of its own: it is no list of tables."""

LONGEST_LIMIT = 300
MOST_LIMITS = 20
LONGEST_NOUN = 40

_TAG = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?")
"""Of BCP 47: a language, and if wanted its script and region."""


def read_about(
    toml: TomlFile, header: Mapping[str, Any], faults: Faults, *, of_pairs: bool
) -> dict[str, Any]:
    """language, limits and noun as an Instrument has them; faults are noted."""
    top = toml.top()
    return {
        "language": _language(top, header, faults, of_pairs=of_pairs),
        "limits": read_limits(top, faults),
        "noun": _noun(toml.table("nouns"), faults),
    }


def _language(top: TomlTable, header: Mapping[str, Any], faults: Faults, *, of_pairs: bool) -> str:
    given = str(header.get("language", ENGLISH))
    row = top.lines.get("language")
    if not _TAG.fullmatch(given):
        allowed = "Allowed: a BCP 47 tag such as 'en', 'de' or 'pt-BR'."
        faults.add(top.file, row, f"language is '{given}'. {allowed}")
    elif of_pairs and primary_language(given) != ENGLISH:
        message = (
            f"language is '{given}', but sentence pairs can only be in English: goffman does not "
            "know the pronouns and articles of other languages."
        )
        faults.add(top.file, row, message)
    return given


def read_limits(top: TomlTable, faults: Faults) -> tuple[str, ...]:
    """The sentences of limits; faults are noted."""
    given, row = top.values.get("limits", []), top.lines.get("limits")
    if not _are_texts(given):
        message = 'limits must be a list of sentences, such as ["All names are from one country."].'
        faults.add(top.file, row, message)
        return ()
    if len(given) > MOST_LIMITS:
        message = f"limits has {len(given)} sentences. Allowed: up to {MOST_LIMITS}."
        faults.add(top.file, row, message)
        return ()
    for number, text in enumerate(given, start=1):
        _check(top, "limits", f"sentence {number} of limits", text, LONGEST_LIMIT, faults)
    return tuple(given)


def _noun(table: TomlTable, faults: Faults) -> Noun:
    given = table.take({"condition": object}, faults).get("condition", ["condition", "conditions"])
    if not _are_texts(given) or len(given) != 2:
        message = (
            "condition in [nouns] must be the singular and the plural, such as "
            '["diagnosis", "diagnoses"].'
        )
        faults.add(table.file, table.lines.get("condition"), message)
        return Noun()
    for which, text in zip(("singular", "plural"), given, strict=True):
        _check(table, "condition", f"the {which} in [nouns]", text, LONGEST_NOUN, faults)
    return Noun(one=given[0], many=given[1])


def _are_texts(given: object) -> bool:
    return isinstance(given, list) and all(isinstance(text, str) for text in given)


def _check(table: TomlTable, key: str, what: str, text: str, longest: int, faults: Faults) -> None:
    """Note a fault where a text is empty, too long, or has signs that nobody means."""
    row = table.lines.get(key)
    if not text.strip():
        faults.add(table.file, row, f"{what} is empty.")
    elif len(text) > longest:
        message = f"{what} has {len(text):,} characters. Allowed: up to {longest}."
        faults.add(table.file, row, message)
    else:
        faults.check_text(table.file, row, what=what, text=text)
