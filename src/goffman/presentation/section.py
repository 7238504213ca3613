"""One instrument of a run, with all that its sentences, figures and tables are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from goffman.console import printable
from goffman.formatting import setting_name
from goffman.instruments.types import BASELINE, Noun
from goffman.schemas import (
    ANALYSIS,
    LEFT_OUT,
    PARAMETER,
    PARAPHRASE_ALONE,
    RATINGS_COMPARED,
    SENSITIVITY,
    STRESS,
    WITH_PARAPHRASES,
    WORD,
    WORDING_ALONE,
    WRONG_LABELS,
    schema,
)

if TYPE_CHECKING:
    from goffman.formatting import Labels
    from goffman.presentation.competence import Competence
    from goffman.presentation.types import Finding, Presentation


@dataclass(frozen=True, kw_only=True)
class Section:
    """The scores and estimates of one instrument and measure, and how things are called."""

    instrument: str
    measure: str
    """Its name."""
    unit: str
    """What a condition is: a condition, or a setting."""
    presentation: Presentation
    scores: pl.DataFrame
    estimates: pl.DataFrame
    names: Labels
    contrast: str = ""
    against: str = ""
    wordings: Sequence[str] = ()
    """In the instrument's order."""
    items: Sequence[str] = ()
    dimensions: Sequence[str] = ()
    prompts: pl.DataFrame = field(default_factory=pl.DataFrame)
    placement: str = "before-first"
    """Of the words put back in recursive masking."""
    competence: Mapping[str, Competence] = field(default_factory=dict)
    """By a model's name as the user gave it: how it did on the control items, if it was asked."""
    main_modes: Mapping[str, str] = field(default_factory=dict)
    """By model, as the user gave it: the id of this instrument in the mode of its main result."""
    sample: str | None = None
    """Which sample of the prompts was asked: quick or balanced; None: all, or as the user said."""
    ratings: str = ""
    """Who rated the words that its numbers rest on, in a sentence; empty: it needs no ratings."""
    compared: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema=schema(RATINGS_COMPARED))
    )
    """The columns RATINGS_COMPARED; no rows: there are no other ratings to compare with."""
    sensitivity: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema=schema(SENSITIVITY))
    )
    """The columns SENSITIVITY: headlines, and some contrasts beside them, made otherwise."""
    stress: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=schema(STRESS)))
    """The columns STRESS; no rows: nobody looked whether the headlines hold in other analyses."""

    @property
    def robustness(self) -> pl.DataFrame:
        """The variations in which one thing is left out, or a parameter is set otherwise."""
        return self._varied(*LEFT_OUT, PARAMETER)

    @property
    def multiverse(self) -> pl.DataFrame:
        """The headlines in other analyses, and with one thing left out or spoiled."""
        if not self.stress.height:
            return self.sensitivity.clear()
        return self._varied(*LEFT_OUT, ANALYSIS, WORD, WRONG_LABELS).filter("main")

    @property
    def by_wording(self) -> pl.DataFrame:
        """The headlines made of one wording alone, and with the paraphrases."""
        return self._varied(WORDING_ALONE, PARAPHRASE_ALONE, WITH_PARAPHRASES)

    def _varied(self, *variations: str) -> pl.DataFrame:
        return self.sensitivity.filter(pl.col("variation").is_in(variations))

    def models(self) -> list[str]:
        """The models as they are shown, in the order in which they were asked."""
        return list(self._models)

    @cached_property
    def _models(self) -> list[str]:
        # Kept, like the groups: asked for row by row, of scores that may be millions.
        there = self.scores["model"].drop_nulls().unique(maintain_order=True).to_list()
        order = [name for name in self.names.models if name in there]
        return [self.names.model(name) for name in dict.fromkeys([*order, *there])]

    def is_main(self, model: str) -> bool:
        """Return whether a model's main result is in this mode; the model as it is shown."""
        shown = {self.names.model(name): asked for name, asked in self.main_modes.items()}
        return shown.get(model, self.instrument) == self.instrument

    def control(self, model: str) -> Competence | None:
        """How a model did on the control items, by the name that is shown; None: not asked."""
        by_shown = {self.names.model(name): one for name, one in self.competence.items()}
        return by_shown.get(model)

    def unmeasurable(self) -> dict[str, Competence]:
        """By name, as the user gave it: the models whose numbers mean nothing here."""
        return {name: one for name, one in self.competence.items() if not one.passed}

    @property
    def noun(self) -> Noun:
        """What its conditions are called; as the measure says where the instrument does not."""
        known = self.names.instruments.get(self.instrument)
        return (known and known.noun) or Noun(one=self.unit, many=f"{self.unit}s")

    def groups(self) -> list[str]:
        """The groups of conditions, the two of the contrast first; the baseline is none."""
        return list(self._groups)

    @cached_property
    def _groups(self) -> list[str]:
        there = self.scores["group"].drop_nulls().unique(maintain_order=True).to_list()
        order = [group for group in (self.contrast, self.against) if group in there]
        every = [*order, *(one for one in there if one not in {*order, BASELINE})]
        return [printable(one) for one in every]

    def rows(self, level: str, quantity: str | Sequence[str]) -> pl.DataFrame:
        """The scores of the level with a value, and with the names that are shown."""
        wanted = [quantity] if isinstance(quantity, str) else list(quantity)
        scores = self._by_level.get(level)
        if scores is None:
            scores = self.scores.filter(pl.col("level") == level)
        # Those of prompts, which are nearly all, are not copied to stay.
        if level != "prompt":
            self._by_level[level] = scores
        return self.shown(
            scores.filter(pl.col("quantity").is_in(wanted), pl.col("value").is_not_null())
        )

    @cached_property
    def kept(self) -> dict[str, list[Finding]]:
        """What was made of the section once."""
        return {}

    @cached_property
    def _by_level(self) -> dict[str, pl.DataFrame]:
        return {}

    def contrasts(self, kind: str) -> pl.DataFrame:
        """The estimates of the kind with a difference, and with the names that are shown."""
        rows = self.estimates.filter(pl.col("kind") == kind, pl.col("difference").is_not_null())
        return self.shown(rows)

    def shown(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows with models as they are shown, and numbers of six digits."""
        known = {one: self.names.model(one) for one in rows["model"].drop_nulls().unique()}
        model = pl.col("model").replace_strict(known, return_dtype=pl.String)
        return rows.with_columns(
            model.fill_null(self.names.model(None)),
            pl.selectors.float().round_sig_figs(6),
        )

    def called(self, condition: str) -> str:
        """A condition, or an adjective setting, as it is shown."""
        if self.unit == "setting":
            return setting_name(condition)
        return self.names.condition(self.instrument, condition)

    def in_categories(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of conditions with the study's category in place of a narrower one."""
        known = {
            condition: category
            for (instrument, condition), category in self.names.categories.items()
            if instrument == self.instrument
        }
        wider = pl.col("condition").replace_strict(known, default=None, return_dtype=pl.String)
        return rows.with_columns(category=pl.coalesce(wider, "category"))

    def named(self, rows: pl.DataFrame, column: str = "condition") -> pl.DataFrame:
        """The rows with the shown name of their condition in the column ``name``."""
        known = {one: self.called(one) for one in rows[column].drop_nulls().unique()}
        name = pl.col(column).replace_strict(known, default=None, return_dtype=pl.String)
        return rows.with_columns(name=name)


UNSEEN_END = "unseen-end"
"""The quantity of phrases of which not even the last word is known."""


def not_counted(
    section: Section,
    *,
    model: str | None = None,
    group: str | None = None,
    variant: str | None = None,
    quantities: Sequence[str] = ("mass", "outside"),
) -> float | None:
    """The mean probability of what is neither female, nor male, nor unspecified; None: unknown.

    ``model``: as it is shown; None: of all, and so with the group of conditions and the variant.
    With a group it is of the first wording, as its contrast is.
    """
    scores = section.scores
    if model is not None:
        mine = [name for name in scores["model"].unique() if section.names.model(name) == model]
        scores = scores.filter(pl.col("model").is_in(mine))
    wide = scores.filter(
        pl.col("level") == "prompt",
        pl.col("group") != BASELINE if group is None else pl.col("group") == group,
        pl.col("quantity").is_in(list(quantities)),
    )
    if group is not None and section.wordings:
        wide = wide.filter(pl.col("wording") == section.wordings[0])
    if variant:
        wide = wide.filter(pl.col("variant") == variant)
    # Words below the threshold, and beyond the top k; or what was not put back.
    left = pl.when(pl.col("quantity") == "mass").then(1 - pl.col("value")).otherwise("value")
    mean = wide.select(left.mean().alias("left"))["left"][0]
    return None if mean is None else float(mean)
