"""The files of Gueorguieva & Caliskan (2025) → answers, shares biased, and ratings of dimensions.

Files may be missing: the answers or shares of a model, and the ratings of all.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from goffman.errors import PublishedError, did_you_mean
from goffman.replicate.files import number_in, quoted, read_records

DIMENSIONS = {
    "visibility": "Concealability",
    "course": "Persistent Course",
    "disrupt": "Disruptiveness",
    "aesthetics": "Unappealing Aesthetics",
    "origin": "Controllable Origin",
    "peril": "Peril",
}
"""How columns spell a dimension → how the study names it."""

OWN = {
    "visibility": "Visibility",
    "course": "Persistent Course",
    "disrupt": "Disrupt",
    "aesthetics": "Unappealing Aesthetics",
    "origin": "Controllable Origin",
    "peril": "Peril",
}
"""The columns of a model's own ratings in its file of shares."""

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
"""How columns spell a guardrail model → what it is."""

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


@dataclass(frozen=True, kw_only=True)
class Stigma:
    """A stigma with a model's share biased, and its ratings."""

    name: str
    before: float
    after: float
    """With the guardrail."""
    own: Mapping[str, float]
    """Dimension → the model's rating."""
    people: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Ratings:
    """The ratings of the stigmas' dimensions by people and models."""

    stigmas: Sequence[str]
    of: Mapping[str, Mapping[str, Sequence[float]]]
    """Rater → dimension → rating of each stigma."""


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


def _cluster(given: str, where: str) -> str:
    """Return the name of a cluster that is given by its name or its number."""
    if given.isdecimal() and 1 <= int(given) <= len(CLUSTERS):
        return CLUSTERS[int(given) - 1]
    return _one_of({"clusters": given}, "clusters", (*CLUSTERS, NO_STIGMA), where)


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


def read_shares(folder: Path) -> dict[str, list[Stigma]]:
    """Return model → the stigmas with its share biased."""
    before, after = "percent biased", "percent biased post guardian"
    people = {dimension: f"{dimension} human" for dimension in DIMENSIONS}
    columns = ("Stigma", *OWN.values(), *people.values(), before, after)
    shares: dict[str, list[Stigma]] = {}
    for model, path in _by_model(folder / "data", "*_bias_percentages.csv", _SHARES_FILE).items():
        stigmas: dict[str, Stigma] = {}
        for where, row in read_records(path, columns):
            name = _new_name(row, stigmas, where)
            stigmas[name] = Stigma(
                name=name,
                before=number_in(row, before, where, most=1),
                after=number_in(row, after, where, most=1),
                own={
                    dimension: number_in(row, column, where, most=6)
                    for dimension, column in OWN.items()
                },
                people={
                    dimension: number_in(row, column, where, most=6)
                    for dimension, column in people.items()
                },
            )
        shares[model] = list(stigmas.values())
    return shares


def read_ratings(folder: Path) -> Ratings | None:
    """Return the ratings of people and models; None if the file is not there."""
    path = folder / "data" / "results-from-pachankis-all.csv"
    if not path.is_file():
        return None
    stigmas: dict[str, None] = {}
    by_rater: dict[str, dict[str, list[float]]] = {}
    for where, row in read_records(path, ("Stigma", *(f"{d}-{PEOPLE}" for d in DIMENSIONS))):
        stigmas[_new_name(row, stigmas, where)] = None
        for column in row:
            dimension, _, rater = column.partition("-")
            if dimension in DIMENSIONS and rater:
                ratings = by_rater.setdefault(rater, {}).setdefault(dimension, [])
                ratings.append(number_in(row, column, where, most=6))
    for rater, dimensions in by_rater.items():
        if lacking := [name for name in DIMENSIONS if name not in dimensions]:
            raise PublishedError(f"{path} has no column '{lacking[0]}-{rater}'.")
    return Ratings(stigmas=tuple(stigmas), of=by_rater)


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
            message = (
                f"{where}: Correlation to Humans is {quoted(text)}, which is not a correlation."
            )
            raise PublishedError(message)
        table[row["Model"].strip().lower(), dimension] = text
    return table
