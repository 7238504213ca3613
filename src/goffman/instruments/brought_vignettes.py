"""A file of descriptions with questions, one JSON object a line → prompts, asked as they are.

The form is that of Moore et al. (2025): ``prompt`` is asked; ``condition``, ``gender``,
``question_only`` and ``options`` say what it is about. ``race`` and ``education`` may be there.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goffman.choice_items import Option
from goffman.errors import did_you_mean
from goffman.inputs import LARGEST_TABLE
from goffman.instruments.files import MOST_LINES, Faults, read_text
from goffman.instruments.present import FORWARD, REVERSED
from goffman.records import Condition, Prompt

if TYPE_CHECKING:
    from goffman.records import Instrument, Item, Questionnaire

FILE = "prompts.jsonl"
"""What it is called in a folder."""
WORDING = "published"
LONGEST = 20_000
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
            instrument=instrument.id,
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
            way_out=any(one.code is None for one in options),
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
