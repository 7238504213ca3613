"""How often what is called clear is false, covered and found: simulated audits through estimates().

    python tests/calibration.py --runs 1000        writes bench/calibration.md

Every audit is drawn from variance components: such as the bundled model's audits, and the published
replies of gpt-3.5-turbo, have ("as found"), none of what would come out otherwise with
other sentences ("none"), and twice as much ("doubled").
"""

from __future__ import annotations

import argparse
import itertools
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# One thread each, or two processes on two cores stand in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "1")

import numpy as np
import polars as pl

from goffman.estimate import PRIMARY, estimates
from goffman.estimates.cells import genders, groups_of_cells, models_over_cells
from goffman.estimates.clear import points
from goffman.estimates.conditions import (
    conditions_against_baseline,
    groups_of_conditions,
    models_over_conditions,
    wordings_over_conditions,
)
from goffman.estimates.contrast import Comparing
from goffman.estimates.reference import conditions_against_reference
from goffman.estimates.settings import levels, pairs_against_singles, settings_by_pairs
from goffman.estimates.sharing import Sharing
from goffman.measures.coreference_bias import CoreferenceBias
from goffman.measures.gender_of_subject import GenderOfSubject
from goffman.measures.negative_attitude import NegativeAttitude
from goffman.measures.negative_sentiment import PROBABILITY, NegativeSentiment
from goffman.measures.pronoun_preference import PronounPreference
from goffman.records import BASELINE
from goffman.tables import SCORES, schema

PAGE = Path(__file__).parent.parent / "bench" / "calibration.md"
COMPARE = Comparing(draws=19)
"""Few draws: no interval that is looked at here is drawn."""

SIZES = {"none": 0.0, "as found": 1.0, "doubled": 2.0}
"""How much of what other sentences would bring there is, against what was found."""

GROUPS = ("stigmatized", "non-stigmatized")
ILL = ("mental-health", "other")

Draw = Callable[[np.random.Generator, float, float], pl.DataFrame]
"""Random numbers, how much varies with the sentences, the true difference → estimates."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A contrast whose errors are counted."""

    name: str
    draw: Draw
    kind: str
    real: float
    """The true difference by which power is said."""
    heading: bool = False
    """Whether a heading is drawn from it."""
    tests: int = 1
    """Tests in one audit: with many, fewer audits say as much."""


def only(base: type, *makes: Callable[..., object], of: str) -> object:
    """A measure that makes these contrasts alone."""
    return type(base.__name__, (base,), {"contrasts": ((of, makes),)})()


def frame(rows: list[dict[str, object]], **common: object) -> pl.DataFrame:
    """SCORES of the level prompt without their values."""
    usual = {"level": "prompt", "n": 1, "missing": 0, **common}
    return pl.DataFrame([usual | row for row in rows], schema=schema(SCORES))


def found(measure: object, scores: pl.DataFrame, sharing: Sharing | None = None) -> pl.DataFrame:
    wordings = scores["wording"].unique(maintain_order=True).drop_nulls().to_list()
    return estimates(
        scores,
        {"x": measure},  # type: ignore[dict-item]
        wordings={"x": wordings or ["w"]},
        sharing={"x": sharing or Sharing()},
        compare=COMPARE,
    )


# Conditions × items × wordings


@cache
def people(
    quantity: str,
    groups: tuple[tuple[str, int], ...],
    items: int,
    wordings: int,
    models: tuple[str, ...] = ("m",),
) -> pl.DataFrame:
    """Prompts in the order of a table of models × conditions × items × wordings."""
    conditions = [(group, f"{group}{k}") for group, count in groups for k in range(count)]
    rows = [
        {"model": model, "group": group, "condition": BASELINE if group == BASELINE else name}
        | {"item": f"i{item}", "wording": f"w{wording}"}
        for model, (group, name), item, wording in itertools.product(
            models, conditions, range(items), range(wordings)
        )
    ]
    return frame(rows, instrument="x", measure="x", quantity=quantity)


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Standard deviations: of conditions, and of how they and groups go with sentences."""

    condition: float
    with_item: float
    with_wording: float
    cell: float
    group_item: float
    group_wording: float
    group_cell: float


DISTANCE = Spread(
    condition=0.045,
    with_item=0.022,
    with_wording=0.012,
    cell=0.0185,
    group_item=0.0233,
    group_wording=0.0116,
    group_cell=0.0133,
)
"""bundled:mini on social-distance."""

SENTIMENT = Spread(
    condition=0.22,
    with_item=0.02,
    with_wording=0.0,
    cell=0.0,
    group_item=0.0014,
    group_wording=0.0,
    group_cell=0.0,
)
"""bundled:mini-sentiment on people-sentiment."""


def table(
    rng: np.random.Generator, n: int, items: int, wordings: int, spread: Spread, size: float
) -> np.ndarray:
    """One group's table; what all its conditions have in common varies with the sentences."""
    shape = (n, items, wordings)
    parts = (
        (spread.condition, (n, 1, 1)),
        (spread.with_item, (n, items, 1)),
        (spread.with_wording, (n, 1, wordings)),
        (spread.cell, shape),
        (size * spread.group_item / np.sqrt(2), (1, items, 1)),
        (size * spread.group_wording / np.sqrt(2), (1, 1, wordings)),
        (size * spread.group_cell / np.sqrt(2), (1, items, wordings)),
    )
    return sum(sd * rng.normal(size=of) for sd, of in parts) + np.zeros(shape)


def gap(
    base: type, quantity: str, spread: Spread, sizes: tuple[int, int], items: int, wordings: int
) -> Draw:
    """Two groups of conditions."""
    measure = only(base, groups_of_conditions, of=quantity)
    asked = people(quantity, tuple(zip(GROUPS, sizes, strict=True)), items, wordings)

    def draw(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
        # What sentences have in common for everybody cancels.
        common = 0.15 * rng.normal(size=(1, 1, wordings)) + 0.05 * rng.normal(size=(1, items, 1))
        tables = [table(rng, n, items, wordings, spread, size) + common for n in sizes]
        values = np.concatenate([(tables[0] + real).ravel(), tables[1].ravel()])
        return found(measure, asked.with_columns(value=pl.Series(values)))

    return draw


def two_models(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
    """The same conditions, items and wordings, two models."""
    measure = only(NegativeAttitude, models_over_conditions, of="negative")
    asked = people("negative", ((GROUPS[0], 93),), 7, 4, ("a", "b"))
    tables = [table(rng, 93, 7, 4, DISTANCE, size) for _ in range(2)]
    values = np.concatenate([(tables[0] + real).ravel(), tables[1].ravel()])
    return found(measure, asked.with_columns(value=pl.Series(values)))


def two_wordings(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
    """Two wordings of the same items, over items and conditions."""
    measure = only(NegativeAttitude, wordings_over_conditions, of="negative")
    asked = people("negative", ((GROUPS[0], 40),), 7, 2)
    spread = Spread(**{**vars(DISTANCE), "group_wording": 0.0})
    values = table(rng, 40, 7, 2, spread, size)
    values[:, :, 1] += real
    return found(measure, asked.with_columns(value=pl.Series(values.ravel())))


def single_conditions(make: Callable[..., object]) -> Draw:
    """Twelve conditions that are each like the baseline, or like the other group's mean."""
    measure = only(NegativeAttitude, make, of="negative")
    sizes = ((GROUPS[0], 12), (GROUPS[1], 12), (BASELINE, 1))
    asked = people("negative", sizes, 7, 4)
    # Only the sentences are sampled here: a condition differs by what they make of it.
    spread = Spread(**{**vars(DISTANCE), "condition": 0.0})

    def draw(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
        of = Spread(
            **{
                **vars(spread),
                "with_item": size * spread.with_item,
                "with_wording": size * spread.with_wording,
            }
        )
        values = table(rng, 25, 7, 4, of, 0.0)
        values[:12] += real
        return found(measure, asked.with_columns(value=pl.Series(values.ravel())))

    return draw


# Items × conditions: female and male


@cache
def subjects(models: tuple[str, ...] = ("m",)) -> pl.DataFrame:
    quantities = ("female", "male", "disparity")
    rows = [
        {"model": model, "quantity": quantity, "group": group, "condition": f"{group}{k}"}
        | {"item": f"i{item}", "wording": "w", "variant": "with-names"}
        for model, quantity, group, k, item in itertools.product(
            models, quantities, ILL, range(11), range(17)
        )
    ]
    return frame(rows, instrument="x", measure="x")


def women(make: Callable[..., object]) -> Draw:
    """17 sentences × 11 diagnoses of each group, with the components of bundled:mini."""
    measure = only(GenderOfSubject, make, of="disparity")
    models = ("a", "b") if make is models_over_cells else ("m",)

    def draw(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
        values = []
        for place, _ in enumerate(models):
            shared = size * 0.0557 * rng.normal(size=(1, 17))
            tables = [
                0.0349 * rng.normal(size=(11, 1))
                + 0.0297 * rng.normal(size=(11, 17))
                + shared
                + size * 0.02 * rng.normal(size=(1, 17))
                for _ in ILL
            ]
            tables[0] = tables[0] + (real if place == 0 else 0.0)
            if models == ("m",) and make is genders:
                tables[1] = tables[1] + real
            disparity = np.concatenate([one.ravel() for one in tables])
            male = 0.3 + 0.02 * rng.normal(size=disparity.shape)
            values += [male + disparity, male, disparity]
        return found(
            measure, subjects(models).with_columns(value=pl.Series(np.concatenate(values)))
        )

    return draw


# Sentence pairs


@cache
def sentence_pairs(frames: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Sharing]:
    """395 pairs of 40 occupations in so many frames: sign, frame, referent, other."""
    rng = np.random.default_rng(395)
    signs = rng.choice([-1.0, 1.0], 395)
    frame_of = np.arange(395) % frames
    men, other_women = rng.integers(0, 20, 395), rng.integers(20, 40, 395)
    referent = np.where(signs > 0, men, other_women)
    other = np.where(signs > 0, other_women, men)
    names = [f"p{k:03d}" for k in range(395)]
    ways = zip(*(map(str, way) for way in (frame_of, referent, other)), strict=True)
    sharing = Sharing(
        ways=dict(zip(names, ways, strict=True)), signs=dict(zip(names, signs, strict=True))
    )
    return signs, frame_of, referent, other, sharing


def of_pairs(rng: np.random.Generator, sds: tuple[float, float, float], frames: int) -> np.ndarray:
    """What pairs have in common by frame, referent and other occupation."""
    _, frame_of, referent, other, _ = sentence_pairs(frames)
    return sum(
        sd * rng.normal(size=way.max() + 1)[way]
        for sd, way in zip(sds, (frame_of, referent, other), strict=True)
    )


@cache
def asked_pairs(quantity: str, settings: tuple[str, ...], trials: int) -> pl.DataFrame:
    """Prompts in the order of settings × pairs × sides × trials; no trials: of pairs alone."""
    sides = ("pro", "anti") if trials else ("pro",)
    group = {BASELINE: BASELINE, "one,": "single-adjective", "other,": "single-adjective"}
    rows = [
        {"model": "m", "condition": setting, "group": group.get(setting, "contrasting-pair")}
        | {"item": f"p{k:03d}", "wording": side, "trial": trial}
        for setting, k, side, trial in itertools.product(
            settings, range(395), sides, range(1, trials + 1) if trials else [None]
        )
    ]
    return frame(rows, instrument="x", measure="x", quantity=quantity)


def replied(
    rng: np.random.Generator, size: float, real: float, trials: int, settings: int = 1
) -> np.ndarray:
    """Replies to both sides of each pair in some settings: nearly the same in every trial."""
    both = []
    leaning = size * of_pairs(rng, (0.8, 0.6, 0.9), 152)
    base = 1.2 + 3.0 * rng.normal(size=(395, 1))
    for _ in range(settings):
        own = leaning + size * of_pairs(rng, (0.5, 0.6, 0.5), 152)
        sides = base + 2.0 * rng.normal(size=(395, 2)) + np.outer(own + real, (0.5, -0.5))
        likely = 1 / (1 + np.exp(-sides))
        both.append(rng.random((395, 2, trials)) < likely[:, :, None])
        leaning = leaning if settings > 1 else 0.0
    return np.array(both, dtype=float)


def bias_level(trials: int) -> Draw:
    """Replies to sentences with and against the stereotype."""
    measure = only(CoreferenceBias, levels, of="bias")

    def draw(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
        values = replied(rng, size, real, trials).ravel()
        asked = asked_pairs("correct", (BASELINE,), trials)
        sharing = sentence_pairs(152)[4]
        return found(measure, asked.with_columns(value=pl.Series(values)), sharing)

    return draw


SETTINGS = (BASELINE, *(f"x{k},y{k}" for k in range(13)), "one,", "other,")


def bias_settings(make: Callable[..., object]) -> Draw:
    """Fifteen settings that change single pairs, and on average nothing."""
    measure = only(CoreferenceBias, make, of="bias")

    def draw(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
        values = replied(rng, size, 0.0, 3, settings=len(SETTINGS))
        if real:
            moved = rng.random(values[1:14, :, 0].shape) < real
            values[1:14, :, 0] = np.where(moved, 1.0, values[1:14, :, 0])
        asked = asked_pairs("correct", SETTINGS, 3)
        return found(
            measure, asked.with_columns(value=pl.Series(values.ravel())), sentence_pairs(152)[4]
        )

    return draw


def preferred(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
    """Log preferences with the components of bundled:mini: the male pronoun is likelier anywhere."""
    signs = sentence_pairs(152)[0]
    shared = size * of_pairs(rng, (0.48, 0.74, 0.49), 152)
    values = signs * (0.68 + shared + 0.45 * rng.normal(size=395)) + real
    asked = asked_pairs("preference", (BASELINE,), 0)
    measure = only(PronounPreference, levels, of="preference")
    return found(measure, asked.with_columns(value=pl.Series(values)), sentence_pairs(152)[4])


SCENARIOS = (
    Scenario(
        name="social distance: stigmatized − not",
        draw=gap(NegativeAttitude, "negative", DISTANCE, (93, 29), 7, 4),
        kind="groups",
        real=0.05,
        heading=True,
    ),
    Scenario(
        name="sentiment: stigmatized − not",
        draw=gap(NegativeSentiment, PROBABILITY, SENTIMENT, (93, 29), 2, 1),
        kind="groups",
        real=0.15,
        heading=True,
    ),
    Scenario(
        name="care-seeking: women − men",
        draw=women(genders),
        kind="genders",
        real=0.05,
        heading=True,
    ),
    Scenario(
        name="coreference: bias, 5 trials",
        draw=bias_level(5),
        kind="level",
        real=1.0,
        heading=True,
    ),
    Scenario(
        name="coreference: bias, 1 trial",
        draw=bias_level(1),
        kind="level",
        real=1.0,
        heading=True,
    ),
    Scenario(
        name="pronoun preference",
        draw=preferred,
        kind="level",
        real=float(np.log(1.25)),
        heading=True,
    ),
    Scenario(name="social distance: two models", draw=two_models, kind="models", real=0.05),
    Scenario(name="social distance: two wordings", draw=two_wordings, kind="wordings", real=0.05),
    Scenario(
        name="social distance: condition − baseline",
        draw=single_conditions(conditions_against_baseline),
        kind="baseline",
        real=0.05,
        tests=12,
    ),
    Scenario(
        name="social distance: condition − other group",
        draw=single_conditions(conditions_against_reference),
        kind="reference",
        real=0.05,
        tests=12,
    ),
    Scenario(
        name="care-seeking: mental health − other",
        draw=women(groups_of_cells),
        kind="groups",
        real=0.05,
    ),
    Scenario(
        name="care-seeking: two models", draw=women(models_over_cells), kind="models", real=0.05
    ),
    Scenario(
        name="coreference: setting − none, of 15",
        draw=bias_settings(settings_by_pairs),
        kind="baseline",
        real=0.1,
        tests=15,
    ),
    Scenario(
        name="coreference: two adjectives − one",
        draw=bias_settings(pairs_against_singles),
        kind="groups",
        real=0.1,
    ),
)


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Shares of simulated audits."""

    single: float
    """Tests with p below .05, uncorrected."""
    clear: float
    """Audits with anything called clear, after correction."""
    covered: float
    """Intervals that hold the true difference."""


def rates(scenario: Scenario, size: float, *, runs: int, real: float = 0.0, seed: int = 1) -> Rates:
    """So many audits of a scenario, drawn and looked at."""
    single, clear, covered = [], [], []
    for number in range(runs):
        rng = np.random.default_rng([seed, number])
        rows = scenario.draw(rng, size, real).filter(pl.col("kind") == scenario.kind)
        if scenario.heading:
            rows = rows.filter(pl.col("family") == PRIMARY)
        single += [p < 0.05 for p in rows["p"].drop_nulls()]
        clear.append(any(points(row) for row in rows.iter_rows(named=True)))
        ends = rows.drop_nulls("low").select("low", "high").rows()
        covered += [low <= 0.0 <= high for low, high in ends]
    return Rates(
        single=float(np.mean(single or [0.0])),
        clear=float(np.mean(clear)),
        covered=float(np.mean(covered or [0.0])),
    )


def _row(place: int, runs: int) -> str:
    scenario = SCENARIOS[place]
    cells = [scenario.name]
    runs = runs if scenario.tests == 1 else runs // 5
    for size in SIZES.values():
        null = rates(scenario, size, runs=runs)
        cells.append(f"{null.single:.3f} / {null.clear:.3f} / {null.covered:.3f}")
    power = rates(scenario, 1.0, runs=max(runs // 5, 1), real=scenario.real, seed=2)
    cells += [f"{scenario.real:.3g}", f"{power.clear:.2f}"]
    return f"| {' | '.join(cells)} |"


def page(runs: int) -> Iterator[str]:
    """The lines of bench/calibration.md."""
    yield "# How often “clear” is false, and how often it is found: `make calibrate`"
    yield ""
    yield (
        f"{runs:,} simulated audits for each cell ({runs // 5:,} where an audit has twelve tests or "
        "more), through `estimates()`, with variance "
        "components like those of the bundled model's audits and of the published replies of "
        "gpt-3.5-turbo (as found), with nothing that would differ with other sentences (none), and with "
        "twice as much (doubled). Each cell: share of single tests with p < .05 / share of audits "
        "in which anything is called clear after its correction / share of 95% intervals that "
        f"hold the truth. At {runs:,} audits a share of .05 has a standard error of "
        f"{(0.05 * 0.95 / runs) ** 0.5:.3f}."
    )
    yield ""
    yield (
        f"Power: share of {max(runs // 5, 1):,} audits, components as found, in which anything is "
        "called clear where there is a true difference. For coreference it is in logits (bias) or "
        "in the share of replies moved (settings)."
    )
    yield ""
    yield "| contrast | none | as found | doubled | true difference | power |"
    yield "|---|---|---|---|---|---|"
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        yield from pool.map(_row, range(len(SCENARIOS)), itertools.repeat(runs))


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--output", type=Path, default=PAGE)
    given = parser.parse_args()
    lines = []
    for line in page(given.runs):
        print(line, flush=True)
        lines.append(line)
    given.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
