"""A page of goffman's, shown by a process of its own, and requests to it."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from warm import Command


@dataclass
class Page:
    """A server that shows a page, as a user has started it."""

    process: Command | subprocess.Popen
    address: str
    run: Path
    said: str = ""
    """What was printed before the page was open."""

    @property
    def host(self):
        return urlsplit(self.address).netloc

    @property
    def path(self):
        return urlsplit(self.address).path

    def request(self, method="GET", path="", *, body=None, **headers):
        """The status and the JSON, or text, of a request; headers with _ for -."""
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(http.client.HTTPConnection(self.host, timeout=20)) as connection:
            connection.request(method, path or self.path, body=body, headers=fields)
            answer = connection.getresponse()
            content = answer.read()
        if answer.headers.get_content_type() == "application/json":
            return answer.status, json.loads(content), answer.headers
        return answer.status, content.decode(), answer.headers

    def state(self):
        status, told, _ = self.request(path=f"{self.path}state")
        assert status == 200
        return told

    def post(self, told, **headers):
        """The status and the answer to a post as the page itself makes it, unless told else."""
        fields = {"Origin": f"http://{self.host}", "Content_Type": "application/json"} | headers
        body = told if isinstance(told, bytes | str) else json.dumps(told)
        kept = {name: value for name, value in fields.items() if value is not None}
        status, answer, _ = self.request("POST", f"{self.path}rate", body=body, **kept)
        return status, answer

    def stop(self):
        """What was printed after Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=30)
        assert self.process.returncode == 0, errors
        return errors

    def kill(self):
        """Nothing; the server had no time to say goodbye."""
        self.process.kill()
        self.process.communicate()


@contextmanager
def showing(*arguments):
    """The page of a goffman command, in a process of its own."""
    process = Command(*arguments, "--no-browser")
    with _shown(process, run=Path(arguments[1])) as page:
        yield page


@contextmanager
def showing_script(path):
    """The page that a script shows, in a process of its own."""
    command = [sys.executable, str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with _shown(process, run=path.parent) as page:
        yield page


@contextmanager
def _shown(process, *, run):
    try:
        said = ""
        while not (found := re.search(r"http://\S+", said)):
            line = process.stderr.readline()
            assert line, said
            said += line
        yield Page(process, found[0], run=run, said=said)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
