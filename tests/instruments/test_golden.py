"""The prompts of every instrument are pinned; `make golden` renews them on purpose."""

import hashlib
import json
from pathlib import Path

import pytest

from goffman.instruments.coreference import without_a_chat
from goffman.instruments.load import builtin_names, load_instrument
from goffman.instruments.render import PromptOptions, render
from goffman.records import Prompt
from goffman.tables import prompt_rows

GOLDEN = Path(__file__).parents[1] / "golden"


def pinned(name: str) -> list[Prompt]:
    """The prompts to pin: all of a questionnaire; of coreference, every frame and every setting."""
    instrument = load_instrument(name)
    if name != "coreference":
        return list(render(instrument, PromptOptions(wordings=["all"])).prompts)
    frames = len(instrument.content.frames)
    every_frame = render(instrument, PromptOptions(adjectives=["none"], pairs=frames))
    every_setting = render(instrument, PromptOptions(pairs=3))
    by_position = render(instrument, PromptOptions(pairs=2, placement="by-position"))
    return [*every_frame.prompts, *every_setting.prompts, *by_position.prompts]


@pytest.mark.parametrize("name", builtin_names())
def test_prompts_are_those_that_were_pinned(name: str, request: pytest.FixtureRequest) -> None:
    """Changing a prompt changes its id and fails here until the golden file is renewed."""
    found = "".join(f"{prompt.id}  {prompt.text}\n" for prompt in pinned(name))
    path = GOLDEN / f"{name}.txt"
    if request.config.getoption("--renew-golden"):
        path.write_text(found, encoding="utf-8")
    assert found.splitlines() == path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", builtin_names())
def test_all_that_is_asked_by_default_is_pinned(name: str, request: pytest.FixtureRequest) -> None:
    """Every column of every prompt, the answer key too, as one checksum."""
    rows = json.dumps(prompt_rows(render(load_instrument(name)).prompts))
    found = hashlib.sha256(rows.encode()).hexdigest()
    path = GOLDEN / f"{name}.sha256"
    if request.config.getoption("--renew-golden"):
        path.write_text(found + "\n", encoding="utf-8")
    assert found == path.read_text(encoding="utf-8").strip()


def test_controls_are_those_that_were_pinned(request: pytest.FixtureRequest) -> None:
    """With their right and wrong answers, in every wording."""
    asked = [load_instrument(name) for name in builtin_names()]
    asked.append(without_a_chat(load_instrument("coreference")))
    found = "".join(
        f"{prompt.id}  {prompt.answer}/{prompt.other or '-'}  {prompt.text}\n"
        for instrument in asked
        for prompt in render(instrument).controls
    )
    path = GOLDEN / "controls.txt"
    if request.config.getoption("--renew-golden"):
        path.write_text(found, encoding="utf-8")
    assert found.splitlines() == path.read_text(encoding="utf-8").splitlines()


def test_every_frame_is_pinned() -> None:
    instrument = load_instrument("coreference")
    items = {prompt.item.split("/")[0] for prompt in pinned("coreference")}
    assert items == {frame.id for frame in instrument.content.frames}
