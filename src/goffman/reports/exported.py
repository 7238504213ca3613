"""What exports of a run share: one model's main estimates, each with its name and error."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from goffman.errors import InputError, did_you_mean
from goffman.reports.compare import answered
from goffman.reports.names import Named, named

if TYPE_CHECKING:
    from goffman.reports.run import MeasuredRun


def the_model(run: MeasuredRun, given: str | None) -> str:
    """The model that is meant; InputError where several might be, or none is called so."""
    models = answered(run)
    if given is None and len(models) == 1:
        return models[0]
    if given is not None and given in models:
        return given
    if not models:
        raise InputError(f"{run.folder} has no scores for any model.")
    if given is None:
        raise InputError(
            f"{run.folder} has {len(models)} models. Choose one with --model: {', '.join(models)}."
        )
    raise InputError(
        f"--model is '{given}', but {run.folder} has no scores for "
        f"it.{did_you_mean(given, models)} Allowed: {', '.join(models)}."
    )


def main_estimates(run: MeasuredRun, model: str) -> list[Named]:
    """The estimates of a model that are exported, in the order of the table."""
    main = {name: section.presentation.main for name, section in run.sections.items()}
    return [
        one
        for one in named(run.estimates, run.manifest)
        if one.row["model"] == model and one.row["kind"] in main.get(one.row["instrument"], ())
    ]


def standard_error(one: Named) -> float | None:
    """Of the difference, from its t; None where there is no t."""
    difference, statistic = one.row["difference"], one.row["statistic"]
    if not difference or not statistic:
        return None
    return abs(float(difference) / float(statistic))


def public_name(model: str) -> str:
    """The model's name without the path of a folder on this machine; a hub id stays whole."""
    for kind in (PurePosixPath, PureWindowsPath):
        path = kind(model)
        local = path.is_absolute() or model.startswith((".", "~"))
        if local or len(path.parts) > 2:
            return path.name or model
    return model
