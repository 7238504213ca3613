"""Where the time of the demo's audit goes, stage by stage: python bench/demo.py [FOLDER].

FOLDER: a finished demo run; then nothing is asked, and its answers are measured and reported anew
in a copy. CPU seconds of all threads, and seconds by the clock; a stage within another is counted
in both.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

STAGES = (
    ("goffman.pipeline", "assign", "prompts"),
    ("goffman.pipeline", "check", "models checked (torch and transformers imported)"),
    ("goffman.execution.Executor", "load", "models loaded"),
    ("goffman.pipeline", "ask_batches", "models asked"),
    ("goffman.report.load", "measure_run", "measured"),
    ("goffman.report.analyze", "score", "  scores"),
    ("goffman.report.analyze", "estimates", "  estimates"),
    ("goffman.report.analyze", "sensitivity_table", "  sensitivity"),
    ("goffman.report.analyze", "compare_with_anchors", "  beside people"),
    ("goffman.report.write", "write_report", "report"),
    ("goffman.report.write", "figures_of", "  figures made"),
    ("goffman.report.write", "svg_of", "  figures drawn"),
    ("goffman.report.write", "card_png", "  card drawn"),
    ("goffman.report.write", "evidence_of", "  evidence"),
    ("goffman.report.write", "page", "  page"),
    ("goffman.report.page", "vega", "    Vega's script"),
)
"""Where a function is looked up, its name there, and what it does."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--limit", type=int, help="so many prompts of each instrument; for a try")
    arguments = parser.parse_args()
    began = time.process_time(), time.monotonic()
    from goffman.models.files import BUNDLED_PAIR
    from goffman.pipeline import AskOptions, audit

    spent: dict[str, list[float]] = {"goffman imported": _since(began)}
    for where, name, said in STAGES:
        _watch(where, name, spent.setdefault(said, [0.0, 0.0]))
    with tempfile.TemporaryDirectory() as temporary:
        run = Path(temporary) / "run"
        if arguments.folder:
            shutil.copytree(arguments.folder, run)
            for made in ("figures", "tables"):
                shutil.rmtree(run / made, ignore_errors=True)
        options = AskOptions(limit=arguments.limit)
        done = audit(BUNDLED_PAIR, output=run, options=options, report=True)
    spent["all"] = _since(began)
    print(f"{sum(one.asked_now for one in done.asked):,} sentences asked")
    print("| stage | CPU, s | clock, s |\n|---|---|---|")
    for said, (cpu, clock) in spent.items():
        print(f"| {said} | {cpu:.1f} | {clock:.1f} |")


def _since(began: tuple[float, float]) -> list[float]:
    return [time.process_time() - began[0], time.monotonic() - began[1]]


def _watch(where: str, name: str, spent: list[float]) -> None:
    """From now on the function adds to what was spent."""
    try:
        place: Any = importlib.import_module(where)
    except ModuleNotFoundError:
        module, _, kind = where.rpartition(".")
        place = getattr(importlib.import_module(module), kind)
    function = getattr(place, name)

    @functools.wraps(function)
    def watched(*given: Any, **told: Any) -> Any:
        began = time.process_time(), time.monotonic()
        try:
            return function(*given, **told)
        finally:
            spent[:] = [one + more for one, more in zip(spent, _since(began), strict=True)]

    setattr(place, name, watched)


if __name__ == "__main__":
    main()
