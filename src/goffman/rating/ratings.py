"""Several raters' ratings: read from runs and files, compared word by word, settled, written."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from goffman.console import csv_lines
from goffman.errors import InputError, LexiconError, did_you_mean, no_run
from goffman.instruments.fields import REQUIRED, TEXT, Field
from goffman.instruments.files import Faults, Row, read_table
from goffman.instruments.types import Attitude, Rating
from goffman.lexicons.attitude import ATTITUDES, RATING_COLUMNS, SINGLE, fold
from goffman.rating.worklist import SETTLED, Unit, read_journal
from goffman.runs.files import Folder
from goffman.schemas import RATINGS

EXPORTED = tuple(column.name for column in RATINGS)
"""The columns of an exported file, in their order."""


ENOUGH = 50
"""With this many words in common, agreement is informative: two raters who give 85% of 50 words the
same label have a κ of about .8, which could lie .13 lower or higher (95%)."""


@dataclass(frozen=True, kw_only=True)
class Raters:
    """The ratings of several raters."""

    names: tuple[str, ...]
    """In the order of reading."""
    labels: Mapping[Unit, Mapping[str, Attitude]]
    """Unit → rater → label, units in the order of reading."""
    notes: Mapping[tuple[Unit, str], str]

    def shared(self) -> list[Unit]:
        """Return the units that at least two raters rated."""
        return [unit for unit, labels in self.labels.items() if len(labels) > 1]

    def disagreements(self) -> list[Unit]:
        """Return the units to which raters gave different labels."""
        return [unit for unit in self.shared() if len(set(self.labels[unit].values())) > 1]

    def ratings(self) -> list[Rating]:
        """Return every rating, rater by rater."""
        return [
            Rating(
                word=unit.word,
                item=unit.item,
                wording=unit.wording,
                rater=name,
                label=labels[name],
                note=self.notes.get((unit, name), ""),
            )
            for name in self.names
            for unit, labels in self.labels.items()
            if name in labels
        ]


def ratings_folder(run: Path) -> Path:
    """Return the folder of a run's journals and settled ratings."""
    return run / "ratings"


def read_raters(paths: Sequence[Path]) -> Raters:
    """Return the ratings in run folders, journals and CSV files.

    Raise InputError if two files have ratings by the same name.
    """
    by_rater: dict[str, tuple[Path, list[Rating]]] = {}
    for path in _files(paths):
        of_file: dict[str, list[Rating]] = {}
        for rating in _read(path):
            of_file.setdefault(rating.rater, []).append(rating)
        for name, ratings in of_file.items():
            if name in by_rater:
                raise InputError(
                    f"{by_rater[name][0]} and {path} both have ratings by '{name}'. Rename one of "
                    "the raters, or leave out one of the files."
                )
            by_rater[name] = (path, ratings)
    labels: dict[Unit, dict[str, Attitude]] = {}
    notes: dict[tuple[Unit, str], str] = {}
    for name, (_, ratings) in by_rater.items():
        for rating in ratings:
            unit = Unit(rating.word, rating.item, rating.wording)
            labels.setdefault(unit, {})[name] = rating.label
            if rating.note:
                notes[unit, name] = rating.note
    return Raters(names=tuple(by_rater), labels=labels, notes=notes)


def need_two(raters: Raters, paths: Sequence[Path]) -> None:
    """Raise InputError if fewer than two raters have ratings."""
    if len(raters.names) < 2:
        who = f"Only '{raters.names[0]}' has rated words." if raters.names else "No ratings yet."
        raise InputError(
            f"{who} Agreement needs two people who rated at least "
            f"{ENOUGH} of the same words. "
            f"Let each of them run {rate_command(paths)} --rater NAME, or give their rating files."
        )


def rate_command(paths: Sequence[Path]) -> str:
    """Return the command that opens the given run's rating page; RUN if no single run was given."""
    runs = [str(path) for path in paths if path.is_dir()]
    return f"goffman rate {shlex.quote(runs[0]) if len(runs) == 1 else 'RUN'}"


def settled_csv(raters: Raters, decided: Mapping[Unit, Attitude]) -> str:
    """Return the settled ratings as a file for --ratings: the single ratings, and one label.

    It has the units that at least two raters rated alike or whose disagreement was decided.
    """
    columns = SINGLE[: max(len(labels) for labels in raters.labels.values())]
    rows = []
    for unit in sorted(raters.shared()):
        single_labels = [
            raters.labels[unit][name] for name in raters.names if name in raters.labels[unit]
        ]
        label = single_labels[0] if len(set(single_labels)) == 1 else decided.get(unit)
        if label is not None:
            single = dict.fromkeys(columns, "") | dict(zip(columns, single_labels, strict=False))
            rows.append({**unit._asdict(), **single, "label": str(label)})
    return csv_lines(rows, (*Unit._fields, *columns, "label"))


def ratings_csv(ratings: Sequence[Rating]) -> str:
    """Return the ratings as a file that goffman agree reads."""
    return csv_lines([vars(rating) for rating in ratings], EXPORTED)


def _files(paths: Sequence[Path]) -> list[Path]:
    """Return the files of ratings; a run folder is replaced by its raters' journals."""
    files: list[Path] = []
    for path in paths:
        if not path.exists():
            names = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
            raise InputError(
                f"{path} was not found.{did_you_mean(path.name, names)} Give a run folder, or a "
                "file with ratings."
            )
        if not path.is_dir():
            files.append(path)
            continue
        journals = [
            ratings_folder(path) / name
            for name in (Folder(path) / "ratings").names()
            if name.endswith(".jsonl") and name != f"{SETTLED}.jsonl"
        ]
        if not journals:
            if not (path / "manifest.json").is_file():
                raise InputError(no_run(path))
            raise InputError(
                f"{path} has no ratings yet. Rate its words first: goffman rate {path} --rater NAME"
            )
        files += journals
    return files


def _read(path: Path) -> list[Rating]:
    if path.suffix == ".jsonl":
        record = read_journal(path)
        return [
            Rating(**unit._asdict(), rater=path.stem, label=label, note=record.notes.get(unit, ""))
            for unit, label in record.labels.items()
        ]
    faults = Faults()
    # Of the columns with labels, only those of single ratings count if there are any.
    rows = read_table(path, {**dict.fromkeys(RATING_COLUMNS, TEXT), "word": REQUIRED}, faults)
    ratings = [] if faults.found else list(_from_rows(rows, path.stem))
    if faults.found:
        raise LexiconError(str(path), faults.found)
    return ratings


def _from_rows(rows: Sequence[Row], stem: str) -> Iterator[Rating]:
    """Yield ratings by the file's one rater, by column rater, or by column of single ratings."""
    single = [column for column in SINGLE if column in rows[0].cells]
    if not single and "label" not in rows[0].cells:
        rows[0].faults.add(rows[0].file, 1, "the column 'label' is missing.")
        return
    lines: dict[tuple[Unit, str], int] = {}
    for row in rows:
        unit = Unit(fold(row["word"]), row["item"], row["wording"])
        for column in single or ["label"]:
            if single and not row[column]:
                continue
            rater = column if single else row["rater"] or stem
            is_label = row.check(column, Field(required=True, allowed=ATTITUDES))
            if (line := lines.setdefault((unit, rater), row.number)) != row.number:
                row.note(f"'{rater}' already rated '{row['word']}' on line {line}.")
            elif is_label:
                yield Rating(**unit._asdict(), rater=rater, label=row[column], note=row["note"])


def count_of_words(count: int) -> str:
    """Return the number of words as people read it."""
    return "1 word" if count == 1 else f"{count:,} words"
