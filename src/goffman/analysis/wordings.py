"""A run's headlines by wording: each of the instrument's own, each paraphrase, and all together.

A headline's contrast is made again from the prompts of one wording alone: how far its number moves
is the spread over wordings. The headline itself is of the instrument's own wordings, whether or not
paraphrases were asked; with these it is made once more, as a check that stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.analysis.estimate import PRIMARY
from goffman.analysis.robustness import Headline, headlines_of, prompts_by_model
from goffman.analysis.score import answers_of, to_prompts
from goffman.estimates.scored import IN_TURN
from goffman.estimates.sharing import Sharing
from goffman.instruments.paraphrases import OWN_PAIRS
from goffman.multiverse_columns import WORDINGS
from goffman.runs.folder import PARAPHRASES
from goffman.runs.manifest import read_manifest
from goffman.tables import schema

if TYPE_CHECKING:
    from goffman.estimates.scored import Found, Scored
    from goffman.lexicons.words import Words
    from goffman.measures.base import Measure
    from goffman.records import Estimate
    from goffman.runs.manifest import Manifest

    Made = tuple[str, Callable[[Scored], Found]]

WORDINGS_FILE = "wordings.parquet"

WITH_PARAPHRASES = "with the paraphrases"
"""What is said of a headline that is made of all wordings."""

CELL = ("item", "condition", "form")
"""What a prompt asks about, whatever its wording."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The paraphrases that were asked: a run within the run, and what its words mean."""

    folder: Path
    manifest: Manifest
    words: Words

    @staticmethod
    def beside(run: Path, words: Words) -> Asked | None:
        """Those of a run; None: none were asked."""
        manifest = read_manifest(run / PARAPHRASES)
        if manifest is None:
            return None
        return Asked(folder=run / PARAPHRASES, manifest=manifest, words=words)

    def scores(self, headline: Headline) -> Iterator[tuple[str, pl.DataFrame]]:
        """By paraphrase: the scores of the prompts that the headline would be made from."""
        measure, found = headline.measure, answers_in(self.folder, self.manifest, headline)
        if found is None:
            return
        asked, answers, cased = found
        for name in asked["paraphrase"].drop_nulls().unique(maintain_order=True):
            own = asked.filter(pl.col("paraphrase") == name)
            said = measure.prepare(to_prompts(own, answers), own, self.words, cased=cased)
            yield str(name), headline.mine(measure.each(said, own))


def answers_in(
    folder: Path, manifest: Manifest, headline: Headline
) -> tuple[pl.DataFrame, pl.DataFrame, bool] | None:
    """The paraphrases of a headline, the answers, and whether words have case; None: not asked."""
    instrument, model = headline.row["instrument"], headline.row["model"]
    answered = manifest.answers.get(model, {}).get(instrument)
    if answered is None or answered.parts is None:
        return None
    found = answers_of(folder, manifest, instrument, headline.measure, model=model)
    return found if found[1].height else None


def asked_paraphrases(run: Path, headline: Headline) -> tuple[pl.DataFrame, pl.DataFrame] | None:
    """The paraphrases of a headline of a run, and the answers to them; None: not asked."""
    manifest = read_manifest(run / PARAPHRASES)
    found = manifest and answers_in(run / PARAPHRASES, manifest, headline)
    return found[:2] if found else None


def by_wording(
    measures: Mapping[str, Measure],
    *,
    scores: pl.DataFrame,
    estimates: pl.DataFrame,
    wordings: Mapping[str, Sequence[str]],
    sharing: Mapping[str, Sharing],
    paraphrases: Asked | None = None,
) -> pl.DataFrame:
    """The columns WORDINGS, for each headline; ``measures``, ``wordings``: by instrument."""
    primary = estimates.filter(pl.col("family") == PRIMARY)
    found: list[dict[str, Any]] = []
    scored = prompts_by_model(scores)
    for headline in headlines_of(primary, measures, wordings, sharing):
        mine = headline.mine(scored(headline.row))
        if (made := headline.maker(mine)) is not None:
            found += _rows(headline, made, mine, paraphrases)
    return pl.DataFrame(found, schema=schema(WORDINGS))


def _rows(
    headline: Headline, made: Made, mine: pl.DataFrame, paraphrases: Asked | None
) -> Iterator[dict[str, Any]]:
    """The headline by each wording; with the paraphrases; by each of them."""
    of_pairs = bool(headline.sharing.ways)
    own = {OWN_PAIRS: mine} if of_pairs else _apart(mine, headline.wordings)
    further = dict(paraphrases.scores(headline)) if paraphrases else {}
    further = {name: one for name, one in further.items() if one.height}
    turning = _in_turn(own) or _in_turn(further)
    if not turning:
        for name, rows in own.items():
            yield _alone(headline, made, name, rows, paraphrase=False)
    if not further:
        return
    if _cells([*own.values()]) != _cells([*further.values()]):
        reason = "the paraphrases were not asked of the same items and conditions"
        yield _about(headline) | {"paraphrase": True, "reason": reason}
        return
    if not turning:
        for name, rows in further.items():
            yield _alone(headline, made, name, rows, paraphrase=True)
    every = pl.concat([*own.values(), *further.values()])
    one = _as_one(every, of_pairs=of_pairs) if turning or _of_one(headline) or of_pairs else every
    names = [IN_TURN] if one is not every and not of_pairs else [*headline.wordings, *further]
    estimate = replace(headline, wordings=names).again(made, one)
    judged = headline.judged("wording", WITH_PARAPHRASES, estimate)
    yield (
        _about(headline)
        | _numbers(headline, estimate)
        | {
            "paraphrase": True,
            **{name: judged.get(name) for name in ("p", "p_adjusted", "verdict", "reason")},
        }
    )


def _apart(mine: pl.DataFrame, wordings: Sequence[str]) -> dict[str, pl.DataFrame]:
    by = {name: mine.filter(pl.col("wording") == name) for name in wordings}
    return {name: rows for name, rows in by.items() if rows.height}


def _cells(tables: Sequence[pl.DataFrame]) -> set[tuple[Any, ...]]:
    return {*pl.concat(tables).select(CELL).unique().iter_rows()} if tables else set()


def _in_turn(by: Mapping[str, pl.DataFrame]) -> bool:
    """Whether questions were asked in one wording or another: then wordings cannot be compared."""
    cells = [_cells([one]) for one in by.values()]
    return len(cells) > 1 and sum(map(len, cells)) == len(set().union(*cells))


def _of_one(headline: Headline) -> bool:
    """Whether the headline is of the first wording: together they are one, each cell the mean."""
    return bool(headline.row["kind"] == "genders")


def _as_one(rows: pl.DataFrame, *, of_pairs: bool) -> pl.DataFrame:
    """The scores as if all were of one wording: of sentence pairs the means over wordings."""
    if not of_pairs:
        return rows.with_columns(wording=pl.lit(IN_TURN))
    keys = ["quantity", "variant", "wording", "item", "condition", "trial"]
    means = rows.group_by(keys, maintain_order=True).agg(
        pl.col("value").mean(), pl.exclude(*keys, "value").first()
    )
    return means.select(rows.columns)


def _alone(
    headline: Headline, made: Made, name: str, rows: pl.DataFrame, *, paraphrase: bool
) -> dict[str, Any]:
    """The headline made of one wording."""
    of = headline if headline.sharing.ways else replace(headline, wordings=[name])
    estimate = of.again(made, rows)
    return (
        _about(headline)
        | _numbers(headline, estimate)
        | {"wording": name, "paraphrase": paraphrase}
    )


def _about(headline: Headline) -> dict[str, Any]:
    names = ("instrument", "measure", "model", "kind", "first", "second")
    return {name: headline.row[name] for name in names}


def _numbers(headline: Headline, estimate: Estimate | None) -> dict[str, Any]:
    """The difference, its interval, and the number of the first set; of a level the same."""
    if estimate is None or estimate.difference is None:
        return {"reason": "nothing is left to compare" if estimate is None else estimate.reason}
    of_level = headline.row["kind"] == "level"
    return {
        "level": estimate.difference if of_level else estimate.mean_first,
        "difference": estimate.difference,
        "low": estimate.low,
        "high": estimate.high,
    }
