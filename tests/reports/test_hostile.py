"""Names of one's own instrument and replies of a chat model that are markup show as text."""

from __future__ import annotations

import re
import shutil

import pytest
from small_runs import one_reply
from test_browser import reading, scroll_through

from few_conditions import change_rows
from goffman.options import AskOptions
from goffman.pipeline import audit
from goffman.report.figures import figures_of, svg_of
from goffman.report.load import read_run

pytestmark = pytest.mark.slow

HOSTILE = '=1+1</script><img src=x onerror="alert(1)">&amp; ${7*7} {{7*7}}'
TURNED = f"{HOSTILE}\u202e"
SEEN = f"{HOSTILE}\\u202e"


@pytest.fixture(scope="module")
def own(tiny, shortened, tmp_path_factory):
    """The run of an instrument whose condition, title and citation are hostile."""
    base = tmp_path_factory.mktemp("own")
    instrument = shutil.copytree(shortened / "social-distance", base / "social-distance")
    change_rows(
        instrument / "conditions.csv",
        lambda rows: [
            row | ({"name": HOSTILE} if row["condition"] == rows[0]["condition"] else {})
            for row in rows
        ],
    )
    settings = instrument / "instrument.toml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(
        re.sub(r"(?m)^(title|citation) = .*$", rf"\1 = '{HOSTILE}'", text), encoding="utf-8"
    )
    folder = base / "run"
    audit(
        [str(tiny("bert"))],
        instruments=[str(instrument)],
        output=folder,
        options=AskOptions(controls=False),
        report=True,
    )
    return folder


def test_a_condition_s_own_name_and_a_title_are_text_everywhere(browser, own):
    with reading(browser, own / "report.html") as tab:
        scroll_through(tab)
        assert tab.locator("img").count() == 0
        assert tab.locator("#i-social-distance h2").inner_text() == HOSTILE
        assert HOSTILE in tab.locator("#i-social-distance .cite").inner_text()
        tab.get_by_label("Search all conditions").fill("onerror")
        option = tab.locator("#conditions .list").get_by_role("option")
        tab.wait_for_function(
            "() => document.querySelectorAll('#conditions .list [role=option]').length === 1"
        )
        assert option.locator(".name").text_content() == HOSTILE
        option.click()
        assert tab.locator("#conditions h3").inner_text() == HOSTILE
        assert tab.locator("#conditions .swarm .here").text_content() == HOSTILE
        tab.get_by_role("button", name=re.compile("^Read all")).click()
        tab.locator("#evidence .prompt").first.wait_for()
        assert tab.locator("#evidence-title").inner_text() == HOSTILE
        assert tab.locator("img").count() == 0
    figures = {one.id: one for one in figures_of(read_run(own))}
    drawing = svg_of(next(figures["social-distance-conditions"].drawn())[1])
    assert "<img" not in drawing
    assert "&lt;img" in drawing


def test_replies_are_text_in_the_evidence(browser, tmp_path):
    one_reply(tmp_path, TURNED)
    with reading(browser, tmp_path / "report.html") as tab:
        scroll_through(tab)
        panel = tab.get_by_role("complementary", name="Evidence")
        panel.scroll_into_view_if_needed()
        assert SEEN in panel.locator(".answered").inner_text()
        panel.get_by_role("button", name=re.compile("^Read all")).click()
        dialog = tab.locator("#evidence")
        dialog.locator(".prompt").first.wait_for()
        assert {*dialog.locator(".prompt .words .w").all_inner_texts()} == {SEEN}
        assert tab.locator("img").count() == 0
    assert "\u202e" not in (tmp_path / "report.html").read_text(encoding="utf-8")
