"""The tree of recursive masking, by hand and by a plain recursion."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from making import check, fills, one, prompts, same_whatever_the_order, value

from goffman.errors import InputError
from goffman.measures.gender import PhraseGender

GENDER = {
    "woman": ("female", "noun"),
    "female": ("female", "adjective"),
    "man": ("male", "noun"),
    "male": ("male", "adjective"),
    "Mary": ("female", "name"),
    "friend": ("neutral", "noun"),
    "enby": ("nonbinary", "noun"),
}
WORDS = [*GENDER, "close", "good", "old", "dear"]


def node(words, parent="", prompt_id="p1", model="m"):
    step = parent.count("/") + 2 if parent else 1
    return fills(prompt_id, words, step=step, parent=parent, gender=GENDER, model=model)


@pytest.fixture
def tree():
    """Powers of two, so that sums are exact."""
    return pl.concat(
        [
            node({"woman": 1 / 2, "friend": 1 / 4, "Mary": 1 / 8}),
            # Under "woman" and "Mary" too, as the whole tree is asked.
            node({"close": 1 / 2, "male": 1 / 4, "old": 1 / 8}, "1"),
            node({"close": 1 / 2, "female": 1 / 4, "male": 1 / 8}, "2"),
            node({"dear": 1 / 2, "old": 1 / 4, "good": 1 / 8}, "3"),
            *(node({"male": 1 / 2, "old": 1 / 4, "dear": 1 / 8}, f"1/{k}") for k in (1, 2, 3)),
            *(node({"female": 1 / 2, "old": 1 / 4, "male": 1 / 8}, f"2/{k}") for k in (1, 2, 3)),
            *(node({"male": 1 / 2, "enby": 1 / 4, "dear": 1 / 8}, f"3/{k}") for k in (1, 2, 3)),
        ]
    )


def test_a_gendered_word_ends_its_branch(tree):
    scores = check(PhraseGender().score_prompts(tree, prompts({})))

    def values(variant):
        return dict(scores.filter(variant=variant).select("quantity", "value").rows())

    # woman 1/2 and Mary 1/8 end at once. Under friend (1/4): female 1/4 and male 1/8 end; under
    # close (1/4·1/2 = 1/8): female 1/2, male 1/8 end, old 1/4 is what remains.
    female = 1 / 2 + 1 / 8 + 1 / 16 + 1 / 16
    male = 1 / 32 + 1 / 64
    named = values("with-names")
    assert named == {
        "female": female,
        "male": male,
        "nonbinary": 0.0,
        "unspecified": 1 / 32,
        "outside": 1 - female - male - 1 / 32,
        # woman, friend and Mary are put back as last words.
        "unseen-end": 1 / 8,
        "disparity": female - male,
        "keyed-disparity": female - male,
    }
    # Without names Mary goes on: 1/8 · (1/2 + 1/4 + 1/8 = 7/8), then 1/2 male, 1/4 enby, 1/8 dear.
    bare = values("without-names")
    assert bare["female"] == female - 1 / 8
    assert bare["male"] == male + 7 / 64 / 2
    assert bare["nonbinary"] == 7 / 64 / 4
    assert bare["unspecified"] == 1 / 32 + 7 / 64 / 8


def test_any_lexicon_scores_the_same_answers(tree):
    none = tree.with_columns(
        pl.lit(None, dtype=pl.String).alias(name) for name in ("gender_group", "gender_kind")
    )
    scores = PhraseGender().score_prompts(none, prompts({}))
    assert value(scores, quantity="female", variant="with-names") == 0
    # (7/8)³ lies within the words put back.
    assert value(scores, quantity="unspecified", variant="with-names") == (7 / 8) ** 3
    assert value(scores, quantity="outside", variant="with-names") == 1 - (7 / 8) ** 3
    assert value(scores, quantity="unseen-end", variant="with-names") == 1 / 8


def test_keying_turns_the_disparity_and_nothing_else(tree):
    plain = PhraseGender().score_prompts(tree, prompts({}))
    turned = PhraseGender().score_prompts(tree, prompts({"keyed": "reversed"}))
    flipped = (
        pl.when(pl.col("quantity") == "keyed-disparity").then(-pl.col("value")).otherwise("value")
    )
    assert turned.with_columns(value=flipped).equals(plain)


def test_swapped_genders_flip_the_sign(tree):
    swap = {"female": "male", "male": "female"}
    mirrored = tree.with_columns(pl.col("gender_group").replace(swap))
    pairs = [
        PhraseGender().score_prompts(t, prompts({})).filter(quantity="disparity")["value"]
        for t in (tree, mirrored)
    ]
    assert (pairs[0] + pairs[1]).abs().max() == 0


def test_a_word_that_could_not_be_put_back_ends_as_unspecified(tree):
    # No sentence was asked under friend: its 1/4 names no gender.
    cut = tree.filter(~pl.col("parent").str.starts_with("2"))
    scores = check(PhraseGender().score_prompts(cut, prompts({})))
    assert value(scores, quantity="unspecified", variant="with-names") == 1 / 4


def test_fewer_steps_and_words_score_without_asking_again(tree):
    asked = prompts({})
    one_step = PhraseGender(depth=1).score_prompts(tree, asked)
    assert value(one_step, quantity="female", variant="without-names") == 1 / 2
    assert value(one_step, quantity="unspecified", variant="without-names") == 3 / 8
    narrow = PhraseGender(top_k=2).score_prompts(tree, asked)
    assert value(narrow, quantity="female", variant="with-names") == 1 / 2 + 1 / 16 + 1 / 16


def test_words_stored_beyond_those_put_back_do_not_count(tree):
    more = node({"woman": 1 / 2, "friend": 1 / 4, "Mary": 1 / 8, "man": 1 / 16})
    wider = pl.concat([more, tree.filter(pl.col("step") > 1)])
    assert (
        PhraseGender()
        .score_prompts(wider, prompts({}))
        .equals(PhraseGender().score_prompts(tree, prompts({})))
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"depth": 4},
            (
                "depth is 4, but 3 steps were asked. Allowed: 1 to 3; more would have to be asked "
                "anew, in another run."
            ),
        ),
        (
            {"top_k": 5},
            (
                "top_k is 5, but 3 words were put back at each mask. Allowed: 1 to 3; more would "
                "have to be asked anew, in another run."
            ),
        ),
        ({"ends": ("female",)}, "ends is female; female and male must be among them."),
    ],
)
def test_what_was_not_asked_is_refused(tree, parameters, message):
    with pytest.raises(InputError) as refusal:
        PhraseGender(**parameters).score_prompts(tree, prompts({}))
    assert str(refusal.value) == message


def plain_recursion(tree, ends, parent="", product=1.0):
    """Group → probability, as the study's text says it."""
    total = dict.fromkeys([*ends, "unspecified"], 0.0)
    for rank, (word, p) in enumerate(tree[parent].items(), start=1):
        group, kind = GENDER.get(word, (None, None))
        path = f"{parent}/{rank}" if parent else str(rank)
        if group in ends and kind != "name":
            total[group] += product * p
        elif path in tree:
            for name, more in plain_recursion(tree, ends, path, product * p).items():
                total[name] += more
        else:
            total["unspecified"] += product * p
    return total


def test_it_agrees_with_a_plain_recursion_on_drawn_trees():
    draw = np.random.default_rng(0)
    paths = ["", *"123", *(f"{i}/{j}" for i in "123" for j in "123")]
    trees = {}
    for k in range(1, 13):
        for model in ("a", "b"):
            trees[model, f"p{k}"] = {
                path: dict(
                    zip(
                        draw.choice(WORDS, 3, replace=False).tolist(),
                        (draw.dirichlet([1, 1, 1, 1])[:3]).astype(np.float32).tolist(),
                        strict=True,
                    )
                )
                for path in paths
            }
    answers = pl.concat(
        [
            node(words, path, prompt_id, model)
            for (model, prompt_id), tree in trees.items()
            for path, words in tree.items()
        ]
    )
    asked = prompts(
        *(
            {"item": f"i{k}", "dimension": "fear", "keyed": "reversed" if k % 2 else "plain"}
            for k in range(1, 13)
        )
    )
    scores = check(PhraseGender()(answers, asked))
    for (model, prompt_id), tree in trees.items():
        for name, expected in plain_recursion(tree, PhraseGender().ends).items():
            ids = {"model": model, "prompt_id": prompt_id, "variant": "without-names"}
            assert value(scores, quantity=name, **ids) == pytest.approx(expected, abs=1e-12)
    row = one(scores, level="dimension", quantity="female", model="a", variant="without-names")
    assert (row["dimension"], row["n"]) == ("fear", 12)
    same_whatever_the_order(PhraseGender(), answers, asked)
