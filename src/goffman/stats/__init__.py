"""Statistics: functions from arrays of numbers to estimates."""
