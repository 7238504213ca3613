"""What is said of a model beside people: plainly only what every check shows too."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from goffman.anchors.compare import compare_with_people, entry_of
from goffman.anchors.loader import load_anchor
from goffman.anchors.sentences import AnchoredModel, AnchorSentences, describe_anchor
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.runs.manifest import UsedAnchor
from goffman.schemas import PROMPT_TABLE, SCORES, schema

ANCHOR = load_anchor("pachankis2018")
OF = {
    item.id: {one.condition: one.value for one in ANCHOR.values if one.item == item.id}
    for item in ANCHOR.items
}
OVER = {one.condition for one in ANCHOR.values if one.set_apart}
COURSE = OF["course"]
SECTION = SimpleNamespace(
    instrument="social-distance",
    noun=SimpleNamespace(one="condition", many="conditions"),
    names=SimpleNamespace(model=str),
    presentation=SimpleNamespace(called="P(negative)", style=None),
    unmeasurable=dict,
    called=str,
)
"""What of a section the sentences need: its words."""


def said_of(
    values: dict[str, float],
    *,
    category=lambda place: f"c{place % 3}",
    items=7,
    section=SECTION,
) -> AnchorSentences:
    """What is said of a model with these means, asked so many items."""
    rng = np.random.default_rng(5)
    about = {"model": "m", "instrument": "social-distance", "measure": "negative-attitude"}
    about |= {"quantity": "negative", "n": 1, "missing": 0, "group": "stigmatized"}
    rows = []
    for place, (condition, value) in enumerate(values.items()):
        ids = about | {"condition": condition, "category": category(place)}
        rows.append(ids | {"level": "condition", "value": value})
        noise = rng.standard_normal(items) * 0.01
        for item, off in enumerate(noise - noise.mean()):
            cell = {"level": "prompt", "item": f"i{item}", "wording": "w", "value": value + off}
            rows.append(ids | cell)
    scores = pl.DataFrame(rows, schema=schema(SCORES))
    prompts = pl.DataFrame(schema=schema(PROMPT_TABLE))
    measures = {"social-distance": NegativeAttitude()}
    estimates, points = compare_with_people(scores, prompts, measures, [ANCHOR])
    one = AnchoredModel(
        anchor=ANCHOR.id,
        about=UsedAnchor.of(entry_of(ANCHOR)),
        section=section,
        model="m",
        estimates=estimates,
        points=points,
    )
    return describe_anchor(one)


@pytest.fixture
def noise() -> dict[str, float]:
    rng = np.random.default_rng(6)
    return {name: float(rng.standard_normal()) for name in COURSE}


def test_what_every_check_shows_is_said_plainly(noise) -> None:
    said = said_of({name: 0.2 * value + 0.1 * noise[name] for name, value in COURSE.items()})
    assert said.head == (
        "Its P(negative) rises as “course” (how long it lasts) rises; r is also clear for 3 other "
        "dimensions"
    )
    assert said.text.startswith("Across 93 conditions: r = 0.")
    for check in ("By ranks: ρ = 0.", "Among conditions of the same category (93): r = "):
        assert check in said.text
    assert said.not_covered == "The intervals say nothing about other wordings."


def test_what_categories_make_by_themselves_is_said_with_a_doubt(noise) -> None:
    """A model that only knows categories, which here are those of lasting and passing conditions."""
    order = sorted(COURSE, key=COURSE.__getitem__)
    rank = {name: order.index(name) // 31 for name in COURSE}
    places = list(COURSE)
    said = said_of(
        {name: rank[name] + 0.2 * noise[name] for name in COURSE},
        category=lambda place: f"third {rank[places[place]]}",
    )
    assert said.head == (
        "Its P(negative) rises as “course” (how long it lasts) rises, but not clearly among "
        "conditions of the same category; r is also clear for 2 other dimensions"
    )


def test_two_items_are_said_to_be_two(noise) -> None:
    said = said_of({name: 0.2 * value + noise[name] for name, value in COURSE.items()}, items=2)
    assert said.not_covered == (
        "Only 2 items were asked, so the intervals say nothing about other sentences."
    )


def test_where_nothing_is_clear_the_strongest_is_called_the_strongest(noise) -> None:
    said = said_of(noise)
    assert said.head == "Its P(negative) has no clear relation with any of 6 dimensions"
    assert "the strongest correlation is with “" in said.text


def test_a_way_of_answering_that_heeds_nothing_comes_first(noise) -> None:
    styled = SimpleNamespace(called="mean code", style=lambda *_: "Always picks the first option")
    section = SimpleNamespace(**{**vars(SECTION), "presentation": styled})
    values = {name: 0.2 * value + 0.1 * noise[name] for name, value in COURSE.items()}
    said = said_of(values, section=section)
    assert said.head == "Always picks the first option"
    assert said.text.startswith(
        "So what it answers says little, also compared with people. Its mean code rises as “course” (how "
        "long it lasts) rises; r is also clear for 3 other dimensions. Across 93 conditions: r = "
    )
