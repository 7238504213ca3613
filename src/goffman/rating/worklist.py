"""The words of a run to be rated, in their real sentences, the most probable first."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast, get_args

from goffman.errors import AskingError, InputError, LexiconError, did_you_mean, no_run
from goffman.instruments.files import LARGEST_TABLE, Faults
from goffman.instruments.types import ENGLISH, MASK, Attitude, primary_language
from goffman.lexicons.attitude import ATTITUDES
from goffman.modes import asked_ids
from goffman.os_support import hold
from goffman.runs.files import FULL, Folder, append_whole, disk_error, make_folder

if TYPE_CHECKING:
    import polars as pl

    from goffman.lexicons.attitude import Attitudes
    from goffman.runs.manifest import Manifest


INSTRUMENT = "social-distance"
"""The instrument whose words are rated, unless the user names another."""

Offer = Literal["most", "unrated", "all"]
"""Which words to rate: those with most of the probability, those without a rating, or all."""

MOST = 0.8
"""This share of the probability of all words is enough to settle a number: the remaining share is
spread over many words, each of which changes the number by next to nothing."""

SENTENCES = 3
"""Number of sentences shown with a word: the most probable of each item, then the most probable
items."""


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence that a model completed with the word."""

    before: str
    word: str
    """As the model wrote it, without spaces around it."""
    after: str


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A word to be rated."""

    unit: Unit
    shown: str
    """The word in its most probable spelling."""
    mass: float = 0.0
    """The word's part of the probability of all words, 0 to 1; signs and pieces of words are no
    words."""
    count: int = 0
    """Number of fills with this word."""
    sentences: tuple[Sentence, ...] = ()
    given: tuple[Attitude, ...] = ()
    """For settling only: the label that each rater gave, in the order of the labels, not of
    raters."""


@dataclass(frozen=True, kw_only=True)
class Worklist:
    """Everything that one page is about."""

    title: str
    """The name of the run's folder."""
    key: str
    """A key that tells one page's posts from another's."""
    rated: float = 0.0
    """The share of the probability on words left out because they are rated already, 0 to 1."""
    beyond: float = 0.0
    """The share of the probability on words left out because they are improbable, 0 to 1."""
    words: int = 0
    """Number of different words of the run that can be rated at all."""
    offer: Offer = "all"
    entries: tuple[Entry, ...] = field(default=())


def words_to_rate(
    run: Path,
    attitudes: Attitudes,
    *,
    instruments: Sequence[str] = (),
    offer: Offer = "most",
) -> Worklist:
    """Return the words of a run's fills that are to be rated.

    Words that the attitudes already rate are left out, unless all are wanted.
    """
    import polars as pl

    fills = _fills(run, instruments)
    labelled = attitudes.label(fills, fills.unique("prompt_id"))
    words_only = _folded(labelled).filter(~pl.col("no_word"))
    total = float(words_only["probability"].sum())
    left = words_only if offer == "all" else words_only.filter(~pl.col("rated"))
    asked = left
    if offer == "most":
        # The fewest words that together have this share of the probability.
        masses = _masses(words_only).sort("probability", "folded", descending=[True, False])
        before = pl.col("probability").cum_sum() - pl.col("probability")
        weightiest = masses.filter(before < MOST * pl.col("probability").sum())["folded"]
        asked = left.filter(pl.col("folded").is_in(weightiest.to_list()))
    entries = tuple(_entries(asked, total=total))
    beyond = (float(left["probability"].sum()) - float(asked["probability"].sum())) / (total or 1)
    rated = 1 - beyond - sum(entry.mass for entry in entries) if total else 0.0
    return Worklist(
        title=run.resolve().name,
        key=run_key(run),
        rated=max(rated, 0.0),
        beyond=max(beyond, 0.0),
        words=words_only["folded"].n_unique(),
        offer=offer,
        entries=entries,
    )


def asked_in_english(run: Path, instruments: Sequence[str]) -> bool:
    """Return whether the words are English, as the shipped ratings are."""
    entries = _manifest(run).instruments
    asked_entries = [entries[name] for name in instruments or [INSTRUMENT] if name in entries]
    return all(primary_language(entry.language) == ENGLISH for entry in asked_entries)


def run_key(run: Path) -> str:
    """Return a hash of who was asked what: always the same for a run, different for other runs."""
    manifest = _manifest(run)
    groups = [manifest.models, manifest.instruments]
    entries = [{name: entry.entry() for name, entry in group.items()} for group in groups]
    text = json.dumps(entries, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def sentences_of(run: Path, words: Iterable[str]) -> dict[str, tuple[Sentence, ...]]:
    """Return for each case-folded word the sentences of the run in which it occurs."""
    import polars as pl

    wanted = set(words)
    fills = _folded(_fills(run, _instruments_with_fills(_manifest(run))))
    entries = _entries(fills.filter(pl.col("folded").is_in(list(wanted))), total=1.0)
    return {entry.unit.word: entry.sentences for entry in entries}


def _manifest(run: Path) -> Manifest:
    from goffman.runs.manifest import read_manifest

    manifest = read_manifest(run)
    if manifest is None:
        raise InputError(no_run(run))
    return manifest


def _instruments_with_fills(manifest: Manifest) -> list[str]:
    entries = [entry for of_model in manifest.answers.values() for entry in of_model.items()]
    return sorted({name for name, entry in entries if entry.table == "fills"})


def _fills(run: Path, instruments: Sequence[str]) -> pl.DataFrame:
    """Return the words that each prompt's measure counts, with what was asked."""
    import polars as pl

    from goffman.runs.run import read_answers, read_prompts

    manifest = _manifest(run)
    available = _instruments_with_fills(manifest)
    chosen = list(instruments) or [INSTRUMENT]
    for name in chosen:
        if name not in available:
            listed = ", ".join(available) or "none"
            raise InputError(
                f"{run} has no filled-in words for '{name}'.{did_you_mean(name, available)} It has "
                f"some for: {listed}. Choose with --instrument."
            )
    prompts = read_prompts(run, manifest).filter(asked_ids().is_in(chosen))
    asked = prompts.select("prompt_id", "item", "wording", "text")
    tables = []
    # Only chosen instruments are read, since others may be unfinished.
    for name in dict.fromkeys(chosen):
        fills = read_answers(run, "fills", instrument=name)
        fills = fills.filter(pl.col("rank").is_not_null(), step=1)
        # A measure may take fewer words than are stored.
        top_k = manifest.instruments[name].measured.get("top_k")
        tables.append(fills if top_k is None else fills.filter(pl.col("rank") <= top_k))
    return pl.concat(tables).join(asked, on="prompt_id", how="inner", maintain_order="left")


def _folded(fills: pl.DataFrame) -> pl.DataFrame:
    """Return the fills with the columns of ``folded_words``, and probabilities as Float64."""
    import polars as pl

    from goffman.lexicons.attitude import folded_words

    folded = folded_words(fills["word"])
    joined = fills.join(folded, on="word", how="left", maintain_order="left")
    return joined.with_columns(pl.col("probability").cast(pl.Float64))


def _masses(fills: pl.DataFrame) -> pl.DataFrame:
    """Return each word with its probability in all fills, and the number of its fills."""
    import polars as pl

    return fills.group_by("folded").agg(pl.col("probability").sum(), pl.len())


def _entries(fills: pl.DataFrame, *, total: float) -> Iterable[Entry]:
    """Yield the words of fills, the most probable first, equal ones in alphabetical order."""
    import polars as pl

    ordered = fills.sort("probability", "prompt_id", "model", descending=[True, False, False])
    masses = _masses(ordered)
    shown = (
        ordered.unique(["folded", "item"], keep="first", maintain_order=True)
        .group_by("folded", maintain_order=True)
        .agg(pl.col("text", "word").head(SENTENCES))
    )
    table = masses.join(shown, on="folded").sort("probability", "folded", descending=[True, False])
    for row in table.iter_rows(named=True):
        parts = [text.partition(MASK) for text in row["text"]]
        yield Entry(
            unit=Unit(row["folded"]),
            shown=row["word"][0],
            mass=row["probability"] / total,
            count=row["len"],
            sentences=tuple(
                Sentence(before=before, word=word, after=after)
                for (before, _, after), word in zip(parts, row["word"], strict=True)
            ),
        )


Action = Literal["rate", "skip", "undo", "note"]
ACTIONS: tuple[Action, ...] = get_args(Action)

RATER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
"""Allowed names of raters: they are used as names of files."""

SETTLED = "settled"
"""The name of the journal for settled disagreements; no rater may have this name."""

HEAD = b'{"at": "'
"""How each line begins."""

LONGEST_NOTE = 2_000
"""In characters."""


class Unit(NamedTuple):
    """The unit that one rating applies to."""

    word: str
    """Stripped and case-folded."""
    item: str = ""
    """Empty: the rating applies in every item."""
    wording: str = ""
    """Empty: the rating applies in every wording."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One key press."""

    do: Action
    unit: Unit | None = None
    """None for undo."""
    label: Attitude | None = None
    """Only for rate."""
    note: str = ""
    """Only for note."""

    def line(self) -> bytes:
        """Return the event as a line of a journal."""
        entry: dict[str, str] = {"at": datetime.now(UTC).isoformat(timespec="seconds")}
        entry |= {"do": self.do}
        if self.unit is not None:
            entry |= {name: value for name, value in self.unit._asdict().items() if value}
        if self.do == "rate":
            entry["label"] = str(self.label)
        if self.do == "note":
            entry["note"] = self.note
        return json.dumps(entry, ensure_ascii=False).encode() + b"\n"


class Record:
    """A rater's ratings, skips and notes so far."""

    def __init__(self) -> None:
        self._done: list[Event] = []
        self.notes: dict[Unit, str] = {}

    def take(self, event: Event) -> None:
        """Record the event; a note replaces the earlier, undo removes the last rating or skip."""
        if event.do == "undo":
            if self._done:
                self._done.pop()
        elif event.do == "note" and event.unit is not None:
            self.notes[event.unit] = event.note
        else:
            self._done.append(event)

    @property
    def labels(self) -> dict[Unit, Attitude]:
        """Return the label of every unit that is rated; the last label counts."""
        return {event.unit: event.label for event in self._done if event.unit and event.label}

    @property
    def skips(self) -> Counter[Unit]:
        """Return how often each unit was skipped."""
        return Counter(event.unit for event in self._done if event.unit and event.do == "skip")

    @property
    def last(self) -> Event | None:
        """Return the event that undo would remove."""
        return self._done[-1] if self._done else None


class Journal:
    """A journal that is open for writing; ``record`` is its content."""

    def __init__(self, path: Path, descriptor: int, record: Record) -> None:
        self.path = path
        self.record = record
        self._descriptor = descriptor

    def add(self, event: Event) -> None:
        """Write the event to disk; raise AskingError if that fails."""
        try:
            append_whole(self._descriptor, event.line(), sync=True)
        except OSError as error:
            what = "the disk is full" if error.errno in FULL else "the disk failed"
            raise AskingError(
                f"Not saved: {what} ({self.path}: {error.strerror}). All earlier ratings are "
                "kept. Check the disk, then press the key again."
            ) from error
        self.record.take(event)


@contextmanager
def open_journal(path: Path, *, run: Path | None = None) -> Iterator[Journal]:
    """Yield the journal at the path, new or continued; raise InputError if another process has it.

    ``run``: the run folder that the path is in, below which no link is followed.
    """
    with disk_error(path):
        make_folder(run or path.parent)
        descriptor = Folder.at(path.parent, run=run).append(path.name, rights=0o600)
    try:
        try:
            hold(descriptor)
        except BlockingIOError:
            raise InputError(
                f"{path} is open in another process. End that process with Ctrl-C, or rate under "
                "another name with --rater."
            ) from None
        content = os.pread(descriptor, LARGEST_TABLE + 1, 0)
        whole = _without_torn_line(path, content)
        record = _record(path, whole)
        with disk_error(path):
            with suppress(PermissionError):
                os.fchmod(descriptor, 0o600)
            if len(whole) < len(content):
                os.ftruncate(descriptor, len(whole))
            elif whole and not whole.endswith(b"\n"):
                os.write(descriptor, b"\n")
            os.fsync(descriptor)
        yield Journal(path, descriptor, record)
    finally:
        os.close(descriptor)


def read_journal(path: Path) -> Record:
    """Return a journal's content, even if it is open elsewhere; leave out a line being written."""
    file = Folder(path.parent).opened(path.name)
    if file is None:
        raise InputError(f"{path} cannot be read: there is no such file.")
    with file:
        content = file.read(LARGEST_TABLE + 1)
    return _record(path, _without_torn_line(path, content))


def check_rater(name: str) -> str:
    """Return the name; raise InputError if it cannot be a rater's."""
    if not RATER.fullmatch(name) or name == SETTLED:
        raise InputError(
            f"--rater is '{name}'. Allowed: up to 40 letters (a–z), digits, dots, hyphens or "
            f"underscores. It must begin with a letter or digit, and it cannot be '{SETTLED}'. "
            "You can use a pseudonym."
        )
    return name


def parse_event(fields: Mapping[str, Any]) -> Event:
    """Return the event of a JSON object; raise ValueError with what is wrong with it."""
    do = _one_of(fields, "do", ACTIONS)
    if do == "undo":
        return Event(do="undo")
    texts = {name: fields.get(name, "") for name in (*Unit._fields, "note")}
    for name in [name for name, text in texts.items() if not isinstance(text, str)]:
        raise ValueError(f"{name} is {_shown(texts[name])}; it must be text.")
    unit = Unit(*(texts[name] for name in Unit._fields))
    if not unit.word:
        raise ValueError("word is missing or empty.")
    label = _one_of(fields, "label", ATTITUDES) if do == "rate" else None
    note = " ".join(texts["note"].split()) if do == "note" else ""
    if len(note) > LONGEST_NOTE:
        raise ValueError(f"note has {len(note):,} characters. Allowed: up to {LONGEST_NOTE:,}.")
    return Event(do=cast("Action", do), unit=unit, label=cast("Attitude | None", label), note=note)


def _one_of(fields: Mapping[str, Any], name: str, allowed: tuple[str, ...]) -> str:
    value = fields.get(name)
    if isinstance(value, str) and value in allowed:
        return value
    shown = "missing" if name not in fields else _shown(value)
    raise ValueError(f"{name} is {shown}. Allowed: {', '.join(allowed)}.")


def _shown(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "nested too deep"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _without_torn_line(path: Path, content: bytes) -> bytes:
    """Return the content without a last line that was written only in part.

    A last line that does not begin as the lines of journals do is kept, so that it is reported as a
    fault. Raise InputError if the content is larger than any rater's.
    """
    if len(content) > LARGEST_TABLE:
        raise InputError(f"{path} has more than {LARGEST_TABLE:,} bytes.")
    end = content.rfind(b"\n") + 1
    # A power cut may leave zeros in the place of a line.
    torn = content[end:].rstrip(b"\0")
    try:
        _event_of(content[end:])
    except ValueError:
        from_journal = torn.startswith(HEAD) or HEAD.startswith(torn)
        return content[:end] if from_journal else content
    return content


def _event_of(line: bytes) -> Event:
    try:
        entry = json.loads(line)
    # RecursionError: lists nested too deeply.
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict):
        raise ValueError("this line is not a JSON object, so goffman did not write it.")  # noqa: TRY004
    return parse_event(entry)


def _record(path: Path, content: bytes) -> Record:
    record = Record()
    faults = Faults()
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            record.take(_event_of(line))
        except ValueError as error:
            faults.add(path.name, number, str(error))
    if faults.found:
        raise LexiconError(str(path), faults.found)
    return record
