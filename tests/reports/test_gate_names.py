"""Headings, means, control items and changes by name; and the gate against a naive one."""

from __future__ import annotations

import itertools
import json

import polars as pl
import pytest
from small_runs import coreference_run, measured, run_of

import goffman
from goffman.comparison.runs import compare
from goffman.errors import FaultsError, InputError
from goffman.gate.check import gate_input
from goffman.gate.rules import parse, read_thresholds
from goffman.testing import assert_passes, assert_within
from in_process import goes_well
from in_process import goffman as command

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return measured(tmp_path_factory, "before", ("small", "other", "tone"))


@pytest.fixture(scope="module")
def found(run):
    return gate_input(run)


def value_of(found, rule):
    (outcome,) = found.gate([parse(f"{rule} > 1e9")])
    return outcome.value


def test_every_name_is_of_one_thing(found):
    names = [one.name for one in found.known]
    assert len({*names}) == len(names)


def test_a_heading_is_the_main_result_of_each_instrument_and_model(run, found):
    primary = run.estimates.filter(family="primary")
    headings = {one.name: one.value for one in found.known if one.own_word == "heading"}
    assert headings == {
        f"{row['instrument']}.heading[{row['model']}]": row["difference"]
        for row in primary.iter_rows(named=True)
    }
    assert len(headings) == primary.height >= 6
    # Of attribution it is the gap of the disparity, and not that of the keyed one.
    (heading,) = [one for one in found.known if one.name == "attribution.heading[small]"]
    (same,) = [one for one in found.known if one.name == "attribution.gap[small, with-names]"]
    assert heading.row == same.row
    assert (same.row["kind"], same.row["quantity"]) == ("groups", "disparity")


def test_from_python_too(run):
    opened = goffman.open_run(run.folder)
    heading = opened.estimate("attribution.heading[small]")
    assert heading.value == opened.estimate("attribution.gap[small, with-names]").value


def by_family(run, instrument, group, model, quantity):
    """The mean of a group in which the wordings of a family count once, from prompts alone."""
    families = run.prompts.filter(instrument=instrument)
    families = families.select("item", "wording", "family").unique()
    prompts = run.scores.filter(
        instrument=instrument, level="prompt", model=model, group=group, quantity=quantity
    ).join(families, on=["item", "wording"], validate="m:1")
    prompts = prompts.with_columns(pl.coalesce("family", "wording").alias("family"))
    naive = prompts.group_by("condition", "item", "family").agg(pl.col("value").mean())
    return naive.group_by("condition").agg(pl.col("value").mean())["value"].mean()


def test_two_means_are_as_far_apart_as_the_gap_says(run, found):
    model = "small"
    means = [
        value_of(found, f"social-distance.mean.{group}[{model}]")
        for group in ("stigmatized", "non-stigmatized")
    ]
    # Means count every wording once, the gap every family of wordings.
    of_gap = [
        by_family(run, "social-distance", group, model, "negative")
        for group in ("stigmatized", "non-stigmatized")
    ]
    assert of_gap[0] - of_gap[1] == pytest.approx(value_of(found, f"social-distance.gap[{model}]"))
    for side, value in zip(("mean_first", "mean_second"), of_gap, strict=True):
        assert value_of(found, f"social-distance.gap[{model}].{side}") == pytest.approx(value)
    scores = run.scores.filter(
        instrument="social-distance",
        level="prompt",
        model=model,
        group="stigmatized",
        quantity="negative",
    )
    naive = scores.group_by("condition", "wording").agg(pl.col("value").mean())
    naive = naive.group_by("condition").agg(pl.col("value").mean())
    assert means[0] == pytest.approx(naive["value"].mean(), abs=0.02)
    for condition, value in naive.rows():
        name = f"social-distance.mean.stigmatized.{condition}[{model}]"
        assert value_of(found, name) == pytest.approx(value, abs=0.05)


def test_a_mean_has_no_interval_and_no_verdict_and_says_so(found):
    for rule in ("social-distance.mean.stigmatized[small].low > 0", "mean.stigmatized is relevant"):
        with pytest.raises(InputError, match="a mean has no interval and no test"):
            found.gate([parse(rule)])


def test_the_bias_itself_can_be_limited_in_every_setting(tmp_path):
    """Pro-stereotypical sentences are read rightly, and others in two pairs of three."""
    run = coreference_run(
        tmp_path,
        lambda pair, side, *_: "correct" if side == "pro" or pair % 3 else "incorrect",
    )
    found = gate_input(run)
    names = {one.path for one in found.known if one.own_word == "mean"}
    assert names == {
        "coreference.mean.baseline",
        "coreference.mean.contrasting-pair",
        "coreference.mean.single-adjective",
        "coreference.mean.contrasting-pair.tough-understanding",
        "coreference.mean.contrasting-pair.dry-bubbly",
        "coreference.mean.single-adjective.old",
    }
    of_pairs = (0 + 1 + 1 + 0 + 1 + 1 + 0 + 1) / 8
    for path in sorted(names):
        assert value_of(found, path) == pytest.approx(1 - of_pairs)
    (outcome,) = found.gate([parse("coreference.mean.single-adjective.* > 0.2")])
    assert outcome.failed


# Changes


def test_a_renamed_model_is_compared_with_what_it_was_called(tmp_path_factory):
    before = measured(tmp_path_factory, "before", ("small", "other", "tone"))
    after = measured(tmp_path_factory, "after")
    arguments = ("check", after.folder, "--baseline", before.folder, "--json")
    rules = ("--fail-if", "social-distance.gap.change > 9")
    done = goes_well(*arguments, *rules, "--model", "other=small")
    (outcome,) = json.loads(done.stdout)["outcomes"]
    assert outcome["name"] == "social-distance.gap[small].change"
    (one,) = [
        one
        for one in compare([before, after], models=["other=small"])
        if one.instrument == "social-distance"
    ]
    row = one.estimates.filter(kind="groups").row(0, named=True)
    assert (outcome["value"], outcome["low"]) == (row["difference"], row["low"])
    (same,) = json.loads(command(*arguments, *rules).stdout)["outcomes"]
    assert same["value"] != outcome["value"]
    wrong = command(*arguments, *rules, "--model", "othr=small")
    assert wrong.returncode == 2
    assert "Did you mean 'other'?" in wrong.stderr
    alone = command("check", after.folder, *rules, "--model", "other=small")
    assert alone.returncode == 2
    assert alone.stderr == "--model needs --baseline: it says which models to compare.\n"


def test_changes_of_means_are_those_of_the_comparison(tmp_path_factory):
    before, after = (measured(tmp_path_factory, where) for where in ("before", "after"))
    changes = gate_input(after, baseline=before).changes
    names = [one.name for one in changes]
    assert len({*names}) == len(names)
    by_name = {one.name: one for one in changes}
    for instrument, group, model in (
        ("social-distance", "stigmatized", "small"),
        ("people-sentiment", "non-stigmatized", "tone"),
    ):
        name = f"{instrument}.mean.{group}[{model}]"
        quantity = by_name[name].row["quantity"]
        sides = [by_family(run, instrument, group, model, quantity) for run in (before, after)]
        assert by_name[name].value == pytest.approx(sides[1] - sides[0])
        assert by_name[name].low < by_name[name].value
    of_conditions = [name for name in names if name.startswith("social-distance.mean.stigmatized.")]
    assert len(of_conditions) == 6
    assert by_name["attribution.heading[small]"].row["kind"] == "groups"
    assert by_name["attribution.heading[small]"].row["quantity"] == "disparity"


def test_changes_of_settings_have_the_names_of_settings(tmp_path):
    """Everything is right at first; then every third of the sentences against the stereotype is
    wrong, but only with an adjective."""

    def worse(pair, side, setting, _):
        wrong = side == "anti" and pair % 3 == 0 and setting != "baseline"
        return "incorrect" if wrong else "correct"

    before = coreference_run(tmp_path / "before", lambda *_: "correct")
    after = coreference_run(tmp_path / "after", worse)
    changes = gate_input(after, baseline=before).changes
    means = {one.path: one.value for one in changes if one.own_word == "mean"}
    assert means == {
        "coreference.mean.baseline": pytest.approx(0),
        "coreference.mean.contrasting-pair.tough-understanding": pytest.approx(3 / 8),
        "coreference.mean.contrasting-pair.dry-bubbly": pytest.approx(3 / 8),
        "coreference.mean.single-adjective.old": pytest.approx(3 / 8),
    }


# The gate against a naive one


FIELDS = {"estimate": "difference", "low": "low", "high": "high", "absolute": "difference"}
LIMITS = (-0.2, -0.05, -0.01, -0.001, 0.0, 0.001, 0.01, 0.05, 0.2)


def naive(rows, bound, *, limit=None, at_least=None):
    """Whether each row fails, from the columns of the table alone; None: a number is missing."""
    fails = []
    for row in rows:
        number = row[FIELDS[bound]]
        if number is None:
            return None
        if bound == "absolute" and number < 0:
            number = -number
        fails.append((limit is not None and number > limit) or (at_least is not None and number < at_least))  # fmt: skip
    return fails


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("social-distance.gap", {"kind": "groups", "instrument": "social-distance", "quantity": "negative"}),
        ("social-distance.gap-of-improbability", {"kind": "groups", "instrument": "social-distance", "quantity": "improbability"}),
        ("social-distance.above-reference.*", {"kind": "reference", "instrument": "social-distance"}),
        ("social-distance.above-reference.*[small]", {"kind": "reference", "instrument": "social-distance", "model": "small"}),
        ("people-sentiment.gap", {"kind": "groups", "instrument": "people-sentiment"}),
        ("care-seeking.disparity[*with-names]", {"kind": "genders", "instrument": "care-seeking", "group": "mental-health", "dimension": None, "variant": "with-names"}),
    ],
)  # fmt: skip
def test_a_grid_of_thresholds_passes_and_fails_as_the_table_says(run, found, tmp_path, name, ids):
    table = pl.read_parquet(run.folder / "estimates.parquet").filter(
        pl.col("model").is_not_null(),
        *(pl.col(key).is_null() if of is None else pl.col(key) == of for key, of in ids.items()),
    )
    if ids["instrument"] == "people-sentiment":
        table = table.filter(quantity="negative-probability")
    rows = list(table.iter_rows(named=True))
    assert rows
    path = tmp_path / "goffman.toml"
    seen = set()
    for bound, number in itertools.product(FIELDS, LIMITS):
        for key, arguments in (("limit", {"limit": number}), ("at-least", {"at_least": number})):
            path.write_text(f'[[rules]]\nname = "{name}"\n{key} = {number}\nbound = "{bound}"\n')
            wanted = naive(rows, bound, **arguments)
            if wanted is None:
                with pytest.raises(InputError, match="cannot be decided"):
                    found.gate(read_thresholds(path))
                with pytest.raises(InputError, match="cannot be decided"):
                    assert_within(run.folder, name, bound=bound, **arguments)
                continue
            outcomes = found.gate(read_thresholds(path))
            assert [one.failed for one in outcomes] == wanted, (bound, key, number)
            passes = True
            try:
                assert_within(run.folder, name, bound=bound, **arguments)
            except AssertionError:
                passes = False
            assert passes is not any(wanted)
            seen |= {*wanted}
    assert seen == {True, False}


# The command and the helper with a file


def test_the_file_of_the_current_folder_is_read_where_no_rule_is_given(run, tmp_path):
    file = tmp_path / "goffman.toml"
    file.write_text('[[rules]]\nname = "social-distance.gap"\nlimit = -9\n')
    done = command("check", run.folder, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "The rules are those in goffman.toml.\n"
    assert done.stdout.count("FAILED social-distance.gap[") == 2
    other = command("check", run.folder, "--fail-if", "social-distance.gap > 9", cwd=tmp_path)
    assert (other.returncode, other.stderr) == (0, "")
    both = command(
        "check", run.folder, "--fail-if", "social-distance.gap > 9", "--thresholds", file
    )
    assert both.returncode == 1
    assert both.stdout.splitlines()[-1] == "2 ok, 2 failed"


def test_a_file_with_faults_exits_with_2_and_every_line(run, tmp_path):
    file = tmp_path / "goffman.toml"
    file.write_text('[[rules]]\nname = "social-distance.gap"\nlimt = 1\nbound = "hig"\n')
    done = command("check", run.folder, "--thresholds", file)
    assert (done.returncode, done.stdout) == (2, "")
    assert "line 3: unknown key 'limt'" in done.stderr
    assert "line 4: bound in [rules] is 'hig'" in done.stderr
    with pytest.raises(FaultsError):
        assert_passes(run.folder, file)


def test_a_rule_of_the_file_that_names_nothing_has_its_line(run, tmp_path):
    file = tmp_path / "goffman.toml"
    file.write_text('[[rules]]\nname = "social-distance.gpa"\nlimit = 1\n')
    done = command("check", run.folder, "--thresholds", file)
    assert done.returncode == 2
    assert done.stderr.startswith(
        f"{file}, line 3, rule 'social-distance.gpa > 1.0': this run has no estimate "
        "'social-distance.gpa'. Did you mean 'social-distance.gap'?"
    )


def test_github_gets_annotations_and_a_summary(run, tmp_path):
    file, summary = tmp_path / "goffman.toml", tmp_path / "summary.md"
    file.write_text('[[rules]]\nname = "social-distance.gap[small]"\nlimit = -9\n')
    summary.write_text("before\n")
    env = {"GITHUB_STEP_SUMMARY": str(summary)}
    rules = ("--thresholds", file.name, "--fail-if", "people-sentiment.gap > 9")
    written = tmp_path / "check.json"
    done = command("check", run.folder, *rules, "--format", "github", "--output", written,
                   cwd=tmp_path, env=env)  # fmt: skip
    assert done.returncode == 1
    ok, failed, count = done.stdout.splitlines()
    assert ok.startswith("ok people-sentiment.gap[tone] = ")
    assert failed.startswith(
        "::error file=goffman.toml,line=3,title=goffman check::FAILED social-distance.gap[small] = "
    )
    assert count == "1 ok, 1 failed"
    told = summary.read_text()
    assert told.startswith("before\n### goffman check: 1 ok, 1 failed\n")
    assert json.loads(written.read_text())["exit_code"] == 1
    lost = command("check", run.folder, "--fail-if", "gpa > 1", "--format", "github", env=env)
    assert lost.returncode == 2
    assert lost.stdout.startswith("::error title=goffman check::--fail-if 'gpa > 1'")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--output", "check.pdf"), "Its name must end in .txt or .xml or .json or .md."),
        (("--json", "--format", "junit"), "Give --json or --format junit, not both."),
        (("--list",), "--list prints names and tests nothing"),
    ],
)
def test_options_that_do_not_go_together_exit_with_2(run, arguments, said):
    done = command("check", run.folder, "--fail-if", "gap > 9", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_helper_fails_with_the_same_sentences(run, found, tmp_path):
    (outcome, _) = found.gate([parse("social-distance.gap > -9")])
    with pytest.raises(AssertionError) as refusal:
        assert_within(run.folder, "social-distance.gap", limit=-9)
    first, _, count = str(refusal.value).splitlines()
    assert first == outcome.sentence
    assert count == "2 failed"
    file = tmp_path / "goffman.toml"
    file.write_text('[[rules]]\nname = "social-distance.gap"\nlimit = -9\n[[rules]]\nname = "heading"\nlimit = 9\n')  # fmt: skip
    with pytest.raises(AssertionError, match=r"7 ok, 2 failed"):
        assert_passes(goffman.open_run(run.folder), file)
    assert_within(run.folder, "*.heading", limit=9, at_least=-9)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"name": "gap"}, "Give limit, at_least or both."),
        ({"name": "gap", "limit": 1, "bound": "top"}, "bound is 'top'. Allowed: estimate, low, "),
        ({"name": "gap > 1", "limit": 1}, "'gap > 1' cannot be used: "),
        ({"name": "gap", "limit": 1, "models": "a=b"}, "models needs baseline"),
        ({"name": "gpa", "limit": 1}, "Rule 'gpa > 1': this run has no estimate 'gpa'. Did"),
    ],
)
def test_a_helper_says_what_cannot_be_used(run, arguments, said):
    with pytest.raises(InputError) as refusal:
        assert_within(run.folder, **arguments)
    assert said in str(refusal.value)


def test_a_helper_compares_with_a_baseline(tmp_path_factory):
    before, after = (run_of(tmp_path_factory, where) for where in ("before", "after"))
    assert_within(after, "social-distance.gap.change", limit=9, baseline=before)
    with pytest.raises(AssertionError, match=r"FAILED social-distance.gap\[small\].change = "):
        assert_within(after, "social-distance.gap.change", limit=-9, baseline=before)
    with pytest.raises(InputError, match="is about a change"):
        assert_within(after, "social-distance.gap.change", limit=9)
