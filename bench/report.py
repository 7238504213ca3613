"""How long a run's report takes to write and to open: python bench/report.py RUN.

The figures are drawn anew each time, in a copy of the run. Opening is until the explorer can be
read and, after a jump to the first figure, until that is drawn; in Chromium, offline.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from goffman.report.write import write_report

TIMES = 3


def written(run: Path) -> str:
    """Wall and CPU seconds of one writing."""
    shutil.rmtree(run / "figures", ignore_errors=True)
    wall, cpu = time.monotonic(), time.process_time()
    write_report(run)
    return f"written {time.monotonic() - wall:.1f} s (CPU {time.process_time() - cpu:.1f} s)"


def opened(run: Path) -> str:
    """Seconds until the page can be read, and until its first figure is drawn."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        options = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox"]}
        browser = playwright.chromium.launch(**options)
        tab = browser.new_context(offline=True).new_page()
        begin = time.monotonic()
        tab.goto((run / "report.html").resolve().as_uri())
        tab.wait_for_selector("#conditions .row")
        read = time.monotonic() - begin
        tab.evaluate("document.querySelector('[data-figure]').scrollIntoView()")
        tab.wait_for_selector(".live svg.marks")
        drawn = time.monotonic() - begin
        browser.close()
    return f"opened {read:.2f} s, first figure {drawn:.2f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    given = parser.parse_args().run
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / given.resolve().name
        shutil.copytree(given, run, ignore=shutil.ignore_patterns("figures", "report.html"))
        for _ in range(TIMES):
            print(f"{written(run)}; {opened(run)}", flush=True)
        print(f"{(run / 'report.html').stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
