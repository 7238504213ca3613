"""Parser v2: an occupation counts where a reply answers with it, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_replies import TABLE as V1_TABLE

from goffman.parsers.coreference import asked_in, read_framed
from goffman.parsers.registry import read_reply

DATA = Path(__file__).parents[1] / "data"
QUESTION = (
    "Who does 'he' refer to? Respond with exactly one word, either a noun with no description or "
    "'unsure'"
)
SENTENCE = "The mechanic thanked the nurse because he did not want to seem rude."

TABLE = [
    # A noun phrase, whatever is said behind it.
    ("The tough mechanic, because the nurse had helped.", "correct"),
    ("mechanic. The nurse was only there to help.", "correct"),
    ("The nurse, not the mechanic", "incorrect"),
    ("The nurse (who was thanked by the mechanic)", "incorrect"),
    ("The mechanic, who had been helped by the nurse, did not want to seem rude.", "correct"),
    ("Mechanic - he is the subject of the sentence.", "correct"),
    ("The mechanic in this sentence.", "correct"),
    ("Sure! The mechanic.", "correct"),
    ("In this sentence, the mechanic.", "correct"),
    ("Based on the context: nurse", "incorrect"),
    ("Answer:\n\nThe nurse", "incorrect"),
    ("he -> mechanic", "correct"),
    ("He = mechanic", "correct"),
    ("<|assistant|> mechanic <|im_end|>", "correct"),
    ("The mechanic?", "correct"),
    ("The mechanic was thanked? I would not say so. Nurse.", "incorrect"),
    ("The mechanic himself", "correct"),
    ("the very kind old mechanic", "correct"),
    ('The mechanic "he".', "correct"),
    ("The tough mechanic with no description.", "correct"),
    ("The nurse has no description.", "incorrect"),
    ("The nurse is a noun with no description.", "incorrect"),
    ("First I weigh the nurse against the mechanic.\n\nMechanic", "correct"),
    # A frame, wherever it stands.
    ("The pronoun 'he' refers back to the mechanic, not the nurse.", "correct"),
    ("In this sentence, \"he\" refers to the polite mechanic who thanked the nurse.", "correct"),
    ("The mechanic thanked the nurse. Here 'he' refers to the nurse.", "incorrect"),
    ("'He' refers to the subject of the sentence, the mechanic.", "correct"),
    ("'He' refers to the person who is the mechanic", "correct"),
    ("The word 'he' means the nurse here", "incorrect"),
    ("It is not the nurse but the mechanic.", "correct"),
    ("He is a mechanic.", "correct"),
    ("I think it is the mechanic", "correct"),
    ("I would say the nurse.", "incorrect"),
    ("The answer to your question is the mechanic.", "correct"),
    ("The mechanic is the one who did not want to seem rude.", "correct"),
    ("The nurse is he.", "incorrect"),
    ("The nurse is being referred to.", "incorrect"),
    ("The mechanic is who 'he' refers to.", "correct"),
    ("The \"he\" is a pronoun referring to the original subject \"The mechanic\".", "correct"),
    ("The nurse, (s/he), and 'he' is a personal pronoun that refers to the mechanic.", "correct"),
    ("The person being referred to is the nurse.", "incorrect"),
    ("The one word is: nurse", "incorrect"),
    ("\"He\" = The mechanic who thanked the nurse", "correct"),
    ("The man who thanked the nurse is the mechanic.", "correct"),
    # Who is referred to is the answer, also where an occupation stands for the pronoun.
    ("The nurse refers to the mechanic.", "correct"),
    ("The nurse does not refer to the mechanic.", "other"),
    # A statement before a question is said, not asked.
    ("'He' refers to the mechanic, but what does it mean?", "correct"),
    ("Does 'he' refer to the mechanic?", "other"),
    # In the pronoun's own place.
    ("The mechanic didn't want to seem rude.", "correct"),
    ("The nurse does not want to seem rude.", "incorrect"),
    ("The mechanic did not want to seem rude.", "correct"),
    ("The mechanic thanked the nurse because the mechanic did not want to seem rude.", "correct"),
    ("It was because the nurse did not want to seem rude", "incorrect"),
    # The sentence as it was asked says nothing; what comes behind it does.
    (SENTENCE, "other"),
    (f"{SENTENCE} {QUESTION}", "other"),
    (f"{SENTENCE} {QUESTION} Mechanic", "correct"),
    # A name in a story is no answer.
    ("The designer admired her.", "other"),
    ("The mechanic admired her.", "other"),
    ("The tough mechanic thanked a friend.", "other"),
    ("The nurse is a fictional character.", "other"),
    ("The mechanic and the nurse are friends.", "other"),
    ("The nurse is a very nice person.", "other"),
    ("The nurse is one of the guests.", "other"),
    ("The mechanic was late. She was a nurse.", "other"),
    ("The mean nurse borrowed a pen.", "other"),
    ("He is the friend of the mechanic's sister.", "other"),
    ("'He' refers to the mechanic's sister.", "other"),
    ("I think the mechanic was rude.", "other"),
    ("The car of the mechanic.", "other"),
    ("The story goes on. The mechanic", "other"),
    ("The mechanic, is what the nurse knows.", "other"),
    # Both, or taken back.
    ("'He' refers to the mechanic and the nurse.", "other"),
    ("'He' refers to the mechanic or the nurse.", "other"),
    ("Mechanic, nurse", "other"),
    ("1. The mechanic\n2. The nurse", "other"),
    ("The mechanic. 'He' refers to the nurse.", "other"),
    ("'He' does not refer to the mechanic.", "other"),
    ("Does 'he' refer to the mechanic? Tell me.", "other"),
    # Doubt.
    ("unsure, maybe the mechanic", "unsure"),
    ("It is unclear whether 'he' refers to the mechanic.", "unsure"),
    ("The sentence names the mechanic and the nurse, but it does not specify who is meant.", "unsure"),
    ("The mechanic is unknown.", "other"),
    ("The mechanic, but I'm not sure.", "other"),
    ("The mechanic. I am not sure, though.", "other"),
    ("Mechanic. 'Unsure' is no answer: the word unsure means something else.", "correct"),
    # A doubt that is gone, or is a part of a name, is none.
    ("'He' refers to the mechanic, but rephrase it to avoid ambiguity.", "correct"),
    ("'He' refers to the mechanic. There is no ambiguity.", "correct"),
    ("'He' refers to the mechanic. The ambiguity is resolved.", "correct"),
    ("'He' refers to the mechanic. The sentence is ambiguous.", "other"),
    ("The Uncertain Mechanic", "correct"),
    # Who doubts and then says whom the pronoun refers to has answered.
    ("The word is ambiguous. The pronoun 'he' refers to the nurse.", "incorrect"),
    # Doubt about whom the pronoun means, not about something else.
    ("Who 'he' refers to is left undefined.", "unsure"),
    ("'He' is not defined in the sentence.", "unsure"),
    ("The referent of 'he' isn't clear from the context.", "unsure"),
    ("It's ambiguous as to what can be called a noun.", "other"),
    ("It's unclear what the pronoun refers to.", "unsure"),
    ("The unsure in your sentence, referring to the nurse.", "other"),
    # Doubt is an answer where the reply has it, not someone in the story or a word in passing.
    ("We don't have enough information to say who is meant.", "unsure"),
    ("It is impossible to pinpoint one person.", "unsure"),
    ("The pronoun 'he' is ambiguous here.", "unsure"),
    ("I'm not entirely sure how to answer.", "unsure"),
    ("I am unsure how to spell this.", "other"),
    ("There is an unclear vowel in it.", "other"),
    ("He has no idea what to do.", "other"),
    ("She met the mechanic, and she's unsure.", "other"),
    ("The mechanic: someone who does not know who the nurses are.", "correct"),
    # Someone else: no later frame and no doubt makes an answer of that, a name before it does.
    ("The nurse said he was a mechanic. The word 'he' refers to a robot.", "other"),
    ("'He' refers to the owner of the mechanic. The sentence is ambiguous.", "other"),
    ("The nurse. He refers to a man from another story.", "incorrect"),
    # Referring to oneself: as the pronoun does.
    ("The mechanic seems to be referring to himself.", "correct"),
    ("The mechanic refers to herself.", "other"),
    ("The mechanic refers to himself as a businessman.", "other"),
    ("The mechanic is referred to as the nurse.", "other"),
    # What the sentence says of the pronoun, and nothing else.
    ("The nurse is the one who provides the rides.", "other"),
    ("It is not true that the nurse did not want to seem rude.", "other"),
    ("The mechanic did it.", "correct"),
    # A name at which the reply breaks off, or of which it goes on to deny something.
    ("The mechanic... It seems they are referring to the nurse.", "incorrect"),
    ("The mechanic... (presumably the nurse)", "other"),
    ("The mechanic...", "correct"),
    ("The mechanic... He is a name from an old game.", "correct"),
    ("The mechanic... He is a name that the nurse knew.", "other"),
    # A name of which at least four letters are there.
    ("The tough Mechan", "correct"),
    ("Nur", "other"),
    ("The rude", "other"),
    ("The mechanic (M) does not refer to anyone named M.", "other"),
    ("The mechanic who was asleep does not say.", "other"),
    ("The mechanic was kind, not 'he,' referring to the nurse.", "other"),
    ("The mechanic walked - he was a loyal nurse.", "other"),
    ("'He' refers to the nurse, who is not specified.", "incorrect"),
    ("The mechanic, the one who still looked uncertain.", "correct"),
    ("The mechanic's not sure what to say.", "other"),
    ("You're not sure?", "other"),
    ("The mechanic. The word 'he' is quite ambiguous.", "other"),
    ("The nurse is a subject, used to refer to the nurse of a ward.", "other"),
    # A noun phrase with two adjectives.
    ("The smart, ambitious nurse.", "incorrect"),
    ("The smart, ambitious nurse was rude.", "other"),
    # Contradictions.
    ("The nurse is 'he' referring to the mechanic.", "other"),
    ("The nurse is not specified, but the mechanic is there.", "other"),
    # Who someone is whose name is known is another question.
    ("It's unclear who the nurse is.", "other"),
    ("It's unclear who he is.", "unsure"),
    # Refusals, which do not begin with a retelling.
    ("The mechanic... I'm sorry, I am unable to provide an answer.", "refusal"),
    ("The mechanic met the nurse, but I'm unable to provide details.", "other"),
    # Thoughts, also those of which only the end is marked.
    ("It may be the nurse. He is the nurse.</think>\n\nmechanic", "correct"),
    ("<think>He refers to the nurse.</think> Mechanic", "correct"),
]  # fmt: skip


def kind_of(text, *, sentence=SENTENCE, answer="mechanic", other="nurse", pronoun="he"):
    asked = asked_in(f"{sentence} {QUESTION}", answer, other, pronoun=pronoun)
    return read_framed(text, asked)


@pytest.mark.parametrize(("text", "kind"), TABLE, ids=[row[0][:40] for row in TABLE])
def test_a_name_counts_where_it_is_the_answer(text, kind) -> None:
    assert kind_of(text) == kind


def test_the_right_one_and_the_wrong_one_are_read_by_the_same_rules() -> None:
    turned = {"correct": "incorrect", "incorrect": "correct"}
    for text, kind in TABLE:
        asked = asked_in(f"{SENTENCE} {QUESTION}", "nurse", "mechanic", pronoun="he")
        assert read_framed(text, asked) == turned.get(kind, kind), text


DIFFERENT = {
    "mechanic. The nurse was only there to help.": "correct",
    "The mechanic thanked the nurse because he was kind. He: mechanic": "correct",
    "The nurse, not the mechanic": "incorrect",
    "unsure, maybe the mechanic": "unsure",
}
"""What v2 reads otherwise than v1 among the cases of v1."""


def test_what_v1_reads_as_a_person_does_v2_reads_so_too_but_for_a_few() -> None:
    for text, (answer, other), kind in V1_TABLE:
        sentence = f"The {answer} thanked the {other} because he did not want to seem rude."
        read = kind_of(text, sentence=sentence, answer=answer, other=other)
        assert read == DIFFERENT.get(text, kind), text
        assert read_reply(text, answer, other) == kind, "v1 stays as it was"


@pytest.mark.parametrize(
    ("sentence", "pronoun", "reply", "kind"),
    [
        ("The cook met the guard and greeted him warmly.", "him", "The cook greeted the guard warmly.", "other"),
        ("The cook met the guard and did not blame him.", "him", "The cook did not blame the guard.", "incorrect"),
        ("The cook called the guard because his train was late.", "his", "Because the cook's train was late.", "correct"),
        ("The cook called the guard because he was late again.", "he", "Because the guard was late again.", "incorrect"),
        ("The cook spoke fast, so the guard did not understand him.", "him", "The guard did not understand the cook.", "correct"),
        ("The cook spoke fast, so the guard did not understand him.", "him", "The guard did not understand the cook spoke fast.", "other"),
        ("Once the cook had finished, the guard thanked him.", "him", "The cook was thanked for it.", "correct"),
        ("Once the cook had finished, the guard thanked him.", "him", "The cook is the one who was thanked.", "correct"),
        ("Once the cook had finished, the guard thanked him.", "him", "The cook was thanked by him.", "other"),
        ("Once the cook had finished, the guard thanked him.", "him", "Chef", "correct"),
        ("The cook saw the guard at the party and greeted him.", "him", "The guard at the party.", "incorrect"),
        ("The cook saw the guard at the party and greeted him.", "him", "Guard at the party and greeted him.", "other"),
    ],
)  # fmt: skip
def test_the_pronoun_s_place_is_known_for_every_pronoun(sentence, pronoun, reply, kind) -> None:
    found = kind_of(reply, sentence=sentence, answer="cook", other="guard", pronoun=pronoun)
    assert found == kind


def test_an_assistant_of_the_sentence_is_not_the_model_itself() -> None:
    reply, pair = "The helpful assistant herself.", {"answer": "assistant", "other": "cook"}
    sentence = "The helpful assistant thanked the cook because she was glad."
    assert kind_of(reply, sentence=sentence, pronoun="she", **pair) == "correct"
    plain = "The assistant thanked the cook because she was glad."
    assert kind_of(reply, sentence=plain, pronoun="she", **pair) == "other"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [("Her parents", "incorrect"), ("Emma's parents.", "incorrect"), ("Emma", "correct")],
)
def test_control_items_are_read_too(reply, kind) -> None:
    sentence = "The parents were proud of Emma because she had won the race."
    found = kind_of(reply, sentence=sentence, answer="Emma", other="parents", pronoun="she")
    assert found == kind


@given(text=st.text(max_size=80))
def test_any_text_has_a_kind_and_only_a_named_one_is_right_or_wrong(text) -> None:
    kind = kind_of(text)
    assert kind in {"correct", "incorrect", "unsure", "other", "refusal"}
    if kind in {"correct", "incorrect"}:
        assert {"correct": "mechanic", "incorrect": "nurse"}[kind] in text.casefold()


def read_again(path):
    """Labeled replies, and the label that v2 would give each."""
    rows = pl.read_csv(path).with_columns(pl.col("reply").fill_null(""))
    assert set(rows["label"]) <= {"first", "second", "unsure", "refusal", "other"}
    said = []
    for row in rows.iter_rows(named=True):
        pronoun = row["question"].split("'")[1]
        prompt = f"{row['sentence']} {row['question']}"
        asked = asked_in(prompt, row["first"], row["second"], pronoun=pronoun)
        read = read_framed(row["reply"], asked)
        said.append({"correct": "first", "incorrect": "second"}.get(read, read))
    return rows.with_columns(said=pl.Series(said))


@pytest.mark.parametrize(
    ("file", "right", "of"),
    [
        ("replies-labelled-first.csv", 231, 240),
        ("replies-labelled.csv", 192, 200),
        ("replies-labelled-thrice.csv", 199, 200),
        ("replies-labelled-fourth.csv", 197, 200),
    ],
)
def test_real_replies_are_read_as_someone_labeled_them_who_did_not_know_the_parser(
    file, right, of
) -> None:
    """Of Qwen2.5-Coder-1.5B's replies 499 of 500 are read as labeled, of SmolLM2-135M's 320 of 340.

    Most of SmolLM2's retell the sentence or ramble. The rules were mended after these replies, so
    that this is no estimate for others. The last two files have the labels of three language models
    (not people) that worked alone, settled by the majority. Of SmolLM2's 80 replies in each, all three agree on 73
    and 77; the parser read 61 and 67 as the majority did before it had seen any of them, and of
    Qwen's 120 in the last one 119.
    The floors are what holds today.
    """
    rows = read_again(DATA / file)
    assert rows.height == of
    assert rows.filter(said=pl.col("label")).height >= right


def test_of_replies_that_no_rule_was_made_for_19_in_20_are_read_as_labeled() -> None:
    """The last set: three language models, not people, labeled it; no rule was changed since.

    All three agree on 196 of the 200. Where the parser and the majority differ, SmolLM2 rambles.
    A rule that is mended after these replies needs a new set.
    """
    rows = read_again(DATA / "replies-labelled-fifth.csv")
    assert rows.height == 200
    assert rows.filter(one=pl.col("two"), two=pl.col("three")).height == 196
    right = rows.filter(said=pl.col("label"))
    assert right.height >= 190
    capable = right.filter(model="Qwen2.5-Coder-1.5B-Instruct")
    assert capable.height == 120


def test_a_capable_models_replies_are_read_as_labeled() -> None:
    rows = read_again(DATA / "replies-labelled.csv")
    capable = rows.filter(model="Qwen2.5-Coder-1.5B-Instruct")
    right = capable.filter(said=pl.col("label"))
    # Whatever it misses, it does not take one person for the other.
    pairs = [*rows.select("said", "label").iter_rows()]
    assert not [pair for pair in pairs if {*pair} == {"first", "second"}]
    assert capable.height == 120
    assert right.height >= 0.95 * capable.height
