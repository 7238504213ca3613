"""A run's answers measured: scores, estimates and other tables on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.anchors.compare import ANCHOR_FILES, compare_with_anchors
from goffman.anchors.loader import every_anchor
from goffman.contrasts.catalog import identity_estimates
from goffman.contrasts.designs import clusters_by_instrument
from goffman.contrasts.engine import estimates
from goffman.errors import RunError, no_run
from goffman.parsers.registry import parser_named
from goffman.report.load import MeasuredRun
from goffman.report.summary import Summary
from goffman.runs.answers import parquet
from goffman.runs.manifest import checksum, read_manifest, with_measuring
from goffman.runs.run import IDENTITY_SCORES, Run, open_run, read_prompts
from goffman.scoring import identity_scores, measures_of, score, unmeasurable, wordings_of, words_of
from goffman.sensitivity.multiverse import MULTIVERSE_FILE, STRESS_FILE
from goffman.sensitivity.variations import (
    COMPARED,
    SENSITIVITY_FILE,
    SHIPPED_SCORES,
    by_ratings,
    sensitivity_table,
)

if TYPE_CHECKING:
    from goffman.anchors.loader import Anchor
    from goffman.lexicons.lexicons import Lexicons
    from goffman.runs.manifest import Manifest


Note = Callable[[str], None]


def measure_run(
    run: Run,
    words: Lexicons,
    *,
    seed: int,
    pairs: Sequence[tuple[str, str]],
    note: Note,
    anchors: Sequence[Anchor] | None = None,
) -> Summary:
    """Write the run's scores, estimates and other tables, and return its summary.

    The manifest then says what the tables rest on. ``anchors``: people's answers; None: goffman's
    own anchors and those of other packages.
    """
    scores = score(run.folder, run.manifest, words, note=note)
    prompts = read_prompts(run.folder, run.manifest)
    sharing = clusters_by_instrument(prompts)
    wordings = wordings_of(run.folder, run.manifest)
    measures, failing = measures_of(run.manifest), unmeasurable(scores, run.manifest)
    context: dict[str, Any] = {"wordings": wordings, "sharing": sharing, "unmeasurable": failing}
    all_estimates = estimates(scores, measures, pairs=pairs, **context)
    scores_by_identity, identities = identity_scores(run.folder, words)
    if scores_by_identity.height:
        all_estimates = pl.concat(
            [all_estimates, identity_estimates(scores_by_identity, identities, measures, **context)]
        )
    sources = (run.folder, run.manifest, words)
    results: dict[str, Any] = {"scores": scores, "estimates": all_estimates}
    results |= {"wordings": wordings, "sharing": sharing}
    rating_tables = by_ratings(*sources, **results)
    sensitivity = sensitivity_table(*sources, **results)
    people = compare_with_anchors(
        scores, prompts, run.manifest, known_anchors(run.manifest, anchors, note)
    )
    tables = {"scores.parquet": parquet(scores), "estimates.parquet": parquet(all_estimates)}
    tables[SENSITIVITY_FILE] = parquet(sensitivity)
    tables |= {IDENTITY_SCORES: parquet(scores_by_identity)} if scores_by_identity.height else {}
    tables |= people.tables()
    tables |= {file: parquet(frame) for file, frame in rating_tables.items()}
    manifest = replace(run.manifest, anchors=people.anchors, lexicons=words.entries)
    manifest = with_measuring(manifest, seed=seed, pairs=pairs)
    manifest = keep_tables(run, manifest, tables, maybe=SOMETIMES)
    return MeasuredRun(
        folder=run.folder,
        manifest=manifest,
        prompts=prompts,
        scores=scores,
        estimates=all_estimates,
        compared=rating_tables.get(COMPARED),
        sensitivity=sensitivity,
        anchors=people.estimates,
        anchor_points=people.points,
    ).summary


def known_anchors(
    manifest: Manifest, anchors: Sequence[Anchor] | None, note: Note
) -> Sequence[Anchor]:
    """Return the anchors given, or every known one; note a user's own that is not given again."""
    available = every_anchor() if anchors is None else anchors
    for name in sorted(manifest.anchors.keys() - {anchor.id for anchor in available}):
        note(f"The anchor '{name}' is left out now. To keep it, give its folder with --anchor.")
    return available


SOMETIMES = (
    *(SHIPPED_SCORES, COMPARED, *ANCHOR_FILES, MULTIVERSE_FILE, STRESS_FILE),
    IDENTITY_SCORES,
)
"""Tables that a run has only if there is something to put into them, or if they were asked for
after it was measured."""


def keep_tables(
    run: Run, manifest: Manifest, tables: Mapping[str, bytes], *, maybe: Sequence[str]
) -> Manifest:
    """Write the tables to disk and return the manifest that lists them.

    ``maybe``: tables that are removed if they are not among ``tables``.
    """
    # The manifest comes last: until then it names the tables before these, and whoever reads the
    # run is told that they are not there.
    for name, content in tables.items():
        run.place.write_changed(name, content)
    removed = {*maybe} - tables.keys()
    sums = {name: old for name, old in manifest.tables.items() if name not in removed}
    sums |= {name: [checksum(content)] for name, content in tables.items()}
    run.manifest = replace(manifest, tables=sums)
    run.keep()
    for name in removed.intersection(run.place.names()):
        run.place.remove(name)
    return run.manifest


def reread(folder: Path, *, parser: str, note: Note) -> None:
    """Measure the run anew with its replies read by another parser; no model is asked."""
    parser_named(parser)
    if read_manifest(folder) is None:
        raise RunError(no_run(folder))
    with open_run(folder) as run:
        try:
            words = words_of(run.manifest)
        except RunError as error:
            raise RunError(
                f"{error} So the replies cannot be read again on their own. Run the goffman audit "
                f"command of this run again with --parser {parser}. No model is asked again."
            ) from error
        measuring = run.manifest.measuring
        words = replace(words, parser=parser)
        measure_run(run, words, seed=measuring.seed, pairs=measuring.pairs, note=note)
