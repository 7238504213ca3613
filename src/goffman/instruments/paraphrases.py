"""paraphrases.toml and paraphrases.csv → further wordings of an instrument, checked.

They stand in files of their own, which are no part of the instrument's digest: whoever does not ask
for them is asked what was always asked, and a run of the instrument without them stays one of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from goffman.instruments.files import (
    Faults,
    Row,
    TomlFile,
    digest_of,
    read_table,
    read_toml,
)
from goffman.instruments.multiple_choice import check_items, read_stems
from goffman.instruments.questionnaire import check_sentence, read_wordings
from goffman.instruments.text import places, put_in, stray_braces
from goffman.instruments.types import (
    MASK,
    InstrumentKind,
    Item,
    MultipleChoice,
    Paraphrases,
    Questionnaire,
    SentencePairs,
    Stem,
    Wording,
)

FILE = "paraphrases.toml"
TEXTS = "paraphrases.csv"

OWN_PAIRS = "only"
"""The name of the one way in which sentence pairs are always asked."""

ON_REQUEST = "paraphrases"
"""What names all wordings that are asked only on request."""


def read_paraphrases(
    folder: Path,
    content: Questionnaire | SentencePairs,
    choice: MultipleChoice | None,
    *,
    kind: InstrumentKind | None,
    faults: Faults,
) -> Paraphrases:
    """The paraphrases of a folder; none where it has no such file. Faults are noted."""
    path, texts = folder / FILE, folder / TEXTS
    if faults.found:
        # What they paraphrase is to be mended first.
        return Paraphrases()
    if not path.exists():
        if texts.exists():
            faults.add(TEXTS, None, f"there are paraphrases, but no {FILE} that names them.")
        return Paraphrases()
    toml = read_toml(path, faults)
    if toml is None:
        return Paraphrases()
    toml.top().take({"wordings": list, "stems": list}, faults)
    stems = _stems(toml, content, choice, kind=kind, faults=faults)
    items: tuple[Item, ...] = ()
    if isinstance(content, Questionnaire):
        slot = content.slot.name
        wordings = read_wordings(toml, faults, known=[*content.fields, slot])
        own = [wording.id for wording in content.wordings]
        if texts.exists():
            items = _items(texts, content, wordings, kind=kind, faults=faults)
        _check_frames(toml, content, wordings, written=items, kind=kind, faults=faults)
    else:
        wordings, own = _of_pairs(toml, faults), [OWN_PAIRS]
    _refuse_known(toml, "wordings", [one.id for one in wordings], own, faults)
    named = [stem.id for stem in choice.stems] if choice else []
    _refuse_known(toml, "stems", [one.id for one in stems], named, faults)
    files = [path, *([texts] if texts.exists() else [])]
    return Paraphrases(
        wordings=tuple(replace(one, default=False) for one in wordings),
        items=items,
        stems=stems,
        digest="" if faults.found else digest_of(files),
    )


def _refuse_known(
    toml: TomlFile, what: str, given: Sequence[str], own: Collection[str], faults: Faults
) -> None:
    """A paraphrase may not have the name of a wording that there is, or of all of them."""
    lines = [table.lines.get("id") for table in toml.tables(what, faults)]
    for name, row in zip(given, lines, strict=False):
        if name in own or name == ON_REQUEST:
            faults.add(toml.name, row, f"'{name}' is already the name of a wording.")


def _stems(
    toml: TomlFile,
    content: Questionnaire | SentencePairs,
    choice: MultipleChoice | None,
    *,
    kind: InstrumentKind | None,
    faults: Faults,
) -> tuple[Stem, ...]:
    if "stems" not in toml.values:
        return ()
    if choice is None:
        row = toml.top().lines.get("stems")
        faults.add(toml.name, row, "there are [[stems]], but the instrument has no choice.toml.")
        return ()
    alone = isinstance(content, Questionnaire) and kind == "choose"
    stems = read_stems(
        toml,
        choice.scales,
        faults,
        of_pairs=isinstance(content, SentencePairs),
        slot=content.slot.name if isinstance(content, Questionnaire) and alone else None,
        further=True,
    )
    if isinstance(content, Questionnaire) and alone:
        check_items(toml, content, stems, faults)
    return tuple(replace(stem, default=False) for stem in stems)


def _of_pairs(toml: TomlFile, faults: Faults) -> tuple[Wording, ...]:
    """Of sentence pairs: a frame around the sentence, and a question after it."""
    found: list[Wording] = []
    for table in toml.tables("wordings", faults):
        table.require(["id", "frame", "question"], faults)
        given = table.take({"id": str, "frame": str, "question": str}, faults)
        one = Wording(**({"id": ""} | given))
        if one.id:
            faults.check_id(toml.name, table.lines.get("id"), what="id", given=one.id)
        for key, place in (("frame", "item"), ("question", "pronoun")):
            text = str(given.get(key, f"{{{place}}}"))
            if places(text) != [place] or stray_braces(text):
                message = f"{key} must contain {{{place}}} exactly once, and no other place."
                faults.add(toml.name, table.lines.get(key), message)
        found.append(one)
    return tuple(found)


def _items(
    path: Path,
    content: Questionnaire,
    wordings: Sequence[Wording],
    *,
    kind: InstrumentKind | None,
    faults: Faults,
) -> tuple[Item, ...]:
    """The items in other words: in each wording that is named all of them, each once."""
    rows = read_table(
        path, required=["wording", "item", "text"], optional=["baseline"], faults=faults
    )
    own: dict[str, Item] = {}
    for item in content.items:
        own.setdefault(item.id, item)
    by_id = {wording.id: wording for wording in wordings}
    found: dict[tuple[str, str], Item] = {}
    for row in rows:
        wording = faults.check_one_of(
            row.file, row.number, what="wording", given=row["wording"], allowed=list(by_id)
        )
        # A copy of an instrument may have fewer items; a slip leaves one without its text.
        if wording is None or (name := row["item"]) not in own:
            continue
        if (wording, name) in found:
            faults.add(row.file, row.number, f"the item '{name}' appears twice.")
        _check_text(row, own[name], by_id[wording], content, kind=kind, faults=faults)
        found[wording, name] = replace(
            own[name],
            wording=wording,
            text=row["text"],
            baseline=row["baseline"],
            your_text="",
        )
    for wording in dict.fromkeys(wording for wording, _ in found):
        if missing := [name for name in own if (wording, name) not in found]:
            listed = ", ".join(map(repr, missing))
            faults.add(path.name, None, f"the wording '{wording}' has no item {listed}.")
    return tuple(found.values())


def _check_frames(
    toml: TomlFile,
    content: Questionnaire,
    wordings: Sequence[Wording],
    *,
    written: Sequence[Item],
    kind: InstrumentKind | None,
    faults: Faults,
) -> None:
    """Every item in a wording without texts of its own has one mask; the first bad one is told."""
    own = {item.wording for item in written}
    lines = [table.lines.get("id") for table in toml.tables("wordings", faults)]
    for wording, row in zip(wordings, lines, strict=False):
        for item in content.items if kind == "fill" and wording.id not in own else ():
            sentence = wording.frame.replace("{item}", item.text)
            values = {name: content.fields.get(name, "…") for name in places(sentence)}
            masks = put_in(sentence, values).count(MASK)
            if masks != 1:
                message = f"the sentence must have {MASK} once, not {masks} times: '{sentence}'."
                faults.add(toml.name, row, message)
                break


def _check_text(
    row: Row,
    own: Item,
    wording: Wording,
    content: Questionnaire,
    *,
    kind: InstrumentKind | None,
    faults: Faults,
) -> None:
    """A paraphrase has the places of a sentence, and a baseline where the item has one."""
    values: Mapping[str, str] = {**content.fields, content.slot.name: "…"}
    check_sentence(row, [wording], values=values, slot=content.slot.name, kind=kind, faults=faults)
    if bool(row["baseline"]) is not bool(own.baseline):
        message = "baseline must be given where the item has one, and only there."
        faults.add(row.file, row.number, message)


def texts_in(content: Questionnaire, wording: Wording) -> list[Item]:
    """The items as a wording has them: in its own texts, where it has such."""
    own = {item.id for item in content.items if item.wording == wording.id}
    return [
        item
        for item in content.items
        if item.wording == wording.id or (not item.wording and item.id not in own)
    ]


def on_request(content: Questionnaire, given: Paraphrases) -> Questionnaire:
    """The questionnaire with its paraphrases among its wordings."""
    return replace(
        content,
        wordings=(*content.wordings, *given.wordings),
        items=(*content.items, *given.items),
    )
