"""How far raters agree: ratings in, κ and α out; and the page on which the rest is settled."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from goffman.errors import InputError
from goffman.lexicons.attitude import ATTITUDES
from goffman.rating.journal import SETTLED, Record, open_journal
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
from goffman.rating.worklist import Entry, Sentence, Worklist, run_key, sentences_of
from goffman.runs.files import Folder
from goffman.stats.agreement import MISSING, Agreement, cohen_kappa, confusion, krippendorff_alpha


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two raters' agreement."""

    first: str
    second: str
    kappa: Agreement
    alike: int
    """Units with the same label, of kappa.n."""
    table: tuple[tuple[int, ...], ...]
    """Rows: the first rater's labels, columns: the second's, in the order of ATTITUDES."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Everything that goffman agree says."""

    raters: Raters
    pairs: tuple[Pair, ...]
    alpha: Agreement
    """Over all raters, nominal: irrelevant has no place on a scale from negative to positive."""
    advice: tuple[str, ...] = ()
    """What to do where two raters have too few words in common: how many more, who, and how."""

    def as_json(self) -> dict[str, Any]:
        """Names and JSON values."""
        return {
            "raters": list(self.raters.names),
            "labels": list(ATTITUDES),
            "pairs": [asdict(pair) for pair in self.pairs],
            "alpha": asdict(self.alpha),
            "disagreements": disagreement_rows(self.raters),
            "advice": list(self.advice),
        }


def compare(paths: Sequence[Path]) -> Comparison:
    """How far the raters in run folders and files agree; InputError where there are not two."""
    import numpy as np

    raters = read_raters(paths)
    need_two(raters, paths)
    # Raters × units of places in ATTITUDES.
    codes = np.full((len(raters.names), len(raters.labels)), MISSING, dtype=np.int64)
    for column, given in enumerate(raters.labels.values()):
        for row, name in enumerate(raters.names):
            if name in given:
                codes[row, column] = ATTITUDES.index(given[name])
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
    """Who should rate how many more words, and with which command; nothing where there are enough.

    First come the words that only the other has rated: they are soonest in common.
    """
    short = ENOUGH - pair.kappa.n
    if short <= 0:
        return
    first, second = names = (pair.first, pair.second)
    yield (
        f"{first} and {second} both rated {count_of_words(pair.kappa.n)}. κ needs at least "
        f"{ENOUGH}: {short:,} more, or every word of the run."
    )
    units = {name: {unit for unit, by in raters.labels.items() if name in by} for name in names}
    for name, other in ((second, first), (first, second)):
        behind = min(len(units[other] - units[name]), short)
        if behind:
            short -= behind
            yield (
                f"{name}: rate {count_of_words(behind)} that {other} has rated: "
                f"{command} --rater {shlex.quote(name)}"
            )
    if short:
        each = " and ".join(f"{command} --all --rater {shlex.quote(name)}" for name in names)
        yield f"{first} and {second}: each rate the next {count_of_words(short)} alone: {each}"


def disagreement_rows(raters: Raters) -> list[dict[str, Any]]:
    """One row a unit with different labels: word, item, wording, labels by rater."""
    return [
        {**unit._asdict(), "labels": dict(raters.labels[unit])} for unit in raters.disagreements()
    ]


def agreement_text(comparison: Comparison, *, rows: int = 20) -> str:
    """The comparison as a person reads it; at most so many disagreements."""
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
        # Where no rating is bound to an item or wording, two empty columns help nobody.
        shown = differing[:rows]
        bound = [name for name in ("item", "wording") if any(row[name] for row in shown)]
        by = {f"by {name}": name for name in comparison.raters.names}
        lines = [{**row, **{head: row["labels"].get(by[head]) for head in by}} for row in shown]
        parts.append(table_text(lines, ("word", *bound, *by)))
    if len(differing) > rows:
        parts.append(f"… and {len(differing) - rows:,} more. --json prints all of them.\n")
    if comparison.advice:
        parts.append("\n" + "".join(f"{printable(line)}\n" for line in comparison.advice))
    return "".join(parts)


def _describe_agreement(agreement: Agreement, *, alike: int | None = None) -> str:
    """A coefficient in one sentence, with its interval or why there is none."""
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


def settled_path(given: Sequence[Path], output: Path | None) -> Path:
    """Where settled ratings go: --output, or the run's own file."""
    if output is not None:
        return output
    runs = [path for path in given if path.is_dir()]
    if len(runs) != 1:
        raise InputError(
            "With --settle, give a file for the result: --output FILE. You can leave it out only "
            "if you give exactly one run folder."
        )
    return ratings_folder(runs[0]) / f"{SETTLED}.csv"


@contextmanager
def settling(raters: Raters, given: Sequence[Path], *, output: Path) -> Iterator[Desk]:
    """The desk on which disagreements are settled; the file is written anew at each key press."""
    journal_path = output.with_suffix(".jsonl")
    if output.exists() and not journal_path.exists():
        raise InputError(
            f"{output} already exists, and goffman agree --settle did not write it. Give another "
            "file with --output."
        )
    runs = [path for path in given if path.is_dir()]
    work = _worklist(raters, runs, title=output.stem)
    run = next((path for path in runs if output.is_relative_to(path)), None)
    with open_journal(journal_path, run=run) as journal:
        folder = Folder.at(output.parent, run=run)

        def write(record: Record) -> None:
            folder.write(output.name, settled_csv(raters, record.labels).encode())

        write(journal.record)
        yield Desk(mode="settle", worklist=work, journal=journal, rater="", after=write)


def _worklist(raters: Raters, runs: Sequence[Path], *, title: str) -> Worklist:
    """The disagreements in their sentences; labels in their own order, so that no one is named."""
    differing = raters.disagreements()
    sentences: dict[str, tuple[Sentence, ...]] = {}
    for run in runs:
        sentences |= sentences_of(run, [unit.word for unit in differing])
    entries = []
    for unit in differing:
        mine = sentences.get(unit.word, ())
        shown = mine[0].word if mine else unit.word
        given = tuple(sorted(raters.labels[unit].values(), key=ATTITUDES.index))
        entries.append(Entry(unit=unit, shown=shown, sentences=mine, given=given))
    if len(runs) == 1:
        title, key = runs[0].resolve().name, run_key(runs[0])
    else:
        key = hashlib.sha256(repr(differing).encode()).hexdigest()[:16]
    return Worklist(title=title, key=key, entries=tuple(entries))
