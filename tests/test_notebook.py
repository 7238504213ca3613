"""The notebook of docs/: its cells run in order, and what it shows is what they give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from doc_pages import ROOT
from notebook_cells import read_cells, run_cells

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


@pytest.mark.slow
def test_the_notebook_runs_from_top_to_bottom(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outputs = run_cells(read_cells(NOTEBOOK))
    whole = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    cells = [cell for cell in whole["cells"] if cell["cell_type"] == "code"]
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
