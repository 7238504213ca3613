"""Sentences made ready block by block give the answers of those made ready at once."""

from __future__ import annotations

import gc
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asking import LIMITS, asking, prompts_of
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import render
from goffman.models.resolve import load
from goffman.runs import batch_plan
from goffman.runs.batch_plan import few_collections, limits_for, prefetched, split
from goffman.runs.collect import ask_batches
from goffman.runs.mode_adapters import FillMask
from goffman.runs.recursive_masking import Node, Settings, roots
from goffman.runs.run import read_answers
from tiny_models import sentences

IN_BLOCKS = replace(LIMITS, first_block=4)
SETTINGS = Settings(top_k=5, depth=2, width=3)
KEY = ["prompt_id", "step", "parent", "rank"]


@pytest.fixture(scope="module")
def model(tiny):
    return load(str(tiny("roberta")), kind="masked")


def node(text):
    return Node(prompt_id=f"p{text}", parent="", text=text)


def test_blocks_double_up_to_the_largest(monkeypatch):
    monkeypatch.setattr(batch_plan, "LARGEST", 8)
    nodes = [node(str(number)) for number in range(33)]
    assert [len(block) for block in split(nodes, 2)] == [2, 4, 8, 8, 8, 3]
    assert split(nodes, None) == [nodes]
    assert split([], 2) == split([], None) == []


several = st.lists(st.text("ab", max_size=4).map(node), max_size=40)


@given(several, st.integers(1, 9))
def test_every_node_is_in_one_block_with_all_of_its_text_and_the_longest_come_first(nodes, first):
    found = split(nodes, first)
    assert sorted(one for block in found for one in map(id, block)) == sorted(map(id, nodes))
    texts = [{one.text for one in block} for block in found]
    assert sum(map(len, texts)) == len(set().union(*texts))
    for longer, shorter in pairwise(texts):
        assert min(map(len, longer)) >= max(map(len, shorter))


@given(several, st.integers(1, 9), st.randoms(use_true_random=False))
def test_which_texts_are_together_does_not_depend_on_their_order(nodes, first, random):
    mixed = random.sample(nodes, len(nodes))
    left, right = ([{one.text for one in b} for b in split(some, first)] for some in (nodes, mixed))
    assert left == right


def test_nodes_keep_their_order_in_a_block_and_ties_go_by_the_alphabet():
    nodes = [node(text) for text in "fedcbafedcbaf"]
    first, second = split(nodes, 4)
    assert [one.text for one in first] == list("dcbadcba")
    assert [one.text for one in second] == list("fefef")


def test_blocks_of_a_gpu_have_little_padding(model):
    """Whole batches of 1,024 would have 16% on these prompts, and 42% in blocks."""
    nodes = roots(render(load_instrument("social-distance")).prompts)
    voice = FillMask(model, Settings(top_k=5))
    real = padded = 0
    for block in prefetched(voice, nodes, limits_for("cuda")):
        for batch in (batch for part in block.parts for batch in part.batches):
            real += sum(map(len, batch))
            padded += len(batch) * max(map(len, batch))
    assert padded < 1.2 * real


def test_parts_are_counted_through_and_what_waits_is_told(model):
    voice = FillMask(model, Settings(top_k=5))
    nodes = roots(prompts_of(sentences()[:50]))
    found = list(prefetched(voice, nodes, replace(IN_BLOCKS, part_size=3)))
    parts = [part for block in found for part in block.parts]
    assert [part.number for part in parts] == list(range(len(parts)))
    assert [block.waiting for block in found] == [46, 38, 22, 0]
    (whole,) = prefetched(voice, nodes, LIMITS)
    assert sorted(one for block in found for one in block.plan.written) == sorted(
        whole.plan.written
    )


@pytest.mark.parametrize("limits", [LIMITS, IN_BLOCKS])
def test_what_is_asked_first_has_the_parts_that_it_has_alone(model, limits):
    voice = FillMask(model, Settings(top_k=5))
    nodes = roots(prompts_of(sentences()[:50]))
    chosen = nodes[::3]

    def digests(some, **told):
        blocks_ = prefetched(voice, some, limits, **told)
        return [part.digest("a model") for block in blocks_ for part in block.parts]

    alone = digests(chosen)
    others = digests([one for one in nodes if one not in chosen])
    together = digests(nodes, first={one.prompt_id for one in chosen})
    assert together == alone + others


def asked(folder, model, limits, prompts):
    with asking(folder, model, prompts, limits=limits) as job:
        return ask_batches(job, FillMask(model, SETTINGS))


@pytest.fixture(scope="module")
def prompts():
    return prompts_of(
        [*sentences()[:40], *sentences()[:10]], items=[f"i{number}" for number in range(50)]
    )


@pytest.fixture(scope="module")
def runs(model, prompts, tmp_path_factory):
    """One asked in blocks, one at once."""
    base = tmp_path_factory.mktemp("blocks")
    found = [
        asked(base / name, model, limits, prompts)
        for name, limits in (("blocks", IN_BLOCKS), ("once", LIMITS))
    ]
    return base / "blocks", base / "once", found


def test_the_answers_and_their_number_do_not_depend_on_blocks(runs):
    in_blocks, at_once, found = runs
    assert found[0] == found[1]
    left, right = (read_answers(run, "fills").sort(KEY) for run in (in_blocks, at_once))
    assert left.drop("probability").equals(right.drop("probability"))
    difference = (left["probability"] / right["probability"] - 1).abs().max()
    assert difference < 1e-4


def test_a_part_of_a_later_block_that_is_missing_is_asked_again_alone(model, prompts, runs):
    run = runs[0]
    before = {path.name: path.read_bytes() for path in run.rglob("*.parquet")}
    lost = max(path for path in run.rglob("2-*.parquet"))
    rows = pl.read_parquet(lost)
    lost.unlink()
    again = asked(run, model, IN_BLOCKS, prompts)
    assert again.asked_now == rows.select("prompt_id", "parent").n_unique()
    assert {path.name: path.read_bytes() for path in run.rglob("*.parquet")} == before
    assert asked(run, model, IN_BLOCKS, prompts).asked_now == 0


def test_parts_of_other_blocks_are_not_taken_for_these(model, prompts, runs, tmp_path):
    mixed = tmp_path / "run"
    asked(mixed, model, LIMITS, prompts)
    again = asked(mixed, model, IN_BLOCKS, prompts)
    assert again.asked_now == again.sentences
    names = [{path.name for path in run.rglob("*.parquet")} for run in (mixed, runs[0])]
    assert names[0] == names[1]


def test_only_a_gpu_gets_its_sentences_in_blocks():
    assert limits_for("cpu").first_block is None
    assert limits_for("cpu").enough is None
    assert limits_for("cuda").first_block is not None
    assert limits_for("cuda").enough is not None
    assert limits_for("cuda", batch_size=7).enough is None


def test_python_is_left_as_it_was():
    before = gc.get_threshold(), gc.get_freeze_count()
    with suppress(ValueError), few_collections():
        assert gc.get_freeze_count() > before[1]
        raise ValueError
    assert (gc.get_threshold(), gc.get_freeze_count()) == before
