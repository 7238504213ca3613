"""Several workers that answer together: who gets what, and what becomes of a lost one's parts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from goffman.errors import AskingError, InputError, ModelError
from goffman.models.tasks import Ask, Deviate, Load, Task

if TYPE_CHECKING:
    from goffman.models.base import Identity
    from goffman.models.precision import Sample
    from goffman.models.tasks import Call, Card, Outcome

AHEAD = 2
"""Parts that a worker has at a time: the next is there when one is done."""

Part = tuple[int, Sequence[Sequence[Any]]]
"""A part's number, and its batches."""

MIXED = "Its answers come from unlike hardware ({}), so their last digits may differ."

ASK_AGAIN = "All answers so far are kept. To resume, run the same command again."


class Hands(Protocol):
    """Workers as they can be reached, by their numbers: processes, or actors of Ray."""

    @property
    def names(self) -> Sequence[str]:
        """Of each worker, for the user."""
        ...

    def give(self, worker: int, task: Task) -> None:
        """The worker will do it after what it was given before."""
        ...

    def take(self) -> Outcome:
        """What became of the task that some worker was given first, once there is something.

        Of a worker that has ended only this is said, once, whatever it was given.
        """
        ...

    def close(self) -> None:
        """No worker is left."""
        ...


class Crew:
    """The workers of an audit."""

    def __init__(self, hands: Hands, *, note: Callable[[str], None]) -> None:
        self._hands, self._note = hands, note
        self._living = list(range(len(hands.names)))
        self.cards: dict[int, Card] = {}
        """Of the living workers, once they have loaded a model."""

    def __len__(self) -> int:
        return len(self._living)

    def load(self, task: Load, *, mixed: bool) -> Identity:
        """Which model every worker has now; ``mixed``: whether they may be on unlike hardware."""
        found = list(self._done(dict.fromkeys(self._living, task)))
        failed = [(worker, failure) for worker, _, failure in found if failure is not None]
        if failed:
            said = [f"{self._hands.names[worker]}: {failure}" for worker, failure in failed]
            raise ModelError(
                f"{len(failed)} of {len(found)} workers cannot load '{task.spec}'. "
                + " ".join(said)
            )
        self.cards = {worker: card for worker, card, _ in found}
        self._check_alike(task.spec, mixed=mixed)
        first = next(iter(self.cards.values())).identity
        devices = {card.identity.device for card in self.cards.values()}
        hardware = sorted({card.hardware for card in self.cards.values()})
        note = (MIXED.format(", ".join(hardware)),) if len(hardware) > 1 else ()
        device = " + ".join(sorted(devices))
        return replace(first, device=device, notes=(*first.notes, *note))

    def _check_alike(self, spec: str, *, mixed: bool) -> None:
        """Nothing, or the error that not all workers would give the same answers."""
        (first, one), *others = self.cards.items()
        for worker, other in others:
            names = self._hands.names[first], self._hands.names[worker]
            for what in ("weights_sha256", "tokenizer_sha256", "revision"):
                if getattr(one.identity, what) != getattr(other.identity, what):
                    raise ModelError(
                        f"The files of '{spec}' are not the same for {names[0]} and for "
                        f"{names[1]}: they differ in their {what.replace('_', ' ')}. Copy the "
                        "model anew to one of them."
                    )
            if one.versions != other.versions:
                raise InputError(
                    f"The workers have other versions of packages: {names[0]} has "
                    f"{_listed(one.versions)}; {names[1]} has {_listed(other.versions)}. Install "
                    "the same on both."
                )
            if one.hardware != other.hardware and not mixed:
                raise InputError(
                    f"The workers are on unlike hardware: {names[0]} on {one.hardware}, "
                    f"{names[1]} on {other.hardware}. Their answers may differ in the last "
                    "digits. Choose workers that are alike, or allow it: --allow-mixed-hardware"
                )

    def deviation(self, sample: Sample) -> Mapping[str, Any] | None:
        """How far the model is from itself in float32, as one worker finds."""
        while True:
            for _, value, failure in self._done({self._living[0]: Deviate(sample=sample)}):
                if failure is not None:
                    raise AskingError(f"{failure} {ASK_AGAIN}")
                found: Mapping[str, Any] | None = value
                return found

    def ask(self, call: Call, parts: Iterable[Part]) -> Iterator[tuple[int, list[Any]]]:
        """Each part's number and answers, batch by batch, in the order in which they come.

        What a lost worker had is given to the others.
        """
        waiting = deque(parts)
        given: dict[int, deque[Part]] = {worker: deque() for worker in self._living}
        while waiting or any(given.values()):
            # One each before anyone gets a second.
            for worker in sorted(self._living * AHEAD, key=lambda one: len(given[one])):
                if waiting and len(given[worker]) < AHEAD:
                    part = waiting.popleft()
                    given[worker].append(part)
                    self._hands.give(worker, Ask(call=call, batches=part[1]))
            outcome = self._hands.take()
            if outcome.lost is not None:
                lost = given.pop(outcome.worker)
                waiting.extendleft(reversed(lost))
                self._forget(outcome, parts=len(lost))
                continue
            number, _ = given[outcome.worker].popleft()
            if outcome.failure is not None:
                # A failure of a model's, not of a worker's: it would meet the others, too.
                kept = "" if outcome.failure.endswith(ASK_AGAIN) else f" {ASK_AGAIN}"
                name = self._hands.names[outcome.worker]
                raise AskingError(f"{name} failed: {outcome.failure}{kept}")
            yield number, outcome.value

    def _done(self, tasks: dict[int, Task]) -> Iterator[tuple[int, Any, str | None]]:
        """Each worker's number, and what became of its task; lost ones are left out."""
        for worker, task in tasks.items():
            self._hands.give(worker, task)
        open_ = set(tasks)
        while open_:
            outcome = self._hands.take()
            open_.discard(outcome.worker)
            if outcome.lost is None:
                yield outcome.worker, outcome.value, outcome.failure
            else:
                self._forget(outcome, parts=0)

    def _forget(self, outcome: Outcome, *, parts: int) -> None:
        """A lost worker is not given anything again; AskingError where it was the last."""
        who = self._hands.names[outcome.worker]
        self._living.remove(outcome.worker)
        self.cards.pop(outcome.worker, None)
        again = f" The others ask its {parts} unfinished parts again." if parts else ""
        if not self._living:
            raise AskingError(
                f"No worker is left. The last one was {who}: {outcome.lost}. If it was not you who "
                f"ended it, the machine may have too little memory. {ASK_AGAIN} You can resume "
                "with other workers or without."
            )
        left = len(self._living)
        self._note(f"Lost {who}: {outcome.lost}.{again} Workers left: {left}.")

    def close(self) -> None:
        """No worker is left."""
        self._hands.close()


def _listed(versions: Any) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())
