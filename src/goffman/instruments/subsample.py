"""Samples of the prompts: a balanced one for slow models, and a smaller one for a first look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
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
"""The kinds that a server can be asked, with one request per prompt."""

QUICK_PROMPTS = 200
"""The most prompts of each mode in a first look, unless QUICK_CONDITIONS need more."""

QUICK_CONDITIONS = 4
"""The least number of conditions of each group in a first look."""

SIZED_PAIRS = 20
"""The number of sentence pairs that are drawn."""

MOST_REQUESTS = 6_500
"""The most requests of the samples of all built-in instruments together, with controls."""


def part_of(instrument: Instrument) -> Subsample:
    """Return the part of the instrument that a server is asked.

    In the mode of probabilities, a restriction to one order is dropped, since it saves no request.
    """
    part = instrument.choice.server if instrument.choice else Subsample()
    if instrument.kind not in {"choose", "say"}:
        return Subsample()
    one_order = instrument.kind == "choose" and part.orders == "one"
    return replace(part, orders=None) if one_order else part


def subsample(prompts: Sequence[Prompt], part: Subsample) -> tuple[Prompt, ...]:
    """Return one presentation of each item and condition, in one order of the options or in both.

    - Presentations take turns, so that every item and condition gets each about equally often.
    - Wordings: all prompts have the wording that the part names, if there is one.
    - Orders: both, if there are two and nobody is described, and for controls; else one. The part
      may say otherwise.
    - People: women and men in the same presentation, if people are described; no baseline.
    - Conditions that the part calls brief are asked less: see Subsample.
    """
    # Without other wordings, the orders take turns over the prompts that are asked.
    prompts = [prompt for prompt in prompts if prompt.wording == part.wording] or prompts
    controls = all(map(is_control, prompts))
    items = _places(prompt.item for prompt in prompts)
    cells = _places((prompt.condition, prompt.form) for prompt in prompts)
    wordings = _places(prompt.wording for prompt in prompts)
    orders = _places(prompt.order for prompt in prompts)
    people = _people(prompts)
    both_wanted = part.orders == "both" if part.orders else not people
    both_orders = controls or (len(orders) == 2 and both_wanted)
    # The second half of the orders repeats the first half, reversed.
    in_turn = max(len(orders) // 2, 1) if both_orders else len(orders)
    block_size = part.items or len(items)
    # Blocks of items change with every condition, so that even a small group has all of them.
    blocks = 1 if controls else max(-(-len(items) // block_size), 1)
    described = max((len(names) for names in people.values()), default=1)

    def is_asked(prompt: Prompt) -> bool:
        # The next condition and the next item each have the next wording.
        item, cell = items[prompt.item], cells[prompt.condition, prompt.form]
        if prompt.condition != BASELINE and blocks > 1 and item // block_size != cell % blocks:
            return False
        cell //= blocks
        rounds = cell // len(wordings)
        # If the order changed with every item, an even number of wordings would fix each one's.
        turned = item // len(wordings) if both_orders or len(wordings) % 2 == 0 else item
        wording = (cell + item) % len(wordings)
        order = (rounds + turned * max(in_turn // 2, 1)) % in_turn
        person = (rounds // in_turn + item // 2) % described
        if orders[prompt.order] % in_turn != order or wordings[prompt.wording] != wording:
            return False
        if not people:
            return True
        names = people.get(prompt.gender, [])
        return prompt.condition != BASELINE and prompt.person == (
            names[person % len(names)] if names else None
        )

    return tuple(
        prompt
        for prompt in prompts
        if (prompt.condition not in part.brief or part.brief_dimension in {None, prompt.dimension})
        and is_asked(prompt)
    )


def first_look(prompts: Sequence[Prompt]) -> tuple[Prompt, ...]:
    """Return all prompts of some conditions: equally many of each group, of mixed categories."""
    size = Counter(prompt.condition for prompt in prompts)
    groups: dict[str, dict[str | None, list[str]]] = {}
    for condition, prompt in {prompt.condition: prompt for prompt in prompts}.items():
        groups.setdefault(prompt.group, {}).setdefault(prompt.category, []).append(condition)
    # Each group's conditions take turns by category.
    in_turn = [
        [
            condition
            for conditions in zip_longest(*categories.values())
            for condition in conditions
            if condition is not None
        ]
        for categories in groups.values()
    ]
    chosen: set[str] = set()
    for turn, conditions in enumerate(zip_longest(*in_turn)):
        new_conditions = {condition for condition in conditions if condition is not None}
        if (
            turn >= QUICK_CONDITIONS
            and sum(size[condition] for condition in chosen | new_conditions) > QUICK_PROMPTS
        ):
            break
        chosen |= new_conditions
    return tuple(prompt for prompt in prompts if prompt.condition in chosen)


def _places(values: Iterable[Hashable]) -> dict[Hashable, int]:
    """Return, for each value, how many different values come before it."""
    return {value: position for position, value in enumerate(dict.fromkeys(values))}


def _people(prompts: Sequence[Prompt]) -> dict[str | None, list[str | None]]:
    """Return the people described, by gender; those of unstated gender only if there are no others.

    Those of unstated gender would add a third request to each question.
    """
    people: dict[str | None, list[str | None]] = {}
    for prompt in prompts:
        if prompt.person is not None and prompt.person not in people.setdefault(prompt.gender, []):
            people[prompt.gender].append(prompt.person)
    if len(people) > 1:
        people.pop("unstated", None)
    return people
