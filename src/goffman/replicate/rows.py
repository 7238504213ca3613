"""A published number, as ``data/<study>.csv`` has it, and the same number recomputed.

Where the authors' own outputs give something else, the file says what, and ``agrees`` is null.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goffman.replicate.files import data_rows, study_folder

if TYPE_CHECKING:
    from goffman.options import Listener
    from goffman.pipeline import Audit


Number = float | int | str

NOT_HERE = "not recomputable from these files"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One number as a study printed it."""

    name: str
    published: str
    """As printed; the decimals show the precision."""
    expected: str = ""
    """What the published outputs give, where that is known to be something else."""
    note: str = ""
    """Where it is printed, or why the outputs give something else."""


@dataclass(frozen=True)
class Result:
    """One number as it was recomputed."""

    name: str
    """The name of the figure to compare it with, if there is one."""
    value: Number | None
    """None: the files do not give it, and the note says why."""
    _: KW_ONLY
    note: str = ""
    digits: int = 3
    """Decimals to show if no printed number sets them."""
    firm: bool = True
    """False: it rests on other ratings than the study's, or on a part of its outputs, so that it
    neither confirms nor refutes the number; the note says so."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A published number and the recomputed one."""

    name: str
    published: Number | None
    """None: the study does not print this one."""
    recomputed: Number | None
    """None: the files do not give it."""
    agrees: bool | None
    """None: there is only one of the two numbers, or they are known to differ, as the note says."""
    note: str
    digits: int
    """Decimals of the printed number."""

    @property
    def numbers(self) -> tuple[str, str]:
        """Return both numbers as they are shown, the recomputed one with one decimal more."""
        return _shown(self.published, self.digits), _shown(self.recomputed, self.digits + 1)

    def entry(self) -> dict[str, Any]:
        """Return the row as a JSON object."""
        value = self.recomputed
        return {
            "name": self.name,
            "published": self.published,
            # Without the last digits of a float, which are those of the order of its sum.
            "recomputed": float(f"{value:.12g}") if isinstance(value, float) else value,
            "agrees": self.agrees,
            "note": self.note,
        }


@dataclass(frozen=True, kw_only=True)
class Replication:
    """A study's numbers, each with the one recomputed."""

    study: str
    rows: tuple[Row, ...]

    @property
    def differing(self) -> list[Row]:
        """Return the rows that should agree and do not."""
        return [row for row in self.rows if row.agrees is False]

    def entry(self) -> dict[str, Any]:
        """Return the replication as a JSON object."""
        return {"study": self.study, "rows": [row.entry() for row in self.rows]}


def lacking(name: str, reason: str) -> Result:
    """Return a result that the files do not give, with the reason."""
    return Result(name, None, note=f"{NOT_HERE}: {reason}")


def read_figures(study: str) -> list[Figure]:
    """Return the figures that the study printed, in its order."""
    return [Figure(**row) for row in data_rows(f"{study}.csv")]


def set_side_by_side(study: str, results: Iterable[Result]) -> Replication:
    """Return every result with its figure, then the figures for which nothing was recomputed."""
    figures = {figure.name: figure for figure in read_figures(study)}
    rows = [_row(result, figures.pop(result.name, None)) for result in results]
    rows += [_row(Result(name, None), figure) for name, figure in figures.items()]
    return Replication(study=study, rows=tuple(rows))


def _row(result: Result, figure: Figure | None) -> Row:
    notes = [figure.note if figure else "", result.note]
    if result.value is None and NOT_HERE not in result.note:
        notes.insert(0, NOT_HERE)
    return Row(
        name=result.name,
        published=_number(figure.published) if figure else None,
        recomputed=result.value,
        agrees=_agrees(result, figure) if figure else None,
        note="; ".join(note for note in notes if note),
        digits=_digits(figure.published) if figure else result.digits,
    )


def _agrees(result: Result, figure: Figure) -> bool | None:
    if result.value is None or not result.firm:
        return None
    is_same = is_printed(result.value, figure.expected or figure.published)
    return None if is_same and figure.expected else is_same


def is_printed(value: Number, printed: str) -> bool:
    """Return whether a value equals the printed number, to its last decimal."""
    number = _number(printed)
    if isinstance(value, str) or isinstance(number, str):
        return str(value) == printed
    # Half a unit of the last decimal, and the rounding of the sum that led to it.
    return abs(value - number) <= 0.5 * 10.0 ** -_digits(printed) + 1e-9


def _number(printed: str) -> Number:
    try:
        return float(printed) if "." in printed else int(printed)
    except ValueError:
        return printed


def _digits(printed: str) -> int:
    return len(printed.partition(".")[2]) if not isinstance(_number(printed), str) else 0


def _shown(value: Number | None, digits: int) -> str:
    if value is None:
        return "–"
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


class Study(StrEnum):
    """The studies whose numbers can be recomputed."""

    MEI2023 = "mei2023"
    LIN2022 = "lin2022"
    BRIEGEL2023 = "briegel2023"
    MOORE2025 = "moore2025"
    GUEORGUIEVA2025 = "gueorguieva2025"


def replicate_study(study: Study, folder: Path, *, ratings: Path | None = None) -> Replication:
    """Return the study's published numbers, and those recomputed from its files in the folder."""
    files = study_folder(folder, study)
    results = importlib.import_module(f"goffman.replicate.{study}").results
    options = {"ratings": ratings} if study is Study.MEI2023 else {}
    return set_side_by_side(study, results(files, **options))


def published_run(
    study: Study, folder: Path, output: Path, *, ratings: Path | None = None, listener: Listener
) -> Audit:
    """Return a run of the study's published answers; raise PublishedError if there are none."""
    from goffman.replicate.published_run import make_run

    files = study_folder(folder, study)
    module = importlib.import_module(f"goffman.replicate.{study}")
    parts = getattr(module, "published_answers", lambda _: ())(files)
    return make_run(study, parts, output, ratings=ratings, listener=listener)
