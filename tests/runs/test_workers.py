"""Workers give the same files to the byte, whatever their number, and whoever of them is killed."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import time
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from asking import assert_same, parts
from goffman.errors import AskingError, InputError, ModelError
from goffman.execution import Executors
from goffman.models.base import Calling, LoadOptions, Sampling
from goffman.models.registry import Loading
from goffman.models.resolve import load
from goffman.options import AskOptions, ChatOptions, Listener
from goffman.pipeline import audit
from goffman.runs.manifest import read_manifest
from goffman.workers.protocol import Ask, Call, Load
from goffman.workers.worker import LocalBackend
from processes import children
from tiny_chat import make_causal
from warm import Command

TWO = LoadOptions(device="cpu,cpu")


def run(folder, model, *, instruments=("care-seeking",), loading=None, listener=None, **options):
    asking = AskOptions(controls=False, **{"limit": 24, "batch_size": 4, **options})
    return audit(
        [str(model)] if isinstance(model, Path | str) else list(map(str, model)),
        instruments=instruments,
        output=folder,
        loading=loading,
        options=asking,
        listener=listener,
    )


class Killing:
    """Kills workers of this process when so many sentences are answered."""

    def __init__(self, *, workers, after):
        self._workers, self._after = workers, after
        self._before = children(os.getpid())
        self.notes, self.progress = [], []

    @property
    def listener(self):
        return Listener(progress=self._seen, note=self.notes.append)

    def _seen(self, progress):
        self.progress.append(progress)
        mine = [pid for pid in children(os.getpid()) if pid not in self._before]
        if progress.done >= self._after and self._workers:
            for pid in mine[: self._workers]:
                os.kill(pid, signal.SIGKILL)
            self._workers = 0


@cache
def causal(within, *, chat):
    return make_causal("llama", within / f"causal-{chat}", chat=chat)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("made")


@pytest.fixture(scope="module")
def alone(tiny, tmp_path_factory):
    """Three steps of recursive masking, asked by this process alone."""
    folder = tmp_path_factory.mktemp("alone") / "run"
    run(folder, tiny("roberta"), instruments=("care-seeking", "attribution"))
    return folder


BOTH = ("care-seeking", "attribution")


@pytest.mark.slow
def test_workers_write_the_same_files_to_the_byte(tiny, alone, tmp_path):
    seen = []
    listener = Listener(progress=seen.append)
    run(tmp_path / "two", tiny("roberta"), instruments=BOTH, loading=TWO, listener=listener)
    assert_same(tmp_path / "two", alone)
    one, other = (read_manifest(folder) for folder in (alone, tmp_path / "two"))
    assert one.models == other.models
    assert one.workers == ()
    (workers,) = other.workers
    assert (workers.host, workers.device, workers.workers) == (socket.gethostname(), "cpu", 2)
    assert "AVX" in workers.hardware or "DEFAULT" in workers.hardware
    assert {progress.note for progress in seen} == {"2 workers"}


@pytest.mark.slow
def test_a_killed_worker_s_parts_are_asked_by_the_other(tiny, alone, tmp_path):
    killing = Killing(workers=1, after=300)
    run(
        tmp_path / "run",
        tiny("roberta"),
        instruments=BOTH,
        loading=TWO,
        listener=killing.listener,
    )
    assert parts(tmp_path / "run") == parts(alone)
    (lost,) = [note for note in killing.notes if note.startswith("Lost ")]
    host = socket.gethostname()
    assert f"(cpu on {host}): it was killed by signal 9 (SIGKILL)." in lost
    assert lost.endswith("Workers left: 1.")
    assert killing.progress[-1].note == "1 worker"


@pytest.mark.slow
def test_without_workers_the_run_stops_and_goes_on_later_without(tiny, alone, tmp_path):
    folder, killing = tmp_path / "run", Killing(workers=2, after=300)
    with pytest.raises(AskingError) as stopped:
        run(folder, tiny("roberta"), instruments=BOTH, loading=TWO, listener=killing.listener)
    assert str(stopped.value).startswith("No worker is left. The last one was worker ")
    assert str(stopped.value).endswith(
        "All answers so far are kept. To resume, run the same command again. You can resume with "
        "other workers or without."
    )
    there = parts(folder)
    assert there
    assert set(there) < set(parts(alone))
    asked = run(folder, tiny("roberta"), instruments=BOTH).asked
    assert parts(folder) == parts(alone)
    assert sum(one.asked_now for one in asked) < sum(one.sentences for one in asked)


@pytest.mark.slow
def test_classifiers_likelihoods_choices_next_words_and_replies_go_the_same_way(
    tiny, place, tmp_path
):
    """Several models at once, by the same workers."""
    models = [
        tiny("roberta", labels=("negative", "positive")),
        causal(place, chat=False),
        causal(place, chat=True),
    ]
    how = {"limit": 6, "chats": ChatOptions(trials=1, sampling=Sampling(max_tokens=8))}
    seen = []
    for name, loading in (("one", None), ("two", TWO)):
        listener = Listener(progress=seen.append if loading else lambda _: None)
        run(tmp_path / name, models, instruments=(), loading=loading, listener=listener, **how)
    assert {one.note for one in seen} <= {"1 worker", "2 workers"}
    assert parts(tmp_path / "two") == parts(tmp_path / "one")
    tables = {path.split("/")[1] for path in parts(tmp_path / "two")}
    assert tables == {"labels", "likelihoods", "choices", "fills", "replies"}
    one, two = (read_manifest(tmp_path / name) for name in ("one", "two"))
    assert one.models == two.models


@pytest.mark.slow
def test_a_lower_precision_s_deviation_is_a_worker_s(tiny, tmp_path):
    for name, device in (("one", "cpu"), ("two", "cpu,cpu")):
        loading = LoadOptions(device=device, precision="bf16")
        run(tmp_path / name, tiny("roberta"), loading=loading, limit=8)
    one, two = (read_manifest(tmp_path / name).models for name in ("one", "two"))
    assert one == two
    assert next(iter(two.values())).deviation["sentences"] == 8


def test_the_process_that_writes_holds_no_weights(tiny, place):
    """And knows of a model all the same what its tokenizer and its configuration say."""
    bare = LoadOptions(weights=False)
    for family in ("roberta", "bert", "xlnet", "longformer", "bertweet"):
        whole, shape = (load(str(tiny(family)), kind="masked", options=o) for o in (None, bare))
        assert shape.tokens == whole.tokens
        texts = ["It is <mask> for me.", "She is <mask>."]
        assert shape.encode(texts) == whole.encode(texts)
        assert shape.special_ids == whole.special_ids
        assert {one.device.type for one in shape._model.parameters()} == {"meta"}
        assert shape.identity.weights_sha256 is None
        assert shape.identity.tokenizer_sha256 == whole.identity.tokenizer_sha256
    for kind in ("causal", "chat"):
        folder = str(causal(place, chat=kind == "chat"))
        whole, shape = (load(folder, kind=kind, options=o) for o in (None, bare))
        assert shape.encode(["It is so."]) == whole.encode(["It is so."])
        assert shape.next_word.tokens == whole.next_word.tokens
        assert {one.device.type for one in shape._model.parameters()} == {"meta"}


@pytest.mark.slow
def test_workers_that_cannot_load_a_model_are_named_with_their_host(tiny, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(tiny("roberta"), folder)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(ModelError) as refused:
        run(tmp_path / "run", folder, loading=TWO)
    host = socket.gethostname()
    text = str(refused.value)
    assert text.startswith(f"2 of 2 workers cannot load '{folder}'. worker ")
    for number in (1, 2):
        assert f"worker {number} (cpu on {host}): '{folder}' cannot be loaded: " in text


@pytest.mark.slow
def test_no_worker_outlives_the_process_that_writes(tiny, tmp_path):
    arguments = ("audit", tiny("roberta"), "--instrument", "attribution", "--device", "cpu,cpu")
    with Command(*arguments, "--no-report", "--output", tmp_path / "run") as process:
        while not parts(tmp_path / "run"):
            time.sleep(0.05)
        started = children(process.pid)
        assert len(started) == 2
        process.send_signal(signal.SIGKILL)
    ends = time.monotonic() + 60
    while any(Path(f"/proc/{pid}/stat").exists() for pid in started):
        assert time.monotonic() < ends, "a worker goes on for nobody"
        time.sleep(0.1)


def test_a_worker_answers_token_ids_with_arrays_and_says_what_fails(tiny):
    folder = str(tiny("roberta"))
    model = load(folder, kind="masked")
    batch = model.encode(["It is <mask> for me.", "She is <mask>."])
    call = Call(method="fill_batch", arguments={"top_k": 5, "targets": [7]})
    hands = LocalBackend(["cpu"])
    try:
        loading = Loading(calling=Calling(openai_key=None))
        hands.give(0, Load(spec=folder, kind="masked", loading=loading, threads=1))
        assert hands.take().value == model.identity
        hands.give(0, Ask(call=call, batches=[batch]))
        (found,) = hands.take().value
        expected = call.of(model, batch)
        for name in ("token_ids", "probabilities", "targets"):
            assert (getattr(found, name) == getattr(expected, name)).all()
        hands.give(
            0, Ask(call=Call(method="fill_batch", arguments={"top_k": 10**9}), batches=[batch])
        )
        outcome = hands.take()
        assert outcome.value is None
        assert outcome.failure.startswith("top_k is 1000000000, but the vocabulary of")
        os.kill(hands._started[0].pid, signal.SIGKILL)
        assert hands.take().lost == "it was killed by signal 9 (SIGKILL)"
    finally:
        hands.close()


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of others are for Linux")
def test_a_worker_with_too_little_memory_says_so(tiny):
    """A real limit on a real process: 30 MB more than it has, for weights of 60 MB."""
    small, large = str(tiny("bert")), str(tiny("bert", max_position_embeddings=400_000))
    loading = Loading(calling=Calling(openai_key=None))
    hands = LocalBackend(["cpu"])
    try:
        hands.give(0, Load(spec=small, kind="masked", loading=loading, threads=1))
        assert hands.take().failure is None
        worker = hands._started[0].pid
        pages = int(Path(f"/proc/{worker}/statm").read_text().split()[0])
        room = pages * resource.getpagesize() + 30_000_000
        resource.prlimit(worker, resource.RLIMIT_AS, (room, resource.RLIM_INFINITY))
        hands.give(0, Load(spec=large, kind="masked", loading=loading, threads=1))
        said = hands.take().failure
    finally:
        hands.close()
    assert said.startswith(f"'{large}' cannot be loaded: there is not enough memory for its ")


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("cpu,auto", "--device is 'cpu,auto'. Name every device, such as cuda:0,cuda:1, or give "),
        ("cpu,", "There is no device ''. Give auto, cpu, cuda, cuda:0, cuda:1 …"),
        ("cpu,gpu", "There is no device 'gpu'. Give auto, cpu, cuda, cuda:0, cuda:1 …"),
        ("cpu,cuda:99", "Device 'cuda:99' is not available: torch finds "),
    ],
)
def test_devices_that_are_none_are_refused(device, said):
    with pytest.raises(InputError) as refused:
        Executors(LoadOptions(device=device), note=print)
    assert str(refused.value).startswith(said)


def spread(folder, models, *, instruments=("people-sentiment", "attribution"), **how):
    """Several models asked at once: the same files as when they are asked in turn."""
    return run(folder, models, instruments=instruments, **{"limit": 16, **how})


@pytest.fixture(scope="module")
def models(tiny):
    """The first is asked little, the others in three steps of recursive masking."""
    return [tiny("roberta", labels=("negative", "positive")), tiny("bert"), tiny("roberta")]


@pytest.fixture(scope="module")
def in_turn(models, tmp_path_factory):
    folder = tmp_path_factory.mktemp("in-turn") / "run"
    spread(folder, models)
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
    spread(tmp_path / "run", models, loading=TWO, listener=Listener(progress=seen.append))
    assert_same(tmp_path / "run", in_turn)
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
    spread(tmp_path / "run", models, loading=TWO, listener=listener)
    assert len(killed) == 2
    assert_same(tmp_path / "run", in_turn)
    (lost,) = [note for note in notes if note.startswith("Lost worker 1 ")]
    assert lost.endswith("Workers left: 1.")
    assert {spec for worker, spec in loads(given) if worker == 1} == set(map(str, models))


@pytest.mark.slow
def test_with_no_worker_left_a_run_of_several_models_resumes_without(models, in_turn, tmp_path):
    before, folder, killed = children(os.getpid()), tmp_path / "run", []

    def seen(progress):
        if not killed and progress.step == 2 and progress.done >= 64:
            killed.extend(pid for pid in children(os.getpid()) if pid not in before)
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    with pytest.raises(AskingError, match=r"^No worker is left\. "):
        spread(folder, models, loading=TWO, listener=Listener(progress=seen))
    assert 0 < len(parts(folder)) < len(parts(in_turn))
    assert set(parts(folder)) < set(parts(in_turn))
    spread(folder, models, loading=TWO)
    assert_same(folder, in_turn)


@pytest.mark.slow
def test_one_model_that_cannot_be_loaded_stops_the_run_with_its_worker_s_name(models, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(models[2], broken)
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(ModelError) as refused:
        spread(tmp_path / "run", [models[1], broken], instruments=("attribution",), loading=TWO)
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
    spread(folder, models)
    assert parts(folder) == parts(in_turn)


@pytest.mark.slow
def test_paraphrases_are_asked_by_the_workers_that_have_the_model(models, given, tmp_path):
    for name, loading in (("one", None), ("two", TWO)):
        spread(
            tmp_path / name,
            models[1:],
            instruments=("social-distance",),
            limit=150,
            paraphrases=True,
            loading=loading,
        )
    assert any(path.startswith("paraphrases/") for path in parts(tmp_path / "two"))
    assert parts(tmp_path / "two") == parts(tmp_path / "one")
    assert sorted(spec for _, spec in loads(given)) == sorted(map(str, models[1:]))
    assert {worker for worker, _ in loads(given)} == {0, 1}
