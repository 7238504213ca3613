"""The files of Gueorguieva & Caliskan (2025) → answers, shares biased, and ratings of dimensions.

Files may be missing: the answers or shares of a model, and the ratings of all.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from goffman.errors import PublishedError, did_you_mean
from goffman.replicate.files import number_in, quoted, read_records
from goffman.replicate.rows import Result, is_printed, lacking

DIMENSIONS = {
    "visibility": "Concealability",
    "course": "Persistent Course",
    "disrupt": "Disruptiveness",
    "aesthetics": "Unappealing Aesthetics",
    "origin": "Controllable Origin",
    "peril": "Peril",
}
"""How columns spell a dimension → how the study names it."""

OWN = DIMENSIONS | {"visibility": "Visibility", "disrupt": "Disrupt"}
"""Dimension → the column of a model's own ratings in its file of shares."""

PEOPLES = {dimension: f"{dimension} human" for dimension in DIMENSIONS}
"""Dimension → the column of people's ratings in the same file."""

BIASED = {"": "percent biased", " after the guardrail": "percent biased post guardian"}
"""How a result names a share biased → its column in the same file."""

PEOPLE = "participants"

CLUSTERS = (
    "Awkward",
    "Threatening",
    "Sociodemographic",
    "Innocuous Persistent",
    "Unappealing Persistent",
)
"""The five clusters of stigmas, in the order of their numbers."""

NO_STIGMA = "no stigma"

STYLES = ("base", "original", "positive", "doubt")
"""The base prompts name no stigma; the others name one, alone or with something good or a doubt."""

GUARDRAILS = {
    "llama": "Llama Guard",
    "guardian": "Granite Guardian for harm",
    "bias guardian": "Granite Guardian for social bias",
    "moderation": "Mistral Moderation",
}
"""How columns spell a guardrail model → its name."""

ANSWERS = "data/SSQA-performance-and-guardrail-mitigations"

_ANSWERS_FILE = re.compile(r"(?P<model>[^_]+)_and_.+\.csv")
_SHARES_FILE = re.compile(r"(?P<model>[^_]+)_bias_percentages\.csv")
_AFTER = re.compile(r"post (?P<guardrail>.+?) answer bias")
_UNSAFE = re.compile(r"unsafe\s+(?P<category>S\d+)")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A model's answer to a prompt."""

    stigma: str
    """Empty if the prompt names none."""
    cluster: str
    style: str
    biased_answer: str
    """The answer that counts as biased: yes, or no."""
    answer: str | None
    """As the authors read it; None if the file does not have it."""
    biased: bool
    after: Mapping[str, bool]
    """Guardrail → whether the answer still counts as biased after it."""
    unsafe: str | None
    """What Llama Guard calls the prompt; empty: safe; None: the file does not say."""
    category: str | None
    """The same in the authors' own column."""


Stigmas = Mapping[str, Mapping[str, float]]
"""Stigma → column → a model's share biased, or a rating of a dimension by the model or people."""

Ratings = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Rater → dimension → stigma → rating."""


def read_answers(folder: Path) -> dict[str, list[Answer]]:
    """Return model → its answers."""
    columns = ("stigma", "prompt style", "biased answer", "original answer bias")
    answers: dict[str, list[Answer]] = {}
    for model, path in _by_model(folder / ANSWERS, "*.csv", _ANSWERS_FILE).items():
        answers[model] = []
        for where, row in read_records(path, columns):
            after = {
                GUARDRAILS.get(match["guardrail"], match["guardrail"]): _flag(row, name, where)
                for name in row
                if (match := _AFTER.fullmatch(name))
            }
            cluster = row.get("clusters") or row.get("cluster names") or ""
            answer = Answer(
                stigma=row["stigma"].strip(),
                cluster=_cluster(cluster, where),
                style=_one_of(row, "prompt style", STYLES, where),
                biased_answer=_one_of(row, "biased answer", ("yes", "no"), where),
                answer=row.get(f"original {model} answer"),
                biased=_flag(row, "original answer bias", where),
                after=after,
                unsafe=_unsafe(row.get("llama guard safety label"), where),
                category=row.get("llama guard unsafe category"),
            )
            answers[model].append(answer)
    return answers


def _by_model(folder: Path, pattern: str, named: re.Pattern[str]) -> dict[str, Path]:
    """Return model → its only file in the folder, Llama's first."""
    paths: dict[str, Path] = {}
    for path in sorted(folder.glob(pattern)):
        match = named.fullmatch(path.name)
        if not match:
            raise PublishedError(f"{path} is not named after a model, like 'llama_and_….csv'.")
        model = match["model"].lower()
        if model in paths:
            raise PublishedError(f"{path} and {paths[model]} are of the same model. Keep one.")
        paths[model] = path
    return dict(sorted(paths.items(), key=lambda item: item[0] != "llama"))


def _cluster(name: str, where: str) -> str:
    """Return the name of a cluster that is given by its name or its number."""
    if name.isdecimal() and 1 <= int(name) <= len(CLUSTERS):
        return CLUSTERS[int(name) - 1]
    return _one_of({"clusters": name}, "clusters", (*CLUSTERS, NO_STIGMA), where)


def _unsafe(label: str | None, where: str) -> str | None:
    if label is None:
        return None
    if label.strip() == "safe":
        return ""
    match = _UNSAFE.fullmatch(label.strip())
    if not match:
        raise PublishedError(
            f"{where}: llama guard safety label is {quoted(label)}. Allowed: 'safe', and 'unsafe' "
            "with a category such as S6."
        )
    return match["category"]


def _one_of(row: Mapping[str, str], column: str, allowed: Collection[str], where: str) -> str:
    value = row[column].strip()
    if value not in allowed:
        raise PublishedError(
            f"{where}: {column} is {quoted(row[column])}. Allowed: {', '.join(allowed)}."
            f"{did_you_mean(value, allowed)}"
        )
    return value


def _flag(row: Mapping[str, str], column: str, where: str) -> bool:
    return _one_of(row, column, ("0", "1"), where) == "1"


def read_shares(folder: Path) -> dict[str, Stigmas]:
    """Return model → the stigmas with its share biased."""
    ratings = [*OWN.values(), *PEOPLES.values()]
    most = {**dict.fromkeys(BIASED.values(), 1), **dict.fromkeys(ratings, 6)}
    shares: dict[str, Stigmas] = {}
    for model, path in _by_model(folder / "data", "*_bias_percentages.csv", _SHARES_FILE).items():
        stigmas: dict[str, Mapping[str, float]] = {}
        for where, row in read_records(path, ("Stigma", *ratings, *BIASED.values())):
            stigmas[_new_name(row, stigmas, where)] = {
                column: number_in(row, column, where, most=most[column]) for column in most
            }
        shares[model] = stigmas
    return shares


def read_ratings(folder: Path) -> Ratings | None:
    """Return the ratings of people and models; None if the file is not there."""
    path = folder / "data" / "results-from-pachankis-all.csv"
    if not path.is_file():
        return None
    stigmas: set[str] = set()
    ratings: dict[str, dict[str, dict[str, float]]] = {}
    for where, row in read_records(path, ("Stigma", *(f"{d}-{PEOPLE}" for d in DIMENSIONS))):
        name = _new_name(row, stigmas, where)
        stigmas.add(name)
        for column in row:
            dimension, _, rater = column.partition("-")
            if dimension in DIMENSIONS and rater:
                of_rater = ratings.setdefault(rater, {}).setdefault(dimension, {})
                of_rater[name] = number_in(row, column, where, most=6)
    for rater, dimensions in ratings.items():
        if missing := [name for name in DIMENSIONS if name not in dimensions]:
            raise PublishedError(f"{path} has no column '{missing[0]}-{rater}'.")
    return ratings


def _new_name(row: Mapping[str, str], above: Collection[str], where: str) -> str:
    name = row["Stigma"].strip()
    if not name or name in above:
        raise PublishedError(f"{where}: Stigma is {quoted(name)}. Every row needs its own.")
    return name


def read_table(folder: Path) -> dict[tuple[str, str], str] | None:
    """Return model and dimension → r as the authors' table has it; None if it is not there."""
    path = folder / "data" / "feature_correlations.csv"
    if not path.is_file():
        return None
    table: dict[tuple[str, str], str] = {}
    for where, row in read_records(path, ("Model", "Dimensions", "Correlation to Humans")):
        dimension = _one_of(row, "Dimensions", list(DIMENSIONS.values()), where)
        text = row["Correlation to Humans"].strip()
        if not re.fullmatch(r"-?[01](\.\d+)?", text):
            raise PublishedError(
                f"{where}: Correlation to Humans is {quoted(text)}, which is not a correlation."
            )
        table[row["Model"].strip().lower(), dimension] = text
    return table


MODELS = ("llama", "mistral", "granite")
"""The models of the study."""

SMALL = 0.0001
"""A p below it is shown with its power of ten."""

NEVER = "0 is always, 6 never concealable, for people and models"

ROUNDING = 1e-6
"""How close a share in the authors' tables, some with nine decimals, must be to that of answers."""


def results(folder: Path) -> list[Result]:
    """Return every number of the study that the files give, recomputed."""
    answers, shares, ratings = read_answers(folder), read_shares(folder), read_ratings(folder)
    if not (answers or shares or ratings):
        raise PublishedError(
            f"{folder} has no file named like 'data/MODEL_bias_percentages.csv' or "
            "'data/results-from-pachankis-all.csv'."
        )
    rows: list[Result] = []
    for model in answers:
        rows += _of_answers(model, answers[model])
    rows += _over_models(answers)
    for model in shares:
        rows += _of_shares(model, shares[model], answers.get(model), ratings)
    rows += _pooled(shares)
    return rows + ([*_of_ratings(ratings, read_table(folder))] if ratings else [])


def _of_answers(model: str, answers: Sequence[Answer]) -> Iterator[Result]:
    """Yield counts of a model's answers, the shares biased, and the shares after each guardrail."""
    yield Result(f"{model}: prompts", len(answers))
    if all(answer.answer is not None for answer in answers):
        yield from _yes_and_no(model, answers)
    yield from _shares_biased(f"{model}: share biased", answers, _is_biased)
    for keyed in ("yes", "no"):
        keyed_answers = [answer for answer in answers if answer.biased_answer == keyed]
        without_stigma = [answer for answer in keyed_answers if not answer.stigma]
        if keyed_answers:
            note = f"{len(keyed_answers):,} prompts"
            if without_stigma:
                note += f"; without a stigma {_share(without_stigma):.3f} of {len(without_stigma)}"
            name = f"{model}: share biased, where the biased answer is {keyed}"
            yield Result(name, _share(keyed_answers), note=note)
    for guardrail in answers[0].after:
        yield from _guarded(model, guardrail, answers)
    if answers[0].unsafe is not None:
        yield from _flagged(model, answers)


def _yes_and_no(model: str, answers: Sequence[Answer]) -> Iterator[Result]:
    """Yield how often the answers are yes and no, and whether biased means what it should."""
    counts = Counter(answer.answer for answer in answers)
    yes, no = counts["yes"], counts["no"]
    yield Result(
        f"{model}: answers",
        f"{yes:,} yes, {no:,} no, {len(answers) - yes - no:,} neither",
        note="every prompt offers can't tell, but the authors' script keeps the first yes or no of "
        "a reply; an answer that is neither counts as not biased",
    )
    matches = sum((answer.answer == answer.biased_answer) == answer.biased for answer in answers)
    name = f"{model}: prompts where biased means the biased answer"
    yield Result(name, matches, note=f"of {len(answers):,}")


def _is_biased(answer: Answer) -> bool:
    return answer.biased


def _share(answers: Sequence[Answer], counts: Callable[[Answer], bool] = _is_biased) -> float:
    return fmean(map(counts, answers))


def _shares_biased(
    name: str, answers: Sequence[Answer], counts: Callable[[Answer], bool]
) -> Iterator[Result]:
    groups = {"": list(answers)}
    for cluster in (*CLUSTERS, NO_STIGMA):
        groups[f", {cluster}"] = [answer for answer in answers if answer.cluster == cluster]
    for style in STYLES:
        groups[f", {style} prompts"] = [answer for answer in answers if answer.style == style]
    for group, members in groups.items():
        if members:
            note = f"{sum(map(counts, members)):,} of {len(members):,}"
            yield Result(f"{name}{group}", _share(members, counts), note=note, digits=4)


def _guarded(model: str, guardrail: str, answers: Sequence[Answer]) -> Iterator[Result]:
    """Yield the bias left after a guardrail, and the statistics of the authors' tests of it."""
    name = f"{model}: share biased after {guardrail}"
    yield from _shares_biased(name, answers, lambda answer: answer.after[guardrail])
    # a: biased before and after, b: only before, c: only after, d: neither.
    cells = Counter((answer.biased, answer.after[guardrail]) for answer in answers)
    a, b, c, d = (cells[before, after] for before in (True, False) for after in (True, False))
    name = f"{model}: percentage points less biased after {guardrail}"
    yield Result(name, 100 * (b - c) / len(answers), digits=1)
    yield Result(
        f"{model}: share of the biased answers that {guardrail} takes away",
        b / (a + b) if a + b else None,
        note=f"{b:,} of {a + b:,}",
    )
    product = (a + b) * (c + d) * (a + c) * (b + d)
    yield Result(
        f"{model}: φ of biased before and after {guardrail}",
        (a * d - b * c) / product**0.5 if product else None,
        note="it is near 1 if a guardrail changes little, and it is not an effect size",
    )


def _flagged(model: str, answers: Sequence[Answer]) -> Iterator[Result]:
    """Yield which prompts Llama Guard calls unsafe, and whether that explains the bias left."""
    unsafe = Counter(answer.unsafe for answer in answers if answer.unsafe)
    categories = ", ".join(f"{category} {count:,}" for category, count in unsafe.most_common())
    cut = sum(bool(answer.unsafe) and answer.unsafe != answer.category for answer in answers)
    note = f"of {len(answers):,} prompts"
    if cut:
        note += (
            f"; the authors' own column has the last two characters of the label, so {cut:,} "
            "categories are cut"
        )
    yield Result(f"{model}: prompts that Llama Guard calls unsafe", unsafe.total(), note=note)
    yield Result(f"{model}: categories of Llama Guard", categories or "none")
    explained = sum(
        answer.after.get("Llama Guard") == (answer.biased and not answer.unsafe)
        for answer in answers
    )
    name = f"{model}: prompts whose bias after Llama Guard follows from its label"
    yield Result(name, explained)


def _over_models(answers: Mapping[str, Sequence[Answer]]) -> Iterator[Result]:
    for cluster in ("Threatening", "Sociodemographic"):
        name = f"all models: percent biased, {cluster}"
        of_cluster = [
            answer
            for model in MODELS
            for answer in answers.get(model, ())
            if answer.cluster == cluster
        ]
        if set(answers) >= set(MODELS) and of_cluster:
            yield Result(name, 100 * _share(of_cluster), digits=0)
        else:
            yield _incomplete(name, answers, "answers")


def _incomplete(name: str, models: Collection[str], what: str) -> Result:
    """Return the result of a number over all models that the files of some lack."""
    missing = ", ".join(model for model in MODELS if model not in models)
    return lacking(name, f"the {what} of {missing} are not among them")


def _of_shares(
    model: str,
    stigmas: Stigmas,
    answers: Sequence[Answer] | None,
    ratings: Ratings | None,
) -> Iterator[Result]:
    """Yield checks of the stigmas' shares and ratings, and the correlations between them."""
    number = f"of {len(stigmas)}"
    if answers:
        matches = _same_shares(stigmas, answers)
        yield Result(
            f"{model}: stigmas with the shares biased of its answers", matches, note=number
        )
    if ratings and {model, PEOPLE} <= set(ratings):
        matches = sum(
            all(
                rated[column] == ratings[rater][dimension].get(stigma)
                for rater, columns in ((model, OWN), (PEOPLE, PEOPLES))
                for dimension, column in columns.items()
            )
            for stigma, rated in stigmas.items()
        )
        name = f"{model}: stigmas with the ratings of results-from-pachankis-all.csv"
        yield Result(name, matches, note=number)
    for suffix, biased in BIASED.items():
        for whose, columns in (("people's", PEOPLES), ("its own", OWN)):
            for dimension, label in DIMENSIONS.items():
                name = f"{model}: {whose} {label} × share biased{suffix}, r"
                yield _correlation(name, stigmas.values(), columns[dimension], biased)


def _same_shares(stigmas: Stigmas, answers: Sequence[Answer]) -> int:
    """Return how many stigmas have the shares that the answers give."""
    by_stigma: dict[str, list[Answer]] = {}
    for answer in answers:
        by_stigma.setdefault(answer.stigma, []).append(answer)
    guardrail = next(iter(answers[0].after), None)
    matches = 0
    before, after = BIASED.values()
    for stigma, shares in stigmas.items():
        if about := by_stigma.get(stigma):
            pairs = [(_share(about), shares[before])]
            if guardrail:
                pairs.append((_share(about, lambda answer: answer.after[guardrail]), shares[after]))
            matches += all(abs(computed - published) <= ROUNDING for computed, published in pairs)
    return matches


def _correlation(
    name: str, rows: Collection[Mapping[str, float]], first: str, second: str
) -> Result:
    """Return Pearson's r of two columns, with its p, interval and n."""
    from goffman.stats.profile import pearson

    estimate = pearson([row[first] for row in rows], [row[second] for row in rows])
    if estimate.p is None:
        return Result(name, None, note=estimate.reason or "")
    p_text = "p < .001" if estimate.p < 0.001 else f"p = {estimate.p:.3f}"
    interval = f"95% interval {estimate.effect_low:.3f} to {estimate.effect_high:.3f}"
    return Result(name, estimate.effect, note=f"{p_text}, {interval}, n = {estimate.n}")


def _pooled(shares: Mapping[str, Stigmas]) -> Iterator[Result]:
    """Yield the correlations that the authors print: over the stigmas of all models together."""
    rows = [row for model in MODELS for row in shares.get(model, {}).values()]
    for suffix, biased in BIASED.items():
        for rating, column in (
            ("the models' own Concealability", OWN["visibility"]),
            ("people's Peril", PEOPLES["peril"]),
            ("people's Persistent Course", PEOPLES["course"]),
        ):
            name = f"all models: {rating} × share biased{suffix}, r"
            if set(shares) >= set(MODELS):
                yield _correlation(name, rows, column, biased)
            else:
                yield _incomplete(name, shares, "shares")


def _of_ratings(ratings: Ratings, table: Mapping[tuple[str, str], str] | None) -> Iterator[Result]:
    """Yield how far each model's ratings of stigmas agree with people's, dimension by dimension."""
    from goffman.stats.profile import pearson

    yield Result("stigmas", len(ratings[PEOPLE]["peril"]))
    reproduced = 0
    models = [rater for rater in ratings if rater != PEOPLE]
    for model, (dimension, label) in itertools.product(models, DIMENSIONS.items()):
        people, own = ([*ratings[rater][dimension].values()] for rater in (PEOPLE, model))
        name = f"{model}, {label}: its ratings × people's"
        estimate = pearson(people, own)
        reason = estimate.reason or ""
        note = reason or (NEVER if dimension == "visibility" else "")
        yield Result(f"{name}, r", estimate.effect, note=note, digits=4)
        small = estimate.p is not None and estimate.p < SMALL
        note = f"{estimate.p:.2e}" if small else reason
        yield Result(f"{name}, p", estimate.p, note=note, digits=4)
        printed = (table or {}).get((model, label))
        if estimate.effect is not None and printed is not None:
            reproduced += is_printed(estimate.effect, printed)
    if table is not None:
        name = "rows of feature_correlations.csv whose r comes out"
        yield Result(name, reproduced, note=f"of {len(table)}")
    for dimension, label in DIMENSIONS.items():
        texts = []
        for rater in (PEOPLE, *models):
            values = [*ratings[rater][dimension].values()]
            sd = f"{stdev(values):.2f}" if len(values) > 1 else "–"
            texts.append(f"{rater.replace(PEOPLE, 'people')} {fmean(values):.2f} ({sd})")
        yield Result(f"mean rating (SD), {label}", ", ".join(texts))
