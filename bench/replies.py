"""How fast and how lean replies are asked for and kept: the whole coreference audit, five trials.

    python bench/replies.py [--pairs 395] [--trials 5] [--concurrency 64]

12,640 prompts × 5 trials against a server on loopback that answers at once, in a process of its
own: requests a second by the clock and by CPU time, and the memory while it goes on.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import PromptOptions, render
from goffman.models.base import Calling, Sampling
from goffman.models.resolve import load
from goffman.runs.collect_replies import ChatJob, ask_replies
from goffman.runs.manifest import model_entry, with_model
from goffman.runs.run import open_run, read_answers

SERVER = Path(__file__).parents[1] / "tests" / "chat_server.py"
PAGE = os.sysconf("SC_PAGE_SIZE") / 1e6
TICKS = os.sysconf("SC_CLK_TCK")


def rss() -> float:
    """Megabytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def cpu_of(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Memory:
    """Looks at the memory of this process now and then."""

    def __init__(self, every: float = 1.0) -> None:
        self.seen: list[float] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, args=(every,), daemon=True)
        self._thread.start()

    def _look(self, every: float) -> None:
        while not self._ended.wait(every):
            self.seen.append(rss())

    def end(self) -> list[float]:
        self._ended.set()
        self._thread.join()
        return self.seen


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=395)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--concurrency", type=int, default=64)
    given = parser.parse_args()
    prompts = render(load_instrument("coreference"), PromptOptions(pairs=given.pairs)).prompts
    command = [sys.executable, str(SERVER)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        model = load(
            f"{server.stdout.readline().strip()}#mini",
            kind="chat",
            calling=Calling(concurrency=given.concurrency),
        )
        try:
            with tempfile.TemporaryDirectory() as temporary:
                measure(model, prompts, given.trials, Path(temporary) / "run", server.pid)
        finally:
            server.kill()


def measure(model, prompts, trials, folder, pid) -> None:  # type: ignore[no-untyped-def]
    print(f"{len(prompts):,} prompts × {trials} trials; {rss():.0f} MB before")
    memory, served = Memory(), cpu_of(pid)
    start, used = time.perf_counter(), time.process_time()
    with open_run(folder) as run:
        name = model.identity.name
        entry = model_entry(model.identity, sampling=Sampling(), seed=0)
        run.manifest = with_model(run.manifest, folder, name=name, entry=entry)
        job = ChatJob(
            run=run,
            instrument="coreference",
            prompts=prompts,
            trials=trials,
            seed=0,
            watch=lambda _: None,
        )
        asked = ask_replies(job, model)
    wall, cpu = time.perf_counter() - start, time.process_time() - used
    served = cpu_of(pid) - served
    seen = memory.end()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    count = asked.asked_now
    print(f"{count:,} replies in {wall:.1f} s: {count / wall:.0f} a second by the clock")
    print(f"CPU: ours {cpu:.1f} s ({count / cpu:.0f} a second), the server's {served:.1f} s")
    steps = [seen[n * (len(seen) - 1) // 10] for n in range(11)] if len(seen) > 1 else seen
    print("MB over time:", " ".join(f"{value:.0f}" for value in steps), f"most {peak:.0f}")
    replies = read_answers(folder, "replies")
    assert replies.height == len(prompts) * trials
    assert replies["text"].null_count() == 0
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{size / 1e6:.1f} MB on disk")


if __name__ == "__main__":
    main()
