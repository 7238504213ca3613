"""Pronoun preference in what people read: its own figures, and the two pronouns as evidence."""

from __future__ import annotations

import math
import re

import polars as pl
import pytest
import torch
from test_browser import reading

import tiny_models
from goffman.pipeline import AskOptions, audit
from goffman.report.evidence import evidence_of, unpacked
from goffman.report.figures import figures_of
from goffman.report.load import read_run
from goffman.runs.run import read_answers
from goffman.scoring import load_words
from tiny_chat import make_causal

NAME = "coreference/pronouns"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of a masked and of a causal model, with its report."""
    torch.set_num_threads(1)
    words = [*tiny_models.PEOPLE, "he", "she", "him", "her", "his"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiny_models, "PEOPLE", words)
        masked = tiny_models.make("bert", tmp_path_factory.mktemp("masked"))
    causal = make_causal("gpt2", tmp_path_factory.mktemp("causal"), chat=False)
    run = tmp_path_factory.mktemp("run")
    prompts = {"coreference.pairs": 6, "coreference.adjectives": ["arrogant,responsive", "old,"]}
    options = AskOptions(modes=("pronouns",), controls=False, settings=prompts)
    models = [str(masked), str(causal)]
    audit(models, instruments=["coreference"], output=run, options=options, report=True)
    return run


@pytest.fixture(scope="module")
def run(folder):
    return read_run(folder)


def test_its_figures_stand_apart_from_those_of_coreference_bias(run):
    figures = {one.id: one for one in figures_of(run)}
    assert set(figures) == {
        "coreference-pronouns-against-baseline",
    }
    adjusted = "adjusted for the more frequent pronoun. Hollow marks: "
    assert adjusted in figures["coreference-pronouns-against-baseline"].description


def test_its_figures_have_the_means_and_differences_of_the_run(run):
    """Means are reckoned here from the prompts' own values, not read from the means' rows."""
    names = run.sections[NAME].names
    given = {names.model(name): name for name in run.manifest.models}
    figures = {one.id: one.spec["data"]["values"] for one in figures_of(run)}
    prompt_quantity = run.scores.filter(pl.col("value").is_not_null(), level="prompt")
    means = {}
    for model, name in given.items():
        for condition in ("baseline", "arrogant,responsive", "old,"):
            values = prompt_quantity.filter(model=name, condition=condition)["value"].to_list()
            assert len(values) == 6
            means[model, condition] = sum(values) / 6
    assert len(means) == 2 * 3
    changes = figures["coreference-pronouns-against-baseline"]
    assert len(changes) == 2 * 2
    ids = {"arrogant / responsive": "arrogant,responsive", "old / (none)": "old,"}
    for row in changes:
        model, setting = row["model"], ids[row["setting"]]
        expected = means[model, setting] - means[model, "baseline"]
        assert math.isclose(row["difference"], expected, rel_tol=1e-4, abs_tol=1e-7)
        assert row["low"] < row["difference"] < row["high"]


def test_both_pronouns_are_in_the_evidence_and_give_the_number(run):
    """From the page's own rows: log P of the one minus log P of the other is the value shown."""
    (evidence,) = evidence_of(run, load_words())
    header, columns = unpacked(evidence.block)
    start, checked = 0, 0
    for cell, count in enumerate(columns["count"]):
        rows = {
            header["labels"][columns["label"][at]]: at
            for at in range(start, start + int(count))
        }  # fmt: skip
        start += int(count)
        value = columns["value"][cell]
        assert {"stereotype", "against it"} <= set(rows)
        if math.isnan(value):
            continue
        logs = [_log(header, columns, rows[label]) for label in ("stereotype", "against it")]
        assert math.isclose(logs[0] - logs[1], value, abs_tol=0.02)  # three digits are kept
        checked += 1
    assert checked == 2 * 6 * 3


def _log(header, columns, at):
    """Of a masked model from the code of the probability; of a causal one as it is written."""
    word = header["words"][columns["word"][at]]
    if found := re.search(r": log P of the sentence (−?[\d.]+)$", word):
        return float(found[1].replace("−", "-"))
    code = int(columns["probability"][at])
    return math.log(float(f"{code % 900 + 100}e{-(code // 900) - 2}"))


def test_a_pronoun_outside_the_top_words_is_kept_too(run):
    (masked, *_) = run.manifest.models
    fills = read_answers(run.folder, "fills", model=masked, instrument=NAME)
    assert fills["rank"].null_count() > 0, "this model has every pronoun among its first words"
    (evidence,) = evidence_of(run, load_words(), rows=1)
    header, columns = unpacked(evidence.block)
    kept = int(columns["count"][: len(header["prompts"])].sum())
    assert kept >= 2 * len(header["prompts"])


def test_the_page_shows_each_setting_by_its_adjectives_and_the_title_of_the_instrument(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert '<h2 id="h-coreference/pronouns">“He” or “she”?</h2>' in page
    assert "Which pronoun a model prefers in sentences about two occupations. " in page
    examples = re.findall("<q>(.*?)</", page)
    assert len({*examples}) == len(examples) == 3
    assert '"arrogant / responsive"' in page


def test_the_evidence_has_each_sentence_once_and_says_what_its_signs_mean(browser, folder):
    with reading(browser, folder / "report.html") as tab:
        settings = tab.locator("#conditions .list")
        settings.get_by_role("option", name="arrogant / responsive, ").click()
        tab.get_by_role("button", name=re.compile("^Read all")).click()
        dialog = tab.locator("#evidence")
        dialog.locator(".prompt").first.wait_for()
        sentences = dialog.locator(".sentence").all_inner_texts()
        assert len(sentences) == len(set(sentences)) == 6
        legend = dialog.get_by_label("Symbols").locator("li").all_inner_texts()
        assert {*legend} == {"●\nstereotype", "■\nagainst it"}
        for card in dialog.locator(".prompt").all():
            assert card.locator(".is-stereotype").count() >= 1
            assert card.locator(".is-against").count() >= 1
