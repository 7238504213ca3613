"""A chat server on loopback with a real local model; questions that come together are asked
together."""

from __future__ import annotations

import asyncio
from typing import Any

from chat_server import Answer, ChatServer, Request, completion
from goffman.models.base import ChatRequest, Reply, Sampling
from goffman.models.chat_local import LocalChat

GATHERING_S = 0.02
"""So long the first question waits for others."""


class ModelServer(ChatServer):
    """Answers with one model, as vLLM or llama.cpp would."""

    def __init__(self, model: LocalChat, name: str) -> None:
        super().__init__(self._complete, models=[name])
        self._model, self._name = model, name
        self._waiting: list[tuple[dict[str, Any], asyncio.Future[Reply]]] = []
        self._busy = False

    async def _complete(self, request: Request) -> Answer:
        if request.body["model"] != self._name:
            message = f"The model '{request.body['model']}' does not exist"
            return Answer(404, {"error": {"message": message, "code": 404}})
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append((request.body, future))
        if not self._busy:
            self._busy = True
            # Kept by the loop until it is done.
            self._task = asyncio.create_task(self._work())
        reply = await future
        counts = (reply.prompt_tokens or 0, reply.completion_tokens or 0)
        names = ("prompt_tokens", "completion_tokens", "total_tokens")
        usage = dict(zip(names, (*counts, sum(counts)), strict=True))
        body = completion(reply.text, model=self._name, usage=usage, system_fingerprint="tests")
        body["choices"][0]["finish_reason"] = reply.finish_reason
        return Answer(body=body)

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
            sampling = Sampling(
                temperature=body.get("temperature", 1.0),
                max_tokens=body.get("max_completion_tokens") or body.get("max_tokens") or 64,
                top_p=body.get("top_p"),
            )
            by_sampling.setdefault(sampling, []).append(index)
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
