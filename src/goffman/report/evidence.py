"""The evidence behind every number: prompts, and what was answered, small enough for a page.

One block for each instrument: a header in JSON with tables of texts, then columns of numbers.
"""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goffman.console import printable
from goffman.contrasts.correlations import IN_MAIN_VARIANT
from goffman.errors import RunError
from goffman.formatting import humanize, mask_to_blank
from goffman.instruments.types import BASELINE, asked_as, base_of, mode_in
from goffman.measures.mode_agreement import PRESENTED
from goffman.measures.registry import measures
from goffman.presentation.evidence import EVIDENCE, options_with_probabilities
from goffman.presentation.section import Answers
from goffman.runs.reply_probabilities import fills_of_replies
from goffman.runs.run import read_answers
from goffman.schemas import SENTIMENTS
from goffman.scoring import measures_of, words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.instruments.types import AnswerTable
    from goffman.lexicons.lexicons import Lexicons
    from goffman.presentation.section import Section
    from goffman.report.load import MeasuredRun
    from goffman.runs.manifest import Manifest

ROWS = 600_000
"""Rows that a page keeps at most: about 3 MB."""

NO_PROBABILITY = 65_535


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One instrument's evidence as a page carries it."""

    instrument: str
    block: str
    """gzip in base64."""
    kept: int
    """Rows in the block."""
    there: int
    """Rows in the run's files."""
    words: Sequence[Mapping[str, Any]] = ()
    """The most probable words of each model: see filled_words."""


def evidence_of(run: MeasuredRun, words: Lexicons | None, *, rows: int = ROWS) -> list[Evidence]:
    """Return each instrument's evidence, ``rows`` rows at most in all; ``words``: their meaning."""
    # Read twice, first to count: the answers of many models together would fill the memory.
    all_answers = itertools.chain.from_iterable(
        answers_of(run, section) for section in run.sections.values()
    )
    per_prompt = words_per_prompt(map(ranks_of, all_answers), rows)
    evidence = []
    for name, section in run.sections.items():
        tables, row_count = [pl.DataFrame(schema=EVIDENCE)], 0
        top_words: list[dict[str, Any]] = []
        for answers in answers_of(run, section):
            tables.append(section.presentation.evidence(answers, section, words, per_prompt))
            top = filled_words(run, answers, section, words).head(WORDS_SHOWN)
            top_words += [
                {**row, "word": printable(row["word"])} for row in section.shown(top).to_dicts()
            ]
            row_count += rows_there(answers)
        tables += _probabilities_beside(run, name, tables)
        evidence.append(replace(packed(section, pl.concat(tables), row_count), words=top_words))
    return evidence


WORDS_SHOWN = 50
"""The number of words of each model on the page."""

COUNTED = ("positive", "negative", "neutral")

FILLED = {
    **dict.fromkeys(("model", "word"), pl.String),
    **dict.fromkeys(("mean_probability", "share"), pl.Float64),
    **dict.fromkeys(("label", "rater"), pl.String),
}
"""The columns of ``filled_words``; share: of the probability of all words that count."""


def filled_words(
    run: MeasuredRun, answers: Answers, section: Section, words: Lexicons | None
) -> pl.DataFrame:
    """Return the words that a model put in the first mask, most probable first, and their raters.

    The frame is empty if the model filled in none, or if it is not known here what words mean.
    """
    measure = measures_of(run.manifest)[section.instrument]
    if answers.table != "fills" or not measure.words or not words or not answers.frame.height:
        return pl.DataFrame(schema=FILLED)
    fills = answers.frame.filter(pl.col("rank").is_not_null(), step=1)
    coded = measure.code_responses(fills, section.prompts, words, cased=answers.cased)
    if "rater" not in coded.columns:
        is_listed = pl.col("gender_group").is_not_null()
        source = "goffman's list" if words.gender_file == "shipped" else "user's list"
        coded = coded.with_columns(
            label="gender_group", rater=pl.when(is_listed).then(pl.lit(source))
        )
    p = pl.col("probability").cast(pl.Float64)
    counts, prompts = pl.col("label").is_in(COUNTED), coded["prompt_id"].n_unique()
    mass = coded.filter(counts).select(p.sum()).item()
    by_rule = pl.when(pl.col("label").is_not_null()).then(pl.lit("a rule: no word"))
    return (
        coded.group_by("model", "word", "label", "rater")
        .agg(mean_probability=p.sum() / prompts, total=p.sum())
        .with_columns(
            share=pl.when(counts).then(pl.col("total") / mass),
            label=pl.col("label").fill_null("unrated"),
            rater=pl.coalesce("rater", by_rule, pl.lit("nobody")),
        )
        .sort("mean_probability", "word", "label", descending=[True, False, False])
        .select(*FILLED)
    )


def words_or_why(manifest: Manifest) -> tuple[Lexicons | None, Sequence[str]]:
    """Return the manifest's lexicons, or None and why, if they are not here as they were."""
    try:
        return words_of(manifest), []
    except RunError as error:
        why = "the report does not show ratings of words. The scores are unchanged"
        return None, [f"{error} So {why}."]


def _probabilities_beside(
    run: MeasuredRun, instrument: str, replies: Sequence[pl.DataFrame]
) -> Iterator[pl.DataFrame]:
    """Yield the probabilities of options in the same questions for which there are replies.

    They come after the trials, and only for models that were asked in both modes.
    """
    chosen = asked_as(base_of(instrument), "choice")
    if mode_in(instrument) != "reply" or chosen not in run.sections:
        return
    prompts = run.sections[chosen].prompts
    shared = [name for name in PRESENTED if name in prompts.columns]
    pairs = prompts.select("prompt_id", *shared).join(
        run.sections[instrument].prompts.select(*shared, own="prompt_id"),
        on=shared,
        nulls_equal=True,
    )
    replied = pl.concat(replies)
    if not replied.height:
        return
    trials = replied["rank"].max()
    for answers in answers_of(run, run.sections[chosen]):
        rows = options_with_probabilities(answers, run.sections[chosen], None, 0)
        shared_rows = rows.filter(pl.col("model").is_in(replied["model"].unique().implode()))
        placed = shared_rows.join(pairs.select("prompt_id", "own"), on="prompt_id")
        yield (
            placed.with_columns(prompt_id="own", rank=pl.col("rank") + trials)
            .select(EVIDENCE.names())
            .cast(EVIDENCE)
        )


def words_per_prompt(ranks: Iterable[pl.Series], rows: int) -> int:
    """Return how many ranks of each prompt to keep, for at most ``rows`` rows; at least one."""
    counts = np.zeros(2, np.int64)
    for series in ranks:
        added = np.bincount(series.to_numpy(), minlength=len(counts))
        counts = added + np.pad(counts, (0, len(added) - len(counts)))
    return max(1, int(np.searchsorted(np.cumsum(counts), rows, side="right")) - 1)


def ranks_of(answers: Answers) -> pl.Series:
    """Return the ranks of the fills at the prompts' own masks; no other rows may be left out."""
    if answers.table != "fills":
        return pl.Series([], dtype=pl.Int64)
    return answers.frame.select("step", "rank").filter(step=1)["rank"].drop_nulls()


def rows_there(answers: Answers) -> int:
    """Return how many rows the run has of these answers, one for each class of a classifier."""
    if answers.table == "labels":
        return int(answers.frame.select(pl.sum_horizontal(pl.col(SENTIMENTS).count())).item())
    return answers.frame.height


def answers_of(
    run: MeasuredRun, section: Section, *, model: str | None = None
) -> Iterator[Answers]:
    """Yield the answers of each model that answered to the end; ``model``: of this one only.

    No answers are held here while the next are read: they may fill half of the memory.
    """
    for name, entries in run.manifest.answers.items():
        entry = entries.get(section.instrument)
        if entry is not None and entry.parts is not None and name == (model or name):
            yield _answers(run, section, name, entry.table)


def _answers(run: MeasuredRun, section: Section, model: str, table: AnswerTable) -> Answers:
    """Return answers without those to controls, on which no number of a condition rests."""
    ids = section.prompts["prompt_id"]
    frame = read_answers(run.folder, table, model=model, instrument=section.instrument, prompts=ids)
    if table == "replies" and str(measures()[section.measure].reads) == "fills":
        table, frame = "fills", fills_of_replies(frame, section.prompts)
    return Answers(table=table, frame=frame, cased=run.manifest.models[model].has_case)


def packed(section: Section, rows: pl.DataFrame, there: int) -> Evidence:
    """Return the evidence of one instrument, packed into a block."""
    prompts = section.prompts
    answering = set(rows["model"].unique())
    models = [name for name in section.names.models if name in answering]
    place = pl.DataFrame(
        {"model": models, "m": range(len(models))}, schema={"model": pl.String, "m": pl.Int64}
    )
    joined = (
        rows.join(place, on="model")
        .join(prompts.select("prompt_id").with_row_index("p"), on="prompt_id")
        .sort("m", "p", "rank")
    )
    word, words = _coded(joined["word"])
    label, labels = _coded(joined["label"].fill_null(""))
    columns = {name: _coded(prompts[name].fill_null("")) for name in _OF_PROMPTS}
    counts = np.zeros((len(models), prompts.height), dtype=np.uint16)
    np.add.at(counts, (joined["m"].to_numpy(), joined["p"].to_numpy()), 1)
    numbers: dict[str, NDArray[Any]] = {
        "count": counts.ravel(),
        "rank": joined["rank"].to_numpy().astype(np.uint16),
        "word": word,
        "label": label,
        "probability": coded_probabilities(joined["probability"]),
        "value": _values(section, models),
    } | {name: codes for name, (codes, _) in columns.items()}
    orders: list[str] = []
    if "order" in prompts.columns and prompts["order"].count():
        numbers["order"], orders = _coded(prompts["order"].fill_null(""))
        numbers["question"] = _questions(prompts)
    conditions = columns["condition"][1]
    header = {
        "orders": [printable(text) for text in orders],
        "models": [section.names.model(name) for name in models],
        "conditions": [printable(text) for text in conditions],
        "baseline": conditions.index(BASELINE) if BASELINE in conditions else -1,
        "names": [section.called(condition) for condition in conditions],
        "items": [humanize(text) for text in columns["item"][1]],
        "wordings": [humanize(text) for text in columns["wording"][1]],
        "prompts": [mask_to_blank(text) for text in prompts["text"]],
        "words": [printable(text) for text in words],
        "labels": [printable(text) for text in labels],
        "quantity": section.presentation.called,
    }
    block = base64.b64encode(gzip.compress(_joined(header, numbers), 6, mtime=0)).decode()
    return Evidence(instrument=section.instrument, block=block, kept=joined.height, there=there)


_OF_PROMPTS = ("condition", "item", "wording")


def _questions(prompts: pl.DataFrame) -> NDArray[np.uint32]:
    """Return for each prompt a number that it shares with the same question in another order."""
    shared = [name for name in PRESENTED if name in prompts.columns and name != "order"]
    return prompts.select(pl.struct(shared).rank("dense")).to_series().to_numpy().astype(np.uint32)


def _values(section: Section, models: Sequence[str]) -> NDArray[np.float32]:
    """Return each model's number for each prompt; NaN if it is missing or there are trials."""
    rows = section.scores.filter(
        IN_MAIN_VARIANT,
        pl.col("trial").is_null(),
        level="prompt",
        quantity=section.presentation.quantity,
    )
    prompt_values = rows.select("model", "prompt_id", "value").drop_nulls("value")
    prompt_values = prompt_values.unique(["model", "prompt_id"], keep="last")
    prompts = section.prompts.select("prompt_id")
    values = [
        prompts.join(
            prompt_values.filter(model=model),
            on="prompt_id",
            how="left",
            maintain_order="left",
        )["value"].fill_null(np.nan)
        for model in models
    ]
    return np.concatenate([np.zeros(0, np.float32), *values], dtype=np.float32)


def _coded(texts: pl.Series) -> tuple[NDArray[Any], list[str]]:
    """Return each text's place in the table of texts, and that table, the most frequent first."""
    counts = texts.value_counts(sort=True).sort("count", texts.name, descending=[True, False])
    table = counts[texts.name].to_list()
    kind = pl.UInt8 if len(table) < 256 else pl.UInt16 if len(table) < 65_536 else pl.UInt32
    places = texts.replace_strict(table, range(len(table)), return_dtype=kind)
    return places.to_numpy(), table


def coded_probabilities(probabilities: pl.Series) -> NDArray[np.uint16]:
    """Return three significant digits, exact: 900 · (power of ten below 1) + digits − 100.

    1 becomes 0 and .0123 becomes 1823; what is below 1e-70 is coded as 1e-70.
    """
    values = probabilities.to_numpy().astype(np.float64)
    codes = np.full(len(values), NO_PROBABILITY, dtype=np.uint16)
    finite = np.isfinite(values)
    p = np.clip(values[finite], 1e-70, 1.0)
    times = np.maximum(0, -np.floor(np.log10(p)).astype(np.int64))
    digits = np.rint(p * 10.0 ** (times + 2)).astype(np.int64)
    # .9996 is rounded to 1.00, which has one digit more before the point.
    over = digits >= 1000
    digits[over], times[over] = 100, times[over] - 1
    codes[finite] = 900 * np.maximum(times, 0) + digits - 100
    return codes


def _joined(header: Mapping[str, Any], numbers: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the header's length in 4 bytes, the header, and the columns at multiples of 4."""
    arrays, parts, offset = {}, [], 0
    for name, array in numbers.items():
        content = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        arrays[name] = [offset, len(array), array.dtype.name]
        parts.append(content + b"\0" * (-len(content) % 4))
        offset += len(parts[-1])
    text = json.dumps({**header, "arrays": arrays}, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 4)
    return struct.pack("<I", len(text)) + text + b"".join(parts)


def unpacked(block: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the columns of a block, as the page reads them."""
    content = gzip.decompress(base64.b64decode(block))
    (length,) = struct.unpack_from("<I", content)
    start = 4 + length
    header = json.loads(content[4:start])
    return header, {
        name: np.frombuffer(content, kind, count=count, offset=start + offset)
        for name, (offset, count, kind) in header["arrays"].items()
    }
