"""Workers on a Ray cluster: an actor on each GPU, or on as many cores as a worker takes."""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from goffman.errors import AskingError, InputError
from goffman.workers.protocol import TaskResult
from goffman.workers.worker import Worker

if TYPE_CHECKING:
    from goffman.workers.protocol import Task

WAIT, LOOK = 300.0, 5.0
"""Seconds in which workers must have started, and between checks of who can still come."""

TRIES, BETWEEN = 4, 5.0
"""How often a cluster that could not yet answer is asked, and the seconds between."""

UNAUTHENTICATED = "UNAUTHENTICATED"
"""How gRPC says that a caller without a token is refused."""

NOBODY = {"UNAVAILABLE", "DEADLINE_EXCEEDED", "UNIMPLEMENTED"}
"""How gRPC says that a server is not there, does not answer in time, or is not Ray."""

PATIENCE = 20.0
"""Seconds in which a cluster must have answered for the first time."""

SET_UP = (
    "Make a token on its head (ray get-auth-token --generate), copy the file ~/.ray/auth_token to "
    "every machine, and start Ray on each with RAY_AUTH_MODE=token in its environment."
)


class RayBackend:
    """A Ray actor for each worker."""

    def __init__(self, address: str, *, device: str, threads: int) -> None:
        """Start workers; ``device``: auto, cpu or cuda; ``threads``: of the CPU, per worker."""
        self._ray = _connected(address)
        self._actors: list[Any] = []
        self._open: dict[Any, int] = {}
        self.names: list[str] = []
        try:
            self._start(address, device=device, threads=threads)
        except BaseException:
            self.close()
            raise

    def _start(self, address: str, *, device: str, threads: int) -> None:
        chosen, count, needs = worker_resources(
            self._ray.cluster_resources(), address=address, device=device, threads=threads
        )
        try:
            # With Ray's own retries a dead node can stop everything: the tasks of an actor that
            # died are given to another by whoever gave them.
            actor = self._ray.remote(Worker).options(max_restarts=0, max_task_retries=0, **needs)
            self._actors = [actor.remote(chosen) for _ in range(count)]
            actors = {worker.host.remote(): worker for worker in self._actors}
            ready = self._ready(list(actors), address=address, device=device, threads=threads)
            for host in actors.keys() - {*ready}:
                self._ray.kill(actors[host])
            self._actors = [actors[host] for host in ready]
            hosts = [self._ray.get(host) for host in ready]
        except (ImportError, self._ray.exceptions.RayError) as error:
            raise InputError(
                f"A worker at {address} cannot start: {_line(error)}. Install the same goffman, in "
                "the same version of Python, on every machine of the cluster."
            ) from error
        self.names = [
            f"worker {number} ({chosen} on {host})" for number, host in enumerate(hosts, 1)
        ]
        if not self._actors:
            raise AskingError(
                f"No worker could be started at {address} within {WAIT:.0f} seconds. See which "
                "GPUs and cores are free: ray status"
            )

    def _ready(self, hosts: Sequence[Any], **how: Any) -> list[Any]:
        """Return the hosts that have started; do not wait for a machine that died just now.

        Ray counts its cores and GPUs until it has noticed.
        """
        deadline, expected = time.monotonic() + WAIT, len(hosts)
        ready: list[Any] = []
        while len(ready) < expected and time.monotonic() < deadline:
            ready, _ = self._ray.wait(list(hosts), num_returns=expected, timeout=LOOK)
            expected = min(expected, worker_resources(self._ray.cluster_resources(), **how)[1])
        return ready

    def give(self, worker: int, task: Task) -> None:
        """Give the worker a task, which it does after earlier ones."""
        self._open[self._actors[worker].do.remote(task)] = worker

    def take(self) -> TaskResult:
        """Return the result of a task, as soon as there is one."""
        try:
            (finished, *_), _ = self._ray.wait(list(self._open), num_returns=1)
        except (ConnectionError, OSError) as error:
            raise AskingError(
                "The Ray cluster cannot be reached any more. All answers so far are kept. To "
                "resume, run the same command again, or without --workers."
            ) from error
        worker = self._open.pop(finished)
        try:
            value, failure = self._ray.get(finished)
        except self._ray.exceptions.RayTaskError as error:
            return TaskResult(worker=worker, failure=_line(error))
        except self._ray.exceptions.RayError as error:
            # Its loss is reported once, whatever other tasks it had.
            self._open = {
                reference: number for reference, number in self._open.items() if number != worker
            }
            with suppress(Exception):
                self._ray.kill(self._actors[worker])
            return TaskResult(worker=worker, lost=f"Ray says {type(error).__name__}")
        return TaskResult(worker=worker, value=value, failure=failure)

    def close(self) -> None:
        """End all workers."""
        with suppress(Exception):
            for actor in self._actors:
                self._ray.kill(actor)
        self._ray.shutdown()


def worker_resources(
    resources: Mapping[str, float], *, address: str, device: str, threads: int
) -> tuple[str, int, dict[str, int]]:
    """Return the device, how many workers it gets, and what each takes of a cluster's resources."""
    gpus, cores = (int(resources.get(name, 0)) for name in ("GPU", "CPU"))
    if device not in ("auto", "cpu", "cuda"):
        raise InputError(
            f"--device is '{device}'. With --workers it is auto, cpu or cuda: Ray knows which GPUs "
            "there are."
        )
    if gpus and device != "cpu":
        return "cuda", gpus, {"num_gpus": 1}
    if device == "cuda":
        raise InputError(f"The Ray cluster at {address} has no GPU. Give --device cpu.")
    if cores < threads:
        raise InputError(
            f"The Ray cluster at {address} has {cores} cores, but a worker takes as many as torch "
            f"here calculates with: {threads}. Set the environment variable OMP_NUM_THREADS to a "
            "lower number."
        )
    return "cpu", cores // threads, {"num_cpus": threads}


def host_and_port(address: str) -> str:
    """Return host and port of a cluster's client server; raise InputError if there are none."""
    match = re.fullmatch(r"ray://([^/\s]+:\d+)", address)
    if match is None:
        raise InputError(
            f"--workers is '{address}'. Write ray://HOST:PORT, the address of a Ray cluster's "
            "client server, such as ray://head:10001."
        )
    return match[1]


def _connected(address: str) -> Any:
    """Return Ray, connected to a cluster that asks for a token."""
    head = host_and_port(address)
    if find_spec("ray") is None or find_spec("grpc") is None:
        raise InputError(
            "--workers needs Ray, which is not installed. Install it: pip install 'goffman[ray]'"
        )
    # Read by Ray as it is imported.
    os.environ["RAY_AUTH_MODE"] = "token"
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    status = _status_without_token(head)
    if status in NOBODY:
        raise InputError(
            f"No Ray cluster answers at {address}. Give the address of its head and the port of "
            "its client server, which is 10001 unless ray start was told another."
        )
    if status != UNAUTHENTICATED:
        raise InputError(
            f"The Ray cluster at {address} lets everyone in: whoever reaches it can run any "
            f"program on it. goffman only uses a cluster that asks for a token. {SET_UP}"
        )
    import ray

    # goffman itself reports what goes wrong, once.
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    try:
        for tries_left in reversed(range(TRIES)):
            try:
                ray.init(address=address, log_to_driver=False, logging_level="ERROR")
            except ConnectionAbortedError:
                # A head that is busy, or has just started, is asked again.
                if not tries_left:
                    raise
                time.sleep(BETWEEN)
            else:
                break
    except Exception as error:
        raise InputError(
            f"The Ray cluster at {address} refused the connection: {_line(error)}. Its token must "
            "be in ~/.ray/auth_token or in RAY_AUTH_TOKEN here, and Ray and Python must have the "
            "same versions here and there."
        ) from error
    return ray


def _status_without_token(host: str) -> str:
    """Return the gRPC status with which a cluster responds to a caller without a token."""
    import grpc

    with grpc.insecure_channel(host) as channel:
        ask = channel.unary_unary("/ray.rpc.RayletDriver/ClusterInfo")
        try:
            ask(b"", timeout=PATIENCE)
        except grpc.RpcError as error:
            return str(error.code().name)
    return "OK"


def _line(error: BaseException) -> str:
    """Return the last line of what Ray says, which is the reason."""
    lines = str(error).strip().splitlines()
    return lines[-1].strip().removesuffix(".") if lines else type(error).__name__
