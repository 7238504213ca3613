"""A hub on loopback: enough of the real one's routes and headers to fetch a model from it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@contextlib.contextmanager
def hub(repositories: dict[str, Path], *, gated: tuple[str, ...] = ()) -> Iterator[str]:
    """The address of a server that holds these folders as repositories."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def do_GET(self) -> None:
            parts = self.path.split("?")[0].strip("/").split("/")
            api = parts[:2] == ["api", "models"]
            parts = parts[2:] if api else parts
            marks = [mark for mark in ("revision", "tree", "resolve") if mark in parts]
            cut = parts.index(marks[0]) if marks else len(parts)
            name, rest = "/".join(parts[:cut]), parts[cut:]
            if name not in repositories:
                self.answer(401, X_Error_Code="RepoNotFound")
            elif rest[1:2] not in ([], ["main"], [COMMIT]):
                self.answer(404, X_Error_Code="RevisionNotFound")
            elif rest[:1] == ["tree"]:
                self.answer(200, self.tree(repositories[name]), Content_Type="application/json")
            elif rest[:1] == ["resolve"] and name in gated:
                self.answer(403, X_Error_Code="GatedRepo")
            elif rest[:1] == ["resolve"]:
                self.file(repositories[name] / "/".join(rest[2:]))
            else:
                info = json.dumps({"id": name, "sha": COMMIT, "siblings": []}).encode()
                self.answer(200, info, Content_Type="application/json")

        do_HEAD = do_GET  # noqa: N815 (the library's name)

        def tree(self, folder: Path) -> bytes:
            entries = [
                {
                    "type": "file",
                    "path": path.name,
                    "size": path.stat().st_size,
                    "oid": hashlib.sha1(path.read_bytes()).hexdigest(),
                }
                for path in sorted(folder.iterdir())
            ]
            return json.dumps(entries).encode()

        def file(self, path: Path) -> None:
            if not path.is_file():
                self.answer(404, X_Error_Code="EntryNotFound")
                return
            body = path.read_bytes()
            tag = hashlib.sha1(body).hexdigest()
            self.answer(200, body, ETag=f'"{tag}"', X_Repo_Commit=COMMIT)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
