"""What exports of a run share: one model's main estimates, each with its name and error."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

from goffman import __version__
from goffman.comparison.runs import answered, the_model_called
from goffman.console import printable
from goffman.errors import InputError
from goffman.export.paper_assets import PaperData, main_table, paper_figures
from goffman.formatting import VERDICTS_SAID, number, short_names
from goffman.gate.names import NamedEstimate, named_estimates
from goffman.instruments.types import base_of
from goffman.models.registry import model_kinds
from goffman.modes import asked_id
from goffman.parsers.registry import DEFAULT_PARSER
from goffman.presentation.answer_style import describe_measured
from goffman.presentation.sensitivity import describe_file
from goffman.presentation.table_formats import FORMATS, latex, markdown
from goffman.report.table_files import CORRECTED_SAID
from goffman.runs.files import README, write_folder

if TYPE_CHECKING:
    from goffman.presentation.section import Section
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
            title = entry.title if entry else instrument
            note = (entry.citation if entry else "") or "no citation is given"
            works = {_key(instrument): {"type": "misc", "title": title, "note": note}}
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
        instrument = section.names.instruments.get(name)
        cited = f" ({printable(instrument.citation)})" if instrument and instrument.citation else ""
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
    for name, text in PaperData(run=run).texts():
        yield name, text.encode()
    yield "refit.R", files("goffman.export").joinpath("for_paper", "refit.R").read_bytes()
    for section in run.sections.values():
        table = main_table(section)
        for ending in (".tex", ".md") if table.rows else ():
            yield f"tables/{table.name}{ending}", FORMATS[ending](table).encode()
    for name, content in _figure_files(run):
        yield f"figures/{name}", content


def write_figures(run: MeasuredRun, folder: Path) -> list[Path]:
    """Write every figure of the run into a folder of its own; InputError as for a paper."""
    return write_folder(folder, _figure_files(run), heading=FIGURES_HEADING)


def _figure_files(run: MeasuredRun) -> Iterator[tuple[str, bytes]]:
    """Yield each figure as SVG, PNG and PDF, and a README with a text for each."""
    figures = list(paper_figures(run))
    for figure in figures:
        yield from figure.files()
    alts = [f"- **{markdown(figure.name)}**: {markdown(figure.alt)}" for figure in figures]
    about = "SVG, PDF, and PNG at 300 dpi. What each shows, in words:"
    yield README, "\n".join([FIGURES_HEADING, "", about, "", *alts, ""]).encode()
