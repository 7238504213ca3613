"""The wordings that are asked only on request: who is asked them, and what that costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from goffman.asking.prompts_asked import Question, paraphrased
from goffman.options import Listener

if TYPE_CHECKING:
    from goffman.asking.questions import Asking
    from goffman.options import AskOptions


def who_is_asked_again(pairs: Sequence[Asking], options: AskOptions) -> list[Asking]:
    """Who is asked the same in the wordings that are asked only on request: nobody by default."""
    if not options.paraphrases:
        return []
    known: dict[str, Question | None] = {}
    for pair in pairs:
        for one in (*pair.questions, *pair.beside.values()):
            if one.instrument.id not in known:
                known[one.instrument.id] = paraphrased(one, options)
    found = [
        replace(
            pair,
            questions=[new for one in pair.questions if (new := known[one.instrument.id])],
            beside={
                said: new
                for said, one in pair.beside.items()
                if (new := known[one.instrument.id]) and known[said]
            },
        )
        for pair in pairs
    ]
    return [pair for pair in found if pair.questions]


def paraphrases_said(pairs: Sequence[Asking]) -> Iterator[str]:
    """A sentence for each model: what the paraphrases cost."""
    for pair in pairs:
        count = sum(len(one.prompts) * one.trials for one in pair.questions)
        yield f"{pair.model} is asked another {count:,} prompts in other wordings (--paraphrases)."


def of_paraphrases(listener: Listener, pairs: Sequence[Asking]) -> Listener:
    """Who is told while paraphrases are asked, so that it is seen that it is these.

    What is to be said of a model itself was said when it was asked the rest.
    """
    of_models = tuple(f"{pair.model}: " for pair in pairs)

    def note(text: str) -> None:
        if not text.startswith(of_models):
            listener.note(f"Paraphrases: {text}")

    return Listener(
        progress=lambda one: listener.progress(replace(one, instrument=called(one.instrument))),
        note=note,
    )


def called(instrument: str) -> str:
    """An instrument as it is called while its paraphrases are asked."""
    return f"{instrument}, paraphrases"
