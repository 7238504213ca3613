"""Logs of lm-eval and Inspect → answers."""

from __future__ import annotations

import hashlib
import io
import json
import math
import struct
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import polars as pl

from goffman.errors import GoffmanError, InputError, system_error
from goffman.harness.export_tasks import Note
from goffman.instruments.files import read_plain
from goffman.models.base import Precision, Reply, Sampling
from goffman.validation import check_types, fits

LARGEST = 1024**3
"""Bytes of a log, all its files together, unpacked."""

_SHOWN = 200
"""Characters of what is told of a damaged log."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The answers to one instrument in one mode."""

    note: Note
    options: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Prompt id → the natural logarithm of the probability of each spelling: see rows.py."""
    replies: Mapping[str, tuple[Reply, ...]] = field(default_factory=dict)
    """Prompt id → a reply for each trial."""
    failed: int = 0
    """Prompts that the harness asked and has no answer to."""


@dataclass(frozen=True, kw_only=True)
class Log:
    """One log: a model's answers to some instruments."""

    harness: str
    """lm-eval or inspect_ai."""
    version: str
    path: Path
    sha256: str
    model: str
    """As the harness names it."""
    revision: str | None = None
    precision: Precision | None = None
    device: str | None = None
    sampling: Sampling | None = None
    """How replies were drawn; None: it does not say, or there are none."""
    answers: tuple[Answers, ...]


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Whatever a log makes Python raise is told: it may have been damaged, or made to do harm."""
    try:
        yield
    except GoffmanError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise no_log(path, f"it is damaged ({what[:_SHOWN]})") from error


def content_of(path: Path, *, before: int = 0) -> bytes:
    """The bytes of a file of a log; InputError where it cannot be read.

    ``before``: bytes of the log's other files.
    """
    try:
        return read_plain(path, most=max(LARGEST - before, 0))
    except OSError as error:
        raise InputError(str(system_error(error))) from error


def checked_sampling(temperature: Any, max_tokens: Any, top_p: Any) -> Sampling:
    """How replies were drawn; ValueError where none can be drawn so."""
    found = Sampling(temperature=temperature, max_tokens=max_tokens, top_p=top_p)
    check_types(found)
    return found


def checksum(*contents: bytes) -> str:
    """The sha256 of the files of a log together."""
    return hashlib.sha256(b"".join(contents)).hexdigest()


def no_log(path: Path, why: str) -> InputError:
    """The error that a file is no log that can be read."""
    return InputError(
        f"{path} cannot be read as a log of lm-eval or inspect_ai: {why}. Give the folder that "
        "lm-eval wrote with --output_path and --log_samples, its results_….json, or a log file of "
        "inspect_ai."
    )


def not_ours(path: Path) -> InputError:
    """The error that a log has no answers to questions of goffman."""
    return InputError(
        f"{path} has no answers to questions that goffman exported. Export them with goffman "
        "export INSTRUMENT --to lm-eval-tasks (or --to inspect), and run the harness on these."
    )


LM_EVAL = "lm-eval"

RESULTS = "results_*.json"

ROUNDING = 0.01
"""How far above 0 a log-probability may be, or above 1 a sum: bfloat16 has two to three digits."""


def is_lm_eval(content: Mapping[str, Any]) -> bool:
    """Whether this is what lm-eval writes as its results."""
    return "lm_eval_version" in content and isinstance(content.get("configs"), dict)


def read_lm_eval(path: Path, content: Mapping[str, Any], raw: bytes) -> Log:
    """The log; an error where it is damaged, InputError where it is of other questions."""
    files = [raw]
    answers = []
    _check_run(path, content)
    for task, config in content["configs"].items():
        note = Note.of(config.get("metadata"))
        if note is None:
            continue
        place = path.with_name(f"samples_{task}_{path.stem.removeprefix('results_')}.jsonl")
        if not place.is_file():
            raise InputError(
                f"{path} has no samples next to it ({place.name}). Run lm-eval again with "
                "--log_samples."
            )
        samples = content_of(place, before=sum(map(len, files)))
        files.append(samples)
        with reading(place):
            answers.append(_lm_eval_answers(note, samples, place))
    if not answers:
        raise not_ours(path)
    told = content["config"]
    dtype = str(told.get("model_dtype")).removeprefix("torch.")
    precision = {"bfloat16": "bf16", "float16": "fp16"}.get(dtype, dtype)
    return Log(
        harness=LM_EVAL,
        version=str(content["lm_eval_version"]),
        path=path,
        sha256=checksum(*files),
        model=str(content["model_name"]),
        revision=told.get("model_sha") or None,
        precision=next((one for one in get_args(Precision) if one == precision), None),
        device=told.get("device"),
        sampling=_lm_eval_sampling(content) if any(one.replies for one in answers) else None,
        answers=tuple(answers),
    )


def _check_run(path: Path, content: Mapping[str, Any]) -> None:
    """InputError where the questions were put in another way than goffman puts them."""
    if content.get("system_instruction"):
        raise InputError(
            f"{path} was made with a system prompt (--system_instruction), which goffman's "
            "questions do not have. Run lm-eval again without it."
        )
    if shots := {task: n for task, n in content.get("n-shot", {}).items() if n}:
        task, count = next(iter(shots.items()))
        raise InputError(
            f"{path} was made with {count} examples before each question of {task} "
            "(--num_fewshot). Run lm-eval again without them."
        )


def _lm_eval_answers(note: Note, samples: bytes, path: Path) -> Answers:
    options: dict[str, tuple[float, ...]] = {}
    replies: dict[str, tuple[Reply, ...]] = {}
    for number, line in enumerate(samples.splitlines(), start=1):
        sample = json.loads(line)
        prompt, found = str(sample["doc"]["prompt_id"]), sample["resps"]
        if prompt in options or prompt in replies:
            raise InputError(f"{path} has the prompt {prompt} of {note.instrument} twice.")
        if isinstance(found[0][0], str):
            replies[prompt] = tuple(Reply(text=text, finish_reason=None) for text in found[0])
            for reply in replies[prompt]:
                check_types(reply)
        else:
            # As lm-eval has them: each beside whether it was the greatest.
            options[prompt] = tuple(float(trials[0][0]) for trials in found)
            _check_probabilities(options[prompt], f"{path}, line {number}, prompt {prompt}")
    return Answers(note=note, options=options, replies=replies)


def _check_probabilities(logarithms: Sequence[float], where: str) -> None:
    """InputError where these cannot be the logarithms of the probabilities of texts that differ."""
    todo = "Run lm-eval again with a model that gives log-probabilities."
    for one in logarithms:
        if math.isnan(one) or one > ROUNDING:
            raise InputError(f"{where}: a log-probability is {one}. Allowed: 0 or less. {todo}")
    if (total := sum(map(math.exp, logarithms))) > 1 + ROUNDING:
        raise InputError(f"{where}: the probabilities add up to {total:.3g}, more than 1. {todo}")


def _lm_eval_sampling(content: Mapping[str, Any]) -> Sampling | None:
    """How replies were drawn; None: not all in the same way."""
    given = content["config"].get("gen_kwargs") or {}
    ways = set()
    for config in content["configs"].values():
        if told := {**(config.get("generation_kwargs") or {}), **given}:
            drawn = told.get("do_sample", True)
            most = told.get("max_gen_toks", told.get("max_tokens", Sampling().max_tokens))
            warmth = told.get("temperature", 1.0) if drawn else 0.0
            ways.add(checked_sampling(warmth, most, told.get("top_p")))
    return ways.pop() if len(ways) == 1 else None


INSPECT = "inspect_ai"

ZSTD = 93
"""How a zip archive says that a file in it is packed with zstd."""

FRAME, SKIPPED = 0xFD2FB528, 0x184D2A50
"""How a frame of zstd begins, and one that is to be skipped but for the last four bits."""

REPEATED, COMPRESSED, BLOCK = 1, 2, 128 * 1024
"""Kinds of blocks in a frame (one byte again and again; compressed), and how large one can be."""

LARGEST_FILE = 16 * 1024**2
"""Bytes of one file of an archive, unpacked: a sample is a question and its answer."""

ENDED = {"stop": "stop", "max_tokens": "length", "content_filter": "content_filter"}
"""Why a reply ended, as inspect_ai says it → as servers do; any other word stays as it is."""


def is_inspect(content: Mapping[str, Any]) -> bool:
    """Whether this is what inspect_ai writes as its log."""
    return isinstance(content.get("eval"), dict) and "task" in content["eval"]


def unpacked(path: Path, raw: bytes) -> dict[str, Any]:
    """The content of an .eval archive as that of a JSON log, whose samples come one by one."""
    archive = zipfile.ZipFile(io.BytesIO(raw))
    if "header.json" not in archive.namelist():
        raise no_log(path, "it has no header.json, because inspect_ai did not finish it")
    header = json.loads(_unpacked(archive, "header.json", raw, path))
    samples, left = [], LARGEST
    for name in archive.namelist():
        if name.startswith("samples/"):
            text = _unpacked(archive, name, raw, path)
            if (left := left - len(text)) < 0:
                raise InputError(
                    f"{path} unpacks to more than {LARGEST:,} bytes, which is the most that "
                    "goffman reads. Ask fewer prompts in one log."
                )
            samples.append(json.loads(text))
    return {**header, "samples": samples}


def _unpacked(archive: zipfile.ZipFile, name: str, raw: bytes, path: Path) -> bytes:
    """A file of an archive; inspect_ai packs with zstd, which zipfile knows from Python 3.14 on."""
    told = archive.getinfo(name)
    if told.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, ZSTD):
        raise no_log(path, f"{name} in it is not packed as inspect_ai does it")
    too_large = InputError(
        f"{path} cannot be read: {name} in it unpacks to more than {LARGEST_FILE:,} bytes. Give a "
        "log as inspect_ai wrote it."
    )
    if told.compress_type != ZSTD:
        with archive.open(name) as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise too_large
        return content
    # The packed bytes lie after a header of 30 bytes, the name, and further fields.
    lengths = struct.unpack_from("<HH", raw, told.header_offset + 26)
    begin = told.header_offset + 30 + sum(lengths)
    packed = raw[begin : begin + told.compress_size]
    if _zstd_size(packed) > LARGEST_FILE:
        raise too_large
    # Polars unpacks what it reads: here lines of one column. No line of JSON has such a separator.
    lines = pl.read_csv(
        packed,
        has_header=False,
        separator="\x1f",
        quote_char=None,
        schema={"line": pl.String},
    )
    return "\n".join(lines["line"].fill_null("")).encode()


def _zstd_size(packed: bytes) -> int:
    """The most bytes that this can unpack to, as the headers of its blocks say (RFC 8878)."""
    size = at = 0
    while at < len(packed):
        magic, length = struct.unpack_from("<II", packed, at)
        if magic & ~0xF == SKIPPED:
            at += 8 + length
            continue
        if magic != FRAME:
            raise ValueError("what should be packed with zstd is not")
        about = packed[at + 4]
        single = about >> 5 & 1
        # The frame's header: its size of window, dictionary and size of content may be left out.
        at += 6 - single + (0, 1, 2, 4)[about & 3] + (single, 2, 4, 8)[about >> 6]
        last = 0
        while not last:
            header = int.from_bytes(packed[at : at + 3], "little")
            last, kind, length = header & 1, header >> 1 & 3, header >> 3
            size += BLOCK if kind == COMPRESSED else length
            at += 3 + (1 if kind == REPEATED else length)
            if at > len(packed):
                raise ValueError("what is packed with zstd is cut off")
        at += 4 * (about >> 2 & 1)
    return size


def read_inspect(path: Path, content: Mapping[str, Any], raw: bytes) -> Log:
    """The log; an error where it is damaged, InputError where it is of other questions."""
    about = content["eval"]
    note = Note.of((about.get("metadata") or {}).get("goffman"))
    if note is None:
        raise not_ours(path)
    drawn = {**about.get("model_generate_config", {}), **content["plan"].get("config", {})}
    if drawn.get("system_message"):
        raise InputError(
            f"{path} was made with a system prompt (--system-message), which goffman's questions "
            "do not have. Run inspect eval again without it."
        )
    if not content.get("samples"):
        raise InputError(
            f"{path} holds no samples (its status is '{content.get('status', 'unknown')}'), so "
            f"there is nothing to read. Ask again: inspect eval-retry {path}"
        )
    sampling = None
    if drawn.get("temperature") is not None and drawn.get("max_tokens") is not None:
        sampling = checked_sampling(drawn["temperature"], drawn["max_tokens"], drawn.get("top_p"))
    return Log(
        harness=INSPECT,
        version=str(about["packages"]["inspect_ai"]),
        path=path,
        sha256=checksum(raw),
        model=str(about["model"]),
        sampling=sampling,
        answers=(_inspect_answers(note, content["samples"], path),),
    )


def _inspect_answers(note: Note, samples: Iterable[Mapping[str, Any]], path: Path) -> Answers:
    found: dict[str, dict[int, Reply]] = {}
    failed: set[str] = set()
    for sample in samples:
        prompt, trial = str(sample["id"]), sample["epoch"]
        if not fits(trial, int):
            raise ValueError(f"the epoch of {prompt} is {trial}")
        choices = sample["output"].get("choices") or ()
        if sample.get("error") or not choices:
            failed.add(prompt)
        elif trial in found.setdefault(prompt, {}):
            raise InputError(f"{path} has the prompt {prompt} of {note.instrument} twice.")
        else:
            found[prompt][trial] = _reply(sample["output"])
    replies = {
        prompt: tuple(of_prompt[trial] for trial in sorted(of_prompt))
        for prompt, of_prompt in found.items()
        if prompt not in failed
    }
    return Answers(note=note, replies=replies, failed=len(failed))


def _reply(output: Mapping[str, Any]) -> Reply:
    (choice,) = output["choices"]
    usage = output.get("usage") or {}
    content = choice["message"]["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    reasoning = "".join(part["reasoning"] for part in parts if part["type"] == "reasoning")
    ended = str(choice["stop_reason"])
    reply = Reply(
        text="".join(part["text"] for part in parts if part["type"] == "text"),
        finish_reason=ENDED.get(ended, ended),
        prompt_tokens=usage.get("input_tokens"),
        completion_tokens=usage.get("output_tokens"),
        served_by=output.get("model"),
        reasoning=reasoning or None,
    )
    check_types(reply)
    return reply
