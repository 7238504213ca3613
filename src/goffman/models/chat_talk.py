"""The asking of questions behind a server: who waits, who asks again, when it ends."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from goffman.models.base import Reply, Turn
from goffman.models.chat_answers import reply_of
from goffman.models.chat_failures import (
    QUICK_TRIES,
    Failed,
    Filtered,
    said_plainly,
    too_late,
    unconnected,
    unknown_model,
)
from goffman.models.parameters import PROBABILITIES
from goffman.models.rates import CONNECT_S, Pace, backoff, sleep

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from goffman.models.address import Address
    from goffman.models.chat_remote import RemoteChat

Heard = Callable[[int, Reply], None]

LAST_S = 20.0
"""Seconds that requests under way have to end in, once the asking is stopped."""


class Talk:
    """The asking of some turns, by so many workers as may ask at once."""

    def __init__(self, model: RemoteChat, turns: Sequence[Turn], heard: Heard) -> None:
        self.failed: BaseException | None = None
        """What ended the asking before its time."""
        self._model = model
        self._turns = turns
        self._heard = heard
        self._heard_count = 0
        self._served_by: str | None = None
        self._draw = random.Random(0)  # noqa: S311
        self._loop: asyncio.AbstractEventLoop | None = None
        self._told_to_stop = False
        self._stopped = asyncio.Event()
        self._pace = Pace(model.calling.per_minute)

    async def run(self) -> None:
        """Afterwards all is heard, or ``failed`` says why not, or it was told to stop."""
        self._loop = asyncio.get_running_loop()
        if self._told_to_stop:
            self._stopped.set()
        todo = iter(range(len(self._turns)))
        async with self._model.client() as client:
            count = min(self._model.calling.concurrency, len(self._turns))
            workers = [asyncio.create_task(self._work(client, todo)) for _ in range(count)]
            watching = asyncio.create_task(self._give_up(workers))
            # What was sent when all is stopped may end: it is paid for.
            await asyncio.gather(*workers, return_exceptions=True)
            watching.cancel()
            if isinstance(self.failed, Failed) and self.failed.no_model:
                address = self._model.address
                with suppress(Failed):
                    names = [self._model.hidden(one) for one in await names_of(client, address)]
                    self.failed = unknown_model(self.failed, address, names)

    async def _give_up(self, workers: Sequence[asyncio.Task[None]]) -> None:
        """Once all is stopped, no worker goes on for long."""
        await self._stopped.wait()
        self._model.crowd.release()
        await asyncio.sleep(LAST_S)
        for worker in workers:
            worker.cancel()

    def stop_soon(self) -> None:
        """No further request goes out; called from another thread."""
        self._told_to_stop = True
        if self._loop is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._stopped.set)

    async def _work(self, client: AsyncOpenAI, todo: Iterator[int]) -> None:
        """Turn after turn, until none is left or all is stopped."""
        try:
            for position in todo:
                reply = await self._reply(client, self._turns[position])
                if reply is not None:
                    self._heard(position, reply)
                    self._heard_count += 1
                if self._stopped.is_set():
                    return
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - it comes out of chat()
            self._end(error)

    async def _reply(self, client: AsyncOpenAI, turn: Turn) -> Reply | None:
        """The reply to a turn, asked for as often as it takes; None where all is stopped."""
        failures = in_vain = heard = 0
        while True:
            body = self._model.body(turn)
            try:
                return await self._one(client, body, options=turn.options)
            except Failed as failed:
                refused = failed.refused
                if failed.unnamed and not self._heard_count:
                    # The likeliest part of a first request that a server does not know.
                    refused = PROBABILITIES
                if self._model.parameters.without(refused, body):
                    continue
                failure = said_plainly(failed, body)
            failures += 1
            # A busy server that has answered others meanwhile will answer this one too.
            in_vain = 1 if failure.busy and self._heard_count > heard else in_vain + 1
            heard = self._heard_count
            # Where no one has answered so far, waiting long is not worth while. A server that has
            # may still be busy with requests that were given up: it does not always see that.
            gone = (failure.nobody or failure.late) and not self._heard_count
            if in_vain >= (QUICK_TRIES if gone else failure.tries):
                failure.times, failure.late_in_all = failures, self._model.crowd.timeouts
                self._end(failure)
                return None
            self._pace.pause(failure.wait or 0.0)
            await sleep(max(failure.wait or 0.0, backoff(failures, self._draw)), self._stopped)

    async def _one(
        self, client: AsyncOpenAI, body: Mapping[str, Any], *, options: bool
    ) -> Reply | None:
        """The reply to one request, once it may go; Failed where there is none."""
        crowd = self._model.crowd
        await crowd.enter(self._stopped)
        try:
            sent = await self._pace.go(self._stopped)
            if self._stopped.is_set():
                return None
            try:
                reply = self._checked(await self._ask(client, body, options=options))
            except Filtered:
                reply = Reply(text=None, finish_reason="content_filter")
            except Failed as failed:
                if failed.late:
                    crowd.timed_out(sent.start)
                    self._model.troubled()
                raise
            finally:
                sent.end = time.monotonic()
            crowd.answered()
            return reply
        finally:
            crowd.leave()

    async def _ask(self, client: AsyncOpenAI, body: Mapping[str, Any], *, options: bool) -> Reply:
        """The reply to one request; Failed or Filtered where there is none."""
        import openai

        model = self._model
        try:
            async with asyncio.timeout(model.calling.timeout):
                answer = await client.post("/chat/completions", cast_to=str, body=body)
        except TimeoutError:
            raise too_late(model.address, model.calling.timeout) from None
        except openai.APIConnectionError as error:
            raise unconnected(model.address, error.__cause__) from None
        except openai.APIStatusError as error:
            raise model.failure(error.response, error.response.text) from None
        return reply_of(answer, model.hidden, options=options)

    def _checked(self, reply: Reply) -> Reply:
        """The reply, where the model that answered is the one that did so before."""
        if reply.served_by is not None and self._served_by is None:
            self._served_by = reply.served_by
        if reply.served_by not in {None, self._served_by}:
            raise Failed(
                f"the server now answers as '{reply.served_by}', before as '{self._served_by}'. "
                "goffman never mixes the answers of two models."
            )
        return reply

    def _end(self, error: BaseException) -> None:
        """Nothing more is asked, because of this; of several the first counts."""
        self.failed = self.failed or error
        self._stopped.set()


async def names_of(client: AsyncOpenAI, address: Address) -> list[str]:
    """The names of the server's models; none where it does not say. Failed: nobody is there."""
    import openai

    try:
        async with asyncio.timeout(CONNECT_S):
            answer = await client.get("/models", cast_to=str)
        listed = json.loads(answer)["data"]
        return [
            str(name)
            for model in listed
            for name in dict.fromkeys([model["id"], *(model.get("aliases") or ())])
        ]
    except openai.APIConnectionError as error:
        failed = unconnected(address, error.__cause__)
        if failed.nobody:
            raise failed from None
        return []
    except Exception:  # noqa: BLE001 - a server need not list its models
        return []
