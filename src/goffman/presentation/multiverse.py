"""How far a main result moves over other analyses of the same answers: sentences, curve, table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.console import printable
from goffman.formatting import ends, join_words, number
from goffman.presentation.estimate_figures import band
from goffman.presentation.table_formats import ColumnSpec, Table, as_table, numbers, texts
from goffman.presentation.vega import WIDTH, Figure, Spec, at, choice, chosen, figure, tip
from goffman.schemas import ANALYSIS, NUMBER, WORD, WRONG_LABELS
from goffman.stats.specification_curve import different

if TYPE_CHECKING:
    from goffman.presentation.section import Section

    Row = Mapping[str, Any]

_NOT_SHOWN = (
    "instrument", "mode", "contrast", "kind", "first", "second", "main", "mean_first", "variation",
    "rate",
)  # fmt: skip
"""The columns of SENSITIVITY that are the same in every analysis of a headline."""

LEAST_SHARE = 0.01
"""The least share of the variance that a choice must explain to be named."""


@dataclass(frozen=True, kw_only=True)
class MultiverseSentences:
    """The sentences about other analyses of one headline."""

    model: str
    """As it is shown."""
    head: str
    """The range of the difference over the analyses; or why there are none."""
    said: tuple[str, ...] = ()
    """Which choices matter, and what leaving out words or spoiling labels does."""


def describe_holds(section: Section) -> list[MultiverseSentences]:
    """Return what other analyses say of each model; an empty list if the run was not stressed."""
    rows = section.shown(section.stress)
    return [_sentences_of_result(row, section) for row in rows.iter_rows(named=True)]


def _sentences_of_result(row: Row, section: Section) -> MultiverseSentences:
    sentences = (*_left_out(row, section), *_labels(row, section))
    if row["analyses"] == 0:
        head, sentences = f"There are no other analyses: {row['reason']}", ()
    elif row["holds_in"] is None:
        head = "This analysis has no choices; only parts were left out"
    else:
        head = f"Over {row['analyses']} analyses, the difference is {_ranges(row, section)}"
        sentences = (*_explained(row), *sentences)
    return MultiverseSentences(model=row["model"], head=head, said=sentences)


def _ranges(row: Row, section: Section) -> str:
    """Return the range of the difference; one for each number, if there are several."""
    by_number: dict[str, list[float]] = {}
    for analysis in different(_rows(section, row["model"], ANALYSIS).to_dicts()):
        if analysis["difference"] is not None:
            name = json.loads(analysis["choices"] or "{}").get(NUMBER, "")
            by_number.setdefault(name, []).append(analysis["difference"])
    if len(by_number) < 2:
        return f"{ends(row['lowest'], row['highest'])}, median {number(row['median'])}"
    ranges = {
        name: number(values[0]) if len(values) == 1 else ends(min(values), max(values))
        for name, values in by_number.items()
    }
    return join_words([f"{span} in the {name}" for name, span in ranges.items()])


def _explained(row: Row) -> Iterator[str]:
    """Yield how much of the differences' variance each choice explains."""
    shares: dict[str, float] = json.loads(row["explained"] or "{}")
    ranked = sorted(shares.items(), key=lambda pair: -pair[1])
    parts = [f"the {name} {share:.0%}" for name, share in ranked if share >= LEAST_SHARE]
    # A single choice always explains all the variance.
    if parts and len(shares) > 1:
        yield f"What matters most (share of the variance, η²): {join_words(parts)}."


def _left_out(row: Row, section: Section) -> Iterator[str]:
    """Yield the range of the difference without any one of the heaviest words."""
    rows = _rows(section, row["model"], WORD).drop_nulls("difference")
    if rows.height:
        low, high = rows["difference"].min(), rows["difference"].max()
        yield (
            f"Without any one of the {rows.height} most probable words: {ends(low, high)}."  # type: ignore[arg-type]
        )


def _labels(row: Row, section: Section) -> Iterator[str]:
    """Yield the range at each share of labels that are made wrong at random."""
    rows = _rows(section, row["model"], WRONG_LABELS).drop_nulls("difference")
    rates = rows.group_by("rate").agg(
        low=pl.col("difference").min(), high=pl.col("difference").max()
    )
    ranges = [f"{ends(low, high)} at {rate:.0%}" for rate, low, high in rates.sort("rate").rows()]
    if ranges:
        yield f"With wrong word labels, at random: {join_words(ranges)}."


def _rows(section: Section, model: str, variation: str) -> pl.DataFrame:
    rows = section.shown(section.multiverse)
    return rows.filter(pl.col("model") == model, pl.col("variation") == variation)


PART = "analyses"
"""The end of the figure's id."""

CLEAR_MARK, NOT_CLEAR = "excludes 0", "contains 0"

HEIGHT, ROW = 200, 17
"""Heights in pixels of the curve, and of each option below it."""


def curve(section: Section) -> Iterator[Figure]:
    """Yield a figure of sorted differences with intervals; below, a dot for the option chosen."""
    rows = section.shown(section.multiverse)
    rows = rows.filter(pl.col("choices").is_not_null(), pl.col("difference").is_not_null())
    if not rows.height:
        return
    values = [
        record
        for frame in rows.partition_by("model", maintain_order=True)
        for record in _data(frame)
    ]
    options = _options(rows)
    models = [model for model in section.models() if model in rows["model"]]
    choices = choice("model", "Model", models)
    most = max(rows.group_by("model").len()["len"])
    scale = {"domain": [0, most + 1], "nice": False, "zero": False}
    place = {"field": "place", "type": "quantitative", "title": None, "axis": None, "scale": scale}
    axes = {"x": place}
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
        title=_title(section),
        description=(
            "Each column is one analysis: above, its difference and interval; below, its choices. "
            "Blue excludes 0, orange does not."
        ),
        spec=spec,
        choices=choices,
    )


def _title(section: Section) -> str:
    """Return the number of analyses and the range, if there is one model; else a general title."""
    results = describe_holds(section)
    return results[0].head if len(results) == 1 else "The main result in other analyses"


def _data(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Return for one model a row for each analysis, with its place and the chosen options."""
    records = []
    for place, row in enumerate(rows.sort("difference", "what").iter_rows(named=True)):
        options = {key: printable(text) for key, text in json.loads(row["choices"]).items()}
        low, high = row["low"], row["high"]
        clear = CLEAR_MARK if low is not None and (low > 0 or high < 0) else NOT_CLEAR
        estimate = {name: row[name] for name in ("difference", "low", "high")}
        about = {"place": place + 1, "model": printable(row["model"])}
        records.append(
            about | estimate | {"clear": clear, "verdict": row["verdict"] or ""} | options
        )
    return records


def _options(rows: pl.DataFrame) -> dict[str, list[str]]:
    """Return the options of each choice over all models, the audit's own first, as in the table."""
    by_choice: dict[str, dict[str, None]] = {}
    for text in rows["choices"]:
        for name, option in json.loads(text).items():
            by_choice.setdefault(name, {})[printable(option)] = None
    return {name: list(options) for name, options in by_choice.items()}


_CLEAR_OR_NOT: Spec = {"field": "clear", "type": "nominal", "legend": None}
_ORDER = {"domain": [NOT_CLEAR, CLEAR_MARK]}

COLOUR: Spec = {**_CLEAR_OR_NOT, "scale": _ORDER}
SHAPE: Spec = {**_CLEAR_OR_NOT, "scale": {**_ORDER, "range": ["square", "circle"]}}
LONG: Spec = {"condition": {"test": f"datum.clear === '{CLEAR_MARK}'", "value": 11}, "value": 5}
"""Whether an interval excludes 0: by color, and by the shape or length of its mark."""


def _wide(most: int, *, least: float) -> float:
    """Return the width in pixels of a mark if ``most`` stand side by side."""
    return max(least, min(4.5, 0.7 * WIDTH / most))


def _tips(choices: Sequence[str]) -> list[Spec]:
    options = [(name, name[0].upper() + name[1:]) for name in choices]
    return tip(
        ("difference", "Difference"),
        ("low", "Interval from"),
        ("high", "to"),
        ("verdict", "Verdict"),
        *options,
    )


def _curve(section: Section, choices: Sequence[str], axes: Spec, most: int) -> Spec:
    """Return the view of the differences in order, with their intervals."""
    y: Spec = {
        "field": "difference",
        "type": "quantitative",
        "title": None,
        "scale": {"zero": True},
        "axis": {"grid": True, "tickCount": 5, "format": "~g"},
    }
    interval = {**axes, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    # The headline's difference, only for one model: a line for each would be too many.
    differences = section.stress.filter(pl.col("analyses") > 1)["difference"].drop_nulls()
    audited = [float(differences[0])] if differences.len() == 1 else []
    width = min(3.0, _wide(most, least=1.0))
    size = (1.3 * _wide(most, least=2.5)) ** 2
    return {
        "title": "Difference",
        "width": WIDTH,
        "height": HEIGHT,
        "layer": [
            *band(section.estimates, level=True),
            at(0.0, "zero", level=True),
            *(at(difference, "half", level=True) for difference in audited),
            {
                "mark": {"type": "rule", "style": "interval", "strokeWidth": width},
                "encoding": {**interval, "color": COLOUR},
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


def _matrix(name: str, options: Sequence[str], axes: Spec, most: int) -> Spec:
    """Return a view with a row for each option of a choice, and a mark for analyses with it."""
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
    ColumnSpec(header="median", keys=("median",), form="number"),
    ColumnSpec(header="range", keys=("lowest", "highest"), form="interval"),
    ColumnSpec(header="matters most", keys=("matters_most",)),
)

_EVERY = (
    *texts("model"),
    *numbers("difference"),
    ColumnSpec(header="95% interval", keys=("low", "high"), form="interval"),
    ColumnSpec(header="verdict", keys=("verdict",)),
)


def analyses(section: Section) -> Iterator[Table]:
    """Yield a table with the summary of each headline, and one with all its analyses."""
    if section.stress.height:
        caption = (
            f"{section.instrument}: the main result in other analyses of the same answers. Median "
            "and range are of the analyses in the main result's own unit."
        )
        rows = section.stress.drop("instrument", "mode").to_dicts()
        yield as_table(f"{section.instrument}-holds", caption, rows, shown=_SUMMED)
    specifications = section.multiverse.filter(pl.col("choices").is_not_null())
    if specifications.height:
        choices = [json.loads(text) for text in specifications["choices"]]
        rows = specifications.drop(*_NOT_SHOWN, "choices").to_dicts()
        rows = [row | options for row, options in zip(rows, choices, strict=True)]
        caption = f"{section.instrument}: every analysis of the main result, with what was chosen."
        shown = (*(ColumnSpec(header=name, keys=(name,)) for name in choices[0]), *_EVERY)
        yield as_table(f"{section.instrument}-analyses", caption, rows, shown=shown)
