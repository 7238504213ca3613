"""The evidence behind every number: prompts, and what was answered, small enough for a page.

One block for each instrument: a header in JSON, then columns of numbers. Every row is what stands
at one rank of one prompt's answer: a word of a masked model, a class of a classifier, a reply of a
chat model (its rank is the trial). Texts stand once, in tables, and rows have their place there.
"""

from __future__ import annotations

import base64
import gzip
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goffman.lexicons.gender import with_gender
from goffman.measures.coreference_bias import KINDS
from goffman.measures.gender_of_subject import GenderOfSubject
from goffman.measures.negative_sentiment import CLASSES
from goffman.reports.phrases import phrases
from goffman.reports.shown import blanked, plain
from goffman.runs.read import read_answers
from goffman.terminal import printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.reports.figure import Part
    from goffman.reports.run import MeasuredRun
    from goffman.score import Words

ROWS = 600_000
"""So many rows are kept in a page: about 3 MB."""

REPLY = 400
"""So many letters of a reply are kept in a page."""

NO_PROBABILITY = 65_535

MAIN = {
    "negative-attitude": ("negative", "P(negative)"),
    "negative-sentiment": ("negative", "negative share"),
    "gender-of-subject": ("disparity", "female − male"),
    "gender-of-phrase": ("disparity", "female − male"),
    "coreference-bias": ("bias", "bias"),
    "pronoun-preference": ("preference", "log preference"),
}
"""Measure → the number of a condition, and what it is called."""

_COLUMNS = ("model", "prompt_id", "rank", "word", "probability", "label")


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


def evidence_of(
    run: MeasuredRun, parts: Mapping[str, Part], words: Words | None, *, rows: int = ROWS
) -> list[Evidence]:
    """Of each instrument its evidence, together at most so many rows; ``words``: what they mean."""
    answers = {name: list(_answers(run, part)) for name, part in parts.items()}
    ranks = [one.ranks() for given in answers.values() for one in given]
    most = words_per_prompt(ranks, rows)
    found = []
    for name, given in answers.items():
        tables = [one.rows(parts[name], words, most=most) for one in given]
        frame = pl.concat([pl.DataFrame(schema=_SCHEMA), *tables])
        found.append(_packed(parts[name], frame, sum(one.there() for one in given)))
    return found


def words_per_prompt(ranks: Sequence[pl.Series], rows: int) -> int:
    """So many ranks of each prompt are kept, that there are at most ``rows``; at least one."""
    every = np.concatenate([np.zeros(0, np.int64), *(one.to_numpy() for one in ranks)])
    upto = np.cumsum(np.bincount(every.astype(np.int64), minlength=2))
    return max(1, int(np.searchsorted(upto, rows, side="right")) - 1)


@dataclass(frozen=True, kw_only=True)
class _Answers:
    """What one model answered to one instrument."""

    table: str
    """fills, labels or replies."""
    frame: pl.DataFrame
    cased: bool

    def ranks(self) -> pl.Series:
        """The ranks of its rows, as far as they may be cut."""
        if self.table != "fills":
            return pl.Series([], dtype=pl.Int64)
        return self.frame.filter(pl.col("step") == 1)["rank"].drop_nulls()

    def there(self) -> int:
        """How many rows the run has of it; a classifier's classes are one row each here."""
        if self.table == "labels":
            return int(self.frame.select(pl.sum_horizontal(pl.col(CLASSES).count())).item())
        return self.frame.height

    def rows(self, part: Part, words: Words | None, *, most: int) -> pl.DataFrame:
        """Its first ``most`` ranks, with what they mean."""
        if self.table == "labels":
            rows = _labels(self.frame)
        elif self.table == "replies":
            rows = _replies(self.frame, part)
        elif self.table == "likelihoods":
            rows = _likelihoods(self.frame, part)
        elif part.measure == "pronoun-preference":
            rows = _pronouns(self.frame, part, most=most)
        else:
            ranked = self.frame.filter(pl.col("rank").is_not_null())
            rows = _fills(ranked, part, words, cased=self.cased, most=most)
        return rows.select(_COLUMNS).cast(_SCHEMA)


def _answers(run: MeasuredRun, part: Part) -> Iterator[_Answers]:
    """Model by model, those that answered to the end."""
    for model, asked in run.manifest.answers.items():
        entry = asked.get(part.instrument)
        if entry is None or entry["parts"] is None:
            continue
        table, cased = entry["table"], bool(run.manifest.models[model].get("cased"))
        frame = read_answers(run.folder, table, model=model, instrument=part.instrument)
        yield _Answers(table=table, frame=frame, cased=cased)


_SCHEMA = pl.Schema(
    {
        "model": pl.String,
        "prompt_id": pl.String,
        "rank": pl.Int64,
        "word": pl.String,
        "probability": pl.Float64,
        "label": pl.String,
    }
)


def _fills(
    ranked: pl.DataFrame, part: Part, words: Words | None, *, cased: bool, most: int
) -> pl.DataFrame:
    first = ranked.filter(pl.col("step") == 1, pl.col("rank") <= most)
    if words is not None and part.measure == "negative-attitude":
        labelled = words.attitudes.label(first, part.prompts)
        return labelled.with_columns(pl.col("label").fill_null("unrated"))
    if words is not None and part.measure == "gender-of-subject":
        measure = GenderOfSubject()
        rare = pl.lit(f"below {measure.threshold}: not counted")
        label = pl.when(measure.reached()).then("label").otherwise(rare)
        return _gendered(first, words, cased=cased).with_columns(label=label)
    if words is not None and part.measure == "gender-of-phrase":
        said = phrases(_gendered(ranked, words, cased=cased), part.placement)
        return pl.concat([_gendered(first, words, cased=cased).select(_COLUMNS), said])
    return first.with_columns(label=pl.lit(None, dtype=pl.String))


def _forms(prompts: pl.DataFrame) -> pl.DataFrame:
    """Of each prompt the two forms of its pronoun, and which of them is the stereotype's."""
    pairs = ["item", "condition"]
    said = {"pro": "stereotype", "anti": "against it"}
    forms = prompts.filter(pl.col("wording").is_in(list(said))).select(
        *pairs, word="pronoun", label=pl.col("wording").replace_strict(said)
    )
    return prompts.select("prompt_id", *pairs).join(forms, on=pairs).drop(pairs)


def _pronouns(fills: pl.DataFrame, part: Part, *, most: int) -> pl.DataFrame:
    """The first words, and the two pronouns wherever they stand: the number is made from these."""
    labelled = fills.filter(pl.col("step") == 1).join(
        _forms(part.prompts), on=["prompt_id", "word"], how="left"
    )
    kept = labelled.filter((pl.col("rank") <= most) | pl.col("label").is_not_null())
    # A pronoun outside the top k has no rank; it comes after those that have one.
    place = pl.col("probability").rank("ordinal", descending=True).over("model", "prompt_id")
    return kept.with_columns(rank=pl.coalesce("rank", place.cast(pl.Int64)))


def _likelihoods(answers: pl.DataFrame, part: Part) -> pl.DataFrame:
    """Of each sentence the two pronouns with the logarithm of the whole sentence's probability."""
    labelled = answers.join(_forms(part.prompts), on=["prompt_id", "word"])
    place = pl.col("log_probability").rank("ordinal", descending=True).over("model", "prompt_id")
    log = pl.col("log_probability").round(3).cast(pl.String).str.replace("-", "−", literal=True)
    return labelled.with_columns(
        rank=place.cast(pl.Int64),
        word=pl.format("{}: log P of the sentence {}", "word", log),
        probability=pl.lit(None, dtype=pl.Float64),
    )


def _gendered(fills: pl.DataFrame, words: Words, *, cased: bool) -> pl.DataFrame:
    """The fills with the group of each word, and whether it is a name, in the column label."""
    rows = with_gender(fills, words.gender, cased=cased)
    name = pl.when(pl.col("gender_kind") == "name").then(pl.lit(" name")).otherwise(pl.lit(""))
    return rows.with_columns(label=pl.format("{}{}", "gender_group", name).fill_null("unlisted"))


def _labels(answers: pl.DataFrame) -> pl.DataFrame:
    """A row for each class, the most probable first."""
    rows = answers.unpivot(
        list(CLASSES),
        index=["model", "prompt_id", "label"],
        variable_name="word",
        value_name="probability",
    ).filter(pl.col("probability").is_not_null())
    chosen = pl.when(pl.col("word") == pl.col("label")).then(pl.lit("chosen"))
    rank = pl.col("probability").rank("ordinal", descending=True).over("model", "prompt_id")
    return rows.with_columns(label=chosen, rank=rank.cast(pl.Int64))


def _replies(answers: pl.DataFrame, part: Part) -> pl.DataFrame:
    """A row for each trial, with the kind that it was scored as."""
    kinds = part.scores.filter(
        pl.col("level") == "prompt", pl.col("quantity").is_in(KINDS), pl.col("value") == 1
    ).select("model", "prompt_id", "trial", label="quantity")
    text = pl.col("text").fill_null("(no reply)")
    short = pl.when(text.str.len_chars() > REPLY).then(text.str.head(REPLY) + "…").otherwise(text)
    joined = answers.join(kinds, on=["model", "prompt_id", "trial"], how="left")
    return joined.with_columns(
        rank=pl.col("trial"), word=short, probability=pl.lit(None, dtype=pl.Float64)
    )


def _packed(part: Part, rows: pl.DataFrame, there: int) -> Evidence:
    """The block of one instrument."""
    prompts = part.prompts
    there_are = set(rows["model"].unique())
    models = [name for name in part.names.models if name in there_are]
    place = pl.DataFrame(
        {"model": models, "m": range(len(models))}, schema_overrides={"m": pl.Int64}
    )
    kept = (
        rows.join(place, on="model")
        .join(prompts.select("prompt_id").with_row_index("p"), on="prompt_id")
        .sort("m", "p", "rank")
    )
    tables: dict[str, list[str]] = {}
    word, tables["words"] = _coded(kept["word"])
    label, tables["labels"] = _coded(kept["label"].fill_null(""))
    columns = {name: _coded(prompts[name].fill_null("")) for name in _OF_PROMPTS}
    counts = np.zeros((len(models), prompts.height), dtype=np.uint16)
    np.add.at(counts, (kept["m"].to_numpy(), kept["p"].to_numpy()), 1)
    numbers: dict[str, NDArray[Any]] = {
        "count": counts.ravel(),
        "rank": kept["rank"].to_numpy().astype(np.uint16),
        "word": word,
        "label": label,
        "probability": coded_probabilities(kept["probability"]),
        "value": _values(part, models),
    } | {name: codes for name, (codes, _) in columns.items()}
    header = {
        "models": [part.names.model(name) for name in models],
        "conditions": [printable(one) for one in columns["condition"][1]],
        "names": [part.called(one) for one in columns["condition"][1]],
        "items": [plain(text) for text in columns["item"][1]],
        "wordings": [plain(text) for text in columns["wording"][1]],
        "prompts": [blanked(text) for text in prompts["text"]],
        "words": [printable(text) for text in tables["words"]],
        "labels": [printable(text) for text in tables["labels"]],
        "quantity": MAIN.get(part.measure, ("", ""))[1],
    }
    block = base64.b64encode(gzip.compress(_joined(header, numbers), 6, mtime=0)).decode()
    return Evidence(instrument=part.instrument, block=block, kept=kept.height, there=there)


_OF_PROMPTS = ("condition", "item", "wording")


def _values(part: Part, models: Sequence[str]) -> NDArray[np.float32]:
    """The number of each model and prompt; NaN where there is none, or one for each trial."""
    quantity = MAIN.get(part.measure, ("", ""))[0]
    rows = part.scores.filter(
        pl.col("level") == "prompt",
        pl.col("quantity") == quantity,
        pl.col("variant").is_null() | (pl.col("variant") == "with-names"),
        pl.col("trial").is_null(),
    )
    known = {
        (model, prompt): value
        for model, prompt, value in rows.select("model", "prompt_id", "value").rows()
        if value is not None
    }
    ids = part.prompts["prompt_id"].to_list()
    values = [known.get((model, prompt), np.nan) for model in models for prompt in ids]
    return np.array(values, dtype=np.float32)


def _coded(texts: pl.Series) -> tuple[NDArray[Any], list[str]]:
    """Of each text its place in the table, and the table, the most frequent first."""
    counts = texts.value_counts(sort=True).sort("count", texts.name, descending=[True, False])
    table = counts[texts.name].to_list()
    kind = pl.UInt8 if len(table) < 256 else pl.UInt16 if len(table) < 65_536 else pl.UInt32
    places = texts.replace_strict(table, range(len(table)), return_dtype=kind)
    return places.to_numpy(), table


def coded_probabilities(probabilities: pl.Series) -> NDArray[np.uint16]:
    """Three significant digits, exactly: 900 · (power of ten below 1) + digits − 100.

    1 is 0 and .0123 is 1823; what is below 1e-70 is written as that.
    """
    values = probabilities.to_numpy().astype(np.float64)
    codes = np.full(len(values), NO_PROBABILITY, dtype=np.uint16)
    some = np.isfinite(values)
    p = np.clip(values[some], 1e-70, 1.0)
    times = np.maximum(0, -np.floor(np.log10(p)).astype(np.int64))
    digits = np.rint(p * 10.0 ** (times + 2)).astype(np.int64)
    # .9996 is rounded to 1.00, which has one digit more before the point.
    over = digits >= 1000
    digits[over], times[over] = 100, times[over] - 1
    codes[some] = 900 * np.maximum(times, 0) + digits - 100
    return codes


def _joined(header: Mapping[str, Any], numbers: Mapping[str, NDArray[Any]]) -> bytes:
    """4 bytes: the header's length; the header; the columns, each at a multiple of 4 bytes."""
    arrays, parts, offset = {}, [], 0
    for name, array in numbers.items():
        little = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        arrays[name] = [offset, len(array), array.dtype.name]
        parts.append(little + b"\0" * (-len(little) % 4))
        offset += len(parts[-1])
    text = json.dumps({**header, "arrays": arrays}, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 4)
    return struct.pack("<I", len(text)) + text + b"".join(parts)


def unpacked(block: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the columns of a block, as the page reads them."""
    content = gzip.decompress(base64.b64decode(block))
    (length,) = struct.unpack_from("<I", content)
    header = json.loads(content[4 : 4 + length])
    return header, dict(_columns(header, content, 4 + length))


def _columns(
    header: Mapping[str, Any], content: bytes, start: int
) -> Iterator[tuple[str, NDArray[Any]]]:
    for name, (offset, length, kind) in header["arrays"].items():
        yield name, np.frombuffer(content, kind, count=length, offset=start + offset)
