"""A page of many models: a line of glyphs each, large figures packed."""

from __future__ import annotations

import base64
import gzip
import json
import re
from types import SimpleNamespace

import pytest
from test_browser import NARROW, WIDE, reading, scroll_through

from goffman.report import overview, page
from goffman.report.load import read_run
from goffman.report.write import write_report


def test_a_large_figure_is_packed_and_a_small_one_is_not():
    small = SimpleNamespace(spec={"data": {"values": [{"a": "<"}]}})
    large = SimpleNamespace(spec={"data": {"values": [{"a": n} for n in range(page.LARGE)]}})
    kind, text = page._spec(small)
    assert kind == "application/json"
    assert json.loads(text) == small.spec
    kind, text = page._spec(large)
    assert kind == "text/plain"
    assert json.loads(gzip.decompress(base64.b64decode(text))) == large.spec
    assert len(text) < len(json.dumps(large.spec)) / 3


@pytest.mark.slow
def test_many_models_have_a_line_each_and_every_packed_figure_is_drawn(
    browser, little, monkeypatch
):
    monkeypatch.setattr(page, "MANY", 0)
    monkeypatch.setattr(overview, "MANY", 0)
    monkeypatch.setattr(page, "LARGE", 0)
    path = write_report(little).page
    text = path.read_text(encoding="utf-8")
    sections = read_run(little).sections
    assert 'type="application/json" id="spec-' not in text
    specs = re.findall(r'type="text/plain" id="spec-', text)
    for width in (WIDE, NARROW):
        with reading(browser, path, width=width) as tab:
            assert tab.locator("table.glyphs tbody tr").count() == 1
            assert tab.locator("table.glyphs tbody td").count() == len(sections)
            assert tab.locator(".result").count() == 0
            assert tab.locator(".verdict-row").count() == 0
            scroll_through(tab)
            assert tab.locator(".live svg.marks").count() == len(specs) > 3
            tab.locator("[data-numbers]").first.click()
            tab.locator(".numbers table tbody tr").first.wait_for()
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
