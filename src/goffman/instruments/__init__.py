"""WHAT IS ASKED: questionnaires as data, and their prompts."""
