"""What a model is about to be asked, of how much, and roughly how long that takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from goffman.errors import GoffmanError
from goffman.models.address import behind_server
from goffman.models.kinds import answers_to
from goffman.models.pace import weights_a_second, weights_used
from goffman.records import is_control
from goffman.runs.forecast import AROUND, SIGNS_PER_TOKEN

if TYPE_CHECKING:
    from goffman.asking.prompts_asked import Question
    from goffman.asking.questions import Asking
    from goffman.models.base import LoadOptions
    from goffman.options import AskOptions
    from goffman.records import Prompt

WORTH_SAYING = 120
"""Seconds: what takes less is done before it is read."""

Duration = Callable[[int], str]
"""Tokens → ", roughly 3 hours", or nothing where it is not known or short."""


def parts_said(pairs: Sequence[Asking], loading: LoadOptions, options: AskOptions) -> Iterator[str]:
    """Sentences for each model that is asked a part only, or so much that a part might do."""
    for pair in pairs:
        whole = [one for one in pair.questions if len(one.part) not in {0, len(one.prompts)}]
        parts = [one for one in pair.questions if one.every is not None]
        if whole:
            durations = _durations(pair.model, loading)
            yield from _of_all(pair.model, whole, durations, chosen=options.thorough)
        asked, every = sum(map(_asked, parts)), sum(one.every or 0 for one in parts)
        if asked != every:
            yield _of_part(pair.model, parts, asked, every, options, beside_all=bool(whole))


def _of_all(
    model: str, whole: Sequence[Question], duration: Duration, *, chosen: bool
) -> Iterator[str]:
    """``chosen``: the user asked for all, and needs no other way, but may want to know the time."""
    prompts = [prompt for one in whole for prompt in one.prompts]
    few = [prompt for one in whole for prompt in one.part]
    time = duration(_tokens(prompts))
    said = f"{model} is asked all {len(prompts):,} prompts that need no written reply{time}."
    if not chosen:
        said += (
            f" To ask only a balanced sample of {len(few):,}{duration(_tokens(few))}, add "
            "--balanced."
        )
    if time or not chosen:
        yield said


def _of_part(
    model: str,
    parts: Sequence[Question],
    asked: int,
    every: int,
    options: AskOptions,
    *,
    beside_all: bool,
) -> str:
    controls = sum(one.trials for one in parts for prompt in one.prompts if is_control(prompt))
    of_controls = f" ({controls:,} of them control items)" if controls else ""
    if beside_all:
        return (
            f"Of the prompts that do, it is asked a balanced sample of {asked:,}{of_controls}. To "
            f"ask all {every:,}, add --thorough."
        )
    said = f"{model} is asked a balanced sample of {asked:,} prompts{of_controls}."
    if not options.balanced or behind_server(model):
        return f"{said} To ask all {every:,}, add --thorough."
    without = sum(
        _asked(one) if answers_to(one.instrument.kind) == "replies" else one.every or 0
        for one in parts
    )
    if without == every:
        return f"{said} To ask all {every:,}, leave out --balanced."
    return (
        f"{said} To ask {without:,}, leave out --balanced. To ask all {every:,}, give --thorough "
        "instead."
    )


def _asked(question: Question) -> int:
    return len(question.prompts) * question.trials


def _tokens(prompts: Sequence[Prompt]) -> int:
    return sum(-(-len(prompt.asked) // SIGNS_PER_TOKEN) + AROUND for prompt in prompts)


def _durations(model: str, loading: LoadOptions) -> Duration:
    """How long so many tokens take the model where it is to run."""
    if loading.workers is not None or "," in loading.device or loading.device == "cuda:all":
        return lambda _: ""
    try:
        weights = weights_used(model, loading)
    except GoffmanError:
        weights = None
    if not weights:
        return lambda _: ""
    a_second = weights_a_second(loading.device)
    return lambda tokens: _roughly(tokens * weights / a_second)


def _roughly(seconds: float) -> str:
    """The time to one or two digits."""
    if seconds < WORTH_SAYING:
        return ""
    minutes = seconds / 60
    if minutes < 90:
        step = 1 if minutes < 15 else 5
        return f" (roughly {round(minutes / step) * step} minutes)"
    return f" (roughly {round(minutes / 60)} hours)"
