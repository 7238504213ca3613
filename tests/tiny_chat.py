"""Causal models made on the spot: random weights, a true byte-level tokenizer, a chat template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from tiny_models import HEADS, INNER, LAYERS, WIDTH, _byte_bpe, _loosened

if TYPE_CHECKING:
    from pathlib import Path

CAUSAL = ("llama", "gpt2", "gpt-neox", "qwen3", "gemma2")
"""Every family that ``make_causal`` knows."""

SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]

TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] "
    "+ '<|im_end|>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def tokenizer_of(*, chat: bool, template: str = TEMPLATE) -> Any:
    """A byte-level tokenizer trained on our text; with a chat template or without."""
    vocabulary, merges = _byte_bpe(SPECIALS)
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token="<|endoftext|>",
        eos_token="<|im_end|>" if chat else "<|endoftext|>",
        additional_special_tokens=SPECIALS,
    )
    if chat:
        tokenizer.chat_template = template
    return tokenizer


def make_causal(
    family: str,
    folder: Path,
    *,
    chat: bool = True,
    seed: int = 0,
    template: str = TEMPLATE,
    end_bias: float = 0.0,
) -> Path:
    """The folder, now with a causal model of the family in it.

    ``end_bias``: the weight of the end token, so that replies have many lengths.
    """
    tokenizer = tokenizer_of(chat=chat, template=template)
    torch.manual_seed(seed)
    size = {
        "vocab_size": len(tokenizer),
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": INNER,
        "initializer_range": 0.25,
        "max_position_embeddings": 640,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "tie_word_embeddings": False,
    }
    if family == "llama":
        config = transformers.LlamaConfig(num_key_value_heads=HEADS // 2, **size)
        model = transformers.LlamaForCausalLM(config)
    elif family == "gpt2":
        names = {"hidden_size": "n_embd", "num_hidden_layers": "n_layer"}
        names |= {"num_attention_heads": "n_head", "intermediate_size": "n_inner"}
        names |= {"max_position_embeddings": "n_positions"}
        config = transformers.GPT2Config(**{names.get(k, k): v for k, v in size.items()})
        model = transformers.GPT2LMHeadModel(config)
    elif family in {"qwen3", "gemma2"}:
        # Gemma's every second layer sees the last few tokens only.
        size |= {"num_key_value_heads": HEADS // 2, "head_dim": WIDTH // HEADS}
        size |= {"sliding_window": 12} if family == "gemma2" else {}
        config = transformers.AutoConfig.for_model(family, **size)
        model = transformers.AutoModelForCausalLM.from_config(config)
    else:
        model = transformers.GPTNeoXForCausalLM(transformers.GPTNeoXConfig(**size))
    if end_bias:
        with torch.no_grad():
            model.get_output_embeddings().weight[tokenizer.eos_token_id].mul_(end_bias)
    _loosened(model).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
