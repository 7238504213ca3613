"""A first look: few prompts of everything, that grow into the rest and say what they are."""

from __future__ import annotations

import json
from collections import Counter

import polars as pl
import pytest

from goffman.instruments.loader import builtin_names, load_instrument
from goffman.instruments.renderer import PromptOptions, render
from goffman.instruments.subsample import QUICK_CONDITIONS, QUICK_PROMPTS
from goffman.modes import mode_of, modes_of
from goffman.runs.manifest import Manifest, instrument_entry, with_instrument
from goffman.runs.run import read_answers
from in_process import goffman

MODES = [form.id for name in builtin_names() for form in modes_of(load_instrument(name))]


@pytest.mark.parametrize("name", MODES)
def test_a_first_look_is_small_balanced_and_part_of_the_larger_samples(name: str) -> None:
    form = next(one for one in modes_of(load_instrument(name.partition("/")[0])) if one.id == name)
    quick, balanced, every = (
        render(form, PromptOptions(sample=sample)) for sample in ("quick", "balanced", "all")
    )
    ids = [{one.id for one in (*some.prompts, *some.controls)} for some in (quick, balanced, every)]
    assert ids[0] <= ids[1] <= ids[2]
    assert every.parts["quick"] == ids[0]
    assert quick.every in {None, (len(every.prompts), len(every.controls))}
    of_group = {one.condition: one.group for one in quick.prompts}
    if name.startswith("coreference"):
        assert set(of_group) == {"baseline"}
        return
    conditions = Counter(of_group.values())
    conditions.pop("baseline", None)
    assert min(conditions.values()) >= QUICK_CONDITIONS
    least = {one.condition: one for one in every.prompts}
    available = Counter(one.group for one in least.values())
    fewest = min(conditions.values())
    assert all(count >= min(fewest, available[group]) for group, count in conditions.items())
    assert len(quick.prompts) <= QUICK_PROMPTS or fewest == QUICK_CONDITIONS
    # Wordings, orders and items in turn: none far more often than another.
    for of in ("wording", "order"):
        times = Counter(getattr(one, of) for one in quick.prompts)
        assert max(times.values()) <= 2.5 * min(times.values()), of


def test_a_first_look_says_so_and_grows_into_everything(tmp_path) -> None:
    command = ["audit", "bundled:mini", "bundled:mini-sentiment", "--no-report", "--output"]
    command += ["run"]
    for name in ("care-seeking", "people-sentiment"):
        command += ["--instrument", name]
    quick = goffman(*command, "--sample", "quick", cwd=tmp_path)
    assert quick.returncode == 0, quick.stderr
    screen, notes = quick.stdout.splitlines(), quick.stderr.splitlines()
    assert len(screen) <= 30
    assert len(screen) + len(notes) <= 45
    assert max(map(len, screen)) <= 80
    assert screen[0].endswith(". first look")
    assert any("a first look: only a few conditions of each group were asked" in s for s in screen)
    assert [line for line in notes if line.startswith("Skipped")] == [
        "Skipped for bundled:mini: people-sentiment (needs a classifier, causal or chat model).",
        "Skipped for bundled:mini-sentiment: care-seeking (needs a masked, causal or chat model).",
    ]
    assert not any("license" in line for line in notes)

    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert {one["sample"] for one in manifest["instruments"].values()} == {"quick"}
    before = read_answers(tmp_path / "run", "fills")
    refused = goffman(*command, "--limit", "30", cwd=tmp_path)
    assert refused.returncode == 2
    assert "different set of care-seeking prompts" in refused.stderr

    whole = goffman(*command, "--verbose", cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    assert "first look" not in whole.stdout
    assert "license" in whole.stderr
    after = read_answers(tmp_path / "run", "fills")
    assert before.join(after, on=before.columns, how="anti", nulls_equal=True).is_empty()
    assert after["prompt_id"].n_unique() > before["prompt_id"].n_unique()
    at_once = goffman(*command[:5], "at-once", *command[6:], cwd=tmp_path)
    assert at_once.returncode == 0, at_once.stderr
    for table in ("scores", "estimates"):
        grown, once = (
            pl.read_parquet(tmp_path / run / f"{table}.parquet") for run in ("run", "at-once")
        )
        assert grown.equals(once)
    again = goffman(*command, "--sample", "quick", cwd=tmp_path)
    assert again.returncode == 2
    assert "already has answers to a different set of care-seeking prompts" in again.stderr


def test_prompts_of_two_samples_have_the_name_of_the_larger(tmp_path) -> None:
    """As a choice, a few pairs without adjectives are both the quick and the balanced sample."""
    form = mode_of(load_instrument("coreference"), "choice")
    prompts = render(form, PromptOptions(sample="quick")).prompts
    assert prompts == render(form, PromptOptions(sample="balanced")).prompts
    manifest = Manifest()
    asked = (("quick", "quick"), ("balanced", "balanced"), ("quick", "balanced"), (None, None))
    for sample, known in (*asked, ("balanced", None)):
        entry = instrument_entry(form, prompts, None, in_all=25280, sample=sample)
        manifest = with_instrument(manifest, tmp_path, name=form.id, entry=entry, models=["m"])
        assert manifest.instruments[form.id].sample == known
