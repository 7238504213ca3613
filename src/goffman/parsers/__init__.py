"""Readers of replies."""
