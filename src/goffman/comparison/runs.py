"""Compare runs: whether their numbers may be compared, what must be said, and what changed.

Each prompt's score is replaced by its change; the audit's contrasts are computed from these
changes.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.contrasts.catalog import BY_CONDITION, models_by_condition
from goffman.contrasts.correlations import IN_MAIN_VARIANT
from goffman.contrasts.designs import Contrast, clusters_of, cube, in_order
from goffman.contrasts.engine import PRIMARY, MeasuredInstrument, estimates, judged
from goffman.contrasts.verdict import NOT_MEASURABLE
from goffman.errors import InputError, RunError, did_you_mean
from goffman.formatting import join_words, models_meant, short_names
from goffman.instruments.types import BASELINE, slug_of
from goffman.measures.registry import measure_from
from goffman.measures.responses import scores_with, side_by_side
from goffman.modes import asked_ids, of_asked
from goffman.report.load import unmeasurable
from goffman.runs.manifest import differ
from goffman.stats.crossed import Interaction, interaction
from goffman.stats.intervals import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from goffman.presentation.section import Section
    from goffman.report.load import MeasuredRun
    from goffman.runs.manifest import LexiconEntries


HARMLESS = ("settings: targets", "controls")
"""Entries that may differ: further words whose probability was kept (no measure's top k depends on
them), and controls (they are in no number that is compared)."""


PROMPTS = {"prompts", "prompts_sha256"}
"""The entries that say which prompts were asked: one clause for both."""

CHECKSUMS = {"digest": "files of the instrument"}
"""What a checksum is of; the two checksums themselves would tell readers nothing."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What must be said before two runs' numbers of one instrument."""

    refusals: tuple[str, ...] = ()
    """Reasons why they cannot be compared; empty if they can."""
    marks: tuple[str, ...] = ()
    """What, besides the models, may explain a difference."""


def verdict(
    first: MeasuredRun, second: MeasuredRun, instrument: str, *, models: tuple[str, str]
) -> Verdict:
    """Return whether the answers of two models to an instrument may be compared."""
    before, after = (run.manifest.instruments[instrument] for run in (first, second))
    differing = {
        name: values
        for name, values in differ(before, after).items()
        if not name.startswith(HARMLESS)
    }
    marks = tuple(_marks(first, second, instrument, models=models))
    refusals = tuple(_refusals(differing, first.folder, second.folder))
    return Verdict(refusals=refusals, marks=marks)


def _refusals(differing: dict[str, tuple[Any, Any]], first: Path, second: Path) -> Iterator[str]:
    """Yield one clause for each difference in how two runs were asked."""
    if PROMPTS & {*differing}:
        counts = differing.get("prompts")
        numbers = f" ({counts[0]:,} in {first}, {counts[1]:,} in {second})" if counts else ""
        yield f"the runs asked different prompts{numbers}"
    for name, (before, after) in differing.items():
        if name in CHECKSUMS:
            yield f"the runs have different {CHECKSUMS[name]}"
        elif name not in PROMPTS:
            label = name.replace("_", " ")
            yield f"{label} differs ({_shown(before)} in {first}, {_shown(after)} in {second})"


def _marks(
    first: MeasuredRun, second: MeasuredRun, instrument: str, *, models: tuple[str, str]
) -> Iterator[str]:
    runs = (first, second)
    entries = [run.manifest.models[model] for run, model in zip(runs, models, strict=True)]
    precisions = [entry.precision for entry in entries]
    if precisions[0] != precisions[1]:
        yield (
            f"{models[0]} ran in {precisions[0]} in {first.folder}, but "
            f"{'' if models[0] == models[1] else f'{models[1]} ran '}in {precisions[1]} in "
            f"{second.folder}, so part of the difference may be due to rounding"
        )
    measure = measure_from(first.manifest.instruments[instrument].measured)
    words = measure.words if measure else None
    if words == "parser":
        parsers = [str(run.manifest.lexicons.parser) for run in runs]
        if parsers[0] != parsers[1]:
            yield (
                f"replies were read by different rules (--parser): {parsers[0]} in "
                f"{first.folder}, {parsers[1]} in {second.folder}. Part of the difference may be "
                "due to this"
            )
    elif words:
        lexicons = [_files(run.manifest.lexicons, words) for run in runs]
        if lexicons[0] != lexicons[1]:
            yield (
                f"words were rated differently: by {lexicons[0]} in {first.folder}, by "
                f"{lexicons[1]} in {second.folder}. Part of the difference may be due to this"
            )
    versions = [
        " and ".join(
            dict.fromkeys(
                session.versions.get("goffman", "unknown") for session in run.manifest.sessions
            )
        )
        for run in runs
    ]
    if versions[0] != versions[1]:
        yield f"the runs were made with two versions of goffman, {versions[0]} and {versions[1]}"


def _files(lexicons: LexiconEntries, meaning: str) -> str:
    """Return the files that say what words mean, with the start of each file's checksum."""
    gender = (lexicons.gender,) if lexicons.gender else ()
    files = lexicons.attitudes if meaning == "attitudes" else gender
    return ", ".join(f"{file.file} ({file.sha256[:12]}…)" for file in files) or "no file"


def _shown(value: object) -> str:
    if isinstance(value, str) and len(value) == 64:
        return f"{value[:12]}…"
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)


OF_RUNS = ("runs", BY_CONDITION)
"""Kinds of contrasts whose sides are the two runs; rows of all other kinds are changes of a
contrast."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One model's answers to an instrument, compared with those in the reference run."""

    reference: Path
    run: Path
    instrument: str
    models: tuple[str, str]
    """In the reference, and in the run."""
    verdict: Verdict
    one_sided: int = 0
    """Number of prompts (and variants, trials) with a value in only one run, which are left out."""
    estimates: pl.DataFrame
    """CONTRASTS + ESTIMATES + VERDICTS; no rows if the comparison is refused."""
    unmeasurable: tuple[str, ...] = ()
    """Which of the two models cannot do the task, so that no difference means anything; clauses
    without a final period."""
    sides: tuple[float | None, float | None] = (None, None)
    """The contrast that headings are about, in the reference and in the run, over what both
    have."""
    by_item: Interaction | None = None
    """Whether the gap changed alike in every item; None if there is no such gap."""
    section: Section | None = None
    """The run's section of the instrument; None if the measure is not known here."""

    @property
    def headline(self) -> dict[str, Any] | None:
        """Return the change of the contrast that headings are about; None if there is none."""
        rows = self.estimates.filter(pl.col("family").str.starts_with(HEADINGS))
        return rows.row(0, named=True) if rows.height else None

    @property
    def same(self) -> bool:
        """Return whether no number differs."""
        differences = self.estimates["difference"].drop_nulls()
        return bool(differences.len()) and bool((differences == 0).all())


def compare(
    runs: Sequence[MeasuredRun],
    *,
    models: Sequence[str] = (),
    note: Callable[[str], None] = lambda _: None,
) -> list[Comparison]:
    """Compare each further run with the first, instrument by instrument and model by model.

    ``models``: NAME, or NAME=OTHER if the further runs have it under another name. ``note`` is
    called with what only one run has. Raise RunError with every reason if nothing can be compared.
    """
    if len(runs) < 2:
        raise InputError(f"You gave {len(runs)} run. Give two or more to compare.")
    reference, *further = runs
    chosen = [_chosen(model, reference, further) for model in models]
    comparisons: list[Comparison] = []
    reasons: list[str] = []
    for run in further:
        for instrument in sorted({*instruments_of(reference)} & {*instruments_of(run)}):
            pairs = _pairs(reference, run, instrument, chosen)
            if not pairs and not chosen:
                reasons.append(_unmatched(reference, run, instrument))
            comparisons += [_comparison(reference, run, instrument, pair) for pair in pairs]
        reasons += _one_sided(reference, run, comparisons)
    if all(comparison.verdict.refusals for comparison in comparisons):
        reasons += [
            f"{comparison.instrument}: {'; '.join(comparison.verdict.refusals)}."
            for comparison in comparisons
        ]
        lines = (f"  {reason}" for reason in dict.fromkeys(reasons))
        raise RunError("These runs cannot be compared.", *lines)
    for reason in reasons:
        note(reason)
    return comparisons


def _comparison(
    reference: MeasuredRun, run: MeasuredRun, instrument: str, pair: tuple[str, str]
) -> Comparison:
    sides = ((reference, pair[0]), (run, pair[1]))
    marks = [unmeasurable(side, instrument, model) for side, model in sides]
    comparison = Comparison(
        reference=reference.folder,
        run=run.folder,
        instrument=instrument,
        models=pair,
        verdict=verdict(reference, run, instrument, models=pair),
        estimates=run.estimates.clear(),
        section=run.sections.get(instrument),
        unmeasurable=tuple(
            f"{model} in {side.folder} is {failure.mark}"
            for (side, model), failure in zip(sides, marks, strict=True)
            if failure
        ),
    )
    measure = measure_from(run.manifest.instruments[instrument].measured)
    if comparison.verdict.refusals or measure is None:
        return comparison
    of_prompts = [pl.col("level") == "prompt", of_asked(instrument)]
    if measure.separable:
        # Other quantities would take most of the memory if there are very many prompts.
        quantities = {measure.prompt_quantity, *(quantity for quantity, _ in measure.contrasts)}
        of_prompts.append(pl.col("quantity").is_in(quantities))
    pairs = side_by_side(*(side.scores.filter(*of_prompts, model=model) for side, model in sides))
    asked = run.prompts.filter(of_asked(instrument))
    context = ChangeContext(
        id=instrument,
        measure=measure,
        wordings=asked["wording"].unique(maintain_order=True).to_list(),
        sharing=clusters_of(asked),
    )
    labels = pair
    if pair[0] == pair[1]:
        labels = (f"{pair[0]} in {reference.folder}", f"{pair[1]} in {run.folder}")
    scores = context.two_runs(pairs)
    levels, headlines = context.levels(scores, labels), context.headlines(scores)
    # With many prompts this is the largest table.
    del scores
    changes = _as_changes(context.changes(pairs, pair[1]), labels)
    rows = pl.concat([levels, changes], how="diagonal")
    if comparison.unmeasurable:
        has_verdict = pl.col("verdict").is_not_null()
        rows = rows.with_columns(verdict=pl.when(has_verdict).then(pl.lit(NOT_MEASURABLE)))
    one_sided = pairs.filter(pl.col("one_sided"), quantity=measure.prompt_quantity)
    return replace(
        comparison,
        estimates=rows,
        one_sided=one_sided.height,
        sides=headlines,
        by_item=context.by_item(pairs),
    )


def _as_changes(rows: pl.DataFrame, labels: tuple[str, str]) -> pl.DataFrame:
    """Return the audit's contrasts, worded as changes between the two labels."""
    who = f"{labels[1]} − {labels[0]}"
    return rows.with_columns(
        contrast=pl.format("change of {}, {}", "contrast", pl.lit(who)),
        family=pl.format("change of {}, {}", "family", pl.lit(who)),
        method=pl.format("of the changes of prompts: {}", "method"),
    )


def instruments_of(run: MeasuredRun, model: str | None = None) -> list[str]:
    """Return the ids of the instruments that have scores, of one model or any, with their modes."""
    rows = run.answered if model is None else run.answered.filter(model=model)
    return sorted(rows.select(asked_ids()).to_series().unique())


def answered(run: MeasuredRun, instrument: str | None = None) -> list[str]:
    """Return the models that have scores, of one instrument or any."""
    rows = run.answered.filter(pl.col("model").is_not_null())
    if instrument is not None:
        rows = rows.filter(of_asked(instrument))
    return sorted(rows["model"].unique())


def _chosen(given: str, reference: MeasuredRun, further: Sequence[MeasuredRun]) -> tuple[str, str]:
    """Return the names that a --model means in the reference and in the further runs."""
    reference_models = answered(reference)
    further_models = sorted({*itertools.chain.from_iterable(answered(run) for run in further)})
    name, _, further_name = (
        (given, "", "") if models_meant(given, reference_models) else given.partition("=")
    )
    return (
        the_model_called(name, reference_models, who="the first run has"),
        the_model_called(further_name or name, further_models, who="the later runs have"),
    )


def the_model_called(name: str, models: Sequence[str], *, who: str) -> str:
    """Return the one model that is called or shown so; raise InputError if none or several are."""
    meant = models_meant(name, models)
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise InputError(
            f"--model is '{name}', which can be {join_words(meant, 'or')}. Give one of these names."
        )
    raise InputError(
        f"--model is '{name}', but {who} no scores for it.{did_you_mean(name, models)} "
        f"Allowed: {', '.join(models)}."
    )


def _pairs(
    reference: MeasuredRun,
    run: MeasuredRun,
    instrument: str,
    chosen: Sequence[tuple[str, str]],
) -> list[tuple[str, str]]:
    """Return the models to compare: those chosen, those of one name, or each run's only model."""
    before, after = answered(reference, instrument), answered(run, instrument)
    if chosen:
        return [(first, second) for first, second in chosen if first in before and second in after]
    if same := [(name, name) for name in before if name in after]:
        return same
    return [(before[0], after[0])] if len(before) == len(after) == 1 else []


def _unmatched(reference: MeasuredRun, run: MeasuredRun, instrument: str) -> str:
    before, after = answered(reference, instrument), answered(run, instrument)
    return (
        f"{instrument}: {reference.folder} ({', '.join(before)}) and {run.folder} "
        f"({', '.join(after)}) have no model in common. Say which two to compare: --model "
        f"'{before[0]}={after[0]}'"
    )


def _one_sided(
    reference: MeasuredRun, run: MeasuredRun, comparisons: Sequence[Comparison]
) -> Iterator[str]:
    """Yield what only one run has scores of: instruments, and models if others are matched."""
    for first, second in ((reference, run), (run, reference)):
        for instrument in sorted({*instruments_of(first)} - {*instruments_of(second)}):
            yield f"{instrument} is not compared: {second.folder} has no scores for it."
    pairs = [
        comparison
        for comparison in comparisons
        if comparison.run == run.folder and comparison.models[0] == comparison.models[1]
    ]
    for instrument in dict.fromkeys(comparison.instrument for comparison in pairs):
        for first, second in ((reference, run), (run, reference)):
            for model in sorted({*answered(first, instrument)} - {*answered(second, instrument)}):
                yield (
                    f"{instrument}: {model} is not compared, because {second.folder} has no scores "
                    "for it."
                )


def refused(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield a line for each instrument and pair of models that could not be compared."""
    for comparison in comparisons:
        for reason in comparison.verdict.refusals:
            yield f"{comparison.instrument} is not compared: {reason}."


def describe_verdicts(comparisons: Sequence[Comparison]) -> list[str]:
    """Return what was refused, and the notes on the comparisons that were made, each once."""
    marks = (
        f"Note on {comparison.instrument}: {mark}."
        for comparison in comparisons
        for mark in comparison.verdict.marks
    )
    return list(dict.fromkeys([*refused(comparisons), *marks]))


_REFERENCE, _RUN = "b", "a"
"""Names of two models while their scores are in one table: contrasts go by the alphabet."""

_ONE_SIDED = "one of the two runs has no value"

HEADINGS = f"change of {PRIMARY}"
"""How the column ``family`` of the changes that headings are about begins."""


def labels_of(comparisons: Sequence[Comparison]) -> dict[str, str]:
    """Return by a run's folder its label, in the order in which the runs were given."""
    folders = dict.fromkeys(
        str(folder)
        for comparison in comparisons
        for folder in (comparison.reference, comparison.run)
    )
    return short_names(folders)


class ChangeContext(MeasuredInstrument):
    """An instrument that both runs asked: it turns their numbers into estimates."""

    def changes(self, both: pl.DataFrame, model: str) -> pl.DataFrame:
        """Return the audit's contrasts of the run's values minus the reference's."""
        scores = _scores(both, pl.col("now") - pl.col("before"), model)
        return estimates(
            pl.concat([scores, self.measure.aggregate(scores)]),
            {self.id: self.measure},
            wordings={self.id: self.wordings},
            sharing={self.id: self.sharing},
        )

    def levels(self, scores: pl.DataFrame, labels: tuple[str, str]) -> pl.DataFrame:
        """Compare the run's measured number with the reference's: of groups, then of conditions.

        ``scores``: of both runs.
        """
        contrasts: list[tuple[Contrast, Estimate]] = []
        for quantity, _ in self.measure.contrasts:
            for kind in self.measure.between_runs:
                contrasts += kind(self.score_table(scores, quantity))
        # Settings are compared one by one above.
        if self.measure.unit == "condition":
            prompts = scores.filter(IN_MAIN_VARIANT, level="prompt")
            if scores.filter(level="condition")["wording"].count():
                # The report's tables have conditions by wording; the first one is compared.
                prompts = prompts.filter(wording=self.wordings[0])
            quantity = self.measure.presentation.quantity
            contrasts += models_by_condition(self.score_table(prompts, quantity))
        names = {_RUN: labels[1], _REFERENCE: labels[0]}
        measures = {self.id: self.measure}
        return judged(
            [(_between_runs(contrast, names), estimate) for contrast, estimate in contrasts],
            measures,
        )

    def headlines(self, scores: pl.DataFrame) -> tuple[float | None, float | None]:
        """Return the value that headings are about, before and after, of prompts in both runs.

        ``scores``: of both runs.
        """
        sides = (scores.filter(model=side) for side in (_REFERENCE, _RUN))
        before, after = (self.headline(side) for side in sides)
        return before and before[1].difference, after and after[1].difference

    def by_item(self, both: pl.DataFrame) -> Interaction | None:
        """Return whether the gap changed alike in every item; None if a cell has no value."""
        rows = both.filter(pl.col("condition") != BASELINE, IN_MAIN_VARIANT)
        quantities = {*rows["quantity"]}
        wanted = (self.measure.primary_contrast[1], self.measure.quantity)
        quantity = next((name for name in wanted if name in quantities), None)
        if self.measure.unit != "condition" or quantity is None:
            return None
        rows = rows.filter(quantity=quantity)
        # A cell counts only if both runs have all of its values; else its means would be of
        # different sentences.
        whole = pl.max_horizontal(pl.col("before", "now").null_count()) == 0
        change = pl.col("now").mean() - pl.col("before").mean()
        cells = rows.group_by("group", "condition", "item").agg(value=pl.when(whole).then(change))
        items, tables = in_order(cells, "item"), []
        for group in (self.measure.contrast, self.measure.against):
            group_cells = cells.filter(group=group)
            tables.append(
                cube(group_cells, {"condition": in_order(group_cells, "condition"), "item": items})
            )
        return interaction(tables, items)

    def two_runs(self, both: pl.DataFrame) -> pl.DataFrame:
        """Return the scores of both runs at every level, as if they were of two models."""
        sides = (("before", _REFERENCE), ("now", _RUN))
        scores = pl.concat([_scores(both, pl.col(side), name) for side, name in sides])
        # Rows without a model are means over both runs, and left out.
        return pl.concat(
            [scores, self.measure.aggregate(scores).filter(pl.col("model").is_not_null())]
        )


def _scores(both: pl.DataFrame, value: pl.Expr, model: str) -> pl.DataFrame:
    """Return SCORES of the level prompt with another value, under a model's name."""
    return scores_with(both, value, model=pl.lit(model), one_sided=_ONE_SIDED)


def _between_runs(contrast: Contrast, names: dict[str, str]) -> Contrast:
    if contrast.kind == BY_CONDITION:
        return replace(contrast, second=f"the same in {names[contrast.second]}")
    sides = names[contrast.first], names[contrast.second]
    return replace(contrast, kind="runs", first=sides[0], second=sides[1])


@dataclass(frozen=True, kw_only=True)
class Course:
    """The comparisons of one model and instrument: each later run with the first run."""

    id: str
    """Unique on a page."""
    section: Section
    """Of the last run."""
    model: str
    """As shown to people; the model of the first run."""
    steps: tuple[Comparison, ...]
    """In the order in which the runs were given; no comparison here is refused."""
    labels: tuple[str, ...]
    """The label of the first run, then the label of each step's run."""

    @property
    def labeled(self) -> list[tuple[Comparison, str]]:
        """Return each step with the label of its run."""
        return list(zip(self.steps, self.labels[1:], strict=True))


def courses(comparisons: Sequence[Comparison]) -> list[Course]:
    """Return one course for each model and instrument that was compared."""
    labels = labels_of(comparisons)
    kept: dict[tuple[str, str], list[Comparison]] = {}
    sections: dict[str, Section] = {}
    for comparison in comparisons:
        if not comparison.verdict.refusals and comparison.section is not None:
            kept.setdefault((comparison.instrument, comparison.models[0]), []).append(comparison)
            sections[comparison.instrument] = comparison.section
    models = short_names(dict.fromkeys(model for _, model in kept))
    entries: list[Course] = []
    for (instrument, model), steps in kept.items():
        before = sum(course.section.instrument == instrument for course in entries)
        runs = (steps[0].reference, *(step.run for step in steps))
        entries.append(
            Course(
                id=slug_of(f"{instrument}-{before + 1}" if before else instrument),
                section=sections[instrument],
                model=models[model],
                steps=tuple(steps),
                labels=tuple(labels[str(run)] for run in runs),
            )
        )
    return entries
