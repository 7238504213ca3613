"""The part that is asked through a server by default: small, balanced, the same every time."""

from collections import Counter, defaultdict

import pytest

from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import PromptOptions, Rendered, render
from goffman.instruments.subsample import MOST_REQUESTS
from goffman.instruments.types import BASELINE, Prompt
from goffman.modes import mode_of

THROUGH_A_SERVER = [
    ("social-distance", "completion"),
    ("social-distance", "reply"),
    ("people-sentiment", "reply"),
    ("care-seeking", "write"),
    ("attribution", "reply"),
    ("coreference", "ask"),
    ("coreference", "reply"),
    ("vignettes", "reply"),
    ("decisions", "reply"),
]
"""What a chat model behind a server is asked by default."""

FIRST = (
    *("schizophrenia", "depression", "alcohol-dependence", "opioid-dependence"),
    "daily-troubles",
)
"""The first description of each, which are asked all questions."""


def part(name: str, form: str, **options: object) -> Rendered:
    instrument = mode_of(load_instrument(name), form)
    return render(instrument, PromptOptions(sample="balanced", **options))


def counts(prompts: tuple[Prompt, ...], *columns: str) -> Counter[tuple[object, ...]]:
    return Counter(tuple(getattr(one, column) for column in columns) for one in prompts)


def about_equal(found: Counter[tuple[object, ...]], *, within: int = 1) -> bool:
    return max(found.values()) - min(found.values()) <= within


def test_all_instruments_together_stay_within_6500_requests() -> None:
    requests = {}
    for name, form in THROUGH_A_SERVER:
        rendered = part(name, form)
        requests[name, form] = len(rendered.prompts) + len(rendered.controls)
    assert requests == {
        ("social-distance", "completion"): 7 * 151 + 28,
        ("social-distance", "reply"): 7 * 151 + 56,
        ("people-sentiment", "reply"): 2 * 150 + 8 + 56,
        ("care-seeking", "write"): 17 * 23 + 28,
        ("attribution", "reply"): 27 * 22 * 2 + 118 + 56,
        ("coreference", "ask"): 20 * 2 * 16 + 22,
        ("coreference", "reply"): 20 * 2 * 2 + 44,
        ("vignettes", "reply"): (15 * 5 + 7 * 25) * 2 + 50 + 56,
        ("decisions", "reply"): 150 * 4 + 24 + 56,
    }
    assert sum(requests.values()) <= MOST_REQUESTS


@pytest.mark.slow
@pytest.mark.parametrize(("name", "form"), THROUGH_A_SERVER)
def test_a_part_is_of_the_whole_and_the_same_every_time(name: str, form: str) -> None:
    once, again = (part(name, form) for _ in range(2))
    assert once == again
    pairs = {"pairs": 20} if name == "coreference" else {}
    whole = render(mode_of(load_instrument(name), form), PromptOptions(**pairs))
    assert {one.id for one in once.prompts} <= {one.id for one in whole.prompts}
    assert {one.id for one in once.controls} <= {one.id for one in whole.controls}
    assert {one.item for one in once.prompts} == {one.item for one in whole.prompts}
    assert {one.item for one in once.controls} == {one.item for one in whole.controls}


def test_social_distance_has_one_stem_and_order_a_cell_in_text() -> None:
    prompts = part("social-distance", "reply").prompts
    assert set(counts(prompts, "item", "condition", "form").values()) == {1}
    assert about_equal(counts(prompts, "wording", "order"))
    assert about_equal(counts(prompts, "item", "order"), within=3)
    # Of seven situations a condition has four in one order and three in the other, and each of
    # the three wordings that it has twice in both.
    assert set(counts(prompts, "condition", "form", "order").values()) == {3, 4}
    assert set(counts(prompts, "condition", "form", "wording", "order").values()) == {1}


def test_social_distance_has_one_stem_a_cell_in_both_orders_by_probability() -> None:
    prompts = part("social-distance", "choice").prompts
    cells: dict[tuple[object, ...], set[tuple[object, ...]]] = defaultdict(set)
    for one in prompts:
        cells[one.item, one.condition, one.form].add((one.wording, one.order))
    for seen in cells.values():
        assert len({stem for stem, _ in seen}) == 1
        assert {order for _, order in seen} == {"forward", "reversed"}
    # 7 items over 4 stems: once or twice each, for every form; 151 forms: 37 or 38, for every item.
    assert about_equal(counts(prompts, "condition", "form", "wording"), within=2)
    assert about_equal(counts(prompts, "item", "wording"), within=2)
    for group in ("stigmatized", "non-stigmatized", "rare"):
        some = tuple(one for one in prompts if one.group == group)
        assert about_equal(counts(some, "wording"), within=4), group


def test_completions_have_one_wording_a_cell() -> None:
    prompts = part("social-distance", "completion").prompts
    assert set(counts(prompts, "item", "condition", "form").values()) == {1}
    assert about_equal(counts(prompts, "condition", "form", "wording"))
    assert about_equal(counts(prompts, "item", "wording"))


def test_sentiment_has_two_sentences_a_condition_one_in_an_order_and_one_in_its_reversal() -> None:
    every = part("people-sentiment", "reply").prompts
    assert set(counts(every, "item", "condition", "form").values()) == {1}
    prompts = tuple(one for one in every if one.condition != BASELINE)
    assert len(every) - len(prompts) == 8
    assert set(counts(prompts, "condition", "form").values()) == {2}
    assert about_equal(counts(prompts, "item"))
    # The stems go faster: of 37 or 38 forms an order has 5 to 8.
    assert about_equal(counts(prompts, "item", "order"), within=3)
    assert about_equal(counts(prompts, "item", "wording"), within=2)
    assert about_equal(counts(prompts, "order", "wording"), within=2)
    orders: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for one in prompts:
        orders[one.condition, one.form].append(str(one.order))
    assert all(one == other[::-1] for one, other in orders.values())


def test_women_and_men_are_described_in_the_same_presentation() -> None:
    prompts = part("attribution", "reply").prompts
    assert BASELINE not in {one.condition for one in prompts}
    cells: dict[tuple[object, ...], dict[str, Prompt]] = defaultdict(dict)
    for one in prompts:
        cells[one.item, one.condition][str(one.gender)] = one
    assert len(cells) == 27 * 22
    others = [both["nonbinary"] for both in cells.values() if "nonbinary" in both]
    assert len(others) == 118
    assert about_equal(counts(tuple(others), "order"))
    assert about_equal(counts(tuple(others), "wording"), within=3)
    assert about_equal(counts(tuple(others), "item"), within=1)
    for both in cells.values():
        assert {"female", "male"} <= set(both)
        woman, man = both["female"], both["male"]
        if other := both.get("nonbinary"):
            assert (woman.wording, woman.order) == (other.wording, other.order)
            assert str(woman.person).replace("woman", "nonbinary") == other.person
        assert (woman.wording, woman.order) == (man.wording, man.order)
        assert str(woman.person).replace("woman", "man") == man.person
    women = tuple(one for one in prompts if one.gender == "female")
    for column in ("wording", "order", "person"):
        assert about_equal(counts(women, "item", column), within=2), column
        assert about_equal(counts(women, "condition", column), within=3), column
        assert about_equal(counts(women, "dimension", column), within=6), column
    assert about_equal(counts(women, "wording", "order", "person"), within=2)


def test_names_go_with_no_stem_and_no_order() -> None:
    named = [one for one in part("attribution", "reply").prompts if one.person == "woman-named"]
    seen = Counter(
        (name, one.wording, one.order)
        for one in named
        for name in ("Jennifer", "Elizabeth", "Linda")
        if name in one.text
    )
    assert len(seen) == 3 * 3 * 2
    assert sum(seen.values()) == len(named)
    assert max(seen.values()) <= 2 * min(seen.values())


def test_controls_are_asked_in_both_orders_and_each_stem() -> None:
    for name in ("social-distance", "people-sentiment", "attribution", "decisions"):
        controls = part(name, "reply").controls
        assert set(counts(controls, "item").values()) == {2}
        assert set(counts(controls, "item", "wording").values()) == {2}
        assert about_equal(counts(controls, "wording"), within=2)
        assert about_equal(counts(controls, "answer"))


@pytest.mark.parametrize("form", ["reply", "choice"])
def test_every_description_is_asked_as_people_were_in_one_order(form: str) -> None:
    rendered = part("vignettes", form)
    prompts = tuple(one for one in rendered.prompts if one.gender != "nonbinary")
    others = tuple(one for one in rendered.prompts if one.gender == "nonbinary")
    assert about_equal(counts(others, "order"), within=0)
    assert {(one.item, one.condition, one.order) for one in others} < {
        (one.item, one.condition, one.order) for one in prompts
    }
    assert {one.wording for one in (*prompts, *rendered.controls)} == {"scale"}
    # Fifteen questions about the first of each, and the seven of the score about the others.
    assert len(prompts) == (15 * 5 + 7 * 25) * 2
    further = tuple(one for one in prompts if one.condition not in FIRST)
    assert {one.dimension for one in further} == {"stigma"}
    assert len(counts(further, "condition")) == 25
    # A woman and a man in the same order.
    assert set(counts(prompts, "item", "condition", "gender").values()) == {1}
    assert set(counts(prompts, "item", "condition", "order").values()) == {2}
    assert about_equal(counts(prompts, "gender", "order"), within=0)
    stigma = tuple(one for one in prompts if one.dimension == "stigma")
    assert about_equal(counts(stigma, "item", "order"), within=0)
    assert about_equal(counts(stigma, "condition", "order"), within=2)
    # Of the five descriptions of a disorder a question meets each order two or three times.
    assert about_equal(counts(stigma, "category", "item", "order"), within=6)
    disorders = tuple(one for one in stigma if one.group == "disorder")
    assert about_equal(counts(disorders, "category", "item", "order"), within=2)
    assert set(counts(rendered.controls, "item", "order").values()) == {1}
    # One asks in another wording on purpose: then that one, and not none.
    asked = part("vignettes", form, wordings=["friend"]).prompts
    assert {one.wording for one in asked} == {"friend"}
    assert len(asked) == len(prompts) + len(others)


def test_each_condition_has_four_decisions_of_both_keyings_in_both_orders() -> None:
    every = part("decisions", "reply").prompts
    prompts = tuple(one for one in every if one.condition != BASELINE)
    assert set(counts(prompts, "condition", "form").values()) == {4}
    cells = counts(prompts, "condition", "form", "keyed", "order")
    assert set(cells.values()) == {1}
    assert len(cells) == 150 * 4
    assert about_equal(counts(prompts, "item", "wording"))
    assert about_equal(counts(prompts, "item", "order"))
    for group, each in (("stigmatized", 18), ("non-stigmatized", 5), ("rare", 2)):
        some = tuple(one for one in prompts if one.group == group)
        assert set(counts(some, "item").values()) == {each}
    without = tuple(one for one in every if one.condition == BASELINE)
    assert set(counts(without, "item").values()) == {1}
    assert len(without) == 24


def test_sentence_pairs_are_fewer_unless_their_number_is_given() -> None:
    asked = part("coreference", "ask").prompts
    assert len({one.item for one in asked}) == 20
    assert len({one.condition for one in asked}) == 16
    said = part("coreference", "reply").prompts
    assert {one.condition for one in said} == {BASELINE}
    assert {one.item for one in said} == {one.item for one in asked}
    assert len({one.item for one in part("coreference", "ask", pairs=3).prompts}) == 3
    chosen = part("coreference", "reply", adjectives=["old,"]).prompts
    assert {one.condition for one in chosen} == {BASELINE, "old,"}


def test_masked_models_and_classifiers_are_asked_everything() -> None:
    for name in ("social-distance", "people-sentiment"):
        instrument = load_instrument(name)
        assert render(instrument, PromptOptions(sample="balanced")) == render(instrument)
