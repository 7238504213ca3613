"""A model's folder may hold anything: each oddity is one sentence, nothing hangs, nothing is read
outside of it."""

import json
import multiprocessing
import os
import shutil
import socket
import tempfile
from pathlib import Path

import pytest

from goffman.errors import ModelError
from goffman.models.base import LoadOptions
from goffman.models.files import BUNDLED
from goffman.models.resolve import check, describe, load
from refusals import message_of
from tiny_models import altered

TWO = ("NEG", "POS")

FORKED = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
"""Python warns of forks beside threads; the child only reads files."""


@pytest.fixture
def bert(tiny, tmp_path):
    """A sound BERT to be spoilt."""
    return shutil.copytree(tiny("bert"), tmp_path / "bert")


def refusal(folder, kind="masked"):
    """What is said before any model is asked."""
    return message_of(ModelError, looked_at, str(folder), kind)


def looked_at(folder, kind="masked"):
    """As an audit does before it asks anyone."""
    describe(folder)
    check(folder, kind=kind, options=LoadOptions())


def change(folder, file="config.json", **settings):
    path = folder / file
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


def shards(folder, weight_map):
    (folder / "model.safetensors").unlink()
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))


def test_an_adapter_is_no_model(bert, tmp_path):
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    said = json.dumps({"peft_type": "LORA", "base_model_name_or_path": "roberta-base"})
    for folder in (adapter, bert):
        (folder / "adapter_config.json").write_text(said)
        assert refusal(folder) == (
            f"'{folder}' is a PEFT adapter of 'roberta-base', not a whole model. Merge it into "
            "its base model first (merge_and_unload, then save_pretrained), and give the "
            "merged folder."
        )
    (adapter / "adapter_config.json").write_text("{}")
    assert refusal(adapter).startswith(f"'{adapter}' is a PEFT adapter, not a whole model. ")


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json"])
def test_a_git_lfs_pointer_is_told_from_the_file(file, bert):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    (bert / file).write_text(pointer)
    assert refusal(bert) == (
        f"The {file} of '{bert}' is a Git LFS pointer, not the file itself. Download the real "
        "files in its repository: git lfs pull"
    )


def test_a_training_run_s_folder_names_its_newest_checkpoint(bert, tmp_path):
    output = tmp_path / "output"
    for number in (500, 1000, 90):
        shutil.copytree(bert, output / f"checkpoint-{number}")
    (output / "checkpoint-2000").mkdir()
    (output / "checkpoint-last").mkdir()
    assert refusal(output) == (
        f"'{output}' has no config.json, only checkpoints of a training run. Give one of them. "
        f"The newest is '{output}/checkpoint-1000'."
    )


def test_weights_are_never_read_outside_the_folder(bert, tmp_path):
    elsewhere = shutil.copy(bert / "model.safetensors", tmp_path / "model.safetensors")
    shards(bert, {})
    for name in ("../model.safetensors", "../../../../../dev/zero", str(elsewhere)):
        index = bert / "model.safetensors.index.json"
        index.write_text(json.dumps({"weight_map": {"a": name}}))
        assert refusal(bert) == (
            f"The model.safetensors.index.json of '{bert}' names '{name}', which is outside the "
            "model's folder and is not read. Give a folder that contains the whole model."
        )


def test_the_bundled_classifier_shares_weights_with_the_bundled_model(monkeypatch):
    """It may: both folders are ours. Under another name, and by a relative path, too."""
    sentiment = BUNDLED["mini-sentiment"]
    monkeypatch.chdir(sentiment.parent)
    digests = {
        load(name, kind="classifier").identity.weights_sha256
        for name in ("bundled:mini-sentiment", str(sentiment), "./mini-sentiment")
    }
    assert len(digests) == 1


def test_links_of_the_hub_s_cache_are_followed(bert, tmp_path):
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "abc"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    shards_of = shutil.move(bert / "model.safetensors", bert / "model-1.safetensors")
    tensors = {"bert.embeddings.LayerNorm.weight": Path(shards_of).name}
    (bert / "model.safetensors.index.json").write_text(json.dumps({"weight_map": tensors}))
    for number, path in enumerate(sorted(bert.iterdir())):
        shutil.copy(path, blobs / str(number))
        (snapshot / path.name).symlink_to(Path("..", "..", "blobs", str(number)))
    looked_at(str(snapshot))


@pytest.mark.parametrize(
    "weight_map", [3, None, {}, [], {"a": 3}, {"a": None}, {"a": "m\0.safetensors"}, {"a": ""}]
)
def test_an_index_that_names_no_files_is_damaged(weight_map, bert):
    shards(bert, weight_map)
    assert refusal(bert) == (
        f"The model.safetensors.index.json of '{bert}' is damaged: it does not say which file "
        "has which weights. Download or save the model again."
    )


def test_an_index_that_names_a_file_that_is_not_there(bert):
    shards(bert, {"a": "model-00001-of-00002.safetensors"})
    assert refusal(bert) == (
        f"'{bert}' has no file model-00001-of-00002.safetensors, although its "
        "model.safetensors.index.json names it. Download or save the model again."
    )


PUT = {
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    # By its name alone: a socket's address has a hundred letters at most.
    "a socket": lambda path: socket.socket(socket.AF_UNIX).bind(path.name),
}


@pytest.mark.parametrize("what", PUT)
@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_only_plain_files_are_opened(what, file, bert, monkeypatch):
    monkeypatch.chdir(bert)
    (bert / file).unlink()
    PUT[what](bert / file)
    assert refusal(bert) == (
        f"'{bert}' contains {file}, which is a pipe, a device or a socket. Remove it: only "
        "regular files are read."
    )


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json", "generation_config.json"])
def test_json_that_is_nested_too_deep(file, bert):
    for depth in (65, 10_000):
        (bert / file).write_text('{"a":' * depth + "1" + "}" * depth)
        assert (
            refusal(bert) == f"The {file} of '{bert}' is nested too deeply (more than 64 levels)."
        )
    (bert / file).unlink()
    (bert / "tokenizer.json").write_text("[" * 100_000)
    assert refusal(bert).startswith(("The tokenizer of", f"The folder '{bert}' has no config.json"))


@pytest.mark.parametrize(
    "file", ["config.json", "tokenizer_config.json", "special_tokens_map.json"]
)
def test_settings_that_are_no_object(file, bert):
    (bert / file).write_text("[]")
    assert refusal(bert) == (
        f"The {file} of '{bert}' is []. It must be a JSON object with the model's settings."
    )


@pytest.mark.parametrize("card", ["[1]", "[" * 10_000, "7"])
def test_a_file_that_looks_like_a_fetched_model_s_card(card, bert):
    (bert / "goffman.json").write_text(card)
    assert load(str(bert), kind="masked").identity.name == str(bert)


def test_files_that_are_far_too_large(bert):
    os.truncate(bert / "tokenizer.json", 1 << 40)
    assert refusal(bert) == (
        f"The tokenizer.json of '{bert}' has 1048576 MB. Allowed: up to 512 MB."
    )
    (bert / "tokenizer.json").unlink()
    os.truncate(bert / "config.json", 100 << 20)
    assert refusal(bert) == (
        f"'{bert}' cannot be read: {bert}/config.json has 104,857,600 bytes. Allowed: up to "
        "33,554,432."
    )


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="needs Linux")
def test_settings_that_are_longer_than_the_system_says(bert, monkeypatch):
    monkeypatch.setattr("goffman.models.files.SETTINGS_BYTES", 10)
    (bert / "config.json").unlink()
    (bert / "config.json").symlink_to("/proc/version")
    assert (bert / "config.json").stat().st_size == 0
    assert refusal(bert).endswith("config.json has 11 bytes. Allowed: up to 10.")


@pytest.mark.parametrize(
    ("file", "setting", "value", "what"),
    [
        ("config.json", "num_hidden_layers", 10_000_000, "a number from 0 to 1000"),
        ("config.json", "num_hidden_layers", -1, "a number from 0 to 1000"),
        ("config.json", "num_labels", 1_000_000_000, "a number from 0 to 1000"),
        (
            "config.json",
            "transformers_weights",
            "../other/model.safetensors",
            "left out: weights are read from model.safetensors or pytorch_model.bin",
        ),
        ("tokenizer_config.json", "model_max_length", "long", "a number of tokens"),
        ("tokenizer_config.json", "model_max_length", 0, "a number of tokens"),
        (
            "tokenizer_config.json",
            "fast_tokenizer_files",
            ["../tokenizer.1.0.json"],
            "a list of names of files in the model's folder",
        ),
    ],
)
def test_settings_that_lead_nowhere(file, setting, value, what, bert):
    change(bert, file, **{setting: value})
    shown = json.dumps(value)
    assert (
        refusal(bert)
        == f"The {file} of '{bert}' says that {setting} is {shown}. It must be {what}."
    )
    change(bert, file, **{setting: None, "text_config": {"n_layer": 1001}})
    assert refusal(bert).endswith("says that n_layer is 1001. It must be a number from 0 to 1000.")


@pytest.mark.parametrize("pad", [10**12, 10**6])
@pytest.mark.parametrize("labels", [(), TWO])
def test_an_absurd_padding_token(pad, labels, tiny, tmp_path):
    source = tiny("bert", labels=labels) if labels else tiny("bert")
    folder = altered(source, tmp_path / "padded", pad_token_id=pad)
    assert message_of(ModelError, load, str(folder), kind="classifier" if labels else "masked") == (
        f"'{folder}' cannot be loaded: Padding_idx must be within num_embeddings"
    )


def test_sizes_that_are_not_those_of_the_weights(bert):
    change(bert, vocab_size=10**13)
    assert message_of(ModelError, load, str(bert), kind="masked") == (
        f"'{bert}' cannot be loaded: its weights do not have the sizes that its config.json says."
    )


def test_a_token_that_the_classifier_does_not_have(tiny, tmp_path):
    folder = shutil.copytree(tiny("bert", labels=TWO), tmp_path / "larger")
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["people"] = 400_000
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert (
        message_of(ModelError, load, str(folder), kind="classifier")
        == f"'{folder}' cannot be loaded: index out of range in self"
    )


def said_to_nobody(folder, answer):
    """In a process that has no rights: what is said of a folder."""
    os.setgid(65534)
    os.setuid(65534)
    try:
        looked_at(folder)
        answer.send("nothing")
    except ModelError as error:
        answer.send(str(error))


def told(folder):
    """What a user without rights is told of a folder."""
    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=said_to_nobody, args=(str(folder), there)
    )
    process.start()
    there.close()
    answer = here.recv()
    process.join()
    return answer


@pytest.fixture
def public(tiny):
    """A sound BERT that everyone may read; what reading it imports, this process has imported."""
    if os.geteuid() != 0:
        pytest.skip("only root can give its rights away")
    with tempfile.TemporaryDirectory() as place:
        folder = shutil.copytree(tiny("bert"), Path(place) / "models" / "bert")
        for path in (Path(place), folder.parent, folder):
            path.chmod(0o755)
        for path in folder.iterdir():
            path.chmod(0o644)
        looked_at(str(folder))
        yield folder


@FORKED
@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_what_may_not_be_read_is_named(file, public):
    (public / file).chmod(0o600)
    assert told(public) == (
        f"'{public}' cannot be read: {public / file}: Permission denied. You need permission to "
        "read all of its files."
    )
    (public / file).chmod(0o644)
    assert told(public) == "nothing"


@FORKED
@pytest.mark.parametrize("mode", [0o600, 0o711, 0o644])
def test_a_folder_that_may_not_be_read(mode, public):
    public.chmod(mode)
    assert told(public).startswith(f"'{public}' cannot be read: {public}")
    public.chmod(0o755)
    public.parent.chmod(0o600)
    assert told(public) == (
        f"'{public}' cannot be read: {public}: Permission denied. You need permission to read "
        "all of its files."
    )


def test_a_name_that_is_too_long():
    name = "m" * 5_000
    assert (
        message_of(ModelError, describe, name)
        == f"'{name}' cannot be read: {name}: File name too long."
    )
