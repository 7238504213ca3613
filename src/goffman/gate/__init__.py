"""Rules that a run must pass."""
