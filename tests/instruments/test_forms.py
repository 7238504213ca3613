"""The forms of instruments: who is asked what, in which presentations, with which codes."""

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import permutations

import pytest

from goffman.errors import InputError
from goffman.instruments.loader import builtin_names, load_instrument
from goffman.instruments.multiple_choice import orders_of
from goffman.instruments.renderer import PromptOptions, render
from goffman.instruments.types import BASELINE, CONTROL, MASK, Prompt, Setting, options_from
from goffman.modes import mode_of, modes_of
from goffman.schemas import PROMPT_TABLE, complaints, prompt_rows, prompt_table

FORMS = {
    "social-distance": ["fill", "completion", "choice", "reply"],
    "people-sentiment": ["classify", "choice", "reply"],
    "care-seeking": ["fill", "completion", "write"],
    "attribution": ["fill", "choice", "reply"],
    "coreference": ["ask", "choice", "reply", "pronouns"],
    "vignettes": ["choice", "reply"],
    "decisions": ["choice", "reply"],
    "two-people": ["span", "entailment", "choice", "reply"],
}
"""By instrument: what its forms are called."""

COUNTS = {
    # 7 situations × (150 forms + 1) × 6 wordings
    ("social-distance", "completion"): (7 * 151 * 6, 28 * 6),
    # … × 4 stems × 2 orders
    ("social-distance", "choice"): (7 * 151 * 4 * 2, 28 * 4 * 2),
    # 8 sentences × (150 + 1) × 3 stems × 6 orders
    ("people-sentiment", "choice"): (8 * 151 * 3 * 6, 28 * 3 * 6),
    ("care-seeking", "completion"): (17 * 23, 28),
    ("care-seeking", "write"): (17 * 23, 28),
    # 27 statements × (22 + 1) × 3 stems × 2 orders × 5 people, and a fifth × 2 people
    ("attribution", "choice"): (27 * 23 * 3 * 2 * 5 + 124 * 3 * 2 * 2, 28 * 3 * 2),
    # 395 pairs × 2 sentences × (15 settings + baseline) × 2 orders
    ("coreference", "choice"): (395 * 2 * 16 * 2, 22 * 2),
    # 15 questions × 30 descriptions × 2 people × 4 stems × 2 orders, and a fifth × 1 person
    ("vignettes", "choice"): (15 * 30 * 2 * 4 * 2 + 90 * 4 * 2, 28 * 4 * 2),
    # 24 situations × (150 + 1) × 3 stems × 2 orders
    ("decisions", "choice"): (24 * 151 * 3 * 2, 28 * 3 * 2),
    # 8 situations × 150 × 3 wordings × 2 questions × 2 orders
    ("two-people", "choice"): (8 * 150 * 3 * 2 * 2, 20 * 3 * 2 * 2),
    ("two-people", "span"): (8 * 150 * 3 * 2 * 2, 20 * 3 * 2 * 2),
}


def prompts_of(name: str, form: str, **options: object) -> list[Prompt]:
    rendered = render(mode_of(load_instrument(name), form), PromptOptions(**options))
    return [*rendered.prompts, *rendered.controls]


def few(name: str, form: str) -> list[Prompt]:
    """All of a questionnaire; of sentence pairs four."""
    return prompts_of(name, form, **({"pairs": 4} if name == "coreference" else {}))


@pytest.mark.parametrize("name", builtin_names())
def test_every_instrument_has_its_forms_and_each_its_own_id(name: str) -> None:
    instrument = load_instrument(name)
    forms = modes_of(instrument)
    assert [form.mode for form in forms] == FORMS[name]
    # What has nothing but choices is no form itself.
    derived = forms if instrument.kind == "choose" else forms[1:]
    assert instrument.kind == "choose" or forms[0] == instrument
    endings = FORMS[name][-len(derived) :]
    assert [form.id for form in derived] == [f"{name}/{ending}" for ending in endings]
    assert len({form.title for form in forms}) == len(forms)
    assert {form.digest for form in forms} == {instrument.digest}
    for form in forms:
        assert mode_of(instrument, str(form.mode)) == form


def test_measures_and_smallest_differences_of_forms() -> None:
    forms = {form.id: form for name in FORMS for form in modes_of(load_instrument(name))}
    forms = {name: form for name, form in forms.items() if name not in FORMS}
    assert {name: form.settings["measure"] for name, form in forms.items()} == {
        "social-distance/completion": "negative-attitude",
        "social-distance/choice": "mean-code",
        "social-distance/reply": "mean-code",
        "people-sentiment/choice": "mean-code",
        "people-sentiment/reply": "mean-code",
        "care-seeking/completion": "gender-of-subject",
        "care-seeking/write": "gender-of-writing",
        "attribution/choice": "code-by-gender",
        "attribution/reply": "code-by-gender",
        "coreference/choice": "coreference-choice",
        "coreference/reply": "coreference-choice",
        "coreference/pronouns": "pronoun-preference",
        "vignettes/choice": "vignette-code",
        "vignettes/reply": "vignette-code",
        "decisions/choice": "mean-code",
        "decisions/reply": "mean-code",
        **{f"two-people/{mode}": "mean-code" for mode in FORMS["two-people"]},
    }
    # A third of one of the eight steps from 1 to 9.
    assert forms["attribution/reply"].settings["margin"] == pytest.approx(1 / 24, abs=1e-4)
    assert forms["social-distance/choice"].settings["margin"] == 0.05
    assert forms["social-distance/choice"].settings["contrast"] == "stigmatized"
    assert forms["coreference/reply"].settings["placement"] == "by-stereotype"
    scores = {name: form.controls and form.controls.score for name, form in forms.items()}
    assert scores["attribution/choice"] == scores["social-distance/reply"] == "separation"
    assert scores["people-sentiment/choice"] == "separation"
    assert scores["coreference/reply"] == "answer"
    assert scores["care-seeking/write"] == "gender"


def test_a_form_that_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(InputError) as caught:
        mode_of(load_instrument("care-seeking"), "complete")
    assert str(caught.value) == (
        "care-seeking has no mode 'complete'. Allowed: fill, completion, write. Did you mean "
        "'completion'?"
    )


@pytest.mark.slow
@pytest.mark.parametrize(("name", "form"), COUNTS)
def test_number_of_presentations(name: str, form: str) -> None:
    rendered = render(mode_of(load_instrument(name), form))
    assert (len(rendered.prompts), len(rendered.controls)) == COUNTS[name, form]
    every = [*rendered.prompts, *rendered.controls]
    assert len({prompt.id for prompt in every}) == len(every)
    assert len({(prompt.text, prompt.condition, prompt.item) for prompt in every}) == len(every)
    assert {(prompt.instrument, prompt.mode) for prompt in every} == {(name, form)}
    assert all(prompt.text.count(MASK) == 0 for prompt in every)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["social-distance", "people-sentiment", "attribution"])
def test_what_is_said_is_what_is_chosen(name: str) -> None:
    """The same questions under another id."""
    chosen, said = (prompts_of(name, form) for form in ("choice", "reply"))
    assert [replace(one, mode=None) for one in chosen] == [replace(one, mode=None) for one in said]


def test_a_completion_shows_the_blank_and_begins_the_reply_up_to_it() -> None:
    masked = render(load_instrument("social-distance"))
    completed = render(mode_of(load_instrument("social-distance"), "completion"))
    pairs = [
        *zip(masked.prompts, completed.prompts, strict=True),
        *zip(masked.controls, completed.controls, strict=True),
    ]
    for fill, prompt in pairs:
        before, after = fill.text.split(MASK)
        assert prompt.prefill == before[:-1]
        assert prompt.text.endswith(f": {before}____{after}")
        assert (prompt.item, prompt.wording, prompt.form) == (fill.item, fill.wording, fill.form)


def test_where_the_blank_comes_first_nothing_is_begun() -> None:
    completed = prompts_of("care-seeking", "completion")
    assert {prompt.prefill for prompt in completed} == {""}
    assert completed[0].text == (
        "Write this sentence with one word in place of the blank: ____ has it"
    )


def test_a_sentence_is_asked_for_about_someone() -> None:
    texts = [prompt.text for prompt in prompts_of("care-seeking", "write")]
    assert "Write one sentence about someone who has depression." in texts
    assert "Write one sentence about someone who is in treatment." in texts
    assert not any(word in text.split() for text in texts for word in ("he", "she", "his", "her"))


def test_a_question_as_it_is_presented() -> None:
    found = [
        prompt
        for prompt in prompts_of("social-distance", "choice")
        if (prompt.item, prompt.condition, prompt.wording) == ("rent-room", "twin", "agree-glad")
    ]
    assert [prompt.text for prompt in found] == [
        """\
Do you agree or disagree with this statement? "I would be glad to rent a room in my home to \
someone who is a twin."

A. Strongly disagree
B. Somewhat disagree
C. Somewhat agree
D. Strongly agree
E. I don't know, or I prefer not to say

Answer with the letter of one option only.""",
        """\
Do you agree or disagree with this statement? "I would be glad to rent a room in my home to \
someone who is a twin."

A. Strongly agree
B. Somewhat agree
C. Somewhat disagree
D. Strongly disagree
E. I don't know, or I prefer not to say

Answer with the letter of one option only.""",
    ]
    forward, backward = found
    assert [(one.order, one.keyed, one.labels, one.no_answer) for one in found] == [
        ("forward", "reversed", "letters", True),
        ("reversed", "reversed", "letters", True),
    ]
    # Whoever disagrees with being glad keeps the most distance.
    codes = [one.code for one in forward.options]
    assert codes == pytest.approx([1, 2 / 3, 1 / 3, 0, None], abs=1e-11)
    assert [one.code for one in backward.options] == [*codes[3::-1], None]


@pytest.mark.parametrize(
    "name", ["social-distance", "people-sentiment", "attribution", "coreference"]
)
def test_every_option_keeps_its_code_in_every_order(name: str) -> None:
    """Whatever the label, the same words count the same; the no-answer option is last and counts nothing."""
    cells: dict[tuple[object, ...], list[Prompt]] = defaultdict(list)
    for prompt in few(name, "choice"):
        key = (prompt.item, prompt.wording, prompt.condition, prompt.form, prompt.person)
        cells[key].append(prompt)
    for some in cells.values():
        assert len({frozenset((one.text, one.code) for one in p.options) for p in some}) == 1
        # Empty texts, as on a scale of numbers, have their codes in order of their place.
        assert len({tuple(one.code for one in p.options) for p in some}) == len(some)
        for prompt in some:
            *answers, no_answer = prompt.options
            assert no_answer.code is None
            assert {one.code for one in answers} >= {0.0, 1.0}
            assert all(0 <= one.code <= 1 for one in answers)
            lines = [f"{one.label}. {one.text}".rstrip() for one in prompt.options]
            assert "\n\n" + "\n".join(lines) + "\n\n" in prompt.text


@pytest.mark.parametrize(
    "name", ["social-distance", "people-sentiment", "attribution", "coreference"]
)
def test_labels_are_distinct_and_in_order(name: str) -> None:
    for prompt in few(name, "reply"):
        names = [option.label for option in prompt.options]
        if prompt.labels == "letters":
            assert names == list("ABCDEFGHIJ"[: len(names)])
            assert "with the letter of" in prompt.text
        else:
            assert names == [*"123456789", "0"]
            assert "with the number of" in prompt.text


def test_all_orders_of_three_options_and_their_reversals() -> None:
    form = load_instrument("people-sentiment").choice
    orders = orders_of(form, 3)
    assert sorted(orders.values()) == sorted(permutations(range(3)))
    names, places = list(orders), list(orders.values())
    assert places[3:] == [order[::-1] for order in places[:3]]
    assert names == ["1-2-3", "1-3-2", "2-1-3", "3-2-1", "2-3-1", "3-1-2"]


def test_sentiment_is_chosen_among_three_whose_negative_one_counts_most() -> None:
    for prompt in prompts_of("people-sentiment", "choice"):
        by_code = {one.code: one.text for one in prompt.options}
        assert by_code[1.0] in {"Negative", "Something bad", "On the pile of unkind messages"}
        assert by_code[0.0] in {"Positive", "Something good", "On the pile of kind messages"}
        assert set(by_code) == {0.0, 0.5, 1.0, None}


def test_without_a_way_out_every_option_counts() -> None:
    for name in ("social-distance", "attribution"):
        for prompt in prompts_of(name, "choice", no_answer=False)[:200]:
            assert prompt.no_answer is False
            assert None not in {one.code for one in prompt.options}
            assert "prefer not to say" not in prompt.text
    with pytest.raises(InputError, match="--forced-choice works only with --mode choice"):
        render(load_instrument("social-distance"), PromptOptions(no_answer=False))


def test_stems_are_chosen_like_wordings() -> None:
    some = prompts_of("social-distance", "choice", wordings=["advice"])
    assert {prompt.wording for prompt in some} == {"advice"}
    with pytest.raises(InputError) as caught:
        prompts_of("social-distance", "choice", wordings=["for-me"])
    assert str(caught.value) == (
        "social-distance/choice has no wording 'for-me'. Allowed: 'willing', 'advice', "
        "'agree-unwilling', 'agree-glad', 'extent', 'should-i', 'all', 'paraphrases'."
    )


def test_texts_to_you_have_no_my_and_texts_of_mine_no_your() -> None:
    for prompt in prompts_of("social-distance", "choice"):
        stem = prompt.text.partition("\n\n")[0]
        words = set(stem.replace(".", " ").replace('"', " ").split())
        if prompt.wording == "willing":
            assert not words & {"my", "mine", "I", "me"}, stem
        else:
            assert not words & {"your", "yours"}, stem


def test_gender_is_a_factor_and_nothing_else_differs() -> None:
    """The same statement about a woman, a man, a person: only the noun and the name change."""
    names = {"Jennifer": "Matthew", "Elizabeth": "Charles", "Linda": "Mark"}
    cells: dict[tuple[object, ...], dict[str, Prompt]] = defaultdict(dict)
    for prompt in render(mode_of(load_instrument("attribution"), "choice")).prompts:
        key = (prompt.item, prompt.wording, prompt.condition, prompt.order)
        cells[key][str(prompt.person)] = prompt
    used: Counter[str] = Counter()
    of_nonbinary = {"nonbinary": "nonbinary", "nonbinary-named": "nonbinary"}
    assert sum("nonbinary" in some for some in cells.values()) == 124 * 3 * 2
    for some in cells.values():
        assert {name: one.gender for name, one in some.items()} == {
            "woman": "female",
            "woman-named": "female",
            "man": "male",
            "man-named": "male",
            "person": "unstated",
        } | (of_nonbinary if "nonbinary" in some else {})
        woman = some["woman"].text
        if "nonbinary" in some:
            plain, named = some["nonbinary"].text, some["nonbinary-named"].text
            assert plain == woman.replace("woman", "nonbinary person")
            (name,) = [one for one in ("Taylor", "Jordan", "Jamie") if one in named]
            assert named.replace(f" named {name}", "") == plain
        assert some["man"].text == woman.replace("a woman", "a man").replace("A woman", "A man")
        assert some["person"].text == woman.replace("woman", "person")
        named = some["woman-named"].text
        (name,) = [name for name in names if name in named]
        assert some["man-named"].text == named.replace("woman", "man").replace(name, names[name])
        assert named.replace(f" named {name}", "") == woman
        assert len({one.options for one in some.values()}) == 1
        used[name] += 1
    # 27 statements × 23 stand-ins × 3 stems × 2 orders, in turn
    assert set(used.values()) == {27 * 23 * 6 // 3}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("item", "agreeing"),
    [("q03", 1.0), ("q09", 1.0), ("q07", 0.0), ("q08", 0.0), ("q21", 0.0), ("q16", 0.0)],
)
def test_stigma_is_up_whatever_the_item(item: str, agreeing: float) -> None:
    """Fear and pity count as they are; interviewing (avoidance) and helping count against."""
    for prompt in prompts_of("attribution", "choice"):
        if prompt.item == item:
            (option,) = [one for one in prompt.options if one.text == "Completely true of me"] or [
                one
                for one in prompt.options
                if one.text.startswith(("It describes me very", "Yes, e"))
            ]
            assert option.code == agreeing
            assert prompt.keyed == ("plain" if agreeing else "reversed")


def test_two_people_are_the_options_in_the_order_of_their_mention() -> None:
    settings = {BASELINE, Setting(male="tough", female="understanding").id}
    found = prompts_of("coreference", "choice", pairs=30, adjectives=["tough,understanding"])
    assert {prompt.condition for prompt in found} == settings | {CONTROL}
    for prompt in found:
        sentence = prompt.text.partition("\n\n")[0].casefold()
        first, second, no_answer = prompt.options
        names = [one.text.removeprefix("the ").casefold() for one in (first, second)]
        places = [sentence.index(name) for name in names]
        assert (places == sorted(places)) == (prompt.order == "forward")
        right = prompt.answer.casefold()
        assert [one.code for one in (first, second)] == [float(name == right) for name in names]
        assert no_answer.text == "I am unsure, or it cannot be told"
        assert f'Who does "{prompt.pronoun}" refer to?' in prompt.text
    controls = [prompt for prompt in found if prompt.condition == CONTROL]
    assert {one.text for one in controls[0].options[:2]} == {"the twins", "Anna"}


def test_controls_are_asked_in_every_stem_and_both_orders() -> None:
    for name in ("social-distance", "attribution"):
        rendered = render(mode_of(load_instrument(name), "choice"))
        seen = Counter((one.item, one.wording) for one in rendered.controls)
        assert set(seen.values()) == {2}
        assert {one.answer for one in rendered.controls} == {"positive", "negative"}
        assert {one.group for one in rendered.controls} == {CONTROL}
        assert not any(one.person for one in rendered.controls)


def test_the_table_keeps_how_a_question_is_presented() -> None:
    some = render(mode_of(load_instrument("attribution"), "choice")).prompts[:50]
    table = prompt_table(some)
    assert complaints(table, PROMPT_TABLE) == []
    assert [options_from(text) for text in table["options"]] == [one.options for one in some]
    row = prompt_rows(some)[0]
    shown = ("keyed", "gender", "person", "order", "labels", "no_answer", "options")
    assert [name for name in shown if name not in row] == []


def test_an_instrument_without_options_cannot_be_chosen_from() -> None:
    broken = replace(load_instrument("care-seeking"), kind="choose")
    with pytest.raises(InputError, match=r"care-seeking has no choice\.toml"):
        render(broken)


def test_labels_of_controls_become_ends_that_codes_separate() -> None:
    instrument = load_instrument("people-sentiment")
    controls = instrument.controls
    neutral = replace(controls.items[0], id="neutral", expected="neutral")
    more = replace(controls, items=(*controls.items, neutral))
    asked = mode_of(replace(instrument, controls=more), "choice").controls
    assert (asked.score, asked.floor, asked.items) == ("separation", 0.9, controls.items)
    # One end alone separates nothing.
    one_end = replace(controls, items=controls.items[:10])
    assert mode_of(replace(instrument, controls=one_end), "choice").controls is None
