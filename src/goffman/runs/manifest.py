"""manifest.json: who was asked what, with what, when; and the refusal to mix two of them."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goffman import __version__
from goffman.errors import RunError
from goffman.records import Questionnaire, is_control
from goffman.runs.entries import (
    Answered,
    AskedInstrument,
    Entry,
    Lexicons,
    Measuring,
    Model,
    Reported,
    UsedAnchor,
    Workers,
)
from goffman.runs.files import Folder
from goffman.runs.mixing import REMARKS, refuse_mixing

if TYPE_CHECKING:
    from goffman.models.base import Identity, Sampling
    from goffman.records import Instrument, Prompt
    from goffman.runs.plan import BatchLimits, Settings

FORMAT = 2
"""Changes when an older goffman could not read the file any more."""

PACKAGES = ("torch", "transformers", "tokenizers", "polars", "numpy", "openai")
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


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """Everything needed to run it again, and what ran."""

    models: Mapping[str, Model] = field(default_factory=dict)
    """By name."""
    instruments: Mapping[str, AskedInstrument] = field(default_factory=dict)
    """By id."""
    answers: Mapping[str, Mapping[str, Answered]] = field(default_factory=dict)
    """Model → instrument → what there is."""
    lexicons: Lexicons = field(default_factory=Lexicons)
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
        """Whether a table's file is as it was written; an earlier goffman did not note how."""
        return table not in self.tables or checksum(content) in self.tables[table]

    def as_json(self) -> str:
        """The text of manifest.json."""
        totals = {
            "wall_s": round(sum(session.wall_s for session in self.sessions), 3),
            "cpu_s": round(sum(session.cpu_s for session in self.sessions), 3),
        }
        told = {
            "format": FORMAT,
            **totals,
            "models": {name: one.entry() for name, one in self.models.items()},
            "instruments": {name: one.entry() for name, one in self.instruments.items()},
            "answers": {
                model: {name: one.entry() for name, one in of_model.items()}
                for model, of_model in self.answers.items()
            },
            "lexicons": self.lexicons.entry(),
            "measuring": self.measuring.entry(),
            "anchors": {name: one.entry() for name, one in self.anchors.items()},
            "tables": dict(self.tables),
            "report": self.report.entry(),
            "sessions": [asdict(session) for session in self.sessions],
        }
        if self.workers:
            told["workers"] = [one.entry() for one in self.workers]
        return json.dumps({**told, **self.more}, indent=2) + "\n"


def read_manifest(run: Path) -> Manifest | None:
    """The manifest of a run folder, or None where there is no run yet."""
    path = run / "manifest.json"
    text = Folder(run).read("manifest.json")
    if text is None:
        if (Folder(run) / "answers").names():
            message = (
                f"{run} has answers but no manifest.json, so it is unknown which model gave them. "
                "Put the file back, or give another folder with --output."
            )
            raise RunError(message)
        return None
    try:
        content = json.loads(text)
        if content["format"] != FORMAT:
            message = (
                f"{path} has format {content['format']}, but this version of goffman reads format "
                f"{FORMAT}. Use the version of goffman that wrote it, or give another folder with "
                "--output."
            )
            raise RunError(message)
        return _manifest(content)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = (
            f"{path} was damaged or edited ({type(error).__name__}: {error}). Put the original "
            "file back, or give another folder with --output."
        )
        raise RunError(message) from error


def _manifest(content: Entry) -> Manifest:
    """The records of a manifest's content; an error where it is none."""
    known = {"format", "wall_s", "cpu_s", *(one.name for one in fields(Manifest))}
    return Manifest(
        models={name: Model.of(entry) for name, entry in content["models"].items()},
        instruments={
            name: AskedInstrument.of(entry) for name, entry in content["instruments"].items()
        },
        answers={
            model: {name: Answered.of(entry) for name, entry in of_model.items()}
            for model, of_model in content["answers"].items()
        },
        lexicons=Lexicons.of(content.get("lexicons", {})),
        measuring=Measuring.of(content.get("measuring", {})),
        anchors={name: UsedAnchor.of(entry) for name, entry in content.get("anchors", {}).items()},
        tables=content.get("tables", {}),
        report=Reported.of(content.get("report", {})),
        sessions=tuple(Session(**session) for session in content["sessions"]),
        workers=tuple(map(Workers.of, content.get("workers", ()))),
        more={name: value for name, value in content.items() if name not in known},
    )


def write_manifest(run: Path, manifest: Manifest) -> None:
    """The file is whole at every moment."""
    Folder(run).write("manifest.json", manifest.as_json().encode())


def new_session(seed: int) -> Session:
    """A session that begins now, with the versions of everything that numbers may depend on."""
    # Loaded with the first model that calculates here; one behind a server does not need it.
    torch = sys.modules.get("torch")
    return Session(
        started=_now(),
        seed=seed,
        platform=platform.platform(),
        threads=torch.get_num_threads() if torch else 0,
        versions={"goffman": __version__, "python": platform.python_version(), **_versions()},
    )


@cache
def _versions() -> dict[str, str]:
    return {package: version(package) for package in PACKAGES}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Clock:
    """Wall and CPU time since it was made."""

    wall: float = field(default_factory=time.monotonic)
    cpu: float = field(default_factory=time.process_time)

    def onto(self, session: Session, *, sentences: int, ended: bool = False) -> Session:
        """The session with the time and the sentences so far."""
        return replace(
            session,
            ended=_now() if ended else None,
            wall_s=round(time.monotonic() - self.wall, 3),
            cpu_s=round(time.process_time() - self.cpu, 3),
            sentences=sentences,
        )


def model_entry(identity: Identity, limits: BatchLimits) -> Entry:
    """What the manifest says of a model of whatever kind; its kind may say more."""
    batches = asdict(limits)
    # When sentences are made ready says nothing about the answers; which are asked together is in
    # the digests of parts.
    del batches["first_block"], batches["enough"]
    entry = asdict(identity) | {"notes": list(identity.notes), "batches": batches}
    del entry["name"]
    return entry


def chat_entry(identity: Identity, sampling: Sampling, *, seed: int) -> Entry:
    """What the manifest says of a chat model; ``seed``: each reply's own is made from it."""
    entry = asdict(identity) | {"notes": list(identity.notes), "sampling": asdict(sampling)}
    del entry["name"]
    return entry | {"seed": seed}


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
    if settings is None:
        return entry
    return entry | {"settings": asdict(settings) | {"targets": list(settings.targets)}}


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
        # Of an item's wordings the first speaks for it.
        called["items"] = {one.id: one.text for one in reversed(items)}
    return called


def with_model(manifest: Manifest, run: Path, *, name: str, entry: Entry) -> Manifest:
    """The manifest with this model in it; RunError where another one has its name."""
    here, there = Model.of(entry), manifest.models.get(name)
    if there is None:
        return replace(manifest, models={**manifest.models, name: here})
    refuse_mixing(run, name, there=replace(there, use=None), here=here)
    return manifest


def asker_of(
    manifest: Manifest, *, model: str, instrument: str, settings: Mapping[str, Any] | None = None
) -> str:
    """A hash of who answers what, and how it is asked: what this run never mixes with another's.

    ``settings``: how the masks of the instrument are asked.
    """
    record = manifest.models.get(model)
    of_model = record.entry() if record else {}
    who = {name: value for name, value in of_model.items() if name not in REMARKS}
    told = json.dumps([model, who, instrument, settings], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def with_answers(manifest: Manifest, *, model: str, instrument: str, entry: Entry) -> Manifest:
    """The manifest with what there is of a model's answers to an instrument."""
    of_model = {**manifest.answers.get(model, {}), instrument: Answered.of(entry)}
    return replace(manifest, answers={**manifest.answers, model: of_model})


def begun(table: str, before: Answered | None = None) -> Entry:
    """What there is of a model's answers until it has finished; what a server did stays known."""
    kept = {} if before is None else {"timeouts": before.timeouts, "changed": before.changed}
    return {"table": table, "sentences": None, "rows": None, "parts": None, **kept}


def with_lexicons(manifest: Manifest, lexicons: Entry) -> Manifest:
    """The manifest with the lexicons that the scores are now made with."""
    return replace(manifest, lexicons=Lexicons.of(lexicons))


def with_measuring(manifest: Manifest, *, seed: int, pairs: Sequence[tuple[str, str]]) -> Manifest:
    """The manifest with what else the scores and estimates are now made with."""
    now = Measuring(seed=seed, pairs=tuple(pairs), goffman=__version__)
    return replace(manifest, measuring=now)


def with_anchors(manifest: Manifest, anchors: Mapping[str, Entry]) -> Manifest:
    """The manifest with what people said, by id, that the run is now set beside."""
    return replace(
        manifest, anchors={name: UsedAnchor.of(entry) for name, entry in anchors.items()}
    )


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


def with_session(manifest: Manifest, session: Session, *, first: bool = False) -> Manifest:
    """The manifest with the session as its last one; ``first``: it was not there before."""
    before = manifest.sessions if first else manifest.sessions[:-1]
    return replace(manifest, sessions=(*before, session))
