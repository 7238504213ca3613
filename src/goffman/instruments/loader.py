"""Load an instrument from a folder of TOML and CSV files; faults carry file and line."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from goffman.errors import InputError, InstrumentError, did_you_mean
from goffman.instruments.completion import FURTHER_FORMS, read_completion, read_writing
from goffman.instruments.controls import WRITING_FILE, WRITING_TABLE, read_controls
from goffman.instruments.files import (
    ID,
    Faults,
    TomlFile,
    TomlTable,
    digest_of,
    is_number,
    read_toml,
)
from goffman.instruments.identities import read_crossing
from goffman.instruments.multiple_choice import read_choice
from goffman.instruments.paraphrases import read_paraphrases
from goffman.instruments.questionnaire import read_questionnaire
from goffman.instruments.sentence_pairs import ADJECTIVE_PLACEMENTS, read_sentence_pairs
from goffman.instruments.types import (
    ENGLISH,
    INSTRUMENT_KINDS,
    Instrument,
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


def _language(top: TomlTable, header: Mapping[str, Any], *, of_pairs: bool) -> str:
    tag = str(header.get("language", ENGLISH))
    if not _TAG.fullmatch(tag):
        allowed = "Allowed: a BCP 47 tag such as 'en', 'de' or 'pt-BR'."
        top.note("language", f"language is '{tag}'. {allowed}")
    elif of_pairs and primary_language(tag) != ENGLISH:
        message = (
            f"language is '{tag}', but sentence pairs can only be in English: goffman does not "
            "know the pronouns and articles of other languages."
        )
        top.note("language", message)
    return tag


def read_limits(top: TomlTable) -> tuple[str, ...]:
    """Return the sentences of limits; faults are noted."""
    sentences = top.values.get("limits", [])
    if not _are_texts(sentences):
        message = 'limits must be a list of sentences, such as ["All names are from one country."].'
        top.note("limits", message)
        return ()
    if len(sentences) > MOST_LIMITS:
        top.note("limits", f"limits has {len(sentences)} sentences. Allowed: up to {MOST_LIMITS}.")
        return ()
    for number, text in enumerate(sentences, start=1):
        _check(top, "limits", f"sentence {number} of limits", text, LONGEST_LIMIT)
    return tuple(sentences)


def _noun(table: TomlTable) -> Noun:
    words = table.take({"condition": object}).get("condition", ["condition", "conditions"])
    if not _are_texts(words) or len(words) != 2:
        message = (
            "condition in [nouns] must be the singular and the plural, such as "
            '["diagnosis", "diagnoses"].'
        )
        table.note("condition", message)
        return Noun()
    for number, text in zip(("singular", "plural"), words, strict=True):
        _check(table, "condition", f"the {number} in [nouns]", text, LONGEST_NOUN)
    return Noun(one=words[0], many=words[1])


def _by_default(top: TomlTable) -> tuple[str, ...]:
    """Return the kinds of model in by_default; a fault is noted."""
    kinds = top.values.get("by_default", [])
    if not _are_texts(kinds):
        message = 'by_default must be a list of kinds of model, such as ["qa", "nli"].'
        top.note("by_default", message)
        return ()
    return tuple(kinds)


def _are_texts(given: object) -> bool:
    return isinstance(given, list) and all(isinstance(text, str) for text in given)


def _check(table: TomlTable, key: str, what: str, text: str, longest: int) -> None:
    """Note a fault if a text is empty, too long, or has extra spaces or invisible characters."""
    if not text.strip():
        table.note(key, f"{what} is empty.")
    elif len(text) > longest:
        table.note(key, f"{what} has {len(text):,} characters. Allowed: up to {longest}.")
    else:
        table.check_text(key, what, text)


_BUILT_IN = Path(__file__).parent / "data"

_TEXTS = ("id", "version", "title", "kind", "citation", "licence")

_TEXT_SETTINGS = ("measure", "contrast", "against", "placement", "counted", "instead")
_NUMBER_SETTINGS = ("top_k", "depth", "width", "pairs", "trials")
_SIZE_SETTINGS = ("margin", "preference_margin")


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
    """Return, by name, the instruments that other packages provide."""
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
    # A path is not looked up among the names, so that no other package's code runs for it.
    if ID.fullmatch(name) and name in plugged_instruments():
        return plugged_instruments()[name]
    # os.path.isdir, which says no to names that no system allows, where Path.is_dir fails.
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
    header = _read_header(toml, of_pairs=of_pairs)
    content: Questionnaire | SentencePairs
    kind = next((kind for kind in INSTRUMENT_KINDS if kind == header.get("kind")), None)
    if of_pairs:
        content, tables = read_sentence_pairs(folder, toml)
    else:
        content, tables = read_questionnaire(folder, toml, kind=kind)
    controls, files = read_controls(folder, toml, content, kind=kind)
    choice, choice_files = read_choice(folder, content, kind=kind, faults=faults)
    fields: dict[str, Any] = {
        "language": _language(toml.top(), header, of_pairs=of_pairs),
        "by_default": _by_default(toml.top()),
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
    settings = _read_settings(toml)
    if isinstance(content, Questionnaire):
        _check_contrast(toml, settings, content)
    else:
        _check_drawing(toml, settings)
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


def _read_header(toml: TomlFile, *, of_pairs: bool) -> dict[str, Any]:
    top = toml.top()
    top.require(_TEXTS)
    # A list has its own check: it is no list of tables.
    keys: dict[str, type] = {"asks": str, "language": str, "limits": object, "nouns": dict}
    keys |= {"by_default": object}
    if of_pairs:
        keys |= {"question": str}
    else:
        keys |= {"conditions": str, "slot": dict, "fields": dict, "wordings": list}
    keys |= {"settings": dict, "controls": dict, **FURTHER_FORMS}
    header = top.take({**dict.fromkeys(_TEXTS, str), **keys})
    top.check_id(header.get("id", ""))
    if "kind" in header:
        top.check_one_of("kind", header["kind"], ("ask",) if of_pairs else INSTRUMENT_KINDS)
    return header


def _read_settings(toml: TomlFile) -> dict[str, str | int | float | bool]:
    """Return the known settings; counts must be whole and above 0, sizes finite and above 0."""
    table = toml.table("settings")
    types: dict[str, type] = dict.fromkeys(_TEXT_SETTINGS, str)
    types |= dict.fromkeys((*_NUMBER_SETTINGS, *_SIZE_SETTINGS), object)
    settings: dict[str, str | int | float | bool] = table.take(types)
    for key in _NUMBER_SETTINGS:
        value = settings.get(key, 1)
        if type(value) is not int or value < 1:
            table.note(key, f"{key} in [settings] must be a whole number above 0.")
    for key in _SIZE_SETTINGS:
        value = settings.get(key, 1)
        if not is_number(value) or not 0 < value < math.inf:
            table.note(key, f"{key} in [settings] must be a number above 0.")
    return settings


def _check_contrast(toml: TomlFile, settings: Mapping[str, object], content: Questionnaire) -> None:
    """Note a fault unless the two groups compared are different groups of conditions."""
    groups = list(dict.fromkeys(condition.group for condition in content.conditions))
    table = toml.table("settings")
    for key in ("contrast", "against"):
        if key in settings and groups:
            table.check_one_of(key, str(settings[key]), groups, what=f"{key} in [settings]")
    if "contrast" in settings and settings["contrast"] == settings.get("against"):
        table.note("against", "contrast and against in [settings] are the same group.")


def _check_drawing(toml: TomlFile, settings: Mapping[str, object]) -> None:
    """Note a fault unless the number of pairs and the placement of adjectives are given."""
    table = toml.table("settings")
    table.require(["pairs", "placement"])
    if "placement" in settings:
        label, placement = "placement in [settings]", str(settings["placement"])
        table.check_one_of("placement", placement, ADJECTIVE_PLACEMENTS, what=label)
