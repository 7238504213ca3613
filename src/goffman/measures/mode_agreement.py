"""Whether a model writes the option that it finds most probable: text and probabilities together.

Over all replies that name one option, the no-answer option included, to questions that the model
was also asked for probabilities in the same presentation:

    agreement             the share of replies that name the most probable option
    agreement-by-chance   the same if both were drawn independently, with each label as often as it
                          came: a model that always says A agrees, too, which shows nothing
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from goffman.instruments.types import asked_as, base_of, mode_in
from goffman.measures.responses import about_nonbinary
from goffman.modes import of_asked
from goffman.presentation.answer_style import AGREES, BY_CHANCE
from goffman.schemas import SCORES, schema

PRESENTED = ("item", "wording", "condition", "form", "order", "gender", "person", "system")
"""The columns that are equal for prompts that ask the same question in the same presentation."""

BOTH_WAYS = ("choice", "reply")
"""The two modes of a question with options."""


def agreement_scores(
    prepared: Mapping[str, Sequence[pl.DataFrame]],
    prompts: pl.DataFrame,
    names: Mapping[str, str],
) -> pl.DataFrame:
    """Return SCORES of the level model, for both modes: agreement, and agreement-by-chance.

    ``prepared``: by instrument, the answers of each model as its measure reads them; ``names``: by
    instrument, the name of its measure.
    """
    records: list[dict[str, Any]] = []
    for reply_id in sorted(instrument for instrument in prepared if mode_in(instrument) == "reply"):
        choice_id = asked_as(base_of(reply_id), "choice")
        if not prepared.get(choice_id) or not prepared[reply_id]:
            continue
        asked_prompts, _ = about_nonbinary(prompts.filter(of_asked(reply_id) | of_asked(choice_id)))
        rows = [
            *_agreement(
                pl.concat(prepared[choice_id]), pl.concat(prepared[reply_id]), asked_prompts
            )
        ]
        records += [
            {key: row[key] for key in ("model", "n", "missing")}
            | {"instrument": base_of(instrument), "mode": mode_in(instrument)}
            | {"measure": names[instrument], "quantity": quantity, "value": row[quantity]}
            | {"level": "model", "over": "replies"}
            | {"reason": "no reply names one option" if row[quantity] is None else None}
            for instrument in (choice_id, reply_id)
            for quantity in (AGREES, BY_CHANCE)
            for row in rows
        ]
    return pl.DataFrame(records, schema=schema(SCORES))


def _agreement(
    choices: pl.DataFrame, read: pl.DataFrame, prompts: pl.DataFrame
) -> Iterator[dict[str, Any]]:
    """Yield each model's two shares, and the numbers of replies that name one option, or none.

    ``choices``: CHOICES; ``read``: REPLIES with ``kind`` and ``chosen`` (parsers/options.py).
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
    joined = second.join(first.drop("prompt_id"), on=["model", *keys], nulls_equal=True)
    for part in joined.sort("model").partition_by("model", maintain_order=True):
        readable = part.filter(pl.col("chosen").is_not_null())
        n, likely = readable.height, Counter(readable["likeliest"])
        chance = sum(count * likely[label] for label, count in Counter(readable["chosen"]).items())
        yield {
            "model": part["model"][0],
            "n": n,
            "missing": part.height - n,
            AGREES: (readable["chosen"] == readable["likeliest"]).sum() / n if n else None,
            BY_CHANCE: chance / n**2 if n else None,
        }


def _in_mode(
    answers: pl.DataFrame, prompts: pl.DataFrame, mode: str, keys: list[str]
) -> pl.DataFrame:
    """Return the answers to prompts of this mode, with the columns that both modes share."""
    mode_prompts = prompts.filter(mode=mode).select("prompt_id", *keys)
    return answers.join(mode_prompts, on="prompt_id")
