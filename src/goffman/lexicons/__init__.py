"""WHAT THE WORDS MEAN: attitudes and genders of words, and the page on which people rate."""
