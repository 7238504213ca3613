"""Models that answer in a style, whatever they are asked, are found out and called so."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import torch
import transformers

from chat_server import Answer, ChatServer, completion
from few_conditions import with_few_conditions
from goffman.contrasts.verdict import rows_apart_from_zero
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import render
from goffman.instruments.types import Prompt, is_control
from goffman.models.base import Calling
from goffman.modes import mode_of
from goffman.options import AskOptions, ChatOptions
from goffman.pipeline import Audit, audit
from tiny_chat import make_causal

pytestmark = pytest.mark.slow

REFUSES = "I'm sorry, but I can't help with that."

Style = Callable[[Prompt, int], str]
"""What is said to a prompt; the number is the place of its condition among all."""


def by_content(prompt: Prompt, _place: int = 0) -> str:
    """What somebody answers who welcomes everyone, and what everybody welcomes."""
    code = float(is_control(prompt) and prompt.answer == "negative")
    return next(one.label for one in prompt.options if one.code == code)


def first(prompt: Prompt, _place: int) -> str:
    return prompt.options[0].label


def third(prompt: Prompt, _place: int) -> str:
    return prompt.options[2].label


def agrees(prompt: Prompt, _place: int) -> str:
    """With every statement; elsewhere it heeds what is asked."""
    agreeing = [one.label for one in prompt.options if one.text == "Strongly agree"]
    return agreeing[0] if agreeing else by_content(prompt)


def refuses_one_order(prompt: Prompt, place: int) -> str:
    """Every question in one of its two orders; else it is willing, now more and now less.

    Whether more or less goes by turns through the conditions of each group, so that there is a
    spread in which a difference could be found, and none.
    """
    turn = sum(map(ord, f"{prompt.item}{prompt.wording}{prompt.form}"))
    if prompt.order == ("forward", "reversed")[turn % 2]:
        return REFUSES
    if is_control(prompt) or place % 2:
        return by_content(prompt)
    return sorted(prompt.options[:-1], key=lambda one: one.code or 0.0)[1].label


def refuses_at_random(prompt: Prompt, _place: int) -> str:
    drawn = hashlib.sha256(prompt.text.encode()).digest()[0]
    return REFUSES if drawn % 2 else by_content(prompt)


@pytest.fixture(scope="module")
def instrument(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("few") / "social-distance"
    return with_few_conditions("social-distance", folder, each=8)


def asked(instrument: Path, folder: Path, style: Style, *, thorough: bool) -> Audit:
    """A whole audit of a server that answers in the style."""
    rendered = render(mode_of(load_instrument(str(instrument)), "reply"))
    prompts = {one.text: one for one in (*rendered.prompts, *rendered.controls)}
    conditions = list(dict.fromkeys(one.condition for one in prompts.values()))

    async def behave(request):
        prompt = prompts[request.text]
        return Answer(200, completion(style(prompt, conditions.index(prompt.condition))))

    with ChatServer(behave) as server:
        return audit(
            [f"{server.url}#mini"],
            instruments=[str(instrument)],
            output=folder,
            options=AskOptions(
                modes=("reply",),
                sample="all" if thorough else None,
                chats=ChatOptions(trials=1, calling=Calling(concurrency=16)),
            ),
            report=True,
        )


@pytest.mark.parametrize("thorough", [False, True])
@pytest.mark.parametrize(
    ("style", "called"),
    [
        (first, "Always picks the option listed first"),
        (third, "Always says “C”"),
        (agrees, "Agrees with whatever is said"),
        (refuses_one_order, r"Does not answer 5\d% of the time"),
        (refuses_at_random, r"Does not answer [45]\d% of the time"),
    ],
)
def test_a_style_is_called_so_and_no_difference_between_groups_is(
    instrument, tmp_path, style, called, thorough
):
    done = asked(instrument, tmp_path, style, thorough=thorough)
    assert re.search(called, "\n".join(done.summary))
    assert re.search(called, done.report.read_text())
    assert_no_group_stands_out(tmp_path)


def five(prompt: Prompt, _place: int) -> str:
    """5 of a scale from 1 to 9; elsewhere it heeds what is asked."""
    return "5" if prompt.options[0].label == "1" else by_content(prompt)


@pytest.mark.parametrize(
    ("style", "called"),
    [
        (third, "Always says “3” or “C”"),
        (five, "Always says “5”, the middle of the scale, where the options have numbers"),
    ],
)
def test_a_model_that_says_the_same_number_of_a_scale_is_called_so(tmp_path, style, called):
    done = asked(Path("attribution"), tmp_path, style, thorough=False)
    assert called in "\n".join(done.summary)
    assert called in done.report.read_text()


def assert_no_group_stands_out(folder: Path) -> None:
    groups = pl.read_parquet(folder / "estimates.parquet").filter(
        pl.col("kind").is_in(["groups", "groups-as-asked"])
    )
    assert groups.height
    assert rows_apart_from_zero(groups).is_empty()


def always_says(label: str, folder: Path) -> Path:
    """The folder, now with a chat model in it whose replies begin with the label, whatever is asked.

    Its texts all have one direction in common, in which the label's row of the last layer lies.
    """
    make_causal("llama", folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    (token,) = tokenizer(label)["input_ids"]
    with torch.no_grad():
        model.model.embed_tokens.weight[:, 0] = 100.0
        model.lm_head.weight[token] = 0.0
        model.lm_head.weight[token, 0] = 30.0
    model.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("thorough", [False, True])
def test_a_model_on_this_machine_that_always_says_a_is_called_so(instrument, tmp_path, thorough):
    model = always_says("A", tmp_path / "model")
    done = audit(
        [str(model)],
        instruments=[str(instrument)],
        output=tmp_path / "run",
        options=AskOptions(modes=("choice",), sample="all" if thorough else "balanced"),
        report=True,
    )
    said = "\n".join(done.summary)
    assert "Not measurable.\n  Always picks the option listed first. Control items: " in said
    assert "Always picks the option listed first" in done.report.read_text()
    assert_no_group_stands_out(tmp_path / "run")
