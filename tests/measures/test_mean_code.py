"""The mean code of probable options: prompts, means and contrasts against plain computations."""

from __future__ import annotations

import itertools
import statistics

import numpy as np
import polars as pl
import pytest
from choosing import CODES, asked, choices, listed, section
from hypothesis import given
from hypothesis import strategies as st
from making import check, one, same_whatever_the_order, value

from goffman.contrasts.designs import Clusters
from goffman.measures.multiple_choice import FLOOR, MeanCode
from goffman.measures.responses import NO_ANSWER
from goffman.presentation.findings import findings_of
from goffman.sensitivity.variations import Headline

SHARES = {"stigmatized": 0.8, "non-stigmatized": 0.3, "rare": 0.4, "baseline": 0.2}


def near(expected):
    return pytest.approx(expected, rel=1e-6, abs=1e-7)


def leaning(row, *, first=0.0, out=0.1, noise=None):
    """Probabilities by content: more on the stigmatizing end for some groups; ``first``: on A."""
    share = SHARES[row["group"]] + (noise[row["prompt_id"]] if noise else 0.0)
    by_code = {
        0.0: (1 - share) * 0.7,
        1 / 3: (1 - share) * 0.3,
        2 / 3: share * 0.3,
        1.0: share * 0.7,
    }
    given_ = [0.8 * (1 - first) * by_code.get(o.code, 0.0) for o in listed(row)[:4]]
    given_[0] += 0.8 * first
    return [*given_, out]


def noise_of(table, seed=0, size=0.05):
    """Of each prompt, and of each condition: else the order of conditions would be noise alone."""
    rng = np.random.default_rng(seed)
    own = {one: float(rng.normal(0, size)) for one in table["condition"].unique().sort()}
    return {
        prompt: own[condition] + float(rng.normal(0, size))
        for prompt, condition in table.select("prompt_id", "condition").sort("prompt_id").rows()
    }


def test_of_one_prompt_every_number_by_hand():
    table = asked(groups={"stigmatized": ("deaf",)}, items=("i1",))
    forward = table.filter(wording="willing", order="forward")
    answers = choices(forward, lambda _: [0.1, 0.2, 0.3, 0.15, 0.05])
    scores = check(MeanCode().score_prompts(answers, forward))
    # Codes 0, 1/3, 2/3, 1; .05 on the no-answer option, .2 on no option.
    weighed = 0.2 / 3 + 0.3 * 2 / 3 + 0.15
    assert value(scores, quantity="code") == near(weighed / 0.75)
    assert value(scores, quantity="lowest") == near(weighed)
    assert value(scores, quantity="highest") == near(weighed + 0.25)
    assert value(scores, quantity="no-answer") == near(0.05)
    assert value(scores, quantity="elsewhere") == near(0.2)
    assert value(scores, quantity="first-listed") == near(0.1 / 0.75)
    assert value(scores, quantity="last-listed") == near(0.15 / 0.75)
    # Listed from the least to the most stigmatizing one; no other keying of these options.
    assert value(scores, quantity="stigma-last") == near(weighed / 0.75)
    assert not {"stigma-first", "plain-keyed", "reversed-keyed"} & {*scores["quantity"]}


def test_options_that_hardly_count_have_no_code_and_what_was_not_asked_says_so():
    table = asked(groups={"stigmatized": ("deaf",)}, items=("i1",)).head(2)
    answers = choices(table.head(1), lambda _: [FLOOR / 5, 0, 0, 0, 0.9])
    scores = check(MeanCode().score_prompts(answers, table))
    first, second = table["prompt_id"]
    little = one(scores, quantity="code", prompt_id=first)
    assert little["value"] is None
    assert little["reason"] == "the options that count have less than 0.01 of the probability"
    assert value(scores, quantity="no-answer", prompt_id=first) == near(0.9)
    assert value(scores, quantity="lowest", prompt_id=first) == near(0)
    assert one(scores, quantity="code", prompt_id=second)["reason"] == NO_ANSWER


def test_where_an_order_is_missing_the_question_has_no_value():
    table = asked(groups={"stigmatized": ("deaf",)}, items=("i1",)).filter(wording="willing")
    answers = choices(table.head(1), lambda _: [0.2, 0.2, 0.2, 0.2, 0.2])
    scores = check(MeanCode()(answers, table))
    row = one(scores, level="presentation", quantity="code")
    assert (row["value"], row["n"], row["missing"]) == (None, 1, 1)
    assert row["reason"] == "in one of its presentations there is no value"


def naive(answers, table, quantity="code"):
    """By (model, wording, condition): the mean over items of the mean over orders."""
    found = {}
    codes_of = {}
    for row in answers.iter_rows(named=True):
        codes_of.setdefault((row["model"], row["prompt_id"]), []).append(row)
    cells = {}
    for (model, prompt), rows in codes_of.items():
        about = table.row(by_predicate=pl.col("prompt_id") == prompt, named=True)
        counted = [r for r in rows if r["code"] is not None]
        mass = sum(r["probability"] for r in counted)
        code = sum(r["probability"] * r["code"] for r in counted) / mass
        key = (model, about["wording"], about["condition"], about["item"])
        cells.setdefault(key, []).append(code)
    for (model, wording, condition, _), values in cells.items():
        found.setdefault((model, wording, condition), []).append(statistics.fmean(values))
    return {key: statistics.fmean(values) for key, values in found.items()}


def test_means_of_every_level_are_those_of_a_plain_loop():
    table = asked()
    noise = noise_of(table)
    answers = pl.concat(
        [
            choices(table, lambda row: leaning(row, noise=noise)),
            choices(table, lambda row: leaning(row, first=0.5), model="other"),
        ]
    )
    measure = MeanCode()
    scores = check(measure(answers, table))
    expected = naive(answers, table)
    for (model, wording, condition), mean in expected.items():
        ids = {"model": model, "condition": condition, "quantity": "code"}
        assert value(scores, level="wording", wording=wording, **ids) == near(mean)
    for model, condition in {(m, c) for m, _, c in expected}:
        mean = statistics.fmean(
            v for (m, _, c), v in expected.items() if (m, c) == (model, condition)
        )
        ids = {"model": model, "condition": condition, "quantity": "code"}
        assert value(scores, level="condition", **ids) == near(mean)
    groups = table.select("condition", "group").unique().rows()
    for group in ("stigmatized", "non-stigmatized", "rare"):
        mine = [c for c, g in groups if g == group]
        mean = statistics.fmean(v for (m, _, c), v in expected.items() if m == "m" and c in mine)
        assert value(
            scores, level="group", model="m", group=group, wording=None, quantity="code"
        ) == near(mean)
    gap = value(scores, level="model", model="m", wording=None, quantity="code-gap")
    assert gap == near(
        value(scores, level="group", model="m", group="stigmatized", wording=None, quantity="code")
        - value(
            scores, level="group", model="m", group="non-stigmatized", wording=None, quantity="code"
        )
    )
    assert scores.filter(level="scale", quantity="generalizability").height
    same_whatever_the_order(measure, answers, table)


@given(
    st.lists(st.floats(0, 1, allow_nan=False), min_size=5, max_size=5),
    st.floats(0.05, 1),
)
def test_the_code_lies_within_its_bounds(weights, rest):
    total = sum(weights) + rest
    probabilities = [w / total for w in weights]
    table = asked(groups={"stigmatized": ("deaf",)}, items=("i1",)).head(1)
    scores = MeanCode().score_prompts(choices(table, lambda _: probabilities), table)
    low, high = (value(scores, quantity=name) for name in ("lowest", "highest"))
    assert -1e-9 <= low <= high <= 1 + 1e-6
    code = value(scores, quantity="code")
    assert code is None or low - 1e-6 <= code <= high + 1e-6


def contrast(found, kind, **ids):
    return one(found.filter(kind=kind), **ids)


def test_order_and_keying_are_what_was_put_in_and_groups_are_free_of_both():
    table = asked()
    noise = noise_of(table, size=0.02)

    def swayed(row):
        """A tenth goes to whatever is listed first; a fifth to agreeing."""
        given_ = leaning(row, first=0.1, noise=noise)
        agree = [i for i, o in enumerate(listed(row)) if o.text == "Strongly agree"]
        for place in agree:
            given_ = [0.8 * p for p in given_[:4]] + given_[4:]
            given_[place] += 0.8 * 0.2
        return given_

    answers = choices(table, swayed)
    scores = MeanCode()(answers, table)
    found = section(MeanCode(), scores, table).estimates
    per_prompt = {
        row["prompt_id"]: row["value"]
        for row in scores.filter(level="prompt", quantity="code").iter_rows(named=True)
    }
    named = table.filter(pl.col("condition") != "baseline").to_dicts()
    sides = {True: [], False: []}
    for row in named:
        # In the reversed keying the texts run from the most to the least stigmatizing one.
        falling = (row["order"] == "reversed") != (row["keyed"] == "reversed")
        sides[falling].append(per_prompt[row["prompt_id"]])
    order = contrast(found, "order", model="m")
    assert order["difference"] == near(
        statistics.fmean(sides[True]) - statistics.fmean(sides[False])
    )
    # A tenth of what counts moves from one end to the other, less what agreeing takes.
    assert 0.07 < order["difference"] < 0.11
    assert order["low"] < order["difference"] < order["high"]
    keyings = {
        keyed: statistics.fmean(
            per_prompt[row["prompt_id"]]
            for row in named
            if row["wording"] != "willing" and row["keyed"] == keyed
        )
        for keyed in ("plain", "reversed")
    }
    effect = contrast(found, "keying", model="m")
    assert effect["difference"] == near(keyings["plain"] - keyings["reversed"])
    assert 0.17 < effect["difference"] < 0.23
    assert (effect["first"], effect["second"]) == ("plain-keyed", "reversed-keyed")
    groups = contrast(found, "groups", model="m")
    means = {
        group: statistics.fmean(per_prompt[r["prompt_id"]] for r in named if r["group"] == group)
        for group in SHARES
        if group != "baseline"
    }
    assert groups["difference"] == near(means["stigmatized"] - means["non-stigmatized"])
    assert found.filter(family="primary")["kind"].to_list() == ["groups"]
    assert {"reference", "baseline", "wordings", "groups-as-asked"} <= {*found["kind"]}


def test_swapping_the_groups_turns_the_sign_and_two_models_are_compared():
    table = asked()
    noise = noise_of(table)
    answers = pl.concat(
        [
            choices(table, lambda row: leaning(row, noise=noise)),
            choices(table, lambda row: leaning(row, first=0.3, noise=noise), model="other"),
        ]
    )
    one_way, other_way = (
        section(measure, measure(answers, table), table).estimates
        for measure in (
            MeanCode(),
            MeanCode(contrast="non-stigmatized", against="stigmatized"),
        )
    )
    gaps = [contrast(found, "groups", model="m")["difference"] for found in (one_way, other_way)]
    assert gaps[0] == near(-gaps[1])
    models = contrast(one_way, "models", group="stigmatized")
    assert (models["first"], models["second"]) == ("m", "other")
    assert models["difference"] is not None


def test_what_the_presentation_does_is_said_before_what_is_said_of_groups():
    table = asked()
    noise = noise_of(table)
    measure = MeanCode()
    scores = measure(choices(table, lambda row: leaning(row, noise=noise)), table)
    shown = section(measure, scores, table)
    (found,) = findings_of(shown)
    assert found.head == "More stigmatizing answers about stigmatized conditions"
    first, then = found.text.split("The mean code is")
    assert first.startswith("By presentation, the mean code differs by ")
    assert "(agreeing means more instead of less stigma; " in first
    assert "(wording “" in first
    assert "difference 0." in then
    more = " ".join(found.more)
    assert "0.10 of the probability lies on no option; 0.10 lies on not answering" in more
    assert "Depending on the missing answers, the difference over all conditions" in more
    assert [one.name for tab in measure.presentation.tables for one in tab(shown)][:2] == [
        "scale-presentation",
        "scale-answering",
    ]
    figures = list(
        itertools.chain.from_iterable(draw(shown) for draw in measure.presentation.figures)
    )
    drawn = figures[0].spec
    estimates = {
        row["difference"]
        for kind in ("order", "keying", "wordings")
        for row in shown.contrasts(kind).iter_rows(named=True)
    }
    assert {row["difference"] for row in drawn["data"]["values"]} == estimates


def test_evidence_lists_the_options_as_presented_and_the_rest():
    from goffman.presentation.section import Answers

    table = asked(groups={"stigmatized": ("deaf",)}, items=("i1",)).filter(
        wording="want", order="forward"
    )
    answers = choices(table, lambda _: [0.1, 0.2, 0.3, 0.15, 0.05])
    measure = MeanCode()
    shown = section(measure, measure(answers, table), table)
    given_ = Answers(table="choices", frame=answers, cased=True)
    rows = measure.presentation.evidence(given_, shown, None, 5).sort("rank").rows()
    assert [(row[2], row[3], row[5]) for row in rows] == [
        (1, "A. Strongly disagree", "code 1.00"),
        (2, "B. Disagree", "code 0.67"),
        (3, "C. Agree", "code 0.33"),
        (4, "D. Strongly agree", "code 0.00"),
        (5, "E. I don't know, or prefer not to say", "no answer"),
        (6, "(no option)", "no answer"),
    ]
    assert [row[4] for row in rows] == near([0.1, 0.2, 0.3, 0.15, 0.05, 0.2])
    assert list(CODES) == sorted(CODES)


def in_turn(table):
    """A part of the questions: each item and condition in one wording, in both orders."""
    conditions, items = (
        table[name].unique(maintain_order=True).to_list() for name in ("condition", "item")
    )
    names = ("willing", "shun", "want")
    place = [
        names[(conditions.index(c) + items.index(i)) % 3] == w
        for c, i, w in table.select("condition", "item", "wording").rows()
    ]
    return table.filter(place)


def test_where_wordings_go_in_turn_groups_are_compared_over_conditions_and_items():
    table = in_turn(asked(items=tuple(f"i{n}" for n in range(1, 7))))
    noise = noise_of(table)
    measure = MeanCode()
    answers = choices(table, lambda row: leaning(row, noise=noise))
    scores = check(measure(answers, table))
    found = section(measure, scores, table).estimates
    codes = dict(scores.filter(level="prompt", quantity="code").select("prompt_id", "value").rows())
    named = table.to_dicts()

    def mean(**ids):
        return statistics.fmean(
            codes[row["prompt_id"]]
            for row in named
            if row["group"] != "baseline" and all(row[k] == v for k, v in ids.items())
        )

    gap = contrast(found, "groups", model="m")
    assert gap["difference"] == near(mean(group="stigmatized") - mean(group="non-stigmatized"))
    assert gap["p"] is not None
    assert gap["interval_over"] == "conditions and items, crossed"
    level = value(
        scores, level="group", model="m", group="stigmatized", wording=None, quantity="code"
    )
    assert level == near(gap["mean_first"])
    # Each condition meets both wordings, in other items.
    shun = contrast(found, "wordings", model="m", first="shun")
    expected = statistics.fmean(
        mean(wording="shun", condition=c) - mean(wording="willing", condition=c)
        for c in table.filter(pl.col("group") != "baseline")["condition"].unique()
    )
    assert shun["difference"] == near(expected)
    assert shun["interval_over"] == (
        "conditions by category and items, each condition with some of them"
    )
    keyed = contrast(found, "keying", model="m")
    expected = statistics.fmean(
        mean(wording="shun", condition=c) - mean(wording="want", condition=c)
        for c in table.filter(pl.col("group") != "baseline")["condition"].unique()
    )
    assert keyed["difference"] == near(expected)


def test_where_each_condition_has_one_order_sets_of_conditions_are_compared():
    table = asked()
    conditions = table["condition"].unique(maintain_order=True).to_list()
    kept = [
        (row["order"] == "forward") == (conditions.index(row["condition"]) % 2 == 0)
        for row in table.to_dicts()
    ]
    # In one wording, so that the order is the direction.
    table = table.filter(kept).filter(wording="willing")
    measure = MeanCode()
    noise = noise_of(table)
    scores = measure(choices(table, lambda row: leaning(row, first=0.2, noise=noise)), table)
    found = section(measure, scores, table, wordings=("willing",)).estimates
    order = contrast(found, "order", model="m")
    named = table.filter(pl.col("condition") != "baseline")
    per = scores.filter(level="prompt", quantity="code")
    both = named.join(per.select("prompt_id", "value"), on="prompt_id")
    means = {
        order: statistics.fmean(of["value"])
        for (order,), of in both.partition_by("order", as_dict=True).items()
    }
    assert order["difference"] == near(means["reversed"] - means["forward"])
    assert (order["n_first"], order["n_second"]) == (
        named.filter(order="reversed")["condition"].n_unique(),
        named.filter(order="forward")["condition"].n_unique(),
    )


def test_a_headline_is_made_again_without_each_item_wording_and_condition():
    table = asked()
    noise = noise_of(table)
    measure = MeanCode()
    scores = measure(choices(table, lambda row: leaning(row, noise=noise)), table)
    primary = section(measure, scores, table).estimates.filter(family="primary")
    work = Headline(
        row=primary.row(0, named=True),
        measure=measure,
        wordings=["willing", "shun", "want"],
        sharing=Clusters(),
    )
    rows = list(work.without_each(work.select_scores(scores)))
    assert {row["variation"] for row in rows} == {"item", "wording", "condition"}
    codes = scores.filter(level="prompt", quantity="code")
    for row in rows:
        left = codes.filter(pl.col(row["variation"]) != row["what"])
        means = dict(left.group_by("group").agg(pl.col("value").mean()).rows())
        assert row["difference"] == near(means["stigmatized"] - means["non-stigmatized"])


def test_the_most_probable_label_is_a_share_of_the_options_that_count():
    table = asked(items=("i1",))
    given = [0.1, 0.5, 0.1, 0.1, 0.2]
    scores = MeanCode()(choices(table, lambda _row: given), table)
    (row,) = scores.filter(pl.col("quantity").str.starts_with("says-"), level="model").to_dicts()
    assert row["quantity"] == "says-B"
    assert row["value"] == pytest.approx(0.5 / 0.8)
