"""What is said about rare but neutral conditions, beside a difference between groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from goffman.estimates.clear import points
from goffman.presentation.findings import of_model, untested, verdict_first
from goffman.presentation.numbers import beside_said, difference_said, ends, number
from goffman.presentation.shown import plain

if TYPE_CHECKING:
    from goffman.presentation.section import Section

    Row = Mapping[str, Any]
    More = Callable[[Section, str], Iterator[str]]


def rarity(what: str) -> More:
    """How far conditions lie above rare but neutral ones, and rare ones above the others."""

    def said(section: Section, model: str) -> Iterator[str]:
        for row, sentence in _compared(section, model):
            yield f"{sentence} in the {what} ({verdict_first(row)}{difference_said(row)})."

    return said


def rarity_beside(section: Section, model: str) -> str:
    """Beside a heading about groups: whether rare but neutral conditions are any better off."""
    by_kind = {row["kind"]: row for row, _ in _compared(section, model)}
    against, mere = by_kind.get("against-rare"), by_kind.get("rarity")
    if not against or untested(against):
        return ""
    many = section.noun.many
    rare = f"{against['n_second']} rare but neutral {many}"
    if points(against) > 0:
        return (
            f"The model is also more negative about {plain(against['first'])} {many} than about "
            f"{rare} (by {_numbers(against)})."
        )
    shown = (
        f"is not shown to be more negative about {plain(against['first'])} {many} than about {{}} "
        f"(difference {_numbers(against)})."
    )
    also = ""
    if mere and points(mere) > 0:
        also = (
            f"is also more negative about {rare} than about {plain(mere['second'])} ones (by "
            f"{_numbers(mere)}), and it "
        )
    said = shown.format("the rare ones" if also else rare)
    return (
        "Part or all of this may be rarity, or something else that rare conditions share, not "
        f"stigma. The model {also}{said}"
    )


def _numbers(row: Row) -> str:
    """A difference with its interval and p."""
    interval = f"95% interval {ends(row['low'], row['high'])}"
    return f"{number(row['difference'])}, {interval}, {beside_said(row)}"


def _compared(section: Section, model: str) -> Iterator[tuple[Row, str]]:
    """Each contrast with rare but neutral conditions, and the beginning of its sentence."""
    many = section.noun.many
    for kind, what in (
        ("against-rare", "Compared with rare but neutral {many}, {first} {many} are {way}"),
        ("rarity", "Is it only rarity? Rare but neutral {many} are {way} {second} ones"),
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
            yield row, what.format(many=many, first=first, second=second, way=way)


def in_turn(*several: More) -> More:
    """The sentences of each, one after the other."""

    def said(section: Section, model: str) -> Iterator[str]:
        for one in several:
            yield from one(section, model)

    return said
