"""The multiverse of a run is what measuring it again, analysis by analysis, gives."""

from __future__ import annotations

import csv
import html
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from few_conditions import DATA, with_few_conditions
from goffman.contrasts.catalog import groups_of_conditions
from goffman.contrasts.designs import clusters_by_instrument
from goffman.contrasts.engine import PRIMARY, estimates
from goffman.contrasts.verdict import PRESENT_WORDS
from goffman.formatting import ends
from goffman.lexicons.attitude import BUILT_IN
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.measures.registry import measures
from goffman.presentation.sensitivity import describe_holds
from goffman.report.figures import figures_of
from goffman.report.load import read_run
from goffman.report.summary import main_results
from goffman.report.table_files import tables_of
from goffman.runs.manifest import read_manifest
from goffman.runs.run import read_prompts
from goffman.schemas import SENSITIVITY, STRESS, complaints
from goffman.scoring import load_words, score, without_controls, wordings_of
from goffman.sensitivity.multiverse import HEAVIEST, RATES, TIMES, headline_context
from goffman.stats.crossed import crossed_interval
from in_process import goffman

pytestmark = pytest.mark.slow
"""Whole runs, and every analysis of them twice."""

NUMBERS = ("difference", "low", "high")


def interval_of(estimate):
    """Difference and 95% interval: in a list of contrasts intervals are of another level."""
    half = stats.t.ppf(0.975, estimate["df"]) * estimate["error"]
    return {
        "difference": estimate["difference"],
        "low": estimate["difference"] - half,
        "high": estimate["difference"] + half,
    }


def made(folder, model, instrument, *options):
    done = goffman(
        "audit", model, "--instrument", instrument, "--no-controls", "--output", folder, *options
    )
    assert done.returncode == 0, done.stderr
    done = goffman("stress", folder, "--workers", "1", "--no-report")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def distance(tmp_path_factory):
    """A run of social-distance with a user's ratings; its folder, their file, what was said."""
    base = tmp_path_factory.mktemp("stress")
    people = base / "people.csv"
    people.write_text("word,label\nhard,neutral\nnice,negative\nimpossible,positive\n")
    instrument = with_few_conditions("social-distance", base / "social-distance", each=6)
    said = made(base / "run", "bundled:mini", instrument, "--ratings", people)
    return base / "run", people, said


@pytest.fixture(scope="module")
def care(tmp_path_factory):
    base = tmp_path_factory.mktemp("care")
    instrument = with_few_conditions("care-seeking", base / "care-seeking", each=5)
    said = made(base / "run", "bundled:mini", instrument)
    return base / "run", said


def analyses_of(folder):
    run = read_run(folder)
    rows, summed = run.stressed
    assert complaints(rows, SENSITIVITY) == []
    assert complaints(summed, STRESS) == []
    (row,) = run.estimates.filter(family=PRIMARY).iter_rows(named=True)
    mine = [
        (json.loads(one["choices"]), one)
        for one in rows.filter(variation="analysis").iter_rows(named=True)
    ]
    return run, row, mine, summed.row(0, named=True)


class Groups(NegativeAttitude):
    """The measure with the contrast that is looked at: all others would take minutes."""

    contrasts = (("negative", (groups_of_conditions,)),)


def sharing_of(folder):
    """What the prompts of a run share: near-copies of a wording count once."""
    return clusters_by_instrument(read_prompts(folder, read_manifest(folder)))


def rated_by(column, *, neutral, people, to):
    """A file of ratings as a user would write it, from those of goffman and the user's."""
    rows = {}
    for path in BUILT_IN.values():
        with path.open(newline="", encoding="utf-8") as file:
            read = csv.DictReader(file)
            rows |= {row["word"]: row.get(column) or row["label"] for row in read}
    if people:
        rows |= dict(line.split(",") for line in people.read_text().split()[1:])
    with to.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["word", "label"])
        for word, label in rows.items():
            gone = label == "neutral" and not neutral
            writer.writerow([word, "irrelevant" if gone else label])
    return to


def test_every_analysis_of_social_distance_is_the_run_measured_again(distance, tmp_path):
    folder, people, _ = distance
    run, row, mine, _ = analyses_of(folder)
    # wordings × numbers of words × raters × neutral words
    assert len(mine) == 7 * 3 * 4 * 2
    manifest = read_manifest(folder)
    (name,) = manifest.instruments
    files = {
        "your ratings over goffman's": ("label", people),
        "goffman's ratings alone": ("label", None),
        "rater 1 alone": ("rating_1", people),
        "rater 2 alone": ("rating_2", people),
    }
    again = {}
    for chosen, found in mine:
        key = chosen["rater"], chosen["counting of neutral words"], chosen["number of words"]
        if key not in again:
            column, given = files[key[0]]
            path = tmp_path / f"{len(again)}.csv"
            rated_by(column, neutral=key[1] == "counted", people=given, to=path)
            entry = manifest.instruments[name]
            measured = entry.measured | {"top_k": int(key[2].split()[0])}
            changed = replace(manifest, instruments={name: replace(entry, measured=measured)})
            scores = score(folder, changed, load_words([path], shipped=False))
            again[key] = {"scores": scores.filter(level="prompt")}
        of = again[key]
        wording = chosen["wording"]
        if wording not in of:
            prompts, wordings = of["scores"], wordings_of(folder)
            if wording != "all wordings":
                alone = wording.removesuffix(" alone")
                prompts, wordings = prompts.filter(wording=alone), {name: [alone]}
            every = pl.concat([prompts, Groups().aggregate(prompts)])
            of[wording] = estimates(
                every, {name: Groups()}, wordings=wordings, sharing=sharing_of(folder)
            )
        (expected,) = of[wording].filter(pl.col("model").is_not_null()).iter_rows(named=True)
        for number in NUMBERS:
            assert found[number] == pytest.approx(expected[number], rel=1e-9), (chosen, number)
    own = mine[0][1]
    assert [own[one] for one in NUMBERS] == [row[one] for one in NUMBERS]
    assert own["verdict"] == row["verdict"]
    assert run.stressed[0].filter(variation="word").height == HEAVIEST
    assert run.stressed[0].filter(variation="labels").height == len(RATES) * TIMES


def test_every_analysis_of_care_seeking_is_the_run_measured_again(care):
    folder, _ = care
    _, row, mine, _ = analyses_of(folder)
    # numbers of words × thresholds × first names
    assert len(mine) == 3 * 4 * 2
    manifest = read_manifest(folder)
    (name,) = manifest.instruments
    again = {}
    for chosen, found in mine:
        words, threshold = chosen["number of words"], chosen["minimum word probability"]
        if (words, threshold) not in again:
            entry = manifest.instruments[name]
            other = {
                "top_k": int(words.split()[0]),
                "threshold": 0.0 if threshold == "none" else float(threshold),
            }
            changed = replace(
                manifest, instruments={name: replace(entry, measured=entry.measured | other)}
            )
            scores = without_controls(score(folder, changed, load_words()))
            measure = measures()["gender-of-subject"]()
            found_now = estimates(
                scores,
                {name: measure},
                wordings=wordings_of(folder),
            )
            again[words, threshold] = scores, found_now
        scores, found_now = again[words, threshold]
        names = chosen["counting of first names"]
        variant = {"counted": "with-names", "not counted": "without-names"}[names]
        (expected,) = found_now.filter(
            pl.col("dimension").is_null(),
            kind="groups",
            quantity=row["quantity"],
            variant=variant,
            model=row["model"],
        ).iter_rows(named=True)
        for number, value in interval_of(expected).items():
            assert found[number] == pytest.approx(value, rel=1e-9), chosen


@pytest.fixture(scope="module")
def phrases(tmp_path_factory):
    """A run of attribution that puts back three words at each mask; ten would take minutes."""
    base = tmp_path_factory.mktemp("phrases")
    with_few_conditions("care-seeking", base / "care-seeking", each=4)
    few = base / "attribution"
    shutil.copytree(DATA / "attribution", few)
    about = few / "instrument.toml"
    about.write_text(about.read_text().replace("top_k = 10", "top_k = 3"))
    made(base / "run", "bundled:mini", few)
    return base / "run"


def test_every_analysis_of_attribution_is_the_run_measured_again(phrases):
    _, row, mine, _ = analyses_of(phrases)
    # numbers of words × lengths × first names
    assert len(mine) == 2 * 3 * 2
    manifest = read_manifest(phrases)
    (name,) = manifest.instruments
    entry, again = manifest.instruments[name], {}
    for chosen, found in mine:
        words, length = chosen["number of words"], chosen["length of phrases"]
        if (words, length) not in again:
            other = {"top_k": int(words.split()[0]), "depth": int(length.split()[-1])}
            measured = replace(entry, measured=entry.measured | other)
            changed = replace(manifest, instruments={name: measured})
            again[words, length] = score(phrases, changed, load_words())
        names = chosen["counting of first names"]
        means = again[words, length].filter(
            level="prompt", variant={"counted": "with-names"}.get(names, "without-names")
        )
        female, male = (
            dict(means.filter(quantity=side).group_by("group").agg(pl.col("value").mean()).rows())
            for side in ("female", "male")
        )
        first, second = (female[row[side]] - male[row[side]] for side in ("first", "second"))
        difference = first - second
        assert found["difference"] == pytest.approx(difference, abs=1e-12), chosen


def test_every_analysis_of_sentiment_is_the_run_measured_again(tmp_path):
    folder = tmp_path / "run"
    made(folder, "bundled:mini-sentiment", "people-sentiment")
    _, row, mine, _ = analyses_of(folder)
    scores = read_run(folder).scores.filter(level="prompt")
    expected = {"probability of negative": "negative-probability", "share of labels": "negative"}
    assert len(mine) == 2
    for chosen, found in mine:
        of = scores.filter(quantity=expected[chosen["choice between probability and label"]])
        # Conditions × sentences, over the forms of a condition.
        means = of.group_by("group", "condition", "category", "item").agg(pl.col("value").mean())
        wide = means.sort("item", "condition").pivot(
            "item", index=["group", "condition", "category"], values="value"
        )
        sides = [wide.filter(group=row[side]) for side in ("first", "second")]
        again = crossed_interval(
            [side.drop("group", "condition", "category").to_numpy()[:, :, None] for side in sides],
            [side["category"].to_list() for side in sides],
        )
        again = {"difference": again.difference, "error": again.se, "df": again.df}
        for number, value in interval_of(again).items():
            assert found[number] == pytest.approx(value), (chosen, number)
        assert found["verdict"] == row["verdict"] or chosen != mine[0][0]


def numbers_of(row):
    return tuple(round(row[name], 12) for name in ("difference", "low", "high"))


def test_the_summary_is_what_the_rows_come_to(distance):
    _, row, mine, summed = analyses_of(distance[0])
    # What comes to the same numbers counts once.
    rows = [*{numbers_of(one): one for _, one in reversed(mine)}.values()]
    differences = [one["difference"] for one in rows]
    assert summed["median"] == pytest.approx(np.median(differences))
    assert (summed["lowest"], summed["highest"]) == (min(differences), max(differences))
    assert summed["analyses"] == summed["tested"] == len(rows)
    if row["verdict"] in PRESENT_WORDS:
        same = [one["difference"] * row["difference"] > 0 for one in rows]
        there = [one["verdict"] in PRESENT_WORDS for one in rows]
        held = [a and b for a, b in zip(there, same, strict=True)]
    else:
        held = [one["verdict"] == row["verdict"] for one in rows]
    assert summed["holds"] == sum(held)
    assert summed["holds_in"] == pytest.approx(np.mean(held))
    assert [one["holds"] for one in rows] == held
    shares = json.loads(summed["explained"])
    differences = [one["difference"] for _, one in mine]
    for choice, share in shares.items():
        options = {one[choice] for one, _ in mine}
        means = {o: np.mean([r["difference"] for c, r in mine if c[choice] == o]) for o in options}
        between = sum((means[c[choice]] - np.mean(differences)) ** 2 for c, _ in mine)
        assert share == pytest.approx(between / (np.var(differences) * len(differences)))
    assert summed["matters_most"] == max(shares, key=shares.get)


def test_a_word_left_out_is_a_word_that_is_irrelevant(distance, tmp_path):
    folder, people, _ = distance
    rows, _ = read_run(folder).stressed
    one = rows.filter(variation="word").row(0, named=True)
    path = rated_by("label", neutral=True, people=people, to=tmp_path / "all.csv")
    text = path.read_text().splitlines()
    kept = [line for line in text if line.split(",")[0] != one["what"]]
    path.write_text("\n".join([*kept, f"{one['what']},irrelevant"]) + "\n")
    prompts = score(folder, read_manifest(folder), load_words([path], shipped=False))
    (name,) = read_manifest(folder).instruments
    found = estimates(
        without_controls(prompts),
        {name: Groups()},
        wordings=wordings_of(folder),
        sharing=sharing_of(folder),
    )
    expected = found.filter(kind="groups")["difference"][0]
    assert one["difference"] == pytest.approx(expected, rel=1e-9)


def test_the_share_of_a_word_is_its_part_of_the_counted_probability(care):
    folder, _ = care
    rows, _ = read_run(folder).stressed
    shares = dict(rows.filter(variation="word").select("what", "share").rows())
    assert rows.filter(pl.col("variation") != "word")["share"].null_count() == rows.height - len(
        shares
    )
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    work = headline_context(folder, *rows.select("instrument", "model").row(0))
    stored = work.stored
    said = stored.measure.code_responses(
        stored.answers, stored.prompts, stored.words, cased=work.cased
    )
    mass = {}
    for one in said.iter_rows(named=True):
        counts = one["gender_group"] in ("female", "male") and one["rank"] is not None
        if counts and one["probability"] >= np.float32(0.01):
            word = one["word"].strip().lower()
            mass[word] = mass.get(word, 0.0) + one["probability"]
    assert shares.keys() <= mass.keys()
    for word, share in shares.items():
        assert share == pytest.approx(mass[word] / sum(mass.values()), rel=1e-6)


def test_every_word_that_is_left_out_is_a_part_of_the_number(care):
    rows, _ = read_run(care[0]).stressed
    (made,) = read_run(care[0]).estimates.filter(family=PRIMARY)["difference"]
    without = rows.filter(variation="word")["difference"]
    assert len(without) > 1
    assert made not in without.to_list()


def test_processes_beside_each_other_give_the_same_tables(care, tmp_path):
    folder, _ = care
    other = Path(shutil.copytree(folder, tmp_path / "run"))
    before = read_run(folder).stressed
    code = (
        "from pathlib import Path; from goffman.report.write import stress_run\n"
        f"if __name__ == '__main__': stress_run(Path({str(other)!r}), workers=2)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
    for one, again in zip(before, read_run(other).stressed, strict=True):
        assert one.equals(again)


def test_memory_does_not_grow_with_the_number_of_analyses(care, tmp_path):
    """The peak of a process that runs 48 analyses beside that of one that runs four times that."""
    folder, _ = care
    code = (
        "import resource, sys; from pathlib import Path; from goffman.sensitivity import multiverse\n"
        f"folder = Path({str(folder)!r})\n"
        "import polars as pl\n"
        "row = pl.read_parquet(folder / 'estimates.parquet')"
        ".filter(pl.col('family') == 'primary').row(0, named=True)\n"
        "work = multiverse.headline_context(folder, row['instrument'], row['model'])\n"
        "every = multiverse.analyses(work.stored)\n"
        "for _ in range(int(sys.argv[1])):\n"
        "    for one in every: work.outcome(one, work.scores(one))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    few, many = (
        int(
            subprocess.run(
                [sys.executable, "-c", code, times],
                check=True,
                capture_output=True,
                text=True,
                timeout=300,
            ).stdout
        )
        for times in ("1", "4")
    )
    assert many < 1.15 * few


def test_measuring_the_run_again_forgets_the_analyses(care, tmp_path):
    folder, _ = care
    other = Path(shutil.copytree(folder, tmp_path / "run"))
    done = goffman("report", other, "--parser", "v1")
    assert done.returncode == 0, done.stderr
    assert read_run(other).stressed is None
    assert not (other / "multiverse.parquet").exists()


def test_the_terminal_says_what_the_page_says(distance, tmp_path):
    folder, _, said = distance
    other = Path(shutil.copytree(folder, tmp_path / "run"))
    _, _, mine, summed = analyses_of(other)
    (line,) = (one for one in said.splitlines() if " social-distance " in one)
    span = ends(summed["lowest"], summed["highest"])
    assert f" {summed['analyses']} {span} " in line
    assert line.endswith(f"% {summed['matters_most']}")
    assert max(map(len, said.partition("\n\n")[0].splitlines())) <= 80
    assert "holds in" not in said.replace("holds in most", "")
    lead = f"Over {summed['analyses']} analyses, the difference is "
    counted = f"η²): the {summed['matters_most']} "
    done = goffman("report", other)
    assert done.returncode == 0, done.stderr
    page = html.unescape((other / "report.html").read_text(encoding="utf-8"))
    assert lead in page
    assert counted in page
    assert 'data-tab="Other analyses"' in page
    run = read_run(other)
    assert "social-distance-analyses" in {one.id for one in figures_of(run)}
    (table,) = (one for one in tables_of(run) if one.name == "social-distance-analyses")
    assert len(table.rows) == len(mine)
    assert {"wording", "rater", "difference", "verdict"} <= {*table.columns}


@pytest.fixture(scope="module")
def failing(tiny, tmp_path_factory):
    """A run of a model that fails the control items."""
    base = tmp_path_factory.mktemp("failing")
    instrument = with_few_conditions("care-seeking", base / "care-seeking", each=4)
    done = goffman("audit", tiny("bert"), "--instrument", instrument, "--output", base / "run")
    assert done.returncode == 0, done.stderr
    return base / "run"


def test_a_model_that_cannot_do_the_task_has_no_analyses_and_a_sentence(failing):
    folder = failing
    done = goffman("stress", folder, "--workers", "1", "--no-report", "--json")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)
    assert (found["analyses"], found["holds_in"]) == (0, None)
    assert found["reason"].startswith("the model is not measurable: it")
    (one,) = main_results(read_run(folder).sections)
    assert found["finding"] == "Not measurable"
    assert found["caveats"] == [note.id for note in one.finding.caveats]
    assert read_run(folder).stressed[0].height == 0


def test_without_choices_there_are_only_parts_to_leave_out(distance, tmp_path, monkeypatch):
    other = Path(shutil.copytree(distance[0], tmp_path / "run"))
    monkeypatch.delattr(NegativeAttitude, "choices")
    done = goffman("stress", other, "--workers", "1", "--no-report")
    assert done.returncode == 0, done.stderr
    assert " social-distance " in done.stdout
    (said,) = describe_holds(read_run(other).sections["social-distance"])
    assert said.head == "This analysis has no choices; only parts were left out"
    rows, summed = read_run(other).stressed
    assert {*rows["variation"]} == {"analysis", "word", "labels"}
    assert rows.filter(variation="analysis").height == 1
    assert summed.row(0, named=True)["holds_in"] is None
    gate = goffman("check", other, "--fail-if", "holds-in < 0.9")
    assert gate.returncode == 2
    assert "has no holds-in (its measure names nothing that could be chosen)." in gate.stderr


def test_what_is_no_run_is_said(tmp_path):
    done = goffman("stress", tmp_path / "none")
    assert done.returncode == 2
    assert "none" in done.stderr
    assert not (tmp_path / "none").exists()


def test_ratings_that_are_gone_are_said(distance, tmp_path):
    folder, people, _ = distance
    other = Path(shutil.copytree(folder, tmp_path / "run"))
    manifest = (other / "manifest.json").read_text()
    (other / "manifest.json").write_text(manifest.replace(str(people), str(tmp_path / "gone.csv")))
    done = goffman("stress", other, "--workers", "1", "--no-report")
    assert done.returncode != 0
    assert "gone.csv" in done.stderr


def test_the_gate_reads_in_how_many_analyses_a_result_holds(distance):
    folder, _, _ = distance
    _, _, _, summed = analyses_of(folder)
    share, name = summed["holds_in"], "social-distance.gap[bundled:mini].holds-in"
    counted = f"({summed['holds']} of {summed['analyses']} analyses)"
    for rule in ("holds-in", "social-distance.gap.holds-in", "gap[bundled:mini].holds-in"):
        failed = goffman("check", folder, "--fail-if", f"{rule} <= {share}")
        assert failed.returncode == 1, failed.stderr
        must = f"must be more than {share} {counted}"
        assert failed.stdout.startswith(f"FAILED {name} = {share}, {must}")
        passed = goffman("check", folder, "--fail-if", f"{rule} < {share}")
        assert passed.returncode == 0
    listed = json.loads(goffman("check", folder, "--list", "--json").stdout)
    known = {one["name"]: one["holds-in"] for one in listed}
    assert {key: value for key, value in known.items() if value is not None} == {
        "social-distance.heading[bundled:mini]": share,
        "social-distance.gap[bundled:mini]": share,
    }


def test_the_gate_says_what_has_no_other_analyses(care, distance, tmp_path):
    wrong = goffman("check", distance[0], "--fail-if", "gap-as-asked.holds-in < 0.9")
    assert wrong.returncode == 2
    assert "only main results have .holds-in, and gap-as-asked is none." in wrong.stderr
    other = Path(shutil.copytree(care[0], tmp_path / "run"))
    assert goffman("report", other, "--parser", "v1").returncode == 0
    missing = goffman("check", other, "--fail-if", "holds-in < 0.9")
    assert missing.returncode == 2
    assert "has no holds-in (give this run to goffman stress first)." in missing.stderr


def test_the_gate_does_not_decide_on_a_model_that_cannot_do_the_task(failing):
    done = goffman("check", failing, "--fail-if", "holds-in < 0.9", "--json")
    assert done.returncode == 4, done.stderr
    (outcome,) = json.loads(done.stdout)["outcomes"]
    assert (outcome["value"], outcome["failed"], outcome["not_measurable"]) == (None, False, True)
