"""Whether a model writes the option that it finds most probable: text and probabilities together.

Of each question that a model was asked both ways, in the same presentation, and of each reply to it
that names one option, the no-answer option included:

    share      the share of replies that name the most probable option
    by_chance  the same if both were drawn independently, with each label as often as it came: a
               model that always says A agrees with itself, which shows nothing
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import polars as pl

from goffman.instruments.types import asked_as, base_of, mode_in
from goffman.measures.responses import about_nonbinary, as_scores
from goffman.modes import of_asked
from goffman.presentation.answer_style import AGREES, BY_CHANCE
from goffman.schemas import SCORES, schema

PRESENTED = ("item", "wording", "condition", "form", "order", "gender", "person", "system")
"""The columns in which two prompts agree that ask the same in the same presentation."""

BOTH_WAYS = ("choice", "reply")
"""The two modes of a question with options."""

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
"""instrument: the id without the mode; prompts: those asked both ways; replies: those that name one
option; unread: those that do not."""


def agreement(choices: pl.DataFrame, read: pl.DataFrame, prompts: pl.DataFrame) -> pl.DataFrame:
    """Return AGREEMENT: one row for each model and instrument that has both modes.

    ``choices``: CHOICES; ``read``: REPLIES with ``kind`` and ``chosen`` (parsers/options.py);
    ``prompts``: the prompts of both.
    """
    keys = [name for name in PRESENTED if name in prompts.columns]
    likeliest = (
        choices.sort("model", "prompt_id", "option")
        .sort("probability", descending=True, maintain_order=True)
        .group_by("model", "prompt_id", maintain_order=True)
        .agg(likeliest=pl.col("option").first())
    )
    first = _in_mode(likeliest, prompts, "choice", keys)
    second = _in_mode(read.select("model", "prompt_id", "kind", "chosen"), prompts, "reply", keys)
    joined = second.join(
        first.drop("prompt_id"), on=["model", "instrument", *keys], how="inner", nulls_equal=True
    )
    rows = []
    for part in joined.sort("model", "instrument").partition_by(
        "model", "instrument", maintain_order=True
    ):
        readable = part.filter(pl.col("chosen").is_not_null())
        n, chosen, likely = (
            readable.height,
            Counter(readable["chosen"]),
            Counter(readable["likeliest"]),
        )
        chance = sum(count * likely[label] for label, count in chosen.items())
        rows.append(
            {
                "model": part["model"][0],
                "instrument": part["instrument"][0],
                "prompts": part["prompt_id"].n_unique(),
                "replies": n,
                "unread": part.height - n,
                "share": (readable["chosen"] == readable["likeliest"]).sum() / n if n else None,
                "by_chance": chance / n**2 if n else None,
            }
        )
    return pl.DataFrame(rows, schema=AGREEMENT)


def agreement_scores(
    prepared: Mapping[str, Sequence[pl.DataFrame]],
    prompts: pl.DataFrame,
    names: Mapping[str, str],
) -> pl.DataFrame:
    """Return SCORES of the level model, for both modes: agreement, and agreement-by-chance.

    ``prepared``: by instrument, the answers of each model as its measure reads them; ``names``: by
    instrument, the name of its measure.
    """
    tables = [pl.DataFrame(schema=schema(SCORES))]
    for reply_id in sorted(instrument for instrument in prepared if mode_in(instrument) == "reply"):
        choice_id = asked_as(base_of(reply_id), "choice")
        if not prepared.get(choice_id) or not prepared[reply_id]:
            continue
        asked_prompts, _ = about_nonbinary(prompts.filter(of_asked(reply_id) | of_asked(choice_id)))
        rows = agreement(
            pl.concat(prepared[choice_id]), pl.concat(prepared[reply_id]), asked_prompts
        )
        tables += [
            _as_scores(rows, instrument, names[instrument]) for instrument in (choice_id, reply_id)
        ]
    return pl.concat(tables)


def _as_scores(rows: pl.DataFrame, instrument: str, measure: str) -> pl.DataFrame:
    long = rows.unpivot(
        ["share", "by_chance"], index=["model", "replies", "unread"], variable_name="quantity"
    )
    is_null = pl.col("value").is_null()
    return as_scores(
        long.with_columns(
            pl.col("quantity").replace_strict({"share": AGREES, "by_chance": BY_CHANCE}),
            instrument=pl.lit(base_of(instrument)),
            mode=pl.lit(mode_in(instrument)),
            measure=pl.lit(measure),
            level=pl.lit("model"),
            n=pl.col("replies"),
            missing=pl.col("unread"),
            over=pl.lit("replies"),
            reason=pl.when(is_null).then(pl.lit("no reply names one option")),
        )
    )


def _in_mode(
    answers: pl.DataFrame, prompts: pl.DataFrame, mode: str, keys: list[str]
) -> pl.DataFrame:
    """Return the answers to prompts of this mode, with the columns that both modes share."""
    mode_prompts = prompts.filter(pl.col("mode") == mode).select("prompt_id", "instrument", *keys)
    return answers.join(mode_prompts, on="prompt_id")
