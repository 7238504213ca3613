"""The top k: by probability, and of equals the smallest token ids."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from goffman.models.torch_common import most_probable


def assert_as_sorted(logits, *, top_k, targets=()):
    """The top k, and the targets, are those of a whole sort by probability, then token id."""
    filled = most_probable(logits, top_k=top_k, targets=targets)()
    probabilities = torch.softmax(logits.float(), dim=-1).numpy()
    for row, every in enumerate(probabilities):
        expected = np.lexsort((np.arange(len(every)), -every))[:top_k]
        assert filled.token_ids[row].tolist() == expected.tolist()
        assert filled.probabilities[row].tolist() == every[expected].tolist()
        assert filled.targets[row].tolist() == every[list(targets)].tolist()


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(60, 900),
    top_k=st.integers(1, 60),
    levels=st.sampled_from([1, 2, 5, 40, 10**6]),
)
def test_the_top_k_is_that_of_a_whole_sort(seed, size, top_k, levels):
    """With many tokens of one probability too: ``levels`` is how many different logits there are."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randint(levels, (3, size), generator=generator).float() / levels
    assert_as_sorted(logits, top_k=top_k, targets=[0, size - 1])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_equals_of_a_low_precision_are_ordered_too(dtype):
    logits = torch.randn(16, 5_000, generator=torch.Generator().manual_seed(1)).to(dtype)
    assert_as_sorted(logits, top_k=50)


@pytest.mark.parametrize("tied", [49, 50, 51])
def test_a_tie_at_the_edge_of_the_top_k_is_decided_by_the_token_id(tied):
    """The 50 best of 51 candidates, of which the last two are equal or not."""
    logits = torch.zeros(2, 1_000)
    order = torch.randperm(1_000, generator=torch.Generator().manual_seed(2))
    logits[0, order[:tied]] = torch.arange(tied, 0, -1.0)
    logits[1] = logits[0].flip(0)
    assert_as_sorted(logits, top_k=50)
