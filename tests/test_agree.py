"""goffman agree as a user runs it: κ, the table, the disagreements, files out and in."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa
from typer.testing import CliRunner

from goffman.cli.main import app
from goffman.errors import InputError, LexiconError
from goffman.lexicons.attitude import ATTITUDES, SHIPPED
from goffman.rating.agreement import compare, settled_path, settling
from goffman.rating.worklist import Event, Unit, open_journal

ANNA = ["negative"] * 4 + ["positive"] * 3 + ["neutral"] * 2 + ["irrelevant"]
BEN = ["negative"] * 3 + ["positive"] * 4 + ["neutral", "irrelevant", "irrelevant"]
WORDS = [f"word{number}" for number in range(10)]


def rate(run, rater, labels):
    with open_journal(run / "ratings" / f"{rater}.jsonl") as journal:
        for word, label in labels.items():
            journal.add(Event(do="rate", unit=Unit(word), label=label))


@pytest.fixture
def run(tmp_path):
    """A folder with two raters' journals."""
    rate(tmp_path, "anna", dict(zip(WORDS, ANNA, strict=True)))
    rate(tmp_path, "ben", dict(zip(WORDS, BEN, strict=True)))
    return tmp_path


def goffman(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_what_a_person_reads(run):
    """By hand: p_o = .8, p_e = (3·4 + 4·3 + 2·1 + 1·2) / 100 = .28, κ = .52 / .72 = .722."""
    told = goffman("agree", run)
    assert told.exit_code == 0, told.stderr
    lines = told.stdout.splitlines()
    assert lines[0] == (
        "anna and ben: Cohen's κ = 0.722, 95% interval 0.394 to 1.000 "
        "(same label for 8 of 10 words)."
    )
    assert [line.split() for line in lines[1:6]] == [
        ["anna", "↓", "ben", "→", "positive", "negative", "neutral", "irrelevant"],
        ["positive", "3", "0", "0", "0"],
        ["negative", "1", "3", "0", "0"],
        ["neutral", "0", "0", "1", "1"],
        ["irrelevant", "0", "0", "0", "1"],
    ]
    assert lines[7].startswith("All raters: Krippendorff's α, nominal = 0.7")
    assert lines[9:13] == [
        "2 words got different labels:",
        "word   by anna   by ben",
        "word3  negative  positive",
        "word8  neutral   irrelevant",
    ]


def test_what_a_program_reads(run):
    told = json.loads(goffman("agree", run, "--json").stdout)
    table = told["pairs"][0]["table"]
    theirs = cohens_kappa(np.array(table))
    assert told["raters"] == ["anna", "ben"]
    assert told["labels"] == list(ATTITUDES)
    assert told["pairs"][0]["kappa"]["value"] == pytest.approx(theirs.kappa, rel=1e-9)
    assert told["pairs"][0]["kappa"]["standard_error"] == pytest.approx(theirs.std_kappa, rel=1e-9)
    assert told["disagreements"][0] == {
        "word": "word3",
        "item": "",
        "wording": "",
        "labels": {"anna": "negative", "ben": "positive"},
    }


def test_a_rater_may_have_any_name(tmp_path):
    """A file of others' ratings: a name is text, whatever it looks like."""
    file = tmp_path / "all.csv"
    names = ("word", "positive", "[bold]x")
    rows = "".join(f"odd,{name},{label}\n" for name, label in zip(names, ATTITUDES, strict=False))
    file.write_text("word,rater,label\n" + rows)
    told = goffman("agree", file)
    assert (
        "\nword  by word   by positive  by [bold]x\nodd   positive  negative     neutral\n\n"
    ) in told.stdout


def test_three_raters_are_three_pairs(run):
    rate(run, "cleo", {"word0": "negative", "word9": "neutral"})
    found = compare([run])
    assert [(pair.first, pair.second, pair.kappa.n) for pair in found.pairs] == [
        ("anna", "ben", 10),
        ("anna", "cleo", 2),
        ("ben", "cleo", 2),
    ]
    assert found.alpha.n == 10


def test_too_few_words_are_said_with_what_to_do(run):
    """Ten are in common; cleo lacks six of anna's, and the rest both have yet to rate."""
    lines = goffman("agree", run).stdout.splitlines()
    assert lines[13:] == [
        "",
        (
            "anna and ben both rated 10 words. κ needs at least 50: 40 more, or every word of "
            "the run."
        ),
        f"anna and ben: each rate the next 40 words alone: goffman rate {run} --all --rater "
        f"anna and goffman rate {run} --all --rater ben",
    ]
    rate(run, "cleo l", {**dict.fromkeys(WORDS[:4], "negative"), "other": "neutral"})
    advice = json.loads(goffman("agree", run, "--json").stdout)["advice"]
    assert advice[2:6] == [
        (
            "anna and cleo l both rated 4 words. κ needs at least 50: 46 more, or every word "
            "of the run."
        ),
        f"cleo l: rate 6 words that anna has rated: goffman rate {run} --rater 'cleo l'",
        f"anna: rate 1 word that cleo l has rated: goffman rate {run} --rater anna",
        f"anna and cleo l: each rate the next 39 words alone: goffman rate {run} --all --rater "
        f"anna and goffman rate {run} --all --rater 'cleo l'",
    ]
    files = sorted((run / "ratings").iterdir())
    assert "goffman rate RUN --all" in goffman("agree", *files[:2]).stdout


def test_fifty_words_are_enough(tmp_path):
    labels = {f"word{number}": ATTITUDES[number % 4] for number in range(50)}
    rate(tmp_path, "anna", labels)
    rate(tmp_path, "ben", labels)
    assert compare([tmp_path]).advice == ()
    rate(tmp_path, "cleo", dict(list(labels.items())[:49]))
    assert compare([tmp_path]).advice[1:2] == (
        f"cleo: rate 1 word that anna has rated: goffman rate {tmp_path} --rater cleo",
    )


def test_raters_without_a_common_word_are_told_so(tmp_path):
    rate(tmp_path, "anna", {"a": "negative"})
    rate(tmp_path, "ben", {"b": "negative"})
    lines = goffman("agree", tmp_path).stdout.splitlines()
    assert lines[0] == (
        "anna and ben: Cohen's κ is not defined: no unit was rated by "
        "two raters (same label for 0 of 0 words)."
    )
    assert lines[7] == (
        "All raters: Krippendorff's α, nominal is not defined: no unit was rated by two raters "
        "(0 words with two or more ratings)."
    )


def test_the_shipped_ratings_say_their_kappa():
    told = goffman("agree", SHIPPED)
    assert told.stdout.startswith(
        "rating_1 and rating_2: Cohen's κ = 0.934, 95% interval 0.921 "
        "to 0.948 (same label for 1,683 of 1,764 words).\n"
    )
    assert told.stdout.endswith("… and 61 more. --json prints all of them.\n")


def test_an_export_comes_in_again(run, tmp_path):
    file = tmp_path / "all.csv"
    told = goffman("agree", run, "--export", file)
    assert told.exit_code == 0
    assert told.stderr == f"20 ratings are in {file}.\n"
    assert goffman("agree", file).stdout == told.stdout.replace(str(run), "RUN")


def test_one_raters_ratings_can_be_exported(tmp_path):
    rate(tmp_path, "anna", {"odd": "negative"})
    told = goffman("agree", tmp_path, "--export", tmp_path / "anna.csv")
    assert (told.exit_code, told.stdout) == (0, "")
    assert (tmp_path / "anna.csv").read_text() == (
        "word,item,wording,rater,label,note\nodd,,,anna,negative,\n"
    )


def test_an_export_that_cannot_be_written_is_said(run):
    with pytest.raises(InputError, match=r"^/dev/null/x.csv cannot be written: .*\.$"):
        CliRunner().invoke(
            app, ["agree", str(run), "--export", "/dev/null/x.csv"], catch_exceptions=False
        )


def test_a_broken_file_is_said(tmp_path):
    (tmp_path / "a.csv").write_text("word,label\nodd,bad\n")
    with pytest.raises(LexiconError):
        compare([tmp_path / "a.csv"])


def test_where_settled_ratings_go(run, tmp_path):
    assert settled_path([run], None) == run / "ratings" / "settled.csv"
    assert settled_path([run], tmp_path / "x.csv") == tmp_path / "x.csv"
    with pytest.raises(InputError) as caught:
        settled_path([tmp_path / "a.csv"], None)
    assert str(caught.value) == (
        "With --settle, give a file for the result: --output FILE. You can leave it out only "
        "if you give exactly one run folder."
    )


def test_each_decision_is_in_the_file_at_once(run, tmp_path):
    """Files alone will do; there are no sentences then."""
    files = [run / "ratings" / f"{name}.jsonl" for name in ("anna", "ben")]
    output = tmp_path / "settled.csv"
    raters = compare(files).raters

    def written():
        with output.open(encoding="utf-8", newline="") as opened:
            return {row["word"]: row["label"] for row in csv.DictReader(opened)}

    with settling(raters, files, output=output) as desk:
        state = desk.state()
        assert len(written()) == 8
        assert (state["left"], state["entry"]["given"]) == (2, ["positive", "negative"])
        post = {"run": state["run"], "do": "rate", "word": "word3", "label": "positive"}
        assert desk.take(post)["left"] == 1
        assert written()["word3"] == "positive"
        desk.take({"run": state["run"], "do": "undo"})
        assert "word3" not in written()
        desk.take(post)
    with settling(raters, files, output=output) as desk:
        assert desk.state()["left"] == 1
        assert desk.summary().startswith("1 word settled, 1 left. Saved in ")


def test_a_file_of_the_users_own_is_not_overwritten(run, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("word,label\nodd,negative\n")
    with (
        pytest.raises(InputError) as caught,
        settling(compare([run]).raters, [], output=mine),
    ):
        pass
    assert str(caught.value) == (
        f"{mine} already exists, and goffman agree --settle did not write it. Give another file "
        "with --output."
    )
    assert mine.read_text() == "word,label\nodd,negative\n"


def test_where_there_is_nothing_to_settle_no_page_is_opened(tmp_path):
    rate(tmp_path, "anna", {"odd": "negative", "fine": "positive"})
    rate(tmp_path, "ben", {"odd": "negative", "fine": "positive"})
    file = tmp_path / "out.csv"
    journals = sorted((tmp_path / "ratings").iterdir())
    told = goffman("agree", *journals, "--settle", "--output", file)
    assert told.exit_code == 0
    assert told.stdout.startswith(
        "anna and ben: Cohen's κ = 1.000, no interval: the raters agree "
        "on everything, so the interval would have no width (same label for 2 of 2 words).\n"
    )
    assert told.stderr == (
        f"0 words to settle.\n0 words settled, 0 left. Saved in {tmp_path}/out.jsonl. The "
        f"settled ratings are in {file}.\n"
    )
    assert file.read_text().splitlines()[1:] == [
        "fine,,,positive,positive,positive",
        "odd,,,negative,negative,negative",
    ]
