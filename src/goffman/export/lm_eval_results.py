"""Results of a run in the shape in which lm-evaluation-harness writes its own.

An instrument is a task; an estimate is a metric under its name, and the mean of a quantity over a
group of conditions is mean.QUANTITY.GROUP; with-names and without-names stand
where lm-eval has its filters. A gap is neither better nor worse for being higher, so that
higher_is_better is null. What has no value is left out of the results and named in "missing"; so is
every number of a model that cannot do the task. "verdicts" has the report's word for each estimate.
control is the model's score on the control items; its error is that of a normal distribution whose
95% interval is as wide.
"""

from __future__ import annotations

import re
from datetime import datetime
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goffman import __version__
from goffman.console import json_text
from goffman.contrasts.scores import cube, in_order
from goffman.export.common import main_estimates, public_name, standard_error
from goffman.gate.names import path_of, with_doubts
from goffman.modes import asked_id, asked_ids
from goffman.presentation.competence import Competence, marked
from goffman.report.load import unmeasurable
from goffman.stats.crossed import crossed_interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goffman.gate.names import NamedEstimate
    from goffman.report.load import MeasuredRun

LEVEL = "group"
"""Beside the estimates: the scores of whole groups of conditions."""

NO_FILTER = "none"


def lm_eval_text(run: MeasuredRun, model: str) -> str:
    """The JSON of one model."""
    found = lm_eval_results(run, model)
    return json_text(found, indent=2) + "\n"


def lm_eval_results(run: MeasuredRun, model: str) -> dict[str, Any]:
    """The same as a dictionary."""
    results: dict[str, dict[str, Any]] = {}
    missing: dict[str, dict[str, str]] = {}
    for instrument in sorted(
        {*run.scores.filter(pl.col("model") == model).select(asked_ids()).to_series()}
    ):
        results[instrument] = {"alias": instrument}
        missing[instrument] = {}
    for instrument, found in _competence(run, model).items():
        results[instrument]["control,none"] = found.value
        results[instrument]["control_stderr,none"] = _from_interval(found)
        if not found.passed:
            results[instrument]["alias"] = marked(instrument)
    for instrument, metric, value, error, reason in _numbers(run, model):
        if failed := unmeasurable(run, instrument, model):
            missing[instrument][metric] = failed.mark
            continue
        if value is None:
            missing[instrument][metric] = reason
            continue
        name, _, which = metric.partition(",")
        results[instrument][metric] = value
        results[instrument][f"{name}_stderr,{which}"] = "N/A" if error is None else error
    return {
        "results": results,
        "missing": {task: of for task, of in missing.items() if of},
        "verdicts": _verdicts(run, model),
        **_about_tasks(run, model, results),
        **_about_model(run, model),
    }


def _verdicts(run: MeasuredRun, model: str) -> dict[str, dict[str, str]]:
    """By instrument and metric: the verdict, as the report shows it."""
    found: dict[str, dict[str, str]] = {}
    for one in with_doubts(main_estimates(run, model), run):
        if one.verdict:
            found.setdefault(asked_id(one.row), {})[_metric(one)] = one.verdict
    return found


def _metric(one: NamedEstimate) -> str:
    """An estimate's name within its task, and what stands where lm-eval has its filters."""
    path = one.path.removeprefix(f"{path_of(asked_id(one.row))}.")
    return f"{path},{one.variant or NO_FILTER}"


def _competence(run: MeasuredRun, model: str) -> dict[str, Competence]:
    """By instrument: how the model did on the control items, where it has a score."""
    known = {name: section.competence.get(model) for name, section in run.sections.items()}
    return {name: one for name, one in known.items() if one and one.value is not None}


def _from_interval(found: Competence) -> float | str:
    """The standard error of a score on control items; "N/A" where it has no interval."""
    if found.low is None or found.high is None:
        return "N/A"
    return (found.high - found.low) / (2 * NormalDist().inv_cdf(0.975))


def _numbers(
    run: MeasuredRun, model: str
) -> list[tuple[str, str, float | None, float | None, str]]:
    """Instrument, metric with its filter, value, error, and why there is no value."""
    found = []
    asked = run.prompts.group_by(asked_ids().alias("asked")).agg(pl.col("wording").n_unique())
    wordings = dict(asked.rows())
    for row in run.scores.filter(
        pl.col("model") == model,
        pl.col("level") == LEVEL,
        pl.col("wording").is_null() | (pl.col("over") != "conditions"),
    ).iter_rows(named=True):
        several = wordings[asked_id(row)] > 1
        parts = ["mean", row["quantity"], row["group"], row["wording"] if several else None]
        metric = ".".join(part for part in parts if part)
        error = None if row["sd"] is None else row["sd"] / row["n"] ** 0.5
        if row["over"] == "items × conditions":
            # Cells that share an item or a condition are not independent: that would be too small.
            error = _crossed(run.scores, row)
        which = row["variant"] or NO_FILTER
        found.append((asked_id(row), f"{metric},{which}", row["value"], error, row["reason"]))
    for one in main_estimates(run, model):
        instrument = asked_id(one.row)
        why = one.row["reason"] or "the method gives none"
        found.append((instrument, _metric(one), one.value("value"), standard_error(one), why))
    return found


def _crossed(scores: pl.DataFrame, mean: Mapping[str, Any]) -> float | None:
    """The standard error of a mean over items × conditions, both at random."""
    same = ("model", "instrument", "mode", "quantity", "variant", "group", "wording")
    cells = scores.filter(
        pl.col("level") == "prompt",
        *(pl.col(name).eq_missing(pl.lit(mean[name], dtype=pl.String)) for name in same),
    )
    table = cube(cells, {name: in_order(cells, name) for name in ("condition", "item")})
    if min(table.shape) < 2 or np.isnan(table).any():
        return None
    return crossed_interval([table[:, :, None]], [range(len(table))]).se


def _about_tasks(
    run: MeasuredRun, model: str, results: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    entries = {task: run.manifest.instruments[task] for task in results}
    metrics = {
        task: sorted({name.partition(",")[0] for name in of if "_stderr," not in name} - {"alias"})
        for task, of in results.items()
    }
    return {
        "group_subtasks": {task: [] for task in results},
        "configs": {
            task: {
                "task": task,
                "dataset_path": "goffman",
                "dataset_name": task,
                "num_fewshot": 0,
                "repeats": entry.trials or 1,
                "metadata": {**entry.entry(), **_ratings(run, task, model)},
            }
            for task, entry in entries.items()
        },
        "versions": {task: entry.version for task, entry in entries.items()},
        "n-shot": dict.fromkeys(results, 0),
        "higher_is_better": {
            task: {name: name == "control" or None for name in names}
            for task, names in metrics.items()
        },
        "n-samples": {
            task: {"original": entry.prompts, "effective": entry.prompts}
            for task, entry in entries.items()
        },
    }


def _ratings(run: MeasuredRun, task: str, model: str) -> dict[str, Any]:
    """Who rated the words, and what the user's ratings change, where ratings matter at all."""
    section = run.sections[task]
    said = {"ratings": section.ratings} if section.ratings else {}
    rows = section.compared.filter(pl.col("model") == model).drop("instrument", "mode", "model")
    if unmeasurable(run, task, model):
        rows = rows.clear()
    return {**said, **({"ratings_compared": rows.to_dicts()} if rows.height else {})}


def _about_model(run: MeasuredRun, model: str) -> dict[str, Any]:
    entry = run.manifest.models[model]
    sessions = run.manifest.sessions
    last = sessions[-1] if sessions else None
    name = public_name(model)
    versions = dict(last.versions) if last else {}
    seed = last.seed if last else None
    return {
        "config": {
            "model": "goffman",
            "model_args": f"pretrained={name}",
            "model_revision": entry.revision,
            "model_sha": entry.weights_sha256,
            "model_dtype": entry.precision,
            "batch_size": entry.batches.max_size if entry.batches else None,
            "batch_sizes": [],
            "device": entry.device,
            "use_cache": None,
            "limit": None,
            "bootstrap_iters": 9_999,
            "gen_kwargs": None,
            "random_seed": seed,
            "numpy_seed": seed,
            "torch_seed": seed,
            "fewshot_seed": seed,
        },
        "git_hash": None,
        "date": datetime.fromisoformat(last.started).timestamp() if last else None,
        "pretty_env_info": last.platform if last else "",
        "transformers_version": versions.get("transformers"),
        "lm_eval_version": None,
        "goffman_version": versions.get("goffman", __version__),
        "upper_git_hash": None,
        "task_hashes": {
            task: of.prompts_sha256 for task, of in sorted(run.manifest.instruments.items())
        },
        "model_source": "goffman",
        "model_name": name,
        "model_name_sanitized": re.sub(r"[\"<>:/\|\\?\*\[\]]+", "__", name),
        "system_instruction": None,
        "system_instruction_sha": None,
        "fewshot_as_multiturn": None,
        "chat_template": None,
        "chat_template_sha": None,
        "total_evaluation_time_seconds": str(sum(session.wall_s for session in sessions)),
    }
