"""The refusal to mix two models, or two versions of an instrument, under one name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from goffman.errors import RunError
from goffman.runs.entries import AskedInstrument, Entry, Model

REMARKS = ("notes", "deviation", "called", "in_all")
"""What is said about a model or an instrument beside which it is; it may differ without harm."""

_OTHER = {
    "prompts_sha256": "different prompts",
    "control_ids_sha256": "different control items",
    "digest": "the instrument's files have changed",
    "weights_sha256": "different weights",
    "tokenizer_sha256": "a different tokenizer",
}
"""What a checksum is of: the two numbers themselves would tell nobody anything."""

_COUNTED = {"prompts": "prompts_sha256", "control_prompts": "control_ids_sha256"}
"""A number that differs says all that its checksum would."""


def refuse_mixing(
    run: Path,
    name: str,
    *,
    there: Model | AskedInstrument,
    here: Model | AskedInstrument,
) -> None:
    """RunError where the two differ in more than remarks."""
    if not (differing := differ(there, here)):
        return
    if isinstance(there, Model):
        what = f"answers of '{name}' with different settings"
    elif "prompts_sha256" in differing:
        what = f"answers to a different set of {name} prompts"
    else:
        what = f"answers to {name} with different settings"
    raise RunError(
        f"{run} already has {what} ({'; '.join(_said(differing))}). The two cannot be mixed. Give "
        "another folder with --output, or use the same options as before."
    )


def differ(
    there: Model | AskedInstrument, here: Model | AskedInstrument
) -> dict[str, tuple[Any, Any]]:
    """By what they differ in, other than remarks: what was there, and what is here."""
    flat_there, flat_here = _flat(there.entry()), _flat(here.entry())
    return {
        key: (flat_there.get(key), flat_here.get(key))
        for key in {**flat_there, **flat_here}
        if key not in REMARKS and flat_there.get(key) != flat_here.get(key)
    }


def _said(differing: Mapping[str, tuple[Any, Any]]) -> Iterator[str]:
    told = {checksum for count, checksum in _COUNTED.items() if count in differing}
    for key, (there, here) in differing.items():
        if key in told:
            continue
        name = key.replace("_", " ")
        if key in _COUNTED:
            yield f"{there or 0:,} {name} then, {here or 0:,} now"
        else:
            yield _OTHER.get(key) or f"{name}: {_shown(there)} then, {_shown(here)} now"


def _flat(entry: Entry) -> dict[str, Any]:
    """The entry with one level of inner entries brought up; JSON has lists only."""
    flat: dict[str, Any] = {}
    for name, value in entry.items():
        flat |= value if isinstance(value, Mapping) and name not in REMARKS else {name: value}
    return flat


def _shown(value: object) -> str:
    """The value as a person would write it."""
    if value is None or value == []:
        return "none"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
