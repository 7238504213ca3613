"""Models by the names that people are shown, wherever a model or an estimate can be named."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import goffman
import in_process
from goffman.errors import InputError
from goffman.formatting import models_meant, short_names
from goffman.models.files import BUNDLED

MODELS = ("x/ckpt-a", "x/ckpt-b", "y/ckpt-b")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three models in folders, two of which end alike; and one of the first alone."""
    base = tmp_path_factory.mktemp("named")
    for model in MODELS:
        shutil.copytree(BUNDLED["mini"], base / model)
    told = ("--instrument", "care-seeking", "--limit", "60", "--no-report")
    for output, models in (("run", MODELS), ("one", MODELS[:1])):
        given = [f"./{model}" for model in models]
        in_process.goes_well("audit", *given, *told, "--output", output, cwd=base)
    return base


def test_every_name_that_is_shown_is_taken() -> None:
    models = [*(f"./{model}" for model in MODELS), "roberta-base", "org/name", "http://h/v1#gpt"]
    shown = short_names(models)
    assert shown["./x/ckpt-a"] == "ckpt-a"
    for full, name in shown.items():
        assert models_meant(name, models) == models_meant(full, models) == [full]
    assert models_meant("x/ckpt-a", models) == ["./x/ckpt-a"]
    assert models_meant("ckpt-b", models) == ["./x/ckpt-b", "./y/ckpt-b"]
    assert models_meant("ckpt", models) == models_meant(".", models) == []


@pytest.mark.parametrize(
    "words",
    [
        ("export", "run", "--to", "model-card", "--model", "{}"),
        ("export", "run", "--to", "lm-eval", "--model", "{}"),
        ("compare", "run", "one", "--model", "{}"),
        ("check", "one", "--baseline", "run", "--fail-if", "heading.change > 9", "--model", "{}"),
        ("check", "run", "--fail-if", "care-seeking.heading[{}] > 99"),
    ],
    ids=" ".join,
)
def test_commands_take_a_model_as_it_is_shown(words: tuple[str, ...], folder: Path) -> None:
    full, short = (
        in_process.goffman(*(word.format(name) for word in words), cwd=folder)
        for name in ("x/ckpt-a", "ckpt-a")
    )
    assert short.returncode == full.returncode, short.stderr
    assert "Allowed" not in short.stderr
    assert re.sub("[./x]*ckpt-a", "", short.stdout) == re.sub("[./x]*ckpt-a", "", full.stdout)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("export", "run", "--to", "model-card", "--model", "ckpt-b"),
            "--model is 'ckpt-b', which",
        ),
        (("compare", "run", "one", "--model", "ckpt-b=ckpt-a"), "--model is 'ckpt-b', which"),
        (("check", "run", "--fail-if", "care-seeking.heading[ckpt-b] > 99"), "'ckpt-b'"),
    ],
)
def test_a_name_of_several_lists_them_in_full(
    words: tuple[str, ...], said: str, folder: Path
) -> None:
    done = in_process.goffman(*words, cwd=folder)
    names = " or ".join(goffman.open_run(folder / "run").models[1:])
    assert done.returncode == 2
    assert done.stderr == f"{said} can be {names}. Give one of these names.\n"


def test_an_estimate_has_every_name_that_check_lists(folder: Path) -> None:
    listed = json.loads(in_process.goffman("check", "run", "--list", "--json", cwd=folder).stdout)
    run = goffman.open_run(folder / "run")
    assert {".heading[", ".mean", ".controls["} <= {
        part
        for one in listed
        for part in (".heading[", ".mean", ".controls[")
        if part in one["name"]
    }
    for one in listed:
        found = run.estimate(one["name"])
        assert (found.name, found.value, found.low) == (one["name"], one["value"], one["low"])
        assert found.verdict == one["verdict"]
        assert one["name"] in repr(found)
        assert found._repr_html_()


def test_an_estimate_is_found_as_rules_find_it(folder: Path) -> None:
    run = goffman.open_run(folder / "run")
    full = run.estimate(f"care-seeking.controls[{run.models[0]}]")
    for name in ("care-seeking.controls[ckpt-a]", "controls[x/ckpt-a]", "controls[*x*ckpt-a]"):
        assert run.estimate(name).row == full.row
    assert run.answers(model="ckpt-a").equals(run.answers(model=run.models[0]))
    for name, said in (
        ("controls[ckpt-b]", "'ckpt-b' can be"),
        ("care-seeking.controls", "This run has 3 estimates 'care-seeking.controls'"),
        ("care-seeking.contrls", "no estimate 'care-seeking.contrls'. Did you mean"),
        ("care-seeking.heading[ckpt-a].low", "is a number or a change of an estimate"),
        ("care-seeking.heading[ckpt-a", "its bracket is not closed"),
    ):
        with pytest.raises(InputError, match=re.escape(said)):
            run.estimate(name)
