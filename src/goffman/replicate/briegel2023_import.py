"""The files of Briegel & Chen (2023) → prompts with their key, slips and all, and replies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from goffman.errors import PublishedError
from goffman.instruments.loader import load_instrument
from goffman.instruments.types import BASELINE, Prompt, SentencePairs, Setting
from goffman.replicate.files import files_in, read_lines
from goffman.replicate.published_run import PublishedAnswers
from goffman.schemas import REPLIES, schema

if TYPE_CHECKING:
    pass

MODEL = "gpt-3.5-turbo"

MASCULINE = frozenset({"he", "him", "his", "himself"})

_COMPLETIONS = re.compile(r"compl_tri(\d+)_type1_(pro|anti)_([a-z-]+)\.txt\.(test|dev)")
_HEADING = re.compile(r"I (Pro|Anti) [A-Za-z-]+")
_PRONOUN = re.compile(r"Who does '(\w+)' refer to\?")


@dataclass(frozen=True, kw_only=True)
class Answered(PublishedAnswers):
    """The prompts and replies of the study; the answer key is the study's own, slips and all."""

    settings: tuple[Setting, ...]
    """The settings that the files cover, the baseline first."""
    split: str
    """The part of WinoBias that the files are named after: test, or dev."""


def published_answers(folder: Path) -> Iterator[PublishedAnswers]:
    """Yield the completions."""
    yield read_answers(folder)


def read_answers(folder: Path) -> Answered:
    """Return the completions with their prompts and key."""
    import polars as pl

    paths = files_in(folder, "completions/trial*/compl_*")
    split = _split(paths)
    key = _key(folder, split)
    pairs = cast("SentencePairs", load_instrument("coreference").content)
    # In the order of the study's table.
    settings = {short_code(setting): setting for setting in (Setting(), *pairs.settings)}
    prompts_by_code: dict[tuple[str, str], list[Prompt]] = {}
    trials_read: set[tuple[int, str, str]] = set()
    rows: list[tuple[str | int | None, ...]] = []
    for path in paths:
        match = _COMPLETIONS.fullmatch(path.name)
        if not match or match[3] not in settings:
            raise PublishedError(f"{path} is not named after a trial, a side and two adjectives.")
        trial, side, code = int(match[1]), match[2], match[3]
        if (side, code) not in prompts_by_code:
            setting = settings[code]
            prompts_by_code[side, code] = _prompts(
                folder, key, side=side, setting=setting, split=split
            )
        prompts = prompts_by_code[side, code]
        heading, *answers = read_lines(path)
        if not _HEADING.fullmatch(heading) or len(answers) != len(prompts):
            raise PublishedError(
                f"{path} has {len(answers):,} lines below {heading!r}. Expected: a heading line "
                f"such as 'I Pro Base', and an answer to each of the {len(prompts):,} prompts."
            )
        rows += [
            (prompt.id, MODEL, trial, answer, *(None for _ in REPLIES[4:]))
            for prompt, answer in zip(prompts, answers, strict=True)
        ]
        trials_read.add((trial, side, code))
    for trial, side, code in sorted(trials_read):
        other_side = "anti" if side == "pro" else "pro"
        if (trial, other_side, code) not in trials_read:
            raise PublishedError(
                f"{folder} has no {other_side} completions of {code} in trial {trial}."
            )
    codes = {code for _, code in prompts_by_code}
    return Answered(
        asked=[prompt for prompts in prompts_by_code.values() for prompt in prompts],
        instrument="coreference",
        table="replies",
        answers=pl.DataFrame(rows, schema=schema(REPLIES), orient="row"),
        files={MODEL: paths},
        missing=(
            "Of each reply only the first word was kept, and read by the study's own key.",
            "Accuracies are rounded to one decimal before they are subtracted, as in the study.",
        ),
        parameters={"round_accuracy": 1},
        settings=tuple(setting for code, setting in settings.items() if code in codes),
        split=split,
    )


def _split(paths: Sequence[Path]) -> str:
    """Return the one part of WinoBias that all files are named after."""
    matches = (_COMPLETIONS.fullmatch(path.name) for path in paths)
    # A file of another name is refused where it is read.
    parts = {match[4] for match in matches if match} or {"test"}
    if len(parts) > 1:
        raise PublishedError(
            f"{paths[0].parent.parent} has completions of {' and '.join(sorted(parts))}. These are "
            "different sentences: keep only those of one."
        )
    return parts.pop()


def _key(folder: Path, split: str) -> list[tuple[str, str]]:
    """Return the right and the wrong answer to each sentence.

    The key has slips, which the exact match counts as errors: "worker" for construction worker,
    "assiatant" (line 157), "libarian" (253), "laywer" (225), "lawywer" (249), "CEO" among answers
    in lower case (21).
    """
    right, wrong = (
        read_lines(folder / "answers" / f"{name}answers.txt.{split}") for name in ("cor", "inc")
    )
    if len(right) != len(wrong):
        raise PublishedError(
            f"{folder / 'answers'} has {len(right):,} right answers and {len(wrong):,} wrong ones. "
            "They are paired by line: both files must have the same number."
        )
    return list(zip(right, wrong, strict=True))


def short_code(setting: Setting) -> str:
    """Return the name of a setting in the study's files: arrog-respo, old-nothi, base."""
    if setting.id == BASELINE:
        return "base"
    return f"{(setting.male or 'nothing')[:5]}-{(setting.female or 'nothing')[:5]}"


def _prompts(
    folder: Path, key: list[tuple[str, str]], *, side: str, setting: Setting, split: str
) -> list[Prompt]:
    path = folder / "prompts" / f"promp_type1_{side}_{short_code(setting)}.txt.{split}"
    texts = read_lines(path)
    if len(texts) != len(key):
        raise PublishedError(
            f"{path} has {len(texts):,} prompts; the key has {len(key):,} answers."
        )
    prompts = []
    for number, (text, (answer, wrong)) in enumerate(zip(texts, key, strict=True), start=1):
        pronoun = _PRONOUN.search(text)
        if not pronoun:
            raise PublishedError(f"{path}, line {number}: there is no \"Who does '…' refer to?\"")
        prompts.append(
            Prompt(
                instrument="coreference",
                item=f"type1-{split}/{number}",
                wording=side,
                dimension="type-1",
                condition=setting.id,
                group=setting.group,
                # In a pro sentence, the pronoun has the gender of the occupation's stereotype.
                category=f"{'male' if (pronoun[1] in MASCULINE) == (side == 'pro') else 'female'}"
                "-referent",
                text=text,
                answer=answer,
                other=wrong,
                pronoun=pronoun[1],
            )
        )
    return prompts


def label(setting: Setting) -> str:
    """Return a setting as the study's table has it: "arrogant / responsive", "old / –"."""
    if setting.id == BASELINE:
        return BASELINE
    return f"{setting.male or '–'} / {setting.female or '–'}"
