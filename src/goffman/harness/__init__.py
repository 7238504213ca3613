"""Tasks for other evaluation harnesses, and runs made from their logs."""
