"""How often what is called clear is false, covered and found: simulated audits through estimates().

    python tests/calibration.py                    writes bench/calibration.md
    python tests/calibration.py --only "pronoun"   renews the rows whose name has this in it

simulated.py says what audits are drawn from; simulated_….py have the contrasts.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

# One thread each, or two processes on two cores stand in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "1")

import numpy as np
import polars as pl

import simulated_cells
import simulated_choices
import simulated_conditions
import simulated_pairs
import simulated_people
from goffman.estimate import PRIMARY
from goffman.estimates.clear import ANCHORED, CORRELATIONS, points
from simulated import SIZES, Scenario

PAGE = Path(__file__).parent.parent / "bench" / "calibration.md"

MANY = 12
"""From so many tests in an audit on, a tenth of the audits says as much of single ones."""

AS_FOUND = "as found"

SCENARIOS: tuple[Scenario, ...] = (
    *simulated_conditions.SCENARIOS,
    *simulated_cells.SCENARIOS,
    *simulated_pairs.SCENARIOS,
    *simulated_choices.SCENARIOS,
    *simulated_people.SCENARIOS,
)


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Shares of simulated audits."""

    single: float
    """Tests with p below .05, uncorrected."""
    clear: float
    """Audits with anything called clear, after correction."""
    covered: float
    """Intervals that hold the true difference."""
    untested: float
    """Contrasts without a p."""


def rates(scenario: Scenario, size: float, *, runs: int, real: float = 0.0, seed: int = 1) -> Rates:
    """So many audits of a scenario, drawn and looked at."""
    single, clear, covered, untested = [], [], [], []
    # Of a correlation the interval is that of the coefficient.
    related = scenario.kind in {*CORRELATIONS, *ANCHORED}
    ends = ("effect_low", "effect_high") if related else ("low", "high")
    for number in range(runs):
        rng = np.random.default_rng([seed, number])
        rows = scenario.draw(rng, size, real).filter(pl.col("kind") == scenario.kind)
        if scenario.heading:
            rows = rows.filter(pl.col("family") == PRIMARY)
        single += [p < 0.05 for p in rows["p"].drop_nulls()]
        untested += rows["p"].is_null().to_list() or [True]
        clear.append(any(points(row) for row in rows.iter_rows(named=True)))
        covered += [low <= 0.0 <= high for low, high in rows.select(ends).drop_nulls().rows()]
    return Rates(
        single=float(np.mean(single or [0.0])),
        clear=float(np.mean(clear)),
        covered=float(np.mean(covered or [0.0])),
        untested=float(np.mean(untested)),
    )


def _row(name: str, runs: int) -> tuple[str, str]:
    scenario = next(one for one in SCENARIOS if one.name == name)
    cells = [f"**{name}**" if scenario.heading else name]
    audits = {size: _audits(scenario, size, runs) for size in SIZES}
    for size, much in SIZES.items():
        if scenario.given and much:
            cells.append("–")
            continue
        null = rates(scenario, much, runs=audits[size])
        cells.append(f"{null.single:.3f} / {null.clear:.3f} / {null.covered:.3f}")
        if null.untested:
            cells[-1] += f" ({null.untested:.0%} not tested)"
    much = 0.0 if scenario.given else 1.0
    power = rates(
        scenario,
        much,
        runs=max(runs // (10 if scenario.heading else 20), 1),
        real=scenario.real,
        seed=2,
    )
    most = audits["none" if scenario.given else AS_FOUND]
    cells += [f"{most:,}", f"{scenario.real:.3g}", f"{power.clear:.2f}"]
    return name, f"| {' | '.join(cells)} |"


def _audits(scenario: Scenario, size: str, runs: int) -> int:
    """How many audits a cell is of: most where a heading may be false as things were found."""
    if scenario.slow or scenario.tests >= MANY:
        return max(runs // 10, 1)
    if scenario.heading and size == AS_FOUND:
        return runs
    return max(runs // 5, 1)


def earlier(page: Path) -> dict[str, str]:
    """The rows that stand on the page, by name."""
    lines = page.read_text(encoding="utf-8").splitlines() if page.exists() else []
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| contrast")]
    return {line.split(" | ")[0].removeprefix("| ").strip("*"): line for line in rows}


def page(rows: Mapping[str, str], runs: int) -> Iterator[str]:
    """The lines of bench/calibration.md."""
    yield "# How often “clear” is false, and how often it is found: `make calibrate`"
    yield ""
    yield from (line.format(power=max(runs // 5, 1)) for line in ABOUT)
    yield ""
    yield "| contrast | none | as found | doubled | audits | true difference | power |"
    yield "|---|---|---|---|---|---|---|"
    yield from (rows[one.name] for one in SCENARIOS if one.name in rows)


ABOUT = ()


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--output", type=Path, default=PAGE)
    parser.add_argument("--only", default="", help="renew the rows with this in their name")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    given = parser.parse_args()
    wanted = [one.name for one in SCENARIOS if given.only in one.name]
    rows = earlier(given.output) if given.only else {}
    # Begun anew: in a copy of this process polars would wait for threads that it does not have.
    begun = get_context("spawn")
    with ProcessPoolExecutor(max_workers=given.workers, mp_context=begun) as pool:
        for name, row in pool.map(_row, wanted, [given.runs] * len(wanted)):
            print(row, flush=True)
            rows[name] = row
    given.output.write_text("\n".join(page(rows, given.runs)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
