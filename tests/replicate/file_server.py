"""A server on loopback that holds files under addresses, and may treat some of them badly."""

from __future__ import annotations

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Served:
    """What a server was asked for, and how it treats whom."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)
        self.asked: list[str] = []
        self.cut: set[str] = set()
        """Addresses after half of which the connection is cut."""
        self.address = ""


@contextlib.contextmanager
def serving(files: Mapping[str, bytes]) -> Iterator[Served]:
    """A server that holds these bytes under these paths."""
    served = Served(files)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            path = unquote(self.path)
            served.asked.append(path)
            content = served.files.get(path)
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if path in served.cut else content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
