"""The figure of who endorses what: every question, with a mark for each description."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from goffman.presentation.figure import (
    Figure,
    axis_x,
    axis_y,
    choice,
    chosen,
    coloured,
    data,
    figure,
    tip,
    view,
)
from goffman.presentation.section import Section
from goffman.presentation.shown import plain
from goffman.presentation.tables_vignettes import QUANTITY


def endorsed(section: Section) -> Iterator[Figure]:
    """Of each question and description the share of the answers that endorse it."""
    rows = section.named(section.rows("cell", QUANTITY).filter(pl.col("variant").is_null()))
    if not rows.height:
        return
    rows = rows.with_columns(pl.col("item").map_elements(plain, return_dtype=pl.String))
    items = [plain(item) for item in section.items if plain(item) in rows["item"]]
    names = rows.sort("group", "name")["name"].unique(maintain_order=True).to_list()
    choices = choice("model", "Model", section.models())
    about = tip(
        ("item", "Question"), ("name", section.noun.headed.one), ("value", "Share"), ("n", "n")
    )
    yield figure(
        section,
        "endorsed",
        title="Unwilling, or likely: question by question",
        description=(
            f"Each mark is one {section.noun.one}, in the row of a question. It shows the share of "
            "answers that are definitely or probably unwilling, or very or somewhat likely."
        ),
        choices=choices,
        spec=view(
            data(rows, "model", "item", "name", "value", "n"),
            [
                {
                    "transform": chosen(choices),
                    "mark": {"type": "point", "size": 60, "filled": True},
                    # Side by side: many shares are the same, and most are near an end.
                    "encoding": {
                        **coloured("name", names),
                        "yOffset": {"field": "name", "type": "nominal", "sort": names},
                        "tooltip": about,
                    },
                }
            ],
            height=len(items) * (8 * len(names) + 6),
            encoding={
                "y": axis_y("item", items),
                "x": axis_x("Share of the answers that endorse it", domain=(0, 1)),
            },
        ),
    )
