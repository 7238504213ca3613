"""Figures as files, with no browser: the specification, SVG, PNG and PDF."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from goffman.reports.palette import config

if TYPE_CHECKING:
    from goffman.reports.figure import Figure, Spec
    from goffman.runs.files import Folder

KINDS = ("vl.json", "svg", "png", "pdf")
"""How the files of a figure end: the specification, and what is drawn from it."""

SCALE = 2.0
"""Pixels of a PNG for each of the figure."""


def svg_of(spec: Spec) -> str:
    """The drawing of a specification, for white paper."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec, config=config()))


def write_images(
    figures: Sequence[Figure], folder: Folder, *, every: bool = False
) -> tuple[dict[str, str], list[Path]]:
    """By figure the SVG as it is first shown; and the files that are now in the folder.

    ``every``: also each choice that a figure offers. A figure whose specification has not changed
    is not drawn again.
    """
    first: dict[str, str] = {}
    written: list[str] = []
    for figure in figures:
        for number, (name, spec) in enumerate(figure.drawn()):
            if number and not every:
                break
            stem = f"{figure.id}-{_slug(name)}" if number else figure.id
            # Two models may differ only in signs that no file's name has.
            stem = f"{stem}-{number}" if f"{stem}.svg" in written else stem
            first.setdefault(figure.id, _written(folder, stem, spec))
            written += [f"{stem}.{kind}" for kind in KINDS]
    _forget_others(folder, written)
    return first, [folder.path / name for name in written]


def _forget_others(folder: Folder, written: Sequence[str]) -> None:
    """Figures that were drawn before and not now are gone: their numbers may be the run's no more.

    Only what has our specification beside it is ours.
    """
    there = set(folder.names())
    for spec in sorted({name for name in there if name.endswith(".vl.json")} - set(written)):
        stem = spec.removesuffix(".vl.json")
        # The specification last: as long as it is there, the others are known as ours.
        for kind in reversed(KINDS):
            if f"{stem}.{kind}" in there:
                folder.remove(f"{stem}.{kind}")


def _written(folder: Folder, stem: str, spec: Spec) -> str:
    """The figure's SVG; all its files are in the folder."""
    import vl_convert

    text = json.dumps({**spec, "config": config()}, ensure_ascii=False, indent=1) + "\n"
    before = {kind: folder.read(f"{stem}.{kind}") for kind in KINDS}
    if None not in before.values() and before["vl.json"] == text.encode():
        return (before["svg"] or b"").decode()
    if before["vl.json"] is not None:
        # A process that is killed now must not leave it beside drawings of something else.
        folder.remove(f"{stem}.vl.json")
    svg = svg_of(spec)
    folder.write_changed(f"{stem}.svg", svg.encode())
    folder.write_changed(f"{stem}.png", vl_convert.svg_to_png(svg, scale=SCALE))
    folder.write_changed(f"{stem}.pdf", vl_convert.svg_to_pdf(svg))
    # Last: where it is there, so are the others.
    folder.write(f"{stem}.vl.json", text.encode())
    return svg


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")[:100]


def sizes(svgs: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Width and height of each SVG."""
    for svg in svgs:
        found = re.search(r'<svg[^>]*? width="([\d.]+)"[^>]*? height="([\d.]+)"', svg)
        yield (round(float(found[1])), round(float(found[2]))) if found else (660, 300)
