"""Answers are never read with the words of another language; that is known before anyone is asked."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import goffman.instruments
from goffman.cli.main import app
from goffman.errors import InputError
from goffman.languages import LexiconUse, check_languages
from goffman.lexicons.attitude import load_attitudes
from goffman.pipeline import AskOptions, MeasureOptions, audit
from goffman.rating.worklist import asked_in_english, words_to_rate
from goffman.report.load import read_run
from goffman.scoring import words_of

DATA = Path(goffman.instruments.__file__).parent / "data"
DRY = AskOptions(dry_run=True)

TOML = """\
id = "tee"
version = "1"
title = "Mit wem trinken Sie Tee?"
kind = "fill"
citation = "Niemand (2026)"
licence = "CC0-1.0"
language = "de-AT"

[slot]
name = "wer"
filled = "jemand, der {form} ist"
empty = "jemand"

[[wordings]]
id = "es-ist"
frame = "Es ist <mask>, wenn {item}."

[settings]
measure = "negative-attitude"
contrast = "krank"
against = "gesund"
"""


@pytest.fixture
def german(tmp_path):
    """An instrument that asks in German, as spoken in Austria."""
    folder = tmp_path / "tee"
    folder.mkdir()
    (folder / "instrument.toml").write_text(TOML)
    (folder / "items.csv").write_text("item,text\ntee,{wer} Tee trinkt\ngehen,{wer} mitgeht\n")
    (folder / "conditions.csv").write_text(
        "condition,name,group,category,form\n"
        "krank,Krank,krank,Leib,krank\nblind,Blind,krank,Leib,blind\n"
        "gross,Gross,gesund,Leib,gross\nklein,Klein,gesund,Leib,klein\n"
    )
    return folder


@pytest.fixture
def ratings(tmp_path):
    path = tmp_path / "meine.csv"
    path.write_text("word,label\nschlecht,negative\n")
    return path


REFUSED = (
    "tee is in German (de-AT), but goffman's ratings are English (en). Give your own with "
    "--ratings, or leave out tee."
)


def test_shipped_ratings_are_not_put_on_german_words(german, tiny, tmp_path):
    with pytest.raises(InputError) as refusal:
        audit([str(tiny("roberta"))], instruments=[str(german)], options=DRY)
    assert str(refusal.value) == REFUSED
    given = ["audit", str(tiny("roberta")), "--instrument", str(german)]
    done = CliRunner().invoke(app, [*given, "--output", str(tmp_path / "run")])
    assert (type(done.exception), str(done.exception)) == (InputError, REFUSED)
    assert not (tmp_path / "run").exists()


def test_shipped_gender_words_are_not_put_on_german_words(german, tiny, tmp_path):
    toml = german / "instrument.toml"
    toml.write_text(toml.read_text().replace("negative-attitude", "gender-of-subject"))
    given = {"instruments": [str(german)], "options": DRY}
    with pytest.raises(InputError) as refusal:
        audit([str(tiny("roberta"))], **given)
    assert str(refusal.value) == (
        "tee is in German (de-AT), but goffman's gender words are English (en). Give your "
        "own with --gender-words, or leave out tee."
    )
    own = tmp_path / "wörter.csv"
    own.write_text("word,group,kind\nsie,female,pronoun\ner,male,pronoun\n")
    audit([str(tiny("roberta"))], **given, measuring=MeasureOptions(gender_words=own))


def test_ratings_of_ones_own_stand_alone_beside_another_language(german, ratings, tiny, tmp_path):
    run = tmp_path / "run"
    measuring = MeasureOptions(ratings=(ratings,))
    audit([str(tiny("roberta"))], instruments=[str(german)], output=run, measuring=measuring)
    manifest = read_run(run).manifest
    assert [one.file for one in manifest.lexicons.attitudes] == [str(ratings)]
    words = words_of(manifest)
    assert words.attitudes.table["word"].to_list() == ["schlecht"]
    assert manifest.instruments["tee"].language == "de-AT"
    # What is offered to raters: "die" is not rated, though the English word is.
    assert "die" in load_attitudes().table["word"]
    assert not asked_in_english(run, ["tee"])
    none = load_attitudes(shipped=asked_in_english(run, ["tee"]))
    assert words_to_rate(run, none, instruments=["tee"]).rated < 1
    assert none.table.height == 0


def test_one_file_of_ratings_is_not_put_on_two_languages(german, ratings, tiny, tmp_path):
    said = (
        "--ratings works for one language at a time, but {} and {}. Audit them separately, "
        "each with its own --output."
    )
    here, there = "tee is in German (de-AT)", "social-distance is in English (en)"
    measuring = MeasureOptions(ratings=(ratings,))
    model = str(tiny("roberta"))
    both = ["social-distance", str(german)]
    with pytest.raises(InputError) as refusal:
        audit([model], instruments=both, options=DRY, measuring=measuring)
    assert str(refusal.value) == said.format(there, here)
    run = tmp_path / "run"
    few = AskOptions(limit=3)
    audit([model], instruments=["social-distance"], output=run, options=few)
    before = (run / "manifest.json").read_bytes()
    with pytest.raises(InputError) as refusal:
        audit([model], instruments=[str(german)], output=run, measuring=measuring)
    assert str(refusal.value) == said.format(here, there)
    assert (run / "manifest.json").read_bytes() == before


def test_english_of_another_country_is_english(tiny, tmp_path):
    folder = tmp_path / "data"
    shutil.copytree(DATA, folder)
    toml = folder / "social-distance" / "instrument.toml"
    toml.write_text(toml.read_text().replace('language = "en"', 'language = "en-GB"'))
    audit([str(tiny("roberta"))], instruments=[str(toml.parent)], options=DRY)


def test_replies_in_another_language_are_not_read_by_an_english_parser():
    asked = [LexiconUse(instrument="tee", language="sw", words="parser")]
    with pytest.raises(InputError) as refusal:
        check_languages(asked, MeasureOptions())
    assert str(refusal.value) == (
        "tee is in 'sw', but goffman's rules for reading replies are English (en). Give your own with "
        "--parser, or leave out tee."
    )
    assert check_languages(asked, MeasureOptions(parser="swahili"))


def test_an_instrument_whose_measure_reads_no_words_may_be_of_any_language():
    assert check_languages(
        [LexiconUse(instrument="tee", language="de", words=None)], MeasureOptions()
    )
    listed = json.loads(CliRunner().invoke(app, ["ls", "--json"]).stdout)
    assert {row["language"] for row in listed} == {"en"}
