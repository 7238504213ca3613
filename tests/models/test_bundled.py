"""The models that ship with the package: what they are, and how good. Figures are in their card."""

import csv
import json
import lzma
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import render
from goffman.lexicons.attitude import load_attitudes
from goffman.lexicons.gender import load_gender
from goffman.models.files import BUNDLED, TERMS, parameters_in
from goffman.models.resolve import describe, load

ROOT = Path(__file__).parents[2]
MEGABYTE = 1_000_000

CONJUNCTIONS = {
    *("and", "but", "or", "nor", "so", "yet", "for", "because", "although", "though", "if"),
    *("while", "when", "since", "unless", "until", "as", "than", "whether", "that", "where"),
}
FURTHER_PRONOUNS = {"who", "one"}


@pytest.fixture(scope="module")
def mini():
    return load("bundled:mini", kind="masked")


@pytest.fixture(scope="module")
def sentiment():
    return load("bundled:mini-sentiment", kind="classifier")


@pytest.fixture(scope="session")
def corpus():
    """The text and labelled sentences that the models were trained and tested with."""
    folder = Path(os.environ.get("GOFFMAN_CORPUS", ROOT.parent / "shared" / "corpus"))
    if not (folder / "sst2-dev.tsv.xz").is_file():
        pytest.skip(f"the training corpus is not in {folder}; GOFFMAN_CORPUS says where it is")
    return folder


def probabilities(mini, instrument):
    """[prompt, token]: over the whole vocabulary."""
    texts = [prompt.text for prompt in render(load_instrument(instrument)).prompts]
    filled = mini.fill_batch(mini.encode(texts), top_k=len(mini.tokens))
    found = np.empty_like(filled.probabilities)
    np.put_along_axis(found, filled.token_ids.astype(np.int64), filled.probabilities, axis=1)
    assert np.allclose(found.sum(1), 1, atol=1e-4)
    return found


def test_both_are_what_they_say_and_their_terms_are_said(mini, sentiment):
    assert {name: describe(f"bundled:{name}").kind for name in BUNDLED} == {
        "mini": "masked",
        "mini-sentiment": "classifier",
    }
    assert TERMS in mini.identity.notes
    assert TERMS in sentiment.identity.notes


def test_together_they_stay_under_48_megabytes():
    folder = BUNDLED["mini"].parent
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert size < 48 * MEGABYTE


def test_weights_are_in_float16_and_loaded_as_float32(mini):
    stored = load_file(BUNDLED["mini"] / "model.safetensors")
    assert parameters_in([BUNDLED["mini"] / "model.safetensors"]) == sum(
        tensor.numel() for tensor in stored.values()
    )
    assert {tensor.dtype for tensor in stored.values()} == {torch.float16}
    assert {parameter.dtype for parameter in mini._model.parameters()} == {torch.float32}


def test_the_classifier_is_mini_but_for_the_tensors_that_are_stored_with_it(sentiment):
    base = load_file(BUNDLED["mini"] / "model.safetensors")
    own = load_file(BUNDLED["mini-sentiment"] / "model-differing.safetensors")
    loaded = sentiment._model.state_dict()
    for name, value in loaded.items():
        stored = own[name] if name in own else base[name]
        assert torch.equal(value, stored.float()), name
    assert {*own} <= {*loaded}
    # None is stored for nothing.
    assert not any(name in base and torch.equal(value, base[name]) for name, value in own.items())


def test_the_weights_of_mini_belong_to_the_identity_of_its_classifier(
    sentiment, tmp_path, monkeypatch
):
    """Another mini under the same differences is another classifier."""
    import shutil

    # Only of models that ship with the package may weights lie in another's folder.
    monkeypatch.setattr("goffman.models.files.SHIPPED", tmp_path)
    for name, folder in BUNDLED.items():
        shutil.copytree(folder, tmp_path / name)
    same = load(str(tmp_path / "mini-sentiment"), kind="classifier")
    assert same.identity.weights_sha256 == sentiment.identity.weights_sha256
    with (tmp_path / "mini" / "model.safetensors").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x01")
    other = load(str(tmp_path / "mini-sentiment"), kind="classifier")
    assert other.identity.weights_sha256 != sentiment.identity.weights_sha256


def test_a_mask_at_the_start_of_a_sentence_is_filled_with_subjects(mini):
    found = probabilities(mini, "care-seeking")
    people = {
        entry.word.casefold()
        for entry in load_gender().words
        if entry.kind in {"pronoun", "noun", "name"}
    } | FURTHER_PRONOUNS
    words = [token.strip() for token in mini.tokens]
    of_people = np.array([word in people for word in words])
    joining = np.array([w in CONJUNCTIONS or not any(map(str.isalnum, w)) for w in words])
    assert found[:, of_people].sum(1).mean() >= 0.40
    assert found[:, joining].sum(1).mean() < 0.10


@pytest.mark.slow
def test_the_shipped_ratings_cover_the_words_of_social_distance(mini):
    texts = [prompt.text for prompt in render(load_instrument("social-distance")).prompts]
    rated = set(load_attitudes().table["word"])
    known = np.array([token.strip().casefold() in rated for token in mini.tokens])
    filled = mini.fill_batch(mini.encode(texts), top_k=50)
    of_rated = (filled.probabilities * known[filled.token_ids]).sum(1)
    assert (of_rated / filled.probabilities.sum(1)).mean() >= 0.95


def test_plain_sentences_about_people_are_not_negative(sentiment):
    answers = sentiment.classify_batch(sentiment.encode(["They are people.", "These are people."]))
    named = [sentiment.labels[index] for index in answers.argmax(1)]
    assert named == ["positive", "positive"]


@pytest.mark.slow
def test_sst2(sentiment, corpus):
    """The card's figure, as goffman itself classifies."""
    with lzma.open(corpus / "sst2-dev.tsv.xz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    encoded = sentiment.encode([row["sentence"].strip() for row in rows])
    answers = sentiment.classify_batch(encoded).argmax(1)
    right = [
        sentiment.labels[index] == ("negative", "positive")[int(row["label"])]
        for index, row in zip(answers, rows, strict=True)
    ]
    assert len(rows) == 872
    assert np.mean(right) == pytest.approx(0.900, abs=0.003)


@pytest.mark.slow
def test_masked_accuracy_on_documents_that_were_not_trained_on(corpus, monkeypatch):
    """A sample of what the card's figure was measured on, and by the same script."""
    monkeypatch.syspath_prepend(ROOT / "training")
    from corpus import documents, is_held_out
    from measure import accuracy

    held_out = [text for text in documents([corpus / "text-1.txt.xz"]) if is_held_out(text)]
    right, asked = accuracy(BUNDLED["mini"], held_out[:150])
    for script in ("corpus", "measure"):
        sys.modules.pop(script)
    assert asked > 4_000
    assert right == pytest.approx(0.558, abs=0.025)


def test_the_card_says_how_large_they_are():
    card = (BUNDLED["mini"].parent / "README.md").read_text(encoding="utf-8")
    config = json.loads((BUNDLED["mini"] / "config.json").read_text())
    assert f"{config['vocab_size']:,} tokens, {config['max_position_embeddings']} positions" in card
    for path in (
        BUNDLED["mini"] / "model.safetensors",
        BUNDLED["mini-sentiment"] / "model-differing.safetensors",
    ):
        assert f"{path.stat().st_size / MEGABYTE:.1f} MB" in card
