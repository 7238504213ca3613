"""What a user calls a model, what it turns out to be, and what is said where it cannot be used."""

import dataclasses
import json
import os
import shutil

import pytest
import torch
import transformers

from goffman.errors import ModelError
from goffman.models.base import LoadOptions
from goffman.models.resolve import describe, load
from refusals import message_of
from tiny_chat import make_causal
from tiny_models import altered


def folder_with(tmp_path, config, **files):
    (tmp_path / "config.json").write_text(json.dumps(config))
    for name, text in files.items():
        (tmp_path / name.replace("__", ".")).write_text(text)
    return str(tmp_path)


@pytest.mark.parametrize(
    ("architecture", "family", "kind"),
    [
        ("RobertaForMaskedLM", "roberta", "masked"),
        ("XLNetLMHeadModel", "xlnet", "masked"),
        ("BertForPreTraining", "bert", "masked"),
        ("ElectraForPreTraining", "electra", "other"),
        ("DistilBertForSequenceClassification", "distilbert", "classifier"),
        ("XLNetForSequenceClassification", "xlnet", "classifier"),
        ("GPT2LMHeadModel", "gpt2", "causal"),
        ("LlamaForCausalLM", "llama", "causal"),
        ("T5ForConditionalGeneration", "t5", "other"),
        ("BertModel", "bert", "other"),
        (None, "deberta-v2", "masked"),
        (None, "llama", "other"),
    ],
)
def test_what_a_model_is(architecture, family, kind, tmp_path):
    config = {"model_type": family} | ({"architectures": [architecture]} if architecture else {})
    described = describe(folder_with(tmp_path, config))
    assert (described.kind, described.family) == (kind, family)
    assert described.architecture == (architecture or "")


def test_a_chat_template_makes_a_causal_model_a_chat_model(tmp_path):
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}
    folder = folder_with(tmp_path, config, tokenizer_config__json='{"chat_template": "{{ x }}"}')
    assert describe(folder).kind == "chat"
    (tmp_path / "tokenizer_config.json").write_text("{}")
    assert describe(folder).kind == "causal"
    (tmp_path / "chat_template.jinja").write_text("{{ x }}")
    assert describe(folder).kind == "chat"
    assert str(describe(folder)) == (f"'{folder}' is a chat model: it answers questions.")


def test_models_behind_a_server_are_described():
    assert str(describe("openai:gpt-4o-mini")) == (
        "'openai:gpt-4o-mini' is a chat model: it answers questions."
    )
    assert describe("http://localhost:8000/v1#mini").kind == "chat"


def error_of(spec, kind="masked", **options):
    return message_of(ModelError, load, spec, kind=kind, options=LoadOptions(**options))


SAID = {
    "chat": "is a chat model: it answers questions.",
    "classifier": "is a classifier: it labels sentences.",
    "masked": "is a masked model: it fills in blanks (masks).",
    "nli": "is an nli model: it says whether a statement follows from a text.",
}
NEEDED = {
    "masked": "Filling in blanks needs a masked model, such as roberta-base.",
    "classifier": (
        "Labeling sentences needs a classifier, such as siebert/sentiment-roberta-large-english."
    ),
    "causal": ("Comparing sentences needs a plain text generator (a causal model), such as gpt2."),
    "nli": (
        "Saying what follows from a text needs a model of natural language inference (nli), such "
        "as FacebookAI/roberta-large-mnli."
    ),
}


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("chat", "masked"),
        ("chat", "causal"),
        ("classifier", "masked"),
        ("classifier", "nli"),
        ("masked", "classifier"),
        ("nli", "classifier"),
    ],
)
def test_a_wrong_use_says_what_the_model_can_be_used_for(kind, asked, tiny, tmp_path):
    labels = {
        "classifier": ("NEGATIVE", "POSITIVE"),
        "nli": ("CONTRADICTION", "neutral", "Entailment"),
    }
    if kind == "chat":
        name = "openai:gpt-4o-mini" if asked == "masked" else make_causal("llama", tmp_path)
    else:
        name = tiny("bert", labels=labels[kind]) if kind in labels else tiny("bert")
    assert error_of(str(name), asked) == f"'{name}' {SAID[kind]} {NEEDED[asked]}"


def test_an_electra_discriminator_has_no_head(tmp_path):
    config = {
        "model_type": "electra",
        "architectures": ["ElectraForPreTraining"],
    }
    folder = folder_with(tmp_path, config)
    assert error_of(folder) == (
        f"'{folder}' (ElectraForPreTraining, electra) is not a kind of model that goffman can "
        "ask. Filling in blanks needs a masked model, such as roberta-base."
    )


def test_a_bundled_model_that_is_not_there():
    assert error_of("bundled:mimi") == (
        "There is no bundled model 'mimi'. Did you mean 'mini'? Bundled models: mini, "
        "mini-sentiment. You can also give a folder, or a Hugging Face model (ORG/NAME)."
    )


def test_a_broken_config(tmp_path):
    (tmp_path / "config.json").write_text("{")
    assert error_of(str(tmp_path)).startswith(f"The config.json of '{tmp_path}' is not JSON: ")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ([1, 2], "is [1, 2]. It must be a JSON object with the model's settings."),
        (
            None,
            "is null. It must be a JSON object with the model's settings.",
        ),
        (
            {"model_type": "bert", "architectures": "BertForMaskedLM"},
            'says that architectures is "BertForMaskedLM". It must be a list of names of classes, such as '
            '["BertForMaskedLM"].',
        ),
        (
            {"model_type": "bert", "architectures": [7]},
            'says that architectures is [7]. It must be a list of names of classes, such as ["BertForMa',
        ),
        (
            {"model_type": {"bert": 1}},
            'says that model_type is {"bert": 1}. It must be the name of a family, such as "bert".',
        ),
        (
            {"model_type": "bert", "auto_map": "x" * 90},
            f"says that auto_map is \"{'x' * 56}.... It must be an object: a class's name → where it is.",
        ),
    ],
)
def test_a_config_of_odd_types_is_refused(config, message, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert f"The config.json of '{tmp_path}' {message}" in error_of(str(tmp_path))


@pytest.mark.parametrize(
    ("labels", "changed", "kind"),
    [
        ((), {"hidden_size": "wide"}, "masked"),
        ((), {"hidden_size": [32]}, "masked"),
        ((), {"num_attention_heads": 0}, "masked"),
        ((), {"vocab_size": None}, "masked"),
        (("NEG", "POS"), {"id2label": ["NEG", "POS"]}, "classifier"),
        (("NEG", "POS"), {"id2label": 7}, "classifier"),
        (("NEG", "POS"), {"id2label": {"a": "NEG", "b": "POS"}}, "classifier"),
    ],
)
def test_settings_of_odd_types_end_with_a_sentence(labels, changed, kind, tiny, tmp_path):
    """Not with a traceback, and with no answers."""
    source = tiny("bert", labels=labels) if labels else tiny("bert")
    folder = altered(source, tmp_path / "odd", **changed)
    assert error_of(str(folder), kind).startswith(f"'{folder}' cannot be loaded: ")


def test_a_damaged_list_of_weight_files(tiny, tmp_path):
    """Where the weights are in one file it is not read, by us as by transformers."""
    folder = shutil.copytree(tiny("bert"), tmp_path / "cut")
    (folder / "model.safetensors.index.json").write_text('{"weight_map": 3}')
    load(str(folder), kind="masked")
    (folder / "model.safetensors").unlink()
    assert "is damaged: it does not say which file" in error_of(str(folder))


@pytest.fixture
def own_code(tmp_path, monkeypatch):
    """A function that puts a model's own code into a folder; transformers keeps it there too."""
    cache = str(tmp_path / "code")
    monkeypatch.setattr(transformers.dynamic_module_utils, "HF_MODULES_CACHE", cache)

    def put(source, code, **settings):
        folder = altered(source, tmp_path / "mine", **settings)
        (folder / "mine.py").write_text(code)
        return str(folder)

    return put


def trusted(folder):
    return load(str(folder), kind="masked", options=LoadOptions(trust_remote_code=True))


def test_own_code_of_a_known_family_runs_only_when_allowed_and_that_is_said(
    tiny, tmp_path, own_code
):
    """transformers prefers a model's own classes where they may run, though it knows the family."""
    ran = tmp_path / "ran"
    auto_map = {"AutoModelForMaskedLM": "mine.MineForMaskedLM"}
    folder = own_code(tiny("bert"), KNOWN_CODE.format(str(ran)), auto_map=auto_map)
    assert OWN_CODE_NOTE not in load(folder, kind="masked").identity.notes
    assert not ran.exists()
    assert OWN_CODE_NOTE in trusted(folder).identity.notes
    assert ran.exists()
    assert OWN_CODE_NOTE not in trusted(tiny("bert")).identity.notes


def test_a_tokenizer_s_own_code_is_said_too(tiny, own_code):
    code = "from transformers import BertTokenizer\nclass MineTokenizer(BertTokenizer): pass\n"
    auto_map = {"AutoTokenizer": [None, "mine.MineTokenizer"]}
    folder = own_code(tiny("bert"), code, file="tokenizer_config.json", auto_map=auto_map)
    assert OWN_CODE_NOTE in trusted(folder).identity.notes


KNOWN_CODE = """
from transformers import BertForMaskedLM

open({!r}, "w").close()


class MineForMaskedLM(BertForMaskedLM):
    pass
"""

OWN_CODE_NOTE = "Python code that came with the model was allowed to run: --trust-remote-code."


def test_own_code_runs_only_when_allowed(tmp_path):
    config = {
        "model_type": "mine",
        "architectures": ["MineForMaskedLM"],
        "auto_map": {"AutoModelForMaskedLM": "mine.MineForMaskedLM"},
    }
    ran = tmp_path / "ran"
    code = f"open({str(ran)!r}, 'w')"
    folder = folder_with(tmp_path, config, mine__py=code)
    assert error_of(folder) == (
        f"'{folder}' comes with Python code of its own. Read that code. If you trust it, allow "
        "it with --trust-remote-code."
    )
    assert not ran.exists()


OWN_CODE = """
from transformers import BertConfig, BertForMaskedLM


class MineConfig(BertConfig):
    model_type = "mine"


class MineForMaskedLM(BertForMaskedLM):
    config_class = MineConfig
"""


def test_own_code_that_is_allowed_gives_the_same_numbers(tiny, own_code):
    """A BERT under another name, whose classes come with it."""
    settings = {"model_type": "mine", "architectures": ["MineForMaskedLM"]}
    auto_map = {"AutoConfig": "mine.MineConfig", "AutoModelForMaskedLM": "mine.MineForMaskedLM"}
    mine = trusted(own_code(tiny("bert"), OWN_CODE, **settings, auto_map=auto_map))
    ours, theirs = (
        model.fill_batch(model.encode(["It is <mask> for me."]), top_k=50)
        for model in (mine, load(str(tiny("bert")), kind="masked"))
    )
    assert ours.token_ids.tolist() == theirs.token_ids.tolist()
    assert ours.probabilities == pytest.approx(theirs.probabilities, rel=1e-5)


def without_safetensors(tiny, tmp_path):
    folder = shutil.copytree(tiny("bert"), tmp_path / "bin")
    (folder / "model.safetensors").unlink()
    return folder


def test_bin_weights_are_read_and_said(tiny, tmp_path):
    folder = without_safetensors(tiny, tmp_path)
    model = transformers.AutoModelForMaskedLM.from_pretrained(tiny("bert"))
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    from_bin, from_safetensors = (load(str(f), kind="masked") for f in (folder, tiny("bert")))
    assert from_bin.identity.weights == "bin"
    assert from_safetensors.identity.weights == "safetensors"
    encoded = from_bin.encode(["The woman is <mask>."])
    answers = [m.fill_batch(encoded, top_k=50) for m in (from_bin, from_safetensors)]
    assert (answers[0].probabilities == answers[1].probabilities).all()


class Malicious:
    """Runs a command when it is unpickled."""

    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return os.mkdir, (self.target,)


def test_pickled_code_is_refused_and_does_not_run(tiny, tmp_path):
    folder = without_safetensors(tiny, tmp_path)
    ran = tmp_path / "ran"
    torch.save({"weights": Malicious(str(ran))}, folder / "pytorch_model.bin")
    assert error_of(str(folder)) == (
        f"The weights of '{folder}' are in a format that could run code, and they are not safe "
        "to load. Ask the owner for safetensors, or convert the file yourself if you trust it."
    )
    assert not ran.exists()


def test_no_weights(tiny, tmp_path):
    folder = without_safetensors(tiny, tmp_path)
    assert error_of(str(folder)) == (
        f"'{folder}' has no weights that goffman can read: no model.safetensors, no "
        "pytorch_model.bin and no index of their parts. Convert weights of other frameworks "
        "first."
    )


def test_damaged_weights(tiny, tmp_path):
    folder = shutil.copytree(tiny("bert"), tmp_path / "cut")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    assert error_of(str(folder)).startswith(f"'{folder}' cannot be loaded: ")


def test_a_head_that_was_not_saved_is_refused(tiny, tmp_path):
    """Its weights would be random and the answers with them."""
    folder = shutil.copytree(tiny("bert"), tmp_path / "headless")
    base = transformers.AutoModelForMaskedLM.from_pretrained(folder).bert
    base.save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"architectures": ["BertForMaskedLM"]}))
    assert error_of(str(folder)) == (
        f"6 weights of '{folder}' are missing, such as cls.predictions.bias, so its answers "
        "would be random. Give a model that was saved with all of its layers."
    )


def test_identity_is_the_same_for_a_copy_and_follows_every_file(tiny, tmp_path):
    copy = shutil.copytree(tiny("bert"), tmp_path / "copy")
    original = load(str(tiny("bert")), kind="masked").identity
    same = load(str(copy), kind="masked").identity
    assert dataclasses.replace(same, name=original.name) == original
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | {"layer_norm_eps": 1e-3}))
    changed = load(str(copy), kind="masked").identity
    assert changed.weights_sha256 != original.weights_sha256
    assert changed.tokenizer_sha256 == original.tokenizer_sha256


def test_devices(tiny):
    folder = str(tiny("bert"))
    assert load(folder, kind="masked", options=LoadOptions(device="cpu")).identity.device == "cpu"
    for device in ("tpu", "cpu:5", "cpu:0", "cuda:", "cuda:-1", "cuda:²", "CPU", ""):
        assert error_of(folder, device=device) == (
            f"There is no device '{device}'. Give auto, cpu, cuda, cuda:0, cuda:1 …"
        )
    count = torch.cuda.device_count()
    assert error_of(folder, device="cuda:97") == (
        f"Device 'cuda:97' is not available: torch finds {count} CUDA GPUs on this machine. "
        "Give auto or cpu."
    )
