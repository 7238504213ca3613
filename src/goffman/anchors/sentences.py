"""Sentences about a model beside an anchor: correlations and shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
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
from goffman.stats.crossed import FIXED
from goffman.stats.multiple_testing import FALSE
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
        rows = self.estimates.filter(pl.col("kind") == kind, pl.col("effect").is_not_null())
        order = pl.col("effect").abs()
        return rows.sort(order, descending=True, maintain_order=True).to_dicts()

    def differences(self, kind: str) -> Sequence[Row]:
        """The differences of a kind, in the order of the table."""
        of_kind = pl.col("kind") == kind
        return self.estimates.filter(of_kind, pl.col("difference").is_not_null()).to_dicts()

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


def anchored_models(
    estimates: pl.DataFrame | None,
    points: pl.DataFrame | None,
    anchors: Mapping[str, UsedAnchor],
    sections: Mapping[str, Section],
) -> list[AnchoredModel]:
    """Anchor by anchor, then instrument by instrument, then model by model."""
    if estimates is None or points is None:
        return []
    found = []
    for (name, about), (instrument, section) in product(anchors.items(), sections.items()):
        rows = estimates.filter(pl.col("second") == name, of_asked(instrument))
        for model in rows["model"].drop_nulls().unique(maintain_order=True):
            mine = pl.col("model") == model
            one = AnchoredModel(
                anchor=name,
                about=about,
                section=section,
                model=model,
                estimates=rows.filter(mine),
                points=points.filter(pl.col("anchor") == name, of_asked(instrument), mine),
            )
            found.append(one)
    return found


INDIFFERENT_HEAD = "Not compared with people's: its answers hardly leave the middle"

MOST_QUESTIONS = 6
"""Questions that are named one by one."""


def in_points(value: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    whole = f"{abs(value) * 100:.0f}"
    return whole if whole == "0" else f"{'+' if value > 0 else '−'}{whole}"


def percent(value: float) -> str:
    """A share."""
    return f"{value * 100:.0f}%"


def _ends(row: Row) -> str:
    return f"{in_points(row['low'])} to {in_points(row['high'])}"


def _difference(row: Row) -> str:
    """In points, with its interval where it has one."""
    points = in_points(row["difference"])
    interval = "" if row["low"] is None else f", {confidence(row['level'])} interval {_ends(row)}"
    return f"{points} {'point' if points in {'+1', '−1'} else 'points'}{interval}"


def _named(one: AnchoredModel, name: str) -> str:
    """A condition, and that people were told of it in another text where that is so."""
    own = f" (our own {one.one})" if name in one.about.own_texts else ""
    return f"{one.called(name).lower()}{own}"


def _listed(one: AnchoredModel, rows: Sequence[Row]) -> str:
    return join_words([_named(one, row["group"]) for row in rows])


def _of_each(one: AnchoredModel, texts: Mapping[str, str]) -> str:
    """What is said of each condition."""
    return "; ".join(f"{one.called(name).lower()} {text}" for name, text in texts.items())


def describe_shares(one: AnchoredModel) -> tuple[str, ...]:
    """Heading, numbers, and further sentences."""
    overall, every = one.differences(OVERALL), one.differences(DIFFERENCE)
    silence = _silence(one)
    more = (
        *_left_out(one, overall, every),
        *_checks_of_share(one),
        *_questions(one, every),
        *_gender(one),
        *silence,
        *_share_covers(one, every),
    )
    tested = [row for row in overall if row["reason"] != UNANSWERED]
    if any(row["reason"] == INDIFFERENT for row in every):
        return INDIFFERENT_HEAD, _indifferent(one, tested), *silence
    if not tested:
        asked = "There are too few answers to compare it with people over all questions"
        return asked if every else "No question was asked of both", "", *more
    numbers = "; ".join(
        f"{_both_sides(one, row)} ({_difference(row)}, {describe_corrected(row)})" for row in tested
    )
    text = f"Over the questions that count as stigma: {numbers}."
    text = " ".join([text, *_levels(one, tested, every)])
    if all(row["reason"] == FEW_TEXTS for row in tested):
        few = f"fewer than three {one.many} of the same, and so no test"
        return f"Set beside people's: there are {few}", text, *more
    return _share_head(one, tested), text, *more


def _both_sides(one: AnchoredModel, row: Row) -> str:
    """The model's share and people's of one condition."""
    return (
        f"{_named(one, row['group'])} {percent(row['mean_first'])}, people{_in_year(one, [row])} "
        f"{percent(row['mean_second'])}"
    )


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
        f"{_both_sides(one, row)}, people with as much indifference "
        f"{percent(0.5 + (2 * sure - 1) * (row['mean_second'] - 0.5))}"
        for row in overall
    )
    return f"{said} Over the questions that count as stigma: {shares}." if shares else said


def _levels(one: AnchoredModel, tested: Sequence[Row], every: Sequence[Row]) -> Iterator[str]:
    """Yield how far single questions are apart, what is not ruled out, and earlier years."""
    texts = {}
    for name in dict.fromkeys(row["group"] for row in tested):
        several = [abs(row["difference"]) for row in every if row["group"] == name]
        texts[name] = f"{100 * sum(several) / len(several):.0f}"
    # Differences of single questions can cancel out.
    yield (
        "Question by question, its share is on average so many points from people's, up or down: "
        f"{_of_each(one, texts)}."
    )
    ends = [abs(end) for row in tested for end in (row["low"], row["high"]) if end is not None]
    if ends and not any(direction(row) for row in tested):
        yield f"Differences of up to {max(ends) * 100:.0f} points are not ruled out."
    earlier = {
        row["group"]: ", ".join(f"{percent(share)} in {year}" for year, share in years)
        for row in tested
        if (years := _years(one, row["group"])[:-1])
    }
    if earlier:
        yield f"People's answers in earlier years: {_of_each(one, earlier)}."


def _share_head(one: AnchoredModel, tested: Sequence[Row]) -> str:
    """About whom the answers differ from people's; before it, how a man and a woman are told apart.

    Over women and men the level may be people's where neither alone is.
    """
    gap = _gap_in_head(one)
    who = "averaged over women and men, its answers" if gap else "Its answers"
    people = f"people's{_in_year(one, tested)}"
    # People with the model's indifference would not clearly differ from it this way.
    limit = FALSE / 2
    within = [row for row in tested if direction(row) and (row["indifference_p"] or 0.0) >= limit]
    parts = [
        f"{word} stigmatizing than {people} about {_described(one, rows)}"
        for way, word in ((1, "more"), (-1, "less"))
        if (rows := [row for row in tested if direction(row) == way and row not in within])
    ]
    if within:
        parts.append(
            f"unlike {people} about {_described(one, within)}, but by no more than its "
            "indifference may explain"
        )
    head = f"{who} differ clearly from {people} about none of {len(tested)} {one.many}"
    return "; ".join([*gap, f"{who} are {', and '.join(parts)}" if parts else head])


def _described(one: AnchoredModel, rows: Sequence[Row]) -> str:
    """Whom a heading is about: not everyone with a condition, but those of the texts."""
    if one.one != "description":
        return _listed(one, rows)
    who = "the person" if len(rows) == 1 else "people"
    return f"{who} described with {_listed(one, rows)}"


def _in_year(one: AnchoredModel, rows: Sequence[Row]) -> str:
    """The year of people's answers; empty: not known, or not the same for all of these."""
    latest = {years[-1][0] if (years := _years(one, row["group"])) else "" for row in rows}
    only = latest.pop() if len(latest) == 1 else ""
    return f" in {only}" if only else ""


def _years(one: AnchoredModel, condition: str) -> list[tuple[str, float]]:
    """Year and people's share over the questions that count, the latest last."""
    rows = [row for row in one.differences(IN_YEAR) if row["group"] == condition]
    return sorted((row["variant"], row["mean_second"]) for row in rows)


def _gap_in_head(one: AnchoredModel) -> list[str]:
    """That a man and a woman are told apart otherwise than by people, and which way."""
    tested = [row for row in one.differences(GENDER) if row["p"] is not None]
    # 1: clearly more about a man, −1: about a woman.
    leans = {
        row["group"]: direction(row)
        for row in one.differences(GENDER_SIDE)
        if row["variant"] == MODEL
    }

    def whom(rows: Sequence[Row]) -> str:
        every = len(rows) == len(tested) > 1
        return f"all {len(tested)} {one.many}" if every else _listed(one, rows)

    clear = [row for row in tested if direction(row)]
    parts = []
    for sign, (more, less) in ((-1, ("woman", "man")), (1, ("man", "woman"))):
        rows = [row for row in clear if leans.get(row["group"], 0) == sign]
        if not rows:
            continue
        also = [row["mean_second"] * sign > 0 for row in rows]
        people = "clearly unlike people's"
        if any(also):
            people = "more so than people's" if all(also) else "otherwise than people's"
        about = f"about a {more} than about a {less} for {whom(rows)}"
        parts.append(f"more stigmatizing {about}, {people}")
    said = [f"Its answers are {', and '.join(parts)}"] if parts else []
    if rows := [row for row in clear if not leans.get(row["group"])]:
        changes = "A man instead of a woman changes its answers otherwise than people's for"
        said.append(f"{changes} {whom(rows)}")
    return said


def _left_out(one: AnchoredModel, overall: Sequence[Row], every: Sequence[Row]) -> Iterator[str]:
    """Whom no mean over the questions is about, and why."""
    whole = {row["group"]: row["reason"] for row in overall}
    rows = [{"group": name} for name in dict.fromkeys(row["group"] for row in every)]
    gaps = [row for row in rows if row["group"] not in whole]
    few = [row for row in rows if whole.get(row["group"]) == UNANSWERED]
    for without, why in ((gaps, "a question has no answer"), (few, "too much is no answer")):
        if without:
            whom = _listed(one, without)
            yield f"Over these questions nothing is said about {whom}, because {why}."


def _in_variants(one: AnchoredModel, kind: str) -> dict[str, list[str]]:
    """The shares of a kind of check by condition, lowest first."""
    shares: dict[str, list[float]] = {}
    for row in one.differences(kind):
        shares.setdefault(row["group"], []).append(row["mean_first"])
    return {name: [percent(value) for value in sorted(of)] for name, of in shares.items()}


def _checks_of_share(one: AnchoredModel) -> Iterator[str]:
    """Yield what the same share is in each text, and in wordings that are not people's."""
    if texts := _in_variants(one, IN_TEXT):
        listed = _of_each(one, {name: ", ".join(of) for name, of in texts.items()})
        yield f"Its share in each {one.one} alone, which is not tested: {listed}."
    if wordings := _in_variants(one, OTHER_WORDING):
        listed = _of_each(one, {name: f"{of[0]} to {of[-1]}" for name, of in wordings.items()})
        yield f"In other wordings, which people were not asked, its share is: {listed}."


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
            f"({_difference(row)})"
            for row in far
        )
        yield f"Farthest apart, and so probably overestimated: {listed}."


def _gender(one: AnchoredModel) -> Iterator[str]:
    """Whether a man instead of a woman moves the model as it moves people."""
    rows = [row for row in one.differences(GENDER) if row["low"] is not None]
    if not rows:
        return
    sides = {(row["group"], row["variant"]): row for row in one.differences(GENDER_SIDE)}

    def shown(name: str, side: str, difference: float) -> str:
        """A man minus a woman on one side, with its interval where it has one."""
        row = sides.get((name, side))
        interval = "" if row is None or row["low"] is None else f" ({_ends(row)})"
        return f"{side} {in_points(difference)}{interval}"

    listed = "; ".join(
        f"{one.called(row['group']).lower()}: {shown(row['group'], MODEL, row['mean_first'])}, "
        f"{shown(row['group'], PEOPLE, row['mean_second'])}, model minus people {_ends(row)}"
        for row in rows
    )
    clear = [row for row in rows if direction(row)]
    verdict = "none of these differs clearly from people's; with intervals this wide, few would"
    if clear:
        whom = _listed(one, clear)
        verdict = f"the difference is clearly not the same as people's for {whom}"
    corrected = f"With p corrected for {len(rows)} tests" if len(rows) > 1 else "By p"
    yield (
        "A man described instead of a woman changes the share by so many points (in brackets 95% "
        f"intervals; people: all surveys with that {one.one} together): {listed}. {corrected}, "
        f"{verdict}."
    )


def _silence(one: AnchoredModel) -> list[str]:
    """How much of what the model says is no answer, which people hardly ever gave."""
    shares = one.points["unanswered"].drop_nulls().to_numpy()
    if not shares.size:
        return []
    most = float(shares.max())
    if most == 0:
        return ["It gave an answer each time."]
    # A reply may begin with a word that begins no option, and still name one later.
    beginnings = one.section.scores.filter(
        pl.col("model") == one.model,
        pl.col("level") == "prompt",
        pl.col("quantity") == "elsewhere",
        pl.col("value").is_not_null(),
    )["value"].to_numpy()
    begun = ""
    if beginnings.size:
        share = percent(float(beginnings.mean()))
        begun = f" ({share} on words that begin no option, after which one may still be named)"
    said = (
        f"“Don't know” or no answer: {percent(float(shares.mean()))} of its answers{begun}, at "
        f"most {percent(most)} for one question and {one.one}. Shares are of the rest, each prompt "
        "counting alike."
    )
    few = one.estimates.filter(pl.col("kind") == DIFFERENCE, pl.col("reason") == UNANSWERED).height
    if few:
        said += (
            f" Where more than half is no answer, the question alone is not compared ({few} "
            f"{'question' if few == 1 else 'questions'}); means over questions include it."
        )
    return [said]


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
    rows = one.rows("anchor")
    text, not_covered, style = "", "", one.section.presentation.style
    more: Sequence[str] = ()
    if failing := one.unmeasurable:
        head, style = f"Not stated: {failing.model} is {failing.mark}", None
    elif one.about.compare == "difference":
        head, text, *more = describe_shares(one)
    elif not rows:
        reasons = one.estimates["reason"].drop_nulls().unique(maintain_order=True).to_list()
        why = reasons[0] if reasons else "there are too few values"
        head, style = f"Nothing could be correlated: {why}", None
    else:
        head, text = _head(one, rows)
        more, not_covered = [*_more(one, rows)], _not_covered(one, _best(rows))
    # A way of answering that heeds no question comes first: what such a model has in common with
    # people, or not, is no attitude.
    if styled := style(one.section, one.shown) if style else "":
        text = f"So what it answers says little, also beside people. {head}. {text}".strip()
    return AnchorSentences(
        instrument=one.section.instrument,
        model=one.shown,
        anchor=one.anchor,
        head=styled or head,
        text=text,
        more=tuple(more),
        not_covered=not_covered,
    )


def _numbers(row: Row, sign: str = "r") -> str:
    low, high, interval = row["effect_low"], row["effect_high"], ""
    if low is not None:
        interval = f", {confidence(row['level'])} interval {ends(low, high)}"
    return f"{sign} = {number(row['effect'])}{interval}, {describe_corrected(row)}"


def _head(one: AnchoredModel, rows: Sequence[Row]) -> tuple[str, str]:
    """The strongest clear relation, or that there is none; and its numbers.

    Said plainly is only what ranks and conditions of the same category say too.
    """
    best = _best(rows)
    whole = f" of {best['n'] + best['left_out']}" if best["left_out"] else ""
    every, its = f"{best['n']}{whole} {one.many}", f"Its {one.quantity}"
    over_all = f"Over all {every}, its {one.quantity}"
    item, way = one.explained(best["dimension"]), direction(best)
    across = f"Across {every}: {_numbers(best)}."
    if way:
        clear = [row for row in rows if direction(row) and row is not best]
        plural = "s" if len(clear) > 1 else ""
        also = f"; r is also clear for {len(clear)} other dimension{plural}" if clear else ""
        moves = f"{'rises' if way > 0 else 'falls'} as {item} rises"
        if not (doubted := doubted_by(one, best)):
            return f"{its} {moves}{also}", " ".join([across, *_also(one, clear)])
        head = f"{over_all} {moves}; this is {_not_clear(doubted)}{also}"
        return head, " ".join([across, *_checks(one, best), *_also(one, clear)])
    if len(rows) == 1:
        head = f"{its} has no clear relation with {item}"
        within = one.row("anchor-partial", best["dimension"])
        if within is not None and direction(within):
            turns = "rises" if direction(within) > 0 else "falls"
            head = (
                f"{over_all} has no clear relation with {item}; in a second look, {_alike(one)}, "
                f"it {turns} as {one.item(best['dimension'])} rises"
            )
        return head, " ".join([across, *_checks(one, best), *_sides(one)])
    others = [one.item(name) for name in one.about.items if name != best["dimension"]]
    text = (
        f"Across {every}, the strongest correlation is with {item}: {_numbers(best)}. The other "
        f"dimensions are {join_words(others)}."
    )
    return f"{its} has no clear relation with any of {len(others) + 1} dimensions", text


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
    checks = {"anchor-rank": "by rank correlation", "anchor-partial": _alike(one)}
    return [
        name
        for kind, name in checks.items()
        if (check := one.row(kind, row["dimension"])) and direction(check) != direction(row)
    ]


def _not_clear(checks: Sequence[str]) -> str:
    """That none of the checks is clear; “and” could mean only all of them together."""
    return f"{'clear neither' if len(checks) > 1 else 'not clear'} {' nor '.join(checks)}"


def _checks(one: AnchoredModel, row: Row) -> Iterator[str]:
    """Yield the same by ranks, and with the category held constant."""
    if ranks := one.row("anchor-rank", row["dimension"]):
        yield f"By ranks: {_numbers(ranks, 'ρ')}."
    if partial := one.row("anchor-partial", row["dimension"]):
        alike = _alike(one)
        how = "can be compared" if one.about.point == "condition" else "in all"
        count = f"{partial['n']} {one.many} {how}"
        yield f"{alike[0].upper()}{alike[1:]}, {count}: {_numbers(partial)}."


def _sides(one: AnchoredModel) -> Iterator[str]:
    """Of occupations the means of both sides, where opposite patterns can cancel out."""
    groups = one.points.filter(pl.col("item").is_not_null(), pl.col("group").is_not_null())
    means = groups.group_by("group").agg(pl.col("value", "people").mean()).sort("group").rows()
    if one.about.point == "condition" or len(means) < 2:
        return
    item = one.item(next(iter(one.about.items)))
    listed = " and ".join(
        f"{number(value)} for {'women' if group == FEMALE else 'men'}'s {one.many} ({item}: "
        f"{number(people)})"
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


def _also(one: AnchoredModel, others: Sequence[Row]) -> Iterator[str]:
    """The other relations that are clear: the strongest must not read as the only one."""
    listed = []
    for row in others:
        doubted = doubted_by(one, row)
        doubt = f"; {_not_clear(doubted)}" if doubted else ""
        listed.append(f"{one.item(row['dimension'])} ({_numbers(row)}{doubt})")
    if listed:
        yield f"Over all {one.many}, r is also clear for {join_words(listed)}."


def _more(one: AnchoredModel, rows: Sequence[Row]) -> Iterator[str]:
    best = _best(rows)
    if len(rows) > 1:
        yield (
            f"The correlation with {one.item(best['dimension'])} is the strongest of {len(rows)}, "
            "and the strongest tends to be overestimated. Interval and p allow for all of them."
        )
    # Where something is doubted, or one item was asked, the checks stand beside the first sentence.
    if not (doubted_by(one, best) if direction(best) else len(rows) == 1):
        yield from _checks(one, best)
    yield from _true_scores(one, best)
    yield from _standing_out(one)
    if over := best["interval_over"]:
        sampled = over.replace("conditions", one.many).partition(f"; {FIXED}: ")[0]
        by = " (jackknife, on Fisher’s z)" if "jackknife" in (best["method"] or "") else ""
        covers = f"The intervals{by} cover other {sampled} of the same kind."
        measured = "They do not correct for error of measurement, unless this is said."
        yield " ".join(filter(None, [covers, _not_covered(one, best), measured]))


def _not_covered(one: AnchoredModel, best: Row) -> str:
    """What the intervals say nothing about, and why; empty: they cover all, or there are none."""
    over = (best["interval_over"] or "").replace("conditions", one.many)
    sampled, _, fixed = over.partition(f"; {FIXED}: ")
    missing = [name for name in ("items", "wordings") if name not in sampled]
    if not over or not missing:
        return ""
    others = "sentences" if len(missing) == 2 else missing[0]
    why = f"Only {fixed} were asked, so the" if fixed else "The"
    return f"{why} intervals say nothing about other {others}."


def _true_scores(one: AnchoredModel, row: Row) -> Iterator[str]:
    """What the correlation would be without error of measurement, where that is another."""
    value = row["second_effect"]
    if value is None or number(value) == number(row["effect"]):
        return
    whose, rest = "either side’s", ""
    if "model's side" in (row["second_effect_name"] or ""):
        whose = "the model’s own"
        rest = f" The error of measurement in the data about {one.about.whose} is unknown."
    interval = ends(row["second_effect_low"], row["second_effect_high"])
    yield (
        f"Without {whose} error of measurement, r would be {number(value)} "
        f"({confidence(row['level'])} interval {interval}).{rest}"
    )


def _standing_out(one: AnchoredModel) -> Iterator[str]:
    """The points that lie clearly off what all items together predict, each by its own test."""
    rows = one.points.filter(pl.col("item").is_null())
    if rows.is_empty():
        return
    farthest = rows.sort(pl.col("statistic").abs(), descending=True)
    clear = farthest.filter(pl.col("p_adjusted") < FALSE).to_dicts()
    items = list(one.about.items)
    what = f"all {len(items)} dimensions together" if len(items) > 1 else one.item(items[0])
    if not clear:
        yield (
            f"Predicted from {what} (R² = {number(rows['explained'][0])}), no {one.one} is clearly "
            "higher or lower than expected."
        )
    for row in clear[:MOST_NAMED]:
        above, name = row["residual"] > 0, one.called(row["condition"])
        said = f"For “{name}”, it is far {'higher' if above else 'lower'} than predicted from"
        if row["quantity"] in NEGATIVE:
            way = "more" if above else "less"
            said = f"It is far {way} negative about “{name}” than predicted from"
        numbers = f"{number(row['value'])}, predicted {number(row['predicted'])}"
        yield f"{said} {what}: {numbers} (corrected {describe_p(row['p_adjusted'])})."
    if len(clear) > MOST_NAMED:
        yield f"{len(clear) - MOST_NAMED} more are in anchors.parquet."


def describe_anchors(found: Sequence[AnchoredModel]) -> list[str]:
    """A line for each instrument, model and anchor, for the terminal.

    What is not measurable is said there already.
    """
    every = [describe_anchor(one) for one in found if one.unmeasurable is None]
    lines = [
        (
            f"{said.instrument}, {said.model} ({said.anchor}): {said.head}.",
            said.text,
            said.not_covered,
        )
        for said in every
    ]
    return [" ".join(filter(None, parts)) for parts in lines]
