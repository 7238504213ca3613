"""How far raters agree: κ and α from their ratings, and the page for settling disagreements.

κ = (p_o − p_e) / (1 − p_e), with p_o = Σ p_ii and p_e = Σ p_i. p_.i, where p_ij is the share of
units that the first rater puts in category i and the second in j (Cohen 1960). Its large-sample
variance, for a κ that is not 0, is

    Σ p_ij (δ_ij − (p_.i + p_j.)(1 − κ))² − (κ − p_e (1 − κ))²
    ──────────────────────────────────────────────────────────     δ_ij: 1 if i = j, else 0
                        n (1 − p_e)²

(Fleiss, Cohen & Everitt 1969). The interval is κ ± z·SE, cut at −1 and 1.

α = 1 − D_o / D_e over the coincidences of values within units (Krippendorff 2004, ch. 11): a unit
with m ≥ 2 values gives each ordered pair of them the weight 1/(m−1); units with fewer are left out.
The difference of two values is 0 or 1 (nominal).
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goffman.errors import InputError
from goffman.lexicons.attitude import ATTITUDES
from goffman.rating.ratings import (
    ENOUGH,
    Raters,
    count_of_words,
    need_two,
    rate_command,
    ratings_folder,
    read_raters,
    settled_csv,
)
from goffman.rating.server import Desk
from goffman.rating.worklist import (
    SETTLED,
    Entry,
    Record,
    Sentence,
    Worklist,
    open_journal,
    run_key,
    sentences_of,
)
from goffman.runs.files import Folder
from goffman.stats.intervals import LEVEL, Z

if TYPE_CHECKING:
    from numpy.typing import NDArray

MISSING = -1
"""The category number of a missing rating."""

NO_OVERLAP = "no unit was rated by two raters"
ONE_CATEGORY = "only one label was used, so the raters would also agree by chance"
ONE_SIDED = (
    "a rater used only one label, so κ is 0 whatever the other rater says, and has no interval"
)
NO_WIDTH = "the raters agree on everything, so the interval would have no width"


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """A coefficient of agreement, with the numbers that show how certain it is."""

    value: float | None
    """1 is perfect, 0 is chance; None if it is not defined here."""
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    """The interval, or None."""
    confidence: float | None = None
    """The interval's confidence, such as 0.95."""
    n: int
    """Number of units that were rated at least twice."""
    method: str
    """The name of the coefficient."""
    reason: str | None = None
    """Why there is no value, or no interval."""


def confusion(
    first: Sequence[int] | NDArray[np.int64],
    second: Sequence[int] | NDArray[np.int64],
    *,
    categories: int,
) -> NDArray[np.int64]:
    """Return counts of units by first rater's label (row) and second's (column), without gaps."""
    rows, columns = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    complete = (rows != MISSING) & (columns != MISSING)
    table = np.zeros((categories, categories), dtype=np.int64)
    np.add.at(table, (rows[complete], columns[complete]), 1)
    return table


def cohen_kappa(table: NDArray[np.int64]) -> Agreement:
    """Return κ of a square table of counts, with its large-sample interval."""
    n, method = int(table.sum()), "Cohen's κ"
    # Counts decide where the formula is undefined: sums of shares would be off in the last digit.
    used = np.count_nonzero(table.sum(axis=1)), np.count_nonzero(table.sum(axis=0))
    if n == 0:
        return Agreement(value=None, n=n, method=method, reason=NO_OVERLAP)
    if np.trace(table) == n:
        value, reason = (None, ONE_CATEGORY) if used[0] == 1 else (1.0, NO_WIDTH)
        return Agreement(value=value, n=n, method=method, reason=reason)
    if min(used) == 1:
        return Agreement(value=0.0, n=n, method=method, reason=ONE_SIDED)
    shares = table / n
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    expected = float(rows @ columns)
    kappa = (float(np.trace(shares)) - expected) / (1 - expected)
    means = columns[:, None] + rows[None, :]
    spread = float((shares * (np.eye(len(table)) - means * (1 - kappa)) ** 2).sum())
    variance = (spread - (kappa - expected * (1 - kappa)) ** 2) / (n * (1 - expected) ** 2)
    # A variance of 0 may be computed as slightly below 0.
    error = float(np.sqrt(max(variance, 0.0)))
    reach = Z * error
    return Agreement(
        value=kappa,
        standard_error=error,
        low=max(kappa - reach, -1.0),
        high=min(kappa + reach, 1.0),
        confidence=LEVEL,
        n=n,
        method=method,
    )


def krippendorff_alpha(ratings: NDArray[np.int64], *, categories: int) -> Agreement:
    """Return nominal α for raters × units of category numbers; −1 is a missing rating."""
    method = "Krippendorff's α, nominal"
    counts = np.stack([(ratings == number).sum(axis=0) for number in range(categories)], axis=1)
    pairable = counts[counts.sum(axis=1) >= 2].astype(np.float64)
    n = len(pairable)
    if n == 0:
        return Agreement(value=None, n=0, method=method, reason=NO_OVERLAP)
    values = pairable.sum(axis=0)
    if np.count_nonzero(values) == 1:
        return Agreement(value=None, n=n, method=method, reason=ONE_CATEGORY)
    weighted = pairable / (pairable.sum(axis=1) - 1)[:, None]
    coincidences = weighted.T @ pairable - np.diag(weighted.sum(axis=0))
    chance = np.outer(values, values) - np.diag(values)
    observed = float(coincidences.sum() - np.trace(coincidences))
    expected = float(chance.sum() - np.trace(chance)) / (values.sum() - 1)
    return Agreement(value=float(1 - observed / expected), n=n, method=method)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two raters' agreement."""

    first: str
    second: str
    kappa: Agreement
    alike: int
    """Number of units with the same label, out of kappa.n."""
    table: tuple[tuple[int, ...], ...]
    """Rows: the first rater's labels, columns: the second's, in the order of ATTITUDES."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Everything that goffman agree reports."""

    raters: Raters
    pairs: tuple[Pair, ...]
    alpha: Agreement
    """Over all raters, nominal: irrelevant has no place on a scale from negative to positive."""
    advice: tuple[str, ...] = ()
    """What to do if two raters have too few words in common: how many more, who, and how."""

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as names and JSON values."""
        return {
            "raters": list(self.raters.names),
            "labels": list(ATTITUDES),
            "pairs": [asdict(pair) for pair in self.pairs],
            "alpha": asdict(self.alpha),
            "disagreements": disagreement_rows(self.raters),
            "advice": list(self.advice),
        }


def compare(paths: Sequence[Path]) -> Comparison:
    """Return how far the raters in run folders and files agree.

    Raise InputError if there are fewer than two raters.
    """
    raters = read_raters(paths)
    need_two(raters, paths)
    # Raters × units; values are positions in ATTITUDES.
    codes = np.full((len(raters.names), len(raters.labels)), MISSING, dtype=np.int64)
    for column, labels in enumerate(raters.labels.values()):
        for row, name in enumerate(raters.names):
            if name in labels:
                codes[row, column] = ATTITUDES.index(labels[name])
    pairs = []
    for first, second in combinations(range(len(raters.names)), 2):
        table = confusion(codes[first], codes[second], categories=len(ATTITUDES))
        pairs.append(
            Pair(
                first=raters.names[first],
                second=raters.names[second],
                kappa=cohen_kappa(table),
                alike=int(table.trace()),
                table=tuple(tuple(row) for row in table.tolist()),
            )
        )
    alpha = krippendorff_alpha(codes, categories=len(ATTITUDES))
    advice = [line for pair in pairs for line in _advice(raters, pair, rate_command(paths))]
    return Comparison(raters=raters, pairs=tuple(pairs), alpha=alpha, advice=tuple(advice))


def _advice(raters: Raters, pair: Pair, command: str) -> Iterator[str]:
    """Yield who should rate how many more words, and the command; yield nothing if none are needed.

    Words that only the other rater has rated come first: they are soonest in common.
    """
    short = ENOUGH - pair.kappa.n
    if short <= 0:
        return
    first, second = names = (pair.first, pair.second)
    yield (
        f"{first} and {second} both rated {count_of_words(pair.kappa.n)}. κ needs at least "
        f"{ENOUGH}: {short:,} more, or every word of the run."
    )
    units = {
        name: {unit for unit, labels in raters.labels.items() if name in labels} for name in names
    }
    for name, other_name in ((second, first), (first, second)):
        count = min(len(units[other_name] - units[name]), short)
        if count:
            short -= count
            yield (
                f"{name}: rate {count_of_words(count)} that {other_name} has rated: "
                f"{command} --rater {shlex.quote(name)}"
            )
    if short:
        commands = " and ".join(f"{command} --all --rater {shlex.quote(name)}" for name in names)
        yield f"{first} and {second}: each rate the next {count_of_words(short)} alone: {commands}"


def disagreement_rows(raters: Raters) -> list[dict[str, Any]]:
    """Return one row for each unit with different labels: word, item, wording, labels by rater."""
    return [
        {**unit._asdict(), "labels": dict(raters.labels[unit])} for unit in raters.disagreements()
    ]


def agreement_text(comparison: Comparison, *, rows: int = 20) -> str:
    """Return the comparison as text for people, with at most ``rows`` disagreements."""
    from goffman.console import printable, table_text

    parts = []
    for pair in comparison.pairs:
        first, second = printable(pair.first), printable(pair.second)
        parts.append(f"{first} and {second}: {_describe_agreement(pair.kappa, alike=pair.alike)}\n")
        corner = f"{first} ↓ {second} →"
        lines = [
            {corner: label, **dict(zip(ATTITUDES, counts, strict=True))}
            for label, counts in zip(ATTITUDES, pair.table, strict=True)
        ]
        parts.append(table_text(lines, (corner, *ATTITUDES)) + "\n")
    parts.append(f"All raters: {_describe_agreement(comparison.alpha)}\n")
    differing = disagreement_rows(comparison.raters)
    if differing:
        parts.append(f"\n{count_of_words(len(differing))} got different labels:\n")
        # If no rating is bound to an item or wording, two empty columns help nobody.
        shown = differing[:rows]
        bound = [name for name in ("item", "wording") if any(row[name] for row in shown)]
        raters_by_head = {f"by {name}": name for name in comparison.raters.names}
        lines = [
            {**row, **{head: row["labels"].get(raters_by_head[head]) for head in raters_by_head}}
            for row in shown
        ]
        parts.append(table_text(lines, ("word", *bound, *raters_by_head)))
    if len(differing) > rows:
        parts.append(f"… and {len(differing) - rows:,} more. --json prints all of them.\n")
    if comparison.advice:
        parts.append("\n" + "".join(f"{printable(line)}\n" for line in comparison.advice))
    return "".join(parts)


def _describe_agreement(agreement: Agreement, *, alike: int | None = None) -> str:
    """Return a coefficient in one sentence, with its interval or why there is none."""
    words = f"{agreement.n:,} words with two or more ratings"
    if alike is not None:
        words = f"same label for {alike:,} of {agreement.n:,} words"
    if agreement.value is None:
        return f"{agreement.method} is not defined: {agreement.reason} ({words})."
    text = f"{agreement.method} = {agreement.value:.3f}"
    if agreement.low is not None and agreement.high is not None and agreement.confidence:
        text += f", {agreement.confidence:.0%} interval {agreement.low:.3f} to {agreement.high:.3f}"
    elif agreement.reason:
        text += f", no interval: {agreement.reason}"
    return f"{text} ({words})."


def settled_path(paths: Sequence[Path], output: Path | None) -> Path:
    """Return the file for settled ratings: --output, or the run's own file."""
    if output is not None:
        return output
    runs = [path for path in paths if path.is_dir()]
    if len(runs) != 1:
        raise InputError(
            "With --settle, give a file for the result: --output FILE. You can leave it out only "
            "if you give exactly one run folder."
        )
    return ratings_folder(runs[0]) / f"{SETTLED}.csv"


@contextmanager
def settling(raters: Raters, paths: Sequence[Path], *, output: Path) -> Iterator[Desk]:
    """Yield the desk for settling disagreements; each key press rewrites the file."""
    journal_path = output.with_suffix(".jsonl")
    if output.exists() and not journal_path.exists():
        raise InputError(
            f"{output} already exists, and goffman agree --settle did not write it. Give another "
            "file with --output."
        )
    runs = [path for path in paths if path.is_dir()]
    worklist = _worklist(raters, runs, title=output.stem)
    run = next((path for path in runs if output.is_relative_to(path)), None)
    with open_journal(journal_path, run=run) as journal:
        folder = Folder.at(output.parent, run=run)

        def write(record: Record) -> None:
            folder.write(output.name, settled_csv(raters, record.labels).encode())

        write(journal.record)
        yield Desk(mode="settle", worklist=worklist, journal=journal, rater="", after=write)


def _worklist(raters: Raters, runs: Sequence[Path], *, title: str) -> Worklist:
    """Return the disagreements in their sentences; labels are sorted, so that no rater is named."""
    differing = raters.disagreements()
    sentences: dict[str, tuple[Sentence, ...]] = {}
    for run in runs:
        sentences |= sentences_of(run, [unit.word for unit in differing])
    entries = []
    for unit in differing:
        of_word = sentences.get(unit.word, ())
        shown = of_word[0].word if of_word else unit.word
        labels = tuple(sorted(raters.labels[unit].values(), key=ATTITUDES.index))
        entries.append(Entry(unit=unit, shown=shown, sentences=of_word, given=labels))
    if len(runs) == 1:
        title, key = runs[0].resolve().name, run_key(runs[0])
    else:
        key = hashlib.sha256(repr(differing).encode()).hexdigest()[:16]
    return Worklist(title=title, key=key, entries=tuple(entries))
