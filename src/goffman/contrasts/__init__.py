"""Differences between groups, genders, models and wordings, with tests and verdicts."""
