"""A large run measured, reported and compared, made from a finished one: python bench/scale.py RUN.

The answers to one instrument are copied under the names of more models (``--models``), to more
conditions (``--conditions``) and to more items (``--items``). The probabilities of each copy are
moved by chance, so that no two models answer alike and nothing can be packed smaller than in life.
Nothing is asked. Each command runs in a process of its own, as a user starts it; printed are its
CPU time and its peak of memory, and those of its stages.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

PART = 500_000
"""Rows of a part."""

NOISE = 0.3
"""The standard deviation by which the logarithm of a probability is moved."""

STAGES = {
    "goffman.report.analyze": (
        "score",
        "estimates",
        "sensitivity_table",
        "compare_with_anchors",
        "keep_tables",
    ),
    "goffman.report.write": (
        "read_run",
        "figures_of",
        "evidence_of",
        "page",
        "card_png",
    ),
    "goffman.api.public": ("compare_runs",),
    "goffman.comparison.page": ("courses", "figures_of", "evidence_of_runs", "rendered"),
}
"""What is timed within a command: functions, by the module that calls them."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="a finished run; it is not changed")
    parser.add_argument("--instrument", default="social-distance")
    parser.add_argument("--models", type=int, default=1)
    parser.add_argument("--conditions", type=int, default=1, help="each so many times")
    parser.add_argument("--items", type=int, default=1, help="each so many times")
    parser.add_argument("--output", type=Path, help="keep the runs and pages in this folder")
    parser.add_argument("--only", nargs="*", choices=[*COMMANDS], default=[*COMMANDS])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        place = arguments.output or Path(temporary)
        for name in arguments.only:
            apart(name, place, arguments)
        for page in sorted(place.rglob("*.html")):
            print(f"{page.relative_to(place)}: {page.stat().st_size / 1e6:.1f} MB")


def apart(name: str, place: Path, arguments: argparse.Namespace) -> None:
    """Runs a command in a process of its own."""
    process = multiprocessing.get_context("spawn").Process(
        target=one_command, args=(name, place, arguments)
    )
    process.start()
    process.join()
    if process.exitcode:
        sys.exit(f"{name} ended with {process.exitcode}.")


def one_command(name: str, place: Path, arguments: argparse.Namespace) -> None:
    """Does the command's work, and prints what it and its stages took."""
    for module, names in STAGES.items():
        for one in names:
            # A module that this command does not need takes time and memory, too.
            if module in OF_COMMAND[name]:
                watch(importlib.import_module(module), one)
    COMMANDS[name](place, arguments)
    peaks.append(peak())
    print(f"{name:26} {time.process_time():7.1f} s CPU   peak {max(peaks):7,.0f} MB", flush=True)


peaks: list[float] = []
"""Those of the stages so far: each stage begins to count anew."""


def watch(module: Any, name: str) -> None:
    """From now on the function prints what it took."""
    function = getattr(module, name)

    def watched(*given: Any, **named: Any) -> Any:
        peaks.append(peak())
        Path("/proc/self/clear_refs").write_text("5")
        start = time.process_time()
        result = function(*given, **named)
        took = time.process_time() - start
        print(f"    {name.strip('_'):22} {took:7.1f} s CPU   peak {peak():7,.0f} MB", flush=True)
        return result

    setattr(module, name, watched)


def peak() -> float:
    """The most memory since it was last counted anew, in MB."""
    status = Path("/proc/self/status").read_text().splitlines()
    (found,) = (int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    return found / 1024


def made(place: Path, arguments: argparse.Namespace) -> None:
    """Two runs to compare."""
    for seed, name in enumerate(("first", "second")):
        (place / name).mkdir(parents=True)
        make(place / name, arguments, np.random.default_rng(seed))


def measured(place: Path, _: argparse.Namespace, name: str = "first") -> None:
    """What goffman audit does when all is answered, but for the page."""
    from goffman.report.analyze import measure_run
    from goffman.runs.run import open_run
    from goffman.scoring import load_words

    with open_run(place / name) as run:
        measure_run(run, load_words(), seed=0, pairs=(), note=print)


def measured_too(place: Path, _: argparse.Namespace) -> None:
    """The run to compare with."""
    measured(place, _, "second")


def reported(place: Path, _: argparse.Namespace) -> None:
    """goffman report."""
    from goffman.report.write import write_report

    write_report(place / "first")


def compared(place: Path, _: argparse.Namespace) -> None:
    """goffman compare --output FILE.html."""
    from goffman.api.public import compare
    from goffman.comparison.page import compare_page

    found = compare(place / "first", place / "second")
    runs = [run.measured for run in found.runs]
    text = compare_page(found.parts, runs, notes=found.notes)
    (place / "compared.html").write_text(text, encoding="utf-8")


def in_paper(place: Path, _: argparse.Namespace) -> None:
    """goffman export --to paper."""
    from goffman.export.paper import write_paper
    from goffman.report.load import read_run

    write_paper(read_run(place / "first"), place / "paper")


COMMANDS: dict[str, Callable[[Path, argparse.Namespace], None]] = {
    "made": made,
    "measured": measured,
    "measured_too": measured_too,
    "reported": reported,
    "compared": compared,
    "in_paper": in_paper,
}

OF_COMMAND: dict[str, Sequence[str]] = {
    "made": (),
    "measured": ("goffman.report.analyze",),
    "measured_too": (),
    "reported": ("goffman.report.write",),
    "compared": ("goffman.api.public", "goffman.comparison.page"),
    "in_paper": (),
}


def make(folder: Path, arguments: argparse.Namespace, draws: np.random.Generator) -> None:
    """A run of one instrument with more models, conditions and items."""
    from goffman.modes import of_asked
    from goffman.runs.answers import parquet
    from goffman.runs.files import Folder
    from goffman.runs.manifest import Manifest, checksum, read_manifest, with_table, write_manifest
    from goffman.runs.run import PROMPTS, read_answers

    before, name = read_manifest(arguments.run), arguments.instrument
    if before is None:
        sys.exit(f"{arguments.run} is no run.")
    (model,) = (one for one, answers in before.answers.items() if name in answers)
    prompts = pl.read_parquet(arguments.run / PROMPTS).filter(of_asked(name))
    table: Any = before.answers[model][name].table
    answers = read_answers(arguments.run, table, model=model, instrument=name)
    copies = list(copied(prompts, arguments))
    many = pl.concat(copies)
    content = parquet(many)
    Folder(folder).write(PROMPTS, content)
    entry = in_manifest(before.instruments[name], many, arguments)
    manifest = Manifest(instruments={name: entry}, sessions=before.sessions)
    for number in range(arguments.models):
        who = f"{model}{suffix(number)}"
        parts = (said(one, answers, who, draws) for one in copies)
        rows, shelf = stored(folder, table, parts, model=who, instrument=name)
        of_model = replace(before.answers[model][name], rows=rows, sha256=shelf.sha256)
        of_model = replace(of_model, parts=len(shelf.parts), sentences=many.height)
        manifest = replace(
            manifest,
            models={**manifest.models, who: before.models[model]},
            answers={**manifest.answers, who: {name: of_model}},
        )
    write_manifest(folder, with_table(manifest, PROMPTS, checksum(content)))
    print(f"{arguments.models} models, {many.height:,} prompts, {rows:,} rows a model")


def in_manifest(entry: Any, prompts: pl.DataFrame, arguments: argparse.Namespace) -> Any:
    """What the manifest says of the instrument, with more conditions and items."""
    called = replace(
        entry.called,
        conditions=dict(more(entry.called.conditions, arguments.conditions)),
        items=dict(more(entry.called.items, arguments.items)),
    )
    controls = entry.asked - entry.prompts
    return replace(entry, prompts=prompts.height - controls, called=called)


def more(called: dict[str, str], times: int) -> Iterator[tuple[str, str]]:
    for number in range(times):
        for one, text in called.items():
            yield f"{one}{suffix(number)}", f"{text}{suffix(number)}"


def copied(prompts: pl.DataFrame, arguments: argparse.Namespace) -> Iterator[pl.DataFrame]:
    """The prompts, then copies of them about other items and conditions.

    Those without a condition are there once for each item, and control items once.
    """
    from goffman.instruments.types import BASELINE, CONTROL

    yield prompts
    for of_item in range(arguments.items):
        for of_condition in range(arguments.conditions):
            if not (of_item or of_condition):
                continue
            alone = [CONTROL, BASELINE] if of_condition else [CONTROL]
            rows = prompts.filter(~pl.col("condition").is_in(alone))
            own = pl.col("condition") != BASELINE
            named = pl.col("condition") + suffix(of_condition)
            yield rows.with_columns(
                pl.col("prompt_id") + f"-{of_item}{suffix(of_condition)}",
                pl.col("item") + suffix(of_item),
                pl.col("text") + f" ({of_item}, {of_condition})",
                pl.when(own).then(named).otherwise("condition").alias("condition"),
            )


def said(
    prompts: pl.DataFrame, answers: pl.DataFrame, model: str, draws: np.random.Generator
) -> pl.DataFrame:
    """What a model says to copied prompts: the words of the first, otherwise probable."""
    asked = prompts.select("prompt_id", first=pl.col("prompt_id").str.split("-").list.first())
    rows = asked.join(answers, left_on="first", right_on="prompt_id", maintain_order="left_right")
    moved = np.exp(draws.normal(0, NOISE, rows.height)).astype(np.float32)
    mass = pl.col("probability").sum().over("prompt_id")
    now = (pl.col("probability") * moved).alias("now")
    rows = rows.with_columns(now, mass=mass).with_row_index("row")
    # The same words have the same mass together as before.
    rows = rows.with_columns(pl.col("now") * pl.col("mass") / pl.col("now").sum().over("prompt_id"))
    first = pl.col("row").min().over("prompt_id")
    rows = rows.sort(first, -pl.col("now"), maintain_order=True)
    return rows.with_columns(
        model=pl.lit(model),
        probability=pl.col("now").cast(pl.Float32),
        rank=pl.int_range(1, pl.len() + 1).over("prompt_id"),
    ).select(answers.columns)


def stored(
    folder: Path, table: Any, parts: Iterator[pl.DataFrame], *, model: str, instrument: str
) -> tuple[int, Any]:
    """How many rows there are, and the shelf that they are on."""
    from goffman.runs.answers import AnswerStore, answers_folder, write_chunk

    there = answers_folder(folder, table, model=model, instrument=instrument)
    shelf = AnswerStore(folder=there, parts={})
    rows = 0
    for own in parts:
        for one in own.iter_slices(PART):
            key = (1, len(shelf.parts))
            shelf.parts[key] = write_chunk(there, key, one, asked="0" * 16)
            rows += one.height
    return rows, shelf


def suffix(number: int) -> str:
    return f"-{number}" if number else ""


if __name__ == "__main__":
    main()
