"""What Python users get: a run, an estimate, a comparison, each of which notebooks show."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args

import polars as pl

from goffman.api import notebook
from goffman.api.arguments import paths
from goffman.comparison.runs import Comparison as Compared
from goffman.comparison.runs import the_model_called
from goffman.config import Text
from goffman.errors import InputError, did_you_mean
from goffman.formatting import describe_difference, ends, number
from goffman.gate.check import gate_input, meant_by
from goffman.gate.names import NamedEstimate, named_estimates, with_doubts
from goffman.instruments.types import AnswerTable, base_of, slug_of
from goffman.modes import asked_ids
from goffman.pipeline import Audit
from goffman.presentation import vega as presented
from goffman.presentation.vega import config
from goffman.report.figures import DRAWN, figures_of, svg_of
from goffman.report.load import MeasuredRun, read_run
from goffman.report.summary import Summary
from goffman.runs.files import write_output
from goffman.runs.run import read_answers

ENDINGS = (*DRAWN, ".json")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of a run: notebooks draw it, ``save()`` writes it to a file."""

    name: str
    """The name as in ``run.figures``: social-distance.conditions."""
    title: str
    description: str
    """How to read the figure."""
    spec: Mapping[str, Any]
    """The Vega-Lite specification with its numbers."""

    @cached_property
    def svg(self) -> str:
        """Return the drawing as SVG."""
        return svg_of(dict(self.spec))

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Figure {self.name}: {self.title}>"

    def save(self, file: Text) -> Path:
        """Write the figure to a .svg, .png (300 dpi), .pdf or .json file, and return its path."""
        (target,) = paths("file", file)
        ending = target.suffix.lower()
        if ending not in ENDINGS:
            raise InputError(f"file is {target}. Its name must end in {' or '.join(ENDINGS)}.")
        if ending == ".json":
            spec = {**self.spec, "config": config()}
            content = (json.dumps(spec, ensure_ascii=False, indent=1) + "\n").encode()
        else:
            content = DRAWN[ending](self.svg)
        write_output(target, content)
        return target


def figure_named(
    name: str, figures: Mapping[str, presented.Figure], chosen: Mapping[str, str]
) -> Figure:
    """Return the figure of that name; ``chosen``: the options chosen in its menus on the page."""
    if name not in figures:
        raise InputError(
            f"This run has no figure '{name}'.{did_you_mean(name, figures)} Figures: "
            f"{', '.join(figures)}."
        )
    figure = figures[name]
    menus = {menu.field: menu for menu in figure.choices}
    for field, option in chosen.items():
        if field not in menus:
            allowed = f"Its menus: {', '.join(menus)}." if menus else "It has none."
            raise InputError(f"The figure {name} has no menu '{field}'. {allowed}")
        if option not in menus[field].options:
            raise InputError(
                f"{field} is '{option}'.{did_you_mean(option, menus[field].options)} Allowed: "
                f"{', '.join(menus[field].options)}."
            )
    wanted = "-".join(chosen.get(menu.field, menu.options[0]) for menu in figure.choices)
    specs = dict(figure.drawn())
    return Figure(name=name, title=figure.title, description=figure.description, spec=specs[wanted])


def instrument_of(figure: presented.Figure, instruments: Iterable[str]) -> str | None:
    """Return the instrument whose numbers a figure shows; None if it is not a single one."""
    # If two instruments match, the longer name counts: coreference/pronouns, not coreference.
    names = [name for name in instruments if figure.id.startswith(f"{slug_of(name)}-")]
    return figure.instrument or max(names, key=len, default=None)


def figures_by_name(
    figures: list[presented.Figure], instruments: list[str]
) -> dict[str, presented.Figure]:
    """Return figures by their names: the instrument, a dot, and what is shown of it."""
    by_name = {}
    for drawn_figure in figures:
        instrument = instrument_of(drawn_figure, instruments) or ""
        shown = drawn_figure.id.removeprefix(f"{slug_of(instrument)}-")
        by_name[f"{instrument}.{shown}" if instrument else shown] = drawn_figure
    return by_name


class Frame(pl.DataFrame):
    """A Polars frame. ``to_pandas()`` needs the packages pandas and pyarrow."""

    def to_pandas(self, *args: Any, **kwargs: Any) -> Any:
        """Return the rows as a pandas frame; raise InputError if a package for it is missing."""
        missing = [name for name in ("pandas", "pyarrow") if find_spec(name) is None]
        if missing:
            raise InputError(
                f"to_pandas() needs pandas and pyarrow, and {' and '.join(missing)} cannot be "
                "found. Install both: pip install pandas pyarrow"
            )
        return super().to_pandas(*args, **kwargs)


NAMES_SHOWN = 15


class Estimate(NamedEstimate):
    """One estimate of a run: a difference with its interval, test and verdict."""

    @property
    def p(self) -> float | None:
        """Return p, corrected over its family of tests; ``row`` has the uncorrected p."""
        return self.field("p_adjusted")

    @property
    def effect(self) -> float | None:
        """Return the effect size; ``row["effect_name"]`` names the kind of effect."""
        return self.field("effect")

    def __repr__(self) -> str:
        text = describe_difference(self.row)
        if self.row["difference"] is None and self.value is not None:
            text = f"{self.row['effect_name']} = {number(self.value)} ({ends(self.low, self.high)})"
        verdict = f"; {self.verdict}" if self.verdict else ""
        doubt = f"; not measurable: {self.not_measurable}" if self.not_measurable else ""
        return f"<Estimate {self.name}: {text}{verdict}{doubt}>"

    def _repr_html_(self) -> str:
        return notebook.estimate_html(self)


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """A run: the folder with the answers to one audit, and what was measured.

    Its tables are read when they are first asked for, and stay as they were then.
    """

    folder: Path
    audited: Audit | None = None
    """The audit that made this run; None if the run was opened from a folder."""
    notes: tuple[str, ...] = ()
    """The audit's messages to its user: what was left out, repaired, asked again."""

    @cached_property
    def measured(self) -> MeasuredRun:
        """Return everything that goffman itself reads of the run."""
        return read_run(self.folder)

    @property
    def models(self) -> list[str]:
        """Return the models that were asked."""
        return list(self.measured.manifest.models)

    @property
    def instruments(self) -> list[str]:
        """Return the instruments that have scores, in the order in which they were asked."""
        return list(self.measured.sections)

    @property
    def report(self) -> Path | None:
        """Return the page that shows the run; None if there is none."""
        page = self.folder / "report.html"
        return page if page.is_file() else None

    @property
    def prompts(self) -> Frame:
        """Return what was asked: one row for each prompt."""
        return Frame(self.measured.prompts)

    @property
    def scores(self) -> Frame:
        """Return the numbers: those of each prompt, then the means over them (see ``level``)."""
        return Frame(self.measured.scores)

    @cached_property
    def estimates(self) -> Frame:
        """Return every contrast with its name, interval, test and verdict."""
        frame = self.measured.every_estimate
        names = {"name": [estimate.name for estimate in self._named]}
        doubts = pl.Series(
            "not_measurable", [estimate.not_measurable for estimate in self._named], pl.String
        )
        return Frame(pl.DataFrame(names, schema={"name": pl.String}).hstack(frame).hstack([doubts]))

    @cached_property
    def _named(self) -> list[NamedEstimate]:
        measured = self.measured
        return with_doubts(named_estimates(measured.every_estimate, measured.manifest), measured)

    def estimate(self, name: str) -> Estimate:
        """Return one estimate, mean or score on control items, by a name for ``goffman check``.

        The brackets, or the instrument, may be left out of the name if only one estimate then has
        it.
        """
        matches = meant_by(name, self._checkable)
        if len(matches) == 1:
            return Estimate(**vars(matches[0]))
        names = [match.name for match in matches]
        more = f" … and {len(names) - NAMES_SHOWN} more" if names[NAMES_SHOWN:] else ""
        raise InputError(
            f"This run has {len(matches)} estimates '{name}'. Give one of these names: "
            f"{', '.join(names[:NAMES_SHOWN])}{more}."
        )

    @cached_property
    def _checkable(self) -> Sequence[NamedEstimate]:
        """Return all numbers that ``goffman check --list`` lists."""
        return gate_input(self.measured).known

    def answers(self, *, model: str | None = None, instrument: str | None = None) -> Frame:
        """Return every answer: one row for each word, label, reply or option, as ``table`` says.

        ``model``, ``instrument``: only answers of this model, to this instrument.
        """
        answered = self.measured.manifest.answers
        if model is not None:
            model = the_model_called(model, list(answered), who="the run has")
        instruments = sorted({asked_id for entries in answered.values() for asked_id in entries})
        if instrument is not None and instrument not in instruments:
            raise InputError(
                f"instrument is '{instrument}', but the run has no answers of it."
                f"{did_you_mean(instrument, instruments)} Allowed: {', '.join(instruments)}."
            )
        modes = dict(self.measured.prompts.select(asked_ids(), "mode").unique().rows())
        frames = [
            read_answers(self.folder, table, model=name, instrument=asked).select(
                pl.lit(table).alias("table"),
                pl.lit(base_of(asked)).alias("instrument"),
                pl.lit(modes.get(asked), dtype=pl.String).alias("mode"),
                pl.all(),
            )
            for table in get_args(AnswerTable)
            for name in sorted(answered)
            for asked, entry in sorted(answered[name].items())
            if entry.table == table and model in {None, name} and instrument in {None, asked}
        ]
        return Frame(pl.concat(frames, how="diagonal") if frames else pl.DataFrame())

    @cached_property
    def _summary(self) -> Summary:
        measured = self.measured
        return measured.summary

    @property
    def summary(self) -> str:
        """Return the run's results in sentences: what ``goffman show`` prints."""
        return "\n".join(self._summary.details)

    @cached_property
    def _figures(self) -> dict[str, Any]:
        return figures_by_name(figures_of(self.measured), list(self.measured.manifest.instruments))

    @property
    def figures(self) -> list[str]:
        """Return the names of the run's figures."""
        return list(self._figures)

    def figure(self, name: str, **chosen: str) -> Figure:
        """Return a figure by its name; ``chosen``: options of its menus on the page, by field."""
        return figure_named(name, self._figures, chosen)

    def __repr__(self) -> str:
        return f"<Run {str(self.folder)!r}>"

    def _repr_html_(self) -> str:
        return notebook.run_html(self.measured, self._summary.details)


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """A comparison of runs: each later run with the first, instrument by instrument."""

    runs: tuple[Run, ...]
    """In the order in which they were given."""
    parts: tuple[Compared, ...]
    """One for each instrument and pair of models."""
    notes: tuple[str, ...] = ()
    """What could not be compared, and why."""

    @property
    def estimates(self) -> Frame:
        """Return every difference and change, with the runs and models that are compared."""
        frames = [
            part.estimates.select(
                pl.lit(str(part.reference)).alias("reference"),
                pl.lit(str(part.run)).alias("run"),
                pl.lit(part.models[0]).alias("reference_model"),
                pl.lit(part.models[1]).alias("run_model"),
                pl.all(),
                pl.lit("; ".join(part.unmeasurable) or None, pl.String).alias("not_measurable"),
            )
            for part in self.parts
        ]
        return Frame(pl.concat(frames))

    def __repr__(self) -> str:
        pairs = dict.fromkeys((str(part.reference), str(part.run)) for part in self.parts)
        text = "; ".join(f"{run} with {reference}" for reference, run in pairs)
        return f"<Comparison of {text}>"

    def _repr_html_(self) -> str:
        return notebook.comparison_html(self.parts, self.notes)
