"""The draws of outside_generators.py, taken through goffman's own contrasts: a second calibration.

The generators were written from the definitions alone, by someone who had not seen this code.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from goffman.contrasts.catalog import (
    group_against_compared,
    groups_of_conditions,
    levels,
    over_wordings,
    women_against_men,
)
from goffman.contrasts.designs import Clusters, Contrast, correlated
from goffman.contrasts.engine import ContrastSpec, estimates
from goffman.contrasts.verdict import NEGLIGIBLE
from goffman.instruments.types import BASELINE
from goffman.measures.multiple_choice import CodeByGender
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.measures.pronoun_preference import PronounPreference
from goffman.measures.vignettes import VignetteCode
from goffman.schemas import SCORES, schema
from outside_generators import SCENARIOS, Scenario

COMMON = {"level": "prompt", "n": 1, "missing": 0, "instrument": "x", "measure": "x", "model": "m"}
KEYS = ["condition", "category", "group", "item", "wording"]


def interval(scenario: Scenario, drawn: dict[str, np.ndarray]) -> tuple[float, float, str]:
    """Return the ends of the 95% interval, and the verdict, of one simulated audit."""
    rows = pl.DataFrame(drawn)
    if scenario.design == "correlation":
        says = Contrast(
            kind="measures", instrument="x", measure="x", quantity="x", first="a", second="b"
        )
        sides = rows["value"].to_list(), rows["people"].to_list()
        found = correlated(says, *sides, rows["category"].to_list())
        return float(found.effect_low or 0), float(found.effect_high or 0), ""
    measure, rows, sharing = _made(scenario, rows)
    scores = rows.with_columns(**{name: pl.lit(value) for name, value in COMMON.items()})
    missing = [name for name in schema(SCORES) if name not in scores.columns]
    scores = scores.with_columns(pl.lit(None).alias(name) for name in missing)
    scores = scores.select(pl.col(name).cast(kind) for name, kind in schema(SCORES).items())
    wordings = scores["wording"].unique(maintain_order=True).to_list()
    made = estimates(scores, {"x": measure}, wordings={"x": wordings}, sharing={"x": sharing})
    (row,) = made.filter(pl.col("family") == "primary").iter_rows(named=True)
    return row["low"], row["high"], row["verdict"]


def _made(scenario: Scenario, rows: pl.DataFrame) -> tuple[object, pl.DataFrame, Clusters]:
    """Return the measure, its scores and what these share."""
    named = pl.col("group").replace({"first": "stigmatized", "second": "non-stigmatized"})
    gaps = _only(NegativeAttitude, groups_of_conditions, "negative", scenario)
    if scenario.design == "pairs":
        items = [f"p{place}" for place in range(rows.height)]
        ways = dict(zip(items, rows.select("frame", "referent", "other").rows(), strict=True))
        signs = dict(zip(items, rows["sign"].cast(pl.Float64).to_list(), strict=True))
        measure = _only(PronounPreference, levels, "preference", scenario)
        # The number is of the pronoun that fits the stereotype; these are of one and the same.
        pairs = rows.select(value=pl.col("value") * pl.col("sign"), item=pl.Series(items)).with_columns(
            quantity=pl.lit("preference"), condition=pl.lit(BASELINE), group=pl.lit(BASELINE),
            wording=pl.lit("pro"),
        )  # fmt: skip
        return measure, pairs, Clusters(ways=ways, signs=signs)
    if scenario.design == "vignettes":
        # A text is what is drawn, and the disorder that it describes its category.
        texts = rows.with_columns(category=pl.col("condition"), condition=pl.col("text"))
        if scenario.name.endswith("_drawn"):
            return gaps, texts.with_columns(named, quantity=pl.lit("negative")), _families(rows)
        measure = _only(VignetteCode, over_wordings(group_against_compared), "code", scenario)
        called = {"first": measure.contrast, "second": measure.against}  # type: ignore[attr-defined]
        texts = texts.with_columns(pl.col("group").replace(called), quantity=pl.lit("code"))
        return measure, texts, _families(rows)
    if scenario.design == "genders":
        measure = _only(CodeByGender, women_against_men, "code", scenario)
        described = rows.with_columns(group=pl.lit(measure.contrast), quantity=pl.col("gender"))  # type: ignore[attr-defined]
        return measure, described, Clusters()
    if scenario.design == "groups-of-genders":
        sides = [rows.filter(pl.col("gender") == one) for one in ("female", "male")]
        both = sides[0].join(sides[1].select(*KEYS, other="value"), on=KEYS)
        rows = both.with_columns(value=pl.col("value") - pl.col("other"))
    return gaps, rows.with_columns(named, quantity=pl.lit("negative")), _families(rows)


def _only(base: type, make: ContrastSpec, of: str, scenario: Scenario) -> object:
    """Return the measure with this contrast alone, which is then its main one."""
    main = make.kind, make.quantity or of
    made = type(base.__name__, (base,), {"contrasts": ((of, (make,)),), "primary_contrast": main})
    return made(margin=scenario.delta)


def _families(rows: pl.DataFrame) -> Clusters:
    return Clusters(families=dict(rows.select("wording", "family").unique().rows()))


def rates(name: str, runs: int) -> str:
    """Return a row of the table: false findings, coverage and verdicts at a true margin, power."""
    scenario = SCENARIOS[name]
    false, covered, negligible, found = [], [], [], []
    for number in range(runs):
        low, high, _ = interval(scenario, scenario.draw(np.random.default_rng([3, number]), 0.0))
        false.append(low > 0 or high < 0)
        rng = np.random.default_rng([4, number])
        low, high, word = interval(scenario, scenario.draw(rng, scenario.delta))
        covered.append(low <= scenario.delta <= high)
        negligible.append(word == NEGLIGIBLE)
        found.append(low > 0 or high < 0)
    shares = (false, covered, negligible, found)
    return f"| {name} | {' | '.join(f'{np.mean(of):.3f}' for of in shares)} |"
