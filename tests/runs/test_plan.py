"""What is asked together depends on the sentences alone."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goffman.errors import InputError
from goffman.instruments.types import Instrument, Questionnaire, Slot
from goffman.runs.batch_plan import (
    BatchLimits,
    limits_for,
    make_plan,
    part_digest,
    part_sentences,
    settings_of,
)
from goffman.runs.recursive_masking import Settings

tokens = st.sampled_from([0, 1, 2, 255, 256, 65_536]) | st.integers(0, 2**32 - 1)
texts = st.lists(st.lists(tokens, min_size=1, max_size=5), min_size=1, max_size=40)
limits = st.builds(
    BatchLimits,
    max_tokens=st.integers(1, 30),
    max_size=st.integers(1, 6),
    part_size=st.integers(1, 12),
)


@given(texts, limits)
def test_every_text_is_answered_by_its_own_sentence_exactly_once(encoded, limits):
    plan = make_plan(encoded, limits)
    asked = [index for part in plan.parts for batch in part for index in batch]
    assert sorted(asked) == list(range(len(plan.written)))
    answered = [position for index in asked for position in plan.positions[index]]
    assert sorted(answered) == list(range(len(encoded)))
    for index, positions in enumerate(plan.positions):
        assert positions
        assert all(encoded[position] == list(plan.sentence(index)) for position in positions)
        assert list(plan.in_array(index)) == list(plan.sentence(index))


@given(texts, limits)
def test_the_longest_come_first_and_those_of_one_length_by_their_tokens(encoded, limits):
    plan = make_plan(encoded, limits)
    found = [list(plan.sentence(index)) for index in range(len(plan.written))]
    assert found == sorted(found, key=lambda sentence: (-len(sentence), sentence))


@given(texts, limits)
def test_a_sentence_that_is_asked_twice_stands_in_the_plan_once(encoded, limits):
    plan = make_plan(encoded + encoded, limits)
    assert plan.written == make_plan(encoded, limits).written
    assert len(set(plan.written)) == len(plan.written)


@given(texts, limits, st.randoms(use_true_random=False))
def test_the_order_of_the_texts_does_not_change_what_is_asked_together(encoded, limits, random):
    mixed = random.sample(encoded, len(encoded))
    plan, other = make_plan(encoded, limits), make_plan(mixed, limits)
    assert (plan.written, plan.parts) == (other.written, other.parts)


@given(texts, limits)
def test_batches_and_parts_keep_to_their_limits(encoded, limits):
    plan = make_plan(encoded, limits)
    for part in plan.parts:
        *full, _ = part
        assert sum(map(len, full)) < limits.part_size
        for batch in part:
            longest = max(len(plan.sentence(index)) for index in batch)
            assert len(batch) == 1 or len(batch) * longest <= limits.max_tokens
            assert len(batch) <= limits.max_size
    for part in plan.parts[:-1]:
        assert sum(map(len, part)) >= limits.part_size


def test_a_part_s_sentences_are_in_the_order_in_which_they_are_asked():
    plan = make_plan([[n] for n in range(10)], BatchLimits(max_tokens=9, max_size=2, part_size=3))
    assert [part_sentences(plan, n) for n in range(3)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_a_part_s_digest_changes_with_its_sentences_batches_askers_and_with_nothing_else():
    limits = BatchLimits(max_tokens=9, max_size=2, part_size=3)
    encoded = [[n, n] for n in range(10)]
    names = [f"p{n}" for n in range(10)]

    def digests(encoded, names, limits=limits, setup="a model"):
        plan = make_plan(encoded, limits)
        numbers = range(len(plan.parts))
        return [part_digest(plan, number, names=names, setup=setup) for number in numbers]

    first, second, third = digests(encoded, names)
    assert len({first, second, third}) == 3
    assert {len(digest) for digest in (first, second, third)} == {16}
    assert digests(encoded[::-1], names[::-1]) == [first, second, third]
    # The last sentence reads otherwise, or another asks it: only its part is another.
    assert digests([*encoded[:9], [9, 8]], names)[:2] == [first, second]
    assert digests([*encoded[:9], [9, 8]], names)[2] != third
    assert digests(encoded, [*names[:9], "q"])[:2] == [first, second]
    assert digests(encoded, [*names[:9], "q"])[2] != third
    assert digests(encoded, names, BatchLimits(max_tokens=9, max_size=1, part_size=4))[0] != first
    assert {first, second, third}.isdisjoint(digests(encoded, names, setup="another"))


@given(texts, limits, st.text())
def test_a_part_s_digest_is_that_of_its_json(encoded, limits, seed):
    plan = make_plan(encoded, limits)
    names = [f"{seed}/{number}" for number in range(len(encoded))]
    for number, batches in enumerate(plan.parts):
        part = [
            [(list(plan.sentence(i)), [names[at] for at in plan.positions[i]]) for i in batch]
            for batch in batches
        ]
        written = json.dumps([seed, part]).encode()
        expected = hashlib.sha256(written).hexdigest()[:16]
        assert part_digest(plan, number, names=names, setup=seed) == expected


def test_a_given_batch_size_decides_alone():
    limits = limits_for("cpu", batch_size=3)
    plan = make_plan([[n] * 500 for n in range(7)], limits)
    assert [len(batch) for part in plan.parts for batch in part] == [3, 3, 1]


def instrument(**settings):
    return Instrument(
        id="scale",
        version="1",
        title="",
        kind="fill",
        citation="",
        licence="",
        settings=settings,
        content=Questionnaire(wordings=(), slot=Slot(name="x", filled=""), items=(), conditions=()),
    )


def test_settings_come_from_the_instrument_and_the_user_s_top_k_before_them():
    assert settings_of(instrument(top_k=7)) == Settings(top_k=7, width=7)
    deep = instrument(top_k=10, depth=3, placement="before-last")
    assert settings_of(deep, top_k=50, targets=["she", "he", "she"]) == Settings(
        top_k=50, depth=3, width=10, placement="before-last", targets=("he", "she")
    )


@pytest.mark.parametrize(
    ("given_settings", "top_k", "message"),
    [
        (
            {"top_k": 10, "depth": 3},
            5,
            (
                "scale: --top-k is 5, but each step needs the 10 most probable words. "
                "Give --top-k 10 or more."
            ),
        ),
        (
            {"top_k": 10},
            0,
            "scale: top_k is 0, depth 1 and width 10; each is a whole number of at least 1.",
        ),
        (
            {"placement": "before-frst"},
            None,
            (
                "scale: placement is 'before-frst'. Allowed: before-first, before-last. "
                "Did you mean 'before-first'?"
            ),
        ),
    ],
)
def test_settings_that_cannot_be_asked_are_refused(given_settings, top_k, message):
    with pytest.raises(InputError) as refusal:
        settings_of(instrument(**given_settings), top_k=top_k)
    assert str(refusal.value) == message
