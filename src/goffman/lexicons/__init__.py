"""Lexicons: which attitude a word expresses, and which gender it names."""
