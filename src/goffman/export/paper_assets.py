"""The main results of each instrument as tables and figures for a paper."""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.anchors.sentences import describe_anchors
from goffman.api.results import instrument_of, png_of
from goffman.console import printable
from goffman.formatting import short_names, verdict_shown
from goffman.gate.names import named_estimates, with_doubts
from goffman.instruments.types import BASELINE, slug_of
from goffman.presentation.conditions import PART as IDENTITIES
from goffman.presentation.conditions import how_many
from goffman.presentation.findings import describe_identities, findings_of
from goffman.presentation.table_formats import ColumnSpec, as_table, csv_text, numbers, texts
from goffman.report.figures import figures_of, pdf_of, svg_of
from goffman.report.summary import describe_correlations
from goffman.report.table_files import CORRECTED_SAID
from goffman.schemas import CONTRASTS, ESTIMATES, PROMPT_TABLE, SCORES, VERDICTS, Column

if TYPE_CHECKING:
    from goffman.presentation.section import Section
    from goffman.presentation.table_formats import Table
    from goffman.presentation.vega import Figure, Spec
    from goffman.report.load import MeasuredRun


_SHOWN = (
    *texts("label", label="Contrast"),
    *numbers("difference", difference="Difference"),
    ColumnSpec(header="Interval", keys=("low", "high"), form="interval"),
    *numbers("statistic", statistic="t"),
    ColumnSpec(header="df", keys=("df",), form="tenths"),
    ColumnSpec(header="p", keys=("p_adjusted",), form="p"),
    *numbers("effect", effect="Effect"),
)

_AS_ASKED = {
    "groups-as-asked": " (conditions only)",
    "genders-as-asked": " (prompts as independent)",
    "groups-adjusted": " (adjusted)",
}


def main_table(section: Section) -> Table:
    """Return the main contrasts of whole scales, each once, as wide as one column of a paper."""
    estimates = section.estimates.filter(
        pl.col("kind").is_in(section.presentation.main) | (pl.col("family") == "primary"),
        pl.col("dimension").is_null(),
    )
    rows = []
    for row in estimates.iter_rows(named=True):
        parts = [section.names.model(row["model"]), row["group"], row["variant"]]
        # The verdict is part of the label, so that no paper leaves it out.
        verdict = f"; {shown}" if (shown := verdict_shown(row)) else ""
        about = f"{', '.join(part for part in parts if part)}: {row['first']} − {row['second']}"
        label = f"{about}{_AS_ASKED.get(row['kind'], '')}{verdict}"
        tested = None not in {row["df"], row["statistic"]}
        numbers_of_test = {name: row[name] if tested else None for name in ("df", "statistic")}
        rows.append(row | numbers_of_test | {"label": label})
    table = as_table(
        section.instrument,
        caption_of(section, len(rows)),
        rows,
        shown=_SHOWN,
        columns=("label", *estimates.columns),
    )
    return replace(table, above="label")


def caption_of(section: Section, count: int) -> str:
    """Return what is in the table, and what its numbers are."""
    rows = section.estimates.filter(pl.col("effect_name").is_not_null())
    effects = dict.fromkeys(rows.filter(family="primary")["effect_name"])
    failing = " ".join(
        f"{competence.doubt}: its numbers mean nothing."
        for competence in section.unmeasurable().values()
    )
    sentences = [
        f"{section.instrument}: {count} contrasts, first minus second.",
        f"Effect: {', '.join(effects)}." if effects else "",
        CORRECTED_SAID,
        section.ratings,
        failing,
    ]
    return " ".join(part for part in sentences if part)


LINE = 90
"""Letters in a line above a figure."""

FINDINGS = 3
"""Number of models whose findings an alt text gives in full."""


@dataclass(frozen=True, kw_only=True)
class PaperFigure:
    """A figure in the form in which a paper uses it."""

    name: str
    spec: Spec
    alt: str

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the drawing as SVG, PNG at 300 dpi, and PDF."""
        svg = svg_of(self.spec)
        yield f"{self.name}.svg", svg.encode()
        yield f"{self.name}.png", png_of(svg)
        yield f"{self.name}.pdf", pdf_of(svg)


def paper_figures(run: MeasuredRun) -> Iterator[PaperFigure]:
    """Yield every figure of the run, as its page first shows it."""
    for figure in figures_of(run):
        section = run.sections.get(instrument_of(figure, run.sections) or "")
        choice, spec = next(figure.drawn())
        alt = alt_text(figure, section, run)
        title = f"{figure.title} ({choice})" if choice else figure.title
        heading = {
            "text": textwrap.wrap(printable(title), LINE),
            "subtitle": textwrap.wrap(asked_of(section, figure), LINE) if section else [],
            "anchor": "start",
        }
        yield PaperFigure(
            name=figure.id, spec={**spec, "title": heading, "description": alt}, alt=alt
        )


def asked_of(section: Section, figure: Figure) -> str:
    """Return the models, and how many conditions and prompts they were asked."""
    models = section.models()
    who = ", ".join(models) if len(models) <= FINDINGS else f"{len(models)} models"
    if figure.id.endswith(f"-{IDENTITIES}"):
        return printable(f"{section.instrument}. {who}. n = {how_many(section)}, for each identity")
    prompts_with_condition = section.prompts.filter(pl.col("condition") != BASELINE)
    count = prompts_with_condition["condition"].n_unique()
    nouns = section.noun.many if count != 1 else section.noun.one
    return printable(
        f"{section.instrument}. {who}. n = {count:,} {nouns}, {section.prompts.height:,} prompts"
    )


def alt_text(figure: Figure, section: Section | None, run: MeasuredRun) -> str:
    """Return a description of the figure, in sentences that say what was found."""
    findings = _found(figure, section, run)
    more = len(findings) - FINDINGS
    unsaid = [f"The same is shown for {more} more."] if more > 0 else []
    asked = [f"{asked_of(section, figure)}."] if section else []
    return printable(" ".join([f"{figure.title}.", *findings[:FINDINGS], *unsaid, *asked]))


def _found(figure: Figure, section: Section | None, run: MeasuredRun) -> list[str]:
    if "-beside-people-" in figure.id:
        anchor = figure.id.partition("-beside-people-")[2]
        results = [result for result in run.anchored if result.anchor == anchor]
        return describe_anchors([result for result in results if section in (None, result.section)])
    if figure.id.endswith("-measures-together"):
        return describe_correlations(run.correlations)
    if section is None:
        return []
    if figure.id.endswith(f"-{IDENTITIES}"):
        by_model = [(model, describe_identities(section, model)) for model in section.models()]
        return [f"{model}: {' '.join(sentences)}" for model, sentences in by_model]
    return [
        f"{finding.model}: {finding.heading} {finding.text}".strip()
        for finding in findings_of(section)
    ]


KEY = ("model", "prompt_id", "trial")
"""The key of a row: no two rows of a file have the same."""

IDS = ("item", "wording", "dimension", "condition", "form", "group", "category")
"""The properties of a prompt that its scores have."""

SHOWN = ("family", "keyed", "gender", "person", "order", "labels", "no_answer", "system", "text")
"""How the prompt was presented; only properties that a prompt of the instrument has."""

OWN = (
    Column("name", "text", "the estimate's name, as goffman check --list prints it"),
    *CONTRASTS,
    *ESTIMATES,
    *VERDICTS,
    Column("not_measurable", "text", "which model cannot do the task", nullable=True),
    Column("caveats", "text", "of a main result: the ids of its caveats", nullable=True),
)
"""The columns of estimates.csv."""


@dataclass(frozen=True, kw_only=True)
class PaperData:
    """A run's data as files for other programs."""

    run: MeasuredRun

    @cached_property
    def models(self) -> dict[str, str]:
        """Return the name of a model as given → its name in a paper, without local folders."""
        return short_names(self.run.manifest.models)

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield the name and text of every file."""
        for name, section in self.run.sections.items():
            yield f"data-{slug_of(name)}.csv", _csv(self.prompts(section))
        yield "estimates.csv", _csv(self.estimates)
        kinds = {"text": "text", "int": "whole number", "bool": "True or False"}
        codebook = [
            {
                "file": file,
                "column": column.name,
                "type": kinds.get(column.type, "number"),
                "may_be_empty": "yes" if column.nullable else "no",
                "meaning": column.meaning,
            }
            for file, column in self.columns()
        ]
        yield "codebook.csv", _csv(pl.DataFrame(codebook))

    def prompts(self, section: Section) -> pl.DataFrame:
        """Return a row for each prompt, model and trial, with a column for each of its numbers."""
        scores = section.scores.filter(level="prompt").with_columns(
            column=pl.struct("quantity", "variant").map_elements(
                lambda names: column_name(names["quantity"], names["variant"]),
                return_dtype=pl.String,
            )
        )
        values = scores.pivot(on="column", index=KEY, values="value", aggregate_function="first")
        ids = scores.group_by(KEY, maintain_order=True).agg(pl.col(IDS).first())
        order = section.prompts.with_row_index("place")
        shown = [name for name in SHOWN if order[name].drop_nulls().n_unique() > (name != "text")]
        rows = (
            ids.join(values, on=KEY, nulls_equal=True)
            .join(order.select("prompt_id", "place", *shown), on="prompt_id", how="left")
            .sort("model", "place", "trial")
            .drop("place")
        )
        texts = rows.select(*shown)
        rows = rows.drop(shown)
        numbers = sorted(name for name in rows.columns if name not in {*KEY, *IDS})
        empty = [n for n in (*KEY, *IDS) if rows[n].null_count() == rows.height]
        rows = rows.select(*(n for n in (*KEY, *IDS) if n not in empty), *numbers).hstack(texts)
        return rows.with_columns(pl.col("model").replace(self.models))

    @cached_property
    def estimates(self) -> pl.DataFrame:
        """Return every estimate once, with its name."""
        run = self.run
        estimates = with_doubts(named_estimates(run.every_estimate, run.manifest), run)
        rows = []
        for estimate in estimates:
            # Models have their short names wherever they occur in a row.
            name = replace(estimate, model=self._short(estimate.model)).name
            row = {column: self._short(value) for column, value in estimate.row.items()}
            doubts = {
                "not_measurable": estimate.not_measurable,
                "caveats": " ".join(estimate.caveats),
            }
            rows.append({"name": name, **row, **doubts})
        return pl.DataFrame(rows, schema=[column.name for column in OWN], infer_schema_length=None)

    def _short(self, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        for name, shown in self.models.items():
            value = value.replace(name, shown) if name != shown else value
        return value

    def columns(self) -> Iterator[tuple[str, Column]]:
        """Yield every column of every file of rows, with its meaning."""
        schema_columns = {column.name: column for column in (*PROMPT_TABLE, *SCORES)}
        meanings = quantities()
        for name, section in self.run.sections.items():
            number_columns = quantity_columns(section)
            for column_title in self.prompts(section).columns:
                described = schema_columns.get(column_title)
                if column_title in number_columns:
                    described = quantity_column(
                        column_title, number_columns[column_title], section.measure, meanings
                    )
                if described is not None:
                    yield f"data-{slug_of(name)}.csv", described
        for column in OWN:
            yield "estimates.csv", column


def _csv(frame: pl.DataFrame) -> str:
    return csv_text(as_table("data", "", frame.to_dicts(), shown=(), columns=frame.columns))


def column_name(quantity: str, variant: str | None) -> str:
    """Return a prompt's number as a name that R and pandas accept unchanged."""
    whole = quantity if variant is None else f"{quantity}_{variant}"
    return re.sub(r"[^A-Za-z0-9]+", "_", whole)


def quantity_columns(section: Section) -> dict[str, tuple[str, str | None]]:
    """Return by column the quantity and variant of the numbers in it."""
    pairs = section.scores.filter(level="prompt").select("quantity", "variant").unique()
    return {
        column_name(quantity, variant): (quantity, variant) for quantity, variant in pairs.rows()
    }


def quantity_column(
    name: str,
    of: tuple[str, str | None],
    measure: str,
    meanings: Mapping[str, Mapping[str, str]],
) -> Column:
    """Return the column of a number, with its meaning."""
    quantity, variant = of
    meaning = meanings.get(measure, {}).get(quantity) or meanings["every"].get(quantity)
    if meaning is None and quantity.startswith("says-"):
        meaning = f"of the answers, the share of the label {quantity.removeprefix('says-')}"
    meaning = meaning or f"the number {quantity} of the measure {measure}"
    if variant is not None:
        meaning += f" ({variant.replace('-', ' ')})"
    return Column(name, "float64", meaning, nullable=True)


def quantities() -> dict[str, dict[str, str]]:
    """Return, by measure or for every measure, what each number of a prompt is."""
    text = files("goffman.export").joinpath("for_paper", "quantities.toml").read_text("utf-8")
    return tomllib.loads(text)
