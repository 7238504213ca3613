"""What words mean: the shipped ratings, whose rating counts, and what is no word at all."""

from __future__ import annotations

import csv
import hashlib
import time
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goffman.errors import LexiconError, RunError
from goffman.lexicons.attitude import (
    ATTITUDES,
    BUILT_IN,
    KINDS,
    OF_KINDS,
    PEOPLE,
    SHIPPED,
    fold,
    load_attitudes,
    no_word,
    read_ratings,
)
from goffman.rating.agreement import cohen_kappa, confusion


def table(words, *, items=None, wordings=None):
    """Fills, and the prompts that they answer: one prompt a fill."""
    count = len(words)
    ids = [str(number) for number in range(count)]
    fills = pl.DataFrame({"prompt_id": ids, "word": words, "probability": [0.5] * count})
    prompts = pl.DataFrame(
        {"prompt_id": ids, "item": items or ["i"] * count, "wording": wordings or ["w"] * count}
    )
    return fills, prompts


def labels(attitudes, words, **where):
    return attitudes.label(*table(words, **where))["label"].to_list()


def file(tmp_path, text, name="mine.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_ratings_are_as_their_readme_says():
    with SHIPPED.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert len(rows) == 1764
    words = [row["word"] for row in rows]
    assert words == sorted(set(words))
    assert all(word == fold(word) for word in words)
    assert Counter(row["label"] for row in rows) == {
        "positive": 448,
        "negative": 658,
        "neutral": 121,
        "irrelevant": 537,
    }
    assert sum(row["rating_1"] != row["rating_2"] for row in rows) == 81
    assert all(row["label"] in (row["rating_1"], row["rating_2"]) for row in rows)
    codes = [[ATTITUDES.index(row[name]) for row in rows] for name in ("rating_1", "rating_2")]
    kappa = cohen_kappa(confusion(*codes, categories=4))
    assert [round(value, 3) for value in (kappa.value, kappa.low, kappa.high)] == [
        0.934,
        0.921,
        0.948,
    ]
    readme = (SHIPPED.parent / "README.md").read_text(encoding="utf-8")
    assert "κ = .934 (95% interval .921 to .948" in readme
    assert "**Not a human panel.**" in readme


def test_the_kinds_of_negative_words_are_as_their_readme_says():
    with SHIPPED.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    negative = [row for row in rows if row["label"] == "negative"]
    assert not any(row[name] for row in rows if row not in negative for name in OF_KINDS)
    assert Counter(row["kind"] for row in negative) == {
        "rejection": 554,
        "difficulty": 72,
        "improbability": 32,
    }
    assert all(row["kind"] in (row["kind_1"], row["kind_2"]) for row in negative)
    assert sum(row["kind_1"] != row["kind_2"] for row in negative) == 8
    codes = [[KINDS.index(row[name]) for row in negative] for name in OF_KINDS[1:]]
    kappa = cohen_kappa(confusion(*codes, categories=3))
    assert [round(v, 3) for v in (kappa.value, kappa.low, kappa.high)] == [0.956, 0.925, 0.986]
    readme = (SHIPPED.parent / "README.md").read_text(encoding="utf-8")
    assert "554 of rejection, 72 of difficulty, 32 of improbability" in readme
    assert "κ = .956 (95% interval .925 to .986)" in readme


def test_the_ratings_of_people_are_as_their_readme_says(published: Path):
    rows, ours = (
        {row["word"]: row for row in read_ratings(path)} for path in (BUILT_IN[PEOPLE], SHIPPED)
    )
    with (published / "mei2023" / "human_ratings.csv").open(encoding="utf-8") as opened:
        source = {row["word"]: row["label"] for row in csv.DictReader(opened)}
    assert {word: row["label"] for word, row in rows.items()} == source
    counts = Counter(row["label"] for row in rows.values())
    assert [counts[label] for label in ATTITUDES] == [178, 165, 32, 68]
    negative = [row["kind"] for row in rows.values() if row["label"] == "negative"]
    assert all(negative)
    assert sum(bool(row["kind"]) for row in rows.values()) == 165
    both = [(rows[word]["label"], ours[word]["label"]) for word in rows.keys() & ours.keys()]
    assert len(both) == 389
    assert not {("positive", "negative"), ("negative", "positive")} & {*both}
    codes = [[ATTITUDES.index(label) for label in side] for side in zip(*both, strict=True)]
    assert round(cohen_kappa(confusion(*codes, categories=4)).value, 2) == 0.83


def test_people_count_before_language_models_and_a_name_stands_for_either_alone():
    fills, prompts = table(["surprising", "noble", "nice"])
    every = load_attitudes().label(fills, prompts)
    assert every["label"].to_list() == ["negative", "positive", "positive"]
    assert every["rater"].to_list() == ["people", "language models", "people"]
    people = load_attitudes([Path(PEOPLE)])
    assert [source.file for source in people.sources] == [PEOPLE]
    assert people.label(fills, prompts)["label"].to_list() == ["negative", None, "positive"]
    models = load_attitudes([Path("shipped")])
    assert models.label(fills, prompts)["label"].to_list() == ["neutral", "positive", "positive"]
    assert models.label(fills, prompts)["rater"].to_list() == ["language models"] * 3


def test_kinds_are_told_only_where_every_negative_word_has_one(tmp_path):
    fills, prompts = table(["Hard", "unlikely", "wrong", "nice", "dull"])
    assert load_attitudes().label(fills, prompts)["kind"].to_list() == [
        "difficulty",
        "improbability",
        "rejection",
        None,
        "rejection",
    ]
    plain = file(tmp_path, "word,label\nnice,negative\n")
    assert "kind" not in load_attitudes([plain]).label(fills, prompts).columns
    own = file(tmp_path, "word,label,kind\nnice,negative,difficulty\ndull,neutral,\n")
    assert load_attitudes([own]).label(fills, prompts)["kind"].to_list() == [
        "difficulty",
        "improbability",
        "rejection",
        "difficulty",
        None,
    ]
    wrong = file(tmp_path, "word,label,kind\nnice,negative,dificulty\n")
    with pytest.raises(LexiconError, match="kind is 'dificulty'"):
        load_attitudes([wrong])


def test_an_unknown_word_is_unrated_never_irrelevant():
    fills, prompts = table([" likely", "UNLIKELY ", "Zyxwv", "the", "!", "##ing"])
    labelled = load_attitudes().label(fills, prompts)
    assert labelled.drop("label", "rated", "rater", "kind").equals(fills)
    assert labelled["label"].to_list() == [
        "positive",
        "negative",
        None,
        "irrelevant",
        "irrelevant",
        "irrelevant",
    ]
    assert labelled["rated"].to_list() == [True, True, False, True, True, True]


@pytest.mark.parametrize(
    "token",
    ["", " ", "!", "...", "1", "2,000", "½", "$", "+", "^", "##ing", "frie@@", "<unk>", "</s>", "[UNK]", "[no token 7]", "<extra3>", "\ufffd", "a\ufffd", "a\x00b", "\n"],
)  # fmt: skip
def test_what_can_be_no_word_is_irrelevant(token):
    assert no_word(token)
    assert labels(load_attitudes(), [token]) == ["irrelevant"]


@pytest.mark.parametrize("token", ["a", "Zürich", "ing", "c++", "👍", "1st", "don't", "ё", "<b>x"])
def test_what_may_be_a_word_is_left_to_raters(token):
    assert not no_word(token)


def test_a_user_may_rate_what_can_be_no_word(tmp_path):
    mine = load_attitudes([file(tmp_path, "word,label\n!,negative\n")])
    assert labels(mine, ["!", "?"]) == ["negative", "irrelevant"]


def test_users_ratings_override_shipped_ones_and_later_files_earlier_ones(tmp_path):
    one = file(tmp_path, "word,label\nLikely,negative\nzyxwv,neutral\n", "one.csv")
    two = file(tmp_path, "word,item,wording,label\nzyxwv,,,positive\nhard,i,,neutral\n", "two.csv")
    words = ["likely", "zyxwv", "hard", "easy"]
    assert labels(load_attitudes([one]), words) == ["negative", "neutral", "negative", "positive"]
    assert labels(load_attitudes([one, two]), words) == [
        "negative",
        "positive",
        "neutral",
        "positive",
    ]
    assert labels(load_attitudes([one, two]), ["hard"], items=["other"]) == ["negative"]
    assert labels(load_attitudes([two, one]), ["zyxwv"]) == ["neutral"]


def test_which_files_were_used_is_said(tmp_path):
    mine = file(tmp_path, "word,label\nzyxwv,neutral\n")
    shipped, people, own = load_attitudes([mine]).sources
    assert (shipped.file, shipped.ratings) == ("shipped", 1764)
    assert (people.file, people.ratings) == (PEOPLE, 443)
    assert own.entry() == {
        "file": str(mine),
        "sha256": hashlib.sha256(mine.read_bytes()).hexdigest(),
        "ratings": 1,
    }


def naive(files, word, item, wording):
    """The rule of the module's docstring, read literally."""
    for ratings in reversed(files):
        for key in ((item, wording), (item, ""), ("", wording), ("", "")):
            if (word, *key) in ratings:
                return ratings[(word, *key)]
    return None


few = st.sampled_from(["", "a", "b"])
ratings_of_a_file = st.dictionaries(
    st.tuples(st.sampled_from(["x", "y"]), few, few), st.sampled_from(ATTITUDES), min_size=1
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ratings_of_a_file, min_size=1, max_size=3))
def test_the_last_file_and_in_it_the_most_specific_rating_wins(tmp_path_factory, files):
    folder = tmp_path_factory.mktemp("ratings")
    paths = []
    for number, ratings in enumerate(files):
        lines = [",".join([*key, label]) for key, label in ratings.items()]
        text = "word,item,wording,label\n" + "".join(f"{line}\n" for line in lines)
        paths.append(file(folder, text, f"{number}.csv"))
    attitudes = load_attitudes(paths, shipped=False)
    places = [(w, i, o) for w in "xyz" for i in "abc" for o in "abc"]
    words, items, wordings = map(list, zip(*places, strict=True))
    found = labels(attitudes, words, items=items, wordings=wordings)
    assert found == [naive(files, *place) for place in places]


def test_two_hundred_thousand_fills_take_under_a_second():
    rng = np.random.default_rng(1)
    shipped = pl.read_csv(SHIPPED)["word"].to_list()
    words = rng.choice([*shipped, *(f"new{number}" for number in range(3000))], 200_000).tolist()
    ids = [str(number % 4000) for number in range(200_000)]
    fills = pl.DataFrame({"prompt_id": ids, "word": words})
    asked = [str(number) for number in range(4000)]
    prompts = pl.DataFrame(
        {
            "prompt_id": asked,
            "item": [f"item-{int(number) % 7}" for number in asked],
            "wording": [f"wording-{int(number) % 4}" for number in asked],
        }
    )
    attitudes = load_attitudes()
    times = []
    for _ in range(3):
        start = time.process_time()
        attitudes.label(fills, prompts)
        times.append(time.process_time() - start)
    assert min(times) < 1


def test_a_fill_without_its_prompt_is_refused():
    fills, prompts = table(["likely", "hard"])
    with pytest.raises(RunError) as caught:
        load_attitudes().label(fills, prompts.head(1))
    assert str(caught.value) == (
        "1 fills answer a prompt that is not among the prompts given, so that its item and wording "
        "are not known. Give the prompts of the same run."
    )


@pytest.mark.parametrize(
    ("model", "least"),
    [("roberta-base", 0.99), ("distilbert", 0.99), ("bertweet-base", 0.99), ("XLNET", 0.96)],
)
def test_the_published_fills_are_rated(published, model, least):
    """Rated share of the probability; XLNet's files have their columns in another order."""
    paths = sorted((published / "mei2023" / "fills").glob(f"{model}*.csv"))
    assert len(paths) == 4
    rows = pl.concat(
        pl.read_csv(path).select("prompt", "predicted_word", "probs") for path in paths
    )
    # XLNet's lone space has become an empty cell.
    fills = rows.select(prompt_id="prompt", word=pl.col("predicted_word").fill_null(""), p="probs")
    assert fills.height == 42_000
    asked = fills.select("prompt_id", item=pl.lit("i"), wording=pl.lit("w")).unique()
    labelled = load_attitudes().label(fills, asked)
    share = labelled.filter("rated")["p"].sum() / labelled["p"].sum()
    assert share >= least
    assert share == pytest.approx(1, abs=1e-12)
