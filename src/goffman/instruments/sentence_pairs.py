"""Sentence pairs from goffman's own frames and occupations, and prompts from any sentence pairs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations, product
from pathlib import Path
from typing import Literal, get_args

from goffman.errors import SentenceError, did_you_mean
from goffman.instruments.fields import REQUIRED, TEXT, UNIQUE_ID, Field, Fields
from goffman.instruments.files import Row, TomlFile, read_table
from goffman.instruments.text import (
    PRONOUNS,
    SINGULAR_THEY,
    Gender,
    after_they,
    places,
    put_before,
    stray_braces,
)
from goffman.instruments.types import (
    MASK,
    THEY,
    Frame,
    Instrument,
    Occupation,
    Prompt,
    SentencePairs,
    Setting,
    Wording,
    asked_as,
)

AdjectivePlacement = Literal["by-stereotype", "by-position", "both"]
ADJECTIVE_PLACEMENTS: tuple[AdjectivePlacement, ...] = get_args(AdjectivePlacement)
_HOLE = "\N{NULL}"
"""The text in place of a pronoun while adjectives are inserted."""


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence, and the positions of the two occupations in it."""

    text: str
    referent_at: tuple[int, ...]
    """Where the name of the occupation that the pronoun refers to begins, after its article; then
    where the same words occur again."""
    other_at: tuple[int, ...]
    """Likewise for the other occupation."""
    other_marked_at: tuple[int, ...] | None = None
    """Likewise for the other occupation as the file marks it, if that is another word."""
    pronoun: str
    """The pronoun that is asked about, in lower case; the last one if several are marked."""
    pronouns: int = 1
    """How many pronouns are marked."""
    pronouns_at: tuple[int, ...] = ()
    """Where each marked pronoun begins; the last is the one asked about."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two sentences: pro has the pronoun of the referent's stereotype, anti the other pronoun.

    The referent is the occupation that the pronoun refers to.
    """

    id: str
    """The pair's source: a frame and its occupations, or a file and its line."""
    type: Literal["type-1", "type-2"]
    referent: str
    other: str
    """The other occupation."""
    stereotype: Gender
    """The gender that people associate with the referent."""
    pro: Sentence
    anti: Sentence
    they: Sentence | None = None
    """The sentence with singular “they”; None if that could mean both people."""


def with_adjectives(
    sentence: Sentence, setting: Setting, *, stereotype: Gender, placement: AdjectivePlacement
) -> str:
    """Return the sentence with the setting's adjectives before its occupations.

    by-stereotype: the male-associated adjective goes to the occupation associated with men, or, if
    the setting is swapped, to the other one; by-position: to the occupation that is mentioned
    first. By position is what the study's code did, with its peculiarities: every mention in the
    same words gets the adjective, and a wrong word that is marked as the other occupation is
    treated as that occupation.
    """
    if placement != "by-position":
        male_at, female_at = sentence.referent_at[:1], sentence.other_at[:1]
        if (stereotype == "female") is not (setting.kind == "swapped"):
            male_at, female_at = female_at, male_at
    else:
        marked = sentence.other_marked_at or sentence.other_at
        male_at, female_at = sorted((sentence.referent_at, marked))
    words = dict.fromkeys(male_at, setting.male) | dict.fromkeys(female_at, setting.female)
    text = sentence.text
    # The last comes first, so that the positions before it stay valid.
    for position in sorted(words, reverse=True):
        if words[position]:
            text = put_before(text, position, words[position])
    return text


def with_holes(sentence: Sentence) -> Sentence:
    """Return the sentence with a hole for each marked pronoun, into which a mask is put."""
    text = sentence.text
    for start in sentence.pronouns_at:
        # The hole is as long as the pronoun, so that all other positions stay valid.
        hole = re.sub(r"\A\w+", lambda word: _HOLE * len(word[0]), text[start:])
        text = text[:start] + hole
    return replace(sentence, text=text)


def parse_setting(adjectives: str) -> Setting:
    """Return the setting of ``male,female``, where either side may be empty, or raise an error."""
    male, comma, female = (part.strip() for part in adjectives.partition(","))
    words = [word for word in (male, female) if word]
    if not comma or not words or not all(is_words(word) for word in words):
        raise SentenceError(
            f"adjectives is '{adjectives}'. Give two adjectives with a comma between them, such as "
            "arrogant,responsive. To give only one, keep the comma: “old,” puts old before the "
            "man's occupation, and “,blond” puts blond before the woman's. You can also give all "
            "(the 15 pairs of Briegel & Chen, 2023) or none."
        )
    return Setting(male=male, female=female)


def is_words(text: str) -> bool:
    """Return whether a text is one word or several, of letters and hyphens."""
    return all(part.isalpha() for part in text.replace("-", " ").split(" "))


def parse_adjective_placement(given: str) -> AdjectivePlacement:
    """Return the placement of a name."""
    for placement in ADJECTIVE_PLACEMENTS:
        if given == placement:
            return placement
    raise SentenceError(
        f"placement is '{given}'. Allowed: {', '.join(ADJECTIVE_PLACEMENTS)}."
        + did_you_mean(given, ADJECTIVE_PLACEMENTS)
    )


_TYPES: tuple[Literal["type-1", "type-2"], ...] = ("type-1", "type-2")
_REFERENTS: tuple[Literal["first", "second"], ...] = ("first", "second")
_GENDERS: tuple[Gender, ...] = ("male", "female")
PRONOUN_TASK = "choose the right pronoun after a name or a word such as “aunt”"
"""The task of the controls, for models that do not chat."""
_OTHER_GENDER: dict[Gender, Gender] = {"male": "female", "female": "male"}
NEAR_HALF = 11.0
"""The most points from 50 percent that the share of women differs by in neutral occupations."""


def prompts_of(
    instrument: Instrument,
    content: SentencePairs,
    pairs: Iterable[Pair],
    *,
    settings: Sequence[Setting],
    placement: AdjectivePlacement,
    wording: Wording | None = None,
    sides: Sequence[str] = ("pro", "anti"),
) -> list[Prompt]:
    """Return both sentences of every pair under every adjective setting, or the one with “they”.

    Each has the question; or, if the instrument asks for pronouns, the pronoun masked; or, if there
    are options to choose from, the sentence alone. ``wording``: a frame around the sentence, and
    another question; None: the instrument's own.
    """
    frame_and_question = wording or Wording(id="", question=content.question)
    asks_for_pronouns = instrument.kind == "prefer"
    alone = instrument.kind in {"choose", "say"}
    prompts: list[Prompt] = []
    for pair in pairs:
        sentences: list[tuple[str, Sentence, Sentence]] = [
            (side, sentence, with_holes(sentence) if asks_for_pronouns else sentence)
            for side in sides
            if (sentence := getattr(pair, side))
        ]
        for setting, (side, sentence, bare) in product(settings, sentences):
            text = with_adjectives(bare, setting, stereotype=pair.stereotype, placement=placement)
            pronoun = sentence.pronoun
            if asks_for_pronouns:
                # With the same capital letters as in the sentence.
                start = sentence.pronouns_at[-1]
                pronoun = sentence.text[start : start + len(pronoun)]
                text = frame_and_question.frame.replace("{item}", re.sub(f"{_HOLE}+", MASK, text))
            elif not alone:
                question = frame_and_question.question.replace("{pronoun}", pronoun)
                text = f"{frame_and_question.frame.replace('{item}', text)} {question}"
            prompts.append(
                Prompt(
                    instrument=instrument.base,
                    mode=instrument.mode,
                    item=pair.id,
                    wording=side,
                    dimension=pair.type,
                    condition=THEY if side == THEY else setting.id,
                    group=THEY if side == THEY else setting.group,
                    category=f"{pair.stereotype}-referent",
                    paraphrase=wording.id if wording else None,
                    text=text,
                    answer=pair.referent,
                    other=pair.other,
                    pronoun=pronoun,
                )
            )
    return prompts


def without_a_chat(instrument: Instrument) -> Instrument:
    """Return an instrument of sentence pairs changed for models that do not chat.

    It has another id, since it measures another construct: which pronoun a model would write, not
    whom the pronoun refers to.
    """
    settings = {**instrument.settings, "measure": "pronoun-preference", "top_k": 10}
    settings.pop("margin", None)
    if "preference_margin" in settings:
        settings["margin"] = settings.pop("preference_margin")
    controls = instrument.controls
    return replace(
        instrument,
        controls=controls and replace(controls, task=PRONOUN_TASK),
        id=asked_as(instrument.base, "pronouns"),
        of=instrument.base,
        title="“He” or “she”? Which pronoun a model prefers in sentences about two occupations",
        kind="prefer",
        settings=settings,
    )


def generate_pairs(
    content: SentencePairs, *, count: int, seed: int, neutral: bool = False
) -> list[Pair]:
    """Return pairs drawn from all frames × occupations × orders, frame after frame in turn.

    The draw ranks by a hash of the seed, so it is the same on every machine and version, and the
    first pairs of a larger draw are those of a smaller one. ``neutral``: pairs of neutral
    occupations, each twice, with either gender as the referent's.
    """
    cast = _cast(content.occupations, neutral=neutral)
    possible, name = len(content.frames) * len(cast), "neutral-pairs" if neutral else "pairs"
    if not 1 <= count <= possible:
        raise SentenceError(
            f"{name} is {count}. Allowed: 1 to {possible:,} ({len(content.frames):,} "
            f"sentence frames × {len(cast):,} pairs of occupations)."
        )
    ranked = _ranked(content.frames, tuple(cast), seed)
    rounds = -(-count // len(ranked))
    drawn = [(frame, *casts[turn]) for turn in range(rounds) for frame, casts in ranked][:count]
    genders = _GENDERS if neutral else (None,)
    return [_pair(*frame_and_cast, gender=gender) for frame_and_cast in drawn for gender in genders]


_Cast = tuple[Occupation, Occupation]


def _cast(occupations: Sequence[Occupation], *, neutral: bool) -> list[_Cast]:
    """Return all pairs of occupations of different gender, or of neutral ones, in both orders."""
    if neutral:
        shares = ((job, job.percent_women) for job in occupations)
        near = [job for job, share in shares if share is not None and abs(share - 50) <= NEAR_HALF]
        return [*permutations(near, 2)]
    men, women = ([job for job in occupations if job.gender == gender] for gender in _GENDERS)
    return [cast for man in men for woman in women for cast in ((man, woman), (woman, man))]


# An audit draws the same pairs twice if it asks a chat model and a masked one.
@lru_cache(maxsize=4)
def _ranked(
    frames: tuple[Frame, ...], cast: tuple[_Cast, ...], seed: int
) -> list[tuple[Frame, list[_Cast]]]:
    """Return the frames in the order of the draw, each with its casts in theirs."""
    # The common parts of a hundred thousand hashes are joined and encoded only once.
    ends = [(f"\0{pair[0].name}\0{pair[1].name}".encode(), pair) for pair in cast]
    sha256 = hashlib.sha256
    ranked = []
    for frame in sorted(frames, key=lambda frame: _rank(seed, frame.id)):
        start = f"{seed}\0{frame.id}".encode()
        ranks = {sha256(start + end).digest(): pair for end, pair in ends}
        ranked.append((frame, [ranks[rank] for rank in sorted(ranks)]))
    return ranked


def draw(pairs: Sequence[Pair], *, count: int, seed: int) -> list[Pair]:
    """Return ``count`` of the pairs, chosen by the seed, in the given order."""
    if not 1 <= count <= len(pairs):
        raise SentenceError(f"pairs is {count}, but there are only {len(pairs):,} pairs.")
    drawn = set(sorted((pair.id for pair in pairs), key=lambda name: _rank(seed, name))[:count])
    return [pair for pair in pairs if pair.id in drawn]


def _rank(seed: int, *parts: str) -> bytes:
    return hashlib.sha256("\0".join([str(seed), *parts]).encode()).digest()


def _pair(frame: Frame, first: Occupation, second: Occupation, *, gender: Gender | None) -> Pair:
    """Return the frame's sentences, pro, anti and with “they”, about two occupations.

    ``gender``: the referent's if its occupation is neutral; None: the gender of its occupation.
    """
    referent, other = (first, second) if frame.referent == "first" else (second, first)
    parts = [frame.id, first.name, second.name, *([gender] if gender else [])]
    referent_gender = gender or referent.gender
    return Pair(
        id="/".join(parts).replace(" ", "-"),
        type=frame.type,
        referent=referent.name,
        other=other.name,
        stereotype=referent_gender,
        pro=_sentence(frame, first, second, gender=referent_gender),
        anti=_sentence(frame, first, second, gender=_OTHER_GENDER[referent_gender]),
        they=_sentence(frame, first, second, gender=None) if frame.they else None,
    )


def _sentence(
    frame: Frame, first: Occupation, second: Occupation, *, gender: Gender | None
) -> Sentence:
    """Return the frame's sentence with its places filled; if ``gender`` is None, with “they”."""
    text, pronoun = "", ""
    positions: dict[str, int] = {}
    names = {"first": first.name, "second": second.name}
    for part in re.split(r"(\{\w+\})", frame.text):
        name = part[1:-1]
        if name in names:
            positions[name] = len(text)
            text += names[name]
        elif part.startswith("{"):
            positions["pronoun"] = len(text)
            pronoun = PRONOUNS[name][gender] if gender else SINGULAR_THEY[name]
            text += pronoun
        else:
            text += after_they(part) if pronoun == "they" else part
    other_place = "second" if frame.referent == "first" else "first"
    return Sentence(
        text=text,
        referent_at=(positions[frame.referent],),
        other_at=(positions[other_place],),
        pronoun=pronoun,
        pronouns_at=(positions["pronoun"],),
    )


_WORDS = Field(test=is_words, says="words of letters")
_FRAME: Fields = {
    "frame": UNIQUE_ID,
    "type": Field(required=True, allowed=_TYPES),
    "referent": Field(required=True, allowed=_REFERENTS),
    "text": REQUIRED,
    "they": Field(allowed=("yes", "no")),
}
_OCCUPATION: Fields = {
    "occupation": replace(_WORDS, required=True),
    "gender": Field(required=True, allowed=_GENDERS),
    "percent_women": Field(
        test=lambda text: re.fullmatch(r"\d{1,2}(\.\d+)?|100", text), says="a number from 0 to 100"
    ),
    "spellings": TEXT,
}
_SETTING: Fields = {
    "male": _WORDS,
    "female": _WORDS,
    "male_origin": TEXT,
    "female_origin": TEXT,
}


def read_sentence_pairs(folder: Path, toml: TomlFile) -> tuple[SentencePairs, list[Path]]:
    """Return the frames, occupations and adjectives of a folder and their files; note faults."""
    paths = [folder / name for name in ("frames.csv", "occupations.csv", "adjectives.csv")]
    question, faults = str(toml.values.get("question", "")), toml.faults
    frames, jobs, adjectives = (
        read_table(path, columns, faults)
        for path, columns in zip(paths, (_FRAME, _OCCUPATION, _SETTING), strict=True)
    )
    content = SentencePairs(
        question=question,
        frames=tuple(_frames(frames)),
        occupations=tuple(_occupations(jobs)),
        settings=tuple(_settings(adjectives)),
    )
    return content, paths


def _frames(rows: Sequence[Row]) -> Iterator[Frame]:
    for row in rows:
        _check_sentence(row)
        yield Frame(
            id=row["frame"],
            type=row["type"],
            referent=row["referent"],
            text=row["text"],
            they=row["they"] == "yes",
        )


def _check_sentence(row: Row) -> None:
    text = row["text"]
    names = places(text)
    pronouns = [name for name in names if name in PRONOUNS]
    if sorted(names) != sorted(["first", "second", *pronouns]) or len(pronouns) != 1:
        allowed = ", ".join(f"{{{name}}}" for name in PRONOUNS)
        requirement = f"{{first}}, {{second}} and one of {allowed}, each once"
        row.note(f"text must have {requirement}: '{text}'.")
    elif stray_braces(text):
        row.note(f"text has a stray brace: '{text}'.")
    elif not re.search(r"\b[Tt]he \{first\}", text) or "the {second}" not in text:
        # "a" would have to become "an" before some occupations.
        row.note(f"{{first}} and {{second}} must come after 'the': '{text}'.")
    elif not text[:1].isupper():
        row.note(f"text must begin with a capital letter: '{text}'.")


def _occupations(rows: Sequence[Row]) -> Iterator[Occupation]:
    name_by_spelling: dict[str, str] = {}
    for row in rows:
        name = row["occupation"]
        spellings = tuple(word.strip() for word in row["spellings"].split(";") if word.strip())
        # "construction worker" and "construction-worker" would give pairs of one id.
        for spelling in (name, *spellings):
            folded = spelling.casefold().replace("-", " ")
            if folded in name_by_spelling:
                row.note(f"'{spelling}' is already used for '{name_by_spelling[folded]}'.")
            name_by_spelling[folded] = name
        # If the share is no number, a fault has been noted.
        share = _OCCUPATION["percent_women"].test
        percent = row["percent_women"]
        yield Occupation(
            name=name,
            gender=row["gender"],
            percent_women=float(percent) if percent and share and share(percent) else None,
            spellings=spellings,
        )
    for gender_name in _GENDERS:
        if rows and not any(row["gender"] == gender_name for row in rows):
            message = f"no occupation has the gender '{gender_name}'; a sentence needs one of each."
            rows[0].faults.add(rows[0].file, None, message)


def _settings(rows: Sequence[Row]) -> Iterator[Setting]:
    earlier: set[Setting] = set()
    for row in rows:
        setting = Setting(male=row["male"], female=row["female"])
        if not (setting.male or setting.female):
            row.note("male and female are both empty.")
        elif setting in earlier:
            row.note(f"the setting '{setting.id}' appears twice.")
        earlier.add(setting)
        yield setting
