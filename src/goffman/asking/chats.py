"""How an audit asks chat models, and what that will take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goffman.errors import ModelError
from goffman.models.address import address_entry
from goffman.models.base import LoadOptions, Serves
from goffman.models.spec import load
from goffman.options import ChatOptions
from goffman.records import Prompt
from goffman.runs.ask_replies import ChatJob, ask_replies, known_questions, replies_of
from goffman.runs.folder import keep_prompts
from goffman.runs.forecast import forecast, forecast_text
from goffman.runs.manifest import Manifest, chat_entry, read_manifest, with_model
from goffman.runs.progress import Watch

if TYPE_CHECKING:
    from goffman.models.base import Chats
    from goffman.models.team import Team
    from goffman.runs.ask import Asked
    from goffman.runs.folder import Run


@dataclass(frozen=True, kw_only=True)
class ChatQuestion:
    """An instrument as chat models are asked it."""

    instrument: str
    """Its id."""
    prompts: Sequence[Prompt]
    trials: int
    words: bool = False
    """Whether a word is to be filled in: see Turn."""
    options: bool = False
    """Whether there are options to choose from: see Turn."""


@dataclass(frozen=True, kw_only=True)
class Chatting:
    """Asks chat models, and tells before what that will take."""

    options: ChatOptions
    loading: LoadOptions
    seed: int
    watch: Watch
    note: Callable[[str], None]
    load_model: Callable[..., Any] = load
    """``load`` of spec.py, or what loads models for workers."""
    team: Team | None = None
    """The workers that have the model."""

    def tell(self, run: Path, model: str, questions: Sequence[ChatQuestion]) -> bool:
        """Whether anything is left to ask; the user knows what that will take."""
        requests = []
        manifest = read_manifest(run) or Manifest()
        for question in questions:
            replies = replies_of(run, manifest, model=model, instrument=question.instrument)
            known = known_questions(replies, question.prompts, trials=question.trials)
            found = forecast(known, self.options.sampling)
            if found.requests:
                requests.append(found.requests)
                text = forecast_text(found, self.options.prices)
                self.note(f"{question.instrument}, {model}: {text}")
        if len(requests) > 1:
            self.note(f"All instruments, {model}: {sum(requests):,} requests.")
        return bool(requests)

    def load(self, run: Run, name: str, questions: Sequence[ChatQuestion], *, kind: str) -> Any:
        """The model, which the run knows now, or has refused; what asking will take is told."""
        sampling, calling = self.options.sampling, self.options.calling
        model = self.load_model(
            name, kind=kind, options=self.loading, sampling=sampling, calling=calling
        )
        for note in model.identity.notes:
            self.note(f"{name}: {note}")
        entry = {**chat_entry(model.identity, sampling, seed=self.seed), **address_entry(name)}
        before = run.manifest
        run.manifest = with_model(before, run.folder, name=name, entry=entry)
        if self.tell(run.folder, name, questions) and isinstance(model, Serves):
            try:
                model.meet()
            except ModelError:
                # A name that no one answers to must not bind the folder.
                run.manifest = before
                raise
        return model

    def ask(self, run: Run, model: Chats, questions: Sequence[ChatQuestion]) -> Iterator[Asked]:
        """What there is of the model's replies."""
        for question in questions:
            keep_prompts(run, question.instrument, question.prompts)
            job = ChatJob(
                run=run,
                instrument=question.instrument,
                prompts=question.prompts,
                trials=question.trials,
                seed=self.seed,
                watch=self.watch,
                words=question.words,
                options=question.options,
                team=self.team,
            )
            yield ask_replies(job, model)
