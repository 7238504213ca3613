"""Parsers, which say what a reply answers."""
