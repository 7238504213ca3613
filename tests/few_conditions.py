"""Instruments with few of their conditions: asking and comparing all would take most of the time."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import goffman.instruments

DATA = Path(goffman.instruments.__file__).parent / "data"


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def change_rows(path: Path, change: Callable[[list[dict[str, str]]], list[dict[str, str]]]) -> None:
    """Write what is made of the rows of a CSV file into their place."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(change(rows))


def keep_rows(path: Path, keep: Callable[[dict[str, str]], bool]) -> None:
    change_rows(path, lambda rows: [row for row in rows if keep(row)])


def keep_first(path: Path, column: str, *, count: int, within_each: str = "") -> None:
    """Those rows that have one of the first so many values of a column, in each group of rows."""

    def kept(rows: list[dict[str, str]]) -> list[dict[str, str]]:
        known: dict[str, dict[str, None]] = {}
        for row in rows:
            known.setdefault(row.get(within_each, ""), {})[row[column]] = None
        names = {name for several in known.values() for name in list(several)[:count]}
        return [row for row in rows if row[column] in names]

    change_rows(path, kept)


def with_few_conditions(name: str, folder: Path, *, each: int) -> Path:
    """A copy of a built-in instrument, in ``folder``, with the first conditions of each group."""
    shutil.copytree(DATA / name, folder)
    keep_first(folder / "conditions.csv", "condition", within_each="group", count=each)
    return folder


def fit_paraphrases(folder: Path) -> None:
    """Only those of items that the instrument in the folder still has; of control items, too."""
    # A control that is a text of its own has no item.
    items = {"", *(row["item"] for row in read_rows(folder / "items.csv"))}
    for path in (*folder.glob("paraphrases.csv"), *folder.glob("*controls.csv")):
        keep_rows(path, lambda row: row.get("item", "") in items)


def with_fewer(within: Path, *, conditions: int, items: int) -> Path:
    """The folder, now with the built-in instruments in it: the first conditions of each group."""
    for folder in (path for path in DATA.iterdir() if path.is_dir()):
        shutil.copytree(folder, within / folder.name)
    for path in within.glob("*/conditions.csv"):
        keep_first(path, "condition", within_each="group", count=conditions)
        _fit_brief(path.parent)
    for path in within.glob("*/items.csv"):
        keep_first(path, "item", count=items)
        fit_paraphrases(path.parent)
    return within


def _fit_brief(folder: Path) -> None:
    """Only those conditions that the instrument in the folder still has are asked less."""
    path = folder / "choice.toml"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if found := re.search(r"^brief = \[(.*?)\]", text, re.DOTALL | re.MULTILINE):
        known = [row["condition"] for row in read_rows(folder / "conditions.csv")]
        kept = [name for name in re.findall(r'"([^"]+)"', found[1]) if name in known]
        text = text.replace(found[0], f"brief = {json.dumps(kept)}")
        path.write_text(text, encoding="utf-8")
