"""What another harness is handed: prompts, and the note by which goffman knows them again.

The note goes with the prompts into the harness, and comes back in its logs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Self

from goffman import __version__
from goffman.asking.prompts_asked import Question, in_turn, questions_of
from goffman.asking.questions import every_way
from goffman.errors import InputError
from goffman.options import AskOptions, Listener
from goffman.records import AnswerTable, InstrumentKind, Prompt, is_control
from goffman.runs.manifest import ids_sha256

if TYPE_CHECKING:
    from goffman.asking.prompts_asked import Askable

TABLES: Mapping[InstrumentKind, AnswerTable] = {
    "choose": "choices",
    "say": "replies",
    "ask": "replies",
    "write": "replies",
}
"""The forms that a harness can ask, and where its answers go."""

FORMS: Mapping[InstrumentKind, str] = {
    "choose": "choice",
    "say": "said",
    "ask": "ask",
    "write": "written",
}
"""What they are called."""


@dataclass(frozen=True, kw_only=True)
class Note:
    """Which prompts a harness was handed."""

    instrument: str
    """The id of the instrument, with its form: social-distance-choice."""
    version: str
    """Of the instrument."""
    digest: str
    """Of the instrument's files."""
    prompts: int
    """So many, those of control items too."""
    prompts_sha256: str
    limit: int | None
    thorough: bool
    goffman: str

    def entry(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @classmethod
    def of(cls, entry: object) -> Self | None:
        """The note in a log; None: this is none."""
        if not isinstance(entry, Mapping):
            return None
        names = [one.name for one in fields(cls)]
        if not all(name in entry for name in names):
            return None
        if not isinstance(entry["instrument"], str):
            return None
        return cls(**{name: entry[name] for name in names})


@dataclass(frozen=True, kw_only=True)
class Handed:
    """An instrument in one form, as a harness is handed it."""

    question: Question
    note: Note
    table: AnswerTable

    @property
    def prompts(self) -> list[Prompt]:
        """A prompt and a control item in turn; of prompts one condition of each group in turn.

        A harness that is told to ask only the first so many then asks some of each.
        """
        controls = [one for one in self.question.prompts if is_control(one)]
        others = in_turn([one for one in self.question.prompts if not is_control(one)])
        pairs = zip_longest(others, controls)
        return [one for pair in pairs for one in pair if one is not None]


def handed(
    instruments: Sequence[str],
    *,
    kinds: Sequence[InstrumentKind],
    forms: Sequence[str] = (),
    limit: int | None = None,
    thorough: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> list[Handed]:
    """What a harness that can ask these kinds of instrument is handed; InputError where nothing.

    ``instruments``: names or folders; none: every built-in one.
    """
    options = AskOptions(forms=tuple(forms), limit=limit, thorough=thorough)
    ways = every_way(instruments, options)
    able = [way for way in ways if way.instrument.kind in kinds]
    for of in dict.fromkeys(way.of for way in ways):
        if of not in {way.of for way in able} and (instruments or not able):
            named = ", ".join(way.form for way in ways if way.of == of)
            can = ", ".join(FORMS[kind] for kind in kinds)
            raise InputError(
                f"'{of}' cannot be exported in the form {named}. Forms that this harness can ask: "
                f"{can}."
            )
    return _questions(able, options, say)


def _questions(
    ways: Sequence[Askable], options: AskOptions, say: Callable[[str], None]
) -> list[Handed]:
    # A harness that reads probabilities asks every order of the options, as an audit on a GPU.
    in_text = {way.instrument.id for way in ways if TABLES[way.instrument.kind] == "replies"}
    tables = {way.instrument.id: {TABLES[way.instrument.kind]} for way in ways}
    found = questions_of(ways, options, Listener(note=say), slowly=in_text, tables=tables)
    return [
        Handed(question=question, note=_note(question, options), table=TABLES[kind])
        for question in found.values()
        for kind in [question.instrument.kind]
    ]


def _note(question: Question, options: AskOptions) -> Note:
    return Note(
        instrument=question.instrument.id,
        version=question.instrument.version,
        digest=question.instrument.digest,
        prompts=len(question.prompts),
        prompts_sha256=ids_sha256(question.prompts),
        limit=options.limit,
        thorough=options.thorough,
        goffman=__version__,
    )


def handed_before(note: Note, instruments: Sequence[str], *, where: str) -> Handed:
    """What a note in a log is of; InputError where this goffman would hand out something else.

    ``instruments``: names or folders in which it is looked for; none: what goffman knows itself.
    """
    options = AskOptions(limit=note.limit, thorough=note.thorough)
    ways = [
        way
        for name in instruments or [note.instrument]
        for way in every_way([name], AskOptions())
        if way.instrument.id == note.instrument and way.instrument.kind in TABLES
    ]
    if not ways:
        raise InputError(
            f"{where} has answers to {note.instrument}, but --instrument names other instruments."
        )
    instrument = ways[0].instrument
    if instrument.version != note.version:
        raise InputError(
            f"{where} has answers to {note.instrument} version {note.version}, but this goffman "
            f"has version {instrument.version}. Export the questions again and run the harness "
            f"again, or use goffman {note.goffman}."
        )
    (found,) = _questions(ways[:1], options, lambda _: None)
    if instrument.digest != note.digest or found.note.prompts_sha256 != note.prompts_sha256:
        raise InputError(
            f"{where} has answers to other prompts of {note.instrument} than this goffman asks: "
            "the instrument's files have changed since the questions were exported. Export them "
            f"again and run the harness again, or use goffman {note.goffman}."
        )
    return found
