"""What the explorer of a page shows: one number of each condition, model by model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.console import printable
from goffman.formatting import ALL_MODELS, describe_variant, humanize, quantity_called
from goffman.instruments.types import BASELINE

if TYPE_CHECKING:
    from goffman.presentation.section import Section

REFERENCE = ("reference", "own-reference")
"""The kinds of contrasts with the mean of the other group's conditions."""

LEVELS = ("genders", "level")
"""The kinds of contrasts whose Δ also holds for a single condition's value."""


def explored(sections: Mapping[str, Section]) -> list[dict[str, Any]]:
    """Return a unit for each instrument and number: its conditions, and each model's values."""
    return [unit for section in sections.values() for unit in _units(section)]


def _units(section: Section) -> Iterator[dict[str, Any]]:
    quantity, label = section.presentation.quantity, section.presentation.called
    if section.rows("condition", f"{quantity}-probability").height:
        # Many conditions have the same share of labels, so probabilities tell them apart better.
        quantity, label = f"{quantity}-probability", quantity_called(f"{quantity}-probability")
    rows = section.named(section.rows("condition", quantity)).filter(
        pl.col("condition") != BASELINE, pl.col("model") != ALL_MODELS
    )
    if section.wordings:
        rows = rows.filter(pl.col("wording").is_null() | (pl.col("wording") == section.wordings[0]))
    for unit_rows in rows.partition_by("variant", maintain_order=True):
        condition_rows = unit_rows.unique("condition", keep="first", maintain_order=True)
        group_names = [printable(group or "") for group in condition_rows["group"]]
        groups = list(
            dict.fromkeys(
                [group for group in section.groups() if group in group_names] + group_names
            )
        )
        variant, conditions = unit_rows["variant"][0], condition_rows["condition"].to_list()
        by_model = unit_rows.partition_by("model", as_dict=True)
        yield {
            "instrument": section.instrument,
            "number": f"{label}, {describe_variant(variant)}" if variant else label,
            "ends": section.presentation.ends,
            "many": section.noun.many,
            "groups": [humanize(group) for group in groups],
            "against": groups.index(section.against) if section.against in groups else None,
            "ids": [printable(condition) for condition in conditions],
            "names": condition_rows["name"].to_list(),
            "group": [groups.index(group) for group in group_names],
            "category": [printable(category or "") for category in condition_rows["category"]],
            "models": [
                _of_model(section, label, by_model[model,], conditions)
                for model in section.models()
                if (model,) in by_model
            ],
        }


def _of_model(
    section: Section, called: str, rows: pl.DataFrame, conditions: Sequence[str]
) -> dict[str, Any]:
    """Return a model's differences from what its conditions are compared with, or its values."""
    model, control = rows["model"][0], section.control(rows["model"][0])
    entry = {
        "model": model,
        "about": called,
        "failed": control is not None and not control.passed,
    }
    for kinds, reference in (
        (REFERENCE, f"the mean of the {humanize(section.against)} {section.noun.many}"),
        (("baseline",), section.called(BASELINE).strip("()")),
    ):
        tested = _tested(section, kinds, rows)
        if tested.height:
            differences = _not_tested(section, rows, tested) if kinds == REFERENCE else {}
            differences |= dict(tested.select("first", "difference").iter_rows())
            low, high = (dict(tested.select("first", end).iter_rows()) for end in ("low", "high"))
            return entry | {
                "about": f"{called} minus {reference}",
                "band": tested["margin"].max(),
                "values": [differences.get(condition) for condition in conditions],
                "low": [low.get(condition) for condition in conditions],
                "high": [high.get(condition) for condition in conditions],
            }
    values = dict(rows.select("condition", "value").iter_rows())
    levels = pl.concat(section.contrasts(kind) for kind in LEVELS)
    return entry | {
        "band": levels["margin"].max(),
        "values": [values.get(condition) for condition in conditions],
    }


def _tested(section: Section, kinds: Sequence[str], rows: pl.DataFrame) -> pl.DataFrame:
    """Return the estimates of these kinds that are of the same model and number as the rows."""
    columns = ("model", "quantity", "variant")
    return pl.concat(section.contrasts(kind) for kind in kinds).filter(
        *(pl.col(name).eq_missing(rows[name][0]) for name in columns), pl.col("dimension").is_null()
    )


def _not_tested(section: Section, rows: pl.DataFrame, tested: pl.DataFrame) -> dict[str, float]:
    """Return how far conditions of other groups are from the mean used in the tests."""
    further = rows.filter(~pl.col("group").is_in([section.contrast, section.against]))
    # Contrasts have the means that weigh wordings by family; scores have others.
    means = _tested(section, ("baseline",), rows).filter(
        pl.col("first").is_in(further["condition"].implode())
    )
    # Where a condition lacks a value, the mean that it is compared with is over fewer sentences.
    reference_mean = tested.sort("left_out")["mean_second"][0]
    distance = (pl.col("mean_first") - reference_mean).round_sig_figs(6)
    return dict(means.select("first", distance).iter_rows())
