"""Every question to a chat model, trial by trial: asked once, kept as it was answered."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goffman.errors import AskingError
from goffman.models.base import Reply, Turn
from goffman.runs.ask import Asked, Progress, Watch
from goffman.runs.folder import Run
from goffman.runs.journal import Journal, Line, key_of, open_journal, read_journal
from goffman.runs.manifest import begun, with_answers
from goffman.runs.store import (
    Shelf,
    answers_folder,
    count_rows,
    read_parts,
    sound_parts,
    write_part,
)
from goffman.tables import REPLIES, schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goffman.models.base import Chats
    from goffman.records import Prompt

WATCH_S = 0.1
"""Seconds between two looks at how far it is."""

LINES = 1024
"""So many lines of the journal are rows in memory before they are columns."""

PART = (1, 0)
"""The one part that is made from the journal."""


@dataclass(frozen=True, kw_only=True)
class ChatJob:
    """What a chat model is asked, and where its replies go."""

    run: Run
    instrument: str
    """The instrument's id."""
    prompts: Sequence[Prompt]
    trials: int
    seed: int
    """With the text and the trial it gives the seed of a reply."""
    watch: Watch

    def folder(self, model: str) -> Path:
        """Where the model's replies lie."""
        return answers_folder(self.run.folder, "replies", model=model, instrument=self.instrument)


class Questions:
    """Which texts are asked in which trials, and which of these are answered.

    Prompts that read the same are one question: a reply is to a text in a trial, and its seed comes
    from these two.
    """

    def __init__(self, prompts: Sequence[Prompt], trials: int) -> None:
        self.texts = list(dict.fromkeys(prompt.text for prompt in prompts))
        self.keys = [key_of(text) for text in self.texts]
        self._place = {key: place for place, key in enumerate(self.keys)}
        self.answered: NDArray[np.bool_] = np.zeros((trials, len(self.texts)), dtype=bool)

    def take(self, key: str, trial: int) -> bool:
        """Whether this is a question that was not answered before; from now on it is."""
        place = self._place.get(key)
        if place is None or not 1 <= trial <= len(self.answered):
            return False
        if self.answered[trial - 1, place]:
            return False
        self.answered[trial - 1, place] = True
        return True

    def turns(self, seed: int) -> list[Turn]:
        """What is still to be asked, trial by trial."""
        return [
            Turn(
                text=self.texts[place],
                trial=int(trial) + 1,
                seed=seed_of(seed, self.keys[place], int(trial) + 1),
            )
            for trial, place in np.argwhere(~self.answered)
        ]


def seed_of(seed: int, key: str, trial: int) -> int:
    """The seed of one reply: of 31 bits, which every server takes."""
    content = f"{seed} {trial} {key}".encode()
    return int.from_bytes(hashlib.sha256(content).digest()[:4], "big") >> 1


def known_questions(folder: Path, prompts: Sequence[Prompt], *, trials: int) -> Questions:
    """The questions, those marked whose replies are in the folder; nothing there is changed."""
    questions = Questions(prompts, trials)
    if _whole(sound_parts(folder, clear=False), rows=len(prompts) * trials):
        questions.answered[:] = True
    else:
        _known(questions, folder)
    return questions


def ask_replies(job: ChatJob, model: Chats) -> Asked:
    """What there is of the model's replies, once every prompt is answered in every trial."""
    name = model.identity.name
    _begin(job, name)
    folder = job.folder(name)
    shelf = sound_parts(folder, clear=True)
    asked_now, damaged = 0, shelf.damaged
    if not _whole(shelf, rows=len(job.prompts) * job.trials):
        asked_now, lost = _ask_rest(job, model, folder)
        damaged += tuple(f"journal, line {number}" for number in lost)
        for path in shelf.parts.values():
            path.unlink()
        shelf.parts.clear()
        shelf.parts[PART] = write_part(folder, PART, reply_rows(job, folder, name))
    return _finished(job, name, shelf, asked_now=asked_now, damaged=damaged)


def _ask_rest(job: ChatJob, model: Chats, folder: Path) -> tuple[int, list[int]]:
    """How many questions were asked, and the journal's lines that came to harm; all is answered."""
    questions = Questions(job.prompts, job.trials)
    with open_journal(folder) as journal:
        served_by, lost = _known(questions, folder)
        turns = questions.turns(job.seed)
        if turns:
            job.run.begin()
        hearing = _Hearing(job, model, journal, turns=turns, served_by=served_by)
        hearing.watch(last=True)
        model.chat(turns, hearing.take)
        hearing.watch(last=True)
    if hearing.heard != len(turns):
        raise AskingError(
            f"{model.identity.name} answered {hearing.heard:,} of {len(turns):,} questions of "
            f"{job.instrument} and ended. They are kept: the same command goes on from there."
        )
    return len(turns), lost


def reply_rows(job: ChatJob, folder: Path, model: str) -> pl.DataFrame:
    """REPLIES from the journal, prompt by prompt and trial by trial, whatever came first."""
    questions = Questions(job.prompts, job.trials)
    fresh = (
        (line.key, line.trial, *vars(line.reply).values())
        for line in read_journal(folder)
        if line is not None and questions.take(line.key, line.trial)
    )
    names = ["key", "trial", *(field.name for field in fields(Reply))]
    types = pl.Schema({"key": pl.String(), **schema(REPLIES)})
    chunks = [
        pl.DataFrame(list(zip(*rows, strict=True)), schema={name: types[name] for name in names})
        for rows in _chunks(fresh, LINES)
    ]
    asked = pl.DataFrame(
        {
            "prompt_id": [prompt.id for prompt in job.prompts],
            "key": [key_of(prompt.text) for prompt in job.prompts],
        }
    ).with_row_index("place")
    rows = asked.join(pl.concat(chunks), on="key").sort("place", "trial")
    return rows.with_columns(model=pl.lit(model)).select(schema(REPLIES).names())


class _Hearing:
    """Keeps replies and tells how far it is."""

    def __init__(
        self,
        job: ChatJob,
        model: Chats,
        journal: Journal,
        *,
        turns: Sequence[Turn],
        served_by: str | None,
    ) -> None:
        self.heard = 0
        self._job, self._model, self._journal = job, model.identity.name, journal
        self._turns, self._served_by = turns, served_by
        self._open = np.ones(len(turns), dtype=bool)
        texts = len({prompt.text for prompt in job.prompts})
        self._total = texts * job.trials
        self._start = self._shown = time.monotonic()

    def take(self, position: int, reply: Reply) -> None:
        """The reply is kept; AskingError where it must not be, or cannot."""
        if not self._open[position]:
            raise AskingError(
                f"{self._model} answered one question twice: this is a fault of ours."
            )
        self._check_who(reply)
        turn = self._turns[position]
        self._journal.add(Line(key_of(turn.text), turn.trial, reply))
        self._open[position] = False
        self.heard += 1
        self._job.run.asked(1)
        self.watch()

    def _check_who(self, reply: Reply) -> None:
        self._served_by = self._served_by or reply.served_by
        if reply.served_by not in {None, self._served_by}:
            raise AskingError(
                f"{self._model}: the server now answers as '{reply.served_by}', and earlier in "
                f"this run as '{self._served_by}': two models never stand under one name. Give "
                "another folder with --output, or have the earlier one served again."
            )

    def watch(self, *, last: bool = False) -> None:
        """The watcher knows how far it is; not for every reply, which would cost more than it."""
        now = time.monotonic()
        if not last and now - self._shown < WATCH_S:
            return
        self._shown = now
        self._job.watch(
            Progress(
                model=self._model,
                instrument=self._job.instrument,
                step=1,
                steps=1,
                done=self._total - len(self._turns) + self.heard,
                total=self._total,
                rate=self.heard / (now - self._start) if self.heard else 0.0,
            )
        )


def _begin(job: ChatJob, model: str) -> None:
    """The manifest (to be saved with the first question) knows the pair."""
    if job.instrument not in job.run.manifest.answers.get(model, {}):
        job.run.manifest = with_answers(
            job.run.manifest, model=model, instrument=job.instrument, entry=begun("replies")
        )


def _whole(shelf: Shelf, *, rows: int) -> bool:
    """Whether the part with so many rows is there: it is made once all is answered."""
    return list(shelf.parts) == [PART] and count_rows(shelf.parts.values()) == rows


def _known(questions: Questions, folder: Path) -> tuple[str | None, list[int]]:
    """Who answered so far, and the journal's lines that came to harm; the questions are marked."""
    served_by, lost = None, []
    for number, line in enumerate(read_journal(folder), start=1):
        if line is None:
            lost.append(number)
        elif questions.take(line.key, line.trial):
            served_by = served_by or line.reply.served_by
    return served_by, lost


def _chunks(rows: Iterator[tuple[object, ...]], size: int) -> Iterator[list[tuple[object, ...]]]:
    while chunk := list(islice(rows, size)):
        yield chunk


def _finished(
    job: ChatJob, model: str, shelf: Shelf, *, asked_now: int, damaged: tuple[str, ...]
) -> Asked:
    """What there is; the manifest says so too, and what the server said of itself."""
    replies = read_parts(shelf.parts.values(), "replies")
    asked = {prompt.text: prompt.id for prompt in job.prompts}
    paid = replies.filter(pl.col("prompt_id").is_in(list(asked.values())))
    sentences = len(asked) * job.trials
    entry = {
        "table": "replies",
        "sentences": sentences,
        "rows": replies.height,
        "parts": len(shelf.parts),
        "served_by": sorted(replies["served_by"].drop_nulls().unique()),
        "fingerprints": sorted(replies["fingerprint"].drop_nulls().unique()),
        "prompt_tokens": _total(paid["prompt_tokens"]),
        "completion_tokens": _total(paid["completion_tokens"]),
    }
    manifest = with_answers(job.run.manifest, model=model, instrument=job.instrument, entry=entry)
    if manifest != job.run.manifest:
        job.run.manifest = manifest
        job.run.begin()
    return Asked(
        model=model,
        instrument=job.instrument,
        sentences=sentences,
        rows=replies.height,
        asked_now=asked_now,
        damaged=damaged,
        remarks=tuple(_remarks(replies)),
    )


def _total(tokens: pl.Series) -> int | None:
    """Their sum, or None where some are not known."""
    return None if tokens.null_count() else int(tokens.sum())


def _remarks(replies: pl.DataFrame) -> Iterator[str]:
    """What the user should know of the replies."""
    cut = replies.filter(pl.col("finish_reason") == "length").height
    if cut:
        yield f"{cut:,} of {replies.height:,} replies were cut at --max-tokens."
    none = replies["text"].null_count()
    if none:
        yield f"{none:,} of {replies.height:,} questions got no text as a reply."
    empty = int((replies["text"].str.strip_chars() == "").sum())
    if empty:
        yield f"{empty:,} of {replies.height:,} replies are empty."
    prints = replies["fingerprint"].drop_nulls().n_unique()
    if prints > 1:
        yield f"The server changed while it was asked: it gave {prints} fingerprints of itself."
