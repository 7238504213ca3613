"""JSON with something wrong in it somewhere: types changed, keys gone, numbers that are none."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random

Path = tuple[str | int, ...]

DEEP: Any = []
for _ in range(200):
    DEEP = [DEEP]

WRONG = (
    *(None, True, False, 0, -1, 3.7, 10**30, float("inf"), float("nan"), "", "x", "\ud800"),
    *("\x00\x1b[31m\n::error::x\u202e", [], {}, [None], [[]], {"a": {"b": []}}, DEEP, [1, "a"]),
)
"""What may stand in the place of any value."""


def paths(content: Any, here: Path = ()) -> Iterator[Path]:
    """Where each value is, within lists and objects."""
    yield here
    inner = content.items() if isinstance(content, dict) else ()
    inner = enumerate(content) if isinstance(content, list) else inner
    for key, value in inner:
        yield from paths(value, (*here, key))


def put(content: Any, path: Path, value: Any) -> Any:
    """A copy of the content with another value at a path."""
    if not path:
        return value
    changed = copy.deepcopy(content)
    within = changed
    for key in path[:-1]:
        within = within[key]
    within[path[-1]] = value
    return changed


def without(content: Any, path: Path) -> Any:
    """A copy of the content without what is at a path."""
    changed = copy.deepcopy(content)
    within = changed
    for key in path[:-1]:
        within = within[key]
    del within[path[-1]]
    return changed


def mutated(content: Any, draw: random.Random) -> Any:
    """A copy with one value wrong, or gone."""
    found = list(paths(content))
    # By depth first: otherwise, what stands often would be all that is ever changed.
    depth = draw.randrange(max(map(len, found)) + 1)
    path = draw.choice([one for one in found if len(one) == depth])
    if path and draw.random() < 0.2:
        return without(content, path)
    return put(content, path, draw.choice(WRONG))
