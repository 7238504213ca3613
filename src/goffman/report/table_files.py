"""The studies' tables of a run as CSV, Markdown and LaTeX, ready for a paper."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.anchors.report import anchor_tables
from goffman.contrasts.designs import BY_IDENTITY
from goffman.contrasts.engine import headlines
from goffman.contrasts.verdict import AS_IN_STUDY, NOT_MEASURABLE
from goffman.formatting import VERDICTS_SAID, short_names, verdict_shown
from goffman.instruments.types import BASELINE, base_of
from goffman.modes import asked_id, of_asked
from goffman.presentation.section import EVERY
from goffman.presentation.sensitivity import analyses, change_table
from goffman.presentation.table_formats import (
    FORMATS,
    ColumnSpec,
    N,
    Table,
    as_table,
    markdown,
    numbers,
    section_table,
    texts,
)
from goffman.report.evidence import answers_of, filled_words, words_or_why
from goffman.report.summary import main_results
from goffman.runs.files import README, write_folder
from goffman.scoring import measures_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from goffman.presentation.section import Section
    from goffman.report.load import MeasuredRun

_CONTRASTS = (
    *texts("kind"),
    *texts("quantity", "model", drop="constant", quantity="number"),
    *texts("variant", "group", "dimension", drop="empty", variant="words", dimension="subscale"),
    ColumnSpec(header="contrast", keys=("first", "second"), form="pair"),
    N,
    ColumnSpec(header="n counts", keys=("unit",), drop="constant"),
    *numbers("mean_first", "mean_second", mean_first="mean 1", mean_second="mean 2"),
    *numbers("difference"),
    ColumnSpec(header="interval", keys=("low", "high"), form="interval"),
    ColumnSpec(header="p", keys=("p",), form="p"),
    ColumnSpec(header="adj. p", keys=("p_adjusted",), form="p"),
    ColumnSpec(header="tests", keys=("family_size",), form="count"),
    ColumnSpec(header="Δ", keys=("margin",), form="number", drop="empty"),
    ColumnSpec(header="verdict", keys=("verdict",), drop="empty"),
)

CORRECTED_SAID = (
    "The main result of each instrument and model (family: primary) is not corrected. Interval and "
    "p of every other row are corrected together with the tests of the same kind and model, by "
    "Benjamini and Hochberg's method; the column tests says for how many."
)
"""For captions of tables of contrasts: over what each p is corrected."""

_OF_COMPETENCE = ("task", "score", "value", "low", "high", "floor", "n", "missing")

_CONTROLS = (
    *texts("model", drop="never"),
    *texts("task", "score", drop="constant", task="it must"),
    ColumnSpec(header="items", keys=("n",), form="count"),
    ColumnSpec(header="value", keys=("value",), form="number"),
    ColumnSpec(header="95% interval", keys=("low", "high"), form="interval", drop="empty"),
    ColumnSpec(header="floor", keys=("floor",), form="number"),
    ColumnSpec(header="measurable", keys=("measurable",)),
)

_CORRELATIONS = (
    *texts("first", "second"),
    *texts("kind", drop="constant"),
    ColumnSpec(header="conditions", keys=("n",), form="count"),
    *texts("effect_name", effect_name="coefficient"),
    *numbers("effect", effect="value"),
    ColumnSpec(header="95% interval", keys=("effect_low", "effect_high"), form="interval"),
    ColumnSpec(header="p", keys=("p",), form="p"),
    ColumnSpec(header="p, corrected", keys=("p_adjusted",), form="p"),
)

HEADING = "# Tables, by goffman"

_ABOUT = f"""\
{HEADING}

Each table comes in three formats: CSV with every column and every digit, and Markdown and LaTeX
with the columns a paper needs, rounded. Missing values are empty in CSV and a dash elsewhere.

In CSV, what is over all models, wordings or items is in a file of its own (NAME-all-models.csv,
NAME-all-wordings.csv …), so that no row counts what another row of the file counts already.

In CSV, text that begins with =, +, - or @ gets an apostrophe in front, so that no spreadsheet reads
it as a formula. Numbers do not. In every file, invisible characters are written as escapes, such as
\\u202e.

The LaTeX files need `\\usepackage{{booktabs}}`, `\\usepackage{{longtable}}` for long tables, and
`\\usepackage{{pdflscape}}` for wide ones; the first line of each file says which.

"""


def tables_of(run: MeasuredRun) -> list[Table]:
    """Return every table of the run that has a row, instrument by instrument."""
    tables: list[Table] = []
    # Models, and sides of correlations, by their short names.
    names: dict[str, str] = {}
    for correlation in run.correlations:
        for side, model in zip(
            (correlation.first, correlation.second), correlation.models, strict=True
        ):
            names[side.text()] = side.text(model=model)
    for _, section in sorted(run.sections.items()):
        own_tables = [table for make in section.presentation.tables for table in make(section)]
        own_tables += [*_contrasts(section), *change_table(section)]
        own_tables += [*analyses(section), *_words(run, section), *_unspecified(run, section)]
        own_tables = [
            *_controls(section),
            *(_with_doubts(table, section) for table in own_tables),
        ]
        short = {**names, **section.names.models}
        tables += [replace(noted(table, section.ratings), names=short) for table in own_tables]
    short = {**names, **short_names(run.manifest.models)}
    ratings = {section.ratings: None for section in run.sections.values() if section.ratings}
    pair_tables = [noted(table, *ratings) for table in _correlations(run.estimates)]
    tables += [replace(table, names=short) for table in pair_tables]
    anchors = run.anchored, run.anchors, run.anchor_points
    return [*tables, *anchor_tables(*anchors, models=run.manifest.models)]


def _words(run: MeasuredRun, section: Section) -> Iterator[Table]:
    """Yield every word that the models filled in, and who said what it means."""
    words, _ = words_or_why(run.manifest)
    frames = [filled_words(run, answers, section, words) for answers in answers_of(run, section)]
    rows = [row for frame in frames for row in frame.to_dicts()]
    caption = (
        "the words filled in, with their mean probability over prompts, "
        "their share of the probability of all words that count, and who rated them."
    )
    columns = (
        *texts("model", "word", "label", "rater", rater="rated by"),
        *numbers("mean_probability"),
        *numbers("share", drop="empty", share="share of what counts"),
    )
    yield from section_table(section, "filled", caption, rows, columns)


def _controls(section: Section) -> Iterator[Table]:
    rows = [
        {
            "model": competence.name,
            **{name: getattr(competence, name) for name in _OF_COMPETENCE},
            "measurable": "yes" if competence.passed else "no",
            "reason": competence.reason,
        }
        for competence in section.competence.values()
    ]
    caption = (
        f"control items, which name no {section.noun.one}. If a model's "
        "whole interval lies below the floor, it is not measurable: its other numbers mean "
        "nothing. The interval shows how the value could differ with other control items "
        "(Wilson for a share, Hanley and McNeil for an AUC, t for a mean)."
    )
    yield from section_table(section, "controls", caption, rows, _CONTROLS)


MOST_WORDS = 20
"""The number of words that are listed of each model and group."""


def _unspecified(run: MeasuredRun, section: Section) -> Iterator[Table]:
    """Yield the words that count as neither female nor male, by their mean probability."""
    words, _ = words_or_why(run.manifest)
    prompts = section.prompts.filter(pl.col("wording").is_in(section.wordings[:1]))
    single = "unspecified" in section.scores["quantity"] and not section.presentation.phrases
    if words is None or not single:
        return
    ids = ["model", "group"]
    table_rows = []
    for fills in (answers for answers in answers_of(run, section) if answers.table == "fills"):
        rows = section.presentation.evidence(fills, section, words, len(fills.frame))
        gendered = pl.col("label").str.contains(r"^(female|male)\b|not counted$")
        rows = rows.filter(~gendered).join(prompts.select("prompt_id", "group"), on="prompt_id")
        counts = prompts.group_by("group").len("prompts")
        means = rows.group_by(*ids, "word", "label").agg(pl.col("probability").sum(), n=pl.len())
        means = means.join(counts.filter(pl.col("group") != BASELINE), on="group")
        means = means.with_columns(mean=pl.col("probability") / pl.col("prompts"))
        ranked = means.sort(*ids, "mean", "word", descending=[False, False, True, False])
        table_rows += ranked.group_by(ids, maintain_order=True).head(MOST_WORDS).to_dicts()
    caption = (
        f"the {MOST_WORDS} most probable words that count as neither "
        "female nor male, in the first wording. The mean is over all prompts of the group; n "
        "is the number of prompts in which the word counts."
    )
    columns = (*texts(*ids, "word", "label", label="counts as"), N, *numbers("mean"))
    yield from section_table(section, "unspecified", caption, table_rows, columns)


def _with_doubts(table: Table, section: Section) -> Table:
    """Return the table, with a column that marks the rows of models that are not measurable."""
    failing = section.unmeasurable()
    if not failing or "model" not in table.columns:
        return table
    names = {*failing, None, EVERY["model"]}
    rows = [
        {
            **row,
            "not_measurable": "yes"
            if row["model"] in names or {*failing} & {row.get("first"), row.get("second")}
            else None,
        }
        for row in table.rows
    ]
    reasons = " and ".join(competence.doubt for competence in failing.values())
    return replace(
        table,
        caption=f"{table.caption} In it, {reasons}.",
        columns=(*table.columns, "not_measurable"),
        rows=tuple(rows),
    )


def noted(table: Table, *notes: str) -> Table:
    """Return the table with these notes added to its caption."""
    return replace(table, caption=" ".join(part for part in (table.caption, *notes) if part))


def write_tables(run: MeasuredRun, folder: Path) -> list[Path]:
    """Write each table in every format into a folder of its own, with a README about them."""
    return write_folder(folder, _files(run), heading=HEADING)


def _files(run: MeasuredRun) -> Iterator[tuple[str, bytes]]:
    tables = tables_of(run)
    for table in tables:
        for ending in FORMATS:
            for name, text in _texts(table, ending):
                yield f"{name}{ending}", text.encode()
    lines = [f"- {table.name}: {markdown(table.caption)}\n" for table in tables]
    yield README, (_ABOUT + "".join(lines)).encode()


_NUMBERS = ("difference", "low", "high", "level", "margin", "n", "unit", "sentences")

RESULTS = ("instrument", "mode", "model", "quantity", "verdict", "finding", *_NUMBERS, "caveats")
"""The columns of results.csv."""


def results_table(run: MeasuredRun) -> Table:
    """Return the main results, a row each; a result that is not measurable has no numbers."""
    main = headlines(run.estimates, measures_of(run.manifest))
    estimates = {(asked_id(row), row["model"]): row for row in main.iter_rows(named=True)}
    rows = []
    for result in main_results(run.sections):
        model_names = run.sections[result.instrument].names.models
        model = next(name for name, shown in model_names.items() if shown == result.model)
        estimate = estimates.get((result.instrument, model), {})
        estimate = {} if result.verdict == NOT_MEASURABLE else estimate
        numbers = {name: estimate.get(name) for name in ("quantity", *_NUMBERS)}
        mode = run.prompts.filter(of_asked(result.instrument))["mode"][0]
        labels = {"instrument": base_of(result.instrument), "mode": mode}
        labels |= {"model": short_names(model_names)[model]}
        entry = {name: result.entry()[name] for name in ("verdict", "finding", "caveats")}
        rows.append({**labels, **numbers, **entry, "caveats": " ".join(entry["caveats"])})
    return as_table("results", "The main results.", rows, shown=(), columns=RESULTS)


def _texts(table: Table, ending: str) -> Iterator[tuple[str, str]]:
    """Yield the name, without its ending, and the text of each file of one format.

    In CSV, rows over all models, wordings or items are in files of their own, so that the sum of a
    file's rows counts nothing twice.
    """
    # In other analyses, "all wordings" is a choice and no sum of other rows.
    if ending != ".csv" or table.name.endswith("-analyses"):
        yield table.name, FORMATS[ending](table)
        return
    rows: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in table.rows:
        over = tuple(value for name, value in EVERY.items() if row.get(name) == value)
        rows.setdefault(over, []).append(row)
    finest = min(rows, key=len, default=())
    for over, group in rows.items():
        parts = () if over == finest else over
        name = "-".join([table.name, *(part.replace(" ", "-") for part in parts)])
        yield name, FORMATS[ending](replace(table, rows=tuple(group)))


def _contrasts(section: Section) -> Iterator[Table]:
    """Yield tables of every contrast but those with the baseline, which other tables have."""
    rows = section.estimates.filter(pl.col("kind") != "baseline").drop("instrument", "mode")
    caption = (
        "contrasts. Each difference is the first group minus the second. "
        f"{CORRECTED_SAID} {VERDICTS_SAID}"
    )
    shown_rows = [{**row, "verdict": verdict_shown(row) or None} for row in rows.to_dicts()]
    of_people = rows["kind"].is_in(BY_IDENTITY).any()
    columns = [
        replace(column, header="words or identity")
        if of_people and column.header == "words"
        else column
        for column in _CONTRASTS
    ]
    yield from section_table(section, "contrasts", caption, shown_rows, columns)


def _correlations(estimates: pl.DataFrame) -> Iterator[Table]:
    rows = estimates.filter(pl.col("kind").is_in(["measures", AS_IN_STUDY]))
    if rows.height:
        caption = "Correlations of two measures over the same conditions."
        if AS_IN_STUDY in rows["kind"]:
            caption += f" {AS_IN_STUDY}: of shares of labels, with conditions as independent."
        yield as_table("correlations", caption, rows.to_dicts(), shown=_CORRELATIONS)
