"""What holds for every number of a report."""

from __future__ import annotations

GENERAL = (
    (
        "There is no single score. Groups, wordings and models are shown with their spread, "
        "because two wordings of the same question can give quite different numbers."
    ),
    (
        "These are associations in what a model writes or labels. They show what could happen in "
        "use. They do not show that anyone was harmed."
    ),
    (
        "An interval shows where a number could lie with other conditions, sentences or trials of "
        "the same kind. In some sections it does not cover all three; the section then says so. It "
        "says nothing about what the instrument leaves out."
    ),
    (
        "P-values are corrected for the number of tests in the column “tests” by Holm's method, "
        "those of single conditions by Benjamini–Hochberg; 1 means not corrected. The p-values of "
        "the main results of all instruments and models are corrected together. Intervals and "
        "permutation p-values are not corrected."
    ),
)
