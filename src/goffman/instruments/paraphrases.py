"""paraphrases.toml and paraphrases.csv → further wordings of an instrument, checked.

Their files are no part of the instrument's digest, since the other prompts do not depend on them
and runs of the instrument stay valid.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from goffman.instruments.fields import OWN_ID, REQUIRED, TABLES, TEXT, Field
from goffman.instruments.files import Faults, TomlFile, digest_of, read_table, read_toml
from goffman.instruments.multiple_choice import check_items, read_stems
from goffman.instruments.questionnaire import check_sentence, read_wordings
from goffman.instruments.text import places, put_in
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
"""The name of the only wording in which sentence pairs are always asked."""

ON_REQUEST = "paraphrases"
"""The name for all wordings that are asked only on request."""


def read_paraphrases(
    folder: Path,
    content: Questionnaire | SentencePairs,
    choice: MultipleChoice | None,
    *,
    kind: InstrumentKind | None,
    faults: Faults,
) -> Paraphrases:
    """Return the paraphrases of a folder; none if it has no such file. Faults are noted."""
    path, texts = folder / FILE, folder / TEXTS
    # If the instrument has faults, those of its paraphrases may only follow from them.
    if faults.found:
        return Paraphrases()
    if not path.exists():
        if texts.exists():
            faults.add(TEXTS, None, f"there are paraphrases, but no {FILE} that names them.")
        return Paraphrases()
    toml = read_toml(path, faults)
    if toml is None:
        return Paraphrases()
    toml.top().take({"wordings": TABLES, "stems": TABLES})
    stems = _stems(toml, content, choice, kind=kind)
    items: tuple[Item, ...] = ()
    if isinstance(content, Questionnaire):
        wordings = read_wordings(toml, known=[*content.fields, content.slot.name])
        own_ids = [wording.id for wording in content.wordings]
        if texts.exists():
            items = _items(texts, content, wordings, kind=kind, faults=faults)
        masked = wordings if kind == "fill" else ()
        _check_frames(toml, content, masked, written={item.wording for item in items})
    else:
        wordings, own_ids = _of_pairs(toml), [OWN_PAIRS]
    stem_ids = [stem.id for stem in choice.stems] if choice else []
    for key, ids, taken_ids in (
        ("wordings", [wording.id for wording in wordings], own_ids),
        ("stems", [stem.id for stem in stems], stem_ids),
    ):
        for table, name in zip(toml.tables(key), ids, strict=False):
            if name in taken_ids or name == ON_REQUEST:
                table.note("id", f"'{name}' is already the name of a wording.")
    files = [path, *([texts] if texts.exists() else [])]
    return Paraphrases(
        wordings=tuple(replace(wording, default=False) for wording in wordings),
        items=items,
        stems=stems,
        digest="" if faults.found else digest_of(files),
    )


def _stems(
    toml: TomlFile,
    content: Questionnaire | SentencePairs,
    choice: MultipleChoice | None,
    *,
    kind: InstrumentKind | None,
) -> tuple[Stem, ...]:
    if "stems" not in toml.values:
        return ()
    if choice is None:
        message = "there are [[stems]], but the instrument has no choice.toml."
        toml.top().note("stems", message)
        return ()
    alone = content if isinstance(content, Questionnaire) and kind == "choose" else None
    stems = read_stems(
        toml,
        choice.scales,
        of_pairs=isinstance(content, SentencePairs),
        slot=alone.slot.name if alone else None,
        of_two=choice.two_people is not None,
        further=True,
    )
    if alone:
        check_items(toml, alone, stems)
    return tuple(replace(stem, default=False) for stem in stems)


def _of_pairs(toml: TomlFile) -> tuple[Wording, ...]:
    """Return the wordings of sentence pairs: a frame and a question after the sentence."""
    fields = {
        "id": OWN_ID,
        "frame": Field(required=True, places=["item"]),
        "question": Field(required=True, places=["pronoun"]),
    }
    return tuple(Wording(**({"id": ""} | table.take(fields))) for table in toml.tables("wordings"))


def _items(
    path: Path,
    content: Questionnaire,
    wordings: Sequence[Wording],
    *,
    kind: InstrumentKind | None,
    faults: Faults,
) -> tuple[Item, ...]:
    """Return the items in other words; note a fault unless each wording has each item once."""
    by_id = {wording.id: wording for wording in wordings}
    wording_id = Field(required=True, allowed=[*by_id])
    columns = {"wording": wording_id, "item": REQUIRED, "text": REQUIRED, "baseline": TEXT}
    rows = read_table(path, columns, faults)
    own_items = {item.id: item for item in reversed(content.items)}
    values = {**content.fields, content.slot.name: "…"}
    items: dict[tuple[str, str], Item] = {}
    for row in rows:
        wording, name = row["wording"], row["item"]
        # A copy of an instrument may have fewer items; a misspelled one is missing, noted below.
        if wording not in by_id or name not in own_items:
            continue
        if (wording, name) in items:
            row.note(f"the item '{name}' appears twice.")
        check_sentence(row, [by_id[wording]], values=values, slot=content.slot.name, kind=kind)
        if bool(row["baseline"]) is not bool(own_items[name].baseline):
            row.note("baseline must be given if the item has one, and only then.")
        items[wording, name] = replace(
            own_items[name],
            wording=wording,
            text=row["text"],
            baseline=row["baseline"],
            your_text="",
            source="own" if own_items[name].source else None,
        )
    for wording in dict.fromkeys(wording for wording, _ in items):
        if missing_ids := [item.id for item in content.items if (wording, item.id) not in items]:
            listing = ", ".join(map(repr, dict.fromkeys(missing_ids)))
            faults.add(path.name, None, f"the wording '{wording}' has no item {listing}.")
    return tuple(items.values())


def _check_frames(
    toml: TomlFile, content: Questionnaire, wordings: Sequence[Wording], *, written: Collection[str]
) -> None:
    for table, wording in zip(toml.tables("wordings"), wordings, strict=False):
        for item in content.items if wording.id not in written else ():
            sentence = wording.frame.replace("{item}", item.text)
            values = {name: content.fields.get(name, "…") for name in places(sentence)}
            masks = put_in(sentence, values).count(MASK)
            if masks != 1:
                message = f"the sentence must have {MASK} once, not {masks} times: '{sentence}'."
                table.note("id", message)
                break


def texts_in(content: Questionnaire, wording: Wording) -> list[Item]:
    """Return the items of a wording; its own texts replace those for all wordings."""
    own_ids = {item.id for item in content.items if item.wording == wording.id}
    return [
        item
        for item in content.items
        if item.wording == wording.id or (not item.wording and item.id not in own_ids)
    ]


def on_request(content: Questionnaire, paraphrases: Paraphrases) -> Questionnaire:
    """Return the questionnaire with the paraphrases added to its wordings and items."""
    return replace(
        content,
        wordings=(*content.wordings, *paraphrases.wordings),
        items=(*content.items, *paraphrases.items),
    )
