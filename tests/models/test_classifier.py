"""Classifiers give every class's probability, under the sentiments' names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
import transformers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goffman.errors import ModelError
from goffman.models.base import LoadOptions
from goffman.models.classifier import groups, sentiments
from goffman.models.spec import load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goffman.models.classifier import Classifier

TEXTS = [
    "They are people.",
    "They are people who have depression.",
    "These are people who have a criminal record and drug dependency, and were homeless.",
    "These are people who are kind.",
]
THREE = ("negative", "neutral", "positive")


@pytest.mark.parametrize("family", ["bert", "roberta"])
@pytest.mark.parametrize("labels", [("NEGATIVE", "POSITIVE"), ("NEG", "NEU", "POS")])
def test_probabilities_are_the_plain_forwards(
    family: str, labels: tuple[str, ...], tiny: Callable[..., Path]
) -> None:
    folder = tiny(family, labels=labels)
    model = load(str(folder), use="classify")
    assert model.labels == (THREE if len(labels) == 3 else ("negative", "positive"))
    found = model.classify_batch(model.encode(TEXTS))
    assert found.dtype == np.float32
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    plain = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    for row, text in enumerate(TEXTS):
        with torch.no_grad():
            logits = plain(**tokenizer(text, return_tensors="pt")).logits[0]
        np.testing.assert_allclose(found[row], torch.softmax(logits, -1).numpy(), rtol=1e-5)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(chosen=st.lists(st.integers(0, len(TEXTS) - 1), min_size=1, max_size=10))
def test_company_changes_nothing(chosen: list[int], tiny: Callable[..., Path]) -> None:
    model = load(str(tiny("roberta", labels=THREE)), use="classify")
    encoded = model.encode(TEXTS)
    together = model.classify_batch([encoded[index] for index in chosen])
    for row, index in enumerate(chosen):
        alone = model.classify_batch([encoded[index]])[0]
        np.testing.assert_allclose(together[row], alone, rtol=1e-5)


def test_which_sentences_go_together() -> None:
    encoded = [[1, 2], [1], [3, 4]]
    assert groups(encoded, "all") == [[0, 1, 2]]
    assert groups(encoded, "of one length") == [[0, 2], [1]]
    assert groups(encoded, "alone") == [[0], [1], [2]]


def test_out_of_memory_halves_the_batch(tiny: Callable[..., Path]) -> None:
    model: Classifier = load(str(tiny("bert", labels=THREE)), use="classify")  # type: ignore[assignment]
    encoded = model.encode(TEXTS)
    expected = model.classify_batch(encoded)

    def refuse(_: object, given: tuple[object, ...], named: dict[str, torch.Tensor]) -> None:
        if len(named["input_ids"]) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    model._model.register_forward_pre_hook(refuse, with_kwargs=True)
    np.testing.assert_allclose(model.classify_batch(encoded), expected, rtol=1e-5)


def test_a_text_too_long_is_refused(tiny: Callable[..., Path]) -> None:
    model = load(str(tiny("roberta", labels=THREE)), use="classify")
    with pytest.raises(ModelError) as error:
        model.encode(["is " * 200])
    assert str(error.value).startswith(
        f"A text has 202 tokens, '{model.identity.name}' reads at most 128: \"is is is"
    ) or str(error.value).startswith("A text has 203 tokens")


def refused(own: tuple[str, ...], given: dict[str, str] | None = None) -> str:
    with pytest.raises(ModelError) as error:
        sentiments("m", own, given=given)
    return str(error.value)


@pytest.mark.parametrize(
    ("own", "meant"),
    [
        (("NEGATIVE", "POSITIVE"), ("negative", "positive")),
        (("POS", "NEG"), ("positive", "negative")),
        (("NEG", "NEU", "POS"), THREE),
        (("Negative", "Neutral", "Positive"), THREE),
    ],
)
def test_labels_are_read_by_name(own: tuple[str, ...], meant: tuple[str, ...]) -> None:
    assert sentiments("m", own, given=None) == meant


def test_unknown_labels_are_refused_with_the_map_to_give(tiny: Callable[..., Path]) -> None:
    assert refused(("LABEL_0", "LABEL_1", "LABEL_2")) == (
        "The labels of 'm' are LABEL_0, LABEL_1, LABEL_2, which do not say which is negative, "
        "neutral and positive. Look it up in the model's card and say it, in its order: "
        "--labels LABEL_0=negative,LABEL_1=neutral,LABEL_2=positive"
    )
    assert refused(("no", "yes")) == (
        "The labels of 'm' are no, yes, which do not say which is negative and positive. Look it "
        "up in the model's card and say it, in its order: --labels no=negative,yes=positive"
    )
    options = LoadOptions(labels={"LABEL_0": "positive", "LABEL_1": "negative"})
    folder = str(tiny("bert", labels=("LABEL_0", "LABEL_1")))
    assert load(folder, use="classify", options=options).labels == ("positive", "negative")


def test_maps_that_cannot_be_right_are_refused() -> None:
    two = ("LABEL_0", "LABEL_1")
    assert refused(two, {"LABELS_0": "negative"}) == (
        "--labels names 'LABELS_0', and the labels of 'm' are LABEL_0, LABEL_1. Did you mean "
        "'LABEL_0'?"
    )
    assert refused(two, {"LABEL_0": "negativ"}) == (
        "--labels says LABEL_0=negativ; allowed are negative, neutral, positive. Did you mean "
        "'negative'?"
    )
    same = {"LABEL_0": "negative", "LABEL_1": "negative"}
    assert refused(two, same).endswith("--labels LABEL_0=negative,LABEL_1=positive")
    assert refused(("1", "2", "3", "4", "5")) == (
        "'m' has 5 classes (1, 2, 3, 4, 5); a classifier of sentiment is needed, with two "
        "(negative, positive) or three (negative, neutral, positive)."
    )


def test_a_head_that_reads_the_last_token_is_never_fed_padding(
    tiny: Callable[..., Path], tmp_path: Path
) -> None:
    """A GPT-2 whose padding id is not its tokenizer's takes padding for the last token."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny("roberta"))
    for name, pad in (("other", 0), ("none", None)):
        config = transformers.GPT2Config(
            vocab_size=len(tokenizer),
            n_embd=32,
            n_layer=2,
            n_head=2,
            n_positions=128,
            pad_token_id=pad,
            num_labels=2,
            id2label={0: "NEG", 1: "POS"},
            label2id={"NEG": 0, "POS": 1},
            initializer_range=0.5,
        )
        torch.manual_seed(1)
        folder = tmp_path / name
        transformers.GPT2ForSequenceClassification(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        model = load(str(folder), use="classify")
        encoded = model.encode(
            [
                "They are people.",
                "They are people who have a criminal record.",
                "I talk to someone.",
            ]
        )
        alone = np.concatenate([model.classify_batch([one]) for one in encoded])
        assert model.classify_batch(encoded) == pytest.approx(alone, rel=1e-4)
