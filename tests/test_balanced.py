"""Models on this machine are asked every presentation, or a balanced sample on request."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from transformers import AutoModelForCausalLM
from typer.testing import CliRunner

from chat_server import ChatServer
from few_conditions import with_few_conditions
from goffman.cli.main import app
from goffman.errors import RunError
from goffman.forecast import _roughly, weights_a_second, weights_used
from goffman.models.base import LoadOptions
from goffman.options import AskOptions, Listener
from goffman.pipeline import audit
from goffman.runs.run import read_answers
from tiny_chat import make_causal


@pytest.fixture(scope="module")
def few(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("few") / "social-distance"
    return str(with_few_conditions("social-distance", folder, each=2))


@pytest.fixture(scope="module")
def causal(tmp_path_factory) -> str:
    return str(make_causal("llama", tmp_path_factory.mktemp("model") / "m", chat=False))


def ask(model, instrument, folder, **options):
    notes = []
    options = AskOptions(**{"modes": ("choice",), **options})
    done = audit(
        [model],
        instruments=[instrument],
        output=folder,
        options=options,
        listener=Listener(note=notes.append),
    )
    return done, notes


def files(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("answers/**/*.parquet")}


def test_every_presentation_is_asked_unless_a_sample_is_wanted(causal, few, tmp_path):
    told, said = {}, {}
    for name, more in {
        "all": [],
        "sample": ["--sample", "balanced"],
        "thorough": ["--sample", "all"],
    }.items():
        command = ["audit", causal, "--instrument", few, "--no-controls", "--dry-run", *more]
        command += ["--device", "cpu", "--output", str(tmp_path)]
        done = CliRunner().invoke(app, command, catch_exceptions=False)
        lines = (done.stdout + done.stderr).splitlines()
        text = " ".join(" ".join(lines).split())
        told[name] = int(text.split("/choice, ")[1].split(": ")[1].split()[0].replace(",", ""))
        said[name] = text
    # Four stems in both orders; of these one stem in both orders.
    assert told["all"] == told["thorough"] == 4 * told["sample"]
    # Completions have six wordings, and their sentence is its own order; a sample has one.
    every, sample = told["all"] * 7 // 4, told["sample"] * 3 // 2
    assert (
        f"is asked {every:,} prompts. A balanced sample of {sample:,}: --sample balanced."
    ) in said["all"]
    assert (f"is asked {sample:,} of {every:,} prompts. All: --sample all.") in said["sample"]
    assert "balanced" not in said["thorough"]


@pytest.mark.slow
def test_the_page_says_what_was_a_sample(causal, few, tmp_path):
    asking = AskOptions(modes=("choice",), sample="balanced")
    done = audit([causal], instruments=[few], output=tmp_path, options=asking, report=True)
    asked = pl.read_parquet(tmp_path / "prompts.parquet").filter(pl.col("group") != "control")
    sample = f"<b>{asked.height:,}</b> (a balanced sample of {4 * asked.height:,})"
    assert sample in done.report.read_text()
    ask(causal, few, tmp_path)
    page = audit(
        [causal],
        instruments=[few],
        output=tmp_path,
        options=AskOptions(modes=("choice",)),
        report=True,
    ).report.read_text()
    assert f"<b>{4 * asked.height:,}</b>" in page
    assert "a balanced sample" not in page


@pytest.mark.parametrize("form", [pytest.param("choice", marks=pytest.mark.slow), "completion"])
def test_a_run_with_a_sample_goes_on_with_all_and_keeps_its_answers(causal, few, tmp_path, form):
    table = {"choice": "choices", "completion": "fills"}[form]
    grown, whole = tmp_path / "grown", tmp_path / "whole"
    first, _ = ask(causal, few, grown, sample="balanced", modes=(form,))
    before, answers = files(grown), read_answers(grown, table)
    second, _ = ask(causal, few, grown, modes=(form,))
    at_once, _ = ask(causal, few, whole, modes=(form,))
    assert first.asked[0].asked_now > 0
    assert second.asked[0].asked_now == at_once.asked[0].asked_now - first.asked[0].asked_now
    assert before.items() <= files(grown).items(), "what was answered is asked again"
    assert answers.join(
        read_answers(grown, table), on=answers.columns, how="anti", nulls_equal=True
    ).is_empty()
    assert read_answers(grown, table).equals(read_answers(whole, table))
    for name in ("prompts.parquet", "scores.parquet", "estimates.parquet"):
        assert pl.read_parquet(grown / name).equals(pl.read_parquet(whole / name)), name
    again, _ = ask(causal, few, grown, modes=(form,))
    assert again.asked[0].asked_now == 0
    with pytest.raises(RunError, match=r"already has answers to a different set of .* prompts"):
        ask(causal, few, grown, sample="balanced", modes=(form,))


@pytest.mark.slow
def test_paraphrases_of_a_sample_are_kept_too(causal, few, tmp_path):
    apart = tmp_path / "paraphrases"
    ask(causal, few, tmp_path, sample="balanced", paraphrases=True)
    before = files(apart)
    done, _ = ask(causal, few, tmp_path, paraphrases=True)
    assert before
    assert before.items() <= files(apart).items()
    again, _ = ask(causal, few, tmp_path, paraphrases=True)
    assert done.asked[1].asked_now > 0
    assert [one.asked_now for one in again.asked] == [0, 0]


def test_the_other_models_of_a_run_with_a_sample_must_be_asked_all_too(causal, few, tmp_path):
    ask(causal, few, tmp_path, sample="balanced")
    other = str(make_causal("llama", tmp_path / "other", chat=False, seed=5))
    with pytest.raises(RunError) as refusal:
        ask(other, few, tmp_path)
    said = str(refusal.value)
    assert f"already has a balanced sample of social-distance/choice by {causal}. All" in said
    assert "Name these models too, so that all get" in said


def test_replies_of_a_sample_are_kept_when_all_are_asked(few, tmp_path):
    with ChatServer() as server:
        model = f"{server.url}#mini"
        ask(model, few, tmp_path, modes=("reply",), controls=False)
        before, sent = read_answers(tmp_path, "replies"), len(server.asked)
        done, _ = ask(model, few, tmp_path, modes=("reply",), controls=False, sample="all")
        after = read_answers(tmp_path, "replies")
        assert len(server.asked) - sent == done.asked[0].asked_now == after.height - sent
    assert before.join(after, on=["prompt_id", "trial", "text"], how="anti").is_empty()
    assert after.height > before.height


@pytest.mark.parametrize("architecture", ["llama", "gpt2"])
def test_the_weights_of_a_model_are_counted_by_its_configuration(tmp_path, architecture):
    folder = make_causal(architecture, tmp_path, chat=False)
    model = AutoModelForCausalLM.from_pretrained(folder)
    matrices = {name: one for name, one in model.named_parameters() if one.dim() == 2}
    inner = sum(one.numel() for name, one in matrices.items() if "layers" in name or ".h." in name)
    assert weights_used(str(folder), LoadOptions()) == inner
    config = json.loads((folder / "config.json").read_text())
    for size in ("hidden_size", "n_embd"):
        config.pop(size, None)
    (folder / "config.json").write_text(json.dumps(config))
    assert weights_used(str(folder), LoadOptions()) is None


def test_a_device_is_timed_and_a_time_is_said_where_it_is_long():
    assert 1e8 < weights_a_second("cpu") < 1e14
    assert _roughly(100) == ""
    assert _roughly(200) == " (roughly 3 min)"
    assert _roughly(32 * 60) == " (roughly 32 min)"
    assert _roughly(3.4 * 3600) == " (roughly 3.4 h)"
