"""What a log of another harness says, whichever it is of."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from goffman.errors import InputError, system_error
from goffman.inputs import read_plain

if TYPE_CHECKING:
    from goffman.harnesses.handed import Note
    from goffman.models.base import Precision, Reply, Sampling

LARGEST = 4 * 1024**3
"""Bytes of a log."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The answers to one instrument in one form."""

    note: Note
    options: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Prompt id → the natural logarithm of the probability of each spelling: see rows.py."""
    replies: Mapping[str, tuple[Reply, ...]] = field(default_factory=dict)
    """Prompt id → a reply for each trial."""
    failed: int = 0
    """Prompts that the harness asked and has no answer to."""


@dataclass(frozen=True, kw_only=True)
class Log:
    """One log: a model's answers to some instruments."""

    harness: str
    """lm-eval or inspect_ai."""
    version: str
    path: Path
    sha256: str
    model: str
    """As the harness names it."""
    revision: str | None = None
    precision: Precision | None = None
    device: str | None = None
    sampling: Sampling | None = None
    """How replies were drawn; None: it does not say, or there are none."""
    answers: tuple[Answers, ...]


def content_of(path: Path) -> bytes:
    """The bytes of a file of a log; InputError where it cannot be read."""
    try:
        return read_plain(path, most=LARGEST)
    except OSError as error:
        raise InputError(str(system_error(error))) from error


def checksum(*contents: bytes) -> str:
    """The sha256 of the files of a log together."""
    return hashlib.sha256(b"".join(contents)).hexdigest()


def no_log(path: Path, why: str) -> InputError:
    """The error that a file is no log that can be read."""
    return InputError(
        f"{path} cannot be read as a log of lm-eval or inspect_ai: {why}. Give the folder that "
        "lm-eval wrote with --output_path and --log_samples, its results_….json, or a log file of "
        "inspect_ai."
    )


def not_ours(path: Path) -> InputError:
    """The error that a log has no answers to questions of goffman."""
    return InputError(
        f"{path} has no answers to questions that goffman exported. Export them with goffman "
        "export INSTRUMENT --to lm-eval-tasks (or --to inspect), and run the harness on these."
    )
