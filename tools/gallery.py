"""Write docs/gallery.md and its pictures: what goffman draws, from the run of `make demo`.

.venv/bin/python tools/gallery.py [RUN]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from goffman.export.paper import PaperFigure, paper_figures
from goffman.report.figures import figures_of
from goffman.report.load import read_run

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "pictures" / "gallery"

SHOWN = {
    "social-distance-conditions": "Which conditions are above the other group",
    "social-distance-wordings": "The same question in other words",
    "social-distance-categories": "Groups of conditions side by side",
    "care-seeking-disparities": "Women and men with the same diagnosis",
    "attribution-disparities": "A scale with subscales",
    "coreference-pronouns-against-baseline": "What single adjectives do",
    "people-sentiment-conditions": "A sentiment classifier",
    "social-distance-analyses": "The same answers in other analyses",
    "social-distance-measures-together": "A model, and the classifier made from it",
    "social-distance-beside-people-pachankis2018": "A model compared with people",
}
"""The figures that are shown, and the heading of each."""

LONGEST = 300
"""Letters of an alt text: a screen reader cannot be skimmed."""

HEAD = (
    "# Gallery",
    (
        "These figures show an audit of the two small models that ship with goffman "
        "(`make demo`, then `goffman stress runs/demo`). The text under each figure says how to "
        "read it. In the report, point at a mark to see its numbers. Select it to see the prompts "
        "and answers behind it."
    ),
    (
        "`goffman export --to figures` writes every figure as SVG, PNG and PDF. In Python, "
        "`run.figure(name)` "
        "gives you [one of them](python.md#run)."
    ),
)


def main(run: Path) -> None:
    """Write the page and its pictures."""
    measured = read_run(run)
    drawn = {one.name: one for one in paper_figures(measured)}
    read = {one.id: one.description for one in figures_of(measured)}
    if missing := SHOWN.keys() - drawn.keys():
        raise SystemExit(f"{run} has no figure {', '.join(sorted(missing))}.")
    PICTURES.mkdir(parents=True, exist_ok=True)
    for old in PICTURES.glob("*.svg"):
        old.unlink()
    parts = list(HEAD)
    for name, heading in SHOWN.items():
        svg = dict(drawn[name].files())[f"{name}.svg"]
        (PICTURES / f"{name}.svg").write_bytes(svg)
        picture = f"![{alt_of(drawn[name])}](pictures/gallery/{name}.svg)"
        parts += [f"## {heading}", picture, read[name]]
    PAGE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def alt_of(figure: PaperFigure) -> str:
    """Return what the figure shows and what was found, in whole sentences without markup."""
    sentences = re.split(r"(?<=[.:]) (?=[A-Z“])", figure.alt)
    said = sentences[0]
    for one in sentences[1:]:
        if len(said) + len(one) >= LONGEST:
            break
        said = f"{said} {one}"
    return re.sub(r"[\[\]]", "", said)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/demo"))
