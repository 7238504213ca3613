"""What was measured while a model was trained: every measurement, and their course as a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from goffman.api.results import Estimate, Figure, Frame
from goffman.comparison.page import slopes
from goffman.contrasts.verdict import direction
from goffman.errors import InputError, did_you_mean
from goffman.formatting import confidence, ends, humanize, number, verdict_shown
from goffman.modes import asked_id
from goffman.presentation.vega import SCHEMA, Spec

Row = Mapping[str, Any]

STEPS: Spec = {
    "field": "run",
    "type": "quantitative",
    "title": "Training step",
    "scale": {"nice": False, "zero": False, "padding": 12},
    "axis": {"domain": True, "grid": False, "format": ",d", "tickMinStep": 1},
}


def _describe_look(step: int, row: Row) -> str:
    interval = "no interval"
    if row["low"] is not None:
        interval = f"{confidence(row['level'])} interval {ends(row['low'], row['high'])}"
    return f"at step {step:,}: {number(row['difference'])} ({interval})."


def course_spec(
    name: str, looks: Sequence[tuple[int, Row]], *, axis: str = "Difference"
) -> tuple[str, Spec]:
    """Return how to read the figure, and its specification; ``looks``: step, estimate, in order."""
    rows = [
        {
            **{key: row[key] for key in ("difference", "low", "high", "p_adjusted")},
            "run": step,
            "set": "",
            "value": row["difference"],
            "clear": "yes" if direction(row) else "no",
            "verdict": verdict_shown(row) or "none",
        }
        for step, row in looks
    ]
    margin = looks[-1][1]["margin"]
    description = f"{name} {_describe_look(*looks[0])}"
    if len(looks) > 1:
        description += f" A{_describe_look(*looks[-1])[1:]}"
    description += (
        " Each bar is the 95% interval at that step. If it excludes 0, the mark is filled, "
        "otherwise hollow."
    )
    if margin:
        description += (
            f" In the shaded band, differences are too small to matter (up to {number(margin)})."
        )
    spec = slopes(rows, along=STEPS, axis=axis, around=(0.0, margin), called=axis)
    return description, {"$schema": SCHEMA, "description": description, **spec}


_COLUMNS = {
    "step": pl.Int64,
    "name": pl.String,
    **dict.fromkeys(("value", "low", "high", "p"), pl.Float64),
    **dict.fromkeys(("verdict", "not_measurable"), pl.String),
    "control": pl.Float64,
    "seconds": pl.Float64,
}


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One measurement of a model in training."""

    step: int
    estimates: tuple[Estimate, ...]
    """The main result of each instrument and mode; none where it could not be made."""
    controls: Mapping[str, float | None] = field(default_factory=dict)
    """Instrument → the score on the control items."""
    seconds: float = 0.0
    """Seconds that the measurement took."""

    def values(self) -> dict[str, float]:
        """Return the logged values by name; only control scores for tasks the model cannot do."""
        numbers: dict[str, float] = {}
        for estimate in self.estimates:
            if estimate.not_measurable or estimate.value is None:
                continue
            name = f"goffman/{estimate.path}"
            figures = {
                name: estimate.value,
                f"{name}.low": estimate.low,
                f"{name}.high": estimate.high,
            }
            numbers |= {key: value for key, value in figures.items() if value is not None}
        numbers |= {
            f"goffman/{instrument}.control": value
            for instrument, value in self.controls.items()
            if value is not None
        }
        return numbers


@dataclass(kw_only=True)
class History:
    """All measurements of a model in training, in the order of the steps."""

    points: list[Measurement] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Return the names of the estimates that were measured."""
        return list(
            dict.fromkeys(estimate.name for point in self.points for estimate in point.estimates)
        )

    @property
    def estimates(self) -> Frame:
        """Return a row for each measurement and estimate, with its interval and verdict."""
        rows = [
            {
                "step": point.step,
                "name": estimate.name,
                "value": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "p": estimate.p,
                "verdict": estimate.verdict,
                "not_measurable": estimate.not_measurable,
                "control": point.controls.get(asked_id(estimate.row)),
                "seconds": point.seconds,
            }
            for point in self.points
            for estimate in point.estimates
        ]
        return Frame(pl.DataFrame(rows, schema=_COLUMNS))

    def figure(self, name: str | None = None) -> Figure:
        """Return the course of an estimate, which notebooks draw.

        ``name``: which estimate; None: the only one, or the first. Measurements at which the model
        could not do the task are left out.
        """
        names = self.names
        if not names:
            raise InputError("Nothing was measured yet, so there is no course to draw.")
        choice = names[0] if name is None else name
        matches = [
            candidate for candidate in names if choice in (candidate, candidate.partition("[")[0])
        ]
        if not matches:
            raise InputError(
                f"The course has no estimate '{choice}'.{did_you_mean(choice, names)} Estimates: "
                f"{', '.join(names)}."
            )
        looks = [
            (point.step, estimate.row)
            for point in self.points
            for estimate in point.estimates
            if estimate.name == matches[0]
            and not estimate.not_measurable
            and estimate.value is not None
        ]
        if not looks:
            raise InputError(
                f"{matches[0]} has no course: at every step the model was not measurable."
            )
        description, spec = course_spec(matches[0], looks)
        row = looks[-1][1]
        group = f" for {humanize(row['group'])}" if row["group"] else ""
        sides = f"{humanize(row['first'])} − {humanize(row['second'])}"
        title = f"{asked_id(row)} while training: {sides}{group}"
        if row["kind"] == "level":
            title = f"{humanize(asked_id(row))} while training: {humanize(row['quantity'])}"
        return Figure(
            name=f"{matches[0]}.course",
            title=title,
            description=description,
            spec=spec,
        )
