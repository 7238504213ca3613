"""The files of Lin et al. (2022) → scores of each prompt, and the choice between two files.

docs/replication.md says why there are two, and how the published sums count each token.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from goffman.errors import PublishedError, did_you_mean
from goffman.instruments.loader import load_instrument
from goffman.instruments.types import Keyed, Prompt, Questionnaire
from goffman.replicate.files import read_csv
from goffman.replicate.published_run import PublishedAnswers
from goffman.schemas import prompt_table

if TYPE_CHECKING:
    import polars as pl

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

    from goffman.replicate.lin2022_phrases import fills_of_phrases, read_nouns

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
