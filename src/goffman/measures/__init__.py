"""NUMBERS: one file a measure, each parameters + table → table; catalogue.py lists them."""
