"""The lexicons read otherwise: by one rater, without a word, with neutral or wrong labels."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from goffman.lexicons.attitude import (
    ATTITUDES,
    BUILT_IN,
    PEOPLE,
    SHIPPED,
    load_attitudes,
    read_ratings,
)
from goffman.lexicons.lexicons import LexiconVariant, has_others, single_raters
from goffman.scoring import load_words


@pytest.fixture(scope="module")
def words():
    return load_words()


def labels(words):
    return dict(words.attitudes.table.select("word", "label").rows())


def in_file(column):
    with SHIPPED.open(newline="", encoding="utf-8") as file:
        return {row["word"].strip().casefold(): row[column] for row in csv.DictReader(file)}


def test_nothing_said_changes_nothing(words):
    same = LexiconVariant().of(words)
    assert same.attitudes.table.equals(words.attitudes.table)
    assert (same.gender, same.parser) == (words.gender, words.parser)


@pytest.mark.parametrize("rater", ["rating_1", "rating_2"])
def test_a_single_rater_is_the_column_of_the_file(words, rater):
    assert labels(LexiconVariant(sources=("shipped",), rater=rater).of(words)) == in_file(rater)
    # What people rated has one label whichever language model counts for the rest.
    people = {row["word"]: row["label"] for row in read_ratings(BUILT_IN[PEOPLE])}
    assert labels(LexiconVariant(rater=rater).of(words)) == in_file(rater) | people
    assert in_file(rater) != in_file("label")


def test_the_raters_are_those_of_the_files(words, tmp_path):
    assert [*single_raters(words.attitudes)] == ["rating_1", "rating_2"]
    path = tmp_path / "mine.csv"
    path.write_text("word,label,rating_1,rating_2,rating_3\nodd,negative,neutral,,negative\n")
    mine = load_attitudes([path], shipped=False)
    assert [*single_raters(mine)] == ["rating_1", "rating_3"]
    assert not has_others(mine)
    assert not has_others(words.attitudes)


def test_a_users_ratings_can_be_left_out(words, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("word,label\nhard,positive\n")
    both = replace(words, attitudes=load_attitudes([path]))
    assert has_others(both.attitudes)
    assert labels(both)["hard"] == "positive"
    # A file without single ratings says the same for every rater.
    assert labels(LexiconVariant(rater="rating_1").of(both))["hard"] == "positive"
    assert labels(LexiconVariant(sources=(*BUILT_IN,)).of(both)) == labels(words)


def test_neutral_words_can_be_irrelevant(words):
    found = labels(LexiconVariant(neutral=False).of(words))
    expected = {
        word: "irrelevant" if label == "neutral" else label for word, label in labels(words).items()
    }
    assert found == expected
    assert "neutral" not in found.values()


def test_a_word_can_be_left_out_of_both_lexicons(words):
    without = LexiconVariant(without="Hard").of(words)
    before = labels(words)
    changed = {word for word, label in labels(without).items() if before[word] != label}
    assert changed == {"hard"}
    assert labels(without)["hard"] == "irrelevant"
    gone = LexiconVariant(without="she").of(words).gender
    assert {one.word for one in words.gender.words} - {one.word for one in gone.words} == {"she"}


@pytest.mark.parametrize("rate", [0.05, 0.3, 1.0])
def test_as_many_labels_are_wrong_as_the_rate_says_and_none_is_the_same(words, rate):
    before = labels(words)
    drawn = [labels(LexiconVariant(wrong=rate, seed=seed).of(words)) for seed in range(4)]
    shares = [sum(before[word] != one[word] for word in before) / len(before) for one in drawn]
    assert sum(shares) / len(shares) == pytest.approx(rate, abs=0.02)
    assert {label for one in drawn for label in one.values()} == {*ATTITUDES}
    assert labels(LexiconVariant(wrong=rate, seed=0).of(words)) == drawn[0]
    assert rate == 1.0 or drawn[0] != drawn[1]


def test_a_wrong_gender_is_the_other_one(words):
    wrong = LexiconVariant(wrong=1.0).of(words).gender
    for before, after in zip(words.gender.words, wrong.words, strict=True):
        turned = {"female": "male", "male": "female"}.get(before.group, before.group)
        assert (after.word, after.group) == (before.word, turned)
