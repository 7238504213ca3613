"""Every figure of a run, and its drawing as SVG and PDF.

A measure lists its figures in ``Presentation.figures``, as functions of presentation/*.py that
yield them; figures of two measures are made here, of models and people in anchors/figures.py.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from goffman.anchors.compare import ANCHORS_FILE, POINTS_FILE
from goffman.anchors.figures import anchor_figures
from goffman.console import printable
from goffman.errors import GoffmanError, RunError
from goffman.formatting import ends, number
from goffman.presentation.competence import NOT_MEASURABLE
from goffman.presentation.conditions import identities
from goffman.presentation.findings import findings_of
from goffman.presentation.section import Section
from goffman.presentation.sensitivity import analyses, curve, describe_holds
from goffman.presentation.vega import Figure, axis_x, coloured, config, data, figure, tip, view
from goffman.sensitivity.multiverse import MULTIVERSE_FILE, STRESS_FILE
from goffman.sensitivity.variations import COMPARED, SENSITIVITY_FILE

if TYPE_CHECKING:
    from goffman.presentation.vega import Spec
    from goffman.report.load import MeasuredRun
    from goffman.report.summary import Correlation


def together(
    scores: pl.DataFrame, correlations: Sequence[Correlation], sections: Mapping[str, Section]
) -> Iterator[Figure]:
    """Yield a figure for each correlation of two measures, with the conditions as points."""
    defined = [
        correlation
        for correlation in correlations
        if correlation.row["effect"] is not None and not correlation.unmeasurable
    ]
    for place, correlation in enumerate(defined, start=1):
        across, up = (side.values(scores) for side in (correlation.first, correlation.second))
        points = across.join(up.select("condition", other="value"), on="condition").filter(
            pl.col("value").is_not_null(), pl.col("other").is_not_null()
        )
        parts = sections[correlation.first.instrument], sections[correlation.second.instrument]
        points = parts[0].named(points).with_columns(pl.selectors.float().round_sig_figs(6))
        if points.height:
            suffix = f"-{place}" if len(defined) > 1 else ""
            yield _scatter(points, correlation, parts, name=f"measures-together{suffix}")


def _scatter(
    points: pl.DataFrame, correlation: Correlation, sides: Sequence[Section], *, name: str
) -> Figure:
    row = correlation.row
    low, high = row["effect_low"], row["effect_high"]
    interval = f", 95% interval {ends(low, high)}" if low is not None else ""
    r = number(row["effect"])
    first, second = sides
    upward, title, described = _axes_and_title(correlation, first, second)
    heading = f"{row['effect_name']} = {r}{interval}, over {row['n']} {first.noun.many}"
    tooltip = tip(("name", first.noun.headed.one), ("group", "Group"), ("value", "Across"))
    spec = view(
        data(points, "condition", "name", "group", "category", "value", "other"),
        [
            {
                "mark": {"type": "line", "style": "trend", "clip": True, "tooltip": None},
                "transform": [{"regression": "other", "on": "value"}],
            },
            {
                "mark": {"type": "point", "cursor": "pointer"},
                "encoding": {
                    **coloured("group", first.groups()),
                    "tooltip": [*tooltip, *tip(("other", "Up"))],
                },
            },
        ],
        height=360,
        encoding={
            "x": axis_x(first.presentation.axis),
            "y": axis_x(upward, domain=(0, 1), field_="other")
            | {"axis": {"minExtent": 30, "maxExtent": 60, "grid": True}},
        },
    )
    spec["title"] = {"text": heading, "fontWeight": "normal"}
    return figure(
        first,
        name,
        title=title,
        description=(
            f"Each mark is one {first.noun.one}. {described} Dashed: the least-squares fit."
        ),
        spec=spec,
    )


def _axes_and_title(correlation: Correlation, across: Section, up: Section) -> tuple[str, str, str]:
    """Return the vertical axis's title, the figure's title, and a description of both axes."""
    by = f"{across.noun.one} by {across.noun.one}"
    if (across.measure, up.measure) != ("negative-attitude", "negative-sentiment"):
        title = f"{across.instrument} and {up.instrument}, {by}"
        return up.presentation.axis, title, "Across: the first; up: the second."
    upward = up.presentation.axis
    if correlation.second.finer:
        upward = "Probability of the label “negative”"
    return upward, f"Words and labels, {by}", "Across: words filled in; up: labels given."


def _measurable(section: Section) -> Section:
    """Return the section without the models whose numbers mean nothing in it."""
    failing = [finding.model for finding in findings_of(section) if finding.head == NOT_MEASURABLE]
    if not failing:
        return section
    shown_names = {name: section.names.model(name) for name in section.scores["model"].drop_nulls()}
    # This also drops means over all models, which include the failing ones.
    is_kept = pl.col("model").is_in(
        [name for name, shown_name in shown_names.items() if shown_name not in failing]
    )
    tables = ("scores", "estimates", "sensitivity", "stress")
    return replace(section, **{name: getattr(section, name).filter(is_kept) for name in tables})


def figures_of(run: MeasuredRun) -> list[Figure]:
    """Return every figure that the run's scores and estimates allow."""
    sections = [
        measurable
        for section in run.sections.values()
        if (measurable := _measurable(section)).models()
    ]
    figures = [
        drawn
        for section in sections
        for draw in (*section.presentation.figures, identities, curve)
        for drawn in draw(section)
    ]
    figures += together(run.scores, run.correlations, run.sections)
    return [*figures, *anchor_figures(run.anchored)]


_REFERENCE = re.compile(rb"(\d+) 0 R\b")
_ENTRIES = re.compile(rb"(?:^ */\w+ \d+ 0 R\n){2,}", re.MULTILINE)
"""Neighboring lines of a dictionary, each a name and an object's number."""


def pdf_of(svg: str) -> bytes:
    """Return the SVG as a PDF; the same SVG gives the same bytes."""
    import vl_convert

    return in_one_order(vl_convert.svg_to_pdf(svg))


def png_of(svg: str) -> bytes:
    """Return a drawing made for a page of 96 pixels per inch as PNG with 300, as journals want."""
    import vl_convert

    # The drawing has 72 points per inch.
    content: bytes = vl_convert.svg_to_png(svg, scale=72 / 96, ppi=300)
    return content


DRAWN: Mapping[str, Callable[[str], bytes]] = {".svg": str.encode, ".png": png_of, ".pdf": pdf_of}
"""Ending of a file → function that returns an SVG as its content."""


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
        head = _ENTRIES.sub(lambda run: b"".join(sorted(run[0].splitlines(keepends=True))), head)
        objects[int(number)] = head, stream + content
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


LATER = {
    f"{MULTIVERSE_FILE} and {STRESS_FILE}": ("stressed",),
    f"{ANCHORS_FILE} and {POINTS_FILE}": ("anchors", "anchor_points"),
    COMPARED: ("compared",),
    SENSITIVITY_FILE: ("sensitivity",),
}
"""Files → the attributes of their tables, which a run may be without; the last made first."""


Shown = TypeVar("Shown")


def as_far_as_shown(
    run: MeasuredRun, show: Callable[[MeasuredRun, Sequence[str]], Shown]
) -> tuple[Shown, Sequence[str]]:
    """Return what ``show`` returns for the run, and sentences on tables that had to be left out.

    ``show`` gets these sentences as its second argument. If it fails, it is called again without
    some tables; if this does not help, the first error is raised.
    """
    try:
        return show(run, ()), ()
    except GoffmanError:
        raise
    except Exception as error:
        for files, without in _later_tables(run).items():
            what = f"{files} could not be shown ({_error_text(error)})"
            sentences = (f"{what}. Everything else is there. Please report this.",)
            with suppress(Exception):  # Other tables are at fault.
                return show(replace(run, **without), sentences), sentences
        raise


def _later_tables(run: MeasuredRun) -> dict[str, dict[str, Any]]:
    """Return the sets of tables to leave out in turn: each optional table alone, then all."""
    tables: dict[str, dict[str, Any]] = {
        files: dict.fromkeys(names)
        for files, names in LATER.items()
        if any(getattr(run, name) is not None for name in names)
    }
    all_tables = dict.fromkeys(name for names in tables.values() for name in names)
    return tables | ({", ".join(tables): all_tables} if len(tables) > 1 else {})


def check_stressed(run: MeasuredRun) -> None:
    """Raise RunError if the other analyses of the run cannot be shown."""
    try:
        for section in run.sections.values():
            _ = describe_holds(section), [*curve(section)], [*analyses(section)]
    except Exception as error:
        raise RunError(
            f"The other analyses of {run.folder} could not be shown ({_error_text(error)}), so "
            "they were not kept. The run is as it was. Please report this."
        ) from error


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
