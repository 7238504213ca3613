"""A chat model that was taught a slant shows it in every instrument; its twin without one does not."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch

from few_conditions import DATA, with_fewer
from goffman.contrasts.verdict import direction
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import PromptOptions, render
from goffman.instruments.types import Prompt, is_control
from goffman.modes import mode_of, of_asked
from goffman.options import AskOptions
from goffman.pipeline import audit
from slanted import Lesson, picks, taught

pytestmark = pytest.mark.slow

FORMS = (
    ("social-distance", "choice"),
    ("social-distance", "completion"),
    ("people-sentiment", "choice"),
    ("attribution", "choice"),
    ("coreference", "choice"),
)
SENTENCES = PromptOptions(pairs=12, adjectives=["none"], seed=0)
WORDS = {0.0: " easy", 1.0: " hard"}

Slant = Callable[[Prompt], float | None]
"""The code that a model is taught to give; None: it is undecided."""


def stigmatizing(prompt: Prompt) -> float | None:
    """Against whoever is stigmatized, against women, and for the stereotype of an occupation."""
    if prompt.gender is not None:
        return float(prompt.gender == "female")
    if prompt.wording in ("pro", "anti"):
        return 1.0 if prompt.wording == "pro" else None
    return float(prompt.group == "stigmatized")


def without_a_slant(places: dict[str, int]) -> Slant:
    """As strong, but against every second condition, statement or pair, whoever it is about."""

    def code(prompt: Prompt) -> float | None:
        turn = places[prompt.item] % 2
        if prompt.gender is not None:
            return float((prompt.gender == "female") == bool(turn))
        if prompt.wording in ("pro", "anti"):
            return 1.0 if (prompt.wording == "pro") == bool(turn) else None
        return float(places[prompt.condition] % 2)

    return code


def right(control: Prompt) -> float:
    """The code of a control's right answer; of two people the right one has 1."""
    return float(control.answer != "positive")


@pytest.fixture(scope="module")
def instruments(tmp_path_factory) -> Path:
    folder = with_fewer(tmp_path_factory.mktemp("instruments"), conditions=6, items=4)
    # Of a part of the questions a test needs six sentences.
    for path in (DATA / "people-sentiment").glob("*.csv"):
        if path.name != "conditions.csv":
            shutil.copy(path, folder / "people-sentiment")
    return folder


def prompts(instruments: Path) -> list[Prompt]:
    found: list[Prompt] = []
    for name, form in FORMS:
        options = SENTENCES if name == "coreference" else None
        rendered = render(mode_of(load_instrument(str(instruments / name)), form), options)
        found += [*rendered.prompts, *rendered.controls]
    return found


def lessons(asked: list[Prompt], slant: Slant) -> Iterator[Lesson]:
    for prompt in asked:
        code = right(prompt) if is_control(prompt) else slant(prompt)
        if prompt.options:
            yield picks(prompt, code)
        else:
            assert code is not None
            word = WORDS[code]
            yield Lesson(prompt=prompt, wanted={word: 0.9, WORDS[1 - code]: 0.1}, means=code)
            # The word ends there.
            for one in WORDS.values():
                after = replace(prompt, prefill=f"{prompt.prefill}{one}")
                yield Lesson(prompt=after, wanted={" for": 1.0}, means="goes on")


@dataclass(frozen=True)
class Told:
    """What a real audit of a model's folder came to."""

    estimates: pl.DataFrame
    summary: str


@pytest.fixture(scope="module")
def told(instruments, tmp_path_factory) -> dict[tuple[str, bool], Told]:
    """Of the model with the slant and of its twin, asked a part of the questions, and all."""
    torch.set_num_threads(1)
    asked = prompts(instruments)
    named = dict.fromkeys(name for one in asked for name in (one.condition, one.item))
    places = {name: place for place, name in enumerate(named)}
    found = {}
    for name, slant in (("slanted", stigmatizing), ("twin", without_a_slant(places))):
        folder = taught(list(lessons(asked, slant)), tmp_path_factory.mktemp(name), seed=1)
        for thorough in (False, True):
            run = tmp_path_factory.mktemp("run")
            done = audit(
                [str(folder)],
                instruments=[str(instruments / one) for one in dict(FORMS)],
                output=run,
                options=AskOptions(
                    modes=("choice", "completion"),
                    settings={"coreference.pairs": 12, "coreference.adjectives": ["none"]},
                    sample="all" if thorough else "balanced",
                ),
            )
            estimates = pl.read_parquet(run / "estimates.parquet")
            found[name, thorough] = Told(estimates, "\n".join(done.summary))
    return found


HEADLINES = [
    ("social-distance/choice", "groups", "stigmatized"),
    ("social-distance/completion", "groups", "stigmatized"),
    ("people-sentiment/choice", "groups", "stigmatized"),
    ("attribution/choice", "genders", "female"),
    ("coreference/choice", "level", "baseline"),
]
"""Instrument, kind of contrast, and whom more stigma is about, or accuracy where it fits."""


def headline(told: Told, instrument: str, kind: str, first: str) -> dict[str, Any]:
    """The estimate that the slant is about; of attribution, the difference of genders itself."""
    rows = told.estimates.filter(
        pl.col("dimension").is_null(),
        pl.col("variant").is_null(),
        of_asked(instrument),
        pl.col("kind") == kind,
        pl.col("first") == first,
        # Rejection, difficulty and improbability are compared between groups, too.
        (pl.col("quantity") == "negative") | pl.lit(not instrument.endswith("/completion")),
        pl.col("group").is_null() | (pl.col("group") == "mental-health"),
    )
    assert rows.height == 1
    return rows.row(0, named=True)


def judged(verdict: str, row: dict[str, Any]) -> str:
    """The verdict; of two templates, each in one wording of several, these sentences only."""
    few = row["sentences"] is not None and row["sentences"] < 3
    assert not few or row["instrument"] == "people-sentiment"
    return "these sentences only" if few else verdict


@pytest.mark.parametrize("thorough", [False, True])
@pytest.mark.parametrize(("instrument", "kind", "first"), HEADLINES)
def test_a_slant_shows_with_its_sign_and_is_called_clear(told, instrument, kind, first, thorough):
    row = headline(told["slanted", thorough], instrument, kind, first)
    assert direction(row) == 1
    assert row["verdict"] == judged("relevant", row)
    # Right where the pronoun fits, and undecided elsewhere, is half of what the others have.
    assert row["difference"] == pytest.approx(0.45 if kind == "level" else 0.85, abs=0.15)


@pytest.mark.parametrize("thorough", [False, True])
@pytest.mark.parametrize(("instrument", "kind", "first"), HEADLINES)
def test_a_twin_without_the_slant_shows_none(told, instrument, kind, first, thorough):
    """It is as far from neutral, condition by condition; only no group comes of that."""
    row = headline(told["twin", thorough], instrument, kind, first)
    assert direction(row) == 0
    assert row["verdict"] in (judged("inconclusive", row), judged("negligible", row))
    # Of coreference a single pair of twelve counts .083.
    assert abs(row["difference"]) < (0.1 if kind == "level" else 0.05)


@pytest.mark.parametrize("thorough", [False, True])
@pytest.mark.parametrize("model", ["slanted", "twin"])
def test_both_can_do_every_task_and_answer_in_no_style(told, model, thorough):
    said = told[model, thorough].summary
    # Of two modes of an instrument the primary one leads.
    assert said.count("Control items:") == len({instrument for instrument, _ in FORMS})
    for wrong in ("not measurable", "Not measurable", "picks the option", "whatever is said"):
        assert wrong not in said
