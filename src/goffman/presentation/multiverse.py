"""Whether a verdict holds in other analyses of the same answers: sentences, curve, table."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.console import printable
from goffman.contrasts.verdict import CLEAR, CLEAR_WORDS, SIZE_OPEN
from goffman.formatting import (
    describe_p,
    ends,
    join_words,
    number,
)
from goffman.presentation.robustness_findings import (
    describe_occupations,
    describe_p_alone,
    part_called,
)
from goffman.presentation.table_formats import ColumnSpec, Table, as_table
from goffman.presentation.vega import (
    WIDTH,
    Figure,
    Spec,
    choice,
    chosen,
    figure,
    tip,
)
from goffman.schemas import ANALYSIS, NUMBER, SENSITIVITY, WORD, WRONG_LABELS, schema
from goffman.stats.specification_curve import different

if TYPE_CHECKING:
    from goffman.presentation.section import Section

if TYPE_CHECKING:
    Row = Mapping[str, Any]

TEST = "test"
"""The choice between tests."""

_NOT_SHOWN = (
    "instrument", "mode", "contrast", "kind", "first", "second", "main", "mean_first", "variation",
    "rate",
)  # fmt: skip
"""Columns of SENSITIVITY that are the same in every analysis of a headline."""

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
class MultiverseSentences:
    """What other analyses say of one headline."""

    model: str
    """As it is shown."""
    head: str
    """In how many analyses the verdict holds, and what matters most; or why there are none."""
    said: tuple[str, ...] = ()
    """What that rests on."""


def describe_holds(section: Section) -> list[MultiverseSentences]:
    """Of each model what other analyses say; nothing where the run was not stressed."""
    rows = section.shown(section.stress)
    return [_sentences_of_result(row, section) for row in rows.iter_rows(named=True)]


def _sentences_of_result(row: Row, section: Section) -> MultiverseSentences:
    model = row["model"]
    left_out = [*_left_out(row, section), *_labels(row, section)]
    if row["analyses"] == 0:
        head = f"There are no other analyses, because {row['reason']}"
        return MultiverseSentences(model=model, head=head)
    if row["holds_in"] is None:
        head = "There is nothing to choose in this analysis, so only parts were left out"
        return MultiverseSentences(model=model, head=head, said=tuple(left_out))
    shares = json.loads(row["explained"] or "{}").values()
    # Where one choice alone changes the numbers, it does so most by necessity.
    several = sum(share >= LEAST_SHARE for share in shares) > 1
    most = f". Of the choices, the {row['matters_most']} changes its size most" if several else ""
    head = f"{_held(row)}{_in_parts(row, section)}{most}"
    counted = (*_counted(row, section), *_by_test(row, section))
    said = (*counted, *_spread(row, section), *_explained(row), *left_out)
    return MultiverseSentences(model=model, head=f"{head[0].upper()}{head[1:]}", said=said)


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
        ~pl.col("variation").is_in([ANALYSIS, WRONG_LABELS, WORD]), pl.col("verdict").is_not_null()
    )
    kept = int(gone["holds"].sum())
    if row["verdict"] not in CLEAR_WORDS or kept >= ENOUGH * gone.height:
        return ""
    joined = "and" if row["holds_in"] < ENOUGH else "but"
    return f", {joined} in only {kept} of {gone.height} that leave out one {_parts(gone, section)}"


def _parts(gone: pl.DataFrame, section: Section) -> str:
    """What was left out one at a time: "condition, item or wording"."""
    ways = gone["variation"].unique(maintain_order=True)
    return join_words([part_called(way, section) for way in ways], "or")


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
    by_p = describe_p_alone(pl.DataFrame(own, schema=schema(SENSITIVITY))) if clear else ""
    few = " Two analyses are hardly a check." if len(own) == FEW else ""
    yield f"{how}The verdicts of the analyses are: {join_words(named)}{without}.{by_p}{few}"
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
            f"in {join_words(named)}."
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
        yield f"The difference is {join_words(ranges)}. These are two different numbers."
    else:
        yield (
            f"The difference ranges from {number(row['lowest'])} to {number(row['highest'])}, with "
            f"a median of {number(row['median'])}."
        )
    if (p := row["permutation_p"]) is not None:
        what = "of the audit's own analysis" if alone else "of the median"
        yield (
            f"A permutation test {what}, which shuffles {row['shuffled']}, gives "
            f"{describe_p(p)}; it says nothing about other sentences."
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
            f"{join_words(parts)}.{jointly if rest >= MUCH else ''}"
        )


def _left_out(row: Row, section: Section) -> Iterator[str]:
    """The one thing whose leaving out changes most, and what turns the sign."""
    gone = _rows(section, row["model"]).filter(
        ~pl.col("variation").is_in([ANALYSIS, WRONG_LABELS]), pl.col("difference").is_not_null()
    )
    if not gone.height or not row["difference"]:
        return
    change = (pl.col("difference") - row["difference"]).abs()
    any_one = _any_one(gone, section)
    most = gone.sort(change, descending=True).row(0, named=True)
    yield (
        f"With {any_one} left out, the difference changes most without {_called(most, section)}: "
        f"from {number(row['difference'])} to "
        f"{number(most['difference'])}.{describe_occupations(gone)}"
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
    yield from _words(gone.filter(pl.col("variation") == WORD), section)


def _any_one(gone: pl.DataFrame, section: Section) -> str:
    """What was left out one at a time: "one of the 20 heaviest words, or one condition or item"."""
    words = gone.filter(pl.col("variation") == WORD)
    others = gone.filter(pl.col("variation") != WORD)
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
    return join_words([*named[:3], *([f"{more} more"] if more > 0 else [])], "or")


def _labels(row: Row, section: Section) -> Iterator[str]:
    """In how many tries the verdict holds with so many wrong labels; a few tries find no limit."""
    drawn = _rows(section, row["model"]).filter(pl.col("variation") == WRONG_LABELS)
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
        f"{join_words(held)} tries at {join_words([f'{rate:.0%}' for rate in rates])} wrong labels."
        f"{spread}"
    )
    yield from _why(row, drawn, section)


def _why(row: Row, drawn: pl.DataFrame, section: Section) -> Iterator[str]:
    """What the tries have in common: few words matter, or many do; empty: neither is seen."""
    own = row["difference"]
    if not own:
        return
    words = _rows(section, row["model"]).filter(pl.col("variation") == WORD)
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
            f"({describe_p(own_p)} in the audit)."
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
    return _rows(section, model).filter(pl.col("variation") == ANALYSIS).to_dicts()


def _rows(section: Section, model: str) -> pl.DataFrame:
    return section.shown(section.multiverse).filter(pl.col("model") == model)


def _called(row: Row, section: Section) -> str:
    """What was left out, with its name quoted."""
    way, what = row["variation"], row["what"]
    if way == "condition":
        return f"the {section.noun.one} “{section.called(what)}”"
    if way == "item":
        return f"the item “{section.names.item(section.instrument, what)}”"
    return f"the {way} “{printable(what)}”"


PART = "analyses"
"""The end of the figure's id."""

CLEAR_MARK, NOT_CLEAR = "clear", "not clear"

HEIGHT, ROW = 200, 17
"""Pixels of the curve, and of each option below it."""


def curve(section: Section) -> Iterator[Figure]:
    """Sorted differences with their intervals; below, a dot for the option of each choice."""
    rows = section.shown(section.multiverse)
    rows = rows.filter(pl.col("choices").is_not_null(), pl.col("difference").is_not_null())
    if not rows.height:
        return
    values = [one for of in rows.partition_by("model", maintain_order=True) for one in _data(of)]
    options = _options(rows)
    models = [one for one in section.models() if one in rows["model"]]
    choices = choice("model", "Model", models)
    most = max(rows.group_by("model").len()["len"])
    axes = {"x": _place(most)}
    views = [_curve(section, list(options), axes, most)]
    views += [_matrix(name, texts, axes, most) for name, texts in options.items()]
    spec = {
        "data": {"values": values},
        "transform": chosen(choices),
        "vconcat": views,
        "spacing": 8,
        "resolve": {"scale": {"color": "shared", "shape": "shared"}},
    }
    yield figure(
        section,
        PART,
        title="The main result in other analyses",
        description=(
            "Each column is one analysis of the same answers. Above: its difference and 95% "
            "interval, in order of size. Below: what was chosen in it. Blue circles and long marks "
            "are clear differences; orange squares and short marks are not clear. The dashed line "
            f"is the audit's own analysis.{_describe_band(section)}"
        ),
        spec=spec,
        choices=choices,
    )


def _data(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Of one model: a row for each analysis, with its place and what was chosen."""
    found = []
    for place, row in enumerate(rows.sort("difference", "what").iter_rows(named=True)):
        options = {key: printable(text) for key, text in json.loads(row["choices"]).items()}
        said = CLEAR_MARK if row["verdict"] in CLEAR_WORDS else NOT_CLEAR
        numbers = {name: row[name] for name in ("difference", "low", "high", "p_adjusted")}
        about = {"place": place + 1, "model": printable(row["model"])}
        found.append(about | numbers | {"clear": said, "verdict": row["verdict"] or ""} | options)
    return found


def _options(rows: pl.DataFrame) -> dict[str, list[str]]:
    """By choice: its options, the audit's own first, as in the table; those of all models."""
    found: dict[str, dict[str, None]] = {}
    for text in rows["choices"]:
        for name, option in json.loads(text).items():
            found.setdefault(name, {})[printable(option)] = None
    return {name: list(options) for name, options in found.items()}


def _place(most: int) -> Spec:
    return {
        "field": "place",
        "type": "quantitative",
        "title": None,
        "axis": None,
        "scale": {"domain": [0, most + 1], "nice": False, "zero": False},
    }


_CLEAR_OR_NOT: Spec = {"field": "clear", "type": "nominal", "legend": None}
_ORDER = {"domain": [NOT_CLEAR, CLEAR_MARK]}

COLOUR: Spec = {**_CLEAR_OR_NOT, "scale": _ORDER}
SHAPE: Spec = {**_CLEAR_OR_NOT, "scale": {**_ORDER, "range": ["square", "circle"]}}
LONG: Spec = {"condition": {"test": f"datum.clear === '{CLEAR_MARK}'", "value": 11}, "value": 5}
"""Whether an analysis comes out clear: by color, and by the shape or length of its mark."""


def _wide(most: int, *, least: float) -> float:
    """Pixels of a mark where so many stand side by side."""
    return max(least, min(4.5, 0.7 * WIDTH / most))


def _tips(choices: Sequence[str]) -> list[Spec]:
    options = [(name, name[0].upper() + name[1:]) for name in choices]
    return tip(
        ("difference", "Difference"),
        ("low", "Interval from"),
        ("high", "to"),
        ("p_adjusted", "p, corrected"),
        ("verdict", "Verdict"),
        *options,
    )


def _curve(section: Section, choices: Sequence[str], axes: Spec, most: int) -> Spec:
    """The differences in order, with their intervals."""
    y: Spec = {
        "field": "difference",
        "type": "quantitative",
        "title": None,
        "scale": {"zero": True},
        "axis": {"grid": True, "tickCount": 5, "format": "~g"},
    }
    ends = {**axes, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    width = min(3.0, _wide(most, least=1.0))
    size = (1.3 * _wide(most, least=2.5)) ** 2
    return {
        "title": "Difference",
        "width": WIDTH,
        "height": HEIGHT,
        "layer": [
            *_band(section),
            _across(0.0, "zero"),
            *(_across(one, "half") for one in _audited(section)),
            {
                "mark": {"type": "rule", "style": "interval", "strokeWidth": width},
                "encoding": {**ends, "color": COLOUR},
            },
            {
                "mark": {"type": "point", "opacity": 1, "size": size},
                "encoding": {
                    **axes,
                    "y": y,
                    "color": COLOUR,
                    "shape": SHAPE,
                    "tooltip": _tips(choices),
                },
            },
        ],
    }


def _audited(section: Section) -> list[float]:
    """The headline's difference, where there is one model: a line for each would be many."""
    known = section.stress.filter(pl.col("analyses") > 1)["difference"].drop_nulls()
    return [float(known[0])] if known.len() == 1 else []


def _across(value: float, style: str) -> Spec:
    """A horizontal line."""
    mark = {"type": "rule", "style": style, "tooltip": None, "aria": False}
    y = {"field": "at", "type": "quantitative", "title": None}
    ends = {"x": {"value": 0}, "x2": {"value": "width"}}
    return {"mark": mark, "data": {"values": [{"at": value}]}, "encoding": {"y": y, **ends}}


def _smallest(section: Section) -> float | None:
    known = section.estimates["margin"].drop_nulls()
    return float(known[0]) if known.len() else None


def _band(section: Section) -> list[Spec]:
    """The differences that are too small to matter, as a light band."""
    least = _smallest(section)
    if least is None:
        return []
    y = {"field": "from", "type": "quantitative", "title": None}
    ends = {"y": y, "y2": {"field": "to"}, "x": {"value": 0}, "x2": {"value": "width"}}
    mark = {"type": "rect", "style": "band", "tooltip": None, "aria": False}
    return [{"mark": mark, "data": {"values": [{"from": -least, "to": least}]}, "encoding": ends}]


def _describe_band(section: Section) -> str:
    least = _smallest(section)
    if least is None:
        return ""
    return f" In the shaded band, differences are too small to matter (up to {number(least)})."


def _matrix(name: str, options: Sequence[str], axes: Spec, most: int) -> Spec:
    """A row for each option of a choice: a mark where an analysis has it."""
    y = {"field": name, "type": "nominal", "sort": list(options), "title": None}
    return {
        "title": name[0].upper() + name[1:],
        "width": WIDTH,
        "height": ROW * len(options),
        "mark": {
            "type": "tick",
            "orient": "vertical",
            "thickness": _wide(most, least=1.4),
            "tooltip": None,
            "aria": False,
        },
        "encoding": {**axes, "y": y, "color": COLOUR, "size": LONG},
    }


_SUMMED = (
    ColumnSpec(header="model", keys=("model",)),
    ColumnSpec(header="verdict", keys=("verdict",)),
    ColumnSpec(header="analyses", keys=("analyses",), form="count"),
    ColumnSpec(header="holds", keys=("holds",), form="count"),
    ColumnSpec(header="clear", keys=("clear",), form="count"),
    ColumnSpec(header="median", keys=("median",), form="number"),
    ColumnSpec(header="range", keys=("lowest", "highest"), form="interval"),
    ColumnSpec(header="p of the median", keys=("permutation_p",), form="p"),
    ColumnSpec(header="matters most", keys=("matters_most",)),
)

_EVERY = (
    ColumnSpec(header="model", keys=("model",), drop="constant"),
    ColumnSpec(header="difference", keys=("difference",), form="number"),
    ColumnSpec(header="95% interval", keys=("low", "high"), form="interval"),
    ColumnSpec(header="p, corrected", keys=("p_adjusted",), form="p"),
    ColumnSpec(header="verdict", keys=("verdict",)),
)


def analyses(section: Section) -> Iterator[Table]:
    """The summary of each headline, and its analyses one by one."""
    if section.stress.height:
        caption = (
            f"{section.instrument}: the main result in other analyses of the same answers. A clear "
            "difference holds where it is clear and has the same sign as in the audit; any other "
            "verdict holds where it is the same. Median and range are of the analyses in the main "
            "result's own unit. The p of the median is from a permutation test."
        )
        rows = section.stress.drop("instrument", "mode").to_dicts()
        yield as_table(f"{section.instrument}-holds", caption, rows, shown=_SUMMED)
    every = section.multiverse.filter(pl.col("choices").is_not_null())
    if every.height:
        rows = [
            {**row, **json.loads(row["choices"])}
            for row in every.drop(_NOT_SHOWN).iter_rows(named=True)
        ]
        chosen = list(json.loads(every["choices"][0]))
        rows = [{key: value for key, value in row.items() if key != "choices"} for row in rows]
        caption = f"{section.instrument}: every analysis of the main result, with what was chosen."
        shown = (*(ColumnSpec(header=name, keys=(name,)) for name in chosen), *_EVERY)
        yield as_table(f"{section.instrument}-analyses", caption, rows, shown=shown)
