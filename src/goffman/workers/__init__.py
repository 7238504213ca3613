"""Worker processes in which models calculate."""
