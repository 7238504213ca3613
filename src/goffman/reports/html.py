"""report.html: one file that holds everything and asks the network for nothing."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from goffman import __version__
from goffman.analysis.correlations import correlations_said
from goffman.presentation.asked import measured_said
from goffman.presentation.competence import QUESTION, competence_said
from goffman.presentation.figures_multiverse import PART as ANALYSES
from goffman.presentation.findings_multiverse import holds_said
from goffman.presentation.numbers import number
from goffman.presentation.palette import config
from goffman.presentation.ratings import change_rows
from goffman.reports.anchored import anchors_shown
from goffman.reports.content import (
    about_run,
    contrast_rows,
    examples,
    reliability_shown,
    told_before,
)
from goffman.reports.figures_anchors import PART
from goffman.reports.forest import forest
from goffman.reports.images import sizes
from goffman.reports.limits import GENERAL
from goffman.reports.listing import columns, listing, noun_of
from goffman.reports.overview import MANY, counted, of_section

if TYPE_CHECKING:
    from goffman.presentation.figure import Figure
    from goffman.presentation.section import Section
    from goffman.reports.evidence import Evidence
    from goffman.reports.run import MeasuredRun

PAGE = Path(__file__).parent / "page"

SHARED = ("base.js", "table.js", "figures.js", "evidence.js", "pairs.js", "page.js")
"""What every page has, in the order in which they run, after Vega."""

SCRIPTS = (*SHARED, "dialog.js", "main.js")


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """What was made for a page: figures, their drawings, and the evidence."""

    figures: Sequence[Figure]
    svgs: Mapping[str, str]
    """By figure, as it is first shown: for paper, and for browsers without scripts."""
    evidence: Sequence[Evidence]
    notes: Sequence[str] = field(default=())
    """What a reader should know of how the page was made."""


def page(run: MeasuredRun, drawn: Drawn) -> str:
    """The whole page."""
    noun = noun_of(run.sections)
    data = {
        "columns": columns(run.sections),
        "noun": {"many": noun.many, "heading": noun.headed.many},
        "listing": listing(run.sections),
        "nouns": {name: one.noun.one for name, one in run.sections.items()},
        "titles": {name: one.names.title(name) for name, one in run.sections.items()},
        "evidence": [one.instrument for one in drawn.evidence],
    }
    sections = [_section(section, drawn) for section in run.sections.values()]
    return rendered(
        "report.html",
        SCRIPTS,
        drawn,
        data,
        about=about_run(run),
        sections=sections,
        forest=forest([row["finding"] for section in sections for row in section["rows"]]),
        together=figures_shown(
            [one for one in drawn.figures if one.id.count("measures-together")], drawn
        ),
        measures_said=correlations_said(run.correlations),
        anchors=[
            {**one, "figures": figures_shown(_of_anchor(drawn.figures, one["id"]), drawn)}
            for one in anchors_shown(run)
        ],
        general=GENERAL,
        many=MANY,
        question=QUESTION,
        noun=noun,
    )


def rendered(
    template: str,
    scripts: Sequence[str],
    drawn: Drawn,
    data: Mapping[str, Any],
    **content: Any,
) -> str:
    """A page of this template and these scripts, with the style that all pages share."""
    # In a function of their own: the bundle has global names too.
    own = "\n".join((PAGE / name).read_text(encoding="utf-8") for name in scripts)
    every = [vega(), f"(() => {{\n{own}\n}})();"]
    themes = {"light": config() | {"background": "transparent"}, "dark": config(dark=True)}
    of_figures = {figure.id: figure.instrument for figure in drawn.figures}
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PAGE), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["number"] = number
    return environment.get_template(template).render(
        css=(PAGE / "report.css").read_text(encoding="utf-8"),
        data=as_json({"themes": themes, "instruments": of_figures, **data}),
        specs=[(figure.id, *_spec(figure)) for figure in drawn.figures],
        scripts=every,
        policy=_policy(every),
        evidence=drawn.evidence,
        notes=drawn.notes,
        version=__version__,
        **content,
    )


LARGE = 200_000
"""A specification with more characters is packed: those of fifty models would take 11 MB."""


def _spec(figure: Figure) -> tuple[str, str]:
    """The type of a script element, and what it holds of a figure: JSON, or its gzip in base64."""
    text = as_json(figure.spec)
    if len(text) <= LARGE:
        return "application/json", text
    return "text/plain", base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


def _section(section: Section, drawn: Drawn) -> dict[str, Any]:
    """What the template needs of one instrument."""
    own = [
        one
        for one in drawn.figures
        if one.instrument == section.instrument
        and "measures-together" not in one.id
        and PART not in one.id
    ]
    analyzed = [one for one in own if one.id.endswith(f"-{ANALYSES}")]
    own = [one for one in own if one not in analyzed]
    first = next((one for one in own if one.leads), own[0] if own else None)
    rows = list(of_section(section))
    return {
        "id": section.instrument,
        "title": section.names.title(section.instrument),
        "measure": section.measure,
        "measured": measured_said(section),
        "claims": section.presentation.claims,
        "instrument": section.names.instruments.get(section.instrument),
        "controls": list(competence_said(section)),
        "rows": rows,
        "counted": counted(rows) if len(rows) > MANY else None,
        "examples": examples(section),
        "system": told_before(section),
        "contrasts": contrast_rows(section),
        "ratings": section.ratings,
        "changes": change_rows(section),
        "reliability": reliability_shown(section),
        "holds": holds_said(section),
        "analyses": figures_shown(analyzed, drawn),
        "first": figures_shown([one for one in own if one is first], drawn),
        "figures": figures_shown([one for one in own if one is not first], drawn),
        "evidence": next(one for one in drawn.evidence if one.instrument == section.instrument),
    }


def _of_anchor(figures: Sequence[Figure], anchor: str) -> list[Figure]:
    return [one for one in figures if one.id.endswith(f"-{PART}-{anchor}")]


def figures_shown(figures: Sequence[Figure], drawn: Drawn) -> list[dict[str, Any]]:
    """Figures as the template needs them."""
    svgs = [drawn.svgs[figure.id] for figure in figures]
    return [
        {
            "id": figure.id,
            "title": figure.title,
            "instrument": figure.instrument or "",
            "rows": figure.rows,
            "description": figure.description,
            "svg": _for_page(svg),
            "height": height,
        }
        for figure, svg, (_, height) in zip(figures, svgs, sizes(svgs), strict=True)
    ]


def _for_page(svg: str) -> str:
    """The SVG as it may stand in a page: its text is escaped, and no end of an element is in it."""
    if "</noscript" in svg.lower() or "<script" in svg.lower():
        raise AssertionError("a drawing holds markup that is not its own")
    return svg


def as_json(data: object) -> str:
    """The data as a script element may hold it: no sign of it can end the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@cache
def vega() -> str:
    """Vega, Vega-Lite and Vega-Embed with its interpreter of expressions, as one script."""
    import vl_convert

    # Its type stub has lost the default of the first parameter.
    bundle = str(vl_convert.javascript_bundle())  # type: ignore[call-arg]
    # The text stands in a script element, which only this would end.
    return bundle.replace("</script", "<\\/script")


def _policy(scripts: Sequence[str]) -> str:
    """The page's content security policy: these scripts, styles of its own, and no network."""
    hashes = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts
    ]
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
