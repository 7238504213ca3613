"""How often intervals exclude 0 by mistake, hold the truth and find it: simulated audits.

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

import outside_audits
import simulated_cells
import simulated_choices
import simulated_conditions
import simulated_pairs
import simulated_people
from goffman.contrasts.engine import PRIMARY
from goffman.contrasts.verdict import ANCHORED, CORRELATIONS, direction
from simulated import SIZES, Scenario

PAGE = Path(__file__).parent.parent / "bench" / "calibration.md"

HEADS = ("| contrast |", "| scenario |")

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
    """Audits in which the interval of any contrast excludes 0."""
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
        rows = scenario.draw(rng, size, real).filter(kind=scenario.kind)
        if scenario.heading:
            rows = rows.filter(family=PRIMARY)
        single += [p < 0.05 for p in rows["p"].drop_nulls()]
        untested += rows["p"].is_null().to_list() or [True]
        clear.append(any(direction(row) for row in rows.iter_rows(named=True)))
        covered += [low <= 0.0 <= high for low, high in rows.select(ends).drop_nulls().rows()]
    return Rates(
        single=float(np.mean(single or [0.0])),
        clear=float(np.mean(clear)),
        covered=float(np.mean(covered or [0.0])),
        untested=float(np.mean(untested)),
    )


def _row(name: str, runs: int) -> tuple[str, str]:
    if name in outside_audits.SCENARIOS:
        return name, outside_audits.rates(name, runs)
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
    rows = [line for line in lines if line.startswith("| ") and not line.startswith(HEADS)]
    return {line.split(" | ")[0].removeprefix("| ").strip("*"): line for line in rows}


def page(rows: Mapping[str, str]) -> Iterator[str]:
    """The lines of bench/calibration.md."""
    yield "# How often an interval excludes 0 by mistake, and how often rightly: `make calibrate`"
    yield ""
    yield from ABOUT
    yield ""
    yield "| contrast | none | as found | doubled | audits | true difference | power |"
    yield "|---|---|---|---|---|---|---|"
    yield from (rows[one.name] for one in SCENARIOS if one.name in rows)
    yield from ("", "## Drawn by others", "", *OUTSIDE, "")
    yield "| scenario | false findings | coverage at Δ | negligible at a true Δ | power at Δ |"
    yield "|---|---|---|---|---|"
    yield from (rows[name] for name in outside_audits.SCENARIOS if name in rows)


OUTSIDE = (
    "The generators of these audits were written from the definitions alone, by a language model "
    "that had not seen the code (`tests/outside_generators.py`); 1,000 audits at a true 0 and "
    "1,000 at a true Δ. The first run found that women and men described alike were compared with "
    "their three wordings taken as fixed (.127 false); they are sampled now. In the first two rows "
    "of vignettes disorders are fixed and texts drawn within them; in the third both are drawn, and "
    "disorders are taken as categories that are sampled, as in social distance.",
    "",
    "Two rows lie at the edge of what may be. In 4,000 further audits at Δ each, the interval held "
    "the truth in .942 (pronoun_pairs) and .940 (social_ceiling), and a true Δ was called "
    "negligible in .055 and .076.",
)

ABOUT = (
    "Simulated audits, through `estimates()`, with variance components like those of the bundled "
    "model's audits and of the published replies of gpt-3.5-turbo (as found), with nothing that "
    "would differ with other sentences (none), and with twice as much (doubled). The 93 and 29 "
    "conditions have their real categories, of which those in one are alike: with an intraclass "
    "correlation of 0 (none), .37 (as found) and .6 (doubled). Rows in bold are of contrasts that a "
    "heading is drawn from. Each cell: share of single tests with p < .05 / share of audits in "
    "which any interval, in a list the corrected one, excludes 0 / share of intervals that hold the "
    "truth. A dash: the sentences are taken as given, and nothing of others is drawn.",
    "",
    "*audits*: how many the cell *as found* is of. In bold rows the two others are of at least a "
    "fifth as many, elsewhere of as many. By chance of the simulation, a share of .05 has this 95% "
    "interval (Wilson): .038 to .065 in 1,000 audits, .027 to .090 in 200, .017 to .112 in 100. "
    "Where an audit has several tests, the interval of single ones is narrower. Power: share of "
    "audits, a tenth as many, in which any interval excludes 0 where there is a true difference. "
    "For coreference and options it is in logits, for settings the share of replies moved, for "
    "correlations r.",
    "",
    "Wordings that go in turn, each question in one, are taken as given: the report says that "
    "their effect is unknown. The rows *said* are drawn so.",
)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--output", type=Path, default=PAGE)
    parser.add_argument("--only", default="", help="renew the rows with this in their name")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    given = parser.parse_args()
    every = [*(one.name for one in SCENARIOS), *outside_audits.SCENARIOS]
    wanted = [name for name in every if given.only in name]
    rows = earlier(given.output) if given.only else {}
    # Begun anew: in a copy of this process polars would wait for threads that it does not have.
    begun = get_context("spawn")
    with ProcessPoolExecutor(max_workers=given.workers, mp_context=begun) as pool:
        for name, row in pool.map(_row, wanted, [given.runs] * len(wanted)):
            print(row, flush=True)
            rows[name] = row
    given.output.write_text("\n".join(page(rows)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
