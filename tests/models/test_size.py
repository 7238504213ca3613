"""About how many parameters a model has: against the parameters of the model itself, counted."""

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM
from transformers.models.bert import BertConfig
from transformers.models.distilbert import DistilBertConfig
from transformers.models.gpt2 import GPT2Config
from transformers.models.llama import LlamaConfig
from transformers.models.roberta import RobertaConfig
from transformers.models.xlnet import XLNetConfig

from goffman.models.base import LoadOptions
from goffman.workers.scheduler import parameters_of

LARGE = {
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
}
MASKED, CAUSAL = AutoModelForMaskedLM, AutoModelForCausalLM


@pytest.mark.parametrize(
    ("config", "of"),
    [
        (RobertaConfig(vocab_size=50_265), MASKED),
        (BertConfig(**LARGE), MASKED),
        (DistilBertConfig(), MASKED),
        (GPT2Config(), CAUSAL),
        (LlamaConfig(hidden_size=1024, num_hidden_layers=8, intermediate_size=2752), CAUSAL),
        (XLNetConfig(), CAUSAL),
    ],
    ids=lambda one: getattr(one, "model_type", ""),
)
def test_the_size_of_a_model_is_known_before_its_weights_are_read(config, of, tmp_path):
    with torch.device("meta"):
        model = of.from_config(config)
    config.architectures = [type(model).__name__]
    config.save_pretrained(tmp_path)
    counted = sum(one.numel() for one in model.parameters())
    kind = "masked" if of is MASKED else "causal"
    found = parameters_of(str(tmp_path), kind=kind, options=LoadOptions())
    assert found == pytest.approx(counted, rel=0.25)


def test_what_does_not_say_its_size_counts_as_one(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "convbert", "hidden_size": 0}')
    assert parameters_of(str(tmp_path), kind="masked", options=LoadOptions()) == 1.0
