"""Sentences with a mask as chat and causal models are asked them: completed, or written about."""

from __future__ import annotations

from dataclasses import replace

from goffman.instruments.files import Faults, TomlFile
from goffman.instruments.text import places, stray_braces
from goffman.instruments.types import (
    MASK,
    Instrument,
    Prompt,
    Questionnaire,
    SentencePairs,
)

BLANK = "____"
"""How a mask is shown to a model that reads."""

FURTHER_FORMS: dict[str, type] = {"completion": dict, "writing": dict, "writing-controls": dict}
"""The tables of instrument.toml that say how else its sentences are asked."""


def read_completion(toml: TomlFile, content: Questionnaire | SentencePairs, faults: Faults) -> str:
    """The question of [completion], or nothing where there is none; faults are noted."""
    table = toml.table("completion")
    if "completion" not in toml.values:
        return ""
    table.require(["question"], faults)
    given = table.take({"question": str}, faults)
    if not _are_masked(content, frames=True):
        message = f"[completion] needs sentences with {MASK}, but this instrument has none."
        faults.add(toml.name, toml.top().lines.get("completion"), message)
    return _with_sentence(toml, "completion", "question", given.get("question"), faults)


def read_writing(
    toml: TomlFile, content: Questionnaire | SentencePairs, faults: Faults
) -> tuple[str, str]:
    """The request of [writing] and what stands for the mask there; empty texts: there is none."""
    table = toml.table("writing")
    if "writing" not in toml.values:
        return "", ""
    table.require(["request", "someone"], faults)
    given = table.take({"request": str, "someone": str}, faults)
    if not _are_masked(content, frames=False):
        message = f"[writing] needs {MASK} in every item of items.csv."
        faults.add(toml.name, toml.top().lines.get("writing"), message)
    someone = given.get("someone", "")
    faults.check_plain(
        toml.name, table.lines.get("someone"), what="someone in [writing]", text=someone
    )
    return _with_sentence(toml, "writing", "request", given.get("request"), faults), someone


def _are_masked(content: Questionnaire | SentencePairs, *, frames: bool) -> bool:
    """Whether every item has a mask, or where ``frames`` count every frame around it."""
    if isinstance(content, SentencePairs):
        return False
    around = [wording.frame for wording in content.wordings] if frames else []
    return all(MASK in frame for frame in around or [""]) or all(
        MASK in item.text for item in content.items
    )


def _with_sentence(toml: TomlFile, table: str, key: str, text: str | None, faults: Faults) -> str:
    """A text that has {sentence} once, and no other place."""
    if text is None:
        return ""
    row, what = toml.table(table).lines.get(key), f"{key} in [{table}]"
    if places(text) != ["sentence"]:
        faults.add(
            toml.name, row, f"{what} must contain {{sentence}} exactly once, and no other place."
        )
    elif stray_braces(text) or MASK in text:
        faults.add(toml.name, row, f"{what} cannot have a stray brace or {MASK}: '{text}'.")
    return text


def completed(instrument: Instrument, prompt: Prompt) -> Prompt:
    """A prompt with a mask as a question that shows the blank, and a reply begun up to it."""
    before, _, _ = prompt.text.partition(MASK)
    return replace(
        prompt,
        text=instrument.completion.replace("{sentence}", prompt.text.replace(MASK, BLANK)),
        prefill=before.rstrip(),
    )


def written(instrument: Instrument, prompt: Prompt) -> Prompt:
    """A prompt with a mask as a request to write a sentence about whoever stands there."""
    about = prompt.text.replace(MASK, instrument.someone)
    return replace(prompt, text=instrument.writing.replace("{sentence}", about))
