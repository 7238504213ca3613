"""Chat models behind OpenAI-compatible servers: many questions at once, each answered once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from goffman.errors import AskingError, InputError, ModelError
from goffman.models.address import Address, parse_address
from goffman.models.base import Calling, Identity, Opening, Sampling, Service, Turn
from goffman.models.chat_answers import unpacked
from goffman.models.chat_failures import QUICK_TRIES, Failed, Filtered, failure_of, unlisted
from goffman.models.chat_talk import Heard, Talk, names_of
from goffman.models.parameters import Parameters
from goffman.models.rates import CONNECT_S, Crowd

if TYPE_CHECKING:
    from openai import AsyncOpenAI

T = TypeVar("T")

HEADERS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host"}
)
"""What a server is told beside the question and its key: nothing from the environment."""

OPENAI_HEADERS = frozenset({"openai-organization", "openai-project"})
"""What ``openai:`` models are told too, where the user has set it."""

SHORTEST_KEY = 8
"""Signs of a key that is a secret."""


def call(spec: str, *, sampling: Sampling, calling: Calling) -> RemoteChat:
    """The model at an address; nothing is sent yet."""
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
            f"{name} is empty, or it contains a space, a line break or another character that no "
            "key has. Put only the key there."
        )
    if key is not None and not address.safe:
        raise InputError(
            f"The key in {name} would be sent to {address.url} unencrypted. Use https://, a "
            "server on this machine, or no key."
        )
    return RemoteChat(spec, address, sampling=sampling, calling=calling, key=key)


class RemoteChat:
    """A chat model behind a server."""

    def __init__(
        self, spec: str, address: Address, *, sampling: Sampling, calling: Calling, key: str | None
    ) -> None:
        self.address = address
        self.sampling = sampling
        self.calling = calling
        self.key_name = None if key is None else calling.key_name
        if address.openai:
            self.key_name = "OPENAI_API_KEY"
        self._key = key
        self.crowd = Crowd(calling.concurrency)
        self.parameters = Parameters(sampling, openai=address.openai)
        self.troubled: Callable[[], None] = lambda: None
        plain = (
            f"Prompts and replies are sent to {address.url} unencrypted; others could read them."
        )
        self.identity = Identity(
            name=spec,
            kind="chat",
            family="",
            revision=None,
            weights=None,
            weights_sha256=None,
            tokenizer_sha256=None,
            precision=None,
            device="server",
            notes=() if address.safe else (plain,),
        )

    def chat(self, turns: Sequence[Turn], heard: Heard) -> None:
        """Every turn's reply is heard, each once."""
        if not turns:
            return
        self.crowd.timeouts = 0
        talk = Talk(self, turns, heard)
        # What is under way when the user stops it is paid for: it may end.
        _in_thread(talk.run(), stopped=talk.stop_soon)
        if isinstance(talk.failed, Failed):
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
                    except Failed as failed:
                        failed.times = tried
                        if tried == QUICK_TRIES:
                            raise
                        await asyncio.sleep(tried / 2)
            return []

        try:
            names = [self.hidden(name) for name in _in_thread(listed())]
        except Failed as failed:
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

    def body(self, turn: Turn) -> dict[str, Any]:
        """The request that puts the question in a fresh chat."""
        opening = Opening.read(turn.text)
        messages = [{"role": "user", "content": opening.text}]
        if opening.system:
            messages.insert(0, {"role": "system", "content": opening.system})
        # Many servers go on with it; OpenAI's begin the sentence anew, and it is found there.
        if opening.begun and not self.address.openai:
            messages.append({"role": "assistant", "content": opening.begun})
        return {
            "model": self.address.model,
            "messages": messages,
            **self.parameters.body(turn),
        }

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

    def failure(self, response: Any, text: str) -> Failed | Filtered:
        """What an answer without a reply means."""
        return failure_of(
            response.status_code,
            text,
            response.headers,
            address=self.address,
            key_name=self.key_name,
            hidden=self.hidden,
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
