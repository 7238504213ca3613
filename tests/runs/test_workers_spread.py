"""Several models asked at once by real workers: the same files as when they are asked in turn."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import time
from itertools import pairwise
from pathlib import Path

import pytest

from goffman.errors import AskingError, ModelError
from goffman.models.base import LoadOptions
from goffman.options import AskOptions, Listener
from goffman.pipeline import audit
from goffman.runs.manifest import read_manifest
from goffman.workers.protocol import Load
from goffman.workers.worker import LocalBackend
from processes import children
from warm import Command

TWO = LoadOptions(device="cpu,cpu")
TABLES = ("prompts.parquet", "scores.parquet", "estimates.parquet")


def parts(folder):
    """Every part's name, and with it the checksum of its bytes."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("answers/**/*.parquet"))


def run(folder, models, *, instruments=("people-sentiment", "attribution"), asking=None, **how):
    return audit(
        list(map(str, models)),
        instruments=instruments,
        output=folder,
        options=AskOptions(**{"controls": False, "limit": 16, "batch_size": 4, **(asking or {})}),
        **how,
    )


@pytest.fixture(scope="module")
def models(tiny):
    """The first is asked little, the others in three steps of recursive masking."""
    return [tiny("roberta", labels=("negative", "positive")), tiny("bert"), tiny("roberta")]


@pytest.fixture(scope="module")
def in_turn(models, tmp_path_factory):
    folder = tmp_path_factory.mktemp("in-turn") / "run"
    run(folder, models)
    return folder


@pytest.fixture
def given(monkeypatch):
    """What real workers were given, in this order: (worker, task)."""
    told, give = [], LocalBackend.give

    def noted(self, worker, task):
        told.append((worker, task))
        give(self, worker, task)

    monkeypatch.setattr(LocalBackend, "give", noted)
    return told


def loads(given):
    return [(worker, task.spec) for worker, task in given if isinstance(task, Load)]


@pytest.mark.slow
def test_models_asked_at_once_give_the_same_files_to_the_byte(models, in_turn, given, tmp_path):
    seen = []
    run(tmp_path / "run", models, loading=TWO, listener=Listener(progress=seen.append))
    assert parts(tmp_path / "run") == parts(in_turn)
    for name in TABLES:
        assert (tmp_path / "run" / name).read_bytes() == (in_turn / name).read_bytes()
    one, two = (read_manifest(folder) for folder in (in_turn, tmp_path / "run"))
    assert list(two.models.items()) == list(one.models.items())
    assert list(two.answers) == list(one.answers)
    # The two that take most are loaded first, each by one worker; a load after these is a helper's.
    (first, one), (second, other), (_, last), *helpers = loads(given)
    assert {first, second} == {0, 1}
    assert {one, other} == {str(model) for model in models[1:]}
    assert last == str(models[0])
    assert len(helpers) <= 1
    turns = sum(one.model != other.model for one, other in pairwise(seen))
    assert turns > len(models), "one model was asked after the other"
    assert {one.note for one in seen} <= {"1 worker", "2 workers"}


@pytest.mark.slow
def test_a_worker_killed_while_models_are_asked_at_once(models, in_turn, given, tmp_path):
    """The other one ends its own model, and then asks what the killed one had, too."""
    before, notes, killed = children(os.getpid()), [], []

    def seen(progress):
        if not killed and progress.step == 2 and progress.done >= 64:
            killed.extend(pid for pid in children(os.getpid()) if pid not in before)
            os.kill(killed[0], signal.SIGKILL)

    listener = Listener(progress=seen, note=notes.append)
    run(tmp_path / "run", models, loading=TWO, listener=listener)
    assert len(killed) == 2
    assert parts(tmp_path / "run") == parts(in_turn)
    assert (tmp_path / "run" / "scores.parquet").read_bytes() == (
        in_turn / "scores.parquet"
    ).read_bytes()
    (lost,) = [note for note in notes if note.startswith("Lost worker 1 ")]
    assert lost.endswith("Workers left: 1.")
    assert {spec for worker, spec in loads(given) if worker == 1} == set(map(str, models))


@pytest.mark.slow
def test_with_no_worker_left_a_run_of_several_models_resumes_without(models, in_turn, tmp_path):
    before, folder = children(os.getpid()), tmp_path / "run"

    def seen(progress):
        if progress.step == 2 and progress.done >= 64:
            for pid in children(os.getpid()):
                if pid not in before:
                    os.kill(pid, signal.SIGKILL)

    with pytest.raises(AskingError, match=r"^No worker is left\. "):
        run(folder, models, loading=TWO, listener=Listener(progress=seen))
    assert 0 < len(parts(folder)) < len(parts(in_turn))
    assert set(parts(folder)) < set(parts(in_turn))
    run(folder, models, loading=TWO)
    assert parts(folder) == parts(in_turn)
    for name in TABLES:
        assert (folder / name).read_bytes() == (in_turn / name).read_bytes()


@pytest.mark.slow
def test_one_model_that_cannot_be_loaded_stops_the_run_with_its_worker_s_name(models, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(models[2], broken)
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(ModelError) as refused:
        run(tmp_path / "run", [models[1], broken], instruments=("attribution",), loading=TWO)
    host = socket.gethostname()
    assert str(refused.value).startswith(f"1 of 1 workers cannot load '{broken}'. worker ")
    assert f" (cpu on {host}): '{broken}' cannot be loaded: " in str(refused.value)


@pytest.mark.slow
def test_a_user_who_stops_several_models_can_resume(models, in_turn, tmp_path):
    folder = tmp_path / "run"
    arguments = ("--instrument", "people-sentiment", "--instrument", "attribution", "--limit", "16")
    more = ("--batch-size", "4", "--no-controls", "--no-report", "--device", "cpu,cpu")
    with Command("audit", *models, *arguments, *more, "--output", folder) as process:
        while not parts(folder):
            time.sleep(0.05)
        started = children(process.pid)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert errors.endswith(
        "Stopped. All answers so far are kept. To resume, run the same command again.\n"
    )
    assert "Traceback" not in errors
    assert read_manifest(folder).sessions[0].ended
    assert not any(Path(f"/proc/{pid}").exists() for pid in started)
    assert set(parts(folder)) < set(parts(in_turn))
    run(folder, models)
    assert parts(folder) == parts(in_turn)


@pytest.mark.slow
def test_paraphrases_are_asked_by_the_workers_that_have_the_model(models, given, tmp_path):
    for name, loading in (("one", None), ("two", TWO)):
        run(
            tmp_path / name,
            models[1:],
            instruments=("social-distance",),
            asking={"limit": 150, "paraphrases": True},
            loading=loading,
        )
    assert any(path.startswith("paraphrases/") for path in parts(tmp_path / "two"))
    assert parts(tmp_path / "two") == parts(tmp_path / "one")
    assert sorted(spec for _, spec in loads(given)) == sorted(map(str, models[1:]))
    assert {worker for worker, _ in loads(given)} == {0, 1}
