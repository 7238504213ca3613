"""NUMBERS: one file a measure, each parameters + table → table; registry.py lists them."""
