"""The replies of a chat model as they are heard: each kept, checked, and told of."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from goffman.errors import AskingError
from goffman.models.base import Reply, Serves, Turn
from goffman.models.reasoning import without_reasoning
from goffman.runs.journal import Journal, Line, key_of
from goffman.runs.progress import Progress, workers_said
from goffman.runs.useless import Usefulness

if TYPE_CHECKING:
    from goffman.models.base import Chats
    from goffman.runs.ask_replies import ChatJob

WATCH_S = 0.1
"""Seconds between two looks at how far it is."""


class Hearing:
    """Keeps replies and tells how far it is."""

    def __init__(
        self,
        job: ChatJob,
        model: Chats,
        journal: Journal,
        *,
        turns: Sequence[Turn],
        served_by: str | None,
        asker: str,
    ) -> None:
        self.heard = 0
        self._job, self._model, self._journal = job, model.identity.name, journal
        self._server = model if isinstance(model, Serves) else None
        if self._server:
            self._server.troubled = self.watch
        record = job.run.manifest.models.get(self._model)
        drawn = record.sampling if record else None
        self._useful = Usefulness(self._model, drawn.max_tokens if drawn else None)
        self._turns, self._served_by, self._asker = turns, served_by, asker
        self._open = np.ones(len(turns), dtype=bool)
        texts = len({prompt.asked for prompt in job.prompts})
        self._total = texts * job.trials
        self._start = self._shown = time.monotonic()

    def take(self, position: int, reply: Reply) -> None:
        """The reply is kept; AskingError where it must not be, or cannot."""
        if not self._open[position]:
            raise AskingError(
                f"{self._model} answered one question twice. This is a bug in goffman; please "
                "report it."
            )
        self._check_who(reply)
        # Models on this machine reason in their text.
        reply = without_reasoning(reply)
        turn = self._turns[position]
        self._journal.add(Line(key_of(turn.text), turn.trial, reply, self._asker))
        self._open[position] = False
        self.heard += 1
        self._job.run.asked(1)
        self.watch()
        self._useful.check(reply)

    def _check_who(self, reply: Reply) -> None:
        self._served_by = self._served_by or reply.served_by
        if reply.served_by not in {None, self._served_by}:
            raise AskingError(
                f"{self._model}: the server now answers as '{reply.served_by}', but earlier in "
                f"this run as '{self._served_by}'. goffman never mixes the answers of two models. "
                "Give another folder with --output, or start the earlier model again."
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
                note=self._service_said(),
                what="requests",
            )
        )

    def _service_said(self) -> str:
        """What is shown of a server that does not keep up, or of workers."""
        service = self._server.service if self._server else None
        if service is None or not service.timeouts:
            return workers_said(self._job.team)
        return f"{service.timeouts:,} timed out, {service.at_once} at once"
