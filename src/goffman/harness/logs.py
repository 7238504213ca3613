"""Read answers from logs of lm-eval and Inspect."""

from __future__ import annotations

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
from goffman.runs.manifest import checksum
from goffman.validation import check_types, fits

LARGEST = 1024**3
"""The most bytes of a log, all its files together, unpacked."""

_SHOWN = 200
"""How many characters of the error in a damaged log are shown."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The answers to one instrument in one mode."""

    note: Note
    options: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Prompt id → the natural logarithm of the probability of each spelling: see choice_row."""
    replies: Mapping[str, tuple[Reply, ...]] = field(default_factory=dict)
    """Prompt id → a reply for each trial."""
    failed: int = 0
    """Number of prompts that the harness asked without an answer."""


@dataclass(frozen=True, kw_only=True)
class Log:
    """One log: a model's answers to some instruments."""

    harness: str
    """lm-eval or inspect_ai."""
    version: str
    path: Path
    sha256: str
    model: str
    """The harness's name for the model."""
    revision: str | None = None
    precision: Precision | None = None
    device: str | None = None
    sampling: Sampling | None = None
    """How replies were drawn; None: the log does not say, or has no replies."""
    answers: tuple[Answers, ...]


def read_log(path: Path) -> Log:
    """Return the log in a file; raise InputError if it is none."""
    raw = content_of(path)
    if raw.startswith(b"PK"):
        return read_inspect(path, unpacked(path, raw), raw)
    try:
        content = json.loads(raw)
    except ValueError as error:
        raise no_log(path, "it is not JSON") from error
    if isinstance(content, dict):
        if "lm_eval_version" in content and isinstance(content.get("configs"), dict):
            return read_lm_eval(path, content, raw)
        if isinstance(content.get("eval"), dict) and "task" in content["eval"]:
            return read_inspect(path, content, raw)
    raise no_log(path, "neither of them writes such a file")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise InputError for any exception in the block: the log cannot be read.

    The log may have been damaged, or made to do harm.
    """
    try:
        yield
    except GoffmanError:
        raise
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"
        raise no_log(path, f"it is damaged ({cause[:_SHOWN]})") from error


def content_of(path: Path, *, before: int = 0) -> bytes:
    """Return the bytes of a file of a log; raise InputError if it cannot be read.

    ``before``: bytes of the log's other files.
    """
    try:
        return read_plain(path, most=max(LARGEST - before, 0))
    except OSError as error:
        raise InputError(str(system_error(error))) from error


def checked_sampling(temperature: Any, max_tokens: Any, top_p: Any) -> Sampling:
    """Return the settings of a log; raise ValueError for one of a wrong type or out of range."""
    sampling = Sampling(temperature=temperature, max_tokens=max_tokens, top_p=top_p)
    check_types(sampling)
    if temperature < 0 or max_tokens < 1 or not (top_p is None or 0 <= top_p <= 1):
        raise ValueError(f"replies cannot be drawn with {sampling}")
    return sampling


def no_log(path: Path, why: str) -> InputError:
    """Return the error that a file is not a readable log."""
    return InputError(
        f"{path} cannot be read as a log of lm-eval or inspect_ai: {why}. Give the folder that "
        "lm-eval wrote with --output_path and --log_samples, its results_….json, or a log file of "
        "inspect_ai."
    )


def not_ours(path: Path) -> InputError:
    """Return the error that a log has no answers to questions of goffman."""
    return InputError(
        f"{path} has no answers to questions that goffman exported. Export them with goffman "
        "export INSTRUMENT --to lm-eval-tasks (or --to inspect), and run the harness on these."
    )


LM_EVAL = "lm-eval"

RESULTS = "results_*.json"

ROUNDING = 0.01
"""How far above 0 a log-probability may be, or above 1 a sum: bfloat16 has two to three digits."""


def read_lm_eval(path: Path, content: Mapping[str, Any], raw: bytes) -> Log:
    """Return the log; raise InputError if its questions are not ours, another error if damaged."""
    files = [raw]
    answers = []
    _check_run(path, content)
    for task, config in content["configs"].items():
        note = Note.of(config.get("metadata"))
        if note is None:
            continue
        samples_path = path.with_name(f"samples_{task}_{path.stem.removeprefix('results_')}.jsonl")
        if not samples_path.is_file():
            raise InputError(
                f"{path} has no samples next to it ({samples_path.name}). Run lm-eval again with "
                "--log_samples."
            )
        samples = content_of(samples_path, before=sum(map(len, files)))
        files.append(samples)
        with reading(samples_path):
            answers.append(_lm_eval_answers(note, samples, samples_path))
    if not answers:
        raise not_ours(path)
    run_config = content["config"]
    dtype = str(run_config.get("model_dtype")).removeprefix("torch.")
    precision = {"bfloat16": "bf16", "float16": "fp16"}.get(dtype, dtype)
    return Log(
        harness=LM_EVAL,
        version=str(content["lm_eval_version"]),
        path=path,
        sha256=checksum(b"".join(files)),
        model=str(content["model_name"]),
        revision=run_config.get("model_sha") or None,
        precision=next((name for name in get_args(Precision) if name == precision), None),
        device=run_config.get("device"),
        sampling=_lm_eval_sampling(content) if any(part.replies for part in answers) else None,
        answers=tuple(answers),
    )


def _check_run(path: Path, content: Mapping[str, Any]) -> None:
    """Raise InputError if the questions were asked in another way than goffman asks them."""
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
        prompt_id, responses = str(sample["doc"]["prompt_id"]), sample["resps"]
        if prompt_id in options or prompt_id in replies:
            raise InputError(f"{path} has the prompt {prompt_id} of {note.instrument} twice.")
        if isinstance(responses[0][0], str):
            replies[prompt_id] = tuple(
                Reply(text=text, finish_reason=None) for text in responses[0]
            )
            for reply in replies[prompt_id]:
                check_types(reply)
        else:
            # In lm-eval's form: each beside whether it was the greatest.
            options[prompt_id] = tuple(float(trials[0][0]) for trials in responses)
            _check_probabilities(options[prompt_id], f"{path}, line {number}, prompt {prompt_id}")
    return Answers(note=note, options=options, replies=replies)


def _check_probabilities(logarithms: Sequence[float], where: str) -> None:
    """Raise InputError if these cannot be logarithms of the probabilities of different texts."""
    advice = "Run lm-eval again with a model that gives log-probabilities."
    for logarithm in logarithms:
        if math.isnan(logarithm) or logarithm > ROUNDING:
            raise InputError(
                f"{where}: a log-probability is {logarithm}. Allowed: 0 or less. {advice}"
            )
    if (total := sum(map(math.exp, logarithms))) > 1 + ROUNDING:
        raise InputError(f"{where}: the probabilities add up to {total:.3g}, more than 1. {advice}")


def _lm_eval_sampling(content: Mapping[str, Any]) -> Sampling | None:
    """Return the settings with which replies were drawn; None if they differ between tasks."""
    overrides = content["config"].get("gen_kwargs") or {}
    samplings = set()
    for config in content["configs"].values():
        if settings := {**(config.get("generation_kwargs") or {}), **overrides}:
            is_sampled = settings.get("do_sample", True)
            max_tokens = settings.get(
                "max_gen_toks", settings.get("max_tokens", Sampling().max_tokens)
            )
            temperature = settings.get("temperature", 1.0) if is_sampled else 0.0
            samplings.add(checked_sampling(temperature, max_tokens, settings.get("top_p")))
    return samplings.pop() if len(samplings) == 1 else None


INSPECT = "inspect_ai"

ZSTD = 93
"""The number by which a zip archive marks a file in it as packed with zstd."""

FRAME, SKIPPED = 0xFD2FB528, 0x184D2A50
"""How a frame of zstd begins, and a frame to be skipped, but for its last four bits."""

REPEATED, COMPRESSED, BLOCK = 1, 2, 128 * 1024
"""Kinds of blocks in a frame (one repeated byte; compressed), and the largest size of a block."""

LARGEST_FILE = 16 * 1024**2
"""The most bytes of one file of an archive, unpacked: a sample is a question and its answer."""

ENDED = {"stop": "stop", "max_tokens": "length", "content_filter": "content_filter"}
"""Why a reply ended, in the words of inspect_ai → of servers; any other word stays as it is."""


def unpacked(path: Path, raw: bytes) -> dict[str, Any]:
    """Return the content of an .eval archive as that of a JSON log, reading samples one by one."""
    archive = zipfile.ZipFile(io.BytesIO(raw))
    if "header.json" not in archive.namelist():
        raise no_log(path, "it has no header.json, because inspect_ai did not finish it")
    header = json.loads(_unpacked(archive, "header.json", raw, path))
    samples, remaining = [], LARGEST
    for name in archive.namelist():
        if name.startswith("samples/"):
            text = _unpacked(archive, name, raw, path)
            if (remaining := remaining - len(text)) < 0:
                raise InputError(
                    f"{path} unpacks to more than {LARGEST:,} bytes, which is the most that "
                    "goffman reads. Ask fewer prompts in one log."
                )
            samples.append(json.loads(text))
    return {**header, "samples": samples}


def _unpacked(archive: zipfile.ZipFile, name: str, raw: bytes, path: Path) -> bytes:
    """Return a file of an archive; zipfile knows inspect_ai's zstd only from Python 3.14 on."""
    info = archive.getinfo(name)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, ZSTD):
        raise no_log(path, f"{name} in it is not packed as inspect_ai does it")
    too_large = InputError(
        f"{path} cannot be read: {name} in it unpacks to more than {LARGEST_FILE:,} bytes. Give a "
        "log as inspect_ai wrote it."
    )
    if info.compress_type != ZSTD:
        with archive.open(name) as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise too_large
        return content
    # The packed bytes lie after a header of 30 bytes, the name, and further fields.
    lengths = struct.unpack_from("<HH", raw, info.header_offset + 26)
    begin = info.header_offset + 30 + sum(lengths)
    packed = raw[begin : begin + info.compress_size]
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
    """Return the most bytes that ``packed`` can unpack to, by its block headers (RFC 8878)."""
    size = position = 0
    while position < len(packed):
        magic, length = struct.unpack_from("<II", packed, position)
        if magic & ~0xF == SKIPPED:
            position += 8 + length
            continue
        if magic != FRAME:
            raise ValueError("what should be packed with zstd is not")
        descriptor = packed[position + 4]
        single = descriptor >> 5 & 1
        # In the frame's header, window size, dictionary and content size may be left out.
        position += 6 - single + (0, 1, 2, 4)[descriptor & 3] + (single, 2, 4, 8)[descriptor >> 6]
        last = 0
        while not last:
            header = int.from_bytes(packed[position : position + 3], "little")
            last, kind, length = header & 1, header >> 1 & 3, header >> 3
            size += BLOCK if kind == COMPRESSED else length
            position += 3 + (1 if kind == REPEATED else length)
            if position > len(packed):
                raise ValueError("what is packed with zstd is cut off")
        position += 4 * (descriptor >> 2 & 1)
    return size


def read_inspect(path: Path, content: Mapping[str, Any], raw: bytes) -> Log:
    """Return the log; raise InputError if its questions are not ours, another error if damaged."""
    evaluation = content["eval"]
    note = Note.of((evaluation.get("metadata") or {}).get("goffman"))
    if note is None:
        raise not_ours(path)
    config = {**evaluation.get("model_generate_config", {}), **content["plan"].get("config", {})}
    if config.get("system_message"):
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
    if config.get("temperature") is not None and config.get("max_tokens") is not None:
        sampling = checked_sampling(
            config["temperature"], config["max_tokens"], config.get("top_p")
        )
    return Log(
        harness=INSPECT,
        version=str(evaluation["packages"]["inspect_ai"]),
        path=path,
        sha256=checksum(raw),
        model=str(evaluation["model"]),
        sampling=sampling,
        answers=(_inspect_answers(note, content["samples"], path),),
    )


def _inspect_answers(note: Note, samples: Iterable[Mapping[str, Any]], path: Path) -> Answers:
    replies_by_prompt: dict[str, dict[int, Reply]] = {}
    failed: set[str] = set()
    for sample in samples:
        prompt_id, trial = str(sample["id"]), sample["epoch"]
        if not fits(trial, int):
            raise ValueError(f"the epoch of {prompt_id} is {trial}")
        choices = sample["output"].get("choices") or ()
        if sample.get("error") or not choices:
            failed.add(prompt_id)
        elif trial in replies_by_prompt.setdefault(prompt_id, {}):
            raise InputError(f"{path} has the prompt {prompt_id} of {note.instrument} twice.")
        else:
            replies_by_prompt[prompt_id][trial] = _reply(sample["output"])
    replies = {
        prompt_id: tuple(by_trial[trial] for trial in sorted(by_trial))
        for prompt_id, by_trial in replies_by_prompt.items()
        if prompt_id not in failed
    }
    return Answers(note=note, replies=replies, failed=len(failed))


def _reply(output: Mapping[str, Any]) -> Reply:
    (choice,) = output["choices"]
    usage = output.get("usage") or {}
    content = choice["message"]["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    reasoning = "".join(part["reasoning"] for part in parts if part["type"] == "reasoning")
    reason = str(choice["stop_reason"])
    reply = Reply(
        text="".join(part["text"] for part in parts if part["type"] == "text"),
        finish_reason=ENDED.get(reason, reason),
        prompt_tokens=usage.get("input_tokens"),
        completion_tokens=usage.get("output_tokens"),
        served_by=output.get("model"),
        reasoning=reasoning or None,
    )
    check_types(reply)
    return reply
