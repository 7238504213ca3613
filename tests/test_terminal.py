"""What the terminal shows is what was said."""

from __future__ import annotations

import io

from goffman.console import ProgressLines, counting


def test_a_colon_in_a_name_makes_no_picture():
    stream = io.StringIO()
    with ProgressLines(stream) as lines:
        lines.note("openai:x: a note [bold]")
    assert stream.getvalue() == "openai:x: a note [bold]\n"


def test_a_log_without_a_terminal_ends_with_how_many_are_done():
    stream = io.StringIO()
    with counting(stream, "files") as show:
        for done in range(1, 1_001):
            show(done, 1_000)
    assert stream.getvalue().splitlines() == ["1 of 1,000 files", "1,000 of 1,000 files"]
    alone = io.StringIO()
    with counting(alone, "files") as show:
        show(1, 1)
    assert alone.getvalue().splitlines() == ["1 of 1 files"]
