"""What the terminal shows: tables in which no text can play tricks."""

from __future__ import annotations

import io
import shutil
from collections.abc import Mapping, Sequence


def printable(text: str) -> str:
    """The text with everything that is not a visible sign or a space written as an escape."""
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text
    )


def table_text(rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> str:
    """Rows as a table that fits the terminal; the last columns take what room is left."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        numeric = bool(rows) and isinstance(rows[0][column], int)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        cells = [
            f"{value:,}" if isinstance(value, int) else str(value)
            for value in ("" if row[column] is None else row[column] for column in columns)
        ]
        table.add_row(*(Text(printable(cell)) for cell in cells))
    text = io.StringIO()
    console = Console(file=text, width=max(shutil.get_terminal_size((120, 24)).columns, 60))
    console.print(table)
    return "".join(line.rstrip() + "\n" for line in text.getvalue().splitlines())
