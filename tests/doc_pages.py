"""The README and the pages of docs/, read for the commands that stand in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from goffman.cli.main import app
from goffman.cli.params import help_row, setting_rows

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
COMMANDS_PAGE = ROOT / "docs" / "commands.md"

GOFFMAN = typer.main.get_command(app)
OTHER_OPTIONS = {"--constraint", "--editable", "--apply_chat_template"}
"""Of pip and lm-eval, where a page speaks of them."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A command as a page shows it."""

    where: str
    """Page and line, for messages."""
    words: tuple[str, ...]
    environment: Mapping[str, str]
    """What stands before it: MY_KEY=… ."""

    @property
    def command(self) -> str:
        """The word after goffman, or the program."""
        return self.words[1] if self.words[0] == "goffman" and len(self.words) > 1 else ""

    def given(self, option: str) -> list[str]:
        """The values of an option."""
        return [self.words[i + 1] for i, word in enumerate(self.words) if word == option]


def shell_lines(page: Path) -> Iterator[Line]:
    """Every command in the page's blocks of ``sh``, one a line."""
    inside = False
    for number, text in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if text.startswith("```"):
            inside = text == "```sh"
        elif inside and text.strip():
            where = f"{page.relative_to(ROOT) if page.is_relative_to(ROOT) else page}:{number}"
            # A hash within a word, as in an address that names a model, begins no comment.
            words = shlex.split(re.sub(r"(^|\s)#\s.*$", "", text))
            environment = {}
            while words and re.fullmatch(r"\w+=.*", words[0]):
                name, _, value = words.pop(0).partition("=")
                environment[name] = value
            assert words, f"{where}: nothing is left of '{text}'"
            yield Line(where=where, words=tuple(words), environment=environment)


def inline_code(page: Path) -> list[str]:
    """What stands between backticks in the running text."""
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    return re.findall(r"`([^`\n]+)`", text)


def commands(group: Any = GOFFMAN, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command with its name: audit, models, models get …"""
    for name, command in group.commands.items():
        yield " ".join((*path, name)), command
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))


def options(command: Any) -> dict[str, Any]:
    """The options of a command, by the way they are spelled."""
    return {spelled: one for one in command.params for spelled in one.opts if spelled[:1] == "-"}


def parse(line: Line) -> dict[str, Any]:
    """What the command would be called with; AssertionError with what goffman would refuse."""
    words, command, name = list(line.words[1:]), GOFFMAN, "goffman"
    try:
        while hasattr(command, "commands") and words and not words[0].startswith("-"):
            name = words.pop(0)
            assert name in command.commands, f"{line.where}: there is no command '{name}'"
            command = command.commands[name]
        return dict(command.make_context(name, words).params)
    except Exception as error:
        raise AssertionError(f"{line.where}: {error}") from error


def reference() -> str:
    """The page of every command and option, in the words of the commands themselves."""
    parts = [
        "# Every command\n",
        "This page is what `goffman COMMAND --help` says (of audit, `--help-all`); `make golden` regenerates it. `--json` "
        "prints JSON instead of a table. `goffman --version` prints the version.\n",
    ]
    for name, command in commands():
        parts.append(f"## goffman {name}\n")
        parts += [_paragraph(text) for text in command.help.strip().split("\n\n")]
        rows = [help_row(one) for one in command.params if one.opts == [one.name]]
        usage = " ".join(["goffman", name, *(argument for argument, _ in rows)])
        parts.append(f"```text\n{usage}\n```\n")
        rows += [help_row(one) for one in options(command).values()]
        # A bar would end the cell.
        cells = ((given.replace("|", " or "), what) for given, what in rows)
        table = "".join(f"| `{given}` | {what} |\n" for given, what in cells)
        parts.append(f"| argument or option | |\n|---|---|\n{table}")
        if name == "audit":
            settings = "".join(
                f"| `{one.replace('|', ' or ')}` | {what} |\n" for one, what in setting_rows()
            )
            parts.append(f"| setting, after `--set` | |\n|---|---|\n{settings}")
    return "\n".join(parts)


def _paragraph(text: str) -> str:
    """A paragraph of a help as Markdown; one whose lines are to stay as they are is a block."""
    first, _, rest = text.partition("\n")
    return f"```text\n{rest}\n```\n" if first == "\b" else f"{' '.join(text.split())}\n"


# What pages show of other files

SHOWN = re.compile(
    r"(?P<head><!-- (?P<file>\S+)(?: from line (?P<line>\d+))? -->\n\n(?P<fence>```toml\n)?)"
    r".*?"
    r"(?P<tail>(?(fence)```\n\n|\n)<!-- end of (?P=file) -->)",
    flags=re.DOTALL,
)
"""A file of the package in a page, between two comments; a code host includes nothing itself."""


def with_files_shown(text: str) -> str:
    """The page with every file that it shows as it is now."""

    def renewed(found: re.Match[str]) -> str:
        lines = (ROOT / found["file"]).read_text(encoding="utf-8").splitlines(keepends=True)
        shown = "".join(lines[int(found["line"] or 1) - 1 :]).strip("\n") + "\n"
        return f"{found['head']}{shown}{found['tail']}"

    return SHOWN.sub(renewed, text)
