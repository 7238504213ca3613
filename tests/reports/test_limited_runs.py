"""A run of a few prompts can be stressed, shown, compared, checked and exported, whatever it is of.

With few conditions or items much cannot be tested, and much of what can has no interval.
"""

from __future__ import annotations

import html
import re
import shutil
from functools import cache

import polars as pl
import pytest
import torch
from small_runs import make_manifest_agree

from chat_server import Answer, ChatServer, completion, said
from goffman.report import figures
from goffman.report.load import read_run
from goffman.sensitivity.variations import holds
from in_process import goffman
from tiny_chat import make_causal

KINDS = {
    "fill": ("social-distance", "care-seeking", "attribution", "coreference"),
    "classify": ("people-sentiment",),
    "causal": (
        "social-distance",
        "people-sentiment",
        "care-seeking",
        "attribution",
        "coreference",
        "vignettes",
        "decisions",
    ),
}
KINDS |= {"chat": KINDS["causal"], "server": KINDS["causal"]}
"""By who is asked: the instruments that it can answer. Each is asked every form that it can."""

LIMITS = (1, 24, 102)

REPLIES = ("A", "B", "unsure", "the first one", "woman", "likely", "I can't answer that.", "")
"""What the server says, in turn by question: of options, of words, and none of them."""


async def _reply(request):
    text = REPLIES[int(said(request), 16) % len(REPLIES)]
    if not text:
        # The last word of the question, with a full stop: now and then it is an answer.
        text = f"The {request.text.split()[-1].strip('?.')} is one."
    return Answer(body=completion(text))


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """The model of a kind, as it is named."""
    torch.set_num_threads(1)
    base = tmp_path_factory.mktemp("models")
    with ChatServer(_reply) as server:

        @cache
        def name(kind):
            if kind in {"causal", "chat"}:
                return str(make_causal("llama", base / kind, chat=kind == "chat", end_bias=2.0))
            return {
                "fill": "bundled:mini",
                "classify": "bundled:mini-sentiment",
                "server": f"{server.url}#one",
            }[kind]

        yield name


def goes_well(*arguments):
    done = goffman(*arguments)
    assert done.returncode == 0, done.stderr
    assert "could not be shown" not in done.stderr
    return done


def goes_on(run, *audited):
    """Whatever can be done with the run is done; ``audited``: the command that made it."""
    goes_well(*audited)
    goes_well("stress", run, "--workers", "1")
    goes_well("report", run)
    goes_well("audit", *audited[1:])
    other = shutil.copytree(run, run.with_name("other"))
    goes_well("compare", run, other, "--output", run.with_name("compared.html"))
    goes_well("check", run, "--list")
    goes_well("check", run, "--baseline", other, "--list")
    for target in ("model-card", "lm-eval"):
        goes_well("export", run, "--to", target, "--output", run.with_name(target))
    goes_well("export", run, "--to", "paper", "--output", run.with_name("paper"))


README = ("audit", "bundled:mini", "--instrument", "care-seeking", "--limit", "102", "--output")


@pytest.fixture(scope="module")
def stressed(tmp_path_factory):
    """The first run of the README, with which all was done; never written to."""
    run = tmp_path_factory.mktemp("readme") / "run"
    goes_on(run, *README, run)
    return run


def test_the_first_run_of_the_readme_goes_on(stressed):
    goes_well("stress", stressed, "--workers", "1", "--no-report")
    rows = read_run(stressed).stressed[0]
    assert rows.height
    # What has no interval has no verdict, and does not hold.
    assert (rows["low"].is_null() == rows["verdict"].is_null()).all()
    assert not rows.filter(pl.col("low").is_null())["holds"].any()


@pytest.fixture
def unshowable(stressed, tmp_path):
    """The same run with a table that is sound and has what no page can show."""
    run = shutil.copytree(stressed, tmp_path / "run")
    table = pl.read_parquet(run / "stress.parquet").with_columns(explained=pl.lit("{"))
    table.write_parquet(run / "stress.parquet")
    make_manifest_agree(run)
    return run


NOT_SHOWN = (
    "multiverse.parquet and stress.parquet could not be shown (JSONDecodeError: Expecting property "
    "name enclosed in double quotes: line 1 column 2 (char 1)). Everything else is there. Please "
    "report this."
)


def test_a_page_survives_a_table_that_it_cannot_show(unshowable):
    before = (unshowable / "report.html").read_text()
    assert 'data-tab="Other analyses"' in before
    for command in (("report", unshowable), (*README, unshowable)):
        done = goffman(*command)
        assert done.returncode == 0, done.stderr
        assert done.stderr.splitlines()[-1] == NOT_SHOWN
        page = html.unescape((unshowable / "report.html").read_text())
        assert NOT_SHOWN in page
        assert 'data-tab="Other analyses"' not in page
        assert re.search("mental health (than for|and) other diagnoses", page)
    # What does not show it says nothing of it.
    goes_well("compare", unshowable, shutil.copytree(unshowable, unshowable.with_name("other")))
    goes_well("export", unshowable, "--to", "lm-eval")


def test_a_paper_survives_a_table_that_it_cannot_show(stressed, tmp_path):
    run = shutil.copytree(stressed, tmp_path / "run")
    table = pl.read_parquet(run / "multiverse.parquet").with_columns(choices=pl.lit("{"))
    table.write_parquet(run / "multiverse.parquet")
    make_manifest_agree(run)
    done = goffman("export", run, "--to", "paper", "--output", tmp_path / "paper")
    assert done.returncode == 0
    assert done.stderr.splitlines()[0] == NOT_SHOWN
    assert not [*tmp_path.glob("paper/figures/*-analyses.*")]
    assert (tmp_path / "paper" / "README.md").is_file()


def test_analyses_that_cannot_be_shown_are_not_kept(stressed, tmp_path, monkeypatch):
    run = shutil.copytree(stressed, tmp_path / "run")
    before = {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()}
    monkeypatch.setattr(figures, "curve", lambda section: [section.no_such_thing])
    done = goffman("stress", run, "--workers", "1", "--seed", "5")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        f"The other analyses of {run} could not be shown (AttributeError: 'Section' object has no "
        "attribute 'no_such_thing'), so they were not kept. The run is as it was. Please report "
        "this."
    )
    after = {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()}
    assert {name for name in after if after[name] != before.get(name)} <= {"manifest.json"}


def test_a_verdict_does_not_hold_where_nothing_is_left_to_compare():
    for verdict in ("inconclusive", "negligible", "present, size uncertain", "relevant"):
        headline = {"verdict": verdict, "difference": 0.1}
        assert not holds({"reason": "nothing is left to compare"}, headline)


@pytest.mark.slow
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize(
    ("kind", "instrument"), [(kind, one) for kind, several in KINDS.items() for one in several]
)
def test_a_run_of_a_few_prompts_goes_on(kind, instrument, limit, named, tmp_path):
    run = tmp_path / "run"
    asked = (named(kind), "--instrument", instrument, "--no-controls", "--limit", str(limit))
    goes_on(run, "audit", *asked, "--output", run)
