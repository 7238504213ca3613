"""manifest.json: which models were asked what, how and when; answers that differ in it never mix.

A field that a later goffman wrote is kept in ``more`` and written back as it was.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Self, Union, get_args, get_origin

from goffman import __version__
from goffman.config import Sample
from goffman.errors import RunError
from goffman.instruments.types import ENGLISH, AnswerTable, ControlScore, Questionnaire, is_control
from goffman.models.base import BatchSizes, Sampling
from goffman.runs.code_digest import PACKAGES
from goffman.runs.files import Folder
from goffman.runs.recursive_masking import Settings
from goffman.validation import check_types, field_types

if TYPE_CHECKING:
    from goffman.instruments.types import Instrument, Prompt
    from goffman.models.base import Identity
    from goffman.runs.batch_plan import BatchLimits

Entry = Mapping[str, Any]
"""A mapping of names to JSON values."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """One entry of a manifest, in which a field that is not set is left out."""

    more: Entry = field(default_factory=dict)
    """Fields that another version of goffman wrote."""

    @classmethod
    def of(cls, entry: Entry) -> Self:
        """Return the record of an entry; raise KeyError, TypeError or ValueError for a bad one."""
        record: Self = _record(cls, entry)
        return record

    def entry(self) -> dict[str, Any]:
        """Return the record as JSON values."""
        unset = {attribute.name for attribute in fields(self) if attribute.default is None}
        values = {
            name: _json(value)
            for name, value in vars(self).items()
            if name != "more" and not (value is None and name in unset)
        }
        return {**values, **self.more}


def _record(kind: Any, entry: Entry) -> Any:
    """Return the dataclass of an entry; only a Record has a place for fields unknown to it."""
    types = field_types(kind)
    for attribute in fields(kind):
        if attribute.default is attribute.default_factory is MISSING and (
            attribute.name not in entry
        ):
            raise KeyError(attribute.name)
    values = {
        name: _from_json(value, types[name])
        for name, value in entry.items()
        if name in types and name != "more"
    }
    others = {name: value for name, value in entry.items() if name not in values}
    record = kind(**values, **({"more": others} if issubclass(kind, Record) else others))
    check_types(record)
    return record


def _from_json(value: Any, kind: Any) -> Any:
    """Return a JSON value in the type of its field: a record for an entry, a tuple for a list."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _from_json(value, arguments[0])
    if isinstance(value, Mapping):
        if is_dataclass(kind):
            return _record(kind, value)
        if origin is Mapping:
            return {name: _from_json(inner, arguments[1]) for name, inner in value.items()}
    if isinstance(value, list) and origin is tuple:
        return tuple(_from_json(inner, arguments[0]) for inner in value)
    return value


def _json(value: Any) -> Any:
    """Return a value as JSON values; a dataclass that is no Record keeps every field."""
    if isinstance(value, Record):
        return value.entry()
    if is_dataclass(value):
        return _json(vars(value))
    if isinstance(value, tuple | list):
        return [_json(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _json(item) for name, item in value.items()}
    return value


@dataclass(frozen=True, kw_only=True)
class HarnessLog(Record):
    """A log of another harness from which answers were read."""

    harness: str
    """lm-eval or inspect_ai."""
    version: str
    file: str
    sha256: str

    @property
    def called(self) -> str:
        """Return the name and version of the harness."""
        return f"{self.harness} {self.version}"


@dataclass(frozen=True, kw_only=True)
class Model(Record):
    """Which model answered, on what, and how."""

    kind: str
    """masked, classifier, causal, chat, or one that another package brings."""
    family: str
    revision: str | None
    weights: str | None
    weights_sha256: str | None
    tokenizer_sha256: str | None
    parameters: int | None = None
    """The number of its weights."""
    precision: str | None
    """None: behind a server, which does not say."""
    device: str
    notes: tuple[str, ...] = ()
    """What loading repaired or chose; may differ without harm."""
    batches: BatchSizes | None = None
    """None: a chat model."""
    labels: tuple[str, ...] | None = None
    """What a classifier's classes mean."""
    cased: bool | None = None
    """Whether a masked model's words have case."""
    deviation: Entry | None = None
    """How far a lower precision is from float32."""
    sampling: Sampling | None = None
    seed: int | None = None
    """Each reply's own seed is made from it."""
    address: str | None = None
    asked_as: str | None = None
    """The model's name at its address."""
    logs: tuple[HarnessLog, ...] | None = None
    """Where the answers were read from, if another harness asked."""

    @property
    def asked_by(self) -> str | None:
        """Return the name of the other harness that asked the model; None: goffman did."""
        return self.logs[0].called if self.logs else None

    @property
    def has_case(self) -> bool:
        """Return whether its words have case; those of causal and chat models always have."""
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
    """The most workers at once."""


@dataclass(frozen=True, kw_only=True)
class Called(Record):
    """The names of things in texts for people, so that an instrument's files are not needed."""

    title: str
    citation: str
    language: str = ENGLISH
    limits: tuple[str, ...] = ()
    nouns: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Condition → singular, plural."""
    conditions: Mapping[str, str] = field(default_factory=dict)
    items: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[str, str] = field(default_factory=dict)
    """Condition → the study's category for it, if that differs from its own."""


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

    version: str
    digest: str
    """A digest of its files."""
    prompts: int
    """Number of prompts without those of controls."""
    prompts_sha256: str
    called: Called
    in_all: int | None = None
    """How many prompts there are, if these are a sample."""
    sample: Sample | None = None
    """Which sample: quick or balanced; None: all, or as many as the user said."""
    settings: Settings | None = None
    """None: the instrument has no masks."""
    trials: int | None = None
    """How often each prompt is asked of a chat model."""
    measured: Entry = field(default_factory=dict)
    """The measure and its parameters; empty: none."""
    controls: AskedControls | None = None
    """None: the instrument has no controls, or they were left out."""
    identities: Entry | None = None
    """The second identity that people have, and its levels, the reference first; None: none."""

    @property
    def asked(self) -> int:
        """Return how many prompts were asked, including those of controls."""
        return self.prompts + (self.controls.control_prompts if self.controls else 0)

    @property
    def language(self) -> str:
        """Return the language of its prompts, as a BCP 47 tag."""
        return self.called.language


@dataclass(frozen=True, kw_only=True)
class Answered(Record):
    """The state of a model's answers to an instrument; null until the model is finished."""

    table: AnswerTable
    sentences: int | None
    rows: int | None
    parts: int | None
    sha256: str | None = None
    """Checksum of the names of all parts."""
    code: str | None = None
    """A digest of the code that made sentences from answers, if that was done."""
    known: str | None = None
    """A digest of who was asked what, with which options and by which code: while it is the same,
    nothing is left to ask; None: it is not known."""
    not_one_token: tuple[str, ...] | None = None
    served_by: tuple[str, ...] | None = None
    fingerprints: tuple[str, ...] | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    timeouts: int | None = None
    """Requests that a server did not answer in time, in all sessions; each was sent again."""
    changed: tuple[str, ...] | None = None
    """Changes to what a server is told, because it refuses the first form: sentences."""
    remarks: tuple[str, ...] | None = None
    """Remarks on the replies when all of them were there."""

    @classmethod
    def begun(cls, table: AnswerTable, before: Self | None = None) -> Self:
        """Return the state of answers that are not finished; keep what a server did BEFORE."""
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
    """The files and the parser that scores were made with."""

    attitudes: tuple[RatingsFile, ...] = ()
    gender: GenderFile | None = None
    parser: str | None = None


@dataclass(frozen=True, kw_only=True)
class UsedAnchor(Record):
    """What people said, with which the run is compared; the numbers are in the run's tables."""

    version: str
    digest: str
    """A digest of its files."""
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
    """A description of the conditions that are left out in a check."""
    lowest: float | None = None
    highest: float | None = None
    limits: tuple[str, ...] = ()
    own_texts: tuple[str, ...] = ()
    """Conditions whose text for models is not the people's text in other words."""
    items: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Id → name and meaning."""


@dataclass(frozen=True, kw_only=True)
class Measuring(Record):
    """What else scores and estimates were last made with."""

    seed: int = 0
    pairs: tuple[tuple[str, str], ...] = ()
    goffman: str | None = None
    versions: Mapping[str, str] | None = None
    """Versions of goffman, Python and the packages that they were made with; None: not noted."""
    made_from: str | None = None
    """A digest of the tables and of all that they depend on; None: it is not known."""


@dataclass(frozen=True, kw_only=True)
class Reported(Record):
    """The report as it was last written: see fingerprint.py."""

    made_from: str | None = None
    """A digest of all that the report depends on; None: it is not known."""
    files: str | None = None
    """A digest of the report's page, figures and tables."""


SAMPLES = ("quick", "balanced", None)
"""The samples, the smallest first."""

REMARKS = ("notes", "deviation", "parameters", "called", "in_all", "sample")
"""Fields that only describe a model or an instrument; they may differ without harm."""

_OTHER = {
    "prompts_sha256": "different prompts",
    "control_ids_sha256": "different control items",
    "digest": "the instrument's files have changed",
    "weights_sha256": "different weights",
    "tokenizer_sha256": "a different tokenizer",
}
"""What each checksum is of; the two checksums themselves would tell nobody anything."""

_COUNTED = {"prompts": "prompts_sha256", "control_prompts": "control_ids_sha256"}
"""Numbers that, if they differ, say all that their checksums would."""


def refuse_mixing(
    run: Path, name: str, *, there: Model | AskedInstrument, here: Model | AskedInstrument
) -> None:
    """Raise RunError if the two differ in more than remarks."""
    differences = {name.rpartition(": ")[2]: pair for name, pair in differ(there, here).items()}
    if not differences:
        return
    if isinstance(there, Model):
        content = f"answers of '{name}' with different settings"
    elif "prompts_sha256" in differences:
        content = f"answers to a different set of {name} prompts"
    else:
        content = f"answers to {name} with different settings"
    redundant = {checksum for count, checksum in _COUNTED.items() if count in differences}
    points = []
    for key, (old, new) in differences.items():
        if key in _COUNTED:
            points.append(f"{old or 0:,} {key.replace('_', ' ')} then, {new or 0:,} now")
        elif key in _OTHER and key not in redundant:
            points.append(_OTHER[key])
        elif key not in redundant:
            points.append(f"{key.replace('_', ' ')}: {_shown(old)} then, {_shown(new)} now")
    raise RunError(
        f"{run} already has {content} ({'; '.join(points)}). The two cannot be mixed. Give another "
        "folder with --output, or use the same options as before."
    )


def differ(
    there: Model | AskedInstrument, here: Model | AskedInstrument
) -> dict[str, tuple[Any, Any]]:
    """Return the fields, other than remarks, in which the two differ: old and new values."""
    flat_there, flat_here = _flat(there.entry()), _flat(here.entry())
    return {
        name: (flat_there.get(name), flat_here.get(name))
        for name in {**flat_there, **flat_here}
        if flat_there.get(name) != flat_here.get(name)
    }


def _flat(entry: Entry) -> dict[str, Any]:
    """Return the entry without remarks; a field of an inner entry is called “settings: top_k”."""
    flat: dict[str, Any] = {}
    for name, value in entry.items():
        if name not in REMARKS:
            parts = value if isinstance(value, Mapping) else {"": value}
            flat |= {f"{name}: {key}".removesuffix(": "): part for key, part in parts.items()}
    return flat


def _shown(value: object) -> str:
    """Return the value as a person would write it."""
    if value is None or value == []:
        return "none"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


FORMAT = 4
"""Changes when an older goffman can no longer read the file."""

TOTALS = ("format", "wall_s", "cpu_s")
"""What the file has beside the fields of Manifest: its format, and sums over the sessions."""


@dataclass(frozen=True, kw_only=True)
class Session:
    """One process's work on a run, from its first question to its end."""

    started: str
    """UTC, ISO 8601."""
    ended: str | None = None
    """None while the session goes on, and forever if the process was killed."""
    wall_s: float = 0.0
    """Seconds, as of the last write of the manifest."""
    cpu_s: float = 0.0
    """CPU seconds of all its threads."""
    sentences: int = 0
    """Sentences asked in this session."""
    seed: int = 0
    platform: str = ""
    threads: int = 0
    """CPU threads that compute sums: another number may change a digit; 0: no sums here."""
    versions: Mapping[str, str] = field(default_factory=dict)
    command: str | None = None
    """The command line, without secrets; None: it was asked from Python."""


@dataclass(frozen=True, kw_only=True)
class Manifest(Record):
    """Everything needed to repeat a run, and a record of what ran."""

    models: Mapping[str, Model] = field(default_factory=dict)
    instruments: Mapping[str, AskedInstrument] = field(default_factory=dict)
    answers: Mapping[str, Mapping[str, Answered]] = field(default_factory=dict)
    """Model → instrument → state of the answers."""
    lexicons: LexiconEntries = field(default_factory=LexiconEntries)
    measuring: Measuring = field(default_factory=Measuring)
    anchors: Mapping[str, UsedAnchor] = field(default_factory=dict)
    """By id: the anchors that something of the run is compared with."""
    tables: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """File, such as scores.parquet → its sha256; two of them while it is rewritten."""
    report: Reported = field(default_factory=Reported)
    sessions: tuple[Session, ...] = ()
    workers: tuple[Workers, ...] = ()
    """The workers that computed in place of the process that writes, if any did."""

    def knows(self, table: str, content: bytes) -> bool:
        """Return whether ``content`` is that of the table's file as the run wrote it."""
        return checksum(content) in self.tables.get(table, ())

    def as_json(self) -> str:
        """Return the text of manifest.json."""
        totals = {
            "wall_s": round(sum(session.wall_s for session in self.sessions), 3),
            "cpu_s": round(sum(session.cpu_s for session in self.sessions), 3),
        }
        entry = self.entry()
        if not self.workers:
            del entry["workers"]
        return json.dumps({"format": FORMAT, **totals, **entry}, indent=2) + "\n"


def read_manifest(run: Path) -> Manifest | None:
    """Return the manifest of a run folder, or None if there is no run yet."""
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
        required = ("models", "instruments", "answers", "sessions")
        entry = {name: value for name, value in content.items() if name not in TOTALS}
        return Manifest.of(entry | {name: content[name] for name in required})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RunError(
            f"{path} was damaged or edited ({type(error).__name__}: {error}). Put the original "
            "file back, or give another folder with --output."
        ) from error


def write_manifest(run: Path | Folder, manifest: Manifest) -> None:
    """Write manifest.json, so that the file is whole at every moment."""
    Folder.of(run).write("manifest.json", manifest.as_json().encode())


def new_session(seed: int, command: str | None = None) -> Session:
    """Return a session that begins now, with the versions of packages that numbers depend on."""
    # torch is loaded with the first model that computes here; one behind a server needs none.
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
    """Return the versions of everything that numbers may depend on."""
    packages = {package: version(package) for package in (*PACKAGES, "openai")}
    return {"goffman": __version__, "python": platform.python_version(), **packages}


def utc_now() -> str:
    """Return the current time: UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def model_entry(identity: Identity, limits: BatchLimits | None = None, **further: Any) -> Entry:
    """Return the manifest's entry of a model; its kind may add ``further`` fields.

    ``limits``: the sizes of batches; None if the model is not asked in batches.
    """
    entry = asdict(identity)
    del entry["name"]
    if limits:
        entry["batches"] = {size.name: getattr(limits, size.name) for size in fields(BatchSizes)}
    return entry | further


def instrument_entry(
    instrument: Instrument, prompts: Sequence[Prompt], settings: Settings | None, **further: Any
) -> AskedInstrument:
    """Return the manifest's entry of an instrument; ``settings``: those of its masks."""
    controls = [prompt for prompt in prompts if is_control(prompt)]
    main_prompts = [prompt for prompt in prompts if not is_control(prompt)]
    asked_controls = None
    if controls and (control_set := instrument.controls):
        asked_controls = AskedControls(
            control_prompts=len(controls),
            control_ids_sha256=ids_sha256(controls),
            score=control_set.score,
            task=control_set.task,
            floor=control_set.floor,
        )
    return AskedInstrument(
        version=instrument.version,
        digest=instrument.digest,
        prompts=len(main_prompts),
        prompts_sha256=ids_sha256(main_prompts),
        called=_called(instrument),
        settings=settings,
        controls=asked_controls,
        **further,
    )


def ids_sha256(prompts: Sequence[Prompt]) -> str:
    """Return a checksum of which prompts these are, whatever their order."""
    return checksum("".join(sorted(prompt.id for prompt in prompts)).encode())


def _called(instrument: Instrument) -> Called:
    content, names = instrument.content, {}
    if isinstance(content, Questionnaire):
        conditions = content.conditions
        names = {
            "conditions": {condition.id: condition.name for condition in conditions},
            "categories": {
                condition.id: condition.study_category
                for condition in conditions
                if condition.study_category
            },
            # The first of an item's wordings stands for the item.
            "items": {item.id: item.text for item in reversed(content.items)},
        }
    return Called(
        title=instrument.title,
        citation=instrument.citation,
        language=instrument.language,
        limits=tuple(instrument.limits),
        nouns={"condition": (instrument.noun.one, instrument.noun.many)},
        **names,
    )


def with_model(manifest: Manifest, run: Path, *, name: str, entry: Entry) -> Manifest:
    """Return the manifest with this model in it; raise RunError if another model has its name."""
    new, old = Model.of(entry), manifest.models.get(name)
    if old is None:
        return replace(manifest, models={**manifest.models, name: new})
    refuse_mixing(run, name, there=old, here=new)
    return manifest


def setup_digest(
    manifest: Manifest, *, model: str, instrument: str, settings: Mapping[str, Any] | None = None
) -> str:
    """Return a hash of the model, the instrument and how it is asked.

    Answers with different hashes are never mixed.
    """
    record = manifest.models.get(model)
    fields_of_model = record.entry() if record else {}
    identity = {name: value for name, value in fields_of_model.items() if name not in REMARKS}
    text = json.dumps([model, identity, instrument, settings], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def with_answers(manifest: Manifest, *, model: str, instrument: str, entry: Answered) -> Manifest:
    """Return the manifest with the state of a model's answers to an instrument."""
    model_answers = {**manifest.answers.get(model, {}), instrument: entry}
    return replace(manifest, answers={**manifest.answers, model: model_answers})


def with_measuring(manifest: Manifest, *, seed: int, pairs: Sequence[tuple[str, str]]) -> Manifest:
    """Return the manifest with the seed, pairs of models and versions of the measuring."""
    measuring = Measuring(seed=seed, pairs=tuple(pairs), goffman=__version__, versions=_versions())
    return replace(manifest, measuring=measuring)


def with_table(manifest: Manifest, table: str, *checksums: str) -> Manifest:
    """Return the manifest with the checksums of all contents that a table's file may have."""
    return replace(manifest, tables={**manifest.tables, table: list(checksums)})


def checksum(content: bytes) -> str:
    """Return the sha256 of a file's content."""
    return hashlib.sha256(content).hexdigest()


def with_instrument(
    manifest: Manifest,
    run: Path,
    *,
    name: str,
    entry: AskedInstrument,
    models: Sequence[str],
    parts: Sequence[AskedInstrument] = (),
) -> Manifest:
    """Return the manifest with this instrument; raise RunError if another one has its name.

    An instrument with more trials, or with other trials while not all are answered, is the same
    one: stored answers stay, and the rest is asked. So is one with more prompts, if the run has one
    of ``parts``, the smaller samples of them. ``models``: the models that are asked now.
    """
    new, old = entry, manifest.instruments.get(name)
    if old is None:
        return replace(manifest, instruments={**manifest.instruments, name: new})
    answered = {
        model: model_answers[name]
        for model, model_answers in manifest.answers.items()
        if name in model_answers
    }
    new_trials, old_trials = new.trials or 0, old.trials or 0
    unfinished = any(answers.parts is None for answers in answered.values())
    grows = new_trials >= old_trials and any(
        not differ(old, replace(part, trials=old.trials)) for part in parts
    )
    if grows and differ(old, replace(new, trials=old.trials)):
        amount = f"a {old.sample} sample" if old.sample else f"{old.prompts:,} prompts"
        record, amount = new, f"{amount} of {name}"
        quantity, target = "prompts", f"{new.asked:,} prompts"
    elif new_trials > old_trials or (new_trials < old_trials and unfinished):
        record, amount = replace(old, trials=new_trials), f"{old.trials} trials of {name}"
        quantity, target = "number of trials", f"{new_trials} trials"
        refuse_mixing(run, name, there=record, here=new)
    else:
        refuse_mixing(run, name, there=old, here=new)
        if SAMPLES.index(new.sample) <= SAMPLES.index(old.sample):
            return manifest
        # The same prompts can be two samples; the run has the larger.
        larger = replace(old, sample=new.sample, in_all=new.in_all)
        return replace(manifest, instruments={**manifest.instruments, name: larger})
    # A model that has answers and is not asked now would have fewer than the others.
    if absent := [model for model in answered if model not in models]:
        raise RunError(
            f"{run} already has {amount} by {', '.join(absent)}. All models of a run must have the "
            f"same {quantity}. Name these models too, so that all get {target}, or give another "
            "folder with --output."
        )
    for model, answers in answered.items():
        restarted = Answered.begun(answers.table, answers)
        manifest = with_answers(manifest, model=model, instrument=name, entry=restarted)
    return replace(manifest, instruments={**manifest.instruments, name: record})
