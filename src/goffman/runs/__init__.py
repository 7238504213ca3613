"""WHAT WAS ANSWERED: asking, and the run folder."""

from goffman.os_support import check_system

# Whoever imports what writes to runs, from the commands or from Python, is told the same.
check_system()
