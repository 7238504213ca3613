"""A model's answers in memory, for whoever measures them at once and keeps no run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goffman.runs.blocks import ready
from goffman.runs.recursion import children
from goffman.runs.rows import words_put_back
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
    rows = []
    for block in ready(voice, nodes, limits):
        for part in block.parts:
            answers = [
                voice.checked(voice.call.of(voice.model, batch), batch) for batch in part.batches
            ]
            rows.append(voice.rows(answers, part.askers(), step=step))
    return pl.concat(rows)
