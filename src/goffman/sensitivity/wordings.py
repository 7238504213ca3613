"""A run's headlines by wording: each of the instrument's own, each paraphrase, and all together.

The headline itself is of the instrument's own wordings, whether or not paraphrases were asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.contrasts.scores import NESTED, Clusters, clusters_of
from goffman.estimates import PRIMARY
from goffman.instruments.paraphrases import OWN_PAIRS
from goffman.modes import asked_id
from goffman.runs.manifest import read_manifest
from goffman.runs.run import PARAPHRASES
from goffman.schemas import PARAPHRASE_ALONE, SENSITIVITY, WITH_PARAPHRASES, WORDING_ALONE, schema
from goffman.scoring import answers_of, to_prompts
from goffman.sensitivity.leave_one_out import Headline, headlines_of, prompts_by_model

if TYPE_CHECKING:
    from goffman.contrasts.spec import ContrastSpec
    from goffman.lexicons.lexicons import Lexicons
    from goffman.measures.base import Measure
    from goffman.runs.manifest import Manifest

    Made = tuple[str, ContrastSpec]

CELL = ("item", "condition", "form")
"""What a prompt asks about, whatever its wording."""


@dataclass(frozen=True, kw_only=True)
class AskedWordings:
    """The paraphrases that were asked: a run within the run, and what its words mean."""

    folder: Path
    manifest: Manifest
    words: Lexicons

    @staticmethod
    def beside(run: Path, words: Lexicons) -> AskedWordings | None:
        """Those of a run; None: none were asked."""
        manifest = read_manifest(run / PARAPHRASES)
        if manifest is None:
            return None
        return AskedWordings(folder=run / PARAPHRASES, manifest=manifest, words=words)

    def scores(self, headline: Headline) -> Iterator[tuple[str, pl.DataFrame, Clusters]]:
        """By paraphrase: the scores of the prompts that the headline would be made from.

        Beside them stands what the prompts share, which may be a family with the instrument's own.
        """
        measure, found = headline.measure, answers_in(self.folder, self.manifest, headline)
        if found is None:
            return
        asked, answers, cased = found
        for name in asked["paraphrase"].drop_nulls().unique(maintain_order=True):
            own = asked.filter(pl.col("paraphrase") == name)
            said = measure.code_responses(to_prompts(own, answers), own, self.words, cased=cased)
            scores = headline.select_scores(measure.score_prompts(said, own))
            yield str(name), scores, clusters_of(own)


def answers_in(
    folder: Path, manifest: Manifest, headline: Headline
) -> tuple[pl.DataFrame, pl.DataFrame, bool] | None:
    """The paraphrases of a headline, the answers, and whether words have case; None: not asked."""
    instrument, model = asked_id(headline.row), headline.row["model"]
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
    sharing: Mapping[str, Clusters],
    paraphrases: AskedWordings | None = None,
) -> pl.DataFrame:
    """Return SENSITIVITY of each headline by wording; ``measures``, ``wordings``: by instrument."""
    primary = estimates.filter(pl.col("family") == PRIMARY)
    found: list[dict[str, Any]] = []
    scored = prompts_by_model(scores)
    for headline in headlines_of(primary, measures, wordings, sharing):
        mine = headline.select_scores(scored(headline.row))
        if (made := headline.find_contrast()) is not None:
            found += _rows(headline, made, mine, paraphrases)
    return pl.DataFrame(found, schema=schema(SENSITIVITY))


def _rows(
    headline: Headline, made: Made, mine: pl.DataFrame, paraphrases: AskedWordings | None
) -> Iterator[dict[str, Any]]:
    """The headline by each wording; with the paraphrases; by each of them."""
    of_pairs = bool(headline.sharing.ways)
    own = {OWN_PAIRS: mine}
    if not of_pairs:
        own = {name: mine.filter(pl.col("wording") == name) for name in headline.wordings}
        own = {name: rows for name, rows in own.items() if rows.height}
    found = [*paraphrases.scores(headline)] if paraphrases else []
    further = {name: rows for name, rows, _ in found if rows.height}
    families = headline.sharing.families.copy()
    for _, _, sharing in found:
        families |= sharing.families
    turning = _in_turn(own) or _in_turn(further)
    same = _cells([*own.values()]) == _cells([*further.values()])
    alone = [(WORDING_ALONE, own), (PARAPHRASE_ALONE, further if same else {})]
    for variation, by_name in [] if turning else alone:
        for name, rows in by_name.items():
            of = headline if of_pairs else replace(headline, wordings=[name])
            yield headline.as_row(variation, name, of.recompute(made, rows))
    if not further:
        return
    if not same:
        reason = "the paraphrases were not asked of the same items and conditions"
        yield headline.as_row(WITH_PARAPHRASES, "", None) | {"reason": reason}
        return
    every, names = pl.concat([*own.values(), *further.values()]), [*headline.wordings, *further]
    if of_pairs:
        keys = ["quantity", "variant", "wording", "item", "condition", "trial"]
        means = every.group_by(keys, maintain_order=True).agg(
            pl.col("value").mean(), pl.exclude(*keys, "value").first()
        )
        every = means.select(every.columns)
    elif turning or headline.row["kind"] == "genders":
        # One wording or another was asked, or the headline is of the first: together they are one.
        every, names = every.with_columns(wording=pl.lit(NESTED)), [NESTED]
    together = replace(headline.sharing, families=families)
    estimate = replace(headline, wordings=names, sharing=together).recompute(made, every)
    yield headline.as_row(WITH_PARAPHRASES, "", estimate)


def _cells(tables: Sequence[pl.DataFrame]) -> set[tuple[Any, ...]]:
    return {*pl.concat(tables).select(CELL).unique().iter_rows()} if tables else set()


def _in_turn(by: Mapping[str, pl.DataFrame]) -> bool:
    """Whether questions were asked in one wording or another: then wordings cannot be compared."""
    cells = [_cells([one]) for one in by.values()]
    return len(cells) > 1 and sum(map(len, cells)) == len(set().union(*cells))
