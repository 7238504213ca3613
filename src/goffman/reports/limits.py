"""What holds for every number of a report."""

from __future__ import annotations

GENERAL = (
    (
        "There is no single score. Groups, wordings and models are shown with their spread: a "
        "model can differ from itself more than from another."
    ),
    (
        "These are associations in what a model writes or labels. They show what could come out in "
        "use; they do not show that anyone was harmed."
    ),
    (
        "An interval says how far a number could lie elsewhere had other conditions, sentences or "
        "trials of the same kind been drawn. It does not cover what the instrument itself leaves "
        "out."
    ),
    (
        "Many contrasts are tested. P-values are corrected over the family that stands beside "
        "them; intervals are each of one contrast alone."
    ),
)
