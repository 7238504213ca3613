"""The page as it is read: the first screen, what is folded, links, telephones, and paper."""

from __future__ import annotations

import re
from urllib.parse import quote

import polars as pl
import pytest
from test_browser import NARROW, headings_are_in_order, reading, scroll_through, unfold

from goffman.instruments.types import BASELINE
from goffman.report.figures import figures_of
from goffman.runs.run import read_answers

pytestmark = pytest.mark.slow

SCREEN = 800
"""Pixels of a screen's height."""

FAT = "Fat, overweight or obese"


WORDS = """(root) => {
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  let count = 0;
  while (walk.nextNode()) {
    const parent = walk.currentNode.parentElement;
    if (parent.closest('svg, script, style, noscript, .hush, .skip')) continue;
    if (parent.checkVisibility()) count += (walk.currentNode.textContent.match(/\\S*[\\p{L}\\p{N}]\\S*/gu) ?? []).length;
  }
  return count;
}"""
"""How many words are seen, but for those in drawings."""


def test_the_page_is_under_twelve_screens_until_something_is_opened(browser, audited):
    with reading(browser, audited / "report.html") as tab:
        height = "document.documentElement.scrollHeight"
        folded = tab.evaluate(height)
        assert folded < 12 * SCREEN
        unfold(tab)
        assert tab.evaluate(height) > 2 * folded


def test_the_page_is_taken_in_in_seconds(browser, audited_little):
    """Words and pixels: results first, at most 200 words, and none beyond the window's edge."""
    with reading(browser, audited_little / "report.html") as tab:
        assert tab.locator("h1").inner_text()
        end = tab.locator(".results").bounding_box()
        assert end["y"] + end["height"] < SCREEN
        assert tab.locator("details.result").count() == 2
        rows = tab.locator("details.result").all()
        # Five of them have room in 900 pixels.
        assert max(row.bounding_box()["height"] for row in rows) <= 115
        assert all(row.locator(".lane").first.bounding_box()["width"] >= 400 for row in rows)
        first = sum(tab.locator(part).evaluate(WORDS) for part in ("header.top", "#stands-out"))
        assert first <= 200
        every, listed = (tab.locator(part).evaluate(WORDS) for part in ("body", "#find"))
        # Most of the explorer's list is scrolled out of its box.
        assert every - listed <= 1000
        drawer = tab.locator("details.result .drawer").first
        assert not drawer.is_visible()
        tab.locator("details.result summary").first.click()
        said = drawer.inner_text()
        for part in ("Why this verdict", "Wording", "Control items", "Not supported", "say"):
            assert part in said


def test_every_caption_is_short_and_every_figure_has_a_title(measured):
    figures = figures_of(measured)
    assert len(figures) > 10
    assert not [one.id for one in figures if len(one.description.split()) > 25]
    assert all(one.title and not one.title.endswith(".") for one in figures)


def test_tabs_are_reached_by_the_keyboard_and_by_an_address(browser, audited):
    with reading(browser, audited / "report.html") as tab:
        section = tab.locator("#i-social-distance")
        names = section.get_by_role("tab").all_inner_texts()
        assert names[0] == "Main figure"
        assert names[-1] == "Method and limits"
        section.get_by_role("tab").first.focus()
        for name in (*names[1:], names[0]):
            tab.keyboard.press("ArrowRight")
            chosen = section.get_by_role("tab", selected=True)
            assert chosen.inner_text() == name
            assert chosen.evaluate("one => one === document.activeElement")
            assert section.get_by_role("tabpanel").count() == 1
        tab.evaluate("location.hash = '#numbers-social-distance'")
        assert section.get_by_role("tab", selected=True).inner_text() == "Numbers"
        tab.evaluate("location.hash = '#verdicts'")
        tab.locator("#verdicts dl").wait_for()


def test_without_scripts_every_panel_is_on_the_page(browser, audited):
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto((audited / "report.html").resolve().as_uri())
    panels = page.locator(".tabbed")
    assert panels.count() > 10
    assert all(one.is_visible() for one in panels.all())
    assert page.locator("#i-social-distance noscript svg").first.is_visible()
    assert page.locator("noscript svg.marks, figure svg.marks").count() >= 12
    assert page.locator("#stands-out .line").count() >= 6
    context.close()


def test_every_main_result_with_an_interval_is_on_the_shared_axis(audited, measured):
    page = (audited / "report.html").read_text(encoding="utf-8")
    table = page[page.index('<section id="stands-out"') : page.index('<nav class="contents"')]
    main = measured.estimates.filter(pl.col("low").is_not_null(), family="primary")
    assert table.count("<circle") == main.height > 4


def test_headings_come_in_order(browser, audited):
    with reading(browser, audited / "report.html") as tab:
        unfold(tab)
        headings_are_in_order(tab)


NAMES = """(root) => [...root.querySelectorAll('button, summary')]
  .map((node) => node.ariaLabel || node.textContent.trim())"""


def test_each_button_has_a_name_of_its_own(browser, audited):
    with reading(browser, audited / "report.html") as tab:
        unfold(tab)
        for button in tab.locator("[data-numbers]").all():
            button.click()
        names = tab.locator("body").evaluate(NAMES)
        assert len(names) > 300
        assert sorted({one for one in names if names.count(one) > 1}) == []
        tab.evaluate("location.hash = '#evidence=social-distance/black'")
        tab.locator("#evidence .prompt").first.wait_for()
        tab.locator("#evidence .prompt .link").first.click()
        own = tab.locator("#evidence").evaluate(NAMES)
        assert len(own) > 10
        assert len({*own}) == len(own)


def test_a_condition_has_an_address_that_opens_its_evidence(browser, audited, sections):
    model = sections["social-distance"].models()[1]
    with reading(browser, audited / "report.html") as tab:
        address = tab.url
        figure = tab.locator('[data-figure="social-distance-conditions"]')
        figure.locator("[data-numbers]").click()
        figure.get_by_role("button", name=re.compile("^South Asian")).first.click()
        tab.locator("#evidence .prompt").first.wait_for()
        assert tab.url.startswith(f"{address}#evidence=social-distance/south-asian/")
        assert tab.locator("#evidence .here").evaluate("one => one.href") == tab.url
        tab.keyboard.press("Escape")
        # A dialog tells of its end a moment later.
        tab.wait_for_function("address => location.href === address", arg=address)
        for part in ("#evidence=nothing/here", "#evidence=social-distance/%E0%A4%A"):
            tab.evaluate("part => { location.hash = part; }", part)
            assert not tab.locator("#evidence").is_visible()
    link = f"#evidence=social-distance/south-asian/{quote(model, safe='')}"
    with reading(browser, audited / "report.html", part=link) as tab:
        dialog = tab.get_by_role("dialog", name="South Asian")
        dialog.locator(".prompt").first.wait_for()
        assert dialog.get_by_label("Model").locator("option:checked").inner_text() == model


def test_bars_are_the_mean_probability_with_and_without_the_condition(browser, audited, measured):
    """Reckoned from the answers on disk, prompt by prompt."""
    section = measured.sections["social-distance"]
    model = next(iter(measured.manifest.models))
    with reading(browser, audited / "report.html", part="#evidence=social-distance/black") as tab:
        pairs = tab.locator("#evidence .pairs")
        pairs.wait_for()
        first = tab.evaluate(
            "document.querySelector('#evidence .dialog-body').firstElementChild.innerText"
        )
        assert first.startswith("What it answered, with and without the condition")
        heads = pairs.locator("thead th").all_inner_texts()
        rows = [row.inner_text().split() for row in pairs.locator("tbody tr").all()]
        widths = pairs.locator(".bar").evaluate_all("all => all.map(one => one.style.width)")
    assert heads == ["Answer", "With this condition", "No condition named"]
    fills = read_answers(audited, "fills", model=model, instrument="social-distance")
    prompts = section.prompts.select("prompt_id", "condition")
    both = []
    for condition in ("black", BASELINE):
        own = fills.join(prompts.filter(condition=condition), on="prompt_id")
        asked = own["prompt_id"].n_unique()
        sums = own.filter(step=1).group_by("word").agg(pl.col("probability").sum())
        both.append({word: total / asked for word, total in sums.rows()})
    words = {*both[0], *both[1]}
    largest = sorted(words, key=lambda w: -max(both[0].get(w, 0), both[1].get(w, 0)))[:10]
    most = max(both[0].get(largest[0], 0), both[1].get(largest[0], 0))
    shown = {row[-3]: [float(one) for one in row[-2:]] for row in rows}
    assert {*shown} == {*largest}
    for place, (word, values) in enumerate(shown.items()):
        for side in (0, 1):
            assert values[side] == pytest.approx(both[side].get(word, 0.0), rel=0.01)
            width = float(widths[2 * place + side].rstrip("%"))
            assert width == pytest.approx(100 * both[side].get(word, 0.0) / most, rel=0.01, abs=0.1)


LABELS = """figure => [...figure.querySelectorAll("svg.marks [aria-label^='Y-axis'] .role-axis-label text")]
  .map(one => [...one.querySelectorAll('tspan')].map(part => part.textContent).join(' ') || one.textContent)"""


@pytest.mark.parametrize("width", [NARROW, 1280])
def test_names_that_end_differently_can_be_told_apart(browser, audited, tmp_path, width):
    page = (audited / "report.html").read_text(encoding="utf-8")
    for name, other in (("South Asian", "current"), ("Middle Eastern", "remitted")):
        assert f'"{name}"' in page
        page = page.replace(f'"{name}"', f'"{FAT} ({other})"')
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    with reading(browser, tmp_path / "page.html", width=width) as tab:
        figure = tab.locator('[data-figure="social-distance-conditions"]')
        figure.scroll_into_view_if_needed()
        figure.locator("svg.marks").wait_for()
        seen = figure.evaluate(LABELS)
    assert {f"{FAT} (current)", f"{FAT} (remitted)"} <= {*seen}
    assert not [text for text in seen if "…" in text]


def test_the_axis_of_a_tall_figure_stays_in_the_window(browser, audited):
    with reading(browser, audited / "report.html") as tab:
        tab.set_viewport_size({"width": 1280, "height": 110})
        figure = tab.locator('[data-figure="social-distance-conditions"]')
        figure.locator(".live").scroll_into_view_if_needed()
        stuck = figure.locator(".stuck")
        stuck.wait_for()
        figure.locator(".live").evaluate("one => one.scrollIntoView()")
        place = stuck.bounding_box()
        drawing = figure.locator("svg.marks").bounding_box()
        assert drawing["y"] + drawing["height"] > 110
        assert place["y"] + place["height"] == pytest.approx(110, abs=1)
        texts = "one => [...one.querySelectorAll('text')].map(text => text.textContent)"
        axis = figure.locator("svg.marks [aria-label^='X-axis']")
        assert stuck.evaluate(texts) == axis.evaluate(texts)
        figure.locator(".figure-foot").evaluate("one => one.scrollIntoView({ block: 'end' })")
        assert stuck.locator("text").first.bounding_box() == pytest.approx(
            axis.locator("text").first.bounding_box(), abs=1.5
        )


PAPER = 680
"""Pixels between the margins of a sheet."""

WIDER = """() => [...document.querySelectorAll('main table, main svg, main p')]
  .filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 200))"""


def test_paper_has_what_is_folded_and_nothing_beyond_its_edge(browser, audited):
    with reading(browser, audited / "report.html", width=PAPER) as tab:
        before = tab.locator("main details[open]").count()
        tab.emulate_media(media="print")
        tab.wait_for_selector(".still svg")
        assert tab.locator("main details[data-paper]:not([open])").count() == 0
        assert tab.locator("main details[data-paper]").count() >= 2
        assert tab.locator("details.result:not([open])").count() == 0
        assert tab.locator(".tabbed[data-tab='Method and limits']").first.is_visible()
        assert not tab.locator(".tabbed[data-tab=Numbers]").first.is_visible()
        assert tab.evaluate(WIDER) == []
        # A table of which only a part would be there is not there.
        assert not tab.locator("#conditions").is_visible()
        assert tab.get_by_text("Not printed:").is_visible()
        assert not tab.locator(".figure-foot").first.is_visible()
        tab.emulate_media(media="screen")
        tab.wait_for_function("() => !document.querySelector('details[open]')")
        assert before == 0


def test_nothing_is_wider_than_a_telephone_when_all_is_open(browser, audited):
    with reading(browser, audited / "report.html", width=NARROW) as tab:
        scroll_through(tab)
        for button in tab.locator("[data-numbers]").all():
            button.click()
        assert tab.evaluate("document.documentElement.scrollWidth") <= NARROW
