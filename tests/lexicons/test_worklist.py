"""Which words of a run are to be rated, in what order, in which sentences."""

from __future__ import annotations

import json

import polars as pl
import pytest

from goffman.errors import InputError
from goffman.lexicons.attitude import fold, load_attitudes, no_word
from goffman.rating.worklist import run_key, sentences_of, words_to_rate
from goffman.runs.run import read_answers, read_prompts


def test_the_unrated_words_come_by_their_mass(answered):
    work = words_to_rate(answered, load_attitudes(), offer="unrated")
    fills = read_answers(answered, "fills")
    labelled = load_attitudes().label(fills, read_prompts(answered))
    masses = {}
    for word, p in labelled.filter(~pl.col("rated")).select("word", "probability").rows():
        masses[fold(word)] = masses.get(fold(word), 0) + p
    total = sum(masses_of(answered).values())
    assert len(work.entries) > 40
    assert {entry.unit.word for entry in work.entries} == set(masses)
    for entry in work.entries:
        assert entry.mass == pytest.approx(masses[entry.unit.word] / total, rel=1e-5)
    found = [entry.mass for entry in work.entries]
    assert found == sorted(found, reverse=True)
    assert work.rated + sum(found) == pytest.approx(1)
    assert work.beyond == 0
    assert work.title == "tiny-run"


def masses_of(run):
    """Each word of a run with its part of the probability, computed naively."""
    masses = {}
    for word, p in read_answers(run, "fills").select("word", "probability").rows():
        if not no_word(word):
            masses[fold(word)] = masses.get(fold(word), 0) + p
    return masses


def test_the_fewest_words_that_make_up_four_fifths_of_the_probability_are_offered(answered):
    """Rated by language models or not: it is for people to say what they mean."""
    work = words_to_rate(answered, load_attitudes(shipped=False))
    masses = masses_of(answered)
    whole = sum(masses.values())
    offered = [entry.unit.word for entry in work.entries]
    carried = sum(masses[word] for word in offered)
    assert carried >= 0.8 * whole
    assert carried - masses[offered[-1]] < 0.8 * whole
    assert min(masses[word] for word in offered) >= max(
        mass for word, mass in masses.items() if word not in offered
    )
    assert work.words == len(masses) > len(offered)
    assert work.beyond == pytest.approx(1 - carried / whole, rel=1e-5)
    assert work.rated + work.beyond + sum(entry.mass for entry in work.entries) == pytest.approx(1)


@pytest.mark.parametrize("shipped", [False, True])
def test_what_the_users_own_file_knows_is_not_asked_but_counts_among_the_four_fifths(
    answered, tmp_path, shipped
):
    offer = "unrated" if shipped else "most"
    every = words_to_rate(answered, load_attitudes(shipped=shipped), offer=offer)
    mine = tmp_path / "mine.csv"
    mine.write_text(f"word,label\n{every.entries[0].unit.word},neutral\n")
    left = words_to_rate(answered, load_attitudes([mine], shipped=shipped), offer=offer)
    assert left.entries == every.entries[1:]
    assert left.rated == pytest.approx(every.rated + every.entries[0].mass)


def changed(run, change):
    """The run, with its manifest changed."""
    path = run / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))
    return run


def words_of(fills):
    return {fold(word) for word in fills["word"] if not no_word(word)}


def offered(run, attitudes):
    return {entry.unit.word for entry in words_to_rate(run, attitudes, offer="all").entries}


def test_only_words_that_the_measure_counts_are_offered(run):
    """A measure may take fewer words than are stored; but what is no word is never offered."""
    assert offered(run, load_attitudes()) == words_of(read_answers(run, "fills"))
    changed(run, lambda m: m["instruments"]["social-distance"]["measured"].update(top_k=3))
    first = read_answers(run, "fills").filter(pl.col("rank") <= 3)
    assert offered(run, load_attitudes(shipped=False)) == words_of(first)


def test_another_instrument_that_is_not_answered_to_the_end_is_no_hindrance(run):
    entry = {"table": "fills", "sentences": None, "rows": None, "parts": None}
    changed(run, lambda m: next(iter(m["answers"].values())).update({"care-seeking": entry}))
    assert words_to_rate(run, load_attitudes()).entries


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


def test_sentences_of_given_words_and_the_key_are_the_runs_own(answered, run):
    entry = words_to_rate(answered, load_attitudes()).entries[0]
    sentences = sentences_of(answered, [entry.unit.word, "nowhere"])
    assert sentences == {entry.unit.word: entry.sentences}
    assert run_key(answered) == run_key(run)


def test_what_has_no_filled_in_words_is_refused(answered, tmp_path):
    for folder, instruments, message in (
        (
            answered,
            ["social-distanse"],
            f"{answered} has no filled-in words for 'social-distanse'. Did you mean "
            "'social-distance'? It has some for: social-distance. Choose with --instrument.",
        ),
        (
            tmp_path,
            [],
            f"'{tmp_path}' is not a run, because it has no manifest.json. Give the folder that "
            "goffman audit wrote.",
        ),
    ):
        with pytest.raises(InputError) as refused:
            words_to_rate(folder, load_attitudes(), instruments=instruments)
        assert str(refused.value) == message
