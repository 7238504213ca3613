"""The commands: what they are told, and what they print."""
