"""Every instrument, asked of a server by default: as much as was told before, and a page at the end."""

import hashlib
import re

import pytest
from typer.testing import CliRunner

from chat_server import Answer, ChatServer, completion
from goffman.cli.main import app
from goffman.instruments.loader import builtin_names, load_instrument
from goffman.instruments.subsample import MOST_REQUESTS
from goffman.runs.run import read_answers

pytestmark = pytest.mark.slow

OPTION = re.compile(r"^([A-Z]|\d)\. ", re.MULTILINE)
WRITTEN = ("She has lived with it for years.", "He was told last week.", "They are a good cook.")


def answer(text):
    """What a middling model says: an option, a person who is named, a word, or a sentence."""
    drawn = hashlib.sha256(text.encode()).digest()[0]
    if labels := OPTION.findall(text):
        return labels[drawn % len(labels)]
    if "____" in text:
        return ("easy", "hard", "good", "bad")[drawn % 4]
    if people := re.findall(r"[Tt]he (\w+)", text):
        return people[drawn % len(people)]
    return WRITTEN[drawn % 3]


async def behave(request):
    return Answer(200, completion(answer(request.text)))


def test_a_whole_audit_of_a_server_asks_what_it_said_and_ends_with_a_page(tmp_path):
    with ChatServer(behave) as server:
        command = ["audit", f"{server.url}#mini", "--output", str(tmp_path / "run")]
        told = CliRunner().invoke(app, [*command, "--dry-run"], catch_exceptions=False)
        assert told.exit_code == 0
        assert server.requests == []
        *each, requests = [
            int(count.replace(",", ""))
            for count in re.findall(r"#mini: ([\d,]+) requests", told.stderr)
        ]
        assert f"\n{server.url}#mini: {requests:,} requests, about " in told.stderr
        assert sum(each) == requests <= MOST_REQUESTS
        done = CliRunner().invoke(app, command, catch_exceptions=False)
        assert done.exit_code == 0, done.output
    assert len(server.asked) == requests
    replies = read_answers(tmp_path / "run", "replies")
    assert replies.height == requests
    page = (tmp_path / "run" / "report.html").read_text()
    for name in builtin_names():
        assert (name in page) == (not load_instrument(name).by_default)
    assert not list((tmp_path / "run").rglob("*.tmp"))
