"""Runs against each other, paired by prompt: what differs, with test, effect and interval.

A prompt counts where it has a value in both. docs/statistics.md, “Two runs”, says what is tested.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.comparison.changes import HEADINGS, ChangeContext
from goffman.comparison.comparability import Verdict, verdict
from goffman.contrasts.catalog import BY_CONDITION
from goffman.contrasts.designs import clusters_of
from goffman.contrasts.verdict import NOT_MEASURABLE
from goffman.errors import InputError, RunError, did_you_mean
from goffman.formatting import join_words, models_meant
from goffman.measures.registry import measure_from
from goffman.measures.responses import side_by_side
from goffman.modes import asked_ids, of_asked
from goffman.report.load import unmeasurable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from goffman.presentation.section import Section
    from goffman.report.load import MeasuredRun
    from goffman.stats.interaction import Interaction

OF_RUNS = ("runs", BY_CONDITION)
"""Kinds of contrasts whose sides are the two runs; of all others it is the change of a contrast."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One model's answers to an instrument against those in the reference run."""

    reference: Path
    run: Path
    instrument: str
    models: tuple[str, str]
    """In the reference, and in the run."""
    verdict: Verdict
    one_sided: int = 0
    """Prompts (and variants, trials) with a value in only one run, which so do not count."""
    estimates: pl.DataFrame
    """CONTRASTS + ESTIMATES + VERDICTS; no rows where the comparison is refused."""
    unmeasurable: tuple[str, ...] = ()
    """Which of the two cannot do the task, so that no difference means anything; without full
    stops."""
    sides: tuple[float | None, float | None] = (None, None)
    """The contrast that headings are about in the reference and in the run, of what both have."""
    by_item: Interaction | None = None
    """Whether the gap changed alike in every item; None where there is no such gap."""
    section: Section | None = None
    """How things are called in the run; None: an instrument whose measure is not known here."""

    @property
    def headline(self) -> dict[str, Any] | None:
        """The change of the contrast that headings are about; None: there is none."""
        rows = self.estimates.filter(pl.col("family").str.starts_with(HEADINGS))
        return rows.row(0, named=True) if rows.height else None

    @property
    def same(self) -> bool:
        """Whether no number differs."""
        known = self.estimates["difference"].drop_nulls()
        return bool(known.len()) and bool((known == 0).all())


def compare(
    runs: Sequence[MeasuredRun],
    *,
    models: Sequence[str] = (),
    note: Callable[[str], None] = lambda _: None,
) -> list[Comparison]:
    """Each further run against the first, instrument by instrument and model by model.

    ``models``: NAME, or NAME=OTHER where the further runs have it under another name; ``note`` is
    told what only one run has. RunError where nothing can be compared, with every reason.
    """
    if len(runs) < 2:
        raise InputError(f"You gave {len(runs)} run. Give two or more to compare.")
    reference, *further = runs
    chosen = [_chosen(model, reference, further) for model in models]
    found: list[Comparison] = []
    reasons: list[str] = []
    for run in further:
        for instrument in sorted({*instruments_of(reference)} & {*instruments_of(run)}):
            pairs = _pairs(reference, run, instrument, chosen)
            if not pairs and not chosen:
                reasons.append(_unmatched(reference, run, instrument))
            found += [_comparison(reference, run, instrument, pair) for pair in pairs]
        reasons += _one_sided(reference, run, found)
    if all(one.verdict.refusals for one in found):
        reasons += [f"{one.instrument}: {'; '.join(one.verdict.refusals)}." for one in found]
        below = (f"  {reason}" for reason in dict.fromkeys(reasons))
        raise RunError("These runs cannot be compared.", *below)
    for reason in reasons:
        note(reason)
    return found


def _comparison(
    reference: MeasuredRun, run: MeasuredRun, instrument: str, pair: tuple[str, str]
) -> Comparison:
    sides = ((reference, pair[0]), (run, pair[1]))
    marks = [unmeasurable(one, instrument, model) for one, model in sides]
    about = Comparison(
        reference=reference.folder,
        run=run.folder,
        instrument=instrument,
        models=pair,
        verdict=verdict(reference, run, instrument, models=pair),
        estimates=run.estimates.clear(),
        section=run.sections.get(instrument),
        unmeasurable=tuple(
            f"{model} in {one.folder} is {found.mark}"
            for (one, model), found in zip(sides, marks, strict=True)
            if found
        ),
    )
    measure = measure_from(run.manifest.instruments[instrument].measured)
    if about.verdict.refusals or measure is None:
        return about
    of_prompts = [pl.col("level") == "prompt", of_asked(instrument)]
    if measure.separable:
        # Of very many prompts, what nothing is compared on takes most of the memory.
        compared = {measure.prompt_quantity, *(quantity for quantity, _ in measure.contrasts)}
        of_prompts.append(pl.col("quantity").is_in(compared))
    both = side_by_side(
        *(one.scores.filter(*of_prompts, pl.col("model") == model) for one, model in sides)
    )
    asked = run.prompts.filter(of_asked(instrument))
    work = ChangeContext(
        id=instrument,
        measure=measure,
        wordings=asked["wording"].unique(maintain_order=True).to_list(),
        sharing=clusters_of(asked),
    )
    labels = pair
    if pair[0] == pair[1]:
        labels = (f"{pair[0]} in {reference.folder}", f"{pair[1]} in {run.folder}")
    scores = work.two_runs(both)
    levels, headlines = work.levels(scores, labels), work.headlines(scores)
    # Of many prompts this is the largest table.
    del scores
    changes = _as_changes(work.changes(both, pair[1]), labels)
    found = pl.concat([levels, changes], how="diagonal")
    if about.unmeasurable:
        known = pl.col("verdict").is_not_null()
        found = found.with_columns(verdict=pl.when(known).then(pl.lit(NOT_MEASURABLE)))
    one_sided = both.filter(pl.col("one_sided"), pl.col("quantity") == measure.prompt_quantity)
    return replace(
        about,
        estimates=found,
        one_sided=one_sided.height,
        sides=headlines,
        by_item=work.by_item(both),
    )


def _as_changes(found: pl.DataFrame, labels: tuple[str, str]) -> pl.DataFrame:
    """The audit's contrasts with words that say that they are of changes, and between whom."""
    who = f"{labels[1]} − {labels[0]}"
    return found.with_columns(
        contrast=pl.format("change of {}, {}", "contrast", pl.lit(who)),
        family=pl.format("change of {}, {}", "family", pl.lit(who)),
        method=pl.format("of the changes of prompts: {}", "method"),
    )


def instruments_of(run: MeasuredRun, model: str | None = None) -> list[str]:
    """Return the ids of the instruments that have scores, of one model or any, with their modes."""
    rows = run.answered if model is None else run.answered.filter(pl.col("model") == model)
    return sorted(rows.select(asked_ids()).to_series().unique())


def answered(run: MeasuredRun, instrument: str | None = None) -> list[str]:
    """The models that have scores, of one instrument or any."""
    rows = run.answered.filter(pl.col("model").is_not_null())
    if instrument is not None:
        rows = rows.filter(of_asked(instrument))
    return sorted(rows["model"].unique())


def _chosen(given: str, reference: MeasuredRun, further: Sequence[MeasuredRun]) -> tuple[str, str]:
    """What a --model means: its names in the reference and in the further runs."""
    here = answered(reference)
    there = sorted({*itertools.chain.from_iterable(answered(run) for run in further)})
    name, _, other = (given, "", "") if models_meant(given, here) else given.partition("=")
    return (
        the_model_called(name, here, who="the first run has"),
        the_model_called(other or name, there, who="the later runs have"),
    )


def the_model_called(given: str, models: Sequence[str], *, who: str) -> str:
    """The one model that is called or shown so; InputError where it is none, or one of several."""
    meant = models_meant(given, models)
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise InputError(
            f"--model is '{given}', which can be {join_words(meant, 'or')}. Give one of these "
            f"names."
        )
    raise InputError(
        f"--model is '{given}', but {who} no scores for it.{did_you_mean(given, models)} "
        f"Allowed: {', '.join(models)}."
    )


def _pairs(
    reference: MeasuredRun,
    run: MeasuredRun,
    instrument: str,
    chosen: Sequence[tuple[str, str]],
) -> list[tuple[str, str]]:
    """Which models are compared: those chosen, those of one name, or the only one of each."""
    here, there = answered(reference, instrument), answered(run, instrument)
    if chosen:
        return [(one, other) for one, other in chosen if one in here and other in there]
    if same := [(name, name) for name in here if name in there]:
        return same
    return [(here[0], there[0])] if len(here) == len(there) == 1 else []


def _unmatched(reference: MeasuredRun, run: MeasuredRun, instrument: str) -> str:
    here, there = answered(reference, instrument), answered(run, instrument)
    return (
        f"{instrument}: {reference.folder} ({', '.join(here)}) and {run.folder} "
        f"({', '.join(there)}) have no model in common. Say which two to compare: --model "
        f"'{here[0]}={there[0]}'"
    )


def _one_sided(
    reference: MeasuredRun, run: MeasuredRun, found: Sequence[Comparison]
) -> Iterator[str]:
    """What only one of two runs has scores of: instruments, and models where others are matched."""
    for one, other in ((reference, run), (run, reference)):
        for instrument in sorted({*instruments_of(one)} - {*instruments_of(other)}):
            yield f"{instrument} is not compared: {other.folder} has no scores for it."
    pairs = [each for each in found if each.run == run.folder and each.models[0] == each.models[1]]
    for instrument in dict.fromkeys(each.instrument for each in pairs):
        for one, other in ((reference, run), (run, reference)):
            for model in sorted({*answered(one, instrument)} - {*answered(other, instrument)}):
                yield (
                    f"{instrument}: {model} is not compared, because {other.folder} has no scores "
                    "for it."
                )


def refused(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """A line for each instrument and pair of models that could not be compared."""
    for one in comparisons:
        for reason in one.verdict.refusals:
            yield f"{one.instrument} is not compared: {reason}."


def describe_verdicts(comparisons: Sequence[Comparison]) -> list[str]:
    """What was refused, and what must be known of the rest, each once."""
    marks = (
        f"Note on {one.instrument}: {mark}." for one in comparisons for mark in one.verdict.marks
    )
    return list(dict.fromkeys([*refused(comparisons), *marks]))
