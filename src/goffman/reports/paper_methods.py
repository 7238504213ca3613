"""The methods section of a paper: everything that a reviewer asks for, from the run's manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.measures.replies import DEFAULT_PARSER
from goffman.presentation.asked import measured_said
from goffman.presentation.numbers import number
from goffman.presentation.ratings import file_said, whose_ratings
from goffman.presentation.shown import short_names
from goffman.presentation.verdicts import VERDICTS_SAID
from goffman.reports.paper_references import references_of
from goffman.reports.tables import CORRECTED_SAID
from goffman.terminal import printable

if TYPE_CHECKING:
    from goffman.presentation.section import Section
    from goffman.reports.run import MeasuredRun
    from goffman.runs.entries import AskedInstrument, Model


def methods_text(run: MeasuredRun) -> str:
    """The section as plain text, to be shortened and pasted."""
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
        told = " ".join(sentences)
        if told:
            lines += [f"{heading}. {told}", ""]
    keys = ", ".join(references_of(run))
    return "\n".join([*lines, f"Works to cite, in references.bib: {keys}.", ""])


def _models(run: MeasuredRun) -> Iterator[str]:
    shown = short_names(run.manifest.models)
    count = len(shown)
    yield f"We asked {count:,} language model{'s' if count != 1 else ''}."
    for name, entry in run.manifest.models.items():
        yield f"{printable(shown[name])}: {_model(entry)}."


def _model(entry: Model) -> str:
    """Which model it is, exactly, and how it computed."""
    facts = [f"a {entry.kind} model" if entry.kind != "classifier" else "a classifier"]
    facts += [f"family {printable(entry.family)}"] if entry.family else []
    facts += [f"revision {entry.revision}"] if entry.revision else []
    if entry.weights_sha256:
        facts += [f"weights sha256 {entry.weights_sha256}"]
    if entry.tokenizer_sha256:
        facts += [f"tokenizer sha256 {entry.tokenizer_sha256}"]
    unknown = "precision unknown" if entry.asked_by else "behind a server, precision unknown"
    facts += [f"asked by {printable(entry.asked_by)}"] if entry.asked_by else []
    facts += [f"in {entry.precision}" if entry.precision else unknown]
    facts += [f"on {printable(entry.device)}"]
    if entry.sampling:
        drawn = entry.sampling
        top_p = "" if drawn.top_p is None else f", top-p {drawn.top_p:g}"
        facts.append(
            f"replies drawn at temperature {drawn.temperature:g}{top_p}, at most "
            f"{drawn.max_tokens:,} tokens"
        )
    if entry.seed is not None:
        facts.append(f"seed {entry.seed}")
    return ", ".join(facts)


def _instruments(run: MeasuredRun) -> Iterator[str]:
    for name, section in run.sections.items():
        entry = run.manifest.instruments[name]
        known = section.names.instruments.get(name)
        cited = f" ({printable(known.citation)})" if known and known.citation else ""
        yield (
            f"{printable(name)}, version {printable(entry.version)}{cited}: "
            f"{_prompts_said(section)} (sha256 of the prompts {entry.prompts_sha256})."
        )
        tables = {of[name].table for of in run.manifest.answers.values() if name in of}
        yield from _asked(entry, section, replied="replies" in tables)


def _prompts_said(section: Section) -> str:
    """How many prompts there were, and in how many wordings or different texts."""
    prompts = f"{section.prompts.height:,} prompts"
    if {*section.wordings} == {"pro", "anti"}:
        return f"{prompts}, pro- and anti-stereotypical alike"
    wordings = len(section.wordings)
    return f"{prompts} in {wordings:,} wording{'s' if wordings != 1 else ''}"


def _asked(entry: AskedInstrument, section: Section, *, replied: bool) -> Iterator[str]:
    """How the prompts of an instrument were asked; ``replied``: in chats."""
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
        for one in section.competence.values():
            yield f"{printable(name)}: {one.sentence.removeprefix('Control items: ')}"


def _scoring(run: MeasuredRun) -> Iterator[str]:
    for name, section in run.sections.items():
        measured = dict(run.manifest.instruments[name].measured)
        parameters = ", ".join(
            f"{key} = {_plain(value)}" for key, value in measured.items() if key != "measure"
        )
        yield (
            f"{printable(name)} was scored by {printable(section.measure)}"
            f"{f' ({printable(parameters)})' if parameters else ''}: "
            f"{printable(measured_said(section))}"
        )
    lexicons = run.manifest.lexicons
    if any(section.ratings for section in run.sections.values()):
        yield whose_ratings(lexicons)
        yield from (printable(file_said(one)) for one in lexicons.attitudes)
    if lexicons.gender:
        yield f"Words that name a gender: list with sha256 {lexicons.gender.sha256}."
    if "replies" in {one.table for of in run.manifest.answers.values() for one in of.values()}:
        yield f"Replies were read by the parser {lexicons.parser or DEFAULT_PARSER}."


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{key} {one}" for key, one in value.items())
    return str(value)


def _statistics(run: MeasuredRun) -> Iterator[str]:
    for name, section in run.sections.items():
        primary = section.estimates.filter(pl.col("family") == "primary")
        for row in primary.unique(["kind", "test", "method"], maintain_order=True).to_dicts():
            smallest = (
                f" Differences from {number(row['smallest'])} on count as relevant."
                if row["smallest"] is not None
                else ""
            )
            over = f" over {row['interval_over']}" if row["interval_over"] else ""
            yield (
                f"{printable(name)}: {printable(row['first'])} minus "
                f"{printable(row['second'])}, by {row['test'] or 'no test'}{over} "
                f"({row['method']}); effect: {row['effect_name'] or 'none'}.{smallest}"
            )
    sizes = run.estimates.filter(pl.col("family") == "primary")["family_size"].drop_nulls()
    if len(sizes):
        yield f"The {sizes.to_list()[0]:,} main results were corrected together."
    yield f"{CORRECTED_SAID} {VERDICTS_SAID} Intervals are 95% intervals and are not corrected."
    if run.anchors is not None:
        people = ", ".join(printable(one.citation) for one in run.manifest.anchors.values())
        yield f"We set the numbers beside what people said: {people}."


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
