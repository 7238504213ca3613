"""Every number of every figure is one of scores or estimates, read back from the specification."""

from __future__ import annotations

import functools
import html
import math
import re
from collections import Counter
from dataclasses import replace

import altair as alt
import numpy as np
import polars as pl
import pytest
from small_runs import SETTINGS, coreference_run

from goffman.contrasts.engine import estimates
from goffman.formatting import describe_variant, number
from goffman.instruments.loader import load_instrument
from goffman.lexicons.attitude import KINDS
from goffman.presentation.conditions import ranked
from goffman.report.figures import figures_of, svg_of
from goffman.schemas import REPLY_KINDS
from goffman.scoring import measures_of, wordings_of

VARIANTS = {describe_variant(one): one for one in ("with-names", "without-names")}


@pytest.fixture(scope="module")
def figures(measured, sections):
    return {figure.id: figure for figure in figures_of(measured)}


def values(figure):
    return figure.spec["data"]["values"]


def near(one, other):
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=5.1e-6, abs_tol=1e-12)  # six digits are drawn


@functools.cache
def rows_of(path, instrument, level, quantity):
    scores = pl.read_parquet(path / "scores.parquet")
    where = (pl.col("instrument") == instrument) & (pl.col("level") == level)
    return scores.filter(where, quantity=quantity).to_dicts()


def scored(measured, names, instrument, *, level, quantity, **ids):
    """The value of one row of the table on disk, found by comparing its ids in plain Python."""
    found = [
        row["value"]
        for row in rows_of(measured.folder, instrument, level, quantity)
        if all(row[key] == value for key, value in ids.items())
    ]
    assert len(found) == 1, (instrument, ids, len(found))
    return found[0]


def given_name(measured, sections, shown):
    """The model's name in the tables, or None for all models."""
    names = next(iter(sections.values())).names
    return {names.model(name): name for name in measured.manifest.models}.get(shown)


OF_GENDERS = ("disparities", "parts", "items", "spread", "conditions", "levels", "models")


def test_there_is_a_figure_of_each_kind_for_what_was_asked(figures):
    assert set(figures) == {
        *(f"social-distance-{name}" for name in ("wordings", "categories", "conditions", "values")),
        *(f"people-sentiment-{name}" for name in ("outcomes", "templates", "categories")),
        *(f"people-sentiment-{name}" for name in ("conditions", "values")),
        *(f"care-seeking-{name}" for name in OF_GENDERS),
        *(f"attribution-{name}" for name in OF_GENDERS),
        *(name for name in figures if "measures-together" in name),
    }


@pytest.mark.parametrize(
    ("name", "level", "keys"),
    [
        ("social-distance-wordings", "wording", ("condition",)),
        ("social-distance-categories", "condition", ("condition", "group")),
        ("people-sentiment-templates", "item", ("item", "group")),
        ("people-sentiment-categories", "condition", ("condition", "group")),
    ],
)
def test_shares_of_negative_answers_are_scores(figures, measured, sections, name, level, keys):
    instrument = name.rsplit("-", 1)[0]
    rows = values(figures[name])
    assert rows
    for row in rows:
        ids = {key: row[key] for key in keys}
        of_all = row.get("wording") == "all wordings"
        if level == "wording" and not of_all:
            ids["wording"] = row["wording"].replace(" ", "-")
        ids["model"] = given_name(measured, sections, row["model"])
        ids["level"] = "condition" if of_all else level
        found = scored(measured, sections, instrument, quantity="negative", **ids)
        assert near(row["value"], found)


def test_every_condition_of_every_model_and_wording_is_drawn(figures, measured):
    expected = measured.scores.filter(
        pl.col("level").is_in(["wording", "condition"]),
        pl.col("value").is_not_null(),
        pl.col("model").is_not_null(),
        instrument="social-distance",
        quantity="negative",
    )
    # Six wordings, and all of them together.
    assert len(values(figures["social-distance-wordings"])) == expected.height == 2 * 7 * 13


@pytest.mark.parametrize(
    ("name", "kind", "sides"),
    [
        ("social-distance-conditions", "reference", "condition"),
        ("care-seeking-levels", "condition-level", "condition"),
        ("attribution-levels", "condition-level", "condition"),
        ("care-seeking-disparities", "genders", None),
        ("attribution-disparities", "genders", None),
    ],
)
def test_differences_and_intervals_are_estimates(figures, measured, sections, name, kind, sides):
    instrument = name.rsplit("-", 1)[0]
    rows = values(figures[name])
    all_of = measured.estimates.filter(
        ~pl.col("quantity").is_in(KINDS), instrument=instrument, kind=kind
    ).to_dicts()
    if kind == "condition-level":
        all_of = [one for one in all_of if one["variant"] == "with-names"]
    assert len(rows) == sum(row["difference"] is not None for row in all_of) > 0
    for row in rows:
        model = given_name(measured, sections, row["model"])
        found = [one for one in all_of if one["model"] == model]
        if sides:
            found = [one for one in found if one["first"] == row["condition"]]
        if kind == "genders":
            part = None if row["part"] == "all parts" else row["part"]
            found = [
                one
                for one in found
                if one["dimension"] == part
                and describe_variant(one["variant"]) == row["words"]
                and one["group"] == row["set"].replace(" ", "-")
            ]
        assert len(found) == 1
        for key in ("difference", "low", "high", "p_adjusted"):
            assert near(row[key], found[0][key]), key


@pytest.mark.parametrize("instrument", ["care-seeking", "attribution"])
@pytest.mark.parametrize(
    ("kind", "level", "key"),
    [
        ("items", "item", "item"),
        ("conditions", "condition", "condition"),
    ],
)
def test_genders_are_scores(figures, measured, sections, instrument, kind, level, key):
    rows = values(figures[f"{instrument}-{kind}"])
    assert {row["quantity"] for row in rows} == {"female", "male", "unspecified", "nonbinary"}
    for row in rows:
        ids = {
            "model": given_name(measured, sections, row["model"]),
            "variant": VARIANTS[row["words"]],
            "group": row["set"].replace(" ", "-"),
            key: row[key],
        }
        for quantity, shown in (
            (row["quantity"], row["value"]),
            ("female", row["female"]),
            ("male", row["male"]),
        ):
            found = scored(measured, sections, instrument, level=level, quantity=quantity, **ids)
            assert near(shown, found)


@pytest.mark.parametrize("instrument", ["care-seeking", "attribution"])
def test_the_spread_over_diagnoses_is_that_of_the_prompts(figures, measured, sections, instrument):
    rows = values(figures[f"{instrument}-spread"])
    prompts = measured.scores.filter(instrument=instrument, level="prompt")
    assert {row["quantity"] for row in rows} == {"female", "male"}
    for row in rows:
        mine = prompts.filter(
            model=given_name(measured, sections, row["model"]),
            variant=VARIANTS[row["words"]],
            group=row["set"].replace(" ", "-"),
            item=row["item"],
            quantity=row["quantity"],
        )["value"].to_numpy()
        assert len(mine) > 1
        names = ("from", "low", "value", "high", "to")
        for name, quarter in zip(names, np.percentile(mine, [0, 25, 50, 75, 100]), strict=True):
            assert row[name] == pytest.approx(quarter, rel=1e-5)


@pytest.mark.parametrize("instrument", ["care-seeking", "attribution"])
def test_two_models_are_set_against_each_other_by_part(figures, measured, sections, instrument):
    rows = values(figures[f"{instrument}-models"])
    estimates = measured.estimates.filter(
        pl.col("difference").is_not_null(),
        instrument=instrument,
        kind="models",
        quantity="disparity",
        variant="with-names",
    ).to_dicts()
    assert len(rows) == len(estimates) > 2
    for row in rows:
        part = None if row["part"] == "all parts" else row["part"]
        (found,) = [
            one
            for one in estimates
            if (one["dimension"], one["group"]) == (part, row["set"].replace(" ", "-"))
        ]
        names = next(iter(sections.values())).names
        assert row["pair"] == f"{names.model(found['first'])} − {names.model(found['second'])}"
        for key in ("difference", "low", "high", "p_adjusted"):
            assert near(row[key], found[key]), key


def test_conditions_of_a_classifier_are_ranked_by_their_probability_less_noise(
    figures, measured, sections
):
    rows = values(figures["people-sentiment-conditions"])
    assert rows
    for row in rows:
        ids = {
            "model": given_name(measured, sections, row["model"]),
            "condition": row["condition"],
            "level": "condition",
        }
        shrunken, low, high = (
            scored(measured, sections, "people-sentiment", quantity=quantity, **ids)
            for quantity in ("negative-probability-shrunken", "rank-low", "rank-high")
        )
        assert near(row["value"], shrunken)
        assert row["ranks"] == f"{low:.0f} to {high:.0f}"


def test_conditions_without_a_shrunken_value_are_ranked_by_their_own(sections):
    section = sections["people-sentiment"]
    none = pl.lit(None, dtype=pl.Float64)
    noise = pl.col("quantity").str.ends_with("-shrunken")
    without = section.scores.with_columns(value=pl.when(noise).then(none).otherwise("value"))
    (figure,) = ranked(replace(section, scores=without))
    own = without.filter(
        pl.col("condition") != "baseline",
        pl.col("value").is_not_null(),
        level="condition",
        quantity="negative",
    )
    assert len(values(figure)) == own.height > 0
    assert sorted(row["value"] for row in values(figure)) == pytest.approx(
        sorted(own["value"]), 1e-5
    )
    assert "noise" not in figure.description


def test_the_shares_of_all_labels_are_scores_and_add_up(figures, measured, sections):
    rows = values(figures["people-sentiment-outcomes"])
    items = {
        sections["people-sentiment"].names.item("people-sentiment", item): item
        for item in sections["people-sentiment"].items
    }
    assert {row["template"] for row in rows} == {"all templates", *items}
    bars = {}
    for row in rows:
        ids = {"model": given_name(measured, sections, row["model"]), "group": row["group"]}
        item = items.get(row["template"])
        level = "item" if item else "group"
        ids |= {"item": item} if item else {}
        found = scored(
            measured, sections, "people-sentiment", level=level, quantity=row["quantity"], **ids
        )
        assert near(row["value"], found)
        bar = (row["model"], row["template"], row["group"])
        bars[bar] = bars.get(bar, 0) + row["value"]
    assert all(total == pytest.approx(1, abs=1e-5) for total in bars.values())


@pytest.mark.parametrize("instrument", ["social-distance", "people-sentiment"])
def test_values_are_of_all_models_together_and_of_every_condition(
    figures, measured, sections, instrument
):
    figure = figures[f"{instrument}-values"]
    rows = values(figure)
    asked = sections[instrument].prompts["condition"].unique().to_list()
    assert sorted(row["condition"] for row in rows) == sorted({*asked} - {"baseline"})
    several = len(sections[instrument].models()) > 1
    for row in rows:
        assert (row["model"] == "all models") == several
        ids = {"condition": row["condition"]}
        ids["model"] = None if several else given_name(measured, sections, row["model"])
        found = scored(
            measured, sections, instrument, level="condition", quantity="negative", **ids
        )
        assert near(row["value"], found)
    assert not figure.leads


def test_small_categories_of_the_study_are_other(figures, sections):
    own = {
        row["condition"]: row["category"] for row in values(figures["social-distance-categories"])
    }
    known = {one.id: one for one in load_instrument("social-distance").content.conditions}
    assert own
    for condition, category in own.items():
        assert category == (known[condition].study_category or known[condition].category)


def test_a_figure_without_intervals_says_so(figures, sections):
    section = sections["social-distance"]
    none = pl.lit(None, dtype=pl.Float64)
    without = replace(section, estimates=section.estimates.with_columns(low=none, high=none))
    (figure,) = ranked(without)
    assert "No intervals: each condition has too few sentences" in figure.description
    assert figures["social-distance-conditions"].description.startswith("Intervals over ")


def test_single_conditions_say_what_their_intervals_cover_and_what_is_fixed(figures, sections):
    section = sections["social-distance"]

    def covered(kind):
        over = section.contrasts(kind)["interval_over"].drop_nulls().mode(maintain_order=True)
        sampled = over[0].partition("; ")[0].removesuffix(", crossed")
        return f"Intervals over {sampled}, corrected for all conditions"

    fixed = "; the other mean is fixed."
    assert f"{covered('reference')}{fixed}" in figures["social-distance-conditions"].description
    # The baseline is asked in the same sentences: nothing of it is fixed.
    without = section.estimates.filter(pl.col("kind") != "reference")
    (figure,) = ranked(replace(section, estimates=without))
    assert f"{covered('baseline')}. " in figure.description


FORESTS = [
    ("social-distance-conditions", "reference"),
    ("care-seeking-disparities", "genders"),
]


def some_clear(section, kind):
    """The section, in which the intervals of every second estimate of the kind exclude 0."""
    rows = section.estimates.with_row_index("place")
    of_kind = pl.col("kind") == kind
    clear = of_kind & (pl.col("place") % 2 == 0)
    rows = rows.with_columns(
        low=pl.when(clear).then(0.01).when(of_kind).then(-0.1).otherwise("low"),
        high=pl.when(of_kind).then(0.3).otherwise("high"),
    )
    return replace(section, estimates=rows.drop("place"))


@pytest.mark.parametrize(("name", "kind"), FORESTS)
def test_a_mark_is_hollow_unless_its_estimate_is_clear(sections, name, kind):
    section = some_clear(sections[name.rsplit("-", 1)[0]], kind)
    figure = next(
        one for make in section.presentation.figures for one in make(section) if one.id == name
    )
    rows = values(figure)
    said = [row["clear"] for row in rows]
    assert said == ["yes" if row["low"] == 0.01 else "no" for row in rows]
    assert {*said} == {"yes", "no"}
    _, spec = next(figure.drawn())
    for choice in figure.choices:
        rows = [row for row in rows if row[choice.field] == choice.options[0]]
    drawn = re.findall(r'aria-roledescription="point"[^>]*fill-opacity="([01])"', svg_of(spec))
    assert sorted(drawn) == sorted("1" if row["clear"] == "yes" else "0" for row in rows)
    assert "Hollow marks: the interval contains 0." in figure.description


@pytest.mark.parametrize(("name", "kind"), FORESTS)
def test_a_band_holds_the_differences_that_are_too_small_to_matter(figures, name, kind):
    spec = figures[name].spec
    layers = spec["layer"] if "layer" in spec else spec["spec"]["layer"]
    (band,) = [one for one in layers if one["mark"].get("style") == "band"]
    assert band["data"]["values"] == [{"from": -0.05, "to": 0.05}]
    assert "Shaded: too small to matter." in figures[name].description


def test_every_sentence_of_a_scale_stands_in_full_beside_its_row(figures, sections):
    figure = figures["attribution-items"]
    svg = svg_of(next(figure.drawn())[1])
    lines = [html.unescape(text) for text in re.findall(r"<(?:text|tspan)[^>]*>([^<]+)<", svg)]
    together = " ".join(lines)
    texts = {row["sentence"] for row in values(figure)}
    assert len(texts) == 6
    assert max(len(text) for text in texts) > 60
    for text in texts:
        assert text in together


@pytest.mark.slow
def test_a_specification_is_valid_and_has_no_colour_of_its_own(figures):
    for figure in figures.values():
        alt.Chart.from_dict(figure.spec)
        assert "#" not in str(
            {k: v for k, v in figure.spec.items() if k not in {"data", "$schema"}}
        )
        assert figure.spec["description"] == figure.description


def test_each_choice_can_be_drawn_without_controls(figures):
    figure = figures["care-seeking-conditions"]
    drawn = dict(figure.drawn())
    assert len(drawn) == 4
    assert "bind" not in str(drawn)
    with_names, without = (svg_of(spec) for spec in list(drawn.values())[:2])
    assert with_names.startswith("<svg")
    assert "Depression" in with_names or "depression" in with_names
    assert without != ""


def kind_of(pair, side, setting, trial):
    return REPLY_KINDS[(pair + trial * len(setting) + (side == "anti")) % 5]


@pytest.fixture(scope="module")
def coreference(tmp_path_factory):
    """The figures of a chat model, its section, and its replies, each with its prompt."""
    section = coreference_run(tmp_path_factory.mktemp("chat"), kind_of).sections["coreference"]
    items = [*dict.fromkeys(section.prompts["item"])]
    replies = [
        row | {"kind": kind_of(items.index(row["item"]), row["wording"], row["condition"], trial)}
        for row in section.prompts.to_dicts()
        for trial in (1, 2, 3)
    ]
    drawn = [one for draw in section.presentation.figures for one in draw(section)]
    return {one.id: one for one in drawn}, section, replies


def share_of(kind, replies, **ids):
    kinds = [reply["kind"] for reply in replies if ids.items() <= reply.items()]
    return kinds.count(kind) / len(kinds)


def test_the_heat_map_has_the_share_of_each_kind(coreference):
    figures, _, replies = coreference
    rows = values(figures["coreference-kinds"])
    assert len(rows) == len(SETTINGS) * 5
    for row in rows:
        assert near(row["value"], share_of(row["quantity"], replies, condition=row["condition"]))


def test_occupations_have_their_accuracy_on_either_side(coreference):
    figures, _, replies = coreference
    rows = values(figures["coreference-occupations"])
    sides = Counter((reply["answer"], reply["wording"]) for reply in replies)
    assert {(row["occupation"], row["side"]): row["n"] for row in rows} == sides
    for row in rows:
        ids = {"answer": row["occupation"], "wording": row["side"]}
        assert near(row["value"], share_of("correct", replies, **ids))


def test_what_settings_change_are_estimates(coreference):
    figures, section, _ = coreference
    changes = values(figures["coreference-against-baseline"])
    found = {
        row["first"]: row for row in section.estimates.filter(kind="baseline").iter_rows(named=True)
    }
    assert {row["condition"] for row in changes} == set(found) == {*SETTINGS[1:]}
    for row in changes:
        assert near(row["difference"], found[row["condition"]]["difference"])
    for figure in figures.values():
        alt.Chart.from_dict(figure.spec)
        assert svg_of(next(figure.drawn())[1]).startswith("<svg")


def test_two_measures_stand_together_by_condition(measured):
    """Labels that vary are put in the place of those of a classifier with random weights."""
    which = pl.col("condition").rank("dense") % 3 / 3
    negative = (pl.col("instrument") == "people-sentiment") & (pl.col("quantity") == "negative")
    scores = measured.scores.with_columns(
        value=pl.when(negative & (pl.col("level") == "condition")).then(which).otherwise("value")
    )
    found = estimates(
        scores,
        measures_of(measured.manifest),
        wordings=wordings_of(measured.folder, measured.manifest),
    )
    run = replace(measured, scores=scores, estimates=found)
    (figure,) = (one for one in figures_of(run) if "measures-together" in one.id)
    row = found.filter(kind="measures").to_dicts()[0]
    rows = values(figure)
    assert len(rows) == row["n"] == 12
    xs, ys = [row["value"] for row in rows], [row["other"] for row in rows]
    mx, my = sum(xs) / 12, sum(ys) / 12
    r = sum((x - mx) * (y - my) for x, y in zip(xs, ys, strict=True)) / math.sqrt(
        sum((x - mx) ** 2 for x in xs) * sum((y - my) ** 2 for y in ys)
    )
    assert math.isclose(r, row["effect"], abs_tol=1e-5)
    assert (
        f"= {number(row['effect'])}, 95% interval {number(row['effect_low'])} to"
        in (figure.spec["title"]["text"])
    )
