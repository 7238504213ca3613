"""Briegel & Chen (2023): bias scores of gpt-3.5-turbo, from its 63,200 one-word answers.

The answers are read as the study read them (docs/replication.md) and, beside that, as an audit
does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from goffman.errors import PublishedError
from goffman.instruments.types import BASELINE, Setting
from goffman.replicate.briegel2023_import import Answered, label, read_answers, short_code
from goffman.replicate.rows import NOT_HERE, Result

if TYPE_CHECKING:
    import polars as pl

EXAMPLE = ("The manager fired the cleaner because ", " was angry.")
"""The post's example of a sentence, around its pronoun; no adjective stands in it."""

EXAMPLE_SETTING = Setting(male="dry", female="bubbly")

KINDS = ("correct", "incorrect", "unsure", "other")

NON_ANSWERS = KINDS[2:]
"""The kinds of answers that name neither occupation."""


def results(folder: Path) -> list[Result]:
    """Return every number of the study, recomputed."""
    import polars as pl

    from goffman.measures.coreference import CoreferenceBias
    from goffman.parsers.registry import as_published

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
    groups = scores.filter(
        pl.col("quantity") == "bias", pl.col("level") == "group", pl.col("group") != BASELINE
    )
    return [
        Result(name="sentences", value=f"{pairs} pairs of the {answered.split} set"),
        *(
            Result(name=f"bias score, {label(setting)}", value=_mean(trials), digits=1)
            for setting, trials in bias.items()
        ),
        *_differences(bias),
        *_tests(bias),
        *_default_tests({setting: _percent(exact, setting) for setting in bias}),
        *(
            Result(name=f"mean bias score, {group}s", value=100 * value, digits=1)
            for group, value in groups.select("group", "value").sort("group").iter_rows()
        ),
        *_read_again(answered, kinds),
        *_example(answered),
        *_more_with_adjectives(shares, answered.settings),
        *(
            Result(
                name=f"answers, {side}, {label(setting)}",
                value=", ".join(f"{shares[setting.id, side, kind]:.3f} {kind}" for kind in KINDS),
                note=printed.get(setting.id, ""),
            )
            for setting in answered.settings
            for side in ("pro", "anti")
        ),
    ]


def _printed_on_the_map(settings: Sequence[Setting]) -> dict[str, str]:
    """Return setting → whose numbers its cells show, for the right half of the study's heat map."""
    # The authors' heatmap.ipynb prints the left half's in both, in the order of its files' names.
    order = sorted(settings, key=lambda setting: (setting.id != BASELINE, short_code(setting)))
    halves = zip(order[:8], order[8:], strict=True) if len(order) == 16 else ()
    return {
        right.id: f"the study's heat map prints the numbers of {label(left)} in these cells"
        for left, right in halves
    }


def _percent(scores: pl.DataFrame, setting: Setting) -> list[float]:
    """Return the bias scores of a setting's trials, in percent."""
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
    """Yield each setting's score minus the baseline's, both rounded as the study prints them."""
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
    """Yield the p of each difference by the published reading, and how many are below .05."""
    compared = {setting: trials for setting, trials in bias.items() if setting.id != BASELINE}
    counts: Counter[str] = Counter()
    for setting, trials in compared.items():
        p, note = _printed_p(trials, bias[Setting()])
        yield Result(name=f"p one-sided, {label(setting)}", value=p, note=note)
        if p is not None:
            larger = _mean(trials) > _mean(bias[Setting()])
            counts["none" if p >= 0.05 else "larger" if larger else "smaller"] += 1
    yield Result(name="settings with a larger score, p one-sided < .05", value=counts["larger"])
    yield Result(name="settings with a smaller score, p one-sided < .05", value=counts["smaller"])
    yield Result(name="settings without a change, p one-sided ≥ .05", value=counts["none"])


def _printed_p(trials: list[float], baseline: list[float]) -> tuple[float | None, str]:
    """Return the p as printed, one-sided in the difference's direction, and how it was computed.

    Student: t = (m₁ − m₂) / (s_p √(1/n₁ + 1/n₂)), df = n₁ + n₂ − 2, with m rounded to one decimal
    and the pooled SD s_p of the trials' unrounded scores.
    """
    from scipy import special

    from goffman.stats.two_samples import apart, as_p

    samples = apart(trials, baseline)
    if samples.obstacle:
        return None, samples.obstacle
    n1, n2 = len(trials), len(baseline)
    error, df = samples.pooled_sd * (1 / n1 + 1 / n2) ** 0.5, n1 + n2 - 2
    rounded, exact = (
        as_p(float(special.stdtr(df, -abs(first - second) / error)))
        for first, second in (
            (round(_mean(trials), 1), round(_mean(baseline), 1)),
            (_mean(trials), _mean(baseline)),
        )
    )
    return rounded, (
        f"Student's t, df {df}, of mean scores rounded to one decimal; "
        f"without that rounding {exact:.4f}"
    )


def _default_tests(bias: dict[Setting, list[float]]) -> Iterator[Result]:
    """Yield the p of each difference as an audit gives it: of unrounded scores."""
    from goffman.stats.multiple_testing import as_list
    from goffman.stats.two_samples import independent_t

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
            name=f"p two-sided, Benjamini–Hochberg, {estimate.contrast}",
            value=estimate.p_adjusted,
            note=f"our default: unrounded, {estimate.test}, over {estimate.family_size} settings",
        )


def _read_again(answered: Answered, published: pl.DataFrame) -> Iterator[Result]:
    """Yield what goffman's parser makes of the non-answers, and the baseline's bias with it."""
    from goffman.measures.coreference import CoreferenceBias
    from goffman.parsers.registry import DEFAULT_PARSER, by_answering

    ours = by_answering(answered.answers, answered.prompts)
    silent = published["kind"].is_in(NON_ANSWERS)
    counts = Counter(ours.filter(silent)["kind"])
    score = _mean(_percent(CoreferenceBias()(ours, answered.prompts), Setting()))
    note = f"read by {DEFAULT_PARSER} instead of the first word"
    for kind in ("correct", "incorrect"):
        name = f"non-answers that are {kind} answers, of {silent.sum():,}"
        yield Result(name=name, value=counts[kind], note=note)
    name = "bias score, baseline, all answers read again"
    yield Result(name=name, value=score, digits=1, note=note)


def _example(answered: Answered) -> Iterator[Result]:
    """Yield what most trials answered to the pro and the anti sentence of the post's example."""
    import polars as pl

    for setting in (Setting(), EXAMPLE_SETTING):
        name = f"the manager who fired the cleaner, pro and anti, {label(setting)}"
        before, after = EXAMPLE
        for noun, adjective in (("manager", setting.male), ("cleaner", setting.female)):
            before = before.replace(noun, f"{adjective} {noun}") if adjective else before
        prompts = answered.prompts.filter(
            pl.col("condition") == setting.id,
            pl.col("text").str.starts_with(before),
            pl.col("text").str.contains(after, literal=True),
        )
        replies = prompts.select("prompt_id", "wording").join(answered.answers, on="prompt_id")
        answers = {
            side: Counter(sorted(replies.filter(pl.col("wording") == side)["text"])).most_common()
            for side in ("pro", "anti")
        }
        if not all(answers.values()):
            note = f"{NOT_HERE}: they are answers to the {answered.split} set, which lacks it"
            yield Result(name=name, value=None, note=note)
            continue
        counts = (f"{side}: {text} {n}" for side, ranked in answers.items() for text, n in ranked)
        yield Result(
            name=name,
            value=", ".join(ranked[0][0] for ranked in answers.values()),
            note=f"answers of all trials, {', '.join(counts)}",
        )


def _shares(scores: pl.DataFrame) -> dict[tuple[str, str, str], float]:
    """Return setting, side and kind of answer → the kind's mean share over the trials."""
    import polars as pl

    sides = (
        scores.filter(pl.col("level") == "side")
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
            name=f"more {text} to {side} sentences with adjectives than without",
            value="yes" if mean > share[BASELINE] else "no",
            note=f"{mean:.3f} on average against {share[BASELINE]:.3f}; "
            f"more in {higher} of {len(with_adjectives)} settings",
        )
