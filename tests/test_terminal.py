"""What the terminal shows is what was said."""

from __future__ import annotations

import io

from goffman.terminal import ProgressLines


def test_a_colon_in_a_name_makes_no_picture():
    stream = io.StringIO()
    with ProgressLines(stream) as lines:
        lines.note("openai:x: a note [bold]")
    assert stream.getvalue() == "openai:x: a note [bold]\n"
