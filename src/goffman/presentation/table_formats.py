"""A table as CSV, Markdown and LaTeX, with the texts of users and models escaped.

CSV has every column and digit; Markdown and LaTeX have the columns that a paper shows, rounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from goffman.console import csv_lines, printable
from goffman.formatting import decimals, p_value
from goffman.instruments.types import slug_of

if TYPE_CHECKING:
    from goffman.presentation.section import Section

Form = Literal["text", "pair", "count", "number", "tenths", "mean", "p", "interval"]
"""pair: first − second; tenths: with one decimal; mean: a mean with its sd in parentheses."""

Drop = Literal["never", "empty", "constant"]
"""When a paper leaves out a column: never, if it is empty, or if it is the same in every row."""

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""The first characters of a text that a spreadsheet would calculate: it gets an apostrophe; numbers
do not. Tabs and line ends are escaped before."""

WORDS = ("text", "pair")
"""The forms that are aligned left."""

LONG = 40
"""The most rows of a LaTeX table on one page; a longer one goes over pages."""

NOTHING = "–"
"""Shown in place of a missing value."""


@dataclass(frozen=True, kw_only=True)
class ColumnSpec:
    """A column of a table in a paper."""

    header: str
    keys: tuple[str, ...]
    """The source columns: one; two for an interval, a pair, or a mean with its sd."""
    form: Form = "text"
    drop: Drop = "never"


_DROPPED: Mapping[str, Drop] = {
    "model": "constant",
    "wording": "constant",
    "variant": "empty",
    "dimension": "empty",
}


def _columns(
    names: Sequence[str], form: Form, drop: Drop | None, headers: Mapping[str, str]
) -> tuple[ColumnSpec, ...]:
    return tuple(
        ColumnSpec(
            header=headers.get(name, name.replace("_", " ")),
            keys=(name,),
            form=form,
            drop=drop or _DROPPED.get(name, "never"),
        )
        for name in names
    )


def texts(*names: str, drop: Drop | None = None, **headers: str) -> tuple[ColumnSpec, ...]:
    """Return columns of text; a keyword gives one column another header."""
    return _columns(names, "text", drop, headers)


def numbers(*names: str, drop: Drop | None = None, **headers: str) -> tuple[ColumnSpec, ...]:
    """Return columns of numbers; a keyword gives one column another header."""
    return _columns(names, "number", drop, headers)


def counts(*names: str, **headers: str) -> tuple[ColumnSpec, ...]:
    """Return columns of counts; a keyword gives one column another header."""
    return _columns(names, "count", None, headers)


def interval(
    low: str = "low", high: str = "high", *, header: str = "95% interval", drop: Drop = "never"
) -> ColumnSpec:
    """Return the column of an interval, from its two ends."""
    return ColumnSpec(header=header, keys=(low, high), form="interval", drop=drop)


def p_column(
    name: str = "p_adjusted", *, header: str = "p, corrected", drop: Drop = "never"
) -> ColumnSpec:
    """Return the column of a p-value."""
    return ColumnSpec(header=header, keys=(name,), form="p", drop=drop)


(N,) = counts("n")


@dataclass(frozen=True, kw_only=True)
class Table:
    """The rows of a table, and how a paper shows them."""

    name: str
    """The name of its files, without their ending."""
    caption: str
    """What is in it, in a sentence or two."""
    columns: tuple[str, ...]
    """The columns of the CSV file."""
    rows: tuple[Mapping[str, Any], ...]
    shown: tuple[ColumnSpec, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    """Text in the rows → what a paper calls this model or side of a correlation: no folders of a
    machine."""
    above: str = ""
    """The column whose text LaTeX sets on a line of its own above each row, so that the table fits
    one column of a two-column paper; empty: none."""

    def called(self, text: str) -> str:
        """Return the short name of a model or a side of a correlation; any other text as it is."""
        return self.names.get(text, text)

    @cached_property
    def kept(self) -> tuple[ColumnSpec, ...]:
        """Return the columns that a paper shows: without those that say nothing."""
        return tuple(column for column in self.shown if not self._dropped(column))

    @property
    def abreast(self) -> tuple[ColumnSpec, ...]:
        """Return the columns that LaTeX sets beside each other."""
        return tuple(column for column in self.kept if column.keys != (self.above,))

    @property
    def title(self) -> str:
        """Return the caption, with the values of columns that are the same in every row."""
        constants = [
            f" {column.header[:1].upper()}{column.header[1:]}: "
            f"{self.called(str(self.rows[0][column.keys[0]]))}."
            for column in self.shown
            if column not in self.kept and self.rows and self.rows[0][column.keys[0]] is not None
        ]
        return self.caption + "".join(constants)

    def _dropped(self, column: ColumnSpec) -> bool:
        values = {tuple(row[key] for key in column.keys) for row in self.rows}
        empty = values <= {(None,) * len(column.keys)}
        return (column.drop != "never" and empty) or (column.drop == "constant" and len(values) < 2)


def csv_text(table: Table) -> str:
    """Return the table as CSV with every column and digit; a missing value is empty."""
    rows = ({name: _csv_cell(row[name]) for name in table.columns} for row in table.rows)
    return csv_lines(rows, table.columns)


def _csv_cell(value: object) -> object:
    if not isinstance(value, str):
        # repr gives the shortest digits that read back as the same float.
        return "" if value is None else repr(value)
    text = printable(value)
    return f"'{text}" if text.lstrip().startswith(FORMULA) else text


def markdown_text(table: Table) -> str:
    """Return the table as Markdown that GitHub and most others read, under its caption."""
    columns = table.kept
    rows = [[_cell(table, row, column, str) for column in columns] for row in table.rows]
    right = [place for place, column in enumerate(columns) if column.form not in WORDS]
    body = grid([column.header for column in columns], rows, right=right)
    return f"**{markdown(table.title)}**\n\n{body}"


def grid(heads: Sequence[str], rows: Iterable[Sequence[str]], *, right: Container[int] = ()) -> str:
    """Return a Markdown table in which no cell is markup; ``right``: columns of numbers."""
    lines = [
        [markdown(head) for head in heads],
        ["---:" if place in right else "---" for place in range(len(heads))],
        *([markdown(cell) for cell in row] for row in rows),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


KEPT = 20_000
"""The number of escaped texts that are cached: a large table repeats the same ones."""


@lru_cache(maxsize=KEPT)
def markdown(text: str) -> str:
    """Return the text with everything that Markdown would read as markup escaped."""
    escaped = re.sub(r"([\\`*_\[\]#~|$!])", r"\\\1", printable(text))
    # Addresses would become links.
    escaped = re.sub(r"(?i)\b(www)\.", r"\1\\.", escaped).replace("://", "\\://")
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        escaped = escaped.replace(character, entity)
    return escaped


def latex_text(table: Table) -> str:
    r"""Return a booktabs table; a long one goes over pages, a wide one lies on its side.

    Its document needs \usepackage{booktabs}, longtable if long or wide, and pdflscape if wide.
    """
    columns = table.abreast
    sides = "".join("l" if column.form in WORDS else "r" for column in columns)
    head = " & ".join(latex(column.header) for column in columns) + r" \\"
    over = rf"\multicolumn{{{len(columns)}}}{{@{{}}p{{\columnwidth}}@{{}}}}"
    body = "".join(
        (f"{over}{{{latex(row[table.above])}}} \\\\\n" if table.above else "")
        + " & ".join(_cell(table, row, column, latex) for column in columns)
        + " \\\\\n"
        for row in table.rows
    )
    label = re.sub(r"[^A-Za-z0-9-]+", "-", table.name)
    about = f"\\caption{{{latex(table.title)}}}\\label{{tab:{label}}}"
    rows = f"\\toprule\n{head}\n\\midrule\n{body}\\bottomrule\n\\end{{tabular}}"
    if table.above:
        return _in_one_column(table, about, f"\\begin{{tabular}}{{@{{}}{sides}@{{}}}}\n{rows}")
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
        f"\\begin{{tabular}}{{{sides}}}\n{rows}\n\\end{{table}}\n"
    )


def _in_one_column(table: Table, about: str, tabular: str) -> str:
    packages, (width,) = "booktabs", widths_of(table, [NARROW])
    if width > COLUMN:
        # It is made smaller, but can still be read.
        packages = "booktabs} and \\usepackage{graphicx"
        tabular = f"\\resizebox{{\\columnwidth}}{{!}}{{%\n{tabular}}}"
    return (
        f"% needs \\usepackage{{{packages}}}\n\\begin{{table}}\n{about}\n{_type(*NARROW[::2])}\n"
        f"{tabular}\n\\end{{table}}\n"
    )


TYPES = ((r"\small", 1.0, 6), (r"\footnotesize", 0.9, 4), (r"\scriptsize", 0.8, 3))
"""Size of type in LaTeX; its ratio to the first size; points on each side of a column."""

NARROW = (r"\scriptsize", 0.8, 2)
"""The same of a table in one column of a two-column paper."""

COLUMN = 219.0
"""Points of a narrow column of a two-column paper: 7.7 cm."""

PORTRAIT = 450
"""Points between the margins of usual paper."""

LANDSCAPE = 680
"""Points between the margins of paper on its side."""

LETTER = 4.9
"""Average width in points of a letter of the first size."""


def widths_of(table: Table, types: Sequence[tuple[str, float, int]]) -> list[float]:
    """Return the table's approximate width in points in each of these types."""
    columns = table.abreast
    letters = sum(
        max([len(column.header), *(len(_cell(table, row, column, str)) for row in table.rows)])
        for column in columns
    )
    return [LETTER * share * letters + 2 * space * len(columns) for _, share, space in types]


def _fitting(table: Table) -> tuple[str, bool]:
    """Return the largest type in which the table fits, and whether it must lie on its side."""
    widths = widths_of(table, TYPES)
    for room in (PORTRAIT, LANDSCAPE):
        for (name, _, space), width in zip(TYPES, widths, strict=True):
            if width <= room:
                return _type(name, space), room == LANDSCAPE
    return _type(r"\tiny", 2), True


def _type(size: str, space: int) -> str:
    return f"{size}\\setlength{{\\tabcolsep}}{{{space}pt}}"


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
    # After the end of a row, LaTeX would read these two as an option of the row's end.
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
"""A character → the code with which plain pdfLaTeX prints it."""


@lru_cache(maxsize=KEPT)
def latex(text: str) -> str:
    """Return the text for pdfLaTeX to print literally; unprintable characters by their number."""
    signs = "".join(_latex_sign(character) for character in printable(text))
    # Two hyphens in a row would become a dash, two apostrophes another quotation mark.
    return re.sub(r"([-'])(?=\1)", r"\1{}", signs)


def _latex_sign(sign: str) -> str:
    if sign in _LATEX:
        return _LATEX[sign]
    # ASCII and most letters of Latin-1 are in LaTeX's default encoding.
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
        "tenths": lambda value: f"{value:.1f}",
        "count": lambda value: f"{value:,}",
    }
    return _signed(forms[column.form](values[0]), escape)


def _signed(text: str, escape: Callable[[str], str]) -> str:
    """Return numbers as text; for LaTeX in math mode, where a minus is a minus."""
    if escape is not latex:
        return escape(text)
    powers = re.sub(r"e([+-])0*(\d+)", _power, text).replace(",", "{,}").replace("{,} ", ", ")
    powers = powers.replace(" (", "\\ (")
    return f"${powers}$"


def _power(match: re.Match[str]) -> str:
    sign = "-" if match.group(1) == "-" else ""
    return rf"\times10^{{{sign}{match.group(2)}}}"


FORMATS: Mapping[str, Callable[[Table], str]] = {
    ".csv": csv_text,
    ".md": markdown_text,
    ".tex": latex_text,
}
"""Ending of a file → function that returns a table as its text."""


def as_table(
    name: str,
    caption: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    shown: Sequence[ColumnSpec],
    columns: Sequence[str] = (),
) -> Table:
    """Return the table of rows with the same keys; ``columns`` is needed if there may be no row."""
    return Table(
        # The name is also used for files.
        name=slug_of(name),
        caption=caption,
        columns=tuple(columns or rows[0]),
        rows=tuple(rows),
        shown=tuple(shown),
    )


def section_table(
    section: Section,
    suffix: str,
    caption: str,
    rows: pl.DataFrame | Sequence[Mapping[str, Any]],
    shown: Sequence[ColumnSpec],
) -> Iterator[Table]:
    """Yield the table INSTRUMENT-SUFFIX; nothing if there are no rows."""
    records = rows.to_dicts() if isinstance(rows, pl.DataFrame) else rows
    if records:
        caption = f"{section.instrument}: {caption}"
        yield as_table(f"{section.instrument}-{suffix}", caption, records, shown=shown)
