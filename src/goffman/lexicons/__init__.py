"""WHAT THE WORDS MEAN: attitudes and genders of words."""
