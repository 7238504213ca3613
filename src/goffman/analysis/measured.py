"""A run's answers measured: its scores and estimates on disk, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goffman.analysis.beside import ANCHOR_FILES, set_beside
from goffman.analysis.by_ratings import COMPARED, SHIPPED_SCORES, by_ratings
from goffman.analysis.correlations import correlations
from goffman.analysis.estimate import estimates
from goffman.analysis.robustness import ROBUSTNESS_FILE, robustness, with_fragile
from goffman.analysis.score import (
    measures_of,
    score,
    unmeasurable,
    without_controls,
    wordings_of,
    words_of,
)
from goffman.analysis.sections import sections_of
from goffman.analysis.stress import MULTIVERSE_FILE, STRESS_FILE
from goffman.analysis.summary import summary
from goffman.analysis.wordings import WORDINGS_FILE, Asked, by_wording
from goffman.anchors.load import every_anchor
from goffman.errors import RunError, no_run
from goffman.estimates.contrast import Comparing
from goffman.estimates.sharing import sharings
from goffman.measures.replies import parser_named
from goffman.presentation.anchored import anchored_models
from goffman.runs.files import Folder
from goffman.runs.folder import Run, open_run, read_prompts
from goffman.runs.manifest import (
    checksum,
    read_manifest,
    with_anchors,
    with_lexicons,
    with_measuring,
    with_table,
    without_tables,
)
from goffman.runs.store import parquet

if TYPE_CHECKING:
    import polars as pl

    from goffman.analysis.beside import BesidePeople
    from goffman.analysis.by_ratings import ByRatings
    from goffman.anchors.anchor import Anchor
    from goffman.lexicons.words import Words
    from goffman.presentation.section import Section
    from goffman.runs.manifest import Manifest

Note = Callable[[str], None]


def measure(
    run: Run,
    words: Words,
    *,
    seed: int,
    pairs: Sequence[tuple[str, str]],
    note: Note,
    anchors: Sequence[Anchor] | None = None,
) -> tuple[str, ...]:
    """The summary; scores and estimates are on disk, and in the manifest what they rest on.

    ``anchors``: what people said; None: goffman's own and those of other packages.
    """
    scores = score(run.folder, run.manifest, words, note=note)
    prompts = read_prompts(run.folder, run.manifest)
    sharing = sharings(prompts)
    wordings, comparing = wordings_of(run.folder, run.manifest), Comparing(seed=seed)
    found = estimates(
        without_controls(scores),
        measures_of(run.manifest),
        wordings=wordings,
        sharing=sharing,
        pairs=pairs,
        compare=comparing,
        unmeasurable=unmeasurable(scores, run.manifest),
    )
    of_run = (run.folder, run.manifest, words)
    now: dict[str, Any] = {"scores": scores, "estimates": found, "wordings": wordings}
    beside = by_ratings(*of_run, **now, compare=comparing)
    held = robustness(*of_run, **now, sharing=sharing)
    asked = Asked.beside(run.folder, words)
    worded = by_wording(measures_of(run.manifest), **now, sharing=sharing, paraphrases=asked)
    found = with_fragile(found, held)
    people = set_beside(scores, prompts, run.manifest, known_anchors(run.manifest, anchors, note))
    tables = {"scores.parquet": parquet(scores), "estimates.parquet": parquet(found)}
    tables |= {ROBUSTNESS_FILE: parquet(held), WORDINGS_FILE: parquet(worded)}
    tables |= people.tables() | _of_ratings(beside)
    manifest = with_anchors(with_lexicons(run.manifest, words.entry()), people.anchors)
    manifest = with_measuring(manifest, seed=seed, pairs=pairs)
    manifest = keep_tables(run, manifest, tables, maybe=SOMETIMES)
    sections = sections_of(
        manifest,
        prompts=prompts,
        scores=scores,
        estimates=found,
        compared=beside.compared if beside else None,
        robustness=held,
        worded=worded,
    )
    return _said(manifest, sections, found, people)


def _of_ratings(beside: ByRatings | None) -> dict[str, bytes]:
    """The tables that only a user's ratings make."""
    if beside is None:
        return {}
    return {SHIPPED_SCORES: parquet(beside.shipped), COMPARED: parquet(beside.compared)}


def _said(
    manifest: Manifest,
    sections: Mapping[str, Section],
    found: pl.DataFrame,
    people: BesidePeople,
) -> tuple[str, ...]:
    """The summary of what was measured."""
    together = correlations(found, sections, measures_of(manifest))
    anchored = anchored_models(people.estimates, people.points, manifest.anchors, sections)
    return tuple(summary(sections, together, anchored))


def known_anchors(
    manifest: Manifest, anchors: Sequence[Anchor] | None, note: Note
) -> Sequence[Anchor]:
    """Those given, or every one that is here; a user's own that is not given again is told of."""
    given = every_anchor() if anchors is None else anchors
    for name in sorted(manifest.anchors.keys() - {one.id for one in given}):
        note(f"The anchor '{name}' is left out now. To keep it, give its folder with --anchor.")
    return given


SOMETIMES = (SHIPPED_SCORES, COMPARED, *ANCHOR_FILES, MULTIVERSE_FILE, STRESS_FILE)
"""Tables that a run has only where there is something to put into them, or somebody asked for it
after it was measured."""


def keep_tables(
    run: Run, manifest: Manifest, tables: Mapping[str, bytes], *, maybe: Sequence[str]
) -> Manifest:
    """The manifest, which knows the tables; they are on disk.

    ``maybe``: those that are gone afterwards where they are not among them.
    """
    # The manifest comes last: until then it names the tables before these, and whoever reads the
    # run is told that they are not there.
    for name, content in tables.items():
        Folder(run.folder).write_changed(name, content)
        manifest = with_table(manifest, name, checksum(content))
    gone = {*maybe} - tables.keys()
    run.manifest = manifest = without_tables(manifest, *gone)
    run.keep()
    for name in gone.intersection(Folder(run.folder).names()):
        Folder(run.folder).remove(name)
    return manifest


def read_again(folder: Path, *, parser: str, note: Note) -> None:
    """The run is measured anew with its replies read by another parser; nobody is asked."""
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
        before = run.manifest.measuring
        words = replace(words, parser=parser)
        measure(run, words, seed=before.seed, pairs=before.pairs, note=note)
