"""An instrument enters a run: a new one, the same again, or one of which more is asked now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from goffman.errors import RunError
from goffman.runs.entries import AskedInstrument, Entry
from goffman.runs.manifest import Manifest, begun, with_answers
from goffman.runs.mixing import differ, refuse_mixing


def with_instrument(
    manifest: Manifest,
    run: Path,
    *,
    name: str,
    entry: Entry,
    models: Sequence[str],
    part: Entry | None = None,
) -> Manifest:
    """The manifest with this instrument in it; RunError where another one has its name.

    Other trials are no other instrument where there are more of them, or as long as not all were
    answered: what was answered stays, and the rest is asked. Nor are all prompts where the run has
    PART, the balanced one of them. ``models``: who is asked now.
    """
    here, there = AskedInstrument.of(entry), manifest.instruments.get(name)
    if there is None:
        return replace(manifest, instruments={**manifest.instruments, name: here})
    now, then = here.trials or 0, there.trials or 0
    if part is not None and now >= then and differ(there, here):
        of_part = replace(AskedInstrument.of(part), trials=there.trials)
        if not differ(there, of_part):
            has, all_get = f"a balanced sample of {name}", f"{here.asked:,} prompts"
            _refuse_others(manifest, run, name, models, has=has, same="prompts", all_get=all_get)
            return _begun(manifest, name=name, record=here)
    of_models = [answers[name] for answers in manifest.answers.values() if name in answers]
    unfinished = any(answers.parts is None for answers in of_models)
    if now > then or (now < then and unfinished):
        same = replace(there, trials=now)
        refuse_mixing(run, name, there=same, here=here)
        has, all_get = f"{there.trials} trials of {name}", f"{now} trials"
        _refuse_others(
            manifest, run, name, models, has=has, same="number of trials", all_get=all_get
        )
        return _begun(manifest, name=name, record=same)
    refuse_mixing(run, name, there=there, here=here)
    return manifest


def _refuse_others(
    manifest: Manifest,
    run: Path,
    name: str,
    models: Sequence[str],
    *,
    has: str,
    same: str,
    all_get: str,
) -> None:
    """RunError where a model has answers that is not asked now: it would have fewer than others."""
    answered = [model for model, answers in manifest.answers.items() if name in answers]
    if others := [model for model in answered if model not in models]:
        raise RunError(
            f"{run} already has {has} by {', '.join(others)}. All models of a run must have the "
            f"same {same}. Name these models too, so that all get {all_get}, or give another "
            "folder with --output."
        )


def _begun(manifest: Manifest, *, name: str, record: AskedInstrument) -> Manifest:
    """The manifest with this record of an instrument, which no model has finished as yet."""
    for model, answers in manifest.answers.items():
        if name in answers:
            entry = begun(answers[name].table, answers[name])
            manifest = with_answers(manifest, model=model, instrument=name, entry=entry)
    return replace(manifest, instruments={**manifest.instruments, name: record})
