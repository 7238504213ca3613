"""Journals and manifests whose content is wrong, though their form is right: told in a sentence."""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil

import pytest

from chat_server import Answer, ChatServer, completion
from goffman.errors import GoffmanError, RunError
from goffman.models.base import Reply
from goffman.options import AskOptions
from goffman.pipeline import audit
from goffman.report.load import read_run
from goffman.report.write import write_report
from goffman.runs.answers import Line, line_of, read_journal
from goffman.runs.files import Folder
from goffman.runs.manifest import read_manifest
from mutations import WRONG, mutated, paths, put, without

TOLD = [["A", [["A", -0.1], ["B", -2.5]]]]

REPLY = Reply(
    text="A",
    finish_reason="stop",
    prompt_tokens=3,
    completion_tokens=4,
    fingerprint="f",
    served_by="m",
    reasoning="because",
    next_words=json.dumps(TOLD),
)


def sealed(content):
    """A line of a journal with the right checksum, whatever it says."""
    told = json.dumps(content).encode()
    return b"%s %s\n" % (hashlib.sha256(told).hexdigest()[:16].encode(), told)


def told(folder, content):
    """What is said of a journal with one line; None: it was read."""
    (folder / "journal").write_bytes(sealed(content))
    try:
        (line,) = read_journal(Folder(folder))
    except RunError as error:
        return str(error)
    assert line is not None
    return None


def test_a_line_with_a_right_checksum_and_wrong_content_is_told(tmp_path):
    content = json.loads(line_of(Line("k" * 32, 1, REPLY, "a" * 16)).partition(b" ")[2])
    assert told(tmp_path, content) is None
    said = [told(tmp_path, put(content, path, one)) for path in paths(content) for one in WRONG]
    said += [told(tmp_path, without(content, (key,))) for key in ("key", "trial", "text")]
    said += [
        told(tmp_path, {**content, "next_words": json.dumps(put(TOLD, path, one))})
        for path in paths(TOLD)
        for one in WRONG
    ]
    said.append(told(tmp_path, {**content, "tomorrow": 1}))
    refused = [one for one in said if one]
    assert len(refused) > len(said) / 2
    pattern = re.escape(
        f"{tmp_path / 'journal'}, line 1, was edited, or a later goffman wrote it ("
    )
    assert all(re.match(pattern, one) for one in refused)
    assert refused[-1].endswith(
        "unexpected keyword argument 'tomorrow'). Use that goffman, or remove the line: its "
        "question is then asked again."
    )


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A run of a chat model that tells of probabilities, and what it takes to ask it again."""

    async def behave(request):
        return Answer(body=completion("A"))

    folder = tmp_path_factory.mktemp("crafted") / "run"
    with ChatServer(behave) as server:
        called = {
            "models": [f"{server.url}#made-up"],
            "instruments": ["social-distance"],
            "output": folder,
            "options": AskOptions(limit=4, modes=("reply",)),
        }
        audit(**called)
        yield called


def test_no_content_of_a_journal_ends_in_a_traceback(asked, tmp_path):
    run = asked["output"]
    shutil.copytree(run, tmp_path / "sound")
    (journal,) = run.rglob("journal")
    (part,) = (run / "answers" / "replies").rglob("*.parquet")
    lines = journal.read_bytes().splitlines(keepends=True)
    draw = random.Random("journal")
    refused = []
    for _ in range(30):
        content = mutated(json.loads(lines[0].partition(b" ")[2]), draw)
        journal.write_bytes(sealed(content) + b"".join(lines[1:]))
        for one in part.parent.glob("*.parquet"):
            one.unlink()
        try:
            audit(**asked)
        except GoffmanError as error:
            refused.append(str(error))
    shutil.rmtree(run)
    shutil.copytree(tmp_path / "sound", run)
    assert len(refused) > 5
    assert all(one.startswith(f"{journal}, line 1, was edited") for one in refused)


def test_every_value_of_a_manifest_may_be_wrong(asked):
    """Each in turn: the manifest is refused, or the run is read all the same."""
    run = asked["output"]
    path = run / "manifest.json"
    sound = path.read_text()
    content = json.loads(sound)
    of_conditions = ("instruments", "social-distance/reply", "called", "conditions")
    every = [one for one in paths(content) if one[:4] != of_conditions or len(one) < 5]
    crafted = [put(content, one, wrong) for one in every for wrong in WRONG]
    crafted += [without(content, one) for one in every if one]
    refused = []
    for one in crafted:
        path.write_text(json.dumps(one))
        try:
            read_manifest(run)
        except RunError as error:
            refused.append(str(error))
    assert len(refused) > len(crafted) / 2
    assert all(one.startswith(f"{path} ") for one in refused)
    path.write_text(sound)
    read_run(run)


@pytest.mark.parametrize(
    ("where", "value", "what"),
    [
        (("models",), {}, "it does not have the answers of "),
        (("answers",), {}, "it does not have the answers of "),
        (("instruments",), {}, "it does not have the answers of "),
        (("instruments", "*", "called", "nouns", "condition"), ["one"], "(ValueError: nouns is "),
        (("instruments", "*", "controls", "score"), "x", "(ValueError: score is 'x')"),
        (("answers", "*", "*", "table"), "x", "(ValueError: table is 'x')"),
        (("lexicons", "gender", "words"), None, "(ValueError: words is None)"),
    ],
)
def test_what_a_manifest_lacks_or_cannot_say_is_told(where, value, what, asked):
    path = asked["output"] / "manifest.json"
    sound = path.read_text()
    content = json.loads(sound)
    place = content
    found = []
    for key in where:
        found.append(next(iter(place)) if key == "*" else key)
        place = place[found[-1]]
    path.write_text(json.dumps(put(content, tuple(found), value)))
    with pytest.raises(RunError) as error:
        read_run(asked["output"])
    path.write_text(sound)
    assert str(error.value).startswith(f"{path} was damaged or edited")
    assert what in str(error.value)
    assert "Put the original file back" in str(error.value)


@pytest.mark.parametrize("wrong", [None, 3, [], "x\ud800", {"a": 1}])
def test_a_measure_that_cannot_be_made_is_told(wrong, asked):
    path = asked["output"] / "manifest.json"
    sound = path.read_text()
    content = json.loads(sound)
    place = ("instruments", "social-distance/reply", "measured", "contrast")
    path.write_text(json.dumps(put(content, place, wrong)))
    with pytest.raises(RunError) as error:
        _ = read_run(asked["output"]).sections
    path.write_text(sound)
    assert str(error.value).startswith(
        "The run's manifest.json was damaged or edited: the measure mean-code cannot be made as it "
        "says (contrast is "
    )


def test_answers_that_are_being_asked_again_leave_a_report(asked, tmp_path):
    """As after a kill: scores of answers that the manifest does not call finished."""
    shutil.copytree(asked["output"], tmp_path / "run")
    path = tmp_path / "run" / "manifest.json"
    content = json.loads(path.read_text())
    ((model, _),) = content["answers"].items()
    unfinished = put(content, ("answers", model, "social-distance/reply", "parts"), None)
    path.write_text(json.dumps(unfinished))
    assert write_report(tmp_path / "run").page.is_file()
