"""Sentences about a model compared with an anchor: correlations and shares."""

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
    IN_YEAR,
    INDIFFERENT,
    LEAST_DECIDED,
    MODEL,
    OVERALL,
    UNANSWERED,
)
from goffman.console import printable
from goffman.contrasts.designs import FEMALE
from goffman.contrasts.verdict import direction
from goffman.formatting import confidence, describe_corrected, ends, humanize, join_words, number
from goffman.modes import of_asked
from goffman.stats.crossed import FIXED
from goffman.stats.multiple_testing import FALSE

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
"""Names of numbers other than those by which a measure is known."""

UNITS = {"she-over-he": " (log ratio; below 0, “he” is preferred)"}
"""The units of some of these numbers."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AnchoredModel:
    """The results for one model, instrument and anchor."""

    anchor: str
    """The anchor's id."""
    about: UsedAnchor
    section: Section
    model: str
    """The model's name as the user gave it."""
    estimates: pl.DataFrame
    """The columns CONTRASTS and ESTIMATES, of this model, instrument and anchor."""
    points: pl.DataFrame
    """The columns ANCHOR_POINTS, of this model, instrument and anchor."""

    @property
    def shown(self) -> str:
        """Return the model's name as it is shown."""
        return self.section.names.model(self.model)

    @property
    def unmeasurable(self) -> Competence | None:
        """Return how the model failed the controls; None if it passed."""
        return self.section.unmeasurable().get(self.model)

    @property
    def quantity(self) -> str:
        """Return the name of the model's number."""
        return CALLED.get(self.estimates["quantity"][0], self.section.presentation.called)

    @property
    def unit(self) -> str:
        """Return the unit in brackets, to follow the number's name; empty if the name says it."""
        return UNITS.get(self.estimates["quantity"][0], "")

    @property
    def many(self) -> str:
        """Return the name of the points, in the plural."""
        return self.section.noun.many if self.about.point == "condition" else f"{self.about.point}s"

    @property
    def one(self) -> str:
        """Return the name of the points, in the singular."""
        return self.section.noun.one if self.about.point == "condition" else self.about.point

    def rows(self, kind: str) -> Sequence[Row]:
        """Return the estimates of a kind that have a value, the strongest first."""
        rows = self.estimates.filter(kind=kind).drop_nulls("effect")
        order = pl.col("effect").abs()
        return rows.sort(order, descending=True, maintain_order=True).to_dicts()

    def differences(self, kind: str) -> Sequence[Row]:
        """Return the differences of a kind, in the order of the table."""
        is_kind = pl.col("kind") == kind
        return self.estimates.filter(is_kind, pl.col("difference").is_not_null()).to_dicts()

    def row(self, kind: str, item: str) -> Row | None:
        """Return the estimate of a kind for an item of the anchor, over all conditions."""
        return next((row for row in self.rows(kind) if row["dimension"] == item), None)

    def item(self, name: str) -> str:
        """Return an item of the anchor, as it is shown."""
        entry = self.about.items.get(name)
        return printable(entry["name"]) if entry else humanize(name)

    def explained(self, name: str) -> str:
        """Return an item of the anchor, with what it means."""
        entry = self.about.items.get(name)
        meaning = printable(entry.get("meaning", "")) if entry else ""
        item_name = self.item(name)
        # A phrase says by itself what it means.
        return item_name if not meaning or " " in item_name else f"“{item_name}” ({meaning})"

    def called(self, condition: str) -> str:
        """Return a condition, or an occupation, as it is shown."""
        if self.about.point != "condition":
            return printable(condition)
        return self.section.called(condition)


def anchored_models(
    estimates: pl.DataFrame | None,
    points: pl.DataFrame | None,
    anchors: Mapping[str, UsedAnchor],
    sections: Mapping[str, Section],
) -> list[AnchoredModel]:
    """Return the results of each anchor, instrument and model, in this order."""
    if estimates is None or points is None:
        return []
    results = []
    for (anchor, about), (instrument, section) in product(anchors.items(), sections.items()):
        rows = estimates.filter(of_asked(instrument), second=anchor)
        for model in rows["model"].drop_nulls().unique(maintain_order=True):
            is_model = pl.col("model") == model
            anchored = AnchoredModel(
                anchor=anchor,
                about=about,
                section=section,
                model=model,
                estimates=rows.filter(is_model),
                points=points.filter(of_asked(instrument), is_model, anchor=anchor),
            )
            results.append(anchored)
    return results


INDIFFERENT_HEAD = "Not compared with people's: its answers hardly leave the middle"


def in_points(value: float) -> str:
    """Return a difference of shares in percentage points, with its sign."""
    digits = f"{abs(value) * 100:.0f}"
    return digits if digits == "0" else f"{'+' if value > 0 else '−'}{digits}"


def percent(value: float) -> str:
    """Return a share as text."""
    return f"{value * 100:.0f}%"


def _difference(row: Row) -> str:
    """Return the difference in points, with its interval if it has one."""
    points, interval = in_points(row["difference"]), ""
    if row["low"] is not None:
        ends = f"{in_points(row['low'])} to {in_points(row['high'])}"
        interval = f", {confidence(row['level'])} interval {ends}"
    return f"{points} {'point' if points in {'+1', '−1'} else 'points'}{interval}"


def _named(anchored: AnchoredModel, name: str) -> str:
    """Return a condition, and whether models were told of it in a text that is not people's."""
    own_text = f" (our own {anchored.one})" if name in anchored.about.own_texts else ""
    return f"{anchored.called(name).lower()}{own_text}"


def _listed(anchored: AnchoredModel, rows: Sequence[Row]) -> str:
    return join_words([_named(anchored, row["group"]) for row in rows])


def describe_shares(anchored: AnchoredModel) -> tuple[str, str, str]:
    """Return a heading, sentences with the numbers, and what the intervals do not cover."""
    overall, differences = anchored.differences(OVERALL), anchored.differences(DIFFERENCE)
    tested = [row for row in overall if row["reason"] != UNANSWERED]
    if any(row["reason"] == INDIFFERENT for row in differences):
        return INDIFFERENT_HEAD, _indifferent(anchored, tested), ""
    left_out = [*_left_out(anchored, overall, differences)]
    if not tested:
        head = "There are too few answers to compare it with people over all questions"
        return head if differences else "No question was asked of both", " ".join(left_out), ""
    numbers = "; ".join(
        f"{_both_sides(anchored, row)} ({_difference(row)}, {describe_corrected(row)})"
        for row in tested
    )
    sentences = [f"Over the questions that count as stigma: {numbers}."]
    ends = [abs(end) for row in tested for end in (row["low"], row["high"]) if end is not None]
    if ends and not any(direction(row) for row in tested):
        sentences.append(f"Differences of up to {max(ends) * 100:.0f} points are not ruled out.")
    sentences += left_out
    if n_tested := sum(row["p"] is not None for row in differences):
        clear = sum(bool(direction(row)) for row in differences)
        sentences.append(
            f"Of the {n_tested} single questions, {clear or 'none'} "
            f"{'differs' if clear < 2 else 'differ'} clearly."
        )
    # Nothing is said of people here, who nearly always answered.
    unanswered = anchored.points["unanswered"].drop_nulls().to_list()
    if any(unanswered):
        share = percent(sum(unanswered) / len(unanswered))
        sentences.append(
            f"“Don't know” or no answer: {share} of its answers; shares are of the rest."
        )
    text = " ".join(sentences)
    if all(row["reason"] == FEW_TEXTS for row in tested):
        few_texts = f"There are fewer than three {anchored.many} of the same, so nothing is tested"
        return few_texts, text, ""
    not_covered = "The intervals say nothing about other questions, wordings or names."
    return _share_head(anchored, tested), text, not_covered


def _both_sides(anchored: AnchoredModel, row: Row) -> str:
    return (
        f"{_named(anchored, row['group'])} {percent(row['mean_first'])}, "
        f"people{_in_year(anchored, [row])} {percent(row['mean_second'])}"
    )


def _indifferent(anchored: AnchoredModel, overall: Sequence[Row]) -> str:
    """Return that the model is too indifferent to compare, and what people so indifferent say."""
    control = anchored.section.competence[anchored.model]
    decided = control.decided or 0.0
    low, high = control.decided_ends
    interval = "" if low is None else f" (95% interval {percent(low)} to {percent(high or 0.0)})"
    text = (
        f"On control items with an obvious answer, {percent(decided)} of its answers are on the "
        f"obvious side{interval}. 50% is indifference, and {percent(LEAST_DECIDED)} is needed to "
        "compare its shares with people's."
    )
    shares = "; ".join(
        f"{_both_sides(anchored, row)}, people with as much indifference "
        f"{percent(0.5 + (2 * decided - 1) * (row['mean_second'] - 0.5))}"
        for row in overall
    )
    return f"{text} Over the questions that count as stigma: {shares}." if shares else text


def _share_head(anchored: AnchoredModel, tested: Sequence[Row]) -> str:
    """Return how answers about women and men differ, then where answers differ from people's.

    The former comes first because differences about women and about men may cancel in the mean.
    """
    gap = _gap_in_head(anchored)
    subject = "averaged over women and men, its answers" if gap else "Its answers"
    people = f"people's{_in_year(anchored, tested)}"
    # These differences are no larger than indifference alone may make them.
    limit = FALSE / 2
    within = [row for row in tested if direction(row) and (row["indifference_p"] or 0.0) >= limit]
    parts = [
        f"{word} stigmatizing than {people} about {_described(anchored, rows)}"
        for sign, word in ((1, "more"), (-1, "less"))
        if (rows := [row for row in tested if direction(row) == sign and row not in within])
    ]
    if within:
        parts.append(
            f"unlike {people} about {_described(anchored, within)}, but by no more than its "
            "indifference may explain"
        )
    head = f"{subject} differ clearly from {people} about none of {len(tested)} {anchored.many}"
    return "; ".join([*gap, f"{subject} are {', and '.join(parts)}" if parts else head])


def _described(anchored: AnchoredModel, rows: Sequence[Row]) -> str:
    """Return the conditions as a heading names them: of people in texts, if these are described."""
    if anchored.one != "description":
        return _listed(anchored, rows)
    noun = "the person" if len(rows) == 1 else "people"
    return f"{noun} described with {_listed(anchored, rows)}"


def _in_year(anchored: AnchoredModel, rows: Sequence[Row]) -> str:
    """Return " in YEAR" if all of people's answers in these rows are of one year, else ""."""
    latest: dict[str, str] = {row["group"]: "" for row in rows}
    for row in anchored.differences(IN_YEAR):
        if row["group"] in latest:
            latest[row["group"]] = max(latest[row["group"]], row["variant"])
    years = {*latest.values()}
    year = years.pop() if len(years) == 1 else ""
    return f" in {year}" if year else ""


def _gap_in_head(anchored: AnchoredModel) -> list[str]:
    """Return where answers about a man and a woman differ otherwise than people's do."""
    tested = [row for row in anchored.differences(GENDER) if row["p"] is not None]
    # 1: clearly more about a man, −1: about a woman.
    directions = {
        row["group"]: direction(row)
        for row in anchored.differences(GENDER_SIDE)
        if row["variant"] == MODEL
    }

    def whom(rows: Sequence[Row]) -> str:
        is_all = len(rows) == len(tested) > 1
        return f"all {len(tested)} {anchored.many}" if is_all else _listed(anchored, rows)

    clear = [row for row in tested if direction(row)]
    parts = []
    for sign, (more, less) in ((-1, ("woman", "man")), (1, ("man", "woman"))):
        rows = [row for row in clear if directions.get(row["group"], 0) == sign]
        same_sign = [row["mean_second"] * sign > 0 for row in rows]
        people = "clearly unlike people's"
        if any(same_sign):
            people = "more so than people's" if all(same_sign) else "otherwise than people's"
        if rows:
            parts.append(
                f"more stigmatizing about a {more} than about a {less} for {whom(rows)}, {people}"
            )
    sentences = [f"Its answers are {', and '.join(parts)}"] if parts else []
    if rows := [row for row in clear if not directions.get(row["group"])]:
        changes = "A man instead of a woman changes its answers otherwise than people's for"
        sentences.append(f"{changes} {whom(rows)}")
    return sentences


def _left_out(
    anchored: AnchoredModel, overall: Sequence[Row], every: Sequence[Row]
) -> Iterator[str]:
    """Yield the conditions without a mean over the questions, and why."""
    reasons = {row["group"]: row["reason"] for row in overall}
    rows = [{"group": group} for group in dict.fromkeys(row["group"] for row in every)]
    gaps = [row for row in rows if row["group"] not in reasons]
    unanswered = [row for row in rows if reasons.get(row["group"]) == UNANSWERED]
    for left_out, reason in (
        (gaps, "a question has no answer"),
        (unanswered, "too much is no answer"),
    ):
        if left_out:
            names = _listed(anchored, left_out)
            yield f"Over these questions nothing is said about {names}, because {reason}."


@dataclass(frozen=True, kw_only=True)
class AnchorSentences:
    """The sentences about one model, instrument and anchor."""

    instrument: str
    model: str
    """The model's name as it is shown."""
    anchor: str
    """The anchor's id."""
    head: str
    """In a few words: the strongest relation, or that there is no clear one."""
    text: str = ""
    """The numbers."""
    not_covered: str = ""
    """What the intervals do not cover."""


def describe_anchor(anchored: AnchoredModel) -> AnchorSentences:
    """Return the sentences for one model; for a model that cannot do the task, only that."""
    rows = anchored.rows("anchor")
    text, not_covered, style = "", "", anchored.section.presentation.style
    if failing := anchored.unmeasurable:
        head, style = f"Not stated: {failing.doubt}", None
    elif anchored.about.compare == "difference":
        head, text, not_covered = describe_shares(anchored)
    elif not rows:
        reasons = anchored.estimates["reason"].drop_nulls().unique(maintain_order=True).to_list()
        reason = reasons[0] if reasons else "there are too few values"
        head, style = f"Nothing could be correlated: {reason}", None
    else:
        head, text = _head(anchored, rows)
        not_covered = _not_covered(anchored, _best(rows))
    # If a model answers alike whatever it is asked, this comes first: it has no attitude that could
    # be compared with people's.
    if styled := style(anchored.section, anchored.shown) if style else "":
        text = f"So what it answers says little, also compared with people. {head}. {text}".strip()
    return AnchorSentences(
        instrument=anchored.section.instrument,
        model=anchored.shown,
        anchor=anchored.anchor,
        head=styled or head,
        text=text,
        not_covered=not_covered,
    )


def _numbers(row: Row, sign: str = "r") -> str:
    low, high, interval = row["effect_low"], row["effect_high"], ""
    if low is not None:
        interval = f", {confidence(row['level'])} interval {ends(low, high)}"
    return f"{sign} = {number(row['effect'])}{interval}, {describe_corrected(row)}"


def _head(anchored: AnchoredModel, rows: Sequence[Row]) -> tuple[str, str]:
    """Return the strongest clear relation, or that there is none; and its numbers.

    A relation is stated without reservation only if ranks and conditions of the same category show
    it too.
    """
    best = _best(rows)
    total = f" of {best['n'] + best['left_out']}" if best["left_out"] else ""
    counted, subject = f"{best['n']}{total} {anchored.many}", f"Its {anchored.quantity}"
    item, sign = anchored.explained(best["dimension"]), direction(best)
    numbers = f"Across {counted}: {_numbers(best)}."
    checks = " ".join([numbers, *_checks(anchored, best)])
    if sign:
        clear = sum(bool(direction(row)) for row in rows) - 1
        addition = (
            f"; r is also clear for {clear} other dimension{'s' * (clear > 1)}" if clear else ""
        )
        predicate = f"{'rises' if sign > 0 else 'falls'} as {item} rises"
        if doubts := doubted_by(anchored, best):
            return f"{subject} {predicate}, but not clearly {' or '.join(doubts)}{addition}", checks
        return f"{subject} {predicate}{addition}", checks
    if len(rows) == 1:
        head = f"{subject} does not clearly follow {item}"
        within = anchored.row("anchor-partial", best["dimension"])
        if within is not None and direction(within):
            verb = "rises" if direction(within) > 0 else "falls"
            head += f" overall; {_alike(anchored)}, it {verb} with it"
        return head, checks
    strongest = f"Across {counted}, the strongest correlation is with {item}: {_numbers(best)}."
    return f"{subject} has no clear relation with any of {len(rows)} dimensions", strongest


def _best(rows: Sequence[Row]) -> Row:
    """Return the strongest clear estimate, or the strongest; ``rows``: the strongest first."""
    return next((row for row in rows if direction(row)), rows[0])


def _alike(anchored: AnchoredModel) -> str:
    """Return a phrase that names the subgroups for the correlation within subgroups."""
    if anchored.about.point == "condition":
        return f"among {anchored.many} of the same category"
    return f"within women's and men's {anchored.many} taken separately"


def doubted_by(anchored: AnchoredModel, row: Row) -> list[str]:
    """Return the checks that do not clearly agree with the correlation."""
    checks = {"anchor-rank": "by ranks", "anchor-partial": _alike(anchored)}
    return [
        name
        for kind, name in checks.items()
        if (check := anchored.row(kind, row["dimension"])) and direction(check) != direction(row)
    ]


def _checks(anchored: AnchoredModel, row: Row) -> Iterator[str]:
    """Yield the same correlation by ranks, and with the category held constant.

    For occupations, yield the means of both sides too, since opposite patterns can cancel out.
    """
    if ranks := anchored.row("anchor-rank", row["dimension"]):
        yield f"By ranks: {_numbers(ranks, 'ρ')}."
    if partial := anchored.row("anchor-partial", row["dimension"]):
        comparison = _alike(anchored)
        yield f"{comparison[0].upper()}{comparison[1:]} ({partial['n']}): {_numbers(partial)}."
    groups = anchored.points.filter(pl.col("item").is_not_null(), pl.col("group").is_not_null())
    means = groups.group_by("group").agg(pl.col("value", "people").mean()).sort("group").rows()
    if anchored.about.point == "condition" or len(means) < 2:
        return
    listed = " and ".join(
        f"{number(value)} for {'women' if group == FEMALE else 'men'}'s {anchored.many}"
        for group, value, _ in means
    )
    yield (
        f"The mean {anchored.quantity}{anchored.unit} is {listed}. Each sentence names one of "
        "either, so these means do not show whether the model knows which of the two the pronoun "
        "refers to."
    )


def _not_covered(anchored: AnchoredModel, best: Row) -> str:
    """Return what the intervals do not cover, and why; empty if they cover everything."""
    over = (best["interval_over"] or "").replace("conditions", anchored.many)
    sampled, _, fixed = over.partition(f"; {FIXED}: ")
    missing = [name for name in ("items", "wordings") if name not in sampled]
    if not over or not missing:
        return ""
    uncovered = "sentences" if len(missing) == 2 else missing[0]
    reason = f"Only {fixed} were asked, so the" if fixed else "The"
    return f"{reason} intervals say nothing about other {uncovered}."


def describe_anchors(results: Sequence[AnchoredModel]) -> list[str]:
    """Return a line for each instrument, model and anchor, for the terminal.

    Models that are not measurable are left out: the terminal reports them elsewhere.
    """
    lines = []
    for entry in (describe_anchor(anchored) for anchored in results if not anchored.unmeasurable):
        head = f"{entry.instrument}, {entry.model} ({entry.anchor}): {entry.head}."
        lines.append(" ".join(filter(None, (head, entry.text, entry.not_covered))))
    return lines
