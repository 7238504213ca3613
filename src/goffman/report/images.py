"""Figures drawn without a browser: SVG, and PDF from it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from goffman.console import printable
from goffman.presentation.vega import config

if TYPE_CHECKING:
    from goffman.presentation.vega import Spec

_REFERENCE = re.compile(rb"(\d+) 0 R\b")
_ENTRIES = re.compile(rb"(?:^ */\w+ \d+ 0 R\n){2,}", re.MULTILINE)
"""Neighboring lines of a dictionary, each a name and an object's number."""


def pdf_of(svg: str) -> bytes:
    """Return the SVG as a PDF; the same SVG gives the same bytes."""
    import vl_convert

    return in_one_order(vl_convert.svg_to_pdf(svg))


def in_one_order(pdf: bytes) -> bytes:
    """Return the same PDF with its dictionaries sorted, and its objects in the order of their use.

    The library numbers fonts, and lists what a page uses, in a different order each time.
    """
    end = int(pdf.rsplit(b"startxref\n", 1)[1].split()[0])
    table, trailer = pdf[end:].rsplit(b"startxref\n", 1)[0].split(b"trailer\n")
    starts = sorted(int(line.split()[0]) for line in table.splitlines() if line.endswith(b" n"))
    objects = {}
    for start, stop in zip(starts, [*starts[1:], end], strict=True):
        number, _, body = pdf[start:stop].partition(b" 0 obj\n")
        head, stream, content = body.partition(b">>\nstream\n")
        objects[int(number)] = _ENTRIES.sub(_sorted, head), stream + content
    numbers: dict[int, int] = {}
    _follow(trailer, objects, numbers)
    output, places = pdf[: starts[0]], []
    for old, new in numbers.items():
        places.append(len(output))
        head, tail = objects[old]
        output += b"%d 0 obj\n%b%b" % (new, _renumbered(head, numbers), tail)
    lines = [b"%010d 00000 n\r\n" % place for place in places]
    count = len(places) + 1
    table = b"xref\n0 %d\n0000000000 65535 f\r\n%b" % (count, b"".join(lines))
    trailer = re.sub(rb"/Size \d+", b"/Size %d" % count, _renumbered(trailer, numbers))
    return output + table + b"trailer\n%bstartxref\n%d\n%%%%EOF" % (trailer, len(output))


def _sorted(found: re.Match[bytes]) -> bytes:
    return b"".join(sorted(found[0].splitlines(keepends=True)))


def _follow(
    text: bytes, objects: Mapping[int, tuple[bytes, bytes]], numbers: dict[int, int]
) -> None:
    """Give every object that the text leads to a new number, in the order in which it is met."""
    for match in _REFERENCE.finditer(text):
        number = int(match[1])
        if number not in numbers:
            numbers[number] = len(numbers) + 1
            _follow(objects[number][0], objects, numbers)


def _renumbered(text: bytes, numbers: Mapping[int, int]) -> bytes:
    return _REFERENCE.sub(lambda match: b"%d 0 R" % numbers[int(match[1])], text)


_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Characters that XML cannot hold."""


def svg_of(spec: Spec) -> str:
    """Return the drawing of a specification, for white paper; the same one gives the same text."""
    import vl_convert

    svg = str(vl_convert.vegalite_to_svg(spec, config=config()))
    return _with_own_ids(_NOT_XML.sub(lambda match: printable(match[0]), svg))


_CLIP = re.compile(r'(<clipPath id="|<g class="[^"]*" clip-path="url\(#)clip(\d+)')
"""Where a drawing defines, and uses, a clip path."""


def _with_own_ids(svg: str) -> str:
    """Return the SVG with ids made from itself: the library counts them over all that it draws.

    On a page with other drawings, the ids must still be this one's alone.
    """
    digest = hashlib.sha256(_CLIP.sub(r"\1", svg).encode()).hexdigest()[:8]
    numbers: dict[str, int] = {}
    return _CLIP.sub(
        lambda match: f"{match[1]}clip-{digest}-{numbers.setdefault(match[2], len(numbers))}", svg
    )


def sizes(svgs: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the width and height of each SVG."""
    for svg in svgs:
        match = re.search(r'<svg[^>]*? width="([\d.]+)"[^>]*? height="([\d.]+)"', svg)
        yield (round(float(match[1])), round(float(match[2]))) if match else (660, 300)
