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
"""separation: how well a number separates two kinds of items (AUC); label: the share of right
labels; person: the probability of words that name a person, of the gender that an item expects if
it expects one; answer: the share of right answers;
gender: the share of sentences about a person of the right gender."""

EXPECTED: dict[ControlScore, tuple[str, ...]] = {
    "separation": ("positive", "negative"),
    "label": ("positive", "neutral", "negative"),
    "person": ("person", "female", "male"),
    "answer": (),
    "gender": ("female", "male"),
}
"""What an item may expect; none: a word of its own."""


def passes(value: float | None, floor: float, high: float | None = None) -> bool:
    """Whether a score on the control items is enough for a model's other numbers to mean anything.

    It is not where its whole 95% interval lies below the floor; ``high`` is the interval's upper
    end, and without one the score itself decides. None: there is no score, so nothing shows that
    the model can do the task.
    """
    return value is not None and (value if high is None else high) >= floor


@dataclass(frozen=True, kw_only=True)
class Control:
    """One control item."""

    id: str
    """Lower-case letters, digits and hyphens; unique among the controls."""
    text: str
    """What stands for ``{item}`` in the wordings; of sentence pairs a whole sentence."""
    item: str = ""
    """The item that it is the text of, where somebody or something stands in the slot."""
    slot: str = ""
    """What stands in the slot there, as a condition does: "someone who saved a child"."""
    your_text: str = ""
    """The text as it is said to somebody, who is "you"; empty: as it is."""
    question: str = ""
    """What is asked at the end, where the stems have {question}."""
    asks: str = ""
    """What it asks for, where stems differ in that."""
    keyed: Keyed = "plain"
    """reversed: agreeing means less of what the codes count."""
    expected: str
    """The right answer; at a mask in a sentence pair the right form of the pronoun."""
    opposite: str = ""
    """Of two people: what is asked instead where the stem is keyed reversed."""
    other: str = ""
    """Sentence pairs: the wrong answer. Of two people: the one who does not stand in the slot."""
    pronoun: str = ""
    """Sentence pairs: the pronoun that is asked about; empty: it is masked."""


@dataclass(frozen=True, kw_only=True)
class Controls:
    """The control items of an instrument, and what a model must reach on them."""

    score: ControlScore
    """How they are scored."""
    task: str
    """What a model that passes can do: completes “it can …”."""
    floor: float
    """The least score with which the model's other numbers mean anything, 0 to 1."""
    items: tuple[Control, ...]


ChoiceLabels = Literal["letters", "numbers"]
"""What stands before the options: A, B, C … or 1, 2, 3 …"""

CHOICE_LABELS: tuple[ChoiceLabels, ...] = get_args(ChoiceLabels)


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option of a question, as it is presented."""

    label: str
    """What a model is to answer: A, B, 1, 2 …"""
    text: str
    """What it says; empty: the label says all, as on a scale from 1 to 9."""
    code: float | None
    """0 to 1, more stigma up; of sentence pairs 1 for the right person, 0 for the other one. None:
    the no-answer option, which is no answer."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The options of a question, in the order forward."""

    id: str
    texts: tuple[str, ...]
    """Without the no-answer option. Of numbers mostly empty but for the two ends."""
    codes: tuple[float, ...]
    """0 to 1, as the instrument's authors mean them before any keying."""
    labels: ChoiceLabels = "letters"


@dataclass(frozen=True, kw_only=True)
class Stem:
    """One way of putting every question: a wording."""

    id: str
    """Lower-case letters, digits and hyphens."""
    text: str
    """With {item}, or {your_item}: the item as it is said to somebody; of sentence pairs also with
    {pronoun}. Of an instrument that has nothing but choices also with {question}, and with the slot
    where the items have none."""
    scale: str
    """The id of its scale; empty: the options are the two people of a sentence pair."""
    keyed: Keyed = "plain"
    """reversed: agreeing means less of the construct, so that the codes are turned round."""
    asks: str = ""
    """It puts the items that ask for this; empty: all. A wording is all stems of an id."""
    default: bool = True
    """False: asked only on request."""
    family: str = ""
    """What near-copies of one wording have in common; empty: it is a family of its own."""


@dataclass(frozen=True, kw_only=True)
class TwoPeople:
    """How two people are asked about: texts with {who}, and with {question} for what is asked."""

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
    """A person who is described: gender as a factor of the design.

    In place of ``<mask>``, or by name in a vignette with {name}, {he} …
    """

    id: str
    """Lower-case letters, digits and hyphens."""
    gender: Literal["female", "male", "nonbinary", "unstated"]
    texts: tuple[str, ...]
    """Nouns that may stand after "a": woman, man named James, person; for vignettes first names. Of
    several, each item and condition gets one, in turn: the same place of the list for every person
    described."""
    every: int = 1
    """Of so many items × conditions one is asked about the person, in turn."""


@dataclass(frozen=True, kw_only=True)
class Subsample:
    """What of the questions is asked by default of a model that takes long: see subsample.py."""

    items: int | None = None
    """So many of each form of a condition, in turn; None: all. The baseline is asked all."""
    orders: Literal["both", "one"] | None = None
    """of the options, for each question asked. None: both, and one where people are described. By
    probabilities, which take no request, both are asked where "one" is said here."""
    wording: str | None = None
    """The one that every question is asked in, such as the one that people were asked in too. None:
    the wordings go in turn."""
    brief: tuple[str, ...] = ()
    """Conditions that are asked less: only the items of a dimension."""
    brief_dimension: str | None = None
    """That of their items; None: all."""


@dataclass(frozen=True, kw_only=True)
class MultipleChoice:
    """How an instrument is asked as a choice: the content of choice.toml."""

    title: str
    """One line."""
    stems: tuple[Stem, ...]
    scales: tuple[Scale, ...]
    request: str
    """What follows the options: how to answer. {labels} stands for letter or number."""
    no_answer: str
    """The last option: "I don't know, or prefer not to say"."""
    orders: Literal["two", "all"] = "two"
    """two: forward and reversed; all: every permutation of the options."""
    people: tuple[PersonDescription, ...] = ()
    """None: the items have no person to describe."""
    two_people: TwoPeople | None = None
    """Of passages about two people, whose options are these; None: the options are on scales."""
    margin: float = 0.05
    """The smallest difference of codes that counts as relevant."""
    controls: Controls | None = None
    """Control items of its own; None: those of the instrument, where they can be asked so."""
    server: Subsample = Subsample()
    """The part of it that a server is asked by default."""


def options_json(options: tuple[Option, ...]) -> str | None:
    """The options of a prompt as they stand in a table; None where there are none."""
    if not options:
        return None
    return json.dumps([[one.label, one.text, one.code] for one in options], ensure_ascii=False)


def options_from(text: str | None) -> tuple[Option, ...]:
    """The options of a prompt's row."""
    rows = json.loads(text) if text else []
    return tuple(Option(label=label, text=words, code=code) for label, words, code in rows)


BASELINE = "baseline"
"""The condition of a prompt that names none, and the setting without adjectives."""


ADJECTIVE_GROUPS = ("contrasting-pair", "single-adjective")
"""The groups of settings with two adjectives, and with one, each where the study has it."""

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
        """``arrogant,responsive``, ``old,`` (one), ``old,,swapped``, or ``baseline``."""
        ends = [self.kind] if self.kind else []
        return ",".join([self.male, self.female, *ends]) if self.male or self.female else BASELINE

    @property
    def group(self) -> str:
        """Whether both occupations get an adjective, one, or none; or the kind."""
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
    """Whom the pronoun refers to."""
    text: str
    """With {first}, {second} and one of {he}, {him}, {his}, {himself}."""
    they: bool = False
    """Whether “they” in the place of the pronoun could not mean both people."""


@dataclass(frozen=True, kw_only=True)
class Occupation:
    """An occupation and the gender that people associate with it."""

    name: str
    """As it stands after "the"."""
    gender: Literal["male", "female"]
    """By US labour statistics, as in WinoBias."""
    percent_women: float | None = None
    """Of those who have it, by the same statistics; None: not known."""
    spellings: tuple[str, ...] = ()
    """Misspellings in published files that mean this occupation."""


@dataclass(frozen=True, kw_only=True)
class SentencePairs:
    """Sentences about two occupations and a pronoun, followed by a question."""

    question: str
    """Asked after the sentence, with {pronoun}."""
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
"""Those whose options are never shown: they are parts of the passage, or statements about it."""

DERIVED: tuple[Mode, ...] = (
    "completion", "choice", "reply", "write", "pronouns", "span", "entailment",
)  # fmt: skip
"""Modes that stand in an id: an instrument is asked in them besides its own."""


def asked_as(instrument: str, mode: str | None) -> str:
    """Return the id of an instrument in a mode: ``social-distance/choice``."""
    return f"{instrument}/{mode}" if mode in DERIVED else instrument


def slug_of(asked: str) -> str:
    """Return an id as names of files have it."""
    return asked.replace("/", "-")


def base_of(asked: str) -> str:
    """Return the instrument's own id, whatever the mode."""
    return asked.partition("/")[0]


def mode_in(asked: str) -> str | None:
    """Return the mode that an id names; None: it is the instrument's own."""
    return asked.partition("/")[2] or None


INSTRUMENT_KINDS: tuple[InstrumentKind, ...] = ("fill", "classify", "ask", "choose")
"""Those that an instrument's file may say; the others are derived from what else it holds. choose:
it has nothing but questions with options."""

AnswerTable = Literal["fills", "labels", "likelihoods", "choices", "replies"]
"""Where a model's answers go."""

Attitude = Literal["positive", "negative", "neutral", "irrelevant"]


Source = Literal["study", "own"]
"""Whose sentence it is: the study's that the instrument is after, or one that was put beside."""

SOURCES: tuple[Source, ...] = ("study", "own")

MASK = "<mask>"
"""How a mask is written in every prompt; each model puts in its own mask token."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """One surface text of a condition, singular and plural."""

    text: str
    """As it stands after the verb: "a lesbian", "depression"."""
    verb: str = ""
    """The verb of "someone who …": is, has, had, was."""
    plural: str = ""
    """As it stands after the plural verb: "lesbian", "depression"."""
    plural_verb: str = ""
    """The verb of "people who …": are, have, had, were."""
    vignette: str = ""
    """A person with the condition, described with {name}, {he} …; empty: it is only named."""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """What a person is, has or was: the thing that varies between prompts."""

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
    """Where the study itself puts it in tables and figures; empty: in its category."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """One question of the scale in one wording, with the place for the condition in braces."""

    id: str
    """Unique within its wording."""
    text: str
    """What stands for ``{item}`` in the wording."""
    wording: str = ""
    """The wording that this text belongs to; empty: every wording of the instrument."""
    dimension: str = ""
    """The subscale, or empty."""
    keyed: Keyed = "plain"
    """reversed: agreeing with the item means less of the construct."""
    choice_keyed: Keyed | None = None
    """The same where there are options to choose from, whose codes have stigma up; None: as keyed.
    Of help, more is more of its construct, but less stigma."""
    your_text: str = ""
    """The text as it is said to somebody, who is "you"; empty: as it is."""
    baseline: str = ""
    """The whole text without a condition, where leaving it out changes more than its slot."""
    question: str = ""
    """What is asked at the end, where something may stand between it and the text; of two people
    what is asked of them: "is dangerous"."""
    opposite: str = ""
    """Of two people: what is asked instead where the stem is keyed reversed: "is harmless"."""
    other: str = ""
    """Of two people: the one who has no condition, whatever the other has."""
    asks: str = ""
    """What it asks for, where stems differ in that: "willing", "likely"."""
    source: Source | None = None
    """Where an instrument has sentences of its own beside a study's: whose this is."""


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
    """Of sentence pairs: what is asked after the sentence, with {pronoun}."""
    family: str = ""
    """What near-copies of one wording have in common; empty: it is a family of its own."""
    source: Source | None = None
    """Where an instrument has wordings of its own beside a study's: whose this is."""


@dataclass(frozen=True, kw_only=True)
class Slot:
    """How a condition is put into an item's text."""

    name: str
    """The word that stands in braces in the items."""
    filled: str
    """With a condition: a text with {form}, {verb}, {plural}, {plural_verb} or {vignette}."""
    empty: str | None = None
    """Without one, for the baseline; None: the instrument has no baseline."""


@dataclass(frozen=True, kw_only=True)
class Questionnaire:
    """Items × wordings × forms of conditions."""

    fields: Mapping[str, str] = field(default_factory=dict)
    """Texts that stand in braces in wordings and items."""
    wordings: tuple[Wording, ...]
    slot: Slot
    items: tuple[Item, ...]
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, kw_only=True)
class Paraphrases:
    """Further wordings of an instrument, asked only on request; items: their own texts of it."""

    wordings: tuple[Wording, ...] = ()
    items: tuple[Item, ...] = ()
    stems: tuple[Stem, ...] = ()
    digest: str = ""


@dataclass(frozen=True, kw_only=True)
class Identity:
    """One level of a second identity, such as Black; how a sentence shows it."""

    name: str
    """As it is printed in tables and figures."""
    attribute: str = ""
    """As it stands before a noun: "75-year-old"; empty: first names show it."""
    predicate: str = ""
    """As it stands after "who is": "75 years old"."""
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By gender: first names, which people are given in turn."""


@dataclass(frozen=True, kw_only=True)
class Identities:
    """A second identity as a factor of the design, with its levels; the first is the reference."""

    id: str
    """Lower-case letters, digits and hyphens: race, age …"""
    levels: tuple[Identity, ...]
    without: frozenset[str] = frozenset()
    """Conditions that name such an identity themselves; nobody is asked about both."""
    instruments: frozenset[str] = frozenset()
    """The only ones that can be asked about it; none: all whose sentences can show an identity."""
    digest: str = ""
    """sha256 of its file."""

    @property
    def by_names(self) -> bool:
        """Whether first names show it, and no words."""
        return not self.levels[0].attribute


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """How a second identity of a person enters an instrument's sentences."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """Text → what stands in its place, with {attribute} or {predicate}; none: it cannot."""
    names: bool = False
    """Whether the people that it describes have first names."""


ENGLISH = "en"
"""The language of an instrument that does not say another."""


def primary_language(tag: str) -> str:
    """The language of a BCP 47 tag without its script and region: that of en-GB is en."""
    return tag.partition("-")[0]


@dataclass(frozen=True, kw_only=True)
class Noun:
    """What people read for a thing."""

    one: str = "condition"
    many: str = "conditions"

    @property
    def headed(self) -> Noun:
        """With capital letters, as at the start of a heading."""
        return Noun(
            one=self.one[:1].upper() + self.one[1:], many=self.many[:1].upper() + self.many[1:]
        )


@dataclass(frozen=True, kw_only=True)
class Instrument:
    """What is asked: a questionnaire as data."""

    id: str
    """Lower-case letters, digits and hyphens; in another mode than its own with that mode."""
    version: str
    """Changes whenever a prompt changes."""
    title: str
    """One line."""
    kind: InstrumentKind
    citation: str
    """The study or scale to cite."""
    licence: str
    """Terms of the content."""
    asks: str = ""
    """What is asked in a few words, for a list; empty: the title says it."""
    settings: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    """Parameters that later stages use: top_k, pairs …"""
    content: Questionnaire | SentencePairs
    digest: str = ""
    """sha256 of the files that it was read from."""
    language: str = ENGLISH
    """Of its prompts: a BCP 47 tag."""
    by_default: tuple[str, ...] = ()
    """The kinds of model that are asked it where no instrument is named; none: all that can."""
    limits: tuple[str, ...] = ()
    """Sentences about what its lists and prompts leave out."""
    noun: Noun = Noun()
    """What its conditions are called."""
    controls: Controls | None = None
    """Items that show whether a model can do the task; None: it has none."""
    completion: str = ""
    """The question that shows a sentence with its blank, with {sentence}; empty: no such mode."""
    writing: str = ""
    """The request to write a sentence, with {sentence}; empty: no such mode."""
    someone: str = ""
    """What stands for the mask in the sentence of that request: "someone who"."""
    writing_controls: Controls | None = None
    """Requests whose sentence is about a known gender; None: it has none."""
    choice: MultipleChoice | None = None
    """How it is asked as a choice; None: it cannot be."""
    paraphrases: Paraphrases = Paraphrases()
    """Its further wordings. They are no part of its digest: nothing else changes with them."""
    crossing: Crossing = Crossing()
    """How it names a second identity, on request; no part of its digest either."""
    of: str = ""
    """The id without the mode, where it is asked in another than its own."""

    @property
    def base(self) -> str:
        """The id that the user knows, whatever the mode."""
        return self.of or self.id

    @property
    def mode(self) -> Mode:
        """How models respond to it."""
        return MODES[self.kind]


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """One text that a model is asked, and what it stands for."""

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
    """What the reply begins with: the model goes on from there; None: it begins itself."""
    system: str | None = None
    """The system prompt; None: none."""
    gender: str | None = None
    """Of the person described, where it is a factor: female, male, nonbinary, unstated."""
    person: str | None = None
    """The id of the person described: woman, man-named …"""
    order: str | None = None
    """Of the options: forward, reversed, or their places such as 2-3-1."""
    labels: str | None = None
    """What stands before the options: letters, numbers."""
    no_answer: bool | None = None
    """Whether "don't know or prefer not to say" is an option."""
    options: tuple[Option, ...] = ()
    """As they are presented; none: it is no choice."""
    paraphrase: str | None = None
    """The id of the wording, where that is asked only on request; None: it is always asked."""
    phrase: str | None = None
    """What a condition says in its slot: "has depression"; None: it has none, or it is a text."""
    family: str | None = None
    """The family of its wording; None: one of its own."""
    source: Source | None = None
    """Whose sentence it is, where the instrument has some of its own beside a study's."""
    identity: str | None = None
    """The name of the person's second identity; None: the sentence shows none on purpose."""

    @cached_property
    def id(self) -> str:
        """The same on every machine and day: a hash of what is asked and what it stands for."""
        named = f"{self.instrument}-{self.mode}" if self.mode in DERIVED else self.instrument
        asked = [named, self.item, self.wording, self.condition, self.form, self.text]
        # Only what earlier prompts did not have: theirs stay as they were.
        further = [self.prefill, self.system, self.gender, options_json(self.options)]
        asked += further if any(one is not None for one in further) else []
        asked += [self.identity] if self.identity else []
        return hashlib.sha256(json.dumps(asked, ensure_ascii=True).encode()).hexdigest()[:16]

    @property
    def asked(self) -> str:
        """All that a model is given, as one text; models/base.py reads it: PromptParts."""
        if self.mode in ("span", "entailment"):
            return "\x1e".join([self.text, *(o.text for o in self.options if o.code is not None)])
        if not (self.prefill or self.system):
            return self.text
        return "\x1e".join([self.text, self.prefill or "", self.system or ""])


class CarriedPhrase(NamedTuple):
    """A condition's own words in a neutral sentence: "There is someone who", "has depression"."""

    prompt_id: str
    """One of the prompts that the form stands in."""
    before: str
    phrase: str
    after: str


def is_control(prompt: Prompt) -> bool:
    """Whether a prompt is that of a control item."""
    return prompt.condition == prompt.group == CONTROL


@dataclass(frozen=True, kw_only=True)
class Rating:
    """What one rater says of a word in the sentences of an instrument."""

    word: str
    """Stripped and case-folded, as words are compared."""
    item: str = ""
    """The item's id that the rating is for; empty: every item."""
    wording: str = ""
    """The wording's id that the rating is for; empty: every wording."""
    rater: str
    """A name or a pseudonym."""
    label: Attitude
    """The word's attitude toward the situation."""
    note: str = ""
    """What the rater remarked, in one line."""
