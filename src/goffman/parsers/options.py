"""Replies to questions with options → which option they name, by a named parser.

choice-v1 would rather say that a reply is no answer than guess:

option     one option, by its label ("B", "(B)", "Answer: B"), by its words, or by both where they
           agree; of numbers also "7/9" and "seven"
dont-know  the option that is the no-answer option, or words that say as much
refusal    it will not answer, or a filter kept it from doing so
several    more than one option; a label and the words of another one
other      the rest

The first line decides where it names one option, unless the rest says that the answer is another.
Options that are listed again one below the other are the question repeated, and no answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import polars as pl

from goffman.errors import InputError, RunError, did_you_mean
from goffman.instruments.types import Option, options_from

ChoiceKind: TypeAlias = Literal["option", "dont-know", "refusal", "several", "other"]

DEFAULT_CHOICE_PARSER = "choice-v1"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The kind of a reply, and the label of the option that it names."""

    kind: ChoiceKind
    label: str | None = None


THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
"""What a model says to itself before it answers; one that never ends leaves no answer."""
ENDED_THOUGHTS = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
"""A thought whose beginning was cut off, or stood in the question."""

_SAYS = (
    r"(?i:answer|choices?|options?|choose|chosen?|pick(?:ed)?|select(?:ed)?|say|response|rat(?:e|ing)"
    r"|go(?:ing)? with|went with|opt for|letter|number|score|lean(?:ing)? (?:towards?|to)|boxed)"
)
"""Before a label: words that say that it is the answer."""
_FILL = (
    r"(?i:\s+(?:is|was|be|would be|will be|should be|of|it|this|that|as|for|to be|likely"
    r"|most likely|probably|definitely|option|choice|letter|number|the|a|an|my|i|i'd|say|choose))*"
)
_BEFORE = re.compile(rf"\b{_SAYS}\b{_FILL}\s*[:=\-–—]?\s*[(\[]?$")
_ALSO = re.compile(r"[)\]]?\s*(?:,|/|&|\bor\b|\band\b|\bto\b|-|–)\s*(?:(?:and|or)\s+)?[(\[]?")
"""Between two labels that are both named."""
_JOINS = "(?:because|since|as|or|and)"
"""Words after an A that show that it is a label and not an article."""
_NEGATED = re.compile(
    r"\b(?:not|never|neither|nor|cannot|rather than|instead of|no|without|except|other than|\w+n't)"
    r"\b(?:\s+[\w']+){0,3}\s*[(\[]?$",
    re.IGNORECASE,
)
_NOT_ONLY = re.compile(r"\bnot only\b", re.IGNORECASE)
_SCALE = re.compile(
    r"\b(?:from\s+)?1\s*(?:to|-|–|through|and)\s*9\b|(?:/|\bout of\b|\bof\b)\s*9\b"
    r"|\b[19]\s*(?:=|means|being|stands for|is (?:not at all|very much|the (?:low|high)est))"
    r"[^,;.)]*",
    re.IGNORECASE,
)
"""Words that say how long a scale is, not which place on it."""
_NUMBERS = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5",
    "six": "6", "seven": "7", "eight": "8", "nine": "9",
}  # fmt: skip
_UNKNOWN = re.compile(
    r"\b(?:(?:do not|don't) (?:really |actually )?know|not (?:sure|certain)|unsure|uncertain|"
    r"no idea|idk|(?:prefer|rather) not (?:to )?(?:say|answer)|no (?:preference|opinion)|undecided|"
    r"(?:cannot|can't|could not|hard to|difficult to|impossible to) (?:say|tell|decide|judge|know)|"
    r"it depends|depends on)\b",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"\b(?:(?:cannot|can not|can't|could not|won't|will not|unable to|not able to|refuse to|decline"
    r" to|not going to|must decline to) (?:\w+ )?(?:help|assist|answer|respond|reply|comply|"
    r"fulfill?|engage|provide|participate|make|do|support|continue|discuss|offer|choose|pick|"
    r"select|give|rate|express|have|share|take)|not comfortable|inappropriate|"
    r"not appropriate|against my|violates?|"
    r"(?:do not|don't) (?:have|hold|possess|form) (?:any |the |my own )?(?:personal |human )?"
    r"(?:opinions?|preferences?|feelings?|beliefs?|emotions?|experiences?|views?|ability|capacity)|"
    r"as an? (?:ai|artificial|(?:large )?language)|i(?:'m| am) (?:just |only )?an? (?:ai|language)|"
    r"i'm sorry|i am sorry|i apologi[sz]e)\b",
    re.IGNORECASE,
)


_BARE = ("yes", "no")
_YES_OR_NO = re.compile(r"\b(?:yes\s*(?:/|or\b)\s*no|no\s*(?:/|or\b)\s*yes)\b", re.IGNORECASE)
_ANSWERS = re.compile(rf"(?:^|[.:;!?()\[\]\-–—\n]|\b{_SAYS}\b{_FILL})\s*$")
"""Before a bare yes or no that is an answer: the start, or the end of something else."""
_GOES_ON = re.compile(
    r"\s+(?:one|body|reason|need|matter|problem|doubt|way|question|idea|evidence|harm|issue|"
    r"information|longer|more|such)\b",
    re.IGNORECASE,
)
"""After a no that is part of a longer phrase."""


def read_choices(
    replies: pl.DataFrame, prompts: pl.DataFrame, *, parser: str = DEFAULT_CHOICE_PARSER
) -> pl.DataFrame:
    """Return the replies as given with ``kind`` (CHOICE_KINDS), ``chosen`` (a label), ``code``."""
    if parser not in CHOICE_PARSERS:
        allowed, near = ", ".join(CHOICE_PARSERS), did_you_mean(parser, CHOICE_PARSERS)
        raise InputError(f"The parser of choices is '{parser}'. Allowed: {allowed}.{near}")
    joined = replies.join(
        prompts.select("prompt_id", "options"), on="prompt_id", how="left", maintain_order="left"
    )
    if count := joined["options"].null_count():
        raise RunError(
            f"{count:,} replies answer a prompt without options. Give the prompts of the same run, "
            "of an instrument asked as a choice."
        )
    # Most replies are a letter: each different one is read once.
    readings: dict[tuple[str | None, ...], tuple[str, str | None, float | None]] = {}
    rows = []
    for row in joined.select("text", "finish_reason", "options").iter_rows():
        if row not in readings:
            text, finish, options_text = row
            options = options_from(options_text)
            reading = CHOICE_PARSERS[parser](text or "", options)
            if finish == "content_filter":
                reading = Reading(kind="refusal")
            code = next((option.code for option in options if option.label == reading.label), None)
            readings[row] = (reading.kind, reading.label, code)
        rows.append(readings[row])
    columns = {"kind": pl.String, "chosen": pl.String, "code": pl.Float64}
    return replies.hstack(pl.DataFrame(rows, schema=columns, orient="row"))


def read_choice(text: str, options: Sequence[Option]) -> Reading:
    """Return what a reply says, as choice-v1 reads it."""
    plain = _without_echo(_plain(text), options)
    first, _, following = plain.strip().partition("\n")
    labels = _named(first, options)
    if len(labels) == 1:
        # "B. Probably willing", and below it why; but "the answer is C" below is another answer.
        if _labels(following, options, announced=True) - labels:
            return Reading(kind="several")
    else:
        labels = labels or _named(plain, options)
    if len(labels) > 1:
        return Reading(kind="several")
    if labels:
        (label,) = labels
        is_no_answer = next(option.code is None for option in options if option.label == label)
        return Reading(kind="dont-know" if is_no_answer else "option", label=label)
    if _REFUSES.search(plain):
        return Reading(kind="refusal")
    if _UNKNOWN.search(plain):
        return Reading(kind="dont-know")
    # Without the repeated options, nothing may be left of the reply.
    repeated = not plain.strip() and _plain(text).strip()
    return Reading(kind="several" if repeated else "other")


CHOICE_PARSERS: Mapping[str, Callable[[str, Sequence[Option]], Reading]] = {
    DEFAULT_CHOICE_PARSER: read_choice
}
"""Every parser by its name; a new parser gets a new name, and the old ones stay."""


def without_thoughts(text: str) -> str:
    """Return a reply without what a model says to itself before it answers."""
    return ENDED_THOUGHTS.sub(" ", THOUGHTS.sub(" ", text))


def as_seen(text: str) -> str:
    """Return the text with straight quotes, without codes for a terminal or a printer."""
    straight = re.sub("[’‘`]", "'", text)
    return re.sub("\x1b\\[[0-9;]*m|[\u00ad\u200b\u200c\u200d\u2060\ufeff]", "", straight)


def _plain(text: str) -> str:
    """Return the text without thoughts, markup and quotes."""
    folded = as_seen(without_thoughts(unicodedata.normalize("NFKC", text)))
    folded = re.sub(r"[*_#~>\"“”<\\{}$|]+", " ", folded)
    folded = re.sub(r"(?<![A-Za-z])'|'(?![A-Za-z])", " ", folded)
    return "\n".join(line.strip() for line in folded.splitlines() if line.strip())


def _without_echo(plain: str, options: Sequence[Option]) -> str:
    """Return the text without options listed one below the other, or all in one line."""
    lines, kept_lines, block = plain.split("\n"), [], []
    for line in [*lines, ""]:
        if line and any(_lists(line, option) for option in options):
            block.append(line)
            continue
        # One such line is an answer, two are a list.
        kept_lines += block if len(block) == 1 else []
        block = []
        texts = [option.text for option in options if option.text and option.code is not None]
        if _names_all(line, texts):
            continue
        kept_lines += [line] if line else []
    return "\n".join(kept_lines)


def _names_all(line: str, texts: Sequence[str]) -> bool:
    """Return whether a line is the question repeated: it has the words of every option.

    If these are a bare yes and no, they must stand side by side, as in "yes or no".
    """
    if all(text.casefold() in _BARE for text in texts):
        return bool(_YES_OR_NO.search(line))
    return len(texts) > 1 and all(_words(text).search(line) for text in texts)


def _lists(line: str, option: Option) -> bool:
    pattern = rf"[(\[]?{re.escape(option.label)}[)\].:=\-– ]+\s*{re.escape(option.text)}[.,;]?"
    return bool(option.text) and re.fullmatch(pattern, line, re.IGNORECASE) is not None


def _words(text: str) -> re.Pattern[str]:
    parts = [re.escape(part) for part in re.split(r"[^\w']+", text.strip(" ."))]
    phrase = r"[^\w']+".join(parts)
    return re.compile(rf"(?<![\w']){phrase}(?![\w'])", re.IGNORECASE)


def _named(part: str, options: Sequence[Option]) -> set[str]:
    """Return the labels of the options that a part of a reply names."""
    return _labels(part, options, announced=False) | _by_words(part, options)


def _by_words(part: str, options: Sequence[Option]) -> set[str]:
    """Return labels of options whose words are in the part and not negated.

    Options with the longest texts are looked for first.
    """
    labels, remainder = set(), part
    for option in sorted(options, key=lambda option: -len(option.text)):
        if not option.text:
            continue
        for match in list(_words(option.text).finditer(remainder)):
            before = _NOT_ONLY.sub(" ", remainder[: match.start()])
            # If an option is a bare No, "there is no reason to" does not choose it.
            bare = option.text.casefold() in _BARE
            if bare and (not _ANSWERS.search(before) or _GOES_ON.match(remainder[match.end() :])):
                continue
            if not _NEGATED.search(_clause(before)):
                labels.add(option.label)
            # Its words must not be counted again for a shorter option.
            remainder = remainder[: match.start()] + "\0" * len(match[0]) + remainder[match.end() :]
    return labels


def _labels(part: str, options: Sequence[Option], *, announced: bool) -> set[str]:
    """Return the labels of options whose label stands in the part as an answer.

    ``announced``: only where words before it say so, such as "the answer is".
    """
    numbers = all(option.label.isdigit() for option in options if option.code is not None)
    by_label = {option.label: option for option in options}
    if numbers:
        part = _SCALE.sub(" ", part)
        for word, digit in _NUMBERS.items():
            part = re.sub(rf"\b{word}\b", digit, part, flags=re.IGNORECASE)
    alternatives = "|".join(map(re.escape, by_label))
    labels: set[str] = set()
    end = 0
    lone_label = re.fullmatch(rf"\W*({alternatives.lower()})\W*", part.strip())
    if lone_label and not announced:
        return {label for label in by_label if label.lower() == lone_label[1]}
    for match in re.finditer(rf"(?<![\w.'])({alternatives})(?![\w'])(?!\.\d)", part):
        before, after = part[: match.start()], part[match.end() :]
        link = labels and _ALSO.fullmatch(part[end : match.start()])
        offered = bool(_BEFORE.search(before) or link)
        if not announced:
            offered = offered or numbers or _stands_out(before, after, by_label[match[1]])
        article = match[1] in {"A", "I"} and re.match(rf"\s+(?!{_JOINS}\b)[a-z]", after)
        if offered and not article and not _NEGATED.search(_clause(before)):
            labels.add(match[1])
            end = match.end()
    return labels


def _stands_out(before: str, after: str, option: Option) -> bool:
    """Return whether a letter is a label: first in its line, in brackets, or with its words."""
    begins = before == "" or before.endswith(("\n", "\n(", "\n[")) or before in {"(", "["}
    closed = re.match(rf"\s*(?:$|\n|[)\].:;,=/&]|[-–—]\s|{_JOINS}\b)", after) is not None
    if begins and closed:
        return True
    if before.endswith(("(", "[")) and after[:1] in {")", "]"}:
        return True
    return bool(option.text) and _words(option.text).match(after.lstrip(" .:)]-–")) is not None


def _clause(before: str) -> str:
    return re.split(r"[.;:!?\n]|,\s+(?:but|so)\b|\bbut\b", before)[-1]
