"""Completion of commands and options with the Tab key: typer makes it, for the shells it knows."""

from __future__ import annotations

from collections.abc import Sequence

from goffman.errors import InputError

COMPLETION = {"--install-completion", "--show-completion"}
SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")


def check_completion(arguments: Sequence[str]) -> None:
    """Raise InputError if completion is requested in a shell for which it cannot be made."""
    if arguments and arguments[0] in COMPLETION:
        check_shell(this_shell())


def this_shell() -> str | None:
    """Return the shell in which the command was typed; None if it cannot be determined."""
    import shellingham

    try:
        return str(shellingham.detect_shell()[0])
    except shellingham.ShellDetectionFailure:
        return None


def check_shell(shell: str | None) -> None:
    """Raise InputError if completion cannot be made for the shell."""
    if shell not in SHELLS:
        name = "an unknown shell" if shell is None else f"'{shell}'"
        raise InputError(
            f"Completion cannot be made for {name}. Run this command directly in one of these: "
            f"{', '.join(SHELLS)}."
        )
