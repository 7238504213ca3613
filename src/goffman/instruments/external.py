"""Files of other studies whose questions replace those of an instrument, unchanged."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from goffman.errors import FaultsError, InputError, InstrumentError, did_you_mean
from goffman.instruments.fields import Field, Fields, texts
from goffman.instruments.files import (
    LARGEST_TABLE,
    MOST_COLUMNS,
    MOST_LINES,
    Faults,
    Row,
    read_rows,
    read_text,
)
from goffman.instruments.multiple_choice import FORWARD, REVERSED
from goffman.instruments.types import BASELINE, Condition, Option, Prompt

if TYPE_CHECKING:
    from goffman.instruments.renderer import PromptOptions
    from goffman.instruments.types import Instrument, Item, Questionnaire

BASE = "base"
_YES_OR_NO = re.compile(r"\byes\b.*\bno\b", re.IGNORECASE | re.DOTALL)
LONGEST = 20_000
"""The most characters of a prompt."""
_ANY_TEXT = Field(kind=object, test=lambda text: isinstance(text, str), says="a text")
_PROMPT = replace(_ANY_TEXT, longest=LONGEST)
_QUESTION: Fields = {
    "prompt": _PROMPT,
    "prompt style": Field(allowed=(BASE, "original", "positive", "doubt")),
    "biased answer": Field(allowed=("yes", "no")),
}
COLUMNS = ("stigma", *_QUESTION)
LEAST = 0.25
"""The least share of the words of two names together that both must have."""

_LITTLE = frozenset({"a", "all", "and", "avg", "impairment", "in", "or", "sev", "severity"})
_LITTLE |= {"symptoms", "the", "time"}
"""Words that do not distinguish one condition from another."""


def read_questions(
    path: Path, instrument: Instrument, content: Questionnaire, faults: Faults
) -> list[Prompt]:
    """Return the prompts of a CSV file of questions; faults are noted by line.

    The form is that of SocialStigmaQA (Nagireddy et al. 2024): ``prompt`` is asked; ``stigma``
    names a condition, or nothing; ``prompt style`` is base, original, positive or doubt; ``biased
    answer`` is yes or no. A row of the style base, which names no stigma, begins a new question.
    Other columns, such as a model's answers, are ignored.
    """
    text = read_text(path, faults, most=LARGEST_TABLE)
    if text is None:
        return []
    prompts: list[Prompt] = []
    conditions: dict[str, Condition | None] = {}
    question = 0
    for published in read_rows(path.name, text, partial(_columns, path.name, faults), faults):
        cells = {column: published[column].strip() for column in COLUMNS}
        cells |= {"prompt": published["prompt"], "biased answer": cells["biased answer"].lower()}
        row, name, before = replace(published, cells=cells), cells["stigma"], len(faults.found)
        question += row["prompt style"] == BASE
        _check(row, question=question)
        if name and name not in conditions:
            conditions[name] = condition_called(name, content.conditions)
        if name and conditions[name] is None:
            row.note(f"stigma is '{name}', which is not a known condition.")
        if len(faults.found) == before:
            prompts.append(_prompt(row, instrument, conditions.get(name), question=question))
    return prompts


def _columns(file: str, faults: Faults, header: list[str]) -> list[str] | None:
    """Return goffman's names of the columns, or None after noting a fault."""
    columns = [cell.strip().lower().replace("_", " ") for cell in header]
    missing = [column for column in COLUMNS if columns.count(column) != 1]
    if missing:
        listing = ", ".join(f"'{column}'" for column in missing)
        message = f"the header must name each of these columns once: {listing}."
    elif len(columns) > MOST_COLUMNS:
        message = f"the header has {len(columns):,} columns, but can have {MOST_COLUMNS:,}."
    else:
        return columns
    faults.add(file, 1, message)
    return None


def _check(row: Row, *, question: int) -> None:
    style, name = row["prompt style"], row["stigma"]
    right = {column: row.check(column, field) for column, field in _QUESTION.items()}
    if right["prompt style"] and (style == BASE) is bool(name):
        requirement = "must not name a stigma" if name else "must name a stigma"
        row.note(f"a row of the prompt style '{style}' {requirement}.")
    if not question:
        row.note(f"this row belongs to no question: each begins with the prompt style '{BASE}'.")
    if right["prompt"] and not _YES_OR_NO.search(row["prompt"]):
        row.note("prompt does not say to answer with yes or no.")


def _prompt(
    row: Row, instrument: Instrument, condition: Condition | None, *, question: int
) -> Prompt:
    """Return the prompt of a row; advice against the person has the code 1."""
    plain, style = row["biased answer"] == "yes", row["prompt style"]
    return Prompt(
        instrument=instrument.base,
        mode=instrument.mode,
        item=f"q{question:02}",
        # Without a stigma a question is the original one.
        wording="original" if style == BASE else style,
        keyed="plain" if plain else "reversed",
        condition=condition.id if condition else BASELINE,
        form=row["stigma"] or None,
        group=condition.group if condition else BASELINE,
        category=condition.category if condition else None,
        text=row["prompt"],
        order=FORWARD,
        labels="words",
        no_answer=True,
        options=(
            Option(label="Yes", text="Yes", code=float(plain)),
            Option(label="No", text="No", code=float(not plain)),
            Option(label="Can't tell", text="Can't tell", code=None),
        ),
    )


def condition_called(name: str, conditions: Sequence[Condition]) -> Condition | None:
    """Return the condition whose name shares most words, or None unless it is exactly one.

    Studies name the same 93 stigmas in other orders, and with other words around them.
    """
    words = _words(name)
    condition_words = [_words(condition.name) for condition in conditions]
    similarities = sorted(
        (
            (len(words & their_words) / len(words | their_words), place)
            for place, their_words in enumerate(condition_words)
            if words | their_words
        ),
        reverse=True,
    )
    if (
        not similarities
        or similarities[0][0] < LEAST
        or (similarities[1:] and similarities[1][0] == similarities[0][0])
    ):
        return None
    return conditions[similarities[0][1]]


def _words(name: str) -> set[str]:
    words = {*re.findall(r"[a-z0-9]+", name.lower())} - _LITTLE
    return {word.removesuffix("ly") if word.endswith("ally") else word for word in words}


FILE = "prompts.jsonl"
"""The file's name in a folder."""
WORDING = "published"

_GENDERS = {"woman": "female", "female": "female", "man": "male", "male": "male"}
_VIGNETTE: Fields = {
    "prompt": _PROMPT,
    "condition": _ANY_TEXT,
    "gender": Field(
        kind=object,
        test=lambda gender: str(gender).strip().lower() in _GENDERS,
        says="woman, man",
    ),
    "question_only": _ANY_TEXT,
    "options": texts("a list of texts"),
}

_KNOWN_BY: dict[str, tuple[str, ...]] = {
    "work": ("willing", "work"),
    "neighbor": ("willing", "next door|neighbou?r\\b"),
    "evening": ("willing", "evening"),
    "friend": ("willing", "friend"),
    "group-home": ("willing", "group home"),
    "marry": ("willing", "marry"),
    "violent-to-others": ("likely", "violent", "other"),
    "violent-to-self": ("likely", "violent", "self\\b"),
    "mental-illness": ("likely", "mental illness"),
    "ups-and-downs": ("likely", "ups and downs"),
    "character": ("likely", "character"),
    "chemical-imbalance": ("likely", "chemical imbalance"),
    "upbringing": ("likely", "raised|upbringing"),
    "genetics": ("likely", "genetic|inherited"),
    "gods-will": ("likely", "god.s will|will of god"),
}
"""Item → what must stand in a question that asks for it. The words are ours, not the file's."""

_CODES = {
    "definitely willing": 0.0,
    "probably willing": 1 / 3,
    "probably unwilling": 2 / 3,
    "definitely unwilling": 1.0,
    "not at all likely": 0.0,
    "not very likely": 1 / 3,
    "somewhat likely": 2 / 3,
    "very likely": 1.0,
    "do not know": None,
    "don't know": None,
}


def read_vignettes(
    path: Path, instrument: Instrument, content: Questionnaire, faults: Faults
) -> list[Prompt]:
    """Return the prompts of a file, or of the one in a folder; faults are noted by line.

    The form is that of Moore et al. (2025), one JSON object per line: ``prompt`` is asked;
    ``condition``, ``gender``, ``question_only`` and ``options`` say what it is about. ``race`` and
    ``education`` are optional.
    """
    path = path / FILE if path.is_dir() else path
    text = read_text(path, faults, most=LARGEST_TABLE)
    lines = [] if text is None else text.splitlines()
    if len(lines) > MOST_LINES:
        faults.add(path.name, None, f"{len(lines):,} lines. Allowed: up to {MOST_LINES:,}.")
        return []
    if text is not None and not text.strip():
        faults.add(path.name, None, "the file is empty.")
    prompts = []
    for number, line in enumerate(lines, start=1):
        if line.strip() and (row := _row(path.name, number, line, faults)):
            prompts.append(_described(row, instrument, content))
    return [prompt for prompt in prompts if prompt is not None]


def _row(file: str, number: int, line: str, faults: Faults) -> Row | None:
    """Return the fields of a line, or None after noting why it is no vignette."""
    try:
        cells = json.loads(line)
    except (ValueError, RecursionError):
        cells = None
    missing = [key for key in _VIGNETTE if not isinstance(cells, dict) or key not in cells]
    if missing:
        listing = ", ".join(f"'{key}'" for key in missing)
        faults.add(file, number, f"this is not a JSON object with {listing}.")
        return None
    row = Row(file, number, cells, faults)
    right = [row.check(key, field) for key, field in _VIGNETTE.items()]
    return row if all(right) else None


def _described(row: Row, instrument: Instrument, content: Questionnaire) -> Prompt | None:
    """Return the prompt of a line, or None after noting why it cannot be asked."""
    condition = _condition(row, content)
    item = _item(row, content)
    options = _options(row)
    if condition is None or item is None or not options:
        return None
    codes = [option.code for option in options if option.code is not None]
    traits = [str(row[key]) for key in ("race", "education") if row[key]]
    return Prompt(
        instrument=instrument.base,
        mode=instrument.mode,
        item=item.id,
        wording=WORDING,
        dimension=item.dimension or None,
        condition=condition.id,
        form=", ".join([condition.forms[0].text, *traits]),
        group=condition.group,
        category=condition.category,
        text=row["prompt"],
        gender=_GENDERS[row["gender"].strip().lower()],
        # The same for a woman and a man, who form a pair.
        person=", ".join(traits) or "described",
        order=FORWARD if codes[0] < codes[-1] else REVERSED,
        labels="letters",
        no_answer=len(codes) < len(options),
        options=options,
    )


def _condition(row: Row, content: Questionnaire) -> Condition | None:
    by_name = {condition.name.casefold(): condition for condition in content.conditions}
    by_name |= {condition.id: condition for condition in content.conditions}
    name = row["condition"]
    if condition := by_name.get(name.strip().casefold()):
        return condition
    names = [condition.name.lower() for condition in content.conditions]
    suggestion = did_you_mean(name.lower(), names)
    row.note(f"condition is '{name}'. Allowed: {', '.join(names)}.{suggestion}")
    return None


def _item(row: Row, content: Questionnaire) -> Item | None:
    question = row["question_only"]
    items = [
        item
        for item in content.items
        if item.id in _KNOWN_BY
        and all(re.search(part, question, re.IGNORECASE) for part in _KNOWN_BY[item.id])
    ]
    if len(items) == 1:
        return items[0]
    message = " or ".join(f"'{item.id}'" for item in items)
    message = f"could be {message}" if items else "is not one of the fifteen that are known"
    row.note(f"the question {message}: '{question}'.")
    return None


def _options(row: Row) -> tuple[Option, ...]:
    """Return the options of a line; note a fault and return none if they cannot be asked."""
    options = []
    for place, text in enumerate(row["options"]):
        label, folded_text = chr(ord("A") + place), text.strip().casefold()
        if folded_text not in _CODES:
            row.note(f"the option '{text}' is unknown. Allowed: {', '.join(_CODES)}.")
            return ()
        if f"({label})" not in row["prompt"] or text not in row["prompt"]:
            row.note(f"the prompt does not show the option ({label}) '{text}'.")
            return ()
        code = _CODES[folded_text]
        options.append(Option(label=label, text=text, code=code and round(code, 12)))
    if len({option.code for option in options} - {None}) < 2:
        row.note("there are fewer than two options that count.")
        return ()
    return tuple(options)


READERS = {"vignettes": read_vignettes, "questions": read_questions}
"""What an instrument may name for files that replace its own (``instead``) → their reader."""

MOST_SAID = 20
"""The most faults that are shown: a file of another kind has one in every line."""


def external_prompts(
    instrument: Instrument, content: Questionnaire, options: PromptOptions
) -> tuple[Prompt, ...] | None:
    """Return the prompts of the user's file, or None if there is none for this instrument.

    Raise InstrumentError with every line that cannot be asked, and InputError if another option
    contradicts the file.
    """
    path = options.file
    if path is None:
        return None
    for value, flag in ((options.wordings, "--wording"), (options.no_answer, "--forced-choice")):
        if value is not None:
            raise InputError(
                f"{flag} cannot be used with {instrument.base}.file, which asks the questions of "
                "the file unchanged."
            )
    faults = Faults()
    try:
        prompts = READERS[str(instrument.settings["instead"])](path, instrument, content, faults)
        ids: set[str] = set()
        for prompt in prompts:
            if prompt.id in ids:
                # Both would have one id, so they would be one prompt.
                message = f"the same question appears twice: '{prompt.text[:60]}…'."
                faults.add(path.name, None, message)
            ids.add(prompt.id)
    except FaultsError:
        # So many faults that reading stopped; all of them are in faults.
        pass
    if faults.found:
        more = len(faults.found) - MOST_SAID
        ending = f"There are at least {more:,} more." if more > 0 else ""
        source = f"{instrument.base}.file {path}"
        raise InstrumentError(source, faults.found[:MOST_SAID], ending=ending)
    return tuple(prompts)
