"""A name for every estimate, mean and control score of a run: docs/ci.md lists what they mean.

INSTRUMENT.WHAT[.GROUP][.PART][MODEL, VARIANT], such as social-distance.gap[roberta-base]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.comparison.runs import OF_RUNS, Comparison
from goffman.contrasts.catalog import BY_CONDITION
from goffman.contrasts.designs import Contrast
from goffman.contrasts.engine import PRIMARY, headlines, is_headline
from goffman.contrasts.verdict import (
    AGAINST_PEOPLE,
    ANCHORED,
    AS_IN_STUDY,
    CORRELATIONS,
    NOT_MEASURABLE,
    rests_on,
)
from goffman.formatting import verdict_shown
from goffman.instruments.types import BASELINE, base_of
from goffman.modes import asked_id, asked_ids, mode_of_rows, of_asked
from goffman.presentation.findings import findings_of
from goffman.schemas import CONTRASTS, ESTIMATES, VERDICTS, schema
from goffman.scoring import measures_of

if TYPE_CHECKING:
    from goffman.measures.base import Measure
    from goffman.presentation.competence import Competence
    from goffman.report.load import MeasuredRun
    from goffman.runs.manifest import Manifest

WHAT = {
    "groups": "gap",
    "groups-adjusted": "gap-adjusted",
    "groups-as-asked": "gap-as-asked",
    "gap-by-identity": "gap-by-identity",
    "interaction": "interaction",
    "level": "level",
    "genders": "disparity",
    "genders-as-asked": "disparity-as-asked",
    "nonbinary": "nonbinary",
    "condition-level": "level",
    "baseline": "above-baseline",
    "trials": "above-baseline-over-trials",
    "reference": "above-reference",
    "own-reference": "above-own-group",
    "over-baseline": "over-baseline",
    "order": "order",
    "keying": "keying",
    "position": "position",
    "models": "models",
    "dimensions": "subscales",
    "wordings": "wordings",
    "measures": "correlation",
    "measures-within": "correlation-within",
    AS_IN_STUDY: "correlation-as-in-study",
    "anchor": "anchor",
    "anchor-rank": "anchor-rank",
    "anchor-partial": "anchor-in-category",
    "anchor-difference": "minus-people",
    "anchor-overall": "minus-people-overall",
    "anchor-gender": "gender-minus-people",
    "anchor-wording": "minus-people-other-wording",
    "anchor-gender-side": "man-minus-woman",
    "anchor-year": "minus-people-in-year",
    "anchor-text": "minus-people-in-text",
}
"""The kind of a contrast → its word in a name."""

OF_SETTING = ("adjectives", "occupations", "neutral", "no-answer")
THEIR_OWN = ("they", "no-answer", "no-answer-sides")
"""Kinds of contrasts of a single adjective setting; kinds whose words need no quantity in names."""

EVERY_MODEL = "all-models"
"""In brackets: an estimate made once, over all models together."""

HOLDS_IN = "holds-in"
"""For a main result: the share of other analyses in which its verdict holds; a column of STRESS."""

HEADING, MEAN, CONTROLS = "heading", "mean", "controls"
"""Words in the names of main results, means and scores on control items."""

MEASURABLE = "measurable"
"""The verdict on control items of a model that can do the task."""

ABSOLUTE = "absolute"

FIELDS = {
    "value": "difference",
    ABSOLUTE: "difference",
    "low": "low",
    "high": "high",
    "p": "p",
    "p_adjusted": "p_adjusted",
    "effect": "effect",
    "effect_low": "effect_low",
    "effect_high": "effect_high",
    "mean_first": "mean_first",
    "mean_second": "mean_second",
    "n": "n",
    "detectable": "detectable",
    HOLDS_IN: "holds_in",
}
"""A field of an estimate → its column. A name alone stands for value; absolute is the distance of
value from 0."""

_OF_CORRELATION = {
    "value": "effect",
    ABSOLUTE: "effect",
    "low": "effect_low",
    "high": "effect_high",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class NamedEstimate:
    """An estimate and its name."""

    path: str
    """Before the bracket: social-distance.gap."""
    model: str | None
    """In the bracket: a model, two of them, or all-models."""
    variant: str | None
    row: Mapping[str, Any]
    """The columns CONTRASTS and ESTIMATES."""
    not_measurable: str | None = None
    """Which model in it cannot do the task, in words; None if all can, as far as is known."""
    caveats: tuple[str, ...] = ()
    """For a main result: the ids of its caveats, the weightiest first."""
    main: bool = False
    """Whether it is known to be one of the main results of its run."""
    stress: Mapping[str, Any] | None = None
    """For a main result: the columns STRESS; None for other estimates, or if the run was not
    stressed."""
    own_word: str | None = None
    """The word of a name that is not a contrast of its own, such as heading; None for a contrast. A
    wildcard fits such a name only if the word itself is written out."""

    @property
    def verdict(self) -> str | None:
        """Return the verdict as people read it; None if no smallest difference is known."""
        return NOT_MEASURABLE if self.not_measurable else verdict_shown(self.row) or None

    @property
    def short_path(self) -> str:
        """Return the path without its instrument; a correlation has none in its path."""
        if self.row["instrument"] is None:
            return self.path
        return self.path.removeprefix(f"{path_of(asked_id(self.row))}.")

    @property
    def name(self) -> str:
        """Return the name as in ``goffman check --list``: social-distance.gap[roberta-base]."""
        inside = ", ".join(part for part in (self.model, self.variant) if part)
        return f"{self.path}[{inside}]" if inside else self.path

    @property
    def value(self) -> float | None:
        """Return the difference; for a correlation, r."""
        return self.field("value")

    @property
    def low(self) -> float | None:
        """Return the lower end of the interval."""
        return self.field("low")

    @property
    def high(self) -> float | None:
        """Return the upper end of the interval."""
        return self.field("high")

    def field(self, field: str) -> float | None:
        """Return a field of FIELDS; for a correlation, value and interval are those of r."""
        is_correlation = self.row["kind"] in {*CORRELATIONS, *ANCHORED}
        columns = FIELDS | (_OF_CORRELATION if is_correlation else {})
        row = (self.stress or {}) if field == HOLDS_IN else self.row
        number = row.get(columns[field])
        if number is None:
            return None
        return abs(float(number)) if field == ABSOLUTE else float(number)


def named_estimates(estimates: pl.DataFrame, manifest: Manifest) -> list[NamedEstimate]:
    """Return every estimate of a run with its name, in the order of the table."""
    return named_by(estimates, measures_of(manifest))


def named_by(estimates: pl.DataFrame, measures: Mapping[str, Measure]) -> list[NamedEstimate]:
    """Return every estimate with its name, given only the measures by instrument."""
    groups: dict[str, set[str]] = {}
    for instrument, group in estimates.select(asked_ids(), "group").unique().rows():
        groups.setdefault(instrument, set()).update({group} - {None})
    estimates_named = []
    for row in estimates.iter_rows(named=True):
        instrument_id = asked_id(row)
        path = _path(row, measures.get(instrument_id), groups=groups[instrument_id])
        estimates_named.append(
            NamedEstimate(path=path, model=_whose(row), variant=row["variant"], row=row)
        )
    return estimates_named


def _path(row: Mapping[str, Any], measure: Measure | None, *, groups: set[str]) -> str:
    """Return the name before the bracket; the group that the instrument is about is left out."""
    main_group = measure.contrast if measure else None
    parts = [row["instrument"] and asked_id(row), _contrast_word(row, measure)]
    if row["kind"] in {*ANCHORED, *AGAINST_PEOPLE}:
        parts += [row["second"], row["dimension"], row["group"]]
        return path_of(*parts)
    group, dimension = row["group"], row["dimension"]
    if group is not None and (group != main_group or dimension in groups):
        parts.append(group)
    parts.append(dimension)
    of_condition = {"baseline", "trials", "reference", "own-reference", "condition-level"}
    if row["kind"] in {*of_condition, *OF_SETTING}:
        parts.append(row["first"])
    if row["kind"] in {"dimensions", "wordings", "nonbinary", "they"}:
        parts.append(f"{row['first']}-vs-{row['second']}")
    return path_of(*parts)


def path_of(*parts: str | None) -> str:
    """Return the name before the bracket, joined from the parts that are not empty.

    In an id, all characters but letters and digits become hyphens: the setting tough,gentle is
    tough-gentle.
    """
    return ".".join(re.sub(r"[^\w-]+", "-", part).strip("-") for part in parts if part)


def _contrast_word(row: Mapping[str, Any], measure: Measure | None) -> str:
    """Return the word for the kind of contrast, with its quantity if it is not the main one."""
    kind, quantity = row["kind"], row["quantity"]
    of_one_number = ("genders", "genders-as-asked", "groups-as-asked")
    beside = {*of_one_number, *THEIR_OWN, *CORRELATIONS, *ANCHORED, *AGAINST_PEOPLE}
    own = quantity
    if measure is not None:
        # The number of the headline if contrasts are computed from it, otherwise the measure's own.
        compared = {quantity for quantity, _ in measure.contrasts}
        headline = measure.primary_contrast[1]
        own = headline if headline in compared else measure.quantity
    what = WHAT.get(kind, kind)
    return what if quantity == own or kind in beside else f"{what}-of-{quantity}"


def _whose(row: Mapping[str, Any]) -> str | None:
    if row["kind"] == "models":
        return f"{row['first']} vs {row['second']}"
    if row["kind"] in CORRELATIONS:
        return f"{row['first']} with {row['second']}"
    return row["model"] or EVERY_MODEL


_LEVELS = ("group", "dimension", "condition")
"""Levels of means, the widest first; a subscale is a dimension."""

_NO_TEST = "a mean has no interval and no test"

_EMPTY: Mapping[str, None] = dict.fromkeys(
    column.name for column in (*CONTRASTS, *ESTIMATES, *VERDICTS)
)


def headings(estimates: Iterable[NamedEstimate], run: MeasuredRun) -> list[NamedEstimate]:
    """Return the main result of each instrument and model, under the name of headings."""
    measures = measures_of(run.manifest)
    rows = headlines(run.estimates, measures).iter_rows(named=True)
    main = {(asked_id(row), row["model"]) for row in rows}
    columns = schema(CONTRASTS).names()
    return [
        replace(
            estimate, path=path_of(asked_id(estimate.row), HEADING), variant=None, own_word=HEADING
        )
        for estimate in estimates
        if (asked_id(estimate.row), estimate.row["model"]) in main
        and is_headline(Contrast(**{name: estimate.row[name] for name in columns}), measures)
    ]


def means(run: MeasuredRun) -> list[NamedEstimate]:
    """Return each model's means of groups, subscales and conditions, or adjective settings."""
    estimates = []
    for instrument, measure in measures_of(run.manifest).items():
        rows = run.scores.filter(
            of_asked(instrument),
            pl.col("level").is_in(_LEVELS),
            pl.col("model").is_not_null(),
            pl.col("condition").is_null() | (pl.col("condition") != BASELINE),
        )
        asked = run.prompts.filter(of_asked(instrument))["wording"]
        first = next(iter(asked.unique(maintain_order=True)), None)
        over_all = pl.col("wording").is_null()
        for quantity, word in _words(measure, {*rows["quantity"]}).items():
            means_of_number = rows.filter(quantity=quantity)
            # Means are over all wordings; at levels without such means, of the first wording.
            levels = means_of_number.filter(over_all)["level"].unique().to_list()
            in_first = ~pl.col("level").is_in(levels) & (pl.col("wording") == first)
            means_of_number = means_of_number.filter(over_all | in_first)
            ordered = sorted(
                means_of_number.iter_rows(named=True), key=lambda row: _LEVELS.index(row["level"])
            )
            estimates += [_mean(row, word) for row in ordered]
    return estimates


def _words(measure: Measure, known: set[str]) -> dict[str, str]:
    """Return quantity → the word for its mean in names: "mean", or "mean-of-QUANTITY"."""
    wanted = (
        measure.primary_contrast[1],
        measure.presentation.quantity,
        measure.quantity,
        *(quantity for quantity, _ in measure.contrasts),
    )
    quantities = [quantity for quantity in dict.fromkeys(wanted) if quantity in known]
    return {
        quantity: f"{MEAN}-of-{quantity}" if place else MEAN
        for place, quantity in enumerate(quantities)
    }


def _mean(row: Mapping[str, Any], word: str) -> NamedEstimate:
    """Return one row of SCORES as an estimate of one number, without interval and test."""
    ids = ("model", "instrument", "mode", "measure", "quantity", "variant", "group", "dimension")
    return NamedEstimate(
        path=path_of(asked_id(row), word, row["group"], row["dimension"], row["condition"]),
        model=row["model"],
        variant=row["variant"],
        row={
            **_EMPTY,
            **{name: row[name] for name in ids},
            "kind": MEAN,
            "first": row["condition"] or row["group"],
            "difference": row["value"],
            "n": row["n"],
            "reason": row["reason"] or _NO_TEST,
        },
        own_word=word,
    )


def changes_of_means(comparison: Comparison, run: MeasuredRun) -> Iterator[NamedEstimate]:
    """Yield the rows of a comparison whose sides are the two runs, under the names of means."""
    rows = comparison.estimates.filter(pl.col("kind").is_in(OF_RUNS))
    measure = measures_of(run.manifest).get(comparison.instrument)
    if measure is None:
        return
    scores = run.scores.filter(of_asked(comparison.instrument))
    words = _words(measure, {*scores.filter(pl.col("level").is_in(_LEVELS))["quantity"]})
    group_of = dict(scores.select("condition", "group").unique().drop_nulls().rows())
    for row in rows.iter_rows(named=True):
        group, condition = row["group"], row["first"] if row["kind"] == BY_CONDITION else None
        if measure.unit != "condition" and group != BASELINE:
            # Each adjective setting is compared; it takes the place of the group in a name.
            group, condition = group_of[group], group
        word = words.get(row["quantity"], f"{MEAN}-of-{row['quantity']}")
        yield NamedEstimate(
            path=path_of(comparison.instrument, word, group, row["dimension"], condition),
            model=comparison.models[1],
            variant=row["variant"],
            row=row,
            own_word=word,
        )


def controls(run: MeasuredRun) -> list[NamedEstimate]:
    """Return each model's score on the control items of each instrument, if they were asked."""
    return [
        NamedEstimate(
            path=path_of(instrument, CONTROLS),
            model=competence.name,
            variant=None,
            row={
                **_EMPTY,
                "kind": CONTROLS,
                "instrument": base_of(instrument),
                "mode": mode_of_rows(section.prompts),
                "measure": section.measure,
                "quantity": CONTROLS,
                "model": competence.name,
                "difference": competence.value,
                "low": competence.low,
                "high": competence.high,
                "level": None if competence.low is None else 0.95,
                "n": competence.n,
                "verdict": MEASURABLE if competence.passed else NOT_MEASURABLE,
                "reason": competence.reason,
            },
            own_word=CONTROLS,
        )
        for instrument, section in run.sections.items()
        for competence in section.competence.values()
    ]


def add_multiverse_share(
    estimates: Iterable[NamedEstimate], run: MeasuredRun
) -> list[NamedEstimate]:
    """Return the estimates of a run; main results have their row of STRESS if it was stressed."""
    main = {*headlines(run.estimates, measures_of(run.manifest))["contrast"]}
    stress_rows = run.stressed[1].iter_rows(named=True) if run.stressed else ()
    stress = {(asked_id(row), row["model"]): row for row in stress_rows}
    return [
        replace(
            estimate, main=True, stress=stress.get((asked_id(estimate.row), estimate.row["model"]))
        )
        if estimate.row["contrast"] in main
        else estimate
        for estimate in estimates
    ]


def with_doubts(estimates: Iterable[NamedEstimate], run: MeasuredRun) -> list[NamedEstimate]:
    """Return the estimates of a run, each with its caveats, and why it is not measurable."""
    unmeasurable = {
        (correlation.row["first"], correlation.row["second"]): correlation.unmeasurable
        for correlation in run.correlations
    }

    def failing(row: Mapping[str, Any]) -> Iterable[Competence]:
        """Return the models whose failure affects an estimate."""
        if row["kind"] == "measures":
            return unmeasurable.get((row["first"], row["second"]), ())
        section = run.sections.get(asked_id(row))
        of_instrument = section.unmeasurable() if section else {}
        return [competence for name, competence in of_instrument.items() if rests_on(row, name)]

    notes = {
        (name, model): tuple(caveat.id for caveat in finding.caveats)
        for name, section in run.sections.items()
        for finding in findings_of(section)
        for model, label in section.names.models.items()
        if label == finding.model
    }

    def doubted(estimate: NamedEstimate) -> NamedEstimate:
        doubt = "; ".join(competence.doubt for competence in failing(estimate.row))
        main = estimate.row.get("family") == PRIMARY
        ids = notes.get((asked_id(estimate.row), estimate.row["model"]), ()) if main else ()
        return replace(estimate, not_measurable=doubt or None, caveats=ids)

    return [doubted(estimate) for estimate in estimates]
