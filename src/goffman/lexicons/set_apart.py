"""Words in completed sentences that are set apart: negations, and words of probability.

A begun reply such as "I would say it is" often goes on with *not*, or with how likely something is.
Either is rated, but says as much about grammar, or about how rare a condition is, as about what is
thought of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import polars as pl

Apart = Literal["negation", "word of probability"]

NEGATIONS = frozenset({"not", "never", "no", "n't", "hardly", "barely", "scarcely"})

OF_PROBABILITY = frozenset(
    {
        "likely", "unlikely", "possible", "impossible", "probable", "improbable", "plausible",
        "implausible", "conceivable", "inconceivable", "certain", "uncertain", "doubtful",
        "probably", "possibly", "perhaps", "maybe", "certainly", "likelier", "unlikelier",
    }
)  # fmt: skip


def set_apart(word: str = "word") -> pl.Expr:
    """Of a column of words: negation, word of probability, or null."""
    import polars as pl

    folded = pl.col(word).str.strip_chars().str.to_lowercase()
    negation, probability = pl.lit("negation"), pl.lit("word of probability")
    return (
        pl.when(folded.is_in(list(NEGATIONS)))
        .then(negation)
        .when(folded.is_in(list(OF_PROBABILITY)))
        .then(probability)
    )
