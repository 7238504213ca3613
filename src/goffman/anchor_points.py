"""The columns of anchor-points.parquet: both sides of every scatter of models and people."""

from __future__ import annotations

from goffman.tables import Column

ANCHOR_POINTS = (
    Column("anchor", "text", "the anchor's id"),
    Column("item", "text", "what people were asked; null: all items together", nullable=True),
    Column("instrument", "text", "the instrument's id"),
    Column("measure", "text", "the measure's name"),
    Column("quantity", "text", "which number of the measure"),
    Column("model", "text", "the model's name, as the user gave it"),
    Column("condition", "text", "the condition's id, or an occupation"),
    Column("group", "text", "the side of the contrast that it is on", nullable=True),
    Column("category", "text", "the kind of condition", nullable=True),
    Column("value", "float64", "of the model"),
    Column("people", "float64", "what people said; null with all items together", nullable=True),
    Column("low", "float64", "lower end of its 95% interval", nullable=True),
    Column("high", "float64", "upper end of its 95% interval", nullable=True),
    Column("n", "int", "people", nullable=True),
    Column("value_low", "float64", "of the model's value; null: known exactly", nullable=True),
    Column("value_high", "float64", "upper end of its 95% interval", nullable=True),
    Column("unanswered", "float64", "share of the model's answers that are none", nullable=True),
    Column("predicted", "float64", "the model's value by all items together", nullable=True),
    Column("residual", "float64", "value minus predicted", nullable=True),
    Column("statistic", "float64", "t of the residual, externally studentized", nullable=True),
    Column("p", "float64", "two-sided, not corrected", nullable=True),
    Column("p_adjusted", "float64", "by Holm, over the conditions", nullable=True),
    Column("explained", "float64", "R² of all items together", nullable=True),
)
"""One row a condition, item of an anchor, instrument and model: both sides of a scatter."""
