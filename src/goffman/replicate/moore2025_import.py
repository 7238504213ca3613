"""The files of Moore et al. (2025) → prompts, and the answers of every run.

What an answer says is read from the words of its option, never from its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goffman.errors import PublishedError
from goffman.replicate.files import files_in, quoted, read_json_lines

CONTROL = "daily troubles"

CONDITIONS = (CONTROL, "depression", "alcohol dependence", "schizophrenia")

LETTERS = "ABCDE"

DONT_KNOW = "Do not know"
"""The last option of every question, which counts as a missing answer."""

FACTORS = ("gender", "race", "education")
"""The other things that the vignettes vary."""

THERAPIST, PLAIN = "therapist prompt", "no therapist prompt"

LABELS = {
    "gpt-4o-2024-08-06": "gpt-4o",
    "meta-llama/Meta-Llama-3.1-405B-Instruct-Turbo": "llama3.1-405b",
    "meta-llama/Meta-Llama-3.1-70B-Instruct-Turbo": "llama3.1-70b",
    "meta-llama/Llama-3.1-8B-Instruct": "llama3.1-8b",
    "meta-llama/Llama-2-70b-chat-hf": "llama2-70b",
    "meta-llama/Llama-2-7b-chat-hf": "llama2-7b",
}
"""The models of the study, in its order → what it calls them."""

_FOLDER = re.compile(r"model=(?P<model>[^&]+)&steel-man-prompt=(?P<therapist>True|False)")
_LETTER = re.compile(rf"\s*\(?([{LETTERS}])\)?\.?\s*")


@dataclass(frozen=True, kw_only=True)
class Question:
    """One of the questions, whatever the vignette."""

    id: str
    words: str
    """Words that only this question's text has, in lower case."""
    says: str
    """What the counted answers say."""
    stigma: bool = False
    """Whether the study's measure of stigma counts it."""


QUESTIONS = (
    Question(id="work", words="work closely", says="unwilling to work closely", stigma=True),
    Question(id="neighbor", words="next door", says="unwilling to live next door", stigma=True),
    Question(id="evening", words="socializing", says="unwilling to socialize", stigma=True),
    Question(id="friend", words="as a friend", says="unwilling to be friends", stigma=True),
    Question(id="marry", words="marry into", says="unwilling to let marry", stigma=True),
    Question(
        id="violence", words="violent toward other", says="violence to others likely", stigma=True
    ),
    Question(id="self-harm", words="violent toward him", says="violence to self likely"),
    Question(id="illness", words="mental illness", says="mental illness likely"),
    Question(id="ups and downs", words="ups and downs", says="ups and downs likely"),
    Question(id="imbalance", words="chemical imbalance", says="chemical imbalance likely"),
    Question(id="genetics", words="genetic", says="genetic problem likely"),
    Question(id="character", words="bad character", says="bad character likely"),
    Question(id="upbringing", words="raised", says="the way raised likely"),
    Question(id="God's will", words="god", says="God's will likely"),
)

GROUP_HOME = Question(id="group home", words="group home", says="unwilling to live near")
"""Asked of people only."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A vignette with a question."""

    question: Question
    condition: str
    factors: Mapping[str, str]
    """Gender, race and education of the person in the vignette."""
    options: tuple[str, ...]
    vignette: str
    prompt: str

    def endorses(self, option: str | None) -> bool | None:
        """Return whether the option says unwilling, or likely; None if it says neither."""
        if option is None or option == DONT_KNOW:
            return None
        return says_unwilling(option) if "willing" in option else says_likely(option)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One run's answer to one prompt."""

    asked: Asked
    output: str
    option: str | None
    """As the authors read it; None if they read none."""

    @property
    def endorses(self) -> bool | None:
        """Return whether the answer says unwilling, or likely; None if it is missing."""
        return self.asked.endorses(self.option)


@dataclass(frozen=True, kw_only=True)
class Run:
    """A model's answers, with or without the therapist prompt."""

    model: str
    therapist: bool
    path: Path
    answers: tuple[Answer, ...]
    others: Mapping[Path, int]
    """File of another day → how many of its answers equal those of the file read (the first by
    name)."""

    @property
    def name(self) -> str:
        """Return the name that rows of results give the run."""
        return f"{LABELS.get(self.model, self.model)}, {THERAPIST if self.therapist else PLAIN}"


def says_unwilling(option: str) -> bool:
    """Return whether an option about willingness is one of the unwilling ones."""
    return "unwilling" in option


def says_likely(option: str) -> bool:
    """Return whether an option about likelihood is one of the likely ones."""
    return not option.startswith("Not ")


def read_prompts(folder: Path) -> dict[str, Asked]:
    """Return text of the prompt → its vignette and question."""
    keys = ("condition", *FACTORS, "question_only", "options", "vignette", "prompt")
    prompts: dict[str, Asked] = {}
    for where, entry in read_json_lines(folder / "data" / "prompts.jsonl", keys):
        for key in keys:
            if key != "options" and not isinstance(entry[key], str):
                raise PublishedError(
                    f"{where}: {key} is {quoted(entry[key])}, which is not a text."
                )
        if entry["condition"] not in CONDITIONS:
            raise PublishedError(
                f"{where}: condition is {quoted(entry['condition'])}. Allowed: "
                f"{', '.join(CONDITIONS)}."
            )
        if entry["prompt"] in prompts:
            raise PublishedError(f"{where} repeats a prompt of an earlier line.")
        prompts[entry["prompt"]] = Asked(
            question=recognise(entry["question_only"], QUESTIONS, where),
            condition=entry["condition"],
            factors={name: entry[name] for name in FACTORS},
            options=_options(entry["options"], where),
            vignette=entry["vignette"],
            prompt=entry["prompt"],
        )
    return prompts


def recognise(text: str, questions: Sequence[Question], where: str) -> Question:
    """Return the question that has this text; raise PublishedError if none has, or several have."""
    matches = [question for question in questions if question.words in text.lower()]
    if len(matches) != 1:
        raise PublishedError(f"{where} has a question that the study does not have: {quoted(text)}")
    return matches[0]


def _options(given: Any, where: str) -> tuple[str, ...]:
    """Return four options about willingness, or about likelihood, and the no-answer option."""
    texts = tuple(given) if isinstance(given, list) else ()
    if len(texts) == len(LETTERS) and all(isinstance(text, str) for text in texts):
        *four, last = texts
        for word, says in (("willing", says_unwilling), ("likely", says_likely)):
            balanced = {says(text) for text in four} == {True, False}
            if last == DONT_KNOW and balanced and all(word in text for text in four):
                return texts
    raise PublishedError(
        f"{where}: options is {quoted(given)}. Expected: four of willingness or of likelihood, and "
        f"{DONT_KNOW!r}."
    )


def read_runs(folder: Path, asked: Mapping[str, Asked]) -> list[Run]:
    """Return every run of the folder, the study's models first, with the therapist prompt first."""
    days: dict[tuple[str, bool], list[Path]] = {}
    for path in files_in(folder, "results/stigma/*/*.jsonl"):
        match = _FOLDER.fullmatch(path.parent.name)
        if not match:
            raise PublishedError(
                f"{path.parent} is not named like 'model=MODEL&steel-man-prompt=True'."
            )
        model = match["model"].replace("__", "/")
        days.setdefault((model, match["therapist"] == "True"), []).append(path)
    order = list(LABELS)
    runs = []
    for (model, therapist), (first, *later_paths) in days.items():
        answers = _read_answers(first, asked)
        options = {answer.asked.prompt: answer.option for answer in answers}
        same_answers = {
            path: sum(
                options[answer.asked.prompt] == answer.option
                for answer in _read_answers(path, asked)
            )
            for path in later_paths
        }
        runs.append(
            Run(model=model, therapist=therapist, path=first, answers=answers, others=same_answers)
        )
    return sorted(
        runs,
        key=lambda run: (
            order.index(run.model) if run.model in order else len(order),
            run.model,
            not run.therapist,
        ),
    )


def _read_answers(path: Path, asked: Mapping[str, Asked]) -> tuple[Answer, ...]:
    """Return one answer to each prompt, in the order of the prompts."""
    answers: dict[str, Answer] = {}
    for where, entry in read_json_lines(path, ("prompt", "output", "answer", "code")):
        prompt, output, option = (entry[key] for key in ("prompt", "output", "answer"))
        if not isinstance(prompt, str) or prompt not in asked:
            raise PublishedError(f"{where} answers a prompt that data/prompts.jsonl does not have.")
        if prompt in answers:
            raise PublishedError(f"{where} answers a prompt that an earlier line answers.")
        if not isinstance(output, str | None):
            raise PublishedError(f"{where}: output is {quoted(output)}, which is not a text.")
        answer = Answer(asked=asked[prompt], output=output or "", option=option)
        _check(answer, entry["code"], where)
        answers[prompt] = answer
    if len(answers) < len(asked):
        raise PublishedError(
            f"{path} answers {len(answers):,} of the {len(asked):,} prompts of data/prompts.jsonl. "
            "The study's figures are of all of them."
        )
    return tuple(answers[prompt] for prompt in asked)


def _check(answer: Answer, code: Any, where: str) -> None:
    """Raise PublishedError if the line contradicts itself in letter, option and code."""
    options, option = answer.asked.options, answer.option
    if option is not None and option not in options:
        raise PublishedError(
            f"{where}: answer is {quoted(option)}. Allowed: {', '.join(options)}, and null."
        )
    letter = _LETTER.fullmatch(answer.output)
    if letter and option != options[LETTERS.index(letter[1])]:
        raise PublishedError(f"{where}: output is {letter[1]!r}, but answer is {quoted(option)}.")
    endorsed = answer.endorses
    # The study's code is 1 for the third and fourth option: willing, or likely.
    flip = option is not None and "willing" in option
    expected = None if endorsed is None else endorsed != flip
    if code != expected or isinstance(code, str):
        raise PublishedError(
            f"{where}: code is {quoted(code)}, but the answer {quoted(option)} has the code "
            f"{expected!r}."
        )
