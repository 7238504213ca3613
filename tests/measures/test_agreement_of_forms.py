"""Text and probabilities of one model, and the forms of one instrument side by side."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from choosing import asked, choices, listed, replied, section
from making import check

from goffman.contrasts.engine import estimates
from goffman.measures.mode_agreement import agreement_scores
from goffman.measures.multiple_choice import MeanCode
from goffman.modes import asked_ids, of_asked
from goffman.parsers.options import read_choices
from goffman.presentation.findings import findings_of
from goffman.report.summary import correlations, describe_correlations

STYLE = "Its answers say little about the questions. "


def both_forms():
    """The same questions as a choice and in text."""
    table = asked(items=("i1", "i2"))
    return [
        table.with_columns(
            instrument=pl.lit("scale"),
            mode=pl.lit(mode),
            prompt_id=pl.format("{}-" + mode, "prompt_id"),
        )
        for mode in ("choice", "reply")
    ]


def likely(row):
    """One option is the most probable one, by item and order."""
    place = (len(row["condition"]) + (row["order"] == "forward")) % 5
    return [0.5 if at == place else 0.1 for at in range(5)]


def written(row, trial):
    """Every third question is answered with A, every seventh not at all."""
    number = int(row["prompt_id"][1:].split("-")[0])
    if number % 7 == 0:
        return "I cannot answer."
    if number % 3 == 0 or trial == 2:
        return "A"
    given = likely(row)
    return listed(row)[given.index(max(given))].label


def test_agreement_is_that_of_a_plain_loop():
    chosen, said = both_forms()
    answers = choices(chosen, likely)
    read = read_choices(replied(said, written, trials=2), said)
    same = named = silent = 0
    tops, texts = [], []
    for row in said.to_dicts():
        top = listed(row)[likely(row).index(max(likely(row)))].label
        for trial in (1, 2):
            text = written(row, trial)
            if text.startswith("I cannot"):
                silent += 1
                continue
            named += 1
            same += text == top
            tops.append(top)
            texts.append(text)
    chance = sum((texts.count(label) / named) * (tops.count(label) / named) for label in "ABCDE")
    names = {"scale/choice": "mean-code", "scale/reply": "mean-code"}
    prepared = {"scale/choice": [answers], "scale/reply": [read]}
    scores = check(agreement_scores(prepared, pl.concat([chosen, said]), names))
    assert {*scores.select(asked_ids()).to_series()} == {*names}
    for name in names:
        share, by_chance = scores.filter(of_asked(name)).sort("quantity").to_dicts()
        assert share["value"] == pytest.approx(same / named)
        assert by_chance["value"] == pytest.approx(chance)
        for row in (share, by_chance):
            assert (row["model"], row["n"], row["missing"]) == ("m", named, silent)
    measure = MeanCode(mode="reply")
    asked_so = said.with_columns(mode=pl.lit(None, dtype=pl.String))
    own = measure(read, asked_so)
    shown = section(measure, own, asked_so)
    of_said = scores.filter(mode="reply")
    shown = replace(shown, scores=pl.concat([own, of_said]))
    (found,) = findings_of(shown)
    # Before any contrast, and before what the presentation does.
    assert found.text.removeprefix(STYLE).startswith(
        f"Text and probabilities: {same / named:.2f} of {named} replies name the option"
    )
    tables = [one for tab in measure.presentation.tables for one in tab(shown)]
    (made,) = (one for one in tables if one.name == "scale-agreement")
    values = {row["quantity"]: row["value"] for row in made.rows}
    assert values["agreement"] == pytest.approx(same / named, rel=1e-5)
    assert values["agreement-by-chance"] == pytest.approx(chance, rel=1e-5)


def test_models_that_were_asked_one_way_have_no_agreement():
    chosen, said = both_forms()
    answers = choices(chosen, likely)
    read = read_choices(replied(said, written, model="other"), said)
    prepared = {"scale/choice": [answers], "scale/reply": [read]}
    names = dict.fromkeys(prepared, "mean-code")
    assert agreement_scores(prepared, pl.concat([chosen, said]), names).height == 0


def test_forms_are_correlated_over_conditions_model_by_model_and_never_pooled():
    chosen, said = both_forms()
    measures = {"scale/choice": MeanCode(), "scale/reply": MeanCode(mode="reply")}
    lean = {c: 0.1 + 0.05 * (sum(map(ord, c)) % 11) for c in chosen["condition"].unique()}

    def leaning(row):
        by_code = {0.0: 1 - lean[row["condition"]], 1.0: lean[row["condition"]]}
        return [0.9 * by_code.get(o.code, 0.0) for o in listed(row)[:4]] + [0.05]

    def text(row, trial):
        up = lean[row["condition"]] * 4 > (trial + len(row["item"] + row["wording"])) % 4
        return next(o.text for o in listed(row) if o.code == float(up))

    parts = [
        measures["scale/choice"](
            pl.concat(
                [
                    choices(chosen, leaning, model="one"),
                    choices(chosen, lambda row: [*leaning(row)[::-1][1:], 0.05], model="two"),
                ]
            ),
            chosen,
        ),
        measures["scale/reply"](
            read_choices(replied(said, text, model="one", trials=4), said), said
        ),
    ]
    scores = pl.concat(parts)
    wordings = {name: ["willing", "shun", "want"] for name in measures}
    found = estimates(scores, measures, wordings=wordings)
    rows = found.filter(kind="measures")
    assert sorted(rows.select("first", "second").rows()) == [
        ("mean-code by scale/choice of one", "mean-code by scale/reply of one"),
        ("mean-code by scale/choice of two", "mean-code by scale/reply of one"),
    ]

    def profile(instrument, model):
        of = scores.filter(
            of_asked(instrument),
            pl.col("condition") != "baseline",
            level="condition",
            quantity="code",
            model=model,
        ).sort("condition")
        return of["value"].to_numpy()

    for row in rows.to_dicts():
        model = row["first"].removeprefix("mean-code by scale/choice of ")
        pair = profile("scale/choice", model), profile("scale/reply", "one")
        assert row["effect"] == pytest.approx(np.corrcoef(*pair)[0, 1])
    sections = {
        name: section(measure, scores.filter(of_asked(name)), chosen)
        for name, measure in measures.items()
    }
    sections = {
        name: type(one)(**{**vars(one), "instrument": name}) for name, one in sections.items()
    }
    spoken = describe_correlations(correlations(found, sections, measures))
    assert len(spoken) == 2
    assert "one's mean code" in spoken[0]
