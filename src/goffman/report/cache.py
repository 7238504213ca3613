"""A run's report and summary, made unless they would come out as they are."""

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
"""The packages of others that a report depends on, beside those that numbers do."""

NOT_SHOWN = ("ended", "wall_s", "cpu_s", "sentences", "command")
"""What the report does not tell of a session; most of it changes after the report was written."""


def current_report(run: Run, words: Lexicons, *, note: Callable[[str], None]) -> Path:
    """The page; it is on disk, and the card and results beside it.

    The run's tables and answers are as its manifest notes them: it was settled before.
    """
    made_from = _made_from(run, words)
    there = run.manifest.report
    if made_from is not None and there == Reported(made_from=made_from, files=_files(run.folder)):
        return run.folder / PAGE_FILE
    # Only here: what draws figures takes its time to load.
    from goffman.report.write import write_report

    written = write_report(run.folder, words=words)
    for text in written.notes:
        note(text)
    # What was told must be told again, and only writing finds it.
    kept = made_from is not None and not written.notes
    now = Reported(made_from=made_from, files=_files(run.folder)) if kept else Reported()
    run.manifest = replace(run.manifest, report=now)
    run.keep()
    return written.page


def _made_from(run: Run, words: Lexicons) -> str | None:
    """A digest of all that the report depends on; None: it is not known.

    The code of other packages' measures and parsers is not known.
    """
    if [*plugged("goffman.measures"), *plugged("goffman.parsers")]:
        return None
    told = json.loads(replace(run.manifest, report=Reported(), sessions=()).as_json())
    sessions = [asdict(session) for session in run.manifest.sessions]
    shown = [{name: one[name] for name in one if name not in NOT_SHOWN} for one in sessions]
    files = [(path.name, checksum(path.read_bytes())) for path in sorted(TEMPLATES.iterdir())]
    rest = [run.folder.resolve().name, code_digest(), *map(version, PACKAGES)]
    every = [told, shown, words.entry(), files, rest]
    return hashlib.sha256(json.dumps(every, sort_keys=True).encode()).hexdigest()


def _files(run: Path) -> str:
    """A digest of what people read of the run."""
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
    """The summary, as ``measure`` gives it; the tables are on disk."""

    def now() -> str | None:
        told: dict[str, Any] = {"seed": seed, "pairs": pairs, "anchors": anchors}
        return source_digests(run.folder, run.manifest, words, **told)

    if is_current(run.folder, run.manifest, now=now()):
        run.keep()
        read = read_run(run.folder, answers=False)
        shown, _ = as_far_as_shown(
            read, lambda run, _: summarize(run.sections, run.correlations, run.anchored)
        )
        return shown
    notes: list[str] = []

    def told(text: str) -> None:
        notes.append(text)
        note(text)

    said = measure_run(run, words, seed=seed, pairs=pairs, note=told, anchors=anchors)
    # What was told must be told again, and only measuring finds it.
    if not notes:
        measuring = replace(run.manifest.measuring, made_from=now())
        run.manifest = replace(run.manifest, measuring=measuring)
        run.keep()
    return said
