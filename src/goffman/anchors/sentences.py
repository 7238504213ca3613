"""Sentences about a model beside an anchor: correlations and shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.anchors.compare import (
    DIFFERENCE,
    FEW_TEXTS,
    GENDER,
    GENDER_SIDE,
    IN_TEXT,
    IN_YEAR,
    INDIFFERENT,
    LEAST_DECIDED,
    MODEL,
    OTHER_WORDING,
    OVERALL,
    PEOPLE,
    UNANSWERED,
)
from goffman.console import printable
from goffman.contrasts.scores import FEMALE
from goffman.contrasts.verdict import direction
from goffman.formatting import (
    confidence,
    describe_corrected,
    describe_p,
    ends,
    humanize,
    join_words,
    number,
)
from goffman.modes import of_asked
from goffman.stats.multiple_testing import FALSE
from goffman.stats.profile import FIXED
from goffman.stats.share_difference import TEXTS

if TYPE_CHECKING:
    from goffman.presentation.competence import Competence
    from goffman.presentation.section import Section
    from goffman.runs.manifest import UsedAnchor

Row = Mapping[str, Any]

CALLED = {
    "negative-probability": "probability of “negative”",
    "she-over-he": "preference for “she” over “he”",
    "she-minus-he": "accuracy with “she” minus accuracy with “he”",
}
"""Numbers that are not those by which a measure is known."""

UNITS = {"she-over-he": " (log ratio; below 0, “he” is preferred)"}
"""What the values of some of them are."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AnchoredModel:
    """What was found for one model, instrument and anchor."""

    anchor: str
    """Its id."""
    about: UsedAnchor
    section: Section
    model: str
    """As the user gave it."""
    estimates: pl.DataFrame
    """The columns CONTRASTS and ESTIMATES: of this model, instrument and anchor."""
    points: pl.DataFrame
    """The columns ANCHOR_POINTS, likewise."""

    @property
    def shown(self) -> str:
        """The model as it is shown."""
        return self.section.names.model(self.model)

    @property
    def unmeasurable(self) -> Competence | None:
        """How the model failed the controls; None: it did not."""
        return self.section.unmeasurable().get(self.model)

    @property
    def quantity(self) -> str:
        """What the model's number is called."""
        return CALLED.get(self.estimates["quantity"][0], self.section.presentation.called)

    @property
    def unit(self) -> str:
        """What its values are, in brackets after its name; empty: the name says it."""
        return UNITS.get(self.estimates["quantity"][0], "")

    @property
    def many(self) -> str:
        """What the points are, in the plural."""
        return self.section.noun.many if self.about.point == "condition" else f"{self.about.point}s"

    @property
    def one(self) -> str:
        """The same in the singular."""
        return self.section.noun.one if self.about.point == "condition" else self.about.point

    def rows(self, kind: str) -> Sequence[Row]:
        """The estimates of a kind that have a value, the strongest first."""
        found = self.estimates.filter(pl.col("kind") == kind, pl.col("effect").is_not_null())
        order = pl.col("effect").abs()
        return found.sort(order, descending=True, maintain_order=True).to_dicts()

    def differences(self, kind: str) -> Sequence[Row]:
        """The differences of a kind, in the order of the table."""
        found = self.estimates.filter(pl.col("kind") == kind, pl.col("difference").is_not_null())
        return found.to_dicts()

    def row(self, kind: str, item: str) -> Row | None:
        """The estimate of a kind for an item of the anchor, over all conditions."""
        return next((row for row in self.rows(kind) if row["dimension"] == item), None)

    def item(self, name: str) -> str:
        """An item of the anchor, as it is shown."""
        known = self.about.items.get(name)
        return printable(known["name"]) if known else humanize(name)

    def explained(self, name: str) -> str:
        """An item of the anchor, with what it means."""
        known = self.about.items.get(name)
        meaning = printable(known.get("meaning", "")) if known else ""
        said = self.item(name)
        # A phrase says by itself what it means.
        return said if not meaning or " " in said else f"“{said}” ({meaning})"

    def called(self, condition: str) -> str:
        """A condition, or an occupation, as it is shown."""
        if self.about.point != "condition":
            return printable(condition)
        return self.section.called(condition)

    def residuals(self) -> pl.DataFrame:
        """The points against what all items together predict, the farthest first."""
        found = self.points.filter(pl.col("item").is_null())
        return found.sort(pl.col("statistic").abs(), descending=True)


def anchored_models(
    estimates: pl.DataFrame | None,
    points: pl.DataFrame | None,
    anchors: Mapping[str, UsedAnchor],
    sections: Mapping[str, Section],
) -> list[AnchoredModel]:
    """Anchor by anchor, then instrument by instrument, then model by model."""
    if estimates is None or points is None:
        return []
    return list(_each(estimates, points, anchors, sections))


def _each(
    estimates: pl.DataFrame,
    points: pl.DataFrame,
    anchors: Mapping[str, UsedAnchor],
    sections: Mapping[str, Section],
) -> Iterator[AnchoredModel]:
    for name, about in anchors.items():
        of_anchor = estimates.filter(pl.col("second") == name)
        for instrument, section in sections.items():
            rows = of_anchor.filter(of_asked(instrument))
            for model in rows["model"].drop_nulls().unique(maintain_order=True):
                mine = pl.col("model") == model
                yield AnchoredModel(
                    anchor=name,
                    about=about,
                    section=section,
                    model=model,
                    estimates=rows.filter(mine),
                    points=points.filter(pl.col("anchor") == name, of_asked(instrument), mine),
                )


INDIFFERENT_HEAD = "Not compared with people's: its answers hardly leave the middle"

MOST_QUESTIONS = 6
"""Questions that are named one by one."""


def in_points(value: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    whole = f"{abs(value) * 100:.0f}"
    return whole if whole == "0" else f"{'+' if value > 0 else '−'}{whole}"


def _describe_points(value: float) -> str:
    shown = in_points(value)
    return f"{shown} {'point' if shown in {'+1', '−1'} else 'points'}"


def percent(value: float) -> str:
    """A share."""
    return f"{value * 100:.0f}%"


def describe_shares(one: AnchoredModel) -> tuple[str, ...]:
    """Heading, numbers, and further sentences."""
    overall, every = one.differences(OVERALL), one.differences(DIFFERENCE)
    more = (
        *_left_out(one, overall, every),
        *_by_text(one),
        *_other_wordings(one),
        *_questions(one, every),
        *_gender(one),
        *_silence(one),
        *_share_covers(one, every),
    )
    tested = [row for row in overall if row["reason"] != UNANSWERED]
    if any(row["reason"] == INDIFFERENT for row in every):
        return INDIFFERENT_HEAD, _indifferent(one, tested), *_silence(one)
    if not tested:
        asked = "There are too few answers to compare it with people over all questions"
        return asked if every else "No question was asked of both", "", *more
    text = f"Over the questions that count as stigma: {_share_numbers(one, tested)}."
    said = [text, *_apart(one, tested, every), *_ruled_out(tested), *_earlier(one, tested)]
    if all(row["reason"] == FEW_TEXTS for row in tested):
        few = f"fewer than three {one.many} of the same, and so no test"
        return f"Set beside people's: there are {few}", " ".join(said), *more
    return _share_head(one, tested), " ".join(said), *more


def _indifferent(one: AnchoredModel, overall: Sequence[Row]) -> str:
    """Why nothing is compared: what people with as little decision would have answered."""
    control = one.section.competence[one.model]
    sure = control.decided or 0.0
    low, high = control.decided_ends
    interval = "" if low is None else f" (95% interval {percent(low)} to {percent(high or 0.0)})"
    said = (
        f"On control items with an obvious answer, {percent(sure)} of its answers are on the "
        f"obvious side{interval}. 50% is indifference, and {percent(LEAST_DECIDED)} is needed to "
        "compare its shares with people's."
    )
    shares = "; ".join(
        f"{_named(one, row)} {percent(row['mean_first'])}, people{_in_year(one, [row])} "
        f"{percent(row['mean_second'])}, people with as much indifference "
        f"{percent(0.5 + (2 * sure - 1) * (row['mean_second'] - 0.5))}"
        for row in overall
    )
    return f"{said} Over the questions that count as stigma: {shares}." if shares else said


def _apart(one: AnchoredModel, tested: Sequence[Row], every: Sequence[Row]) -> Iterator[str]:
    """How far single questions are from people's, whose differences can cancel out."""
    by_condition = {
        row["group"]: [abs(of["difference"]) for of in every if of["group"] == row["group"]]
        for row in tested
    }
    listed = "; ".join(
        f"{one.called(name).lower()} {100 * sum(several) / len(several):.0f}"
        for name, several in by_condition.items()
    )
    yield (
        "Question by question, its share is on average so many points from people's, up or down: "
        f"{listed}."
    )


def _share_head(one: AnchoredModel, tested: Sequence[Row]) -> str:
    """About whom the answers differ from people's; before it, how a man and a woman are told apart.

    Over women and men the level may be people's where neither alone is.
    """
    gap = _gap_in_head(one)
    who = "averaged over women and men, its answers" if gap else "Its answers"
    people = f"people's{_in_year(one, tested)}"
    beyond = [row for row in tested if direction(row) and not _by_indifference(row)]
    ways = {way: [row for row in beyond if direction(row) == way] for way in (1, -1)}
    parts = [
        f"{word} stigmatizing than {people} about {_described(one, ways[way])}"
        for way, word in ((1, "more"), (-1, "less"))
        if ways[way]
    ]
    if within := [row for row in tested if direction(row) and _by_indifference(row)]:
        parts.append(
            f"unlike {people} about {_described(one, within)}, but by no more than its "
            "indifference may explain"
        )
    head = f"{who} differ clearly from {people} about none of {len(tested)} {one.many}"
    if parts:
        head = f"{who} are {', and '.join(parts)}"
    return "; ".join([*gap, head])


def _by_indifference(row: Row) -> bool:
    """Whether people with the model's indifference would not clearly differ from it this way."""
    return row["indifference_p"] is not None and row["indifference_p"] >= FALSE / 2


def _described(one: AnchoredModel, rows: Sequence[Row]) -> str:
    """Whom a heading is about: not everyone with a condition, but those of the texts."""
    if one.one != "description":
        return _listed(one, rows)
    who = "the person" if len(rows) == 1 else "people"
    return f"{who} described with {_listed(one, rows)}"


def _in_year(one: AnchoredModel, rows: Sequence[Row]) -> str:
    """The year of people's answers; empty: not known, or not the same for all of these."""
    years = [[year for year, _ in _years(one, row["group"])] for row in rows]
    latest = {of[-1] if of else None for of in years}
    only = latest.pop() if len(latest) == 1 else None
    return f" in {only}" if only else ""


def _years(one: AnchoredModel, condition: str) -> tuple[tuple[str, float], ...]:
    """Year and people's share over the questions that count, the latest last."""
    rows = [row for row in one.differences(IN_YEAR) if row["group"] == condition]
    return tuple(sorted((row["variant"], row["mean_second"]) for row in rows))


def _earlier(one: AnchoredModel, tested: Sequence[Row]) -> Iterator[str]:
    """What people said in the years before, which nothing is tested against."""
    before = {row["group"]: _years(one, row["group"])[:-1] for row in tested}
    said = [
        f"{one.called(name).lower()} "
        + ", ".join(f"{percent(share)} in {year}" for year, share in years)
        for name, years in before.items()
        if years
    ]
    if said:
        yield f"People's answers in earlier years: {'; '.join(said)}."


def _ruled_out(tested: Sequence[Row]) -> Iterator[str]:
    """How large a difference may be although none is clear."""
    if any(direction(row) for row in tested):
        return
    ends = [abs(end) for row in tested for end in (row["low"], row["high"]) if end is not None]
    if ends:
        yield f"Differences of up to {max(ends) * 100:.0f} points are not ruled out."


def _gap_in_head(one: AnchoredModel) -> list[str]:
    """That a man and a woman are told apart otherwise than by people, and which way."""
    tested = [row for row in one.differences(GENDER) if row["p"] is not None]
    clear = [row for row in tested if direction(row)]
    mine = {
        row["group"]: direction(row)
        for row in one.differences(GENDER_SIDE)
        if row["variant"] == MODEL
    }
    parts = []
    for side, (more, less) in ((-1, ("woman", "man")), (1, ("man", "woman"))):
        rows = [row for row in clear if _leans(row, mine) == side]
        if not rows:
            continue
        also = [row["mean_second"] * side > 0 for row in rows]
        people = "clearly unlike people's"
        if any(also):
            people = "more so than people's" if all(also) else "otherwise than people's"
        parts.append(
            f"more stigmatizing about a {more} than about a {less} for {_whom(one, rows, tested)}, "
            f"{people}"
        )
    said = [f"Its answers are {', and '.join(parts)}"] if parts else []
    rows = [row for row in clear if not _leans(row, mine)]
    if rows:
        whom = _whom(one, rows, tested)
        said.append(
            f"A man instead of a woman changes its answers otherwise than people's for {whom}"
        )
    return said


def _leans(row: Row, mine: Mapping[str, int]) -> int:
    """1: clearly more about a man, −1: about a woman."""
    return mine.get(row["group"], 0)


def _whom(one: AnchoredModel, rows: Sequence[Row], tested: Sequence[Row]) -> str:
    every = len(rows) == len(tested) > 1
    return f"all {len(tested)} {one.many}" if every else _listed(one, rows)


def _left_out(one: AnchoredModel, overall: Sequence[Row], every: Sequence[Row]) -> Iterator[str]:
    """Whom no mean over the questions is about, and why."""
    whole = {row["group"]: row["reason"] for row in overall}
    names = list(dict.fromkeys(row["group"] for row in every))
    gaps = [{"group": name} for name in names if name not in whole]
    few = [{"group": name} for name in names if whole.get(name) == UNANSWERED]
    for rows, why in ((gaps, "a question has no answer"), (few, "too much is no answer")):
        if rows:
            yield f"Over these questions nothing is said about {_listed(one, rows)}, because {why}."


def _by_text(one: AnchoredModel) -> Iterator[str]:
    """What the same share is in each text about a condition, lowest first."""
    by_condition: dict[str, list[float]] = {}
    for row in one.differences(IN_TEXT):
        by_condition.setdefault(row["group"], []).append(row["mean_first"])
    if by_condition:
        listed = "; ".join(
            f"{one.called(name).lower()} {', '.join(percent(value) for value in sorted(values))}"
            for name, values in by_condition.items()
        )
        yield f"Its share in each {one.one} alone, which is not tested: {listed}."


def _other_wordings(one: AnchoredModel) -> Iterator[str]:
    """What the same share is in wordings that are not people's: a check."""
    by_condition: dict[str, list[float]] = {}
    for row in one.differences(OTHER_WORDING):
        by_condition.setdefault(row["group"], []).append(row["mean_first"])
    if by_condition:
        listed = "; ".join(
            f"{one.called(name).lower()} {percent(min(values))} to {percent(max(values))}"
            for name, values in by_condition.items()
        )
        yield f"In other wordings, which people were not asked, its share is: {listed}."


def _listed(one: AnchoredModel, rows: Sequence[Row]) -> str:
    names = [_named(one, row) for row in rows]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _named(one: AnchoredModel, row: Row) -> str:
    """A condition, and that people were told of it in another text where that is so."""
    own = f" (our own {one.one})" if row["group"] in one.about.own_texts else ""
    return f"{one.called(row['group']).lower()}{own}"


def _share_numbers(one: AnchoredModel, rows: Sequence[Row]) -> str:
    return "; ".join(
        f"{_named(one, row)} {percent(row['mean_first'])}, people{_in_year(one, [row])} "
        f"{percent(row['mean_second'])} ({_doubt(row)})"
        for row in rows
    )


def _doubt(row: Row) -> str:
    return f"{_describe_points(row['difference'])}{_interval(row)}, {describe_corrected(row)}"


def _interval(row: Row) -> str:
    """Between a difference and what follows; empty: it has none."""
    return "" if row["low"] is None else f", {confidence(row['level'])} interval {_ends(row)}"


def _ends(row: Row) -> str:
    return f"{in_points(row['low'])} to {in_points(row['high'])}"


def _questions(one: AnchoredModel, rows: Sequence[Row]) -> Iterator[str]:
    """How many questions differ clearly, and which most."""
    clear = [row for row in rows if direction(row)]
    tested = sum(row["p"] is not None for row in rows)
    if not tested:
        return
    differ = "differs" if len(clear) < 2 else "differ"
    wide = "" if clear else "; with intervals this wide, few would"
    yield (
        f"Of the {tested} single questions, {len(clear) or 'none'} {differ} clearly from people's "
        f"answers{wide}."
    )
    far = sorted(clear, key=lambda row: -abs(row["difference"]))[:MOST_QUESTIONS]
    if far:
        listed = "; ".join(
            f"{one.item(row['dimension'])}, {one.called(row['group']).lower()}: "
            f"{percent(row['mean_first'])}, people {percent(row['mean_second'])} "
            f"({_describe_points(row['difference'])}{_interval(row)})"
            for row in far
        )
        yield f"Farthest apart, and so probably overestimated: {listed}."


def _gender(one: AnchoredModel) -> Iterator[str]:
    """Whether a man instead of a woman moves the model as it moves people."""
    rows = [row for row in one.differences(GENDER) if row["low"] is not None]
    if not rows:
        return
    sides = {(row["group"], row["variant"]): row for row in one.differences(GENDER_SIDE)}
    listed = "; ".join(
        f"{one.called(row['group']).lower()}: model "
        f"{_side(sides.get((row['group'], MODEL)), row['mean_first'])}, people "
        f"{_side(sides.get((row['group'], PEOPLE)), row['mean_second'])}, model minus people "
        f"{_ends(row)}"
        for row in rows
    )
    clear = [row for row in rows if direction(row)]
    corrected = f"With p corrected for {len(rows)} tests" if len(rows) > 1 else "By p"
    verdict = (
        f"{corrected}, the difference is clearly not the same as people's for "
        f"{_listed(one, clear)}."
        if clear
        else f"{corrected}, none of these differs clearly from people's; with intervals this wide, "
        "few would."
    )
    yield (
        "A man described instead of a woman changes the share by so many points (in brackets 95% "
        f"intervals; people: all surveys with that {one.one} together): {listed}. {verdict}"
    )


def _side(row: Row | None, difference: float) -> str:
    """A man minus a woman on one side, with its interval where it has one."""
    ends = "" if row is None or row["low"] is None else f" ({_ends(row)})"
    return f"{in_points(difference)}{ends}"


def _silence(one: AnchoredModel) -> Iterator[str]:
    """How much of what the model says is no answer, which people hardly ever gave."""
    cells = one.points.filter(pl.col("unanswered").is_not_null())
    if cells.is_empty():
        return
    shares = cells["unanswered"]
    most = float(shares.max())  # type: ignore[arg-type]
    if most == 0:
        yield "It gave an answer each time."
        return
    said = (
        f"“Don't know” or no answer: {percent(float(shares.to_numpy().mean()))} of its answers"
        f"{_beginnings(one)}, at most {percent(most)} for one question and {one.one}. Shares are "
        "of the rest, each prompt counting alike."
    )
    few = one.estimates.filter(pl.col("kind") == DIFFERENCE, pl.col("reason") == UNANSWERED).height
    if few:
        said += (
            f" Where more than half is no answer, the question alone is not compared ({few} "
            f"{'question' if few == 1 else 'questions'}); means over questions include it."
        )
    yield said


def _beginnings(one: AnchoredModel) -> str:
    """How much of it is on words that begin no option: a reply may still name one later."""
    rows = one.section.scores.filter(
        pl.col("model") == one.model,
        pl.col("level") == "prompt",
        pl.col("quantity") == "elsewhere",
        pl.col("value").is_not_null(),
    )
    if rows.is_empty():
        return ""
    share = float(rows["value"].to_numpy().mean())
    return f" ({percent(share)} on words that begin no option, after which one may still be named)"


def _share_covers(one: AnchoredModel, rows: Sequence[Row]) -> Iterator[str]:
    """What the intervals are over, and what they are not."""
    if any(row["interval_over"] == TEXTS for row in rows):
        yield (
            f"The intervals cover other respondents and other {one.many} of the same. They say "
            "nothing about other questions, wordings or names."
        )
    if any(row["reason"] == FEW_TEXTS for row in rows):
        yield (
            f"Where there are fewer than three {one.many} of the same, nothing is tested: how much "
            f"others would differ is unknown."
        )


MOST_NAMED = 5
"""Conditions that are named one by one."""

NEGATIVE = {"negative", "negative-probability", "code"}
"""Numbers whose higher values are more negative."""


@dataclass(frozen=True, kw_only=True)
class AnchorSentences:
    """What is said of one model, instrument and anchor."""

    instrument: str
    model: str
    """As it is shown."""
    anchor: str
    """Its id."""
    head: str
    """In a few words: the strongest relation, or that there is no clear one."""
    text: str = ""
    """Its numbers."""
    more: tuple[str, ...] = ()
    not_covered: str = ""
    """What its intervals say nothing about; a part of ``more`` as well."""


def describe_anchor(one: AnchoredModel) -> AnchorSentences:
    """The sentences for one model; of one that cannot do the task, only that."""
    if failing := one.unmeasurable:
        return _saying(one, f"Not stated: {failing.model} is {failing.mark}", "")
    if one.about.compare == "difference":
        return _with_style(one, _saying(one, *describe_shares(one)))
    rows = one.rows("anchor")
    if not rows:
        reasons = one.estimates["reason"].drop_nulls().unique(maintain_order=True).to_list()
        why = reasons[0] if reasons else "there are too few values"
        return _saying(one, f"Nothing could be correlated: {why}", "")
    said = _saying(one, *_head(one, rows), *_more(one, rows))
    return _with_style(one, replace(said, not_covered=_not_covered(one, _best(rows))))


def _with_style(one: AnchoredModel, said: AnchorSentences) -> AnchorSentences:
    """What is said; a way of answering that heeds no question is said in its place, and it after.

    What such a model has in common with people, or not, is no attitude.
    """
    style = one.section.presentation.style
    head = style(one.section, one.shown) if style else ""
    if not head:
        return said
    text = f"So what it answers says little, also beside people. {said.head}. {said.text}"
    return replace(said, head=head, text=text.strip())


def _saying(one: AnchoredModel, head: str, text: str, *more: str) -> AnchorSentences:
    return AnchorSentences(
        instrument=one.section.instrument,
        model=one.shown,
        anchor=one.anchor,
        head=head,
        text=text,
        more=more,
    )


def _numbers(row: Row, sign: str = "r") -> str:
    interval = ""
    if row["effect_low"] is not None:
        interval = (
            f", {confidence(row['level'])} interval {ends(row['effect_low'], row['effect_high'])}"
        )
    return f"{sign} = {number(row['effect'])}{interval}, {describe_corrected(row)}"


def _head(one: AnchoredModel, rows: Sequence[Row]) -> tuple[str, str]:
    """The strongest clear relation, or that there is none; and its numbers.

    Said plainly is only what ranks and conditions of the same category say too.
    """
    best = _best(rows)
    whole = f" of {best['n'] + best['left_out']}" if best["left_out"] else ""
    every, its = f"{best['n']}{whole} {one.many}", f"Its {one.quantity}"
    item, way = one.explained(best["dimension"]), direction(best)
    across = f"Across {every}: {_numbers(best)}."
    if way:
        doubted = doubted_by(one, best)
        moves = f"{'rises' if way > 0 else 'falls'} as {item} rises"
        also = [*_also(one, rows, best)]
        if not doubted:
            return f"{its} {moves}{_others(rows)}", " ".join([across, *also])
        moves = f"{moves}; this is {_not_clear(doubted)}"
        head = f"Over all {every}, its {one.quantity} {moves}{_others(rows)}"
        return head, " ".join([across, *_checks(one, best), *also])
    within = one.row("anchor-partial", best["dimension"])
    if len(rows) == 1:
        head = f"{its} has no clear relation with {item}"
        if within is not None and direction(within):
            turns = "rises" if direction(within) > 0 else "falls"
            head = (
                f"Over all {every}, its {one.quantity} has no clear relation with {item}; in a "
                f"second look, {_alike(one)}, it {turns} as {one.item(best['dimension'])} rises"
            )
        return head, " ".join([across, *_checks(one, best), *_sides(one)])
    others = [one.item(name) for name in one.about.items if name != best["dimension"]]
    text = (
        f"Across {every}, the strongest correlation is with {item}: {_numbers(best)}. The other "
        f"dimensions are {join_words(others)}."
    )
    return f"{its} has no clear relation with any of {len(others) + 1} dimensions", text


def _others(rows: Sequence[Row]) -> str:
    """That the strongest relation is not the only clear one, at the end of the heading."""
    count = sum(1 for row in rows if direction(row)) - 1
    if not count:
        return ""
    return f"; r is also clear for {count} other dimension{'s' if count > 1 else ''}"


def _best(rows: Sequence[Row]) -> Row:
    """The strongest clear one, or the strongest; ``rows``: the strongest first."""
    return next((row for row in rows if direction(row)), rows[0])


def _alike(one: AnchoredModel) -> str:
    """How points are compared where only those of the same kind are."""
    if one.about.point == "condition":
        return f"among {one.many} of the same category"
    return f"with the difference between women's and men's {one.many} taken out"


def doubted_by(one: AnchoredModel, row: Row) -> list[str]:
    """The checks that do not clearly say the same as the correlation."""
    checks = (
        ("anchor-rank", "by rank correlation"),
        ("anchor-partial", _alike(one)),
    )
    found = ((one.row(kind, row["dimension"]), name) for kind, name in checks)
    return [
        name for check, name in found if check is not None and direction(check) != direction(row)
    ]


def _not_clear(checks: Sequence[str]) -> str:
    """That none of the checks is clear; “and” could mean only all of them together."""
    if len(checks) == 1:
        return f"not clear {checks[0]}"
    return f"clear neither {' nor '.join(checks)}"


def _checks(one: AnchoredModel, row: Row) -> Iterator[str]:
    """Yield the same by ranks, and with the category held constant."""
    ranks = one.row("anchor-rank", row["dimension"])
    if ranks is not None:
        yield f"By ranks: {_numbers(ranks, 'ρ')}."
    partial = one.row("anchor-partial", row["dimension"])
    if partial is not None:
        alike = _alike(one)
        count = f"{partial['n']} {one.many} can be compared"
        if one.about.point != "condition":
            count = f"{partial['n']} {one.many} in all"
        yield f"{alike[0].upper()}{alike[1:]}, {count}: {_numbers(partial)}."


def _sides(one: AnchoredModel) -> Iterator[str]:
    """Of occupations the means of both sides, where opposite patterns can cancel out."""
    groups = one.points.filter(pl.col("item").is_not_null(), pl.col("group").is_not_null())
    means = groups.group_by("group").agg(pl.col("value", "people").mean()).sort("group").rows()
    if one.about.point == "condition" or len(means) < 2:
        return
    item = one.item(next(iter(one.about.items)))
    listed = " and ".join(
        f"{number(value)} for {_of_group(one, group)} ({item}: {number(people)})"
        for group, value, people in means
    )
    tested = "Their difference was not tested."
    if "preference" in one.quantity:
        tested = (
            "Half of their difference, computed by sentence instead of by occupation, is the main "
            f"result of {one.section.instrument}."
        )
    yield (
        f"The mean {one.quantity}{one.unit} is {listed}; each occupation counts once. {tested} "
        "Each sentence names two occupations, one from each group, so these means do not show "
        "whether the model knows which of the two the pronoun refers to."
    )


def _also(one: AnchoredModel, rows: Sequence[Row], best: Row) -> Iterator[str]:
    """The other relations that are clear: the strongest must not read as the only one."""
    others = [row for row in rows if direction(row) and row is not best]
    if others:
        listed = join_words(
            [
                f"{one.item(row['dimension'])} ({_numbers(row)}"
                f"{f'; {_not_clear(doubted)}' if (doubted := doubted_by(one, row)) else ''})"
                for row in others
            ]
        )
        yield f"Over all {one.many}, r is also clear for {listed}."


def _more(one: AnchoredModel, rows: Sequence[Row]) -> Iterator[str]:
    best = _best(rows)
    yield from _selected(one, best, len(rows))
    if not _in_head(one, rows):
        yield from _checks(one, best)
    yield from _true_scores(one, best)
    yield from _standing_out(one)
    yield from _covers(one, best)


def _in_head(one: AnchoredModel, rows: Sequence[Row]) -> bool:
    """Whether the checks stand beside the first sentence already."""
    best = _best(rows)
    return bool(doubted_by(one, best)) if direction(best) else len(rows) == 1


def _selected(one: AnchoredModel, best: Row, tests: int) -> Iterator[str]:
    """Yield that the strongest of several was picked."""
    if tests > 1:
        yield (
            f"The correlation with {one.item(best['dimension'])} is the strongest of {tests}, and "
            "the strongest tends to be overestimated. Interval and p allow for all of them."
        )


def _covers(one: AnchoredModel, best: Row) -> Iterator[str]:
    """How the intervals were made, what they are over, and what they say nothing about."""
    over = best["interval_over"]
    if over is None:
        return
    sampled = over.replace("conditions", one.many).partition(FIXED)[0]
    by = " (jackknife, on Fisher’s z)" if "jackknife" in (best["method"] or "") else ""
    said = [f"The intervals{by} cover other {sampled} of the same kind."]
    said += filter(None, [_not_covered(one, best)])
    yield " ".join([*said, "They do not correct for error of measurement, unless this is said."])


def _not_covered(one: AnchoredModel, best: Row) -> str:
    """What the intervals say nothing about, and why; empty: they cover all, or there are none."""
    if best["interval_over"] is None:
        return ""
    sampled, _, fixed = best["interval_over"].replace("conditions", one.many).partition(FIXED)
    missing = [name for name in ("items", "wordings") if name not in sampled]
    if not missing:
        return ""
    others = "sentences" if len(missing) == 2 else missing[0]
    why = f"Only {fixed} were asked, so the" if fixed else "The"
    return f"{why} intervals say nothing about other {others}."


def _of_group(one: AnchoredModel, group: str) -> str:
    """The points of a group, in the plural; occupations are grouped by whose they mostly are."""
    if one.about.point == "condition":
        return f"{humanize(group)} {one.many}"
    return f"{'women' if group == FEMALE else 'men'}'s {one.many}"


def _true_scores(one: AnchoredModel, row: Row) -> Iterator[str]:
    """What the correlation would be without error of measurement, where that is another."""
    value = row["second_effect"]
    if value is None or number(value) == number(row["effect"]):
        return
    both = "model's side" not in (row["second_effect_name"] or "")
    whose = "either side’s" if both else "the model’s own"
    interval = ends(row["second_effect_low"], row["second_effect_high"])
    theirs = f" The error of measurement in the data about {one.about.whose} is unknown."
    rest = "" if both else theirs
    yield (
        f"Without {whose} error of measurement, r would be {number(value)} "
        f"({confidence(row['level'])} interval {interval}).{rest}"
    )


def _standing_out(one: AnchoredModel) -> Iterator[str]:
    """The points that lie clearly off what all items together predict, each by its own test."""
    rows = one.residuals()
    if rows.is_empty():
        return
    clear = [row for row in rows.iter_rows(named=True) if row["p_adjusted"] < FALSE]
    items = list(one.about.items)
    what = f"all {len(items)} dimensions together" if len(items) > 1 else one.item(items[0])
    if not clear:
        yield (
            f"Predicted from {what} (R² = {number(rows['explained'][0])}), no {one.one} is clearly "
            "higher or lower than expected."
        )
        return
    for row in clear[:MOST_NAMED]:
        yield _stands_out(one, row, what)
    if len(clear) > MOST_NAMED:
        yield f"{len(clear) - MOST_NAMED} more are in tables/."


def _stands_out(one: AnchoredModel, row: Row, what: str) -> str:
    above = row["residual"] > 0
    if row["quantity"] in NEGATIVE:
        way = "more negative" if above else "less negative"
        said = f"It is far {way} about “{one.called(row['condition'])}” than predicted from {what}"
    else:
        way = "higher" if above else "lower"
        said = f"For “{one.called(row['condition'])}”, it is far {way} than predicted from {what}"
    numbers = f"{number(row['value'])}, predicted {number(row['predicted'])}"
    return f"{said}: {numbers} (corrected {describe_p(row['p_adjusted'])})."


def describe_anchors(found: Sequence[AnchoredModel]) -> list[str]:
    """A line for each instrument, model and anchor, for the terminal.

    What is not measurable is said there already.
    """
    every = [describe_anchor(one) for one in found if one.unmeasurable is None]
    return [
        " ".join(
            filter(
                None,
                [
                    f"{one.instrument}, {one.model} ({one.anchor}): {one.head}.",
                    one.text,
                    one.not_covered,
                ],
            )
        )
        for one in every
    ]
