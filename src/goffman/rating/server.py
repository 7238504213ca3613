"""The page on which one person rates words, or settles disagreements; for this machine only.

Who gets in: the server listens on 127.0.0.1 alone. The address holds a random token. A request must
name this server as its Host, so that no other site's name can lead here; and if it comes from a
page, that page must be the server's own (Origin, Sec-Fetch-Site). The page loads nothing from
elsewhere, and may not (Content-Security-Policy).
"""

from __future__ import annotations

import json
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import uvicorn
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from goffman.errors import AskingError, InputError
from goffman.rating.ratings import count_of_words, ratings_folder
from goffman.rating.worklist import (
    MOST,
    Entry,
    Journal,
    Record,
    Worklist,
    check_rater,
    open_journal,
    parse_event,
)

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

Mode = Literal["rate", "settle"]

SECONDS = 6
"""Seconds to rate a word: to read it in its sentences, decide, and press a key. An assumption, for
estimating beforehand how long a list takes; it is shown with the minutes."""


class PostError(Exception):
    """A post that changes nothing, with its HTTP status and the sentence that explains it."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


@dataclass(kw_only=True)
class Desk:
    """One person's work on one list; only what the journal has on disk counts."""

    mode: Mode
    worklist: Worklist
    journal: Journal
    rater: str
    """Shown on the page; empty when disagreements are settled."""
    after: Callable[[Record], None] = field(default=lambda _: None)
    """Called with the record so far, after each post that was saved."""

    def greeting(self) -> str:
        """Return sentences on the page's purpose, the time it takes, and how to get more words."""
        left = self.left()
        if self.mode == "settle":
            return f"{count_of_words(len(left))} to settle."
        title = self.worklist.title
        if not self.worklist.entries:
            most = f"the words that make up {MOST:.0%} of the probability in"
            done_words = most if self.worklist.offer == "most" else "all words of"
            return f"Nothing to rate: {done_words} {title} are already rated.{self._more()}"
        if not left:
            return f"'{self.rater}' has rated every word on this list.{self._more()}"
        share = sum(entry.mass for entry in left)
        return (
            f"{count_of_words(len(left))} to rate, as rater '{self.rater}'. They make up "
            f"{share:.1%} of the probability of all words in {title}. "
            f"This takes {how_long(len(left))}, at {SECONDS} seconds per word.{self._more()}"
        )

    def _more(self) -> str:
        """Return how to be asked about every word of the run, if the list lacks some of them."""
        count = self.worklist.words
        if count <= len(self.worklist.entries):
            return ""
        return f" To rate all {count_of_words(count)} ({how_long(count)}), use --all."

    def summary(self) -> str:
        """Return what was saved and where, in one sentence."""
        done = count_of_words(len(self.worklist.entries) - len(self.left()))
        verb_phrase = "settled" if self.mode == "settle" else f"rated by {self.rater}"
        return f"{done} {verb_phrase}, {len(self.left()):,} left. Saved in {self.journal.path}."

    def left(self) -> list[Entry]:
        """Return the entries without a label, least often skipped first, then in list order."""
        labels, skips = self.journal.record.labels, self.journal.record.skips
        open_ones = [entry for entry in self.worklist.entries if entry.unit not in labels]
        return sorted(open_ones, key=lambda entry: skips[entry.unit])

    def state(self) -> dict[str, Any]:
        """Return the values that the page shows, as JSON."""
        left, record = self.left(), self.journal.record
        first = left[0] if left else None
        return {
            "run": self.worklist.key,
            "entry": first
            and {
                **first.unit._asdict(),
                "shown": first.shown,
                "mass": first.mass,
                "count": first.count,
                "sentences": [[part.before, part.word, part.after] for part in first.sentences],
                "given": list(first.given),
                "note": record.notes.get(first.unit, ""),
            },
            "total": len(self.worklist.entries),
            "left": len(left),
            "skipped": sum(record.skips[entry.unit] > 0 for entry in left),
            "mass": {
                "known": self.worklist.rated,
                "left": sum(entry.mass for entry in left),
                "beyond": self.worklist.beyond,
            },
            "time": how_long(len(left)) if left and self.mode == "rate" else "",
            "words": self.worklist.words,
            "undo": record.last.unit.word if record.last and record.last.unit else None,
        }

    def take(self, post: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state after a post was saved; raise PostError if it cannot be saved."""
        if post.get("run") != self.worklist.key:
            raise PostError(
                409,
                f"This rating belongs to another run, not to {self.worklist.title}. Nothing was "
                "saved. Close the tab and use the address in the terminal.",
            )
        try:
            event = parse_event(post)
        except ValueError as error:
            raise PostError(
                422, f"This rating cannot be used: {error} Nothing was saved."
            ) from error
        if event.do == "undo":
            if self.journal.record.last is None:
                raise PostError(422, "There is nothing to undo.")
        elif all(event.unit != entry.unit for entry in self.worklist.entries):
            word = event.unit.word if event.unit else ""
            raise PostError(
                422, f"'{word[:60]}' is not among the words of this page. Nothing was saved."
            )
        self.journal.add(event)
        self.after(self.journal.record)
        return self.state()


@contextmanager
def rating(run: Path, work: Worklist, *, rater: str) -> Iterator[Desk]:
    """Yield the desk on which one person rates a run's words, with the person's earlier ratings."""
    path = ratings_folder(run) / f"{check_rater(rater)}.jsonl"
    with open_journal(path, run=run) as journal:
        yield Desk(mode="rate", worklist=work, journal=journal, rater=rater)


def how_long(words: int) -> str:
    """Return how long rating these words takes, in whole minutes, rounded up."""
    minutes = -(-words * SECONDS // 60)
    return "about 1 minute" if minutes <= 1 else f"about {minutes:,} minutes"


PAGE = Path(__file__).parent / "page"

LARGEST = 64 * 1024
"""Largest size of a post in bytes; a rating with a long note has a few thousand."""

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
"""The examples are phrases, never single words: raters rate single words that a model filled in, so
no example can be the answer to a later question."""


def serve(desk: Desk, *, port: int = 0, opened: Callable[[str], None]) -> None:
    """Serve the page until Ctrl-C; call ``opened`` with the address; port 0 takes a free one."""
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
            # uvicorn has ended in good order and passes the signal on, which was meant for this
            # server.
            return


class Guard:
    """A guard that passes on requests of this machine's own page, without the token in the path."""

    def __init__(self, app: ASGIApp, *, port: int, token: str) -> None:
        self._app = app
        self._token = token
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request by the page or by a refusal."""
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
        """Return why a request is refused; empty if it is not."""
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
        path = request.url.path
        token = path.split("/", 2)[1] if path.startswith("/") else ""
        if not secrets.compare_digest(token.encode(), self._token.encode()):
            return "The token in the address is not this server's. Use the address in the terminal."
        return ""


def page(desk: Desk) -> Starlette:
    """Return the app that serves the page's own requests, to be put behind a Guard."""
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
    """Return the JSON object of a post; raise PostError with what is wrong with it."""
    kind = request.headers.get("content-type", "")
    if kind.partition(";")[0].strip().lower() != "application/json":
        raise PostError(415, f"The post is '{_short(kind)}'; it must be application/json.")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST:
            raise PostError(413, "The post has more than 64 kB. Nothing was saved.")
    try:
        content = json.loads(body)
        # JSON can spell half of a character (\ud800), which no file and no answer can hold.
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise PostError(
            400, "The post holds half of a character (a lone surrogate). Nothing was saved."
        ) from None
    except (ValueError, RecursionError):
        raise PostError(400, "The post is not JSON. Nothing was saved.") from None
    if not isinstance(content, dict):
        raise PostError(400, "The post is not a JSON object. Nothing was saved.")
    return content


def _error(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": message}, status_code=status)


def _with_headers(send: Send) -> Callable[[Message], Awaitable[None]]:
    """Return ``send`` with the headers that every answer of this server has."""
    headers = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *headers]}
        await send(message)

    return sent


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."
