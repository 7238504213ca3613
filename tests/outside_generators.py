"""Draw simulated audits from the definitions alone, by someone who has not seen the code.

Every scenario's truth is `real` over all that is drawn (categories, conditions, items, wordings, texts, occupations,
frames). Where the definitions give no size or spread, the docstring of the function says what was chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Columns = dict[str, np.ndarray]
Draw = Callable[[np.random.Generator, float], Columns]

# 93 conditions in 22 categories: 24 diseases, 13 "remitted" twins, and the rest so that Kish's number is 9.3.
FIRST = (24, 13, 5, 5, 4, 4, 4) + (3,) * 8 + (2,) * 3 + (1,) * 4
SECOND = (
    8,
    6,
    4,
    3,
    3,
    2,
    1,
    1,
    1,
)  # 29 conditions; how they fall into nine categories is my choice
MENTAL = (10, 8, 6, 5, 4, 3, 2, 2)  # 40 mental disorders in eight categories: my choice
OTHER = (10, 8, 7, 6, 6, 5, 5, 4, 3, 3, 2, 1)  # 60 other diagnoses in twelve categories: my choice


@dataclass(frozen=True)
class Scenario:
    """A scenario names a generator, the contrast that it is for, and the margin of its instrument."""

    name: str
    draw: Draw
    design: str
    delta: float


@dataclass(frozen=True)
class Layout:
    """A layout says how many conditions each category has, how many items there are and how many wordings a family."""

    first: tuple[int, ...] = FIRST
    second: tuple[int, ...] = SECOND
    items: int = 7
    families: tuple[int, ...] = (1, 1, 1, 1)
    shared: bool = False


@dataclass(frozen=True)
class Spread:
    """A spread holds the standard deviations; I chose them so that the standard error is about .4 of the margin."""

    condition: float = 0.05  # of conditions within a group, categories included
    icc: float = 0.37  # share of the conditions' variance that lies between categories
    item: float = 0.05  # of items, alike for both groups (it cancels in a difference)
    item_slant: float = 0.012  # of items, anew for each group (it does not cancel)
    wording: float = 0.04
    wording_slant: float = 0.008
    rho: float = 0.0  # correlation of the slants of two wordings of one family
    cell: float = 0.03  # of condition by item
    noise: float = 0.03  # of single answers
    shape: str = "normal"  # of categories, conditions, cells and noise
    ratio: float = 1.0  # of the second group's conditions' standard deviation to the first's
    twins: float = 0.0  # correlation of a remitted condition with the disease that it is a twin of

    def total(self) -> float:
        """This gives the standard deviation of one answer over everything that is drawn (for a ratio of 1)."""
        sentence = math.hypot(self.item, self.item_slant, self.wording, self.wording_slant)
        return math.hypot(self.condition, sentence, self.cell, self.noise)


def unit(rng: np.random.Generator, shape: str, size: int | tuple[int, ...]) -> Array:
    """This draws values with mean 0 and standard deviation 1 that are normal, heavy-tailed (t3) or skewed (by 2)."""
    if shape == "t3":
        return rng.standard_t(3, size) / math.sqrt(3)
    if shape == "skewed":
        return rng.exponential(1.0, size) - 1.0
    return rng.standard_normal(size)


def labels(prefix: str, index: np.ndarray) -> np.ndarray:
    """This turns numbers into names."""
    return np.array([f"{prefix}{i}" for i in index.tolist()])


def members(rng: np.random.Generator, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """This gives each condition's group (0 first, 1 second) and category.

    Shared categories of the second group are taken at random from those of the first, anew in each draw.
    """
    start, count = len(layout.first), len(layout.second)
    own = rng.permutation(start)[:count] if layout.shared else np.arange(start, start + count)
    group = np.repeat([0, 1], [sum(layout.first), sum(layout.second)])
    category = np.concatenate(
        [np.repeat(np.arange(len(layout.first)), layout.first), np.repeat(own, layout.second)]
    )
    return group, category


def table(
    rng: np.random.Generator,
    layout: Layout,
    spread: Spread,
    group: np.ndarray,
    category: np.ndarray,
) -> Array:
    """This draws a table of conditions by items by wordings in which the expectation of either group is 0."""
    conditions, wordings = len(group), sum(layout.families)
    own = unit(rng, spread.shape, conditions)
    if spread.twins:
        remitted = slice(layout.first[0], layout.first[0] + layout.first[1])
        own[remitted] = (
            spread.twins * own[: layout.first[1]] + math.sqrt(1 - spread.twins**2) * own[remitted]
        )
    common = unit(rng, spread.shape, int(category.max()) + 1)[category]
    effect = spread.condition * (math.sqrt(spread.icc) * common + math.sqrt(1 - spread.icc) * own)
    effect = effect * np.where(group == 1, spread.ratio, 1.0)
    item = spread.item * rng.standard_normal(layout.items)
    item = item + spread.item_slant * rng.standard_normal((2, layout.items))
    family = np.repeat(np.arange(len(layout.families)), layout.families)
    within, between = (
        rng.standard_normal((3, wordings)),
        rng.standard_normal((3, len(layout.families)))[:, family],
    )
    mixed = math.sqrt(spread.rho) * between + math.sqrt(1 - spread.rho) * within
    wording = spread.wording * mixed[:1] + spread.wording_slant * mixed[1:]
    cell = spread.cell * unit(rng, spread.shape, (conditions, layout.items))
    noise = spread.noise * unit(rng, spread.shape, (conditions, layout.items, wordings))
    values: Array = (
        effect[:, None, None]
        + item[group][:, :, None]
        + wording[group][:, None, :]
        + cell[:, :, None]
    )
    return values + noise


def columns(layout: Layout, group: np.ndarray, category: np.ndarray, values: Array) -> Columns:
    """This writes a table of conditions by items by wordings as one row per answer."""
    c, i, w = (index.ravel() for index in np.indices(values.shape))
    family = np.repeat(np.arange(len(layout.families)), layout.families)
    names = {"condition": c, "category": category[c], "item": i, "family": family[w], "wording": w}
    rows = {"value": values.ravel(), "group": np.where(group[c] == 0, "first", "second")}
    return rows | {name: labels(name, index) for name, index in names.items()}


def draw_groups(rng: np.random.Generator, real: float, layout: Layout, spread: Spread) -> Columns:
    """This draws two groups of conditions that differ by `real` around .50."""
    group, category = members(rng, layout)
    values = 0.5 + table(rng, layout, spread, group, category) + real * (group == 0)[:, None, None]
    return columns(layout, group, category, values)


def latent_mean(mean: float, sd: float, bound: float) -> float:
    """This finds, by halving, the mean of the normal whose values have the wanted mean once clipped at the bound."""
    low, high = mean, bound + 20 * sd
    for _ in range(100):
        middle = (low + high) / 2
        z = (bound - middle) / sd
        below = 0.5 * (1 + math.erf(z / math.sqrt(2)))
        density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        clipped = middle * below - sd * density + bound * (1 - below)
        low, high = (middle, high) if clipped < mean else (low, middle)
    return (low + high) / 2


def draw_ceiling(rng: np.random.Generator, real: float) -> Columns:
    """This clips normal values at 1, with means of .93 plus and minus half of `real` after clipping.

    The level is my choice: more than one answer in four lies at the bound. `real` must lie between -.14 and .14.
    """
    layout, spread = Layout(), Spread()
    group, category = members(rng, layout)
    means = np.array(
        [latent_mean(0.93 + half, spread.total(), 1.0) for half in (real / 2, -real / 2)]
    )
    values = means[group][:, None, None] + table(rng, layout, spread, group, category)
    return columns(layout, group, category, np.minimum(values, 1.0))


def draw_genders(
    rng: np.random.Generator,
    real: float,
    layout: Layout,
    gap: Spread,
    general: float = 0.03,
    only_first: bool = False,
) -> Columns:
    """This asks every sentence for both genders; `real` is added to the first group's female minus male.

    The gap has its own table of effects. A general gap, alike for both groups, cancels in the difference of the two
    groups; with `only_first` there is one group and no general gap, so that `real` is all of female minus male.
    """
    group, category = members(rng, layout)
    base = 0.5 + table(rng, layout, Spread(condition=0.08, icc=gap.icc), group, category)
    half = (
        general + real * (group == 0)[:, None, None] + table(rng, layout, gap, group, category)
    ) / 2
    female, male = (
        columns(layout, group, category, base + half),
        columns(layout, group, category, base - half),
    )
    rows = {name: np.concatenate([female[name], male[name]]) for name in female}
    rows["gender"] = np.repeat(["female", "male"], base.size)
    keep = rows["group"] == "first" if only_first else np.ones(2 * base.size, dtype=bool)
    return {name: column[keep] for name, column in rows.items()}


def draw_pairs(rng: np.random.Generator, real: float, dropped: float = 0.0) -> Columns:
    """This draws sentences in which a pronoun is for a referent while another occupation stands by.

    `value` is the log-odds of "she" over "he", not yet adjusted: value times sign has the mean `real`. Sizes are mine:
    20 occupations of each gender and 12 frames; each frame pairs them off at random and is asked with either of the
    two as the referent (480 sentences). The pull of an occupation on the pronoun has variance .50 as the referent and
    .45 as the other, with covariance .40. A share of sentences may be dropped at random.
    """
    half, frames = 20, 12
    pull = rng.multivariate_normal([0.0, 0.0], [[0.50, 0.40], [0.40, 0.45]], 2 * half)
    women = np.tile(np.arange(half), frames)
    men = np.concatenate([half + rng.permutation(half) for _ in range(frames)])
    frame = np.tile(np.repeat(np.arange(frames), half), 2)
    referent, other = np.concatenate([women, men]), np.concatenate([men, women])
    sign = np.where(referent < half, 1.0, -1.0)
    strength, lean = 0.10 * rng.standard_normal(frames), 0.30 * rng.standard_normal(frames)
    value = sign * (real + strength[frame]) + lean[frame] + pull[referent, 0] + pull[other, 1]
    value = value + 0.5 * rng.standard_normal(len(value))
    keep = rng.random(len(value)) >= dropped
    names = {
        "frame": labels("frame", frame),
        "referent": labels("job", referent),
        "other": labels("job", other),
    }
    return {name: column[keep] for name, column in ({"value": value, "sign": sign} | names).items()}


def draw_vignettes(
    rng: np.random.Generator, real: float, text_sd: float, disorder_sd: float | None = None
) -> Columns:
    """This draws texts of eight disorders (first) and five daily troubles (second), five texts each.

    Numbers of disorders, items (6) and wordings (3, each its own family) are mine. Without `disorder_sd` the disorders
    are fixed, with effects that sum to 0 within a group; with it they are drawn too.
    """
    counts, texts, items, wordings = (8, 5), 5, 6, 3
    group = np.repeat([0, 1], counts)
    fixed = np.concatenate([np.linspace(-0.08, 0.08, count) for count in counts])
    effect = fixed if disorder_sd is None else disorder_sd * rng.standard_normal(len(group))
    d, t, i, w = (index.ravel() for index in np.indices((len(group), texts, items, wordings)))
    text = d * texts + t
    value = (
        0.4
        + real * (group[d] == 0)
        + effect[d]
        + text_sd * rng.standard_normal(len(group) * texts)[text]
    )
    value = (
        value
        + (0.05 * rng.standard_normal(items) + 0.012 * rng.standard_normal((2, items)))[group[d], i]
    )
    value = (
        value
        + (0.04 * rng.standard_normal(wordings) + 0.008 * rng.standard_normal((2, wordings)))[
            group[d], w
        ]
    )
    value = (
        value
        + 0.03 * rng.standard_normal((len(group) * texts, items))[text, i]
        + rng.normal(0, 0.03, len(value))
    )
    names = {"condition": d, "text": text, "item": i, "family": w, "wording": w}
    both = {"value": value, "group": np.where(group[d] == 0, "first", "second")}
    return both | {name: labels(name, index) for name, index in names.items()}


def draw_correlation(rng: np.random.Generator, real: float, icc: float = 0.6) -> Columns:
    """This draws the model's and people's values of 93 conditions, which correlate by `real` between and within.

    Both values have the same category ICC and are normal. Spearman's rho is then 6 / pi * arcsin(real / 2).
    """
    category = np.repeat(np.arange(len(FIRST)), FIRST)
    matrix = [[1.0, real], [real, 1.0]]
    common = rng.multivariate_normal([0.0, 0.0], matrix, len(FIRST))[category]
    both = math.sqrt(icc) * common + math.sqrt(1 - icc) * rng.multivariate_normal(
        [0.0, 0.0], matrix, len(category)
    )
    names = {
        "condition": labels("condition", np.arange(len(category))),
        "category": labels("category", category),
    }
    return {"value": 0.5 + 0.05 * both[:, 0], "people": 2.5 + 0.6 * both[:, 1]} | names


FOUND = Spread()
GAP = Spread(condition=0.04, item=0.02, item_slant=0.012, wording=0.02, wording_slant=0.008)
ATTRIBUTION = Layout(
    MENTAL, OTHER, items=9, families=(1, 1, 1)
)  # nine items in three wordings: my choice
CARE = replace(ATTRIBUTION, items=6)  # six items in three wordings: my choice
EIGHT = Layout(
    items=8, families=(1,)
)  # eight sentences in one wording, which is therefore a fixed facet
# Sentiment runs from -1 to 1, so that its spreads and its margin (.20, my choice) are four times as large.
SENTIMENT = Spread(
    condition=0.2,
    icc=0.59,
    item=0.2,
    item_slant=0.05,
    wording=0,
    wording_slant=0,
    cell=0.1,
    noise=0.1,
)
SOCIAL = {
    "social_exchangeable": (Layout(), replace(FOUND, icc=0.0)),
    "social_icc37": (Layout(), FOUND),
    "social_icc60": (Layout(), replace(FOUND, icc=0.6)),
    "social_icc60_shared": (Layout(shared=True), replace(FOUND, icc=0.6)),
    "social_twins": (Layout(), replace(FOUND, twins=0.8)),
    "social_heavy_tails": (Layout(), replace(FOUND, shape="t3")),
    "social_skewed": (Layout(), replace(FOUND, shape="skewed")),
    "social_spread_x3": (
        Layout(),
        replace(FOUND, condition=0.025, ratio=3.0),
    ),  # halved, so that .05 is within reach
    "social_3x3": (Layout(items=3, families=(1, 1, 1)), FOUND),
    "social_near_copies": (Layout(families=(4, 2, 2)), replace(FOUND, rho=0.9, wording_slant=0.02)),
}
attribution = partial(draw_genders, layout=ATTRIBUTION, gap=replace(GAP, icc=0.79))
care = partial(draw_genders, layout=CARE, gap=replace(GAP, icc=0.3))
_ALL = [
    Scenario(name, partial(draw_groups, layout=lay, spread=s), "groups", 0.05)
    for name, (lay, s) in SOCIAL.items()
]
_ALL += [
    Scenario("social_ceiling", draw_ceiling, "groups", 0.05),
    Scenario(
        "sentiment_icc59", partial(draw_groups, layout=EIGHT, spread=SENTIMENT), "groups", 0.20
    ),
    Scenario("attribution_icc79", attribution, "groups-of-genders", 0.05),
    Scenario("care_icc30", care, "groups-of-genders", 0.05),
    Scenario(
        "care_female_minus_male", partial(care, general=0.0, only_first=True), "genders", 0.05
    ),
    Scenario("pronoun_pairs", draw_pairs, "pairs", 0.20),
    Scenario("pronoun_pairs_dropped", partial(draw_pairs, dropped=0.3), "pairs", 0.20),
    Scenario("vignettes_text05", partial(draw_vignettes, text_sd=0.05), "vignettes", 0.05),
    Scenario("vignettes_text10", partial(draw_vignettes, text_sd=0.10), "vignettes", 0.05),
    Scenario(
        "vignettes_disorders_drawn",
        partial(draw_vignettes, text_sd=0.05, disorder_sd=0.05),
        "vignettes",
        0.05,
    ),
    Scenario("anchor_icc60", draw_correlation, "correlation", 0.30),
]
SCENARIOS: dict[str, Scenario] = {scenario.name: scenario for scenario in _ALL}


def estimate(design: str, rows: Columns) -> float:
    """This takes the plain contrast of a design, only to look at a draw; it is no analysis."""
    value = rows["value"]
    if design == "correlation":
        return float(np.corrcoef(value, rows["people"])[0, 1])
    if design == "pairs":
        return float((value * rows["sign"]).mean())
    weight = (
        np.where(rows["gender"] == "female", 2.0, -2.0) if "gender" in rows else np.ones(len(value))
    )
    first = rows["group"] == "first"
    difference = (value * weight)[first].mean()
    return float(
        difference if design == "genders" else difference - (value * weight)[~first].mean()
    )


def main() -> None:
    """This draws each scenario once at 0 and once at its margin, and prints sizes and means."""
    for name, scenario in SCENARIOS.items():
        rows, moved = (
            scenario.draw(np.random.default_rng(1), real) for real in (0.0, scenario.delta)
        )
        sizes = ", ".join(
            f"{len(np.unique(c))} {n}"
            for n, c in rows.items()
            if n not in ("value", "people", "sign")
        )
        null, other = estimate(scenario.design, rows), estimate(scenario.design, moved)
        print(
            f"{name} ({scenario.design}): {len(rows['value'])} rows; {sizes}; mean {rows['value'].mean():.3f}; "
            f"contrast {null:+.3f} at 0, {other:+.3f} at {scenario.delta}"
        )


if __name__ == "__main__":
    main()
