"""The goffman command without a process of its own, for tests of what it says and writes; and with."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from goffman.cli.main import main

GOFFMAN = str(Path(sys.executable).with_name("goffman"))


def goffman(
    *arguments: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """What ``subprocess.run`` would return; a failure that is not said well is raised."""
    words = [str(argument) for argument in arguments]
    output, errors = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, chdir(cwd or Path.cwd()):
        patch.setattr("sys.argv", ["goffman", *words])
        for name in os.environ.keys() - (env or os.environ).keys():
            patch.delenv(name)
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        with redirect_stdout(output), redirect_stderr(errors), pytest.raises(SystemExit) as end:
            main()
    return subprocess.CompletedProcess(words, end.value.code, output.getvalue(), errors.getvalue())


def goes_well(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """The finished command, which exited with 0."""
    done = goffman(*arguments, **options)
    assert done.returncode == 0, done.stderr
    return done


def process(*command: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own."""
    words = [*map(str, command)]
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def python(script: str, *arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return process(sys.executable, "-c", script, *arguments, **options)
