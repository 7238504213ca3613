"""One main result for each instrument and model, whatever modes it was asked in."""

from __future__ import annotations

from pathlib import Path

import pytest

from goffman.instruments.loader import builtin_names, load_instrument
from goffman.models.registry import model_kinds
from goffman.modes import PREFERENCE, modes_of, primary_modes
from pinned.runs import RUNS

APPROVED = Path(__file__).parent / "pinned" / "approved"

EXPECTED = {
    "social-distance": {"masked": "fill", "causal": "choice", "chat": "choice"},
    "care-seeking": {"masked": "fill", "causal": "completion", "chat": "completion"},
    "attribution": {"masked": "fill", "causal": "choice", "chat": "choice"},
    "people-sentiment": {"classifier": "classify", "causal": "choice", "chat": "choice"},
    "coreference": {"masked": "pronouns", "causal": "pronouns", "chat": "choice"},
    "vignettes": {"causal": "choice", "chat": "choice"},
    "decisions": {"causal": "choice", "chat": "choice"},
    "two-people": {"qa": "span", "nli": "entailment", "causal": "choice", "chat": "choice"},
}
"""By instrument and kind of model on this machine: the mode of its main result."""


@pytest.mark.parametrize("name", builtin_names())
def test_each_instrument_has_a_primary_mode_for_each_kind_of_model(name):
    found = {}
    for kind, row in model_kinds().items():
        asked = [one for one in modes_of(load_instrument(name)) if row.table_for(one.kind)]
        best = primary_modes((name, str(one.mode), "m") for one in asked)
        found |= {kind: best[name, "m"]} if best else {}
    assert found == EXPECTED[name]


def test_a_server_that_gives_no_probabilities_has_its_replies_as_the_main_result():
    asked = [("social-distance", mode, "m") for mode in ("completion", "reply")]
    assert primary_modes(asked) == {("social-distance", "m"): "reply"}
    assert primary_modes([*asked, ("social-distance", "choice", "m")]).popitem()[1] == "choice"


def test_every_mode_has_its_place():
    modes = {str(one.mode) for name in builtin_names() for one in modes_of(load_instrument(name))}
    assert modes <= {*PREFERENCE}


@pytest.mark.parametrize("run", ["chat", "causal", "chat-pairs", "chat-people"])
def test_the_summary_has_one_main_result_for_each_instrument_and_model(run):
    said = (APPROVED / run / "said.txt").read_text().partition("# Findings")[0]
    summary = said.partition("# Summary")[2]
    heads = [line.split(", ") for line in summary.splitlines() if line[:1].strip() and ", " in line]
    main = [(asked.split("/")[0], model) for asked, model, *_ in heads]
    models, instruments, _ = RUNS[run]
    assert len(main) == len({*main}) == len(models) * len(instruments)
