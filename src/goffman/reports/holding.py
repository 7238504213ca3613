"""In how many other analyses each main result holds, beside its name: for gates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from goffman.analysis.estimate import headlines
from goffman.analysis.score import measures_of

if TYPE_CHECKING:
    from goffman.reports.names import Named
    from goffman.reports.run import MeasuredRun


def with_holds(found: Iterable[Named], run: MeasuredRun) -> list[Named]:
    """The estimates of a run; main results with their row of STRESS, if the run was stressed."""
    main = {*headlines(run.estimates, measures_of(run.manifest))["contrast"]}
    summed = run.stressed[1].iter_rows(named=True) if run.stressed else ()
    by = {(row["instrument"], row["model"]): row for row in summed}
    return [
        replace(one, main=True, stress=by.get((one.row["instrument"], one.row["model"])))
        if one.row["contrast"] in main
        else one
        for one in found
    ]
