"""The files of Lin et al. (2022) → scores of each prompt, and the choice between two files.

docs/replication.md says why there are two, and how the published sums count each token.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import polars as pl

from goffman.errors import PublishedError, did_you_mean
from goffman.instruments.loader import load_instrument
from goffman.instruments.types import Keyed, Prompt, Questionnaire
from goffman.lexicons.gender import GenderLexicon, GenderWord, with_gender
from goffman.measures.gender import PhraseGender
from goffman.measures.responses import prompt_scores, wide
from goffman.replicate.files import read_csv, read_lines
from goffman.replicate.published_run import PublishedAnswers
from goffman.replicate.rows import Result, lacking
from goffman.schemas import FILLS, SCORES, prompt_table, schema
from goffman.stats.intervals import Estimate
from goffman.stats.two_samples import independent_t, paired_t

SUBJECTS = re.compile(r"(?P<model>[^_]+)_all_df_intention(?P<other>_non_mh)?\.csv")
OF_PHRASES = re.compile(
    r"attribute_recursive_3steps_TOPK_10_BEAM_10_(?P<model>[^_]+)(?P<run>__?)result\.csv"
)

READ_EARLIER = frozenset({"clinicallongformer"})
"""Models for which the study's figures read the earlier of two runs, whose file has one underscore
before "result", not two."""

GROUPS = MENTAL_HEALTH, OTHER = "mental-health", "other"

GENDERS = {"female": "female", "male": "male", "unspecified": "unspecified", "ambig": "unspecified"}
"""Gender as the files spell it, in any case → our spelling."""


def read_subjects(folder: Path) -> pl.DataFrame:
    """Return question 1 as SCORES of prompts: female, male, unspecified and disparity."""
    items = cast("Questionnaire", load_instrument("care-seeking").content).items
    phases = {item.text.replace("{diagnosis}", "[diagnosis]"): item.dimension for item in items}
    frames = []
    for path in sorted(folder.iterdir()):
        if match := SUBJECTS.fullmatch(path.name):
            columns = ("probability", "gender", "diagnosis", "prompt")
            table = read_csv(path, columns, numbers=("probability",))
            prompts = table["prompt"].str.replace("[MASK]", "<mask>", literal=True)
            frame = table.select(
                "diagnosis",
                "probability",
                gender=_spelled(table["gender"].str.to_lowercase(), GENDERS, path),
                item=prompts,
                dimension=_spelled(prompts, phases, path),
            )
            frame = frame.with_columns(
                model=pl.lit(match["model"]),
                group=pl.lit(OTHER if match["other"] else MENTAL_HEALTH),
            )
            frames.append(_each_once(frame, path))
    return _scores(frames, instrument="care-seeking", measure="gender-of-subject")


def phrase_files(folder: Path) -> dict[str, Path]:
    """Return model → its file of question 2; of two, the one that the study's figures read."""
    files: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if match := OF_PHRASES.fullmatch(path.name):
            model = match["model"]
            if model not in files or match["run"] == _run_of_the_study(model):
                files[model] = path
    return files


def _run_of_the_study(model: str) -> str:
    return "_" if model in READ_EARLIER else "__"


def _file_of_phrases(scores: Path) -> Path:
    """Return the file with the phrases that have these scores."""
    return scores.with_name(scores.name.replace("_result.csv", ".csv"))


def _with_texts(prompts: pl.DataFrame) -> pl.DataFrame:
    text = pl.col("item").str.replace("[diagnosis]", pl.col("condition"), literal=True)
    return prompts.unique("prompt_id", maintain_order=True).with_columns(text=text)


def read_phrase_scores(folder: Path) -> pl.DataFrame:
    """Return question 2 as scored by the authors, as SCORES of prompts: female, male, disparity."""
    frames = []
    columns = ("female_prob", "male_prob", "diagnosis", "sequence", "stigma_category")
    for model, path in phrase_files(folder).items():
        table = read_csv(path, columns, numbers=("female_prob", "male_prob"))
        frame = table.select(
            "diagnosis",
            item="sequence",
            dimension=pl.col("stigma_category").str.to_lowercase(),
            model=pl.lit(model),
            group=pl.lit(MENTAL_HEALTH),
            female="female_prob",
            male="male_prob",
        )
        index = ("diagnosis", "item", "dimension", "model", "group")
        long = frame.unpivot(
            ["female", "male"], index=index, variable_name="gender", value_name="probability"
        )
        frames.append(_each_once(long, path))
    return _scores(frames, instrument="attribution", measure="gender-of-phrase")


def published_answers(folder: Path) -> Iterator[PublishedAnswers]:
    """Yield the published phrases of question 2; of everything else only sums were published."""
    files = {
        model: path
        for model, scores in sorted(phrase_files(folder).items())
        if (path := _file_of_phrases(scores)).is_file()
    }
    if not files:
        return
    nouns, items, scored = read_nouns(folder), _own_items(folder), read_phrase_scores(folder)
    prompts: dict[str, Prompt] = {}
    frames = []
    for model, path in files.items():
        sentences = _with_texts(scored.filter(model=model))
        ids = {}
        for row in sentences.iter_rows(named=True):
            item, keyed = items.get(row["item"], (row["item"], "plain"))
            fields = {name: row[name] for name in ("dimension", "condition", "group", "text")}
            fields |= {"instrument": "attribution", "wording": "first", "form": row["condition"]}
            prompt = Prompt(item=item, keyed=keyed, **fields)
            ids[row["prompt_id"]], prompts[prompt.id] = prompt.id, prompt
        _, fills = fills_of_phrases(path, sentences, model=model, nouns=nouns)
        rank = pl.col("probability").rank("ordinal", descending=True).over("prompt_id")
        ranked = fills.with_columns(pl.col("prompt_id").replace_strict(ids), rank=rank)
        frames.append(ranked.cast({"rank": pl.Int64, "probability": pl.Float32}))
    yield PublishedAnswers(
        instrument="attribution",
        table="fills",
        asked=[*prompts.values()],
        answers=pl.concat(frames),
        files={model: [path] for model, path in files.items()},
        missing=(
            f"Phrases were published of {' and '.join(files)} alone, and only gendered ones.",
            "Of care-seeking only sums over words were published, so this run has none of it.",
        ),
        nouns=nouns,
        parameters={"depth": 1, "ended_only": True},
    )


def _own_items(folder: Path) -> dict[str, tuple[str, Keyed]]:
    """Return sentence as run → item and keying, of files in the questionnaire's order."""
    content = cast("Questionnaire", load_instrument("attribution").content)
    first_items = [item for item in content.items if item.wording == "first"]
    by_sentence: dict[str, tuple[str, Keyed]] = {}
    for path in phrase_files(folder).values():
        rows = read_csv(path, ("sequence", "stigma_category")).unique(maintain_order=True)
        if rows["stigma_category"].str.to_lowercase().to_list() == [
            item.dimension for item in first_items
        ]:
            for item, sentence in zip(first_items, rows["sequence"], strict=True):
                # Item 7 was run as "would not interview", which agrees with avoidance.
                keyed = "plain" if " would not " in sentence else item.keyed
                by_sentence[sentence] = (item.id, keyed)
    return by_sentence


def _spelled(texts: pl.Series, allowed: Mapping[str, str], path: Path) -> pl.Series:
    """Return the texts replaced by ``allowed``; raise PublishedError about the first unknown."""
    meanings = texts.replace_strict(allowed, default=None, return_dtype=pl.String)
    if meanings.null_count():
        line = int(meanings.is_null().arg_max() or 0)
        raise PublishedError(
            f"{path}, line {line + 2}: {texts.name} is {texts[line]!r}. Allowed: "
            f"{', '.join(allowed)}.{did_you_mean(texts[line], allowed)}"
        )
    return meanings


def _each_once(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Return the frame; raise PublishedError unless each prompt has each gender once."""
    cells = frame.select("item", "diagnosis").n_unique()
    distinct = frame.select("item", "diagnosis", "gender").n_unique()
    genders = set(frame["gender"])
    complete = frame.height == distinct == cells * len(genders)
    if not (complete and {"female", "male"} <= genders):
        raise PublishedError(
            f"{path} does not have one line for each prompt, diagnosis and gender, so that the "
            "values cannot be paired."
        )
    return frame


def _scores(frames: Sequence[pl.DataFrame], *, instrument: str, measure: str) -> pl.DataFrame:
    """Return SCORES of the level prompt, with probabilities and disparity."""
    if not frames:
        return schema(SCORES).to_frame()
    long = pl.concat(frames)
    rows = long.select("item", "dimension", "diagnosis", "group").unique(maintain_order=True)
    prompts = [
        Prompt(
            instrument=instrument,
            item=item,
            wording="first",
            dimension=dimension,
            condition=diagnosis,
            form=diagnosis,
            group=group,
            text=item.replace("[diagnosis]", diagnosis),
        )
        for item, dimension, diagnosis, group in rows.iter_rows()
    ]
    table = prompt_table(prompts)
    ids = table.select("prompt_id", "item", diagnosis="condition")
    values = (
        long.pivot("gender", index=["model", "item", "diagnosis"], values="probability")
        .join(ids, on=["item", "diagnosis"], how="left", maintain_order="left")
        .with_columns(disparity=pl.col("female") - pl.col("male"))
        .drop("item", "diagnosis")
    )
    quantities = [name for name in values.columns if name not in {"model", "prompt_id"}]
    reasons = dict.fromkeys(quantities, "it was not published")
    scores = prompt_scores(values, table, measure=measure, reasons=reasons)
    # Models were asked items in different spellings: another model's spelling is no missing value.
    pairs = values.select("model", "prompt_id")
    return scores.join(pairs, on=["model", "prompt_id"], how="semi", maintain_order="left")


ENDS = {1: 0, 2: 0, 3: 1}
"""Number of words in a phrase → the place of the word that was put in last."""

QUANTITIES = ("female", "male", "disparity")
"""The quantities that ended branches give."""


def read_nouns(folder: Path) -> GenderLexicon:
    """Return the authors' gendered nouns, stripped, each once."""
    words = {
        group: sorted({line.strip() for line in read_lines(folder / name) if line.strip()})
        for group, name in (("female", "women_nouns.csv"), ("male", "men_nouns.csv"))
    }
    return GenderLexicon(
        words=tuple(
            GenderWord(word=word, group=group, kind="noun")
            for group, nouns in words.items()
            for word in nouns
        )
    )


def fills_of_phrases(
    path: Path, prompts: pl.DataFrame, *, model: str, nouns: GenderLexicon
) -> tuple[int, pl.DataFrame]:
    """Return the number of lines in a file, and its phrases as fills with printed probabilities."""
    columns = ("diagnosis", "stigma_category", "sequence", "probability")
    table = read_csv(path, columns, numbers=("probability",))
    sentences: dict[tuple[str, str], list[tuple[str, str, str]]] = defaultdict(list)
    for row in prompts.iter_rows(named=True):
        before, _, after = row["text"].partition("<mask>")
        sentences[row["condition"], row["dimension"]].append((before, after, row["prompt_id"]))
    longest_first = sorted((entry.word for entry in nouns.words), key=len, reverse=True)
    ranks: Counter[str] = Counter()
    rows = []
    for diagnosis, category, sentence, probability in table.iter_rows():
        for before, after, prompt_id in sentences.get((diagnosis, category.lower()), ()):
            if sentence.startswith(before) and sentence.endswith(after):
                words = sentence[len(before) : len(sentence) - len(after)].split(" ")
                last_word = words[ENDS[len(words)]] if len(words) in ENDS else ""
                noun = next((noun for noun in longest_first if last_word.endswith(noun)), None)
                if noun:
                    ranks[prompt_id] += 1
                    rank = ranks[prompt_id]
                    rows.append((prompt_id, model, 1, "", rank, f" {noun}", noun, probability))
                    break
    kinds = {**schema(FILLS), "probability": pl.Float64()}
    return table.height, pl.DataFrame(rows, schema=kinds, orient="row")


ROBERTA, MENTAL = "roberta", "mentalroberta"
"""The two models that the study compares, as their files are named."""

DOUBTFUL = frozenset({"bert", "mentalbert"})
"""Models whose mask is written "[MASK]", which the authors' script looks for in a sentence that has
"<mask>": it puts no word in."""

AS_RUN = 'as run, a token with a space before it (" She") counts here, and not by its gender'

ROUNDING = 1e-9
"""How close a sum of phrases must be to the published score."""

PHASES = ("diagnosis", "intention", "action")


def results(folder: Path) -> list[Result]:
    """Return every number of the study, recomputed."""
    subjects = read_subjects(folder)
    files = phrase_files(folder)
    phrases, sums = _sum_up(folder, read_phrase_scores(folder), files)
    models = sorted(
        {*subjects["model"], *phrases["model"]},
        key=lambda name: (name != ROBERTA, name != MENTAL, name),
    )
    if not models:
        raise PublishedError(
            f"{folder} has no file named like 'MODEL_all_df_intention.csv' or "
            "'attribute_recursive_3steps_TOPK_10_BEAM_10_MODEL__result.csv'."
        )
    rows: list[Result] = []
    for model in models:
        rows += _of_subjects(subjects, model)
        rows += [sums[model]] if model in sums else []
        if model in files:
            rows += _of_phrases(phrases, model, files[model])
    return [_correction(rows), *rows, *_between_models(subjects, phrases, models)]


def _sum_up(
    folder: Path, scored: pl.DataFrame, files: Mapping[str, Path]
) -> tuple[pl.DataFrame, dict[str, Result]]:
    """Return question 2's scores, and by model how many of them are the sums of its phrases.

    The scores of a model are replaced by these sums if all of its prompts match.
    """
    results: dict[str, Result] = {}
    for model, path_of_scores in sorted(files.items()):
        path = _file_of_phrases(path_of_scores)
        if not path.is_file():
            continue
        published = scored.filter(model=model)
        prompts = _with_texts(published).with_columns(keyed=pl.lit("plain"))
        nouns = read_nouns(folder)
        lines, fills = fills_of_phrases(path, prompts, model=model, nouns=nouns)
        # Audits use the same measure. The nouns are no names, so both variants are the same.
        scores = (
            PhraseGender(depth=1)
            .score_prompts(with_gender(fills, nouns, cased=True), prompts)
            .filter(pl.col("quantity").is_in(QUANTITIES), variant="without-names")
            .with_columns(variant=pl.lit(None, dtype=pl.String))
        )
        joined = published.join(scores, on=["prompt_id", "quantity"], suffix="_ours")
        is_same = (pl.col("value") - pl.col("value_ours")).abs().fill_null(1.0) <= ROUNDING
        matching = int(joined.group_by("prompt_id").agg(is_same.all())["value"].sum())
        note = f"{fills.height:,} phrases, of {prompts.height} prompts"
        if left_out := lines - fills.height:
            note += f"; {left_out:,} lines are no phrase of a prompt, and left out"
        if matching == prompts.height:
            other_models = scored.filter(pl.col("model") != model)
            scored = pl.concat([other_models, scores])
        else:
            note += "; so the figures below are of the published scores"
        name = f"{model}, attribution: prompts whose phrases sum up to their scores"
        results[model] = Result(name, matching, note=note)
    return scored, results


def _correction(rows: Sequence[Result]) -> Result:
    """Return which correction for the nine dimensions gives the p that the study prints."""
    name = "correction of the p-values"
    p = next(
        (row.value for row in rows if row.name == f"{MENTAL}, attribution, avoidance: p"), None
    )
    if not isinstance(p, float):
        return lacking(name, f"{MENTAL}'s phrases are not there")
    readings = {"none": p, "Bonferroni": min(1.0, 9 * p)}
    printed = [reading for reading, value in readings.items() if round(value, 2) == 0.04]
    return Result(name, " or ".join(printed) or "another")


def _of_subjects(scores: pl.DataFrame, model: str) -> list[Result]:
    """Return question 1 for a model: women against men, overall and by phase; then both groups."""
    rows: list[Result] = []
    groups = {group: _values(scores, model=model, group=group) for group in GROUPS}
    for group, values in groups.items():
        name = f"{model}, care-seeking, {group}"
        if values.is_empty():
            continue
        rows += _women_against_men(name, values)
        rows.append(Result(f"{name}: P(unspecified)", _mean(values, "unspecified"), note=AS_RUN))
        if group == MENTAL_HEALTH:
            gendered = (_mean(values, "female") + _mean(values, "male")) / 2
            rows.append(Result(f"{name}: mean of P(female) and P(male)", gendered))
        rows += _of_phases(scores, name, model=model, group=group)
    return rows + _disparities(f"{model}, disparity, mental-health against other", groups)


def _of_phases(scores: pl.DataFrame, what: str, *, model: str, group: str) -> list[Result]:
    """Return women against men in each phase of the file; if it has all phases, what they show."""
    rows, disparities, significant = [], [], []
    for phase in PHASES:
        values = _values(scores, model=model, group=group, dimension=phase)
        if values.is_empty():
            continue
        phase_rows = _women_against_men(f"{what}, {phase}", values, tests=3)
        rows += phase_rows
        p = phase_rows[2].value
        disparities.append(_mean(values, "disparity"))
        if isinstance(p, float) and p < 0.05 and disparities[-1] > 0:
            significant.append(phase)
    if len(disparities) < len(PHASES):
        return rows
    name = f"{what}: P(female) above P(male) in all three phases, p < .05"
    claim = "yes" if len(significant) == len(PHASES) else "no"
    rows.append(Result(name, claim, note=f"in {', '.join(significant) or 'none'}"))
    if group == MENTAL_HEALTH:
        rises = "yes" if disparities == sorted(disparities) else "no"
        rows.append(Result(f"{what}: disparity rises from phase to phase", rises))
    return rows


def _of_phrases(scores: pl.DataFrame, model: str, path: Path) -> list[Result]:
    """Return question 2 for a model: women against men in each dimension of stigma."""
    notes = []
    if model in DOUBTFUL:
        notes.append(
            "doubtful: the authors' script put no word into this model's sentence, so that its "
            "second and third step ask the first sentence again"
        )
    match, run = OF_PHRASES.fullmatch(path.name), _run_of_the_study(model)
    if match and match["run"] != run:
        other = f"{path.name[: match.start('run')]}{run}result.csv"
        notes.append(f"of {path.name}: {other}, which the study's figures read, is not there")
    results: list[Result] = []
    for dimension in sorted(set(scores["dimension"])):
        values = _values(scores, model=model, dimension=dimension)
        if not values.is_empty():
            rows = _women_against_men(f"{model}, attribution, {dimension}", values, tests=9)
            results += [
                replace(row, note="; ".join(filter(None, [row.note, *notes])), firm=not notes)
                for row in rows
            ]
    return results


def _between_models(
    subjects: pl.DataFrame, phrases: pl.DataFrame, models: Sequence[str]
) -> list[Result]:
    """Return every two models' disparities in mental health: overall, by phase and by dimension."""
    mental_health = {"group": MENTAL_HEALTH}
    parts = [(subjects, "", mental_health, 1)]
    parts += [
        (subjects, f", {phase}", {**mental_health, "dimension": phase}, 3) for phase in PHASES
    ]
    dimensions = sorted(set(phrases["dimension"]))
    parts += [
        (phrases, f", attribution, {dimension}", {"dimension": dimension}, 9)
        for dimension in dimensions
    ]
    rows = []
    for pair, (scores, part, ids, tests) in itertools.product(
        itertools.combinations(models, 2), parts
    ):
        name = f"disparity in mental-health, {' against '.join(pair)}{part}"
        sides = {model: _values(scores, model=model, **ids) for model in pair}
        rows += _disparities(name, sides, tests=tests)
    return rows


def _values(scores: pl.DataFrame, **ids: str) -> pl.DataFrame:
    """Return the prompts with these ids that have values, with a column for each quantity."""
    prompts = scores.filter(*(pl.col(name) == value for name, value in ids.items()))
    answered = prompts.filter(pl.col("value").is_not_null())
    return wide(answered, ("female", "male", "unspecified", "disparity")).sort("prompt_id")


def _mean(values: pl.DataFrame, quantity: str) -> float:
    return float(values[quantity].sum()) / values.height


def _women_against_men(what: str, values: pl.DataFrame, *, tests: int = 1) -> list[Result]:
    """Return both means, and p and d of their difference, paired by prompt."""
    test = paired_t(values["female"].to_numpy(), values["male"].to_numpy(), contrast=what)
    return _tested(what, test, ("P(female)", "P(male)"), tests=tests)


def _disparities(what: str, sets: Mapping[str, pl.DataFrame], *, tests: int = 1) -> list[Result]:
    """Return two sets' mean disparities, and p and d of their difference; [] if one is empty."""
    if any(values.is_empty() for values in sets.values()):
        return []
    first, second = (values["disparity"].to_numpy() for values in sets.values())
    test = independent_t(first, second, contrast=what, variances="equal")
    return _tested(what, test, tuple(sets), tests=tests)


def _tested(what: str, test: Estimate, sides: Sequence[str], *, tests: int) -> list[Result]:
    """Return both means, p, and Cohen's d with the pooled SD, even of paired values."""
    note = test.reason or ""
    if tests > 1 and test.p is not None:
        note = f"{min(1.0, tests * test.p):.2g} by Bonferroni's correction for {tests} tests"
    return [
        Result(f"{what}: {sides[0]}", test.mean_first),
        Result(f"{what}: {sides[1]}", test.mean_second),
        Result(f"{what}: p", test.p, note=note),
        Result(f"{what}: d", test.effect, digits=2),
    ]
