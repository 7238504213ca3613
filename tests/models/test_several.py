"""Copies of a model with the same weights, asked at the same time: the same numbers, sooner."""

import numpy as np
import pytest
import torch

from goffman.models.base import LoadOptions
from goffman.models.masked import MOST_COPIES
from goffman.models.resolve import load
from goffman.workers.protocol import Call
from tiny_models import sentences

CALL = Call(method="fill_batch", arguments={"top_k": 20})


@pytest.fixture
def threads():
    """Sets the number of threads that torch calculates with; afterwards it is what it was."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def loaded(folder, **options):
    return load(str(folder), kind="masked", options=LoadOptions(device="cpu", **options))


@pytest.mark.parametrize("family", ["bert", "roberta", "electra", "distilbert"])
def test_copies_answer_at_the_same_time_what_one_answers_alone(family, tiny, threads):
    model = loaded(tiny(family))
    encoded = model.encode(sentences()[:600])
    batches = [encoded[begin : begin + 7] for begin in range(0, 600, 7)]
    threads(1)
    assert model.several() == [model]
    expected = [CALL.of(model, batch) for batch in batches]
    threads(3)
    assert len(model.several()) == 3
    found = [answers() for answers in CALL.each(model, batches)]
    assert torch.get_num_threads() == 3
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.token_ids, other.token_ids)
        np.testing.assert_array_equal(one.probabilities, other.probabilities)


def test_copies_have_the_weights_of_the_first_and_are_made_once(tiny, threads):
    model = loaded(tiny("roberta"))
    threads(MOST_COPIES + 5)
    several = model.several()
    assert len(several) == MOST_COPIES
    assert model.several() == several
    for copy in several[1:]:
        assert copy._model is not model._model
        assert copy._scoring.scorer.__self__ is not model._scoring.scorer.__self__
        pairs = zip(copy._model.parameters(), model._model.parameters(), strict=True)
        assert all(own is first for own, first in pairs)
    threads(2)
    assert model.several() == several[:2]


def test_a_batch_that_fails_does_so_in_its_place(tiny, threads):
    model = loaded(tiny("bert"))
    good = model.encode(sentences()[:3])
    threads(2)
    answers = CALL.each(model, [good, [[-1, model._tokens.mask_id]], good])
    assert len(next(answers)().token_ids) == 3
    with pytest.raises((IndexError, RuntimeError)):
        next(answers)()
    assert len(next(answers)().token_ids) == 3
    answers.close()
    assert torch.get_num_threads() == 2


def test_a_model_that_transformers_computes_has_no_copies(tiny, threads):
    threads(2)
    for model in (loaded(tiny("albert")), loaded(tiny("bert"), precision="bf16")):
        assert model.several() == [model]
