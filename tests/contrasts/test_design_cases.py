"""Which interval a contrast gets, by the shape of what was asked.

Tables of conditions × items × wordings, of two groups or of two models on the same conditions, get
a crossed t over all of which there are three or more; items or wordings of which there are fewer
are treated as fixed, and where both are, so are the sentences. Conditions count by category, one
without a category as its own, and so do all where there is one category; wordings of one family
count as one. With a gap, the conditions or the items that have it are left out, whichever leaves
more (in both models); an item that nobody answered does not count. Where less than half would be
left, single answers are jackknifed instead. It takes two whole conditions on a side. Over all
models each cell is their mean.
Tables of conditions × items are the same: women and men, groups and models in the first wording,
two wordings, orders or keyings, and the baseline beside each condition. Of two subscales the items
are the units and conditions what they share.
Means of conditions get Welch's t (two groups) or a paired t (women and men), from four on.
One condition against the baseline, the other group's mean, its own group's or itself in another
model gets a paired t over items where there is one wording, else a crossed t over items × wordings.
A cell of such a mean needs more than half of the conditions; an own group needs two of them.
Descriptions: three or more to compare with are sampled too; one or two are fixed, their mean beside
each cell.
Wordings in turn (no question in two) count as one wording, in attitudes and codes. Items in turn
(no condition has all) are jackknifed by category of condition and by item: six of both are needed.
Of single conditions only those with themselves in another model are then compared, over their own
items. Two presentations (orders, keyings, wordings of codes) of different cells are jackknifed
likewise; of fewer than three items, four conditions or more that have both get a paired t, else
Welch's. Wordings that share no item are not compared.
Sentence pairs are jackknifed by frame and by occupation in either role: six of each are needed, and
there is no interval where it is not known what they share. In preferences the referent's sign is
taken out. A pair that lacks a setting is left out of means.
Trials get Welch's t, from two on.
Correlations get a jackknife on Fisher's z, from ten conditions on.
What is constant gets no interval. Without a baseline or a second presentation there is no row.
There is a p where there is an interval, and nowhere else.
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

from goffman.contrasts.catalog import models_by_condition
from goffman.contrasts.engine import Clusters, estimates
from goffman.instruments.types import BASELINE
from goffman.measures.coreference import CoreferenceBias, CoreferenceChoice
from goffman.measures.gender import SubjectGender
from goffman.measures.multiple_choice import CodeByGender, MeanCode
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.measures.pronoun_preference import PronounPreference
from goffman.measures.sentiment import NegativeSentiment
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
    drawn, with a part for each condition, item and wording. No ``frames``: they are not known. No
    ``categories`` of conditions, or ``families`` of wordings: each is its own.
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
    categories: int = 0
    families: int = 0

    def but(self, **changes: Any) -> Asked:
        """Change something."""
        return replace(self, **changes)

    def sharing(self) -> Clusters:
        """Say what wordings and sentence pairs share."""
        pairs = {f"i{k:02}": k for k in range(self.items if self.frames else 0)}
        ways = {at: (f"f{k % self.frames}", f"r{k % 7}", f"o{k // 3}") for at, k in pairs.items()}
        signs = {at: (-1.0) ** k for at, k in pairs.items()}
        alike = range(self.wordings if self.families else 0)
        families = {f"w{k}": f"family {k % self.families}" for k in alike}
        return Clusters(families=families, ways=ways, signs=signs)


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
                        | {"category": f"k{c % asked.categories}" if asked.categories else None}
                        | {"item": f"i{i:02}", "wording": self.wordings[w], "trial": trial + 1}
                        | {"value": None if asked.silent(at) else made, "dimension": scale}
                    )
        return frame(rows, measure="x")

    def estimates(self, asked: Asked, **ids: str | None) -> pl.DataFrame:
        """Make the contrasts of this kind, and with these ids."""
        found = estimates(
            self.scores(asked),
            self.measures,
            wordings=dict.fromkeys(self.measures, self.wordings[: asked.wordings]),
            sharing={"x": asked.sharing()},
            pairs=[("m0", "m0")],
        )
        wanted = {"kind": self.kind, **ids}
        return found.filter(pl.col(name).eq_missing(pl.lit(of)) for name, of in wanted.items())


PEOPLE = ("stigmatized", "non-stigmatized", "third", BASELINE)
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
ITSELF = entry(EACH, ("negative",), "conditions")
SENTIMENT = entry(NegativeSentiment(), ("negative-probability",), "groups")
ORDER = entry(MeanCode(), ("stigma-first", "stigma-last"), "order")
KEYING = entry(MeanCode(), ("plain-keyed", "reversed-keyed"), "keying")
WOMEN = entry(SubjectGender(), ("female", "male", "disparity"), "genders", of=ILL)
ALIKE = replace(WOMEN, measures={"x": CodeByGender()})
PREFERENCE = entry(PronounPreference(), ("preference",), "level", of=SETTINGS)
LISTED = entry(CoreferenceChoice(), ("first-listed",), "position", at="presentation", of=SETTINGS)
TRIALS = replace(bias("trials"), parts=(*bias("").parts, ("x", "trial", ("bias",))))
BOTH = (("x", "condition", ("negative",)), ("y", "condition", ("negative-probability",)))
MEASURES = {"x": NegativeAttitude(), "y": NegativeSentiment()}
TWO = replace(attitude("measures"), measures=MEASURES, parts=BOTH)


@dataclass(frozen=True)
class Gets:
    """What the columns of an estimate say; of method and reason, what is in them.

    With a ``reason`` there is no interval.
    """

    test: str
    unit: str
    over: str
    method: str
    reason: str | None = None

    def without(self, reason: str) -> Gets:
        """Leave out the interval."""
        return replace(self, reason=reason)


FIXED = "conditions, with these sentences treated as fixed"
EQUAL, FEW, NO_PAIR = "are equal", "at least 6", "no pair has both"
SPREAD, FOUR = "nothing shows how much", "too few for an interval: it takes 4"


def crossed(over: str, unit: str = "conditions") -> Gets:
    """Expect a table of which all is sampled."""
    return Gets("crossed t", unit, over, f"t after Satterthwaite, {over}")


def clustered(unit: str, over: str) -> Gets:
    """Expect values that share something."""
    return Gets("clustered t", unit, over, f"multiway jackknife, {over}")


def plain(test: str, over: str) -> Gets:
    """Expect values of which none share anything."""
    return Gets(test, over, over, "interval by t")


ALL = crossed("conditions, items and wordings, crossed")
BY_ITEM, BY_WORDING = (crossed(f"conditions and {name}, crossed") for name in ("items", "wordings"))
TWO_WORDINGS = crossed("conditions and items, crossed; treated as fixed: 2 wordings")
BY_CATEGORY = crossed("conditions by category, items and wordings, crossed")
GIVEN = crossed(FIXED)
SENTENCES = crossed("items and wordings, crossed", "items")
SUBSCALES = crossed("items and conditions, crossed", "items")
BESIDE = replace(ALL, over=f"{ALL.over}; treated as fixed: daily-troubles conditions (2)")
ROLES = "clustered by frame and by occupation in either role"
PAIRS = clustered("sentence pairs", f"sentence pairs, {ROLES}")
ONE_EACH = clustered("sentences", f"sentences, {ROLES}")
SOME, PARTLY = (
    clustered("conditions", f"conditions by category and items, {how}")
    for how in ("each condition with some of them", "as far as they were answered")
)
ITEMS, SAME = plain("paired t", "items"), plain("paired t", FIXED)
WELCH, WELCH_GIVEN, OF_TRIALS = (
    plain("Welch's t", over) for over in ("conditions", FIXED, "trials")
)
JACKKNIFED = "jackknife over conditions, on Fisher's z"
R = Gets("t of atanh Pearson's r", "conditions", "conditions", JACKKNIFED)
R_BY = Gets(R.test, R.unit, "conditions by category", "jackknife over conditions by category")

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
GAPS = Asked(wordings=1, silent=lambda at: at.g == at.c == 0 and at.i < 3)
SECOND = Asked(silent=lambda at: at.g == 1 and at.c == at.i == 0)
THREE = MOST.but(sizes=(3,), items=2)
SCALES = ONE.but(dimensions=2)
LACKING = OF_PAIRS.but(asked=lambda at: (at.c, at.i) != (1, 0))
SIGNS = OF_PAIRS.but(wordings=1, value=lambda at: (-1) ** at.i * (at.w == 0))
SOME_ALL = IN_TURN.but(asked=lambda at: at.c < 2 or (at.c + at.i) % 2 == 0)
ONCE = Asked(asked=lambda at: at.w == (at.c + at.i) % 4 or at[2:] == (0, 0, 0, 1))


@dataclass(frozen=True)
class Case:
    """A design, and what its contrast gets; None: there is no such row."""

    name: str
    entry: Entry
    asked: Asked
    gets: Gets | None
    n: int = 0
    df: float | None = None
    left_out: int = 0
    ids: dict[str, str | None] = field(default_factory=dict)
    gap: bool = False
    """Whether an item is left out, so that the reason says so beside the interval."""


OVER_ALL: dict[str, str | None] = {"model": None}
CASES = (
    Case("groups", GROUPS, FULL, ALL, 11, 11.61),
    Case("groups by category", GROUPS, FULL.but(categories=4), BY_CATEGORY, 11, 11.49),
    Case("groups of one category", GROUPS, FULL.but(categories=1), ALL, 11, 11.61),
    Case("groups, one wording", GROUPS, ONE, BY_ITEM, 11, 13.34),
    Case("groups, two wordings", GROUPS, Asked(wordings=2), TWO_WORDINGS, 11, 12.07),
    Case("groups, two families", GROUPS, FULL.but(families=2), TWO_WORDINGS, 11, 8.66),
    Case("groups, one item", GROUPS, Asked(items=1), BY_WORDING, 11, 7.82),
    Case("groups, two items, two wordings", GROUPS, Asked(items=2, wordings=2), GIVEN, 11, 7.3),
    Case("groups, one condition", GROUPS, Asked(sizes=(6, 1)), ALL.without(SPREAD), 7),
    Case("groups, two conditions each", GROUPS, Asked(sizes=(2, 2)), ALL, 4, 5.23),
    Case("groups, a gap in each", GROUPS, GAP, BY_ITEM, 11, 12.57, gap=True),
    Case("groups, gaps of a condition", GROUPS, GAPS, BY_ITEM, 10, 12.43, 1),
    Case("groups, a silent item", GROUPS, Asked(silent=lambda at: at.i == 0), ALL, 11, 9.21),
    Case("groups, constant", GROUPS, Asked(value=lambda at: at.i), ALL.without(EQUAL), 11),
    Case("groups, noise alone", GROUPS, NOISE, ALL, 11, 3),
    Case("groups, items taken off", GROUPS, OFF, BY_ITEM.without(EQUAL), 4),
    Case("groups over all models", GROUPS, TWICE, ALL, 11, 9.24, 0, OVER_ALL),
    Case("models", MODELS, TWICE, ALL, 6, 12.06),
    Case("models by category", MODELS, TWICE.but(categories=4), BY_CATEGORY, 6, 11.12),
    Case("models, a gap", MODELS, TWICE.but(silent=GAP.silent), ALL, 6, 10.1, gap=True),
    Case("means", AS_ASKED, FULL, WELCH, 11, 8.98),
    Case("means, three", AS_ASKED, Asked(sizes=(3, 6)), WELCH.without(FOUR), 9),
    Case("means, one", AS_ASKED, Asked(sizes=(1, 6)), WELCH.without(SPREAD), 7),
    Case("wordings in turn", GROUPS, WORDED, BY_ITEM, 11, 7.44),
    Case("wordings in turn, codes", CODES, WORDED, BY_ITEM, 11, 7.44),
    Case("wordings in turn, reference", MEAN, WORDED, ITEMS, 7, 6),
    Case("items in turn", CODES, IN_TURN, SOME, 11, 14.9),
    Case("items in turn, by category", CODES, IN_TURN.but(categories=6), SOME, 11, 6.23),
    Case("items in turn, few", CODES, IN_TURN.but(categories=5), SOME.without(FEW), 11),
    Case("items in turn, five", CODES, IN_TURN.but(items=5), SOME.without(FEW), 11),
    Case("items in turn, few conditions", CODES, IN_TURN.but(sizes=(3, 2)), SOME.without(FEW), 5),
    Case("items in turn, models", code("models"), IN_TURN.but(models=2), SOME, 6, 5.22),
    Case("items in turn, baseline", code("baseline"), IN_TURN.but(sizes=(6, 5, 0, 1)), None),
    Case("items in turn, reference", code("reference"), IN_TURN, None),
    Case("items in turn, a condition", ITSELF, IN_TURN.but(models=2), ITEMS, 7, 6),
    Case("items in turn, attitudes", GROUPS, IN_TURN, PARTLY, 11, 14.9),
    Case("items in turn, cells", gender("groups"), IN_TURN, PARTLY, 11, 14.9),
    Case("items in turn, wordings", WAYS, IN_TURN.but(wordings=2), PARTLY, 11, 9),
    Case("baseline", BASE, BASED, SENTENCES, 7, 5.9),
    Case("baseline, one wording", BASE, BASED.but(wordings=1), ITEMS, 7, 6),
    Case("baseline, one item", BASE, BASED.but(items=1), SENTENCES.without(SPREAD), 1),
    Case("baseline, three", BASE, BASED.but(items=3, wordings=1), ITEMS.without(FOUR), 3),
    Case("baseline, a gap", BASE, BASED.but(silent=GAP.silent), SENTENCES, 6, 6.42, 1),
    Case("no baseline", BASE, FULL, None),
    Case("reference, a gap of five", MEAN, SECOND, SENTENCES, 7, 8.77),
    Case("reference, a gap of two", MEAN, SECOND.but(sizes=(6, 2)), SENTENCES, 6, 7.85, 1),
    Case("own group", OTHERS, FULL, SENTENCES, 7, 3),
    Case("own group of one", OTHERS, Asked(sizes=(6, 1)), None),
    Case("a condition in two models", ITSELF, TWICE, SENTENCES, 7, 8.38),
    Case("wordings", WORDINGS, FULL, BY_ITEM, 11, 6),
    Case("wordings of some cells", WAYS, MOST, SOME, 11, 7.6),
    Case("wordings of two items", WAYS, MOST.but(items=2), SAME, 11, 10),
    Case("wordings of three conditions", WAYS, THREE, WELCH_GIVEN.without(FOUR), 6),
    Case("wordings of other items", WAYS, Asked(asked=lambda at: at.w == at.i % 4), None),
    Case("orders", ORDER, ONE, BY_ITEM, 11, 13.08),
    Case("orders of two items", ORDER, ONE.but(items=2), GIVEN, 11, 10),
    Case("orders, each question in one", ORDER, ONE_WAY, SOME, 11, 7.21),
    Case("orders of two, each in one", ORDER, ONE_WAY.but(items=2), SAME, 11, 10),
    Case(
        "keyings, items in one", KEYING, ONE.but(asked=lambda at: at.i % 2 == at.q), SOME, 11, 9.03
    ),
    Case("one keying", KEYING, ONE.but(asked=lambda at: at.q == 0), None),
    Case("women and men", WOMEN, ONE, BY_ITEM, 6, 7.79),
    Case("women and men, subscale", WOMEN, SCALES, BY_ITEM, 6, 7.44, 0, {"dimension": "d0"}),
    Case("women and men, a gap", WOMEN, GAP, BY_ITEM, 6, 6.03, gap=True),
    Case("women and men, constant", WOMEN, ONE.but(value=len), BY_ITEM.without(EQUAL), 6),
    Case("groups of cells", gender("groups"), ONE, BY_ITEM, 11, 13.34),
    Case("over baseline", gender("over-baseline"), BASED.but(wordings=1), BY_ITEM, 6, 10.55),
    Case("over no baseline", gender("over-baseline"), ONE, None),
    Case("models over cells", gender("models"), TWICE, BY_ITEM, 6, 8.75),
    Case("subscales", gender("dimensions"), SCALES, SUBSCALES, 7, 4.7),
    Case("wordings over cells", gender("wordings"), FULL, BY_ITEM, 6, 5),
    Case("people, a gap in five items", ALIKE, GAP.but(items=5), BY_ITEM, 5, 4.57, 1),
    Case("descriptions", DESCRIBED, Asked(sizes=(4, 3)), ALL, 7, 5.29),
    Case("descriptions against two", DESCRIBED, Asked(sizes=(4, 2)), BESIDE, 4, 7.29),
    Case("descriptions, a gap", DESCRIBED, SILENT, BY_ITEM, 7, 4.03, gap=True),
    Case("level", LEVEL, OF_PAIRS, PAIRS, 24, 6),
    Case("level, frames unknown", LEVEL, OF_PAIRS.but(frames=0), PAIRS.without("not known"), 24),
    Case("level, five frames", LEVEL, OF_PAIRS.but(frames=5), PAIRS.without(FEW), 24),
    Case("level, constant", LEVEL, OF_PAIRS.but(value=len), PAIRS.without(EQUAL), 24),
    Case("level, signs alone", LEVEL, SIGNS.but(wordings=2), PAIRS, 24, 6),
    Case("settings", bias("baseline"), OF_PAIRS, PAIRS, 24, 7.59),
    Case("kinds of settings, a gap", bias("groups"), LACKING, PAIRS, 23, 9.72, 1),
    Case("models over pairs", bias("models"), OF_PAIRS.but(models=2), PAIRS, 24, 6.17),
    Case("preference", PREFERENCE, OF_PAIRS.but(wordings=1), ONE_EACH, 24, 6.05),
    Case("preference, signs alone", PREFERENCE, SIGNS, ONE_EACH.without(EQUAL), 24),
    Case("position", LISTED, OF_PAIRS, PAIRS, 24, 9.69),
    Case("trials", TRIALS, OF_PAIRS.but(trials=3), OF_TRIALS, 6, 2.85),
    Case("one trial", TRIALS, OF_PAIRS, OF_TRIALS.without(SPREAD), 2),
    Case("correlation", TWO, Asked(sizes=(24,)), R, 24, 22),
    Case("correlation by category", TWO, Asked(sizes=(24,), categories=8), R_BY, 24, 6),
    Case("correlation, nine", TWO, Asked(sizes=(9,)), R.without("it takes 10"), 9),
)

ODD = (
    Case("items in turn, reference of attitudes", MEAN, IN_TURN, ITEMS, 7, 6, 7),
    Case("items in turn, one condition", CODES, IN_TURN.but(sizes=(1, 6)), SOME.without(SPREAD), 7),
    Case("items in turn, two with all", CODES, SOME_ALL, PARTLY, 11, 13.7),
    Case("items in turn for one model", code("models"), MIXED, GIVEN.without(NO_PAIR), 0),
    Case("items in turn for one model, over all", CODES, MIXED, BY_ITEM, 11, 11.94, 0, OVER_ALL),
    Case("wordings in turn, sentiment", SENTIMENT, WORDED, PARTLY, 11, 5.62),
    Case("wordings in turn but once", GROUPS, ONCE, PARTLY, 11, 5.77),
    Case("wordings in turn compared", WORDINGS, WORDED, GIVEN.without(NO_PAIR), 0),
    Case("wordings in turn compared, codes", WAYS, WORDED, SOME, 11, 9.08),
    Case("descriptions, few", DESCRIBED, SILENT.but(items=3), BY_ITEM, 5, 2.84, 2),
)
"""What another contrast of the same shape answers otherwise; kept so that a change is seen."""


@pytest.mark.parametrize("case", [*CASES, *ODD], ids=lambda case: case.name)
def test_a_design_gets_its_interval(case: Case) -> None:
    """The row says which interval was made, over what, by which degrees of freedom, or why not."""
    rows = case.entry.estimates(case.asked, **case.ids)
    assert bool(rows.height) == (case.gets is not None)
    if case.gets is None:
        return
    row, gets = rows.row(0, named=True), case.gets
    assert (row["test"], row["unit"]) == (gets.test, gets.unit)
    assert gets.method in row["method"]
    assert (row["n"], row["left_out"]) == (case.n, case.left_out)
    ends = ("effect_low", "effect_high") if case.entry.kind == "measures" else ("low", "high")
    there = gets.reason is None
    assert [row[name] is not None for name in (*ends, "p", "interval_over")] == [there] * 4
    if gets.reason:
        assert gets.reason in row["reason"]
    else:
        assert row["interval_over"] == gets.over
        lost = case.gap and "1 of 7 items are left out, because some got no answer"
        assert row["reason"] == (lost or None)
        assert row["df"] == pytest.approx(case.df, abs=0.01)


@pytest.mark.parametrize(
    ("entry", "asked", "sentences"),
    [
        (GROUPS, FULL, 28),
        (GROUPS, Asked(items=1, wordings=1), 1),
        (GROUPS, Asked(silent=lambda at: at.i == 0), 24),
        (GROUPS, WORDED, 28),
        (GROUPS, FULL.but(families=2), 14),
        (WOMEN, ONE, 7),
        (BASE, BASED, 28),
        (gender("dimensions"), SCALES, 4),
        (ORDER, ONE.but(items=2), 2),
        (CODES, IN_TURN, None),
        (LEVEL, OF_PAIRS, None),
    ],
)
def test_sentences_are_items_times_wordings(entry: Entry, asked: Asked, sentences: int) -> None:
    """Of subscales those of the first; none where answers are clustered."""
    assert entry.estimates(asked).row(0, named=True)["sentences"] == sentences
