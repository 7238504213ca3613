"""The cells of a notebook, run in order in one namespace, with what Jupyter would show of each.

No Jupyter is needed: the value of a cell's last line is asked for the same representations.
"""

from __future__ import annotations

import ast
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

Output = dict[str, Any]


def read_cells(notebook: Path) -> list[str]:
    """The source of every code cell."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def run_cells(sources: list[str]) -> list[list[Output]]:
    """The outputs of each cell as a notebook's file has them; what fails is raised."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    return [_run(source, namespace, count) for count, source in enumerate(sources, start=1)]


def _run(source: str, namespace: dict[str, Any], count: int) -> list[Output]:
    *lines, last = ast.parse(source).body
    printed, progress, outputs = io.StringIO(), io.StringIO(), []
    value = None
    with redirect_stdout(printed), redirect_stderr(progress):
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(lines, []), "<cell>", "exec"), namespace)
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)
        else:
            exec(compile(source, "<cell>", "exec"), namespace)
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        outputs.append(
            {
                "data": shown(value),
                "execution_count": count,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    return outputs


def shown(value: object) -> dict[str, list[str]]:
    """By their types the representations that Jupyter asks an object for."""
    found = {"text/plain": repr(value)}
    for kind, method in (("text/html", "_repr_html_"), ("image/svg+xml", "_repr_svg_")):
        if hasattr(value, method):
            found[kind] = getattr(value, method)()
    return {kind: text.splitlines(keepends=True) for kind, text in found.items()}
