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
"""The kinds of contrasts whose Δ holds for a value of a single condition, too."""


def explored(sections: Mapping[str, Section]) -> list[dict[str, Any]]:
    """Return a unit for each instrument and number: its conditions, and each model's values."""
    return [unit for section in sections.values() for unit in _units(section)]


def _units(section: Section) -> Iterator[dict[str, Any]]:
    quantity, called = section.presentation.quantity, section.presentation.called
    if section.rows("condition", f"{quantity}-probability").height:
        # Shares of a few labels are the same for many conditions; probabilities are not.
        quantity, called = f"{quantity}-probability", quantity_called(f"{quantity}-probability")
    rows = section.named(section.rows("condition", quantity)).filter(
        pl.col("condition") != BASELINE, pl.col("model") != ALL_MODELS
    )
    if section.wordings:
        rows = rows.filter(pl.col("wording").is_null() | (pl.col("wording") == section.wordings[0]))
    for own in rows.partition_by("variant", maintain_order=True):
        about = own.unique("condition", keep="first", maintain_order=True)
        of = [printable(one or "") for one in about["group"]]
        groups = list(dict.fromkeys([one for one in section.groups() if one in of] + of))
        variant, conditions = own["variant"][0], about["condition"].to_list()
        by_model = own.partition_by("model", as_dict=True)
        yield {
            "instrument": section.instrument,
            "number": f"{called}, {describe_variant(variant)}" if variant else called,
            "ends": section.presentation.ends,
            "many": section.noun.many,
            "groups": [humanize(group) for group in groups],
            "against": groups.index(section.against) if section.against in groups else None,
            "ids": [printable(one) for one in conditions],
            "names": about["name"].to_list(),
            "group": [groups.index(one) for one in of],
            "category": [printable(one or "") for one in about["category"]],
            "models": [
                _of_model(section, called, by_model[model,], conditions)
                for model in section.models()
                if (model,) in by_model
            ],
        }


def _of_model(
    section: Section, called: str, rows: pl.DataFrame, conditions: Sequence[str]
) -> dict[str, Any]:
    """Return a model's differences from what its conditions are compared with, or its values."""
    model, control = rows["model"][0], section.control(rows["model"][0])
    found = {
        "model": model,
        "about": called,
        "failed": control is not None and not control.passed,
    }
    for kinds, other in (
        (REFERENCE, f"the mean of the {humanize(section.against)} {section.noun.many}"),
        (("baseline",), section.called(BASELINE).strip("()")),
    ):
        tested = _tested(section, kinds, rows)
        if tested.height:
            differences = _not_tested(section, rows, tested) if kinds == REFERENCE else {}
            differences |= dict(tested.select("first", "difference").iter_rows())
            low, high = (dict(tested.select("first", end).iter_rows()) for end in ("low", "high"))
            return found | {
                "about": f"{called} minus {other}",
                "band": tested["margin"].max(),
                "values": [differences.get(one) for one in conditions],
                "low": [low.get(one) for one in conditions],
                "high": [high.get(one) for one in conditions],
            }
    values = dict(rows.select("condition", "value").iter_rows())
    levels = pl.concat(section.contrasts(kind) for kind in LEVELS)
    return found | {
        "band": levels["margin"].max(),
        "values": [values.get(one) for one in conditions],
    }


def _tested(section: Section, kinds: Sequence[str], rows: pl.DataFrame) -> pl.DataFrame:
    """Return the estimates of these kinds that are of the same model and number as the rows."""
    same = ("model", "quantity", "variant")
    return pl.concat(section.contrasts(kind) for kind in kinds).filter(
        *(pl.col(name).eq_missing(rows[name][0]) for name in same), pl.col("dimension").is_null()
    )


def _not_tested(section: Section, rows: pl.DataFrame, tested: pl.DataFrame) -> dict[str, float]:
    """Return how far the conditions of further groups lie from the same mean."""
    further = rows.filter(~pl.col("group").is_in([section.contrast, section.against]))
    # The means of contrasts weigh wordings by family, those of scores do not.
    means = _tested(section, ("baseline",), rows).filter(
        pl.col("first").is_in(further["condition"].implode())
    )
    # Where a condition lacks a value, the mean that it is compared with is over fewer sentences.
    whole = tested.sort("left_out")["mean_second"][0]
    distance = (pl.col("mean_first") - whole).round_sig_figs(6)
    return dict(means.select("first", distance).iter_rows())
