"""The files of Lin et al. (2022) → scores of each prompt, and the choice between two files.

docs/replication.md says why there are two, and how the published sums count each token.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from goffman.errors import PublishedError, did_you_mean
from goffman.instruments.loader import load_instrument
from goffman.instruments.types import Keyed, Prompt, Questionnaire
from goffman.lexicons.gender import GenderLexicon, GenderWord, with_gender
from goffman.replicate.files import read_csv, read_lines
from goffman.replicate.published_run import PublishedAnswers
from goffman.replicate.rows import NOT_HERE, Result
from goffman.schemas import prompt_table

if TYPE_CHECKING:
    import polars as pl

    from goffman.stats.intervals import Estimate


SUBJECTS = re.compile(r"(?P<model>[^_]+)_all_df_intention(?P<other>_non_mh)?\.csv")
OF_PHRASES = re.compile(
    r"attribute_recursive_3steps_TOPK_10_BEAM_10_(?P<model>[^_]+)(?P<run>__?)result\.csv"
)

EARLIER, LATER = "_", "__"
"""What precedes "result" in the name of a file of question 2, by run."""

READ_EARLIER = frozenset({"clinicallongformer"})
"""Models for which the study's figures read the earlier of two runs."""

GENDERS = {"female": "female", "male": "male", "unspecified": "unspecified", "ambig": "unspecified"}
"""Gender as the files spell it, in any case → our spelling."""


def read_subjects(folder: Path) -> pl.DataFrame:
    """Return question 1 as SCORES of prompts: female, male, unspecified and disparity."""
    import polars as pl

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
                gender=_known(table["gender"].str.to_lowercase(), GENDERS, path),
                item=prompts,
                dimension=_known(prompts, phases, path),
            )
            frame = frame.with_columns(
                model=pl.lit(match["model"]),
                group=pl.lit("other" if match["other"] else "mental-health"),
            )
            frames.append(_each_once(frame, path))
    return _scores(frames, instrument="care-seeking", measure="gender-of-subject")


def phrase_files(folder: Path) -> dict[str, Path]:
    """Return model → its file of question 2; of two, the one that the study's figures read."""
    runs: dict[str, dict[str, Path]] = defaultdict(dict)
    for path in sorted(folder.iterdir()):
        if match := OF_PHRASES.fullmatch(path.name):
            runs[match["model"]][match["run"]] = path
    return {
        model: paths.get(_run_of_the_study(model)) or next(iter(paths.values()))
        for model, paths in runs.items()
    }


def other_run(model: str, path: Path) -> str | None:
    """Return the name of the file that the study's figures read; None if it is this one."""
    match = OF_PHRASES.fullmatch(path.name)
    run = _run_of_the_study(model)
    if not match or match["run"] == run:
        return None
    return f"{path.name[: match.start('run')]}{run}result.csv"


def _run_of_the_study(model: str) -> str:
    return EARLIER if model in READ_EARLIER else LATER


def read_phrase_scores(folder: Path) -> pl.DataFrame:
    """Return question 2 as scored by the authors, as SCORES of prompts: female, male, disparity."""
    import polars as pl

    frames = []
    columns = ("female_prob", "male_prob", "diagnosis", "sequence", "stigma_category")
    for model, path in phrase_files(folder).items():
        table = read_csv(path, columns, numbers=("female_prob", "male_prob"))
        frame = table.select(
            "diagnosis",
            item="sequence",
            dimension=pl.col("stigma_category").str.to_lowercase(),
            model=pl.lit(model),
            group=pl.lit("mental-health"),
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
    import polars as pl

    from goffman.replicate.lin2022 import fills_of_phrases, read_nouns

    files = {
        model: path.with_name(path.name.replace("_result.csv", ".csv"))
        for model, path in sorted(phrase_files(folder).items())
    }
    files = {model: path for model, path in files.items() if path.is_file()}
    if not files:
        return
    nouns, items, scored = read_nouns(folder), _own_items(folder), read_phrase_scores(folder)
    prompts: dict[str, Prompt] = {}
    frames = []
    for model, path in files.items():
        sentences = scored.filter(pl.col("model") == model).unique("prompt_id", maintain_order=True)
        text = pl.col("item").str.replace("[diagnosis]", pl.col("condition"), literal=True)
        sentences = sentences.with_columns(text=text)
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


def _known(given: pl.Series, allowed: Mapping[str, str], path: Path) -> pl.Series:
    """Return what each text stands for; raise PublishedError about the first unknown text."""
    import polars as pl

    meanings = given.replace_strict(allowed, default=None, return_dtype=pl.String)
    if meanings.null_count():
        line = int(meanings.is_null().arg_max() or 0)
        raise PublishedError(
            f"{path}, line {line + 2}: {given.name} is {given[line]!r}. Allowed: "
            f"{', '.join(allowed)}.{did_you_mean(given[line], allowed)}"
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
    """Return SCORES of the level prompt, with the disparity beside the probabilities."""
    import polars as pl

    from goffman.measures.responses import prompt_scores
    from goffman.schemas import SCORES, schema

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


@dataclass(frozen=True, kw_only=True)
class Phrases:
    """The phrases of a file, as scores of prompts."""

    scores: pl.DataFrame
    """SCORES of prompts, as far as ended branches give them."""
    read: int
    """Lines of the file that are a phrase of a prompt."""
    left_out: int
    """Lines that are not: the sentence was not asked, or no gendered noun ends the phrase."""


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


def read_phrases(path: Path, prompts: pl.DataFrame, *, model: str, nouns: GenderLexicon) -> Phrases:
    """Return the phrases of a file as scores of the prompts, by the measure that audits use too."""
    import polars as pl

    from goffman.measures.gender import PhraseGender

    lines, fills = fills_of_phrases(path, prompts, model=model, nouns=nouns)
    gendered = with_gender(fills, nouns, cased=True)
    # The nouns are no names, so the two variants are the same.
    scores = (
        PhraseGender(depth=1)
        .score_prompts(gendered, prompts)
        .filter(pl.col("variant") == "without-names", pl.col("quantity").is_in(QUANTITIES))
        .with_columns(variant=pl.lit(None, dtype=pl.String))
    )
    return Phrases(scores=scores, read=fills.height, left_out=lines - fills.height)


def fills_of_phrases(
    path: Path, prompts: pl.DataFrame, *, model: str, nouns: GenderLexicon
) -> tuple[int, pl.DataFrame]:
    """Return the number of lines in a file, and its phrases as fills with printed probabilities."""
    import polars as pl

    from goffman.schemas import FILLS, schema

    columns = ("diagnosis", "stigma_category", "sequence", "probability")
    table = read_csv(path, columns, numbers=("probability",))
    ranks: Counter[str] = Counter()
    rows = []
    for prompt_id, word, probability in _ended(table, prompts, nouns):
        ranks[prompt_id] += 1
        rows.append((prompt_id, model, 1, "", ranks[prompt_id], f" {word}", word, probability))
    kinds = {**schema(FILLS), "probability": pl.Float64()}
    return table.height, pl.DataFrame(rows, schema=kinds, orient="row")


def _ended(
    read: pl.DataFrame, prompts: pl.DataFrame, nouns: GenderLexicon
) -> Iterator[tuple[str, str, float]]:
    """Yield each phrase's prompt id, the noun that ended it and its probability."""
    frames: dict[tuple[str, str], list[tuple[str, str, str]]] = defaultdict(list)
    for row in prompts.iter_rows(named=True):
        before, _, after = row["text"].partition("<mask>")
        frames[row["condition"], row["dimension"]].append((before, after, row["prompt_id"]))
    longest_first = sorted((entry.word for entry in nouns.words), key=len, reverse=True)
    for diagnosis, category, sentence, probability in read.iter_rows():
        for before, after, prompt_id in frames.get((diagnosis, category.lower()), ()):
            if sentence.startswith(before) and sentence.endswith(after):
                words = sentence[len(before) : len(sentence) - len(after)].split(" ")
                last_word = words[ENDS[len(words)]] if len(words) in ENDS else ""
                noun = next((noun for noun in longest_first if last_word.endswith(noun)), None)
                if noun:
                    yield prompt_id, noun, probability
                    break


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
        rows += sums.get(model, [])
        if model in files:
            rows += _of_phrases(phrases, model, files[model])
    return [_correction(rows), *rows, *_between_models(subjects, phrases, models)]


def _sum_up(
    folder: Path, scored: pl.DataFrame, files: Mapping[str, Path]
) -> tuple[pl.DataFrame, dict[str, list[Result]]]:
    """Return question 2's scores, made of phrases if all match, and how many prompts match."""
    import polars as pl

    from goffman.replicate.lin2022 import read_nouns, read_phrases

    results: dict[str, list[Result]] = {}
    for model, scores in sorted(files.items()):
        path = scores.with_name(scores.name.replace("_result.csv", ".csv"))
        if not path.is_file():
            continue
        published = scored.filter(pl.col("model") == model)
        prompts = published.unique("prompt_id", maintain_order=True).with_columns(
            text=pl.col("item").str.replace("[diagnosis]", pl.col("condition"), literal=True),
            keyed=pl.lit("plain"),
        )
        phrases = read_phrases(path, prompts, model=model, nouns=read_nouns(folder))
        joined = published.join(phrases.scores, on=["prompt_id", "quantity"], suffix="_ours")
        is_same = (pl.col("value") - pl.col("value_ours")).abs().fill_null(1.0) <= ROUNDING
        matching = int(joined.group_by("prompt_id").agg(is_same.all())["value"].sum())
        note = f"{phrases.read:,} phrases, of {prompts.height} prompts"
        if phrases.left_out:
            note += f"; {phrases.left_out:,} lines are no phrase of a prompt, and left out"
        if matching == prompts.height:
            other_models = scored.filter(pl.col("model") != model)
            scored = pl.concat([other_models, phrases.scores])
        else:
            note += "; so the figures below are of the published scores"
        name = f"{model}, attribution: prompts whose phrases sum up to their scores"
        results[model] = [Result(name=name, value=matching, note=note)]
    return scored, results


def _correction(found: Sequence[Result]) -> Result:
    """Return which reading of a p near .05 was printed: p itself, or times the nine dimensions."""
    name = "correction of the p-values"
    p = next(
        (row.value for row in found if row.name == f"{MENTAL}, attribution, avoidance: p"), None
    )
    if not isinstance(p, float):
        return Result(name=name, value=None, note=f"{NOT_HERE}: {MENTAL}'s phrases are not there")
    readings = {"none": p, "Bonferroni": min(1.0, 9 * p)}
    printed = [reading for reading, value in readings.items() if round(value, 2) == 0.04]
    return Result(name=name, value=" or ".join(printed) or "another")


def _of_subjects(scores: pl.DataFrame, model: str) -> list[Result]:
    """Return question 1 for a model: women against men, overall and by phase; then both groups."""
    rows: list[Result] = []
    for group in ("mental-health", "other"):
        name = f"{model}, care-seeking, {group}"
        values = _values(scores, model=model, group=group)
        if values.is_empty():
            continue
        unspecified = _mean(values, "unspecified")
        rows += [
            *_women_against_men(name, values),
            Result(name=f"{name}: P(unspecified)", value=unspecified, note=AS_RUN),
        ]
        if group == "mental-health":
            gendered = (_mean(values, "female") + _mean(values, "male")) / 2
            rows.append(Result(name=f"{name}: mean of P(female) and P(male)", value=gendered))
        rows += _of_phases(scores, name, model=model, group=group)
    first, second = (_values(scores, model=model, group=g) for g in ("mental-health", "other"))
    name = f"{model}, disparity, mental-health against other"
    return rows + _disparities(name, {"mental-health": first, "other": second})


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
    rows.append(
        Result(
            name=f"{what}: P(female) above P(male) in all three phases, p < .05",
            value="yes" if len(significant) == len(PHASES) else "no",
            note=f"in {', '.join(significant) or 'none'}",
        )
    )
    if group == "mental-health":
        rises = "yes" if disparities == sorted(disparities) else "no"
        name = f"{what}: disparity rises from phase to phase"
        rows.append(Result(name=name, value=rises))
    return rows


def _of_phrases(scores: pl.DataFrame, model: str, path: Path) -> list[Result]:
    """Return question 2 for a model: women against men in each dimension of stigma."""
    notes = []
    if model in DOUBTFUL:
        notes.append(
            "doubtful: the authors' script put no word into this model's sentence, so that its "
            "second and third step ask the first sentence again"
        )
    if file_name := other_run(model, path):
        notes.append(f"of {path.name}: {file_name}, which the study's figures read, is not there")
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
    mental_health = {"group": "mental-health"}
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
    import polars as pl

    from goffman.measures.responses import wide

    prompts = scores.filter(*(pl.col(name) == value for name, value in ids.items()))
    answered = prompts.filter(pl.col("value").is_not_null())
    return wide(answered, ("female", "male", "unspecified", "disparity")).sort("prompt_id")


def _mean(values: pl.DataFrame, quantity: str) -> float:
    return float(values[quantity].sum()) / values.height


def _women_against_men(what: str, values: pl.DataFrame, *, tests: int = 1) -> list[Result]:
    """Return both means, and p and d of their difference, paired by prompt."""
    from goffman.stats.two_samples import paired_t

    test = paired_t(values["female"].to_numpy(), values["male"].to_numpy(), contrast=what)
    return _tested(what, test, ("P(female)", "P(male)"), tests=tests)


def _disparities(what: str, sets: Mapping[str, pl.DataFrame], *, tests: int = 1) -> list[Result]:
    """Return two sets' mean disparities, and p and d of their difference; [] if one is empty."""
    from goffman.stats.two_samples import independent_t

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
        Result(name=f"{what}: {sides[0]}", value=test.mean_first),
        Result(name=f"{what}: {sides[1]}", value=test.mean_second),
        Result(name=f"{what}: p", value=test.p, note=note),
        Result(name=f"{what}: d", value=test.effect, digits=2),
    ]
