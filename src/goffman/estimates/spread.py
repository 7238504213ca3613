"""How far a headline's number moves with the wording, beside how far the groups lie apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Spread:
    """One headline over its wordings, each taken alone."""

    wordings: int
    paraphrases: int
    """How many of them are asked only on request."""
    levels: tuple[float, float]
    """The lowest and highest number of the first set; of a level: of the number itself."""
    gaps: tuple[float, float]
    """The lowest and highest difference."""
    gap: float
    """The headline's difference, by its own wordings together."""

    @property
    def moves_more(self) -> bool:
        """Whether the wording moves the number more than the group does."""
        return self.levels[1] - self.levels[0] > abs(self.gap)


def spread_of(rows: pl.DataFrame, gap: float) -> Spread | None:
    """The spread over wordings; ``rows``: WORDINGS of one headline. None: one wording has a number.

    Rows without a wording are over several, and are not counted here.
    """
    alone = rows.filter(pl.col("wording").is_not_null(), pl.col("level").is_not_null())
    if alone.height < 2:
        return None
    return Spread(
        wordings=alone.height,
        paraphrases=int(alone["paraphrase"].sum()),
        levels=_ends(alone["level"].to_list()),
        gaps=_ends(alone["difference"].to_list()),
        gap=gap,
    )


def _ends(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)
