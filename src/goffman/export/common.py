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
    """The model that is meant; InputError where several might be, or none is called so."""
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
    """The estimates of a model that are exported, in the order of the table."""
    main = {name: section.presentation.main for name, section in run.sections.items()}
    return [
        one
        for one in named_estimates(run.estimates, run.manifest)
        if one.row["model"] == model and one.row["kind"] in main.get(asked_id(one.row), ())
    ]


def public_name(model: str) -> str:
    """The model's name without the path of a folder on this machine; a hub id stays whole."""
    for kind in (PurePosixPath, PureWindowsPath):
        path = kind(model)
        local = path.is_absolute() or model.startswith((".", "~"))
        if local or len(path.parts) > 2:
            return path.name or model
    return model
