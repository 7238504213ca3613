"""Which test, interval and fallback a contrast gets, by the shape of what was asked.

Two groups of conditions, or two models on the same ones, in a table of conditions × items ×
wordings get a t after Satterthwaite over all that has three levels or more; items or wordings of
which there are fewer are treated as fixed, and without both it is a t over conditions. A condition
that lacks a cell is left out (in both models); an item that nobody answered does not count. It
takes two whole conditions on a side. Over all models each cell is their mean.
Means of conditions get Welch's t (two groups) or a paired t (women and men).
One condition against the baseline, the other group's mean, its own group's or itself in another
model gets a paired t over items where there is one wording, else a crossed t over items × wordings.
A cell of such a mean needs more than half of the conditions; an own group needs two of them.
A crossed t needs three rows, three columns and every cell. With a gap there is no p, and the
interval is drawn if there are four of both; too small or constant a table gets neither. Tables of
items × conditions share both (women and men, models, wordings, orders, keyings, the baseline beside
each condition), the items (two groups) or the conditions (two subscales).
Women and men described alike: with a gap, pairs of questions are clustered by item and condition,
if there are six of both; else the interval stays drawn.
Descriptions: three or more to compare with are sampled too, and items with a gap are left out as
long as three stay; one or two are fixed, their mean beside each cell.
Wordings in turn (no question in two) count as one wording, in attitudes and codes. Items in turn
(no condition has all) get a t clustered by condition and item, in groups and models of codes: six
of both are needed, df is the fewer less two, and there are no effects and no checks. Of single
conditions only those with themselves in another model are then compared, over their own items.
Two presentations (orders, keyings, wordings of codes) of different cells are clustered likewise;
of fewer than three items, four conditions or more that have both get a paired t, else Welch's.
Wordings that share no item are not compared.
Paired and Welch's t of fewer than four units keep p and the effect's interval, not their own.
Sentence pairs get a t clustered by frame, referent and other occupation: six of each are needed, df
is the fewest less two, and there is no test where it is not known what they share. In preferences
the referent's sign is taken out. A pair that lacks a setting is left out of means.
Trials get Welch's t, from two on; else an interval drawn over four sentence pairs or more, no p.
Correlations get t of Pearson's r from three conditions, Fisher's interval from four, drawn from 25.
What is constant gets no test. Without a baseline, a second presentation or a rare group there is no
row. Pairs are checked by Wilcoxon's ranks, sets by Mann and Whitney's; a bare test is not checked.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

from goffman.contrasts.catalog import (
    genders_over_conditions,
    groups_over_conditions,
    models_by_condition,
)
from goffman.contrasts.engine import ContrastTester
from goffman.estimates import Clusters, estimates
from goffman.instruments.types import BASELINE
from goffman.measures.coreference import CoreferenceBias
from goffman.measures.coreference_choice import CoreferenceChoice
from goffman.measures.multiple_choice import MeanCode
from goffman.measures.multiple_choice_by_gender import CodeByGender
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.measures.pronoun_preference import PronounPreference
from goffman.measures.sentiment import NegativeSentiment
from goffman.measures.subject_gender import SubjectGender
from goffman.measures.vignettes import VignetteCode
from simulated import frame, only


class At(NamedTuple):
    """Where a value stands: the places of its model, quantity, group and so on, from 0."""

    m: int
    q: int
    g: int
    c: int
    i: int
    w: int


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What was asked of whom, and what was answered.

    ``sizes``: conditions of each group; ``silent``: where there is no value. A ``value`` of None is
    drawn, with a part for each condition, item and wording. No ``frames``: they are not known.
    """

    sizes: tuple[int, ...] = (6, 5)
    items: int = 7
    wordings: int = 4
    models: int = 1
    trials: int = 1
    dimensions: int = 0
    asked: Callable[[At], bool] = lambda at: True
    silent: Callable[[At], bool] = lambda at: False
    value: Callable[[At], float] | None = None
    frames: int = 8

    def but(self, **changes: Any) -> Asked:
        """Change something."""
        return replace(self, **changes)

    def sharing(self) -> Clusters:
        """Say what sentence pairs share."""
        pairs = {f"i{k:02}": k for k in range(self.items if self.frames else 0)}
        ways = {at: (f"f{k % self.frames}", f"r{k % 7}", f"o{k // 3}") for at, k in pairs.items()}
        return Clusters(ways=ways, signs={at: (-1.0) ** k for at, k in pairs.items()})


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A contrast: the kind that is looked for, and the scores of which it is made.

    ``parts``: instrument, level and quantities of each.
    """

    measures: dict[str, Any]
    kind: str
    parts: tuple[tuple[str, str, tuple[str, ...]], ...]
    groups: tuple[str, ...]
    wordings: tuple[str, ...]

    def scores(self, asked: Asked) -> pl.DataFrame:
        """Make SCORES; a condition, or a trial, has one value, as of one item and wording."""
        rows: list[dict[str, object]] = []
        for seed, (instrument, level, quantities) in enumerate(self.parts):
            rng = np.random.default_rng(seed)
            of_cells = level in ("prompt", "presentation")
            sentences = (asked.items, asked.wordings) if of_cells else (1, 1)
            sides = (range(asked.models), range(len(quantities)), range(len(asked.sizes)))
            for m, q, g in itertools.product(*sides):
                shape = np.array((asked.sizes[g], *sentences, asked.trials))
                drawn = 0.5 * rng.normal(size=shape)
                for axis in range(3):
                    drawn = drawn + rng.normal(size=np.where(np.arange(4) == axis, shape, 1))
                for (c, i, w, trial), value in np.ndenumerate(drawn):
                    at, group = At(m, q, g, c, i, w), self.groups[g]
                    if not asked.asked(at):
                        continue
                    made = value if asked.value is None else asked.value(at)
                    name = group if group == BASELINE else f"{group}{c}"
                    scale = f"d{i % asked.dimensions}" if asked.dimensions else None
                    rows.append(
                        {"instrument": instrument, "level": level, "quantity": quantities[q]}
                        | {"model": f"m{m}", "group": group, "condition": name, "form": name}
                        | {"item": f"i{i:02}", "wording": self.wordings[w], "trial": trial + 1}
                        | {"value": None if asked.silent(at) else made, "dimension": scale}
                    )
        return frame(rows, measure="x")

    def estimates(self, asked: Asked, *, bare: bool, **ids: str | None) -> pl.DataFrame:
        """Make the contrasts of this kind, and with these ids."""
        found = estimates(
            self.scores(asked),
            self.measures,
            wordings=dict.fromkeys(self.measures, self.wordings[: asked.wordings]),
            sharing={"x": asked.sharing()},
            pairs=[("m0", "m0")],
            compare=ContrastTester(draws=99, bare=bare),
        )
        wanted = {"kind": self.kind, **ids}
        return found.filter(pl.col(name).eq_missing(pl.lit(of)) for name, of in wanted.items())


PEOPLE = ("stigmatized", "non-stigmatized", "rare", BASELINE)
ILL = ("mental-health", "other", "", BASELINE)
SETTINGS = (BASELINE, "contrasting-pair", "single-adjective")


def entry(
    measure: Any, quantities: tuple[str, ...], kind: str, *, at: str = "prompt", of: Any = PEOPLE
) -> Entry:
    """Look at one measure."""
    names = ("pro", "anti") if of == SETTINGS else ("w0", "w1", "w2", "w3")
    parts = (("x", at, quantities),)
    return Entry(measures={"x": measure}, kind=kind, parts=parts, groups=of, wordings=names)


attitude = partial(entry, NegativeAttitude(), ("negative",))
code = partial(entry, MeanCode(), ("code",), at="presentation")
gender = partial(entry, SubjectGender(), ("disparity",), of=ILL)
bias = partial(entry, CoreferenceBias(), ("correct",), of=SETTINGS)
WAYS, WORDINGS, LEVEL = code("wordings"), attitude("wordings"), bias("level")
DESCRIBED = entry(VignetteCode(), ("code",), "groups", of=("disorder", "daily-troubles"))
EACH = only(NegativeAttitude, models_by_condition, of="negative")
GROUPS, CODES, MODELS = attitude("groups"), code("groups"), attitude("models")
BASE, MEAN, OTHERS = attitude("baseline"), attitude("reference"), attitude("own-reference")
AS_ASKED = attitude("groups-as-asked", at="condition")
GIVEN_SENTENCES = only(NegativeAttitude, groups_over_conditions, of="negative")
MEANS = entry(GIVEN_SENTENCES, ("negative",), "groups-as-asked")
ITSELF = entry(EACH, ("negative",), "conditions")
SENTIMENT = entry(NegativeSentiment(), ("negative-probability",), "groups")
ORDER = entry(MeanCode(), ("stigma-first", "stigma-last"), "order")
KEYING = entry(MeanCode(), ("plain-keyed", "reversed-keyed"), "keying")
WOMEN = entry(SubjectGender(), ("female", "male", "disparity"), "genders", of=ILL)
GENDERS_GIVEN = only(SubjectGender, genders_over_conditions, of="disparity")
WOMEN_MEANS = replace(WOMEN, measures={"x": GENDERS_GIVEN})
ALIKE = replace(WOMEN, measures={"x": CodeByGender()})
PREFERENCE = entry(PronounPreference(), ("preference",), "level", of=SETTINGS)
LISTED = entry(CoreferenceChoice(), ("first-listed",), "position", at="presentation", of=SETTINGS)
TRIALS = replace(bias("trials"), parts=(*bias("").parts, ("x", "trial", ("bias",))))
BOTH = (("x", "condition", ("negative",)), ("y", "condition", ("negative-probability",)))
MEASURES = {"x": NegativeAttitude(), "y": NegativeSentiment()}
TWO = replace(attitude("measures"), measures=MEASURES, parts=BOTH)


@dataclass(frozen=True)
class Gets:
    """What the columns of an estimate say; of method and reason, what is in them."""

    test: str
    unit: str | None
    over: str | None
    method: str
    check: str | None = None
    check_over: str | None = None
    reason: str | None = None
    interval: str = "of the difference"

    def without(self, reason: str, interval: str = "none") -> Gets:
        """Leave out the interval."""
        return replace(self, reason=reason, interval=interval)

    def gap(self, interval: str = "of the difference") -> Gets:
        """Draw the interval, since a cell is missing."""
        drawn = self.method.replace(T, "percentile bootstrap")
        return replace(self.without("needs every value", interval), method=drawn)


RANKS, SETS, T = "Wilcoxon's signed ranks", "Mann–Whitney U", "t after Satterthwaite"
FIXED = "conditions, with these sentences treated as fixed"
EQUAL, FEW, NOBODY, NO_PAIR = "are equal", "at least", "has no values", "no pair has both"
SPREAD, ONLY = "nothing shows how much", "of the effect"
EFFECT = ("too few for an interval: it takes 4", ONLY)


def sampled(test: str, over: str) -> Gets:
    """Expect conditions × items × wordings."""
    return Gets(test, "conditions", over, f"p: {T}, {over}; effects of condition", SETS, FIXED)


def crossed(rows: str, columns: str, checked: str) -> Gets:
    """Expect rows × columns."""
    over, method = f"{rows} and {columns}", f"{T}, {rows} and {columns} crossed, tables of"
    return Gets("crossed t", f"{rows} × {columns}", f"{over}, crossed", method, RANKS, checked)


def clustered(unit: str, by: str) -> Gets:
    """Expect pairs that share something."""
    over, checked = f"{unit}, clustered by {by}", f"{unit}, as if none shared anything"
    return Gets("clustered t", unit, over, f"interval and p: {over}; effects", RANKS, checked)


def plain(test: str, over: str, check: str) -> Gets:
    """Expect values of which none share anything."""
    return Gets(test, over, over, "interval by t; d", check, over)


ALL = sampled("three-way crossed t", "conditions, items and wordings, crossed")
BY_ITEM = sampled("crossed t", "conditions and items, crossed")
BY_WORDING = sampled("crossed t", "conditions and wordings, crossed")
GIVEN = sampled("t over conditions", FIXED)
SENTENCES = crossed("items", "wordings", "items, means over wordings")
CELLS = crossed("items", "conditions", "conditions, means over items")
UNPAIRED = replace(CELLS, check=SETS)
TOLD = "items and disorder conditions, crossed; treated as fixed: daily-troubles conditions (2)"
BESIDE = replace(CELLS, over=TOLD)
PAIRS = clustered("sentence pairs", "frame and both occupations")
QUESTIONS = clustered("pairs of questions", "item and condition")
TURN = "conditions and items, each condition with some of them"
HOW = f"answers clustered by condition and item; interval over {TURN}"
SOME = Gets("clustered t", "conditions", TURN, HOW)
ITEMS, SAME = plain("paired t", "items", RANKS), plain("paired t", FIXED, RANKS)
WELCH, WELCH_GIVEN = (plain("Welch's t", over, SETS) for over in ("conditions", FIXED))
OF_TRIALS = plain("Welch's t", "trials", SETS)
BCA = "interval: bca bootstrap over sentence pairs"
OF_ONE = replace(OF_TRIALS, over="sentence pairs", method=BCA, reason=SPREAD)
R = ("t of Spearman's ρ", "conditions", None, ONLY)
FISHER = Gets("t of Pearson's r", "conditions", "conditions", "p by t; interval by Fisher's z", *R)
DIFFERENCES, NONE = replace(ALL, check=RANKS), replace(GIVEN, check=RANKS).without(NO_PAIR)
LEFT = replace(UNPAIRED, reason="1 of 7 items are left out")
ONE_EACH = clustered("sentences", "frame and both occupations")
DRAWN = replace(FISHER, method="interval: bca bootstrap over conditions; p by t")

FULL, ONE, TWICE, BASED = Asked(), Asked(wordings=1), Asked(models=2), Asked(sizes=(6, 5, 4, 1))
IN_TURN = Asked(items=14, wordings=1, asked=lambda at: (at.c + at.i) % 2 == 0)
WORDED = Asked(asked=lambda at: at.w == (at.c + at.i) % 4)
MOST = Asked(asked=lambda at: at.w == 0 or (at.c + at.i) % 3 > 0)
ONE_WAY = Asked(wordings=1, asked=lambda at: (at.c + at.i) % 2 == at.q)
GAP = Asked(wordings=1, silent=lambda at: at.c == at.i == 0)
SILENT = GAP.but(sizes=(4, 3))
MIXED = IN_TURN.but(models=2, asked=lambda at: at.m == 1 or (at.c + at.i) % 2 == 0)
OF_PAIRS = Asked(sizes=(1, 2, 2), items=24, wordings=2)
OFF = ONE.but(sizes=(2, 2), value=lambda at: (at.i - 3) * (at.g == at.c == 0))
NOISE = Asked(value=lambda at: (at.c + 1) ** 5 * (at.i + 2) * (at.w + 3) % 13)
SMALL = BASED.but(wordings=3, silent=GAP.silent)
SECOND = Asked(silent=lambda at: at.g == 1 and at.c == at.i == 0)
THREE = MOST.but(sizes=(3,), items=2)
SCALES = ONE.but(dimensions=2)
LACKING = OF_PAIRS.but(asked=lambda at: (at.c, at.i) != (1, 0))
SIGNS = OF_PAIRS.but(wordings=1, value=lambda at: (-1) ** at.i * (at.w == 0))
SOME_ALL = IN_TURN.but(asked=lambda at: at.c < 2 or (at.c + at.i) % 2 == 0)
ONCE = Asked(asked=lambda at: at.w == (at.c + at.i) % 4 or at[2:] == (0, 0, 0, 1))


@dataclass(frozen=True)
class Case:
    """A design, and what its contrast gets; None: there is no such row. Without df: no p."""

    name: str
    entry: Entry
    asked: Asked
    gets: Gets | None
    n: int = 0
    df: float | None = None
    left_out: int = 0
    ids: dict[str, str | None] = field(default_factory=dict)
    bare: bool = False


OVER_ALL: dict[str, str | None] = {"model": None}
BARE = Gets("three-way crossed t", None, None, f"interval and p: {T}")
CASES = (
    Case("groups", GROUPS, FULL, ALL, 11, 11.61),
    Case("groups, one wording", GROUPS, ONE, BY_ITEM, 11, 13.34),
    Case("groups, two wordings", GROUPS, Asked(wordings=2), BY_ITEM, 11, 12.07),
    Case("groups, one item", GROUPS, Asked(items=1), BY_WORDING, 11, 7.82),
    Case("groups, two items, two wordings", GROUPS, Asked(items=2, wordings=2), GIVEN, 11, 7.3),
    Case("groups, one condition", GROUPS, Asked(sizes=(6, 1)), ALL.without(SPREAD), 7),
    Case("groups, two conditions each", GROUPS, Asked(sizes=(2, 2)), ALL, 4, 5.22),
    Case("groups, a gap in each", GROUPS, GAP, BY_ITEM, 9, 11.11, 2),
    Case("groups, a silent item", GROUPS, Asked(silent=lambda at: at.i == 0), ALL, 11, 9.21),
    Case("groups, constant", GROUPS, Asked(value=lambda at: at.i), ALL.without(EQUAL), 11),
    Case("groups, noise alone", GROUPS, NOISE, ALL, 11, 3),
    Case("groups, items taken off", GROUPS, OFF, BY_ITEM.without(EQUAL), 4),
    Case("groups over all models", GROUPS, TWICE, ALL, 11, 9.24, 0, OVER_ALL),
    Case("groups, bare", GROUPS, FULL, BARE, 11, 11.61, bare=True),
    Case("group and rare", attitude("against-rare"), BASED, ALL, 10, 9.39),
    Case("no rare", attitude("rarity"), FULL, None),
    Case("models", MODELS, TWICE, DIFFERENCES, 6, 12.06),
    Case("models, a gap", MODELS, TWICE.but(silent=GAP.silent), DIFFERENCES, 5, 11.69, 1),
    Case("means", AS_ASKED, FULL, WELCH, 11, 8.98),
    Case("means, three", AS_ASKED, Asked(sizes=(3, 6)), WELCH.without(*EFFECT), 9, 5.67),
    Case("means, one", AS_ASKED, Asked(sizes=(1, 6)), WELCH.without(SPREAD), 7),
    Case("means of prompts", MEANS, FULL, WELCH, 11, 7.14),
    Case("means of women and men", WOMEN_MEANS, ONE, plain("paired t", "conditions", RANKS), 6, 5),
    Case("wordings in turn", GROUPS, WORDED, BY_ITEM, 11, 7.42),
    Case("wordings in turn, codes", CODES, WORDED, BY_ITEM, 11, 7.42),
    Case("wordings in turn, reference", MEAN, WORDED, ITEMS, 7, 6),
    Case("items in turn", CODES, IN_TURN, SOME, 11, 9),
    Case("items in turn, five", CODES, IN_TURN.but(items=5), SOME.without(FEW), 11),
    Case("items in turn, few conditions", CODES, IN_TURN.but(sizes=(3, 2)), SOME.without(FEW), 5),
    Case("items in turn, models", code("models"), IN_TURN.but(models=2), SOME, 6, 4),
    Case("items in turn, baseline", code("baseline"), IN_TURN.but(sizes=(6, 5, 0, 1)), None),
    Case("items in turn, reference", code("reference"), IN_TURN, None),
    Case("items in turn, a condition", ITSELF, IN_TURN.but(models=2), ITEMS, 7, 6),
    Case("baseline", BASE, BASED, SENTENCES, 28, 5.9),
    Case("baseline, one wording", BASE, BASED.but(wordings=1), ITEMS, 7, 6),
    Case("baseline, two wordings", BASE, BASED.but(wordings=2), SENTENCES.without(FEW), 14),
    Case("baseline, one item", BASE, BASED.but(items=1), SENTENCES.without(SPREAD), 4),
    Case("baseline, three", BASE, BASED.but(items=3, wordings=1), ITEMS.without(*EFFECT), 3, 2),
    Case("baseline, a gap", BASE, BASED.but(silent=GAP.silent), SENTENCES.gap(), 24, None, 4),
    Case("baseline, a gap of few", BASE, SMALL, SENTENCES.gap("none"), 18, None, 3),
    Case("no baseline", BASE, FULL, None),
    Case("reference, a gap of five", MEAN, SECOND, SENTENCES, 28, 8.77),
    Case("reference, a gap of two", MEAN, SECOND.but(sizes=(6, 2)), SENTENCES.gap(), 24, None, 4),
    Case("own group", OTHERS, FULL, SENTENCES, 28, 3.67),
    Case("own group of one", OTHERS, Asked(sizes=(6, 1)), None),
    Case("a condition in two models", ITSELF, TWICE, SENTENCES, 28, 8.38),
    Case("wordings", WORDINGS, FULL, CELLS, 77, 5.5),
    Case("wordings of some cells", WAYS, MOST, SOME, 11, 5),
    Case("wordings of two items", WAYS, MOST.but(items=2), SAME, 11, 10),
    Case("wordings of three conditions", WAYS, THREE, WELCH_GIVEN.without(*EFFECT), 6, 3.7),
    Case("wordings of other items", WAYS, Asked(asked=lambda at: at.w == at.i % 4), None),
    Case("orders", ORDER, ONE, CELLS, 77, 13.08),
    Case("orders, each question in one", ORDER, ONE_WAY, SOME, 11, 5),
    Case("keyings, items in one", KEYING, ONE.but(asked=lambda at: at.i % 2 == at.q), SOME, 11, 5),
    Case("one keying", KEYING, ONE.but(asked=lambda at: at.q == 0), None),
    Case("women and men", WOMEN, ONE, CELLS, 42, 7.79),
    Case("women and men, subscale", WOMEN, SCALES, CELLS, 24, 7.44, 0, {"dimension": "d0"}),
    Case("women and men, a gap", WOMEN, GAP, CELLS.gap(), 41, None, 1),
    Case("women and men, constant", WOMEN, ONE.but(value=len), CELLS.without(EQUAL), 42),
    Case("groups of cells", gender("groups"), ONE, UNPAIRED, 77, 13.34),
    Case("over baseline", gender("over-baseline"), BASED.but(wordings=1), CELLS, 42, 10.55),
    Case("over no baseline", gender("over-baseline"), ONE, None),
    Case("models over cells", gender("models"), TWICE, CELLS, 42, 8.75),
    Case("subscales", gender("dimensions"), SCALES, CELLS, 42, 4.7),
    Case("wordings over cells", gender("wordings"), FULL, CELLS, 42, 3.51),
    Case("people, a gap", ALIKE, GAP, QUESTIONS, 41, 4),
    Case("people, a gap in five items", ALIKE, GAP.but(items=5), CELLS.gap(), 29, None, 1),
    Case("descriptions", DESCRIBED, Asked(sizes=(4, 3)), UNPAIRED, 49, 3.97),
    Case("descriptions against two", DESCRIBED, Asked(sizes=(4, 2)), BESIDE, 28, 8.85),
    Case("descriptions, a gap", DESCRIBED, SILENT, LEFT, 42, 4.03, 7),
    Case("descriptions, few", DESCRIBED, SILENT.but(items=3), UNPAIRED.gap("none"), 19, None, 2),
    Case("level", LEVEL, OF_PAIRS, PAIRS, 24, 5),
    Case("level, frames unknown", LEVEL, OF_PAIRS.but(frames=0), PAIRS.without("not known"), 24),
    Case("level, five frames", LEVEL, OF_PAIRS.but(frames=5), PAIRS.without(FEW), 24),
    Case("level, constant", LEVEL, OF_PAIRS.but(value=len), PAIRS.without(EQUAL), 24),
    Case("level, signs alone", LEVEL, SIGNS.but(wordings=2), PAIRS, 24, 5),
    Case("settings", bias("baseline"), OF_PAIRS, PAIRS, 24, 5),
    Case("kinds of settings, a gap", bias("groups"), LACKING, PAIRS, 23, 5, 1),
    Case("models over pairs", bias("models"), OF_PAIRS.but(models=2), PAIRS, 24, 5),
    Case("preference", PREFERENCE, OF_PAIRS.but(wordings=1), ONE_EACH, 24, 5),
    Case("preference, signs alone", PREFERENCE, SIGNS, ONE_EACH.without(EQUAL), 24),
    Case("position", LISTED, OF_PAIRS, PAIRS, 24, 5),
    Case("trials", TRIALS, OF_PAIRS.but(trials=3), OF_TRIALS, 6, 2.85),
    Case("one trial", TRIALS, OF_PAIRS, OF_ONE, 2),
    Case("one trial of three pairs", TRIALS, OF_PAIRS.but(items=3), OF_ONE.without("takes 4"), 2),
    Case("correlation, 25", TWO, Asked(sizes=(25,)), DRAWN, 25, 23),
    Case("correlation, 24", TWO, Asked(sizes=(24,)), FISHER, 24, 22),
    Case("correlation, three", TWO, Asked(sizes=(3,)), FISHER.without("needs four", ONLY), 3, 1),
)

ODD = (
    Case("items in turn, attitudes", GROUPS, IN_TURN, BY_ITEM.without(NOBODY), 0, None, 11),
    Case("items in turn, reference of attitudes", MEAN, IN_TURN, ITEMS, 7, 6, 7),
    Case("items in turn, wordings", WAYS, IN_TURN.but(wordings=2), CELLS.gap(), 77, None, 77),
    Case("items in turn, cells", gender("groups"), IN_TURN, UNPAIRED.gap(), 77, None, 77),
    Case("items in turn, one condition", CODES, IN_TURN.but(sizes=(1, 6)), SOME, 7, 5),
    Case("items in turn, two with all", CODES, SOME_ALL, BY_ITEM, 4, 2.35, 7),
    Case("items in turn for one model", code("models"), MIXED, NONE, 0, None, 6),
    Case("items in turn for one model, over all", CODES, MIXED, BY_ITEM, 11, 11.94, 0, OVER_ALL),
    Case("wordings in turn, sentiment", SENTIMENT, WORDED, ALL.without(NOBODY), 0, None, 11),
    Case("wordings in turn but once", GROUPS, ONCE, ALL.without(NOBODY), 0, None, 11),
    Case("wordings in turn compared", WORDINGS, WORDED, CELLS.without(NO_PAIR), 0, None, 77),
    Case("wordings in turn compared, codes", WAYS, WORDED, SOME, 11, 5),
    Case("orders of two items", ORDER, ONE.but(items=2), CELLS.without(FEW), 22),
    Case("orders of two items, each question in one", ORDER, ONE_WAY.but(items=2), SAME, 11, 10),
)
"""What another contrast of the same shape answers otherwise; kept so that a change is seen."""


@pytest.mark.parametrize("case", [*CASES, *ODD], ids=lambda case: case.name)
def test_a_design_gets_its_test(case: Case) -> None:
    """The row says which test was made, over what, by which degrees of freedom, or why not."""
    rows = case.entry.estimates(case.asked, bare=case.bare, **case.ids)
    assert bool(rows.height) == (case.gets is not None)
    if case.gets is None:
        return
    row, gets = rows.row(0, named=True), case.gets
    assert (row["test"], row["unit"]) == (gets.test, gets.unit)
    assert row["interval_over"] == (None if gets.interval == "none" else gets.over)
    assert (row["low"] is not None) == (gets.interval == "of the difference")
    assert gets.method in row["method"]
    assert (row["check"], row["check_over"]) == (gets.check, gets.check_over)
    assert (row["n"], row["left_out"]) == (case.n, case.left_out)
    assert row["df"] == pytest.approx(case.df, abs=0.01)
    assert (row["p"] is None) == (case.df is None)
    assert gets.reason in row["reason"] if gets.reason else row["reason"] is None
