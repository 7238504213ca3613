"""items.csv + conditions.csv + the tables of instrument.toml → a questionnaire, checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from goffman.errors import did_you_mean
from goffman.instruments.files import Faults, Row, TomlFile, read_table
from goffman.instruments.templates import places, put_in, slot_text
from goffman.records import (
    BASELINE,
    MASK,
    Condition,
    Form,
    Item,
    Kind,
    Questionnaire,
    Slot,
    Wording,
)

_FORM_COLUMNS = {"form": "form", "verb": "verb", "plural": "plural", "plural_verb": "plural_verb"}
_KEYED = ("plain", "reversed")


def read_questionnaire(
    folder: Path, toml: TomlFile, *, kind: Kind, faults: Faults
) -> tuple[Questionnaire, list[Path]]:
    """The questionnaire of a folder and the tables it was read from; faults are noted."""
    items_path = folder / "items.csv"
    conditions_path = folder / str(toml.values.get("conditions", "conditions.csv"))
    slot = _read_slot(toml, faults)
    fields = _read_fields(toml, slot, faults)
    wordings = _read_wordings(toml, faults)
    rows = read_table(
        items_path,
        required=["item", "text"],
        optional=["wording", "dimension", "keyed"],
        faults=faults,
    )
    items = _items(rows, wordings, faults)
    conditions = _conditions(_condition_rows(conditions_path, faults), slot, faults)
    content = Questionnaire(
        fields=fields, wordings=wordings, slot=slot, items=items, conditions=conditions
    )
    if not faults.found:
        _check_sentences(content, rows, toml.name, kind=kind, faults=faults)
    return content, [items_path, conditions_path]


def _read_slot(toml: TomlFile, faults: Faults) -> Slot:
    table = toml.table("slot")
    table.require(["name", "filled"], faults)
    given = table.take({"name": str, "filled": str, "empty": str}, faults)
    slot = Slot(
        name=given.get("name", ""), filled=given.get("filled", ""), empty=given.get("empty")
    )
    for place in places(slot.filled):
        faults.check_one_of(
            toml.name,
            table.lines.get("filled"),
            what="a place in filled",
            given=place,
            allowed=list(_FORM_COLUMNS),
        )
    if slot.filled and not places(slot.filled):
        faults.add(
            toml.name,
            table.lines.get("filled"),
            f"filled in [slot] is '{slot.filled}', which has no place for a condition. "
            f"Allowed: {', '.join('{' + name + '}' for name in _FORM_COLUMNS)}.",
        )
    return slot


def _read_fields(toml: TomlFile, slot: Slot, faults: Faults) -> dict[str, str]:
    table = toml.table("fields")
    fields = table.take(dict.fromkeys(table.values, str), faults)
    for name in fields:
        if name in {slot.name, "item"}:
            message = f"'{name}' cannot be the name of a field: it means something else already."
            faults.add(toml.name, table.lines.get(name), message)
    return fields


def _read_wordings(toml: TomlFile, faults: Faults) -> tuple[Wording, ...]:
    wordings: list[Wording] = []
    for table in toml.tables("wordings"):
        table.require(["id"], faults)
        given = table.take({"id": str, "frame": str, "default": bool}, faults)
        wording = Wording(**({"id": ""} | given))
        row = table.lines.get("id")
        if wording.id:
            faults.check_id(toml.name, row, what="id in [wordings]", given=wording.id)
        if wording.id in {known.id for known in wordings}:
            faults.add(toml.name, row, f"the wording '{wording.id}' stands there twice.")
        if places(wording.frame).count("item") != 1:
            message = f"the frame of wording '{wording.id}' must have {{item}} in it once."
            faults.add(toml.name, table.lines.get("frame"), message)
        wordings.append(wording)
    if wordings and not any(wording.default for wording in wordings):
        faults.add(toml.name, None, "every wording has default = false: none would be asked.")
    return tuple(wordings) or (Wording(id="only"),)


def _items(rows: Sequence[Row], wordings: Sequence[Wording], faults: Faults) -> tuple[Item, ...]:
    items: dict[tuple[str, str], Item] = {}
    known = [wording.id for wording in wordings]
    for row in rows:
        faults.check_id(row.file, row.number, what="item", given=row["item"])
        keyed = row["keyed"] or "plain"
        faults.check_one_of(row.file, row.number, what="keyed", given=keyed, allowed=_KEYED)
        wording = row["wording"]
        if wording:
            faults.check_one_of(row.file, row.number, what="wording", given=wording, allowed=known)
        if (row["item"], wording) in items:
            faults.add(row.file, row.number, f"the item '{row['item']}' stands there twice.")
        items[row["item"], wording] = Item(
            id=row["item"],
            text=row["text"],
            wording=wording,
            dimension=row["dimension"],
            keyed="reversed" if keyed == "reversed" else "plain",
        )
    for name in known:
        if rows and not any(item.wording in {"", name} for item in items.values()):
            faults.add(rows[0].file, None, f"no item has the wording '{name}'.")
    return tuple(items.values())


def _condition_rows(path: Path, faults: Faults) -> list[Row]:
    return read_table(
        path,
        required=["condition", "name", "group", "category", "form"],
        optional=["verb", "plural", "plural_verb"],
        faults=faults,
    )


def _conditions(rows: Sequence[Row], slot: Slot, faults: Faults) -> tuple[Condition, ...]:
    """Rows with the same condition are its forms; what is said of it must agree between them."""
    conditions: dict[str, Condition] = {}
    needed = [_FORM_COLUMNS[place] for place in places(slot.filled) if place in _FORM_COLUMNS]
    for row in rows:
        form = Form(
            text=row["form"], verb=row["verb"], plural=row["plural"], plural_verb=row["plural_verb"]
        )
        for column in needed:
            if not row[column] and column != "form":
                message = f"{column} is empty, but filled in [slot] uses {{{column}}}."
                faults.add(row.file, row.number, message)
        new = Condition(
            id=row["condition"],
            name=row["name"],
            group=row["group"],
            category=row["category"],
            forms=(form,),
        )
        known = conditions.get(new.id)
        if known is None:
            _check_new_condition(row, new, conditions, faults)
            conditions[new.id] = new
        else:
            _check_further_form(row, known, form, faults)
            conditions[new.id] = Condition(
                id=known.id,
                name=known.name,
                group=known.group,
                category=known.category,
                forms=(*known.forms, form),
            )
    return tuple(conditions.values())


def _check_new_condition(
    row: Row, new: Condition, conditions: dict[str, Condition], faults: Faults
) -> None:
    faults.check_id(row.file, row.number, what="condition", given=new.id)
    for column in ("condition", "group"):
        if row[column] == BASELINE:
            message = (
                f"{column} cannot be '{BASELINE}': that means the prompts without a condition."
            )
            faults.add(row.file, row.number, message)
    for known in conditions.values():
        if known.name == new.name:
            message = f"the name '{new.name}' is that of the condition '{known.id}' already."
            faults.add(row.file, row.number, message)


def _check_further_form(row: Row, known: Condition, form: Form, faults: Faults) -> None:
    for column, value in (
        ("name", known.name),
        ("group", known.group),
        ("category", known.category),
    ):
        if row[column] != value:
            faults.add(
                row.file,
                row.number,
                f"{column} is '{row[column]}', but '{value}' in an earlier row of '{known.id}'. "
                "A condition has one.",
            )
    if form in known.forms:
        message = f"the form '{form.text}' of '{known.id}' stands there twice."
        faults.add(row.file, row.number, message)


def _check_sentences(
    content: Questionnaire, rows: Sequence[Row], toml_name: str, *, kind: Kind, faults: Faults
) -> None:
    """Put every item into every wording and look at the result."""
    values = {**content.fields, content.slot.name: slot_text(content.slot, Form(text="…"))}
    for wording in content.wordings:
        for place in places(wording.frame):
            if place not in {*values, "item"}:
                near = did_you_mean(place, [*values, "item"])
                allowed = ", ".join(f"{{{name}}}" for name in ["item", *values])
                has = f"the frame of wording '{wording.id}' has '{{{place}}}'"
                faults.add(toml_name, None, f"{has}. Allowed: {allowed}.{near}")
                return
    for row, item in zip(rows, content.items, strict=True):
        frames = [w for w in content.wordings if item.wording in {"", w.id}]
        _check_item(
            row, item, frames, values=values, slot=content.slot.name, kind=kind, faults=faults
        )


def _check_item(
    row: Row,
    item: Item,
    wordings: Sequence[Wording],
    *,
    values: dict[str, str],
    slot: str,
    kind: Kind,
    faults: Faults,
) -> None:
    unknown = [place for place in places(item.text) if place not in values]
    for place in unknown:
        allowed = ", ".join(f"{{{name}}}" for name in values)
        near = did_you_mean(place, values)
        message = f"text has '{{{place}}}', which is not known. Allowed: {allowed}.{near}"
        faults.add(row.file, row.number, message)
    if unknown:
        return
    for wording in wordings:
        sentence = wording.frame.replace("{item}", item.text)
        if places(sentence).count(slot) != 1:
            message = f"the sentence must have {{{slot}}} once: '{sentence}'."
            faults.add(row.file, row.number, message)
            return
        masks = put_in(sentence, values).count(MASK)
        if kind == "fill" and masks != 1:
            message = f"the sentence must have {MASK} once, not {masks} times: '{sentence}'."
            faults.add(row.file, row.number, message)
        elif kind != "fill" and masks:
            message = (
                f"the sentence has {MASK}, which only an instrument of kind fill has: '{sentence}'."
            )
            faults.add(row.file, row.number, message)
        else:
            continue
        return
