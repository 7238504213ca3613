"""Moore et al. (2025): answers to vignettes of small files of our own, and the published ones."""

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from few_conditions import read_rows
from goffman.replicate.moore2025 import (
    DONT_KNOW,
    QUESTIONS,
    SURVEY,
    Share,
    read_prompts,
    read_runs,
    results,
)

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


@cache
def numbers(folder: Path) -> dict[str, Any]:
    return {row.name: row.value for row in results(folder)}


@pytest.mark.parametrize(
    ("where", "model", "therapist"),
    [
        *(
            ("small", "gpt-4o", True),
            ("small", "llama3.1-8b", False),
            ("small", "tiny/chat", False),
        ),
        *(("published", model, prompt) for model in list(RUNS)[:-1] for prompt in (True, False)),
    ],
)
def test_stigma_and_its_bounds_by_plain_counting(
    where: str, model: str, therapist: bool, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(where) / "moore2025"
    found = numbers(folder)
    answers = naive_answers(folder, model, therapist)
    run = f"{model}, {'' if therapist else 'no '}therapist prompt"
    share, least, most = naive_share(answers, lambda a: a["condition"] != "daily troubles")
    assert least <= (share or 0) <= most
    assert found[f"{run}: stigma, overall"] == (None if share is None else pytest.approx(share))
    name = f"{run}: stigma, overall, were missing answers the {{}} stigmatizing"
    assert found[name.format("least")] == pytest.approx(least)
    assert found[name.format("most")] == pytest.approx(most)
    for condition in CONDITIONS:
        share, *_ = naive_share(answers, lambda a, named=condition: a["condition"] == named)
        value = found[f"{run}: stigma, {condition}"]
        assert value == (None if share is None else pytest.approx(share))
    men, women = (
        naive_share(answers, lambda a, g=gender: a["condition"] != "daily troubles" and a["gender"] == g)[0]
        for gender in ("man", "woman")
    )  # fmt: skip
    if men is None:
        assert f"{run}: stigma, overall, by gender" not in found
    else:
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


def test_of_two_files_the_first_by_name_is_read_and_the_other_compared(copy) -> None:
    folder = copy("moore2025")
    name = "llama3.1-8b, no therapist prompt: file that is read"
    assert numbers(folder)[name] == "2025-01-01.jsonl"
    (first,) = folder.glob("results/stigma/*8B*/2025-01-01.jsonl")
    first.unlink()
    assert name not in {result.name for result in results(folder)}


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


TINY = "results/stigma/model=tiny__chat&steel-man-prompt=False/2026-01-01.jsonl"


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
    figures = {
        (row["item"], row["condition"]): float(row["percent_weighted"])
        for row in read_rows(path)
        if (row["year"], row["person"]) == ("2018", "all")
    }
    assert set(items) == {question.id for question in SURVEY}
    assert {*SURVEY} - {*QUESTIONS} == {q for q in SURVEY if q.id == "group home"}
    for question in SURVEY:
        assert question.people == tuple(figures[items[question.id], name] for name in CONDITIONS)
