"""Rare but neutral conditions: how much of a difference is mere rarity.

A condition that texts seldom name reads differently from one that they often name. Left-handed
people and twins are rare and not stigmatized: what is beyond them is not rarity.
"""

from __future__ import annotations

from dataclasses import replace

from goffman.estimates.conditions import groups_of_conditions
from goffman.estimates.scored import Found, Scored

RARE = "rare"
"""The group of rare but neutral conditions, in conditions.csv."""

AGAINST_RARE = "against-rare"
RARITY = "rarity"


SET_APART = "set-apart"


def groups_set_apart(scored: Scored) -> Found:
    """The two groups on a number without the words that may say how rare a condition is."""
    for says, estimate in groups_of_conditions(scored):
        yield replace(says, kind=SET_APART), estimate


def groups_against_rare(scored: Scored) -> Found:
    """The group that it is about against rare conditions, and rare ones against the other group's.

    The latter says what rarity alone does. None where an instrument has no such group.
    """
    for kind, first, second in (
        (AGAINST_RARE, scored.contrast, RARE),
        (RARITY, RARE, scored.against),
    ):
        for says, estimate in groups_of_conditions(replace(scored, contrast=first, against=second)):
            yield replace(says, kind=kind), estimate
