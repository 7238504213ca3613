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
from goffman.contrasts.verdict import ANCHORED, CORRELATIONS, direction
from goffman.estimates import PRIMARY
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
        clear.append(any(direction(row) for row in rows.iter_rows(named=True)))
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


def page(rows: Mapping[str, str]) -> Iterator[str]:
    """The lines of bench/calibration.md."""
    yield "# How often “clear” is false, and how often it is found: `make calibrate`"
    yield ""
    yield from ABOUT
    yield ""
    yield "| contrast | none | as found | doubled | audits | true difference | power |"
    yield "|---|---|---|---|---|---|---|"
    yield from (rows[one.name] for one in SCENARIOS if one.name in rows)


ABOUT = (
    "Simulated audits, through `estimates()`, with variance components like those of the bundled "
    "model's audits and of the published replies of gpt-3.5-turbo (as found), with nothing that "
    "would differ with other sentences (none), and with twice as much (doubled). Rows in bold are "
    "of contrasts that a heading is drawn from. Each cell: share of single tests with p < .05 / "
    "share of audits in which anything is called clear after its correction / share of 95% "
    "intervals that hold the truth. A dash: the sentences are taken as given, and nothing of "
    "others is drawn.",
    "",
    "*audits*: how many the cell *as found* is of. In bold rows the two others are of at least a "
    "fifth as many, elsewhere of as many. By chance of the simulation, a share of .05 has this 95% "
    "interval (Wilson): .038 to .065 in 1,000 audits, .027 to .090 in 200, .014 to .165 in 40. So "
    "rows of 40 audits show only gross faults: there a share of .00 can be as much as .088. Where "
    "an audit has several tests, the interval of single ones is narrower. Power: share of audits, a tenth as many, in which anything is called clear "
    "where there is a true difference. For coreference and options it is in logits, for settings "
    "the share of replies moved, for correlations r.",
    "",
    "What lies outside .03 to .07, and why:",
    "",
    "- Too careful: bias and preference over sentence pairs where pairs share nothing (none), "
    "because the clustered variance is not let fall below that of its largest way; single "
    "conditions and everything else over tables of items × wordings where nothing but single "
    "answers varies (none), for the like reason; disorders against daily troubles, because three "
    "descriptions leave few degrees of freedom; and what is clustered by few items (two orders, "
    "each question in one), because the degrees of freedom are those of the items.",
    "- With one description of daily troubles, taken as given, 18 of 100 null audits would be "
    "false if such descriptions differ as those of disorders do (SD .05), and 40 if they differ "
    "twice as much. So there are three, taken as a sample.",
    "- Wordings that go in turn, each question in one, are taken as given: the report says that "
    "their effect is unknown. The rows *said* are drawn so. With other wordings as random as other "
    "items, decisions had 6 of 100 false (as found) to 11 (doubled).",
    "- Before questions that go in turn were clustered by item, decisions had 9 (as found) to 17 "
    "(doubled) of 100 false, and two orders, each question in one, 17 to 36.",
    "- Cells of 400 audits or fewer at .070 to .080 (care-seeking, preference and attribution as a "
    "choice doubled, two wordings) are within two standard errors of .05. Run 1,000 "
    "times, the doubled ones gave .059, .058 and .052, with coverage .941, .942 and .948; two "
    "wordings gave .058 or .059 in an earlier run.",
    "- Correlations within groups: .067 of single tests and .928 of intervals in 600, near the "
    "edge; the interval of the 29 is a bootstrap's, which is somewhat narrow.",
)


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
    given.output.write_text("\n".join(page(rows)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
