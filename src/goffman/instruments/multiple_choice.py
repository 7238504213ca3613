"""Questions with options: read from choice.toml, and presented in stems × orders × people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any, Literal, get_args

from goffman.errors import did_you_mean
from goffman.instruments.controls import CHOICE_FILE, control_prompt, read_controls
from goffman.instruments.fields import (
    OWN_ID,
    REQUIRED,
    TABLE,
    TABLES,
    TEXT,
    UNIQUE_ID,
    Field,
    Fields,
    is_number,
    number,
    texts,
)
from goffman.instruments.files import Faults, TomlFile, TomlTable, read_toml
from goffman.instruments.questionnaire import MOST_PROMPTS
from goffman.instruments.text import (
    PERSON_PLACES,
    about_person,
    places,
    put_in,
    stray_braces,
    word_at,
)
from goffman.instruments.types import (
    CHOICE_LABELS,
    KEYED,
    MASK,
    ChoiceLabels,
    Controls,
    Instrument,
    InstrumentKind,
    Item,
    MultipleChoice,
    Option,
    PersonDescription,
    Prompt,
    Questionnaire,
    Scale,
    SentencePairs,
    Stem,
    Subsample,
    TwoPeople,
)

FORWARD, REVERSED = "forward", "reversed"

_ONE: dict[ChoiceLabels, str] = {"letters": "letter", "numbers": "number"}

StandIn = tuple[Prompt, str]
"""A prompt of the condition without text and item, and the text in the slot."""


def orders_of(form: MultipleChoice, count: int) -> dict[str, tuple[int, ...]]:
    """Return the orders in which ``count`` options are presented, by name.

    The second half repeats the first half, each order reversed.
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
    """Return the options with their labels, last the no-answer option unless it is empty."""
    if labels == "letters":
        names = [chr(ord("A") + place) for place in range(len(options) + 1)]
    else:
        # The no-answer option is 0, since 10 would look like a point of a scale from 1 to 9.
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
            # First names change in other steps than presentations, so that they are not confounded.
            step = place + 2 * turn
            for stem in stems_for(stems, item.asks):
                if form.two_people:
                    text = put_in(item.text, content.fields)
                    filled_item = replace(item, text=text)
                    yield from _of_two(
                        form, prompt, stem, filled_item, slot_value, no_answer=no_answer
                    )
                    continue
                for person, described in _described_people(form, step):
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
    """Return the stems that fit what an item asks for, one per wording."""
    return [stem for stem in stems if stem.asks in {"", asks}]


def _places_of(person: PersonDescription | None, described: str) -> dict[str, str]:
    """Return the texts for the places about a person; none if no gender is stated."""
    if person is None or person.gender == "unstated":
        return {}
    return about_person(described, person.gender)


def _described_people(
    form: MultipleChoice, turn: int
) -> Sequence[tuple[PersonDescription | None, str]]:
    """Return every person described with a text for this turn, or (None, "") if there is nobody."""
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
    """Return the stem with the item in it; ``bare``: whether it is without a condition."""
    item_text = item.baseline or item.text if bare else item.text
    # An item's own baseline has no text addressed to the person; one with an empty slot has.
    your_text = item_text if bare and item.baseline else item.your_text or item_text
    texts = {"item": item_text, "your_item": your_text}
    filled_texts = {
        name: put_in(text, values).replace(MASK, described) for name, text in texts.items()
    }
    # A control has no description, so the space before its question is removed.
    return put_in(stem.text, {**values, **filled_texts, "question": item.question}).strip()


def _in_orders(
    form: MultipleChoice, prompt: Prompt, stem: Stem, text: str, *, no_answer: bool
) -> Iterator[Prompt]:
    """Yield the prompt in every order of its options, whose codes are reversed if keyed so."""
    scale = next(scale for scale in form.scales if scale.id == stem.scale)
    plain = stem.keyed == prompt.keyed
    # Codes are rounded, so that 1/3 and 1 − 2/3 are the same number.
    codes = [round(code if plain else 1 - code, 12) for code in scale.codes]
    options = list(zip(scale.texts, codes, strict=True))
    prompt = _in_stem(prompt, stem, plain=plain)
    for name, order in orders_of(form, len(options)).items():
        ordered = [options[place] for place in order]
        yield _with_options(
            prompt, form, text, ordered, order=name, labels=scale.labels, no_answer=no_answer
        )


def _in_stem(prompt: Prompt, stem: Stem, *, plain: bool) -> Prompt:
    return replace(
        prompt,
        wording=stem.id,
        paraphrase=None if stem.default else stem.id,
        family=stem.family or None,
        keyed="plain" if plain else "reversed",
    )


def _with_options(
    prompt: Prompt,
    form: MultipleChoice,
    text: str,
    options: Sequence[tuple[str, float]],
    *,
    order: str,
    no_answer: bool,
    labels: ChoiceLabels = "letters",
) -> Prompt:
    """Return the prompt with a text and these options (texts and codes) in this order after it."""
    labeled_options = labelled(options, labels, form.no_answer if no_answer else "")
    request = form.request.replace("{labels}", _ONE[labels])
    return replace(
        prompt,
        text=laid_out(text, labeled_options, request),
        order=order,
        labels=labels,
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
    prompt = _in_stem(prompt, stem, plain=plain)
    for name, ordered_people in ((FORWARD, people), (REVERSED, people[::-1])):
        first, second = (
            put_in(two_people.mention, {"who": person}) for person, _ in ordered_people
        )
        passage = put_in(stem.text, {"item": item.text, "first": first, "second": second})
        options = [
            (put_in(as_option, {**question_field, "who": person}), code)
            for person, code in ordered_people
        ]
        text = {"span": f"{passage}\n{question}", "entailment": passage}.get(str(prompt.mode))
        presentation = _with_options(
            prompt, form, f"{passage} {question}", options, order=name, no_answer=no_answer
        )
        # Options that are never shown stand in the passage, or are statements about it.
        yield replace(presentation, text=text) if text else presentation


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
        people = [
            entry for entry in _described_people(form, place) if not entry[0] or entry[0].every == 1
        ]
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
        sentence = replace(prompt, paraphrase=None if stem.default else stem.id)
        for name, ordered_people in ((FORWARD, people), (REVERSED, people[::-1])):
            yield _with_options(
                sentence, form, text, ordered_people, order=name, no_answer=no_answer
            )


MOST = {"letters": 25, "numbers": 9}
"""The most options beside the no-answer option, which takes a letter, or the number 0."""


_SCALE: Fields = {
    "id": UNIQUE_ID,
    "texts": texts('a list of texts, such as ["Yes", "No"]', required=True),
    "codes": Field(
        kind=object,
        # TOML allows nan, which is no number from 0 to 1.
        test=lambda codes: (
            isinstance(codes, list) and all(is_number(code) and 0 <= code <= 1 for code in codes)
        ),
        says="a list of numbers from 0 to 1, such as [0, 1]",
    ),
    "labels": Field(allowed=CHOICE_LABELS),
}


def read_scales(toml: TomlFile, no_answer: str) -> tuple[Scale, ...]:
    """Return the scales of the file; faults are noted."""
    scales: list[Scale] = []
    for table in toml.tables("scales"):
        values = table.take(_SCALE)
        scale = Scale(
            id=values.get("id", ""),
            texts=tuple(values.get("texts", ())),
            codes=_codes(table, values),
            labels=values.get("labels", "letters"),
        )
        if "texts" in values:
            _check_options(table, scale, no_answer)
        scales.append(scale)
    return tuple(scales)


def _check_options(table: TomlTable, scale: Scale, no_answer: str) -> None:
    label, note, count = f"the scale '{scale.id}'", partial(table.note, "texts"), len(scale.texts)
    if not 2 <= count <= MOST[scale.labels]:
        options = f"{count} option{'s' * (count != 1)}"
        note(f"{label} has {options}. Allowed with {scale.labels}: 2 to {MOST[scale.labels]}.")
    nonempty = [text for text in scale.texts if text.strip()]
    if scale.labels == "letters" and len(nonempty) < count:
        note(f"an option of {label} is empty. Only numbers can be without a text.")
    for text in nonempty:
        table.check("texts", text, Field(plain=True), what=f"an option of {label}")
    counts = Counter(text.casefold() for text in nonempty)
    for text, occurrences in counts.items():
        if occurrences > 1:
            note(f"{label} has the option '{text}' twice.")
    if no_answer.casefold() in counts:
        note(f"an option of {label} is the same as no_answer: '{no_answer}'.")


def _codes(table: TomlTable, values: Mapping[str, Any]) -> tuple[float, ...]:
    """Return the codes as given; without any, the options are equally spaced from 0 to 1."""
    codes, count = values.get("codes"), len(values.get("texts", ()))
    if codes is None:
        return tuple(place / max(count - 1, 1) for place in range(count))
    if count and len(codes) != count:
        message = f"there are {len(codes)} codes for {count} options. Give each option one."
        table.note("codes", message)
    elif len(set(codes)) == 1:
        message = "all options have the same code, so no answer would mean anything."
        table.note("codes", message)
    return tuple(float(code) for code in codes)


_ITEMS = ("item", "your_item")
"""The placeholders of a stem for an item."""

_PLACES_OF_TWO = ("first", "second")
"""The placeholders of a stem for two people, in the order in which they are mentioned."""


def read_stems(
    toml: TomlFile,
    scales: Sequence[Scale],
    *,
    of_pairs: bool,
    slot: str | None,
    of_two: bool = False,
    further: bool = False,
) -> tuple[Stem, ...]:
    """Return the stems of the file; faults are noted.

    ``slot``: its name, if the instrument has only choices: there a stem may contain it.
    ``of_two``: the stems are passages about two people, who are the options.
    ``further``: the stems are paraphrases, of which sentence pairs may have several.
    """
    stems: list[Stem] = []
    tables = toml.tables("stems")
    scale = Field(required=True, allowed=[scale.id for scale in scales] or None)
    if not tables:
        toml.note("[[stems]] is missing. It says how a question is asked.")
    if of_pairs and len(tables) > 1 and not further:
        tables[1].note("id", "there are several [[stems]], but sentence pairs need exactly one.")
    fields: Fields = {
        "id": OWN_ID,
        "text": REQUIRED,
        **({} if of_pairs or of_two else {"scale": scale}),
        **({} if of_pairs else {"keyed": Field(allowed=KEYED), "family": Field(is_id=True)}),
        **({} if slot is None else {"asks": TEXT}),
    }
    for table in tables:
        values = table.take(fields)
        stem = Stem(**({"id": "", "text": "", "scale": ""} | values))
        if stem.id and (stem.id, stem.asks) in {(earlier.id, earlier.asks) for earlier in stems}:
            table.note("id", f"the stem '{stem.id}' appears twice.")
        if stem.id == "all":
            table.note("id", "'all' cannot be the id of a stem: it means all of them.")
        if "text" in values:
            slots = ("question", slot) if slot is not None else ()
            allowed = ("item", "pronoun") if of_pairs else (*_ITEMS, *slots)
            _check_stem(table, stem, ("item", *_PLACES_OF_TWO) if of_two else allowed)
        stems.append(stem)
    return tuple(stems)


def _check_stem(table: TomlTable, stem: Stem, allowed: Sequence[str]) -> None:
    note = partial(table.note, "text")
    label, names = f"the text of stem '{stem.id}'", places(stem.text)
    for place in names:
        if place not in allowed:
            listing = ", ".join(f"{{{key}}}" for key in allowed)
            note(f"{label} has '{{{place}}}'. Allowed: {listing}.{did_you_mean(place, allowed)}")
    if sum(place in _ITEMS for place in names) != 1:
        note(f"{label} must contain {{item}} exactly once.")
    for place in ("pronoun", *_PLACES_OF_TWO):
        if place in allowed and names.count(place) != 1:
            note(f"{label} must contain {{{place}}} exactly once.")
    if names.count("question") > 1:
        note(f"{label} has {{question}} more than once.")
    if stray_braces(stem.text):
        note(f"{label} has a stray brace: '{stem.text}'.")
    if MASK in stem.text:
        note(f"{label} has {MASK}, but a choice has no blank to fill in.")


def check_items(toml: TomlFile, content: Questionnaire, stems: Sequence[Stem]) -> None:
    """Note a fault if a wording has no stem for an item, or if the stem does not fit it."""
    for item in content.items:
        for wording in dict.fromkeys(stem.id for stem in stems):
            if problem := _amiss(item, wording, stems, content.slot.name):
                toml.note(f"the item '{item.id}' in the wording '{wording}' {problem}")
                return


def _amiss(item: Item, wording: str, stems: Sequence[Stem], slot: str) -> str:
    """Return what is wrong with an item in a wording, or an empty text if nothing is."""
    matching = [stem for stem in stems if stem.id == wording and stem.asks in {"", item.asks}]
    if len(matching) != 1:
        return f"has {'several stems' if matching else 'no stem'}: asks is '{item.asks}'."
    names = places(matching[0].text)
    if "first" in names:
        lacking = [key for key in ("question", "opposite", "other") if not getattr(item, key)]
        return f"has two people, and needs {' and '.join(lacking)}." if lacking else ""
    if (names + places(item.text)).count(slot) != 1:
        return f"must have {{{slot}}} once."
    if ("question" in names) is not bool(item.question):
        problem = "no {question} for it" if item.question else "{question}, and it has none"
        return f"has a stem with {problem}."
    return ""


def check_controls(toml: TomlFile, controls: Controls, stems: Sequence[Stem]) -> None:
    """Note a fault if a wording has no stem for a control, or the control does not fit it."""
    wordings = {stem.id for stem in stems}
    for control in controls.items:
        matching = [stem for stem in stems if stem.asks in {"", control.asks}]
        label = f"the control '{control.id}'"
        if {stem.id for stem in matching} != wordings:
            toml.note(f"{label} has no stem in some wording: its asks is '{control.asks}'.")
        elif any("first" in places(stem.text) for stem in matching):
            keys = ("slot", "other", "question", "opposite")
            if not all(getattr(control, key) for key in keys):
                toml.note(f"{label} needs person, other, question and opposite.")
        elif any(
            ("question" in places(stem.text)) is not bool(control.question) for stem in matching
        ):
            toml.note(f"{label} and the stems must both have a question, or none.")


FILE = "choice.toml"

MOST_TO_PERMUTE = 4
"""The most options whose every order is asked: five would have 120 orders."""

_Orders = Literal["two", "all"]
_Gender = Literal["female", "male", "nonbinary", "unstated"]
_PART = ("both", "one")

_TOP: Fields = {
    **dict.fromkeys(("title", "request", "no_answer"), REQUIRED),
    "request": Field(
        required=True,
        test=lambda text: {*places(text)} <= {"labels"} and not stray_braces(text),
        says="a text with no placeholder but {labels}",
    ),
    "orders": Field(allowed=get_args(_Orders)),
    "margin": number("a number above 0 and below 1", lambda margin: 0 < margin < 1),
    **dict.fromkeys(("stems", "scales", "people"), TABLES),
    **dict.fromkeys(("controls", "server", "two-people"), TABLE),
}

_PERSON: Fields = {
    "id": UNIQUE_ID,
    "gender": Field(required=True, allowed=get_args(_Gender)),
    "texts": texts('a list of texts, such as ["woman"]', least=1, required=True),
    "every": number("a whole number of at least 1", lambda every: every >= 1, whole=True),
}

_OF_TWO: Fields = {
    key: Field(required=True, places=places_of)
    for key, places_of in (
        ("mention", ["who"]),
        ("option", ["who"]),
        ("question", ["question"]),
        ("statement", ["who", "question"]),
    )
}
"""The keys of [two-people] and the placeholders of each."""


def read_choice(
    folder: Path,
    content: Questionnaire | SentencePairs,
    *,
    kind: InstrumentKind | None,
    faults: Faults,
) -> tuple[MultipleChoice | None, list[Path]]:
    """Return the content of a folder's choice.toml, or None, and the files read; note faults."""
    path, alone = folder / FILE, kind == "choose"
    if not path.exists():
        if alone:
            faults.add(FILE, None, "not found, but kind is 'choose': give the questions' options.")
        if (folder / CHOICE_FILE).exists():
            message = f"there are control items for choices, but no {FILE}."
            faults.add(CHOICE_FILE, None, message)
        return None, []
    toml = read_toml(path, faults)
    if toml is None:
        return None, []
    fault_count = len(faults.found)
    top = toml.top()
    values = top.take(_TOP)
    scales = read_scales(toml, values.get("no_answer", ""))
    slot = content.slot.name if isinstance(content, Questionnaire) and alone else None
    two_people = _two_people(toml, slot) if "two-people" in toml.values else None
    of_pairs = isinstance(content, SentencePairs)
    stems = read_stems(toml, scales, of_pairs=of_pairs, slot=slot, of_two=two_people is not None)
    orders: _Orders = values.get("orders", "two")
    if orders == "all":
        _check_orders(top, scales)
    people = _people(toml)
    controls, files = None, list[Path]()
    if isinstance(content, Questionnaire):
        _check_content(toml, content, stems, people, alone=alone)
        _check_count(toml, content, stems, scales, people, permuted=orders == "all")
        controls, files = read_controls(
            folder, toml, content, kind="choose", file=CHOICE_FILE, alone=alone
        )
        if alone and controls:
            check_controls(toml, controls, stems)
    else:
        # The options of a sentence pair are its two people; no others are possible.
        for key in [key for key in ("scales", "people", "controls") if key in top.values]:
            message = "cannot be used with sentence pairs: their answers are the two people."
            top.note(key, f"'{key}' {message}")
    server = _server(toml, content, stems)
    if len(faults.found) > fault_count:
        return None, [path]
    form = MultipleChoice(
        title=values["title"],
        stems=stems,
        scales=scales,
        request=values["request"],
        no_answer=values["no_answer"],
        orders=orders,
        people=people,
        two_people=two_people,
        margin=float(values.get("margin", 0.05)),
        controls=controls,
        server=server,
    )
    return form, [path, *files]


def _two_people(toml: TomlFile, slot: str | None) -> TwoPeople:
    if slot is None:
        toml.note("[two-people] is only for instruments of kind choose.")
    for key in [key for key in ("scales", "people") if key in toml.values]:
        toml.top().note(key, f"'{key}' cannot be used with [two-people]: the options are these.")
    return TwoPeople(**(dict.fromkeys(_OF_TWO, "") | toml.table("two-people").take(_OF_TWO)))


def _check_orders(top: TomlTable, scales: Sequence[Scale]) -> None:
    """Note a fault if scales have too many options to ask all orders, or different numbers."""
    counts = {len(scale.texts) for scale in scales}
    most = max(counts, default=0)
    if most > MOST_TO_PERMUTE:
        message = f"orders is 'all', but a scale has {most} options. Allowed: {MOST_TO_PERMUTE}."
        top.note("orders", message)
    if len(counts) > 1:
        top.note("orders", "orders is 'all', but the scales have different numbers of options.")


def _people(toml: TomlFile) -> tuple[PersonDescription, ...]:
    people: list[PersonDescription] = []
    for table in toml.tables("people"):
        values = {"id": "", "gender": "unstated", "texts": ()} | table.take(_PERSON)
        person = PersonDescription(**{**values, "texts": tuple(values["texts"])})
        for text in person.texts:
            label = f"a text of person '{person.id}'"
            table.check("texts", text, Field(plain=True), what=label)
        people.append(person)
    if len({len(person.texts) for person in people if len(person.texts) > 1}) > 1:
        message = "all people must have the same number of texts, which take turns."
        toml.top().note("people", message)
    return tuple(people)


def _check_content(
    toml: TomlFile,
    content: Questionnaire,
    stems: Sequence[Stem],
    people: Sequence[PersonDescription],
    *,
    alone: bool,
) -> None:
    if not toml.values.get("scales") and "two-people" not in toml.values:
        toml.note("[[scales]] is missing. It lists the answers to a question.")
    if alone:
        check_items(toml, content, stems)
        _check_described(toml.top(), people, content)
    else:
        _check_people(toml.top(), people, content)


def _check_people(
    top: TomlTable, people: Sequence[PersonDescription], content: Questionnaire
) -> None:
    """Note a fault if there are people but no mask in the items, or a mask but no people."""
    if people and (ids := [item.id for item in content.items if item.text.count(MASK) != 1]):
        message = f"there are [[people]], but the item '{ids[0]}' has no {MASK} to put them in."
        top.note("people", message)
    if not people and (ids := [item.id for item in content.items if MASK in item.text]):
        message = f"the item '{ids[0]}' has {MASK}, so [[people]] must say who replaces it."
        top.note("people", message)


def _check_described(
    top: TomlTable, people: Sequence[PersonDescription], content: Questionnaire
) -> None:
    """Note a fault if texts need a person's gender or name that is missing, or the reverse."""
    texts = [item.text for item in content.items]
    texts += [form.vignette for condition in content.conditions for form in condition.forms]
    has_places = any(place in PERSON_PLACES for text in texts for place in places(text))
    if people and not has_places:
        top.note("people", "there are [[people]], but no text has {name} for them.")
    if has_places and not people:
        top.note("people", "texts have {name} or a pronoun: say in [[people]] who that is.")
    for person in people if has_places else ():
        if person.gender == "unstated":
            message = f"the person '{person.id}' has no gender, but texts have pronouns."
            top.note("people", message)


def _server(
    toml: TomlFile, content: Questionnaire | SentencePairs, stems: Sequence[Stem]
) -> Subsample:
    """Return the part of the questions that [server] states, or all of them without it."""
    if isinstance(content, SentencePairs):
        if "server" in toml.values:
            message = "[server] cannot be used with sentence pairs: a server gets fewer of them."
            toml.top().note("server", message)
        return Subsample()
    table, item_count = toml.table("server"), len({item.id for item in content.items})
    dimensions = dict.fromkeys(item.dimension for item in content.items if item.dimension)
    fields: Fields = {
        "items": number(
            f"a whole number from 1 to {item_count}",
            lambda items: 1 <= items <= item_count,
            whole=True,
        ),
        "orders": Field(allowed=_PART),
        "wording": Field(allowed=[*dict.fromkeys(stem.id for stem in stems)]),
        "brief": texts("a list of conditions"),
        "brief_dimension": Field(allowed=[*dimensions]),
    }
    values = table.take(fields)
    known = Field(allowed=[condition.id for condition in content.conditions])
    for name in values.get("brief", ()):
        table.check("brief", name, known)
    return Subsample(**{**values, "brief": tuple(values.get("brief", ()))})


def _check_count(
    toml: TomlFile,
    content: Questionnaire,
    stems: Sequence[Stem],
    scales: Sequence[Scale],
    people: Sequence[PersonDescription],
    *,
    permuted: bool,
) -> None:
    longest = min(max((len(scale.texts) for scale in scales), default=0), MOST_TO_PERMUTE)
    forms = sum(len(condition.forms) for condition in content.conditions)
    count = len(content.items) * forms * len(stems) * max(len(people), 1)
    count *= math.factorial(longest) if permuted else 2
    if count > MOST_PROMPTS:
        factors = "items × forms of conditions × stems × orders × people"
        toml.note(f"{factors} are {count:,}. Allowed: up to {MOST_PROMPTS:,}.")
