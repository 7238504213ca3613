"""The page as it is read: the first screen, what is folded, links, telephones, and paper."""

from __future__ import annotations

import itertools
import re
from urllib.parse import quote

import polars as pl
import pytest
from test_browser import NARROW, reading, scroll_through, unfold

from goffman.instruments.types import BASELINE
from goffman.runs.read_answers import read_answers

pytestmark = pytest.mark.slow
"""Whole runs: minutes of computing."""

SCREEN = 800
"""Pixels of a screen's height."""

FAT = "Fat, overweight or obese"


def test_the_page_is_under_twelve_screens_until_something_is_opened(browser, audited):
    with reading(browser, audited / "report.html") as tab:
        height = "document.documentElement.scrollHeight"
        folded = tab.evaluate(height)
        assert folded < 12 * SCREEN
        unfold(tab)
        assert tab.evaluate(height) > 2 * folded


def test_the_first_screen_has_title_models_and_all_verdicts(browser, audited_little):
    with reading(browser, audited_little / "report.html") as tab:
        assert tab.locator("h1").inner_text()
        end = tab.locator(".results").bounding_box()
        assert end["y"] + end["height"] < SCREEN
        assert tab.locator("details.result").count() == 2
        shown = tab.locator("header.top").inner_text() + tab.locator("#stands-out").inner_text()
        assert len(shown.split()) <= 200
        tab.locator("details.result summary").first.click()
        drawer = tab.locator("details.result .drawer").first.inner_text()
        assert "You may say" in drawer
        assert "ontrol items" in drawer


def test_every_main_result_with_an_interval_is_on_the_shared_axis(audited, measured):
    page = (audited / "report.html").read_text(encoding="utf-8")
    table = page[page.index('<section id="stands-out"') : page.index('<section id="limits"')]
    main = measured.estimates.filter(pl.col("family") == "primary", pl.col("low").is_not_null())
    assert table.count("<circle") == main.height > 4


def test_headings_come_in_order(browser, audited):
    with reading(browser, audited / "report.html") as tab:
        unfold(tab)
        levels = tab.evaluate(
            "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => Number(h.tagName[1]))"
        )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels))


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
        own = fills.join(prompts.filter(pl.col("condition") == condition), on="prompt_id")
        asked = own["prompt_id"].n_unique()
        sums = own.filter(pl.col("step") == 1).group_by("word").agg(pl.col("probability").sum())
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
        assert tab.locator("main details[data-paper]").count() > 20
        assert tab.evaluate(WIDER) == []
        # A table of which only a part would be there is not there.
        assert not tab.locator("#conditions").is_visible()
        assert tab.get_by_text("The explorer is not printed.").is_visible()
        assert not tab.locator(".figure-foot").first.is_visible()
        tab.emulate_media(media="screen")
        tab.wait_for_function("() => !document.querySelector('main details[open]')")
        assert before == 0


def test_nothing_is_wider_than_a_telephone_when_all_is_open(browser, audited):
    with reading(browser, audited / "report.html", width=NARROW) as tab:
        scroll_through(tab)
        for button in tab.locator("[data-numbers]").all():
            button.click()
        assert tab.evaluate("document.documentElement.scrollWidth") <= NARROW
