"""A folder of TOML and CSV → an Instrument; complaints carry file and line."""

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
"""Of BCP 47: a language, and if wanted its script and region."""


def _language(top: TomlTable, header: Mapping[str, Any], *, of_pairs: bool) -> str:
    given = str(header.get("language", ENGLISH))
    if not _TAG.fullmatch(given):
        allowed = "Allowed: a BCP 47 tag such as 'en', 'de' or 'pt-BR'."
        top.note("language", f"language is '{given}'. {allowed}")
    elif of_pairs and primary_language(given) != ENGLISH:
        message = (
            f"language is '{given}', but sentence pairs can only be in English: goffman does not "
            "know the pronouns and articles of other languages."
        )
        top.note("language", message)
    return given


def read_limits(top: TomlTable) -> tuple[str, ...]:
    """The sentences of limits; faults are noted."""
    given = top.values.get("limits", [])
    if not _are_texts(given):
        message = 'limits must be a list of sentences, such as ["All names are from one country."].'
        top.note("limits", message)
        return ()
    if len(given) > MOST_LIMITS:
        top.note("limits", f"limits has {len(given)} sentences. Allowed: up to {MOST_LIMITS}.")
        return ()
    for number, text in enumerate(given, start=1):
        _check(top, "limits", f"sentence {number} of limits", text, LONGEST_LIMIT)
    return tuple(given)


def _noun(table: TomlTable) -> Noun:
    given = table.take({"condition": object}).get("condition", ["condition", "conditions"])
    if not _are_texts(given) or len(given) != 2:
        message = (
            "condition in [nouns] must be the singular and the plural, such as "
            '["diagnosis", "diagnoses"].'
        )
        table.note("condition", message)
        return Noun()
    for which, text in zip(("singular", "plural"), given, strict=True):
        _check(table, "condition", f"the {which} in [nouns]", text, LONGEST_NOUN)
    return Noun(one=given[0], many=given[1])


def _by_default(top: TomlTable) -> tuple[str, ...]:
    """The kinds of model of by_default; a fault is noted."""
    given = top.values.get("by_default", [])
    if not _are_texts(given):
        message = 'by_default must be a list of kinds of model, such as ["qa", "nli"].'
        top.note("by_default", message)
        return ()
    return tuple(given)


def _are_texts(given: object) -> bool:
    return isinstance(given, list) and all(isinstance(text, str) for text in given)


def _check(table: TomlTable, key: str, what: str, text: str, longest: int) -> None:
    """Note a fault where a text is empty, too long, or has signs that nobody means."""
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
    """The instruments that come with the package, in the order of the studies."""
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
    """By name: the instruments that other packages bring."""
    return plugged_folders(
        "goffman.instruments", what="instrument", known=builtin_names(), read=_load_folder
    )


def load_instrument(name_or_path: str | Path) -> Instrument:
    """The instrument of a name, or of a folder; InstrumentError with every fault of it.

    A name is that of a built-in instrument, or of one that another package brings.
    """
    given = str(name_or_path)
    if given in builtin_names():
        return _load_folder(_BUILT_IN / given)
    # A path is not looked up, so that no other package's code runs for it.
    if ID.fullmatch(given) and given in plugged_instruments():
        return plugged_instruments()[given]
    # os.path.isdir, which says no to names that no system allows, where Path.is_dir fails.
    if given and os.path.isdir(given):  # noqa: PTH112
        return _load_folder(Path(given))
    shown = given if len(given) <= 200 else f"{given[:200]}…"
    known = (*builtin_names(), *plugged_instruments())
    raise InputError(
        f"There is no instrument '{shown}'. Give a folder, or one of these: "
        f"{', '.join(known)}.{did_you_mean(given, known)}"
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
    about: dict[str, Any] = {
        "language": _language(toml.top(), header, of_pairs=of_pairs),
        "by_default": _by_default(toml.top()),
        "limits": read_limits(toml.top()),
        "noun": _noun(toml.table("nouns")),
        "completion": read_completion(toml, content),
    }
    about["writing"], about["someone"] = read_writing(toml, content)
    about["writing_controls"], writing_files = read_controls(
        folder, toml, content, kind="write", file=WRITING_FILE, about=WRITING_TABLE
    )
    paraphrases = read_paraphrases(folder, content, choice, kind=kind, faults=faults)
    about["crossing"] = read_crossing(folder, faults)
    settings = _read_settings(toml)
    if isinstance(content, Questionnaire):
        _check_contrast(toml, settings, content)
    else:
        _check_drawing(toml, settings)
    if faults.found:
        raise InstrumentError(str(folder), faults.found)
    others = [*files, *choice_files, *writing_files]
    return Instrument(
        **{key: header[key] for key in _TEXTS},
        asks=header.get("asks", ""),
        **about,
        settings=settings,
        content=content,
        digest=digest_of([folder / "instrument.toml", *tables, *others]),
        controls=controls,
        choice=choice,
        paraphrases=paraphrases,
    )


def _read_header(toml: TomlFile, *, of_pairs: bool) -> dict[str, Any]:
    top = toml.top()
    top.require(_TEXTS)
    # A list has a check of its own: it is no list of tables.
    keys: dict[str, type] = {"asks": str, "language": str, "limits": object, "nouns": dict}
    keys |= {"by_default": object}
    if of_pairs:
        keys |= {"question": str}
    else:
        keys |= {"conditions": str, "slot": dict, "fields": dict, "wordings": list}
    keys |= {"settings": dict, "controls": dict, **FURTHER_FORMS}
    given = top.take({**dict.fromkeys(_TEXTS, str), **keys})
    top.check_id(given.get("id", ""))
    if "kind" in given:
        top.check_one_of("kind", given["kind"], ("ask",) if of_pairs else INSTRUMENT_KINDS)
    return given


def _read_settings(toml: TomlFile) -> dict[str, str | int | float | bool]:
    """The settings that are known; counts are whole and above 0, sizes finite and above 0."""
    table = toml.table("settings")
    known: dict[str, type] = dict.fromkeys(_TEXT_SETTINGS, str)
    known |= dict.fromkeys((*_NUMBER_SETTINGS, *_SIZE_SETTINGS), object)
    settings: dict[str, str | int | float | bool] = table.take(known)
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
    """The two groups that are set against each other must be different groups of conditions."""
    groups = list(dict.fromkeys(condition.group for condition in content.conditions))
    table = toml.table("settings")
    for key in ("contrast", "against"):
        if key in settings and groups:
            table.check_one_of(key, str(settings[key]), groups, what=f"{key} in [settings]")
    if "contrast" in settings and settings["contrast"] == settings.get("against"):
        table.note("against", "contrast and against in [settings] are the same group.")


def _check_drawing(toml: TomlFile, settings: Mapping[str, object]) -> None:
    """How many sentence pairs are drawn, and where adjectives go, must be said."""
    table = toml.table("settings")
    table.require(["pairs", "placement"])
    if "placement" in settings:
        what, placement = "placement in [settings]", str(settings["placement"])
        table.check_one_of("placement", placement, ADJECTIVE_PLACEMENTS, what=what)
