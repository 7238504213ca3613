"""goffman asks language models the questions that psychology asks people about stigma.

instruments ─► models ─► runs
what is asked  who       what was
               answers   answered

Each arrow is a table on disk in the run folder; each stage is a folder; a stage imports only
stages to its left.
"""

__version__ = "0.1.0"
