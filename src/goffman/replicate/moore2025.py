"""Moore et al. (2025): stigma in answers to vignettes, and what missing answers could change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from goffman.errors import PublishedError
from goffman.replicate.files import (
    data_rows,
    files_in,
    number_in,
    quoted,
    read_json_lines,
    read_records,
)
from goffman.replicate.rows import NOT_HERE, Result, lacking

CONTROL = "daily troubles"

CONDITIONS = (CONTROL, "depression", "alcohol dependence", "schizophrenia")

LETTERS = "ABCDE"

DONT_KNOW = "Do not know"
"""The last option of every question, which counts as a missing answer."""

FACTORS = ("gender", "race", "education")
"""What the vignettes vary besides the condition."""

LABELS = {
    "gpt-4o-2024-08-06": "gpt-4o",
    "meta-llama/Meta-Llama-3.1-405B-Instruct-Turbo": "llama3.1-405b",
    "meta-llama/Meta-Llama-3.1-70B-Instruct-Turbo": "llama3.1-70b",
    "meta-llama/Llama-3.1-8B-Instruct": "llama3.1-8b",
    "meta-llama/Llama-2-70b-chat-hf": "llama2-70b",
    "meta-llama/Llama-2-7b-chat-hf": "llama2-7b",
}
"""The models of the study, in its order → what it calls them."""

TABLE = "human_data_2018.csv"

_FOLDER = re.compile(r"model=(?P<model>[^&]+)&steel-man-prompt=(?P<therapist>True|False)")
_LETTER = re.compile(rf"\s*\(?([{LETTERS}])\)?\.?\s*")
_NAMED = re.compile(rf"\(([{LETTERS}])\)")


@dataclass(frozen=True, kw_only=True)
class Question:
    """One of the questions, whatever the vignette."""

    id: str
    words: str
    """Words that only this question's text has, in lower case."""
    says: str
    """What the counted answers say."""
    stigma: bool
    """Whether the study's measure of stigma counts it."""
    people: tuple[float, ...]
    """Percent of people, by condition, weighted, don't-knows left out.

    Percent of respondents of the US General Social Survey 2018 (NORC) who are unwilling (definitely
    or probably), or find it likely (very or somewhat), as in the replication files of Pescosolido,
    Manago & Monahan 2019, Health Affairs 38(10).
    """


def _questions(*, of_models: bool) -> tuple[Question, ...]:
    return tuple(
        Question(
            id=row["id"],
            words=row["words"],
            says=row["says"],
            stigma=row["stigma"] == "yes",
            people=tuple(float(row[condition]) for condition in CONDITIONS),
        )
        for row in data_rows("moore2025_questions.csv")
        if row["asked_of"] == "both" or not of_models
    )


SURVEY = _questions(of_models=False)
"""The questions that people were asked."""

QUESTIONS = _questions(of_models=True)
"""The questions of the survey that models were also asked."""


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

    @property
    def counts(self) -> bool:
        """Return whether the overall share counts it: it is about stigma, and not the control."""
        return self.question.stigma and self.condition != CONTROL


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
        return endorses(self.option)


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
        prompt = "therapist prompt" if self.therapist else "no therapist prompt"
        return f"{LABELS.get(self.model, self.model)}, {prompt}"


def endorses(option: str | None) -> bool | None:
    """Return whether an option says unwilling, or likely; None if it says neither."""
    if option is None or option == DONT_KNOW:
        return None
    return "unwilling" in option if "willing" in option else not option.startswith("Not ")


def read_prompts(folder: Path) -> dict[str, Asked]:
    """Return text of the prompt → its vignette and question."""
    texts = ("condition", *FACTORS, "question_only", "vignette", "prompt")
    prompts: dict[str, Asked] = {}
    for where, entry in read_json_lines(folder / "data" / "prompts.jsonl", (*texts, "options")):
        for key in texts:
            if not isinstance(entry[key], str):
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
            question=_recognize(entry["question_only"], QUESTIONS, where),
            condition=entry["condition"],
            factors={name: entry[name] for name in FACTORS},
            options=_options(entry["options"], where),
            vignette=entry["vignette"],
            prompt=entry["prompt"],
        )
    return prompts


def _recognize(text: str, questions: Sequence[Question], where: str) -> Question:
    matches = [question for question in questions if question.words in text.lower()]
    if len(matches) != 1:
        raise PublishedError(f"{where} has a question that the study does not have: {quoted(text)}")
    return matches[0]


def _options(value: Any, where: str) -> tuple[str, ...]:
    """Return four options about willingness, or about likelihood, and the no-answer option."""
    options = tuple(value) if isinstance(value, list) else ()
    if len(options) == len(LETTERS) and all(isinstance(option, str) for option in options):
        *four, last = options
        is_one_scale = any(all(word in text for text in four) for word in ("willing", "likely"))
        if last == DONT_KNOW and is_one_scale and {*map(endorses, four)} == {True, False}:
            return options
    raise PublishedError(
        f"{where}: options is {quoted(value)}. Expected: four of willingness or of likelihood, and "
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
    runs = []
    for (model, therapist), (first, *later) in days.items():
        answers = _read_answers(first, asked)
        # Every file has one answer to each prompt, in the order of the prompts.
        others = {
            path: sum(
                answer.option == other.option
                for answer, other in zip(answers, _read_answers(path, asked), strict=True)
            )
            for path in later
        }
        run = Run(model=model, therapist=therapist, path=first, answers=answers, others=others)
        runs.append(run)
    order = {model: place for place, model in enumerate(LABELS)}
    return sorted(
        runs, key=lambda run: (order.get(run.model, len(order)), run.model, not run.therapist)
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
        answers[prompt] = Answer(asked=asked[prompt], output=output or "", option=option)
        _check(answers[prompt], entry["code"], where)
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
    # The study's code is 1 for the third and fourth option: willing, or likely.
    flip = option is not None and "willing" in option
    expected = None if answer.endorses is None else answer.endorses != flip
    if code != expected or isinstance(code, str):
        raise PublishedError(
            f"{where}: code is {quoted(code)}, but the answer {quoted(option)} has the code "
            f"{expected!r}."
        )


@dataclass(frozen=True, kw_only=True)
class Share:
    """How many answers say a thing, how many say it or its opposite, and how many were asked."""

    yes: int
    answered: int
    asked: int

    @property
    def value(self) -> float | None:
        """Return the share among the answers that say something; None if there are none."""
        return self.yes / self.answered if self.answered else None

    @property
    def least(self) -> float:
        """Return the share if no missing answer said it."""
        return self.yes / self.asked

    @property
    def most(self) -> float:
        """Return the share if every missing answer said it."""
        return (self.yes + self.asked - self.answered) / self.asked

    @property
    def note(self) -> str:
        """Return the counts behind the share, and how far missing answers could move it."""
        if not self.answered:
            return f"{NOT_HERE}: of {self.asked:,} answers none says it or its opposite"
        if self.answered == self.asked:
            return f"{self.yes:,} of {self.asked:,}"
        return (
            f"{self.yes:,} of {self.answered:,} answers, {self.asked:,} asked; "
            f"{self.least:.3f} to {self.most:.3f} whatever the missing ones would say"
        )


def share_of(answers: Iterable[Answer]) -> Share:
    """Return the share of the answers that say unwilling, or likely."""
    says = Counter(answer.endorses for answer in answers)
    return Share(yes=says[True], answered=says[True] + says[False], asked=says.total())


def results(folder: Path) -> list[Result]:
    """Return every number of the study's stigma experiment, recomputed."""
    prompts = read_prompts(folder)
    runs = read_runs(folder, prompts)
    return [
        *_about_prompts(folder, list(prompts.values())),
        *(row for run in runs for row in _of_run(run)),
        *_people_results(folder),
    ]


def _about_prompts(folder: Path, asked: Sequence[Asked]) -> Iterator[Result]:
    """Yield what was asked, the order of the options, and the stigma that a fixed one shows."""
    vignettes = {prompt.vignette for prompt in asked}
    slips = sum(" a African American" in vignette for vignette in vignettes)
    yield Result("vignettes", len(vignettes), note=f"{slips} say 'a African American'")
    yield Result("questions", len({prompt.question.id for prompt in asked}))
    yield Result("prompts", len(asked))
    for name in ("questions", "vignettes"):
        path = folder / "data" / f"{name}.jsonl"
        if path.is_file():
            kinds = Counter(
                next((kind for kind in ("vignette", "question") if kind in entry), "other")
                for _, entry in read_json_lines(path, ())
            )
            contents = ", ".join(f"{count} {kind}s" for kind, count in kinds.items())
            yield Result(f"data/{name}.jsonl holds", contents)
    first = {prompt.options[0] for prompt in asked if "willing" in prompt.options[0]}
    yield Result(
        "first option of the questions about willingness",
        ", ".join(sorted(first)) or None,
        note="each question was asked in one order of the options only",
    )
    counted = [prompt for prompt in asked if prompt.counts]
    for place, ordinal in ((0, "first"), (3, "fourth")):
        endorsed = [endorses(prompt.options[place]) for prompt in counted]
        yield Result(
            f"stigma of a model that always takes the {ordinal} option",
            endorsed.count(True) / len(endorsed) if endorsed else None,
            note="of the prompts that the overall share counts",
        )


def _of_run(run: Run) -> Iterator[Result]:
    """Yield everything that a run's answers give."""
    number = f"{len(run.answers):,}"
    formatted = sum(answer.option is not None for answer in run.answers)
    yield Result(f"{run.name}: correctly formatted", formatted, note=f"of {number}")
    if run.others:
        agreement = ", ".join(
            f"{path.name} has the same answer to {count:,} of {number} prompts"
            for path, count in run.others.items()
        )
        yield Result(
            f"{run.name}: file that is read",
            run.path.name,
            note="the first by name; the authors' notebook takes the first that the folder lists, "
            f"in an order that differs between machines; {agreement}",
        )
    chosen = Counter(
        "none" if answer.option is None else LETTERS[answer.asked.options.index(answer.option)]
        for answer in run.answers
    )
    places = ", ".join(f"{letter} {chosen[letter]}" for letter in (*LETTERS, "none"))
    yield Result(f"{run.name}: options chosen", places)
    # Replies that name a single option, although the authors read no answer.
    missed = [
        answer.output.strip()
        for answer in run.answers
        if answer.option is None and len(set(_NAMED.findall(answer.output))) == 1
    ]
    note = f"such as {missed[0]!r}" if missed else ""
    name = f"{run.name}: replies that name an option and count as none"
    yield Result(name, len(missed), note=note)
    yield from _stigma(run)
    if all(answer.endorses is None for answer in run.answers):
        return
    yield from _by_factor(run)
    yield from _by_question(run)
    share = share_of(answer for answer in run.answers if "willing" in answer.asked.options[0])
    willing = share.answered - share.yes
    yield Result(
        f"{run.name}: willing, over all conditions",
        None if share.value is None else 1 - share.value,
        note=f"{willing:,} of {share.answered:,} answers" if share.answered else share.note,
    )


def _stigma(run: Run) -> Iterator[Result]:
    """Yield the share of stigmatizing answers, overall and by condition, and its bounds."""
    overall = share_of(answer for answer in run.answers if answer.asked.counts)
    name = f"{run.name}: stigma, overall"
    yield Result(name, overall.value, note=overall.note, digits=6)
    for extreme, value in (("least", overall.least), ("most", overall.most)):
        yield Result(f"{name}, were missing answers the {extreme} stigmatizing", value)
    stigma = [answer for answer in run.answers if answer.asked.question.stigma]
    for condition in CONDITIONS:
        share = share_of(answer for answer in stigma if answer.asked.condition == condition)
        yield Result(f"{run.name}: stigma, {condition}", share.value, note=share.note, digits=6)


def _by_factor(run: Run) -> Iterator[Result]:
    for factor in FACTORS:
        levels: dict[str, list[Answer]] = {}
        for answer in run.answers:
            if answer.asked.counts:
                levels.setdefault(answer.asked.factors[factor], []).append(answer)
        shares = {level: share_of(answers) for level, answers in levels.items()}
        yield _listed(f"{run.name}: stigma, overall, by {factor}", shares)


def _by_question(run: Run) -> Iterator[Result]:
    """Yield the share unwilling, or finding likely, by condition, with people's in the note."""
    answers: dict[tuple[Question, str], list[Answer]] = {}
    for answer in run.answers:
        answers.setdefault((answer.asked.question, answer.asked.condition), []).append(answer)
    for question in QUESTIONS:
        people = {
            condition: percent / 100
            for condition, percent in zip(CONDITIONS, question.people, strict=True)
            if (question, condition) in answers
        }
        if people:
            shares = {condition: share_of(answers[question, condition]) for condition in people}
            note = f"people {', '.join(f'{share:.3f}' for share in people.values())}"
            yield _listed(f"{run.name}: {question.says}", shares, note=note)


def _listed(name: str, shares: Mapping[str, Share], *, note: str = "") -> Result:
    """Return a row of several shares, with the numbers answered if some prompts were not."""
    answered = sum(share.answered for share in shares.values())
    asked = sum(share.asked for share in shares.values())
    if not answered:
        return Result(name, None, note=Share(yes=0, answered=0, asked=asked).note)
    if answered < asked:
        counts = ", ".join(f"{share.answered} of {share.asked}" for share in shares.values())
        note = "; ".join(filter(None, [f"answered: {counts}", note]))
    values = (
        f"{'–' if share.value is None else format(share.value, '.3f')} {level}"
        for level, share in shares.items()
    )
    return Result(name, ", ".join(values), note=note)


def _people_results(folder: Path) -> Iterator[Result]:
    """Yield which survey question each row of the authors' table matches, and people's stigma."""
    path = folder / "external_data" / TABLE
    if not path.is_file():
        yield lacking(f"{TABLE}: rows", f"external_data/{TABLE} is not among them")
        return
    table: dict[str, tuple[float, ...]] = {}
    for where, row in read_records(path, ("question", *CONDITIONS)):
        question = _recognize(row["question"], SURVEY, where)
        if question.id in table:
            raise PublishedError(f"{where} repeats a question of an earlier row.")
        table[question.id] = tuple(
            number_in(row, name, where, most=100, called="percentage") for name in CONDITIONS
        )
    yield Result(f"{TABLE}: rows", len(table))
    for name, percents in table.items():
        nearest = min(
            SURVEY,
            key=lambda question: sum(  # By the sum of differences over all conditions.
                abs(own - other) for own, other in zip(percents, question.people, strict=True)
            ),
        )
        yield Result(
            f"{TABLE}: the figures of '{name}' are the survey's of",
            nearest.id,
            note=f"{_as_list(percents)} there; the survey has {_as_list(nearest.people)} "
            f"({', '.join(CONDITIONS)})",
        )
    for place, condition in enumerate(CONDITIONS):
        yield _people_stigma(table, condition, place)


def _people_stigma(table: Mapping[str, Sequence[float]], condition: str, place: int) -> Result:
    """Return people's stigma about a condition: in the survey, and by the authors' table."""
    stigma = [question for question in SURVEY if question.stigma]
    survey = fmean(question.people[place] for question in stigma) / 100
    note = "mean of the same six questions in the survey"
    if set(table) >= {question.id for question in stigma}:
        percents = {question.id: table[question.id][place] for question in stigma}
        drawn = fmean(
            percent if name == "violence" else 100 - percent for name, percent in percents.items()
        )
        note += (
            f"; by the authors' table as it is labeled {fmean(percents.values()) / 100:.3f}; their "
            f"notebook draws {drawn / 100:.3f}, because it takes the five shares unwilling for "
            "shares willing"
        )
    return Result(f"people, stigma, {condition}", survey, note=note)


def _as_list(percents: Sequence[float]) -> str:
    return "/".join(f"{percent:.0f}" for percent in percents)
