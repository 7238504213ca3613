"""Which words of a run are to be rated, in what order, in which sentences."""

from __future__ import annotations

import polars as pl
import pytest

from goffman.errors import InputError
from goffman.lexicons.attitudes import fold, load_attitudes, no_word
from goffman.lexicons.worklist import run_key, sentences_of, words_to_rate
from goffman.runs.folder import read_prompts
from goffman.runs.read import read_answers


def test_the_unrated_words_come_by_their_mass(answered):
    work = words_to_rate(answered, load_attitudes())
    fills = read_answers(answered, "fills")
    labelled = load_attitudes().label(fills, read_prompts(answered))
    masses = {}
    for word, p in labelled.filter(~pl.col("rated")).select("word", "probability").rows():
        masses[fold(word)] = masses.get(fold(word), 0) + p
    total = sum(fills["probability"].to_list())
    assert len(work.entries) > 40
    assert {entry.unit.word for entry in work.entries} == set(masses)
    for entry in work.entries:
        assert entry.mass == pytest.approx(masses[entry.unit.word] / total, rel=1e-5)
    found = [entry.mass for entry in work.entries]
    assert found == sorted(found, reverse=True)
    assert work.rated + sum(found) == pytest.approx(1)
    assert work.title == "tiny-run"


def test_each_word_stands_in_sentences_that_the_model_completed_with_it(answered):
    texts = dict(read_prompts(answered).select("prompt_id", "text").rows())
    fills = read_answers(answered, "fills")
    completed = {
        (texts[prompt], fold(word)) for prompt, word in fills.select("prompt_id", "word").rows()
    }
    for entry in words_to_rate(answered, load_attitudes()).entries:
        assert 1 <= len(entry.sentences) <= 3
        for sentence in entry.sentences:
            text = f"{sentence.before}<mask>{sentence.after}"
            assert (text, fold(sentence.word)) in completed
            assert fold(sentence.word) == entry.unit.word


def test_all_words_are_offered_on_request_but_what_is_none(answered):
    work = words_to_rate(answered, load_attitudes(), everything=True)
    words = {fold(word) for word in read_answers(answered, "fills")["word"] if not no_word(word)}
    assert {entry.unit.word for entry in work.entries} == words


def test_words_in_a_users_file_are_rated(answered, tmp_path):
    first, second = words_to_rate(answered, load_attitudes()).entries[:2]
    mine = tmp_path / "mine.csv"
    mine.write_text(f"word,label\n{first.unit.word},neutral\n")
    left = words_to_rate(answered, load_attitudes([mine]))
    assert left.entries[0].unit == second.unit


def test_sentences_of_given_words(answered):
    entry = words_to_rate(answered, load_attitudes()).entries[0]
    found = sentences_of(answered, [entry.unit.word, "nowhere"])
    assert found == {entry.unit.word: entry.sentences}


def test_the_key_is_the_runs_own(answered, run, tmp_path):
    assert run_key(answered) == run_key(run)


def test_an_instrument_without_fills_is_refused(answered):
    with pytest.raises(InputError) as caught:
        words_to_rate(answered, load_attitudes(), instruments=["social-distanse"])
    assert str(caught.value) == (
        f"{answered} has no fills of 'social-distanse'. It has fills of: social-distance. Did you "
        "mean 'social-distance'? Give one of these with --instrument."
    )


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(InputError) as caught:
        words_to_rate(tmp_path, load_attitudes())
    assert str(caught.value) == (
        f"{tmp_path} is not a run folder: it has no manifest.json. Make one with goffman audit."
    )
