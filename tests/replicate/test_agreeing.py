"""A published number beside the recomputed one: when they agree."""

import pytest

from goffman.replicate.rows import Figure, Result, Study, read_figures, set_side_by_side
from goffman.replicate.rows import _row as row


@pytest.mark.parametrize(
    ("printed", "value", "agrees"),
    [
        ("28.6", 28.56, True),
        ("28.6", 28.649, True),
        ("28.6", 28.651, False),
        ("0.000", 0.0004, True),
        ("0.000", 0.0006, False),
        ("-4.1", -4.06, True),
        ("27", 27, True),
        ("27", 30, False),
        ("yes", "yes", True),
        ("yes", "no", False),
    ],
)
def test_a_number_agrees_to_its_last_printed_decimal(
    printed: str, value: float | str, agrees: bool
) -> None:
    found = row(Result("x", value), Figure(name="x", published=printed))
    assert found.agrees is agrees


def test_a_half_is_within_what_was_printed_whatever_the_order_of_the_sum() -> None:
    figure = Figure(name="x", published="0.25")
    for value in (0.245, 0.255, sum([0.1, 0.1, 0.055]), 0.24500000000000002):
        assert row(Result("x", value), figure).agrees is True


def test_a_known_difference_is_null_and_a_third_number_is_false() -> None:
    figure = Figure(name="p", published="0.472", expected="0.489", note="one-sided")
    assert row(Result("p", 0.4888), figure).agrees is None
    assert row(Result("p", 0.472), figure).agrees is False
    assert row(Result("p", 0.5), figure).agrees is False
    assert row(Result("p", 0.4888), figure).note == "one-sided"


def test_what_rests_on_other_ratings_neither_agrees_nor_differs() -> None:
    figure = Figure(name="gap", published="0.28")
    assert row(Result("gap", 0.281, firm=False), figure).agrees is None
    assert row(Result("gap", 0.3, firm=False), figure).agrees is None


def test_a_figure_that_nothing_was_recomputed_for_is_said() -> None:
    done = set_side_by_side("mei2023", [])
    assert [found.name for found in done.rows] == [f.name for f in read_figures("mei2023")]
    assert all(found.agrees is None and found.recomputed is None for found in done.rows)
    assert all("not recomputable from these files" in found.note for found in done.rows)
    assert done.differing == []


def test_json_has_five_keys_and_no_noise() -> None:
    figure = Figure(name="x", published="28.6")
    entry = row(Result("x", 28.55999999999999), figure).entry()
    assert entry == {
        "name": "x",
        "published": 28.6,
        "recomputed": 28.56,
        "agrees": True,
        "note": "",
    }


@pytest.mark.parametrize("study", Study)
def test_every_figure_stands_once_and_a_known_difference_has_its_reason(study: Study) -> None:
    figures = read_figures(study)
    assert len({figure.name for figure in figures}) == len(figures)
    assert all(figure.published for figure in figures)
    assert all(figure.note for figure in figures if figure.expected)
