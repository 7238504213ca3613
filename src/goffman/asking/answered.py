"""Whether a model has answered everything already: known without loading it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from goffman.models.kinds import kinds
from goffman.models.local import checksums
from goffman.runs.ask import Asked
from goffman.runs.files import Folder
from goffman.runs.folder import PROMPTS
from goffman.runs.manifest import asker_of, checksum
from goffman.runs.source import code_digest
from goffman.runs.store import answers_folder, as_noted

if TYPE_CHECKING:
    from pathlib import Path

    from goffman.asking.prompts_asked import Question
    from goffman.asking.questions import Asking
    from goffman.models.base import LoadOptions
    from goffman.records import AnswerTable
    from goffman.runs.manifest import Manifest


def known_digest(
    manifest: Manifest,
    question: Question,
    *,
    model: str,
    options: LoadOptions,
    batch_size: int | None,
) -> str | None:
    """A digest of all that the sentences to ask depend on, beside the model's files.

    None: it is not known, as the code of other packages and of models is not, and workers have
    files of their own.
    """
    record = manifest.models.get(model)
    row = kinds().get(record.kind) if record else None
    elsewhere = options.workers is not None or not options.weights
    if row is None or row.takes is not None or options.trust_remote_code or elsewhere:
        return None
    told: list[Any] = [
        code_digest(),
        asker_of(manifest, model=model, instrument=question.instrument.id),
        repr(question.settings),
        repr(question.prompts),
        [options.device, options.precision, options.labels, batch_size],
    ]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def is_known(
    manifest: Manifest, pair: Asking, *, options: LoadOptions, batch_size: int | None
) -> bool:
    """Whether the manifest says that the model has answered all that it is asked now.

    Neither the model's files nor the answers are looked at.
    """
    there = manifest.answers.get(pair.model, {})
    for question in pair.questions:
        entry = there.get(question.instrument.id)
        if entry is None or entry.known is None or entry.parts is None:
            return False
        now = known_digest(
            manifest, question, model=pair.model, options=options, batch_size=batch_size
        )
        if entry.known != now:
            return False
    return True


def all_answered(
    run: Path, manifest: Manifest, pair: Asking, *, options: LoadOptions, batch_size: int | None
) -> Sequence[Asked] | None:
    """What there is of the answers, where nothing is left to ask; None: the model must be loaded.

    The same code would read the same files and come to the same sentences; their answers, and the
    prompts, are on disk as they were written.
    """
    if not is_known(manifest, pair, options=options, batch_size=batch_size):
        return None
    record = manifest.models[pair.model]
    if any(getattr(record, name) != now for name, now in checksums(pair.model, options).items()):
        return None
    if manifest.tables.get(PROMPTS) != [checksum(Folder(run).read(PROMPTS) or b"")]:
        return None
    found = []
    for question in pair.questions:
        name = question.instrument.id
        entry = manifest.answers[pair.model][name]
        table = cast("AnswerTable", entry.table)
        folder = answers_folder(run, table, model=pair.model, instrument=name)
        if not as_noted(folder, parts=entry.parts, sha256=entry.sha256):
            return None
        found.append(
            Asked(
                model=pair.model,
                instrument=name,
                sentences=entry.sentences or 0,
                rows=entry.rows or 0,
                asked_now=0,
                damaged=(),
                not_one_token=entry.not_one_token or (),
            )
        )
    return found
