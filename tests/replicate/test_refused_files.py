"""What is broken in an author's file is refused, with the file, its line and what is allowed."""

import importlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goffman.errors import PublishedError

Change = Callable[[Path], object]


def put(old: str, new: str, *, line: int | None = None, times: int = -1) -> Change:
    """Replace a text that stands in the file, or in one of its lines."""

    def change(path: Path) -> None:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
        parts = ["\n".join(lines)] if line is None else lines
        place = (line or 1) - 1
        assert old in parts[place]
        parts[place] = parts[place].replace(old, new, times)
        path.write_text("\n".join(parts), encoding="utf-8")

    return change


def keep(lines: slice, *, more: str = "") -> Change:
    """Keep these lines alone, and add some."""

    def change(path: Path) -> None:
        path.write_text("\n".join(path.read_text().rstrip("\n").split("\n")[lines]) + more)

    return change


def answer(line: int, **entries: Any) -> Change:
    """Replace entries of a JSON line."""

    def change(path: Path) -> None:
        lines = path.read_text().split("\n")
        lines[line - 1] = json.dumps(json.loads(lines[line - 1]) | entries)
        path.write_text("\n".join(lines))

    return change


def whole(text: str) -> Change:
    return lambda path: path.write_text(text)


def renamed(name: str) -> Change:
    return lambda path: path.rename(path.with_name(name))


def copied(name: str) -> Change:
    return lambda path: path.with_name(name).write_bytes(path.read_bytes())


def others_renamed(path: Path) -> None:
    for other in path.parents[2].rglob("*.test"):
        if other != path:
            other.rename(other.with_suffix(".dev"))


BASE = "completions/trial1/compl_tri1_type1_pro_base.txt.test"
KEY = "answers/incanswers.txt.test"
BRIEGEL = [
    (BASE, put("I Pro Base\n", ""), "{file} has 4 lines below 'guard'. Expected: a heading line such as 'I Pro Base', and an answer to each of the 5 prompts."),
    (BASE, keep(slice(None), more="\nnurse\n"), "{file} has 6 lines below 'I Pro Base'. Expected: a heading line such as 'I Pro Base', and an answer to each of the 5 prompts."),
    (BASE, renamed("compl_tri1_type1_pro_shy-bold.txt.test"), "{file.parent}/compl_tri1_type1_pro_shy-bold.txt.test is not named after a trial, a side and two adjectives."),
    (BASE, others_renamed, "{folder}/completions has completions of dev and test. These are different sentences: keep only those of one."),
    ("completions/trial2/compl_tri2_type1_anti_old-nothi.txt.test", Path.unlink, "{folder} has no anti completions of old-nothi in trial 2."),
    (KEY, keep(slice(-1)), "{folder}/answers has 5 right answers and 4 wrong ones. They are paired by line: both files must have the same number."),
    (KEY, Path.unlink, "{file} is missing. Download the authors' files with --download, or give a complete copy with --data."),
]  # fmt: skip

LLAMA = "data/SSQA-performance-and-guardrail-mitigations/llama_and_llama_guard.csv"
GRANITE = "data/SSQA-performance-and-guardrail-mitigations/granite_and_granite_guardian.csv"
SHARES = "data/llama_bias_percentages.csv"
RATINGS = "data/results-from-pachankis-all.csv"
TABLE = "data/feature_correlations.csv"
GUEORGUIEVA = [
    # The line is that of the file, whatever texts of several lines stand above it.
    (LLAMA, put(",base,", ",bass,", line=2), "{file}, line 2: prompt style is 'bass'. Allowed: base, original, positive, doubt. Did you mean 'base'?"),
    (LLAMA, put(",yes,", ",maybe,", line=5, times=1), "{file}, line 5: biased answer is 'maybe'. Allowed: yes, no."),
    (LLAMA, put(",1,", ",2,", line=5, times=1), "{file}, line 5: original answer bias is '2'. Allowed: 0, 1."),
    (LLAMA, put("prompt style", "style", line=1), "{file} has no column 'prompt style'. Its columns are "),
    (LLAMA, put("\n\nsafe", "\n\nperhaps", times=1), "{file}, line 2: llama guard safety label is '\\n\\nperhaps'. Allowed: 'safe', and 'unsafe' with a category such as S6."),
    (LLAMA, copied("llama_and_another.csv"), "{file} and {file.parent}/llama_and_another.csv are of the same model. Keep one."),
    (LLAMA, renamed("answers.csv"), "{file.parent}/answers.csv is not named after a model, like 'llama_and_….csv'."),
    (LLAMA, whole(""), "{file} has no rows below its heading."),
    (GRANITE, put(",1,", ",6,", line=3, times=1), "{file}, line 3: clusters is '6'. Allowed: Awkward, "),
    (SHARES, put(",2,", ",2,7", line=3, times=1), "{file}, line 3: Visibility is '7"),
    (SHARES, put("Deaf", "", line=2, times=1), "{file}, line 2: Stigma is ''. Every row needs its own."),
    (SHARES, whole("Stigma,Cluster\n"), "{file} has no column 'Visibility'. Its columns are Stigma, Cluster."),
    (SHARES, lambda path: path.write_bytes(b"Stigma\n\xff\xfe\n"), "{file} is not UTF-8 text (invalid start byte)."),
    (RATINGS, put("Gang Member", "Deaf", line=3), "{file}, line 3: Stigma is 'Deaf'. Every row needs its own."),
    (RATINGS, put("2,Old Age,3,", "2,Old Age,3,x", line=4), "{file}, line 4: visibility-participants is 'x"),
    (RATINGS, whole('Stigma,"Clus'), "{file}, line 1 is not CSV: unexpected end of data."),
    (TABLE, put("Peril", "Danger", line=2), "{file}, line 2: Dimensions is 'Danger'. Allowed: Concealability, "),
    (TABLE, put("Concealability,", "Concealability,high", line=3), "{file}, line 3: Correlation to Humans is 'high"),
    (TABLE, whole("Model,Dimensions,Correlation to Humans\nLlama,Peril\n"), "{file}, line 2 has 2 fields; the heading has 3."),
    (TABLE, whole("Model,Dimensions,Correlation to Humans\n"), "{file} has no rows below its heading."),
]  # fmt: skip

SUBJECTS = "roberta_all_df_intention.csv"
LIN = [
    (SUBJECTS, put("Female", "Woman"), "{file}, line 2: gender is 'woman'. Allowed: female, male, unspecified, ambig."),
    (SUBJECTS, put("takes medication", "takes tea"), "{file}, line 20: prompt is '<mask> takes tea for [diagnosis]'. Allowed: <mask> has [diagnosis], "),
    (SUBJECTS, put("probability", "p"), "{file} has no column 'probability'. Its columns are p, gender, diagnosis, prompt."),
    (SUBJECTS, put("0.", "o."), "{file}, line 2: probability is 'o."),
    (SUBJECTS, put("0.", "nan#0."), "{file}, line 2: probability is 'nan#"),
    (SUBJECTS, put("OCD", "depression"), "{file} does not have one line for each prompt, diagnosis and gender, so that the values cannot be paired."),
]  # fmt: skip

TWO = "sentiment/twoclass_stigma_sentiment.csv"
FILLS = "fills/XLNET_nonstigma_result_p1_SD.csv"
MEI = [
    (TWO, put("NEGATIVE", "LABEL_0"), "{file} has the label 'LABEL_0', which is not a sentiment."),
    (TWO, put("They are", "Those are"), "{file} has a sentence that the study does not have: 'Those are people who are Latinas.'"),
    (FILLS, put("a citizen,Base", "a king,Base"), "{file} has the condition 'a king', which is not in non_stigma_conditions.csv."),
    (FILLS, put(" as a neighbor", " as a guest"), "{file} has a sentence that the study does not have: 'Choosing between"),
    (FILLS, put("predicted_word", "word"), "{file} has no column 'predicted_word'. Its columns are prompt, word, probs, condition, pachankis_conditions, category."),
    (FILLS, copied("XLNET_nonstigma_result_p1_copy.csv"), "{file} and {file.parent}/XLNET_nonstigma_result_p1_copy.csv answer the same prompts. One of them is enough."),
    (FILLS, keep(slice(1), more="\n"), "{file} has no rows below its heading."),
]  # fmt: skip

PROMPTS = "data/prompts.jsonl"
TINY = "results/stigma/model=tiny__chat&steel-man-prompt=False/2026-01-01.jsonl"
GPT = "results/stigma/model=gpt-4o-2024-08-06&steel-man-prompt=True/2025-01-18.jsonl"
HUMAN = "external_data/human_data_2018.csv"
WILLING = "Probably willing"
MOORE = [
    (PROMPTS, put('{"education"', '{"education', line=3), "{file}, line 3 is not JSON: "),
    (PROMPTS, lambda path: put(path.read_text().split("\n")[2], "[1, 2]")(path), "{file}, line 3 is not a JSON object with the keys condition, gender, "),
    (PROMPTS, put('"vignette"', '"story"', line=2), "{file}, line 2 has no key 'vignette'. Its keys are ['education', 'race', "),
    (PROMPTS, put("daily troubles", "a cold", line=1), "{file}, line 1: condition is 'a cold'. Allowed: daily troubles, depression, "),
    (PROMPTS, put("work closely", "go out", line=1), "{file}, line 1 has a question that the study does not have: 'Would you go out with Kim?'"),
    (PROMPTS, put("Definitely unwilling", "Never", line=1), "{file}, line 1: options is ['Never', "),
    (PROMPTS, put('"Definitely unwilling","Probably unwilling"', '"Definitely unwilling"', line=1), "{file}, line 1: options is ["),
    (PROMPTS, put('"man"', "7", line=1), "{file}, line 1: gender is 7, which is not a text."),
    (PROMPTS, put('"man"', r'"\ud800"', line=1), "{file}, line 1 has half of a character (a lone surrogate)."),
    (TINY, put("Kim", "Jo", line=5), "{file}, line 5 answers a prompt that data/prompts.jsonl does not have."),
    (TINY, keep(slice(-1)), "{file} answers 63 of the 64 prompts of data/prompts.jsonl. The study's figures are of all of them."),
    (TINY, lambda path: keep(slice(None), more="\n" + path.read_text().split("\n")[0])(path), "{file}, line 65 answers a prompt that an earlier line answers."),
    (TINY, whole(""), "{file} has no lines."),
    (TINY, lambda path: path.parent.rename(path.parents[1] / "tiny"), "{folder}/results/stigma/tiny is not named like 'model=MODEL&steel-man-prompt=True'."),
    (TINY, lambda path: shutil.rmtree(path.parents[1]), "{folder}/results/stigma/*/*.jsonl is missing. Download the authors' files with --download, or give a complete copy with --data."),
    (GPT, lambda path: put(path.read_text().split("\n")[1], "[1, 2]")(path), "{file}, line 2 is not a JSON object with the keys prompt, output, answer, code."),
    (GPT, put('"output":"', '"output":["', line=1), "{file}, line 1 is not JSON: "),
    (GPT, put('"answer":"', '"answer":"Oh ', line=1), "{file}, line 1: answer is 'Oh "),
    (GPT, answer(5, output="A", answer=WILLING, code=1), "{file}, line 5: output is 'A', but answer is 'Probably willing'."),
    (GPT, answer(5, output="C", answer=None, code=None), "{file}, line 5: output is 'C', but answer is None."),
    (GPT, answer(5, output="?", answer=WILLING, code=0), "{file}, line 5: code is 0, but the answer 'Probably willing' has the code True."),
    (GPT, answer(5, output="?", answer="Do not know", code=1), "{file}, line 5: code is 1, but the answer 'Do not know' has the code None."),
    (GPT, answer(5, output="?", answer=WILLING, code=float("nan")), "{file}, line 5: code is nan, but the answer 'Probably willing' has the code True."),
    (GPT, answer(5, output=["?"], answer=None, code=None), "{file}, line 5: output is ['?'], which is not a text."),
    (GPT, answer(5, output="?", answer=["A"], code=None), "{file}, line 5: answer is ['A']. Allowed: Definitely unwilling, "),
    (GPT, answer(1, output="?", answer="x" * 100_000), "{file}, line 1: answer is 'xxx"),
    (HUMAN, put("66", "166", line=2), "{file}, line 2: schizophrenia is '166', which is not a percentage."),
    (HUMAN, put("66", "two", line=2), "{file}, line 2: schizophrenia is 'two', which is not a percentage."),
    (HUMAN, put(",11", "", line=3), "{file}, line 3 has 4 fields; the heading has 5."),
    (HUMAN, put("next door", "abroad", line=3), "{file}, line 3 has a question that the study does not have: 'Live abroad?'"),
    (HUMAN, put("Live next door?", "group home", line=3), "{file}, line 6 repeats a question of an earlier row."),
]  # fmt: skip

STUDIES = {
    "briegel2023": BRIEGEL,
    "gueorguieva2025": GUEORGUIEVA,
    "lin2022": LIN,
    "mei2023": MEI,
    "moore2025": MOORE,
}


@pytest.mark.parametrize(
    ("study", "file", "change", "message"),
    [(study, *row) for study, rows in STUDIES.items() for row in rows],
)
def test_a_broken_file_is_refused(
    study: str, file: str, change: Change, message: str, copy: Callable[[str], Path]
) -> None:
    folder = copy(study)
    change(folder / file)
    with pytest.raises(PublishedError) as error:
        importlib.import_module(f"goffman.replicate.{study}").results(folder)
    text = str(error.value)
    assert text.startswith(message.format(file=folder / file, folder=folder))
    # No message is longer than a screen.
    assert len(text) < 1_000 + 2 * len(str(folder / file))
