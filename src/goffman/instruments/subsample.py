"""A balanced part of the prompts, for a model that answers one request at a time."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

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

SIZED_PAIRS = 20
"""Sentence pairs that are drawn."""

MOST_REQUESTS = 6_300
"""What the sized parts of all built-in instruments stay within, controls included."""


def subsample_trials(instrument: Instrument) -> int:  # noqa: ARG001 - one for all, so far
    """How often each prompt of the sized part of an instrument is asked."""
    return 1


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
