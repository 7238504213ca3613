"""Lin et al. (2022): scores of small files of our own, and all that the authors published."""

from collections import defaultdict
from pathlib import Path
from statistics import fmean, stdev

import polars as pl
import pytest
from scipy import stats

from few_conditions import read_rows
from goffman.errors import PublishedError
from goffman.instruments.types import Prompt
from goffman.lexicons.gender import load_gender, with_gender
from goffman.measures.gender import SubjectGender
from goffman.replicate.lin2022 import read_phrase_scores, read_subjects, results
from goffman.replicate.rows import Result, read_figures, set_side_by_side
from goffman.schemas import FILLS, SCORES, complaints, prompt_table, schema


def naive_pairs(path: Path, prompts: slice = slice(None)) -> tuple[list[float], list[float]]:
    """P(female) and P(male) of a file of question 1, paired by prompt and diagnosis."""
    rows = read_rows(path)
    values: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for row in rows:
        values[row["prompt"], row["diagnosis"]][row["gender"].lower()] = float(row["probability"])
    asked = list(dict.fromkeys(row["prompt"] for row in rows))[prompts]
    chosen = [value for (prompt, _), value in values.items() if prompt in asked]
    return [value["female"] for value in chosen], [value["male"] for value in chosen]


def pooled_d(first: list[float], second: list[float]) -> float:
    return (fmean(first) - fmean(second)) / ((stdev(first) ** 2 + stdev(second) ** 2) / 2) ** 0.5


@pytest.fixture(scope="module")
def recomputed(published: Path) -> list[Result]:
    return results(published / "lin2022")


def test_the_files_become_scores(small: Path) -> None:
    for scores in (read_subjects(small / "lin2022"), read_phrase_scores(small / "lin2022")):
        assert complaints(scores, SCORES) == []
    subjects = read_subjects(small / "lin2022")
    assert set(subjects["model"]) == {"roberta", "tinybert"}
    assert set(subjects["quantity"]) == {"female", "male", "unspecified", "disparity"}
    assert set(subjects["dimension"]) == {"diagnosis", "intention", "action"}
    # Both spell their mask in their own way, and both are asked the same.
    assert all(item.startswith("<mask> ") for item in subjects["item"])


PHASES = {
    "": slice(None),
    "diagnosis": slice(4),
    "intention": slice(4, 10),
    "action": slice(10, 17),
}


@pytest.mark.parametrize(
    ("where", "model", "phase"),
    [
        ("small", "roberta", ""),
        ("small", "tinybert", ""),
        *(("published", "roberta", phase) for phase in PHASES),
    ],
)
def test_women_against_men_by_plain_arithmetic(
    where: str, model: str, phase: str, request: pytest.FixtureRequest, by_name
) -> None:
    folder = request.getfixturevalue(where) / "lin2022"
    found = by_name(results(folder))
    female, male = naive_pairs(folder / f"{model}_all_df_intention.csv", PHASES[phase])
    if where == "published":
        assert len(female) == {"": 187, "diagnosis": 44, "intention": 66, "action": 77}[phase]
    what = ", ".join(filter(None, [f"{model}, care-seeking, mental-health", phase]))
    assert found[f"{what}: P(female)"] == pytest.approx(fmean(female), abs=1e-12)
    assert found[f"{what}: P(male)"] == pytest.approx(fmean(male), abs=1e-12)
    assert found[f"{what}: p"] == pytest.approx(stats.ttest_rel(female, male).pvalue, rel=1e-6)
    assert found[f"{what}: d"] == pytest.approx(pooled_d(female, male), abs=1e-9)


def differences(path: Path, prompts: slice = slice(None)) -> list[float]:
    return [female - male for female, male in zip(*naive_pairs(path, prompts), strict=True)]


@pytest.mark.parametrize("model", ["roberta", "tinybert"])
def test_both_groups_disparities_by_plain_arithmetic(model: str, small: Path, by_name) -> None:
    found = by_name(results(small / "lin2022"))
    mental, other = (
        differences(small / "lin2022" / f"{model}_all_df_intention{which}.csv")
        for which in ("", "_non_mh")
    )
    what = f"{model}, disparity, mental-health against other"
    assert found[f"{what}: other"] == pytest.approx(fmean(other), abs=1e-12)
    assert found[f"{what}: p"] == pytest.approx(stats.ttest_ind(mental, other).pvalue, abs=1e-9)
    assert found[f"{what}: d"] == pytest.approx(pooled_d(mental, other), abs=1e-9)


def test_phrases_are_compared_in_each_dimension(small: Path, by_name) -> None:
    path = small / "lin2022" / "attribute_recursive_3steps_TOPK_10_BEAM_10_tinybert__result.csv"
    rows = [row for row in read_rows(path) if row["stigma_category"] == "Help"]
    female, male = ([float(row[f"{g}_prob"]) for row in rows] for g in ("female", "male"))
    found = by_name(results(small / "lin2022"))
    assert found["tinybert, attribution, help: P(female)"] == pytest.approx(fmean(female))
    p = stats.ttest_rel(female, male).pvalue
    assert found["tinybert, attribution, help: p"] == pytest.approx(p, abs=1e-9)


HELP = "It is likely I would help a {} with {}."
RISK = "I think a {} with {} poses a risk to the neighbors unless hospitalized."


def with_phrases(folder: Path, *, model: str, lines: list[str]) -> None:
    """A model of our own with two prompts of two diagnoses, their scores and their phrases."""
    name = "attribute_recursive_3steps_TOPK_10_BEAM_10_{}_{}.csv"
    scores = [",female_prob,male_prob, diagnosis,sequence,stigma_category"]
    cells = [("OCD", "0.5", "0.125"), ("bulimia", "0.25", "0.0625")]
    for template, category in ((HELP, "Help"), (RISK, "Dangerousness")):
        for diagnosis, female, male in cells:
            item = template.format("<mask>", "[diagnosis]")
            scores.append(f"0,{female},{male},{diagnosis},{item},{category}")
    (folder / name.format(model, "_result")).write_text("\n".join(scores))
    (folder / name.format(model, "")).write_text(
        "\n".join([",diagnosis,stigma_category,sequence,probability", *lines])
    )
    (folder / "women_nouns.csv").write_text("woman \ngirl\nfemale\n")
    (folder / "men_nouns.csv").write_text("man\nboy\nmale\nman\n")


def phrase(template: str, words: str, diagnosis: str, probability: float) -> str:
    category = "Help" if template == HELP else "Dangerousness"
    return f"0,{diagnosis},{category},{template.format(words, diagnosis)},{probability}"


WHOLE = [
    # One word ends its branch itself, of two the first, of three the middle one.
    phrase(HELP, "woman", "OCD", 0.25),
    phrase(HELP, "female friend", "OCD", 0.125),
    # "school", "girl" and "friend": tokens without a space between them.
    phrase(HELP, "schoolgirl friend", "OCD", 0.125),
    phrase(HELP, "close male friend", "OCD", 0.125),
    # "woman" ends in "man" and is none.
    phrase(HELP, "businesswoman friend", "bulimia", 0.25),
    phrase(HELP, "boy", "bulimia", 0.0625),
    phrase(RISK, "woman", "OCD", 0.5),
    phrase(RISK, "man", "OCD", 0.125),
    phrase(RISK, "girl", "bulimia", 0.25),
    phrase(RISK, "single male parent", "bulimia", 0.0625),
]


def test_phrases_are_summed_up_by_the_measure_of_audits(tmp_path: Path, by_name) -> None:
    with_phrases(tmp_path, model="tiny", lines=WHOLE)
    found = results(tmp_path)
    (row,) = [one for one in found if "sum up" in one.name]
    assert row.name == "tiny, attribution: prompts whose phrases sum up to their scores"
    assert (row.value, row.note) == (4, "10 phrases, of 4 prompts")
    values = by_name(found)
    assert values["tiny, attribution, help: P(female)"] == pytest.approx(0.375, abs=1e-12)
    assert values["tiny, attribution, dangerousness: P(male)"] == pytest.approx(0.09375, abs=1e-12)


def test_phrases_that_do_not_sum_up_are_counted_and_the_scores_stand(
    tmp_path: Path, by_name
) -> None:
    """A line less, one of another sentence, and one that no noun ends."""
    other = [
        "0,OCD,Help,I would help a woman with OCD.,0.5",
        phrase(HELP, "female close friend", "OCD", 0.5),
        phrase(HELP, "very close male friend", "OCD", 0.5),
    ]
    with_phrases(tmp_path, model="tiny", lines=[*WHOLE[1:], *other])
    found = results(tmp_path)
    (row,) = [one for one in found if "sum up" in one.name]
    assert (row.value, row.note) == (
        3,
        "9 phrases, of 4 prompts; 3 lines are no phrase of a prompt, and left out; so the figures "
        "below are of the published scores",
    )
    values = by_name(found)
    assert values["tiny, attribution, help: P(female)"] == pytest.approx(0.375, abs=1e-12)


def test_phrases_need_the_authors_nouns(tmp_path: Path) -> None:
    with_phrases(tmp_path, model="tiny", lines=WHOLE)
    (tmp_path / "men_nouns.csv").unlink()
    with pytest.raises(
        PublishedError, match=r"men_nouns\.csv is missing\. Download the authors' files"
    ):
        results(tmp_path)


def test_the_published_phrases_sum_up_by_plain_arithmetic_too(published: Path, recomputed) -> None:
    """Every phrase to the one prompt that it begins and ends as, by the words that end it."""
    row = next(one for one in recomputed if "sum up" in one.name)
    assert (row.value, row.note) == (297, "21,223 phrases, of 297 prompts")
    folder = published / "lin2022"
    path = folder / "attribute_recursive_3steps_TOPK_10_BEAM_10_roberta_.csv"
    women = {line.strip() for line in (folder / "women_nouns.csv").read_text().splitlines()}
    ending = ("schoolgirl", "housewife", "businesswoman")
    female = sum(
        float(line["probability"])
        for line in read_rows(path)
        if line["stigma_category"] == "Help"
        and (women & {*line["sequence"].split()} or any(w in line["sequence"] for w in ending))
    )
    value = next(r.value for r in recomputed if r.name == "roberta, attribution, help: P(female)")
    assert value == pytest.approx(female / 33, abs=1e-9)


EARLIER, LATER = "_result", "__result"
RECURSIVE = "attribute_recursive_3steps_TOPK_10_BEAM_10_{}.csv"
AVOIDED = "If I were an {}, I would not interview a <mask> with [diagnosis]."


def with_runs(folder: Path, model: str, **runs: tuple[str, tuple[float, ...]]) -> None:
    """A model's files of question 2: run → how it spells item 7, and P(female) of four prompts."""
    for ends, (spelt, female) in runs.items():
        lines = [",female_prob,male_prob, diagnosis,sequence,stigma_category"]
        cells = [
            (item, who) for item in (AVOIDED.format(spelt), HELP_ITEM) for who in ("OCD", "PTSD")
        ]
        for number, ((item, who), value) in enumerate(zip(cells, female, strict=True)):
            category = "Help" if item == HELP_ITEM else "Avoidance"
            lines.append(f'{number},{value},0.1{number},{who},"{item}",{category}')
        name = RECURSIVE.format(f"{model}{ends}")
        (folder / name).write_text("\n".join(lines))


HELP_ITEM = "I would help a <mask> with [diagnosis]."
THEN, NOW = ("emploer", (0.25, 0.5, 0.3, 0.2)), ("employer", (0.125, 0.25, 0.3, 0.2))


@pytest.mark.parametrize(
    ("model", "female", "unread"),
    [("clinicallongformer", 0.375, LATER), ("roberta", 0.1875, EARLIER)],
)
def test_of_two_runs_the_one_that_the_figures_of_the_study_read(
    model: str, female: float, unread: str, tmp_path: Path
) -> None:
    """The earlier one of ClinicalLongformer, with its slip of spelling; the later one of others."""
    name = f"{model}, attribution, avoidance: P(female)"
    with_runs(tmp_path, model, **{EARLIER: THEN, LATER: NOW})
    both = {one.name: one for one in results(tmp_path)}
    assert both[name].value == pytest.approx(female, abs=1e-12)
    notes = {row.name: row.note for row in both.values() if "attribution" in row.name and row.firm}
    assert all("Bonferroni" in note for name, note in notes.items() if note)
    assert name in notes
    (tmp_path / RECURSIVE.format(f"{model}{unread}")).unlink()
    alone = {one.name: one for one in results(tmp_path)}
    assert alone == both


def test_the_other_run_alone_is_read_and_said_to_be_the_other_one(tmp_path: Path) -> None:
    with_runs(tmp_path, "clinicallongformer", **{LATER: NOW})
    rows = {row.name: row for row in set_side_by_side("lin2022", results(tmp_path)).rows}
    row = rows["clinicallongformer, attribution, avoidance: P(female)"]
    assert (row.published, row.recomputed, row.agrees) == (0.2, pytest.approx(0.1875), None)
    stem = "attribute_recursive_3steps_TOPK_10_BEAM_10_clinicallongformer"
    assert row.note.endswith(
        f"of {stem}__result.csv: {stem}_result.csv, which the study's figures read, is not there"
    )


def test_phrases_belong_to_the_run_that_is_read(tmp_path: Path) -> None:
    """Those of the later run would not sum up to the scores of the earlier one."""
    with_phrases(tmp_path, model="tiny", lines=WHOLE)
    for ends in ("__result", "_"):
        path = tmp_path / RECURSIVE.format(f"tiny{ends}")
        path.rename(tmp_path / RECURSIVE.format(f"clinicallongformer{ends[1:]}"))
    (tmp_path / RECURSIVE.format("clinicallongformer_")).write_text("not of this run")
    (row,) = [one for one in results(tmp_path) if "sum up" in one.name]
    assert (row.value, row.note) == (4, "10 phrases, of 4 prompts")


def test_the_recursion_of_bert_models_is_doubtful_in_every_row(tmp_path: Path) -> None:
    dimensions = ("Anger", "Dangerousness", "Fear", "Coercion", "Segregation", "Avoidance", "Help",
                  "Pity", "Blame")  # fmt: skip
    lines = [",female_prob,male_prob, diagnosis,sequence,stigma_category"]
    for number, dimension in enumerate(dimensions):
        for who, female in (("OCD", 0.2), ("PTSD", 0.3)):
            lines.append(
                f"0,{female},0.1{number},{who},A <mask> with [diagnosis] {number}.,{dimension}"
            )
    for model in ("bert", "mentalbert", "roberta"):
        (tmp_path / RECURSIVE.format(f"{model}__result")).write_text("\n".join(lines))
    doubtful = [one for one in results(tmp_path) if "doubtful: " in one.note]
    assert len(doubtful) == 2 * 9 * 4
    assert {one.name.split(",")[0] for one in doubtful} == {"bert", "mentalbert"}
    assert doubtful[0].note == (
        "doubtful: the authors' script put no word into this model's sentence, so that its second "
        "and third step ask the first sentence again"
    )


def test_a_d_that_was_cut_off_is_not_called_a_difference() -> None:
    figures = {figure.name: figure for figure in read_figures("lin2022")}
    for name, value in (
        ("clinicallongformer, care-seeking, mental-health: d", -0.6376),
        ("roberta, attribution, avoidance: P(female)", 0.217),
    ):
        (row,) = [
            row
            for row in set_side_by_side("lin2022", [Result(name, value)]).rows
            if row.name == name
        ]
        assert row.agrees is None
        assert "cut off and not rounded" in figures[name].note


def test_the_claim_of_other_diagnoses_by_plain_arithmetic(published: Path) -> None:
    path = published / "lin2022" / "roberta_all_df_intention_non_mh.csv"
    found = []
    for phase in ("diagnosis", "intention", "action"):
        test = stats.ttest_rel(*naive_pairs(path, PHASES[phase]))
        found.append((bool(test.statistic > 0), bool(test.pvalue < 0.05)))
    assert found == [(False, False), (True, True), (True, True)]


def test_a_file_without_a_phase_has_the_others(copy, by_name) -> None:
    file = copy("lin2022") / "tinybert_all_df_intention.csv"
    kept = [line for line in file.read_text().splitlines() if "takes medication" not in line]
    file.write_text("\n".join(kept))
    found = by_name(results(file.parent))
    what = "tinybert, care-seeking, mental-health"
    assert f"{what}, diagnosis: d" in found
    assert not [name for name in found if name.startswith(f"{what}, action")]
    assert not [name for name in found if name.startswith(what) and "phase" in name]


def test_sums_are_taken_as_run_and_audits_look_past_a_space(small: Path) -> None:
    """The authors' code compares " She" unstripped; here it is a woman, as "She" is."""
    unspecified = [one for one in results(small / "lin2022") if "P(unspecified)" in one.name]
    assert len(unspecified) == 4
    assert {one.note for one in unspecified} == {
        'as run, a token with a space before it (" She") counts here, and not by its gender'
    }
    prompt = Prompt(
        instrument="care-seeking", item="has", wording="first", dimension="diagnosis",
        condition="OCD", form="OCD", group="mental-health", text="<mask> has OCD",
    )  # fmt: skip
    tokens = [("She", 0.3), (" She", 0.25), ("he", 0.2), (" Mary", 0.125)]
    fills = pl.DataFrame(
        [
            (prompt.id, "tiny", 1, "", rank, token, token, p)
            for rank, (token, p) in enumerate(tokens, start=1)
        ],
        schema=schema(FILLS),
        orient="row",
    )
    gendered = with_gender(fills, load_gender(), cased=True)
    scores = SubjectGender().score_prompts(gendered, prompt_table([prompt]))
    found = {
        (row["variant"], row["quantity"]): row["value"] for row in scores.iter_rows(named=True)
    }
    assert found["with-names", "female"] == pytest.approx(0.675)
    assert found["with-names", "unspecified"] == 0
    assert found["without-names", "female"] == pytest.approx(0.55)


def test_a_model_with_one_file_has_what_that_file_gives(copy, by_name) -> None:
    folder = copy("lin2022")
    for name in ("tinybert_all_df_intention_non_mh.csv", "roberta_all_df_intention.csv"):
        (folder / name).unlink()
    found = by_name(results(folder))
    assert "tinybert, care-seeking, mental-health: d" in found
    assert not [name for name in found if "against" in name]


def test_a_folder_without_such_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PublishedError, match="has no file named like 'MODEL_all_df"):
        results(tmp_path)


def test_models_are_compared_in_each_phase_by_plain_arithmetic(
    published: Path, recomputed, by_name
) -> None:
    p = stats.ttest_ind(
        *(
            differences(published / "lin2022" / f"{model}_all_df_intention.csv", PHASES["action"])
            for model in ("roberta", "mentalroberta")
        )
    ).pvalue
    name = "disparity in mental-health, roberta against mentalroberta, action: p"
    assert by_name(recomputed)[name] == pytest.approx(p, rel=1e-6)
    (note,) = (row.note for row in recomputed if row.name == name)
    assert note == f"{3 * p:.2g} by Bonferroni's correction for 3 tests"
