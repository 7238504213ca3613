"""Sentences with a mask for chat and causal models: to be completed, or to be written about."""

from __future__ import annotations

from dataclasses import replace

from goffman.instruments.fields import TABLE, Field, Fields
from goffman.instruments.files import TomlFile
from goffman.instruments.types import MASK, Instrument, Prompt, Questionnaire, SentencePairs

BLANK = "____"
"""The blank shown in place of a mask."""

SENTENCE = Field(required=True, places=["sentence"])
FURTHER_FORMS: Fields = {"completion": TABLE, "writing": TABLE, "writing-controls": TABLE}
"""The tables of instrument.toml for further modes of its sentences."""


def read_completion(toml: TomlFile, content: Questionnaire | SentencePairs) -> str:
    """Return the question of [completion], or "" if there is none; faults are noted."""
    table = toml.table("completion")
    if "completion" not in toml.values:
        return ""
    values = table.take({"question": SENTENCE})
    if not _are_masked(content, frames=True):
        message = f"[completion] needs sentences with {MASK}, but this instrument has none."
        toml.top().note("completion", message)
    return str(values.get("question", ""))


def read_writing(toml: TomlFile, content: Questionnaire | SentencePairs) -> tuple[str, str]:
    """Return the request of [writing] and the text for its mask, or empty texts; note faults."""
    table = toml.table("writing")
    if "writing" not in toml.values:
        return "", ""
    values = table.take({"request": SENTENCE, "someone": Field(required=True, plain=True)})
    if not _are_masked(content, frames=False):
        toml.top().note("writing", f"[writing] needs {MASK} in every item of items.csv.")
    return values.get("request", ""), values.get("someone", "")


def _are_masked(content: Questionnaire | SentencePairs, *, frames: bool) -> bool:
    """Return whether every item has a mask, or, if ``frames``, every wording's frame has one."""
    if isinstance(content, SentencePairs):
        return False
    templates = [wording.frame for wording in content.wordings] if frames else []
    return all(MASK in frame for frame in templates or [""]) or all(
        MASK in item.text for item in content.items
    )


def completed(instrument: Instrument, prompt: Prompt) -> Prompt:
    """Return a prompt as a question that shows a blank, with the reply begun up to the blank."""
    before, _, _ = prompt.text.partition(MASK)
    return replace(
        prompt,
        text=instrument.completion.replace("{sentence}", prompt.text.replace(MASK, BLANK)),
        prefill=before.rstrip(),
    )


def written(instrument: Instrument, prompt: Prompt) -> Prompt:
    """Return a prompt as a request to write a sentence about the person in place of the mask."""
    sentence = prompt.text.replace(MASK, instrument.someone)
    return replace(prompt, text=instrument.writing.replace("{sentence}", sentence))
