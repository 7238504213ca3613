"""items.csv + conditions.csv + the tables of instrument.toml → a questionnaire, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from goffman.errors import did_you_mean
from goffman.instruments.files import (
    Faults,
    Row,
    TomlFile,
    read_table,
)
from goffman.instruments.text import (
    PERSON_PLACES,
    places,
    put_in,
    slot_text,
    stray_braces,
)
from goffman.instruments.types import (
    BASELINE,
    CONTROL,
    MASK,
    Condition,
    Form,
    InstrumentKind,
    Item,
    Questionnaire,
    Slot,
    Wording,
)

MOST_PROMPTS = 5_000_000

_FORM_COLUMNS = ("form", "verb", "plural", "plural_verb", "vignette")
_OF_ITEMS = ("wording", "dimension", "keyed", "choice_keyed", "your_text", "baseline")
_OF_CHOICES = ("question", "asks")
"""Further columns of items.csv, where there are nothing but choices."""
_KEYED: tuple[Literal["plain", "reversed"], ...] = ("plain", "reversed")


def read_questionnaire(
    folder: Path, toml: TomlFile, *, kind: InstrumentKind | None, faults: Faults
) -> tuple[Questionnaire, list[Path]]:
    """The questionnaire of a folder and the tables it was read from; faults are noted."""
    given = toml.values.get("conditions")
    items_path = folder / "items.csv"
    conditions_path = folder / (given if isinstance(given, str) else "conditions.csv")
    slot = _read_slot(toml, faults)
    fields = _read_fields(toml, slot, faults)
    wordings = read_wordings(toml, faults, known=[*fields, slot.name]) or (Wording(id="only"),)
    rows = read_table(
        items_path,
        required=["item", "text"],
        optional=[*_OF_ITEMS, *(_OF_CHOICES if kind == "choose" else ())],
        faults=faults,
    )
    if _too_many(len(rows) * len(wordings), "items × wordings", items_path.name, faults):
        rows = []
    items = _items(rows, wordings, faults)
    _check_baselines(rows, slot, kind=kind, faults=faults)
    values = {**fields, slot.name: "…"}
    if kind == "choose":
        values |= dict.fromkeys(PERSON_PLACES, "…")
    for row in rows if slot.name else ():
        frames = [
            wording
            for wording in wordings
            if row["wording"] in {"", wording.id} and "{item}" in wording.frame
        ]
        check_sentence(row, frames, values=values, slot=slot.name, kind=kind, faults=faults)
    forms = _condition_rows(conditions_path, faults)
    prompts = len(rows) * len(wordings) * len(forms)
    _too_many(prompts, "items × wordings × forms of conditions", conditions_path.name, faults)
    content = Questionnaire(
        fields=fields,
        wordings=wordings,
        slot=slot,
        items=items,
        conditions=_conditions(forms, slot, faults),
    )
    return content, [items_path, conditions_path]


def _too_many(count: int, what: str, file: str, faults: Faults) -> bool:
    """Whether there is more to ask than anyone could; then a fault is noted."""
    if count > MOST_PROMPTS:
        faults.add(file, None, f"{what} are {count:,}. Allowed: up to {MOST_PROMPTS:,}.")
    return count > MOST_PROMPTS


def _read_slot(toml: TomlFile, faults: Faults) -> Slot:
    table = toml.table("slot")
    table.require(["name", "filled"], faults)
    given = table.take({"name": str, "filled": str, "empty": str}, faults)
    slot = Slot(
        name=given.get("name", ""), filled=given.get("filled", ""), empty=given.get("empty")
    )
    row = table.lines.get("filled")
    for place in places(slot.filled):
        faults.check_one_of(
            toml.name, row, what="a place in filled", given=place, allowed=_FORM_COLUMNS
        )
    if slot.filled and not places(slot.filled):
        faults.add(
            toml.name,
            row,
            f"filled in [slot] is '{slot.filled}', which has no place for a condition. "
            f"Allowed: {', '.join('{' + name + '}' for name in _FORM_COLUMNS)}.",
        )
    if stray_braces(slot.filled) or MASK in slot.filled:
        message = f"filled in [slot] is '{slot.filled}'. It cannot have a stray brace or {MASK}."
        faults.add(toml.name, row, message)
    if slot.empty:
        row = table.lines.get("empty")
        faults.check_plain(toml.name, row, what="empty in [slot]", text=slot.empty)
    return slot


def _read_fields(toml: TomlFile, slot: Slot, faults: Faults) -> dict[str, str]:
    table = toml.table("fields")
    fields: dict[str, str] = table.take(dict.fromkeys(table.values, str), faults)
    for name, text in fields.items():
        row = table.lines.get(name)
        faults.check_plain(toml.name, row, what=f"{name} in [fields]", text=text)
        if name in {slot.name, "item"}:
            message = f"'{name}' cannot be the name of a field, because it already has a meaning."
            faults.add(toml.name, row, message)
    return fields


def read_wordings(toml: TomlFile, faults: Faults, *, known: Sequence[str]) -> tuple[Wording, ...]:
    """The wordings of [[wordings]]; faults are noted."""
    wordings: list[Wording] = []
    for table in toml.tables("wordings", faults):
        table.require(["id"], faults)
        given = table.take({"id": str, "frame": str, "default": bool}, faults)
        wording = Wording(**({"id": ""} | given))
        row = table.lines.get("id")
        if wording.id:
            faults.check_id(toml.name, row, what="id in [wordings]", given=wording.id)
        if wording.id in {other.id for other in wordings}:
            faults.add(toml.name, row, f"the wording '{wording.id}' appears twice.")
        if wording.id == "all":
            faults.add(toml.name, row, "'all' cannot be the id of a wording: it means all of them.")
        _check_frame(toml.name, table.lines.get("frame"), wording, known=known, faults=faults)
        wordings.append(wording)
    if wordings and not any(wording.default for wording in wordings):
        faults.add(toml.name, None, "every wording has default = false, so nothing would be asked.")
    return tuple(wordings)


def _check_frame(
    file: str, row: int | None, wording: Wording, *, known: Sequence[str], faults: Faults
) -> None:
    what = f"the frame of wording '{wording.id}'"
    if places(wording.frame).count("item") != 1:
        faults.add(file, row, f"{what} must contain {{item}} exactly once.")
    if stray_braces(wording.frame):
        faults.add(file, row, f"{what} has a stray brace: '{wording.frame}'.")
    for place in places(wording.frame):
        if place not in {*known, "item"}:
            allowed = ", ".join(f"{{{name}}}" for name in ["item", *known])
            near = did_you_mean(place, [*known, "item"])
            faults.add(file, row, f"{what} has '{{{place}}}'. Allowed: {allowed}.{near}")


def _keying(row: Row, column: str, faults: Faults) -> Literal["plain", "reversed"] | None:
    """What a column says of an item's keying; None: nothing, or nothing that is allowed."""
    if not row[column]:
        return None
    return faults.check_one_of(row.file, row.number, what=column, given=row[column], allowed=_KEYED)


def _items(rows: Sequence[Row], wordings: Sequence[Wording], faults: Faults) -> tuple[Item, ...]:
    """The items; each stands once in a wording, and is the same one in every wording."""
    items: list[Item] = []
    first: dict[str, Row] = {}
    there: dict[str, set[str]] = {wording.id: set() for wording in wordings}
    for row in rows:
        name, wording = row["item"], row["wording"]
        faults.check_id(row.file, row.number, what="item", given=name)
        chosen = _keying(row, "keyed", faults)
        as_choice = _keying(row, "choice_keyed", faults)
        if wording:
            faults.check_one_of(
                row.file, row.number, what="wording", given=wording, allowed=list(there)
            )
        mine = [there[wording]] if wording in there else list(there.values())
        if any(name in known for known in mine):
            faults.add(row.file, row.number, f"the item '{name}' appears twice.")
        for known in mine:
            known.add(name)
        for column, default in (("dimension", ""), ("keyed", "plain"), ("choice_keyed", "")):
            now, before = (one[column] or default for one in (row, first.setdefault(name, row)))
            if now != before:
                earlier = f"but '{before}' in an earlier row of '{name}'"
                faults.add(
                    row.file,
                    row.number,
                    f"{column} is '{now}', {earlier}. All rows of an item must have the same "
                    f"{column}.",
                )
        items.append(
            Item(
                id=name,
                text=row["text"],
                wording=wording,
                dimension=row["dimension"],
                keyed=chosen or "plain",
                choice_keyed=as_choice,
                your_text=row["your_text"],
                baseline=row["baseline"],
                question=row["question"],
                asks=row["asks"],
            )
        )
    for wording_id, names in there.items():
        if missing := [name for name in first if name not in names]:
            message = f"the wording '{wording_id}' has no item {', '.join(map(repr, missing))}."
            faults.add(rows[0].file, None, message)
    return tuple(items)


def _check_baselines(
    rows: Sequence[Row], slot: Slot, *, kind: InstrumentKind | None, faults: Faults
) -> None:
    """Every item has a sentence without a condition, or none has; and it names none."""
    given = [row for row in rows if row["baseline"]]
    if given and slot.empty is not None:
        faults.add(
            given[0].file,
            given[0].number,
            "there is a baseline here, and 'empty' in [slot]. Keep only one of the two.",
        )
    for row in rows if given else ():
        text = row["baseline"]
        if not text:
            faults.add(row.file, row.number, "baseline is empty here, but not for other items.")
        elif places(text) or stray_braces(text):
            faults.add(row.file, row.number, f"baseline is '{text}'. It must not contain a brace.")
        elif text.count(MASK) != row["text"].count(MASK) and kind == "fill":
            message = f"baseline is '{text}'. It must contain {MASK} as many times as text does."
            faults.add(row.file, row.number, message)


def check_sentence(
    row: Row,
    wordings: Sequence[Wording],
    *,
    values: Mapping[str, str],
    slot: str,
    kind: InstrumentKind | None,
    faults: Faults,
) -> None:
    """Put an item into its wordings and look at the result; the first bad one is told."""
    unknown = [place for place in places(row["text"]) if place not in values]
    for place in unknown:
        allowed = ", ".join(f"{{{name}}}" for name in values)
        near = did_you_mean(place, values)
        message = f"text has the unknown place '{{{place}}}'. Allowed: {allowed}.{near}"
        faults.add(row.file, row.number, message)
    if stray_braces(row["text"]):
        faults.add(row.file, row.number, f"text has a stray brace: '{row['text']}'.")
    check_your_text(row, faults)
    for wording in wordings:
        sentence = wording.frame.replace("{item}", row["text"])
        named = places(sentence)
        if unknown or any(place not in values for place in named):
            return
        masks = put_in(sentence, values).count(MASK)
        message = ""
        # Of choices the stem may have it: see multiple_choice.py.
        if named.count(slot) != 1 and kind != "choose":
            message = f"the sentence must have {{{slot}}} once: '{sentence}'."
        elif kind == "fill" and masks != 1:
            message = f"the sentence must have {MASK} once, not {masks} times: '{sentence}'."
        elif kind in {"classify", "ask", "choose"} and masks:
            only = f"the sentence has {MASK}, but only instruments of kind fill can have it"
            message = f"{only}: '{sentence}'."
        if message:
            faults.add(row.file, row.number, message)
            return


def check_your_text(row: Row, faults: Faults) -> None:
    """The text as it is said to somebody has the same places and the same mask as the text."""
    yours, own = (
        (sorted(places(text)), text.count(MASK), stray_braces(text))
        for text in (row["your_text"], row["text"])
    )
    if row["your_text"] and yours != own:
        message = f"your_text must have the same braces and {MASK} as text: '{row['your_text']}'."
        faults.add(row.file, row.number, message)


def _condition_rows(path: Path, faults: Faults) -> list[Row]:
    rows = read_table(
        path,
        required=["condition", "name", "group", "category", "form"],
        optional=["verb", "plural", "plural_verb", "vignette"],
        faults=faults,
    )
    for row in rows:
        for column in _FORM_COLUMNS:
            if column == "vignette":
                _check_vignette(row, faults)
            else:
                faults.check_plain(row.file, row.number, what=column, text=row[column])
    return rows


def _check_vignette(row: Row, faults: Faults) -> None:
    """Note a fault where a description has a place for something that no person has."""
    text = row["vignette"]
    for place in places(text):
        if place not in PERSON_PLACES:
            allowed = ", ".join(f"{{{name}}}" for name in PERSON_PLACES)
            near = did_you_mean(place, PERSON_PLACES)
            message = f"vignette has the unknown place '{{{place}}}'. Allowed: {allowed}.{near}"
            faults.add(row.file, row.number, message)
    if stray_braces(text) or MASK in text:
        message = f"vignette is '{text}'. It cannot have a stray brace or {MASK}."
        faults.add(row.file, row.number, message)


def _conditions(rows: Sequence[Row], slot: Slot, faults: Faults) -> tuple[Condition, ...]:
    """Rows with the same condition are its forms; what is said of it must agree between them."""
    first: dict[str, Row] = {}
    names: dict[str, str] = {}
    forms: dict[str, list[Form]] = {}
    reads: dict[str, str] = {}
    used = [place for place in dict.fromkeys(places(slot.filled)) if place in _FORM_COLUMNS]
    for row in rows:
        condition = row["condition"]
        if condition not in first:
            _check_new_condition(row, names.get(row["name"]), faults)
            names.setdefault(row["name"], condition)
        _check_same_condition(row, first.setdefault(condition, row), faults)
        for column in used:
            if not row[column] and column != "form":
                message = f"{column} is empty, but 'filled' in [slot] uses {{{column}}}."
                faults.add(row.file, row.number, message)
        form = Form(
            text=row["form"],
            verb=row["verb"],
            plural=row["plural"],
            plural_verb=row["plural_verb"],
            vignette=row["vignette"],
        )
        if used and set(used) == set(places(slot.filled)):
            text = slot_text(slot, form)
            if text in reads:
                message = f"this is the same text ('{text}') as another form of '{reads[text]}'."
                faults.add(row.file, row.number, message)
            reads.setdefault(text, condition)
        forms.setdefault(condition, []).append(form)
    return tuple(
        Condition(
            id=condition,
            name=row["name"],
            group=row["group"],
            category=row["category"],
            forms=tuple(forms[condition]),
        )
        for condition, row in first.items()
    )


def _check_new_condition(row: Row, same_name: str | None, faults: Faults) -> None:
    faults.check_id(row.file, row.number, what="condition", given=row["condition"])
    for column in ("condition", "group"):
        if row[column] == BASELINE:
            meaning = "this name is for prompts without a condition"
            faults.add(row.file, row.number, f"{column} cannot be '{BASELINE}': {meaning}.")
    if row["condition"] == CONTROL:
        meaning = "this name is for the prompts of controls.csv"
        faults.add(row.file, row.number, f"condition cannot be '{CONTROL}': {meaning}.")
    if same_name is not None:
        message = f"the condition '{same_name}' has the name '{row['name']}' too."
        faults.add(row.file, row.number, message)


def _check_same_condition(row: Row, first: Row, faults: Faults) -> None:
    for column in ("name", "group", "category"):
        if row[column] != first[column]:
            faults.add(
                row.file,
                row.number,
                f"{column} is '{row[column]}' here, but '{first[column]}' in an earlier row of "
                f"condition '{row['condition']}'. All rows of a condition must have the same "
                f"{column}.",
            )
