"""Figures of adjective settings: coreference bias, and pronoun preference apart from it."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from goffman.formatting import ADJUSTED, setting_name
from goffman.instruments.types import ADJECTIVE_GROUPS, BASELINE
from goffman.presentation.estimate_figures import (
    ESTIMATE,
    describe_marks,
    estimate_layers,
    estimate_tip,
    with_clear,
)
from goffman.presentation.section import Section
from goffman.presentation.vega import (
    Figure,
    Spec,
    axis_x,
    axis_y,
    choice,
    coloured,
    data,
    plot,
    tip,
)
from goffman.schemas import REPLY_KINDS

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
    adjusted = section.presentation.quantity == ADJUSTED
    yield plot(
        section,
        "against-baseline",
        data(rows.rename({"first": "condition"}), "model", "setting", *ESTIMATE, "n", "condition"),
        estimate_layers(rows, estimate_tip(("setting", "Adjectives")), size=64, leads=True),
        title=_how_many_change(rows, section),
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


def _how_many_change(rows: pl.DataFrame, section: Section) -> str:
    """Return how many settings clearly change the number, for a title."""
    if len(section.models()) > 1:
        return "What the adjectives change"
    clear = rows.filter(pl.col("clear") == "yes").height
    does = "changes" if clear <= 1 else "change"
    quantity = "preference" if section.presentation.quantity == ADJUSTED else "bias"
    return f"{clear or 'None'} of {rows.height} adjective settings clearly {does} the {quantity}"


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
    # A side's row may be of one trial.
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
    x = {
        "field": "quantity",
        "type": "nominal",
        "sort": list(REPLY_KINDS),
        "title": None,
        "axis": {"orient": "top", "labelAngle": 0, "grid": False},
    }
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
        x=x,
        height={"step": 21},
    )


def _cells(about: list[Spec]) -> list[Spec]:
    """Return colored cells with their numbers, light on dark and dark on light."""
    share = {"field": "value", "type": "quantitative"}
    legend = {"title": "Share", "gradientLength": 120}
    colour = {**share, "scale": {"domain": [0, 1], "interpolate": "rgb"}, "legend": legend}
    layers: list[Spec] = [
        {
            "mark": {"type": "rect", "cursor": "pointer"},
            "encoding": {"color": colour, "tooltip": about},
        }
    ]
    for style, test in (("cell-label-strong", "> 0.55"), ("cell-label", "<= 0.55")):
        seen = {"condition": {"test": f"datum.value {test}", "value": 1}, "value": 0}
        layers.append(
            {
                "mark": {"type": "text", "style": style, "tooltip": None, "aria": False},
                "encoding": {"text": {**share, "format": ".2f"}, "opacity": seen},
            }
        )
    return layers


def occupations(section: Section) -> Iterator[Figure]:
    """Yield a figure of accuracy on pro and anti sentences by the occupation that is the answer."""
    rows = _occupation_accuracy(section)
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


def _occupation_accuracy(section: Section) -> pl.DataFrame:
    """Return model, occupation, side, value (mean over sentences, settings, trials), n, apart."""
    scores = section.scores.filter(
        pl.col("level") == "prompt",
        pl.col("quantity") == "correct",
        pl.col("value").is_not_null(),
        _AS_IN_THE_STUDY,
    )
    key = section.prompts.select("prompt_id", "answer").drop_nulls()
    means = (
        scores.join(key, on="prompt_id")
        .group_by("model", occupation="answer", side="wording")
        .agg(pl.col("value").mean(), n=pl.len())
    )
    keys = ["model", "occupation"]
    pro, anti = (means.filter(pl.col("side") == side) for side in ("pro", "anti"))
    pairs = pro.join(anti.select(*keys, anti="value"), on=keys)
    apart = pairs.select(*keys, apart=pl.col("value") - pl.col("anti"))
    joined = means.join(apart, on=keys, how="left")
    return section.shown(joined).sort(
        "model", "occupation", "side", descending=[False, False, True]
    )
