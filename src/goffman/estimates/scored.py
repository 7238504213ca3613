"""What contrasts are made from: the scores of one instrument, and their rows side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from goffman.estimates.contrast import Comparing, Contrast
from goffman.estimates.cubes import in_order
from goffman.estimates.sharing import Sharing

if TYPE_CHECKING:
    from goffman.records import Estimate

IN_TURN = "in-turn"
"""In the place of the wording, where each question is asked in one of them only; and of the item,
where each condition is asked some of them."""

Found: TypeAlias = "Iterator[tuple[Contrast, Estimate]]"


@dataclass(frozen=True, kw_only=True)
class Scored:
    """The scores of one instrument, and what its contrasts are between."""

    scores: pl.DataFrame
    about: Contrast
    """Its instrument and measure; the rest is filled in contrast by contrast."""
    quantity: str
    """The number that is compared."""
    contrast: str
    against: str
    wordings: Sequence[str]
    """In the instrument's order."""
    compare: Comparing
    sharing: Sharing = field(default_factory=Sharing)
    """What its sentence pairs have in common."""

    @cached_property
    def _found(self) -> dict[tuple[str, str], pl.DataFrame]:
        return {}

    @cached_property
    def _by_model(self) -> dict[tuple[str, str], dict[tuple[Any, ...], pl.DataFrame]]:
        return {}

    def rows(self, level: str, quantity: str | None = None, **ids: str | None) -> pl.DataFrame:
        """The scores of a level and quantity with these ids; None: only where it is null."""
        of = level, quantity or self.quantity
        model = ids.get("model")
        if model is None:
            rows = self._of(*of)
        else:
            rows = self._of_models(*of).get((model,), self.scores.clear())
        wanted = [
            pl.col(name).is_null() if value is None else pl.col(name) == value
            for name, value in ids.items()
            if name != "model" or model is None
        ]
        return rows.filter(*wanted) if wanted else rows

    def _of(self, level: str, quantity: str) -> pl.DataFrame:
        """The scores of a level and quantity; looked for once, since there may be millions."""
        if (level, quantity) not in self._found:
            self._found[level, quantity] = self.scores.filter(
                pl.col("level") == level, pl.col("quantity") == quantity
            )
        return self._found[level, quantity]

    def _of_models(self, level: str, quantity: str) -> dict[tuple[Any, ...], pl.DataFrame]:
        """The same by model."""
        if (level, quantity) not in self._by_model:
            rows = self._of(level, quantity)
            self._by_model[level, quantity] = rows.partition_by("model", as_dict=True)
        return self._by_model[level, quantity]

    def models(self) -> list[str]:
        """Who answered."""
        return list(self._models)

    @cached_property
    def _models(self) -> list[str]:
        return in_order(self.scores, "model")

    def variants(self) -> list[str | None]:
        """With and without names, or None where there is one."""
        return [*in_order(self.scores, "variant")] or [None]

    def says(self, kind: str, **what: str | None) -> Contrast:
        """The contrast of this kind."""
        return replace(self.about, **{"kind": kind, "quantity": self.quantity, **what})  # type: ignore[arg-type]


def of_group(rows: pl.DataFrame, group: str) -> pl.DataFrame:
    """The rows of a group of conditions."""
    return rows.filter(pl.col("group") == group)


def of_dimension(rows: pl.DataFrame, dimension: str | None) -> pl.DataFrame:
    """The rows of a subscale; None: all."""
    return rows if dimension is None else rows.filter(pl.col("dimension") == dimension)


def values(rows: pl.DataFrame) -> list[float | None]:
    """The values in the order of their ids."""
    return rows.sort("condition", "trial")["value"].to_list()


def joined(
    rows: pl.DataFrame, column: str, names: tuple[str, str], *, on: list[str]
) -> pl.DataFrame:
    """The values of both names of a column side by side, where both have a row."""
    first, second = (rows.filter(pl.col(column) == name) for name in names)
    return (
        first.select(*on, first="value")
        .join(second.select(*on, second="value"), on=on, how="inner")
        .sort(on)
    )
