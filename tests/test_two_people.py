"""two-people: whom a model picks where the text does not say, from its texts to the report."""

import json
import math
import shutil
from collections import Counter

import numpy as np
import polars as pl
import pytest
import torch
import transformers

from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import PromptOptions, render
from goffman.instruments.types import options_from, options_json
from goffman.models.base import LoadOptions
from goffman.models.resolve import load
from goffman.modes import mode_of, modes_of
from goffman.options import AskOptions, Listener
from goffman.pipeline import audit
from goffman.planning import assign
from goffman.runs.run import read_answers, read_prompts
from in_process import goffman
from planted_picks import CONTRADICTED, ON_PEOPLE, PICKED, few_people, make_planted

MODES = {"qa": "span", "nli": "entailment"}


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return few_people(tmp_path_factory.mktemp("few"))


# Texts


@pytest.mark.parametrize("mode", ["span", "entailment", "choice"])
def test_a_question_and_its_opposite_have_the_same_text_in_both_orders(mode):
    prompts = render(mode_of(load_instrument("two-people"), mode)).prompts
    cells = {}
    for one in prompts:
        text = one.text.partition("\n")[0]
        if mode == "choice":
            text = text.rpartition(". ")[0]
        first, second, *rest = options_from(options_json(one.options))
        assert {first.code, second.code} == {0.0, 1.0}
        assert [option.code for option in rest] == [None]
        # Who is mentioned first is listed first, and counts 1 with a condition and what is bad.
        assert (str(one.phrase) in first.text) is (one.order == "forward")
        assert first.code == float((one.order == "forward") is (one.keyed == "plain"))
        cells.setdefault((one.item, one.form, one.condition, one.family, one.order), []).append(
            text
        )
    assert {len(texts) for texts in cells.values()} == {2}
    assert all(len({*texts}) == 1 for texts in cells.values())


def test_mentions_stand_once_in_each_text_and_statements_are_about_each_person():
    instrument = load_instrument("two-people")
    for one in [*(rendered := render(mode_of(instrument, "span"))).prompts, *rendered.controls]:
        passage, question = one.text.split("\n")
        assert question.startswith("Who ")
        for option in one.options[:2]:
            assert passage.count(option.text) == 1
    for one in render(mode_of(instrument, "entailment")).prompts:
        first, second = (option.text for option in one.options[:2])
        assert first.startswith("The person who ")
        assert first != second
        # After both people the same is said.
        assert first[::-1].split()[0] == second[::-1].split()[0]


def test_the_other_person_and_the_topics_do_not_depend_on_the_condition():
    content = load_instrument("two-people").content
    topics = Counter(item.dimension for item in content.items)
    assert topics == {"danger": 2, "trust": 2, "reliability": 2, "company": 2}
    forms = {form.text for one in content.conditions for form in one.forms}
    for item in content.items:
        assert not [form for form in forms if f" {form} " in f" {item.other} "]
        assert " not " not in f" {item.question} {item.opposite} "


def test_all_controls_stand_in_the_slot_of_every_text_as_conditions_do():
    """A quarter of them expect each answer of each kind; what decides is where conditions are."""
    for mode in modes_of(load_instrument("two-people")):
        items = mode.controls.items
        assert Counter(one.expected for one in items) == {"positive": 10, "negative": 10}
        rendered = render(mode)
        stems = {(one.wording, one.order) for one in rendered.prompts}
        for item in items:
            mine = [one for one in rendered.controls if one.item == item.id]
            assert {(one.wording, one.order) for one in mine} == stems
            assert all(item.slot in one.text and item.other in one.text for one in mine)


def test_a_server_is_asked_each_question_and_its_opposite_equally_often():
    form = mode_of(load_instrument("two-people"), "reply")
    prompts = render(form, PromptOptions(sample="balanced")).prompts
    assert len(prompts) == 8 * 150
    assert {*Counter((one.condition, one.form) for one in prompts).values()} == {8}
    for column in ("keyed", "order", "family"):
        found = Counter(getattr(one, column) for one in prompts)
        assert max(found.values()) - min(found.values()) <= 24


# Who is asked


def test_only_question_answering_and_inference_models_are_asked_by_default(tiny):
    notes = []
    told = Listener(note=notes.append)
    models = {
        "masked": str(tiny("bert")),
        "qa": str(tiny("bert", marks=True, max_position_embeddings=200)),
    }
    pairs = assign(
        list(models.values()), [], loading=LoadOptions(), options=AskOptions(limit=4), listener=told
    )
    asked = {pair.kind: [one.instrument.id for one in pair.questions] for pair in pairs}
    assert asked["qa"] == ["two-people/span"]
    assert "two-people/span" not in asked["masked"]
    # Who is not asked it by default hears nothing of it.
    of_masked = [note for note in notes if models["masked"] in note]
    assert of_masked
    assert not any("two-people" in note for note in of_masked)


# A slant that is known


@pytest.fixture(scope="module", params=["qa", "nli"])
def planted(request, few, tmp_path_factory):
    """Of a planted model: its kind, the run, and what was found."""
    kind, within = request.param, tmp_path_factory.mktemp(request.param)
    folder = make_planted(kind, within / "model", few)
    options = AskOptions(controls=False)
    loading = LoadOptions(trust_remote_code=True)
    run = within / "run"
    done = audit(
        [str(folder)],
        instruments=[str(few)],
        output=run,
        loading=loading,
        options=options,
        report=True,
    )
    return kind, folder, run, done


def test_a_planted_slant_is_found_exactly(planted):
    """Of the stigmatized, .9 of the picks are against the person; of others, half: .4 apart."""
    kind, _, run, _ = planted
    name = f"two-people/{MODES[kind]}"
    estimates = pl.read_parquet(run / "estimates.parquet")
    mine = estimates.filter(pl.col("mode") == MODES[kind], pl.col("quantity") == "code")
    (gap,) = mine.filter(pl.col("kind") == "groups").to_dicts()
    assert (gap["first"], gap["second"]) == ("stigmatized", "non-stigmatized")
    assert gap["mean_first"] == pytest.approx(PICKED, abs=1e-5), name
    assert gap["mean_second"] == pytest.approx(0.5, abs=1e-5)
    assert gap["difference"] == pytest.approx(PICKED - 0.5, abs=1e-5)
    for presentation in ("order", "keying"):
        (row,) = mine.filter(pl.col("kind") == presentation).to_dicts()
        assert row["difference"] == pytest.approx(0, abs=1e-5)


def test_what_is_no_pick_is_kept_and_bounds_show_it(planted):
    kind, folder, run, _ = planted
    answers = read_answers(
        run, "choices", model=str(folder), instrument=f"two-people/{MODES[kind]}"
    )
    prompts = read_prompts(run)
    assert answers.height == 3 * prompts.height
    scores = pl.read_parquet(run / "scores.parquet")
    first = prompts.filter(pl.col("group") == "stigmatized")["prompt_id"][0]
    mine = scores.filter(pl.col("prompt_id") == first)
    value = dict(mine.select("quantity", "value").rows())
    if kind == "nli":
        people, neutral = ON_PEOPLE / 2, 1 - CONTRADICTED - ON_PEOPLE / 2
        assert value["no-answer"] == pytest.approx(neutral, abs=1e-6)
        assert value["elsewhere"] == pytest.approx(CONTRADICTED, abs=1e-6)
        assert value["lowest"] == pytest.approx(PICKED * people, abs=1e-6)
        assert value["highest"] == pytest.approx(PICKED * people + 1 - people, abs=1e-6)
    else:
        # Two spans of a token each, and the one from the first of them to the second.
        across = math.sqrt(PICKED * (1 - PICKED))
        assert value["elsewhere"] == pytest.approx(across / (1 + across), abs=1e-5)
        assert value["lowest"] == pytest.approx(PICKED / (1 + across), abs=1e-5)


def test_the_same_command_asks_nothing_again(planted, few):
    kind, folder, run, done = planted
    before = json.loads((run / "manifest.json").read_text())
    again = audit(
        [str(folder)], instruments=[str(few)], output=run,
        loading=LoadOptions(trust_remote_code=True), options=AskOptions(controls=False),
    )  # fmt: skip
    assert [one.asked_now for one in again.asked] == [0]
    assert sum(one.asked_now for one in done.asked) > 0
    entry = json.loads((run / "manifest.json").read_text())["models"][str(folder)]
    assert entry == before["models"][str(folder)]
    assert entry["kind"] == kind
    assert entry["weights_sha256"]
    assert entry["tokenizer_sha256"]


def test_every_command_takes_the_run(planted, few, tmp_path):
    kind, folder, run, _ = planted
    shown = goffman("show", run).stdout
    assert f"two-people/{MODES[kind]}" in shown
    assert "or the one with a condition, whatever" in (run / "report.html").read_text(
        encoding="utf-8"
    )
    shutil.copytree(run, tmp_path / "again")
    compared = goffman("compare", run, tmp_path / "again", "--output", tmp_path / "c.html")
    assert compared.returncode == 0, compared.stderr
    assert goffman("stress", run).returncode == 0
    for form in ("tables", "paper"):
        done = goffman("export", run, "--to", form, "--output", tmp_path / form)
        assert done.returncode == 0, done.stderr
    dry = goffman("audit", folder, "--instrument", few, "--dry-run", "--trust-remote-code")
    assert f"two-people/{MODES[kind]}" in dry.stdout + dry.stderr


# A model that heeds nothing


def test_a_model_that_heeds_nothing_has_a_mean_code_of_one_half(few, tiny, tmp_path):
    """Longer mentions have more spans; the opposite question has the same mentions."""
    source = tiny("bert", marks=True, max_position_embeddings=200)
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(source)
    with torch.no_grad():
        model.qa_outputs.weight.zero_()
        model.qa_outputs.bias.zero_()
    model.save_pretrained(tmp_path / "flat")
    transformers.AutoTokenizer.from_pretrained(source).save_pretrained(tmp_path / "flat")
    flat = load(str(tmp_path / "flat"), kind="qa")
    form = mode_of(load_instrument(few), "span")
    prompts = render(form).prompts
    picks = flat.pick_batch(flat.encode([one.asked for one in prompts]))
    shares = {}
    codes = {}
    for one, (first, second, _) in zip(prompts, picks, strict=True):
        share = first / (first + second)
        shares.setdefault(str(one.form), []).append(float(share))
        code = share if one.options[0].code else 1 - share
        codes.setdefault((one.condition, one.form), []).append(float(code))
    # The mentions do differ in length.
    assert max(map(max, shares.values())) > 0.6
    np.testing.assert_allclose([np.mean(some) for some in codes.values()], 0.5, atol=1e-6)
