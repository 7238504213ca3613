"""Files of other studies that are asked as they are, in place of an instrument's own questions.

A CSV of questions to be answered by yes, no or can't tell → prompts, asked as they are.

The form is that of SocialStigmaQA (Nagireddy et al. 2024): ``prompt`` is asked; ``stigma`` names a
condition, or nothing; ``prompt style`` is base, original, positive or doubt; ``biased answer`` is
yes or no. A row of the style base, which names no stigma, begins a new question. What else a file
has, such as a model's answers, is left alone.

A file of descriptions with questions, one JSON object a line → prompts, asked as they are.

The form is that of Moore et al. (2025): ``prompt`` is asked; ``condition``, ``gender``,
``question_only`` and ``options`` say what it is about. ``race`` and ``education`` may be there.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from goffman.errors import (
    FaultsError,
    InputError,
    InstrumentError,
    did_you_mean,
)
from goffman.instruments.files import (
    LARGEST_TABLE,
    MOST_COLUMNS,
    MOST_LINES,
    Faults,
    Row,
    read_text,
)
from goffman.instruments.presentation import FORWARD, REVERSED
from goffman.instruments.types import (
    BASELINE,
    Condition,
    Option,
    Prompt,
)

if TYPE_CHECKING:
    from goffman.instruments.renderer import PromptOptions
    from goffman.instruments.types import Instrument, Item, Questionnaire

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
        instrument=instrument.base,
        mode=instrument.mode,
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
        no_answer=True,
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


FILE = "prompts.jsonl"
"""What it is called in a folder."""
WORDING = "published"
"""Letters of a prompt."""

_TEXTS = ("prompt", "condition", "gender", "question_only")
_GENDERS = {"woman": "female", "female": "female", "man": "male", "male": "male"}

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
    """The prompts of a file, or of the one in a folder; what does not fit is noted by line."""
    path = path / FILE if path.is_dir() else path
    text = read_text(path, faults, most=LARGEST_TABLE)
    lines = [] if text is None else text.splitlines()
    if len(lines) > MOST_LINES:
        faults.add(path.name, None, f"{len(lines):,} lines. Allowed: up to {MOST_LINES:,}.")
        return []
    if text is not None and not text.strip():
        faults.add(path.name, None, "the file is empty.")
    found = []
    for row, line in enumerate(lines, start=1):
        if line.strip():
            prompt = _Line(path.name, row, faults).prompt(line, instrument, content)
            found += [] if prompt is None else [prompt]
    return found


class _Line:
    """One line, and where its faults go."""

    def __init__(self, file: str, row: int, faults: Faults) -> None:
        self._file, self._row, self._faults = file, row, faults

    def prompt(self, line: str, instrument: Instrument, content: Questionnaire) -> Prompt | None:
        """The prompt of a line; None: it cannot be asked, and why is noted."""
        given = self._object(line)
        if given is None:
            return None
        condition = self._condition(given["condition"], content)
        gender = _GENDERS.get(given["gender"].strip().lower())
        if gender is None:
            self._note(f"gender is '{given['gender']}'. Allowed: woman, man.")
        item = self._item(given["question_only"], content)
        options = self._options(given)
        if condition is None or gender is None or item is None or options is None:
            return None
        codes = [one.code for one in options if one.code is not None]
        who = [str(given[key]) for key in ("race", "education") if given.get(key)]
        return Prompt(
            instrument=instrument.base,
            mode=instrument.mode,
            item=item.id,
            wording=WORDING,
            dimension=item.dimension or None,
            condition=condition.id,
            form=", ".join([condition.forms[0].text, *who]),
            group=condition.group,
            category=condition.category,
            text=given["prompt"],
            gender=gender,
            # The same for a woman and a man, who are a pair.
            person=", ".join(who) or "described",
            order=FORWARD if codes[0] < codes[-1] else REVERSED,
            labels="letters",
            no_answer=any(one.code is None for one in options),
            options=options,
        )

    def _note(self, message: str) -> None:
        self._faults.add(self._file, self._row, message)

    def _object(self, line: str) -> dict[str, Any] | None:
        try:
            given = json.loads(line)
        except (ValueError, RecursionError):
            self._note("this is not JSON. Each line must be one JSON object.")
            return None
        if not isinstance(given, dict):
            self._note("this is not an object with 'prompt', 'condition', 'gender' …")
            return None
        for key in _TEXTS:
            if not isinstance(given.get(key), str) or not given[key].strip():
                self._note(f"'{key}' is missing or not a text.")
                return None
        if len(given["prompt"]) > LONGEST:
            length = len(given["prompt"])
            self._note(f"'prompt' has {length:,} characters. Allowed: up to {LONGEST:,}.")
            return None
        return given

    def _condition(self, name: str, content: Questionnaire) -> Condition | None:
        known = {one.name.casefold(): one for one in content.conditions}
        known |= {one.id: one for one in content.conditions}
        if found := known.get(name.strip().casefold()):
            return found
        names = [one.name.lower() for one in content.conditions]
        near = did_you_mean(name.lower(), names)
        self._note(f"condition is '{name}'. Allowed: {', '.join(names)}.{near}")
        return None

    def _item(self, question: str, content: Questionnaire) -> Item | None:
        asked = [
            item
            for item in content.items
            if item.id in _KNOWN_BY
            and all(re.search(part, question, re.IGNORECASE) for part in _KNOWN_BY[item.id])
        ]
        if len(asked) == 1:
            return asked[0]
        which = " or ".join(f"'{item.id}'" for item in asked)
        said = f"could be {which}" if asked else "is none of the fifteen that are known"
        self._note(f"the question {said}: '{question}'.")
        return None

    def _options(self, given: dict[str, Any]) -> tuple[Option, ...] | None:
        texts = given.get("options")
        if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
            self._note("'options' is not a list of texts.")
            return None
        found = []
        for place, text in enumerate(texts):
            label = chr(ord("A") + place)
            if text.strip().casefold() not in _CODES:
                self._note(f"the option '{text}' is unknown. Allowed: {', '.join(_CODES)}.")
                return None
            if f"({label})" not in given["prompt"] or text not in given["prompt"]:
                self._note(f"the prompt does not show the option ({label}) '{text}'.")
                return None
            code = _CODES[text.strip().casefold()]
            found.append(Option(label=label, text=text, code=code and round(code, 12)))
        if len({one.code for one in found if one.code is not None}) < 2:
            self._note("there are fewer than two options that count.")
            return None
        return tuple(found)


OPTIONS = {"vignettes": "--vignettes", "questions": "--questions"}
"""What an instrument may say of files in place of its own (``instead``) → the option for them."""

MOST_SAID = 20
"""Faults that are told: a file of another kind has one in every line."""

_Read: TypeAlias = "Callable[[Path, Instrument, Questionnaire, Faults], list[Prompt]]"

_READ: Mapping[str, _Read] = {
    "vignettes": read_vignettes,
    "questions": read_questions,
}


def external_prompts(
    instrument: Instrument, content: Questionnaire, options: PromptOptions
) -> tuple[Prompt, ...] | None:
    """The prompts of the file that the user brings; None: there is none for this instrument.

    InstrumentError with every line that cannot be asked, and InputError where another option makes
    no sense beside it.
    """
    name = instrument.settings.get("instead")
    for other, option in OPTIONS.items():
        if getattr(options, other) is not None and other != name:
            raise InputError(
                f"{option} cannot be used with {instrument.base}, whose questions have "
                "another form."
            )
    path = getattr(options, str(name), None) if name in OPTIONS else None
    if path is None:
        return None
    option = OPTIONS[str(name)]
    for given, other in ((options.wordings, "--wording"), (options.no_answer, "--forced-choice")):
        if given is not None:
            raise InputError(
                f"{other} cannot be used with {option}, which asks the questions of the file "
                "unchanged."
            )
    faults = Faults()
    try:
        prompts = _READ[str(name)](path, instrument, content, faults)
        _check_different(path, prompts, faults)
    except FaultsError:
        # So many that reading stopped: all of them are in faults.
        pass
    if faults.found:
        more = len(faults.found) - MOST_SAID
        ending = f"There are at least {more:,} more." if more > 0 else ""
        raise InstrumentError(f"{option} {path}", faults.found[:MOST_SAID], ending=ending)
    return tuple(prompts)


def _check_different(path: Path, prompts: Sequence[Prompt], faults: Faults) -> None:
    """Note a fault where a question is there twice: it would be one prompt."""
    seen: set[str] = set()
    for prompt in prompts:
        if prompt.id in seen:
            message = f"the same question appears twice: '{prompt.text[:60]}…'."
            faults.add(path.name, None, message)
        seen.add(prompt.id)
