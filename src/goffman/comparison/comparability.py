"""Decide whether the numbers of two runs may be compared, and what must be said with them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goffman.measures.registry import measure_from
from goffman.runs.manifest import REMARKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from goffman.report.load import MeasuredRun
    from goffman.runs.manifest import LexiconEntries

HARMLESS = ("settings: targets", "controls")
"""Entries that may differ: further words whose probability was kept (no measure's top k depends on
them), and controls (they are in no number that is compared)."""


PROMPTS = {"prompts", "prompts_sha256"}
"""The entries that say which prompts were asked: one clause for both."""

CHECKSUMS = {"digest": "files of the instrument"}
"""What a checksum is of; the two checksums themselves would tell readers nothing."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What must be said before two runs' numbers of one instrument."""

    refusals: tuple[str, ...] = ()
    """Reasons why they cannot be compared; empty if they can."""
    marks: tuple[str, ...] = ()
    """What, beside the models, may explain a difference."""


def verdict(
    first: MeasuredRun, second: MeasuredRun, instrument: str, *, models: tuple[str, str]
) -> Verdict:
    """Return whether the answers of two models to an instrument may be compared."""
    before, after = (_flat(run.manifest.instruments[instrument].entry()) for run in (first, second))
    differing = {
        name: (before.get(name), after.get(name))
        for name in {**before, **after}
        if before.get(name) != after.get(name) and not name.startswith(HARMLESS)
    }
    marks = tuple(_marks(first, second, instrument, models=models))
    refusals = tuple(_refusals(differing, first.folder, second.folder))
    return Verdict(refusals=refusals, marks=marks)


def _refusals(differing: dict[str, tuple[Any, Any]], first: Path, second: Path) -> Iterator[str]:
    """Yield one clause for each difference in how two runs were asked."""
    if PROMPTS & {*differing}:
        counts = differing.get("prompts")
        numbers = f" ({counts[0]:,} in {first}, {counts[1]:,} in {second})" if counts else ""
        yield f"the runs asked different prompts{numbers}"
    for name, (before, after) in differing.items():
        if name in CHECKSUMS:
            yield f"the runs have different {CHECKSUMS[name]}"
        elif name not in PROMPTS:
            label = name.replace("_", " ")
            yield f"{label} differs ({_shown(before)} in {first}, {_shown(after)} in {second})"


def _marks(
    first: MeasuredRun, second: MeasuredRun, instrument: str, *, models: tuple[str, str]
) -> Iterator[str]:
    runs = (first, second)
    entries = [run.manifest.models[model] for run, model in zip(runs, models, strict=True)]
    precisions = [entry.precision for entry in entries]
    if precisions[0] != precisions[1]:
        yield (
            f"{models[0]} ran in {precisions[0]} in {first.folder}, but "
            f"{'' if models[0] == models[1] else f'{models[1]} ran '}in {precisions[1]} in "
            f"{second.folder}, so part of the difference may be due to rounding"
        )
    measure = measure_from(first.manifest.instruments[instrument].measured)
    words = measure.words if measure else None
    if words == "parser":
        parsers = [str(run.manifest.lexicons.parser) for run in runs]
        if parsers[0] != parsers[1]:
            yield (
                f"replies were read by different rules (--parser): {parsers[0]} in "
                f"{first.folder}, {parsers[1]} in {second.folder}. Part of the difference may be "
                "due to this"
            )
    elif words:
        lexicons = [_files(run.manifest.lexicons, words) for run in runs]
        if lexicons[0] != lexicons[1]:
            yield (
                f"words were rated differently: by {lexicons[0]} in {first.folder}, by "
                f"{lexicons[1]} in {second.folder}. Part of the difference may be due to this"
            )
    versions = [
        " and ".join(
            dict.fromkeys(
                session.versions.get("goffman", "unknown") for session in run.manifest.sessions
            )
        )
        for run in runs
    ]
    if versions[0] != versions[1]:
        yield f"the runs were made with two versions of goffman, {versions[0]} and {versions[1]}"


def _files(lexicons: LexiconEntries, meaning: str) -> str:
    """Return the files that say what words mean, with the start of each file's checksum."""
    gender = (lexicons.gender,) if lexicons.gender else ()
    files = lexicons.attitudes if meaning == "attitudes" else gender
    return ", ".join(f"{file.file} ({file.sha256[:12]}…)" for file in files) or "no file"


def _flat(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an instrument's entry with its settings and measure as entries at the top level."""
    flat: dict[str, Any] = {}
    for name, value in entry.items():
        if name in REMARKS:
            continue
        inner = value.items() if isinstance(value, dict) else None
        flat |= (
            {name: value}
            if inner is None
            else {f"{name}: {key}": setting for key, setting in inner}
        )
    return flat


def _shown(value: object) -> str:
    if isinstance(value, str) and len(value) == 64:
        return f"{value[:12]}…"
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)
