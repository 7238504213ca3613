"""A figure of a run as notebooks draw it and as a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from goffman.api.told import Text, paths
from goffman.errors import InputError, did_you_mean, system_error
from goffman.presentation import figure as presented
from goffman.presentation.palette import config
from goffman.reports.images import svg_of

PRINT, SCREEN, POINTS = 300, 96, 72
"""To an inch: pixels of a PNG, as journals want them, and of the page that figures are made for;
what a PNG is scaled by."""

ENDINGS = (".svg", ".png", ".pdf", ".json")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of a run: notebooks draw it, ``save()`` writes it to a file."""

    name: str
    """As ``run.figures`` lists it: social-distance.conditions."""
    title: str
    description: str
    """How to read it."""
    spec: Mapping[str, Any]
    """The Vega-Lite specification with its numbers."""

    @cached_property
    def svg(self) -> str:
        """The drawing."""
        return svg_of(dict(self.spec))

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Figure {self.name}: {self.title}>"

    def save(self, file: Text) -> Path:
        """The path of the file, in which the figure now is: .svg, .png (300 dpi), .pdf or .json."""
        import vl_convert

        (target,) = paths("file", file)
        ending = target.suffix.lower()
        if ending not in ENDINGS:
            raise InputError(f"file is {target}. Its name must end in {' or '.join(ENDINGS)}.")
        if ending == ".png":
            content = vl_convert.svg_to_png(self.svg, scale=POINTS / SCREEN, ppi=PRINT)
        elif ending == ".pdf":
            content = vl_convert.svg_to_pdf(self.svg)
        elif ending == ".svg":
            content = self.svg.encode()
        else:
            spec = {**self.spec, "config": config()}
            content = (json.dumps(spec, ensure_ascii=False, indent=1) + "\n").encode()
        try:
            target.write_bytes(content)
        except OSError as error:
            raise system_error(error) from error
        return target


def figure_named(
    name: str, known: Mapping[str, presented.Figure], chosen: Mapping[str, str]
) -> Figure:
    """The figure of that name; ``chosen``: what its menus on the page let a reader choose."""
    if name not in known:
        raise InputError(
            f"This run has no figure '{name}'.{did_you_mean(name, known)} Figures: "
            f"{', '.join(known)}."
        )
    figure = known[name]
    menus = {one.field: one for one in figure.choices}
    for field, option in chosen.items():
        if field not in menus:
            allowed = f"Its menus: {', '.join(menus)}." if menus else "It has none."
            raise InputError(f"The figure {name} has no menu '{field}'. {allowed}")
        if option not in menus[field].options:
            raise InputError(
                f"{field} is '{option}'.{did_you_mean(option, menus[field].options)} Allowed: "
                f"{', '.join(menus[field].options)}."
            )
    wanted = "-".join(chosen.get(one.field, one.options[0]) for one in figure.choices)
    specs = dict(figure.drawn())
    return Figure(name=name, title=figure.title, description=figure.description, spec=specs[wanted])


def figures_by_name(
    figures: list[presented.Figure], instruments: list[str]
) -> dict[str, presented.Figure]:
    """Figures by their names: the instrument, a dot, and what is shown of it."""
    found = {}
    for one in figures:
        # Of two instruments the longer name: coreference-pronouns, not coreference.
        about = sorted((i for i in instruments if one.id.startswith(f"{i}-")), key=len)
        whose = one.instrument or (about[-1] if about else "")
        rest = one.id.removeprefix(f"{whose}-")
        found[f"{whose}.{rest}" if whose else rest] = one
    return found
