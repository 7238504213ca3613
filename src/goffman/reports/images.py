"""Figures as files, with no browser: the specification, SVG, PNG and PDF."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from goffman.presentation.palette import config
from goffman.runs.store import write_changed, write_whole

if TYPE_CHECKING:
    from goffman.presentation.figure import Figure, Spec

SCALE = 2.0
"""Pixels of a PNG for each of the figure."""


def svg_of(spec: Spec) -> str:
    """The drawing of a specification, for white paper."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec, config=config()))


def write_images(
    figures: Sequence[Figure], folder: Path, *, every: bool = False
) -> tuple[dict[str, str], list[Path]]:
    """By figure the SVG as it is first shown; and the files that are now in the folder.

    ``every``: also each choice that a figure offers. A figure whose specification has not changed
    is not drawn again.
    """
    first: dict[str, str] = {}
    written: list[Path] = []
    for figure in figures:
        for number, (name, spec) in enumerate(figure.drawn()):
            if number and not every:
                break
            stem = f"{figure.id}-{_slug(name)}" if number else figure.id
            # Two models may differ only in signs that no file's name has.
            stem = f"{stem}-{number}" if folder / f"{stem}.svg" in written else stem
            svg, paths = _written(folder / stem, spec)
            first.setdefault(figure.id, svg)
            written += paths
    _forget_others(folder, written)
    return first, written


def _forget_others(folder: Path, written: Sequence[Path]) -> None:
    """Figures that were drawn before and not now are gone: their numbers may be the run's no more.

    Only what has our specification beside it is ours.
    """
    for spec in set(folder.glob("*.vl.json")) - set(written):
        for path in _paths(spec.with_name(spec.name.removesuffix(".vl.json"))).values():
            path.unlink(missing_ok=True)


def _paths(stem: Path) -> dict[str, Path]:
    return {
        kind: stem.with_name(f"{stem.name}.{kind}") for kind in ("vl.json", "svg", "png", "pdf")
    }


def _written(stem: Path, spec: Spec) -> tuple[str, list[Path]]:
    import vl_convert

    paths = _paths(stem)
    text = json.dumps({**spec, "config": config()}, ensure_ascii=False, indent=1) + "\n"
    there = all(path.exists() for path in paths.values())
    if there and paths["vl.json"].read_text(encoding="utf-8") == text:
        return paths["svg"].read_text(encoding="utf-8"), list(paths.values())
    svg = svg_of(spec)
    write_changed(paths["svg"], svg.encode())
    write_changed(paths["png"], vl_convert.svg_to_png(svg, scale=SCALE))
    write_changed(paths["pdf"], vl_convert.svg_to_pdf(svg))
    # Last: where it is there, so are the others.
    write_whole(paths["vl.json"], text.encode())
    return svg, list(paths.values())


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")[:100]


def sizes(svgs: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Width and height of each SVG."""
    for svg in svgs:
        found = re.search(r'<svg[^>]*? width="([\d.]+)"[^>]*? height="([\d.]+)"', svg)
        yield (round(float(found[1])), round(float(found[2]))) if found else (660, 300)
