"""controls.csv and [controls] → control items, checked; control items → prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from goffman.instruments.files import (
    Faults,
    Row,
    TomlFile,
    read_table,
)
from goffman.instruments.questionnaire import check_your_text
from goffman.instruments.text import places, put_in, stray_braces
from goffman.instruments.types import (
    CONTROL,
    EXPECTED,
    MASK,
    Control,
    Controls,
    ControlScore,
    Instrument,
    InstrumentKind,
    Prompt,
    Questionnaire,
    SentencePairs,
    Wording,
)

FILE = "controls.csv"
WRITING_FILE, WRITING_TABLE = "writing-controls.csv", "writing-controls"
"""Those of sentences to write, and the table of instrument.toml with their floor."""

CHOICE_FILE = "choice-controls.csv"
"""Those of a choice, where the instrument's own cannot be asked so."""

_SCORES: dict[InstrumentKind | None, tuple[ControlScore, ...]] = {
    "fill": ("separation", "person"),
    "classify": ("label",),
    # Nobody knows what a reply to a questionnaire should have been.
    "ask": (),
    "choose": ("separation",),
    "write": ("gender",),
}
"""By the kind of a questionnaire: how its controls can be scored."""


_OF_CHOICES = ("question", "asks", "keyed")
"""Further columns, where there are nothing but choices."""


def read_controls(
    folder: Path,
    toml: TomlFile,
    content: Questionnaire | SentencePairs,
    *,
    kind: InstrumentKind | None,
    faults: Faults,
    file: str = FILE,
    about: str = "controls",
    alone: bool = False,
) -> tuple[Controls | None, list[Path]]:
    """The controls of a folder and their file; None where it has none. Faults are noted.

    ``about``: the table with their floor; ``alone``: the instrument has nothing but choices, with
    stems that need more of an item.
    """
    path, table = folder / file, toml.table(about)
    if about not in toml.values:
        if path.exists():
            message = f"there are controls, but {toml.name} has no [{about}] with their floor."
            faults.add(file, None, message)
        return None, []
    table.require(["score", "task", "floor"], faults)
    given = table.take({"score": str, "task": str, "floor": object}, faults)
    of_pairs = isinstance(content, SentencePairs)
    score = None
    # Where the kind is wrong, nothing is known about the score.
    if "score" in given and (of_pairs or kind is not None):
        score = faults.check_one_of(
            toml.name,
            table.lines.get("score"),
            what=f"score in [{about}]",
            given=given["score"],
            allowed=("answer",) if of_pairs else _SCORES.get(kind, ()),
        )
    floor = given.get("floor", 0.5)
    if isinstance(floor, bool) or not isinstance(floor, int | float) or not 0 < floor <= 1:
        message = f"floor in [{about}] is {floor!r}. Allowed: a number above 0, up to 1."
        faults.add(toml.name, table.lines.get("floor"), message)
        floor = 0.5
    further = ("pronoun", "other") if of_pairs else ("your_text", *(_OF_CHOICES if alone else ()))
    rows = read_table(path, required=["id", "text", "expected"], optional=further, faults=faults)
    items = tuple(_items(rows, content, kind=kind, faults=faults))
    if score is None:
        return None, []
    _check_expected(rows, score, faults)
    if of_pairs:
        _check_places(rows, faults)
    found = Controls(score=score, task=given.get("task", ""), floor=float(floor), items=items)
    return found, [path]


def _items(
    rows: Sequence[Row],
    content: Questionnaire | SentencePairs,
    *,
    kind: InstrumentKind | None,
    faults: Faults,
) -> Iterator[Control]:
    seen: set[str] = set()
    for row in rows:
        faults.check_id(row.file, row.number, what="id", given=row["id"])
        if row["id"] in seen:
            faults.add(row.file, row.number, f"there are two controls '{row['id']}'.")
        seen.add(row["id"])
        if isinstance(content, Questionnaire):
            wrong = _faults_of_item(row["text"], content, kind)
        else:
            wrong = _faults_of_sentence(row)
        check_your_text(row, faults)
        # The others mostly follow from the first.
        if message := next(wrong, None):
            faults.add(row.file, row.number, message)
        yield Control(
            id=row["id"],
            text=row["text"],
            your_text=row["your_text"],
            expected=row["expected"],
            other=row["other"],
            pronoun=row["pronoun"],
            question=row["question"],
            asks=row["asks"],
            keyed=_keyed(row, faults),
        )


def _keyed(row: Row, faults: Faults) -> Literal["plain", "reversed"]:
    if not row["keyed"]:
        return "plain"
    allowed: tuple[Literal["plain", "reversed"], ...] = ("plain", "reversed")
    found = faults.check_one_of(
        row.file, row.number, what="keyed", given=row["keyed"], allowed=allowed
    )
    return found or "plain"


def _faults_of_item(
    text: str, content: Questionnaire, kind: InstrumentKind | None
) -> Iterator[str]:
    """What is wrong with a control of a questionnaire."""
    if stray_braces(text):
        yield f"text has a stray brace: '{text}'."
    for place in places(text):
        if place == content.slot.name:
            yield f"text has {{{place}}}, but a control must not name a condition."
        elif place not in content.fields:
            allowed = ", ".join(f"{{{name}}}" for name in content.fields) or "none"
            yield f"text has the unknown place '{{{place}}}'. Allowed: {allowed}."
    for wording in content.wordings if kind != "choose" else (Wording(id=""),):
        if content.slot.name in places(wording.frame):
            yield (
                f"the frame of wording '{wording.id}' names a condition, so no control item fits "
                "it."
            )
        sentence = wording.frame.replace("{item}", text)
        masks = sentence.count(MASK)
        if kind == "fill" and masks != 1:
            yield f"the sentence must have {MASK} once, not {masks} times: '{sentence}'."
        elif kind != "fill" and kind is not None and masks:
            yield f"the sentence has {MASK}, but only instruments of kind fill can have it."


def _faults_of_sentence(row: Row) -> Iterator[str]:
    """What is wrong with a control of sentence pairs."""
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
        for what in ("pronoun", "expected", "other"):
            if _at(row, what) is None:
                yield f"{what} is '{row[what]}', but '{text}' does not contain it."


def _at(row: Row, column: str) -> int | None:
    """Where a word stands in the sentence."""
    word = row[column]
    found = re.search(rf"\b{re.escape(word)}\b", row["text"], re.IGNORECASE) if word else None
    return found.start() if found else None


def _check_expected(rows: Sequence[Row], score: ControlScore, faults: Faults) -> None:
    """Only answers that can be scored; and more than one, or a constant answer would pass."""
    allowed = EXPECTED[score]
    if not allowed:
        return
    for row in rows:
        faults.check_one_of(
            row.file, row.number, what="expected", given=row["expected"], allowed=allowed
        )
    expected = {row["expected"] for row in rows}
    if len(allowed) > 1 and len(expected) == 1:
        message = (
            f"every control item expects '{expected.pop()}', so a model that always gives this "
            "answer would pass."
        )
        faults.add(rows[0].file, None, message)


def _check_places(rows: Sequence[Row], faults: Faults) -> None:
    """A model that always names the first person, or always writes one pronoun, must not pass."""
    asked = [row for row in rows if MASK not in row["text"]]
    places_of = [(_at(row, "expected"), _at(row, "other")) for row in asked]
    first = [one < two for one, two in places_of if one is not None and two is not None]
    if len(first) > 1 and len(set(first)) == 1:
        which = "first" if first[0] else "second"
        message = f"the right answer is always mentioned {which}. Change the order in some of them."
        faults.add(FILE, None, message)
    masked = [row["expected"] for row in rows if MASK in row["text"]]
    if len(masked) > 1 and len(set(masked)) == 1:
        message = f"the right pronoun is always '{masked[0]}'. Use the other one in some sentences."
        faults.add(FILE, None, message)


def control_prompts(instrument: Instrument, wordings: Sequence[str] = ()) -> tuple[Prompt, ...]:
    """The prompts of the controls: of a questionnaire in each of these wordings."""
    controls, content = instrument.controls, instrument.content
    if controls is None:
        return ()
    if isinstance(content, SentencePairs):
        return tuple(_of_pairs(instrument, content, controls))
    chosen = [wording for wording in content.wordings if wording.id in wordings]
    return tuple(_of_wordings(instrument, content, controls, chosen))


def _of_wordings(
    instrument: Instrument,
    content: Questionnaire,
    controls: Controls,
    wordings: Sequence[Wording],
) -> Iterator[Prompt]:
    seen: set[str] = set()
    for wording in wordings:
        for control in controls.items:
            text = put_in(wording.frame.replace("{item}", control.text), content.fields)
            # Wordings that differ in their items alone would ask the same again.
            if text in seen:
                continue
            seen.add(text)
            yield Prompt(
                instrument=instrument.base,
                mode=instrument.mode,
                item=control.id,
                wording=wording.id,
                condition=CONTROL,
                group=CONTROL,
                text=text,
                answer=control.expected,
            )


def _of_pairs(
    instrument: Instrument, content: SentencePairs, controls: Controls
) -> Iterator[Prompt]:
    """Sentences with the question for a chat; those with a mask where pronouns are asked for.

    Where there are options to choose from, the sentence alone.
    """
    masked = instrument.kind == "prefer"
    alone = instrument.kind in {"prefer", "choose", "say"}
    for control in controls.items:
        if (MASK in control.text) is not masked:
            continue
        question = content.question.replace("{pronoun}", control.pronoun)
        yield Prompt(
            instrument=instrument.base,
            mode=instrument.mode,
            item=control.id,
            wording=CONTROL,
            condition=CONTROL,
            group=CONTROL,
            text=control.text if alone else f"{control.text} {question}",
            answer=control.expected,
            other=control.other,
            pronoun=control.expected if masked else control.pronoun,
        )
