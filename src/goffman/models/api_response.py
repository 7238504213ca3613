"""From a chat server's answer to its decompressed bytes, and to the reply in it."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from itertools import accumulate
from typing import Any

from goffman.models.api_errors import (
    LONGEST_ANSWER,
    LONGEST_WORDS,
    QUICK_TRIES,
    RequestError,
    words_of,
)
from goffman.models.base import Reply
from goffman.models.server_address import Address

_NAMES = r"(?:think|thinking|thought|thoughts|reasoning)"
_OPEN = re.compile(rf"\s*(?:<{_NAMES}>|\[THINK\])", re.IGNORECASE)
_CLOSE = re.compile(rf"(?:</{_NAMES}>|\[/THINK\])", re.IGNORECASE)


def without_reasoning(reply: Reply) -> Reply:
    """Return the reply with its reasoning moved to the field for it.

    A block of reasoning may be opened and never closed, if the reply was cut, or closed and never
    opened, if the chat template opens it.
    """
    text = reply.text or ""
    opened, closed = _OPEN.match(text), list(_CLOSE.finditer(text))
    if not opened and not closed:
        return reply
    begin = opened.end() if opened else 0
    end = closed[-1].start() if closed else len(text)
    parts = [part for part in (reply.reasoning, text[begin:end].strip()) if part]
    answer = text[closed[-1].end() :].lstrip() if closed else ""
    return replace(reply, text=answer, reasoning="\n\n".join(parts))


PACKINGS = frozenset({"gzip", "x-gzip", "deflate"})
"""Content encodings that are read, though none is requested: some proxies compress everything."""

ANSWERS = frozenset({"text", "output_text", "refusal"})
"""Types of message parts that are meant for the user; other parts are reasoning."""

MOST_TOKENS = 32
"""How many of a reply's first tokens are kept with their probabilities."""


async def unpacked(
    stream: AsyncIterator[bytes], packing: str, address: Address
) -> AsyncIterator[bytes]:
    """Yield a response's decompressed bytes; raise RequestError if they cannot be read."""
    packing = packing.strip().lower()
    plain = packing in {"", "identity"}
    unreadable = RequestError(
        f"the server at {address.url} compresses its answers in a way that goffman cannot read "
        f"(Content-Encoding: {packing[:LONGEST_WORDS]}). Turn compression off.",
        tries=QUICK_TRIES,
    )
    if not plain and packing not in PACKINGS:
        raise unreadable
    # It tells gzip from deflate by the first bytes.
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 32)
    remaining = LONGEST_ANSWER
    async for chunk in stream:
        try:
            part = chunk if plain else unpack.decompress(chunk, remaining + 1)
        except zlib.error:
            raise unreadable from None
        # The longer one counts: endless compressed bytes may contain nothing.
        remaining -= max(len(chunk), len(part))
        if remaining < 0:
            raise RequestError(
                f"the server at {address.url} sent more than {LONGEST_ANSWER // 2**20} MB, which "
                "cannot be a reply.",
                tries=QUICK_TRIES,
            )
        yield part


def reply_of(text: str, hidden: Callable[[str], str], *, options: bool = False) -> Reply:
    """Return the reply in a server's response; raise RequestError if there is none.

    ``options``: keep the probabilities of the answer's first token only.
    """
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        raise RequestError("the server's answer is not JSON.") from None
    body = _object(body)
    choices = body.get("choices")
    first = _object(choices[0] if isinstance(choices, list) and choices else None)
    message = _object(first.get("message"))
    # A message may be empty, but there must be one.
    fields = {"content", "refusal", "reasoning", "reasoning_content"} & {*message}
    if not fields or not isinstance(message.get("content"), str | list | None):
        error = body.get("error")
        words = words_of(error if isinstance(error, dict) else {"message": error}, "", hidden)
        raise RequestError(f"the server's answer contains no reply{words}.")

    def text_at(fields: dict[str, Any], name: str) -> str | None:
        value = fields.get(name)
        return hidden(value) if isinstance(value, str) else None

    counts = _object(body.get("usage"))
    content, reasoning_parts = _content(message.get("content"))
    # Servers name the reasoning in one of two ways.
    reasonings = [message.get("reasoning_content"), message.get("reasoning"), reasoning_parts]
    reasoning = "\n\n".join(part for part in reasonings if isinstance(part, str) and part.strip())
    # A model that declines may say so in a field of its own.
    reply = Reply(
        text=text_at(message, "refusal") if content is None else hidden(content),
        finish_reason=text_at(first, "finish_reason"),
        prompt_tokens=_count(counts.get("prompt_tokens")),
        completion_tokens=_count(counts.get("completion_tokens")),
        fingerprint=text_at(body, "system_fingerprint"),
        served_by=text_at(body, "model"),
        reasoning=hidden(reasoning) or None,
    )
    reply = without_reasoning(reply)
    tokens = _object(first.get("logprobs")).get("content")
    tokens = tokens if isinstance(tokens, list) else []
    if options:
        tokens = _where_it_begins(tokens, reply)
    return replace(reply, next_words=_next_words(tokens, hidden))


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _where_it_begins(tokens: list[Any], reply: Reply) -> list[Any]:
    """Return a list of the answer's first token after blanks and reasoning; empty if unknown."""
    texts = [str(_object(token).get("token") or "") for token in tokens]
    text = "".join(texts)
    reasoning_end = text.rfind("</think")
    begin = (text.find(">", reasoning_end) + 1 or len(text)) if reasoning_end >= 0 else 0
    answer = (reply.text or "").strip()
    # Some servers list only the tokens of the reasoning.
    if not answer or (
        reply.reasoning and reasoning_end < 0 and not text.strip().startswith(answer)
    ):
        return []
    starts = accumulate(map(len, texts), initial=0)
    places = zip(tokens, texts, starts, strict=False)
    return next(([token] for token, text, start in places if start >= begin and text.strip()), [])


def _next_words(tokens: list[Any], hidden: Callable[[str], str]) -> str | None:
    """Return the first tokens with their alternatives as JSON; None if the server gives none."""
    words: list[tuple[str, list[tuple[str, float]]]] = []
    for token in map(_object, tokens[:MOST_TOKENS]):
        text, alternatives = token.get("token"), token.get("top_logprobs")
        if not isinstance(text, str) or not isinstance(alternatives, list):
            return None
        pairs = []
        for alternative in map(_object, alternatives):
            alternative_text, value = alternative.get("token"), alternative.get("logprob")
            if not isinstance(alternative_text, str) or isinstance(value, bool):
                continue
            if isinstance(value, int | float) and value <= 0:
                # JSON of some servers has -Infinity for impossible tokens.
                pairs.append((hidden(alternative_text), max(float(value), -1e4)))
        words.append((hidden(text), pairs))
    return json.dumps(words, ensure_ascii=False) if words else None


def _content(content: object) -> tuple[str | None, str]:
    """Return the text of a message and of its reasoning; both may be split into parts."""
    if not isinstance(content, list):
        return (content if isinstance(content, str) else None), ""
    texts: dict[bool, list[str]] = {True: [], False: []}
    for part in content:
        if isinstance(part, str):
            texts[True].append(part)
        elif isinstance(part, dict):
            kind = str(part.get("type", "text"))
            texts[kind in ANSWERS].append(_text_in(part))
    return "".join(texts[True]) if texts[True] else None, "".join(texts[False])


def _text_in(part: dict[str, Any]) -> str:
    """Return the text of a part, which may itself be in parts."""
    for name in ("text", "refusal", "thinking", "reasoning", "content"):
        value = part.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return "".join(_text_in(inner) for inner in value if isinstance(inner, dict))
    return ""


def _count(value: object) -> int | None:
    """Return the value if it can be a number of tokens, otherwise None."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 2**62 else None  # type: ignore[operator,return-value]
