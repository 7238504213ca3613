"""Lin et al. (2022): who is put in the place of the mask, in every model whose files are there.

The published sums of each prompt enter as scores; means and tests run from there.
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
"""The two models that the study sets against each other, as their files are named."""

DOUBTFUL = frozenset({"bert", "mentalbert"})
"""Models whose mask is written "[MASK]", which the authors' script looks for in a sentence that has
"<mask>": it puts no word in."""

AS_RUN = 'as run, a token with a space before it (" She") counts here, and not by its gender'

ROUNDING = 1e-9
"""How near a sum of phrases must come to the published score."""

PHASES = ("diagnosis", "intention", "action")


def results(folder: Path) -> list[Result]:
    """Every number of the study, recomputed."""
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
    found: list[Result] = []
    for model in models:
        found += _of_subjects(subjects, model)
        found += sums.get(model, [])
        if model in files:
            found += _of_phrases(phrases, model, files[model])
    return [_correction(found), *found, *_between_models(subjects, phrases, models)]


def _sum_up(
    folder: Path, scored: pl.DataFrame, files: Mapping[str, Path]
) -> tuple[pl.DataFrame, dict[str, list[Result]]]:
    """The scores of question 2, made of phrases where these sum up to them; and how many do."""
    import polars as pl

    from goffman.replicate.lin2022_phrases import read_nouns, read_phrases

    results: dict[str, list[Result]] = {}
    for model, scores in sorted(files.items()):
        path = scores.with_name(scores.name.replace("_result.csv", ".csv"))
        if not path.is_file():
            continue
        theirs = scored.filter(pl.col("model") == model)
        prompts = theirs.unique("prompt_id", maintain_order=True).with_columns(
            text=pl.col("item").str.replace("[diagnosis]", pl.col("condition"), literal=True),
            keyed=pl.lit("plain"),
        )
        phrases = read_phrases(path, prompts, model=model, nouns=read_nouns(folder))
        both = theirs.join(phrases.scores, on=["prompt_id", "quantity"], suffix="_ours")
        same = (pl.col("value") - pl.col("value_ours")).abs().fill_null(1.0) <= ROUNDING
        whole = int(both.group_by("prompt_id").agg(same.all())["value"].sum())
        note = f"{phrases.read:,} phrases, of {prompts.height} prompts"
        if phrases.left_out:
            note += f"; {phrases.left_out:,} lines are no phrase of a prompt, and left out"
        if whole == prompts.height:
            others = scored.filter(pl.col("model") != model)
            scored = pl.concat([others, phrases.scores])
        else:
            note += "; so the figures below are of the published scores"
        name = f"{model}, attribution: prompts whose phrases sum up to their scores"
        results[model] = [Result(name=name, value=whole, note=note)]
    return scored, results


def _correction(found: Sequence[Result]) -> Result:
    """Which reading of a p near .05 was printed, as itself or times the nine dimensions."""
    name = "correction of the p-values"
    p = next((r.value for r in found if r.name == f"{MENTAL}, attribution, avoidance: p"), None)
    if not isinstance(p, float):
        return Result(name=name, value=None, note=f"{NOT_HERE}: {MENTAL}'s phrases are not there")
    readings = {"none": p, "Bonferroni": min(1.0, 9 * p)}
    printed = [reading for reading, value in readings.items() if round(value, 2) == 0.04]
    return Result(name=name, value=" or ".join(printed) or "another")


def _of_subjects(scores: pl.DataFrame, model: str) -> list[Result]:
    """Question 1 for a model: women against men, in all phases and in each; then the two groups."""
    found: list[Result] = []
    for group in ("mental-health", "other"):
        what = f"{model}, care-seeking, {group}"
        every = _values(scores, model=model, group=group)
        if every.is_empty():
            continue
        unspecified = _mean(every, "unspecified")
        found += [
            *_women_against_men(what, every),
            Result(name=f"{what}: P(unspecified)", value=unspecified, note=AS_RUN),
        ]
        if group == "mental-health":
            gendered = (_mean(every, "female") + _mean(every, "male")) / 2
            found.append(Result(name=f"{what}: mean of P(female) and P(male)", value=gendered))
        found += _of_phases(scores, what, model=model, group=group)
    first, second = (_values(scores, model=model, group=g) for g in ("mental-health", "other"))
    what = f"{model}, disparity, mental-health against other"
    return found + _disparities(what, {"mental-health": first, "other": second})


def _of_phases(scores: pl.DataFrame, what: str, *, model: str, group: str) -> list[Result]:
    """Women against men in each phase that the file has; with all of them, what they show."""
    found, disparities, above = [], [], []
    for phase in PHASES:
        values = _values(scores, model=model, group=group, dimension=phase)
        if values.is_empty():
            continue
        of_phase = _women_against_men(f"{what}, {phase}", values, tests=3)
        found += of_phase
        p = of_phase[2].value
        disparities.append(_mean(values, "disparity"))
        if isinstance(p, float) and p < 0.05 and disparities[-1] > 0:
            above.append(phase)
    if len(disparities) < len(PHASES):
        return found
    found.append(
        Result(
            name=f"{what}: P(female) above P(male) in all three phases, p < .05",
            value="yes" if len(above) == len(PHASES) else "no",
            note=f"in {', '.join(above) or 'none'}",
        )
    )
    if group == "mental-health":
        rises = "yes" if disparities == sorted(disparities) else "no"
        name = f"{what}: disparity rises from phase to phase"
        found.append(Result(name=name, value=rises))
    return found


def _of_phrases(scores: pl.DataFrame, model: str, path: Path) -> list[Result]:
    """Question 2 for a model: women against men in each dimension of stigma."""
    notes = []
    if model in DOUBTFUL:
        notes.append(
            "doubtful: the authors' script put no word into this model's sentence, so that its "
            "second and third step ask the first sentence again"
        )
    if wanted := other_run(model, path):
        notes.append(f"of {path.name}: {wanted}, which the study's figures read, is not there")
    found: list[Result] = []
    for dimension in sorted(set(scores["dimension"])):
        values = _values(scores, model=model, dimension=dimension)
        if not values.is_empty():
            rows = _women_against_men(f"{model}, attribution, {dimension}", values, tests=9)
            found += [
                replace(row, note="; ".join(filter(None, [row.note, *notes])), firm=not notes)
                for row in rows
            ]
    return found


def _between_models(
    subjects: pl.DataFrame, phrases: pl.DataFrame, models: Sequence[str]
) -> list[Result]:
    """Return every two models' disparities in mental health: by phase, and by dimension."""
    about = {"group": "mental-health"}
    parts = [(subjects, "", about, 1)]
    parts += [(subjects, f", {phase}", {**about, "dimension": phase}, 3) for phase in PHASES]
    dimensions = sorted(set(phrases["dimension"]))
    parts += [(phrases, f", attribution, {of}", {"dimension": of}, 9) for of in dimensions]
    found = []
    for pair, (scores, part, ids, tests) in itertools.product(
        itertools.combinations(models, 2), parts
    ):
        what = f"disparity in mental-health, {' against '.join(pair)}{part}"
        sides = {model: _values(scores, model=model, **ids) for model in pair}
        found += _disparities(what, sides, tests=tests)
    return found


def _values(scores: pl.DataFrame, **ids: str) -> pl.DataFrame:
    """The prompts with these ids that have values, a column for each quantity."""
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
    """Return two sets' mean disparities, and p and d of their difference; nothing without both."""
    from goffman.stats.two_samples import independent_t

    if any(values.is_empty() for values in sets.values()):
        return []
    first, second = (values["disparity"].to_numpy() for values in sets.values())
    test = independent_t(first, second, contrast=what, variances="equal")
    return _tested(what, test, tuple(sets), tests=tests)


def _tested(what: str, test: Estimate, sides: Sequence[str], *, tests: int) -> list[Result]:
    """Return both means, p, and d, which is Cohen's with the pooled SD, also of paired values."""
    note = test.reason or ""
    if tests > 1 and test.p is not None:
        note = f"{min(1.0, tests * test.p):.2g} by Bonferroni's correction for {tests} tests"
    return [
        Result(name=f"{what}: {sides[0]}", value=test.mean_first),
        Result(name=f"{what}: {sides[1]}", value=test.mean_second),
        Result(name=f"{what}: p", value=test.p, note=note),
        Result(name=f"{what}: d", value=test.effect, digits=2),
    ]
