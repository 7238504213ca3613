"""A run as parts of a paper: methods, references, data, tables and figures; what exports share."""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman import __version__
from goffman.anchors.sentences import describe_anchors
from goffman.api.results import instrument_of
from goffman.comparison.runs import answered, the_model_called
from goffman.console import printable
from goffman.errors import InputError
from goffman.formatting import VERDICTS_SAID, number, short_names, verdict_shown
from goffman.gate.names import NamedEstimate, named_estimates, with_doubts
from goffman.instruments.types import BASELINE, base_of, slug_of
from goffman.models.registry import model_kinds
from goffman.modes import asked_id
from goffman.parsers.registry import DEFAULT_PARSER
from goffman.presentation.answer_style import describe_measured
from goffman.presentation.conditions import PART as IDENTITIES
from goffman.presentation.conditions import how_many
from goffman.presentation.findings import describe_identities, findings_of
from goffman.presentation.sensitivity import describe_file
from goffman.presentation.table_formats import (
    FORMATS,
    ColumnSpec,
    as_table,
    csv_text,
    latex,
    markdown,
    numbers,
    texts,
)
from goffman.report.figures import DRAWN, figures_of, svg_of
from goffman.report.summary import describe_correlations
from goffman.report.table_files import CORRECTED_SAID
from goffman.runs.files import README, write_folder
from goffman.schemas import CONTRASTS, ESTIMATES, PROMPT_TABLE, SCORES, VERDICTS, Column

if TYPE_CHECKING:
    from goffman.presentation.section import Section
    from goffman.presentation.table_formats import Table
    from goffman.presentation.vega import Figure, Spec
    from goffman.report.load import MeasuredRun
    from goffman.runs.manifest import AskedInstrument, Model


def the_model(run: MeasuredRun, given: str | None) -> str:
    """Return the model that is meant; raise InputError if none or several could be meant."""
    models = answered(run)
    if given is None and len(models) == 1:
        return models[0]
    if not models:
        raise InputError(f"{run.folder} has no scores for any model.")
    if given is None:
        raise InputError(
            f"{run.folder} has {len(models)} models. Choose one with --model: {', '.join(models)}."
        )
    return the_model_called(given, models, who=f"{run.folder} has")


def main_estimates(run: MeasuredRun, model: str) -> list[NamedEstimate]:
    """Return the estimates of a model that are exported, in the order of the table."""
    main = {name: section.presentation.main for name, section in run.sections.items()}
    return [
        estimate
        for estimate in named_estimates(run.estimates, run.manifest)
        if estimate.row["model"] == model
        and estimate.row["kind"] in main.get(asked_id(estimate.row), ())
    ]


def public_name(model: str) -> str:
    """Return the model's name without a local folder's path; a hub id stays whole."""
    for kind in (PurePosixPath, PureWindowsPath):
        path = kind(model)
        local = path.is_absolute() or model.startswith((".", "~"))
        if local or len(path.parts) > 2:
            return path.name or model
    return model


_NO_FIELDS = {"type", "instruments", "anchors"}


def references_of(run: MeasuredRun) -> dict[str, Mapping[str, Any]]:
    """Return by key each work that the run is based on, and goffman itself."""
    text = files("goffman.export").joinpath("for_paper", "references.toml").read_text("utf-8")
    all_works: dict[str, dict[str, Any]] = tomllib.loads(text)
    last = run.manifest.sessions[-1] if run.manifest.sessions else None
    goffman = {
        "type": "software",
        "author": "{The goffman developers}",
        "title": "goffman: questions psychology asks people about stigma, asked of language models",
        "version": last.versions.get("goffman", __version__) if last else __version__,
        "year": last.started[:4] if last else "",
    }
    references: dict[str, Mapping[str, Any]] = {"goffman": goffman}
    for instrument in run.sections:
        works = {
            key: work
            for key, work in all_works.items()
            if base_of(instrument) in work["instruments"]
        }
        if not works:
            # An instrument of the user's: its entry is made from what the instrument says of
            # itself.
            entry = run.manifest.instruments[instrument].called
            note = entry.citation or "no citation is given"
            works = {_key(instrument): {"type": "misc", "title": entry.title, "note": note}}
        references |= works
    for anchor, entry_of_anchor in run.manifest.anchors.items():
        works = {key: work for key, work in all_works.items() if anchor in work.get("anchors", ())}
        own = {"type": "misc", "title": entry_of_anchor.title, "note": entry_of_anchor.citation}
        references |= works or {_key(anchor): own}
    return references


def _key(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]+", "-", name)


def bibtex(references: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the entries as BibTeX; titles keep their capitals."""
    entries = []
    for key, work in references.items():
        lines = [f"@{work['type']}{{{key},"]
        for field, value in work.items():
            if field in _NO_FIELDS or not value:
                continue
            plain = field in {"author", "pages", "year", "volume", "number"}
            shown = value if plain else latex(str(value))
            shown = f"{{{shown}}}" if field == "title" else shown
            lines.append(f"  {field} = {{{shown}}},")
        entries.append("\n".join([*lines, "}"]))
    return "\n\n".join(entries) + "\n"


def methods_text(run: MeasuredRun) -> str:
    """Return the methods section as plain text, for authors to shorten and paste."""
    parts = {
        "Models": _models(run),
        "Instruments and prompts": _instruments(run),
        "Control items": _controls(run),
        "Scoring": _scoring(run),
        "Statistics": _statistics(run),
        "Software": _software(run),
    }
    lines = ["Methods", ""]
    for heading, sentences in parts.items():
        text = " ".join(sentences)
        if text:
            lines += [f"{heading}. {text}", ""]
    keys = ", ".join(references_of(run))
    return "\n".join([*lines, f"Works to cite, in references.bib: {keys}.", ""])


def _models(run: MeasuredRun) -> Iterator[str]:
    shown = short_names(run.manifest.models)
    count = len(shown)
    yield f"We asked {count:,} language model{'s' if count != 1 else ''}."
    for name, entry in run.manifest.models.items():
        yield f"{printable(shown[name])}: {_model(entry)}."


def _model(entry: Model) -> str:
    """Return exactly which model it is, and how it computed."""
    row = model_kinds().get(entry.kind)
    facts = [row.called if row else f"a {entry.kind} model"]
    facts += [f"family {printable(entry.family)}"] if entry.family else []
    facts += [f"revision {entry.revision}"] if entry.revision else []
    facts += [f"{entry.parameters:,} parameters"] if entry.parameters else []
    if entry.weights_sha256:
        facts += [f"weights sha256 {entry.weights_sha256}"]
    if entry.tokenizer_sha256:
        facts += [f"tokenizer sha256 {entry.tokenizer_sha256}"]
    unknown = "precision unknown" if entry.asked_by else "behind a server, precision unknown"
    facts += [f"asked by {printable(entry.asked_by)}"] if entry.asked_by else []
    facts += [f"in {entry.precision}" if entry.precision else unknown]
    facts += [f"on {printable(entry.device)}"]
    if entry.sampling:
        sampling = entry.sampling
        top_p = "" if sampling.top_p is None else f", top-p {sampling.top_p:g}"
        facts.append(
            f"replies drawn at temperature {sampling.temperature:g}{top_p}, at most "
            f"{sampling.max_tokens:,} tokens"
        )
    if entry.seed is not None:
        facts.append(f"seed {entry.seed}")
    return ", ".join(facts)


def _instruments(run: MeasuredRun) -> Iterator[str]:
    for name, section in run.sections.items():
        entry = run.manifest.instruments[name]
        citation = section.names.instruments[name].citation
        cited = f" ({printable(citation)})" if citation else ""
        wordings = len(section.wordings)
        asked = f" in {wordings:,} wording{'s' if wordings != 1 else ''}"
        if {*section.wordings} == {"pro", "anti"}:
            asked = ", pro- and anti-stereotypical alike"
        yield (
            f"{printable(name)}, version {printable(entry.version)}{cited}: "
            f"{section.prompts.height:,} prompts{asked} "
            f"(sha256 of the prompts {entry.prompts_sha256})."
        )
        tables = {
            tables_of_model[name].table
            for tables_of_model in run.manifest.answers.values()
            if name in tables_of_model
        }
        yield from _asked(entry, section, replied="replies" in tables)


def _asked(entry: AskedInstrument, section: Section, *, replied: bool) -> Iterator[str]:
    """Yield how the prompts of an instrument were asked; ``replied``: in chats."""
    if entry.settings:
        yield f"At each blank we kept the k = {entry.settings.top_k:,} most probable words."
        if entry.settings.depth > 1:
            yield (
                f"Blanks were filled in {entry.settings.depth} steps, with the "
                f"{entry.settings.width} most probable words put back at each."
            )
    if entry.trials and replied:
        times = "once" if entry.trials == 1 else f"{entry.trials:,} times"
        yield f"Each prompt was asked {times}, in a fresh chat."
    orders = section.prompts["order"].drop_nulls().n_unique()
    if orders > 1:
        yield f"Options were presented in {orders} orders."
    for system in section.prompts["system"].drop_nulls().unique(maintain_order=True):
        yield f"System prompt: “{printable(system)}”."
    if section.prompts.height < entry.prompts:
        yield f"Of {entry.prompts:,} prompts, {section.prompts.height:,} were used."


def _controls(run: MeasuredRun) -> Iterator[str]:
    for name, section in run.sections.items():
        if not section.competence:
            yield f"{printable(name)}: no control items were asked."
            continue
        for competence in section.competence.values():
            yield f"{printable(name)}: {competence.sentence.removeprefix('Control items: ')}"


def _scoring(run: MeasuredRun) -> Iterator[str]:
    for name, section in run.sections.items():
        measured = dict(run.manifest.instruments[name].measured)
        measured.pop("measure", None)
        for key, value in measured.items():
            if isinstance(value, Mapping):
                measured[key] = "; ".join(f"{part} {number}" for part, number in value.items())
        parameters = ", ".join(f"{key} = {value}" for key, value in measured.items())
        yield (
            f"{printable(name)} was scored by {printable(section.measure)}"
            f"{f' ({printable(parameters)})' if parameters else ''}: "
            f"{printable(describe_measured(section))}"
        )
    lexicons = run.manifest.lexicons
    if ratings := {section.ratings: None for section in run.sections.values() if section.ratings}:
        yield from ratings
        yield from (printable(describe_file(file)) for file in lexicons.attitudes)
    if lexicons.gender:
        yield f"Words that name a gender: list with sha256 {lexicons.gender.sha256}."
    if "replies" in {
        table.table for tables in run.manifest.answers.values() for table in tables.values()
    }:
        yield f"Replies were read by the parser {lexicons.parser or DEFAULT_PARSER}."


def _statistics(run: MeasuredRun) -> Iterator[str]:
    for name, section in run.sections.items():
        primary = section.estimates.filter(family="primary")
        for row in primary.unique(["kind", "test", "method"], maintain_order=True).to_dicts():
            margin = (
                f" Differences from {number(row['margin'])} on count as relevant."
                if row["margin"] is not None
                else ""
            )
            over = f" over {row['interval_over']}" if row["interval_over"] else ""
            yield (
                f"{printable(name)}: {printable(row['first'])} minus "
                f"{printable(row['second'])}, by {row['test'] or 'no test'}{over} "
                f"({row['method']}); effect: {row['effect_name'] or 'none'}.{margin}"
            )
    yield f"{CORRECTED_SAID} {VERDICTS_SAID}"
    if run.anchors is not None:
        people = ", ".join(printable(anchor.citation) for anchor in run.manifest.anchors.values())
        yield f"We compared the numbers with what people said: {people}."


def _software(run: MeasuredRun) -> Iterator[str]:
    sessions = run.manifest.sessions
    if not sessions:
        return
    last = sessions[-1]
    versions = ", ".join(f"{name} {version}" for name, version in last.versions.items())
    yield (
        f"The audit ran on {sessions[0].started[:10]} ({versions}; "
        f"{printable(last.platform)}), with seed {run.manifest.measuring.seed}."
    )


HEADING = "# For a paper, by goffman"

FIGURES_HEADING = "# Figures, by goffman"

_ABOUT = f"""\
{HEADING}

| file | what it is |
|---|---|
| methods.txt | models with hashes, instruments with versions, prompts, scoring, tests |
| references.bib | what to cite: studies, scales and goffman |
| data-INSTRUMENT.csv | a row for each prompt and model (and trial), for `lmer` and the like |
| estimates.csv | every contrast once, with its test, effect and intervals |
| codebook.csv | what every column of these is |
| refit.R | refits the main contrasts in base R and compares: `Rscript refit.R` |
| tables/ | the main results of each instrument, as LaTeX that fits one column, and Markdown |
| figures/ | SVG, PDF, and PNG at 300 dpi; README.md has a text for each |

In the CSV files a missing value is empty. Text that begins with =, +, - or @ gets an apostrophe in
front, so that no spreadsheet reads it as a formula. data-INSTRUMENT.csv has one row for each
prompt, model and trial.
"""


def write_paper(run: MeasuredRun, folder: Path) -> list[Path]:
    """Write the files into the folder and return their paths.

    Raise InputError if the folder holds something else.
    """
    return write_folder(folder, _files(run), heading=HEADING)


def _files(run: MeasuredRun) -> Iterator[tuple[str, bytes]]:
    yield README, _ABOUT.encode()
    yield "methods.txt", methods_text(run).encode()
    yield "references.bib", bibtex(references_of(run)).encode()
    for name, text in data_files(run):
        yield name, text.encode()
    yield "refit.R", files("goffman.export").joinpath("for_paper", "refit.R").read_bytes()
    for section in run.sections.values():
        table = main_table(section)
        for ending in (".tex", ".md") if table.rows else ():
            yield f"tables/{table.name}{ending}", FORMATS[ending](table).encode()
    for name, content in _figure_files(run):
        yield f"figures/{name}", content


def write_figures(run: MeasuredRun, folder: Path) -> list[Path]:
    """Write every figure of the run into the folder; raise InputError as ``write_paper`` does."""
    return write_folder(folder, _figure_files(run), heading=FIGURES_HEADING)


def _figure_files(run: MeasuredRun) -> Iterator[tuple[str, bytes]]:
    """Yield each figure as SVG, PNG and PDF, and a README with a text for each."""
    figures = list(paper_figures(run))
    for figure in figures:
        svg = svg_of(figure.spec)
        for ending, convert in DRAWN.items():
            yield f"{figure.name}{ending}", convert(svg)
    alts = [f"- **{markdown(figure.name)}**: {markdown(figure.alt)}" for figure in figures]
    about = "SVG, PDF, and PNG at 300 dpi. What each shows, in words:"
    yield README, "\n".join([FIGURES_HEADING, "", about, "", *alts, ""]).encode()


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


def data_files(run: MeasuredRun) -> Iterator[tuple[str, str]]:
    """Yield the name and text of every file of rows, and of a codebook of all their columns."""
    models, columns = short_names(run.manifest.models), []
    for name, section in run.sections.items():
        file, rows = f"data-{slug_of(name)}.csv", prompt_rows(section, models)
        yield file, _csv(rows)
        columns += [(file, column) for column in _described(section, rows.columns)]
    yield "estimates.csv", _csv(estimate_rows(run, models))
    columns += [("estimates.csv", column) for column in OWN]
    kinds = {"text": "text", "int": "whole number", "bool": "True or False"}
    codebook = [
        {
            "file": file,
            "column": column.name,
            "type": kinds.get(column.type, "number"),
            "may_be_empty": "yes" if column.nullable else "no",
            "meaning": column.meaning,
        }
        for file, column in columns
    ]
    yield "codebook.csv", _csv(pl.DataFrame(codebook))


def prompt_rows(section: Section, models: Mapping[str, str]) -> pl.DataFrame:
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
    filled = [name for name in (*KEY, *IDS) if rows[name].null_count() < rows.height]
    rows = rows.select(*filled, *numbers).hstack(texts)
    return rows.with_columns(pl.col("model").replace(models))


def estimate_rows(run: MeasuredRun, models: Mapping[str, str]) -> pl.DataFrame:
    """Return every estimate once, with its name; ``models``: their short names."""

    def short(value: Any) -> Any:
        """Return a value in which models have their short names, wherever they occur."""
        for name, shown in models.items() if isinstance(value, str) else ():
            value = value.replace(name, shown) if name != shown else value
        return value

    rows = [
        {
            "name": replace(estimate, model=short(estimate.model)).name,
            **{column: short(value) for column, value in estimate.row.items()},
            "not_measurable": estimate.not_measurable,
            "caveats": " ".join(estimate.caveats),
        }
        for estimate in with_doubts(named_estimates(run.every_estimate, run.manifest), run)
    ]
    return pl.DataFrame(rows, schema=[column.name for column in OWN], infer_schema_length=None)


def _csv(frame: pl.DataFrame) -> str:
    return csv_text(as_table("data", "", frame.to_dicts(), shown=(), columns=frame.columns))


def column_name(quantity: str, variant: str | None) -> str:
    """Return a prompt's number as a name that R and pandas accept unchanged."""
    whole = quantity if variant is None else f"{quantity}_{variant}"
    return re.sub(r"[^A-Za-z0-9]+", "_", whole)


def _described(section: Section, names: Sequence[str]) -> Iterator[Column]:
    """Yield the columns of these names, with their meanings."""
    columns = {column.name: column for column in (*PROMPT_TABLE, *SCORES)}
    scores = section.scores.filter(level="prompt").select("quantity", "variant").unique()
    numbers = {column_name(*pair): pair for pair in scores.rows()}
    by_measure = quantities()
    meanings = by_measure["every"] | by_measure.get(section.measure, {})
    for name in names:
        if name not in numbers:
            yield columns[name]
            continue
        quantity, variant = numbers[name]
        meaning = meanings.get(quantity)
        if meaning is None and quantity.startswith("says-"):
            meaning = f"of the answers, the share of the label {quantity.removeprefix('says-')}"
        meaning = meaning or f"the number {quantity} of the measure {section.measure}"
        if variant is not None:
            meaning += f" ({variant.replace('-', ' ')})"
        yield Column(name, "float64", meaning, nullable=True)


def quantities() -> dict[str, dict[str, str]]:
    """Return, by measure or for every measure, what each number of a prompt is."""
    text = files("goffman.export").joinpath("for_paper", "quantities.toml").read_text("utf-8")
    return tomllib.loads(text)
