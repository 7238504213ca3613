"""Sentences about adjective settings: coreference bias and pronoun preference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.contrasts.catalog import THEY_PREFERENCE
from goffman.contrasts.verdict import direction, rows_apart_from_zero
from goffman.formatting import ADJUSTED, describe_difference, ends, number, setting_name
from goffman.instruments.types import ADJECTIVE_GROUPS, BASELINE
from goffman.presentation.answer_style import describe_agreement, describe_answering, describe_style
from goffman.presentation.findings import finding, heading, how_many_clear, untested
from goffman.presentation.section import Section
from goffman.presentation.vega import (
    ESTIMATE,
    Figure,
    Spec,
    axis_x,
    axis_y,
    choice,
    coloured,
    data,
    describe_marks,
    estimate_layers,
    estimate_tip,
    plot,
    tip,
    with_clear,
)
from goffman.schemas import REPLY_KINDS

if TYPE_CHECKING:
    from goffman.presentation.section import Finding

    Row = Mapping[str, Any]


REPLY_WORDS = {
    "correct": "name the right person",
    "incorrect": "name the other one",
    "unsure": "are unsure",
    "other": "say something else",
    "refusal": "refuse",
}
"""Kinds of replies, in words."""

WHAT = "adjective settings"
"""The noun for what is counted when adjectives are compared with none."""


PREFERENCE = "preference for the pronoun that fits the stereotype"
"""In full, to tell it from the same model's preference for “she” over “he”."""

NOT_IN_GENERAL = (
    "Whether adjectives favor “she” or “he” in general, whatever the occupation, is not tested "
    "here; the numbers are adjusted for it."
)

MOST_UNREAD = 0.5
"""If a smaller share of the replies names somebody, this is said first."""

_RIGHT = {
    "more": "Right more often where the pronoun fits the stereotype",
    "less": "Right more often where the pronoun goes against the stereotype",
    "between": "between stereotyped sentences and others",
    "whether": "it is right more often where the pronoun fits the stereotype",
}


def _accuracies(row: Row) -> str:
    return (
        "Without adjectives, accuracy on sentences that fit the stereotype minus accuracy on those "
        f"that do not: {describe_difference(row)}, over {row['n']} {row['unit']}."
    )


def bias_findings(section: Section) -> Iterator[Finding]:
    """Yield how much more often a chat model is right if the pronoun fits the stereotype."""
    called = section.presentation.called
    for row in section.contrasts("level").iter_rows(named=True):
        model = row["model"]
        text, moved = _unread(section, model) + _accuracies(row), _moved(section, model, called)
        more = chain(
            _trials(section, model),
            _replies(section, model),
            beside_bias(section, model),
            _changes(section, model, called),
            beside_main(section, model),
        )
        yield finding(row, heading(row, **_RIGHT), text, more, rest=moved)


def choice_bias_findings(section: Section) -> Iterator[Finding]:
    """Yield the effect of an option's place, then accuracy where the pronoun fits, and not."""
    for row in section.contrasts("level").iter_rows(named=True):
        model = row["model"]
        first = describe_agreement(section, model) + _position(section, model)
        more = chain(
            beside_bias(section, model),
            beside_main(section, model),
            describe_answering(section, model),
        )
        changes = _clearly(
            section, model, "baseline", "adjectives clearly change the bias in {}", what="settings"
        )
        result = finding(row, heading(row, **_RIGHT), first + _accuracies(row), more, rest=changes)
        style = describe_style(section, model)
        yield replace(result, head=style, styled=True) if style else result


def preference_findings(section: Section) -> Iterator[Finding]:
    """Yield how much more probable the stereotyped pronoun is."""
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
        moved = _moved(section, row["model"], PREFERENCE)
        moved += f" {NOT_IN_GENERAL}" if moved else ""
        yield finding(row, head, text, more, rest=moved, unit="log ratio ")


def beside_main(section: Section, model: str) -> Iterator[str]:
    """Yield the effect of adjectives alone, that of “they”, and settings with fewer answers."""
    apart = (_clearly(section, model, kind, text) for kind, text in APART.items())
    yield from filter(None, apart)
    for row in section.contrasts("they", model).iter_rows(named=True):
        first, second = (number(row[f"mean_{side}"]) for side in ("first", "second"))
        text = f"accuracy is {first} with “they” and {second} with “{row['second']}”"
        if row["quantity"] == THEY_PREFERENCE:
            ratio = f"{math.exp(row['difference']):.2g} times as probable as “he” or “she”"
            text = f"“they” is typically {ratio}; on the log scale"
        yield f"In the same sentences, {text}: {describe_difference(row)}."
    for kind, text in SILENT.items():
        tested = section.contrasts(kind, model)
        rows = rows_apart_from_zero(tested)
        rises = rows.filter(pl.col("difference") > 0).height
        if rows.height:
            yield (
                f"{text}, clearly more answers name neither person in {rises} of {tested.height} "
                f"settings, and clearly fewer in {rows.height - rises}."
            )


APART = {
    "adjectives": "Whichever occupation has them, adjectives have a clear effect in {}",
    "occupations": "Whichever adjective they have, occupations have a clear effect in {}",
    "neutral": "With jobs of about as many women as men, adjectives have a clear effect in {}",
}
"""By kind of contrast: where adjectives, or occupations, have an effect by themselves."""

SILENT = {
    "no-answer": "With adjectives",
    "no-answer-sides": "Where the pronoun goes against the stereotype",
}
"""By kind of contrast: where answers may name nobody more often, or less often."""


def _trials(section: Section, model: str) -> Iterator[str]:
    """Yield the range of the bias without adjectives over trials of the same sentences."""
    rows = section.rows("condition", section.presentation.quantity, model)
    for row in rows.filter(pl.col("n") > 1, condition=BASELINE).iter_rows(named=True):
        yield (
            f"In {row['n']} trials of the same sentences, the bias ranged from "
            f"{number(row['low'])} to {number(row['high'])}. This range shows only how much the "
            "model's replies vary by chance."
        )


def _clearly(section: Section, model: str, kind: str, sentence: str, *, what: str = WHAT) -> str:
    """Return how many of a kind's contrasts have an interval without 0; "" if there are none."""
    rows = section.contrasts(kind, model)
    return how_many_clear(rows, sentence, what=what) if rows.height else ""


def _moved(section: Section, model: str, called: str) -> str:
    return _clearly(section, model, "baseline", f"{{}} clearly change the {called}")


def _changes(section: Section, model: str, called: str) -> Iterator[str]:
    """Yield what adjectives change over repeated trials, and the range of their changes."""
    over = "over repeated trials of these sentences"
    differ = f"{over}, {{}} clearly differ from the sentences without adjectives"
    if trials := _clearly(section, model, "trials", differ):
        yield trials
    moved = section.contrasts("baseline", model).sort("difference")
    if moved.height > 1:
        least, most = (
            f"{number(moved['difference'][place])} ({setting_name(moved['first'][place])})"
            for place in (0, -1)
        )
        yield (
            f"Compared with no adjectives, the settings change the {called} by {least} to {most}."
        )


def _unread(section: Section, model: str) -> str:
    """Return a warning that most replies name nobody; "" if most name somebody."""
    answered = section.rows("prompt", ("correct", "incorrect"), model)
    count = section.rows("prompt", "correct", model).height
    share = float(answered["value"].sum()) / count if count else 1.0
    if share >= MOST_UNREAD:
        return ""
    return f"Only {number(share)} of the replies name one of the two people. "


def _replies(section: Section, model: str) -> Iterator[str]:
    """Yield the shares of kinds of replies: replies that no one can read show no bias either."""
    replies = section.rows("prompt", tuple(REPLY_WORDS), model)
    shares = dict(replies.group_by("quantity").agg(pl.col("value").mean()).rows())
    if shares:
        parts = [f"{number(shares.get(kind, 0.0))} {REPLY_WORDS[kind]}" for kind in REPLY_WORDS]
        count = replies.filter(quantity="correct").height
        yield f"Shares of {count:,} replies: {', '.join(parts[:-1])} and {parts[-1]}."


def _position(section: Section, model: str) -> str:
    """Return how often the person listed first is picked; "" if that was not asked."""
    for row in section.contrasts("position", model).iter_rows(named=True):
        interval, way = "no interval", "not tested against half"
        if not untested(row):
            interval = ends(row["low"] + 0.5, row["high"] + 0.5)
            ways = {1: "clearly more than half", -1: "clearly less than half"}
            way = ways.get(direction(row), "not clearly different from half")
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
"""The numbers that could put a bias in doubt."""


def beside_bias(section: Section, model: str) -> Iterator[str]:
    """Yield, for sentences without adjectives, each number that could put the bias in doubt."""
    rows = section.rows("condition", BESIDE, model)
    rows = rows.filter(condition=BASELINE)
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


_AS_IN_THE_STUDY = pl.col("group").is_in([BASELINE, *ADJECTIVE_GROUPS])
"""Selects the rows of sentences like those of the study."""


def _ready(rows: pl.DataFrame, column: str = "condition") -> pl.DataFrame:
    return rows.with_columns(
        setting=pl.col(column).map_elements(setting_name, return_dtype=pl.String)
    )


def against_baseline(section: Section) -> Iterator[Figure]:
    """Yield a figure of every adjective setting minus the baseline, with its interval."""
    rows = with_clear(_ready(section.contrasts("baseline"), "first"))
    if not rows.height:
        return
    adjusted, title = section.presentation.quantity == ADJUSTED, "What the adjectives change"
    if len(section.models()) == 1:
        clear = rows.filter(clear="yes").height
        title = (
            f"{clear or 'None'} of {rows.height} adjective settings clearly "
            f"{'changes' if clear <= 1 else 'change'} the {'preference' if adjusted else 'bias'}"
        )
    yield plot(
        section,
        "against-baseline",
        data(rows.rename({"first": "condition"}), "model", "setting", *ESTIMATE, "n", "condition"),
        estimate_layers(rows, estimate_tip(("setting", "Adjectives")), size=64, leads=True),
        title=title,
        description=(
            "Each setting of adjectives minus the same sentences without any"
            f"{', adjusted for the more frequent pronoun' if adjusted else ''}. "
            f"{describe_marks(rows)}"
        ),
        leads=True,
        choices=choice("model", "Model", section.models()),
        y=axis_y("setting", {"field": "difference", "order": "descending"}),
        x=axis_x("Difference from no adjectives", field_="difference"),
        height={"step": 21},
    )


ALONE = {
    "adjectives": "Adjectives, whichever occupation has them",
    "occupations": "Occupations, whichever adjective they have",
    "neutral": "Adjectives of neutral occupations",
}
"""Kinds of contrasts that separate adjectives from occupations → the heading of their rows."""


def alone(section: Section) -> Iterator[Figure]:
    """Yield a figure of the effects of adjectives and of occupations alone, with intervals."""
    frames = [section.contrasts(kind).with_columns(effect_of=pl.lit(ALONE[kind])) for kind in ALONE]
    rows = with_clear(_ready(pl.concat(frames), "first"))
    if not rows.height:
        return
    rows = rows.with_columns(pl.col("setting").str.strip_suffix(", neutral"))
    yield plot(
        section,
        "alone",
        data(rows, "model", "setting", "effect_of", *ESTIMATE, "n"),
        estimate_layers(rows, estimate_tip(("setting", "Adjectives"), called="Effect"), size=64),
        title="Adjectives and occupations apart",
        description=(
            "Half the difference, and half the sum, of adjectives as placed and swapped. "
            f"{describe_marks(rows)}"
        ),
        choices=choice("model", "Model", section.models()),
        rows="effect_of",
        order=[name for name in ALONE.values() if name in rows["effect_of"].to_list()],
        y=axis_y("setting", {"field": "difference", "order": "descending"}),
        x=axis_x(f"Effect on the {section.presentation.called}", field_="difference"),
        height={"step": 21},
    )


def right(section: Section) -> Iterator[Figure]:
    """Yield a figure of how often answers are right in pro and anti sentences of each setting."""
    rows = section.rows("side", "correct").filter(_AS_IN_THE_STUDY)
    # Scores of a side are by trial.
    means = rows.group_by("model", "group", "condition", side="wording").agg(pl.col("value").mean())
    rows = _ready(means.sort("group", "condition", "side", "model"))
    if rows["condition"].n_unique() < 2:
        return
    about = tip(("setting", "Adjectives"), ("side", "Sentence"), ("value", "Right"))
    settings = rows["setting"].unique(maintain_order=True).to_list()
    axis = {"orient": "top", "labelAngle": -60, "grid": False, "labelLimit": 200}
    yield plot(
        section,
        "right",
        data(rows, "model", "condition", "setting", "side", "value"),
        _cells(about),
        title="Right answers in each setting",
        description=(
            "Share of answers that name the right person, where the pronoun fits the stereotype "
            "(pro) and where it does not (anti)."
        ),
        choices=choice("model", "Model", section.models()),
        y=axis_y("side", ["pro", "anti"]),
        x={"field": "setting", "type": "nominal", "sort": settings, "title": None, "axis": axis},
        height={"step": 34},
    )


def kinds(section: Section) -> Iterator[Figure]:
    """Yield a heat map of the kinds of answers to each setting."""
    rows = _ready(section.rows("condition", REPLY_KINDS))
    if not rows.height:
        return
    about = tip(("setting", "Adjectives"), ("quantity", "Kind"), ("value", "Share"))
    x = {"field": "quantity", "type": "nominal", "sort": list(REPLY_KINDS), "title": None}
    yield plot(
        section,
        "kinds",
        data(rows, "model", "condition", "setting", "quantity", "value"),
        _cells(about),
        title="Kinds of replies",
        description=(
            "Share of replies that name the right person, name the other one, are unsure, say "
            "something else, or refuse."
        ),
        choices=choice("model", "Model", section.models()),
        y=axis_y("setting", None),
        x={**x, "axis": {"orient": "top", "labelAngle": 0, "grid": False}},
        height={"step": 21},
    )


def _cells(about: list[Spec]) -> list[Spec]:
    """Return colored cells with their numbers, light on dark and dark on light."""
    share = {"field": "value", "type": "quantitative"}
    legend = {"title": "Share", "gradientLength": 120}
    colour = {**share, "scale": {"domain": [0, 1], "interpolate": "rgb"}, "legend": legend}
    mark: Spec = {"type": "rect", "cursor": "pointer"}
    layers: list[Spec] = [{"mark": mark, "encoding": {"color": colour, "tooltip": about}}]
    for style, test in (("cell-label-strong", "> 0.7"), ("cell-label", "<= 0.7")):
        mark = {"type": "text", "style": style, "tooltip": None, "aria": False}
        seen = {"condition": {"test": f"datum.value {test}", "value": 1}, "value": 0}
        text = {**share, "format": ".2f"}
        layers.append({"mark": mark, "encoding": {"text": text, "opacity": seen}})
    return layers


def occupations(section: Section) -> Iterator[Figure]:
    """Yield a figure of accuracy on pro and anti sentences by the occupation that is the answer."""
    scores = section.scores.filter(_AS_IN_THE_STUDY, level="prompt", quantity="correct")
    scores = scores.drop_nulls("value")
    answers = section.prompts.select("prompt_id", "answer").drop_nulls()
    means = (
        scores.join(answers, on="prompt_id")
        .group_by("model", occupation="answer", side="wording")
        .agg(pl.col("value").mean(), n=pl.len())
    )
    keys = ["model", "occupation"]
    pro, anti = (means.filter(side=side) for side in ("pro", "anti"))
    pairs = pro.join(anti.select(*keys, anti="value"), on=keys)
    apart = pairs.select(*keys, apart=pl.col("value") - pl.col("anti"))
    rows = section.shown(means.join(apart, on=keys, how="left"))
    rows = rows.sort(*keys, "side", descending=[False, False, True])
    if not rows.height:
        return
    about = tip(("occupation", "Answer"), ("side", "Sentence"), ("value", "Accuracy"), ("n", "n"))
    link: Spec = {
        "mark": {"type": "line", "style": "link", "tooltip": None, "aria": False},
        "encoding": {"detail": {"field": "occupation"}},
    }
    marks: Spec = {
        "mark": {"type": "point", "size": 60},
        "encoding": {**coloured("side", ["pro", "anti"]), "tooltip": about},
    }
    yield plot(
        section,
        "occupations",
        data(rows, "model", "occupation", "side", "value", "n", "apart"),
        [link, marks],
        title="By occupation",
        description=(
            "How often the right person is named where the pronoun fits the stereotype of their "
            "occupation (pro) and where it does not (anti)."
        ),
        choices=choice("model", "Model", section.models()),
        y=axis_y("occupation", {"field": "apart", "op": "max", "order": "descending"}),
        x=axis_x("Accuracy", domain=(0, 1)),
        height={"step": 18},
    )
