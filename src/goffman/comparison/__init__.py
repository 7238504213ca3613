"""Two or more runs compared."""
