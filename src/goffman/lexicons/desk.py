"""What lies before one person: the word to rate now, how much is left, and what a post does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from goffman.lexicons.journal import Event, Journal, Record, check_rater, open_journal, parse_event
from goffman.lexicons.ratings import ratings_folder
from goffman.lexicons.worklist import MOST, Entry, Worklist

Mode = Literal["rate", "settle"]

SECONDS = 6
"""What a word takes: to read it in its sentences, decide, and press a key. An assumption, for
saying beforehand how long a list will take; it is said with the minutes."""


class PostError(Exception):
    """A post that changes nothing, with the HTTP status and the sentence that say so."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


@dataclass(kw_only=True)
class Desk:
    """One person's work on one list; only what the journal has on disk counts."""

    mode: Mode
    worklist: Worklist
    journal: Journal
    rater: str
    """Shown on the page; empty where disagreements are settled."""
    after: Callable[[Record], None] = field(default=lambda _: None)
    """Called with what was said so far, after each post that was saved."""

    def greeting(self) -> str:
        """What the page is about and how long it takes, and how to get more words."""
        left = self.left()
        if self.mode == "settle":
            return f"{_words(len(left))} to settle."
        title = self.worklist.title
        if not self.worklist.entries:
            most = f"the words that make up {MOST:.0%} of the probability in"
            rated = most if self.worklist.offer == "most" else "all words of"
            return f"Nothing to rate: {rated} {title} are already rated.{self._more()}"
        if not left:
            return f"'{self.rater}' has rated every word on this list.{self._more()}"
        share = sum(entry.mass for entry in left)
        return (
            f"{_words(len(left))} to rate, as rater '{self.rater}'. They make up {share:.1%} of "
            f"the probability of all words in {title}. This takes {how_long(len(left))}, at "
            f"{SECONDS} seconds per word.{self._more()}"
        )

    def _more(self) -> str:
        """How to be asked about every word of the run, where the list has not all of them."""
        every = self.worklist.words
        if every <= len(self.worklist.entries):
            return ""
        return f" To rate all {_words(every)} ({how_long(every)}), use --all."

    def summary(self) -> str:
        """What was saved and where, in one sentence."""
        done = _words(len(self.worklist.entries) - len(self.left()))
        what = "settled" if self.mode == "settle" else f"rated by {self.rater}"
        return f"{done} {what}, {len(self.left()):,} left. Saved in {self.journal.path}."

    def left(self) -> list[Entry]:
        """The entries without a label: those put off least often first, then as the list has it."""
        labels, skips = self.journal.record.labels, self.journal.record.skips
        open_ones = [entry for entry in self.worklist.entries if entry.unit not in labels]
        return sorted(open_ones, key=lambda entry: skips[entry.unit])

    def state(self) -> dict[str, Any]:
        """What the page shows."""
        left, record = self.left(), self.journal.record
        here = sum(entry.mass for entry in left)
        return {
            "run": self.worklist.key,
            "entry": _told(left[0], record) if left else None,
            "total": len(self.worklist.entries),
            "left": len(left),
            "skipped": sum(record.skips[entry.unit] > 0 for entry in left),
            "mass": {
                "known": self.worklist.rated,
                "left": here,
                "beyond": self.worklist.beyond,
            },
            "time": how_long(len(left)) if left and self.mode == "rate" else "",
            "words": self.worklist.words,
            "undo": record.last.unit.word if record.last and record.last.unit else None,
        }

    def take(self, told: Mapping[str, Any]) -> dict[str, Any]:
        """The state after a post was saved; PostError where it cannot be."""
        if told.get("run") != self.worklist.key:
            raise PostError(
                409,
                "This rating belongs to another run than the one this page is for "
                f"({self.worklist.title}). Nothing was saved. Close the tab and use the address "
                "in the terminal.",
            )
        try:
            event = parse_event(told)
        except ValueError as error:
            raise PostError(
                422, f"This rating cannot be used: {error} Nothing was saved."
            ) from error
        self._check(event)
        self.journal.add(event)
        self.after(self.journal.record)
        return self.state()

    def _check(self, event: Event) -> None:
        if event.do == "undo":
            if self.journal.record.last is None:
                raise PostError(422, "There is nothing to undo.")
        elif all(event.unit != entry.unit for entry in self.worklist.entries):
            word = event.unit.word if event.unit else ""
            raise PostError(
                422, f"'{word[:60]}' is not among the words of this page. Nothing was saved."
            )


@contextmanager
def rating(run: Path, work: Worklist, *, rater: str) -> Iterator[Desk]:
    """The desk on which one person rates a run's words, with what the person said before."""
    path = ratings_folder(run) / f"{check_rater(rater)}.jsonl"
    with open_journal(path, run=run) as journal:
        yield Desk(mode="rate", worklist=work, journal=journal, rater=rater)


def how_long(words: int) -> str:
    """What rating so many words takes, in whole minutes, never too few."""
    minutes = -(-words * SECONDS // 60)
    return "about 1 minute" if minutes <= 1 else f"about {minutes:,} minutes"


def _words(count: int) -> str:
    return "1 word" if count == 1 else f"{count:,} words"


def _told(entry: Entry, record: Record) -> dict[str, Any]:
    return {
        **entry.unit._asdict(),
        "shown": entry.shown,
        "mass": entry.mass,
        "count": entry.count,
        "sentences": [[part.before, part.word, part.after] for part in entry.sentences],
        "given": list(entry.given),
        "note": record.notes.get(entry.unit, ""),
    }
