"""The parser of choices on replies as models write them, each labelled by hand."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from choosing import AGREE, WILLING, asked, options, replied

from goffman.errors import InputError, RunError
from goffman.instruments.types import Option, options_from
from goffman.parsers.options import read_choice, read_choices
from goffman.schemas import CHOICE_KINDS

DATA = Path(__file__).parents[1] / "data"

LETTERS = options(WILLING, "plain", "forward")
AGREEING = options(AGREE, "plain", "forward")
NINE = tuple(
    Option(label=str(n), text={1: "not at all", 9: "very much"}.get(n, ""), code=(n - 1) / 8)
    for n in range(1, 10)
)

SAID = [
    ("B", "B"),
    ("b", "B"),
    ("(B)", "B"),
    ("B.", "B"),
    ("**B**", "B"),
    ("B)", "B"),
    ("Answer: B", "B"),
    ("The answer is (C).", "C"),
    ("My answer would be D", "D"),
    ("I would choose option C because it is fair.", "C"),
    ("I'd go with B.", "B"),
    ('{"answer": "D"}', "D"),
    (r"\boxed{C}", "C"),
    ("B. Probably willing", "B"),
    ("B: Probably willing. I would like to know them first.", "B"),
    ("C - Probably unwilling", "C"),
    ("Probably willing", "B"),
    ("I would be probably willing to do so.", "B"),
    ("definitely unwilling.", "D"),
    ("B. Probably willing\n\nI would not say definitely willing, since I do not know them.", "B"),
    ("<think>Is it A or C? C.</think>B", "B"),
    ("it must be A</think>\nB", "B"),
    ("As an AI, I have no home, but my answer is B.", "B"),
    ("A", "A"),
    ("A because everybody is welcome", "A"),
    (
        "A. Definitely willing\nB. Probably willing\nC. Probably unwilling\nD. Definitely unwilling"
        "\n\nAnswer: C",
        "C",
    ),
]


@pytest.mark.parametrize(("text", "label"), SAID)
def test_an_option_is_read_by_its_label_its_words_or_both(text, label):
    reading = read_choice(text, LETTERS)
    assert (reading.kind, reading.label) == ("option", label)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("A or B", "several"),
        ("I'd choose A or B.", "several"),
        ("(A) and (D)", "several"),
        # The label of one and the words of another.
        ("B. Definitely unwilling", "several"),
        ("C, probably willing", "several"),
        ("B. Probably willing\nOn second thought, the answer is D.", "several"),
        ("Probably willing or probably unwilling", "several"),
        (
            "A. Definitely willing\nB. Probably willing\nC. Probably unwilling\n"
            "D. Definitely unwilling",
            "several",
        ),
        ("E", "dont-know"),
        ("E. I don't know, or prefer not to say", "dont-know"),
        ("I don't know.", "dont-know"),
        ("I'm not sure, it depends on the person.", "dont-know"),
        ("I prefer not to say.", "dont-know"),
        ("I cannot answer this question.", "refusal"),
        ("As an AI language model, I do not have personal preferences.", "refusal"),
        ("I'm sorry, but I can't choose between A, B, C and D.", "refusal"),
        ("", "other"),
        ("A friend of mine is deaf.", "other"),
        ("Everybody should be treated kindly.", "other"),
        ("I would not be definitely willing.", "other"),
        ("Being a neighbor is good.", "other"),
        ("willing", "other"),
        ("F", "other"),
    ],
)
def test_what_is_no_answer_is_a_kind_of_its_own(text, kind):
    assert read_choice(text, LETTERS).kind == kind


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Agree", "C"),
        ("Strongly agree.", "D"),
        ("I disagree with this statement.", "B"),
        ("I strongly disagree", "A"),
        ("I do not agree.", None),
        ("Agree strongly", "C"),
    ],
)
def test_the_longest_words_count_and_a_not_takes_them_back(text, label):
    assert read_choice(text, AGREEING).label == label


@pytest.mark.parametrize(
    ("text", "kind", "label"),
    [
        ("7", "option", "7"),
        ("7/9", "option", "7"),
        ("7 out of 9", "option", "7"),
        ("I'd say 7", "option", "7"),
        ("I'd say 7.", "option", "7"),
        ("Rating: 3", "option", "3"),
        ("On a scale from 1 to 9, I would rate it 4.", "option", "4"),
        ("seven", "option", "7"),
        ("9 (very much)", "option", "9"),
        ("Very much", "option", "9"),
        ("1 - not at all", "option", "1"),
        ("7 or 8", "several", None),
        ("6-7", "several", None),
        ("9, not at all", "several", None),
        ("7.5", "other", None),
        ("10", "other", None),
        ("0", "other", None),
        ("I don't have personal feelings.", "refusal", None),
        ("I don't know", "dont-know", None),
    ],
)
def test_numbers_likewise(text, kind, label):
    reading = read_choice(text, NINE)
    assert (reading.kind, reading.label) == (kind, label)


def test_codes_are_those_of_the_prompt_as_it_was_presented():
    table = asked(groups={"stigmatized": ("deaf",)}, items=("i1",)).filter(wording="willing")
    read = read_choices(replied(table, lambda _row, _trial: "A"), table)
    # Forward A is the least stigmatizing option, reversed the most.
    assert read.select("kind", "chosen", "code").rows() == [
        ("option", "A", 0.0),
        ("option", "A", 1.0),
    ]
    silent = replied(table.head(1), lambda _row, _trial: "B").with_columns(
        finish_reason=pl.lit("content_filter")
    )
    assert read_choices(silent, table)["kind"].to_list() == ["refusal"]
    assert {*read["kind"]} <= {*CHOICE_KINDS}


def test_an_unknown_parser_and_prompts_without_options_are_refused():
    table = asked(groups={"stigmatized": ("deaf",)}, items=("i1",)).head(1)
    replies = replied(table, lambda _row, _trial: "A")
    with pytest.raises(InputError) as refusal:
        read_choices(replies, table, parser="choice-v2")
    assert str(refusal.value) == (
        "The parser of choices is 'choice-v2'. Allowed: choice-v1. Did you mean 'choice-v1'?"
    )
    with pytest.raises(RunError) as refusal:
        read_choices(replies, table.with_columns(options=pl.lit(None, dtype=pl.String)))
    assert str(refusal.value) == (
        "1 replies answer a prompt without options. Give the prompts of the same run, of an "
        "instrument asked as a choice."
    )


def test_real_replies_are_read_as_someone_labeled_them_who_did_not_know_the_parser():
    """200 replies of two small models, half of them of one that can hardly follow instructions.

    A language model, not a person, labeled them blind.
    """
    right = 0
    rows = pl.read_csv(DATA / "choices-labelled.csv", infer_schema=False)
    for row in rows.iter_rows(named=True):
        read = read_choice(row["reply"], options_from(row["options"]))
        said = read.label if read.kind == "option" else read.kind
        right += said == row["label"]
    assert rows.height == 200
    assert right >= 0.95 * rows.height


YES_NO = (
    Option(label="A", text="Yes", code=1.0),
    Option(label="B", text="No", code=0.0),
    Option(label="C", text="I can't tell", code=None),
)


@pytest.mark.parametrize(
    ("text", "kind", "label"),
    [
        ("Yes", "option", "A"),
        ("no.", "option", "B"),
        ("B. No", "option", "B"),
        ("A. Yes, there is no reason not to.", "option", "A"),
        ("Yes, there is no reason to worry.", "option", "A"),
        ("Yes. No problem at all.", "option", "A"),
        ("No, you should not.", "option", "B"),
        ("The answer is no.", "option", "B"),
        ("I can't tell.", "dont-know", "C"),
        ("No one can say that.", "other", None),
        ("There is no reason for that.", "other", None),
        ("Yes or no?", "several", None),
        ("A. No", "several", None),
    ],
)
def test_a_bare_yes_or_no_counts_where_it_is_the_answer(text, kind, label):
    """Both words stand in many sentences that answer nothing."""
    found = read_choice(text, YES_NO)
    assert (found.kind, found.label) == (kind, label)
