"""The gate of ``goffman check`` for tests in Python, with the same rules and the same sentences.

    from goffman.testing import assert_passes, assert_within

    def test_the_gap_is_small():
        assert_within("runs/mine", "social-distance.gap", limit=0.1)

    def test_all_thresholds():
        assert_passes("runs/mine", "goffman.toml")

A rule that is not met raises AssertionError. A model that cannot do the task raises
NotMeasurableError, which is an AssertionError, too. What cannot be used at all (a name that the run
does not have, a missing value) raises GoffmanError, as everywhere. What must be known about a
comparison with a baseline is a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from goffman.api.public import open_run
from goffman.api.results import Run
from goffman.config import Text
from goffman.console import printable
from goffman.errors import InputError
from goffman.gate.check import GateInput, counted, gate_input, in_order
from goffman.gate.rules import (
    BOUNDS,
    DEFAULT,
    Condition,
    RuleSyntaxError,
    read_name,
    read_rule,
    read_thresholds,
    rule_texts,
)

__all__ = ["NotMeasurableError", "assert_passes", "assert_within"]


class NotMeasurableError(AssertionError):
    """The error that a model in a rule cannot do the task, so that its numbers decide nothing."""


def assert_within(
    run: Run | Text,
    name: str,
    *,
    limit: float | None = None,
    at_least: float | None = None,
    bound: Literal["estimate", "low", "high", "absolute"] = "estimate",
    baseline: Run | Text | None = None,
    models: str | Sequence[str] = (),
) -> None:
    """Raise AssertionError unless every number with the name is within the limits.

    ``run``: a run, or its folder. ``name``: as ``goffman check --list`` prints it; * is any text.
    ``limit``, ``at_least``: the largest and the smallest number allowed. ``bound``: which number of
    an estimate. ``baseline``: an earlier run, for names that end in .change; ``models``: NAME=OTHER
    if the model NAME of the baseline is called OTHER in the run.
    """
    __tracebackhide__ = True
    if limit is None and at_least is None:
        raise InputError("Give limit, at_least or both.")
    if bound not in BOUNDS:
        raise InputError(f"bound is '{bound}'. Allowed: {', '.join(BOUNDS)}.")
    try:
        read_name(name)
        rule = {"name": name, "limit": limit, "at-least": at_least, "bound": bound}
        conditions = [read_rule(text) for _, text in rule_texts(rule)]
    except RuleSyntaxError as fault:
        raise InputError(f"'{name}' cannot be used: {fault.what}.{fault.hint}") from fault
    _raise_unless_met(conditions, run, baseline, models)


def assert_passes(
    run: Run | Text,
    thresholds: Text = DEFAULT,
    *,
    baseline: Run | Text | None = None,
    models: str | Sequence[str] = (),
) -> None:
    """Raise AssertionError unless the run meets every rule of the file; see ``assert_within``."""
    __tracebackhide__ = True
    conditions = read_thresholds(Path(thresholds))
    _raise_unless_met(conditions, run, baseline, models)


def _raise_unless_met(
    conditions: Iterable[Condition],
    run: Run | Text,
    baseline: Run | Text | None,
    models: str | Sequence[str],
) -> None:
    """Raise AssertionError with a line for each rule that is not met, or not decided."""
    __tracebackhide__ = True
    model_names = (models,) if isinstance(models, str) else tuple(models)
    if model_names and baseline is None:
        raise InputError("models needs baseline: it says which models to compare.")
    earlier = None if baseline is None else _opened(baseline)
    outcomes = _named_of(_opened(run), earlier, model_names).gate(conditions)
    if failures := [result for result in in_order(outcomes) if result.status != "ok"]:
        undecided = any(result.status == "not decided" for result in failures)
        error = NotMeasurableError if undecided else AssertionError
        raise error(
            "\n".join([*(printable(result.sentence) for result in failures), counted(outcomes)])
        )


def _opened(run: Run | Text) -> Run:
    if isinstance(run, Run):
        return run
    manifest = Path(run) / "manifest.json"
    # A run that was measured again is another run.
    modified = manifest.stat().st_mtime_ns if manifest.is_file() else 0
    return _read(Path(run).resolve(), modified)


@lru_cache(maxsize=8)
def _read(folder: Path, _changed: int) -> Run:
    return open_run(folder)


@lru_cache(maxsize=8)
def _named_of(run: Run, baseline: Run | None, models: tuple[str, ...]) -> GateInput:
    """Return what rules can name in a run, which is read once for all tests of it."""
    return gate_input(
        run.measured,
        baseline=None if baseline is None else baseline.measured,
        models=models,
        note=lambda text: warnings.warn(text, stacklevel=2),
    )
