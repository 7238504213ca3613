"""Other analyses of a main result."""
