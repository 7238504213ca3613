"""A causal model made on the spot that answers questions with options by their labels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import torch
import transformers

from tiny_chat import make_causal

if TYPE_CHECKING:
    from pathlib import Path

LABELS = "ABCDE"


def make_chooser(folder: Path, *, push: float = 9.0) -> Path:
    """The folder, now with a GPT-2 in it; ``push``: how far its logits lean to the labels.

    Each label is one token, with and without a space before it, as in real tokenizers. There is no
    token that begins a text: lm-eval would not put it where goffman does.
    """
    make_causal("gpt2", folder, chat=False)
    file = folder / "tokenizer.json"
    told = json.loads(file.read_text())
    vocabulary = told["model"]["vocab"]
    for label in LABELS:
        if f"Ġ{label}" not in vocabulary:
            vocabulary[f"Ġ{label}"] = max(vocabulary.values()) + 1
            told["model"]["merges"].append(["Ġ", label])
    file.write_text(json.dumps(told))
    settings = folder / "tokenizer_config.json"
    kept = {key: one for key, one in json.loads(settings.read_text()).items() if "bos" not in key}
    settings.write_text(json.dumps(kept))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    torch.manual_seed(0)
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    with torch.no_grad():
        spelled = [f"{space}{one}" for one in LABELS for space in ("Ġ", "")]
        ids = tokenizer.convert_tokens_to_ids(spelled)
        weights = model.get_output_embeddings().weight
        others = torch.ones(len(weights), 1)
        others[ids] = 10.0
        weights.mul_(others / 10)
        rows = weights[ids]
        # What is added after the last layer raises the logits of these tokens.
        model.transformer.ln_f.bias += push * torch.linalg.pinv(rows) @ torch.ones(len(ids))
    model.save_pretrained(folder)
    return folder
