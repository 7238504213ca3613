"""What Python users get: a run, an estimate, a comparison, each of which notebooks show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import polars as pl

from goffman.analysis.summary import summary
from goffman.api import notebook
from goffman.api.drawn import Figure, figure_named, figures_by_name
from goffman.api.frames import Frame
from goffman.errors import InputError, did_you_mean
from goffman.presentation.numbers import difference_said, ends, number
from goffman.records import AnswerTable
from goffman.reports.figures import figures_of
from goffman.reports.levels import headings
from goffman.reports.measurable import with_doubts
from goffman.reports.names import EVERY_MODEL, Named, named
from goffman.reports.run import MeasuredRun, read_run
from goffman.runs.read import read_answers

if TYPE_CHECKING:
    from goffman.flow import Audit
    from goffman.reports.compare import Comparison as Compared

NAMES_SHOWN = 15


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """One estimate of a run: a difference with its interval, test and verdict."""

    named: Named

    @property
    def name(self) -> str:
        """As ``goffman check --list`` has it: social-distance.gap[roberta-base]."""
        return self.named.name

    @property
    def value(self) -> float | None:
        """The difference; of a correlation r."""
        return self.named.value("value")

    @property
    def low(self) -> float | None:
        """The lower end of its interval."""
        return self.named.value("low")

    @property
    def high(self) -> float | None:
        """The upper end of its interval."""
        return self.named.value("high")

    @property
    def p(self) -> float | None:
        """Corrected over its family of tests; the one without correction is in ``row``."""
        return self.named.value("p_adjusted")

    @property
    def effect(self) -> float | None:
        """The effect size; ``row["effect_name"]`` says which."""
        return self.named.value("effect")

    @property
    def verdict(self) -> str | None:
        """As people read it: relevant, small, fragile …; None: no smallest difference is known."""
        return self.named.verdict

    @property
    def not_measurable(self) -> str | None:
        """Which model cannot do the task, so that the number means nothing; None: none."""
        return self.named.not_measurable

    @property
    def row(self) -> Mapping[str, Any]:
        """Every column of ``run.estimates``."""
        return dict(self.named.row)

    def __repr__(self) -> str:
        row = self.named.row
        said = difference_said(row)
        if row["difference"] is None and self.value is not None:
            said = f"{row['effect_name']} = {number(self.value)} ({ends(self.low, self.high)})"
        verdict = f"; {self.verdict}" if self.verdict else ""
        doubt = f"; not measurable: {self.not_measurable}" if self.not_measurable else ""
        return f"<Estimate {self.name}: {said}{verdict}{doubt}>"

    def _repr_html_(self) -> str:
        return notebook.estimate_html(self.named)


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """A run: the folder with the answers to one audit, and what was measured.

    Its tables are read when they are first asked for, and stay as they were then.
    """

    folder: Path
    audited: Audit | None = None
    """What the audit that this comes from asked; None: the run was opened."""
    notes: tuple[str, ...] = ()
    """What that audit told its user: what was left out, repaired, asked again."""

    @cached_property
    def measured(self) -> MeasuredRun:
        """Everything that goffman itself reads of the run."""
        return read_run(self.folder)

    @property
    def models(self) -> list[str]:
        """The models that were asked."""
        return list(self.measured.manifest.models)

    @property
    def instruments(self) -> list[str]:
        """The instruments that have scores, in the order in which they were asked."""
        return list(self.measured.sections)

    @property
    def report(self) -> Path | None:
        """The page that shows the run; None: there is none."""
        page = self.folder / "report.html"
        return page if page.is_file() else None

    @property
    def prompts(self) -> Frame:
        """What was asked: a row a prompt."""
        return Frame(self.measured.prompts)

    @property
    def scores(self) -> Frame:
        """The numbers: those of each prompt, then the means over them (see ``level``)."""
        return Frame(self.measured.scores)

    @cached_property
    def estimates(self) -> Frame:
        """Every contrast with its name, interval, test and verdict."""
        frame = self.measured.every_estimate
        beside = {"name": [one.name for one in self._named]}
        doubts = pl.Series("not_measurable", [one.not_measurable for one in self._named], pl.String)
        return Frame(
            pl.DataFrame(beside, schema={"name": pl.String}).hstack(frame).hstack([doubts])
        )

    @cached_property
    def _named(self) -> list[Named]:
        measured = self.measured
        return with_doubts(named(measured.every_estimate, measured.manifest), measured)

    def estimate(self, name: str) -> Estimate:
        """One estimate by its name; a name without brackets where only one has it."""
        every = [*self._named, *headings(self._named, self.measured.manifest)]
        exact = [one for one in every if one.name == name]
        alike = [one for one in every if one.path == name]
        found = exact or [one for one in alike if one.model != EVERY_MODEL] or alike
        if len(found) == 1:
            return Estimate(named=found[0])
        if found:
            several = [one.name for one in found]
            more = f" … and {len(several) - NAMES_SHOWN} more" if several[NAMES_SHOWN:] else ""
            raise InputError(
                f"This run has {len(found)} estimates '{name}'. Give one of these names: "
                f"{', '.join(several[:NAMES_SHOWN])}{more}."
            )
        known = [known for one in every for known in (one.path, one.name)]
        raise InputError(
            f"This run has no estimate '{name}'.{did_you_mean(name, known)} The column name of "
            "run.estimates has every name."
        )

    def answers(self, *, model: str | None = None, instrument: str | None = None) -> Frame:
        """Every answer: a row a word, label, reply or option, as ``table`` says.

        ``model``, ``instrument``: only those of this one.
        """
        answered = self.measured.manifest.answers
        _check("model", model, list(answered))
        _check(
            "instrument", instrument, sorted({each for one in answered.values() for each in one})
        )
        frames = [
            read_answers(self.folder, table, model=name, instrument=asked).select(
                pl.lit(table).alias("table"), pl.lit(asked).alias("instrument"), pl.all()
            )
            for table in get_args(AnswerTable)
            for name in sorted(answered)
            for asked, entry in sorted(answered[name].items())
            if entry.table == table and model in {None, name} and instrument in {None, asked}
        ]
        return Frame(pl.concat(frames, how="diagonal") if frames else pl.DataFrame())

    @cached_property
    def _summary(self) -> tuple[str, ...]:
        measured = self.measured
        return tuple(summary(measured.sections, measured.correlations, measured.anchored))

    @property
    def summary(self) -> str:
        """What the run says, in sentences: what the command prints."""
        return "\n".join(self._summary)

    @cached_property
    def _figures(self) -> dict[str, Any]:
        return figures_by_name(figures_of(self.measured), list(self.measured.manifest.instruments))

    @property
    def figures(self) -> list[str]:
        """The names of its figures."""
        return list(self._figures)

    def figure(self, name: str, **chosen: str) -> Figure:
        """A figure by its name; ``chosen``: what a menu of the page offers, by its field."""
        return figure_named(name, self._figures, chosen)

    def __repr__(self) -> str:
        return f"<Run {str(self.folder)!r}>"

    def _repr_html_(self) -> str:
        return notebook.run_html(self.measured, self._summary)


def _check(what: str, given: str | None, known: Sequence[str]) -> None:
    if given is not None and given not in known:
        raise InputError(
            f"{what} is '{given}', but the run has no answers of it.{did_you_mean(given, known)} "
            f"Allowed: {', '.join(known)}."
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """Runs compared: each later one with the first, instrument by instrument."""

    runs: tuple[Run, ...]
    """In the order in which they were given."""
    parts: tuple[Compared, ...]
    """One for each instrument and pair of models."""
    notes: tuple[str, ...] = ()
    """What could not be compared, and why."""

    @property
    def estimates(self) -> Frame:
        """Every difference and change, with who is compared with whom."""
        frames = [
            one.estimates.select(
                pl.lit(str(one.reference)).alias("reference"),
                pl.lit(str(one.run)).alias("run"),
                pl.lit(one.models[0]).alias("reference_model"),
                pl.lit(one.models[1]).alias("run_model"),
                pl.all(),
                pl.lit("; ".join(one.unmeasurable) or None, pl.String).alias("not_measurable"),
            )
            for one in self.parts
        ]
        return Frame(pl.concat(frames))

    def __repr__(self) -> str:
        pairs = dict.fromkeys((str(one.reference), str(one.run)) for one in self.parts)
        said = "; ".join(f"{run} with {reference}" for reference, run in pairs)
        return f"<Comparison of {said}>"

    def _repr_html_(self) -> str:
        return notebook.comparison_html(self.parts, self.notes)
