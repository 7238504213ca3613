"""The page on which one person rates words, or settles disagreements; for this machine only.

Who gets in: the server listens on 127.0.0.1 alone; the address holds a random token; a request must
name this server as its Host, so that no other site's name can be made to lead here; and where it
comes from a page, that page must be ours (Origin, Sec-Fetch-Site). The page loads nothing from
elsewhere, and may not (Content-Security-Policy).
"""

from __future__ import annotations

import json
import secrets
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from goffman.errors import AskingError, InputError
from goffman.lexicons.desk import Desk, PostError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE = Path(__file__).parent / "page"

LARGEST = 64 * 1024
"""Bytes of a post; a rating with a long note has a few thousand."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Choice:
    """A label as the page explains it."""

    key: str
    label: str
    meaning: str
    examples: str


CHOICES = (
    Choice("1", "positive", "Approval, ease or normality", "a walk in the park, second nature"),
    Choice(
        "2",
        "negative",
        "Disapproval, difficulty, risk or oddity",
        "out of the question, an uphill struggle",
    ),
    Choice("3", "neutral", "Fits, but leans neither way", "neither here nor there"),
    Choice("4", "irrelevant", "Makes no sense there", "according to, and so forth"),
)
"""The examples are phrases, never single words: what is asked is one word that a model filled in,
so that no rater can be shown the answer to what is asked next."""


def serve(desk: Desk, *, port: int = 0, opened: Callable[[str], None]) -> None:
    """Nothing, after Ctrl-C. ``opened`` is called with the address; port 0 takes a free one."""
    token = secrets.token_urlsafe(24)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", port))
        except OSError as error:
            raise InputError(
                f"--port {port} cannot be used: {error.strerror}. Give another port, or leave out "
                "--port."
            ) from error
        listening.listen()
        port = listening.getsockname()[1]
        config = uvicorn.Config(
            Guard(page(desk), port=port, token=token),
            log_level="critical",
            lifespan="off",
            ws="none",
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=2,
        )
        opened(f"http://127.0.0.1:{port}/{token}/")
        try:
            uvicorn.Server(config).run(sockets=[listening])
        except KeyboardInterrupt:
            # uvicorn has ended in good order and passes the signal on; it was meant for us.
            return


class Guard:
    """Lets through what comes from this machine's own page, without the token in its path."""

    def __init__(self, app: ASGIApp, *, port: int, token: str) -> None:
        self._app = app
        self._token = token
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The request is answered, by the page or by a refusal."""
        if scope["type"] != "http":
            return
        request = Request(scope)
        refusal = self._refusal(request)
        if refusal:
            await _error(403, refusal)(scope, receive, _with_headers(send))
            return
        inner = {**scope, "path": request.url.path[len(self._token) + 1 :] or "/", "root_path": ""}
        await self._app(inner, receive, _with_headers(send))

    def _refusal(self, request: Request) -> str:
        """Why a request is not for us, or nothing."""
        host = request.headers.get("host", "")
        if host not in self._hosts:
            return f"The Host '{_short(host)}' is not this server. Use the address in the terminal."
        origin = request.headers.get("origin")
        posted = request.method not in ("GET", "HEAD")
        if (posted or origin is not None) and origin != f"http://{host}":
            shown = "no Origin" if origin is None else f"the Origin '{_short(origin)}'"
            return f"A request with {shown} does not come from this page."
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return "A request that another site makes is refused. Open the address by hand."
        given = scope_token(request.url.path)
        if not secrets.compare_digest(given.encode(), self._token.encode()):
            return "The token in the address is not this server's. Use the address in the terminal."
        return ""


def scope_token(path: str) -> str:
    """The first part of a path."""
    return path.split("/", 2)[1] if path.startswith("/") else ""


def page(desk: Desk) -> Starlette:
    """The page's own requests, to be put behind a Guard."""
    templates = Environment(
        loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined
    )
    html = templates.get_template("page.html").render(
        mode=desk.mode, run=desk.worklist.title, rater=desk.rater, choices=CHOICES
    )

    async def show(_: Request) -> Response:
        return HTMLResponse(html)

    async def style(_: Request) -> Response:
        return FileResponse(PAGE / "page.css")

    async def script(_: Request) -> Response:
        return FileResponse(PAGE / "page.js", media_type="text/javascript")

    async def state(_: Request) -> Response:
        return JSONResponse(desk.state())

    async def rate(request: Request) -> Response:
        try:
            return JSONResponse(desk.take(await _posted(request)))
        except PostError as refused:
            return _error(refused.status, str(refused))
        except AskingError as error:
            return _error(500, str(error))

    return Starlette(
        routes=[
            Route("/", show),
            Route("/page.css", style),
            Route("/page.js", script),
            Route("/state", state),
            Route("/rate", rate, methods=["POST"]),
        ]
    )


async def _posted(request: Request) -> dict[str, object]:
    """The JSON object of a post; PostError says what is wrong with it."""
    kind = request.headers.get("content-type", "")
    if kind.partition(";")[0].strip().lower() != "application/json":
        raise PostError(415, f"The post is '{_short(kind)}'; it must be application/json.")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST:
            raise PostError(413, "The post has more than 64 kB. Nothing was saved.")
    try:
        told = json.loads(body)
        # JSON can spell half of a sign (\ud800), which no file and no answer can hold.
        json.dumps(told, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise PostError(
            400, "The post holds half of a character (a lone surrogate). Nothing was saved."
        ) from None
    except (ValueError, RecursionError):
        raise PostError(400, "The post is not JSON. Nothing was saved.") from None
    if not isinstance(told, dict):
        raise PostError(400, "The post is not a JSON object. Nothing was saved.")
    return told


def _error(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": message}, status_code=status)


def _with_headers(send: Send) -> Callable[[Message], Awaitable[None]]:
    """``send`` with the headers that every answer of ours has."""
    ours = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *ours]}
        await send(message)

    return sent


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."
