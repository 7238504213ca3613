"""The way of one prompt, as docs/architecture.md shows it, is the way that it goes."""

from __future__ import annotations

import ast
import importlib
import re
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import goffman
from goffman.options import AskOptions
from goffman.pipeline import audit

if TYPE_CHECKING:
    from types import FrameType

PACKAGE = Path(goffman.__file__).parent
PAGE = Path(__file__).parents[1] / "docs/architecture.md"
MOST = 25

BESIDE = {
    "types and columns": {"instruments/types", "schemas", "models/base", "anchors/loader"}
    | {"measures/base", "stats/intervals"},
    "files, values and words of any kind": {"instruments/files", "instruments/text", "runs/files"}
    | {
        "instruments/fields",
        "runs/code_digest",
        "fingerprint",
        "validation",
        "formatting",
        "console",
        "os_support",
        "modes",
    }
    | {"plugins", "errors"},
    "options, and what is said before": {"config", "options", "progress", "forecast", "languages"}
    | {"instruments/identities", "instruments/paraphrases", "instruments/subsample"},
    "other kinds of instruments, models and modes": {"instruments/completion"}
    | {"instruments/multiple_choice", "instruments/external", "instruments/controls"}
    | {"models/causal", "models/chat_local", "models/classifier", "models/generation"}
    | {"models/server_address", "models/passage", "models/pypi_download"}
    | {"runs/recursive_masking", "parsers/registry"},
    "loading a model, and how it calculates": {"models/registry", "models/resolve", "execution"}
    | {"models/files", "models/torch_common", "models/fast_bert"}
    | {"workers/pool", "workers/protocol"},
    "the run and what lexicons it is read with": {"runs/run", "runs/manifest", "report/load"}
    | {"lexicons/lexicons", "lexicons/gender", "measures/registry"},
    "formulas that others call": {"stats/two_samples", "stats/multiple_testing"},
    "tables beside the main result": {"measures/controls", "measures/reliability"}
    | {"measures/mode_agreement", "stats/profile", "stats/jackknife"}
    | {"contrasts/correlations", "anchors/compare", "anchors/sentences"}
    | {"sensitivity/variations", "sensitivity/multiverse", "presentation/sensitivity"}
    | {"presentation/answer_style", "presentation/competence", "presentation/reliability"},
}
"""What an audit enters that is not on the way, by why."""


OPENING = {
    *("open", "fdopen", "mkstemp", "ZipFile", "read_text", "read_bytes", "write_text"),
    *("write_bytes", "read_csv", "scan_csv", "write_csv"),
    *("read_parquet", "scan_parquet", "write_parquet"),
}
"""Calls that open a file."""

OPENED_BY = {
    "a run's files and outputs, and tables in their content": {"runs/files", "runs/answers"},
    "files that users bring, within limits": {"instruments/files", "harness/logs"},
    "files of models": {"models/files", "models/pypi_download"},
    "published files": {"replicate/files", "replicate/download", "replicate/published_run"},
    "goffman's own code, pages and texts": {"runs/code_digest", "fingerprint", "report/page"}
    | {"export/paper", "export/paper_assets", "harness/export_tasks"}
    | {"presentation/vega", "presentation/section"},
    "the system: a browser, null, a summary in CI, processors": {"cli/ratings", "cli/main"}
    | {"cli/check", "workers/worker"},
}
"""The only modules that open files, by why."""


def test_files_are_opened_in_few_places_and_those_of_a_run_in_one() -> None:
    opening = set()
    for path in PACKAGE.rglob("*.py"):
        calls = [
            node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)
        ]
        names = {getattr(call.func, "attr", None) for call in calls}
        names |= {call.func.id for call in calls if isinstance(call.func, ast.Name)} & {"open"}
        if names & OPENING:
            opening.add(path.relative_to(PACKAGE).with_suffix("").as_posix())
    assert sorted(opening - set().union(*OPENED_BY.values())) == []


def test_benches_and_tools_name_what_there_is(monkeypatch) -> None:
    monkeypatch.syspath_prepend(PAGE.parents[1] / "bench")
    for folder in ("bench", "tools", "training"):
        for path in sorted((PAGE.parents[1] / folder).glob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("goffman"):
                    _check_names(node.module, [name.name for name in node.names])
    for module, functions in importlib.import_module("scale").STAGES.items():
        _check_names(module, functions)


def _check_names(module: str, names: Iterable[str]) -> None:
    loaded = importlib.import_module(module)
    assert [name for name in names if not hasattr(loaded, name)] == [], module


def test_the_way_of_one_prompt_is_the_one_on_the_page(tmp_path: Path) -> None:
    way = re.findall(r"`(\w+(?:/\w+)?)`(?= →| \|)", PAGE.read_text(encoding="utf-8"))
    way = [name for name in way if (PACKAGE / f"{name}.py").is_file()]
    assert len(way) == len({*way}) <= MOST
    # Answers are asked for in other threads, too.
    entered = _entered(tmp_path / "run")
    assert {*way} <= entered
    assert sorted(entered - {*way} - set().union(*BESIDE.values())) == []


def _entered(output: Path) -> set[str]:
    """Return the modules of which a function is called in an audit of one masked model."""
    entered: set[str] = set()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename not in seen:
            seen.add(code.co_filename)
            path = Path(code.co_filename)
            if path.is_relative_to(PACKAGE):
                entered.add(path.relative_to(PACKAGE).with_suffix("").as_posix())

    seen: set[str] = set()
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        audit(
            ["bundled:mini"],
            instruments=["social-distance"],
            output=output,
            options=AskOptions(limit=102),
        )
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return entered
