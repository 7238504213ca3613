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
    read_toml,
)
from goffman.instruments.multiple_choice import read_choice
from goffman.instruments.paraphrases import read_paraphrases
from goffman.instruments.questionnaire import read_questionnaire
from goffman.instruments.sentence_pairs import ADJECTIVE_PLACEMENTS, read_sentence_pairs
from goffman.instruments.types import (
    ENGLISH,
    INSTRUMENT_KINDS,
    Instrument,
    Noun,
    Paraphrases,
    Questionnaire,
    SentencePairs,
    primary_language,
)
from goffman.plugins import plugged_folders

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


_BUILT_IN = Path(__file__).parent / "data"

_TEXTS = ("id", "version", "title", "kind", "citation", "licence")

_FOR_QUESTIONNAIRES: dict[str, type] = {
    "conditions": str,
    "slot": dict,
    "fields": dict,
    "wordings": list,
}
_FOR_SENTENCE_PAIRS: dict[str, type] = {"question": str}

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
    header = _read_header(toml, faults, of_pairs=of_pairs)
    content: Questionnaire | SentencePairs
    kind = next((kind for kind in INSTRUMENT_KINDS if kind == header.get("kind")), None)
    if of_pairs:
        content, tables = read_sentence_pairs(folder, toml, faults=faults)
    else:
        content, tables = read_questionnaire(folder, toml, kind=kind, faults=faults)
    controls, files = read_controls(folder, toml, content, kind=kind, faults=faults)
    choice, choice_files = read_choice(folder, content, kind=kind, faults=faults)
    about = read_about(toml, header, faults, of_pairs=of_pairs)
    about["completion"] = read_completion(toml, content, faults)
    about["writing"], about["someone"] = read_writing(toml, content, faults)
    about["writing_controls"], writing_files = read_controls(
        folder, toml, content, kind="write", faults=faults, file=WRITING_FILE, about=WRITING_TABLE
    )
    paraphrases = Paraphrases()
    # Where anything else is at fault, theirs may only follow from it.
    if not faults.found:
        paraphrases = read_paraphrases(folder, content, choice, kind=kind, faults=faults)
    settings = _read_settings(toml, faults)
    if isinstance(content, Questionnaire):
        _check_contrast(toml, settings, content, faults)
    else:
        _check_drawing(toml, settings, faults)
    if faults.found:
        raise InstrumentError(str(folder), faults.found)
    texts = {key: header[key] for key in _TEXTS}
    others = [*files, *choice_files, *writing_files]
    digest = digest_of([folder / "instrument.toml", *tables, *others])
    return Instrument(
        **texts,
        **about,
        settings=settings,
        content=content,
        digest=digest,
        controls=controls,
        choice=choice,
        paraphrases=paraphrases,
    )


def _read_header(toml: TomlFile, faults: Faults, *, of_pairs: bool) -> dict[str, Any]:
    top = toml.top()
    top.require(_TEXTS, faults)
    further = _FOR_SENTENCE_PAIRS if of_pairs else _FOR_QUESTIONNAIRES
    tables = {"settings": dict, "controls": dict, **FURTHER_FORMS}
    given = top.take({**dict.fromkeys(_TEXTS, str), **ABOUT, **further, **tables}, faults)
    if "id" in given:
        faults.check_id(toml.name, top.lines.get("id"), what="id", given=given["id"])
    if "kind" in given:
        allowed = ("ask",) if of_pairs else INSTRUMENT_KINDS
        row = top.lines.get("kind")
        faults.check_one_of(toml.name, row, what="kind", given=given["kind"], allowed=allowed)
    return given


def _read_settings(toml: TomlFile, faults: Faults) -> dict[str, str | int | float | bool]:
    """The settings that are known; counts are whole and above 0, sizes finite and above 0."""
    table = toml.table("settings")
    known: dict[str, type] = dict.fromkeys(_TEXT_SETTINGS, str)
    known |= dict.fromkeys((*_NUMBER_SETTINGS, *_SIZE_SETTINGS), object)
    settings: dict[str, str | int | float | bool] = table.take(known, faults)
    for key in _NUMBER_SETTINGS:
        value = settings.get(key, 1)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            message = f"{key} in [settings] must be a whole number above 0."
            faults.add(toml.name, table.lines.get(key), message)
    for key in _SIZE_SETTINGS:
        value = settings.get(key, 1)
        if (
            not isinstance(value, int | float)
            or isinstance(value, bool)
            or not 0 < value < math.inf
        ):
            message = f"{key} in [settings] must be a number above 0."
            faults.add(toml.name, table.lines.get(key), message)
    return settings


def _check_contrast(
    toml: TomlFile, settings: Mapping[str, object], content: Questionnaire, faults: Faults
) -> None:
    """The two groups that are set against each other must be different groups of conditions."""
    groups = list(dict.fromkeys(condition.group for condition in content.conditions))
    lines = toml.table("settings").lines
    for key in ("contrast", "against"):
        if key in settings and groups:
            faults.check_one_of(
                toml.name,
                lines.get(key),
                what=f"{key} in [settings]",
                given=str(settings[key]),
                allowed=groups,
            )
    if "contrast" in settings and settings["contrast"] == settings.get("against"):
        message = "contrast and against in [settings] are the same group."
        faults.add(toml.name, lines.get("against"), message)


def _check_drawing(toml: TomlFile, settings: Mapping[str, object], faults: Faults) -> None:
    """How many sentence pairs are drawn, and where adjectives go, must be said."""
    table = toml.table("settings")
    table.require(["pairs", "placement"], faults)
    if "placement" in settings:
        faults.check_one_of(
            toml.name,
            table.lines.get("placement"),
            what="placement in [settings]",
            given=str(settings["placement"]),
            allowed=ADJECTIVE_PLACEMENTS,
        )
