"""A GPU has its next batch before the answers to the last are fetched, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from asking import asking, prompts_of
from goffman.errors import AskingError
from goffman.models.base import Later
from goffman.models.resolve import load
from goffman.runs.collect import ask_batches
from goffman.runs.mode_adapters import FillMask
from goffman.runs.recursive_masking import Settings
from goffman.workers.protocol import Call
from tiny_models import sentences

TEXTS = sentences()[::40]
SETTINGS = Settings(top_k=5, depth=2, width=2)


@pytest.fixture(scope="module")
def model(tiny):
    return load(str(tiny("roberta")), kind="masked")


class OnGPU:
    """A real model that says it is on a GPU, and notes when a batch is begun and fetched."""

    def __init__(self, model, *, fails_at=None, done=()):
        """``done``: the batches that are calculated as soon as they are begun."""
        self._model, self._fails_at, self._done = model, fails_at, done
        self.identity = replace(model.identity, device="A GPU")
        self.noted = []
        self.prefill = 0

    def __getattr__(self, name):
        return getattr(self._model, name)

    def fill_batch_later(self, encoded, **told):
        number = self.prefill
        self.prefill += 1
        self.noted.append(f"begun {number}")
        if number == self._fails_at:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        answers = self._model.fill_batch_later(encoded, **told)

        def fetched():
            self.noted.append(f"fetched {number}")
            return answers()

        return Later(fetched, lambda: number in self._done)


def ask(folder, model):
    with asking(folder, model, prompts_of(TEXTS)) as job:
        return ask_batches(job, FillMask(model, SETTINGS))


def contents(folder):
    """Step, number and checksum of each part."""
    names = [path.name.split("-") for path in (folder / "answers").rglob("*.parquet")]
    return sorted((step, number, checksum) for step, number, _, checksum in names)


def test_three_more_batches_are_begun_before_one_is_fetched(model):
    encoded = model.encode(TEXTS)
    batches = [encoded[:3], encoded[3:7], encoded[7:8], encoded[8:9], encoded[9:11]]
    call = Call(method="fill_batch", arguments={"top_k": 5, "targets": [7]})
    gpu = OnGPU(model)
    found = [answer() for answer in call.each(gpu, batches)]
    begun = [f"begun {number}" for number in range(5)]
    fetched = [f"fetched {number}" for number in range(5)]
    assert gpu.noted == [*begun[:4], fetched[0], begun[4], *fetched[1:]]
    for batch, one in zip(batches, found, strict=True):
        expected = model.fill_batch(batch, top_k=5, targets=[7])
        np.testing.assert_array_equal(one.token_ids, expected.token_ids)
        np.testing.assert_array_equal(one.probabilities, expected.probabilities)
        np.testing.assert_array_equal(one.targets, expected.targets)


def test_answers_that_are_there_are_fetched_before_the_next_batch_is_begun(model):
    """The second is done, but waits for the first: answers come in the order of their batches."""
    gpu = OnGPU(model, done={1, 2, 3})
    batches = [[one] for one in model.encode(TEXTS[:5])]
    for answer in Call(method="fill_batch", arguments={"top_k": 5}).each(gpu, batches):
        answer()
    begun = [f"begun {number}" for number in range(5)]
    fetched = [f"fetched {number}" for number in range(5)]
    assert gpu.noted == [*begun[:4], *fetched[:4], begun[4], fetched[4]]


def test_a_cpu_calculates_a_batch_only_when_its_answers_are_fetched(model):
    """So that what was answered is kept before the next batch can fail."""
    gpu = OnGPU(model)
    gpu.identity = model.identity
    batches = [model.encode(TEXTS[:1]), model.encode(TEXTS[1:2])]
    answers = list(Call(method="fill_batch", arguments={"top_k": 5}).each(gpu, batches))
    assert len(answers) == 2
    assert gpu.noted == []


def test_a_run_with_batches_ahead_has_the_same_parts_to_the_byte(model, tmp_path):
    one, other = ask(tmp_path / "plain", model), ask(tmp_path / "ahead", OnGPU(model))
    assert one.asked_now == other.asked_now > len(TEXTS)
    assert len(contents(tmp_path / "plain")) > 4
    assert contents(tmp_path / "ahead") == contents(tmp_path / "plain")


def test_where_a_batch_cannot_be_begun_all_before_it_are_kept(model, tmp_path):
    plain = tmp_path / "plain"
    ask(plain, model)
    # Two batches make a part here: the third part fails at its first batch.
    with pytest.raises(AskingError, match="CUDA error: an illegal memory access"):
        ask(tmp_path / "fails", OnGPU(model, fails_at=4))
    assert contents(tmp_path / "fails") == contents(plain)[:2]
    ask(tmp_path / "fails", OnGPU(model))
    assert contents(tmp_path / "fails") == contents(plain)
