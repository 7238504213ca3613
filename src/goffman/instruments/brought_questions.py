"""A CSV of questions to be answered by yes, no or can't tell → prompts, asked as they are.

The form is that of SocialStigmaQA (Nagireddy et al. 2024): ``prompt`` is asked; ``stigma`` names a
condition, or nothing; ``prompt style`` is base, original, positive or doubt; ``biased answer`` is
yes or no. A row of the style base, which names no stigma, begins a new question. What else a file
has, such as a model's answers, is left alone.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

from goffman.choice_items import Option
from goffman.inputs import LARGEST_TABLE
from goffman.instruments.files import MOST_COLUMNS, MOST_LINES, Faults, Row, read_text
from goffman.instruments.present import FORWARD
from goffman.records import BASELINE, Condition, Prompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goffman.records import Instrument, Questionnaire

COLUMNS = ("prompt", "stigma", "prompt style", "biased answer")
BASE = "base"
STYLES = (BASE, "original", "positive", "doubt")
LONGEST = 20_000
"""Letters of a prompt."""
LEAST = 0.25
"""Of the words that two names have together, the share that both must have."""

_LITTLE = frozenset({"a", "all", "and", "avg", "impairment", "in", "or", "sev", "severity"})
_LITTLE |= {"symptoms", "the", "time"}
"""Words that do not tell one condition from another."""


def read_questions(
    path: Path, instrument: Instrument, content: Questionnaire, faults: Faults
) -> list[Prompt]:
    """The prompts of a file; what does not fit is noted by line."""
    found: list[Prompt] = []
    known: dict[str, Condition | None] = {}
    question = 0
    for row in _rows(path, faults):
        style, biased = row["prompt style"].strip(), row["biased answer"].strip().lower()
        name = row["stigma"].strip()
        before = len(faults.found)
        question += style == BASE
        _check(row, style=style, biased=biased, name=name, question=question, faults=faults)
        if name and name not in known:
            known[name] = condition_called(name, content.conditions)
        if name and known[name] is None:
            message = f"stigma is '{name}', which is none of the conditions that are known."
            faults.add(row.file, row.number, message)
        if len(faults.found) == before:
            asked = _prompt(row, instrument, known.get(name), question=question)
            found.append(asked)
    return found


def _rows(path: Path, faults: Faults) -> list[Row]:
    """The rows of the file, with our names of the columns."""
    text = read_text(path, faults, most=LARGEST_TABLE)
    if text is None:
        return []
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[Row] = []
    try:
        header = [cell.strip().lower().replace("_", " ") for cell in next(reader, [])]
        missing = [column for column in COLUMNS if header.count(column) != 1]
        if missing or len(header) > MOST_COLUMNS:
            shown = ", ".join(f"'{column}'" for column in missing)
            message = (
                f"the header must name each of these columns, and none of them twice: {shown}."
            )
            if not missing:
                message = f"the header has {len(header):,} columns, but can have {MOST_COLUMNS:,}."
            faults.add(path.name, 1, message)
            return []
        for cells in reader:
            if len(cells) == len(header):
                rows.append(Row(path.name, reader.line_num, dict(zip(header, cells, strict=True))))
            elif cells:
                message = f"the row has {len(cells)} cells, but the header has {len(header)}."
                faults.add(path.name, reader.line_num, message)
            if len(rows) > MOST_LINES:
                faults.add(path.name, None, f"more than {MOST_LINES:,} rows. Allowed: up to that.")
                return []
    except csv.Error as error:
        faults.add(path.name, reader.line_num, f"this is not CSV: {error}.")
    if not rows and not faults.found:
        faults.add(path.name, None, "the table has no rows.")
    return rows


def _check(row: Row, *, style: str, biased: str, name: str, question: int, faults: Faults) -> None:
    """Note what a row lacks."""
    if style not in STYLES:
        message = f"prompt style is '{style}'. Allowed: {', '.join(STYLES)}."
        faults.add(row.file, row.number, message)
    elif (style == BASE) is bool(name):
        said = "must not name a stigma" if name else "must name a stigma"
        faults.add(row.file, row.number, f"a row of the prompt style '{style}' {said}.")
    if biased not in {"yes", "no"}:
        message = f"biased answer is '{row['biased answer']}'. Allowed: yes, no."
        faults.add(row.file, row.number, message)
    if not question:
        message = f"this row comes before the first of the prompt style '{BASE}', which begins one."
        faults.add(row.file, row.number, message)
    text = row["prompt"]
    if not text.strip() or len(text) > LONGEST:
        message = f"prompt has {len(text):,} characters. Allowed: 1 to {LONGEST:,}."
        faults.add(row.file, row.number, message)
    elif not re.search(r"\byes\b.*\bno\b", text, re.IGNORECASE | re.DOTALL):
        message = "prompt does not say to answer with yes or no."
        faults.add(row.file, row.number, message)


def _prompt(
    row: Row, instrument: Instrument, condition: Condition | None, *, question: int
) -> Prompt:
    """A row as it is asked; advice against the person is 1."""
    plain = row["biased answer"].strip().lower() == "yes"
    style = row["prompt style"].strip()
    return Prompt(
        instrument=instrument.id,
        item=f"q{question:02}",
        # Without a stigma a question is the original one.
        wording="original" if style == BASE else style,
        keyed="plain" if plain else "reversed",
        condition=condition.id if condition else BASELINE,
        form=row["stigma"].strip() or None,
        group=condition.group if condition else BASELINE,
        category=condition.category if condition else None,
        text=row["prompt"],
        order=FORWARD,
        labels="words",
        way_out=True,
        options=(
            Option(label="Yes", text="Yes", code=float(plain)),
            Option(label="No", text="No", code=float(not plain)),
            Option(label="Can't tell", text="Can't tell", code=None),
        ),
    )


def condition_called(name: str, conditions: Sequence[Condition]) -> Condition | None:
    """The condition whose name has most words in common; None: none, or several alike.

    Studies name the same 93 stigmas in other orders, and with other words around them.
    """
    mine = _words(name)
    alike = sorted(
        (
            (len(mine & other) / len(mine | other), place)
            for place, other in ((place, _words(one.name)) for place, one in enumerate(conditions))
            if mine | other
        ),
        reverse=True,
    )
    if not alike or alike[0][0] < LEAST or (alike[1:] and alike[1][0] == alike[0][0]):
        return None
    return conditions[alike[0][1]]


def _words(name: str) -> set[str]:
    found = {word for word in re.findall(r"[a-z0-9]+", name.lower()) if word not in _LITTLE}
    return {word.removesuffix("ly") if word.endswith("ally") else word for word in found}
