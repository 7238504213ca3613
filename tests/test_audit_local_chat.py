"""A whole audit of a local chat model, by its folder and behind a real server on loopback."""

import shlex
from dataclasses import replace

import polars as pl
import pytest
import torch
from typer.testing import CliRunner

from goffman.cli.main import app
from goffman.models.base import LoadOptions, Sampling
from goffman.models.chat_local import LocalChat
from goffman.models.resolve import load
from goffman.options import AskOptions, ChatOptions
from goffman.pipeline import audit
from goffman.runs.run import read_answers
from goffman.schemas import REPLY_KINDS, SCORES, complaints
from model_server import ModelServer
from tiny_chat import make_causal

SENTENCES = {"coreference.pairs": 4, "coreference.adjectives": ["tough,understanding"]}
PROMPTS = 4 * 2 * 2
CHOSEN = ("social-distance", "people-sentiment", "attribution", "coreference", "decisions")


def options(*, temperature, trials=2, max_tokens=6):
    sampling = Sampling(temperature=temperature, max_tokens=max_tokens)
    return AskOptions(
        modes=("ask",),
        controls=False,
        settings=SENTENCES,
        chats=ChatOptions(trials=trials, sampling=sampling),
    )


@pytest.fixture(scope="module")
def chat(tmp_path_factory):
    torch.set_num_threads(1)
    return make_causal("llama", tmp_path_factory.mktemp("chat"), end_bias=2.0)


def texts(folder):
    rows = read_answers(folder, "replies").select("prompt_id", "trial", "text").rows()
    return {(prompt, trial): text for prompt, trial, text in rows}


def test_a_folder_is_asked_measured_and_not_asked_again(chat, tmp_path):
    asking = options(temperature=1.0)
    done = audit([str(chat)], instruments=["coreference"], output=tmp_path, options=asking)
    assert [(asked.instrument, asked.rows) for asked in done.asked] == [
        ("coreference", PROMPTS * 2)
    ]
    first = texts(tmp_path)
    assert len(first) == PROMPTS * 2
    # Each trial is drawn anew.
    assert any(first[prompt, 1] != first[prompt, 2] for prompt, _ in first)
    scores = pl.read_parquet(tmp_path / "scores.parquet")
    assert complaints(scores, SCORES) == []
    assert set(scores["measure"]) == {"coreference-bias"}
    again = audit([str(chat)], instruments=["coreference"], output=tmp_path, options=asking)
    assert [asked.asked_now for asked in again.asked] == [0]
    other = tmp_path / "other"
    audit([str(chat)], instruments=["coreference"], output=other, options=asking)
    assert texts(other) == first


def test_the_batch_size_is_that_of_chats_too(chat, tmp_path, monkeypatch):
    sizes = []
    ask = LocalChat._ask

    def seen(self, questions):
        sizes.append(sum(len(question.seeds) for question in questions))
        return ask(self, questions)

    monkeypatch.setattr(LocalChat, "_ask", seen)
    asking = replace(options(temperature=1.0), batch_size=5)
    audit([str(chat)], instruments=["coreference"], output=tmp_path, options=asking)
    assert sizes[:-1] == [5] * (len(sizes) - 1)
    assert sum(sizes) == PROMPTS * 2


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_behind_a_server_the_same_model_says_the_same(chat, tmp_path, temperature):
    """The same seeds, other batches, JSON and HTTP between: the same replies, text by text."""
    asking = options(temperature=temperature)
    audit([str(chat)], instruments=["coreference"], output=tmp_path / "local", options=asking)
    model = load(str(chat), kind="chat", options=LoadOptions(device="cpu"))
    with ModelServer(model, "tiny") as server:
        spec = f"{server.url}#tiny"
        audit([spec], instruments=["coreference"], output=tmp_path / "served", options=asking)
    assert texts(tmp_path / "served") == texts(tmp_path / "local")
    assert len(server.asked) == PROMPTS * 2
    served = read_answers(tmp_path / "served", "replies")
    assert served["fingerprint"].unique().to_list() == ["tests"]


@pytest.mark.slow
def test_a_real_chat_model_behind_a_real_server_is_audited(smollm2, tmp_path):
    """SmolLM2 through HTTP: every reply is kept, read and measured; most are sentences in English."""
    model = load(str(smollm2), kind="chat", options=LoadOptions(device="cpu"))
    asking = options(temperature=1.0, trials=2, max_tokens=24)
    with ModelServer(model, "smollm2") as server:
        done = audit(
            [f"{server.url}#smollm2"], instruments=["coreference"], output=tmp_path, options=asking
        )
    assert len(server.asked) == PROMPTS * 2
    assert done.asked[0].rows == PROMPTS * 2
    replies = read_answers(tmp_path, "replies")
    assert set(replies["finish_reason"]) <= {"stop", "length"}
    assert replies["text"].str.contains(r"[a-z]{3}").mean() > 0.9
    scores = pl.read_parquet(tmp_path / "scores.parquet")
    of_kinds = pl.col("quantity").is_in(REPLY_KINDS)
    prompt_quantity = scores.filter(pl.col("level") == "prompt", of_kinds)
    assert prompt_quantity.group_by("prompt_id", "trial").agg(pl.col("value").sum())[
        "value"
    ].to_list() == [1.0] * (PROMPTS * 2)
    assert scores.filter(pl.col("quantity") == "bias", pl.col("level") == "trial").height == 4


@pytest.mark.slow
def test_the_command_audits_a_fetched_model_by_its_name(smollm2, tmp_path, monkeypatch):
    monkeypatch.setattr("goffman.api.arguments.models_folder", lambda *_: smollm2.parent)
    command = (
        "audit smollm2-135m --instrument coreference --set coreference.pairs=2 "
        "--set coreference.adjectives=none --trials 1 --max-tokens 8"
    )
    done = CliRunner().invoke(
        app, [*shlex.split(command), "--output", str(tmp_path)], catch_exceptions=False
    )
    assert done.exit_code == 0
    assert "  ✕ coreference " in done.stdout
    assert set(read_answers(tmp_path, "replies")["model"]) == {"smollm2-135m"}


FEW = AskOptions(
    limit=2,
    controls=False,
    sample="balanced",
    chats=ChatOptions(trials=1, sampling=Sampling(max_tokens=8)),
)


@pytest.mark.slow
def test_a_page_says_what_a_real_small_model_cannot_do(smollm2, tmp_path):
    judged = audit(
        [str(smollm2)],
        instruments=["people-sentiment"],
        output=tmp_path,
        options=replace(FEW, limit=12, controls=True, modes=("choice",)),
        report=True,
    )
    assert "Not measurable." in "\n".join(judged.summary)
    assert "Not measurable" in judged.report.read_text()


@pytest.mark.slow
def test_a_whole_audit_of_a_real_small_model_ends_with_a_page(smollm2, tmp_path):
    """Two prompts of every instrument in every form."""
    done = audit([str(smollm2)], output=tmp_path, options=FEW, report=True)
    assert all(asked.rows for asked in done.asked)
    assert {asked.instrument for asked in done.asked} >= {f"{name}/choice" for name in CHOSEN}
    page = done.report.read_text()
    for asked in done.asked:
        assert asked.instrument in page
