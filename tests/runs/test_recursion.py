"""Recursive masking: the whole tree, as one would ask it by hand."""

from __future__ import annotations

import shutil

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from asking import asking, prompts_of
from goffman.errors import InputError
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import render
from goffman.instruments.types import MASK
from goffman.models.resolve import load
from goffman.runs.batch_plan import BatchLimits
from goffman.runs.collect import ask_batches
from goffman.runs.mode_adapters import FillMask
from goffman.runs.recursive_masking import Node, Settings, around, children, roots
from goffman.runs.run import read_answers

TEXTS = [
    f"I would talk to a {MASK} with depression.",
    f"I feel sorry for a {MASK} with anxiety, and I would lend money to them.",
    f"It is {MASK} to have as a neighbor someone who has asthma.",
]


def test_the_study_s_placement_and_the_other_reading():
    text = f"a {MASK} with asthma"
    second = "friend".join(around(text, first=True, placement="before-first"))
    assert second == f"a {MASK} friend with asthma"
    assert "friend".join(around(text, first=True, placement="before-last")) == second
    assert (
        "close".join(around(second, first=False, placement="before-first"))
        == f"a close {MASK} friend with asthma"
    )
    assert (
        "close".join(around(second, first=False, placement="before-last"))
        == f"a {MASK} close friend with asthma"
    )


def test_the_path_says_which_ranks_were_put_back_and_unfit_words_end_it():
    nodes = [Node(prompt_id="p", parent="", text=f"a {MASK}.")]
    second = children(
        nodes, {("p", ""): ["x", "[SEP]", "y"]}, placement="before-first", unfit={"[SEP]"}
    )
    assert [(node.parent, node.text) for node in second] == [
        ("1", f"a {MASK} x."),
        ("3", f"a {MASK} y."),
    ]
    words = {("p", "1"): ["u"], ("p", "3"): ["v", "w"]}
    third = children(second, words, placement="before-first", unfit=())
    assert [(node.parent, node.text) for node in third] == [
        ("1/1", f"a u {MASK} x."),
        ("3/1", f"a v {MASK} y."),
        ("3/2", f"a w {MASK} y."),
    ]


@given(st.lists(st.text(max_size=5), unique=True, max_size=8), st.randoms(use_true_random=False))
def test_the_first_frontier_does_not_depend_on_the_order_of_prompts(texts, random):
    prompts = prompts_of(texts)
    assert roots(random.sample(prompts, len(prompts))) == roots(prompts)


def test_a_prompt_that_is_given_twice_is_refused():
    with pytest.raises(InputError) as refusal:
        roots(prompts_of(["a", "b", "a"], items=["one", "two", "one"]))
    assert str(refusal.value) == (
        "Two prompts of scale are identical: item 'one', condition 'c', \"a\". Remove one of "
        "them from the instrument."
    )


def naive(model, text, *, depth, width, top_k, placement):
    """step, parent, rank → word and probability: one sentence at a time, in plain steps."""
    marks = {model.tokens[token].strip() for token in model.encode([MASK])[0]}
    tree = {}

    def ask(words, path):
        """``words``: those put back, from left to right with the mask among them."""
        sentence = text.replace(MASK, " ".join(words))
        filled = model.fill_batch(model.encode([sentence]), top_k=top_k)
        for place in range(top_k):
            word = model.tokens[filled.token_ids[0, place]].strip()
            rank = place + 1
            key = (len(path) + 1, "/".join(map(str, path)), rank)
            tree[key] = (word, float(filled.probabilities[0, place]))
            ends = word in {"", MASK, *marks} or "\ufffd" in word
            if len(path) + 1 == depth or rank > width or ends:
                continue
            at = words.index(MASK)
            before, after = words[:at], words[at + 1 :]
            if path and placement == "before-first":
                ask([*before, word, MASK, *after], [*path, rank])
            else:
                ask([*before, MASK, word, *after], [*path, rank])

    ask([MASK], [])
    return tree


@pytest.mark.slow
@pytest.mark.parametrize("placement", ["before-first", "before-last"])
@pytest.mark.parametrize(
    ("family", "depth", "width", "top_k"),
    [("roberta", 3, 10, 10), ("bert", 3, 3, 7), ("xlnet", 2, 4, 4), ("roberta", 4, 2, 2)],
)
def test_the_tree_equals_one_asked_sentence_by_sentence(
    tiny, tmp_path, placement, family, depth, width, top_k
):
    model = load(str(tiny(family)), kind="masked")
    settings = Settings(top_k=top_k, depth=depth, width=width, placement=placement)
    prompts = prompts_of(TEXTS[:2] if width == 10 else TEXTS)
    limits = BatchLimits(max_tokens=400, max_size=16, part_size=50)
    with asking(tmp_path, model, prompts, limits=limits) as job:
        asked = ask_batches(job, FillMask(model, settings))
    fills = read_answers(tmp_path, "fills")
    assert asked.rows == fills.height
    for prompt in prompts:
        expected = naive(
            model, prompt.text, depth=depth, width=width, top_k=top_k, placement=placement
        )
        rows = fills.filter(pl.col("prompt_id") == prompt.id)
        found = {
            (step, parent, rank): (word, probability)
            for step, parent, rank, word, probability in rows.select(
                "step", "parent", "rank", "word", "probability"
            ).iter_rows()
        }
        assert len(found) == rows.height
        assert found.keys() == expected.keys()
        for key, (word, probability) in expected.items():
            assert found[key][0] == word, key
            assert found[key][1] == pytest.approx(probability, rel=1e-4), key


def test_a_sentence_is_asked_once_for_all_prompts(tiny, tmp_path):
    plain = load(str(tiny("bert")), kind="masked")
    model = Counting(plain)
    first, second = prompts_of([TEXTS[0], TEXTS[0]], items=["one", "two"])
    settings = Settings(top_k=3, depth=3, width=3)
    with asking(tmp_path, model, [first, second]) as job:
        asked = ask_batches(job, FillMask(model, settings))
    # Fewer than 1 + 3 + 9 where two orders of putting words back give one sentence.
    assert 4 < len(model.asked) == len(set(model.asked)) == asked.sentences <= 1 + 3 + 9
    fills = read_answers(tmp_path, "fills")
    one, two = (
        fills.filter(pl.col("prompt_id") == prompt.id).drop("prompt_id")
        for prompt in (first, second)
    )
    columns = ["step", "parent", "rank"]
    assert one.sort(columns).equals(two.sort(columns))
    options = {"depth": 3, "width": 3, "top_k": 3, "placement": "before-first"}
    assert one.height == len(naive(plain, TEXTS[0], **options))


def test_what_a_tokenizer_calls_special_is_never_put_back_however_it_looks(tiny, tmp_path):
    """Two tokens that look like words, one of them special by the tokenizer's word."""
    folder = shutil.copytree(tiny("roberta"), tmp_path / "model")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    vocabulary = tokenizer.get_vocab()
    plain = load(str(folder), kind="masked")
    text = TEXTS[0]
    best, second = plain.fill_batch(plain.encode([text]), top_k=2).token_ids[0].tolist()
    names = {number: name for name, number in vocabulary.items()}
    tokenizer.add_special_tokens({"additional_special_tokens": [names[best]]})
    tokenizer.save_pretrained(folder)
    model = load(str(folder), kind="masked")
    assert best in model.special_ids
    assert second not in model.special_ids
    with asking(tmp_path / "run", model, prompts_of([text])) as job:
        ask_batches(job, FillMask(model, Settings(top_k=2, depth=2, width=2)))
    fills = read_answers(tmp_path / "run", "fills")
    assert fills.filter(step=1)["token"].to_list() == [model.tokens[best], model.tokens[second]]
    assert fills.filter(step=2)["parent"].unique().to_list() == ["2"]


def test_no_likely_word_of_the_bundled_model_cannot_be_put_back():
    """The page of attribution says so, of every prompt; here of some, at the first mask."""
    model = load("bundled:mini", kind="masked")
    prompts = render(load_instrument("attribution")).prompts[::12]
    filled = model.fill_batch(model.encode([prompt.text for prompt in prompts]), top_k=10)
    words = {model.tokens[token].strip() for token in filled.token_ids.ravel()}
    unfit = FillMask(model, Settings(top_k=10)).unfit
    assert {"", MASK, "[SEP]"} <= unfit
    assert len(prompts) > 40
    assert not words & unfit


class Counting:
    """A real model that remembers what it was asked."""

    def __init__(self, model):
        self._model = model
        self.asked = []

    def __getattr__(self, name):
        return getattr(self._model, name)

    def fill_batch(self, encoded, **options):
        self.asked += [tuple(sentence) for sentence in encoded]
        return self._model.fill_batch(encoded, **options)
