"""People's answers to the same questions, beside the authors' table of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from goffman.errors import PublishedError
from goffman.replicate.files import number_in, read_records
from goffman.replicate.moore2025_import import CONDITIONS, GROUP_HOME, QUESTIONS, recognise
from goffman.replicate.rows import NOT_HERE, Result

SURVEY = {
    "work": (23.5, 29.5, 80.9, 66.3),
    "neighbor": (10.8, 15.0, 41.6, 51.2),
    "evening": (15.1, 14.8, 47.6, 46.9),
    "friend": (11.4, 11.0, 38.0, 37.1),
    "group home": (25.4, 25.8, 34.1, 37.1),
    "marry": (27.1, 41.2, 75.7, 69.4),
    "violence": (18.0, 28.0, 70.7, 70.6),
    "self-harm": (35.1, 80.6, 74.6, 90.6),
    "illness": (28.2, 75.2, 66.0, 94.6),
    "ups and downs": (96.3, 69.4, 71.6, 35.9),
    "imbalance": (46.3, 79.5, 77.1, 93.4),
    "genetics": (41.8, 65.3, 71.4, 76.4),
    "character": (38.2, 33.1, 66.6, 39.5),
    "upbringing": (55.9, 43.2, 68.5, 44.5),
    "God's will": (23.0, 16.6, 7.8, 19.4),
}
"""Question → percent, in the order of the conditions, weighted, don't-knows left out.

Percent of respondents of the US General Social Survey 2018 (NORC) who are unwilling (definitely or
probably), or find it likely (very or somewhat), as in the replication files of Pescosolido, Manago
& Monahan 2019, Health Affairs 38(10).
"""

TABLE = "human_data_2018.csv"

STIGMA = tuple(question.id for question in QUESTIONS if question.stigma)

Figures = tuple[float, ...]


def results(folder: Path) -> Iterator[Result]:
    """Yield which survey question each row of the authors' table matches, and people's stigma."""
    path = folder / "external_data" / TABLE
    if not path.is_file():
        note = f"{NOT_HERE}: external_data/{TABLE} is not among them"
        yield Result(name=f"{TABLE}: rows", value=None, note=note)
        return
    table: dict[str, Figures] = {}
    for where, row in read_records(path, ("question", *CONDITIONS)):
        question = recognise(row["question"], (*QUESTIONS, GROUP_HOME), where)
        if question.id in table:
            raise PublishedError(f"{where} repeats a question of an earlier row.")
        table[question.id] = tuple(
            number_in(row, name, where, most=100, called="percentage") for name in CONDITIONS
        )
    yield Result(name=f"{TABLE}: rows", value=len(table))
    for name, figures in table.items():
        # By the sum of differences over all conditions.
        distances = {
            item: sum(
                abs(figure - percent) for figure, percent in zip(figures, survey, strict=True)
            )
            for item, survey in SURVEY.items()
        }
        nearest = min(distances, key=distances.__getitem__)
        yield Result(
            name=f"{TABLE}: the figures of '{name}' are the survey's of",
            value=nearest,
            note=f"{_listed(figures)} there; the survey has {_listed(SURVEY[nearest])} "
            f"({', '.join(CONDITIONS)})",
        )
    for place, condition in enumerate(CONDITIONS):
        yield _stigma(table, condition, place)


def _stigma(table: dict[str, Figures], condition: str, place: int) -> Result:
    """Return people's stigma about a condition: in the survey, and by the authors' table."""
    name = f"people, stigma, {condition}"
    survey = sum(SURVEY[item][place] for item in STIGMA) / len(STIGMA) / 100
    note = "mean of the same six questions in the survey"
    if set(table) >= set(STIGMA):
        percent = [table[item][place] for item in STIGMA]
        labeled = sum(percent) / len(percent) / 100
        as_drawn = [
            figure if item == "violence" else 100 - figure
            for item, figure in zip(STIGMA, percent, strict=True)
        ]
        drawn = sum(as_drawn) / len(as_drawn) / 100
        note += (
            f"; by the authors' table as it is labeled {labeled:.3f}; their notebook draws "
            f"{drawn:.3f}, because it takes the five shares unwilling for shares willing"
        )
    return Result(name=name, value=survey, note=note)


def _listed(figures: Figures) -> str:
    return "/".join(f"{figure:.0f}" for figure in figures)
