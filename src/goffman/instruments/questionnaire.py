"""Read and check a questionnaire: items.csv, conditions.csv and the tables of instrument.toml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from goffman.errors import did_you_mean
from goffman.instruments.fields import OWN_ID, REQUIRED, TEXT, UNIQUE_ID, Field, Fields
from goffman.instruments.files import Row, TomlFile, TomlTable, read_table
from goffman.instruments.text import PERSON_PLACES, places, put_in, slot_text, stray_braces
from goffman.instruments.types import (
    BASELINE,
    CONTROL,
    KEYED,
    MASK,
    SOURCES,
    Condition,
    Form,
    InstrumentKind,
    Item,
    Questionnaire,
    Slot,
    Wording,
)

MOST_PROMPTS = 5_000_000

FORM_COLUMNS = ("form", "verb", "plural", "plural_verb", "vignette")
_OF_CHOICES = ("question", "asks", "opposite", "other")
"""Further columns of items.csv, for instruments with only choices."""

_PLAIN, _KEYED = Field(plain=True), Field(allowed=KEYED)
_SLOT: Fields = {"name": REQUIRED, "filled": REQUIRED, "empty": _PLAIN}
_WORDING: Fields = {
    "id": UNIQUE_ID,
    "frame": TEXT,
    "default": Field(kind=bool),
    "family": Field(is_id=True),
    "source": Field(allowed=SOURCES),
}
_ITEM: Fields = {
    "item": OWN_ID,
    "text": REQUIRED,
    "wording": TEXT,
    "dimension": TEXT,
    "keyed": _KEYED,
    "choice_keyed": _KEYED,
    "your_text": TEXT,
    "baseline": TEXT,
    "source": Field(allowed=SOURCES),
}
_CONDITION: Fields = {
    "condition": OWN_ID,
    **dict.fromkeys(("name", "group", "category"), REQUIRED),
    "form": Field(required=True, plain=True),
    **dict.fromkeys(FORM_COLUMNS[1:-1], _PLAIN),
    "vignette": TEXT,
    "study_category": TEXT,
}


def read_questionnaire(
    folder: Path, toml: TomlFile, *, kind: InstrumentKind | None
) -> tuple[Questionnaire, list[Path]]:
    """Return the questionnaire of a folder and the tables it was read from; faults are noted."""
    file_name = toml.values.get("conditions")
    items_path = folder / "items.csv"
    conditions_path = folder / (file_name if isinstance(file_name, str) else "conditions.csv")
    slot = _read_slot(toml)
    fields = _read_fields(toml, slot)
    wordings = read_wordings(toml, known=[*fields, slot.name]) or (Wording(id="only"),)
    columns = {**_ITEM, "wording": Field(allowed=[wording.id for wording in wordings])}
    columns |= dict.fromkeys(_OF_CHOICES if kind == "choose" else (), TEXT)
    rows = read_table(items_path, columns, toml.faults)
    if _too_many(toml, len(rows) * len(wordings), "items × wordings", items_path.name):
        rows = []
    items = _items(rows, wordings)
    _check_baselines(rows, slot, kind=kind)
    values = {**fields, slot.name: "…"}
    if kind == "choose":
        values |= dict.fromkeys(PERSON_PLACES, "…")
    for row in rows if slot.name else ():
        frames = [
            wording
            for wording in wordings
            if row["wording"] in {"", wording.id} and "{item}" in wording.frame
        ]
        check_sentence(row, frames, values=values, slot=slot.name, kind=kind)
    forms = read_table(conditions_path, _CONDITION, toml.faults)
    for row in forms:
        _check_vignette(row)
    prompts = len(rows) * len(wordings) * len(forms)
    _too_many(toml, prompts, "items × wordings × forms of conditions", conditions_path.name)
    content = Questionnaire(
        fields=fields,
        wordings=wordings,
        slot=slot,
        items=items,
        conditions=_conditions(forms, slot),
    )
    return content, [items_path, conditions_path]


def _too_many(toml: TomlFile, count: int, what: str, file: str) -> bool:
    """Return whether there are too many prompts to ask; note a fault if so."""
    if count > MOST_PROMPTS:
        message = f"{what} are {count:,}. Allowed: up to {MOST_PROMPTS:,}."
        toml.faults.add(file, None, message)
    return count > MOST_PROMPTS


def _read_slot(toml: TomlFile) -> Slot:
    table = toml.table("slot")
    slot = Slot(**({"name": "", "filled": ""} | table.take(_SLOT)))
    label = f"filled in [slot] is '{slot.filled}'"
    place_names = places(slot.filled)
    for place in place_names:
        table.check("filled", place, Field(allowed=FORM_COLUMNS), what="a placeholder in filled")
    if slot.filled and not place_names:
        allowed = ", ".join(f"{{{name}}}" for name in FORM_COLUMNS)
        table.note(
            "filled", f"{label}, which has no placeholder for a condition. Allowed: {allowed}."
        )
    if stray_braces(slot.filled) or MASK in slot.filled:
        table.note("filled", f"{label}. It cannot have a stray brace or {MASK}.")
    return slot


def _read_fields(toml: TomlFile, slot: Slot) -> dict[str, str]:
    table = toml.table("fields")
    fields: dict[str, str] = table.take(dict.fromkeys(table.values, _PLAIN))
    for name in fields:
        if name in {slot.name, "item"}:
            message = f"'{name}' cannot be the name of a field, because it already has a meaning."
            table.note(name, message)
    return fields


def read_wordings(toml: TomlFile, *, known: Sequence[str]) -> tuple[Wording, ...]:
    """Return the wordings of [[wordings]]; faults are noted."""
    wordings: list[Wording] = []
    for table in toml.tables("wordings"):
        wording = Wording(**({"id": ""} | table.take(_WORDING)))
        if wording.id == "all":
            table.note("id", "'all' cannot be the id of a wording: it means all of them.")
        _check_frame(table, wording, known=known)
        wordings.append(wording)
    if wordings and not any(wording.default for wording in wordings):
        toml.note("every wording has default = false, so nothing would be asked.")
    return tuple(wordings)


def _check_frame(table: TomlTable, wording: Wording, *, known: Sequence[str]) -> None:
    label, place_names = f"the frame of wording '{wording.id}'", places(wording.frame)
    if place_names.count("item") != 1:
        table.note("frame", f"{label} must contain {{item}} exactly once.")
    if stray_braces(wording.frame):
        table.note("frame", f"{label} has a stray brace: '{wording.frame}'.")
    for place in place_names:
        if place not in {*known, "item"}:
            allowed = ", ".join(f"{{{name}}}" for name in ["item", *known])
            suggestion = did_you_mean(place, [*known, "item"])
            table.note("frame", f"{label} has '{{{place}}}'. Allowed: {allowed}.{suggestion}")


def _items(rows: Sequence[Row], wordings: Sequence[Wording]) -> tuple[Item, ...]:
    """Return the items; note a fault if one is twice in a wording, or differs between wordings.

    Its keying may differ, since a sentence quoted from a study may say the opposite.
    """
    items: list[Item] = []
    study_wordings = {wording.id for wording in wordings if wording.source == "study"}
    first_rows: dict[str, Row] = {}
    item_ids: dict[str, set[str]] = {wording.id: set() for wording in wordings}
    for row in rows:
        name, wording = row["item"], row["wording"]
        name_sets = [item_ids[wording]] if wording in item_ids else list(item_ids.values())
        if any(name in names for names in name_sets):
            row.note(f"the item '{name}' appears twice.")
        for names in name_sets:
            names.add(name)
        for column, default in (("dimension", ""), ("keyed", "plain"), ("choice_keyed", "")):
            cell, first = (
                some_row[column] or default for some_row in (row, first_rows.setdefault(name, row))
            )
            if cell != first and not (column == "keyed" and wording in study_wordings):
                row.note(
                    f"{column} is '{cell}', but '{first}' in an earlier row of '{name}'. All rows "
                    f"of an item must have the same {column}."
                )
        texts = ("text", "wording", "dimension", "your_text", "baseline", *_OF_CHOICES)
        items.append(
            Item(
                id=name,
                keyed=row["keyed"] or "plain",
                choice_keyed=row["choice_keyed"] or None,
                source=row["source"] or None,
                **{column: row[column] for column in texts},
            )
        )
    for wording_id, names in item_ids.items():
        if missing_names := [name for name in first_rows if name not in names]:
            message = (
                f"the wording '{wording_id}' has no item {', '.join(map(repr, missing_names))}."
            )
            rows[0].faults.add(rows[0].file, None, message)
    return tuple(items)


def _check_baselines(rows: Sequence[Row], slot: Slot, *, kind: InstrumentKind | None) -> None:
    with_baseline = [row for row in rows if row["baseline"]]
    if with_baseline and slot.empty is not None:
        message = "there is a baseline here, and 'empty' in [slot]. Keep only one of the two."
        with_baseline[0].note(message)
    for row in rows if with_baseline else ():
        text = row["baseline"]
        if not text:
            row.note("baseline is empty here, but not for other items.")
        elif places(text) or stray_braces(text):
            row.note(f"baseline is '{text}'. It must not contain a brace.")
        elif text.count(MASK) != row["text"].count(MASK) and kind == "fill":
            row.note(f"baseline is '{text}'. It must contain {MASK} as many times as text does.")


def check_sentence(
    row: Row,
    wordings: Sequence[Wording],
    *,
    values: Mapping[str, str],
    slot: str,
    kind: InstrumentKind | None,
) -> None:
    """Put an item into its wordings and check the sentences; note the first fault."""
    unknown = [place for place in places(row["text"]) if place not in values]
    for place in unknown:
        _note_unknown(row, "text", place, list(values))
    if stray_braces(row["text"]):
        row.note(f"text has a stray brace: '{row['text']}'.")
    check_your_text(row)
    for wording in wordings:
        sentence = wording.frame.replace("{item}", row["text"])
        place_names = places(sentence)
        if unknown or any(place not in values for place in place_names):
            return
        masks = put_in(sentence, values).count(MASK)
        message = ""
        # In an instrument with only choices, the stem may have the slot: see multiple_choice.py.
        if place_names.count(slot) != 1 and kind != "choose":
            message = f"the sentence must have {{{slot}}} once: '{sentence}'."
        elif kind == "fill" and masks != 1:
            message = f"the sentence must have {MASK} once, not {masks} times: '{sentence}'."
        elif kind in {"classify", "ask", "choose"} and masks:
            restriction = f"the sentence has {MASK}, but only instruments of kind fill can have it"
            message = f"{restriction}: '{sentence}'."
        if message:
            row.note(message)
            return


def _note_unknown(row: Row, column: str, place: str, known: Sequence[str]) -> None:
    allowed = ", ".join(f"{{{name}}}" for name in known)
    suggestion = did_you_mean(place, known)
    row.note(f"{column} has the unknown placeholder '{{{place}}}'. Allowed: {allowed}.{suggestion}")


def check_your_text(row: Row) -> None:
    """Note a fault unless your_text has the same places and the same mask as the text."""
    your_signs, own_signs = (
        (sorted(places(text)), text.count(MASK), stray_braces(text))
        for text in (row["your_text"], row["text"])
    )
    if row["your_text"] and your_signs != own_signs:
        row.note(f"your_text must have the same braces and {MASK} as text: '{row['your_text']}'.")


def _check_vignette(row: Row) -> None:
    text = row["vignette"]
    for place in places(text):
        if place not in PERSON_PLACES:
            _note_unknown(row, "vignette", place, PERSON_PLACES)
    if stray_braces(text) or MASK in text:
        row.note(f"vignette is '{text}'. It cannot have a stray brace or {MASK}.")


def _conditions(rows: Sequence[Row], slot: Slot) -> tuple[Condition, ...]:
    """Return the conditions: rows with the same condition are its forms, and must agree."""
    first_rows: dict[str, Row] = {}
    names: dict[str, str] = {}
    forms: dict[str, list[Form]] = {}
    owners: dict[str, str] = {}
    place_names = dict.fromkeys(places(slot.filled))
    used_columns = [place for place in place_names if place in FORM_COLUMNS]
    for row in rows:
        condition = row["condition"]
        if condition not in first_rows:
            _check_new_condition(row, names.get(row["name"]))
            names.setdefault(row["name"], condition)
        _check_same_condition(row, first_rows.setdefault(condition, row))
        for column in used_columns:
            if not row[column] and column != "form":
                row.note(f"{column} is empty, but 'filled' in [slot] uses {{{column}}}.")
        form = Form(text=row["form"], **{column: row[column] for column in FORM_COLUMNS[1:]})
        if used_columns and len(used_columns) == len(place_names):
            text = slot_text(slot, form)
            if text in owners:
                row.note(f"this is the same text ('{text}') as another form of '{owners[text]}'.")
            owners.setdefault(text, condition)
        forms.setdefault(condition, []).append(form)
    return tuple(
        Condition(
            id=condition,
            name=row["name"],
            group=row["group"],
            category=row["category"],
            forms=tuple(forms[condition]),
            study_category=row["study_category"],
        )
        for condition, row in first_rows.items()
    )


def _check_new_condition(row: Row, same_name: str | None) -> None:
    for column, name, meaning in (
        ("condition", BASELINE, "prompts without a condition"),
        ("group", BASELINE, "prompts without a condition"),
        ("condition", CONTROL, "the prompts of controls.csv"),
    ):
        if row[column] == name:
            row.note(f"{column} cannot be '{name}': this name is for {meaning}.")
    if same_name is not None:
        row.note(f"the condition '{same_name}' has the name '{row['name']}' too.")


def _check_same_condition(row: Row, first: Row) -> None:
    for column in ("name", "group", "category"):
        if row[column] != first[column]:
            row.note(
                f"{column} is '{row[column]}' here, but '{first[column]}' in an earlier row of "
                f"condition '{row['condition']}'. All rows of a condition must have the same "
                f"{column}."
            )
