"""Batches: each distinct sentence once, within the limits, the same plan for the same lengths."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from goffman.models.batches import batch_limits, distinct, plan_batches


@given(st.lists(st.text(max_size=3)))
def test_distinct_gives_back_what_was_given(things: list[str]) -> None:
    different, positions = distinct(things)
    assert [different[position] for position in positions] == things
    assert len(set(different)) == len(different)


@given(
    lengths=st.lists(st.integers(1, 60)),
    max_tokens=st.integers(1, 300),
    max_size=st.integers(1, 9),
)
def test_every_sentence_is_in_one_batch_within_the_limits(
    lengths: list[int], max_tokens: int, max_size: int
) -> None:
    batches = plan_batches(lengths, max_tokens=max_tokens, max_size=max_size)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[index] for index in batch)
        assert len(batch) == 1 or len(batch) * longest <= max_tokens
        assert len(batch) <= max_size
    flat = [lengths[index] for batch in batches for index in batch]
    assert flat == sorted(flat, reverse=True)


def test_a_gpu_gets_larger_batches() -> None:
    cpu, gpu = batch_limits("cpu"), batch_limits("NVIDIA H200")
    assert cpu < gpu
