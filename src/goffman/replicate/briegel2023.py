"""Briegel & Chen (2023): bias scores of gpt-3.5-turbo, from its 63,200 one-word answers.

Read by the published way: an answer counts where it is the key's word to the letter, each accuracy
is rounded to one decimal before they are subtracted, and the printed p is that of a one-sided
Student t of mean scores rounded to one decimal with SDs that are not rounded. Beside it stands our
default: nothing rounded, Welch's t, two-sided, corrected by Holm.

The completions are CRLF text with a heading line above the 395 answers. The key has slips that the
exact match makes errors of: "worker" for construction worker, "assiatant" (line 157), "libarian"
(253), "laywer" (225), "lawywer" (249), "CEO" among answers in lower case (21).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from goffman.errors import PublishedError
from goffman.instruments.load import load_instrument
from goffman.records import BASELINE, Prompt, SentencePairs, Setting
from goffman.replicate.files import files_in, read_lines
from goffman.replicate.rows import Result
from goffman.tables import REPLIES, prompt_table, schema

if TYPE_CHECKING:
    import polars as pl

MODEL = "gpt-3.5-turbo"

_COMPLETIONS = re.compile(r"compl_tri(\d+)_type1_(pro|anti)_([a-z-]+)\.txt\.(test|dev)")
_HEADING = re.compile(r"I (Pro|Anti) [A-Za-z-]+")
_PRONOUN = re.compile(r"Who does '(\w+)' refer to\?")


@dataclass(frozen=True, kw_only=True)
class Answered:
    """What was asked and what was replied."""

    prompts: pl.DataFrame
    """PROMPTS with the ANSWER_KEY that the study used, slips and all."""
    replies: pl.DataFrame
    settings: tuple[Setting, ...]
    """Those that are there, the baseline first."""
    split: str
    """The part of WinoBias that the files are named after: test, or dev."""


def read_answers(folder: Path) -> Answered:
    """The completions with their prompts and key."""
    import polars as pl

    paths = files_in(folder, "completions/trial*/compl_*")
    split = _split(paths)
    key = _key(folder, split)
    settings = {_code(setting): setting for setting in study_settings()}
    asked: dict[tuple[str, str], list[Prompt]] = {}
    read: set[tuple[int, str, str]] = set()
    rows: list[tuple[str | int | None, ...]] = []
    for path in paths:
        match = _COMPLETIONS.fullmatch(path.name)
        if not match or match[3] not in settings:
            raise PublishedError(f"{path} is not named after a trial, a side and two adjectives.")
        trial, side, code = int(match[1]), match[2], match[3]
        if (side, code) not in asked:
            setting = settings[code]
            asked[side, code] = _prompts(folder, key, side=side, setting=setting, split=split)
        prompts = asked[side, code]
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
        read.add((trial, side, code))
    for trial, side, code in sorted(read):
        other = "anti" if side == "pro" else "pro"
        if (trial, other, code) not in read:
            raise PublishedError(f"{folder} has no {other} completions of {code} in trial {trial}.")
    there = {code for _, code in asked}
    return Answered(
        prompts=prompt_table(prompt for prompts in asked.values() for prompt in prompts),
        replies=pl.DataFrame(rows, schema=schema(REPLIES), orient="row"),
        settings=tuple(setting for code, setting in settings.items() if code in there),
        split=split,
    )


def _split(paths: Sequence[Path]) -> str:
    """The one part of WinoBias that all files are named after."""
    names = (_COMPLETIONS.fullmatch(path.name) for path in paths)
    # A file of another name is refused where it is read.
    found = {name[4] for name in names if name} or {"test"}
    if len(found) > 1:
        raise PublishedError(
            f"{paths[0].parent.parent} has completions of {' and '.join(sorted(found))}. They are "
            "of other sentences: keep those of one."
        )
    return found.pop()


def _key(folder: Path, split: str) -> list[tuple[str, str]]:
    """The right answer and the wrong one to each sentence."""
    right, wrong = (
        read_lines(folder / "answers" / f"{name}answers.txt.{split}") for name in ("cor", "inc")
    )
    if len(right) != len(wrong):
        raise PublishedError(
            f"{folder / 'answers'} has {len(right):,} right answers and {len(wrong):,} wrong ones. "
            "They belong together by line: both files must have as many."
        )
    return list(zip(right, wrong, strict=True))


def study_settings() -> tuple[Setting, ...]:
    """The baseline and the study's 15 settings, in the order of its table."""
    pairs = cast("SentencePairs", load_instrument("coreference").content)
    return (Setting(), *pairs.settings)


def _code(setting: Setting) -> str:
    """How the study's files name a setting: arrog-respo, old-nothi, base."""
    if setting.id == BASELINE:
        return "base"
    return f"{(setting.male or 'nothing')[:5]}-{(setting.female or 'nothing')[:5]}"


def _prompts(
    folder: Path, key: list[tuple[str, str]], *, side: str, setting: Setting, split: str
) -> list[Prompt]:
    path = folder / "prompts" / f"promp_type1_{side}_{_code(setting)}.txt.{split}"
    texts = read_lines(path)
    if len(texts) != len(key):
        raise PublishedError(
            f"{path} has {len(texts):,} prompts; the key has {len(key):,} answers."
        )
    prompts = []
    for number, (text, (answer, other)) in enumerate(zip(texts, key, strict=True), start=1):
        pronoun = _PRONOUN.search(text)
        if not pronoun:
            raise PublishedError(f"{path}, line {number}: there is no \"Who does '…' refer to?\"")
        prompts.append(
            Prompt(
                instrument="coreference",
                item=f"type1-{split}/{number}",
                wording=side,
                condition=setting.id,
                group=setting.group,
                text=text,
                answer=answer,
                other=other,
                pronoun=pronoun[1],
            )
        )
    return prompts


def results(folder: Path) -> list[Result]:
    """Every number of the study, recomputed."""
    from goffman.measures.coreference_bias import CoreferenceBias
    from goffman.measures.replies import as_published

    answered = read_answers(folder)
    kinds = as_published(answered.replies, answered.prompts)
    scores = CoreferenceBias(round_accuracy=1)(kinds, answered.prompts)
    exact = CoreferenceBias()(kinds, answered.prompts)
    bias = {setting: _percent(scores, setting) for setting in answered.settings}
    if Setting() not in bias:
        raise PublishedError(f"{folder} has no completions of the baseline, named like '…_base'.")
    pairs = answered.prompts["item"].n_unique()
    return [
        Result(name="sentences", value=f"{pairs} pairs of the {answered.split} set"),
        *(
            Result(name=f"bias score, {label(setting)}", value=_mean(trials), digits=1)
            for setting, trials in bias.items()
        ),
        *_differences(bias),
        *_tests(bias),
        *_default_tests({setting: _percent(exact, setting) for setting in bias}),
        *_groups(scores),
        *_kinds(scores, answered.settings),
    ]


def label(setting: Setting) -> str:
    """A setting as the study's table has it: "arrogant / responsive", "old / –"."""
    if setting.id == BASELINE:
        return BASELINE
    return f"{setting.male or '–'} / {setting.female or '–'}"


def _percent(scores: pl.DataFrame, setting: Setting) -> list[float]:
    """The bias scores of a setting's trials, in percent."""
    import polars as pl

    trials = scores.filter(
        pl.col("quantity") == "bias",
        pl.col("level") == "trial",
        pl.col("condition") == setting.id,
    )
    return [100 * value for value in trials.sort("trial")["value"]]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _differences(bias: dict[Setting, list[float]]) -> Iterator[Result]:
    """Each setting's score minus the baseline's, as in the study of the printed scores."""
    exact = {setting: _mean(trials) for setting, trials in bias.items()}
    for setting, score in exact.items():
        if setting.id != BASELINE:
            yield Result(
                name=f"difference from baseline, {label(setting)}",
                value=round(score, 1) - round(exact[Setting()], 1),
                note=f"of the rounded scores; before rounding {score - exact[Setting()]:.2f}",
                digits=1,
            )


def _tests(bias: dict[Setting, list[float]]) -> Iterator[Result]:
    """The p of each difference by the published reading, and how many are below .05."""
    others = {setting: trials for setting, trials in bias.items() if setting.id != BASELINE}
    found: Counter[str] = Counter()
    for setting, trials in others.items():
        p, note = _printed_p(trials, bias[Setting()])
        yield Result(name=f"p one-sided, {label(setting)}", value=p, note=note)
        if p is not None:
            larger = _mean(trials) > _mean(bias[Setting()])
            found["none" if p >= 0.05 else "larger" if larger else "smaller"] += 1
    yield Result(name="settings with a larger score, p one-sided < .05", value=found["larger"])
    yield Result(name="settings with a smaller score, p one-sided < .05", value=found["smaller"])
    yield Result(name="settings without a change, p one-sided ≥ .05", value=found["none"])


def _printed_p(trials: list[float], baseline: list[float]) -> tuple[float | None, str]:
    """The p as printed, one-sided in the difference's own direction, and how it was computed.

    Student: t = (m₁ − m₂) / (s_p √(1/n₁ + 1/n₂)), df = n₁ + n₂ − 2, with m rounded to one decimal
    and the pooled SD s_p of the trials' scores as they are.
    """
    from goffman.stats.compare import t_tail
    from goffman.stats.effects import pooled_sd
    from goffman.stats.samples import apart

    samples = apart(trials, baseline)
    if samples.obstacle:
        return None, samples.obstacle
    n1, n2 = len(trials), len(baseline)
    error, df = pooled_sd(samples) * (1 / n1 + 1 / n2) ** 0.5, n1 + n2 - 2
    rounded, exact = (
        t_tail(abs(first - second) / error, df=df, alternative="greater")
        for first, second in (
            (round(_mean(trials), 1), round(_mean(baseline), 1)),
            (_mean(trials), _mean(baseline)),
        )
    )
    return rounded, (
        f"Student's t, df {df}, of mean scores rounded to one decimal; not rounded {exact:.4f}"
    )


def _default_tests(bias: dict[Setting, list[float]]) -> Iterator[Result]:
    """The p of each difference as an audit gives it: of scores that nothing was rounded for."""
    from goffman.stats.compare import independent_t
    from goffman.stats.correct import adjust

    two_sided = adjust(
        [
            independent_t(trials, bias[Setting()], contrast=label(setting))
            for setting, trials in bias.items()
            if setting.id != BASELINE
        ],
        family="settings against the baseline",
    )
    for estimate in two_sided:
        yield Result(
            name=f"p two-sided, Holm, {estimate.contrast}",
            value=estimate.p_adjusted,
            note=f"our default: unrounded, {estimate.test}, over {estimate.family_size} settings",
        )


def _groups(scores: pl.DataFrame) -> Iterator[Result]:
    """The mean score of contrasting pairs, and of single adjectives."""
    import polars as pl

    means = scores.filter(pl.col("quantity") == "bias", pl.col("level") == "group")
    for group, value in means.select("group", "value").sort("group").iter_rows():
        if group != BASELINE:
            yield Result(name=f"mean bias score, {group}s", value=100 * value, digits=1)


def _kinds(scores: pl.DataFrame, settings: Sequence[Setting]) -> Iterator[Result]:
    """The share of each kind of answer, by setting and side, over the trials."""
    import polars as pl

    sides = (
        scores.filter(pl.col("level") == "side")
        .group_by("condition", "wording", "quantity")
        .agg(pl.col("value").mean())
    )
    shares = {tuple(row[:3]): row[3] for row in sides.iter_rows()}
    for setting in settings:
        for side in ("pro", "anti"):
            kinds = (
                f"{shares[setting.id, side, kind]:.3f} {kind}"
                for kind in ("correct", "incorrect", "unsure", "other")
            )
            yield Result(name=f"answers, {side}, {label(setting)}", value=", ".join(kinds))
