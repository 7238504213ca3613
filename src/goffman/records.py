"""The core types: frozen, keyword-only, importing none but those of controls and choices."""

from __future__ import annotations

# ruff: noqa: PLC0414 - what sentence pairs are made of belongs to the core types, too.
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from goffman.choice_items import ChoiceForm, Option, Stem, options_json
from goffman.control_items import CONTROL, Controls
from goffman.pair_items import BASELINE as BASELINE
from goffman.pair_items import Frame as Frame
from goffman.pair_items import Occupation as Occupation
from goffman.pair_items import SentencePairs as SentencePairs
from goffman.pair_items import Setting as Setting

InstrumentKind = Literal["fill", "classify", "ask", "prefer", "complete", "choose", "say", "write"]
"""How an instrument is asked: its form. fill: a masked word; classify: a label; ask: a reply;
prefer: one of two forms at a mask; complete: a reply that is begun up to the blank; choose: the
probability of each option; say: an option, in text; write: a sentence."""

INSTRUMENT_KINDS: tuple[InstrumentKind, ...] = ("fill", "classify", "ask", "choose")
"""Those that an instrument's file may say; the others are derived from what else it holds. choose:
it has nothing but questions with options."""

AnswerTable = Literal["fills", "labels", "likelihoods", "choices", "replies"]
"""Where a model's answers go."""

Attitude = Literal["positive", "negative", "neutral", "irrelevant"]

Alternative = Literal["two-sided", "greater", "less"]

Correction = Literal["bonferroni", "holm", "benjamini-hochberg"]

MASK = "<mask>"
"""How a mask is written in every prompt; each model puts in its own mask token."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One thing wrong with a file that a user wrote."""

    file: str
    """The file's name as the user knows it."""
    row: int | None = None
    """The line in the file, counted as an editor counts, or None for the file as a whole."""
    message: str
    """What was given, what is allowed, and the nearest allowed name."""

    def __str__(self) -> str:
        where = self.file if self.row is None else f"{self.file}, line {self.row}"
        return f"{where}: {self.message}"


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
    keyed: Literal["plain", "reversed"] = "plain"
    """reversed: agreeing with the item means less of the construct."""
    choice_keyed: Literal["plain", "reversed"] | None = None
    """The same where there are options to choose from, whose codes have stigma up; None: as keyed.
    Of help, more is more of its construct, but less stigma."""
    your_text: str = ""
    """The text as it is said to somebody, who is "you"; empty: as it is."""
    baseline: str = ""
    """The whole text without a condition, where leaving it out changes more than its slot."""
    question: str = ""
    """What is asked at the end, where something may stand between it and the text."""
    asks: str = ""
    """What it asks for, where stems differ in that: "willing", "likely"."""


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
    """Lower-case letters, digits and hyphens."""
    version: str
    """Changes whenever a prompt changes."""
    title: str
    """One line."""
    kind: InstrumentKind
    citation: str
    """The study or scale to cite."""
    licence: str
    """Terms of the content."""
    settings: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    """Parameters that later stages use: top_k, pairs …"""
    content: Questionnaire | SentencePairs
    digest: str = ""
    """sha256 of the files that it was read from."""
    language: str = ENGLISH
    """Of its prompts: a BCP 47 tag."""
    limits: tuple[str, ...] = ()
    """Sentences about what its lists and prompts leave out."""
    noun: Noun = Noun()
    """What its conditions are called."""
    controls: Controls | None = None
    """Items that show whether a model can do the task; None: it has none."""
    completion: str = ""
    """The question that shows a sentence with its blank, with {sentence}; empty: no such form."""
    writing: str = ""
    """The request to write a sentence, with {sentence}; empty: no such form."""
    someone: str = ""
    """What stands for the mask in the sentence of that request: "someone who"."""
    writing_controls: Controls | None = None
    """Requests whose sentence is about a known gender; None: it has none."""
    choice: ChoiceForm | None = None
    """How it is asked as a choice; None: it cannot be."""
    paraphrases: Paraphrases = Paraphrases()
    """Its further wordings. They are no part of its digest: nothing else changes with them."""


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """One text that a model is asked, and what it stands for."""

    instrument: str
    item: str
    """The item's id; for coreference the sentence pair's."""
    wording: str
    """The wording's id; for coreference "pro" or "anti"."""
    dimension: str | None = None
    keyed: Literal["plain", "reversed"] = "plain"
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
    begun: str | None = None
    """What the reply begins with: the model goes on from there; None: it begins itself."""
    system: str | None = None
    """The system prompt; None: none."""
    gender: str | None = None
    """Of the person described, where it is a factor: female, male, unstated."""
    person: str | None = None
    """The id of the person described: woman, man-named …"""
    order: str | None = None
    """Of the options: forward, reversed, or their places such as 2-3-1."""
    labels: str | None = None
    """What stands before the options: letters, numbers."""
    way_out: bool | None = None
    """Whether "don't know or prefer not to say" is an option."""
    options: tuple[Option, ...] = ()
    """As they are presented; none: it is no choice."""
    paraphrase: str | None = None
    """The id of the wording, where that is asked only on request; None: it is always asked."""

    @cached_property
    def id(self) -> str:
        """The same on every machine and day: a hash of what is asked and what it stands for."""
        asked = [self.instrument, self.item, self.wording, self.condition, self.form, self.text]
        # Only what earlier prompts did not have: theirs stay as they were.
        further = [self.begun, self.system, self.gender, options_json(self.options)]
        asked += further if any(one is not None for one in further) else []
        return hashlib.sha256(json.dumps(asked, ensure_ascii=True).encode()).hexdigest()[:16]

    @property
    def asked(self) -> str:
        """All that a model is given, as one text; models/base.py reads it: Opening."""
        if not (self.begun or self.system):
            return self.text
        return "\x1e".join([self.text, self.begun or "", self.system or ""])


def is_control(prompt: Prompt) -> bool:
    """Whether a prompt is that of a control item; an earlier goffman allowed the condition."""
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


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A contrast of two sets of values, and what is needed to doubt it."""

    contrast: str
    """What is compared, in words; the first set comes first."""
    n: int
    """Values used: pairs where values are paired, else those of both sets together; of conditions
    that are in both sets, each once."""
    n_first: int
    n_second: int
    """Values used of each set."""
    left_out: int = 0
    """Values, or pairs, that were given but missing, and so not used."""
    mean_first: float | None = None
    mean_second: float | None = None
    """Of the values used; None: there are none."""
    difference: float | None = None
    """Mean of the first minus mean of the second; None in a correlation too."""
    low: float | None = None
    high: float | None = None
    """The two-sided interval of the difference, whatever the alternative of the test."""
    level: float | None = None
    """Confidence of the intervals, such as 0.95; None: the method gives none."""
    effect: float | None = None
    """The effect size, with the sign of the difference."""
    effect_name: str | None = None
    """Which one: "Cohen's d, pooled SD" …"""
    effect_low: float | None = None
    effect_high: float | None = None
    """Its interval, at the same level."""
    second_effect: float | None = None
    """Another effect size, to stand beside the first."""
    second_effect_name: str | None = None
    second_effect_low: float | None = None
    second_effect_high: float | None = None
    test: str | None = None
    """The test by name; None: an interval only."""
    alternative: Alternative | None = None
    """greater: the first is greater than the second, or the correlation above 0."""
    statistic: float | None = None
    """Of the test: t, W, U or the permuted difference."""
    df: float | None = None
    """Degrees of freedom, where the test has them."""
    error: float | None = None
    """The standard error of the difference, where the test has one."""
    items: int | None = None
    """How many items it is over, where more of them would lower the error."""
    lasting: float | None = None
    """The standard error that would stay however many items were asked."""
    p: float | None = None
    """0 < p ≤ 1, not corrected; one too small to be written is the smallest normal float."""
    p_adjusted: float | None = None
    """Corrected over the family; None: not corrected, or there is no p."""
    correction: Correction | None = None
    family: str | None = None
    """The declared family of tests that the correction is over."""
    family_size: int | None = None
    """Its tests that have a p: those without one are not counted."""
    method: str
    """How interval, p and effects were computed."""
    draws: int | None = None
    """Random draws, or None where nothing was drawn."""
    seed: int | None = None
    """``numpy.random.default_rng(seed)`` gives the draws again; None: nothing was drawn."""
    reason: str | None = None
    """Why a value that the method gives elsewhere is null here."""
    unit: str | None = None
    """What n counts: conditions, items × conditions, sentence pairs, trials …"""
    interval_over: str | None = None
    """What the interval takes as sampled, which need not be what n counts."""
    check: str | None = None
    """A rank test of the same two sets, beside the test and in no family; None: there is none."""
    check_over: str | None = None
    """What the checks rank and permute, which need not be what n counts."""
    check_n: int | None = None
    """How many of these; of two independent sets both together."""
    check_effect: float | None = None
    """The rank-biserial correlation, or of a correlation Spearman's ρ."""
    check_p: float | None = None
    """Of the rank test: two-sided, not corrected."""
    permutation_p: float | None = None
    """Of the permutation test of the same difference, or correlation: two-sided, not corrected."""
    check_reason: str | None = None
    """Why a check has no p."""
