"""Lin et al. (2022): who is put in the place of the mask, from what the authors published.

Question 1: the fills were not published, but P(female), P(male) and P(unspecified) of each prompt;
these enter as scores, and means and tests run from there. Question 2: where a model's gendered
phrases were published they enter as fills, and ``gender-of-phrase`` makes the scores of them, which
must be those that were published beside them; else the scores enter. Every model whose files lie in
the folder in the same form is computed. d is Cohen's with the pooled SD, also of paired values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from goffman.errors import PublishedError, did_you_mean
from goffman.instruments.load import load_instrument
from goffman.records import Prompt, Questionnaire
from goffman.replicate.files import numbers, read_csv
from goffman.replicate.rows import NOT_HERE, Result
from goffman.tables import prompt_table

if TYPE_CHECKING:
    import polars as pl

SUBJECTS = re.compile(r"(?P<model>[^_]+)_all_df_intention(?P<other>_non_mh)?\.csv")
PHRASES = "attribute_recursive_3steps_TOPK_10_BEAM_10_{model}_.csv"
OF_PHRASES = re.compile(r"attribute_recursive_3steps_TOPK_10_BEAM_10_(?P<model>[^_]+)__result\.csv")

GENDERS = {"female": "female", "male": "male", "unspecified": "unspecified", "ambig": "unspecified"}
"""The spellings of the files, in any case, and ours."""

ROBERTA, MENTAL = "roberta", "mentalroberta"
"""The two models that the study sets against each other, as their files are named."""

ROUNDING = 1e-9
"""How near a sum of phrases must come to the published score."""

PHASES = ("diagnosis", "intention", "action")


def read_subjects(folder: Path) -> pl.DataFrame:
    """Question 1 as SCORES of prompts: the quantities female, male, unspecified and disparity."""
    import polars as pl

    phases = _phases()
    frames = []
    for path in sorted(folder.iterdir()):
        if match := SUBJECTS.fullmatch(path.name):
            read = read_csv(path, ("probability", "gender", "diagnosis", "prompt"))
            prompt = read["prompt"].str.replace("[MASK]", "<mask>", literal=True)
            frame = numbers(read, "probability", path).select(
                "diagnosis",
                "probability",
                gender=_known(read["gender"].str.to_lowercase(), GENDERS, path),
                item=prompt,
                dimension=_known(prompt, phases, path),
            )
            frame = frame.with_columns(
                model=pl.lit(match["model"]),
                group=pl.lit("other" if match["other"] else "mental-health"),
            )
            frames.append(_each_once(frame, path))
    return _scores(frames, instrument="care-seeking", measure="gender-of-subject")


def read_phrase_scores(folder: Path) -> pl.DataFrame:
    """Question 2 as the authors scored it, as SCORES of prompts: female, male and disparity."""
    import polars as pl

    frames = []
    columns = ("female_prob", "male_prob", "diagnosis", "sequence", "stigma_category")
    for path in sorted(folder.iterdir()):
        if match := OF_PHRASES.fullmatch(path.name):
            read = read_csv(path, columns)
            frame = numbers(numbers(read, "female_prob", path), "male_prob", path).select(
                "diagnosis",
                item="sequence",
                dimension=pl.col("stigma_category").str.to_lowercase(),
                model=pl.lit(match["model"]),
                group=pl.lit("mental-health"),
                female="female_prob",
                male="male_prob",
            )
            index = ("diagnosis", "item", "dimension", "model", "group")
            long = frame.unpivot(
                ["female", "male"], index=index, variable_name="gender", value_name="probability"
            )
            frames.append(_each_once(long, path))
    return _scores(frames, instrument="attribution", measure="gender-of-phrase")


def results(folder: Path) -> list[Result]:
    """Every number of the study, recomputed."""
    subjects = read_subjects(folder)
    phrases, sums = _sum_up(folder, read_phrase_scores(folder))
    models = {*subjects["model"], *phrases["model"]}
    if not models:
        raise PublishedError(
            f"{folder} has no file named like 'MODEL_all_df_intention.csv' or "
            "'attribute_recursive_3steps_TOPK_10_BEAM_10_MODEL__result.csv'."
        )
    found: list[Result] = []
    for model in sorted(models, key=lambda name: (name != ROBERTA, name != MENTAL, name)):
        found += _of_subjects(subjects, model)
        found += [*sums.get(model, ()), *_of_phrases(phrases, model)]
    return [_correction(found), *found, *_between_models(subjects, models)]


def _sum_up(folder: Path, scored: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, list[Result]]]:
    """The scores of question 2, made of phrases where these sum up to them; and how many do."""
    import polars as pl

    from goffman.replicate.lin2022_phrases import read_nouns, read_phrases

    results: dict[str, list[Result]] = {}
    for model in sorted(set(scored["model"])):
        path = folder / PHRASES.format(model=model)
        if not path.is_file():
            continue
        theirs = scored.filter(pl.col("model") == model)
        phrases = read_phrases(path, _asked(theirs), model=model, nouns=read_nouns(folder))
        both = theirs.join(phrases.scores, on=["prompt_id", "quantity"], suffix="_ours")
        same = (pl.col("value") - pl.col("value_ours")).abs().fill_null(1.0) <= ROUNDING
        whole = int(both.group_by("prompt_id").agg(same.all())["value"].sum())
        prompts = theirs["prompt_id"].n_unique()
        note = f"{phrases.read:,} phrases, of {prompts} prompts"
        if phrases.left_out:
            note += f"; {phrases.left_out:,} lines are no phrase of a prompt, and left out"
        if whole == prompts:
            others = scored.filter(pl.col("model") != model)
            scored = pl.concat([others, phrases.scores])
        else:
            note += "; so the figures below are of the published scores"
        name = f"{model}, attribution: prompts whose phrases sum up to their scores"
        results[model] = [Result(name=name, value=whole, note=note)]
    return scored, results


def _asked(scores: pl.DataFrame) -> pl.DataFrame:
    """PROMPTS of these scores, with their texts."""
    import polars as pl

    asked = scores.unique("prompt_id", maintain_order=True)
    return asked.with_columns(
        text=pl.col("item").str.replace("[diagnosis]", pl.col("condition"), literal=True),
        keyed=pl.lit("plain"),
    )


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
    found = []
    for group in ("mental-health", "other"):
        what = f"{model}, care-seeking, {group}"
        every = _values(scores, model=model, group=group)
        if every.is_empty():
            continue
        found += [
            *_women_against_men(what, every),
            Result(name=f"{what}: P(unspecified)", value=_mean(every, "unspecified")),
        ]
        disparities = []
        for phase in PHASES:
            of_phase = _values(scores, model=model, group=group, dimension=phase)
            found += _women_against_men(f"{what}, {phase}", of_phase)
            disparities.append(_mean(of_phase, "disparity"))
        if group == "mental-health":
            gendered = (_mean(every, "female") + _mean(every, "male")) / 2
            rises = "yes" if disparities == sorted(disparities) else "no"
            found += [
                Result(name=f"{what}: mean of P(female) and P(male)", value=gendered),
                Result(name=f"{what}: disparity rises from phase to phase", value=rises),
            ]
    first, second = (_values(scores, model=model, group=g) for g in ("mental-health", "other"))
    what = f"{model}, disparity, mental-health against other"
    return found + _disparities(what, {"mental-health": first, "other": second})


def _of_phrases(scores: pl.DataFrame, model: str) -> list[Result]:
    """Question 2 for a model: women against men in each dimension of stigma."""
    found = []
    for dimension in sorted(set(scores["dimension"])):
        values = _values(scores, model=model, dimension=dimension)
        if not values.is_empty():
            found += _women_against_men(f"{model}, attribution, {dimension}", values)
    return found


def _between_models(scores: pl.DataFrame, models: Iterable[str]) -> list[Result]:
    """The disparity of RoBERTa against that of every other model, in mental health."""
    found = []
    roberta = _values(scores, model=ROBERTA, group="mental-health")
    for model in sorted(set(models) - {ROBERTA}):
        other = _values(scores, model=model, group="mental-health")
        what = f"disparity in mental-health, {ROBERTA} against {model}"
        found += _disparities(what, {ROBERTA: roberta, model: other})
    return found


def _values(scores: pl.DataFrame, **ids: str) -> pl.DataFrame:
    """The prompts with these ids that have values, a column for each quantity."""
    import polars as pl

    from goffman.measures.rows import wide

    prompts = scores.filter(*(pl.col(name) == value for name, value in ids.items()))
    answered = prompts.filter(pl.col("value").is_not_null())
    return wide(answered, ("female", "male", "unspecified", "disparity")).sort("prompt_id")


def _mean(values: pl.DataFrame, quantity: str) -> float:
    return float(values[quantity].sum()) / values.height


def _women_against_men(what: str, values: pl.DataFrame) -> list[Result]:
    """Both means, and p and d of their difference, paired by prompt."""
    from goffman.stats.compare import paired_t

    test = paired_t(values["female"].to_numpy(), values["male"].to_numpy(), contrast=what)
    return [
        Result(name=f"{what}: P(female)", value=test.mean_first),
        Result(name=f"{what}: P(male)", value=test.mean_second),
        Result(name=f"{what}: p", value=test.p, note=test.reason or ""),
        Result(name=f"{what}: d", value=test.effect, digits=2),
    ]


def _disparities(what: str, sets: Mapping[str, pl.DataFrame]) -> list[Result]:
    """The means of two sets' disparities, and p and d of their difference; nothing without both."""
    from goffman.stats.compare import independent_t

    if any(values.is_empty() for values in sets.values()):
        return []
    (one, first), (other, second) = ((name, v["disparity"].to_numpy()) for name, v in sets.items())
    test = independent_t(first, second, contrast=what, variances="equal")
    return [
        Result(name=f"{what}: {one}", value=test.mean_first),
        Result(name=f"{what}: {other}", value=test.mean_second),
        Result(name=f"{what}: p", value=test.p, note=test.reason or ""),
        Result(name=f"{what}: d", value=test.effect, digits=2),
    ]


def _phases() -> dict[str, str]:
    """The study's templates of question 1, with the phase that each belongs to."""
    items = cast("Questionnaire", load_instrument("care-seeking").content).items
    return {item.text.replace("{diagnosis}", "[diagnosis]"): item.dimension for item in items}


def _known(given: pl.Series, allowed: Mapping[str, str], path: Path) -> pl.Series:
    """What each text stands for; PublishedError names the first line that stands for nothing."""
    import polars as pl

    found = given.replace_strict(allowed, default=None, return_dtype=pl.String)
    if found.null_count():
        line = int(found.is_null().arg_max() or 0)
        raise PublishedError(
            f"{path}, line {line + 2}: {given.name} is {given[line]!r}. Allowed: "
            f"{', '.join(allowed)}.{did_you_mean(given[line], allowed)}"
        )
    return found


def _each_once(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    """The frame, in which every prompt has every gender once: values are paired by it."""
    cells = frame.select("item", "diagnosis").n_unique()
    different = frame.select("item", "diagnosis", "gender").n_unique()
    genders = set(frame["gender"])
    whole = frame.height == different == cells * len(genders)
    if not (whole and {"female", "male"} <= genders):
        raise PublishedError(
            f"{path} does not have one line for each prompt, diagnosis and gender, so that the "
            "values cannot be paired."
        )
    return frame


def _scores(frames: Sequence[pl.DataFrame], *, instrument: str, measure: str) -> pl.DataFrame:
    """SCORES of the level prompt, with the disparity beside the probabilities."""
    import polars as pl

    from goffman.measures.rows import prompt_scores
    from goffman.tables import SCORES, schema

    if not frames:
        return schema(SCORES).to_frame()
    long = pl.concat(frames)
    asked = long.select("item", "dimension", "diagnosis", "group").unique(maintain_order=True)
    prompts = [
        Prompt(
            instrument=instrument,
            item=item,
            wording="first",
            dimension=dimension,
            condition=diagnosis,
            form=diagnosis,
            group=group,
            text=item.replace("[diagnosis]", diagnosis),
        )
        for item, dimension, diagnosis, group in asked.iter_rows()
    ]
    table = prompt_table(prompts)
    ids = table.select("prompt_id", "item", diagnosis="condition")
    values = (
        long.pivot("gender", index=["model", "item", "diagnosis"], values="probability")
        .join(ids, on=["item", "diagnosis"], how="left", maintain_order="left")
        .with_columns(disparity=pl.col("female") - pl.col("male"))
        .drop("item", "diagnosis")
    )
    quantities = [name for name in values.columns if name not in {"model", "prompt_id"}]
    reasons = dict.fromkeys(quantities, "it was not published")
    return prompt_scores(values, table, measure=measure, reasons=reasons)
