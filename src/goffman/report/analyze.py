"""A run's answers measured: scores and estimates on disk, and sections, one for each instrument.

All reports of a run are made from its sections.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.anchors.compare import ANCHOR_FILES, compare_with_anchors
from goffman.anchors.loader import every_anchor
from goffman.anchors.sentences import anchored_models
from goffman.console import printable
from goffman.contrasts.catalog import identity_estimates
from goffman.contrasts.designs import clusters_by_instrument
from goffman.contrasts.engine import estimates
from goffman.errors import RunError, no_run
from goffman.formatting import labels_of
from goffman.instruments.types import CONTROL, asked_as, base_of
from goffman.measures.controls import (
    CALLED,
    DECIDED,
    DECIDED_HIGH,
    DECIDED_LOW,
    HIGH,
    IN_WORDING,
    LOW,
)
from goffman.modes import of_asked, primary_modes
from goffman.parsers.registry import parser_named
from goffman.presentation.competence import Competence, marked
from goffman.presentation.section import Section
from goffman.presentation.sensitivity import PEOPLE_SHARE, whose_ratings
from goffman.report.summary import Summary, correlations, summarize
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
    from goffman.formatting import Labels
    from goffman.lexicons.lexicons import Lexicons
    from goffman.measures.base import Measure
    from goffman.presentation.section import Presentation
    from goffman.runs.manifest import AskedControls, Manifest


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
    manifest = replace(run.manifest, anchors=people.anchors, lexicons=words.files)
    manifest = with_measuring(manifest, seed=seed, pairs=pairs)
    manifest = keep_tables(run, manifest, tables, maybe=SOMETIMES)
    sections = sections_of(
        manifest,
        prompts=prompts,
        scores=scores,
        estimates=all_estimates,
        compared=rating_tables.get(COMPARED),
        sensitivity=sensitivity,
    )
    run_correlations = correlations(all_estimates, sections, measures_of(manifest))
    anchored = anchored_models(people.estimates, people.points, manifest.anchors, sections)
    return summarize(sections, run_correlations, anchored)


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


def sections_of(
    manifest: Manifest,
    *,
    prompts: pl.DataFrame,
    scores: pl.DataFrame,
    estimates: pl.DataFrame,
    compared: pl.DataFrame | None = None,
    sensitivity: pl.DataFrame | None = None,
    stressed: tuple[pl.DataFrame, pl.DataFrame] | None = None,
) -> dict[str, Section]:
    """Return the sections of the instruments that have scores, in the order of asking.

    ``compared``: RATINGS_COMPARED, if a user's ratings are used over the shipped ones;
    ``sensitivity``: SENSITIVITY, ``stressed``: its rows of the multiverse and STRESS, if they were
    computed.
    """
    analyses, stress = stressed or (None, None)
    variations = [table for table in (sensitivity, analyses) if table is not None]
    all_variations = pl.concat(variations) if variations else None
    tables = {"compared": compared, "sensitivity": all_variations, "stress": stress}
    names, measures = labels_of(manifest), measures_of(manifest)
    sections = {}
    prompt_scores = scores.lazy().filter(pl.col("level") == "prompt")
    asked_modes = prompt_scores.select("instrument", "mode", "model").unique().collect()
    primary = primary_modes(asked_modes.iter_rows())
    for instrument, entry in manifest.instruments.items():
        measure = measures.get(instrument)
        is_instrument = of_asked(instrument)
        is_control = pl.col("level") == CONTROL
        if measure is None or not scores.select(is_instrument.any()).item():
            continue
        own_prompts = prompts.filter(is_instrument)
        controls = scores.filter(is_instrument, is_control)
        competence = _competence(controls, entry.controls, names, measure.presentation)
        failing = {
            competence_entry.name: marked(competence_entry.model)
            for competence_entry in competence.values()
            if not competence_entry.passed
        }
        sections[instrument] = Section(
            instrument=instrument,
            measure=measure.name,
            unit=measure.unit,
            presentation=measure.presentation,
            scores=scores.filter(is_instrument, ~is_control),
            estimates=estimates.filter(is_instrument),
            # Numbers of models that cannot do the task stand under marked names.
            names=replace(names, models={**names.models, **failing}),
            contrast=measure.contrast,
            against=measure.against,
            wordings=_seen(own_prompts, "wording"),
            items=_seen(own_prompts, "item"),
            dimensions=_seen(own_prompts, "dimension"),
            prompts=own_prompts,
            placement=entry.settings.placement if entry.settings else "before-first",
            competence=competence,
            main_modes={
                model: asked_as(base, mode)
                for (base, model), mode in primary.items()
                if base is not None and base == base_of(instrument) and model is not None
            },
            sample=entry.sample,
            ratings=_whose_ratings(manifest, scores.lazy().filter(is_instrument), measure),
            **{
                name: table.filter(is_instrument)
                for name, table in tables.items()
                if table is not None
            },
        )
    return sections


def _whose_ratings(manifest: Manifest, scores: pl.LazyFrame, measure: Measure) -> str:
    """Return who rated the words that the numbers rest on; an empty string without ratings."""
    if measure.words != "attitudes":
        return ""
    shares = scores.filter(pl.col("level") == "model", pl.col("quantity") == PEOPLE_SHARE)
    return whose_ratings(manifest.lexicons, shares.select(pl.col("value").min()).collect().item())


def _competence(
    of_controls: pl.DataFrame, controls: AskedControls | None, names: Labels, shown: Presentation
) -> dict[str, Competence]:
    """Return how each model did on the control items."""
    if controls is None:
        return {}
    ends = {
        (row["model"], row["quantity"]): row["value"] for row in of_controls.iter_rows(named=True)
    }
    in_wordings = of_controls.filter(
        pl.col("quantity") == IN_WORDING, pl.col("value").is_not_null()
    )
    return {
        row["model"]: Competence(
            name=row["model"],
            model=names.model(row["model"]),
            task=printable(controls.task),
            score=CALLED[controls.score],
            value=row["value"],
            low=ends.get((row["model"], LOW)),
            high=ends.get((row["model"], HIGH)),
            by_wording=tuple(
                in_wordings.filter(pl.col("model") == row["model"])
                .select("wording", "value")
                .rows()
            ),
            floor=controls.floor,
            n=row["n"],
            missing=row["missing"],
            reason=row["reason"],
            counts=shown.controls_count,
            decided=ends.get((row["model"], DECIDED)),
            decided_ends=(
                ends.get((row["model"], DECIDED_LOW)),
                ends.get((row["model"], DECIDED_HIGH)),
            ),
        )
        for row in of_controls.filter(pl.col("quantity") == CONTROL).iter_rows(named=True)
    }


def _seen(prompts: pl.DataFrame, column: str) -> list[str]:
    return prompts[column].drop_nulls().unique(maintain_order=True).to_list()
