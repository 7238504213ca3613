"""The command about what people said: anchors; and the check of one of one's own."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goffman.cli.options import Json
from goffman.errors import AnchorError
from goffman.terminal import printable, say, table_text

if TYPE_CHECKING:
    from goffman.anchors.anchor import Anchor
    from goffman.records import Fault

AnchorPaths = Annotated[
    list[Path] | None,
    typer.Option(
        "--anchor",
        metavar="FOLDER",
        help="Folder with your own data about people (an anchor), to set beside the results. May "
        "be repeated. goffman's own anchors are always used.",
        rich_help_panel="Measuring",
    ),
]

_VALUES = ("item", "condition", "gender", "year", "value", "low", "high", "n")


def anchors(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="The anchor to show: its name, or its folder."),
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """List the anchors: data about people, to set beside models.

    They come from surveys, studies and labor statistics.
    """
    from goffman.anchors.load import every_anchor, load_anchor

    if name is None:
        _list(every_anchor(), as_json=as_json)
        return
    anchor = load_anchor(name)
    if as_json:
        print(json.dumps(asdict(anchor), ensure_ascii=False, indent=1))
        return
    _show(anchor)


def _list(found: Sequence[Anchor], *, as_json: bool) -> None:
    from goffman.anchors.load import builtin_anchors

    rows: list[dict[str, Any]] = [
        {
            "anchor": one.id,
            "built_in": one.id in builtin_anchors(),
            "version": one.version,
            "title": one.title,
            "country": one.country,
            "year": one.year,
            "population": one.population,
            "unit": one.unit,
            "compare": one.compare,
            "instruments": list(one.instruments),
            "items": [item.id for item in one.items],
            "conditions": len(one.conditions()),
            "values": len(one.values),
            "citation": one.citation,
            "terms": one.terms,
        }
        for one in found
    ]
    if as_json:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    for row in rows:
        row["anchor"] += "" if row["built_in"] else " (plug-in)"
        row["items"] = len(row["items"])
        row["beside"] = ", ".join(row["instruments"])
    sys.stdout.write(table_text(rows, ("anchor", "items", "conditions", "beside", "title")))


def _show(anchor: Anchor) -> None:
    from goffman.anchors.anchor import EVERYONE

    facts = {
        "Source": anchor.citation,
        "Who": f"{anchor.population} ({anchor.country}, {anchor.year})",
        "Unit": anchor.unit,
        "Set beside": ", ".join(anchor.instruments),
        "Terms": anchor.terms,
    }
    lines = [f"{anchor.id} {anchor.version}: {anchor.title}"]
    lines += [f"{key}: {value}" for key, value in facts.items()]
    lines += [f"  {one.id}: {one.meaning}" for one in anchor.items]
    lines += ["Limits:", *(f"  {text}" for text in anchor.limits)]
    sys.stdout.write("".join(f"{printable(line)}\n" for line in lines) + "\n")
    rows = [asdict(one) for one in anchor.values]
    shown = [name for name in _VALUES if any(row[name] not in {None, EVERYONE} for row in rows)]
    sys.stdout.write(table_text(rows, shown))


def validate_anchor(path: str, *, as_json: bool) -> None:
    """Print whether an anchor is valid, or every fault of it; exit code 2 where it is not."""
    from goffman.anchors.load import load_anchor

    faults: Sequence[Fault] = ()
    found: dict[str, Any] = {"anchor": path, "values": 0}
    try:
        anchor = load_anchor(path)
        found["values"] = len(anchor.values)
        about = f"{_many(anchor.items, 'item')}, {_many(anchor.conditions(), anchor.of)}"
        said = f"{printable(path)} is valid: {_many(anchor.values, 'value')} ({about})."
    except AnchorError as error:
        faults, said = error.faults, ""
        if not as_json:
            say(str(error))
    if as_json:
        found["faults"] = [vars(one) for one in faults]
        print(json.dumps(found, ensure_ascii=False, indent=1))
    elif said:
        print(said)
    if faults:
        raise typer.Exit(2)


def _many(things: Sequence[object], noun: str) -> str:
    return f"{len(things):,} {noun}{'' if len(things) == 1 else 's'}"
