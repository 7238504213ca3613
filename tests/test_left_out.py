"""One thing left out of tables that are made once: the very numbers that come of making them anew."""

from __future__ import annotations

import numpy as np
import pytest

from goffman.contrasts.designs import Clusters
from goffman.contrasts.engine import PRIMARY, estimates
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.sensitivity.variations import Headline
from scored_rows import scored_rows, with_means

MEASURE = NegativeAttitude(contrast="stigmatized", against="non-stigmatized", margin=0.05)
QUANTITIES = ("negative", "lowest", "highest", "mass", "last-probability", "rated-share")
GROUPS = {"stigmatized": 7, "non-stigmatized": 6}
ITEMS, WORDINGS = 5, ("say", "for-me", "choosing")


def scored(*, forms=1, gap=False):
    """Scores of two groups of conditions, every item in every wording."""
    rng = np.random.default_rng(3)
    rows = [
        {"item": f"i{i}", "wording": WORDINGS[wording], "condition": f"{group}-{c}"}
        | {"form": f"{c}-{form}", "group": group}
        | {"value": 0.3 + 0.1 * (group == "stigmatized") + rng.normal(0, 0.1)}
        for group, size in GROUPS.items()
        for c, i, wording, form in np.ndindex(size, ITEMS, len(WORDINGS), forms)
    ]
    if gap:
        rows[4]["value"] = None
    return scored_rows(MEASURE, rows, QUANTITIES)


def headline(each):
    found = estimates(with_means(MEASURE, each), {"x": MEASURE}, wordings={"x": WORDINGS})
    (row,) = found.filter(family=PRIMARY).iter_rows(named=True)
    return Headline(row=row, measure=MEASURE, wordings=WORDINGS, sharing=Clusters())


@pytest.fixture
def tried(monkeypatch):
    """The results of each attempt to make tables once."""
    results, tables = [], Headline._tables
    monkeypatch.setattr(
        Headline, "_tables", lambda *given: results.append(tables(*given)) or results[-1]
    )
    return results


@pytest.mark.parametrize("forms", [1, 2])
def test_the_numbers_are_to_the_last_bit_those_of_tables_made_anew(forms, tried, monkeypatch):
    each = scored(forms=forms)
    work = headline(each)
    quick = list(work.without_each(work.select_scores(each)))
    assert tried[0] is not None
    monkeypatch.setattr(Headline, "_tables", lambda *_: None)
    assert quick == list(work.without_each(work.select_scores(each)))
    assert {row["variation"] for row in quick} == {"condition", "item", "wording"}
    assert len(quick) == sum(GROUPS.values()) + ITEMS + len(WORDINGS)


def test_where_a_value_is_missing_the_tables_are_made_anew(tried):
    each = scored(gap=True)
    work = headline(each)
    assert len(list(work.without_each(work.select_scores(each)))) > ITEMS
    assert tried == [None]
