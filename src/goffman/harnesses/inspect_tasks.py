"""Questions as a Python package of tasks for inspect_ai: dataset, solver and scorer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from goffman import __version__
from goffman.harnesses.folder import README, template, write_folder
from goffman.harnesses.handed import Handed
from goffman.harnesses.rows import reply_row
from goffman.models.base import Sampling
from goffman.records import InstrumentKind

VERSION = "0.3.285"
"""Of inspect_ai, that these tasks are tested with."""

KINDS: tuple[InstrumentKind, ...] = ("say", "ask", "write")
"""What inspect_ai can ask: it speaks to chat models."""

PACKAGE = "goffman_tasks"

HEADING = "# Questions of goffman for inspect_ai"

_ABOUT = f"""\
{HEADING}

Written for inspect_ai {VERSION}.

```
inspect eval {PACKAGE}/tasks.py@TASK --model openai/gpt-4o-mini
goffman read logs/FILE.eval --output runs/MODEL
```

Or install the package (`pip install .`) and run `inspect eval {PACKAGE}/TASK`. `--limit N` asks
prompts and control items in turn. The scores that inspect prints are a first look. `goffman read`
makes a run of the log, with intervals, tests and a report.

| TASK | prompts | instrument |
|---|---|---|
"""

_PROJECT = f"""\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "goffman-tasks"
version = "{__version__}"
description = "Questions of goffman as tasks for inspect_ai"
dependencies = ["inspect-ai>=0.3"]

[project.entry-points.inspect_ai]
{PACKAGE} = "{PACKAGE}.tasks"

[tool.hatch.build.targets.wheel]
packages = ["{PACKAGE}"]
"""


def write_inspect_tasks(several: Sequence[Handed], folder: Path) -> list[Path]:
    """The files, which are now in the folder; InputError where it holds something else."""
    tasks, rows = [template("inspect_tasks.py.txt")], []
    texts = {
        "pyproject.toml": _PROJECT,
        f"{PACKAGE}/__init__.py": '"""Questions of goffman as tasks for inspect_ai."""\n',
    }
    for one in several:
        name, title = one.note.instrument, one.question.instrument.title
        lines = (json.dumps(reply_row(prompt), ensure_ascii=False) for prompt in one.prompts)
        texts[f"{PACKAGE}/data/{name}.jsonl"] = "".join(f"{line}\n" for line in lines)
        texts[f"{PACKAGE}/data/{name}.json"] = _about(one)
        function = name.replace("-", "_")
        # As JSON: a title of a user's own instrument is text, whatever stands in it.
        tasks.append(
            f"@task\ndef {function}():\n    {json.dumps(title)}\n"
            f"    return questions({json.dumps(name)})\n"
        )
        rows.append(f"| {function} | {one.note.prompts:,} | {title} |\n")
    texts[f"{PACKAGE}/tasks.py"] = "\n\n".join(tasks)
    texts[README] = _ABOUT + "".join(rows)
    return write_folder(folder, texts, heading=HEADING)


def _about(one: Handed) -> str:
    """What the task is told beside its questions."""
    drawn = {name: value for name, value in asdict(Sampling()).items() if value is not None}
    told = {"note": one.note.entry(), "trials": one.question.trials, "drawn": drawn}
    return json.dumps(told, ensure_ascii=False, indent=1) + "\n"
