"""Every exception that goffman raises on purpose, all of them a GoffmanError.

The text of each says what was given, where, what is allowed and what to do.
"""

from __future__ import annotations

import difflib
import errno
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_LONGEST_NAME = 100
"""Characters; a longer text is no misspelling, and comparing it takes long."""


_ALIKE, _ALIKE_ELSEWHERE = 0.6, 0.75
"""The least similarity (0 to 1) of a name and its misspelling. The first letter is rarely
misspelled, so names with different first letters must be more alike."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault in a file that a user wrote."""

    file: str
    """The file's name as the user knows it."""
    row: int | None = None
    """The line in the file, counted as an editor counts, or None for the file as a whole."""
    message: str
    """What was given, what is allowed, and the nearest allowed name."""

    def __str__(self) -> str:
        location = self.file if self.row is None else f"{self.file}, line {self.row}"
        return f"{location}: {self.message}"


class GoffmanError(Exception):
    """A failure that goffman explains itself; the command line prints it without a traceback."""

    exit_code = 1

    def __init__(self, *lines: str) -> None:
        """Keep the ``lines`` of the text; a line end within one is shown as an escape."""
        self.lines = lines
        super().__init__("\n".join(lines))


class InputError(GoffmanError):
    """An error for something the user gave that cannot be used."""

    exit_code = 2


class FaultsError(InputError):
    """An error for files that cannot be used, with all of their faults."""

    def __init__(self, where: str, faults: Sequence[Fault], *, ending: str = "") -> None:
        self.where = where
        self.faults = tuple(faults)
        count = "1 fault" if len(self.faults) == 1 else f"{len(self.faults)} faults"
        below = [f"  {fault}" for fault in self.faults] + [ending] * bool(ending)
        super().__init__(f"{where} cannot be used: {count}.", *below)


class InstrumentError(FaultsError):
    """An error for an instrument that cannot be used, with all of its faults."""


class AnchorError(FaultsError):
    """An error for an anchor that cannot be used, with all of its faults."""


class LexiconError(FaultsError):
    """An error for a lexicon or file of ratings that cannot be used, with all of its faults."""


class SentenceError(InputError):
    """An error for a file of sentence pairs, or an adjective setting, that cannot be used."""


class ModelError(InputError):
    """An error for a model that cannot be found, loaded, or asked in this way."""


class RunError(InputError):
    """An error for a run folder that holds something else, is in use, or is damaged."""


class PublishedError(InputError):
    """An error for a study's published files that are missing or in another form."""


class DownloadError(GoffmanError):
    """A failure to fetch a file that others publish; files fetched before it are kept."""


class AskingError(GoffmanError):
    """A failure of a model or the disk during a run; the answers so far are kept."""


def too_long(name: str) -> str:
    """Return the sentence that a name is too long for a file or folder."""
    return (
        f"The name '{name[:60]}…' is too long: it has {len(name):,} characters, more than this "
        "system allows. Give a shorter name."
    )


def no_run(folder: Path) -> str:
    """Return the sentence that a folder holds no run."""
    if not folder.exists():
        return f"There is no folder '{folder}'. Give a run: the folder that goffman audit wrote."
    return (
        f"'{folder}' is not a run, because it has no manifest.json. Give the folder that goffman "
        "audit wrote."
    )


def system_error(error: OSError) -> GoffmanError:
    """Return an error with the file, what failed (reading or writing, if known), and why.

    It is an InputError if the user can give another name for the file, or change its rights.
    """
    if error.filename is None:
        return GoffmanError(f"A file cannot be read or written: {error.strerror}.")
    file = os.fsdecode(error.filename2 or error.filename)
    if error.errno == errno.ENAMETOOLONG:
        return InputError(too_long(file))
    kinds = (PermissionError, FileNotFoundError, NotADirectoryError, IsADirectoryError)
    kind = InputError if isinstance(error, kinds) else GoffmanError
    return kind(f"{file} cannot be {_done(Path(file), error)}: {error.strerror}.")


def _done(file: Path, error: OSError) -> str:
    """Return what was to be done with the file, as far as its rights tell."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EROFS}:
        return "written"
    if not isinstance(error, PermissionError):
        return "opened"
    if os.access(file, os.F_OK):
        return "written" if os.access(file, os.R_OK) else "read"
    # The folder can be searched and has no such file, so the file was to be made.
    return "written" if os.access(file.parent, os.X_OK) else "opened"


def did_you_mean(word: str, allowed: Iterable[str]) -> str:
    """Return " Did you mean …?" with the nearest allowed word; empty if none is near."""
    if len(word) > _LONGEST_NAME:
        return ""
    by_folded = {word.casefold(): word for word in allowed}
    folded = word.casefold()
    for candidate in difflib.get_close_matches(folded, by_folded, n=3, cutoff=_ALIKE):
        similarity = difflib.SequenceMatcher(None, candidate, folded).ratio()
        if candidate[:1] == folded[:1] or similarity >= _ALIKE_ELSEWHERE:
            return f" Did you mean '{by_folded[candidate]}'?"
    return ""
