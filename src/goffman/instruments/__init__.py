"""Instruments: questionnaires and sentence pairs as data, and the prompts made from them."""
