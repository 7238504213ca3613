"""Two runs against each other: the numbers by a naive computation, and what is refused or marked."""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats
from small_runs import coreference_run, measured, place, run_of
from typer.testing import CliRunner

from goffman.cli.main import app
from goffman.comparison.runs import compare, verdict
from goffman.comparison.sentences import (
    as_markdown,
    change_results,
    change_sentences,
    conditions_of,
    top_of,
)
from goffman.contrasts.verdict import direction
from goffman.errors import InputError, RunError
from goffman.report.load import read_run
from goffman.schemas import CONTRASTS, ESTIMATES, VERDICTS, complaints
from goffman.stats.crossed import Interaction, crossed_interval

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    return measured(tmp_path_factory, "before")


@pytest.fixture(scope="module")
def after(tmp_path_factory):
    return measured(tmp_path_factory, "after")


@pytest.fixture(scope="module")
def found(before, after):
    return {one.instrument: one for one in compare([before, after])}


def rows_of(comparison, **ids):
    return comparison.estimates.filter(
        pl.col(name).is_null() if value is None else pl.col(name) == value
        for name, value in ids.items()
    ).to_dicts()


def paired_prompts(before, after, instrument, quantity, **ids):
    """{(condition, group, item, wording, form): (before, after)}, where both have a value."""
    sides = []
    for run in (before, after):
        chosen = run.scores.filter(
            *(pl.col(name) == value for name, value in ids.items()),
            level="prompt",
            instrument=instrument,
            quantity=quantity,
        )
        keys = ["prompt_id", "condition", "group", "item", "wording", "form"]
        sides.append({row[0]: (row[1:-1], row[-1]) for row in chosen.select(*keys, "value").rows()})
    assert {*sides[0]} == {*sides[1]}
    return {
        what: (value, sides[1][prompt][1])
        for prompt, (what, value) in sides[0].items()
        if value is not None and sides[1][prompt][1] is not None
    }


FAMILIES = {
    "choosing": ("choosing",),
    "say": ("say", "for-me", "impersonal", "opinion"),
    "as-for-me": ("as-for-me",),
}
"""The wordings of social-distance: near-copies count once, by their mean."""

OF_STUDY = ("choosing", "say", "for-me", "impersonal")
"""Those that the study asked, each counted as one."""


def condition_means(values, side, families=FAMILIES):
    """Over items, then forms, then wordings, then families: {(group, condition): mean}."""
    tree = {}
    for (condition, group, _, wording, form), pair in values.items():
        leaf = tree.setdefault((group, condition), {}).setdefault(wording, {})
        leaf.setdefault(form, []).append(pair[side])
    found = {}
    for key, wordings in tree.items():
        means = {w: np.mean([np.mean(v) for v in forms.values()]) for w, forms in wordings.items()}
        found[key] = np.mean([np.mean([means[w] for w in of]) for of in families.values()])
    return found


def cells(values, group, side, families=FAMILIES):
    """conditions × items × families of wordings of a group, forms averaged."""
    forms = {}
    for (condition, of, item, wording, _), pair in values.items():
        if of == group:
            forms.setdefault((condition, item, wording), []).append(pair[side])
    conditions, items = (sorted({key[place] for key in forms}) for place in range(2))
    assert {key[2] for key in forms} == {one for of in families.values() for one in of}
    return np.array(
        [
            [
                [np.mean([np.mean(forms[c, i, w]) for w in of]) for of in families.values()]
                for i in items
            ]
            for c in conditions
        ]
    )


def categories(run, group):
    """Of the conditions of a group, in the order of ``cells``; each its own where all are alike."""
    rows = run.scores.filter(level="prompt", group=group)
    rows = rows.filter(instrument="social-distance")
    known = dict(sorted(rows.select("condition", "category").unique().rows()))
    return [*known] if len({*known.values()}) == 1 else [*known.values()]


def test_the_tables_are_estimates_of_both_questions(found):
    assert list(found) == ["attribution", "care-seeking", "people-sentiment", "social-distance"]
    for one in found.values():
        assert complaints(one.estimates, (*CONTRASTS, *ESTIMATES, *VERDICTS)) == []
        assert one.verdict.refusals == one.verdict.marks == ()
        assert one.models[0] == one.models[1]
        assert {"runs", "groups"} <= {*one.estimates["kind"]}
        for row in one.estimates.iter_rows(named=True):
            listed = (row["family_size"] or 0) > 1
            assert row["correction"] == ("benjamini-hochberg" if listed else None)


@pytest.mark.parametrize("group", ["stigmatized", "non-stigmatized"])
def test_social_distance_is_paired_over_conditions(before, after, found, group):
    values = paired_prompts(before, after, "social-distance", "negative")
    old, new = (condition_means(values, side) for side in (0, 1))
    names = sorted(key for key in old if key[0] == group)
    (row,) = rows_of(found["social-distance"], kind="runs", quantity="negative", group=group)
    first, second = [new[key] for key in names], [old[key] for key in names]
    assert row["n"] == len(names) == 6
    assert math.isclose(row["difference"], np.mean(first) - np.mean(second), abs_tol=1e-12)
    assert math.isclose(row["mean_first"], np.mean(first))
    sides = [cells(values, group, side) for side in (1, 0)]
    again = crossed_interval([sides[0] - sides[1]], [categories(before, group)])
    assert math.isclose(row["error"], again.se, rel_tol=1e-9)
    assert math.isclose(row["df"], again.df, rel_tol=1e-9)
    pooled = math.sqrt((np.var(first, ddof=1) + np.var(second, ddof=1)) / 2)
    assert row["effect_name"] == "Cohen's d, pooled SD"
    assert math.isclose(row["effect"], row["difference"] / pooled, rel_tol=1e-9)
    assert row["low"] < row["difference"] < row["high"]
    assert (row["first"], row["second"]) == (
        f"small in {after.folder}",
        f"small in {before.folder}",
    )


def test_the_change_of_the_gap_is_that_of_the_changes_of_conditions(before, after, found):
    values = paired_prompts(before, after, "social-distance", "negative")
    old, new = (condition_means(values, side) for side in (0, 1))
    change = {
        group: [new[key] - old[key] for key in sorted(old) if key[0] == group]
        for group in ("stigmatized", "non-stigmatized")
    }
    (row,) = rows_of(found["social-distance"], kind="groups", quantity="negative")
    wanted = np.mean(change["stigmatized"]) - np.mean(change["non-stigmatized"])
    assert math.isclose(row["difference"], wanted, abs_tol=1e-12)
    tables = [cells(values, group, 1) - cells(values, group, 0) for group in change]
    again = crossed_interval(tables, [categories(before, group) for group in change])
    assert math.isclose(row["error"], again.se, rel_tol=1e-9)
    assert row["model"] == "small"
    (given,) = rows_of(found["social-distance"], kind="groups-as-asked")
    each = {one: (one,) for one in OF_STUDY}
    old, new = (condition_means(values, side, each) for side in (0, 1))
    asked = [[new[key] - old[key] for key in sorted(old) if key[0] == group] for group in change]
    assert math.isclose(given["difference"], np.mean(asked[0]) - np.mean(asked[1]), abs_tol=1e-12)
    tested = stats.ttest_ind(*asked, equal_var=False)
    assert math.isclose(given["p"], tested.pvalue, rel_tol=1e-9)


def test_where_every_prompt_has_a_value_the_change_is_the_difference_of_the_runs_own(
    before, after, found
):
    for instrument, kind in (("care-seeking", "genders"), ("attribution", "groups")):
        for row in rows_of(found[instrument], kind=kind):
            own = [
                run.estimates.filter(
                    *(
                        pl.col(name).eq_missing(pl.lit(row[name], dtype=pl.String))
                        for name in ("quantity", "variant", "group", "dimension", "first", "second")
                    ),
                    kind=kind,
                    instrument=instrument,
                ).row(0, named=True)["difference"]
                for run in (before, after)
            ]
            assert math.isclose(row["difference"], own[1] - own[0], abs_tol=1e-12)


def crossed_p(table):
    """p of a complete table's mean with rows (the units) and columns random, cell by cell."""
    rows, columns = table.shape
    mean = sum(table[i, j] for i in range(rows) for j in range(columns)) / table.size
    of_rows = [np.mean(table[i]) for i in range(rows)]
    of_columns = [np.mean(table[:, j]) for j in range(columns)]
    ms_rows = columns * sum((m - mean) ** 2 for m in of_rows) / (rows - 1)
    ms_columns = rows * sum((m - mean) ** 2 for m in of_columns) / (columns - 1)
    rest = sum(
        (table[i, j] - of_rows[i] - of_columns[j] + mean) ** 2
        for i in range(rows)
        for j in range(columns)
    ) / ((rows - 1) * (columns - 1))
    size = table.size
    parts = (
        (ms_rows / size, rows - 1),
        (ms_columns / size, columns - 1),
        (-rest / size, (rows - 1) * (columns - 1)),
    )
    variance = max(sum(part for part, _ in parts), parts[0][0])
    df = variance**2 / sum(part**2 / nu for part, nu in parts)
    df = max(df, min(rows, columns) - 1)
    return 2 * stats.t.sf(abs(mean) / math.sqrt(variance), df)


def test_care_seeking_is_crossed_over_items_and_conditions(before, after, found):
    values = paired_prompts(
        before, after, "care-seeking", "disparity", model="small", variant="without-names"
    )
    cells = {}
    for (condition, group, item, _, _), (old, new) in values.items():
        if group == "mental-health":
            cells[item, condition] = new - old
    items, conditions = (sorted({key[at] for key in cells}) for at in (0, 1))
    table = np.array([[cells[item, condition] for item in items] for condition in conditions])
    (row,) = rows_of(
        found["care-seeking"], kind="runs", group="mental-health", variant="without-names"
    )
    assert row["test"] == "crossed t"
    assert math.isclose(row["difference"], table.mean(), abs_tol=1e-15)
    assert math.isclose(row["p"], crossed_p(table), rel_tol=1e-9)
    assert table.shape == (row["n"], row["sentences"]) == (3, 6)


def test_swapping_the_runs_turns_every_sign(before, after, found):
    for one in compare([after, before]):
        there = found[one.instrument].estimates
        assert one.estimates.height == there.height
        for back, forth in zip(one.estimates.to_dicts(), there.to_dicts(), strict=True):
            same = ("n", "p", "p_adjusted", "kind", "group", "dimension", "variant", "reason")
            for name in same:
                if isinstance(back[name], float):
                    assert math.isclose(back[name], forth[name], rel_tol=1e-9)
                else:
                    assert back[name] == forth[name]
            for name in ("difference", "effect", "statistic"):
                if forth[name] is None:
                    assert back[name] is None
                else:
                    assert math.isclose(back[name], -forth[name], rel_tol=1e-9, abs_tol=1e-15)


def test_a_run_against_itself_differs_in_nothing(before):
    for one in compare([before, before]):
        assert one.estimates.height > 0
        # Where nothing varies nothing can be adjusted, and the reason stands instead.
        fitted = pl.col("kind") == "groups-adjusted"
        assert {*one.estimates.filter(~fitted)["difference"]} == {0.0}
        assert {*one.estimates.filter(fitted)["difference"]} <= {None}
        assert one.estimates["p"].null_count() == one.estimates.height
        assert one.estimates["reason"].null_count() == 0


def test_a_prompt_with_a_value_in_one_run_only_is_left_out_of_both_and_counted(before, after):
    """The difference is then over the same prompts, not over two sets of them."""
    some = (
        (pl.col("level") == "prompt")
        & (pl.col("quantity") == "negative")
        & (pl.col("instrument") == "social-distance")
        & (pl.col("item") == "neighbor")
    )
    holes = before.scores.with_columns(value=pl.when(~some).then("value"))
    less = replace(before, scores=holes)
    one = next(c for c in compare([less, after]) if c.instrument == "social-distance")
    full = next(c for c in compare([before, after]) if c.instrument == "social-distance")
    whole = paired_prompts(before, after, "social-distance", "negative")
    assert one.one_sided - full.one_sided == sum(what[2] == "neighbor" for what in whole)
    values = paired_prompts(less, after, "social-distance", "negative")
    old, new = (condition_means(values, side) for side in (0, 1))
    (row,) = rows_of(one, kind="runs", quantity="negative", group="stigmatized")
    wanted = np.mean([new[key] - old[key] for key in old if key[0] == "stigmatized"])
    assert math.isclose(row["difference"], wanted, abs_tol=1e-12)


def test_settings_of_a_chat_model_are_paired_over_sentence_pairs(tmp_path):
    def kind_of(seed):
        rng = np.random.default_rng(seed)
        drawn = {}

        def answers(*key):
            return drawn.setdefault(key, "correct" if rng.random() < 0.6 else "incorrect")

        return answers, drawn

    (one, first), (other, second) = kind_of(1), kind_of(2)
    runs = [coreference_run(tmp_path / "a", one), coreference_run(tmp_path / "b", other)]
    (comparison,) = compare(runs)
    for setting in ("baseline", "tough,understanding"):
        sides = [
            [
                np.mean(
                    [
                        (drawn[pair, "pro", setting, trial] == "correct")
                        - 1.0 * (drawn[pair, "anti", setting, trial] == "correct")
                        for trial in (1, 2, 3)
                    ]
                )
                for pair in range(8)
            ]
            for drawn in (first, second)
        ]
        (row,) = rows_of(comparison, kind="runs", group=setting)
        assert math.isclose(row["difference"], np.mean(sides[1]) - np.mean(sides[0]), abs_tol=1e-12)
        assert row["n"] == 8
        assert row["low"] < row["difference"] < row["high"]
    (change,) = rows_of(comparison, kind="baseline", first="tough,understanding")
    own = [
        run.estimates.filter(first="tough,understanding").row(0, named=True)["difference"]
        for run in runs
    ]
    assert math.isclose(change["difference"], own[1] - own[0], abs_tol=1e-12)


def test_other_prompts_are_refused(tmp_path_factory, before):
    few = measured(tmp_path_factory, "before", ("small",), instruments=("care-seeking",), limit=10)
    with pytest.raises(RunError) as refusal:
        compare([before, few])
    assert str(refusal.value) == (
        f"These runs cannot be compared.\n  attribution is not compared: {few.folder} "
        f"has no scores for it.\n  people-sentiment is not compared: {few.folder} "
        f"has no scores for it.\n  social-distance is not compared: {few.folder} has no scores for "
        f"it.\n  care-seeking: the runs asked different prompts (42 in {before.folder}, 10 in "
        f"{few.folder})."
    )


def test_as_many_other_prompts_are_refused_too(before):
    instruments = dict(before.manifest.instruments)
    instruments["care-seeking"] = replace(instruments["care-seeking"], prompts_sha256="0" * 64)
    other = replace(before, manifest=replace(before.manifest, instruments=instruments))
    found = verdict(before, other, "care-seeking", models=("small", "small"))
    assert found.refusals == ("the runs asked different prompts",)
    same = verdict(before, other, "attribution", models=("small", "small"))
    assert same.refusals == ()


def test_another_version_of_an_instrument_is_refused_and_the_others_are_compared(
    tmp_path_factory, tmp_path, before
):
    home = tmp_path / "instruments"
    shutil.copytree(place(tmp_path_factory) / "instruments", home)
    toml = home / "care-seeking" / "instrument.toml"
    toml.write_text(toml.read_text().replace('version = "1.5"', 'version = "1.6"'))
    other = measured(
        tmp_path_factory, "after", instruments=("care-seeking", "people-sentiment"), home=home
    )
    notes = []
    compared = {one.instrument: one for one in compare([before, other], note=notes.append)}
    refusals = compared["care-seeking"].verdict.refusals
    assert refusals == (
        f'version differs ("1.5" in {before.folder}, "1.6" in {other.folder})',
        "the runs have different files of the instrument",
    )
    assert compared["care-seeking"].estimates.height == 0
    assert compared["people-sentiment"].verdict.refusals == ()
    assert compared["people-sentiment"].estimates.height > 0
    assert notes == [
        f"attribution is not compared: {other.folder} has no scores for it.",
        f"social-distance is not compared: {other.folder} has no scores for it.",
    ]


def test_other_settings_are_refused(tmp_path_factory, before):
    other = measured(
        tmp_path_factory, "before", ("small",), instruments=("social-distance",), top_k=20
    )
    with pytest.raises(RunError) as refusal:
        compare([before, other])
    said = f"settings: top k differs (50 in {before.folder}, 20 in {other.folder})"
    assert said in str(refusal.value)


def test_another_precision_is_marked(tmp_path_factory, before):
    rounded = measured(
        tmp_path_factory, "before", ("small",), instruments=("care-seeking",), precision="bf16"
    )
    (one,) = compare([before, rounded])
    assert one.verdict.marks == (
        f"small ran in float32 in {before.folder}, but in bf16 in {rounded.folder}, so part of "
        "the difference may be due to rounding",
    )
    assert one.estimates.height > 0


def test_another_lexicon_is_marked_where_it_counts(tmp_path_factory, before):
    ratings = tmp_path_factory.mktemp("ratings") / "mine.csv"
    ratings.write_text("word,label\nlikely,negative\n")
    rated = measured(
        tmp_path_factory,
        "before",
        instruments=("social-distance", "people-sentiment"),
        ratings=(ratings,),
    )
    marks = {one.instrument: one.verdict.marks for one in compare([before, rated])}
    files = [entry.sha256[:12] for entry in rated.manifest.lexicons.attitudes]
    shipped, people, mine = files
    built_in = f"shipped ({shipped}…), mei2023 ({people}…)"
    assert marks["people-sentiment"] == ()
    assert marks["social-distance"] == (
        (
            f"words were rated differently: by {built_in} in {before.folder}, by "
            f"{built_in}, {ratings} ({mine}…) in {rated.folder}. Part of the "
            "difference may be due to this"
        ),
    )


def test_another_parser_and_another_goffman_are_marked(tmp_path):
    def answers(pair, *_):
        return "correct" if pair else "other"

    one = coreference_run(tmp_path / "a", answers, pairs=2)
    other = coreference_run(tmp_path / "b", answers, pairs=2, parser="as-published")
    session = replace(other.manifest.sessions[0], versions={"goffman": "0.2.0"})
    changed = replace(other.manifest, sessions=(session,))
    (comparison,) = compare([one, replace(other, manifest=changed)])
    assert comparison.verdict.refusals == ()
    assert comparison.verdict.marks == (
        (
            f"replies were read by different rules (--parser): v2 in {tmp_path / 'a'}, "
            f"as-published in {tmp_path / 'b'}. Part of the difference may be due to this"
        ),
        "the runs were made with two versions of goffman, 0.1.0 and 0.2.0",
    )


def test_models_of_other_names_are_matched_where_there_is_one_of_each(tmp_path_factory, before):
    other = measured(tmp_path_factory, "before", ("other",), instruments=("care-seeking",))
    (one,) = compare([before, other])
    assert one.models == ("small", "other")
    (row,) = rows_of(one, kind="runs", group="other", variant="with-names")
    assert (row["first"], row["second"]) == ("other", "small")


def test_several_models_of_other_names_must_be_named(tmp_path_factory, after, tmp_path):
    both = measured(tmp_path_factory, "before", ("small", "other"), instruments=("care-seeking",))
    renamed = after.scores.with_columns(pl.col("model").replace("small", "big"))
    manifest = replace(
        after.manifest, models={**after.manifest.models, "big": after.manifest.models["small"]}
    )
    stranger = replace(after, scores=renamed.filter(instrument="care-seeking"), manifest=manifest)
    with pytest.raises(RunError) as refusal:
        compare([both, stranger])
    assert str(refusal.value) == (
        f"These runs cannot be compared.\n  care-seeking: {both.folder} (other, small) and "
        f"{after.folder} (big) have no model in common. Say which two to compare: --model "
        "'other=big'"
    )
    (one,) = compare([both, stranger], models=["small=big"])
    assert one.models == ("small", "big")


def test_a_model_that_is_not_there_is_named_with_the_nearest(before, after):
    with pytest.raises(InputError) as refusal:
        compare([before, after], models=["smal"])
    assert str(refusal.value) == (
        "--model is 'smal', but the first run has no scores for it. Did you mean 'small'? "
        "Allowed: small, tone."
    )
    with pytest.raises(InputError) as refusal:
        compare([before, after], models=["small=large"])
    assert str(refusal.value) == (
        "--model is 'large', but the later runs have no scores for it. Allowed: small, tone."
    )


def invoke(*arguments):
    """On a screen of 120 columns, however wide the one is on which the tests run."""
    given = ["compare", *map(str, arguments)]
    return CliRunner().invoke(app, given, env={"COLUMNS": "120"})


def test_one_run_is_too_few(before):
    result = invoke(before.folder)
    assert isinstance(result.exception, InputError)
    assert str(result.exception) == ("You gave 1 run. Give two or more to compare.")


def test_a_run_is_not_compared_with_itself(before):
    result = invoke(before.folder, before.folder)
    assert isinstance(result.exception, InputError)
    assert str(result.exception) == (
        f"You gave the same run twice: {before.folder}. Give two different runs."
    )


def test_the_command_shows_one_screen(before, after, found):
    result = invoke(before.folder, after.folder)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == f"{before.folder.name} → {after.folder.name}"
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    for one in change_results([*found.values()]):
        (row,) = (line for line in lines if line.startswith(f"  {one.glyph} {one.instrument} "))
        assert f" {one.verdict} " in row
        assert one.finding.value in row
        assert one.finding.short in " ".join(" ".join(lines).split())
    top = lines[lines.index("Changed most") + 1 :]
    assert len(top) == 5
    assert all(re.search(r" → [−\d.]+$", line) for line in top)
    assert result.stderr.startswith("More: --output FILE.html")


def test_a_change_has_the_verdict_and_caveats_of_the_page_everywhere(before, after, found):
    told = {
        one["instrument"]: one
        for one in json.loads(invoke(before.folder, after.folder, "--json").stdout)
    }
    for one in change_results([*found.values()]):
        assert told[one.instrument]["verdict"] == one.verdict
        assert told[one.instrument]["caveats"] == [note.id for note in one.finding.caveats]
    items = Interaction(sd=1.0, statistic=9.0, p=0.001, changes={"a": 0.1, "b": 0.2})
    (sure,) = change_results([replace(found["social-distance"], by_item=items)])
    assert [note.id for note in sure.finding.caveats] == ["items-differ"]


def test_a_pull_request_sees_five_rows(before, after, found, tmp_path):
    result = invoke(before.folder, after.folder, "--output", tmp_path / "x.md")
    assert result.exit_code == 0
    text = (tmp_path / "x.md").read_text(encoding="utf-8")
    seen = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
    rows = [line for line in seen.splitlines() if line.startswith("|")]
    assert len(rows) - 2 == min(5, len(found)) == 4
    several = replace(found["social-distance"], reference=before.folder)
    many = as_markdown([replace(several, instrument=f"scale-{n}") for n in range(8)])
    seen = re.sub(r"<details>.*?</details>", "", many, flags=re.DOTALL)
    assert sum(line.startswith("| ") for line in seen.splitlines()) - 2 == 5
    assert all(f"| scale-{n} |" in many for n in range(8))
    assert len(text) < 60_000


def test_the_top_rows_are_those_that_matter_most(found):
    rows = top_of([*found.values()], most=1000)
    sizes = [
        (direction(row) == 0, -abs(row["difference"]) / row["margin"])
        for one in found.values()
        for row in conditions_of(one)
        if row["difference"]
    ]
    assert len(rows) == len(sizes)
    changes = [abs(float(row["change"].split(" ")[0].replace("−", "-"))) for row in rows]
    clear = sum(not is_unclear for is_unclear, _ in sizes)
    # All instruments here have the same smallest difference.
    for part in (changes[:clear], changes[clear:]):
        assert part == sorted(part, reverse=True)
    assert len(top_of([*found.values()])) == 10


def test_of_two_equal_runs_nothing_changed(before, tmp_path):
    same = shutil.copytree(before.folder, tmp_path / "same")
    result = invoke(before.folder, same)
    assert result.stdout.count("No change: every answer has the same score.") == 4
    assert "Changed most" not in result.stdout


def test_conditions_are_compared_over_items_and_wordings(before, after, found):
    values = paired_prompts(before, after, "social-distance", "negative")
    rows = {row["condition"]: row for row in conditions_of(found["social-distance"])}
    assert len(rows) == 12
    assert [*rows] == sorted(rows, key=lambda name: -rows[name]["difference"])
    for group in ("stigmatized", "non-stigmatized"):
        names = sorted({what[0] for what in values if what[1] == group})
        changes = cells(values, group, 1) - cells(values, group, 0)
        for name, table in zip(names, changes, strict=True):
            row = rows[name]
            assert row["group"] == group
            assert math.isclose(row["difference"], table.mean(), abs_tol=1e-12)
            assert math.isclose(row["p"], crossed_p(table), rel_tol=1e-9)
            assert row["family_size"] == 12


def test_the_headings_are_the_runs_own_and_not_corrected(before, after, found):
    for name, one in found.items():
        row = one.headline
        assert row["family"].startswith("change of primary")
        assert (row["family_size"], row["p_adjusted"]) == (1, row["p"])
        assert math.isclose(one.headline["difference"], one.sides[1] - one.sides[0], abs_tol=1e-12)
        if name == "social-distance":
            continue  # a few of its prompts have no value in one run
        for side, run in zip(one.sides, (before, after), strict=True):
            own = run.estimates.filter(family="primary", instrument=name).row(0, named=True)
            assert math.isclose(side, own["difference"], abs_tol=1e-12)


def test_the_change_of_the_gap_is_compared_between_items(before, after, found):
    values = paired_prompts(before, after, "social-distance", "negative")
    every = {one: (one,) for of in FAMILIES.values() for one in of}
    changes = [
        (cells(values, group, 1, every) - cells(values, group, 0, every)).mean(axis=(0, 2))
        for group in ("stigmatized", "non-stigmatized")
    ]
    one = found["social-distance"]
    assert [*one.by_item.changes.values()] == pytest.approx(changes[0] - changes[1])
    assert one.by_item.p > 0.05
    assert "item" not in change_sentences(one).head
    sure = replace(one, by_item=replace(one.by_item, sd=0.03, p=0.001))
    assert change_sentences(sure).head.endswith("But the change differs from item to item")
    sentence = change_sentences(sure).items
    assert sentence.startswith("The change of the gap differs from item to item (σ = 0.030, p")
    assert "Compare the items one by one." in sentence


def test_the_gate_knows_no_changes_of_single_conditions(before, after):
    result = CliRunner().invoke(
        app, ["check", str(after.folder), "--baseline", str(before.folder), "--list"]
    )
    assert result.exit_code == 0
    assert ".change" in result.stdout
    assert "conditions" not in result.stdout.partition("A name alone")[0]


def test_json_and_files_have_the_same_numbers(before, after, found, tmp_path):
    result = invoke(before.folder, after.folder, "--json", "--output", tmp_path / "all.csv")
    told = json.loads(result.stdout)
    assert [one["instrument"] for one in told] == list(found)
    for one in told:
        assert one["estimates"] == found[one["instrument"]].estimates.to_dicts()
        assert one["compared"] is True
    with (tmp_path / "all.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    wanted = [row for one in found.values() for row in one.estimates.to_dicts()]
    assert len(rows) == len(wanted)
    for row, estimate in zip(rows, wanted, strict=True):
        for name in ("difference", "low", "high", "p", "p_adjusted", "effect"):
            assert (row[name] or None) == (None if estimate[name] is None else repr(estimate[name]))
    alone = (before.folder, after.folder, "--model", "tone")
    for ending in (".md", ".tex", ".json"):
        assert invoke(*alone, "--output", tmp_path / f"x{ending}").exit_code == 0
    assert json.loads((tmp_path / "x.json").read_text()) == json.loads(
        invoke(*alone, "--json").stdout
    )


def test_a_file_of_another_kind_is_refused_before_any_run_is_read(tmp_path):
    nowhere = (tmp_path / "a", tmp_path / "b")
    result = invoke(*nowhere, "--output", tmp_path / "x.xlsx")
    assert str(result.exception) == (
        f"--output is {tmp_path / 'x.xlsx'}. Its name must end in .html or .json or .csv or .md or "
        ".tex."
    )


def test_three_runs_are_compared_with_the_first(tmp_path_factory, before, after):
    again = read_run(run_of(tmp_path_factory, "before"))
    compared = compare([after, before, again], models=["tone"])
    pairs = {(one.reference, one.run) for one in compared}
    assert pairs == {(after.folder, before.folder), (after.folder, again.folder)}
