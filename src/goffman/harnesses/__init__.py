"""Other harnesses ask goffman's questions, and goffman reads their logs."""
