"""Load an instrument from a folder of TOML and CSV files; faults carry file and line."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from goffman.errors import InputError, InstrumentError, did_you_mean
from goffman.instruments.completion import FURTHER_FORMS, read_completion, read_writing
from goffman.instruments.controls import WRITING_FILE, WRITING_TABLE, read_controls
from goffman.instruments.fields import (
    ID,
    OWN_ID,
    REQUIRED,
    TABLE,
    TABLES,
    TEXT,
    Field,
    Fields,
    number,
    texts,
)
from goffman.instruments.files import Faults, TomlTable, digest_of, read_toml
from goffman.instruments.identities import read_crossing
from goffman.instruments.multiple_choice import read_choice
from goffman.instruments.paraphrases import read_paraphrases
from goffman.instruments.questionnaire import read_questionnaire
from goffman.instruments.sentence_pairs import ADJECTIVE_PLACEMENTS, read_sentence_pairs
from goffman.instruments.types import (
    ENGLISH,
    INSTRUMENT_KINDS,
    Instrument,
    InstrumentKind,
    Noun,
    Questionnaire,
    SentencePairs,
    primary_language,
)
from goffman.plugins import plugged_folders

LONGEST_LIMIT = 300
MOST_LIMITS = 20
LONGEST_NOUN = 40

_TAG = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?")
"""A BCP 47 tag: a language, and optionally its script and region."""


def read_limits(top: TomlTable) -> tuple[str, ...]:
    """Return the sentences of limits; faults of single ones are noted."""
    sentences = top.values.get("limits", [])
    if not LIMITS.test or not LIMITS.test(sentences):
        return ()
    for place, text in enumerate(sentences, start=1):
        top.check("limits", text, _LIMIT, what=f"sentence {place} of limits")
    return tuple(sentences)


def _noun(table: TomlTable) -> Noun:
    words = table.take({"condition": _NOUNS}).get("condition", ["condition", "conditions"])
    for form, text in zip(("singular", "plural"), words, strict=True):
        table.check("condition", text, _NOUN, what=f"the {form} in [nouns]")
    return Noun(one=words[0], many=words[1])


_BUILT_IN = Path(__file__).parent / "data"

_TEXTS = ("id", "version", "title", "kind", "citation", "licence")

_LIMIT, _NOUN = Field(longest=LONGEST_LIMIT), Field(longest=LONGEST_NOUN)
LIMITS = texts(
    f'a list of up to {MOST_LIMITS} sentences, such as ["All names are from one country."]',
    most=MOST_LIMITS,
)
_NOUNS = texts('the singular and the plural, such as ["diagnosis", "diagnoses"]', least=2, most=2)
_HEADER: Fields = {
    **dict.fromkeys(_TEXTS, REQUIRED),
    "id": OWN_ID,
    "kind": Field(required=True, allowed=INSTRUMENT_KINDS),
    "asks": TEXT,
    "language": Field(test=_TAG.fullmatch, says="a BCP 47 tag such as 'en', 'de' or 'pt-BR'"),
    "limits": LIMITS,
    "nouns": TABLE,
    "by_default": texts('a list of kinds of model, such as ["qa", "nli"]'),
}
_FURTHER: Fields = {"settings": TABLE, "controls": TABLE, **FURTHER_FORMS}
_OF_QUESTIONNAIRES: Fields = {
    **_HEADER,
    "conditions": TEXT,
    "slot": TABLE,
    "fields": TABLE,
    "wordings": TABLES,
    **_FURTHER,
}
_OF_PAIRS: Fields = {
    **_HEADER,
    "kind": Field(required=True, allowed=["ask"]),
    "language": Field(
        test=lambda tag: _TAG.fullmatch(tag) and primary_language(tag) == ENGLISH,
        says="English, since goffman does not know the pronouns and articles of other languages",
    ),
    "question": Field(places=["pronoun"]),
    **_FURTHER,
}

_COUNT = number("a whole number above 0", lambda count: count > 0, whole=True)
_SIZE = number("a number above 0", lambda size: size > 0)
_SETTINGS: Fields = {
    **dict.fromkeys(("measure", "contrast", "against", "placement", "counted", "instead"), TEXT),
    **dict.fromkeys(("top_k", "depth", "width", "pairs", "trials"), _COUNT),
    **dict.fromkeys(("margin", "preference_margin"), _SIZE),
}
_SETTINGS_OF_PAIRS: Fields = {
    **_SETTINGS,
    "placement": Field(required=True, allowed=ADJECTIVE_PLACEMENTS),
    "pairs": replace(_COUNT, required=True),
}


def builtin_names() -> tuple[str, ...]:
    """Return the names of the instruments in the package, in the order of the studies."""
    return (
        "social-distance",
        "people-sentiment",
        "care-seeking",
        "attribution",
        "coreference",
        "vignettes",
        "decisions",
        "two-people",
    )


@cache
def plugged_instruments() -> Mapping[str, Instrument]:
    """Return the instruments that other packages provide, by name."""
    return plugged_folders(
        "goffman.instruments", what="instrument", known=builtin_names(), read=_load_folder
    )


def load_instrument(name_or_path: str | Path) -> Instrument:
    """Return the instrument of a name or folder; raise InstrumentError with all its faults.

    A name is that of a built-in instrument, or of one that another package provides.
    """
    name = str(name_or_path)
    if name in builtin_names():
        return _load_folder(_BUILT_IN / name)
    # Only a name is looked up, so that a path runs no other package's code.
    if ID.fullmatch(name) and name in plugged_instruments():
        return plugged_instruments()[name]
    # os.path.isdir is false for names that no system allows; Path.is_dir raises.
    if name and os.path.isdir(name):  # noqa: PTH112
        return _load_folder(Path(name))
    shortened = name if len(name) <= 200 else f"{name[:200]}…"
    names = (*builtin_names(), *plugged_instruments())
    raise InputError(
        f"There is no instrument '{shortened}'. Give a folder, or one of these: "
        f"{', '.join(names)}.{did_you_mean(name, names)}"
    )


def _load_folder(folder: Path) -> Instrument:
    faults = Faults()
    toml = read_toml(folder / "instrument.toml", faults)
    if toml is None:
        raise InstrumentError(str(folder), faults.found)
    of_pairs = "question" in toml.values
    header = toml.top().take(_OF_PAIRS if of_pairs else _OF_QUESTIONNAIRES)
    content: Questionnaire | SentencePairs
    kind: InstrumentKind | None = header.get("kind")
    if of_pairs:
        content, tables = read_sentence_pairs(folder, toml)
    else:
        content, tables = read_questionnaire(folder, toml, kind=kind)
    controls, files = read_controls(folder, toml, content, kind=kind)
    choice, choice_files = read_choice(folder, content, kind=kind, faults=faults)
    fields: dict[str, Any] = {
        "language": header.get("language", ENGLISH),
        "by_default": tuple(header.get("by_default", ())),
        "limits": read_limits(toml.top()),
        "noun": _noun(toml.table("nouns")),
        "completion": read_completion(toml, content),
    }
    fields["writing"], fields["someone"] = read_writing(toml, content)
    fields["writing_controls"], writing_files = read_controls(
        folder, toml, content, kind="write", file=WRITING_FILE, about=WRITING_TABLE
    )
    paraphrases = read_paraphrases(folder, content, choice, kind=kind, faults=faults)
    fields["crossing"] = read_crossing(folder, faults)
    table = toml.table("settings")
    settings = table.take(_SETTINGS_OF_PAIRS if of_pairs else _SETTINGS)
    if isinstance(content, Questionnaire):
        _check_contrast(table, settings, content)
    if faults.found:
        raise InstrumentError(str(folder), faults.found)
    further_files = [*files, *choice_files, *writing_files]
    return Instrument(
        **{key: header[key] for key in _TEXTS},
        asks=header.get("asks", ""),
        **fields,
        settings=settings,
        content=content,
        digest=digest_of([folder / "instrument.toml", *tables, *further_files]),
        controls=controls,
        choice=choice,
        paraphrases=paraphrases,
    )


def _check_contrast(table: TomlTable, settings: Mapping[str, Any], content: Questionnaire) -> None:
    """Note a fault unless the two groups compared are different groups of conditions."""
    groups = Field(allowed=[*dict.fromkeys(condition.group for condition in content.conditions)])
    for key in ("contrast", "against"):
        if key in settings and groups.allowed:
            table.check(key, settings[key], groups)
    if "contrast" in settings and settings["contrast"] == settings.get("against"):
        table.note("against", "contrast and against in [settings] are the same group.")
