"""The workers that answered a run, and the models that they had, as its manifest knows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from goffman.errors import RunError
from goffman.runs.entries import Workers

if TYPE_CHECKING:
    from goffman.models.tasks import Card
    from goffman.runs.manifest import Manifest

Of = TypeVar("Of")


def with_workers(manifest: Manifest, run: Path, cards: Iterable[Card], *, mixed: bool) -> Manifest:
    """The manifest with these workers in it; RunError where earlier ones were on other hardware.

    ``mixed``: whether hardware may differ.
    """
    counts = Counter((card.host, card.device, card.hardware) for card in cards)
    known = {(one.host, one.device, one.hardware): one.workers for one in manifest.workers}
    before = {hardware for _, _, hardware in known}
    now = {hardware for _, _, hardware in counts}
    if before and before != now and not mixed:
        raise RunError(
            f"{run} has answers of workers on {', '.join(sorted(before))}; now they are on "
            f"{', '.join(sorted(now))}. Their answers may differ in the last digits. Use the same "
            "hardware, give another folder with --output, or allow it: --allow-mixed-hardware"
        )
    most = {key: max(counts[key], known.get(key, 0)) for key in {**known, **counts}}
    workers = tuple(
        Workers(host=host, device=device, hardware=hardware, workers=count)
        for (host, device, hardware), count in most.items()
    )
    return replace(manifest, workers=workers)


def in_order(manifest: Manifest, names: Sequence[str], *, before: Manifest) -> Manifest:
    """The manifest with its models in the order in which they would be asked one after the other.

    ``names``: of those that are asked now; ``before``: the manifest when they were not yet. A run
    that was measured keeps the order of those it had.
    """
    had, now = list(before.models), list(names)
    if "scores.parquet" in before.tables:
        now = [name for name in now if name not in had]
    rest = iter(now)
    order = [next(rest) if name in now else name for name in had] + [*rest]

    def ordered(entries: Mapping[str, Of]) -> dict[str, Of]:
        return {name: entries[name] for name in order if name in entries}

    return replace(manifest, models=ordered(manifest.models), answers=ordered(manifest.answers))
