"""Shares of models minus shares of people: the arithmetic, and what is set against what."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from scipy import special, stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from goffman.anchors.compare import ANOTHER, FEW_TEXTS, INDIFFERENT, UNANSWERED, compare_shares
from goffman.anchors.loader import load_anchor
from goffman.instruments.loader import load_instrument
from goffman.measures.vignettes import VignetteCode
from goffman.schemas import PROMPT_TABLE, SCORES, schema
from goffman.stats.intervals import Z
from goffman.stats.share_difference import (
    GIVEN,
    REPLIES,
    TEXTS,
    People,
    Share,
    apart,
    ends,
    mean_of,
    mean_share,
    minus_people,
    pooled,
    widened,
)

if TYPE_CHECKING:
    from goffman.stats.intervals import Estimate

ANCHOR = load_anchor("gss-vignettes")
SAID = {(one.item, one.condition, one.gender): one for one in ANCHOR.latest()}


def of(share: float, n: int) -> People:
    """So many of n people, with their interval by statsmodels."""
    low, high = proportion_confint(round(share * n), n, method="wilson")
    return People(value=share, low=low, high=high, n=n)


@pytest.mark.parametrize(("x", "n", "y", "m"), [(4, 4, 80, 170), (1, 4, 90, 160), (7, 28, 3, 60)])
def test_two_shares_have_newcombes_interval(x, n, y, m) -> None:
    """As statsmodels computes it, who made it for itself."""
    found = minus_people([(1, Share(value=x / n, replies=n))], of(y / m, m), contrast="")
    low, high = confint_proportions_2indep(x, n, y, m, method="newcomb")
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-6)
    assert found.difference == pytest.approx(x / n - y / m)
    assert found.interval_over == REPLIES
    assert (found.n_first, found.n_second) == (n, m)


def test_p_is_below_05_where_the_interval_leaves_out_0_and_there_alone() -> None:
    rng = np.random.default_rng(4)
    seen = set()
    for _ in range(200):
        shares = [Share(value=rng.binomial(4, 0.5) / 4, replies=4) for _ in range(3)]
        found = minus_people(
            [(1, mean_share(shares))], of(round(rng.random() * 160) / 160, 160), contrast=""
        )
        outside = found.low > 0 or found.high < 0
        seen.add(outside)
        assert (found.p < 0.05) == outside
        assert 0 < found.p <= 1
    assert seen == {True, False}
    # Whoever is compared with themselves does not differ.
    same = minus_people([(1, Share(value=0.5, replies=4))], of(0.5, 160), contrast="")
    assert same.p == 1


def test_a_probability_is_known_and_only_people_vary() -> None:
    people = of(0.4, 200)
    found = minus_people([(1, Share(value=0.7))], people, contrast="")
    assert (found.low, found.high) == pytest.approx((0.7 - people.high, 0.7 - people.low))
    assert found.interval_over == GIVEN


def test_four_replies_of_four_are_no_certainty() -> None:
    sure = minus_people([(1, Share(value=1.0))], of(0.75, 160), contrast="")
    four = minus_people([(1, Share(value=1.0, replies=4))], of(0.75, 160), contrast="")
    assert sure.p < 1e-6
    assert four.p > 0.1
    assert four.low < 0 < sure.low


def test_a_man_minus_a_woman_turns_round_with_them() -> None:
    men, women = Share(value=0.75, replies=4), Share(value=0.25, replies=8)
    people = apart(of(0.5, 100), of(0.4, 120))
    other = apart(of(0.4, 120), of(0.5, 100))
    one = minus_people([(1, men), (-1, women)], people, contrast="")
    turned = minus_people([(1, women), (-1, men)], other, contrast="")
    assert turned.difference == pytest.approx(-one.difference)
    assert (turned.low, turned.high) == pytest.approx((-one.high, -one.low))
    assert turned.p == pytest.approx(one.p)


def test_several_answers_of_the_same_people_are_never_made_too_sure() -> None:
    """The interval of a mean of correlated answers, from people who were drawn."""
    rng = np.random.default_rng(2)
    liking = rng.standard_normal((4000, 1))
    answers = (liking + rng.standard_normal((4000, 6)) > 0.4).astype(float)
    together = mean_of([of(one.mean(), 4000) for one in answers.T])
    of_means = stats.norm.ppf(0.975) * answers.mean(axis=1).std(ddof=1) / math.sqrt(4000)
    assert together.value == pytest.approx(answers.mean())
    assert of_means < (together.high - together.low) / 2 < 2 * of_means


def test_surveys_taken_together_are_one_large_one() -> None:
    years = [of(0.5, 100), of(0.25, 200), of(0.4, 300)]
    one = pooled(years)
    assert one.n == 600
    assert one.value == pytest.approx((50 + 50 + 120) / 600)
    whole = of(one.value, 600)
    assert (one.low, one.high) == pytest.approx((whole.low, whole.high), abs=0.004)
    assert pooled(years[:1]) == years[0]


def test_a_mean_over_questions_is_worth_its_replies() -> None:
    four = [Share(value=value, replies=4) for value in (0.5, 1.0, 0.0)]
    one = mean_share(four)
    assert (one.value, one.replies, one.worth) == (0.5, 12, pytest.approx(12))
    # A question with one reply makes the mean worth less than the others could make up for.
    uneven = mean_share([Share(value=0.5, replies=1), Share(value=0.5, replies=7)])
    assert (uneven.replies, uneven.worth) == (8, pytest.approx(4 / (1 + 1 / 7)))
    assert mean_share([Share(value=0.2), Share(value=0.4)]) == Share(value=pytest.approx(0.3))


def coverage(questions: int, replies: int, true, *, draws: int = 1500) -> float:
    """How often the interval holds the difference, with replies and people drawn again and again.

    Over several questions people's share is known, so that only the model's side is left.
    """
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(draws):
        model, asked = true(rng, questions), float(rng.random())
        replied = rng.binomial(replies, model) / replies
        share = mean_share([Share(value=float(one), replies=replies) for one in replied])
        people = People(value=asked, low=asked, high=asked, n=1e9)
        if questions == 1:
            people = of(rng.binomial(160, asked) / 160, 160)
        low, high = ends([(1, share)], people, stats.norm.ppf(0.975))
        hits += low <= model.mean() - asked <= high
    return hits / draws


@pytest.mark.parametrize("replies", [4, 12])
def test_the_interval_of_a_question_covers_both_sides(replies) -> None:
    """Over questions that differ, 93 to 97 of 100."""
    found = coverage(1, replies, lambda rng, size: rng.random(size))
    assert 0.93 <= found <= 0.97, found


@pytest.mark.parametrize("replies", [2, 4, 12])
def test_the_interval_over_questions_is_right_and_never_too_narrow(replies) -> None:
    alike = coverage(7, replies, lambda rng, size: np.full(size, rng.random()))
    assert 0.93 <= alike <= 0.97, alike
    apart = coverage(7, replies, lambda rng, size: rng.random(size))
    assert 0.95 <= apart <= 0.995, apart


ALIKE = (0.0,) * 3
"""Three texts about the same with the same share."""


def asked(
    value, *, wordings=("scale", "friend"), silent=0.0, texts=ALIKE
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Scores and prompts of two questions, one of which counts, in two wordings and two genders.

    ``texts``: what is added to the share in each text about depression.
    """
    scores, prompts = [], []
    cells = itertools.product(
        (("work", "stigma"), ("genetics", "belief")),
        wordings,
        ("female", "male"),
        ("forward", "reversed"),
        enumerate(texts, start=1),
    )
    for (item, dimension), wording, gender, order, (text, more) in cells:
        name = f"{item}-{wording}-{gender}-{order}-{text}"
        condition = "depression" if text == 1 else f"depression-{text}"
        about = {"instrument": "vignettes", "mode": "choice", "item": item, "wording": wording}
        about |= {"condition": condition, "group": "disorder", "dimension": dimension}
        about |= {"category": "Depression"}
        prompts.append(
            about
            | {"prompt_id": name, "gender": gender, "order": order, "text": "", "keyed": "plain"}
        )
        number = about | {"prompt_id": name, "model": "m", "measure": "vignette-code"}
        number |= {"level": "prompt", "n": 1, "missing": 0}
        share = {"quantity": "share-endorsing", "variant": gender}
        given = value(item, wording, gender, order)
        scores.append(number | share | {"value": None if given is None else given + more})
        scores.append(number | {"quantity": "dont-know", "value": silent})
    return pl.DataFrame(scores, schema=schema(SCORES)), pl.DataFrame(
        prompts, schema=schema(PROMPT_TABLE)
    )


def shares(made, measure=None, **known):
    """The differences of these scores and prompts, and their points."""
    return compare_shares(*made, {"vignettes/choice": measure or VignetteCode()}, [ANCHOR], **known)


def by_item(found) -> dict[tuple[str, str | None], Estimate]:
    return {(says.kind, says.dimension): estimate for says, estimate in found}


def of_years(who: str):
    """What people said of work in each year, about a woman, a man, or both."""
    key = ("work", "depression", who)
    return [one for one in ANCHOR.values if (one.item, one.condition, one.gender) == key]


def of_kind(found, kind) -> list[Estimate]:
    return [one for says, one in found if says.kind == kind]


BY_REPLIES = VignetteCode(mode="reply")


def differing(item, wording, gender, order) -> float:
    start = {"work": 0.5, "genetics": 0.8}[item]
    other = 0.1 * (wording != "scale")
    return start + other + 0.04 * (gender == "male") + 0.02 * (order == "reversed")


def by_places(people) -> tuple[float, float]:
    """The interval with a variance half as large again, as where places were drawn first."""
    return (
        people.value - (people.value - people.low) * math.sqrt(1.5),
        people.value + (people.high - people.value) * math.sqrt(1.5),
    )


def test_a_larger_variance_is_fewer_respondents() -> None:
    """A design effect of 1.5 is about the interval of two thirds as many; ends stay shares."""
    for share in (0.1, 0.4, 0.75):
        found, fewer = widened(of(share, 300), 1.5), of(share, 200)
        assert (found.low, found.high) == pytest.approx((fewer.low, fewer.high), abs=0.005)
    same = widened(of(0.4, 300), 1.0)
    assert (same.low, same.high) == pytest.approx((of(0.4, 300).low, of(0.4, 300).high))
    assert widened(of(0.01, 100), 9.0).low == 0.0
    assert widened(of(0.99, 100), 9.0).high == 1.0


def test_each_question_is_set_against_people_s_as_they_were_asked() -> None:
    found, points = shares(asked(differing))
    by = by_item(found)
    assert set(by) == {
        ("anchor-difference", "work"),
        ("anchor-difference", "genetics"),
        ("anchor-overall", None),
        ("anchor-gender", None),
        ("anchor-wording", None),
        ("anchor-gender-side", None),
        ("anchor-year", None),
        ("anchor-text", None),
    }
    people = SAID["work", "depression", "all"]
    work = by["anchor-difference", "work"]
    assert work.mean_first == pytest.approx(0.53)
    low, high = by_places(people)
    assert (work.low, work.high) == pytest.approx((0.53 - high, 0.53 - low))
    # One question counts, so that the mean over those that count is it; its error is as published,
    # since that of several would be too large already.
    overall = by["anchor-overall", None]
    assert overall.difference == pytest.approx(work.difference)
    assert (overall.low, overall.high) == pytest.approx((0.53 - people.high, 0.53 - people.low))
    assert [(one["low"], one["high"]) for one in points if one["item"] == "work"] == [(low, high)]
    assert work.family_size == 2
    years = {says.variant: one for says, one in found if says.kind == "anchor-year"}
    assert {year: one.mean_second for year, one in years.items()} == {
        str(one.year): one.value for one in of_years("all")
    }
    assert all(one.p is None and one.low is None for one in years.values())
    assert {(one["item"], one["value"], one["people"], one["unanswered"]) for one in points} == {
        ("work", work.mean_first, people.value, 0.0),
        (
            "genetics",
            by["anchor-difference", "genetics"].mean_first,
            SAID["genetics", "depression", "all"].value,
            0.0,
        ),
    }


def compared(decided: float | None) -> dict[tuple[str, str | None], Estimate]:
    """What is found of the model above, where it takes the obvious side so often."""
    known = None if decided is None else {("vignettes/choice", "m"): decided}
    found, _ = shares(asked(differing), decided=known)
    return by_item(found)


def test_an_indifferent_model_is_not_compared() -> None:
    """Its shares are near one half whatever it is asked, and people's are not."""
    tested = [("anchor-difference", "work"), ("anchor-overall", None), ("anchor-gender", None)]
    for key in tested:
        one = compared(0.7499)[key]
        assert (one.p, one.low, one.reason) == (None, None, INDIFFERENT)
        assert compared(0.75)[key].p is not None
        assert compared(None)[key] == replace(compared(1.0)[key], indifference_p=None)


@pytest.mark.parametrize("decided", [0.75, 0.8, 0.9, 1.0])
def test_a_share_is_checked_against_people_with_the_model_s_indifference(decided) -> None:
    """By hand: only people have an error here, so that z is the difference by their half width."""
    people, share = SAID["work", "depression", "all"], 0.53
    by = 2 * decided - 1
    end = people.high if share > people.value else people.low
    z = (share - 0.5 - by * (people.value - 0.5)) / (by * abs(end - people.value) / Z)
    side = math.copysign(1.0, share - people.value)
    one = compared(decided)["anchor-overall", None]
    assert one.indifference_p == pytest.approx(float(special.ndtr(-z * side)), rel=1e-6)
    assert (one.indifference_p < 0.025) is (z * side > Z)


def test_another_wording_is_a_check_without_a_test() -> None:
    found, _ = shares(asked(differing))
    ((says, other),) = [one for one in found if one[0].kind == "anchor-wording"]
    assert says.variant == "friend"
    assert other.mean_first == pytest.approx(0.63)
    assert (other.p, other.low, other.reason) == (None, None, ANOTHER)
    # Nothing else is set beside people who were asked otherwise.
    scores = asked(differing, wordings=("friend", "agree-more"))
    found, points = shares(scores)
    assert {says.kind for says, _ in found} == {"anchor-wording"}
    assert points == []


def test_a_person_s_gender_is_set_against_all_surveys_together() -> None:
    found, _ = shares(asked(differing))
    (gender,) = of_kind(found, "anchor-gender")

    def over_years(who: str) -> float:
        rows = of_years(who)
        assert len(rows) == 3
        weights = [one.n_effective for one in rows]
        return float(np.average([one.value for one in rows], weights=weights))

    assert gender.mean_first == pytest.approx(0.04)
    assert gender.mean_second == pytest.approx(over_years("male") - over_years("female"))
    assert gender.family_size == 1


def test_a_man_minus_a_woman_stands_alone_on_either_side_with_its_interval() -> None:
    scores, prompts = asked(differing)
    found, _ = shares((scores, prompts), BY_REPLIES)
    sides = {says.variant: one for says, one in found if says.kind == "anchor-gender-side"}
    (both,) = of_kind(found, "anchor-gender")
    assert sides["model"].difference == pytest.approx(both.mean_first)
    assert sides["people"].difference == pytest.approx(both.mean_second)
    assert {one.p for one in sides.values()} == {None}
    # One question counts: people's interval is Newcombe's, of both surveys' shares taken together.
    level, errors = {}, {}
    for who in ("male", "female"):
        years = of_years(who)
        n = [one.n_effective for one in years]
        level[who] = np.average([one.value for one in years], weights=n)
        errors[who] = [
            math.hypot(*(np.array(ends) * n / sum(n)))
            for ends in zip(*((o.value - o.low, o.high - o.value) for o in years), strict=True)
        ]
    low = math.hypot(errors["male"][0], errors["female"][1])
    high = math.hypot(errors["male"][1], errors["female"][0])
    difference = level["male"] - level["female"]
    people = sides["people"]
    assert (people.low, people.high) == pytest.approx((difference - low, difference + high))
    # MOVER of both sides is that of their own intervals.
    model = sides["model"]
    assert both.low == pytest.approx(
        both.difference - math.hypot(model.difference - model.low, people.high - people.difference)
    )
    # A probability is known exactly, and here it is the same in every text.
    found, _ = shares((scores, prompts))
    (exact,) = [one for says, one in found if says.variant == "model"]
    assert (exact.low, exact.high) == (None, None)


def test_prompts_count_alike_and_so_do_not_their_replies() -> None:
    """Shares of 3, 2, 1 and 3 replies are worth 16 / Σ 1/nᵢ, not 9; of three texts three times."""
    scores, prompts = asked(lambda *_: 0.75, wordings=("scale",))
    counts = {"female-forward": 3, "female-reversed": 2, "male-forward": 1, "male-reversed": 3}
    n = [counts["-".join(name.split("-")[2:4])] for name in scores["prompt_id"]]
    scores = scores.with_columns(n=pl.Series(n, dtype=scores.schema["n"]))
    found, points = shares((scores, prompts), BY_REPLIES)
    (work,) = [
        one for says, one in found if (says.kind, says.dimension) == ("anchor-difference", "work")
    ]
    assert work.n_first == 3 * 9
    worth = 3 * 16 / (1 / 3 + 1 / 2 + 1 + 1 / 3)
    low, high = proportion_confint(0.75 * worth, worth, method="wilson")
    (point,) = [one for one in points if one["item"] == "work"]
    assert (point["value_low"], point["value_high"]) == pytest.approx((low, high))
    # The interval is made for the whole list: each end is so many standard errors further out.
    z = stats.norm.ppf((1 + work.level) / 2)
    low, _ = proportion_confint(0.75 * worth, worth, alpha=1 - work.level, method="wilson")
    people = SAID["work", "depression", "all"]
    theirs = (by_places(people)[1] - people.value) * z / stats.norm.ppf(0.975)
    assert work.low == pytest.approx(work.difference - math.hypot(0.75 - low, theirs))


def test_intervals_of_a_list_of_shares_exclude_0_where_they_are_marked_and_nowhere_else() -> None:
    """Six shares of twelve replies, of which the first lie far off and the others hardly do."""
    scores, prompts = asked(differing)
    found, _ = shares((scores, prompts), BY_REPLIES)
    rows = [one for says, one in found if says.kind == "anchor-difference" and one.p is not None]
    assert len(rows) > 1
    assert all(one.level > 0.95 for one in rows) or all(one.p_adjusted <= 0.05 for one in rows)
    for one in rows:
        assert (one.low > 0 or one.high < 0) == (one.p_adjusted <= 0.05)


APART = (0.0, 0.1, -0.06, 0.02, 0.04)


def over_texts(values, people, *, level=0.95) -> tuple[float, float]:
    """By hand: t over the texts, and people's ends, as distances of independent parts."""
    n, mean = len(values), np.mean(values)
    half = stats.t.ppf((1 + level) / 2, n - 1) * np.std(values, ddof=1) / math.sqrt(n)
    by = stats.norm.ppf((1 + level) / 2) / stats.norm.ppf(0.975)
    low = math.hypot(half, by * (people.high - people.value))
    high = math.hypot(half, by * (people.value - people.low))
    return mean - people.value - low, mean - people.value + high


def test_a_share_is_the_mean_over_texts_and_its_interval_is_for_others() -> None:
    found, points = shares(asked(differing, texts=APART))
    by = by_item(found)
    overall, people = by["anchor-overall", None], SAID["work", "depression", "all"]
    values = [0.53 + more for more in APART]
    assert overall.mean_first == pytest.approx(np.mean(values))
    expected = over_texts(values, people, level=overall.level)
    assert (overall.low, overall.high) == pytest.approx(expected)
    assert overall.interval_over == TEXTS
    # The interval that just leaves out 0 has the level 1 − p.
    ends_at_p = over_texts(values, people, level=1 - overall.p)
    assert min(map(abs, ends_at_p)) == pytest.approx(0, abs=1e-6)
    (point,) = [one for one in points if one["item"] == "work"]
    half = stats.t.ppf(0.975, 4) * np.std(values, ddof=1) / math.sqrt(5)
    assert point["value_low"] == pytest.approx(np.mean(values) - half)
    # Each text stands under its disorder, and is not tested.
    texts = {says.variant: one for says, one in found if says.kind == "anchor-text"}
    assert {name: one.mean_first for name, one in texts.items()} == pytest.approx(
        dict(zip(["depression", *(f"depression-{k}" for k in range(2, 6))], values, strict=True))
    )
    assert {says.group for says, _ in found} == {"depression"}
    assert all((one.low, one.p) == (None, None) for one in texts.values())
    # A man minus a woman is the same in every text, however far these are apart.
    gender = by["anchor-gender", None]
    assert gender.mean_first == pytest.approx(0.04)
    (alike,) = of_kind(shares(asked(differing))[0], "anchor-gender")
    assert (gender.low, gender.high) == pytest.approx((alike.low, alike.high))


@pytest.mark.parametrize("texts", [(0.0,), (0.0, 0.3)])
def test_fewer_than_three_texts_are_set_beside_people_without_a_test(texts) -> None:
    found, points = shares(asked(differing, texts=texts))
    for kind in ("anchor-difference", "anchor-overall", "anchor-gender"):
        of = of_kind(found, kind)
        assert of
        assert all((one.p, one.low, one.reason) == (None, None, FEW_TEXTS) for one in of)
    assert all(one["value_low"] is None for one in points)
    assert points[0]["value"] == pytest.approx(0.8 + 0.03 + sum(texts) / len(texts))


def test_a_text_that_lacks_a_question_is_left_out_of_the_mean_over_questions() -> None:
    scores, prompts = asked(differing, texts=APART)
    scores = scores.filter((pl.col("condition") != "depression-2") | (pl.col("item") != "work"))
    found, _ = shares((scores, prompts))
    (overall,) = of_kind(found, "anchor-overall")
    assert overall.mean_first == pytest.approx(0.53 + (0.0 - 0.06 + 0.02 + 0.04) / 4)


def test_conditions_of_a_category_that_people_were_asked_about_too_are_no_texts() -> None:
    """Both of them are people's own: each is compared with what people said of it."""
    scores, prompts = asked(differing, texts=(0.0, 0.1))
    scores = scores.with_columns(
        pl.col("condition").replace("depression-2", "schizophrenia"), category=pl.lit("Illness")
    )
    found, _ = shares((scores, prompts))
    assert {says.group for says, _ in found} == {"depression", "schizophrenia"}


@pytest.mark.parametrize(("spread", "questions"), [(0.05, 1), (0.05, 7), (0.1, 1), (0.1, 7)])
def test_the_interval_over_texts_holds_the_difference(spread, questions) -> None:
    """Five texts that differ by so much, and 165 people with the same share in each question."""
    rng = np.random.default_rng(8)
    held, runs = 0, 1000
    for _ in range(runs):
        share = rng.uniform(0.3, 0.6)
        own = share + spread * rng.normal(size=(5, 1)) + 0.05 * rng.normal(size=(5, questions))
        texts = own.mean(axis=1).tolist()
        liking = rng.normal(size=(165, 1)) + 0.5 * rng.normal(size=(165, questions))
        said = (liking < stats.norm.ppf(share) * math.sqrt(1.25)).mean(axis=0)
        low, high = ends(
            [(1, Share(value=float(np.mean(texts))))],
            mean_of([of(float(one), 165) for one in said]),
            Z,
            texts,
        )
        held += low <= 0 <= high
    assert held / runs >= 0.935


def test_further_descriptions_alone_are_not_set_beside_people() -> None:
    scores, prompts = asked(differing)
    other = scores.filter(pl.col("condition") != "depression")
    assert shares((other, prompts)) == ([], [])


def test_what_the_page_says_was_asked_is_what_was_asked() -> None:
    said = {"{name}": "the person", "{his}": "his or her", "{he}": "he or she", " my ": " the "}
    said |= {"{himself}": "him- or herself", "{was|were}": "was"}
    meanings = {one.id: one.meaning for one in ANCHOR.items}
    for item in load_instrument("vignettes").content.items:
        text = item.text
        for place, words in said.items():
            text = text.replace(place, words)
        assert meanings[item.id].endswith(text), item.id


def test_replies_are_counted_and_too_few_answers_are_not_compared() -> None:
    found, _ = shares(asked(lambda *_: 1.0), BY_REPLIES)
    (work,) = [one for says, one in found if says.dimension == "work"]
    assert (work.n_first, work.unit, work.interval_over) == (3 * 4, "replies", TEXTS)
    found, points = shares(asked(lambda *_: 1.0, silent=0.6), BY_REPLIES)
    (work,) = [one for says, one in found if says.dimension == "work"]
    assert (work.p, work.reason) == (None, UNANSWERED)
    assert work.difference is not None
    assert [one["unanswered"] for one in points] == pytest.approx([0.6, 0.6])


def test_only_what_people_were_asked_is_compared() -> None:
    scores, prompts = asked(lambda *_: 0.5)
    other = scores.with_columns(condition=pl.lit("grief"), category=pl.lit("Grief"))
    assert shares((other, prompts)) == ([], [])
    assert compare_shares(scores, prompts, {"another": VignetteCode()}, [ANCHOR]) == ([], [])


def test_a_question_without_an_answer_leaves_no_mean_over_all() -> None:
    scores, prompts = asked(lambda item, *_: {"work": None, "genetics": 0.6}[item])
    both = scores.with_columns(dimension=pl.lit("x"))
    found, _ = shares((both, prompts), VignetteCode(counted="x"))
    assert {says.kind for says, _ in found} == {"anchor-difference"}
