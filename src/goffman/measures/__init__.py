"""Measures: each is a class that turns a table of answers into scores; registry.py lists them."""
