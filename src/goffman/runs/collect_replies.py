"""Questions to a chat model, each asked once and kept; asking stops early if replies are empty."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goffman.errors import AskingError
from goffman.models.api_response import without_reasoning
from goffman.models.base import ChatRequest, Reply, Serves
from goffman.progress import Progress
from goffman.runs.answers import (
    AnswerStore,
    Journal,
    Line,
    answers_folder,
    key_of,
    open_journal,
    read_chunks,
    read_journal,
    verify_chunks,
)
from goffman.runs.collect import Asking, Collected, note_finished
from goffman.runs.manifest import Answered, setup_digest, with_answers
from goffman.schemas import REPLIES, schema
from goffman.workers.pool import describe_workers

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from goffman.instruments.types import Prompt
    from goffman.models.base import Chats
    from goffman.runs.files import Folder
    from goffman.runs.manifest import Manifest

ECHO_WORDS = 8
"""This many words of the prompt in a row, in a reply, are no accident."""

ECHOES, CUTS = 0.2, 0.5
"""Shares of replies that repeat the prompt, and that were cut off, from which a model is suspected
not to chat at all."""

LIMIT = "length"
"""The finish_reason of a reply that was cut at the token limit."""


def remarks_on(
    replies: pl.DataFrame, prompts: Sequence[Prompt], entry: Answered, *, asked_as: str | None
) -> Iterator[str]:
    """Yield remarks on what is odd about the replies, and about the server that gave them."""
    for name in replies["served_by"].drop_nulls().unique().sort():
        if asked_as not in {None, name}:
            yield f"You asked for '{asked_as}', but the server answered as '{name}'."
    yield from entry.changed or ()
    if entry.timeouts:
        requests = (
            "1 request was not answered in time and was"
            if entry.timeouts == 1
            else f"{entry.timeouts:,} requests were not answered in time and were"
        )
        yield f"{requests} sent again. A longer --timeout or a lower --concurrency avoids this."
    total = f"of {replies.height:,}"
    if cut := replies.filter(finish_reason=LIMIT).height:
        yield f"{cut:,} {total} replies were cut off at the token limit (--max-tokens)."
    reasoned = replies.filter(pl.col("reasoning").is_not_null())
    if reasoned.height:
        blank = pl.col("text").fill_null("").str.strip_chars() == ""
        unanswered = reasoned.filter(blank, finish_reason=LIMIT).height
        addition = f" {unanswered:,} were cut off before the answer." if unanswered else ""
        yield (
            f"{reasoned.height:,} {total} replies came with reasoning, which is stored separately "
            f"and not read as an answer.{addition}"
        )
    if missing := replies["text"].null_count():
        yield f"{missing:,} {total} prompts got a reply without text."
    if empty := int((replies["text"].str.strip_chars() == "").sum()):
        yield f"{empty:,} {total} replies are empty."
    echoes = echo_count(replies, {prompt.id: prompt.text for prompt in prompts})
    if echoes >= ECHOES * replies.height and cut >= CUTS * replies.height > 0:
        yield (
            f"{echoes:,} {total} replies repeat the prompt, and {cut:,} were cut off. This "
            "happens if the server runs a model that was not trained to chat. Then these numbers "
            "mean nothing. Check that it has a chat model with its own chat template."
        )
    fingerprints = replies["fingerprint"].drop_nulls().n_unique()
    if fingerprints > 1:
        yield f"The server changed during the run: it sent {fingerprints} different fingerprints."


def echo_count(replies: pl.DataFrame, texts: Mapping[str, str]) -> int:
    """Return the number of replies that repeat a sequence of words of their prompt."""
    runs = {prompt_id: _runs(text) for prompt_id, text in texts.items()}
    rows = replies.select("prompt_id", "text").drop_nulls().iter_rows()
    return sum(not runs.get(prompt_id, set()).isdisjoint(_runs(text)) for prompt_id, text in rows)


def _runs(text: str) -> set[tuple[str, ...]]:
    """Return every sequence of ``ECHO_WORDS`` consecutive words."""
    words = re.findall(r"\w+", text.casefold())
    return {
        tuple(words[start : start + ECHO_WORDS]) for start in range(len(words) - ECHO_WORDS + 1)
    }


LOOK = 50
"""How many of the last replies are looked at together."""

TOO_MANY = 45
"""How many useless ones among these end the asking."""

CUT_REASONING = "cut off in the reasoning"
CUT_EMPTY = "cut off before the first word"


def why_stopped(reply: Reply) -> str | None:
    """Return why the reply holds no answer; None if it may hold one, or was filtered."""
    if (reply.text or "").strip() or reply.finish_reason == "content_filter":
        return None
    cut = reply.finish_reason == LIMIT
    if reply.reasoning:
        return CUT_REASONING if cut else "reasoning without an answer"
    return CUT_EMPTY if cut else "empty"


class EmptyReplyMonitor:
    """A monitor of the last replies of a model."""

    def __init__(self, model: str, max_tokens: int | None) -> None:
        self._model = model
        self._max_tokens = max_tokens
        self._last: deque[str | None] = deque(maxlen=LOOK)

    def check(self, reply: Reply) -> None:
        """Raise AskingError if nearly all of the last replies are useless."""
        self._last.append(why_stopped(reply))
        reasons = Counter(reason for reason in self._last if reason is not None)
        if len(self._last) < LOOK or reasons.total() < TOO_MANY:
            return
        tally = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
        advice = "Check whether the server has a chat model, and what it sends."
        if CUT_REASONING in reasons or CUT_EMPTY in reasons:
            limit = "" if self._max_tokens is None else f", now {self._max_tokens:,}"
            advice = (
                f"Raise --max-tokens{limit}: a model that reasons needs several thousand. Use a "
                "new folder (--output). Or turn reasoning off on the server."
            )
        raise AskingError(
            f"{self._model}: {reasons.total()} of the last {LOOK} replies contain no answer "
            f"({tally}). The audit was stopped to save time and money. {advice} All replies so far "
            "are kept."
        )


WATCH_S = 0.1
"""Seconds between two reports of progress."""


class ReplySink:
    """A sink that keeps replies and reports progress."""

    def __init__(
        self,
        job: ChatJob,
        model: Chats,
        journal: Journal,
        *,
        turns: Sequence[ChatRequest],
        served_by: str | None,
        setup: str,
    ) -> None:
        self.heard = 0
        self._job, self._model, self._journal = job, model.identity.name, journal
        self._server = model if isinstance(model, Serves) else None
        if self._server:
            self._server.troubled = self.watch
        record = job.run.manifest.models.get(self._model)
        sampling = record.sampling if record else None
        self._useful = EmptyReplyMonitor(self._model, sampling.max_tokens if sampling else None)
        self._turns, self._served_by, self._setup = turns, served_by, setup
        self._open = np.ones(len(turns), dtype=bool)
        texts = len({prompt.asked for prompt in job.prompts})
        self._total = texts * job.trials
        self._shown = time.monotonic()

    def take(self, position: int, reply: Reply) -> None:
        """Write a reply to the journal; raise AskingError on failure, or if replies are useless."""
        if not self._open[position]:
            raise AskingError(
                f"{self._model} answered one question twice. This is a bug in goffman; please "
                "report it."
            )
        self._served_by = self._served_by or reply.served_by
        if reply.served_by not in {None, self._served_by}:
            raise AskingError(
                f"{self._model}: the server now answers as '{reply.served_by}', but earlier in "
                f"this run as '{self._served_by}'. goffman never mixes the answers of two models. "
                "Give another folder with --output, or start the earlier model again."
            )
        # Models on this machine put their reasoning in the text.
        reply = without_reasoning(reply)
        turn = self._turns[position]
        self._journal.add(Line(key_of(turn.text), turn.trial, reply, self._setup))
        self._open[position] = False
        self.heard += 1
        self._job.run.asked(1)
        self.watch()
        self._useful.check(reply)

    def watch(self, *, last: bool = False) -> None:
        """Report the progress from time to time, or in any case if it is the ``last``."""
        now = time.monotonic()
        if not last and now - self._shown < WATCH_S:
            return
        self._shown = now
        note = describe_workers(self._job.group)
        if self._server and (service := self._server.service).timeouts:
            # A server that does not keep up.
            note = f"{service.timeouts:,} timed out, {service.at_once} at once"
        self._job.watch(
            Progress(
                model=self._model,
                instrument=self._job.instrument,
                step=1,
                steps=1,
                done=self._total - len(self._turns) + self.heard,
                total=self._total,
                note=note,
            )
        )


LINES = 1024
"""How many lines of the journal are rows in memory before they become columns."""

OTHERS = (
    "Stored replies that were not used: {}. They come from another model, from other settings or "
    "from an earlier goffman."
)


@dataclass(frozen=True, kw_only=True)
class ChatJob(Asking):
    """What a chat model is asked, to reply in text."""

    trials: int
    seed: int
    """Gives, together with the text and the trial, the seed of a reply."""
    words: bool = False
    """Whether a word is to be filled in: see ChatRequest."""
    options: bool = False
    """Whether there are options to choose from: see ChatRequest."""


@dataclass(frozen=True, kw_only=True)
class Replies:
    """Where a model's replies to an instrument are, and the hash that marks them as its own."""

    folder: Folder
    model: str
    setup: str
    """A hash of the model and how it is asked, which each line of the journal has."""

    def digest(self, prompts: Sequence[Prompt], trials: int) -> str:
        """Return the digest in the name of the part with all replies to these prompts."""
        questions = [self.setup, trials, [[prompt.id, prompt.asked] for prompt in prompts]]
        return hashlib.sha256(json.dumps(questions).encode()).hexdigest()[:16]


def replies_of(run: Path | Folder, manifest: Manifest, *, model: str, instrument: str) -> Replies:
    """Return the folder of a model's replies, which need not exist, and the hash of its setup."""
    return Replies(
        folder=answers_folder(run, "replies", model=model, instrument=instrument),
        model=model,
        setup=setup_digest(manifest, model=model, instrument=instrument),
    )


class Questions:
    """The texts that are asked, in which trials, and what the journal holds of the replies."""

    def __init__(self, prompts: Sequence[Prompt], trials: int) -> None:
        self.texts = list(dict.fromkeys(prompt.asked for prompt in prompts))
        self.keys = [key_of(text) for text in self.texts]
        self._place = {key: place for place, key in enumerate(self.keys)}
        self.answered: NDArray[np.bool_] = np.zeros((trials, len(self.texts)), dtype=bool)
        self.served_by: str | None = None
        """The server's name for the model that answered so far."""
        self.lost: list[int] = []
        """Numbers of the journal's damaged lines."""
        self.others = 0
        """Number of its lines from another model, or from this one asked in another way."""

    def read(self, replies: Replies) -> None:
        """Mark the questions that the journal answers; count its damaged and other lines."""
        for number, line in enumerate(read_journal(replies.folder), start=1):
            if line is None:
                self.lost.append(number)
            elif line.setup != replies.setup:
                self.others += 1
            elif self.take(line.key, line.trial):
                self.served_by = self.served_by or line.reply.served_by

    def take(self, key: str, trial: int) -> bool:
        """Mark a question as answered; return False if it is none of these, or was answered."""
        place = self._place.get(key)
        if place is None or not 1 <= trial <= len(self.answered):
            return False
        if self.answered[trial - 1, place]:
            return False
        self.answered[trial - 1, place] = True
        return True

    def turns(self, seed: int, *, words: bool = False, options: bool = False) -> list[ChatRequest]:
        """Return the unanswered questions, by trial; ``words``, ``options``: see ChatRequest."""
        return [
            ChatRequest(
                text=self.texts[place],
                trial=int(trial) + 1,
                seed=seed_of(seed, self.keys[place], int(trial) + 1),
                words=words,
                options=options,
            )
            for trial, place in np.argwhere(~self.answered)
        ]


def seed_of(seed: int, key: str, trial: int) -> int:
    """Return the seed of one reply: 31 bits, which every server takes."""
    content = f"{seed} {trial} {key}".encode()
    return int.from_bytes(hashlib.sha256(content).digest()[:4], "big") >> 1


def known_questions(replies: Replies, prompts: Sequence[Prompt], *, trials: int) -> Questions:
    """Return the questions, ``answered`` where the replies are on disk; change no file."""
    questions = Questions(prompts, trials)
    store = verify_chunks(replies.folder, model=replies.model, clear=False)
    if store.is_whole(asked=replies.digest(prompts, trials)):
        questions.answered[:] = True
    else:
        questions.read(replies)
    return questions


def ask_replies(job: ChatJob, model: Chats) -> Collected:
    """Ask every prompt in every trial and return a summary of the model's replies."""
    name = model.identity.name
    job.run.expect(name, job.instrument, table="replies")
    replies = replies_of(job.run.place, job.run.manifest, model=name, instrument=job.instrument)
    store = verify_chunks(replies.folder, model=name, clear=True)
    digest = replies.digest(job.prompts, job.trials)
    questions, asked_now = Questions(job.prompts, job.trials), 0
    if not store.is_whole(asked=digest):
        asked_now = _ask_rest(job, model, replies, questions)
        store.write_whole(reply_rows(job, replies), asked=digest)
    return _finished(job, store, questions, model=name, asked_now=asked_now)


def _ask_rest(job: ChatJob, model: Chats, replies: Replies, questions: Questions) -> int:
    """Ask the questions without a reply, add the replies to the journal, and return how many."""
    job.run.bind()
    with open_journal(replies.folder) as journal:
        questions.read(replies)
        turns = questions.turns(job.seed, words=job.words, options=job.options)
        if turns:
            job.run.begin()
        sink = ReplySink(
            job, model, journal, turns=turns, served_by=questions.served_by, setup=replies.setup
        )
        sink.watch(last=True)
        try:
            model.chat(turns, sink.take)
        finally:
            _note_service(job, model)
        sink.watch(last=True)
    if sink.heard != len(turns):
        raise AskingError(
            f"{model.identity.name} answered only {sink.heard:,} of {len(turns):,} prompts of "
            f"{job.instrument}. All answers so far are kept. To resume, run the same command "
            "again."
        )
    return len(turns)


def _note_service(job: ChatJob, model: Chats) -> None:
    """Add the server's timeouts and changed parameters to ``job.run.manifest``, unsaved."""
    if not isinstance(model, Serves):
        return
    name, service = model.identity.name, model.service
    entry = job.run.manifest.answers[name][job.instrument]
    new_entry = replace(
        entry,
        timeouts=((entry.timeouts or 0) + service.timeouts) or None,
        changed=tuple(dict.fromkeys((*(entry.changed or ()), *service.changed))) or None,
    )
    job.run.manifest = with_answers(
        job.run.manifest, model=name, instrument=job.instrument, entry=new_entry
    )


def reply_rows(job: ChatJob, replies: Replies) -> pl.DataFrame:
    """Return the table REPLIES from the journal, sorted by prompt and trial."""
    questions = Questions(job.prompts, job.trials)
    new_rows = (
        (line.key, line.trial, *vars(line.reply).values())
        for line in read_journal(replies.folder)
        if line and line.setup == replies.setup and questions.take(line.key, line.trial)
    )
    names = ["key", "trial", *(field.name for field in fields(Reply))]
    types = pl.Schema({"key": pl.String(), **schema(REPLIES)})
    chunks = [
        pl.DataFrame(list(zip(*rows, strict=True)), schema={name: types[name] for name in names})
        for rows in iter(lambda: list(islice(new_rows, LINES)), [])
    ]
    prompts = pl.DataFrame(
        {
            "prompt_id": [prompt.id for prompt in job.prompts],
            "key": [key_of(prompt.asked) for prompt in job.prompts],
        }
    ).with_row_index("place")
    rows = prompts.join(pl.concat(chunks), on="key").sort("place", "trial")
    return rows.with_columns(model=pl.lit(replies.model)).select(schema(REPLIES).names())


def _finished(
    job: ChatJob, store: AnswerStore, questions: Questions, *, model: str, asked_now: int
) -> Collected:
    """Return a summary of the replies, after noting it in the manifest with token counts."""
    replies = read_chunks(store.folder, store.parts.values(), "replies")
    ids = {prompt.asked: prompt.id for prompt in job.prompts}
    paid = replies.filter(pl.col("prompt_id").is_in(list(ids.values())))
    entry = job.run.manifest.answers[model][job.instrument]
    record = job.run.manifest.models.get(model)
    asked_as = record.asked_as if record else None
    others = [OTHERS.format(questions.others)] if questions.others else []
    remarks = tuple(remarks_on(replies, job.prompts, entry, asked_as=asked_as))
    answers = Collected(
        model=model,
        instrument=job.instrument,
        sentences=len(ids) * job.trials,
        rows=replies.height,
        asked_now=asked_now,
        damaged=(*store.damaged, *(f"journal, line {number}" for number in questions.lost)),
        remarks=(*others, *remarks),
    )
    return note_finished(
        job.run,
        store,
        answers,
        "replies",
        served_by=tuple(sorted(replies["served_by"].drop_nulls().unique())),
        fingerprints=tuple(sorted(replies["fingerprint"].drop_nulls().unique())),
        prompt_tokens=_total(paid["prompt_tokens"]),
        completion_tokens=_total(paid["completion_tokens"]),
        timeouts=entry.timeouts or None,
        changed=entry.changed or None,
        remarks=remarks or None,
    )


def _total(tokens: pl.Series) -> int | None:
    """Return the sum of the tokens, or None if some are unknown."""
    return None if tokens.null_count() else int(tokens.sum())
