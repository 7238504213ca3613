"""choice.toml → how an instrument is asked as a choice, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from goffman.choice_items import ChoiceForm, Described, Scale, ServerPart, Stem
from goffman.instruments.choice_scales import read_scales
from goffman.instruments.choice_stems import check_controls, check_items, read_stems
from goffman.instruments.controls import CHOICE_FILE, read_controls
from goffman.instruments.files import Faults, TomlFile, TomlTable, read_toml
from goffman.instruments.grammar import PERSON_PLACES
from goffman.instruments.questionnaire import MOST_PROMPTS
from goffman.instruments.templates import places, stray_braces
from goffman.records import MASK, InstrumentKind, Questionnaire, SentencePairs

FILE = "choice.toml"

MOST_TO_PERMUTE = 4
"""Options whose every order is asked: five would be asked in 120."""

_ORDERS: tuple[Literal["two", "all"], ...] = ("two", "all")
_GENDERS: tuple[Literal["female", "male", "unstated"], ...] = ("female", "male", "unstated")
_PART: tuple[Literal["both", "one"], ...] = ("both", "one")

_TOP: dict[str, type] = {
    "title": str,
    "request": str,
    "way_out": str,
    "orders": str,
    "smallest": object,
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
) -> tuple[ChoiceForm | None, list[Path]]:
    """The choice of a folder and its files; None where it has none. Faults are noted."""
    path, alone = folder / FILE, kind == "choose"
    toml = read_toml(path, faults) if _is_there(folder, faults, alone=alone) else None
    if toml is None:
        return None, []
    before = len(faults.found)
    top = toml.top()
    top.require(["title", "request", "way_out"], faults)
    given = top.take(_TOP, faults)
    _check_request(top, str(given.get("request", "")), faults)
    scales = read_scales(toml, given.get("way_out", ""), faults)
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
    server, smallest = _server(toml, content, stems, faults), _smallest(top, faults)
    if len(faults.found) > before:
        return None, [path]
    form = ChoiceForm(
        title=given["title"],
        stems=stems,
        scales=scales,
        request=given["request"],
        way_out=given["way_out"],
        orders=orders or "two",
        people=people,
        smallest=smallest,
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
    people: Sequence[Described],
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


def _people(toml: TomlFile, faults: Faults) -> tuple[Described, ...]:
    people: list[Described] = []
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
        people.append(Described(id=name, gender=gender or "unstated", texts=texts))
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
    top: TomlTable, people: Sequence[Described], content: Questionnaire, faults: Faults
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
    top: TomlTable, people: Sequence[Described], content: Questionnaire, faults: Faults
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
) -> ServerPart:
    """The part of [server]; without it all items."""
    table = toml.table("server")
    keys: dict[str, type] = {"items": object, "orders": str, "wording": str}
    keys |= {"brief": list, "brief_dimension": str}
    given = table.take(keys, faults)
    if "server" in toml.values and isinstance(content, SentencePairs):
        message = "[server] does not go with sentence pairs: fewer of them are drawn."
        faults.add(FILE, toml.top().lines.get("server"), message)
        return ServerPart()
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
    return ServerPart(
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
    people: Sequence[Described],
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
    value = top.values.get("smallest", 0.05)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        message = f"smallest is {value!r}. Allowed: a number above 0 and below 1."
        faults.add(FILE, top.lines.get("smallest"), message)
        return 0.05
    return float(value)
