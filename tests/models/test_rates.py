"""No server is asked faster than it may be, nor sooner than it asks for."""

import asyncio
import random
import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_server import most_in_any
from goffman.models.rate_limit import (
    CONNECT_S,
    LONGEST_BACKOFF,
    InFlight,
    RateLimiter,
    backoff,
    server_wait,
)

MINUTE = 0.5
"""Of these tests, in seconds."""


def arrivals(per_minute, count, *, travel, workers=8):
    """When requests arrive that take so long to the server, drawn anew for each."""

    async def main():
        pace, stopped, seen = RateLimiter(per_minute, minute=MINUTE), asyncio.Event(), []
        todo = iter(range(count))

        async def work():
            for _ in todo:
                sent = await pace.go(stopped)
                await asyncio.sleep(travel())
                seen.append(time.monotonic())
                sent.end = time.monotonic()

        await asyncio.gather(*(work() for _ in range(workers)))
        return seen

    return asyncio.run(main())


@pytest.mark.parametrize("per_minute", [1, 5, 40])
def test_however_long_a_request_is_on_its_way_no_minute_of_the_server_has_too_many(per_minute):
    draw = random.Random(per_minute)
    count = min(2 * per_minute + 2, 60)
    seen = arrivals(per_minute, count, travel=lambda: draw.choice([0, 0, 0.15]))
    assert len(seen) == count
    assert most_in_any(MINUTE, seen) <= per_minute


class Patient(asyncio.SelectorEventLoop):
    """A loop whose clock stands still while anyone works, and jumps where all wait."""

    def __init__(self):
        super().__init__()
        self._now, self._ready_now = 0.0, self._selector.select
        self._selector.select = self._jump

    def time(self):
        return self._now

    def _jump(self, timeout):
        # Over the end of the wait, as a true clock is.
        self._now += timeout + 1e-6 if timeout else 0.0
        return self._ready_now(0)


@pytest.fixture
def patient(monkeypatch):
    """A clock on which waits alone take time, however busy the cores are."""
    loop = Patient()
    monkeypatch.setattr("time.monotonic", loop.time)
    monkeypatch.setattr("asyncio.run", loop.run_until_complete)
    yield loop
    loop.close()


def test_requests_are_spread_over_the_minute_and_the_pace_is_nearly_what_is_allowed(patient):
    seen = arrivals(50, 100, travel=lambda: 0)
    assert most_in_any(MINUTE / 10, seen) <= 6
    # Two minutes' worth.
    assert 2 * MINUTE <= patient.time() < 2.1 * MINUTE


def test_one_model_after_another_stays_within_the_server_s_limit_too():
    """Also a run that was stopped and goes on: it begins with a pause, not with a request."""
    seen = [moment for _ in range(3) for moment in arrivals(5, 6, travel=lambda: 0)]
    assert most_in_any(MINUTE, seen) <= 5


def test_without_a_limit_nothing_waits(patient):
    assert len(arrivals(None, 500, travel=lambda: 0)) == 500
    assert patient.time() == 0


def test_a_request_s_place_is_kept_until_it_can_have_arrived():
    assert InFlight(start=10.0, end=11.0).reached(now=50.0) == 11.0
    assert InFlight(start=10.0).reached(now=12.0) == 12.0
    assert InFlight(start=10.0).reached(now=50.0) == 10.0 + CONNECT_S
    assert InFlight(start=10.0, end=40.0).reached(now=50.0) == 10.0 + CONNECT_S


def test_a_pause_holds_everyone_and_a_stop_ends_it():
    async def main():
        pace, stopped = RateLimiter(None), asyncio.Event()
        pace.pause(0.2)
        start = time.monotonic()
        await asyncio.gather(*(pace.go(stopped) for _ in range(3)))
        held = time.monotonic() - start
        pace.pause(60)
        stopped.set()
        await pace.go(stopped)
        return held, time.monotonic() - start

    held, ended = asyncio.run(main())
    assert held >= 0.2
    assert ended < 20


NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": " 7. "}, 7),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 2026 00:01:30 GMT"}, 90),
        ({"retry-after": "Wed, 31 Dec 2025 00:00:00 GMT"}, 0),
        *(
            ({header: bad}, None)
            for header in ("retry-after", "retry-after-ms")
            for bad in ("soon", "-3", "nan", "inf", "-inf", "1e400", "1_0", "0x10", "9" * 400, "٣")
        ),
        ({"retry-after": "2678400"}, 31 * 24 * 3600),
        ({"retry-after": "2678401"}, None),
        ({"retry-after-ms": "nan", "retry-after": "7"}, 7),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, None),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 -2359"}, None),
        ({"retry-after": "Mon, 01 Jan 2024 99999999999999999999:00:00 GMT"}, None),
        ({"retry-after": "Mon, 01 Jan 2024 00:00:00 +9999999999999999999999"}, None),
    ],
)
def test_the_server_s_wait_is_read_in_each_form(headers, seconds):
    assert server_wait(headers, now=lambda: NOW) == seconds


def test_the_clock_of_a_date_is_the_true_one():
    later = datetime.now(UTC) + timedelta(seconds=3000)
    wait = server_wait({"retry-after": later.strftime("%a, %d %b %Y %H:%M:%S GMT")})
    assert 2900 < wait <= 3000


@given(st.integers(1, 1000), st.integers(0, 2**32))
def test_waits_grow_to_a_limit_and_are_never_none(failures, seed):
    longest = min(0.5 * 2 ** (failures - 1), LONGEST_BACKOFF)
    assert longest / 2 <= backoff(failures, random.Random(seed)) <= longest
