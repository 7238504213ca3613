"""Every exception that goffman raises on purpose.

GoffmanError                 base: its text is written for the person at the terminal
├── InputError               something the user gave cannot be used (exit code 2)
│   ├── FaultsError          files that the user wrote have faults; carries every one of them
│   │   ├── InstrumentError  … of an instrument
│   │   └── LexiconError     … of a lexicon or a file of ratings
│   ├── SentenceError        a WinoBias file or an adjective setting cannot be used
│   ├── ModelError           a model cannot be found, loaded, or asked in this way
│   ├── RunError             a run folder holds something else, is in use, or is damaged
│   └── PublishedError       a study's published files are missing or in another form
├── AskingError              a model or the disk failed while a run was under way (exit code 1)
└── DownloadError            a file that others publish could not be fetched (exit code 1)

The text of each says what was given, where, what is allowed and what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from goffman.records import Fault

_LONGEST_NAME = 100
"""A longer text is no slip of the pen, and comparing it takes long."""


class GoffmanError(Exception):
    """Any failure that goffman explains itself; the command line prints it without a traceback."""

    exit_code = 1


class InputError(GoffmanError):
    """Something the user gave cannot be used."""

    exit_code = 2


class FaultsError(InputError):
    """Files that cannot be used, with all of their faults."""

    def __init__(self, where: str, faults: Sequence[Fault], *, ending: str = "") -> None:
        self.where = where
        self.faults = tuple(faults)
        count = "1 fault" if len(self.faults) == 1 else f"{len(self.faults)} faults"
        lines = "".join(f"\n  {fault}" for fault in self.faults) + (ending and f"\n{ending}")
        super().__init__(f"{where} cannot be used: {count}.{lines}")


class InstrumentError(FaultsError):
    """An instrument that cannot be used, with all of its faults."""


class LexiconError(FaultsError):
    """A lexicon or a file of ratings that cannot be used, with all of its faults."""


class SentenceError(InputError):
    """A file of sentence pairs, or an adjective setting, that cannot be used."""


class ModelError(InputError):
    """A model that cannot be found, loaded, or asked in this way."""


class RunError(InputError):
    """A run folder that holds something else, is in use, or is damaged."""


class PublishedError(InputError):
    """A study's published files that are missing or in another form."""


class DownloadError(GoffmanError):
    """A file that others publish could not be fetched; those before it are kept."""


class AskingError(GoffmanError):
    """A model or the disk failed while a run was under way; what was answered is kept."""


def did_you_mean(given: str, allowed: Iterable[str]) -> str:
    """A sentence that names the nearest allowed word, with a leading space, or nothing."""
    if len(given) > _LONGEST_NAME:
        return ""
    by_folded = {word.casefold(): word for word in allowed}
    near = difflib.get_close_matches(given.casefold(), by_folded, n=1, cutoff=0.6)
    return f" Did you mean '{by_folded[near[0]]}'?" if near else ""
