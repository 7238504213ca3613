"""Damaged and hostile logs: each is read, or refused in a sentence."""

import io
import json
import random
import shutil
import struct
import zipfile

import polars as pl
import pytest

from goffman.errors import GoffmanError, InputError
from goffman.harness import export_tasks
from goffman.harness.export_tasks import export_task
from goffman.harness.import_run import read_logs
from goffman.harness.logs import LARGEST_FILE, ZSTD
from harness_logs import inspect_log, lm_eval_log
from mutations import mutated
from refusals import message_of

BOMB = b"\x28\xb5\x2f\xfd\x00\x38"
"""How a frame of zstd begins that does not say its size, with a window of 128 KiB."""


def a_few(kinds, form):
    (found,) = export_task(["social-distance"], kinds=kinds, modes=(form,), limit=2)
    return found


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """By name: a folder with one small log."""
    place = tmp_path_factory.mktemp("logs")
    choices, said = (
        a_few(export_tasks.LM_EVAL_KINDS, "choice"),
        a_few(export_tasks.INSPECT_KINDS, "reply"),
    )
    chances = {one.id: {o.label: 0.18 for o in one.options} for one in choices.prompts}
    texts = {one.id: ["A"] for one in said.prompts}
    lm_eval_log(place / "choices", choices, chances)
    lm_eval_log(place / "replies", said, texts)
    for name in ("json", "eval", "zstd"):
        (place / name).mkdir()
    content = inspect_log(place / "json" / "log.json", said, texts).read_bytes()
    header = json.loads(content)
    samples = header.pop("samples")
    (place / "eval" / "log.eval").write_bytes(archive(header, samples))
    (place / "zstd" / "log.eval").write_bytes(archive(header, samples, packed=in_zstd))
    return place


def in_zstd(text):
    buffer = io.BytesIO()
    lines = pl.DataFrame({"line": [text]})
    lines.write_csv(
        buffer, include_header=False, quote_style="never", compression="zstd", check_extension=False
    )
    return buffer.getvalue()


def archive(header, samples, *, packed=None):
    """An .eval archive; ``packed``: how zstd packs a text."""
    files = {f"samples/{number}.json": one for number, one in enumerate(samples)}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in {"header.json": header, **files}.items():
            text = json.dumps(content)
            how = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
            made.writestr(name, packed(text) if packed else text, how)
    return as_zstd(buffer.getvalue()) if packed else buffer.getvalue()


def as_zstd(content):
    """The archive of stored files, all of which are now called packed with zstd."""
    changed = bytearray(content)
    for begins, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        found = content.find(begins)
        while found >= 0:
            struct.pack_into("<H", changed, found + at, ZSTD)
            found = content.find(begins, found + 4)
    return bytes(changed)


def log_in(folder):
    return next(one for one in folder.iterdir() if not one.name.startswith("samples"))


def refused(path, **options):
    return message_of(InputError, read_logs, [path], **options)


@pytest.mark.parametrize("name", ["choices", "replies", "json", "eval", "zstd"])
def test_they_are_read_as_long_as_they_are_sound(name, logs, tmp_path):
    assert read_logs([log_in(logs / name)], output=tmp_path / "run").asked


def damaged(content, draw):
    """The bytes with some of them changed, cut off, or doubled."""
    at = draw.randrange(len(content))
    return draw.choice(
        [
            content[:at] + bytes([draw.randrange(256)]) + content[at + 1 :],
            content[:at],
            content[:at] + content[at : at + 40] * 2 + content[at + 40 :],
        ]
    )


def wrong(content, draw):
    """The JSON text, or each line of one, with something wrong in it somewhere."""
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as made:
            log = json.loads(made.read("header.json"))
            names = [name for name in made.namelist() if name.startswith("samples/")]
            samples = [json.loads(made.read(name)) for name in names]
        if draw.random() < 0.5:
            return archive(mutated(log, draw), samples)
        samples[0] = mutated(samples[0], draw)
        return archive(log, samples)
    lines = content.splitlines()
    at = draw.randrange(len(lines))
    lines[at] = json.dumps(mutated(json.loads(lines[at]), draw)).encode()
    return b"\n".join(lines)


@pytest.mark.parametrize("name", ["choices", "replies", "json", "eval", "zstd"])
def test_nothing_in_a_log_ends_in_anything_but_a_run_or_a_sentence(name, logs, tmp_path):
    draw = random.Random(f"logs {name}")
    told = set()
    for number in range(60):
        folder = tmp_path / str(number)
        shutil.copytree(logs / name, folder)
        file = draw.choice(sorted(folder.iterdir()))
        by_bytes = name == "zstd" or number % 4 == 0
        file.write_bytes((damaged if by_bytes else wrong)(file.read_bytes(), draw))
        try:
            read_logs([log_in(folder)], output=tmp_path / f"run-{number}")
        except GoffmanError as error:
            told.add(str(error).replace(str(folder), ""))
    assert len(told) > 5


def test_a_log_that_unpacks_to_far_more_is_refused(logs, tmp_path):
    log = json.loads((logs / "json" / "log.json").read_text())
    sample = log.pop("samples")[0]
    path = tmp_path / "log.eval"
    path.write_bytes(archive(log, [{**sample, "input": " " * LARGEST_FILE}]))
    said = (
        f"{path} cannot be read: samples/0.json in it unpacks to more than 16,777,216 bytes. Give "
        "a log as inspect_ai wrote it."
    )
    assert refused(path) == said
    # So many blocks of 128 KiB, each of them one byte again and again.
    blocks = [(128 * 1024 << 3 | 2).to_bytes(3, "little") + b" "] * 40_000
    bomb = BOMB + b"".join(blocks) + (1).to_bytes(3, "little")
    files = iter([in_zstd(json.dumps(log)), bomb])
    content = archive(log, [sample], packed=lambda _: next(files))
    assert len(content) < 200_000
    path.write_bytes(content)
    assert refused(path) == said


def test_many_files_that_unpack_to_far_more_are_refused(logs, tmp_path, monkeypatch):
    shutil.copy(logs / "eval" / "log.eval", tmp_path)
    path = tmp_path / "log.eval"
    size = path.stat().st_size
    monkeypatch.setattr("goffman.harness.logs.LARGEST", size)
    assert refused(path) == (
        f"{path} unpacks to more than {size:,} bytes, which is the most that goffman reads. Ask "
        "fewer prompts in one log."
    )


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ("3.2", "a log-probability is 3.2. Allowed: 0 or less."),
        ("NaN", "a log-probability is nan. Allowed: 0 or less."),
        ("0.0", "the probabilities add up to 10, more than 1."),
    ],
)
def test_what_is_no_probability_is_refused(given, what, logs, tmp_path):
    shutil.copytree(logs / "choices", tmp_path / "log")
    samples = next((tmp_path / "log").glob("samples_*"))
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    rows[2]["resps"] = [[[given, "False"]] for _ in rows[2]["resps"]]
    samples.write_text("".join(json.dumps(row) + "\n" for row in rows))
    prompt = rows[2]["doc"]["prompt_id"]
    assert refused(tmp_path / "log") == (
        f"{samples}, line 3, prompt {prompt}: {what} Run lm-eval again with a model that gives "
        "log-probabilities."
    )


def test_members_that_inspect_does_not_write_are_refused(tmp_path):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as made:
        made.writestr("header.json", "{}")
    assert "header.json in it is not packed as inspect_ai does it" in refused(path)
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("header.json", "{}")
    content = bytearray(path.read_bytes())
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    assert "is encrypted" in refused(path)


def test_deep_json_is_refused(tmp_path):
    (tmp_path / "log.json").write_text('{"a":' * 100_000)
    assert "it is damaged (RecursionError" in refused(tmp_path / "log.json")
