"""A log of inspect_ai: one JSON file, or the .eval archive with a JSON file for each sample."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from goffman.errors import InputError
from goffman.harnesses.handed import Note
from goffman.harnesses.logs import Answers, Log, checksum, no_log, not_ours
from goffman.models.base import Reply, Sampling

HARNESS = "inspect_ai"

ZSTD = 93
"""How a zip archive says that a file in it is packed with zstd."""

ENDED = {"stop": "stop", "max_tokens": "length", "content_filter": "content_filter"}
"""Why a reply ended, as inspect_ai says it → as servers do; any other word stays as it is."""


def is_inspect(content: Mapping[str, Any]) -> bool:
    """Whether this is what inspect_ai writes as its log."""
    return isinstance(content.get("eval"), dict) and "task" in content["eval"]


def unpacked(path: Path, raw: bytes) -> dict[str, Any]:
    """The content of an .eval archive as that of a JSON log."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            names = archive.namelist()
            if "header.json" not in names:
                raise no_log(path, "it has no header.json, as inspect_ai has not finished it")
            header = json.loads(_unpacked(archive, "header.json", raw))
            header["samples"] = [
                json.loads(_unpacked(archive, name, raw))
                for name in names
                if name.startswith("samples/")
            ]
    except (zipfile.BadZipFile, pl.exceptions.PolarsError, struct.error, ValueError) as error:
        raise no_log(path, f"it is damaged ({error})") from error
    return dict(header)


def _unpacked(archive: zipfile.ZipFile, name: str, raw: bytes) -> str:
    """A file of an archive; inspect_ai packs with zstd, which zipfile knows from Python 3.14 on."""
    told = archive.getinfo(name)
    if told.compress_type != ZSTD:
        return archive.read(name).decode()
    # The packed bytes lie after a header of 30 bytes, the name, and further fields.
    lengths = struct.unpack_from("<HH", raw, told.header_offset + 26)
    begin = told.header_offset + 30 + sum(lengths)
    packed = raw[begin : begin + told.compress_size]
    # Polars unpacks what it reads: here lines of one column. No line of JSON has such a separator.
    lines = pl.read_csv(
        packed,
        has_header=False,
        separator="\x1f",
        quote_char=None,
        schema={"line": pl.String},
    )
    return "\n".join(lines["line"].fill_null(""))


def read_inspect(path: Path, content: Mapping[str, Any], raw: bytes) -> Log:
    """The log; InputError where it is damaged, or of other questions."""
    try:
        about = content["eval"]
        note = Note.of((about.get("metadata") or {}).get("goffman"))
        if note is None:
            raise not_ours(path)
        drawn = {**about.get("model_generate_config", {}), **content["plan"].get("config", {})}
        if drawn.get("system_message"):
            raise InputError(
                f"{path} was made with a system prompt (--system-message), which goffman's "
                "questions do not have. Run inspect eval again without it."
            )
        return Log(
            harness=HARNESS,
            version=str(about["packages"]["inspect_ai"]),
            path=path,
            sha256=checksum(raw),
            model=str(about["model"]),
            sampling=_sampling(drawn),
            answers=(_answers(note, content.get("samples") or (), path),),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise no_log(path, f"{type(error).__name__}: {error}") from error


def _answers(note: Note, samples: Iterable[Mapping[str, Any]], path: Path) -> Answers:
    found: dict[str, dict[int, Reply]] = {}
    failed: set[str] = set()
    for sample in samples:
        prompt, trial = str(sample["id"]), int(sample["epoch"])
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
    text, reasoning = _said(choice["message"]["content"])
    ended = str(choice["stop_reason"])
    return Reply(
        text=text,
        finish_reason=ENDED.get(ended, ended),
        prompt_tokens=usage.get("input_tokens"),
        completion_tokens=usage.get("output_tokens"),
        served_by=output.get("model"),
        reasoning=reasoning,
    )


def _said(content: str | list[Mapping[str, Any]]) -> tuple[str, str | None]:
    """The reply's text, and what the model said to itself before."""
    if isinstance(content, str):
        return content, None
    text = "".join(part["text"] for part in content if part["type"] == "text")
    reasoning = "".join(part["reasoning"] for part in content if part["type"] == "reasoning")
    return text, reasoning or None


def _sampling(drawn: Mapping[str, Any]) -> Sampling | None:
    if drawn.get("temperature") is None or drawn.get("max_tokens") is None:
        return None
    return Sampling(
        temperature=float(drawn["temperature"]),
        max_tokens=int(drawn["max_tokens"]),
        top_p=drawn.get("top_p"),
    )
