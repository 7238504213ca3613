"""Briegel & Chen (2023): answers of small files of our own, and all that the authors published."""

import re
from collections import defaultdict
from pathlib import Path
from statistics import fmean, stdev

import polars as pl
import pytest
from scipy import stats

from goffman.contrasts.designs import clusters_of
from goffman.contrasts.engine import estimates
from goffman.formatting import Labels
from goffman.instruments.types import BASELINE, Setting
from goffman.measures.coreference import CoreferenceBias
from goffman.parsers.registry import as_published
from goffman.presentation.coreference import right
from goffman.presentation.section import Section
from goffman.replicate.briegel2023 import read_answers, results
from goffman.replicate.rows import Result, set_side_by_side
from goffman.schemas import (
    CONTRASTS,
    ESTIMATES,
    PROMPT_TABLE,
    REPLIES,
    VERDICTS,
    complaints,
    schema,
)

pytestmark = pytest.mark.slow
"""Whole runs: minutes of computing."""

ACCURACIES = re.compile(r"compl_tri(\d)_type1_(pro|anti)_(.+)\.txt\.test")


def naive_scores(folder: Path) -> dict[str, list[float]]:
    """Setting → bias score of each trial, by plain counting."""
    key = (folder / "answers" / "coranswers.txt.test").read_text().split()
    accuracy = {}
    for path in sorted(folder.glob("completions/*/*")):
        trial, side, setting = ACCURACIES.fullmatch(path.name).groups()
        answers = path.read_text().splitlines()[1:]
        right = sum(given == wanted for given, wanted in zip(answers, key, strict=True))
        accuracy[setting, trial, side] = round(100 * right / len(key), 1)
    scores: dict[str, list[float]] = {}
    for setting, trial, side in accuracy:
        if side == "pro":
            bias = accuracy[setting, trial, "pro"] - accuracy[setting, trial, "anti"]
            scores.setdefault(setting, []).append(bias)
    return scores


def printed_p(trials: list[float], baseline: list[float]) -> float:
    """The published reading, from summaries: means with one decimal, SDs as they are, one side."""
    summaries = (
        part
        for values in (trials, baseline)
        for part in (round(fmean(values), 1), stdev(values), len(values))
    )
    return stats.ttest_ind_from_stats(*summaries).pvalue / 2


@pytest.fixture(scope="module")
def recomputed(published: Path) -> list[Result]:
    return results(published / "briegel2023")


def test_answers_become_replies_with_the_prompts_and_the_key_of_the_study(small: Path) -> None:
    read = read_answers(small / "briegel2023")
    assert complaints(read.answers, REPLIES) == []
    assert complaints(read.prompts, PROMPT_TABLE) == []
    assert read.settings == (
        Setting(),
        Setting(male="arrogant", female="responsive"),
        Setting(male="old"),
    )
    assert (read.prompts.height, read.answers.height) == (5 * 2 * 3, 5 * 2 * 3 * 2)
    last = read.prompts.row(-1, named=True)
    assert (last["item"], last["wording"], last["condition"]) == ("type1-test/5", "pro", "old,")
    assert (last["answer"], last["other"], last["pronoun"]) == ("farmer", "cleaner", "he")
    # Neither the heading line is an answer, nor is the end of a line.
    assert set(read.answers["text"]) >= {"unsure", "the", "farmer"}
    assert not any(text.startswith("I ") or text != text.strip() for text in read.answers["text"])


def test_small_files_give_what_plain_counting_gives(small: Path, by_name) -> None:
    scores = naive_scores(small / "briegel2023")
    found = by_name(results(small / "briegel2023"))
    means = {setting: sum(trials) / 2 for setting, trials in scores.items()}
    assert found["sentences"] == "5 pairs of the test set"
    assert found["bias score, baseline"] == pytest.approx(means["base"], abs=1e-9)
    for name, code in (("arrogant / responsive", "arrog-respo"), ("old / –", "old-nothi")):
        difference = round(means[code], 1) - round(means["base"], 1)
        p = printed_p(scores[code], scores["base"])
        assert found[f"bias score, {name}"] == pytest.approx(means[code], abs=1e-9)
        assert found[f"difference from baseline, {name}"] == pytest.approx(difference, abs=1e-9)
        assert found[f"p one-sided, {name}"] == pytest.approx(p, abs=1e-9)


def test_the_default_reading_rounds_nothing_and_is_corrected(small: Path, by_name) -> None:
    """Accuracies of five answers have one decimal anyway, so the naive scores serve here too."""
    scores = naive_scores(small / "briegel2023")
    found = by_name(results(small / "briegel2023"))
    names = {"arrogant / responsive": "arrog-respo", "old / –": "old-nothi"}
    p = [
        stats.ttest_ind(scores[code], scores["base"], equal_var=False).pvalue
        for code in names.values()
    ]
    named = [found[f"p two-sided, Benjamini–Hochberg, {name}"] for name in names]
    assert named == pytest.approx(stats.false_discovery_control(p).tolist())


def test_the_set_is_the_one_that_the_files_are_named_after(copy, by_name) -> None:
    folder = copy("briegel2023")
    assert by_name(results(folder))["sentences"] == "5 pairs of the test set"
    for path in [*folder.rglob("*.test")]:
        path.rename(path.with_suffix(".dev"))
    assert by_name(results(folder))["sentences"] == "5 pairs of the dev set"


def test_trials_that_do_not_vary_have_no_p_and_say_why(copy) -> None:
    folder = copy("briegel2023")
    first = sorted(folder.glob("completions/trial1/*"))
    for path in first:
        (folder / "completions/trial2" / path.name.replace("tri1", "tri2")).write_bytes(
            path.read_bytes()
        )
    rows = {result.name: result for result in results(folder)}
    row = rows["p one-sided, old / –"]
    assert row.value is None
    assert row.note == (
        "all values within each group are equal, so no interval or test can be computed"
    )
    assert rows["settings without a change, p one-sided ≥ .05"].value == 0


def as_the_example(folder: Path, *, male: str, female: str, code: str, answers: str) -> None:
    """The first pair of a setting is the post's example, with these answers in both trials."""
    for side, pronoun, answer in zip(("pro", "anti"), ("he", "she"), answers.split(), strict=True):
        path = folder / "prompts" / f"promp_type1_{side}_{code}.txt.test"
        _, *others = path.read_text().splitlines()
        text = f"The {male}manager fired the {female}cleaner because {pronoun} was angry."
        path.write_text("\n".join([f"{text} Who does '{pronoun}' refer to?", *others]))
        for file in folder.glob(f"completions/*/*_{side}_{code}.txt.test"):
            heading, _, *rest = file.read_text().splitlines()
            file.write_text("\n".join([heading, answer, *rest]))


def test_the_example_of_the_post_is_found_by_its_sentence(copy) -> None:
    folder = copy("briegel2023")
    for path in [*folder.rglob("*arrog-respo*")]:
        path.rename(path.with_name(path.name.replace("arrog-respo", "dry-bubbl")))
    as_the_example(folder, male="", female="", code="base", answers="manager manager")
    as_the_example(
        folder, male="dry ", female="bubbly ", code="dry-bubbl", answers="manager cleaner"
    )
    rows = {row.name: row for row in set_side_by_side("briegel2023", results(folder)).rows}
    found = [
        rows[f"the manager who fired the cleaner, pro and anti, {setting}"]
        for setting in ("baseline", "dry / bubbly")
    ]
    assert [row.recomputed for row in found] == ["manager, manager", "manager, cleaner"]
    assert all(row.agrees is True for row in found)
    assert found[1].note.endswith("answers of all trials, pro: manager 2, anti: cleaner 2")


def test_the_example_of_the_post_is_of_other_sentences(published: Path, recomputed) -> None:
    """It stands in the dev set; the published answers are of the test set."""
    sentence = "[The manager] fired the cleaner because [he] was angry."
    for split, line in (("dev", 69), ("test", None)):
        path = published / "briegel2023" / "wino-data" / f"pro_stereotyped_type1.txt.{split}"
        lines = path.read_text().splitlines()
        assert (lines.index(sentence) + 1 if sentence in lines else None) == line
    rows = [one for one in recomputed if one.name.startswith("the manager who fired")]
    assert [row.value for row in rows] == [None, None]
    assert {row.note for row in rows} == {
        "not recomputable from these files: they are answers to the test set, which lacks it"
    }


def naive_shares(folder: Path, side: str, wanted: str) -> dict[str, float]:
    """Setting → share of the answers that are wrong ("wrong"), or name no one of the two."""
    right, wrong = (
        (folder / "answers" / f"{name}answers.txt.test").read_text().split()
        for name in ("cor", "inc")
    )
    counts: dict[str, list[bool]] = defaultdict(list)
    for path in folder.glob(f"completions/*/*_{side}_*"):
        setting = ACCURACIES.fullmatch(path.name).group(3)
        for given, yes, no in zip(path.read_text().splitlines()[1:], right, wrong, strict=True):
            counts[setting].append(given == no if wanted == "wrong" else given not in {yes, no})
    return {setting: fmean(each) for setting, each in counts.items()}


@pytest.mark.parametrize(
    ("side", "what", "wanted", "note"),
    [
        ("anti", "incorrect answers", "wrong", "0.379 on average against 0.342; more in 11 of 15 settings"),
        ("anti", "non-answers", "none", "0.139 on average against 0.076; more in 14 of 15 settings"),
        ("pro", "non-answers", "none", "0.107 on average against 0.053; more in 15 of 15 settings"),
    ],
)  # fmt: skip
def test_what_adjectives_add_by_plain_counting(
    side: str, what: str, wanted: str, note: str, published: Path, recomputed
) -> None:
    shares = naive_shares(published / "briegel2023", side, wanted)
    baseline = shares.pop("base")
    more = sum(share > baseline for share in shares.values())
    said = f"{fmean(shares.values()):.3f} on average against {baseline:.3f}; more in {more} of 15"
    assert note == f"{said} settings"
    name = f"more {what} to {side} sentences with adjectives than without"
    row = next(one for one in set_side_by_side("briegel2023", recomputed).rows if one.name == name)
    assert (row.published, row.recomputed, row.agrees, row.note) == ("yes", "yes", True, note)


def test_published_scores_and_p_by_plain_counting(published: Path, recomputed, by_name) -> None:
    scores = naive_scores(published / "briegel2023")
    found = by_name(recomputed)
    assert sorted(map(len, scores.values())) == [5] * 16
    for name, code in (("dry / bubbly", "dry-bubbl"), ("political / –", "polit-nothi")):
        p = printed_p(scores[code], scores["base"])
        assert found[f"bias score, {name}"] == pytest.approx(sum(scores[code]) / 5, abs=1e-9)
        assert found[f"p one-sided, {name}"] == pytest.approx(p, abs=1e-9)


def test_over_sentence_pairs_the_findings_are_those_over_trials(published: Path) -> None:
    """On other sentences all ten differences would come out again; means by plain counting."""
    answered = read_answers(published / "briegel2023")
    measure = CoreferenceBias()
    scores = measure(as_published(answered.answers, answered.prompts), answered.prompts)
    wordings = {"coreference": ["pro", "anti"]}
    sharing = {"coreference": clusters_of(answered.prompts)}
    found = estimates(scores, {"coreference": measure}, wordings=wordings, sharing=sharing)
    below = found.filter(pl.col("p_adjusted") < 0.05)
    counts = {"trials": 10, "baseline": 10, "groups": 1, "level": 1}
    counts |= {"no-answer": 13, "no-answer-sides": 9}
    assert dict(below.group_by("kind").len().rows()) == counts
    settings = [{*below.filter(pl.col("kind") == kind)["first"]} for kind in ("trials", "baseline")]
    assert settings[0] == settings[1]
    right = scores.filter(pl.col("level") == "prompt", pl.col("quantity") == "correct")
    sums: dict[tuple[str, str], float] = defaultdict(float)
    for item, side, setting, value in right.select("item", "wording", "condition", "value").rows():
        sums[setting, item] += value / 5 if side == "pro" else -value / 5
    items = sorted({item for _, item in sums})
    one, other = ([sums[setting, item] for item in items] for setting in (",mean", BASELINE))
    row = found.filter(pl.col("kind") == "baseline", pl.col("first") == ",mean").row(0, named=True)
    assert row["difference"] == pytest.approx(sum(one) / 395 - sum(other) / 395, rel=1e-9)
    assert row["n"] == 395
    # Unsure and other: of the notebook's table, the mean of both sides.
    names = (("no-answer", "first", ",blond"), ("no-answer-sides", "group", BASELINE))
    silent, sides = (
        found.filter(pl.col("kind") == kind, pl.col(column) == name).row(0, named=True)
        for kind, column, name in names
    )
    assert silent["mean_first"] == pytest.approx((102785e-6 + 164051e-6) / 2, abs=1e-6)
    assert silent["mean_second"] == pytest.approx((53164e-6 + 75949e-6) / 2, abs=1e-6)
    assert sides["difference"] == pytest.approx(75949e-6 - 53164e-6, abs=2e-6)


PRINTED_SHARES = {
    ("pro", "baseline"): (0.867342, 0.079494, 0.029367, 0.023797),
    ("anti", "baseline"): (0.581772, 0.342278, 0.052152, 0.023797),
    ("anti", "dry / bubbly"): (0.370127, 0.435949, 0.123038, 0.070886),
    ("pro", "large / little"): (0.865823, 0.061772, 0.042532, 0.029873),
    ("anti", "– / blond"): (0.446582, 0.389367, 0.059747, 0.104304),
    ("anti", "tough / understanding"): (0.478987, 0.385823, 0.080000, 0.055190),
}
"""Correct, incorrect, unsure, other: the table of heatmap.ipynb in the authors' repository."""


def test_the_shares_are_those_of_the_authors_notebook(recomputed) -> None:
    rows = {row.name: row for row in recomputed}
    for (side, name), shares in PRINTED_SHARES.items():
        said = rows[f"answers, {side}, {name}"].value
        found = [float(part.split()[0]) for part in said.split(", ")]
        assert found == pytest.approx(shares, abs=0.0005001)


def test_the_heat_map_of_right_answers_comes_out_of_the_authors_files(published: Path) -> None:
    """Each cell of the figure is the notebook's share; the baseline is the first column."""
    read = read_answers(published / "briegel2023")
    measure = CoreferenceBias()
    scores = measure(as_published(read.answers, read.prompts), read.prompts)
    section = Section(
        instrument="coreference",
        measure=measure.name,
        unit=measure.unit,
        presentation=measure.presentation,
        scores=scores,
        estimates=pl.DataFrame(schema=schema((*CONTRASTS, *ESTIMATES, *VERDICTS))),
        names=Labels(models={}, instruments={}, conditions={}, items={}),
    )
    (figure,) = right(section)
    sort = figure.spec["encoding"]["x"]["sort"]
    assert (sort[0], len(sort)) == ("no adjectives", 16)
    cells = {(row["side"], row["setting"]): row["value"] for row in figure.spec["data"]["values"]}
    assert len(cells) == 32
    shown = {"baseline": "no adjectives", "– / blond": "(none) / blond"}
    for (side, name), (share, *_) in PRINTED_SHARES.items():
        assert cells[side, shown.get(name, name)] == pytest.approx(share, abs=5e-7)
