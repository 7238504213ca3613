"""The picture to share: the main results of a run, 1200 × 630 pixels.

The glyphs are drawn, not written: not every font has them.
"""

from __future__ import annotations

import hashlib
import textwrap
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from goffman import __version__
from goffman.contrasts.verdict import (
    INCONCLUSIVE,
    NEGLIGIBLE,
    NOT_MEASURABLE,
    PRESENT,
    RELEVANT,
    SENTENCES_ONLY,
    VERDICT_FACTS,
)
from goffman.formatting import NOT_TESTED
from goffman.instruments.types import base_of
from goffman.presentation.forest import WIDTH as AXIS
from goffman.presentation.forest import forest
from goffman.presentation.vega import FONT
from goffman.report.overview import first_screen
from goffman.report.page import about_run
from goffman.report.summary import main_results, strength
from goffman.runs.files import Folder

if TYPE_CHECKING:
    from goffman.presentation.forest import Forest, Mark
    from goffman.report.load import MeasuredRun
    from goffman.report.summary import MainResult

WIDTH, HEIGHT, EDGE = 1200, 630, 56

ROWS = 6
"""The most results that are shown one by one."""

TWO_LINES = 60
"""The height above which a row has room for two lines of a sentence."""

FEW_MODELS = 3
"""With more models, their verdicts are counted: a card is no ranking."""

VERDICT_AT, STRIP_AT = 610, 844

INK, QUIET, LINE, BAND = "#1d2129", "#5b6270", "#dfe1e5", "#eef0f3"

FOOT = "Shaded: too small to matter. Line: 95% interval. Associations in text, not proof of harm."


@dataclass(frozen=True, kw_only=True)
class Card:
    """What a card says, every text as it was given."""

    headline: str
    who: str
    results: tuple[MainResult, ...]
    """The strongest first."""
    source: str
    """The version, the run and its id."""


def card_of(run: MeasuredRun) -> Card:
    """Return what the card of a run says."""
    facts = about_run(run)
    models = [model["shown"] for model in facts["models"]]
    names = ", ".join(models) if len(models) <= FEW_MODELS else f"{len(models)} models"
    count = facts["of_instruments"]
    instruments = f"{count} instrument{'s' if count != 1 else ''}"
    return Card(
        headline=first_screen(run.sections)["headline"],
        who=f"{_clipped(names, 62)} · {instruments} · {facts['prompts']:,} sentences",
        results=tuple(sorted(main_results(run.sections), key=strength)),
        source=f"goffman {__version__} · {_clipped(facts['folder'], 24)} · {run_id(run)}",
    )


def run_id(run: MeasuredRun) -> str:
    """Return the id of a run: the first digits of the sha256 of estimates.parquet."""
    content = Folder(run.folder).read("estimates.parquet") or b""
    return hashlib.sha256(content).hexdigest()[:8]


def card_png(card: Card) -> bytes:
    """Return the picture; the same card gives the same bytes."""
    import vl_convert

    return _packed(vl_convert.svg_to_png(card_svg(card), scale=1, ppi=72))


def _packed(png: bytes) -> bytes:
    """Return the PNG with its pixels packed tightly: the library's takes three times the space."""
    parts, place = [], 8
    while place < len(png):
        end = place + 12 + int.from_bytes(png[place : place + 4], "big")
        parts.append((png[place + 4 : place + 8], png[place + 8 : end - 4]))
        place = end
    pixels = zlib.decompress(b"".join(data for kind, data in parts if kind == b"IDAT"))
    chunks = [(kind, data) for kind, data in parts if kind not in (b"IDAT", b"IEND")]
    chunks += [(b"IDAT", zlib.compress(pixels, 9)), (b"IEND", b"")]
    return png[:8] + b"".join(
        len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
        for kind, data in chunks
    )


def card_svg(card: Card) -> str:
    """Return the drawing as SVG."""
    title = _lines(card.headline, 44, 2)
    size, top = (38, 150) if len(title) < 2 else (34, 172)
    parts = [
        _text(EDGE, 128 - 42 * (len(title) - place) + (top - 150), line, size=size, style="title")
        for place, line in enumerate(title)
    ]
    parts.append(_text(EDGE, top - 26, _clipped(card.who, 108), size=21, fill=QUIET))
    if len({result.model for result in card.results}) > FEW_MODELS:
        parts += _counts(card.results, top)
    else:
        parts += _rows(card.results, top)
    parts.append(_text(EDGE, 594, FOOT, size=16, fill=QUIET))
    parts.append(
        _text(WIDTH - EDGE, 594, _clipped(card.source, 54), size=16, fill=QUIET, anchor="end")
    )
    style = (
        f"text{{font-family:{FONT}}}.bold{{font-weight:700}}"
        ".title{font-family:Georgia,'DejaVu Serif',serif;font-weight:700}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}"><style>{style}</style>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>{"".join(parts)}</svg>'
    )


def _rows(every: Sequence[MainResult], top: int) -> Iterator[str]:
    """Yield a row for each result, its sentence, verdict and strip; below, the first caveat."""
    results = every[:ROWS]
    note = next((result.finding.caveats[0] for result in results if result.finding.caveats), None)
    several = len({result.model for result in every}) > 1
    drawn = forest([result.finding for result in results])
    height = _height(results, top)
    for place, (result, mark) in enumerate(zip(results, drawn.marks, strict=True)):
        middle = top + height * place + height / 2
        yield _line(middle - height / 2)
        lines = _lines(result.sentence, 58, 2 if height > TWO_LINES else 1)
        if note and note.id in result.caveats:
            lines[-1] += "*"
        subtitle = base_of(result.instrument) + (f" · {result.model}" if several else "")
        for line, text in enumerate(lines):
            yield _text(EDGE, middle + 9 - 13 * len(lines) + 22 * line, text, size=18)
        yield _text(EDGE, middle + 9 + 9 * len(lines), _clipped(subtitle, 70), size=15, fill=QUIET)
        color = _color(result.verdict)
        yield _glyph(result.verdict, VERDICT_AT, middle)
        yield _text(VERDICT_AT + 16, middle + 6, result.verdict, size=16, fill=color, style="bold")
        if mark is not None:
            yield _strip(drawn, mark, y=middle - height / 2, height=height, color=color)
    bottom = top + height * len(results)
    yield _line(bottom)
    left = f"{len(every) - len(results)} more in the report. " if every[ROWS:] else ""
    noted = f"* {note.short[:1].upper()}{note.short[1:]}." if note else ""
    yield _text(EDGE, bottom + 28, f"{left}{noted}", size=16, fill=QUIET)


def _height(rows: Sequence[object], top: int) -> float:
    return min(80, (516 - top) // max(len(rows), 1))


def _strip(drawn: Forest, mark: Mark, *, y: float, height: float, color: str) -> str:
    """Return the interval of a result against the band of differences too small to matter."""

    def place(end: str) -> float:
        return round(STRIP_AT + float(end) / AXIS * (WIDTH - EDGE - STRIP_AT), 1)

    low, high, at = place(mark.low), place(mark.high), place(mark.at)
    first, last = map(place, drawn.band)
    zero, middle = place(drawn.zero), y + height / 2
    fill = color if mark.clear else "#fff"
    return (
        f'<rect x="{first}" y="{y + 8}" width="{last - first:.1f}" height="{height - 16}" '
        f'fill="{BAND}"/>'
        f'<path d="M{zero} {y + 8}V{y + height - 8}" stroke="{QUIET}" stroke-width="1.5"/>'
        f'<path d="M{low} {middle}H{high}" stroke="{color}" stroke-width="5" opacity=".5"/>'
        f'<circle cx="{at}" cy="{middle}" r="8" fill="{fill}" stroke="{color}" stroke-width="2"/>'
    )


def _counts(results: Sequence[MainResult], top: int) -> Iterator[str]:
    """Yield a row for each instrument: how many models have which verdict."""
    by_instrument: dict[str, Counter[str]] = {}
    for result in sorted(results, key=lambda result: result.instrument):
        by_instrument.setdefault(result.instrument, Counter())[result.verdict] += 1
    instruments = list(by_instrument.items())[: ROWS + 1]
    height = _height(instruments, top)
    for place, (instrument, counts) in enumerate(instruments):
        y = top + height * place
        middle = y + height / 2
        yield _line(y)
        yield _text(EDGE, middle + 6, _clipped(instrument, 30), size=18)
        x = EDGE + 330
        for word in (word for word in (*VERDICT_FACTS, NOT_TESTED) if counts[word]):
            text = f"{counts[word]} {word}"
            yield _glyph(word, x, middle)
            yield _text(x + 16, middle + 6, text, size=16, fill=_color(word), style="bold")
            x += 40 + 10 * len(text)
    yield _line(top + height * len(instruments))
    if left := len(by_instrument) - len(instruments):
        text = f"{left} more instruments in the report."
        yield _text(EDGE, top + height * len(instruments) + 28, text, size=16, fill=QUIET)


def _color(verdict: str) -> str:
    return VERDICT_FACTS[verdict].color if verdict in VERDICT_FACTS else QUIET


def _glyph(verdict: str, x: float, y: float) -> str:
    color = _color(verdict)
    ring = f'<circle cx="{x}" cy="{y}" r="6.5" fill="none" stroke="{color}" stroke-width="2"/>'
    half = f'<path d="M{x} {y - 6.5}a6.5 6.5 0 0 0 0 13z" fill="{color}"/>'
    path = '<path d="{}" fill="none" stroke="{}" stroke-width="2.5"/>'
    signs: Mapping[str, str] = {
        RELEVANT: f'<circle cx="{x}" cy="{y}" r="7" fill="{color}"/>',
        PRESENT: ring + half,
        INCONCLUSIVE: ring,
        NEGLIGIBLE: path.format(f"M{x - 7} {y - 3}h14M{x - 7} {y + 3}h14", color),
        NOT_MEASURABLE: path.format(f"M{x - 5} {y - 5}l10 10m0 -10l-10 10", color),
        SENTENCES_ONLY: f'<circle cx="{x}" cy="{y}" r="3" fill="{color}"/>',
    }
    return signs.get(verdict, path.format(f"M{x - 6} {y}h12", color))


def _text(x: float, y: float, text: str, *, size: int, **more: str) -> str:
    """Return a line of text in which nothing is markup."""
    look: Mapping[str, Any] = {"fill": INK, "anchor": "start", "style": ""} | more
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" fill="{look["fill"]}" '
        f'text-anchor="{look["anchor"]}" class="{look["style"]}">{escape(text)}</text>'
    )


def _line(y: float) -> str:
    return f'<path d="M{EDGE} {y}H{WIDTH - EDGE}" stroke="{LINE}"/>'


def _lines(text: str, letters: int, most: int) -> list[str]:
    """Return a text in at most ``most`` lines of so many letters, the last one clipped."""
    return textwrap.wrap(text, letters, max_lines=most, placeholder=" …")


def _clipped(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…"
