"""The report of a chat model behind a server: what a reader must know to doubt its numbers."""

from __future__ import annotations

import html
import re

import pytest
from small_runs import one_reply

from goffman.models.base import Sampling
from goffman.report.figures import figures_of
from goffman.report.load import read_run
from goffman.report.page import about_run, contrast_rows


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """A run of a server that says the same to all, and its page as text."""
    folder = tmp_path_factory.mktemp("chat-run")
    done = one_reply(
        folder,
        "unsure",
        pairs=4,
        adjectives=("tough,understanding", ",blond"),
        sampling=Sampling(temperature=0.7, max_tokens=9),
        parser="as-published",
    )
    return read_run(folder), done.report.read_text(encoding="utf-8")


def test_the_page_says_by_which_parser_and_how_replies_were_drawn(reported):
    run, page = reported
    about = about_run(run)
    assert about["lexicons"][-1] == "Replies: read by the parser as-published."
    (model,) = about["models"]
    assert model["shown"] == "mini"
    address = model["name"].partition("#")[0]
    assert model["facts"] == [
        ("device", "server"),
        ("address", address),
        ("temperature", "0.7"),
        ("max tokens", "9"),
        ("answered as", "mini"),
    ]
    text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))
    assert "Replies: read by the parser as-published." in text


def test_settings_are_called_alike_over_trials_and_over_sentence_pairs(reported):
    run, _ = reported
    (part,) = run.sections.values()
    tables = {table["title"]: table["rows"] for table in contrast_rows(part)}
    over_trials = tables["Compared with the baseline, over trials of these sentences"]
    assert {row["what"] for row in over_trials} == {
        "(none) / blond − no adjectives",
        "tough / understanding − no adjectives",
    }
    (figure,) = [one for one in figures_of(run) if one.id.endswith("against-baseline")]
    settings = {row["setting"] for row in figure.spec["data"]["values"]}
    assert settings == {"(none) / blond", "tough / understanding"}


def test_the_replies_that_a_bias_rests_on_are_said(reported):
    run, _ = reported
    details = run.summary.details
    assert any("1.00 are unsure" in line for line in details)
