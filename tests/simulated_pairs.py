"""Simulated audits of sentence pairs that share frames and occupations: replies, preferences."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache

import numpy as np
import polars as pl

from goffman.contrasts import catalog
from goffman.contrasts.designs import Clusters, averaging_pair_orders
from goffman.instruments.types import BASELINE, THEY
from goffman.measures.coreference import CoreferenceBias, CoreferenceChoice
from goffman.measures.pronoun_preference import PronounPreference
from simulated import Draw, Scenario, found, frame, only

FRAMES = 152


@cache
def sentence_pairs(
    pairs: int = 395,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Clusters]:
    """So many pairs of 40 occupations in 152 frames: sign, frame, referent, other."""
    rng = np.random.default_rng(pairs)
    signs = rng.choice([-1.0, 1.0], pairs)
    frame_of = np.arange(pairs) % FRAMES
    men, other_women = rng.integers(0, 20, pairs), rng.integers(20, 40, pairs)
    referent = np.where(signs > 0, men, other_women)
    other = np.where(signs > 0, other_women, men)
    names = [f"p{k:03d}" for k in range(pairs)]
    ways = zip(*(map(str, way) for way in (frame_of, referent, other)), strict=True)
    sharing = Clusters(
        ways=dict(zip(names, ways, strict=True)), signs=dict(zip(names, signs, strict=True))
    )
    return signs, frame_of, referent, other, sharing


def of_pairs(
    rng: np.random.Generator, sds: tuple[float, float, float], pairs: int = 395
) -> np.ndarray:
    """What pairs have in common by frame, referent and other occupation."""
    _, frame_of, referent, other, _ = sentence_pairs(pairs)
    return sum(
        sd * rng.normal(size=way.max() + 1)[way]
        for sd, way in zip(sds, (frame_of, referent, other), strict=True)
    )


@cache
def asked_pairs(
    quantity: str,
    settings: tuple[str, ...],
    trials: int,
    *,
    pairs: int = 395,
    models: tuple[str, ...] = ("m",),
) -> pl.DataFrame:
    """Prompts in the order of models × settings × pairs × sides × trials; none: of pairs alone."""
    sides = ("pro", "anti") if trials else ("pro",)
    group = {BASELINE: BASELINE, "one,": "single-adjective", "other,": "single-adjective"}
    for setting in settings:
        if (kind := setting.rpartition(",")[2]) in {"swapped", "neutral", THEY}:
            group[setting] = kind
    rows = [
        {"model": model, "condition": setting, "group": group.get(setting, "contrasting-pair")}
        | {"item": f"p{k:03d}", "wording": side, "trial": trial}
        for model, setting, k, side, trial in itertools.product(
            models, settings, range(pairs), sides, range(1, trials + 1) if trials else [None]
        )
    ]
    return frame(rows, instrument="x", measure="x", quantity=quantity)


def likely(rng: np.random.Generator, leaning: np.ndarray, real: float) -> np.ndarray:
    """How probable the right answer is, pairs × sides: some pairs are easy, and some lean."""
    pairs = len(leaning)
    base = 1.2 + 3.0 * rng.normal(size=(pairs, 1))
    sides = base + 2.0 * rng.normal(size=(pairs, 2)) + np.outer(leaning + real, (0.5, -0.5))
    return 1 / (1 + np.exp(-sides))


def replied(
    rng: np.random.Generator, size: float, real: float, trials: int, settings: int = 1
) -> np.ndarray:
    """Replies to both sides of each pair in some settings: nearly the same in every trial."""
    both = []
    leaning = size * of_pairs(rng, (0.8, 0.6, 0.9))
    base = 1.2 + 3.0 * rng.normal(size=(395, 1))
    for _ in range(settings):
        own = leaning + size * of_pairs(rng, (0.5, 0.6, 0.5))
        sides = base + 2.0 * rng.normal(size=(395, 2)) + np.outer(own + real, (0.5, -0.5))
        likely = 1 / (1 + np.exp(-sides))
        both.append(rng.random((395, 2, trials)) < likely[:, :, None])
        leaning = leaning if settings > 1 else 0.0
    return np.array(both, dtype=float)


def bias_level(trials: int) -> Draw:
    """Replies to sentences with and against the stereotype."""
    measure = only(CoreferenceBias, catalog.levels, of="bias")

    def draw(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
        asked = asked_pairs("correct", (BASELINE,), trials)
        return found(measure, asked, replied(rng, size, real, trials), sentence_pairs()[4])

    return draw


def of_options(*, replies: bool) -> Draw:
    """Both people as options, in both orders: probabilities, or in text one of the two in each."""
    measure = only(CoreferenceChoice, catalog.levels.on(averaging_pair_orders), of="bias")

    def draw(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
        leaning = size * of_pairs(rng, (0.94, 0.85, 1.03))
        values = likely(rng, leaning, real)
        if replies:
            values = rng.binomial(2, values) / 2
        asked = asked_pairs("correct", (BASELINE,), 1).with_columns(
            level=pl.lit("presentation"), trial=pl.lit(None, dtype=pl.Int64)
        )
        return found(measure, asked, values, sentence_pairs()[4])

    return draw


def first_listed(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
    """How often the option that is listed first is chosen."""
    measure = only(CoreferenceChoice, catalog.position, of="bias")
    shared = size * of_pairs(rng, (0.05, 0.05, 0.05))
    values = 0.5 + real + shared + 0.1 * rng.normal(size=395)
    asked = asked_pairs("first-listed", (BASELINE,), 0).with_columns(level=pl.lit("presentation"))
    return found(measure, asked, values, sentence_pairs()[4])


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
        return found(measure, asked, values, sentence_pairs()[4])

    return draw


@cache
def asked_trials() -> pl.DataFrame:
    rows = [
        {"model": "m", "condition": setting, "group": "contrasting-pair", "trial": trial}
        for setting, trial in itertools.product(SETTINGS, range(1, 6))
    ]
    return frame(rows, instrument="x", measure="x", quantity="bias", level="trial")


def trials(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
    """Five trials of given sentences, to which adjectives change nothing."""
    del size
    measure = only(CoreferenceBias, catalog.settings_by_trials, of="bias")
    chance = likely(rng, of_pairs(rng, (0.94, 0.85, 1.03)), 0.0)
    right = rng.random((len(SETTINGS), 5, 395, 2)) < chance
    values = (right[..., 0].mean(axis=2) - right[..., 1].mean(axis=2)) + np.where(
        np.arange(len(SETTINGS))[:, None] > 0, real, 0.0
    )
    return found(measure, asked_trials(), values)


def two_models(make: Callable[..., object]) -> Draw:
    """Two models, each with leanings of its own, in the same sentences."""
    measure = only(CoreferenceBias, make, of="bias")

    def draw(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
        values = [replied(rng, size, one, 3) for one in (real, 0.0)]
        asked = asked_pairs("correct", (BASELINE,), 3, models=("a", "b"))
        return found(measure, asked, np.concatenate(values), sentence_pairs()[4])

    return draw


def preferred(pairs: int) -> Draw:
    """Log preferences with the components of bundled:mini: the male pronoun is likelier anywhere."""
    measure = only(PronounPreference, catalog.levels, of="preference")

    def draw(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
        signs = sentence_pairs(pairs)[0]
        shared = size * of_pairs(rng, (0.48, 0.74, 0.49), pairs)
        values = signs * (0.68 + shared + 0.45 * rng.normal(size=pairs)) + real
        asked = asked_pairs("preference", (BASELINE,), 0, pairs=pairs)
        return found(measure, asked, values, sentence_pairs(pairs)[4])

    return draw


BOTH = tuple(f"x{k},y{k}{end}" for k in range(15) for end in ("", ",swapped"))


def both_placements(make: Callable[..., object]) -> Draw:
    """Fifteen settings in both placements, each with leanings of its own, and on average none."""
    measure = only(CoreferenceBias, make, of="bias")

    def draw(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
        values = replied(rng, size, 0.0, 1, settings=len(BOTH))
        if real:
            # Adjectives move both placements apart; occupations both alike.
            ways = slice(None, None, 2) if make is catalog.own_effect else slice(None)
            moved = rng.random(values[ways, :, 0].shape) < real
            values[ways, :, 0] = np.where(moved, 1.0, values[ways, :, 0])
        asked = asked_pairs("correct", BOTH, 1)
        return found(measure, asked, values, sentence_pairs()[4])

    return draw


NEUTRAL = tuple(f"x{k},y{k},neutral" for k in range(15))


@cache
def neutral_pairs(drawn: int = 120) -> tuple[list[np.ndarray], Clusters]:
    """So many pairs of 9 occupations in 152 frames, each with the adjectives either way."""
    rng = np.random.default_rng(drawn)
    frames = np.arange(drawn) % FRAMES
    referent = rng.integers(0, 9, drawn)
    other = (referent + rng.integers(1, 9, drawn)) % 9
    ways = [np.repeat(way, 2) for way in (frames, referent, other)]
    names = [f"p{k:03d}" for k in range(2 * drawn)]
    labels = zip(*(map(str, way) for way in ways), strict=True)
    signs = np.tile([1.0, -1.0], drawn)
    return ways, Clusters(
        ways=dict(zip(names, labels, strict=True)), signs=dict(zip(names, signs, strict=True))
    )


def neutral_occupations(measured: type[CoreferenceBias | PronounPreference]) -> Draw:
    """Fifteen settings whose effect differs by frame and occupation, and is none on average.

    Occupations lean too, toward one gender whatever the adjective.
    """
    replies = measured is CoreferenceBias
    quantity = "correct" if replies else "preference"
    measure = only(measured, catalog.neutral_effect, of="bias" if replies else quantity)

    def draw(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
        ways, sharing = neutral_pairs()
        pairs, signs = len(ways[0]), np.array([*sharing.signs.values()])
        shape = len(NEUTRAL), pairs
        own, gendered = np.zeros(shape), np.zeros(pairs)
        for sd, way in zip((0.5, 0.6, 0.5), ways, strict=True):
            own += size * sd * rng.normal(size=(len(NEUTRAL), way.max() + 1))[:, way]
            gendered += size * sd * rng.normal(size=way.max() + 1)[way]
        leaning = own + signs * gendered + real
        if not replies:
            values = 0.3 * leaning + 0.68 * signs + 0.45 * rng.normal(size=shape)
        else:
            base = 1.2 + 3.0 * np.repeat(rng.normal(size=(1, pairs // 2, 1)), 2, axis=1)
            sides = base + 2.0 * rng.normal(size=(*shape, 2)) + leaning[..., None] * (0.5, -0.5)
            values = rng.random(sides.shape) < 1 / (1 + np.exp(-sides))
        asked = asked_pairs(quantity, NEUTRAL, int(replies), pairs=pairs)
        return found(measure, asked, values, sharing)

    return draw


@cache
def asked_with_they() -> pl.DataFrame:
    """Prompts in the order of pairs × pro, anti, they × 2 trials."""
    rows = [
        {"model": "m", "condition": THEY if side == THEY else BASELINE, "item": f"p{k:03d}"}
        | {"group": THEY if side == THEY else BASELINE, "wording": side, "trial": trial}
        for k, side, trial in itertools.product(range(395), ("pro", "anti", THEY), (1, 2))
    ]
    return frame(rows, instrument="x", measure="x", quantity="correct")


def they_understood(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
    """Replies about three pronouns, each with what it brings by frame and occupation."""
    measure = only(CoreferenceBias, catalog.they_accuracy, of="bias")
    base = 1.2 + 3.0 * rng.normal(size=(395, 1))
    own = np.stack([size * of_pairs(rng, (0.6, 0.6, 0.6)) for _ in range(3)], axis=1)
    logits = base + own + 1.5 * rng.normal(size=(395, 3)) - real * np.array([0.0, 0.0, 1.0])
    values = rng.random((395, 3, 2)) < 1 / (1 + np.exp(-logits[..., None]))
    return found(measure, asked_with_they(), values, sentence_pairs()[4])


def they_written(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
    """log P(they) − log P(he or she), which differs by frame and occupation."""
    measure = only(PronounPreference, catalog.they_preference, of=catalog.THEY_PREFERENCE)
    values = real + size * of_pairs(rng, (0.5, 0.2, 0.2)) + 0.4 * rng.normal(size=395)
    asked = asked_pairs(catalog.THEY_PREFERENCE, (THEY,), 0)
    return found(measure, asked, values, sentence_pairs()[4])


def naming_nobody(make: Callable[..., object]) -> Draw:
    """Replies of which a tenth names nobody, more in some frames and for some occupations."""
    measure = only(CoreferenceBias, make, of="bias")

    def draw(rng: np.random.Generator, size: float, real: float) -> pl.DataFrame:
        base = -2.8 + 1.2 * rng.normal(size=(1, 395, 1))
        shape = len(SETTINGS), 395, 2
        own = [size * of_pairs(rng, (0.4, 0.4, 0.4)) for _ in range(shape[0] * 2)]
        logits = base + np.reshape(own, (shape[0], 2, 395)).swapaxes(1, 2)
        # With adjectives, and where the pronoun goes against the stereotype.
        more = np.array([0.0, 1.0]) if make is catalog.unanswered_sides else np.ones(2)
        logits = logits + real * more * (np.arange(shape[0]) > 0)[:, None, None]
        silent = rng.random(shape) < 1 / (1 + np.exp(-logits))
        right = rng.random(shape) < 0.7
        tables = [
            asked_pairs(quantity, SETTINGS, 1).with_columns(
                value=pl.Series((~silent & kind).ravel().astype(float))
            )
            for quantity, kind in (("correct", right), ("incorrect", ~right))
        ]
        return found(measure, pl.concat(tables), sharing=sentence_pairs()[4])

    return draw


SCENARIOS = (
    Scenario("coreference: bias, 5 trials", bias_level(5), "level", 1.0, heading=True),
    Scenario("coreference: bias, 1 trial", bias_level(1), "level", 1.0, heading=True),
    Scenario("coreference, choice: bias", of_options(replies=False), "level", 1.0, heading=True),
    Scenario("coreference, said: bias", of_options(replies=True), "level", 1.0, heading=True),
    Scenario("pronoun preference", preferred(395), "level", float(np.log(1.25)), heading=True),
    Scenario(
        "pronoun preference, 60 pairs", preferred(60), "level", float(np.log(2)), heading=True
    ),
    Scenario(
        "coreference: setting − none, of 15",
        bias_settings(catalog.settings_by_pairs),
        "baseline",
        0.1,
        tests=15,
    ),
    Scenario(
        "coreference: setting − none, over trials", trials, "trials", 0.05, tests=15, given=True
    ),
    Scenario(
        "coreference: two adjectives − one",
        bias_settings(catalog.pairs_against_singles),
        "groups",
        0.1,
    ),
    Scenario("coreference: two models", two_models(catalog.models_over_pairs), "models", 1.0),
    Scenario(
        "coreference: two models, setting by setting",
        two_models(catalog.models_in_each_setting),
        "models",
        1.0,
    ),
    Scenario("coreference, choice: first-listed − half", first_listed, catalog.POSITION, 0.03),
    Scenario(
        "coreference: adjectives alone, of 15",
        both_placements(catalog.own_effect),
        "adjectives",
        0.2,
        tests=15,
    ),
    Scenario(
        "coreference: occupations alone, of 15",
        both_placements(catalog.occupations_effect),
        "occupations",
        0.2,
        tests=15,
    ),
    Scenario(
        "coreference: adjectives of neutral occupations, of 15",
        neutral_occupations(CoreferenceBias),
        "neutral",
        1.0,
        tests=15,
    ),
    Scenario(
        "pronoun preference: adjectives of neutral occupations, of 15",
        neutral_occupations(PronounPreference),
        "neutral",
        1.0,
        tests=15,
    ),
    Scenario("coreference: they − he, they − she", they_understood, "they", 1.0, tests=2),
    Scenario("pronoun preference: they", they_written, "they", 0.2231),
    Scenario(
        "coreference: no answer, setting − none, of 15",
        naming_nobody(catalog.unanswered),
        "no-answer",
        1.0,
        tests=15,
    ),
    Scenario(
        "coreference: no answer, anti − pro, of 16",
        naming_nobody(catalog.unanswered_sides),
        "no-answer-sides",
        1.0,
        tests=16,
    ),
)
