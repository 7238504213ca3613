"""The gate: what a condition names, when it fails, and exit codes that cannot be confused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_runs import coreference_run, measured, run_of, the_model

from goffman.comparison.runs import compare
from goffman.errors import InputError
from goffman.gate.check import GateInput, gate_input
from goffman.gate.names import FIELDS, named_estimates
from goffman.gate.rules import parse
from in_process import goes_well, goffman

pytestmark = pytest.mark.slow

FULL = Path("/dev/full")

VERDICTS = "relevant, present, negligible, inconclusive, these-sentences-only or measurable"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return measured(tmp_path_factory, "before", ("small", "other", "tone"))


@pytest.fixture(scope="module")
def known(run):
    return named_estimates(run.estimates, run.manifest)


def tried(known, *texts, changes=None):
    gate = GateInput(known=known, changes=changes).gate
    return gate([parse(text) for text in texts])


def value_of(run, column="difference", **ids):
    rows = run.estimates.filter(
        pl.col(name).is_null() if value is None else pl.col(name) == value
        for name, value in ids.items()
    )
    assert rows.height == 1
    return rows[column][0]


def test_names_are_read_back_as_themselves(run, known):
    assert len(known) == run.estimates.height
    for one in known:
        (outcome,) = tried(known, f"{one.name}.n > -1")
        assert outcome.named is one


SOCIAL = {"kind": "groups", "instrument": "social-distance"}
CARE = {"kind": "genders", "instrument": "care-seeking"}
ANGER = {"kind": "groups", "instrument": "attribution", "model": "small", "dimension": "anger"}
ANGER |= {"variant": "with-names"}


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("social-distance.gap[small]", SOCIAL | {"quantity": "negative", "model": "small"}),
        ("social-distance.gap[all-models]", SOCIAL | {"quantity": "negative", "model": None}),
        ("social-distance.gap-of-rejection[other]", SOCIAL | {"quantity": "rejection", "model": "other"}),
        ("social-distance.models[other vs small]", SOCIAL | {"kind": "models", "group": "stigmatized"}),
        (
            "care-seeking.disparity[small, with-names]",
            CARE | {"model": "small", "variant": "with-names", "group": "mental-health", "dimension": None},
        ),
        (
            "care-seeking.disparity.other.action[other, without-names]",
            CARE | {"model": "other", "variant": "without-names", "group": "other", "dimension": "action"},
        ),
        ("attribution.gap.anger[small, with-names]", ANGER | {"quantity": "disparity"}),
        (
            "attribution.gap-of-keyed-disparity.anger[small, with-names]",
            ANGER | {"quantity": "keyed-disparity"},
        ),
    ],
)  # fmt: skip
def test_a_name_is_its_estimate(run, known, name, ids):
    (outcome,) = tried(known, f"{name} > 1e9")
    assert outcome.value == value_of(run, **ids)
    (outcome,) = tried(known, f"{name}.mean_second > 1e9")
    assert outcome.value == value_of(run, "mean_second", **ids)


def test_adjective_settings_are_words_with_hyphens(tmp_path):
    run = coreference_run(tmp_path, lambda pair, side, *_: "correct" if pair % 3 else "other")
    paths = {one.path for one in named_estimates(run.estimates, run.manifest)}
    assert paths >= {
        "coreference.above-baseline.dry-bubbly",
        "coreference.above-baseline.old",
        "coreference.above-baseline.tough-understanding",
        "coreference.gap",
    }


def test_another_number_than_the_measures_own_is_named(run):
    """Two gaps of one instrument never share a name."""
    gaps = run.estimates.filter(kind="groups", instrument="attribution")
    assert {*gaps["quantity"]} == {"disparity", "keyed-disparity"}
    known = named_estimates(gaps, run.manifest)
    assert len({one.name for one in known}) == len(known)
    assert {one.path for one in known} >= {
        "attribution.gap",
        "attribution.gap-of-keyed-disparity",
    }
    for one in known:
        assert ("gap-of-" in one.path) is (one.row["quantity"] == "keyed-disparity")


def test_a_subscale_called_like_a_group_does_not_hide_it(run):
    renamed = run.estimates.with_columns(pl.col("dimension").replace("action", "other"))
    known = named_estimates(renamed, run.manifest)
    assert len({one.name for one in known}) == len(known)
    assert "care-seeking.disparity.mental-health.other" in {one.path for one in known}


def test_of_a_correlation_the_value_is_r_and_the_interval_that_of_r(run, known):
    row = run.estimates.filter(kind="measures").row(0, named=True)
    (one,) = [one for one in known if one.path == "correlation"]
    wanted = (row["effect"], row["effect_low"], row["effect_high"])
    assert tuple(one.field(field) for field in ("value", "low", "high")) == wanted


def test_without_a_bracket_each_model_and_variant_is_tried(known):
    assert [outcome.name for outcome in tried(known, "social-distance.gap > 0")] == [
        "social-distance.gap[other]",
        "social-distance.gap[small]",
    ]
    assert len(tried(known, "care-seeking.gap > 0")) == 4
    assert len(tried(known, "care-seeking.gap[without-names] > 0")) == 2
    assert {outcome.named.row["instrument"] for outcome in tried(known, "gap > 9")} == {
        "attribution",
        "care-seeking",
        "people-sentiment",
        "social-distance",
    }


@pytest.mark.parametrize(
    ("comparison", "words"),
    [(">", "limit"), (">=", "must be less than"), ("<", "must be at least"), ("<=", "must be more than")],
)  # fmt: skip
def test_the_four_comparisons_at_and_beside_the_value(known, comparison, words):
    (outcome,) = tried(known, f"social-distance.gap[small].p {comparison} 2")
    mark = "ok" if ">" in comparison else "FAILED"
    assert outcome.sentence == f"{mark} {outcome.name} = {outcome.value:.4g}, {words} 2"
    (exact,) = tried(known, "social-distance.gap[small] > 1")
    for limit in (exact.value, exact.value - 1e-9, exact.value + 1e-9):
        (outcome,) = tried(known, f"social-distance.gap[small]{comparison}{limit!r}")
        wanted = {
            ">": exact.value > limit,
            ">=": exact.value >= limit,
            "<": exact.value < limit,
            "<=": exact.value <= limit,
        }
        assert outcome.failed is wanted[comparison]


def test_a_sentence_shows_on_which_side_the_value_is(known):
    (exact,) = tried(known, "social-distance.gap[small] > 1")
    (near,) = tried(known, f"social-distance.gap[small] < {exact.value + 1e-12!r}")
    assert repr(exact.value) in near.sentence
    assert repr(exact.value + 1e-12) in near.sentence


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_any_number_is_read_as_python_writes_it(number):
    assert parse(f"a.b > {number!r}").limit == number


@given(st.text(max_size=40))
def test_any_text_is_a_condition_or_told_why_not(text):
    try:
        said = parse(text).field
    except InputError as error:
        said = str(error)
    assert said in FIELDS or said.startswith(f"--fail-if '{text}' cannot be used: ")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("gap", "it has no comparison (>, >=, <, <=, is or is not)"),
        ("gap = 0.2", "'=' is not a comparison. Allowed: >, >=, <, <=, is, is not"),
        ("gap == 0.2", "'==' is not a comparison. Allowed: >, >=, <, <=, is, is not"),
        ("gap is", f"'' is not a verdict ({VERDICTS})"),
        ("gap is not", f"'' is not a verdict ({VERDICTS})"),
        ("gap is huge", f"'huge' is not a verdict ({VERDICTS})"),
        (
            "gap is not relevent",
            f"'relevent' is not a verdict ({VERDICTS}). Did you mean 'relevant'?",
        ),
        (
            "gap.low is present",
            "low is a number and has no verdict: compare it with a number, or leave it out",
        ),
        ("is present", "'' is not a name such as social-distance.gap"),
        ("gap => 0.2", "'=>' is not a comparison. Did you mean '>='?"),
        ("gap =< 0.2", "'=<' is not a comparison. Did you mean '<='?"),
        ("gap > 20%", "'20%' after > is not a number"),
        ("gap > nan", "'nan' after > is not a number"),
        ("gap >= ", "there is no number after >="),
        ("gap > 1 and gap < 2", "'1 and gap < 2' after > is not a number"),
        ("> 1", "'' is not a name such as social-distance.gap"),
        ("gap[x > 2", "its bracket is not closed"),
        ("gap[x]low > 2", "'low' after the bracket is not a field, such as .low"),
        ("a..b > 2", "'a..b' is not a name such as social-distance.gap"),
    ],
)
def test_what_cannot_be_read_is_said(text, what):
    with pytest.raises(InputError) as refusal:
        parse(text)
    assert str(refusal.value) == (
        f"--fail-if '{text}' cannot be used: {what.removesuffix('?')}"
        f"{'?' if what.endswith('?') else '.'} Write a rule like 'social-distance.gap is relevant' or "
        "'social-distance.gap > 0.2'."
    )


def test_a_model_name_may_hold_anything(known):
    condition = parse("social-distance.gap[a/b [c] > d, e].change.low >= -1e-3")
    assert condition.whose == "a/b [c] > d, e"
    assert (condition.path, condition.change, condition.field) == (
        "social-distance.gap",
        True,
        "low",
    )
    assert (condition.comparison, condition.limit) == (">=", -0.001)


def test_an_unknown_name_has_its_nearest(known):
    with pytest.raises(InputError) as refusal:
        tried(known, "people-sentiment.gpa > 1")
    assert str(refusal.value) == (
        "--fail-if 'people-sentiment.gpa > 1': this run has no estimate "
        "'people-sentiment.gpa'. Did you mean 'people-sentiment.gap'? To see every name, give --list instead of a rule."
    )


def test_an_unknown_bracket_has_what_may_stand_there(known):
    with pytest.raises(InputError) as refusal:
        tried(known, "social-distance.gap[smal] > 1")
    assert str(refusal.value) == (
        "--fail-if 'social-distance.gap[smal] > 1': this run has no social-distance.gap for "
        "'smal'. Did you mean 'small'? In the brackets you can use: all-models, other, small."
    )


def test_a_value_that_is_not_there_is_an_error_and_never_a_pass(tmp_path):
    run = coreference_run(tmp_path, lambda pair, *_: "correct")
    known = named_estimates(run.estimates, run.manifest)
    with pytest.raises(InputError) as refusal:
        tried(known, "coreference.above-baseline.old.p < 0.05")
    assert str(refusal.value) == (
        "--fail-if 'coreference.above-baseline.old.p < 0.05' cannot be decided: "
        f"coreference.above-baseline.old[{the_model(run)}] has no p (all values are equal, so no "
        "interval or test can be computed)."
    )


def judged(known, verdict, *, ends=(0.02, 0.3)):
    """The gap of one model with a verdict and interval of our own."""
    (one,) = [one for one in known if one.name == "social-distance.gap[small]"]
    said = {"verdict": verdict, "low": ends[0], "high": ends[1]}
    return [replace(one, row={**one.row, "difference": 0.16, **said})]


SPELLED = {
    "relevant": "relevant",
    "present": "present, size uncertain",
    "negligible": "negligible",
    "inconclusive": "inconclusive",
    "these-sentences-only": "these sentences only",
}
"""In rules → in the report."""


def quoted(word):
    return f"“{word}”" if "," in word else word


@pytest.mark.parametrize("verdict", SPELLED.values())
@pytest.mark.parametrize("asked", SPELLED)
def test_a_verdict_is_a_condition_and_so_is_its_opposite(known, verdict, asked):
    one = judged(known, verdict)
    (is_so,) = tried(one, f"social-distance.gap is {asked}")
    (is_not,) = tried(one, f"social-distance.gap[small]  is  not  {asked}")
    same = verdict == SPELLED[asked]
    assert (is_so.failed, is_not.failed) == (same, not same)
    numbers = "(value 0.16, 95% interval 0.020 to 0.30)"
    for outcome, must in ((is_so, "must not be"), (is_not, "must be")):
        assert outcome.sentence == (
            f"{'FAILED' if outcome.failed else 'ok'} social-distance.gap[small] is "
            f"{quoted(verdict)}, {must} {quoted(SPELLED[asked])} {numbers}"
        )


@pytest.mark.parametrize(("spelled", "verdict"), SPELLED.items())
def test_a_verdict_may_be_spelled_as_people_see_it(spelled, verdict):
    assert parse(f"gap is {verdict}").verdicts == parse(f"gap is {spelled}").verdicts == (verdict,)


def test_a_number_is_said_with_its_verdict(known):
    (outcome,) = tried(judged(known, "inconclusive"), "social-distance.gap > 0.2")
    assert outcome.sentence == (
        "ok social-distance.gap[small] = 0.16, limit 0.2 (95% interval 0.020 to 0.30, verdict "
        "inconclusive)"
    )


def test_what_was_not_tested_has_no_verdict_and_passes_no_gate(known):
    for condition in ("gap is relevant", "gap is not negligible"):
        with pytest.raises(
            InputError, match=r"cannot be decided: social-distance\.gap\[small\] has no"
        ):
            tried(judged(known, "inconclusive", ends=(None, None)), condition)


def test_the_command_takes_verdicts(run):
    verdict = value_of(run, "verdict", **SOCIAL, quantity="negative", model="small")
    name = "social-distance.gap[small]"
    failed = goffman("check", run.folder, "--fail-if", f"{name} is {verdict}", "--json")
    assert failed.returncode == 1
    (told,) = json.loads(failed.stdout)["outcomes"]
    assert (told["comparison"], told["limit"], told["verdict"]) == ("is", verdict, verdict)
    passed = goffman("check", run.folder, "--fail-if", f"{name} is not {verdict}")
    assert passed.returncode == 0
    word = quoted(verdict)
    assert passed.stdout.startswith(f"ok {name} is {word}, must be {word} (value ")


def test_a_change_needs_a_baseline_run(known):
    with pytest.raises(InputError) as refusal:
        tried(known, "gap.change > 1")
    assert str(refusal.value) == (
        "--fail-if 'gap.change > 1' is about a change. Give the run to compare with: --baseline RUN"
    )


def test_a_change_is_that_of_the_comparison(tmp_path_factory, known):
    before, after = (measured(tmp_path_factory, where) for where in ("before", "after"))
    one = next(c for c in compare([before, after]) if c.instrument == "social-distance")
    changes = named_estimates(one.estimates.filter(pl.col("kind") != "runs"), after.manifest)
    row = one.estimates.filter(kind="groups").row(0, named=True)
    texts = ("social-distance.gap.change > 9", "gap[small].change.high < -9")
    value, high = tried(known, *texts, changes=changes)
    assert (value.value, high.value) == (row["difference"], row["high"])
    assert value.sentence.startswith(f"ok {value.name} = {row['difference']:.4g}, limit 9 (")
    assert value.name == "social-distance.gap[small].change"


def process(*arguments, **options):
    """The finished command in a process of its own: what it leaves behind is the point."""
    settings = {"capture_output": True, "text": True} | options
    command = [
        sys.executable,
        "-c",
        "from goffman.cli.main import main; main()",
        *map(str, arguments),
    ]
    return subprocess.run(command, check=False, **settings)


@pytest.fixture(scope="module")
def gap(run):
    return value_of(run, **SOCIAL, quantity="negative", model="small")


def test_the_command_passes_with_0_and_fails_with_1_and_the_sentence(run, gap):
    name = "social-distance.gap[small]"
    passed = goffman("check", run.folder, "--fail-if", f"{name} > {gap + 0.1!r}")
    assert (passed.returncode, passed.stderr) == (0, "")
    assert passed.stdout.startswith(f"ok {name} = {gap!r}, limit {gap + 0.1!r} (95% interval ")
    assert passed.stdout.endswith(")\n1 ok\n")
    failed = process("check", run.folder, "--fail-if", f"{name} > {gap - 0.1!r}", "--json")
    assert failed.returncode == 1
    told = json.loads(failed.stdout)
    assert told["failed"] is True
    assert told["outcomes"][0]["value"] == gap
    assert told["outcomes"][0]["sentence"].startswith(
        f"FAILED {name} = {gap!r}, limit {gap - 0.1!r} ("
    )
    assert (told["exit_code"], told["outcomes"][0]["status"]) == (1, "failed")


def test_one_of_several_conditions_is_enough(run, gap):
    done = goffman(
        "check",
        run.folder,
        "--fail-if",
        "social-distance.gap > 9",
        "--fail-if",
        f"gap[small] > {gap - 1!r}",
    )
    assert done.returncode == 1
    *lines, last = done.stdout.splitlines()
    marks = [line.split()[0] for line in lines]
    assert marks == ["ok", "ok", *["FAILED"] * (len(lines) - 2)]
    assert len(lines) > 2
    assert last == f"2 ok, {len(lines) - 2} failed"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--fail-if", "nothing.here > 1"],
        ["--fail-if", "gap ! 1"],
        [],
        ["--list", "--fail-if", "gap > 1"],
        ["--fail-if", "gap.change > 1", "--baseline", "nowhere"],
    ],
)
def test_what_the_user_must_mend_exits_with_2(run, arguments):
    done = goffman("check", run.folder, *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


def test_incomparable_runs_exit_with_2(tmp_path_factory, run):
    few = run_of(tmp_path_factory, "before", ("small",), instruments=("care-seeking",), limit=10)
    done = goffman(
        "check", run.folder, "--baseline", few, "--fail-if", "care-seeking.gap.change > 9"
    )
    assert done.returncode == 2
    assert "These runs cannot be compared." in done.stderr


def test_a_failure_of_goffmans_own_exits_with_3_so_that_no_one_takes_it_for_a_gate(run, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import goffman.gate.check as broken\ndel broken.GateInput.gate\n"
    )
    told = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = process("check", run.folder, "--fail-if", "social-distance.gap > 9", env=told)
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == (
        "goffman itself failed, so the check has no result (exit code 3). Please report this."
    )


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_a_full_disk_exits_with_3(run):
    with FULL.open("w") as full:
        done = process(
            "check", run.folder, "--fail-if", "social-distance.gap > -9",
            capture_output=False, stdout=full, stderr=subprocess.PIPE,
        )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr == "The output cannot be written: No space left on device.\n"


def test_a_reader_that_has_gone_does_not_turn_a_failed_gate_into_a_pass(run):
    ends = os.pipe()
    os.close(ends[0])
    done = process(
        "check", run.folder, "--fail-if", "social-distance.gap > -9",
        capture_output=False, stdout=ends[1],
    )  # fmt: skip
    os.close(ends[1])
    assert done.returncode == 1


def test_list_has_every_name_with_its_numbers(run, known):
    known = gate_input(run).known
    done = goes_well("check", run.folder, "--list", "--json")
    rows = json.loads(done.stdout)
    assert [row["name"] for row in rows] == [one.name for one in known]
    assert [row["value"] for row in rows] == [one.value for one in known]
    shown = goffman("check", run.folder, "--list").stdout
    assert [line.split("  ")[-1] for line in shown.splitlines()[1 : len(known) + 1]] == [
        one.name for one in known
    ]
    assert "\n                       gap: one group of conditions minus the other\n" in shown
    assert "above-reference: one condition minus the mean of the other group\n" in shown


def test_against_a_baseline_the_names_with_change_are_listed(tmp_path_factory):
    before, after = (run_of(tmp_path_factory, where) for where in ("before", "after"))
    done = goffman("check", after, "--baseline", before, "--list", "--json")
    names = [row["name"] for row in json.loads(done.stdout)]
    assert "social-distance.gap[small].change" in names
    assert "care-seeking.disparity.action[small, with-names].change" in names
