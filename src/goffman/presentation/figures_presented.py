"""The figure of what the presentation of a question does to its answers."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from goffman.presentation.asked import Kind, same_questions
from goffman.presentation.figure import (
    Figure,
    at,
    axis_x,
    axis_y,
    data,
    figure,
    interval,
    view,
)
from goffman.presentation.figure_estimates import (
    ESTIMATE,
    band,
    dots,
    estimate_tip,
    marks_said,
    with_clear,
)
from goffman.presentation.section import Section
from goffman.presentation.shown import in_list, plain

_ORDER = "order: stigmatizing option first"
_KEYING = "keying: agreeing means stigma"

_CALLED: dict[Kind, str] = {"order": "order", "keying": "keying", "wordings": "wording"}
_MEANT = {
    "order": (
        "“Order” is the mean with the most stigmatizing option first minus the mean with it last."
    ),
    "keying": (
        "“Keying” is the mean where agreeing shows more stigma minus the mean where it shows less."
    ),
}


def effects(section: Section) -> Iterator[Figure]:
    """For each model: what order, keying and every further wording do, with intervals."""
    rows = pl.concat([section.contrasts(kind) for kind in ("order", "keying", "wordings")])
    if not rows.height:
        return
    wording = pl.format("wording: {}", pl.col("first").map_elements(plain, pl.String))
    rows = with_clear(rows).with_columns(
        name=pl.when(pl.col("kind") == "order")
        .then(pl.lit(_ORDER))
        .when(pl.col("kind") == "keying")
        .then(pl.lit(_KEYING))
        .otherwise(wording)
    )
    names = rows["name"].unique(maintain_order=True).to_list()
    title, what = _described(section, rows)
    yield figure(
        section,
        "presentation",
        title=title,
        description=f"{what} {marks_said(rows)}",
        spec=view(
            data(rows, "model", "name", *ESTIMATE),
            [
                *band(rows),
                at(0, "zero"),
                *interval(rows),
                *dots(estimate_tip(("model", "Model"), ("name", "Effect")), size=60),
            ],
            height={"step": 24},
            encoding={
                "y": axis_y("name", names),
                "x": axis_x("Difference", field_="difference"),
            },
            rows="model",
            order=section.models(),
        ),
    )


def _described(section: Section, rows: pl.DataFrame) -> tuple[str, str]:
    """Title, and what the marks are: of the same questions, or of different ones."""
    kinds = rows["kind"].unique().to_list()
    named = [kind for kind in _CALLED if kind in kinds]
    models = rows["model"].unique(maintain_order=True).to_list()
    apart = [
        (model, kind)
        for model in models
        for kind in named
        if not same_questions(section, model, kind)
    ]
    title = "What the presentation alone does"
    said = (
        "For each model, the marks show how far the mean code moves when only the presentation of "
        "the same questions changes, with 95% intervals."
    )
    if apart:
        title = f"By {in_list([_CALLED[kind] for kind in named])}"
        ways = [f"{_CALLED[kind]}s" for kind in named if any(kind == of for _, of in apart)]
        of = [model for model in models if any(model == one for one, _ in apart)]
        whom = "" if len(of) == len(models) else f"{in_list(of)} got no question in two "
        said = (
            "For each model, the marks show how far the mean code differs between presentations, "
            f"with 95% intervals. {whom or 'No question was asked in two '}{in_list(ways, 'or')}, "
            f"so these are different questions about the same {section.noun.many}."
        )
    meant = [_MEANT[kind] for kind in named if kind in _MEANT]
    if "wordings" in kinds:
        meant.append(f"Wordings are compared with “{plain(section.wordings[0])}”.")
    keyed = in_list([_CALLED[kind] for kind in named if kind in _MEANT])
    if keyed:
        is_ = "are" if " and " in keyed else "is"
        meant.append(f"For a model that responds only to the content, {keyed} {is_} 0.")
    return title, " ".join([said, *meant])
