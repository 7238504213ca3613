"""What leads the page, and bars on one axis: every place is that of its number."""

from __future__ import annotations

import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goffman.formatting import (
    ends,
    number,
    tick,
)
from goffman.presentation.types import Finding
from goffman.report.overview import (
    HALF,
    TICKS,
    bars,
    of_section,
)

NEAR = 0.051
"""Places have one decimal."""


def found(difference, half, *, margin=0.05, verdict="inconclusive"):
    return Finding(
        model="m", head="", text="", difference=difference, low=difference - half,
        high=difference + half, margin=margin, verdict=verdict,
    )  # fmt: skip


def as_number(text):
    return float(text.replace("−", "-"))


sizes = st.floats(0.001, 5)


@given(st.lists(st.tuples(st.floats(-3, 3), sizes), min_size=1, max_size=5), sizes)
def test_bars_share_an_axis_that_holds_all_of_them(differences, margin):
    drawn = [found(*one, margin=margin) for one in differences]
    made = bars(drawn)
    assert len({bar.ticks for bar in made}) == 1
    ticks = [(float(place), as_number(text)) for place, text in made[0].ticks]
    assert ticks[0][0] == -HALF
    assert ticks[-1][0] == HALF
    assert (0.0, 0.0) in ticks
    assert 3 <= len(ticks) <= 2 * TICKS + 1
    limit = ticks[-1][1]
    for one, bar in zip(drawn, made, strict=True):
        for place, value in (
            (bar.low, one.low), (bar.high, one.high), (bar.at, one.difference),
            (bar.band, one.margin),
        ):  # fmt: skip
            assert abs(float(place)) <= HALF
            assert float(place) == pytest.approx(HALF * value / limit, abs=NEAR)
    for place, value in ticks:
        assert place == pytest.approx(HALF * value / limit, abs=NEAR)


@pytest.mark.parametrize(
    ("verdict", "clear"),
    [
        ("relevant", True),
        ("present, size uncertain", True),
        ("negligible", False),
        ("inconclusive", False),
        ("these sentences only", False),
        (None, False),
    ],
)
def test_the_dot_is_filled_where_the_verdict_says_that_there_is_a_difference(verdict, clear):
    (bar,) = bars([found(0.1, 0.05, verdict=verdict)])
    assert bar.clear is clear


def test_what_has_no_interval_has_no_bar_and_no_say_in_the_axis():
    without = Finding(model="m", head="", text="", difference=7.0, margin=0.05)
    made = bars([without, found(0.1, 0.05)])
    assert made[0] is None
    assert [text for _, text in made[1].ticks] == [
        "−0.15",
        "−0.10",
        "−0.05",
        "0",
        "0.05",
        "0.10",
        "0.15",
    ]


@pytest.mark.parametrize(
    ("value", "step", "text"),
    [
        (0.1, 0.05, "0.10"),
        (-0.4, 0.2, "−0.4"),
        (0.0, 0.2, "0"),
        (2.0, 1.0, "2"),
        (-10.0, 5.0, "−10"),
    ],
)
def test_a_tick_has_as_many_decimals_as_its_steps_need(value, step, text):
    assert tick(value, step) == text


def test_every_instrument_and_model_has_a_row_with_its_own_estimate(measured, sections):
    for section in sections.values():
        rows = list(of_section(sections, section.instrument))
        assert [row["finding"].model for row in rows] == section.models()
        for row in rows:
            one = row["finding"]
            assert row["task"] == {"word": "not asked", "score": "", "why": ""}
            (estimate,) = measured.estimates.filter(
                pl.col("instrument") == section.instrument,
                pl.col("model").is_in([n for n in measured.manifest.models if section.names.model(n) == one.model]),
                pl.col("difference").round_sig_figs(6) == one.difference,
                pl.col("family") == "primary",
            ).to_dicts()  # fmt: skip
            tested = estimate["p_adjusted"] is not None
            assert one.shown == (estimate["verdict"] if tested else "not tested")
            assert (one.verdict is None) is not tested
            assert row["numbers"] == [
                f"{number(one.difference)} ({ends(estimate['low'], estimate['high'])})"
            ]


def test_by_wording_are_the_lowest_and_highest_gap(measured, sections):
    """Over the items that every condition has a value for in this wording."""
    groups, prompts = ["stigmatized", "non-stigmatized"], pl.col("level") == "prompt"
    for row, name in zip(
        of_section(sections, "social-distance"), measured.manifest.models, strict=False
    ):
        of = measured.scores.filter(
            prompts, pl.col("instrument") == "social-distance", pl.col("quantity") == "negative",
            pl.col("model") == name, pl.col("group").is_in(groups),
        )  # fmt: skip
        levels, gaps = [], []
        for wording in of["wording"].unique():
            asked = of.filter(pl.col("wording") == wording)
            whole = asked.filter(~pl.col("value").is_null().any().over("item"))
            means = whole.group_by("group", "condition").agg(pl.col("value").mean())
            mean, other = (means.filter(pl.col("group") == one)["value"].mean() for one in groups)
            levels.append(mean)
            gaps.append(mean - other)
        assert len(gaps) == 4
        mean = f"mean {ends(min(levels), max(levels))}"
        assert row["wording"] == [ends(min(gaps), max(gaps)), mean]
    for row in of_section(sections, "care-seeking"):
        assert row["wording"] == ["unknown (one wording)"]


def test_the_page_leads_with_the_verdicts_on_one_axis_and_then_the_four_questions(audited):
    page = (audited / "report.html").read_text()
    lead = page[page.index('<section id="stands-out"') : page.index('<section id="limits"')]
    first, second = lead.split("</table>")[:2]
    heads = re.findall(r'<th scope="col"[^>]*>([^<]+)<', first)
    assert heads == [
        "Instrument, model", "Can it do the task?", "What differs?",
        "How sure is that, also by wording? Axis: difference in units of Δ",
    ]  # fmt: skip
    assert re.findall(r'<th scope="col">([^<]+)</th>', second) == [
        "Instrument, model", "Can it do the task?", "How sure is that?", "What the verdict means",
        "By wording",
    ]  # fmt: skip
    assert first.count("By wording: ") == 8
    # The verdict is not said twice.
    assert not re.search(
        r"(negligible|inconclusive)</span> <span class=\"short\">\1", first, re.IGNORECASE
    )
    for table in (first, second):
        assert table[table.index("<tbody>") :].count("<tr>") == 8
    section = page[
        page.index('<section id="i-social-distance"') : page.index('<section id="i-care-seeking"')
    ]
    places = [section.index(text) for text in (
        "Can the model do the task?", '<p class="head">', "How sure is that?",
        "How much depends on the wording?", "For example",
    )]  # fmt: skip
    assert places == sorted(places)
