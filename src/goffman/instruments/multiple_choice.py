"""choice.toml → how an instrument is asked as a choice, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from goffman.errors import did_you_mean
from goffman.instruments.controls import CHOICE_FILE, read_controls
from goffman.instruments.files import (
    Faults,
    TomlFile,
    TomlTable,
    read_toml,
)
from goffman.instruments.questionnaire import MOST_PROMPTS
from goffman.instruments.text import PERSON_PLACES, places, stray_braces
from goffman.instruments.types import (
    CHOICE_LABELS,
    MASK,
    Controls,
    InstrumentKind,
    MultipleChoice,
    PersonDescription,
    Questionnaire,
    Scale,
    SentencePairs,
    Stem,
    Subsample,
)

MOST = {"letters": 25, "numbers": 9}
"""Options beside the no-answer option: it takes a letter, or the number 0."""


def read_scales(toml: TomlFile, no_answer: str, faults: Faults) -> tuple[Scale, ...]:
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
        texts = _texts(table, name, labels or "letters", no_answer, faults)
        codes = _codes(table, given, len(texts), faults)
        scales.append(Scale(id=name, texts=texts, codes=codes, labels=labels or "letters"))
    return tuple(scales)


def _texts(
    table: TomlTable, name: str, labels: str, no_answer: str, faults: Faults
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
    if no_answer.casefold() in folded:
        faults.add(table.file, row, f"an option of {what} is the same as no_answer: '{no_answer}'.")
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


_KEYED: tuple[Literal["plain", "reversed"], ...] = ("plain", "reversed")
_ITEMS = ("item", "your_item")
"""The places of a stem in which an item stands."""


def read_stems(
    toml: TomlFile,
    scales: Sequence[Scale],
    faults: Faults,
    *,
    of_pairs: bool,
    slot: str | None,
    further: bool = False,
) -> tuple[Stem, ...]:
    """The stems of the file; faults are noted.

    ``slot``: its name, where the instrument has nothing but choices: a stem may hold it there.
    ``further``: these are paraphrases, of which sentence pairs may have several.
    """
    stems: list[Stem] = []
    tables = toml.tables("stems", faults)
    if not tables:
        faults.add(toml.name, None, "[[stems]] is missing. It says how a question is asked.")
    if of_pairs and len(tables) > 1 and not further:
        message = "there are several [[stems]], but sentence pairs need exactly one."
        faults.add(toml.name, tables[1].lines.get("id"), message)
    for table in tables:
        given = _taken(table, scales, faults, of_pairs=of_pairs, alone=slot is not None)
        row = table.lines.get("id")
        name = given.get("id", "")
        asks = given.get("asks", "")
        if name:
            faults.check_id(toml.name, row, what="id in [stems]", given=name)
        if name and (name, asks) in {(stem.id, stem.asks) for stem in stems}:
            faults.add(toml.name, row, f"the stem '{name}' appears twice.")
        if name == "all":
            faults.add(toml.name, row, "'all' cannot be the id of a stem: it means all of them.")
        key = {"what": "keyed", "given": given.get("keyed", "plain")}
        keyed = faults.check_one_of(toml.name, table.lines.get("keyed"), **key, allowed=_KEYED)
        stem = Stem(
            id=name,
            text=given.get("text", ""),
            scale=given.get("scale", ""),
            keyed=keyed or "plain",
            asks=asks,
        )
        if "text" in given:
            slots = ("question", slot) if slot is not None else ()
            allowed = ("item", "pronoun") if of_pairs else (*_ITEMS, *slots)
            _check_stem(toml.name, table.lines.get("text"), stem, allowed, faults)
        stems.append(stem)
    return tuple(stems)


def _taken(
    table: TomlTable, scales: Sequence[Scale], faults: Faults, *, of_pairs: bool, alone: bool
) -> dict[str, str]:
    """What one table says; faults of its keys and its scale are noted."""
    table.require(["id", "text"] if of_pairs else ["id", "text", "scale"], faults)
    keys = {"id": str, "text": str}
    keys |= {} if of_pairs else {"scale": str, "keyed": str}
    keys |= {"asks": str} if alone else {}
    given: dict[str, str] = table.take(keys, faults)
    known = [scale.id for scale in scales]
    if "scale" in given and known:
        row = table.lines.get("scale")
        faults.check_one_of(table.file, row, what="scale", given=given["scale"], allowed=known)
    return given


def _check_stem(
    file: str, row: int | None, stem: Stem, allowed: Sequence[str], faults: Faults
) -> None:
    what, named = f"the text of stem '{stem.id}'", places(stem.text)
    for place in named:
        if place not in allowed:
            shown = ", ".join(f"{{{name}}}" for name in allowed)
            near = did_you_mean(place, allowed)
            faults.add(file, row, f"{what} has '{{{place}}}'. Allowed: {shown}.{near}")
    if sum(place in _ITEMS for place in named) != 1:
        faults.add(file, row, f"{what} must contain {{item}} exactly once.")
    if "pronoun" in allowed and named.count("pronoun") != 1:
        faults.add(file, row, f"{what} must contain {{pronoun}} exactly once.")
    if named.count("question") > 1:
        faults.add(file, row, f"{what} has {{question}} more than once.")
    if stray_braces(stem.text):
        faults.add(file, row, f"{what} has a stray brace: '{stem.text}'.")
    if MASK in stem.text:
        faults.add(file, row, f"{what} has {MASK}, but a choice has no blank to fill in.")


def check_items(
    toml: TomlFile, content: Questionnaire, stems: Sequence[Stem], faults: Faults
) -> None:
    """Note a fault where a wording has no stem for an item, or the two do not fit together."""
    wordings = list(dict.fromkeys(stem.id for stem in stems))
    slot = content.slot.name
    for item in content.items:
        for wording in wordings:
            mine = [s for s in stems if s.id == wording and s.asks in {"", item.asks}]
            where = f"the item '{item.id}' in the wording '{wording}'"
            if len(mine) != 1:
                many = "no stem" if not mine else "several stems"
                faults.add(toml.name, None, f"{where} has {many}: asks is '{item.asks}'.")
                return
            named = places(mine[0].text)
            if (named + places(item.text)).count(slot) != 1:
                faults.add(toml.name, None, f"{where} must have {{{slot}}} once.")
                return
            if ("question" in named) is not bool(item.question):
                lacks = "no {question} for it" if item.question else "{question}, and it has none"
                faults.add(toml.name, None, f"{where} has a stem with {lacks}.")
                return


def check_controls(
    toml: TomlFile, controls: Controls, stems: Sequence[Stem], faults: Faults
) -> None:
    """Note a fault where a wording has no stem for a control, or it lacks what the stem needs."""
    wordings = set(dict.fromkeys(stem.id for stem in stems))
    for control in controls.items:
        mine = [stem for stem in stems if stem.asks in {"", control.asks}]
        if {stem.id for stem in mine} != wordings:
            message = f"the control '{control.id}' has no stem in some wording: its asks is "
            faults.add(toml.name, None, f"{message}'{control.asks}'.")
        elif any(("question" in places(stem.text)) is not bool(control.question) for stem in mine):
            message = f"the control '{control.id}' and the stems must both have a question, or none"
            faults.add(toml.name, None, f"{message}.")


FILE = "choice.toml"

MOST_TO_PERMUTE = 4
"""Options whose every order is asked: five would be asked in 120."""

_ORDERS: tuple[Literal["two", "all"], ...] = ("two", "all")
_GENDERS: tuple[Literal["female", "male", "unstated"], ...] = ("female", "male", "unstated")
_PART: tuple[Literal["both", "one"], ...] = ("both", "one")

_TOP: dict[str, type] = {
    "title": str,
    "request": str,
    "no_answer": str,
    "orders": str,
    "margin": object,
    "stems": list,
    "scales": list,
    "people": list,
    "controls": dict,
    "server": dict,
}


def read_choice(
    folder: Path,
    content: Questionnaire | SentencePairs,
    *,
    kind: InstrumentKind | None,
    faults: Faults,
) -> tuple[MultipleChoice | None, list[Path]]:
    """The choice of a folder and its files; None where it has none. Faults are noted."""
    path, alone = folder / FILE, kind == "choose"
    toml = read_toml(path, faults) if _is_there(folder, faults, alone=alone) else None
    if toml is None:
        return None, []
    before = len(faults.found)
    top = toml.top()
    top.require(["title", "request", "no_answer"], faults)
    given = top.take(_TOP, faults)
    _check_request(top, str(given.get("request", "")), faults)
    scales = read_scales(toml, given.get("no_answer", ""), faults)
    slot = content.slot.name if isinstance(content, Questionnaire) and alone else None
    of_pairs = isinstance(content, SentencePairs)
    stems = read_stems(toml, scales, faults, of_pairs=of_pairs, slot=slot)
    orders = _orders(top, str(given.get("orders", "two")), scales, faults)
    people = _people(toml, faults)
    controls, files = None, list[Path]()
    if isinstance(content, Questionnaire):
        _check_content(toml, content, stems, people, faults, alone=alone)
        _check_count(content, stems, scales, people, faults, permuted=orders == "all")
        controls, files = read_controls(
            folder, toml, content, kind="choose", faults=faults, file=CHOICE_FILE, alone=alone
        )
        if alone and controls:
            check_controls(toml, controls, stems, faults)
    else:
        _check_pairs(top, faults)
    server, margin = _server(toml, content, stems, faults), _smallest(top, faults)
    if len(faults.found) > before:
        return None, [path]
    form = MultipleChoice(
        title=given["title"],
        stems=stems,
        scales=scales,
        request=given["request"],
        no_answer=given["no_answer"],
        orders=orders or "two",
        people=people,
        margin=margin,
        controls=controls,
        server=server,
    )
    return form, [path, *files]


def _is_there(folder: Path, faults: Faults, *, alone: bool) -> bool:
    """Whether the folder has choices; faults are noted where it should, or has a part of them."""
    if (folder / FILE).exists():
        return True
    if alone:
        faults.add(FILE, None, "not found, but kind is 'choose': give the questions' options.")
    if (folder / CHOICE_FILE).exists():
        faults.add(CHOICE_FILE, None, f"there are control items for choices, but no {FILE}.")
    return False


def _check_content(
    toml: TomlFile,
    content: Questionnaire,
    stems: Sequence[Stem],
    people: Sequence[PersonDescription],
    faults: Faults,
    *,
    alone: bool,
) -> None:
    """Note a fault where scales, stems or people do not go with a questionnaire."""
    if not toml.values.get("scales"):
        faults.add(FILE, None, "[[scales]] is missing. It lists the answers to a question.")
    if alone:
        check_items(toml, content, stems, faults)
        _check_described(toml.top(), people, content, faults)
    else:
        _check_people(toml.top(), people, content, faults)


def _check_request(top: TomlTable, request: str, faults: Faults) -> None:
    row = top.lines.get("request")
    for place in places(request):
        if place != "labels":
            faults.add(FILE, row, f"request has '{{{place}}}'. Allowed: {{labels}}.")
    if stray_braces(request):
        faults.add(FILE, row, f"request has a stray brace: '{request}'.")


def _orders(
    top: TomlTable, given: str, scales: Sequence[Scale], faults: Faults
) -> Literal["two", "all"] | None:
    """In which orders the options are shown, where the scales allow it."""
    row = top.lines.get("orders")
    orders = faults.check_one_of(FILE, row, what="orders", given=given, allowed=_ORDERS)
    most = max((len(scale.texts) for scale in scales), default=0)
    if orders == "all" and most > MOST_TO_PERMUTE:
        message = f"orders is 'all', but a scale has {most} options. Allowed: {MOST_TO_PERMUTE}."
        faults.add(FILE, row, message)
    if orders == "all" and len({len(scale.texts) for scale in scales}) > 1:
        message = "orders is 'all', but the scales have different numbers of options."
        faults.add(FILE, row, message)
    return orders


def _people(toml: TomlFile, faults: Faults) -> tuple[PersonDescription, ...]:
    people: list[PersonDescription] = []
    for table in toml.tables("people", faults):
        table.require(["id", "gender", "texts"], faults)
        given = table.take({"id": str, "gender": str, "texts": object}, faults)
        name, row = given.get("id", ""), table.lines.get("id")
        if name:
            faults.check_id(FILE, row, what="id in [people]", given=name)
        if name and name in {one.id for one in people}:
            faults.add(FILE, row, f"the person '{name}' appears twice.")
        gender = None
        if "gender" in given:
            gender = faults.check_one_of(
                FILE,
                table.lines.get("gender"),
                what="gender",
                given=given["gender"],
                allowed=_GENDERS,
            )
        texts = _text_list(table, "texts", given, '["woman"]', faults)
        for text in texts:
            what = f"a text of person '{name}'"
            if not text.strip():
                faults.add(FILE, table.lines.get("texts"), f"{what} is empty.")
            faults.check_plain(FILE, table.lines.get("texts"), what=what, text=text)
        people.append(PersonDescription(id=name, gender=gender or "unstated", texts=texts))
    if len({len(one.texts) for one in people if len(one.texts) > 1}) > 1:
        message = "all people must have the same number of texts, which take turns."
        faults.add(FILE, toml.top().lines.get("people"), message)
    return tuple(people)


def _text_list(
    table: TomlTable, key: str, given: Mapping[str, Any], such_as: str, faults: Faults
) -> tuple[str, ...]:
    """A list of one text or more; empty with a fault noted where it is something else."""
    value = given.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
        message = f"{key} must be a list of texts, such as {such_as}."
        faults.add(FILE, table.lines.get(key), message)
        return ()
    for text in value:
        faults.check_text(FILE, table.lines.get(key), what=f"a text of {key}", text=text)
    return tuple(value)


def _check_people(
    top: TomlTable, people: Sequence[PersonDescription], content: Questionnaire, faults: Faults
) -> None:
    """People are described where the items have a mask, and only there."""
    masks = [item.text.count(MASK) for item in content.items]
    row = top.lines.get("people")
    if people and any(count != 1 for count in masks):
        which = next(item.id for item in content.items if item.text.count(MASK) != 1)
        message = f"there are [[people]], but the item '{which}' has no {MASK} to put them in."
        faults.add(FILE, row, message)
    if not people and any(masks):
        which = next(item.id for item in content.items if MASK in item.text)
        message = f"the item '{which}' has {MASK}, so [[people]] must say who stands there."
        faults.add(FILE, row, message)


def _check_described(
    top: TomlTable, people: Sequence[PersonDescription], content: Questionnaire, faults: Faults
) -> None:
    """People have a gender and a name where the texts have places for them, and only there."""
    texts = [item.text for item in content.items]
    texts += [form.vignette for condition in content.conditions for form in condition.forms]
    named = any(place in PERSON_PLACES for text in texts for place in places(text))
    row = top.lines.get("people")
    if people and not named:
        faults.add(FILE, row, "there are [[people]], but no text has {name} for them.")
    if named and not people:
        faults.add(FILE, row, "texts have {name} or a pronoun: say in [[people]] who that is.")
    for one in people if named else ():
        if one.gender == "unstated":
            message = f"the person '{one.id}' has no gender, but texts have pronouns."
            faults.add(FILE, row, message)


def _server(
    toml: TomlFile,
    content: Questionnaire | SentencePairs,
    stems: Sequence[Stem],
    faults: Faults,
) -> Subsample:
    """The part of [server]; without it all items."""
    table = toml.table("server")
    keys: dict[str, type] = {"items": object, "orders": str, "wording": str}
    keys |= {"brief": list, "brief_dimension": str}
    given = table.take(keys, faults)
    if "server" in toml.values and isinstance(content, SentencePairs):
        message = "[server] does not go with sentence pairs: fewer of them are drawn."
        faults.add(FILE, toml.top().lines.get("server"), message)
        return Subsample()
    items, most = given.get("items"), _items_of(content)
    if "items" in given and (type(items) is not int or not 1 <= items <= most):
        message = f"items in [server] is {items!r}. Allowed: a whole number from 1 to {most}."
        faults.add(FILE, table.lines.get("items"), message)
    conditions, dimensions = _conditions_of(content)
    named: dict[str, Any] = {}
    for key, allowed in (
        ("orders", _PART),
        ("wording", list(dict.fromkeys(s.id for s in stems))),
        ("brief_dimension", dimensions),
    ):
        if key in given:
            named[key] = _named(table, key, given[key], allowed, faults)
    return Subsample(
        items=items if type(items) is int else None,
        brief=tuple(
            str(_named(table, "brief", str(one), conditions, faults))
            for one in given.get("brief", ())
        ),
        **named,
    )


def _named(
    table: TomlTable, key: str, given: str, allowed: Sequence[str], faults: Faults
) -> str | None:
    """The word of [server] that was given; None with a fault noted where there is no such one."""
    row, what = table.lines.get(key), f"{key} in [server]"
    return faults.check_one_of(FILE, row, what=what, given=given, allowed=allowed)


def _conditions_of(content: Questionnaire | SentencePairs) -> tuple[list[str], list[str]]:
    """The ids of the conditions, and the dimensions of the items."""
    if not isinstance(content, Questionnaire):
        return [], []
    dimensions = dict.fromkeys(item.dimension for item in content.items if item.dimension)
    return [one.id for one in content.conditions], list(dimensions)


def _items_of(content: Questionnaire | SentencePairs) -> int:
    """How many different items there are."""
    of = content.items if isinstance(content, Questionnaire) else ()
    return len({item.id for item in of})


def _check_count(
    content: Questionnaire,
    stems: Sequence[Stem],
    scales: Sequence[Scale],
    people: Sequence[PersonDescription],
    faults: Faults,
    *,
    permuted: bool,
) -> None:
    """Note a fault where there is more to ask than anyone could."""
    longest = min(max((len(scale.texts) for scale in scales), default=0), MOST_TO_PERMUTE)
    forms = sum(len(condition.forms) for condition in content.conditions)
    count = len(content.items) * forms * len(stems) * max(len(people), 1)
    count *= math.factorial(longest) if permuted else 2
    if count > MOST_PROMPTS:
        what = "items × forms of conditions × stems × orders × people"
        faults.add(FILE, None, f"{what} are {count:,}. Allowed: up to {MOST_PROMPTS:,}.")


def _check_pairs(top: TomlTable, faults: Faults) -> None:
    """The options of a sentence pair are its two people; nothing else can be chosen."""
    for key in ("scales", "people", "controls"):
        if key in top.values:
            message = (
                f"'{key}' cannot be used with sentence pairs: their answers are the two people."
            )
            faults.add(FILE, top.lines.get(key), message)


def _smallest(top: TomlTable, faults: Faults) -> float:
    value = top.values.get("margin", 0.05)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        message = f"margin is {value!r}. Allowed: a number above 0 and below 1."
        faults.add(FILE, top.lines.get("margin"), message)
        return 0.05
    return float(value)
