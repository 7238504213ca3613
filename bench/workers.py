"""CPU time of two Ray workers against that of two plain processes, on the social-distance prompts.

One thread each, the bundled model, from when all have loaded it until all is answered. CPU time,
as other work on the machine then counts little. The two take turns, and who is first, too. What
stands behind the workers is the process that writes and all of Ray's own: these calculate all the
time, so their share grows where others keep the machine busy. Needs Ray and Linux:
python bench/workers.py
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
os.environ["OMP_NUM_THREADS"] = "1"

from goffman.models.base import LoadOptions  # noqa: E402
from goffman.options import AskOptions, Listener  # noqa: E402
from goffman.pipeline import audit  # noqa: E402 - the number of threads is read by torch
from processes import children, tree  # noqa: E402
from ray_here import Cluster  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")


def seconds(pids) -> float:
    """CPU time of these processes so far."""
    found = 0.0
    for pid in pids:
        with suppress(OSError):  # one that has just ended
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            found += (int(fields[11]) + int(fields[12])) / TICKS
    return found


class Measured:
    """Seconds between the first question and the last answer."""

    def __init__(self, workers, others) -> None:
        self._workers, self._others = workers, others
        self.prefill: tuple[float, ...] | None = None
        self.ended: tuple[float, ...] = ()

    def __call__(self, _: object) -> None:
        others = time.process_time() + seconds(self._others())
        now = seconds(self._workers()), others, time.monotonic()
        self.prefill = self.prefill or now
        self.ended = now

    @property
    def taken(self) -> tuple[float, float, float]:
        """CPU time of the workers, that with all behind them, and by the clock."""
        assert self.prefill
        workers, others, clock = (b - a for a, b in zip(self.prefill, self.ended, strict=True))
        return workers, workers + others, clock


def measure(loading: LoadOptions, measured: Measured, limit: int) -> tuple[float, float, float]:
    with tempfile.TemporaryDirectory() as folder:
        audit(
            ["bundled:mini"],
            instruments=["social-distance"],
            output=Path(folder) / "run",
            loading=loading,
            options=AskOptions(controls=False, limit=limit),
            listener=Listener(progress=measured),
        )
    return measured.taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=4_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    cluster = Cluster(cores=2)
    os.environ["RAY_AUTH_TOKEN"] = cluster.token
    before = children(os.getpid())

    def processes() -> tuple[float, float, float]:
        own = Measured(lambda: set(children(os.getpid())) - set(before), set)
        return measure(LoadOptions(device="cpu,cpu"), own, given.limit)

    def actors() -> tuple[float, float, float]:
        rays = Measured(cluster.workers, lambda: tree(cluster.pid) - set(cluster.workers()))
        return measure(LoadOptions(workers=cluster.address), rays, given.limit)

    ratios: dict[str, list[float]] = {"workers alone": [], "with all behind them": []}
    try:
        for number in range(given.rounds):
            order = (actors, processes) if number % 2 else (processes, actors)
            taken = {ask: ask() for ask in order}
            plain, ray = taken[processes], taken[actors]
            for at, (name, found) in enumerate(ratios.items()):
                found.append(ray[at] / plain[at])
                said = f"processes {plain[at]:.2f} s, Ray {ray[at]:.2f} s"
                print(f"{name}: {said}, {found[-1]:.3f} times", flush=True)
            print(f"by the clock: processes {plain[2]:.0f} s, Ray {ray[2]:.0f} s", flush=True)
    finally:
        cluster.stop()
    for name, found in ratios.items():
        print(f"{name}: {median(found):.3f} times ({min(found):.3f} to {max(found):.3f})")


if __name__ == "__main__":
    main()
