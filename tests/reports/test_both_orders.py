"""The evidence of a question with options: both orders in neighboring columns, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_browser import reading

from chat_server import Answer, ChatServer, completion, with_probabilities
from few_conditions import with_few_conditions
from goffman.modes import of_asked
from goffman.options import AskOptions
from goffman.pipeline import audit
from goffman.report.evidence import unpacked
from goffman.runs.run import read_prompts

pytestmark = pytest.mark.slow

WEIGHTS = {"B": 0.5, "A": 0.25, "C": 0.125, "The": 0.0625}


async def behave(request):
    body = with_probabilities(completion("B, I think"), [("B", WEIGHTS)], top=20)
    return Answer(body=body)


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("orders")
    few = with_few_conditions("social-distance", folder / "social-distance", each=2)
    with ChatServer(behave) as server:
        done = audit(
            [f"{server.url}#mini"],
            instruments=[str(few)],
            output=folder / "run",
            options=AskOptions(modes=("reply", "choice"), controls=False, sample="all"),
            report=True,
        )
    assert done.report is not None
    return done.report


def test_every_prompt_stands_with_the_same_question_in_the_other_order(page):
    text = page.read_text()
    prompts = read_prompts(page.parent)
    for name, block in zip(
        re.search(r'"evidence": ?\[([^\]]*)\]', text)[1].replace('"', "").split(","),
        re.findall(r'id="evidence-\d+">([^<]*)<', text),
        strict=True,
    ):
        header, numbers = unpacked(block)
        own = prompts.filter(of_asked(name.strip()))
        pairs: dict[int, list[dict[str, object]]] = {}
        for question, row in zip(numbers["question"], own.to_dicts(), strict=True):
            pairs.setdefault(int(question), []).append(row)
        assert {header["orders"][one] for one in numbers["order"]} == {"forward", "reversed"}
        for one in pairs.values():
            assert sorted(str(row["order"]) for row in one) == ["forward", "reversed"]
            same = [{row["item"], row["condition"], row["wording"], row["form"]} for row in one]
            assert same[0] == same[1]


def test_the_reader_sees_reply_reading_and_probabilities_of_both_orders_side_by_side(browser, page):
    with reading(browser, page) as tab:
        button = tab.get_by_role("button", name=re.compile("^Read all .* questions"))
        tab.locator("#conditions .panel").scroll_into_view_if_needed()
        answered = tab.locator("#conditions .panel .answered")
        assert "B, I think (read as B" in answered.inner_text(), "the reply, not an option"
        button.click()
        card = tab.locator("dialog .prompt").first
        card.wait_for()
        columns = card.locator(".order")
        assert columns.locator("h3").all_inner_texts() == ["Order: forward", "Order: reversed"]
        boxes = [columns.nth(at).bounding_box() for at in range(2)]
        assert boxes[0]["y"] == boxes[1]["y"]
        assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
        options = [columns.nth(at).locator(".options").inner_text() for at in range(2)]
        first = [re.findall(r"^[A-D]\. (.*)$", text, re.MULTILINE) for text in options]
        assert len(first[0]) == 4
        assert first[0] == first[1][::-1]
        assert "\\n" not in card.inner_text()
        assert "A. " not in card.locator(".sentence").inner_text()
        words = columns.first.locator(".words li").all_inner_texts()
        # One trial as it was read, then five options and what lies on none.
        assert len(words) == 7
        assert "B, I think" in words[0]
        assert "read as B" in words[0]
        assert card.get_by_text("read as B").first.bounding_box()["width"] > 20
        assert "0.5" in words[2]
        assert "code 0.33" in words[2]
        assert "(no option)" in words[-1]
