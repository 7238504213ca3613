"""Whether the numbers of two runs may be set against each other, and what must be said of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goffman.measures.catalogue import measure_from
from goffman.runs.mixing import REMARKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goffman.reports.run import MeasuredRun
    from goffman.runs.entries import Lexicons

HARMLESS = ("settings: targets", "controls")
"""Further words whose probability was kept: no measure's top k depends on them. And controls, which
are in no number that is compared."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What is to be said before two runs' numbers of one instrument."""

    refusals: tuple[str, ...] = ()
    """Why they cannot be compared; none: they can."""
    marks: tuple[str, ...] = ()
    """What, beside the models, may be behind a difference."""


def verdict(
    first: MeasuredRun, second: MeasuredRun, instrument: str, *, models: tuple[str, str]
) -> Verdict:
    """Whether the answers of two models to an instrument may be compared."""
    here, there = (_flat(run.manifest.instruments[instrument].entry()) for run in (first, second))
    refusals: list[str] = []
    for name in {**here, **there}:
        if here.get(name) == there.get(name) or name.startswith(HARMLESS):
            continue
        said = f"{name.replace('_', ' ')} is {_shown(here.get(name))} in {first.folder} and "
        said += f"{_shown(there.get(name))} in {second.folder}"
        refusals.append(said)
    marks = tuple(_marks(first, second, instrument, models=models))
    return Verdict(refusals=tuple(refusals), marks=marks)


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
            f"{second.folder}, so part of the difference may come from rounding"
        )
    measure = measure_from(first.manifest.instruments[instrument].measured)
    words = measure.words if measure else None
    if words == "parser":
        parsers = [str(run.manifest.lexicons.parser) for run in runs]
        if parsers[0] != parsers[1]:
            yield (
                f"the parser {parsers[0]} read the replies in {first.folder}, but {parsers[1]} "
                f"did in {second.folder}, so part of the difference may come from the parser"
            )
    elif words:
        lexicons = [_files(run.manifest.lexicons, words) for run in runs]
        if lexicons[0] != lexicons[1]:
            yield (
                f"the {words} of words come from {lexicons[0]} in {first.folder}, but from "
                f"{lexicons[1]} in {second.folder}, so part of the difference may come from that"
            )
    versions = [_versions(run) for run in runs]
    if versions[0] != versions[1]:
        yield f"the runs were made with two versions of goffman, {versions[0]} and {versions[1]}"


def _versions(run: MeasuredRun) -> str:
    made = (session.versions["goffman"] for session in run.manifest.sessions)
    return " and ".join(dict.fromkeys(made))


def _files(lexicons: Lexicons, meaning: str) -> str:
    """The files that say what words mean, with enough of their checksums to tell two apart."""
    gender = (lexicons.gender,) if lexicons.gender else ()
    files = lexicons.attitudes if meaning == "attitudes" else gender
    return ", ".join(f"{one.file} ({one.sha256[:12]}…)" for one in files) or "no file"


def _flat(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An instrument's entry with what is within its settings and measure brought up."""
    flat: dict[str, Any] = {}
    for name, value in entry.items():
        if name in REMARKS:
            continue
        inner = value.items() if isinstance(value, dict) else None
        flat |= {name: value} if inner is None else {f"{name}: {key}": of for key, of in inner}
    return flat


def _shown(value: object) -> str:
    if isinstance(value, str) and len(value) == 64:
        return f"{value[:12]}…"
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)
