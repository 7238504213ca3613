"""Whatever a model is called, its name is text on the terminal and in JSON: no line, no color."""

from __future__ import annotations

import json

import pytest

from goffman.console import Format, json_text, rows_text
from goffman.harness import export_tasks
from goffman.harness.export_tasks import export_task
from goffman.harness.import_run import read_logs
from harness_logs import inspect_log
from in_process import goffman

HOSTILE = "m\n::error::x\x9b31m\u202e\u2028"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run of two models, and one of another; all names are hostile."""
    place = tmp_path_factory.mktemp("hostile")
    (said,) = export_task(
        ["social-distance"], kinds=export_tasks.INSPECT_KINDS, modes=("reply",), limit=60
    )
    texts = {one.id: ["AB"[number % 2]] for number, one in enumerate(said.prompts)}
    names = (HOSTILE, f"{HOSTILE}2", f"{HOSTILE}3")
    logs = [inspect_log(place / name[-1], said, texts, model=name) for name in names]
    read_logs(logs[:2], output=place / "two")
    read_logs(logs[2:], output=place / "one")
    return place


@pytest.mark.parametrize(
    "words",
    [
        ("export", "two"),
        ("export", "two", "--model", f"{HOSTILE}9"),
        ("compare", "two", "one"),
        ("compare", "two", "one", "--model", f"{HOSTILE}9"),
        (
            "check",
            "two",
            "--fail-if",
            "gap > 9",
            "--fail-if",
            f"social-distance.gap[{HOSTILE}] > 1",
        ),
        ("check", "two", "--json", "--fail-if", "social-distance-reply.gap > 9"),
        ("check", "two", "--list"),
        ("check", "two", "--list", "--json"),
        ("report", "two\n::error::x"),
        ("audit", HOSTILE),
    ],
)
def test_no_name_is_a_line_or_moves_the_cursor(words, runs):
    done = goffman(*words, cwd=runs)
    assert done.stdout + done.stderr
    for line in (done.stdout + done.stderr).split("\n"):
        assert line.isprintable(), line
        assert not line.lstrip().startswith("::")
    if "--json" in words:
        assert HOSTILE in json.dumps(json.loads(done.stdout), ensure_ascii=False).replace(
            "\\n", "\n"
        )


def test_faults_are_told_in_lines_of_their_own(runs):
    done = goffman("compare", "two", "one", cwd=runs)
    first, second = done.stderr.splitlines()
    assert first == "These runs cannot be compared."
    assert second.startswith("  social-distance/reply: ")
    assert "m\\n::error::x\\x9b31m\\u202e\\u2028" in second


def test_json_has_what_can_be_seen_as_it_is_and_all_else_as_an_escape():
    text = json_text({"é": "a\u202e\U000e0001\x7f\ud800日"}, indent=None)
    assert text == '{"é": "a\\u202e\\udb40\\udc01\\u007f\\ud800日"}'
    assert json.loads(text) == {"é": "a\u202e\U000e0001\x7f\ud800日"}
    rows = [{"a": "\u200b"}]
    assert rows_text(rows, Format.JSONL) == '{"a": "\\u200b"}\n'
