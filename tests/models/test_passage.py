"""Question-answering and inference models pick one of two people, as transformers' own would."""

import json
import random
import shutil

import numpy as np
import pytest
import torch
import transformers

from goffman.errors import ModelError
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import render
from goffman.models.base import PART, LoadOptions, not_a_number
from goffman.models.passage import QuestionAnswerer
from goffman.models.registry import Sample, deviation_of
from goffman.models.resolve import check, kind_of, load
from goffman.modes import mode_of
from refusals import message_of

FAMILIES = ("bert", "roberta", "distilbert", "albert", "electra", "deberta-v2", "mpnet", "xlnet")
INFERENCE = ("bert", "roberta", "deberta-v2")
LABELS = ("CONTRADICTION", "neutral", "Entailment")
ROOM = {"max_position_embeddings": 200}


def asked(mode, count=24):
    """Prompts of many conditions, items, wordings and both orders."""
    prompts = render(mode_of(load_instrument("two-people"), mode)).prompts
    return [one.asked for one in random.Random(0).sample(prompts, count)]


def plain_picks(folder, text):
    """One text, span by span, with transformers' own tokenizer and model."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(folder).eval()
    whole, *mentions = text.split(PART)
    passage, question = whole.split("\n")
    pair = (question, passage) if tokenizer.padding_side == "right" else (passage, question)
    read = tokenizer(*pair, return_offsets_mapping=True, return_tensors="pt")
    offsets = read.pop("offset_mapping")[0].tolist()
    which = 1 if tokenizer.padding_side == "right" else 0
    inside = [at for at, one in enumerate(read.sequence_ids(0)) if one == which]
    with torch.no_grad():
        output = model(**read)
    start, end = output.start_logits[0].double(), output.end_logits[0].double()
    empty = read["input_ids"][0].tolist().index(tokenizer.cls_token_id)
    total = {"empty": float(torch.exp(start[empty] + end[empty]))}
    for first in inside:
        for last in inside:
            if first > last:
                continue
            weight = float(torch.exp(start[first] + end[last]))
            low, high = offsets[first][0], offsets[last][1]
            # Some tokens begin with the space before a word, and some are only a space.
            low += passage[low:high].startswith(" ") and bool(passage[low:high].strip())
            whose = [
                mention
                for mention in mentions
                if passage.index(mention) <= low and high <= passage.index(mention) + len(mention)
            ]
            key = whose[0] if whose else "rest"
            total[key] = total.get(key, 0.0) + weight
    return [total[key] / sum(total.values()) for key in (*mentions, "empty")]


def plain_inference(folder, text):
    """One text, either statement by itself."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    passage, *statements = text.split(PART)
    classes = []
    for statement in statements:
        with torch.no_grad():
            logits = model(**tokenizer(passage, statement, return_tensors="pt")).logits[0]
        classes.append(dict(zip(LABELS, torch.softmax(logits, -1).tolist(), strict=True)))
    first, second = classes
    neutral = (first["neutral"] + second["neutral"]) / 2
    return [first["Entailment"] / 2, second["Entailment"] / 2, neutral]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_person_has_the_probability_of_all_spans_in_the_mention(family, tiny):
    folder = tiny(family, marks=True, **ROOM)
    model = load(str(folder), kind="qa")
    texts = asked("span", 6)
    found = model.pick_batch(model.encode(texts))
    assert found.dtype == np.float32
    for row, text in zip(found, texts, strict=True):
        np.testing.assert_allclose(row, plain_picks(folder, text), rtol=1e-4)


@pytest.mark.parametrize("family", INFERENCE)
def test_a_person_has_half_the_probability_of_entailment(family, tiny):
    folder = tiny(family, labels=LABELS, **ROOM)
    model = load(str(folder), kind="nli")
    texts = asked("entailment", 6)
    found = model.pick_batch(model.encode(texts))
    for row, text in zip(found, texts, strict=True):
        np.testing.assert_allclose(row, plain_inference(folder, text), rtol=1e-4)


@pytest.fixture(params=["qa", "nli"])
def either(request, tiny):
    if request.param == "qa":
        return load(str(tiny("roberta", marks=True, **ROOM)), kind="qa"), asked("span")
    return load(str(tiny("bert", labels=LABELS, **ROOM)), kind="nli"), asked("entailment")


def test_order_batches_and_duplicates_change_nothing(either):
    model, texts = either
    encoded = model.encode(texts)
    together = model.pick_batch(encoded)
    alone = np.concatenate([model.pick_batch([one]) for one in encoded])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    turned = model.pick_batch([*encoded[::-1], *encoded])
    np.testing.assert_allclose(turned, [*together[::-1], *together], atol=1e-6)
    assert model.encode(texts[::-1]) == encoded[::-1]


def test_the_order_of_the_options_is_only_that_of_the_columns(either):
    """The same passage with its mentions, or statements, given the other way round."""
    model, texts = either
    parts = [text.split(PART) for text in texts]
    swapped = [PART.join([text, second, first]) for text, first, second in parts]
    found, turned = (model.pick_batch(model.encode(some)) for some in (texts, swapped))
    np.testing.assert_allclose(turned, found[:, [1, 0, 2]], atol=1e-6)


def test_a_text_that_is_too_long_is_refused_and_never_cut(tiny):
    for kind, folder in (
        ("qa", tiny("bert", marks=True)),
        ("nli", tiny("bert", labels=LABELS)),
    ):
        model = load(str(folder), kind=kind)
        mode = "span" if kind == "qa" else "entailment"
        text = asked(mode, 1)[0].replace("They ", "They are here, and " * 60 + "they ", 1)
        with pytest.raises(ModelError) as caught:
            model.encode([text])
        assert "tokens, but" in str(caught.value)
        assert "reads at most 130" in str(caught.value)


def test_a_mention_that_is_not_there_once_is_refused(tiny):
    model = load(str(tiny("bert", marks=True, **ROOM)), kind="qa")
    text = PART.join(["Here are a cat and a cat.\nWho is it?", "a cat", "a dog"])
    assert message_of(ModelError, model.encode, [text]) == (
        '"a cat" must stand exactly once in the text, but it stands 2 times: "Here are a cat and '
        'a cat.".'
    )


def test_kinds_are_told_by_class_and_labels():
    sentiment = {0: "negative", 1: "neutral", 2: "positive"}
    nli = {"0": "contradiction", "1": "NEUTRAL", "2": "ENTAILMENT"}
    named = {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}
    for architecture, labels, kind in (
        ("BertForQuestionAnswering", named, "qa"),
        ("XLNetForQuestionAnsweringSimple", None, "qa"),
        ("RobertaForSequenceClassification", nli, "nli"),
        ("RobertaForSequenceClassification", sentiment, "classifier"),
        ("RobertaForSequenceClassification", named, "classifier"),
        ("RobertaForSequenceClassification", None, "classifier"),
        ("BertForMaskedLM", nli, "masked"),
    ):
        assert kind_of(architecture, "bert", chat=False, labels=labels) == kind


def test_labels_that_are_not_the_three_are_refused_before_anyone_is_asked(tiny):
    folder = str(tiny("bert", labels=("entailment", "not_entailment")))
    message = (
        f"The labels of '{folder}' are entailment, not_entailment. An NLI model needs exactly "
        "these in id2label of its config.json: entailment, neutral, contradiction."
    )
    for refuse in (
        lambda: check(folder, kind="nli", options=LoadOptions()),
        lambda: load(folder, kind="nli"),
    ):
        assert message_of(ModelError, refuse) == message


def test_a_tokenizer_without_places_is_refused(tiny):
    model = load(str(tiny("bert", marks=True, **ROOM)), kind="qa")

    class Slow:
        is_fast, model_max_length = False, 512

    assert message_of(ModelError, QuestionAnswerer, model.identity, model._model, Slow()) == (
        f"The tokenizer of '{model.identity.name}' does not say where its tokens lie in a text, so "
        "people cannot be found. Save a fast tokenizer (tokenizer.json) into its folder."
    )


def test_a_lower_precision_is_compared_with_float32(either):
    model, texts = either
    low = load(model.identity.name, kind=model.identity.kind, options=LoadOptions(precision="bf16"))
    assert low.identity != model.identity
    found = deviation_of(low, model, Sample(texts=texts, top_k=0, seed=0), ask="pick_batch")
    rough, exact = (
        np.concatenate([one.pick_batch([text]) for text in model.encode(texts)])
        for one in (low, model)
    )
    assert found["largest_difference"] == pytest.approx(np.abs(rough - exact).max())
    assert 0 < found["mean_difference"] < found["largest_difference"] < 0.2


def test_a_weight_that_is_no_number_gives_no_number(tiny, tmp_path):
    folder = tmp_path / "nan"
    shutil.copytree(tiny("bert", marks=True, **ROOM), folder)
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(folder)
    with torch.no_grad():
        model.qa_outputs.bias[0] = float("nan")
    model.save_pretrained(folder)
    found = load(str(folder), kind="qa")
    assert np.isnan(found.pick_batch(found.encode(asked("span", 2)))).all()
    assert not_a_number("float32").startswith("it gave")
    assert json.loads((folder / "config.json").read_text())["architectures"]
