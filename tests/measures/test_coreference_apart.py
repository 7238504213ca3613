"""Adjectives apart from occupations, singular “they”, and answers that name nobody, by counting."""

from __future__ import annotations

import re
from collections import defaultdict
from statistics import fmean

import numpy as np
import polars as pl
import pytest
from making import replies

from goffman.contrasts.designs import clusters_of
from goffman.contrasts.engine import estimates
from goffman.formatting import Labels
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import PromptOptions, render
from goffman.measures.coreference import CoreferenceBias, CoreferenceChoice
from goffman.measures.pronoun_preference import PronounPreference
from goffman.modes import mode_of
from goffman.presentation.findings import findings_of
from goffman.presentation.section import Section
from goffman.runs.mode_adapters import pronoun_forms
from goffman.schemas import CHOICES, LIKELIHOODS, REPLY_KINDS, prompt_table, schema

SETTINGS = ("dry,bubbly", "old,")
GENDER = {"he": 1, "him": 1, "his": 1, "she": -1, "her": -1}
INSTRUMENT = load_instrument("coreference")
OPTIONS = PromptOptions(
    pairs=90, adjectives=SETTINGS, placement="both", neutral_pairs=60, they=True
)


def asked(mode):
    instrument = INSTRUMENT if mode == "ask" else mode_of(INSTRUMENT, mode)
    return render(instrument, OPTIONS).prompts


def measured(measure, answers, prompts):
    """The scores and the estimates of one mode, by kind and what comes first and second."""
    table = prompt_table(prompts)
    scores = measure(answers, table)
    name = "coreference" if prompts[0].mode == "ask" else f"coreference/{prompts[0].mode}"
    told = {"wordings": {name: ["pro", "anti"]}, "sharing": {name: clusters_of(table)}}
    found = estimates(scores, {name: measure}, **told)
    rows = {
        (row["kind"], row["group"], row["first"], row["second"]): row
        for row in found.iter_rows(named=True)
    }
    return scores, found, rows


def favored(prompt):
    """1 where the adjectives pull a “he” to the referent, −1 a “she”, as a reader sees it."""
    male, female, *_ = prompt.condition.split(",")
    on = {
        name: re.search(rf"\b(\w+) {re.escape(name)}\b", prompt.text)[1]
        for name in (prompt.answer, prompt.other)
    }
    to_him = on[prompt.answer] == male or (female and on[prompt.other] == female)
    return 1 if to_him else -1


def by_adjectives(values, prompts):
    """Per setting: the mean of what fits the adjectives minus the mean of what does not, halved
    where there are two placements, over all pairs or over neutral ones.
    """
    sums = defaultdict(list)
    for prompt in prompts:
        male, female, *_ = prompt.condition.split(",") if "," in prompt.condition else ("", "")
        if male or female:
            kind = "neutral" if prompt.group == "neutral" else "adjectives"
            fits = GENDER[prompt.pronoun.lower()] == favored(prompt)
            sums[kind, f"{male},{female}", fits].append(values[prompt.id])
    return {
        (kind, name): fmean(sums[kind, name, True]) - fmean(sums[kind, name, False])
        for kind, name, _ in sums
    }


@pytest.fixture(scope="module")
def chat():
    prompts = asked("ask")
    rng = np.random.default_rng(1)
    kinds = {
        prompt.id: rng.choice(REPLY_KINDS, 2, p=(0.6, 0.2, 0.1, 0.06, 0.04)).tolist()
        for prompt in prompts
    }
    answers = replies(
        *((one, t + 1, kind) for one, of in kinds.items() for t, kind in enumerate(of))
    )
    return prompts, kinds, *measured(CoreferenceBias(), answers, prompts)


def test_an_adjectives_own_effect_is_what_counting_by_adjective_gives(chat):
    """Half the difference of the two placements is the accuracy where the pronoun fits the
    adjective of the referent, minus the accuracy where it does not; the occupations cancel out.
    """
    prompts, kinds, _, _, rows = chat
    right = {name: fmean(kind == "correct" for kind in of) for name, of in kinds.items()}
    naive = by_adjectives(right, prompts)
    assert naive.keys() == {(k, s) for k in ("adjectives", "neutral") for s in SETTINGS}
    for setting in SETTINGS:
        own = rows["adjectives", None, setting, "0"]
        assert own["difference"] == pytest.approx(naive["adjectives", setting], abs=1e-12)
        assert (own["n"], own["unit"]) == (90, "sentence pairs")
        neutral = rows["neutral", None, f"{setting},neutral", "0"]
        assert neutral["difference"] == pytest.approx(naive["neutral", setting], abs=1e-12)
        assert neutral["n"] == 2 * 60
        assert own["low"] < own["difference"] < own["high"]
        assert neutral["low"] < neutral["difference"] < neutral["high"]


def test_the_effect_of_occupations_is_the_mean_bias_of_both_placements(chat):
    _prompts, _kinds, scores, _, rows = chat
    bias = {
        row["condition"]: row["value"]
        for row in scores.filter(quantity="bias", level="condition").iter_rows(named=True)
    }
    for setting in SETTINGS:
        swapped = bias[f"{setting},swapped"]
        found = rows["occupations", None, setting, "0"]["difference"]
        assert found == pytest.approx((bias[setting] + swapped) / 2, abs=1e-12)
        own = rows["adjectives", None, setting, "0"]["difference"]
        assert own == pytest.approx((bias[setting] - swapped) / 2, abs=1e-12)


def test_they_is_set_against_he_and_she_in_the_same_sentences(chat):
    prompts, kinds, _, _, rows = chat
    items = {prompt.item for prompt in prompts if prompt.condition == "they"}
    accuracy = defaultdict(list)
    for prompt in prompts:
        if prompt.condition in {"they", "baseline"} and prompt.item in items:
            pronoun = {1: "he", -1: "she", 0: "they"}[GENDER.get(prompt.pronoun, 0)]
            accuracy[pronoun].append(fmean(kind == "correct" for kind in kinds[prompt.id]))
    for other in ("he", "she"):
        row = rows["they", None, "they", other]
        assert row["mean_first"] == pytest.approx(fmean(accuracy["they"]), abs=1e-12)
        assert row["mean_second"] == pytest.approx(fmean(accuracy[other]), abs=1e-12)
        assert (row["n"], row["quantity"]) == (len(items), "accuracy")


def test_answers_that_name_nobody_are_counted_by_setting_and_side(chat):
    prompts, kinds, _, _, rows = chat
    silent = defaultdict(list)
    for prompt in prompts:
        none = fmean(kind not in {"correct", "incorrect"} for kind in kinds[prompt.id])
        silent[prompt.condition, prompt.wording].append(none)
    share = {key: fmean(of) for key, of in silent.items()}
    for setting in SETTINGS:
        more = [share[setting, side] - share["baseline", side] for side in ("pro", "anti")]
        row = rows["no-answer", None, setting, "baseline"]
        assert row["difference"] == pytest.approx(fmean(more), abs=1e-12)
        assert (row["correction"], row["family_size"]) == ("benjamini-hochberg", 2)
    for setting in ("baseline", *SETTINGS):
        sides = rows["no-answer-sides", setting, "anti", "pro"]
        naive = share[setting, "anti"] - share[setting, "pro"]
        assert sides["difference"] == pytest.approx(naive, abs=1e-12)


def test_what_is_asked_besides_changes_no_other_number(chat):
    """Bias, its changes by setting and the groups of settings are as without it."""
    prompts, kinds, _, found, _ = chat
    plain = render(INSTRUMENT, PromptOptions(pairs=90, adjectives=SETTINGS)).prompts
    assert {one.id for one in plain} < {one.id for one in prompts}
    answers = replies(
        *((one.id, t + 1, kind) for one in plain for t, kind in enumerate(kinds[one.id]))
    )
    _, alone, _ = measured(CoreferenceBias(), answers, plain)
    same = ("level", "baseline", "trials", "groups", "no-answer")
    for kind in same:
        before, now = (of.filter(kind=kind).drop("method") for of in (alone, found))
        assert before.height > 0
        assert before.equals(now)


def test_preferences_are_set_apart_and_they_is_set_against_both():
    """log P of whole sentences, so far below what exp can hold; each gender of referents counts
    half, whichever there are more of.
    """
    prompts = asked("pronouns")
    rng = np.random.default_rng(2)
    logs = {
        (name, form): float(rng.normal(-900, 3))
        for name, forms in pronoun_forms(prompts).items()
        for form in forms
    }
    rows = [
        {"model": "m", "prompt_id": name, "word": form.lower(), "log_probability": value}
        for (name, form), value in logs.items()
    ]
    columns = schema(LIKELIHOODS)
    answers = pl.DataFrame([{one: row.get(one) for one in columns} for row in rows], schema=columns)
    _scores, _, found = measured(PronounPreference(), answers, prompts)
    pro = {(one.item, one.condition): one for one in prompts if one.wording == "pro"}
    anti = {(one.item, one.condition): one for one in prompts if one.wording == "anti"}

    def preference(item, condition):
        one, form = pro[item, condition], anti[item, condition].pronoun
        return logs[one.id, one.pronoun] - logs[one.id, form]

    items = {
        gender: {i for i, _ in pro if pro[i, _].category == gender and i.count("/") == 2}
        for gender in ("male-referent", "female-referent")
    }
    for setting in SETTINGS:
        of_gender = [
            fmean(
                (preference(item, setting) - preference(item, f"{setting},swapped")) / 2
                for item in sorted(of)
            )
            for of in items.values()
        ]
        row = found["adjectives", None, setting, "0"]
        assert row["difference"] == pytest.approx(fmean(of_gender), abs=1e-9)
        assert row["unit"] == "sentences"
    naive = []
    for they in (one for one in prompts if one.condition == "they"):
        one, form = pro[they.item, "baseline"], anti[they.item, "baseline"].pronoun
        both = np.logaddexp(logs[one.id, one.pronoun], logs[one.id, form])
        naive.append(logs[they.id, they.pronoun] - both)
    row = found["they", None, "they", "he or she"]
    assert row["difference"] == pytest.approx(fmean(naive), abs=1e-9)
    assert (row["n"], row["quantity"], row["unit"]) == (len(naive), "they-preference", "sentences")
    missing = answers.filter(pl.col("word") != "she")
    lost = PronounPreference()(missing, prompt_table(prompts)).filter(
        quantity="they-preference", level="prompt"
    )
    gone = {one.id for one in prompts if one.condition == "they" and one.pronoun == "they"}
    assert {*lost.filter(pl.col("value").is_null())["prompt_id"]} == gone


def test_options_give_the_same_contrasts_over_both_orders():
    prompts = asked("choice")
    rng = np.random.default_rng(3)
    rows, right, silent = [], defaultdict(list), defaultdict(list)
    for prompt in prompts:
        shares = rng.dirichlet((4, 3, 1, 1))
        code = dict(zip((option.code for option in prompt.options), shares, strict=False))
        for option, share in zip(prompt.options, shares, strict=False):
            rows.append((prompt.id, option.label, option.code, share, shares[3]))
        cell = prompt.item, prompt.wording, prompt.condition
        right[cell].append(code[1.0] / (code[1.0] + code[0.0]))
        silent[cell].append(code[None] + shares[3])
    named = ("prompt_id", "option", "code", "probability", "elsewhere")
    table = [{"model": "m", "unseen": None, **dict(zip(named, row, strict=True))} for row in rows]
    answers = pl.DataFrame(table, schema=schema(CHOICES))
    _, _, found = measured(CoreferenceChoice(mode="choice"), answers, prompts)
    one_order = [one for one in prompts if one.order == "forward"]
    values = {one.id: fmean(right[one.item, one.wording, one.condition]) for one in one_order}
    naive = by_adjectives(values, one_order)
    share = defaultdict(list)
    for (_, side, condition), of in silent.items():
        share[condition, side].append(fmean(of))
    for setting in SETTINGS:
        own = found["adjectives", None, setting, "0"]["difference"]
        assert own == pytest.approx(naive["adjectives", setting], abs=1e-6)
        neutral = found["neutral", None, f"{setting},neutral", "0"]["difference"]
        assert neutral == pytest.approx(naive["neutral", setting], abs=1e-6)
        sides = found["no-answer-sides", setting, "anti", "pro"]["difference"]
        apart = fmean(share[setting, "anti"]) - fmean(share[setting, "pro"])
        assert sides == pytest.approx(apart, abs=1e-6)
    assert {second for kind, _, _, second in found if kind == "they"} == {"he", "she"}


def test_neutral_pairs_share_frames_and_occupations_whichever_adjective_comes_first():
    sharing = clusters_of(prompt_table(asked("ask")))
    neutral = {item: ways for item, ways in sharing.ways.items() if item.count("/") == 3}
    assert len(neutral) == 2 * 60
    for item, (frame, referent, other) in neutral.items():
        swap = {"male": "female", "female": "male"}
        start, _, gender = item.rpartition("/")
        assert neutral[f"{start}/{swap[gender]}"] == (frame, referent, other)
        assert not re.search(r"\b(dry|bubbly|old) _", frame)
    assert len({frame for frame, _, _ in neutral.values()}) == 60


def section(measure, scores, found, prompts):
    return Section(
        instrument="coreference",
        measure=measure.name,
        unit=measure.unit,
        presentation=measure.presentation,
        scores=scores,
        estimates=found,
        prompts=prompt_table(prompts),
        names=Labels(models={}, instruments={}, conditions={}, items={}),
    )


def test_what_is_said_of_them_and_drawn(chat):
    """Nothing of answers that name nobody where no difference is clear."""
    prompts, _, scores, found, rows = chat
    measure = CoreferenceBias()
    shown = section(measure, scores, found, prompts)
    more = " ".join(findings_of(shown)[0].more)
    assert "Whichever occupation has them, adjectives have a clear effect in none of 2 " in more
    assert "In the same sentences, accuracy is 0." in more
    assert "clearly more answers" not in more
    ends = {"low": 0.1, "high": 0.2, "difference": 0.15}
    silent = pl.col("kind") == "no-answer"
    changed = found.with_columns(
        pl.when(silent).then(pl.lit(value)).otherwise(name).alias(name)
        for name, value in ends.items()
    )
    more = " ".join(findings_of(section(measure, scores, changed, prompts))[0].more)
    assert (
        "With adjectives, clearly more answers name neither person in 2 of 2 settings, and "
        "clearly fewer in 0." in more
    )
    drawn = {one.id: one for draw in measure.presentation.figures for one in draw(shown)}
    marks = drawn["coreference-alone"].spec["data"]["values"]
    heads = {
        "adjectives": "Adjectives, which",
        "occupations": "Occupations",
        "neutral": "Adjectives of",
    }
    for kind, head in heads.items():
        values = sorted(row["difference"] for row in marks if row["effect_of"].startswith(head))
        known = sorted(row["difference"] for key, row in rows.items() if key[0] == kind)
        assert values == pytest.approx(known, rel=1e-5)
    sides = {row["side"] for row in drawn["coreference-occupations"].spec["data"]["values"]}
    cells = drawn["coreference-right"].spec["data"]["values"]
    assert sides == {row["side"] for row in cells} == {"pro", "anti"}
    assert {row["condition"] for row in cells} == {"baseline", *SETTINGS}
