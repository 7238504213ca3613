"""audit --cross: asked in addition, resumed, and compared between people; the run stays as it was."""

from __future__ import annotations

import hashlib
import json
import shutil

import numpy as np
import polars as pl
import pytest

import goffman
from chat_server import Answer, ChatServer, completion
from few_conditions import DATA, with_few_conditions
from goffman.contrasts.designs import GAP_OF, INTERACTION, Contrast, crossed
from goffman.contrasts.verdict import direction
from goffman.errors import InputError, RunError
from goffman.instruments.identities import identities
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import render, render_crossed
from goffman.modes import mode_of
from goffman.pipeline import AskOptions, Listener, audit
from goffman.report.figures import figures_of
from goffman.report.load import read_run
from goffman.runs.run import read_answers, read_prompts

AGE = identities("age")
ALSO = AskOptions(controls=False, cross=AGE)
TABLES = ("prompts.parquet", "scores.parquet", "sensitivity.parquet")


@pytest.fixture(scope="module")
def asked(tiny, tmp_path_factory):
    """A run of a classifier without a second identity, then with one; and its tables before."""
    place = tmp_path_factory.mktemp("identities")
    with_few_conditions("social-distance", place / "social-distance", each=9)
    shutil.copytree(DATA / "people-sentiment", place / "people-sentiment")
    model, run = str(tiny("bert", labels=("NEG", "POS"))), place / "run"
    called = {"instruments": [str(place / "people-sentiment")], "output": run}
    first = audit([model], options=AskOptions(controls=False), **called)
    before = {name: (run / name).read_bytes() for name in TABLES}
    estimates = pl.read_parquet(run / "estimates.parquet")
    notes: list[str] = []
    second = audit([model], options=ALSO, listener=Listener(note=notes.append), **called)
    return {"model": model, "called": called, "run": run, "before": before, "notes": notes} | {
        "first": first,
        "second": second,
        "estimates": estimates,
    }


def by_identity(run):
    rows = pl.read_parquet(run / "estimates.parquet")
    return rows.filter(pl.col("kind").is_in([GAP_OF, INTERACTION]))


def test_they_are_asked_in_addition_and_every_other_number_stays_as_it_was(asked):
    own, further = asked["second"].asked
    assert own.asked_now == 0
    assert further.instrument == "people-sentiment, identities"
    assert {name: (asked["run"] / name).read_bytes() for name in TABLES} == asked["before"]
    rows = pl.read_parquet(asked["run"] / "estimates.parquet")
    others = rows.filter(~pl.col("kind").is_in([GAP_OF, INTERACTION]))
    assert others.equals(asked["estimates"])
    assert by_identity(asked["run"])["variant"].to_list() == [
        "25-year-old",
        "75-year-old",
        "75-year-old vs 25-year-old",
    ]
    cost = f"{asked['model']} is asked another {further.sentences} prompts about people with a"
    assert f"{cost} second identity (--cross age)." in asked["notes"]


def test_prompts_carry_their_identity_and_none_is_a_control_or_of_another_group(asked):
    prompts = read_prompts(asked["run"] / "identities")
    assert prompts["identity"].unique().sort().to_list() == ["25-year-old", "75-year-old"]
    assert prompts["group"].unique().sort().to_list() == [
        "baseline",
        "non-stigmatized",
        "stigmatized",
    ]
    named = prompts.select(pl.col("text").str.contains(pl.col("identity"))).to_series()
    assert named.all()
    assert read_prompts(asked["run"])["identity"].null_count() == len(read_prompts(asked["run"]))
    told = json.loads((asked["run"] / "identities" / "manifest.json").read_text())
    assert told["instruments"]["people-sentiment"]["identities"] == {
        "factor": "age",
        "levels": ["25-year-old", "75-year-old"],
    }
    assert "controls" not in told["instruments"]["people-sentiment"]


def test_the_interaction_is_that_of_the_answers(asked):
    """Recomputed from the stored probabilities: the old minus the young in each cell."""
    folder = asked["run"] / "identities"
    negative = dict(read_answers(folder, "labels").select("prompt_id", "negative").rows())
    values: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    category = {}
    for row in read_prompts(folder).filter(pl.col("group") != "baseline").iter_rows(named=True):
        cell = values.setdefault((row["group"], row["condition"], row["item"]), {})
        cell.setdefault(row["identity"], []).append(float(negative[row["prompt_id"]]))
        category[row["condition"]] = row["category"]
    items = sorted({item for _, _, item in values})
    tables, labels = {}, {}
    for group in ("stigmatized", "non-stigmatized"):
        conditions = sorted({name for of, name, _ in values if of == group})
        labels[group] = [category[name] for name in conditions]
        cells = [[values[group, name, item] for item in items] for name in conditions]
        by_level = {
            level: np.array([[np.mean(cell[level]) for cell in of] for of in cells])
            for level in ("25-year-old", "75-year-old")
        }
        tables[group] = by_level
    differences = [tables[group]["75-year-old"] - tables[group]["25-year-old"] for group in tables]
    rows = by_identity(asked["run"])
    row = rows.row(by_predicate=pl.col("kind") == INTERACTION, named=True)
    means = [table.mean() for table in differences]
    assert [row["mean_first"], row["mean_second"]] == pytest.approx(means, abs=1e-7)
    assert row["difference"] == pytest.approx(means[0] - means[1], abs=1e-7)
    about = Contrast(kind="", instrument=None, measure=None, quantity="", first="", second="")
    tested = crossed(
        about, [table[:, :, None] for table in differences], [*labels.values()], paired=False
    )
    assert [row["p"], row["low"], row["high"]] == pytest.approx(
        [tested.p, tested.low, tested.high], rel=1e-5
    )
    gaps = dict(rows.filter(pl.col("kind") == GAP_OF).select("variant", "difference").rows())
    assert gaps == pytest.approx(
        {
            level: tables["stigmatized"][level].mean() - tables["non-stigmatized"][level].mean()
            for level in ("25-year-old", "75-year-old")
        },
        abs=1e-7,
    )
    assert row["difference"] == pytest.approx(gaps["75-year-old"] - gaps["25-year-old"], abs=1e-7)


def test_they_are_not_asked_again_and_what_is_lost_is(asked):
    done = audit([asked["model"]], options=ALSO, **asked["called"])
    assert [one.asked_now for one in done.asked] == [0, 0]
    before = by_identity(asked["run"])
    next((asked["run"] / "identities" / "answers").rglob("*.parquet")).unlink()
    done = audit([asked["model"]], options=ALSO, **asked["called"])
    assert done.asked[0].asked_now == 0
    assert 0 < done.asked[1].asked_now <= done.asked[1].sentences
    assert by_identity(asked["run"]).equals(before)
    # Without the option they stay, as paraphrases do.
    audit([asked["model"]], options=AskOptions(controls=False), **asked["called"])
    assert by_identity(asked["run"]).equals(before)


def test_another_factor_is_refused_in_the_same_run(asked):
    options = AskOptions(controls=False, cross=identities("orientation"))
    with pytest.raises(RunError, match="factor: age then, orientation now") as refusal:
        audit([asked["model"]], options=options, **asked["called"])
    assert "Give another folder with --output" in str(refusal.value)


def test_a_dry_run_counts_them_and_a_limit_holds_for_each_identity(asked, tmp_path):
    notes: list[str] = []
    options = AskOptions(controls=False, cross=AGE, limit=40, dry_run=True)
    called = asked["called"] | {"output": tmp_path / "nowhere"}
    audit([asked["model"]], options=options, listener=Listener(note=notes.append), **called)
    # The first condition names an ethnicity, and can be of people of every age.
    assert any("people-sentiment" in note and ": 40 prompts." in note for note in notes)
    assert any(note.startswith("Identities: ") and ": 80 prompts." in note for note in notes)
    assert not (tmp_path / "nowhere").exists()


def test_python_takes_the_name_of_a_factor(tmp_path):
    run = goffman.audit(
        "bundled:mini", instruments="care-seeking", cross="age", dry_run=True, output=tmp_path / "x"
    )
    assert any("Identities: " in note for note in run.notes)
    with pytest.raises(InputError, match="Did you mean 'age'"):
        goffman.audit("bundled:mini", cross="agee", dry_run=True, output=tmp_path / "x")


def test_who_cannot_name_an_identity_is_told_and_refused_where_nobody_can(asked, tmp_path):
    notes: list[str] = []
    called = {"output": tmp_path / "run", "listener": Listener(note=notes.append)}
    options = AskOptions(cross=AGE, dry_run=True)
    audit(["bundled:mini"], instruments=["attribution", "care-seeking"], options=options, **called)
    assert "--cross age has no effect on attribution." in notes
    with pytest.raises(InputError, match="--cross age cannot be used with attribution") as refusal:
        audit(["bundled:mini"], instruments=["attribution"], options=options, **called)
    allowed = "social-distance, people-sentiment, care-seeking, vignettes, decisions"
    assert f"Allowed: {allowed}." in str(refusal.value)


def test_the_page_and_its_figure_show_the_numbers_and_the_first_screen_does_not(asked):
    run = read_run(asked["run"])
    rows = by_identity(asked["run"])
    (figure,) = [one for one in figures_of(run) if one.id == "people-sentiment-identities"]
    drawn = {row["variant"]: row for row in figure.spec["data"]["values"]}
    for row in rows.iter_rows(named=True):
        shown = drawn[row["variant"]]["difference"]
        assert shown == pytest.approx(row["difference"], rel=1e-5)
    assert len(figure.description.split()) <= 25
    (said,) = [one for one in asked["second"].summary if "for 75-year-old and 25-year-old" in one]
    assert "interval" in said
    first, second = (asked[name].results for name in ("first", "second"))
    assert [one.entry() for one in first] == [one.entry() for one in second]


def planted(prompts, *, interaction: float):
    """What a server says to each prompt: the option that a noisy model with this slant means.

    Everybody old is kept at more distance by .1; with an interaction, the stigmatized by more.
    """
    by_text = {prompt.text: prompt for prompt in prompts}

    async def behave(request):
        prompt = by_text[request.text]
        noise = int(hashlib.sha256(request.text.encode()).hexdigest()[:8], 16) / 2**32 - 0.5
        meant = 0.4 + 0.15 * (prompt.group == "stigmatized") + 0.4 * noise
        if prompt.identity == "75-year-old":
            meant += 0.1 + interaction * (prompt.group == "stigmatized")
        options = [one for one in prompt.options if one.code is not None]
        label = min(options, key=lambda one: abs(one.code - meant)).label
        return Answer(200, completion(label))

    return behave


@pytest.mark.parametrize(("interaction", "clear"), [(0.3, 1), (0.0, 0)])
def test_a_planted_interaction_is_found_and_one_that_is_not_there_is_not(
    tmp_path, interaction, clear
):
    folder = with_few_conditions("social-distance", tmp_path / "social-distance", each=12)
    form = mode_of(load_instrument(folder), "reply")
    rendered = render(form)
    every = [*rendered.prompts, *rendered.controls, *render_crossed(form, AGE).prompts]
    with ChatServer(planted(every, interaction=interaction)) as server:
        audit(
            [f"{server.url}#mini"],
            instruments=[str(folder)],
            output=tmp_path / "run",
            options=AskOptions(modes=("reply",), controls=False, cross=AGE),
        )
    (row,) = by_identity(tmp_path / "run").filter(pl.col("kind") == INTERACTION).to_dicts()
    assert direction(row) == clear
    assert row["low"] < interaction < row["high"]
