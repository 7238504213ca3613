"""Classifiers give every class's probability, under the sentiments' names."""

import shlex

import numpy as np
import pytest
import torch
import transformers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from parity import out_of_memory_above

from goffman.errors import ModelError, RunError
from goffman.models.base import LoadOptions
from goffman.models.classifier import groups, sentiments
from goffman.models.resolve import check, load
from goffman.options import AskOptions
from goffman.pipeline import audit
from goffman.runs.run import read_answers, read_prompts
from refusals import message_of
from tiny_models import CLASSIFIERS, _byte_bpe, altered

TEXTS = [
    "They are people.",
    "They are people who have depression.",
    "These are people who have a criminal record and drug dependency, and were homeless.",
    "These are people who are kind.",
]
THREE = ("negative", "neutral", "positive")


@pytest.mark.parametrize("family", CLASSIFIERS)
@pytest.mark.parametrize("labels", [("NEGATIVE", "POSITIVE"), ("NEG", "NEU", "POS")])
def test_probabilities_are_the_plain_forwards(family, labels, tiny):
    folder = tiny(family, labels=labels)
    model = load(str(folder), kind="classifier")
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
def test_company_changes_nothing(chosen, tiny):
    model = load(str(tiny("roberta", labels=THREE)), kind="classifier")
    encoded = model.encode(TEXTS)
    together = model.classify_batch([encoded[index] for index in chosen])
    for row, index in enumerate(chosen):
        alone = model.classify_batch([encoded[index]])[0]
        np.testing.assert_allclose(together[row], alone, rtol=1e-5)


def test_which_sentences_go_together():
    encoded = [[1, 2], [1], [3, 4]]
    assert groups(encoded, "all") == [[0, 1, 2]]
    assert groups(encoded, "of one length") == [[0, 2], [1]]
    assert groups(encoded, "alone") == [[0], [1], [2]]


def test_out_of_memory_halves_the_batch(tiny):
    model = load(str(tiny("bert", labels=THREE)), kind="classifier")
    encoded = model.encode(TEXTS)
    expected = model.classify_batch(encoded)
    out_of_memory_above(model, 1)
    np.testing.assert_allclose(model.classify_batch(encoded), expected, rtol=1e-5)


def test_a_text_too_long_is_refused(tiny):
    model = load(str(tiny("roberta", labels=THREE)), kind="classifier")
    with pytest.raises(ModelError) as error:
        model.encode(["is " * 200])
    assert str(error.value).startswith(
        f"A text has 202 tokens, '{model.identity.name}' reads at most 128: \"is is is"
    ) or str(error.value).startswith("A text has 203 tokens")


def refused(own, given=None):
    return message_of(ModelError, sentiments, "m", own, user_labels=given)


@pytest.mark.parametrize(
    ("own", "meant"),
    [
        (("NEGATIVE", "POSITIVE"), ("negative", "positive")),
        (("POS", "NEG"), ("positive", "negative")),
        (("NEG", "NEU", "POS"), THREE),
        (("Negative", "Neutral", "Positive"), THREE),
    ],
)
def test_labels_are_read_by_name(own, meant):
    assert sentiments("m", own, user_labels=None) == meant


def test_unknown_labels_are_refused_with_the_map_to_give(tiny):
    assert refused(("LABEL_0", "LABEL_1", "LABEL_2")) == (
        "The labels of 'm' are LABEL_0, LABEL_1, LABEL_2. It is not clear which of them are "
        "negative, neutral or positive. Look it up in the model's card and replace the "
        "question marks: --labels 'LABEL_0=?,LABEL_1=?,LABEL_2=?'"
    )
    options = LoadOptions(labels={"LABEL_0": "positive", "LABEL_1": "negative"})
    folder = str(tiny("bert", labels=("LABEL_0", "LABEL_1")))
    assert load(folder, kind="classifier", options=options).labels == ("positive", "negative")


def test_maps_that_cannot_be_right_are_refused():
    two = ("LABEL_0", "LABEL_1")
    assert refused(two, {"LABELS_0": "negative"}) == (
        "--labels names 'LABELS_0', but the labels of 'm' are LABEL_0, LABEL_1. Did "
        "you mean 'LABEL_0'?"
    )
    assert refused(two, {"LABEL_0": "negativ"}) == (
        "--labels gives 'LABEL_0' the meaning 'negativ'. Did you mean 'negative'? Allowed: "
        "negative, neutral, positive."
    )
    same = {"LABEL_0": "negative", "LABEL_1": "negative"}
    assert refused(two, same) == (
        "The labels of 'm' are LABEL_0, LABEL_1, and none of them means positive. A sentiment "
        "classifier needs negative and positive labels: --labels 'LABEL_0=?,LABEL_1=?'"
    )
    assert refused(("LABEL_0",)) == (
        "'m' has only one class (LABEL_0). Give a sentiment classifier, with classes for "
        "negative and positive."
    )
    assert refused(("POS", "NEG", "POS")) == (
        "The config.json of 'm' gives the label 'POS' to more than one class. Give every class "
        "in id2label its own label."
    )


@pytest.mark.parametrize("own", [("toxic", "non-toxic"), ("LABEL_0", "LABEL_1"), ("no", "yes")])
def test_what_is_said_of_labels_cannot_be_pasted_wrongly(own):
    """Which of them is the negative one is for the model's card to say."""
    said = refused(own).rpartition("--labels ")[2]
    pasted = dict(pair.split("=") for pair in shlex.split(said)[0].split(","))
    assert tuple(pasted) == own
    assert refused(own, pasted) == (
        f"--labels gives '{own[0]}' the meaning '?'. Allowed: negative, neutral, positive."
    )


FIVE = {
    "1 star": "negative",
    "2 stars": "negative",
    "3 stars": "neutral",
    "4 stars": "positive",
    "5 stars": "positive",
}


def test_several_labels_may_have_one_meaning(tiny, tmp_path):
    """In the table their probabilities are added, and the label is the largest sum."""
    folder = tiny("bert", labels=tuple(FIVE))
    assert "--labels '1 star=?,2 stars=?,3 stars=?,4 stars=?,5 stars=?'" in refused(tuple(FIVE))
    options = LoadOptions(labels=FIVE)
    assert load(str(folder), kind="classifier", options=options).identity.notes == (
        "Its classes were read as negative, negative, neutral, positive, positive. "
        "Probabilities of classes with the same meaning were added.",
    )
    audit(
        [str(folder)],
        output=tmp_path,
        loading=options,
        options=AskOptions(controls=False, limit=12),
    )
    rows = read_answers(tmp_path, "labels")
    texts = dict(read_prompts(tmp_path).select("prompt_id", "text").iter_rows())
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    plain = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    assert rows.height == 12
    for row in rows.iter_rows(named=True):
        with torch.no_grad():
            logits = plain(**tokenizer(texts[row["prompt_id"]], return_tensors="pt")).logits[0]
        one, two, three, four, five = torch.softmax(logits, -1).tolist()
        sums = {"negative": one + two, "neutral": three, "positive": four + five}
        assert {name: row[name] for name in sums} == pytest.approx(sums, rel=1e-5)
        assert row["label"] == max(sums, key=sums.__getitem__)
    other = LoadOptions(labels=FIVE | {"2 stars": "neutral"})
    with pytest.raises(RunError):
        audit(
            [str(folder)],
            output=tmp_path,
            loading=other,
            options=AskOptions(controls=False, limit=12),
        )


def test_a_multi_label_model_is_scored_as_transformers_pipeline_scores_it(tiny, tmp_path):
    source = tiny("bert", labels=("NEG", "NEU", "POS"))
    folder = altered(source, tmp_path / "several", problem_type="multi_label_classification")
    model = load(str(folder), kind="classifier")
    found = model.classify_batch(model.encode(TEXTS))
    pipeline = transformers.pipeline("text-classification", model=str(folder), top_k=None)
    for row, scored in zip(found, pipeline(TEXTS), strict=True):
        by_label = {one["label"]: one["score"] for one in scored}
        assert row.tolist() == pytest.approx([by_label[name] for name in ("NEG", "NEU", "POS")])
    assert model.identity.notes == (
        "Each class has a separate probability (sigmoid), as in transformers' pipeline for "
        "multi-label models. The label is the most probable class.",
    )
    # The label is the one that a softmax would give too.
    one = load(str(source), kind="classifier")
    assert found.argmax(axis=1).tolist() == one.classify_batch(one.encode(TEXTS)).argmax(1).tolist()


@pytest.mark.parametrize(
    ("settings", "labels", "message"),
    [
        (
            {"problem_type": "regression"},
            None,
            "'{}' gives scores, not classes (its problem_type is regression). Give a sentiment "
            "classifier.",
        ),
        (
            {"problem_type": "multi_label_classification"},
            {"NEU": "negative"},
            "--labels gives several labels of '{}' the same meaning, but this model gives each "
            "label a separate probability (multi-label), and these cannot be added. Give each "
            "meaning to one label only.",
        ),
        (
            {"id2label": {"-1": "NEG", "0": "NEU", "5": "POS"}},
            None,
            "The config.json of '{}' does not number its classes 0, 1, 2 … in id2label, so "
            "their meaning is unknown.",
        ),
    ],
)
def test_classes_that_have_no_probabilities_of_a_sentiment(
    settings, labels, message, tiny, tmp_path
):
    folder = altered(tiny("bert", labels=("NEG", "NEU", "POS")), tmp_path / "odd", **settings)
    assert message_of(
        ModelError, check, str(folder), kind="classifier", options=LoadOptions(labels=labels)
    ) == message.format(folder)


def test_a_classifier_without_a_padding_token_is_asked_one_by_one(tmp_path):
    """GPT-2 has none, and refuses two sentences at once, even of one length."""
    vocabulary, merges = _byte_bpe(["<|endoftext|>"])
    tokenizer = transformers.GPT2Tokenizer(vocab=vocabulary, merges=merges)
    assert tokenizer.pad_token_id is None
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer),
        n_embd=32,
        n_layer=2,
        n_head=2,
        n_positions=128,
        id2label={0: "NEG", 1: "POS"},
        initializer_range=0.5,
    )
    plain = transformers.GPT2ForSequenceClassification(config).eval()
    plain.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model = load(str(tmp_path), kind="classifier")
    texts = ["They are kind.", "They are calm.", "They are people who are old."]
    encoded = model.encode(texts)
    assert len(encoded[0]) == len(encoded[1])
    with torch.no_grad():
        alone = [plain(torch.tensor([ids])).logits[0].softmax(-1).tolist() for ids in encoded]
    np.testing.assert_allclose(model.classify_batch(encoded), alone, rtol=1e-4)
    assert model.identity.notes == (
        "Sentences were processed one at a time, because this model takes no more at once.",
    )


def test_a_head_that_reads_the_last_token_is_never_fed_padding(tiny, tmp_path):
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
        model = load(str(folder), kind="classifier")
        encoded = model.encode(
            [
                "They are people.",
                "They are people who have a criminal record.",
                "I talk to someone.",
            ]
        )
        alone = np.concatenate([model.classify_batch([one]) for one in encoded])
        assert model.classify_batch(encoded) == pytest.approx(alone, rel=1e-4)
        way = "Only sentences of the same" if name == "other" else "Sentences were processed one"
        assert model.identity.notes[0].startswith(way)
