"""The workers of an audit: what each has and does, and what becomes of what a lost one had."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from goffman.errors import AskingError, InputError, ModelError
from goffman.models.tasks import Introduce, Load
from goffman.models.team import ASK_AGAIN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goffman.models.base import Identity
    from goffman.models.tasks import Card, Outcome, Task
    from goffman.models.team import Team

AHEAD = 2
"""Parts that a worker has at a time: the next is there when one is done."""

MIXED = "Its answers may come from unlike hardware ({}), so their last digits may differ."


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
    """All workers; they are told apart by their numbers."""

    def __init__(self, hands: Hands, *, note: Callable[[str], None], mixed: bool) -> None:
        """``mixed``: whether the workers may be on unlike hardware."""
        self._hands, self._note = hands, note
        self.names = hands.names
        self.living = list(range(len(hands.names)))
        self.has: dict[int, tuple[Load, Identity]] = {}
        """By worker: the model that it has."""
        self._given: dict[int, deque[tuple[Team, int, Task]]] = {
            worker: deque() for worker in self.living
        }
        self.cards = self._introduced()
        """Of the workers that were there at first."""
        self._check_alike(mixed=mixed)

    def _introduced(self) -> dict[int, Card]:
        """Who each worker is; a lost one is left out."""
        for worker in self.living:
            self._hands.give(worker, Introduce())
        cards, failed, silent = {}, [], {*self.living}
        while silent:
            outcome = self._hands.take()
            silent.discard(outcome.worker)
            if outcome.lost is not None:
                self._forget(outcome, parts=0)
            elif outcome.failure is not None:
                failed.append(f"{self.names[outcome.worker]}: {outcome.failure}")
            else:
                cards[outcome.worker] = outcome.value
        if failed:
            said = " ".join(failed)
            raise ModelError(f"{len(failed)} of {len(self.names)} workers cannot start. {said}")
        return cards

    def _check_alike(self, *, mixed: bool) -> None:
        """Nothing, or the error that not all workers would give the same answers."""
        (first, one), *others = self.cards.items()
        for worker, other in others:
            names = self.names[first], self.names[worker]
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

    def identity(self, of_one: Identity) -> Identity:
        """A model as the run knows it: whichever workers have it, any of them may get it."""
        hardware = sorted({card.hardware for card in self.cards.values()})
        if len(hardware) == 1:
            return of_one
        device = " + ".join(sorted({card.called for card in self.cards.values()}))
        return replace(
            of_one, device=device, notes=(*of_one.notes, MIXED.format(", ".join(hardware)))
        )

    def idle(self, worker: int) -> bool:
        """Whether the worker has nothing to do."""
        return not self._given[worker]

    def step(self, teams: Collection[Team]) -> Team | None:
        """The team one of whose workers has done something or is lost, once one has.

        Before, all of them are given what there is.
        """
        for team in teams:
            self._give_out(team)
        outcome = self._hands.take()
        given = self._given[outcome.worker]
        if outcome.lost is None:
            team, number, task = given.popleft()
            if isinstance(task, Load) and outcome.failure is None:
                self.has[outcome.worker] = (task, outcome.value)
            team.hear(number, task, outcome)
            return team
        its = next((team for team in teams if outcome.worker in team.workers), None)
        tasks = [(number, task) for team, number, task in given if team is its]
        if its is not None:
            its.lose(outcome.worker, tasks)
        self._forget(outcome, parts=sum(not isinstance(task, Load) for _, task in tasks))
        return its

    def _give_out(self, team: Team) -> None:
        """The team's workers have the model to load, and then parts: one each before a second."""
        if team.task is None:
            return
        for worker in team.workers:
            knows = worker in team.identities or worker in team.refused
            if not knows and self.idle(worker):
                self.has.pop(worker, None)
                self._give(worker, team, 0, team.task)
        for worker in sorted([*team.identities] * AHEAD, key=lambda one: len(self._given[one])):
            if team.waiting and len(self._given[worker]) < AHEAD:
                self._give(worker, team, *team.waiting.popleft())

    def _give(self, worker: int, team: Team, number: int, task: Task) -> None:
        self._given[worker].append((team, number, task))
        self._hands.give(worker, task)

    def _forget(self, outcome: Outcome, *, parts: int) -> None:
        """A lost worker is not given anything again; AskingError where it was the last."""
        who = self.names[outcome.worker]
        self.living.remove(outcome.worker)
        self._given[outcome.worker].clear()
        again = f" The others ask its {parts} unfinished parts again." if parts else ""
        if not self.living:
            raise AskingError(
                f"No worker is left. The last one was {who}: {outcome.lost}. If it was not you who "
                f"ended it, the machine may have too little memory. {ASK_AGAIN} You can resume "
                "with other workers or without."
            )
        self._note(f"Lost {who}: {outcome.lost}.{again} Workers left: {len(self.living)}.")

    def close(self) -> None:
        """No worker is left."""
        self._hands.close()


def _listed(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())
