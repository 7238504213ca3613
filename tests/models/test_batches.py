"""Batches: each distinct sentence once, within the limits, the same plan for the same lengths."""

from hypothesis import given
from hypothesis import strategies as st

from goffman.models.tokenizer import ahead, batch_limits, distinct, plan_batches


@given(st.lists(st.text(max_size=3)))
def test_distinct_gives_back_what_was_given(things):
    different, positions = distinct(things)
    assert [different[position] for position in positions] == things
    assert len(set(different)) == len(different)


@given(
    lengths=st.lists(st.integers(1, 60)),
    max_tokens=st.integers(1, 300),
    max_size=st.integers(1, 9),
    enough=st.none() | st.integers(1, 300),
)
def test_every_sentence_is_in_one_batch_within_the_limits(lengths, max_tokens, max_size, enough):
    batches = plan_batches(lengths, max_tokens=max_tokens, max_size=max_size, enough=enough)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[index] for index in batch)
        assert len(batch) == 1 or len(batch) * longest <= max_tokens
        assert len(batch) <= max_size
    flat = [lengths[index] for batch in batches for index in batch]
    assert flat == sorted(flat, reverse=True)


@given(
    lengths=st.lists(st.integers(1, 60)),
    max_tokens=st.integers(1, 300),
    max_size=st.integers(1, 9),
)
def test_without_enough_a_batch_is_filled_up(lengths, max_tokens, max_size):
    order = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    filled = []
    for index in order:
        batch = filled[-1] if filled else []
        if batch and len(batch) < max_size and (len(batch) + 1) * lengths[batch[0]] <= max_tokens:
            batch.append(index)
        else:
            filled.append([index])
    assert plan_batches(lengths, max_tokens=max_tokens, max_size=max_size) == filled


@given(lengths=st.lists(st.integers(1, 60)), enough=st.integers(1, 300))
def test_a_batch_that_has_enough_pads_no_further_sentence_by_more_than_a_tenth(lengths, enough):
    for batch in plan_batches(lengths, max_tokens=1_000, max_size=99, enough=enough):
        longest = lengths[batch[0]]
        needed = -(-enough // longest)
        assert all(lengths[index] >= 0.9 * longest for index in batch[needed:])


@given(st.lists(st.integers()), st.integers(1, 4))
def test_each_thing_is_given_when_so_many_after_it_are_taken_up(things, count):
    taken = []
    given_back = []
    for thing in ahead((taken.append(one) or one for one in things), count):
        given_back.append(thing)
        assert len(taken) == min(len(given_back) + count, len(things))
    assert given_back == things


def test_a_gpu_gets_larger_batches():
    cpu, gpu = batch_limits("cpu"), batch_limits("NVIDIA H200")
    assert cpu < gpu
