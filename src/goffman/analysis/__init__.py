"""A run's answers measured, in one analysis and in many."""
