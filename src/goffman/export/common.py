"""What exports of a run share: one model's main estimates, each with its name and error."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from goffman.comparison.runs import answered, the_model_called
from goffman.errors import InputError
from goffman.gate.names import NamedEstimate, named_estimates
from goffman.modes import asked_id

if TYPE_CHECKING:
    from goffman.report.load import MeasuredRun


def the_model(run: MeasuredRun, given: str | None) -> str:
    """Return the model that is meant; raise InputError if none or several could be meant."""
    models = answered(run)
    if given is None and len(models) == 1:
        return models[0]
    if not models:
        raise InputError(f"{run.folder} has no scores for any model.")
    if given is None:
        raise InputError(
            f"{run.folder} has {len(models)} models. Choose one with --model: {', '.join(models)}."
        )
    return the_model_called(given, models, who=f"{run.folder} has")


def main_estimates(run: MeasuredRun, model: str) -> list[NamedEstimate]:
    """Return the estimates of a model that are exported, in the order of the table."""
    main = {name: section.presentation.main for name, section in run.sections.items()}
    return [
        estimate
        for estimate in named_estimates(run.estimates, run.manifest)
        if estimate.row["model"] == model
        and estimate.row["kind"] in main.get(asked_id(estimate.row), ())
    ]


def public_name(model: str) -> str:
    """Return the model's name without a local folder's path; a hub id stays whole."""
    for kind in (PurePosixPath, PureWindowsPath):
        path = kind(model)
        local = path.is_absolute() or model.startswith((".", "~"))
        if local or len(path.parts) > 2:
            return path.name or model
    return model
