"""What a model says of groups and what it would advise: correlated, and without their errors."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from goffman.contrasts.correlations import by_condition, correlate_measures
from goffman.measures.multiple_choice import MeanCode
from goffman.schemas import SCORES, schema
from goffman.stats.crossed import components

N = 40


def scores_of(
    instrument: str, table: np.ndarray, *, kept: np.ndarray | None = None
) -> pl.DataFrame:
    """SCORES of conditions, and of prompts of conditions × items × wordings."""
    base, _, mode = instrument.partition("/")
    about = {"model": "m", "instrument": base, "mode": mode or None}
    about |= {"measure": "mean-code", "quantity": "code"}
    about |= {"group": "stigmatized", "n": 1, "missing": 0}
    rows = []
    for place, cells in enumerate(table):
        there = np.ones(cells.shape, bool) if kept is None else kept[place]
        of = about | {"condition": f"c{place:03}"}
        rows.append(of | {"level": "condition", "value": float(cells[there].mean())})
        for (item, wording), value in np.ndenumerate(cells):
            if there[item, wording]:
                cell = {"item": f"i{item:02}", "wording": f"w{wording}", "value": float(value)}
                rows.append(of | cell | {"level": "prompt"})
    return pl.DataFrame(rows, schema=schema(SCORES))


@pytest.fixture
def tables() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    true = rng.standard_normal((N, 1, 1))
    says = true + rng.standard_normal((N, 5, 2))
    advises = 0.7 * true + 0.5 * rng.standard_normal((N, 1, 1)) + rng.standard_normal((N, 6, 2))
    return says, advises


def test_saying_and_advising_are_corrected_for_both_reliabilities(tables) -> None:
    says, advises = tables
    scores = pl.concat(
        [scores_of("social-distance/choice", says), scores_of("decisions/choice", advises)]
    )
    measures = {name: MeanCode() for name in ("social-distance/choice", "decisions/choice")}
    ((contrast, found),) = correlate_measures(scores, measures, [])
    assert contrast.first == "mean-code by social-distance/choice of m"
    assert contrast.second == "mean-code by decisions/choice of m"
    r = stats.pearsonr(says.mean(axis=(1, 2)), advises.mean(axis=(1, 2))).statistic
    by = math.sqrt(components(says).generalizability * components(advises).generalizability)
    assert found.effect == pytest.approx(r)
    assert found.second_effect == pytest.approx(r / by)
    assert found.second_effect_low == pytest.approx(found.effect_low / by)
    assert found.second_effect_name == "r of true scores"


def test_forms_that_share_their_sentences_are_not_corrected(tables) -> None:
    says, advises = tables
    scores = pl.concat([scores_of("decisions/choice", says), scores_of("decisions/reply", advises)])
    measures = {name: MeanCode() for name in ("decisions/choice", "decisions/reply")}
    ((_, found),) = correlate_measures(scores, measures, [])
    assert found.effect is not None
    assert found.second_effect is None


def test_items_of_its_own_for_each_condition_give_errors_in_place_of_a_table() -> None:
    """As decisions are asked through a server: four of 24 situations each, in turn."""
    rng = np.random.default_rng(2)
    n = 300
    true, items = rng.standard_normal((n, 1, 1)), rng.standard_normal((1, 24, 1))
    table = true + 0.5 * items + rng.standard_normal((n, 24, 1))
    turns = [[(4 * place + step) % 24 for step in range(4)] for place in range(n)]
    kept = np.array([[[at in mine] for at in range(24)] for mine in turns])
    (answers,) = by_condition(
        scores_of("decisions/choice", table, kept=kept), "decisions/choice", MeanCode()
    )
    assert answers.table is None
    errors = [table[place, mine, 0].std(ddof=1) / 2 for place, mine in enumerate(turns)]
    assert answers.errors == pytest.approx(errors)
    share = 1 - np.mean(np.square(errors)) / answers.values.var(ddof=1)
    assert answers.reliability(answers.conditions) == pytest.approx(share)
    # The part of the variance that is true, as it was made: 1 of 1 + (.25 + 1)/4.
    assert share == pytest.approx(1 / (1 + 1.25 / 4), abs=0.06)


def test_a_few_gaps_give_neither_table_nor_errors(tables) -> None:
    says, _ = tables
    kept = np.ones(says.shape, bool)
    kept[0, 0, :] = False
    (answers,) = by_condition(
        scores_of("decisions/choice", says, kept=kept), "decisions/choice", MeanCode()
    )
    assert (answers.table, answers.errors) == (None, None)
    assert answers.reliability(answers.conditions) is None
