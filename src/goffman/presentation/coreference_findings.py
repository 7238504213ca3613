"""What is said about adjective settings: coreference bias and pronoun preference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.contrasts.catalog import THEY_PREFERENCE
from goffman.contrasts.verdict import direction, rows_apart_from_zero
from goffman.formatting import describe_difference, ends, number, setting_name
from goffman.instruments.types import BASELINE
from goffman.presentation.answer_style import describe_answering, describe_style
from goffman.presentation.findings import finding, heading, how_many_clear, of_model, untested
from goffman.presentation.mode_agreement import describe_agreement

if TYPE_CHECKING:
    from goffman.presentation.section import Section
    from goffman.presentation.types import Finding

    Row = Mapping[str, Any]

REPLY_KINDS = {
    "correct": "name the right person",
    "incorrect": "name the other one",
    "unsure": "are unsure",
    "other": "say something else",
    "refusal": "refuse",
}
"""Kinds of replies, in words."""

WHAT = "adjective settings"
"""What is counted where adjectives are set against none."""


PREFERENCE = "preference for the pronoun that fits the stereotype"
"""In full: beside people, the same model has a preference for “she” over “he”."""

NOT_IN_GENERAL = (
    "Whether adjectives favor “she” or “he” in general, whatever the occupation, is not tested "
    "here; the numbers are adjusted for it."
)

MOST_UNREAD = 0.5
"""Where fewer replies name somebody, it is said first."""

_RIGHT = {
    "more": "Right more often where the pronoun fits the stereotype",
    "less": "Right more often where the pronoun goes against the stereotype",
    "between": "between stereotyped sentences and others",
    "whether": "it is right more often where the pronoun fits the stereotype",
}


def bias_findings(section: Section) -> Iterator[Finding]:
    """How much more often a chat model is right where the pronoun fits the stereotype."""
    for row in section.contrasts("level").iter_rows(named=True):
        head = heading(row, **_RIGHT)
        text = (
            f"{_unread(section, row['model'])}Without adjectives, accuracy on sentences that fit "
            "the stereotype minus accuracy on "
            f"those that do not: {describe_difference(row)}, over {row['n']} {row['unit']}."
        )
        model = row["model"]
        more = (
            *_trials(section, model),
            *_replies(section, model),
            *beside_bias(section, model),
            *_changes(section, model, section.presentation.called),
            *beside_main(section, model),
        )
        rest = _moved(section, model, section.presentation.called)
        yield finding(row, head, text, iter(more), rest=rest)


def preference_findings(section: Section) -> Iterator[Finding]:
    """How much more probable the pronoun of the stereotype is."""
    for row in section.contrasts("level").iter_rows(named=True):
        head = heading(
            row,
            more="Prefers the pronoun that fits the stereotype of the occupation",
            less="Prefers the pronoun that goes against the stereotype of the occupation",
            between="between the stereotyped pronoun and the other",
            whether="it prefers the stereotyped pronoun",
            none="No relevant preference for the stereotyped pronoun",
        )
        ratio, low, high = (
            None if row[name] is None else f"{math.exp(row[name]):.2f}"
            for name in ("difference", "low", "high")
        )
        interval = f" (95% interval {low} to {high})" if low and high else ""
        text = (
            "Without adjectives, the pronoun that fits the stereotype is typically "
            f"{ratio} times as probable as the other one{interval}, adjusted for the model's "
            "general preference for “he” or “she”. "
            f"On the log scale, over {row['n']} {row['unit']}: {describe_difference(row)}."
        )
        changes = _changes(section, row["model"], f"log {PREFERENCE}")
        more = chain(changes, beside_main(section, row["model"]))
        rest = _moved(section, row["model"], PREFERENCE)
        rest += f" {NOT_IN_GENERAL}" if rest else ""
        yield finding(row, head, text, more, rest=rest, unit="log ratio ")


def beside_main(section: Section, model: str) -> Iterator[str]:
    """What adjectives do alone; whether “they” is understood; who gets fewer answers."""
    for kind, said in APART.items():
        rows = of_model(section.contrasts(kind), model)
        if rows.height:
            yield how_many_clear(rows, said, what=WHAT)
    for row in of_model(section.contrasts("they"), model).iter_rows(named=True):
        one, other = (number(row[f"mean_{side}"]) for side in ("first", "second"))
        said = f"accuracy is {one} with “they” and {other} with “{row['second']}”"
        if row["quantity"] == THEY_PREFERENCE:
            ratio = f"{math.exp(row['difference']):.2g} times as probable as “he” or “she”"
            said = f"“they” is typically {ratio}; on the log scale"
        yield f"In the same sentences, {said}: {describe_difference(row)}."
    for kind, said in SILENT.items():
        tested = of_model(section.contrasts(kind), model)
        rows = rows_apart_from_zero(tested)
        more = rows.filter(pl.col("difference") > 0).height
        if rows.height:
            yield (
                f"{said}, clearly more answers name neither person in {more} of {tested.height} "
                f"settings, and clearly fewer in {rows.height - more}."
            )


APART = {
    "adjectives": "Whichever occupation has them, adjectives have a clear effect in {}",
    "occupations": "Whichever adjective they have, occupations have a clear effect in {}",
    "neutral": "With jobs of about as many women as men, adjectives have a clear effect in {}",
}
"""By kind of contrast: where adjectives, or occupations, do something by themselves."""

SILENT = {
    "no-answer": "With adjectives",
    "no-answer-sides": "Where the pronoun goes against the stereotype",
}
"""By kind of contrast: where answers may name nobody more often, or less."""


def _trials(section: Section, model: str) -> Iterator[str]:
    """How far the bias without adjectives came out again when the same sentences were asked."""
    rows = of_model(section.rows("condition", section.presentation.quantity), model)
    for row in rows.filter(pl.col("condition") == BASELINE, pl.col("n") > 1).iter_rows(named=True):
        yield (
            f"In {row['n']} trials of the same sentences, the bias ranged from "
            f"{number(row['low'])} to {number(row['high'])}. This range shows only how much the "
            "model's replies vary by chance."
        )


def _moved(section: Section, model: str, called: str) -> str:
    """How many adjective settings clearly move the number, which is called so."""
    against = of_model(section.contrasts("baseline"), model)
    if not against.height:
        return ""
    return how_many_clear(against, f"{{}} clearly change the {called}", what=WHAT)


def _changes(section: Section, model: str, called: str) -> Iterator[str]:
    against = of_model(section.contrasts("trials"), model)
    if against.height:
        over = "over repeated trials of these sentences"
        differ = f"{over}, {{}} clearly differ from the sentences without adjectives"
        yield how_many_clear(against, differ, what=WHAT)
    moved = of_model(section.contrasts("baseline"), model).sort("difference")
    if moved.height > 1:
        least, most = (
            f"{number(moved['difference'][at])} ({setting_name(moved['first'][at])})"
            for at in (0, -1)
        )
        yield (
            f"Compared with no adjectives, the settings change the {called} by {least} to {most}."
        )


def _unread(section: Section, model: str) -> str:
    """That most replies name nobody, before anything is said of those that do."""
    named = of_model(section.rows("prompt", ("correct", "incorrect")), model)
    every = of_model(section.rows("prompt", "correct"), model).height
    share = float(named["value"].sum()) / every if every else 1.0
    if share >= MOST_UNREAD:
        return ""
    return f"Only {number(share)} of the replies name one of the two people. "


def _replies(section: Section, model: str) -> Iterator[str]:
    """What a bias rests on: replies that no one can read have none either."""
    replies = of_model(section.rows("prompt", tuple(REPLY_KINDS)), model)
    shares = dict(replies.group_by("quantity").agg(pl.col("value").mean()).rows())
    if shares:
        said = [f"{number(shares.get(kind, 0.0))} {REPLY_KINDS[kind]}" for kind in REPLY_KINDS]
        count = replies.filter(pl.col("quantity") == "correct").height
        yield f"Shares of {count:,} replies: {', '.join(said[:-1])} and {said[-1]}."


def choice_bias_findings(section: Section) -> Iterator[Finding]:
    """First what the place of an option does; then accuracy where the pronoun fits, and not."""
    for row in section.contrasts("level").iter_rows(named=True):
        model = row["model"]
        head = heading(row, **_RIGHT)
        text = (
            f"{describe_agreement(section, model)}{_position(section, model)}Without adjectives, "
            "accuracy on sentences that fit the "
            f"stereotype minus accuracy on those that do not: {describe_difference(row)}, over "
            f"{row['n']} {row['unit']}."
        )
        alone = beside_main(section, model)
        more = (*beside_bias(section, model), *alone, *describe_answering(section, model))
        rows = of_model(section.contrasts("baseline"), model)
        moved = "adjectives clearly change the bias in {}"
        rest = how_many_clear(rows, moved, what="settings") if rows.height else ""
        found = finding(row, head, text, iter(more), rest=rest)
        style = describe_style(section, model)
        yield replace(found, head=style, styled=True) if style else found


def _position(section: Section, model: str) -> str:
    """How often the person listed first is picked, before anything else is said."""
    for row in of_model(section.contrasts("position"), model).iter_rows(named=True):
        way = {
            1: "clearly more than half",
            -1: "clearly less than half",
            0: "not clearly different from half",
        }[direction(row)]
        if untested(row):
            way = "not tested against half"
        interval = (
            "no interval" if row["low"] is None else ends(row["low"] + 0.5, row["high"] + 0.5)
        )
        return (
            f"Of the answers that name one of the two people, {number(row['mean_first'])} "
            f"({interval}) name the one listed first, which is {way}. Both orders were asked, so "
            "only the place in the list can explain a difference from half. "
        )
    return ""


BESIDE = (
    "accuracy-pro", "accuracy-anti", "above-chance", "bias-lowest", "bias-highest",
    "bias-answered", "first-mentioned-above-half", "log-odds",
)  # fmt: skip
"""Numbers that could put a bias in doubt."""


def beside_bias(section: Section, model: str) -> Iterator[str]:
    """Yield of the sentences without adjectives each number that could put the bias in doubt."""
    rows = of_model(section.rows("condition", BESIDE), model)
    rows = rows.filter(pl.col("condition") == BASELINE)
    value = dict(rows.select("quantity", "value").rows())
    if "accuracy-pro" in value and "above-chance" in value:
        above = value["above-chance"]
        yield (
            f"Without adjectives, accuracy is {number(value['accuracy-pro'])} where the pronoun "
            f"fits the stereotype and {number(value['accuracy-anti'])} where it does not: on "
            f"average {number(abs(above))} {'above' if above >= 0 else 'below'} guessing."
        )
    if "bias-lowest" in value and "bias-highest" in value:
        answered = value.get("bias-answered")
        among = f"; among answers it is {number(answered)}" if answered is not None else ""
        yield (
            "Some answers name neither person. Depending on whom they would have named, the bias "
            f"lies between {number(value['bias-lowest'])} and "
            f"{number(value['bias-highest'])}{among}."
        )
    if (first := value.get("first-mentioned-above-half")) is not None:
        yield (
            f"{number(0.5 + first)} of the replies name the person mentioned first; if the order "
            "did not matter, about half would."
        )
    if (odds := value.get("log-odds")) is not None:
        yield f"In log-odds, which do not shrink near 100%, the bias is {number(odds)}."
