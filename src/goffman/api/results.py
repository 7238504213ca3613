"""What Python users get: a run, an estimate, a comparison, each of which notebooks show."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import polars as pl

from goffman.analysis.summary import Summary, summarize
from goffman.api import notebook
from goffman.api.arguments import paths
from goffman.comparison.runs import the_model_called
from goffman.config import Text
from goffman.errors import InputError, did_you_mean, system_error
from goffman.formatting import describe_difference, ends, number
from goffman.gate.check import gate_input, meant_by
from goffman.gate.names import NamedEstimate, named_estimates, with_doubts
from goffman.instruments.types import AnswerTable, base_of, slug_of
from goffman.modes import asked_ids
from goffman.presentation import vega as presented
from goffman.presentation.vega import config
from goffman.report.figures import figures_of
from goffman.report.images import pdf_of, svg_of
from goffman.report.load import MeasuredRun, read_run
from goffman.runs.run import read_answers

if TYPE_CHECKING:
    from goffman.comparison.runs import Comparison as Compared
    from goffman.pipeline import Audit


ENDINGS = (".svg", ".png", ".pdf", ".json")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of a run: notebooks draw it, ``save()`` writes it to a file."""

    name: str
    """As ``run.figures`` lists it: social-distance.conditions."""
    title: str
    description: str
    """How to read it."""
    spec: Mapping[str, Any]
    """The Vega-Lite specification with its numbers."""

    @cached_property
    def svg(self) -> str:
        """The drawing."""
        return svg_of(dict(self.spec))

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Figure {self.name}: {self.title}>"

    def save(self, file: Text) -> Path:
        """The path of the file, in which the figure now is: .svg, .png (300 dpi), .pdf or .json."""
        (target,) = paths("file", file)
        ending = target.suffix.lower()
        if ending not in ENDINGS:
            raise InputError(f"file is {target}. Its name must end in {' or '.join(ENDINGS)}.")
        if ending == ".png":
            content = png_of(self.svg)
        elif ending == ".pdf":
            content = pdf_of(self.svg)
        elif ending == ".svg":
            content = self.svg.encode()
        else:
            spec = {**self.spec, "config": config()}
            content = (json.dumps(spec, ensure_ascii=False, indent=1) + "\n").encode()
        try:
            target.write_bytes(content)
        except OSError as error:
            raise system_error(error) from error
        return target


def figure_named(
    name: str, known: Mapping[str, presented.Figure], chosen: Mapping[str, str]
) -> Figure:
    """The figure of that name; ``chosen``: what its menus on the page let a reader choose."""
    if name not in known:
        raise InputError(
            f"This run has no figure '{name}'.{did_you_mean(name, known)} Figures: "
            f"{', '.join(known)}."
        )
    figure = known[name]
    menus = {one.field: one for one in figure.choices}
    for field, option in chosen.items():
        if field not in menus:
            allowed = f"Its menus: {', '.join(menus)}." if menus else "It has none."
            raise InputError(f"The figure {name} has no menu '{field}'. {allowed}")
        if option not in menus[field].options:
            raise InputError(
                f"{field} is '{option}'.{did_you_mean(option, menus[field].options)} Allowed: "
                f"{', '.join(menus[field].options)}."
            )
    wanted = "-".join(chosen.get(one.field, one.options[0]) for one in figure.choices)
    specs = dict(figure.drawn())
    return Figure(name=name, title=figure.title, description=figure.description, spec=specs[wanted])


def png_of(svg: str) -> bytes:
    """A drawing made for a page of 96 pixels to an inch, with 300, as journals want them."""
    import vl_convert

    # Of 72 points to an inch.
    content: bytes = vl_convert.svg_to_png(svg, scale=72 / 96, ppi=300)
    return content


def instrument_of(figure: presented.Figure, instruments: Iterable[str]) -> str | None:
    """Whose numbers a figure shows; None: those of no one instrument."""
    # Of two instruments the longer name: coreference/pronouns, not coreference.
    about = [name for name in instruments if figure.id.startswith(f"{slug_of(name)}-")]
    return figure.instrument or max(about, key=len, default=None)


def figures_by_name(
    figures: list[presented.Figure], instruments: list[str]
) -> dict[str, presented.Figure]:
    """Figures by their names: the instrument, a dot, and what is shown of it."""
    found = {}
    for one in figures:
        whose = instrument_of(one, instruments) or ""
        rest = one.id.removeprefix(f"{slug_of(whose)}-")
        found[f"{whose}.{rest}" if whose else rest] = one
    return found


class Frame(pl.DataFrame):
    """A Polars frame. ``to_pandas()`` needs the packages pandas and pyarrow."""

    def to_pandas(self, *args: Any, **kwargs: Any) -> Any:
        """The same rows as a pandas frame; InputError where a package for it is missing."""
        missing = [name for name in ("pandas", "pyarrow") if find_spec(name) is None]
        if missing:
            raise InputError(
                f"to_pandas() needs pandas and pyarrow, and {' and '.join(missing)} cannot be "
                "found. Install both: pip install pandas pyarrow"
            )
        return super().to_pandas(*args, **kwargs)


NAMES_SHOWN = 15


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """One estimate of a run: a difference with its interval, test and verdict."""

    named: NamedEstimate

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
        """As people read it: relevant, negligible …; None: no smallest difference is known."""
        return self.named.verdict

    @property
    def not_measurable(self) -> str | None:
        """Which model cannot do the task, so that the number means nothing; None: none."""
        return self.named.not_measurable

    @property
    def caveats(self) -> tuple[str, ...]:
        """Of a main result the ids of its caveats, the weightiest first."""
        return self.named.caveats

    @property
    def row(self) -> Mapping[str, Any]:
        """Every column of ``run.estimates``."""
        return dict(self.named.row)

    def __repr__(self) -> str:
        row = self.named.row
        said = describe_difference(row)
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
    def _named(self) -> list[NamedEstimate]:
        measured = self.measured
        return with_doubts(named_estimates(measured.every_estimate, measured.manifest), measured)

    def estimate(self, name: str) -> Estimate:
        """One estimate, mean or score on control items, by a name that ``goffman check`` takes.

        A name without brackets, or without its instrument, where only one has it.
        """
        found = meant_by(name, self._checkable)
        if len(found) == 1:
            return Estimate(named=found[0])
        several = [one.name for one in found]
        more = f" … and {len(several) - NAMES_SHOWN} more" if several[NAMES_SHOWN:] else ""
        raise InputError(
            f"This run has {len(found)} estimates '{name}'. Give one of these names: "
            f"{', '.join(several[:NAMES_SHOWN])}{more}."
        )

    @cached_property
    def _checkable(self) -> Sequence[NamedEstimate]:
        """Everything that goffman check --list lists."""
        return gate_input(self.measured).known

    def answers(self, *, model: str | None = None, instrument: str | None = None) -> Frame:
        """Every answer: a row a word, label, reply or option, as ``table`` says.

        ``model``, ``instrument``: only those of this one.
        """
        answered = self.measured.manifest.answers
        if model is not None:
            model = the_model_called(model, list(answered), who="the run has")
        known = sorted({each for one in answered.values() for each in one})
        if instrument is not None and instrument not in known:
            raise InputError(
                f"instrument is '{instrument}', but the run has no answers of it."
                f"{did_you_mean(instrument, known)} Allowed: {', '.join(known)}."
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
        return summarize(measured.sections, measured.correlations, measured.anchored)

    @property
    def summary(self) -> str:
        """What the run says, in sentences: what ``goffman show`` prints."""
        return "\n".join(self._summary.details)

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
        return notebook.run_html(self.measured, self._summary.details)


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
