"""choice.toml and the tables of other forms: how they are read."""

import json
import shutil
from pathlib import Path

import pytest

import in_process
from breaking import broken, sound
from goffman.instruments.loader import load_instrument


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An instrument with a choice, and without a fault."""
    return sound("tea-choice", tmp_path)


def choice(folder: Path, old: str, new: str) -> None:
    broken(folder, ("choice.toml", old, new))


def test_what_a_choice_says_is_read(folder: Path) -> None:
    instrument = load_instrument(folder)
    form = instrument.choice
    assert form is not None
    assert (form.request, form.no_answer, form.orders) == (
        "Give the {labels} of one.",
        "No answer",
        "two",
    )
    assert [stem.keyed for stem in form.stems] == ["plain", "reversed"]
    assert [(scale.texts, scale.codes, scale.labels) for scale in form.scales] == [
        (("Gladly", "Never"), (0.0, 1.0), "letters")
    ]
    assert [item.choice_keyed for item in instrument.content.items] == ["reversed", None]
    yours = [item.your_text for item in instrument.content.items]
    assert yours == ["have your tea with {someone}", ""]
    assert [one.your_text for one in instrument.controls.items] == ["eat your cake", ""]
    assert (form.margin, form.people, form.controls) == (0.05, (), None)
    assert instrument.completion == "Fill the blank: {sentence}"


def test_without_a_file_there_is_no_choice(folder: Path) -> None:
    (folder / "choice.toml").unlink()
    assert load_instrument(folder).choice is None


def test_codes_that_are_not_said_lie_at_equal_distances(folder: Path) -> None:
    choice(folder, '["Gladly", "Never"]', '["1", "2", "3", "4", "5"]')
    scale = load_instrument(folder).choice.scales[0]
    assert scale.codes == (0, 0.25, 0.5, 0.75, 1)


def test_a_choice_is_part_of_the_digest(folder: Path) -> None:
    before = load_instrument(folder).digest
    choice(folder, '"No answer"', '"Nothing"')
    after = load_instrument(folder).digest
    assert before != after
    table = '[controls]\nscore = "separation"\ntask = "tell them apart"\nfloor = 0.8\n'
    broken(folder, ("choice.toml", lambda text: text + table))
    shutil.copy(folder / "controls.csv", folder / "choice-controls.csv")
    assert load_instrument(folder).digest not in {before, after}


def test_validate_names_every_fault(folder: Path) -> None:
    choice(folder, 'no_answer = "No answer"\n', "")
    choice(folder, 'keyed = "reversed"', 'keyed = "no"')
    done = in_process.goffman("validate", folder)
    assert done.returncode == 2
    assert "choice.toml: the key 'no_answer' is missing." in done.stderr
    assert "choice.toml, line 17: keyed in [stems] is 'no'." in done.stderr


def test_validate_counts_the_prompts_of_every_form(folder: Path) -> None:
    # 2 items × (2 conditions + the baseline), in 1 wording; as a choice 2 stems × 2 orders
    assert in_process.goffman("validate", folder).stdout.splitlines() == [
        f"{folder} is valid: 6 prompts and 2 control prompts.",
        "Mode completion: 6 prompts.",
        "Mode choice: 24 prompts.",
        "Mode reply: 24 prompts.",
    ]
    found = json.loads(in_process.goffman("validate", folder, "--json").stdout)
    assert found["modes"] == {"completion": 6, "choice": 24, "reply": 24}
