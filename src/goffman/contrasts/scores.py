"""The scores that contrasts are made from: tables of them, what they share, and their design.

Conditions, items and wordings are crossed where every question was asked. Where a part of all
questions was asked, a factor may be nested: each question in one wording of several, or each
condition with some of the items. A nested factor has one level in a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goffman.instruments.types import BASELINE, MASK
from goffman.modes import asked_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.contrasts.engine import Contrast


def cube(rows: pl.DataFrame, ids: Mapping[str, Sequence[str]]) -> NDArray[np.float64]:
    """The values of SCORES by these ids; forms and models are averaged, gaps are NaN."""
    means = rows.group_by(*ids).agg(pl.col("value").mean()).drop_nulls("value")
    places = [means[name].cast(pl.Enum(keys)).to_physical() for name, keys in ids.items()]
    found = np.full([len(keys) for keys in ids.values()], np.nan)
    found[tuple(place.to_numpy() for place in places)] = means["value"].to_numpy()
    return found


def in_order(rows: pl.DataFrame, name: str) -> list[str]:
    """The different ids of a column, sorted."""
    return sorted(rows[name].drop_nulls().unique())


FEMALE = "female-referent"
"""The category of a sentence whose referent has an occupation associated with women."""


@dataclass(frozen=True, kw_only=True)
class Clusters:
    """What prompts share: wordings their family, sentences their source, pairs occupations.

    Of sentence pairs it is empty where that is not known.
    """

    families: dict[str, str] = field(default_factory=dict)
    """By wording: its family; a wording that is not here is one of its own."""
    own: frozenset[tuple[str, str]] = frozenset()
    """Item and wording of the sentences that were put beside those of the study."""
    ways: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """Frame, referent, other occupation."""
    phrases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By condition: what each of its forms says in the slot, such as "has depression"."""
    signs: dict[str, float] = field(default_factory=dict)
    """−1 where the referent's occupation is associated with women, else 1."""

    def clusters(self, pairs: Iterable[str]) -> list[NDArray[np.str_]]:
        """Return the frame of each pair, and its two occupations; none where a pair is not known.

        An occupation pulls the pronoun in either role, so that both are of one kind.
        """
        pairs = list(pairs)
        if not pairs or not self.ways.keys() >= {*pairs}:
            return []
        ways = [self.ways[pair] for pair in pairs]
        nodes = [(one, other or f"nobody beside {one}") for _, one, other in ways]
        return [np.array([frame for frame, _, _ in ways]), np.array(nodes)]

    def sides(self, pairs: Iterable[str]) -> NDArray[np.float64]:
        """The signs of the pairs."""
        return np.array([self.signs.get(pair, 1.0) for pair in pairs])


def clusters_by_instrument(prompts: pl.DataFrame) -> dict[str, Clusters]:
    """By instrument: what the sentence pairs among these prompts share."""
    of_each = prompts.with_columns(asked=asked_ids()).partition_by("asked", as_dict=True)
    return {str(asked): clusters_of(of) for (asked,), of in of_each.items()}


def clusters_of(prompts: pl.DataFrame) -> Clusters:
    """Return what these prompts share; ``prompts`` of one instrument.

    The frame is the sentence without adjectives, its occupations and pronoun blanked.
    """
    pairs = prompts.filter(
        pl.col("condition") == BASELINE, pl.col("wording") == "pro", pl.col("answer").is_not_null()
    ).unique("item", maintain_order=True)
    ways, signs = {}, {}
    for row in pairs.iter_rows(named=True):
        own = [re.escape(word) for word in (row["answer"], row["other"], row["pronoun"]) if word]
        frame = re.sub(rf"{MASK}|\b({'|'.join(own)})\b", "_", row["text"], flags=re.IGNORECASE)
        ways[row["item"]] = (frame, row["answer"], row["other"] or "")
        signs[row["item"]] = -1.0 if row["category"] == FEMALE else 1.0
    # Prompts of studies have no such columns.
    lacking = {"family", "phrase", "source"} - {*prompts.columns}
    prompts = prompts.with_columns(pl.lit(None, pl.String).alias(name) for name in lacking)
    known = prompts.select("condition", "phrase").drop_nulls().unique().sort("phrase")
    beside = prompts.filter(pl.col("source") == "own").select("item", "wording")
    return Clusters(
        families=dict(prompts.select("wording", "family").drop_nulls().unique().rows()),
        own=frozenset(beside.unique().rows()),
        ways=ways,
        phrases={c: tuple(of) for c, of in known.group_by("condition").agg("phrase").rows()},
        signs=signs,
    )


LOG_LIKELIHOOD = "log-likelihood"
"""The quantity of conditions that says how probable a model finds their phrases."""

NESTED = "nested"
"""The one level that a nested factor has in a table."""


@dataclass(frozen=True)
class Design:
    """Which factors are nested, in the answers of which models; all others are crossed."""

    nested: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def within(self, factor: str) -> pl.Expr:
        """Return of which rows the factor is nested."""
        return pl.col("model").is_in(sorted(self.nested.get(factor, ())))

    @property
    def asked(self) -> pl.Expr:
        """Of which rows there was a question: what a nested wording was not asked is no gap."""
        return ~self.within("wording") | pl.col("value").is_not_null()

    def cells(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the scores with one level for what is nested."""
        named = sorted(factor for factor, models in self.nested.items() if models)
        return rows.with_columns(
            pl.when(self.within(factor)).then(pl.lit(NESTED)).otherwise(factor).alias(factor)
            for factor in named
        )


QUESTION = ["model", "item", "condition", "form"]


def nested_wordings(cells: pl.DataFrame) -> Design:
    """Return whose wordings are nested: models asked each question in one of several wordings.

    Each model by itself, since a server gets a part of all questions. A part goes through the
    wordings in turn, so that every condition meets each about equally often.
    """
    known = cells.filter(pl.col("value").is_not_null())
    return _nested(known, "wording", QUESTION, (pl.col("most") == 1) & (pl.col("every") > 1))


def nested_items(cells: pl.DataFrame) -> Design:
    """Return whose items are nested: the models asked each condition with some of them only."""
    asked = cells.filter(pl.col("condition") != BASELINE)
    unit = ["model", "condition", "form"]
    return _nested(asked, "item", unit, pl.col("most") < pl.col("every"))


def _nested(rows: pl.DataFrame, factor: str, unit: Sequence[str], where: pl.Expr) -> Design:
    """Return the design; ``where``: of the most levels in a unit, and of every level of a model."""
    asked = rows.select(*unit, factor).unique()
    most = asked.group_by(unit).len("most").group_by("model").agg(pl.col("most").max())
    every = asked.group_by("model").agg(every=pl.col(factor).n_unique())
    return Design({factor: frozenset(most.join(every, on="model").filter(where)["model"])})


def wordings_merged(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the scores with one wording for models of which it is nested in the question."""
    design = nested_wordings(cells)
    return design.cells(cells.filter(design.asked))


def items_by_place(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the scores with the first, second … item of each condition where items are nested."""
    design = nested_items(cells)
    place = pl.col("item").rank("dense").over("model", "condition", "form", "quantity")
    name = pl.format("{}-{}", pl.lit(NESTED), place)
    return cells.with_columns(item=pl.when(design.within("item")).then(name).otherwise("item"))


@dataclass(frozen=True, kw_only=True)
class ScoreTable:
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
    sharing: Clusters = field(default_factory=Clusters)
    """What its wordings and sentence pairs have in common."""
    design: Design = field(default_factory=Design)
    """Which factors are nested."""
    aggregate: Callable[[pl.DataFrame], pl.DataFrame] | None = None
    """The measure's: scores of prompts → those of every other level."""
    within: bool = False
    """Whether the categories of conditions are given, and conditions sampled within them."""
    _views: dict[Any, ScoreTable] = field(default_factory=dict, init=False)
    _parts: dict[Any, tuple[pl.DataFrame, dict[Any, pl.DataFrame]]] = field(
        default_factory=dict, init=False
    )

    def seen(self, view: Callable[[ScoreTable], ScoreTable]) -> ScoreTable:
        """Return what a view makes of the scores; once for all contrasts."""
        if view not in self._views:
            self._views[view] = view(self)
        return self._views[view]

    def rows(self, level: str, quantity: str | None = None, **ids: str | None) -> pl.DataFrame:
        """The scores of a level and quantity with these ids; None: only where it is null."""
        key = level, quantity or self.quantity
        if key not in self._parts:
            # Looked for once, and by model: there may be millions.
            rows = self.scores.filter(pl.col("level") == key[0], pl.col("quantity") == key[1])
            self._parts[key] = rows, rows.partition_by("model", as_dict=True)
        rows, by_model = self._parts[key]
        model = ids.get("model")
        if model is not None:
            rows = by_model.get((model,), self.scores.clear())
        wanted = [
            pl.col(name).is_null() if value is None else pl.col(name) == value
            for name, value in ids.items()
            if name != "model" or model is None
        ]
        return rows.filter(*wanted) if wanted else rows

    def cells(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return scores with one level for what is nested, and one for wordings of a family."""
        return self.design.cells(rows).with_columns(
            pl.col("wording").replace(self.sharing.families)
        )

    @cached_property
    def models(self) -> list[str]:
        """Who answered."""
        return in_order(self.scores, "model")

    def says(self, kind: str, **what: str | None) -> Contrast:
        """The contrast of this kind."""
        return replace(self.about, **{"kind": kind, "quantity": self.quantity, **what})  # type: ignore[arg-type]
