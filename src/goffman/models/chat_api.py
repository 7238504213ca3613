"""Chat models behind OpenAI-compatible servers: many questions at once, each answered once."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from goffman.errors import AskingError, InputError, ModelError
from goffman.models.api_errors import (
    PROBABILITIES,
    QUICK_TRIES,
    ContentFiltered,
    Parameters,
    RequestError,
    failure_of,
    named,
    refusal_of,
    unconnected,
    unknown_model,
    unlisted,
)
from goffman.models.api_response import reply_of, unpacked
from goffman.models.base import (
    Calling,
    ChatRequest,
    Identity,
    PromptParts,
    Reply,
    Sampling,
    Service,
)
from goffman.models.rate_limit import CONNECT_S, AdaptiveConcurrency, RateLimiter, backoff, sleep
from goffman.models.server_address import Address, parse_address

if TYPE_CHECKING:
    from openai import AsyncOpenAI

T = TypeVar("T")

OnReply = Callable[[int, Reply], None]

LAST_S = 20.0
"""Seconds that requests under way have to finish once the asking is stopped."""

HEADERS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host"}
)
"""The headers that a request keeps, besides the one for the key: none from the environment."""

OPENAI_HEADERS = frozenset({"openai-organization", "openai-project"})
"""Headers that requests to ``openai:`` models keep too, if the user has set them."""

SHORTEST_KEY = 8
"""The fewest characters of a key that is a secret."""


class RequestLoop:
    """A loop that asks some turns with several workers at once."""

    def __init__(self, model: RemoteChat, turns: Sequence[ChatRequest], heard: OnReply) -> None:
        self.failed: BaseException | None = None
        """The error that ended the asking early."""
        self._model = model
        self._turns = turns
        self._heard = heard
        self._heard_count = 0
        self._served_by: str | None = None
        self._draw = random.Random(0)  # noqa: S311
        self._loop: asyncio.AbstractEventLoop | None = None
        self._told_to_stop = False
        self._stopped = asyncio.Event()
        self._pace = RateLimiter(model.calling.per_minute)

    async def run(self) -> None:
        """Ask until all replies are heard, ``failed`` is set, or the loop is told to stop."""
        self._loop = asyncio.get_running_loop()
        if self._told_to_stop:
            self._stopped.set()
        todo = enumerate(self._turns)
        async with self._model.client() as client:
            count = min(self._model.calling.concurrency, len(self._turns))
            workers = [asyncio.create_task(self._work(client, todo)) for _ in range(count)]
            watcher = asyncio.create_task(self._give_up(workers))
            # Requests already sent when the asking is stopped may finish: they are paid for.
            await asyncio.gather(*workers, return_exceptions=True)
            watcher.cancel()
            if isinstance(self.failed, RequestError) and self.failed.no_model:
                address = self._model.address
                with suppress(RequestError):
                    names = [self._model.hidden(name) for name in await names_of(client, address)]
                    self.failed = unknown_model(self.failed, address, names)

    async def _give_up(self, workers: Sequence[asyncio.Task[None]]) -> None:
        """Wait until the asking is stopped; cancel workers not done LAST_S seconds later."""
        await self._stopped.wait()
        self._model.crowd.release()
        await asyncio.sleep(LAST_S)
        for worker in workers:
            worker.cancel()

    def stop_soon(self) -> None:
        """Let no further request go out; called from another thread."""
        self._told_to_stop = True
        if self._loop is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._stopped.set)

    async def _work(self, client: AsyncOpenAI, todo: Iterator[tuple[int, ChatRequest]]) -> None:
        """Ask turn after turn, until none is left or the asking is stopped."""
        try:
            for position, turn in todo:
                reply = await self._reply(client, turn)
                if reply is not None:
                    self._heard(position, reply)
                    self._heard_count += 1
                if self._stopped.is_set():
                    return
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - chat() raises it
            self._end(error)

    async def _reply(self, client: AsyncOpenAI, turn: ChatRequest) -> Reply | None:
        """Return the reply to a turn, after retries if needed; None once asking was stopped."""
        failures = in_vain = heard_before = 0
        while True:
            body = self._model.body(turn)
            try:
                return await self._send(client, body, options=turn.options)
            except RequestError as error:
                refused = error.refused
                if error.unnamed and not self._heard_count:
                    # The likeliest part of a first request that a server does not know.
                    refused = PROBABILITIES
                if self._model.parameters.without(refused, body):
                    continue
                failure, name = error, named(error.refused, body)
                if name is not None:
                    # The user is told which command-line option set the parameter.
                    message = f"{refusal_of(name, body[name])} ({error.server_said})."
                    failure = RequestError(message, tries=1)
            failures += 1
            # A busy server that has answered others meanwhile will answer this one too.
            in_vain = 1 if failure.busy and self._heard_count > heard_before else in_vain + 1
            heard_before = self._heard_count
            # If nobody has answered so far, a long wait is not worthwhile. A server that has may
            # still be busy with requests that were given up: it does not always notice that.
            silent = (failure.nobody or failure.late) and not self._heard_count
            if in_vain >= (QUICK_TRIES if silent else failure.tries):
                failure.times, failure.late_in_all = failures, self._model.crowd.timeouts
                self._end(failure)
                return None
            self._pace.pause(failure.wait or 0.0)
            await sleep(max(failure.wait or 0.0, backoff(failures, self._draw)), self._stopped)

    async def _send(
        self, client: AsyncOpenAI, body: Mapping[str, Any], *, options: bool
    ) -> Reply | None:
        """Return the reply to one request, sent when limits allow; None once asking was stopped."""
        crowd = self._model.crowd
        await crowd.enter(self._stopped)
        try:
            request = await self._pace.go(self._stopped)
            if self._stopped.is_set():
                return None
            try:
                reply = await self._ask(client, body, options=options)
            except ContentFiltered:
                reply = Reply(text=None, finish_reason="content_filter")
            except RequestError as error:
                if error.late:
                    crowd.timed_out(request.start)
                    self._model.troubled()
                raise
            finally:
                request.end = time.monotonic()
            crowd.answered()
            return reply
        finally:
            crowd.leave()

    async def _ask(self, client: AsyncOpenAI, body: Mapping[str, Any], *, options: bool) -> Reply:
        """Return the reply to one request; raise RequestError or ContentFiltered if none."""
        import openai

        model = self._model
        try:
            async with asyncio.timeout(model.calling.timeout):
                answer = await client.post("/chat/completions", cast_to=str, body=body)
        except TimeoutError:
            raise RequestError(
                f"the server at {model.address.url} did not answer within "
                f"{model.calling.timeout:g} seconds (--timeout).",
                busy=True,
                late=True,
            ) from None
        except openai.APIConnectionError as error:
            raise unconnected(model.address, error.__cause__) from None
        except openai.APIStatusError as error:
            raise model.failure(error.response, error.response.text) from None
        reply = reply_of(answer, model.hidden, options=options)
        if self._served_by is None:
            self._served_by = reply.served_by
        if reply.served_by not in {None, self._served_by}:
            raise RequestError(
                f"the server now answers as '{reply.served_by}', before as '{self._served_by}'. "
                "goffman never mixes the answers of two models."
            )
        return reply

    def _end(self, error: BaseException) -> None:
        """Stop asking because of an error; of several errors the first counts."""
        self.failed = self.failed or error
        self._stopped.set()


async def names_of(client: AsyncOpenAI, address: Address) -> list[str]:
    """Return the names of the models that a server lists; raise RequestError if nobody is there."""
    import openai

    try:
        async with asyncio.timeout(CONNECT_S):
            answer = await client.get("/models", cast_to=str)
        entries = json.loads(answer)["data"]
        return [
            str(name)
            for model in entries
            for name in dict.fromkeys([model["id"], *(model.get("aliases") or ())])
        ]
    except openai.APIConnectionError as error:
        failure = unconnected(address, error.__cause__)
        if failure.nobody:
            raise failure from None
        return []
    except Exception:  # noqa: BLE001 - a server need not list its models
        return []


class RemoteChat:
    """A chat model behind a server."""

    def __init__(self, spec: str, *, sampling: Sampling, calling: Calling) -> None:
        """Check the key but send nothing; raise InputError if it is missing, bad or exposed."""
        address = parse_address(spec)
        key, name = calling.key, calling.key_name
        if address.openai:
            key, name = calling.openai_key, "OPENAI_API_KEY"
            if not key:
                raise InputError(
                    f"'{spec}' needs a key. Put it into the environment variable OPENAI_API_KEY."
                )
        if key is not None and not (key.isascii() and key.isprintable() and " " not in key and key):
            raise InputError(
                f"{name} is empty, or it contains a space, a line break or another character that "
                "no key has. Put only the key there."
            )
        if key is not None and not address.safe:
            raise InputError(
                f"The key in {name} would be sent to {address.url} unencrypted. Use https://, a "
                "server on this machine, or no key."
            )
        self.address = address
        self.calling = calling
        self._key, self._key_name = key, None if key is None else name
        self.crowd = AdaptiveConcurrency(calling.concurrency)
        self.parameters = Parameters(sampling, openai=address.openai)
        self.troubled: Callable[[], None] = lambda: None
        warning = (
            f"Prompts and replies are sent to {address.url} unencrypted; others could read them."
        )
        self.identity = Identity(
            name=spec,
            kind="chat",
            family="",
            device="server",
            notes=() if address.safe else (warning,),
        )

    def chat(self, turns: Sequence[ChatRequest], heard: OnReply) -> None:
        """Ask every turn; each reply is heard once."""
        if not turns:
            return
        self.crowd.timeouts = 0
        loop = RequestLoop(self, turns, heard)
        # Requests under way when the user stops are paid for: they may finish.
        _in_thread(loop.run(), stopped=loop.stop_soon)
        if isinstance(loop.failed, RequestError):
            raise AskingError(
                f"{self.identity.name}: {self.hidden(str(loop.failed))} All answers so far are "
                "kept. To resume, run the same command again."
            ) from None
        if loop.failed is not None:
            raise loop.failed

    def meet(self) -> None:
        """Raise ModelError if nobody is there, or if the server lists models, but not this one."""

        async def listed() -> list[str]:
            async with self.client() as client:
                for attempt in range(1, QUICK_TRIES + 1):
                    try:
                        return await names_of(client, self.address)
                    except RequestError as error:
                        error.times = attempt
                        if attempt == QUICK_TRIES:
                            raise
                        await asyncio.sleep(attempt / 2)
            return []

        try:
            names = [self.hidden(name) for name in _in_thread(listed())]
        except RequestError as error:
            raise ModelError(f"{self.identity.name}: {self.hidden(str(error))}") from None
        if message := unlisted(self.address, names):
            raise ModelError(f"{self.identity.name}: {message}")

    @property
    def service(self) -> Service:
        """Return the state of the server in this asking, or in the last one."""
        return Service(
            timeouts=self.crowd.timeouts,
            at_once=self.crowd.now,
            most_at_once=self.crowd.most,
            changed=self.parameters.changed,
        )

    def body(self, turn: ChatRequest) -> dict[str, Any]:
        """Return the request that puts the question in a fresh chat."""
        opening = PromptParts.read(turn.text)
        messages = [{"role": "user", "content": opening.text}]
        if opening.system:
            messages.insert(0, {"role": "system", "content": opening.system})
        # Many servers continue this text; OpenAI's begin the sentence anew, and it is found there.
        if opening.prefill and not self.address.openai:
            messages.append({"role": "assistant", "content": opening.prefill})
        return {"model": self.address.model, "messages": messages, **self.parameters.body(turn)}

    def client(self) -> AsyncOpenAI:
        """Return a client that sends the key only here, and nothing from the environment."""
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

        key = self._key
        allowed = HEADERS | (OPENAI_HEADERS if self.address.openai else frozenset())

        async def only_ours(request: Any) -> None:
            for name in [name for name in request.headers if name.lower() not in allowed]:
                del request.headers[name]
            request.headers["user-agent"] = "goffman"
            # A compressed answer can be small on the way and huge here.
            request.headers["accept-encoding"] = "identity"
            if key is not None:
                request.headers["authorization"] = f"Bearer {key}"

        async def tamed(response: Any) -> None:
            # The client can be told to log this header unchanged, whatever the server put there.
            response.headers.pop("x-request-id", None)
            if response.has_redirect_location:
                # The client would fail on an invalid address.
                raise self.failure(response, "")
            # JSON has no other encoding; a charset may name any codec, even one that decompresses.
            response.encoding = "utf-8"
            packing = self.hidden(response.headers.pop("content-encoding", ""))
            content = unpacked(response.stream, packing, self.address)
            response.stream = streaming(response.stream.__class__)(response.stream, content)

        http = DefaultAsyncHttpxClient(
            # The whole request has a time limit of its own; this one is for the connection.
            timeout=Timeout(None, connect=CONNECT_S),
            follow_redirects=False,
            # A proxy could read what is not encrypted, and the key with it.
            trust_env=self.address.url.startswith("https://"),
            event_hooks={"request": [only_ours], "response": [tamed]},
        )
        # The client requires a key; the one that is sent is set above.
        return AsyncOpenAI(
            api_key="none", base_url=self.address.url, max_retries=0, http_client=http
        )

    def failure(self, response: Any, text: str) -> RequestError | ContentFiltered:
        """Return the error that an answer without a reply means."""
        return failure_of(
            response, text, address=self.address, key_name=self._key_name, hidden=self.hidden
        )

    def hidden(self, text: str) -> str:
        """Return the text without the key and without lone surrogates, which no file can hold."""
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        # A short key is a word (ollama, none …), which may stand in a reply by itself.
        secret = self._key is not None and len(self._key) >= SHORTEST_KEY
        return whole.replace(str(self._key), "[key]") if secret else whole


@cache
def streaming(kind: Any) -> Any:
    """Return a subclass of the stream class ``kind`` whose content is given to it."""

    class Streaming(kind):  # type: ignore[misc]
        def __init__(self, stream: Any, content: AsyncIterator[bytes]) -> None:
            self._given, self._content = stream, content

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self._content

        async def aclose(self) -> None:
            await self._given.aclose()

    return Streaming


def _in_thread(work: Coroutine[Any, Any, T], *, stopped: Callable[[], None] = lambda: None) -> T:
    """Run the work and return its result; call ``stopped`` if the user interrupts it.

    It runs in a thread of its own, so that it also works where a loop runs already (a notebook).
    """
    with ThreadPoolExecutor(max_workers=1) as thread:
        future = thread.submit(asyncio.run, work)
        try:
            # A thread that waits without a time limit may not notice the user's interrupt.
            while not future.done():
                wait([future], timeout=0.2)
            return future.result()
        except KeyboardInterrupt:
            stopped()
            raise
