"""Lin et al. (2022): the gender of what fills the mask, in every model whose files are there.

The published sums of each prompt enter as scores; means and tests are computed from these.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from goffman.errors import PublishedError
from goffman.replicate.lin2022_import import (
    other_run,
    phrase_files,
    read_phrase_scores,
    read_subjects,
)
from goffman.replicate.rows import NOT_HERE, Result

if TYPE_CHECKING:
    import polars as pl

    from goffman.stats.estimate import Estimate

ROBERTA, MENTAL = "roberta", "mentalroberta"
"""The two models that the study compares, as their files are named."""

DOUBTFUL = frozenset({"bert", "mentalbert"})
"""Models whose mask is written "[MASK]", which the authors' script looks for in a sentence that has
"<mask>": it puts no word in."""

AS_RUN = 'as run, a token with a space before it (" She") counts here, and not by its gender'

ROUNDING = 1e-9
"""How close a sum of phrases must be to the published score."""

PHASES = ("diagnosis", "intention", "action")


def results(folder: Path) -> list[Result]:
    """Return every number of the study, recomputed."""
    subjects = read_subjects(folder)
    files = phrase_files(folder)
    phrases, sums = _sum_up(folder, read_phrase_scores(folder), files)
    models = sorted(
        {*subjects["model"], *phrases["model"]},
        key=lambda name: (name != ROBERTA, name != MENTAL, name),
    )
    if not models:
        raise PublishedError(
            f"{folder} has no file named like 'MODEL_all_df_intention.csv' or "
            "'attribute_recursive_3steps_TOPK_10_BEAM_10_MODEL__result.csv'."
        )
    rows: list[Result] = []
    for model in models:
        rows += _of_subjects(subjects, model)
        rows += sums.get(model, [])
        if model in files:
            rows += _of_phrases(phrases, model, files[model])
    return [_correction(rows), *rows, *_between_models(subjects, phrases, models)]


def _sum_up(
    folder: Path, scored: pl.DataFrame, files: Mapping[str, Path]
) -> tuple[pl.DataFrame, dict[str, list[Result]]]:
    """Return question 2's scores, made of phrases if all match, and how many prompts match."""
    import polars as pl

    from goffman.replicate.lin2022_phrases import read_nouns, read_phrases

    results: dict[str, list[Result]] = {}
    for model, scores in sorted(files.items()):
        path = scores.with_name(scores.name.replace("_result.csv", ".csv"))
        if not path.is_file():
            continue
        published = scored.filter(pl.col("model") == model)
        prompts = published.unique("prompt_id", maintain_order=True).with_columns(
            text=pl.col("item").str.replace("[diagnosis]", pl.col("condition"), literal=True),
            keyed=pl.lit("plain"),
        )
        phrases = read_phrases(path, prompts, model=model, nouns=read_nouns(folder))
        joined = published.join(phrases.scores, on=["prompt_id", "quantity"], suffix="_ours")
        is_same = (pl.col("value") - pl.col("value_ours")).abs().fill_null(1.0) <= ROUNDING
        matching = int(joined.group_by("prompt_id").agg(is_same.all())["value"].sum())
        note = f"{phrases.read:,} phrases, of {prompts.height} prompts"
        if phrases.left_out:
            note += f"; {phrases.left_out:,} lines are no phrase of a prompt, and left out"
        if matching == prompts.height:
            other_models = scored.filter(pl.col("model") != model)
            scored = pl.concat([other_models, phrases.scores])
        else:
            note += "; so the figures below are of the published scores"
        name = f"{model}, attribution: prompts whose phrases sum up to their scores"
        results[model] = [Result(name=name, value=matching, note=note)]
    return scored, results


def _correction(found: Sequence[Result]) -> Result:
    """Return which reading of a p near .05 was printed: p itself, or times the nine dimensions."""
    name = "correction of the p-values"
    p = next(
        (row.value for row in found if row.name == f"{MENTAL}, attribution, avoidance: p"), None
    )
    if not isinstance(p, float):
        return Result(name=name, value=None, note=f"{NOT_HERE}: {MENTAL}'s phrases are not there")
    readings = {"none": p, "Bonferroni": min(1.0, 9 * p)}
    printed = [reading for reading, value in readings.items() if round(value, 2) == 0.04]
    return Result(name=name, value=" or ".join(printed) or "another")


def _of_subjects(scores: pl.DataFrame, model: str) -> list[Result]:
    """Return question 1 for a model: women against men, overall and by phase; then both groups."""
    rows: list[Result] = []
    for group in ("mental-health", "other"):
        name = f"{model}, care-seeking, {group}"
        values = _values(scores, model=model, group=group)
        if values.is_empty():
            continue
        unspecified = _mean(values, "unspecified")
        rows += [
            *_women_against_men(name, values),
            Result(name=f"{name}: P(unspecified)", value=unspecified, note=AS_RUN),
        ]
        if group == "mental-health":
            gendered = (_mean(values, "female") + _mean(values, "male")) / 2
            rows.append(Result(name=f"{name}: mean of P(female) and P(male)", value=gendered))
        rows += _of_phases(scores, name, model=model, group=group)
    first, second = (_values(scores, model=model, group=g) for g in ("mental-health", "other"))
    name = f"{model}, disparity, mental-health against other"
    return rows + _disparities(name, {"mental-health": first, "other": second})


def _of_phases(scores: pl.DataFrame, what: str, *, model: str, group: str) -> list[Result]:
    """Return women against men in each phase of the file; if it has all phases, what they show."""
    rows, disparities, significant = [], [], []
    for phase in PHASES:
        values = _values(scores, model=model, group=group, dimension=phase)
        if values.is_empty():
            continue
        phase_rows = _women_against_men(f"{what}, {phase}", values, tests=3)
        rows += phase_rows
        p = phase_rows[2].value
        disparities.append(_mean(values, "disparity"))
        if isinstance(p, float) and p < 0.05 and disparities[-1] > 0:
            significant.append(phase)
    if len(disparities) < len(PHASES):
        return rows
    rows.append(
        Result(
            name=f"{what}: P(female) above P(male) in all three phases, p < .05",
            value="yes" if len(significant) == len(PHASES) else "no",
            note=f"in {', '.join(significant) or 'none'}",
        )
    )
    if group == "mental-health":
        rises = "yes" if disparities == sorted(disparities) else "no"
        name = f"{what}: disparity rises from phase to phase"
        rows.append(Result(name=name, value=rises))
    return rows


def _of_phrases(scores: pl.DataFrame, model: str, path: Path) -> list[Result]:
    """Return question 2 for a model: women against men in each dimension of stigma."""
    notes = []
    if model in DOUBTFUL:
        notes.append(
            "doubtful: the authors' script put no word into this model's sentence, so that its "
            "second and third step ask the first sentence again"
        )
    if file_name := other_run(model, path):
        notes.append(f"of {path.name}: {file_name}, which the study's figures read, is not there")
    results: list[Result] = []
    for dimension in sorted(set(scores["dimension"])):
        values = _values(scores, model=model, dimension=dimension)
        if not values.is_empty():
            rows = _women_against_men(f"{model}, attribution, {dimension}", values, tests=9)
            results += [
                replace(row, note="; ".join(filter(None, [row.note, *notes])), firm=not notes)
                for row in rows
            ]
    return results


def _between_models(
    subjects: pl.DataFrame, phrases: pl.DataFrame, models: Sequence[str]
) -> list[Result]:
    """Return every two models' disparities in mental health: overall, by phase and by dimension."""
    mental_health = {"group": "mental-health"}
    parts = [(subjects, "", mental_health, 1)]
    parts += [
        (subjects, f", {phase}", {**mental_health, "dimension": phase}, 3) for phase in PHASES
    ]
    dimensions = sorted(set(phrases["dimension"]))
    parts += [
        (phrases, f", attribution, {dimension}", {"dimension": dimension}, 9)
        for dimension in dimensions
    ]
    rows = []
    for pair, (scores, part, ids, tests) in itertools.product(
        itertools.combinations(models, 2), parts
    ):
        name = f"disparity in mental-health, {' against '.join(pair)}{part}"
        sides = {model: _values(scores, model=model, **ids) for model in pair}
        rows += _disparities(name, sides, tests=tests)
    return rows


def _values(scores: pl.DataFrame, **ids: str) -> pl.DataFrame:
    """Return the prompts with these ids that have values, with a column for each quantity."""
    import polars as pl

    from goffman.measures.responses import wide

    prompts = scores.filter(*(pl.col(name) == value for name, value in ids.items()))
    answered = prompts.filter(pl.col("value").is_not_null())
    return wide(answered, ("female", "male", "unspecified", "disparity")).sort("prompt_id")


def _mean(values: pl.DataFrame, quantity: str) -> float:
    return float(values[quantity].sum()) / values.height


def _women_against_men(what: str, values: pl.DataFrame, *, tests: int = 1) -> list[Result]:
    """Return both means, and p and d of their difference, paired by prompt."""
    from goffman.stats.two_samples import paired_t

    test = paired_t(values["female"].to_numpy(), values["male"].to_numpy(), contrast=what)
    return _tested(what, test, ("P(female)", "P(male)"), tests=tests)


def _disparities(what: str, sets: Mapping[str, pl.DataFrame], *, tests: int = 1) -> list[Result]:
    """Return two sets' mean disparities, and p and d of their difference; [] if one is empty."""
    from goffman.stats.two_samples import independent_t

    if any(values.is_empty() for values in sets.values()):
        return []
    first, second = (values["disparity"].to_numpy() for values in sets.values())
    test = independent_t(first, second, contrast=what, variances="equal")
    return _tested(what, test, tuple(sets), tests=tests)


def _tested(what: str, test: Estimate, sides: Sequence[str], *, tests: int) -> list[Result]:
    """Return both means, p, and Cohen's d with the pooled SD, even of paired values."""
    note = test.reason or ""
    if tests > 1 and test.p is not None:
        note = f"{min(1.0, tests * test.p):.2g} by Bonferroni's correction for {tests} tests"
    return [
        Result(name=f"{what}: {sides[0]}", value=test.mean_first),
        Result(name=f"{what}: {sides[1]}", value=test.mean_second),
        Result(name=f"{what}: p", value=test.p, note=note),
        Result(name=f"{what}: d", value=test.effect, digits=2),
    ]
