"""goffman on other systems than this one, and in other shells: each in a process of its own."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import sys
from pathlib import Path

import pytest
import shellingham

import in_process
from goffman.cli.main import check_completion
from goffman.errors import InputError
from in_process import GOFFMAN, process, python

NO_LOCKS = "import sys; sys.modules['fcntl'] = None\n"
"""As on Windows, where Python has no fcntl."""

REFUSED = (
    f"goffman does not run on {platform.system()}, which lacks file locks (Python's fcntl). Use "
    "Linux, macOS, or Windows through WSL: https://learn.microsoft.com/windows/wsl/install"
)


@pytest.mark.parametrize("command", ["--help", "ls", "check runs/none --list", "audit"])
def test_without_file_locks_every_command_says_where_goffman_runs(command: str) -> None:
    script = f"{NO_LOCKS}from goffman.cli.main import main\nmain()"
    done = python(script, *command.split())
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{REFUSED}\n")


@pytest.mark.parametrize(
    "use",
    [
        "goffman.audit",
        "goffman.open_run",
        "import goffman.testing",
        "from goffman.training import Monitor",
    ],
)
def test_without_file_locks_python_users_are_told_the_same(use: str) -> None:
    script = f"""{NO_LOCKS}
import goffman
try:
    {use}
except goffman.GoffmanError as error:
    print(error)
"""
    done = python(script)
    assert (done.stdout, done.stderr) == (f"{REFUSED}\n", "")


def test_stress_runs_where_the_system_does_not_tell_the_cores(tmp_path: Path) -> None:
    """As on macOS."""
    run = tmp_path / "run"
    asked = ["bundled:mini", "--instrument", "care-seeking", "--limit", "20", "--no-report"]
    assert in_process.goffman("audit", *asked, "--output", run).returncode == 0
    # From Python 3.13 on, its own libraries count cores by another function.
    script = """
import os
del os.sched_getaffinity
os.process_cpu_count = os.cpu_count
from goffman.cli.main import main
main()
"""
    done = python(script, "stress", run, "--no-report")
    assert done.returncode == 0, done.stderr
    assert (run / "multiverse.parquet").is_file()


def test_python_m_goffman_is_the_command(tmp_path: Path) -> None:
    for arguments in (["--version"], ["ls"], ["audit", "--top-k", "none"]):
        command, module = (
            vars(process(*start, *arguments, cwd=tmp_path)) | {"args": None}
            for start in ([GOFFMAN], [sys.executable, "-m", "goffman"])
        )
        assert module == command


# ── The Tab key ────────────────────────────────────────────────────────────────────────────────


def completed(*words: str) -> list[str]:
    """What bash offers for the last of the words, by the script that goffman shows."""
    script = f"""
source <({GOFFMAN} --show-completion)
COMP_WORDS=({shlex.join(words)}) COMP_CWORD={len(words) - 1}
_goffman_completion {GOFFMAN}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = process("bash", "-c", script, timeout=60)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes_commands_and_options() -> None:
    assert completed("goffman", "re") == ["read", "report", "replicate"]
    assert completed("goffman", "stress", "''", "--wor") == ["--workers"]


def test_completion_goes_to_the_users_own_files_and_nowhere_else(tmp_path: Path) -> None:
    home = {**os.environ, "HOME": str(tmp_path)}
    done = process("bash", "-c", f"{GOFFMAN} --install-completion; exit $?", env=home)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / ".bash_completions" / "goffman.sh").is_file()


def test_a_shell_without_completion_is_told_in_a_sentence(tmp_path: Path) -> None:
    """Of sh, which Debian calls dash."""
    for option in ("--install-completion", "--show-completion"):
        home = {**os.environ, "HOME": str(tmp_path)}
        done = process("sh", "-c", f"{GOFFMAN} {option}; exit $?", env=home)
        if done.returncode == 0:
            pytest.skip("sh is bash here")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("Completion cannot be made for '")
        assert "Run this command directly in one of these: bash, zsh, fish" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_so_is_whoever_has_no_known_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> None:
        raise shellingham.ShellDetectionFailure

    monkeypatch.setattr("shellingham.detect_shell", unknown)
    with pytest.raises(InputError) as refused:
        check_completion(["--show-completion"])
    assert str(refused.value) == (
        "Completion cannot be made for an unknown shell. Run this command directly in one of "
        "these: bash, zsh, fish, powershell, pwsh."
    )
