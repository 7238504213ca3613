"""The files of Briegel & Chen (2023) → prompts with their key, slips and all, and replies."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import cast

import polars as pl
from scipy import special

from goffman.errors import PublishedError
from goffman.instruments.loader import load_instrument
from goffman.instruments.types import BASELINE, Prompt, SentencePairs, Setting
from goffman.measures.coreference import CoreferenceBias
from goffman.parsers.registry import DEFAULT_PARSER, as_published, by_answering
from goffman.replicate.files import files_in, read_lines
from goffman.replicate.published_run import PublishedAnswers
from goffman.replicate.rows import Result, lacking
from goffman.schemas import REPLIES, schema
from goffman.stats.multiple_testing import as_list
from goffman.stats.two_samples import as_p, independent_t, without_gaps

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
    # Files of other names raise when they are read.
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


EXAMPLE = ("The manager fired the cleaner because ", " was angry.")
"""The post's example sentence before and after its pronoun; it has no adjective."""

EXAMPLE_SETTING = Setting(male="dry", female="bubbly")

KINDS = ("correct", "incorrect", "unsure", "other")

NON_ANSWERS = KINDS[2:]
"""The kinds of answers that name neither occupation."""


def results(folder: Path) -> list[Result]:
    """Return every number of the study, recomputed."""
    answered = read_answers(folder)
    kinds = as_published(answered.answers, answered.prompts)
    scores = CoreferenceBias(round_accuracy=1)(kinds, answered.prompts)
    exact = CoreferenceBias()(kinds, answered.prompts)
    bias = {setting: _percent(scores, setting) for setting in answered.settings}
    if Setting() not in bias:
        raise PublishedError(f"{folder} has no completions of the baseline, named like '…_base'.")
    pairs = answered.prompts["item"].n_unique()
    shares, printed = _shares(scores), _printed_on_the_map(answered.settings)
    # The mean score of contrasting pairs, and of single adjectives.
    groups = scores.filter(pl.col("group") != BASELINE, quantity="bias", level="group")
    return [
        Result("sentences", f"{pairs} pairs of the {answered.split} set"),
        *(
            Result(f"bias score, {label(setting)}", fmean(trials), digits=1)
            for setting, trials in bias.items()
        ),
        *_differences(bias),
        *_tests(bias),
        *_default_tests({setting: _percent(exact, setting) for setting in bias}),
        *(
            Result(f"mean bias score, {group}s", 100 * value, digits=1)
            for group, value in groups.select("group", "value").sort("group").iter_rows()
        ),
        *_read_again(answered, kinds),
        *_example(answered),
        *_more_with_adjectives(shares, answered.settings),
        *(
            Result(
                f"answers, {side}, {label(setting)}",
                ", ".join(f"{shares[setting.id, side, kind]:.3f} {kind}" for kind in KINDS),
                note=printed.get(setting.id, ""),
            )
            for setting in answered.settings
            for side in ("pro", "anti")
        ),
    ]


def _printed_on_the_map(settings: Sequence[Setting]) -> dict[str, str]:
    """Return setting → whose numbers its cells show, for the right half of the study's heat map."""
    # The authors' heatmap.ipynb prints the numbers of the left half in both halves.
    order = sorted(settings, key=lambda setting: (setting.id != BASELINE, short_code(setting)))
    halves = zip(order[:8], order[8:], strict=True) if len(order) == 16 else ()
    return {
        right.id: f"the study's heat map prints the numbers of {label(left)} in these cells"
        for left, right in halves
    }


def _percent(scores: pl.DataFrame, setting: Setting) -> list[float]:
    """Return the bias scores of a setting's trials, in percent."""
    trials = scores.filter(quantity="bias", level="trial", condition=setting.id)
    return [100 * value for value in trials.sort("trial")["value"]]


def _differences(bias: dict[Setting, list[float]]) -> Iterator[Result]:
    """Yield each setting's score minus the baseline's, both rounded as the study prints them."""
    exact = {setting: fmean(trials) for setting, trials in bias.items()}
    for setting, score in exact.items():
        if setting.id != BASELINE:
            yield Result(
                f"difference from baseline, {label(setting)}",
                round(score, 1) - round(exact[Setting()], 1),
                note=f"of the rounded scores; before rounding {score - exact[Setting()]:.2f}",
                digits=1,
            )


def _tests(bias: dict[Setting, list[float]]) -> Iterator[Result]:
    """Yield the p of each difference by the published reading, and how many are below .05."""
    compared = {setting: trials for setting, trials in bias.items() if setting.id != BASELINE}
    counts: Counter[str] = Counter()
    for setting, trials in compared.items():
        p, note = _printed_p(trials, bias[Setting()])
        yield Result(f"p one-sided, {label(setting)}", p, note=note)
        if p is not None:
            larger = fmean(trials) > fmean(bias[Setting()])
            counts["none" if p >= 0.05 else "larger" if larger else "smaller"] += 1
    yield Result("settings with a larger score, p one-sided < .05", counts["larger"])
    yield Result("settings with a smaller score, p one-sided < .05", counts["smaller"])
    yield Result("settings without a change, p one-sided ≥ .05", counts["none"])


def _printed_p(trials: list[float], baseline: list[float]) -> tuple[float | None, str]:
    """Return the p as printed, one-sided in the difference's direction, and how it was computed.

    Student: t = (m₁ − m₂) / (s_p √(1/n₁ + 1/n₂)), df = n₁ + n₂ − 2, with m rounded to one decimal
    and the pooled SD s_p of the trials' unrounded scores.
    """
    samples = without_gaps(trials, baseline, paired=False)
    if samples.obstacle:
        return None, samples.obstacle
    n1, n2 = len(trials), len(baseline)
    error, df = samples.pooled_sd * (1 / n1 + 1 / n2) ** 0.5, n1 + n2 - 2
    rounded, exact = (
        as_p(float(special.stdtr(df, -abs(first - second) / error)))
        for first, second in (
            (round(fmean(trials), 1), round(fmean(baseline), 1)),
            (fmean(trials), fmean(baseline)),
        )
    )
    return rounded, (
        f"Student's t, df {df}, of mean scores rounded to one decimal; "
        f"without that rounding {exact:.4f}"
    )


def _default_tests(bias: dict[Setting, list[float]]) -> Iterator[Result]:
    """Yield the p of each difference as an audit gives it: of unrounded scores."""
    two_sided = as_list(
        [
            independent_t(trials, bias[Setting()], contrast=label(setting))
            for setting, trials in bias.items()
            if setting.id != BASELINE
        ],
        family="settings against the baseline",
    )
    for estimate in two_sided:
        yield Result(
            f"p two-sided, Benjamini–Hochberg, {estimate.contrast}",
            estimate.p_adjusted,
            note=f"our default: unrounded, {estimate.test}, over {estimate.family_size} settings",
        )


def _read_again(answered: Answered, published: pl.DataFrame) -> Iterator[Result]:
    """Yield how many non-answers goffman's parser reads as answers, and the bias with these."""
    ours = by_answering(answered.answers, answered.prompts)
    silent = published["kind"].is_in(NON_ANSWERS)
    counts = Counter(ours.filter(silent)["kind"])
    score = fmean(_percent(CoreferenceBias()(ours, answered.prompts), Setting()))
    note = f"read by {DEFAULT_PARSER} instead of the first word"
    for kind in ("correct", "incorrect"):
        name = f"non-answers that are {kind} answers, of {silent.sum():,}"
        yield Result(name, counts[kind], note=note)
    name = "bias score, baseline, all answers read again"
    yield Result(name, score, digits=1, note=note)


def _example(answered: Answered) -> Iterator[Result]:
    """Yield what most trials answered to the pro and the anti sentence of the post's example."""
    for setting in (Setting(), EXAMPLE_SETTING):
        name = f"the manager who fired the cleaner, pro and anti, {label(setting)}"
        before, after = EXAMPLE
        for noun, adjective in (("manager", setting.male), ("cleaner", setting.female)):
            before = before.replace(noun, f"{adjective} {noun}") if adjective else before
        prompts = answered.prompts.filter(
            pl.col("text").str.starts_with(before),
            pl.col("text").str.contains(after, literal=True),
            condition=setting.id,
        )
        replies = prompts.select("prompt_id", "wording").join(answered.answers, on="prompt_id")
        answers = {
            side: Counter(sorted(replies.filter(wording=side)["text"])).most_common()
            for side in ("pro", "anti")
        }
        if not all(answers.values()):
            yield lacking(name, f"they are answers to the {answered.split} set, which lacks it")
            continue
        counts = (f"{side}: {text} {n}" for side, ranked in answers.items() for text, n in ranked)
        yield Result(
            name,
            ", ".join(ranked[0][0] for ranked in answers.values()),
            note=f"answers of all trials, {', '.join(counts)}",
        )


def _shares(scores: pl.DataFrame) -> dict[tuple[str, str, str], float]:
    """Return setting, side and kind of answer → the kind's mean share over the trials."""
    sides = (
        scores.filter(level="side")
        .group_by("condition", "wording", "quantity")
        .agg(pl.col("value").mean())
    )
    return {(setting, side, kind): value for setting, side, kind, value in sides.iter_rows()}


def _more_with_adjectives(
    shares: dict[tuple[str, str, str], float], settings: Sequence[Setting]
) -> Iterator[Result]:
    """Yield whether answers are more often wrong, or none, with adjectives than without."""
    with_adjectives = [setting.id for setting in settings if setting.id != BASELINE]
    if not with_adjectives:
        return
    for side, text, kinds in (
        ("anti", "incorrect answers", ("incorrect",)),
        ("anti", "non-answers", NON_ANSWERS),
        ("pro", "non-answers", NON_ANSWERS),
    ):
        share = {
            setting: sum(shares[setting, side, kind] for kind in kinds)
            for setting in (BASELINE, *with_adjectives)
        }
        mean = sum(share[setting] for setting in with_adjectives) / len(with_adjectives)
        higher = sum(share[setting] > share[BASELINE] for setting in with_adjectives)
        yield Result(
            f"more {text} to {side} sentences with adjectives than without",
            "yes" if mean > share[BASELINE] else "no",
            note=f"{mean:.3f} on average against {share[BASELINE]:.3f}; "
            f"more in {higher} of {len(with_adjectives)} settings",
        )
