"""A measured run → its multiverse: every headline analyzed again in each reasonable way.

Answers are read once for each headline (once more in each further process). Analyses that need the
same scores of prompts share them; of each only its row is kept, so that memory does not grow with
their number.
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
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goffman.contrasts.scores import clusters_of
from goffman.estimates import PRIMARY
from goffman.lexicons.lexicons import LexiconVariant
from goffman.measures.analytic_choices import (
    Option,
    StoredAnswers,
)
from goffman.modes import asked_id, of_asked
from goffman.runs.files import Folder
from goffman.runs.manifest import read_manifest
from goffman.runs.run import read_prompts
from goffman.schemas import (
    ANALYSIS,
    NUMBER,
    SENSITIVITY,
    STRESS,
    WORD,
    WRONG_LABELS,
    schema,
)
from goffman.scoring import answers_of, measures_of, words_of
from goffman.sensitivity.leave_one_out import Headline
from goffman.sensitivity.wordings import asked_paraphrases
from goffman.stats.specification_curve import different, explained

if TYPE_CHECKING:
    from goffman.contrasts.spec import ContrastSpec
    from goffman.measures.base import Measure
    from goffman.runs.manifest import Manifest

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

    @property
    def words(self) -> LexiconVariant:
        """How lexicons and parser are read."""
        return LexiconVariant(**_merged(one.words for one in self.options))

    @property
    def only(self) -> Mapping[str, str]:
        """Columns of prompts, and the one value of each that counts."""
        return _merged(one.only for one in self.options)

    @property
    def reading(self) -> object:
        """The same for analyses that need the same scores of prompts."""
        parameters = sorted(_merged(one.parameters for one in self.options).items())
        prepared = [one.prepared for one in self.options if one.prepared]
        return repr((parameters, self.words)), *prepared

    def measure(self, given: Measure) -> Measure:
        """The measure with the parameters of this analysis."""
        parameters = _merged(one.parameters for one in self.options)
        return replace(given, **parameters) if parameters else given

    def last(self, name: str) -> Any:
        """What the last option that says anything of it says: variant, quantity, prepared."""
        said = [getattr(one, name) for one in self.options if getattr(one, name)]
        return said[-1] if said else None


def _merged(given: Any) -> dict[str, Any]:
    return {key: value for one in given for key, value in one.items()}


def analyses(stored: StoredAnswers, *, seed: int = 0) -> list[Analysis]:
    """Every combination of options, the audit's own first; a draw where these are too many.

    One alone where the measure names no choice.
    """
    offered = {one.name: list(one.options(stored)) for one in stored.measure.choices}
    offered = {name: options for name, options in offered.items() if len(options) > 1}
    every = math.prod(len(options) for options in offered.values())
    numbers: Sequence[int] = range(every)
    if every > MOST:
        drawn = np.random.default_rng(seed).choice(every - 1, MOST - 1, replace=False)
        numbers = [0, *sorted(int(one) + 1 for one in drawn)]
    wanted, found = {*numbers}, []
    for number, options in enumerate(itertools.product(*offered.values())):
        if number in wanted:
            chosen = {name: one.said for name, one in zip(offered, options, strict=True)}
            found.append(Analysis(what=str(number + 1), chosen=chosen, options=options))
    return found


def noise_variants(words: Sequence[str], *, seed: int = 0) -> list[Analysis]:
    """The audit's own analysis without each of these words, and with labels wrong at each rate."""
    found = [
        Analysis(variation=WORD, what=word, options=(Option(said=word, words={"without": word}),))
        for word in words
    ]
    for place, (rate, time) in enumerate(itertools.product(RATES, range(TIMES))):
        wrong = {"wrong": rate, "seed": seed + place}
        option = Option(said=f"{rate:g}", words=wrong)
        found.append(
            Analysis(variation=WRONG_LABELS, what=f"draw {time + 1}", rate=rate, options=(option,))
        )
    return found


def none_of(headline: Mapping[str, Any], reason: str, *, seed: int) -> dict[str, Any]:
    """The row of a headline that has no multiverse."""
    return _about(headline) | {
        **dict.fromkeys(("analyses", "tested", "holds"), 0),
        "seed": seed,
        "reason": reason,
    }


def summarize(
    headline: Mapping[str, Any], outcomes: Sequence[Mapping[str, Any]], *, seed: int
) -> dict[str, Any]:
    """The row of a headline with a multiverse."""
    mine = [one for one in outcomes if one["variation"] == ANALYSIS]
    rows = different(mine)
    holding = sum(one["holds"] for one in rows)
    alike = [one for one in mine if _number(one) == _number(mine[0])]
    differences = [
        one["difference"] for one in different(alike) if one.get("difference") is not None
    ]
    found = _about(headline) | {
        "analyses": len(rows),
        "tested": sum(one.get("verdict") is not None for one in rows),
        "holds": holding,
        "holds_in": holding / len(rows) if len(rows) > 1 else None,
        "seed": seed,
        "overturned_at": overturned([one for one in outcomes if one["variation"] == WRONG_LABELS]),
        "reason": None if len(rows) > 1 else "its measure names nothing that could be chosen",
    }
    if len(rows) > 1 and differences:
        found |= {
            "median": statistics.median(differences),
            "lowest": min(differences),
            "highest": max(differences),
        }
        found |= _choices(alike)
    return found


def _number(row: Mapping[str, Any]) -> str | None:
    """Which number an analysis compares, where there is a choice; the audit's own comes first."""
    chosen: dict[str, str] = json.loads(row["choices"] or "{}")
    return chosen.get(NUMBER)


def _about(headline: Mapping[str, Any]) -> dict[str, Any]:
    names = ("instrument", "mode", "measure", "model", "difference", "verdict")
    return {name: headline[name] for name in names}


def _choices(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How much each choice explains, and which one most."""
    known = [one for one in rows if one.get("difference") is not None]
    values = [one["difference"] for one in known]
    chosen = [json.loads(one["choices"]) for one in known]
    names = [name for name in chosen[0] if name != NUMBER]
    shares = {name: explained(values, [one[name] for one in chosen]) for name in names}
    there = {name: share for name, share in shares.items() if share is not None}
    return {
        "matters_most": max(there, key=lambda name: there[name]) if there else None,
        "explained": json.dumps(there) if there else None,
    }


def overturned(rows: Sequence[Mapping[str, Any]]) -> float | None:
    """The smallest share of wrong labels with which the verdict holds in less than half the draws.

    None: with no share that was tried, or nothing was drawn.
    """
    for rate in RATES:
        drawn = [one["holds"] for one in rows if one["rate"] == rate]
        if drawn and 2 * sum(drawn) < len(drawn):
            return rate
    return None


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
    quantity: str
    make: ContrastSpec
    """The number that the headline is made of, and the contrast that makes it."""

    def scores(self, analysis: Analysis) -> pl.DataFrame:
        """SCORES of the level prompt, read as the analysis says."""
        stored = self.stored
        measure = analysis.measure(stored.measure)
        words = (
            stored.words if (how := analysis.words) == LexiconVariant() else how.of(stored.words)
        )
        said = measure.code_responses(stored.answers, stored.prompts, words, cased=self.cased)
        if prepared := analysis.last("prepared"):
            said = prepared(said)
        return measure.score_prompts(said, stored.prompts)

    def outcome(self, analysis: Analysis, scores: pl.DataFrame) -> dict[str, Any]:
        """The headline by this analysis; ``scores``: what ``scores`` gives for it."""
        every = prompts = self.stored.prompts
        for column, value in analysis.only.items():
            prompts = prompts.filter(pl.col(column) == value)
        if "wording" not in analysis.only and not analysis.last("paraphrases"):
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
        quantity = analysis.last("quantity") or self.quantity
        made = headline.recompute((quantity, self.make), mine)
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


def headline_context(folder: Path, instrument: str, model: str) -> HeadlineContext | None:
    """One headline of a run with its answers; None: nothing could make it again."""
    manifest = _manifest(folder)
    measure = measures_of(manifest)[instrument]
    primary = _table(folder, "estimates.parquet").filter(pl.col("family") == PRIMARY)
    (row,) = primary.filter(of_asked(instrument), pl.col("model") == model).iter_rows(named=True)
    asked = read_prompts(folder, manifest).filter(of_asked(instrument))
    headline = Headline(
        row=row,
        measure=measure,
        wordings=asked["wording"].unique(maintain_order=True).to_list(),
        sharing=clusters_of(asked),
    )
    made = headline.find_contrast()
    if made is None:
        return None
    own, answers, cased = answers_of(folder, manifest, instrument, measure, model=model)
    further = None if headline.sharing.ways else asked_paraphrases(folder, headline)
    if further is not None:
        own, answers = pl.concat([own, further[0]]), pl.concat([answers, further[1]])
    own = headline.asked(own)
    answers = answers.join(own.select("prompt_id"), on="prompt_id", how="semi")
    stored = StoredAnswers(
        measure=measure, prompts=own, answers=answers, words=words_of(manifest), headline=row
    )
    return HeadlineContext(
        headline=headline, stored=stored, cased=cased, quantity=made[0], make=made[1]
    )


def _table(folder: Path, name: str) -> pl.DataFrame:
    return pl.read_parquet(io.BytesIO(Folder(folder).read(name) or b""))


def _manifest(folder: Path) -> Manifest:
    manifest = read_manifest(folder)
    assert manifest is not None  # noqa: S101 - whoever asks has read it
    return manifest


@dataclass(frozen=True, kw_only=True)
class Task:
    """Analyses that share their scores of prompts; it can go to another process."""

    folder: Path
    instrument: str
    model: str
    words: tuple[str, ...]
    """The heaviest ones, which are left out in turn."""
    seed: int
    places: tuple[int, ...]
    """Which of the analyses."""


def every_analysis(work: HeadlineContext, words: Sequence[str], *, seed: int) -> list[Analysis]:
    """The multiverse of a headline, then what is left out or spoiled; always in one order."""
    reads_words = work.stored.measure.words in COUNTED
    more = noise_variants(words, seed=seed) if reads_words else []
    return [*analyses(work.stored, seed=seed), *more]


@lru_cache(maxsize=1)
def _at_hand(folder: Path, instrument: str, model: str) -> HeadlineContext | None:
    """The headline that this process works at: its answers are read once."""
    return headline_context(folder, instrument, model)


def run_task(task: Task) -> list[dict[str, Any]]:
    """The outcomes of a task, in the order of its places."""
    work = _at_hand(task.folder, task.instrument, task.model)
    if work is None:
        return []
    every = every_analysis(work, task.words, seed=task.seed)
    mine = [every[place] for place in task.places]
    scores = work.scores(mine[0])
    return [work.outcome(one, scores) for one in mine]


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
    rows: list[Mapping[str, Any]] = []
    summed: list[dict[str, Any]] = []
    progress = _Progress(watch)
    with _doing(workers, progress.did) as begin:
        waiting: list[
            tuple[dict[str, Any], dict[str, float], list[Callable[[], list[dict[str, Any]]]]]
        ] = []
        for row in primary.iter_rows(named=True):
            key = (asked_id(row), row["model"])
            reason = unmeasurable.get(key) or (None if row["verdict"] else NOT_TESTED)
            work = None if reason else _at_hand(folder, *key)
            if work is None:
                summed.append(none_of(row, reason or NOT_AGAIN, seed=seed))
                continue
            heaviest = work.heaviest()
            tasks = list(_tasks(folder, work, tuple(heaviest), seed=seed))
            progress.expect(tasks)
            waiting.append((row, heaviest, [begin(task) for task in tasks]))
        for row, heaviest, results in waiting:
            outcomes = [one for result in results for one in result()]
            rows += [{**one, "share": _share(one, heaviest)} for one in outcomes]
            summed.append(summarize(row, outcomes, seed=seed))
    found = pl.DataFrame(rows, schema=schema(SENSITIVITY))
    return found, pl.DataFrame(summed, schema=schema(STRESS))


def _share(row: Mapping[str, Any], heaviest: Mapping[str, float]) -> float | None:
    """Of the row of a word that is left out, how much of the probability it had."""
    return heaviest[row["what"]] if row["variation"] == WORD else None


class _Progress:
    """How many of the analyses known so far are done."""

    def __init__(self, watch: Watch) -> None:
        self._watch, self._done, self._of = watch, 0, 0

    def expect(self, tasks: Sequence[Task]) -> None:
        """So many more are to be done."""
        self._of += sum(len(task.places) for task in tasks)

    def did(self, task: Task) -> None:
        """A task is done."""
        self._done += len(task.places)
        self._watch(self._done, self._of)


@contextmanager
def _doing(
    workers: int, did: Callable[[Task], None]
) -> Iterator[Callable[[Task], Callable[[], list[dict[str, Any]]]]]:
    """A function that begins a task, and gives one that waits for its outcomes."""
    if workers < 2:
        yield lambda task: _at_once(task, did)
        return
    # A process is started anew: a copy of one that has threads may wait for them forever.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_quiet) as pool:
        yield lambda task: _beside(pool, task, did)


def _at_once(task: Task, did: Callable[[Task], None]) -> Callable[[], list[dict[str, Any]]]:
    outcomes = run_task(task)
    did(task)
    return lambda: outcomes


def _beside(
    pool: ProcessPoolExecutor, task: Task, did: Callable[[Task], None]
) -> Callable[[], list[dict[str, Any]]]:
    future = pool.submit(run_task, task)
    future.add_done_callback(lambda _: did(task))
    return future.result


def _tasks(
    folder: Path, work: HeadlineContext, words: tuple[str, ...], *, seed: int
) -> Iterator[Task]:
    """A task for each way to read the answers."""
    places: dict[object, list[int]] = {}
    for place, one in enumerate(every_analysis(work, words, seed=seed)):
        places.setdefault(one.reading, []).append(place)
    row = work.headline.row
    for mine in places.values():
        yield Task(
            folder=folder,
            instrument=asked_id(row),
            model=row["model"],
            words=words,
            seed=seed,
            places=tuple(mine),
        )
