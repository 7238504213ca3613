"""Kills real audits and reports at random moments, and checks that nothing is lost, doubled or torn.

    python tests/runs/soak.py --kills 1000

Half of the victims are killed by the clock, the others before a random one of their operations on
files. Each is a child of a process that has imported everything and done nothing, so that it starts
at once; it is a process of its own, and SIGKILL ends it as any other. Where a victim was not killed,
it has finished: its files are then compared with those of an undisturbed run, and the next one
begins anew.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

TESTS = Path(__file__).parent.parent
AT_ONCE = 64
OPERATIONS = {"open", "os.rename", "os.mkdir", "os.remove", "os.truncate", "os.listdir"}
LEFT = re.compile(r"\.goffman-[0-9a-f]{32}\.tmp")


def masked(folder: Path, model: str) -> None:
    """A masked model on a few prompts, some of them in three steps."""
    from goffman.pipeline import AskOptions, audit

    options = AskOptions(controls=False, limit=4, batch_size=4)
    audit([model], instruments=["care-seeking", "attribution"], output=folder, options=options)


def reported(folder: Path, model: str) -> None:
    """A run whose report is soon written."""
    from goffman.pipeline import AskOptions, audit

    audit(
        [model],
        instruments=["care-seeking"],
        output=folder,
        options=AskOptions(controls=False, limit=4),
    )


def chat(folder: Path, model: str) -> None:
    """A chat model behind a real server, many questions at once."""
    from goffman.models.base import Calling
    from goffman.options import ChatOptions
    from goffman.pipeline import AskOptions, audit

    options = AskOptions(
        modes=("ask",),
        controls=False,
        settings={"coreference.pairs": 12, "coreference.adjectives": ["none"]},
        chats=ChatOptions(calling=Calling(concurrency=AT_ONCE)),
    )
    audit([model], instruments=["coreference"], output=folder, options=options)


def report(folder: Path, _: str) -> None:
    """The page, figures and tables of a run."""
    from goffman.report.write import write_report

    write_report(folder)


@dataclass
class Victim:
    """One kind of work that is killed and taken up again."""

    name: str
    work: object
    model: str
    folder: Path
    start: Path | None = None
    """What the folder holds before the first process; None: nothing."""
    expected: dict[str, object] = field(default_factory=dict)
    seconds: float = 0.0
    """That an undisturbed process takes."""
    operations: int = 0
    """On files, of an undisturbed process."""
    kept: frozenset[str] = frozenset()
    """Answers that were on disk after the last kill."""
    tally: Counter[str] = field(default_factory=Counter)

    def begin(self) -> None:
        """The folder is as it was before the first process."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.kept = frozenset()
        if self.start:
            shutil.copytree(self.start, self.folder)

    def undisturbed(self) -> None:
        """Knows what a run ends with that nothing happened to."""
        self.begin()
        counted = self.folder.with_suffix(".operations")
        began = time.monotonic()
        code = ended(born(self, lambda: count_operations(counted)))
        self.seconds = time.monotonic() - began
        if code:
            sys.exit(f"{self.name}: the undisturbed process ended with {code}; see {log(self)}")
        self.operations = int(counted.read_text())
        self.expected = found_in(self.folder)
        self.begin()

    def disturbed(self, moments: random.Random) -> bool:
        """Whether the process was killed; one that was not has ended as it should."""
        by_clock = moments.random() < 0.5
        last = moments.randint(1, self.operations)
        child = born(self, (lambda: None) if by_clock else (lambda: die_before(last)))
        if by_clock:
            time.sleep(moments.uniform(0, self.seconds))
            os.kill(child, signal.SIGKILL)
        code = ended(child)
        if code == -signal.SIGKILL:
            self.tally["by the clock" if by_clock else "at an operation"] += 1
            self.check_kept()
            return True
        if code:
            sys.exit(f"{self.name}: a process ended with {code}; see {log(self)}")
        self.check_finished()
        return False

    def check_kept(self) -> None:
        """No answer that was on disk is gone."""
        now = answers_in(self.folder)
        if lost := self.kept - now:
            sys.exit(f"{self.name}: lost after a kill: {sorted(lost)[:3]}")
        self.kept = now

    def check_finished(self) -> None:
        """The run is as an undisturbed one; the next one begins anew."""
        self.tally["finished"] += 1
        found = found_in(self.folder)
        names = {*found, *self.expected}
        differing = sorted(n for n in names if found.get(n) != self.expected.get(n))
        if differing:
            sys.exit(f"{self.name}: not as an undisturbed run: {differing}; see {self.folder}")
        self.begin()


def born(victim: Victim, prepare: object) -> int:
    """The id of a child that does the work."""
    child = os.fork()
    if child:
        return child
    with log(victim).open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    try:
        prepare()
        victim.work(victim.folder, victim.model)
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def log(victim: Victim) -> Path:
    return victim.folder.with_suffix(".log")


def die_before(last: int) -> None:
    """From now on the process is killed before its operation of this number."""
    left = last

    def hook(event: str, _: object) -> None:
        nonlocal left
        if event in OPERATIONS:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def count_operations(path: Path) -> None:
    """From now on the file says how many operations the process has done."""
    file = path.open("w")
    count = 0

    def hook(event: str, _: object) -> None:
        nonlocal count
        if event in OPERATIONS:
            count += 1
            os.pwrite(file.fileno(), str(count).encode(), 0)

    sys.addaudithook(hook)


def answers_in(run: Path) -> frozenset[str]:
    """Every part, and every whole line of a journal."""
    found = {str(path.relative_to(run)) for path in run.glob("answers/**/*.parquet")}
    for path in run.glob("answers/**/journal"):
        found |= set(path.read_text().splitlines(keepends=True))
    return frozenset(line for line in found if not line.endswith("\n") or " " in line)


def found_in(run: Path) -> dict[str, object]:
    """All files of a run but what tells the time: a journal's lines in any order, each once."""
    found: dict[str, object] = {}
    for path in run.rglob("*"):
        name = str(path.relative_to(run))
        if not path.is_file() or name == "lock":
            continue
        found[name] = path.read_bytes()
        if path.name == "journal":
            found[name] = sorted(path.read_text().splitlines())
        if name == "manifest.json":
            manifest = json.loads(path.read_text())
            for told in ("wall_s", "cpu_s", "sessions"):
                del manifest[told]
            found[name] = manifest
    if left := [name for name in found if LEFT.fullmatch(Path(name).name)]:
        sys.exit(f"{run} has files that were never finished: {left}")
    return found


def imported_by(work: object, *arguments: object) -> list[str]:
    """The modules that the work needs, in the order in which a child imported them."""
    with tempfile.NamedTemporaryFile("r") as names:
        child = os.fork()
        if not child:
            with suppress(SystemExit):
                work(*arguments)
            Path(names.name).write_text("\n".join(sys.modules))
            os._exit(0)
        if code := ended(child):
            sys.exit(f"{work}: the first process ended with {code}")
        return names.read().split("\n")


def warm_up(names: list[str]) -> None:
    """Imports only: a thread that were started here would be missing in every child."""
    for name in names:
        with suppress(Exception):
            importlib.import_module(name)


def made_model(folder: Path) -> str:
    from tiny_models import make

    return str(make("roberta", folder))


def soak(base: Path, server: str, *, kills: int, seed: int) -> None:
    """Raises nothing where every run came through all kills."""
    model, run = base / "model", base / "whole"
    needed = imported_by(made_model, model)
    needed += imported_by(reported, run, str(model))
    needed += imported_by(report, shutil.copytree(run, base / "reported"), "")
    needed += imported_by(chat, base / "first-chat", f"{server}#mini")
    warm_up(needed)
    victims = [
        Victim("masked", masked, str(model), base / "masked"),
        Victim("chat", chat, f"{server}#mini", base / "chat"),
        Victim("report", report, "", base / "report", start=run),
    ]
    for victim in victims:
        victim.undisturbed()
        print(f"{victim.name}: {victim.seconds:.2f} s, {victim.operations} operations", flush=True)
    moments = random.Random(seed)
    began, done = time.monotonic(), 0
    while done < kills:
        victim = moments.choices(victims, weights=(4, 4, 1))[0]
        done += victim.disturbed(moments)
        if done and done % 50 == 0:
            rate = done / (time.monotonic() - began) * 60
            print(f"{done} of {kills} kills, {rate:.0f} a minute", flush=True)
    for victim in victims:
        if code := ended(born(victim, lambda: None)):
            sys.exit(f"{victim.name}: the last process ended with {code}; see {log(victim)}")
        victim.check_finished()
        told = ", ".join(f"{count} {what}" for what, count in sorted(victim.tally.items()))
        print(f"{victim.name}: {told}", flush=True)
    rate = done / (time.monotonic() - began) * 60
    print(f"{done} kills, {rate:.0f} a minute: nothing was lost, doubled or torn.", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill audits and reports, and look what is left.")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    # One thread a process: cores are shared, and a pool of threads does not outlive a fork.
    os.environ |= {"OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    os.environ |= {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    sys.path.insert(0, str(TESTS))
    serving = [sys.executable, str(TESTS / "chat_server.py")]
    base = Path(tempfile.mkdtemp(prefix="goffman-soak-"))
    with subprocess.Popen(serving, stdout=subprocess.PIPE, text=True) as server:
        try:
            soak(base, server.stdout.readline().strip(), kills=given.kills, seed=given.seed)
        finally:
            server.kill()
    # Only here: what went wrong can be looked at.
    shutil.rmtree(base)


if __name__ == "__main__":
    main()
