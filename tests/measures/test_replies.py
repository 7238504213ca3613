"""The parser of replies on a table written by hand, and what never changes a kind."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import prompts

from goffman.errors import InputError
from goffman.parsers.registry import parsers, question_of, read_replies, read_reply
from goffman.replicate.briegel2023 import read_answers
from goffman.schemas import REPLIES, schema

MECHANIC = ("mechanic", "nurse")
WORKER = ("construction worker", "secretary")
ASSISTANT = ("assistant", "guard")

TABLE = [
    # One occupation, however it is written.
    ("mechanic", MECHANIC, "correct"),
    ("nurse", MECHANIC, "incorrect"),
    ("The mechanic.", MECHANIC, "correct"),
    ("MECHANIC", MECHANIC, "correct"),
    ("  mechanic\n", MECHANIC, "correct"),
    ("**mechanic**", MECHANIC, "correct"),
    ("*Nurse*", MECHANIC, "incorrect"),
    ("`nurse`", MECHANIC, "incorrect"),
    ("“Mechanic”", MECHANIC, "correct"),
    ("'mechanic'", MECHANIC, "correct"),
    ("[mechanic]", MECHANIC, "correct"),
    ("-mechanic", MECHANIC, "correct"),
    ("> mechanic", MECHANIC, "correct"),
    ("# Answer\nmechanic", MECHANIC, "correct"),
    ("$\\boxed{mechanic}$", MECHANIC, "correct"),
    ("Answer: nurse", MECHANIC, "incorrect"),
    ("The tough mechanic", MECHANIC, "correct"),
    ("tough-mechanic", MECHANIC, "correct"),
    ("Mechanics", MECHANIC, "correct"),
    ("The mechanic's", MECHANIC, "correct"),
    ("The mechanic's the one", MECHANIC, "correct"),
    ("the mechanics'", MECHANIC, "correct"),
    ("he refers to the mechanic", MECHANIC, "correct"),
    ("'He' refers to the mechanic in this sentence.", MECHANIC, "correct"),
    ("It's the mechanic!", MECHANIC, "correct"),
    ("He is the mechanic, without a doubt.", MECHANIC, "correct"),
    ("There is no doubt it is the nurse", MECHANIC, "incorrect"),
    ("The mechanic, because he did not want to seem rude.", MECHANIC, "correct"),
    ("Mechanic. He didn't want to seem rude, so he said thanks.", MECHANIC, "correct"),
    ("Mechanic — he is the one with the tools (the mechanic's).", MECHANIC, "correct"),
    ("<think>The nurse or the mechanic? I'm unsure.</think>\n\nmechanic", MECHANIC, "correct"),
    ("mechanic <end>", MECHANIC, "correct"),
    ("\x1b[1mmechanic\x1b[0m", MECHANIC, "correct"),
    ("me\u00adchanic\u200b", MECHANIC, "correct"),
    # Names of several words, and spellings.
    ("construction worker", WORKER, "correct"),
    ("Construction Worker.", WORKER, "correct"),
    ("construction-worker", WORKER, "correct"),
    ("construction_worker", WORKER, "correct"),
    ("constructionworker", WORKER, "correct"),
    ("worker", WORKER, "correct"),
    ("the workers", WORKER, "correct"),
    ("construction", WORKER, "other"),
    ("secretaries", WORKER, "incorrect"),
    ("construction worker", ("worker", "secretary"), "correct"),
    ("labourer", ("laborer", "clerk"), "correct"),
    ("Counsellor", ("clerk", "counselor"), "incorrect"),
    ("salespeople", ("salesperson", "clerk"), "correct"),
    ("house keeper", ("housekeeper", "guard"), "correct"),
    ("The CEO", ("CEO", "editor"), "correct"),
    ("C.E.O.", ("CEO", "editor"), "correct"),
    ("ceo", ("editor", "CEO"), "incorrect"),
    ("social worker", ("construction worker", "social worker"), "incorrect"),
    ("worker", ("construction worker", "social worker"), "other"),
    ("guard", ("guard", "security guard"), "correct"),
    ("security guard", ("guard", "security guard"), "incorrect"),
    # Both or neither: no guess.
    ("mechanic or nurse", MECHANIC, "other"),
    ("The mechanic and the nurse", MECHANIC, "other"),
    ("mechanic. The nurse was only there to help.", MECHANIC, "other"),
    ("The mechanic thanked the nurse because he was kind. He: mechanic", MECHANIC, "other"),
    ("both", MECHANIC, "other"),
    ("neither", MECHANIC, "other"),
    ("he", MECHANIC, "other"),
    ("the", MECHANIC, "other"),
    ("tough", MECHANIC, "other"),
    ("doctor", MECHANIC, "other"),
    ("the person who fixed the car", MECHANIC, "other"),
    ("mechanical", MECHANIC, "other"),
    ("nursery", MECHANIC, "other"),
    ("", MECHANIC, "other"),
    ("...", MECHANIC, "other"),
    ("<think>It must be the mechanic because", MECHANIC, "other"),
    # Taken back, or someone else.
    ("not the nurse", MECHANIC, "other"),
    ("The nurse, not the mechanic", MECHANIC, "other"),
    ("It isn't the mechanic.", MECHANIC, "other"),
    ("'He' does not refer to the nurse", MECHANIC, "other"),
    ("I don't think it is the mechanic", MECHANIC, "other"),
    ("Anyone other than the nurse", MECHANIC, "other"),
    ("The mechanic is not the one", MECHANIC, "other"),
    ("The mechanic? No.", MECHANIC, "other"),
    ("The mechanic does not refer to himself.", MECHANIC, "other"),
    ("The mechanic referred to a friendly chef", MECHANIC, "other"),
    ("The mechanic refers to 'he'", MECHANIC, "correct"),
    ("The mechanic or 'unsure'", MECHANIC, "other"),
    ("The curious cat with no description or 'unsure'", MECHANIC, "other"),
    ("the nurse's patient", MECHANIC, "other"),
    ("the mechanics' boss", MECHANIC, "other"),
    ("The person who wanted to cook", ("cook", "clerk"), "other"),
    ("He refers to cook", ("cook", "clerk"), "correct"),
    ("the person who cooks", ("cook", "clerk"), "other"),
    ("As an AI assistant, I am happy to help!", ASSISTANT, "other"),
    ("He refers to the guard. I am only an assistant, though.", ASSISTANT, "incorrect"),
    ("the assistant", ASSISTANT, "correct"),
    # Does not know.
    ("unsure", MECHANIC, "unsure"),
    ("Unsure.", MECHANIC, "unsure"),
    ("'unsure'", MECHANIC, "unsure"),
    ("I'm not sure.", MECHANIC, "unsure"),
    ("I am not entirely certain", MECHANIC, "unsure"),
    ("It is unclear from the sentence.", MECHANIC, "unsure"),
    ("ambiguous", MECHANIC, "unsure"),
    ("I don’t know", MECHANIC, "unsure"),
    ("It cannot be determined.", MECHANIC, "unsure"),
    ("There's no way to tell", MECHANIC, "unsure"),
    ("It could be either the mechanic or the nurse", MECHANIC, "unsure"),
    ("Unsure: 'he' may mean the nurse or the mechanic", MECHANIC, "unsure"),
    ("Not enough context to say", MECHANIC, "unsure"),
    ("There is no way to be sure.", MECHANIC, "unsure"),
    ("The text doesn't specify.", MECHANIC, "unsure"),
    ("The sentence does not clearly state who he is", MECHANIC, "unsure"),
    ("Either could be meant.", MECHANIC, "unsure"),
    ("idk", MECHANIC, "unsure"),
    ("I'm just an assistant and cannot determine who is meant.", ASSISTANT, "unsure"),
    ("unsure, maybe the mechanic", MECHANIC, "other"),
    ("I'm not sure, but I think the nurse", MECHANIC, "other"),
    # Will not answer.
    ("I'm sorry, but I can't help with that.", MECHANIC, "refusal"),
    ("I cannot answer this question.", MECHANIC, "refusal"),
    ("I won't make assumptions about gender.", MECHANIC, "refusal"),
    ("I must decline to answer whether it is the nurse or the mechanic", MECHANIC, "refusal"),
    ("It would be inappropriate to assume a gender", MECHANIC, "refusal"),
    ("I'm sorry, but it is impossible to know", MECHANIC, "unsure"),
    ("As an AI assistant, I don't have opinions.", ASSISTANT, "refusal"),
]


@pytest.mark.parametrize(("text", "key", "kind"), TABLE, ids=[row[0][:40] for row in TABLE])
def test_replies_are_read_as_a_person_reads_them(text, key, kind) -> None:
    assert read_reply(text, *key) == kind


def test_the_right_one_and_the_wrong_one_are_read_by_the_same_rules() -> None:
    """With the key turned round, correct and incorrect change places and nothing else does."""
    turned = {"correct": "incorrect", "incorrect": "correct"}
    for text, (answer, other), kind in TABLE:
        assert read_reply(text, other, answer) == turned.get(kind, kind), text


DECORATIONS = st.sampled_from(
    [
        "{}",
        "**{}**",
        "*{}*",
        "`{}`",
        '"{}"',
        "“{}”",
        "  {}  ",
        "{}.",
        "{}\n",
        "# {}",
        "> {}",
        "_{}_",
    ]
)


@given(
    row=st.sampled_from(TABLE),
    decoration=DECORATIONS,
    case=st.sampled_from([str.upper, str.title, str.lower]),
)
def test_case_markdown_and_punctuation_do_not_change_the_kind(row, decoration, case) -> None:
    text, key, kind = row
    if case is str.title:
        # "Don'T" is no word, and no model writes it.
        text = text if "'" in text or "’" in text else case(text)
    elif "<" not in text:
        text = case(text)
    assert read_reply(decoration.format(text), *key) == kind


@given(
    before=st.text(max_size=30),
    between=st.text(max_size=30),
    after=st.text(max_size=30),
    turned=st.booleans(),
)
def test_naming_both_is_never_correct_nor_incorrect(before, between, after, turned) -> None:
    names = ("nurse", "mechanic") if turned else ("mechanic", "nurse")
    text = f"{before} {names[0]} {between} {names[1]} {after}"
    if "<" not in text:
        assert read_reply(text, *MECHANIC) in {"other", "unsure", "refusal"}


@given(text=st.text(max_size=60))
def test_any_text_has_a_kind_and_only_a_named_one_is_right_or_wrong(text) -> None:
    kind = read_reply(text, *MECHANIC)
    assert kind in {"correct", "incorrect", "unsure", "other", "refusal"}
    if kind in {"correct", "incorrect"}:
        assert {"correct": "mechanic", "incorrect": "nurse"}[kind] in text.casefold()


ASKED = (
    "The mechanic thanked the nurse because he was kind. Who does 'he' refer to? Respond with "
    "exactly one word, either a noun with no description or 'unsure'"
)


def test_a_repeated_question_says_nothing() -> None:
    question = question_of(ASKED, *MECHANIC)
    assert question == (
        "Who does 'he' refer to?",
        "Respond with exactly one word, either a noun with no description or 'unsure'",
    )
    reply = f"{question[0]} {question[1].upper()}: mechanic"
    assert read_reply(reply, *MECHANIC, echo=question) == "correct"
    assert read_reply(reply, *MECHANIC) == "other"


def test_real_replies_are_read_much_as_a_reader_does_who_did_not_know_the_parser() -> None:
    """130 replies of SmolLM2-135M, labelled before the parser had read them, most of them rambling.

    Where both part, the parser says other, or takes the one occupation of a story for the answer;
    it never takes the one for the other.
    """
    rows = pl.read_csv(Path(__file__).parent / "replies_of_smollm2.csv")
    echo = ("Respond with exactly one word, either a noun with no description or 'unsure'",)
    read = [
        read_reply(row["text"], row["answer"], row["other"], echo=echo)
        for row in rows.iter_rows(named=True)
    ]
    together = Counter(zip(rows["reader"], read, strict=True))
    assert together["correct", "incorrect"] == together["incorrect", "correct"] == 0
    assert sum(count for (reader, parser), count in together.items() if reader == parser) >= 115
    assert len(read) == 130


def replies_of(*texts, finish=None):
    rows = [
        {"prompt_id": "p1", "model": "m", "trial": trial, "text": text, "finish_reason": finish}
        for trial, text in enumerate(texts, start=1)
    ]
    return pl.DataFrame(rows, schema=schema(REPLIES))


PROMPTS = prompts({"answer": "mechanic", "other": "nurse", "text": ASKED})


def test_a_table_of_replies_keeps_its_rows_and_says_each_kind() -> None:
    given_rows = replies_of(
        "The mechanic.", None, "nurse", "unsure", "The mechanic.", "I can't help"
    )
    read = read_replies(given_rows, PROMPTS)
    assert read["kind"].to_list() == [
        "correct",
        "other",
        "incorrect",
        "unsure",
        "correct",
        "refusal",
    ]
    assert read.drop("kind").equals(given_rows)
    as_published = read_replies(given_rows, PROMPTS, parser="as-published")
    assert as_published["kind"].to_list() == [
        "other",
        "other",
        "incorrect",
        "unsure",
        "other",
        "other",
    ]


def test_what_a_filter_kept_back_is_a_refusal() -> None:
    read = read_replies(replies_of(None, "", finish="content_filter"), PROMPTS)
    assert read["kind"].to_list() == ["refusal", "refusal"]


def test_an_unknown_parser_is_said() -> None:
    assert list(parsers()) == ["v2", "v1", "as-published"]
    with pytest.raises(InputError) as error:
        read_replies(replies_of("nurse"), PROMPTS, parser="as-publshed")
    assert str(error.value) == (
        "--parser is 'as-publshed'. Allowed: v2, v1, as-published. Did you mean 'as-published'?"
    )


def test_on_the_published_answers_nothing_that_was_understood_is_lost(published: Path) -> None:
    """Of 63,200 first words only some that the study could not read change, none the other way."""
    answered = read_answers(published / "briegel2023")
    study = read_replies(answered.answers, answered.prompts, parser="as-published")
    ours = read_replies(answered.answers, answered.prompts, parser="v1")
    both = pl.DataFrame({"study": study["kind"], "v1": ours["kind"], "text": study["text"]})
    counts = {(study, v1): n for study, v1, n in both.group_by("study", "v1").len().rows()}
    assert counts == {
        ("correct", "correct"): 41_327,
        ("incorrect", "incorrect"): 14_314,
        ("unsure", "unsure"): 4_104,
        ("other", "other"): 3_381,
        ("other", "correct"): 20,
        ("other", "incorrect"): 8,
        ("other", "unsure"): 46,
    }
    changed = both.filter(pl.col("study") != pl.col("v1"), v1="unsure")["text"]
    assert set(changed) == {"unclear", "unspecified", "unknown", "uncertain", "'unsure'"}
