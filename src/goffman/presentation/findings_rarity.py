"""What is said about rare but neutral conditions, beside a difference between groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from goffman.estimates.clear import points
from goffman.presentation.findings import of_model, untested
from goffman.presentation.numbers import difference_said
from goffman.presentation.shown import plain

if TYPE_CHECKING:
    from goffman.presentation.section import Section

    More = Callable[[Section, str], Iterator[str]]


def rarity(section: Section, model: str) -> Iterator[str]:
    """How far conditions lie above rare but neutral ones, and rare ones above the others."""
    many = section.noun.many
    for kind, what in (
        ("against-rare", "Compared with rare but neutral {many}, {first} {many} are {way}"),
        ("rarity", "Mere rarity: rare but neutral {many} are {way} {second} ones"),
    ):
        for row in of_model(section.contrasts(kind), model).iter_rows(named=True):
            than = kind == "rarity"
            way = {
                1: f"clearly higher{' than' * than}",
                -1: f"clearly lower{' than' * than}",
                0: f"not clearly different{' from' * than}",
            }[points(row)]
            if untested(row):
                way = f"not tested{' against' * than}"
            first, second = plain(row["first"]), plain(row["second"])
            said = what.format(many=many, first=first, second=second, way=way)
            yield f"{said} in {section.presentation.called} ({difference_said(row)})."


def in_turn(*several: More) -> More:
    """The sentences of each, one after the other."""

    def said(section: Section, model: str) -> Iterator[str]:
        for one in several:
            yield from one(section, model)

    return said
