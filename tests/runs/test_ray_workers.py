"""Workers on real Ray clusters: the same files to the byte, whoever is killed in the middle."""

from __future__ import annotations

import os
import socket
import sys
import time
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest

import goffman
from asking import parts
from goffman.errors import AskingError, InputError
from goffman.models.base import LoadOptions
from goffman.options import AskOptions, Listener
from goffman.pipeline import audit
from goffman.runs.manifest import read_manifest
from goffman.workers.ray import RayBackend, worker_resources
from processes import kill
from ray_here import Cluster

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")


def run(folder, *models, workers=None, listener=None, limit=60):
    """Three steps of recursive masking, in parts of 256 sentences."""
    return audit(
        list(map(str, models)),
        instruments=["attribution"],
        output=folder,
        loading=LoadOptions(workers=workers),
        options=AskOptions(controls=False, limit=limit, batch_size=4),
        listener=listener,
    )


class Once:
    """Does something once, when so many sentences of the last step are answered."""

    def __init__(self, act):
        self._act, self.notes, self.seen = act, [], []

    @property
    def listener(self):
        return Listener(progress=self._progress, note=self.notes.append)

    def _progress(self, progress):
        self.seen.append(progress)
        if progress.step == 3 and progress.done >= 256 and self._act:
            act, self._act = self._act, None
            act()


@pytest.fixture(scope="module")
def alone(tiny, tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone") / "run"
    run(folder, tiny("roberta"))
    return parts(folder)


@pytest.fixture
def cluster(monkeypatch):
    """Starts clusters with their token in the environment; they end with the test."""
    started = []

    def start(**how):
        one = Cluster(**how)
        started.append(one)
        monkeypatch.setenv("RAY_AUTH_TOKEN", one.token)
        return one

    # goffman sets them for Ray; they go with the test.
    for name in ("RAY_AUTH_MODE", "RAY_USAGE_STATS_ENABLED"):
        monkeypatch.setenv(name, "")
    yield start
    for one in started:
        one.stop()


@needs_ray
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_worker_killed_on_a_cluster_loses_and_doubles_nothing(tiny, alone, cluster, tmp_path):
    here = cluster(cores=2)
    once = Once(lambda: kill(here.workers()[:1]))
    run(tmp_path / "run", tiny("roberta"), workers=here.address, listener=once.listener)
    assert parts(tmp_path / "run") == alone
    (lost,) = [note for note in once.notes if note.startswith("Lost worker ")]
    assert "Ray says ActorDiedError" in lost
    assert [once.seen[0].note, once.seen[-1].note] == ["2 workers", "1 worker"]
    (workers,) = read_manifest(tmp_path / "run").workers
    assert workers.workers == 2


@needs_ray
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_node_killed_on_a_cluster_loses_and_doubles_nothing(tiny, alone, cluster, tmp_path):
    """Then the other's worker, too: the run stops, and goes on later without the cluster."""
    here = cluster(cores=1)
    here.start(cores=1)
    wait_for_cores(here, 2)
    folder = tmp_path / "run"

    def act():
        assert here.workers(1), "no worker is on the second node"
        here.kill_node(1)

    once = Once(act)
    run(folder, tiny("roberta"), workers=here.address, listener=once.listener)
    assert parts(folder) == alone
    assert any(note.startswith("Lost worker ") for note in once.notes)
    once = Once(lambda: kill(here.workers(0)))
    with pytest.raises(AskingError, match="No worker is left"):
        run(tmp_path / "other", tiny("roberta"), workers=here.address, listener=once.listener)
    assert 0 < len(parts(tmp_path / "other")) < len(alone)
    run(tmp_path / "other", tiny("roberta"))
    assert parts(tmp_path / "other") == alone


@needs_ray
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_two_models_at_once_on_a_cluster(tiny, cluster, tmp_path):
    """Each is asked by a worker of its own; the files are those of one process."""
    models, once = (tiny("bert"), tiny("roberta")), Once(None)
    run(tmp_path / "alone", *models, limit=12)
    here = cluster(cores=2)
    run(tmp_path / "run", *models, workers=here.address, listener=once.listener, limit=12)
    assert parts(tmp_path / "run") == parts(tmp_path / "alone")
    assert once.seen[0].note == "1 worker"
    turns = sum(one.model != other.model for one, other in pairwise(once.seen))
    assert turns > 1, "one model was asked after the other"


def wait_for_cores(cluster, cores):
    """Both nodes are known to the head."""
    ends = time.monotonic() + 120
    while time.monotonic() < ends:
        hands = RayBackend(cluster.address, device="cpu", threads=1)
        count = len(hands.names)
        hands.close()
        if count == cores:
            return
        time.sleep(1)
    pytest.fail("the second node did not come")


@needs_ray
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_lets_everyone_in_is_refused(cluster):
    here = cluster(cores=1, token=False)
    with pytest.raises(InputError) as refused:
        RayBackend(here.address, device="auto", threads=1)
    assert str(refused.value) == (
        f"The Ray cluster at {here.address} lets everyone in: whoever reaches it can run any "
        "program on it. goffman only uses a cluster that asks for a token. Make a token on its "
        "head (ray get-auth-token --generate), copy the file ~/.ray/auth_token to every machine, "
        "and start Ray on each with RAY_AUTH_MODE=token in its environment."
    )


@needs_ray
def test_an_address_where_no_cluster_is(monkeypatch):
    for name in ("RAY_AUTH_MODE", "RAY_USAGE_STATS_ENABLED"):
        monkeypatch.setenv(name, "")
    with pytest.raises(InputError, match=r"^No Ray cluster answers at ray://127\.0\.0\.1:1\. "):
        RayBackend("ray://127.0.0.1:1", device="auto", threads=1)
    assert (os.environ["RAY_AUTH_MODE"], os.environ["RAY_USAGE_STATS_ENABLED"]) == ("token", "0")


@needs_ray
def test_a_port_that_does_not_answer_is_no_cluster(monkeypatch):
    for name in ("RAY_AUTH_MODE", "RAY_USAGE_STATS_ENABLED"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr("goffman.workers.ray.PATIENCE", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"ray://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(InputError, match=rf"^No Ray cluster answers at {address}\. "):
            RayBackend(address, device="auto", threads=1)


@pytest.mark.parametrize("address", ["head:10001", "ray://head", "ray://", "ray://head:x"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(InputError) as refused:
        RayBackend(address, device="auto", threads=1)
    assert str(refused.value) == (
        f"--workers is '{address}'. Write ray://HOST:PORT, the address of a Ray cluster's client "
        "server, such as ray://head:10001."
    )


def test_without_ray_the_option_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError) as refused:
        RayBackend("ray://head:10001", device="auto", threads=1)
    assert str(refused.value) == (
        "--workers needs Ray, which is not installed. Install it: pip install 'goffman[ray]'"
    )


@pytest.mark.parametrize(
    ("resources", "device", "threads", "expected"),
    [
        ({"CPU": 8.0, "GPU": 4.0}, "auto", 2, ("cuda", 4, {"num_gpus": 1})),
        ({"CPU": 8.0, "GPU": 4.0}, "cuda", 2, ("cuda", 4, {"num_gpus": 1})),
        ({"CPU": 8.0, "GPU": 4.0}, "cpu", 2, ("cpu", 4, {"num_cpus": 2})),
        ({"CPU": 7.0}, "auto", 2, ("cpu", 3, {"num_cpus": 2})),
    ],
)
def test_a_worker_for_each_gpu_or_for_so_many_cores(resources, device, threads, expected):
    assert worker_resources(resources, address="a", device=device, threads=threads) == expected


@pytest.mark.parametrize(
    ("resources", "device", "said"),
    [
        ({"CPU": 8.0}, "cuda", "The Ray cluster at a has no GPU. Give --device cpu."),
        ({"CPU": 8.0}, "cuda:1", "--device is 'cuda:1'. With --workers it is auto, cpu or cuda"),
        ({"CPU": 1.0}, "auto", "The Ray cluster at a has 1 cores, but a worker takes as many"),
    ],
)
def test_a_cluster_without_room_is_refused(resources, device, said):
    with pytest.raises(InputError) as refused:
        worker_resources(resources, address="a", device=device, threads=2)
    assert str(refused.value).startswith(said)


def test_ray_is_imported_by_one_file_alone():
    package = Path(goffman.__file__).parent
    importing = [
        path.name
        for path in package.rglob("*.py")
        if any(line.split()[:2] == ["import", "ray"] for line in path.read_text().splitlines())
    ]
    assert importing == ["ray.py"]
