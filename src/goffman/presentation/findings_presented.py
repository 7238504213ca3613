"""What is said first about questions with options: what their presentation does to the answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goffman.estimates.clear import points
from goffman.presentation.asked import same_questions, two_options
from goffman.presentation.findings import of_model
from goffman.presentation.findings_agreement import agreement_said
from goffman.presentation.numbers import ends, number
from goffman.presentation.shown import in_list, plain
from goffman.presentation.styles import UNSEEN, shares, styles

if TYPE_CHECKING:
    from goffman.presentation.asked import Kind
    from goffman.presentation.section import Section

    Row = Mapping[str, Any]

_MOVES = {
    "order": "listing the most stigmatizing option first instead of last",
    "keying": "putting a statement so that agreeing means more instead of less stigma",
}
"""What moves the number, of the same questions."""

_WITH = {
    "order": "with the most stigmatizing option first instead of last",
    "keying": "where agreeing means more instead of less stigma",
}
"""The same of different questions."""

_KINDS: tuple[Kind, ...] = ("order", "keying", "wordings")
_IN_TWO = {"order": "orders", "keying": "keyings", "wordings": "wordings"}


def style_said(section: Section, model: str) -> str:
    """What a model does whatever it is asked, as a heading; empty: nothing of the kind."""
    found = list(styles(section, model))
    return "; ".join([*found[:1], *(f"{one[0].lower()}{one[1:]}" for one in found[1:])])


def presentation_said(section: Section, model: str) -> str:
    """How far order, keying and wording move the number, each with its interval."""
    rows = {kind: _rows(section, model, kind) for kind in _KINDS}
    there = [kind for kind in _KINDS if rows[kind]]
    agreed = agreement_said(section, model)
    if not there:
        return (
            f"{agreed}The effect of the presentation on the mean code is unknown, because there "
            "was only one presentation."
        )
    same = [kind for kind in there if same_questions(section, model, kind)]
    apart = [kind for kind in there if kind not in same]
    said = []
    if same:
        moved = [row for kind in same for row in rows[kind]]
        # What is the same for every question has no interval, and changes the number all the same.
        clear = any(points(row) or (row["low"] is None and row["difference"]) for row in moved)
        does = "changes" if clear else "does not clearly change"
        each = "; ".join(_each(same, rows, _MOVES, "{what} moves it by {by}"))
        said.append(f"The presentation alone {does} the mean code: {each}.")
    if apart:
        two = "presentations" if not same else in_list([_IN_TWO[kind] for kind in apart], "or")
        each = "; ".join(_each(apart, rows, _WITH, "by {by} {what}"))
        said.append(
            f"No question was asked in two {two}. Between different questions about the same "
            f"{section.noun.many}, the mean code differs {each}."
        )
    return f"{agreed}{' '.join(said)}"


def _rows(section: Section, model: str, kind: Kind) -> list[Row]:
    """What there is of a kind: of wordings all, the furthest from the first one before all."""
    rows: list[Row] = [*of_model(section.contrasts(kind), model).iter_rows(named=True)]
    return sorted(rows, key=lambda row: -abs(row["difference"])) if kind == "wordings" else rows


def _each(
    kinds: Sequence[Kind],
    rows: Mapping[Kind, Sequence[Row]],
    called: Mapping[str, str],
    text: str,
) -> Iterator[str]:
    """What each does; of the wordings the one that moves the number furthest."""
    for kind in kinds:
        if kind != "wordings":
            yield from (text.format(what=called[kind], by=_moved(row)) for row in rows[kind])
            continue
        row = rows[kind][0]
        what = f"the wording “{plain(row['first'])}” instead of “{plain(row['second'])}”"
        most = ", the most of all" if len(rows[kind]) > 1 else ""
        into = what if called is _MOVES else f"in {what}"
        yield f"{text.format(what=into, by=_moved(row))}{most}"


def _moved(row: Row) -> str:
    if row["low"] is None:
        return f"{number(row['difference'])} (no interval)"
    unsettled = "" if points(row) else ", not clear"
    return f"{number(row['difference'])} (95% interval {ends(row['low'], row['high'])}{unsettled})"


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
            f"{number(share['last-listed'])} the one listed last.{_by_content(section, model)}"
        )


def _by_content(section: Section, model: str) -> str:
    """What these shares would be without an effect of place; empty: that cannot be told."""
    if two_options(section) and section.prompts["order"].drop_nulls().n_unique() > 1:
        return " Without an effect of place, each would be about 0.50."
    if same_questions(section, model, "order"):
        return (
            " Both orders were asked, so the content of the options alone brings neither far above "
            "0.50."
        )
    return ""
