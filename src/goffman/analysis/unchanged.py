"""Whether a run's tables would come out as they are: then they need not be made again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from goffman.analysis.stress import MULTIVERSE_FILE, STRESS_FILE
from goffman.plugins import plugged
from goffman.runs.files import Folder
from goffman.runs.folder import PARAPHRASES
from goffman.runs.manifest import read_manifest, with_measuring
from goffman.runs.source import code_digest
from goffman.runs.store import answers_folder, as_noted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goffman.anchors.anchor import Anchor
    from goffman.lexicons.words import Words
    from goffman.records import AnswerTable
    from goffman.runs.manifest import Manifest

MADE_LATER = (MULTIVERSE_FILE, STRESS_FILE)
"""Tables that somebody asks for after a run was measured, and that rest on the others."""


def made_from(
    run: Path,
    manifest: Manifest,
    words: Words,
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
        [_told(one) for _, one in _with_paraphrases(run, manifest)],
        {name: one.entry() for name, one in manifest.anchors.items()},
        words.entry(),
        # An earlier goffman may have noted less of them.
        manifest.lexicons.entry(),
        measuring.entry(),
        [(anchor.id, anchor.digest) for anchor in anchors],
    ]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _with_paraphrases(run: Path, manifest: Manifest) -> list[tuple[Path, Manifest]]:
    """The run, and that of its paraphrases within it, where they were asked."""
    within = read_manifest(run / PARAPHRASES)
    return [(run, manifest), *([(run / PARAPHRASES, within)] if within else [])]


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


def is_unchanged(run: Path, manifest: Manifest, *, now: str | None) -> bool:
    """Whether the run was measured from what there is ``now``, and all its files are sound."""
    if now is None or manifest.measuring.made_from != now:
        return False
    every = _with_paraphrases(run, manifest)
    return all(_tables_are_there(*one) and _answers_are_there(*one) for one in every)


def _tables_are_there(run: Path, manifest: Manifest) -> bool:
    """Whether every table has the bytes that were written."""
    found = {name: Folder(run).read(name) for name in manifest.tables}
    return all(
        content is not None and manifest.knows(name, content) for name, content in found.items()
    )


def _answers_are_there(run: Path, manifest: Manifest) -> bool:
    """Whether the answers of all models, also those that are not asked now, are as written."""
    for model, of_model in manifest.answers.items():
        for instrument, entry in of_model.items():
            table = cast("AnswerTable", entry.table)
            folder = answers_folder(run, table, model=model, instrument=instrument)
            if not as_noted(folder, parts=entry.parts, sha256=entry.sha256):
                return False
    return True
