"""The command line as python -m goffman, for users whose shell does not find goffman."""

from __future__ import annotations

from goffman.cli.main import main

if __name__ == "__main__":
    main()
