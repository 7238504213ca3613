"""Sentences with a mask as chat and causal models are asked them: completed, or written about."""

from __future__ import annotations

from dataclasses import replace

from goffman.instruments.files import TomlFile, TomlTable
from goffman.instruments.text import places, stray_braces
from goffman.instruments.types import MASK, Instrument, Prompt, Questionnaire, SentencePairs

BLANK = "____"
"""How a mask is shown to a model that reads."""

FURTHER_FORMS: dict[str, type] = {"completion": dict, "writing": dict, "writing-controls": dict}
"""The tables of instrument.toml that say how else its sentences are asked."""


def read_completion(toml: TomlFile, content: Questionnaire | SentencePairs) -> str:
    """The question of [completion], or nothing where there is none; faults are noted."""
    table = toml.table("completion")
    if "completion" not in toml.values:
        return ""
    table.require(["question"])
    given = table.take({"question": str})
    if not _are_masked(content, frames=True):
        message = f"[completion] needs sentences with {MASK}, but this instrument has none."
        toml.top().note("completion", message)
    return _with_sentence(table, "question", given.get("question"))


def read_writing(toml: TomlFile, content: Questionnaire | SentencePairs) -> tuple[str, str]:
    """The request of [writing] and what stands for the mask there; empty texts: there is none."""
    table = toml.table("writing")
    if "writing" not in toml.values:
        return "", ""
    table.require(["request", "someone"])
    given = table.take({"request": str, "someone": str})
    if not _are_masked(content, frames=False):
        toml.top().note("writing", f"[writing] needs {MASK} in every item of items.csv.")
    someone = given.get("someone", "")
    table.check_plain("someone", "someone in [writing]", someone)
    return _with_sentence(table, "request", given.get("request")), someone


def _are_masked(content: Questionnaire | SentencePairs, *, frames: bool) -> bool:
    """Whether every item has a mask, or where ``frames`` count every frame around it."""
    if isinstance(content, SentencePairs):
        return False
    around = [wording.frame for wording in content.wordings] if frames else []
    return all(MASK in frame for frame in around or [""]) or all(
        MASK in item.text for item in content.items
    )


def _with_sentence(table: TomlTable, key: str, text: str | None) -> str:
    """A text that has {sentence} once, and no other place."""
    if text is None:
        return ""
    what = f"{key}{table.inside}"
    if places(text) != ["sentence"]:
        table.note(key, f"{what} must contain {{sentence}} exactly once, and no other placeholder.")
    elif stray_braces(text) or MASK in text:
        table.note(key, f"{what} cannot have a stray brace or {MASK}: '{text}'.")
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
