"""Logs of other harnesses become runs with the same numbers as goffman's own audits."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch
from typer.testing import CliRunner

from chat_server import Answer, ChatServer, completion
from goffman.cli.main import app
from goffman.errors import InputError
from goffman.export.model_card import model_card_text
from goffman.harness import export_tasks
from goffman.harness.export_tasks import export_task
from goffman.harness.import_run import read_logs
from goffman.instruments.types import is_control
from goffman.options import AskOptions, Listener
from goffman.pipeline import audit
from goffman.report.load import read_run
from goffman.runs.manifest import read_manifest
from goffman.runs.run import read_answers
from harness_logs import inspect_log, lm_eval_log
from refusals import message_of
from tiny_chooser import make_chooser

LIMIT = 60
"""Several conditions of each group."""

MANY = 290
"""The same where each condition has 56 prompts."""

OF_SCORES = pl.exclude("model")


def same_numbers(one, other):
    """Whether two runs of one model each have the same scores and estimates, to the last bit."""
    for name in ("scores", "estimates"):
        tables = [pl.read_parquet(run / f"{name}.parquet") for run in (one, other)]
        # A model's name is part of what contrasts and families are called.
        kept = [table.drop("model", "contrast", "family", strict=False) for table in tables]
        assert kept[0].height > 0
        assert kept[0].equals(kept[1], null_equal=True), name


@pytest.fixture(scope="module")
def choices():
    (found,) = export_task(
        ["social-distance"], kinds=export_tasks.LM_EVAL_KINDS, modes=("choice",), limit=MANY
    )
    return found


@pytest.fixture(scope="module")
def said():
    (found,) = export_task(
        ["social-distance"], kinds=export_tasks.INSPECT_KINDS, modes=("reply",), limit=LIMIT
    )
    return found


@pytest.fixture(scope="module")
def own_choices(tmp_path_factory):
    """goffman's own audit of a causal model, by the options' probabilities."""
    torch.set_num_threads(1)
    model = str(make_chooser(tmp_path_factory.mktemp("chooser")))
    run = tmp_path_factory.mktemp("own-choices")
    asking = AskOptions(limit=MANY, sample="all")
    audit([model], instruments=["social-distance/choice"], output=run, options=asking)
    return run


def reply_to(text):
    """A, B … by chance, but the same for the same question; now and then no option."""
    return ["A", "B.", "C", "D", "I do not know."][hashlib.sha256(text.encode()).digest()[0] % 5]


@pytest.fixture(scope="module")
def own_said(tmp_path_factory):
    """goffman's own audit of a chat model behind a server."""

    run = tmp_path_factory.mktemp("own-reply")
    asking = AskOptions(limit=LIMIT, modes=("reply",))
    with ChatServer(lambda request: Answer(body=completion(reply_to(request.text)))) as server:
        audit(
            [f"{server.url}#made-up"],
            instruments=["social-distance"],
            output=run,
            options=asking,
        )
    return run


def probabilities(run):
    rows = read_answers(run, "choices").select("prompt_id", "option", "probability").rows()
    found = {}
    for prompt, option, probability in rows:
        found.setdefault(prompt, {})[option] = probability
    return found


def replies(prompts):
    return {prompt.id: [reply_to(prompt.text)] for prompt in prompts}


@pytest.mark.slow
def test_probabilities_in_a_log_of_lm_eval_give_the_numbers_of_an_own_audit(
    choices, own_choices, tmp_path
):
    log = lm_eval_log(tmp_path / "logs", choices, probabilities(own_choices))
    notes = []
    done = read_logs([log.parent], output=tmp_path / "run", listener=Listener(note=notes.append))
    assert notes == []
    assert [(one.instrument, one.sentences) for one in done.asked] == [
        ("social-distance/choice", choices.note.prompts)
    ]
    mine, theirs = (
        read_answers(run, "choices").sort("prompt_id", "option")
        for run in (own_choices, done.folder)
    )
    assert mine.select(OF_SCORES).equals(theirs.select(OF_SCORES), null_equal=True)
    same_numbers(own_choices, done.folder)
    # The numbers are there: what is compared is not emptiness.
    scores = pl.read_parquet(done.folder / "scores.parquet")
    assert scores.filter(quantity="code", level="prompt")["value"].null_count() == 0


def test_spellings_of_a_label_are_added_up(tmp_path):
    """Half the probability on each of two spellings, and a naive sum of what options count."""
    (choices,) = export_task(["social-distance/choice"], kinds=export_tasks.LM_EVAL_KINDS, limit=6)
    chances = {prompt.id: {o.label: 0.18 for o in prompt.options} for prompt in choices.prompts}
    log = lm_eval_log(tmp_path / "logs", choices, chances)
    samples = next(log.parent.glob("samples_*"))
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    for row in rows:
        row["resps"] = [[[str(float(np.log(0.09))), "False"]] for _ in row["resps"]]
    samples.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = read_logs([log], output=tmp_path / "run")
    found = read_answers(done.folder, "choices")
    assert np.allclose(found["probability"], 0.18, rtol=1e-6)
    assert np.allclose(found["elsewhere"], 0.1, rtol=1e-5)
    scores = pl.read_parquet(done.folder / "scores.parquet")
    by_hand = {
        prompt.id: np.mean([o.code for o in prompt.options if o.code is not None])
        for prompt in choices.prompts
        if not is_control(prompt)
    }
    for prompt, value in (
        scores.filter(quantity="code", level="prompt").select("prompt_id", "value").rows()
    ):
        assert value == pytest.approx(by_hand[prompt], abs=1e-6)


@pytest.mark.parametrize("harness", ["lm-eval", "inspect"])
def test_replies_in_a_log_give_the_numbers_of_an_own_audit(harness, said, own_said, tmp_path):
    answers = replies(said.prompts)
    if harness == "lm-eval":
        log = lm_eval_log(tmp_path / "logs", said, answers)
    else:
        log = inspect_log(tmp_path / "log.json", said, answers)
    done = read_logs([log], output=tmp_path / "run")
    texts = [
        read_answers(run, "replies").select("prompt_id", "trial", "text").sort("prompt_id")
        for run in (own_said, done.folder)
    ]
    assert texts[0].equals(texts[1])
    same_numbers(own_said, done.folder)


def test_a_run_says_where_its_answers_came_from(said, tmp_path):
    log = inspect_log(tmp_path / "log.json", said, replies(said.prompts))
    done = CliRunner().invoke(
        app, ["read", str(log), "--output", str(tmp_path / "run")], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    assert "  ✕ social-distance " in done.stdout
    (model,) = read_manifest(tmp_path / "run").models.values()
    (told,) = model.logs
    assert (told.harness, told.version, told.file) == ("inspect_ai", "0.3.285", "log.json")
    assert told.sha256 == hashlib.sha256(log.read_bytes()).hexdigest()
    assert (model.sampling.temperature, model.sampling.max_tokens) == (0.0, 12)
    card = model_card_text(read_run(tmp_path / "run"), "openai/made-up")
    assert "openai/made-up was asked by inspect\\_ai 0.3.285, with goffman" in card
    assert (tmp_path / "run" / "report.html").is_file()
    again = CliRunner().invoke(app, ["check", str(tmp_path / "run")])
    assert "Traceback" not in again.output


def test_what_is_missing_is_said(said, tmp_path):
    asked = [prompt for prompt in said.prompts if not is_control(prompt)][:6]
    log = inspect_log(tmp_path / "log.json", said, replies(asked), model="m", failed=[asked[0].id])
    notes = []
    read_logs([log], output=tmp_path / "run", listener=Listener(note=notes.append))
    every = said.note.prompts
    assert notes[:3] == [
        f"social-distance/reply, m: the log has answers to 5 of {every} prompts. The other "
        f"{every - 5} count as not asked.",
        "social-distance/reply, m: the harness failed on 1 prompts. They are left out.",
        "social-distance/reply, m: no control item was asked, so goffman cannot say whether the "
        "model can do the task.",
    ]


def refused(*arguments, **options):
    return message_of(InputError, read_logs, *arguments, **options)


def test_a_log_without_samples_says_its_status(said, tmp_path):
    """inspect_ai was stopped before the first answer."""
    log = inspect_log(tmp_path / "log.json", said, {})
    for status in ("cancelled", "started"):
        log.write_text(json.dumps({**json.loads(log.read_text()), "status": status}))
        assert refused([log], output=tmp_path / "run") == (
            f"{log} holds no samples (its status is '{status}'), so there is nothing to read. Ask "
            f"again: inspect eval-retry {log}"
        )


def test_a_log_in_which_every_sample_failed_says_so(said, tmp_path):
    asked = said.prompts[:6]
    failed = [prompt.id for prompt in asked]
    log = inspect_log(tmp_path / "log.json", said, replies(asked), failed=failed)
    assert refused([log], output=tmp_path / "run") == (
        f"{log} has no answers to social-distance/reply: inspect_ai failed on 6 prompts. Find the "
        "reason in the log, and run the harness again."
    )


def test_another_version_of_an_instrument_is_refused(said, tmp_path):
    old = replace(said, note=replace(said.note, version="0.9", goffman="0.0.1"))
    log = inspect_log(tmp_path / "log.json", old, replies(said.prompts))
    assert refused([log], output=tmp_path / "run") == (
        f"{log} has answers to social-distance/reply version 0.9, but this goffman has version "
        f"{said.note.version}. Export the questions again and run the harness again, or use "
        "goffman 0.0.1."
    )
    assert not (tmp_path / "run").exists()


def test_other_prompts_of_the_same_version_are_refused(said, tmp_path):
    old = replace(said, note=replace(said.note, prompts_sha256="0" * 64))
    log = inspect_log(tmp_path / "log.json", old, replies(said.prompts))
    assert refused([log], output=tmp_path / "run") == (
        f"{log} has answers to other prompts of social-distance/reply than this goffman asks: the "
        "instrument's files have changed since the questions were exported. Export them again and "
        "run the harness again, or use goffman 0.1.0."
    )


def test_prompts_that_nobody_exported_are_refused(said, tmp_path):
    log = inspect_log(tmp_path / "log.json", said, replies(said.prompts))
    changed = log.read_text().replace(said.prompts[0].id, "0123456789abcdef")
    log.write_text(changed)
    assert refused([log], output=tmp_path / "run") == (
        f"{log} has answers to 1 prompts that social-distance/reply does not have, such as "
        "0123456789abcdef. The exported questions were changed. Export them again."
    )


def test_a_log_of_other_questions_is_refused(said, tmp_path):
    log = inspect_log(tmp_path / "log.json", said, replies(said.prompts))
    content = json.loads(log.read_text())
    content["eval"]["metadata"] = None
    log.write_text(json.dumps(content))
    assert refused([log], output=tmp_path / "run") == (
        f"{log} has no answers to questions that goffman exported. Export them with goffman export "
        "INSTRUMENT --to lm-eval-tasks (or --to inspect), and run the harness on these."
    )


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"PK\x03\x04 no archive", b"\xff\xfe"])
def test_what_is_no_log_is_refused(content, tmp_path):
    (tmp_path / "file").write_bytes(content)
    said = refused([tmp_path / "file"])
    assert said.startswith(f"{tmp_path / 'file'} cannot be read as a log of lm-eval or inspect_ai")


def test_an_empty_folder_and_a_missing_file_are_refused(tmp_path):
    assert "there is no results_….json in this folder" in refused([tmp_path])
    assert "nowhere" in refused([tmp_path / "nowhere"])


def test_other_ways_of_asking_are_refused(said, tmp_path):
    answers = replies(said.prompts)
    log = lm_eval_log(tmp_path / "a", said, answers, system_instruction="Be kind.")
    assert refused([log]) == (
        f"{log} was made with a system prompt (--system_instruction), which goffman's questions do "
        "not have. Run lm-eval again without it."
    )
    log = lm_eval_log(tmp_path / "b", said, answers, **{"n-shot": {"x": 3}})
    assert refused([log]) == (
        f"{log} was made with 3 examples before each question of x (--num_fewshot). Run lm-eval "
        "again without them."
    )
    log = lm_eval_log(tmp_path / "c", said, answers)
    next(log.parent.glob("samples_*")).unlink()
    assert refused([log]).endswith("Run lm-eval again with --log_samples.")


def test_two_logs_of_the_same_questions_are_refused(said, tmp_path):
    logs = [inspect_log(tmp_path / name, said, replies(said.prompts)) for name in ("a", "b")]
    assert refused(logs, output=tmp_path / "run") == (
        f"{logs[0]} and {logs[1]} both have answers of openai/made-up to social-distance/reply. "
        "Give only one of them."
    )


@pytest.mark.parametrize(
    "settings", [{"temperature": -5}, {"max_tokens": 0}, {"top_p": 1.5}, {"top_p": -0.1}]
)
def test_settings_with_which_no_reply_can_be_drawn_are_refused(settings, said, tmp_path):
    log = inspect_log(tmp_path / "log.json", said, replies(said.prompts))
    content = json.loads(log.read_text())
    content["plan"]["config"] |= settings
    log.write_text(json.dumps(content))
    with pytest.raises(InputError, match="replies cannot be drawn with"):
        read_logs([log], output=tmp_path / "run")
