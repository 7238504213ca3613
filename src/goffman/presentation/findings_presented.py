"""What is said first about questions with options: what their presentation does to the answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from goffman.estimates.clear import points
from goffman.presentation.findings import of_model
from goffman.presentation.findings_agreement import agreement_said
from goffman.presentation.numbers import ends, number
from goffman.presentation.shown import plain
from goffman.presentation.styles import UNSEEN, shares, styles

if TYPE_CHECKING:
    from goffman.presentation.section import Section

    Row = Mapping[str, Any]

_MOVES = {
    "order": "listing the most stigmatizing option first instead of last",
    "keying": "putting a statement so that agreeing means more instead of less stigma",
}


def style_said(section: Section, model: str) -> str:
    """What a model does whatever it is asked, as a heading; empty: nothing of the kind."""
    found = list(styles(section, model))
    return "; ".join([*found[:1], *(f"{one[0].lower()}{one[1:]}" for one in found[1:])])


def presentation_said(section: Section, model: str) -> str:
    """How far order, keying and wording move the number, each with its interval."""
    moving = [
        (what, row)
        for kind, what in _MOVES.items()
        for row in of_model(section.contrasts(kind), model).iter_rows(named=True)
    ]
    said = [f"{what} moves it by {_moved(row)}" for what, row in moving]
    said += _wordings(section, model)
    agreed = agreement_said(section, model)
    if not said:
        return (
            f"{agreed}The effect of the presentation on the mean code is unknown, because there "
            "was only one presentation."
        )
    worded = of_model(section.contrasts("wordings"), model).iter_rows(named=True)
    # What is the same for every question has no interval, and changes the number all the same.
    clear = any(
        points(row) or (row["low"] is None and row["difference"])
        for row in (*(row for _, row in moving), *worded)
    )
    does = "changes" if clear else "does not clearly change"
    return f"{agreed}The presentation alone {does} the mean code: {'; '.join(said)}."


def _moved(row: Row) -> str:
    if row["low"] is None:
        return f"{number(row['difference'])} (no interval)"
    unsettled = "" if points(row) else ", not clear"
    return f"{number(row['difference'])} (95% interval {ends(row['low'], row['high'])}{unsettled})"


def _wordings(section: Section, model: str) -> Iterator[str]:
    """The wording that moves the number furthest from that of the first one."""
    rows = of_model(section.contrasts("wordings"), model)
    furthest = sorted(rows.iter_rows(named=True), key=lambda row: -abs(row["difference"]))
    for row in furthest[:1]:
        most = ", the most of all" if rows.height > 1 else ""
        yield (
            f"the wording “{plain(row['first'])}” instead of “{plain(row['second'])}” moves it by "
            f"{_moved(row)}{most}"
        )


def answering_said(section: Section, model: str) -> Iterator[str]:
    """How much of what a model says is an answer, and how much of that is the first option."""
    share = shares(section, model)
    if "elsewhere" in share:
        out = share.get("way-out")
        offered = f"; {number(out)} lies on not answering" if out is not None else ""
        yield (
            f"On average, {number(share['elsewhere'])} of the probability lies on no option"
            f"{offered}."
        )
    if UNSEEN in share:
        yield (
            "The server reports only its most probable tokens. The others have "
            f"{number(share[UNSEEN])} of the probability, and some of them may be options."
        )
    kinds = [
        f"{number(share[name])} {said}"
        for name, said in (
            ("dont-know", "say that they do not know, or prefer not to say"),
            ("refusal", "refuse"),
            ("several", "name several options"),
            ("other", "say something else"),
        )
        if name in share
    ]
    if kinds:
        yield f"Of the replies, {', '.join(kinds)}. These count as missing, not as middle answers."
    if "last-listed" in share:
        yield (
            f"Of the answers, {number(share['first-listed'])} are the option listed first and "
            f"{number(share['last-listed'])} the one listed last. Both orders were asked, so the "
            "content of the options alone cannot bring either above 0.50."
        )
