"""A model measured while it is trained: as an audit measures it, and without a trace in it."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers

import goffman
from doc_pages import ROOT
from few_conditions import with_few_conditions, with_fewer
from goffman.errors import InputError, ModelError
from goffman.modes import asked_ids
from goffman.training import History, Monitor, TrainerCallback
from goffman.training.monitor import Budget
from refusals import message_of
from tiny_chat import make_causal

Loaded = tuple[Any, Any]

UNLIMITED = 1e9
"""A share of the time of a training that takes less time than a look."""


def loaded(folder, of=transformers.AutoModelForMaskedLM):
    """A model as training has it, and its tokenizer."""
    return of.from_pretrained(folder).train(), transformers.AutoTokenizer.from_pretrained(folder)


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """A short social-distance scale."""
    folder = tmp_path_factory.mktemp("instruments") / "social-distance"
    return with_few_conditions("social-distance", folder, each=4)


def steps(model, tokenizer, count, after):
    """The losses of so many steps of training with dropout, on texts drawn at random."""
    torch.manual_seed(0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    texts = ["it is hard for me to talk to someone", "it is easy for me to share a meal"]
    losses = []
    for step in range(1, count + 1):
        chosen = [texts[int(torch.randint(2, ()))] for _ in range(2)]
        batch = tokenizer(chosen, padding=True, return_tensors="pt")
        loss = model(**batch, labels=batch["input_ids"]).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
        after(step)
    return losses


# The same as an audit


def audited(folder, output, **told):
    return goffman.audit(str(folder), output=output, report=False, progress=False, **told)


def same(one, two):
    assert one.path == two.path
    for field in ("value", "low", "high", "p"):
        expected = getattr(two, field)
        assert getattr(one, field) == (
            None if expected is None else pytest.approx(expected, abs=2e-5)
        )
    assert one.row["n"] == two.row["n"]


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bert", "roberta", "xlnet"])
def test_a_look_says_what_an_audit_of_the_saved_model_says(family, tiny, short, tmp_path):
    of = transformers.XLNetLMHeadModel if family == "xlnet" else transformers.AutoModelForMaskedLM
    model, tokenizer = loaded(tiny(family), of)
    watch = Monitor(model, tokenizer, short)
    if family != "xlnet":
        steps(model, tokenizer, 3, lambda _: None)
    seen = watch.start(3)
    assert seen is not None
    model.save_pretrained(tmp_path / "saved")
    tokenizer.save_pretrained(tmp_path / "saved")
    run = audited(tmp_path / "saved", tmp_path / "run", instruments=short, limit=600)
    (one,) = seen.estimates
    # The words that a random XLNet says first have no ratings.
    if family != "xlnet":
        assert one.low < one.value < one.high
    same(one, run.estimate("social-distance.gap"))
    assert one.not_measurable  # its weights were drawn at random
    control = run.scores.filter(level="control", quantity="control")["value"].item()
    assert seen.controls == {"social-distance": pytest.approx(control, abs=1e-6)}


def test_a_second_look_at_the_same_weights_says_the_same(tiny, short):
    """It calculates less: what it looks for is known."""
    model, tokenizer = loaded(tiny("roberta"))
    watch = Monitor(model, tokenizer, [str(short), "care-seeking"], every=1)
    first = watch.start()
    watch.budget.share = UNLIMITED
    second = watch.step(1)
    assert [one.row for one in second.estimates] == [one.row for one in first.estimates]
    assert len(second.estimates) == 2
    assert second.controls == first.controls


@pytest.mark.slow
def test_a_look_at_recursive_masks_says_the_same(tiny, tmp_path):
    home = with_fewer(tmp_path / "instruments", conditions=2, items=3)
    model, tokenizer = loaded(tiny("roberta"))
    seen = Monitor(model, tokenizer, home / "attribution", controls=False).start()
    told = {"instruments": home / "attribution", "controls": False}
    run = audited(tiny("roberta"), tmp_path / "run", **told)
    (one,) = seen.estimates
    same(one, run.estimate(one.name.replace("model in training", str(tiny("roberta")))))


def test_a_look_at_a_classifier_says_the_same(tiny, tmp_path):
    folder = tiny("bert", labels=("negative", "positive"))
    model, tokenizer = loaded(folder, transformers.AutoModelForSequenceClassification)
    seen = Monitor(model, tokenizer, "people-sentiment", sample=60).start()
    run = audited(folder, tmp_path / "run", instruments="people-sentiment", limit=60)
    (one,) = seen.estimates
    same(one, run.estimate("people-sentiment.gap"))


@pytest.mark.slow
@pytest.mark.parametrize("chat", [True, False])
def test_a_look_at_a_causal_model_asks_for_probabilities(chat, short, tmp_path):
    folder = make_causal("llama", tmp_path / "model", chat=chat)
    model, tokenizer = loaded(folder, transformers.AutoModelForCausalLM)
    told = {"modes": ["choice", "completion"]}
    seen = Monitor(model, tokenizer, short, **told).start()
    run = audited(folder, tmp_path / "run", instruments=short, limit=600, **told)
    assert {*seen.controls} == {*run.instruments}
    assert "social-distance-choice.gap" in {one.path for one in seen.estimates}
    for one in seen.estimates:
        same(one, run.estimate(one.path))
    # Random weights hardly ever choose an option, but the control items have a score.
    scores = run.scores.filter(level="control", quantity="control")
    expected = dict(scores.select(asked_ids(), "value").rows())
    assert seen.controls["social-distance/choice"] is not None
    for name, value in seen.controls.items():
        assert value == (None if expected[name] is None else pytest.approx(expected[name]))


@pytest.mark.slow
def test_a_look_at_pronouns_says_the_same(tmp_path):
    folder = make_causal("gpt2", tmp_path / "model", chat=False)
    model, tokenizer = loaded(folder, transformers.AutoModelForCausalLM)
    told = {"modes": "pronouns"}
    seen = Monitor(model, tokenizer, "coreference", sample=60, **told).start()
    run = audited(folder, tmp_path / "run", instruments="coreference", limit=60, **told)
    (one,) = seen.estimates
    same(one, run.estimate(one.path))


# Nothing of it is left


def test_training_is_the_same_to_the_bit(tiny, short):
    """Weights, losses, modes and every generator, with looks and without."""
    model, tokenizer = loaded(tiny("roberta"))
    other = copy.deepcopy(model)
    for one in (model, other):
        one.roberta.embeddings.eval()  # frozen by its owner
    with_looks = Monitor(model, tokenizer, short, every=2, share=1.0, sample=200)
    with_looks.budget.share = UNLIMITED
    drawn = {}

    def looked(step):
        with_looks.step(step)
        assert [m.training for m in model.modules()] == [m.training for m in other.modules()]

    assert steps_of(model, tokenizer, with_looks.start, looked, drawn, "with") == steps_of(
        other, tokenizer, lambda: None, lambda _: None, drawn, "without"
    )
    assert len(with_looks.course.points) >= 2
    assert drawn["with"] == drawn["without"]
    for one, two in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(one, two)
    assert not any(one.is_inference() for one in (*model.parameters(), *model.buffers()))


def steps_of(model, tokenizer, before, after, drawn, name):
    import random

    import numpy as np

    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 - the generator that much training code draws from
    before()
    losses = steps(model, tokenizer, 6, after)
    drawn[name] = (random.random(), np.random.random(), float(torch.rand(())))  # noqa: NPY002
    return losses


# The time


def test_the_budget_leaves_out_what_would_take_too_long():
    now = SimpleNamespace(at=0.0)
    budget = Budget(0.05, clock=lambda: now.at)

    def look(seconds):
        with budget.spending():
            now.at += seconds

    assert budget.allows(done=None)
    with budget.spending(look=False):
        now.at += 1.0
    assert budget.allows(done=None)  # what a look takes is not known yet
    look(1.5)
    now.at += 79.0
    assert not budget.allows(done=None)  # 4 s of 79 s are 5.06%
    now.at += 1.0
    assert budget.allows(done=None)
    # 80 of 160 s: 8 s in all, of which 5.5 s would be gone with the last look.
    assert budget.allows(done=0.5)
    # 80 of 100 s: 5 s in all, and a last look would not fit after this one.
    assert not budget.allows(done=0.8)
    assert budget.allows(done=1)
    look(1.5)
    assert budget.taken == pytest.approx(4 / 80)
    assert not budget.allows(done=1)


def test_a_look_that_would_take_too_long_is_left_out_and_said(tiny, short):
    model, tokenizer = loaded(tiny("bert"))
    watch = Monitor(model, tokenizer, short, every=1, share=0.0001, sample=200)
    watch.start()
    assert watch.step(1) is None
    assert watch.step(2) is None
    assert watch.end() is None
    assert [one.step for one in watch.course.points] == [0]
    said = [note for note in watch.notes if "because goffman would take more than 0.0%" in note]
    assert len(said) == 1
    assert "2 more looks were left out" in watch.notes[-1]
    assert "too short for the first look" in watch.notes[-1]


# In transformers' Trainer


class Heard(transformers.TrainerCallback):
    """What TensorBoard or Weights & Biases would be given."""

    def __init__(self):
        self.logs: list[dict[str, Any]] = []

    def on_log(self, args, state, control, logs=None, **kwargs):
        self.logs.append({"step": state.global_step, **logs})


def trainer_of(model, tokenizer, folder, **told):
    texts = tokenizer(["it is hard for me to talk to someone"] * 16)["input_ids"]
    heard = Heard()
    arguments = transformers.TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=4,
        logging_steps=2,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        seed=3,
        **{"max_steps": 6, **told},
    )
    trainer = transformers.Trainer(
        model=model,
        args=arguments,
        train_dataset=[{"input_ids": one} for one in texts],
        data_collator=transformers.DataCollatorForLanguageModeling(tokenizer),
        processing_class=tokenizer,
        callbacks=[heard],
    )
    return trainer, heard


def test_the_trainer_logs_it_and_trains_as_without_it(tiny, short, tmp_path):
    kept = {}
    for name in ("with", "without"):
        model, tokenizer = loaded(tiny("roberta"))
        trainer, heard = trainer_of(model, tokenizer, tmp_path / name)
        if name == "with":
            told = {"every": 2, "share": 1.0, "controls": False}
            callback = TrainerCallback(trainer, short, **told)
            callback.watch.budget.share = UNLIMITED
            trainer.add_callback(callback)
        trainer.train()
        kept[name] = (heard.logs, [one.detach().clone() for one in model.parameters()])
    ours = [one for one in kept["with"][0] if "goffman/social-distance.gap" in one]
    assert [one["step"] for one in ours] == [point.step for point in callback.course.points]
    assert ours[0]["step"] == 0
    assert ours[-1]["step"] == 6
    for logged, point in zip(ours, callback.course.points, strict=True):
        (one,) = point.estimates
        assert logged["goffman/social-distance.gap"] == one.value
        assert logged["goffman/social-distance.gap.low"] == one.low
        assert logged["goffman/social-distance.gap.high"] == one.high
    losses = {
        name: [(one["step"], one["loss"]) for one in logs if "loss" in one]
        for name, (logs, _) in kept.items()
    }
    assert losses["with"] == losses["without"]
    assert [step for step, _ in losses["with"]] == [2, 4, 6]
    for one, two in zip(kept["with"][1], kept["without"][1], strict=True):
        assert torch.equal(one, two)


def test_a_model_that_broke_in_training_does_not_end_it(tiny, short):
    model, tokenizer = loaded(tiny("bert"))
    watch = Monitor(model, tokenizer, short, every=1, share=1.0, sample=200)
    watch.start()
    with torch.no_grad():
        next(model.parameters()).fill_(float("nan"))
    watch.budget.share = UNLIMITED
    assert watch.step(1) is None
    assert "Step 1: not measured. it gave a probability that is not a number" in watch.notes[-1]
    assert model.training


# What it cannot


def test_what_it_cannot_ask_is_said(tiny, tmp_path):
    model, tokenizer = loaded(tiny("bert"))
    with pytest.raises(ModelError, match="'people-sentiment' in the mode classify or choice or"):
        Monitor(model, tokenizer, "people-sentiment").start()
    with pytest.raises(ModelError, match="Only models of the transformers library"):
        Monitor(torch.nn.Linear(2, 2), tokenizer, "social-distance").start()
    chat = make_causal("llama", tmp_path / "chat")
    model, tokenizer = loaded(chat, transformers.AutoModelForCausalLM)
    with pytest.raises(ModelError, match="asked for probabilities, not for replies"):
        Monitor(model, tokenizer, "social-distance", modes="reply").start()
    bare = transformers.BertModel(transformers.BertConfig(num_hidden_layers=1, vocab_size=99))
    with pytest.raises(ModelError, match="cannot be asked while it is trained"):
        Monitor(bare, tokenizer, "social-distance").start()
    for told, said in (
        ({"every": 0}, "every is 0. Allowed: a whole number, 1 or more."),
        ({"sample": True}, "sample is True. Allowed: a whole number, 1 or more."),
        ({"share": 0}, "share is 0. Allowed: a number above 0, up to 1."),
    ):
        assert message_of(InputError, Monitor, model, tokenizer, "social-distance", **told) == said
    with pytest.raises(InputError, match="The first argument is the trainer"):
        TrainerCallback("social-distance", "social-distance")


def test_weights_that_no_process_has_whole_are_refused(tiny, tmp_path):
    trainer, _ = trainer_of(*loaded(tiny("bert")), tmp_path)
    trainer.is_fsdp_enabled = True
    with pytest.raises(InputError, match="splits the weights"):
        TrainerCallback(trainer, "social-distance")


def test_a_sample_that_is_too_small_for_a_main_result_says_so(tiny, short):
    model, tokenizer = loaded(tiny("bert"))
    watch = Monitor(model, tokenizer, short, sample=10)
    assert watch.start().estimates == ()
    assert watch.notes == [
        "Step 0: social-distance has no main result. The sample of 10 prompts may be too small: "
        "ask more with sample."
    ]


# The course


def test_the_course_is_a_table_and_a_figure(tiny, short, tmp_path):
    model, tokenizer = loaded(tiny("roberta"))
    with pytest.raises(InputError, match="Nothing was measured yet"):
        History().figure()
    watch = Monitor(model, tokenizer, short, every=1, share=1.0, sample=200, controls=False)
    watch.start()
    watch.budget.share = UNLIMITED
    steps(model, tokenizer, 2, watch.step)
    course = watch.course
    assert course.names == ["social-distance.gap[model in training]"]
    assert course.estimates["step"].to_list() == [0, 1, 2]
    assert course.estimates["value"].to_list() == [p.estimates[0].value for p in course.points]
    figure = course.figure("social-distance.gap")
    rows = figure.spec["data"]["values"]
    assert [one["run"] for one in rows] == [0, 1, 2]
    assert [one["value"] for one in rows] == pytest.approx(
        course.estimates["value"].to_list(), rel=1e-4
    )
    assert "at step 0:" in figure.description
    assert "Training step" in figure.svg
    assert (
        json.loads(figure.save(tmp_path / "course.json").read_text())["data"] == figure.spec["data"]
    )
    with pytest.raises(InputError, match="Did you mean"):
        course.figure("social-distance.gpa")


def test_importing_integrations_imports_nothing_heavy():
    script = """
import sys, goffman.training
heavy = {"torch", "transformers", "polars", "numpy", "scipy"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
assert {"TrainerCallback", "Monitor"} <= set(dir(goffman.training))
from goffman.training import Monitor
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.slow
def test_the_python_of_the_page_runs(tiny, tmp_path, monkeypatch, capsys):
    """With a model whose weights were drawn at random, so without control items."""
    page = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    codes = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(codes) == 2
    model, tokenizer = loaded(tiny("roberta"))
    trainer, heard = trainer_of(model, tokenizer, tmp_path, max_steps=2)
    monkeypatch.chdir(tmp_path)
    given = {"trainer": trainer, "model": model, "tokenizer": tokenizer, "batches": [1, 2]}
    for code in codes:
        exec(code.replace("every=500", "every=500, controls=False"), given)
    assert (tmp_path / "course.svg").is_file()
    assert any("goffman/social-distance.gap" in one for one in heard.logs)
    assert "goffman/social-distance.gap" in capsys.readouterr().out


def test_without_accelerate_the_callback_says_what_to_install_and_a_watch_works():
    script = """
import sys; sys.modules["accelerate"] = None
from goffman.training import Monitor
from goffman import GoffmanError
try:
    from goffman.training import TrainerCallback
except GoffmanError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        "TrainerCallback needs the package accelerate, as the Trainer of transformers does. "
        "Install it: pip install 'goffman[train]'\n"
    )
