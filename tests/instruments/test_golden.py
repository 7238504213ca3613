"""The prompts of every instrument are pinned; `make golden` renews them on purpose."""

import hashlib
import json
from pathlib import Path

import pytest

from goffman.instruments.loader import builtin_names, load_instrument
from goffman.instruments.renderer import PromptOptions, render
from goffman.instruments.sentence_pairs import without_a_chat
from goffman.instruments.types import Instrument, Prompt, SentencePairs, options_json
from goffman.modes import modes_of
from goffman.schemas import prompt_rows

GOLDEN = Path(__file__).parents[1] / "golden"

ASKED_AS_THEY_ARE = [name for name in builtin_names() if load_instrument(name).kind != "choose"]
"""Those that are a form of their own; the others are asked in further forms only."""


def pinned(name: str) -> list[Prompt]:
    """The prompts to pin: all of a questionnaire; of coreference, every frame and every setting."""
    instrument = load_instrument(name)
    if name != "coreference":
        wordings = [wording.id for wording in instrument.content.wordings]
        return list(render(instrument, PromptOptions(wordings=wordings)).prompts)
    frames = len(instrument.content.frames)
    every_frame = render(instrument, PromptOptions(adjectives=["none"], pairs=frames))
    every_setting = render(instrument, PromptOptions(pairs=3))
    by_position = render(instrument, PromptOptions(pairs=2, placement="by-position"))
    return [*every_frame.prompts, *every_setting.prompts, *by_position.prompts]


@pytest.mark.parametrize("name", ASKED_AS_THEY_ARE)
def test_prompts_are_those_that_were_pinned(name: str, request: pytest.FixtureRequest) -> None:
    """Changing a prompt changes its id and fails here until the golden file is renewed."""
    found = "".join(f"{prompt.id}  {prompt.text}\n" for prompt in pinned(name))
    path = GOLDEN / f"{name}.txt"
    if request.config.getoption("--renew-golden"):
        path.write_text(found, encoding="utf-8")
    assert found.splitlines() == path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", ASKED_AS_THEY_ARE)
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
    asked = [load_instrument(name) for name in ASKED_AS_THEY_ARE]
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


def further_forms() -> list[Instrument]:
    """Every form but the first; the pronouns are pinned with their sentences."""
    forms = [form for name in builtin_names() for form in modes_of(load_instrument(name))]
    return [form for form in forms if form.kind != "prefer" and form.id not in builtin_names()]


@pytest.mark.slow
@pytest.mark.parametrize("form", further_forms(), ids=lambda form: form.id)
def test_every_form_is_pinned(form: Instrument, request: pytest.FixtureRequest) -> None:
    """All columns of all that is asked and of the part for a server, as two checksums; of sentence
    pairs fifty.
    """
    pairs = 50 if isinstance(form.content, SentencePairs) else None
    found = ""
    for options in (PromptOptions(pairs=pairs), PromptOptions(sample="balanced")):
        rendered = render(form, options)
        rows = json.dumps(prompt_rows([*rendered.prompts, *rendered.controls]))
        found += hashlib.sha256(rows.encode()).hexdigest() + "\n"
    path = GOLDEN / f"{form.id.replace('/', '-')}.sha256"
    if request.config.getoption("--renew-golden"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


@pytest.mark.slow
def test_paraphrases_of_every_form_are_pinned(request: pytest.FixtureRequest) -> None:
    """All columns of every prompt, as a checksum; of sentence pairs fifty."""
    found = ""
    for form in (form for name in builtin_names() for form in modes_of(load_instrument(name))):
        pairs = 50 if isinstance(form.content, SentencePairs) else None
        rendered = render(form, PromptOptions(pairs=pairs, wordings=["paraphrases"]))
        rows = json.dumps(prompt_rows(rendered.prompts))
        found += f"{form.id} {hashlib.sha256(rows.encode()).hexdigest()}\n"
    path = GOLDEN / "paraphrases.sha256"
    if request.config.getoption("--renew-golden"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


# What is said is what is chosen: test_forms.py.
@pytest.mark.parametrize(
    "form", [form for form in further_forms() if form.kind != "say"], ids=lambda form: form.id
)
def test_one_question_of_every_form_can_be_read(
    form: Instrument, request: pytest.FixtureRequest
) -> None:
    """Its first item and condition in every presentation, and a control."""
    rendered = render(form, PromptOptions(pairs=1) if "coreference" in form.id else None)
    last = rendered.prompts[-1]
    same = [one for one in rendered.prompts if (one.item, one.form) == (last.item, last.form)]
    asked = [one for one in same if one.condition == last.condition] + list(rendered.controls[:1])
    keys = ("wording", "keyed", "person", "order", "prefill")
    found = "\n".join(
        f"# {one.id} "
        + " ".join(f"{key}={getattr(one, key)!r}" for key in keys if getattr(one, key) is not None)
        + f"\n{one.text}\n{options_json(one.options) or ''}\n"
        for one in asked
    )
    path = GOLDEN / f"{form.id.replace('/', '-')}.txt"
    if request.config.getoption("--renew-golden"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


def test_every_frame_is_pinned() -> None:
    instrument = load_instrument("coreference")
    items = {prompt.item.split("/")[0] for prompt in pinned("coreference")}
    assert items == {frame.id for frame in instrument.content.frames}
