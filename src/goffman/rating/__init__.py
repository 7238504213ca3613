"""Ratings of words by people: worklist, page, agreement."""
