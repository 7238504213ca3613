"""Questions of goffman written for other harnesses: every prompt with its id, in every order."""

import ast
import json

import pytest
import yaml
from typer.testing import CliRunner

from goffman.cli.main import app
from goffman.harness.export_tasks import spellings
from goffman.instruments.renderer import PromptOptions, render
from goffman.modes import modes_named


class Loader(yaml.SafeLoader):
    """Functions are names here."""


Loader.add_constructor("!function", lambda loader, node: f"!{node.value}")


def export(*arguments):
    return CliRunner().invoke(app, ["export", *map(str, arguments)])


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def prompts_of(form, *, sample="all"):
    (instrument,) = modes_named(form)[1]
    found = render(instrument, PromptOptions(sample=sample))
    return {prompt.id: prompt for prompt in (*found.prompts, *found.controls)}


def test_a_folder_of_tasks_for_lm_eval(tmp_path):
    """All presentations of a choice, and of what is answered in text the sample of an audit."""
    done = export("vignettes", "--to", "lm-eval-tasks", "--output", tmp_path / "tasks")
    assert done.exit_code == 0, done.output
    names = {path.name for path in (tmp_path / "tasks").iterdir()}
    assert names == {
        *("README.md", "utils.py", "vignettes-choice.yaml", "vignettes-choice.jsonl"),
        *("vignettes-reply.yaml", "vignettes-reply.jsonl"),
    }
    choice = rows(tmp_path / "tasks" / "vignettes-choice.jsonl")
    every = prompts_of("vignettes/choice")
    assert sorted(row["prompt_id"] for row in choice) == sorted(every)
    assert {row["order"] for row in choice if not row["control"]} == {"forward", "reversed"}
    for row in choice:
        prompt = every[row["prompt_id"]]
        assert row["text"] == f"{prompt.text}\n\nAnswer:"
        labels = [option.label for option in prompt.options for _ in (" ", "")]
        assert [text.strip() for text in row["spellings"]] == labels
        codes = {option.label: option.code for option in prompt.options}
        assert row["codes"] == [codes[label] for label in labels]
    said = rows(tmp_path / "tasks" / "vignettes-reply.jsonl")
    sample = prompts_of("vignettes/reply", sample="balanced")
    assert {row["prompt_id"]: row["text"] for row in said} == {
        one.id: one.text for one in sample.values()
    }
    # The first so many are some of each: prompts of several groups, and control items.
    assert {row["control"] for row in choice[:8]} == {True, False}
    task = yaml.load((tmp_path / "tasks" / "vignettes-choice.yaml").read_text(), Loader)
    assert task["output_type"] == "multiple_choice"
    assert (task["custom_dataset"], task["dataset_kwargs"]) == (
        "!utils.dataset",
        {"file": "vignettes-choice.jsonl"},
    )
    assert task["metadata"]["prompts"] == len(every)
    assert str(tmp_path) not in (tmp_path / "tasks" / "vignettes-choice.yaml").read_text()
    text = yaml.load((tmp_path / "tasks" / "vignettes-reply.yaml").read_text(), Loader)
    assert text["output_type"] == "generate_until"
    assert text["generation_kwargs"]["max_gen_toks"] == 64


def test_a_package_for_inspect(tmp_path):
    done = export("coreference", "--to", "inspect", "--output", tmp_path, "--limit", 6)
    assert done.exit_code == 0, done.output
    tree = ast.parse((tmp_path / "goffman_tasks" / "tasks.py").read_text())
    functions = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
    tasks = {
        name
        for name, one in functions.items()
        if any(isinstance(mark, ast.Name) and mark.id == "task" for mark in one.decorator_list)
    }
    assert tasks == {"coreference", "coreference_reply"}
    data = tmp_path / "goffman_tasks" / "data"
    asked = rows(data / "coreference.jsonl")
    assert sum(not row["control"] for row in asked) == 6
    told = json.loads((data / "coreference.json").read_text())
    assert told["trials"] >= 1
    assert (told["note"]["instrument"], told["note"]["limit"]) == ("coreference", 6)


def test_a_folder_of_ours_is_written_again_and_one_of_others_is_not(tmp_path):
    command = ("care-seeking", "--to", "inspect", "--limit", "2", "--output")
    assert export(*command, tmp_path / "ours").exit_code == 0
    assert export(*command, tmp_path / "ours").exit_code == 0
    (tmp_path / "thesis.tex").write_text("mine")
    done = export(*command, tmp_path)
    assert str(done.exception) == (
        f"{tmp_path} contains other files (ours, thesis.tex). Give an empty or new folder with "
        "--output."
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["x", "--to", "inspect", "--model", "m", "--output", "o"],
            "--to inspect exports questions, not results. Leave out --model.",
        ),
        (
            ["care-seeking", "--to", "inspect"],
            "--to inspect writes a folder. Give one: --output FOLDER",
        ),
        (
            ["care-seeking", "--to", "inspect", "--mode", "fill", "--output", "o"],
            "'care-seeking' cannot be exported in the mode fill. Modes that this harness can ask: "
            "reply, ask, write.",
        ),
        (
            ["run", "--to", "lm-eval", "--limit", "3"],
            "--mode, --limit and --sample choose questions, but --to lm-eval exports results. "
            "Leave them out.",
        ),
        (["--to", "paper"], "--to paper exports the results of one run. You gave 0."),
        (
            ["run", "other", "--to", "lm-eval"],
            "--to lm-eval exports the results of one run. You gave 2.",
        ),
        (
            [],
            "Say in which format: add --to model-card, lm-eval, paper, figures, tables, lm-eval-tasks or inspect.",
        ),
    ],
)
def test_what_cannot_be_exported_is_refused(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = export(*arguments)
    assert str(done.exception) == said
    assert list(tmp_path.iterdir()) == []


def test_spellings_of_labels():
    assert spellings("A") == [" A", "A"]
    assert spellings("yes") == [" yes", "yes", " Yes", "Yes", " YES", "YES"]
