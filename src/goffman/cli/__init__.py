"""The commands: their arguments and options, and what they print."""
