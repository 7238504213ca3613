"""CPU time of two Ray workers against that of two plain processes, on the social-distance prompts.

One thread each, the bundled model, from when all have loaded it until all is answered. CPU time,
as other work on the machine then counts little. Needs Ray and Linux: python bench/workers.py
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
os.environ["OMP_NUM_THREADS"] = "1"

from goffman.flow import audit  # noqa: E402 - the number of threads is read by torch
from goffman.models.base import LoadOptions  # noqa: E402
from goffman.options import AskOptions, Listener  # noqa: E402
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
    """CPU time between the first question and the last answer."""

    def __init__(self, workers, others) -> None:
        self._workers, self._others = workers, others
        self.begun: tuple[float, float] | None = None
        self.ended = (0.0, 0.0)

    def __call__(self, _: object) -> None:
        now = seconds(self._workers()), time.process_time() + seconds(self._others())
        self.begun = self.begun or now
        self.ended = now

    @property
    def taken(self) -> tuple[float, float]:
        assert self.begun
        workers, others = (b - a for a, b in zip(self.begun, self.ended, strict=True))
        return workers, workers + others


def measure(loading: LoadOptions, measured: Measured, limit: int) -> tuple[float, float]:
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
    try:
        for _ in range(given.rounds):
            own = Measured(lambda: set(children(os.getpid())) - set(before), set)
            plain = measure(LoadOptions(device="cpu,cpu"), own, given.limit)
            everything = lambda: tree(cluster.pid) - set(cluster.workers())  # noqa: E731
            rays = Measured(cluster.workers, everything)
            ray = measure(LoadOptions(workers=cluster.address), rays, given.limit)
            print(
                f"workers alone: processes {plain[0]:.2f} s, Ray {ray[0]:.2f} s, "
                f"{ray[0] / plain[0]:.3f} times; with all that stands behind them: "
                f"{plain[1]:.2f} s, {ray[1]:.2f} s, {ray[1] / plain[1]:.3f} times",
                flush=True,
            )
    finally:
        cluster.stop()


if __name__ == "__main__":
    main()
