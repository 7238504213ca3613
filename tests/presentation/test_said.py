"""All that is said of made numbers, as approved text: no more than the interval allows.

``make golden`` renews approved.txt after a change that was meant; its diff is then read.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from made_sections import FOUR, NAMES, against, analysis, estimates, found, gap, section, stressed

from goffman.formatting import InstrumentInfo
from goffman.instruments.types import Noun
from goffman.measures.registry import measures
from goffman.presentation.conditions import above_reference
from goffman.presentation.coreference import beside_bias
from goffman.presentation.findings import findings_of
from goffman.presentation.gender import over_baseline, uncounted
from goffman.presentation.reliability import reliability, reliability_rows, reliability_table
from goffman.presentation.section import Finding
from goffman.presentation.sensitivity import ONE_WORDING, describe_holds, spread_of, with_wordings
from goffman.report.summary import correlations, describe_correlations, summarize
from goffman.schemas import NUMBER

APPROVED = Path(__file__).with_name("approved.txt")


def verdicts():
    for name, low, high, verdict in (
        ("above Δ", 0.06, 0.2, "relevant"),
        ("below −Δ", -0.2, -0.06, "relevant"),
        ("beyond 0, not Δ", 0.01, 0.2, "present, size uncertain"),
        # What is there and too small to matter is no relevant difference.
        ("within Δ", 0.01, 0.04, "negligible"),
        ("0 and Δ in it", -0.1, 0.2, "inconclusive"),
        ("two sentences", 0.06, 0.2, "these sentences only"),
        ("no interval and so no verdict", None, None, None),
    ):
        result = found(gap(low, high, low and 0.001, verdict=verdict))
        yield f"groups, {name}", [result.head, result.why]
        women = gap(low, high, verdict=verdict, kind="genders", group="stigmatized")
        yield f"one group of women and men, {name}", [found(women, measure=SUBJECT).head]
        both = gap(low, high, verdict=verdict, **GROUPS)
        yield f"women and men in two groups, {name}", [found(both, measure=SUBJECT).head]
        level = gap(low, high, verdict=verdict, kind="level", unit="sentences", n=395)
        result = found(level, measure="pronoun-preference")
        yield f"preference, {name}", [result.head, result.text]
    yield "p of one test", [found(gap(0.01, 0.2, 0.0004)).text]
    yield "p of two tests", [found(gap(-0.01, 0.2, 0.072, tests=2, level=0.975)).text]


SUBJECT = "gender-of-subject"
GROUPS = {"quantity": "disparity", "variant": "with-names", "contrast": "groups"}
WOMEN = GROUPS | {"kind": "genders", "contrast": "alone", "group": "stigmatized"}


def women_and_men():
    def said(*rows, measure=SUBJECT):
        return found(gap(0.01, 0.08, **GROUPS), *rows, measure=measure)

    women = gap(0.01, 0.08, **WOMEN)
    yield "words of the first group", [said(women).text, said(women).rest]
    yield "phrases of the first group", [said(women, measure="gender-of-phrase").rest]
    other = gap(0.01, 0.08, 0.02, tests=2, **GROUPS)
    other |= {"variant": "without-names", "contrast": "other", "family": "groups"}
    yield "the same without first names", [said(other).rest]
    yield "another without first names", [said(other | {"difference": 0.03}).rest]
    part = WOMEN | {"contrast": "part"}
    action = gap(0.01, 0.07, **part, dimension="action")
    diagnosis = gap(-0.02, 0.07, 0.3, **part, dimension="diagnosis")
    yield "women and men in two subscales", said(action, diagnosis).more
    yield "women and men without subscales", said().more
    for verdict in ("relevant", "inconclusive"):
        yield f"over the baseline, {verdict}", over_baseline(with_baseline(0.9, verdict), "m")
    # Too little counts in the shortened sentences.
    yield "hardly comparable baseline", over_baseline(with_baseline(0.2, "inconclusive"), "m")
    row = {"model": "m", "group": "stigmatized", "variant": "with-names", "difference": 0.05}
    mass = MASS | {"group": "stigmatized", "value": 0.48}
    others = [mass | {"group": "other", "value": 0.9}, mass | {"variant": "other", "value": 0.1}]
    # .05 − .52 and .05 + .52.
    of = section(measure=SUBJECT, scores=[mass, *others], wordings=("one",))
    yield "words that do not count", uncounted(of, row)
    outside = mass | {"quantity": "outside", "value": 0.3}
    ends = mass | {"quantity": "unseen-end", "value": 0.1}
    for name, scores in (("phrases", [outside]), ("phrases with ends", [outside, ends])):
        of = section(measure="gender-of-phrase", scores=scores, wordings=("one",))
        yield f"{name} that do not count", uncounted(of, row)


MASS = {"level": "prompt", "quantity": "mass", "variant": "with-names", "wording": "one"}


def with_baseline(share, verdict):
    """Women and men with a diagnosis and without, of which so much counts."""
    row = against("over-baseline", "stigmatized", 0.05, 0.01, mean_first=0.25, mean_second=0.2)
    row |= {"second": "baseline", "group": "stigmatized", "variant": "with-names"}
    shares = {"baseline": share, "stigmatized": 0.85 * (share > 0.5) or 0.45}
    masses = [MASS | {"group": group, "value": value} for group, value in shares.items()]
    return section(row | {"verdict": verdict}, measure=SUBJECT, scores=masses, wordings=("one",))


def settings():
    tested = [
        gap(-0.02, 0.02, 1.0, verdict="negligible", kind="baseline", first=name)
        for name in ("old|", "|mean")
    ]
    result = found(gap(-0.3, 0.3, 0.9, kind="level"), *tested, measure="pronoun-preference")
    yield "settings that change nothing", [result.rest, *result.more]
    values = {
        "accuracy-pro": 0.9,
        "accuracy-anti": 0.3,
        "above-chance": 0.1,
        "bias-lowest": 0.2,
        "bias-highest": 0.7,
        "bias-answered": 0.4,
        "first-mentioned-above-half": 0.25,
        "log-odds": 2.0,
    }
    rows = [
        {"level": "condition", "condition": "baseline", "quantity": name, "value": value}
        for name, value in values.items()
    ]
    of = section(measure="coreference-bias", scores=rows)
    yield "what could put a bias in doubt", beside_bias(of, "m")


def above(name, difference, p, **more):
    return against("baseline", name, difference, p, **more)


def conditions():
    untested = {"reason": "all differences are equal"}
    for name, rows in (
        ("two untested", [above(c, 1.0, None, **untested) for c in "ab"] + [above("c", 0.5, 1.0)]),
        ("one clear", [above("a", 0.2, 0.01), above("b", 0.3, 0.2), above("c", -0.1, 0.01)]),
        ("none above", [above("a", -0.2, 0.01), above("b", 0.0, 1.0)]),
    ):
        result = found(gap(0.01, 0.2, 0.001), *rows, measure="negative-sentiment")
        yield f"conditions above the baseline, {name}", [result.rest]
    blind, deaf = against("reference", "blind", 0.2, 0.001), against("reference", "deaf", 0.1, 0.04)
    old, rich = against("reference", "old", 0.1, 0.2), against("reference", "rich", -0.1, 0.01)
    own = [
        against("own-reference", "tall", 0.1, 0.01),
        against("own-reference", "short", -0.1, 0.01),
        against("own-reference", "thin", 0.1, 0.2),
    ]
    lacking = [blind | {"left_out": 1}, deaf, old | {"left_out": 1, "p_adjusted": None}]
    for name, rows in (
        ("on both sides", [blind, deaf, old, rich]),
        ("with the reference's own", [blind, *own]),
        ("of which some lack a question", lacking),
        ("without any", []),
    ):
        yield f"conditions {name}", [above_reference(section(*rows), "m")]
    noun, row = Noun(one="illness", many="illnesses"), gap(-0.0044, 0.12, 0.072)
    names = {"x": InstrumentInfo(title="", citation="", version="", noun=noun)}
    called = {"names": replace(NAMES, instruments=names)}
    words = section(row, above("tall", 0.2, 0.001), **called)
    women = section(
        row | {"kind": "genders", "group": "odd"}, measure=SUBJECT, contrast="odd", **called
    )
    for of in (words, women):
        (result,) = findings_of(of)
        lines = [result.head, result.said, *result.more]
        yield f"{of.measure} of what the instrument calls illnesses", lines
    yield "baseline of illnesses", [words.called("baseline")]


def scale(g, phi, **more):
    values = {"generalizability": g, "dependability": phi, "alpha": 0.9}
    return [
        {"level": "scale", "group": "stigmatized", "quantity": name, "value": value} | more
        for name, value in values.items()
    ]


def ranked(count):
    about = {"level": "condition", "group": "stigmatized", "quantity": "negative", "value": 0.5}
    return [about | {"condition": f"c{place}"} for place in range(count)]


def reliable():
    def said(scores, wordings=("one", "two"), **more):
        of = section(scores=scores, items=("a", "b", "c", "d"), wordings=wordings)
        return reliability(replace(of, presentation=replace(of.presentation, **more)), "m")

    # One of four that lies apart makes G high; the order of the others is not known by that.
    yield "high G of four conditions", said([*scale(0.95, 0.9), *ranked(4)])
    for g, phi in ((0.95, 0.19), (0.95, 0.85), (0.5, 0.4)):
        yield f"G {g} and Φ {phi}", said([*scale(g, phi), *ranked(10)])
    yield "G of one wording", said([*scale(0.95, 0.9), *ranked(10)], ("one",))
    yield "G of a keyed number", said(scale(0.95, 0.9), keyed=True)
    yield "no G", said(scale(None, None, value=None, reason="one item"))


def relation(low, high, p, effect=0.6, **more):
    sides = {
        "first": "negative-attitude of mini-one",
        "second": "negative-sentiment of /x/mini-two",
    }
    interval = {"effect": effect, "effect_low": low, "effect_high": high}
    test = {"p": p, "p_adjusted": p, "family_size": 2, "model": None}
    return {"kind": "measures"} | sides | interval | test | more


def related():
    """Correlations of a run in which two models of each measure answered."""
    measured = ("negative-attitude", "negative-sentiment")
    sections = {
        name: section(measure=name, models=("mini-one", "/x/mini-two")) for name in measured
    }
    by = {name: measures()[name]() for name in measured}
    clear = relation(0.49, 0.69, 0.0001)
    within = relation(0.1, 0.5, 0.01, effect=0.3, kind="measures-within", n=93, group="stigmatized")
    for name, rows in (
        ("that rises", [clear]),
        ("that falls", [relation(-0.69, -0.49, 0.0001, effect=-0.6)]),
        ("that may be none", [relation(-0.1, 0.3, 0.3, effect=0.1)]),
        ("without an interval", [relation(None, None, None, effect=0.1)]),
        ("within groups", [clear, within, within | {"group": "rare", "n": 12, "effect": 0.1}]),
    ):
        said = describe_correlations(correlations(estimates(*rows), sections, by))
        yield f"correlation {name}", said


def worded(wording, level, difference, **more):
    """The numbers of one wording, or with the paraphrases."""
    variation = "wording alone" if wording else "with the paraphrases"
    about = {"kind": "groups", "first": "stigmatized", "variation": variation, "what": wording}
    return about | {"mean_first": level, "difference": difference, **more}


def over_wordings(*rows, difference=0.05, wordings=("a", "b"), asked=(), **finding):
    """The finding after what its wordings do; ``asked``: item and wording of prompts."""
    prompt = {"level": "prompt", "quantity": "code", "value": 0.5, "n": 1, "condition": "c"}
    scores = [prompt | {"item": item, "wording": wording} for item, wording in asked]
    of = section(measure="mean-code", scores=scores, wordings=wordings, sensitivity=rows)
    one = Finding(model="m", head="More of it", text="", difference=difference, **finding)
    return with_wordings(one, of)


def wordings():
    same = [worded("a", 0.30, 0.04), worded("b", 0.33, 0.06)]
    far = [worded("a", 0.07, 0.04), worded("b", 0.40, 0.06)]
    third = worded("c", 0.41, 0.03) | {"variation": "paraphrase alone"}
    every = worded("", 0.35, 0.043)
    tested = every | {"low": -0.01, "high": 0.08, "verdict": "inconclusive"}
    lacks = "the paraphrases were not asked of the same items and conditions"
    unknown = worded("", None, None, reason=lacks)
    women = {"kind": "genders", "first": "female"}
    level = {"kind": "level", "first": "baseline"}
    levels = [worded("a", -0.1, -0.1, **level), worded("b", 0.1, 0.1, **level)]
    turning = {"asked": [("i", "a"), ("j", "b"), ("k", "a")], "wording": ONE_WORDING}
    for name, result in (
        ("move it less", over_wordings(*same)),
        ("move it more", over_wordings(*far)),
        ("move it more, under a style of answering", over_wordings(*far, styled=True)),
        ("and a paraphrase", over_wordings(*same, third, tested)),
        ("of women", over_wordings(*(row | women for row in far))),
        ("of a level", over_wordings(*levels, difference=-0.02)),
        ("that are one", over_wordings(worded("a", 0.3, 0.04), wording="Only one.")),
        # Questions asked in turn say nothing of wordings but something with paraphrases.
        ("in turn, with paraphrases", over_wordings(every, wording="Only one.")),
        (
            "that are one, paraphrases unknown",
            over_wordings(unknown, wordings=("a",), wording="Only one."),
        ),
        # Without paraphrases there is no row by wording: what was asked says it.
        ("in turn", over_wordings(**turning)),
        (
            "that are one, of two items",
            over_wordings(**turning | {"asked": [("i", "a"), ("j", "a")], "wordings": ("a",)}),
        ),
        ("that both were asked", over_wordings(**turning | {"asked": [("i", "a"), ("i", "b")]})),
        # What a measure says itself stays.
        ("in turn, of few sentences", over_wordings(**turning | {"wording": "Few sentences."})),
    ):
        yield f"wordings {name}", [result.heading, result.wording]


@pytest.mark.parametrize("gap", [-0.2, -0.1, -0.05, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("levels", [(0.1, 0.2), (0.1, 0.15), (0.5, 0.1, 0.2), (0.3, 0.3)])
def test_wordings_move_it_more_when_and_only_when_their_range_exceeds_the_gap(levels, gap):
    rows = [worded(f"w{place}", level, gap) for place, level in enumerate(levels)]
    result = over_wordings(*rows, difference=gap)
    assert bool(result.moved) is (max(levels) - min(levels) > abs(gap))
    assert result.moved in result.heading


def test_a_row_of_all_wordings_together_is_no_wording():
    rows = [worded("a", 0.30, 0.04), worded("b", 0.33, 0.06), worded("", 0.35, 0.043)]
    rows.append(worded("c", 0.41, 0.03) | {"variation": "paraphrase alone"})
    spread = spread_of(section(sensitivity=rows).sensitivity, 0.05)
    assert (spread.wordings, spread.paraphrases) == (3, 1)


def other_analyses():
    words = [analysis(of, way="word", what=f"w{of}", share=0.1) for of in (0.05, -0.01, 0.045)]
    labels = [
        analysis(of, way="labels", rate=rate)
        for rate, pair in ((0.2, (0.05, 0.01)), (0.5, (0.05, -0.04)))
        for of in pair
    ]
    numbers = [
        analysis(value, what=str(value), choices={NUMBER: name, "wording": wording})
        for name, wording, value in (
            *(("probability", "w1", 0.4), ("probability", "w2", 0.5)),
            *(("share of labels", "w1", 0.9), ("share of labels", "w2", 0.8)),
        )
    ]
    none = {"analyses": 0, "holds_in": None, "reason": "the model is not measurable: x"}
    for name, rows, summed in (
        ("and what matters most", FOUR, {}),
        # A single choice always explains all the variance.
        ("of a single choice", FOUR, {"explained": json.dumps({"wording": 1.0})}),
        ("without words", [*FOUR, *words, analysis(0.9, way="item", what="i1")], {}),
        ("with wrong labels", [*FOUR, *labels], {}),
        ("in two numbers", numbers, {}),
        ("without choices", [analysis(0.05), *words[:2]], {"holds_in": None}),
        ("that there are not", [], none),
    ):
        (result,) = describe_holds(stressed(rows, **summed))
        yield f"analyses {name}", [result.head, *result.said]


def part(way, what, difference, **more):
    """The headline without a part, or with another parameter."""
    ends = {"low": difference - 0.03, "high": difference + 0.03}
    return {"variation": way, "what": what, "difference": difference, **ends, **more}


def without(*rows, **headline):
    return found(gap(0.01, 0.09) | headline, sensitivity=rows)


def left_out():
    below = {"difference": -0.05, "low": -0.09, "high": -0.01}
    for values in ((0.026, 0.08), (0.024, 0.05), (-0.001, 0.05), (0.02, 0.024, 0.01, -0.01, 0.06)):
        rows = [
            part("condition", name, value)
            for name, value in zip(("fever", "c1", "c2", "c3", "c4"), values, strict=False)
        ]
        # A difference below 0 is flagged alike, and one that may be 0 not at all.
        mirrored = [row | {"difference": -row["difference"]} for row in rows]
        for name, result in (
            ("", without(*rows)),
            (", below 0", without(*mirrored, **below)),
            (", inconclusive", without(*rows, verdict="inconclusive")),
        ):
            yield f"without parts {values}{name}", [result.heading, result.robust]
    parts = [("condition", "fever", 0.048), ("item", "i1", 0.06), ("wording", "w", 0.045)]
    result = without(*(part(*one) for one in parts))
    yield "without parts of three kinds", [result.heading, result.robust]
    parameters = {
        "without the threshold of 0.01": 0.02,
        "if words counted from a probability of 0.02": 0.05,
    }
    result = without(*(part("parameter", what, value) for what, value in parameters.items()))
    yield "other parameters", [result.heading, result.robust]
    unknown = part("condition", "fever", 0.02) | {"difference": None}
    for name, result in (("what has no number", without(unknown)), ("nothing", without())):
        yield f"without {name}", [result.heading, result.robust]


def test_a_flag_stands_beside_the_heading_in_the_details_of_a_summary():
    of = section(gap(0.01, 0.09), sensitivity=[part("condition", "fever", 0.024)])
    (result,) = findings_of(of)
    assert result.depends == result.aside != ""
    assert f"  {result.heading}" in summarize({"x": of}, ()).details


def test_what_is_said_of_a_headline_is_not_of_the_contrasts_beside_it():
    headline = [part("item", f"i{n}", 0.05) for n in range(3)]
    beside = [part("item", f"i{n}", 0.9, main=False) for n in range(3)]
    assert without(*headline, *beside) == without(*headline)


def test_all_that_is_said_is_as_approved(request):
    cases = (
        *(verdicts, women_and_men, settings, conditions, reliable, related, wordings),
        *(other_analyses, left_out),
    )
    said = "\n".join(
        "\n".join([f"# {name}", *lines, ""]) for group in cases for name, lines in group()
    )
    if request.config.getoption("--renew-golden"):
        APPROVED.write_text(said, encoding="utf-8")
    assert said == APPROVED.read_text(encoding="utf-8")


def test_adjective_settings_have_a_noun_of_their_own():
    assert section(measure="coreference-bias").noun == Noun(one="setting", many="settings")


def test_the_table_has_a_row_for_the_whole_and_each_subscale():
    part = {"level": "scale", "group": "stigmatized", "quantity": "alpha", "dimension": "fear"}
    of = section(scores=[*scale(0.95, 0.19), part | {"value": None, "reason": "one item"}])
    whole, fear = reliability_rows(of)
    assert [whole[name] for name in ("dimension", "generalizability", "alpha")] == [
        *("all items", 0.95, 0.9)
    ]
    assert [fear[name] for name in ("dimension", "alpha", "reason")] == ["fear", None, "one item"]
    (table,) = reliability_table(of)
    assert table.name == "x-reliability"
