"""goffman from Python: what is called, and what it returns."""
