"""How fast a server may be asked, and how long to wait before it is asked again."""

from __future__ import annotations

import asyncio
import math
import random
import re
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

CONNECT_S = 5.0
"""Seconds within which a request reaches the server or is given up."""

LONGEST_BACKOFF = 30.0
"""Seconds; the server may ask for more."""

BELIEVED = 31 * 24 * 3600.0
"""Seconds; a server that asks for more has a wrong clock or bad intentions."""


@dataclass(kw_only=True)
class InFlight:
    """A request on its way; it reached the server between ``start`` and ``end``."""

    start: float
    end: float | None = None

    def reached(self, now: float) -> float:
        """Return the latest moment at which the server can have received the request."""
        return min(now if self.end is None else self.end, self.start + CONNECT_S)


class RateLimiter:
    """A gate through which requests go one by one: a limited number a minute, none during a pause.

    The minute is the server's own. A request counts there when it arrives, not when it is sent, so
    its place is free again a minute after the latest moment at which it can have arrived.
    """

    def __init__(self, per_minute: int | None, *, minute: float = 60.0) -> None:
        self._sent: deque[InFlight] = deque(maxlen=per_minute or 0)
        self._minute = minute
        self._between = minute / per_minute if per_minute else 0.0
        # The first request waits its turn too: another model on this server, or this one before it
        # was stopped, may have been asked a moment ago.
        self._next = time.monotonic() + self._between
        self._line = asyncio.Lock()

    async def go(self, stopped: asyncio.Event) -> InFlight:
        """Return a request as soon as one may go, or at once when asking is stopped."""
        async with self._line:
            while (wait := self._earliest() - time.monotonic()) > 0 and not stopped.is_set():
                await sleep(wait, stopped)
            request = InFlight(start=time.monotonic())
            self._next = max(self._next, request.start + self._between)
            if self._sent.maxlen:
                self._sent.append(request)
            return request

    def pause(self, seconds: float) -> None:
        """Let no request go for this many seconds."""
        self._next = max(self._next, time.monotonic() + seconds)

    def _earliest(self) -> float:
        if not self._sent or len(self._sent) != self._sent.maxlen:
            return self._next
        return max(self._next, self._sent[0].reached(time.monotonic()) + self._minute)


class AdaptiveConcurrency:
    """How many requests may be under way at once: fewer after timeouts, then slowly more again.

    A server that cannot keep up answers none of many requests in time, and canceling them frees it
    only if it notices; with fewer requests it answers each.
    """

    PATIENCE = 4
    """How many answers without a timeout, per request under way, allow one more request."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.now = most
        """How many requests may be under way."""
        self.timeouts = 0
        self._under_way = 0
        self._good = 0
        """Answers since the last timeout, or since one more request was allowed."""
        self._heard = False
        """Whether anything was answered since fewer requests were allowed."""
        self._fewer_since = -math.inf
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self, stopped: asyncio.Event) -> None:
        """Wait until one more request may be under way, or the asking is stopped, and count it."""
        while self._under_way >= self.now and not stopped.is_set():
            place = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            await place
        self._under_way += 1

    def leave(self) -> None:
        """Count a request as ended, and let waiting requests go."""
        self._under_way -= 1
        self._wake(self.now - self._under_way)

    def release(self) -> None:
        """Let all waiting requests go."""
        self._wake(len(self._waiting))

    def answered(self) -> None:
        """Note that a request was answered in time."""
        self._good += 1
        self._heard = True
        if self.now < self.most and self._good >= self.PATIENCE * self.now:
            self.now += 1
            self._good = 0

    def timed_out(self, sent: float) -> None:
        """Note that a request that was sent at this moment was not answered in time.

        Requests that were sent together count as one: fewer have been allowed since then.
        """
        self.timeouts += 1
        self._good = 0
        if sent > self._fewer_since:
            # If nothing at all was answered, there were far too many.
            self.now = max(1, self.now // (2 if self._heard else 4))
            self._fewer_since = time.monotonic()
            self._heard = False

    def _wake(self, count: int) -> None:
        while count > 0 and self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                count -= 1


async def sleep(seconds: float, stopped: asyncio.Event) -> None:
    """Wait for so many seconds, or until the asking is stopped."""
    with suppress(TimeoutError):
        await asyncio.wait_for(stopped.wait(), timeout=seconds)


def backoff(failures: int, draw: random.Random) -> float:
    """Return the seconds to wait: doubled with each failure, and varied at random.

    Otherwise requests that failed together would be sent again together.
    """
    longest: float = min(0.5 * 2.0 ** (failures - 1), LONGEST_BACKOFF)
    return longest * draw.uniform(0.5, 1.0)


def server_wait(
    headers: Mapping[str, str], now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> float | None:
    """Return the seconds that the server asks to wait; None if it names none, or nonsense."""
    retry_after = headers.get("retry-after", "")
    waits = [
        _number(headers.get("retry-after-ms", "")) / 1000,
        _number(retry_after),
        _until(retry_after, now()),
    ]
    return next((wait for wait in waits if wait <= BELIEVED), None)


def _number(text: str) -> float:
    """Return the number in the text; infinity if it holds none."""
    return float(text) if re.fullmatch(r"[0-9]+(\.[0-9]*)?", text.strip()) else math.inf


def _until(date: str, now: datetime) -> float:
    """Return the seconds until a date, 0 if it is past; infinity if there is no date."""
    # A date with impossible numbers counts as none.
    with suppress(ValueError, OverflowError):
        moment = parsedate_to_datetime(date)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (moment - now).total_seconds())
    return math.inf
