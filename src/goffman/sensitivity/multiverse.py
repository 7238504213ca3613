"""A measured run → its multiverse: every headline analyzed again in each reasonable way.

Analyses that need the same scores of prompts share them; only the row of each analysis is kept.
"""

from __future__ import annotations

import itertools
import json
import math
import multiprocessing
import os
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goffman.contrasts.designs import clusters_of
from goffman.contrasts.engine import PRIMARY
from goffman.lexicons.lexicons import LexiconVariant
from goffman.measures.analytic_choices import Option, StoredAnswers
from goffman.modes import asked_id, of_asked
from goffman.runs.answers import frame_in
from goffman.runs.files import Folder
from goffman.runs.manifest import read_manifest
from goffman.runs.run import read_prompts
from goffman.schemas import ANALYSIS, NUMBER, SENSITIVITY, STRESS, WORD, WRONG_LABELS, schema
from goffman.scoring import answers_of, measures_of, words_of
from goffman.sensitivity.variations import Headline, Paraphrases
from goffman.stats.multiple_testing import different, explained

if TYPE_CHECKING:
    from goffman.measures.base import Measure

MOST = 1_000
"""If there are more analyses than this, a sample is drawn, which includes the audit's own."""

RATES = (0.05, 0.1, 0.2, 0.3, 0.5)
"""Shares of labels that are made wrong."""

TIMES = 5
"""The number of draws for each share."""

HEAVIEST = 20
"""The number of words left out in turn: those that carry most of the probability."""


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """One way to get from stored answers to the headline."""

    variation: str = ANALYSIS
    what: str = ""
    """What is left out or spoiled; for an analysis its number."""
    chosen: Mapping[str, str] = field(default_factory=dict)
    """By choice: the chosen option in words."""
    rate: float | None = None
    """The share of labels that are wrong."""
    options: tuple[Option, ...] = ()

    def merged(self, name: str) -> dict[str, Any]:
        """Return one attribute of all options merged: words, parameters or only."""
        settings = (getattr(option, name) for option in self.options)
        return {key: value for setting in settings for key, value in setting.items()}

    @property
    def words(self) -> LexiconVariant:
        """Return how lexicons and parser are read."""
        return LexiconVariant(**self.merged("words"))

    @property
    def reading(self) -> object:
        """Return a key shared by the analyses that need the same scores of prompts."""
        prepared = [option.prepared for option in self.options if option.prepared]
        return repr((sorted(self.merged("parameters").items()), self.words)), *prepared

    def measure(self, measure: Measure) -> Measure:
        """Return the measure with the parameters of this analysis."""
        parameters = self.merged("parameters")
        return replace(measure, **parameters) if parameters else measure

    def last(self, name: str) -> Any:
        """Return an attribute of the last option that sets it, or None if no option does."""
        values = (getattr(option, name) for option in reversed(self.options))
        return next(filter(None, values), None)


def analyses(stored: StoredAnswers, *, seed: int = 0) -> list[Analysis]:
    """Return every combination of options, the audit's own first; a sample if there are too many.

    If the measure names no choice, there is one combination.
    """
    options_by_choice = {
        choice.name: list(choice.options(stored)) for choice in stored.measure.choices
    }
    options_by_choice = {
        name: options for name, options in options_by_choice.items() if len(options) > 1
    }
    total = math.prod(len(options) for options in options_by_choice.values())
    numbers = {*range(total)}
    if total > MOST:
        sample = np.random.default_rng(seed).choice(total - 1, MOST - 1, replace=False)
        numbers = {0, *(int(number) + 1 for number in sample)}
    return [
        Analysis(
            what=str(number + 1),
            chosen={
                name: option.label for name, option in zip(options_by_choice, options, strict=True)
            },
            options=options,
        )
        for number, options in enumerate(itertools.product(*options_by_choice.values()))
        if number in numbers
    ]


def noise_variants(words: Sequence[str], *, seed: int = 0) -> list[Analysis]:
    """Return the audit's own analysis without each word, and with labels wrong at each rate."""
    word_analyses = [
        Analysis(variation=WORD, what=word, options=(Option(label=word, words={"without": word}),))
        for word in words
    ]
    label_analyses = [
        Analysis(
            variation=WRONG_LABELS,
            what=f"draw {time + 1}",
            rate=rate,
            options=(Option(label=f"{rate:g}", words={"wrong": rate, "seed": seed + position}),),
        )
        for position, (rate, time) in enumerate(itertools.product(RATES, range(TIMES)))
    ]
    return [*word_analyses, *label_analyses]


_ABOUT = ("instrument", "mode", "measure", "model", "difference", "verdict")


def summarize(
    headline: Mapping[str, Any], outcomes: Sequence[Mapping[str, Any]], *, seed: int
) -> dict[str, Any]:
    """Return the row of a headline with a multiverse."""
    analysis_rows = [row for row in outcomes if row["variation"] == ANALYSIS]
    rows = different(analysis_rows)
    n_holding = sum(row["holds"] for row in rows)
    # The smallest share of wrong labels with which it holds in less than half the draws.
    label_rows = [row for row in outcomes if row["variation"] == WRONG_LABELS]
    draws = {rate: [row["holds"] for row in label_rows if row["rate"] == rate] for rate in RATES}
    overturned = (rate for rate, holds in draws.items() if 2 * sum(holds) < len(holds))
    summary = {name: headline[name] for name in _ABOUT} | {
        "analyses": len(rows),
        "tested": sum(row.get("verdict") is not None for row in rows),
        "holds": n_holding,
        "holds_in": n_holding / len(rows) if len(rows) > 1 else None,
        "seed": seed,
        "overturned_at": next(overturned, None),
        "reason": None if len(rows) > 1 else "its measure names nothing that could be chosen",
    }
    chosen = [json.loads(row["choices"] or "{}") for row in analysis_rows]
    # Differences in another quantity than the audit's cannot be compared with its difference.
    comparable = [
        (row, options)
        for row, options in zip(analysis_rows, chosen, strict=True)
        if options.get(NUMBER) == chosen[0].get(NUMBER) and row.get("difference") is not None
    ]
    if len(rows) < 2 or not comparable:
        return summary
    differences = [row["difference"] for row in different([row for row, _ in comparable])]
    values = [row["difference"] for row, _ in comparable]
    shares = {
        name: share
        for name in comparable[0][1]
        if name != NUMBER
        and (share := explained(values, [options[name] for _, options in comparable])) is not None
    }
    return summary | {
        "median": statistics.median(differences),
        "lowest": min(differences),
        "highest": max(differences),
        "matters_most": max(shares, key=lambda name: shares[name]) if shares else None,
        "explained": json.dumps(shares) if shares else None,
    }


MULTIVERSE_FILE, STRESS_FILE = "multiverse.parquet", "stress.parquet"

COUNTED = {
    "attitudes": pl.col("label").is_in(["positive", "negative", "neutral"]),
    "gender": pl.col("gender_group").is_in(["female", "male"]),
}
"""By the kind of words that a measure reads: whether a prepared fill counts."""

Watch = Callable[[int, int], None]

NOT_TESTED = "it could not be tested"
NOT_AGAIN = "its contrast cannot be made again from single prompts"
"""The reasons why a headline has no multiverse."""


@dataclass(frozen=True, kw_only=True, eq=False)
class HeadlineContext:
    """One headline, with the answers and settings from which it is analyzed again."""

    headline: Headline
    stored: StoredAnswers
    cased: bool

    def scores(self, analysis: Analysis) -> pl.DataFrame:
        """Return SCORES of the level prompt, read as the analysis prescribes."""
        stored = self.stored
        measure = analysis.measure(stored.measure)
        lexicon_variant = analysis.words
        words = (
            stored.words
            if lexicon_variant == LexiconVariant()
            else lexicon_variant.of(stored.words)
        )
        responses = measure.code_responses(stored.answers, stored.prompts, words, cased=self.cased)
        if prepared := analysis.last("prepared"):
            responses = prepared(responses)
        return measure.score_prompts(responses, stored.prompts)

    def outcome(self, analysis: Analysis, scores: pl.DataFrame) -> dict[str, Any]:
        """Return the headline by this analysis; ``scores``: what ``scores`` returns for it."""
        all_prompts = prompts = self.stored.prompts
        # Columns of prompts, and the one value of each that counts.
        filters = analysis.merged("only")
        for column, value in filters.items():
            prompts = prompts.filter(pl.col(column) == value)
        if "wording" not in filters and not analysis.last("paraphrases"):
            prompts = prompts.filter(pl.col("paraphrase").is_null())
        if prompts.height < all_prompts.height:
            scores = scores.join(prompts.select("prompt_id"), on="prompt_id", how="semi")
        row = self.headline.row
        headline = replace(
            self.headline,
            row={**row, "variant": analysis.last("variant") or row["variant"]},
            measure=analysis.measure(self.headline.measure),
            wordings=prompts["wording"].unique(maintain_order=True).to_list(),
        )
        selected = headline.select_scores(scores)
        estimate = headline.recompute(selected, analysis.last("quantity"))
        outcome = headline.as_row(analysis.variation, analysis.what, estimate)
        outcome["rate"] = analysis.rate
        outcome["choices"] = json.dumps(dict(analysis.chosen)) if analysis.chosen else None
        return outcome

    def heaviest(self) -> dict[str, float]:
        """Return the words that count and carry most of the probability in what is compared.

        Each comes with its share of the probability of all words that count.
        """
        stored = self.stored
        counts = COUNTED.get(stored.measure.words or "")
        if counts is None or stored.measure.reads != "fills":
            return {}
        prompts = stored.prompts.filter(pl.col("paraphrase").is_null())
        answers = stored.answers.join(prompts.select("prompt_id"), on="prompt_id", how="semi")
        responses = stored.measure.code_responses(answers, prompts, stored.words, cased=self.cased)
        # A word that is always below a measure's minimum probability is no part of its number.
        responses = responses.filter(stored.measure.counts_word())
        folded = pl.col("word").str.strip_chars().str.to_lowercase()
        mass = (
            responses.filter(pl.col("rank").is_not_null(), counts, step=1)
            .group_by(word=folded)
            .agg(pl.col("probability").cast(pl.Float64).sum())
            .sort("probability", "word", descending=[True, False])
            .select("word", pl.col("probability") / pl.col("probability").sum())
        )
        return dict(mass.head(HEAVIEST).rows())


@lru_cache(maxsize=1)
def headline_context(folder: Path, instrument: str, model: str) -> HeadlineContext | None:
    """Return one headline of a run with its answers, read once; None if it cannot be made again."""
    manifest = read_manifest(folder)
    assert manifest is not None  # noqa: S101 - whoever asks has read it
    measure = measures_of(manifest)[instrument]
    estimates = frame_in(Folder(folder).read("estimates.parquet") or b"")
    filters = pl.col("family") == PRIMARY, of_asked(instrument), pl.col("model") == model
    (row,) = estimates.filter(*filters).iter_rows(named=True)
    asked_prompts = read_prompts(folder, manifest).filter(of_asked(instrument))
    headline = Headline(
        row=row,
        measure=measure,
        wordings=asked_prompts["wording"].unique(maintain_order=True).to_list(),
        sharing=clusters_of(asked_prompts),
    )
    if headline.contrast is None:
        return None
    words = words_of(manifest)
    prompts, answers, cased = answers_of(folder, manifest, instrument, measure, model=model)
    paraphrases = None if headline.sharing.ways else Paraphrases.beside(folder, words)
    paraphrased = paraphrases and paraphrases.answered(headline)
    if paraphrased:
        prompts, answers = (
            pl.concat([prompts, paraphrased[0]]),
            pl.concat([answers, paraphrased[1]]),
        )
    prompts = headline.asked(prompts)
    answers = answers.join(prompts.select("prompt_id"), on="prompt_id", how="semi")
    stored = StoredAnswers(
        measure=measure, prompts=prompts, answers=answers, words=words, headline=row
    )
    return HeadlineContext(headline=headline, stored=stored, cased=cased)


def every_analysis(work: HeadlineContext, words: Sequence[str], *, seed: int) -> list[Analysis]:
    """Return the multiverse of a headline, then its noise variants; always in one order."""
    reads_words = work.stored.measure.words in COUNTED
    variants = noise_variants(words, seed=seed) if reads_words else []
    return [*analyses(work.stored, seed=seed), *variants]


@dataclass(frozen=True, kw_only=True)
class Task:
    """Analyses of one headline that share their scores of prompts."""

    folder: Path
    key: tuple[str, str]
    """Instrument and model."""
    words: Mapping[str, float]
    """The words that are left out in turn, with their share of the probability."""
    places: Sequence[int]
    """Positions among all analyses of the headline; another process makes these analyses anew."""
    seed: int


def _tasks(folder: Path, key: tuple[str, str], seed: int) -> list[Task]:
    """Return a task for each way to read the answers; none if the headline is not made again."""
    context = headline_context(folder, *key)
    if context is None:
        return []
    words = context.heaviest()
    places: dict[object, list[int]] = {}
    for position, analysis in enumerate(every_analysis(context, [*words], seed=seed)):
        places.setdefault(analysis.reading, []).append(position)
    return [
        Task(folder=folder, key=key, words=words, places=positions, seed=seed)
        for positions in places.values()
    ]


def run_task(task: Task) -> list[dict[str, Any]]:
    """Return the outcomes of a task's analyses, in the order of their places."""
    context = headline_context(task.folder, *task.key)
    assert context is not None  # noqa: S101 - of others there are no tasks
    all_analyses = every_analysis(context, [*task.words], seed=task.seed)
    scores = context.scores(all_analyses[task.places[0]])
    outcomes = [context.outcome(all_analyses[position], scores) for position in task.places]
    shares = [outcome["variation"] == WORD and task.words[outcome["what"]] for outcome in outcomes]
    return [
        outcome | {"share": share or None} for outcome, share in zip(outcomes, shares, strict=True)
    ]


def _quiet() -> None:
    """Give this process one polars thread; the variable is read before the first query."""
    os.environ["POLARS_MAX_THREADS"] = "1"


def stress_tables(
    folder: Path,
    *,
    primary: pl.DataFrame,
    unmeasurable: Mapping[tuple[str, str], str],
    workers: int = 1,
    seed: int = 0,
    watch: Watch = lambda _done, _of: None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return SENSITIVITY and STRESS of the run in the folder.

    ``primary``: the run's headlines; ``unmeasurable``: by instrument and model, the reason.
    """
    headlines = {(asked_id(row), row["model"]): row for row in primary.iter_rows(named=True)}
    planned: list[Task] = []
    outcomes_by_key: dict[tuple[str, str], list[dict[str, Any]]] = {}

    def plan() -> Iterator[Task]:
        for key, row in headlines.items():
            if row["verdict"] and key not in unmeasurable:
                tasks = _tasks(folder, key, seed)
                planned.extend(tasks)
                yield from tasks

    with ExitStack() as stack:
        run_all: Callable[..., Iterator[list[dict[str, Any]]]] = map
        if workers > 1:
            # A process is started anew: a copy of one that has threads may wait for them forever.
            context = multiprocessing.get_context("spawn")
            pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_quiet)
            run_all = stack.enter_context(pool).map
        for position, outcomes in enumerate(run_all(run_task, plan())):
            outcomes_by_key.setdefault(planned[position].key, []).extend(outcomes)
            watch(
                sum(map(len, outcomes_by_key.values())), sum(len(task.places) for task in planned)
            )
    summaries = []
    for key, row in headlines.items():
        if key in outcomes_by_key:
            summaries.append(summarize(row, outcomes_by_key[key], seed=seed))
            continue
        reason = unmeasurable.get(key) or (NOT_AGAIN if row["verdict"] else NOT_TESTED)
        counts = dict.fromkeys(("analyses", "tested", "holds"), 0)
        columns = {name: row[name] for name in _ABOUT}
        summaries.append(columns | counts | {"seed": seed, "reason": reason})
    rows = [outcome for outcomes in outcomes_by_key.values() for outcome in outcomes]
    table = pl.DataFrame(rows, schema=schema(SENSITIVITY))
    return table, pl.DataFrame(summaries, schema=schema(STRESS))
