"""The scripts that made the bundled models, against the plain way of doing the same."""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import BertConfig, BertForMaskedLM

SCRIPTS = Path(__file__).parents[1] / "training"
SPECIAL = ["[PAD]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = 60
TOKENS = 640


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    """The scripts import each other by their bare names, which are nobody else's after the test."""
    monkeypatch.syspath_prepend(SCRIPTS)
    yield
    for script in SCRIPTS.glob("*.py"):
        sys.modules.pop(script.stem, None)


@pytest.fixture
def segments(tmp_path):
    """Fifty segments of 3 to 40 tokens, and all of their ids, one list each."""
    from batches import Segments

    draw = np.random.default_rng(0)
    rows = [
        [1, *draw.integers(len(SPECIAL), WORDS, size=length - 2).tolist(), 2]
        for length in draw.integers(3, 41, size=50)
    ]
    ids = np.array([number for row in rows for number in row], dtype=np.int16)
    np.savez(tmp_path / "s.npz", ids=ids, lengths=np.array([*map(len, rows)], dtype=np.int16))
    words = SPECIAL + [f"w{number}" for number in range(len(SPECIAL), WORDS)]
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, "[PAD]"))
    return Segments(tmp_path / "s.npz", tokenizer, tokens=TOKENS, device="cpu"), rows


def drawn(segments, masks):
    """An epoch's batches, each with the segments that are meant to be in it."""
    plan = segments.plan(torch.Generator().manual_seed(0))
    draw = torch.Generator().manual_seed(1)
    return list(zip(plan, segments.batches(plan, draw, masks), strict=True))


def test_a_batch_holds_its_segments_end_to_end_and_asks_for_the_share(segments):
    from batches import NOT_ASKED, Masks

    stored, rows = segments
    epoch = drawn(stored, Masks(share=0.25, hidden=0.8))
    assert sorted(int(row) for (chosen, _), _ in epoch for row in chosen) == list(range(len(rows)))
    for (chosen, used), batch in epoch:
        text = [number for row in chosen.tolist() for number in rows[row]]
        assert used == len(text) <= TOKENS == len(batch.ids)
        asked = batch.asked[batch.answers != NOT_ASKED]
        assert len(asked) == len(set(asked.tolist())) == round(0.25 * (used - 2 * len(chosen)))
        assert batch.answers[: len(asked)].tolist() == [text[place] for place in asked.tolist()]
        assert not {0, 1, 2} & set(batch.answers[: len(asked)].tolist())
        others = torch.ones(TOKENS, dtype=torch.bool)
        others[asked] = False
        assert torch.equal(batch.ids[others], torch.tensor(text + [0] * (TOKENS - used))[others])
        lengths = [len(rows[row]) for row in chosen.tolist()]
        assert batch.bounds.diff()[: len(lengths)].tolist() == lengths
        assert batch.bounds[-1] == TOKENS
        places = [place for a, b in pairwise(batch.bounds.tolist()) for place in range(b - a)]
        assert batch.places.tolist() == places


def test_what_is_shown_in_place_of_a_token(segments):
    from batches import NOT_ASKED, Masks

    stored, _ = segments
    for hidden in (1.0, 0.6):
        masked = same = total = 0
        for seed in range(40):
            plan = stored.plan(torch.Generator().manual_seed(seed))
            draw = torch.Generator().manual_seed(seed)
            for batch in stored.batches(plan, draw, Masks(share=0.3, hidden=hidden)):
                asked = batch.answers != NOT_ASKED
                shown = batch.ids[batch.asked[asked]]
                total += len(shown)
                masked += int((shown == SPECIAL.index("[MASK]")).sum())
                same += int((shown == batch.answers[asked]).sum())
        rest = (1 - hidden) / 2
        # Another word may be the mask, or the word itself, by chance.
        assert masked / total == pytest.approx(hidden + rest / WORDS, abs=0.02)
        assert same / total == pytest.approx(rest + rest / WORDS, abs=0.02)


def test_first_tokens_are_asked_for_where_that_is_said(segments):
    from batches import NOT_ASKED, Masks

    stored, _ = segments
    for _, batch in drawn(stored, Masks(share=0.25, first=1.0)):
        asked = batch.asked[batch.answers != NOT_ASKED]
        first = (batch.places == 1) & (batch.ids != 0)
        assert set(torch.nonzero(first).flatten().tolist()) <= set(asked.tolist())


@torch.no_grad()
def test_the_packed_pass_is_that_of_transformers_segment_by_segment(segments):
    from batches import NOT_ASKED, Masks
    from packed import logits_at, loss_of

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=WORDS,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.3,
    )
    model = BertForMaskedLM(config).eval()
    stored, _ = segments
    _, batch = drawn(stored, Masks(share=0.25))[0]
    plain = torch.zeros(TOKENS, WORDS)
    for start, end in pairwise(batch.bounds.tolist()):
        if end > start:
            plain[start:end] = model(input_ids=batch.ids[start:end][None]).logits[0]
    found = logits_at(model, batch, stored.longest, torch.float32)
    assert torch.allclose(found, plain[batch.asked], atol=1e-4)
    assert plain.std() > 0.1
    asked = batch.answers != NOT_ASKED
    chances = plain[batch.asked][asked].log_softmax(1)
    naive = -chances[torch.arange(len(chances)), batch.answers[asked]].mean()
    assert float(loss_of(model, batch, stored.longest, torch.float32)) == pytest.approx(
        float(naive)
    )


def test_muon_is_that_of_torch():
    from muon import Muon

    torch.manual_seed(0)
    shapes = [(16, 16), (16, 16), (48, 16), (16, 48)]
    ours, theirs = ([torch.nn.Parameter(torch.ones(shape)) for shape in shapes] for _ in range(2))
    optimizers = (
        Muon(ours, weight_decay=0.1),
        torch.optim.Muon(theirs, lr=1e-3, weight_decay=0.1, adjust_lr_fn="match_rms_adamw"),
    )
    for _ in range(10):
        for mine, other in zip(ours, theirs, strict=True):
            mine.grad = torch.randn_like(mine)
            other.grad = mine.grad.clone()
        for optimizer in optimizers:
            optimizer.step()
    for mine, other in zip(ours, theirs, strict=True):
        moved = (other.detach() - 1).norm()
        # Both work in bfloat16; a batch of products is rounded otherwise than one by one.
        assert float((mine - other).detach().norm() / moved) < 0.02
        assert float(moved) > 0


def test_segments_begin_where_a_sentence_begins():
    import random

    from corpus import LONGEST, segments, sentences, windows

    assert sentences('He left. "Why?" she asked. It was 3 p.m. then. Dr. Who?') == [
        "He left.",
        '"Why?" she asked.',
        "It was 3 p.m. then.",
        "Dr.",
        "Who?",
    ]
    document = [[number] * length for number, length in enumerate([5, 300, 7, 200, 600, 4])]
    assert [len(window) for window in windows(document)] == [312, 200, LONGEST, 4]
    for seed in range(20):
        found = list(segments(document, random.Random(seed)))
        starts = [segment[0] for segment in found]
        assert starts[0] == 0
        assert starts == sorted(set(starts))
        assert max(map(len, found)) <= LONGEST
