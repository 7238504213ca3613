"""goffman from Python: what it gives, what it says, and that the command line is the same."""

from __future__ import annotations

import inspect
import json
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl
import pytest

import goffman
import in_process
from doc_pages import ROOT, commands
from few_conditions import with_few_conditions
from goffman.api import notebook
from goffman.config import AuditOptions, audit_options, flag_of
from goffman.errors import InputError, RunError
from goffman.progress import Progress
from goffman.runs.run import read_answers

HOSTILE = "<script>alert(1)<b>&\u202e\"'"
"""A folder's name, and so a model's."""


@pytest.fixture(scope="module")
def run(tiny, tmp_path_factory) -> goffman.Run:
    """A model with a hostile name, asked a short instrument."""
    folder = tmp_path_factory.mktemp("api")
    model = folder / HOSTILE
    model.symlink_to(tiny("bert"))
    short = with_few_conditions("social-distance", folder / "social-distance", each=4)
    return goffman.audit(
        model, instruments=short, output=folder / "run", controls=False, report=False
    )


@pytest.fixture(scope="module")
def two(run: goffman.Run, tiny) -> goffman.Run:
    """The same model and another, asked the same."""
    return goffman.audit(
        [*run.models, tiny("bert", seed=1)],
        instruments=run.folder.parent / "social-distance",
        output=run.folder.parent / "two",
        controls=False,
        report=False,
        progress=False,
    )


# The names


def test_importing_goffman_imports_nothing_heavy() -> None:
    script = """
import sys, goffman
assert goffman.__version__ and "audit" in dir(goffman)
heavy = {"torch", "transformers", "polars", "numpy", "scipy", "typer", "rich", "jinja2"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
assert len([name for name in sys.modules if name.startswith("goffman")]) == 1
"""
    assert in_process.python(script).returncode == 0


def test_audit_is_the_function_whatever_was_imported() -> None:
    script = """
import importlib, inspect, pkgutil, goffman
for module in pkgutil.iter_modules(goffman.__path__):
    assert module.name not in goffman.__all__, module.name
import goffman.pipeline, goffman.cli.audit, goffman.comparison.runs
from goffman import audit
assert inspect.isfunction(audit) and inspect.isfunction(goffman.compare)
"""
    assert in_process.python(script).returncode == 0


def test_the_public_names_are_there_and_documented() -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `goffman.")]
    listed = [line.split("`")[1].removeprefix("goffman.").partition("(")[0] for line in rows]
    assert sorted(listed) == sorted(goffman.__all__)
    for name in goffman.__all__:
        assert getattr(goffman, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'adit'"):
        _ = goffman.adit


@pytest.mark.parametrize("kind", ["Run", "Estimate", "Figure", "Comparison"])
def test_every_attribute_is_documented(kind: str) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    of_kind = getattr(goffman, kind)
    names = {name for name in vars(of_kind) if not name.startswith("_")}
    names |= set(of_kind.__dataclass_fields__)
    missing = [
        name for name in sorted(names) if f"`{name}`" not in page and f"`{name}(" not in page
    ]
    assert missing == []


# The same as the command line


def options_of_audit() -> dict[str, object]:
    return {one.name: one for one in dict(commands())["audit"].params}


def test_every_option_is_defined_once_for_the_command_and_for_python() -> None:
    given = inspect.signature(goffman.audit).parameters
    known, commands = audit_options(), options_of_audit()
    assert set(given) == {*known, "models", "config", "progress"}
    assert set(commands) == {*known, "models", "as_json", "help_all"}
    for name, one in known.items():
        command = commands[name]
        assert command.opts == [flag_of(name)]
        assert command.help == one.help
        assert given[name].default == one.default
        if one.kind in (int, float):
            assert (command.min, command.max) == (one.minimum, one.maximum)
            assert command.type_descriptor.annotation is one.kind


def test_a_config_is_told_whole_and_a_name_counts_over_it(tmp_path) -> None:
    config: AuditOptions = {"limit": 0, "output": tmp_path / "run"}
    with pytest.raises(goffman.GoffmanError, match=r"^--limit is 0\."):
        goffman.audit("bundled:mini", config=config, progress=False)
    with pytest.raises(goffman.GoffmanError, match=r"^--limit is -1\."):
        goffman.audit("bundled:mini", config=config, limit=-1, progress=False)
    with pytest.raises(goffman.GoffmanError, match="There is no option 'limt'"):
        goffman.audit("bundled:mini", limt=3)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"limit": 0}, ("--limit", "0")),
        ({"limit": "many"}, ("--limit", "many")),
        ({"top_p": 1.5}, ("--top-p", "1.5")),
        ({"temperature": float("nan")}, ("--temperature", "nan")),
        ({"concurrency": 1001}, ("--concurrency", "1001")),
        ({"seed": 2**64}, ("--seed", str(2**64))),
        ({"precision": "int8"}, ("--precision", "int8")),
        ({"batch_size": "many"}, ("--batch-size", "many")),
        ({"output": " "}, ("--output", " ")),
        ({"price_in": 1.0}, ("--price-in", "1.0")),
        ({"key_env": "NOBODY_S"}, ("--key-env", "NOBODY_S")),
        ({"targets": "a,,b"}, ("--targets", "a,,b")),
        ({"system": "nowhere.txt"}, ("--system", "nowhere.txt")),
        ({"system": "Hi.", "persona": "teacher"}, ("--system", "Hi.", "--persona", "teacher")),
        ({"correlate": ["one"]}, ("--correlate", "one")),
        ({"instruments": "care-seking"}, ("--instrument", "care-seking")),
        (
            {"settings": {"coreference.adjectives": ["tough"]}},
            ("--set", "coreference.adjectives=tough", "--instrument", "coreference"),
        ),
        ({"sample": "quik"}, ("--sample", "quik")),
    ],
    ids=lambda given: "-".join(given) if isinstance(given, dict) else "",
)
def test_what_cannot_be_used_is_refused_in_the_same_words(options, words) -> None:
    done = in_process.goffman("audit", "bundled:mini", *words)
    if "settings" in options:
        options = {**options, "instruments": "coreference"}
    with pytest.raises(goffman.GoffmanError) as refused:
        goffman.audit("bundled:mini", progress=False, **options)
    assert done.returncode == refused.value.exit_code == 2
    assert done.stderr == f"{refused.value}\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limit": True}, "--limit is 'True'. Allowed: a whole number, 1 or more."),
        ({"limit": 2.5}, "--limit is '2.5'. Allowed: a whole number, 1 or more."),
        ({"instruments": [7]}, "--instrument has 7. Allowed: a text, or several."),
        ({"correlate": [("a", "b", "c")]}, "--correlate is 'a=b=c'. Write BASE=CLASSIFIER"),
    ],
)
def test_what_only_python_can_give_is_refused(options, message) -> None:
    with pytest.raises(InputError) as refused:
        goffman.audit("bundled:mini", progress=False, **options)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize("several", [False, True])
def test_a_function_in_the_place_of_a_model_is_refused(several: bool) -> None:
    def model(prompt: str) -> str:
        return "yes"

    with pytest.raises(InputError) as refused:
        goffman.audit([model] if several else model, progress=False)
    assert str(refused.value) == (
        "The model is an object of type function. Allowed: a name on Hugging Face, a folder, a "
        "bundled: name, or the address of a server (http://HOST/v1#NAME). Functions cannot be "
        "asked yet: put one behind a server. Save a loaded model to a folder, or measure it with "
        "goffman.training.Monitor."
    )
    with pytest.raises(InputError, match="The model is 7"):
        goffman.audit(7, progress=False)


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    run = goffman.audit(
        "bundled:mini",
        instruments=["care-seeking"],
        output=tmp_path / "run",
        dry_run=True,
        progress=False,
    )
    assert "care-seeking, bundled:mini: 391 prompts and 28 control prompts." in run.notes
    assert not (tmp_path / "run").exists()
    with pytest.raises(RunError, match="There is no folder"):
        _ = run.scores


# What a run gives


def test_its_tables_are_those_on_disk(run: goffman.Run) -> None:
    assert run.scores.equals(pl.read_parquet(run.folder / "scores.parquet"))
    on_disk = pl.read_parquet(run.folder / "estimates.parquet")
    here = run.estimates.drop("name", "not_measurable").filter(pl.col("kind") != "anchor")
    assert here.head(on_disk.height).equals(on_disk)
    assert (
        run.prompts.height == run.scores.filter(pl.col("level") == "prompt")["prompt_id"].n_unique()
    )
    again = goffman.open_run(str(run.folder))
    assert again.estimates.equals(run.estimates)
    assert again.summary == run.summary == "\n".join(run.audited.summary)


def test_its_answers_are_every_answer(run: goffman.Run) -> None:
    (model,) = run.models
    assert model.endswith(HOSTILE)
    answers = run.answers()
    stored = read_answers(run.folder, "fills")
    assert answers.drop("table", "instrument", "mode").equals(stored)
    assert set(answers["instrument"]) == {"social-distance"}
    assert run.answers(model=model, instrument="social-distance").equals(answers)
    with pytest.raises(InputError, match="Did you mean 'social-distance'"):
        run.answers(instrument="social-distanc")


def test_an_estimate_has_the_numbers_of_its_row(run: goffman.Run) -> None:
    one = run.estimate("social-distance.gap")
    row = run.estimates.row(by_predicate=pl.col("name") == one.name, named=True)
    assert (one.value, one.low, one.high, one.p) == (
        *(row["difference"], row["low"], row["high"], row["p_adjusted"]),
    )
    assert one.value == pytest.approx(row["mean_first"] - row["mean_second"])
    assert one.effect == row["effect"]
    assert one.row["n"] == row["n"]
    assert repr(one).startswith(f"<Estimate {one.name}: difference ")
    with pytest.raises(InputError, match=r"no estimate 'social-distance.gpa'. Did you mean"):
        run.estimate("social-distance.gpa")


def test_a_name_that_several_have_is_not_guessed_at(two: goffman.Run) -> None:
    with pytest.raises(InputError) as refused:
        two.estimate("social-distance.gap")
    every = [one for one in two.estimates["name"] if one.startswith("social-distance.gap[")]
    # What is over all models is a number of its own, and has its own name.
    names = [one for one in every if one != "social-distance.gap[all-models]"]
    assert len(names) == 2
    assert str(refused.value) == (
        "This run has 2 estimates 'social-distance.gap'. Give one of these names: "
        f"{', '.join(names)}."
    )
    assert {two.estimate(name).value for name in names} == {
        row["difference"]
        for row in two.estimates.filter(pl.col("name").is_in(names)).iter_rows(named=True)
    }


class Tags(HTMLParser):
    """Every tag and attribute of a text, and what is to be read."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.read = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.read += data


def test_what_notebooks_show_has_no_markup_of_a_model(run: goffman.Run, tmp_path: Path) -> None:
    seen = HOSTILE.replace("\u202e", "\\u202e")
    for shown in (run, run.estimate("social-distance.gap")):
        page = Tags(shown._repr_html_())
        assert page.tags <= {
            *("div", "p", "b", "table", "thead", "tbody", "tr", "th", "td", "details", "summary"),
            *("br", "sup", "ol", "li", "svg", "rect", "path", "circle"),
        }
        assert not [name for name in page.attributes if name.startswith(("on", "href", "src"))]
        assert seen in page.read
        assert "\u202e" not in shown._repr_html_()


def test_a_figure_is_drawn_and_saved(run: goffman.Run, tmp_path: Path) -> None:
    for name in run.figures:
        svg = run.figure(name)._repr_svg_()
        tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(svg).iter()}
        assert {"svg", "text"} <= tags
        assert not tags & {"script", "image", "foreignObject", "a"}
    figure = run.figure("social-distance.conditions")
    for ending, start in (
        (".svg", b"<svg"),
        (".png", b"\x89PNG"),
        (".pdf", b"%PDF"),
        (".json", b"{"),
    ):
        assert figure.save(tmp_path / f"gap{ending}").read_bytes().startswith(start)
    assert dots_per_inch(tmp_path / "gap.png") == 300
    with pytest.raises(InputError, match=r"Its name must end in .svg or .png or .pdf or .json"):
        figure.save(tmp_path / "gap.jpg")
    with pytest.raises(InputError, match=r"Did you mean 'social-distance.conditions'"):
        run.figure("social-distance.condition")
    with pytest.raises(InputError, match=r"has no menu 'words'\. It has none"):
        run.figure("social-distance.conditions", words="x")


def dots_per_inch(png: Path) -> int:
    """By the chunk pHYs, which counts the dots of a meter."""
    content = png.read_bytes()
    place = content.index(b"pHYs") + 4
    return round(int.from_bytes(content[place : place + 4], "big") * 0.0254)


def test_to_pandas_works_or_says_what_it_needs(run: goffman.Run) -> None:
    try:
        import pyarrow as pa  # noqa: F401
    except ImportError:
        with pytest.raises(InputError, match="needs pandas and pyarrow, and pyarrow cannot be"):
            run.scores.to_pandas()
    else:
        frame = run.scores.to_pandas()
        assert list(frame.columns) == run.scores.columns
        assert len(frame) == run.scores.height


def test_runs_are_compared_as_the_command_does(run: goffman.Run, two: goffman.Run) -> None:
    second = next(name for name in two.models if name not in run.models)
    which = f"{run.models[0]}={second}"
    found = goffman.compare(run, two.folder, models=which)
    (part,) = found.parts
    assert part.models == (run.models[0], second)
    done = in_process.goffman("compare", run.folder, two.folder, "--model", which, "--json")
    (printed,) = json.loads(done.stdout)
    beside = ("reference", "run", "reference_model", "run_model", "not_measurable")
    assert found.estimates.drop(beside).to_dicts() == printed["estimates"]
    assert set(found.estimates["run_model"]) == {second}
    turned = goffman.compare(two, run, models=f"{second}={run.models[0]}")
    gaps = [
        one.estimates.filter(pl.col("kind") == "groups")["difference"].to_list()
        for one in (found, turned)
    ]
    assert gaps[0] == pytest.approx([-gap for gap in gaps[1]])
    assert any(gaps[0])
    assert not Tags(found._repr_html_()).tags & {"script", "img"}
    with pytest.raises(InputError, match="You gave the same run twice"):
        goffman.compare(run, str(run.folder))
    with pytest.raises(InputError, match="You gave 1 run"):
        goffman.compare(run)


# How far it is


class Place:
    """A notebook's output: what is shown in it, and what was."""

    def __init__(self) -> None:
        self.shown: list[object] = []

    def __call__(self, what: object):
        self.shown.append(what)
        return self.shown.append


def far(done: int, *, model: str = "m") -> Progress:
    return Progress(model=model, instrument="scale", step=1, steps=1, done=done, total=100)


def test_in_a_notebook_one_place_is_renewed() -> None:
    place = Place()
    with notebook.Bar(place) as bar:
        bar.note(HOSTILE)
        bar.expect({("m", "scale"): 100, ("n", "scale"): 100})
        for model in "mn":
            for done in range(0, 101, 10):
                bar.show(far(done, model=model))
        bar.stage("Writing the report")
    # Not one for each batch: the first, what comes a while later, the report and the end.
    assert 2 <= len(place.shown) <= 8
    assert any(repr(one).endswith("Writing the report") for one in place.shown)
    last = place.shown[-1]
    assert "200 of 200 sentences, scale, n" in repr(last)
    page = Tags(last._repr_html_())
    assert page.tags == {"div", "progress"}
    assert HOSTILE.replace("\u202e", "\\u202e") in page.read


def test_nobody_is_shown_anything_who_does_not_want_it(capsys: pytest.CaptureFixture) -> None:
    with notebook.reporting(shown=False) as teller:
        teller.listener.note("a note")
        teller.listener.progress(far(3))
    assert teller.notes == ["a note"]
    assert capsys.readouterr() == ("", "")


def test_outside_of_a_notebook_it_is_said_as_in_a_terminal(capsys: pytest.CaptureFixture) -> None:
    assert notebook.notebook_display() is None
    with notebook.reporting(shown=True) as teller:
        teller.listener.note("a note")
        teller.listener.detail("a detail")
        teller.listener.progress(far(100))
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == ["a note"]
    assert teller.notes == ["a note", "a detail"]
    with notebook.reporting(shown=True, verbose=True) as teller:
        teller.listener.detail("a detail")
    assert capsys.readouterr().err == "a detail\n"
