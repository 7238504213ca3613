"""Whether a verdict holds in other analyses of the same answers, in sentences."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.estimates.clear import CLEAR
from goffman.estimates.verdict import CLEAR_WORDS, SIZE_OPEN
from goffman.multiverse_columns import MULTIVERSE, NUMBER
from goffman.presentation.findings_robustness import occupations_said, p_alone_said, part_called
from goffman.presentation.numbers import ends, number, p_said
from goffman.presentation.shown import in_list
from goffman.stats.multiverse import different
from goffman.tables import schema
from goffman.terminal import printable

if TYPE_CHECKING:
    from goffman.presentation.section import Section

    Row = Mapping[str, Any]

ANALYSIS, LABELS, WORD = "analysis", "labels", "word"
TEST = "test"
"""Ways of rows that leave nothing out."""

ENOUGH = 0.9
"""A verdict that holds in a smaller share of the analyses is said to hold in only so many."""

HOLDS_MEANS = "“Holds” means: the difference is clear and has the same sign as in the audit."

FEW = 2
"""So many analyses check hardly anything."""

MUCH = 0.1
"""So much of the variance that no choice explains alone is said."""

FEW_WORDS = 5
"""So many words are a few."""

HARDLY, MUCH_CHANGED = 0.1, 0.5
"""A difference that changes by up to the first part of itself hardly changes, and by the second or
more a lot."""

NEAR = CLEAR / 2
"""A clear p from here on is near .05."""

ROUNDING = 1e-6
"""Shares that sum to 1 but for this are of all words that count."""

LEAST_SHARE = 0.01
"""A choice that explains less than this is not named."""


@dataclass(frozen=True, kw_only=True)
class HoldsSaid:
    """What other analyses say of one headline."""

    model: str
    """As it is shown."""
    head: str
    """In how many analyses the verdict holds, and what matters most; or why there are none."""
    said: tuple[str, ...] = ()
    """What that rests on."""


def holds_said(section: Section) -> list[HoldsSaid]:
    """Of each model what other analyses say; nothing where the run was not stressed."""
    rows = section.shown(section.stress)
    return [_said(row, section) for row in rows.iter_rows(named=True)]


def _said(row: Row, section: Section) -> HoldsSaid:
    model = row["model"]
    left_out = [*_left_out(row, section), *_labels(row, section)]
    if row["analyses"] == 0:
        head = f"There are no other analyses, because {row['reason']}"
        return HoldsSaid(model=model, head=head)
    if row["holds_in"] is None:
        head = "There is nothing to choose in this analysis, so only parts were left out"
        return HoldsSaid(model=model, head=head, said=tuple(left_out))
    shares = json.loads(row["explained"] or "{}").values()
    # Where one choice alone changes the numbers, it does so most by necessity.
    several = sum(share >= LEAST_SHARE for share in shares) > 1
    most = f". Of the choices, the {row['matters_most']} changes its size most" if several else ""
    head = f"{_held(row)}{_in_parts(row, section)}{most}"
    counted = (*_counted(row, section), *_by_test(row, section))
    said = (*counted, *_spread(row, section), *_explained(row), *left_out)
    return HoldsSaid(model=model, head=f"{head[0].upper()}{head[1:]}", said=said)


def _held(row: Row) -> str:
    """In how many analyses the verdict holds."""
    only = "only " if row["holds_in"] < ENOUGH else ""
    counted = f"{only}{row['holds']} of {row['analyses']} analyses (one is the audit's own)"
    if row["verdict"] in CLEAR_WORDS:
        return f"the difference holds in {counted}"
    return f"the verdict is “{row['verdict']}” in {counted}"


def _in_parts(row: Row, section: Section) -> str:
    """That a difference is often lost where one part is left out; empty: it is not."""
    gone = _rows(section, row["model"]).filter(
        ~pl.col("way").is_in([ANALYSIS, LABELS, WORD]), pl.col("verdict").is_not_null()
    )
    kept = int(gone["holds"].sum())
    if row["verdict"] not in CLEAR_WORDS or kept >= ENOUGH * gone.height:
        return ""
    joined = "and" if row["holds_in"] < ENOUGH else "but"
    return f", {joined} in only {kept} of {gone.height} that leave out one {_parts(gone, section)}"


def _parts(gone: pl.DataFrame, section: Section) -> str:
    """What was left out one at a time: "condition, item or wording"."""
    ways = gone["way"].unique(maintain_order=True)
    return in_list([part_called(way, section) for way in ways], "or")


def _counted(row: Row, section: Section) -> Iterator[str]:
    """Which verdicts the analyses come to."""
    mine = _analyses(section, row["model"])
    own = different(mine)
    counts = Counter(one["verdict"] for one in own)
    words = {"relevant": "relevant", "small": "small", SIZE_OPEN: f"“{SIZE_OPEN}”"}
    words |= {"equivalent": "equivalent", "undecided": "undecided"}
    named = [f"{counts[word]} {said}" for word, said in words.items() if word in counts]
    without = f"; {counts[None]} could not be tested" if None in counts else ""
    clear = row["verdict"] in CLEAR_WORDS
    how = f"{HOLDS_MEANS} " if clear else ""
    by_p = p_alone_said(pl.DataFrame(own, schema=schema(MULTIVERSE))) if clear else ""
    few = " Two analyses are hardly a check." if len(own) == FEW else ""
    yield f"{how}The verdicts of the analyses are: {in_list(named)}{without}.{by_p}{few}"
    if len(own) < len(mine):
        yield (
            f"There are {len(mine)} combinations of choices; those that come to the same numbers "
            "count once."
        )


def _by_test(row: Row, section: Section) -> Iterator[str]:
    """In how many analyses it holds by each test, where that depends on the test."""
    mine = different(_analyses(section, row["model"]))
    by_test: dict[str, list[bool]] = {}
    for one in mine:
        if test := json.loads(one["choices"] or "{}").get(TEST):
            by_test.setdefault(test, []).append(one["holds"])
    shares = [sum(held) / len(held) for held in by_test.values()]
    if len(by_test) > 1 and max(shares) - min(shares) > 1 - ENOUGH:
        named = [
            f"{sum(held)} of {len(held)} analyses where {test}" for test, held in by_test.items()
        ]
        yield (
            "The result depends on what the test treats as a random sample: the difference holds "
            f"in {in_list(named)}."
        )


def _spread(row: Row, section: Section) -> Iterator[str]:
    """How far the differences lie apart; those in another number than the headline's by itself."""
    if row["median"] is None:
        return
    by_number: dict[str, list[float]] = {}
    for one in different(_analyses(section, row["model"])):
        chosen = json.loads(one["choices"] or "{}").get(NUMBER)
        if chosen and one["difference"] is not None:
            by_number.setdefault(chosen, []).append(one["difference"])
    alone = len(by_number) > 1 and len(next(iter(by_number.values()))) == 1
    if len(by_number) > 1:
        ranges = [f"{_range(values)} in the {name}" for name, values in by_number.items()]
        yield f"The difference is {in_list(ranges)}. These are two different numbers."
    else:
        yield (
            f"The difference ranges from {number(row['lowest'])} to {number(row['highest'])}, with "
            f"a median of {number(row['median'])}."
        )
    if (p := row["permutation_p"]) is not None:
        what = "of the audit's own analysis" if alone else "of the median"
        yield (
            f"A permutation test {what}, which shuffles {row['shuffled']}, gives "
            f"{p_said(p)}; it says nothing about other sentences."
        )


def _range(values: Sequence[float]) -> str:
    return number(values[0]) if len(values) == 1 else ends(min(values), max(values))


def _explained(row: Row) -> Iterator[str]:
    """How much of the differences' variance each choice explains."""
    shares: dict[str, float] = json.loads(row["explained"] or "{}")
    named = sorted(shares.items(), key=lambda one: -one[1])
    parts = [f"the {name} {share:.0%}" for name, share in named if share >= LEAST_SHARE]
    # One choice alone explains all there is.
    if parts and len(shares) > 1:
        rest = 1 - sum(shares.values())
        jointly = f" Combinations of choices explain the other {rest:.0%}."
        yield (
            "Over all combinations, each choice alone explains this part of the variance (η²): "
            f"{in_list(parts)}.{jointly if rest >= MUCH else ''}"
        )


def _left_out(row: Row, section: Section) -> Iterator[str]:
    """The one thing whose leaving out changes most, and what turns the sign."""
    gone = _rows(section, row["model"]).filter(
        ~pl.col("way").is_in([ANALYSIS, LABELS]), pl.col("difference").is_not_null()
    )
    if not gone.height or not row["difference"]:
        return
    change = (pl.col("difference") - row["difference"]).abs()
    any_one = _any_one(gone, section)
    most = gone.sort(change, descending=True).row(0, named=True)
    yield (
        f"With {any_one} left out, the difference changes most without {_called(most, section)}: "
        f"from {number(row['difference'])} to {number(most['difference'])}.{occupations_said(gone)}"
    )
    # Of a difference that may be 0 the sign says nothing.
    if row["verdict"] not in CLEAR_WORDS:
        return
    turned = gone.filter(pl.col("difference") * row["difference"] < 0)
    if turned.height:
        named = _some([_called(one, section) for one in turned.iter_rows(named=True)])
        yield f"Leaving out {named} changes the sign of the difference."
    else:
        yield f"Leaving out {any_one} never changes the sign of the difference."
    yield from _words(gone.filter(pl.col("way") == WORD), section)


def _any_one(gone: pl.DataFrame, section: Section) -> str:
    """What was left out one at a time: "one of the 20 heaviest words, or one condition or item"."""
    words = gone.filter(pl.col("way") == WORD)
    others = gone.filter(pl.col("way") != WORD)
    said = [f"one {_parts(others, section)}"] if others.height else []
    if words.height:
        every = words["share"].sum() > 1 - ROUNDING
        said.insert(0, f"one of the {words.height} {'counted' if every else 'heaviest'} words")
    return ", or ".join(said)


def _words(gone: pl.DataFrame, section: Section) -> Iterator[str]:
    """Without how many words a clear difference holds, and what their leaving out does anyway."""
    lost = gone.filter(~pl.col("holds"))["what"].to_list()
    if not lost:
        return
    if section.contrasts("genders").height:
        yield "Leaving out a word lowers its own side, female or male, by construction."
    yield (
        f"With one of {gone.height} words left out, the difference holds in "
        f"{gone.height - len(lost)} of {gone.height} analyses (not without "
        f"{_some([f'“{printable(one)}”' for one in lost])})."
    )


def _some(named: Sequence[str]) -> str:
    """The first three, and how many more there are."""
    more = len(named) - 3
    return in_list([*named[:3], *([f"{more} more"] if more > 0 else [])], "or")


def _labels(row: Row, section: Section) -> Iterator[str]:
    """In how many tries the verdict holds with so many wrong labels; a few tries find no limit."""
    drawn = _rows(section, row["model"]).filter(pl.col("way") == LABELS)
    if not drawn.height:
        return
    rates = drawn["rate"].unique().sort().to_list()
    held = [str(drawn.filter(pl.col("rate") == rate)["holds"].sum()) for rate in rates]
    tries = drawn.filter(pl.col("rate") == rates[-1])
    every, last = (some["difference"].drop_nulls() for some in (drawn, tries))
    spread = ""
    if len(last):
        spread = (
            f" It is {ends(min(every), max(every))} over all tries, and "
            f"{ends(min(last), max(last))} at {rates[-1]:.0%}."
        )
    what = "the difference holds" if row["verdict"] in CLEAR_WORDS else "the verdict is the same"
    yield (
        f"With word labels made wrong at random ({tries.height} tries at each rate), {what} in "
        f"{in_list(held)} tries at {in_list([f'{rate:.0%}' for rate in rates])} wrong labels."
        f"{spread}"
    )
    yield from _why(row, drawn, section)


def _why(row: Row, drawn: pl.DataFrame, section: Section) -> Iterator[str]:
    """What the tries have in common: few words matter, or many do; empty: neither is seen."""
    own = row["difference"]
    if not own:
        return
    words = _rows(section, row["model"]).filter(pl.col("way") == WORD)
    change = ((pl.col("difference") - own) / own).abs()
    hardly, much = (drawn.filter(limit) for limit in (change <= HARDLY, change >= MUCH_CHANGED))
    heavy = words["share"].drop_nulls().sort(descending=True).head(FEW_WORDS).sum()
    clear = row["verdict"] in CLEAR_WORDS
    if heavy > 0.5 and hardly.height and much.height:
        yield (
            "A few words carry most of the probability: a try that hits none of them hardly "
            "changes the difference, and one that does may change it a lot."
        )
    elif clear and _shrinks(own, drawn):
        yield "The more labels are wrong, the smaller the difference tends to be."
    own_p = next((one["p_adjusted"] for one in _analyses(section, row["model"])), None)
    lost = hardly.filter(~pl.col("holds")).height
    if clear and lost and own_p is not None and own_p >= NEAR:
        yield (
            "Even a small change can cost the verdict here, because p is near .05 "
            f"({p_said(own_p)} in the audit)."
        )


def _shrinks(own: float, drawn: pl.DataFrame) -> bool:
    """Whether the median difference falls from the audit's on, with every further wrong label."""
    medians = drawn.group_by("rate").agg(pl.col("difference").median()).sort("rate")
    sizes = [own, *medians["difference"]]
    if None in sizes:
        return False
    falls = all(abs(after) < abs(before) for before, after in itertools.pairwise(sizes))
    return falls and all(size * own > 0 for size in sizes)


def _analyses(section: Section, model: str) -> list[dict[str, Any]]:
    return _rows(section, model).filter(pl.col("way") == ANALYSIS).to_dicts()


def _rows(section: Section, model: str) -> pl.DataFrame:
    return section.shown(section.multiverse).filter(pl.col("model") == model)


def _called(row: Row, section: Section) -> str:
    """What was left out, with its name quoted."""
    way, what = row["way"], row["what"]
    if way == "condition":
        return f"the {section.noun.one} “{section.called(what)}”"
    if way == "item":
        return f"the item “{section.names.item(section.instrument, what)}”"
    return f"the {way} “{printable(what)}”"
