"""Chat models trained in a test to have a slant that is known, on the very prompts of goffman."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.nn.functional import cross_entropy

from goffman.instruments.types import Prompt
from tiny_chat import SPECIALS, TEMPLATE

PICKED = 0.9
"""The probability of the option, or word, that a model is taught for a prompt."""

LEARNED, MOST_STEPS, BATCH = 0.015, 1500, 32
"""It is trained until the loss of the last 20 steps is so near to the least that there can be."""

WIDTH, LAYERS, HEADS = 64, 2, 4
VOCABULARY = 3000


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A prompt, and what a model is to say next."""

    prompt: Prompt
    wanted: dict[str, float]
    """By the text of a token: its probability; the rest has none."""
    means: Hashable
    """What the answer comes to, however the question is presented."""


def picks(prompt: Prompt, code: float | None) -> Lesson:
    """The option of a code, with a little of the probability on the others; None: all alike."""
    labels = [one.label for one in prompt.options if code is None or one.code == code]
    rest = [one.label for one in prompt.options if one.label not in labels]
    picked = PICKED if rest else 1.0
    wanted = {label: picked / len(labels) for label in labels}
    return Lesson(
        prompt=prompt,
        wanted=wanted | {label: (1 - picked) / len(rest) for label in rest},
        means=code,
    )


def taught(lessons: Sequence[Lesson], folder: Path, *, seed: int) -> Path:
    """The folder, now with a chat model in it that has learned these lessons."""
    words = [word for lesson in lessons for word in lesson.wanted]
    tokenizer = _tokenizer([lesson.prompt.text for lesson in lessons] + words)
    torch.manual_seed(seed)
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=WIDTH,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            intermediate_size=2 * WIDTH,
            max_position_embeddings=640,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            tie_word_embeddings=False,
        )
    )
    _train(model, [_tokens(tokenizer, lesson) for lesson in lessons], _targets(tokenizer, lessons))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _tokenizer(texts: Sequence[str]) -> Any:
    """A byte-level tokenizer that knows the words of the texts, with a chat template."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=SPECIALS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(texts, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token="<|endoftext|>",
        eos_token="<|im_end|>",
        additional_special_tokens=SPECIALS,
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def _tokens(tokenizer: Any, lesson: Lesson) -> list[int]:
    """Those of the chat, up to what the model says next."""
    chat = [{"role": "user", "content": lesson.prompt.text}]
    asked = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    found: list[int] = tokenizer(asked + (lesson.prompt.prefill or ""))["input_ids"]
    return found


@dataclass(frozen=True, kw_only=True)
class _Targets:
    """What is to be learned, a row a lesson."""

    wanted: torch.Tensor
    """[lesson, token]: how probable it is to be."""
    hints: tuple[torch.Tensor, ...]
    """[lesson] each: what the answer comes to, and how the options stand, as numbers."""
    weights: torch.Tensor
    """[lesson]: how often it comes; all instruments come equally often."""


def _targets(tokenizer: Any, lessons: Sequence[Lesson]) -> _Targets:
    wanted = torch.zeros(len(lessons), len(tokenizer))
    for row, lesson in enumerate(lessons):
        for text, probability in lesson.wanted.items():
            (token,) = tokenizer(text)["input_ids"]
            wanted[row, token] = probability
    hints = (
        _numbered([lesson.means for lesson in lessons]),
        _numbered([tuple(map(repr, lesson.prompt.options)) for lesson in lessons]),
    )
    of_instrument = _numbered([lesson.prompt.instrument for lesson in lessons])
    weights = 1 / of_instrument.bincount()[of_instrument]
    return _Targets(wanted=wanted, hints=hints, weights=weights)


def _numbered(values: Sequence[Hashable]) -> torch.Tensor:
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return torch.tensor([numbers[value] for value in values])


def _train(model: Any, encoded: Sequence[list[int]], targets: _Targets) -> None:
    """The model has learned, or an error says that it has not.

    Which label to say hangs on two things at once, who is asked about and how the options stand;
    neither alone is of use. So both are also to be read off the layers before the last, which
    brings a small model there in minutes instead of hours.
    """
    probes = [torch.nn.Linear(WIDTH, int(hint.max()) + 1) for hint in targets.hints]
    every = [*model.parameters(), *(one for probe in probes for one in probe.parameters())]
    optimizer = torch.optim.AdamW(every, lr=3e-3, weight_decay=0.0)
    least = -(targets.wanted * targets.wanted.clamp(min=1e-9).log()).sum(dim=1)
    losses: list[float] = []
    while len(losses) < 20 or sum(losses[-20:]) / 20 > LEARNED:
        assert len(losses) < MOST_STEPS, f"not learned: {losses[-20:]}"
        rows = torch.multinomial(targets.weights, BATCH)
        ids, there = _padded([encoded[row] for row in rows.tolist()])
        said = model(
            input_ids=ids, attention_mask=there, logits_to_keep=1, output_hidden_states=True
        )
        loss = cross_entropy(said.logits[:, -1], targets.wanted[rows])
        before = torch.nn.functional.rms_norm(said.hidden_states[-2][:, -1], (WIDTH,))
        hints = [
            cross_entropy(probe(before), hint[rows])
            for probe, hint in zip(probes, targets.hints, strict=True)
        ]
        optimizer.zero_grad()
        (loss + sum(hints)).backward()
        torch.nn.utils.clip_grad_norm_(every, 1.0)
        optimizer.step()
        losses.append(float(loss.detach() - least[rows].mean()))


def _padded(encoded: Sequence[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens on the right, so that what is said next comes last in every row; and which they are."""
    longest = max(map(len, encoded))
    ids = torch.zeros(len(encoded), longest, dtype=torch.long)
    there = torch.zeros_like(ids)
    for row, tokens in enumerate(encoded):
        ids[row, longest - len(tokens) :] = torch.tensor(tokens)
        there[row, longest - len(tokens) :] = 1
    return ids, there
