"""Causal and chat models are asked every form of an instrument that they can answer."""

from __future__ import annotations

import hashlib
import json
import math

import numpy as np
import polars as pl
import pytest
import torch

from chat_server import Answer, ChatServer, completion
from few_conditions import with_few_conditions
from goffman.errors import InputError, ModelError
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import render
from goffman.instruments.types import BASELINE, options_from
from goffman.models.base import LoadOptions, PromptParts, Sampling
from goffman.models.resolve import load
from goffman.modes import mode_of
from goffman.options import AskOptions, ChatOptions, Listener
from goffman.pipeline import audit
from goffman.runs.run import read_answers, read_controls, read_prompts
from tiny_chat import make_causal

pytestmark = pytest.mark.slow
"""Whole runs: minutes of computing."""

DISTANCE = "social-distance"


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return str(with_few_conditions(DISTANCE, tmp_path_factory.mktemp("few") / DISTANCE, each=2))


@pytest.fixture(scope="module")
def causal(tmp_path_factory):
    torch.set_num_threads(1)
    return str(make_causal("llama", tmp_path_factory.mktemp("causal"), chat=False))


@pytest.fixture(scope="module")
def chat(tmp_path_factory):
    torch.set_num_threads(1)
    return str(make_causal("llama", tmp_path_factory.mktemp("chat"), end_bias=2.0))


@pytest.fixture(scope="module")
def of_causal(causal, few, tmp_path_factory):
    output = tmp_path_factory.mktemp("run")
    return audit([causal], instruments=[few], output=output, options=AskOptions(sample="balanced"))


def forms(done):
    return [asked.instrument.removeprefix(f"{DISTANCE}/") for asked in done.asked]


def asked_of(folder, form):
    """All prompts of a form, those of controls too, by their id."""
    frame = pl.concat([read_prompts(folder), read_controls(folder)])
    rows = frame.filter(pl.col("mode") == form)
    return {row["prompt_id"]: row for row in rows.iter_rows(named=True)}


def test_a_causal_model_completes_and_chooses(of_causal):
    assert forms(of_causal) == ["completion", "choice"]


def test_a_chat_model_completes_chooses_and_says(chat, few, tmp_path):
    quick = AskOptions(sample="balanced")
    done = audit([chat], instruments=[few], output=tmp_path, options=quick)
    assert forms(done) == ["completion", "choice", "reply"]
    again = audit([chat], instruments=[few], output=tmp_path, options=quick)
    assert [asked.asked_now for asked in again.asked] == [0, 0, 0]
    scores = pl.read_parquet(tmp_path / "scores.parquet")
    assert {"negative-attitude", "mean-code"} <= set(scores["measure"])


def test_choices_are_the_options_probabilities_of_each_prompt(causal, of_causal):
    prompts = asked_of(of_causal.folder, "choice")
    choices = read_answers(of_causal.folder, "choices")
    assert {*choices["prompt_id"]} == {*prompts}
    model = load(causal, kind="causal", options=LoadOptions())
    texts = model.next_word.tokens
    for prompt_id in sorted(prompts)[:6]:
        offered = options_from(prompts[prompt_id]["options"])
        rows = choices.filter(pl.col("prompt_id") == prompt_id)
        assert rows["option"].to_list() == [one.label for one in offered]
        assert rows["code"].to_list() == [one.code for one in offered]
        (ids,) = model.next_word.encode([PromptParts(text=prompts[prompt_id]["text"])])
        with torch.inference_mode():
            logits = model._model(input_ids=torch.tensor([ids])).logits[0, -1].double()
        after = torch.softmax(logits, dim=0).tolist()
        naive = [
            sum(p for p, text in zip(after, texts, strict=True) if text.strip() == one.label)
            for one in offered
        ]
        assert rows["probability"].to_list() == pytest.approx(naive, abs=1e-5)
        assert rows["elsewhere"].to_list() == pytest.approx([1 - sum(naive)] * len(naive), abs=1e-5)


def test_completions_are_fills_of_the_same_sentences(of_causal):
    prompts = asked_of(of_causal.folder, "completion")
    fills = read_answers(of_causal.folder, "fills")
    assert {*fills["prompt_id"]} == {*prompts}
    assert fills["rank"].null_count() == 0
    by_rank = fills.sort("prompt_id", "rank").group_by("prompt_id").agg("probability")
    assert all(p == sorted(p, reverse=True) for p in by_rank["probability"].to_list())
    for row in prompts.values():
        assert "____" in row["text"]
        assert row["text"].split("____")[0].strip().endswith(row["prefill"])


def test_a_form_is_asked_by_its_name(causal, few, tmp_path):
    done = audit(
        [causal], instruments=[few], output=tmp_path, options=AskOptions(modes=("choice",))
    )
    assert forms(done) == ["choice"]


def test_an_unknown_form_is_refused_with_the_nearest(causal, few, tmp_path):
    with pytest.raises(InputError, match=r"--mode is 'choise'.*Did you mean 'choice'"):
        audit([causal], instruments=[few], output=tmp_path, options=AskOptions(modes=("choise",)))


def test_a_form_that_a_model_cannot_answer_is_told_as_that(tmp_path):
    with pytest.raises(ModelError, match=r"cannot be asked in the mode choice\. Leave out --mode"):
        audit(["bundled:mini"], output=tmp_path, options=AskOptions(modes=("choice",)))


def test_a_system_prompt_makes_other_prompts(chat, few, tmp_path):
    asked = {}
    for system in (None, "You are a landlord."):
        folder = tmp_path / str(system)
        options = AskOptions(modes=("choice",), controls=False, limit=5, system=system)
        audit([chat], instruments=[few], output=folder, options=options)
        asked[system] = read_prompts(folder)
    assert set(asked[None]["prompt_id"]).isdisjoint(asked["You are a landlord."]["prompt_id"])
    assert set(asked["You are a landlord."]["system"]) == {"You are a landlord."}


def test_without_a_way_out_every_option_is_an_answer(chat, few, tmp_path):
    """Other forms have no options: they are asked as ever."""
    asked = {}
    for no_answer in (None, False):
        folder = tmp_path / str(no_answer)
        options = AskOptions(limit=5, no_answer=no_answer)
        audit([chat], instruments=[few], output=folder, options=options)
        codes = read_answers(folder, "choices")["code"]
        assert (codes.null_count() > 0) is (no_answer is None)
        asked[no_answer] = read_prompts(folder)
    said = asked[False].filter(pl.col("options").is_not_null())
    assert set(said["no_answer"]) == {False}
    assert set(said["prompt_id"]).isdisjoint(asked[None]["prompt_id"])
    others = [{*rows.filter(pl.col("options").is_null())["prompt_id"]} for rows in asked.values()]
    assert others[0] == others[1]


def test_a_part_is_said_before_anybody_is_asked_with_trials_and_limit(few, tmp_path):
    notes = []
    with ChatServer() as server:
        audit(
            [f"{server.url}#mini"],
            instruments=["coreference", few],
            output=tmp_path,
            options=AskOptions(modes=("ask", "reply"), dry_run=True, controls=False, limit=700),
            listener=Listener(note=notes.append),
        )
        assert server.requests == []
        (line,) = [note for note in notes if "--sample all" in note]
    asked = sum(
        int(note.split(": ")[-1].split()[0].replace(",", ""))
        for note in notes
        if note.endswith(" prompts.")
    )
    of_few = len(render(mode_of(load_instrument(few), "reply")).prompts)
    # A thorough audit would ask 700 sentences five times, and 700 of each form with options.
    every = 700 * 5 + 700 + min(of_few, 700)
    assert f" is asked {asked:,} of {every:,} prompts. All: --sample all." in line


def server_that_completes(*, gives_probabilities, begins_anew=False):
    """A server whose word depends on the question; it may not give probabilities."""

    async def behave(request):
        if "logprobs" in request.body and not gives_probabilities:
            error = {"message": "logprobs is not supported", "param": "logprobs"}
            return Answer(status=400, body={"error": error})
        text = request.body["messages"][0]["content"]
        begun = request.body["messages"][-1]["content"]
        word = word_for(text)
        if not gives_probabilities:
            said = f" {word}." if not begins_anew else f"{begun} {word} for me."
            return Answer(body=completion(said))
        before = [begun] if begins_anew else []
        body = completion("".join([*before, f" {word}"]))
        rivals = [(f" {word}", 0.7), (" nice", 0.2)]
        content = [{"token": one, "logprob": 0.0, "top_logprobs": []} for one in before]
        tops = [{"token": token, "logprob": math.log(p)} for token, p in rivals]
        content.append({"token": f" {word}", "logprob": math.log(0.7), "top_logprobs": tops})
        body["choices"][0]["logprobs"] = {"content": content}
        return Answer(body=body)

    return ChatServer(behave)


def word_for(text):
    return ["hard", "easy", "fine"][hashlib.sha256(text.encode()).digest()[0] % 3]


@pytest.mark.parametrize("begins_anew", [False, True])
@pytest.mark.parametrize("gives_probabilities", [True, False])
def test_completions_behind_a_server(gives_probabilities, begins_anew, few, tmp_path):
    notes = []
    chats = ChatOptions(sampling=Sampling(temperature=1.0))
    with server_that_completes(
        gives_probabilities=gives_probabilities, begins_anew=begins_anew
    ) as server:
        done = audit(
            [f"{server.url}#mini"],
            instruments=[few],
            output=tmp_path,
            options=AskOptions(modes=("completion",), chats=chats),
            listener=Listener(note=notes.append),
        )
        bodies = [request.body for request in server.asked]
    assert forms(done) == ["completion"]
    prompts = asked_of(tmp_path, "completion")
    assert all(body["max_tokens"] <= 24 for body in bodies)
    assert {body["messages"][-1]["content"] for body in bodies} == {
        row["prefill"] for row in prompts.values()
    }
    assert any("probabilities of words" in note for note in notes) is not gives_probabilities
    scores = pl.read_parquet(tmp_path / "scores.parquet")
    mass = scores.filter(pl.col("level") == "prompt", pl.col("quantity") == "mass")
    expected = 0.9 if gives_probabilities else 1.0
    assert mass["value"].to_list() == pytest.approx([expected] * mass.height, abs=1e-6)
    negative = scores.filter(pl.col("level") == "prompt", pl.col("quantity") == "negative")
    rest = 0.2 if gives_probabilities else 0.0
    for prompt_id, value in negative.select("prompt_id", "value").iter_rows():
        word = word_for(prompts[prompt_id]["text"])
        own = 0.7 if gives_probabilities else 1.0
        # hard is negative; easy, fine and nice are not.
        assert value == pytest.approx(own / (own + rest) if word == "hard" else 0.0, abs=1e-6)


def test_what_a_server_says_of_words_stays_in_the_run(few, tmp_path):
    with server_that_completes(gives_probabilities=True) as server:
        options = AskOptions(modes=("completion",), limit=3, controls=False)
        audit([f"{server.url}#mini"], instruments=[few], output=tmp_path, options=options)
    replies = read_answers(tmp_path, "replies")
    for text, told in replies.select("text", "next_words").iter_rows():
        (token, rivals), *_ = json.loads(told)
        assert token == text
        assert [one for one, _ in rivals] == [text, " nice"]


def test_masked_causal_and_chat_models_stand_side_by_side_in_one_run(causal, chat, few, tmp_path):
    """Each in its own forms: correlated over conditions, two by two, and in no mean together."""
    masked = "bundled:mini"
    options = AskOptions(controls=False, modes=("fill", "completion", "choice"), sample="balanced")
    audit([masked, causal, chat], instruments=[few], output=tmp_path, options=options)
    together = pl.read_parquet(tmp_path / "estimates.parquet").filter(pl.col("kind") == "measures")
    # One model fills, two complete and choose: every two forms, each model with each.
    assert together.height == 2 + 2 + 2 * 2
    scores = pl.read_parquet(tmp_path / "scores.parquet")
    of_conditions = scores.filter(
        pl.col("level") == "condition",
        pl.col("wording").is_null(),
        pl.col("condition") != BASELINE,
    )

    def means(quantity: str, model: str) -> dict[str, float]:
        rows = of_conditions.filter(pl.col("quantity") == quantity, pl.col("model") == model)
        return dict(rows.select("condition", "value").drop_nulls().rows())

    filled = means("negative", masked)
    for model in (causal, chat):
        chosen = means("code", model)
        shared = [name for name in filled if name in chosen]
        r = np.corrcoef([filled[name] for name in shared], [chosen[name] for name in shared])[0, 1]
        row = together.filter(
            pl.col("first").str.ends_with(f"of {masked}"), pl.col("second").str.contains(model)
        ).filter(pl.col("second").str.starts_with("mean-code"))
        assert row["effect"].to_list() == pytest.approx([r])
    # No number is over models that were asked in different forms.
    by_form = scores.group_by("mode").agg(pl.col("model").drop_nulls().unique())
    assert {form: {*models} for form, models in by_form.rows()} == {
        "fill": {masked},
        "completion": {causal, chat},
        "choice": {causal, chat},
    }
