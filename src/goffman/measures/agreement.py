"""Whether a model writes the option that it finds most probable: text and probabilities together.

Of each question that a model was asked both ways, in the same presentation, and of each reply to it
that names one option, the way out included:

    share      that is the most probable option
    by_chance  the same were the two drawn apart, label by label, as often as each came: whoever
               always says A agrees with itself, and shows nothing by it
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import polars as pl

from goffman.measures.rows import as_scores
from goffman.presentation.findings_agreement import AGREES, BY_CHANCE
from goffman.tables import SCORES, schema

PRESENTED = ("item", "wording", "condition", "form", "order", "gender", "person", "system")
"""What two prompts share that ask the same in the same presentation."""

CHOICE, SAID = "-choice", "-said"
"""How the ids of the two forms of an instrument end."""

BOTH_WAYS = (CHOICE, SAID)

AGREEMENT = pl.Schema(
    {
        "model": pl.String,
        "instrument": pl.String,
        "prompts": pl.Int64,
        "replies": pl.Int64,
        "unread": pl.Int64,
        "share": pl.Float64,
        "by_chance": pl.Float64,
    }
)
"""instrument: the id without the form; prompts: asked both ways; replies: that name one option;
unread: that do not."""


def agreement(choices: pl.DataFrame, read: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    """AGREEMENT: one row for each model and instrument that has both forms.

    ``choices``: CHOICES; ``read``: REPLIES with ``kind`` and ``chosen`` (choices_parsed.py);
    ``prompts``: those of both.
    """
    keys = [name for name in PRESENTED if name in prompts.columns]
    likeliest = (
        choices.sort("model", "prompt_id", "option")
        .sort("probability", descending=True, maintain_order=True)
        .group_by("model", "prompt_id", maintain_order=True)
        .agg(likeliest=pl.col("option").first())
    )
    first = _of_form(likeliest, prompts, CHOICE, keys)
    second = _of_form(read.select("model", "prompt_id", "kind", "chosen"), prompts, SAID, keys)
    both = second.join(
        first.drop("prompt_id"), on=["model", "instrument", *keys], how="inner", nulls_equal=True
    )
    rows = []
    for part in both.sort("model", "instrument").partition_by(
        "model", "instrument", maintain_order=True
    ):
        named = part.filter(pl.col("chosen").is_not_null())
        rows.append(
            {
                "model": part["model"][0],
                "instrument": part["instrument"][0],
                "prompts": part["prompt_id"].n_unique(),
                "replies": named.height,
                "unread": part.height - named.height,
                **_shares(named["chosen"].to_list(), named["likeliest"].to_list()),
            }
        )
    return pl.DataFrame(rows, schema=AGREEMENT)


def agreement_scores(
    prepared: Mapping[str, Sequence[pl.DataFrame]],
    prompts: pl.DataFrame,
    names: Mapping[str, str],
) -> pl.DataFrame:
    """SCORES of the level model, of both forms: agreement, and agreement-by-chance.

    ``prepared``: by instrument, the answers of each model as its measure reads them; ``names``: by
    instrument, its measure's.
    """
    found = [pl.DataFrame(schema=schema(SCORES))]
    for said in sorted(one for one in prepared if one.endswith(SAID)):
        chosen = f"{said.removesuffix(SAID)}{CHOICE}"
        if not prepared.get(chosen) or not prepared[said]:
            continue
        asked = prompts.filter(pl.col("instrument").is_in([said, chosen]))
        rows = agreement(pl.concat(prepared[chosen]), pl.concat(prepared[said]), asked)
        found += [_as_scores(rows, form, names[form]) for form in (chosen, said)]
    return pl.concat(found)


def _as_scores(rows: pl.DataFrame, instrument: str, measure: str) -> pl.DataFrame:
    long = rows.unpivot(
        ["share", "by_chance"], index=["model", "replies", "unread"], variable_name="quantity"
    )
    none = pl.col("value").is_null()
    return as_scores(
        long.with_columns(
            pl.col("quantity").replace_strict({"share": AGREES, "by_chance": BY_CHANCE}),
            instrument=pl.lit(instrument),
            measure=pl.lit(measure),
            level=pl.lit("model"),
            n=pl.col("replies"),
            missing=pl.col("unread"),
            over=pl.lit("replies"),
            reason=pl.when(none).then(pl.lit("no reply names one option")),
        )
    )


def _of_form(
    answers: pl.DataFrame, prompts: pl.DataFrame, ending: str, keys: list[str]
) -> pl.DataFrame:
    """The answers to prompts of this form, with what they share with those of the other."""
    of_form = prompts.filter(pl.col("instrument").str.ends_with(ending)).select(
        "prompt_id", pl.col("instrument").str.strip_suffix(ending), *keys
    )
    return answers.join(of_form, on="prompt_id")


def _shares(said: list[str], likeliest: list[str]) -> dict[str, float | None]:
    n = len(said)
    if not n:
        return {"share": None, "by_chance": None}
    same = sum(one == other for one, other in zip(said, likeliest, strict=True))
    of_said, of_likeliest = Counter(said), Counter(likeliest)
    chance = sum(count * of_likeliest[label] for label, count in of_said.items())
    return {"share": same / n, "by_chance": chance / n**2}
