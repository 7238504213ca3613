"""A log of lm-evaluation-harness: results_….json, and samples_….jsonl of each task beside it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from goffman.errors import InputError
from goffman.harnesses.handed import Note
from goffman.harnesses.logs import Answers, Log, checksum, content_of, no_log, not_ours
from goffman.models.base import Precision, Reply, Sampling

HARNESS = "lm-eval"

RESULTS = "results_*.json"


def results_in(folder: Path) -> list[Path]:
    """The results that lie in a folder, or in its folders."""
    return sorted(folder.rglob(RESULTS))


def is_lm_eval(content: Mapping[str, Any]) -> bool:
    """Whether this is what lm-eval writes as its results."""
    return "lm_eval_version" in content and isinstance(content.get("configs"), dict)


def read_lm_eval(path: Path, content: Mapping[str, Any], raw: bytes) -> Log:
    """The log; InputError where it is damaged, or of other questions."""
    files = [raw]
    answers = []
    try:
        _check_run(path, content)
        for task, config in content["configs"].items():
            note = Note.of(config.get("metadata"))
            if note is None:
                continue
            samples = content_of(_samples(path, task))
            files.append(samples)
            answers.append(_answers(note, samples, path))
        if not answers:
            raise not_ours(path)
        told = content["config"]
        return Log(
            harness=HARNESS,
            version=str(content["lm_eval_version"]),
            path=path,
            sha256=checksum(*files),
            model=str(content["model_name"]),
            revision=told.get("model_sha") or None,
            precision=_precision(told.get("model_dtype")),
            device=told.get("device"),
            sampling=_sampling(content) if any(one.replies for one in answers) else None,
            answers=tuple(answers),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise no_log(path, f"{type(error).__name__}: {error}") from error


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


def _samples(path: Path, task: str) -> Path:
    """The file with a task's samples; InputError where there is none."""
    when = path.stem.removeprefix("results_")
    samples = path.with_name(f"samples_{task}_{when}.jsonl")
    if not samples.is_file():
        raise InputError(
            f"{path} has no samples beside it ({samples.name}). Run lm-eval again with "
            "--log_samples."
        )
    return samples


def _answers(note: Note, samples: bytes, path: Path) -> Answers:
    options: dict[str, tuple[float, ...]] = {}
    replies: dict[str, tuple[Reply, ...]] = {}
    for prompt, found in _by_prompt(samples):
        if prompt in options or prompt in replies:
            raise InputError(f"{path} has the prompt {prompt} of {note.instrument} twice.")
        if isinstance(found[0][0], str):
            replies[prompt] = tuple(Reply(text=text, finish_reason=None) for text in found[0])
        else:
            options[prompt] = tuple(_logarithm(trials[0]) for trials in found)
    return Answers(note=note, options=options, replies=replies)


def _by_prompt(samples: bytes) -> Iterator[tuple[str, list[list[Any]]]]:
    """The id of each prompt, and by request and trial what lm-eval got for it."""
    for line in samples.splitlines():
        sample = json.loads(line)
        yield sample["doc"]["prompt_id"], sample["resps"]


def _logarithm(response: Any) -> float:
    """Of a probability, as lm-eval has it: beside whether it was the greatest."""
    found = float(response[0])
    if math.isnan(found):
        raise ValueError("a probability is not a number")
    return found


def _precision(told: object) -> Precision | None:
    short = str(told).removeprefix("torch.")
    named = {"bfloat16": "bf16", "float16": "fp16"}.get(short, short)
    return next((one for one in get_args(Precision) if one == named), None)


def _sampling(content: Mapping[str, Any]) -> Sampling | None:
    """How replies were drawn; None: not all in the same way."""
    given = content["config"].get("gen_kwargs") or {}
    ways = set()
    for config in content["configs"].values():
        if told := {**(config.get("generation_kwargs") or {}), **given}:
            drawn = told.get("do_sample", True)
            most = told.get("max_gen_toks", told.get("max_tokens", Sampling().max_tokens))
            ways.add(
                Sampling(
                    temperature=float(told.get("temperature", 1.0)) if drawn else 0.0,
                    max_tokens=int(most),
                    top_p=told.get("top_p"),
                )
            )
    return ways.pop() if len(ways) == 1 else None
