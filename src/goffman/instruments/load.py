"""A folder of TOML and CSV → an Instrument; complaints carry file and line."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from goffman.errors import InputError, InstrumentError, did_you_mean
from goffman.instruments.coreference import read_sentence_pairs
from goffman.instruments.files import Faults, TomlFile, read_toml
from goffman.instruments.questionnaire import read_questionnaire
from goffman.instruments.sentences import PLACEMENTS
from goffman.records import Instrument, Kind, Questionnaire, SentencePairs

_BUILT_IN = Path(__file__).parent / "data"

_TEXTS = ("id", "version", "title", "kind", "citation", "licence")


def builtin_names() -> tuple[str, ...]:
    """The instruments that come with the package, in the order of the studies."""
    return ("social-distance", "people-sentiment", "care-seeking", "attribution", "coreference")


def load_instrument(name_or_path: str | Path) -> Instrument:
    """The instrument of a built-in name, or of a folder; InstrumentError with every fault of it."""
    if str(name_or_path) in builtin_names():
        return _load_folder(_BUILT_IN / str(name_or_path))
    path = Path(name_or_path)
    if path.is_dir():
        return _load_folder(path)
    known = ", ".join(builtin_names())
    raise InputError(
        f"There is no instrument '{name_or_path}': it is neither a folder nor one of {known}."
        + did_you_mean(str(name_or_path), builtin_names())
    )


def _load_folder(folder: Path) -> Instrument:
    faults = Faults()
    toml = read_toml(folder / "instrument.toml", faults)
    if toml is None:
        raise InstrumentError(str(folder), faults.found)
    header = _read_header(toml, faults)
    kind: Kind = header.get("kind", "fill")
    content: Questionnaire | SentencePairs
    if "question" in toml.values:
        content, tables = read_sentence_pairs(folder, toml, faults=faults)
    else:
        content, tables = read_questionnaire(folder, toml, kind=kind, faults=faults)
    settings = _read_settings(toml, faults)
    if isinstance(content, Questionnaire):
        _check_contrast(toml, settings, content, faults)
    else:
        _check_drawing(toml, settings, faults)
    if faults.found:
        raise InstrumentError(str(folder), faults.found)
    texts = {key: header[key] for key in _TEXTS}
    digest = _digest([folder / "instrument.toml", *tables])
    return Instrument(**texts, settings=settings, content=content, digest=digest)


def _read_header(toml: TomlFile, faults: Faults) -> dict[str, Any]:
    top = toml.top()
    top.require(_TEXTS, faults)
    given = top.take(
        dict.fromkeys(_TEXTS, str)
        | {"conditions": str, "question": str}
        | {"slot": dict, "fields": dict, "settings": dict, "wordings": list},
        faults,
    )
    if "id" in given:
        faults.check_id(toml.name, top.lines.get("id"), what="id", given=given["id"])
    if "kind" in given:
        row = top.lines.get("kind")
        faults.check_one_of(
            toml.name, row, what="kind", given=given["kind"], allowed=get_args(Kind)
        )
    return given


def _read_settings(toml: TomlFile, faults: Faults) -> dict[str, str | int | float | bool]:
    table = toml.table("settings")
    settings: dict[str, str | int | float | bool] = {}
    for key, value in table.values.items():
        if isinstance(value, str | int | float | bool):
            settings[key] = value
        else:
            message = f"{key} in [settings] must be a text, a number, true or false."
            faults.add(toml.name, table.lines.get(key), message)
    return settings


def _check_contrast(
    toml: TomlFile, settings: Mapping[str, object], content: Questionnaire, faults: Faults
) -> None:
    """The two groups that are set against each other must be groups of conditions."""
    groups = list(dict.fromkeys(condition.group for condition in content.conditions))
    for key in ("contrast", "against"):
        if key in settings and groups:
            faults.check_one_of(
                toml.name,
                toml.table("settings").lines.get(key),
                what=f"{key} in [settings]",
                given=str(settings[key]),
                allowed=groups,
            )


def _check_drawing(toml: TomlFile, settings: Mapping[str, object], faults: Faults) -> None:
    """How many sentence pairs are drawn, and where adjectives go, must be said."""
    lines = toml.table("settings").lines
    pairs = settings.get("pairs")
    if not isinstance(pairs, int) or isinstance(pairs, bool) or pairs < 1:
        message = "[settings] must have pairs, a whole number above 0."
        faults.add(toml.name, lines.get("pairs"), message)
    faults.check_one_of(
        toml.name,
        lines.get("placement"),
        what="placement in [settings]",
        given=str(settings.get("placement", "")),
        allowed=PLACEMENTS,
    )


def _digest(paths: Sequence[Path]) -> str:
    """sha256 over names and texts of files, the same whatever line ends a checkout gave them."""
    digest = hashlib.sha256()
    for path in paths:
        content = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{path.name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()
