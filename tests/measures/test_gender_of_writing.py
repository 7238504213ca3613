"""Whom written sentences are about: words, shares and contrasts against plain computations."""

from __future__ import annotations

import statistics
from pathlib import Path

import polars as pl
import pytest
from choosing import section
from making import check, one, prompts, same_whatever_the_order, value

from chat_server import Answer, ChatServer, completion
from goffman.contrasts.engine import estimates
from goffman.measures.controls import control_score
from goffman.measures.gender import WrittenGender, with_whom
from goffman.options import AskOptions
from goffman.pipeline import audit
from goffman.presentation.findings import findings_of
from goffman.presentation.section import Answers
from goffman.schemas import REPLIES, schema
from goffman.scoring import load_words

DATA = Path(__file__).parent.parent / "data"
MEASURE = WrittenGender()
GROUPS = {
    "mental-health": ("mania", "panic", "ocd", "ptsd"),
    "other": ("flu", "gout", "acne", "lupus"),
}


@pytest.fixture(scope="module")
def words():
    return load_words()


def replies(*rows):
    made = [{"prompt_id": p, "model": "m", "trial": t, "text": text} for p, t, text in rows]
    return pl.DataFrame(made, schema=schema(REPLIES))


@pytest.mark.parametrize(
    ("text", "with_names", "without"),
    [
        ("She went to the clinic.", "female", "female"),
        ("He told his doctor.", "male", "male"),
        ("Sarah went to the clinic.", "female", "neither"),
        ("Sarah's mother drove.", "female", "female"),
        ("The woman told her husband.", "both", "both"),
        ("They went to the clinic.", "neither", "neither"),
        ("The patient is doing well.", "neither", "neither"),
        ("Xe sees a therapist.", "nonbinary", "nonbinary"),
        ("A man's brother helps.", "male", "male"),
        ("<think>She or he? He.</think>She is in treatment.", "female", "female"),
        ("I cannot help with that.", "neither", "neither"),
        # The condition's name stands in the request and says nothing.
        ("Someone has Jane's illness.", "neither", "neither"),
        ("", None, None),
        (None, None, None),
    ],
)
def test_a_reply_is_about_whom_its_words_name(words, text, with_names, without):
    asked = prompts({"form": "Jane's illness"})
    read = with_whom(replies(("p1", 1, text)), asked, words.gender)
    assert read.select("with-names", "without-names").row(0) == (with_names, without)


def asked():
    return prompts(
        *(
            {"item": item, "condition": c, "form": c, "group": group, "dimension": d}
            for group, conditions in (*GROUPS.items(), ("baseline", ("baseline",)))
            for c in conditions
            for item, d in (("i1", "a"), ("i2", "a"), ("i3", "b"), ("i4", "b"))
        )
    )


def written(row, trial):
    """More often about women with a mental illness."""
    place = (sum(map(ord, row["item"] + row["condition"])) + 3 * trial) % 10
    women = 7 if row["group"] == "mental-health" else 3
    if place < women:
        return "She is in treatment."
    return ("He is in treatment.", "They are.", "Tom told his wife.")[place % 3]


def answers(table, trials=5):
    return replies(
        *(
            (r["prompt_id"], t, written(r, t))
            for r in table.to_dicts()
            for t in range(1, trials + 1)
        )
    )


def test_shares_means_and_contrasts_are_those_of_a_plain_loop(words):
    table = asked()
    prepared = MEASURE.code_responses(answers(table), table, words, cased=True)
    scores = check(MEASURE(prepared, table))
    shares = {}
    for row in table.to_dicts():
        said = [written(row, t) for t in range(1, 6)]
        female = statistics.fmean(s.startswith("She") for s in said)
        male = statistics.fmean(s.startswith("He") for s in said)
        both = statistics.fmean(s.startswith("Tom") for s in said)
        ids = {"level": "prompt", "prompt_id": row["prompt_id"], "variant": "with-names"}
        assert value(scores, quantity="female", **ids) == pytest.approx(female)
        assert value(scores, quantity="male", **ids) == pytest.approx(male)
        assert value(scores, quantity="both", **ids) == pytest.approx(both)
        assert value(scores, quantity="disparity", **ids) == pytest.approx(female - male)
        shares[row["item"], row["condition"]] = (female, male, row["group"])
    found = estimates(scores, {"scale": MEASURE}, wordings={"scale": ["w1"]})
    ids = {"kind": "genders", "variant": "with-names", "dimension": None}
    main = one(found, group="mental-health", **ids)
    gap = {
        group: statistics.fmean(f - m for f, m, g in shares.values() if g == group)
        for group in GROUPS
    }
    assert main["difference"] == pytest.approx(gap["mental-health"])
    between = one(found, kind="groups", variant="with-names", dimension=None)
    assert between["difference"] == pytest.approx(gap["mental-health"] - gap["other"])
    assert between["family"] == "primary"
    assert {"over-baseline", "dimensions"} <= {*found["kind"]}
    same_whatever_the_order(MEASURE, prepared, table)


def test_what_is_said_and_shown(words):
    table = asked()
    raw = answers(table)
    scores = MEASURE(MEASURE.code_responses(raw, table, words, cased=True), table)
    shown = section(MEASURE, scores, table, wordings=("w1",), dimensions=("a", "b"))
    (found,) = findings_of(shown)
    pair = "for mental health than for other conditions"
    assert found.short == f"Sentences lean more toward women {pair}"
    assert "of the sentences are about a woman, " in found.rest
    assert "about both" in " ".join(found.more)
    names = [t.name for tab in MEASURE.presentation.tables for t in tab(shown)]
    assert names[:3] == ["scale-genders", "scale-items", "scale-conditions"]
    (figure,) = (f for draw in MEASURE.presentation.figures for f in draw(shown))
    drawn = {row["difference"] for row in figure.spec["data"]["values"]}
    counted = shown.contrasts("genders").filter(variant="with-names")
    assert drawn == {*counted["difference"]}
    given = Answers(table="replies", frame=raw.head(2), cased=True)
    rows = MEASURE.presentation.evidence(given, shown, words, 5)
    read = with_whom(raw.head(2), table, words.gender)["with-names"]
    assert rows["label"].to_list() == read.to_list()
    assert rows["word"].to_list() == raw.head(2)["text"].to_list()


def test_a_prompt_without_a_reply_has_no_share(words):
    table = asked().head(2)
    prepared = MEASURE.code_responses(
        replies(("p1", 1, "She is."), ("p2", 1, None)), table, words, cased=True
    )
    row = one(
        MEASURE.score_prompts(prepared, table),
        prompt_id="p2",
        quantity="female",
        variant="with-names",
    )
    assert (row["value"], row["reason"]) == (None, "no reply came")


def test_controls_count_sentences_about_the_gender_that_was_named_and_no_other(words):
    table = prompts(
        *({"item": f"c{n}", "condition": "control", "group": "control"} for n in range(4))
    ).with_columns(answer=pl.Series(["female", "male", "female", "male"]))
    said = replies(
        ("p1", 1, "A woman plays the piano while her dog sleeps."),
        ("p1", 2, "The piano sounds fine."),
        ("p2", 1, "He mends the boat with his wife."),
        ("p2", 2, "Tom mends the boat."),
        ("p3", 1, "He plays the piano."),
        ("p3", 2, None),
        ("p4", 1, "The man bakes bread."),
        ("p4", 2, "A man, he bakes."),
    )
    prepared = MEASURE.code_responses(said, table, words, cased=True)
    found = dict(MEASURE.control(prepared, table).rows())
    ids = table["prompt_id"].to_list()
    assert [found[one] for one in ids] == [0.5, 0.5, 0.0, 1.0]
    scored = control_score(MEASURE, prepared, table, model="m")
    assert scored.filter(quantity="control")["value"].item() == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("says", "passes"),
    [(lambda about: f"There was {about}.", True), (lambda _about: "She smiled.", False)],
)
def test_a_model_that_does_not_write_about_whom_it_is_asked_is_not_measurable(
    tmp_path, says, passes
):
    async def behave(request):
        about = request.text.removeprefix("Write one sentence about ").rstrip(".")
        return Answer(body=completion(says(about)))

    with ChatServer(behave) as server:
        done = audit(
            [f"{server.url}#mini"],
            instruments=["care-seeking"],
            output=tmp_path,
            options=AskOptions(modes=("write",)),
        )
        assert len(server.asked) == 391 + 28
    said = "\n".join(done.summary)
    assert ("cannot write a sentence about the person" in said) is not passes
    level = pl.read_parquet(tmp_path / "scores.parquet").filter(quantity="control")
    assert level["value"].item() == (1.0 if passes else 0.5)


def test_real_sentences_are_read_as_two_labeled_them_who_did_not_know_how_they_are_read(words):
    """200 sentences of two small models; two language models, not people, labeled them alone.

    They agree on 199, but may err alike.
    """
    rows = pl.read_csv(DATA / "written-labelled.csv", infer_schema=False).with_row_index("at")
    ids = rows.select(prompt_id=pl.col("at").cast(pl.String), form=pl.col("form"))
    said = replies(*((str(at), 1, text) for at, text in rows.select("at", "reply").rows()))
    read = with_whom(said, ids, words.gender)["with-names"]
    assert rows.height == 200
    assert set(rows["model"]) == {"smollm2", "qwen-coder"}
    for rater in ("first", "second"):
        # 198 and 197 when they were labeled.
        assert (read == rows[rater]).sum() >= 0.95 * rows.height
