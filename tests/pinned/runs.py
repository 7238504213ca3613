"""Small runs of made models in every response mode, and what goffman says of them.

Run as a program, with the respondents installed, it puts every run under the folder that it is
given, and beside each its tables and texts as they are pinned: see test_pinned.py.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import polars as pl

import goffman
from few_conditions import with_fewer
from goffman.presentation.findings import findings_of
from goffman.presentation.table_formats import markdown_text
from goffman.report.summary import main_results, screen
from goffman.report.table_files import tables_of
from in_process import goffman as command

PRONOUNS = {
    "settings": {
        "coreference.pairs": 12,
        "coreference.adjectives": ["tough,understanding", "old,", ",political"],
    }
}
BOTH = ("made-masked:0", "made-masked:1")
CHAT = ("made-chat:0", "made-chat:1")

RUNS = {
    "masked": (BOTH, ("social-distance", "care-seeking", "attribution"), {"controls": False}),
    "masked-after": (BOTH, ("social-distance", "care-seeking"), {"controls": False}),
    "pronouns": (
        ("made-masked:0", "made-causal:1"),
        ("coreference",),
        {"controls": False, "modes": ("pronouns",), **PRONOUNS},
    ),
    "classifier": (
        ("made-masked:1", "made-classifier:1"),
        ("social-distance", "people-sentiment"),
        {"correlate": ("made-masked:1=made-classifier:1",)},
    ),
    "paraphrases": (
        ("made-masked:1",),
        ("social-distance", "care-seeking"),
        {"controls": False, "paraphrases": True},
    ),
    "causal": (
        ("made-causal:1",),
        ("social-distance", "care-seeking", "people-sentiment", "attribution", "coreference"),
        {"controls": False, **PRONOUNS},
    ),
    "chat": (
        CHAT,
        ("social-distance", "care-seeking", "people-sentiment", "attribution"),
        {"trials": 2},
    ),
    "chat-pairs": (CHAT, ("coreference",), {"trials": 3, **PRONOUNS}),
    "chat-people": (("made-chat:1",), ("vignettes", "decisions"), {"sample": "all"}),
    "anchored": (
        ("made-masked:1", "made-causal:0"),
        ("wide/social-distance", "coreference"),
        {"controls": False, "modes": ("fill", "pronouns"), "settings": {"coreference.pairs": 60}},
    ),
    "ratings": (("made-masked:1",), ("social-distance",), {"ratings": "ratings.csv"}),
}
"""By name: models, instruments, and further options of goffman.audit."""

STRESSED = ("masked", "classifier", "chat-pairs")
"""Runs whose other analyses are pinned too."""


def _know(prompts: pl.DataFrame, path: Path) -> None:
    """Write what each text that was asked is about, for the respondents."""
    key = json.loads(path.read_text()) if path.exists() else {}
    for row in prompts.iter_rows(named=True):
        known = {name: row[name] for name in ("group", "wording", "answer", "other", "gender")}
        known["options"] = json.loads(row["options"]) if row["options"] else None
        if row["group"] == "control":
            known["expected"] = row["answer"]
        for text in (row["text"], f"{row['text']}\x1e{row['prefill'] or ''}"):
            key.setdefault(text, known)
    path.write_text(json.dumps(key))


def _audit(name: str, folder: Path, home: Path, *, report: bool = True) -> goffman.Run:
    models, instruments, options = RUNS[name]
    paths = [home / one for one in instruments]
    told = {"output": folder, "progress": False, "report": report}
    return goffman.audit(models, instruments=paths, **told, **options)


def _tables(folder: Path, run: Path) -> None:
    for path in sorted(run.glob("*.parquet")):
        if path.name != "prompts.parquet":
            pl.read_parquet(path).write_parquet(folder / path.name)


def _texts(run: goffman.Run) -> str:
    """Return all that people read of a run, but for the page around it."""
    measured = run.measured
    lines = ["# Screen", *screen(main_results(measured.sections)), ""]
    lines += ["# Summary", run.summary, "", "# Findings"]
    for section in measured.sections.values():
        for one in findings_of(section):
            lines += [f"## {section.instrument}, {one.model}", one.heading, one.said, *one.more]
    lines += ["", "# Figures"]
    for name in run.figures:
        lines += [f"## {name}", run.figure(name).title, run.figure(name).description]
    lines += ["", "# Tables"]
    for table in sorted(tables_of(measured), key=lambda one: f"{one.name}.md"):
        rows = markdown_text(table).splitlines()
        head = [row for row in rows if row and not row.startswith("|")]
        columns = [row for row in rows if row.startswith("|")][:1]
        lines += [f"## {table.name}", *columns, *head]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _names(run: Path) -> str:
    """Return the names that a rule can use, with their verdicts, and the legend below them."""
    listed = json.loads(command("check", run, "--list", "--json").stdout)
    names = [f"{row['name']}: {row['verdict']}" for row in listed]
    legend = command("check", run, "--list").stdout.partition("\n\n")[2]
    return "\n".join(["# check --list", *names, "", legend])


def make(base: Path) -> None:
    """Make every run under the folder, twice: so the respondents know what they are asked."""
    os.chdir(base)
    Path("ratings.csv").write_text(
        "word,item,wording,rater,label,note\n"
        "time,,,ann,negative,\nnow,,,ann,negative,\nsafe,,,ann,neutral,\n"
    )
    home, key = with_fewer(base / "instruments", conditions=4, items=4), base / "key.json"
    with_fewer(home / "wide", conditions=30, items=3)
    for name in RUNS:
        _know(_audit(name, base / "first" / name, home, report=False).prompts, key)
    os.environ["PINNED_KEY"] = str(key)
    for name in RUNS:
        folder = base / "runs" / name
        os.environ["PINNED_DRAW"] = "after" if name == "masked-after" else ""
        run = _audit(name, folder, home)
        out = base / "pinned" / name
        out.mkdir(parents=True)
        if name in STRESSED:
            done = command("stress", folder, "--workers", "1")
            assert done.returncode == 0, done.stderr
            run = goffman.open_run(folder)
        _tables(out, folder)
        (out / "said.txt").write_text(f"{_texts(run)}\n{_names(folder)}")
    runs = ("runs/masked", "runs/masked-after")
    out = base / "pinned" / "compare"
    out.mkdir()
    goffman.compare(*runs).estimates.write_parquet(out / "compare.parquet")
    (out / "said.txt").write_text(command("compare", *runs).stdout)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
