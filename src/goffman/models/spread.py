"""Several models asked at once: which worker has which, the largest work first.

A worker keeps its model until that is asked all. Then it takes the next model that nobody has
begun, and where there is none it helps with the one that has the most left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goffman.models.team import Team
from goffman.models.turns import Turn

if TYPE_CHECKING:
    from goffman.models.crew import Crew


@dataclass(frozen=True, kw_only=True)
class Work:
    """All that one model is to be asked."""

    spec: str
    """The model, as the user named it."""
    size: float
    """About how many parameters it has."""
    sentences: int
    """About how many it is still to be asked."""
    ask: Callable[[Team], Any]
    """Has the model loaded and asked by the workers of a team."""

    @property
    def weight(self) -> float:
        """What it takes, in no unit."""
        return self.size * self.sentences


def at_once(crew: Crew, works: Sequence[Work]) -> list[Any]:
    """What each work comes to, in their order."""
    return _Spread(crew, works).done()


def shares(weights: Sequence[float], workers: int) -> list[int]:
    """How many workers each of the works gets: one at least, and more where more is to be done.

    ``weights``: not more of them than workers, the largest first.
    """
    found = [1] * len(weights)
    for _ in range(workers - len(weights)):
        most = max(range(len(weights)), key=lambda one: weights[one] / found[one])
        found[most] += 1
    return found


class _Spread:
    def __init__(self, crew: Crew, works: Sequence[Work]) -> None:
        self._crew, self._works = crew, works
        self._todo = sorted(range(len(works)), key=lambda number: -works[number].weight)
        self._going: dict[Team, tuple[int, Turn]] = {}
        self._found: dict[int, Any] = {}

    def done(self) -> list[Any]:
        try:
            self._begin()
            while self._todo or self._going:
                team = self._crew.step(self._going)
                if team in self._going:
                    self._go_on(team)
                self._occupy_all()
        finally:
            for _, turn in self._going.values():
                turn.stop()
        return [self._found[number] for number in range(len(self._works))]

    def _free(self) -> list[int]:
        taken = {worker for team in self._going for worker in team.workers}
        return [one for one in self._crew.living if one not in taken and self._crew.idle(one)]

    def _begin(self) -> None:
        """Every worker has a model: where there are fewer models, the larger have several."""
        first = self._todo[: len(self._crew.living)]
        sizes = shares([self._works[number].weight for number in first], len(self._crew.living))
        for number, size in zip(first, sizes, strict=True):
            spec = self._works[number].spec
            # Those that have it from before; then those whose model nobody else is waiting for.
            free = sorted(
                self._free(), key=lambda one: (self._has(one) != spec, self._awaited(one))
            )
            self._start(number, free[:size])
        self._occupy_all()

    def _has(self, worker: int) -> str | None:
        known = self._crew.has.get(worker)
        return known[0].spec if known else None

    def _awaited(self, worker: int) -> bool:
        return self._has(worker) in {self._works[number].spec for number in self._todo}

    def _start(self, number: int, workers: Sequence[int]) -> None:
        self._todo.remove(number)
        turn = Turn(lambda: self._works[number].ask(team))
        team = Team(self._crew, turn.wait)
        team.workers.extend(workers)
        self._going[team] = (number, turn)
        self._go_on(team)

    def _go_on(self, team: Team) -> None:
        number, turn = self._going[team]
        turn.go_on()
        if turn.ended:
            self._found[number] = turn.value
            del self._going[team]

    def _occupy_all(self) -> None:
        while any(self._occupy(worker) for worker in self._free()):
            pass

    def _occupy(self, worker: int) -> bool:
        """Whether there was something for a worker that has nothing to do."""
        left = [team for team in self._going if not team.workers]
        if not left and self._todo:
            known = [one for one in self._todo if self._works[one].spec == self._has(worker)]
            self._start((known or self._todo)[0], [worker])
            return True
        # A model is loaded once more only where every worker has a part to ask then.
        left = left or [team for team in self._going if len(team.waiting) > len(team.workers)]
        if not left:
            return False
        team = max(left, key=self._left_to_each)
        team.workers.append(worker)
        team.recall(worker)
        return True

    def _left_to_each(self, team: Team) -> float:
        number, _ = self._going[team]
        return self._works[number].size * team.sentences / max(1, len(team.workers))
