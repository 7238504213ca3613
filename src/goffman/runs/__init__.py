"""WHAT WAS ANSWERED: asking, and the run folder."""

from goffman.os_support import check_system

# Whoever imports code that writes runs, from the commands or from Python, gets the same error.
check_system()
