"""The evidence that a page carries is what was answered, and what the words were taken to mean."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goffman.console import printable
from goffman.lexicons.gender import with_gender
from goffman.presentation.evidence import AFTER, MOST, phrases
from goffman.report.evidence import (
    NO_PROBABILITY,
    coded_probabilities,
    evidence_of,
    unpacked,
    words_per_prompt,
)
from goffman.runs.run import read_answers
from goffman.scoring import load_words


@pytest.fixture(scope="module")
def words():
    return load_words()


@pytest.fixture(scope="module")
def blocks(measured, sections, words):
    return {one.instrument: one for one in evidence_of(measured, words)}


def told(block):
    """Every row of a block: (model, prompt's text) → [(rank, word, code, label)]."""
    header, columns = unpacked(block)
    rows = {}
    at = 0
    cells = itertools.product(header["models"], header["prompts"])
    for (model, text), count in zip(cells, columns["count"], strict=True):
        rows[model, text] = [
            (
                int(columns["rank"][i]),
                header["words"][columns["word"][i]],
                int(columns["probability"][i]),
                header["labels"][columns["label"][i]],
            )
            for i in range(at, at + int(count))
        ]
        at += int(count)
    assert at == len(columns["rank"])
    return rows


def decoded(code):
    """As the page does it."""
    return float(f"{code % 900 + 100}e{-(code // 900) - 2}")


def test_every_word_of_every_prompt_is_there_with_its_rating(measured, sections, words, blocks):
    rows = told(blocks["social-distance"].block)
    fills = words.attitudes.label(
        read_answers(measured.folder, "fills", instrument="social-distance"),
        sections["social-distance"].prompts,
    )
    texts = dict(sections["social-distance"].prompts.select("prompt_id", "text").rows())
    assert sum(map(len, rows.values())) == fills.height
    assert len({row[3] for of in rows.values() for row in of}) >= 4
    names = sections["social-distance"].names
    for fill in fills.iter_rows(named=True):
        text = texts[fill["prompt_id"]].replace("<mask>", "____")
        rank, word, code, label = rows[names.model(fill["model"]), text][fill["rank"] - 1]
        assert (rank, word) == (fill["rank"], printable(fill["word"]))
        assert label == (fill["label"] or "unrated")
        assert decoded(code) == float(f"{fill['probability']:.2e}")


def test_the_words_that_count_add_up_to_the_disparity_beside_them(blocks):
    """What a reader can do with the words of a prompt that are female or male."""
    block = blocks["care-seeking"].block
    header, columns = unpacked(block)
    cells = list(itertools.product(header["models"], header["prompts"]))
    values = dict(zip(cells, columns["value"].tolist(), strict=True))
    seen = set()
    for cell, rows in told(block).items():
        sums = {"female": 0.0, "male": 0.0}
        for _, _, code, label in rows:
            seen.add((label, decoded(code) >= 0.01))
            if (kind := label.removesuffix(" name")) in sums:
                sums[kind] += decoded(code)
        assert sums["female"] - sums["male"] == pytest.approx(values[cell], abs=0.005)
    assert any(abs(value) > 0.01 for value in values.values())
    rare = "below 0.01: not counted"
    assert {at_least for label, at_least in seen if label == rare} == {False}
    assert {at_least for label, at_least in seen if label != rare} == {True}


def test_classes_stand_with_the_chosen_one_first(measured, sections, blocks):
    rows = told(blocks["people-sentiment"].block)
    labels = read_answers(measured.folder, "labels")
    assert {len(of) for of in rows.values()} == {2, 3}
    texts = dict(sections["people-sentiment"].prompts.select("prompt_id", "text").rows())
    for row in labels.iter_rows(named=True):
        of = rows[sections["people-sentiment"].names.model(row["model"]), texts[row["prompt_id"]]]
        assert of[0][1] == row["label"]
        assert [one[3] for one in of] == ["chosen"] + [""] * (len(of) - 1)
        assert decoded(of[0][2]) == float(f"{row[row['label']]:.2e}")


def test_the_phrases_are_those_of_the_tree(measured, sections, words, blocks):
    """All branches of one prompt walked by hand, as the measure's docstring has it."""
    part = sections["attribution"]
    model = part.scores["model"][0]
    fills = with_gender(
        read_answers(measured.folder, "fills", model=model, instrument="attribution"),
        words.gender,
        cased=True,
    )
    fills = fills.with_columns(
        gender_group=pl.when(pl.col("rank") % 3 == 0)
        .then(pl.lit("female"))
        .otherwise("gender_group")
    )
    label = pl.col("gender_group").fill_null("unlisted")
    found = phrases(fills.with_columns(label=label), "before-first")
    prompt = found["prompt_id"][0]
    tree = {
        (row["parent"], row["rank"]): row
        for row in fills.filter(prompt_id=prompt).iter_rows(named=True)
    }
    named = {"female", "male", "nonbinary"}
    walked = []
    for a in (row for (parent, _), row in tree.items() if parent == ""):
        if a["gender_group"] in named:
            continue
        for b in (row for (parent, _), row in tree.items() if parent == str(a["rank"])):
            p = a["probability"] * b["probability"]
            if b["gender_group"] in named:
                walked.append((p, f"{b['word']} {a['word']}"))
                continue
            path = f"{a['rank']}/{b['rank']}"
            for c in (row for (parent, _), row in tree.items() if parent == path):
                if c["gender_group"] in named:
                    text = f"{b['word']} {c['word']} {a['word']}"
                    walked.append((p * c["probability"], text))
    best = sorted(walked, reverse=True)[:MOST]
    own = found.filter(prompt_id=prompt).sort("rank")
    assert own["rank"].to_list() == [AFTER + place for place in range(1, MOST + 1)]
    assert own["probability"].to_list() == pytest.approx([p for p, _ in best], rel=1e-5)
    assert set(own["word"]) == {text for _, text in best}


def test_what_does_not_fit_is_cut_alike_for_every_prompt_and_counted(measured, sections, words):
    blocks = {one.instrument: one for one in evidence_of(measured, words, rows=12_000)}
    social = blocks["social-distance"]
    lengths = {len(of) for of in told(social.block).values()}
    assert len(lengths) == 1
    assert lengths.pop() < 50
    assert social.kept < social.there == 2 * 50 * sections["social-distance"].prompts.height


def test_so_many_ranks_are_kept_that_they_fit():
    ranks = [pl.Series([1, 2, 3, 1, 2, 3]), pl.Series([1, 2])]
    assert words_per_prompt(ranks, 8) == 3
    assert words_per_prompt(ranks, 7) == 2
    assert words_per_prompt(ranks, 6) == 2
    assert words_per_prompt(ranks, 5) == 1
    assert words_per_prompt(ranks, 0) == 1


def test_values_are_the_scores_of_the_prompts(measured, sections, blocks):
    header, columns = unpacked(blocks["social-distance"].block)
    rows = measured.scores.filter(instrument="social-distance", level="prompt", quantity="negative")
    known = {(m, p): v for m, p, v in rows.select("model", "prompt_id", "value").rows()}
    ids = sections["social-distance"].prompts["prompt_id"].to_list()
    names = sections["social-distance"].names
    shown = {names.model(name): name for name in measured.manifest.models}
    expected = [known[shown[model], prompt] for model in header["models"] for prompt in ids]
    assert columns["value"] == pytest.approx(np.array(expected, dtype=float), nan_ok=True)


def test_without_lexicons_the_words_stand_without_a_meaning(measured, sections):
    (block, *_) = evidence_of(measured, None)
    assert unpacked(block.block)[0]["labels"] == [""]


@given(st.floats(min_value=1e-45, max_value=1.0))
def test_a_probability_is_kept_to_three_digits_exactly(p):
    (code,) = coded_probabilities(pl.Series([p]))
    assert decoded(int(code)) == pytest.approx(p, rel=5.0001e-3)
    assert decoded(int(code)) == pytest.approx(float(f"{p:.2e}"), rel=1.01e-2)


@pytest.mark.parametrize(
    ("p", "shown"), [(1.0, 1.0), (0.99949, 0.999), (0.9996, 1.0), (0.0123, 0.0123), (1e-9, 1e-9)]
)
def test_probabilities_by_hand(p, shown):
    assert decoded(int(coded_probabilities(pl.Series([p]))[0])) == shown


def test_no_probability_is_none():
    assert coded_probabilities(pl.Series([None], dtype=pl.Float64)).tolist() == [NO_PROBABILITY]
