"""What a model does whatever it is asked: order, keying, non-answers; in all forms of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import polars as pl

from goffman.contrasts.verdict import direction
from goffman.formatting import ends, humanize, join_words, number
from goffman.instruments.types import BASELINE, base_of, options_from
from goffman.presentation.estimate_figures import (
    ESTIMATE,
    describe_marks,
    estimate_layers,
    estimate_tip,
    with_clear,
)
from goffman.presentation.findings import of_model
from goffman.presentation.mode_agreement import agreement_table, describe_agreement
from goffman.presentation.section import Section
from goffman.presentation.table_formats import ColumnSpec, N, Table, as_table, numbers, texts
from goffman.presentation.vega import Figure, axis_x, axis_y, data, plot

Row = Mapping[str, Any]
Kind = Literal["order", "keying", "wordings"]

_COLUMN = {"order": "order", "keying": "keyed", "wordings": "wording"}
_WHOM = ("item", "condition", "form", "gender")
_FIRST = ("stigma-first", "stigma-last")

_NEARLY_HALF = (0.45, 0.55)


class _Such(NamedTuple):
    """What the questions of an instrument that comes with goffman are like."""

    item: str
    """Said only where this item was asked: another study's questions may stand in their place."""
    question: str
    highest: str
    """What an answer with the code 1 is."""


_SUCH = {
    "social-distance": _Such(
        "neighbor",
        "how willing it would be to have someone who … as a neighbor",
        "the more stigmatizing answers",
    ),
    "decisions": _Such(
        "room", "whether to let someone who … have a room", "advice against the person"
    ),
}


def describe_measured(section: Section) -> str:
    """What is asked, what the number is, and in which orders the options were."""
    return " ".join([section.presentation.claims.measured, *_questions(section), *_orders(section)])


def _questions(section: Section) -> Iterator[str]:
    """An example of a question, and what the code is where there are two options."""
    if section.presentation.quantity != "code":
        return
    such = _SUCH.get(base_of(section.instrument))
    such = such if such and such.item in section.items else None
    if such:
        yield f"One question is {such.question}."
    if two_options(section):
        highest = such.highest if such else "the more stigmatizing answers"
        yield f"Two options count, so the mean code is the share of {highest}."


def two_options(section: Section) -> bool:
    """Whether each question has two options that count."""
    if "options" not in section.prompts.columns:
        return False
    lists = section.prompts["options"].drop_nulls().unique()
    counts = {sum(one.code is not None for one in options_from(text)) for text in lists}
    return counts == {2}


def _orders(section: Section) -> Iterator[str]:
    """In which orders the options were; of each model, where these differ."""
    if not section.scores["quantity"].is_in(_FIRST).any():
        return
    models = section.models()
    one_order = [model for model in models if not same_questions(section, model, "order")]
    if not one_order:
        yield "Every question is asked with the options in both orders."
    elif len(one_order) < len(models):
        yield (
            "Every question is asked with the options in both orders; "
            f"{join_words(one_order)} got each question in one order."
        )
    else:
        named = section.scores.filter(pl.col("level") == "prompt", pl.col("quantity").is_in(_FIRST))
        share = float((named["quantity"] == _FIRST[0]).to_numpy().mean())
        low, high = _NEARLY_HALF
        some = "about half" if low <= share <= high else f"{share:.0%}"
        yield (
            f"Each question is asked in one order of the options: {some} list the most "
            "stigmatizing option first, the others last."
        )


def same_questions(section: Section, model: str, kind: Kind) -> bool:
    """Whether a model was asked a question in two presentations, and not only one in each.

    Behind a server it may be asked each question in one presentation, in turn. ``model``: as it is
    shown. Where no prompts are known, nothing speaks against it.
    """
    if section.prompts.is_empty():
        return True
    column = _COLUMN[kind]
    question = [*_WHOM, "wording"] if kind == "order" else [*_WHOM]
    # Whatever the model answered.
    mine = [name for name in section.scores["model"].unique() if section.names.model(name) == model]
    ids = section.scores.filter(pl.col("level") == "prompt", pl.col("model").is_in(mine))
    asked = section.prompts.filter(pl.col("condition") != BASELINE).join(
        ids.select("prompt_id").unique(), on="prompt_id", how="semi"
    )
    ways = asked.group_by(question).agg(pl.col(column).n_unique())
    return bool((ways[column] > 1).any())


# The limits lie half-way between a model that heeds what the options say and one that heeds
# nothing. In both orders, the option listed first is now one end of the scale and now the other.
MOSTLY = 0.75
"""From this share on, the option at one place is mostly picked: half is the most that content
gives, all is what place alone gives."""

ALWAYS = 0.95
"""From this share on it is always picked, but for a rest."""

AGREES = 0.5
"""From this difference between keyings on, a model agrees with whatever is said: 0 is what content
gives, 1 what agreeing alone gives."""

SILENT = 0.25
"""From this share on a model often does not answer."""

LOST = 0.5
"""From this share on, most of what a model says is no option."""

NOT_ANSWERING = ("no-answer", "dont-know", "refusal")
ELSEWHERE = ("elsewhere", "several", "other")
SAYS = "says-"
"""Before a label in the name of a quantity: the share of the answers that is this label, which is
the one that a model gives most often."""

UNSEEN = "unseen"
"""A part of elsewhere: what lies on tokens that a server did not name."""

_OF_ANSWERING = ("first-listed", "last-listed", *NOT_ANSWERING, *ELSEWHERE, UNSEEN)
"""The means that say how a model answers."""


def styles(section: Section, model: str) -> Iterator[str]:
    """What a model does whatever it is asked: each as the beginning of a sentence."""
    share = shares(section, model)
    # Asked in one order only, whoever picks the first may mean it.
    if any(of_model(section.contrasts(kind), model).height for kind in ("order", "position")):
        for quantity, place in (("first-listed", "first"), ("last-listed", "last")):
            value = share.get(quantity, 0.0)
            if value >= MOSTLY:
                often = "Always" if value >= ALWAYS else "Mostly"
                yield f"{often} picks the option listed {place}"
                break
        else:
            yield from _one_label(section, model)
    for row in of_model(section.contrasts("keying"), model).iter_rows(named=True):
        if abs(row["difference"]) >= AGREES:
            word = "Agrees" if row["difference"] > 0 else "Disagrees"
            yield f"{word} with whatever is said"
    silent = sum(share.get(name, 0.0) for name in NOT_ANSWERING)
    if silent >= SILENT:
        yield f"Does not answer {silent:.0%} of the time"
    lost = sum(share.get(name, 0.0) for name in ELSEWHERE)
    if lost >= LOST:
        yield f"Says something that is not an option {lost:.0%} of the time"


def _one_label(section: Section, model: str) -> Iterator[str]:
    """The label that a model gives whatever is asked: a letter, a number, or one of each."""
    quantities = [one for one in section.scores["quantity"].unique() if one.startswith(SAYS)]
    rows = of_model(section.rows("model", quantities), model)
    values = rows.select("quantity", "value").rows()
    share = {quantity.removeprefix(SAYS): value for quantity, value in values}
    lists = [options_from(text) for text in section.prompts["options"].unique()]
    offered = {one.label.isdigit() for options in lists for one in options}
    # With letters and with numbers it may have one of each.
    same = [label for label, value in share.items() if value >= MOSTLY]
    kinds = {label.isdigit() for label in same}
    if not same:
        return
    often = "Always" if min(share[label] for label in same) >= ALWAYS else "Mostly"
    codes = {
        label: {one.code for options in lists for one in options if one.label == label}
        for label in same
    }
    named = " or ".join(
        f"“{label}”{', the middle of the scale' if codes[label] == {0.5} else ''}"
        for label in sorted(same)
    )
    only = {True: "numbers", False: "letters"}[same[0].isdigit()]
    where = "" if kinds == offered else f", where the options have {only}"
    yield f"{often} says {named}{where}"


def shares(section: Section, model: str) -> dict[str, float]:
    """The means over all prompts that say how a model answers."""
    rows = of_model(section.rows("model", _OF_ANSWERING), model)
    return dict(rows.filter(pl.col("wording").is_null()).select("quantity", "value").rows())


_MOVES = {
    "order": "listing the most stigmatizing option first instead of last",
    "keying": "putting a statement so that agreeing means more instead of less stigma",
}
"""What moves the number, of the same questions."""

_WITH = {
    "order": "with the most stigmatizing option first instead of last",
    "keying": "where agreeing means more instead of less stigma",
}
"""The same of different questions."""

_KINDS: tuple[Kind, ...] = ("order", "keying", "wordings")
_CALLED = {"order": "order", "keying": "keying", "wordings": "wording"}


def describe_style(section: Section, model: str) -> str:
    """What a model does whatever it is asked, as a heading; empty: nothing of the kind."""
    found = list(styles(section, model))
    return "; ".join([*found[:1], *(f"{one[0].lower()}{one[1:]}" for one in found[1:])])


def describe_presentation(section: Section, model: str) -> str:
    """How far order, keying and wording move the number, each with its interval."""
    rows = {kind: _rows(section, model, kind) for kind in _KINDS}
    there = [kind for kind in _KINDS if rows[kind]]
    agreed = describe_agreement(section, model)
    if not there:
        return (
            f"{agreed}The effect of the presentation on the mean code is unknown, because there "
            "was only one presentation."
        )
    same = [kind for kind in there if same_questions(section, model, kind)]
    apart = [kind for kind in there if kind not in same]
    said = []
    if same:
        moved = [row for kind in same for row in rows[kind]]
        # What is the same for every question has no interval, and changes the number all the same.
        clear = any(direction(row) or (row["low"] is None and row["difference"]) for row in moved)
        does = "changes" if clear else "does not clearly change"
        each = "; ".join(_each(same, rows, _MOVES, "{what} moves it by {by}"))
        said.append(f"The presentation alone {does} the mean code: {each}.")
    if apart:
        two = (
            "presentations"
            if not same
            else join_words([f"{_CALLED[kind]}s" for kind in apart], "or")
        )
        each = "; ".join(_each(apart, rows, _WITH, "by {by} {what}"))
        said.append(
            f"No question was asked in two {two}. Between different questions about the same "
            f"{section.noun.many}, the mean code differs {each}."
        )
    return f"{agreed}{' '.join(said)}"


def _rows(section: Section, model: str, kind: Kind) -> list[Row]:
    """What there is of a kind: of wordings all, the furthest from the first one before all."""
    rows: list[Row] = [*of_model(section.contrasts(kind), model).iter_rows(named=True)]
    return sorted(rows, key=lambda row: -abs(row["difference"])) if kind == "wordings" else rows


def _each(
    kinds: Sequence[Kind],
    rows: Mapping[Kind, Sequence[Row]],
    called: Mapping[str, str],
    text: str,
) -> Iterator[str]:
    """What each does; of the wordings the one that moves the number furthest."""
    for kind in kinds:
        if kind != "wordings":
            yield from (text.format(what=called[kind], by=_moved(row)) for row in rows[kind])
            continue
        row = rows[kind][0]
        what = f"the wording “{humanize(row['first'])}” instead of “{humanize(row['second'])}”"
        most = ", the most of all" if len(rows[kind]) > 1 else ""
        into = what if called is _MOVES else f"in {what}"
        yield f"{text.format(what=into, by=_moved(row))}{most}"


def _moved(row: Row) -> str:
    if row["low"] is None:
        return f"{number(row['difference'])} (no interval)"
    unsettled = "" if direction(row) else ", not clear"
    return f"{number(row['difference'])} (95% interval {ends(row['low'], row['high'])}{unsettled})"


def describe_answering(section: Section, model: str) -> Iterator[str]:
    """How much of what a model says is an answer, and how much of that is the first option."""
    share = shares(section, model)
    if "elsewhere" in share:
        out = share.get("no-answer")
        offered = f"; {number(out)} lies on not answering" if out is not None else ""
        yield (
            f"On average, {number(share['elsewhere'])} of the probability lies on no option"
            f"{offered}."
        )
    if UNSEEN in share:
        yield (
            "The server reports only its most probable tokens. The others have "
            f"{number(share[UNSEEN])} of the probability, and some of them may be options."
        )
    kinds = [
        f"{number(share[name])} {said}"
        for name, said in (
            ("dont-know", "say that they do not know, or prefer not to say"),
            ("refusal", "refuse"),
            ("several", "name several options"),
            ("other", "say something else"),
        )
        if name in share
    ]
    if kinds:
        yield f"Of the replies, {', '.join(kinds)}. These count as missing, not as middle answers."
    if "last-listed" in share:
        yield (
            f"Of the answers, {number(share['first-listed'])} are the option listed first and "
            f"{number(share['last-listed'])} the one listed last.{_by_content(section, model)}"
        )


def _by_content(section: Section, model: str) -> str:
    """What these shares would be without an effect of place; empty: that cannot be told."""
    if two_options(section) and section.prompts["order"].drop_nulls().n_unique() > 1:
        return " Without an effect of place, each would be about 0.50."
    if same_questions(section, model, "order"):
        return (
            " Both orders were asked, so the content of the options alone brings neither far above "
            "0.50."
        )
    return ""


BESIDE = (
    "accuracy-pro", "accuracy-anti", "above-chance", "bias-lowest", "bias-highest",
    "bias-answered", "first-mentioned-above-half", "log-odds",
)  # fmt: skip
"""The numbers that stand beside a bias."""


def beside_bias(section: Section, model: str) -> Iterator[str]:
    """In the sentences without adjectives: each number that could put the bias in doubt."""
    rows = of_model(section.rows("condition", BESIDE), model)
    rows = rows.filter(pl.col("condition") == BASELINE)
    value = dict(rows.select("quantity", "value").rows())
    pro, anti = value.get("accuracy-pro"), value.get("accuracy-anti")
    if pro is not None and anti is not None:
        above = value["above-chance"]
        yield (
            f"Without adjectives, a share of {number(pro)} of the replies is right where the "
            f"pronoun fits the stereotype, and {number(anti)} where it does not. That is "
            f"on average {number(abs(above))} {'above' if above >= 0 else 'below'} 0.5, the share "
            "that guessing would give."
        )
    if (low := value.get("bias-lowest")) is not None:
        answered = value.get("bias-answered")
        among = f" Among replies that name one of the two people, it is {number(answered)}."
        yield (
            "Some replies name nobody. Depending on whom they would have named, the bias could be "
            f"{number(low)} to {number(value['bias-highest'])}."
            f"{'' if answered is None else among}"
        )
    if (first := value.get("first-mentioned-above-half")) is not None:
        yield (
            f"A share of {number(0.5 + first)} of the replies names the person mentioned first. "
            "If the order did not matter, it would be about half."
        )
    if (odds := value.get("log-odds")) is not None:
        yield f"In log-odds, which do not shrink near 100%, the bias is {number(odds)}."


_EFFECTS = {
    "order": "order: stigmatizing option first",
    "keying": "keying: agreeing means stigma",
}
_MEANT = {
    "order": (
        "“Order” is the mean with the most stigmatizing option first minus the mean with it last."
    ),
    "keying": (
        "“Keying” is the mean where agreeing shows more stigma minus the mean where it shows less."
    ),
}


def effects(section: Section) -> Iterator[Figure]:
    """For each model: what order, keying and every further wording do, with intervals."""
    rows = pl.concat([section.contrasts(kind) for kind in _KINDS])
    if not rows.height:
        return
    wording = pl.format("wording: {}", pl.col("first").map_elements(humanize, pl.String))
    name = pl.col("kind").replace_strict(_EFFECTS, default=wording, return_dtype=pl.String)
    rows = with_clear(rows).with_columns(name=name)
    names = rows["name"].unique(maintain_order=True).to_list()
    title, what = _described(section, rows)
    yield plot(
        section,
        "presentation",
        data(rows, "model", "name", *ESTIMATE),
        estimate_layers(rows, estimate_tip(("model", "Model"), ("name", "Effect")), size=60),
        title=title,
        description=f"{what} {describe_marks(rows)}",
        y=axis_y("name", names),
        x=axis_x("Difference", field_="difference"),
        height={"step": 24},
        rows="model",
        order=section.models(),
    )


def _described(section: Section, rows: pl.DataFrame) -> tuple[str, str]:
    """Title, and what the marks are: of the same questions, or of different ones."""
    kinds = rows["kind"].unique().to_list()
    named = [kind for kind in _KINDS if kind in kinds]
    models = rows["model"].unique(maintain_order=True).to_list()
    apart = [
        (model, kind)
        for model in models
        for kind in named
        if not same_questions(section, model, kind)
    ]
    title = "What the presentation alone does"
    said = (
        "For each model, the marks show how far the mean code moves when only the presentation of "
        "the same questions changes, with 95% intervals."
    )
    if apart:
        title = f"By {join_words([_CALLED[kind] for kind in named])}"
        ways = [f"{_CALLED[kind]}s" for kind in named if any(kind == of for _, of in apart)]
        of = [model for model in models if any(model == one for one, _ in apart)]
        whom = "" if len(of) == len(models) else f"{join_words(of)} got no question in two "
        said = (
            "For each model, the marks show how far the mean code differs between presentations, "
            f"with 95% intervals. "
            f"{whom or 'No question was asked in two '}{join_words(ways, 'or')}, "
            f"so these are different questions about the same {section.noun.many}."
        )
    meant = [_MEANT[kind] for kind in named if kind in _MEANT]
    if "wordings" in kinds:
        meant.append(f"Wordings are compared with “{humanize(section.wordings[0])}”.")
    keyed = join_words([_CALLED[kind] for kind in named if kind in _MEANT])
    if keyed:
        is_ = "are" if " and " in keyed else "is"
        meant.append(f"For a model that responds only to the content, {keyed} {is_} 0.")
    return title, " ".join([said, *meant])


def how_it_answers(section: Section) -> Iterator[Table]:
    """What presentation does, with its interval; then how much is an answer, and at which place."""
    rows = section.estimates.filter(pl.col("kind").is_in(_KINDS))
    kept = ("model", "kind", "first", "second", "n", "difference", "low", "high", "p_adjusted")
    effects = rows.select(*kept, "reason").to_dicts()
    if effects:
        caption = (
            f"{section.instrument}: what the presentation of a question alone does to the mean "
            "code: the order of the options, the keying, the wording."
        )
        shown = (
            *texts("model", "kind", kind="effect of"),
            ColumnSpec(header="first − second", keys=("first", "second"), form="pair"),
            N,
            *numbers("difference"),
            ColumnSpec(header="95% interval", keys=("low", "high"), form="interval"),
            ColumnSpec(header="p, corrected", keys=("p_adjusted",), form="p"),
        )
        yield as_table(f"{section.instrument}-presentation", caption, effects, shown=shown)
    yield from agreement_table(section)
    yield from _shares(section)


def _shares(section: Section) -> Iterator[Table]:
    quantity = pl.col("quantity")
    means = section.scores.filter(
        pl.col("level") == "model",
        quantity.is_in(_OF_ANSWERING) | quantity.str.starts_with(SAYS),
        pl.col("wording").is_null(),
    )
    rows = means.sort("model", "quantity").select(
        "model", "quantity", "n", "missing", "value", "sd", "low", "high", "reason"
    )
    if rows.height:
        caption = (
            f"{section.instrument}: means over all prompts. First-listed, last-listed and "
            "says-… (the label that a model gives most often) are shares of the answers. The "
            "others are shares of all replies, or of all probability."
        )
        shown = (
            *texts("model", "quantity", quantity="share"),
            N,
            *numbers("value", "sd", "low", "high", value="mean", low="minimum", high="maximum"),
        )
        yield as_table(f"{section.instrument}-answering", caption, rows.to_dicts(), shown=shown)
