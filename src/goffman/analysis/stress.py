"""A measured run → its multiverse: every headline analyzed again in each reasonable way.

Answers are read once for each headline (once more in each further process). Analyses that need the
same scores of prompts share them; of each only its row is kept, and what it adds to the permutation
test, so that memory does not grow with their number.
"""

from __future__ import annotations

import io
import json
import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.analysis.estimate import PRIMARY
from goffman.analysis.multiverse import HEAVIEST, WORD, Analysis, analyses, spoiled
from goffman.analysis.robustness import Headline
from goffman.analysis.score import answers_of, measures_of, words_of
from goffman.analysis.stress_summary import Outcome, holds, none_of, summed_up
from goffman.analysis.wordings import asked_paraphrases
from goffman.estimates.exchangeable import Exchangeable, exchangeable
from goffman.estimates.fragile import PARAMETER
from goffman.estimates.sharing import sharing_of
from goffman.lexicons.otherwise import Otherwise
from goffman.measures.choices import ONE_WORDING, Stored, choices_of
from goffman.multiverse_columns import MULTIVERSE, STRESS
from goffman.runs.files import Folder
from goffman.runs.folder import read_prompts
from goffman.runs.manifest import read_manifest
from goffman.tables import schema

if TYPE_CHECKING:
    from goffman.estimates.scored import Found, Scored
    from goffman.runs.manifest import Manifest

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
class Work:
    """One headline, and what it is analyzed again from."""

    headline: Headline
    stored: Stored
    cased: bool
    quantity: str
    make: Callable[[Scored], Found]
    """The number that the headline is made of, and the function that makes it."""

    def scores(self, analysis: Analysis) -> pl.DataFrame:
        """SCORES of the level prompt, read as the analysis says."""
        stored = self.stored
        measure = analysis.measure(stored.measure)
        words = stored.words if (how := analysis.words) == Otherwise() else how.of(stored.words)
        said = measure.prepare(stored.answers, stored.prompts, words, cased=self.cased)
        if prepared := analysis.last("prepared"):
            said = prepared(said)
        return measure.each(said, stored.prompts)

    def outcome(self, analysis: Analysis, scores: pl.DataFrame) -> Outcome:
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
        mine = headline.mine(scores)
        quantity = analysis.last("quantity") or self.quantity
        made = headline.again((quantity, analysis.last("make") or self.make), mine)
        judged = headline.judged(analysis.way, analysis.what, made)
        judged |= {"rate": analysis.rate, "holds": holds(judged, row)}
        judged["choices"] = json.dumps(dict(analysis.chosen)) if analysis.chosen else None
        return Outcome(row=judged, units=self._units(analysis, mine, quantity))

    def _units(self, analysis: Analysis, mine: pl.DataFrame, quantity: str) -> Exchangeable | None:
        """What could be shuffled in it; what is left out or spoiled is no part of the median."""
        if not analysis.chosen:
            return None
        if ONE_WORDING in choices_of(self.stored.measure) and "wording" not in analysis.only:
            # Of several wordings the headline is of the first.
            mine = mine.filter(pl.col("wording") == self.headline.wordings[0])
        return exchangeable(self.headline.row, mine, quantity, self.headline.sharing)

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
        said = stored.measure.prepare(answers, own, stored.words, cased=self.cased)
        # A word that is always below a measure's minimum probability is no part of its number.
        if (reached := getattr(stored.measure, "reached", None)) is not None:
            said = said.filter(reached())
        fold = pl.col("word").str.strip_chars().str.to_lowercase()
        mass = (
            said.filter(pl.col("step") == 1, pl.col("rank").is_not_null(), counts)
            .group_by(word=fold)
            .agg(pl.col("probability").cast(pl.Float64).sum())
            .sort("probability", "word", descending=[True, False])
            .select("word", pl.col("probability") / pl.col("probability").sum())
        )
        return dict(mass.head(HEAVIEST).rows())


def work_of(folder: Path, instrument: str, model: str) -> Work | None:
    """One headline of a run with its answers; None: nothing could make it again."""
    manifest = _manifest(folder)
    measure = measures_of(manifest)[instrument]
    primary = _table(folder, "estimates.parquet").filter(pl.col("family") == PRIMARY)
    (row,) = primary.filter(pl.col("instrument") == instrument, pl.col("model") == model).iter_rows(
        named=True
    )
    asked = read_prompts(folder, manifest).filter(pl.col("instrument") == instrument)
    headline = Headline(
        row=row,
        primary=primary,
        measure=measure,
        wordings=asked["wording"].unique(maintain_order=True).to_list(),
        sharing=sharing_of(asked),
    )
    made = headline.maker(headline.mine(_table(folder, "scores.parquet")))
    if made is None:
        return None
    own, answers, cased = answers_of(folder, manifest, instrument, measure, model=model)
    further = None if headline.sharing.ways else asked_paraphrases(folder, headline)
    if further is not None:
        own, answers = pl.concat([own, further[0]]), pl.concat([answers, further[1]])
    own = headline.asked(own)
    answers = answers.join(own.select("prompt_id"), on="prompt_id", how="semi")
    stored = Stored(
        measure=measure, prompts=own, answers=answers, words=words_of(manifest), headline=row
    )
    return Work(headline=headline, stored=stored, cased=cased, quantity=made[0], make=made[1])


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


def every_analysis(work: Work, words: Sequence[str], *, seed: int) -> list[Analysis]:
    """The multiverse of a headline, then what is left out or spoiled; always in one order."""
    reads_words = work.stored.measure.words in COUNTED
    more = spoiled(words, seed=seed) if reads_words else []
    return [*analyses(work.stored, seed=seed), *more]


@lru_cache(maxsize=1)
def _at_hand(folder: Path, instrument: str, model: str) -> Work | None:
    """The headline that this process works at: its answers are read once."""
    return work_of(folder, instrument, model)


def do(task: Task) -> list[Outcome]:
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
    robustness: pl.DataFrame | None,
    unmeasurable: Mapping[tuple[str, str], str],
    workers: int = 1,
    seed: int = 0,
    watch: Watch = lambda _done, _of: None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """MULTIVERSE and STRESS of the run in the folder.

    ``primary``: its headlines; ``unmeasurable``: by instrument and model, why it is so.
    """
    rows: list[Mapping[str, Any]] = []
    summed: list[dict[str, Any]] = []
    progress = _Progress(watch)
    with _doing(workers, progress.did) as begin:
        waiting: list[
            tuple[dict[str, Any], dict[str, float], list[Callable[[], list[Outcome]]]]
        ] = []
        for row in primary.iter_rows(named=True):
            key = (row["instrument"], row["model"])
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
            outcomes += _left_out(row, robustness)
            rows += [{**one.row, "share": _share(one.row, heaviest)} for one in outcomes]
            summed.append(summed_up(row, outcomes, seed=seed))
    found = pl.DataFrame(rows, schema=schema(MULTIVERSE))
    return found, pl.DataFrame(summed, schema=schema(STRESS))


def _share(row: Mapping[str, Any], heaviest: Mapping[str, float]) -> float | None:
    """Of the row of a word that is left out, how much of the probability it had."""
    return heaviest[row["what"]] if row["way"] == WORD else None


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
) -> Iterator[Callable[[Task], Callable[[], list[Outcome]]]]:
    """A function that begins a task, and gives one that waits for its outcomes."""
    if workers < 2:
        yield lambda task: _at_once(task, did)
        return
    # A process is started anew: a copy of one that has threads may wait for them forever.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_quiet) as pool:
        yield lambda task: _beside(pool, task, did)


def _at_once(task: Task, did: Callable[[Task], None]) -> Callable[[], list[Outcome]]:
    outcomes = do(task)
    did(task)
    return lambda: outcomes


def _beside(
    pool: ProcessPoolExecutor, task: Task, did: Callable[[Task], None]
) -> Callable[[], list[Outcome]]:
    future = pool.submit(do, task)
    future.add_done_callback(lambda _: did(task))
    return future.result


def _tasks(folder: Path, work: Work, words: tuple[str, ...], *, seed: int) -> Iterator[Task]:
    """A task for each way to read the answers."""
    places: dict[object, list[int]] = {}
    for place, one in enumerate(every_analysis(work, words, seed=seed)):
        places.setdefault(one.reading, []).append(place)
    row = work.headline.row
    for mine in places.values():
        yield Task(
            folder=folder,
            instrument=row["instrument"],
            model=row["model"],
            words=words,
            seed=seed,
            places=tuple(mine),
        )


def _left_out(row: Mapping[str, Any], robustness: pl.DataFrame | None) -> Iterator[Outcome]:
    """What the run already knows of the headline with one item, wording … left out."""
    if robustness is None:
        return
    mine = robustness.filter(
        pl.col("instrument") == row["instrument"],
        pl.col("model") == row["model"],
        "main",
        pl.col("way") != PARAMETER,
    )
    for one in mine.iter_rows(named=True):
        yield Outcome(row={**one, "choices": None, "rate": None, "holds": holds(one, row)})
