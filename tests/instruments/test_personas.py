"""Personas as data: shipped ones, files of one's own, and every fault named."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from chat_server import ChatServer
from goffman.cli.main import app
from goffman.errors import InputError
from goffman.instruments.identities import SHIPPED_PERSONAS, persona, read_personas
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import render
from goffman.modes import mode_of
from goffman.runs.run import read_prompts

TWO = """
[[personas]]
id = "guard"
text = "You are a guard."

[[personas]]
id = "nurse"
text = "You are a nurse."
"""


def test_three_are_shipped_and_say_nothing_of_any_condition():
    shipped = read_personas(SHIPPED_PERSONAS)
    assert [one.id for one in shipped] == ["therapist", "landlord", "teacher"]
    for instrument in ("social-distance", "attribution"):
        forms = {prompt.form for prompt in render(load_instrument(instrument)).prompts}
        for one in shipped:
            said = re.findall(r"\w+", one.text.lower())
            assert not [form for form in forms if form and form.lower() in said]


def test_a_file_gives_its_only_persona_or_the_one_that_is_named(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(TWO)
    assert persona(f"{path}:nurse").text == "You are a nurse."
    path.write_text(TWO.partition("\n\n")[0])
    assert persona(str(path)).id == "guard"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("therapis", "Did you mean 'therapist'?"),
        ("{path}", "has 2 personas: guard, nurse. Give one of them: --persona {path}:guard"),
        ("{path}:nurze", "has no persona 'nurze'. It has: guard, nurse. Did you mean 'nurse'?"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(tmp_path, given, said):
    path = tmp_path / "mine.toml"
    path.write_text(TWO)
    with pytest.raises(InputError) as told:
        persona(given.format(path=path))
    assert said.format(path=path) in str(told.value)


def run(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


def test_prompts_show_it_and_have_ids_of_their_own():
    arguments = ["prompts", "social-distance", "--mode", "reply", "--limit", "3", "--json"]
    plain, told = (
        json.loads(run(*arguments, *more).stdout) for more in ((), ("--persona", "landlord"))
    )
    text = persona("landlord").text
    assert {row["system"] for row in told} == {text}
    assert "system" not in plain[0]
    assert {row["prompt_id"] for row in plain}.isdisjoint(row["prompt_id"] for row in told)
    assert [row["text"] for row in plain] == [row["text"] for row in told]
    refused = run("prompts", "social-distance", "--persona", "landlord")
    assert isinstance(refused.exception, InputError)
    assert "Add --mode completion, choice, reply or write." in str(refused.exception)


@pytest.mark.slow
def test_an_audit_tells_it_to_the_model_and_no_audit_does_by_default(tmp_path):
    with ChatServer() as server:
        base = ["audit", f"{server.url}#mini", "--instrument", "people-sentiment"]
        base += ["--mode", "reply", "--limit", "4", "--no-controls"]
        assert run(*base, "--output", tmp_path / "none").exit_code == 0
        assert all(len(one.body["messages"]) == 1 for one in server.asked)
        before = len(server.asked)
        done = run(*base, "--persona", "teacher", "--output", tmp_path / "one")
        assert done.exit_code == 0, done.output
        system = {one.body["messages"][0]["content"] for one in server.asked[before:]}
    assert system == {persona("teacher").text}
    told = "Before every prompt, the model is told: “" + persona("teacher").text
    assert told in (tmp_path / "one" / "report.html").read_text()
    assert "the model is told" not in (tmp_path / "none" / "report.html").read_text()
    asked = read_prompts(tmp_path / "one")
    form = mode_of(load_instrument("people-sentiment"), "reply")
    assert {*asked["system"]} == {persona("teacher").text}
    assert {*asked["prompt_id"]}.isdisjoint(one.id for one in render(form).prompts)


def test_two_system_prompts_are_refused():
    told = run("audit", "openai:x", "--system", "Be brief.", "--persona", "teacher", "--dry-run")
    assert isinstance(told.exception, InputError)
    assert "--system and --persona are two system prompts." in str(told.exception)


def test_a_file_that_is_not_there_is_called_so():
    with pytest.raises(
        InputError, match=r"^--persona is 'mine\.toml', but there is no such file\."
    ):
        persona("mine.toml")
    with pytest.raises(InputError, match=r"^--persona is 'landlor'\. Did you mean 'landlord'\?"):
        persona("landlor")
