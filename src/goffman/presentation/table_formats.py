"""A table as CSV, Markdown and LaTeX, in which no text of a user or a model can play tricks.

CSV has every column and digit; Markdown and LaTeX have the columns that a paper shows, rounded.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal

from goffman.console import printable
from goffman.formatting import decimals, p_value
from goffman.instruments.types import slug_of

Form = Literal["text", "pair", "count", "number", "mean", "p", "interval"]
"""pair: one − other; mean: a mean and in parentheses its sd."""

Drop = Literal["never", "empty", "constant"]
"""Where a paper does without a column: where it is empty, or the same in every row."""

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""How a text begins that a spreadsheet calculates: it gets an apostrophe, and numbers do not. Tab
and line ends are escaped before."""

WORDS = ("text", "pair")
"""The forms that stand at the left of their column."""

LONG = 40
"""Rows from which a LaTeX table goes over pages."""

NOTHING = "–"
"""In the place of a value that there is not."""


@dataclass(frozen=True, kw_only=True)
class ColumnSpec:
    """A column of a table in a paper."""

    header: str
    keys: tuple[str, ...]
    """The columns that it is made from: one; two for an interval, a pair, a mean with its sd."""
    form: Form = "text"
    drop: Drop = "never"


_DROPPED: Mapping[str, Drop] = {
    "model": "constant",
    "wording": "constant",
    "variant": "empty",
    "dimension": "empty",
}

N = ColumnSpec(header="n", keys=("n",), form="count")


def texts(*names: str, drop: Drop | None = None, **headers: str) -> tuple[ColumnSpec, ...]:
    """Columns of text; a keyword gives one another header."""
    return tuple(
        ColumnSpec(
            header=headers.get(name, name),
            keys=(name,),
            drop=drop or _DROPPED.get(name, "never"),
        )
        for name in names
    )


def numbers(*names: str, drop: Drop = "never", **headers: str) -> tuple[ColumnSpec, ...]:
    """Columns of numbers; a keyword gives one another header."""
    return tuple(
        ColumnSpec(
            header=headers.get(name, name.replace("_", " ")), keys=(name,), form="number", drop=drop
        )
        for name in names
    )


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows, and how a paper shows them."""

    name: str
    """Of its files, without their ending."""
    caption: str
    """What is in it, in a sentence or two."""
    columns: tuple[str, ...]
    """Of the CSV file."""
    rows: tuple[Mapping[str, Any], ...]
    shown: tuple[ColumnSpec, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    """What a paper calls models, and sides of correlations, by what stands in the rows: no folders
    of a machine."""

    def called(self, text: str) -> str:
        """The text as a paper has it: a model, or a side of a correlation, by its short name."""
        return self.names.get(text, text)

    @cached_property
    def kept(self) -> tuple[ColumnSpec, ...]:
        """What a paper shows: without columns that say nothing."""
        return tuple(one for one in self.shown if not self._dropped(one))

    @property
    def title(self) -> str:
        """The caption, and what is the same in every row and so has no column in a paper."""
        said = [
            f" {one.header[:1].upper()}{one.header[1:]}: "
            f"{self.called(str(self.rows[0][one.keys[0]]))}."
            for one in self.shown
            if one not in self.kept and self.rows and self.rows[0][one.keys[0]] is not None
        ]
        return self.caption + "".join(said)

    def _dropped(self, column: ColumnSpec) -> bool:
        found = {tuple(row[key] for key in column.keys) for row in self.rows}
        empty = found <= {(None,) * len(column.keys)}
        return (column.drop != "never" and empty) or (column.drop == "constant" and len(found) < 2)


def csv_text(table: Table) -> str:
    """Every column, every digit; a missing value is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    for row in table.rows:
        writer.writerow([_csv_cell(row[name]) for name in table.columns])
    return text.getvalue()


def _csv_cell(value: object) -> object:
    if not isinstance(value, str):
        # repr gives the shortest digits that read back as the same float.
        return "" if value is None else repr(value)
    text = printable(value)
    return f"'{text}" if text.lstrip().startswith(FORMULA) else text


def markdown_text(table: Table) -> str:
    """A table as GitHub and most others read it, under its caption."""
    columns = table.kept
    rows = [[_cell(table, row, one, str) for one in columns] for row in table.rows]
    right = [place for place, one in enumerate(columns) if one.form not in WORDS]
    body = grid([one.header for one in columns], rows, right=right)
    return f"**{markdown(table.title)}**\n\n{body}"


def grid(heads: Sequence[str], rows: Iterable[Sequence[str]], *, right: Container[int] = ()) -> str:
    """Return a Markdown table, in which no cell is markup; ``right``: columns of numbers."""
    lines = [
        [markdown(head) for head in heads],
        ["---:" if place in right else "---" for place in range(len(heads))],
        *([markdown(cell) for cell in row] for row in rows),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


KEPT = 20_000
"""So many texts are kept as they were written: a large table has the same ones again and again."""


@lru_cache(maxsize=KEPT)
def markdown(text: str) -> str:
    """The text with everything that Markdown would read as markup written as itself."""
    escaped = re.sub(r"([\\`*_\[\]#~|$!])", r"\\\1", printable(text))
    # Addresses would become links.
    escaped = re.sub(r"(?i)\b(www)\.", r"\1\\.", escaped).replace("://", "\\://")
    for sign, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        escaped = escaped.replace(sign, name)
    return escaped


def latex_text(table: Table) -> str:
    r"""A booktabs table; one of many rows goes over pages, one that is too wide lies on its side.

    Its document needs \usepackage{booktabs}, longtable for the second and pdflscape for the third.
    """
    columns = table.kept
    sides = "".join("l" if one.form in WORDS else "r" for one in columns)
    head = " & ".join(latex(one.header) for one in columns) + r" \\"
    body = "".join(
        " & ".join(_cell(table, row, one, latex) for one in columns) + " \\\\\n"
        for row in table.rows
    )
    label = re.sub(r"[^A-Za-z0-9-]+", "-", table.name)
    about = f"\\caption{{{latex(table.title)}}}\\label{{tab:{label}}}"
    type_, aside = _fitting(table)
    if len(table.rows) > LONG or aside:
        long = (
            f"{{{type_}\n\\begin{{longtable}}{{{sides}}}\n{about}\\\\\n"
            f"\\toprule\n{head}\n\\midrule\n\\endfirsthead\n"
            f"\\toprule\n{head}\n\\midrule\n\\endhead\n"
            f"\\bottomrule\n\\endfoot\n{body}\\end{{longtable}}\n}}\n"
        )
        needs = "% needs \\usepackage{booktabs} and \\usepackage{longtable}"
        if aside:
            needs += " and \\usepackage{pdflscape}"
            long = f"\\begin{{landscape}}\n{long}\\end{{landscape}}\n"
        return f"{needs}\n{long}"
    return (
        f"% needs \\usepackage{{booktabs}}\n\\begin{{table}}\n\\centering{type_}\n{about}\n"
        f"\\begin{{tabular}}{{{sides}}}\n\\toprule\n{head}\n\\midrule\n{body}"
        "\\bottomrule\n\\end{tabular}\n\\end{table}\n"
    )


TYPES = ((r"\small", 1.0, 6), (r"\footnotesize", 0.9, 4), (r"\scriptsize", 0.8, 3))
"""LaTeX's size of type; its share of the first; points on each side of a column."""

PORTRAIT = 450
"""Points between the margins of usual paper."""

LANDSCAPE = 680
"""The same where the paper lies on its side."""

LETTER = 4.9
"""Points that a letter of the first size takes, on average."""


def _fitting(table: Table) -> tuple[str, bool]:
    """The largest type in which the table fits the paper; whether it must lie on its side."""
    columns = table.kept
    letters = sum(
        max(
            len(text) for text in (one.header, *(_cell(table, row, one, str) for row in table.rows))
        )
        for one in columns
    )
    for room in (PORTRAIT, LANDSCAPE):
        for name, share, space in TYPES:
            if LETTER * share * letters + 2 * space * len(columns) <= room:
                return f"{name}\\setlength{{\\tabcolsep}}{{{space}pt}}", room == LANDSCAPE
    return r"\tiny\setlength{\tabcolsep}{2pt}", True


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    # After the end of a row these two would be read as an option of it.
    "[": "{[}",
    "*": "{*}",
    "`": r"\textasciigrave{}",
    "−": "$-$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "…": r"\ldots{}",
    "’": r"\textquoteright{}",
    "‘": r"\textquoteleft{}",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "ρ": r"$\rho$",
    "²": r"$^2$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "α": r"$\alpha$",
    "κ": r"$\kappa$",
}
"""What plain pdfLaTeX prints for a sign."""


@lru_cache(maxsize=KEPT)
def latex(text: str) -> str:
    """The text as pdfLaTeX prints it to the letter; a sign that it has no type for, by number."""
    signs = "".join(_latex_sign(sign) for sign in printable(text))
    # Two of these in a row would become a dash, or another quotation mark.
    return re.sub(r"([-'])(?=\1)", r"\1{}", signs)


def _latex_sign(sign: str) -> str:
    if sign in _LATEX:
        return _LATEX[sign]
    # ASCII and most letters of Latin-1 are in LaTeX's first encoding.
    if sign.isascii() or (sign.isalpha() and "À" <= sign <= "ÿ" and sign not in "ÐÞðþ"):
        return sign
    return rf"\texttt{{U+{ord(sign):04X}}}"


def _cell(
    table: Table, row: Mapping[str, Any], column: ColumnSpec, escape: Callable[[str], str]
) -> str:
    values = [row[key] for key in column.keys]
    if column.form == "pair":
        return escape(
            " − ".join("" if value is None else table.called(str(value)) for value in values)
        )
    if values[0] is None or (column.form == "interval" and None in values):
        return escape(NOTHING)
    if column.form == "interval":
        return _signed(f"[{', '.join(decimals(value) for value in values)}]", escape)
    if column.form == "mean":
        sd = "" if values[1] is None else f" ({decimals(values[1])})"
        return _signed(f"{decimals(values[0])}{sd}", escape)
    if column.form == "text":
        return escape(table.called(str(values[0])))
    forms: dict[Form, Callable[[Any], str]] = {
        "p": p_value,
        "number": decimals,
        "count": lambda value: f"{value:,}",
    }
    return _signed(forms[column.form](values[0]), escape)


def _signed(text: str, escape: Callable[[str], str]) -> str:
    """Numbers: in LaTeX in its mathematics, where a minus is a minus."""
    if escape is not latex:
        return escape(text)
    powers = re.sub(r"e([+-])0*(\d+)", _power, text).replace(",", "{,}").replace("{,} ", ", ")
    powers = powers.replace(" (", "\\ (")
    return f"${powers}$"


def _power(found: re.Match[str]) -> str:
    sign = "-" if found.group(1) == "-" else ""
    return rf"\times10^{{{sign}{found.group(2)}}}"


FORMATS: Mapping[str, Callable[[Table], str]] = {
    ".csv": csv_text,
    ".md": markdown_text,
    ".tex": latex_text,
}
"""A file's ending → how a table is written into it."""


def as_table(
    name: str,
    caption: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    shown: Sequence[ColumnSpec],
    columns: Sequence[str] = (),
) -> Table:
    """The table of rows that have the same keys; ``columns``: where there may be no row."""
    return Table(
        # It is the name of files as well.
        name=slug_of(name),
        caption=caption,
        columns=tuple(columns or rows[0]),
        rows=tuple(rows),
        shown=tuple(shown),
    )
