"""The gate: rules tried on the estimates of a run that they name.

A path without its instrument is that of every instrument, and one without a bracket is every
model's and variant's: each is tried. A "*" stands for any text; one that fits nothing is an error.
A value that is not there is an error and never a pass, and so is a verdict on what could not be
tested; an estimate of a model that cannot do the task is neither passed nor failed. holds-in is a
field of main results, after goffman stress; alone it is that of every one.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goffman.errors import InputError, did_you_mean
from goffman.reports.compare import OF_RUNS, compare, verdicts_said
from goffman.reports.holding import with_holds
from goffman.reports.levels import changes_of_means, controls, headings, means
from goffman.reports.measurable import with_doubts
from goffman.reports.names import CONTROLS, EVERY_MODEL, FIELDS, HOLDS_IN, Named, named
from goffman.reports.outcomes import Outcome, stated_of

if TYPE_CHECKING:
    from goffman.reports.rules import Condition
    from goffman.reports.run import MeasuredRun

COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}

NAMES_ON_A_SCREEN = 15


@dataclass(frozen=True, kw_only=True)
class Checkable:
    """Everything of a run that a rule can name."""

    known: Sequence[Named]
    changes: Sequence[Named] | None = None
    """Against a baseline run; None: there is none."""

    def gate(self, conditions: Iterable[Condition]) -> list[Outcome]:
        """Every condition tried on everything that it names."""
        return gate(conditions, self.known, changes=self.changes)


def checkable(
    run: MeasuredRun,
    *,
    baseline: MeasuredRun | None = None,
    models: Sequence[str] = (),
    note: Callable[[str], None] = lambda _: None,
) -> Checkable:
    """What rules can name: headings, estimates, means and control items; changes if there are any.

    ``models``: as for compare; ``note`` is told what could not be compared, and why.
    """
    estimates = named(run.every_estimate, run.manifest)
    estimates = with_holds(with_doubts(estimates, run), run)
    known = [
        *headings(estimates, run.manifest),
        *estimates,
        *with_doubts(means(run), run),
        *controls(run),
    ]
    if baseline is None:
        return Checkable(known=known)
    return Checkable(known=known, changes=_changes(run, baseline, models, note))


def _changes(
    run: MeasuredRun,
    baseline: MeasuredRun,
    models: Sequence[str],
    note: Callable[[str], None],
) -> list[Named]:
    """The changes of every contrast and mean, under their names."""
    found = compare([baseline, run], models=models, note=note)
    for line in verdicts_said(found):
        note(line)
    changes = []
    for one in found:
        contrasts = [
            each for each in named(one.estimates, run.manifest) if each.row["kind"] not in OF_RUNS
        ]
        every = [*headings(contrasts, run.manifest), *contrasts, *changes_of_means(one, run)]
        why = "; ".join(one.unmeasurable) or None
        changes += [replace(each, not_measurable=why) for each in every]
    return changes


def gate(
    conditions: Iterable[Condition],
    estimates: Sequence[Named],
    *,
    changes: Sequence[Named] | None = None,
) -> list[Outcome]:
    """Every condition tried on every estimate that it names; ``changes``: against a baseline.

    InputError with a line for each condition that cannot be decided.
    """
    outcomes, faults = [], []
    for condition in conditions:
        try:
            known = _changes_for(condition, changes) if condition.change else estimates
            outcomes += [_try(condition, one) for one in _meant(condition, known)]
        except InputError as fault:
            faults.append(str(fault))
    if faults:
        raise InputError("\n".join(dict.fromkeys(faults)))
    return outcomes


def _changes_for(condition: Condition, changes: Sequence[Named] | None) -> Sequence[Named]:
    if changes is None:
        raise InputError(
            f"{condition.given} is about a change. Give the run to compare with: --baseline RUN"
        )
    return changes


def _meant(condition: Condition, known: Sequence[Named]) -> list[Named]:
    """The estimates that a condition names; InputError where there is none."""
    of_path = [one for one in known if _fits(condition.path, one)]
    if not of_path:
        raise _unknown(condition, known)
    if condition.field == HOLDS_IN:
        of_path = [one for one in of_path if one.main]
        if not of_path:
            raise InputError(
                f"{condition.given} cannot be used: only main results have .{HOLDS_IN}, "
                f"and {condition.path or 'this run'} {'is' if condition.path else 'has'} none."
            )
    if condition.whose is None:
        # Of every model; what is over all of them, only where there is nothing else.
        single = {one.path for one in of_path if one.model != EVERY_MODEL}
        return [one for one in of_path if one.model != EVERY_MODEL or one.path not in single]
    inside = re.compile(_pattern(condition.whose))
    meant = [one for one in of_path if condition.whose in _insides(one)] or [
        one for one in of_path if any(inside.fullmatch(each) for each in _insides(one))
    ]
    if not meant:
        allowed = sorted({inside for one in of_path for inside in _insides(one)})
        raise InputError(
            f"{condition.given}: this run has no {condition.path} for "
            f"'{condition.whose}'.{did_you_mean(condition.whose, allowed)} In the brackets you can "
            f"use: {_some(allowed)}."
        )
    return meant


def _fits(path: str, one: Named) -> bool:
    """Whether a path, perhaps with wildcards, is that of an estimate; empty: of any."""
    if "*" not in path:
        return path in {one.path, _short(one)} or (path == "" and one.own_word is None)
    if one.own_word is not None and one.own_word not in path.split("."):
        return False
    return any(re.fullmatch(_pattern(path), each) for each in (one.path, _short(one)))


def _pattern(text: str) -> str:
    """The text as a regular expression in which a star is any text."""
    return ".*".join(re.escape(part) for part in text.split("*"))


def _short(one: Named) -> str:
    """The path without its instrument; a correlation has none."""
    instrument = one.row["instrument"]
    return one.path if instrument is None else one.path.removeprefix(f"{instrument}.")


def _insides(one: Named) -> list[str]:
    """What may stand in the bracket for an estimate."""
    parts = [part for part in (one.model, one.variant) if part]
    return list(dict.fromkeys([*parts, ", ".join(parts)]))


def _unknown(condition: Condition, known: Sequence[Named]) -> InputError:
    if not known:
        none = "there are no estimates, because too few prompts were asked"
        if condition.change:
            none = "there are no changes, because the two runs have too few prompts in common"
        return InputError(f"{condition.given} cannot be decided: {none}.")
    if condition.path.split(".")[-1] == CONTROLS and not condition.change:
        asked = [one.path for one in known if one.own_word == CONTROLS]
        if not asked:
            return InputError(
                f"{condition.given} cannot be decided: no control items were asked in this run."
            )
    what = "change" if condition.change else "estimate"
    if "*" in condition.path:
        return InputError(
            f"{condition.given}: this run has no {what} whose name fits '{condition.path}'. To see "
            "every name, give --list instead of a rule."
        )
    paths = [*(one.path for one in known), *map(_short, known)]
    head = condition.path.rpartition(".")[0]
    fields = [f"{head}.{field}" for field in FIELDS] if head in paths else []
    near = did_you_mean(condition.path, [*paths, *fields])
    return InputError(
        f"{condition.given}: this run has no {what} '{condition.path}'.{near} To see every name, "
        "give --list instead of a rule."
    )


def _some(names: Sequence[str]) -> str:
    """The names, or the first of them and where the others are."""
    if len(names) <= NAMES_ON_A_SCREEN:
        return ", ".join(names)
    rest = len(names) - NAMES_ON_A_SCREEN
    return f"{', '.join(names[:NAMES_ON_A_SCREEN])} … and {rest} more, which --list prints"


def _try(condition: Condition, one: Named) -> Outcome:
    value = one.value(condition.field)
    if value is None and condition.field == HOLDS_IN and one.not_measurable:
        return Outcome(condition=condition, named=one, value=math.nan, failed=False)
    if condition.verdicts:
        stated = stated_of(condition.verdicts, one)
        if stated is None:
            raise _missing(condition, one, "verdict")
        holds = (stated in condition.verdicts) is (condition.comparison == "is")
    elif value is None:
        raise _missing(condition, one, condition.field)
    else:
        holds = COMPARISONS[condition.comparison](value, condition.limit)
    failed = holds and one.not_measurable is None
    number = math.nan if value is None else value
    return Outcome(condition=condition, named=one, value=number, failed=failed)


def _missing(condition: Condition, one: Named, what: str) -> InputError:
    change = ".change" if condition.change else ""
    return InputError(
        f"{condition.given} cannot be decided: {one.name}{change} has no {what} "
        f"({_why_none(one, condition.field)})."
    )


def _why_none(one: Named, field: str) -> str:
    """Why an estimate lacks what a condition is about."""
    if field == HOLDS_IN and one.stress is None:
        return "give this run to goffman stress first"
    row = one.stress if field == HOLDS_IN and one.stress else one.row
    return row["reason"] or "the method gives none"
