"""A run's report and summary, made again only if they would come out differently."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goffman.analysis.analyze import is_current, measure_run, source_digests
from goffman.analysis.summary import Summary, summarize
from goffman.plugins import plugged
from goffman.report.fallback import as_far_as_shown
from goffman.report.load import read_run
from goffman.runs.code_digest import code_digest
from goffman.runs.files import README, Folder
from goffman.runs.manifest import Reported, checksum

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goffman.anchors.types import Anchor
    from goffman.lexicons.lexicons import Lexicons
    from goffman.runs.run import Run

PAGE_FILE, CARD_FILE, RESULTS_FILE = "report.html", "card.png", "results.csv"

TEMPLATES = Path(__file__).parent / "page"

PACKAGES = ("jinja2", "vl-convert-python")
"""The packages that a report depends on, besides those that numbers depend on."""

NOT_SHOWN = ("ended", "wall_s", "cpu_s", "sentences", "command")
"""What the report does not show of a session; most of it changes after the report is written."""


def current_report(run: Run, words: Lexicons, *, note: Callable[[str], None]) -> Path:
    """Return the page's path; the page, the card and the results are on disk afterwards.

    The run's tables and answers must already be as its manifest notes them.
    """
    made_from = _made_from(run, words)
    reported = run.manifest.report
    if made_from is not None and reported == Reported(
        made_from=made_from, files=_files(run.folder)
    ):
        return run.folder / PAGE_FILE
    # Imported here only: the packages that draw figures take long to load.
    from goffman.report.write import write_report

    written = write_report(run.folder, words=words)
    for text in written.notes:
        note(text)
    # Notes must be shown again next time, and only writing the report finds them.
    keep = made_from is not None and not written.notes
    current = Reported(made_from=made_from, files=_files(run.folder)) if keep else Reported()
    run.manifest = replace(run.manifest, report=current)
    run.keep()
    return written.page


def _made_from(run: Run, words: Lexicons) -> str | None:
    """Return a digest of all that the report depends on; None if it is not known.

    The code of other packages' measures and parsers is not known.
    """
    if [*plugged("goffman.measures"), *plugged("goffman.parsers")]:
        return None
    manifest = json.loads(replace(run.manifest, report=Reported(), sessions=()).as_json())
    sessions = [asdict(session) for session in run.manifest.sessions]
    shown_sessions = [
        {name: session[name] for name in session if name not in NOT_SHOWN} for session in sessions
    ]
    files = [(path.name, checksum(path.read_bytes())) for path in sorted(TEMPLATES.iterdir())]
    versions = [run.folder.resolve().name, code_digest(), *map(version, PACKAGES)]
    parts = [manifest, shown_sessions, words.entry(), files, versions]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _files(run: Path) -> str:
    """Return a digest of what people read of the run."""
    contents = [
        Folder(run).read(name) or b"" for name in (PAGE_FILE, CARD_FILE, RESULTS_FILE, README)
    ]
    return checksum("".join(map(checksum, contents)).encode())


def current_summary(
    run: Run,
    words: Lexicons,
    *,
    seed: int,
    pairs: Sequence[tuple[str, str]],
    note: Callable[[str], None],
    anchors: Sequence[Anchor],
) -> Summary:
    """Return the summary, as ``measure`` gives it; the tables are on disk afterwards."""

    def now() -> str | None:
        options: dict[str, Any] = {"seed": seed, "pairs": pairs, "anchors": anchors}
        return source_digests(run.folder, run.manifest, words, **options)

    if is_current(run.folder, run.manifest, now=now()):
        run.keep()
        measured = read_run(run.folder, answers=False)
        summary, _ = as_far_as_shown(
            measured, lambda run, _: summarize(run.sections, run.correlations, run.anchored)
        )
        return summary
    notes: list[str] = []

    def told(text: str) -> None:
        notes.append(text)
        note(text)

    new_summary = measure_run(run, words, seed=seed, pairs=pairs, note=told, anchors=anchors)
    # Notes must be shown again next time, and only measuring finds them.
    if not notes:
        measuring = replace(run.manifest.measuring, made_from=now())
        run.manifest = replace(run.manifest, measuring=measuring)
        run.keep()
    return new_summary
