"""A kind of model is one row: the built-in ones, and one that another package brings."""

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import toy_kind
from goffman.instruments.types import MASK
from goffman.models.registry import BUILT_IN, ModelKind, _fault, answers_to, model_kinds
from goffman.runs.run import read_answers, read_prompts
from test_plugins import goffman_with, package

TOY = Path(toy_kind.__file__)
BROKEN = """
from dataclasses import replace
from toy_kind import KIND

def fails(name, loading):
    raise OSError("the disk is gone")

def cannot_say(name):
    return 1 / (name != "toy:7") < 0

FAILS = replace(KIND, name="failing", takes=lambda name: name == "fail:1", load=fails,
                check=lambda name, options: None)
DIVIDES = replace(KIND, name="divides", takes=cannot_say)
TAKEN = replace(KIND, name="masked")
NAMELESS = replace(KIND, name="nameless", takes=None)
UNFIT = replace(KIND, name="unfit", instruments=("fill", "classify"))
"""


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """A package with a kind of model in one file."""
    folder = tmp_path_factory.mktemp("toy")
    text = TOY.read_text(encoding="utf-8")
    package(folder, "toy", {TOY.name: text}, models="toy = toy_kind:KIND")
    return folder


@pytest.fixture(scope="module")
def audited(toy, tmp_path_factory):
    """A run of the toy, with its report; and what the audit printed."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    asked = ("--instrument", "care-seeking", "--no-controls", "--limit", 40, "--output", folder)
    return folder, *goffman_with(toy, "audit", "toy:1", *asked)


def test_every_instrument_s_answers_go_where_they_went():
    assert {kind: answers_to(kind) for kind in ("fill", "classify", "ask", "prefer")} == {
        "fill": "fills",
        "classify": "labels",
        "ask": "replies",
        "prefer": "fills",
    }
    assert {row.name: (row.instruments, row.answers, row.task) for row in BUILT_IN} == {
        "masked": (("fill", "prefer"), "fills", "fill-mask"),
        "classifier": (("classify",), "labels", "text-classification"),
        "qa": (("mark",), "choices", "question-answering"),
        "nli": (("infer",), "choices", "text-classification"),
        "causal": (("prefer",), "likelihoods", "text-generation"),
        "chat": (("ask", "say", "write"), "replies", "text-generation"),
    }


def test_kinds_are_known_without_loading_what_they_need():
    code = (
        "import sys; from goffman.models.registry import model_kinds; model_kinds(); "
        "print({'torch', 'transformers', 'openai'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"


def test_a_kind_in_one_file_is_audited(audited):
    folder, said, _ = audited
    head, _, model, row, *_ = said.splitlines()
    assert " · 1 model · 1 instrument · 40 sentences · " in head
    assert model.startswith("toy:1 ")
    assert row.split()[1] == "care-seeking"
    answers = read_answers(folder, "fills", model="toy:1", instrument="care-seeking")
    text = dict(read_prompts(folder).select("prompt_id", "text").iter_rows())
    model = toy_kind.Toy("toy:1")
    for prompt, rows in answers.group_by("prompt_id"):
        probable = model.probabilities(text[prompt[0]].encode())
        for word, value in rows.select("word", "probability").iter_rows():
            assert value == pytest.approx(probable[toy_kind.TOKENS.index(f" {word}")], abs=1e-7)
    assert MASK not in {*answers["word"]}
    assert {*pl.read_parquet(folder / "scores.parquet")["model"]} == {"toy:1"}
    entry = json.loads((folder / "manifest.json").read_text())["models"]["toy:1"]
    assert (entry["kind"], entry["cased"], entry["seed"]) == ("toy", False, 1)


def test_a_kind_in_one_file_is_reported_and_exported(toy, audited):
    folder, said, told = audited
    assert "\ntoy:1 " in said
    assert "It draws its answers." not in told
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "toy:1" in page
    assert "It draws its answers." in page
    card, _ = goffman_with(toy, "export", folder, "--to", "model-card")
    assert 'type: "fill-mask"' in card
    # The run can be read without the package; only what its kind says is not known then.
    card, _ = goffman_with(folder.parent, "export", folder, "--to", "model-card")
    assert 'type: "other"' in card
    listed, _ = goffman_with(toy, "models", "--json")
    assert json.loads(listed)["forms"][-1] == {
        "model": "toy:SEED",
        "what": "a toy model from another package; it can fill masks",
    }


def test_a_kind_of_another_package_is_named_where_models_are_refused(toy, tmp_path):
    output = ("--output", tmp_path / "run")
    _, said = goffman_with(
        toy, "audit", "toy:2", "--instrument", "people-sentiment", *output, code=2
    )
    assert said.strip() == (
        "'toy:2' is a toy model: it can fill masks. The instrument 'people-sentiment' "
        "needs a classifier, such as siebert/sentiment-roberta-large-english, or a plain text "
        "generator (a causal model), such as gpt2, or a chat model (openai:NAME, "
        "http://HOST/v1#NAME, or a model with a chat template)."
    )
    asked = ("--instrument", "care-seeking", *output)
    _, said = goffman_with(toy, "audit", "bundled:mini-sentiment", *asked, code=2)
    assert "'care-seeking' needs a masked model, such as roberta-base, or " in said
    assert said.strip().endswith(", or a toy model, such as toy:1.")
    _, said = goffman_with(toy, "audit", "toy:one", *asked, code=2)
    assert said.strip() == "'toy:one' is no toy: a whole number follows toy:, such as toy:1."
    assert not (tmp_path / "run").exists()


def test_broken_kinds_are_named_and_take_nothing_down(toy, tmp_path):
    files = {TOY.name: TOY.read_text(encoding="utf-8"), "broken.py": BROKEN, "worse.py": "1 / 0"}
    names = ("DIVIDES", "FAILS", "NAMELESS", "TAKEN", "UNFIT", "KIND", "BROKEN")
    entries = [f"{name.lower()} = broken:{name}" for name in names]
    package(tmp_path, "broken", files, models="\n".join([*entries, "worse = worse:KIND"]))
    asked = ("--instrument", "care-seeking", "--limit", 2, "--no-report", "--output")
    said, told = goffman_with(tmp_path, "audit", "toy:7", *asked, tmp_path / "run")
    assert said.splitlines()[2].split()[0] == "toy:7"
    see = "see goffman/models/registry.py"
    for name, why in {
        "broken": "AttributeError: module 'broken' has no attribute 'BROKEN'",
        "worse": "ZeroDivisionError: division by zero",
        "divides": "ZeroDivisionError: division by zero",
        "taken": "there is already a kind of model 'masked'.",
        "nameless": f"it must say which names it takes, and their form; {see}.",
        "unfit": "its answers go to 'fills' and it can be asked 'fill, classify'; "
        f"{see} for what goes together.",
    }.items():
        assert f"The plug-in '{name}' (goffman.models) is not used: {why}" in told
    _, told = goffman_with(tmp_path, "audit", "fail:1", *asked, tmp_path / "other", code=2)
    assert told.strip().endswith(
        "'fail:1' cannot be loaded. The package that provides failing models failed with "
        "OSError: the disk is gone. Update that package, or report it to its authors."
    )


def test_only_a_kind_of_model_goes_through_the_door():
    known = model_kinds()
    assert _fault(toy_kind.KIND, known) is None
    assert isinstance(toy_kind.KIND, ModelKind)
    assert _fault(toy_kind.Toy, known) == "it is not a ModelKind; see goffman/models/registry.py."
