"""WHAT WAS ANSWERED: asking, and the run folder."""
