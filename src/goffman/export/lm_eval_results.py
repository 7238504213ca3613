"""Write results of a run in the format in which lm-evaluation-harness writes its own.

An instrument is a task, an estimate a metric, a variant its filter; mean.QUANTITY.GROUP is a mean.
"""

from __future__ import annotations

import re
from datetime import datetime
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goffman import __version__
from goffman.comparison.runs import instruments_of
from goffman.console import json_text
from goffman.contrasts.designs import cube, in_order
from goffman.export.paper import main_estimates, public_name
from goffman.gate.names import with_doubts
from goffman.modes import asked_id, asked_ids
from goffman.presentation.competence import marked
from goffman.report.load import unmeasurable
from goffman.stats.crossed import crossed_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goffman.report.load import MeasuredRun

LEVEL = "group"
"""The level of the scores that are exported with the estimates: groups of conditions."""

NO_FILTER = "none"


def lm_eval_text(run: MeasuredRun, model: str) -> str:
    """Return one model's results as JSON text."""
    results = lm_eval_results(run, model)
    return json_text(results, indent=2) + "\n"


def lm_eval_results(run: MeasuredRun, model: str) -> dict[str, Any]:
    """Return one model's results as a dictionary."""
    results: dict[str, dict[str, Any]] = {}
    missing: dict[str, dict[str, str]] = {}
    verdicts: dict[str, dict[str, str]] = {}
    for instrument in instruments_of(run, model):
        results[instrument] = {"alias": instrument}
        missing[instrument] = {}
    for instrument, section in run.sections.items():
        control = section.competence.get(model)
        if control is None or control.value is None:
            continue
        results[instrument]["control,none"] = control.value
        error: float | str = "N/A"
        if control.low is not None and control.high is not None:
            # The error of a normal distribution whose 95% interval is as wide.
            error = (control.high - control.low) / (2 * NormalDist().inv_cdf(0.975))
        results[instrument]["control_stderr,none"] = error
        if not control.passed:
            results[instrument]["alias"] = marked(instrument)
    for instrument, name, filter_name, value, stderr, reason in _numbers(run, model):
        # A number that is not exported is listed with the reason.
        failed = unmeasurable(run, instrument, model)
        if failed or value is None:
            missing[instrument][f"{name},{filter_name}"] = failed.mark if failed else reason
            continue
        results[instrument][f"{name},{filter_name}"] = value
        results[instrument][f"{name}_stderr,{filter_name}"] = "N/A" if stderr is None else stderr
    doubted = with_doubts(main_estimates(run, model), run)
    for estimate in doubted:
        if estimate.verdict:
            metric = f"{estimate.short_path},{estimate.variant or NO_FILTER}"
            verdicts.setdefault(asked_id(estimate.row), {})[metric] = estimate.verdict
    return {
        "results": results,
        "missing": {task: reasons for task, reasons in missing.items() if reasons},
        "verdicts": verdicts,
        "caveats": {
            asked_id(estimate.row): list(estimate.caveats)
            for estimate in doubted
            if estimate.caveats
        },
        **_about_tasks(run, model, results),
        **_about_model(run, model),
    }


def _numbers(
    run: MeasuredRun, model: str
) -> Iterator[tuple[str, str, str, float | None, float | None, str]]:
    """Yield instrument, metric, its filter, value, standard error, and why there is no value."""
    wordings = dict(run.prompts.group_by(asked_ids()).agg(pl.col("wording").n_unique()).rows())
    for row in run.scores.filter(
        pl.col("wording").is_null() | (pl.col("over") != "conditions"), model=model, level=LEVEL
    ).iter_rows(named=True):
        instrument = asked_id(row)
        several = wordings[instrument] > 1
        parts = ["mean", row["quantity"], row["group"], row["wording"] if several else None]
        metric = ".".join(part for part in parts if part)
        error = None if row["sd"] is None else row["sd"] / row["n"] ** 0.5
        if row["over"] == "items × conditions":
            # Cells that share an item or a condition depend on each other.
            error = _crossed(run.scores, row)
        yield instrument, metric, row["variant"] or NO_FILTER, row["value"], error, row["reason"]
    for estimate in main_estimates(run, model):
        difference, statistic = estimate.row["difference"], estimate.row["statistic"]
        # From the estimate's t, if there is one.
        error = abs(difference / statistic) if difference and statistic else None
        why = estimate.row["reason"] or "the method gives none"
        instrument, filter_name = asked_id(estimate.row), estimate.variant or NO_FILTER
        yield instrument, estimate.short_path, filter_name, estimate.value, error, why


def _crossed(scores: pl.DataFrame, mean: Mapping[str, Any]) -> float | None:
    """Return the standard error of a mean over items × conditions, both as random effects."""
    columns = ("model", "instrument", "mode", "quantity", "variant", "group", "wording")
    cells = scores.filter(
        *(pl.col(name).eq_missing(pl.lit(mean[name], dtype=pl.String)) for name in columns),
        level="prompt",
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
        task: sorted(
            {name.partition(",")[0] for name in values if "_stderr," not in name} - {"alias"}
        )
        for task, values in results.items()
    }
    metadata = {task: entry.entry() for task, entry in entries.items()}
    for task, facts in metadata.items():
        # Who rated the words, and what the user's ratings change, if ratings matter for the task.
        section = run.sections[task]
        if section.ratings:
            facts["ratings"] = section.ratings
        rows = section.compared.filter(model=model).drop("instrument", "mode", "model")
        if rows.height and not unmeasurable(run, task, model):
            facts["ratings_compared"] = rows.to_dicts()
    return {
        "group_subtasks": {task: [] for task in results},
        "configs": {
            task: {
                "task": task,
                "dataset_path": "goffman",
                "dataset_name": task,
                "num_fewshot": 0,
                "repeats": entry.trials or 1,
                "metadata": metadata[task],
            }
            for task, entry in entries.items()
        },
        "versions": {task: entry.version for task, entry in entries.items()},
        "n-shot": dict.fromkeys(results, 0),
        # A gap is neither better nor worse for being higher.
        "higher_is_better": {
            task: {name: name == "control" or None for name in names}
            for task, names in metrics.items()
        },
        "n-samples": {
            task: {"original": entry.prompts, "effective": entry.prompts}
            for task, entry in entries.items()
        },
    }


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
            task: asked.prompts_sha256 for task, asked in sorted(run.manifest.instruments.items())
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
