"""Whether a run's answers, tables and report are up to date, so that they are not made again.

The manifest notes a digest of all that each was made from. Nothing is up to date whose digest is
None: part of what it depends on is unknown, such as the code of other packages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from goffman.models.files import checksums
from goffman.models.registry import model_kinds
from goffman.plugins import plugged
from goffman.report.analyze import measure_run
from goffman.report.figures import as_far_as_shown
from goffman.report.load import CARD_FILE, PAGE_FILE, RESULTS_FILE, read_run
from goffman.report.summary import Summary
from goffman.runs.code_digest import code_digest
from goffman.runs.collect import Collected
from goffman.runs.files import README, Folder
from goffman.runs.manifest import (
    Manifest,
    Reported,
    checksum,
    read_manifest,
    setup_digest,
    with_measuring,
)
from goffman.runs.run import PROMPTS, WITHIN, Run, is_stored
from goffman.sensitivity.multiverse import MULTIVERSE_FILE, STRESS_FILE

if TYPE_CHECKING:
    from goffman.anchors.loader import Anchor
    from goffman.lexicons.lexicons import Lexicons
    from goffman.models.base import LoadOptions
    from goffman.planning import Assignment, Question

MADE_LATER = (MULTIVERSE_FILE, STRESS_FILE)
"""Tables that are asked for after a run was measured, and that rest on the others."""

TEMPLATES = Path(__file__).parent / "report" / "page"

TEXTS = Path(__file__).parent / "presentation"
"""The folder of theme.toml, the look of figures, and claims.toml, what measures may claim."""

PACKAGES = ("jinja2", "vl-convert-python")
"""The packages that a report depends on, besides those that numbers depend on."""

NOT_SHOWN = ("ended", "wall_s", "cpu_s", "sentences", "command")
"""What the report does not show of a session; most of it changes after the report is written."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The check of which answers a manifest already has for these options of loading."""

    manifest: Manifest
    loading: LoadOptions
    batch_size: int | None

    def digest(self, question: Question, *, model: str) -> str | None:
        """Return a digest of all that the sentences to ask depend on, but the model's files.

        Return None if some of it is unknown: code of a model or package, or files of workers.
        """
        record, loading = self.manifest.models.get(model), self.loading
        row = model_kinds().get(record.kind) if record else None
        is_elsewhere = loading.workers is not None or not loading.weights
        if row is None or row.takes is not None or loading.trust_remote_code or is_elsewhere:
            return None
        return _digest(
            code_digest(),
            setup_digest(self.manifest, model=model, instrument=question.instrument.id),
            repr(question.settings),
            repr(question.prompts),
            [loading.device, loading.precision, loading.labels, self.batch_size],
        )

    def has(self, assignment: Assignment) -> bool:
        """Return whether the manifest has all answers, without looking at files."""
        entries = self.manifest.answers.get(assignment.model, {})
        for question in assignment.questions:
            entry = entries.get(question.instrument.id)
            if entry is None or entry.known is None or entry.parts is None:
                return False
            if entry.known != self.digest(question, model=assignment.model):
                return False
        return True

    def collected(self, run: Path, assignment: Assignment) -> Sequence[Collected] | None:
        """Return summaries of the answers; None if the model must be loaded and asked.

        The same code would come to the same sentences from the same files.
        """
        model, manifest = assignment.model, self.manifest
        if not self.has(assignment):
            return None
        sums = checksums(model, self.loading)
        if any(getattr(manifest.models[model], name) != value for name, value in sums.items()):
            return None
        if manifest.tables.get(PROMPTS) != [checksum(Folder(run).read(PROMPTS) or b"")]:
            return None
        names = [question.instrument.id for question in assignment.questions]
        entries = {name: manifest.answers[model][name] for name in names}
        if not all(
            is_stored(run, entry, model=model, instrument=name) for name, entry in entries.items()
        ):
            return None
        return [
            Collected(
                model=model,
                instrument=name,
                sentences=entry.sentences or 0,
                rows=entry.rows or 0,
                asked_now=0,
                damaged=(),
                not_one_token=entry.not_one_token or (),
            )
            for name, entry in entries.items()
        ]


def current_summary(
    run: Run,
    words: Lexicons,
    *,
    seed: int,
    pairs: Sequence[tuple[str, str]],
    note: Callable[[str], None],
    anchors: Sequence[Anchor],
) -> Summary:
    """Return the summary, as ``measure_run`` gives it; the tables are on disk afterwards."""
    digest = partial(_tables_digest, run, words, seed=seed, pairs=pairs, anchors=anchors)
    made_from = run.manifest.measuring.made_from
    if made_from is not None and made_from == digest() and _files_are_sound(run):
        run.keep()
        measured = read_run(run.folder, answers=False)
        summary, _ = as_far_as_shown(measured, lambda run, _: run.summary)
        return summary
    notes: list[str] = []

    def noting(text: str) -> None:
        notes.append(text)
        note(text)

    new_summary = measure_run(run, words, seed=seed, pairs=pairs, note=noting, anchors=anchors)
    # Notes must be shown again next time, and only measuring finds them.
    if not notes:
        measuring = replace(run.manifest.measuring, made_from=digest())
        run.manifest = replace(run.manifest, measuring=measuring)
        run.keep()
    return new_summary


def _tables_digest(
    run: Run,
    words: Lexicons,
    *,
    seed: int,
    pairs: Sequence[tuple[str, str]],
    anchors: Sequence[Anchor],
) -> str | None:
    """Return a digest of all that the run's tables depend on, and of the tables."""
    if _has_foreign_code():
        return None
    manifest = run.manifest
    measuring = replace(with_measuring(manifest, seed=seed, pairs=pairs).measuring, made_from=None)
    entries = [inner.entry() for _, inner in _runs_of(run)]
    for entry in entries:
        entry["tables"] = {
            name: sums for name, sums in entry["tables"].items() if name not in MADE_LATER
        }
    return _digest(
        code_digest(),
        [
            [entry[field] for field in ("models", "instruments", "answers", "tables")]
            for entry in entries
        ],
        manifest.entry()["anchors"],
        words.entries.entry(),
        manifest.lexicons.entry(),
        measuring.entry(),
        [(anchor.id, anchor.digest) for anchor in anchors],
    )


def _runs_of(run: Run) -> Iterator[tuple[Path, Manifest]]:
    """Yield the run and, if asked, the runs of its paraphrases and second identities."""
    yield run.folder, run.manifest
    for name in WITHIN:
        if manifest := read_manifest(run.folder / name):
            yield run.folder / name, manifest


def _files_are_sound(run: Run) -> bool:
    """Return whether tables and answers are as written, including those of models not asked now."""
    for folder, manifest in _runs_of(run):
        for name in manifest.tables:
            content = Folder(folder).read(name)
            if content is None or not manifest.knows(name, content):
                return False
        for model, entries in manifest.answers.items():
            for instrument, entry in entries.items():
                if not is_stored(folder, entry, model=model, instrument=instrument):
                    return False
    return True


def current_report(run: Run, words: Lexicons, *, note: Callable[[str], None]) -> Path:
    """Return the page's path; the page, the card and the results are on disk afterwards.

    The run's tables and answers must already be as its manifest notes them.
    """
    if run.manifest.report == _report_now(run, words):
        return run.folder / PAGE_FILE
    # Imported here only: the packages that draw figures take long to load.
    from goffman.report.write import write_report

    written = write_report(run.folder, words=words)
    for text in written.notes:
        note(text)
    # Notes must be shown again next time, and only writing the report finds them.
    report = None if written.notes else _report_now(run, words)
    run.manifest = replace(run.manifest, report=report or Reported())
    run.keep()
    return written.page


def _report_now(run: Run, words: Lexicons) -> Reported | None:
    """Return digests of all that the report depends on, and of what people read of the run."""
    if _has_foreign_code():
        return None
    made_from = _digest(
        json.loads(replace(run.manifest, report=Reported(), sessions=()).as_json()),
        [
            {name: value for name, value in asdict(session).items() if name not in NOT_SHOWN}
            for session in run.manifest.sessions
        ],
        words.entries.entry(),
        [
            (path.name, checksum(path.read_bytes()))
            for path in (*sorted(TEMPLATES.iterdir()), *sorted(TEXTS.glob("*.toml")))
        ],
        [run.folder.resolve().name, code_digest(), *map(version, PACKAGES)],
    )
    names = (PAGE_FILE, CARD_FILE, RESULTS_FILE, README)
    sums = [checksum(run.place.read(name) or b"") for name in names]
    return Reported(made_from=made_from, files=checksum("".join(sums).encode()))


def _has_foreign_code() -> bool:
    """Return whether measures or parsers of other packages are installed."""
    return bool([*plugged("goffman.measures"), *plugged("goffman.parsers")])


def _digest(*parts: object) -> str:
    return checksum(json.dumps(parts, sort_keys=True).encode())
