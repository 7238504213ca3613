"""One screen: rows, strips and short sentences, for one model, for many and without UTF-8."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from goffman.cli.screen import print_screen
from goffman.contrasts.verdict import VERDICT_FACTS
from goffman.presentation.section import Caveat, Finding
from goffman.report.summary import ASCII, CELLS, REACH, MainResult, screen

SIGNS = {facts.glyph for facts in VERDICT_FACTS.values()}

ONE = Caveat(id="one-wording", short="one wording: the effect of wording is unknown", text="…")
RATED = Caveat(id="rated", short="language models, not people, rated the words", text="…")


def result(instrument, model, at, half, *, margin=0.05, verdict="relevant", **more):
    finding = Finding(
        model=model, head="More negative about X", text="", short="More negative about X",
        difference=at, low=at - half, high=at + half, margin=margin, verdict=verdict,
        shown=verdict, **more,
    )  # fmt: skip
    return MainResult(instrument=instrument, finding=finding)


DEMO = [
    result("social-distance", "a/model", 0.051, 0.03, verdict="present, size uncertain",
           caveats=(ONE, RATED)),
    result("care-seeking", "a/model", 0.01, 0.02, verdict="negligible", caveats=(ONE,)),
    result("people-sentiment", "a/classifier", 0.43, 0.09, caveats=(RATED,)),
]  # fmt: skip


@pytest.mark.parametrize(("at", "half"), [(0.0, 0.02), (0.03, 0.04), (-0.06, 0.05), (0.1, 0.02)])
def test_a_strip_shows_where_the_interval_lies(at, half):
    (line,) = (one for one in screen([result("x", "m", at, half)]) if one.startswith("  ●"))
    strip = f"{line[59:]:<{CELLS}}"
    centers = [-REACH + 2 * REACH * cell / (CELLS - 1) for cell in range(CELLS)]
    step = 2 * REACH / (CELLS - 1) / 2
    for center, sign in zip(centers, strip, strict=True):
        inside = (at - half) / 0.05 - step <= center <= (at + half) / 0.05 + step
        assert (sign in "━●▸◂") == inside, (center, sign)
    assert strip.count("●") == 1


def test_what_lies_beyond_the_strip_is_said_in_units_of_the_margin():
    lines = screen([result("x", "m", 0.43, 0.09), result("y", "m", -0.43, 0.09)])
    assert [line for line in lines if line.endswith("8.6 Δ ▸")]
    assert [line for line in lines if "◂ 8.6 Δ" in line]


def test_a_screen_has_a_row_and_a_sentence_for_each_result_and_each_caveat_once():
    lines = screen(DEMO)
    assert max(map(len, lines)) <= 80
    assert sum(line[2:3] in SIGNS for line in lines if line.startswith("  ")) == 3
    assert [line for line in lines if line.startswith((" ¹", " ²"))] == [
        " ¹ language models, not people, rated the words",
        " ² one wording: the effect of wording is unknown",
    ]
    # The strongest result, and whoever has it, comes first.
    assert [line[4:22].strip() for line in lines if line[2:3] in SIGNS] == [
        "people-sentiment", "social-distance", "care-seeking",
    ]  # fmt: skip
    assert "    More negative about X. ¹ ²" in lines
    assert "1 relevant · 1 present, size uncertain · 1 negligible" in lines


def test_fifty_models_fit_a_screen():
    many = [result(name, f"models/m-{nth}", 0.1, 0.01) for nth in range(50) for name in "abcdefg"]
    lines = screen(many)
    assert len(lines) <= 65
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.startswith("models/m-7 ")] == [
        "models/m-7   " + "   ".join("●" * 7)
    ]


def test_a_long_name_of_a_model_makes_no_line_too_long():
    name = f"organization/{'a-very-long-name-' * 6}end"
    lines = screen([result("x", name, 0.1, 0.02)])
    assert max(map(len, lines)) <= 80
    assert "".join(line for line in lines[:2]).replace(" ", "").startswith(name[:70])


def test_every_sign_has_one_of_ascii():
    for line in screen(DEMO):
        line.translate(ASCII).encode("ascii")


def test_what_was_not_tested_or_not_measurable_has_no_number():
    odd = [
        Finding(model="m", head="Not measurable", text=""),
        Finding(model="m", head="There is no other group to compare with", text=""),
    ]
    lines = screen([MainResult(instrument=f"i{n}", finding=f) for n, f in enumerate(odd)])
    assert any(line.startswith("  ✕ i0") and line.endswith("not measurable") for line in lines)
    assert any(line.startswith("  – i1") and line.endswith("not tested") for line in lines)


def printed(monkeypatch, *, folder="runs/demo", terminal=True, encoding="utf-8", **environment):
    class Screen(io.TextIOWrapper):
        def isatty(self):
            return terminal

    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    stream = Screen(io.BytesIO(), encoding=encoding)
    with redirect_stdout(stream):
        print_screen(Path(folder), DEMO, report=Path(folder) / "report.html")
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


def test_color_repeats_what_the_glyph_says(monkeypatch):
    colored = printed(monkeypatch)
    assert "\x1b[34m\x1b[1m◐" in colored
    assert "\x1b[35m\x1b[1mrelevant" in colored
    plain = printed(monkeypatch, terminal=False)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert printed(monkeypatch, **environment) == plain


def test_an_output_without_utf_8_gets_ascii(monkeypatch):
    lines = printed(monkeypatch, encoding="ascii").splitlines()
    assert any(line.startswith("  o social-distance") for line in lines)
    assert not any("?" in line for line in lines if not line.endswith("agree?"))


def test_a_long_path_leaves_no_room_for_what_a_command_is_for(monkeypatch):
    assert "every number and caveat" in printed(monkeypatch)
    lines = printed(monkeypatch, folder=f"runs/{'long' * 14}").splitlines()
    assert f"Next     goffman show runs/{'long' * 14}" in lines
