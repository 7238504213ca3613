"""Figures as files, with no browser: the specification, SVG, PNG and PDF."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from goffman.presentation.palette import config

if TYPE_CHECKING:
    from goffman.presentation.figure import Figure, Spec
    from goffman.runs.files import Folder

DRAWN = ("svg", "png", "pdf")
"""How the files end that are drawn from a specification."""

ENDINGS = ("vl.json", *DRAWN)

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
            written += [f"{stem}.{kind}" for kind in ENDINGS]
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
        for kind in reversed(ENDINGS):
            if f"{stem}.{kind}" in there:
                folder.remove(f"{stem}.{kind}")


def _written(folder: Folder, stem: str, spec: Spec) -> str:
    """The figure's SVG; all its files are in the folder."""
    import vl_convert

    before = {kind: folder.read(f"{stem}.{kind}") or b"" for kind in DRAWN}
    if before["pdf"] and folder.read(f"{stem}.vl.json") == _text(spec, before):
        return before["svg"].decode()
    svg = svg_of(spec)
    drawn = {
        "svg": svg.encode(),
        "png": vl_convert.svg_to_png(svg, scale=SCALE),
        "pdf": vl_convert.svg_to_pdf(svg),
    }
    for kind, content in drawn.items():
        folder.write(f"{stem}.{kind}", content)
    folder.write(f"{stem}.vl.json", _text(spec, drawn))
    return svg


def _text(spec: Spec, drawn: Mapping[str, bytes]) -> bytes:
    """The specification's file; it says which drawings are made from it.

    But for the PDF, which says when it was drawn: two runs have the same specification.
    """
    sums = {kind: hashlib.sha256(drawn[kind]).hexdigest() for kind in ("svg", "png")}
    whole = {**spec, "config": config(), "usermeta": {"sha256": sums}}
    return (json.dumps(whole, ensure_ascii=False, indent=1) + "\n").encode()


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")[:100]


def sizes(svgs: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Width and height of each SVG."""
    for svg in svgs:
        found = re.search(r'<svg[^>]*? width="([\d.]+)"[^>]*? height="([\d.]+)"', svg)
        yield (round(float(found[1])), round(float(found[2]))) if found else (660, 300)
