"""Questions with options made by hand, and models that answer them in a known way."""

from __future__ import annotations

import itertools

import polars as pl
from making import prompts

from goffman.contrasts.engine import estimates
from goffman.formatting import Labels
from goffman.instruments.types import Option, options_from, options_json
from goffman.presentation.section import Section
from goffman.schemas import CHOICES, REPLIES, SENSITIVITY, schema
from goffman.sensitivity.variations import headlines_of

WILLING = ("Definitely willing", "Probably willing", "Probably unwilling", "Definitely unwilling")
AGREE = ("Strongly disagree", "Disagree", "Agree", "Strongly agree")
CODES = (0.0, 1 / 3, 2 / 3, 1.0)
WAY_OUT = "I don't know, or prefer not to say"
WORDINGS = {"willing": (WILLING, "plain"), "shun": (AGREE, "plain"), "want": (AGREE, "reversed")}
"""Wording → the texts of its options, and its keying."""

GROUPS = {
    "stigmatized": ("deaf", "mad", "poor", "ill", "jailed"),
    "non-stigmatized": ("tall", "kind", "cook", "blond", "calm"),
    "rare": ("twin", "left-handed", "collector", "juggler", "redhead"),
    "baseline": ("baseline",),
}


def options(texts, keyed, order, *, no_answer=True):
    """The options as they are listed: labels by place, codes by text and keying."""
    codes = CODES[::-1] if keyed == "reversed" else CODES
    listed = list(zip(texts, codes, strict=True))
    listed = listed[::-1] if order == "reversed" else listed
    listed += [(WAY_OUT, None)] * no_answer
    return tuple(
        Option(label="ABCDE"[place], text=text, code=code)
        for place, (text, code) in enumerate(listed)
    )


def asked(
    *, items=("i1", "i2", "i3", "i4"), wordings=WORDINGS, groups=GROUPS, genders=(None,), **also
):
    """PROMPT_TABLE: items × wordings × conditions × genders × both orders."""
    rows = []
    for group, conditions in groups.items():
        for condition, item, wording, order, gender in itertools.product(
            conditions, items, wordings, ("forward", "reversed"), genders
        ):
            texts, keyed = wordings[wording]
            rows.append(
                {
                    "item": item,
                    "wording": wording,
                    "keyed": keyed,
                    "condition": condition,
                    "form": None if group == "baseline" else condition,
                    "group": group,
                    "category": None,
                    "order": order,
                    "gender": gender,
                    "labels": "letters",
                    "no_answer": True,
                    "options": options_json(options(texts, keyed, order)),
                    "text": f"{item} {wording} {condition} {order} {gender}",
                }
                | also
            )
    return prompts(*rows)


def listed(row):
    """The options of a prompt's row."""
    return options(*WORDINGS[row["wording"]], row["order"])


def choices(table, how, *, model="m"):
    """CHOICES of a model: ``how`` maps a prompt's row to the probability of each of its options.

    What is left of 1 lies elsewhere.
    """
    rows = []
    for row in table.iter_rows(named=True):
        given = how(row)
        whose = {"prompt_id": row["prompt_id"], "model": model, "elsewhere": 1 - sum(given)}
        for option, p in zip(options_from(row["options"]), given, strict=True):
            rows.append(whose | {"option": option.label, "code": option.code, "probability": p})
    return pl.DataFrame(rows, schema=schema(CHOICES))


def replied(table, how, *, model="m", trials=1):
    """REPLIES of a model: ``how`` maps a prompt's row and a trial to a text."""
    rows = [
        {"prompt_id": row["prompt_id"], "model": model, "trial": trial, "text": how(row, trial)}
        for row in table.iter_rows(named=True)
        for trial in range(1, trials + 1)
    ]
    return pl.DataFrame(rows, schema=schema(REPLIES))


def section(measure, scores, table, *, wordings=tuple(WORDINGS), sharing=None, dimensions=()):
    """The section that a page would have of these scores."""
    found = estimates(
        scores,
        {"scale": measure},
        wordings={"scale": list(wordings)},
        sharing=sharing,
    )
    models = scores["model"].drop_nulls().unique(maintain_order=True)
    every = headlines_of(
        found, {"scale": measure}, scores, {"scale": list(wordings)}, sharing or {}
    )
    return Section(
        instrument="scale",
        measure=measure.name,
        unit=measure.unit,
        presentation=measure.presentation,
        scores=scores,
        estimates=found,
        names=Labels(models={m: m for m in models}, instruments={}, conditions={}, items={}),
        contrast=getattr(measure, "contrast", ""),
        against=getattr(measure, "against", ""),
        wordings=wordings,
        dimensions=dimensions,
        items=table["item"].unique(maintain_order=True).to_list(),
        prompts=table,
        sensitivity=pl.DataFrame(
            [row for headline, mine in every for row in headline.by_wording(mine, [])],
            schema=schema(SENSITIVITY),
        ),
    )
