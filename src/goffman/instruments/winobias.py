"""Read WinoBias's files, as originally marked and as in the adjectives study, as sentence pairs.

A line marks the referent and the pronouns with [ ]. The study's copy of the test set marks the
other occupation with ( ); the original occasionally marks other things with ( ). So parentheses
mean the other occupation only in a file that has exactly one in every line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import zip_longest
from pathlib import Path
from typing import Literal

from goffman.errors import Fault, SentenceError, did_you_mean
from goffman.instruments.files import read_plain
from goffman.instruments.sentence_pairs import Pair, Sentence
from goffman.instruments.text import GENDER_OF_PRONOUN, counterparts
from goffman.instruments.types import Occupation

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
    """A line without its marks, and the words that were marked."""

    text: str
    in_brackets: list[Noun]
    in_parentheses: list[Noun]
    pronouns: list[str]
    pronouns_at: list[int]


def read_lines(path: Path) -> list[str]:
    """Return the sentences of a file, without the numbers before them, with regular spaces."""
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
    """Return the line without its number, with single spaces and none just inside a mark."""
    line = re.sub(r"\s+", " ", line)
    line = re.sub(r" ?([\[(]) ", r" \1", line)
    line = re.sub(r" ([\])]) ?(?=\w)", r"\1 ", line)
    line = re.sub(r" ([\])])", r"\1", line)
    return re.sub(r" 's\b", "'s", re.sub(r"^\d+ ", "", line.strip()))


def unmark(line: str) -> Marked:
    """Return the line without its marks, and the words that were marked."""
    text, end = "", 0
    in_brackets: list[Noun] = []
    in_parentheses: list[Noun] = []
    marked: list[tuple[int, str, str]] = []
    for mark in _MARK.finditer(line):
        text += line[end : mark.start()]
        end = mark.end()
        content = mark[1] if mark[1] is not None else mark[2]
        article = _ARTICLE.match(content)
        # In "the [the chief]" the article is repeated.
        if article and text[-len(article[0]) - 1 :].lower() == f" {article[0].lower()}":
            content, article = content[article.end() :], None
        # A mark may cut off letters of the pronoun, as in [him]self.
        rest_of_word = _LETTERS.match(line, end)
        word = (content + (rest_of_word[0] if rest_of_word else "")).casefold()
        begins = not _LETTERS.match(text[-1:])
        if mark[1] is not None and begins and word in GENDER_OF_PRONOUN:
            marked.append((len(text), word, content))
        else:
            skip = article.end() if article else 0
            noun = Noun(len(text) + skip, content[skip:].removesuffix("'s"))
            (in_brackets if mark[1] is not None else in_parentheses).append(noun)
        text += content
    # This needs a name of its own: a text used in a comprehension is copied whenever it grows.
    unmarked = text + line[end:]
    whole_words = {at: word for at, word, _ in marked if _word_at(unmarked, at) == word}
    # A word that another mark continues, as in [him](x), is no pronoun.
    in_brackets += [Noun(at, content) for at, _, content in marked if at not in whole_words]
    return Marked(unmarked, in_brackets, in_parentheses, [*whole_words.values()], [*whole_words])


def _word_at(text: str, at: int) -> str:
    word = _LETTERS.match(text, at)
    return word[0].casefold() if word else ""


_FILE = re.compile(r"(pro|anti)_stereotyped_type[12]\.txt\.(dev|test)")
_WORD = re.compile(r"\w+|[^\w\s]")
_MOST_DROPPED = 0.5
"""Published files have up to 5% faulty pairs; in files shifted by a line, nearly all are."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The pairs of a set of WinoBias files, and their faults."""

    pairs: tuple[Pair, ...]
    left_out: tuple[Fault, ...] = ()
    """The faults of the pairs that were left out on request."""
    remarks: tuple[tuple[str, Fault], ...] = ()
    """The faults of pairs that were kept, with the pair's id."""

    def only(self, pairs: Sequence[Pair]) -> Reading:
        """Return the reading with only these pairs."""
        ids = {pair.id for pair in pairs}
        remarks = tuple(remark for remark in self.remarks if remark[0] in ids)
        return Reading(pairs=tuple(pairs), left_out=self.left_out, remarks=remarks)


@dataclass(frozen=True)
class _Finding:
    """A fault of one line.

    unusable: the line cannot be asked. faulty: it can, but it has no pro and anti sentences that
    differ only in the pronoun. remark: only a mark of the file is wrong.
    """

    kind: Literal["unusable", "faulty", "remark"]
    message: str


def read_winobias(
    path: Path, occupations: Sequence[Occupation], *, drop_faulty: bool = False
) -> Reading:
    """Return the pairs of one file and its counterpart, or of all such files in a folder.

    Raise SentenceError with every line that cannot be asked. ``drop_faulty`` leaves these lines out
    instead, and all pairs whose pro and anti sentences differ in more than the pronoun.
    """
    pairs: list[Pair] = []
    left_out: list[Fault] = []
    remarks: list[tuple[str, Fault]] = []
    unusable: list[Fault] = []
    names = {
        spelling.casefold(): occupation
        for occupation in occupations
        for spelling in (occupation.name, *occupation.spellings)
    }
    for pro_path, anti_path in _sets_in(path):
        for number, pair, findings in _read_set(pro_path, anti_path, names):
            faults = [
                Fault(file=pro_path.name, row=number, message=finding.message)
                for finding in findings
            ]
            kinds = {finding.kind for finding in findings}
            if drop_faulty and kinds & {"unusable", "faulty"}:
                left_out += faults
            elif pair is None:
                unusable += faults
            else:
                pairs.append(pair)
                remarks += [(pair.id, fault) for fault in faults]
    if unusable:
        raise SentenceError(
            f"{path} has lines that cannot be used:",
            *(f"  {fault}" for fault in unusable),
            "Correct them, or leave them out with --set coreference.drop-faulty=yes.",
        )
    dropped = len({(fault.file, fault.row) for fault in left_out})
    if dropped > (dropped + len(pairs)) * _MOST_DROPPED:
        raise SentenceError(
            f"{dropped} of the {dropped + len(pairs)} pairs in {path} are faulty, which is too "
            "many to leave out. Do the pro and anti files belong together?"
        )
    return Reading(pairs=tuple(pairs), left_out=tuple(left_out), remarks=tuple(remarks))


def _sets_in(path: Path) -> list[tuple[Path, Path]]:
    name = "pro_stereotyped_type1.txt.test"
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if _FILE.fullmatch(file.name))
        if not files:
            raise SentenceError(
                f"winobias: the folder {path} has no WinoBias files, such as {name}."
            )
    elif not path.exists():
        raise SentenceError(
            f"winobias: {path} was not found. Give a folder with WinoBias files, or one of the "
            f"files, such as {name}."
        )
    elif _FILE.fullmatch(path.name):
        files = [path]
    else:
        raise SentenceError(f"winobias: {path} is not named like a WinoBias file, such as {name}.")
    sets: dict[tuple[Path, Path], None] = {}
    for file in files:
        suffix = file.name.split("_", 1)[1]
        file_pair = (file.with_name(f"pro_{suffix}"), file.with_name(f"anti_{suffix}"))
        for needed_file in file_pair:
            if not needed_file.exists():
                raise SentenceError(
                    f"{file} has no counterpart: {needed_file.name} is missing in the same folder."
                )
        sets[file_pair] = None
    return list(sets)


def _read_set(
    pro_path: Path, anti_path: Path, names: Mapping[str, Occupation]
) -> list[tuple[int, Pair | None, list[_Finding]]]:
    """Return line number, pair and findings for each line of a pro file and its counterpart.

    The pair is None if the line cannot be asked.
    """
    pro_lines, anti_lines = read_lines(pro_path), read_lines(anti_path)
    if len(pro_lines) != len(anti_lines):
        raise SentenceError(
            f"{pro_path.name} has {len(pro_lines):,} lines, but {anti_path.name} has "
            f"{len(anti_lines):,}. Both need the same number: each line is paired with the same "
            "line of the other file."
        )
    set_name = pro_path.name.removeprefix("pro_stereotyped_").replace(".txt.", "-")
    type_: Literal["type-1", "type-2"] = "type-1" if "type1" in set_name else "type-2"
    marks_other = all(line.count("(") == 1 for line in (*pro_lines, *anti_lines))
    results = []
    for number, (pro, anti) in enumerate(zip(pro_lines, anti_lines, strict=True), start=1):
        pair_id = f"winobias-{set_name}/{number}"
        pair, findings = _read_pair(
            pair_id, type_, unmark(pro), unmark(anti), names, marks_other=marks_other
        )
        results.append((number, pair, findings))
    return results


@dataclass(frozen=True)
class _Mention:
    """An occupation in a sentence."""

    at: int
    job: Occupation
    marked_at: int | None = None
    """Where the file marks another word as this occupation by mistake."""


def _read_pair(
    pair_id: str,
    type_: Literal["type-1", "type-2"],
    pro: Marked,
    anti: Marked,
    names: Mapping[str, Occupation],
    *,
    marks_other: bool,
) -> tuple[Pair | None, list[_Finding]]:
    """Return the pair of a line, or None if it cannot be asked, and findings of what is wrong."""
    findings: list[_Finding] = []
    occupations = []
    for side, line in (("pro", pro), ("anti", anti)):
        referent = _referent(side, line, names, findings)
        other = referent and _other(
            side, line, names, referent=referent, marks_other=marks_other, findings=findings
        )
        if referent and other:
            occupations.append((referent, other))
    if len(occupations) < 2:
        return None, findings
    (pro_referent, pro_other), (anti_referent, anti_other) = occupations
    job = pro_referent.job
    if job != anti_referent.job:
        referents = f"'{job.name}' in pro, '{anti_referent.job.name}' in anti"
        return None, [*findings, _Finding("unusable", f"the referents differ: {referents}.")]
    findings += _differences(pro, anti)
    if job.gender == pro_other.job.gender:
        occupation_names = f"'{job.name}' and '{pro_other.job.name}'"
        findings.append(
            _Finding("faulty", f"both occupations are {job.gender}: {occupation_names}.")
        )
    pair = Pair(
        id=pair_id,
        type=type_,
        referent=job.name,
        other=pro_other.job.name,
        stereotype=job.gender,
        pro=_sentence(pro, pro_referent, pro_other),
        anti=_sentence(anti, anti_referent, anti_other),
    )
    if GENDER_OF_PRONOUN[pair.pro.pronoun] != job.gender:
        statement = f"'{pair.pro.pronoun}' for the {job.name} is in the pro file"
        findings.append(_Finding("faulty", f"{statement}, against the stereotype."))
    return pair, findings


def _referent(
    side: str, line: Marked, names: Mapping[str, Occupation], findings: list[_Finding]
) -> _Mention | None:
    """Return the occupation in brackets, or None; the reason is added to the findings."""
    if not line.pronouns:
        findings.append(_Finding("unusable", f"no pronoun is marked with [ ] in {side}."))
        return None
    if len(line.in_brackets) != 1:
        count = f"{len(line.in_brackets)} referents are" if line.in_brackets else "no referent is"
        findings.append(_Finding("unusable", f"{count} marked with [ ] in {side}."))
        return None
    noun = line.in_brackets[0]
    job = names.get(noun.text.casefold())
    if job is None:
        near = did_you_mean(noun.text, names)
        message = f"'{noun.text}' in {side} is not an occupation of the instrument.{near}"
        findings.append(_Finding("unusable", message))
        return None
    return _Mention(noun.at, job)


def _other(
    side: str,
    line: Marked,
    names: Mapping[str, Occupation],
    *,
    referent: _Mention,
    marks_other: bool,
    findings: list[_Finding],
) -> _Mention | None:
    """Return the occupation that is not in brackets, or None; the reason is added to the findings.

    If it is not marked, it is the one of the other gender, since WinoBias has one of each. If a
    sentence names several, the first is used, and a remark is added.
    """
    marked = line.in_parentheses[0] if marks_other and line.in_parentheses else None
    if marked and (job := names.get(marked.text.casefold())):
        return _Mention(marked.at, job)
    mentions = [
        _Mention(match.start(1), names[match[1].casefold()], marked.at if marked else None)
        for match in _occupation(tuple(names)).finditer(line.text)
        if match.start(1) != referent.at
    ]
    candidates = [
        mention for mention in mentions if mention.job.gender != referent.job.gender
    ] or mentions
    if not candidates:
        findings.append(_Finding("unusable", f"there is no second occupation in {side}."))
        return None
    if marked:
        message = f"'{marked.text}' is marked as the other occupation in {side}; "
        findings.append(_Finding("remark", f"{message}'{candidates[0].job.name}' is taken."))
    elif len({mention.job for mention in candidates}) > 1:
        listing = ", ".join(f"'{mention.job.name}'" for mention in candidates)
        message = f"the other occupation in {side} may be {listing}; the first is taken."
        findings.append(_Finding("remark", message))
    return candidates[0]


@lru_cache(maxsize=8)
def _occupation(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern that finds any of the names after an article; longer names first."""
    spellings = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"\b(?:the|an?) ({spellings})\b", re.IGNORECASE)


def _differences(pro: Marked, anti: Marked) -> Iterator[_Finding]:
    """Yield why two sentences do not differ only in the gender of the referent's pronouns."""
    faulty = partial(_Finding, "faulty")
    pro_words, anti_words = (
        [match[0].casefold() for match in _WORD.finditer(line.text)] for line in (pro, anti)
    )
    word_pairs = list(zip_longest(pro_words, anti_words, fillvalue=""))
    differing = [
        number for number, (pro_word, anti_word) in enumerate(word_pairs) if pro_word != anti_word
    ]
    pronouns_asked = f"'{pro.pronouns[-1]}' in pro and '{anti.pronouns[-1]}' in anti"
    pro_marked, anti_marked = _marked_words(pro), _marked_words(anti)
    if not differing:
        yield faulty("pro and anti do not differ.")
    elif any(word not in GENDER_OF_PRONOUN for number in differing for word in word_pairs[number]):
        yield faulty("pro and anti differ in more than the pronoun.")
    elif GENDER_OF_PRONOUN[pro.pronouns[-1]] == GENDER_OF_PRONOUN[anti.pronouns[-1]]:
        yield faulty(f"the pronouns asked about are of one gender: {pronouns_asked}.")
    elif pro_marked[-1] != anti_marked[-1]:
        yield faulty(f"the pronouns asked about are in different places: {pronouns_asked}.")
    else:
        numbers = sorted({*differing, *pro_marked, *anti_marked})
        messages = [*_unlike([word_pairs[number] for number in numbers])]
        yield from map(faulty, messages)
        if not messages and pro_marked != anti_marked:
            counts = f"{len(pro_marked)} in pro, {len(anti_marked)} in anti"
            yield _Finding("remark", f"not every pronoun is marked in both files: {counts}.")


def _unlike(pronouns: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield why pairs of pronouns, from pro and anti, are not one person's in two genders."""
    for side, side_pronouns in zip(("pro", "anti"), zip(*pronouns, strict=True), strict=True):
        if len({GENDER_OF_PRONOUN[pronoun] for pronoun in side_pronouns}) > 1:
            listed = ", ".join(f"'{pronoun}'" for pronoun in side_pronouns)
            yield f"the pronouns in {side} are of two genders: {listed}."
            return
    for pro, anti in pronouns:
        if not counterparts(pro, anti):
            yield f"the pronouns differ in more than gender: '{pro}' in pro, '{anti}' in anti."


def _marked_words(line: Marked) -> list[int]:
    numbers = {match.start(): number for number, match in enumerate(_WORD.finditer(line.text))}
    return [numbers[at] for at in line.pronouns_at]


def _sentence(line: Marked, referent: _Mention, other: _Mention) -> Sentence:
    marked_at = other.marked_at
    return Sentence(
        text=line.text,
        referent_at=_mentions(line.text, referent.at),
        other_at=_mentions(line.text, other.at),
        other_marked_at=None if marked_at is None else _mentions(line.text, marked_at),
        pronoun=line.pronouns[-1],
        pronouns=len(line.pronouns),
        pronouns_at=tuple(line.pronouns_at),
    )


def _mentions(text: str, at: int) -> tuple[int, ...]:
    """Return where a noun stands, then where it recurs with exactly the same article."""
    article = text.rfind(" ", 0, at - 1) + 1
    phrase = re.match(r"\w+ \w+", text[article:])
    matches = re.finditer(rf"\b{re.escape(phrase[0])}\b", text) if phrase else ()
    positions = [match.start() + at - article for match in matches]
    return (at, *(position for position in positions if position != at))
