"""A name for every estimate of a run, the same in every run, for gates and exports.

INSTRUMENT.WHAT[.GROUP][.PART][MODEL, VARIANT], such as social-distance.gap[roberta-base]:

    gap             the group that the instrument is about minus the other group;
                    gap-as-asked: the same with the sentences taken as given
    level           the number without adjectives, against 0
    disparity       female minus male, for the group that it is about; disparity.other: for another
    above-baseline  a condition, or an adjective setting, minus the prompts without one;
                    above-baseline-over-trials: the same settings, tested over trials
    over-baseline   female minus male for a group, minus that in sentences without a condition
    above-reference  a condition minus the mean of the other group's conditions
    above-own-group  a condition of that other group minus the same mean, its own group's
    gap-to-rare     the group that the instrument is about minus rare but neutral conditions
    rarity          rare but neutral conditions minus the other group
    order           the most stigmatizing option listed first minus listed last
    keying          agreeing means more of the construct minus less of it
    position        the share of the option listed first, minus one half
    models          one model minus another, [ONE vs OTHER]
    subscales       the disparity in one subscale minus another
    wordings        another wording minus the first
    correlation     of two measures over conditions, [ONE with OTHER]; it has no instrument;
                    correlation-within.GROUP: the same within a group of conditions
    anchor.ANCHOR.ITEM  of a measure with what people said; anchor-rank: of ranks;
                    anchor-in-category: among conditions of the same category;
                    anchor-within.ANCHOR.ITEM.GROUP: within a group
    minus-people.ANCHOR.ITEM.CONDITION  the model's share minus people's;
                    minus-people-overall.ANCHOR.CONDITION: over the items that count;
                    gender-minus-people.ANCHOR.CONDITION: a man minus a woman, minus people's
                    man-minus-woman.ANCHOR.CONDITION: of the model or of people, not tested

Of a number that is not the one by which the measure is known, gap-of-NUMBER, models-of-NUMBER …
Names that are not of a contrast of their own (heading, mean, controls) are in levels.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goffman.analysis.score import measures_of
from goffman.estimates.clear import AGAINST_PEOPLE, ANCHORED, CORRELATIONS
from goffman.estimates.verdict import NOT_MEASURABLE
from goffman.presentation.verdicts import verdict_shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from goffman.measures.base import Measure
    from goffman.runs.manifest import Manifest

WHAT = {
    "groups": "gap",
    "groups-as-asked": "gap-as-asked",
    "level": "level",
    "genders": "disparity",
    "baseline": "above-baseline",
    "trials": "above-baseline-over-trials",
    "reference": "above-reference",
    "own-reference": "above-own-group",
    "over-baseline": "over-baseline",
    "order": "order",
    "keying": "keying",
    "position": "position",
    "against-rare": "gap-to-rare",
    "rarity": "rarity",
    "set-apart": "gap",
    "models": "models",
    "dimensions": "subscales",
    "wordings": "wordings",
    "measures": "correlation",
    "measures-within": "correlation-within",
    "anchor": "anchor",
    "anchor-rank": "anchor-rank",
    "anchor-partial": "anchor-in-category",
    "anchor-without": "anchor-without",
    "anchor-within": "anchor-within",
    "anchor-difference": "minus-people",
    "anchor-overall": "minus-people-overall",
    "anchor-gender": "gender-minus-people",
    "anchor-wording": "minus-people-other-wording",
    "anchor-gender-side": "man-minus-woman",
    "anchor-year": "minus-people-in-year",
}
"""The kind of a contrast → its word in a name."""

EVERY_MODEL = "all-models"
"""In brackets: what was estimated once, over all models together."""

HOLDS_IN = "holds-in"
"""Of a main result: the share of other analyses in which its verdict holds; a column of STRESS."""

HEADING, MEAN, CONTROLS = "heading", "mean", "controls"
"""Words of names that are not of a contrast of their own: see levels.py."""

MEASURABLE = "measurable"
"""What control items say of a model that can do the task."""

ABSOLUTE = "absolute"

FIELDS = {
    "value": "difference",
    ABSOLUTE: "difference",
    "low": "low",
    "high": "high",
    "p": "p",
    "p_adjusted": "p_adjusted",
    "check_p": "check_p",
    "permutation_p": "permutation_p",
    "effect": "effect",
    "effect_low": "effect_low",
    "effect_high": "effect_high",
    "mean_first": "mean_first",
    "mean_second": "mean_second",
    "n": "n",
    "detectable": "detectable",
    HOLDS_IN: "holds_in",
}
"""What can be asked of an estimate → its column; value is what a name alone stands for, absolute
is how far that is from 0."""

_OF_CORRELATION = {
    "value": "effect",
    ABSOLUTE: "effect",
    "low": "effect_low",
    "high": "effect_high",
}


@dataclass(frozen=True, kw_only=True)
class Named:
    """An estimate and its name."""

    path: str
    """Before the bracket: social-distance.gap."""
    model: str | None
    """In the bracket: a model, two of them, or all-models."""
    variant: str | None
    row: Mapping[str, Any]
    """The columns CONTRASTS and ESTIMATES."""
    not_measurable: str | None = None
    """Which model in it cannot do the task, in words; None: every one can, as far as is known."""
    main: bool = False
    """Whether it is known to be one of the main results of its run."""
    stress: Mapping[str, Any] | None = None
    """Of a main result the columns STRESS; None: it is none, or the run was not stressed."""
    own_word: str | None = None
    """The word of a name that is not of a contrast of its own, such as heading; None: it is one. A
    wildcard means such a name only where it has the word itself."""

    @property
    def verdict(self) -> str | None:
        """The verdict as the report shows it; None: no smallest difference is known."""
        return NOT_MEASURABLE if self.not_measurable else verdict_shown(self.row) or None

    @property
    def name(self) -> str:
        """The path and, in brackets, whose it is."""
        inside = ", ".join(part for part in (self.model, self.variant) if part)
        return f"{self.path}[{inside}]" if inside else self.path

    def value(self, field: str) -> float | None:
        """A field of FIELDS; of a correlation the value is r, and the interval that of r."""
        is_correlation = self.row["kind"] in {*CORRELATIONS, *ANCHORED}
        columns = FIELDS | (_OF_CORRELATION if is_correlation else {})
        row = (self.stress or {}) if field == HOLDS_IN else self.row
        found = row.get(columns[field])
        if found is None:
            return None
        return abs(float(found)) if field == ABSOLUTE else float(found)


def named(estimates: pl.DataFrame, manifest: Manifest) -> list[Named]:
    """Every estimate of a run with its name, in the order of the table."""
    return named_by(estimates, measures_of(manifest))


def named_by(estimates: pl.DataFrame, measures: Mapping[str, Measure]) -> list[Named]:
    """The same where only the measures are known, by instrument."""
    groups: dict[str, set[str]] = {}
    for instrument, group in estimates.select("instrument", "group").unique().rows():
        groups.setdefault(instrument, set()).update({group} - {None})
    found = []
    for row in estimates.iter_rows(named=True):
        path = _path(row, measures.get(row["instrument"]), groups=groups[row["instrument"]])
        found.append(Named(path=path, model=_whose(row), variant=row["variant"], row=row))
    return found


def _path(row: Mapping[str, Any], measure: Measure | None, *, groups: set[str]) -> str:
    """Before the bracket; the group that the instrument is about goes without saying."""
    about = getattr(measure, "contrast", None)
    parts = [row["instrument"], _what(row, measure)]
    if row["kind"] in {*ANCHORED, *AGAINST_PEOPLE}:
        parts += [row["second"], row["dimension"], row["group"]]
        return path_of(*parts)
    group, dimension = row["group"], row["dimension"]
    if group is not None and (group != about or dimension in groups):
        parts.append(group)
    parts.append(dimension)
    if row["kind"] in {"baseline", "trials", "reference", "own-reference"}:
        parts.append(row["first"])
    if row["kind"] in {"dimensions", "wordings"}:
        parts.append(f"{row['first']}-vs-{row['second']}")
    return path_of(*parts)


def path_of(*parts: str | None) -> str:
    """What stands before the bracket, of the parts that there are."""
    return ".".join(_word(part) for part in parts if part)


def _what(row: Mapping[str, Any], measure: Measure | None) -> str:
    """The kind of contrast, and of which number where it is not the measure's own."""
    what = WHAT.get(row["kind"], row["kind"])
    known = measure is None or row["quantity"] == _main(measure)
    beside = {*CORRELATIONS, *ANCHORED, *AGAINST_PEOPLE}
    plain = known or row["kind"] in {"genders", "groups-as-asked", *beside}
    return what if plain else f"{what}-of-{row['quantity']}"


def _main(measure: Measure) -> str:
    """The number of the headline, where contrasts are of it, and else the measure's own."""
    compared = {quantity for quantity, _ in measure.contrasts}
    return measure.headline[1] if measure.headline[1] in compared else measure.quantity


def _whose(row: Mapping[str, Any]) -> str | None:
    if row["kind"] == "models":
        return f"{row['first']} vs {row['second']}"
    if row["kind"] in CORRELATIONS:
        return f"{row['first']} with {row['second']}"
    return row["model"] or EVERY_MODEL


def _word(part: str) -> str:
    """An id as part of a name: an adjective setting tough,gentle is tough-gentle, old, is old."""
    return re.sub(r"[^\w-]+", "-", part).strip("-")
