"""The notebook of docs/: its cells run in order, and what it shows is what they give.

No Jupyter is needed: the value of a cell's last line is asked for the same representations.
"""

from __future__ import annotations

import ast
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from doc_pages import ROOT

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"

Output = dict[str, Any]


def run_cell(source: str, namespace: dict[str, Any], count: int) -> list[Output]:
    """The outputs of a cell as a notebook's file has them; what fails is raised."""
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


@pytest.mark.slow
def test_the_notebook_runs_from_top_to_bottom(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    cells = [cell for cell in whole["cells"] if cell["cell_type"] == "code"]
    namespace: dict[str, Any] = {"__name__": "__main__"}
    outputs = [
        run_cell("".join(cell["source"]), namespace, count)
        for count, cell in enumerate(cells, start=1)
    ]
    if request.config.getoption("--renew-golden"):
        for count, (cell, shown) in enumerate(zip(cells, outputs, strict=True), start=1):
            cell["outputs"], cell["execution_count"] = shown, count
        text = json.dumps(whole, ensure_ascii=False, indent=1)
        NOTEBOOK.write_text(f"{text}\n", encoding="utf-8")
    kinds = [[[*one.get("data", ["stream"])] for one in shown] for shown in outputs]
    assert kinds == [[[*one.get("data", ["stream"])] for one in cell["outputs"]] for cell in cells]
    assert ["text/plain", "text/html"] in kinds[1]
    assert ["text/plain", "image/svg+xml"] in kinds[-2]
    # Numbers may differ in the last digit from one machine to the next; what is said may not.
    assert kept(outputs[2]) == kept(cells[2]["outputs"])


def kept(shown: list[dict]) -> str:
    """What was printed, up to the first number."""
    return "".join(shown[0]["text"]).partition("0.")[0]


def test_the_notebook_names_no_folder_of_a_machine() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert '"outputs": []' in text  # the cell that only imports
    assert "/tmp" not in text
    assert "/home" not in text
    assert len(text) < 300_000
