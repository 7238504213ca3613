"""What leads the page: every number is that of its estimate, every place on the axis that of its
number divided by its Δ."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goffman.contrasts.verdict import PRESENT_WORDS
from goffman.formatting import ends, number, tick
from goffman.presentation.findings import findings_of
from goffman.presentation.forest import TICKS, WIDTH, forest
from goffman.presentation.section import Finding
from goffman.presentation.sensitivity import ONE_WORDING
from goffman.report.overview import _headline, first_screen, results_of, strength
from goffman.report.summary import MainResult, main_results


def found(difference, half, *, margin=0.05, verdict="inconclusive"):
    return Finding(
        model="m", head="", text="", difference=difference, low=difference - half,
        high=difference + half, margin=margin, verdict=verdict,
    )  # fmt: skip


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
        rows = results_of(section, sections)
        assert sorted(row["result"].model for row in rows) == sorted(section.models())
        for row in rows:
            one = row["result"].finding
            assert row["task"] == ""
            (estimate,) = measured.estimates.filter(pl.col("model").is_in([n for n in measured.manifest.models if section.names.model(n) == one.model]), pl.col("difference").round_sig_figs(6) == one.difference, instrument=section.instrument, family="primary").to_dicts()  # fmt: skip
            tested = estimate["p_adjusted"] is not None
            assert one.shown == (estimate["verdict"] if tested else "not tested")
            assert (one.verdict is None) is not tested
            assert one.value.lstrip("+") == number(one.difference)
            assert one.interval == ends(estimate["low"], estimate["high"])
            assert f"difference {number(one.difference)}" in one.text
    assert len(measured.correlations) == 2


def test_by_wording_are_the_lowest_and_highest_gap(measured, sections):
    """In this wording over the items, or the conditions, without a gap, whichever leaves more.

    Where that is less than half, over all that was answered.
    """
    groups, prompts = ["stigmatized", "non-stigmatized"], pl.col("level") == "prompt"
    findings = findings_of(sections["social-distance"])
    for finding, name in zip(findings, measured.manifest.models, strict=False):
        of = measured.scores.filter(prompts, pl.col("group").is_in(groups), instrument="social-distance", quantity="negative", model=name)  # fmt: skip
        levels, gaps = [], []
        for wording in of["wording"].unique():
            asked = of.filter(wording=wording)
            cells = asked.group_by("group", "condition", "item").agg(pl.col("value").mean())
            gap = pl.col("value").is_null().any()
            items, conditions = (cells.filter(~gap.over(way)) for way in ("item", "condition"))
            left = items["item"].n_unique() / cells["item"].n_unique()
            shares = [
                conditions.filter(of_group)["condition"].n_unique()
                / cells.filter(of_group)["condition"].n_unique()
                for of_group in (pl.col("group") == one for one in groups)
            ]
            whole = conditions if min(shares) >= left else items
            if max(min(shares), left) < 0.5:
                whole = cells
            means = whole.group_by("group", "condition").agg(pl.col("value").mean())
            mean, other = (means.filter(group=one)["value"].mean() for one in groups)
            levels.append(mean)
            gaps.append(mean - other)
        assert len(gaps) == 6
        said = f"{finding.wording} {finding.moved}"
        assert f"the difference ranges from {number(min(gaps))} to {number(max(gaps))}." in said
        one, other = (number(of(levels)) for of in (min, max))
        assert re.search(rf"ranges from {one} to {other}|\({one} to {other} for", said)
    for finding in findings_of(sections["care-seeking"]):
        assert finding.wording == ONE_WORDING


def test_the_page_leads_with_a_row_for_each_instrument_the_strongest_first(audited, sections):
    page = (audited / "report.html").read_text()
    lead = page[page.index('<section id="stands-out"') : page.index('<nav class="contents"')]
    first = first_screen(sections)
    shown = re.findall(r'<details class="result" id="result-([^"]+)"', lead)
    assert shown == [group["instrument"] for group in first["groups"]]
    results = [one["result"] for group in first["groups"] for one in group["results"]]
    assert len(results) == len(main_results(sections)) == 8
    best = [min(map(strength, (one["result"] for one in group["results"])))
            for group in first["groups"]]  # fmt: skip
    assert best == sorted(best)
    assert f"<h1>{first['headline']}</h1>" in page
    assert len(re.findall('<li id="note-', lead)) == len(first["notes"]) > 0
    # What a result would support is not said where none is shown.
    shown = [any(one["result"].verdict in PRESENT_WORDS for one in group["results"])
             for group in first["groups"]]  # fmt: skip
    assert lead.count("If a difference were shown") == shown.count(False)
    # Every verdict has its sign.
    for one in results:
        assert f'<span aria-hidden="true">{one.glyph}</span>' in lead
        assert one.verdict in lead
    section = page[page.index('<section id="i-social-distance"') :]
    places = [section.index(text) for text in (
        '<p class="asked">', '<p class="verdict-row">', 'data-tab="Main figure"',
        'data-tab="More figures"', 'data-tab="Numbers"', 'data-tab="Method and limits"',
    )]  # fmt: skip
    assert places == sorted(places)


def test_the_headline_is_the_sentence_of_the_strongest_result_or_that_there_is_none():
    def result(verdict, at):
        finding = replace(found(at, 0.01, verdict=verdict), short=f"It is {verdict}", shown=verdict)
        return MainResult(instrument="x", finding=finding)

    weak, strong = result("present, size uncertain", 0.05), result("relevant", 0.2)
    in_order = sorted([weak, result("negligible", 0.01), strong], key=strength)
    assert _headline(in_order) == "It is relevant (m)"
    assert _headline([result("inconclusive", 0.1)]) == "No relevant difference was shown"
    few = result("these sentences only", 0.6)
    assert _headline([few]) == "In these sentences only: it is these sentences only (m)"
    assert _headline([result("negligible", 0.01)]) == "No relevant difference"


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
