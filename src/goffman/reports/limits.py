"""What holds for every number of a report."""

from __future__ import annotations

GENERAL = (
    (
        "There is no single score. Groups, wordings and models are shown with their "
        "spread, because one model's answers to two wordings can differ more than two models' "
        "answers to the same wording."
    ),
    (
        "These are associations in what a model writes or labels. They show what could happen in "
        "use; they do not show that anyone was harmed."
    ),
    (
        "An interval shows where a number could lie with other conditions, sentences or trials of "
        "the same kind. It does not cover what the instrument does not measure."
    ),
    (
        "Many contrasts are tested. Each p-value is corrected for the number of tests "
        "beside it; the intervals are not corrected."
    ),
)
