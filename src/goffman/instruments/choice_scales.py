"""[[scales]] of choice.toml → the options of questions and their codes, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goffman.choice_items import CHOICE_LABELS, Scale
from goffman.instruments.files import Faults, TomlFile, TomlTable

MOST = {"letters": 25, "numbers": 9}
"""Options beside the way out: it takes a letter, or the number 0."""


def read_scales(toml: TomlFile, way_out: str, faults: Faults) -> tuple[Scale, ...]:
    """The scales of the file; faults are noted."""
    scales: list[Scale] = []
    for table in toml.tables("scales", faults):
        table.require(["id", "texts"], faults)
        given = table.take({"id": str, "texts": object, "codes": object, "labels": str}, faults)
        name, row = given.get("id", ""), table.lines.get("id")
        if name:
            faults.check_id(toml.name, row, what="id in [scales]", given=name)
        if name and name in {scale.id for scale in scales}:
            faults.add(toml.name, row, f"the scale '{name}' appears twice.")
        labels = faults.check_one_of(
            toml.name,
            table.lines.get("labels"),
            what="labels",
            given=given.get("labels", "letters"),
            allowed=CHOICE_LABELS,
        )
        texts = _texts(table, name, labels or "letters", way_out, faults)
        codes = _codes(table, given, len(texts), faults)
        scales.append(Scale(id=name, texts=texts, codes=codes, labels=labels or "letters"))
    return tuple(scales)


def _texts(
    table: TomlTable, name: str, labels: str, way_out: str, faults: Faults
) -> tuple[str, ...]:
    """What the options say; only a number may say nothing."""
    given, row = table.values.get("texts"), table.lines.get("texts")
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        message = 'texts in [scales] must be a list of texts, such as ["Yes", "No"].'
        faults.add(table.file, row, message)
        return ()
    what = f"the scale '{name}'"
    if not 2 <= len(given) <= MOST[labels]:
        options = f"{len(given)} option{'s' * (len(given) != 1)}"
        message = f"{what} has {options}. Allowed with {labels}: 2 to {MOST[labels]}."
        faults.add(table.file, row, message)
    said = [text for text in given if text.strip()]
    if labels == "letters" and len(said) < len(given):
        faults.add(
            table.file, row, f"an option of {what} is empty. Only numbers can be without a text."
        )
    for text in said:
        faults.check_text(table.file, row, what=f"an option of {what}", text=text)
        faults.check_plain(table.file, row, what=f"an option of {what}", text=text)
    folded = [text.casefold() for text in said]
    for text in dict.fromkeys(folded):
        if folded.count(text) > 1:
            faults.add(table.file, row, f"{what} has the option '{text}' twice.")
    if way_out.casefold() in folded:
        faults.add(table.file, row, f"an option of {what} is the same as way_out: '{way_out}'.")
    return tuple(given)


def _codes(
    table: TomlTable, given: Mapping[str, Any], count: int, faults: Faults
) -> tuple[float, ...]:
    """As given; without any the options lie at equal distances from 0 to 1."""
    row, codes = table.lines.get("codes"), given.get("codes")
    if codes is None:
        return tuple(place / max(count - 1, 1) for place in range(count))
    if not isinstance(codes, list) or not all(_is_code(code) for code in codes):
        faults.add(table.file, row, "codes must be a list of numbers from 0 to 1, such as [0, 1].")
        return ()
    if count and len(codes) != count:
        message = f"there are {len(codes)} codes for {count} options. Give each option one."
        faults.add(table.file, row, message)
    elif len(set(codes)) == 1:
        faults.add(
            table.file, row, "all options have the same code, so no answer would mean anything."
        )
    return tuple(float(code) for code in codes)


def _is_code(value: object) -> bool:
    """Whether it is a number from 0 to 1; nan, which TOML allows, is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
