"""Samples of the prompts: a balanced one for models that take long, and a first look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from goffman.instruments.types import (
    BASELINE,
    Instrument,
    InstrumentKind,
    Prompt,
    Subsample,
    is_control,
)

SUBSAMPLED_KINDS: tuple[InstrumentKind, ...] = ("ask", "complete", "choose", "say", "write")
"""Those that a server can be asked, a request a prompt."""

QUICK_PROMPTS = 200
"""A first look stays within so many prompts of each mode, unless a group needs more."""

QUICK_CONDITIONS = 4
"""So many conditions of each group have a first look at least."""

SIZED_PAIRS = 20
"""Sentence pairs that are drawn."""

MOST_REQUESTS = 6_500
"""What the sized parts of all built-in instruments stay within, controls included."""


def part_of(instrument: Instrument) -> Subsample:
    """What the instrument says of its part for a server.

    One order alone is a matter of requests: a probability takes none.
    """
    part = instrument.choice.server if instrument.choice else Subsample()
    if instrument.kind not in {"choose", "say"}:
        return Subsample()
    one = instrument.kind == "choose" and part.orders == "one"
    return replace(part, orders=None) if one else part


def subsample(prompts: Sequence[Prompt], part: Subsample) -> tuple[Prompt, ...]:
    """Of the presentations of each item and condition one, in one order of the options or in two.

    They go in turn, so that every item and every condition meets each about equally often; where
    the part names a wording that is among them, all have it. Unless the part says otherwise, both
    orders are asked where there are two and nobody is described; of controls both are. Of more
    orders, one. Where people are described, women and men are, in the same presentation; the
    baseline is left out. Conditions that the part calls brief are asked less: see Subsample.
    """
    # Only its own wording takes turns, or the orders would turn with wordings that are not asked.
    prompts = [one for one in prompts if one.wording == part.wording] or prompts
    controls = all(map(is_control, prompts))
    items = _places(prompt.item for prompt in prompts)
    cells = _places((prompt.condition, prompt.form) for prompt in prompts)
    wordings = _places(prompt.wording for prompt in prompts)
    orders = _places(prompt.order for prompt in prompts)
    people = _people(prompts)
    two = part.orders == "both" if part.orders else not people
    both = controls or (len(orders) == 2 and two)
    # The second half of the orders are those of the first half turned round.
    in_turn = max(len(orders) // 2, 1) if both else len(orders)
    each = part.items or len(items)
    # Blocks of items go fastest, so that even a small group of conditions meets all of them.
    blocks = 1 if controls else max(-(-len(items) // each), 1)
    described = max((len(some) for some in people.values()), default=1)

    def is_asked(prompt: Prompt) -> bool:
        # Of a condition the wordings go fastest; the next item has the next one, turned round.
        item, cell = items[prompt.item], cells[prompt.condition, prompt.form]
        if prompt.condition != BASELINE and blocks > 1 and item // each != cell % blocks:
            return False
        cell //= blocks
        rounds = cell // len(wordings)
        # Of an even number of wordings each would go with one order, were both to turn with items.
        turned = item // len(wordings) if both or len(wordings) % 2 == 0 else item
        wording = (cell + item) % len(wordings)
        order = (rounds + turned * max(in_turn // 2, 1)) % in_turn
        person = (rounds // in_turn + item // 2) % described
        if orders[prompt.order] % in_turn != order or wordings[prompt.wording] != wording:
            return False
        if not people:
            return True
        some = people.get(prompt.gender, [])
        return prompt.condition != BASELINE and prompt.person == (
            some[person % len(some)] if some else None
        )

    return tuple(prompt for prompt in _without_rest(prompts, part) if is_asked(prompt))


def first_look(prompts: Sequence[Prompt]) -> tuple[Prompt, ...]:
    """Of a balanced sample, whole conditions: of every group as many, from different categories."""
    size = Counter(prompt.condition for prompt in prompts)
    groups: dict[str, dict[str | None, list[str]]] = {}
    for condition, prompt in {prompt.condition: prompt for prompt in prompts}.items():
        groups.setdefault(prompt.group, {}).setdefault(prompt.category, []).append(condition)
    # One of each category, then another of each.
    in_turn = [
        [one for some in zip_longest(*categories.values()) for one in some if one is not None]
        for categories in groups.values()
    ]
    chosen: set[str] = set()
    for turn, some in enumerate(zip_longest(*in_turn)):
        further = {one for one in some if one is not None}
        if turn >= QUICK_CONDITIONS and sum(size[one] for one in chosen | further) > QUICK_PROMPTS:
            break
        chosen |= further
    return tuple(prompt for prompt in prompts if prompt.condition in chosen)


def _without_rest(prompts: Sequence[Prompt], part: Subsample) -> Iterator[Prompt]:
    """The prompts without those that conditions which are asked in brief are not asked."""
    for prompt in prompts:
        asked = part.brief_dimension in {None, prompt.dimension}
        if asked or prompt.condition not in part.brief:
            yield prompt


def _places(values: Iterable[Hashable]) -> dict[Hashable, int]:
    """By value: how many others come first."""
    return {value: place for place, value in enumerate(dict.fromkeys(values))}


def _people(prompts: Sequence[Prompt]) -> dict[str | None, list[str | None]]:
    """By gender: the people who are described; those of no stated gender where there are no others.

    Women and men are set against each other; a third request a question would not fit.
    """
    found: dict[str | None, list[str | None]] = {}
    for prompt in prompts:
        if prompt.person is not None and prompt.person not in found.setdefault(prompt.gender, []):
            found[prompt.gender].append(prompt.person)
    if len(found) > 1:
        found.pop("unstated", None)
    return found
