"""A model's answers in memory, for whoever measures them at once and keeps no run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goffman.models.batches import distinct
from goffman.runs.plan import make_plan, part_sentences
from goffman.runs.recursion import children
from goffman.runs.rows import Askers, words_put_back
from goffman.runs.voices import Filling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goffman.runs.plan import BatchLimits, Settings
    from goffman.runs.recursion import Node
    from goffman.runs.voices import Voice


def answers_in_memory(
    voice: Voice, nodes: Sequence[Node], limits: BatchLimits, settings: Settings | None = None
) -> pl.DataFrame:
    """Every row of the answers, as a run would have them on disk.

    ``settings``: of masks, which may be filled again and again.
    """
    found = [_step(voice, nodes, limits, step=1)]
    if isinstance(voice, Filling) and settings is not None:
        for step in range(2, settings.depth + 1):
            words = words_put_back(found[-1], width=settings.width)
            nodes = children(nodes, words, placement=settings.placement, unfit=voice.unfit)
            found.append(_step(voice, nodes, limits, step=step))
    return pl.concat(found)


def _step(voice: Voice, nodes: Sequence[Node], limits: BatchLimits, *, step: int) -> pl.DataFrame:
    """The rows of one step, part by part as they would be written."""
    texts, positions = distinct([node.text for node in nodes])
    encoded = voice.encode(texts)
    plan = make_plan([encoded[position] for position in positions], limits)
    rows = []
    for number, batches in enumerate(plan.parts):
        answers = []
        for batch in batches:
            sentences = [plan.sentences[index] for index in batch]
            answers.append(voice.checked(voice.call.of(voice.model, sentences), sentences))
        askers = Askers.of(nodes, [plan.askers[index] for index in part_sentences(plan, number)])
        rows.append(voice.rows(answers, askers, step=step))
    return pl.concat(rows)
