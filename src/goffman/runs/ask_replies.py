"""Every question to a chat model, trial by trial: asked once, kept as it was answered."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goffman.errors import AskingError
from goffman.models.base import Reply, Serves, Turn
from goffman.runs.ask import Asked
from goffman.runs.entries import Answered
from goffman.runs.folder import Run
from goffman.runs.hearing import Hearing
from goffman.runs.journal import Line, key_of, open_journal, read_journal
from goffman.runs.manifest import asker_of, begun, with_answers
from goffman.runs.progress import Watch
from goffman.runs.remarks import remarks_on
from goffman.runs.store import Shelf, answers_folder, read_parts, sound_parts, write_part
from goffman.tables import REPLIES, schema

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from goffman.models.base import Chats
    from goffman.models.team import Team
    from goffman.records import Prompt
    from goffman.runs.files import Folder
    from goffman.runs.manifest import Manifest

LINES = 1024
"""So many lines of the journal are rows in memory before they are columns."""

PART = (1, 0)
"""The one part that is made from the journal."""

OTHERS = (
    "Stored replies that were not used: {}. They come from another model, from other settings or "
    "from an earlier goffman."
)


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
    words: bool = False
    """Whether a word is to be filled in: see Turn."""
    options: bool = False
    """Whether there are options to choose from: see Turn."""
    team: Team | None = None
    """The workers that answer for the model; None: nobody does."""

    def replies(self, model: str) -> Replies:
        """The model's replies, as far as they are on disk."""
        return replies_of(
            self.run.folder, self.run.manifest, model=model, instrument=self.instrument
        )


@dataclass(frozen=True, kw_only=True)
class Replies:
    """Where a model's replies to an instrument lie, and by what they are known as its own."""

    folder: Folder
    model: str
    asker: str
    """A hash of who answers, and how it is asked; it stands in each line of the journal."""

    def lines(self) -> Iterator[tuple[int, Line | None, bool]]:
        """The journal's lines: number, content (None: it came to harm), and whether it is ours."""
        for number, line in enumerate(read_journal(self.folder), start=1):
            yield number, line, line is not None and line.asker == self.asker

    def digest(self, prompts: Sequence[Prompt], trials: int) -> str:
        """What stands in the name of the part with all replies to these prompts."""
        asked = [self.asker, trials, [[prompt.id, prompt.asked] for prompt in prompts]]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]


def replies_of(run: Path, manifest: Manifest, *, model: str, instrument: str) -> Replies:
    """A model's replies to an instrument, whether or not there are any yet."""
    return Replies(
        folder=answers_folder(run, "replies", model=model, instrument=instrument),
        model=model,
        asker=asker_of(manifest, model=model, instrument=instrument),
    )


class Questions:
    """Which texts are asked in which trials, and which of these are answered.

    Prompts that read the same are one question: a reply is to a text in a trial, and its seed comes
    from these two.
    """

    def __init__(self, prompts: Sequence[Prompt], trials: int) -> None:
        self.texts = list(dict.fromkeys(prompt.asked for prompt in prompts))
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

    def turns(self, seed: int, *, words: bool = False, options: bool = False) -> list[Turn]:
        """What is still to be asked, trial by trial; ``words``, ``options``: see Turn."""
        return [
            Turn(
                text=self.texts[place],
                trial=int(trial) + 1,
                seed=seed_of(seed, self.keys[place], int(trial) + 1),
                words=words,
                options=options,
            )
            for trial, place in np.argwhere(~self.answered)
        ]


def seed_of(seed: int, key: str, trial: int) -> int:
    """The seed of one reply: of 31 bits, which every server takes."""
    content = f"{seed} {trial} {key}".encode()
    return int.from_bytes(hashlib.sha256(content).digest()[:4], "big") >> 1


def known_questions(replies: Replies, prompts: Sequence[Prompt], *, trials: int) -> Questions:
    """The questions, those marked whose replies are on disk; nothing there is changed."""
    questions = Questions(prompts, trials)
    shelf = sound_parts(replies.folder, model=replies.model, clear=False)
    if _whole(shelf, asked=replies.digest(prompts, trials)):
        questions.answered[:] = True
    else:
        _known(questions, replies)
    return questions


def ask_replies(job: ChatJob, model: Chats) -> Asked:
    """What there is of the model's replies, once every prompt is answered in every trial."""
    name = model.identity.name
    _begin(job, name)
    replies = job.replies(name)
    shelf = sound_parts(replies.folder, model=name, clear=True)
    digest = replies.digest(job.prompts, job.trials)
    if _whole(shelf, asked=digest):
        return _finished(job, shelf, replies, _Found())
    found = _ask_rest(job, model, replies)
    for part in shelf.parts.values():
        shelf.folder.remove(part.name)
    shelf.parts.clear()
    shelf.parts[PART] = write_part(shelf.folder, PART, reply_rows(job, replies), asked=digest)
    return _finished(job, shelf, replies, found)


def _ask_rest(job: ChatJob, model: Chats, replies: Replies) -> _Found:
    """What was found in the journal, to which all that was missing there is added."""
    questions = Questions(job.prompts, job.trials)
    job.run.bind()
    with open_journal(replies.folder) as journal:
        found = _known(questions, replies)
        turns = questions.turns(job.seed, words=job.words, options=job.options)
        if turns:
            job.run.begin()
        hearing = Hearing(
            job, model, journal, turns=turns, served_by=found.served_by, asker=replies.asker
        )
        hearing.watch(last=True)
        try:
            model.chat(turns, hearing.take)
        finally:
            _note_service(job, model)
        hearing.watch(last=True)
    if hearing.heard != len(turns):
        raise AskingError(
            f"{model.identity.name} answered only {hearing.heard:,} of {len(turns):,} prompts of "
            f"{job.instrument}. All answers so far are kept. To resume, run the same command "
            "again."
        )
    return replace(found, asked_now=len(turns))


def _note_service(job: ChatJob, model: Chats) -> None:
    """The manifest (to be saved) knows how the server did, also where that ended the asking."""
    if not isinstance(model, Serves):
        return
    name, service = model.identity.name, model.service
    there = job.run.manifest.answers[name][job.instrument]
    now = replace(
        there,
        timeouts=((there.timeouts or 0) + service.timeouts) or None,
        changed=tuple(dict.fromkeys((*(there.changed or ()), *service.changed))) or None,
    )
    job.run.manifest = with_answers(
        job.run.manifest, model=name, instrument=job.instrument, entry=now.entry()
    )


def reply_rows(job: ChatJob, replies: Replies) -> pl.DataFrame:
    """REPLIES from the journal, prompt by prompt and trial by trial, whatever came first."""
    questions = Questions(job.prompts, job.trials)
    fresh = (
        (line.key, line.trial, *vars(line.reply).values())
        for _, line, ours in replies.lines()
        if line is not None and ours and questions.take(line.key, line.trial)
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
            "key": [key_of(prompt.asked) for prompt in job.prompts],
        }
    ).with_row_index("place")
    rows = asked.join(pl.concat(chunks), on="key").sort("place", "trial")
    return rows.with_columns(model=pl.lit(replies.model)).select(schema(REPLIES).names())


def _begin(job: ChatJob, model: str) -> None:
    """The manifest (to be saved with the first question) knows the pair."""
    if job.instrument not in job.run.manifest.answers.get(model, {}):
        job.run.manifest = with_answers(
            job.run.manifest, model=model, instrument=job.instrument, entry=begun("replies")
        )


def _whole(shelf: Shelf, *, asked: str) -> bool:
    """Whether the part with all replies is there, and no other: it is made once all is answered."""
    return list(shelf.parts) == [PART] and shelf.parts[PART].asked == asked


@dataclass(frozen=True, kw_only=True)
class _Found:
    """What a journal holds beside replies, and what was missing in it."""

    served_by: str | None = None
    """Who answered so far."""
    lost: tuple[int, ...] = ()
    """The lines that came to harm."""
    others: int = 0
    """Lines that another model answered, or this one in another way."""
    asked_now: int = 0


def _known(questions: Questions, replies: Replies) -> _Found:
    """What the journal holds; the questions that are answered there are marked."""
    served_by, lost, others = None, [], 0
    for number, line, ours in replies.lines():
        if line is None:
            lost.append(number)
        elif not ours:
            others += 1
        elif questions.take(line.key, line.trial):
            served_by = served_by or line.reply.served_by
    return _Found(served_by=served_by, lost=tuple(lost), others=others)


def _chunks(rows: Iterator[tuple[object, ...]], size: int) -> Iterator[list[tuple[object, ...]]]:
    while chunk := list(islice(rows, size)):
        yield chunk


def _finished(job: ChatJob, shelf: Shelf, of_model: Replies, found: _Found) -> Asked:
    """What there is; the manifest says so too, and what the server said of itself."""
    model = of_model.model
    replies = read_parts(shelf.folder, shelf.parts.values(), "replies")
    asked = {prompt.asked: prompt.id for prompt in job.prompts}
    paid = replies.filter(pl.col("prompt_id").is_in(list(asked.values())))
    sentences = len(asked) * job.trials
    there = job.run.manifest.answers[model][job.instrument]
    entry = {
        **({"timeouts": there.timeouts} if there.timeouts else {}),
        **({"changed": there.changed} if there.changed else {}),
        "table": "replies",
        "sentences": sentences,
        "rows": replies.height,
        "parts": len(shelf.parts),
        "sha256": shelf.sha256,
        "served_by": sorted(replies["served_by"].drop_nulls().unique()),
        "fingerprints": sorted(replies["fingerprint"].drop_nulls().unique()),
        "prompt_tokens": _total(paid["prompt_tokens"]),
        "completion_tokens": _total(paid["completion_tokens"]),
    }
    record = job.run.manifest.models.get(model)
    remarks = remarks_on(
        replies, job.prompts, Answered.of(entry), asked_as=record.asked_as if record else None
    )
    if said := tuple(remarks):
        entry["remarks"] = said
    manifest = with_answers(job.run.manifest, model=model, instrument=job.instrument, entry=entry)
    if manifest != job.run.manifest:
        job.run.manifest = manifest
        job.run.begin()
    return Asked(
        model=model,
        instrument=job.instrument,
        sentences=sentences,
        rows=replies.height,
        asked_now=found.asked_now,
        damaged=(*shelf.damaged, *(f"journal, line {number}" for number in found.lost)),
        remarks=(*((OTHERS.format(found.others),) if found.others else ()), *said),
    )


def _total(tokens: pl.Series) -> int | None:
    """Their sum, or None where some are not known."""
    return None if tokens.null_count() else int(tokens.sum())
