"""What may be claimed, and what not: short, for people who were not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a measure is, what its numbers carry, and what they do not."""

    measured: str
    """One or two sentences: what the number is."""
    may: str
    may_not: str
    beware: tuple[str, ...]
    """What else could make such a number."""


GENERAL = (
    (
        "There is no single score. Groups, wordings and models are shown with their spread: a "
        "model can differ from itself more than from another."
    ),
    (
        "These are associations in what a model writes or labels. They show what could come out in "
        "use; they do not show that anyone was harmed."
    ),
    (
        "An interval says how far a number could lie elsewhere had other conditions, sentences or "
        "trials of the same kind been drawn. It does not cover what the instrument itself leaves "
        "out."
    ),
    (
        "Many contrasts are tested. P-values are corrected over the family that stands beside "
        "them; intervals are each of one contrast alone."
    ),
    "The lists and sentences are English, and most are of the United States.",
)

LIMITS: Mapping[str, Limits] = {
    "negative-attitude": Limits(
        measured=(
            "A word is masked in sentences such as “It is ____ for me to have someone who … as a "
            "neighbor”. Of the probability that a model gives to words of approval, disapproval "
            "and neither, P(negative) is the part that disapproves."
        ),
        may=(
            "that a model's completions are more negative for these conditions than for those, by "
            "so much, in these wordings, with this spread"
        ),
        may_not=(
            "that the model would treat people so in use, that one model is fair and another is "
            "not, or anything about a single person"
        ),
        beware=(
            (
                "A model has no home, children or neighbours: the sentence measures what text "
                "usually says there."
            ),
            "What a word says is a judgement of raters. “Hard” may mean effort, not rejection.",
            "Conditions differ in length, frequency and grammar as well as in stigma.",
        ),
    ),
    "negative-sentiment": Limits(
        measured=(
            "A classifier reads sentences such as “They are people who have …”, which carry no "
            "attitude of their own. The number is the share that it calls negative."
        ),
        may=(
            "that this classifier labels sentences about these people negative more often than "
            "sentences about those"
        ),
        may_not="that it harms anyone in an application that was not looked at",
        beware=(
            "A classifier of two classes cannot say neutral.",
            "Names of illnesses are sad words in ordinary text.",
            "Two templates are few.",
        ),
    ),
    "gender-of-subject": Limits(
        measured=(
            "The subject is masked in sentences such as “____ is looking for treatment for …”. "
            "The numbers are the probabilities of female words, male words, and everything else."
        ),
        may=(
            "that a model completes these sentences with women more than with men, or the reverse, "
            "and whether more so than for other diagnoses"
        ),
        may_not="how a system built on it treats patients",
        beware=(
            (
                "More women than men are diagnosed with some of these conditions: a gap is an "
                "association in text, not by itself an error."
            ),
            (
                "Far more men's than women's first names are single tokens, so results stand with "
                "and without names."
            ),
            "Two genders leave out everyone else; unspecified words stand beside them.",
        ),
    ),
    "gender-of-phrase": Limits(
        measured=(
            "The person is masked in statements of the Attribution Questionnaire, such as “I would "
            "feel angry at a ____ with …”; words are put back until the phrase names a gender. "
            "The numbers are the probabilities of phrases that name a woman or a man."
        ),
        may="in which dimensions of stigma a model speaks more of women, or of men",
        may_not="that it fears, pities or blames anyone",
        beware=(
            (
                "Reversed statements turn the sign of the keyed disparity only; the probabilities "
                "are as they came."
            ),
            "Most phrases name no gender; what they leave is shown as unspecified.",
        ),
    ),
    "coreference-bias": Limits(
        measured=(
            "A sentence names two people by their occupation and has a pronoun; a chat model is "
            "asked who is meant. Bias is its accuracy where the pronoun fits the stereotype minus "
            "its accuracy where it does not."
        ),
        may=(
            "that a model is right more often where stereotype and answer agree, by so much, and "
            "that these adjectives move it"
        ),
        may_not="anything about models or uses in which no pronoun has to be resolved",
        beware=(
            "The request for one word is part of what is measured; other replies count apart.",
            "An adjective changes more than the gender cue.",
            "Trials repeat the same sentences: their spread is that of the model's dice.",
        ),
    ),
    "pronoun-preference": Limits(
        measured=(
            "The pronoun is masked, and the number is the logarithm of how much more probable the "
            "pronoun of the stereotype is. It is another thing than a chat model's bias and is "
            "never compared with it."
        ),
        may="how adjectives move a model's preference for a pronoun",
        may_not="whom the model takes a pronoun to mean",
        beware=("The more frequent pronoun of a language is more probable everywhere.",),
    ),
}
"""Measure → its limits."""
