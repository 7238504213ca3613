"""One file of WinoBias → its lines, each without its marks, and what was marked.

A line marks the referent and the pronouns with [ ], and some files the other occupation with ( ).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from goffman.errors import SentenceError
from goffman.inputs import read_plain
from goffman.instruments.grammar import GENDER_OF_PRONOUN

_LARGEST = 1024 * 1024
"""Bytes; the published files have up to 42,000."""
_MOST_LINES = 5_000
_MARK = re.compile(r"\[([^\[\]]*)\]|\(([^()]*)\)")
_LETTERS = re.compile(r"\w+")
_ARTICLE = re.compile(r"(the|an?)\s+", re.IGNORECASE)


@dataclass(frozen=True)
class Noun:
    """A noun in a sentence, without its article."""

    at: int
    text: str


@dataclass(frozen=True)
class Marked:
    """A line without its marks, and what was marked."""

    text: str
    in_brackets: list[Noun]
    in_parentheses: list[Noun]
    pronouns: list[str]
    pronouns_at: list[int]


def read_lines(path: Path) -> list[str]:
    """The sentences of a file, without the numbers before them, spaces made regular."""
    try:
        text = read_plain(path, most=_LARGEST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SentenceError(f"{path} is not UTF-8 text ({error.reason}).") from error
    except OSError as error:
        raise SentenceError(f"{path} cannot be read: {error.strerror}.") from error
    if not text.strip():
        raise SentenceError(f"{path} is empty.")
    lines = text.rstrip().split("\n")
    if len(lines) > _MOST_LINES:
        raise SentenceError(f"{path} has {len(lines):,} lines. Allowed: up to {_MOST_LINES:,}.")
    return [_regular(line) for line in lines]


def _regular(line: str) -> str:
    """The line without its number, with single spaces and none just inside a mark."""
    line = re.sub(r"\s+", " ", line)
    line = re.sub(r" ?([\[(]) ", r" \1", line)
    line = re.sub(r" ([\])]) ?(?=\w)", r"\1 ", line)
    line = re.sub(r" ([\])])", r"\1", line)
    return re.sub(r" 's\b", "'s", re.sub(r"^\d+ ", "", line.strip()))


def unmark(line: str) -> Marked:
    """The line without its marks, and what was marked."""
    text, end = "", 0
    in_brackets: list[Noun] = []
    in_parentheses: list[Noun] = []
    marked: list[tuple[int, str, str]] = []
    for mark in _MARK.finditer(line):
        text += line[end : mark.start()]
        end = mark.end()
        content = mark[1] if mark[1] is not None else mark[2]
        article = _ARTICLE.match(content)
        # "the [the chief]": the article stands twice.
        if article and text[-len(article[0]) - 1 :].lower() == f" {article[0].lower()}":
            content, article = content[article.end() :], None
        if mark[1] is not None and (
            pronoun := _pronoun(text[-1:], content, _LETTERS.match(line, end))
        ):
            marked.append((len(text), pronoun, content))
        else:
            skip = article.end() if article else 0
            noun = Noun(len(text) + skip, content[skip:].removesuffix("'s"))
            (in_brackets if mark[1] is not None else in_parentheses).append(noun)
        text += content
    # Another name: a text that a comprehension also sees is copied whenever it grows.
    unmarked = text + line[end:]
    whole = {at: word for at, word, _ in marked if _word_at(unmarked, at) == word}
    # What another mark goes on with, as in [him](x), is no pronoun.
    in_brackets += [Noun(at, what) for at, _, what in marked if at not in whole]
    return Marked(unmarked, in_brackets, in_parentheses, [*whole.values()], [*whole])


def _word_at(text: str, at: int) -> str:
    """The word that begins there, in lower case."""
    word = _LETTERS.match(text, at)
    return word[0].casefold() if word else ""


def _pronoun(before: str, content: str, after: re.Match[str] | None) -> str:
    """The pronoun that is marked, in lower case, with what the mark cut off: [him]self; or ""."""
    word = (content + (after[0] if after else "")).casefold()
    return word if word in GENDER_OF_PRONOUN and not _LETTERS.match(before) else ""
