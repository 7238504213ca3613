"""audit --paraphrases and --cross: asked in addition, resumed, measured beside what is always asked."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace

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
from goffman.sensitivity.multiverse import stress_tables

AGE = identities("age")
ALSO = {
    "paraphrases": AskOptions(controls=False, paraphrases=True),
    "identities": AskOptions(controls=False, cross=AGE),
}
"""By the folder in the run: with what that is asked which lies there."""

OF_IDENTITIES = pl.col("kind").is_in([GAP_OF, INTERACTION])
OF_WORDINGS = pl.col("variation").is_in(
    ["wording alone", "paraphrase alone", "with the paraphrases"]
)


def asked_further(name, tiny, place):
    """A run of a classifier without what is further asked, then with it; and its tables before."""
    with_few_conditions("social-distance", place / "social-distance", each=9)
    shutil.copytree(DATA / "people-sentiment", place / "people-sentiment")
    model, run = str(tiny("bert", labels=("NEG", "POS"))), place / "run"
    called = {"instruments": [str(place / "people-sentiment")], "output": run}
    first = audit([model], options=AskOptions(controls=False), **called)
    before = tables(run)
    notes: list[str] = []
    second = audit([model], options=ALSO[name], listener=Listener(note=notes.append), **called)
    return {"name": name, "model": model, "called": called, "run": run, "before": before} | {
        "first": first,
        "second": second,
        "notes": notes,
    }


def tables(run):
    """The run's own numbers: estimates without those of identities, other analyses without those of
    wordings."""
    names = ("prompts.parquet", "scores.parquet")
    own = {name: (run / name).read_bytes() for name in names}
    own["estimates"] = pl.read_parquet(run / "estimates.parquet").filter(~OF_IDENTITIES).to_dicts()
    others = pl.read_parquet(run / "sensitivity.parquet").filter(~OF_WORDINGS)
    return own | {"sensitivity": others.to_dicts()}


@pytest.fixture(scope="module")
def paraphrased(tiny, tmp_path_factory):
    return asked_further("paraphrases", tiny, tmp_path_factory.mktemp("paraphrases"))


@pytest.fixture(scope="module")
def identified(tiny, tmp_path_factory):
    return asked_further("identities", tiny, tmp_path_factory.mktemp("identities"))


@pytest.fixture(params=["paraphrased", "identified"])
def asked(request):
    return request.getfixturevalue(request.param)


def test_more_is_asked_in_addition_and_the_run_itself_stays_as_it_was(asked):
    own, further = asked["second"].asked
    assert own.asked_now == 0
    assert further.instrument == f"people-sentiment, {asked['name']}"
    assert further.asked_now == further.sentences
    if asked["name"] == "paraphrases":
        assert further.sentences == 2 * own.sentences
    assert tables(asked["run"]) == asked["before"]
    why = {
        "paraphrases": "in other wordings (--paraphrases)",
        "identities": "about people with a second identity (--cross age)",
    }[asked["name"]]
    cost = f"{asked['model']} is asked another {further.sentences} prompts {why}."
    assert cost in asked["notes"]


def test_it_is_not_asked_again_and_what_is_lost_is(asked):
    def again(options):
        return [one.asked_now for one in audit([asked["model"]], options=options, **called).asked]

    also, called, folder = ALSO[asked["name"]], asked["called"], asked["run"] / asked["name"]
    assert again(also) == [0, 0]
    before = read_answers(folder, "labels"), pl.read_parquet(asked["run"] / "estimates.parquet")
    next((folder / "answers").rglob("*.parquet")).unlink()
    own, further = again(also)
    assert own == 0 < further <= asked["second"].asked[1].sentences
    # Without the option it stays.
    again(AskOptions(controls=False))
    assert read_answers(folder, "labels").equals(before[0])
    assert pl.read_parquet(asked["run"] / "estimates.parquet").equals(before[1])


def test_a_link_in_its_place_leads_nowhere_out_of_the_run(asked, tmp_path):
    name = asked["name"]
    shutil.copytree(asked["run"], tmp_path / "run")
    shutil.move(tmp_path / "run" / name, tmp_path / "before")
    (own := tmp_path / "own").mkdir()
    (own / "lock").write_text("thesis")
    (tmp_path / "run" / name).symlink_to(own)
    called = asked["called"] | {"output": tmp_path / "run"}
    with pytest.raises(RunError) as refusal:
        audit([asked["model"]], options=ALSO[name], **called)
    assert str(refusal.value) == (
        f"{name} in {tmp_path / 'run'} is a link, not a folder. Move it away and run the same "
        "command again."
    )
    assert {path.name: path.read_text() for path in own.iterdir()} == {"lock": "thesis"}


def test_a_dry_run_counts_it_and_a_limit_holds_for_each_further_asking(asked, tmp_path):
    notes: list[str] = []
    options = replace(ALSO[asked["name"]], limit=40, dry_run=True)
    called = asked["called"] | {"output": tmp_path / "nowhere"}
    audit([asked["model"]], options=options, listener=Listener(note=notes.append), **called)
    assert any("people-sentiment" in note and ": 40 prompts." in note for note in notes)
    # The first condition names an ethnicity, and can be of people of every age.
    what = asked["name"].capitalize()
    assert any(note.startswith(f"{what}: ") and ": 80 prompts." in note for note in notes)
    assert not (tmp_path / "nowhere").exists()


# Paraphrases


def by_wording(run):
    """The main results made of one wording alone, and with the paraphrases."""
    return pl.read_parquet(run / "sensitivity.parquet").filter(OF_WORDINGS)


def test_numbers_by_wording_are_those_of_the_answers(paraphrased):
    """Recomputed from the stored probabilities: items and forms, then conditions, averaged."""
    run = paraphrased["run"]
    values: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for folder in (run, run / "paraphrases"):
        negative = dict(read_answers(folder, "labels").select("prompt_id", "negative").rows())
        for row in read_prompts(folder).iter_rows(named=True):
            cell = (row["wording"], row["group"], row["condition"])
            of_items = values.setdefault(cell, {})
            of_items.setdefault(row["item"], []).append(negative[row["prompt_id"]])

    def mean(wordings, group):
        conditions = {condition for _, of, condition in values if of == group}
        return np.mean(
            [
                np.mean([np.mean(several) for several in values[one, group, condition].values()])
                for one in wordings
                for condition in conditions
            ]
        )

    worded = by_wording(run)
    assert worded["what"].to_list() == ["only", "group", "about", ""]
    assert worded["variation"].to_list() == [
        "wording alone",
        "paraphrase alone",
        "paraphrase alone",
        "with the paraphrases",
    ]
    levels = []
    for row in worded.iter_rows(named=True):
        of = [row["what"]] if row["what"] else ["only", "group", "about"]
        first, second = mean(of, "stigmatized"), mean(of, "non-stigmatized")
        assert row["mean_first"] == pytest.approx(first, abs=1e-6)
        assert row["difference"] == pytest.approx(first - second, abs=1e-6)
        levels += [first] if row["what"] else []
    gap = mean(["only"], "stigmatized") - mean(["only"], "non-stigmatized")
    said = "\n".join(paraphrased["second"].summary)
    assert ("changes more with the wording" in said) is bool(max(levels) - min(levels) > abs(gap))
    assert "Across 3 wordings (2 of them asked only as a check), the difference ranges" in said
    assert "With the paraphrases, the difference is " in said
    assert "With the paraphrases" not in "\n".join(paraphrased["first"].summary)


def test_a_few_prompts_are_asked_in_other_words_of_the_same_conditions(tiny, tmp_path):
    options = AskOptions(controls=False, paraphrases=True, limit=60)
    model = str(tiny("roberta"))
    audit([model], instruments=["social-distance"], output=tmp_path, options=options)
    cells = [
        {*read_prompts(folder).select("item", "condition", "form").rows()}
        for folder in (tmp_path, tmp_path / "paraphrases")
    ]
    assert cells[0] == cells[1]


def test_sentence_pairs_are_asked_in_other_frames_without_adjectives(tiny, tmp_path):
    sentences = {"coreference.pairs": 30, "coreference.adjectives": ["old,"]}
    options = AskOptions(controls=False, paraphrases=True, settings=sentences)
    model = str(tiny("roberta"))
    audit([model], instruments=["coreference"], output=tmp_path, options=options)
    further = read_prompts(tmp_path / "paraphrases")
    assert further["condition"].unique().to_list() == ["baseline"]
    assert further.group_by("paraphrase", "wording").len()["len"].to_list() == [30] * 4
    worded = by_wording(tmp_path)
    assert worded["what"].to_list() == ["only", "what-happened", "what-i-read", ""]
    estimates = pl.read_parquet(tmp_path / "estimates.parquet")
    (headline,) = estimates.filter(pl.col("family") == "primary")["difference"]
    assert worded["difference"][0] == pytest.approx(headline)
    assert worded["difference"][3] == pytest.approx(worded["difference"][:3].mean())


def test_stress_has_paraphrases_as_a_choice_and_agrees_with_the_numbers_by_wording(paraphrased):
    run = read_run(paraphrased["run"])
    primary = run.estimates.filter(pl.col("family") == "primary")
    found, _ = stress_tables(run.folder, primary=primary, unmeasurable={})
    by_choice = {}
    for row in found.filter(pl.col("variation") == "analysis").iter_rows(named=True):
        chosen = json.loads(row["choices"])
        others = {name: option for name, option in chosen.items() if name != "wording"}
        by_choice.setdefault(json.dumps(others), {})[chosen["wording"]] = row["difference"]
    # The first analysis is the audit's own.
    mine = next(iter(by_choice.values()))
    worded = by_wording(run.folder)
    of = dict(worded.select("what", "difference").rows())
    assert mine == {
        "wordings of the instrument": pytest.approx(primary["difference"][0]),
        "with the paraphrases": pytest.approx(of[""]),
        "only alone": pytest.approx(of["only"]),
        "group alone": pytest.approx(of["group"]),
        "about alone": pytest.approx(of["about"]),
    }


# A second identity


def by_identity(run):
    rows = pl.read_parquet(run / "estimates.parquet")
    return rows.filter(OF_IDENTITIES)


def test_each_level_has_its_gap_and_every_two_of_them_a_difference(identified):
    assert by_identity(identified["run"])["variant"].to_list() == [
        "25-year-old",
        "75-year-old",
        "75-year-old vs 25-year-old",
    ]


def test_prompts_carry_their_identity_and_none_is_a_control_or_of_another_group(identified):
    prompts = read_prompts(identified["run"] / "identities")
    assert prompts["identity"].unique().sort().to_list() == ["25-year-old", "75-year-old"]
    assert prompts["group"].unique().sort().to_list() == [
        "baseline",
        "non-stigmatized",
        "stigmatized",
    ]
    named = prompts.select(pl.col("text").str.contains(pl.col("identity"))).to_series()
    assert named.all()
    assert read_prompts(identified["run"])["identity"].null_count() == len(
        read_prompts(identified["run"])
    )
    told = json.loads((identified["run"] / "identities" / "manifest.json").read_text())
    assert told["instruments"]["people-sentiment"]["identities"] == {
        "factor": "age",
        "levels": ["25-year-old", "75-year-old"],
    }
    assert "controls" not in told["instruments"]["people-sentiment"]


def test_the_interaction_is_that_of_the_answers(identified):
    """Recomputed from the stored probabilities: the old minus the young in each cell."""
    folder = identified["run"] / "identities"
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
    rows = by_identity(identified["run"])
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


def test_another_factor_is_refused_in_the_same_run(identified):
    options = AskOptions(controls=False, cross=identities("orientation"))
    with pytest.raises(RunError, match="factor: age then, orientation now") as refusal:
        audit([identified["model"]], options=options, **identified["called"])
    assert "Give another folder with --output" in str(refusal.value)


def test_python_takes_the_name_of_a_factor(tmp_path):
    run = goffman.audit(
        "bundled:mini", instruments="care-seeking", cross="age", dry_run=True, output=tmp_path / "x"
    )
    assert any("Identities: " in note for note in run.notes)
    with pytest.raises(InputError, match="Did you mean 'age'"):
        goffman.audit("bundled:mini", cross="agee", dry_run=True, output=tmp_path / "x")


def test_who_cannot_name_an_identity_is_told_and_refused_where_nobody_can(identified, tmp_path):
    notes: list[str] = []
    called = {"output": tmp_path / "run", "listener": Listener(note=notes.append)}
    options = AskOptions(cross=AGE, dry_run=True)
    audit(["bundled:mini"], instruments=["attribution", "care-seeking"], options=options, **called)
    assert "--cross age has no effect on attribution." in notes
    with pytest.raises(InputError, match="--cross age cannot be used with attribution") as refusal:
        audit(["bundled:mini"], instruments=["attribution"], options=options, **called)
    allowed = "social-distance, people-sentiment, care-seeking, vignettes, decisions"
    assert f"Allowed: {allowed}." in str(refusal.value)


def test_the_page_and_its_figure_show_the_numbers_and_the_first_screen_does_not(identified):
    run = read_run(identified["run"])
    rows = by_identity(identified["run"])
    (figure,) = [one for one in figures_of(run) if one.id == "people-sentiment-identities"]
    drawn = {row["variant"]: row for row in figure.spec["data"]["values"]}
    for row in rows.iter_rows(named=True):
        shown = drawn[row["variant"]]["difference"]
        assert shown == pytest.approx(row["difference"], rel=1e-5)
    assert len(figure.description.split()) <= 25
    (said,) = [
        one for one in identified["second"].summary if "for 75-year-old and 25-year-old" in one
    ]
    assert "interval" in said
    first, second = (identified[name].results for name in ("first", "second"))
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
