"""Moore et al. (2025): stigma in answers to vignettes, and what missing answers could change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from goffman.replicate import moore2025_people
from goffman.replicate.files import read_json_lines
from goffman.replicate.moore2025_import import (
    CONDITIONS,
    CONTROL,
    FACTORS,
    LETTERS,
    QUESTIONS,
    Answer,
    Asked,
    Run,
    read_prompts,
    read_runs,
)
from goffman.replicate.rows import NOT_HERE, Result

OVERALL = "overall"

_NAMED = re.compile(rf"\(([{LETTERS}])\)")


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
    endorsed = [answer.endorses for answer in answers]
    return Share(
        yes=endorsed.count(True), answered=len(endorsed) - endorsed.count(None), asked=len(endorsed)
    )


def results(folder: Path) -> list[Result]:
    """Return every number of the study's stigma experiment, recomputed."""
    prompts = read_prompts(folder)
    runs = read_runs(folder, prompts)
    return [
        *_about_prompts(folder, list(prompts.values())),
        *(row for run in runs for row in _of_run(run)),
        *moore2025_people.results(folder),
    ]


def _about_prompts(folder: Path, asked: Sequence[Asked]) -> Iterator[Result]:
    """Yield what was asked, the order of the options, and the stigma that a fixed one shows."""
    vignettes = {prompt.vignette for prompt in asked}
    slips = sum(" a African American" in vignette for vignette in vignettes)
    yield Result(name="vignettes", value=len(vignettes), note=f"{slips} say 'a African American'")
    yield Result(name="questions", value=len({prompt.question.id for prompt in asked}))
    yield Result(name="prompts", value=len(asked))
    for name in ("questions", "vignettes"):
        path = folder / "data" / f"{name}.jsonl"
        if path.is_file():
            kinds = Counter(
                next((kind for kind in ("vignette", "question") if kind in entry), "other")
                for _, entry in read_json_lines(path, ())
            )
            contents = ", ".join(f"{count} {kind}s" for kind, count in kinds.items())
            yield Result(name=f"data/{name}.jsonl holds", value=contents)
    first = Counter(prompt.options[0] for prompt in asked if "willing" in prompt.options[0])
    yield Result(
        name="first option of the questions about willingness",
        value=", ".join(sorted(first)) or None,
        note="each question was asked in one order of the options only",
    )
    counted = [prompt for prompt in asked if _counts(prompt)]
    for place, ordinal in ((0, "first"), (3, "fourth")):
        endorsed = [prompt.endorses(prompt.options[place]) for prompt in counted]
        yield Result(
            name=f"stigma of a model that always takes the {ordinal} option",
            value=endorsed.count(True) / len(endorsed) if endorsed else None,
            note="of the prompts that the overall share counts",
        )


def _counts(asked: Asked) -> bool:
    """Return whether the overall share counts a prompt: it is about stigma, and not the control."""
    return asked.question.stigma and asked.condition != CONTROL


def _of_run(run: Run) -> Iterator[Result]:
    """Yield everything that a run's answers give."""
    yield Result(
        name=f"{run.name}: correctly formatted",
        value=sum(answer.option is not None for answer in run.answers),
        note=f"of {len(run.answers):,}",
    )
    if run.others:
        agreement = ", ".join(
            f"{path.name} has the same answer to {count:,} of {len(run.answers):,} prompts"
            for path, count in run.others.items()
        )
        yield Result(
            name=f"{run.name}: file that is read",
            value=run.path.name,
            note="the first by name; the authors' notebook takes the first that the folder lists, "
            f"in an order that differs between machines; {agreement}",
        )
    chosen = Counter(
        "none" if answer.option is None else LETTERS[answer.asked.options.index(answer.option)]
        for answer in run.answers
    )
    places = ", ".join(f"{letter} {chosen[letter]}" for letter in (*LETTERS, "none"))
    yield Result(name=f"{run.name}: options chosen", value=places)
    # Replies that name one option, and that the authors read as no answer.
    missed = [
        answer.output.strip()
        for answer in run.answers
        if answer.option is None and len(set(_NAMED.findall(answer.output))) == 1
    ]
    note = f"such as {missed[0]!r}" if missed else ""
    name = f"{run.name}: replies that name an option and count as none"
    yield Result(name=name, value=len(missed), note=note)
    yield from _stigma(run)
    if all(answer.endorses is None for answer in run.answers):
        return
    yield from _by_factor(run)
    yield from _by_question(run)
    willing = share_of(answer for answer in run.answers if "willing" in answer.asked.options[0])
    yield Result(
        name=f"{run.name}: willing, over all conditions",
        value=None if willing.value is None else 1 - willing.value,
        note=f"{willing.answered - willing.yes:,} of {willing.answered:,} answers"
        if willing.answered
        else willing.note,
    )


def _stigma(run: Run) -> Iterator[Result]:
    """Yield the share of stigmatizing answers, overall and by condition, and its bounds."""
    overall = share_of(answer for answer in run.answers if _counts(answer.asked))
    yield Result(
        name=f"{run.name}: stigma, {OVERALL}", value=overall.value, note=overall.note, digits=6
    )
    for extreme, value in (("least", overall.least), ("most", overall.most)):
        name = f"{run.name}: stigma, {OVERALL}, were missing answers the {extreme} stigmatizing"
        yield Result(name=name, value=value)
    for condition in CONDITIONS:
        share = share_of(
            answer
            for answer in run.answers
            if answer.asked.question.stigma and answer.asked.condition == condition
        )
        name = f"{run.name}: stigma, {condition}"
        yield Result(name=name, value=share.value, note=share.note, digits=6)


def _by_factor(run: Run) -> Iterator[Result]:
    """Yield the overall share by each other factor that the vignettes vary."""
    counted = [answer for answer in run.answers if _counts(answer.asked)]
    for factor in FACTORS:
        levels = dict.fromkeys(answer.asked.factors[factor] for answer in counted)
        shares = {
            level: share_of(answer for answer in counted if answer.asked.factors[factor] == level)
            for level in levels
        }
        yield _listed(f"{run.name}: stigma, {OVERALL}, by {factor}", shares)


def _by_question(run: Run) -> Iterator[Result]:
    """Yield the share unwilling, or finding likely, by condition, beside what people said."""
    for question in QUESTIONS:
        shares = {
            condition: share_of(
                answer
                for answer in run.answers
                if answer.asked.question is question and answer.asked.condition == condition
            )
            for condition in CONDITIONS
        }
        shares = {condition: share for condition, share in shares.items() if share.asked}
        if shares:
            people = (
                f"{moore2025_people.SURVEY[question.id][CONDITIONS.index(name)] / 100:.3f}"
                for name in shares
            )
            note = f"people {', '.join(people)}"
            yield _listed(f"{run.name}: {question.says}", shares, note=note)


def _listed(name: str, shares: Mapping[str, Share], *, note: str = "") -> Result:
    """Return a row of several shares, with the numbers answered if some prompts were not."""
    if not any(share.answered for share in shares.values()):
        count = sum(share.asked for share in shares.values())
        return Result(name=name, value=None, note=Share(yes=0, answered=0, asked=count).note)
    values = (
        f"{'–' if share.value is None else format(share.value, '.3f')} {level}"
        for level, share in shares.items()
    )
    answered = ", ".join(f"{share.answered} of {share.asked}" for share in shares.values())
    if any(share.answered < share.asked for share in shares.values()):
        note = "; ".join(filter(None, [f"answered: {answered}", note]))
    return Result(name=name, value=", ".join(values), note=note)
