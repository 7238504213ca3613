"""A model that cannot do the task: what people and programs read of it, wherever numbers stand."""

from __future__ import annotations

import csv
import html
import json
import re
import shutil

import pytest
import torch
import transformers
import yaml

from goffman.export.lm_eval_results import lm_eval_results
from goffman.export.model_card import model_card_text
from goffman.export.paper import write_figures
from goffman.pipeline import AskOptions, audit
from goffman.presentation.competence import Competence
from goffman.presentation.findings import findings_of
from goffman.report.figures import figures_of
from goffman.report.load import read_run
from goffman.report.table_files import write_tables
from goffman.report.write import write_report
from goffman.testing import NotMeasurableError, assert_within
from in_process import goes_well, goffman
from tiny_models import make

pytestmark = pytest.mark.slow

ABLE = "bundled:mini-sentiment"
NAME = "people-sentiment"
CANNOT = (
    "Control items: constant cannot tell praise of people from blame (accuracy 0.50, 95% interval "
    "0.33 to 0.67, 28 items; at least 0.90 is needed)."
)
MARK = (
    "constant is not measurable: it cannot tell praise of people from blame (accuracy 0.50, 95% "
    "interval 0.33 to 0.67, 28 items; at least 0.90 is needed)"
)


@pytest.fixture(scope="module")
def constant(tmp_path_factory):
    """A classifier that calls everything positive."""
    folder = make("bert", tmp_path_factory.mktemp("models") / "constant", labels=("NEG", "POS"))
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor([-3.0, 3.0]))
    model.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def folder(constant, shortened, tmp_path_factory):
    run = tmp_path_factory.mktemp("both") / "run"
    audit([ABLE, constant], instruments=[str(shortened / NAME)], output=run)
    return run


@pytest.fixture(scope="module")
def written(folder):
    return write_report(folder)


def test_its_finding_is_that_and_no_number_and_the_other_model_keeps_its_own(folder):
    section = read_run(folder).sections[NAME]
    able, cannot = findings_of(section)
    assert (able.model, cannot.model) == (ABLE, "constant (not measurable)")
    assert able.difference is not None
    assert cannot.head == "Not measurable"
    assert cannot.text == (f"{CANNOT} So its other numbers mean nothing and are not stated.")
    assert (cannot.more, cannot.difference, cannot.low, cannot.high) == ((), None, None, None)
    assert section.control(ABLE).passed
    assert not section.control("constant (not measurable)").passed


def test_the_page_leads_with_it_and_marks_every_number(written):
    page = written.page.read_text(encoding="utf-8")
    first = page[page.index('<section id="stands-out"') : page.index('<section id="i-')]
    (row,) = re.findall(
        r'<span class="line"><span class="model">((?:(?!class="line").)*?)'
        r" constant \(not measurable\)</span>(.*?)</summary>",
        first,
        re.DOTALL,
    )
    assert '<span aria-hidden="true">✕</span><span class="hush">not measurable</span>' in row[0]
    assert "<svg" not in row[1]
    assert not re.search(r"\d", re.sub("<[^>]*>", "", row[1]))
    assert "(1 of 2 models)" in first
    # Why is said with the result of each model, before any section and any figure.
    able, cannot = first.split('<div class="of"><dt>')[1:]
    assert able.startswith(f"{ABLE}</dt>")
    assert f"<dt>Control items</dt><dd>{ABLE} can perhaps tell praise of people" in able
    assert cannot.startswith("constant (not measurable)</dt>")
    assert f"{CANNOT} So its other numbers mean nothing and are not stated." in cannot
    assert "<svg" not in cannot
    # The section's own line has the sign, and no number.
    said = re.search(
        r'<p class="verdict-row">((?:(?!</p>).)*constant \(not measurable\).*?)</p>',
        page,
        re.DOTALL,
    )
    assert '<span aria-hidden="true">✕</span> not measurable' in said[1]
    assert not re.search(r"\d", re.sub("<[^>]*>", "", said[1]))
    # Wherever the model stands beside a number, its name says it.
    rows = [line for line in page.splitlines() if re.search("<t[hd][^>]*>constant", line)]
    assert rows
    assert all(
        name.startswith("constant (not measurable)")
        for line in rows
        for name in re.findall("<t[hd][^>]*>(constant[^<]*)", line)
    )
    # The test of a mean over all models, which includes it, has no other verdict.
    means = [line for line in page.splitlines() if '<th scope="row">all models' in line]
    assert "<td>not measurable</td>" in means[0]
    verdicts = {re.findall("<td>([^<]*)</td>", line)[-2] for line in means}
    assert verdicts <= {"not measurable", "–"}


def test_figures_mark_it(folder, tmp_path):
    run = read_run(folder)
    written = write_figures(run, tmp_path)
    drawn = [path.read_text(encoding="utf-8") for path in written if path.suffix == ".svg"]
    assert drawn
    for text in drawn:
        # It has no row, color or point of its own, and where it is named, the name says why.
        assert ">constant" not in text
        assert "constant (not measurable)" in text
        assert not re.search(r"constant(?! \(not measurable\))", text)
    for figure in figures_of(run):
        data = json.dumps([figure.spec.get("data"), figure.spec.get("datasets")])
        assert ABLE in data, figure.id
        assert "constant" not in data, figure.id
    told = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert f"constant (not measurable): Not measurable. {CANNOT}" in told


def test_tables_have_the_score_and_mark_its_rows(folder, constant, tmp_path):
    tables = {path.name: path for path in write_tables(read_run(folder), tmp_path)}
    with tables[f"{NAME}-controls.csv"].open(newline="") as file:
        rows = {row["model"]: row for row in csv.DictReader(file)}
    assert float(rows[ABLE]["value"]) == 27 / 28
    assert rows[ABLE]["measurable"] == "yes"
    assert (rows[constant]["value"], rows[constant]["measurable"]) == ("0.5", "no")
    with tables[f"{NAME}-conditions.csv"].open(newline="") as file:
        marks = {row["model"]: row["not_measurable"] for row in csv.DictReader(file)}
    assert (marks[ABLE], marks[constant]) == ("", "yes")
    # What is over all models is in a file of its own.
    with tables[f"{NAME}-conditions-all-models.csv"].open(newline="") as file:
        assert {row["not_measurable"] for row in csv.DictReader(file)} == {"yes"}
    markdown = tables[f"{NAME}-contrasts.md"].read_text()
    assert MARK in markdown
    assert "constant (not measurable)" in markdown


def test_the_card_says_it_and_has_none_of_its_numbers(folder, constant):
    run = read_run(folder)
    text = model_card_text(run, constant)
    (entry,) = yaml.safe_load(text.split("---\n")[1])["model-index"]
    assert entry["results"] == []
    assert f"| ✕ not measurable | {NAME} | Not measurable |  |" in text
    assert "- Control items: constant cannot" in text
    able = model_card_text(run, ABLE)
    # One of 28 items is judged wrongly, so its interval includes the floor.
    assert "- Control items: bundled:mini-sentiment can perhaps tell" in able


def test_lm_eval_has_its_control_and_every_other_number_is_missing(folder, constant):
    run = read_run(folder)
    found = lm_eval_results(run, constant)
    known = run.sections[NAME].competence[constant]
    assert found["results"] == {
        NAME: {
            "alias": f"{NAME} (not measurable)",
            "control,none": 0.5,
            "control_stderr,none": pytest.approx((known.high - known.low) / (2 * 1.959964)),
        }
    }
    reasons = {*found["missing"][NAME].values()}
    assert reasons == {MARK.removeprefix("constant is ")}
    able = lm_eval_results(run, ABLE)
    assert able["results"][NAME]["control,none"] == 27 / 28
    assert able["results"][NAME]["alias"] == NAME
    assert able["higher_is_better"][NAME]["control"] is True
    assert "gap,none" in able["results"][NAME]


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        (f"gap[{ABLE}] > 5", 0),
        (f"gap[{ABLE}] < 5", 1),
        ("gap > 5", 4),
        ("gap < 5", 4),
        ("gap[CONSTANT] > 5", 4),
        (f"models[{ABLE} vs CONSTANT] > 5", 4),
    ],
)
def test_a_gate_on_it_is_not_decided_and_has_an_exit_code_of_its_own(
    folder, constant, condition, code
):
    names = goffman("check", folder, "--list", "--json")
    models = next(
        one["name"] for one in json.loads(names.stdout) if one["name"].startswith(f"{NAME}.models")
    )
    inside = models.partition("[")[2].rstrip("]")
    condition = condition.replace(f"{ABLE} vs CONSTANT", inside).replace("CONSTANT", constant)
    done = goffman("check", folder, "--fail-if", condition)
    assert done.returncode == code, done
    said = f"NOT DECIDED {NAME}."
    assert (said in done.stdout) is (code == 4)
    assert (MARK in done.stdout) is (code == 4)
    if code == 4:
        assert f"ok {NAME}.gap[{constant}]" not in done.stdout
        assert f"FAILED {NAME}.gap[{constant}]" not in done.stdout


def test_a_rule_about_control_items_is_decided(folder, constant):
    rule = f"{NAME}.controls is not measurable"
    done = goffman("check", folder, "--fail-if", rule)
    assert done.returncode == 1, done
    ok, failed, count = done.stdout.splitlines()
    assert ok == (
        f"ok {NAME}.controls[{ABLE}] is measurable, must be measurable (value 0.9643, 95% interval "
        "0.82 to 0.99)"
    )
    assert failed == (
        f"FAILED {NAME}.controls[{constant}] is not measurable, must be measurable (value 0.5, "
        "95% interval 0.33 to 0.67)"
    )
    assert count == "1 ok, 1 failed"
    assert goffman("check", folder, "--fail-if", f"*.controls[{ABLE}] < 0.9").returncode == 0
    assert goffman("check", folder, "--fail-if", f"controls[{constant}] < 0.9").returncode == 1
    # With a rule about a number of it, nothing is decided.
    both = goffman("check", folder, "--fail-if", rule, "--fail-if", f"gap[{constant}] > 5")
    assert both.returncode == 4


def test_in_python_it_is_an_error_of_its_own(folder, constant, tmp_path):
    rule = (folder, f"{NAME}.gap[{constant}]")
    with pytest.raises(NotMeasurableError) as refusal:
        assert_within(*rule, limit=5)
    assert str(refusal.value) == f"NOT DECIDED {NAME}.gap[{constant}]: {MARK}\n1 not decided"
    assert_within(folder, f"{NAME}.gap[{ABLE}]", limit=5)


def test_the_gate_s_json_and_list_carry_it(folder, constant):
    done = goffman("check", folder, "--fail-if", "gap > 5", "--json")
    assert done.returncode == 4
    found = json.loads(done.stdout)
    assert found["failed"] is False
    marks = {one["name"]: one["not_measurable"] for one in found["outcomes"]}
    assert marks == {f"{NAME}.gap[{ABLE}]": False, f"{NAME}.gap[{constant}]": True}
    listed = json.loads(goffman("check", folder, "--list", "--json").stdout)
    marks = {one["name"]: one["not_measurable"] for one in listed}
    assert marks[f"{NAME}.gap[{constant}]"] == MARK
    assert marks[f"{NAME}.gap[{ABLE}]"] is None
    words = {one["name"]: one["verdict"] for one in listed}
    assert words[f"{NAME}.gap[{constant}]"] == "not measurable" != words[f"{NAME}.gap[{ABLE}]"]
    shown = goffman("check", folder, "--list").stdout
    assert f"not measurable  {NAME}.gap[{constant}]\n" in shown


def test_its_estimates_have_no_other_verdict_and_cost_the_others_nothing(folder, constant):
    found = read_run(folder).estimates
    primary = found.filter(found["family"] == "primary")
    assert sorted(primary["model"]) == sorted([constant, ABLE])
    assert primary["family_size"].to_list() == [1, 1]
    assert primary["p_adjusted"].to_list() == primary["p"].to_list()
    of_it = found.filter(found["model"] == constant)
    assert of_it.height
    assert {*of_it["verdict"].drop_nulls()} <= {"not measurable"}
    between = found.filter(found["kind"] == "models")["verdict"].drop_nulls()
    assert {*between} <= {"not measurable"}


def test_a_comparison_and_a_change_carry_it(folder, constant, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    found = json.loads(goffman("compare", folder, other, "--json").stdout)
    marks = {one["run_model"]: one["not_measurable"] for one in found}
    assert marks[ABLE] == []
    assert len(marks[constant]) == 2
    assert all("is not measurable: it cannot tell praise" in text for text in marks[constant])
    screen = " ".join(goffman("compare", folder, other).stdout.split())
    assert f"{NAME} not measurable This difference means nothing: {constant} in " in screen
    reason = f"is {MARK.removeprefix('constant is ')}"
    assert screen.count(reason) == 2
    assert "1 not measurable" in screen
    words = {one["run_model"]: {row["verdict"] for row in one["estimates"]} for one in found}
    assert words[constant] <= {"not measurable", None}
    assert "not measurable" not in words[ABLE]
    done = goffman("check", folder, "--baseline", other, "--fail-if", "gap.change > 0.5")
    assert done.returncode == 4


def test_runs_with_and_without_controls_can_be_compared(folder, shortened, tmp_path):
    audit(
        [ABLE],
        instruments=[str(shortened / NAME)],
        output=tmp_path,
        options=AskOptions(controls=False),
    )
    done = goes_well("compare", folder, tmp_path, "--model", ABLE, "--json")
    (one,) = json.loads(done.stdout)
    assert one["compared"] is True
    assert (one["refusals"], one["not_measurable"]) == ([], [])


def test_a_correlation_with_it_is_not_stated_not_drawn_and_decides_nothing(
    tiny, shortened, tmp_path
):
    asked = [str(shortened / name) for name in ("social-distance", NAME)]
    done = audit([str(tiny("bert")), ABLE], instruments=asked, output=tmp_path)
    assert "Do two measures agree?" not in done.summary
    assert not [line for line in done.summary if "correlat" in line.lower()]
    write_report(tmp_path)
    page = html.unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
    said = re.findall("The correlation of [^<]*", page)
    assert said
    for line in said:
        assert line.startswith("The correlation of P(negative) and ")
        assert "is not stated: bert is not measurable: it cannot tell welcome" in line
    assert not [one for one in figures_of(read_run(tmp_path)) if "measures-together" in one.id]
    gate = goffman("check", tmp_path, "--fail-if", "correlation > 1")
    assert gate.returncode == 4
    able = goffman("check", tmp_path, "--fail-if", f"{NAME}.gap > 5")
    assert able.returncode == 0


@pytest.mark.parametrize(
    ("value", "ends", "passed", "sentence"),
    [
        (0.8975, (None, None), False, "cannot see (AUC 0.897; at least 0.900 is needed)."),
        (0.9, (None, None), True, "can see (AUC 0.90; at least 0.90 is needed)."),
        (
            0.97,
            (0.91, 1.0),
            True,
            "can see (AUC 0.97, 95% interval 0.91 to 1.00, 20 items; at least 0.90 is needed).",
        ),
        (
            0.95,
            (0.77, 1.0),
            True,
            "can perhaps see (AUC 0.95, 95% interval 0.77 to 1.00, 20 items; at least 0.90 is "
            "needed). With 20 items, we cannot rule out that it would fail on others.",
        ),
        (
            0.85,
            (0.7, 0.95),
            True,
            "can perhaps see (AUC 0.85, 95% interval 0.70 to 0.95, 20 items; at least 0.90 is "
            "needed). With 20 items, we cannot rule out that it would pass on others.",
        ),
        (
            0.8,
            (0.7, 0.89),
            False,
            "cannot see (AUC 0.80, 95% interval 0.70 to 0.89, 20 items; at least 0.90 is needed).",
        ),
    ],
)
def test_a_score_is_not_rounded_across_the_floor(value, ends, passed, sentence):
    about = {"name": "m", "model": "m", "task": "see", "score": "AUC", "n": 20, "missing": 0}
    about |= {"value": value, "low": ends[0], "high": ends[1], "floor": 0.9}
    competence = Competence(**about)
    assert competence.passed is passed
    assert competence.sentence == f"Control items: m {sentence}"
    assert competence.unsure == ("perhaps" in sentence)
    counts = "Control items count every word."
    assert counts in Competence(**about, counts=counts).sentence
    none = Competence(**about | {"value": None, "reason": "nobody answered"})
    assert not none.passed
    assert none.sentence == (
        "Control items: it is not known whether m can see, because nobody answered."
    )
