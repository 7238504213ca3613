"""Exports: read back by those who read them elsewhere, with the numbers of the run."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import polars as pl
import pytest
import scipy.stats
import yaml
from huggingface_hub import ModelCard
from markdown_it import MarkdownIt
from small_runs import HOSTILE, coreference_run, measured
from small_runs import the_model as only_model
from typer.testing import CliRunner

from goffman.cli.main import app
from goffman.console import printable
from goffman.errors import InputError
from goffman.export.lm_eval_results import lm_eval_results, lm_eval_text
from goffman.export.model_card import model_card_text
from goffman.export.paper import public_name, the_model
from goffman.formatting import ends
from goffman.measures.registry import measures
from goffman.options import AskOptions
from goffman.pipeline import audit
from goffman.presentation.table_formats import markdown
from goffman.report.load import read_run
from goffman.report.page import GENERAL
from goffman.report.summary import main_results
from harness_env import LM_EVAL, harness_python, run_harness

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return measured(tmp_path_factory, "before", ("small", "other", "tone"))


def of_model(run, model):
    """The main results of a model."""
    return [one for one in main_results(run.sections) if one.model == model]


def test_the_metadata_block_has_one_metric_an_instrument(run):
    card = ModelCard(model_card_text(run, "small"))
    assert card.data.model_name == "small"
    wanted = of_model(run, "small")
    assert len(card.data.eval_results) == len(wanted) == 3
    for result, one in zip(card.data.eval_results, wanted, strict=True):
        assert result.metric_value == pytest.approx(one.finding.difference, rel=1e-5)
        assert result.task_type == "fill-mask"
        assert result.dataset_type == f"goffman/{one.instrument}"
        entry = run.manifest.instruments[one.instrument]
        assert result.dataset_revision == entry.prompts_sha256
        said = [one.verdict, ends(one.finding.low, one.finding.high)]
        said += [caveat.id for caveat in one.finding.caveats]
        assert all(part in result.metric_name for part in said)


def test_the_metadata_block_is_yaml(run):
    block = model_card_text(run, "tone").split("---\n")[1]
    (model,) = yaml.safe_load(block)["model-index"]
    (result,) = model["results"]
    assert result["task"] == {"type": "text-classification"}
    row = run.estimates.filter(kind="groups", model="tone")
    assert result["metrics"][0]["value"] == row["difference"][0]


def test_the_limits_are_those_of_the_report(run):
    """One text says what may be claimed, wherever it is read."""
    text = model_card_text(run, "small")
    for limit in GENERAL:
        assert f"- {markdown(limit)}\n" in text
    for measure in ("negative-attitude", "gender-of-subject", "gender-of-phrase"):
        claims = measures()[measure]().presentation.claims
        assert f"you may say {markdown(claims.supports)}.\n" in text
        assert f"- You may not make claims {markdown(claims.does_not_support)}.\n" in text


def test_a_card_is_a_screen_with_a_row_for_each_instrument(run):
    """A screen: 45 lines of 110 letters."""
    for model in ("small", "tone"):
        text = model_card_text(run, model).split("---\n", 2)[2]
        seen = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
        lines = [line for line in seen.splitlines() if line]
        assert sum(-(-len(line) // 110) for line in lines) <= 45
        rows = [line for line in lines if line.startswith("| ") and "---" not in line][1:]
        results = of_model(run, model)
        assert len(rows) == len(results)
        for row, one in zip(rows, results, strict=True):
            assert row.startswith(f"| {one.glyph} {one.verdict} | {one.instrument} |")
            assert one.finding.value in row
            for caveat in one.finding.caveats:
                assert caveat.id in row
                assert f"- `{caveat.id}`: {markdown(caveat.short)}.\n" in seen
        assert "no single score" in text


def test_an_estimate_without_a_value_is_not_in_the_metadata(tmp_path):
    run = coreference_run(tmp_path, lambda pair, *_: "correct")
    empty = run.estimates.with_columns(difference=pl.lit(None, dtype=pl.Float64))
    block = model_card_text(
        type(run)(
            folder=run.folder,
            manifest=run.manifest,
            prompts=run.prompts,
            scores=run.scores,
            estimates=empty,
        ),
        only_model(run),
    ).split("---\n")[1]
    (entry,) = yaml.safe_load(block)["model-index"]
    assert entry == {"name": public_name(only_model(run)), "results": []}


def test_a_hostile_name_is_text_on_a_card_and_in_json(tmp_path_factory):
    hostile = measured(tmp_path_factory, "hostile", (HOSTILE,), instruments=("social-distance",))
    text = model_card_text(hostile, HOSTILE)
    assert "\u202e" not in text
    card = ModelCard(text)
    assert card.data.model_name == printable(HOSTILE)
    page = MarkdownIt("commonmark").enable("table").render(card.text)
    assert "<b>" not in page
    assert "<a " not in page
    assert json.loads(lm_eval_text(hostile, HOSTILE))["model_name"] == HOSTILE


def test_lm_eval_has_the_keys_that_its_own_results_have(run):
    found = lm_eval_results(run, "small")
    tasks = ["attribution", "care-seeking", "social-distance"]
    for key in ("results", "group_subtasks", "configs", "versions", "n-shot", "higher_is_better"):
        assert sorted(found[key]) == tasks
    assert {"config", "git_hash", "date", "pretty_env_info", "transformers_version"} <= {*found}
    assert {"model_source", "model_name", "model_name_sanitized", "task_hashes"} <= {*found}
    prompts = run.manifest.instruments["care-seeking"].prompts
    assert found["n-samples"]["care-seeking"] == {"original": prompts, "effective": prompts}
    for of in found["results"].values():
        for name, value in of.items():
            if name == "alias":
                continue
            metric, _, which = name.partition(",")
            assert which in {"none", "with-names", "without-names"}
            if metric.endswith("_stderr"):
                assert value == "N/A" or value >= 0
            else:
                assert isinstance(value, float)
                assert f"{metric}_stderr,{which}" in of


def test_lm_eval_values_and_errors_are_those_of_the_run(run):
    results = lm_eval_results(run, "small")["results"]
    conditions = run.scores.filter(
        instrument="social-distance", level="condition", quantity="negative", model="small"
    )
    first, second = (
        conditions.filter(group=group)["value"].to_numpy()
        for group in ("stigmatized", "non-stigmatized")
    )
    of = results["social-distance"]
    sentences = run.prompts.select("instrument", "item", "wording", "family", "source").unique()
    asked = run.scores.filter(
        instrument="social-distance", level="prompt", quantity="negative", model="small"
    ).join(sentences, on=["instrument", "item", "wording"], validate="m:1")
    # Of the gap every family of wordings counts once.
    families = asked.group_by("group", "condition", "item", "family").agg(pl.col("value").mean())
    means = dict(families.group_by("group").agg(pl.col("value").mean()).rows())
    gap = means["stigmatized"] - means["non-stigmatized"]
    assert math.isclose(of["gap,none"], gap, abs_tol=1e-12)
    # As asked: the study's sentences alone.
    own = pl.col("source").eq_missing(pl.lit("own"))
    assert 0 < asked.filter(own).height < asked.height
    studied = asked.filter(~own).group_by("group", "condition").agg(pl.col("value").mean())
    one, other = (
        studied.filter(group=group)["value"].to_numpy()
        for group in ("stigmatized", "non-stigmatized")
    )
    assert math.isclose(of["gap-as-asked,none"], one.mean() - other.mean(), abs_tol=1e-12)
    error = np.sqrt(one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other))
    assert math.isclose(of["gap-as-asked_stderr,none"], error, rel_tol=1e-9)
    (row,) = run.estimates.filter(
        kind="groups", quantity="negative", model="small", instrument="social-distance"
    ).to_dicts()
    assert math.isclose(of["gap_stderr,none"], row["error"], rel_tol=1e-9)
    assert math.isclose(of["mean.negative.stigmatized,none"], first.mean(), abs_tol=1e-12)
    assert math.isclose(of["mean.negative.non-stigmatized,none"], second.mean(), abs_tol=1e-12)
    wanted = first.std(ddof=1) / np.sqrt(len(first))
    assert math.isclose(of["mean.negative.stigmatized_stderr,none"], wanted, rel_tol=1e-9)
    # Cells of one item or condition are alike: sd/√n would be too small. By hand, for items ×
    # conditions at random: (MS_items + MS_conditions − MS_cells) / (R·C).
    cells = run.scores.filter(
        instrument="care-seeking",
        level="prompt",
        quantity="female",
        variant="with-names",
        group="other",
        model="small",
    ).pivot("condition", index="item", values="value", aggregate_function="mean")
    table = cells.drop("item").to_numpy()
    rows, columns = table.shape
    rest = table - table.mean(0) - table.mean(1, keepdims=True) + table.mean()
    cell = (rest**2).sum() / ((rows - 1) * (columns - 1))
    whole = columns * table.mean(1).var(ddof=1) + rows * table.mean(0).var(ddof=1) - cell
    error = np.sqrt(max(whole, cell) / table.size)
    given = results["care-seeking"]["mean.female.other_stderr,with-names"]
    assert math.isclose(given, error, rel_tol=1e-9)


def test_lm_eval_says_how_often_each_prompt_was_asked(tmp_path):
    run = coreference_run(tmp_path, lambda pair, *_: "correct", pairs=2, trials=3)
    assert lm_eval_results(run, only_model(run))["configs"]["coreference"]["repeats"] == 3


def test_what_has_no_value_is_named_as_missing(run):
    found = lm_eval_results(run, "tone")
    assert "mean.neutral.stigmatized,none" not in found["results"]["people-sentiment"]
    why = found["missing"]["people-sentiment"]["mean.neutral.stigmatized,none"]
    assert why.endswith("the classifier has no class 'neutral'")


@pytest.mark.parametrize(
    ("model", "public"),
    [
        ("roberta-base", "roberta-base"),
        ("vinai/bertweet-base", "vinai/bertweet-base"),
        ("/home/me/models/mine", "mine"),
        ("./mine", "mine"),
        ("~/models/mine", "mine"),
        ("models/of/mine", "mine"),
        ("C:\\models\\mine", "mine"),
        ("bundled:mini", "bundled:mini"),
    ],
)
def test_a_path_on_this_machine_is_not_published(model, public):
    assert public_name(model) == public


def test_an_export_is_of_one_model(run):
    with pytest.raises(InputError) as refusal:
        the_model(run, None)
    assert str(refusal.value) == (
        f"{run.folder} has 3 models. Choose one with --model: other, small, tone."
    )
    with pytest.raises(InputError) as refusal:
        the_model(run, "smal")
    assert str(refusal.value) == (
        f"--model is 'smal', but {run.folder} has no scores for it. Did you mean 'small'? "
        "Allowed: other, small, tone."
    )


def test_the_command_prints_or_writes(run, tmp_path):
    arguments = ["export", str(run.folder), "--model", "small", "--to"]
    card = CliRunner().invoke(app, [*arguments, "model-card"])
    assert card.exit_code == 0
    assert card.stdout == model_card_text(run, "small")
    file = tmp_path / "results.json"
    done = CliRunner().invoke(app, [*arguments, "lm-eval", "--output", str(file)])
    assert done.exit_code == 0
    assert json.loads(file.read_text()) == lm_eval_results(run, "small")


def test_the_score_on_the_control_items_has_its_error(tmp_path):
    """A normal distribution with this error has the interval's width."""
    folder = tmp_path / "run"
    few = AskOptions(limit=10)
    audit(["bundled:mini"], instruments=["care-seeking"], output=folder, options=few)
    run = read_run(folder)
    found = lm_eval_results(run, "bundled:mini")["results"]["care-seeking"]
    known = run.sections["care-seeking"].competence["bundled:mini"]
    assert found["control,none"] == known.value
    width = np.diff(scipy.stats.norm(0, found["control_stderr,none"]).interval(0.95))[0]
    assert math.isclose(width, known.high - known.low, abs_tol=1e-9)


@pytest.mark.slow
def test_lm_eval_prints_our_results_with_its_own_table(run, of_all_workers, tmp_path):
    """lm-evaluation-harness itself, in an environment of its own."""
    python = harness_python("lm-eval", LM_EVAL, within=of_all_workers)
    (tmp_path / "results.json").write_text(lm_eval_text(run, "small"))
    script = "import json, lm_eval.utils as u; print(u.make_table(json.load(open('results.json'))))"
    table = run_harness(python, "-c", script, folder=tmp_path)
    assert "social-distance" in table
    gap = lm_eval_results(run, "small")["results"]["social-distance"]
    # It rounds a column of values to three digits behind the point.
    shown = f"{gap['gap,none']:.3f}", f"{gap['gap_stderr,none']:.4f}"
    rows = [line for line in table.splitlines() if "|gap " in line]
    assert any(all(one in row for one in shown) for row in rows), table


def test_a_model_behind_a_server_has_no_precision_on_its_card(tmp_path):
    run = coreference_run(tmp_path, lambda pair, *_: "correct", pairs=2, trials=1)
    text = model_card_text(run, only_model(run))
    assert "was asked behind a server, with goffman" in text
    assert "in None" not in text
