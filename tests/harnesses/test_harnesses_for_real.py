"""lm-eval and inspect_ai themselves run the exported questions, and goffman reads their logs."""

import json
from pathlib import Path

import polars as pl
import pytest
import torch

from chat_server import Answer, ChatServer, completion
from goffman.harness import export_tasks
from goffman.harness.export_tasks import export_task
from goffman.harness.import_run import read_logs
from goffman.models.base import Calling, LoadOptions
from goffman.models.resolve import load
from goffman.options import AskOptions, ChatOptions
from goffman.pipeline import audit
from goffman.runs.manifest import read_manifest
from goffman.runs.run import read_answers
from harness_env import INSPECT, LM_EVAL, harness_python, run_harness
from model_server import ModelServer
from tiny_chooser import make_chooser

pytestmark = pytest.mark.slow

LIMIT = 4
WRITTEN = "care-seeking/write"
SHORT = 8
"""Tokens of a reply: what counts is that it comes through."""


@pytest.fixture(scope="module")
def lm_eval(of_all_workers):
    return harness_python("lm-eval", LM_EVAL, within=of_all_workers)


@pytest.fixture(scope="module")
def inspect_ai(of_all_workers):
    return harness_python("inspect", INSPECT, within=of_all_workers)


def own_audit_of(replies, output):
    """goffman's own audit of a server that says just these replies."""
    prompts = {one.id: one.text for one in written().prompts}
    texts = {
        (prompts[prompt], trial): text
        for prompt, trial, text in replies.select("prompt_id", "trial", "text").rows()
    }

    # One at a time, trial by trial: the n-th time that a question comes is its n-th trial.
    chats = ChatOptions(trials=replies["trial"].max(), calling=Calling(concurrency=1))
    with ChatServer(
        lambda request: Answer(body=completion(texts[request.text, request.times]))
    ) as server:
        model = f"{server.url}#same"
        asking = AskOptions(limit=LIMIT, modes=("write",), chats=chats)
        audit([model], instruments=["care-seeking"], output=output, options=asking)


def written():
    (found,) = export_task(
        ["care-seeking"], kinds=export_tasks.INSPECT_KINDS, modes=("write",), limit=LIMIT
    )
    return found


def same_scores(one, other):
    tables = [pl.read_parquet(run / "scores.parquet").drop("model") for run in (one, other)]
    assert tables[0].height > 20
    assert tables[0].equals(tables[1], null_equal=True)


def test_lm_eval_gives_the_probabilities_of_an_own_audit(lm_eval, tmp_path):
    """A causal model asked by both: the same probabilities but for rounding, and its own table."""
    torch.set_num_threads(1)
    model = tmp_path / "model"
    model.mkdir()
    make_chooser(model)
    several = export_task(["social-distance"], kinds=("choose",), limit=LIMIT)
    export_tasks.write_lm_eval_tasks(several, tmp_path / "tasks")
    command = ["-m", "lm_eval", "run", "--model", "hf", "--model_args", f"pretrained={model}"]
    command += ["--include_path", "tasks", "--tasks", export_tasks.CHOICE, "--device", "cpu"]
    command += ["--log_samples", "--output_path", "logs", "--batch_size", "16"]
    printed = run_harness(lm_eval, *command, folder=tmp_path)
    assert "goffman-social-distance-choice" in printed
    done = read_logs([tmp_path / "logs"], model=str(model), output=tmp_path / "run")
    asking = AskOptions(limit=LIMIT, sample="all")
    own = tmp_path / "own"
    audit([str(model)], instruments=["social-distance/choice"], output=own, options=asking)
    mine, theirs = (
        read_answers(run, "choices").sort("prompt_id", "option") for run in (own, done.folder)
    )
    assert mine.select("prompt_id", "option", "code").equals(
        theirs.select("prompt_id", "option", "code"), null_equal=True
    )
    assert (mine["probability"] - theirs["probability"]).abs().max() < 1e-5
    assert mine["probability"].max() > 0.1
    mine, theirs = (pl.read_parquet(run / "scores.parquet") for run in (own, done.folder))
    assert mine.drop("value", "sd", "low", "high").equals(
        theirs.drop("value", "sd", "low", "high"), null_equal=True
    )
    assert (mine["value"] - theirs["value"]).abs().max() < 1e-4
    # What lm-eval itself says of the codes is what goffman says of the same prompts.
    (results,) = (tmp_path / "logs").rglob("results_*.json")
    code = json.loads(results.read_text())["results"]["goffman-social-distance-choice"]["code,none"]
    prompt_quantity = theirs.filter(quantity="code", level="prompt")["value"]
    assert code == pytest.approx(prompt_quantity.mean(), abs=1e-5)


def test_lm_eval_asks_a_real_chat_model(lm_eval, smollm2, tmp_path):
    several = [written()]
    export_tasks.write_lm_eval_tasks(several, tmp_path / "tasks")
    command = ["-m", "lm_eval", "run", "--model", "hf", "--model_args", f"pretrained={smollm2}"]
    command += ["--include_path", "tasks", "--tasks", export_tasks.REPLY, "--device", "cpu"]
    command += ["--gen_kwargs", f"max_gen_toks={SHORT}", "--apply_chat_template"]
    command += ["--log_samples", "--output_path", "logs", "--batch_size", "8"]
    run_harness(lm_eval, *command, folder=tmp_path)
    done = read_logs([tmp_path / "logs"], model="smollm2", output=tmp_path / "run")
    replies = read_answers(done.folder, "replies")
    assert {*replies["prompt_id"]} == {prompt.id for prompt in several[0].prompts}
    assert replies["text"].str.contains("[a-z]{3}").mean() > 0.8
    assert read_manifest(done.folder).models["smollm2"].sampling.max_tokens == SHORT
    own_audit_of(replies, tmp_path / "own")
    same_scores(tmp_path / "own", done.folder)


def test_inspect_asks_a_real_chat_model(inspect_ai, smollm2, tmp_path):
    several = [written()]
    export_tasks.write_inspect_tasks(several, tmp_path / "questions")
    file = Path("questions") / export_tasks.PACKAGE / "tasks.py"
    model = load(str(smollm2), kind="chat", options=LoadOptions(device="cpu"))
    command = ["-m", "inspect_ai", "eval", f"{file}@care_seeking_write", "--display", "plain"]
    command += ["--model", "openai-api/local/smollm2", "--max-tokens", str(SHORT)]
    with ModelServer(model, "smollm2") as server:
        variables = {
            "LOCAL_BASE_URL": server.url,
            "LOCAL_API_KEY": "none",
            "INSPECT_LOG_DIR": "logs",
        }
        printed = run_harness(inspect_ai, *command, folder=tmp_path, **variables)
    assert "answered" in printed
    prompts = {prompt.text for prompt in several[0].prompts}
    assert {request.body["messages"][-1]["content"] for request in server.asked} == prompts
    (log,) = (tmp_path / "logs").glob("*.eval")
    done = read_logs([log], model="smollm2", output=tmp_path / "run")
    replies = read_answers(done.folder, "replies")
    assert {*replies["prompt_id"]} == {prompt.id for prompt in several[0].prompts}
    assert replies["text"].str.contains("[a-z]{3}").mean() > 0.8
    own_audit_of(replies, tmp_path / "own")
    same_scores(tmp_path / "own", done.folder)
