"""A Ray cluster on this machine: a head, and further nodes, each with a raylet of its own."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from processes import kill, title, tree

RAY = "from ray.scripts.scripts import main; main()"


def free_port(below=10_000):
    """Ray keeps ports from 10,002 on for its workers."""
    while True:
        port = 2_000 + secrets.randbelow(below - 2_000)
        with closing(socket.socket()) as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


TOKEN = secrets.token_hex(32)
"""Of all clusters: Ray reads it once in a process."""


NOTICED_SOON = {
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "500",
}
"""A dead node is noticed after 5 looks, 3 s apart by default. How long a node may take to answer
stays as it is: here many are busy."""


class Cluster:
    """Started by ``ray start``, as a user would; every node can be killed as if it lost power."""

    def __init__(self, *, cores, token=True):
        # Short: the paths of Ray's sockets in it may not be long.
        self._folder = Path(tempfile.mkdtemp(prefix="ray"))
        self.token = TOKEN
        mode = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": self.token}
        mode = mode if token else {"RAY_AUTH_MODE": "disabled"}
        self._environment = {**os.environ, **mode, **NOTICED_SOON, "RAY_USAGE_STATS_ENABLED": "0"}
        self._port, client = free_port(), free_port()
        self.address = f"ray://127.0.0.1:{client}"
        self._nodes = []
        head = ("--head", f"--port={self._port}", f"--ray-client-server-port={client}")
        quiet = ("--include-dashboard=false", f"--temp-dir={self._folder / 'ray'}")
        self.start(*head, *quiet, cores=cores)
        self._await(client)

    def start(self, *options, cores):
        """One more node."""
        options = options or (f"--address=127.0.0.1:{self._port}",)
        size = (f"--num-cpus={cores}", "--num-gpus=0", "--object-store-memory=100000000")
        ports = ("--min-worker-port=0", "--max-worker-port=0")
        log = (self._folder / f"node-{len(self._nodes)}.log").open("wb")
        with log:
            node = subprocess.Popen(
                [sys.executable, "-c", RAY, "start", "--block", *options, *size, *ports],
                env=self._environment,
                stdout=log,
                stderr=log,
            )
        self._nodes.append(node)

    def _await(self, port):
        ends = time.monotonic() + 180
        while time.monotonic() < ends and self._nodes[0].poll() is None:
            with closing(socket.socket()) as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.2)
        said = (self._folder / "node-0.log").read_text()
        self.stop()
        raise RuntimeError(f"Ray did not start: {said}")

    @property
    def pid(self):
        """Of the head."""
        return self._nodes[0].pid

    def workers(self, node=0):
        """The processes of a node that are goffman's workers."""
        started = tree(self._nodes[node].pid)
        return sorted(pid for pid in started if title(pid).startswith("ray::Worker"))

    def kill_node(self, node):
        kill(tree(self._nodes[node].pid))

    def stop(self):
        for node in self._nodes:
            if node.poll() is None:
                kill(tree(node.pid))
            node.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
