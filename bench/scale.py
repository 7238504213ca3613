"""A large run measured and reported, made from a finished one: python bench/scale.py RUN.

The answers to one instrument are copied under the names of more models (``--models``) or to more
conditions (``--times``); nothing is asked. Prints the CPU time and the peak of memory by stage.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from goffman.analysis.measured import measure
from goffman.analysis.score import load_words, score
from goffman.control_items import CONTROL
from goffman.runs.files import Folder
from goffman.runs.folder import PROMPTS, open_run
from goffman.runs.manifest import (
    Manifest,
    checksum,
    read_manifest,
    with_table,
    write_manifest,
)
from goffman.runs.read import read_answers
from goffman.runs.store import Shelf, answers_folder, parquet, write_part

PART = 500_000
"""Rows of a part."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="a finished run; it is not changed")
    parser.add_argument("--instrument", default="social-distance")
    parser.add_argument("--models", type=int, default=1)
    parser.add_argument("--times", type=int, default=1, help="each condition so many times")
    parser.add_argument("--only-scores", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "run"
        folder.mkdir()
        stage("copied", lambda: make(folder, arguments))
        words = load_words()
        manifest = read_manifest(folder)
        stage("scores", lambda: score(folder, manifest, words))
        if arguments.only_scores:
            return
        with open_run(folder) as run:
            stage("measured", lambda: measure(run, words, seed=0, pairs=(), note=print))

        from goffman.reports.write import write_report

        stage("reported", lambda: write_report(folder, words=words))
        print(f"page {(folder / 'report.html').stat().st_size / 1e6:.1f} MB")


def stage(name: str, work: Callable[[], object]) -> None:
    """Does the work, and prints what it took."""
    Path("/proc/self/clear_refs").write_text("5")
    start = time.process_time()
    work()
    status = Path("/proc/self/status").read_text().splitlines()
    (peak,) = (int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    print(
        f"{name:9} {time.process_time() - start:7.1f} s CPU   peak {peak / 1024:,.0f} MB",
        flush=True,
    )


def make(folder: Path, arguments: argparse.Namespace) -> None:
    """A run of one instrument with more models, or more conditions."""
    before, name = read_manifest(arguments.run), arguments.instrument
    (model,) = (one for one, answers in before.answers.items() if name in answers)
    prompts = pl.read_parquet(arguments.run / PROMPTS).filter(pl.col("instrument") == name)
    table: Any = before.answers[model][name].table
    answers = read_answers(arguments.run, table, model=model, instrument=name)
    prompts, answers = (times(one, arguments.times) for one in (prompts, answers))
    content = parquet(prompts)
    Folder(folder).write(PROMPTS, content)
    entry = before.instruments[name]
    called = {
        f"{one}{suffix(n)}": text
        for n in range(arguments.times)
        for one, text in entry.called.conditions.items()
    }
    controls = entry.asked - entry.prompts
    entry = replace(
        entry,
        prompts=prompts.height - controls * arguments.times,
        called=replace(entry.called, conditions=called),
    )
    if entry.controls:
        many = replace(entry.controls, control_prompts=controls * arguments.times)
        entry = replace(entry, controls=many)
    manifest = Manifest(instruments={name: entry}, sessions=before.sessions)
    for number in range(arguments.models):
        who = f"{model}{suffix(number)}"
        there = answers_folder(folder, table, model=who, instrument=name)
        own = answers.with_columns(model=pl.lit(who))
        shelf = Shelf(folder=there, parts={})
        for place, rows in enumerate(own.iter_slices(PART)):
            shelf.parts[1, place] = write_part(there, (1, place), rows, asked="0" * 16)
        said = replace(
            before.answers[model][name],
            rows=own.height,
            parts=len(shelf.parts),
            sha256=shelf.sha256,
        )
        manifest = replace(
            manifest,
            models={**manifest.models, who: before.models[model]},
            answers={**manifest.answers, who: {name: said}},
        )
    write_manifest(folder, with_table(manifest, PROMPTS, checksum(content)))
    print(f"{arguments.models} models, {prompts.height:,} prompts, {own.height:,} rows a model")


def times(rows: pl.DataFrame, count: int) -> pl.DataFrame:
    """The rows, and copies of them with other prompts and conditions."""
    copies = [rows]
    for number in range(1, count):
        other = rows.with_columns(pl.col("prompt_id") + suffix(number))
        if "condition" in rows.columns:
            # A control item stays one.
            own = pl.col("condition") != CONTROL
            name = pl.when(own).then(pl.col("condition") + suffix(number)).otherwise("condition")
            other = other.with_columns(condition=name)
        copies.append(other)
    return pl.concat(copies)


def suffix(number: int) -> str:
    return f"-{number}" if number else ""


if __name__ == "__main__":
    main()
