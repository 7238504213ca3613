"""A RoBERTa with random weights, in true size, and a tokenizer that knows our prompts' words."""

from __future__ import annotations

import logging
from pathlib import Path

SIZES = {
    "base": {
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
    },
    "large": {
        "hidden_size": 1024,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
    },
}
VOCABULARY = 50_265
"""RoBERTa's own number of tokens: the vocabulary projection is a large part of the work."""


def prompts() -> list[str]:
    """The 3,892 social-distance prompts."""
    from goffman.instruments.loader import load_instrument
    from goffman.instruments.renderer import render

    return [
        prompt.text
        for prompt in render(load_instrument("social-distance")).prompts
        # As many as when these figures were first measured.
        if prompt.group != "rare"
    ]


def make(folder: Path, size: str) -> Path:
    """Save such a model, as the hub would hold it."""
    import torch
    from transformers import RobertaConfig, RobertaForMaskedLM

    logging.getLogger("transformers").setLevel(logging.ERROR)
    _tokenizer(prompts()).save_pretrained(folder)
    config = RobertaConfig(
        vocab_size=VOCABULARY,
        max_position_embeddings=514,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
        # Wider than a fresh model's, so that probabilities differ enough to have an order.
        initializer_range=0.05,
        **SIZES[size],
    )
    torch.manual_seed(0)
    RobertaForMaskedLM(config).save_pretrained(folder)
    return folder


def _tokenizer(texts: list[str]):
    """A byte-level BPE trained on the texts, filled up to RoBERTa's size with words of no use."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import AddedToken, RobertaTokenizer

    specials = ["<s>", "<pad>", "</s>", "<unk>"]
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=3_000,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    trained.train_from_iterator(texts, trainer)
    vocabulary = trained.get_vocab()
    while len(vocabulary) < VOCABULARY - 1:
        vocabulary[f"Ġunused{len(vocabulary)}"] = len(vocabulary)
    vocabulary["<mask>"] = VOCABULARY - 1
    merges = _merges(trained)
    return RobertaTokenizer(
        vocab=vocabulary, merges=merges, mask_token=AddedToken("<mask>", lstrip=True, special=True)
    )


def _merges(tokenizer) -> list[tuple[str, str]]:
    import json

    return [tuple(merge) for merge in json.loads(tokenizer.to_str())["model"]["merges"]]
