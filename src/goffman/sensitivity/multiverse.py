"""A measured run → its multiverse: every headline analyzed again in each reasonable way.

Analyses that need the same scores of prompts share them; of each only its row is kept.
"""

from __future__ import annotations

import io
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
from goffman.runs.files import Folder
from goffman.runs.manifest import read_manifest
from goffman.runs.run import read_prompts
from goffman.schemas import ANALYSIS, NUMBER, SENSITIVITY, STRESS, WORD, WRONG_LABELS, schema
from goffman.scoring import answers_of, measures_of, words_of
from goffman.sensitivity.variations import Headline, Paraphrases
from goffman.stats.specification_curve import different, explained

if TYPE_CHECKING:
    from goffman.measures.base import Measure

MOST = 1_000
"""More analyses than these are drawn from, the audit's own among them."""

RATES = (0.05, 0.1, 0.2, 0.3, 0.5)
"""Shares of labels that are made wrong."""

TIMES = 5
"""How often each share is drawn."""

HEAVIEST = 20
"""So many words are left out in turn: those that most probability lies on."""


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """One way to get from stored answers to the headline."""

    variation: str = ANALYSIS
    what: str = ""
    """What is left out or spoiled; of an analysis its number."""
    chosen: Mapping[str, str] = field(default_factory=dict)
    """By choice: the option in words."""
    rate: float | None = None
    """Of labels that are wrong."""
    options: tuple[Option, ...] = ()

    def merged(self, name: str) -> dict[str, Any]:
        """What all options say of it: words, parameters, only."""
        every = (getattr(option, name) for option in self.options)
        return {key: value for of in every for key, value in of.items()}

    @property
    def words(self) -> LexiconVariant:
        """How lexicons and parser are read."""
        return LexiconVariant(**self.merged("words"))

    @property
    def reading(self) -> object:
        """The same for analyses that need the same scores of prompts."""
        prepared = [option.prepared for option in self.options if option.prepared]
        return repr((sorted(self.merged("parameters").items()), self.words)), *prepared

    def measure(self, given: Measure) -> Measure:
        """Return the measure with the parameters of this analysis."""
        parameters = self.merged("parameters")
        return replace(given, **parameters) if parameters else given

    def last(self, name: str) -> Any:
        """What the last option that says anything of it says: variant, quantity, prepared."""
        values = (getattr(option, name) for option in reversed(self.options))
        return next(filter(None, values), None)


def analyses(stored: StoredAnswers, *, seed: int = 0) -> list[Analysis]:
    """Every combination of options, the audit's own first; a draw where these are too many.

    One alone where the measure names no choice.
    """
    offered = {choice.name: list(choice.options(stored)) for choice in stored.measure.choices}
    offered = {name: options for name, options in offered.items() if len(options) > 1}
    every = math.prod(len(options) for options in offered.values())
    wanted = {*range(every)}
    if every > MOST:
        drawn = np.random.default_rng(seed).choice(every - 1, MOST - 1, replace=False)
        wanted = {0, *(int(number) + 1 for number in drawn)}
    return [
        Analysis(
            what=str(number + 1),
            chosen={name: option.said for name, option in zip(offered, options, strict=True)},
            options=options,
        )
        for number, options in enumerate(itertools.product(*offered.values()))
        if number in wanted
    ]


def noise_variants(words: Sequence[str], *, seed: int = 0) -> list[Analysis]:
    """The audit's own analysis without each of these words, and with labels wrong at each rate."""
    without = [
        Analysis(variation=WORD, what=word, options=(Option(said=word, words={"without": word}),))
        for word in words
    ]
    spoiled = [
        Analysis(
            variation=WRONG_LABELS,
            what=f"draw {time + 1}",
            rate=rate,
            options=(Option(said=f"{rate:g}", words={"wrong": rate, "seed": seed + place}),),
        )
        for place, (rate, time) in enumerate(itertools.product(RATES, range(TIMES)))
    ]
    return [*without, *spoiled]


_ABOUT = ("instrument", "mode", "measure", "model", "difference", "verdict")


def summarize(
    headline: Mapping[str, Any], outcomes: Sequence[Mapping[str, Any]], *, seed: int
) -> dict[str, Any]:
    """The row of a headline with a multiverse."""
    mine = [row for row in outcomes if row["variation"] == ANALYSIS]
    rows = different(mine)
    holding = sum(row["holds"] for row in rows)
    # The smallest share of wrong labels with which it holds in less than half the draws.
    spoiled = [row for row in outcomes if row["variation"] == WRONG_LABELS]
    draws = {rate: [row["holds"] for row in spoiled if row["rate"] == rate] for rate in RATES}
    overturned = (rate for rate, holds in draws.items() if 2 * sum(holds) < len(holds))
    summary = {name: headline[name] for name in _ABOUT} | {
        "analyses": len(rows),
        "tested": sum(row.get("verdict") is not None for row in rows),
        "holds": holding,
        "holds_in": holding / len(rows) if len(rows) > 1 else None,
        "seed": seed,
        "overturned_at": next(overturned, None),
        "reason": None if len(rows) > 1 else "its measure names nothing that could be chosen",
    }
    chosen = [json.loads(row["choices"] or "{}") for row in mine]
    # Where there is a choice of the number that is compared, only the audit's own counts here.
    alike = [
        (row, options)
        for row, options in zip(mine, chosen, strict=True)
        if options.get(NUMBER) == chosen[0].get(NUMBER) and row.get("difference") is not None
    ]
    if len(rows) < 2 or not alike:
        return summary
    differences = [row["difference"] for row in different([row for row, _ in alike])]
    values = [row["difference"] for row, _ in alike]
    shares = {
        name: share
        for name in alike[0][1]
        if name != NUMBER
        and (share := explained(values, [options[name] for _, options in alike])) is not None
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
"""By what a measure reads words with: whether a prepared fill counts."""

Watch = Callable[[int, int], None]

NOT_TESTED = "it could not be tested"
NOT_AGAIN = "its contrast cannot be made again from single prompts"
"""Why a headline has no multiverse."""


@dataclass(frozen=True, kw_only=True, eq=False)
class HeadlineContext:
    """One headline, and what it is analyzed again from."""

    headline: Headline
    stored: StoredAnswers
    cased: bool

    def scores(self, analysis: Analysis) -> pl.DataFrame:
        """SCORES of the level prompt, read as the analysis says."""
        stored = self.stored
        measure = analysis.measure(stored.measure)
        how = analysis.words
        words = stored.words if how == LexiconVariant() else how.of(stored.words)
        said = measure.code_responses(stored.answers, stored.prompts, words, cased=self.cased)
        if prepared := analysis.last("prepared"):
            said = prepared(said)
        return measure.score_prompts(said, stored.prompts)

    def outcome(self, analysis: Analysis, scores: pl.DataFrame) -> dict[str, Any]:
        """The headline by this analysis; ``scores``: what ``scores`` gives for it."""
        every = prompts = self.stored.prompts
        # Columns of prompts, and the one value of each that counts.
        only = analysis.merged("only")
        for column, value in only.items():
            prompts = prompts.filter(pl.col(column) == value)
        if "wording" not in only and not analysis.last("paraphrases"):
            prompts = prompts.filter(pl.col("paraphrase").is_null())
        if prompts.height < every.height:
            scores = scores.join(prompts.select("prompt_id"), on="prompt_id", how="semi")
        row = self.headline.row
        headline = replace(
            self.headline,
            row={**row, "variant": analysis.last("variant") or row["variant"]},
            measure=analysis.measure(self.headline.measure),
            wordings=prompts["wording"].unique(maintain_order=True).to_list(),
        )
        mine = headline.select_scores(scores)
        made = headline.recompute(mine, analysis.last("quantity"))
        judged = headline.as_row(analysis.variation, analysis.what, made)
        judged["rate"] = analysis.rate
        judged["choices"] = json.dumps(dict(analysis.chosen)) if analysis.chosen else None
        return judged

    def heaviest(self) -> dict[str, float]:
        """The words that count and that most probability lies on, in what is compared.

        With each its share of the probability of all words that count.
        """
        stored = self.stored
        counts = COUNTED.get(stored.measure.words or "")
        if counts is None or stored.measure.reads != "fills":
            return {}
        own = stored.prompts.filter(pl.col("paraphrase").is_null())
        answers = stored.answers.join(own.select("prompt_id"), on="prompt_id", how="semi")
        said = stored.measure.code_responses(answers, own, stored.words, cased=self.cased)
        # A word that is always below a measure's minimum probability is no part of its number.
        said = said.filter(stored.measure.counts_word())
        fold = pl.col("word").str.strip_chars().str.to_lowercase()
        mass = (
            said.filter(pl.col("step") == 1, pl.col("rank").is_not_null(), counts)
            .group_by(word=fold)
            .agg(pl.col("probability").cast(pl.Float64).sum())
            .sort("probability", "word", descending=[True, False])
            .select("word", pl.col("probability") / pl.col("probability").sum())
        )
        return dict(mass.head(HEAVIEST).rows())


@lru_cache(maxsize=1)
def headline_context(folder: Path, instrument: str, model: str) -> HeadlineContext | None:
    """One headline of a run with its answers, read once; None: nothing could make it again."""
    manifest = read_manifest(folder)
    assert manifest is not None  # noqa: S101 - whoever asks has read it
    measure = measures_of(manifest)[instrument]
    estimates = pl.read_parquet(io.BytesIO(Folder(folder).read("estimates.parquet") or b""))
    mine = pl.col("family") == PRIMARY, of_asked(instrument), pl.col("model") == model
    (row,) = estimates.filter(*mine).iter_rows(named=True)
    asked = read_prompts(folder, manifest).filter(of_asked(instrument))
    headline = Headline(
        row=row,
        measure=measure,
        wordings=asked["wording"].unique(maintain_order=True).to_list(),
        sharing=clusters_of(asked),
    )
    if headline.contrast is None:
        return None
    words = words_of(manifest)
    own, answers, cased = answers_of(folder, manifest, instrument, measure, model=model)
    paraphrases = None if headline.sharing.ways else Paraphrases.beside(folder, words)
    further = paraphrases and paraphrases.answered(headline)
    if further:
        own, answers = pl.concat([own, further[0]]), pl.concat([answers, further[1]])
    own = headline.asked(own)
    answers = answers.join(own.select("prompt_id"), on="prompt_id", how="semi")
    stored = StoredAnswers(measure=measure, prompts=own, answers=answers, words=words, headline=row)
    return HeadlineContext(headline=headline, stored=stored, cased=cased)


def every_analysis(work: HeadlineContext, words: Sequence[str], *, seed: int) -> list[Analysis]:
    """The multiverse of a headline, then what is left out or spoiled; always in one order."""
    reads_words = work.stored.measure.words in COUNTED
    more = noise_variants(words, seed=seed) if reads_words else []
    return [*analyses(work.stored, seed=seed), *more]


@dataclass(frozen=True, kw_only=True)
class Task:
    """Analyses of one headline that share their scores of prompts."""

    folder: Path
    key: tuple[str, str]
    """Instrument and model."""
    words: Mapping[str, float]
    """Those that are left out in turn, with their share of the probability."""
    places: Sequence[int]
    """Among all analyses of the headline; another process makes these anew."""
    seed: int


def _tasks(folder: Path, key: tuple[str, str], seed: int) -> list[Task]:
    """Return a task for each way to read the answers; none where the headline is not made again."""
    work = headline_context(folder, *key)
    if work is None:
        return []
    words = work.heaviest()
    places: dict[object, list[int]] = {}
    for place, analysis in enumerate(every_analysis(work, [*words], seed=seed)):
        places.setdefault(analysis.reading, []).append(place)
    return [
        Task(folder=folder, key=key, words=words, places=mine, seed=seed)
        for mine in places.values()
    ]


def run_task(task: Task) -> list[dict[str, Any]]:
    """Return the outcomes of a task's analyses, in the order of their places."""
    work = headline_context(task.folder, *task.key)
    assert work is not None  # noqa: S101 - of others there are no tasks
    every = every_analysis(work, [*task.words], seed=task.seed)
    scores = work.scores(every[task.places[0]])
    outcomes = [work.outcome(every[place], scores) for place in task.places]
    left_out = [one["variation"] == WORD and task.words[one["what"]] for one in outcomes]
    return [one | {"share": of or None} for one, of in zip(outcomes, left_out, strict=True)]


def _quiet() -> None:
    """In a process beside others each has one thread of its own; read before the first query."""
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

    ``primary``: its headlines; ``unmeasurable``: by instrument and model, why it is so.
    """
    headlines = {(asked_id(row), row["model"]): row for row in primary.iter_rows(named=True)}
    planned: list[Task] = []
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}

    def plan() -> Iterator[Task]:
        for key, row in headlines.items():
            if row["verdict"] and key not in unmeasurable:
                tasks = _tasks(folder, key, seed)
                planned.extend(tasks)
                yield from tasks

    with ExitStack() as stack:
        run: Callable[..., Iterator[list[dict[str, Any]]]] = map
        if workers > 1:
            # A process is started anew: a copy of one that has threads may wait for them forever.
            context = multiprocessing.get_context("spawn")
            pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_quiet)
            run = stack.enter_context(pool).map
        for at, outcomes in enumerate(run(run_task, plan())):
            found.setdefault(planned[at].key, []).extend(outcomes)
            watch(sum(map(len, found.values())), sum(len(task.places) for task in planned))
    summed = []
    for key, row in headlines.items():
        if key in found:
            summed.append(summarize(row, found[key], seed=seed))
            continue
        reason = unmeasurable.get(key) or (NOT_AGAIN if row["verdict"] else NOT_TESTED)
        none = dict.fromkeys(("analyses", "tested", "holds"), 0)
        about = {name: row[name] for name in _ABOUT}
        summed.append(about | none | {"seed": seed, "reason": reason})
    rows = [outcome for outcomes in found.values() for outcome in outcomes]
    table = pl.DataFrame(rows, schema=schema(SENSITIVITY))
    return table, pl.DataFrame(summed, schema=schema(STRESS))
