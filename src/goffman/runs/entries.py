"""What a manifest says, as records: read once, every field known by its name.

A field that this goffman does not know, because a later one wrote it, is kept in ``more`` and
written back as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, Self

from goffman.records import ENGLISH

Entry = Mapping[str, Any]
"""Names and JSON values."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """One entry of a manifest."""

    WITHIN: ClassVar[Mapping[str, type[Record]]] = {}
    """Fields that are records themselves, or lists of them."""
    more: Entry = field(default_factory=dict)
    """What another goffman wrote."""

    @classmethod
    def of(cls, entry: Entry) -> Self:
        """The record of an entry; KeyError or TypeError where it is none."""
        known = {one.name for one in fields(cls)} - {"more"}
        for one in fields(cls):
            if one.default is one.default_factory is MISSING and one.name not in entry:
                raise KeyError(one.name)
        values = {name: cls._read(name, value) for name, value in entry.items() if name in known}
        rest = {name: value for name, value in entry.items() if name not in known}
        return cls(**values, more=rest)

    @classmethod
    def _read(cls, name: str, value: Any) -> Any:
        kind = cls.WITHIN.get(name)
        if kind is None or value is None:
            return tuple(value) if isinstance(value, list) else value
        return tuple(map(kind.of, value)) if isinstance(value, list | tuple) else kind.of(value)

    def entry(self) -> dict[str, Any]:
        """As JSON has it: without what is not set."""
        told: dict[str, Any] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name == "more" or (value is None and one.default is None):
                continue
            told[one.name] = _json(value)
        return {**told, **self.more}


def _json(value: Any) -> Any:
    if isinstance(value, Record):
        return value.entry()
    if isinstance(value, tuple | list):
        return [_json(one) for one in value]
    if isinstance(value, Mapping):
        return {name: _json(one) for name, one in value.items()}
    return value


@dataclass(frozen=True, kw_only=True)
class Batches(Record):
    """How many sentences a model is asked together: see plan.py."""

    max_tokens: int
    max_size: int
    part_size: int


@dataclass(frozen=True, kw_only=True)
class Drawing(Record):
    """How a chat model draws its replies: see Sampling in models/base.py."""

    temperature: float
    max_tokens: int
    top_p: float | None


KINDS_BY_USE = {"fill": "masked", "classify": "classifier", "ask": "chat", "score": "causal"}
"""What an earlier goffman says that a model was used for → the model's kind."""


@dataclass(frozen=True, kw_only=True)
class HarnessLog(Record):
    """A log of another harness that answers were read from."""

    harness: str
    """lm-eval or inspect_ai."""
    version: str
    file: str
    """Its name."""
    sha256: str

    @property
    def called(self) -> str:
        """Which harness asked."""
        return f"{self.harness} {self.version}"


@dataclass(frozen=True, kw_only=True)
class Model(Record):
    """Which model answered, on what, and how."""

    WITHIN: ClassVar[Mapping[str, type[Record]]] = {
        "batches": Batches,
        "sampling": Drawing,
        "logs": HarnessLog,
    }
    kind: str
    """masked, classifier, causal, chat, or one that another package brings."""
    family: str
    revision: str | None
    weights: str | None
    weights_sha256: str | None
    tokenizer_sha256: str | None
    precision: str | None
    """None: behind a server, which does not say."""
    device: str
    notes: tuple[str, ...] = ()
    """What loading repaired or chose; may differ without harm."""
    batches: Batches | None = None
    """None: a chat model."""
    labels: tuple[str, ...] | None = None
    """What a classifier's classes mean."""
    cased: bool | None = None
    """Whether a masked model's words have case."""
    deviation: Entry | None = None
    """How far a lower precision is from float32."""
    sampling: Drawing | None = None
    seed: int | None = None
    """Each reply's own is made from it."""
    use: str | None = None
    """What an earlier goffman wrote in place of the kind. It stays: the parts of that run's answers
    are known by it."""
    address: str | None = None
    asked_as: str | None = None
    """The model's name at its address."""
    logs: tuple[HarnessLog, ...] | None = None
    """Where the answers were read from, if another harness asked."""

    @property
    def asked_by(self) -> str | None:
        """The other harness that asked it; None: goffman did."""
        return self.logs[0].called if self.logs else None

    @property
    def has_case(self) -> bool:
        """Whether its words have case: those of causal and chat models always have."""
        return self.kind in {"causal", "chat"} if self.cased is None else self.cased

    @classmethod
    def of(cls, entry: Entry) -> Self:
        """The record of an entry, also of one that says a use in place of a kind."""
        kind = {"kind": KINDS_BY_USE[entry["use"]]} if "use" in entry else {}
        return super().of({**kind, **entry})

    def entry(self) -> dict[str, Any]:
        """As JSON has it: as it was read, where an earlier goffman wrote it."""
        told = super().entry()
        if self.use is not None:
            del told["kind"]
        return told


@dataclass(frozen=True, kw_only=True)
class Workers(Record):
    """Workers that answered beside the process that writes, on one device of one machine."""

    host: str
    device: str
    """cpu, cuda:1 …"""
    hardware: str
    """The GPU's name, or the processor's with its vector instructions."""
    workers: int
    """So many at once, at most."""


@dataclass(frozen=True, kw_only=True)
class Asking(Record):
    """How the masks of an instrument are asked: see Settings in plan.py."""

    top_k: int
    depth: int = 1
    width: int = 10
    placement: str = "before-first"
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Called(Record):
    """What things are called in what people read, so that an instrument's files are not needed."""

    title: str
    citation: str
    language: str = ENGLISH
    limits: tuple[str, ...] = ()
    nouns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """condition → one, many."""
    conditions: Mapping[str, str] = field(default_factory=dict)
    items: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class AskedControls(Record):
    """The control items that were asked, and what a model must reach on them."""

    control_prompts: int
    control_ids_sha256: str
    score: str
    """How they are scored: see control_items.py."""
    task: str
    """What a model that passes can do: completes “it can …”."""
    floor: float


@dataclass(frozen=True, kw_only=True)
class AskedInstrument(Record):
    """Which instrument was asked, in which version, and how."""

    WITHIN: ClassVar[Mapping[str, type[Record]]] = {
        "settings": Asking,
        "called": Called,
        "controls": AskedControls,
    }
    version: str
    digest: str
    """Of its files."""
    prompts: int
    """Without those of controls."""
    prompts_sha256: str
    in_all: int | None = None
    """How many there are, where these are a balanced part of them."""
    called: Called | None = None
    settings: Asking | None = None
    """None: it has no masks."""
    trials: int | None = None
    """Times each prompt is asked of a chat model."""
    measured: Entry = field(default_factory=dict)
    """The measure and its parameters; empty: none."""
    controls: AskedControls | None = None
    """None: it has none, they were left out, or an earlier goffman did not know them."""

    @property
    def asked(self) -> int:
        """How many prompts were asked, those of controls too."""
        return self.prompts + (self.controls.control_prompts if self.controls else 0)

    @property
    def language(self) -> str:
        """A BCP 47 tag; an earlier goffman knew English only."""
        return self.called.language if self.called else ENGLISH


@dataclass(frozen=True, kw_only=True)
class Answered(Record):
    """What there is of a model's answers to an instrument; null until it is finished."""

    table: str
    sentences: int | None
    rows: int | None
    parts: int | None
    sha256: str | None = None
    """Of the names of all parts."""
    code: str | None = None
    """A digest of the code that made sentences from answers, where that was done."""
    known: str | None = None
    """A digest of who was asked what, as told and by which code: while it is the same, nothing is
    left to ask; None: it is not known."""
    not_one_token: tuple[str, ...] | None = None
    served_by: tuple[str, ...] | None = None
    fingerprints: tuple[str, ...] | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    timeouts: int | None = None
    """Requests that a server did not answer in time, in all sessions; each was sent again."""
    changed: tuple[str, ...] | None = None
    """What a server was not told as it was at first, because it refuses it: sentences."""
    remarks: tuple[str, ...] | None = None
    """What was said of the replies when all were there."""


@dataclass(frozen=True, kw_only=True)
class LexiconFile(Record):
    """A file that says what words mean."""

    file: str
    sha256: str
    ratings: int | None = None
    words: int | None = None


@dataclass(frozen=True, kw_only=True)
class Lexicons(Record):
    """What the scores were made with."""

    WITHIN: ClassVar[Mapping[str, type[Record]]] = {"attitudes": LexiconFile, "gender": LexiconFile}
    attitudes: tuple[LexiconFile, ...] = ()
    gender: LexiconFile | None = None
    parser: str | None = None


@dataclass(frozen=True, kw_only=True)
class UsedAnchor(Record):
    """What people said, which the run is set beside; its numbers are in the run's tables."""

    version: str
    digest: str
    """Of its files."""
    title: str
    citation: str
    terms: str
    country: str
    year: str
    population: str
    unit: str
    compare: str
    point: str
    """What its values are about: condition or occupation."""
    whose: str = "people"
    """Whose numbers they are, in headings."""
    set_apart: str | None = None
    """What the conditions are that are left out in a check."""
    lowest: float | None = None
    highest: float | None = None
    limits: tuple[str, ...] = ()
    own_texts: tuple[str, ...] = ()
    """Conditions that models are told of in a text that is not people's in other words."""
    items: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By id: name and meaning."""


@dataclass(frozen=True, kw_only=True)
class Measuring(Record):
    """What else scores and estimates were last made with."""

    seed: int = 0
    pairs: tuple[tuple[str, str], ...] = ()
    goffman: str | None = None
    made_from: str | None = None
    """A digest of all that the tables depend on, and of the tables; None: it is not known."""


@dataclass(frozen=True, kw_only=True)
class Reported(Record):
    """The report as it was last written: see reports/kept.py."""

    made_from: str | None = None
    """A digest of all that it depends on; None: it is not known."""
    files: str | None = None
    """A digest of its page, figures and tables."""
