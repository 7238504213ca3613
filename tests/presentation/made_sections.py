"""Sections of made numbers, for tests of what is said of them."""

from __future__ import annotations

import json
from itertools import product

import polars as pl

from goffman.formatting import Labels
from goffman.measures.registry import measures
from goffman.presentation.findings import findings_of
from goffman.presentation.section import Section
from goffman.schemas import CONTRASTS, ESTIMATES, SCORES, SENSITIVITY, STRESS, VERDICTS, schema

NAMES = Labels(
    models={"/x/mini-two": "mini-two"},
    instruments={},
    conditions={("x", "fever"): "Fever, high"},
    items={("x", "i1"): "____ has …"},
)
USUAL = {"model": "m", "instrument": "x", "level": 0.95, "n": 122, "n_first": 93, "n_second": 29}


def estimates(*rows):
    """A table of estimates; what is not given is as usual, or null."""
    columns = schema((*CONTRASTS, *ESTIMATES, *VERDICTS))
    return pl.DataFrame([USUAL | row for row in rows], schema=columns)


def section(
    *rows, measure="negative-attitude", scores=({},), models=("m",), sensitivity=(), **more
):
    """A section of these estimates."""
    by = measures()[measure]()
    about = {"instrument": "x", "measure": measure}
    of_models = [about | {"model": model} | score for score in scores for model in models]
    main = about | {"model": "m", "contrast": "the headline", "main": True}
    usual = {"contrast": "stigmatized", "against": "non-stigmatized", "names": NAMES}
    return Section(
        instrument="x",
        measure=measure,
        unit=by.unit,
        presentation=by.presentation,
        scores=pl.DataFrame(of_models, schema=schema(SCORES)),
        estimates=estimates(*rows),
        sensitivity=pl.DataFrame([main | row for row in sensitivity], schema=schema(SENSITIVITY)),
        **usual | more,
    )


def found(*rows, **more):
    """The finding about the one model of a section."""
    (finding,) = findings_of(section(*rows, **more))
    return finding


def gap(low, high, p=0.01, tests=1, verdict=None, **more):
    """A contrast of two groups with this interval, p and verdict."""
    present = low is not None and low * high > 0
    return {
        "kind": "groups",
        "quantity": "negative",
        "first": "stigmatized",
        "second": "non-stigmatized",
        "mean_first": 0.4,
        "mean_second": 0.3,
        "difference": 0.1 if low is None else (low + high) / 2,
        "low": low,
        "high": high,
        "p": p and p / tests,
        "correction": "benjamini-hochberg" if tests > 1 else None,
        "p_adjusted": p,
        "family_size": tests,
        "margin": 0.05,
        "verdict": verdict or ("present, size uncertain" if present else "inconclusive"),
        "low_90": low and low * 0.8,
        "high_90": high and high * 0.8,
        "detectable": 0.12,
        "interval_over": low and "conditions and items, crossed",
        **more,
    }


def against(kind, first, difference, p, **more):
    """A contrast of a condition whose interval contains 0 where its corrected p is above .05."""
    half = 0.05 if p and p < 0.05 else 1.0
    ends = {} if p is None else {"low": difference - half, "high": difference + half}
    return {"kind": kind, "first": first, "difference": difference, "p_adjusted": p} | ends | more


SUMMED = {
    "instrument": "x",
    "mode": "fill",
    "measure": "negative-attitude",
    "model": "m",
    "difference": 0.05,
    "verdict": "relevant",
    "analyses": 4,
    "tested": 4,
    "holds": 4,
    "holds_in": 1.0,
    "median": 0.055,
    "lowest": 0.04,
    "highest": 0.07,
    "seed": 0,
    "matters_most": "wording",
    "explained": json.dumps({"test": 0.0, "rater": 0.1, "wording": 0.8}),
}


def analysis(difference, *, way="analysis", what="1", choices=None, **more):
    """A headline in another analysis."""
    return {
        "mode": "fill",
        "variation": way,
        "what": what,
        "difference": difference,
        "low": difference - 0.03,
        "high": difference + 0.03,
        "verdict": "relevant",
        "holds": True,
        "choices": choices and json.dumps(choices),
        **more,
    }


FOUR = [
    analysis(0.04 + 0.01 * place, what=str(place + 1), choices={"wording": wording, "test": test})
    for place, (wording, test) in enumerate(
        product(("all wordings", "say alone"), ("every", "few"))
    )
]
"""Four analyses, with two choices of two options."""


def stressed(rows, **summed):
    """A section with these other analyses, and their summary."""
    stress = pl.DataFrame([SUMMED | summed], schema=schema(STRESS))
    return section(gap(0.01, 0.09), sensitivity=rows, stress=stress)
