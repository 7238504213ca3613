"""Other packages add to goffman through entry points: real ones, in processes of their own."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from few_conditions import with_few_conditions
from goffman.gate.names import WHAT
from goffman.instruments.loader import builtin_names
from goffman.measures.registry import measures
from goffman.presentation.section import Claims, Presentation
from in_process import python
from warm import Command

HERE = Path(__file__).parent


def package(folder: Path, name: str, files: dict[str, str], **doors: str) -> None:
    """What pip would have installed: modules, and a dist-info with entry points."""
    folder.mkdir(exist_ok=True)
    for path, text in files.items():
        (folder / path).write_text(text, encoding="utf-8")
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"[goffman.{door}]\n{entry}\n" for door, entry in doors.items()]
    (about / "entry_points.txt").write_text("\n".join(lines))


def goffman_with(packages: Path, *arguments, code=0):
    """The real command where these packages are installed."""
    ((ended, said, warned),) = all_with(packages, arguments)
    assert ended == code, warned
    return said, warned


def all_with(packages: Path, *commands):
    """Code, output and errors of each command."""
    done = []
    for words in commands:
        with Command(*words, PYTHONPATH=str(packages), COLUMNS="200") as command:
            said, warned = command.communicate(timeout=300)
        assert "Traceback" not in warned
        done.append((command.returncode, said, warned))
    return done


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """A package with a measure in one file, and an instrument that names it."""
    folder = tmp_path_factory.mktemp("toy")
    text = (HERE / "toy_measure.py").read_text(encoding="utf-8")
    package(folder, "toy", {"toy_measure.py": text}, measures="toy = toy_measure:Toy")
    with_few_conditions("social-distance", folder / "toy-distance", each=2)
    toml = folder / "toy-distance" / "instrument.toml"
    changed = toml.read_text().replace('"negative-attitude"', '"toy-likely"')
    toml.write_text(changed.replace('id = "social-distance"', 'id = "toy-distance"'))
    return folder


@pytest.fixture(scope="module")
def audited(toy, tiny, tmp_path_factory):
    """A run that the toy measured, with its report; and what the audit printed."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    model = tiny("roberta")
    said = goffman_with(
        toy, "audit", model, "--instrument", toy / "toy-distance", "--output", folder
    )
    return folder, said[0]


def test_every_measure_has_a_whole_presentation():
    for name, kind in measures().items():
        measure = kind()
        shown = measure.presentation
        assert isinstance(shown, Presentation)
        assert isinstance(shown.claims, Claims)
        claims = shown.claims
        assert all(
            [
                claims.measured,
                claims.supports,
                claims.does_not_support,
                claims.caveats,
                shown.called,
            ]
        )
        assert shown.figures
        assert shown.tables
        assert set(shown.main) <= {*WHAT}, name
        assert measure.quantity in {quantity for quantity, _ in measure.contrasts}


def test_a_measure_in_one_file_is_in_the_summary_and_on_the_page(audited):
    folder, said = audited
    assert re.search(r"    The toy is (more|less|about as) likely for stigmatized\.", said)
    page = (folder / "report.html").read_text(encoding="utf-8")
    for text in ("The toy is", "that a toy is a toy", "P(toy)", "It is a toy."):
        assert text in page


def test_a_measure_in_one_file_has_figures_tables_and_evidence(toy, audited, tmp_path):
    folder, _ = audited
    for kind in ("figures", "tables"):
        goffman_with(toy, "export", folder, "--to", kind, "--output", tmp_path / kind)
    assert (tmp_path / "figures" / "toy-distance-conditions.svg").exists()
    assert {path.stem for path in (tmp_path / "tables").glob("*.csv")} >= {
        "toy-distance-groups",
        "toy-distance-conditions",
        "toy-distance-contrasts",
    }
    from goffman.report.evidence import unpacked

    page = (folder / "report.html").read_text(encoding="utf-8")
    block = re.search(r'id="evidence-0">([^<]+)<', page)[1]
    header, _ = unpacked(block)
    assert header["quantity"] == "P(toy)"
    assert set(header["labels"]) <= {"toy", "other"}


def test_a_measure_that_names_no_choice_can_be_stressed(toy, audited, tmp_path):
    other = shutil.copytree(audited[0], tmp_path / "other")
    said, _ = goffman_with(toy, "stress", other, "--workers", "1", "--json")
    (found,) = json.loads(said)
    # The tiny model never says the toy's word, so that there is nothing to test either.
    why = "it could not be tested"
    assert (found["analyses"], found["lowest"], found["reason"]) == (0, None, why)
    page = (other / "report.html").read_text(encoding="utf-8")
    assert f"There are no other analyses: {why}" in page


def test_a_measure_in_one_file_can_be_compared_gated_and_exported(toy, audited, tmp_path):
    folder, _ = audited
    other = shutil.copytree(folder, tmp_path / "other")
    listed, passed, failed, compared, card, lm_eval = all_with(
        toy,
        ["check", folder, "--list"],
        ["check", folder, "--fail-if", "toy-distance.gap > 2"],
        ["check", folder, "--fail-if", "toy-distance.gap < 2"],
        ["compare", folder, other, "--json"],
        ["export", folder, "--to", "model-card"],
        ["export", folder, "--to", "lm-eval"],
    )
    assert [one[0] for one in (listed, passed, failed, compared, card, lm_eval)] == [
        0, 0, 1, 0, 0, 0,
    ]  # fmt: skip
    assert "toy-distance.gap[" in listed[1]
    assert '"likely"' in compared[1]
    assert "If a difference is shown, you may say that a toy is a toy." in card[1]
    assert '"gap,none"' in lm_eval[1]
    assert '"mean.likely.stigmatized,none"' in lm_eval[1]


def test_a_run_of_a_measure_that_is_gone_says_what_to_install(audited, tmp_path):
    folder, _ = audited
    _, said = goffman_with(tmp_path, "report", folder, code=2)
    assert "The run was measured by 'toy-likely', which is not installed here." in said


def test_a_broken_plug_in_is_named_and_takes_nothing_down(tmp_path, audited):
    package(tmp_path, "broken", {"broken.py": "1 / 0"}, measures="broken = broken:Measure")
    half = "from goffman.measures.base import Measure\nclass Half(Measure): name = 'half'"
    package(tmp_path, "half", {"half.py": half}, measures="half = half:Half")
    package(tmp_path, "other", {"other.py": "class Other: ..."}, measures="other = other:Other")
    no_control = "from toy_measure import Toy\nclass Unable(Toy): scores_controls = 'label'"
    files = {"unable.py": no_control, "toy_measure.py": (HERE / "toy_measure.py").read_text()}
    package(tmp_path, "unable", files, measures="unable = unable:Unable")
    code = "from goffman.measures.registry import measures; print(*measures())"
    path = str(tmp_path) + os.pathsep + os.environ.get("PYTHONPATH", "")
    done = python(code, env={**os.environ, "PYTHONPATH": path}, timeout=120)
    assert done.stdout.split() == list(measures())
    assert (
        "The plug-in 'broken' (goffman.measures) is not used: ZeroDivisionError: division by zero"
    ) in done.stderr
    assert (
        "The plug-in 'half' (goffman.measures) is not used: it lacks reads, presentation, "
        "contrasts, score_prompts, aggregate; see goffman/measures/base.py."
    ) in done.stderr
    assert (
        "The plug-in 'other' (goffman.measures) is not used: it is not a dataclass that inherits "
        "from goffman.measures.base.Measure."
    ) in done.stderr
    assert (
        "The plug-in 'unable' (goffman.measures) is not used: scores_controls and control go "
        "together; see goffman/measures/controls.py."
    ) in done.stderr


@pytest.mark.parametrize("code", ["import sys; sys.exit(0)", "raise GeneratorExit"])
def test_a_plug_in_that_ends_the_process_while_loading_opens_no_gate(code, tmp_path, audited):
    package(tmp_path, "ends", {"ends.py": code}, measures="ends = ends:Measure")
    folder, _ = audited
    shutil.copy(HERE / "toy_measure.py", tmp_path)
    package(tmp_path, "toy", {}, measures="toy = toy_measure:Toy")
    said, warned = goffman_with(
        tmp_path, "check", folder, "--fail-if", "toy-distance.gap > -9", code=1
    )
    assert "FAILED toy-distance.gap" in said
    assert "The plug-in 'ends' (goffman.measures) is not used: " in warned


def test_what_a_plug_in_raises_is_text_on_the_terminal(tmp_path):
    code = "raise OSError('\\x1b[31m\\u202e\\n::error::x')"
    doors = {"instruments": "loud = loud:x", "models": "loud = loud:x"}
    package(tmp_path, "loud", {"loud.py": code}, **doors)
    _, warned = goffman_with(tmp_path, "ls")
    said = "The plug-in 'loud' (goffman.instruments) is not used: OSError: "
    assert said + "\\x1b[31m\\u202e\\n::error::x\n" in warned


TEA = {
    "instrument.toml": """\
id = "tea"
version = "1"
title = "Would you have tea with …?"
kind = "fill"
citation = "Nobody (2026)"
licence = "CC0-1.0"

[slot]
name = "someone"
filled = "someone who is {form}"

[settings]
measure = "negative-attitude"
contrast = "odd"
against = "even"
""",
    "items.csv": "item,text\ntea,It is <mask> to have tea with {someone}.\n",
    "conditions.csv": (
        "condition,name,group,category,form\ntall,Tall,odd,Body,tall\nsmall,Small,even,Body,small\n"
    ),
}

TEAS = """\
from pathlib import Path

HERE = Path(__file__).parent
as_text = str(HERE / "tea")
as_path = HERE / "tea"
broken = HERE / "broken-tea"
gone = HERE / "gone"
number = 7


def given():
    return HERE / "tea"


def failing():
    raise OSError("no tea")
"""


def teas(folder: Path, entries: str) -> Path:
    """A package that brings an instrument, and others that cannot be used."""
    folder.mkdir(exist_ok=True)
    for name, toml in (
        ("tea", TEA["instrument.toml"]),
        ("broken-tea", TEA["instrument.toml"].replace('"fill"', '"fil"')),
    ):
        (folder / name).mkdir()
        for file, text in (TEA | {"instrument.toml": toml}).items():
            (folder / name / file).write_text(text, encoding="utf-8")
    package(folder, "teas", {"teas.py": TEAS}, instruments=entries)
    return folder


@pytest.mark.parametrize("given", ["as_text", "as_path", "given"])
def test_an_instrument_of_another_package_is_used_by_its_name(tmp_path, given):
    folder = teas(tmp_path / "packages", f"tea = teas:{given}")
    said, warned = goffman_with(folder, "validate", "tea")
    assert (said, warned) == ("tea is valid: 2 prompts and no control items.\n", "")


def test_an_instrument_of_another_package_is_listed_printed_and_audited(tmp_path, tiny):
    folder = teas(tmp_path / "packages", "tea = teas:as_path")
    model, run = tiny("roberta"), tmp_path / "run"
    table, listed, printed, audited, dry, unknown = all_with(
        folder,
        ["ls"],
        ["ls", "--json"],
        ["prompts", "tea", "--format", "csv"],
        ["audit", model, "--instrument", "tea", "--output", run, "--no-report"],
        ["audit", model, "--dry-run", "--output", tmp_path / "other"],
        ["prompts", "teas"],
    )
    assert [one[0] for one in (table, listed, printed, audited, dry, unknown)] == [
        0, 0, 0, 0, 0, 2,
    ]  # fmt: skip
    assert "tea (plug-in)" in table[1]
    built_in = {row["instrument"]: row["built_in"] for row in json.loads(listed[1])}
    assert built_in == {**dict.fromkeys(builtin_names(), True), "tea": False}
    assert "It is <mask> to have tea with someone who is tall." in printed[1]
    assert list(json.loads((run / "manifest.json").read_text())["instruments"]) == ["tea"]
    # What was not named is not asked.
    assert "social-distance, " in dry[2]
    assert "tea, " not in dry[2]
    assert unknown[2].endswith(
        "Give a folder, or one of these: social-distance, people-sentiment, care-seeking, "
        "attribution, coreference, vignettes, decisions, two-people, tea. Did you mean 'tea'?\n"
    )


def test_broken_instruments_of_other_packages_are_named_and_take_nothing_down(tmp_path):
    entries = {
        "attribution": "teas:as_path",
        "broken-tea": "teas:broken",
        "coffee": "teas:as_path",
        "failing": "teas:failing",
        "gone": "teas:gone",
        "number": "teas:number",
        "tea": "teas:as_path",
        "unknown": "teas:nothing",
    }
    lines = "\n".join(f"{name} = {what}" for name, what in entries.items())
    folder = teas(tmp_path / "packages", lines)
    package(folder, "more", {}, instruments="tea = teas:as_text")
    said, warned = goffman_with(folder, "ls", "--json")
    assert [row["instrument"] for row in json.loads(said)] == [*builtin_names(), "tea"]
    left_out = re.findall(
        r"The plug-in '([\w-]+)' \(goffman.instruments\) is not used: (.*)", warned
    )
    assert sorted(left_out) == [
        ("attribution", "there is already an instrument of this name."),
        ("broken-tea", f"{folder / 'broken-tea'} cannot be used: 1 fault."),
        (
            "coffee",
            "its id is 'tea', but the entry point has another name. Use the same name for both.",
        ),
        ("failing", "OSError: no tea"),
        ("gone", f"there is no folder {folder / 'gone'}."),
        (
            "number",
            "it returns int, but it must return the path of an instrument's folder, or a "
            "function without arguments that returns it.",
        ),
        ("tea", "there is already an instrument of this name."),
        ("unknown", "AttributeError: module 'teas' has no attribute 'nothing'"),
    ]
    assert "instrument.toml, line 4: kind is 'fil'. Allowed: fill, classify, ask, choose." in warned


def test_an_anchor_of_another_package_is_listed_and_a_broken_one_left_out(tmp_path: Path) -> None:
    from goffman.anchors.loader import load_anchor

    source = Path(sys.modules[load_anchor.__module__].__file__ or "").parent / "data"
    for name, old in (("brought", "bls-occupations"), ("broken", "bls-occupations")):
        (tmp_path / name).mkdir()
        for file in (source / old).iterdir():
            text = file.read_text(encoding="utf-8").replace(f'id = "{old}"', f'id = "{name}"')
            (tmp_path / name / file.name).write_text(text, encoding="utf-8")
    (tmp_path / "broken" / "values.csv").write_text("condition,value\ndriver,2\n", encoding="utf-8")
    module = "\n".join(f"{name} = {str(tmp_path / name)!r}" for name in ("brought", "broken"))
    entries = "brought = people:brought\nbroken = people:broken"
    package(tmp_path / "packages", "people", {"people.py": module}, anchors=entries)
    said, warned = goffman_with(tmp_path / "packages", "anchors", "--json")
    found = {row["anchor"]: row["built_in"] for row in json.loads(said)}
    assert found["brought"] is False
    assert "broken" not in found
    assert "The plug-in 'broken' (goffman.anchors) is not used" in warned
    assert (
        "values.csv, line 2: value is '2'. Allowed: a number such as 0.35, at least 0, at most 1."
        in warned
    )
