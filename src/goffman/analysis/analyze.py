"""A run's answers measured: its scores and estimates on disk, and its sections, one an instrument.

All that people read of a run is made from its sections.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.analysis.correlation_findings import correlations
from goffman.analysis.summary import Summary, summarize
from goffman.anchors.compare import ANCHOR_FILES, compare_with_anchors
from goffman.anchors.loader import every_anchor
from goffman.anchors.sentences import anchored_models
from goffman.console import printable
from goffman.contrasts.designs import clusters_by_instrument
from goffman.contrasts.engine import estimates
from goffman.contrasts.identities import identity_estimates
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
from goffman.plugins import plugged
from goffman.presentation.competence import Competence, marked
from goffman.presentation.section import Section
from goffman.presentation.user_ratings import PEOPLE_SHARE, whose_ratings
from goffman.runs.answers import answers_folder, as_noted, parquet
from goffman.runs.code_digest import code_digest
from goffman.runs.files import Folder
from goffman.runs.manifest import (
    checksum,
    read_manifest,
    with_anchors,
    with_lexicons,
    with_measuring,
    with_table,
    without_tables,
)
from goffman.runs.run import IDENTITY_SCORES, WITHIN, Run, open_run, read_prompts
from goffman.scoring import identity_scores, measures_of, score, unmeasurable, wordings_of, words_of
from goffman.sensitivity.multiverse import MULTIVERSE_FILE, STRESS_FILE
from goffman.sensitivity.user_ratings import COMPARED, SHIPPED_SCORES, by_ratings
from goffman.sensitivity.variations import SENSITIVITY_FILE, sensitivity_table

if TYPE_CHECKING:
    from goffman.anchors.types import Anchor
    from goffman.formatting import Labels
    from goffman.lexicons.lexicons import Lexicons
    from goffman.measures.base import Measure
    from goffman.presentation.types import Presentation
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
    """The summary; scores and estimates are on disk, and in the manifest what they rest on.

    ``anchors``: what people said; None: goffman's own and those of other packages.
    """
    scores = score(run.folder, run.manifest, words, note=note)
    prompts = read_prompts(run.folder, run.manifest)
    sharing = clusters_by_instrument(prompts)
    wordings = wordings_of(run.folder, run.manifest)
    measures, failing = measures_of(run.manifest), unmeasurable(scores, run.manifest)
    asked: dict[str, Any] = {"wordings": wordings, "sharing": sharing, "unmeasurable": failing}
    found = estimates(scores, measures, pairs=pairs, **asked)
    of_people, identities = identity_scores(run.folder, words)
    if of_people.height:
        found = pl.concat([found, identity_estimates(of_people, identities, measures, **asked)])
    of_run = (run.folder, run.manifest, words)
    now: dict[str, Any] = {"scores": scores, "estimates": found}
    now |= {"wordings": wordings, "sharing": sharing}
    beside = by_ratings(*of_run, **now)
    sensitivity = sensitivity_table(*of_run, **now)
    people = compare_with_anchors(
        scores, prompts, run.manifest, known_anchors(run.manifest, anchors, note)
    )
    tables = {"scores.parquet": parquet(scores), "estimates.parquet": parquet(found)}
    tables[SENSITIVITY_FILE] = parquet(sensitivity)
    tables |= {IDENTITY_SCORES: parquet(of_people)} if of_people.height else {}
    tables |= people.tables()
    tables |= {name: parquet(frame) for name, frame in beside.items()}
    manifest = with_anchors(with_lexicons(run.manifest, words.entry()), people.anchors)
    manifest = with_measuring(manifest, seed=seed, pairs=pairs)
    manifest = keep_tables(run, manifest, tables, maybe=SOMETIMES)
    sections = sections_of(
        manifest,
        prompts=prompts,
        scores=scores,
        estimates=found,
        compared=beside.get(COMPARED),
        sensitivity=sensitivity,
    )
    together = correlations(found, sections, measures_of(manifest))
    anchored = anchored_models(people.estimates, people.points, manifest.anchors, sections)
    return summarize(sections, together, anchored)


def known_anchors(
    manifest: Manifest, anchors: Sequence[Anchor] | None, note: Note
) -> Sequence[Anchor]:
    """Those given, or every one that is here; a user's own that is not given again is told of."""
    given = every_anchor() if anchors is None else anchors
    for name in sorted(manifest.anchors.keys() - {one.id for one in given}):
        note(f"The anchor '{name}' is left out now. To keep it, give its folder with --anchor.")
    return given


SOMETIMES = (
    *(SHIPPED_SCORES, COMPARED, *ANCHOR_FILES, MULTIVERSE_FILE, STRESS_FILE),
    IDENTITY_SCORES,
)
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
        run.place.write_changed(name, content)
        manifest = with_table(manifest, name, checksum(content))
    gone = {*maybe} - tables.keys()
    run.manifest = manifest = without_tables(manifest, *gone)
    run.keep()
    for name in gone.intersection(run.place.names()):
        run.place.remove(name)
    return manifest


def reread(folder: Path, *, parser: str, note: Note) -> None:
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
        measure_run(run, words, seed=before.seed, pairs=before.pairs, note=note)


MADE_LATER = (MULTIVERSE_FILE, STRESS_FILE)
"""Tables that somebody asks for after a run was measured, and that rest on the others."""


def source_digests(
    run: Path,
    manifest: Manifest,
    words: Lexicons,
    *,
    seed: int,
    pairs: Sequence[tuple[str, str]],
    anchors: Sequence[Anchor],
) -> str | None:
    """A digest of all that the run's tables depend on, and of the tables; None: it is not known.

    The code of other packages' measures and parsers is not known.
    """
    if [*plugged("goffman.measures"), *plugged("goffman.parsers")]:
        return None
    measuring = replace(with_measuring(manifest, seed=seed, pairs=pairs).measuring, made_from=None)
    told = [
        code_digest(),
        [_told(one) for _, one in _with_runs_within(run, manifest)],
        {name: one.entry() for name, one in manifest.anchors.items()},
        words.entry(),
        manifest.lexicons.entry(),
        measuring.entry(),
        [(anchor.id, anchor.digest) for anchor in anchors],
    ]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _with_runs_within(run: Path, manifest: Manifest) -> list[tuple[Path, Manifest]]:
    """The run, and those of its paraphrases and second identities, where they were asked."""
    folders = [run / name for name in WITHIN]
    known = [(folder, read_manifest(folder)) for folder in folders]
    return [(run, manifest), *((folder, one) for folder, one in known if one)]


def _told(manifest: Manifest) -> list[Any]:
    """Who was asked what, what there is of the answers, and the checksums of tables."""
    return [
        {name: one.entry() for name, one in manifest.models.items()},
        {name: one.entry() for name, one in manifest.instruments.items()},
        {
            model: {name: one.entry() for name, one in of_model.items()}
            for model, of_model in manifest.answers.items()
        },
        {name: sums for name, sums in manifest.tables.items() if name not in MADE_LATER},
    ]


def is_current(run: Path, manifest: Manifest, *, now: str | None) -> bool:
    """Whether the run was measured from what there is ``now``, and all its files are sound."""
    if now is None or manifest.measuring.made_from != now:
        return False
    every = _with_runs_within(run, manifest)
    return all(_files_are_sound(*one) for one in every)


def _files_are_sound(run: Path, manifest: Manifest) -> bool:
    """Whether tables and answers, also of models that are not asked now, are as written."""
    for name in manifest.tables:
        content = Folder(run).read(name)
        if content is None or not manifest.knows(name, content):
            return False
    for model, of_model in manifest.answers.items():
        for instrument, entry in of_model.items():
            folder = answers_folder(run, entry.table, model=model, instrument=instrument)
            if not as_noted(folder, parts=entry.parts, sha256=entry.sha256):
                return False
    return True


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
    """By instrument, in the order in which they were asked: those that have scores.

    ``compared``: RATINGS_COMPARED, where a user's ratings stand over the shipped ones;
    ``sensitivity``: SENSITIVITY, ``stressed``: its rows of the multiverse and STRESS, where they
    were computed.
    """
    analyses, stress = stressed or (None, None)
    variations = [table for table in (sensitivity, analyses) if table is not None]
    varied = pl.concat(variations) if variations else None
    beside = {"compared": compared, "sensitivity": varied, "stress": stress}
    names, measures = labels_of(manifest), measures_of(manifest)
    sections = {}
    asked = scores.lazy().filter(pl.col("level") == "prompt")
    asked_modes = asked.select("instrument", "mode", "model").unique().collect()
    primary = primary_modes(asked_modes.iter_rows())
    for instrument, entry in manifest.instruments.items():
        measure = measures.get(instrument)
        mine = of_asked(instrument)
        of_controls = pl.col("level") == CONTROL
        if measure is None or not scores.select(mine.any()).item():
            continue
        of_prompts = prompts.filter(mine)
        controls = scores.filter(mine, of_controls)
        competence = _competence(controls, entry.controls, names, measure.presentation)
        failing = {one.name: marked(one.model) for one in competence.values() if not one.passed}
        sections[instrument] = Section(
            instrument=instrument,
            measure=measure.name,
            unit=measure.unit,
            presentation=measure.presentation,
            scores=scores.filter(mine, ~of_controls),
            estimates=estimates.filter(mine),
            # Numbers of models that cannot do the task stand under marked names.
            names=replace(names, models={**names.models, **failing}),
            contrast=measure.contrast,
            against=measure.against,
            wordings=_seen(of_prompts, "wording"),
            items=_seen(of_prompts, "item"),
            dimensions=_seen(of_prompts, "dimension"),
            prompts=of_prompts,
            placement=entry.settings.placement if entry.settings else "before-first",
            competence=competence,
            main_modes={
                model: asked_as(base, mode)
                for (base, model), mode in primary.items()
                if base is not None and base == base_of(instrument) and model is not None
            },
            sample=entry.sample,
            ratings=_whose_ratings(manifest, scores.lazy().filter(mine), measure),
            **{name: table.filter(mine) for name, table in beside.items() if table is not None},
        )
    return sections


def _whose_ratings(manifest: Manifest, scores: pl.LazyFrame, measure: Measure) -> str:
    """Return who rated the words that its numbers rest on; nothing where it needs no ratings."""
    if measure.words != "attitudes":
        return ""
    shares = scores.filter(pl.col("level") == "model", pl.col("quantity") == PEOPLE_SHARE)
    return whose_ratings(manifest.lexicons, shares.select(pl.col("value").min()).collect().item())


def _competence(
    of_controls: pl.DataFrame, controls: AskedControls | None, names: Labels, shown: Presentation
) -> dict[str, Competence]:
    """How each model did on the control items."""
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
