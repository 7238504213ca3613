"""Control items: read from controls.csv and [controls], checked, and turned into prompts.

Some are texts of their own. Others put a person or thing into the slot of an item in place of a
condition; a model that passes these shows that the slot affects its answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from goffman.instruments.fields import REQUIRED, TEXT, UNIQUE_ID, Field, number
from goffman.instruments.files import Row, TomlFile, read_table
from goffman.instruments.questionnaire import FORM_COLUMNS, check_your_text
from goffman.instruments.text import places, put_in, slot_text, stray_braces, word_at
from goffman.instruments.types import (
    CONTROL,
    EXPECTED,
    KEYED,
    MASK,
    Control,
    Controls,
    ControlScore,
    Form,
    Instrument,
    InstrumentKind,
    Prompt,
    Questionnaire,
    SentencePairs,
    Wording,
)

FILE = "controls.csv"
WRITING_FILE, WRITING_TABLE = "writing-controls.csv", "writing-controls"
"""The controls of sentences to write, and the table of instrument.toml with their floor."""

CHOICE_FILE = "choice-controls.csv"
"""The file with controls for a choice, if the instrument's own cannot be asked as a choice."""

_SCORES: dict[InstrumentKind | None, tuple[ControlScore, ...]] = {
    "fill": ("separation", "person"),
    "classify": ("label",),
    # No reply to a questionnaire is right or wrong.
    "ask": (),
    "choose": ("separation",),
    "write": ("gender",),
}
"""The kind of a questionnaire → the ways in which its controls can be scored."""


_OF_CHOICES = ("question", "asks", "keyed", "person", "opposite", "other")
"""Further columns of instruments with only choices."""

_FLOOR = number("a number above 0, up to 1", lambda floor: 0 < floor <= 1, required=True)

_IN_SLOT = ("item", *FORM_COLUMNS)
"""Further columns of a control that stands in the slot of an item: the item and its form."""


def read_controls(
    folder: Path,
    toml: TomlFile,
    content: Questionnaire | SentencePairs,
    *,
    kind: InstrumentKind | None,
    file: str = FILE,
    about: str = "controls",
    alone: bool = False,
) -> tuple[Controls | None, list[Path]]:
    """Return the controls of a folder, or None if it has none, and their files; note faults.

    ``about``: the name of the table with their floor; ``alone``: whether the instrument has only
    choices, whose stems need further columns.
    """
    path, table = folder / file, toml.table(about)
    if about not in toml.values:
        if path.exists():
            message = f"there are controls, but {toml.name} has no [{about}] with their floor."
            toml.faults.add(file, None, message)
        return None, []
    of_pairs = isinstance(content, SentencePairs)
    scores: Sequence[ControlScore] = ("answer",) if of_pairs else _SCORES.get(kind, ())
    # If the kind is wrong, the score cannot be checked.
    is_known = of_pairs or kind is not None
    score_field = Field(required=True, allowed=scores if is_known else None)
    values = table.take({"score": score_field, "task": REQUIRED, "floor": _FLOOR})
    score: ControlScore | None = values.get("score") if is_known else None
    further = ["pronoun", "other"]
    if not of_pairs:
        further = ["your_text", *(_OF_CHOICES if alone else ())]
        further += _IN_SLOT if kind != "write" else ()
    expected = Field(required=True, allowed=EXPECTED[score] or None if score else None)
    columns = {"id": UNIQUE_ID, "expected": expected, **dict.fromkeys(["text", *further], TEXT)}
    if "keyed" in columns:
        columns["keyed"] = Field(allowed=KEYED)
    rows = read_table(path, columns, toml.faults)
    items = tuple(_items(rows, content, kind=kind))
    if score is None:
        return None, []
    _check_expected(rows, score)
    if of_pairs:
        _check_places(rows)
    floor, task = float(values.get("floor", 1)), values.get("task", "")
    return Controls(score=score, task=task, floor=floor, items=items), [path]


def _items(
    rows: Sequence[Row], content: Questionnaire | SentencePairs, *, kind: InstrumentKind | None
) -> Iterator[Control]:
    for row in rows:
        if row["item"] and isinstance(content, Questionnaire):
            yield from _in_slot(row, content)
            continue
        if not row["text"]:
            row.note("text is empty.")
        if isinstance(content, Questionnaire):
            messages = _faults_of_item(row["text"], content, kind)
        else:
            messages = _faults_of_sentence(row)
        check_your_text(row)
        # The other messages mostly follow from the first.
        if message := next(messages, None):
            row.note(message)
        texts = ("id", "text", "your_text", "expected", "other", "pronoun", "question", "asks")
        yield Control(
            keyed=row["keyed"] or "plain",
            slot=row["person"],
            **{column: row[column] for column in (*texts, "opposite")},
        )


def _in_slot(row: Row, content: Questionnaire) -> Iterator[Control]:
    """Yield the control whose form replaces the conditions in an item."""
    items = {item.id: item for item in reversed(content.items)}
    # If the items have faults, an unknown item may only follow from them.
    if row["item"] not in items and row.faults.found:
        return
    is_known = row.check("item", Field(allowed=[*items][::-1]))
    used_places = places(content.slot.filled)
    for column in FORM_COLUMNS:
        if column in used_places and not row[column]:
            row.note(f"{column} is empty, but 'filled' in [slot] uses {{{column}}}.")
    if row["text"]:
        row.note("text and item are both given, but a control has one of the two.")
    if not is_known:
        return
    item = items[row["item"]]
    form = Form(text=row["form"], **{column: row[column] for column in FORM_COLUMNS[1:]})
    yield Control(
        id=row["id"],
        text=item.text,
        item=item.id,
        slot=slot_text(content.slot, form),
        your_text=item.your_text,
        expected=row["expected"],
        question=item.question,
        opposite=item.opposite,
        other=item.other,
        asks=item.asks,
        keyed=item.choice_keyed or item.keyed,
    )


def _faults_of_item(
    text: str, content: Questionnaire, kind: InstrumentKind | None
) -> Iterator[str]:
    if stray_braces(text):
        yield f"text has a stray brace: '{text}'."
    for place in places(text):
        if place == content.slot.name:
            yield f"text has {{{place}}}, but a control must not name a condition."
        elif place not in content.fields:
            allowed = ", ".join(f"{{{name}}}" for name in content.fields) or "none"
            yield f"text has the unknown placeholder '{{{place}}}'. Allowed: {allowed}."
    for wording in content.wordings if kind != "choose" else (Wording(id=""),):
        if content.slot.name in places(wording.frame):
            yield (
                f"the frame of wording '{wording.id}' names a condition, so it cannot have control "
                "items."
            )
        sentence = wording.frame.replace("{item}", text)
        masks = sentence.count(MASK)
        if kind == "fill" and masks != 1:
            yield f"the sentence must have {MASK} once, not {masks} times: '{sentence}'."
        elif kind != "fill" and kind is not None and masks:
            yield f"the sentence has {MASK}, but only instruments of kind fill can have it."


def _faults_of_sentence(row: Row) -> Iterator[str]:
    text, expected, other = row["text"], row["expected"], row["other"]
    if not other:
        yield "other is empty. Give the wrong answer there."
    elif expected.casefold() == other.casefold():
        yield f"expected and other are both '{other}'."
    if text.count(MASK) > 1:
        yield f"the sentence must have {MASK} once: '{text}'."
    elif MASK in text:
        if row["pronoun"]:
            yield f"pronoun is '{row['pronoun']}'. Leave it empty, because the sentence has {MASK}."
    else:
        for column in ("pronoun", "expected", "other"):
            if word_at(text, row[column]) is None:
                yield f"{column} is '{row[column]}', but '{text}' does not contain it."


def _check_expected(rows: Sequence[Row], score: ControlScore) -> None:
    """Note a fault if all controls expect one answer, which a model could give without reading."""
    expected = {row["expected"] for row in rows}
    if len(EXPECTED[score]) > 1 and len(expected) == 1:
        message = (
            f"every control item expects '{expected.pop()}', so a model that always gives this "
            "answer would pass."
        )
        rows[0].faults.add(rows[0].file, None, message)


def _check_places(rows: Sequence[Row]) -> None:
    """Note controls that a model would pass by always naming one place or one pronoun."""
    positions = [
        [word_at(row["text"], row[column]) for column in ("expected", "other")]
        for row in rows
        if MASK not in row["text"]
    ]
    right_is_first = [
        right < wrong for right, wrong in positions if right is not None and wrong is not None
    ]
    if len(right_is_first) > 1 and len(set(right_is_first)) == 1:
        which = "first" if right_is_first[0] else "second"
        message = f"the right answer is always mentioned {which}. Change the order in some of them."
        rows[0].faults.add(FILE, None, message)
    masked = [row["expected"] for row in rows if MASK in row["text"]]
    if len(masked) > 1 and len(set(masked)) == 1:
        message = f"the right pronoun is always '{masked[0]}'. Use the other one in some sentences."
        rows[0].faults.add(FILE, None, message)


def control_prompts(instrument: Instrument, wordings: Sequence[str] = ()) -> tuple[Prompt, ...]:
    """Return the prompts of the controls; those of a questionnaire in each of the wordings."""
    controls, content = instrument.controls, instrument.content
    if controls is None:
        return ()
    if isinstance(content, SentencePairs):
        return tuple(_of_pairs(instrument, content, controls))
    prompts: dict[str, Prompt] = {}
    for wording in content.wordings:
        for control in controls.items if wording.id in wordings else ():
            values = {**content.fields, content.slot.name: control.slot}
            item = _text_in(content, wording, control)
            text = put_in(wording.frame.replace("{item}", item), values)
            # Wordings that differ only in their items would repeat the same prompt.
            prompts.setdefault(
                text, control_prompt(instrument, control, wording=wording.id, text=text)
            )
    return tuple(prompts.values())


def control_prompt(instrument: Instrument, control: Control, **further: Any) -> Prompt:
    """Return the prompt of a control item; ``further`` are more fields of the prompt."""
    return Prompt(
        instrument=instrument.base,
        mode=instrument.mode,
        item=control.id,
        condition=CONTROL,
        group=CONTROL,
        answer=control.expected,
        **further,
    )


def _text_in(content: Questionnaire, wording: Wording, control: Control) -> str:
    """Return the text of a control in a wording; an item may have a different text in each."""
    items = (item for item in content.items if item.id == control.item)
    return next(
        (item.text for item in items if item.wording in {"", wording.id}),
        control.text,
    )


def _of_pairs(
    instrument: Instrument, content: SentencePairs, controls: Controls
) -> Iterator[Prompt]:
    """Yield the controls of sentence pairs as prompts for the instrument's kind.

    These are sentences with a question, with a mask, or, if there are options, alone.
    """
    masked = instrument.kind == "prefer"
    alone = instrument.kind in {"prefer", "choose", "say"}
    for control in controls.items:
        if (MASK in control.text) is masked:
            question = content.question.replace("{pronoun}", control.pronoun)
            yield control_prompt(
                instrument,
                control,
                wording=CONTROL,
                text=control.text if alone else f"{control.text} {question}",
                other=control.other,
                pronoun=control.expected if masked else control.pronoun,
            )
