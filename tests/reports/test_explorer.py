"""The explorer of conditions, in a real browser: what it shows, and how it is gone through."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import parse_qs

import polars as pl
import pytest
from test_browser import NARROW, WIDE, reading

from goffman.report.explorer import explored

pytestmark = pytest.mark.slow

LISTED = "() => [...document.querySelectorAll('#conditions .row:not(.scale)')]"
ROWS = f"{LISTED[6:]}.map((row) => [row.querySelector('.name').textContent, row.querySelector('.value').textContent])"
HERE = "document.activeElement.dataset.at"


def open_tab(tab, instrument):
    tab.get_by_role("tab", name=instrument, exact=True).click()


def menu(tab, name):
    return tab.locator("#conditions").get_by_label(name, exact=True)


def listed(tab):
    """The names and numbers of the list."""
    return [(name, float(text.replace("−", "-"))) for name, text in tab.evaluate(ROWS)]


def names(tab):
    return [name for name, _ in listed(tab)]


def chosen(tab):
    """What the page's address says."""
    _, _, text = tab.url.partition("#find?")
    return {key: values[0] for key, values in parse_qs(text).items()}


def test_each_number_is_that_of_the_estimates_in_every_model(browser, audited, sections):
    section = sections["social-distance"]
    estimates = pl.read_parquet(audited / "estimates.parquet").filter(
        pl.col("kind").is_in(["reference", "own-reference"]),
        instrument="social-distance",
        quantity="negative",
    )
    assert len(section.models()) == 2
    with reading(browser, audited / "report.html") as tab:
        open_tab(tab, "social-distance")
        for model in section.names.models:
            if section.names.model(model) not in section.models():
                continue
            menu(tab, "Model").select_option(section.names.model(model))
            wanted = {
                section.called(row["first"]): row
                for row in estimates.filter(model=model).iter_rows(named=True)
            }
            assert len(wanted) == 8
            numbers = dict(listed(tab))
            assert {*wanted} < {*numbers}, "and some that are rare"
            for name, row in wanted.items():
                assert numbers[name] == pytest.approx(row["difference"], abs=0.0005001)
                option = tab.locator("#conditions .list").get_by_role("option", name=f"{name}, ")
                said = option.get_attribute("aria-label").replace("−", "-")
                if row["low"] is None:
                    assert "not tested" in said
                    continue
                ends = re.search(r"interval (\S+) to (\S+), (\w+) 0", said)
                assert float(ends[1]) == pytest.approx(row["low"], abs=0.0005001)
                assert float(ends[2]) == pytest.approx(row["high"], abs=0.0005001)
                excluded = row["low"] > 0 or row["high"] < 0
                assert ends[3] == ("excludes" if excluded else "includes")


def test_conditions_of_further_groups_are_as_far_from_the_same_mean(measured, sections):
    (unit,) = (one for one in explored(measured.sections) if one["instrument"] == "social-distance")
    estimates = sections["social-distance"].contrasts("baseline")
    rare = [at for at, group in enumerate(unit["group"]) if unit["groups"][group] == "rare"]
    assert len(rare) == 4
    for one in unit["models"]:
        own = estimates.filter(model=one["model"])
        reference = sections["social-distance"].contrasts("reference")
        mean = reference.filter(model=one["model"]).sort("left_out")["mean_second"][0]
        for at in rare:
            row = own.row(by_predicate=pl.col("first") == unit["ids"][at], named=True)
            assert one["values"][at] == pytest.approx(row["mean_first"] - mean, abs=1e-5)
            assert one["low"][at] is None


def test_a_diagnosis_is_as_far_from_the_other_mean_as_its_contrast_says(measured, sections):
    units = [one for one in explored(measured.sections) if one["instrument"] == "care-seeking"]
    assert [one["number"] for one in units] == [
        "female − male, counting first names",
        "female − male, not counting first names",
    ]
    section = sections["care-seeking"]
    rows = pl.concat(section.contrasts(kind) for kind in ("reference", "own-reference"))
    for unit, variant in zip(units, ("with-names", "without-names"), strict=True):
        for one in unit["models"]:
            assert one["band"] == 0.05
            mine = rows.filter(model=one["model"], variant=variant)
            for column, end in (("values", "difference"), ("low", "low"), ("high", "high")):
                known = dict(mine.select("first", end).iter_rows())
                assert one[column] == [known[condition] for condition in unit["ids"]]


def test_a_model_that_failed_the_control_items_is_marked(measured, sections):
    section = sections["social-distance"]
    name = next(one for one in section.names.models if section.names.model(one) in section.models())
    failed = replace(section, competence={name: SimpleNamespace(passed=False)})
    (unit,) = explored({"social-distance": failed})
    assert [one["failed"] for one in unit["models"]] == [True, False]


def test_it_is_searched_filtered_and_sorted_and_dots_follow(browser, audited):
    with reading(browser, audited / "report.html") as tab:
        open_tab(tab, "social-distance")
        every = listed(tab)
        numbers = [number for _, number in every]
        assert numbers == sorted(numbers, reverse=True)
        menu(tab, "Sort").select_option("By name")
        assert names(tab) == sorted((name for name, _ in every), key=str.lower)
        menu(tab, "Group").select_option("rare")
        assert len(names(tab)) == 4
        assert tab.locator("#conditions .dot").count() == len(every)
        assert tab.locator("#conditions .dot:not(.off)").count() == 4
        assert tab.locator("#find [role=status]").inner_text() == f"4 of {len(every)} conditions"
        menu(tab, "Group").select_option("All groups")
        tab.get_by_label("Search all conditions").fill("asian SOUTH")
        tab.wait_for_function(f"{LISTED}.length === 1")
        assert names(tab) == ["South Asian"]
        tab.get_by_label("Search all conditions").fill("nothing like this")
        tab.wait_for_function(f"{LISTED}.length === 0")
        assert tab.locator("#conditions h3").inner_text(), "what was selected stays"


def test_what_is_chosen_is_in_the_address_and_comes_back_from_it(browser, audited, sections):
    model = sections["social-distance"].models()[1]
    with reading(browser, audited / "report.html") as tab:
        assert "#" not in tab.url
        open_tab(tab, "social-distance")
        menu(tab, "Model").select_option(model)
        menu(tab, "Group").select_option("stigmatized")
        menu(tab, "Sort").select_option("Smallest first")
        tab.locator("#conditions .row").nth(2).click()
        name = tab.locator("#conditions h3").inner_text()
        assert chosen(tab) == {
            "instrument": "social-distance", "model": model, "group": "stigmatized",
            "sort": "smallest", "condition": chosen(tab)["condition"],
        }  # fmt: skip
        tab.get_by_role("button", name=re.compile("^Read all")).click()
        tab.locator("#evidence .prompt").first.wait_for()
        assert "#evidence=social-distance/" in tab.url
        tab.keyboard.press("Escape")
        tab.wait_for_function("() => location.hash.startsWith('#find?')")
        tab.get_by_role("link", name="Copy link").click()
        tab.get_by_text(re.compile("^(Link copied|The link is in the address bar)$")).wait_for()
        link = "#" + tab.url.partition("#")[2]
        rows = listed(tab)
    with reading(browser, audited / "report.html", part=link) as tab:
        assert listed(tab) == rows
        assert tab.locator("#conditions h3").inner_text() == name
        assert menu(tab, "Model").locator("option:checked").inner_text() == model
        assert menu(tab, "Group").input_value() == "stigmatized"
        selected = tab.locator("#conditions .list [aria-selected=true] .name")
        assert selected.inner_text() == name
        assert tab.locator("#find").bounding_box()["y"] < 300
        # What no one knows stays out of the way.
        tab.evaluate("location.hash = '#find?instrument=none&group=x&sort=up&condition=%E0%A4%A'")
        assert tab.locator("#conditions .row").count() > 1


def test_a_dot_and_its_row_are_marked_together(browser, audited):
    with reading(browser, audited / "report.html") as tab:
        open_tab(tab, "social-distance")
        dot = tab.locator("#conditions .dot").nth(3)
        at = dot.get_attribute("data-at")
        dot.hover()
        row = tab.locator(f"#conditions .row[data-at='{at}']")
        assert "at" in row.get_attribute("class").split()
        assert tab.locator("#conditions .here").text_content() == row.locator(".name").inner_text()
        other = tab.locator("#conditions .row[data-at]").nth(1)
        other.hover()
        twin = tab.locator(f"#conditions .dot[data-at='{other.get_attribute('data-at')}']")
        assert "at" in twin.get_attribute("class").split()
        assert "at" not in dot.get_attribute("class").split()
        dot.click()
        assert tab.locator("#conditions h3").inner_text() == row.locator(".name").inner_text()
        assert row.get_attribute("aria-selected") == dot.get_attribute("aria-selected") == "true"


def test_arrows_go_through_dots_and_list_and_enter_selects(browser, audited):
    with reading(browser, audited / "report.html") as tab:
        open_tab(tab, "social-distance")
        tab.keyboard.press("ArrowRight")
        assert tab.evaluate("document.activeElement.getAttribute('aria-selected')") == "true"
        assert tab.evaluate("document.activeElement.textContent") != "social-distance"
        tab.keyboard.press("ArrowLeft")
        assert tab.evaluate("document.activeElement.textContent") == "social-distance"
        for box, way in ((".swarm", "ArrowLeft"), (".list", "ArrowDown")):
            door = tab.locator(f"#conditions {box} [tabindex='0']")
            assert door.count() == 1
            door.focus()
            first = tab.evaluate(HERE)
            tab.keyboard.press(way)
            tab.keyboard.press(way)
            at = tab.evaluate(HERE)
            assert at != first
            marked = tab.locator(f"#conditions [data-at='{at}'].at")
            assert marked.count() == 2, "the dot and the row"
            tab.keyboard.press("Enter")
            row = tab.locator(f"#conditions .row[data-at='{at}']")
            assert row.get_attribute("aria-selected") == "true"
            assert tab.locator("#conditions h3").inner_text() == row.locator(".name").inner_text()
            tab.keyboard.press("Home")
            tab.keyboard.press("End")
            assert tab.evaluate(HERE) != at
            assert tab.locator(f"#conditions {box} [tabindex='0']").count() == 1


def test_every_dot_and_row_has_a_name_with_its_number(browser, audited):
    with reading(browser, audited / "report.html") as tab:
        open_tab(tab, "social-distance")
        said = [
            tab.locator(f"#conditions {box} [role=option]").evaluate_all(
                "all => all.map(one => one.getAttribute('aria-label')).sort()"
            )
            for box in (".swarm", ".list")
        ]
        assert said[0] == said[1]
        assert all(re.search(r", [+−]?\d\.\d+, ", one) for one in said[0])


def test_no_two_dots_lie_on_each_other(browser, audited):
    with reading(browser, audited / "report.html") as tab:
        open_tab(tab, "people-sentiment")
        dots = tab.locator("#conditions .dot").evaluate_all(
            "all => all.map(one => [one.cx.baseVal.value, one.cy.baseVal.value, one.r.baseVal.value])"
        )
        assert len(dots) == 12
        for place, (x, y, r) in enumerate(dots):
            for u, v, s in dots[:place]:
                assert (x - u) ** 2 + (y - v) ** 2 >= (r + s) ** 2 - 0.01


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_nothing_is_wider_than_the_page_and_the_panel_has_words(browser, audited, width):
    with reading(browser, audited / "report.html", width=width) as tab:
        for instrument in ("social-distance", "care-seeking", "attribution", "people-sentiment"):
            open_tab(tab, instrument)
            tab.locator("#conditions .panel").scroll_into_view_if_needed()
            tab.locator("#conditions .panel .pairs tbody tr").first.wait_for()
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            wide = tab.evaluate(
                "[...document.querySelectorAll('#conditions *')].filter((one) =>"
                " one.getBoundingClientRect().right > innerWidth + 0.5).length"
            )
            assert wide == 0
        rows, panel = (
            tab.locator(f"#conditions .{one}").bounding_box() for one in ("list", "panel")
        )
        if width == NARROW:
            assert panel["y"] > rows["y"] + rows["height"]
        else:
            assert panel["x"] > rows["x"] + rows["width"]


def test_the_panel_has_the_most_probable_words_of_the_dialog(browser, audited):
    """The dialog's are reckoned from the answers on disk in another test."""
    with reading(browser, audited / "report.html") as tab:
        open_tab(tab, "social-distance")
        panel = tab.get_by_role("complementary", name="Evidence")
        panel.scroll_into_view_if_needed()
        rows = panel.locator(".pairs tbody tr")
        rows.first.wait_for()
        mine = [
            (row.locator("th").inner_text(), row.locator("td.n").inner_text().split()[0])
            for row in rows.all()
        ]
        assert len(mine) == 6
        blank = panel.locator(".sentence")
        answer = blank.locator("u").inner_text()
        filled = blank.inner_text().strip("“”")
        many = panel.get_by_role("button", name=re.compile("^Read all")).inner_text()
        panel.get_by_role("button", name=re.compile("^Read all")).click()
        dialog = tab.locator("#evidence")
        dialog.locator(".pairs").wait_for()
        count = re.search(r"Read all (\d+) prompts", many)[1]
        assert dialog.locator("[role=status]").inner_text().endswith(f" of {count}")
        first = dialog.locator(".pairs tbody tr").evaluate_all(
            "all => all.slice(0, 6).map(one => [one.children[0].innerText, one.children[2].innerText])"
        )
        for (word, size), (its, shown) in zip(mine, first, strict=True):
            assert word == its
            assert size in {f"{float(shown):.3f}", "<0.001"}
        asked = filled.replace(answer, "____", 1)
        dialog.get_by_label("Search the prompts").fill(max(asked.split("____"), key=len).strip())
        prompt = dialog.locator(".prompt").filter(has_text=asked)
        prompt.wait_for()
        assert prompt.locator(".words .w").first.inner_text() == answer
