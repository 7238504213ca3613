"""What a paper cites: the studies and scales behind a run's instruments and anchors; goffman."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from goffman import __version__
from goffman.presentation.table_text import latex

if TYPE_CHECKING:
    from goffman.reports.run import MeasuredRun

_NO_FIELDS = {"type", "instruments", "anchors"}


def references_of(run: MeasuredRun) -> dict[str, Mapping[str, Any]]:
    """By key: each work that the run rests on, and goffman itself."""
    text = files("goffman.reports").joinpath("for_paper", "references.toml").read_text("utf-8")
    every: dict[str, dict[str, Any]] = tomllib.loads(text)
    found: dict[str, Mapping[str, Any]] = {"goffman": _goffman(run)}
    for instrument in run.sections:
        keys = keys_of(instrument, every)
        found |= {key: every[key] for key in keys}
        if not keys:
            found[_key(instrument)] = _own(instrument, run)
    for anchor, about in run.manifest.anchors.items():
        keys = [key for key, one in every.items() if anchor in one.get("anchors", ())]
        found |= {key: every[key] for key in keys}
        if not keys:
            found[_key(anchor)] = {"type": "misc", "title": about.title, "note": about.citation}
    return found


def keys_of(instrument: str, every: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The works behind an instrument, in whichever form it was asked."""
    return [
        key
        for key, one in every.items()
        if any(instrument == own or instrument.startswith(f"{own}-") for own in one["instruments"])
    ]


def _own(instrument: str, run: MeasuredRun) -> dict[str, str]:
    """An instrument of the user's, by what it says of itself."""
    called = run.manifest.instruments[instrument].called
    citation = called.citation if called else ""
    title = called.title if called else instrument
    return {"type": "misc", "title": title, "note": citation or "no citation is given"}


def _goffman(run: MeasuredRun) -> dict[str, str]:
    last = run.manifest.sessions[-1] if run.manifest.sessions else None
    return {
        "type": "software",
        "author": "{The goffman developers}",
        "title": "goffman: questions psychology asks people about stigma, asked of language models",
        "version": last.versions.get("goffman", __version__) if last else __version__,
        "year": last.started[:4] if last else "",
    }


def _key(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]+", "-", name)


def bibtex(references: Mapping[str, Mapping[str, Any]]) -> str:
    """The entries as BibTeX; titles keep their capitals."""
    entries = []
    for key, one in references.items():
        lines = [f"@{one['type']}{{{key},"]
        for field, value in one.items():
            if field in _NO_FIELDS or not value:
                continue
            plain = field in {"author", "pages", "year", "volume", "number"}
            shown = value if plain else latex(str(value))
            shown = f"{{{shown}}}" if field == "title" else shown
            lines.append(f"  {field} = {{{shown}}},")
        entries.append("\n".join([*lines, "}"]))
    return "\n\n".join(entries) + "\n"
