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
    QUICK_TRIES,
    ContentFiltered,
    RequestError,
    failure_of,
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
from goffman.models.request_params import PROBABILITIES, Parameters, named, refusal_of
from goffman.models.server_address import Address, parse_address

if TYPE_CHECKING:
    from openai import AsyncOpenAI

T = TypeVar("T")

OnReply = Callable[[int, Reply], None]

LAST_S = 20.0
"""Seconds that requests under way have to end in, once the asking is stopped."""

HEADERS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host"}
)
"""What a server is told beside the question and its key: nothing from the environment."""

OPENAI_HEADERS = frozenset({"openai-organization", "openai-project"})
"""What ``openai:`` models are told too, where the user has set it."""

SHORTEST_KEY = 8
"""Signs of a key that is a secret."""


class RequestLoop:
    """The asking of some turns, by so many workers as may ask at once."""

    def __init__(self, model: RemoteChat, turns: Sequence[ChatRequest], heard: OnReply) -> None:
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
        self._pace = RateLimiter(model.calling.per_minute)

    async def run(self) -> None:
        """Afterwards all is heard, or ``failed`` says why not, or it was told to stop."""
        self._loop = asyncio.get_running_loop()
        if self._told_to_stop:
            self._stopped.set()
        todo = enumerate(self._turns)
        async with self._model.client() as client:
            count = min(self._model.calling.concurrency, len(self._turns))
            workers = [asyncio.create_task(self._work(client, todo)) for _ in range(count)]
            watching = asyncio.create_task(self._give_up(workers))
            # What was sent when all is stopped may end: it is paid for.
            await asyncio.gather(*workers, return_exceptions=True)
            watching.cancel()
            if isinstance(self.failed, RequestError) and self.failed.no_model:
                address = self._model.address
                with suppress(RequestError):
                    names = [self._model.hidden(name) for name in await names_of(client, address)]
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

    async def _work(self, client: AsyncOpenAI, todo: Iterator[tuple[int, ChatRequest]]) -> None:
        """Turn after turn, until none is left or all is stopped."""
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
        except BaseException as error:  # noqa: BLE001 - it comes out of chat()
            self._end(error)

    async def _reply(self, client: AsyncOpenAI, turn: ChatRequest) -> Reply | None:
        """The reply to a turn, asked for as often as it takes; None where all is stopped."""
        failures = in_vain = heard = 0
        while True:
            body = self._model.body(turn)
            try:
                return await self._send(client, body, options=turn.options)
            except RequestError as failed:
                refused = failed.refused
                if failed.unnamed and not self._heard_count:
                    # The likeliest part of a first request that a server does not know.
                    refused = PROBABILITIES
                if self._model.parameters.without(refused, body):
                    continue
                failure, name = failed, named(failed.refused, body)
                if name is not None:
                    # The user is told of the option with which it was given.
                    what = f"{refusal_of(name, body[name])} ({failed.server_said})."
                    failure = RequestError(what, tries=1)
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

    async def _send(
        self, client: AsyncOpenAI, body: Mapping[str, Any], *, options: bool
    ) -> Reply | None:
        """The reply to one request, once it may go; RequestError where there is none."""
        crowd = self._model.crowd
        await crowd.enter(self._stopped)
        try:
            sent = await self._pace.go(self._stopped)
            if self._stopped.is_set():
                return None
            try:
                reply = await self._ask(client, body, options=options)
            except ContentFiltered:
                reply = Reply(text=None, finish_reason="content_filter")
            except RequestError as failed:
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
        """The reply to one request; RequestError or ContentFiltered where there is none."""
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
        """Nothing more is asked, because of this; of several the first counts."""
        self.failed = self.failed or error
        self._stopped.set()


async def names_of(client: AsyncOpenAI, address: Address) -> list[str]:
    """The names of the server's models, where it says them; RequestError: nobody is there."""
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


class RemoteChat:
    """A chat model behind a server."""

    def __init__(self, spec: str, *, sampling: Sampling, calling: Calling) -> None:
        """Nothing is sent yet; InputError where a key is needed, is none, or would be read."""
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
        plain = (
            f"Prompts and replies are sent to {address.url} unencrypted; others could read them."
        )
        self.identity = Identity(
            name=spec,
            kind="chat",
            family="",
            device="server",
            notes=() if address.safe else (plain,),
        )

    def chat(self, turns: Sequence[ChatRequest], heard: OnReply) -> None:
        """Every turn's reply is heard, each once."""
        if not turns:
            return
        self.crowd.timeouts = 0
        talk = RequestLoop(self, turns, heard)
        # What is under way when the user stops it is paid for: it may end.
        _in_thread(talk.run(), stopped=talk.stop_soon)
        if isinstance(talk.failed, RequestError):
            raise AskingError(
                f"{self.identity.name}: {self.hidden(str(talk.failed))} All answers so far are "
                "kept. To resume, run the same command again."
            ) from None
        if talk.failed is not None:
            raise talk.failed

    def meet(self) -> None:
        """ModelError where nobody is there, or this is none of the models that a server lists."""

        async def listed() -> list[str]:
            async with self.client() as client:
                for tried in range(1, QUICK_TRIES + 1):
                    try:
                        return await names_of(client, self.address)
                    except RequestError as failed:
                        failed.times = tried
                        if tried == QUICK_TRIES:
                            raise
                        await asyncio.sleep(tried / 2)
            return []

        try:
            names = [self.hidden(name) for name in _in_thread(listed())]
        except RequestError as failed:
            raise ModelError(f"{self.identity.name}: {self.hidden(str(failed))}") from None
        if what := unlisted(self.address, names):
            raise ModelError(f"{self.identity.name}: {what}")

    @property
    def service(self) -> Service:
        """How the server does in this asking, or did in the last one."""
        return Service(
            timeouts=self.crowd.timeouts,
            at_once=self.crowd.now,
            most_at_once=self.crowd.most,
            changed=self.parameters.changed,
        )

    def body(self, turn: ChatRequest) -> dict[str, Any]:
        """The request that puts the question in a fresh chat."""
        opening = PromptParts.read(turn.text)
        messages = [{"role": "user", "content": opening.text}]
        if opening.system:
            messages.insert(0, {"role": "system", "content": opening.system})
        # Many servers go on with it; OpenAI's begin the sentence anew, and it is found there.
        if opening.prefill and not self.address.openai:
            messages.append({"role": "assistant", "content": opening.prefill})
        return {"model": self.address.model, "messages": messages, **self.parameters.body(turn)}

    def client(self) -> AsyncOpenAI:
        """A client that sends the key to this address alone, and nothing from the environment."""
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

        key = self._key
        allowed = HEADERS | (OPENAI_HEADERS if self.address.openai else frozenset())

        async def only_ours(request: Any) -> None:
            for name in [name for name in request.headers if name.lower() not in allowed]:
                del request.headers[name]
            request.headers["user-agent"] = "goffman"
            # A packed answer can be small on the way and huge here.
            request.headers["accept-encoding"] = "identity"
            if key is not None:
                request.headers["authorization"] = f"Bearer {key}"

        async def tamed(response: Any) -> None:
            # The client can be told to log it as it came, whatever the server put there.
            response.headers.pop("x-request-id", None)
            if response.has_redirect_location:
                # The client would fail on an address that is none.
                raise self.failure(response, "")
            # JSON has no other; a charset may name any codec, even one that unpacks.
            response.encoding = "utf-8"
            packing = self.hidden(response.headers.pop("content-encoding", ""))
            content = unpacked(response.stream, packing, self.address)
            response.stream = streaming(response.stream.__class__)(response.stream, content)

        http = DefaultAsyncHttpxClient(
            # The whole request has a limit of its own, below; a connection has this one.
            timeout=Timeout(None, connect=CONNECT_S),
            follow_redirects=False,
            # A proxy would read what is not encrypted, and the key with it.
            trust_env=self.address.url.startswith("https://"),
            event_hooks={"request": [only_ours], "response": [tamed]},
        )
        # The client wants a key; what is sent is said above.
        return AsyncOpenAI(
            api_key="none", base_url=self.address.url, max_retries=0, http_client=http
        )

    def failure(self, response: Any, text: str) -> RequestError | ContentFiltered:
        """What an answer without a reply means."""
        return failure_of(
            response, text, address=self.address, key_name=self._key_name, hidden=self.hidden
        )

    def hidden(self, text: str) -> str:
        """The text without the key, and without halves of signs, which no file can hold."""
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        # A short key is a word (ollama, none …), which may stand in a reply by itself.
        secret = self._key is not None and len(self._key) >= SHORTEST_KEY
        return whole.replace(str(self._key), "[key]") if secret else whole


@cache
def streaming(kind: Any) -> Any:
    """Streams of this kind, with other content than the given stream has."""

    class Streaming(kind):  # type: ignore[misc]
        def __init__(self, stream: Any, content: AsyncIterator[bytes]) -> None:
            self._given, self._content = stream, content

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self._content

        async def aclose(self) -> None:
            await self._given.aclose()

    return Streaming


def _in_thread(work: Coroutine[Any, Any, T], *, stopped: Callable[[], None] = lambda: None) -> T:
    """What the work comes to; ``stopped`` is called where the user stops it.

    In a thread of its own, so that it also runs where a loop runs already (a notebook).
    """
    with ThreadPoolExecutor(max_workers=1) as thread:
        ended = thread.submit(asyncio.run, work)
        try:
            # A thread that waits without an end may not hear that the user stops it.
            while not ended.done():
                wait([ended], timeout=0.2)
            return ended.result()
        except KeyboardInterrupt:
            stopped()
            raise
