"""A prompt's id is the same in another process, on another day, in another order."""

import os
import random
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goffman.instruments.loader import builtin_names, load_instrument
from goffman.instruments.renderer import render
from goffman.instruments.types import Prompt
from goffman.schemas import ANSWER_KEY, PROMPT_TABLE, PROMPTS, complaints, prompt_rows, prompt_table

ASK_IDS = """
from goffman.instruments.loader import builtin_names, load_instrument
from goffman.instruments.renderer import render
for name in reversed(builtin_names()):
    for prompt in reversed(render(load_instrument(name)).prompts):
        print(prompt.id)
"""

text = st.text(max_size=20)
prompts = st.builds(
    Prompt,
    instrument=text,
    item=text,
    wording=text,
    condition=text,
    form=st.none() | text,
    group=text,
    text=text,
)


def test_ids_are_the_same_in_another_process_and_order() -> None:
    """With other hash seeds, another time zone and language, asked from the last to the first."""
    here = [p.id for name in builtin_names() for p in render(load_instrument(name)).prompts]
    there = subprocess.run(
        [sys.executable, "-c", ASK_IDS],
        env=os.environ | {"PYTHONHASHSEED": "12345", "TZ": "Asia/Tokyo", "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.split() == here[::-1]


def test_an_id_is_what_it_was_when_this_was_written() -> None:
    prompt = Prompt(
        instrument="i", item="ü", wording="w", condition="c", form=None, group="g", text="t"
    )
    # sha256 of ["i", "\\u00fc", "w", "c", null, "t"], its first 16 digits
    assert prompt.id == "c443b705520c7335"


@given(prompts, prompts)
def test_ids_differ_where_what_is_asked_differs(one: Prompt, other: Prompt) -> None:
    def asked(prompt: Prompt) -> tuple[str | None, ...]:
        return (
            prompt.instrument,
            prompt.item,
            prompt.wording,
            prompt.condition,
            prompt.form,
            prompt.text,
        )

    assert (one.id == other.id) == (asked(one) == asked(other))


@given(prompts, st.text(min_size=1, max_size=5))
def test_moving_text_between_fields_changes_the_id(prompt: Prompt, moved: str) -> None:
    left = replace(prompt, item=prompt.item + moved)
    right = replace(prompt, wording=moved + prompt.wording)
    assert left.id != right.id


@pytest.mark.parametrize("name", builtin_names())
def test_the_table_has_the_declared_columns(name: str) -> None:
    rendered = render(load_instrument(name)).prompts
    table = prompt_table(rendered)
    assert complaints(table, PROMPT_TABLE) == []
    assert table.height == len(rendered)
    assert table["prompt_id"].n_unique() == table.height
    row = prompt_rows(rendered[:1])[0]
    expected = [column.name for column in PROMPTS]
    expected += [column.name for column in ANSWER_KEY] if name == "coreference" else []
    # Questions with options have further ones; so have sentences with a family or a source.
    assert list(row)[: len(expected)] == expected
    further = {
        "vignettes",
        "decisions",
        "two-people",
        "social-distance",
        "people-sentiment",
        "attribution",
    }
    assert (len(row) > len(expected)) == (name in further)


def test_a_table_that_is_not_as_declared_is_complained_of() -> None:
    table = prompt_table(render(load_instrument("people-sentiment")).prompts)
    wrong = table.drop("item").with_columns(extra=1, text=None, group=3)
    assert complaints(wrong, PROMPT_TABLE) == [
        "column 'item' is missing",
        "column 'extra' is not declared",
        "column 'group' is Int32, not text",
        "column 'text' is Null, not text",
    ]


def test_order_of_the_rows_does_not_matter() -> None:
    rendered = list(render(load_instrument("care-seeking")).prompts)
    shuffled = rendered.copy()
    random.Random(1).shuffle(shuffled)
    assert prompt_table(shuffled).sort("prompt_id").equals(prompt_table(rendered).sort("prompt_id"))
