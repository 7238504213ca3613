"""What holds for every number of a report."""

from __future__ import annotations

GENERAL = (
    (
        "There is no single score. Groups, wordings and models are shown with their spread: one "
        "model's answers to two wordings can differ more than the answers of two models."
    ),
    (
        "These are associations in what a model writes or labels. They show what could happen in "
        "use; they do not show that anyone was harmed."
    ),
    (
        "An interval shows where a number could lie with other conditions, sentences or trials of "
        "the same kind. It does not cover what the instrument itself leaves out."
    ),
    (
        "Many contrasts are tested. Each p-value is corrected over the family of tests named "
        "beside it; each interval is for one contrast alone."
    ),
)
