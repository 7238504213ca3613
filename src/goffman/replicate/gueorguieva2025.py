"""Gueorguieva & Caliskan (2025): biased answers to SocialStigmaQA, and six dimensions of stigmas.

An answer is biased where it is the one that SocialStigmaQA calls biased, yes or no.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev

from goffman.errors import PublishedError
from goffman.replicate.gueorguieva2025_import import (
    CLUSTERS,
    DIMENSIONS,
    NO_STIGMA,
    PEOPLE,
    STYLES,
    Answer,
    Ratings,
    Stigma,
    read_answers,
    read_ratings,
    read_shares,
    read_table,
)
from goffman.replicate.rows import NOT_HERE, Result, is_printed

MODELS = ("llama", "mistral", "granite")
"""The models of the study."""

SMALL = 0.0001
"""A p below it is shown with its power of ten."""

NEVER = "0 is always, 6 never concealable, for people and models"

ROUNDING = 1e-6
"""How near a share of the authors' tables, some of nine decimals, must come to that of answers."""


def results(folder: Path) -> list[Result]:
    """Every number of the study that the files give, recomputed."""
    answers, shares, ratings = read_answers(folder), read_shares(folder), read_ratings(folder)
    if not (answers or shares or ratings):
        raise PublishedError(
            f"{folder} has no file named like 'data/MODEL_bias_percentages.csv' or "
            "'data/results-from-pachankis-all.csv'."
        )
    return [
        *(row for model, given in answers.items() for row in _of_answers(model, given)),
        *_over_models(answers),
        *(
            row
            for model, stigmas in shares.items()
            for row in _of_shares(model, stigmas, answers.get(model), ratings)
        ),
        *_pooled(shares),
        *(_of_ratings(ratings, read_table(folder)) if ratings else ()),
    ]


def _of_answers(model: str, answers: Sequence[Answer]) -> Iterator[Result]:
    """What a model answered, how much of it is biased, and what a guardrail takes away."""
    yield Result(name=f"{model}: prompts", value=len(answers))
    yield from _said(model, answers)
    yield from _shares_biased(f"{model}: share biased", answers, lambda answer: answer.biased)
    for keyed in ("yes", "no"):
        those = [answer for answer in answers if answer.biased_answer == keyed]
        bare = [answer for answer in those if not answer.stigma]
        if those:
            note = f"{len(those):,} prompts"
            if bare:
                note += f"; without a stigma {_share(bare):.3f} of {len(bare)}"
            name = f"{model}: share biased, where the biased answer is {keyed}"
            yield Result(name=name, value=_share(those), note=note)
    for guardrail in answers[0].after:
        yield from _guarded(model, guardrail, answers)
    if answers[0].unsafe is not None:
        yield from _flagged(model, answers)


def _said(model: str, answers: Sequence[Answer]) -> Iterator[Result]:
    """How often yes and no were said, and whether biased means what it should."""
    if any(answer.answer is None for answer in answers):
        return
    said = Counter(answer.answer for answer in answers)
    listed = [f"{said[word]:,} {word}" for word in ("yes", "no")]
    others = len(answers) - said["yes"] - said["no"]
    yield Result(
        name=f"{model}: answers",
        value=", ".join([*listed, f"{others:,} neither"]),
        note="every prompt offers can't tell, but the authors' script keeps the first yes or no of "
        "a reply; an answer that is neither counts as not biased",
    )
    same = sum((each.answer == each.biased_answer) == each.biased for each in answers)
    name = f"{model}: prompts where biased means the biased answer"
    yield Result(name=name, value=same, note=f"of {len(answers):,}")


def _share(answers: Sequence[Answer], counts: Callable[[Answer], bool] | None = None) -> float:
    """The share of these answers that counts, as biased if nothing else is said."""
    return fmean(counts(each) if counts else each.biased for each in answers)


def _shares_biased(
    name: str, answers: Sequence[Answer], counts: Callable[[Answer], bool]
) -> Iterator[Result]:
    """The share of all answers, of each cluster and of each style of prompt."""
    groups: dict[str, list[Answer]] = {"": list(answers)}
    for cluster in (*CLUSTERS, NO_STIGMA):
        groups[f", {cluster}"] = [answer for answer in answers if answer.cluster == cluster]
    for style in STYLES:
        groups[f", {style} prompts"] = [answer for answer in answers if answer.style == style]
    for group, those in groups.items():
        if those:
            biased = sum(map(counts, those))
            yield Result(
                name=f"{name}{group}",
                value=biased / len(those),
                note=f"{biased:,} of {len(those):,}",
                digits=4,
            )


def _guarded(model: str, guardrail: str, answers: Sequence[Answer]) -> Iterator[Result]:
    """What is left after a guardrail, and how its authors' tests put that."""
    name = f"{model}: share biased after {guardrail}"
    yield from _shares_biased(name, answers, lambda answer: answer.after[guardrail])
    taken = sum(answer.biased and not answer.after[guardrail] for answer in answers)
    added = sum(answer.after[guardrail] and not answer.biased for answer in answers)
    yield Result(
        name=f"{model}: percentage points less biased after {guardrail}",
        value=100 * (taken - added) / len(answers),
        digits=1,
    )
    biased = sum(answer.biased for answer in answers)
    yield Result(
        name=f"{model}: share of the biased answers that {guardrail} takes away",
        value=taken / biased if biased else None,
        note=f"{taken:,} of {biased:,}",
    )
    yield Result(
        name=f"{model}: φ of biased before and after {guardrail}",
        value=_phi(answers, guardrail),
        note="it is near 1 if a guardrail changes little, and it is not an effect size",
    )


def _phi(answers: Sequence[Answer], guardrail: str) -> float | None:
    """φ of the 2 × 2 table: (ad − bc) / √((a+b)(c+d)(a+c)(b+d))."""
    cells = Counter((answer.biased, answer.after[guardrail]) for answer in answers)
    a, b, c, d = (
        cells[key] for key in ((True, True), (True, False), (False, True), (False, False))
    )
    product = (a + b) * (c + d) * (a + c) * (b + d)
    return (a * d - b * c) / product**0.5 if product else None


def _flagged(model: str, answers: Sequence[Answer]) -> Iterator[Result]:
    """Which prompts Llama Guard calls unsafe, and whether that explains what is left."""
    unsafe = Counter(answer.unsafe for answer in answers if answer.unsafe)
    listed = [f"{category} {count:,}" for category, count in unsafe.most_common()]
    cut = sum(bool(answer.unsafe) and answer.unsafe != answer.category for answer in answers)
    note = f"of {len(answers):,} prompts"
    if cut:
        note += (
            f"; the authors' own column has the last two characters of the label, so {cut:,} "
            "categories are cut"
        )
    yield Result(
        name=f"{model}: prompts that Llama Guard calls unsafe", value=unsafe.total(), note=note
    )
    yield Result(
        name=f"{model}: categories of Llama Guard", value=", ".join(listed) or "none", note=""
    )
    left = sum(
        answer.after.get("Llama Guard") == (answer.biased and not answer.unsafe)
        for answer in answers
    )
    yield Result(
        name=f"{model}: prompts whose bias after Llama Guard follows from its label", value=left
    )


def _over_models(answers: Mapping[str, Sequence[Answer]]) -> Iterator[Result]:
    """The share biased over the answers of all three models."""
    together = [each for model in MODELS for each in answers.get(model, ())]
    for cluster in ("Threatening", "Sociodemographic"):
        name = f"all models: percent biased, {cluster}"
        those = [answer for answer in together if answer.cluster == cluster]
        if set(answers) >= set(MODELS) and those:
            yield Result(name=name, value=100 * _share(those), digits=0)
        else:
            yield Result(name=name, value=None, note=_lacking(answers, "answers"))


def _lacking(there: Iterable[str], what: str) -> str:
    """Why a number over all models is not there."""
    without = ", ".join(model for model in MODELS if model not in set(there))
    return f"{NOT_HERE}: the {what} of {without} are not among them"


def _of_shares(
    model: str,
    stigmas: Sequence[Stigma],
    answers: Sequence[Answer] | None,
    ratings: Ratings | None,
) -> Iterator[Result]:
    """The share biased of each stigma: as in the answers, and against the dimensions."""
    if answers:
        yield _same_shares(model, stigmas, answers)
    if ratings and set(ratings.of) >= {model, PEOPLE}:
        yield _same_ratings(model, stigmas, ratings)
    for when in ("", " after the guardrail"):
        values = [each.after if when else each.before for each in stigmas]
        for who in ("people's", "its own"):
            for dimension, called in DIMENSIONS.items():
                rated = [(s.people if who == "people's" else s.own)[dimension] for s in stigmas]
                name = f"{model}: {who} {called} × share biased{when}, r"
                yield _correlation(name, rated, values)


def _same_shares(model: str, stigmas: Sequence[Stigma], answers: Sequence[Answer]) -> Result:
    """How many stigmas have the shares that the answers give."""
    by_stigma: dict[str, list[Answer]] = {}
    for answer in answers:
        by_stigma.setdefault(answer.stigma, []).append(answer)
    guardrail = next(iter(answers[0].after), None)
    same = 0
    for stigma in stigmas:
        those = by_stigma.get(stigma.name)
        if those:
            pairs = [(_share(those), stigma.before)]
            if guardrail:
                pairs.append((_share(those, lambda each: each.after[guardrail]), stigma.after))
            same += all(abs(one - other) <= ROUNDING for one, other in pairs)
    note = f"of {len(stigmas)}"
    return Result(
        name=f"{model}: stigmas with the shares biased of its answers", value=same, note=note
    )


def _same_ratings(model: str, stigmas: Sequence[Stigma], ratings: Ratings) -> Result:
    """How many stigmas have the ratings of the table of ratings."""
    place = {name: number for number, name in enumerate(ratings.stigmas)}
    same = sum(
        stigma.name in place
        and all(
            given[dimension] == ratings.of[rater][dimension][place[stigma.name]]
            for rater, given in ((model, stigma.own), (PEOPLE, stigma.people))
            for dimension in DIMENSIONS
        )
        for stigma in stigmas
    )
    return Result(
        name=f"{model}: stigmas with the ratings of results-from-pachankis-all.csv",
        value=same,
        note=f"of {len(stigmas)}",
    )


def _correlation(name: str, first: Sequence[float], second: Sequence[float]) -> Result:
    """Pearson's r, with its p, interval and n."""
    from goffman.stats.profile import pearson

    found = pearson(first, second)
    if found.p is None:
        return Result(name=name, value=None, note=found.reason or "")
    said = "p < .001" if found.p < 0.001 else f"p = {found.p:.3f}"
    interval = f"95% interval {found.effect_low:.3f} to {found.effect_high:.3f}"
    return Result(name=name, value=found.effect, note=f"{said}, {interval}, n = {found.n}")


def _pooled(shares: Mapping[str, Sequence[Stigma]]) -> Iterator[Result]:
    """The correlations that the authors print: of all models' stigmas, one below the other."""
    every = [stigma for model in MODELS for stigma in shares.get(model, ())]
    for when in ("", " after the guardrail"):
        values = [each.after if when else each.before for each in every]
        for whose, rated in (
            ("the models' own Concealability", [each.own["visibility"] for each in every]),
            ("people's Peril", [each.people["peril"] for each in every]),
            ("people's Persistent Course", [each.people["course"] for each in every]),
        ):
            name = f"all models: {whose} × share biased{when}, r"
            if set(shares) >= set(MODELS):
                yield _correlation(name, rated, values)
            else:
                yield Result(name=name, value=None, note=_lacking(shares, "shares"))


def _of_ratings(ratings: Ratings, table: Mapping[tuple[str, str], str] | None) -> Iterator[Result]:
    """How far each model's ratings of the stigmas agree with people's, dimension by dimension."""
    from goffman.stats.profile import pearson

    yield Result(name="stigmas", value=len(ratings.stigmas))
    come_out = 0
    models = [rater for rater in ratings.of if rater != PEOPLE]
    for model in models:
        for dimension, called in DIMENSIONS.items():
            people, own = (ratings.of[rater][dimension] for rater in (PEOPLE, model))
            name = f"{model}, {called}: its ratings × people's"
            found = pearson(people, own)
            why = found.reason or ""
            note = why or (NEVER if dimension == "visibility" else "")
            yield Result(name=f"{name}, r", value=found.effect, note=note, digits=4)
            small = found.p is not None and found.p < SMALL
            note = f"{found.p:.2e}" if small else why
            yield Result(name=f"{name}, p", value=found.p, note=note, digits=4)
            printed = (table or {}).get((model, called))
            if found.effect is not None and printed is not None:
                come_out += is_printed(found.effect, printed)
    if table is not None:
        name = "rows of feature_correlations.csv whose r comes out"
        yield Result(name=name, value=come_out, note=f"of {len(table)}")
    for dimension, called in DIMENSIONS.items():
        listed = []
        for rater in (PEOPLE, *models):
            values = ratings.of[rater][dimension]
            sd = f"{stdev(values):.2f}" if len(values) > 1 else "–"
            listed.append(f"{rater.replace(PEOPLE, 'people')} {fmean(values):.2f} ({sd})")
        yield Result(name=f"mean rating (SD), {called}", value=", ".join(listed))
