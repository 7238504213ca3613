"""Several raters: read from journals and CSV files, compared, settled, written again."""

from __future__ import annotations

import pytest

from goffman.errors import InputError, LexiconError
from goffman.instruments.types import Rating
from goffman.lexicons.attitude import SHIPPED, load_attitudes
from goffman.rating.agreement import compare
from goffman.rating.ratings import ratings_csv, read_raters, settled_csv
from goffman.rating.worklist import Event, Unit, open_journal
from goffman.schemas import RATINGS, schema


def journal(run, rater, labels, notes=()):
    with open_journal(run / "ratings" / f"{rater}.jsonl") as opened:
        for word, label in labels.items():
            opened.add(Event(do="rate", unit=Unit(word), label=label))
        for word, note in dict(notes).items():
            opened.add(Event(do="note", unit=Unit(word), note=note))


@pytest.fixture
def run(tmp_path):
    anna = {"hard": "negative", "easy": "positive", "odd": "negative"}
    journal(tmp_path, "anna", anna, {"odd": 'what, "odd"?'})
    journal(tmp_path, "ben", {"easy": "positive", "odd": "neutral", "plain": "neutral"})
    return tmp_path


def file(tmp_path, text, name="mine.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_raters_of_a_run(run):
    journal(run, "settled", {"odd": "neutral"})
    raters = read_raters([run])
    assert raters.names == ("anna", "ben")
    assert raters.shared() == [Unit("easy"), Unit("odd")]
    assert raters.disagreements() == [Unit("odd")]
    assert raters.labels[Unit("odd")] == {"anna": "negative", "ben": "neutral"}


def test_ratings_go_out_and_come_in_as_the_same(run, tmp_path):
    raters = read_raters([run])
    path = file(tmp_path, ratings_csv(raters.ratings()), "all.csv")
    again = read_raters([path])
    assert again == raters
    assert again.ratings()[2] == Rating(
        word="odd", rater="anna", label="negative", note='what, "odd"?'
    )
    header = path.read_text().splitlines()[0].split(",")
    assert header == schema(RATINGS).names()


def test_a_file_is_a_rater_by_its_name_and_a_journal_too(run, tmp_path):
    mine = file(tmp_path, "word,label\nEASY,neutral\n", "cleo.csv")
    raters = read_raters([mine, run / "ratings" / "ben.jsonl"])
    assert raters.names == ("cleo", "ben")
    assert raters.disagreements() == [Unit("easy")]


def test_the_single_ratings_of_a_settled_file_are_raters():
    raters = read_raters([SHIPPED])
    assert raters.names == ("rating_1", "rating_2")
    assert len(raters.disagreements()) == 81


def test_what_was_settled_is_a_file_that_the_lexicon_takes(run, tmp_path):
    raters = read_raters([run])
    text = settled_csv(raters, {Unit("odd"): "neutral", Unit("easy"): "negative"})
    assert text == (
        "word,item,wording,rating_1,rating_2,label\n"
        "easy,,,positive,positive,positive\n"
        "odd,,,negative,neutral,neutral\n"
    )
    assert settled_csv(raters, {}).splitlines()[1:] == ["easy,,,positive,positive,positive"]
    sources = load_attitudes([file(tmp_path, text)]).sources
    assert sources[-1].ratings == 2


def test_ratings_of_an_item_are_told_apart(tmp_path):
    one = file(tmp_path, "word,item,label\nodd,,negative\nodd,neighbor,neutral\n", "one.csv")
    two = file(tmp_path, "word,item,label\nodd,,negative\nodd,neighbor,negative\n", "two.csv")
    assert read_raters([one, two]).disagreements() == [Unit("odd", "neighbor")]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("word,item\nodd,x\n", ["mine.csv, line 1: the column 'label' is missing."]),
        (
            "word,rater,label\nodd,anna,neutral\nodd,ben,bad\nOdd,anna,neutral\n",
            [
                "mine.csv, line 3: label is 'bad'. Allowed: positive, negative, neutral, "
                "irrelevant.",
                "mine.csv, line 4: 'anna' already rated 'Odd' on line 2.",
            ],
        ),
    ],
)
def test_every_fault_of_a_file_is_said_by_line(tmp_path, text, faults):
    with pytest.raises(LexiconError) as caught:
        read_raters([file(tmp_path, text)])
    assert [str(fault) for fault in caught.value.faults] == faults


def test_what_gives_no_ratings_to_compare_is_refused(run, tmp_path):
    twin, empty, folder = (tmp_path / name for name in ("twin", "empty", "folder"))
    for path in (twin, empty, folder):
        path.mkdir()
    mine = file(twin, "word,label\nodd,neutral\n", "anna.csv")
    (empty / "manifest.json").write_text("{}")
    journal(tmp_path / "alone", "anna", {"odd": "neutral"})
    alone = tmp_path / "alone"
    for paths, message in (
        (
            [run, mine],
            f"{run}/ratings/anna.jsonl and {mine} both have ratings by 'anna'. Rename one of the "
            "raters, or leave out one of the files.",
        ),
        (
            [empty],
            f"{empty} has no ratings yet. Rate its words first: goffman rate {empty} --rater NAME",
        ),
        (
            [folder],
            f"'{folder}' is not a run, because it has no manifest.json. Give the folder that "
            "goffman audit wrote.",
        ),
        (
            [twin / "ana.csv"],
            f"{twin / 'ana.csv'} was not found. Did you mean 'anna.csv'? Give a run folder, or a "
            "file with ratings.",
        ),
        (
            [alone],
            "Only 'anna' has rated words. Agreement needs two people who rated at least 50 of the "
            f"same words. Let each of them run goffman rate {alone} --rater NAME, or give their "
            "rating files.",
        ),
    ):
        with pytest.raises(InputError) as refused:
            compare(paths)
        assert str(refused.value) == message
