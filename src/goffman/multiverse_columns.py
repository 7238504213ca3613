"""The columns of multiverse.parquet, stress.parquet and wordings.parquet.

They are of other analyses of each headline.
"""

from __future__ import annotations

from goffman.tables import Column

NUMBER = "choice between probability and label"
"""The choice of another number than the headline's. Numbers of two kinds have no common range."""

MULTIVERSE = (
    Column("instrument", "text", "the instrument's id"),
    Column("measure", "text", "the measure's name"),
    Column("model", "text", "the model's name, as the user gave it"),
    Column(
        "way",
        "text",
        "analysis; labels: some are wrong; or what was left out: item, wording, condition, frame, "
        "occupation, word",
    ),
    Column("what", "text", "the number of the analysis or draw, or what was left out"),
    Column("choices", "text", "JSON: each choice of an analysis, in words", nullable=True),
    Column("rate", "float64", "the share of labels that are wrong", nullable=True),
    Column(
        "share", "float64", "of a word left out: its share of counted probability", nullable=True
    ),
    Column("difference", "float64", "of the headline's contrast then", nullable=True),
    Column("low", "float64", "lower end of its 95% interval", nullable=True),
    Column("high", "float64", "upper end of its 95% interval", nullable=True),
    Column("p", "float64", "not corrected", nullable=True),
    Column("p_adjusted", "float64", "corrected as the headline's, in its place", nullable=True),
    Column("verdict", "text", "what the headline's verdict would be", nullable=True),
    Column("holds", "bool", "whether the headline's verdict holds"),
    Column("reason", "text", "why it could not be tested", nullable=True),
)
"""One row a headline and analysis, draw of wrong labels, or thing left out."""

STRESS = (
    Column("instrument", "text", "the instrument's id"),
    Column("measure", "text", "the measure's name"),
    Column("model", "text", "the model's name, as the user gave it"),
    Column("difference", "float64", "of the headline", nullable=True),
    Column("verdict", "text", "the headline's", nullable=True),
    Column("analyses", "int", "how many have numbers of their own, or could not be tested"),
    Column("tested", "int", "how many of them have a verdict"),
    Column("holds", "int", "in how many of them the headline's verdict holds"),
    Column("holds_in", "float64", "the share of these; null: there is one analysis", nullable=True),
    Column("clear", "int", "in how many the difference is clear"),
    Column("median", "float64", "of the differences in the headline's number", nullable=True),
    Column("lowest", "float64", "the lowest of these", nullable=True),
    Column("highest", "float64", "the highest of these", nullable=True),
    Column("permutation_p", "float64", "of the median, labels shuffled", nullable=True),
    Column("shuffled", "text", "what was shuffled", nullable=True),
    Column("draws", "int", "shuffles", nullable=True),
    Column("seed", "int", "of all that was drawn"),
    Column("matters_most", "text", "the choice that explains most", nullable=True),
    Column("explained", "text", "JSON: by choice, η² of the differences", nullable=True),
    Column(
        "overturned_at",
        "float64",
        "the lowest tried share of wrong labels at which most tries lose the verdict",
        nullable=True,
    ),
    Column("reason", "text", "why there is no multiverse", nullable=True),
)
"""One row a headline: in how many analyses its verdict holds."""

WORDINGS = (
    Column("instrument", "text", "the instrument's id"),
    Column("measure", "text", "the measure's name"),
    Column("model", "text", "the model's name, as the user gave it"),
    Column("kind", "text", "what the headline sets against what: groups, genders, level"),
    Column("first", "text", "the first set: a group, a gender, or baseline"),
    Column("second", "text", "the second set, which is subtracted"),
    Column("wording", "text", "that it is of; null: all, with the paraphrases", nullable=True),
    Column("paraphrase", "bool", "whether wordings count that are asked only on request"),
    Column("level", "float64", "the mean of the first set, or the number itself", nullable=True),
    Column("difference", "float64", "of the headline's contrast then", nullable=True),
    Column("low", "float64", "lower end of its 95% interval", nullable=True),
    Column("high", "float64", "upper end of its 95% interval", nullable=True),
    Column("p", "float64", "of all together: not corrected", nullable=True),
    Column("p_adjusted", "float64", "corrected as the headline's, in its place", nullable=True),
    Column("verdict", "text", "what the headline's verdict would be", nullable=True),
    Column("reason", "text", "why there is no number", nullable=True),
)
"""One row a headline and wording taken alone; one more with all wordings, paraphrases too."""
