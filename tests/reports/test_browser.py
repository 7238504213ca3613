"""The page in a real Chromium, from disk, with the network off."""

from __future__ import annotations

import itertools
import re
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from small_runs import make_manifest_agree

from contrasts import faint
from goffman.pipeline import AskOptions, audit
from goffman.report.evidence import unpacked
from goffman.report.write import write_report
from goffman.runs.answers import answers_folder, read_chunks, verify_chunks, write_chunk

pytestmark = pytest.mark.slow

WIDE, NARROW = 1280, 390


@contextmanager
def reading(browser, page, *, width=WIDE, part="", **options):
    """A reader before the page, or a part of it; nothing was complained of, nothing asked for."""
    context = browser.new_context(viewport={"width": width, "height": 860}, offline=True, **options)
    tab = context.new_page()
    tab.set_default_timeout(20_000)
    complaints = []
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("dialog", lambda dialog: complaints.append(f"a dialog: {dialog.message}"))
    tab.on("request", lambda request: complaints.append(request.url))
    address = Path(page).resolve().as_uri()
    tab.goto(f"{address}{part}")
    tab.wait_for_selector("#conditions tbody tr, #conditions .row", state="attached")
    yield tab
    context.close()
    own = [
        text
        for text in complaints
        if text.partition("#")[0] != address and not text.startswith(("data:", "blob:"))
    ]
    assert own == []


def headings_are_in_order(tab):
    levels = tab.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels))


def unfold(tab):
    """The reader has opened all that is folded, and every tab."""
    tab.evaluate(
        "for (const one of document.querySelectorAll('main details')) one.open = true;"
        "for (const one of document.querySelectorAll('.tabbed')) one.hidden = false"
    )


def scroll_through(tab):
    """The reader has seen the whole page, and every figure is drawn."""
    unfold(tab)
    for node in tab.locator("[data-figure]").all():
        node.scroll_into_view_if_needed()
        node.locator(".live svg.marks").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_every_figure_is_drawn_and_nothing_is_wider_than_the_page(browser, audited, width, scheme):
    with reading(browser, audited / "report.html", width=width, color_scheme=scheme) as tab:
        scroll_through(tab)
        assert tab.locator(".live svg.marks").count() >= 12
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        wider = tab.evaluate(
            "[...document.querySelectorAll('.live svg.marks')].filter("
            "svg => svg.getBoundingClientRect().width > svg.closest('.live').clientWidth + 1)"
            ".map(svg => svg.closest('[data-figure]').dataset.figure)"
        )
        assert wider == []


def test_a_condition_is_found_and_its_evidence_opened(browser, audited, sections):
    with reading(browser, audited / "report.html") as tab:
        tab.locator("#find").get_by_role("tab", name="care-seeking").click()
        tab.get_by_label("Search all diagnoses").fill("depression")
        tab.wait_for_function("() => document.querySelectorAll('#conditions .row').length === 2")
        tab.locator("#conditions .list").get_by_role("option", name="Depression").click()
        tab.get_by_role("button", name=re.compile("^Read all .* Depression$")).click()
        dialog = tab.get_by_role("dialog", name="Depression")
        dialog.locator(".prompt").first.wait_for()
        prompts = sections["care-seeking"].prompts.filter(condition="depression")
        texts = {text.replace("<mask>", "____") for text in prompts["text"]}
        assert {*dialog.locator(".sentence").all_inner_texts()} <= texts
        dialog.get_by_role("button", name=re.compile("^Show all")).first.click()
        assert dialog.locator(".prompt table tbody tr").count() == 50
        tab.keyboard.press("Escape")
        assert not tab.locator("#evidence").is_visible()


def test_a_mark_of_a_figure_leads_to_its_evidence_and_its_words_are_those_of_the_run(
    browser, audited, measured, sections
):
    with reading(browser, audited / "report.html") as tab:
        figure = tab.locator('[data-figure="social-distance-conditions"]')
        figure.scroll_into_view_if_needed()
        mark = figure.locator("svg.marks .mark-symbol.role-mark path[aria-label]").first
        mark.wait_for()
        name = re.search(r"row: ([^;]+)", mark.get_attribute("aria-label"))[1]
        mark.click()
        dialog = tab.get_by_role("dialog", name=name)
        dialog.locator(".prompt").first.wait_for()
        sentence = dialog.locator(".sentence").first.inner_text()
        words = dialog.locator(".prompt").first.locator(".words .w").all_inner_texts()
        model = dialog.get_by_label("Model").locator("option:checked").inner_text()
    block = re.search(r'id="evidence-0">([^<]+)<', (audited / "report.html").read_text())[1]
    header, columns = unpacked(block)
    cell = header["models"].index(model) * len(header["prompts"]) + header["prompts"].index(
        sentence
    )
    start = int(columns["count"][:cell].sum())
    assert words == [header["words"][columns["word"][start + i]] or "(empty)" for i in range(10)]


def test_a_choice_and_the_numbers_of_a_figure(browser, audited):
    with reading(browser, audited / "report.html") as tab:
        figure = tab.locator('[data-figure="care-seeking-disparities"]')
        figure.scroll_into_view_if_needed()
        figure.locator("select").select_option("not counting first names")
        figure.get_by_role("button", name="Show the numbers").click()
        assert figure.locator(".numbers tbody tr").count() >= 16
        with tab.expect_download() as saved:
            figure.get_by_role("button", name="Save as SVG").click()
        assert Path(saved.value.path()).read_text().startswith("<svg")


def test_the_keyboard_reaches_everything_and_every_control_has_a_name(browser, audited):
    with reading(browser, audited / "report.html") as tab:
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.textContent") == "Skip to the report"
        tab.keyboard.press("Enter")
        assert tab.evaluate("document.activeElement.id") == "main"
        nameless = tab.evaluate(
            "[...document.querySelectorAll('button, select, input')].filter(node =>"
            " !(node.textContent.trim() || node.labels?.length || node.ariaLabel)).length"
        )
        assert nameless == 0
        assert tab.locator("h1").count() == 1
        assert tab.locator("main > section h2").count() == tab.locator("main > section").count()
        button = tab.get_by_role("button", name=re.compile("^Read all"))
        button.focus()
        tab.keyboard.press("Enter")
        tab.locator("#evidence .prompt").first.wait_for()
        assert tab.evaluate("document.getElementById('evidence').contains(document.activeElement)")
        tab.keyboard.press("Escape")
        assert tab.evaluate("document.activeElement.textContent").startswith("Read all")


def test_the_keyboard_comes_to_the_numbers_of_every_figure_one_after_the_other(browser, audited):
    """Figures are drawn once they are in sight; the way to them must not depend on that."""
    with reading(browser, audited / "report.html") as tab:
        figures = tab.evaluate("[...document.querySelectorAll('[data-figure]')].length")
        unfold(tab)
        tab.locator("h1").click()
        met = []
        for _ in range(60 * figures):
            tab.keyboard.press("Tab")
            if tab.evaluate(CLOSED):
                tab.keyboard.press("Enter")
            found = tab.evaluate("document.activeElement.dataset.numbers || ''")
            if found and found not in met:
                met.append(found)
            if tab.evaluate("!!document.activeElement.closest('#find')"):
                break
        every = tab.evaluate(
            "[...document.querySelectorAll('[data-figure]')].map(one => one.dataset.figure)"
        )
        assert met == every


CLOSED = """(() => {
  const at = document.activeElement;
  return at.tagName === "SUMMARY" && !at.parentElement.open;
})()"""


def test_dark_is_kept_apart_from_light_by_a_button(browser, audited):
    paper = "getComputedStyle(document.body).backgroundColor"
    with reading(browser, audited / "report.html", color_scheme="light") as tab:
        light = tab.evaluate(paper)
        tab.get_by_role("button", name="Dark").click()
        dark = tab.evaluate(paper)
        assert (light, dark) == ("rgb(255, 255, 255)", "rgb(22, 24, 28)")
        scroll_through(tab)
        chosen = tab.evaluate(COLOURS)
        tab.get_by_role("button", name="Light").click()
        assert tab.evaluate(paper) == light
    with reading(browser, audited / "report.html", color_scheme="dark") as tab:
        assert tab.evaluate(COLOURS) == chosen
        assert len(chosen) > 10


COLOURS = """() => {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  const rule = rules.find((one) => (one.selectorText || "").startsWith(":root"));
  const set = getComputedStyle(document.documentElement);
  return Object.fromEntries([...rule.style].filter((name) => name.startsWith("--"))
    .map((name) => [name, set.getPropertyValue(name)]));
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_told_from_the_paper(browser, audited, scheme):
    with reading(browser, audited / "report.html", color_scheme=scheme) as tab:
        words = "h1, h2, h3, h4, p, li, a, td, th, summary, button, dt, dd, b"
        assert faint(tab, words, at_least=60) == {}


def test_on_paper_stands_every_figure_whatever_was_in_sight(browser, audited):
    with reading(browser, audited / "report.html", color_scheme="dark") as tab:
        tab.emulate_media(media="print")
        tab.wait_for_selector(".still svg")
        assert tab.locator(".still svg").count() == tab.locator("[data-figure]").count()
        assert tab.locator(".live:visible").count() == 0
        assert (
            tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        )
        assert len(tab.pdf()) > 50_000


HOSTILE = '<img src=x onerror="alert(1)">&amp;\u202e\'=1+1'
SEEN = HOSTILE.replace("\u202e", "\\u202e")


@pytest.fixture(scope="module")
def hostile(tiny, shortened, tmp_path_factory):
    """The page of a run whose model, words and sentences are hostile."""
    base = tmp_path_factory.mktemp("hostile")
    model = base / "</" / "script><script>alert(2)</" / f"script>{HOSTILE}"
    model.parent.mkdir(parents=True)
    model.symlink_to(tiny("bert"))
    folder = base / "run"
    options = AskOptions(controls=False, limit=60)
    name = str(shortened / "social-distance")
    audit([str(model)], instruments=[name], output=folder, options=options)
    answers = answers_folder(folder, "fills", model=str(model), instrument="social-distance")
    for key, part in verify_chunks(answers, model=str(model), clear=False).parts.items():
        first = pl.col("rank") == 1
        fills = read_chunks(answers, [part], "fills").with_columns(
            word=pl.when(first).then(pl.lit(HOSTILE)).otherwise("word")
        )
        answers.remove(part.name)
        write_chunk(answers, key, fills, asked=part.asked)
    for table in ("prompts", "scores"):
        frame = pl.read_parquet(folder / f"{table}.parquet")
        bad = {"category": pl.lit(HOSTILE, dtype=pl.String)}
        if table == "prompts":
            bad["text"] = pl.col("text") + pl.lit(HOSTILE)
        frame.with_columns(**bad).write_parquet(folder / f"{table}.parquet")
    make_manifest_agree(folder)
    return write_report(folder).page


def test_hostile_text_is_shown_as_text(browser, hostile):
    with reading(browser, hostile) as tab:
        scroll_through(tab)
        assert tab.locator("img").count() == 0
        shown = f"script>{SEEN}"
        assert shown in tab.locator("header.top .eyebrow").first.inner_text()
        assert shown in tab.inner_text("#audited")
        panel = tab.get_by_role("complementary", name="Evidence")
        assert f" · {SEEN} · " in panel.locator(".about").inner_text()
        panel.get_by_role("button", name=re.compile("^Read all")).click()
        dialog = tab.locator("#evidence")
        dialog.locator(".prompt").first.wait_for()
        assert dialog.locator(".words .w").first.inner_text() == SEEN
        assert dialog.locator(".sentence").first.inner_text().endswith(SEEN)
        tab.keyboard.press("Escape")
        assert tab.evaluate("document.scripts.length") == tab.evaluate(
            "document.querySelectorAll('body > script').length"
        )
        mark = tab.locator(
            '[data-figure="social-distance-categories"] svg.marks .mark-symbol.role-mark path'
        ).first
        mark.hover()
        tip = tab.locator("#vg-tooltip-element")
        tip.wait_for()
        assert SEEN in tip.inner_text()
        assert tab.locator("img").count() == 0
    assert "\u202e" not in hostile.read_text(encoding="utf-8")


@pytest.mark.slow
def test_fifty_thousand_rows_of_evidence_do_not_freeze_it(browser, tiny, tmp_path):
    """1,000 prompts of 50 words, all of one condition: opened, leafed through and searched."""
    audit(
        [str(tiny("bert"))],
        instruments=["social-distance"],
        output=tmp_path,
        options=AskOptions(controls=False, limit=1_000),
    )
    prompts = pl.read_parquet(tmp_path / "prompts.parquet")
    one = pl.lit("latina-latino")
    prompts.with_columns(condition=one).write_parquet(tmp_path / "prompts.parquet")
    make_manifest_agree(tmp_path)
    write_report(tmp_path)
    # Cores are shared: a page that freezes does so each time.
    longest = min(longest_silence(browser, tmp_path / "report.html") for _ in range(3))
    assert longest < 1_000, "milliseconds in which the page did not answer"


def longest_silence(browser, page):
    """Milliseconds in which the page did not answer, while its evidence was read."""
    with reading(browser, page) as tab:
        tab.evaluate(LONGEST)
        tab.locator("#conditions .list").get_by_role("option", name="Latina/Latino").click()
        tab.get_by_role("button", name=re.compile("^Read all 1,000 prompts")).click()
        dialog = tab.locator("#evidence")
        dialog.locator(".prompt").first.wait_for()
        assert dialog.locator("[role=status]").inner_text() == "Prompts 1–12 of 1,000"
        dialog.get_by_role("button", name="Next").click()
        assert dialog.locator("[role=status]").inner_text() == "Prompts 13–24 of 1,000"
        dialog.get_by_label("Search the prompts").fill("marry")
        tab.wait_for_function(
            "() => !document.querySelector('#evidence [role=status]').innerText.includes('1,000')"
        )
        assert "marry" in dialog.locator(".sentence").first.inner_text()
        assert dialog.locator("*").count() < 1_500
        return tab.evaluate("window.longest")


LONGEST = """() => {
  window.longest = 0;
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    window.longest = Math.max(window.longest, now - last - 20);
    last = now;
  }, 20);
  return 0;
}"""
