"""What the folder of a run is called where the user names none."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path

from goffman.models.address import address_entry


def default_folder(models: Sequence[str]) -> Path:
    """runs/ and the models' names: the last part of a folder's path, the model at an address."""
    named = [address_entry(model).get("asked_as", model) for model in models]
    # os.path.isdir, which says no to names that no system allows, where Path.is_dir fails.
    folders = [os.path.isdir(model) for model in named]  # noqa: PTH112
    last = [
        Path(model).resolve().name if is_folder else model
        for model, is_folder in zip(named, folders, strict=True)
    ]
    short = [re.sub(r"[^A-Za-z0-9._-]+", "-", Path(model).name).strip("-.") for model in last]
    # A name in another script has no letter that is left.
    names = [one or f"model-{_digest(model)}" for one, model in zip(short, last, strict=True)]
    joined = "+".join(names)
    if len(joined) > 80:
        joined = f"{joined[:70]}-{_digest(joined)}"
    return Path("runs") / joined


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
