"""A question with options → its presentations: stems × orders × people, each as a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations

from goffman.instruments.controls import control_prompt
from goffman.instruments.text import about_person, put_in, word_at
from goffman.instruments.types import (
    MASK,
    ChoiceLabels,
    Instrument,
    Item,
    MultipleChoice,
    Option,
    PersonDescription,
    Prompt,
    Questionnaire,
    Stem,
)

FORWARD, REVERSED = "forward", "reversed"

_ONE: dict[ChoiceLabels, str] = {"letters": "letter", "numbers": "number"}

StandIn = tuple[Prompt, str]
"""A prompt of the condition without text and item, and the text in the slot."""


def orders_of(form: MultipleChoice, count: int) -> dict[str, tuple[int, ...]]:
    """Return, by name, the orders in which this many options are presented.

    The second half are the orders of the first half reversed, one by one.
    """
    if form.orders == "two":
        forward = tuple(range(count))
        return {FORWARD: forward, REVERSED: forward[::-1]}
    half = [order for order in permutations(range(count)) if order[0] < order[-1]]
    orders = [*half, *(order[::-1] for order in half)]
    return {"-".join(str(place + 1) for place in order): order for order in orders}


def labelled(
    options: Sequence[tuple[str, float]], labels: ChoiceLabels, no_answer: str
) -> tuple[Option, ...]:
    """Return the options with their labels, the no-answer option last; "" means there is none."""
    if labels == "letters":
        names = [chr(ord("A") + place) for place in range(len(options) + 1)]
    else:
        # On a scale from 1 to 9, the no-answer option is no tenth point.
        names = [*(str(place + 1) for place in range(len(options))), "0"]
    labeled = [
        Option(label=name, text=text, code=code)
        for name, (text, code) in zip(names, options, strict=False)
    ]
    if no_answer:
        labeled.append(Option(label=names[-1], text=no_answer, code=None))
    return tuple(labeled)


def laid_out(stem: str, options: Sequence[Option], request: str) -> str:
    """Return the text of a choice: the stem, one option per line, and how to answer."""
    lines = "\n".join(f"{option.label}. {option.text}".rstrip() for option in options)
    return f"{stem}\n\n{lines}\n\n{request}"


def presented(
    content: Questionnaire,
    form: MultipleChoice,
    stand_ins: Iterable[StandIn],
    *,
    stems: Sequence[Stem],
    no_answer: bool,
) -> Iterator[Prompt]:
    """Yield every presentation of a questionnaire: condition by condition, item by item."""
    items_by_id = {item.id: item for item in reversed(content.items)}
    items = [items_by_id[name] for name in dict.fromkeys(item.id for item in content.items)]
    for turn, (condition_prompt, slot_value) in enumerate(stand_ins):
        for place, item in enumerate(items):
            prompt = replace(
                condition_prompt,
                item=item.id,
                dimension=item.dimension or None,
                keyed=item.choice_keyed or item.keyed,
            )
            # A step other than that of the presentations, so that no name goes with one of them.
            step = place + 2 * turn
            for stem in stems_for(stems, item.asks):
                if form.two_people:
                    text = put_in(item.text, content.fields)
                    filled_item = replace(item, text=text)
                    yield from _of_two(
                        form, prompt, stem, filled_item, slot_value, no_answer=no_answer
                    )
                    continue
                for person, described in _people(form, step):
                    if person and (place + turn) % person.every:
                        continue
                    person_prompt = prompt
                    if person:
                        person_prompt = replace(prompt, gender=person.gender, person=person.id)
                    values = {**content.fields, **_places_of(person, described)}
                    values[content.slot.name] = put_in(slot_value, values)
                    text = _stem_text(stem, item, described, values, bare=not condition_prompt.form)
                    yield from _in_orders(form, person_prompt, stem, text, no_answer=no_answer)


def stems_for(stems: Sequence[Stem], asks: str) -> list[Stem]:
    """Return the stems of an item, one per wording: those for what it asks."""
    return [stem for stem in stems if stem.asks in {"", asks}]


def _places_of(person: PersonDescription | None, described: str) -> dict[str, str]:
    """Return the texts for the places about a person; none if no gender is stated."""
    if person is None or person.gender == "unstated":
        return {}
    return about_person(described, person.gender)


def _people(form: MultipleChoice, turn: int) -> Sequence[tuple[PersonDescription | None, str]]:
    """Return everyone who is described, and how; a single (None, "") if nobody is described."""
    people = [(person, person.texts[turn % len(person.texts)]) for person in form.people]
    return people or [(None, "")]


def _stem_text(
    stem: Stem,
    item: Item,
    described: str,
    values: Mapping[str, str],
    *,
    bare: bool,
) -> str:
    """Return the stem with the item in it; ``bare``: without a condition."""
    item_text = item.baseline or item.text if bare else item.text
    # A baseline of its own is not addressed to the person; one by an empty slot is.
    your_text = item_text if bare and item.baseline else item.your_text or item_text
    texts = {"item": item_text, "your_item": your_text}
    filled_texts = {
        name: put_in(text, values).replace(MASK, described) for name, text in texts.items()
    }
    # A control has no description, and so nothing before its question.
    return put_in(stem.text, {**values, **filled_texts, "question": item.question}).strip()


def _in_orders(
    form: MultipleChoice, prompt: Prompt, stem: Stem, text: str, *, no_answer: bool
) -> Iterator[Prompt]:
    """Yield the prompt in every order of its options, with their codes after all keying."""
    scale = next(scale for scale in form.scales if scale.id == stem.scale)
    plain = stem.keyed == prompt.keyed
    # Rounded, so that a third is the same number from either end.
    codes = [round(code if plain else 1 - code, 12) for code in scale.codes]
    options = list(zip(scale.texts, codes, strict=True))
    request = form.request.replace("{labels}", _ONE[scale.labels])
    for name, order in orders_of(form, len(options)).items():
        labeled_options = labelled(
            [options[place] for place in order], scale.labels, form.no_answer if no_answer else ""
        )
        yield replace(
            prompt,
            wording=stem.id,
            paraphrase=None if stem.default else stem.id,
            family=stem.family or None,
            keyed="plain" if plain else "reversed",
            text=laid_out(text, labeled_options, request),
            order=name,
            labels=scale.labels,
            no_answer=no_answer,
            options=labeled_options,
        )


def _of_two(
    form: MultipleChoice, prompt: Prompt, stem: Stem, item: Item, who: str, *, no_answer: bool
) -> Iterator[Prompt]:
    """Yield the prompt with either person mentioned first; the two people are the options.

    They stand in the order of mention. A stem that is keyed reversed asks for the opposite.
    ``who``: the person who stands in the slot.
    """
    two_people, plain = form.two_people, stem.keyed == prompt.keyed
    if two_people is None:
        return
    question_field = {"question": item.opposite if stem.keyed == "reversed" else item.question}
    question = put_in(two_people.question, question_field)
    as_option = {"span": two_people.mention, "entailment": two_people.statement}.get(
        str(prompt.mode), two_people.option
    )
    people = [(who, float(plain)), (item.other, float(not plain))]
    for name, ordered_people in ((FORWARD, people), (REVERSED, people[::-1])):
        first, second = (
            put_in(two_people.mention, {"who": person}) for person, _ in ordered_people
        )
        passage = put_in(stem.text, {"item": item.text, "first": first, "second": second})
        labeled_options = labelled(
            [
                (put_in(as_option, {**question_field, "who": person}), code)
                for person, code in ordered_people
            ],
            "letters",
            form.no_answer if no_answer else "",
        )
        text = {"span": f"{passage}\n{question}", "entailment": passage}.get(str(prompt.mode))
        request = form.request.replace("{labels}", _ONE["letters"])
        yield replace(
            prompt,
            wording=stem.id,
            paraphrase=None if stem.default else stem.id,
            family=stem.family or None,
            keyed="plain" if plain else "reversed",
            text=text or laid_out(f"{passage} {question}", labeled_options, request),
            order=name,
            labels="letters",
            no_answer=no_answer,
            options=labeled_options,
        )


def presented_controls(
    instrument: Instrument,
    content: Questionnaire,
    form: MultipleChoice,
    *,
    stems: Sequence[Stem],
    no_answer: bool,
) -> Iterator[Prompt]:
    """Yield the control items of a questionnaire, if any, in every stem and order."""
    for place, control in enumerate(instrument.controls.items if instrument.controls else ()):
        item = Item(
            id=control.id,
            text=control.text,
            your_text=control.your_text,
            question=control.question,
            opposite=control.opposite,
            other=control.other,
        )
        prompt = control_prompt(instrument, control, wording="", text="", keyed=control.keyed)
        # A person of unstated gender if there is one; else women and men take turns, by pairs.
        people = [entry for entry in _people(form, place) if not entry[0] or entry[0].every == 1]
        unstated = [entry for entry in people if entry[0] and entry[0].gender == "unstated"]
        person, described = (unstated or people)[place // 2 % len(unstated or people)]
        values = {**content.fields, **_places_of(person, described)}
        values[content.slot.name] = put_in(control.slot, values)
        for stem in stems_for(stems, control.asks):
            if form.two_people:
                slot_person = control.slot
                yield from _of_two(form, prompt, stem, item, slot_person, no_answer=no_answer)
                continue
            text = _stem_text(stem, item, described, values, bare=False)
            yield from _in_orders(form, prompt, stem, text, no_answer=no_answer)


def presented_pairs(
    form: MultipleChoice, stem: Stem, sentences: Iterable[Prompt], *, no_answer: bool
) -> Iterator[Prompt]:
    """Yield sentences about two people, with these as options, in both orders.

    forward: as they are mentioned in the sentence. The code is 1 for the person whom the pronoun
    refers to.
    """
    request = form.request.replace("{labels}", _ONE["letters"])
    for prompt in sentences:
        right_answer, wrong_answer = (str(prompt.answer), 1.0), (str(prompt.other), 0.0)
        right_at, wrong_at = (
            word_at(prompt.text, name) for name, _ in (right_answer, wrong_answer)
        )
        swapped = wrong_at is not None and (right_at is None or wrong_at < right_at)
        mentioned = (wrong_answer, right_answer) if swapped else (right_answer, wrong_answer)
        # A first name stands alone, other words with "the".
        people = [(name if name[:1].isupper() else f"the {name}", code) for name, code in mentioned]
        text = put_in(stem.text, {"item": prompt.text, "pronoun": str(prompt.pronoun)})
        for name, ordered_people in ((FORWARD, people), (REVERSED, people[::-1])):
            labeled_options = labelled(
                ordered_people, "letters", form.no_answer if no_answer else ""
            )
            yield replace(
                prompt,
                paraphrase=None if stem.default else stem.id,
                text=laid_out(text, labeled_options, request),
                order=name,
                labels="letters",
                no_answer=no_answer,
                options=labeled_options,
            )
