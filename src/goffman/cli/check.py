"""The command that gates on a run's numbers: check."""

from __future__ import annotations

import json
import math
import os
import sys
import traceback
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goffman.cli.compare import say_verdicts
from goffman.cli.options import RUN_HELP, Json
from goffman.errors import GoffmanError, InputError, system_error
from goffman.terminal import printable, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goffman.reports.check import Outcome
    from goffman.reports.names import Named
    from goffman.reports.run import MeasuredRun

GATE_FAILED, BROKEN, NOT_MEASURABLE = 1, 3, 4
"""Exit codes of check: what was to fail did; goffman itself failed, so that nothing is known; a
model cannot do the task, so that its numbers decide nothing."""


def check(
    run: Annotated[Path, typer.Argument(metavar="RUN", help=RUN_HELP)],
    *,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULE",
            help="Such as 'social-distance.gap is relevant' or 'social-distance.gap > 0.2'. May be "
            "repeated.",
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            help="An earlier run to compare with, for rules such as 'gap.change > 0.05'.",
        ),
    ] = None,
    show: Annotated[
        bool, typer.Option("--list", help="Print every name that a rule can use.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Test a run against your rules, for use in automated tests.

    Give each rule with --fail-if. A rule names a verdict ('social-distance.gap is relevant') or
    compares a value with a number ('social-distance.gap > 0.2').

    \b
    The verdicts are those of the report:
      relevant    the difference is clear and large enough to matter
      small       clear, but too small to matter
      size-open   clear, but perhaps too small to matter ("clear, size open")
      fragile     clear, but easily lost: it is not clear in at least one analysis
                  that changes a setting, or in more than 10% of the analyses that
                  leave out one item, wording or condition
      equivalent  there is no difference large enough to matter
      undecided   there may be no difference, or one large enough to matter

    'clear' covers the first four, so 'gap is clear' is true for a fragile gap, too. 'gap is
    relevant' is false for a fragile gap, however large. To fail on both, give two rules: 'gap is
    relevant' and 'gap is fragile'. Only main results can be fragile.

    After goffman stress, 'holds-in < 0.9' is true if any main result holds in less than 90% of the
    analyses, and 'social-distance.gap.holds-in < 0.9' if this one does.

    \b
    Exit codes:
      0  no rule is true
      1  at least one rule is true
      2  your input cannot be used, or a value is missing
      3  goffman itself failed
      4  a rule is about a model that failed the control items (not measurable)

    If both 1 and 4 apply, the code is 4.
    """  # noqa: D301 - the escape keeps the lines of the list as they are
    with _undecided_where_broken():
        from goffman.reports.check import gate, parse
        from goffman.reports.holding import with_holds
        from goffman.reports.measurable import with_doubts
        from goffman.reports.names import named
        from goffman.reports.run import read_run

        if bool(fail_if) == show:
            raise InputError(
                "Give a rule, such as --fail-if 'social-distance.gap is relevant'. To see the "
                "names that a rule can use, give --list instead."
            )
        conditions = [parse(text) for text in fail_if or ()]
        measured = read_run(run)
        known = with_doubts(named(measured.every_estimate, measured.manifest), measured)
        known = with_holds(known, measured)
        changes = None if baseline is None else _changes(measured, read_run(baseline))
        if show:
            _print(_names_json(known, changes) if as_json else _names_text(known, changes))
            return
        outcomes = gate(conditions, known, changes=changes)
        failed = any(outcome.failed for outcome in outcomes)
        _print(
            _gate_json(run, baseline, outcomes)
            if as_json
            else "".join(f"{printable(outcome.sentence)}\n" for outcome in outcomes)
        )
    if any(outcome.not_measurable for outcome in outcomes):
        raise typer.Exit(NOT_MEASURABLE)
    if failed:
        raise typer.Exit(GATE_FAILED)


@contextmanager
def _undecided_where_broken() -> Iterator[None]:
    """A failure of goffman's own must not read as a gate that failed: both would exit with 1."""
    try:
        yield
    except typer.Exit:
        raise
    except (GoffmanError, OSError) as error:
        told = system_error(error) if isinstance(error, OSError) else error
        say(str(told))
        raise typer.Exit(BROKEN if told.exit_code == GATE_FAILED else told.exit_code) from error
    except Exception as error:
        say(traceback.format_exc())
        say("goffman itself failed, so the check has no result (exit code 3). Please report this.")
        raise typer.Exit(BROKEN) from error


def _print(text: str) -> None:
    """The text on the output; a reader that has gone (head) does not change the exit code."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            say(f"The output cannot be written: {error.strerror}.")
            raise typer.Exit(BROKEN) from error


def _changes(run: MeasuredRun, baseline: MeasuredRun) -> list[Named]:
    """The changes of every contrast, under the names of the contrasts."""
    from goffman.reports.compare import OF_RUNS
    from goffman.reports.compare import compare as compare_runs
    from goffman.reports.names import named

    found = compare_runs([baseline, run], note=say)
    say_verdicts(found)
    return [
        replace(one, not_measurable="; ".join(comparison.unmeasurable) or None)
        for comparison in found
        for one in named(comparison.estimates, run.manifest)
        if one.row["kind"] not in OF_RUNS
    ]


def _names_text(known: Sequence[Named], changes: Sequence[Named] | None) -> str:
    """A line a name, which stands last because it may be long and must not be broken."""
    from goffman.presentation.numbers import number, p_value
    from goffman.reports.names import FIELDS

    lines = [f"{'value':>9} {'low':>9} {'high':>9} {'p_adjusted':>10} {'verdict':>16}  name"]
    for suffix, names in (("", known), (".change", changes or ())):
        for one in names:
            value, low, high = (
                "none" if found is None else number(found)
                for found in (one.value(field) for field in ("value", "low", "high"))
            )
            p = one.value("p_adjusted")
            tested = "none" if p is None else p_value(p)
            name = printable(f"{one.name}{suffix}")
            word = one.verdict or "none"
            lines.append(f"{value:>9} {low:>9} {high:>9} {tested:>10} {word:>16}  {name}")
    fields = ", ".join(f".{name}" for name in FIELDS if name != "value")
    return "\n".join(lines) + (
        "\n\nA name alone means the value. Before 'is', it means the verdict. For another number, "
        f"add one of these to the name: {fields}. A name without brackets covers all models and "
        "variants. A name without the instrument covers all "
        f"instruments.\n\n{_legend([*known, *(changes or ())])}"
    )


_MEANINGS = {
    "gap": "one group of conditions minus the other",
    "gap-as-asked": "the same gap, tested as in the original study",
    "level": "the value without adjectives, compared with 0",
    "disparity": "female minus male",
    "over-baseline": "female minus male with a diagnosis, minus female minus male without one",
    "above-baseline": "one condition minus the same sentences without a condition",
    "above-baseline-over-trials": "the same, tested over trials",
    "above-reference": "one condition minus the mean of the other group",
    "models": "one model minus another",
    "subscales": "one subscale minus another",
    "wordings": "one wording minus another",
    "correlation": "between two measures, over all conditions",
    "correlation-within": "between two measures, over the conditions of one group",
}
"""What the second part of a name means."""


def _legend(names: Sequence[Named]) -> str:
    """A line for each kind of contrast that the names have."""
    paths = (one.name.partition("[")[0].split(".") for one in names)
    there = {part.split("-of-")[0] for path in paths for part in path}
    said = "".join(
        f"{what:>26}: {meaning}\n" for what, meaning in _MEANINGS.items() if what in there
    )
    gaps = {one.row["instrument"]: one.row["quantity"] for one in names if ".gap[" in one.name}
    keyed = [instrument for instrument, quantity in gaps.items() if "keyed" in quantity]
    if keyed:
        said += (
            f"\nIn {' and '.join(keyed)}, gap is reverse-keyed: the sign is changed for statements "
            "in which agreeing means less stigma.\n"
        )
    return said


def _names_json(known: Sequence[Named], changes: Sequence[Named] | None) -> str:
    from goffman.reports.names import FIELDS

    rows = [
        {
            "name": f"{one.name}{suffix}",
            **{field: one.value(field) for field in FIELDS},
            "verdict": one.verdict,
            "not_measurable": one.not_measurable,
        }
        for suffix, names in (("", known), (".change", changes or ()))
        for one in names
    ]
    return json.dumps(rows, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _gate_json(run: Path, baseline: Path | None, outcomes: Sequence[Outcome]) -> str:
    found = {
        "run": str(run),
        "baseline": None if baseline is None else str(baseline),
        "failed": any(outcome.failed for outcome in outcomes),
        "outcomes": [
            {
                "condition": outcome.condition.text,
                "name": outcome.name,
                "value": None if math.isnan(outcome.value) else outcome.value,
                "comparison": outcome.condition.comparison,
                "limit": outcome.condition.verdict or outcome.condition.limit,
                "verdict": outcome.named.verdict,
                "failed": outcome.failed,
                "not_measurable": outcome.not_measurable,
                "sentence": outcome.sentence,
            }
            for outcome in outcomes
        ],
    }
    return json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
