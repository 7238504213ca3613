"""Control items asked of real models and a real server: who can do the task, and who cannot."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

import polars as pl
import pytest
import torch
import transformers
from polars.testing import assert_frame_equal

from chat_server import Answer, ChatServer, completion
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import PromptOptions, render
from goffman.models.base import Calling
from goffman.options import AskOptions, ChatOptions, Listener
from goffman.pipeline import audit
from goffman.report.load import read_run
from goffman.runs.manifest import read_manifest
from in_process import goffman
from tiny_models import make

pytestmark = pytest.mark.slow
"""Whole runs: minutes of computing."""

MASKED = ("social-distance", "care-seeking", "attribution", "coreference")
ONE = AskOptions(limit=1, settings={"coreference.pairs": 1, "coreference.adjectives": ["none"]})


def competences(folder):
    """By instrument: how the one model that was asked did."""
    found = read_run(folder).sections
    return {name: one for name, section in found.items() for one in section.competence.values()}


def asked(models, folder, instruments=(), options=ONE):
    return audit(
        [str(one) for one in models], instruments=instruments, output=folder, options=options
    )


@pytest.fixture(scope="module")
def bundled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundled") / "run"
    done = asked(["bundled:mini", "bundled:mini-sentiment"], folder)
    return folder, done


def test_the_bundled_models_can_do_every_task(bundled):
    folder, done = bundled
    found = competences(folder)
    assert {*found} == {*MASKED[:3], "coreference/pronouns", "people-sentiment"}
    for name, one in found.items():
        assert one.passed, (name, one)
        assert (one.n, one.missing) == (22 if name == "coreference/pronouns" else 28, 0)
        line = done.summary.index(f"{name}, {one.model}")
        assert done.summary[line + 1] == f"  {one.sentence}"
    assert re.fullmatch(
        r"Control items: bundled:mini can perhaps tell welcome situations from unwelcome ones "
        r"\(AUC 0\.9\d, 95% interval 0\.\d+ to 0\.9\d, 28 items; at least 0\.90 is "
        r"needed\)\. With 28 items, we cannot rule out that it would fail on others\. "
        r"In single wordings, the AUC is 0\.\d\d to [01]\.\d\d[^.]*(\.90[^.]*)?\.",
        found["social-distance"].sentence,
    )
    assert not [line for line in done.summary if "measurable" in line]


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_a_random_masked_model_fails_every_task(tiny, tmp_path, family):
    done = asked([tiny(family)], tmp_path, MASKED)
    found = competences(tmp_path)
    assert len(found) == 4
    for name, one in found.items():
        assert not one.passed, (name, one)
        assert one.value is None or one.value < one.floor
        line = done.summary.index(f"{name}, {family} (not measurable)")
        assert done.summary[line + 1 : line + 3] == (
            "  Not measurable.",
            f"  {one.sentence} So its other numbers mean nothing and are not stated.",
        )
        assert one.sentence.startswith("Control items: ")
    assert done.summary.count("  Not measurable.") == 4


def test_a_masked_model_that_always_says_i_fails(tmp_path):
    folder = make("bert", tmp_path / "always-i")
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder)
    token = transformers.AutoTokenizer.from_pretrained(folder).convert_tokens_to_ids("i")
    with torch.no_grad():
        model.cls.predictions.bias[token] = 100.0
    model.save_pretrained(folder)
    instruments = ("care-seeking", "attribution")
    asked([folder], tmp_path / "run", instruments, AskOptions(limit=1))
    found = competences(tmp_path / "run")
    assert {*found} == {*instruments}
    for one in found.values():
        assert (one.n, one.passed) == (28, False)
        assert one.value == pytest.approx(0, abs=1e-6)


def test_a_classifier_that_calls_everything_positive_fails(tmp_path):
    folder = make("bert", tmp_path / "constant", labels=("NEG", "POS"))
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor([-3.0, 3.0]))
    model.save_pretrained(folder)
    done = asked([folder], tmp_path / "run", ["people-sentiment"], AskOptions())
    (one,) = competences(tmp_path / "run").values()
    assert (one.value, one.n, one.passed) == (0.5, 28, False)
    assert done.summary == (
        "people-sentiment, constant (not measurable)",
        "  Not measurable.",
        "  Control items: constant cannot tell praise of people from blame (accuracy 0.50, 95% "
        "interval 0.33 to 0.67, 28 items; at least 0.90 is needed). So its other numbers mean "
        "nothing and are not stated.",
    )


CHAT = render(load_instrument("coreference"), PromptOptions(pairs=4, adjectives=["none"]))
KEY = {prompt.text: prompt for prompt in (*CHAT.prompts, *CHAT.controls)}


def coin(request):
    prompt = KEY[request.text]
    heads = hashlib.sha256(f"{request.text} {request.seed}".encode()).digest()[0] % 2
    return prompt.answer if heads else prompt.other


def first(request):
    prompt = KEY[request.text]
    names = (prompt.answer, prompt.other)
    return min(names, key=lambda name: prompt.text.lower().index(name.lower()))


def right(request):
    return f"The {KEY[request.text].answer}."


def chatted(says, folder, *, trials=2, **more):
    """What a server that answers so says, and how often it was asked."""

    async def reply(request):
        return Answer(200, completion(says(request)))

    told = []
    with ChatServer(reply) as server:
        options = AskOptions(
            modes=("ask",),
            settings={"coreference.pairs": 4, "coreference.adjectives": ["none"]},
            chats=ChatOptions(trials=trials, calling=Calling(concurrency=8)),
            **more,
        )
        done = audit(
            [f"{server.url}#mini"],
            instruments=["coreference"],
            output=folder,
            options=options,
            listener=Listener(note=told.append),
        )
    return done, len(server.asked), told


@pytest.mark.parametrize("says", [coin, first])
def test_a_chat_that_flips_a_coin_or_names_the_first_person_fails(says, tmp_path):
    chatted(says, tmp_path)
    (one,) = competences(tmp_path).values()
    assert not one.passed
    assert one.value == pytest.approx(0.5, abs=0.25)
    if says is first:
        assert one.value == 0.5


def test_a_chat_that_understands_passes(tmp_path):
    done, requests, _ = chatted(right, tmp_path)
    (one,) = competences(tmp_path).values()
    assert (one.value, one.n, one.passed) == (1.0, 22, True)
    assert requests == 2 * (8 + 22)
    assert not [line for line in done.summary if "measurable" in line]


def test_controls_change_no_other_number(tmp_path):
    """Everything but their own row is the same, to the bit, as where they were left out."""
    _, with_them, _ = chatted(coin, tmp_path / "with")
    _, without_them, _ = chatted(coin, tmp_path / "without", controls=False)
    assert with_them - without_them == 2 * 22
    one, other = (read_run(tmp_path / name) for name in ("with", "without"))
    control = pl.col("level") == "control"
    # The score, and the ends of its interval.
    assert one.scores.filter(control).height == 3
    no_port = pl.col("model").str.replace(r":\d+/", "/")
    assert_frame_equal(
        one.scores.filter(~control).with_columns(no_port),
        other.scores.with_columns(no_port),
    )
    numbers = pl.selectors.numeric()
    assert_frame_equal(one.estimates.select(numbers), other.estimates.select(numbers))
    assert one.prompts.equals(other.prompts)
    entries = [
        read_manifest(tmp_path / name).instruments["coreference"] for name in ("with", "without")
    ]
    assert entries[0].prompts == entries[1].prompts == 8
    assert entries[0].prompts_sha256 == entries[1].prompts_sha256
    assert (entries[0].asked, entries[1].asked) == (30, 8)
    assert entries[1].controls is None


def test_a_run_that_is_resumed_asks_no_control_again(tmp_path):
    _, before, _ = chatted(coin, tmp_path, trials=1)
    assert before == 30
    scores = read_run(tmp_path).scores
    model = next(iter(read_manifest(tmp_path).models))
    options = AskOptions(
        modes=("ask",),
        settings={"coreference.pairs": 4, "coreference.adjectives": ["none"]},
        chats=ChatOptions(trials=1),
    )
    # The server is gone: whoever asked would fail.
    audit([model], instruments=["coreference"], output=tmp_path, options=options)
    assert read_run(tmp_path).scores.equals(scores)


def test_a_dry_run_counts_controls_and_the_limit_does_not_cut_them(tmp_path):
    arguments = ["audit", "bundled:mini", "--dry-run", "--limit", "3"]
    arguments += ["--instrument", "social-distance", "--output", tmp_path]
    assert (
        "social-distance, bundled:mini: 3 prompts and 168 control prompts."
        in goffman(*arguments).stderr
    )
    without = goffman(*arguments, "--no-controls").stderr
    assert "social-distance, bundled:mini: 3 prompts." in without


def test_without_controls_it_is_said_that_nothing_shows_whether_the_model_can(tiny, tmp_path):
    done = asked([tiny("bert")], tmp_path, ["care-seeking"], AskOptions(limit=2, controls=False))
    assert done.summary[:2] == (
        "care-seeking, bert",
        "  No control items were asked, so nothing shows whether the model can do the task.",
    )
    assert not [line for line in done.summary if "Not measurable" in line]


def test_a_causal_model_is_asked_for_both_pronouns(tmp_path):
    from tiny_chat import make_causal

    folder = make_causal("gpt2", tmp_path / "causal", chat=False)
    options = replace(ONE, modes=("pronouns",))
    asked([folder], tmp_path / "run", ["coreference"], options)
    (one,) = competences(tmp_path / "run").values()
    assert (one.n, one.missing) == (22, 0)
    assert not one.passed
