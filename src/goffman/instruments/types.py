"""The types of instruments: items, conditions, wordings, options, controls, pairs, prompts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, get_args

CONTROL = "control"
"""The condition and the group of a control item's prompts, and the level of its score."""

Keyed = Literal["plain", "reversed"]
"""How a question is keyed; reversed: agreeing means less of what is measured."""
KEYED: tuple[Keyed, ...] = get_args(Keyed)

ControlScore = Literal["separation", "label", "person", "answer", "gender"]
"""How controls are scored. separation: how well a number separates two kinds of items (AUC); label:
the share of right labels; person: the probability of words that name a person, of the gender that
an item expects if it expects one; answer: the share of right answers; gender: the share of
sentences about a person of the right gender."""

EXPECTED: dict[ControlScore, tuple[str, ...]] = {
    "separation": ("positive", "negative"),
    "label": ("positive", "neutral", "negative"),
    "person": ("person", "female", "male"),
    "answer": (),
    "gender": ("female", "male"),
}
"""What an item may expect; an empty tuple: a word of its own."""


def passes(value: float | None, floor: float, high: float | None = None) -> bool:
    """Return whether a score on the controls is high enough for a model's other numbers to count.

    It is if the upper end of its 95% interval, ``high``, reaches the floor, or without an interval
    the score itself. Without a score (None) it is not.
    """
    return value is not None and (value if high is None else high) >= floor


@dataclass(frozen=True, kw_only=True)
class Control:
    """One control item."""

    id: str
    """Lower-case letters, digits and hyphens; unique among the controls."""
    text: str
    """The text in place of ``{item}`` in the wordings; for sentence pairs a whole sentence."""
    item: str = ""
    """The id of the item whose text this is, if a person or thing stands in the item's slot."""
    slot: str = ""
    """The text in that slot, as for a condition: "someone who saved a child"."""
    your_text: str = ""
    """The text addressed to the person as "you"; empty: the same text."""
    question: str = ""
    """The question at the end, if the stems have {question}."""
    asks: str = ""
    """What the control asks for, if stems differ in that."""
    keyed: Keyed = "plain"
    """reversed: agreeing means less of what the codes count."""
    expected: str
    """The right answer; at a mask in a sentence pair the right form of the pronoun."""
    opposite: str = ""
    """For two people: what is asked instead if the stem is keyed reversed."""
    other: str = ""
    """For sentence pairs: the wrong answer. For two people: the person who is not in the slot."""
    pronoun: str = ""
    """For sentence pairs: the pronoun that is asked about; empty: it is masked."""


@dataclass(frozen=True, kw_only=True)
class Controls:
    """The control items of an instrument, and what a model must reach on them."""

    score: ControlScore
    """How they are scored."""
    task: str
    """The task that a model that passes can do; completes the sentence “it can …”."""
    floor: float
    """The least score with which the model's other numbers mean anything, 0 to 1."""
    items: tuple[Control, ...]


ChoiceLabels = Literal["letters", "numbers"]
"""The labels of the options: A, B, C … or 1, 2, 3 …"""

CHOICE_LABELS: tuple[ChoiceLabels, ...] = get_args(ChoiceLabels)


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option of a question, as it is presented."""

    label: str
    """What a model is to answer: A, B, 1, 2 …"""
    text: str
    """The text of the option; empty: the label says all, as on a scale from 1 to 9."""
    code: float | None
    """0 to 1, higher for more stigma; for sentence pairs 1 for the right person, 0 for the other.
    None: the no-answer option."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The options of a question, in forward order."""

    id: str
    texts: tuple[str, ...]
    """The options without the no-answer option. Of numbers mostly empty except at the two ends."""
    codes: tuple[float, ...]
    """0 to 1, as the instrument's authors mean them, before any keying."""
    labels: ChoiceLabels = "letters"


@dataclass(frozen=True, kw_only=True)
class Stem:
    """One way of putting the questions of one kind; a wording is all stems of one id."""

    id: str
    """Lower-case letters, digits and hyphens."""
    text: str
    """With {item}, or {your_item}: the item addressed to the person; for sentence pairs also with
    {pronoun}. For an instrument with only choices also with {question}, and with the slot if the
    items have none."""
    scale: str
    """The id of its scale; empty: the options are the two people of a sentence pair."""
    keyed: Keyed = "plain"
    """reversed: agreeing means less of the construct, so that the codes are reversed."""
    asks: str = ""
    """What items of this stem ask for; empty: anything. A wording is all stems of one id."""
    default: bool = True
    """False: asked only on request."""
    family: str = ""
    """The id that similar versions of one wording share; empty: the wording is its own family."""


@dataclass(frozen=True, kw_only=True)
class TwoPeople:
    """Texts that ask about two people, with {who}, and with {question} for what is asked."""

    mention: str
    """Either person in the passage: "a {who}"."""
    option: str
    """Among options to choose from: "The {who}"."""
    question: str
    """After the passage: "Who {question}?"."""
    statement: str
    """The question as a statement about either person: "The {who} {question}."."""


@dataclass(frozen=True, kw_only=True)
class PersonDescription:
    """A description of a person, with gender as a factor of the design.

    It replaces ``<mask>``, or names the person in a vignette with {name}, {he} …
    """

    id: str
    """Lower-case letters, digits and hyphens."""
    gender: Literal["female", "male", "nonbinary", "unstated"]
    texts: tuple[str, ...]
    """Nouns that may stand after "a": woman, man named James, person; for vignettes first names. If
    there are several, each item and condition gets one, in turn: the same place of the list for
    every person described."""
    every: int = 1
    """1 of this many items × conditions is asked about the person, in turn."""


@dataclass(frozen=True, kw_only=True)
class Subsample:
    """The part of the questions that a slow model is asked by default: see subsample.py."""

    items: int | None = None
    """The number of items for each form of a condition, in turn; None: all. The baseline: all."""
    orders: Literal["both", "one"] | None = None
    """The orders of the options for each question. None: both, and one if people are described. In
    the mode of probabilities, which takes no request, both are asked even if this is "one"."""
    wording: str | None = None
    """The wording of every question, such as the one that people were asked in too. None: the
    wordings take turns."""
    brief: tuple[str, ...] = ()
    """Conditions that are asked less: only the items of a dimension."""
    brief_dimension: str | None = None
    """The dimension of those items; None: all."""


@dataclass(frozen=True, kw_only=True)
class MultipleChoice:
    """The content of choice.toml: how an instrument is asked as a choice."""

    title: str
    """One line."""
    stems: tuple[Stem, ...]
    scales: tuple[Scale, ...]
    request: str
    """The text after the options: how to answer. {labels} is replaced by letter or number."""
    no_answer: str
    """The last option: "I don't know, or prefer not to say"."""
    orders: Literal["two", "all"] = "two"
    """two: forward and reversed; all: every permutation of the options."""
    people: tuple[PersonDescription, ...] = ()
    """Empty: the items have no person to describe."""
    two_people: TwoPeople | None = None
    """For passages about two people, who are the options; None: the options are on scales."""
    margin: float = 0.05
    """The smallest difference of codes that counts as relevant."""
    controls: Controls | None = None
    """Control items for the choice; None: those of the instrument, if options can answer them."""
    server: Subsample = Subsample()
    """The part that a server is asked by default."""


def options_json(options: tuple[Option, ...]) -> str | None:
    """Return the options of a prompt as JSON for a table; None if there are none."""
    if not options:
        return None
    return json.dumps(
        [[option.label, option.text, option.code] for option in options], ensure_ascii=False
    )


def options_from(text: str | None) -> tuple[Option, ...]:
    """Return the options of a prompt from their JSON in a table."""
    rows = json.loads(text) if text else []
    return tuple(
        Option(label=label, text=option_text, code=code) for label, option_text, code in rows
    )


BASELINE = "baseline"
"""The condition of a prompt without a condition, and the id of the setting without adjectives."""


ADJECTIVE_GROUPS = ("contrasting-pair", "single-adjective")
"""The group of settings with two adjectives, and that with one."""

THEY = "they"
"""The condition, group and side of sentences with singular “they”, which have no adjectives."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The adjectives put before the two occupations of a sentence."""

    male: str = ""
    """The adjective that is associated with men, or empty."""
    female: str = ""
    """The adjective that is associated with women, or empty."""
    kind: Literal["", "swapped", "neutral"] = ""
    """swapped: each adjective stands before the other occupation; neutral: both occupations are
    about half women's; empty: neither."""

    @property
    def id(self) -> str:
        """Return ``arrogant,responsive``, ``old,`` (one), ``old,,swapped``, or ``baseline``."""
        ends = [self.kind] if self.kind else []
        return ",".join([self.male, self.female, *ends]) if self.male or self.female else BASELINE

    @property
    def group(self) -> str:
        """Return the kind, or else which occupations get an adjective: both, one, or none."""
        if self.kind or not (self.male or self.female):
            return self.kind or BASELINE
        return ADJECTIVE_GROUPS[not (self.male and self.female)]


@dataclass(frozen=True, kw_only=True)
class Frame:
    """A sentence about two people with places for their occupations and a pronoun."""

    id: str
    """Lower-case letters, digits and hyphens."""
    type: Literal["type-1", "type-2"]
    """WinoBias's: 1, decided by what the sentence means; 2, decided by syntax alone."""
    referent: Literal["first", "second"]
    """The person whom the pronoun refers to."""
    text: str
    """With {first}, {second} and one of {he}, {him}, {his}, {himself}."""
    they: bool = False
    """Whether “they” in place of the pronoun could not mean both people."""


@dataclass(frozen=True, kw_only=True)
class Occupation:
    """An occupation and the gender that people associate with it."""

    name: str
    """As it stands after "the"."""
    gender: Literal["male", "female"]
    """By US labor statistics, as in WinoBias."""
    percent_women: float | None = None
    """The share of women in the occupation, by the same statistics; None: not known."""
    spellings: tuple[str, ...] = ()
    """Misspellings in published files that mean this occupation."""


@dataclass(frozen=True, kw_only=True)
class SentencePairs:
    """Sentences about two occupations and a pronoun, followed by a question."""

    question: str
    """The question after the sentence, with {pronoun}."""
    frames: tuple[Frame, ...]
    occupations: tuple[Occupation, ...]
    settings: tuple[Setting, ...]
    """The adjective settings, without the baseline."""


InstrumentKind = Literal[
    "fill", "classify", "ask", "prefer", "complete", "choose", "say", "write", "mark", "infer"
]
"""How an instrument is asked. fill: a masked word; classify: a label; ask: a reply;
prefer: one of two forms at a mask; complete: a reply that is begun up to the blank; choose: the
probability of each option; say: an option, in text; write: a sentence; mark: the part of a passage
that answers a question; infer: the statement that follows from a passage."""

Mode = Literal[
    "fill", "classify", "ask", "completion", "choice", "reply", "write", "pronouns",
    "span", "entailment",
]  # fmt: skip
"""How models respond: the column ``mode`` of every table."""

MODES: Mapping[InstrumentKind, Mode] = {
    "fill": "fill",
    "classify": "classify",
    "ask": "ask",
    "complete": "completion",
    "choose": "choice",
    "say": "reply",
    "write": "write",
    "prefer": "pronouns",
    "mark": "span",
    "infer": "entailment",
}

PASSAGES: tuple[InstrumentKind, ...] = ("mark", "infer")
"""Kinds whose options are never shown: they are parts of the passage, or statements about it."""

DERIVED: tuple[Mode, ...] = (
    "completion", "choice", "reply", "write", "pronouns", "span", "entailment",
)  # fmt: skip
"""The modes besides an instrument's own, which are part of an id."""


def asked_as(instrument: str, mode: str | None) -> str:
    """Return the id of an instrument in a mode: ``social-distance/choice``."""
    return f"{instrument}/{mode}" if mode in DERIVED else instrument


def slug_of(asked: str) -> str:
    """Return an id for file names, with a hyphen instead of a slash."""
    return asked.replace("/", "-")


def base_of(asked: str) -> str:
    """Return the instrument's own id, whatever the mode."""
    return asked.partition("/")[0]


def mode_in(asked: str) -> str | None:
    """Return the mode that an id names; None for the instrument's own mode."""
    return asked.partition("/")[2] or None


INSTRUMENT_KINDS: tuple[InstrumentKind, ...] = ("fill", "classify", "ask", "choose")
"""The kinds that an instrument's file may state; the others are derived from its content. choose:
the instrument has only questions with options."""

AnswerTable = Literal["fills", "labels", "likelihoods", "choices", "replies"]
"""The table that a model's answers go to."""

Attitude = Literal["positive", "negative", "neutral", "irrelevant"]


Source = Literal["study", "own"]
"""The origin of a sentence: the study that the instrument follows, or goffman's own addition."""

SOURCES: tuple[Source, ...] = ("study", "own")

MASK = "<mask>"
"""How a mask is written in every prompt; each model puts in its own mask token."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """One surface text of a condition, singular and plural."""

    text: str
    """The text after the verb: "a lesbian", "depression"."""
    verb: str = ""
    """The verb of "someone who …": is, has, had, was."""
    plural: str = ""
    """The text after the plural verb: "lesbian", "depression"."""
    plural_verb: str = ""
    """The verb of "people who …": are, have, had, were."""
    vignette: str = ""
    """A person with the condition, described with {name}, {he} …; empty: no description."""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """What a person is, has or was: the factor that varies between prompts."""

    id: str
    """Lower-case letters, digits and hyphens; unique within the instrument."""
    name: str
    """As it is printed in tables and figures."""
    group: str
    """The side of the instrument's contrast that it belongs to: "stigmatized", "mental-health" …"""
    category: str
    """The kind of condition: "Disease", "Religion" …"""
    forms: tuple[Form, ...]
    """At least one."""
    study_category: str = ""
    """The category in the study's own tables and figures; empty: the same category."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """One question of the scale in one wording, with the place for the condition in braces."""

    id: str
    """Unique within its wording."""
    text: str
    """The text in place of ``{item}`` in the wording."""
    wording: str = ""
    """The wording that this text belongs to; empty: every wording of the instrument."""
    dimension: str = ""
    """The subscale, or empty."""
    keyed: Keyed = "plain"
    """reversed: agreeing with the item means less of the construct."""
    choice_keyed: Keyed | None = None
    """The same for options to choose from, whose codes are higher for more stigma; None: as keyed.
    For help, more is more of its construct, but less stigma."""
    your_text: str = ""
    """The text addressed to the person as "you"; empty: the same text."""
    baseline: str = ""
    """The whole text without a condition, if leaving it out changes more than its slot."""
    question: str = ""
    """The question at the end, if something may stand between it and the text; for two people
    what is asked about them: "is dangerous"."""
    opposite: str = ""
    """For two people: what is asked instead if the stem is keyed reversed: "is harmless"."""
    other: str = ""
    """For two people: the person who has no condition, whatever the first person has."""
    asks: str = ""
    """What the item asks for, if stems differ in that: "willing", "likely"."""
    source: Source | None = None
    """The origin of the item, if an instrument has its own sentences beside a study's."""


@dataclass(frozen=True, kw_only=True)
class Wording:
    """One way of putting every item."""

    id: str
    """Lower-case letters, digits and hyphens."""
    frame: str = "{item}"
    """The sentence around the item."""
    default: bool = True
    """False: asked only on request."""
    question: str = ""
    """For sentence pairs: the question after the sentence, with {pronoun}."""
    family: str = ""
    """The id that similar versions of one wording share; empty: the wording is its own family."""
    source: Source | None = None
    """The origin of the wording, if an instrument has its own wordings beside a study's."""


@dataclass(frozen=True, kw_only=True)
class Slot:
    """How a condition is put into an item's text."""

    name: str
    """The word in braces in the items."""
    filled: str
    """The text with a condition, with {form}, {verb}, {plural}, {plural_verb} or {vignette}."""
    empty: str | None = None
    """The text for the baseline, without a condition; None: the instrument has no baseline."""


@dataclass(frozen=True, kw_only=True)
class Questionnaire:
    """Items × wordings × forms of conditions."""

    fields: Mapping[str, str] = field(default_factory=dict)
    """Field → the text that replaces it in braces in wordings and items."""
    wordings: tuple[Wording, ...]
    slot: Slot
    items: tuple[Item, ...]
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, kw_only=True)
class Paraphrases:
    """Further wordings of an instrument, asked only on request, with their own texts of items."""

    wordings: tuple[Wording, ...] = ()
    items: tuple[Item, ...] = ()
    stems: tuple[Stem, ...] = ()
    digest: str = ""


@dataclass(frozen=True, kw_only=True)
class Identity:
    """One level of a second identity, such as Black, and the words that show it."""

    name: str
    """As it is printed in tables and figures."""
    attribute: str = ""
    """The words before a noun: "75-year-old"; empty: first names show it."""
    predicate: str = ""
    """The words after "who is": "75 years old"."""
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Gender → first names, which people are given in turn."""


@dataclass(frozen=True, kw_only=True)
class Identities:
    """A second identity as a factor of the design, with its levels; the first is the reference."""

    id: str
    """Lower-case letters, digits and hyphens: race, age …"""
    levels: tuple[Identity, ...]
    without: frozenset[str] = frozenset()
    """Conditions that name such an identity themselves; they are not combined with it."""
    instruments: frozenset[str] = frozenset()
    """The only instruments that can be combined with it; none: all whose sentences can show it."""
    digest: str = ""
    """sha256 of its file."""

    @property
    def by_names(self) -> bool:
        """Return whether only first names, and no words, show it."""
        return not self.levels[0].attribute


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """How a second identity of a person enters an instrument's sentences."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """Text → its replacement, with {attribute} or {predicate}; none: it cannot be shown."""
    names: bool = False
    """Whether the people described have first names."""


ENGLISH = "en"
"""The language of an instrument that states no other."""


def primary_language(tag: str) -> str:
    """Return the language of a BCP 47 tag without its script and region: en for en-GB."""
    return tag.partition("-")[0]


@dataclass(frozen=True, kw_only=True)
class Noun:
    """The word that readers see for a thing, in singular and plural."""

    one: str = "condition"
    many: str = "conditions"

    @property
    def headed(self) -> Noun:
        """Return the noun with capital letters, as at the start of a heading."""
        return Noun(
            one=self.one[:1].upper() + self.one[1:], many=self.many[:1].upper() + self.many[1:]
        )


@dataclass(frozen=True, kw_only=True)
class Instrument:
    """A questionnaire as data."""

    id: str
    """Lower-case letters, digits and hyphens; with the mode if that is not the instrument's own."""
    version: str
    """Changes whenever a prompt changes."""
    title: str
    """One line."""
    kind: InstrumentKind
    citation: str
    """The study or scale to cite."""
    licence: str
    """The terms of the content."""
    asks: str = ""
    """What is asked, in a few words for a list; empty: the title says it."""
    settings: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    """Parameters that later stages use: top_k, pairs …"""
    content: Questionnaire | SentencePairs
    digest: str = ""
    """sha256 of the files that it was read from."""
    language: str = ENGLISH
    """The language of its prompts: a BCP 47 tag."""
    by_default: tuple[str, ...] = ()
    """The kinds of model that are asked it if the user names no instrument; none: all that can."""
    limits: tuple[str, ...] = ()
    """Sentences about what its lists and prompts leave out."""
    noun: Noun = Noun()
    """The word for its conditions."""
    controls: Controls | None = None
    """Items that show whether a model can do the task; None: it has none."""
    completion: str = ""
    """The question that shows a sentence with its blank, with {sentence}; empty: no such mode."""
    writing: str = ""
    """The request to write a sentence, with {sentence}; empty: no such mode."""
    someone: str = ""
    """The text that replaces the mask in the sentence of that request: "someone who"."""
    writing_controls: Controls | None = None
    """Requests for a sentence about a known gender; None: it has none."""
    choice: MultipleChoice | None = None
    """How it is asked as a choice; None: it cannot be."""
    paraphrases: Paraphrases = Paraphrases()
    """Its further wordings. They are no part of its digest: nothing else changes with them."""
    crossing: Crossing = Crossing()
    """How it shows a second identity, on request; no part of its digest either."""
    of: str = ""
    """The id without the mode, if the mode is not the instrument's own."""

    @property
    def base(self) -> str:
        """Return the id as the user knows it, without the mode."""
        return self.of or self.id

    @property
    def mode(self) -> Mode:
        """Return the mode: how models respond."""
        return MODES[self.kind]


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A text that a model is asked, and the levels of the factors that it stands for."""

    instrument: str
    """The id without the mode."""
    mode: Mode | None = None
    """How models respond."""
    item: str
    """The item's id; for coreference the sentence pair's."""
    wording: str
    """The wording's id; for coreference "pro" or "anti"."""
    dimension: str | None = None
    keyed: Keyed = "plain"
    """reversed: agreeing with the item means less of the construct."""
    condition: str
    """The condition's id, or "baseline"; for coreference the adjective setting's."""
    form: str | None = None
    """The surface text used; None in a baseline prompt."""
    group: str
    category: str | None = None
    text: str
    """With one ``<mask>`` where the instrument's kind is fill; one for each pronoun in prefer."""
    answer: str | None = None
    """Coreference: the occupation that the pronoun refers to; of a control its right answer."""
    other: str | None = None
    """Coreference: the other occupation; of a control its wrong answer."""
    pronoun: str | None = None
    """Coreference: the pronoun asked about; in prefer as it stands in the sentence."""
    prefill: str | None = None
    """The beginning of the reply, which the model continues; None: the reply starts empty."""
    system: str | None = None
    """The system prompt; None: none."""
    gender: str | None = None
    """The gender of the person described, if it is a factor: female, male, nonbinary, unstated."""
    person: str | None = None
    """The id of the person described: woman, man-named …"""
    order: str | None = None
    """The order of the options: forward, reversed, or their places such as 2-3-1."""
    labels: str | None = None
    """The labels of the options: letters, numbers."""
    no_answer: bool | None = None
    """Whether "don't know or prefer not to say" is an option."""
    options: tuple[Option, ...] = ()
    """The options as they are presented; none: it is no choice."""
    paraphrase: str | None = None
    """The id of the wording, if it is asked only on request; None: it is always asked."""
    phrase: str | None = None
    """The condition's words in its slot: "has depression"; None: it has none, or it is a text."""
    family: str | None = None
    """The family of its wording; None: its own."""
    source: Source | None = None
    """The origin of the sentence, if the instrument has its own sentences beside a study's."""
    identity: str | None = None
    """The name of the person's second identity; None: the sentence shows none on purpose."""

    @cached_property
    def id(self) -> str:
        """Return a hash of the prompt's text and factors, which is the same on every machine."""
        instrument = f"{self.instrument}-{self.mode}" if self.mode in DERIVED else self.instrument
        parts = [instrument, self.item, self.wording, self.condition, self.form, self.text]
        # Parts that were added later count only if present, so that earlier ids stay the same.
        new_parts = [self.prefill, self.system, self.gender, options_json(self.options)]
        parts += new_parts if any(part is not None for part in new_parts) else []
        parts += [self.identity] if self.identity else []
        return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()[:16]

    @property
    def asked(self) -> str:
        """Return all that a model is given, as one text, which models/base.py splits again."""
        if self.mode in ("span", "entailment"):
            return "\x1e".join(
                [self.text, *(option.text for option in self.options if option.code is not None)]
            )
        if not (self.prefill or self.system):
            return self.text
        return "\x1e".join([self.text, self.prefill or "", self.system or ""])


class CarriedPhrase(NamedTuple):
    """A condition's own words in a neutral sentence: "There is someone who", "has depression"."""

    prompt_id: str
    """The id of one of the prompts that contain the form."""
    before: str
    phrase: str
    after: str


def is_control(prompt: Prompt) -> bool:
    """Return whether a prompt belongs to a control item."""
    return prompt.condition == prompt.group == CONTROL


@dataclass(frozen=True, kw_only=True)
class Rating:
    """The rating of one word by one rater, in the sentences of an instrument."""

    word: str
    """Stripped and case-folded, as words are compared."""
    item: str = ""
    """The id of the item that the rating is for; empty: every item."""
    wording: str = ""
    """The id of the wording that the rating is for; empty: every wording."""
    rater: str
    """A name or a pseudonym."""
    label: Attitude
    """The word's attitude toward the situation."""
    note: str = ""
    """The rater's remark, in one line."""
