"""The command that gates on a run's numbers: check."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goffman.cli.params import RunFolder
from goffman.console import GateFormat, printable, say
from goffman.errors import GoffmanError, InputError, system_error

if TYPE_CHECKING:
    from goffman.gate.rules import Condition

BROKEN = 3
"""The exit code if goffman itself failed, so that nothing is known; a failed gate exits with 1."""


def check(
    run: RunFolder,
    *,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE"),
        "Such as 'social-distance.gap is relevant' or 'social-distance.gap > 0.2'. May be "
        "repeated.",
    ] = None,
    thresholds: Annotated[
        Path | None,
        "A TOML file with rules. Default, if you give no --fail-if: goffman.toml in the current "
        "folder.",
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="RUN"),
        "An earlier run to compare with, for rules such as 'gap.change > 0.05'.",
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[=OTHER]"),
        "With --baseline: compare only this model. If it has another name in the later run, give "
        "NAME=OTHER. May be repeated.",
    ] = None,
    style: Annotated[
        GateFormat | None,
        typer.Option("--format"),
        "What to print. Default: text. github also appends a table to the file named in "
        "GITHUB_STEP_SUMMARY.",
    ] = None,
    output: Annotated[
        Path | None, "Write the results to this file, too: JUnit XML (.xml), .json, .md or .txt."
    ] = None,
    show: Annotated[bool, typer.Option("--list"), "Print every name that a rule can use."] = False,
    as_json: Annotated[bool, typer.Option("--json"), "The same as --format json."] = False,
) -> None:
    """Test a run against your rules, for use in automated tests.

    Give each rule with --fail-if, or write all of them into goffman.toml. A rule names a verdict
    ('social-distance.gap is relevant') or compares a value with a number ('social-distance.gap >
    0.2'). In a name, * stands for any text: 'social-distance.above-baseline.* > 0.3'.

    \b
    The verdicts are those of the report:
      relevant              the whole 95% interval lies beyond the smallest
                            difference that counts as relevant
      present               the interval excludes 0, but not that difference
                            ("present, size uncertain")
      negligible            the difference is smaller than that
      inconclusive          there may be no difference, or a relevant one
      these-sentences-only  fewer than three sentences were asked

    To fail on any difference that is shown, give 'gap is relevant or present'.

    'social-distance.controls is not measurable' is true if a model failed the control items.

    After goffman stress, 'holds-in < 0.9' is true if any main result holds in less than 90% of the
    analyses, and 'social-distance.gap.holds-in < 0.9' if that of social-distance does.

    \b
    Exit codes:
      0  no rule is true
      1  at least one rule is true
      2  your input cannot be used, or a value is missing
      3  goffman itself failed
      4  a rule is about a model that failed the control items (not measurable)

    If both 1 and 4 apply, the code is 4.
    """  # noqa: D301 - the escape keeps the lines of the list as they are
    from goffman.runs.files import write_output

    if as_json and style not in {None, GateFormat.JSON}:
        raise InputError(f"Give --json or --format {style}, not both.")
    chosen = GateFormat.JSON if as_json else style or GateFormat.TEXT
    with _undecided_where_broken(chosen):
        from goffman.gate.check import exit_code, gate_input
        from goffman.gate.formats import ENDINGS, Checked, names_json, names_text, written
        from goffman.report.load import read_run

        of_names = style in {None, GateFormat.TEXT, GateFormat.JSON}
        if show and (fail_if or thresholds or output or not of_names):
            raise InputError(
                "--list prints names and tests nothing: leave out the rules, --thresholds, "
                "--output and --format."
            )
        if output is not None and output.suffix.lower() not in ENDINGS:
            raise InputError(f"--output is {output}. Its name must end in {' or '.join(ENDINGS)}.")
        if model and baseline is None:
            raise InputError("--model needs --baseline: it says which models to compare.")
        conditions = [] if show else _rules(fail_if or (), thresholds)
        estimates = gate_input(
            read_run(run),
            baseline=None if baseline is None else read_run(baseline),
            models=model or (),
            note=say,
        )
        if show:
            _print(names_json(estimates) if chosen is GateFormat.JSON else names_text(estimates))
            return
        checked = Checked(run=run, baseline=baseline, outcomes=estimates.gate(conditions))
        _print(written(checked, chosen))
        if output is not None:
            write_output(output, written(checked, ENDINGS[output.suffix.lower()]).encode())
        place = os.environ.get("GITHUB_STEP_SUMMARY")
        if chosen is GateFormat.GITHUB and place:
            # What the file has already stays.
            with Path(place).open("a", encoding="utf-8") as file:
                file.write(written(checked, GateFormat.MARKDOWN) + "\n")
    if code := exit_code(checked.outcomes):
        raise typer.Exit(code)


def _rules(fail_if: Sequence[str], thresholds: Path | None) -> list[Condition]:
    """Return the rules given by themselves, then the file's; raise InputError if there are none."""
    from goffman.gate.rules import DEFAULT, parse, read_thresholds

    conditions = [parse(text) for text in fail_if]
    if thresholds is None and not conditions:
        if not DEFAULT.exists():
            raise InputError(
                "Give a rule, such as --fail-if 'social-distance.gap is relevant', or write rules "
                f"into {DEFAULT}. To see the names that a rule can use, give --list instead."
            )
        thresholds = DEFAULT
        say(f"The rules are those in {DEFAULT}.")
    return conditions + ([] if thresholds is None else read_thresholds(thresholds))


@contextmanager
def _undecided_where_broken(style: GateFormat) -> Iterator[None]:
    """Keep goffman's own failures from reading as a failed gate: both would exit with 1."""
    try:
        yield
    except typer.Exit:
        raise
    except (GoffmanError, OSError) as error:
        failure = system_error(error) if isinstance(error, OSError) else error
        say(*failure.lines)
        _annotate(failure.lines, style)
        code = BROKEN if failure.exit_code == 1 else failure.exit_code
        raise typer.Exit(code) from error
    except Exception as error:
        # Each line has a prefix: GitHub could read a bare line as a command of its own.
        say(*(f"| {line}" for line in traceback.format_exc().splitlines()))
        message = (
            "goffman itself failed, so the check has no result (exit code 3). Please report this."
        )
        say(message)
        _annotate([message], style)
        raise typer.Exit(BROKEN) from error


def _annotate(lines: Iterable[str], style: GateFormat) -> None:
    """Print the lines as an annotation for GitHub, if the outcomes are printed in that format."""
    if style is GateFormat.GITHUB:
        from goffman.gate.formats import annotation

        message = "\n".join(map(printable, lines))
        _print(f"{annotation(message)}\n")


def _print(text: str) -> None:
    """Print the text; ignore that the reader of the output (head) has ended."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            say(f"The output cannot be written: {error.strerror}.")
            raise typer.Exit(BROKEN) from error
