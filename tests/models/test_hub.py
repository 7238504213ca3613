"""Models on the hub, against a hub on loopback: fetched, gated, misspelt, out of reach."""

import shutil

import huggingface_hub.constants
import numpy as np
import pytest

from goffman.errors import ModelError
from goffman.models.files import digest, locate, tokenizer_files, weight_files
from goffman.models.resolve import describe, load
from hub_server import COMMIT, hub
from refusals import message_of


def point_at(address, monkeypatch):
    template = f"{address}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", address)
    monkeypatch.setattr(huggingface_hub.constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def reached(tiny, cache, monkeypatch, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "README.md").write_text("nothing here")
    repositories = {
        "roberta-base": tiny("roberta"),
        "mental/mental-roberta-base": tiny("roberta"),
        "someone/empty": empty,
    }
    with hub(repositories, gated=("mental/mental-roberta-base",)) as address:
        point_at(address, monkeypatch)
        yield address


def error_of(name):
    return message_of(ModelError, describe, name)


def test_a_model_is_fetched_and_then_in_the_cache(reached, tiny, monkeypatch):
    fetched = load("roberta-base", kind="masked")
    folder = load(str(tiny("roberta")), kind="masked")
    assert fetched.identity.revision == COMMIT
    assert fetched.identity.name == "roberta-base"
    assert fetched.identity.weights_sha256 == folder.identity.weights_sha256
    assert fetched.identity.tokenizer_sha256 == folder.identity.tokenizer_sha256
    point_at("http://127.0.0.1:9", monkeypatch)
    assert load("roberta-base", kind="masked").identity == fetched.identity


def test_describing_fetches_no_weights(reached, cache):
    assert describe(f"roberta-base@{COMMIT}").kind == "masked"
    assert not list(cache.rglob("*.safetensors"))


REFUSED = {
    "mental/mental-roberta-base": (
        "'mental/mental-roberta-base' is gated: its owners must grant you access. Ask for it "
        "at https://huggingface.co/mental/mental-roberta-base, then log in with `hf auth "
        "login` and try again."
    ),
    "robreta-base": (
        "Hugging Face has no model 'robreta-base', or it is private and you are not logged in "
        "(`hf auth login`). Did you mean 'roberta-base'?"
    ),
    "nobody/nothing-like-it": (
        "Hugging Face has no model 'nobody/nothing-like-it', or it is private and you are not "
        "logged in (`hf auth login`)."
    ),
    "roberta-base@v9": (
        "'roberta-base' has no revision 'v9'. Give a branch, tag or commit from "
        "https://huggingface.co/roberta-base/commits, or leave out '@v9'."
    ),
    "someone/empty": "'someone/empty' on Hugging Face has no config.json, so it is not a model.",
    "roberta base": (
        "'roberta base' is not a folder, and it is not written like a Hugging Face model "
        "(NAME, ORG/NAME or ORG/NAME@REVISION). Did you mean 'roberta-base'?"
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_hub_does_not_give_is_said(name, reached):
    assert error_of(name) == REFUSED[name]


def test_the_hub_out_of_reach(cache, monkeypatch):
    point_at("http://127.0.0.1:9", monkeypatch)
    assert error_of("roberta-base") == (
        "'roberta-base' was not found. There is no such folder, the model is not (or not "
        "completely) downloaded, and Hugging Face cannot be reached. Connect to the internet, "
        "or give the folder of a model."
    )


def test_offline_by_setting(cache, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    assert error_of("roberta-bas").endswith("of a model. Did you mean 'roberta-base'?")


def test_folders_that_hold_no_model(tmp_path):
    assert error_of(f"{tmp_path}/absent") == (
        f"There is no folder '{tmp_path}/absent'. Give a folder with a saved model, or a "
        "Hugging Face model (ORG/NAME)."
    )
    assert error_of("~nobody-here/m") == (
        "There is no folder '~nobody-here/m'. Give a folder with a saved model, or a Hugging "
        "Face model (ORG/NAME)."
    )
    assert error_of(str(tmp_path)) == (
        f"The folder '{tmp_path}' has no config.json, so it is not a model. Give a folder with "
        "a saved Hugging Face model."
    )


def test_digests_are_the_same_for_a_copy_and_differ_for_a_change(tiny, tmp_path):
    copy = shutil.copytree(tiny("bert"), tmp_path / "copy")
    first, second = (locate(str(folder), weights=True) for folder in (tiny("bert"), copy))
    assert digest(weight_files(first)[1]) == digest(weight_files(second)[1])
    assert digest(tokenizer_files(first)) == digest(tokenizer_files(second))
    weights = copy / "model.safetensors"
    changed = bytearray(weights.read_bytes())
    changed[-1] ^= 1
    weights.write_bytes(changed)
    assert digest(weight_files(first)[1]) != digest(weight_files(second)[1])


def test_shards_are_those_of_the_index(tiny, tmp_path):
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    AutoModelForMaskedLM.from_pretrained(tiny("bert")).save_pretrained(
        tmp_path, max_shard_size="30KB"
    )
    AutoTokenizer.from_pretrained(tiny("bert")).save_pretrained(tmp_path)
    (tmp_path / "model-extra.safetensors").write_bytes(b"no part of it")
    kind, found = weight_files(locate(str(tmp_path), weights=True))
    assert kind == "safetensors"
    assert len(found) > 2
    assert "model-extra.safetensors" not in {path.name for path in found}
    whole, sharded = (load(str(folder), kind="masked") for folder in (tiny("bert"), tmp_path))
    encoded = whole.encode(["The woman is <mask>."])
    one, other = (model.fill_batch(encoded, top_k=50) for model in (whole, sharded))
    np.testing.assert_allclose(one.probabilities, other.probabilities, rtol=1e-5)
