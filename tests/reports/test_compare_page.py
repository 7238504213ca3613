"""The page of a comparison in a real Chromium, from disk, with the network off."""

from __future__ import annotations

import json
import re
import shutil

import polars as pl
import pytest
from small_runs import measured, one_reply
from test_browser import NARROW, WIDE, headings_are_in_order, reading, scroll_through
from typer.testing import CliRunner

from contrasts import faint
from goffman.cli.main import app
from goffman.comparison.page import FIRST_AND_LAST, compare_page, first_and_last
from goffman.comparison.runs import compare
from goffman.comparison.sentences import change_result, change_sentences, conditions_of
from goffman.console import printable
from goffman.report.evidence import unpacked
from goffman.runs.run import read_answers

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return [measured(tmp_path_factory, where) for where in ("before", "after")]


@pytest.fixture(scope="module")
def found(runs):
    return compare(runs)


@pytest.fixture(scope="module")
def page(found, runs, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "comparison.html"
    path.write_text(compare_page(found, runs), encoding="utf-8")
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_every_figure_is_drawn_nothing_is_too_wide_and_all_text_can_be_read(
    browser, page, width, scheme
):
    with reading(browser, page, width=width, color_scheme=scheme) as tab:
        scroll_through(tab)
        assert tab.locator(".live svg.marks").count() >= 10
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert faint(tab, "main p, main th, main td, main a", at_least=60) == {}


def test_headings_are_in_order_and_figures_say_what_they_show(browser, page, found):
    with reading(browser, page) as tab:
        headings_are_in_order(tab)
        for one in found:
            figure = tab.locator(f"#figure-{one.instrument}-course .live")
            about = tab.locator(f"#{figure.get_attribute('aria-describedby')}").inner_text()
            assert about.startswith(f"{change_sentences(one).head}.")


def test_page_terminal_markdown_and_json_say_the_same(browser, page, found, runs, tmp_path):
    folders = [str(run.folder) for run in runs]
    told = CliRunner().invoke(app, ["compare", *folders], env={"COLUMNS": "160"})
    as_json = CliRunner().invoke(app, ["compare", *folders, "--json"])
    written = CliRunner().invoke(app, ["compare", *folders, "--output", str(tmp_path / "x.md")])
    assert (told.exit_code, as_json.exit_code, written.exit_code) == (0, 0, 0)
    said = {one["instrument"]: one["said"] for one in json.loads(as_json.stdout)}
    text = (tmp_path / "x.md").read_text(encoding="utf-8")
    with reading(browser, page) as tab:
        for one, result in zip(found, map(change_result, found), strict=True):
            lines = change_sentences(one).lines
            assert said[one.instrument]["head"] == lines[0].removesuffix(".")
            row = tab.locator(".result", has_text=f"{one.instrument} · ")
            row.locator("summary").click()
            shown = row.inner_text()
            assert all(line in shown for line in lines)
            for part in (result.verdict, result.finding.short, result.finding.value):
                assert part in shown
                assert part in " ".join(told.stdout.split())
            assert f"| {result.glyph} {result.verdict} | {one.instrument} |" in text


def test_the_answers_of_both_runs_stand_beside_each_other(browser, page, runs):
    with reading(browser, page) as tab:
        menu = tab.locator("#conditions label", has_text="Instrument").locator("select").first
        menu.select_option("social-distance")
        tab.locator("#conditions tbody button").first.click()
        dialog = tab.locator("#evidence")
        card = dialog.locator(".prompt").first
        card.wait_for()
        sentence = card.locator(".sentence").inner_text()
        columns = card.locator(".order")
        assert columns.count() == 2
        seen = [columns.nth(at).locator(".words .w").all_inner_texts() for at in (0, 1)]
        titles = columns.locator("h3").all_inner_texts()
    assert [title.partition(": ")[0] for title in titles] == [run.folder.name for run in runs]
    for run, words in zip(runs, seen, strict=True):
        prompts = run.prompts.filter(pl.col("text").str.replace("<mask>", "____") == sentence)
        fills = read_answers(run.folder, "fills", model="small", instrument="social-distance")
        own = fills.filter(pl.col("rank") <= 10, prompt_id=prompts["prompt_id"][0])
        # What is no visible sign stands there as an escape.
        assert words == [printable(word) for word in own.sort("rank")["word"]]


def test_a_mark_of_a_figure_leads_to_both_runs(browser, page):
    with reading(browser, page) as tab:
        figure = tab.locator('[data-figure="social-distance-changes"]')
        figure.scroll_into_view_if_needed()
        mark = figure.locator("svg.marks .mark-symbol.role-mark path[aria-label]").last
        mark.wait_for()
        name = re.search(r"name: ([^;]+)", mark.get_attribute("aria-label"))[1]
        mark.click()
        dialog = tab.get_by_role("dialog", name=name)
        dialog.locator(".prompt").first.wait_for()
        assert dialog.locator(".prompt").first.locator(".order").count() == 2


def test_the_table_has_every_condition_with_its_numbers(page, found):
    data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text())[1])
    names = ["condition", *(name for name, _ in data["columns"])]
    listed = [dict(zip(names, row, strict=True)) for row in data["listing"]]
    wanted = [(one.instrument, row) for one in found for row in conditions_of(one)]
    assert len(listed) == len(wanted)
    for row, (instrument, own) in zip(listed, wanted, strict=True):
        assert (row["instrument"], row["condition"]) == (instrument, own["condition"])
        assert row["change"] == own["difference"]
        assert row["after"] - row["before"] == pytest.approx(own["difference"], abs=1e-12)


def test_the_page_is_one_file_that_asks_for_nothing(page):
    text = page.read_text(encoding="utf-8")
    assert page.stat().st_size < 10_000_000
    assert "default-src &#39;none&#39;" in text
    # Vega's own text has such tags in it, which the policy keeps from fetching anything.
    markup = re.sub(r"<script[^>]*>.*?</script>", "<script>", text, flags=re.DOTALL)
    assert not re.search(r"<(link|img|iframe|script)\b[^>]*\b(src|href)=", markup)
    assert "<script " not in markup
    blocks = re.findall(r'id="evidence-\d+">([^<]+)<', text)
    assert len(blocks) == 4
    header, _ = unpacked(blocks[0])
    assert len(header["models"]) == 2


def test_on_paper_stand_drawings_of_every_figure(browser, page):
    with reading(browser, page) as tab:
        tab.emulate_media(media="print")
        tab.wait_for_function(
            "() => [...document.querySelectorAll('.still')].every(one => one.childElementCount)"
        )
        assert tab.locator(".still svg").first.is_visible()
        assert not tab.locator(".contents").is_visible()


def test_what_differs_beside_the_models_stands_at_the_top(
    browser, tmp_path_factory, runs, tmp_path
):
    ratings = tmp_path / "mine.csv"
    ratings.write_text("word,label\nhard,positive\n")
    rated = measured(tmp_path_factory, "after", ratings=(ratings,))
    rated_found = compare([runs[0], rated])
    path = tmp_path / "page.html"
    path.write_text(compare_page(rated_found, [runs[0], rated], notes=["x is not compared: y."]))
    with reading(browser, path) as tab:
        top = tab.locator("#before").inner_text()
    assert "social-distance: words were rated differently" in top
    assert "x is not compared: y." in top


def test_several_runs_draw_the_course(browser, runs, tmp_path_factory, tmp_path):
    third = measured(tmp_path_factory, "before", ("small", "tone"), top_k=None)
    again = shutil.copytree(third.folder, tmp_path / "third")
    folders = [str(run.folder) for run in runs] + [str(again)]
    path = tmp_path / "course.html"
    done = CliRunner().invoke(app, ["compare", *folders, "--model", "small", "--output", str(path)])
    assert done.exit_code == 0
    assert f"Everything is in {path}." in done.stderr
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    spec = re.search(r'id="spec-social-distance-course">(.*?)</script>', path.read_text())[1]
    values = json.loads(spec)["data"]["values"]
    assert [row["run"] for row in values] == [runs[0].folder.name, runs[1].folder.name, "third"]
    assert values[0]["value"] == values[2]["value"]
    assert values[0]["difference"] is None
    with reading(browser, path) as tab:
        scroll_through(tab)
        assert "over 3 runs" in tab.locator("h1").inner_text()
        steps = tab.locator(".result", has_text="social-distance · ").all_inner_texts()
    assert len(steps) == 2
    assert sum("No change: every answer has the same score" in step for step in steps) == 1


def test_fifteen_of_each_end_are_drawn():
    rows = [{"difference": -place} for place in range(40)]
    assert first_and_last(rows) == rows[:FIRST_AND_LAST] + rows[-FIRST_AND_LAST:]
    assert first_and_last(rows[:30]) == rows[:30]


HOSTILE = '</script><img src=x onerror="alert(1)">&amp; ${7*7} {{7*7}}'


def test_replies_are_text_on_both_sides(browser, tmp_path):
    folders = [tmp_path / name for name in ("<b>one", "two")]
    for folder, text in zip(folders, (HOSTILE, f"{HOSTILE}\u202e"), strict=True):
        one_reply(folder, text)
    path = tmp_path / "page.html"
    done = CliRunner().invoke(app, ["compare", *map(str, folders), "--output", str(path)])
    assert done.exit_code == 0, done.exception
    assert "\u202e" not in path.read_text(encoding="utf-8")
    with reading(browser, path) as tab:
        scroll_through(tab)
        assert tab.locator("img, b").count() == tab.locator(".fact b").count()
        assert "<b>one" in tab.locator("h1").inner_text()
        tab.locator("#conditions tbody button").first.click()
        dialog = tab.locator("#evidence")
        dialog.locator(".prompt").first.wait_for()
        seen = {*dialog.locator(".prompt .words .w").all_inner_texts()}
        assert seen == {HOSTILE, f"{HOSTILE}\\u202e"}
        assert tab.locator("img").count() == 0
