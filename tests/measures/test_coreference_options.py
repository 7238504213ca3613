"""Two people as options: accuracy, bias, bounds and position against plain computations."""

from __future__ import annotations

import itertools
import statistics

import pytest
from choosing import choices, replied
from choosing import section as section_of
from making import check, one, prompts, same_whatever_the_order, value

from goffman.contrasts.designs import clusters_by_instrument
from goffman.instruments.types import Option, options_from, options_json
from goffman.measures.coreference import CoreferenceChoice
from goffman.presentation.findings import findings_of

OCCUPATIONS = ("nurse", "guard", "cook", "maid", "judge", "clerk", "tailor", "baker")
SETTINGS = {"baseline": "baseline", "tough,gentle": "contrasting-pair", "old,": "single-adjective"}


def table(frames=6):
    """Sentence pairs × pro and anti × settings × both orders."""
    rows = []
    for frame, (place, first) in itertools.product(range(frames), enumerate(OCCUPATIONS)):
        second = OCCUPATIONS[(place + frame + 1) % len(OCCUPATIONS)]
        for side, (setting, group), order in itertools.product(
            ("pro", "anti"), SETTINGS.items(), ("forward", "reversed")
        ):
            people = [(f"the {first}", 1.0), (f"the {second}", 0.0)]
            people = people[::-1] if order == "reversed" else people
            labels = "ABC"
            listed = [
                Option(label=labels[n], text=text, code=code)
                for n, (text, code) in enumerate([*people, ("unsure", None)])
            ]
            rows.append(
                {
                    "item": f"f{frame}-{first}",
                    "wording": side,
                    "condition": setting,
                    "form": None,
                    "group": group,
                    "category": "female-referent" if frame % 2 else "male-referent",
                    "text": f"Frame {frame}: the {first} met the {second} because he was late.",
                    "answer": first,
                    "other": second,
                    "pronoun": "he",
                    "order": order,
                    "options": options_json(tuple(listed)),
                }
            )
    return prompts(*rows)


def probabilities(row):
    """Right more often in pro sentences; a tenth more for whoever is listed first."""
    place = int(row["prompt_id"][1:])
    own = 0.02 * (sum(map(ord, row["item"])) % 5)
    right = 0.5 + own + (0.15 if row["wording"] == "pro" else 0.0) + 0.002 * (place % 4)
    two = {1.0: 0.8 * right, 0.0: 0.8 * (1 - right)}
    given = [two[o.code] for o in options_from(row["options"])[:2]]
    given[0] += 0.08
    return [*given, 0.07]


def section(measure, scores, asked):
    sharing = clusters_by_instrument(asked)
    return section_of(measure, scores, asked, wordings=("pro", "anti"), sharing=sharing)


def naive(asked, answers):
    """Of each prompt: right, wrong and first listed."""
    found = {}
    by_prompt = {}
    for row in answers.to_dicts():
        by_prompt.setdefault(row["prompt_id"], []).append(row)
    for row in asked.to_dicts():
        given = by_prompt[row["prompt_id"]]
        right = next(o["probability"] for o in given if o["code"] == 1)
        wrong = next(o["probability"] for o in given if o["code"] == 0)
        first = options_from(row["options"])[0].label
        listed = next(o["probability"] for o in given if o["option"] == first)
        found[row["prompt_id"]] = (row, right, wrong, listed)
    return found


def test_accuracy_bias_bounds_and_position_are_those_of_a_plain_loop():
    asked = table()
    answers = choices(asked, probabilities)
    measure = CoreferenceChoice()
    scores = check(measure(answers, asked))
    of = naive(asked, answers)

    def mean(number, side, setting):
        return statistics.fmean(
            number(right, wrong, listed)
            for row, right, wrong, listed in of.values()
            if row["wording"] == side and row["condition"] == setting
        )

    for setting in SETTINGS:
        accuracy = {s: mean(lambda r, w, _: r / (r + w), s, setting) for s in ("pro", "anti")}
        right = {s: mean(lambda r, _w, _l: r, s, setting) for s in ("pro", "anti")}
        silent = {s: mean(lambda r, w, _: 1 - r - w, s, setting) for s in ("pro", "anti")}
        first = {s: mean(lambda r, w, f: f / (r + w), s, setting) for s in ("pro", "anti")}
        expected = {
            "bias": accuracy["pro"] - accuracy["anti"],
            "accuracy-pro": accuracy["pro"],
            "above-chance": (accuracy["pro"] + accuracy["anti"]) / 2 - 0.5,
            "bias-lowest": right["pro"] - right["anti"] - silent["anti"],
            "bias-highest": right["pro"] + silent["pro"] - right["anti"],
            "first-listed-above-half": (first["pro"] + first["anti"]) / 2 - 0.5,
        }
        for quantity, number in expected.items():
            ids = {"level": "condition", "model": "m", "condition": setting}
            assert value(scores, quantity=quantity, **ids) == pytest.approx(number, rel=1e-5), (
                quantity
            )
    found = section(measure, scores, asked).estimates
    level = one(found, kind="level")
    bias = value(scores, level="condition", condition="baseline", quantity="bias")
    assert level["difference"] == pytest.approx(bias)
    assert level["family"] == "primary"
    assert level["p"] is not None, level["reason"]
    assert level["n"] == 48
    position = one(found, kind="position")
    first = value(
        scores, level="condition", condition="baseline", quantity="first-listed-above-half"
    )
    assert position["difference"] == pytest.approx(first)
    assert position["difference"] == pytest.approx(0.08 / 0.88 / 2, rel=0.05)
    assert {"baseline", "groups"} <= {*found["kind"]}
    same_whatever_the_order(measure, answers, asked)


def test_what_is_said_begins_with_position():
    asked = table()
    measure = CoreferenceChoice()
    scores = measure(choices(asked, probabilities), asked)
    shown = section(measure, scores, asked)
    (found,) = findings_of(shown)
    assert found.head == "Right more often where the pronoun fits the stereotype"
    assert found.text.startswith("Of the answers that name one of the two people, 0.55 (")
    assert "Depending on whom they would have named, the bias lies between" in " ".join(found.more)
    assert [t.name for tab in measure.presentation.tables for t in tab(shown)] == ["scale-settings"]
    drawn = [one.id for draw in measure.presentation.figures for one in draw(shown)]
    assert drawn == ["scale-against-baseline", "scale-right", "scale-occupations"]


def test_who_always_picks_the_first_is_called_so():
    asked = table()
    measure = CoreferenceChoice()

    def first(row):
        return [0.96 - 0.001 * (int(row["prompt_id"][1:]) % 5), 0.02, 0.0]

    (found,) = findings_of(section(measure, measure(choices(asked, first), asked), asked))
    assert found.head == "Always picks the option listed first"
    said = CoreferenceChoice(mode="reply")
    answers = said.code_responses(replied(asked, lambda _row, _trial: "A"), asked, None, cased=True)
    scores = check(said(answers, asked))
    assert value(scores, level="model", quantity="first-listed") == 1
    assert value(scores, level="condition", condition="baseline", quantity="bias") == 0


def test_replies_that_are_no_answer_are_not_correct_and_make_the_bounds():
    asked = table()
    measure = CoreferenceChoice(mode="reply")

    def said(row, trial):
        if trial == 2:
            return "unsure"
        wrong = row["wording"] == "anti" and sum(map(ord, row["item"])) % 3 == 0
        return f"The {row['other' if wrong else 'answer']}."

    answers = measure.code_responses(replied(asked, said, trials=2), asked, None, cased=True)
    scores = check(measure(answers, asked))
    wrong = statistics.fmean(
        sum(map(ord, item)) % 3 == 0 for item in asked["item"].unique().to_list()
    )
    assert 0 < wrong < 1
    ids = {"level": "condition", "condition": "baseline"}
    # Half of all are unsure: accuracies are ½ and (1 − wrong) / 2.
    assert value(scores, quantity="accuracy-pro", **ids) == pytest.approx(0.5)
    assert value(scores, quantity="bias", **ids) == pytest.approx(wrong / 2)
    assert value(scores, quantity="bias-answered", **ids) == pytest.approx(wrong)
    assert value(scores, quantity="bias-lowest", **ids) == pytest.approx(wrong / 2 - 0.5)
    assert value(scores, quantity="bias-highest", **ids) == pytest.approx(wrong / 2 + 0.5)
    level = one(section(measure, scores, asked).estimates, kind="level")
    assert level["difference"] == pytest.approx(wrong / 2)


def test_controls_count_the_more_probable_person():
    asked = table(frames=1).head(48).filter(condition="baseline", wording="pro", order="forward")
    given = iter([[0.6, 0.3, 0.1], [0.2, 0.3, 0.1], [0.3, 0.3, 0.1], [0.001, 0.002, 0.9]])
    answers = choices(asked, lambda _row: next(given))
    values = CoreferenceChoice().control(answers, asked).sort("prompt_id")
    by_id = dict(values.rows())
    assert [by_id[p] for p in asked["prompt_id"]] == [1.0, 0.0, 0.5, None]
