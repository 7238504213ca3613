"""manifest.json: who was asked what, with what, when; and the refusal to mix two of them.

A field that a later goffman wrote is kept in ``more`` and written back as it was.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from goffman import __version__
from goffman.config import Sample
from goffman.errors import RunError
from goffman.instruments.types import ENGLISH, AnswerTable, ControlScore, Questionnaire, is_control
from goffman.runs.files import Folder
from goffman.validation import check_types

if TYPE_CHECKING:
    from goffman.instruments.types import Instrument, Prompt
    from goffman.models.base import Identity, Sampling
    from goffman.runs.batch_plan import BatchLimits, Settings

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
        """The record of an entry; KeyError, TypeError or ValueError where it is none."""
        known = {one.name for one in fields(cls)} - {"more"}
        for one in fields(cls):
            if one.default is one.default_factory is MISSING and one.name not in entry:
                raise KeyError(one.name)
        values = {name: cls._read(name, value) for name, value in entry.items() if name in known}
        rest = {name: value for name, value in entry.items() if name not in known}
        record = cls(**values, more=rest)
        check_types(record)
        return record

    @classmethod
    def each(cls, entries: Mapping[str, Entry]) -> dict[str, Self]:
        """The records of several entries, by the same names."""
        return {name: cls.of(entry) for name, entry in entries.items()}

    @classmethod
    def _read(cls, name: str, value: Any) -> Any:
        kind = cls.WITHIN.get(name)
        if kind is None or value is None:
            return tuple(value) if isinstance(value, list) else value
        return tuple(map(kind.of, value)) if isinstance(value, list | tuple) else kind.of(value)

    def entry(self) -> dict[str, Any]:
        """As JSON has it: without what is not set."""
        unset = {one.name for one in fields(self) if one.default is None}
        told = {
            name: _json(value)
            for name, value in vars(self).items()
            if name != "more" and not (value is None and name in unset)
        }
        return {**told, **self.more}


def _json(value: Any) -> Any:
    if isinstance(value, Record):
        return value.entry()
    if isinstance(value, Session):
        return asdict(value)
    if isinstance(value, tuple | list):
        return [_json(one) for one in value]
    if isinstance(value, Mapping):
        return {name: _json(one) for name, one in value.items()}
    return value


@dataclass(frozen=True, kw_only=True)
class Batches(Record):
    """How many sentences a model is asked together: see batch_plan.py."""

    max_tokens: int
    max_size: int
    part_size: int


@dataclass(frozen=True, kw_only=True)
class Drawing(Record):
    """How a chat model draws its replies: see Sampling in models/base.py."""

    temperature: float
    max_tokens: int
    top_p: float | None


@dataclass(frozen=True, kw_only=True)
class HarnessLog(Record):
    """A log of another harness that answers were read from."""

    harness: str
    """lm-eval or inspect_ai."""
    version: str
    file: str
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
    parameters: int | None = None
    """How many numbers its weights are."""
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
class RequestEntry(Record):
    """How the masks of an instrument are asked: see Settings in batch_plan.py."""

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
    nouns: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """condition → one, many."""
    conditions: Mapping[str, str] = field(default_factory=dict)
    items: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[str, str] = field(default_factory=dict)
    """condition → where the study puts it, if that is not its category."""


@dataclass(frozen=True, kw_only=True)
class AskedControls(Record):
    """The control items that were asked, and what a model must reach on them."""

    control_prompts: int
    control_ids_sha256: str
    score: ControlScore
    """How they are scored: see instruments/types.py."""
    task: str
    """What a model that passes can do: completes “it can …”."""
    floor: float


@dataclass(frozen=True, kw_only=True)
class AskedInstrument(Record):
    """Which instrument was asked, in which version, and how."""

    WITHIN: ClassVar[Mapping[str, type[Record]]] = {
        "settings": RequestEntry,
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
    """How many there are, where these are a sample of them."""
    sample: Sample | None = None
    """Which sample: quick or balanced; None: all, or as many as the user said."""
    called: Called | None = None
    settings: RequestEntry | None = None
    """None: it has no masks."""
    trials: int | None = None
    """Times each prompt is asked of a chat model."""
    measured: Entry = field(default_factory=dict)
    """The measure and its parameters; empty: none."""
    controls: AskedControls | None = None
    """None: it has none, or they were left out."""
    identities: Entry | None = None
    """The second identity that people have, and its levels, the reference first; None: none."""

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

    table: AnswerTable
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

    @classmethod
    def begun(cls, table: AnswerTable, before: Self | None = None) -> Self:
        """What there is until the model has finished; what a server did BEFORE stays known."""
        answered = cls(table=table, sentences=None, rows=None, parts=None)
        if before is None:
            return answered
        return replace(answered, timeouts=before.timeouts, changed=before.changed)


@dataclass(frozen=True, kw_only=True)
class LexiconFile(Record):
    """A file that says what words mean."""

    file: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class RatingsFile(LexiconFile):
    """A file that says what people think of words."""

    ratings: int


@dataclass(frozen=True, kw_only=True)
class GenderFile(LexiconFile):
    """A file that says which gender words name."""

    words: int


@dataclass(frozen=True, kw_only=True)
class LexiconEntries(Record):
    """What the scores were made with."""

    WITHIN: ClassVar[Mapping[str, type[Record]]] = {"attitudes": RatingsFile, "gender": GenderFile}
    attitudes: tuple[RatingsFile, ...] = ()
    gender: GenderFile | None = None
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
    versions: Mapping[str, str] | None = None
    """Of goffman, Python and the packages that they were made with; None: it was not noted."""
    made_from: str | None = None
    """A digest of all that the tables depend on, and of the tables; None: it is not known."""


@dataclass(frozen=True, kw_only=True)
class Reported(Record):
    """The report as it was last written: see report/cache.py."""

    made_from: str | None = None
    """A digest of all that it depends on; None: it is not known."""
    files: str | None = None
    """A digest of its page, figures and tables."""


SAMPLES = ("quick", "balanced", None)
"""The samples, the smallest first."""

REMARKS = ("notes", "deviation", "parameters", "called", "in_all", "sample")
"""What is said about a model or an instrument beside which it is; it may differ without harm."""

_OTHER = {
    "prompts_sha256": "different prompts",
    "control_ids_sha256": "different control items",
    "digest": "the instrument's files have changed",
    "weights_sha256": "different weights",
    "tokenizer_sha256": "a different tokenizer",
}
"""What a checksum is of: the two numbers themselves would tell nobody anything."""

_COUNTED = {"prompts": "prompts_sha256", "control_prompts": "control_ids_sha256"}
"""A number that differs says all that its checksum would."""


def refuse_mixing(
    run: Path, name: str, *, there: Model | AskedInstrument, here: Model | AskedInstrument
) -> None:
    """RunError where the two differ in more than remarks."""
    if not (differing := differ(there, here)):
        return
    if isinstance(there, Model):
        what = f"answers of '{name}' with different settings"
    elif "prompts_sha256" in differing:
        what = f"answers to a different set of {name} prompts"
    else:
        what = f"answers to {name} with different settings"
    told = {checksum for count, checksum in _COUNTED.items() if count in differing}
    how = []
    for key, (then, now) in differing.items():
        if key in _COUNTED:
            how.append(f"{then or 0:,} {key.replace('_', ' ')} then, {now or 0:,} now")
        elif key in _OTHER and key not in told:
            how.append(_OTHER[key])
        elif key not in told:
            how.append(f"{key.replace('_', ' ')}: {_shown(then)} then, {_shown(now)} now")
    raise RunError(
        f"{run} already has {what} ({'; '.join(how)}). The two cannot be mixed. Give another "
        "folder with --output, or use the same options as before."
    )


def differ(
    there: Model | AskedInstrument, here: Model | AskedInstrument
) -> dict[str, tuple[Any, Any]]:
    """By what they differ in, other than remarks: what was there, and what is here."""
    flat_there, flat_here = _flat(there.entry()), _flat(here.entry())
    return {
        key: (flat_there.get(key), flat_here.get(key))
        for key in {**flat_there, **flat_here}
        if key not in REMARKS and flat_there.get(key) != flat_here.get(key)
    }


def _flat(entry: Entry) -> dict[str, Any]:
    """The entry with one level of inner entries brought up; JSON has lists only."""
    flat: dict[str, Any] = {}
    for name, value in entry.items():
        flat |= value if isinstance(value, Mapping) and name not in REMARKS else {name: value}
    return flat


def _shown(value: object) -> str:
    """The value as a person would write it."""
    if value is None or value == []:
        return "none"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


FORMAT = 4
"""Changes when an older goffman could not read the file any more."""

PACKAGES = ("torch", "transformers", "tokenizers", "polars", "numpy", "scipy", "openai")
"""The packages of others that numbers may depend on."""


@dataclass(frozen=True, kw_only=True)
class Session:
    """One process's work on a run, from its first question to its end."""

    started: str
    """UTC, ISO 8601."""
    ended: str | None = None
    """None while it goes on, and for ever where the process was killed."""
    wall_s: float = 0.0
    """Seconds, as of the last write of the manifest."""
    cpu_s: float = 0.0
    """Seconds of all its threads."""
    sentences: int = 0
    """Asked in this session."""
    seed: int = 0
    platform: str = ""
    threads: int = 0
    """Of the CPU, that sums are made with: another number may change a digit; 0: no sums here."""
    versions: Mapping[str, str] = field(default_factory=dict)
    command: str | None = None
    """The command line, without secrets; None: it was asked from Python."""


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """Everything needed to run it again, and what ran."""

    models: Mapping[str, Model] = field(default_factory=dict)
    instruments: Mapping[str, AskedInstrument] = field(default_factory=dict)
    answers: Mapping[str, Mapping[str, Answered]] = field(default_factory=dict)
    """Model → instrument → what there is."""
    lexicons: LexiconEntries = field(default_factory=LexiconEntries)
    measuring: Measuring = field(default_factory=Measuring)
    anchors: Mapping[str, UsedAnchor] = field(default_factory=dict)
    """By id: those that something of the run is set beside."""
    tables: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By file, such as scores.parquet: its sha256; two of them while it is written anew."""
    report: Reported = field(default_factory=Reported)
    sessions: tuple[Session, ...] = ()
    workers: tuple[Workers, ...] = ()
    """Who calculated in place of the process that writes, if anyone did."""
    more: Entry = field(default_factory=dict)
    """What another goffman wrote beside these."""

    def knows(self, table: str, content: bytes) -> bool:
        """Whether a table's file is as it was written, where that is noted."""
        return table not in self.tables or checksum(content) in self.tables[table]

    def as_json(self) -> str:
        """The text of manifest.json."""
        totals = {
            "wall_s": round(sum(session.wall_s for session in self.sessions), 3),
            "cpu_s": round(sum(session.cpu_s for session in self.sessions), 3),
        }
        told = _json(vars(self))
        del told["more"]
        if not self.workers:
            del told["workers"]
        return json.dumps({"format": FORMAT, **totals, **told, **self.more}, indent=2) + "\n"


def read_manifest(run: Path) -> Manifest | None:
    """The manifest of a run folder, or None where there is no run yet."""
    path = run / "manifest.json"
    text = Folder(run).read("manifest.json")
    if text is None:
        if (Folder(run) / "answers").names():
            raise RunError(
                f"{run} has answers but no manifest.json, so it is unknown which model gave them. "
                "Put the file back, or give another folder with --output."
            )
        return None
    try:
        content = json.loads(text)
        if content["format"] != FORMAT:
            raise RunError(
                f"{path} has format {content['format']}, but this version of goffman reads format "
                f"{FORMAT}. Use the version of goffman that wrote it, or give another folder with "
                "--output."
            )
        return _manifest(content)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RunError(
            f"{path} was damaged or edited ({type(error).__name__}: {error}). Put the original "
            "file back, or give another folder with --output."
        ) from error


def _manifest(content: Entry) -> Manifest:
    """The records of a manifest's content; an error where it is none."""
    known = {"format", "wall_s", "cpu_s", *(one.name for one in fields(Manifest))}
    manifest = Manifest(
        models=Model.each(content["models"]),
        instruments=AskedInstrument.each(content["instruments"]),
        answers={model: Answered.each(entries) for model, entries in content["answers"].items()},
        lexicons=LexiconEntries.of(content.get("lexicons", {})),
        measuring=Measuring.of(content.get("measuring", {})),
        anchors=UsedAnchor.each(content.get("anchors", {})),
        tables=content.get("tables", {}),
        report=Reported.of(content.get("report", {})),
        sessions=tuple(Session(**session) for session in content["sessions"]),
        workers=tuple(map(Workers.of, content.get("workers", ()))),
        more={name: value for name, value in content.items() if name not in known},
    )
    for record in (manifest, *manifest.sessions):
        check_types(record)
    return manifest


def write_manifest(run: Path | Folder, manifest: Manifest) -> None:
    """The file is whole at every moment."""
    Folder.of(run).write("manifest.json", manifest.as_json().encode())


def new_session(seed: int, command: str | None = None) -> Session:
    """A session that begins now, with the versions of everything that numbers may depend on."""
    # Loaded with the first model that calculates here; one behind a server does not need it.
    torch = sys.modules.get("torch")
    return Session(
        started=utc_now(),
        seed=seed,
        platform=platform.platform(),
        threads=torch.get_num_threads() if torch else 0,
        versions=_versions(),
        command=command,
    )


@cache
def _versions() -> dict[str, str]:
    """Of everything that numbers may depend on."""
    others = {package: version(package) for package in PACKAGES}
    return {"goffman": __version__, "python": platform.python_version(), **others}


def utc_now() -> str:
    """UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def model_entry(identity: Identity, limits: BatchLimits) -> Entry:
    """What the manifest says of a model of whatever kind; its kind may say more."""
    batches = asdict(limits)
    # When sentences are made ready says nothing about the answers; which are asked together is in
    # the digests of parts.
    del batches["first_block"], batches["enough"]
    return _identity_entry(identity) | {"batches": batches}


def chat_entry(identity: Identity, sampling: Sampling, *, seed: int) -> Entry:
    """What the manifest says of a chat model; ``seed``: each reply's own is made from it."""
    return _identity_entry(identity) | {"sampling": asdict(sampling), "seed": seed}


def _identity_entry(identity: Identity) -> dict[str, Any]:
    entry = asdict(identity)
    del entry["name"]
    return entry


def instrument_entry(
    instrument: Instrument, prompts: Sequence[Prompt], settings: Settings | None
) -> Entry:
    """What the manifest says of an instrument; ``settings``: how its masks are asked."""
    controls = [prompt for prompt in prompts if is_control(prompt)]
    others = [prompt for prompt in prompts if not is_control(prompt)]
    entry: dict[str, Any] = {
        "version": instrument.version,
        "digest": instrument.digest,
        "prompts": len(others),
        "prompts_sha256": ids_sha256(others),
        "called": _called(instrument),
    }
    if controls and (about := instrument.controls):
        entry["controls"] = {
            "control_prompts": len(controls),
            "control_ids_sha256": ids_sha256(controls),
            "score": about.score,
            "task": about.task,
            "floor": about.floor,
        }
    return entry if settings is None else entry | {"settings": asdict(settings)}


def ids_sha256(prompts: Sequence[Prompt]) -> str:
    """A checksum of which prompts these are, in whatever order."""
    ids = "".join(sorted(prompt.id for prompt in prompts))
    return hashlib.sha256(ids.encode()).hexdigest()


def _called(instrument: Instrument) -> Entry:
    """What things are called in what people read, so that its files are not needed for it."""
    called: dict[str, Any] = {
        "title": instrument.title,
        "citation": instrument.citation,
        "language": instrument.language,
        "limits": list(instrument.limits),
        "nouns": {"condition": [instrument.noun.one, instrument.noun.many]},
    }
    if isinstance(instrument.content, Questionnaire):
        conditions, items = instrument.content.conditions, instrument.content.items
        called["conditions"] = {one.id: one.name for one in conditions}
        if grouped := {one.id: one.study_category for one in conditions if one.study_category}:
            called["categories"] = grouped
        # Of an item's wordings the first speaks for it.
        called["items"] = {one.id: one.text for one in reversed(items)}
    return called


def with_model(manifest: Manifest, run: Path, *, name: str, entry: Entry) -> Manifest:
    """The manifest with this model in it; RunError where another one has its name."""
    here, there = Model.of(entry), manifest.models.get(name)
    if there is None:
        return replace(manifest, models={**manifest.models, name: here})
    refuse_mixing(run, name, there=there, here=here)
    return manifest


def asker_of(
    manifest: Manifest, *, model: str, instrument: str, settings: Mapping[str, Any] | None = None
) -> str:
    """A hash of who answers what, and how it is asked: what this run never mixes with another's."""
    record = manifest.models.get(model)
    of_model = record.entry() if record else {}
    who = {name: value for name, value in of_model.items() if name not in REMARKS}
    told = json.dumps([model, who, instrument, settings], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def with_answers(manifest: Manifest, *, model: str, instrument: str, entry: Answered) -> Manifest:
    """The manifest with what there is of a model's answers to an instrument."""
    of_model = {**manifest.answers.get(model, {}), instrument: entry}
    return replace(manifest, answers={**manifest.answers, model: of_model})


def with_lexicons(manifest: Manifest, lexicons: Entry) -> Manifest:
    """The manifest with the lexicons that the scores are now made with."""
    return replace(manifest, lexicons=LexiconEntries.of(lexicons))


def with_measuring(manifest: Manifest, *, seed: int, pairs: Sequence[tuple[str, str]]) -> Manifest:
    """The manifest with what else the scores and estimates are now made with."""
    now = Measuring(seed=seed, pairs=tuple(pairs), goffman=__version__, versions=_versions())
    return replace(manifest, measuring=now)


def with_anchors(manifest: Manifest, anchors: Mapping[str, Entry]) -> Manifest:
    """The manifest with what people said, by id, that the run is now set beside."""
    return replace(manifest, anchors=UsedAnchor.each(anchors))


def with_table(manifest: Manifest, table: str, *checksums: str) -> Manifest:
    """The manifest with all the contents that a table's file may have."""
    return replace(manifest, tables={**manifest.tables, table: list(checksums)})


def without_tables(manifest: Manifest, *tables: str) -> Manifest:
    """The manifest without tables that the run has no more."""
    left = {name: sums for name, sums in manifest.tables.items() if name not in tables}
    return replace(manifest, tables=left)


def checksum(content: bytes) -> str:
    """The sha256 of a file."""
    return hashlib.sha256(content).hexdigest()


def with_instrument(
    manifest: Manifest,
    run: Path,
    *,
    name: str,
    entry: Entry,
    models: Sequence[str],
    parts: Sequence[Entry] = (),
) -> Manifest:
    """The manifest with this instrument in it; RunError where another one has its name.

    Other trials are no other instrument where there are more of them, or as long as not all were
    answered: what was answered stays, and the rest is asked. Nor are more prompts where the run has
    one of PARTS, the smaller samples of them. ``models``: who is asked now.
    """
    here, there = AskedInstrument.of(entry), manifest.instruments.get(name)
    if there is None:
        return replace(manifest, instruments={**manifest.instruments, name: here})
    answered = {model: of_one[name] for model, of_one in manifest.answers.items() if name in of_one}
    now, then = here.trials or 0, there.trials or 0
    unfinished = any(answers.parts is None for answers in answered.values())
    grows = now >= then and any(
        not differ(there, replace(AskedInstrument.of(part), trials=there.trials)) for part in parts
    )
    if grows and differ(there, replace(here, trials=there.trials)):
        has = f"a {there.sample} sample" if there.sample else f"{there.prompts:,} prompts"
        record, has = here, f"{has} of {name}"
        same, all_get = "prompts", f"{here.asked:,} prompts"
    elif now > then or (now < then and unfinished):
        record, has = replace(there, trials=now), f"{there.trials} trials of {name}"
        same, all_get = "number of trials", f"{now} trials"
        refuse_mixing(run, name, there=record, here=here)
    else:
        refuse_mixing(run, name, there=there, here=here)
        if SAMPLES.index(here.sample) <= SAMPLES.index(there.sample):
            return manifest
        # The same prompts can be two samples; the run has the larger.
        larger = replace(there, sample=here.sample, in_all=here.in_all)
        return replace(manifest, instruments={**manifest.instruments, name: larger})
    # A model that has answers and is not asked now would have fewer than the others.
    if others := [model for model in answered if model not in models]:
        raise RunError(
            f"{run} already has {has} by {', '.join(others)}. All models of a run must have the "
            f"same {same}. Name these models too, so that all get {all_get}, or give another "
            "folder with --output."
        )
    for model, answers in answered.items():
        begun = Answered.begun(answers.table, answers)
        manifest = with_answers(manifest, model=model, instrument=name, entry=begun)
    return replace(manifest, instruments={**manifest.instruments, name: record})
