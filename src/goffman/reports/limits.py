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
        "use. They do not show that anyone was harmed."
    ),
    (
        "An interval shows where a number could lie with other conditions, sentences or trials of "
        "the same kind. It says nothing about what the instrument leaves out."
    ),
    (
        "Many contrasts are tested. The number of tests that a p-value is corrected for is next "
        "to it. The intervals are not corrected."
    ),
)
