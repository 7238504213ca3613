"""The deviation of a lower precision is measured, and is none for the same model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from goffman.models.base import LoadOptions
from goffman.models.precision import deviation
from goffman.models.spec import load
from tiny_models import sentences

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_a_lower_precision_deviates_as_counted_by_hand(
    precision: str, tiny: Callable[..., Path]
) -> None:
    exact = load(str(tiny("roberta")), use="fill")
    options = LoadOptions(precision=precision)  # type: ignore[arg-type]
    low = load(str(tiny("roberta")), use="fill", options=options)
    encoded = exact.encode(sentences()[::97])
    shares, largest = [], []
    for sentence in encoded:
        one, other = (
            model.fill_batch([sentence], top_k=len(exact.tokens)) for model in (exact, low)
        )
        shares.append(len({*one.token_ids[0, :20]} & {*other.token_ids[0, :20]}) / 20)
        by_id = dict(zip(other.token_ids[0], other.probabilities[0], strict=True))
        top = zip(one.token_ids[0, :20], one.probabilities[0, :20], strict=True)
        largest.append(max(abs(by_id[token] - probability) for token, probability in top))
        found = deviation(low, exact, encoded=[sentence], top_k=20)
        assert found.overlap == found.overlap_lowest == shares[-1]
        assert found.largest_difference == pytest.approx(largest[-1])
    # Together and alone differ by a few units of the low precision.
    found = deviation(low, exact, encoded=encoded, top_k=20)
    assert (found.sentences, found.top_k) == (len(encoded), 20)
    assert found.overlap == pytest.approx(np.mean(shares), abs=0.03)
    assert max(largest) / 3 < found.largest_difference < max(largest) * 3
    assert found.largest_difference > 0


def test_a_model_does_not_deviate_from_itself(tiny: Callable[..., Path]) -> None:
    model = load(str(tiny("roberta")), use="fill")
    found = deviation(model, model, encoded=model.encode(sentences()[:5]), top_k=50)
    assert (found.overlap, found.overlap_lowest, found.largest_difference) == (1.0, 1.0, 0.0)


def test_nothing_cannot_be_measured(tiny: Callable[..., Path]) -> None:
    model = load(str(tiny("roberta")), use="fill")
    with pytest.raises(ValueError, match="at least one sentence"):
        deviation(model, model, encoded=[], top_k=5)
