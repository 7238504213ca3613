"""One thing left out of tables that are made once: the very numbers that come of making them anew."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from goffman.contrasts.designs import Clusters
from goffman.contrasts.engine import PRIMARY, estimates
from goffman.instruments.types import Prompt
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.measures.responses import prompt_scores
from goffman.schemas import prompt_table
from goffman.sensitivity.variations import Headline

QUANTITIES = ("negative", "lowest", "highest", "mass", "last-probability", "rated-share")
GROUPS = {"stigmatized": 7, "non-stigmatized": 6}
ITEMS, WORDINGS = 5, ("say", "for-me", "choosing")


def scored(*, forms=1, gap=False):
    """Scores of two groups of conditions, every item in every wording."""
    rng, asked, values = np.random.default_rng(3), [], []
    for group, size in GROUPS.items():
        for c, i, wording, form in np.ndindex(size, ITEMS, len(WORDINGS), forms):
            asked.append(
                Prompt(
                    instrument="distance",
                    item=f"i{i}",
                    wording=WORDINGS[wording],
                    condition=f"{group}-{c}",
                    form=f"{c}-{form}",
                    group=group,
                    text=f"<mask> {i} {group} {c} {wording} {form}",
                )
            )
            values.append(0.3 + 0.1 * (group == "stigmatized") + rng.normal(0, 0.1))
    if gap:
        values[4] = None
    prompts = prompt_table(asked)
    given = pl.DataFrame({"prompt_id": prompts["prompt_id"], "model": "m"}).with_columns(
        pl.Series(name, values, dtype=pl.Float64) for name in QUANTITIES
    )
    reasons = dict.fromkeys(QUANTITIES, "gone")
    return prompt_scores(given, prompts, measure="negative-attitude", reasons=reasons)


def headline(each):
    measure = NegativeAttitude(contrast="stigmatized", against="non-stigmatized", margin=0.05)
    found = estimates(
        pl.concat([each, measure.aggregate(each)]),
        {"distance": measure},
        wordings={"distance": WORDINGS},
    )
    primary = found.filter(pl.col("family") == PRIMARY)
    return Headline(
        row=primary.row(0, named=True),
        measure=measure,
        wordings=WORDINGS,
        sharing=Clusters(),
    )


@pytest.mark.parametrize("forms", [1, 2])
def test_the_numbers_are_to_the_last_bit_those_of_tables_made_anew(forms, monkeypatch):
    each = scored(forms=forms)
    work = headline(each)
    tried = []
    tables = Headline._tables
    monkeypatch.setattr(
        Headline, "_tables", lambda *given: tried.append(tables(*given)) or tried[-1]
    )
    quick = list(work.without_each(work.select_scores(each)))
    assert tried[0] is not None
    monkeypatch.setattr(Headline, "_tables", lambda *_: None)
    assert quick == list(work.without_each(work.select_scores(each)))
    assert {row["variation"] for row in quick} == {"condition", "item", "wording"}
    assert len(quick) == sum(GROUPS.values()) + ITEMS + len(WORDINGS)


def test_where_a_value_is_missing_the_tables_are_made_anew(monkeypatch):
    each = scored(gap=True)
    work = headline(each)
    tried = []
    tables = Headline._tables
    monkeypatch.setattr(
        Headline, "_tables", lambda *given: tried.append(tables(*given)) or tried[-1]
    )
    assert len(list(work.without_each(work.select_scores(each)))) > ITEMS
    assert tried == [None]
