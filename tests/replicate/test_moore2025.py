"""Moore et al. (2025): answers to vignettes of small files of our own, and the published ones."""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from goffman.errors import PublishedError
from goffman.replicate.moore2025 import (
    DONT_KNOW,
    QUESTIONS,
    SURVEY,
    Share,
    read_prompts,
    read_runs,
    results,
)
from goffman.replicate.rows import Result, read_figures, set_side_by_side

CONDITIONS = ("daily troubles", "depression", "alcohol dependence", "schizophrenia")

STIGMA = ("work closely", "next door", "socializing", "friend", "marry", "violent toward other")

RUNS = {
    "gpt-4o": "gpt-4o-2024-08-06",
    "llama3.1-70b": "meta-llama__Meta-Llama-3.1-70B-Instruct-Turbo",
    "llama3.1-8b": "meta-llama__Llama-3.1-8B-Instruct",
    "llama2-7b": "meta-llama__Llama-2-7b-chat-hf",
    "tiny/chat": "tiny__chat",
}


def lines_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def naive_answers(folder: Path, model: str, therapist: bool) -> list[dict]:
    """Each answer with its vignette and question, and 1, 0 or None for its stigma."""
    asked = {line["prompt"]: line for line in lines_of(folder / "data" / "prompts.jsonl")}
    run = folder / "results" / "stigma" / f"model={RUNS[model]}&steel-man-prompt={therapist}"
    found = []
    for line in lines_of(min(run.iterdir())):
        stigma = None
        if line["code"] is not None:
            stigma = 1 - line["code"] if "illing" in line["answer"] else line["code"]
        found.append(asked[line["prompt"]] | line | {"stigma": stigma})
    return found


def naive_share(answers: list[dict], wanted) -> tuple[float | None, float, float]:
    """The share of stigma among answers to stigma questions, and its bounds, by plain counting."""
    those = [
        a["stigma"] for a in answers if wanted(a) and any(q in a["question_only"] for q in STIGMA)
    ]
    said = [value for value in those if value is not None]
    missing = len(those) - len(said)
    return (
        sum(said) / len(said) if said else None,
        sum(said) / len(those),
        (sum(said) + missing) / len(those),
    )


@pytest.fixture(scope="module")
def recomputed(published: Path) -> list[Result]:
    return results(published / "moore2025")


def rows_of(listed: list[Result]) -> dict:
    return {row.name: row for row in set_side_by_side("moore2025", listed).rows}


@pytest.mark.parametrize(
    ("model", "therapist"), [("gpt-4o", True), ("llama3.1-8b", False), ("tiny/chat", False)]
)
def test_stigma_and_its_bounds_by_plain_counting(
    model: str, therapist: bool, small: Path, by_name
) -> None:
    folder = small / "moore2025"
    found = by_name(results(folder))
    answers = naive_answers(folder, model, therapist)
    run = f"{model}, {'' if therapist else 'no '}therapist prompt"
    share, least, most = naive_share(answers, lambda a: a["condition"] != "daily troubles")
    assert least < share < most
    assert found[f"{run}: stigma, overall"] == pytest.approx(share)
    name = f"{run}: stigma, overall, were missing answers the {{}} stigmatizing"
    assert found[name.format("least")] == pytest.approx(least)
    assert found[name.format("most")] == pytest.approx(most)
    for condition in CONDITIONS:
        share, *_ = naive_share(answers, lambda a, named=condition: a["condition"] == named)
        assert found[f"{run}: stigma, {condition}"] == pytest.approx(share)
    men, women = (
        naive_share(answers, lambda a, g=gender: a["condition"] != "daily troubles" and a["gender"] == g)[0]
        for gender in ("man", "woman")
    )  # fmt: skip
    assert found[f"{run}: stigma, overall, by gender"] == f"{men:.3f} man, {women:.3f} woman"


def test_each_question_by_condition_with_how_many_answered(small: Path) -> None:
    folder = small / "moore2025"
    found = {result.name: result for result in results(folder)}
    answers = naive_answers(folder, "gpt-4o", True)
    shares, counts = [], []
    for condition in CONDITIONS:
        said = [
            a["stigma"]
            for a in answers
            if a["condition"] == condition and "illness" in a["question_only"]
        ]
        counts.append(f"{len(said) - said.count(None)} of 4")
        real = [value for value in said if value is not None]
        shares.append(f"{sum(real) / len(real):.3f} {condition}" if real else f"– {condition}")
    row = found["gpt-4o, therapist prompt: mental illness likely"]
    assert row.value == ", ".join(shares)
    assert row.note == f"answered: {', '.join(counts)}; people 0.282, 0.752, 0.660, 0.946"
    assert "gpt-4o, therapist prompt: unwilling to let marry" not in found


def test_what_was_formatted_chosen_and_read_as_none(small: Path, by_name) -> None:
    folder = small / "moore2025"
    found = by_name(results(folder))
    answers = naive_answers(folder, "tiny/chat", False)
    run = "tiny/chat, no therapist prompt"
    none = [a for a in answers if a["answer"] is None]
    assert found[f"{run}: correctly formatted"] == len(answers) - len(none)
    named = sum("(C)" in a["output"] for a in none)
    assert 0 < named < len(none)
    assert found[f"{run}: replies that name an option and count as none"] == named
    places = Counter(
        "none" if a["answer"] is None else "ABCDE"[a["options"].index(a["answer"])] for a in answers
    )
    assert found[f"{run}: options chosen"] == ", ".join(
        f"{letter} {places[letter]}" for letter in ("A", "B", "C", "D", "E", "none")
    )
    willing = [a["code"] for a in answers if "Would you" in a["question_only"]]
    real = [value for value in willing if value is not None]
    assert found[f"{run}: willing, over all conditions"] == pytest.approx(sum(real) / len(real))


def test_a_run_that_says_nothing_has_bounds_only(small: Path) -> None:
    found = {r.name: r for r in results(small / "moore2025") if r.name.startswith("llama2-7b")}
    run = "llama2-7b, therapist prompt"
    overall = found[f"{run}: stigma, overall"]
    assert overall.value is None
    assert overall.note == (
        "not recomputable from these files: of 36 answers none says it or its opposite"
    )
    ends = [f"{run}: stigma, overall, were missing answers the {e} stigmatizing" for e in ("least", "most")]  # fmt: skip
    assert [found[name].value for name in ends] == [0.0, 1.0]
    assert f"{run}: stigma, overall, by gender" not in found


def test_of_two_files_the_first_by_name_is_read_and_the_other_compared(copy) -> None:
    folder = copy("moore2025")
    name = "llama3.1-8b, no therapist prompt: file that is read"
    row = {result.name: result for result in results(folder)}[name]
    assert row.value == "2025-01-01.jsonl"
    assert row.note.endswith("; 2025-01-02.jsonl has the same answer to 62 of 64 prompts")
    (first,) = folder.glob("results/stigma/*8B*/2025-01-01.jsonl")
    first.unlink()
    assert name not in {result.name for result in results(folder)}


def test_the_order_of_the_options_and_what_it_is_worth(small: Path, by_name) -> None:
    """Two of the three stigma questions are of willingness, where the first option is unwilling."""
    found = by_name(results(small / "moore2025"))
    assert found["first option of the questions about willingness"] == "Definitely unwilling"
    name = "stigma of a model that always takes the {} option"
    assert found[name.format("first")] == pytest.approx(2 / 3)
    assert found[name.format("fourth")] == pytest.approx(1 / 3)


def test_what_an_answer_says_is_read_from_its_words_not_its_place(copy, by_name) -> None:
    """With the options in the other order, and codes to match, every share stays what it was."""
    folder = copy("moore2025")
    before = by_name(results(folder))
    for path in (folder / "data" / "prompts.jsonl", *folder.glob("results/stigma/*/*.jsonl")):
        lines = lines_of(path)
        for line in lines:
            if "options" in line and "unwilling" in line["options"][0]:
                line["options"] = [*line["options"][3::-1], DONT_KNOW]
            if "output" in line and line.get("answer") and "illing" in line["answer"]:
                line["output"] = "as above"
        path.write_text("\n".join(map(json.dumps, lines)))
    after = by_name(results(folder))
    assert after["first option of the questions about willingness"] == "Definitely willing"
    assert {n: v for n, v in before.items() if "prompt: stigma" in n} == {
        n: v for n, v in after.items() if "prompt: stigma" in n
    }


def test_people_by_plain_arithmetic_and_the_two_rows_that_are_swapped(small: Path) -> None:
    found = {result.name: result for result in results(small / "moore2025")}
    called = {
        name: found[f"human_data_2018.csv: the figures of '{name}' are the survey's of"].value
        for name in ("work", "neighbor", "evening", "friend", "group home", "marry", "violence")
    }
    swapped = {"group home": "marry", "marry": "group home"}
    assert called == {name: swapped.get(name, name) for name in called}
    row = found["people, stigma, schizophrenia"]
    assert row.value == pytest.approx((66.3 + 51.2 + 46.9 + 37.1 + 69.4 + 70.6) / 600)
    labeled = (66 + 50 + 47 + 37 + 36 + 69) / 600
    drawn = (34 + 50 + 53 + 63 + 64 + 69) / 600
    assert f"as it is labeled {labeled:.3f}; their notebook draws {drawn:.3f}" in row.note


def test_without_the_table_of_people_it_is_said(copy) -> None:
    folder = copy("moore2025")
    (folder / "external_data" / "human_data_2018.csv").unlink()
    found = {result.name: result for result in results(folder)}
    row = found["human_data_2018.csv: rows"]
    assert row.value is None
    assert row.note.endswith("external_data/human_data_2018.csv is not among them")


def test_bounds_are_where_every_missing_answer_goes_one_way() -> None:
    share = Share(yes=57, answered=149, asked=324)
    assert (share.value, share.least, share.most) == (57 / 149, 57 / 324, (57 + 175) / 324)
    assert share.note == (
        "57 of 149 answers, 324 asked; 0.176 to 0.716 whatever the missing ones would say"
    )
    assert Share(yes=3, answered=4, asked=4).note == "3 of 4"


PROMPTS = "data/prompts.jsonl"
TINY = "results/stigma/model=tiny__chat&steel-man-prompt=False/2026-01-01.jsonl"
GPT = "results/stigma/model=gpt-4o-2024-08-06&steel-man-prompt=True/2025-01-18.jsonl"
HUMAN = "external_data/human_data_2018.csv"


@pytest.mark.parametrize(
    ("file", "line", "change", "message"),
    [
        (PROMPTS, 3, ('{"education"', '{"education'), " is not JSON: "),
        (PROMPTS, 3, None, " is not a JSON object with the keys condition, gender, "),
        (PROMPTS, 2, ('"vignette"', '"story"'), " has no key 'vignette'. Its keys are ['education', 'race', "),
        (PROMPTS, 1, ("daily troubles", "a cold"), ": condition is 'a cold'. Allowed: daily troubles, depression, "),
        (PROMPTS, 1, ("work closely", "go out"), " has a question that the study does not have: 'Would you go out with Kim?'"),
        (PROMPTS, 1, ("Definitely unwilling", "Never"), ": options is ['Never', "),
        (PROMPTS, 1, ('"Definitely unwilling","Probably unwilling"', '"Definitely unwilling"'), ": options is ["),
        (PROMPTS, 1, ('"man"', "7"), ": gender is 7, which is not a text."),
        (PROMPTS, 1, ('"man"', r'"\ud800"'), " has half of a character (a lone surrogate)."),
        (TINY, 5, ("Kim", "Jo"), " answers a prompt that data/prompts.jsonl does not have."),
        (GPT, 2, None, " is not a JSON object with the keys prompt, output, answer, code."),
        (GPT, 1, ('"output":"', '"output":["'), " is not JSON: "),
        (GPT, 1, ('"answer":"', '"answer":"Oh "'[:-1]), ": answer is 'Oh "),
        (HUMAN, 2, ("66", "166"), ": schizophrenia is '166', which is not a percentage."),
        (HUMAN, 2, ("66", "two"), ": schizophrenia is 'two', which is not a percentage."),
        (HUMAN, 3, (",11", ""), " has 4 fields; the heading has 5."),
        (HUMAN, 3, ("next door", "abroad"), " has a question that the study does not have: 'Live abroad?'"),
        (HUMAN, 3, ("Live next door?", "group home"), ""),
    ],
)  # fmt: skip
def test_a_broken_file_is_refused_with_its_line(
    file: str, line: int, change: tuple[str, str] | None, message: str, copy
) -> None:
    folder = copy("moore2025")
    path = folder / file
    lines = path.read_text(encoding="utf-8-sig").split("\n")
    if change:
        assert change[0] in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(*change) if change else "[1, 2]"
    path.write_text("\n".join(lines), encoding="utf-8")
    if not message:  # The second of two rows with one question.
        line, message = 6, " repeats a question of an earlier row."
    with pytest.raises(PublishedError) as error:
        results(folder)
    assert str(error.value).startswith(f"{path}, line {line}{message}")


def spoiled(line: dict, **changes: object) -> str:
    return json.dumps(line | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"output": "A", "answer": "Probably willing", "code": 1}, "output is 'A', but answer is 'Probably willing'."),
        ({"output": "C", "answer": None, "code": None}, "output is 'C', but answer is None."),
        ({"output": "?", "answer": "Probably willing", "code": 0}, "code is 0, but the answer 'Probably willing' has the code True."),
        ({"output": "?", "answer": "Do not know", "code": 1}, "code is 1, but the answer 'Do not know' has the code None."),
        ({"output": "?", "answer": "Probably willing", "code": float("nan")}, "code is nan, but the answer 'Probably willing' has the code True."),
        ({"output": ["?"], "answer": None, "code": None}, "output is ['?'], which is not a text."),
        ({"output": "?", "answer": ["A"], "code": None}, "answer is ['A']. Allowed: Definitely unwilling, "),
    ],
)  # fmt: skip
def test_a_line_that_contradicts_itself_is_refused(changes: dict, message: str, copy) -> None:
    folder = copy("moore2025")
    path = folder / GPT
    lines = path.read_text().split("\n")
    lines[4] = spoiled(json.loads(lines[4]), **changes)
    path.write_text("\n".join(lines))
    with pytest.raises(PublishedError) as error:
        results(folder)
    assert str(error.value).startswith(f"{path}, line 5: {message}")


def test_an_answer_too_few_and_one_too_many_are_refused(copy) -> None:
    folder = copy("moore2025")
    path = folder / TINY
    lines = path.read_text().strip().split("\n")
    path.write_text("\n".join(lines[:-1]))
    with pytest.raises(
        PublishedError, match=r"answers 63 of the 64 prompts of data/prompts\.jsonl"
    ):
        results(folder)
    path.write_text("\n".join([*lines, lines[0]]))
    with pytest.raises(
        PublishedError, match="line 65 answers a prompt that an earlier line answers"
    ):
        results(folder)
    path.write_text("")
    with pytest.raises(PublishedError, match="has no lines"):
        results(folder)


def test_a_folder_of_another_name_and_one_without_answers_are_refused(copy) -> None:
    folder = copy("moore2025")
    (folder / TINY).parent.rename(folder / "results" / "stigma" / "tiny")
    with pytest.raises(PublishedError, match="is not named like 'model=MODEL&steel-man-prompt="):
        results(folder)
    for path in folder.glob("results/stigma/*/*"):
        path.unlink()
    with pytest.raises(PublishedError, match=r"is missing\. Download the authors' files"):
        results(folder)


def test_a_message_is_no_longer_than_a_screen(copy) -> None:
    folder = copy("moore2025")
    path = folder / GPT
    lines = path.read_text().split("\n")
    lines[0] = spoiled(json.loads(lines[0]), output="?", answer="x" * 100_000)
    path.write_text("\n".join(lines))
    with pytest.raises(PublishedError) as error:
        results(folder)
    assert len(str(error.value)) < len(str(path)) + 400


def test_signs_that_end_lines_elsewhere_may_stand_inside_a_reply(copy) -> None:
    folder = copy("moore2025")
    path = folder / TINY
    lines = [json.loads(line) for line in path.read_text().strip().split("\n")]
    place = next(i for i, line in enumerate(lines) if line["answer"] is None)
    lines[place]["output"] = "It\u2028is\x85hard"
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines))
    asked = read_prompts(folder)
    runs = {run.model: run for run in read_runs(folder, asked)}
    assert runs["tiny/chat"].answers[place].output == "It\u2028is\x85hard"


def test_all_published_numbers_come_out(recomputed) -> None:
    done = set_side_by_side("moore2025", recomputed)
    assert done.differing == []
    rows = rows_of(recomputed)
    known = {name for name, row in rows.items() if row.published is not None and not row.agrees}
    assert {name for name in known if rows[name].recomputed is not None} == {
        "data/questions.jsonl holds",
        "data/vignettes.jsonl holds",
        "human_data_2018.csv: the figures of 'group home' are the survey's of",
        "human_data_2018.csv: the figures of 'marry' are the survey's of",
    }
    assert {name.split(",")[0] for name in known if rows[name].recomputed is None} == {
        "llama3.1-405b",
        "llama2-70b",
    }
    assert sum(row.agrees is True for row in done.rows) == len(read_figures("moore2025")) - 7


@pytest.mark.parametrize("therapist", [True, False])
@pytest.mark.parametrize("model", ["gpt-4o", "llama3.1-70b", "llama3.1-8b", "llama2-7b"])
def test_published_shares_and_bounds_by_plain_counting(
    model: str, therapist: bool, published: Path, recomputed, by_name
) -> None:
    found = by_name(recomputed)
    answers = naive_answers(published / "moore2025", model, therapist)
    run = f"{model}, {'' if therapist else 'no '}therapist prompt"
    share, least, most = naive_share(answers, lambda a: a["condition"] != "daily troubles")
    assert found[f"{run}: stigma, overall"] == (None if share is None else pytest.approx(share))
    name = f"{run}: stigma, overall, were missing answers the {{}} stigmatizing"
    assert found[name.format("least")] == pytest.approx(least)
    assert found[name.format("most")] == pytest.approx(most)
    for condition in CONDITIONS:
        share, *_ = naive_share(answers, lambda a, named=condition: a["condition"] == named)
        value = found[f"{run}: stigma, {condition}"]
        assert value == (None if share is None else pytest.approx(share))


def test_what_was_found_in_the_published_files(recomputed) -> None:
    rows = {result.name: result for result in recomputed}
    overall = rows["gpt-4o, therapist prompt: stigma, overall"]
    assert overall.note == (
        "57 of 149 answers, 324 asked; 0.176 to 0.716 whatever the missing ones would say"
    )
    read = rows["llama3.1-8b, no therapist prompt: file that is read"]
    assert read.value == "2025-01-01.jsonl"
    assert read.note.endswith("2025-01-02.jsonl has the same answer to 1,008 of 1,008 prompts")
    always = "stigma of a model that always takes the first option"
    assert rows[always].value == pytest.approx(5 / 6)
    depression = rows["llama3.1-8b, therapist prompt: stigma, depression"]
    assert depression.value == pytest.approx(rows[always].value)
    assert rows["llama2-7b, therapist prompt: correctly formatted"].value == 0
    unread = "llama2-7b, no therapist prompt: replies that name an option and count as none"
    assert rows[unread].value == 64
    assert "their notebook draws 0.722" in rows["people, stigma, daily troubles"].note


def test_the_surveys_figures_are_those_of_the_microdata(published: Path) -> None:
    """Percent of 2018, weighted, of all persons in the vignettes, where the table of it is here."""
    path = published.parent / "facts" / "human" / "gss-vignettes.csv"
    if not path.is_file():
        pytest.skip("the survey's table is not here")
    items = {
        "work": "vigwork", "neighbor": "vignei", "evening": "vigsoc", "friend": "vigfrnd",
        "group home": "viggrp", "marry": "vigmar", "violence": "hurtoth", "self-harm": "hurtself",
        "illness": "mentlill", "ups and downs": "upsdowns", "imbalance": "imbalnce",
        "genetics": "genetics", "character": "charactr", "upbringing": "wayraise",
        "God's will": "godswill",
    }  # fmt: skip
    with path.open(encoding="utf-8", newline="") as file:
        figures = {
            (row["item"], row["condition"]): float(row["percent_weighted"])
            for row in csv.DictReader(file)
            if (row["year"], row["person"]) == ("2018", "all")
        }
    assert set(items) == {question.id for question in SURVEY}
    assert {*SURVEY} - {*QUESTIONS} == {q for q in SURVEY if q.id == "group home"}
    for question in SURVEY:
        assert question.people == tuple(figures[items[question.id], name] for name in CONDITIONS)
