"""A real OpenAI-compatible server on loopback for a real local model; questions that come together
are asked together."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from goffman.models.base import ChatRequest, Reply, Sampling
from goffman.models.chat_local import LocalChat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request

GATHERING_S = 0.02
"""So long the first question waits for others."""


class ModelServer:
    """Answers /v1/chat/completions and /v1/models with one model, as vLLM or llama.cpp would."""

    def __init__(self, model: LocalChat, name: str) -> None:
        self.name = name
        self.asked: list[dict[str, Any]] = []
        """The body of every request."""
        self._model = model
        self._waiting: list[tuple[dict[str, Any], asyncio.Future[Reply]]] = []
        self._busy = False
        routes = [
            Route("/v1/models", self._models),
            Route("/v1/chat/completions", self._complete, methods=["POST"]),
        ]
        self.app = Starlette(routes=routes)

    async def _models(self, request: Request) -> JSONResponse:
        return JSONResponse({"object": "list", "data": [{"id": self.name, "object": "model"}]})

    async def _complete(self, request: Request) -> JSONResponse:
        body = await request.json()
        if body["model"] != self.name:
            error = {"message": f"The model '{body['model']}' does not exist", "code": 404}
            return JSONResponse({"error": error}, status_code=404)
        self.asked.append(body)
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append((body, future))
        if not self._busy:
            self._busy = True
            # Kept by the loop until it is done.
            self._task = asyncio.create_task(self._work())
        reply = await future
        usage = {
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "total_tokens": (reply.prompt_tokens or 0) + (reply.completion_tokens or 0),
        }
        message = {"role": "assistant", "content": reply.text}
        choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
        return JSONResponse(
            {
                "id": f"chat-{len(self.asked)}",
                "object": "chat.completion",
                "created": int(time.time()),
                "model": self.name,
                "system_fingerprint": "tests",
                "choices": [choice],
                "usage": usage,
            }
        )

    async def _work(self) -> None:
        while self._waiting:
            await asyncio.sleep(GATHERING_S)
            batch, self._waiting = self._waiting, []
            replies = await asyncio.to_thread(self._replies, [body for body, _ in batch])
            for (_, future), reply in zip(batch, replies, strict=True):
                future.set_result(reply)
        self._busy = False

    def _replies(self, bodies: list[dict[str, Any]]) -> list[Reply]:
        """The replies to all; questions that want the same sampling go together."""
        by_sampling: dict[Sampling, list[int]] = {}
        for index, body in enumerate(bodies):
            by_sampling.setdefault(_sampling(body), []).append(index)
        found: dict[int, Reply] = {}
        for sampling, indices in by_sampling.items():
            inner = self._model
            model = LocalChat(inner.identity, inner._model, inner._tokenizer, sampling)
            turns = [
                ChatRequest(
                    text=bodies[index]["messages"][-1]["content"],
                    trial=1,
                    seed=bodies[index].get("seed") or 0,
                )
                for index in indices
            ]
            model.chat(turns, lambda at, reply, where=indices: found.__setitem__(where[at], reply))
        return [found[index] for index in range(len(bodies))]


def _sampling(body: dict[str, Any]) -> Sampling:
    return Sampling(
        temperature=body.get("temperature", 1.0),
        max_tokens=body.get("max_completion_tokens") or body.get("max_tokens") or 64,
        top_p=body.get("top_p"),
    )


@contextlib.contextmanager
def serving(model: LocalChat, name: str) -> Iterator[tuple[str, ModelServer]]:
    """The address of a server (http://127.0.0.1:PORT/v1) while the block runs, and the server."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = ModelServer(model, name)
    config = uvicorn.Config(server.app, log_level="error", lifespan="off")
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1", server
    finally:
        running.should_exit = True
        thread.join()
        listener.close()
