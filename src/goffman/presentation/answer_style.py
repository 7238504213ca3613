"""What a model does whatever it is asked: order, keying, non-answers; for all forms of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

import polars as pl

from goffman.formatting import ends, humanize, join_words, number
from goffman.instruments.types import BASELINE, base_of, mode_in, options_from
from goffman.presentation.findings import findings_of
from goffman.presentation.section import Section
from goffman.presentation.table_formats import (
    ColumnSpec,
    N,
    Table,
    counts,
    interval,
    numbers,
    p_column,
    section_table,
    texts,
)
from goffman.presentation.vega import (
    ESTIMATE,
    Figure,
    axis_x,
    axis_y,
    data,
    describe_marks,
    estimate_layers,
    estimate_tip,
    plot,
    with_clear,
)

Row = Mapping[str, Any]
Kind = Literal["order", "keying", "wordings"]

_COLUMN = {"order": "order", "keying": "keyed", "wordings": "wording"}
_WHOM = ("item", "condition", "form", "gender")
_FIRST = ("stigma-first", "stigma-last")


_SUCH = {
    "social-distance": (
        "neighbor",
        "how willing it would be to have someone who … as a neighbor",
        "the more stigmatizing answers",
    ),
    "decisions": ("room", "whether to let someone who … have a room", "advice against the person"),
    "two-people": (
        "bus-stop",
        "which of two people is dangerous",
        "picks that speak against the person",
    ),
}
"""Built-in instrument → the item that serves as its example, its question, and which answers
have the code 1. The example is left out if a study of the user's has replaced the item."""


class _Words(NamedTuple):
    """The words for the effects of presentation."""

    options: str = "the options"
    listed: str = "option listed"
    agrees: str = "Agrees with whatever is said"
    disagrees: str = "Disagrees with whatever is said"
    elsewhere: str = "Says something that is not an option"
    nowhere: str = "no option"
    order: str = "the most stigmatizing option first instead of last"
    keying: str = "agreeing means more instead of less stigma"
    order_effect: str = "order: stigmatizing option first"
    keying_effect: str = "keying: agreeing means stigma"


_OF_TWO = _Words(
    options="the two people",
    listed="person mentioned",
    agrees="Picks the person with a condition whatever is asked",
    disagrees="Picks the other person whatever is asked",
    elsewhere="Picks neither person",
    nowhere="neither person",
    order="the pick with more stigma mentioned first instead of last",
    keying="asked for what is bad instead of what is good",
    order_effect="order: pick with stigma first",
    keying_effect="keying: asked for what is bad",
)


def _words(section: Section) -> _Words:
    """Return the words for the effects; other ones if the options of a question are two people."""
    if not {"phrase", "options"} <= set(section.prompts.columns):
        return _Words()
    rows = section.prompts.select("phrase", "options").drop_nulls()
    # Where the options are people, one of them has the condition.
    of_two = any(
        any(phrase in option.text for option in options_from(text))
        for phrase, text in rows.rows()[:1]
    )
    return _OF_TWO if of_two else _Words()


def describe_measured(section: Section) -> str:
    """Return what is asked, what the number is, and in which orders the options were."""
    sentences = [section.presentation.claims.measured]
    if section.presentation.quantity == "code":
        item, question, highest = _SUCH.get(base_of(section.instrument), ("", "", ""))
        if item in section.items:
            sentences.append(f"One question is {question}.")
        if two_options(section):
            highest = highest if item in section.items else "the more stigmatizing answers"
            sentences.append(f"Two options count, so the mean code is the share of {highest}.")
    return " ".join([*sentences, *_orders(section)])


def two_options(section: Section) -> bool:
    """Return whether each question has two options that count."""
    if "options" not in section.prompts.columns:
        return False
    lists = section.prompts["options"].drop_nulls().unique()
    counts = {sum(option.code is not None for option in options_from(text)) for text in lists}
    return counts == {2}


def _orders(section: Section) -> Iterator[str]:
    """Yield in which orders the options were; for each model, if these differ."""
    if not section.scores["quantity"].is_in(_FIRST).any():
        return
    models = section.models()
    one_order = [model for model in models if not same_questions(section, model, "order")]
    if len(one_order) < len(models):
        exception = f"; {join_words(one_order)} got each question in one order" if one_order else ""
        yield f"Every question is asked with {_words(section).options} in both orders{exception}."
        return
    rows = section.scores.filter(pl.col("quantity").is_in(_FIRST), level="prompt")
    share = float((rows["quantity"] == _FIRST[0]).to_numpy().mean())
    yield (
        "Each question is asked in one order of the options: "
        f"{share:.0%} list the most stigmatizing option first, the others last."
    )


def same_questions(section: Section, model: str, kind: Kind) -> bool:
    """Return whether a model was asked any question in two presentations, not each in only one.

    Behind a server it may be asked each question in one presentation, in turn. ``model``: as it is
    shown. If no prompts are known, the answer is true.
    """
    if section.prompts.is_empty():
        return True
    column = _COLUMN[kind]
    question = [*_WHOM, "wording"] if kind == "order" else [*_WHOM]
    # All prompts that were asked, with or without a usable answer.
    ids = section.of_model(model).filter(level="prompt")
    asked = section.prompts.filter(pl.col("condition") != BASELINE).join(
        ids.select("prompt_id").unique(), on="prompt_id", how="semi"
    )
    presentations = asked.group_by(question).agg(pl.col(column).n_unique())
    return bool((presentations[column] > 1).any())


# The limits lie half-way between a model that heeds what the options say and one that heeds
# nothing. In both orders, the option listed first is now one end of the scale and now the other.
MOSTLY = 0.75
"""The share from which the option at one place is mostly picked: content alone gives at most half,
place alone gives all."""

ALWAYS = 0.95
"""The share from which it is called always picked, with few exceptions."""

SAME_ORDER = 0.5
"""The difference between keyings from which a model agrees with whatever is said: content alone
gives 0, agreeing alone gives 1."""

SILENT = 0.25
"""The share from which a model often does not answer."""

LOST = 0.5
"""The share of answers that are no option, from which a finding says that most are none."""

NOT_ANSWERING = ("no-answer", "dont-know", "refusal")
ELSEWHERE = ("elsewhere", "several", "other")
SAYS = "says-"
"""The beginning, before a label, of a quantity's name: the share of the answers with this label,
the one that the model gives most often."""

UNSEEN = "unseen"
"""The quantity of the probability of tokens that a server did not report."""

_OF_ANSWERING = ("first-listed", "last-listed", *NOT_ANSWERING, *ELSEWHERE, UNSEEN)
"""The means that say how a model answers."""


def styles(section: Section, model: str) -> Iterator[str]:
    """Yield beginnings of sentences, one for each thing a model does whatever it is asked."""
    share, words = shares(section, model), _words(section)
    # If there is one order only, a model that picks the first option may mean what it says.
    if any(section.contrasts(kind, model).height for kind in ("order", "position")):
        for quantity, place in (("first-listed", "first"), ("last-listed", "last")):
            value = share.get(quantity, 0.0)
            if value >= MOSTLY:
                often = "Always" if value >= ALWAYS else "Mostly"
                yield f"{often} picks the {words.listed} {place}"
                break
        else:
            yield from _one_label(section, model)
    for row in section.contrasts("keying", model).iter_rows(named=True):
        if abs(row["difference"]) >= SAME_ORDER:
            yield words.agrees if row["difference"] > 0 else words.disagrees
    silent = sum(share.get(name, 0.0) for name in NOT_ANSWERING)
    if silent >= SILENT:
        yield f"Does not answer {silent:.0%} of the time"
    lost = sum(share.get(name, 0.0) for name in ELSEWHERE)
    if lost >= LOST:
        yield f"{words.elsewhere} {lost:.0%} of the time"


def _one_label(section: Section, model: str) -> Iterator[str]:
    """Yield the label that a model gives to any question: a letter, a number, or one of each."""
    quantities = [
        quantity for quantity in section.scores["quantity"].unique() if quantity.startswith(SAYS)
    ]
    rows = section.rows("model", quantities, model)
    values = rows.select("quantity", "value").rows()
    share = {quantity.removeprefix(SAYS): value for quantity, value in values}
    lists = [options_from(text) for text in section.prompts["options"].unique()]
    offered = {option.label.isdigit() for options in lists for option in options}
    # A model may always give one letter where options have letters, and one number elsewhere.
    labels = [label for label, value in share.items() if value >= MOSTLY]
    kinds = {label.isdigit() for label in labels}
    if not labels:
        return
    often = "Always" if min(share[label] for label in labels) >= ALWAYS else "Mostly"
    codes = {
        label: {option.code for options in lists for option in options if option.label == label}
        for label in labels
    }
    answers = " or ".join(
        f"“{label}”{', the middle of the scale' if codes[label] == {0.5} else ''}"
        for label in sorted(labels)
    )
    label_type = {True: "numbers", False: "letters"}[labels[0].isdigit()]
    limit = "" if kinds == offered else f", where the options have {label_type}"
    yield f"{often} says {answers}{limit}"


def shares(section: Section, model: str) -> dict[str, float]:
    """Return the means over all prompts that say how a model answers."""
    rows = section.rows("model", _OF_ANSWERING, model)
    return dict(rows.filter(pl.col("wording").is_null()).select("quantity", "value").rows())


_KINDS: tuple[Kind, ...] = ("order", "keying", "wordings")


def describe_style(section: Section, model: str) -> str:
    """Return as a heading what a model does whatever it is asked; "" if there is no such thing."""
    phrases = list(styles(section, model))
    return "; ".join(
        [*phrases[:1], *(f"{phrase[0].lower()}{phrase[1:]}" for phrase in phrases[1:])]
    )


def describe_presentation(section: Section, model: str) -> str:
    """Return how far order, keying and wording move the number, each with its interval."""
    agreement, changes = describe_agreement(section, model), []
    for kind in _KINDS:
        rows = section.contrasts(kind, model)
        # Of several wordings, take the one that moves the number most.
        for row in rows.sort(pl.col("difference").abs(), descending=True).head(1).to_dicts():
            effect = getattr(_words(section), kind, "") or (
                f"wording “{humanize(row['first'])}” instead of “{humanize(row['second'])}”"
            )
            among = "" if same_questions(section, model, kind) else ", between different questions"
            interval = "no interval"
            if row["low"] is not None:
                interval = f"95% interval {ends(row['low'], row['high'])}"
            changes.append(f"{number(row['difference'])} ({effect}; {interval}{among})")
    if not changes:
        return f"{agreement}There was one presentation, so the effect of presentation is unknown."
    return f"{agreement}By presentation, the mean code differs by {', by '.join(changes)}."


def describe_answering(section: Section, model: str) -> Iterator[str]:
    """Yield the shares of what is no answer, and of the options listed first and last."""
    share, words = shares(section, model), _words(section)
    if "elsewhere" in share:
        no_answer = share.get("no-answer")
        offered = f"; {number(no_answer)} lies on not answering" if no_answer is not None else ""
        yield (
            f"On average, {number(share['elsewhere'])} of the probability lies on "
            f"{words.nowhere}{offered}."
        )
    if UNSEEN in share:
        yield (
            "The server reports only its most probable tokens. The others have "
            f"{number(share[UNSEEN])} of the probability, and some of them may be options."
        )
    kinds = [
        f"{number(share[name])} {text}"
        for name, text in (
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
        both_orders = two_options(section) and section.prompts["order"].drop_nulls().n_unique() > 1
        by_content = ""
        if both_orders or same_questions(section, model, "order"):
            by_content = " Without an effect of place, neither would be far above 0.50."
        yield (
            f"Of the answers, {number(share['first-listed'])} are the {words.listed} first and "
            f"{number(share['last-listed'])} the one {words.listed.split()[-1]} last.{by_content}"
        )


def effects(section: Section) -> Iterator[Figure]:
    """Yield a figure with the effects of order, keying and further wordings on each model."""
    rows = pl.concat([section.contrasts(kind) for kind in _KINDS])
    if not rows.height:
        return
    wording = pl.format("wording: {}", pl.col("first").map_elements(humanize, pl.String))
    words = _words(section)
    effect = {"order": words.order_effect, "keying": words.keying_effect}
    name = pl.col("kind").replace_strict(effect, default=wording, return_dtype=pl.String)
    rows = with_clear(rows).with_columns(name=name)
    names = rows["name"].unique(maintain_order=True).to_list()
    apart = any(
        not same_questions(section, model, kind)
        for model in rows["model"].unique()
        for kind in _KINDS
        if kind in rows["kind"]
    )
    compared = (
        "of different questions about the same" if apart else "for the same questions about the"
    )
    yield plot(
        section,
        "presentation",
        data(rows, "model", "name", *ESTIMATE),
        estimate_layers(rows, estimate_tip(("model", "Model"), ("name", "Effect")), size=60),
        title="What the presentation alone does" if not apart else "By presentation",
        description=f"The mean code {compared} {section.noun.many}. {describe_marks(rows)}",
        y=axis_y("name", names),
        x=axis_x("Difference", field_="difference"),
        height={"step": 24},
        rows="model",
        order=section.models(),
    )


def how_it_answers(section: Section) -> Iterator[Table]:
    """Yield tables of the effects of presentation, agreement, and shares of kinds of answers."""
    rows = section.estimates.filter(pl.col("kind").is_in(_KINDS))
    columns = ("model", "kind", "first", "second", "n", "difference", "low", "high", "p_adjusted")
    caption = (
        "what the presentation of a question alone does to the mean code: the order of "
        f"{_words(section).options}, the keying, the wording."
    )
    shown = (
        *texts("model", "kind", kind="effect of"),
        ColumnSpec(header="first − second", keys=("first", "second"), form="pair"),
        N,
        *numbers("difference"),
        interval(),
        p_column(),
    )
    rows = rows.select(*columns, "reason")
    yield from section_table(section, "presentation", caption, rows, shown)
    yield from agreement_table(section)
    quantity = pl.col("quantity")
    means = section.scores.filter(
        quantity.is_in(_OF_ANSWERING) | quantity.str.starts_with(SAYS),
        pl.col("wording").is_null(),
        level="model",
    )
    rows = means.sort("model", "quantity").select(
        "model", "quantity", "n", "missing", "value", "sd", "low", "high", "reason"
    )
    caption = (
        "means over all prompts. First-listed, last-listed and says-… (the label that a model "
        "gives most often) are shares of the answers. The others are shares of all replies, or of "
        "all probability."
    )
    headers = {"value": "mean", "low": "minimum", "high": "maximum"}
    shown = (
        *texts("model", "quantity", quantity="share"),
        N,
        *numbers("value", "sd", "low", "high", drop="never", **headers),
    )
    yield from section_table(section, "answering", caption, rows, shown)


AGREES = "agreement"
BY_CHANCE = "agreement-by-chance"


def describe_agreement(section: Section, model: str) -> str:
    """Return how often a model's text names its most probable option; "" if this is not known."""
    rows = section.rows("model", (AGREES, BY_CHANCE), model)
    by_quantity = {row["quantity"]: row for row in rows.iter_rows(named=True)}
    if AGREES not in by_quantity:
        return ""
    share, chance = by_quantity[AGREES], by_quantity[BY_CHANCE]["value"]
    unread = f"; {share['missing']:,} more name none" if share["missing"] else ""
    return (
        f"Text and probabilities: {number(share['value'])} of {share['n']:,} replies name the "
        f"option that is most probable in the same question ({number(chance)} would by chance)"
        f"{unread}. "
    )


def describe_other_modes(sections: Mapping[str, Section], asked: str, model: str) -> str:
    """Return an instrument's results in its other modes for a model in a sentence, or "".

    ``asked``: the instrument in the mode of the main result; ``model``: as it is shown there.
    """
    main, parts = sections[asked], []
    name = next((name for name in main.main_modes if main.names.model(name) == model), model)
    for instrument, section in sections.items():
        if (
            base_of(instrument) != base_of(asked)
            or instrument == asked
            or name not in section.main_modes
        ):
            continue
        for finding in findings_of(section):
            if finding.model == section.names.model(name):
                value = (
                    "nothing to compare"
                    if finding.difference is None
                    else number(finding.difference)
                )
                value += "" if finding.low is None else f" ({ends(finding.low, finding.high)})"
                value = "not measurable" if name in section.unmeasurable() else value
                parts.append(f"{mode_in(instrument) or 'as in the study'} {value}")
    return f"In other modes: {'; '.join(parts)}." if parts else ""


def agreement_table(section: Section) -> Iterator[Table]:
    """Yield a table of the agreement of text and probabilities for every model."""
    rows = section.rows("model", (AGREES, BY_CHANCE)).sort("model", "quantity")
    caption = (
        "of the replies that name one option, the share that names the one that is most probable "
        "by the model's own probabilities, in the same presentation; and the share that would by "
        "chance, given how often each label was said and was most probable. Missing are replies "
        "that name no option."
    )
    shown = (
        *texts("model", "quantity", quantity="share"),
        *counts("n", "missing", n="replies"),
        *numbers("value"),
    )
    rows = rows.select("model", "quantity", "n", "missing", "value")
    yield from section_table(section, "agreement", caption, rows, shown)
