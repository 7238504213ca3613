"""The axis that all main results share: every place is that of its number, divided by its Δ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_overview import found

from goffman.presentation.forest import TICKS, WIDTH, forest
from goffman.presentation.section import Finding

NEAR = 0.051
"""Places have one decimal."""

sizes = st.floats(0.001, 5)


def as_number(text):
    return float(text.replace("−", "-"))


@given(st.lists(st.tuples(st.floats(-3, 3), sizes, sizes), min_size=1, max_size=6))
def test_every_mark_is_where_its_difference_in_units_of_its_own_smallest_one_is(given):
    findings = [found(difference, half, margin=least) for difference, half, least in given]
    made = forest(findings)
    ticks = [(float(place), as_number(text)) for place, text in made.ticks]
    (start, low), (end, high) = ticks[0], ticks[-1]
    assert (start, end) == (0.0, float(WIDTH))
    assert 3 <= len(ticks) <= TICKS
    assert any(value == 0.0 for _, value in ticks)

    def place(value):
        return pytest.approx(WIDTH * (value - low) / (high - low), abs=NEAR)

    assert float(made.zero) == place(0)
    assert [float(one) for one in made.band] == [place(-1), place(1)]
    for (difference, half, least), mark in zip(given, made.marks, strict=True):
        assert float(mark.low) == place((difference - half) / least)
        assert float(mark.at) == place(difference / least)
        assert float(mark.high) == place((difference + half) / least)
        assert 0 <= float(mark.low) <= float(mark.high) <= WIDTH


@given(st.floats(-1, 1), sizes, st.floats(0.01, 100))
def test_units_of_an_instrument_do_not_matter(difference, half, times):
    """The same result in other units, Δ among them, is drawn in the same place."""
    one = forest([found(difference, half, margin=0.05)])
    other = forest([found(times * difference, times * half, margin=times * 0.05)])
    for name in ("low", "at", "high"):
        places = [float(getattr(made.marks[0], name)) for made in (one, other)]
        assert places[0] == pytest.approx(places[1], abs=0.11)


@pytest.mark.parametrize(
    ("verdict", "clear"),
    [("relevant", True), ("present, size uncertain", True), ("inconclusive", False)],
)
def test_a_mark_is_hollow_where_nothing_is_clear(verdict, clear):
    assert forest([found(0.1, 0.05, verdict=verdict)]).marks[0].clear is clear


def test_what_has_no_interval_or_no_smallest_difference_has_no_mark_and_no_say_in_the_axis():
    bare = Finding(model="m", head="", text="", difference=70.0, margin=0.05)
    made = forest([bare, found(90.0, 1.0, margin=None), found(0.1, 0.05)])
    assert made.marks[:2] == (None, None)
    assert [text for _, text in made.ticks] == ["−2", "−1", "0", "1", "2", "3"]
    assert forest([]).band == ("100.0", "300.0")
