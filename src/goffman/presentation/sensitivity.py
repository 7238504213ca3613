"""How far a main result depends on its wording, and on a part left out or a parameter changed.

A heading is flagged only if the difference changes its sign or falls below half.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.console import printable
from goffman.contrasts.designs import GIVEN
from goffman.contrasts.verdict import PRESENT_WORDS, rests_on
from goffman.formatting import confidence, ends, humanize, join_words, number
from goffman.lexicons.attitude import BUILT_IN, PEOPLE
from goffman.presentation.table_formats import (
    ColumnSpec,
    Table,
    counts,
    interval,
    numbers,
    section_table,
    texts,
)
from goffman.presentation.vega import WIDTH, Figure, Spec, at, band, choice, chosen, figure, tip
from goffman.schemas import (
    ANALYSIS,
    NUMBER,
    PARAMETER,
    PARAPHRASE_ALONE,
    WITH_PARAPHRASES,
    WORD,
    WRONG_LABELS,
)
from goffman.stats.multiple_testing import different

if TYPE_CHECKING:
    from goffman.presentation.section import Finding, Section
    from goffman.runs.manifest import LexiconEntries, RatingsFile

    Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Spread:
    """One headline over its wordings, each taken alone."""

    wordings: int
    paraphrases: int
    """The number of wordings that are asked only on request."""
    levels: tuple[float, float]
    """The lowest and highest number of the first group; for a level: of the number itself."""
    gaps: tuple[float, float]
    """The lowest and highest difference."""
    gap: float
    """The headline's difference, over its own wordings together."""

    @property
    def moves_more(self) -> bool:
        """Return whether the wording moves the number more than the group does."""
        return self.levels[1] - self.levels[0] > abs(self.gap)


def spread_of(rows: pl.DataFrame, gap: float) -> Spread | None:
    """Return the spread of one headline's rows by wording; None if only one wording has a number.

    Rows with the paraphrases are over several wordings, and are not counted here.
    """
    single = rows.filter(pl.col("variation") != WITH_PARAPHRASES).drop_nulls("mean_first")
    if single.height < 2:
        return None
    return Spread(
        wordings=single.height,
        paraphrases=single.filter(variation=PARAPHRASE_ALONE).height,
        levels=_ends(single["mean_first"].to_list()),
        gaps=_ends(single["difference"].to_list()),
        gap=gap,
    )


def _ends(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


ONE_WORDING = "Only one wording was asked, so the effect of wording is unknown."
IN_TURN = (
    "Each question was asked in one wording, so the effect of wording on the same question is "
    "unknown."
)

SENTENCES_VARY = (
    "Each sentence is worded in its own way, and the interval covers other such sentences."
)

_CALLED = {"female": "women", "male": "men"}


def with_wordings(finding: Finding, section: Section) -> Finding:
    """Return the finding with its range over wordings; unchanged if there is one wording."""
    if finding.wording == ONE_WORDING and _worded_by_item(section):
        covered = finding.low is not None
        finding = replace(finding, wording=SENTENCES_VARY if covered else "")
    rows = section.shown(section.by_wording, finding.model)
    if finding.difference is None:
        return finding
    if not rows.height:
        in_turn = finding.wording == ONE_WORDING and asked_in_turn(section, finding.model)
        return replace(finding, wording=IN_TURN) if in_turn else finding
    spread = spread_of(rows, finding.difference)
    if spread is None:
        turning = len(section.wordings) > 1 and rows["variation"].eq(WITH_PARAPHRASES).all()
        sentences = [IN_TURN if turning else finding.wording, *_together(rows)]
        return replace(finding, wording=" ".join(filter(None, sentences)))
    about = rows.row(0, named=True)
    first = _CALLED.get(about["first"]) or f"{humanize(about['first'])} {section.noun.many}"
    # Few sentence templates remain a limit of the main result.
    limits = [finding.wording] if finding.asked else []
    ranges = _ranges(spread, about["kind"], first, mean=finding.styled)
    finding = replace(finding, wording=" ".join([*limits, *ranges, *_together(rows)]))
    if not spread.moves_more or finding.styled:
        return finding
    span, gap = ends(*spread.levels), number(abs(spread.gap))
    factor = "gender" if about["kind"] == "genders" else "group"
    moved = (
        f"The mean changes more with the wording ({span} for {first}) than with the {factor} (a "
        f"difference of {gap})."
    )
    if about["kind"] == "level":
        moved = f"The number changes more with the wording ({span}) than it differs from 0 ({gap})."
    return replace(finding, moved=moved)


def _worded_by_item(section: Section) -> bool:
    """Return whether an item is a wording: sentence pairs, or items without wordings or subscales.

    Items of a subscale differ in what they ask, and not only in how.
    """
    return section.unit == "setting" or ([*section.wordings] == ["only"] and not section.dimensions)


def asked_in_turn(section: Section, model: str) -> bool:
    """Return whether there are several wordings, and each question was asked in only one."""
    rows = section.rows("prompt", section.presentation.quantity, model).drop_nulls("wording")
    if rows["wording"].n_unique() < 2:
        return False
    cells = rows.group_by("item", "condition", "form").agg(pl.col("wording").n_unique())
    return bool((cells["wording"] == 1).all())


def _ranges(spread: Spread, kind: str, first: str, *, mean: bool) -> Iterator[str]:
    """Yield the ranges, over wordings, of the difference and of the first group's mean.

    ``mean``: yield the latter even where another sentence already says that it ranges widely.
    """
    beside = ""
    if spread.paraphrases:
        beside = f" ({spread.paraphrases} of them asked only as a check)"
    number_of, span = "difference", spread.gaps
    if kind == "level":
        number_of, span = "number", spread.levels
    yield f"Across {spread.wordings} wordings{beside}, the {number_of} ranges {_from_to(span)}."
    if kind != "level" and (mean or not spread.moves_more):
        yield f"The mean for {first} ranges {_from_to(spread.levels)}."


def _together(rows: pl.DataFrame) -> Iterator[str]:
    """Yield the main result with the paraphrases; or why they are not counted."""
    for row in rows.filter(variation=WITH_PARAPHRASES).iter_rows(named=True):
        if row["difference"] is None:
            yield f"The paraphrases are not counted, because {row['reason']}."
            continue
        kind = "number" if row["kind"] == "level" else "difference"
        interval = "" if row["low"] is None else f" (95% interval {ends(row['low'], row['high'])})"
        verdict = f"; verdict: {row['verdict']}" if row["verdict"] else ""
        yield (
            f"With the paraphrases, the {kind} is {number(row['difference'])}{interval}{verdict}."
        )


def _from_to(span: tuple[float, float]) -> str:
    return f"from {number(span[0])} to {number(span[1])}"


HALF = 0.5
"""The share of the difference below which a variation is flagged."""


def with_robustness(finding: Finding, section: Section) -> Finding:
    """Return the finding with the range of its difference; unchanged if none was computed."""
    rows = section.shown(section.robustness, finding.model).filter("main").drop_nulls("difference")
    if finding.verdict is None or not finding.difference or not rows.height:
        return finding
    sentences = []
    is_parameter = pl.col("variation") == PARAMETER
    parts = rows.filter(~is_parameter).sort("difference")
    if parts.height:
        ways = parts["variation"].unique(maintain_order=True).sort().to_list()
        any_one = join_words([part_called(way, section) for way in ways], "or")
        low, high = (
            f"{number(row['difference'])} ({_without(row, section)})"
            for row in (parts.row(0, named=True), parts.row(-1, named=True))
        )
        sentences.append(f"With any one {any_one} left out, the difference is {low} to {high}.")
    sentences += [
        f"{row['what'][0].upper()}{row['what'][1:]}, it is {number(row['difference'])}."
        for row in rows.filter(is_parameter).iter_rows(named=True)
    ]
    # The sign of a difference that may be 0 means nothing.
    is_present = finding.verdict in PRESENT_WORDS
    depends = " ".join(_flags(rows, section, finding.difference)) if is_present else ""
    return replace(finding, robust=" ".join(sentences), depends=depends)


def _flags(rows: pl.DataFrame, section: Section, difference: float) -> Iterator[str]:
    share = pl.col("difference") / difference
    for is_lost, what in (
        (share < 0, "changes sign"),
        ((share < HALF) & (share >= 0), "falls below half"),
    ):
        lost = rows.filter(is_lost).sort(share.abs())
        if lost.height:
            more = f", and {lost.height - 1} more" if lost.height > 1 else ""
            first = _without(lost.row(0, named=True), section)
            yield f"The difference {what} {first}{more}."


def _without(row: Row, section: Section) -> str:
    """Return which part was left out, or which parameter was set to another value.

    The name of a part is quoted, because it may hold a comma.
    """
    way, what = row["variation"], row["what"]
    if way == PARAMETER:
        return str(what)
    name = printable(what)
    if way == "condition":
        name = section.called(what)
    if way == "item":
        name = section.names.item(section.instrument, what)
    return f"without the {part_called(way, section)} “{name}”"


def part_called(way: str, section: Section, *, many: bool = False) -> str:
    """Return the word for the part that was left out."""
    if way == "condition":
        return section.noun.many if many else section.noun.one
    word = {"frame": "sentence frame"}.get(way, way)
    if many:
        return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return word


BY_MODELS = "made by language models, not by people"

PEOPLE_SHARE = "people-share"
"""The quantity for the share of what counts that people rated."""

MOST_BY_MODELS = 0.05
"""The share of what counts above which a result says that language models rated its words."""


def whose_ratings(lexicons: LexiconEntries, people: float | None = None) -> str:
    """Return who rated the words, in a sentence.

    ``people``: the least share, over models, of what counts that people rated; None: not known.
    """
    user_files = [entry for entry in lexicons.attitudes if entry.file not in BUILT_IN]
    built_in = {entry.file for entry in lexicons.attitudes}
    if not user_files and PEOPLE in built_in:
        if built_in == {PEOPLE} or people == 1:
            return "People (the raters of Mei et al. 2023) rated the words."
        words = "most of the words"
        if people is not None:
            # Rounded down, so that less than all is never 100%.
            words = f"the words with at least {math.floor(people * 1000) / 10:g}% of what counts"
        return f"People (the raters of Mei et al. 2023) rated {words}, language models the others."
    if not user_files:
        return "Language models, not people, rated the words as positive or negative."
    files = " and ".join(
        f"{printable(PurePath(entry.file).name)} ({entry.ratings or 0:,} ratings)"
        for entry in user_files
    )
    sentence = f"The words were rated in {files}."
    if len(user_files) == len(lexicons.attitudes):
        return sentence
    return f"{sentence} All other words keep the ratings that come with goffman."


def by_models(section: Section, model: str) -> float:
    """Return the share of what counts that language models rated; ``model`` is its shown name."""
    rows = section.rows("model", PEOPLE_SHARE, model)
    return 1 - rows["value"][0] if rows.height else 1.0


def describe_file(file: RatingsFile) -> str:
    """Return a description of a file of ratings."""
    if file.file == PEOPLE:
        source = f"those of Mei et al. (2023), {file.ratings:,} ratings made by people"
    elif file.file in BUILT_IN:
        source = f"the list that comes with goffman, {file.ratings:,} ratings {BY_MODELS}"
    else:
        source = f"{printable(file.file)}, {file.ratings:,} ratings"
    return f"Attitude ratings of words: {source} (sha256 {file.sha256[:12]}…)."


def describe_changes(section: Section, model: str) -> Iterator[str]:
    """Yield what the user's ratings change for a model (shown name) that can do the task."""
    failing = section.unmeasurable()
    rows = section.compared.filter(pl.col("dimension").is_null())
    measurable = [
        not any(rests_on(row, name) for name in failing) for row in rows.iter_rows(named=True)
    ]
    for row in section.shown(rows.filter(measurable)).iter_rows(named=True):
        # The difference that takes the sentences as fixed is in the table only.
        if row["model"] != model or row["kind"] in GIVEN:
            continue
        if row["difference"] is None:
            yield (
                "One of the two ratings gives no value for this difference, so no change is known."
            )
            continue
        interval = "no interval"
        if row["low"] is not None:
            interval = f"{confidence(row['level'])} interval {ends(row['low'], row['high'])}"
        text = (
            f"The difference between {humanize(row['first'])} and {humanize(row['second'])} is "
            f"{number(row['shipped'])} with goffman's own ratings and {number(row['given'])} with "
            f"yours: change {number(row['difference'])} ({interval})."
        )
        if row["left_out"]:
            prompts = (
                "1 prompt has" if row["left_out"] == 1 else f"{row['left_out']:,} prompts have"
            )
            text += f" {prompts} a value with only one of the two; the change leaves this out."
        if row["share"] is not None:
            text += f" Your ratings cover {number(row['share'])} of the words' probability."
        yield text


_SHOWN = (
    *texts("model"),
    ColumnSpec(header="contrast", keys=("first", "second"), form="pair"),
    *numbers("shipped", shipped="goffman's ratings"),
    interval("shipped_low", "shipped_high"),
    *numbers("given", given="your ratings"),
    interval("given_low", "given_high"),
    *numbers("difference", difference="change"),
    interval(),
    *numbers("share", share="share rated"),
)


def change_table(section: Section) -> Iterator[Table]:
    """Yield a table, for a paper, of what the user's ratings change."""
    caption = (
        "each main contrast with goffman's own ratings and with your ratings, and the change. Share"
        " rated: how much of the words' probability your ratings cover."
    )
    rows = section.compared.drop("instrument", "mode")
    yield from section_table(section, "ratings", caption, rows, _SHOWN)


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
    """Return the sentences about each model; [] if no other analyses were run."""
    results = []
    for row in section.shown(section.stress).iter_rows(named=True):
        sentences: tuple[str, ...] = (*_not_counted(row, section), *_labels(row, section))
        if row["analyses"] == 0:
            head, sentences = f"There are no other analyses: {row['reason']}", ()
        elif row["holds_in"] is None:
            head = "This analysis has no choices; only parts were left out"
        else:
            span = _analyses_range(row, section)
            head = f"Over {row['analyses']} analyses, the difference is {span}"
            sentences = (*_explained(row), *sentences)
        results.append(MultiverseSentences(model=row["model"], head=head, said=sentences))
    return results


def _analyses_range(row: Row, section: Section) -> str:
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


def _not_counted(row: Row, section: Section) -> Iterator[str]:
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
    return section.shown(section.multiverse, model).filter(variation=variation)


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
    # The options of each choice over all models, the audit's own first, as in the table.
    options: dict[str, list[str]] = {}
    for text in rows["choices"]:
        for name, option in json.loads(text).items():
            options.setdefault(name, []).append(printable(option))
    options = {name: list(dict.fromkeys(texts)) for name, texts in options.items()}
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
    results = describe_holds(section)
    title = results[0].head if len(results) == 1 else "The main result in other analyses"
    yield figure(
        section,
        PART,
        title=title,
        description=(
            "Each column is one analysis: above, its difference and interval; below, its choices. "
            "Blue excludes 0, orange does not."
        ),
        spec=spec,
        choices=choices,
    )


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


_CLEAR_OR_NOT: Spec = {"field": "clear", "type": "nominal", "legend": None}
_ORDER = {"domain": [NOT_CLEAR, CLEAR_MARK]}

COLOUR: Spec = {**_CLEAR_OR_NOT, "scale": _ORDER}
SHAPE: Spec = {**_CLEAR_OR_NOT, "scale": {**_ORDER, "range": ["square", "circle"]}}
LONG: Spec = {"condition": {"test": f"datum.clear === '{CLEAR_MARK}'", "value": 11}, "value": 5}
"""Whether an interval excludes 0: by color, and by the shape or length of its mark."""


def _wide(most: int, *, least: float) -> float:
    """Return the width in pixels of a mark if ``most`` stand side by side."""
    return max(least, min(4.5, 0.7 * WIDTH / most))


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
    names = [(name, name[0].upper() + name[1:]) for name in choices]
    about = tip(
        ("difference", "Difference"),
        ("low", "Interval from"),
        ("high", "to"),
        ("verdict", "Verdict"),
        *names,
    )
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
                    "tooltip": about,
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
    *texts("model", "verdict", drop="never"),
    *counts("analyses"),
    *numbers("median"),
    interval("lowest", "highest", header="range"),
    *texts("matters_most"),
)

_EVERY = (*texts("model"), *numbers("difference"), interval(), *texts("verdict"))


def analyses(section: Section) -> Iterator[Table]:
    """Yield a table with the summary of each headline, and one with all its analyses."""
    caption = (
        "the main result in other analyses of the same answers. Median and range are of the "
        "analyses in the main result's own unit."
    )
    rows = section.stress.drop("instrument", "mode")
    yield from section_table(section, "holds", caption, rows, _SUMMED)
    specifications = section.multiverse.drop_nulls("choices")
    choices = [json.loads(text) for text in specifications["choices"]]
    records = specifications.drop(*_NOT_SHOWN, "choices").to_dicts()
    records = [row | options for row, options in zip(records, choices, strict=True)]
    caption = "every analysis of the main result, with what was chosen."
    shown = (*texts(*(choices[0] if choices else ()), drop="never"), *_EVERY)
    yield from section_table(section, "analyses", caption, records, shown)
