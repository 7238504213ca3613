"""The outcomes of a headline's analyses → one row of STRESS: what they come to."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from goffman.analysis.multiverse import ANALYSIS, LABELS, RATES
from goffman.estimates.exchangeable import SAID
from goffman.estimates.verdict import CLEAR_WORDS
from goffman.multiverse_columns import NUMBER
from goffman.stats.multiverse import different, explained, median_shuffled

if TYPE_CHECKING:
    from goffman.estimates.exchangeable import Exchangeable


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One analysis, done."""

    row: Mapping[str, Any]
    """The columns MULTIVERSE."""
    units: Exchangeable | None = None
    """What could be shuffled in it; None: nothing, or it is no part of the multiverse."""


def holds(row: Mapping[str, Any], headline: Mapping[str, Any]) -> bool:
    """Whether the headline's verdict holds in an analysis.

    A clear difference holds where it is clear and points the same way, whatever its size; any
    other verdict where it is the same. What could not be tested does not hold.
    """
    if headline["verdict"] not in CLEAR_WORDS:
        return bool(row["verdict"] == headline["verdict"])
    same_way = (row.get("difference") or 0.0) * headline["difference"] > 0
    return row.get("verdict") in CLEAR_WORDS and same_way


def none_of(headline: Mapping[str, Any], reason: str, *, seed: int) -> dict[str, Any]:
    """The row of a headline that has no multiverse."""
    return _about(headline) | {
        **dict.fromkeys(("analyses", "tested", "holds", "clear"), 0),
        "seed": seed,
        "reason": reason,
    }


def summed_up(
    headline: Mapping[str, Any], outcomes: Sequence[Outcome], *, seed: int
) -> dict[str, Any]:
    """The row of a headline with a multiverse."""
    mine = [one for one in outcomes if one.row["way"] == ANALYSIS]
    rows = different([one.row for one in mine])
    holding = sum(one["holds"] for one in rows)
    alike = [one for one in mine if _number(one) == _number(mine[0])]
    every = [one.row for one in alike]
    differences = [
        one["difference"] for one in different(every) if one.get("difference") is not None
    ]
    found = _about(headline) | {
        "analyses": len(rows),
        "tested": sum(one.get("verdict") is not None for one in rows),
        "holds": holding,
        "holds_in": holding / len(rows) if len(rows) > 1 else None,
        "clear": sum(one.get("verdict") in CLEAR_WORDS for one in rows),
        "seed": seed,
        "overturned_at": overturned([one.row for one in outcomes if one.row["way"] == LABELS]),
        "reason": None if len(rows) > 1 else "its measure names nothing that could be chosen",
    }
    if len(rows) > 1 and differences:
        found |= {
            "median": statistics.median(differences),
            "lowest": min(differences),
            "highest": max(differences),
        }
        found |= _choices(every) | _shuffled(alike, seed=seed)
    return found


def _number(outcome: Outcome) -> str | None:
    """Which number an analysis compares, where there is a choice; the audit's own comes first."""
    chosen: dict[str, str] = json.loads(outcome.row["choices"] or "{}")
    return chosen.get(NUMBER)


def _about(headline: Mapping[str, Any]) -> dict[str, Any]:
    names = ("instrument", "measure", "model", "difference", "verdict")
    return {name: headline[name] for name in names}


def _choices(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How much each choice explains, and which one most."""
    known = [one for one in rows if one.get("difference") is not None]
    values = [one["difference"] for one in known]
    chosen = [json.loads(one["choices"]) for one in known]
    names = [name for name in chosen[0] if name != NUMBER]
    shares = {name: explained(values, [one[name] for one in chosen]) for name in names}
    there = {name: share for name, share in shares.items() if share is not None}
    return {
        "matters_most": max(there, key=lambda name: there[name]) if there else None,
        "explained": json.dumps(there) if there else None,
    }


def _shuffled(outcomes: Sequence[Outcome], *, seed: int) -> dict[str, Any]:
    """The permutation test of the median."""
    units = [one.units for one in outcomes if one.units is not None and one.units.counts]
    if not units:
        return {}
    labels = {name: label for one in units for name, label in one.labels.items()}
    names = sorted(labels)
    sums, counts = (
        np.array([[getattr(one, what).get(name, 0.0) for name in names] for one in units])
        for what in ("sums", "counts")
    )
    tested = median_shuffled(
        sums,
        counts,
        np.array([labels[name] for name in names]),
        shuffling=units[0].shuffling,
        rng=np.random.default_rng(seed),
    )
    return {"permutation_p": tested.p, "shuffled": SAID[units[0].what], "draws": tested.draws}


def overturned(rows: Sequence[Mapping[str, Any]]) -> float | None:
    """The smallest share of wrong labels with which the verdict holds in less than half the draws.

    None: with no share that was tried, or nothing was drawn.
    """
    for rate in RATES:
        drawn = [one["holds"] for one in rows if one["rate"] == rate]
        if drawn and 2 * sum(drawn) < len(drawn):
            return rate
    return None
