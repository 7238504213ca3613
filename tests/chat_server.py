"""A chat server on loopback that speaks OpenAI's protocol, counts, and misbehaves as told.

Run as a program it answers at once and prints its address: for tests and benchmarks that want it in
a process of its own.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import sys
import threading
import time
import zlib
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Request:
    """What came in."""

    path: str
    headers: dict
    body: dict
    arrived: float
    """Seconds on the clock of time.monotonic."""
    times: int
    """So often this question came: 1 is the first time."""

    @property
    def text(self):
        return self.body["messages"][0]["content"]

    @property
    def seed(self):
        return self.body.get("seed")


@dataclass
class Answer:
    """What goes out."""

    status: int = 200
    body: object = None
    """JSON, or bytes as they are."""
    headers: dict = field(default_factory=dict)


CUT = "cut"
"""The connection is cut without an answer."""

HALF = "half"
"""The connection is cut in the middle of an answer."""


def bomb(gigabytes, packing):
    """Bytes that unpack to so many gigabytes of spaces, packed as a Content-Encoding says."""
    packings = [name.strip() for name in packing.split(",")]
    plain, repeat = b" " * 2**20, 1024 * gigabytes
    for name in packings:
        pack = zlib.compressobj(wbits=31 if name == "gzip" else 15)
        # After a full flush the next block stands for itself, so that it can come any number of times.
        begin = pack.flush(zlib.Z_FULL_FLUSH)
        block = pack.compress(plain) + pack.flush(zlib.Z_FULL_FLUSH)
        plain, repeat = begin + block * repeat, 1
    return plain


def said(request):
    """What the server says to a question: another text for every text and seed."""
    return hashlib.sha256(f"{request.text} {request.seed}".encode()).hexdigest()[:12]


def completion(text, *, model="mini", **more):
    """The body of an answer with this reply."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 40, "completion_tokens": 3, "total_tokens": 43},
        "system_fingerprint": "fp_1",
        **more,
    }


def with_probabilities(body, tokens, *, top):
    """The answer with its tokens, each with what it could have been: a mapping to probabilities.

    ``top``: so many of these are named, as the request asks, the most probable first.
    """
    content = []
    for token, rivals in tokens:
        ordered = sorted(rivals.items(), key=lambda one: -one[1])[:top]
        named = [{"token": one, "logprob": math.log(p)} for one, p in ordered]
        own = math.log(rivals[token]) if token in rivals else -9999.0
        content.append({"token": token, "logprob": own, "top_logprobs": named})
    body["choices"][0]["logprobs"] = {"content": content}
    return body


async def at_once(request):
    return Answer(body=completion(said(request)))


class ChatServer:
    """``behave``: request → Answer, CUT or HALF, at once or as a coroutine, or always the same one.

    ``models``: whom it lists.
    """

    def __init__(self, behave=at_once, *, models=None):
        self.behave = behave
        self.models = models
        """Names, an Answer to who asks for them, or None: it does not list them."""
        self.requests = []
        self.answered = Counter()
        """By text and seed: answers that were sent whole and with a reply."""
        self.at_once = 0
        self.most_at_once = 0
        self._times = Counter()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), daemon=True)

    def __enter__(self):
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join(10)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def asked(self):
        """The requests that put a question."""
        return [request for request in self.requests if request.path.endswith("/completions")]

    async def _main(self):
        self._loop, self._done = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._done.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def _connected(self, reader, writer):
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {n.lower(): v for n, _, v in (line.partition(": ") for line in head[1:-2])}
        content = await reader.readexactly(int(headers.get("content-length", 0)))
        body = json.loads(content) if content else {}
        path = head[0].split()[1]
        key = (path, json.dumps(body, sort_keys=True))
        self._times[key] += 1
        request = Request(path, headers, body, time.monotonic(), self._times[key])
        self.requests.append(request)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            lists = request.path.endswith("/models")
            answer = self._list() if lists else self.behave
            answer = answer(request) if callable(answer) else answer
            answer = await answer if asyncio.iscoroutine(answer) else answer
        finally:
            self.at_once -= 1
        if answer == CUT:
            return False
        return await self._send(writer, request, answer)

    def _list(self):
        if isinstance(self.models, Answer):
            return self.models
        if self.models is None:
            return Answer(404, {"error": {"message": "no such path"}})
        return Answer(200, {"object": "list", "data": [{"id": name} for name in self.models]})

    async def _send(self, writer, request, answer):
        half = answer == HALF
        answer = await at_once(request) if half else answer
        content = answer.body
        if not isinstance(content, bytes):
            content = json.dumps(content).encode()
        lines = {"content-type": "application/json", "content-length": len(content)}
        lines |= answer.headers
        head = f"HTTP/1.1 {answer.status} X\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in lines.items()
        )
        message = head.encode() + b"\r\n" + content
        if half:
            writer.write(message[:-20])
            await writer.drain()
            return False
        writer.write(message)
        await writer.drain()
        if isinstance(answer.body, dict) and "choices" in answer.body:
            self.answered[request.text, request.seed] += 1
        return True


def most_in_any(seconds, moments):
    """The largest number of moments within any window of so many seconds."""
    moments = sorted(moments)
    first, most = 0, 0
    for last, moment in enumerate(moments):
        while moment - moments[first] >= seconds:
            first += 1
        most = max(most, last - first + 1)
    return most


class _Lean(asyncio.Protocol):
    """The same answer to everything, with as little work as can be: for benchmarks."""

    def connection_made(self, transport):
        self.transport, self.data = transport, b""

    def data_received(self, data):
        self.data += data
        while True:
            head, found, rest = self.data.partition(b"\r\n\r\n")
            if not found:
                return
            if head.startswith(b"GET"):
                self.data = rest
                self.transport.write(b"HTTP/1.1 404 X\r\ncontent-length: 0\r\n\r\n")
                continue
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            if len(rest) < length:
                return
            self.data = rest[length:]
            body = json.loads(rest[:length])
            question = body["messages"][0]["content"]
            text = hashlib.sha256(f"{question} {body['seed']}".encode()).hexdigest()[:12]
            content = json.dumps(completion(text)).encode()
            self.transport.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
                % len(content)
                + content
            )


async def serve_lean():
    server = await asyncio.get_running_loop().create_server(_Lean, "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    sys.exit(asyncio.run(serve_lean()))
